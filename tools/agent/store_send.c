// SPDX-License-Identifier: GPL-2.0-only
/*
 * The next item of a store to send, and its result.
 */
#include "store.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "store_hours.h"

static uint64_t waiting_in(const struct hour *h, unsigned int forms)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < ITEM_FORMS; i++)
		sum += forms >> i & 1 ? h->waiting[i] : 0;
	return sum;
}

static struct hour *oldest_waiting(struct store *s, unsigned int forms)
{
	struct hour *oldest = NULL;

	for (size_t i = 0; i < s->nr_hours; i++)
		if (waiting_in(&s->hours[i], forms) && s->hours[i].round != s->round &&
		    (!oldest || store_begin_of(s, &s->hours[i]) < store_begin_of(s, oldest)))
			oldest = &s->hours[i];
	return oldest;
}

/* The next that waits, of those that were listed; they may be gone since. */
static const struct item_name *from_queue(struct store *s)
{
	while (s->queue.at < s->queue.nr) {
		const struct item_name *n = &s->queue.v[s->queue.at++];

		if (n->state != ITEM_KEPT && s->queue_forms >> n->form & 1 &&
		    !quarantine_is(&s->quarantine, n->id, s->boot_ns))
			return n;
	}
	return NULL;
}

static const struct item_name *next_waiting(struct store *s, unsigned int forms)
{
	const struct item_name *n;
	struct hour *h;
	int err;

	if (s->queue_forms != forms)
		s->queue.nr = s->queue.at = 0;
	s->queue_forms = forms;
	/* An hour is listed once: some of its waiting items may be in quarantine. */
	s->round++;
	while (!(n = from_queue(s)) && (h = oldest_waiting(s, forms))) {
		err = store_list_hour(s, h, &s->queue);
		h->round = s->round;
		if (err)
			store_failed(s, err, "an hour of it cannot be read");
	}
	return n;
}

/* An item under its next name: where that fails nothing is sent until it does not. */
static int settle(struct store *s)
{
	int err;

	if (!s->answered)
		return 0;
	err = store_dir_rename(&s->dir, &s->before, &s->after);
	if (err && err != -ENOENT)
		return store_failed(s, err, "what was sent cannot be noted");
	s->answered = false;
	s->sending = 0;
	return 0;
}

/* It may be sent from now on: that is to be known however this process ends. */
static int begin_sending(struct store *s, struct item_name *n)
{
	struct item_name tried = store_counted_form(s, n);
	int err = 0;

	tried.state = ITEM_TRIED;
	if (n->state != ITEM_TRIED || n->parts != tried.parts)
		err = store_dir_rename(&s->dir, n, &tried);
	if (!err)
		*n = tried;
	return err;
}

static int read_item(struct store *s, struct store_next *next)
{
	char name[HOUR_NAME];
	int hour, err;

	hour_name(next->name.start_ns, name);
	hour = store_dir_hour(&s->dir, name, false);
	if (hour < 0)
		return hour;
	err = store_dir_read(hour, &next->name, &next->data, &next->size);
	close(hour);
	return err;
}

/* Returns whether it can be sent. */
static bool prepare_item(struct store *s, struct store_next *next)
{
	struct hour *h = store_find_hour(s, &next->name);
	int err = read_item(s, next);
	bool read = !err;

	if (!err)
		err = begin_sending(s, &next->name);
	if (!err) {
		s->sending = next->name.id;
		next->profile = profile_cache_get(&s->profile_cache, next->name.id);
		return true;
	}
	free(next->data);
	next->data = NULL;
	if (err == -EBADMSG && h) {
		store_damaged(s, &next->name);
		if (store_remove_item(s, h, &next->name))
			quarantine_put(&s->quarantine, next->name.id, next->name.form, s->boot_ns);
	} else if (err != -ENOENT) {
		s->queue.nr = s->queue.at = 0;	/* it comes first again */
		/* but for one that cannot be read: others may be */
		if (!read)
			quarantine_put(&s->quarantine, next->name.id, next->name.form, s->boot_ns);
		store_failed(s, err, "an item cannot be sent");
	}
	return false;
}

bool store_next(struct store *s, unsigned int forms, struct store_next *next)
{
	const struct item_name *n;
	bool found = false;

	*next = (struct store_next){ 0 };
	pthread_mutex_lock(&s->lock);
	store_check_clock(s);
	if (!store_restore_dir(s) && !settle(s)) {
		/* A damaged or missing item costs itself alone. */
		while (!found && (n = next_waiting(s, forms))) {
			uint64_t failures = s->counts.failures;

			next->name = *n;
			found = prepare_item(s, next);
			if (s->counts.failures != failures)
				break;
		}
	}
	store_unlock(s);
	return found;
}

static uint64_t at_most(uint64_t n, uint64_t most)
{
	return n < most ? n : most;
}

void store_answer(struct store *s, struct store_next *next, const struct send_result *out)
{
	struct store_counts *c = &s->counts;
	struct item_name *n = &next->name;
	uint64_t rest = hour_rest_of(n), sent, refused;
	struct hour *h;

	pthread_mutex_lock(&s->lock);
	h = s->sending == n->id ? store_find_hour(s, n) : NULL;
	if (h) {
		sent = at_most(out->sent_samples, rest);
		refused = at_most(out->refused_samples, rest - sent);
		/* For samples without a number the answer as a whole counts. */
		if (out->result == SENT_ALL)
			sent = rest - refused;
		else if (out->result == SENT_NEVER)
			refused = rest - sent;
		s->before = s->after = *n;
		s->after.parts = out->sent_parts;
		s->after.of = out->sent_parts ? s->o.parts[n->form] : 0;
		s->after.taken += sent + refused;
		s->after.state = out->result == SENT_LATER ? ITEM_WAITS : ITEM_KEPT;
		c->samples.sent += sent;
		c->samples.refused += refused;
		c->samples.waiting -= sent + refused;
		h->rest[n->form] -= at_most(sent + refused, h->rest[n->form]);
		c->unsure += at_most(out->unsure_samples, rest - sent - refused);
		if ((out->result == SENT_ALL || out->sent_samples) &&
		    quarantine_accepted(&s->quarantine, n->form))
			s->queue.nr = s->queue.at = 0;
		if (s->after.state == ITEM_KEPT) {
			c->items.waiting--;
			h->waiting[n->form] -= !!h->waiting[n->form];
			if (out->result == SENT_ALL)
				c->items.sent++;
			else
				c->items.refused++;
			quarantine_forget(&s->quarantine, n->id);
		} else {
			if (out->reached)
				quarantine_tried(&s->quarantine, n->id, n->form, s->boot_ns);
			/* it comes first again */
			s->queue.nr = s->queue.at = 0;
		}
		s->answered = true;
		settle(s);
	}
	store_unlock(s);
	free(next->data);
	next->data = NULL;
	gprof_profile_free(next->profile);
	next->profile = NULL;
}
