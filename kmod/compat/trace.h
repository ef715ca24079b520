/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What tracepoints of the memory management tell: compaction of a struct of its own since
 * 6.0, reclaim of a cgroup since 7.x. We look at none of it, but a function is called by
 * the type it has.
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
