// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is typed, and where output goes: numbers and targets of a command line, and
 * files that are there whole or not at all.
 */
#include "harness.h"
#include <dirent.h>

#include "cli/cmd.h"
#include "cli/diag.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/target_options.h"
#include "lib_util.h"

TEST(numbers_are_read_with_their_scale)
{
	static const struct { const char *text; unsigned long long count, size; } good[] = {
		{ "0", 0, 0 }, { "7", 7, 7 }, { "3k", 3000, 3072 }, { "3K", 3000, 3072 },
		{ "2M", 2000000, 2097152 }, { "1g", 1000000000, 1073741824 },
		{ "18446744073709551615", ULLONG_MAX, ULLONG_MAX },
	};
	static const char *const bad[] = {
		"", "-1", "+1", " 1", "1 ", "1x", "k", "1kk", "1.5", "0x10",
		"18446744073709551616", "99999999999999999999", "18446744073709551615k",
	};
	unsigned long long v;

	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		ASSERT_TRUE(parse_count(good[i].text, &v));
		EXPECT_EQ(good[i].count, v);
		ASSERT_TRUE(parse_size(good[i].text, &v));
		EXPECT_EQ(good[i].size, v);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		EXPECT_FALSE(parse_count(bad[i], &v)) TH_LOG("'%s'", bad[i]);
		EXPECT_FALSE(parse_size(bad[i], &v));
	}
}

TEST(ids_are_above_0_and_fit)
{
	static const char *const bad[] = { "", "0", "-1", "1k", "2147483648", "1 ", "x" };
	int id;

	EXPECT_TRUE(parse_id("1", &id));
	EXPECT_EQ(1, id);
	EXPECT_TRUE(parse_id("2147483647", &id));
	EXPECT_EQ(INT_MAX, id);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		EXPECT_FALSE(parse_id(bad[i], &id));
}

/* Takes the words as those of a subcommand that records. */
static int parse(struct target *t, const char *line)
{
	static const struct usage usage = { "cpu", "", "", "" };
	const struct option_table tables[] = { { "Target", target_options, t }, { 0 } };
	char *argv[16];
	int argc = 0, operands, status;
	char *words = malloc(256);	/* getopt() remembers where it was */

	memset(t, 0, sizeof(*t));
	snprintf(words, 256, "cpu %s", line);
	for (argv[argc] = strtok(words, " "); argv[argc]; argv[argc] = strtok(NULL, " "))
		argc++;
	if (!options_parse(&usage, tables, argc, argv, false, &operands, &status))
		return status;
	return target_complete(t, argv + operands, "cpu");
}

static const char *nth_of(const void *ctx, size_t i)
{
	const char *const *names = ctx;

	return names[i];
}

TEST(a_mistyped_word_means_the_first_of_the_nearest)
{
	static const struct { const char *word, *meant; } rows[] = {
		{ "flami", "flame" }, { "flamx", "flame" }, { "f", "flame" }, { "fl", "flame" },
		{ "flat", "flat" }, { "flight", "flight" }, { "fligth", "flight" },
		{ "nothing", NULL }, { "", NULL },
	};
	static const char *const names[] = { "flame", "flams", "flight", "flat", NULL };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const char *found = nearest(rows[i].word, nth_of, names);

		EXPECT_STREQ(rows[i].meant ?: "nothing", found ?: "nothing")
			TH_LOG("%s", rows[i].word);
	}
}

TEST(a_recording_has_one_target)
{
	static const struct {
		const char *line;
		enum gprof_target_type type;
		int id;
		const char *name;
		bool command, is_command;
	} good[] = {
		{ "-p 12", GPROF_PROCESS, 12, NULL }, { "--pid=12", GPROF_PROCESS, 12, NULL },
		{ "-t 13", GPROF_THREAD, 13, NULL }, { "-G /x", GPROF_CGROUP, 0, "/x" },
		{ "-C 0-3", GPROF_CPUS, 0, "0-3" }, { "-a", GPROF_SYSTEM, 0, NULL },
		{ "true -p 3", GPROF_PROCESS, 0, NULL, true, true },
		{ "-- -p", GPROF_PROCESS, 0, NULL, true, true },
		{ "-a true", GPROF_SYSTEM, 0, NULL, true, false },
		{ "-p 12 -- true -a", GPROF_PROCESS, 12, NULL, true, false },
	};
	static const char *const bad[] = {
		"", "-p", "-p 0", "-t x", "-p 1 -t 2", "-a -p 1", "-p 1 -p 2",
		"-G /x -C 0", "--pids 3", "-Z", "--all=3", "-a -d 0", "-a -d x", "-a -d -1",
	};
	struct target t;

	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		EXPECT_EQ(STATUS_OK, parse(&t, good[i].line)) TH_LOG("%s", good[i].line);
		EXPECT_EQS(good[i].type, t.gprof.type, good[i].id, t.gprof.id);
		EXPECT_STREQ(good[i].name ?: "", t.gprof.name ?: "");
		EXPECT_EQS(good[i].command, t.command != NULL, good[i].is_command, t.is_command);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		EXPECT_EQ(STATUS_USAGE, parse(&t, bad[i])) TH_LOG("%s", bad[i]);
	}
	EXPECT_EQS(STATUS_OK, parse(&t, "-a -d 1.5"), 1500000000, t.duration_ns);
}

