// SPDX-License-Identifier: GPL-2.0-only
/*
 * The join of a trace of the host with a Go program's own.
 *
 * Both are read side by side, by time: Go's is on CLOCK_MONOTONIC as ours is, and it calls a
 * thread by its tid. So while a goroutine runs on a thread by the one, the other says whether that
 * thread had a CPU. The two are compared: a thread that tells something has a CPU; where that is
 * often not so, the traces do not belong together.
 *
 * Go's runtime ends a generation with the states of all goroutines that have told nothing in
 * it. Meanwhile, which may take ms, its threads write the next one. To put these times in
 * order would be to move all that they tell behind those states; but of them nothing is taken
 * that has a time, so that each event can keep its own.
 */
#include "join.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <gprof/trace_record.h>

#include "cli/cmd.h"
#include "cli/file_kind.h"
#include "cli/diag.h"
#include "join_model.h"
#include "join_output.h"
#include "thread_spans.h"
#include "losses.h"
#include "record/annotation.h"
#include "runners.h"

#define WRONG_PART	20	/* one of so many contradictions is too many */
#define PAUSE_NS	1000000000	/* that a thread may be without a CPU between two clocks */

/**
 * struct cpu - a CPU
 * @interrupted: it is in an interrupt
 * @since: since when
 * @thread: that it interrupts
 * @runs: the thread that runs there, or JOIN_NOBODY
 */
struct cpu {
	bool interrupted;
	int64_t since;
	size_t thread;
	size_t runs;
};

/**
 * struct source - a trace that is read
 * @name: path
 * @t: it
 * @ev: the next event
 * @ret: of reading it
 * @first: time of the first event
 * @last: and of the latest
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

/**
 * struct join - both
 * @kernel: trace of the host
 * @go: of the program
 * @all: the joined model
 * @cpus: by number
 * @nr_cpus: how many
 * @losses: of @kernel
 * @found: they are known, from a reading before
 * @lost_to: until when one of those that have begun goes on
 * @runners: goroutines that run as @go begins
 * @now: time of the latest event of a thread
 * @calls: all system calls are told of
 */
struct join {
	struct source kernel;
	struct source go;
	struct join_model all;
	struct cpu *cpus;
	size_t nr_cpus;
	struct losses losses;
	bool found;
	int64_t lost_to;
	struct runners runners;
	int64_t now;
	bool calls;
};

/* ---- the host's trace ---- */

static enum join_on state_of(const struct gprof_trace_event *ev)
{
	const char *reason = ev->transition.reason.s;

	switch (ev->transition.to) {
	case GPROF_TRACE_GO_RUNNING:
	case GPROF_TRACE_GO_SYSCALL:
		return JOIN_ON_CPU;
	case GPROF_TRACE_GO_RUNNABLE:
		/* Made up, for the model's sake. */
		if (!strcmp(reason, "lost events") || !strcmp(reason, "clocks of CPUs differ"))
			return JOIN_UNTOLD;
		return JOIN_READY;
	case GPROF_TRACE_GO_WAITING:
		return JOIN_BLOCKED;
	default:
		return JOIN_UNTOLD;
	}
}

/* A thread by the number of its goroutine, in a trace of ours. */
static size_t host_thread(struct join *j, int64_t id)
{
	return join_thread(&j->all, THREAD_TID(id));
}

static struct cpu *cpu_of(struct join *j, int64_t cpu)
{
	if (cpu < 0 || cpu >= METADATA_CPUS_MAX)
		return NULL;
	if ((size_t)cpu >= j->nr_cpus) {
		size_t nr = (size_t)cpu + 1;
		struct cpu *cpus = xalloc(nr, sizeof(*cpus));

		if (j->nr_cpus)
			memcpy(cpus, j->cpus, j->nr_cpus * sizeof(*cpus));
		for (size_t i = j->nr_cpus; i < nr; i++)
			cpus[i].runs = JOIN_NOBODY;
		free(j->cpus);
		j->cpus = cpus;
		j->nr_cpus = nr;
	}
	return &j->cpus[cpu];
}

