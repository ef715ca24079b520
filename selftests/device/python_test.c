// SPDX-License-Identifier: GPL-2.0-only
/*
 * python_test: what a process has in its memory in the place of an interpreter's frames is
 * told as it is, or as far as it can be followed: lists that lead to themselves, pointers
 * to anywhere, threads that are not there. What is said of an interpreter wrongly is refused.
 *
 * The interpreter is this program, and its structures are a few words each.
 */
#include "harness.h"
#include "device.h"
#include "reader.h"
#include "table.h"
#include "workload.h"

#define PERIOD		200000	/* ns */
#define NO_PYTHON	"this module cannot walk by tables, or this kernel cannot"
#define FRAMES		100
#define WORDS_MAX	127	/* out_max_frames of INFO */

struct string {
	uint64_t hash;
};

struct code {
	uint64_t filename, name, qualname;
	uint32_t odd, line;
	uint16_t instrs[64];
};

struct frame {
	const struct code *code;
	const struct frame *previous;
	const uint16_t *instr;
	uint8_t unused[3], mark;
};

struct thread {
	const struct thread *next;
	uint64_t id;
	const struct frame *frame;
};

struct interpreter {
	const struct interpreter *next;
	const struct thread *threads;
};

static struct string name = { 0x1234567890abcdef };
static struct code code = {
	.filename = 0x111, .name = (uintptr_t)&name, .qualname = 0x222, .line = 77,
};
static struct frame frames[FRAMES];
static struct thread threads[300];
static struct interpreter interpreters[6];
static const struct interpreter *volatile runtime;

/**
 * struct seen - samples since the interpreter was last changed
 * @nr: samples
 * @wrong: without what they are to have
 * @flags: that they are to have, of those of Python
 * @words: likewise, words
 * @nr_words: how many
 * @first: what the first wrong one had
 * @first_nr: how many
 * @first_flags: its flags
 */
struct seen {
	unsigned int nr, wrong;
	uint16_t flags;
	uint64_t words[WORDS_MAX];
	unsigned int nr_words;
	uint64_t first[WORDS_MAX];
	unsigned int first_nr, first_flags;
};

#define FLAGS	(GPROF_STACK_REC_F_PYTHON | GPROF_STACK_REC_F_PYTHON_CUT)

static __attribute__((noinline)) uint64_t burn(unsigned int trips)
{
	volatile uint64_t v = 1;

	while (trips--)
		v = v * 3 + 1;
	return v;
}

#define BURN_BYTES	128	/* at most */

static void on_sample(void *ctx, const struct reader_sample *s)
{
	const __u64 *user;
	struct seen *seen = ctx;
	uint64_t words[WORDS_MAX];
	unsigned int i, nr = 0;

	if (!s->stack || !s->stack->nr_user)
		return;
	user = s->stack->frames + s->stack->nr_kernel;
	/* elsewhere there may be callers, and less room */
	if (user[0] - (uintptr_t)burn >= BURN_BYTES)
		return;
	/* the host has taken the CPU from the walk, which then looks for no frames of Python */
	if (GPROF_STACK_REC_END(s->stack->rec.flags) == GPROF_STACK_END_TIME)
		return;
	for (i = 0; i < s->stack->nr_user && nr < WORDS_MAX; i++)
		if (user[i] >> 63)
			words[nr++] = user[i];
	seen->nr++;
	if ((s->stack->rec.flags & FLAGS) == seen->flags && nr == seen->nr_words &&
	    !memcmp(words, seen->words, nr * sizeof(*words)))
		return;
	if (seen->wrong++)
		return;
	memcpy(seen->first, words, nr * sizeof(*words));
	seen->first_nr = nr;
	seen->first_flags = s->stack->rec.flags;
}

/* Where the text of this program is mapped, as if its file were from its first byte on. */
static uint64_t own_base(uint64_t *text, uint64_t *end)
{
	struct mapped_file m;

	if (!mapped_at((const void *)burn, &m))
		return 0;
	*text = m.offset;
	*end = m.offset + (m.end - m.start);
	return m.start - m.offset;
}

static struct gprof_python own_python(uint64_t base)
{
	return (struct gprof_python){
		.size = sizeof(struct gprof_python), .runtime = (uintptr_t)&runtime - base,
		.interpreters = 0, .interpreter_next = offsetof(struct interpreter, next),
		.interpreter_threads = offsetof(struct interpreter, threads),
		.thread_next = offsetof(struct thread, next),
		.thread_native_id = offsetof(struct thread, id),
		.thread_frame = offsetof(struct thread, frame), .cframe_frame = GPROF_PYTHON_NONE,
		.frame_code = offsetof(struct frame, code),
		.frame_previous = offsetof(struct frame, previous),
		.frame_instr = offsetof(struct frame, instr),
		.frame_mark = offsetof(struct frame, mark),
		.code_instrs = offsetof(struct code, instrs),
		.code_line = offsetof(struct code, line),
		.code_filename = offsetof(struct code, filename),
		.code_name = offsetof(struct code, name),
		.code_qualname = offsetof(struct code, qualname),
		.string_hash = offsetof(struct string, hash),
	};
}

