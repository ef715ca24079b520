// SPDX-License-Identifier: GPL-2.0-only
/*
 * Custom profiles without the module: names of files, what is added and taken away again,
 * and a published file that is read while it is written, or is none.
 */
#include "harness.h"
#include <gprof/custom.h>
#include <linux/magic.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/vfs.h>

#include "profile_util.h"
#include "base/own_fd.h"
#include "custom/custom_dir.h"
#include "custom/custom_keys.h"
#include "custom/custom_layout.h"
#include "custom/custom_share.h"

#define NAME	"unit.things"

/* ---- names ---- */

TEST(each_name_has_a_file_and_each_file_a_name)
{
	static const char *const names[] = {
		"a", "a.b-c_d", "example.com/what", ".", "..", ".hidden", "-rf", "a b", "%41", "%",
		"\xc3\xa4\xff", "A", "new",
		"01234567890123456789012345678901234567890123456789012345678901234567890123456789",
		"////////////////////////////////////////////////////////////////////////////////",
	};
	char file[GPROF_CUSTOM_FILE_SIZE], name[GPROF_CUSTOM_NAME_MAX + 1];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		ASSERT_EQ(0, gprof_custom_name_check(names[i], NULL));
		gprof_custom_file_of(names[i], file);
		EXPECT_EQ(NULL, strchr(file, '/'));
		EXPECT_NE('.', file[0]);
		EXPECT_NE('-', file[0]);
		EXPECT_TRUE(gprof_custom_name_of(file, name));
		EXPECT_STREQ(names[i], name);
	}
}

TEST(other_files_have_no_name)
{
	static const char *const files[] = {
		"", ".", "..", ".new-a", "a/b", "%", "%4", "%zz", "%00", "%61", "%2f", "a%0A", "%7F",
		"-a", "a b", "a\xc3",
		"012345678901234567890123456789012345678901234567890123456789012345678901234567890",
	};
	char name[GPROF_CUSTOM_NAME_MAX + 1];

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		EXPECT_FALSE(gprof_custom_name_of(files[i], name))
			TH_LOG("number %zu is \"%s\"", i, name);
	}
}

/* ---- things ---- */

#define THINGS	3000

/* Beside an array that says the same. */
TEST(things_come_and_go)
{
	static int64_t stack_of[THINGS];
	struct gprof_custom_keys k;
	unsigned int seed = 1, round;
	size_t nr = 0, i;

	gprof_custom_keys_init(&k);
	for (i = 0; i < THINGS; i++)
		stack_of[i] = -1;
	for (round = 0; round < 300000; round++) {
		uint32_t stack = 0;
		/* more come at first, more go later */
		bool add = rand_r(&seed) % 100 < (round % 60000 < 30000 ? 70 : 30);

		i = (size_t)rand_r(&seed) % THINGS;
		ASSERT_EQ(stack_of[i] >= 0, gprof_custom_keys_has(&k, i * 64));
		if (add && stack_of[i] < 0) {
			ASSERT_EQ(0, gprof_custom_keys_room(&k));
			gprof_custom_keys_put(&k, i * 64, round);
			stack_of[i] = round;
			nr++;
		} else if (!add) {
			ASSERT_EQ(stack_of[i] >= 0, gprof_custom_keys_remove(&k, i * 64, &stack));
			if (stack_of[i] >= 0) {
				ASSERT_EQ(stack_of[i], stack);
				nr--;
			}
			stack_of[i] = -1;
		}
		ASSERT_EQ(nr, k.nr);
		ASSERT_GE(k.size / 4 * 3, k.nr);
	}
	for (i = 0; i < THINGS; i++)
		ASSERT_EQ(stack_of[i] >= 0, gprof_custom_keys_has(&k, i * 64));
	gprof_custom_keys_free(&k);
}

/* ---- a file ---- */

#define SLOTS	200
#define MORE	64	/* that come on request */
#define BASE	0x100000000ULL

