// SPDX-License-Identifier: GPL-2.0-only
/*
 * Why a thread waited: the chain of threads that it waited for.
 *
 * Backwards from the end of the wait: its waker was running then; before that it may have been
 * runnable, or have waited itself, for another waker. So all of the wait is divided among these
 * threads, one behind the other.
 */
#include "wait_chain.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmd.h"
#include "cli/duration.h"
#include "cli/options.h"
#include "cli/diag.h"
#include "cli/text.h"
#include "thread_spans.h"
#include "trace_profile.h"

#define NONE		UINT32_MAX
/* Spans of all threads during the wait; further ones are not followed. */
#define DID_MAX		(16U << 20)
#define STEPS_MAX	10000
/* Threads in the stack of a profile. */
#define DEPTH_MAX	60
#define FRAMES_SHOWN	3
#define LEAVES_MAX	5

/**
 * struct did - a span of a thread during the wait
 * @begin: ns
 * @end: ns
 * @thread: thread
 * @state: it did
 * @stack: number of where
 * @waker: the thread that ended it, or THREAD_NONE
 * @before: its span before, or NONE
 * @open: it did not end with @end, but the rest is not known
 */
struct did {
	int64_t begin;
	int64_t end;
	uint32_t thread;
	uint32_t state;
	uint32_t stack;
	uint32_t waker;
	uint32_t before;
	bool open;
};

/* A piece of the wait, and @depth: over how many wakers it lies. */
struct step {
	int64_t begin;
	int64_t end;
	uint32_t thread;
	uint32_t state;
	uint32_t stack;
	uint32_t depth;
	bool open;
};

/**
 * struct wait_chain - the question, and the answer
 * @thread_spans: of the threads
 * @who: name, or NULL for one with @tid
 * @tid: likewise
 * @at: when, or -1
 * @at_offset: @at is since the trace began
 * @known: there is such a thread
 * @begin: of the wait
 * @end: of it
 * @thread: of the wait; NONE: there is none
 * @state: why it waited
 * @did: during the wait
 * @nr: how many
 * @room: of @did
 * @last: last span of each thread, by index
 * @nr_last: how many
 * @cut: there was more than is followed
 * @steps: the answer, backwards
 * @nr_steps: how many
 * @room_steps: of them
 * @chain: thread of each depth
 */
struct wait_chain {
	struct thread_spans thread_spans;
	const char *who;
	int64_t tid;
	int64_t at;
	bool at_offset;
	bool known;
	int64_t begin;
	int64_t end;
	uint32_t thread;
	enum thread_state state;
	struct did *did;
	size_t nr;
	size_t room;
	uint32_t *last;
	size_t nr_last;
	size_t room_last;
	bool cut;
	struct step *steps;
	size_t nr_steps;
	size_t room_steps;
	uint32_t *chain;
	size_t nr_chain;
	size_t room_chain;
};

static bool is_wait(enum thread_state state)
{
	return state != THREAD_CPU && state != THREAD_RUNNABLE && state != THREAD_THROTTLED &&
	       state != THREAD_LOST;
}

static bool is_meant(const struct wait_chain *w, const struct thread_spans *v, uint32_t thread)
{
	return w->who ? !strcmp(thread_spans_name(v, thread), w->who) :
			THREAD_TID(v->all[thread].id) == w->tid;
}

static bool is_longest(const struct wait_chain *w, const struct thread_spans *v,
		       const struct span *s)
{
	int64_t at = w->at;

	if (!is_wait(s->state) || (w->thread != NONE && s->end - s->begin <= w->end - w->begin))
		return false;
	if (w->at_offset && __builtin_add_overflow(at, v->begin, &at))
		at = INT64_MAX;
	return w->at < 0 || (at >= s->begin && at < s->end);
}

/* The first reading finds the wait. Of most stretches it does not matter whose they are. */
static void find_wait(void *ctx, struct thread_spans *v, const struct span *s)
{
	struct wait_chain *w = ctx;
	bool longest = is_longest(w, v, s);

	if ((w->known && !longest) || !is_meant(w, v, s->thread))
		return;
	w->known = true;
	if (!longest)
		return;
	w->thread = s->thread;
	w->begin = s->begin;
	w->end = s->end;
	w->state = s->state;
}

static uint32_t *last_of(struct wait_chain *w, uint32_t thread)
{
	while (w->nr_last <= thread) {
		w->last = xgrow(w->last, w->nr_last, &w->room_last, sizeof(*w->last));
		w->last[w->nr_last++] = NONE;
	}
	return &w->last[thread];
}

/* The second reading records the states of all threads meanwhile. */
static void note(void *ctx, struct thread_spans *v, const struct span *s)
{
	struct wait_chain *w = ctx;
	uint32_t *last;

	if (s->end <= w->begin || s->begin >= w->end)
		return;
	if (w->nr == DID_MAX) {
		w->cut = true;
		return;
	}
	last = last_of(w, s->thread);
	w->did = xgrow(w->did, w->nr, &w->room, sizeof(*w->did));
	w->did[w->nr] = (struct did){
		.begin = s->begin,
		.end = s->end,
		.thread = s->thread,
		.state = s->state,
		.stack = s->stack,
		.waker = s->waker,
		.before = *last,
		.open = s->goes_on || v->over,
	};
	*last = (uint32_t)w->nr++;
}

