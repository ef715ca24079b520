// SPDX-License-Identifier: GPL-2.0-only
/*
 * table_test: stacks of code without frame pointers are whole, by a table, and by that
 * of the code that is there now; tables that are none are refused, and serve nobody else.
 *
 * The code is a few hand-written functions in files of their own, whose frames are known
 * to the byte. The frame pointer that they run with leads nowhere.
 */
#include <elf.h>
#include <grp.h>
#include <limits.h>
#include <stdatomic.h>
#include <sys/time.h>
#include "harness.h"
#include "device.h"
#include "self_stack.h"
#include "reader.h"
#include "table.h"
#include "table_code.h"
#include "workload.h"

#define USER	1000
#define PERIOD	200000		/* ns */
#define TRIPS	100000		/* less than a millisecond, about */

typedef void (*entry_fn)(uint64_t trips, const void *fp, const void *decoy);

static struct gprof_unwind_rule cfa_sp(int words)
{
	return (struct gprof_unwind_rule){ .kind = GPROF_UNWIND_CFA_SP, .cfa = words };
}

static const struct gprof_unwind_rule none = { .kind = GPROF_UNWIND_CFA_NONE };

/* Of the far code only the first rules have numbers of a byte. */
#define FEW	(GPROF_UNWIND_FAR - 2)

/* No table knows of the middle of what has records. */
static bool table_of(struct table_parts *t, const struct code *c)
{
	struct gprof_unwind_rule entry = cfa_sp(c->entry_words), middle = cfa_sp(c->middle_words);
	struct gprof_unwind_rule leaf = cfa_sp(1);
	struct gprof_unwind_rule unknown = { .kind = GPROF_UNWIND_CFA_UNKNOWN };

	entry.how = GPROF_UNWIND_FP_AT_CFA;
#ifdef __x86_64__
	entry.fp = -3;
	entry.ra = -2;
#else
	entry.ra = 1 - c->entry_words;
	entry.fp = 2 - c->entry_words;
	middle.ra = 1 - c->middle_words;
	leaf.cfa = 0;
	leaf.how = GPROF_UNWIND_RA_LR << 2;
#endif
	if (c == &linked_code) {
		middle = none;
#ifdef __x86_64__
		entry.fp = -2;
		entry.ra = 0;
#else
		entry.fp = -c->entry_words;
		entry.ra = 1 - c->entry_words;
#endif
	}
	/*
	 * Nine rows in the granule, of which that of the middle's return begins at the byte that
	 * is asked for, and is the first that a bisection looks at.
	 */
	struct table_row rows[] = {
		{ 0, unknown },
		{ c->body - c->begin, entry },
		{ c->ret + 4 - c->begin, unknown },
		{ c->middle_body - c->begin, c == &linked_code ? middle : unknown },
		{ c->middle_ret - 1 - c->begin, middle },
		{ c->middle_ret + 4 - c->begin, unknown },
		{ c->leaf - c->begin, leaf },
		{ c->leaf_end + 8 - c->begin, none },
		{ c->leaf_end + 9 - c->begin, none },
	};

	if (rows[8].offset >= GPROF_UNWIND_GRANULE)
		return false;

	return table_make(t, rows, ARRAY_SIZE(rows), 4096, c == &far_code ? FEW : 0);
}

/* A file whose first page is the code. */
static int file_of(const struct code *c, char *path)
{
	char page[4096] = { 0 };
	int fd;

	memcpy(page, c->begin, c->end - c->begin);
	strcpy(path, "/tmp/table_test.XXXXXX");
	fd = mkstemp(path);
	if (fd < 0 || write(fd, page, sizeof(page)) != sizeof(page))
		return -1;
	close(fd);
	return open(path, O_RDONLY | O_CLOEXEC);
}

static char *map_code(void *at, int fd)
{
	char *p = mmap(at, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | (at ? MAP_FIXED : 0), fd, 0);

	return p == MAP_FAILED ? NULL : p;
}

/* Where a file has an address of ours, and where its text begins and ends. */
static uint64_t own_offset(const void *addr, uint64_t *text, uint64_t *end)
{
	struct mapped_file m;

	if (!mapped_at(addr, &m))
		return 0;
	*text = m.offset;
	*end = m.offset + m.end - m.start;
	return (uintptr_t)addr - m.start + m.offset;
}

struct kernel_sigaction {
	void *handler;
	unsigned long flags;
	void *restorer;
	uint64_t mask;
};

/* Our own text: whoever is in it was called by nobody; but a handler's end is one. */
static bool own_table(struct table_parts *t)
{
	struct gprof_unwind_rule last = { .kind = GPROF_UNWIND_CFA_END };
	struct gprof_unwind_rule signal = { .kind = GPROF_UNWIND_CFA_SIGNAL };
	struct table_row rows[3] = { { 0, last } };
	struct kernel_sigaction old = { 0 };
	uint64_t text = 0, end = 0, at;
	uint32_t nr = 1;

	syscall(SYS_rt_sigaction, SIGALRM, NULL, &old, sizeof(old.mask));
	at = own_offset((void *)table_of, &text, &end);
	if (!at)
		return false;
	rows[0].offset = text & ~255ULL;
	at = old.restorer ? own_offset(old.restorer, &text, &end) : 0;
	if (at) {
		rows[nr++] = (struct table_row){ at - 1, signal };
		rows[nr++] = (struct table_row){ at + 9, last };
	}
	return table_make(t, rows, nr, end, 0);
}

/**
 * struct watch - what is seen of the leaf
 * @at: where the code is
 * @code: which it is
 * @right: whole stacks
 * @cut: stacks that say that they are not
 * @ends: of these
 * @wrong: others
 * @text: the first of these
 * @signal: the leaf is a handler's, over the leaf of another
 * @below: where that is
 * @below_code: and which
 * @guessed: the code has no rules, and whole stacks say so
 */
struct watch {
	const char *at;
	const struct code *code;
	unsigned int right, cut, wrong;
	unsigned int ends[16];
	char text[512];
	bool signal;
	const char *below;
	const struct code *below_code;
	bool guessed;
};

static bool are_callers(const __u64 *frames, const char *at, const struct code *c)
{
	return frames[0] == (uintptr_t)at + (c->middle_ret - c->begin) &&
	       frames[1] == (uintptr_t)at + (c->ret - c->begin);
}

static bool in_leaf(uint64_t frame, const char *at, const struct code *c)
{
	return frame >= (uintptr_t)at + (c->leaf - c->begin) &&
	       frame < (uintptr_t)at + (c->leaf_end - c->begin);
}

static void run(const char *at, uint64_t trips);

/* A place in code that nobody called from, for who takes a word of a frame for another. */
static uint64_t decoy(void)
{
	return (uintptr_t)run + 16;
}

/* Leaf, middle, entry, and whoever called it. */
static bool is_whole(const struct watch *w, const __u64 *frames, unsigned int nr)
{
	if (nr < 4 || !are_callers(frames + 1, w->at, w->code) || frames[nr - 1] == decoy())
		return false;
	if (!w->signal)
		return nr == 4;
	/* the restorer, what was interrupted, and its own callers */
	return nr == 8 && are_callers(frames + 5, w->below, w->below_code);
}

/* What was interrupted may have been anywhere; only of the leaf is it known. */
static bool is_of_interest(const struct watch *w, const __u64 *frames, unsigned int nr)
{
	if (!in_leaf(frames[0], w->at, w->code))
		return false;
	return !w->signal || nr < 5 || in_leaf(frames[4] - 1, w->below, w->below_code);
}

static void on_sample(void *ctx, const struct reader_sample *s)
{
	struct watch *w = ctx;
	const __u64 *frames;
	unsigned int i, n = 0, end;

	if (!s->stack || !s->stack->nr_user)
		return;
	frames = s->stack->frames + s->stack->nr_kernel;
	if (!is_of_interest(w, frames, s->stack->nr_user))
		return;
	end = GPROF_STACK_REC_END(s->stack->rec.flags);
	/* the host has taken the CPU from the walk */
	if (end == GPROF_STACK_END_TIME)
		return;
	if (!(s->stack->rec.flags & GPROF_STACK_REC_F_TABLES)) {
		w->wrong++;
	} else if (end != GPROF_STACK_END_COMPLETE) {
		w->cut++;
		w->ends[end]++;
		if (!(s->stack->rec.flags & GPROF_STACK_REC_F_USER_CUT))
			w->wrong++;
	} else if (is_whole(w, frames, s->stack->nr_user) &&
		   w->guessed == !!(s->stack->rec.flags & GPROF_STACK_REC_F_GUESSED)) {
		w->right++;
		return;
	} else {
		w->wrong++;
	}
	if (w->text[0])
		return;
	for (i = 0; i < s->stack->nr_user && n < sizeof(w->text) - 1; i++)
		n += snprintf(w->text + n, sizeof(w->text) - n, " %llx",
			      (unsigned long long)frames[i]);
}

