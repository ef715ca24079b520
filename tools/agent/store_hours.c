// SPDX-License-Identifier: GPL-2.0-only
/*
 * Contents of a store, and the removal of old items.
 *
 * How old an item is follows from the wall clock. When that is set, items of this process age as
 * if it always had been set so; an item of the future is never too old.
 */
#include "store_hours.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/cmd.h"
#include "cli/diag.h"
#include "store/rollup.h"

#define SECOND_NS	1000000000ULL
#define STEP_NS		(2 * SECOND_NS)
#define FUTURE_NS	(3600 * SECOND_NS)
#define PART		64	/* of the bound, so much more is removed than has to be */

/* ---- failures ---- */

int store_failed(struct store *s, int err, const char *what)
{
	s->counts.failures++;
	if (s->said != err)
		diag("the store %s: %s: %s; it goes on without, and counts dropped items",
		     s->o.dir, what, strerror(-err));
	s->said = err;
	s->well = 0;
	return err;
}

void store_damaged(struct store *s, const struct item_name *n)
{
	char name[ITEM_NAME];

	item_name_text(n, name);
	if (!s->counts.damaged++)
		diag("the store %s: %s is damaged, and is removed; others are counted",
		     s->o.dir, name);
}

/* ---- the clock ---- */

uint64_t store_check_clock(struct store *s)
{
	uint64_t real = clock_now_ns(CLOCK_REALTIME), boot = clock_now_ns(CLOCK_BOOTTIME);
	int64_t step = (int64_t)(real - s->real_ns) - (int64_t)(boot - s->boot_ns);
	bool first = !s->real_ns;

	s->real_ns = real;
	s->boot_ns = boot;
	if (first || (step < (int64_t)STEP_NS && step > -(int64_t)STEP_NS))
		return real;
	if (!s->counts.clock_steps++)
		diag("the wall clock was set %s by %" PRIu64
		     " s; what was recorded before keeps the "
		     "times that it has",
		     step < 0 ? "back" : "forward",
		     (uint64_t)((step < 0 ? -step : step) / (int64_t)SECOND_NS));
	for (size_t i = 0; i < s->nr_hours; i++)
		if (s->hours[i].ours)
			s->hours[i].shift_ns += step;
	return real;
}

/* ---- hours, and sums ---- */

uint64_t hour_rest_of(const struct item_name *n)
{
	return n->state == ITEM_KEPT ? 0 : n->samples - n->taken;
}

struct hour *store_find_hour(struct store *s, const struct item_name *n)
{
	char name[HOUR_NAME];
	size_t i;

	hour_name(n->start_ns, name);
	/* The last, nearly always. */
	for (i = s->nr_hours; i-- > 0;)
		if (!strcmp(s->hours[i].name, name))
			return &s->hours[i];
	return NULL;
}

struct hour *store_add_hour(struct store *s, const struct item_name *n)
{
	struct hour *h = store_find_hour(s, n);

	if (h)
		return h;
	s->hours = xgrow(s->hours, s->nr_hours, &s->room_hours, sizeof(*s->hours));
	h = &s->hours[s->nr_hours++];
	*h = (struct hour){ .oldest_ns = UINT64_MAX };
	hour_name(n->start_ns, h->name);
	return h;
}

struct item_name store_counted_form(const struct store *s, const struct item_name *n)
{
	struct item_name counted = *n;

	if (s->answered && n->id == s->sending) {
		counted = s->after;
	} else if (n->state != ITEM_KEPT && n->parts && s->o.parts[n->form] &&
		   n->of != s->o.parts[n->form]) {
		counted.parts = 0;
		counted.taken = 0;
		counted.of = 0;
	}
	return counted;
}

void store_add_file(struct store *s, struct hour *h, const struct item_name *n, uint64_t bytes)
{
	bool waits = n->state != ITEM_KEPT;

	h->bytes += bytes;
	h->files++;
	h->rollups += n->form == ITEM_ROLLUP;
	h->waiting[n->form] += waits;
	h->rest[n->form] += hour_rest_of(n);
	if (n->start_ns < h->oldest_ns)
		h->oldest_ns = n->start_ns;
	s->counts.bytes += bytes;
	s->counts.files++;
	s->counts.items.waiting += waits;
	s->counts.samples.waiting += hour_rest_of(n);
	if (n->id > s->last_id)
		s->last_id = n->id;
}

