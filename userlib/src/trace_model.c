// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * trace_model.c: what happened on CPUs, turned into procs and goroutines.
 */
#include "trace_model.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace_wire.h"

#define GO_NONE		UINT64_MAX
#define VERSION_BLOCKED	23	/* from which on a goroutine may begin blocked */
/* Goroutines of tids that are used again differ from this bit on. */
#define REUSE_SHIFT	22
/* How far clocks of CPUs may differ for a child to be seen before its fork, in units. */
#define SKEW_MAX	(1000000 / GPROF_TRACE_UNIT_NS)

static const char *const reasons[GPROF_TRACE_NR_REASONS] = {
	[GPROF_TRACE_REASON_LOST] = "lost events",
	[GPROF_TRACE_REASON_SKEW] = "clocks of CPUs differ",
	[GPROF_TRACE_REASON_OFFLINE] = "CPU went offline",
	[GPROF_TRACE_REASON_WHY + GPROF_TRACE_WHY_PREEMPTED] = "preempted",
	[GPROF_TRACE_REASON_WHY + GPROF_TRACE_WHY_SLEEPS] = "sleep",
	[GPROF_TRACE_REASON_WHY + GPROF_TRACE_WHY_WAITS] = "uninterruptible sleep",
	[GPROF_TRACE_REASON_WHY + GPROF_TRACE_WHY_STOPPED] = "stopped",
	[GPROF_TRACE_REASON_WHY + GPROF_TRACE_WHY_DEAD] = "dead",
	[GPROF_TRACE_REASON_WHY + GPROF_TRACE_WHY_YIELDED] = "yielded",
};

int gprof_trace_model_init(struct gprof_trace_model *m, const struct gprof_trace_writer_opts *o)
{
	memset(m, 0, sizeof(*m));
	m->version = o->version;
	m->syscall = o->syscall;
	m->ctx = o->ctx;
	m->procs = o->cpus;
	m->procs_due = true;
	gprof_trace_memory_init(&m->memory, UINT64_MAX);
	gprof_trace_ids_init(&m->memory, &m->tids);
	/* Half a MiB, of which only the pages that are used take any. */
	m->seen = calloc(GPROF_TRACE_TIDS / 8, 1);
	return m->seen ? 0 : -ENOMEM;
}

void gprof_trace_model_free(struct gprof_trace_model *m)
{
	size_t i;

	for (i = 0; i < m->nr_cpus; i++)
		gprof_trace_bytes_free(&m->cpus[i].body);
	gprof_trace_bytes_free(&m->samples);
	free(m->cpus);
	free(m->tasks);
	free(m->free);
	free(m->seen);
	gprof_trace_ids_free(&m->memory, &m->tids);
	memset(m, 0, sizeof(*m));
}

static void failed(struct gprof_trace_model *m, int err)
{
	if (err && !m->err)
		m->err = err;
}

static void flush(struct gprof_trace_model *m, uint32_t cpu)
{
	struct gprof_trace_model_cpu *c = &m->cpus[cpu];

	if (c->body.nr)
		failed(m, gprof_trace_put_batch(m->out, 0, m->generation, cpu, c->begin, &c->body));
}

static void event_v(struct gprof_trace_model *m, uint32_t cpu, unsigned char type,
		    const uint64_t *args, size_t nr)
{
	struct gprof_trace_model_cpu *c = &m->cpus[cpu];
	size_t i;

	if (c->body.nr + GPROF_TRACE_EVENT_MAX > GPROF_TRACE_BATCH_MAX)
		flush(m, cpu);
	if (!c->body.nr)
		c->begin = c->last = m->now;
	failed(m, gprof_trace_put_byte(&c->body, type));
	failed(m, gprof_trace_put_number(&c->body, m->now - c->last));
	for (i = 0; i < nr; i++)
		failed(m, gprof_trace_put_number(&c->body, args[i]));
	c->last = m->now;
	m->stats.events++;
}

