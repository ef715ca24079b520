// SPDX-License-Identifier: GPL-2.0-only
/* A trace as it is shown while it comes: interval by interval, on terminals and elsewhere. */
#include "harness.h"
#include <termios.h>

#include "views/live_analysis.h"
#include "views/latency.h"
#include "views_build.h"
#include "lib_util.h"

/* For run(): a trace as it is shown while it comes. */
static int cmd_follow(int argc, char **argv)
{
	struct live_analysis_opts o = { .out = stdout, .interval_ns = 600 * (int64_t)MS };

	live_analysis_terminal(&o);
	return live_analysis_read(open(argv[argc - 1], O_RDONLY), &o);
}

/* Likewise of gprofctl latency. */
static int read_latency(const char *file, enum latency_table table)
{
	const struct latency_opts o = {
		.table = table, .threads = true, .interval_ns = 600 * (int64_t)MS,
	};

	return latency_read(open(file, O_RDONLY), "the trace", &o);
}

static int cmd_live_latency(int argc, char **argv)
{
	return read_latency(argv[argc - 1], LATENCY_SUMMARY);
}

static int cmd_live_lines(int argc, char **argv)
{
	return read_latency(argv[argc - 1], LATENCY_TIMEHIST);
}

/* 8 waits for 7, over the end of the first interval, in which both ran by turns. */
static void make_intervals(void)
{
	gprof_trace_writer_name(w, 7, "seven");
	gprof_trace_writer_name(w, 8, "eight");
	comes(100, 7);
	point(400, 0, GPROF_TRACE_POINT_SWITCH, GPROF_TRACE_WHY_PREEMPTED, 7, 8, 0, 0);
	point(500, 0, GPROF_TRACE_POINT_SWITCH, GPROF_TRACE_WHY_SLEEPS, 8, 7, stack(in_pipe), 0);
	/* So 7 runs on from one interval into the next. */
	point(700, 0, GPROF_TRACE_POINT_ENTER, 0, 7, 0, 0, 0);
	point(701, 0, GPROF_TRACE_POINT_LEAVE, 0, 7, 0, 0, 0);
	gprof_trace_writer_cut(w, 1100 * MS, NULL);
	point(1300, 0, GPROF_TRACE_POINT_WAKING, 0, 7, 8, 0, 0);
	point(1500, 0, GPROF_TRACE_POINT_SWITCH, GPROF_TRACE_WHY_PREEMPTED, 7, 8, 0, 0);
	point(1600, 0, GPROF_TRACE_POINT_SWITCH, GPROF_TRACE_WHY_DEAD, 8, 7, 0, 0);
	gprof_trace_writer_cut(w, 2100 * MS, NULL);
	leaves(2300, 7, GPROF_TRACE_WHY_DEAD, 0);
}

TEST_F(views, follow_interval_by_interval)
{
	make_intervals();
	SHOW(cmd_follow, ARGV("follow", self->trace));
	EXPECT_STREQ("+0.6 s: 1 CPUs 100 % busy, 5 switches/s, 2 threads\n"
		     "waits for a CPU: 1, half up to 96.47 ms, 90 % 96.47 ms, 99 % 96.47 ms, all "
		     "100 ms (7 seven)\n"
		     "   ran %  ready %    waits      longest  thread\n"
		     "    83.4     16.6        1       100 ms  7 seven\n"
		     "    16.6      0.0        0            -  8 eight\n"
		     "      waited for       thread, and its waker\n"
		     "\n"
		     "+1.5 s: 1 CPUs 100 % busy, 2 switches/s, 2 threads\n"
		     "waits for a CPU: 2, half up to 192.9 ms, 90 % 192.9 ms, 99 % 192.9 ms, all "
		     "200 ms (8 eight)\n"
		     "   ran %  ready %    waits      longest  thread\n"
		     "    88.9     11.1        1       100 ms  7 seven\n"
		     "    11.1     22.2        1       200 ms  8 eight\n"
		     "      waited for       thread, and its waker\n"
		     "      800 ms pipe      8 eight, by 7 seven\n"
		     "\n"
		     "+2.2 s: 1 CPUs 100 % busy, 0 switches/s, 1 threads\n"
		     "no thread had to wait for a CPU\n"
		     "   ran %  ready %    waits      longest  thread\n"
		     "   100.0      0.0        0            -  7 seven\n"
		     "      waited for       thread, and its waker\n\n", self->r.out);
}

