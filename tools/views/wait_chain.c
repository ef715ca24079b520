// SPDX-License-Identifier: GPL-2.0-only
/*
 * Why a thread waited: the chain of threads that it waited for.
 *
 * Backwards from the end of the wait: its waker was running then; before that it may have been
 * runnable, or have waited itself, for another waker. So all of the wait is divided among these
 * threads, one behind the other.
 */
#include "wait_chain.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cmd.h"
#include "cli/duration.h"
#include "cli/file_kind.h"
#include "cli/intern.h"
#include "cli/options.h"
#include "cli/diag.h"
#include "cli/json.h"
#include "cli/text.h"
#include "regions.h"
#include "thread_spans.h"
#include "trace_profile.h"
#include "trace_source.h"

#define NONE		UINT32_MAX
/* Spans of all threads during the wait; further ones are not followed. */
#define DID_MAX		(16U << 20)
#define STEPS_MAX	10000
/* Threads in the stack of a profile. */
#define DEPTH_MAX	60
#define FRAMES_SHOWN	3
#define LEAVES_MAX	5
/* So many of a thread's turns on a CPU stand alone, more in a sum. */
#define TURNS_TOLD	4
#define SUMS_SHOWN	8

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
 * @tid: likewise; below 0: any
 * @at: when, or -1
 * @at_offset: @at is since the trace began
 * @from: of the region, or INT64_MIN
 * @until: of it, or INT64_MAX
 * @known: there is such a thread
 * @ended: the wait ends within the trace
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
	int64_t from;
	int64_t until;
	bool known;
	bool ended;
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
	       state != THREAD_LOST && state != THREAD_SYSCALL;
}

/* Waits of threads that have nothing to do. */
static bool is_idle(enum thread_state state)
{
	return state == THREAD_SLEEP || state == THREAD_POLL || state == THREAD_SIGNAL ||
	       state == THREAD_STOPPED || state == THREAD_KERNEL;
}

static bool is_any(const struct wait_chain *w)
{
	return !w->who && w->tid < 0;
}

static bool is_meant(const struct wait_chain *w, const struct thread_spans *v, uint32_t thread)
{
	/* The recorder's own threads are no answer to anything. */
	if (is_any(w))
		return strncmp(thread_spans_name(v, thread), "gprof", 5);
	return w->who ? !strcmp(thread_spans_name(v, thread), w->who) :
			thread_spans_tid(v, thread) == w->tid;
}

/* Where any will do, one that goes on at the end of the trace may be of an idle server. */
static bool is_longer(const struct wait_chain *w, const struct span *s)
{
	bool ended = !s->goes_on;

	if (w->thread == NONE)
		return true;
	if (is_any(w) && ended != w->ended)
		return ended;
	return s->end - s->begin > w->end - w->begin;
}

static bool is_longest(const struct wait_chain *w, const struct thread_spans *v,
		       const struct span *s)
{
	int64_t at = w->at;

	if (!is_wait(s->state) || !is_longer(w, s) || (is_any(w) && is_idle(s->state)) ||
	    s->end <= w->from || s->begin >= w->until)
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
	w->ended = !s->goes_on;
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
	printf("%" PRId64 " ", thread_spans_tid(&w->thread_spans, thread));
	text_plain(stdout, thread_spans_name(&w->thread_spans, thread));
}

bool wait_chain_place(const struct gprof_frame *frames, size_t nr, struct wait_place *p)
{
	size_t user = thread_state_kernel_frames(frames, nr), i = 0;

	/* All threads stop in schedule(), and its callees. */
	for (size_t leaf = 0; leaf < nr && leaf < LEAVES_MAX; leaf++)
		if (!strcmp(frames[leaf].function, "schedule") ||
		    !strcmp(frames[leaf].function, "__schedule"))
			i = leaf + 1;
	/* A place of a library that has no name says less than its caller. */
	while (user && user + 1 < nr && strstr(frames[user].function, "+0x"))
		user++;
	p->in_kernel = user && user < nr ? (long)i : -1;
	p->begin = p->in_kernel < 0 ? i : user;
	p->end = nr - p->begin < FRAMES_SHOWN ? nr : p->begin + FRAMES_SHOWN;
	return i < nr;
}

static void print_place(struct wait_chain *w, uint32_t stack)
{
	struct gprof_frame frames[GPROF_TRACE_FRAMES_MAX];
	size_t nr = trace_stacks_frames(&w->thread_spans.stacks, stack, frames);
	struct wait_place p;

	if (!wait_chain_place(frames, nr, &p))
		return;
	for (size_t i = p.begin; i < p.end; i++) {
		fputs(i > p.begin ? " < " : "  in ", stdout);
		text_plain(stdout, frames[i].function);
	}
	if (p.in_kernel < 0)
		return;
	fputs(" (kernel: ", stdout);
	text_plain(stdout, frames[p.in_kernel].function);
	putchar(')');
}

