// SPDX-License-Identifier: GPL-2.0-only
/*
 * Unwind tables before there is a recording: which files, what becomes of them, and what is
 * said of it.
 */
#include "harness.h"

#include <dirent.h>
#include <gprof/tables.h>

#include "cli/cmd.h"
#include "lib_util.h"
#include "tool_run.h"

#define USER	12345

FIXTURE(prepare) {
	char dir[64];
	char cwd[256];
	struct ran r;
};

/* As a user, whose tables serve nobody else, whatever root has on this host. */
FIXTURE_SETUP(prepare)
{
	char cache[80];

	if (!lib_have("gcc"))
		SKIP(return, "no compiler");
	strcpy(self->dir, lib_tmpdir());
	ASSERT_NE(NULL, getcwd(self->cwd, sizeof(self->cwd)));
	ASSERT_EQ(0, chdir(self->dir));
	snprintf(cache, sizeof(cache), "%.60s/cache", self->dir);
	setenv("XDG_CACHE_HOME", cache, 1);
	ASSERT_EQ(0, lib_sh("mkdir -p cache app/sub && echo 'int f(int n) { return n * 7; }' >f.c && "
			    "for n in a sub/b none; do gcc -shared -fPIC -nostdlib -o app/$n.so f.c; done && "
			    "objcopy -R .eh_frame -R .eh_frame_hdr app/none.so && "
			    "gcc -c f.c -o app/f.o && ln app/a.so app/again.so && ln -s a.so app/link.so && "
			    "mkfifo app/pipe && echo text >app/text && ln -s ../cache app/sub/link && "
			    "chmod -R go+rX . && sleep 1.1"));
	if (!geteuid()) {
		ASSERT_ZEROS(lib_sh("chown -R %d .", USER), setresuid(USER, USER, USER));
	}
}

FIXTURE_TEARDOWN(prepare)
{
	if (chdir(self->cwd))
		return;
	lib_sh("rm -rf %s 2>/dev/null", self->dir);
}

/* Runs it, and has the time that it took, and the directory, in words that are always the same. */
static void prepare(FIXTURE_DATA(prepare) *self, char **words)
{
	char *argv[8] = { "prepare" }, *at;

	for (size_t i = 0; words[i]; i++)
		argv[i + 1] = words[i];
	run(&self->r, cmd_prepare, argv, -1);
	while ((at = strstr(self->r.err, self->dir))) {
		*at = 'D';
		memmove(at + 1, at + strlen(self->dir), strlen(at + strlen(self->dir)) + 1);
	}
	at = strstr(self->r.err, "made in ");
	if (at) {
		char *end = strstr(at, " s,");

		at[strlen("made in ")] = 'T';
		memmove(at + strlen("made in T"), end, strlen(end) + 1);
	}
}

#define PREPARE(...)	prepare(self, (char *[]){ __VA_ARGS__, NULL })

TEST_F(prepare, tables_are_made_once)
{
	static const char made[] =
		"gprofctl: tables of 2 files, 12.0 KiB in D/cache/gprof/unwind: 2 made in T s, "
		"0 were there, 1 file tells nothing of its frames\n";
	static const char there[] =
		"gprofctl: tables of 2 files, 12.0 KiB in D/cache/gprof/unwind: 0 made in T s, "
		"2 were there, 1 file tells nothing of its frames\n";
	static const char one_new[] =
		"gprofctl: tables of 2 files, 12.0 KiB in D/cache/gprof/unwind: 1 made in T s, "
		"1 was there, 1 file tells nothing of its frames\n";

	PREPARE("app");
	EXPECT_EQ(0, self->r.status);
	EXPECT_STREQS(made, self->r.err, "", self->r.out);
	PREPARE("app");
	EXPECT_EQ(0, self->r.status);
	EXPECT_STREQ(there, self->r.err);
	/* by another way, and what has just been changed: that is waited for */
	ASSERT_EQ(0, lib_sh("touch app/sub/b.so"));
	PREPARE("app/sub/../link.so", "app/sub", "app/none.so", "app/again.so");
	EXPECT_EQ(0, self->r.status);
	EXPECT_STREQ(one_new, self->r.err);
	PREPARE("-q", "app");
	EXPECT_EQ(0, self->r.status);
	EXPECT_STREQ("", self->r.err);
}

