// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * trace_model_point.c: events of each kind of point.
 */
#include "trace_model_point.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "trace_model_go.h"
#include "trace_model_annotation.h"
#include "trace_model_region.h"

/* How far clocks of CPUs may differ for a child to be seen before its fork, in units. */
#define SKEW_MAX	(1000000 / GPROF_TRACE_UNIT_NS)
/* No source is that late; a weight without sense must not fill the trace. */
#define SAMPLE_TIMES_MAX	4096

/*
 * It has a task without a switch to it. A CPU without a known state gets a status at the start of
 * the trace; later it takes a switch that is made up.
 */
static void count_made_up(struct gprof_trace_model *m, const struct gprof_trace_model_cpu *c,
			  bool fresh)
{
	if (c->task == GPROF_NONE && (!fresh || m->generation > 1))
		m->stats.repaired++;
}

static __attribute__((noinline)) bool agree_now(struct gprof_trace_model *m, const struct gprof_trace_point *p)
{
	struct gprof_trace_model_cpu *c = &m->cpus[p->cpu];
	uint32_t has = c->task == GPROF_NONE ? 0 : m->tasks[c->task].tid;
	bool fresh = c->fresh;

	if (p->tid == GPROF_TRACE_NO_TID)
		return has;
	c->fresh = false;
	if (p->tid == has)
		return has;
	if (p->tid && p->tid == c->stolen)
		return false;
	if (p->tid) {
		count_made_up(m, c, fresh);
		gprof_model_switch_in(m, p->cpu, p->tid);
		return m->cpus[p->cpu].task != GPROF_NONE;
	}
	m->stats.repaired++;
	gprof_model_switch_out(m, p->cpu, GPROF_GO_RUNNABLE, GPROF_TRACE_REASON_LOST, 0);
	/* It idles, which is known by this point alone. */
	gprof_model_proc_stop(m, p->cpu);
	return false;
}

/* The task on the CPU by a point; true when it is the model's task, too. */
static inline bool agree(struct gprof_trace_model *m, const struct gprof_trace_point *p)
{
	struct gprof_trace_model_cpu *c = &m->cpus[p->cpu];

	if (c->task == GPROF_NONE || m->tasks[c->task].tid != p->tid || !p->tid)
		return agree_now(m, p);
	c->fresh = false;
	return true;
}

static inline enum gprof_trace_reason reason_of(const struct gprof_trace_point *p)
{
	unsigned int blocked = p->why - GPROF_TRACE_WHY_SLEEPS;

	_Static_assert(GPROF_TRACE_WHY_WAITS == GPROF_TRACE_WHY_SLEEPS + 1, "no other wait");
	if (p->arg - 1 < GPROF_WAIT_FOR_NR && blocked <= 1)
		return GPROF_TRACE_REASON_WAIT + 2 * (p->arg - 1) + blocked;
	return GPROF_TRACE_REASON_WHY + p->why;
}

static inline void on_switch(struct gprof_trace_model *m, const struct gprof_trace_point *p)
{
	static const uint8_t status[GPROF_TRACE_NR_WHYS] = {
		[GPROF_TRACE_WHY_PREEMPTED] = GPROF_GO_RUNNABLE,
		[GPROF_TRACE_WHY_SLEEPS] = GPROF_GO_WAITING,
		[GPROF_TRACE_WHY_WAITS] = GPROF_GO_WAITING,
		[GPROF_TRACE_WHY_STOPPED] = GPROF_GO_WAITING,
		[GPROF_TRACE_WHY_DEAD] = GPROF_GO_BAD,
		[GPROF_TRACE_WHY_YIELDED] = GPROF_GO_RUNNABLE,
	};

	m->stats.switches++;
	if (agree(m, p))
		gprof_model_switch_out(m, p->cpu, status[p->why], reason_of(p), p->stack);
	if (m->cpus[p->cpu].task != GPROF_NONE) {
		m->stats.repaired++;
		gprof_model_switch_out(m, p->cpu, GPROF_GO_RUNNABLE, GPROF_TRACE_REASON_LOST, 0);
	}
	m->cpus[p->cpu].stolen = GPROF_TRACE_NO_TID;
	m->cpus[p->cpu].fresh = false;
	if (p->other)
		gprof_model_switch_in(m, p->cpu, p->other);
	else
		gprof_model_proc_stop(m, p->cpu);
}

