/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * shim_hooks.h: functions of libgprof-heap.so, NULL where it is not loaded.
 */
#ifndef GPROF_SHIM_HOOKS_H
#define GPROF_SHIM_HOOKS_H

#include <stdint.h>

/* Stops sampling of the calling thread; returns a value for the other. */
int64_t gprof_heap_thread_pause(void) __attribute__((weak));
/* Goes on with it from @left; a thread that is not sampled asks for a recorder at once. */
void gprof_heap_thread_resume(int64_t left) __attribute__((weak));

static inline int64_t gprof_heap_pause(void)
{
	return gprof_heap_thread_pause ? gprof_heap_thread_pause() : 0;
}

static inline void gprof_heap_resume(int64_t left)
{
	if (gprof_heap_thread_resume)
		gprof_heap_thread_resume(left);
}

#endif /* GPROF_SHIM_HOOKS_H */
