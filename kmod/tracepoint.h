/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tracepoint: the kernel's tracepoints, found by name.
 */
#ifndef GPROF_TRACEPOINT_H
#define GPROF_TRACEPOINT_H

int gprof_tracepoint_attach(const char *name, void *probe);
void gprof_tracepoint_detach(const char *name, void *probe);

#endif /* GPROF_TRACEPOINT_H */