static inline void on_waking(struct gprof_trace_model *m, const struct gprof_trace_point *p)
{
	uint32_t n;

	if (!p->other)
		return;
	n = gprof_model_need_task(m, p->cpu, p->other, GPROF_GO_WAITING);
	if (n == GPROF_NONE)
		return;
	if (m->tasks[n].status == GPROF_GO_WAITING) {
		gprof_model_unblock(m, p->cpu, n, p->stack);
	} else if (m->tasks[n].cpu != GPROF_NONE) {
		m->tasks[n].woken = true;
		m->tasks[n].waker = p->stack;
		m->tasks[n].waker_generation = m->generation;
	}
}

static void on_fork(struct gprof_trace_model *m, const struct gprof_trace_point *p)
{
	uint32_t n = p->other ? gprof_model_find(m, p->other) : GPROF_NONE;
	char name[GPROF_TRACE_COMM] = "";
	uint32_t pid = 0;

	m->stats.forks++;
	if (!p->other || p->other == p->tid)
		return;
	agree(m, p);
	/* Named, but not yet in the trace. */
	if (n != GPROF_NONE && !m->tasks[n].generation) {
		memcpy(name, m->tasks[n].name, sizeof(name));
		m->stats.tasks++;
		m->tasks[n].status = GPROF_GO_RUNNABLE;
		gprof_model_emit_create(m, p->cpu, &m->tasks[n], p->stack);
		return;
	}
	/* Another CPU's clock is ahead: there it ran already. */
	if (n != GPROF_NONE && m->now - m->tasks[n].guessed < SKEW_MAX) {
		m->tasks[n].guessed = 0;
		m->stats.skewed++;
		return;
	}
	if (n != GPROF_NONE) {
		/* The end of the one before was lost. Off a CPU, no event can end it. */
		m->stats.repaired++;
		memcpy(name, m->tasks[n].name, sizeof(name));
		pid = m->tasks[n].pid;
		if (m->tasks[n].cpu != GPROF_NONE)
			gprof_model_switch_out(m, m->tasks[n].cpu, GPROF_GO_BAD,
					       GPROF_TRACE_REASON_LOST, 0);
		else
			gprof_model_forget(m, n);
	}
	n = gprof_model_add(m, p->other, GPROF_GO_RUNNABLE);
	if (n == GPROF_NONE)
		return;
	if (!name[0] && m->cpus[p->cpu].task != GPROF_NONE)
		memcpy(name, m->tasks[m->cpus[p->cpu].task].name, sizeof(name));
	memcpy(m->tasks[n].name, name, sizeof(name));
	m->tasks[n].pid = pid;
	m->stats.tasks++;
	gprof_model_emit_create(m, p->cpu, &m->tasks[n], p->stack);
}

static void on_call(struct gprof_trace_model *m, const struct gprof_trace_point *p)
{
	struct gprof_trace_model_task *t;

	if (!agree(m, p))
		return;
	t = &m->tasks[m->cpus[p->cpu].task];
	if (p->type == GPROF_TRACE_POINT_ENTER) {
		gprof_model_leave_call(m, p->cpu, t);
		gprof_model_enter_call(m, p->cpu, t, p->arg, p->stack);
	} else if (p->arg == GPROF_TRACE_NO_CALL) {
		gprof_model_leave_call(m, p->cpu, t);
	} else {
		if (t->in_call && t->call != p->arg)
			gprof_model_leave_call(m, p->cpu, t);
		/*
		 * With none open it began before the trace, or its begin was lost; within a
		 * region of its program it was ended by an annotation.
		 */
		if (!t->in_call && gprof_model_in_region(t))
			return;
		t->in_call = true;
		t->call = p->arg;
		gprof_model_leave_call(m, p->cpu, t);
	}
}

