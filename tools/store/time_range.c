// SPDX-License-Identifier: GPL-2.0-only
/*
 * A store's items of a span of time.
 */
#include "time_range.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cmd.h"
#include "cli/diag.h"
#include "rollup.h"

/**
 * struct scan - time_range_scan() under way
 * @w: window
 * @type: of this alone, or NULL
 * @from_ns: begin of the ten minutes that it begins in
 * @to_ns: end of those that it ends in
 * @room: of its items
 * @room_rollups: of its rollups
 */
struct scan {
	struct time_range *w;
	const char *type;
	uint64_t from_ns, to_ns;
	size_t room, room_rollups;
};

static bool overlaps(const struct item_name *n, uint64_t from_ns, uint64_t to_ns)
{
	return n->start_ns < to_ns &&
	       (n->start_ns + n->duration_ns > from_ns || n->start_ns == from_ns);
}

static int scan_item(void *ctx, const struct item_name *n, uint64_t bytes)
{
	struct scan *l = ctx;
	struct time_range *w = l->w;

	(void)bytes;
	if (l->type && strcmp(l->type, n->type))
		return 0;
	if (n->form == ITEM_ROLLUP) {
		if (n->start_ns < l->from_ns || n->start_ns >= l->to_ns)
			return 0;
		w->rollups =
			xgrow(w->rollups, w->nr_rollups, &l->room_rollups, sizeof(*w->rollups));
		w->rollups[w->nr_rollups++] = (struct time_range_rollup){ .name = *n };
	} else if (overlaps(n, l->from_ns, l->to_ns)) {
		w->items = xgrow(w->items, w->nr, &l->room, sizeof(*w->items));
		w->items[w->nr++] = *n;
	}
	return 0;
}

