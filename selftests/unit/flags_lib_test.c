// SPDX-License-Identifier: GPL-2.0-only
/*
 * Flags and the environment variable, without the module: what they mean, and what is left
 * of files when nothing can be recorded.
 */
#include "harness.h"
#include <gprof/base.h>
#include <gprof/flags.h>
#include <sys/un.h>

#include "base/own_process.h"
#include "lib_util.h"
#include "serve/flags_file.h"

#define ARGS_MAX	12

static bool without_tmpfile;

/* A file system that has no files without a name, as NFS. */
int openat(int dir, const char *path, int flags, ...)
{
	mode_t mode = 0;
	va_list ap;

	if (flags & (O_CREAT | O_TMPFILE)) {
		va_start(ap, flags);
		mode = va_arg(ap, mode_t);
		va_end(ap);
	}
	if (without_tmpfile && (flags & O_TMPFILE) == O_TMPFILE) {
		errno = EOPNOTSUPP;
		return -1;
	}
	return (int)syscall(SYS_openat, dir, path, flags, mode);
}

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
		EXPECT_EQ(!rows[i].why, f != NULL) TH_LOG("row %zu: %s", i, gprof_error());
		if (rows[i].why) {
			EXPECT_EQ(EINVAL, errno);
			EXPECT_NE(NULL, strstr(gprof_error(), rows[i].why))
				TH_LOG("row %zu: %s", i, gprof_error());
			EXPECT_EQS(before, argc, rows[i].in[1], argv[1]);
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
		{ "", NULL }, { "cpu", NULL }, { "cpu;", NULL },
		{ "cpu;cpu;cpu;cpu;cpu;cpu;cpu;cpu", NULL },
		{ "cpu,event=cycles,period=100000,out=cpu.pb.gz", NULL },
		{ "block,every=10;mutex;heap,out=h;alloc;trace,out=a\\,b\\;c\\\\", NULL },
		{ "cpu,event=armv8_pmuv3/event=0x11\\,name=x/,out=x", NULL },
		{ "counters,event=cycles\\,instructions;counters,event=r01,out=x", NULL },
		{ "counters", "counters want event=" }, { "counters;cpu", "counters want event=" },
		{ "counters,event=cycles,hz=9", "hz= means nothing to counters" },
		{ "cpus", "\"cpus\" cannot be recorded" },
		{ "task", "\"task\" cannot be recorded" }, { ",out=x", "\"\" cannot be recorded" },
		{ "cpu,", "nothing stands behind" }, { "cpu,out", "no KEY=VALUE" },
		{ "cpu,out=", "out= wants one file" }, { "cpu,out=a,out=b", "out= wants one file" },
		{ "cpu,pid=1", "a program records itself" },
		{ "cpu,rate=1", "there is no \"rate\"" },
		{ "cpu,hz=x", "hz= wants samples per second" },
		{ "cpu;cpu;cpu;cpu;cpu;cpu;cpu;cpu;cpu", "more than 8" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct gprof_flags *f = gprof_flags_parse_text(rows[i].text);

		EXPECT_EQ(!rows[i].why, f != NULL)
			TH_LOG("\"%s\": %s", rows[i].text, gprof_error());
		if (rows[i].why)
			EXPECT_NE(NULL, strstr(gprof_error(), rows[i].why))
				TH_LOG("\"%s\": %s", rows[i].text, gprof_error());
		gprof_flags_free(f);
	}
}

