// SPDX-License-Identifier: GPL-2.0-only
/*
 * The join of a trace of the host with a Go program's own.
 *
 * Both are read side by side, by time: Go's is on CLOCK_MONOTONIC as ours is, and it calls a
 * thread by its tid. So while a goroutine runs on a thread by the one, the other says whether
 * that thread had a CPU. What they say is held together: a thread that tells something has a
 * CPU; where that is often not so, the traces do not belong together.
 */
#include "join.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <gprof/trace.h>

#include "../annotation.h"
#include "../cmd.h"
#include "../intern.h"
#include "../say.h"
#include "../text.h"
#include "lives.h"

#define NOBODY		SIZE_MAX
#define SKEW_NS		10000	/* by which the two may contradict each other */
#define WRONG_PART	20	/* one of so many that do is too many */

enum state { UNTOLD, ON_CPU, READY, BLOCKED, NR_STATES };
enum kind { DESCHEDULED, WAITED, NR_KINDS };

static const char *const kind_names[NR_KINDS] = {
	[DESCHEDULED] = "descheduled", [WAITED] = "blocked",
};

/* How often, how long in all, and at most. */
struct times {
	uint64_t nr;
	int64_t ns;
	int64_t max;
};

/**
 * struct thread - of the host, by its tid
 * @go: the Go program has it
 * @state: as the kernel says
 * @off: since when it has no CPU
 * @ready: since when it would run
 * @since: up to when its time was counted
 * @goroutine: that runs on it, or NOBODY
 * @gap: since when that has no CPU; -1: it has
 * @kind: of that
 * @faulted: a page fault was the last that it did
 * @told: when it told something while it was said to have no CPU; -1: it did not
 * @delay: for a CPU
 */
struct thread {
	bool go;
	bool faulted;
	enum state state;
	enum kind kind;
	int64_t off;
	int64_t ready;
	int64_t since;
	int64_t gap;
	int64_t told;
	size_t goroutine;
	struct times delay;
};

/**
 * struct goroutine - of the Go program
 * @row: of its function; NOBODY: not known yet
 * @state: enum gprof_trace_go_state
 * @since: since when
 * @thread: that it runs on, or NOBODY
 */
struct goroutine {
	size_t row;
	uint8_t state;
	int64_t since;
	size_t thread;
};

/**
 * struct row - goroutines that began in one function
 * @nr: how many
 * @in: ns that they ran by the runtime, by what the kernel says
 * @interrupted: part of ON_CPU
 * @gaps: while they ran
 * @fault: blocked in a page fault
 * @faults: how many there were
 * @delay: runnable by the runtime, until they ran
 */
struct row {
	uint64_t nr;
	int64_t in[NR_STATES];
	struct times interrupted;
	struct times gaps[NR_KINDS];
	struct times fault;
	uint64_t faults;
	struct times delay;
};

struct gap {
	int64_t goroutine;
	int64_t begin;
	int64_t end;
	uint32_t tid;
	enum kind kind;
};

/* A CPU in an interrupt. */
struct interrupt {
	bool open;
	int64_t since;
	size_t thread;
};

/**
 * struct source - a trace that is read
 * @name: path
 * @t: it
 * @ev: the next event
 * @ret: of reading it
 * @first: time of the first event
 * @last: and of the last
 * @any: was there one?
 */
struct source {
	const char *name;
	int fd;
	struct gprof_trace *t;
	struct gprof_trace_event ev;
	int ret;
	int64_t first;
	int64_t last;
	bool any;
};

struct join {
	struct source kernel;
	struct source go;
	struct intern tids;
	struct thread *threads;
	size_t room_threads;
	struct intern ids;
	struct goroutine *goroutines;
	size_t room_goroutines;
	struct intern names;
	struct row *rows;
	size_t room_rows;
	struct interrupt *cpus;
	size_t nr_cpus;
	struct gap *gaps;
	size_t nr_gaps;
	size_t room_gaps;
	uint64_t checked;
	uint64_t wrong;
	uint64_t irqs;
	uint64_t faults;
};