static uint64_t at_most(uint64_t n, uint64_t most)
{
	return n < most ? n : most;
}

/* A file is gone. The caller counts its waiting samples. */
static void uncount_file(struct store *s, struct hour *h, const struct item_name *n, uint64_t bytes)
{
	bool waits = n->state != ITEM_KEPT;
	uint64_t rest = hour_rest_of(n);

	h->bytes -= at_most(bytes, h->bytes);
	h->files -= !!h->files;
	h->rollups -= n->form == ITEM_ROLLUP && h->rollups;
	h->waiting[n->form] -= waits && h->waiting[n->form];
	h->rest[n->form] -= at_most(rest, h->rest[n->form]);
	s->counts.bytes -= at_most(bytes, s->counts.bytes);
	s->counts.files -= !!s->counts.files;
	s->counts.items.waiting -= waits;
	s->counts.samples.waiting -= rest;
}

/* So many wait now: missing ones are dropped, and unexpected ones have waited. */
static void now_wait(struct store_tally *t, uint64_t waiting)
{
	if (waiting < t->waiting)
		t->dropped += t->waiting - waiting;
	else
		t->waited += waiting - t->waiting;
	t->waiting = waiting;
}

/* Is it in the hour where it begins? Else its name is damaged. */
static bool is_of(const struct item_name *n, const char *hour)
{
	char name[HOUR_NAME];

	hour_name(n->start_ns, name);
	return !strcmp(name, hour);
}

/**
 * struct scan - store_scan() under way
 * @s: store
 * @name: hour
 * @hour: its directory
 * @first: nothing is known of the store before
 * @sending: the item under way is there
 */
struct scan {
	struct store *s;
	const char *name;
	int hour;
	bool first, sending;
};

static int scan_item(void *ctx, const struct item_name *n, uint64_t bytes)
{
	struct scan *l = ctx;
	struct store *s = l->s;
	struct item_name counted = store_counted_form(s, n);
	char name[ITEM_NAME];

	if (!is_of(n, l->name)) {
		item_name_text(n, name);
		store_damaged(s, n);
		unlinkat(l->hour, name, 0);
		return 0;
	}
	store_add_file(s, store_add_hour(s, n), &counted, bytes);
	l->sending |= n->id == s->sending;
	if (l->first && n->state == ITEM_TRIED)
		s->counts.unsure += hour_rest_of(&counted);
	else if (l->first)
		s->counts.unsure += hour_rest_of(&counted) - hour_rest_of(n);
	return 0;
}

static void scan_hour(struct scan *l, const char *name)
{
	int err = 0;

	l->name = name;
	l->hour = store_dir_hour(&l->s->dir, name, false);
	if (l->hour < 0)
		err = l->hour;
	else
		err = store_dir_each(l->hour, true, scan_item, l);
	if (err && err != -ENOENT)
		store_failed(l->s, err, "an hour of it cannot be read");
	if (l->hour >= 0)
		close(l->hour);
}

int store_scan(struct store *s, bool first)
{
	const struct store_tally items = s->counts.items, samples = s->counts.samples;
	struct scan l = { .s = s, .first = first };
	char (*names)[HOUR_NAME];
	ssize_t nr = store_dir_hours(&s->dir, &names);
	struct store_counts *c = &s->counts;
	uint64_t waiting[2];

	if (nr < 0)
		return (int)nr;
	s->nr_hours = 0;
	s->queue.nr = s->queue.at = 0;
	c->bytes = c->files = 0;
	c->items.waiting = c->samples.waiting = 0;
	for (ssize_t i = 0; i < nr; i++)
		scan_hour(&l, names[i]);
	free(names);
	waiting[0] = c->items.waiting;
	waiting[1] = c->samples.waiting;
	c->items.waiting = items.waiting;
	c->samples.waiting = samples.waiting;
	now_wait(&c->items, waiting[0]);
	now_wait(&c->samples, waiting[1]);
	/* The result of an item that is gone is of no interest any more. */
	if (!l.sending) {
		s->sending = 0;
		s->answered = false;
	}
	return 0;
}

/*
 * A removed directory is made anew. Its items wait until then: a disk that went may come back.
 */