/* A thread's span just before @time, which is never later than the time before. */
static const struct did *did_before(struct wait_chain *w, uint32_t thread, int64_t time)
{
	uint32_t *last = last_of(w, thread), i = *last;

	while (i != NONE && w->did[i].begin >= time)
		i = w->did[i].before;
	*last = i;
	return i == NONE ? NULL : &w->did[i];
}

static void add_step(struct wait_chain *w, const struct did *d, int64_t end)
{
	w->steps = xgrow(w->steps, w->nr_steps, &w->room_steps, sizeof(*w->steps));
	w->steps[w->nr_steps++] = (struct step){
		.begin = d->begin > w->begin ? d->begin : w->begin,
		.end = end,
		.thread = d->thread,
		.state = d->state,
		.stack = d->stack,
		.depth = (uint32_t)w->nr_chain - 1,
		.open = d->open,
	};
}

static void push(struct wait_chain *w, uint32_t thread)
{
	w->chain = xgrow(w->chain, w->nr_chain, &w->room_chain, sizeof(*w->chain));
	w->chain[w->nr_chain++] = thread;
}

static void follow(struct wait_chain *w)
{
	int64_t time = w->end;

	push(w, w->thread);
	while (time > w->begin && w->nr_steps < STEPS_MAX && w->nr_chain < STEPS_MAX) {
		const struct did *d = did_before(w, w->chain[w->nr_chain - 1], time);

		if (!d || (d->end < time && is_wait(d->state)))
			break;
		if (is_wait(d->state) && d->waker != THREAD_NONE && did_before(w, d->waker, time)) {
			push(w, d->waker);
			continue;
		}
		add_step(w, d, time);
		time = d->begin;
		/* Its states before may have nothing to do with the wait. */
		if (d->state == THREAD_LOST)
			break;
	}
	if (time > w->begin)
		w->cut = true;
}

static void print_thread(const struct wait_chain *w, uint32_t thread)
{
	printf("%" PRId64 " ", THREAD_TID(w->thread_spans.all[thread].id));
	text_plain(stdout, thread_spans_name(&w->thread_spans, thread));
}

static void print_place(struct wait_chain *w, uint32_t stack)
{
	struct gprof_frame frames[GPROF_TRACE_FRAMES_MAX];
	size_t nr = trace_stacks_frames(&w->thread_spans.stacks, stack, frames), i = 0;

	/* All threads stop in schedule(), and its callees. */
	for (size_t leaf = 0; leaf < nr && leaf < LEAVES_MAX; leaf++)
		if (!strcmp(frames[leaf].function, "schedule") ||
		    !strcmp(frames[leaf].function, "__schedule"))
			i = leaf + 1;
	for (size_t shown = 0; i < nr && shown < FRAMES_SHOWN; i++, shown++) {
		fputs(shown ? " < " : "  in ", stdout);
		text_plain(stdout, frames[i].function);
	}
}

static const char *how_ended(const struct wait_chain *w, const struct step *s)
{
	if (!s->open)
		return "until an interrupt, or a task that was not recorded (-a records all), wakes it";
	return s->end == w->thread_spans.end ? "until the trace ends" :
					"and how that ends is not known, as events were lost";
}

static const char *words(enum thread_state state)
{
	static const char *const does[NR_THREAD_STATES] = {
		[THREAD_CPU] = "runs",
		[THREAD_RUNNABLE] = "is runnable, and has no CPU",
		[THREAD_THROTTLED] = "is throttled with its cgroup",
		[THREAD_SLEEP] = "sleeps",
		[THREAD_IO] = "waits for a disk",
		[THREAD_FUTEX] = "waits for a futex",
		[THREAD_PIPE] = "waits for a pipe",
		[THREAD_SOCKET] = "waits for a socket",
		[THREAD_FILE] = "waits for a file",
		[THREAD_POLL] = "polls",
		[THREAD_FAULT] = "waits for a page",
		[THREAD_RECLAIM] = "waits for memory",
		[THREAD_LOCK] = "waits for a lock of the kernel",
		[THREAD_CHILD] = "waits for a child",
		[THREAD_SIGNAL] = "waits for a signal",
		[THREAD_STOPPED] = "is stopped",
		[THREAD_UNINTERRUPTIBLE] = "waits in the kernel, where no signal ends it",
		[THREAD_KERNEL] = "waits for work",
		[THREAD_OTHER] = "waits",
		[THREAD_NOT_RECORDED] = "waits, for an unknown reason",
		[THREAD_LOST] = "is in an unknown state, as events were lost",
	};

	return does[state];
}

/* Threads that woke one another: those in between have no other lines. */
static void print_wakings(const struct wait_chain *w, size_t depth, size_t until)
{
	for (; depth > until; depth--) {
		fputs("                 and wakes ", stdout);
		print_thread(w, w->chain[depth - 1]);
		putchar('\n');
	}
}