static void add_time(struct times *t, int64_t ns)
{
	t->nr++;
	t->ns += ns;
	if (ns > t->max)
		t->max = ns;
}

static size_t thread_of(struct join *j, int64_t tid)
{
	uint32_t key = (uint32_t)tid;
	size_t nr = j->tids.nr, i = intern_add(&j->tids, &key, sizeof(key));

	if (i == nr) {
		j->threads = xgrow(j->threads, nr, &j->room_threads, sizeof(*j->threads));
		j->threads[i] = (struct thread){ .goroutine = NOBODY, .gap = -1, .told = -1 };
	}
	return i;
}

static struct goroutine *goroutine_of(struct join *j, int64_t id)
{
	size_t nr = j->ids.nr, i = intern_add(&j->ids, &id, sizeof(id));

	if (i == nr) {
		j->goroutines = xgrow(j->goroutines, nr, &j->room_goroutines,
				      sizeof(*j->goroutines));
		j->goroutines[i] = (struct goroutine){
			.row = NOBODY, .thread = NOBODY, .state = GPROF_TRACE_GO_UNDETERMINED,
		};
	}
	return &j->goroutines[i];
}

static size_t row_of(struct join *j, const char *name)
{
	size_t nr = j->names.nr, i = intern_add(&j->names, name, strlen(name) + 1);

	if (i == nr) {
		j->rows = xgrow(j->rows, nr, &j->room_rows, sizeof(*j->rows));
		j->rows[i] = (struct row){ 0 };
	}
	return i;
}

/* Of a goroutine whose function nobody has told yet, what it did so far is of "?". */
static struct row *row_on(struct join *j, size_t goroutine)
{
	struct goroutine *g = &j->goroutines[goroutine];

	if (g->row == NOBODY) {
		g->row = row_of(j, "?");
		j->rows[g->row].nr++;
	}
	return &j->rows[g->row];
}

/* ---- a goroutine on a thread ---- */

static void settle(struct join *j, struct thread *t, int64_t time)
{
	if (t->goroutine != NOBODY)
		row_on(j, t->goroutine)->in[t->state] += time - t->since;
	t->since = time;
}

static void gap_ends(struct join *j, size_t thread, int64_t time)
{
	struct thread *t = &j->threads[thread];
	struct row *r;
	size_t len;

	if (t->gap < 0)
		return;
	r = row_on(j, t->goroutine);
	add_time(&r->gaps[t->kind], time - t->gap);
	if (t->kind == WAITED && t->faulted)
		add_time(&r->fault, time - t->gap);
	j->gaps = xgrow(j->gaps, j->nr_gaps, &j->room_gaps, sizeof(*j->gaps));
	j->gaps[j->nr_gaps++] = (struct gap){
		.goroutine = *(const int64_t *)intern_key(&j->ids, t->goroutine, &len),
		.tid = *(const uint32_t *)intern_key(&j->tids, thread, &len),
		.begin = t->gap, .end = time, .kind = t->kind,
	};
	t->gap = -1;
}

/* Both sides agree that a goroutine runs on a thread that does not. */
static void gap_begins(struct thread *t, int64_t time)
{
	if (t->gap >= 0 || t->goroutine == NOBODY || (t->state != READY && t->state != BLOCKED))
		return;
	t->gap = time;
	t->kind = t->state == READY ? DESCHEDULED : WAITED;
}

static void set_state(struct join *j, size_t thread, enum state state, int64_t time)
{
	struct thread *t = &j->threads[thread];
	bool off = t->state == READY || t->state == BLOCKED;

	if (state == t->state)
		return;
	settle(j, t, time);
	if (state == ON_CPU || state == UNTOLD)
		gap_ends(j, thread, time);
	if (!off)
		t->off = time;
	if (state == READY)
		t->ready = time;
	if (t->state == READY && state == ON_CPU)
		add_time(&t->delay, time - t->ready);
	if (state == ON_CPU && t->told >= 0 && time - t->told > SKEW_NS)
		j->wrong++;
	if (state == ON_CPU || state == UNTOLD) {
		t->told = -1;
		t->faulted = false;
	}
	t->state = state;
	gap_begins(t, time);
}