#define EVENT0(m, cpu, type)	event_v(m, cpu, type, NULL, 0)
#define EVENT(m, cpu, type, ...) do { \
	const uint64_t v_[] = { __VA_ARGS__ }; \
	event_v(m, cpu, type, v_, sizeof(v_) / sizeof(*v_)); \
} while (0)

static uint64_t string(struct gprof_trace_model *m, const char *s)
{
	uint64_t id = 0;

	failed(m, gprof_trace_pool_string(m->pool, s, strlen(s), &id));
	return id;
}

static uint64_t reason(struct gprof_trace_model *m, enum gprof_trace_reason r)
{
	if (!m->reasons[r])
		m->reasons[r] = string(m, reasons[r]);
	return m->reasons[r];
}

/* A stack of one frame that says @name. */
static uint64_t stack_of(struct gprof_trace_model *m, const char *name)
{
	struct gprof_trace_frame f = { .function = { name, strlen(name) }, .file = { "", 0 } };
	uint64_t id = 0;

	failed(m, gprof_trace_pool_stack(m->pool, &f, 1, &id));
	return id;
}

/* Viewers name a goroutine after where it began: its name. */
static uint64_t name_stack(struct gprof_trace_model *m, const struct gprof_trace_model_task *t)
{
	return t->name[0] ? stack_of(m, t->name) : 0;
}

/* A CPU that is mentioned. */
static int know_cpu(struct gprof_trace_model *m, uint32_t cpu)
{
	struct gprof_trace_model_cpu *c;
	int err;

	if (cpu >= m->nr_cpus) {
		err = gprof_grow(&m->cpus, &m->cap_cpus, cpu + 1UL, sizeof(*m->cpus));
		if (err) {
			failed(m, err);
			return err;
		}
		memset(&m->cpus[m->nr_cpus], 0, (cpu + 1 - m->nr_cpus) * sizeof(*m->cpus));
		m->nr_cpus = cpu + 1UL;
	}
	c = &m->cpus[cpu];
	if (c->known)
		return 0;
	c->known = c->online = c->fresh = true;
	c->task = GPROF_NONE;
	c->stolen = GPROF_TRACE_NO_TID;
	m->stats.cpus++;
	if (++m->nr_known > m->procs) {
		m->procs = m->nr_known;
		m->procs_due = true;
	}
	return 0;
}

/* Likewise, and its status in this generation. */
static int need_cpu(struct gprof_trace_model *m, uint32_t cpu)
{
	struct gprof_trace_model_cpu *c;
	int err = know_cpu(m, cpu);

	if (err)
		return err;
	c = &m->cpus[cpu];
	if (c->generation != m->generation) {
		c->generation = m->generation;
		c->seq = 0;
		EVENT(m, cpu, GPROF_EV_PROC_STATUS, cpu,
		      c->running ? GPROF_PROC_RUNNING : GPROF_PROC_IDLE);
		if (c->sweeps)
			EVENT(m, cpu, GPROF_EV_GC_SWEEP_ACTIVE, cpu);
	}
	return 0;
}

static void proc_start(struct gprof_trace_model *m, uint32_t cpu)
{
	struct gprof_trace_model_cpu *c = &m->cpus[cpu];

	if (c->running)
		return;
	c->running = true;
	EVENT(m, cpu, GPROF_EV_PROC_START, cpu, ++c->seq);
}

/* An interrupt has ended, or who was interrupted goes on, which is as good. */
static void sweep_end(struct gprof_trace_model *m, uint32_t cpu)
{
	if (m->cpus[cpu].sweeps)
		EVENT(m, cpu, GPROF_EV_GC_SWEEP_END, 0, 0);
	m->cpus[cpu].sweeps = false;
}

static void proc_stop(struct gprof_trace_model *m, uint32_t cpu)
{
	if (!m->cpus[cpu].running)
		return;
	sweep_end(m, cpu);
	m->cpus[cpu].running = false;
	EVENT0(m, cpu, GPROF_EV_PROC_STOP);
}

