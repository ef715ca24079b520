/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kernel_trace.h: a small trace of a kernel, as Documentation/utilization.rst says
 * that gprof's traces tell what takes time from tasks.
 *
 * Two CPUs. Task 102 has CPU 1 for itself. Task 101 runs on CPU 0, where (in units
 * of 64 ns, the clock of Go's traces)
 *
 *	 10 -  20	an interrupt
 *	 30 -  50	it reclaims memory itself
 *	 63 - 100	kswapd0 (task 50) has the CPU, from 62 on; 101 waits from 60 to 102
 *	121 - 140	once more; 101 waits from 120 to 141
 *	162 - 172	stop_machine by migration/0 (task 11); 101 waits from 160 to 174
 *	180 - 190	both CPUs are throttled, told on proc 2, which is no CPU, by task 900
 */
#ifndef GPROF_KERNEL_TRACE_H
#define GPROF_KERNEL_TRACE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Bytes of a trace. */
struct kernel_trace {
	unsigned char bytes[1024];	/* the trace */
	size_t nr;	/* how many */
	size_t size;	/* where the size of the open batch stands, of two bytes */
	uint64_t time;	/* of the last event in it */
};

static inline void kernel_trace_number(struct kernel_trace *t, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		t->bytes[t->nr++] = value | 0x80;
	t->bytes[t->nr++] = value;
}

static inline void kernel_trace_batch(struct kernel_trace *t, uint64_t thread)
{
	t->bytes[t->nr++] = 1;
	kernel_trace_number(t, 1);
	kernel_trace_number(t, thread);
	kernel_trace_number(t, 0);
	t->size = t->nr;
	t->nr += 2;
	t->time = 0;
}

static inline void kernel_trace_batch_end(struct kernel_trace *t)
{
	size_t size = t->nr - t->size - 2;

	t->bytes[t->size] = size | 0x80;
	t->bytes[t->size + 1] = size >> 7;
}

/* An event at a time with up to 3 arguments; those beyond the first -2 are left out. */
static inline void kernel_trace_event(struct kernel_trace *t, uint64_t time, unsigned char type,
				      int64_t a, int64_t b, int64_t c)
{
	t->bytes[t->nr++] = type;
	kernel_trace_number(t, time - t->time);
	t->time = time;
	if (a != -2)
		kernel_trace_number(t, (uint64_t)a);
	if (b != -2)
		kernel_trace_number(t, (uint64_t)b);
	if (c != -2)
		kernel_trace_number(t, (uint64_t)c);
}

static inline void kernel_trace_string(struct kernel_trace *t, uint64_t id, const char *text)
{
	t->bytes[t->nr++] = 5;
	kernel_trace_number(t, id);
	kernel_trace_number(t, strlen(text));
	memcpy(t->bytes + t->nr, text, strlen(text));
	t->nr += strlen(text);
}

enum {
	PROCS_CHANGE = 9, PROC_STATUS = 13, GO_START = 16, GO_STOP = 19, GO_BLOCK = 20,
	GO_UNBLOCK = 21, GO_STATUS = 25, STW_BEGIN = 26, STW_END = 27, SWEEP_BEGIN = 32,
	SWEEP_END = 33, ASSIST_BEGIN = 35, ASSIST_END = 36, GO_LABEL = 39,
};

/* CPU 0: who runs, from when on, and what happens then. */
static inline void kernel_trace_cpu0(struct kernel_trace *t)
{
	kernel_trace_batch(t, 0);
	kernel_trace_event(t, 1, PROC_STATUS, 0, 1, -2);
	kernel_trace_event(t, 2, GO_STATUS, 101, 0, 2);
	kernel_trace_event(t, 3, PROCS_CHANGE, 2, 0, -2);
	kernel_trace_event(t, 4, GO_STATUS, 50, -1, 4);
	kernel_trace_event(t, 7, GO_STATUS, 11, -1, 4);
	kernel_trace_event(t, 10, SWEEP_BEGIN, 0, -2, -2);
	kernel_trace_event(t, 20, SWEEP_END, 0, 0, -2);
	kernel_trace_event(t, 30, ASSIST_BEGIN, 0, -2, -2);
	kernel_trace_event(t, 50, ASSIST_END, -2, -2, -2);
	kernel_trace_event(t, 55, GO_UNBLOCK, 50, 1, 0);
	kernel_trace_event(t, 60, GO_STOP, 1, 0, -2);
	kernel_trace_event(t, 62, GO_START, 50, 2, -2);
	kernel_trace_event(t, 63, GO_LABEL, 2, -2, -2);
	kernel_trace_event(t, 100, GO_BLOCK, 4, 0, -2);
	kernel_trace_event(t, 102, GO_START, 101, 1, -2);
	kernel_trace_event(t, 110, GO_UNBLOCK, 50, 3, 0);
	kernel_trace_event(t, 120, GO_STOP, 1, 0, -2);
	kernel_trace_event(t, 121, GO_START, 50, 4, -2);
	kernel_trace_event(t, 140, GO_BLOCK, 4, 0, -2);
	kernel_trace_event(t, 141, GO_START, 101, 2, -2);
	kernel_trace_event(t, 150, GO_UNBLOCK, 11, 1, 0);
	kernel_trace_event(t, 160, GO_STOP, 1, 0, -2);
	kernel_trace_event(t, 161, GO_START, 11, 2, -2);
	kernel_trace_event(t, 162, STW_BEGIN, 3, 0, -2);
	kernel_trace_event(t, 172, STW_END, -2, -2, -2);
	kernel_trace_event(t, 173, GO_BLOCK, 4, 0, -2);
	kernel_trace_event(t, 174, GO_START, 101, 3, -2);
	kernel_trace_batch_end(t);
}

static inline void kernel_trace_make(struct kernel_trace *t)
{
	memset(t, 0, sizeof(*t));
	memcpy(t->bytes, "go 1.23 trace\0\0", 16);
	t->nr = 16;
	kernel_trace_cpu0(t);
	kernel_trace_batch(t, 1);
	kernel_trace_event(t, 5, PROC_STATUS, 1, 1, -2);
	kernel_trace_event(t, 6, GO_STATUS, 102, 1, 2);
	kernel_trace_event(t, 200, GO_BLOCK, 4, 0, -2);
	kernel_trace_batch_end(t);
	kernel_trace_batch(t, 2);
	kernel_trace_event(t, 8, PROC_STATUS, 2, 1, -2);
	kernel_trace_event(t, 9, GO_STATUS, 900, 2, 2);
	kernel_trace_event(t, 180, STW_BEGIN, 5, 0, -2);
	kernel_trace_event(t, 190, STW_END, -2, -2, -2);
	kernel_trace_batch_end(t);
	/* 15625000 units a second, no stacks, and the strings. */
	kernel_trace_batch(t, UINT64_MAX);
	t->bytes[t->nr++] = 8;
	kernel_trace_number(t, 15625000);
	kernel_trace_batch_end(t);
	kernel_trace_batch(t, UINT64_MAX);
	t->bytes[t->nr++] = 2;
	kernel_trace_batch_end(t);
	kernel_trace_batch(t, UINT64_MAX);
	t->bytes[t->nr++] = 4;
	kernel_trace_string(t, 1, "preempted");
	kernel_trace_string(t, 2, "GC (kswapd0)");
	kernel_trace_string(t, 3, "GC: stop_machine");
	kernel_trace_string(t, 4, "sleep");
	kernel_trace_string(t, 5, "GC: throttling");
	kernel_trace_batch_end(t);
}

#endif /* GPROF_KERNEL_TRACE_H */
