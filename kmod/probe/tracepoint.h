/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tracepoint: the kernel's tracepoints, found by name.
 */
#ifndef GPROF_TRACEPOINT_H
#define GPROF_TRACEPOINT_H

#include <linux/types.h>

bool gprof_tracepoint_exists(const char *name);
int gprof_tracepoint_attach(const char *name, void *probe, void *data);
void gprof_tracepoint_detach(const char *name, void *probe, void *data);
void gprof_tracepoint_detach_nowait(const char *name, void *probe, void *data);
void gprof_tracepoints_exit(void);

#endif /* GPROF_TRACEPOINT_H */