TEST_F(prepare, what_cannot_be_read_is_told)
{
	static const struct {
		const char *before;
		char *words[3];
		int status;
		const char *err;
	} rows[] = {
		{ "head -c 3000 app/a.so >app/cut.so && sleep 1.1", { "app/cut.so", "app/sub" }, 0,
		  "gprofctl: D/app/cut.so: it is a broken ELF file\n"
		  "gprofctl: tables of 1 file, 4.0 KiB in D/cache/gprof/unwind: 1 made in T s, "
		  "0 were there, 1 failed\n" },
		{ "chmod 0 app/sub/b.so", { "app/sub" }, 0,
		  "gprofctl: D/app/sub/b.so: Permission denied\n"
		  "gprofctl: tables of 0 files, 0.0 KiB in D/cache/gprof/unwind: 0 made in T s, "
		  "0 were there, 1 failed\n" },
		{ "chmod 644 app/sub/b.so", { "app/text", "app/pipe" }, 0,
		  "gprofctl: D/app/text: it has no code of this machine\n"
		  "gprofctl: D/app/pipe: it has no code of this machine\n"
		  "gprofctl: tables of 0 files, 0.0 KiB in D/cache/gprof/unwind: 0 made in T s, "
		  "0 were there, 2 failed\n" },
		{ "mkdir empty", { "empty" }, 1,
		  "gprofctl: there are no programs or libraries to make unwind tables of\n" },
		{ "true", { "app", "absent" }, 1, "gprofctl: absent: No such file or directory\n" },
		{ "mkdir -p cache/gprof && chmod 777 cache/gprof", { "app" }, 1,
		  "gprofctl: D/cache/gprof/unwind is not used for unwind tables: it, or what it is in, "
		  "belongs to another user, or others may write to it; change that, or remove it\n" },
		{ "rm -rf cache/gprof && chmod 500 cache", { "app" }, 1,
		  "gprofctl: unwind tables cannot be kept in D/cache/gprof/unwind: Permission denied\n" },
		{ "chmod 700 cache && mkdir -p cache/gprof/unwind && chmod 755 cache/gprof && "
		  "chmod 500 cache/gprof/unwind", { "app" }, 1,
		  "gprofctl: unwind tables cannot be kept in D/cache/gprof/unwind: Permission denied\n" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		ASSERT_EQ(0, lib_sh("%s", rows[i].before));
		prepare(self, (char **)rows[i].words);
		EXPECT_EQ(rows[i].status, self->r.status);
		EXPECT_STREQ(rows[i].err, self->r.err);
		lib_sh("rm -rf cache/gprof");
	}
	unsetenv("XDG_CACHE_HOME");
	unsetenv("HOME");
	PREPARE("app");
	EXPECT_EQ(1, self->r.status);
	EXPECT_STREQ("gprofctl: there is no place for unwind tables: HOME is not set\n", self->r.err);
}

TEST_F(prepare, what_runs_is_found)
{
	static const char there[] =
		"gprofctl: tables of 1 file, 4.0 KiB in D/cache/gprof/unwind: 0 made in T s, 1 was there\n";
	pid_t pid;

	ASSERT_EQ(0, lib_sh("echo 'int pause(void); int main(void) { return pause(); }' >m.c && "
			    "gcc -o runs m.c && sleep 1.1"));
	pid = fork();
	if (!pid) {
		execl("./runs", "runs", NULL);
		_exit(127);
	}
	usleep(300000);
	PREPARE(NULL);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	EXPECT_EQ(0, self->r.status);
	EXPECT_SAYS(self->r.err, "gprofctl: tables of ");
	PREPARE("runs");
	EXPECT_STREQ(there, self->r.err);
}

static int end_at_second(void *ctx, size_t done, size_t all)
{
	size_t *calls = ctx;

	*calls += all && done;
	return *calls == 1;
}

/* What was made stays; the rest is counted. */
TEST_F(prepare, it_ends_when_progress_says_so)
{
	const char *const paths[] = { "app" };
	size_t calls = 0;
	struct gprof_tables_opts opts = {
		.sz = sizeof(opts), .paths = paths, .nr_paths = 1,
		.progress = end_at_second, .ctx = &calls,
	};
	struct gprof_tables_made made = { .sz = sizeof(made) };

	ASSERT_EQ(0, gprof_tables_make(&opts, &made));
	EXPECT_EQS(1, made.made + made.frameless, 3, made.left, 4, made.files);
	EXPECT_FALSE(made.full);
	/* as always */
	made.sz = 1;
	EXPECT_EQ(-EINVAL, gprof_tables_make(&opts, &made));
	opts.sz = 1;
	made.sz = sizeof(made);
	EXPECT_EQ(-EINVAL, gprof_tables_make(&opts, &made));
}

TEST_HARNESS_MAIN