static void on_exec(struct gprof_trace_model *m, const struct gprof_trace_point *p)
{
	const struct gprof_trace_model_task *t;

	if (!agree(m, p))
		return;
	/* Regions of its old program have ended. */
	gprof_model_leave_call(m, p->cpu, &m->tasks[m->cpus[p->cpu].task]);
	gprof_model_regions_end(m, p->cpu);
	/* A thread that is not the first of its process takes that one's number. */
	if (p->other && p->other != p->tid) {
		gprof_model_switch_out(m, p->cpu, GPROF_GO_BAD, GPROF_TRACE_REASON_LOST, 0);
		gprof_model_switch_in(m, p->cpu, p->other);
	}
	if (m->cpus[p->cpu].task == GPROF_NONE)
		return;
	t = &m->tasks[m->cpus[p->cpu].task];
	if (t->name[0])
		EVENT(m, p->cpu, GPROF_EV_GO_LABEL, gprof_model_string(m, t->name));
}

/* The task on the CPU is known again, and may be the model's. */
static void on_running(struct gprof_trace_model *m, const struct gprof_trace_point *p)
{
	struct gprof_trace_model_cpu *c = &m->cpus[p->cpu];
	uint32_t has = c->task == GPROF_NONE ? 0 : m->tasks[c->task].tid;
	bool fresh = c->fresh;

	c->fresh = false;
	if (p->other == has)
		return;
	c->stolen = GPROF_TRACE_NO_TID;
	if (p->other) {
		count_made_up(m, c, fresh);
		gprof_model_switch_in(m, p->cpu, p->other);
		return;
	}
	m->stats.repaired++;
	gprof_model_switch_out(m, p->cpu, GPROF_GO_RUNNABLE, GPROF_TRACE_REASON_LOST, 0);
	gprof_model_proc_stop(m, p->cpu);
}

/* Time that is taken from the task on the CPU, by the outermost of them. */
static void on_interrupt(struct gprof_trace_model *m, const struct gprof_trace_point *p)
{
	static const char *const softirqs[] = {
		"HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED",
		"HRTIMER", "RCU",
	};
	struct gprof_trace_model_cpu *c = &m->cpus[p->cpu];
	uint64_t nr = p->arg & ~GPROF_TRACE_IRQ_VECTOR;
	char name[40];

	if (p->type == GPROF_TRACE_POINT_IRQ_LEAVE || p->type == GPROF_TRACE_POINT_SOFTIRQ_LEAVE) {
		/* It began before the trace, or its begin was lost. */
		if (c->depth && !--c->depth)
			gprof_model_sweep_end(m, p->cpu);
		return;
	}
	agree(m, p);
	if (c->depth++ || c->task == GPROF_NONE)
		return;
	if (p->type == GPROF_TRACE_POINT_IRQ_ENTER)
		snprintf(name, sizeof(name), "%s %" PRIu64,
			 p->arg & GPROF_TRACE_IRQ_VECTOR ? "vector" : "irq", nr);
	else if (nr < sizeof(softirqs) / sizeof(*softirqs))
		snprintf(name, sizeof(name), "softirq %s", softirqs[nr]);
	else
		snprintf(name, sizeof(name), "softirq %" PRIu64, nr);
	c->sweeps = true;
	EVENT(m, p->cpu, GPROF_EV_GC_SWEEP_BEGIN, gprof_model_stack(m, name, 0));
}

/* Compaction within reclaim belongs to that. */
static void on_reclaim(struct gprof_trace_model *m, const struct gprof_trace_point *p)
{
	bool compact = p->type == GPROF_TRACE_POINT_COMPACT_BEGIN ||
		       p->type == GPROF_TRACE_POINT_COMPACT_END;
	struct gprof_trace_model_task *t;

	if (!agree(m, p))
		return;
	t = &m->tasks[m->cpus[p->cpu].task];
	if (p->type == GPROF_TRACE_POINT_RECLAIM_END || p->type == GPROF_TRACE_POINT_COMPACT_END) {
		if (t->assists > 1)
			t->assists--;
		else
			gprof_model_assist_end(m, p->cpu, t);
		return;
	}
	if (t->assists++ == 0)
		EVENT(m, p->cpu, GPROF_EV_GC_MARK_ASSIST_BEGIN,
		      gprof_model_stack(m, compact ? "compaction" :
			       p->arg ? "reclaim (cgroup)" : "reclaim", p->stack));
}