static void say_status(struct gprof_trace_model *m, uint32_t cpu, struct gprof_trace_model_task *t)
{
	uint64_t thread = t->status == GPROF_GO_RUNNING ? t->cpu : GO_NONE;
	uint64_t stack = name_stack(m, t);

	t->generation = m->generation;
	t->seq = 0;
	if (m->version >= VERSION_BLOCKED && stack)
		EVENT(m, cpu, GPROF_EV_GO_STATUS_STACK, t->id, thread, t->status, stack);
	else
		EVENT(m, cpu, GPROF_EV_GO_STATUS, t->id, thread, t->status);
	if (t->assists)
		EVENT(m, cpu, GPROF_EV_GC_MARK_ASSIST_ACTIVE, t->id);
}

/* It needs a proc, which a CPU that idles has for just that long. */
static void say_create(struct gprof_trace_model *m, uint32_t cpu, struct gprof_trace_model_task *t,
		       uint64_t stack)
{
	bool idle = !m->cpus[cpu].running;

	t->generation = m->generation;
	t->seq = 0;
	if (idle)
		proc_start(m, cpu);
	if (t->status == GPROF_GO_WAITING && m->version < VERSION_BLOCKED)
		t->status = GPROF_GO_RUNNABLE;
	EVENT(m, cpu, t->status == GPROF_GO_WAITING ? GPROF_EV_GO_CREATE_BLOCKED : GPROF_EV_GO_CREATE,
	      t->id, name_stack(m, t), stack);
	if (idle)
		proc_stop(m, cpu);
}

static uint32_t find(const struct gprof_trace_model *m, uint32_t tid)
{
	return gprof_trace_ids_get(&m->tids, tid);
}

/* A place for a task of that tid, which there is none of. */
static uint32_t add(struct gprof_trace_model *m, uint32_t tid, uint8_t status)
{
	bool seen = m->seen[tid / 8] & 1U << tid % 8;
	struct gprof_trace_model_task *t;
	uint32_t n;
	int err = 0;

	if (m->nr_free) {
		n = m->free[--m->nr_free];
	} else {
		n = (uint32_t)m->nr_tasks;
		err = gprof_grow(&m->tasks, &m->cap_tasks, m->nr_tasks + 1, sizeof(*m->tasks));
		if (!err)
			m->nr_tasks++;
	}
	if (!err)
		err = gprof_trace_ids_put(&m->memory, &m->tids, tid, n);
	if (err) {
		failed(m, err);
		return GPROF_NONE;
	}
	m->seen[tid / 8] |= (unsigned char)(1U << tid % 8);
	t = &m->tasks[n];
	*t = (struct gprof_trace_model_task){
		.id = (seen ? ++m->reused << REUSE_SHIFT : 0) | tid,
		.tid = tid,
		.cpu = GPROF_NONE,
		.status = status,
		.used = true,
	};
	return n;
}

static void forget(struct gprof_trace_model *m, uint32_t n)
{
	gprof_trace_ids_remove(&m->tids, m->tasks[n].tid);
	m->tasks[n].used = false;
	if (gprof_grow(&m->free, &m->cap_free, m->nr_free + 1, sizeof(*m->free)))
		failed(m, -ENOMEM);
	else
		m->free[m->nr_free++] = n;
}

/*
 * The task of a tid, whose status in this generation is said before anything else.
 * One that was never heard of has @status, which follows from what is said of it.
 */
static uint32_t need_task(struct gprof_trace_model *m, uint32_t cpu, uint32_t tid, uint8_t status)
{
	uint32_t n = find(m, tid);

	if (n == GPROF_NONE) {
		n = add(m, tid, status);
		if (n == GPROF_NONE)
			return n;
	}
	if (m->tasks[n].generation == m->generation)
		return n;
	if (!m->tasks[n].generation) {
		m->stats.tasks++;
		m->tasks[n].status = status;
		m->tasks[n].guessed = m->now;
	}
	if (!m->tasks[n].generation && m->generation > 1)
		say_create(m, cpu, &m->tasks[n], 0);
	else
		say_status(m, cpu, &m->tasks[n]);
	return n;
}

