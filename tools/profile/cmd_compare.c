// SPDX-License-Identifier: GPL-2.0-only
/*
 * gprofctl compare: which functions did a change make dearer or cheaper, beyond what noise makes
 * of samples? Profiles before and after, one of each or several; the answer of a test in CI is the
 * exit status.
 */
#include "cli/cmd.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/diag.h"
#include "cli/duration.h"
#include "cli/json.h"
#include "cli/options.h"
#include "cli/pager.h"
#include "cli/text.h"
#include "compare_table.h"
#include "functions.h"
#include "store/store_span.h"
#include "store/timeparse.h"
#include "view.h"

#define LENGTHS_DIFFER	1.2
/* Of both sides: each function has room for the values of all. */
#define RUNS_MAX	2000
#define LOSSES_MAX	5	/* that are shown as text */

enum per { PER_RUN, PER_SECOND, PER_SHARE };

static const char *const per_words[] = { "run", "second", "share" };

/**
 * struct operand - what is compared
 * @path: a profile, or a store
 * @is_store: it is one; then:
 * @dir: it
 * @range: its recordings
 * @used: of these, how many are runs
 * @sums: of these, how many are sums of ten minutes
 * @left_out: that cannot be read
 */
struct operand {
	const char *path;
	bool is_store;
	struct store_dir dir;
	struct time_range range;
	size_t used;
	size_t sums;
	size_t left_out;
};

/**
 * struct run - one profile
 * @file: its name
 * @seconds: how long it took, 0: not known
 * @of_process: its target is one, which may be a command that did all of its work
 * @losses: sentences on samples that it lacks
 * @nr_losses: how many
 * @room: of @losses
 */
struct run {
	char *file;
	double seconds;
	bool of_process;
	char **losses;
	size_t nr_losses;
	size_t room;
};

/**
 * struct compare - the command
 * @type: --type
 * @cum: --cum
 * @symbols: --no-demangle
 * @json: --json
 * @per: --per
 * @has_per: it was given
 * @span: which recordings of stores
 * @ago_ns: --ago, 0 when absent
 * @fail_above: --fail-above, or below 0
 * @operands: profiles and stores, those before first
 * @nr_operands: how many
 * @runs: profiles, likewise
 * @nr_runs: those that were read
 * @name: type of the values
 * @unit: of them
 * @table: functions
 */
struct compare {
	const char *type;
	bool cum;
	bool symbols;
	bool json;
	enum per per;
	bool has_per;
	struct store_span span;
	int64_t ago_ns;
	double fail_above;
	struct operand *operands;
	size_t nr_operands;
	struct run *runs;
	size_t nr_runs;
	char *name;
	char *unit;
	struct compare_table table;
};

/* ---- reading ---- */

static void note_losses(struct run *r, const struct view *v)
{
	const char *loss;
	size_t nth = 0;

	while ((loss = view_loss(v, &nth))) {
		r->losses = xgrow(r->losses, r->nr_losses, &r->room, sizeof(*r->losses));
		r->losses[r->nr_losses++] = xprintf("%s", loss);
	}
}

/* Others end when they were told to; so does one that does not tell its target. */
static bool is_of_process(const struct view *v)
{
	const char *comment;

	for (size_t i = 0; (comment = gprof_profile_comment(v->profile, i)); i++)
		if (!strncmp(comment, "target: ", 8))
			return !strncmp(comment + 8, "process ", 8) ||
			       !strncmp(comment + 8, "thread ", 7);
	return true;
}

static int check_type(struct compare *o, const struct run *r, const struct view *v)
{
	if (!o->name) {
		o->name = xprintf("%s", v->name);
		o->unit = xprintf("%s", v->unit);
	}
	if (strcmp(v->name, o->name) || strcmp(v->unit, o->unit))
		return fail("%s is of %s, and %s of %s: they cannot be compared", o->runs[0].file,
			    o->name, r->file, v->name);
	return STATUS_OK;
}

