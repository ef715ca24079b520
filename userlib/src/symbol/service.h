/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * service.h: the service of a process, where it does not publish it.
 */
#ifndef GPROF_SERVICE_H
#define GPROF_SERVICE_H

#include <stddef.h>

#define GPROF_SERVICE_MAX	256

/**
 * gprof_service_name() - the best that is known
 * @cgroup: path in the hierarchy of cgroup v2, or NULL
 * @comm: name of the process, or of the thread where that is not known; or NULL
 * @name: gets it, cut where it is too long
 *
 * The innermost unit of systemd, without its suffix: "ssh" of /system.slice/ssh.service; else the
 * path of the cgroup; and @comm for a process in none, or in the root, such as threads of the
 * kernel. With neither it is "unknown".
 */
void gprof_service_name(const char *cgroup, const char *comm, char name[GPROF_SERVICE_MAX]);

#endif /* GPROF_SERVICE_H */
