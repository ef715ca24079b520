// SPDX-License-Identifier: GPL-2.0-only
/*
 * A thread that sends a store's waiting items to engines.
 */
#include "sender.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "backoff.h"
#include "base/clock.h"
#include "cli/cmd.h"
#include "cli/diag.h"
#include "helper_thread.h"

#define SECOND_NS	1000000000ULL
#define IDLE_NS		(10 * SECOND_NS)	/* the disk may work again then */
/* Engines' words may have a number of each request in them, and a time in each failure. */
#define REPEAT_NS	(600 * SECOND_NS)

/**
 * struct receiver - an engine
 * @engine: it
 * @forms: of items that it is given, as bits
 * @failures: in a row
 * @until_ns: it is not asked before, CLOCK_MONOTONIC
 * @why: its last sentence that was said
 * @why_of: status that it was about
 * @why_ns: when, CLOCK_MONOTONIC
 * @reported: nothing better was said since
 */
struct receiver {
	struct engine *engine;
	unsigned int forms;
	unsigned int failures;
	uint64_t until_ns;
	char why[sizeof(((struct send_result *)0)->why)];
	enum send_status why_of;
	uint64_t why_ns;
	bool reported;
};

/**
 * struct sender - the thread
 * @store: from which
 * @to: receivers
 * @nr: how many
 * @helper: the thread; its lock protects all below
 * @is_new: there is
 * @stopping: it is to end
 * @all: ... when nothing more is taken
 * @end_ns: but not later than that, CLOCK_MONOTONIC
 * @ended: it has
 * @give_up: the engines have to end their work; or NULL
 * @counts: counts of tries
 */
struct sender {
	struct store *store;
	struct receiver to[SENDER_ENGINES];
	size_t nr;
	struct helper_thread helper;
	bool is_new, stopping, all, ended;
	uint64_t end_ns;
	atomic_bool *give_up;
	struct sender_counts counts;
};

static uint32_t chance(void)
{
	uint32_t n;

	if (getrandom(&n, sizeof(n), 0) != sizeof(n))
		n = (uint32_t)now_ns() * 2654435761U;
	return n;
}

/* A sentence once, and another about the same after some minutes: a log is not to be filled. */
static bool was_reported(const struct receiver *to, const struct send_result *out, uint64_t now)
{
	if (!to->why[0] || out->result != to->why_of)
		return false;
	return now - to->why_ns < REPEAT_NS ||
	       (to->reported && !strncmp(to->why, out->why, sizeof(to->why)));
}

static void report(struct receiver *to, const struct send_result *out)
{
	bool well = out->result == SENT_ALL && !out->refused_samples;
	uint64_t now = now_ns();

	if (well && to->failures && to->reported) {
		diag("%s takes items again", to->engine->name);
		to->reported = false;
	}
	/* One that takes it may warn. */
	if ((well && !out->why[0]) || was_reported(to, out, now))
		return;
	snprintf(to->why, sizeof(to->why), "%s", out->why);
	to->why_of = out->result;
	to->why_ns = now;
	to->reported = true;
	diag("%s: %s%s", to->engine->name, to->why, well ? "" : out->result == SENT_LATER ?
	    "; new items wait in the store" : "; refused samples are counted");
}

static void note(struct sender *s, struct receiver *to, const struct send_result *out)
{
	pthread_mutex_lock(&s->helper.lock);
	s->counts.tries++;
	s->counts.bytes += out->bytes;
	report(to, out);
	if (out->result == SENT_LATER) {
		to->failures++;
		s->counts.later++;
		to->until_ns = now_ns() + backoff_ns(to->failures, out->retry_after_ms, chance());
	} else {
		to->failures = 0;
		s->counts.never += out->result == SENT_NEVER;
	}
	if (out->result == SENT_ALL)
		s->counts.taken_ns = clock_now_ns(CLOCK_REALTIME);
	else
		s->counts.failed_ns = clock_now_ns(CLOCK_REALTIME);
	pthread_mutex_unlock(&s->helper.lock);
}

/* Forms that receivers take now, and when more: those in backoff are left out. */
static unsigned int wanted(const struct sender *s, uint64_t *until)
{
	uint64_t now = now_ns();
	unsigned int forms = 0;

	*until = now + IDLE_NS;
	for (size_t i = 0; i < s->nr; i++) {
		if (!s->to[i].failures || s->to[i].until_ns <= now)
			forms |= s->to[i].forms;
		else if (s->to[i].until_ns < *until)
			*until = s->to[i].until_ns;
	}
	return forms;
}