TEST(a_file_is_there_once_it_is_whole)
{
	char dir[] = "/tmp/flags.XXXXXX", path[64], other[128], host[65] = "";
	struct gprof_flags_file f = GPROF_FLAGS_FILE_NONE;
	struct gprof_error e = { 0 };
	struct stat st;

	ASSERT_NE(NULL, mkdtemp(dir));
	gethostname(host, sizeof(host) - 1);
	snprintf(path, sizeof(path), "%s/%%p%%%%%%h", dir);
	snprintf(other, sizeof(other), "%s/%d%%%.64s", dir, getpid(), host);
	ASSERT_EQS(0, gprof_flags_file_open(&f, path, &e), 3, write(f.own.fd, "one", 3));
	EXPECT_NE(0, stat(other, &st));
	ASSERT_EQ(0, gprof_flags_file_commit(&f, &e));
	gprof_flags_file_drop(&f);
	ASSERT_EQ(0, stat(other, &st));
	EXPECT_EQ(3, st.st_size);
	/* What is given up leaves the older one, and what is not, takes its place. */
	ASSERT_EQ(0, gprof_flags_file_open(&f, path, &e));
	gprof_flags_file_drop(&f);
	EXPECT_EQS(0, stat(other, &st), 3, st.st_size);
	ASSERT_ZEROS(gprof_flags_file_open(&f, path, &e), gprof_flags_file_commit(&f, &e));
	gprof_flags_file_drop(&f);
	EXPECT_ZEROS(stat(other, &st), st.st_size);
	unlink(other);
	EXPECT_EQS(0, rmdir(dir), -ENOENT, gprof_flags_file_open(&f, "/nonexistent/x", &e),
		   -EINVAL, gprof_flags_file_open(&f, "%", &e),
		   -EINVAL, gprof_flags_file_open(&f, "%d", &e));
	EXPECT_ZEROS(gprof_flags_file_open(&f, "/dev/null", &e), gprof_flags_file_commit(&f, &e));
	gprof_flags_file_drop(&f);
}

TEST(what_is_told_goes_where_stderr_was)
{
	struct gprof_flags_file f = GPROF_FLAGS_FILE_NONE;
	struct gprof_error e = { 0 };
	int ends[2], stderr_fd = dup(2);
	char got[8] = "";

	ASSERT_EQS(0, pipe2(ends, O_NONBLOCK), 2, dup2(ends[1], 2));
	EXPECT_EQ(0, gprof_flags_file_open(&f, NULL, &e));
	/* A program may close it, as daemons do. */
	dup2(stderr_fd, 2);
	EXPECT_EQS(0, gprof_flags_file_is_there(&f, &e), 4, write(f.own.fd, "told", 4),
		   0, gprof_flags_file_commit(&f, &e));
	gprof_flags_file_drop(&f);
	EXPECT_EQ(4, read(ends[0], got, sizeof(got) - 1));
	EXPECT_STREQ("told", got);
	close(2);
	EXPECT_EQ(-EBADF, gprof_flags_file_open(&f, NULL, &e));
	EXPECT_SAYS(e.text, "stderr cannot be written");
	dup2(stderr_fd, 2);
	close(stderr_fd);
	close(ends[0]);
	close(ends[1]);
}

TEST(a_file_is_found_again_wherever_the_program_is_by_then)
{
	char dir[] = "/tmp/flags.XXXXXX", path[64], cwd[256];
	struct gprof_flags_file f = GPROF_FLAGS_FILE_NONE;
	struct gprof_error e = { 0 };
	int other;

	ASSERT_NE(NULL, getcwd(cwd, sizeof(cwd)));
	ASSERT_NE(NULL, mkdtemp(dir));
	ASSERT_ZEROS(chdir(dir), gprof_flags_file_open(&f, "x", &e), chdir("/"));
	ASSERT_EQ(0, gprof_flags_file_commit(&f, &e)) TH_LOG("%s", e.text);
	gprof_flags_file_drop(&f);
	snprintf(path, sizeof(path), "%s/x", dir);
	EXPECT_EQ(0, unlink(path));
	/* Somebody else's by now: it is neither written to nor closed. */
	ASSERT_EQ(0, gprof_flags_file_open(&f, path, &e));
	EXPECT_EQ(0, gprof_flags_file_is_there(&f, &e));
	other = open("/dev/null", O_WRONLY | O_CLOEXEC);
	ASSERT_EQ(f.own.fd, dup2(other, f.own.fd));
	EXPECT_EQ(-EBADF, gprof_flags_file_is_there(&f, &e));
	EXPECT_SAYS(e.text, "closed it meanwhile");
	close(other);
	other = f.own.fd;
	gprof_flags_file_drop(&f);
	EXPECT_ZEROS(close(other), rmdir(dir));
	ASSERT_EQ(0, chdir(cwd));
}

/* ---- what is there already ---- */