const char *wait_chain_ended(const struct thread_spans *v, enum wait_chain_end end)
{
	static const char *const ended[] = {
		[WAIT_CHAIN_WOKEN] = "until an interrupt, or a task that was not recorded (-a "
				     "records all), wakes it",
		[WAIT_CHAIN_TRACE_ENDS] = "until the trace ends",
		[WAIT_CHAIN_LOST] = "and how that ends is not known, as events are missing",
	};

	if (end != WAIT_CHAIN_WOKEN)
		return ended[end];
	if (v->go)
		return "until the runtime wakes it";
	return v->recorded.whole_host ? "until an interrupt (a timer, a device) wakes it" : ended[end];
}

static const char *how_ended(const struct wait_chain *w, const struct step *s)
{
	enum wait_chain_end end = WAIT_CHAIN_LOST;

	if (!s->open)
		end = WAIT_CHAIN_WOKEN;
	else if (s->end == w->thread_spans.end)
		end = WAIT_CHAIN_TRACE_ENDS;
	return wait_chain_ended(&w->thread_spans, end);
}

const char *wait_chain_words(enum thread_state state)
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
		[THREAD_SYSCALL] = "is in a system call",
		[THREAD_CHAN] = "waits for a channel",
		[THREAD_SELECT] = "waits for one of several channels",
		[THREAD_SYNC] = "waits for a lock or condition of package sync",
		[THREAD_NETWORK] = "waits for a connection",
		[THREAD_GC] = "waits for the garbage collector",
		[THREAD_RUNTIME] = "waits for work of Go's runtime",
		[THREAD_OTHER] = "waits",
		[THREAD_NOT_RECORDED] = "waits, for an unknown reason",
		[THREAD_LOST] = "is in an unknown state, as events are missing",
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

static void print_region(const struct wait_chain *w, const char *name)
{
	char length[DURATION_TEXT];

	fputs("region ", stdout);
	text_plain(stdout, name);
	printf(": the longest took %s, from %.6f to %.6f s; its longest wait:\n",
	       duration_text(w->until - w->from, length), (double)w->from / 1e9,
	       (double)w->until / 1e9);
}

static void print_step(struct wait_chain *w, const struct step *s)
{
	printf("%12.3f ms  ", (double)(s->end - s->begin) / 1e6);
	print_thread(w, s->thread);
	printf(" %s", wait_chain_words(s->state));
	print_place(w, s->stack);
	putchar('\n');
	if (is_wait(s->state))
		printf("                 %s\n", how_ended(w, s));
}

static bool is_turn(const struct wait_chain *w, size_t i, uint32_t depth)
{
	const struct step *s = &w->steps[i];

	return s->depth == depth && (s->state == THREAD_CPU || s->state == THREAD_RUNNABLE);
}

/* The times of a thread that got and lost its CPU many times, in turn. */
static void print_turns(const struct wait_chain *w, size_t last, size_t first)
{
	static const enum thread_state states[] = { THREAD_CPU, THREAD_RUNNABLE };

	for (size_t j = 0; j < ARRAY_SIZE(states); j++) {
		int64_t ns = 0;
		size_t nr = 0;

		for (size_t i = first; i <= last; i++) {
			if (w->steps[i].state != (uint32_t)states[j])
				continue;
			ns += w->steps[i].end - w->steps[i].begin;
			nr++;
		}
		if (!nr)
			continue;
		printf("%12.3f ms  ", (double)ns / 1e6);
		print_thread(w, w->steps[first].thread);
		printf(" %s, %zu times in turn\n", wait_chain_words(states[j]), nr);
	}
}

/* A state of a thread, in sum. */
struct part {
	int64_t ns;
	int64_t tid;
	uint32_t thread;
	uint32_t state;
};

static int longest_first(const void *pa, const void *pb)
{
	const struct part *a = pa, *b = pb;

	if (a->ns != b->ns)
		return a->ns < b->ns ? 1 : -1;
	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	return (int)a->state - (int)b->state;
}

