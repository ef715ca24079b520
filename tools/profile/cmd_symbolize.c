// SPDX-License-Identifier: GPL-2.0-only
/*
 * gprofctl symbolize: names for a profile that was recorded before there were any.
 */
#include "cli/cmd.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <gprof/profile.h>
#include <gprof/symbolize.h>

#include "cli/debuginfod_progress.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/diag.h"
#include "cli/json.h"
#include "cli/text.h"
#include "debug_package.h"
#include "view.h"

#define REPORTED_MAX	20	/* files, those with most first */
#define ASK_MS		600000	/* of servers: debug files are large, and Ctrl-C ends it */

/**
 * struct words - values of an option that may be given often
 * @v: words
 * @nr: how many
 * @room: of @v
 */
struct words {
	const char **v;
	size_t nr;
	size_t room;
};

/**
 * struct rest - a file with code that has no name yet
 * @file: its path
 * @build_id: in hexadecimal, or ""
 * @left: locations without a name
 * @why: why that is so
 * @found: its debug symbols were there
 * @wanted: a debug file would name them
 */
struct rest {
	char *file;
	char *build_id;
	uint64_t left;
	char *why;
	bool found;
	bool wanted;
};

/**
 * struct symbolize - the command line, and the result
 * @output: -o
 * @files: --file
 * @dirs: --debug-dir
 * @ask: --debuginfod
 * @silent: --no-debuginfod
 * @asked: servers may be asked
 * @json: --json
 * @rest: files without names
 * @nr_rest: how many
 * @room_rest: of @rest
 * @unnamed: locations that had no name
 * @named: of these, have one now
 * @lined: others that have a line now
 */
struct symbolize {
	const char *output;
	struct words files;
	struct words dirs;
	bool ask;
	bool silent;
	bool asked;
	bool json;
	struct rest *rest;
	size_t nr_rest;
	size_t room_rest;
	uint64_t unnamed;
	uint64_t named;
	uint64_t lined;
};

static int set_output(void *ctx, const char *value)
{
	((struct symbolize *)ctx)->output = value;
	return STATUS_OK;
}

static int add_word(struct words *w, const char *value)
{
	w->v = xgrow(w->v, w->nr, &w->room, sizeof(*w->v));
	w->v[w->nr++] = value;
	return STATUS_OK;
}

static int add_file(void *ctx, const char *value)
{
	return add_word(&((struct symbolize *)ctx)->files, value);
}

static int add_dir(void *ctx, const char *value)
{
	return add_word(&((struct symbolize *)ctx)->dirs, value);
}

static int set_debuginfod(void *ctx, const char *value)
{
	struct symbolize *s = ctx;

	(void)value;
	s->ask = true;
	s->silent = false;
	return STATUS_OK;
}

static int set_silent(void *ctx, const char *value)
{
	struct symbolize *s = ctx;

	(void)value;
	s->ask = false;
	s->silent = true;
	return STATUS_OK;
}

static const struct option_row symbolize_rows[] = {
	{ 'o', "output", "OUT",
	  "write the profile there (default: in the place of PROFILE, which\n"
	  "is kept as PROFILE~); \"-\" is stdout",
	  set_output },
	{ 0, "file", "FILE",
	  "a program, a library or a debug file, for mappings with its build-id; may be repeated",
	  add_file },
	{ 0, "debug-dir", "DIR", "look for debug files in DIR/.build-id too; may be repeated",
	  add_dir },
	{ 0, "debuginfod", NULL, "fail if servers cannot be asked", set_debuginfod },
	{ 0, "no-debuginfod", NULL,
	  "ask no servers (default: fetch missing debug files from those of DEBUGINFOD_URLS,\n"
	  "which see the build-ids)",
	  set_silent },
	{ 0 },
};

static const struct usage symbolize_usage = {
	.name = "symbolize",
	.synopsis = "PROFILE [OPTIONS]",
	.text =
"Adds missing names to a pprof profile, of gprof or of another tool: functions,\n"
"lines and inlined functions. It takes only files with the build-ids of the\n"
"profile: the given ones, the program or library itself, those of /usr/lib/debug\n"
"and of debuginfod servers. Samples stay as they are. It needs no module. PROFILE\n"
"may be \"-\" for stdin; the output is then stdout.",
	.examples =
"  gprofctl symbolize cpu.pb.gz                    # after debug packages were installed\n"
"  gprofctl symbolize cpu.pb.gz --file app.debug   # with what was stripped off app\n"
"  DEBUGINFOD_URLS=https://debuginfod.elfutils.org gprofctl symbolize cpu.pb.gz",
};

static void on_file(void *ctx, const struct gprof_symbolized *done)
{
	struct symbolize *s = ctx;

	s->unnamed += done->unnamed;
	s->named += done->named;
	s->lined += done->lined;
	if (!*done->why)
		return;
	s->rest = xgrow(s->rest, s->nr_rest, &s->room_rest, sizeof(*s->rest));
	s->rest[s->nr_rest++] = (struct rest){
		.file = xprintf("%s", done->file), .build_id = text_safe(done->build_id),
		.left = done->unnamed - done->named, .why = text_safe(done->why),
		.found = done->found, .wanted = done->wanted,
	};
}