static bool is_off(enum join_on state)
{
	return state == JOIN_READY || state == JOIN_BLOCKED;
}

/*
 * A lost event may be that a thread came, or that it left: a thread without a CPU may have had
 * one, and the one that runs there may have left.
 */
static void lose_before(struct join *j, int64_t time)
{
	const struct loss *l;

	while (j->found && (l = losses_before(&j->losses, time))) {
		struct cpu *cpu = cpu_of(j, l->cpu);

		join_lose(&j->all, l->begin);
		if (cpu && cpu->runs != JOIN_NOBODY)
			join_state(&j->all, cpu->runs, JOIN_UNTOLD, l->begin);
		if (l->end > j->lost_to)
			j->lost_to = l->end;
	}
}

/* A thread that may have had a CPU meanwhile has no state until it runs. */
static void on_task(struct join *j, const struct gprof_trace_event *ev)
{
	size_t thread = host_thread(j, ev->transition.resource.id);
	enum join_on state = state_of(ev);
	struct cpu *cpu = cpu_of(j, ev->thread);

	if (metadata_is_call(ev))
		return;
	if (is_off(state) &&
	    (ev->time < j->lost_to || (ev->transition.from == GPROF_TRACE_GO_WAITING &&
				       j->all.threads[thread].state == JOIN_UNTOLD)))
		state = JOIN_UNTOLD;
	join_state(&j->all, thread, state, ev->time);
	if (!cpu)
		return;
	if (state == JOIN_ON_CPU)
		cpu->runs = thread;
	else if (cpu->runs == thread && ev->transition.from == GPROF_TRACE_GO_RUNNING)
		cpu->runs = JOIN_NOBODY;
}

static void on_range(struct join *j, const struct gprof_trace_event *ev)
{
	struct cpu *cpu = cpu_of(j, ev->range.scope.id);
	struct join_thread *t;

	if (ev->range.scope.kind != GPROF_TRACE_RESOURCE_PROC || !cpu)
		return;
	if (ev->kind != GPROF_TRACE_RANGE_END) {
		j->all.irqs = true;
		cpu->interrupted = ev->kind == GPROF_TRACE_RANGE_BEGIN && ev->goroutine >= 0;
		cpu->since = ev->time;
		if (cpu->interrupted)
			cpu->thread = host_thread(j, ev->goroutine);
	} else if (cpu->interrupted) {
		cpu->interrupted = false;
		t = &j->all.threads[cpu->thread];
		if (t->goroutine != JOIN_NOBODY && t->state == JOIN_ON_CPU)
			join_add(&join_row_on(&j->all, t->goroutine)->interrupted,
				 ev->time - cpu->since);
	}
}

static void on_fault(struct join *j, const struct gprof_trace_event *ev)
{
	struct join_thread *t;
	size_t thread;

	if (ev->goroutine < 0 || strcmp(ev->log.category.s, "page fault") ||
	    annotation_is(j->kernel.t, ev))
		return;
	j->all.faults = true;
	thread = host_thread(j, ev->goroutine);
	t = &j->all.threads[thread];
	/* Without the calls that follow, any wait would be for it. */
	t->faulted = j->calls;
	if (t->goroutine != JOIN_NOBODY)
		join_row_on(&j->all, t->goroutine)->faults++;
}

static void kernel_event(struct join *j)
{
	const struct gprof_trace_event *ev = &j->kernel.ev;
	size_t thread;

	if (j->found)
		lose_before(j, ev->time);
	else
		losses_add_event(&j->losses, ev);
	switch (ev->kind) {
	case GPROF_TRACE_STATE_TRANSITION:
		if (ev->transition.resource.kind == GPROF_TRACE_RESOURCE_GOROUTINE)
			on_task(j, ev);
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
		if (ev->goroutine < 0 || annotation_is(j->kernel.t, ev))
			break;
		thread = host_thread(j, ev->goroutine);
		j->all.threads[thread].faulted = false;
		break;
	default:
		break;
	}
}

