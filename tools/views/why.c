// SPDX-License-Identifier: GPL-2.0-only
/*
 * Why a thread waited: the chain of who it waited for.
 *
 * Backwards from the end of the wait: whoever ended it was running then; before that it
 * may have been runnable, or have waited itself, for whoever ended that. So all of the
 * wait is divided among those who were to blame for it, one behind the other.
 */
#include "why.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmd.h"
#include "cli/duration.h"
#include "cli/options.h"
#include "cli/say.h"
#include "cli/text.h"
#include "lives.h"
#include "trace_profile.h"

#define NONE		UINT32_MAX
/* Stretches of all threads during the wait; what is more is not followed. */
#define DID_MAX		(16U << 20)
#define STEPS_MAX	10000
/* Threads in the stack of a profile. */
#define DEPTH_MAX	60
#define FRAMES_SHOWN	3
#define LEAVES_MAX	5

/**
 * struct did - what a thread did during the wait
 * @begin: ns
 * @end: ns
 * @life: thread
 * @part: it did
 * @stack: number of where
 * @waker: who ended it, or LIVES_NONE
 * @before: what it did before, or NONE
 * @open: it did not end with @end, but what came then is not known
 */
struct did {
	int64_t begin;
	int64_t end;
	uint32_t life;
	uint32_t part;
	uint32_t stack;
	uint32_t waker;
	uint32_t before;
	bool open;
};

/* A piece of the wait, and @depth: over how many wakers it lies. */
struct step {
	int64_t begin;
	int64_t end;
	uint32_t life;
	uint32_t part;
	uint32_t stack;
	uint32_t depth;
	bool open;
};

/**
 * struct why - the question, and what was found
 * @lives: of the threads
 * @who: name, or NULL for one with @tid
 * @tid: likewise
 * @at: when, or -1
 * @at_offset: @at is since the trace began
 * @known: there is such a thread
 * @begin: of the wait
 * @end: of it
 * @life: whose it is; NONE: there is none
 * @part: why it waited
 * @did: during the wait
 * @nr: how many
 * @room: of @did
 * @last: what each thread did last, by index
 * @nr_last: how many
 * @cut: there was more than is followed
 * @steps: the answer, backwards
 * @nr_steps: how many
 * @room_steps: of them
 * @chain: of each depth who it is
 */