FIXTURE(file) {
	char dir[64];
	char path[256];
	int go, ready;
	pid_t pid;
	struct gprof_profile *p;
};

/* What slot @i says when it was changed for the @n-th time: all of it tells @n. */
static struct gprof_custom_slot slot_of(size_t i, uint64_t n)
{
	struct gprof_custom_slot s = { .count = n, .nr = 1 + n % GPROF_CUSTOM_FRAMES_MAX };

	for (size_t f = 0; f < s.nr; f++)
		s.frames[f] = BASE * (i + 1) + n * 256 + f;
	return s;
}

/* A program: publishes, and changes what it has at each byte that it is sent. */
static void program(int go, int ready)
{
	struct gprof_custom_share *s;
	struct gprof_error e = { 0 };
	struct gprof_custom_slot slot;
	size_t nr = SLOTS, i;
	uint64_t n = 1;
	char what;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	s = gprof_custom_share_new(NAME, SLOTS + MORE, &e);
	if (!s || gprof_custom_share_grow(s, SLOTS, &e))
		_exit(2);
	for (i = 0; i < SLOTS; i++) {
		slot = slot_of(i, n);
		gprof_custom_share_set(s, i, &slot, true);
	}
	while (write(ready, "", 1) == 1 && read(go, &what, 1) == 1) {
		do {
			n++;
			if (what == 'g' && gprof_custom_share_grow(s, nr += MORE, &e))
				_exit(3);
			for (i = 0; i < nr; i++) {
				slot = slot_of(i, n);
				gprof_custom_share_set(s, i, &slot, true);
			}
		} while (what == 'x');	/* for ever */
		if (what == 'e')
			break;
	}
	gprof_custom_share_free(s);
	_exit(0);
}

/* Starts one; its pid once it has published, or -1. */
static pid_t start(int *to, int *from)
{
	int go[2], ready[2];
	pid_t pid;
	char byte;

	if (pipe2(go, O_CLOEXEC) || pipe2(ready, O_CLOEXEC))
		return -1;
	pid = fork();
	if (!pid)
		program(go[0], ready[1]);
	close(ready[1]);
	*to = go[1];
	*from = ready[0];
	return read(*from, &byte, 1) == 1 ? pid : -1;
}

FIXTURE_SETUP(file)
{
	strcpy(self->dir, lib_tmpdir());
	chmod(self->dir, 0700);
	setenv("XDG_RUNTIME_DIR", self->dir, 1);
	self->pid = start(&self->go, &self->ready);
	ASSERT_LT(0, self->pid);
	snprintf(self->path, sizeof(self->path), "%.60s/gprof/%d/%s", self->dir, self->pid, NAME);
}

FIXTURE_TEARDOWN(file)
{
	gprof_profile_free(self->p);
	kill(self->pid, SIGKILL);
	waitpid(self->pid, NULL, 0);
	lib_sh("rm -rf %s", self->dir);
}

/* What is seen: of each slot all frames and the number belong together. */
struct seen {
	unsigned int slots, torn;
	int64_t least, most;
};

static int look(void *ctx, const struct gprof_frame *frames, size_t nr, const int64_t *values)
{
	struct seen *s = ctx;
	uint64_t n = (uint64_t)values[0];
	size_t i = frames[0].address / BASE - 1, f;
	struct gprof_custom_slot want = slot_of(i, n);

	s->slots++;
	s->torn += nr != want.nr;
	for (f = 0; f < nr && f < want.nr; f++)
		s->torn += frames[f].address != want.frames[f] - 1;
	if (values[0] < s->least)
		s->least = values[0];
	if (values[0] > s->most)
		s->most = values[0];
	return 0;
}

static struct seen see(const struct gprof_profile *p)
{
	struct seen s = { .least = INT64_MAX };

	gprof_profile_each(p, look, &s);
	return s;
}

#define READ() do {							\
	gprof_profile_free(self->p);					\
	self->p = gprof_custom_read(self->pid, NAME);			\
	ASSERT_NE(NULL, self->p)					\
		TH_LOG("%s", gprof_error());				\
} while (0)