/* In the order in which it happened. */
static void print_steps(struct wait_chain *w)
{
	char length[DURATION_TEXT];

	print_thread(w, w->thread);
	printf(" %s for %s, from %.6f to %.6f s\n", words(w->state),
	       duration_text(w->end - w->begin, length), (double)w->begin / 1e9,
	       (double)w->end / 1e9);
	for (size_t i = w->nr_steps; i-- > 0;) {
		const struct step *s = &w->steps[i];

		printf("%12.3f ms  ", (double)(s->end - s->begin) / 1e6);
		print_thread(w, s->thread);
		printf(" %s", words(s->state));
		print_place(w, s->stack);
		putchar('\n');
		if (is_wait(s->state))
			printf("                 %s\n", how_ended(w, s));
		else if (!i || w->steps[i - 1].depth < s->depth)
			print_wakings(w, s->depth, i ? w->steps[i - 1].depth : 0);
	}
	if (w->cut)
		puts("What was before that cannot be followed in the trace.");
}

static int write_steps(struct wait_chain *w, const char *output)
{
	static const struct gprof_value_type types[] = { { "wait", "nanoseconds" } };
	const struct gprof_profile_builder_config cfg = {
		.sz = sizeof(cfg), .types = types, .nr_types = 1,
	};
	struct gprof_profile_builder *b = gprof_profile_builder_new(&cfg);
	int status = b ? STATUS_OK : fail("%s", gprof_error());

	for (size_t i = 0; i < w->nr_steps && status == STATUS_OK; i++) {
		const struct step *s = &w->steps[i];
		const int64_t ns = s->end - s->begin;
		struct gprof_frame frames[DEPTH_MAX + 1];
		char reason[32];
		size_t nr = 0;

		snprintf(reason, sizeof(reason), "[%s]", thread_state_name(s->state));
		frames[nr++] = (struct gprof_frame){ .function = reason };
		/* The waiter is the root, and those in the middle may be left out. */
		for (size_t depth = s->depth + 1; depth-- > 0 && nr < DEPTH_MAX;) {
			const char *name = thread_spans_name(&w->thread_spans, w->chain[depth]);

			frames[nr++] = (struct gprof_frame){
				.function = *name ? name : "[no name]",
			};
			if (nr == DEPTH_MAX - 1 && depth)
				depth = 1;
		}
		if (gprof_profile_builder_add(b, frames, nr, NULL, 0, &ns))
			status = fail("%s: no memory for the profile", output);
	}
	if (status == STATUS_OK) {
		gprof_profile_builder_time(b, 0, w->end - w->begin);
		status = trace_profile_write(b, output);
	}
	gprof_profile_builder_free(b);
	return status;
}

static int parse(struct wait_chain *w, const char *who, const char *at)
{
	unsigned long long tid;

	w->at = -1;
	w->thread = NONE;
	w->who = who;
	if (parse_count(who, &tid)) {
		w->who = NULL;
		w->tid = (int64_t)tid;
	}
	if (!at)
		return STATUS_OK;
	w->at_offset = *at == '+';
	if (!duration_parse(at + w->at_offset, &w->at))
		return misused("--at wants a time of the trace in seconds, such as 54.406, or one "
			       "since it began, such as +1.5, not \"%s\"", at);
	return STATUS_OK;
}

static int not_found(const struct wait_chain *w, const char *file, const char *who, const char *at)
{
	if (!w->known)
		return fail("%s has no thread \"%s\"; gprofctl wall %s lists them", file, who, file);
	if (at)
		return fail("%s does not wait at %s in %s, which is from %.6f to %.6f s", who, at,
			    file, (double)w->thread_spans.begin / 1e9,
			    (double)w->thread_spans.end / 1e9);
	return fail("%s never waits in %s", who, file);
}

int wait_chain_print(const char *file, const char *who, const char *at, const char *output)
{
	struct wait_chain w = { 0 };
	int status = parse(&w, who, at);

	if (status == STATUS_OK && !strcmp(file, "-"))
		status = misused("--why reads the trace twice, which stdin cannot be");
	if (status == STATUS_OK) {
		w.thread_spans.use = (struct thread_spans_ops){ .ctx = &w, .span = find_wait };
		status = thread_spans_read(&w.thread_spans, file);
	}
	if (status == STATUS_OK && w.thread == NONE)
		status = not_found(&w, file, who, at);
	thread_spans_free(&w.thread_spans);
	if (status != STATUS_OK)
		return status;
	/* Threads have the numbers that they had. */
	w.thread_spans = (struct thread_spans){
		.use = { .ctx = &w, .span = note },
		.quiet = true,
	};
	status = thread_spans_read(&w.thread_spans, file);
	if (status == STATUS_OK) {
		follow(&w);
		thread_spans_report(&w.thread_spans, file);
		if (output)
			status = write_steps(&w, output);
		else
			print_steps(&w);
	}
	if (status == STATUS_OK)
		status = finish_stdout();
	thread_spans_free(&w.thread_spans);
	free(w.did);
	free(w.last);
	free(w.steps);
	free(w.chain);
	return status;
}