/* ---- the Go program's trace ---- */

static void name_it(struct join *j, struct join_goroutine *g, uint64_t stack)
{
	struct gprof_trace_frame frames[GPROF_TRACE_FRAMES_MAX];
	size_t nr;

	if (g->row != JOIN_NOBODY || !stack)
		return;
	nr = gprof_trace_stack(j->go.t, stack, frames, GPROF_TRACE_FRAMES_MAX);
	if (!nr || nr > GPROF_TRACE_FRAMES_MAX)
		return;
	join_name(&j->all, g, frames[nr - 1].function.s);
}

static void on_goroutine(struct join *j, const struct gprof_trace_event *ev)
{
	uint8_t from = ev->transition.from, to = ev->transition.to;
	struct join_goroutine *g = join_goroutine(&j->all, ev->transition.resource.id);

	if (ev->thread >= 0)
		name_it(j, g, ev->transition.stack);
	if (from == to)
		return;
	/* A state may have been told late. */
	if (from == GPROF_TRACE_GO_RUNNABLE && to == GPROF_TRACE_GO_RUNNING)
		join_add(&join_row_on(&j->all, (size_t)(g - j->all.goroutines))->delay,
			 ev->time > g->since ? ev->time - g->since : 0);
	if (from == GPROF_TRACE_GO_RUNNING)
		join_leave(&j->all, g, ev->time);
	g->state = to;
	g->since = ev->time;
	if (to == GPROF_TRACE_GO_RUNNING && from != GPROF_TRACE_GO_UNDETERMINED &&
	    join_is_tid(ev->thread))
		join_come(&j->all, ev->transition.resource.id, join_thread(&j->all, ev->thread),
			  ev->time);
	if (to == GPROF_TRACE_GO_NOT_EXIST)
		join_dies(&j->all, g, ev->time);
}

/* A status says that a goroutine exists; every other event is of a running thread. */
static bool is_of_thread(const struct gprof_trace_event *ev)
{
	return ev->kind != GPROF_TRACE_SYNC && ev->kind != GPROF_TRACE_STACK_SAMPLE &&
	       join_is_tid(ev->thread) &&
	       !(ev->kind == GPROF_TRACE_STATE_TRANSITION &&
		 (ev->transition.from == ev->transition.to || !ev->transition.from));
}

