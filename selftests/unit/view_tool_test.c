// SPDX-License-Identifier: GPL-2.0-only
/* The views of a profile, at the limits of numbers and memory; times and pipes. */
#include "harness.h"
#include "cli/cmd.h"
#include "cli/duration.h"
#include "host/stat_view.h"
#include "tool_run.h"
#include <gprof/profile.h>

extern void *__libc_realloc(void *p, size_t size);

/* The array of frames that a walk over the samples needs is not to be had. */
static bool no_frames;

void *realloc(void *old, size_t size)
{
	return no_frames && size == 16 * sizeof(struct gprof_frame) ? NULL :
	       __libc_realloc(old, size);
}

struct wire {
	unsigned char v[512];
	size_t len;
};

static void varint(struct wire *w, uint64_t n)
{
	for (; n >= 0x80; n >>= 7)
		w->v[w->len++] = n | 0x80;
	w->v[w->len++] = n;
}

static void number(struct wire *w, unsigned int field, uint64_t n)
{
	varint(w, field << 3);
	varint(w, n);
}

static void bytes(struct wire *w, unsigned int field, const void *data, size_t len)
{
	varint(w, field << 3 | 2);
	varint(w, len);
	memcpy(w->v + w->len, data, len);
	w->len += len;
}

static void nested(struct wire *w, unsigned int field, const struct wire *in)
{
	bytes(w, field, in->v, in->len);
}

/* Two stacks, "leaf" called by "a" and by "b", each with the largest value. */
static void largest(struct wire *w)
{
	static const char *const strings[] = { "", "count", "leaf", "a", "b" };
	struct wire part = { .len = 0 }, line = { .len = 0 };

	w->len = 0;
	for (unsigned int i = 0; i < 5; i++)
		bytes(w, 6, strings[i], strlen(strings[i]));
	number(&part, 1, 1);
	number(&part, 2, 1);
	nested(w, 1, &part);
	for (unsigned int i = 1; i <= 3; i++) {
		part.len = line.len = 0;
		number(&part, 1, i);
		number(&part, 2, i + 1);
		nested(w, 5, &part);
		number(&line, 1, i);
		part.len = 0;
		number(&part, 1, i);
		nested(&part, 4, &line);
		nested(w, 4, &part);
	}
	for (unsigned int i = 2; i <= 3; i++) {
		part.len = 0;
		number(&part, 1, 1);
		number(&part, 1, i);
		number(&part, 2, INT64_MAX);
		nested(w, 2, &part);
	}
}

FIXTURE(view) {
	char dir[64];
	char in[96];
	char svg[96];
	struct ran r;
};

FIXTURE_SETUP(view)
{
	struct wire w;
	int fd;

	strcpy(self->dir, "/tmp/gprof-view.XXXXXX");
	ASSERT_NE(NULL, mkdtemp(self->dir));
	snprintf(self->in, sizeof(self->in), "%s/in.pb", self->dir);
	snprintf(self->svg, sizeof(self->svg), "%s/out.svg", self->dir);
	largest(&w);
	fd = open(self->in, O_WRONLY | O_CREAT, 0600);
	ASSERT_EQ(w.len, write(fd, w.v, w.len));
	close(fd);
}

FIXTURE_TEARDOWN(view)
{
	no_frames = false;
	unlink(self->in);
	unlink(self->svg);
	rmdir(self->dir);
}

/* Two took turns, one never had its own; branches are of user mode, what is missed of both. */
static const struct gprof_count counts[] = {
	{ .event = "timer", .count = 2000000, .time_enabled_ns = 2000000,
	  .time_running_ns = 2000000, .reason = "" },
	{ .event = "cycles", .count = 1000, .time_enabled_ns = 4000, .time_running_ns = 1000,
	  .reason = "" },
	{ .event = "instructions", .count = 1000, .time_enabled_ns = 4000,
	  .time_running_ns = 2000, .reason = "" },
	{ .event = "branches", .count = 10, .time_enabled_ns = 4000, .time_running_ns = 4000,
	  .user_only = true, .reason = "" },
	{ .event = "branchMisses", .count = 5, .time_enabled_ns = 4000, .time_running_ns = 4000,
	  .reason = "" },
	{ .event = "cacheReferences", .time_enabled_ns = 4000, .reason = "" },
	{ .event = "cacheMisses", .error = 2, .reason = "cacheMisses: none \"here\"" },
};

static void write_counts(void (*write)(FILE *f, const struct gprof_count *c, size_t nr, uint64_t ns,
				       bool idle),
			 const struct gprof_count *c, size_t nr, bool idle, char **text)
{
	size_t size;
	FILE *f = open_memstream(text, &size);

	write(f, c, nr, 4000000, idle);
	fclose(f);
}