TEST_F(file, what_stands_still_is_of_one_instant)
{
	int64_t at, lasted, since = 0;
	struct seen s;
	char byte;

	for (int i = 1; i < 5; i++) {
		READ();
		gprof_profile_time(self->p, &at, &lasted);
		EXPECT_LT(0, lasted);
		EXPECT_EQ(at - lasted, since ?: at - lasted);
		since = at - lasted;
		s = see(self->p);
		EXPECT_EQS(SLOTS, s.slots, 0, s.torn, i, s.least, i, s.most);
		EXPECT_FALSE(profile_says(self->p, "instant"));
		ASSERT_EQS(1, write(self->go, "1", 1), 1, read(self->ready, &byte, 1));
	}
}

TEST_F(file, what_changes_is_never_torn)
{
	unsigned int moving = 0, i;
	struct seen s;

	ASSERT_EQ(1, write(self->go, "x", 1));
	for (i = 0; i < 200; i++) {
		READ();
		s = see(self->p);
		EXPECT_EQ(0, s.torn);
		if (profile_says(self->p, "instant of its own")) {
			moving++;
		} else {
			EXPECT_GE(1, s.most - s.least);
		}
		if (!profile_says(self->p, "left out"))
			EXPECT_EQ(SLOTS, s.slots);
	}
	TH_LOG("%u of %u were not of one instant", moving, i);
}

/* Stopped amid a change, for ever as far as a reader can tell. */
TEST_F(file, a_slot_that_never_settles_is_left_out_and_told)
{
	struct gprof_custom_slot slot;
	int fd = open(self->path, O_RDWR | O_CLOEXEC);
	uint64_t odd = 12345;
	struct seen s;

	ASSERT_LE(0, fd);
	ASSERT_EQ(8, pwrite(fd, &odd, 8, GPROF_CUSTOM_HEAD + 7 * sizeof(slot)));
	ASSERT_EQ(8, pwrite(fd, &odd, 8, offsetof(struct gprof_custom_head, changes)));
	READ();
	s = see(self->p);
	EXPECT_EQS(SLOTS - 1, s.slots, 0, s.torn);
	EXPECT_TRUE(profile_says(self->p, "1 stacks changed whenever"));
}

TEST_F(file, it_is_listed_and_gone_when_its_program_is)
{
	struct stat st;

	EXPECT_EQS(0, stat(self->path, &st), 0600, st.st_mode & 07777);
	ASSERT_EQS(1, write(self->go, "e", 1), self->pid, waitpid(self->pid, NULL, 0));
	EXPECT_EQ(-1, stat(self->path, &st));
}

static int count(void *ctx, const struct gprof_custom_info *info)
{
	*(uint64_t *)ctx += info->count;
	return 0;
}

TEST_F(file, what_is_left_by_the_dead_is_not_believed)
{
	uint64_t sum = 0;
	siginfo_t info;
	struct stat st;

	EXPECT_EQS(0, gprof_custom_each(0, count, &sum), SLOTS, sum);
	kill(self->pid, SIGKILL);
	/* it has ended, and the number stays its own */
	ASSERT_EQ(0, waitid(P_PID, (id_t)self->pid, &info, WEXITED | WNOWAIT));
	EXPECT_EQ(0, stat(self->path, &st));
	EXPECT_ERRNO(ENOENT, gprof_custom_read(self->pid, NAME));
	EXPECT_EQ(-1, stat(self->path, &st));
	sum = 0;
	EXPECT_ZEROS(gprof_custom_each(0, count, &sum), sum);
}

