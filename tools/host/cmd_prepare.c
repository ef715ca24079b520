// SPDX-License-Identifier: GPL-2.0-only
/*
 * gprofctl prepare: unwind tables, before there is a recording.
 */
#include "cli/cmd.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <gprof/tables.h>

#include "cli/options.h"
#include "cli/diag.h"
#include "cli/json.h"
#include "cli/watch.h"

#define REPORTED_MAX	5	/* files that failed */

/**
 * struct prepare - the command line, and the result
 * @quiet: -q
 * @for_programs: --json
 * @json: its document
 * @watch: for Ctrl-C
 * @nr_failed: files that failed
 */
struct prepare {
	bool quiet;
	bool for_programs;
	struct json json;
	struct watch watch;
	size_t nr_failed;
};

static int set_quiet(void *ctx, const char *value)
{
	(void)value;
	((struct prepare *)ctx)->quiet = true;
	return STATUS_OK;
}

static const struct option_row prepare_rows[] = {
	{ 'q', "quiet", NULL, "report failures alone", set_quiet },
	{ 0 },
};

static const struct usage prepare_usage = {
	.name = "prepare",
	.synopsis = "[OPTIONS] [PATH...]",
	.text =
"Makes the unwind tables that stacks without frame pointers need, of all programs\n"
"and libraries that run now, or of those at and below each PATH. It keeps them on\n"
"disk, root's for all users, a user's for that user: recordings have complete\n"
"stacks from the first sample on. Tables that are there already stay. It needs no\n"
"module.",
	.examples =
"  gprofctl prepare                  # as root: all that runs, for all users\n"
"  gprofctl prepare /opt/app         # a program that is about to be started",
};

static int show_progress(void *ctx, size_t done, size_t all)
{
	struct prepare *p = ctx;

	if (all)
		progress("making unwind tables for %s: %zu of %zu files (Ctrl-C ends it)",
			 geteuid() ? "you" : "all users", done, all);
	else
		progress("looking for programs and libraries: %zu (Ctrl-C ends it)", done);
	return watch_signalled(&p->watch);
}

static void report_failed(void *ctx, const char *file, const char *why)
{
	struct prepare *p = ctx;

	if (p->for_programs) {
		json_object(&p->json, NULL);
		json_string(&p->json, "file", file);
		json_string(&p->json, "text", why);
		json_end(&p->json);
		return;
	}
	if (p->nr_failed++ < REPORTED_MAX)
		diag("%s: %s", file, why);
}

/* ", WORDS" with a number in front; nothing of none. */
static char *part(uint64_t n, const char *one, const char *more)
{
	return n ? xprintf(", %" PRIu64 " %s", n, n == 1 ? one : more) : xprintf("%s", "");
}

static void report_sum(const struct gprof_tables_made *made, double seconds)
{
	bool small = made->bytes < 1 << 20;
	uint64_t tables = made->made + made->there;
	char *shared = part(made->shared, "is there for all users", "are there for all users");
	char *frameless = part(made->frameless, "file tells nothing of its frames",
			       "files tell nothing of their frames");
	char *failed = part(made->failed, "failed", "failed");

	diag("tables of %" PRIu64 " file%s, %.1f %s in %s: %" PRIu64 " made in %.1f s, %" PRIu64
	     " %s there%s%s%s",
	     tables, tables == 1 ? "" : "s", (double)made->bytes / (small ? 1 << 10 : 1 << 20),
	     small ? "KiB" : "MiB", made->dir, made->made, seconds, made->there,
	     made->there == 1 ? "was" : "were", shared, frameless, failed);
	free(shared);
	free(frameless);
	free(failed);
}

static void put_sum(struct json *j, const struct gprof_tables_made *made, double seconds)
{
	json_end(j);
	json_string(j, "directory", made->dir);
	json_u64(j, "files", made->files);
	json_u64(j, "made", made->made);
	json_u64(j, "there", made->there);
	json_u64(j, "shared", made->shared);
	json_u64(j, "frameless", made->frameless);
	json_u64(j, "failed", made->failed);
	json_u64(j, "left", made->left);
	json_u64(j, "bytes", made->bytes);
	json_u64(j, "limit_bytes", made->limit);
	json_s64(j, "time_ns", (int64_t)(seconds * 1e9));
	json_close(j);
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static int prepare(struct prepare *p, char **paths, size_t nr)
{
	const struct gprof_tables_opts opts = {
		.sz = sizeof(opts),
		.paths = nr ? (const char *const *)paths : NULL,
		.nr_paths = nr,
		.progress = show_progress,
		.failed = report_failed,
		.ctx = p,
	};
	struct gprof_tables_made made = { .sz = sizeof(made) };
	double begin = now();
	int err;

	if (p->for_programs) {
		json_open(&p->json, stdout, "prepare");
		json_array(&p->json, "failures");
	}
	err = gprof_tables_make(&opts, &made);

	progress_clear();
	if (p->for_programs)
		put_sum(&p->json, &made, now() - begin);
	if (p->nr_failed > REPORTED_MAX)
		diag("and %zu more", p->nr_failed - REPORTED_MAX);
	if (err)
		return fail("%s", gprof_error());
	if (!made.files && !watch_signalled(&p->watch))
		return fail("there are no programs or libraries to make unwind tables of");
	if (!p->quiet && !p->for_programs)
		report_sum(&made, now() - begin);
	if (made.full)
		return fail("%" PRIu64 " of %" PRIu64 " files have no table: what is kept would be more "
			    "than %" PRIu64 " MiB, and new tables would take the place of these; "
			    "name what matters most", made.left, made.files, made.limit >> 20);
	if (watch_signalled(&p->watch))
		return fail("ended before all was done: %" PRIu64 " files are left", made.left);
	return STATUS_OK;
}

int cmd_prepare(int argc, char **argv)
{
	struct prepare p = { 0 };
	const struct option_table tables[] = {
		{ "Options", prepare_rows, &p }, { JSON_TABLE, json_options, &p.for_programs }, { 0 }
	};
	int operands, status;

	if (!options_parse(&prepare_usage, tables, argc, argv, true, &operands, &status))
		return status;
	status = watch_begin(&p.watch);
	if (status != STATUS_OK)
		return status;
	status = prepare(&p, argv + operands, (size_t)(argc - operands));
	watch_end(&p.watch);
	return status == STATUS_OK ? finish_stdout() : status;
}