static void on_fault(struct gprof_trace_model *m, const struct gprof_trace_point *p)
{
	const char *how = p->other & GPROF_TRACE_POINT_FAULT_EXEC ? "exec" :
			  p->other & GPROF_TRACE_POINT_FAULT_WRITE ? "write" : "read";

	if (agree(m, p))
		EVENT(m, p->cpu, GPROF_EV_USER_LOG, 0, gprof_model_string(m, "page fault"),
		      gprof_model_string(m, how), p->stack);
}

/* The task on the CPU need not be the subject. */
static void on_fired(struct gprof_trace_model *m, const struct gprof_trace_point *p)
{
	uint64_t us = (p->arg & ~GPROF_TRACE_GOES_ON) / 1000;
	uint32_t n = p->other ? gprof_model_find(m, p->other) : GPROF_NONE;
	const char *name = m->trigger ? m->trigger(m->ctx, p->why) : NULL;
	char what[160], text[100], number[16];

	if (!name) {
		snprintf(number, sizeof(number), "%u", p->why);
		name = number;
	}
	snprintf(what, sizeof(what), "trigger %s", name);
	snprintf(text, sizeof(text), "%s (tid %" PRIu32 ")", n == GPROF_NONE ? "?" :
		 m->tasks[n].name, p->other);
	if (us)
		snprintf(text + strlen(text), sizeof(text) - strlen(text),
			 ": %" PRIu64 ".%03u ms%s", us / 1000, (unsigned int)(us % 1000),
			 p->arg & GPROF_TRACE_GOES_ON ? ", and on" : "");
	gprof_model_note(m, p->cpu, what, text);
}

/* How often a sample is written, for its weight and the rest of those before. */
static uint64_t sample_times(struct gprof_trace_model *m, uint64_t weight)
{
	uint64_t times;

	if (!m->sample_period || !weight)
		return 1;
	if (__builtin_add_overflow(m->sample_rest, weight, &m->sample_rest))
		m->sample_rest = UINT64_MAX;
	times = m->sample_rest / m->sample_period;
	m->sample_rest %= m->sample_period;
	return times < SAMPLE_TIMES_MAX ? times : SAMPLE_TIMES_MAX;
}

static void put_sample(struct gprof_trace_model *m, const struct gprof_trace_point *p)
{
	bool known = p->tid && p->tid != GPROF_TRACE_NO_TID;
	uint32_t n = known ? gprof_model_find(m, p->tid) : GPROF_NONE;
	struct gprof_trace_bytes *b = &m->samples;

	if (b->nr && b->nr + 1 + 5 * GPROF_VARINT_MAX > GPROF_TRACE_BATCH_MAX)
		gprof_model_batch(m, GPROF_TRACE_NO_THREAD, m->now, b);
	if (!b->nr)
		gprof_model_failed(m, gprof_trace_put_byte(b, GPROF_EV_CPU_SAMPLES));
	gprof_model_failed(m, gprof_trace_put_byte(b, GPROF_EV_CPU_SAMPLE));
	gprof_model_failed(m, gprof_trace_put_number(b, m->now));
	gprof_model_failed(m, gprof_trace_put_number(b, p->cpu));
	gprof_model_failed(m, gprof_trace_put_number(b, p->cpu));
	gprof_model_failed(m, gprof_trace_put_number(b, n == GPROF_NONE ? 0 : m->tasks[n].id));
	gprof_model_failed(m, gprof_trace_put_number(b, p->stack));
}

static void on_sample(struct gprof_trace_model *m, const struct gprof_trace_point *p)
{
	uint64_t times = sample_times(m, p->arg);

	while (times--)
		put_sample(m, p);
}

/* Points without an event of Go's format. */
#define FACT(m, kind, ...) do { \
	const uint64_t v_[] = { __VA_ARGS__ }; \
	gprof_model_failed(m, gprof_trace_facts_add_numbers(&(m)->facts, (m)->now, kind, v_, \
							    sizeof(v_) / sizeof(*v_))); \
} while (0)