/* Anything may be in it: a profile comes of it, or a sentence; never more than that. */
TEST_F(file, any_bytes_are_a_profile_or_a_sentence)
{
	size_t size = GPROF_CUSTOM_HEAD + SLOTS * sizeof(struct gprof_custom_slot);
	unsigned int seed = 7, profiles = 0, i, j;
	char *kept = malloc(size);
	int fd = open(self->path, O_RDWR | O_CLOEXEC);

	ASSERT_LE(0, fd);
	ASSERT_EQ((ssize_t)size, pread(fd, kept, size, 0));
	for (i = 0; i < 2000; i++) {
		for (j = 0; j < 8; j++) {
			/* the head as often as all the rest */
			size_t at = (size_t)rand_r(&seed) % (j & 1 ? size : sizeof(struct gprof_custom_head));
			char byte = (char)(1 << rand_r(&seed) % 8);

			if (j >= 1 + i % 8)
				break;
			byte ^= kept[at];
			ASSERT_EQ(1, pwrite(fd, &byte, 1, (off_t)at));
		}
		if (i % 16 == 0)
			ASSERT_EQ(0, ftruncate(fd, (off_t)((size_t)rand_r(&seed) % (2 * size))));
		gprof_profile_free(self->p);
		self->p = gprof_custom_read(self->pid, NAME);
		if (self->p)
			profiles++;
		else
			EXPECT_EQ(EBADMSG, errno) TH_LOG("%s", gprof_error());
		ASSERT_EQS(0, ftruncate(fd, (off_t)size), (ssize_t)size, pwrite(fd, kept, size, 0));
	}
	TH_LOG("%u of %u were profiles", profiles, i);
	EXPECT_LTS(0, profiles, profiles, i);
	free(kept);
	READ();
	EXPECT_EQ(SLOTS, see(self->p).slots);
}

TEST_F(file, what_is_wrong_with_it_is_said)
{
	static const struct { off_t cut, at; const char *bytes, *said; } wrong[] = {
		{ 20, 0, "", "too short" }, { 1, 0, "", "too short" }, { 4100, 0, "", "cut off" },
		{ 0, 3, "\0", "another beginning" }, { 0, 8, "\7", "version 7" },
		{ 0, 12, "\1", "no sense" }, { 0, 18, "\377\377", "no sense" },
		{ 0, 16, "\377\377\0", "cut off" },	/* more slots than there are bytes */
	};
	int fd = open(self->path, O_RDWR | O_CLOEXEC);
	char kept[8192];
	ssize_t size = read(fd, kept, sizeof(kept));

	ASSERT_LE(4200, size);
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		size_t nr = strlen(wrong[i].bytes) ?: (size_t)!wrong[i].cut;

		ASSERT_EQ((ssize_t)nr, pwrite(fd, wrong[i].bytes, nr, wrong[i].at));
		ASSERT_EQ(0, wrong[i].cut ? ftruncate(fd, wrong[i].cut) : 0);
		EXPECT_ERRNO(EBADMSG, gprof_custom_read(self->pid, NAME));
		EXPECT_SAYS(gprof_error(), wrong[i].said);
		ASSERT_EQ(size, pwrite(fd, kept, (size_t)size, 0));
	}
	ASSERT_EQ(0, fchmod(fd, 0644));
	EXPECT_EQ(NULL, gprof_custom_read(self->pid, NAME));
	EXPECT_SAYS(gprof_error(), "that of user");
}

/* More than any profile can hold. */
TEST_F(file, numbers_that_overflow_stay_at_the_largest)
{
	int fd = open(self->path, O_RDWR | O_CLOEXEC);
	uint64_t most = UINT64_MAX;

	ASSERT_LE(0, fd);
	for (size_t i = 0; i < SLOTS; i++)
		ASSERT_EQ(8, pwrite(fd, &most, 8,
				    (off_t)(GPROF_CUSTOM_HEAD + i * sizeof(struct gprof_custom_slot) +
					    offsetof(struct gprof_custom_slot, count))));
	READ();
	EXPECT_EQ(INT64_MAX, gprof_profile_total(self->p, 0));
}

/*
 * No program has as many addresses as there is room for in a file. To name each would take
 * a gigabyte.
 */
