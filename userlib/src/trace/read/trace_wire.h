/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * trace_wire.h: the vocabulary of Go execution trace v2: event numbers, names of their arguments,
 * and variable-length integers.
 *
 * Source: internal/trace/tracev2/events.go of Go 1.26; the events of 1.22 and
 * 1.23 are a subset.
 */
#ifndef GPROF_TRACE_WIRE_H
#define GPROF_TRACE_WIRE_H

#include <stddef.h>
#include <stdint.h>

#include <gprof/trace.h>

enum gprof_trace_type {
	/* structure */
	GPROF_EV_EVENT_BATCH = 1,	/* gen m time size */
	GPROF_EV_STACKS,
	GPROF_EV_STACK,			/* id n { pc func file line }*n */
	GPROF_EV_STRINGS,
	GPROF_EV_STRING,		/* id len bytes */
	GPROF_EV_CPU_SAMPLES,
	GPROF_EV_CPU_SAMPLE,		/* time m p g stack */
	GPROF_EV_FREQUENCY,		/* units per second */

	/* procs; the arguments of these and of all that follow come after a time */
	GPROF_EV_PROCS_CHANGE,		/* procs stack */
	GPROF_EV_PROC_START,		/* p seq */
	GPROF_EV_PROC_STOP,
	GPROF_EV_PROC_STEAL,		/* p seq m */
	GPROF_EV_PROC_STATUS,		/* p status */

	/* goroutines */
	GPROF_EV_GO_CREATE,		/* g new_stack stack */
	GPROF_EV_GO_CREATE_SYSCALL,	/* g */
	GPROF_EV_GO_START,		/* g seq */
	GPROF_EV_GO_DESTROY,
	GPROF_EV_GO_DESTROY_SYSCALL,
	GPROF_EV_GO_STOP,		/* reason stack */
	GPROF_EV_GO_BLOCK,		/* reason stack */
	GPROF_EV_GO_UNBLOCK,		/* g seq stack */
	GPROF_EV_GO_SYSCALL_BEGIN,	/* p_seq stack */
	GPROF_EV_GO_SYSCALL_END,
	GPROF_EV_GO_SYSCALL_END_BLOCKED,
	GPROF_EV_GO_STATUS,		/* g m status */

	/* ranges */
	GPROF_EV_STW_BEGIN,		/* kind stack */
	GPROF_EV_STW_END,
	GPROF_EV_GC_ACTIVE,		/* seq */
	GPROF_EV_GC_BEGIN,		/* seq stack */
	GPROF_EV_GC_END,		/* seq */
	GPROF_EV_GC_SWEEP_ACTIVE,	/* p */
	GPROF_EV_GC_SWEEP_BEGIN,	/* stack */
	GPROF_EV_GC_SWEEP_END,		/* swept reclaimed */
	GPROF_EV_GC_MARK_ASSIST_ACTIVE,	/* g */
	GPROF_EV_GC_MARK_ASSIST_BEGIN,	/* stack */
	GPROF_EV_GC_MARK_ASSIST_END,
	GPROF_EV_HEAP_ALLOC,		/* bytes */
	GPROF_EV_HEAP_GOAL,		/* bytes */

	/* annotations */
	GPROF_EV_GO_LABEL,		/* label */
	GPROF_EV_USER_TASK_BEGIN,	/* task parent name stack */
	GPROF_EV_USER_TASK_END,		/* task stack */
	GPROF_EV_USER_REGION_BEGIN,	/* task name stack */
	GPROF_EV_USER_REGION_END,	/* task name stack */
	GPROF_EV_USER_LOG,		/* task key value stack */

	/* since 1.23 */
	GPROF_EV_GO_SWITCH,		/* g seq */
	GPROF_EV_GO_SWITCH_DESTROY,	/* g seq */
	GPROF_EV_GO_CREATE_BLOCKED,	/* g new_stack stack */
	GPROF_EV_GO_STATUS_STACK,	/* g m status stack */
	GPROF_EV_EXPERIMENTAL_BATCH,	/* exp gen m time size */

	/* since 1.25 */
	GPROF_EV_SYNC,
	GPROF_EV_CLOCK_SNAPSHOT,	/* dt mono sec nsec */
	/* since 1.26 */
	GPROF_EV_END_OF_GENERATION,

	/* of the experiment AllocFree */
	GPROF_EV_SPAN = 128,		/* id npages kindclass */
	GPROF_EV_SPAN_ALLOC,		/* id npages kindclass */
	GPROF_EV_SPAN_FREE,		/* id */
	GPROF_EV_HEAP_OBJECT,		/* id type */
	GPROF_EV_HEAP_OBJECT_ALLOC,	/* id type */
	GPROF_EV_HEAP_OBJECT_FREE,	/* id */
	GPROF_EV_GOROUTINE_STACK,	/* id order */
	GPROF_EV_GOROUTINE_STACK_ALLOC,	/* id order */
	GPROF_EV_GOROUTINE_STACK_FREE,	/* id */

	/* not in a file */
	GPROF_EV_SYNC_POINT = 255,
};

/* Goroutine states as they are written. */
enum gprof_trace_go_status {
	GPROF_GO_BAD,
	GPROF_GO_RUNNABLE,
	GPROF_GO_RUNNING,
	GPROF_GO_SYSCALL,
	GPROF_GO_WAITING,
	GPROF_GO_NR,
};

/* Proc states as they are written. */
enum gprof_trace_proc_status {
	GPROF_PROC_BAD,
	GPROF_PROC_RUNNING,
	GPROF_PROC_IDLE,
	GPROF_PROC_SYSCALL,
	GPROF_PROC_SYSCALL_ABANDONED,
	GPROF_PROC_NR,
};

/* Bytes of the type of CPU samples and its unit, with the 0. */
#define GPROF_TRACE_SAMPLE_TEXT	64

/* Bytes of the longest varint, and of the longest event: type, time, arguments. */
#define GPROF_VARINT_MAX	10
#define GPROF_TRACE_EVENT_MAX	(1 + (1 + GPROF_TRACE_ARGS_MAX) * GPROF_VARINT_MAX)

/**
 * struct gprof_trace_spec - an event number
 * @name: or NULL when there is no such event
 * @args: names of the arguments behind the time
 * @timed: 0: not an event of a thread, else 1 + how many
 * @experiment: 0 or that which it belongs to
 */
struct gprof_trace_spec {
	const char *name;
	const char *args[GPROF_TRACE_ARGS_MAX];
	uint8_t timed;
	uint8_t experiment;
};

extern const struct gprof_trace_spec gprof_trace_specs[256];

/**
 * gprof_varint() - decode a varint
 * @p: where it begins
 * @end: where the bytes end
 * @v: the value
 *
 * Return: the position behind it, or NULL when it ends too early or has more than 64 bits.
 */
static inline const unsigned char *gprof_varint(const unsigned char *p, const unsigned char *end,
						uint64_t *v)
{
	uint64_t value = 0;
	unsigned int shift;

	for (shift = 0; p < end && shift < 64; shift += 7) {
		unsigned char b = *p++;

		if (b < 0x80) {
			if (shift == 63 && b > 1)
				return NULL;
			*v = value | (uint64_t)b << shift;
			return p;
		}
		value |= (uint64_t)(b & 0x7f) << shift;
	}
	return NULL;
}

#endif /* GPROF_TRACE_WIRE_H */