FIXTURE(table) {
	struct device dev;
	struct reader reader;
	struct watch watch;
	char paths[2][32];
	int fds[2];
	struct table_parts tables[2], own;
	char *at;
};

static int upload(int fd, const struct table_parts *t, int file)
{
	struct gprof_unwind_table_add arg = table_argument(t, file);

	return device_ioctl(fd, GPROF_IOC_UNWIND_TABLE_ADD, &arg);
}

static int upload_own(int fd, const struct table_parts *t)
{
	int self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), ret;

	ret = upload(fd, t, self);
	close(self);
	return ret;
}

static struct gprof_setup setup_of(int tid, const struct gprof_cpu_params *params)
{
	struct gprof_setup setup = device_setup_of(GPROF_TARGET_PROCESS, tid, params);

	setup.stack |= GPROF_STACK_F_TABLES;
	return setup;
}

static void run(const char *at, uint64_t trips)
{
	/* a record that leads to itself, behind no call */
	const void *nowhere[2] = { nowhere, (void *)16 };

	((entry_fn)(uintptr_t)at)(trips, nowhere, (const void *)decoy());
}

FIXTURE_SETUP(table)
{
	struct gprof_cpu_params params = timer_params(PERIOD);
	struct gprof_setup setup = setup_of(getpid(), &params);

	SKIP_ALL_UNLESS(device_has(GPROF_FEAT_TABLES), NO_TABLES);
	self->fds[0] = file_of(&near_code, self->paths[0]);
	self->fds[1] = file_of(&far_code, self->paths[1]);
	ASSERT_LE(0, self->fds[0]);
	ASSERT_LE(0, self->fds[1]);
	ASSERT_TRUES(table_of(&self->tables[0], &near_code), table_of(&self->tables[1], &far_code));
	/* sets a restorer that can be asked for */
	signal(SIGALRM, SIG_IGN);
	ASSERT_TRUE(own_table(&self->own));
	self->at = map_code(NULL, self->fds[0]);
	ASSERT_NE(NULL, self->at);
	self->watch = (struct watch){ .at = self->at, .code = &near_code };
	ASSERT_EQ(0, reader_record(&self->reader, &self->dev, &setup, on_sample, &self->watch));
}

FIXTURE_TEARDOWN(table)
{
	EXPECT_STREQ("", self->reader.error);
	reader_close(&self->reader);
	unlink(self->paths[0]);
	unlink(self->paths[1]);
}

/* Samples of the leaf that were seen. */
static unsigned int seen(const struct watch *w)
{
	return w->right + w->cut + w->wrong;
}

/*
 * Runs until there are so many more: how often the timer gets to run is up to the host. Only
 * what was sampled is read, so at least once.
 */
static bool run_for(const char *at, struct reader *r, const struct watch *w, unsigned int more)
{
	uint64_t end = monotonic_ns() + 60000000000ULL;
	unsigned int enough = seen(w) + more;

	do {
		run(at, TRIPS);
		if (reader_read(r) < 0)
			return false;
	} while (seen(w) < enough && monotonic_ns() < end);
	return true;
}

#define RUN(_nr)	ASSERT_TRUE(run_for(self->at, &self->reader, &self->watch, _nr))

/*
 * Until every stack is as @_wanted counts them: mappings are read, or a table taken, soon, but
 * not at once. Stacks are so before, except while the reader of the mappings keeps their lock
 * from walks.
 */
#define SETTLE_AS(_wanted) do {						\
	unsigned int _as = 0, _i;					\
									\
	for (_i = 0; _i < 1000 && _as < 50; _i++) {			\
		FORGET();						\
		RUN(1);							\
		_as = (_wanted) == seen(&self->watch) ? _as + 1 : 0;	\
		usleep(1000);						\
	}								\
	EXPECT_EQ(50, _as);						\
	FORGET();							\
} while (0)

#define SETTLE()	SETTLE_AS(self->watch.right)

#define UPLOAD_ALL()							\
	ASSERT_ZEROS(upload(self->dev.fd, &self->tables[0], self->fds[0]),	\
		     upload(self->dev.fd, &self->tables[1], self->fds[1]),	\
		     upload_own(self->dev.fd, &self->own))

#define EXPECT_RIGHT(_least) do {					\
	EXPECT_EQ(0, self->watch.wrong);				\
	EXPECT_LE(_least, self->watch.right);				\
	TH_LOG("%u right, %u cut, %u wrong; ends %u %u %u %u %u %u %u;%s",	\
	       self->watch.right, self->watch.cut, self->watch.wrong,	\
	       self->watch.ends[1], self->watch.ends[2], self->watch.ends[3],	\
	       self->watch.ends[4], self->watch.ends[5], self->watch.ends[6],	\
	       self->watch.ends[7], self->watch.text);			\
} while (0)

/* So many more, all of them whole. */
#define EXPECT_WHOLE(_nr) do {						\
	RUN(_nr);							\
	EXPECT_RIGHT(_nr);						\
	EXPECT_EQ(0, self->watch.cut);					\
} while (0)

#define UPLOAD_AND_SETTLE() do {					\
	UPLOAD_ALL();							\
	SETTLE();							\
} while (0)

#define FORGET()	(self->watch = (struct watch){ .at = self->at, .code = self->watch.code, \
					       .guessed = self->watch.guessed })

/* In the place of what is there. */
#define MAP_CODE(_nth) do {						\
	ASSERT_EQ(self->at, map_code(self->at, self->fds[_nth]));	\
	self->watch.code = (_nth) ? &far_code : &near_code;		\
} while (0)

TEST_F(table, stacks_are_whole_from_the_first_table_on)
{
	RUN(100);
	EXPECT_EQ(0, self->watch.right);
	EXPECT_LE(100, self->watch.cut);
	UPLOAD_AND_SETTLE();
	EXPECT_WHOLE(200);
}

TEST_F(table, rules_that_a_byte_cannot_say_serve_as_well)
{
	MAP_CODE(1);
	UPLOAD_AND_SETTLE();
	EXPECT_WHOLE(200);
}

/* Of the same size, so that the stamp of the mappings stays; the kernel tells all the same. */
TEST_F(table, another_file_at_the_same_address_is_not_walked_by_the_first_ones_table)
{
	unsigned int i;

	UPLOAD_AND_SETTLE();
	for (i = 0; i < 200; i++) {
		/* at last mapped over, without an munmap() in between */
		if (i < 100)
			ASSERT_EQ(0, munmap(self->at, 4096));
		MAP_CODE(!(i & 1));
		RUN(i & 2 ? 2 : 30);
		if (i % 100 < 99)
			continue;
		EXPECT_RIGHT(50);
		FORGET();
	}
}

/* Has the lock of the mappings nearly all the time. */
static void *change_mappings(void *stop)
{
	const size_t size = 32 << 20;
	char *p = private_memory(size);
	madvise(p, size, MADV_NOHUGEPAGE);
	memset(p, 1, size);
	while (!atomic_load((atomic_bool *)stop)) {
		mprotect(p, size, PROT_READ);
		mprotect(p, size, PROT_READ | PROT_WRITE);
	}
	munmap(p, size);
	return p;
}

TEST_F(table, code_is_known_while_the_mappings_are_locked)
{
	atomic_bool stop = false;
	pthread_t thread;
	void *done;

	UPLOAD_AND_SETTLE();
	ASSERT_EQ(0, pthread_create(&thread, NULL, change_mappings, &stop));
	for (unsigned int i = 0; i < 40; i++) {
		MAP_CODE(!(i & 1));
		RUN(5);
	}
	atomic_store(&stop, true);
	ASSERT_EQ(0, pthread_join(thread, &done));
	EXPECT_NE(NULL, done);
	EXPECT_RIGHT(200);
	EXPECT_EQ(0, self->watch.cut);
}

TEST_F(table, a_file_that_was_written_to_has_no_table)
{
	char byte = 0;
	int fd;

	ASSERT_EQ(0, munmap(self->at, 4096));
	UPLOAD_ALL();
	fd = open(self->paths[0], O_WRONLY | O_CLOEXEC);
	ASSERT_LE(0, fd);
	usleep(20000);			/* times are as old as the last tick */
	ASSERT_EQ(1, pwrite(fd, &byte, 1, 4095));
	close(fd);
	ASSERT_EQ(self->at, map_code(self->at, self->fds[0]));
	RUN(100);
	EXPECT_EQS(0, self->watch.right, 0, self->watch.wrong);
	EXPECT_LE(100, self->watch.cut);
	/* one for what it is now */
	ASSERT_EQ(0, upload(self->dev.fd, &self->tables[0], self->fds[0]));
	SETTLE();
	RUN(100);
	EXPECT_RIGHT(100);
}