static void go_event(struct join *j)
{
	struct gprof_trace_event *ev = &j->go.ev;
	struct join_goroutine *g;
	size_t thread;

	join_tidy(&j->all);
	if (!is_of_thread(ev)) {
		if (ev->kind == GPROF_TRACE_STATE_TRANSITION &&
		    ev->transition.resource.kind == GPROF_TRACE_RESOURCE_GOROUTINE)
			on_goroutine(j, ev);
		return;
	}
	/* Other contradictions are repaired. */
	if (ev->time < j->now)
		ev->time = j->now;
	j->now = ev->time;
	lose_before(j, ev->time);
	thread = join_thread(&j->all, ev->thread);
	j->all.threads[thread].go = true;
	join_check(&j->all, &j->all.threads[thread], ev->time);
	if (ev->goroutine >= 0) {
		g = join_goroutine(&j->all, ev->goroutine);
		name_it(j, g, ev->stack);
		if (g->state == GPROF_TRACE_GO_RUNNING)
			join_come(&j->all, ev->goroutine, thread, ev->time);
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
	s->last = s->any && s->last > s->ev.time ? s->last : s->ev.time;
	s->any = true;
}

static int on_batch(void *ctx, const struct gprof_trace_batch *batch)
{
	struct join *j = ctx;

	if (!j->found)
		losses_add_batch(&j->losses, batch);
	return 0;
}

static int begin_source(struct source *s, struct join *j)
{
	const struct gprof_trace_opts kernel = {
		.sz = sizeof(kernel),
		.batch = on_batch,
		.ctx = j,
	};
	const struct gprof_trace_opts go = { .sz = sizeof(go), .own_times = true };

	s->t = gprof_trace_new(s->fd, s == &j->kernel ? &kernel : &go);
	if (!s->t)
		return file_not_opened(s->name, s->fd, FILE_TRACE);
	s->any = false;
	advance(s);
	if (s->ret < 0)
		return fail("%s: %s", s->name, gprof_error());
	return STATUS_OK;
}

static int open_source(struct source *s, struct join *j, const char *name)
{
	s->name = name;
	s->fd = open(name, O_RDONLY | O_CLOEXEC);
	if (s->fd < 0)
		return fail("%s cannot be opened (%s)", name, strerror(errno));
	return begin_source(s, j);
}

static int begin_again(struct source *s, struct join *j)
{
	if (lseek(s->fd, 0, SEEK_SET))
		return fail("%s cannot be read again (%s), as it has to be since events are "
			    "missing in the trace of the host; store it in a file first", s->name,
			    strerror(errno));
	gprof_trace_free(s->t);
	return begin_source(s, j);
}

static struct gprof_trace_stats stats_of(const struct source *s)
{
	struct gprof_trace_stats st = { .sz = sizeof(st) };

	gprof_trace_stats(s->t, &st);
	return st;
}

static bool is_own(const struct source *s)
{
	return stats_of(s).gprof_version;
}

/*
 * Since Go 1.25 it says how its clock stands to the host's: it reads that, and then its own,
 * and may lose its CPU in between.
 */
static int check_clock(const struct join *j)
{
	const struct gprof_trace_clock *c = &j->go.ev.sync.clock;
	int64_t apart;

	if (j->go.ret <= 0 || j->go.ev.kind != GPROF_TRACE_SYNC || !j->go.ev.sync.has_clock)
		return STATUS_OK;
	apart = c->time - (int64_t)c->mono;
	if (apart <= PAUSE_NS && apart >= -JOIN_SKEW_NS)
		return STATUS_OK;
	return fail("%s: its clock is not CLOCK_MONOTONIC but %" PRId64 " ns apart from it, so that "
		    "it cannot be joined", j->go.name, apart);
}

static int open_both(struct join *j, const char *kernel, const char *go)
{
	int status = open_source(&j->kernel, j, kernel);

	if (status == STATUS_OK)
		status = open_source(&j->go, j, go);
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
	struct gprof_trace_stats st = stats_of(k);
	bool over = false, begun = false;

	/* Recorded kinds without an event are reported too. */
	j->all.irqs = st.groups & GPROF_TRACE_GROUP_IRQS;
	j->all.faults = st.groups & GPROF_TRACE_GROUP_FAULTS;
	j->calls = st.groups & GPROF_TRACE_GROUP_SYSCALLS && !st.min_duration_ns;
	while (g->ret > 0) {
		bool told = is_of_thread(&g->ev);

		j->all.begin = j->runners.nr ? j->runners.begin : g->first;
		if (!begun && told && (k->ret <= 0 || k->ev.time > j->all.begin)) {
			begun = true;
			runners_begin(&j->runners, &j->all);
		}
		if (told && k->ret > 0 && k->ev.time <= g->ev.time) {
			j->now = k->ev.time;
			kernel_event(j);
			advance(k);
			continue;
		}
		if (told && k->ret <= 0 && !over) {
			over = true;
			for (size_t i = 0; i < j->all.tids.nr; i++)
				join_state(&j->all, i, JOIN_UNTOLD, k->last);
		}
		go_event(j);
		advance(g);
	}
	join_end(&j->all, g->last);
	/* When it begins and ends is told in any case, and where it has losses. */
	while (k->ret > 0) {
		if (!j->found)
			losses_add_event(&j->losses, &k->ev);
		advance(k);
	}
}

/* Once more, where something is missing: from when on is known now. */
static int read_again(struct join *j)
{
	int status;

	losses_found(&j->losses);
	if (!j->losses.nr)
		return STATUS_OK;
	status = begin_again(&j->kernel, j);
	if (status == STATUS_OK)
		status = begin_again(&j->go, j);
	if (status != STATUS_OK)
		return status;
	j->found = true;
	join_free(&j->all);
	j->all = (struct join_model){ .keep = j->all.keep };
	free(j->cpus);
	j->cpus = NULL;
	j->nr_cpus = 0;
	j->now = 0;
	read_both(j);
	return STATUS_OK;
}

static int believe(const struct join *j)
{
	const struct source *k = &j->kernel, *g = &j->go;

	if (!g->any || !k->any || g->last < k->first || k->last < g->first)
		return fail("%s and %s have no time in common: the one goes from %.3f s to %.3f s "
			    "after the host's start, the other from %.3f s to %.3f s; they are of "
			    "different times, or hosts", k->name, g->name, (double)k->first / 1e9,
			    (double)k->last / 1e9, (double)g->first / 1e9, (double)g->last / 1e9);
	if (!j->all.checked)
		return fail("%s has no thread of the program that wrote %s: it is of another "
			    "target or host, or the program is in a pid namespace of its own",
			    k->name, g->name);
	if (j->all.wrong > j->all.checked / WRONG_PART)
		return fail("%s and %s are not of the same host and time: %" PRIu64 " times of %"
			    PRIu64 " a thread had an event in the one while it had no CPU in the "
			    "other", k->name, g->name, j->all.wrong, j->all.checked);
	return STATUS_OK;
}

static void report(const struct join *j)
{
	struct gprof_trace_stats st = stats_of(&j->kernel);

	if (!j->all.irqs)
		diag("%s has no interrupts; gprofctl trace --irqs records them",
		     j->kernel.name);
	if (!j->all.faults)
		diag("%s has no page faults; gprofctl trace --faults records them",
		     j->kernel.name);
	else if (!j->calls)
		diag("%s has page faults, but not all system calls, so that no thread is known to "
		     "be blocked in a fault; gprofctl trace --faults --syscalls records both",
		     j->kernel.name);
	if (st.lost)
		diag("%s: %" PRIu64 " events were lost; states of threads then are not known",
		     j->kernel.name, st.lost);
	if (j->all.wrong)
		diag("%" PRIu64 " times of %" PRIu64
		     "a thread had an event while it had no CPU by the other trace",
		     j->all.wrong, j->all.checked);
}

static int close_source(struct source *s, int status)
{
	if (status == STATUS_OK && s->ret < 0) {
		gprof_trace_next(s->t, &s->ev);
		status = fail("%s: %s; the part before it was read", s->name, gprof_error());
	}
	gprof_trace_free(s->t);
	if (s->fd >= 0)
		close(s->fd);
	return status;
}

int join_print(const char *kernel, const char *go, bool json)
{
	struct join j = { .kernel.fd = -1, .go.fd = -1, .all.keep = json };
	int status = open_both(&j, kernel, go);

	if (status == STATUS_OK) {
		runners_find(&j.runners, j.go.fd);
		read_both(&j);
		status = read_again(&j);
	}
	if (status == STATUS_OK)
		status = believe(&j);
	if (status == STATUS_OK) {
		if (json)
			join_json(&j.all, kernel, stats_of(&j.kernel).lost);
		else
			join_table(&j.all);
		status = finish_stdout();
	}
	if (status == STATUS_OK)
		report(&j);
	status = close_source(&j.kernel, status);
	status = close_source(&j.go, status);
	free(j.cpus);
	losses_free(&j.losses);
	runners_free(&j.runners);
	join_free(&j.all);
	return status;
}
