// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a store has of a span of time.
 */
#include "window.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../cmd.h"
#include "../say.h"

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

static void tell_damaged(const struct item_name *n, const char *why, struct window_sum *sum)
{
	char name[ITEM_NAME];

	item_name_text(n, name);
	if (!sum->damaged++)
		say("%s is left out: %s; others are counted", name, why);
}

/* It is left out where it cannot be read. */
static int add_one(const struct window *w, const struct item_name *n,
		   struct gprof_profile_sum *files, struct window_sum *sum)
{
	void *data = NULL;
	size_t size;
	int err = window_read(w, n, &data, &size);

	if (err) {
		tell_damaged(n, err == -EBADMSG ? "it is not what was written" : strerror(-err),
			     sum);
		return STATUS_OK;
	}
	/* What is in use at its end: in each profile it is all that is. */
	err = gprof_profile_sum_add(files, data, size, GPROF_SUM_LAST_IN_USE);
	free(data);
	if (err == -ENOMEM)
		return fail("%s", gprof_error());
	if (err) {
		tell_damaged(n, gprof_error(), sum);
		return STATUS_OK;
	}
	sum->used++;
	sum->ns += n->duration_ns;
	return STATUS_OK;
}

/* Places that no sample of the service is in are left out. */
static int choose(struct gprof_profile **p, const char *service)
{
	struct gprof_profile *all = *p;

	if (gprof_profile_filter(all, is_of, &(struct service){ all, service }))
		return fail("%s", gprof_error());
	*p = gprof_profile_merge((const struct gprof_profile *const *)&all, 1);
	gprof_profile_free(all);
	return *p ? STATUS_OK : fail("%s", gprof_error());
}

int window_merge(const struct window *w, const char *service, struct window_sum *sum)
{
	struct gprof_profile_sum *files = gprof_profile_sum_new();
	int status = files ? STATUS_OK : fail("%s", gprof_error());

	*sum = (struct window_sum){ 0 };
	for (size_t i = 0; i < w->nr && status == STATUS_OK; i++)
		status = add_one(w, &w->items[i], files, sum);
	if (status != STATUS_OK || !sum->used) {
		gprof_profile_sum_free(files);
		return status;
	}
	sum->merged = gprof_profile_sum_end(files);
	if (!sum->merged)
		return fail("%s", gprof_error());
	return service ? choose(&sum->merged, service) : STATUS_OK;
}