/* Its mappings stay as they were, and the rules for its addresses have been used. */
TEST_F(table, a_file_that_is_written_to_as_it_runs_has_no_table_soon)
{
	size_t size = far_code.end - far_code.begin;
	int fd;

	UPLOAD_AND_SETTLE();
	RUN(50);
	EXPECT_RIGHT(50);
	FORGET();
	fd = open(self->paths[0], O_WRONLY | O_CLOEXEC);
	ASSERT_LE(0, fd);
	usleep(20000);
	ASSERT_EQ(size, pwrite(fd, far_code.begin, size, 0));
	close(fd);
	usleep(2000);
	self->watch.code = &far_code;
	RUN(100);
	EXPECT_RIGHT(0);
	EXPECT_EQ(0, self->watch.right);
	EXPECT_LE(100, self->watch.cut);
}

#define ALIKE	1000

/* How long it takes to ask for the table of a file. */
static uint64_t query_ns(int dev, int fd)
{
	struct gprof_unwind_table_add arg = { .size = sizeof(arg), .fd = fd };
	uint64_t best = UINT64_MAX, begin, ns;
	int i;

	for (i = 0; i < 200; i++) {
		begin = monotonic_ns();
		device_ioctl(dev, GPROF_IOC_UNWIND_TABLE_ADD, &arg);
		ns = monotonic_ns() - begin;
		best = ns < best ? ns : best;
	}
	return best;
}

/* Their times are chosen, so that a hash that may be guessed would be the same. */
TEST_F(table, files_that_are_much_alike_are_told_apart_as_fast)
{
	uint64_t before, after, ns;
	struct timespec times[2];
	char path[32];
	struct stat st;
	int i, fd = -1;

	SKIP_UNLESS(!geteuid(), "as many tables are beyond the limit of a user");
	before = query_ns(self->dev.fd, self->fds[0]);
	for (i = 0; i <= ALIKE; i++) {
		if (fd >= 0)
			close(fd);
		fd = file_of(&near_code, path);
		ASSERT_LE(0, fd);
		unlink(path);
		ASSERT_EQ(0, fstat(fd, &st));
		ns = 1ULL << 60 ^ st.st_ino;
		times[0].tv_sec = ns / 1000000000;
		times[0].tv_nsec = ns % 1000000000;
		times[1] = times[0];
		ASSERT_EQ(0, futimens(fd, times));
		/* not for the last */
		ASSERT_EQ(0, i < ALIKE ? upload(self->dev.fd, &self->tables[0], fd) : 0);
	}
	after = query_ns(self->dev.fd, fd);
	close(fd);
	TH_LOG("%llu ns, and then %llu", ull(before), ull(after));
	EXPECT_LT(after, 4 * before);
}

TEST_F(table, children_have_whole_stacks_too)
{
	UPLOAD_AND_SETTLE();
	for (unsigned int i = 0; i < 50 && self->watch.right < 100; i++) {
		pid_t pid = fork();

		if (!pid) {
			uint64_t until = thread_cpu_ns() + 60000000;

			while (thread_cpu_ns() < until)
				run(self->at, TRIPS);
			_exit(0);
		}
		ASSERT_EQ(0, reap(pid));
		ASSERT_LE(0, reader_read(&self->reader));
	}
	EXPECT_RIGHT(100);
}

/* A program without libraries in memory, which ends at once: its exec reads nothing. */
static int program_that_ends(void)
{
	static const unsigned char code[] = {
#ifdef __x86_64__
		0x31, 0xff,			/* xor %edi, %edi */
		0xb8, 0xe7, 0x00, 0x00, 0x00,	/* mov $__NR_exit_group, %eax */
		0x0f, 0x05,			/* syscall */
#else
		0x00, 0x00, 0x80, 0xd2,		/* mov x0, #0 */
		0xc8, 0x0b, 0x80, 0xd2,		/* mov x8, #__NR_exit_group */
		0x01, 0x00, 0x00, 0xd4,		/* svc #0 */
#endif
	};
	struct {
		Elf64_Ehdr header;
		Elf64_Phdr segment;
		unsigned char code[sizeof(code)];
	} image = {
		.header = {
			.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
				     EV_CURRENT },
			.e_type = ET_EXEC,
#ifdef __x86_64__
			.e_machine = EM_X86_64,
#else
			.e_machine = EM_AARCH64,
#endif
			.e_version = EV_CURRENT,
			.e_entry = 0x400000 + sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr),
			.e_phoff = sizeof(Elf64_Ehdr),
			.e_ehsize = sizeof(Elf64_Ehdr),
			.e_phentsize = sizeof(Elf64_Phdr),
			.e_phnum = 1,
		},
		.segment = {
			.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_vaddr = 0x400000,
			.p_filesz = sizeof(image), .p_memsz = sizeof(image), .p_align = 65536,
		},
	};
	int fd = memfd_create("ends", MFD_CLOEXEC);

	memcpy(image.code, code, sizeof(code));
	return write(fd, &image, sizeof(image)) == sizeof(image) ? fd : -1;
}

/* How often a child that works sleeps until it has executed a program, or ended; -1: error. */
static long sleeps_of_child(const char *at, uint64_t ns, int program)
{
	char *const none[] = { NULL };
	struct rusage used;
	pid_t pid = fork();
	int status;

	if (!pid) {
		uint64_t until = thread_cpu_ns() + ns;

		while (thread_cpu_ns() < until)
			run(at, TRIPS);
		if (program >= 0)
			fexecve(program, none, none);
		_exit(program >= 0);
	}
	if (pid < 0 || wait4(pid, &status, 0, &used) != pid || status)
		return -1;
	return used.ru_nvcsw;
}

#define CHILDREN	41

static int smaller(const void *pa, const void *pb)
{
	const long *a = pa, *b = pb;

	return (*a > *b) - (*a < *b);
}

/*
 * As @sleeps_of_child() has it, the median of many: by chance one sleeps more, and on 7.3, where
 * nearly each child sleeps once by itself, one sleeps less.
 */
static long sleeps_of_children(const char *at, uint64_t ns, int program)
{
	long sleeps[CHILDREN];

	for (int i = 0; i < CHILDREN; i++) {
		sleeps[i] = sleeps_of_child(at, ns, program);
		if (sleeps[i] < 0)
			return -1;
	}
	qsort(sleeps, CHILDREN, sizeof(sleeps[0]), smaller);
	return sleeps[CHILDREN / 2];
}

/* A child that did not work has no sample, and its end concerns no recorder. */
TEST_F(table, the_end_of_a_program_waits_for_nothing)
{
	const int programs[] = { -1, program_that_ends() };
	cpu_set_t all, one;

	ASSERT_LE(0, programs[1]);
	UPLOAD_AND_SETTLE();
	/* An exec would go to another CPU, for which it sleeps. */
	ASSERT_EQ(0, sched_getaffinity(0, sizeof(all), &all));
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	ASSERT_EQ(0, sched_setaffinity(0, sizeof(one), &one));
	for (unsigned int way = 0; way < 2; way++) {
		long idle = sleeps_of_children(self->at, 0, programs[way]);
		long busy = sleeps_of_children(self->at, 5000000, programs[way]);

		ASSERT_LE(0, busy);
		EXPECT_GE(idle, busy);
		ASSERT_LE(0, reader_read(&self->reader));
	}
	ASSERT_EQ(0, sched_setaffinity(0, sizeof(all), &all));
	close(programs[1]);
	EXPECT_RIGHT(1);
}

/* The handler is code of another copy, so that it is known who is whose. */
TEST_F(table, a_handler_leads_to_what_it_interrupted)
{
	static char other_stack[65536];
	stack_t stack = { .ss_sp = other_stack, .ss_size = sizeof(other_stack) };
	struct sigaction act = { 0 };
	char *handler = map_code(NULL, self->fds[0]), *linked, path[32];
	int fd = file_of(&linked_code, path);
	/* on its own stack, or on that; the last of code without a table */
	static const struct {
		int flags;
		bool linked;
	} ways[] = { { 0, false }, { SA_ONSTACK, false }, { SA_ONSTACK, true } };

	unlink(path);
	linked = map_code(NULL, fd);
	ASSERT_TRUES(handler, linked, !sigaltstack(&stack, NULL));
	UPLOAD_AND_SETTLE();
	for (unsigned int way = 0; way < ARRAY_SIZE(ways); way++) {
		struct itimerval timer = { { 0, 5000 }, { 0, 5000 } };
		const char *begin = ways[way].linked ? linked + (linked_handler - linked_begin) :
						       handler + (near_handler - near_begin);

		self->watch.code = ways[way].linked ? &linked_code : &near_code;
		self->watch.guessed = ways[way].linked;
		FORGET();
		self->watch.at = ways[way].linked ? linked : handler;
		self->watch.below = self->at;
		self->watch.below_code = &near_code;
		self->watch.signal = true;
		act.sa_handler = (void (*)(int))(uintptr_t)begin;
		act.sa_flags = ways[way].flags;
		ASSERT_ZEROS(sigaction(SIGPROF, &act, NULL), setitimer(ITIMER_PROF, &timer, NULL));
		for (unsigned int i = 0; i < 100000 && self->watch.right < 50; i++)
			RUN(0);
		ASSERT_EQ(0, setitimer(ITIMER_PROF, &(struct itimerval){ 0 }, NULL));
		RUN(0);
		EXPECT_RIGHT(50);
		EXPECT_EQ(0, self->watch.cut);
	}
}

