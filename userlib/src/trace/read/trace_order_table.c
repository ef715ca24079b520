// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * trace_order_table.c: the order of events: whether one may come next, and its meaning.
 */
#include "trace_order.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "trace_step.h"
#include "trace_wire.h"

gprof_trace_step *const gprof_trace_steps[256] = {
	[GPROF_EV_PROCS_CHANGE] = gprof_trace_procs_change,
	[GPROF_EV_PROC_START] = gprof_trace_proc_start,
	[GPROF_EV_PROC_STOP] = gprof_trace_proc_stop,
	[GPROF_EV_PROC_STEAL] = gprof_trace_proc_steal,
	[GPROF_EV_PROC_STATUS] = gprof_trace_proc_status,

	[GPROF_EV_GO_CREATE] = gprof_trace_go_create,
	[GPROF_EV_GO_CREATE_BLOCKED] = gprof_trace_go_create,
	[GPROF_EV_GO_CREATE_SYSCALL] = gprof_trace_go_create_syscall,
	[GPROF_EV_GO_START] = gprof_trace_go_start,
	[GPROF_EV_GO_DESTROY] = gprof_trace_go_destroy,
	[GPROF_EV_GO_DESTROY_SYSCALL] = gprof_trace_go_destroy_syscall,
	[GPROF_EV_GO_STOP] = gprof_trace_go_stop,
	[GPROF_EV_GO_BLOCK] = gprof_trace_go_stop,
	[GPROF_EV_GO_UNBLOCK] = gprof_trace_go_unblock,
	[GPROF_EV_GO_SYSCALL_BEGIN] = gprof_trace_go_syscall_begin,
	[GPROF_EV_GO_SYSCALL_END] = gprof_trace_go_syscall_end,
	[GPROF_EV_GO_SYSCALL_END_BLOCKED] = gprof_trace_go_syscall_end_blocked,
	[GPROF_EV_GO_STATUS] = gprof_trace_go_status,
	[GPROF_EV_GO_STATUS_STACK] = gprof_trace_go_status,
	[GPROF_EV_GO_SWITCH] = gprof_trace_go_switch,
	[GPROF_EV_GO_SWITCH_DESTROY] = gprof_trace_go_switch,

	[GPROF_EV_STW_BEGIN] = gprof_trace_stw_begin,
	[GPROF_EV_STW_END] = gprof_trace_stw_end,
	[GPROF_EV_GC_ACTIVE] = gprof_trace_gc_active,
	[GPROF_EV_GC_BEGIN] = gprof_trace_gc_begin,
	[GPROF_EV_GC_END] = gprof_trace_gc_end,
	[GPROF_EV_GC_SWEEP_ACTIVE] = gprof_trace_sweep_active,
	[GPROF_EV_GC_SWEEP_BEGIN] = gprof_trace_sweep_begin,
	[GPROF_EV_GC_SWEEP_END] = gprof_trace_sweep_end,
	[GPROF_EV_GC_MARK_ASSIST_ACTIVE] = gprof_trace_assist_active,
	[GPROF_EV_GC_MARK_ASSIST_BEGIN] = gprof_trace_assist_begin,
	[GPROF_EV_GC_MARK_ASSIST_END] = gprof_trace_assist_end,
	[GPROF_EV_HEAP_ALLOC] = gprof_trace_heap_metric,
	[GPROF_EV_HEAP_GOAL] = gprof_trace_heap_metric,

	[GPROF_EV_GO_LABEL] = gprof_trace_go_label,
	[GPROF_EV_USER_TASK_BEGIN] = gprof_trace_on_task_begin,
	[GPROF_EV_USER_TASK_END] = gprof_trace_on_task_end,
	[GPROF_EV_USER_REGION_BEGIN] = gprof_trace_on_region_begin,
	[GPROF_EV_USER_REGION_END] = gprof_trace_on_region_end,
	[GPROF_EV_USER_LOG] = gprof_trace_on_log,

	[GPROF_EV_SPAN ... GPROF_EV_GOROUTINE_STACK_FREE] = gprof_trace_experiment,
};

