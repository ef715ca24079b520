// SPDX-License-Identifier: GPL-2.0-only
/*
 * gprofctl history: the profiles that "gprofctl push" has kept of a span of time, as one profile.
 */
#include "cli/cmd.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/options.h"
#include "cli/output.h"
#include "cli/diag.h"
#include "cli/json.h"
#include "store/timeparse.h"
#include "record/profile_output.h"
#include "store/store_dir.h"
#include "store/store_span.h"
#include "store/time_range.h"

/**
 * struct history - the command line
 * @store: --store
 * @span: --from, --to, --service
 * @type: --type, or NULL
 * @file: -o, or NULL
 * @list: --list
 * @json: --json
 * @dir: the store
 * @window: the span of time
 * @sum: the profile
 */
struct history {
	const char *store, *type, *file;
	struct store_span span;
	bool list;
	bool json;
	struct store_dir dir;
	struct time_range window;
	struct time_range_sum sum;
};

#define SETTER(member)								\
	static int set_##member(void *ctx, const char *value)			\
	{									\
		((struct history *)ctx)->member = value;			\
		return STATUS_OK;						\
	}

SETTER(store)
SETTER(type)
SETTER(file)

static int set_list(void *ctx, const char *value)
{
	(void)value;
	((struct history *)ctx)->list = true;
	return STATUS_OK;
}

static const struct option_row rows[] = {
	{ 0, "store", "DIR", "the store that gprofctl push keeps", set_store },
	{ 0, "type", "KIND", "kind of profiles: cpu, block, ... (default: " STORE_SPAN_KIND ";\n"
	  "with --list all), or trace", set_type },
	{ 0, "list", NULL, "list the items, and merge nothing", set_list },
	{ 'o', "output", "FILE", "the profile (default: KIND.pb.gz); \"-\" is stdout", set_file },
	{ 0 },
};

static const struct usage usage = {
	.name = "history",
	.synopsis = "--store DIR [OPTIONS]",
	.text =
"Merges the profiles of a span of time from the store of \"gprofctl push --store\n"
"DIR\". A profile that overlaps the span belongs to it as a whole: the result may\n"
"begin an interval (push's --interval) before the span and end one after it, or\n"
"ten minutes where the store has sums of ten minutes alone. The comments of the\n"
"profile list its contents.\n"
"\n"
"gprofctl compare compares two spans of a store, and gprofctl view --store shows one.",
	.examples =
"  gprofctl history --store /var/lib/gprof --list\n"
"  gprofctl history --store /var/lib/gprof --from -2h --to -1h -o before.pb.gz\n"
"  gprofctl history --store /var/lib/gprof --from -1h -o after.pb.gz\n"
"  gprofctl diff before.pb.gz after.pb.gz\n"
"  gprofctl history --store /var/lib/gprof --from 2026-11-25T09:00:00Z \\\n"
"           --to 2026-11-25T10:00:00Z --type block --service nginx -o nginx.pb.gz",
};

static int complete(struct history *h, char **operands)
{
	int status;

	if (operands[0])
		return misused("history takes no \"%s\"; the store is that of --store DIR", operands[0]);
	if (h->json && !h->list)
		return misused("--json is for --list; gprofctl top --json shows a profile");
	if (!h->store)
		return misused("history wants the --store that gprofctl push keeps, such as "
			       "--store /var/lib/gprof");
	status = store_span_times(&h->span, h->list ? "0" : "-1h", &h->window);
	if (status != STATUS_OK)
		return status;
	if (!h->type && !h->list)
		h->type = STORE_SPAN_KIND;
	return STATUS_OK;
}

/* @j: or NULL */
static void list_one(struct json *j, const struct item_name *n, const char *state)
{
	char when[TIMEPARSE_TEXT];

	if (j) {
		json_object(j, NULL);
		json_u64(j, "begin_ns", n->start_ns);
		json_u64(j, "duration_ns", n->duration_ns);
		json_string(j, "kind", n->type);
		json_u64(j, "samples", n->samples);
		json_string(j, "state", state);
		json_string(j, "host", n->host);
		json_end(j);
		return;
	}
	printf("%-20s  %9.3f  %-12s  %9" PRIu64 "  %-5s  %s\n", timeparse_text(n->start_ns, when),
	       (double)n->duration_ns / 1e9, n->type, n->samples, state, n->host);
}