/* What a handler found of the stack that it is on. */
static struct {
	int fd;
	__u64 frames[127];
	struct gprof_self_stack arg;
	int err;
	uint64_t pc;
	unsigned int nr;
} own;

static void on_profile(int sig, siginfo_t *info, void *context)
{
	const ucontext_t *u = context;

#ifdef __x86_64__
	own.pc = u->uc_mcontext.gregs[REG_RIP];
#else
	own.pc = u->uc_mcontext.pc;
#endif
	own.arg = (struct gprof_self_stack){
		.size = sizeof(own.arg), .frames = (uintptr_t)own.frames, .max_frames = 127,
	};
	own.err = self_stack_call(own.fd, &own.arg);
	own.nr++;
	__asm__ volatile("" : : "r"(__builtin_frame_address(0)));
}

/* Does the stack go through what was interrupted to its callers? */
static bool own_is_whole(const char *at)
{
	for (unsigned int i = 1; i + 2 < own.arg.out_frames; i++) {
		if (own.frames[i] == own.pc + 1)
			return are_callers(own.frames + i + 1, at, &near_code);
	}
	return false;
}

/* No sample was ever taken, so that nobody else has read the mappings. */
TEST_F(table, self_stack_is_walked_by_tables)
{
	struct itimerval timer = { { 0, 2000 }, { 0, 2000 } };
	struct gprof_cpu_params params = timer_params(PERIOD);
	struct gprof_setup setup = setup_of(getpid(), &params);
	struct sigaction act = { .sa_sigaction = on_profile, .sa_flags = SA_SIGINFO };
	unsigned int right, seen_there, way, last = 0;
	sigset_t profile;
	uint64_t end;

	sigemptyset(&profile);
	sigaddset(&profile, SIGPROF);
	reader_close(&self->reader);
	ASSERT_EQ(0, sigaction(SIGPROF, &act, NULL));
	for (way = 0; way < 2; way++) {
		/* a file without a recorder has no tables, whatever others have */
		own.fd = device_open();
		ASSERT_LE(0, own.fd);
		if (way) {
			ASSERT_ZEROS(device_ioctl(own.fd, GPROF_IOC_SETUP, &setup),
				     upload(own.fd, &self->tables[0], self->fds[0]));
		}
		right = 0;
		seen_there = 0;
		end = monotonic_ns() + 20000000000ULL;
		ASSERT_EQ(0, setitimer(ITIMER_PROF, &timer, NULL));
		while (seen_there < 50 && monotonic_ns() < end) {
			/* nothing comes between while it is looked at */
			sigprocmask(SIG_UNBLOCK, &profile, NULL);
			run(self->at, TRIPS);
			sigprocmask(SIG_BLOCK, &profile, NULL);
			if (own.nr == last || !in_leaf(own.pc, self->at, &near_code))
				continue;
			last = own.nr;
			ASSERT_EQ(0, own.err);
			seen_there++;
			right += own_is_whole(self->at);
			EXPECT_EQ(way ? GPROF_STACK_REC_F_TABLES : 0,
				  own.arg.out_flags & GPROF_STACK_REC_F_TABLES);
		}
		setitimer(ITIMER_PROF, &(struct itimerval){ 0 }, NULL);
		EXPECT_LE(50, seen_there);
		/* from the first on: they are read when they are wanted */
		EXPECT_EQ(way ? seen_there : 0, right) {
			TH_LOG("%u of %u; last ends %u after %u frames", right, seen_there,
			       GPROF_STACK_REC_END(own.arg.out_flags), own.arg.out_frames);
		}
		close(own.fd);
	}
}

/* Maps code of ours; a recorder of its own, @own.fd, has a table of these rows for it. */
static char *map_with_table(const struct code *c, const struct table_row *rows, uint32_t nr)
{
	struct gprof_cpu_params params = timer_params(PERIOD);
	struct gprof_setup setup = setup_of(getpid(), &params);
	struct table_parts table;
	char path[32], *at;
	int fd = file_of(c, path);
	bool taken;

	unlink(path);
	at = map_code(NULL, fd);
	own.fd = device_open();
	if (!table_make(&table, rows, nr, 4096, 0))
		return NULL;
	taken = !device_ioctl(own.fd, GPROF_IOC_SETUP, &setup) && !upload(own.fd, &table, fd);
	free(table.head);
	close(fd);
	return taken ? at : NULL;
}

#ifdef __x86_64__
/* A caller of a slot of linkage, and the slot: it stops ahead of its push, and just behind it. */
__asm__(
"	.pushsection .text\n"
"	.balign	256\n"
"slot_begin:\n"
"	call	1f\n"
"	ret\n"
"	.balign	16\n"
"1:	.fill	4, 1, 0x90\n"
"	ud2\n"
"	push	$0x12345678\n"
"	ud2\n"
"	lea	8(%rsp), %rsp\n"
"	ret\n"
"slot_end:\n"
"	.popsection\n");
extern HIDDEN const char slot_begin[], slot_end[];

#define SLOT		16	/* where it is */
#define SLOT_PUSHED	11	/* byte behind its push */

static struct {
	uint64_t at[4];
	uint64_t callers[4];	/* of those, as the stack has them */
	unsigned int nr;
} stops;

static void on_stop(int sig, siginfo_t *info, void *context)
{
	ucontext_t *u = context;
	unsigned int i;

	on_profile(sig, info, context);
	for (i = 1; i + 1 < own.arg.out_frames && own.frames[i] != own.pc + 1; i++)
		;
	if (stops.nr < 4) {
		stops.at[stops.nr] = own.pc;
		stops.callers[stops.nr++] = i + 1 < own.arg.out_frames ? own.frames[i + 1] : 0;
	}
	u->uc_mcontext.gregs[REG_RIP] += 2;	/* behind the ud2 */
}

TEST_F(table, a_slot_of_linkage_has_its_caller_before_and_behind_its_push)
{
	const struct code slot = { .begin = slot_begin, .end = slot_end };
	struct gprof_unwind_rule pushed = { .kind = GPROF_UNWIND_CFA_PLT, .cfa = SLOT_PUSHED };
	const struct table_row rows[] = { { 0, cfa_sp(1) }, { SLOT, pushed }, { 2 * SLOT, none } };
	struct sigaction act = { .sa_sigaction = on_stop, .sa_flags = SA_SIGINFO };
	char *at = map_with_table(&slot, rows, 3);

	ASSERT_NE(NULL, at);
	ASSERT_EQ(0, sigaction(SIGILL, &act, NULL));
	run(at, 1);
	ASSERT_EQ(2, stops.nr);
	EXPECT_EQS((uintptr_t)at + SLOT + 4, stops.at[0],
		   (uintptr_t)at + SLOT + SLOT_PUSHED, stops.at[1],
		   (uintptr_t)at + 5, stops.callers[0], (uintptr_t)at + 5, stops.callers[1]);
	close(own.fd);
}
#endif

/* Calls @fn(@arg) on the stack that ends at @stack; @word lies between its record and its CFA. */
typedef void (*away_fn)(void (*fn)(struct gprof_self_stack *arg), struct gprof_self_stack *arg,
			void *stack, const void *word);
extern HIDDEN const char away_begin[], away_ret[], away_end[];
#define AWAY_RULE(...)	((struct gprof_unwind_rule){					\
	.kind = GPROF_UNWIND_CFA_STACK, .how = GPROF_UNWIND_FP_AT_CFA, __VA_ARGS__	\
})
/* Another one, on the same stack, that goes there by a jump. */
extern HIDDEN const char jump_begin[], jump_ret[], jump_end[];
#ifdef __x86_64__
__asm__(".pushsection .text\naway_begin:\n"
	"	push %rcx\n	push %rbp\n	mov %rsp, %rbp\n	mov %rdi, %rax\n"
	"	mov %rsi, %rdi\n	mov %rdx, %rsp\n	call *%rax\n"
	"away_ret:\n	mov %rbp, %rsp\n	pop %rbp\n	pop %rcx\n	ret\naway_end:\n"
	"jump_begin:\n"
	"	push %rbp\n	mov %rsp, %rbp\n	mov %rdi, %rax\n	mov %rsi, %rdi\n"
	"	lea jump_ret(%rip), %rcx\n	push %rcx\n	jmp *%rax\n"
	"jump_ret:\n	pop %rbp\n	ret\njump_end:\n.popsection\n");
