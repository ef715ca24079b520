// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * sample_labels.c: labels of a sample.
 */
#include "sample_labels.h"

#include <errno.h>
#include <string.h>

#include "base/wait_words.h"
#include "symbol/service.h"

static bool has_key(const struct gprof_label *labels, size_t nr, uint32_t key)
{
	while (nr > 0)
		if (labels[--nr].key == key)
			return true;
	return false;
}

/* A set of labels, behind the others; earlier labels take precedence. */
static int add_labels(struct gprof_profile *p, const char *at, struct gprof_label *labels,
		      size_t *nr)
{
	while (*at) {
		const char *text = strchr(at, GPROF_LABELS_SEP) + 1;
		const char *end = strchr(text, GPROF_LABELS_END);
		struct gprof_label l = {
			.key = gprof_profile_text_of(p, at, (size_t)(text - at) - 1),
			.str = gprof_profile_text_of(p, text, (size_t)(end - text)),
		};

		if (l.key == GPROF_NONE || l.str == GPROF_NONE)
			return -ENOMEM;
		if (!has_key(labels, *nr, l.key))
			labels[(*nr)++] = l;
		at = end + 1;
	}
	return 0;
}

static const char *const states[] = {
	[GPROF_TASK_RUNNING] = "running",
	[GPROF_TASK_RUNNABLE] = "runnable",
	[GPROF_TASK_SLEEPS] = "sleeping",
	[GPROF_TASK_BLOCKED] = "blocked",
	[GPROF_TASK_STOPPED] = "stopped",
	[GPROF_TASK_IDLE] = "idle",
	[GPROF_TASK_DEAD] = "dead",
	[GPROF_TASK_OTHER] = "other",
};

static const char *state_text(const struct gprof_task_state *st)
{
	if (st->flags & GPROF_TASK_F_UNSTABLE)
		return "restless";
	if (st->state >= sizeof(states) / sizeof(states[0]) || !states[st->state])
		return "other";
	return states[st->state];
}

/* How the task was, for how long at least, and how long after the first of all that was. */
static int add_instant(const struct gprof_builder *b, struct gprof_profile *p,
		       const struct gprof_count *c, const uint32_t keys[GPROF_SAMPLE_KEYS],
		       struct gprof_label *labels, size_t *nr)
{
	const struct gprof_instant *at = &b->instants[c->state - 1];
	uint32_t ns = gprof_profile_text(p, "nanoseconds");

	labels[*nr].key = keys[5];
	labels[*nr].str = gprof_profile_text(p, state_text(&at->state));
	if (ns == GPROF_NONE || labels[(*nr)++].str == GPROF_NONE)
		return -ENOMEM;
	if (at->state.since_ns) {
		labels[*nr] = (struct gprof_label){ .key = keys[6], .unit = ns };
		labels[(*nr)++].num = gprof_clamp(at->state.since_ns);
	}
	labels[*nr] = (struct gprof_label){ .key = keys[7], .unit = ns };
	labels[(*nr)++].num = gprof_clamp(at->time - b->first_instant);
	return 0;
}

/* Frames that are not the stack's own, or not over. */
static const char *const waits_ended[] = {
	[GPROF_WAIT_ENDED_BY_SOFTIRQ] = "softirq",
	[GPROF_WAIT_ENDED_BY_IRQ] = "interrupt",
	[GPROF_WAIT_ENDED_BY_NOT_TARGET] = "stranger",
	[GPROF_WAIT_ENDED_NOT] = "not yet",
};

static const char *const waits_lock[GPROF_WAIT_LOCK_NR] = {
	[GPROF_WAIT_LOCK_PLAIN] = "mutex",
	[GPROF_WAIT_LOCK_PI] = "pi mutex",
	[GPROF_WAIT_LOCK_CONDITION] = "condition",
	[GPROF_WAIT_LOCK_MANY] = "many",
	[GPROF_WAIT_LOCK_SPIN] = "kernel spinlock",
	[GPROF_WAIT_LOCK_RWLOCK] = "kernel rwlock",
	[GPROF_WAIT_LOCK_MUTEX] = "kernel mutex",
	[GPROF_WAIT_LOCK_RWSEM] = "kernel rwsem",
	[GPROF_WAIT_LOCK_RT] = "kernel rt_mutex",
	[GPROF_WAIT_LOCK_PERCPU] = "kernel percpu_rwsem",
	[GPROF_WAIT_LOCK_SEMAPHORE] = "kernel semaphore",
};

static int add_text(struct gprof_profile *p, uint32_t key, const char *text,
		    struct gprof_label *labels, size_t *nr)
{
	labels[*nr].key = key;
	labels[*nr].str = gprof_profile_text(p, text);
	return labels[(*nr)++].str == GPROF_NONE ? -ENOMEM : 0;
}

static int add_wait(struct gprof_profile *p, uint16_t wait, const uint32_t keys[GPROF_SAMPLE_KEYS],
		    struct gprof_label *labels, size_t *nr)
{
	unsigned int what = GPROF_WAIT_FOR(wait), ended = GPROF_WAIT_ENDED(wait);
	unsigned int lock = GPROF_WAIT_LOCK(wait);
	int err;

	err = add_text(p, keys[8], gprof_wait_word(what), labels, nr);
	if (!err && lock < GPROF_WAIT_LOCK_NR && waits_lock[lock])
		err = add_text(p, keys[10], waits_lock[lock], labels, nr);
	if (err || ended >= sizeof(waits_ended) / sizeof(waits_ended[0]) || !waits_ended[ended])
		return err;
	return add_text(p, keys[9], waits_ended[ended], labels, nr);
}

/*
 * A process is called as its first thread is. Of a process of the kernel's that is its only
 * thread.
 */