static void go_unblock(struct gprof_trace_model *m, uint32_t cpu, uint32_t n, uint64_t stack)
{
	struct gprof_trace_model_task *t = &m->tasks[n];

	t->status = GPROF_GO_RUNNABLE;
	EVENT(m, cpu, GPROF_EV_GO_UNBLOCK, t->id, ++t->seq, stack);
}

/* Does what it does for the system? Readers of utilization want to know. */
static bool is_background(const char *name)
{
	static const char *const names[] = { "kswapd", "kcompactd", "ksoftirqd/", "kworker/" };
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strncmp(name, names[i], strlen(names[i])))
			return true;
	return false;
}

/* Once for each, as Go's own reader counts it at each label. */
static void label(struct gprof_trace_model *m, uint32_t cpu, struct gprof_trace_model_task *t)
{
	char text[GPROF_TRACE_COMM + 8];

	if (t->labelled || !t->name[0])
		return;
	t->labelled = true;
	if (!is_background(t->name))
		return;
	snprintf(text, sizeof(text), "GC (%s)", t->name);
	EVENT(m, cpu, GPROF_EV_GO_LABEL, string(m, text));
}

static void go_start(struct gprof_trace_model *m, uint32_t cpu, uint32_t n)
{
	struct gprof_trace_model_cpu *c = &m->cpus[cpu];
	struct gprof_trace_model_task *t = &m->tasks[n];

	if (t->status == GPROF_GO_WAITING)
		go_unblock(m, cpu, n, 0);
	proc_start(m, cpu);
	t->status = GPROF_GO_RUNNING;
	t->cpu = cpu;
	c->task = n;
	EVENT(m, cpu, GPROF_EV_GO_START, t->id, ++t->seq);
	if (m->procs_due) {
		m->procs_due = false;
		EVENT(m, cpu, GPROF_EV_PROCS_CHANGE, m->procs, 0);
	}
	label(m, cpu, t);
}

static void region(struct gprof_trace_model *m, uint32_t cpu, unsigned char type, uint64_t nr,
		   uint64_t stack)
{
	const char *name = m->syscall ? m->syscall(m->ctx, nr) : NULL;
	char number[40];

	if (!name) {
		snprintf(number, sizeof(number), "%ssyscall %" PRIu64,
			 nr & GPROF_TRACE_CALL_32 ? "32-bit " : "", nr & ~GPROF_TRACE_CALL_32);
		name = number;
	}
	EVENT(m, cpu, type, 0, string(m, name), stack);
}

static void leave_call(struct gprof_trace_model *m, uint32_t cpu, struct gprof_trace_model_task *t)
{
	if (!t->in_call)
		return;
	t->in_call = false;
	region(m, cpu, GPROF_EV_USER_REGION_END, t->call, 0);
}

static void assist_end(struct gprof_trace_model *m, uint32_t cpu, struct gprof_trace_model_task *t)
{
	if (t->assists)
		EVENT0(m, cpu, GPROF_EV_GC_MARK_ASSIST_END);
	t->assists = 0;
}

/* The task of a CPU leaves it. */
static void go_leave(struct gprof_trace_model *m, uint32_t cpu, uint8_t status,
		     enum gprof_trace_reason why, uint64_t stack)
{
	uint32_t n = m->cpus[cpu].task;
	struct gprof_trace_model_task *t = &m->tasks[n];

	/* Nobody is switched within an interrupt: the end of one was lost. */
	sweep_end(m, cpu);
	m->cpus[cpu].depth = 0;
	m->cpus[cpu].task = GPROF_NONE;
	t->cpu = GPROF_NONE;
	if (status == GPROF_GO_BAD) {
		leave_call(m, cpu, t);
		assist_end(m, cpu, t);
		EVENT0(m, cpu, GPROF_EV_GO_DESTROY);
		forget(m, n);
		return;
	}
	t->status = status;
	EVENT(m, cpu, status == GPROF_GO_WAITING ? GPROF_EV_GO_BLOCK : GPROF_EV_GO_STOP,
	      reason(m, why), stack);
	/* Who woke it saw it sleep already, though it was still on its way there. */
	if (t->woken && status == GPROF_GO_WAITING)
		go_unblock(m, cpu, n, 0);
	t->woken = false;
}