static void report_rest(const struct symbolize *s)
{
	size_t nr = s->nr_rest < REPORTED_MAX ? s->nr_rest : REPORTED_MAX;
	const char *paths[REPORTED_MAX];
	char *packages[REPORTED_MAX];

	for (size_t i = 0; i < nr; i++)
		paths[i] = s->rest[i].wanted ? s->rest[i].file : "";
	debug_packages(DPKG_INFO, paths, nr, packages);
	for (size_t i = 0; i < nr; i++) {
		const struct rest *r = &s->rest[i];
		const char *base = strrchr(r->file, '/');
		char *advice = debug_advice(packages[i], s->asked);
		char *name = text_safe(!*r->file ? "no mapping" : base ? base + 1 : r->file);
		char *id = xprintf(*r->build_id ? " (build-id %.12s...)" : "%.12s", r->build_id);
		char *left = r->left ? xprintf(": %" PRIu64 " location%s", r->left,
					       r->left == 1 ? "" : "s") : xprintf("%s", "");

		diag("%s%s%s: %s%s%s", name, id, left, r->why, r->wanted ? "; " : "",
		     r->wanted ? advice : "");
		free(id);
		free(left);
		free(name);
		free(advice);
		free(packages[i]);
	}
	if (nr < s->nr_rest)
		diag("%zu more files have locations without names", s->nr_rest - nr);
}

static void report_sum(const struct symbolize *s)
{
	char *lines = s->lined ? xprintf(", and lines of %" PRIu64 " others", s->lined) : NULL;

	report_rest(s);
	if (s->unnamed || s->lined)
		diag("named %" PRIu64 " of %" PRIu64 " locations that had no name%s", s->named,
		     s->unnamed, lines ? lines : "");
	else
		diag("no location of the profile lacks a name that a file could give");
	free(lines);
}

static void print_json(const struct symbolize *s)
{
	struct json j = { 0 };

	json_open(&j, stdout, "symbolize");
	json_u64(&j, "unnamed", s->unnamed);
	json_u64(&j, "named", s->named);
	json_u64(&j, "lined", s->lined);
	json_array(&j, "files");
	for (size_t i = 0; i < s->nr_rest; i++) {
		const struct rest *r = &s->rest[i];

		json_object(&j, NULL);
		json_string(&j, "file", r->file);
		json_string(&j, "build_id", r->build_id);
		json_u64(&j, "unnamed", r->left);
		json_string(&j, "reason", r->why);
		json_bool(&j, "debug_file_wanted", r->wanted);
		json_end(&j);
	}
	json_end(&j);
	json_close(&j);
}

static int write_profile(const struct gprof_profile *p, const char *name, bool in_place)
{
	struct output out;
	int status = output_open(&out, name), err;

	if (status != STATUS_OK)
		return status;
	err = gprof_profile_write(p, out.fd);
	if (err) {
		output_discard(&out);
		return fail("%s cannot be written: %s", name, strerror(-err));
	}
	out.keep_old = in_place;
	return output_commit(&out);
}

static int symbolize(struct symbolize *s, struct gprof_profile *p, const char *file)
{
	const struct gprof_symbolize_opts opts = {
		.sz = sizeof(opts),
		.files = s->files.v,
		.nr_files = s->files.nr,
		.debug_dirs = s->dirs.v,
		.nr_debug_dirs = s->dirs.nr,
		.tell = on_file,
		.ctx = s,
	};
	int ret = gprof_profile_symbolize(p, &opts), status = STATUS_OK;
	bool lacks = false;

	progress_clear();
	if (ret < 0)
		return fail("%s", gprof_error());
	if (s->json)
		print_json(s);
	else
		report_sum(s);
	/* The output is written, though it may be unchanged. */
	if (ret || s->output)
		status = write_profile(p, s->output ? s->output : file, !s->output && strcmp(file, "-"));
	for (size_t i = 0; i < s->nr_rest; i++)
		lacks |= s->rest[i].left && !s->rest[i].found;
	if (status == STATUS_OK)
		status = finish_stdout();
	return status == STATUS_OK && lacks && !s->named ? STATUS_FAILED : status;
}

/* Reported before the work is done; of direct output at its end. */
static int try_output(const char *name)
{
	struct output out;
	int status = output_open(&out, name);

	if (status == STATUS_OK)
		output_discard(&out);
	return status;
}

static int enable_servers(struct symbolize *s)
{
	if (s->silent || (!s->ask && !debuginfod_urls()))
		return STATUS_OK;
	s->asked = !debuginfod_enable(ASK_MS);
	if (!s->asked && s->ask)
		return fail("%s", gprof_error());
	if (!s->asked)
		diag("%s", gprof_error());
	return STATUS_OK;
}

static void free_symbolize(struct symbolize *s)
{
	for (size_t i = 0; i < s->nr_rest; i++) {
		free(s->rest[i].file);
		free(s->rest[i].build_id);
		free(s->rest[i].why);
	}
	free(s->rest);
	free(s->files.v);
	free(s->dirs.v);
}

int cmd_symbolize(int argc, char **argv)
{
	struct symbolize s = { 0 };
	const struct option_table tables[] = {
		{ "Options", symbolize_rows, &s }, { JSON_TABLE, json_options, &s.json }, { 0 }
	};
	int operands, status;
	struct view v;

	if (!options_parse(&symbolize_usage, tables, argc, argv, true, &operands, &status))
		goto out;
	if (argc - operands != 1) {
		status = misused("symbolize wants one profile, as in gprofctl symbolize cpu.pb.gz");
		goto out;
	}
	if (s.json && !strcmp(s.output ? s.output : argv[operands], "-")) {
		status = misused("--json goes to stdout, where the profile cannot go as well");
		goto out;
	}
	status = view_open(&v, argv[operands], NULL);
	if (status != STATUS_OK)
		goto out;
	status = try_output(s.output ? s.output : argv[operands]);
	if (status == STATUS_OK)
		status = enable_servers(&s);
	if (status == STATUS_OK)
		status = symbolize(&s, v.profile, argv[operands]);
	view_close(&v);
out:
	free_symbolize(&s);
	return status;
}