static const char *process_name(const struct gprof_builder *b, const struct gprof_count *c,
				const struct gprof_space *space)
{
	const struct gprof_task *t = c->task == GPROF_NONE ? NULL : &b->tasks[c->task];

	if (space && space->description.comm)
		return space->description.comm;
	return t && t->tid == t->process.pid && t->comm ? b->names.v[t->comm] : NULL;
}

/* Labels of the process. */
static int add_description(struct gprof_profile *p, const struct gprof_space *space,
			   struct gprof_label *labels, size_t *nr)
{
	const struct gprof_description *d = &space->description;
	struct gprof_label l = { 0 };

	if (d->cgroup) {
		l.key = gprof_profile_text(p, "cgroup");
		l.str = gprof_profile_text(p, d->cgroup);
		if (l.key == GPROF_NONE || l.str == GPROF_NONE)
			return -ENOMEM;
		if (!has_key(labels, *nr, l.key))
			labels[(*nr)++] = l;
	}
	return d->context ? add_labels(p, d->context, labels, nr) : 0;
}

/* A process that does not say so itself is of the unit, the cgroup or the program that it is in. */
static int add_service(struct gprof_profile *p, const struct gprof_space *space, const char *comm,
		       struct gprof_label *labels, size_t *nr)
{
	uint32_t key = gprof_profile_text(p, "service.name");
	char name[GPROF_SERVICE_MAX];

	if (key == GPROF_NONE)
		return -ENOMEM;
	if (has_key(labels, *nr, key))
		return 0;
	gprof_service_name(space ? space->description.cgroup : NULL, comm, name);
	return add_text(p, key, name, labels, nr);
}

int gprof_sample_keys(struct gprof_profile *p, uint32_t keys[GPROF_SAMPLE_KEYS])
{
	static const char *const names[GPROF_SAMPLE_KEYS] = {
		"pid", "tid", "cpu", "comm", "addr", "state", "since", "at", "reason", "ended",
		"lock", "parallelism", "owner", "owner_comm", "process.executable.name",
		"stack", "ppid", "time",
	};
	size_t i;

	for (i = 0; i < GPROF_SAMPLE_KEYS; i++) {
		keys[i] = gprof_profile_text(p, names[i]);
		if (keys[i] == GPROF_NONE)
			return -ENOMEM;
	}
	return 0;
}

/*
 * A number without a unit counts in its key, say pprof's rules; saying so keeps the label of
 * CPU 0, since pprof takes one with neither text, number nor unit for none at all.
 */
int gprof_sample_labels(struct gprof_builder *b, const struct gprof_count *c,
			const uint32_t keys[GPROF_SAMPLE_KEYS], struct gprof_label *labels,
			size_t *nr)
{
	const struct gprof_process *process = NULL;
	struct gprof_profile *p = b->p;
	struct gprof_space *space;
	const char *name;
	uint32_t pid;
	int err;

	if (c->task != GPROF_NONE)
		process = &b->tasks[c->task].process;
	else if (c->stack != GPROF_NONE)
		process = &b->stacks.v[c->stack].process;
	pid = process ? process->pid : 0;
	memset(labels, 0, GPROF_SAMPLE_LABELS_MAX * sizeof(*labels));
	labels[0].num = pid;
	labels[1].num = c->tid;
	labels[2].num = c->cpu;
	for (*nr = 0; *nr < 3; (*nr)++)
		labels[*nr].key = labels[*nr].unit = keys[*nr];
	if (c->task != GPROF_NONE && b->tasks[c->task].comm) {
		labels[*nr].key = keys[3];
		labels[*nr].str = gprof_profile_text(p, b->names.v[b->tasks[c->task].comm]);
		if (labels[(*nr)++].str == GPROF_NONE)
			return -ENOMEM;
	}
	space = process ? gprof_spaces_find(&b->spaces, process) : NULL;
	name = process_name(b, c, space);
	err = name ? add_text(p, keys[14], name, labels, nr) : 0;
	if (err)
		return err;
	if (space && space->description.ppid) {
		labels[*nr].key = labels[*nr].unit = keys[16];
		labels[(*nr)++].num = space->description.ppid;
	}
	if (c->slice) {
		labels[*nr].key = keys[17];
		labels[*nr].unit = gprof_profile_text(p, "nanoseconds");
		if (labels[*nr].unit == GPROF_NONE)
			return -ENOMEM;
		labels[(*nr)++].num = gprof_clamp((c->slice - 1) * b->slice_ns);
	}
	if (c->has_addr) {
		labels[*nr].key = labels[*nr].unit = keys[4];
		labels[(*nr)++].num = (int64_t)c->addr;
	}
	if (c->parallelism) {
		labels[*nr].key = labels[*nr].unit = keys[11];
		labels[(*nr)++].num = c->parallelism;
	}
	if (c->owner) {
		labels[*nr].key = labels[*nr].unit = keys[12];
		labels[(*nr)++].num = c->owner;
		err = add_text(p, keys[13], b->names.v[c->owner_comm], labels, nr);
		if (err)
			return err;
	}
	err = c->state ? add_instant(b, p, c, keys, labels, nr) : 0;
	if (!err && c->has_wait)
		err = add_wait(p, c->wait, keys, labels, nr);
	if (!err && c->stack != GPROF_NONE &&
	    b->stacks.v[c->stack].flags & GPROF_STACK_REC_F_GUESSED)
		err = add_text(p, keys[15], "guessed", labels, nr);
	if (!err)
		err = add_labels(p, b->labels.v[c->labels], labels, nr);
	if (space && !err)
		err = add_description(p, space, labels, nr);
	if (!err && b->services)
		err = add_service(p, space, name || c->task == GPROF_NONE ? name :
				  b->names.v[b->tasks[c->task].comm], labels, nr);
	return err;
}