FIXTURE(python) {
	struct device dev;
	struct reader reader;
	struct seen seen;
	struct table_parts table;
	struct gprof_python python;
	int self;
};

FIXTURE_VARIANT(python) {
	bool owner;
};

FIXTURE_VARIANT_ADD(python, entries) { .owner = false };
FIXTURE_VARIANT_ADD(python, owners) { .owner = true };

static int upload(int fd, const struct table_parts *t, int file, const struct gprof_python *python)
{
	struct gprof_unwind_table_add arg = table_argument(t, file);

	arg.python = (uintptr_t)python;
	return device_ioctl(fd, GPROF_IOC_UNWIND_TABLE_ADD, &arg);
}

/* All well: frames[0] is the innermost of three; C code has called the last two. */
static void build(bool owner)
{
	unsigned int i, nr = owner ? 5 : 3;

	memset(frames, 0, sizeof(frames));
	memset(threads, 0, sizeof(threads));
	memset(interpreters, 0, sizeof(interpreters));
	for (i = 0; i < nr; i++) {
		bool mark = owner ? i == 2 || i == 4 : i > 0;

		frames[i] = (struct frame){
			.code = &code, .instr = code.instrs + i, .mark = owner ? 3 * mark : mark,
			.previous = i + 1 < nr ? &frames[i + 1] : NULL,
		};
	}
	threads[0] = (struct thread){ &threads[1], 1 };
	threads[1] = (struct thread){ NULL, (uint64_t)syscall(SYS_gettid), frames };
	interpreters[0] = (struct interpreter){ NULL, threads };
	runtime = interpreters;
}

/* The words of a frame that is at @instr. */
static void expect(struct seen *seen, unsigned int instr, bool entry)
{
	seen->words[seen->nr_words++] = GPROF_PYTHON_FRAME | (entry ? GPROF_PYTHON_ENTRY : 0) |
		(uint64_t)(instr + 1) << GPROF_PYTHON_AT_SHIFT | (uintptr_t)&code >> 3;
	seen->words[seen->nr_words++] = gprof_python_check(name.hash, code.filename,
							    code.qualname, code.line);
}

static void expect_all(struct seen *seen, bool owner)
{
	expect(seen, 0, false);
	expect(seen, 1, true);
	expect(seen, owner ? 3 : 2, true);
	seen->flags = GPROF_STACK_REC_F_PYTHON;
}

FIXTURE_SETUP(python)
{
	struct table_row row = { .rule = { .kind = GPROF_UNWIND_CFA_END } };
	struct gprof_cpu_params params = timer_params(PERIOD);
	struct gprof_setup setup = device_setup_of(GPROF_TARGET_PROCESS, getpid(), &params);
	uint64_t base, end;

	SKIP_ALL_UNLESS(device_has(GPROF_FEAT_PYTHON), NO_PYTHON);
	base = own_base(&row.offset, &end);
	ASSERT_NE(0, base);
	ASSERT_TRUE(table_make(&self->table, &row, 1, end, 0));
	self->python = own_python(base);
	self->python.flags = variant->owner ? GPROF_PYTHON_F_OWNER : 0;
	self->self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	setup.stack |= GPROF_STACK_F_TABLES | GPROF_STACK_F_PYTHON;
	build(variant->owner);
	ASSERT_EQ(0, reader_record(&self->reader, &self->dev, &setup, on_sample, &self->seen));
}

FIXTURE_TEARDOWN(python)
{
	EXPECT_STREQ("", self->reader.error);
	reader_close(&self->reader);
	close(self->self);
	free(self->table.head);
}

/* Burns until there are so many more samples of how it is now. */
static bool run_for(struct reader *r, struct seen *seen, unsigned int more)
{
	uint64_t end = monotonic_ns() + 60000000000ULL;

	if (reader_read(r) < 0)
		return false;
	seen->nr = seen->wrong = 0;
	do {
		burn(100000);
		if (reader_read(r) < 0)
			return false;
	} while (seen->nr < more && monotonic_ns() < end);
	return true;
}

#define EXPECT_RIGHT() do {						\
	unsigned int _i;						\
	ASSERT_TRUE(run_for(&self->reader, &self->seen, 50));		\
	EXPECT_LE(50, self->seen.nr);					\
	EXPECT_EQ(0, self->seen.wrong) {				\
		TH_LOG("%u of %u; flags %x, %u words", self->seen.wrong, self->seen.nr,	\
		       self->seen.first_flags, self->seen.first_nr);	\
		for (_i = 0; _i < self->seen.first_nr; _i++)		\
			TH_LOG(" %llx", ull(self->seen.first[_i]));	\
	}								\
} while (0)

