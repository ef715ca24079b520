// SPDX-License-Identifier: GPL-2.0-only
/*
 * The recordings of a store that the command line asks for.
 */
#include "store_span.h"

#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "cli/cmd.h"
#include "cli/diag.h"
#include "timeparse.h"

#define SETTER(member)								\
	static int set_##member(void *ctx, const char *value)			\
	{									\
		((struct store_span *)ctx)->member = value;			\
		return STATUS_OK;						\
	}

SETTER(from)
SETTER(to)
SETTER(service)
SETTER(kind)

#define ROWS									\
	{ 0, "from", "TIME", "begin (default: -1h): 2026-11-25T09:00:00Z, or with an offset such\n" \
	  "as +01:00; -30min, before now; or seconds since 1970", set_from },	\
	{ 0, "to", "TIME", "end, which is outside the span (default: now)", set_to },	\
	{ 0, "service", "NAME", "samples of this service alone (label service.name)", set_service }

const struct option_row store_span_options[] = {
	ROWS,
	{ 0 },
};

const struct option_row store_span_kind_options[] = {
	{ 0, "kind", "KIND", "kind of recordings: cpu, block, ... (default: " STORE_SPAN_KIND ")",
	  set_kind },
	ROWS,
	{ 0 },
};

bool store_span_given(const struct store_span *o)
{
	return o->from || o->to || o->service || o->kind;
}

static int parse_time(const char *option, const char *text, uint64_t now, uint64_t *ns)
{
	if (timeparse(text, now, ns))
		return STATUS_OK;
	return misused("%s wants a time such as 2026-11-25T09:00:00Z, -1h or 1764061200, not "
		       "\"%s\"", option, text);
}

int store_span_times(const struct store_span *o, const char *from, struct time_range *w)
{
	uint64_t now = clock_now_ns(CLOCK_REALTIME);
	int status = parse_time("--from", o->from ? o->from : from, now, &w->from_ns);

	if (status == STATUS_OK)
		status = parse_time("--to", o->to ? o->to : "now", now, &w->to_ns);
	if (status == STATUS_OK && w->from_ns >= w->to_ns)
		status = misused("--from is not before --to");
	return status;
}

static void widen(uint64_t *begin, uint64_t *end, const struct item_name *n)
{
	if (n->start_ns < *begin)
		*begin = n->start_ns;
	if (n->start_ns > *end)
		*end = n->start_ns;
}

/* Rollups in place of items that are gone. */
int store_span_nothing(const struct time_range *w, const char *kind)
{
	struct time_range all = { .dir = w->dir, .to_ns = UINT64_MAX };
	char first[TIMEPARSE_TEXT], last[TIMEPARSE_TEXT];
	uint64_t begin = UINT64_MAX, end = 0;
	int status;

	if (!time_range_scan(&all, kind)) {
		for (size_t i = 0; i < all.nr; i++)
			widen(&begin, &end, &all.items[i]);
		for (size_t i = 0; i < all.nr_rollups; i++)
			widen(&begin, &end, &all.rollups[i].name);
	}
	if (begin <= end)
		status = fail("%s has no %s profile of that time; it has some from %s to %s",
			      w->dir->path, kind, timeparse_text(begin, first),
			      timeparse_text(end, last));
	else
		status = fail("%s has no %s profile; gprofctl history --store %s --list shows what it "
			      "has", w->dir->path, kind, w->dir->path);
	time_range_free(&all);
	return status;
}

static int scan(const char *kind, struct time_range *w)
{
	int err = time_range_scan(w, kind);

	if (err)
		return fail("%s: %s", w->dir->path, strerror(-err));
	if (w->bad)
		return fail("%s: %zu hour%s cannot be read", w->dir->path, w->bad,
			    w->bad > 1 ? "s" : "");
	return w->nr || w->nr_rollups ? STATUS_OK : store_span_nothing(w, kind);
}

int store_span_open(const struct store_span *o, const char *path, uint64_t ago_ns,
		    struct store_dir *dir, struct time_range *w)
{
	const char *kind = o->kind ? o->kind : STORE_SPAN_KIND;
	int status;

	*w = (struct time_range){ .dir = dir };
	if (!strcmp(kind, "trace"))
		return misused("--kind trace: traces are no profiles; gprofctl history --type trace "
			       "has them");
	status = store_span_times(o, "-1h", w);
	if (status != STATUS_OK)
		return status;
	w->from_ns -= ago_ns < w->from_ns ? ago_ns : w->from_ns;
	w->to_ns -= ago_ns < w->to_ns ? ago_ns : w->to_ns;
	status = store_dir_open(dir, path);
	if (status != STATUS_OK)
		return status;
	status = scan(kind, w);
	if (status != STATUS_OK) {
		time_range_free(w);
		store_dir_close(dir);
	}
	return status;
}