void gprof_trace_order_init(struct gprof_trace_order *o, struct gprof_trace_memory *m,
			    const struct gprof_trace_dictionary *d, struct gprof_error *error)
{
	memset(o, 0, sizeof(*o));
	o->memory = m;
	o->dictionary = d;
	o->error = error;
	gprof_trace_state_init(&o->state, m);
	gprof_trace_names_init(&o->names, m, "", "");
	gprof_trace_names_init(&o->stops, m, "stop-the-world (", ")");
}

void gprof_trace_order_free(struct gprof_trace_order *o)
{
	if (!o->memory)
		return;
	gprof_trace_name_drop(o->memory, o->retired);
	gprof_trace_names_free(&o->names);
	gprof_trace_names_free(&o->stops);
	gprof_trace_state_free(&o->state);
	o->memory = NULL;
}

void gprof_trace_order_generation(struct gprof_trace_order *o, uint64_t generation)
{
	if (!o->initial)
		o->initial = generation;
	o->generation = generation;
	gprof_trace_names_clear(&o->names);
	gprof_trace_names_clear(&o->stops);
}

int gprof_trace_refuse(struct gprof_trace_order *o, const struct gprof_trace_cursor *c,
		       const char *fmt, ...)
{
	char text[GPROF_ERROR_TEXT / 2];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return gprof_error_set(o->error, EBADMSG, "%s on thread %lld: %s",
			       gprof_trace_specs[c->type].name, (long long)c->thread, text);
}

int gprof_trace_fail(struct gprof_trace_order *o, int err)
{
	if (err == EFBIG)
		return gprof_error_set(o->error, EFBIG,
				       "what goes on in the trace takes more memory than it may have");
	return gprof_error_set(o->error, ENOMEM, "no memory for the state of the trace");
}

int gprof_trace_lacks(struct gprof_trace_order *o, const struct gprof_trace_cursor *c,
		      unsigned int need)
{
	if ((need & GPROF_NEED_THREAD) && c->thread == GPROF_TRACE_NONE)
		return gprof_trace_refuse(o, c, "it happens on a thread, and this is none");
	if ((need & GPROF_NEED_PROC) && o->m->proc == GPROF_TRACE_NONE)
		return gprof_trace_refuse(o, c, "the thread has no proc");
	return gprof_trace_refuse(o, c, "the thread runs no goroutine");
}

void gprof_trace_retire(struct gprof_trace_order *o, struct gprof_trace_name *name)
{
	gprof_trace_name_drop(o->memory, o->retired);
	o->retired = name;
}

const char *gprof_trace_go_status_name(uint8_t status)
{
	static const char *const names[GPROF_GO_NR] = {
		[GPROF_GO_BAD] = "in no state",
		[GPROF_GO_RUNNABLE] = "runnable",
		[GPROF_GO_RUNNING] = "running",
		[GPROF_GO_SYSCALL] = "in a syscall",
		[GPROF_GO_WAITING] = "waiting",
	};

	return names[status];
}

const char *gprof_trace_proc_status_name(uint8_t status)
{
	static const char *const names[GPROF_PROC_NR] = {
		[GPROF_PROC_BAD] = "in no state",
		[GPROF_PROC_RUNNING] = "running",
		[GPROF_PROC_IDLE] = "idle",
		[GPROF_PROC_SYSCALL] = "in a syscall",
		[GPROF_PROC_SYSCALL_ABANDONED] = "left behind in a syscall",
	};

	return names[status];
}

int gprof_trace_order_find(struct gprof_trace_order *o, struct gprof_trace_cursor *c)
{
	if (c->thread == GPROF_TRACE_NONE) {
		o->nobody = (struct gprof_trace_m){
			.id = GPROF_TRACE_NONE,
			.go = GPROF_TRACE_NONE,
			.proc = GPROF_TRACE_NONE,
			.go_at = GPROF_NONE,
			.proc_at = GPROF_NONE,
		};
		o->m = &o->nobody;
		return 0;
	}
	c->state = gprof_trace_ids_get(&o->state.m_ids, (uint64_t)c->thread);
	if (c->state == GPROF_NONE)
		c->state = gprof_trace_m_add(&o->state, c->thread);
	if (c->state == GPROF_NONE)
		return gprof_trace_fail(o, errno);
	o->m = &o->state.ms[c->state];
	return 0;
}
