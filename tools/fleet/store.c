// SPDX-License-Identifier: GPL-2.0-only
/*
 * A bounded store of profiles and traces.
 *
 * In memory there are sums for each hour, and of the oldest hour with items that wait, their
 * names: so memory does not grow with the store. Hours are listed again when room is to be
 * made, which makes room for a while.
 *
 * How old an item is follows from the wall clock. When that is set, what this process has
 * written ages as if it always had been set so; what is of the future is never too old.
 */
#include "store.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../cmd.h"
#include "../say.h"
#include "store_dir.h"

#define SECOND_NS	1000000000ULL
#define STEP_NS		(2 * SECOND_NS)
#define FUTURE_NS	(3600 * SECOND_NS)
#define WELL		16	/* so many are written until a failure is over */
#define PART		64	/* of the bound, so much more is removed than has to be */

/**
 * struct hour - what begins in one hour
 * @name: its directory
 * @bytes: what the items take
 * @files: how many there are
 * @waiting: ... that wait, by form
 * @oldest_ns: begin of the oldest
 * @ours: this process has written to it
 * @shift_ns: how far the clock was set since
 */
struct hour {
	char name[HOUR_NAME];
	uint64_t bytes;
	uint64_t files;
	uint64_t waiting[ITEM_FORMS];
	uint64_t oldest_ns;
	bool ours;
	int64_t shift_ns;
};

/**
 * struct list - items of an hour
 * @v: names
 * @nr: how many
 * @room: there is memory for
 * @at: those before are done with
 */
struct list {
	struct item_name *v;
	size_t nr, room, at;
};

/**
 * struct store - a store
 * @o: how it is kept
 * @lock: protects all below
 * @dir: where the files are
 * @hours: by name
 * @nr_hours: how many
 * @room_hours: there is memory for
 * @counts: what became of all
 * @queue: that wait, of one hour, the oldest first
 * @queue_forms: they are of these forms, as bits
 * @sending: id of what is being sent, or 0
 * @answered: it is, but the disk has not taken what became of it
 * @before: its name on the disk then
 * @after: the name that it is to have
 * @last_id: highest that was given
 * @said: last failure that was said, 0 when all is well
 * @well: items that were written since
 * @real_ns: CLOCK_REALTIME when it was looked at last
 * @boot_ns: CLOCK_BOOTTIME then
 * @aged_ns: CLOCK_BOOTTIME when it was last looked for what is too old
 */
struct store {
	struct store_options o;
	pthread_mutex_t lock;
	struct store_dir dir;
	struct hour *hours;
	size_t nr_hours, room_hours;
	struct store_counts counts;
	struct list queue;
	unsigned int queue_forms;
	uint64_t sending;
	bool answered;
	struct item_name before, after;
	uint64_t last_id;
	int said;
	unsigned int well;
	uint64_t real_ns, boot_ns, aged_ns;
};

static uint64_t clock_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * SECOND_NS + (uint64_t)t.tv_nsec;
}

/* ---- failures ---- */

static int failed(struct store *s, int err, const char *what)
{
	s->counts.failures++;
	if (s->said != err)
		say("the store %s: %s: %s; it goes on without, and counts what is dropped",
		    s->o.dir, what, strerror(-err));
	s->said = err;
	s->well = 0;
	return err;
}

static void damaged(struct store *s, const struct item_name *n)
{
	char name[ITEM_NAME];

	item_name_text(n, name);
	if (!s->counts.damaged++)
		say("the store %s: %s is not what was written, and is removed; others are counted",
		    s->o.dir, name);
}

/* ---- the clock ---- */