/* A machine without counters has one line for all of them. */
TEST(events_of_one_reason_share_a_line)
{
	static const struct gprof_count none[] = {
		{ .event = "cycles", .error = 2, .reason = "cycles: no counter" },
		{ .event = "faults", .count = 3, .time_enabled_ns = 4000, .time_running_ns = 4000,
		  .reason = "" },
		{ .event = "instructions", .error = 2, .reason = "instructions: no counter" },
		{ .event = "branches", .error = 2, .reason = "not permitted" },
		{ .event = "cacheMisses", .error = 2, .reason = "cacheMisses: no counter" },
	};
	char *text;

	write_counts(stat_text, none, 5, false, &text);
	EXPECT_SAYS(text,
		    "         not counted  cycles, instructions, cacheMisses  # no counter\n",
		    "\n         not counted  branches                  # not permitted\n");
	EXPECT_EQ(NULL, strstr(strstr(text, "no counter") + 1, "no counter"));
	free(text);
}

TEST(counts_are_scaled_and_set_in_relation)
{
	char *text;

	write_counts(stat_text, counts, 7, false, &text);
	EXPECT_STREQ(
"            2.000 ms  timer                     # 0.500 CPUs used\n"
"               4,000  cycles                    # 0.002 GHz  (counted 25.00 % of the time)\n"
"               2,000  instructions              # 0.500 per cycle  (counted 50.00 % of the time)\n"
"                  10  branches (user)           # 5000 per second of CPU time\n"
"                   5  branchMisses              # 2500 per second of CPU time\n"
"       never counted  cacheReferences           (counted 0.00 % of the time)\n"
"         not counted  cacheMisses               # none \"here\"\n"
"          0.004000 s  passed\n", text);
	free(text);
	write_counts(stat_json, counts, 7, false, &text);
	EXPECT_SAYS(text,
		    "\"event\": \"cycles\", \"available\": true, \"reason\": \"\", " "\"count\": 1000, \"scaled\": 4000,",
		    "\"available\": false, \"reason\": \"cacheMisses: none \\\"here",
		    "\"ratios\": {\"cycles_per_ns\": 0.002, " "\"instructions_per_cycle\": 0.5}");
	free(text);
}

/* Of CPUs it is the time that passes: nobody used it, and no cycles belong to it. */
TEST(the_timer_of_cpus_is_no_cpu_time)
{
	static const struct gprof_count of_cpus[] = {
		{ .event = "timer", .count = 16000000, .time_enabled_ns = 16000000,
		  .time_running_ns = 16000000, .reason = "" },
		{ .event = "cycles", .count = 1000, .time_enabled_ns = 4000,
		  .time_running_ns = 4000, .reason = "" },
	};
	char *text;

	write_counts(stat_text, of_cpus, 2, true, &text);
	EXPECT_STREQ(
"           16.000 ms  timer                     # of 4 CPUs, idle or not\n"
"               1,000  cycles                    # 6.25e+04 per second and CPU\n"
"          0.004000 s  passed\n", text);
	free(text);
	write_counts(stat_json, of_cpus, 2, true, &text);
	EXPECT_SAYS(text, "\"ratios\": {}");
	free(text);
}

/* No double holds them. */
TEST(large_counts_are_exact)
{
	static const struct gprof_count large[] = {
		{ .event = "timer", .count = 9007199254740993, .time_enabled_ns = 1,
		  .time_running_ns = 1, .reason = "" },
		{ .event = "a", .count = 9007199254740993, .time_enabled_ns = 1,
		  .time_running_ns = 1, .reason = "" },
		{ .event = "b", .count = 9007199254740993, .time_enabled_ns = 4,
		  .time_running_ns = 2, .reason = "" },
		{ .event = "c", .count = UINT64_MAX, .time_enabled_ns = 4, .time_running_ns = 1,
		  .reason = "" },
	};
	char *text;

	write_counts(stat_text, large, 4, false, &text);
	EXPECT_EQ(text, strstr(text, "   9007199254.740 ms  timer"));
	EXPECT_SAYS(text, "\n9,007,199,254,740,993  a ", "\n18,014,398,509,481,986  b ",
		    "\n18,446,744,073,709,551,615  c ");
	free(text);
	write_counts(stat_json, large, 4, false, &text);
	EXPECT_SAYS(text, "\"scaled\": 9007199254740993,", "\"scaled\": 18446744073709551615,");
	free(text);
}