/* The table is there, and mappings are read, soon, but not at once. */
#define BEGIN() do {							\
	unsigned int _i;						\
	ASSERT_EQ(0, upload(self->dev.fd, &self->table, self->self, &self->python));	\
	expect_all(&self->seen, variant->owner);			\
	for (_i = 0; _i < 300; _i++) {					\
		ASSERT_TRUE(run_for(&self->reader, &self->seen, 1));	\
		if (!self->seen.wrong)					\
			break;						\
		usleep(1000);						\
	}								\
	EXPECT_RIGHT();							\
} while (0)

#define EXPECT_NOW(_flags) do {						\
	self->seen.flags = (_flags);					\
	EXPECT_RIGHT();							\
} while (0)

#define FORGET()	memset(&self->seen, 0, sizeof(self->seen))

#define CUT		(GPROF_STACK_REC_F_PYTHON | GPROF_STACK_REC_F_PYTHON_CUT)
#define NOT_KNOWN	GPROF_STACK_REC_F_PYTHON_CUT

TEST_F(python, frames_are_told_as_they_are)
{
	BEGIN();
	/* a step further, and the stack is another one */
	frames[0].instr++;
	self->seen.words[0] += 1ULL << GPROF_PYTHON_AT_SHIFT;
	EXPECT_RIGHT();
	/* before the first instruction; and where there can be none */
	frames[0].instr = code.instrs - 1;
	self->seen.words[0] &= ~GPROF_PYTHON_AT;
	EXPECT_RIGHT();
	frames[0].instr = NULL;
	self->seen.words[0] |= GPROF_PYTHON_AT;
	EXPECT_RIGHT();
}

TEST_F(python, thread_without_frames_and_other_threads_have_none)
{
	BEGIN();
	FORGET();
	threads[1].frame = NULL;
	EXPECT_NOW(GPROF_STACK_REC_F_PYTHON);
	threads[1].id = 1;
	EXPECT_NOW(0);
	interpreters[0].threads = NULL;
	EXPECT_NOW(0);
	runtime = NULL;
	EXPECT_NOW(0);
}

TEST_F(python, lists_that_lead_to_themselves_are_followed_for_so_long)
{
	unsigned int i, marks = variant->owner ? 1 : 0;

	BEGIN();
	FORGET();
	/* as many as there is room for, beside the one word of C code that there is no more of */
	frames[0].previous = frames;
	for (i = 0; i < WORDS_MAX / 2; i++)
		expect(&self->seen, 0, false);
	EXPECT_NOW(CUT);
	/* what is no frame takes no room, and time all the same */
	FORGET();
	frames[0].mark = 3;
	for (i = 0; !marks && i < WORDS_MAX / 2; i++)
		expect(&self->seen, 0, true);
	EXPECT_NOW(CUT);
	FORGET();
	threads[1].id = 1;
	threads[1].next = threads;
	EXPECT_NOW(NOT_KNOWN);
	interpreters[0].threads = NULL;
	interpreters[0].next = interpreters;
	EXPECT_NOW(NOT_KNOWN);
}

TEST_F(python, thread_beyond_those_that_are_looked_at_is_not_known)
{
	BEGIN();
	for (unsigned int i = 1; i < 300; i++)
		threads[i] = (struct thread){ i + 1 < 300 ? &threads[i + 1] : NULL, 1 };
	threads[255].id = (uint64_t)syscall(SYS_gettid);
	threads[255].frame = frames;
	EXPECT_RIGHT();
	threads[255].id = 1;
	threads[256].id = (uint64_t)syscall(SYS_gettid);
	threads[256].frame = frames;
	FORGET();
	EXPECT_NOW(NOT_KNOWN);
}