int store_restore_dir(struct store *s)
{
	int err;

	if (store_dir_present(&s->dir))
		return 0;
	if (s->dir.fd >= 0)
		store_failed(s, -ESTALE, "it is no longer there");
	store_dir_close(&s->dir);
	s->dir.quiet = true;
	if (store_dir_own(&s->dir, s->o.dir) != STATUS_OK)
		return -ESTALE;
	err = store_scan(s, false);
	if (err)
		store_dir_close(&s->dir);
	return err;
}

/* ---- making room ---- */

static int by_age(const void *a, const void *b)
{
	const struct item_name *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

static int add_to_list(void *ctx, const struct item_name *n, uint64_t bytes)
{
	struct list *l = ctx;

	(void)bytes;
	l->v = xgrow(l->v, l->nr, &l->room, sizeof(*l->v));
	l->v[l->nr++] = *n;
	return 0;
}

/* Files of others are left alone. */
static void leave_out(struct list *l, const char *hour)
{
	size_t nr = 0;

	for (size_t i = 0; i < l->nr; i++)
		if (is_of(&l->v[i], hour))
			l->v[nr++] = l->v[i];
	l->nr = nr;
}

static void correct(struct store *s, struct hour *h, const struct list *l)
{
	uint64_t waiting[ITEM_FORMS] = { 0 }, rest[ITEM_FORMS] = { 0 };
	struct store_counts *c = &s->counts;
	uint64_t bytes = l->nr ? h->bytes : 0;

	h->rollups = 0;
	for (size_t i = 0; i < l->nr; i++) {
		const struct item_name n = store_counted_form(s, &l->v[i]);

		h->rollups += n.form == ITEM_ROLLUP;
		waiting[n.form] += n.state != ITEM_KEPT;
		rest[n.form] += hour_rest_of(&n);
	}
	for (size_t i = 0; i < ITEM_FORMS; i++) {
		now_wait(&c->items, c->items.waiting - h->waiting[i] + waiting[i]);
		now_wait(&c->samples, c->samples.waiting - h->rest[i] + rest[i]);
	}
	memcpy(h->waiting, waiting, sizeof(waiting));
	memcpy(h->rest, rest, sizeof(rest));
	c->files = c->files - h->files + l->nr;
	c->bytes = c->bytes - h->bytes + bytes;
	h->files = l->nr;
	h->bytes = bytes;
}

int store_list_hour(struct store *s, struct hour *h, struct list *l)
{
	int fd = store_dir_hour(&s->dir, h->name, false), err = 0;

	l->nr = l->at = 0;
	if (fd < 0 && fd != -ENOENT)
		return fd;
	if (fd >= 0) {
		err = store_dir_each(fd, false, add_to_list, l);
		close(fd);
	}
	leave_out(l, h->name);
	if (err) {
		l->nr = 0;
		return err;
	}
	correct(s, h, l);
	if (l->nr)
		qsort(l->v, l->nr, sizeof(*l->v), by_age);
	return 0;
}

/* Those behind the last have no begin: items of the future are removed first. */
uint64_t store_begin_of(const struct store *s, const struct hour *h)
{
	uint64_t ns = h->oldest_ns + (uint64_t)h->shift_ns;

	return !h->ours && ns > s->real_ns + FUTURE_NS ? 0 : ns;
}

/* Of those that were not looked at in this round; @rolled: with rollups, and more than these. */
static struct hour *oldest_hour(struct store *s, bool rolled)
{
	struct hour *oldest = NULL;

	for (size_t i = 0; i < s->nr_hours; i++)
		if (s->hours[i].files && s->hours[i].round != s->round &&
		    (!rolled || (s->hours[i].rollups && s->hours[i].files > s->hours[i].rollups)) &&
		    (!oldest || store_begin_of(s, &s->hours[i]) < store_begin_of(s, oldest)))
			oldest = &s->hours[i];
	return oldest;
}

static void forget_empty(struct store *s)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->nr_hours; i++)
		if (s->hours[i].files)
			s->hours[kept++] = s->hours[i];
	s->nr_hours = kept;
}