TEST_F(file, more_addresses_than_any_program_has_are_too_many)
{
	const size_t nr = 2 * GPROF_CUSTOM_STACKS_MAX;
	struct gprof_custom_slot *slots = calloc(nr, sizeof(*slots));
	int fd = open(self->path, O_RDWR | O_CLOEXEC);
	long before, after;
	uint32_t count = nr;
	uint64_t addr = BASE;

	ASSERT_LE(0, fd);
	ASSERT_NE(NULL, slots);
	for (size_t i = 0; i < nr; i++) {
		slots[i].count = 1;
		slots[i].nr = GPROF_CUSTOM_FRAMES_MAX;
		for (size_t f = 0; f < GPROF_CUSTOM_FRAMES_MAX; f++)
			slots[i].frames[f] = addr += 16;
	}
	ASSERT_EQ((ssize_t)(nr * sizeof(*slots)),
		  pwrite(fd, slots, nr * sizeof(*slots), GPROF_CUSTOM_HEAD));
	ASSERT_EQ(4, pwrite(fd, &count, 4, offsetof(struct gprof_custom_head, nr_slots)));
	free(slots);
	before = lib_peak_kib(RUSAGE_SELF);
	self->p = gprof_custom_read(self->pid, NAME);
	EXPECT_EQS(NULL, self->p, EFBIG, errno);
	EXPECT_SAYS(gprof_error(), "256 MiB");
	after = lib_peak_kib(RUSAGE_SELF);
	/* what is read, twice, and of the profile as much as it may take */
	EXPECT_GT(LIB_MEMORY(700 << 10), after - before)
		TH_LOG("%ld KiB", after - before);
	close(fd);
}

/* ---- amid it ---- */

/* A child, which waits to be traced. */
static pid_t traced(void)
{
	pid_t pid = fork();

	if (pid)
		return pid > 0 && waitpid(pid, NULL, 0) == pid &&
		       !ptrace(PTRACE_SETOPTIONS, pid, NULL, PTRACE_O_TRACESYSGOOD) ? pid : -1;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	raise(SIGSTOP);
	return 0;
}

/* Lets a child go on until a call of its returns: the @n-th of @nr, or one that made @path. */
static bool run_to(pid_t pid, uint64_t nr, unsigned int n, const char *path)
{
	uint64_t entered = UINT64_MAX;
	int status;

	while (!ptrace(PTRACE_SYSCALL, pid, NULL, NULL) && waitpid(pid, &status, 0) == pid &&
	       WIFSTOPPED(status)) {
		struct __ptrace_syscall_info info = { 0 };

		if (ptrace(PTRACE_GET_SYSCALL_INFO, pid, (void *)sizeof(info), &info) < 0)
			return false;
		if (info.op == PTRACE_SYSCALL_INFO_ENTRY)
			entered = info.entry.nr;
		else if (info.op == PTRACE_SYSCALL_INFO_EXIT &&
			 (path ? !access(path, F_OK) : entered == nr && !--n))
			return true;
	}
	return false;
}

/* What a reader finds when more stacks come once it has read from the file @preads times. */
struct found {
	unsigned int slots, torn;
	bool left_out;
};

static struct found read_meanwhile(pid_t program, int go, int ready, unsigned int preads)
{
	struct found found = { .torn = UINT_MAX };
	int result[2];
	pid_t pid;
	char byte;

	if (pipe2(result, O_CLOEXEC))
		return found;
	pid = traced();
	if (!pid) {
		struct gprof_profile *p = gprof_custom_read(program, NAME);
		struct seen s = { 0 };

		if (!p)
			_exit(1);
		s = see(p);
		found = (struct found){ s.slots, s.torn, profile_says(p, "faster than they were") };
		_exit(write(result[1], &found, sizeof(found)) != sizeof(found));
	}
	close(result[1]);
	if (run_to(pid, SYS_pread64, preads, NULL) && write(go, "g", 1) == 1 &&
	    read(ready, &byte, 1) == 1 && !ptrace(PTRACE_DETACH, pid, NULL, NULL) &&
	    read(result[0], &found, sizeof(found)) != sizeof(found))
		found.torn = UINT_MAX;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return found;
}