/* Of the kernel, of nobody, odd, of a page that is not there, and over its end. */
TEST_F(python, pointers_to_anywhere_end_it)
{
	char *gone = mmap(NULL, 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const uint64_t wild[] = {
		8, 4088, 0x7ffffffffff8, 0xfffffffffff8, 0x7ffffffffffffff8, 0x8000000000000000,
		0xffff888000000000, 0xffffffff81000000, 0xffff800080000000, UINT64_MAX - 7,
		UINT64_MAX, (uintptr_t)frames + 1, (uintptr_t)frames + 4, (uintptr_t)gone,
		(uintptr_t)gone + 4092,
	};

	ASSERT_NE(MAP_FAILED, gone);
	BEGIN();
	for (unsigned int i = 0; i < ARRAY_SIZE(wild); i++) {
		const void *to = (const void *)(uintptr_t)wild[i];

		TH_LOG("%llx", ull(wild[i]));
		FORGET();
		build(variant->owner);
		expect(&self->seen, 0, false);
		frames[0].previous = to;
		EXPECT_NOW(CUT);
		build(variant->owner);
		frames[1].code = to;
		EXPECT_NOW(CUT);
		FORGET();
		threads[1].frame = to;
		EXPECT_NOW(CUT);
		threads[0].next = to;
		EXPECT_NOW(NOT_KNOWN);
		interpreters[0].threads = to;
		EXPECT_NOW(NOT_KNOWN);
		runtime = to;
		EXPECT_NOW(NOT_KNOWN);
		build(variant->owner);
		code.name = wild[i];
		EXPECT_NOW(CUT);
		code.name = (uintptr_t)&name;
	}
	munmap(gone, 8192);
}

static void *change(void *arg)
{
	static struct frame other[2];
	const struct frame *wild[] = {
		frames, NULL, other, (const void *)16, (const void *)UINT64_MAX, &frames[1],
	};
	volatile bool *stop = arg;

	for (unsigned int i = 0; !*stop; i++) {
		*(const struct frame *volatile *)&frames[i % 3].previous = wild[i % 6];
		*(const struct frame *volatile *)&threads[1].frame = wild[(i / 7) % 6];
	}
	return NULL;
}

/* Whatever comes of it, it is an end of frames and of nothing else: reader.h looks. */
TEST_F(python, what_changes_meanwhile_does_no_harm)
{
	volatile bool stop = false;
	pthread_t thread;

	BEGIN();
	ASSERT_EQ(0, pthread_create(&thread, NULL, change, (void *)&stop));
	ASSERT_TRUE(run_for(&self->reader, &self->seen, 2000));
	stop = true;
	pthread_join(thread, NULL);
	build(variant->owner);
	FORGET();
	expect_all(&self->seen, variant->owner);
	EXPECT_RIGHT();
}

TEST_F(python, recorder_that_does_not_ask_has_none)
{
	struct gprof_cpu_params params = timer_params(PERIOD);
	struct gprof_setup setup = device_setup_of(GPROF_TARGET_PROCESS, getpid(), &params);
	struct device dev = { 0 };
	struct reader reader;
	struct seen seen = { 0 };

	BEGIN();
	setup.stack |= GPROF_STACK_F_TABLES;
	ASSERT_EQ(0, reader_record(&reader, &dev, &setup, on_sample, &seen));
	ASSERT_TRUE(run_for(&reader, &seen, 50));
	EXPECT_EQ(0, seen.wrong);
	reader_close(&reader);
	setup.stack = GPROF_STACK_F_IP | GPROF_STACK_F_USER | GPROF_STACK_F_PYTHON;
	dev.fd = device_open();
	ASSERT_LE(0, dev.fd);
	EXPECT_EQS(-EINVAL, device_setup(&dev, &setup), GPROF_REASON_FLAGS, setup.out_reason);
	device_close(&dev);
}

TEST_F(python, what_cannot_be_is_refused)
{
	struct {
		struct gprof_python python;
		uint64_t more;
	} bad;
	__u32 *offset;

#define EXPECT_REFUSED(_err)						\
	EXPECT_EQ(_err, upload(self->dev.fd, &self->table, self->self, &bad.python))
#define ANEW()	(bad.python = self->python, bad.more = 0)
	ANEW();
	for (offset = &bad.python.interpreters; offset < &bad.python.__reserved; offset++) {
		__u32 was = *offset;

		*offset = GPROF_PYTHON_OFFSET_MAX + 1;
		EXPECT_REFUSED(-EINVAL);
		*offset = GPROF_PYTHON_NONE;
		if (offset != &bad.python.cframe_frame)
			EXPECT_REFUSED(-EINVAL);
		*offset = was;
	}
	bad.python.__reserved = 1;
	EXPECT_REFUSED(-EINVAL);
	ANEW();
	bad.python.flags = __GPROF_PYTHON_F_ALL + 1;
	EXPECT_REFUSED(-EINVAL);
	ANEW();
	bad.python.size--;
	EXPECT_REFUSED(-EINVAL);
	bad.python.size = 0;
	EXPECT_REFUSED(-EINVAL);
	bad.python.size = 1 << 20;
	EXPECT_REFUSED(-EINVAL);
	bad.python.size = sizeof(bad);
	bad.more = 1;
	EXPECT_REFUSED(-E2BIG);
	EXPECT_EQ(-EFAULT, upload(self->dev.fd, &self->table, self->self, (void *)16));
	EXPECT_EQ(-EFAULT, upload(self->dev.fd, &self->table, self->self, (void *)-4096L));
}

TEST_HARNESS_MAIN