struct why {
	struct lives lives;
	const char *who;
	int64_t tid;
	int64_t at;
	bool at_offset;
	bool known;
	int64_t begin;
	int64_t end;
	uint32_t life;
	enum part part;
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

static bool is_wait(enum part part)
{
	return part != PART_CPU && part != PART_RUNNABLE && part != PART_THROTTLED &&
	       part != PART_LOST;
}

static bool is_meant(const struct why *w, const struct lives *v, uint32_t life)
{
	return w->who ? !strcmp(lives_name(v, life), w->who) :
			LIVES_TID(v->all[life].id) == w->tid;
}

static bool is_longest(const struct why *w, const struct lives *v, const struct stretch *s)
{
	int64_t at = w->at;

	if (!is_wait(s->part) || (w->life != NONE && s->end - s->begin <= w->end - w->begin))
		return false;
	if (w->at_offset && __builtin_add_overflow(at, v->begin, &at))
		at = INT64_MAX;
	return w->at < 0 || (at >= s->begin && at < s->end);
}

/* The first reading finds the wait. Of most stretches it does not matter whose they are. */
static void find_wait(void *ctx, struct lives *v, const struct stretch *s)
{
	struct why *w = ctx;
	bool longest = is_longest(w, v, s);

	if ((w->known && !longest) || !is_meant(w, v, s->life))
		return;
	w->known = true;
	if (!longest)
		return;
	w->life = s->life;
	w->begin = s->begin;
	w->end = s->end;
	w->part = s->part;
}

static uint32_t *last_of(struct why *w, uint32_t life)
{
	while (w->nr_last <= life) {
		w->last = xgrow(w->last, w->nr_last, &w->room_last, sizeof(*w->last));
		w->last[w->nr_last++] = NONE;
	}
	return &w->last[life];
}

/* The second one notes what all did meanwhile. */
static void note(void *ctx, struct lives *v, const struct stretch *s)
{
	struct why *w = ctx;
	uint32_t *last;

	if (s->end <= w->begin || s->begin >= w->end)
		return;
	if (w->nr == DID_MAX) {
		w->cut = true;
		return;
	}
	last = last_of(w, s->life);
	w->did = xgrow(w->did, w->nr, &w->room, sizeof(*w->did));
	w->did[w->nr] = (struct did){
		.begin = s->begin, .end = s->end, .life = s->life, .part = s->part,
		.stack = s->stack, .waker = s->waker, .before = *last,
		.open = s->goes_on || v->over,
	};
	*last = (uint32_t)w->nr++;
}

/* What a thread did just before @time, which is never later than the time before. */
static const struct did *did_before(struct why *w, uint32_t life, int64_t time)
{
	uint32_t *last = last_of(w, life), i = *last;

	while (i != NONE && w->did[i].begin >= time)
		i = w->did[i].before;
	*last = i;
	return i == NONE ? NULL : &w->did[i];
}

static void add_step(struct why *w, const struct did *d, int64_t end)
{
	w->steps = xgrow(w->steps, w->nr_steps, &w->room_steps, sizeof(*w->steps));
	w->steps[w->nr_steps++] = (struct step){
		.begin = d->begin > w->begin ? d->begin : w->begin, .end = end, .life = d->life,
		.part = d->part, .stack = d->stack, .depth = (uint32_t)w->nr_chain - 1,
		.open = d->open,
	};
}

static void push(struct why *w, uint32_t life)
{
	w->chain = xgrow(w->chain, w->nr_chain, &w->room_chain, sizeof(*w->chain));
	w->chain[w->nr_chain++] = life;
}

static void follow(struct why *w)
{
	int64_t time = w->end;

	push(w, w->life);
	while (time > w->begin && w->nr_steps < STEPS_MAX && w->nr_chain < STEPS_MAX) {
		const struct did *d = did_before(w, w->chain[w->nr_chain - 1], time);

		if (!d || (d->end < time && is_wait(d->part)))
			break;
		if (is_wait(d->part) && d->waker != LIVES_NONE && did_before(w, d->waker, time)) {
			push(w, d->waker);
			continue;
		}
		add_step(w, d, time);
		time = d->begin;
		/* Nor is it known whether what it did before had to do with it. */
		if (d->part == PART_LOST)
			break;
	}
	if (time > w->begin)
		w->cut = true;
}

static void print_thread(const struct why *w, uint32_t life)
{
	printf("%" PRId64 " ", LIVES_TID(w->lives.all[life].id));
	text_plain(stdout, lives_name(&w->lives, life));
}

static void print_place(struct why *w, uint32_t stack)
{
	struct gprof_frame frames[GPROF_TRACE_FRAMES_MAX];
	size_t nr = trace_stacks_frames(&w->lives.stacks, stack, frames), i = 0;

	/* Everybody stops in schedule(), and what that calls. */
	for (size_t leaf = 0; leaf < nr && leaf < LEAVES_MAX; leaf++)
		if (!strcmp(frames[leaf].function, "schedule") ||
		    !strcmp(frames[leaf].function, "__schedule"))
			i = leaf + 1;
	for (size_t shown = 0; i < nr && shown < FRAMES_SHOWN; i++, shown++) {
		fputs(shown ? " < " : "  in ", stdout);
		text_plain(stdout, frames[i].function);
	}
}

static const char *how_ended(const struct why *w, const struct step *s)
{
	if (!s->open)
		return "until an interrupt, or a task that was not recorded (-a records all), wakes it";
	return s->end == w->lives.end ? "until the trace ends" :
					"and how that ends is not known, as events were lost";
}

static const char *words(enum part part)
{
	static const char *const does[NR_PARTS] = {
		[PART_CPU] = "runs",
		[PART_RUNNABLE] = "is runnable, and has no CPU",
		[PART_THROTTLED] = "is throttled with its cgroup",
		[PART_SLEEP] = "sleeps",
		[PART_IO] = "waits for a disk",
		[PART_FUTEX] = "waits for a futex",
		[PART_PIPE] = "waits for a pipe",
		[PART_SOCKET] = "waits for a socket",
		[PART_POLL] = "polls",
		[PART_FAULT] = "waits for a page",
		[PART_RECLAIM] = "waits for memory",
		[PART_LOCK] = "waits for a lock of the kernel",
		[PART_CHILD] = "waits for a child",
		[PART_SIGNAL] = "waits for a signal",
		[PART_STOPPED] = "is stopped",
		[PART_UNINTERRUPTIBLE] = "waits in the kernel, where no signal ends it",
		[PART_KERNEL] = "waits for work",
		[PART_OTHER] = "waits",
		[PART_UNTOLD] = "waits, it is not told for what",
		[PART_LOST] = "does what is not known, as events were lost",
	};

	return does[part];
}

/* Who was woken one by the other: of those in between nothing else is told. */
static void print_wakings(const struct why *w, size_t depth, size_t until)
{
	for (; depth > until; depth--) {
		fputs("                 and wakes ", stdout);
		print_thread(w, w->chain[depth - 1]);
		putchar('\n');
	}
}

/* In the order in which it happened. */
static void print_steps(struct why *w)
{
	char length[DURATION_TEXT];

	print_thread(w, w->life);
	printf(" %s for %s, from %.6f to %.6f s\n", words(w->part),
	       duration_text(w->end - w->begin, length), (double)w->begin / 1e9,
	       (double)w->end / 1e9);
	for (size_t i = w->nr_steps; i-- > 0;) {
		const struct step *s = &w->steps[i];

		printf("%12.3f ms  ", (double)(s->end - s->begin) / 1e6);
		print_thread(w, s->life);
		printf(" %s", words(s->part));
		print_place(w, s->stack);
		putchar('\n');
		if (is_wait(s->part))
			printf("                 %s\n", how_ended(w, s));
		else if (!i || w->steps[i - 1].depth < s->depth)
			print_wakings(w, s->depth, i ? w->steps[i - 1].depth : 0);
	}
	if (w->cut)
		puts("What was before that cannot be followed in the trace.");
}

static int write_steps(struct why *w, const char *output)
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