/* Its file, and with it its waiting samples. */
int store_remove_item(struct store *s, struct hour *h, const struct item_name *n)
{
	const struct item_name counted = store_counted_form(s, n);
	uint64_t bytes = 0;
	int err = store_dir_remove(&s->dir, n, &bytes);

	if (err && err != -ENOENT)
		return store_failed(s, err, "an item cannot be removed");
	if (counted.state == ITEM_KEPT) {
		s->counts.removed += counted.form != ITEM_ROLLUP;
	} else {
		s->counts.items.dropped++;
		s->counts.samples.dropped += hour_rest_of(&counted);
	}
	uncount_file(s, h, &counted, bytes);
	quarantine_forget(&s->quarantine, n->id);
	return 0;
}

static bool is_old(const struct store *s, const struct hour *h, uint64_t start_ns)
{
	uint64_t ns = start_ns + (uint64_t)h->shift_ns;

	return s->o.keep_ns && ns < s->real_ns && s->real_ns - ns > s->o.keep_ns;
}

static bool is_rolled(const struct list *l, const struct item_name *n)
{
	for (size_t i = 0; i < l->nr && n->state == ITEM_KEPT; i++)
		if (rollup_has(&l->v[i], n))
			return true;
	return false;
}

static bool any_rolled(const struct list *l)
{
	for (size_t i = 0; i < l->nr; i++)
		if (is_rolled(l, &l->v[i]))
			return true;
	return false;
}

/* An item that is removed for a rollup is certainly in it: a damaged rollup stands for nothing. */
static void check_rollups(struct store *s, struct hour *h, struct list *l)
{
	int hour = store_dir_hour(&s->dir, h->name, false);
	size_t nr = 0;

	for (size_t i = 0; i < l->nr; i++) {
		const struct item_name *n = &l->v[i];
		void *data = NULL;
		size_t size;
		int err = 0;

		if (n->form == ITEM_ROLLUP)
			err = hour < 0 ? hour : store_dir_read(hour, n, &data, &size);
		free(data);
		if (err == -EBADMSG) {
			store_damaged(s, n);
			store_remove_item(s, h, n);
		}
		if (!err)
			l->v[nr++] = *n;
	}
	l->nr = nr;
	if (hour >= 0)
		close(hour);
}

/*
 * Removes items of the hour @h that are too old, and others until there are no more than @bytes in
 * all: with @rolled only those that a rollup has.
 */
static void thin_out(struct store *s, struct hour *h, uint64_t bytes, bool rolled)
{
	struct list l = { 0 };
	int err = store_list_hour(s, h, &l);

	h->round = s->round;
	if (err)
		store_failed(s, err, "an hour of it cannot be read");
	else
		h->oldest_ns = UINT64_MAX;
	/* Of most hours all that a rollup has is gone already. */
	if (rolled && any_rolled(&l))
		check_rollups(s, h, &l);
	for (size_t i = 0; i < l.nr; i++) {
		const struct item_name *n = &l.v[i];
		bool wanted = s->counts.bytes > bytes && (!rolled || is_rolled(&l, n));

		if (!err && n->id != s->sending && (wanted || is_old(s, h, n->start_ns))) {
			err = store_remove_item(s, h, n);
			if (!err)
				continue;
		}
		if (n->start_ns < h->oldest_ns)
			h->oldest_ns = n->start_ns;
	}
	free(l.v);
}

static void thin_out_all(struct store *s, uint64_t bytes, bool rolled)
{
	struct hour *h;

	/* Each hour once, so that the loop ends in any case, and no hour delays another. */
	s->round++;
	while (s->counts.bytes > bytes && (h = oldest_hour(s, rolled)))
		thin_out(s, h, bytes, rolled);
}

void store_make_room(struct store *s, uint64_t bytes)
{
	uint64_t most = s->o.keep_bytes > bytes ? s->o.keep_bytes - bytes : 0;
	uint64_t less = most - s->o.keep_bytes / PART < most ? most - s->o.keep_bytes / PART : 0;

	if (s->counts.bytes <= most)
		return;
	thin_out_all(s, less, true);
	thin_out_all(s, less, false);
	forget_empty(s);
}

void store_remove_old(struct store *s)
{
	if (!s->o.keep_ns ||
	    (s->aged_ns && s->boot_ns - s->aged_ns < s->o.keep_ns / PART))
		return;
	s->aged_ns = s->boot_ns;
	for (size_t i = 0; i < s->nr_hours; i++)
		if (is_old(s, &s->hours[i], s->hours[i].oldest_ns))
			thin_out(s, &s->hours[i], UINT64_MAX, false);
	forget_empty(s);
}