/* A recording of a store may be of an idle time; @again: it is not its first. */
static int add_view(struct compare *o, struct view *v, bool is_store, bool again)
{
	struct functions values = { 0 }, samples = { 0 };
	/* It hides idle waits, as other tables do. */
	struct sample_filter filter = { .waits.reported = again };
	struct run *r = &o->runs[o->nr_runs];
	int status = check_type(o, r, v);

	v->filter = &filter;
	gprof_profile_system_names(v->profile, o->symbols);
	if (status == STATUS_OK)
		status = functions_counted(&values, &samples, v, FUNCTIONS_ALL);
	if (status == STATUS_OK && (values.counted < 0 || (v->total <= 0 && !is_store)))
		status = fail("%s: a difference of profiles, or one without values, cannot be "
			      "compared", r->file);
	else if (status == STATUS_OK && !samples.nr && values.nr)
		status = fail("%s has no values of the type samples or contentions: of how many "
			      "samples it is, and so what noise makes of them, is not known", r->file);
	/* A share of nothing is none. */
	if (status == STATUS_OK && (v->total > 0 || o->per != PER_SHARE)) {
		compare_table_add(&o->table, o->nr_runs++, &values, &samples, o->cum);
		r->seconds = view_duration(v);
		r->of_process = is_of_process(v);
		note_losses(r, v);
	} else {
		free(r->file);
		r->file = NULL;
	}
	functions_free(&values);
	functions_free(&samples);
	sample_filter_free(&filter);
	return status;
}

static int add_file(struct compare *o, const char *file)
{
	struct view v;
	int status = view_open(&v, file, o->type);

	if (status != STATUS_OK)
		return status;
	o->runs[o->nr_runs].file = xprintf("%s", file);
	status = add_view(o, &v, false, false);
	view_close(&v);
	return status;
}

static int add_item(struct compare *o, struct operand *op, const struct item_name *n)
{
	size_t before = o->nr_runs;
	struct gprof_profile *p;
	char name[ITEM_NAME];
	int err, status;
	struct view v;

	item_name_text(n, name);
	err = time_range_profile(&op->range, n, o->span.service, &p);
	if (err == -ENOMEM)
		return STATUS_FAILED;
	if (err) {
		if (!op->left_out++)
			diag("%s in %s is left out: %s; others are counted", name, op->path,
			     err == -EBADMSG ? "it is damaged" : strerror(-err));
		return STATUS_OK;
	}
	status = view_of(&v, p, name, o->type);
	if (status != STATUS_OK)
		return status;
	o->runs[before].file = xprintf("%s", name);
	status = add_view(o, &v, true, op->used);
	view_close(&v);
	op->used += o->nr_runs - before;
	op->sums += o->nr_runs > before && n->form == ITEM_ROLLUP;
	return status;
}

static int add_operand(struct compare *o, struct operand *op)
{
	const struct item_name *n;
	size_t i = 0, r = 0;
	int status = STATUS_OK;

	if (!op->is_store)
		return add_file(o, op->path);
	while (status == STATUS_OK && (n = time_range_next(&op->range, &i, &r)))
		status = add_item(o, op, n);
	return status;
}

/* Exposures, for free(); NULL after a sentence. */
static double *exposures(const struct compare *o)
{
	double *e = xalloc(o->nr_runs, sizeof(*e));

	for (size_t i = 0; i < o->nr_runs; i++) {
		const struct run *r = &o->runs[i];

		e[i] = o->per == PER_RUN ? 1 :
		       o->per == PER_SECOND ? r->seconds : o->table.rows[0].values[i];
		if (e[i] > 0)
			continue;
		fail(o->per == PER_SECOND ? "%s does not say how long it took; --per run or share need "
		     "no time" : "%s: no value is left to compare", r->file);
		free(e);
		return NULL;
	}
	return e;
}

/* ---- showing ---- */

static const struct compare_measure *measure_of(const struct compare *o)
{
	return &o->table.measures[0];
}

static double change_of(const struct compare *o, const struct compare_row *r)
{
	return compare_table_percent(measure_of(o), r->after - r->before);
}

static bool grew_too_much(const struct compare *o, const struct compare_row *r)
{
	return o->fail_above >= 0 && compare_differs(r) && change_of(o, r) > o->fail_above;
}