/* Put a task on a CPU that has another, or none, or it elsewhere. */
static void take(struct gprof_trace_model *m, uint32_t cpu, uint32_t tid)
{
	struct gprof_trace_model_cpu *c = &m->cpus[cpu];
	uint32_t n = need_task(m, cpu, tid, GPROF_GO_RUNNABLE);

	if (n == GPROF_NONE || c->task == n)
		return;
	if (c->task != GPROF_NONE) {
		m->stats.repaired++;
		go_leave(m, cpu, GPROF_GO_RUNNABLE, GPROF_TRACE_REASON_LOST, 0);
	}
	if (m->tasks[n].cpu != GPROF_NONE) {
		uint32_t from = m->tasks[n].cpu;

		m->stats.repaired++;
		m->stats.skewed++;
		go_leave(m, from, GPROF_GO_RUNNABLE, GPROF_TRACE_REASON_SKEW, 0);
		m->cpus[from].stolen = tid;
	}
	go_start(m, cpu, n);
}

/*
 * It has a task that nobody was seen to give it. A CPU of which nothing was known says so
 * by a status at the start of the trace; later it takes a switch that is made up.
 */
static void count_made_up(struct gprof_trace_model *m, const struct gprof_trace_model_cpu *c,
			  bool fresh)
{
	if (c->task == GPROF_NONE && (!fresh || m->generation > 1))
		m->stats.repaired++;
}

/* What a point says of who has the CPU; true when it is that task, for the model too. */
static bool agree(struct gprof_trace_model *m, const struct gprof_trace_point *p)
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
		take(m, p->cpu, p->tid);
		return m->cpus[p->cpu].task != GPROF_NONE;
	}
	m->stats.repaired++;
	go_leave(m, p->cpu, GPROF_GO_RUNNABLE, GPROF_TRACE_REASON_LOST, 0);
	return false;
}

static void on_switch(struct gprof_trace_model *m, const struct gprof_trace_point *p)
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
		go_leave(m, p->cpu, status[p->why], GPROF_TRACE_REASON_WHY + p->why, p->stack);
	if (m->cpus[p->cpu].task != GPROF_NONE) {
		m->stats.repaired++;
		go_leave(m, p->cpu, GPROF_GO_RUNNABLE, GPROF_TRACE_REASON_LOST, 0);
	}
	m->cpus[p->cpu].stolen = GPROF_TRACE_NO_TID;
	m->cpus[p->cpu].fresh = false;
	if (p->other)
		take(m, p->cpu, p->other);
	else
		proc_stop(m, p->cpu);
}

static void on_waking(struct gprof_trace_model *m, const struct gprof_trace_point *p)
{
	uint32_t n;

	if (!p->other)
		return;
	n = need_task(m, p->cpu, p->other, GPROF_GO_WAITING);
	if (n == GPROF_NONE)
		return;
	if (m->tasks[n].status == GPROF_GO_WAITING)
		go_unblock(m, p->cpu, n, p->stack);
	else if (m->tasks[n].status == GPROF_GO_RUNNING)
		m->tasks[n].woken = true;
}