/* Was there something? */
static bool send_one(struct sender *s, unsigned int forms)
{
	struct send_result out = { .result = SENT_LATER };
	struct receiver *to = s->to;
	struct store_next next;
	struct item item;

	if (!forms || !store_next(s->store, forms, &next))
		return false;
	item = (struct item){
		.form = next.name.form,
		.type = next.name.type,
		.host = next.name.host,
		.start_ns = next.name.start_ns,
		.duration_ns = next.name.duration_ns,
		.id = next.name.id,
		.samples = next.name.samples,
		.sent_parts = next.name.parts,
		.profile = next.profile,
	};
	while (!(to->forms >> item.form & 1))
		to++;
	to->engine->send(to->engine, &item, next.data, next.size, &out);
	note(s, to, &out);
	store_answer(s->store, &next, &out);
	return true;
}

/* Until there is something new, or @until; is it over? */
static bool wait_for(struct sender *s, uint64_t until)
{
	struct timespec t = { (time_t)(until / SECOND_NS), (long)(until % SECOND_NS) };
	bool over;

	pthread_mutex_lock(&s->helper.lock);
	while (!s->stopping && !s->is_new)
		if (pthread_cond_timedwait(&s->helper.wake, &s->helper.lock, &t))
			break;
	s->is_new = false;
	over = s->stopping;
	pthread_mutex_unlock(&s->helper.lock);
	return over;
}

static bool is_over(struct sender *s)
{
	bool over;

	pthread_mutex_lock(&s->helper.lock);
	over = s->stopping && (!s->all || now_ns() >= s->end_ns);
	pthread_mutex_unlock(&s->helper.lock);
	return over;
}

static void *run(void *arg)
{
	struct sender *s = arg;
	uint64_t until;

	while (!is_over(s))
		if (!send_one(s, wanted(s, &until)) && wait_for(s, until))
			break;
	/* The last items, as far as they are taken at once. */
	while (!is_over(s) && send_one(s, wanted(s, &until)))
		;
	pthread_mutex_lock(&s->helper.lock);
	s->ended = true;
	pthread_cond_broadcast(&s->helper.wake);
	pthread_mutex_unlock(&s->helper.lock);
	return NULL;
}

static void close_all(struct sender *s)
{
	for (size_t i = 0; i < s->nr; i++)
		s->to[i].engine->close(s->to[i].engine);
}

struct sender *sender_start(struct store *store, struct engine *const *engines, size_t nr,
			    atomic_bool *give_up, int *status)
{
	struct sender *s = xalloc(1, sizeof(*s));
	unsigned int forms = 0;
	int err;

	s->store = store;
	s->nr = nr;
	s->give_up = give_up;
	for (size_t i = 0; i < nr; i++) {
		s->to[i].engine = engines[i];
		s->to[i].forms = engines[i]->takes & ~forms;
		forms |= engines[i]->takes;
	}
	err = helper_thread_start(&s->helper, run, s);
	if (!err)
		return s;
	*status = fail("no thread that sends can be started: %s", strerror(err));
	close_all(s);
	free(s);
	return NULL;
}

void sender_wake(struct sender *s)
{
	if (!s)
		return;
	pthread_mutex_lock(&s->helper.lock);
	s->is_new = true;
	pthread_cond_signal(&s->helper.wake);
	pthread_mutex_unlock(&s->helper.lock);
}

void sender_stop(struct sender *s, bool all)
{
	struct timespec t;

	if (!s)
		return;
	pthread_mutex_lock(&s->helper.lock);
	s->stopping = true;
	s->all = all;
	s->end_ns = now_ns() + (all ? SENDER_END_NS : 0);
	t = (struct timespec){ (time_t)(s->end_ns / SECOND_NS), (long)(s->end_ns % SECOND_NS) };
	pthread_cond_broadcast(&s->helper.wake);
	while (!s->ended && !pthread_cond_timedwait(&s->helper.wake, &s->helper.lock, &t))
		;
	/* An item under way then waits in the store, as if there had been no response. */
	if (!s->ended && s->give_up)
		*s->give_up = true;
	pthread_mutex_unlock(&s->helper.lock);
	helper_thread_join(&s->helper);
	close_all(s);
	free(s);
}

void sender_counts(struct sender *s, struct sender_counts *out)
{
	pthread_mutex_lock(&s->helper.lock);
	*out = s->counts;
	pthread_mutex_unlock(&s->helper.lock);
}