/* In the order of the table; the first is the total. */
static const struct compare_row *nth_row(const struct compare *o, size_t i)
{
	return &measure_of(o)->c.rows[i ? o->table.lines[i - 1].row : 0];
}

/* Seconds of a run before and after; are they known, and do they differ? */
static bool lengths_differ(const struct compare *o, double seconds[2])
{
	size_t before = o->table.nr_before, after = o->table.nr_runs - before;

	seconds[0] = seconds[1] = 0;
	for (size_t i = 0; i < o->table.nr_runs; i++) {
		if (!o->runs[i].seconds)
			return false;
		seconds[i >= before] += o->runs[i].seconds / (double)(i < before ? before : after);
	}
	return seconds[1] > LENGTHS_DIFFER * seconds[0] || seconds[0] > LENGTHS_DIFFER * seconds[1];
}

/*
 * Of recordings of another length values are no measure, unless the work is the same: a command
 * that became faster has a shorter recording, and takes as much CPU time in each second.
 */
static void choose_per(struct compare *o)
{
	double seconds[2];

	if (o->has_per || !lengths_differ(o, seconds))
		return;
	for (size_t i = 0; i < o->table.nr_runs; i++)
		if (o->runs[i].of_process)
			return;
	o->per = PER_SECOND;
}

static void print_lengths(const struct compare *o)
{
	double seconds[2];

	if (o->per == PER_SHARE || !lengths_differ(o, seconds))
		return;
	if (o->per == PER_RUN)
		printf("Before took %.3g s a run, after %.3g s; --per second or --per share does not\n"
		       "count that\n", seconds[0], seconds[1]);
	else if (!o->has_per)
		printf("Before took %.3g s a run, after %.3g s: values are per second; --per run takes\n"
		       "them as they are\n", seconds[0], seconds[1]);
}

static void print_side(const struct compare *o, const char *word, size_t from, size_t to)
{
	double samples = compare_table_samples(&o->table, from, to);

	printf("%s: %zu run%s, %.0f sample%s", word, to - from, to - from > 1 ? "s" : "", samples,
	       samples == 1 ? "" : "s");
}

static void print_store(const struct operand *op)
{
	char from[TIMEPARSE_TEXT], to[TIMEPARSE_TEXT];

	printf("%s: %zu recording%s from %s to %s", op->path, op->used, op->used == 1 ? "" : "s",
	       timeparse_text(op->range.from_ns, from), timeparse_text(op->range.to_ns, to));
	if (op->sums)
		printf("; sums of ten minutes: %zu", op->sums);
	if (op->left_out)
		printf("; left out, as they cannot be read: %zu", op->left_out);
	putchar('\n');
}

static void print_losses(const struct compare *o)
{
	size_t nr = 0;

	for (size_t i = 0; i < o->nr_runs; i++) {
		for (size_t l = 0; l < o->runs[i].nr_losses; l++) {
			if (nr++ >= LOSSES_MAX)
				continue;
			printf("%s: ", o->runs[i].file);
			text_plain(stdout, o->runs[i].losses[l]);
			putchar('\n');
		}
	}
	if (nr > LOSSES_MAX)
		printf("%zu more losses; --json has all\n", nr - LOSSES_MAX);
}

static void print_table(const struct compare *o)
{
	const struct compare_table *t = &o->table;

	pager_begin();
	printf("Type: %s%s, per %s\n", o->name, o->cum ? " with callees" : "", per_words[o->per]);
	print_side(o, "Before", 0, t->nr_before);
	print_side(o, "; after", t->nr_before, t->nr_runs);
	putchar('\n');
	for (size_t i = 0; i < o->nr_operands; i++)
		if (o->operands[i].is_store)
			print_store(&o->operands[i]);
	print_losses(o);
	print_lengths(o);
	compare_table_print(t, "functions");
}

