/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * trace_model_go.h: events of procs and goroutines that Go's reader accepts: statuses before all
 * else in a generation, sequences, a proc for each running goroutine.
 *
 * An event goes into the batch of @cpu (trace_model_event.h). Tasks are numbers into the model's
 *	array, which moves as it grows; GPROF_NONE where there is no memory, which m->err says from
 *	then on.
 */
#ifndef GPROF_TRACE_MODEL_GO_H
#define GPROF_TRACE_MODEL_GO_H

#include "trace/read/trace_wire.h"
#include "trace_model.h"
#include "trace_model_event.h"

/** gprof_model_string() - number of a string in this generation */
uint64_t gprof_model_string(struct gprof_trace_model *m, const char *s);
/** gprof_model_stack() - of a stack whose leaf says @name, and the rest is @caller or none */
uint64_t gprof_model_stack(struct gprof_trace_model *m, const char *name, uint64_t caller);

/** gprof_model_add_cpu() - a CPU is mentioned; 0 or -ENOMEM */
int gprof_model_add_cpu(struct gprof_trace_model *m, uint32_t cpu);
/** gprof_model_emit_cpu() - likewise, and its status in this generation is said, if it was not */
int gprof_model_emit_cpu(struct gprof_trace_model *m, uint32_t cpu);

/** gprof_model_need_cpu() - likewise, for CPUs that mostly have it */
static inline int gprof_model_need_cpu(struct gprof_trace_model *m, uint32_t cpu)
{
	if (cpu < m->nr_cpus && m->cpus[cpu].generation == m->generation)
		return 0;
	return gprof_model_emit_cpu(m, cpu);
}
/** gprof_model_proc_stop() - a CPU idles */
void gprof_model_proc_stop(struct gprof_trace_model *m, uint32_t cpu);
/** gprof_model_sweep_end() - an interrupt has ended, or the interrupted task goes on */
void gprof_model_sweep_end(struct gprof_trace_model *m, uint32_t cpu);

/** gprof_model_find() - the task of a tid, or GPROF_NONE */
uint32_t gprof_model_find(const struct gprof_trace_model *m, uint32_t tid);
/** gprof_model_add() - a task of a tid, of which there is none */
uint32_t gprof_model_add(struct gprof_trace_model *m, uint32_t tid, uint8_t status);
void gprof_model_forget(struct gprof_trace_model *m, uint32_t n);
/** gprof_model_emit_task() - as gprof_model_need_task(), and its status is said, if it was not */
uint32_t gprof_model_emit_task(struct gprof_trace_model *m, uint32_t cpu, uint32_t tid,
			       uint8_t status);

/** gprof_model_recent() - the task of a tid that was met lately, with its status, or GPROF_NONE */
static inline uint32_t gprof_model_recent(const struct gprof_trace_model *m, uint32_t tid)
{
	uint32_t n = m->recent[tid % GPROF_TRACE_MODEL_RECENT];

	/* A freed task has no generation. */
	if (n < m->nr_tasks && m->tasks[n].tid == tid && m->tasks[n].generation == m->generation)
		return n;
	return GPROF_NONE;
}

/**
 * gprof_model_need_task() - the task of a tid, with its status in this generation
 *
 * A new one has @status, which follows from its event.
 */
static inline uint32_t gprof_model_need_task(struct gprof_trace_model *m, uint32_t cpu,
					     uint32_t tid, uint8_t status)
{
	uint32_t n = gprof_model_recent(m, tid);

	return n != GPROF_NONE ? n : gprof_model_emit_task(m, cpu, tid, status);
}
void gprof_model_emit_status(struct gprof_trace_model *m, uint32_t cpu,
			     struct gprof_trace_model_task *t);
/** gprof_model_emit_create() - on a proc, which a CPU that idles has for just that long */
void gprof_model_emit_create(struct gprof_trace_model *m, uint32_t cpu,
			     struct gprof_trace_model_task *t, uint64_t stack);

/** gprof_model_switch_in() - put a task on a CPU that has another, or none, or it elsewhere */
void gprof_model_switch_in(struct gprof_trace_model *m, uint32_t cpu, uint32_t tid);
/** gprof_model_switch_out() - the task of a CPU leaves it; GPROF_GO_BAD: for good */
void gprof_model_switch_out(struct gprof_trace_model *m, uint32_t cpu, uint8_t status,
			    enum gprof_trace_reason why, uint64_t stack);
void gprof_model_unblock(struct gprof_trace_model *m, uint32_t cpu, uint32_t n, uint64_t stack);

/** gprof_model_note() - a log on a CPU, of any task there */
void gprof_model_note(struct gprof_trace_model *m, uint32_t cpu, const char *what,
		      const char *text);
/** gprof_model_region() - the begin or end of a region named after a system call */
void gprof_model_region(struct gprof_trace_model *m, uint32_t cpu, unsigned char type,
			uint64_t nr, uint64_t stack);
/** gprof_model_enter_call() - a task on a CPU enters a system call, at a stack or 0 */
void gprof_model_enter_call(struct gprof_trace_model *m, uint32_t cpu,
			    struct gprof_trace_model_task *t, uint64_t nr, uint64_t stack);
/** gprof_model_leave_call() - it leaves that, if it is in one */
void gprof_model_leave_call(struct gprof_trace_model *m, uint32_t cpu,
			    struct gprof_trace_model_task *t);
/** gprof_model_assist_end() - end its reclaim of memory, likewise */
void gprof_model_assist_end(struct gprof_trace_model *m, uint32_t cpu,
			    struct gprof_trace_model_task *t);

#endif /* GPROF_TRACE_MODEL_GO_H */