static bool has(const char *path, const char *text)
{
	char got[16] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool same = fd >= 0 && read(fd, got, sizeof(got) - 1) >= 0 && !strcmp(got, text);

	close(fd);
	return same;
}

static int put_text(struct gprof_flags_file *f, const char *text, struct gprof_error *e)
{
	int err = write(f->own.fd, text, strlen(text)) == (ssize_t)strlen(text) ? 0 : -errno;

	if (!err)
		err = gprof_flags_file_commit(f, e);
	gprof_flags_file_drop(f);
	return err;
}

TEST(a_file_keeps_its_rights_and_links_lead_to_it)
{
	const char *dir = lib_tmpdir();
	struct gprof_flags_file f;
	struct gprof_error e = { 0 };
	char link[96], file[96];
	struct stat st;

	snprintf(link, sizeof(link), "%.60s/link", dir);
	snprintf(file, sizeof(file), "%.60s/d/file", dir);
	lib_sh("cd %s; mkdir d; echo old >d/file; chmod 640 d/file; ln -s d/file link; ln -s d/none nowhere",
	       dir);
	ASSERT_EQ(0, gprof_flags_file_open(&f, link, &e)) TH_LOG("%s", e.text);
	EXPECT_TRUE(has(file, "old\n"));
	EXPECT_EQ(0, put_text(&f, "new", &e));
	EXPECT_TRUE(has(file, "new"));
	EXPECT_EQ(0, lstat(link, &st));
	EXPECT_TRUE(S_ISLNK(st.st_mode));
	EXPECT_EQS(0, stat(file, &st), 0640, st.st_mode & 07777);
	snprintf(link, sizeof(link), "%.60s/nowhere", dir);
	EXPECT_EQ(-ENOENT, gprof_flags_file_open(&f, link, &e));
	EXPECT_SAYS(e.text, "leads nowhere");
	/* The directory is the one that it was, wherever it is by then. */
	ASSERT_EQ(0, gprof_flags_file_open(&f, file, &e));
	lib_sh("cd %s; mv d e; mkdir d; echo theirs >d/file", dir);
	EXPECT_EQ(0, put_text(&f, "newer", &e)) TH_LOG("%s", e.text);
	EXPECT_TRUE(has(file, "theirs\n"));
	snprintf(file, sizeof(file), "%.60s/e/file", dir);
	EXPECT_TRUE(has(file, "newer"));
	lib_sh("rm -rf %s", dir);
}

TEST(what_is_no_file_is_written_to_as_it_is_or_refused)
{
	const char *dir = lib_tmpdir();
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	int sock = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), fd;
	struct gprof_flags_file f;
	struct gprof_error e = { 0 };
	char path[96], got[8] = "";

	EXPECT_EQ(-EISDIR, gprof_flags_file_open(&f, dir, &e));
	snprintf(path, sizeof(path), "%.60s/none/", dir);
	EXPECT_EQ(-EISDIR, gprof_flags_file_open(&f, path, &e)) TH_LOG("%s", e.text);
	snprintf(un.sun_path, sizeof(un.sun_path), "%.60s/socket", dir);
	ASSERT_EQ(0, bind(sock, (struct sockaddr *)&un, sizeof(un)));
	close(sock);
	EXPECT_EQ(-EINVAL, gprof_flags_file_open(&f, un.sun_path, &e));
	EXPECT_SAYS(e.text, "it is a socket");
	snprintf(path, sizeof(path), "%.60s/disk", dir);
	if (!mknod(path, S_IFBLK | 0600, 7 << 8)) {
		EXPECT_EQ(-EINVAL, gprof_flags_file_open(&f, path, &e));
		EXPECT_SAYS(e.text, "it is a disk");
	}
	/* A program does not wait for who may never come. */
	snprintf(path, sizeof(path), "%.60s/pipe", dir);
	ASSERT_EQ(0, mkfifo(path, 0600));
	alarm(5);
	EXPECT_EQ(-ENXIO, gprof_flags_file_open(&f, path, &e));
	alarm(0);
	EXPECT_SAYS(e.text, "it has no reader");
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	ASSERT_EQ(0, gprof_flags_file_open(&f, path, &e)) TH_LOG("%s", e.text);
	EXPECT_EQS(0, put_text(&f, "told", &e), 4, read(fd, got, sizeof(got)));
	close(fd);
	lib_sh("rm -rf %s", dir);
}