/* The answer in short, where the chain is long. */
static void print_sums(struct wait_chain *w)
{
	struct part *parts = xalloc(w->nr_steps + 1, sizeof(*parts));
	struct intern known = { 0 };
	size_t nr = 0;

	for (size_t i = 0; i < w->nr_steps; i++) {
		const struct step *s = &w->steps[i];
		const uint32_t key[] = { s->thread, s->state };
		size_t at = intern_add(&known, key, sizeof(key));

		if (at == nr)
			parts[nr++] = (struct part){
				.tid = thread_spans_tid(&w->thread_spans, s->thread),
				.thread = s->thread,
				.state = s->state,
			};
		parts[at].ns += s->end - s->begin;
	}
	qsort(parts, nr, sizeof(*parts), longest_first);
	puts("In sum:");
	for (size_t i = 0; i < nr && i < SUMS_SHOWN; i++) {
		printf("%12.3f ms %5.1f%%  ", (double)parts[i].ns / 1e6,
		       100 * (double)parts[i].ns / (double)(w->end - w->begin));
		print_thread(w, parts[i].thread);
		printf(" %s\n", wait_chain_words(parts[i].state));
	}
	if (nr > SUMS_SHOWN)
		printf("%15s and %zu more\n", "", nr - SUMS_SHOWN);
	puts("One behind the other:");
	free(parts);
	intern_free(&known);
}

/* In the order in which it happened: the steps are backwards. */
static void print_steps(struct wait_chain *w, size_t most)
{
	char length[DURATION_TEXT];
	size_t first, shown = 0;

	print_thread(w, w->thread);
	printf(" %s for %s, from %.6f to %.6f s\n", wait_chain_words(w->state),
	       duration_text(w->end - w->begin, length), (double)w->begin / 1e9,
	       (double)w->end / 1e9);
	if (w->nr_steps > SUMS_SHOWN)
		print_sums(w);
	for (size_t i = w->nr_steps; i-- > 0; i = first) {
		const struct step *s = &w->steps[i];

		if (most && shown++ == most) {
			printf("%15s and %zu more steps; -n 0 shows all\n", "", i + 1);
			break;
		}
		for (first = i; first > 0 && is_turn(w, i, s->depth) &&
				is_turn(w, first - 1, s->depth);)
			first--;
		if (i - first < TURNS_TOLD) {
			first = i;
			print_step(w, s);
		} else {
			print_turns(w, i, first);
		}
		if (!is_wait(s->state) && (!first || w->steps[first - 1].depth < s->depth))
			print_wakings(w, s->depth, first ? w->steps[first - 1].depth : 0);
	}
	if (w->cut)
		puts("What was before that cannot be followed in the trace.");
}

static void put_thread(struct json *j, const struct wait_chain *w, uint32_t thread)
{
	json_s64(j, "tid", thread_spans_tid(&w->thread_spans, thread));
	json_string(j, "comm", thread_spans_name(&w->thread_spans, thread));
}

static void put_step(struct json *j, struct wait_chain *w, const struct step *s)
{
	struct gprof_frame frames[GPROF_TRACE_FRAMES_MAX];
	size_t nr = trace_stacks_frames(&w->thread_spans.stacks, s->stack, frames);

	json_object(j, NULL);
	put_thread(j, w, s->thread);
	json_u64(j, "depth", s->depth);
	json_string(j, "state", thread_state_name(s->state));
	json_string(j, "text", wait_chain_words(s->state));
	json_s64(j, "begin_ns", s->begin);
	json_s64(j, "end_ns", s->end);
	if (is_wait(s->state))
		json_string(j, "ended", how_ended(w, s));
	json_array(j, "stack");
	for (size_t i = 0; i < nr; i++)
		json_string(j, NULL, frames[i].function);
	json_end(j);
	json_end(j);
}

static void print_json(struct wait_chain *w, const char *file, const char *region)
{
	struct json j = { 0 };

	json_open(&j, stdout, "why");
	put_thread(&j, w, w->thread);
	json_string(&j, "state", thread_state_name(w->state));
	json_string(&j, "text", wait_chain_words(w->state));
	json_s64(&j, "begin_ns", w->begin);
	json_s64(&j, "end_ns", w->end);
	json_bool(&j, "whole", !w->cut);
	if (region) {
		json_object(&j, "region");
		json_string(&j, "name", region);
		json_s64(&j, "begin_ns", w->from);
		json_s64(&j, "end_ns", w->until);
		json_end(&j);
	}
	json_array(&j, "chain");
	for (size_t i = 0; i < w->nr_chain; i++) {
		json_object(&j, NULL);
		put_thread(&j, w, w->chain[i]);
		json_end(&j);
	}
	json_end(&j);
	json_array(&j, "steps");
	for (size_t i = w->nr_steps; i-- > 0;)
		put_step(&j, w, &w->steps[i]);
	json_end(&j);
	json_lost_events(&j, file, w->thread_spans.lost);
	json_close(&j);
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
		struct gprof_frame frames[GPROF_TRACE_FRAMES_MAX + DEPTH_MAX + 1];
		size_t nr = trace_stacks_frames(&w->thread_spans.stacks, s->stack, frames);
		const size_t most = nr + DEPTH_MAX;
		char reason[32];

		snprintf(reason, sizeof(reason), "[%s]", thread_state_name(s->state));
		frames[nr++] = (struct gprof_frame){ .function = reason };
		/* The waiter is the root, and those in the middle may be left out. */
		for (size_t depth = s->depth + 1; depth-- > 0 && nr < most;) {
			const char *name = thread_spans_name(&w->thread_spans, w->chain[depth]);

			frames[nr++] = (struct gprof_frame){
				.function = *name ? name : "[no name]",
			};
			if (nr == most - 1 && depth)
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

/* The region takes the place of a thread. */
static int find_region(struct wait_chain *w, const char *file, const char *name)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC), status;
	struct gprof_trace *t;
	struct region found;

	if (fd < 0)
		return fail("%s cannot be opened (%s)", file, strerror(errno));
	t = gprof_trace_new(fd, NULL);
	status = t ? regions_longest(t, file, name, &found) : file_not_opened(file, fd, FILE_TRACE);
	gprof_trace_free(t);
	close(fd);
	if (status != STATUS_OK)
		return status;
	w->tid = found.thread;
	w->from = found.begin;
	w->until = found.end;
	return STATUS_OK;
}