static int list(const struct history *h)
{
	static const char *const states[] = {
		[ITEM_KEPT] = "kept", [ITEM_WAITS] = "waits", [ITEM_TRIED] = "sent?",
	};
	const struct time_range *w = &h->window;
	struct json json = { 0 }, *j = h->json ? &json : NULL;
	size_t i = 0, r = 0;

	if (j) {
		json_open(j, stdout, "history");
		json_array(j, "items");
	} else {
		printf("%-20s  %9s  %-12s  %9s  %-5s  %s\n", "begin", "seconds", "kind", "samples",
		       "state", "host");
	}
	while (i < w->nr || r < w->nr_rollups) {
		const struct item_name *n = i < w->nr ? &w->items[i] : NULL;

		if (r < w->nr_rollups && (!n || w->rollups[r].name.start_ns <= n->start_ns)) {
			/* Its parts are there to be listed. */
			if (w->rollups[r].there < w->rollups[r].name.items)
				list_one(j, &w->rollups[r].name, "sum");
			r++;
			continue;
		}
		list_one(j, n, states[n->state]);
		i++;
	}
	if (j) {
		json_end(j);
		if (w->bad)
			json_loss(j, h->store, "hours that cannot be read: %zu", w->bad);
		json_close(j);
	}
	return finish_stdout();
}

static void report(const struct gprof_profile *p)
{
	(void)p;
}

static int write_trace(const struct history *h, struct output *o)
{
	const struct time_range *w = &h->window;
	void *data = NULL;
	size_t size, done = 0;
	int err;

	if (w->nr > 1)
		return fail("there are %zu traces of that time, which cannot be merged; choose one "
			    "by --from and --to (--list)", w->nr);
	err = time_range_read(w, &w->items[0], &data, &size);
	if (err)
		return fail("the trace cannot be read: %s", err == -EBADMSG ?
			    "it is damaged" : strerror(-err));
	while (done < size) {
		ssize_t n = write(o->fd, (char *)data + done, size - done);

		if (n <= 0) {
			free(data);
			return fail("%s: %s", o->name, strerror(errno));
		}
		done += (size_t)n;
	}
	free(data);
	return STATUS_OK;
}

static int write_merged(struct history *h, struct output *o)
{
	struct time_range_sum *sum = &h->sum;
	int status = time_range_merge(&h->window, h->span.service, sum);

	if (status != STATUS_OK)
		return status;
	if (!sum->merged || (h->span.service && !gprof_profile_whole(sum->merged, 0)))
		return fail("%s", sum->merged ? "no sample is of that service; gprofctl top --by "
			    "service shows which there are" :
			    "none of the profiles can be read");
	diag("%s: %zu profiles, %.1f s recorded", h->file, sum->used, (double)sum->ns / 1e9);
	if (sum->damaged)
		diag("profiles that are left out: %zu", sum->damaged);
	status = profile_output(o, sum->merged, NULL, NULL, report);
	sum->merged = NULL;
	o->fd = -1;
	return status;
}

static int merge(struct history *h)
{
	bool trace = !strcmp(h->type, "trace");
	struct output o;
	char *file = NULL;
	int status;

	if (!h->window.nr && !h->window.nr_rollups)
		return store_span_nothing(&h->window, h->type);
	if (!h->file)
		h->file = file = xprintf("%s%s", h->type, trace ? ".trace" : ".pb.gz");
	status = output_open(&o, h->file);
	if (status == STATUS_OK) {
		o.keep_old = true;
		status = trace ? write_trace(h, &o) : write_merged(h, &o);
		if (trace && status == STATUS_OK)
			status = output_commit(&o);
		output_discard(&o);
	}
	gprof_profile_free(h->sum.merged);
	free(file);
	return status;
}

int cmd_history(int argc, char **argv)
{
	struct history h = { 0 };
	const struct option_table tables[] = {
		{ "What to merge", rows, &h }, { "Which of it", store_span_options, &h.span }, { JSON_TABLE, json_options, &h.json }, { 0 }
	};
	int operands, status, err;

	if (!options_parse(&usage, tables, argc, argv, false, &operands, &status))
		return status;
	status = complete(&h, argv + operands);
	if (status == STATUS_OK)
		status = store_dir_open(&h.dir, h.store);
	if (status != STATUS_OK)
		return status;
	h.window.dir = &h.dir;
	err = time_range_scan(&h.window, h.type);
	if (err)
		status = fail("%s: %s", h.store, strerror(-err));
	else
		status = h.list ? list(&h) : merge(&h);
	/* Its size is not known: a script is to see it as well. */
	if (h.window.bad) {
		diag("hours that cannot be read: %zu", h.window.bad);
		status = status == STATUS_OK ? STATUS_FAILED : status;
	}
	time_range_free(&h.window);
	store_dir_close(&h.dir);
	return status;
}
