/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Arguments of the tracepoints of memory management: those of compaction have a struct since
 * 6.0, those of reclaim have the cgroup since 7.x. The module uses none of these arguments, but a
 * probe must have the type by which the kernel calls it.
 */
#ifndef GPROF_COMPAT_TRACE_H
#define GPROF_COMPAT_TRACE_H

#include <linux/types.h>

struct compact_control;
struct mem_cgroup;

#ifdef GPROF_HAVE_RECLAIM_MEMCG
#define GPROF_RECLAIM_BEGIN_ARGS	void *data, gfp_t gfp, int order, struct mem_cgroup *memcg
#define GPROF_RECLAIM_END_ARGS		void *data, unsigned long nr, struct mem_cgroup *memcg
#else
#define GPROF_RECLAIM_BEGIN_ARGS	void *data, int order, gfp_t gfp
#define GPROF_RECLAIM_END_ARGS		void *data, unsigned long nr
#endif

#ifdef GPROF_HAVE_COMPACT_CONTROL
#define GPROF_COMPACT_BEGIN_ARGS \
	void *data, struct compact_control *cc, unsigned long start, unsigned long end, bool sync
#define GPROF_COMPACT_END_ARGS		GPROF_COMPACT_BEGIN_ARGS, int status
#else
#define GPROF_COMPACT_BEGIN_ARGS \
	void *data, unsigned long start, unsigned long migrate, unsigned long free, \
	unsigned long end, bool sync
#define GPROF_COMPACT_END_ARGS		GPROF_COMPACT_BEGIN_ARGS, int status
#endif

#endif /* GPROF_COMPAT_TRACE_H */