/* Its rule, and one that takes @word for the return address. */
#define AWAY		AWAY_RULE(.cfa = 3, .fp = -3)
#define AWAY_WRONG	AWAY_RULE(.cfa = 2, .fp = -2)
#else
__asm__(".pushsection .text\naway_begin:\n"
	"	stp x29, x30, [sp, #-32]!\n	str x3, [sp, #16]\n	mov x29, sp\n"
	"	mov x9, x0\n	mov x0, x1\n	mov sp, x2\n	blr x9\n"
	"away_ret:\n	mov sp, x29\n	ldp x29, x30, [sp], #32\n	ret\naway_end:\n"
	"jump_begin:\n"
	"	stp x29, x30, [sp, #-16]!\n	mov x29, sp\n	mov x9, x0\n	mov x0, x1\n"
	"	adr x30, jump_ret\n	br x9\n"
	"jump_ret:\n	ldp x29, x30, [sp], #16\n	ret\njump_end:\n.popsection\n");
#define AWAY		AWAY_RULE(.cfa = 4, .fp = -4, .ra = -3)
#define AWAY_WRONG	AWAY_RULE(.cfa = 4, .fp = -4, .ra = -2)
#endif

__attribute__((noinline)) static void ask_away(struct gprof_self_stack *arg)
{
	own.err = self_stack_call(own.fd, arg);
	__asm__ volatile("" : : "r"(__builtin_frame_address(0)));
}

/* In the middle of what is no code: constants may lie in a segment with code. */
static uint64_t no_code[2];

/* To a stack above its own frame, in that of its caller. Returns its return address. */
__attribute__((noinline)) static uint64_t go_away(const char *at, void *stack)
{
	own.arg = (struct gprof_self_stack){
		.size = sizeof(own.arg), .frames = (uintptr_t)own.frames, .max_frames = 127,
	};
	((away_fn)(uintptr_t)at)(ask_away, &own.arg, stack, &no_code[1]);
	__asm__ volatile("" : : "r"(__builtin_frame_address(0)));
	return (uintptr_t)__builtin_extract_return_addr(__builtin_return_address(0));
}

/* Maps the code that goes away. */
static char *map_away(struct gprof_unwind_rule rule)
{
	const struct code away = { .begin = away_begin, .end = away_end };
	const struct table_row rows[] = { { 0, rule }, { away_end - away_begin, none } };

	return map_with_table(&away, rows, 2);
}

TEST_F(table, a_rule_leads_to_a_stack_that_lies_below)
{
	_Alignas(16) char stack[16384];
	char *at = map_away(AWAY);
	uint64_t ret;

	ASSERT_NE(NULL, at);
	ret = go_away(at, stack + sizeof(stack));
	EXPECT_EQ(0, own.err);
	ASSERT_LE(5, own.arg.out_frames);
	EXPECT_EQ((uintptr_t)at + (away_ret - away_begin), own.frames[2]);
	EXPECT_GT(512, own.frames[3] - (uintptr_t)go_away);
	EXPECT_EQ(ret, own.frames[4]);
	close(own.fd);
}

/* Nothing says that it is code, and all mappings are known. */
TEST_F(table, a_rule_that_leads_to_no_code_ends_the_stack)
{
	_Alignas(16) char stack[16384];
	char *at = map_away(AWAY_WRONG);

	ASSERT_NE(NULL, at);
	go_away(at, stack + sizeof(stack));
	EXPECT_EQS(0, own.err, 3, own.arg.out_frames,
		   GPROF_STACK_END_ADDRESS, GPROF_STACK_REC_END(own.arg.out_flags),
		   (uintptr_t)at + (away_ret - away_begin), own.frames[2]);
	close(own.fd);
}

/* That it was made is known of mappings alone, which nobody has read before. */
TEST_F(table, code_that_was_made_may_be_left_by_a_jump)
{
	char *made = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t ret;

	ASSERT_NE(MAP_FAILED, made);
	memcpy(made, jump_begin, jump_end - jump_begin);
	__builtin___clear_cache(made, made + 4096);
	reader_close(&self->reader);
	ASSERT_NE(NULL, map_away(AWAY));
	ret = go_away(made, NULL);
	EXPECT_EQ(0, own.err);
	ASSERT_LE(5, own.arg.out_frames) TH_LOG("ends %u", GPROF_STACK_REC_END(own.arg.out_flags));
	EXPECT_EQ((uintptr_t)made + (jump_ret - jump_begin), own.frames[2]);
	EXPECT_GT(512, own.frames[3] - (uintptr_t)go_away);
	EXPECT_EQ(ret, own.frames[4]);
	munmap(made, 4096);
	close(own.fd);
}

#ifdef __aarch64__
/*
 * As libgcc's unwinder is in the midst of an exception: over the registers that its frame has
 * saved stand those of the function that catches it, two frames up.
 */
extern HIDDEN const char catcher[], catcher_ret[], thrower[], unwinder[], unwinder_ret[],
	catcher_end[];
__asm__(".pushsection .text\ncatcher:\n"
	"	stp x29, x30, [sp, #-16]!\n	mov x29, sp\n	mov x9, x0\n	mov x0, x1\n"
	"	bl thrower\n"
	"catcher_ret:\n	ldp x29, x30, [sp], #16\n	ret\n"
	"thrower:\n	stp x29, x30, [sp, #-64]!\n	mov x29, sp\n"
	"	bl unwinder\n	ldp x29, x30, [sp], #64\n	ret\n"
	"unwinder:\n	sub sp, sp, #2048\n	stp x29, x30, [sp, #16]\n"
	"	ldp x10, x11, [x29]\n	mov x29, sp\n	stp x10, x11, [sp]\n	blr x9\n"
	"unwinder_ret:\n	ldp x29, x30, [sp, #16]\n	add sp, sp, #2048\n	ret\n"
	"catcher_end:\n.popsection\n");

static struct gprof_unwind_rule record_below(int words)
{
	return (struct gprof_unwind_rule){
		.kind = GPROF_UNWIND_CFA_SP, .how = GPROF_UNWIND_FP_AT_CFA, .cfa = words,
		.fp = -words, .ra = 1 - words,
	};
}

TEST_F(table, an_exception_leads_to_the_function_that_catches_it)
{
	const struct code code = { .begin = catcher, .end = catcher_end };
	const struct table_row rows[] = {
		{ 0, record_below(2) },
		{ thrower - catcher, record_below(8) },
		{ unwinder - catcher, record_below(256) },
		{ catcher_end - catcher, none },
	};
	char *at = map_with_table(&code, rows, 4);
	uint64_t ret;

	ASSERT_NE(NULL, at);
	ret = go_away(at, NULL);
	EXPECT_EQ(0, own.err);
	ASSERT_LE(6, own.arg.out_frames);
	EXPECT_EQ((uintptr_t)at + (unwinder_ret - catcher), own.frames[2]);
	EXPECT_EQ((uintptr_t)at + (catcher_ret - catcher), own.frames[3]);
	EXPECT_GT(512, own.frames[4] - (uintptr_t)go_away);
	EXPECT_EQ(ret, own.frames[5]);
	close(own.fd);
}

/* Makes @nr processes in this memory, on the stack that ends at @stack, which end at once. */
typedef void (*spawner_fn)(void *stack, uint64_t nr);
extern HIDDEN const char spawner[], spawner_call[], spawner_born[], spawner_end[];
__asm__(".pushsection .text\nspawner:\n"
	"	stp x29, x30, [sp, #-32]!\n	mov x29, sp\n	str x19, [sp, #16]\n"
	"	mov x19, x1\n	mov x9, x0\n"
	"1:	mov x0, #0x4111\n	mov x1, x9\n	mov x2, #0\n	mov x3, #0\n"
	"	mov x4, #0\n	mov x8, #220\n	bl spawner_call\n"
	"	subs x19, x19, #1\n	b.ne 1b\n"
	"	ldr x19, [sp, #16]\n	ldp x29, x30, [sp], #32\n	ret\n"
	"spawner_call:\n	svc #0\n"
	"spawner_born:\n	cbz x0, 2f\n	ret\n"
	"2:	mov x8, #93\n	svc #0\nspawner_end:\n.popsection\n");

struct births {
	uint64_t at;
	unsigned int alone, others;
};

static void on_birth(void *ctx, const struct reader_sample *s)
{
	struct births *b = ctx;
	const __u64 *frames;

	if (!s->stack || !s->stack->nr_user)
		return;
	frames = s->stack->frames + s->stack->nr_kernel;
	if (frames[0] != b->at || s->rec->tid == (__u32)getpid())
		return;
	if (s->stack->nr_user == 1 &&
	    GPROF_STACK_REC_END(s->stack->rec.flags) == GPROF_STACK_END_COMPLETE)
		b->alone++;
	else
		b->others++;
}