static void leave(struct join *j, struct goroutine *g, int64_t time)
{
	size_t thread = g->thread;

	if (thread == NOBODY)
		return;
	settle(j, &j->threads[thread], time);
	gap_ends(j, thread, time);
	j->threads[thread].goroutine = NOBODY;
	g->thread = NOBODY;
}

static void come(struct join *j, int64_t id, size_t thread, int64_t time)
{
	struct goroutine *g = goroutine_of(j, id);
	struct thread *t = &j->threads[thread];

	if (g->thread == thread)
		return;
	leave(j, g, time);
	if (t->goroutine != NOBODY)
		leave(j, &j->goroutines[t->goroutine], time);
	settle(j, t, time);
	t->goroutine = (size_t)(g - j->goroutines);
	g->thread = thread;
	/* Whoever comes has a CPU; a clock that says otherwise is not to begin a gap. */
}

/* ---- what the host says ---- */

static enum state state_of(const struct gprof_trace_event *ev)
{
	const char *reason = ev->transition.reason.s;

	switch (ev->transition.to) {
	case GPROF_TRACE_GO_RUNNING:
		return ON_CPU;
	case GPROF_TRACE_GO_RUNNABLE:
		/* Made up, for the model's sake. */
		if (!strcmp(reason, "lost events") || !strcmp(reason, "clocks of CPUs differ"))
			return UNTOLD;
		return READY;
	case GPROF_TRACE_GO_WAITING:
		return BLOCKED;
	default:
		return UNTOLD;
	}
}

static struct interrupt *cpu_of(struct join *j, int64_t cpu)
{
	if (cpu < 0 || cpu >= 1 << 16)
		return NULL;
	if ((size_t)cpu >= j->nr_cpus) {
		size_t nr = (size_t)cpu + 1;
		struct interrupt *cpus = xalloc(nr, sizeof(*cpus));

		if (j->nr_cpus)
			memcpy(cpus, j->cpus, j->nr_cpus * sizeof(*cpus));
		free(j->cpus);
		j->cpus = cpus;
		j->nr_cpus = nr;
	}
	return &j->cpus[cpu];
}

static void on_range(struct join *j, const struct gprof_trace_event *ev)
{
	struct interrupt *cpu = cpu_of(j, ev->range.scope.id);
	struct thread *t;

	if (ev->range.scope.kind != GPROF_TRACE_RESOURCE_PROC || !cpu)
		return;
	if (ev->kind != GPROF_TRACE_RANGE_END) {
		j->irqs++;
		cpu->open = ev->kind == GPROF_TRACE_RANGE_BEGIN && ev->goroutine >= 0;
		cpu->since = ev->time;
		if (cpu->open)
			cpu->thread = thread_of(j, LIVES_TID(ev->goroutine));
	} else if (cpu->open) {
		cpu->open = false;
		t = &j->threads[cpu->thread];
		if (t->goroutine != NOBODY && t->state == ON_CPU)
			add_time(&row_on(j, t->goroutine)->interrupted, ev->time - cpu->since);
	}
}

static void on_fault(struct join *j, const struct gprof_trace_event *ev)
{
	struct thread *t;

	if (ev->goroutine < 0 || strcmp(ev->log.category.s, "page fault") ||
	    annotation_is(j->kernel.t, ev))
		return;
	j->faults++;
	t = &j->threads[thread_of(j, LIVES_TID(ev->goroutine))];
	t->faulted = true;
	if (t->goroutine != NOBODY)
		row_on(j, t->goroutine)->faults++;
}