static void on_fork(struct gprof_trace_model *m, const struct gprof_trace_point *p)
{
	uint32_t n = p->other ? find(m, p->other) : GPROF_NONE;
	char name[GPROF_TRACE_COMM] = "";

	m->stats.forks++;
	if (!p->other || p->other == p->tid)
		return;
	agree(m, p);
	/* Named, but not yet in the trace. */
	if (n != GPROF_NONE && !m->tasks[n].generation) {
		memcpy(name, m->tasks[n].name, sizeof(name));
		m->stats.tasks++;
		m->tasks[n].status = GPROF_GO_RUNNABLE;
		say_create(m, p->cpu, &m->tasks[n], p->stack);
		return;
	}
	/* Another CPU's clock is ahead: there it ran already. */
	if (n != GPROF_NONE && m->now - m->tasks[n].guessed < SKEW_MAX) {
		m->tasks[n].guessed = 0;
		m->stats.skewed++;
		return;
	}
	if (n != GPROF_NONE) {
		/* The end of the one before was lost. Off a CPU, nobody can end it. */
		m->stats.repaired++;
		memcpy(name, m->tasks[n].name, sizeof(name));
		if (m->tasks[n].cpu != GPROF_NONE)
			go_leave(m, m->tasks[n].cpu, GPROF_GO_BAD, GPROF_TRACE_REASON_LOST, 0);
		else
			forget(m, n);
	}
	n = add(m, p->other, GPROF_GO_RUNNABLE);
	if (n == GPROF_NONE)
		return;
	if (!name[0] && m->cpus[p->cpu].task != GPROF_NONE)
		memcpy(name, m->tasks[m->cpus[p->cpu].task].name, sizeof(name));
	memcpy(m->tasks[n].name, name, sizeof(name));
	m->stats.tasks++;
	say_create(m, p->cpu, &m->tasks[n], p->stack);
}

static void on_call(struct gprof_trace_model *m, const struct gprof_trace_point *p)
{
	struct gprof_trace_model_task *t;

	if (!agree(m, p))
		return;
	t = &m->tasks[m->cpus[p->cpu].task];
	if (p->type == GPROF_TRACE_POINT_ENTER) {
		leave_call(m, p->cpu, t);
		t->in_call = true;
		t->call = p->arg;
		region(m, p->cpu, GPROF_EV_USER_REGION_BEGIN, p->arg, p->stack);
	} else if (p->arg == GPROF_TRACE_NO_CALL) {
		leave_call(m, p->cpu, t);
	} else {
		if (t->in_call && t->call != p->arg)
			leave_call(m, p->cpu, t);
		/* With none open it began before the trace, or its begin was lost. */
		t->in_call = true;
		t->call = p->arg;
		leave_call(m, p->cpu, t);
	}
}

static void on_exec(struct gprof_trace_model *m, const struct gprof_trace_point *p)
{
	const struct gprof_trace_model_task *t;

	if (!agree(m, p))
		return;
	/* A thread that is not the first of its process takes that one's number. */
	if (p->other && p->other != p->tid) {
		go_leave(m, p->cpu, GPROF_GO_BAD, GPROF_TRACE_REASON_LOST, 0);
		take(m, p->cpu, p->other);
	}
	if (m->cpus[p->cpu].task == GPROF_NONE)
		return;
	t = &m->tasks[m->cpus[p->cpu].task];
	if (t->name[0])
		EVENT(m, p->cpu, GPROF_EV_GO_LABEL, string(m, t->name));
}

/* It is known again who has the CPU, which may be whom the model has there. */
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
		take(m, p->cpu, p->other);
		return;
	}
	m->stats.repaired++;
	go_leave(m, p->cpu, GPROF_GO_RUNNABLE, GPROF_TRACE_REASON_LOST, 0);
	proc_stop(m, p->cpu);
}

/* Time that is taken from whoever has the CPU, by the outermost of them. */
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
			sweep_end(m, p->cpu);
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
	EVENT(m, p->cpu, GPROF_EV_GC_SWEEP_BEGIN, stack_of(m, name));
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
			assist_end(m, p->cpu, t);
		return;
	}
	if (t->assists++ == 0)
		EVENT(m, p->cpu, GPROF_EV_GC_MARK_ASSIST_BEGIN,
		      stack_of(m, compact ? "compaction" :
			       p->arg ? "reclaim (cgroup)" : "reclaim"));
}

static void on_fault(struct gprof_trace_model *m, const struct gprof_trace_point *p)
{
	const char *how = p->other & GPROF_TRACE_POINT_FAULT_EXEC ? "exec" :
			  p->other & GPROF_TRACE_POINT_FAULT_WRITE ? "write" : "read";

	if (agree(m, p))
		EVENT(m, p->cpu, GPROF_EV_USER_LOG, 0, string(m, "page fault"), string(m, how),
		      p->stack);
}