TEST_F(table, a_thread_begins_on_its_own_stack)
{
	const struct code code = { .begin = spawner, .end = spawner_end };
	const struct table_row rows[] = {
		{ 0, record_below(4) },
		{ spawner_call - spawner, { .kind = GPROF_UNWIND_CFA_SP,
					    .how = GPROF_UNWIND_RA_LR << 2 } },
		{ spawner_end - spawner, none },
	};
	static _Alignas(16) char stack[4096];
	struct births births = { 0 };
	struct table_parts table;
	char path[32];
	int fd = file_of(&code, path), i;

	SKIP_UNLESS(!getenv("GPROF_ICOUNT"), "a count of instructions ends no period at a birth");
	unlink(path);
	self->at = map_code(NULL, fd);
	ASSERT_NE(NULL, self->at);
	ASSERT_TRUE(table_make(&table, rows, 3, 4096, 0));
	ASSERT_EQ(0, upload(self->dev.fd, &table, fd));
	births.at = (uintptr_t)self->at + (spawner_born - spawner);
	self->reader.on_sample = on_birth;
	self->reader.ctx = &births;
	for (i = 0; i < 100 && births.alone < 20; i++) {
		((spawner_fn)(uintptr_t)self->at)(stack + 2048, 20);
		while (waitpid(-1, NULL, 0) > 0)
			;
		ASSERT_LE(0, reader_read(&self->reader));
	}
	TH_LOG("%u alone, %u others, %d rounds", births.alone, births.others, i);
	EXPECT_LE(20, births.alone);
	EXPECT_EQ(0, births.others);
	free(table.head);
	close(fd);
}
#endif

/* Of a record it is known where the caller's registers are, not how large its frame is. */
TEST_F(table, a_table_goes_on_where_frame_records_have_led)
{
	struct table_parts table;
	char path[32];
	int fd;

	fd = file_of(&linked_code, path);
	unlink(path);
	self->at = map_code(NULL, fd);
	ASSERT_NE(NULL, self->at);
	self->watch.code = &linked_code;
	self->watch.guessed = true;
	FORGET();
	ASSERT_TRUE(table_of(&table, &linked_code));
	ASSERT_ZEROS(upload(self->dev.fd, &table, fd), upload_own(self->dev.fd, &self->own));
	SETTLE();
	EXPECT_WHOLE(200);
	close(fd);
}

/* The code's own way out says where its callers are, and a record does where it ends by one. */
TEST_F(table, frames_of_code_that_is_made_are_guessed)
{
	const struct code *codes[] = { &near_code, &far_code, &linked_code };

	ASSERT_EQ(0, upload_own(self->dev.fd, &self->own));
	self->watch.guessed = true;
	for (size_t i = 0; i < ARRAY_SIZE(codes); i++) {
		self->watch.code = codes[i];
		self->at = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		ASSERT_NE(MAP_FAILED, self->at);
		memcpy(self->at, codes[i]->begin, codes[i]->end - codes[i]->begin);
		__builtin___clear_cache(self->at, self->at + 4096);
		SETTLE();
			EXPECT_WHOLE(100);
	}
}

TEST_F(table, as_many_frames_as_were_asked_for)
{
	struct gprof_cpu_params params = timer_params(PERIOD);
	struct gprof_setup setup = setup_of(getpid(), &params);

	setup.max_frames = 3;
	reader_close(&self->reader);
	ASSERT_EQ(0, reader_record(&self->reader, &self->dev, &setup, on_sample, &self->watch));
	UPLOAD_ALL();
	SETTLE_AS(self->watch.ends[GPROF_STACK_END_MAX]);
	RUN(100);
	EXPECT_EQ(0, self->watch.right);
	EXPECT_LE(100, self->watch.cut);
	EXPECT_EQ(self->watch.cut, self->watch.ends[GPROF_STACK_END_MAX]);
}

/* Whoever wants none gets none, and beside one who does. */
TEST_F(table, recorder_without_tables_is_not_served_by_them)
{
	struct gprof_cpu_params params = timer_params(PERIOD);
	struct gprof_setup setup = device_setup_of(GPROF_TARGET_PROCESS, getpid(), &params);
	struct reader reader;
	struct device dev;
	struct watch watch = { .at = self->at, .code = &near_code };

	UPLOAD_ALL();
	ASSERT_EQ(0, reader_record(&reader, &dev, &setup, on_sample, &watch));
	SETTLE();
	RUN(100);
	ASSERT_LE(0, reader_read(&reader));
	EXPECT_RIGHT(100);
	EXPECT_ZEROS(watch.right, watch.cut);
	EXPECT_LE(100, watch.wrong);	/* no word of tables in the record */
	reader_close(&reader);
}

/* ---- what is refused ---- */

TEST_F(table, what_is_no_table_is_refused)
{
	struct table_parts *t = &self->tables[0], more;
	struct gprof_unwind_table_add arg;
	int fd = self->dev.fd;

#define REFUSED(_reason, _set, _undo) do {				\
	_set;								\
	arg = table_argument(t, self->fds[0]);				\
	EXPECT_EQ(-EINVAL, device_ioctl(fd, GPROF_IOC_UNWIND_TABLE_ADD, &arg)) {	\
		TH_LOG("%s", #_set);					\
	}								\
	EXPECT_EQ(_reason, arg.out_reason);				\
	_undo;								\
} while (0)
#define NO_TABLE(_place, _value) do {					\
	__typeof__(_place) _kept = _place;				\
	REFUSED(GPROF_REASON_TABLE, _place = _value, _place = _kept);	\
} while (0)
	NO_TABLE(t->head->magic, 1);
	NO_TABLE(t->head->version, GPROF_UNWIND_VERSION_OLDEST - 1);
	NO_TABLE(t->head->version, GPROF_UNWIND_VERSION + 1);
	NO_TABLE(t->head->machine, 3);
	NO_TABLE(t->head->fars, 1);
	NO_TABLE(t->head->fars, 0xffffffff);
	NO_TABLE(t->head->start, 128);
	NO_TABLE(t->head->start, 1ULL << 63);
	NO_TABLE(t->head->granules, 0);
	NO_TABLE(t->head->granules, 0xffffffff);
	NO_TABLE(t->head->rows, 0);
	NO_TABLE(t->head->rows, 0xffffffff);
	NO_TABLE(t->head->rules, 0);
	NO_TABLE(t->head->rules, 65536);
	NO_TABLE(t->size, t->size - 1);
	NO_TABLE(t->size, t->size - 8);
	NO_TABLE(t->size, 31);
	NO_TABLE(t->size, (size_t)GPROF_UNWIND_TABLE_MAX + 1);
	NO_TABLE(t->base[0], 1);
	NO_TABLE(t->index[0], 1);
	REFUSED(GPROF_REASON_TABLE, (t->base[0] = 0xffffffff, t->index[0] = 1),
		(t->base[0] = 0, t->index[0] = 0));
	NO_TABLE(t->index[1], 0);
	NO_TABLE(t->index[2], t->head->rows + 1);
	NO_TABLE(t->index[2], 1);
	NO_TABLE(t->index[t->head->granules], t->head->rows - 1);
	NO_TABLE(t->low[0], 1);
	NO_TABLE(t->low[1], 0);
	NO_TABLE(t->low[2], t->low[1]);
	NO_TABLE(t->rule[1], t->head->rules);
	NO_TABLE(t->rule[t->head->rows - 1], GPROF_UNWIND_FAR);
	NO_TABLE(t->rules[1].kind, GPROF_UNWIND_CFA_NR);
	NO_TABLE(t->rules[1].kind, 255);
	t = &self->tables[1];
	NO_TABLE(t->head->fars, t->head->fars - 1);
	NO_TABLE(t->rule[1], GPROF_UNWIND_FAR);
	NO_TABLE(t->rule[2], 0);
	NO_TABLE(t->far[0].row, 1);
	NO_TABLE(t->far[1].row, 2);
	NO_TABLE(t->far[1].rule, t->head->rules);
	/* one that is no row's */
	more = *t;
	more.head = calloc(1, t->size + 8);
	ASSERT_NE(NULL, more.head);
	memcpy(more.head, t->head, t->size);
	more.head->fars++;
	more.size += 8;
	EXPECT_EQ(-EINVAL, upload(fd, &more, self->fds[1]));
	free(more.head);
	t = &self->tables[0];

	EXPECT_EQS(-EINVAL, upload(fd, t, -1), -EINVAL, upload(fd, t, 12345),
		   -EINVAL, upload(fd, t, fd),
		   -EINVAL, upload(fd, t, open("/tmp", O_RDONLY | O_CLOEXEC)),
		   -EINVAL, upload(fd, t, open(self->paths[0], O_WRONLY | O_CLOEXEC)),
		   -EINVAL, upload(fd, t, open(self->paths[0], O_PATH | O_CLOEXEC)));
	arg = table_argument(t, self->fds[0]);
	arg.flags = GPROF_UNWIND_TABLE_ADD_F_VDSO;
	EXPECT_EQ(-EINVAL, device_ioctl(fd, GPROF_IOC_UNWIND_TABLE_ADD, &arg));
	arg.flags = 2;
	EXPECT_EQ(-EOPNOTSUPP, device_ioctl(fd, GPROF_IOC_UNWIND_TABLE_ADD, &arg));
	arg = table_argument(t, self->fds[0]);
	arg.table = 4096;
	EXPECT_EQ(-EFAULT, device_ioctl(fd, GPROF_IOC_UNWIND_TABLE_ADD, &arg));

	/* none of all that has left anything behind */
	arg = table_argument(t, self->fds[0]);
	arg.table_size = 0;
	EXPECT_EQS(-ENOENT, device_ioctl(fd, GPROF_IOC_UNWIND_TABLE_ADD, &arg), 0, arg.out_tables);
	/* as an older library makes it; and the first stays */
	t->head->version = GPROF_UNWIND_VERSION_OLDEST;
	for (int times = 0; times < 2; times++)
		EXPECT_EQS(0, upload(fd, t, self->fds[0]),
			   0, device_ioctl(fd, GPROF_IOC_UNWIND_TABLE_ADD, &arg),
			   1, arg.out_tables);
}