static uint64_t look_at_clock(struct store *s)
{
	uint64_t real = clock_ns(CLOCK_REALTIME), boot = clock_ns(CLOCK_BOOTTIME);
	int64_t step = (int64_t)(real - s->real_ns) - (int64_t)(boot - s->boot_ns);
	bool first = !s->real_ns;

	s->real_ns = real;
	s->boot_ns = boot;
	if (first || (step < (int64_t)STEP_NS && step > -(int64_t)STEP_NS))
		return real;
	if (!s->counts.clock_steps++)
		say("the wall clock was set %s by %" PRIu64 " s; what was recorded before keeps the "
		    "times that it has", step < 0 ? "back" : "forward",
		    (uint64_t)((step < 0 ? -step : step) / (int64_t)SECOND_NS));
	for (size_t i = 0; i < s->nr_hours; i++)
		if (s->hours[i].ours)
			s->hours[i].shift_ns += step;
	return real;
}

/* ---- hours, and sums ---- */

static uint64_t rest_of(const struct item_name *n)
{
	return n->state == ITEM_KEPT ? 0 : n->samples - n->taken;
}

static struct hour *find_hour(struct store *s, const struct item_name *n)
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

static struct hour *add_hour(struct store *s, const struct item_name *n)
{
	struct hour *h = find_hour(s, n);

	if (h)
		return h;
	s->hours = xgrow(s->hours, s->nr_hours, &s->room_hours, sizeof(*s->hours));
	h = &s->hours[s->nr_hours++];
	*h = (struct hour){ .oldest_ns = UINT64_MAX };
	hour_name(n->start_ns, h->name);
	return h;
}

static void add_file(struct store *s, struct hour *h, const struct item_name *n, uint64_t bytes)
{
	bool waits = n->state != ITEM_KEPT;

	h->bytes += bytes;
	h->files++;
	h->waiting[n->form] += waits;
	if (n->start_ns < h->oldest_ns)
		h->oldest_ns = n->start_ns;
	s->counts.bytes += bytes;
	s->counts.files++;
	s->counts.items.waiting += waits;
	s->counts.samples.waiting += rest_of(n);
	if (n->id > s->last_id)
		s->last_id = n->id;
}

/* A file is gone. What had waited in it is for the caller to count. */
static void take_file(struct store *s, struct hour *h, const struct item_name *n, uint64_t bytes)
{
	bool waits = n->state != ITEM_KEPT;

	h->bytes -= bytes < h->bytes ? bytes : h->bytes;
	h->files -= !!h->files;
	h->waiting[n->form] -= waits && h->waiting[n->form];
	s->counts.bytes -= bytes < s->counts.bytes ? bytes : s->counts.bytes;
	s->counts.files -= !!s->counts.files;
	s->counts.items.waiting -= waits;
	s->counts.samples.waiting -= rest_of(n);
}

static int see_item(void *ctx, const struct item_name *n, uint64_t bytes)
{
	struct store *s = ctx;

	add_file(s, add_hour(s, n), n, bytes);
	if (n->state == ITEM_TRIED)
		s->counts.unsure += rest_of(n);
	return 0;
}

/* What the directory has is what there is. */
static int look_at_all(struct store *s)
{
	char (*names)[HOUR_NAME];
	ssize_t nr = store_dir_hours(&s->dir, &names);
	int err = nr < 0 ? (int)nr : 0;

	s->nr_hours = 0;
	s->queue.nr = s->queue.at = 0;
	s->counts.bytes = s->counts.files = 0;
	s->counts.items.waiting = s->counts.samples.waiting = 0;
	for (ssize_t i = 0; i < nr && !err; i++) {
		int hour = store_dir_hour(&s->dir, names[i], false);

		err = hour < 0 ? hour : store_dir_each(hour, true, see_item, s);
		if (hour >= 0)
			close(hour);
	}
	free(names);
	return err;
}

struct store *store_open(const struct store_options *o, int *status)
{
	struct store *s = xalloc(1, sizeof(*s));
	int err;

	s->o = *o;
	pthread_mutex_init(&s->lock, NULL);
	*status = store_dir_own(&s->dir, o->dir);
	if (*status != STATUS_OK) {
		free(s);
		return NULL;
	}
	look_at_clock(s);
	err = look_at_all(s);
	if (err) {
		*status = fail("the store %s cannot be read: %s", o->dir, strerror(-err));
		store_close(s);
		return NULL;
	}
	s->counts.waited = s->counts.samples.waiting;
	if (s->counts.unsure)
		say("the store %s: %" PRIu64 " samples were being sent when their sender ended; they "
		    "are sent again, and may arrive twice", o->dir, s->counts.unsure);
	return s;
}