static void on_sample(struct gprof_trace_model *m, const struct gprof_trace_point *p)
{
	uint32_t n = p->tid && p->tid != GPROF_TRACE_NO_TID ? find(m, p->tid) : GPROF_NONE;
	struct gprof_trace_bytes *b = &m->samples;

	if (b->nr && b->nr + 1 + 5 * GPROF_VARINT_MAX > GPROF_TRACE_BATCH_MAX)
		failed(m, gprof_trace_put_batch(m->out, 0, m->generation, GPROF_TRACE_NO_THREAD,
						m->now, b));
	if (!b->nr)
		failed(m, gprof_trace_put_byte(b, GPROF_EV_CPU_SAMPLES));
	failed(m, gprof_trace_put_byte(b, GPROF_EV_CPU_SAMPLE));
	failed(m, gprof_trace_put_number(b, m->now));
	failed(m, gprof_trace_put_number(b, p->cpu));
	failed(m, gprof_trace_put_number(b, p->cpu));
	failed(m, gprof_trace_put_number(b, n == GPROF_NONE ? 0 : m->tasks[n].id));
	failed(m, gprof_trace_put_number(b, p->stack));
}

/* What Go's format has no event for, in a batch that other readers ignore. */
static void put_own(struct gprof_trace_model *m, const struct gprof_trace_point *p,
		    unsigned char what, uint64_t first, uint64_t second)
{
	struct gprof_trace_bytes body = { 0 };

	failed(m, gprof_trace_put_byte(&body, what));
	failed(m, gprof_trace_put_number(&body, first));
	failed(m, gprof_trace_put_number(&body, second));
	failed(m, gprof_trace_put_batch(m->out, GPROF_TRACE_EXPERIMENT, m->generation, p->cpu,
					m->now, &body));
	gprof_trace_bytes_free(&body);
}

/* How many were lost, where and before when; whatever they would have ended has ended. */
static void on_lost(struct gprof_trace_model *m, const struct gprof_trace_point *p)
{
	m->stats.lost += p->arg;
	sweep_end(m, p->cpu);
	m->cpus[p->cpu].depth = 0;
	put_own(m, p, 'L', p->cpu, p->arg);
}

static void on_hotplug(struct gprof_trace_model *m, const struct gprof_trace_point *p)
{
	struct gprof_trace_model_cpu *c = &m->cpus[p->cpu];
	bool on = p->type == GPROF_TRACE_POINT_CPU_ON;

	if (!on) {
		if (c->task != GPROF_NONE)
			go_leave(m, p->cpu, GPROF_GO_RUNNABLE, GPROF_TRACE_REASON_OFFLINE, 0);
		proc_stop(m, p->cpu);
	}
	if (c->online == on)
		return;
	c->online = on;
	m->procs += on ? 1 : m->procs ? -1ULL : 0;
	m->procs_due = true;
}

static void point(struct gprof_trace_model *m, const struct gprof_trace_point *p)
{
	if (p->time / GPROF_TRACE_UNIT_NS > m->now)
		m->now = p->time / GPROF_TRACE_UNIT_NS;
	if (need_cpu(m, p->cpu))
		return;
	m->stats.points++;
	switch (p->type) {
	case GPROF_TRACE_POINT_SWITCH:
		on_switch(m, p);
		break;
	case GPROF_TRACE_POINT_WAKING:
		on_waking(m, p);
		break;
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
	case GPROF_TRACE_POINT_FREQ:
		put_own(m, p, 'F', p->other, p->arg);
		break;
	case GPROF_TRACE_POINT_THROTTLE:
	case GPROF_TRACE_POINT_UNTHROTTLE:
		put_own(m, p, 'T', p->cpu, p->type == GPROF_TRACE_POINT_THROTTLE);
		break;
	}
}

/* The statuses that a generation begins with: of all CPUs, and of what they run. */
static void begin(struct gprof_trace_model *m)
{
	size_t i;

	for (i = 0; i < m->nr_cpus && !m->err; i++) {
		if (!m->cpus[i].known)
			continue;
		need_cpu(m, (uint32_t)i);
		if (m->cpus[i].task != GPROF_NONE)
			say_status(m, (uint32_t)i, &m->tasks[m->cpus[i].task]);
	}
}