TEST_F(file, stacks_that_come_once_the_head_was_read_are_there)
{
	struct found f = read_meanwhile(self->pid, self->go, self->ready, 1);

	EXPECT_EQS(SLOTS + MORE, f.slots, 0, f.torn);
	EXPECT_FALSE(f.left_out);
}

TEST_F(file, stacks_that_come_too_late_are_told_of)
{
	int fd = open(self->path, O_RDWR | O_CLOEXEC);
	uint64_t odd = 12345;
	struct found f;

	ASSERT_EQ(8, pwrite(fd, &odd, 8, offsetof(struct gprof_custom_head, changes)));
	f = read_meanwhile(self->pid, self->go, self->ready, 100);
	EXPECT_EQS(SLOTS, f.slots, 0, f.torn);
	EXPECT_TRUE(f.left_out);
}

/* Who lists removes what no program writes any more, but not what one is about to write. */
TEST_F(file, what_is_being_made_survives_a_lister)
{
	static const char *const there[] = { "", "/.new-other" };
	char own[160], path[192], file[192];

	for (size_t i = 0; i < 2; i++) {
		uint64_t sum = 0;
		int status;
		pid_t pid = traced();

		ASSERT_LE(0, pid);
		if (!pid) {
			struct gprof_custom_share *s = gprof_custom_share_new("other", 10, NULL);

			snprintf(file, sizeof(file), "%.60s/gprof/%d/other", self->dir, getpid());
			status = s ? access(file, F_OK) ? 2 : 0 : 1;
			gprof_custom_share_free(s);
			_exit(status);
		}
		snprintf(own, sizeof(own), "%.60s/gprof/%d", self->dir, pid);
		snprintf(path, sizeof(path), "%s%s", own, there[i]);
		ASSERT_TRUE(run_to(pid, 0, 0, path));
		EXPECT_EQS(0, gprof_custom_each(0, count, &sum), SLOTS, sum, -1, access(own, F_OK));
		ASSERT_EQ(0, ptrace(PTRACE_DETACH, pid, NULL, NULL));
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		EXPECT_EQ(0, status) TH_LOG("with \"%s\"", there[i]);
	}
}

/* A process with the number of a dead one publishes while what that left is looked at. */
TEST_F(file, what_another_has_put_there_is_not_removed)
{
	const char *path = lib_text("%s.new", self->path);
	siginfo_t info;
	int fd, status;
	pid_t pid;

	kill(self->pid, SIGKILL);
	ASSERT_EQ(0, waitid(P_PID, (id_t)self->pid, &info, WEXITED | WNOWAIT));
	pid = traced();
	ASSERT_LE(0, pid);
	if (!pid)
		_exit(gprof_custom_read(self->pid, NAME) ? 1 : 0);
	ASSERT_TRUE(run_to(pid, SYS_fcntl, 1, NULL));
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	ASSERT_LE(0, fd);
	ASSERT_ZEROS(rename(path, self->path), ptrace(PTRACE_DETACH, pid, NULL, NULL));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_ZEROS(status, access(self->path, F_OK));
}

static long reads(void)
{
	FILE *f = fopen("/proc/self/io", "re");
	char line[80];
	long nr = -1;

	while (f && fgets(line, sizeof(line), f))
		sscanf(line, "syscr: %ld", &nr);
	if (f)
		fclose(f);
	return nr;
}