/* What is not recorded is not there. */
TEST_F(views, follow_of_one_cpu_among_many)
{
	gprof_trace_writer_name(w, 7, "seven");
	point(1, 7, GPROF_TRACE_POINT_SWITCH, 0, 0, 7, 0, 0);
	point(500, 7, GPROF_TRACE_POINT_SWITCH, GPROF_TRACE_WHY_SLEEPS, 7, 8, 0, 0);
	point(600, 7, GPROF_TRACE_POINT_SWITCH, GPROF_TRACE_WHY_DEAD, 8, 0, 0, 0);
	gprof_trace_writer_cut(w, 700 * MS, NULL);
	/* 8 has ended, and 7 sleeps. */
	point(700, 7, GPROF_TRACE_POINT_SWITCH, 0, 0, 9, 0, 0);
	point(1400, 7, GPROF_TRACE_POINT_SWITCH, GPROF_TRACE_WHY_DEAD, 9, 0, 0, 0);
	SHOW(cmd_follow, ARGV("follow", self->trace));
	EXPECT_SAYS(self->r.out, "+0.6 s: 1 CPUs 100 % busy, 3 switches/s, 2 threads\n",
		    "+1.4 s: 1 CPUs 87 % busy, 1 switches/s, 1 threads\n");
}

#define HEAD	"  on a CPU"

/* A line of a thread in the nth table: what it ran, how often it waited, and how long on average. */
static void expect_row(struct __test_metadata *_metadata, const char *tables, int nth,
		       const char *thread, const char *want)
{
	const char *end;

	for (; nth && tables; nth--)
		tables = strstr(tables + 1, HEAD);
	ASSERT_NE(NULL, tables);
	end = strstr(tables + 1, HEAD);
	tables = strstr(tables, thread);
	ASSERT_NE(NULL, tables);
	EXPECT_TRUE(!end || tables < end);
	while (tables[-1] != '\n')
		tables--;
	EXPECT_EQ(0, strncmp(tables, want, strlen(want))) TH_LOG("%.100s, not %s", tables, want);
}

/* What goes on from one interval into the next is shared by them, and adds up. */
TEST_F(views, latency_interval_by_interval)
{
	make_intervals();
	SHOW(cmd_live_latency, ARGV("latency", self->trace));
	expect_row(_metadata, self->r.out, 0, "  seven (7)\n", "    501 ms         1    100 ms ");
	expect_row(_metadata, self->r.out, 0, "  eight (8)\n", "    100 ms         0         - ");
	expect_row(_metadata, self->r.out, 1, "  eight (8)\n", "    100 ms         1    200 ms ");
	expect_row(_metadata, self->r.out, 1, "  seven (7)\n", "    799 ms         1    100 ms ");
	expect_row(_metadata, self->r.out, 2, "  seven (7)\n", "    700 ms         0         - ");
	EXPECT_EQ(NULL, strstr(strstr(strstr(self->r.out + 1, HEAD) + 1, HEAD), "eight"))
		TH_LOG("%s", self->r.out);
}

