// SPDX-License-Identifier: GPL-2.0-only
/*
 * gprofctl mmu: how much of the processors was left to the program.
 */
#include "cli/cmd.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <gprof/trace.h>
#include <gprof/utilization.h>

#include "cli/duration.h"
#include "cli/file_kind.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/diag.h"
#include "cli/json.h"
#include "cli/text.h"
#include "mmu_flags.h"
#include "plot.h"
#include "views/processes.h"

#define SHORTEST	1000	/* shortest window that is looked at unasked, ns */
#define POINTS		32	/* of the plot for each power of ten */
#define WORST_MAX	100000
#define LEAST_SHOWN	0.000005	/* 0.0005 %, which is shown as 0.001 % */

/**
 * struct mmu - the command line, and the utilization functions
 * @file: the trace
 * @windows: --window, sorted; filled in when there is none
 * @nr_windows: how many
 * @windows_room: of @windows
 * @asked: windows were given
 * @q: --quantiles, sorted
 * @nr_q: how many
 * @q_room: of @q
 * @worst: --worst
 * @flags: --flags; without any, chosen by the kind of trace
 * @recorded: the trace is one of gprof's recorder
 * @json: --json
 * @svg: --svg
 * @processes: of the trace's tasks
 * @utilization: owns @functions
 * @functions: of the trace
 * @nr: how many
 * @curve: the same, for questions
 * @begin: of the first function, on the trace's clock
 * @longest: duration of the longest function, ns
 * @events: of the trace
 * @lost: events that are not in it
 */
struct mmu {
	const char *file;
	int64_t *windows;
	size_t nr_windows;
	size_t windows_room;
	bool asked;
	double *q;
	size_t nr_q;
	size_t q_room;
	unsigned long long worst;
	struct mmu_flags flags;
	bool recorded;
	bool json;
	const char *svg;
	struct processes processes;
	struct gprof_utilization *utilization;
	const struct gprof_util_function *functions;
	size_t nr;
	struct gprof_mmu *curve;
	int64_t begin;
	int64_t longest;
	uint64_t events;
	uint64_t lost;
};

static void *no_memory(void)
{
	diag("there is not enough memory");
	exit(STATUS_FAILED);
}

static int64_t process_of(void *ctx, int64_t task)
{
	return processes_of(&((struct mmu *)ctx)->processes, task);
}

static void make_utilization(struct mmu *m)
{
	const struct gprof_utilization_opts opts = {
		.sz = sizeof(opts), .flags = m->flags.flags,
		.group_of = m->flags.processes ? process_of : NULL, .ctx = m,
	};

	m->utilization = gprof_utilization_new_opts(&opts);
	if (!m->utilization)
		no_memory();
}

/* Feed the whole trace into @m->utilization, whose causes may be chosen by the kind of trace. */
static int read_events(struct mmu *m, struct gprof_trace *t)
{
	struct gprof_trace_stats st = { .sz = sizeof(st) };
	struct gprof_trace_event ev;
	int ret;

	while ((ret = gprof_trace_next(t, &ev)) > 0) {
		if (!m->utilization) {
			gprof_trace_stats(t, &st);
			if (!m->flags.given)
				mmu_flags_choose(&m->flags, &st);
			ret = mmu_flags_check(&m->flags, &st, m->file);
			if (ret != STATUS_OK)
				return ret;
			m->recorded = st.recorded;
			make_utilization(m);
		}
		if (!gprof_utilization_add(m->utilization, &ev))
			continue;
		if (errno == ERANGE)
			return fail("%s has more than %u processors, which no machine has",
				    m->file, GPROF_UTIL_PROCS_MAX);
		if (errno == EFBIG)
			return fail("%s would take more memory than a trace of its size should: its "
				    "processors come and go all the time", m->file);
		no_memory();
	}
	if (ret)
		return fail("%s is no whole trace: %s", m->file, gprof_error());
	gprof_trace_stats(t, &st);
	m->events = st.events;
	m->lost = st.lost;
	if (st.repaired)
		diag("%" PRIu64 " of %" PRIu64 " events had times that contradict their order; "
		     "they were put right",
		     st.repaired, st.events);
	return STATUS_OK;
}

