// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * trace_model_go.c: events of procs and goroutines.
 */
#include "trace_model_go.h"
#include "base/wait_words.h"
#include "trace_model_region.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GO_NONE		UINT64_MAX
#define VERSION_BLOCKED	23	/* from which on a goroutine may begin blocked */
/* Goroutines of tids that are used again differ from this bit on. */
#define REUSE_SHIFT	22

static const char *const reasons[GPROF_TRACE_REASON_WAIT] = {
	[GPROF_TRACE_REASON_LOST] = "lost events",
	[GPROF_TRACE_REASON_SKEW] = "clocks of CPUs differ",
	[GPROF_TRACE_REASON_OFFLINE] = "CPU went offline",
	[GPROF_TRACE_REASON_WHY + GPROF_TRACE_WHY_PREEMPTED] = "preempted",
	/* Go's profile of waits takes those whose reason has "sync" in it. */
	[GPROF_TRACE_REASON_WHY + GPROF_TRACE_WHY_SLEEPS] = "sleep (sync)",
	[GPROF_TRACE_REASON_WHY + GPROF_TRACE_WHY_WAITS] = "uninterruptible sleep (sync)",
	[GPROF_TRACE_REASON_WHY + GPROF_TRACE_WHY_STOPPED] = "stopped",
	[GPROF_TRACE_REASON_WHY + GPROF_TRACE_WHY_DEAD] = "dead",
	[GPROF_TRACE_REASON_WHY + GPROF_TRACE_WHY_YIELDED] = "yielded",
};

uint64_t gprof_model_string(struct gprof_trace_model *m, const char *s)
{
	uint64_t id = 0;

	gprof_model_failed(m, gprof_trace_pool_string(m->pool, s, strlen(s), &id));
	return id;
}

/* Go's profile of the network takes those with "network"; a sleep is in neither, as Go's own. */
static const char *wait_text(unsigned int wait, char *text, size_t size)
{
	unsigned int reason = wait / 2;
	bool blocked = wait & 1 && reason != GPROF_WAIT_FOR_BLOCKED;
	bool idle = reason == GPROF_WAIT_FOR_SLEEP || reason == GPROF_WAIT_FOR_KERNEL;

	if (reason == GPROF_WAIT_FOR_STOPPED)
		return reasons[GPROF_TRACE_REASON_WHY + GPROF_TRACE_WHY_STOPPED];
	snprintf(text, size, "%s%s%s", blocked ? GPROF_WORD_UNINTERRUPTIBLE " " : "",
		 gprof_wait_word(reason),
		 idle ? "" : reason == GPROF_WAIT_FOR_SOCKET ? " (network)" : " (sync)");
	return text;
}

static uint64_t reason(struct gprof_trace_model *m, enum gprof_trace_reason r)
{
	char text[64];

	if (!m->reasons[r])
		m->reasons[r] = gprof_model_string(m, r < GPROF_TRACE_REASON_WAIT ? reasons[r] :
						   wait_text(r - GPROF_TRACE_REASON_WAIT, text,
							     sizeof(text)));
	return m->reasons[r];
}

uint64_t gprof_model_stack(struct gprof_trace_model *m, const char *name, uint64_t caller)
{
	uint64_t id = 0;

	gprof_model_failed(m, gprof_trace_pool_call(m->pool, caller, name, &id));
	return id;
}

/* Viewers name a goroutine after where it began: its name. */
static uint64_t name_stack(struct gprof_trace_model *m, const struct gprof_trace_model_task *t)
{
	return t->name[0] ? gprof_model_stack(m, t->name, 0) : 0;
}