void store_close(struct store *s)
{
	if (!s)
		return;
	store_dir_close(&s->dir);
	pthread_mutex_destroy(&s->lock);
	free(s->hours);
	free(s->queue.v);
	free(s);
}

/* Whoever removed the directory gets a new one; what waited in it is gone. */
static int be_there(struct store *s)
{
	if (store_dir_present(&s->dir))
		return 0;
	if (s->dir.fd >= 0) {
		s->counts.items.dropped += s->counts.items.waiting;
		s->counts.samples.dropped += s->counts.samples.waiting;
		s->counts.items.waiting = s->counts.samples.waiting = 0;
		s->counts.bytes = s->counts.files = 0;
		s->nr_hours = 0;
		s->queue.nr = s->queue.at = 0;
		s->answered = false;
		s->sending = 0;
		failed(s, -ESTALE, "it is no longer there");
	}
	store_dir_close(&s->dir);
	s->dir.quiet = true;
	if (store_dir_own(&s->dir, s->o.dir) != STATUS_OK)
		return -ESTALE;
	return look_at_all(s);
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

static int list_hour(struct store *s, const struct hour *h, struct list *l)
{
	int fd = store_dir_hour(&s->dir, h->name, false), err;

	l->nr = l->at = 0;
	if (fd < 0)
		return fd;
	err = store_dir_each(fd, false, add_to_list, l);
	close(fd);
	if (!err && l->nr)
		qsort(l->v, l->nr, sizeof(*l->v), by_age);
	return err;
}

/* Those behind the last have no begin: what is of the future is given up first. */
static uint64_t begin_of(const struct store *s, const struct hour *h)
{
	uint64_t ns = h->oldest_ns + (uint64_t)h->shift_ns;

	return !h->ours && ns > s->real_ns + FUTURE_NS ? 0 : ns;
}

static struct hour *oldest_hour(struct store *s)
{
	struct hour *oldest = NULL;

	for (size_t i = 0; i < s->nr_hours; i++)
		if (s->hours[i].files &&
		    (!oldest || begin_of(s, &s->hours[i]) < begin_of(s, oldest)))
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

/* Its file, and with it what waits in it. */
static int remove_item(struct store *s, struct hour *h, const struct item_name *n)
{
	uint64_t bytes = 0;
	int err = store_dir_remove(&s->dir, n, &bytes);

	if (err && err != -ENOENT)
		return failed(s, err, "an item cannot be removed");
	if (n->state == ITEM_KEPT) {
		s->counts.removed++;
	} else {
		s->counts.items.dropped++;
		s->counts.samples.dropped += rest_of(n);
	}
	take_file(s, h, n, bytes);
	return 0;
}

static bool is_old(const struct store *s, const struct hour *h, uint64_t start_ns)
{
	uint64_t ns = start_ns + (uint64_t)h->shift_ns;

	return s->o.keep_ns && ns < s->real_ns && s->real_ns - ns > s->o.keep_ns;
}

/* Of the hour @h what is too old, and until there are no more than @bytes in all. */
static int thin_out(struct store *s, struct hour *h, uint64_t bytes)
{
	struct list l = { 0 };
	int err = list_hour(s, h, &l);

	h->oldest_ns = UINT64_MAX;
	for (size_t i = 0; i < l.nr && !err; i++) {
		const struct item_name *n = &l.v[i];

		if (n->id != s->sending && (s->counts.bytes > bytes || is_old(s, h, n->start_ns)))
			err = remove_item(s, h, n);
		else if (n->start_ns < h->oldest_ns)
			h->oldest_ns = n->start_ns;
	}
	/* Others may have removed files: what is not to be seen is not there. */
	if (!err && !l.nr) {
		s->counts.bytes -= h->bytes;
		h->bytes = h->files = 0;
	}
	free(l.v);
	return err;
}

/* Room for @bytes more. Each hour is looked at once, so that it ends whatever is there. */
static void make_room(struct store *s, uint64_t bytes)
{
	uint64_t most = s->o.keep_bytes > bytes ? s->o.keep_bytes - bytes : 0;
	uint64_t less = most - s->o.keep_bytes / PART < most ? most - s->o.keep_bytes / PART : 0;
	size_t tries = s->nr_hours;
	struct hour *h;

	if (s->counts.bytes <= most)
		return;
	while (tries-- && s->counts.bytes > less && (h = oldest_hour(s)))
		if (thin_out(s, h, less))
			break;
	forget_empty(s);
}

static void remove_old(struct store *s)
{
	if (!s->o.keep_ns ||
	    (s->aged_ns && s->boot_ns - s->aged_ns < s->o.keep_ns / PART))
		return;
	s->aged_ns = s->boot_ns;
	for (size_t i = 0; i < s->nr_hours; i++)
		if (is_old(s, &s->hours[i], s->hours[i].oldest_ns) &&
		    thin_out(s, &s->hours[i], UINT64_MAX))
			break;
	forget_empty(s);
}

/* ---- what is put in ---- */

static int write_item(struct store *s, struct item_name *n, const void *data, size_t size)
{
	uint64_t bytes = item_bytes(size);
	struct hour *h;
	int err;

	if (bytes > s->o.keep_bytes || size > ITEM_BYTES_MAX)
		return failed(s, -EFBIG, "an item is larger than all may be");
	err = be_there(s);
	if (err)
		return err;
	make_room(s, bytes);
	if (s->counts.bytes > s->o.keep_bytes - bytes)
		return failed(s, -ENOSPC, "no room can be made");
	err = store_dir_write(&s->dir, n, data, size);
	if (err)
		return failed(s, err, "an item cannot be written");
	h = add_hour(s, n);
	h->ours = true;
	add_file(s, h, n, bytes);
	/* On a disk that is nearly full small ones may fit in now and then. */
	if (s->said && ++s->well == WELL) {
		say("the store %s: items are written again", s->o.dir);
		s->said = 0;
		s->dir.quiet = false;
	}
	return 0;
}

int store_put(struct store *s, struct item_name *n, const void *data, size_t size)
{
	struct store_counts *c = &s->counts;
	uint64_t real;
	int err;

	pthread_mutex_lock(&s->lock);
	real = look_at_clock(s);
	remove_old(s);
	n->id = real > s->last_id ? real : s->last_id + 1;
	s->last_id = n->id;
	n->state = s->o.wait >> n->form & 1 ? ITEM_WAITS : ITEM_KEPT;
	n->parts = 0;
	n->taken = 0;
	c->items.produced++;
	c->samples.produced += n->samples;
	err = write_item(s, n, data, size);
	if (err) {
		c->items.dropped++;
		c->samples.dropped += n->samples;
	} else if (n->state == ITEM_KEPT) {
		c->items.stored++;
		c->samples.stored += n->samples;
	}
	pthread_mutex_unlock(&s->lock);
	return err;
}

/* ---- what is sent ---- */

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
		if (waiting_in(&s->hours[i], forms) &&
		    (!oldest || begin_of(s, &s->hours[i]) < begin_of(s, oldest)))
			oldest = &s->hours[i];
	return oldest;
}

/* The next that waits, of those that were listed; they may be gone since. */
static const struct item_name *from_queue(struct store *s)
{
	while (s->queue.at < s->queue.nr) {
		const struct item_name *n = &s->queue.v[s->queue.at++];

		if (n->state != ITEM_KEPT && s->queue_forms >> n->form & 1)
			return n;
	}
	return NULL;
}

/* Somebody has removed files: what is not to be seen does not wait. */
static void none_waits(struct store *s, struct hour *h, unsigned int forms)
{
	for (size_t i = 0; i < ITEM_FORMS; i++)
		if (forms >> i & 1) {
			s->counts.items.waiting -= h->waiting[i];
			s->counts.items.dropped += h->waiting[i];
			h->waiting[i] = 0;
		}
}

static const struct item_name *next_waiting(struct store *s, unsigned int forms)
{
	const struct item_name *n;
	struct hour *h;

	if (s->queue_forms != forms)
		s->queue.nr = s->queue.at = 0;
	s->queue_forms = forms;
	while (!(n = from_queue(s)) && (h = oldest_waiting(s, forms))) {
		if (list_hour(s, h, &s->queue))
			return NULL;
		n = from_queue(s);
		if (n)
			return n;
		none_waits(s, h, forms);
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
		return failed(s, err, "what was sent cannot be noted");
	s->answered = false;
	s->sending = 0;
	return 0;
}

/* It may be sent from now on: that is to be known however this process ends. */
static int begin_sending(struct store *s, struct item_name *n)
{
	struct item_name tried = *n;
	int err = 0;

	tried.state = ITEM_TRIED;
	if (n->state != ITEM_TRIED)
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
static bool take(struct store *s, struct store_next *next)
{
	struct hour *h = find_hour(s, &next->name);
	int err = read_item(s, next);

	if (!err)
		err = begin_sending(s, &next->name);
	if (!err) {
		s->sending = next->name.id;
		return true;
	}
	free(next->data);
	next->data = NULL;
	if (err == -EBADMSG && h) {
		damaged(s, &next->name);
		remove_item(s, h, &next->name);
	} else if (err != -ENOENT) {
		s->queue.nr = s->queue.at = 0;	/* it comes first again */
		failed(s, err, "an item cannot be sent");
	}
	return false;
}

bool store_next(struct store *s, unsigned int forms, struct store_next *next)
{
	const struct item_name *n;
	bool found = false;

	*next = (struct store_next){ 0 };
	pthread_mutex_lock(&s->lock);
	if (!be_there(s) && !settle(s)) {
		/* What is damaged or gone costs itself alone. */
		while (!found && (n = next_waiting(s, forms))) {
			uint64_t failures = s->counts.failures;

			next->name = *n;
			found = take(s, next);
			if (s->counts.failures != failures)
				break;
		}
	}
	pthread_mutex_unlock(&s->lock);
	return found;
}

static uint64_t at_most(uint64_t n, uint64_t most)
{
	return n < most ? n : most;
}

void store_answer(struct store *s, struct store_next *next, const struct sending *out)
{
	struct store_counts *c = &s->counts;
	struct item_name *n = &next->name;
	uint64_t rest = rest_of(n), sent, refused;
	struct hour *h;

	pthread_mutex_lock(&s->lock);
	h = s->sending == n->id ? find_hour(s, n) : NULL;
	if (h) {
		sent = at_most(out->sent_samples, rest);
		refused = at_most(out->refused_samples, rest - sent);
		/* Of what the engine does not speak it says by its answer as a whole. */
		if (out->result == SENT_ALL)
			sent = rest - refused;
		else if (out->result == SENT_NEVER)
			refused = rest - sent;
		s->before = s->after = *n;
		s->after.parts = out->sent_parts;
		s->after.taken += sent + refused;
		s->after.state = out->result == SENT_LATER ? ITEM_WAITS : ITEM_KEPT;
		c->samples.sent += sent;
		c->samples.refused += refused;
		c->samples.waiting -= sent + refused;
		c->unsure += at_most(out->unsure_samples, rest - sent - refused);
		if (s->after.state == ITEM_KEPT) {
			c->items.waiting--;
			h->waiting[n->form] -= !!h->waiting[n->form];
			if (out->result == SENT_ALL)
				c->items.sent++;
			else
				c->items.refused++;
		} else {
			/* it comes first again */
			s->queue.nr = s->queue.at = 0;
		}
		s->answered = true;
		settle(s);
	}
	pthread_mutex_unlock(&s->lock);
	free(next->data);
	next->data = NULL;
}

void store_counts(struct store *s, struct store_counts *out)
{
	pthread_mutex_lock(&s->lock);
	*out = s->counts;
	pthread_mutex_unlock(&s->lock);
}