static int on_batch(void *ctx, const struct gprof_trace_batch *batch)
{
	processes_add_batch(&((struct mmu *)ctx)->processes, batch);
	return 0;
}

static int read_trace(struct mmu *m)
{
	const struct gprof_trace_opts opts = {
		.sz = sizeof(opts),
		.batch = m->flags.processes ? on_batch : NULL,
		.ctx = m,
	};
	bool in = !strcmp(m->file, "-");
	int fd = in ? STDIN_FILENO : open(m->file, O_RDONLY | O_CLOEXEC);
	struct gprof_trace *t;
	int status;

	if (in)
		m->file = "stdin";
	if (fd < 0)
		return fail("%s cannot be opened: %s", m->file, strerror(errno));
	t = gprof_trace_new(fd, &opts);
	if (t)
		status = read_events(m, t);
	else
		status = file_not_opened(m->file, fd, FILE_TRACE);
	gprof_trace_free(t);
	if (!in)
		close(fd);
	return status;
}

static int64_t duration_of(const struct gprof_util_function *f)
{
	return f->nr ? f->changes[f->nr - 1].time - f->changes[0].time : 0;
}

static int analyze(struct mmu *m)
{
	int status = read_trace(m);

	if (status != STATUS_OK)
		return status;
	if (!m->utilization)
		make_utilization(m);
	if (gprof_utilization_finish(m->utilization, &m->functions, &m->nr))
		no_memory();
	m->begin = INT64_MAX;
	for (size_t i = 0; i < m->nr; i++) {
		if (duration_of(&m->functions[i]) > m->longest)
			m->longest = duration_of(&m->functions[i]);
		if (m->functions[i].nr && m->functions[i].changes[0].time < m->begin)
			m->begin = m->functions[i].changes[0].time;
	}
	if (!m->nr)
		return fail("%s has no utilization: it has no event with the number of "
			    "processors", m->file);
	if (!m->longest)
		return fail("%s has no utilization: it ends with the event that has the number of "
			    "processors", m->file);
	m->curve = gprof_mmu_new(m->functions, m->nr);
	if (!m->curve)
		no_memory();
	return STATUS_OK;
}

static void add_window(struct mmu *m, int64_t window)
{
	m->windows = xgrow(m->windows, m->nr_windows, &m->windows_room, sizeof(*m->windows));
	m->windows[m->nr_windows++] = window;
}

static void add_quantile(struct mmu *m, double q)
{
	m->q = xgrow(m->q, m->nr_q, &m->q_room, sizeof(*m->q));
	m->q[m->nr_q++] = q;
}

/* Powers of ten, and the whole. */
static void choose_windows(struct mmu *m)
{
	for (int64_t w = SHORTEST; w < m->longest; w *= 10)
		add_window(m, w);
	add_window(m, m->longest);
}

static void quantiles(const struct mmu *m, int64_t window, double *util)
{
	if (gprof_mmu_quantiles(m->curve, window, m->q, m->nr_q, util))
		no_memory();
}

static size_t find_worst(const struct mmu *m, int64_t window, struct gprof_util_window *worst)
{
	int nr = gprof_mmu_worst(m->curve, window, worst, m->worst);

	if (nr < 0)
		no_memory();
	return nr;
}

static void put_worst(struct json *j, const struct mmu *m, struct gprof_util_window *worst, int64_t window)
{
	size_t nr = find_worst(m, window, worst);

	for (size_t i = 0; i < nr; i++) {
		json_object(j, NULL);
		json_s64(j, "window_ns", window);
		json_s64(j, "time_ns", worst[i].time);
		json_double(j, "util", worst[i].util, JSON_EXACT);
		if (mmu_flags_whose(&m->flags))
			json_s64(j, mmu_flags_whose(&m->flags), worst[i].id);
		json_end(j);
	}
}