static int by_time(const void *a, const void *b)
{
	const struct item_name *x = a, *y = b;

	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

/* Ten minutes by ten minutes, from rollups or items. */
static int rollups_by_time(const void *a, const void *b)
{
	const struct item_name *x = &((const struct time_range_rollup *)a)->name;
	const struct item_name *y = &((const struct time_range_rollup *)b)->name;
	uint64_t begin = rollup_begin(x->start_ns), other = rollup_begin(y->start_ns);

	if (begin != other)
		return begin < other ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

/* One that changes its state while it is looked at may be seen twice. */
static void once(struct time_range *w)
{
	size_t nr = 0;

	for (size_t i = 0; i < w->nr; i++)
		if (!nr || w->items[nr - 1].id != w->items[i].id)
			w->items[nr++] = w->items[i];
	w->nr = nr;
}

/* Is one alike among the first @nr? */
static bool is_known(const struct time_range *w, size_t nr, const struct item_name *n)
{
	while (nr-- > 0 && rollup_begin(w->rollups[nr].name.start_ns) == rollup_begin(n->start_ns))
		if (rollup_alike(&w->rollups[nr].name, n))
			return true;
	return false;
}

/* Of those that are alike the first alone: no item is counted twice. */
static void first_alone(struct time_range *w)
{
	size_t nr = 0;

	for (size_t i = 0; i < w->nr_rollups; i++)
		if (!is_known(w, nr, &w->rollups[i].name))
			w->rollups[nr++] = w->rollups[i];
	w->nr_rollups = nr;
}

/* The first rollup from @r on that is not of ten minutes before those of @n. */
static size_t rollups_of(const struct time_range *w, size_t r, const struct item_name *n)
{
	while (r < w->nr_rollups &&
	       rollup_begin(w->rollups[r].name.start_ns) < rollup_begin(n->start_ns))
		r++;
	return r;
}

/* The rollup that an item is in, from @r on, or NULL. */
static struct time_range_rollup *rollup_of(const struct time_range *w, size_t r,
					   const struct item_name *n)
{
	for (; r < w->nr_rollups; r++) {
		if (rollup_has(&w->rollups[r].name, n))
			return &w->rollups[r];
		if (rollup_begin(w->rollups[r].name.start_ns) > n->start_ns)
			break;
	}
	return NULL;
}

static void count_those_there(struct time_range *w)
{
	size_t r = 0;

	for (size_t i = 0; i < w->nr; i++) {
		struct time_range_rollup *of;

		r = rollups_of(w, r, &w->items[i]);
		of = rollup_of(w, r, &w->items[i]);
		if (of)
			of->there++;
	}
}

/* Items that were read for whole rollups alone go. */
static void cut(struct time_range *w)
{
	size_t nr = 0;

	for (size_t i = 0; i < w->nr; i++)
		if (overlaps(&w->items[i], w->from_ns, w->to_ns))
			w->items[nr++] = w->items[i];
	w->nr = nr;
	nr = 0;
	for (size_t i = 0; i < w->nr_rollups; i++) {
		const struct time_range_rollup *r = &w->rollups[i];
		uint64_t begin = rollup_begin(r->name.start_ns);
		bool whole = begin >= w->from_ns && begin + ROLLUP_NS <= w->to_ns;

		if (whole || (r->there < r->name.items && begin < w->to_ns &&
			      begin + ROLLUP_NS > w->from_ns))
			w->rollups[nr++] = *r;
	}
	w->nr_rollups = nr;
}

static void sort_out(struct time_range *w)
{
	if (w->nr)
		qsort(w->items, w->nr, sizeof(*w->items), by_time);
	once(w);
	if (w->nr_rollups)
		qsort(w->rollups, w->nr_rollups, sizeof(*w->rollups), rollups_by_time);
	first_alone(w);
	count_those_there(w);
	cut(w);
}

int time_range_scan(struct time_range *w, const char *type)
{
	struct scan l = { .w = w, .type = type, .from_ns = rollup_begin(w->from_ns) };
	char (*hours)[HOUR_NAME], first[HOUR_NAME], last[HOUR_NAME];
	ssize_t nr = store_dir_hours(w->dir, &hours);
	int err = nr < 0 ? (int)nr : 0;

	w->items = NULL;
	w->rollups = NULL;
	w->nr = w->nr_rollups = w->bad = 0;
	l.to_ns = w->to_ns > UINT64_MAX - ROLLUP_NS ? UINT64_MAX :
						     rollup_begin(w->to_ns + ROLLUP_NS - 1);
	hour_name(w->from_ns > ITEM_LONGEST_NS ? w->from_ns - ITEM_LONGEST_NS : 0, first);
	hour_name(w->to_ns, last);
	for (ssize_t i = 0; i < nr; i++) {
		int hour, bad;

		if (strcmp(hours[i], first) < 0 || strcmp(hours[i], last) > 0)
			continue;
		hour = store_dir_hour(w->dir, hours[i], false);
		bad = hour < 0 ? hour : store_dir_each(hour, false, scan_item, &l);
		if (hour >= 0)
			close(hour);
		/* It may have become too old just now. */
		if (bad && bad != -ENOENT && !w->bad++)
			diag("the hour %s cannot be read, and is left out: %s; others are counted",
			     hours[i], strerror(-bad));
	}
	free(hours);
	sort_out(w);
	return err;
}

void time_range_free(struct time_range *w)
{
	free(w->items);
	free(w->rollups);
	w->items = NULL;
	w->rollups = NULL;
	w->nr = w->nr_rollups = 0;
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

int time_range_read(const struct time_range *w, const struct item_name *n, void **data,
		    size_t *size)
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

static void report_damaged(const struct item_name *n, const char *why, struct time_range_sum *sum)
{
	char name[ITEM_NAME];

	item_name_text(n, name);
	if (!sum->damaged++)
		diag("%s is left out: %s; others are counted", name, why);
}

static const char *why(int err)
{
	return err == -EBADMSG ? "it is damaged" : strerror(-err);
}

/* A page has room for so many times. */
#define TIMES_MAX	512

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/*
 * From the first recording on; they are sorted by time. In steps as long as one, so that a strip of
 * time shows no gap where one began a little later.
 */
static int64_t time_of(const struct time_range *w, const struct item_name *n)
{
	uint64_t first = UINT64_MAX, last = 0, step = ROLLUP_NS;

	if (w->nr) {
		first = w->items[0].start_ns;
		last = w->items[w->nr - 1].start_ns;
		step = w->items[0].duration_ns;
	}
	if (w->nr_rollups) {
		first = smaller(first, w->rollups[0].name.start_ns);
		last = last > w->rollups[w->nr_rollups - 1].name.start_ns ?
			       last : w->rollups[w->nr_rollups - 1].name.start_ns;
	}
	if (step <= (last - first) / TIMES_MAX)
		step = (last - first) / TIMES_MAX + 1;
	return n->start_ns > first ? (int64_t)((n->start_ns - first + step / 2) / step * step) : 0;
}

static bool is_read(const struct time_range *w, const struct time_range_rollup *r)
{
	return !w->times || r->there < r->name.items;
}

/* 0, -ENOMEM after a sentence, or another -errno where it cannot be read. */
static int add_file(const struct time_range *w, const struct item_name *n,
		    struct gprof_profile_sum *files)
{
	void *data = NULL;
	size_t size;
	int err = time_range_read(w, n, &data, &size);

	if (err)
		return err == -ENOMEM ? -EIO : err;
	if (w->times)
		gprof_profile_sum_time(files, time_of(w, n));
	/* Memory in use at its end: in each profile all live objects. */
	err = gprof_profile_sum_add(files, data, size, GPROF_SUM_LAST_IN_USE);
	free(data);
	if (err == -ENOMEM)
		fail("%s", gprof_error());
	return err;
}

/* It is left out where it cannot be read. */
static int add_one(const struct time_range *w, const struct item_name *n,
		   struct gprof_profile_sum *files, struct time_range_sum *sum)
{
	int err = add_file(w, n, files);

	if (err == -ENOMEM)
		return STATUS_FAILED;
	if (err) {
		report_damaged(n, why(err), sum);
		return STATUS_OK;
	}
	sum->used++;
	sum->ns += n->duration_ns;
	return STATUS_OK;
}

/* Its items, where they are of the window and there still. */
static int add_in_place(const struct time_range *w, const struct time_range_rollup *r, int err,
			struct gprof_profile_sum *files, struct time_range_sum *sum)
{
	size_t gone = r->name.items - (r->there < r->name.items ? r->there : r->name.items);
	char name[ITEM_NAME];
	int status = STATUS_OK;

	item_name_text(&r->name, name);
	if (!sum->in_place++)
		diag("%s is left out: %s; %zu of its %u profiles are there still, and are read; "
		     "others are counted",
		     name, why(err), r->there, r->name.items);
	sum->damaged += gone;
	for (size_t i = 0; i < w->nr && status == STATUS_OK; i++)
		if (rollup_has(&r->name, &w->items[i]))
			status = add_one(w, &w->items[i], files, sum);
	return status;
}

static int add_rollup(const struct time_range *w, const struct time_range_rollup *r,
		      struct gprof_profile_sum *files, struct time_range_sum *sum)
{
	int err = add_file(w, &r->name, files);

	if (err == -ENOMEM)
		return STATUS_FAILED;
	if (err)
		return add_in_place(w, r, err, files, sum);
	sum->used += r->name.items;
	sum->ns += r->name.duration_ns;
	return STATUS_OK;
}

/* By time; a rollup comes at the end of its ten minutes, behind later items of them. */
static int add_all(const struct time_range *w, struct gprof_profile_sum *files,
		   struct time_range_sum *sum)
{
	int status = STATUS_OK;
	size_t i = 0, r = 0;

	while (status == STATUS_OK && (i < w->nr || r < w->nr_rollups)) {
		if (i < w->nr && rollups_of(w, r, &w->items[i]) == r) {
			const struct item_name *n = &w->items[i++];
			const struct time_range_rollup *of = rollup_of(w, r, n);

			status = of && is_read(w, of) ? STATUS_OK : add_one(w, n, files, sum);
		} else {
			const struct time_range_rollup *rollup = &w->rollups[r++];

			if (is_read(w, rollup))
				status = add_rollup(w, rollup, files, sum);
		}
	}
	return status;
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

const struct item_name *time_range_next(const struct time_range *w, size_t *i, size_t *r)
{
	while (*r < w->nr_rollups) {
		const struct time_range_rollup *rollup = &w->rollups[(*r)++];

		if (rollup->there < rollup->name.items)
			return &rollup->name;
	}
	while (*i < w->nr) {
		const struct item_name *n = &w->items[(*i)++];
		const struct time_range_rollup *rollup = rollup_of(w, 0, n);

		if (!rollup || rollup->there >= rollup->name.items)
			return n;
	}
	return NULL;
}

int time_range_profile(const struct time_range *w, const struct item_name *n, const char *service,
		       struct gprof_profile **p)
{
	struct gprof_profile_sum *files = gprof_profile_sum_new();
	int err = files ? add_file(w, n, files) : -ENOMEM;

	if (!files)
		fail("%s", gprof_error());
	if (err) {
		gprof_profile_sum_free(files);
		return err;
	}
	*p = gprof_profile_sum_end(files);
	if (!*p)
		fail("%s", gprof_error());
	return !*p || (service && choose(p, service) != STATUS_OK) ? -ENOMEM : 0;
}

int time_range_merge(const struct time_range *w, const char *service, struct time_range_sum *sum)
{
	struct gprof_profile_sum *files = gprof_profile_sum_new();
	int status = files ? STATUS_OK : fail("%s", gprof_error());

	*sum = (struct time_range_sum){ 0 };
	if (status == STATUS_OK)
		status = add_all(w, files, sum);
	if (status != STATUS_OK || !sum->used) {
		gprof_profile_sum_free(files);
		return status;
	}
	sum->merged = gprof_profile_sum_end(files);
	if (!sum->merged)
		return fail("%s", gprof_error());
	return service ? choose(&sum->merged, service) : STATUS_OK;
}