int gprof_model_add_cpu(struct gprof_trace_model *m, uint32_t cpu)
{
	struct gprof_trace_model_cpu *c;
	int err;

	if (cpu >= m->nr_cpus) {
		err = gprof_grow(&m->cpus, &m->cap_cpus, cpu + 1UL, sizeof(*m->cpus));
		if (err) {
			gprof_model_failed(m, err);
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

/* Its task is, and runs. */
static inline bool is_in_call(const struct gprof_trace_model *m,
			      const struct gprof_trace_model_cpu *c)
{
	return c->task != GPROF_NONE && m->tasks[c->task].status == GPROF_GO_SYSCALL;
}

int gprof_model_emit_cpu(struct gprof_trace_model *m, uint32_t cpu)
{
	struct gprof_trace_model_cpu *c;
	int err = gprof_model_add_cpu(m, cpu);

	if (err)
		return err;
	c = &m->cpus[cpu];
	if (c->generation != m->generation) {
		c->generation = m->generation;
		c->seq = 0;
		EVENT(m, cpu, GPROF_EV_PROC_STATUS, cpu, !c->running ? GPROF_PROC_IDLE :
		      is_in_call(m, c) ? GPROF_PROC_SYSCALL : GPROF_PROC_RUNNING);
		if (c->sweeps)
			EVENT(m, cpu, GPROF_EV_GC_SWEEP_ACTIVE, cpu);
	}
	return 0;
}

/* It idles. */
static __attribute__((noinline)) void proc_start(struct gprof_trace_model *m, uint32_t cpu)
{
	struct gprof_trace_model_cpu *c = &m->cpus[cpu];

	c->running = true;
	OFTEN(m, cpu, GPROF_EV_PROC_START, cpu, ++c->seq);
}

/* An interrupt has ended, or the interrupted task goes on, which is as good. */
void gprof_model_sweep_end(struct gprof_trace_model *m, uint32_t cpu)
{
	if (m->cpus[cpu].sweeps)
		EVENT(m, cpu, GPROF_EV_GC_SWEEP_END, 0, 0);
	m->cpus[cpu].sweeps = false;
}

void gprof_model_proc_stop(struct gprof_trace_model *m, uint32_t cpu)
{
	if (!m->cpus[cpu].running)
		return;
	gprof_model_sweep_end(m, cpu);
	m->cpus[cpu].running = false;
	gprof_model_put_event(m, cpu, GPROF_EV_PROC_STOP, NULL, 0);
}

/* The process of a thread, once; in the same generation, ahead of which readers have it. */
static void emit_process(struct gprof_trace_model *m, struct gprof_trace_model_task *t)
{
	struct gprof_trace_bytes *b = &m->processes;

	if (!t->pid || t->pid == (t->told ? t->told : t->tid))
		return;
	t->told = t->pid;
	if (b->nr && b->nr + 2 * GPROF_VARINT_MAX > GPROF_TRACE_FACT_MAX)
		gprof_model_failed(m, gprof_trace_facts_add(&m->facts, m->now, b));
	if (!b->nr)
		gprof_model_failed(m, gprof_trace_put_byte(b, 'G'));
	gprof_model_failed(m, gprof_trace_put_number(b, t->id));
	gprof_model_failed(m, gprof_trace_put_number(b, t->pid));
}

void gprof_model_emit_status(struct gprof_trace_model *m, uint32_t cpu,
			     struct gprof_trace_model_task *t)
{
	uint64_t thread = t->cpu != GPROF_NONE ? t->cpu : GO_NONE;
	uint64_t stack = name_stack(m, t);

	t->generation = m->generation;
	t->seq = 0;
	emit_process(m, t);
	if (m->version >= VERSION_BLOCKED && stack)
		EVENT(m, cpu, GPROF_EV_GO_STATUS_STACK, t->id, thread, t->status, stack);
	else
		EVENT(m, cpu, GPROF_EV_GO_STATUS, t->id, thread, t->status);
	if (t->assists)
		EVENT(m, cpu, GPROF_EV_GC_MARK_ASSIST_ACTIVE, t->id);
}

/* The name of a system call, for which there may have to be room. */
static const char *call_name(struct gprof_trace_model *m, uint64_t nr, char number[40])
{
	const char *name = m->syscall ? m->syscall(m->ctx, nr) : NULL;

	if (name)
		return name;
	snprintf(number, 40, "%ssyscall %" PRIu64, nr & GPROF_TRACE_CALL_32 ? "32-bit " : "",
		 nr & ~GPROF_TRACE_CALL_32);
	return number;
}

/* Stacks are of their generation: of one before the name of the call is left. */
static __attribute__((noinline)) uint64_t call_stack(struct gprof_trace_model *m, uint64_t nr)
{
	uint64_t id = nr < GPROF_TRACE_MODEL_CALLS ? m->call_stacks[nr] : 0;
	char number[40];

	if (!id)
		id = gprof_model_stack(m, call_name(m, nr, number), 0);
	if (nr < GPROF_TRACE_MODEL_CALLS)
		m->call_stacks[nr] = id;
	return id;
}

static inline void call_begin(struct gprof_trace_model *m, uint32_t cpu,
			      struct gprof_trace_model_task *t)
{
	t->status = GPROF_GO_SYSCALL;
	if (t->call_generation != m->generation) {
		t->call_generation = m->generation;
		t->call_stack = call_stack(m, t->call);
	}
	OFTEN(m, cpu, GPROF_EV_GO_SYSCALL_BEGIN, ++m->cpus[cpu].seq, t->call_stack);
}

static inline void call_end(struct gprof_trace_model *m, uint32_t cpu,
			    struct gprof_trace_model_task *t)
{
	t->status = GPROF_GO_RUNNING;
	gprof_model_put_event(m, cpu, GPROF_EV_GO_SYSCALL_END, NULL, 0);
}

/*
 * It needs a proc, which a CPU that idles has for just that long; and by Go's rules the task there
 * must not be within a system call, though all that fork are.
 */
void gprof_model_emit_create(struct gprof_trace_model *m, uint32_t cpu,
			     struct gprof_trace_model_task *t, uint64_t stack)
{
	bool idle = !m->cpus[cpu].running, in_call = is_in_call(m, &m->cpus[cpu]);

	t->generation = m->generation;
	t->seq = 0;
	emit_process(m, t);
	if (idle)
		proc_start(m, cpu);
	if (in_call)
		call_end(m, cpu, &m->tasks[m->cpus[cpu].task]);
	if (t->status == GPROF_GO_WAITING && m->version < VERSION_BLOCKED)
		t->status = GPROF_GO_RUNNABLE;
	EVENT(m, cpu,
	      t->status == GPROF_GO_WAITING ? GPROF_EV_GO_CREATE_BLOCKED : GPROF_EV_GO_CREATE,
	      t->id, name_stack(m, t), stack);
	if (in_call)
		call_begin(m, cpu, &m->tasks[m->cpus[cpu].task]);
	if (idle)
		gprof_model_proc_stop(m, cpu);
}

uint32_t gprof_model_find(const struct gprof_trace_model *m, uint32_t tid)
{
	return gprof_trace_ids_get(&m->tids, tid);
}

static uint32_t new_task(struct gprof_trace_model *m, uint32_t tid, bool seen, uint8_t status)
{
	uint32_t n = (uint32_t)m->nr_tasks;
	int err = 0;

	if (m->nr_free) {
		n = m->free[--m->nr_free];
	} else {
		err = gprof_grow(&m->tasks, &m->cap_tasks, m->nr_tasks + 1, sizeof(*m->tasks));
		if (!err)
			m->nr_tasks++;
	}
	if (err) {
		gprof_model_failed(m, err);
		return GPROF_NONE;
	}
	m->tasks[n] = (struct gprof_trace_model_task){
		.id = (seen ? ++m->reused << REUSE_SHIFT : 0) | tid,
		.tid = tid,
		.cpu = GPROF_NONE,
		.status = status,
		.used = true,
	};
	return n;
}

/* A place for a task of that tid, which there is none of. */
uint32_t gprof_model_add(struct gprof_trace_model *m, uint32_t tid, uint8_t status)
{
	bool seen = m->seen[tid / 8] & 1U << tid % 8;
	uint32_t n = new_task(m, tid, seen, status);
	int err;

	if (n == GPROF_NONE)
		return n;
	err = gprof_trace_ids_put(&m->memory, &m->tids, tid, n);
	if (err) {
		gprof_model_failed(m, err);
		return GPROF_NONE;
	}
	m->seen[tid / 8] |= (unsigned char)(1U << tid % 8);
	return n;
}

void gprof_model_forget(struct gprof_trace_model *m, uint32_t n)
{
	gprof_trace_ids_remove(&m->tids, m->tasks[n].tid);
	gprof_model_regions_free(&m->tasks[n]);
	m->tasks[n].used = false;
	m->tasks[n].generation = 0;
	if (gprof_grow(&m->free, &m->cap_free, m->nr_free + 1, sizeof(*m->free)))
		gprof_model_failed(m, -ENOMEM);
	else
		m->free[m->nr_free++] = n;
}

static void emit_task(struct gprof_trace_model *m, uint32_t cpu, struct gprof_trace_model_task *t)
{
	if (t->generation == m->generation)
		return;
	if (!t->generation && m->generation > 1)
		gprof_model_emit_create(m, cpu, t, 0);
	else
		gprof_model_emit_status(m, cpu, t);
}

uint32_t gprof_model_emit_task(struct gprof_trace_model *m, uint32_t cpu, uint32_t tid,
			       uint8_t status)
{
	uint32_t n = gprof_model_find(m, tid);

	if (n == GPROF_NONE) {
		n = gprof_model_add(m, tid, status);
		if (n == GPROF_NONE)
			return n;
	}
	if (!m->tasks[n].generation) {
		m->stats.tasks++;
		m->tasks[n].status = status;
		m->tasks[n].guessed = m->now;
	}
	emit_task(m, cpu, &m->tasks[n]);
	m->recent[tid % GPROF_TRACE_MODEL_RECENT] = n;
	return n;
}

void gprof_model_unblock(struct gprof_trace_model *m, uint32_t cpu, uint32_t n, uint64_t stack)
{
	struct gprof_trace_model_task *t = &m->tasks[n];

	t->status = GPROF_GO_RUNNABLE;
	OFTEN(m, cpu, GPROF_EV_GO_UNBLOCK, t->id, ++t->seq, stack);
}

/* Does the task work for the system? Utilization counts such work by itself. */
static bool is_background(const char *name)
{
	/* migration/N stops machines, too. */
	static const char *const names[] = {
		"kswapd", "kcompactd", "ksoftirqd/", "kworker/", "migration/",
	};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strncmp(name, names[i], strlen(names[i])))
			return true;
	return false;
}

/* Once for each, as Go's own reader counts it at each label. */
static __attribute__((noinline)) void label(struct gprof_trace_model *m, uint32_t cpu,
					    struct gprof_trace_model_task *t)
{
	char text[GPROF_TRACE_COMM + 8];

	t->labelled = true;
	if (!is_background(t->name))
		return;
	snprintf(text, sizeof(text), "GC (%s)", t->name);
	EVENT(m, cpu, GPROF_EV_GO_LABEL, gprof_model_string(m, text));
}

static inline __attribute__((always_inline)) void emit_start(struct gprof_trace_model *m,
							     uint32_t cpu, uint32_t n)
{
	struct gprof_trace_model_task *t = &m->tasks[n];

	t->status = GPROF_GO_RUNNING;
	t->cpu = cpu;
	m->cpus[cpu].task = n;
	OFTEN(m, cpu, GPROF_EV_GO_START, t->id, ++t->seq);
	if (t->in_call)
		call_begin(m, cpu, t);
}

static void go_start(struct gprof_trace_model *m, uint32_t cpu, uint32_t n)
{
	struct gprof_trace_model_task *t = &m->tasks[n];

	if (t->status == GPROF_GO_WAITING)
		gprof_model_unblock(m, cpu, n, 0);
	if (!m->cpus[cpu].running)
		proc_start(m, cpu);
	emit_start(m, cpu, n);
	if (m->procs_due) {
		m->procs_due = false;
		EVENT(m, cpu, GPROF_EV_PROCS_CHANGE, m->procs, 0);
	}
	if (!t->labelled && t->name[0])
		label(m, cpu, t);
}

static uint64_t new_call_name(struct gprof_trace_model *m, uint64_t nr)
{
	char number[40];

	return gprof_model_string(m, call_name(m, nr, number));
}

static __attribute__((noinline)) void first_region(struct gprof_trace_model *m, uint32_t cpu,
						   unsigned char type, uint64_t nr, uint64_t stack)
{
	uint64_t name = new_call_name(m, nr);

	if (nr < GPROF_TRACE_MODEL_CALLS)
		m->calls[nr] = name;
	EVENT(m, cpu, type, 0, name, stack);
}

void gprof_model_region(struct gprof_trace_model *m, uint32_t cpu, unsigned char type,
			uint64_t nr, uint64_t stack)
{
	uint64_t name = nr < GPROF_TRACE_MODEL_CALLS ? m->calls[nr] : 0;
	struct gprof_trace_model_cpu *c = &m->cpus[cpu];
	unsigned char *p;

	if (!name || !gprof_model_has_room(m, c)) {
		first_region(m, cpu, type, nr, stack);
		return;
	}
	/* As EVENT(), which of a trace with system calls would be most of the work. */
	p = gprof_model_begin_event(m, c, type);
	*p++ = 0;
	p = gprof_trace_number_at(p, name);
	p = gprof_trace_number_at(p, stack);
	gprof_model_end_event(c, p);
}

void gprof_model_enter_call(struct gprof_trace_model *m, uint32_t cpu,
			    struct gprof_trace_model_task *t, uint64_t nr, uint64_t stack)
{
	t->in_call = true;
	t->call = nr;
	t->call_stack = stack;
	t->call_generation = stack ? m->generation : 0;
	gprof_model_region(m, cpu, GPROF_EV_USER_REGION_BEGIN, nr, stack);
	call_begin(m, cpu, t);
}

void gprof_model_leave_call(struct gprof_trace_model *m, uint32_t cpu,
			    struct gprof_trace_model_task *t)
{
	if (!t->in_call)
		return;
	t->in_call = false;
	gprof_model_region(m, cpu, GPROF_EV_USER_REGION_END, t->call, 0);
	if (t->status == GPROF_GO_SYSCALL)
		call_end(m, cpu, t);
}

void gprof_model_assist_end(struct gprof_trace_model *m, uint32_t cpu,
			    struct gprof_trace_model_task *t)
{
	if (t->assists)
		EVENT0(m, cpu, GPROF_EV_GC_MARK_ASSIST_END);
	t->assists = 0;
}

static inline __attribute__((always_inline)) void
emit_stop(struct gprof_trace_model *m, uint32_t cpu, uint8_t status, uint64_t why, uint64_t stack)
{
	OFTEN(m, cpu, status == GPROF_GO_WAITING ? GPROF_EV_GO_BLOCK : GPROF_EV_GO_STOP, why, stack);
}

static __attribute__((noinline)) void switch_out_slow(struct gprof_trace_model *m, uint32_t cpu,
						      uint8_t status, enum gprof_trace_reason why,
						      uint64_t stack)
{
	struct gprof_trace_model_cpu *c = &m->cpus[cpu];
	uint32_t n = c->task;
	struct gprof_trace_model_task *t = &m->tasks[n];

	/* No task is switched within an interrupt: the end of one was lost. */
	gprof_model_sweep_end(m, cpu);
	c->depth = 0;
	c->task = GPROF_NONE;
	t->cpu = GPROF_NONE;
	if (status == GPROF_GO_BAD) {
		gprof_model_leave_call(m, cpu, t);
		gprof_model_assist_end(m, cpu, t);
		EVENT0(m, cpu, GPROF_EV_GO_DESTROY);
		gprof_model_forget(m, n);
		return;
	}
	t->status = status;
	emit_stop(m, cpu, status, reason(m, why), stack);
	/* Its waker saw it sleep already, though it was still on its way there. */
	if (t->woken && status == GPROF_GO_WAITING)
		gprof_model_unblock(m, cpu, n,
				    t->waker_generation == m->generation ? t->waker : 0);
	t->woken = false;
}

/*
 * The task of a CPU leaves it. This and gprof_model_switch_in() take most of the time of a trace:
 * the usual case is done without a call, and so without a frame.
 */
void gprof_model_switch_out(struct gprof_trace_model *m, uint32_t cpu, uint8_t status,
			    enum gprof_trace_reason why, uint64_t stack)
{
	struct gprof_trace_model_cpu *c = &m->cpus[cpu];
	struct gprof_trace_model_task *t = &m->tasks[c->task];
	uint64_t reason = m->reasons[why];

	/* A task off the CPU is in no system call, for Go: it waits. */
	if (t->status == GPROF_GO_SYSCALL)
		call_end(m, cpu, t);
	if (c->sweeps || t->woken || !reason || status == GPROF_GO_BAD) {
		switch_out_slow(m, cpu, status, why, stack);
		return;
	}
	c->depth = 0;
	c->task = GPROF_NONE;
	t->cpu = GPROF_NONE;
	t->status = status;
	emit_stop(m, cpu, status, reason, stack);
}

static __attribute__((noinline)) void switch_in_slow(struct gprof_trace_model *m, uint32_t cpu,
						     uint32_t tid)
{
	struct gprof_trace_model_cpu *c = &m->cpus[cpu];
	uint32_t n = gprof_model_need_task(m, cpu, tid, GPROF_GO_RUNNABLE);

	if (n == GPROF_NONE || c->task == n)
		return;
	if (c->task != GPROF_NONE) {
		m->stats.repaired++;
		gprof_model_switch_out(m, cpu, GPROF_GO_RUNNABLE, GPROF_TRACE_REASON_LOST, 0);
	}
	if (m->tasks[n].cpu != GPROF_NONE) {
		uint32_t from = m->tasks[n].cpu;

		m->stats.repaired++;
		m->stats.skewed++;
		gprof_model_switch_out(m, from, GPROF_GO_RUNNABLE, GPROF_TRACE_REASON_SKEW, 0);
		m->cpus[from].stolen = tid;
	}
	go_start(m, cpu, n);
}

/* Is there nothing to say of the task and the CPU first? */
static inline bool may_start(const struct gprof_trace_model *m, const struct gprof_trace_model_cpu *c,
			     const struct gprof_trace_model_task *t)
{
	return c->task == GPROF_NONE && c->running && !m->procs_due && t->cpu == GPROF_NONE &&
	       t->status != GPROF_GO_WAITING && (t->labelled || !t->name[0]);
}

/* Put a task on a CPU that has another, or none, or it elsewhere. */
void gprof_model_switch_in(struct gprof_trace_model *m, uint32_t cpu, uint32_t tid)
{
	uint32_t n = gprof_model_recent(m, tid);

	if (n != GPROF_NONE && may_start(m, &m->cpus[cpu], &m->tasks[n]))
		emit_start(m, cpu, n);
	else
		switch_in_slow(m, cpu, tid);
}

/*
 * In Go's format a log needs a goroutine. A CPU without one gets a goroutine of its own, for no
 * time at all.
 */
void gprof_model_note(struct gprof_trace_model *m, uint32_t cpu, const char *what,
		      const char *text)
{
	bool runs = m->cpus[cpu].running, none = m->cpus[cpu].task == GPROF_NONE;
	uint32_t depth = m->cpus[cpu].depth;

	if (none && m->marker == GPROF_NONE) {
		m->marker = new_task(m, 0, true, GPROF_GO_RUNNABLE);
		if (m->marker == GPROF_NONE)
			return;
		snprintf(m->tasks[m->marker].name, GPROF_TRACE_COMM, "gprof: triggers");
	}
	if (none) {
		emit_task(m, cpu, &m->tasks[m->marker]);
		go_start(m, cpu, m->marker);
	}
	EVENT(m, cpu, GPROF_EV_USER_LOG, 0, gprof_model_string(m, what),
	      gprof_model_string(m, text), 0);
	if (none)
		gprof_model_switch_out(m, cpu, GPROF_GO_WAITING,
				       GPROF_TRACE_REASON_WHY + GPROF_TRACE_WHY_SLEEPS, 0);
	m->cpus[cpu].depth = depth;
	if (!runs)
		gprof_model_proc_stop(m, cpu);
}