static void put_quantiles(struct json *j, const struct mmu *m, double *util, int64_t window)
{
	quantiles(m, window, util);
	for (size_t i = 0; i < m->nr_q; i++) {
		json_object(j, NULL);
		json_s64(j, "window_ns", window);
		json_double(j, "q", m->q[i], JSON_EXACT);
		json_double(j, "util", util[i], JSON_EXACT);
		json_end(j);
	}
}

static void print_json(const struct mmu *m)
{
	struct gprof_util_window *worst = xalloc(m->worst, sizeof(*worst));
	double *util = xalloc(m->nr_q, sizeof(*util));
	struct json j = { 0 };

	json_open(&j, stdout, "mmu");
	json_array(&j, "mmu");
	for (size_t i = 0; i < m->nr_windows; i++) {
		json_object(&j, NULL);
		json_s64(&j, "window_ns", m->windows[i]);
		json_double(&j, "mmu", gprof_mmu_at(m->curve, m->windows[i]), JSON_EXACT);
		json_end(&j);
	}
	json_end(&j);
	json_array(&j, "quantiles");
	for (size_t i = 0; i < m->nr_windows && m->nr_q; i++)
		put_quantiles(&j, m, util, m->windows[i]);
	json_end(&j);
	json_array(&j, "worst");
	for (size_t i = 0; i < m->nr_windows && m->worst; i++)
		put_worst(&j, m, worst, m->windows[i]);
	json_end(&j);
	json_lost_events(&j, m->file, m->lost);
	json_close(&j);
	free(worst);
	free(util);
}

/* Source and kind of the functions. */
static char *summary(const struct mmu *m)
{
	const char *whose = mmu_flags_whose(&m->flags);
	char *causes = mmu_flags_text(&m->flags, m->recorded), text[DURATION_TEXT], *s;
	size_t changes = 0;

	for (size_t i = 0; i < m->nr; i++)
		changes += m->functions[i].nr;
	s = xprintf("%s, %" PRIu64 " events, %zu changes of utilization%s%s; lost to: %s",
		    duration_text(m->longest, text), m->events, changes,
		    whose ? ", the worst " : "", whose ? whose : "", causes);
	free(causes);
	return s;
}

static void print_worst(const struct mmu *m, int64_t window)
{
	struct gprof_util_window *worst = xalloc(m->worst, sizeof(*worst));
	size_t nr = find_worst(m, window, worst);
	char text[DURATION_TEXT];

	printf("\nWorst windows of %s", duration_text(window, text));
	puts(nr ? ":" : ": in none was anything taken");
	for (size_t i = 0; i < nr; i++) {
		printf("  %8.3f %%  at %+.6f ms", 100 * worst[i].util,
		       (worst[i].time - m->begin) / 1e6);
		if (worst[i].length < window)
			printf(", all %s of it", duration_text(worst[i].length, text));
		if (mmu_flags_whose(&m->flags))
			printf("  %s %" PRId64, mmu_flags_whose(&m->flags), worst[i].id);
		putchar('\n');
	}
	free(worst);
}

/* Not one of the values has a digit that is shown. */
static bool is_nothing(double mmu, const double *util, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (util[i] >= LEAST_SHOWN)
			return false;
	return mmu < LEAST_SHOWN;
}

static void print_text(const struct mmu *m)
{
	double *util = xalloc(m->nr_q, sizeof(*util)), mmu;
	char *s = summary(m), text[DURATION_TEXT];
	int64_t nothing = 0;

	fputs("Utilization: ", stdout);
	text_plain(stdout, s);
	printf("\n\n%12s %10s", "window", "MMU");
	for (size_t i = 0; i < m->nr_q; i++) {
		snprintf(text, sizeof(text), "worst %.4g%%", 100 * m->q[i]);
		printf(" %12s", text);
	}
	putchar('\n');
	for (size_t i = 0; i < m->nr_windows; i++) {
		mmu = gprof_mmu_at(m->curve, m->windows[i]);
		quantiles(m, m->windows[i], util);
		if (!m->asked && is_nothing(mmu, util, m->nr_q)) {
			nothing = m->windows[i];
			continue;
		}
		duration_text(m->windows[i], text);
		/* Of the micro sign a terminal shows one column, printf() counts two. */
		printf("%*s %8.3f %%", 12 + (strchr(text, '\xc2') ? 1 : 0), text,
		       100 * mmu);
		for (size_t j = 0; j < m->nr_q; j++)
			printf(" %10.3f %%", 100 * util[j]);
		putchar('\n');
	}
	if (nothing)
		printf("All are 0 %% in windows of up to %s.\n", duration_text(nothing, text));
	for (size_t i = 0; i < m->nr_windows && m->worst; i++)
		print_worst(m, m->windows[i]);
	free(s);
	free(util);
}

