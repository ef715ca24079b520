// SPDX-License-Identifier: GPL-2.0-only
/*
 * Flags and the environment variable, without the module: what they mean, and what is left
 * of files when nothing can be recorded.
 */
#include <kselftest_harness.h>

#include <gprof/base.h>
#include <gprof/flags.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib_util.h"
#include "serve/flags_file.h"

#define ARGS_MAX	12

TEST(flags_are_taken_out_of_the_command_line)
{
	static const struct { const char *in[ARGS_MAX], *left[ARGS_MAX], *why; } rows[] = {
		{ { "p" }, { "p" }, NULL },
		{ { "p", "a", "-b", "-" }, { "p", "a", "-b", "-" }, NULL },
		{ { "p", "-cpuprofile", "x", "a" }, { "p", "a" }, NULL },
		{ { "p", "-cpuprofile=x", "a" }, { "p", "a" }, NULL },
		{ { "p", "--cpuprofile=x=y", "--trace", "t" }, { "p" }, NULL },
		{ { "p", "-cpuprofileperiod=10k", "-cpuprofileevent", "r01", "-cpuprofile", "x" }, { "p" },
		  NULL },
		{ { "p", "-blockprofile", "-mutexprofile", "-memprofile", "m" }, { "p" }, NULL },
		{ { "p", "--", "-cpuprofile", "x" }, { "p", "--", "-cpuprofile", "x" }, NULL },
		{ { "p", "-cpuprofiles", "x", "-cpu" }, { "p", "-cpuprofiles", "x", "-cpu" }, NULL },
		{ { "-cpuprofile", "x" }, { "-cpuprofile", "x" }, NULL },
		{ { "p", "-counters", "cycles,r01", "a", "--trace=t" }, { "p", "a" }, NULL },
		{ { "p", "-counters=" }, { 0 }, "-counters wants a value" },
		{ { "p", "-counters" }, { 0 }, "-counters wants a value" },
		{ { "p", "-cpuprofile" }, { 0 }, "-cpuprofile wants a file" },
		{ { "p", "-cpuprofile=" }, { 0 }, "-cpuprofile wants a file" },
		{ { "p", "-cpuprofile", "x", "-cpuprofile=y" }, { 0 }, "-cpuprofile is given twice" },
		{ { "p", "-cpuprofileevent", "cycles" }, { 0 }, "is about -cpuprofile" },
		{ { "p", "-cpuprofile=x", "-cpuprofileperiod=0" }, { 0 }, "a number of events above 0" },
		{ { "p", "-cpuprofile=x", "-cpuprofileperiod" }, { 0 }, "wants a value" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *argv[ARGS_MAX + 1] = { 0 };
		struct gprof_flags *f;
		int argc = 0, before;

		for (; rows[i].in[argc]; argc++)
			argv[argc] = (char *)rows[i].in[argc];
		before = argc;
		f = gprof_flags_parse(&argc, argv);
		EXPECT_EQ(!rows[i].why, f != NULL) {
			TH_LOG("row %zu: %s", i, gprof_error());
		}
		if (rows[i].why) {
			EXPECT_EQ(EINVAL, errno);
			EXPECT_NE(NULL, strstr(gprof_error(), rows[i].why)) {
				TH_LOG("row %zu: %s", i, gprof_error());
			}
			EXPECT_EQ(before, argc);
			EXPECT_EQ(rows[i].in[1], argv[1]);
		}
		for (int a = 0; f && a <= argc; a++) {
			if (rows[i].left[a]) {
				EXPECT_STREQ(rows[i].left[a], argv[a]);
			} else {
				EXPECT_EQ(NULL, argv[a]);
			}
		}
		gprof_flags_free(f);
	}
}

TEST(a_text_asks_for_the_same)
{
	static const struct { const char *text, *why; } rows[] = {
		{ "", NULL },
		{ "cpu", NULL },
		{ "cpu;", NULL },
		{ "cpu,event=cycles,period=100000,out=cpu.pb.gz", NULL },
		{ "block,every=10;mutex;heap,out=h;alloc;trace,out=a\\,b\\;c\\\\", NULL },
		{ "cpu,event=armv8_pmuv3/event=0x11\\,name=x/,out=x", NULL },
		{ "counters,event=cycles\\,instructions;counters,event=r01,out=x", NULL },
		{ "counters", "counters want event=" },
		{ "counters;cpu", "counters want event=" },
		{ "counters,event=cycles,hz=9", "hz= means nothing to counters" },
		{ "cpus", "\"cpus\" cannot be recorded" },
		{ "task", "\"task\" cannot be recorded" },
		{ ",out=x", "\"\" cannot be recorded" },
		{ "cpu,", "nothing stands behind" },
		{ "cpu,out", "no KEY=VALUE" },
		{ "cpu,out=", "out= wants one file" },
		{ "cpu,out=a,out=b", "out= wants one file" },
		{ "cpu,pid=1", "a program records itself" },
		{ "cpu,rate=1", "there is no \"rate\"" },
		{ "cpu,hz=x", "hz= wants samples per second" },
		{ "cpu;cpu;cpu;cpu;cpu;cpu;cpu;cpu;cpu", "more than 8" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct gprof_flags *f = gprof_flags_parse_text(rows[i].text);

		EXPECT_EQ(!rows[i].why, f != NULL) {
			TH_LOG("\"%s\": %s", rows[i].text, gprof_error());
		}
		if (rows[i].why)
			EXPECT_NE(NULL, strstr(gprof_error(), rows[i].why)) {
				TH_LOG("\"%s\": %s", rows[i].text, gprof_error());
			}
		gprof_flags_free(f);
	}
}

TEST(a_file_is_there_once_it_is_whole)
{
	char dir[] = "/tmp/flags.XXXXXX", path[64], other[96];
	struct gprof_flags_file f = { .fd = -1 };
	struct gprof_error e = { 0 };
	struct stat st;

	ASSERT_NE(NULL, mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/%%p%%%%", dir);
	snprintf(other, sizeof(other), "%s/%d%%", dir, getpid());
	ASSERT_EQ(0, gprof_flags_file_open(&f, path, &e));
	ASSERT_EQ(3, write(f.fd, "one", 3));
	EXPECT_NE(0, stat(other, &st));
	ASSERT_EQ(0, gprof_flags_file_commit(&f, &e));
	gprof_flags_file_drop(&f);
	ASSERT_EQ(0, stat(other, &st));
	EXPECT_EQ(3, st.st_size);
	/* What is given up leaves the older one, and what is not, takes its place. */
	ASSERT_EQ(0, gprof_flags_file_open(&f, path, &e));
	gprof_flags_file_drop(&f);
	EXPECT_EQ(0, stat(other, &st));
	EXPECT_EQ(3, st.st_size);
	ASSERT_EQ(0, gprof_flags_file_open(&f, path, &e));
	ASSERT_EQ(0, gprof_flags_file_commit(&f, &e));
	gprof_flags_file_drop(&f);
	EXPECT_EQ(0, stat(other, &st));
	EXPECT_EQ(0, st.st_size);
	unlink(other);
	EXPECT_EQ(0, rmdir(dir));
	EXPECT_EQ(-ENOENT, gprof_flags_file_open(&f, "/nonexistent/x", &e));
	EXPECT_EQ(-EINVAL, gprof_flags_file_open(&f, "%", &e));
	EXPECT_EQ(-EINVAL, gprof_flags_file_open(&f, "%d", &e));
	EXPECT_EQ(0, gprof_flags_file_open(&f, "/dev/null", &e));
	EXPECT_EQ(0, gprof_flags_file_commit(&f, &e));
	gprof_flags_file_drop(&f);
}

TEST(what_is_told_goes_where_stderr_was)
{
	struct gprof_flags_file f = { .fd = -1 };
	struct gprof_error e = { 0 };
	int ends[2], stderr_fd = dup(2);
	char got[8] = "";

	ASSERT_EQ(0, pipe2(ends, O_NONBLOCK));
	ASSERT_EQ(2, dup2(ends[1], 2));
	EXPECT_EQ(0, gprof_flags_file_open(&f, NULL, &e));
	/* A program may close it, as daemons do. */
	dup2(stderr_fd, 2);
	EXPECT_EQ(0, gprof_flags_file_is_there(&f, &e));
	EXPECT_EQ(4, write(f.fd, "told", 4));
	EXPECT_EQ(0, gprof_flags_file_commit(&f, &e));
	gprof_flags_file_drop(&f);
	EXPECT_EQ(4, read(ends[0], got, sizeof(got) - 1));
	EXPECT_STREQ("told", got);
	close(2);
	EXPECT_EQ(-EBADF, gprof_flags_file_open(&f, NULL, &e));
	EXPECT_NE(NULL, strstr(e.text, "stderr cannot be written"));
	dup2(stderr_fd, 2);
	close(stderr_fd);
	close(ends[0]);
	close(ends[1]);
}

TEST(a_file_is_found_again_wherever_the_program_is_by_then)
{
	char dir[] = "/tmp/flags.XXXXXX", path[64], cwd[256];
	struct gprof_flags_file f = { .fd = -1 };
	struct gprof_error e = { 0 };
	int other;

	ASSERT_NE(NULL, getcwd(cwd, sizeof(cwd)));
	ASSERT_NE(NULL, mkdtemp(dir));
	ASSERT_EQ(0, chdir(dir));
	ASSERT_EQ(0, gprof_flags_file_open(&f, "x", &e));
	ASSERT_EQ(0, chdir("/"));
	ASSERT_EQ(0, gprof_flags_file_commit(&f, &e)) TH_LOG("%s", e.text);
	gprof_flags_file_drop(&f);
	snprintf(path, sizeof(path), "%s/x", dir);
	EXPECT_EQ(0, unlink(path));
	/* Somebody else's by now: it is neither written to nor closed. */
	ASSERT_EQ(0, gprof_flags_file_open(&f, path, &e));
	EXPECT_EQ(0, gprof_flags_file_is_there(&f, &e));
	other = open("/dev/null", O_WRONLY | O_CLOEXEC);
	ASSERT_EQ(f.fd, dup2(other, f.fd));
	EXPECT_EQ(-EBADF, gprof_flags_file_is_there(&f, &e));
	EXPECT_NE(NULL, strstr(e.text, "closed it meanwhile"));
	close(other);
	other = f.fd;
	gprof_flags_file_drop(&f);
	EXPECT_EQ(0, close(other));
	EXPECT_EQ(0, rmdir(dir));
	ASSERT_EQ(0, chdir(cwd));
}

TEST(what_cannot_be_recorded_leaves_nothing)
{
	char dir[] = "/tmp/flags.XXXXXX", text[64];
	struct gprof_flags *f;

	if (!access("/dev/gprof", F_OK))
		SKIP(return, "the module is here");
	ASSERT_NE(NULL, mkdtemp(dir));
	snprintf(text, sizeof(text), "cpu,out=%s/x;trace,out=%s/y", dir, dir);
	f = gprof_flags_parse_text(text);
	ASSERT_NE(NULL, f);
	EXPECT_EQ(-EINVAL, gprof_flags_stop(f));
	EXPECT_EQ(-ENOENT, gprof_flags_start(f));
	EXPECT_NE(NULL, strstr(gprof_error(), "not loaded"));
	gprof_flags_free(f);
	EXPECT_EQ(0, rmdir(dir));
}

TEST_HARNESS_MAIN