		snprintf(reason, sizeof(reason), "[%s]", part_name(s->part));
		frames[nr++] = (struct gprof_frame){ .function = reason };
		/* Who waited is the root, and those in the middle may be left out. */
		for (size_t depth = s->depth + 1; depth-- > 0 && nr < DEPTH_MAX;) {
			const char *name = lives_name(&w->lives, w->chain[depth]);

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

static int parse(struct why *w, const char *who, const char *at)
{
	unsigned long long tid;

	w->at = -1;
	w->life = NONE;
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

static int not_found(const struct why *w, const char *file, const char *who, const char *at)
{
	if (!w->known)
		return fail("%s has no thread \"%s\"; gprofctl wall %s lists them", file, who, file);
	if (at)
		return fail("%s does not wait at %s in %s, which is from %.6f to %.6f s", who, at,
			    file, (double)w->lives.begin / 1e9, (double)w->lives.end / 1e9);
	return fail("%s never waits in %s", who, file);
}

int why_print(const char *file, const char *who, const char *at, const char *output)
{
	struct why w = { 0 };
	int status = parse(&w, who, at);

	if (status == STATUS_OK && !strcmp(file, "-"))
		status = misused("--why reads the trace twice, which stdin cannot be");
	if (status == STATUS_OK) {
		w.lives.use = (struct lives_use){ .ctx = &w, .stretch = find_wait };
		status = lives_read(&w.lives, file);
	}
	if (status == STATUS_OK && w.life == NONE)
		status = not_found(&w, file, who, at);
	lives_free(&w.lives);
	if (status != STATUS_OK)
		return status;
	/* Threads have the numbers that they had. */
	w.lives = (struct lives){
		.use = { .ctx = &w, .stretch = note },
		.quiet = true,
	};
	status = lives_read(&w.lives, file);
	if (status == STATUS_OK) {
		follow(&w);
		lives_tell(&w.lives, file);
		if (output)
			status = write_steps(&w, output);
		else
			print_steps(&w);
	}
	if (status == STATUS_OK)
		status = finish_stdout();
	lives_free(&w.lives);
	free(w.did);
	free(w.last);
	free(w.steps);
	free(w.chain);
	return status;
}