/* Who has ended is forgotten between lines, and who lives on is not taken for it. */
TEST_F(views, latency_lines_over_intervals)
{
	gprof_trace_writer_name(w, 6, "six");
	gprof_trace_writer_name(w, 7, "seven");
	comes(1, 6);
	point(2, 0, GPROF_TRACE_POINT_SWITCH, GPROF_TRACE_WHY_DEAD, 6, 7, 0, 0);
	leaves(10, 7, GPROF_TRACE_WHY_SLEEPS, 0);
	gprof_trace_writer_cut(w, 700 * MS, NULL);
	wakes(1000, GPROF_TRACE_NO_TID, 7, 0);
	comes(1004, 7);
	leaves(1006, 7, GPROF_TRACE_WHY_SLEEPS, 0);
	gprof_trace_writer_cut(w, 1500 * MS, NULL);
	wakes(2000, GPROF_TRACE_NO_TID, 7, 0);
	comes(2005, 7);
	leaves(2008, 7, GPROF_TRACE_WHY_DEAD, 0);
	SHOW(cmd_live_lines, ARGV("latency", self->trace));
	EXPECT_SAYS(self->r.out, "seven[7]                          994.000      4.000      2.000",
		    "seven[7]                          999.000      5.000      3.000");
}

/* All that was written to a terminal, which may come in pieces: up to a byte that is not. */
static void read_shown(int master, int slave, char *text, size_t size)
{
	size_t nr = 0;
	ssize_t n = write(slave, "\001", 1);

	while (n > 0 && nr < size - 1 && (!nr || text[nr - 1] != '\001')) {
		n = read(master, text + nr, size - 1 - nr);
		nr += n > 0 ? (size_t)n : 0;
	}
	text[nr ? nr - 1 : 0] = '\0';
}

/* On a terminal each picture takes the place of the one before, and no line is too wide. */
TEST_F(views, follow_on_a_terminal)
{
	char *argv[] = { "follow", self->trace, NULL };
	const struct winsize size = { .ws_row = 24, .ws_col = 40 };
	char text[8192], *line;
	int master = posix_openpt(O_RDWR | O_NOCTTY), slave;
	struct termios raw;

	make_intervals();
	ASSERT_EQ(0, gprof_trace_writer_close(w));
	ASSERT_LE(0, master);
	ASSERT_EQ(0, grantpt(master) | unlockpt(master));
	slave = open(ptsname(master), O_RDWR | O_NOCTTY);
	ASSERT_LE(0, slave);
	ASSERT_ZEROS(ioctl(slave, TIOCSWINSZ, &size), tcgetattr(slave, &raw));
	cfmakeraw(&raw);
	ASSERT_EQ(0, tcsetattr(slave, TCSANOW, &raw));
	setenv("TERM", "xterm", 1);
	setenv("NO_COLOR", "1", 1);
	run(&self->r, cmd_follow, argv, slave);
	ASSERT_EQ(0, self->r.status);
	read_shown(master, slave, text, sizeof(text));
	EXPECT_SAYS(text, "\033[H+0.6 s", "\033[H+2.2 s");
	/* Neither colours, nor more than 40 columns. */
	EXPECT_LACKS(text, "\033[1m");
	EXPECT_SAYS(text, "\nwaits for a CPU: 2, half up to 192.9 ms,\033[K\n");
	setenv("NO_COLOR", "", 1);
	run(&self->r, cmd_follow, argv, slave);
	read_shown(master, slave, text, sizeof(text));
	EXPECT_SAYS(text, "\033[1m");
	/* One that cannot redraw gets lines. */
	setenv("TERM", "dumb", 1);
	run(&self->r, cmd_follow, argv, slave);
	read_shown(master, slave, text, sizeof(text));
	line = strchr(text, '\n');
	EXPECT_EQ(NULL, strchr(text, '\033'));
	ASSERT_NE(NULL, line);
	EXPECT_EQ(0, strncmp(line + 1, "waits for a CPU: 1, half up to 96.47 ms, 90 %", 45));
	close(slave);
	close(master);
}