static void kernel_event(struct join *j)
{
	const struct gprof_trace_event *ev = &j->kernel.ev;

	switch (ev->kind) {
	case GPROF_TRACE_STATE_TRANSITION:
		if (ev->transition.resource.kind == GPROF_TRACE_RESOURCE_GOROUTINE)
			set_state(j, thread_of(j, LIVES_TID(ev->transition.resource.id)),
				  state_of(ev), ev->time);
		break;
	case GPROF_TRACE_RANGE_BEGIN:
	case GPROF_TRACE_RANGE_ACTIVE:
	case GPROF_TRACE_RANGE_END:
		on_range(j, ev);
		break;
	case GPROF_TRACE_LOG:
		on_fault(j, ev);
		break;
	case GPROF_TRACE_REGION_BEGIN:
		if (ev->goroutine >= 0 && !annotation_is(j->kernel.t, ev))
			j->threads[thread_of(j, LIVES_TID(ev->goroutine))].faulted = false;
		break;
	default:
		break;
	}
}

/* ---- what the Go program says ---- */

static void name_it(struct join *j, struct goroutine *g, uint64_t stack)
{
	struct gprof_trace_frame frames[GPROF_TRACE_FRAMES_MAX];
	size_t nr;

	if (g->row != NOBODY || !stack)
		return;
	nr = gprof_trace_stack(j->go.t, stack, frames, GPROF_TRACE_FRAMES_MAX);
	if (!nr || nr > GPROF_TRACE_FRAMES_MAX)
		return;
	g->row = row_of(j, frames[nr - 1].function.s);
	j->rows[g->row].nr++;
}

static void on_goroutine(struct join *j, const struct gprof_trace_event *ev)
{
	uint8_t from = ev->transition.from, to = ev->transition.to;
	struct goroutine *g = goroutine_of(j, ev->transition.resource.id);

	name_it(j, g, ev->transition.stack);
	if (from == to)
		return;
	if (from == GPROF_TRACE_GO_RUNNABLE && to == GPROF_TRACE_GO_RUNNING)
		add_time(&row_on(j, (size_t)(g - j->goroutines))->delay, ev->time - g->since);
	if (from == GPROF_TRACE_GO_RUNNING)
		leave(j, g, ev->time);
	g->state = to;
	g->since = ev->time;
	if (to == GPROF_TRACE_GO_RUNNING && from != GPROF_TRACE_GO_UNDETERMINED &&
	    ev->thread >= 0)
		come(j, ev->transition.resource.id, thread_of(j, ev->thread), ev->time);
	if (to == GPROF_TRACE_GO_NOT_EXIST) {
		/* Its number is not used again. */
		leave(j, g, ev->time);
		g->state = GPROF_TRACE_GO_NOT_EXIST;
	}
}

/* A thread that tells something has a CPU. */
static void check(struct join *j, struct thread *t, int64_t time)
{
	if (t->state == UNTOLD)
		return;
	j->checked++;
	if (t->state != ON_CPU && time - t->off > SKEW_NS && t->told < 0)
		t->told = time;
}

static void go_event(struct join *j)
{
	const struct gprof_trace_event *ev = &j->go.ev;
	struct goroutine *g;
	size_t thread;

	if (ev->kind == GPROF_TRACE_SYNC || ev->kind == GPROF_TRACE_STACK_SAMPLE ||
	    ev->thread < 0 || ev->thread >= 1 << 22)
		return;
	thread = thread_of(j, ev->thread);
	j->threads[thread].go = true;
	/* A status says that a goroutine is, somewhere. */
	if (!(ev->kind == GPROF_TRACE_STATE_TRANSITION &&
	      (ev->transition.from == ev->transition.to || !ev->transition.from)))
		check(j, &j->threads[thread], ev->time);
	if (ev->goroutine >= 0) {
		g = goroutine_of(j, ev->goroutine);
		name_it(j, g, ev->stack);
		if (g->state == GPROF_TRACE_GO_RUNNING)
			come(j, ev->goroutine, thread, ev->time);
	}
	if (ev->kind == GPROF_TRACE_STATE_TRANSITION &&
	    ev->transition.resource.kind == GPROF_TRACE_RESOURCE_GOROUTINE)
		on_goroutine(j, ev);
}