/* A name in a file may be an order to the terminal. */
TEST_F(view, names_of_values_are_not_obeyed)
{
	char *top[] = { "top", self->in, NULL };
	char text[512];
	ssize_t n;
	int fd = open(self->in, O_RDWR);

	n = read(fd, text, sizeof(text));
	ASSERT_LT(5, n);
	memcpy(memmem(text, (size_t)n, "count", 5), "\033[2Jt", 5);
	ASSERT_EQ(n, pwrite(fd, text, (size_t)n, 0));
	close(fd);
	RUN_OK(cmd_top, top);
	EXPECT_SAYS(self->r.out, "Type: ?[2Jt\n");
	EXPECT_EQ(NULL, strchr(self->r.out, '\033'));
	RUN_TELLS(STATUS_USAGE, "but of ?[2Jt", cmd_top, ARGV("top", self->in, "--type", "x"));
	EXPECT_EQ(NULL, strchr(self->r.err, '\033'));
}

TEST_F(view, sums_stay_at_the_limit)
{
	char svg[65536];
	int fd;

	RUN_OK(cmd_top, ARGV("top", self->in));
	EXPECT_SAYS(self->r.out, "Total = 9223372 T",
		    "9223372 T 100.00%  leaf");
	EXPECT_LACKS(self->r.out, "-");
	RUN_OK(cmd_flame, ARGV("flame", self->in, "-o", self->svg));
	fd = open(self->svg, O_RDONLY);
	ASSERT_LE(0, fd);
	slurp(fd, svg, sizeof(svg));
	close(fd);
	EXPECT_SAYS(svg, "all: 9223372 T");
	EXPECT_LACKS(svg, "picture is empty");
}

TEST_F(view, no_memory_is_an_error_and_no_empty_table)
{
	no_frames = true;
	run(&self->r, cmd_top, ARGV("top", self->in), -1);
	EXPECT_EQ(STATUS_FAILED, self->r.status);
	EXPECT_STREQ("", self->r.out);
	EXPECT_SAYS(self->r.err, "memory");
	RUN_TELLS(STATUS_FAILED, "memory", cmd_flame, ARGV("flame", self->in, "-o", self->svg));
	EXPECT_NE(0, access(self->svg, F_OK));
}

TEST_F(view, a_pipe_that_its_reader_closed_is_no_error)
{
	char *top[] = { "top", self->in, NULL };
	int fds[2];

	ASSERT_EQ(0, pipe(fds));
	close(fds[0]);
	/* Else it would not even come to a message. */
	signal(SIGPIPE, SIG_IGN);
	run(&self->r, cmd_top, top, fds[1]);
	EXPECT_EQ(STATUS_FAILED, self->r.status);
	EXPECT_STREQ("", self->r.err);
	close(fds[1]);
	fds[1] = open("/dev/full", O_WRONLY);
	run(&self->r, cmd_top, top, fds[1]);
	EXPECT_EQ(STATUS_FAILED, self->r.status);
	EXPECT_SAYS(self->r.err, "could not be written");
	close(fds[1]);
}

TEST(times_have_units_or_are_seconds)
{
	static const struct {
		const char *text;
		int64_t ns;	/* -1: none */
	} rows[] = {
		{ "10", 10000000000 }, { "0.5", 500000000 }, { ".5", 500000000 }, { "500ms", 500000000 },
		{ "1.5us", 1500 }, { "2h", 7200000000000 }, { "3min", 180000000000 }, { "0", 0 },
		{ "0ms", 0 }, { "1s", 1000000000 }, { "7ns", 7 },
		{ "", -1 }, { "ms", -1 }, { ".", -1 }, { "-1", -1 }, { "+1", -1 }, { "0x10", -1 },
		{ "1 s", -1 }, { "1m", -1 }, { "nan", -1 }, { "inf", -1 }, { "1e99", -1 },
		{ "99999999999999999999", -1 }, { "1.2.3", -1 },
	};
	char text[DURATION_TEXT];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int64_t ns = -1;

		EXPECT_EQ(rows[i].ns >= 0, duration_parse(rows[i].text, &ns))
			TH_LOG("\"%s\"", rows[i].text);
		if (rows[i].ns >= 0) {
			EXPECT_EQ(rows[i].ns, ns);
		}
	}
	EXPECT_STREQ("100 h", duration_text(360000000000000, text));
	EXPECT_STREQ("20 min", duration_text(1200000000000, text));
	EXPECT_STREQ("999 s", duration_text(999000000000, text));
}

TEST(an_empty_window_is_refused)
{
	struct ran r;

	run(&r, cmd_mmu, ARGV("mmu", "/nonexistent", "--window", "0ms"), -1);
	EXPECT_EQ(STATUS_USAGE, r.status);
	EXPECT_SAYS(r.err, "above 0");
}

TEST_HARNESS_MAIN
