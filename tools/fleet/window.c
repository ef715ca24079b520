// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a store has of a span of time.
 */
#include "window.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../cmd.h"
#include "../say.h"

/* So many are merged at once: each sample is copied once for each power of it. */
#define WIDTH	16
#define DEPTH	8

/**
 * struct looking - window_look() under way
 * @w: window
 * @type: of this alone, or NULL
 * @room: of its items
 */
struct looking {
	struct window *w;
	const char *type;
	size_t room;
};

static int see(void *ctx, const struct item_name *n, uint64_t bytes)
{
	struct looking *l = ctx;
	struct window *w = l->w;
	uint64_t end = n->start_ns + n->duration_ns;

	(void)bytes;
	if (n->start_ns >= w->to_ns || (end <= w->from_ns && n->start_ns != w->from_ns))
		return 0;
	if (l->type && strcmp(l->type, n->type))
		return 0;
	w->items = xgrow(w->items, w->nr, &l->room, sizeof(*w->items));
	w->items[w->nr++] = *n;
	return 0;
}

static int by_time(const void *a, const void *b)
{
	const struct item_name *x = a, *y = b;

	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

/* One that changes its state while it is looked at may be seen twice. */
static void once(struct window *w)
{
	size_t nr = 0;

	for (size_t i = 0; i < w->nr; i++)
		if (!nr || w->items[nr - 1].id != w->items[i].id)
			w->items[nr++] = w->items[i];
	w->nr = nr;
}

int window_look(struct window *w, const char *type)
{
	struct looking l = { .w = w, .type = type };
	char (*hours)[HOUR_NAME], first[HOUR_NAME], last[HOUR_NAME];
	ssize_t nr = store_dir_hours(w->dir, &hours);
	int err = nr < 0 ? (int)nr : 0;

	w->items = NULL;
	w->nr = w->bad = 0;
	hour_name(w->from_ns > ITEM_LONGEST_NS ? w->from_ns - ITEM_LONGEST_NS : 0, first);
	hour_name(w->to_ns, last);
	for (ssize_t i = 0; i < nr; i++) {
		int hour, bad;

		if (strcmp(hours[i], first) < 0 || strcmp(hours[i], last) > 0)
			continue;
		hour = store_dir_hour(w->dir, hours[i], false);
		bad = hour < 0 ? hour : store_dir_each(hour, false, see, &l);
		if (hour >= 0)
			close(hour);
		/* It may have become too old just now. */
		if (bad && bad != -ENOENT && !w->bad++)
			say("the hour %s cannot be read, and is left out: %s; others are counted",
			    hours[i], strerror(-bad));
	}
	free(hours);
	if (w->nr)
		qsort(w->items, w->nr, sizeof(*w->items), by_time);
	once(w);
	return err;
}

/* By its id, since its state may have changed. */
static int find_again(void *ctx, const struct item_name *n, uint64_t bytes)
{
	struct item_name *wanted = ctx;

	(void)bytes;
	if (n->id != wanted->id)
		return 0;
	*wanted = *n;
	return 1;
}

int window_read(const struct window *w, const struct item_name *n, void **data, size_t *size)
{
	struct item_name now = *n;
	char name[HOUR_NAME];
	int hour, err;

	hour_name(n->start_ns, name);
	hour = store_dir_hour(w->dir, name, false);
	if (hour < 0)
		return hour;
	err = store_dir_read(hour, n, data, size);
	for (int tries = 0; err == -ENOENT && tries < 3; tries++) {
		if (store_dir_each(hour, false, find_again, &now) != 1)
			break;
		err = store_dir_read(hour, &now, data, size);
	}
	close(hour);
	return err;
}

/* ---- as one profile ---- */

static struct gprof_profile *unpack(const void *data, size_t size)
{
	int fd = memfd_create("item", MFD_CLOEXEC);
	struct gprof_profile *p = NULL;

	if (fd >= 0 && write(fd, data, size) == (ssize_t)size && !lseek(fd, 0, SEEK_SET))
		p = gprof_profile_read(fd);
	if (fd >= 0)
		close(fd);
	return p;
}

/* A context of is_of(). */
struct service {
	const struct gprof_profile *p;
	const char *name;
};

static int is_of(void *ctx, const struct gprof_frame *frames, size_t nr, const int64_t *values)
{
	const struct service *s = ctx;
	const char *name = gprof_profile_label(s->p, "service.name", NULL);

	(void)frames;
	(void)nr;
	(void)values;
	return name && !strcmp(name, s->name);
}

/**
 * struct heap - profiles that wait for others of about their size
 * @v: by how often they were merged
 * @nr: how many of each
 */
struct heap {
	struct gprof_profile *v[DEPTH][WIDTH];
	size_t nr[DEPTH];
};

static struct gprof_profile *merge_row(struct heap *h, size_t depth)
{
	struct gprof_profile *p;

	p = gprof_profile_merge((const struct gprof_profile *const *)h->v[depth], h->nr[depth]);
	for (size_t i = 0; i < h->nr[depth]; i++)
		gprof_profile_free(h->v[depth][i]);
	h->nr[depth] = 0;
	return p;
}

static int push(struct heap *h, struct gprof_profile *p)
{
	size_t depth = 0;

	for (;;) {
		if (!p)
			return fail("%s", gprof_error());
		h->v[depth][h->nr[depth]++] = p;
		if (h->nr[depth] < WIDTH)
			return STATUS_OK;
		p = merge_row(h, depth);
		depth += depth + 1 < DEPTH;
	}
}

/* All that is left; *@merged is NULL where there was nothing. */
static int pop_all(struct heap *h, struct gprof_profile **merged)
{
	*merged = NULL;
	for (size_t depth = 0; depth < DEPTH; depth++) {
		if (*merged)
			h->v[depth][h->nr[depth]++] = *merged;
		if (!h->nr[depth])
			continue;
		*merged = merge_row(h, depth);
		if (!*merged)
			return fail("%s", gprof_error());
	}
	return STATUS_OK;
}

static void free_all(struct heap *h)
{
	for (size_t depth = 0; depth < DEPTH; depth++)
		while (h->nr[depth])
			gprof_profile_free(h->v[depth][--h->nr[depth]]);
}

static void tell_damaged(const struct item_name *n, const char *why, struct window_sum *sum)
{
	char name[ITEM_NAME];

	item_name_text(n, name);
	if (!sum->damaged++)
		say("%s is left out: %s; others are counted", name, why);
}

/* NULL where there is none of it. */
static struct gprof_profile *read_one(const struct window *w, const struct item_name *n,
				      const char *service, struct window_sum *sum)
{
	struct gprof_profile *p;
	void *data = NULL;
	size_t size;
	int err = window_read(w, n, &data, &size);

	if (err) {
		tell_damaged(n, err == -EBADMSG ? "it is not what was written" : strerror(-err),
			     sum);
		return NULL;
	}
	p = unpack(data, size);
	free(data);
	if (!p) {
		tell_damaged(n, gprof_error(), sum);
		return NULL;
	}
	if (service)
		gprof_profile_filter(p, is_of, &(struct service){ p, service });
	sum->used++;
	sum->ns += n->duration_ns;
	return p;
}

/* What is in use at its end: in each profile it is all that is. */
static void clear_in_use(struct gprof_profile *p)
{
	const struct gprof_value_type *types;
	size_t nr = gprof_profile_types(p, &types);

	for (size_t i = 0; i < nr; i++)
		if (!strncmp(types[i].type, "inuse_", 6))
			gprof_profile_clear(p, i);
}

int window_merge(const struct window *w, const char *service, struct window_sum *sum)
{
	struct gprof_profile *last = NULL;
	struct heap h = { 0 };
	int status = STATUS_OK;

	*sum = (struct window_sum){ 0 };
	for (size_t i = 0; i < w->nr && status == STATUS_OK; i++) {
		struct gprof_profile *p = read_one(w, &w->items[i], service, sum);

		if (!p)
			continue;
		if (last) {
			clear_in_use(last);
			status = push(&h, last);
		}
		last = p;
	}
	if (last && status == STATUS_OK)
		status = push(&h, last);
	else
		gprof_profile_free(last);
	if (status == STATUS_OK)
		status = pop_all(&h, &sum->merged);
	if (status != STATUS_OK)
		free_all(&h);
	return status;
}