/* ---- both ---- */

static void advance(struct source *s)
{
	s->ret = gprof_trace_next(s->t, &s->ev);
	if (s->ret <= 0 || s->ev.kind == GPROF_TRACE_SYNC)
		return;
	if (!s->any)
		s->first = s->ev.time;
	s->any = true;
	s->last = s->ev.time;
}

static int open_source(struct source *s, const char *name)
{
	s->name = name;
	s->fd = open(name, O_RDONLY | O_CLOEXEC);
	if (s->fd < 0)
		return fail("%s cannot be opened (%s)", name, strerror(errno));
	s->t = gprof_trace_new(s->fd, NULL);
	if (!s->t)
		return fail("%s: %s", name, gprof_error());
	advance(s);
	if (s->ret < 0)
		return fail("%s: %s", name, gprof_error());
	return STATUS_OK;
}

static bool is_own(const struct source *s)
{
	struct gprof_trace_stats st = { .sz = sizeof(st) };

	gprof_trace_stats(s->t, &st);
	return st.gprof_version;
}

/* Since Go 1.25 it says how its clock stands to the host's. */
static int check_clock(const struct join *j)
{
	const struct gprof_trace_clock *c = &j->go.ev.sync.clock;
	int64_t apart;

	if (j->go.ret <= 0 || j->go.ev.kind != GPROF_TRACE_SYNC || !j->go.ev.sync.has_clock)
		return STATUS_OK;
	apart = c->time - (int64_t)c->mono;
	if (apart <= SKEW_NS && apart >= -SKEW_NS)
		return STATUS_OK;
	return fail("%s: its clock is not CLOCK_MONOTONIC but %" PRId64 " ns apart from it, so that "
		    "it cannot be joined", j->go.name, apart);
}

static int open_both(struct join *j, const char *kernel, const char *go)
{
	int status = open_source(&j->kernel, kernel);

	if (status == STATUS_OK)
		status = open_source(&j->go, go);
	if (status == STATUS_OK && !is_own(&j->kernel))
		return fail("%s is no trace of a host by gprof; the trace of a Go program is for "
			    "--join", kernel);
	if (status == STATUS_OK && is_own(&j->go))
		return fail("%s is a trace of a host, not one that a Go program wrote of itself",
			    go);
	return status == STATUS_OK ? check_clock(j) : status;
}

/* By time; at the end of either, nothing is known of it any more. */
static void read_both(struct join *j)
{
	struct source *k = &j->kernel, *g = &j->go;
	bool over = false;

	while (g->ret > 0) {
		if (k->ret > 0 && k->ev.time <= g->ev.time) {
			kernel_event(j);
			advance(k);
			continue;
		}
		if (k->ret <= 0 && !over) {
			over = true;
			for (size_t i = 0; i < j->tids.nr; i++)
				set_state(j, i, UNTOLD, k->last);
		}
		go_event(j);
		advance(g);
	}
	for (size_t i = 0; i < j->ids.nr; i++)
		leave(j, &j->goroutines[i], g->last);
	/* When it begins and ends is told in any case. */
	while (k->ret > 0)
		advance(k);
}

static int believe(const struct join *j)
{
	const struct source *k = &j->kernel, *g = &j->go;

	if (!g->any || !k->any || g->last < k->first || k->last < g->first)
		return fail("%s and %s have no time in common: the one goes from %.3f s to %.3f s "
			    "after the host's start, the other from %.3f s to %.3f s; they are of "
			    "different times, or hosts", k->name, g->name, (double)k->first / 1e9,
			    (double)k->last / 1e9, (double)g->first / 1e9, (double)g->last / 1e9);
	if (!j->checked)
		return fail("%s tells of no thread of the program that wrote %s: it is of another "
			    "target or host, or the program is in a pid namespace of its own",
			    k->name, g->name);
	if (j->wrong > j->checked / WRONG_PART)
		return fail("%s and %s are not of the same host and time: %" PRIu64 " times of %"
			    PRIu64 " a thread told something in the one while it had no CPU in the "
			    "other", k->name, g->name, j->wrong, j->checked);
	return STATUS_OK;
}