static void put_row(struct json *j, const struct compare *o, const struct compare_row *r)
{
	json_object(j, NULL);
	if (r->whole)
		json_bool(j, "total", true);
	else
		json_string(j, "function", r->name);
	json_double(j, "before", r->before, 9);
	json_double(j, "after", r->after, 9);
	json_double(j, "change_percent", change_of(o, r), 6);
	if (r->judged)
		json_double(j, "error_percent", compare_table_percent(measure_of(o), r->error), 6);
	json_double(j, "p", r->p, 6);
	json_bool(j, "differs", compare_differs(r));
	json_bool(j, "fails", grew_too_much(o, r));
	json_end(j);
}

static void print_json(const struct compare *o, size_t failed)
{
	const struct comparison *c = &measure_of(o)->c;
	struct json j = { 0 };

	json_open(&j, stdout, "compare");
	json_string(&j, "type", o->name);
	json_string(&j, "unit", c->shares ? "share" : o->unit);
	json_string(&j, "per", per_words[o->per]);
	json_u64(&j, "runs_before", c->nr_before);
	json_u64(&j, "runs_after", c->nr_runs - c->nr_before);
	json_bool(&j, "sampling_noise_only", !compare_knows_runs(c));
	json_u64(&j, "failed", failed);
	json_array(&j, "rows");
	for (size_t i = c->shares; i < c->nr; i++)
		put_row(&j, o, nth_row(o, i));
	json_end(&j);
	for (size_t i = 0; i < c->nr_runs; i++)
		for (size_t l = 0; l < o->runs[i].nr_losses; l++)
			json_loss(&j, o->runs[i].file, "%s", o->runs[i].losses[l]);
	json_close(&j);
}

/* The sentence that a test of CI ends with. */
static void print_verdict(const struct compare *o, size_t failed, const struct compare_row *worst)
{
	if (o->fail_above < 0)
		return;
	if (!failed) {
		printf("Passed: nothing grew by more than %g%% of the total before, beyond noise\n",
		       o->fail_above);
		return;
	}
	printf("Failed: ");
	text_plain(stdout, worst->name);
	printf(" grew by %.2f +- %.2f%% of the total before", change_of(o, worst),
	       compare_table_percent(measure_of(o), worst->error));
	if (failed > 1)
		printf(", and %zu more", failed - 1);
	printf("; allowed are %g%%\n", o->fail_above);
}

static int show(const struct compare *o)
{
	const struct compare_row *worst = NULL;
	const struct comparison *c = &measure_of(o)->c;
	size_t failed = 0;
	int status;

	for (size_t i = c->shares; i < c->nr; i++) {
		const struct compare_row *r = nth_row(o, i);

		if (!grew_too_much(o, r))
			continue;
		failed++;
		/* A function says more than the total. */
		if (!worst || worst->whole)
			worst = r;
	}
	if (o->json) {
		print_json(o, failed);
	} else {
		print_table(o);
		print_verdict(o, failed, worst);
	}
	status = finish_stdout();
	return status == STATUS_OK && failed ? STATUS_GREW : status;
}

/* ---- the command ---- */

static int set_type(void *ctx, const char *value)
{
	((struct compare *)ctx)->type = value;
	return STATUS_OK;
}

static int set_cum(void *ctx, const char *value)
{
	(void)value;
	((struct compare *)ctx)->cum = true;
	return STATUS_OK;
}

static int set_full_names(void *ctx, const char *value)
{
	(void)value;
	((struct compare *)ctx)->table.full_names = true;
	return STATUS_OK;
}

static int set_symbols(void *ctx, const char *value)
{
	(void)value;
	((struct compare *)ctx)->symbols = true;
	return STATUS_OK;
}

static int set_limit(void *ctx, const char *value)
{
	struct compare *o = ctx;

	if (!parse_count(value, &o->table.limit) || !o->table.limit)
		return misused("-n wants a number of rows above 0, not \"%s\"", value);
	return STATUS_OK;
}

static int set_per(void *ctx, const char *value)
{
	for (size_t i = 0; i < ARRAY_SIZE(per_words); i++) {
		if (strcmp(value, per_words[i]))
			continue;
		((struct compare *)ctx)->per = i;
		((struct compare *)ctx)->has_per = true;
		return STATUS_OK;
	}
	return misused("--per is run, second or share, not \"%s\"", value);
}