/* A picture of the curve, marked at the windows that were asked for. */
static void draw(const struct mmu *m, FILE *f)
{
	double last = log10(m->longest), first = log10(SHORTEST);
	size_t nr = m->longest > 2 * SHORTEST ? 2 + (size_t)(POINTS * (last - first)) : 2;
	size_t nr_q = m->nr_q < PLOT_BANDS_MAX ? m->nr_q : PLOT_BANDS_MAX;
	int64_t *windows = xalloc(nr, sizeof(*windows));
	double *mmu = xalloc(nr, sizeof(*mmu)), *util = xalloc(nr_q * nr, sizeof(*util));
	double *column = xalloc(m->nr_q, sizeof(*column));
	double *marks = xalloc(m->nr_windows, sizeof(*marks));
	char *title = xprintf("Minimum utilization: %s", basename(m->file)), *s = summary(m);

	for (size_t i = 0; i < nr; i++) {
		windows[i] = i + 1 < nr ? (int64_t)(pow(10, first + (double)i / POINTS) + 0.5) :
					  m->longest;
		if (m->longest <= 2 * SHORTEST)
			windows[i] = i ? m->longest : (m->longest + 1) / 2;
		mmu[i] = gprof_mmu_at(m->curve, windows[i]);
		quantiles(m, windows[i], column);
		for (size_t j = 0; j < nr_q; j++)
			util[j * nr + i] = column[j];
	}
	for (size_t i = 0; i < m->nr_windows && m->asked; i++)
		marks[i] = gprof_mmu_at(m->curve, m->windows[i]);
	plot_write(f, &(struct plot){
		.title = title, .subtitle = s,
		.windows = windows, .nr = nr, .mmu = mmu,
		.q = m->q, .nr_q = nr_q, .util = util,
		.marks = m->windows, .marks_mmu = marks,
		.nr_marks = m->asked ? m->nr_windows : 0,
	});
	free(windows);
	free(mmu);
	free(util);
	free(column);
	free(marks);
	free(title);
	free(s);
}

static int write_svg(const struct mmu *m, struct output *out)
{
	FILE *f = output_stream(out);
	int error = f ? 0 : errno;

	if (f) {
		draw(m, f);
		if (ferror(f))
			error = errno ? errno : EIO;
		if (fclose(f) && !error)
			error = errno;
	}
	if (!error)
		return output_commit(out);
	output_discard(out);
	return fail("%s could not be written: %s", m->svg, strerror(error));
}

static int set_window(void *ctx, const char *value)
{
	int64_t ns;

	if (!duration_parse(value, &ns) || !ns)
		return misused("--window wants a time above 0, such as 10ms or 1 (second), "
			       "not \"%s\"", value);
	((struct mmu *)ctx)->asked = true;
	add_window(ctx, ns);
	return STATUS_OK;
}

static int set_quantiles(void *ctx, const char *value)
{
	struct mmu *m = ctx;
	const char *p = value;

	m->nr_q = 0;
	for (;;) {
		char *end;
		double q = strtod(p, &end);

		if (!strspn(p, "0123456789.") || !(q >= 0 && q <= 1) || (*end && *end != ','))
			return misused("--quantiles wants numbers from 0 to 1, such as "
				       "0.001,0.01, not \"%s\"", value);
		add_quantile(m, q);
		if (!*end)
			return STATUS_OK;
		p = end + 1;
	}
}