/* ---- the table ---- */

struct line {
	const char *name;
	const struct row *row;
};

static int64_t ran(const struct row *r)
{
	return r->in[ON_CPU] + r->in[READY] + r->in[BLOCKED] + r->in[UNTOLD];
}

static int longest_first(const void *pa, const void *pb)
{
	const struct line *a = pa, *b = pb;

	if (ran(a->row) != ran(b->row))
		return ran(a->row) < ran(b->row) ? 1 : -1;
	return strcmp(a->name, b->name);
}

static struct line *lines_of(const struct join *j)
{
	struct line *lines = xalloc(j->names.nr + 1, sizeof(*lines));
	size_t length;

	for (size_t i = 0; i < j->names.nr; i++)
		lines[i] = (struct line){ intern_key(&j->names, i, &length), &j->rows[i] };
	qsort(lines, j->names.nr, sizeof(*lines), longest_first);
	return lines;
}

static struct times kernel_delay(const struct join *j)
{
	struct times sum = { 0 };

	for (size_t i = 0; i < j->tids.nr; i++) {
		const struct thread *t = &j->threads[i];

		if (!t->go)
			continue;
		sum.nr += t->delay.nr;
		sum.ns += t->delay.ns;
		sum.max = t->delay.max > sum.max ? t->delay.max : sum.max;
	}
	return sum;
}

static struct times runtime_delay(const struct join *j)
{
	struct times sum = { 0 };

	for (size_t i = 0; i < j->names.nr; i++) {
		sum.nr += j->rows[i].delay.nr;
		sum.ns += j->rows[i].delay.ns;
		sum.max = j->rows[i].delay.max > sum.max ? j->rows[i].delay.max : sum.max;
	}
	return sum;
}

static void print_cell(bool there, int64_t ns)
{
	if (there)
		printf(" %10.3f", (double)ns / 1e6);
	else
		printf(" %10s", "-");
}

static void print_delay(const char *who, struct times t)
{
	printf("%-36s %10" PRIu64 " times, %12.3f ms, at most %10.3f ms\n", who, t.nr,
	       (double)t.ns / 1e6, (double)t.max / 1e6);
}

static void print_table(const struct join *j)
{
	struct line *lines = lines_of(j);

	printf("%10s %10s %10s %8s %10s %8s %10s %10s %8s %10s %10s  %s\n", "running ms", "on a CPU",
	       "interrupts", "desched.", "ms", "blocked", "ms", "in faults", "faults", "not told",
	       "goroutines", "function");
	for (size_t i = 0; i < j->names.nr; i++) {
		const struct row *r = lines[i].row;

		printf("%10.3f %10.3f", (double)ran(r) / 1e6, (double)r->in[ON_CPU] / 1e6);
		print_cell(j->irqs, r->interrupted.ns);
		printf(" %8" PRIu64 " %10.3f %8" PRIu64 " %10.3f", r->gaps[DESCHEDULED].nr,
		       (double)r->in[READY] / 1e6, r->gaps[WAITED].nr,
		       (double)r->in[BLOCKED] / 1e6);
		print_cell(j->faults, r->fault.ns);
		if (j->faults)
			printf(" %8" PRIu64, r->faults);
		else
			printf(" %8s", "-");
		printf(" %10.3f %10" PRIu64 "  ", (double)r->in[UNTOLD] / 1e6, r->nr);
		text_plain(stdout, lines[i].name);
		putchar('\n');
	}
	free(lines);
	putchar('\n');
	print_delay("goroutines waited for a thread", runtime_delay(j));
	print_delay("their threads waited for a CPU", kernel_delay(j));
}