TEST(two_that_write_one_file_do_not_meet)
{
	const char *dir = lib_tmpdir();
	struct gprof_flags_file f[2];
	struct gprof_error e = { 0 };
	const char *path = lib_text("%.60s/x", dir);

	without_tmpfile = true;
	ASSERT_EQ(0, gprof_flags_file_open(&f[0], path, &e));
	/* as one of the same number, in another container */
	ASSERT_EQ(0, gprof_flags_file_open(&f[1], path, &e));
	EXPECT_EQ(0, put_text(&f[0], "first", &e)) TH_LOG("%s", e.text);
	EXPECT_TRUE(has(path, "first"));
	/* it is not what was there at the beginning, and is replaced like that */
	EXPECT_EQ(0, put_text(&f[1], "second", &e)) TH_LOG("%s", e.text);
	EXPECT_TRUE(has(path, "second"));
	without_tmpfile = false;
	EXPECT_EQ(0, lib_sh("test $(ls -A %s) = x", dir));
	lib_sh("rm -rf %s", dir);
}

/* ---- who is who ---- */

static int wait_child(pid_t pid)
{
	int status;

	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* The first of a namespace, and of one within. */
static int be_first_twice(const char *path)
{
	struct gprof_flags_file f;
	struct gprof_error e = { 0 };
	uint64_t mine = gprof_own_process();
	pid_t pid;

	without_tmpfile = true;
	if (getpid() != 1 || gprof_flags_file_open(&f, path, &e) || unshare(CLONE_NEWPID))
		return 1;
	pid = fork();
	if (!pid) {
		if (getpid() != 1 || gprof_own_process() == mine)
			_exit(2);
		gprof_flags_file_drop(&f);
		_exit(0);
	}
	if (wait_child(pid))
		return 3;
	return put_text(&f, "mine", &e) || gprof_own_process() != mine ? 4 : 0;
}

TEST(a_child_of_our_number_is_not_taken_for_us)
{
	const char *dir = lib_tmpdir();
	const char *path = lib_text("%.60s/x", dir);
	pid_t pid;

	pid = fork();
	if (!pid) {
		if (unshare(geteuid() ? CLONE_NEWUSER | CLONE_NEWPID : CLONE_NEWPID))
			_exit(77);
		pid = fork();
		if (!pid)
			_exit(be_first_twice(path));
		_exit(wait_child(pid));
	}
	pid = wait_child(pid);
	if (pid == 77)
		SKIP(return, "no namespaces here");
	EXPECT_EQ(0, pid);
	EXPECT_TRUE(has(path, "mine"));
	lib_sh("rm -rf %s", dir);
}

TEST(what_cannot_be_recorded_leaves_nothing)
{
	static const char *const names[][2] = {
		{ "cpu", "cpu.pb.gz" }, { "heap", "heap.pb.gz" }, { "trace", "trace.out" },
	};
	char dir[] = "/tmp/flags.XXXXXX", text[64];
	struct gprof_flags *f;

	if (!access("/dev/gprof", F_OK))
		SKIP(return, "the module is here");
	ASSERT_NE(NULL, mkdtemp(dir));
	snprintf(text, sizeof(text), "cpu,out=%s/x;trace,out=%s/y", dir, dir);
	f = gprof_flags_parse_text(text);
	ASSERT_NE(NULL, f);
	EXPECT_EQS(-EINVAL, gprof_flags_stop(f), -ENOENT, gprof_flags_start(f));
	EXPECT_SAYS(gprof_error(), "not loaded");
	gprof_flags_free(f);
	/* of the name that a kind has where none is given */
	ASSERT_EQ(0, chdir(dir));
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		ASSERT_EQ(0, mkdir(names[i][1], 0700));
		f = gprof_flags_parse_text(names[i][0]);
		EXPECT_EQ(-EISDIR, gprof_flags_start(f)) TH_LOG("%s", names[i][1]);
		gprof_flags_free(f);
		rmdir(names[i][1]);
	}
	EXPECT_ZEROS(chdir("/"), rmdir(dir));
}

TEST_HARNESS_MAIN