static int parse(struct wait_chain *w, const char *file, const struct wait_question *q)
{
	unsigned long long tid;

	w->at = w->tid = -1;
	w->from = INT64_MIN;
	w->until = INT64_MAX;
	w->thread = NONE;
	w->who = q->thread;
	if (q->thread && parse_count(q->thread, &tid)) {
		w->who = NULL;
		w->tid = (int64_t)tid;
	}
	if (!strcmp(file, "-"))
		return misused("the chain of a wait needs the trace twice, which stdin cannot be");
	if (q->region)
		return find_region(w, file, q->region);
	if (!q->at)
		return STATUS_OK;
	w->at_offset = *q->at == '+';
	if (!duration_parse(q->at + w->at_offset, &w->at))
		return misused("--at wants a time of the trace in seconds, such as 54.406, or one "
			       "since it began, such as +1.5, not \"%s\"", q->at);
	return STATUS_OK;
}

static int not_found(const struct wait_chain *w, const char *file, const struct wait_question *q)
{
	const char *name = trace_source_told(file);

	if (!thread_spans_nr(&w->thread_spans))
		return thread_spans_report_none(file);
	if (q->region)
		return fail("the longest region \"%s\" in %s, of thread %" PRId64 " and %.3f ms, has "
			    "no wait", q->region, name, w->tid, (double)(w->until - w->from) / 1e6);
	if (q->at)
		return fail("%s%s at %s in %s, which is from %.6f to %.6f s",
			    q->thread ? q->thread : "no thread",
			    q->thread ? " does not wait" : " waits", q->at, name, (double)w->thread_spans.begin / 1e9,
			    (double)w->thread_spans.end / 1e9);
	if (!q->thread)
		return fail("in %s no thread waits, but for those that sleep, poll or wait for a "
			    "signal; --thread chooses one", name);
	if (!w->known && name != file)
		return fail("%s has no event of a thread \"%s\"; of one that waits all the time gprofctl "
			    "task tells", name, q->thread);
	if (!w->known)
		return fail("%s has no thread \"%s\"; gprofctl wall %s lists them", file, q->thread,
			    file);
	return fail("%s never waits in %s", q->thread, name);
}

int wait_chain_print(const char *file, const struct wait_question *q, const char *output)
{
	struct wait_chain w = { 0 };
	int status = parse(&w, file, q);

	if (status == STATUS_OK) {
		w.thread_spans.use = (struct thread_spans_ops){ .ctx = &w, .span = find_wait };
		w.thread_spans.takes_go = true;
		status = thread_spans_read(&w.thread_spans, file);
	}
	if (status == STATUS_OK && w.thread == NONE)
		status = not_found(&w, file, q);
	thread_spans_free(&w.thread_spans);
	if (status != STATUS_OK)
		return status;
	/* Threads have the numbers that they had. */
	w.thread_spans = (struct thread_spans){
		.use = { .ctx = &w, .span = note },
		.quiet = true,
		.takes_go = true,
	};
	status = thread_spans_read(&w.thread_spans, file);
	if (status == STATUS_OK) {
		follow(&w);
		thread_spans_report(&w.thread_spans, file);
		if (output) {
			status = write_steps(&w, output);
		} else if (q->json) {
			print_json(&w, file, q->region);
		} else {
			if (q->region)
				print_region(&w, q->region);
			print_steps(&w, q->most);
		}
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