/* As many as there may be of them have root read for half a minute otherwise. */
TEST_F(file, slots_that_never_settle_are_not_read_for_ever)
{
	int fd = open(self->path, O_RDWR | O_CLOEXEC);
	uint64_t odd = 12345;
	long before;

	if (reads() < 0)
		SKIP(return, "/proc/self/io does not tell how often was read");
	for (size_t i = 0; i < SLOTS; i++)
		ASSERT_EQ(8, pwrite(fd, &odd, 8,
				    (off_t)(GPROF_CUSTOM_HEAD + i * sizeof(struct gprof_custom_slot))));
	ASSERT_EQ(8, pwrite(fd, &odd, 8, offsetof(struct gprof_custom_head, changes)));
	before = reads();
	READ();
	EXPECT_GT(100000, reads() - before);
	EXPECT_EQ(0, see(self->p).slots);
	EXPECT_TRUE(profile_says(self->p, "200 stacks changed whenever"));
}

/* ---- descriptors and directories ---- */

#define STRANGERS	16

/* In a child: where it went wrong, or 0. */
static int close_and_grow(const char *dir)
{
	struct gprof_custom_share *s;
	struct gprof_error e = { 0 };
	int fds[STRANGERS], i;
	char path[128];
	struct stat st;

	setenv("XDG_RUNTIME_DIR", dir, 1);
	s = gprof_custom_share_new(NAME, SLOTS, &e);
	if (!s)
		return 1;
	/* as a daemon does, and its files get the numbers */
	closefrom(3);
	for (i = 0; i < STRANGERS; i++) {
		snprintf(path, sizeof(path), "%.60s/%d", dir, i);
		fds[i] = fcntl(open(path, O_RDWR | O_CREAT, 0600), F_DUPFD, GPROF_OWN_FD_LEAST);
	}
	if (gprof_custom_share_grow(s, SLOTS, &e) != -EBADF || !strstr(e.text, "closed"))
		return 2;
	for (i = 0; i < STRANGERS; i++)
		if (fstat(fds[i], &st) || st.st_size)
			return 3;
	gprof_custom_share_free(s);
	for (i = 0; i < STRANGERS; i++)
		if (fstat(fds[i], &st))
			return 4;
	return 0;
}

/* What @part returns in a child with a directory of its own, or -1 where it does not. */
static int in_child(int (*part)(const char *dir))
{
	const char *dir = lib_tmpdir();
	int status = -1;
	pid_t pid;

	chmod(dir, 0700);
	pid = fork();
	if (!pid)
		_exit(part(dir));
	if (pid > 0)
		waitpid(pid, &status, 0);
	lib_sh("rm -rf %s", dir);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(files_of_others_with_the_number_of_ours_are_let_alone)
{
	EXPECT_EQ(0, in_child(close_and_grow));
}

#define LONGEST	255	/* path of a base */

/* In a child: where it went wrong, or 0. A directory counts by its whole absolute path. */
static int name_places(const char *dir)
{
	char path[LONGEST + 2];
	int left = LONGEST - (int)strlen(dir) - 1;

	snprintf(path, sizeof(path), "%s/%0*d", dir, left, 0);
	if (chdir(dir) || mkdir("gprof", 0700) || mkdir(path, 0700) || chdir(path) ||
	    mkdir("gprof", 0700) || chdir(dir))
		return 1;
	setenv("XDG_RUNTIME_DIR", ".", 1);
	if (gprof_custom_base_open(0, geteuid()) != -ENOENT)
		return 2;
	setenv("XDG_RUNTIME_DIR", path, 1);
	if (gprof_custom_base_open(0, geteuid()) < 0)
		return 3;
	strcat(path, "0");
	setenv("XDG_RUNTIME_DIR", path, 1);
	return gprof_custom_base_open(0, geteuid()) == -ENOENT ? 0 : 4;
}

TEST(a_directory_counts_by_its_whole_absolute_path)
{
	EXPECT_EQ(0, in_child(name_places));
}

#define NOT_HERE	77

static bool write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool done = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return done;
}