TEST_F(table, tables_want_a_recorder_that_asked_for_them)
{
	struct gprof_cpu_params params = timer_params(PERIOD);
	struct gprof_setup setup = setup_of(getpid(), &params);
	struct device dev;
	int fd = device_open();

	ASSERT_LE(0, fd);
	EXPECT_EQ(-EBUSY, upload(fd, &self->tables[0], self->fds[0]));
	setup.stack = GPROF_STACK_F_IP | GPROF_STACK_F_TABLES;
	EXPECT_EQ(-EINVAL, device_ioctl(fd, GPROF_IOC_SETUP, &setup));
	setup.stack = GPROF_STACK_F_IP | GPROF_STACK_F_USER;
	EXPECT_EQ(0, device_ioctl(fd, GPROF_IOC_SETUP, &setup));
	EXPECT_EQ(-EBUSY, upload(fd, &self->tables[0], self->fds[0]));
	close(fd);
	/* shared while there is one who does */
	setup = setup_of(getpid(), &params);
	EXPECT_EQ(0, upload(self->dev.fd, &self->tables[0], self->fds[0]));
	ASSERT_EQ(0, device_setup(&dev, &setup));
	struct gprof_unwind_table_add arg = table_argument(&self->tables[0], self->fds[0]);
	arg.table_size = 0;
	EXPECT_EQ(0, device_ioctl(dev.fd, GPROF_IOC_UNWIND_TABLE_ADD, &arg));
	device_close(&dev);
}

/* As another user: which of @files is there a table for, and leaves one of @files[1]. */
static int others(const struct table_parts *tables, const int *files)
{
	struct gprof_cpu_params params = timer_params(PERIOD);
	struct gprof_setup setup = setup_of(getpid(), &params);
	struct gprof_unwind_table_add arg = table_argument(&tables[0], files[0]);
	struct rlimit none = { 0, 0 };
	struct device dev;
	int bad = 0;

	arg.table_size = 0;
	if (device_setup(&dev, &setup))
		return 1;
	if (device_ioctl(dev.fd, GPROF_IOC_UNWIND_TABLE_ADD, &arg) != -ENOENT)
		bad |= 2;
	if (upload(dev.fd, &tables[1], files[1]))
		bad |= 4;
	/* what is beyond the limit is not taken */
	static char large[32 << 20];
	setrlimit(RLIMIT_MEMLOCK, &none);
	arg = table_argument(&tables[0], files[0]);
	arg.table = (uintptr_t)large;
	arg.table_size = sizeof(large);
	if (device_ioctl(dev.fd, GPROF_IOC_UNWIND_TABLE_ADD, &arg) != -ENOMEM ||
	    arg.out_reason != GPROF_REASON_MEMLOCK)
		bad |= 8;
	if (!bad)
		pause();
	return bad;
}

TEST_F(table, tables_of_one_user_serve_no_other)
{
	struct gprof_unwind_table_add arg;
	int status;
	pid_t pid;

	SKIP_UNLESS(!geteuid(), "must be root to become another");
	ASSERT_EQ(0, upload(self->dev.fd, &self->tables[0], self->fds[0]));
	pid = fork();
	if (!pid)
		_exit(become(USER) ? 64 : others(self->tables, self->fds));
	ASSERT_LT(0, pid);
	/* the other's recorder is there meanwhile, and holds its table */
	usleep(500000);
	arg = table_argument(&self->tables[1], self->fds[1]);
	arg.table_size = 0;
	EXPECT_EQ(-ENOENT, device_ioctl(self->dev.fd, GPROF_IOC_UNWIND_TABLE_ADD, &arg));
	EXPECT_EQ(1, arg.out_tables);
	kill(pid, SIGKILL);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_TRUE(WIFSIGNALED(status)) TH_LOG("the other says %x", status);
}

/* ---- recorders that differ in all that they may, and a table that makes walks long ---- */

#define DEEP		130	/* more than are recorded */
#define DIFFERING	30
#define SPIN_MS		200
#define SPIN_BYTES	512	/* of its code; nothing that runs meanwhile is as near */
#define MOST_NS		150000	/* that a user keeps interrupts off */

static uint64_t cycles(void)
{
#ifdef __x86_64__
	return __builtin_ia32_rdtsc();
#else
	uint64_t now;

	asm volatile("mrs %0, cntvct_el0" : "=r"(now));
	return now;
#endif
}

static uint64_t cycles_per_ms(void)
{
	uint64_t begin = cycles();

	usleep(10000);
	return (cycles() - begin) / 10;
}

/**
 * struct spin - a program that watches how long it does not run
 * @size: of its frames
 * @worst: cycles that it did not run, at the most
 * @turns: how far it has come
 * @begin: since when it is in the last of its functions, as monotonic_ns()
 * @end: until when
 */
static struct {
	uintptr_t size;
	uint64_t worst;
	uint64_t turns;
	uint64_t begin, end;
} spin;

/* Calls no function from its last frame, which would have no frame record. */
__attribute__((noinline, noipa, optimize("no-omit-frame-pointer", "no-optimize-sibling-calls")))
static int spin_deep(int depth, uint64_t for_cycles, uintptr_t below)
{
	uintptr_t fp = (uintptr_t)__builtin_frame_address(0);
	uint64_t begin, last, now;

	if (depth)
		return spin_deep(depth - 1, for_cycles, fp) + 1;
	spin.size = below - fp;
	spin.worst = 0;
	spin.turns = 0;
	spin.begin = monotonic_ns();
	begin = last = cycles();
	do {
		now = cycles();
		spin.worst = now - last > spin.worst ? now - last : spin.worst;
		last = now;
		spin.turns++;
	} while (now - begin < for_cycles);
	spin.end = monotonic_ns();
	return 0;
}

/* Each frame by a rule that is followed slowly, and whose frames are not known again. */
static bool slow_table(struct table_parts *t)
{
	struct table_row row = { 0, {
		.kind = GPROF_UNWIND_CFA_DEREF, .cfa = (16 - (int)spin.size) / 8,
		.how = GPROF_UNWIND_FP_AT_FP | 1 << 4,
	} };
	uint64_t text = 0, end = 0;

	if (!own_offset((void *)table_of, &text, &end))
		return false;
	row.offset = text & ~255ULL;
	return table_make(t, &row, 1, end, 0);
}

/* They differ in how much of the stack they want, and in how it is found. */
static struct gprof_setup differing(const struct gprof_cpu_params *params, unsigned int i)
{
	struct gprof_setup setup = setup_of(getpid(), params);

	setup.max_frames = 127 - i / 3;
	if (i % 3 == 1)
		setup.stack &= ~GPROF_STACK_F_KERNEL;
	else if (i % 3 == 2)
		setup.stack &= ~GPROF_STACK_F_TABLES;
	return setup;
}

/**
 * struct told - what one of them was told of the deep stack
 * @setup: what it wants
 * @right: stacks with all that is wanted
 * @late: stacks that say that there was no time for more
 * @wrong: others
 */
struct told {
	struct gprof_setup setup;
	unsigned int right, late, wrong;
};