/*
 * The number of lost events, their CPU and time; open intervals that they would have ended are
 * ended.
 */
static void on_lost(struct gprof_trace_model *m, const struct gprof_trace_point *p)
{
	m->stats.lost += p->arg;
	gprof_model_sweep_end(m, p->cpu);
	m->cpus[p->cpu].depth = 0;
	FACT(m, 'L', p->cpu, p->arg);
}

static void on_hotplug(struct gprof_trace_model *m, const struct gprof_trace_point *p)
{
	struct gprof_trace_model_cpu *c = &m->cpus[p->cpu];
	bool on = p->type == GPROF_TRACE_POINT_CPU_ON;

	if (!on) {
		if (c->task != GPROF_NONE)
			gprof_model_switch_out(m, p->cpu, GPROF_GO_RUNNABLE,
					       GPROF_TRACE_REASON_OFFLINE, 0);
		gprof_model_proc_stop(m, p->cpu);
	}
	if (c->online == on)
		return;
	c->online = on;
	m->procs += on ? 1 : m->procs ? -1ULL : 0;
	m->procs_due = true;
}

/* Neither a switch nor a waking. */
static __attribute__((noinline)) void other_point(struct gprof_trace_model *m,
						  const struct gprof_trace_point *p)
{
	switch (p->type) {
	case GPROF_TRACE_POINT_FORK:
		on_fork(m, p);
		break;
	case GPROF_TRACE_POINT_EXEC:
		on_exec(m, p);
		break;
	case GPROF_TRACE_POINT_ENTER:
	case GPROF_TRACE_POINT_LEAVE:
		on_call(m, p);
		break;
	case GPROF_TRACE_POINT_SAMPLE:
		on_sample(m, p);
		break;
	case GPROF_TRACE_POINT_LOST:
		on_lost(m, p);
		break;
	case GPROF_TRACE_POINT_CPU_ON:
	case GPROF_TRACE_POINT_CPU_OFF:
		on_hotplug(m, p);
		break;
	case GPROF_TRACE_POINT_RUNNING:
		on_running(m, p);
		break;
	case GPROF_TRACE_POINT_IRQ_ENTER:
	case GPROF_TRACE_POINT_IRQ_LEAVE:
	case GPROF_TRACE_POINT_SOFTIRQ_ENTER:
	case GPROF_TRACE_POINT_SOFTIRQ_LEAVE:
		on_interrupt(m, p);
		break;
	case GPROF_TRACE_POINT_FAULT:
		on_fault(m, p);
		break;
	case GPROF_TRACE_POINT_RECLAIM_BEGIN:
	case GPROF_TRACE_POINT_RECLAIM_END:
	case GPROF_TRACE_POINT_COMPACT_BEGIN:
	case GPROF_TRACE_POINT_COMPACT_END:
		on_reclaim(m, p);
		break;
	case GPROF_TRACE_POINT_FIRED:
		on_fired(m, p);
		break;
	case GPROF_TRACE_POINT_ANNOTATION:
		agree(m, p);
		gprof_model_annotation(m, p);
		break;
	case GPROF_TRACE_POINT_FREQ:
		FACT(m, 'F', p->other, p->arg);
		break;
	case GPROF_TRACE_POINT_THROTTLE:
	case GPROF_TRACE_POINT_UNTHROTTLE:
		FACT(m, 'T', p->cpu, p->type == GPROF_TRACE_POINT_THROTTLE, p->other);
		break;
	}
}

void gprof_model_points(struct gprof_trace_model *m, const struct gprof_trace_point *points,
			size_t nr)
{
	const struct gprof_trace_point *p, *end = points + nr;

	for (p = points; p != end && !m->err; p++) {
		if (p->time / GPROF_TRACE_UNIT_NS > m->now)
			m->now = p->time / GPROF_TRACE_UNIT_NS;
		if (gprof_model_need_cpu(m, p->cpu))
			continue;
		m->stats.points++;
		if (p->type == GPROF_TRACE_POINT_SWITCH)
			on_switch(m, p);
		else if (p->type == GPROF_TRACE_POINT_WAKING)
			on_waking(m, p);
		else
			other_point(m, p);
	}
}