static bool tells_task(const struct gprof_trace_point *p)
{
	return p->type == GPROF_TRACE_POINT_SWITCH || p->type == GPROF_TRACE_POINT_FORK ||
	       p->type == GPROF_TRACE_POINT_EXEC || p->type == GPROF_TRACE_POINT_ENTER ||
	       p->type == GPROF_TRACE_POINT_LEAVE || p->type == GPROF_TRACE_POINT_RUNNING;
}

static bool see(unsigned char *seen, uint32_t tid)
{
	bool was;

	if (!tid || tid == GPROF_TRACE_NO_TID)
		return true;
	was = seen[tid / 8] & 1U << tid % 8;
	seen[tid / 8] |= (unsigned char)(1U << tid % 8);
	return was;
}

/* At the start of the trace a CPU has the task that the first point there knows of. */
static void first_tasks(struct gprof_trace_model *m, const struct gprof_trace_point *points,
			size_t nr)
{
	unsigned char *seen = calloc(GPROF_TRACE_TIDS / 8, 1);
	unsigned char *cpus = calloc(GPROF_TRACE_CPUS / 8, 1);
	size_t i;

	if (!seen || !cpus)
		failed(m, -ENOMEM);
	for (i = 0; i < nr && !m->err; i++) {
		const struct gprof_trace_point *p = &points[i];
		uint32_t who = p->type == GPROF_TRACE_POINT_RUNNING ? p->other : p->tid;
		bool first, was;
		uint32_t n;

		if (!tells_task(p))
			continue;
		first = !(cpus[p->cpu / 8] & 1U << p->cpu % 8);
		cpus[p->cpu / 8] |= (unsigned char)(1U << p->cpu % 8);
		was = see(seen, who);
		if (p->type == GPROF_TRACE_POINT_SWITCH || p->type == GPROF_TRACE_POINT_FORK)
			see(seen, p->other);
		if (know_cpu(m, p->cpu) || !first || was)
			continue;
		n = find(m, who);
		if (n == GPROF_NONE)
			n = add(m, who, GPROF_GO_RUNNING);
		if (n == GPROF_NONE)
			break;
		m->stats.tasks++;
		m->tasks[n].status = GPROF_GO_RUNNING;
		m->tasks[n].cpu = p->cpu;
		m->cpus[p->cpu].task = n;
		m->cpus[p->cpu].fresh = false;
		m->cpus[p->cpu].running = true;
	}
	free(seen);
	free(cpus);
}

int gprof_trace_model_name(struct gprof_trace_model *m, uint32_t tid, const char *name)
{
	uint32_t n = find(m, tid);

	if (n == GPROF_NONE) {
		n = add(m, tid, GPROF_GO_BAD);
		if (n == GPROF_NONE)
			return m->err;
	}
	snprintf(m->tasks[n].name, sizeof(m->tasks[n].name), "%s", name);
	return 0;
}

int gprof_trace_model_run(struct gprof_trace_model *m, const struct gprof_trace_point *points,
			  size_t nr, struct gprof_trace_pool *pool,
			  struct gprof_trace_bytes *out)
{
	size_t i;

	m->pool = pool;
	m->out = out;
	m->generation++;
	memset(m->reasons, 0, sizeof(m->reasons));
	if (nr && points[0].time / GPROF_TRACE_UNIT_NS > m->now)
		m->now = points[0].time / GPROF_TRACE_UNIT_NS;
	if (m->generation == 1)
		first_tasks(m, points, nr);
	begin(m);
	for (i = 0; i < nr && !m->err; i++)
		point(m, &points[i]);
	for (i = 0; i < m->nr_cpus && !m->err; i++)
		flush(m, (uint32_t)i);
	if (m->samples.nr)
		failed(m, gprof_trace_put_batch(out, 0, m->generation, GPROF_TRACE_NO_THREAD,
						m->now, &m->samples));
	return m->err;
}