FIXTURE(output) {
	char dir[64];
	char file[96];
	struct output o;
};

FIXTURE_SETUP(output)
{
	strcpy(self->dir, "/tmp/gprof-output.XXXXXX");
	ASSERT_NE(NULL, mkdtemp(self->dir));
	snprintf(self->file, sizeof(self->file), "%s/file", self->dir);
}

FIXTURE_TEARDOWN(output)
{
	unlink(self->file);
	rmdir(self->dir);
}

static int files_in(const char *dir)
{
	DIR *d = opendir(dir);
	int n = 0;

	while (readdir(d))
		n++;
	closedir(d);
	return n - 2;
}

static const char *content(const char *file)
{
	static char text[16];
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	close(fd);
	if (n < 0)
		return "nothing";
	text[n] = '\0';
	return text;
}

TEST_F(output, a_file_is_there_when_it_is_whole)
{
	struct stat st;

	umask(027);
	ASSERT_EQ(STATUS_OK, output_open(&self->o, self->file));
	EXPECT_EQ(3, write(self->o.fd, "new", 3));
	EXPECT_STREQ("nothing", content(self->file));
	EXPECT_EQ(STATUS_OK, output_commit(&self->o));
	EXPECT_STREQ("new", content(self->file));
	EXPECT_EQS(0, stat(self->file, &st), 0640, st.st_mode & 0777, 1, files_in(self->dir));
}

TEST_F(output, what_is_given_up_leaves_the_file_that_was_there)
{
	struct stat st;
	int fd = open(self->file, O_WRONLY | O_CREAT | O_CLOEXEC, 0604);

	umask(0);
	fchmod(fd, 0604);
	EXPECT_EQ(3, write(fd, "old", 3));
	close(fd);
	ASSERT_EQ(STATUS_OK, output_open(&self->o, self->file));
	EXPECT_EQ(3, write(self->o.fd, "new", 3));
	output_discard(&self->o);
	EXPECT_STREQ("old", content(self->file));
	EXPECT_EQ(1, files_in(self->dir));
	output_discard(&self->o);
	/* who replaces it leaves its rights */
	ASSERT_EQ(STATUS_OK, output_open(&self->o, self->file));
	EXPECT_EQ(STATUS_OK, output_commit(&self->o));
	EXPECT_STREQ("", content(self->file));
	EXPECT_EQS(0, stat(self->file, &st), 0604, st.st_mode & 0777);
}

TEST_F(output, unplanned_ends_leave_nothing)
{
	struct output other;
	const char *second = lib_text("%s2", self->file);

	ASSERT_EQ(STATUS_OK, output_open(&self->o, self->file));
	ASSERT_EQ(STATUS_OK, output_open(&other, second));
	EXPECT_FALSE(output_same(&self->o, &other));
	output_discard_all();
	EXPECT_EQ(0, files_in(self->dir));
	output_discard(&self->o);
	output_discard(&other);
}

TEST_F(output, one_file_under_two_names_is_the_same)
{
	struct output other;
	char second[112];

	snprintf(second, sizeof(second), "%s/../%s/./file", self->dir, strrchr(self->dir, '/') + 1);
	ASSERT_EQ(STATUS_OK, output_open(&self->o, self->file));
	ASSERT_EQ(STATUS_OK, output_open(&other, second));
	EXPECT_TRUE(output_same(&self->o, &other));
	output_discard(&self->o);
	output_discard(&other);
	EXPECT_EQS(STATUS_FAILED, output_open(&self->o, self->dir),
		   STATUS_FAILED, output_open(&self->o, "/nowhere/file"), 0, files_in(self->dir));
}

/* Text may be shown, what is packed must not be. */
TEST_F(output, a_terminal_takes_text_alone)
{
	int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	char text[8] = "";
	const char *name;

	ASSERT_LE(0, terminal);
	ASSERT_EQ(0, grantpt(terminal) ?: unlockpt(terminal));
	name = ptsname(terminal);
	ASSERT_NE(NULL, name);
	EXPECT_EQ(STATUS_FAILED, output_open(&self->o, name));
	ASSERT_EQ(STATUS_OK, output_open_text(&self->o, name));
	EXPECT_EQS(4, write(self->o.fd, "text", 4), 4, read(terminal, text, sizeof(text) - 1));
	EXPECT_STREQ("text", text);
	EXPECT_EQ(STATUS_OK, output_commit(&self->o));
	close(terminal);
}

TEST_HARNESS_MAIN