static int set_fail_above(void *ctx, const char *value)
{
	struct compare *o = ctx;
	char *end;

	o->fail_above = strtod(value, &end);
	if (end == value || (*end && strcmp(end, "%")) || !(o->fail_above >= 0) ||
	    isinf(o->fail_above))
		return misused("--fail-above wants per cent of the total, such as 2 or 0.5, not \"%s\"",
			       value);
	return STATUS_OK;
}

static int set_ago(void *ctx, const char *value)
{
	struct compare *o = ctx;

	if (!duration_parse(value, &o->ago_ns) || o->ago_ns <= 0)
		return misused("--ago wants a time, such as 1d or 30min, not \"%s\"", value);
	return STATUS_OK;
}

static const struct option_row option_rows[] = {
	{ 0, "fail-above", "PERCENT", "exit with 3 where a function, or the total, grew by more of the\n"
	  "total before, and by more than noise explains", set_fail_above },
	{ 0, "per", "WHAT", "compare values per run, per second, or as shares\n"
	  "(default: run; second of stores, and of recordings of a host, cgroup or CPUs whose\n"
	  "lengths differ)", set_per },
	{ 0, "type", "TYPE", "values to compare, such as samples or cpu (default: the profile's)",
	  set_type },
	{ 0, "cum", NULL, "compare functions with all that they call", set_cum },
	{ 'n', "rows", "N", "show N rows (default: functions that differ, 25 at most)", set_limit },
	{ 0, "ago", "TIME", "of stores: the recordings before are so much earlier, and of the same\n"
	  "store where there is one alone", set_ago },
	{ 0, "full-names", NULL, "do not shorten long names", set_full_names },
	{ 0, "no-demangle", NULL, "show C++ and Rust functions by their symbols", set_symbols },
	{ 0 },
};

static const struct usage compare_usage = {
	.name = "compare",
	.synopsis = "BEFORE AFTER [OPTIONS] | BEFORE ... -- AFTER ... | STORE --ago TIME",
	.text =
"Compares the profiles of a program before and after a change, one of each or\n"
"several, and shows which functions take more or less than noise makes of\n"
"samples. Of 20 comparisons without any difference one shows some, however many\n"
"functions there are. A directory is a store of \"gprofctl push\", and each of its\n"
"recordings a run.",
	.examples =
"  gprofctl compare before.pb.gz after.pb.gz\n"
"  gprofctl compare old*.pb.gz -- new*.pb.gz      # how much runs differ counts too\n"
"  gprofctl compare old*.pb.gz -- new*.pb.gz --fail-above 2    # a test for CI\n"
"  gprofctl compare /var/lib/gprof --from -1h --ago 1d   # this hour, and yesterday's",
};

static void close_all(struct compare *o)
{
	for (size_t i = 0; i < o->nr_runs; i++) {
		for (size_t l = 0; l < o->runs[i].nr_losses; l++)
			free(o->runs[i].losses[l]);
		free(o->runs[i].losses);
		free(o->runs[i].file);
	}
	for (size_t i = 0; i < o->nr_operands; i++) {
		if (!o->operands[i].is_store)
			continue;
		time_range_free(&o->operands[i].range);
		store_dir_close(&o->operands[i].dir);
	}
	free(o->operands);
	free(o->runs);
	free(o->name);
	free(o->unit);
	compare_table_free(&o->table);
}

/* Before a profile is read: how many there are. */
static int open_operand(struct compare *o, const char *path, bool before, size_t *runs)
{
	struct operand *op = &o->operands[o->nr_operands];
	struct stat st;
	int status = STATUS_OK;

	*op = (struct operand){ .path = path };
	if (!stat(path, &st) && S_ISDIR(st.st_mode)) {
		status = store_span_open(&o->span, path, before ? (uint64_t)o->ago_ns : 0, &op->dir,
					 &op->range);
		op->is_store = status == STATUS_OK;
		*runs += op->range.nr + op->range.nr_rollups;
	} else {
		++*runs;
	}
	o->nr_operands += status == STATUS_OK;
	return status;
}