/* /run and /tmp of our own. */
static bool own_root(void)
{
	unsigned int uid = geteuid(), gid = getegid();
	char map[32], dir[32];

	if (unshare(CLONE_NEWNS | (uid ? CLONE_NEWUSER : 0)))
		return false;
	snprintf(map, sizeof(map), "%u %u 1", uid, uid);
	if (uid && !write_file("/proc/self/uid_map", map))
		return false;
	snprintf(map, sizeof(map), "%u %u 1", gid, gid);
	if (uid && (!write_file("/proc/self/setgroups", "deny") ||
		    !write_file("/proc/self/gid_map", map)))
		return false;
	snprintf(dir, sizeof(dir), "/run/user/%u", uid);
	return !mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) &&
	       !mount("none", "/run", "tmpfs", 0, NULL) && !mount("none", "/tmp", "tmpfs", 0, NULL) &&
	       !mkdir("/run/user", 0755) && !mkdir(dir, 0700) && !setenv("XDG_RUNTIME_DIR", dir, 1);
}

static bool fails_with(pid_t pid, const char *name, int err)
{
	return !gprof_custom_read(pid, name) && errno == err;
}

/* In a child: where it went wrong, or 0. */
static int look_around(const char *dir)
{
	int go, ready, ret = 0;
	char planted[32];
	uint64_t sum = 0;
	pid_t pid;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (!own_root())
		return NOT_HERE;
	pid = start(&go, &ready);
	if (pid < 0)
		return 1;
	/* One directory, by two names. */
	if (gprof_custom_each(0, count, &sum) || sum != SLOTS)
		ret = 2;
	sum = 0;
	if (!ret && (gprof_custom_each(pid, count, &sum) || sum != SLOTS))
		ret = 3;
	/* What anybody can make says nothing of a name that is wrong. */
	snprintf(planted, sizeof(planted), "/tmp/gprof-%u", geteuid());
	if (!ret && (mkdir(planted, 0777) || chmod(planted, 0777) || !fails_with(pid, "typo", ENOENT)))
		ret = 4;
	if (!ret && (rename("/run/user", "/run/none") || !fails_with(pid, NAME, EPERM)))
		ret = 5;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return ret;
}

static dev_t memory;	/* all other file systems copy what is written again */

int fstatfs(int fd, struct statfs *st)
{
	int err = (int)syscall(SYS_fstatfs, fd, st);
	struct stat where;

	if (!err && memory && (fstat(fd, &where) || where.st_dev != memory))
		st->f_type = BTRFS_SUPER_MAGIC;
	return err;
}

static bool is_locked(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool locked = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK;

	close(fd);
	return locked;
}

/* In a child: where it went wrong, or 0. */
static int publish_in_memory(const char *dir)
{
	struct gprof_custom_share *s;
	struct gprof_error e = { 0 };
	char place[64], file[128];
	struct stat st;

	setenv("XDG_RUNTIME_DIR", dir, 1);
	if (stat("/dev/shm", &st))
		return NOT_HERE;
	memory = st.st_dev;
	s = gprof_custom_share_new(NAME, SLOTS, &e);
	if (!s)
		return 1;
	snprintf(place, sizeof(place), "/dev/shm/gprof-%u/%d", geteuid(), getpid());
	snprintf(file, sizeof(file), "%s/" NAME, place);
	/* who cleans up what is old takes a lock first */
	if (!is_locked(place) || !is_locked(file))
		return 2;
	gprof_custom_share_free(s);
	if (!access(place, F_OK))
		return 3;
	snprintf(place, sizeof(place), "/dev/shm/gprof-%u", geteuid());
	rmdir(place);
	return 0;
}

TEST(what_is_published_lies_where_it_is_written_in_place_and_is_locked)
{
	int ret = in_child(publish_in_memory);

	if (ret == NOT_HERE)
		SKIP(return, "no /dev/shm here");
	EXPECT_EQ(0, ret);
}

TEST(directories_are_looked_at_once_and_files_of_others_do_not_count)
{
	int ret = in_child(look_around);

	if (ret == NOT_HERE)
		SKIP(return, "no mount namespace of our own can be had");
	EXPECT_EQ(0, ret);
}

TEST_HARNESS_MAIN