/* 8 may have ended in one of the events that are missing: nobody says that it waits. */
TEST_F(views, follow_over_losses)
{
	gprof_trace_writer_name(w, 7, "seven");
	gprof_trace_writer_name(w, 8, "eight");
	comes(1, 8);
	point(2, 0, GPROF_TRACE_POINT_SWITCH, GPROF_TRACE_WHY_PREEMPTED, 8, 7, 0, 0);
	for (uint32_t i = 1; i <= 3; i++) {
		point(1000 * i, 0, GPROF_TRACE_POINT_ENTER, 0, 7, 0, 0, 0);
		if (i == 2)
			point(1000 * i + 1, 0, GPROF_TRACE_POINT_LOST, 0, 7, 0, 0, 5);
		point(1000 * i + 2, 0, GPROF_TRACE_POINT_LEAVE, 0, 7, 0, 0, 0);
		gprof_trace_writer_cut(w, (1000 * i + 500) * MS, NULL);
	}
	comes(3900, 7);
	SHOW(cmd_follow, ARGV("follow", self->trace));
	EXPECT_SAYS(self->r.out, "     0.1     99.9        0            -  8 eight\n",
		    "events were lost");
	/* Up to the last event before them it did. */
	EXPECT_SAYS(self->r.out, "     0.0     99.8        0            -  8 eight\n");
	EXPECT_EQ(NULL, strstr(strstr(self->r.out, "+3.0 s: "), "8 eight")) TH_LOG("%s", self->r.out);
}

/* Threads that have ended leave nothing behind, and those that have not lose nothing. */
TEST_F(views, follow_forgets)
{
	gprof_trace_writer_name(w, 7, "seven");
	comes(1, 7);
	for (uint32_t i = 1; i <= 3; i++) {
		point(1000 * i, 0, GPROF_TRACE_POINT_FORK, 0, 7, 100 + i, 0, 0);
		point(1000 * i + 1, 0, GPROF_TRACE_POINT_SWITCH, GPROF_TRACE_WHY_WAITS, 7, 100 + i,
		      stack(in_sleep), 0);
		point(1000 * i + 2, 0, GPROF_TRACE_POINT_SWITCH, GPROF_TRACE_WHY_DEAD, 100 + i, 0,
		      0, 0);
		gprof_trace_writer_cut(w, (1000 * i + 500) * MS, NULL);
		wakes(1000 * i + 900, GPROF_TRACE_NO_TID, 7, 0);
		comes(1000 * i + 901, 7);
	}
	SHOW(cmd_follow, ARGV("follow", self->trace));
	EXPECT_LACKS(self->r.out, "4 threads");
	EXPECT_SAYS(self->r.out, "+3.0 s: ");
	EXPECT_SAYS(strstr(self->r.out, "+3.0 s: "), "  7 seven\n");
}

/* Threads 8 and on that begin and end in seconds @from to @to, 500 in each. */
static void come_and_go(uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to; i++) {
		for (uint32_t j = 0; j < 500; j++) {
			uint32_t at = 1000 * i + j, tid = 8 + 500 * i + j;

			point(at, 0, GPROF_TRACE_POINT_FORK, 0, 7, tid, 0, 0);
			point(at, 0, GPROF_TRACE_POINT_SWITCH, GPROF_TRACE_WHY_PREEMPTED, 7, tid,
			      0, 0);
			point(at, 0, GPROF_TRACE_POINT_SWITCH, GPROF_TRACE_WHY_DEAD, tid, 7, 0, 0);
		}
		gprof_trace_writer_cut(w, (1000 * i + 500) * MS, NULL);
	}
}

/* So a trace that goes on for ever is shown in the memory of an interval. */
TEST_F(views, follow_needs_no_memory_for_ended_threads)
{
	char *argv[] = { "follow", self->trace, NULL };
	long few;

	gprof_trace_writer_name(w, 7, "seven");
	comes(1, 7);
	come_and_go(1, 3);
	run(&self->r, cmd_follow, argv, -1);
	EXPECT_SAYS(self->r.out, ", 501 threads\n");
	few = lib_peak_kib(RUSAGE_CHILDREN);
	come_and_go(3, 200);
	SHOW(cmd_follow, argv);
	EXPECT_SAYS(self->r.out, "+70.5 s: ");
	EXPECT_GT(4096, lib_peak_kib(RUSAGE_CHILDREN) - few);
}

TEST_HARNESS_MAIN