static int open_operands(struct compare *o, char **paths, size_t nr, size_t before)
{
	bool stores = false;
	size_t runs = 0;

	o->operands = xalloc(nr, sizeof(*o->operands));
	for (size_t i = 0; i < nr; i++) {
		int status = open_operand(o, paths[i], i < before, &runs);

		if (status != STATUS_OK)
			return status;
		stores |= o->operands[i].is_store;
	}
	if (!stores && (o->ago_ns || store_span_given(&o->span)))
		return misused("%s is about the directory of a store, and there is none",
			       o->ago_ns ? "--ago" : "a span of time, kind or service");
	if (runs > RUNS_MAX)
		return fail("%zu recordings are too many to compare, of which %d can be: --from and "
			    "--to choose fewer", runs, RUNS_MAX);
	if (stores && !o->has_per)
		o->per = PER_SECOND;
	o->table.nr_runs = runs;
	o->runs = xalloc(runs, sizeof(*o->runs));
	return STATUS_OK;
}

static int read_operands(struct compare *o, size_t before)
{
	struct compare_table *t = &o->table;
	int status = STATUS_OK;

	for (size_t i = 0; status == STATUS_OK && i < o->nr_operands; i++) {
		status = add_operand(o, &o->operands[i]);
		if (i < before)
			t->nr_before = o->nr_runs;
	}
	t->nr_runs = o->nr_runs;
	if (status == STATUS_OK && (!t->nr_before || t->nr_before == t->nr_runs ||
				    compare_table_samples(t, 0, t->nr_before) <= 0))
		return fail("no recording %s has values of what is to be compared",
			    t->nr_before == t->nr_runs ? "after" : "before");
	return status;
}

static int compare(struct compare *o, char **paths, size_t nr, size_t before)
{
	struct compare_table *t = &o->table;
	int status = open_operands(o, paths, nr, before);
	double *exposure = NULL;

	if (status == STATUS_OK)
		status = read_operands(o, before);
	if (status == STATUS_OK) {
		choose_per(o);
		exposure = exposures(o);
		status = exposure ? STATUS_OK : STATUS_FAILED;
	}
	if (exposure) {
		t->unit = o->unit;
		compare_table_measure(t, "", exposure, o->per == PER_SHARE, 0);
		compare_table_judge(t);
		status = show(o);
	}
	close_all(o);
	return status;
}

/* The same recordings do not differ; one store is both sides where these are of two times. */
static bool is_one_store(const struct compare *o, int nr, char **paths)
{
	struct stat st;

	return o->ago_ns && nr == 1 && !stat(paths[0], &st) && S_ISDIR(st.st_mode);
}

int cmd_compare(int argc, char **argv)
{
	/* In place of "--", behind which getopt() sees no options. */
	static char between[] = "/";
	struct compare o = {
		.fail_above = -1,
		.table = { .sides = { "before", "after" }, .whole = "the total before" },
	};
	const struct option_table tables[] = {
		{ "Options", option_rows, &o },
		{ "Which recordings of stores", store_span_kind_options, &o.span },
		{ JSON_TABLE, json_options, &o.json },
		{ 0 }
	};
	int operands, status, nr, before = 0;

	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], "--"))
			argv[i] = between;
	if (!options_parse(&compare_usage, tables, argc, argv, true, &operands, &status))
		return status;
	argv += operands;
	nr = argc - operands;
	while (before < nr && argv[before] != between)
		before++;
	if (is_one_store(&o, nr, argv))
		return compare(&o, (char *[]){ argv[0], argv[0] }, 2, 1);
	if (before < nr)
		memmove(&argv[before], &argv[before + 1], (--nr - before) * sizeof(*argv));
	else if (nr == 2)
		before = 1;
	if (!before || before == nr)
		return misused("compare wants two profiles, as in gprofctl compare before.pb.gz "
			       "after.pb.gz, or several as in gprofctl compare b1 b2 -- a1 a2, or a "
			       "store with --ago");
	return compare(&o, argv, nr, before);
}