static void json_times(const char *key, struct times t)
{
	printf(", \"%s\": {\"count\": %" PRIu64 ", \"ns\": %" PRId64 ", \"max_ns\": %" PRId64 "}",
	       key, t.nr, t.ns, t.max);
}

static void print_json(const struct join *j)
{
	struct line *lines = lines_of(j);

	fputs("{\"functions\": [", stdout);
	for (size_t i = 0; i < j->names.nr; i++) {
		const struct row *r = lines[i].row;

		printf("%s\n {\"function\": ", i ? "," : "");
		text_json(stdout, lines[i].name);
		printf(", \"goroutines\": %" PRIu64 ", \"running_ns\": %" PRId64 ", \"cpu_ns\": %"
		       PRId64 ", \"runnable_ns\": %" PRId64 ", \"blocked_ns\": %" PRId64
		       ", \"untold_ns\": %" PRId64 ", \"faults\": %" PRIu64, r->nr, ran(r),
		       r->in[ON_CPU], r->in[READY], r->in[BLOCKED], r->in[UNTOLD], r->faults);
		json_times("interrupted", r->interrupted);
		json_times("descheduled", r->gaps[DESCHEDULED]);
		json_times("blocked", r->gaps[WAITED]);
		json_times("blocked_in_faults", r->fault);
		json_times("runtime_delay", r->delay);
		putchar('}');
	}
	free(lines);
	fputs("],\n\"intervals\": [", stdout);
	for (size_t i = 0; i < j->nr_gaps; i++) {
		const struct gap *g = &j->gaps[i];

		printf("%s\n {\"kind\": \"%s\", \"goroutine\": %" PRId64 ", \"tid\": %" PRIu32
		       ", \"begin_ns\": %" PRId64 ", \"end_ns\": %" PRId64 "}", i ? "," : "",
		       kind_names[g->kind], g->goroutine, g->tid, g->begin, g->end);
	}
	printf("],\n\"checked\": %" PRIu64 ", \"contradictions\": %" PRIu64, j->checked, j->wrong);
	json_times("runtime_delay", runtime_delay(j));
	json_times("kernel_delay", kernel_delay(j));
	puts("}");
}

static void tell(const struct join *j)
{
	struct gprof_trace_stats st = { .sz = sizeof(st) };

	if (!j->irqs)
		say("%s tells of no interrupts; gprofctl trace --irqs records them", j->kernel.name);
	if (!j->faults)
		say("%s tells of no page faults; gprofctl trace --faults records them",
		    j->kernel.name);
	gprof_trace_stats(j->kernel.t, &st);
	if (st.lost)
		say("%s: %" PRIu64 " events were lost; what a thread did then is not told",
		    j->kernel.name, st.lost);
	if (j->wrong)
		say("%" PRIu64 " times of %" PRIu64 " a thread told something while it had no CPU by "
		    "the other trace", j->wrong, j->checked);
}

static int close_source(struct source *s, int status)
{
	if (status == STATUS_OK && s->ret < 0) {
		gprof_trace_next(s->t, &s->ev);
		status = fail("%s: %s; what comes before it was read", s->name, gprof_error());
	}
	gprof_trace_free(s->t);
	if (s->fd >= 0)
		close(s->fd);
	return status;
}

int join_print(const char *kernel, const char *go, bool json)
{
	struct join j = { .kernel.fd = -1, .go.fd = -1 };
	int status = open_both(&j, kernel, go);

	if (status == STATUS_OK) {
		read_both(&j);
		status = believe(&j);
	}
	if (status == STATUS_OK) {
		if (json)
			print_json(&j);
		else
			print_table(&j);
		status = finish_stdout();
	}
	if (status == STATUS_OK)
		tell(&j);
	status = close_source(&j.kernel, status);
	status = close_source(&j.go, status);
	free(j.threads);
	free(j.goroutines);
	free(j.rows);
	free(j.cpus);
	free(j.gaps);
	intern_free(&j.tids);
	intern_free(&j.ids);
	intern_free(&j.names);
	return status;
}