static void on_deep_sample(void *ctx, const struct reader_sample *s)
{
	const struct gprof_stack_rec *stack = s->stack;
	unsigned int end, nr;
	struct told *told = ctx;

	if (!stack || s->rec->rec.flags & GPROF_SAMPLE_REC_F_KERNEL ||
	    s->rec->time < spin.begin || s->rec->time > spin.end ||
	    stack->frames[0] - (uintptr_t)spin_deep > SPIN_BYTES)
		return;
	end = GPROF_STACK_REC_END(stack->rec.flags);
	/* The guessed caller of a leaf is one more. */
	nr = stack->nr_user - !!(stack->rec.flags & GPROF_STACK_REC_F_CALLER);
	if (!(stack->rec.flags & GPROF_STACK_REC_F_USER_CUT) || stack->nr_kernel ||
	    nr > told->setup.max_frames)
		told->wrong++;
	else if (end == GPROF_STACK_END_TIME)
		told->late++;
	else if (nr == told->setup.max_frames &&
		 (end == GPROF_STACK_END_MAX || !(told->setup.stack & GPROF_STACK_F_TABLES)))
		told->right++;
	else
		told->wrong++;
}

/* No other thread takes the CPU meanwhile: that would look as if interrupts were off. */
static int spin_first(uint64_t for_cycles)
{
	struct sched_param first = { .sched_priority = 1 }, fair = { 0 };

	if (sched_setscheduler(0, SCHED_FIFO, &first))
		return -1;
	spin_deep(DEEP, for_cycles, 0);
	return sched_setscheduler(0, SCHED_OTHER, &fair);
}

/* All of them have what there was time for, and the program has half of its CPU. */
TEST_F(table, recorders_that_differ_keep_interrupts_short)
{
	struct gprof_cpu_params params = timer_params(60000);
	unsigned int right = 0, late = 0, i;
	struct reader readers[DIFFERING];
	struct device devs[DIFFERING];
	struct told told[DIFFERING];
	uint64_t per_ms = cycles_per_ms(), alone;
	struct gprof_stats st;
	struct table_parts slow;

	spin_deep(DEEP, SPIN_MS * per_ms, 0);
	alone = spin.turns;
	ASSERT_TRUE(slow_table(&slow));
	ASSERT_EQ(0, upload_own(self->dev.fd, &slow));
	for (i = 0; i < DIFFERING; i++) {
		told[i].setup = differing(&params, i);
		ASSERT_EQ(0, reader_record(&readers[i], &devs[i], &told[i].setup, on_deep_sample,
					   &told[i]));
	}
	/* The mappings are read meanwhile. */
	spin_deep(DEEP, 50 * per_ms, 0);
	for (i = 0; i < DIFFERING; i++) {
		ASSERT_LE(0, reader_read(&readers[i]));
		told[i].right = told[i].late = told[i].wrong = 0;
	}
	ASSERT_EQ(0, spin_first(SPIN_MS * per_ms));
	for (i = 0; i < DIFFERING; i++) {
		READER_END(&readers[i], &st);
		EXPECT_EQ(0, told[i].wrong) TH_LOG("number %u", i);
		right += told[i].right;
		late += told[i].late;
		reader_close(&readers[i]);
	}
	free(slow.head);
	TH_LOG("%u whole, %u cut; %llu ns at the worst without the CPU, %.3f of it kept", right,
	       late, ull(spin.worst * 1000000 / per_ms), (double)spin.turns / alone);
	EXPECT_LT(DIFFERING, right);
	if (getenv("GPROF_ICOUNT")) {
		EXPECT_LES(spin.worst * 1000000 / per_ms, MOST_NS, alone / 2, spin.turns);
	}
}

#ifdef __x86_64__
/* ---- what lies behind frames that are kept, and changes between two samples ---- */

#define PHASE_US	1000	/* some periods */

extern const char recorded[], recorded_changes[], recorded_anew[], recorded_end[];

/**
 * struct ends - what is seen of it, before and behind the change
 * @guessed: stacks say that a frame of them was guessed
 * @nr: user frames that there are
 * @last: the outermost of them
 * @right: whole stacks of these
 * @wrong: others
 */
struct ends {
	bool guessed;
	unsigned int nr[2];
	uint64_t last[2];
	unsigned int right[2], wrong[2];
};

static void on_recorded(void *ctx, const struct reader_sample *s)
{
	const struct gprof_stack_rec *stack = s->stack;
	struct ends *e = ctx;
	uint64_t leaf;
	bool anew;

	if (!stack || !stack->nr_user || stack->nr_kernel ||
	    GPROF_STACK_REC_END(stack->rec.flags) == GPROF_STACK_END_TIME)
		return;
	leaf = stack->frames[0];
	anew = leaf >= (uintptr_t)recorded_anew;
	if (leaf < (uintptr_t)recorded || leaf >= (uintptr_t)recorded_end ||
	    (!anew && leaf >= (uintptr_t)recorded_changes))
		return;
	if (e->guessed == !!(stack->rec.flags & GPROF_STACK_REC_F_GUESSED) &&
	    stack->nr_user == e->nr[anew] &&
	    stack->frames[stack->nr_user - 1] == e->last[anew] &&
	    !(stack->rec.flags & GPROF_STACK_REC_F_USER_CUT))
		e->right[anew]++;
	else
		e->wrong[anew]++;
}

/* Spins with @records in rbp, and on with @then as the second of them. */
__attribute__((noipa)) static void spin_recorded(uintptr_t *records, const uintptr_t *then,
						 uint64_t phase)
{
	uint64_t until = cycles() + phase;

	asm volatile("mov %%rbp, %%r8\n"
		     "mov %1, %%rbp\n"
		     "recorded: rdtsc\n"
		     "shl $32, %%rdx\n"
		     "or %%rdx, %%rax\n"
		     "cmp %0, %%rax\n"
		     "jb recorded\n"
		     "recorded_changes: mov %2, 16(%%rbp)\n"
		     "mov %3, 24(%%rbp)\n"
		     "lea (%4, %%rax), %0\n"
		     "recorded_anew: rdtsc\n"
		     "shl $32, %%rdx\n"
		     "or %%rdx, %%rax\n"
		     "cmp %0, %%rax\n"
		     "jb recorded_anew\n"
		     "recorded_end: mov %%r8, %%rbp\n"
		     : "+r"(until)
		     : "r"(records), "r"(then[0]), "r"(then[1]), "r"(phase)
		     : "rax", "rdx", "r8", "memory");
}

TEST_F(table, what_lies_behind_kept_frames_is_read_each_time)
{
	struct table_row row = { 0, {
		.kind = GPROF_UNWIND_CFA_FP, .cfa = 2, .fp = -2, .how = GPROF_UNWIND_FP_AT_CFA,
	} };
	uint64_t text = 0, end = 0, phase = cycles_per_ms() * PHASE_US / 1000;
	uint64_t limit = monotonic_ns() + 60000000000ULL;
	uintptr_t r[10], place = decoy(), made;
	struct table_parts t;
	unsigned char *code;

	ASSERT_NE(0, own_offset((void *)table_of, &text, &end));
	row.offset = text & ~255ULL;
	ASSERT_TRUE(table_make(&t, &row, 1, end, 0));
	ASSERT_EQ(0, upload_own(self->dev.fd, &t));
	free(t.head);
	/* calls, and no way out */
	code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
		    -1, 0);
	ASSERT_NE(MAP_FAILED, code);
	memset(code, 0xcc, 4096);
	code[11] = 0xe8;
	code[27] = 0xe8;
	made = (uintptr_t)code;
	self->reader.on_sample = on_recorded;

	const uintptr_t to4 = (uintptr_t)&r[4], to6 = (uintptr_t)&r[6], to8 = (uintptr_t)&r[8];
	const struct {
		uintptr_t records[10], then[2];
		struct ends ends;
	} ways[] = {
		/* the record behind a frame by a rule: a guessed end is guessed each time */
		{
			{ (uintptr_t)&r[2], made + 16 }, { to4, made + 32 },
			{ true, { 2, 3 }, { made + 16, made + 32 } },
		},
		/* a frame pointer that a frame has saved */
		{
			{ (uintptr_t)&r[2], place, to4, place + 1, to8, place + 2, to8, place + 3 },
			{ to6, place + 1 },
			{ false, { 4, 4 }, { place + 2, place + 3 } },
		},
	};
	for (unsigned int way = 0, settled = 0; way < ARRAY_SIZE(ways); way++, settled = 0) {
		struct ends ends = ways[way].ends;

		self->reader.ctx = &ends;
		/* The mappings are read meanwhile. */
		while ((settled < 20 || ends.right[0] < 20 || ends.right[1] < 20) &&
		       monotonic_ns() < limit) {
			if (settled < 20)
				ends = ways[way].ends;
			memcpy(r, ways[way].records, sizeof(r));
			spin_recorded(r, ways[way].then, phase);
			ASSERT_LE(0, reader_read(&self->reader));
			if (ends.wrong[0] + ends.wrong[1])
				settled = 0;
			else
				settled += ends.right[0] && ends.right[1];
		}
		TH_LOG("way %u: %u and %u right", way, ends.right[0], ends.right[1]);
		EXPECT_LE(20, settled);
		EXPECT_ZEROS(ends.wrong[0], ends.wrong[1]);
	}
	munmap(code, 4096);
}
#endif

TEST_HARNESS_MAIN
