// SPDX-License-Identifier: GPL-2.0-only
/*
 * The order of a timeline's tracks.
 */
#include "timeline_order.h"

#include <stdlib.h>

#include "cli/diag.h"

/**
 * struct key - a thread, for sorting
 * @thread: which
 * @process: index, and later its rank
 * @pid: of it
 * @first: when it was first told of
 * @leads: it is the first thread of its process
 * @cpu: its time on CPUs
 * @demand: likewise, or waiting for one
 */
struct key {
	uint32_t thread;
	uint32_t process;
	int64_t pid;
	int64_t first;
	bool leads;
	int64_t cpu;
	int64_t demand;
};

static int compare(int64_t a, int64_t b)
{
	return a < b ? -1 : a > b;
}

static int by_process(const void *pa, const void *pb)
{
	const struct key *a = pa, *b = pb;

	if (a->pid != b->pid)
		return compare(a->pid, b->pid);
	if (a->first != b->first)
		return compare(a->first, b->first);
	if (a->leads != b->leads)
		return a->leads ? -1 : 1;
	return compare(a->thread, b->thread);
}

static int busiest_process_first(const void *pa, const void *pb)
{
	const struct timeline_process *a = *(struct timeline_process *const *)pa;
	const struct timeline_process *b = *(struct timeline_process *const *)pb;

	if (a->cpu != b->cpu)
		return compare(b->cpu, a->cpu);
	if (a->demand != b->demand)
		return compare(b->demand, a->demand);
	return compare(a->named_by, b->named_by);
}

static int by_rank(const void *pa, const void *pb)
{
	const struct key *a = pa, *b = pb;

	if (a->process != b->process)
		return compare(a->process, b->process);
	if (a->cpu != b->cpu)
		return compare(b->cpu, a->cpu);
	if (a->demand != b->demand)
		return compare(b->demand, a->demand);
	return compare(a->thread, b->thread);
}

/*
 * Goroutines of a function stand together, as threads of a process. A thread of the kernel is known
 * by its waits: for work, and for nothing that a program waits for.
 */
static int64_t pid_of(const struct timeline *t, uint32_t thread)
{
	static const enum thread_state programs[] = {
		THREAD_FUTEX, THREAD_PIPE, THREAD_SOCKET, THREAD_POLL, THREAD_FAULT, THREAD_CHILD,
		THREAD_SIGNAL,
	};
	const int64_t *ns = t->threads[thread].ns;
	int64_t others = 0;

	if (t->thread_spans.go)
		return t->thread_spans.all[thread].name;
	for (size_t i = 0; i < ARRAY_SIZE(programs); i++)
		others += ns[programs[i]];
	return ns[THREAD_KERNEL] && !others ? TIMELINE_KERNEL :
					      thread_spans_pid(&t->thread_spans, thread);
}

static struct key *make_keys(const struct timeline *t, size_t *nr)
{
	struct key *keys = xalloc(t->nr_threads + 1, sizeof(*keys));

	*nr = 0;
	for (uint32_t i = 0; i < t->nr_threads; i++) {
		const struct thread *l = &t->thread_spans.all[i];
		const struct track *track = &t->threads[i];

		if (!track->pieces.nr)
			continue;
		keys[*nr] = (struct key){
			.thread = i,
			.pid = pid_of(t, i),
			.first = l->first,
			.cpu = track->ns[THREAD_CPU],
			.demand = timeline_demand(track),
		};
		keys[*nr].leads = !t->thread_spans.go && keys[*nr].pid == THREAD_TID(l->id);
		++*nr;
	}
	if (*nr)
		qsort(keys, *nr, sizeof(*keys), by_process);
	return keys;
}

/* A second first thread of a pid is that of another process, which got the pid again. */
static void make_processes(struct timeline_order *o, struct key *keys)
{
	struct timeline_process *p = NULL;
	bool led = false;
	int64_t most = 0;

	o->processes = xalloc(o->nr + 1, sizeof(*o->processes));
	for (size_t i = 0; i < o->nr; i++) {
		struct key *k = &keys[i];

		if (!p || k->pid != p->pid || (k->leads && led)) {
			p = &o->processes[o->nr_processes++];
			*p = (struct timeline_process){ .pid = k->pid, .named_by = k->thread };
			led = false;
			most = -1;
		}
		if (k->leads || (!led && k->cpu > most)) {
			p->named_by = k->thread;
			most = k->cpu;
		}
		led |= k->leads;
		k->process = (uint32_t)(p - o->processes);
		p->cpu += k->cpu;
		p->demand += k->demand;
	}
}

static int by_pid(const void *key, const void *element)
{
	return compare(*(const int64_t *)key, ((const struct timeline_process *)element)->pid);
}

/* The first thread of a process has its name, also where it has no track. */
static void name_processes(struct timeline_order *o, const struct timeline *t)
{
	const struct thread_spans *v = &t->thread_spans;

	for (uint32_t i = 0; i < thread_spans_nr(v) && !v->go; i++) {
		int64_t tid = THREAD_TID(v->all[i].id);
		struct timeline_process *p;

		if ((i < t->nr_threads && t->threads[i].pieces.nr) || !*thread_spans_name(v, i))
			continue;
		p = bsearch(&tid, o->processes, o->nr_processes, sizeof(*p), by_pid);
		if (p && THREAD_TID(v->all[p->named_by].id) != tid)
			p->named_by = i;
	}
}

static void rank(struct timeline_order *o, struct key *keys)
{
	struct timeline_process **busy = xalloc(o->nr_processes + 1, sizeof(struct timeline_process *));
	struct timeline_process *ranked = xalloc(o->nr_processes + 1, sizeof(*ranked));

	for (size_t i = 0; i < o->nr_processes; i++)
		busy[i] = &o->processes[i];
	if (o->nr_processes)
		qsort(busy, o->nr_processes, sizeof(struct timeline_process *),
		      busiest_process_first);
	for (size_t i = 0; i < o->nr_processes; i++)
		busy[i]->rank = (uint32_t)i;
	for (size_t i = 0; i < o->nr; i++)
		keys[i].process = o->processes[keys[i].process].rank;
	for (size_t i = 0; i < o->nr_processes; i++)
		ranked[i] = *busy[i];
	free(busy);
	free(o->processes);
	o->processes = ranked;
}

void timeline_order_make(struct timeline_order *o, const struct timeline *t)
{
	struct key *keys = make_keys(t, &o->nr);

	make_processes(o, keys);
	name_processes(o, t);
	rank(o, keys);
	if (o->nr)
		qsort(keys, o->nr, sizeof(*keys), by_rank);
	o->rows = xalloc(o->nr + 1, sizeof(*o->rows));
	for (size_t i = 0; i < o->nr; i++)
		o->rows[i] = (struct timeline_row){ keys[i].thread, keys[i].process };
	free(keys);
}

void timeline_order_free(struct timeline_order *o)
{
	free(o->rows);
	free(o->processes);
}