static int set_worst(void *ctx, const char *value)
{
	struct mmu *m = ctx;

	if (!parse_count(value, &m->worst) || m->worst > WORST_MAX)
		return misused("--worst wants a number of windows up to %d, not \"%s\"", WORST_MAX,
			       value);
	return STATUS_OK;
}

static int set_flags(void *ctx, const char *value)
{
	return mmu_flags_parse(&((struct mmu *)ctx)->flags, value);
}

static int set_svg(void *ctx, const char *value)
{
	((struct mmu *)ctx)->svg = value;
	return STATUS_OK;
}

static const struct option_row mmu_rows[] = {
	{ 0, "window", "D", "length of a window, such as 10ms; may be repeated (default: 1us,\n"
	  "10us, ... up to all of the trace)", set_window },
	{ 0, "quantiles", "Q,...", "also show the utilization that the share Q of all windows\n"
	  "stays below (default: 0.001,0.01,0.05)", set_quantiles },
	{ 0, "worst", "N", "list N worst windows of each length that do not overlap", set_worst },
	{ 0, "flags", "F,...", "what counts: stw, background, assist, sweep; by: perproc,\n"
	  "pertask, perprocess, alltasks (default: of a Go program stw,background,assist; of a\n"
	  "host pertask, with assist and sweep where they were recorded)", set_flags },
	{ 0, "svg", "FILE", "also draw the curve; \"-\" is stdout, instead of the table",
	  set_svg },
	{ 0 },
};

static const struct usage mmu_usage = {
	.name = "mmu",
	.synopsis = "FILE [OPTIONS]",
	.text =
"Shows the minimum mutator utilization (MMU) of a program: its share of the\n"
"processors in the worst window of each length. The rest went to its garbage\n"
"collector; in a trace of a host tasks waited for a CPU, or reclaim and interrupts\n"
"had it. FILE is an execution trace of a Go program or of gprof; \"-\" is stdin.",
	.examples =
"  gprofctl mmu go.trace                       # from 1 us to the whole trace\n"
"  gprofctl mmu go.trace --window 10ms --worst 5   # and where it was worst\n"
"  gprofctl mmu go.trace --svg mmu.svg         # a picture\n"
"  gprofctl mmu go.trace --flags stw,assist,perproc\n"
"  gprofctl mmu host.trace --flags perprocess --worst 5    # the worst process",
};

static int compare_windows(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static int compare_quantiles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static int report(struct mmu *m, struct output *svg)
{
	int status = analyze(m);

	if (status != STATUS_OK)
		return status;
	if (!m->asked)
		choose_windows(m);
	qsort(m->windows, m->nr_windows, sizeof(*m->windows), compare_windows);
	qsort(m->q, m->nr_q, sizeof(*m->q), compare_quantiles);
	if (m->svg) {
		status = write_svg(m, svg);
		if (status != STATUS_OK || !strcmp(m->svg, "-"))
			return status;
	}
	if (m->json)
		print_json(m);
	else
		print_text(m);
	return finish_stdout();
}

int cmd_mmu(int argc, char **argv)
{
	struct mmu m = { 0 };
	const struct option_table tables[] = {
		{ "Options", mmu_rows, &m }, { JSON_TABLE, json_options, &m.json }, { 0 }
	};
	struct output svg = { 0 };
	int operands, status;

	for (size_t i = 0; i < 3; i++)
		add_quantile(&m, (const double[]){ 0.001, 0.01, 0.05 }[i]);
	if (!options_parse(&mmu_usage, tables, argc, argv, true, &operands, &status))
		return status;
	if (argc - operands != 1)
		return misused("mmu wants one trace, as in gprofctl mmu go.trace");
	m.file = argv[operands];
	status = m.svg ? output_open(&svg, m.svg) : STATUS_OK;
	if (status == STATUS_OK) {
		status = report(&m, &svg);
		if (status != STATUS_OK && m.svg)
			output_discard(&svg);
	}
	gprof_mmu_free(m.curve);
	gprof_utilization_free(m.utilization);
	processes_free(&m.processes);
	free(m.windows);
	free(m.q);
	return status;
}
