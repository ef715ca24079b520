// SPDX-License-Identifier: GPL-2.0-only
/*
 * self_stack_test: GPROF_IOC_SELF_STACK tells where the calling thread is, to the byte, in any state
 * of the recorder, and writes no record; what is wrong is refused, and nothing changed.
 *
 * The truth is what the functions themselves say of where they return to. The outermost is
 * called without a frame record above it, so that the stack has an end that is known.
 */
#include "harness.h"
#include "device.h"
#include "self_stack.h"
#include "reader.h"
#include "workload.h"

#define FRAMES_MAX	127	/* out_max_frames of INFO */
#define DEEP		300

/* Calls @fn(@arg) with a frame pointer of 0, and a record of its own that nobody is led to. */
void outermost(void *fn, void *arg);
#ifdef __x86_64__
__asm__(".text\n.globl outermost, outermost_ret, outermost_end\noutermost:\n"
	"	push %rbp\n	xor %ebp, %ebp\n	mov %rdi, %rax\n	mov %rsi, %rdi\n"
	"	call *%rax\n"
	"outermost_ret:\n	pop %rbp\n	ret\noutermost_end:\n");
#elif defined(__riscv)
__asm__(".text\n.globl outermost, outermost_ret, outermost_end\noutermost:\n"
	"	addi sp, sp, -16\n	sd ra, 8(sp)\n	sd s0, 0(sp)\n	li s0, 0\n"
	"	mv t0, a0\n	mv a0, a1\n	jalr t0\n"
	"outermost_ret:\n	ld s0, 0(sp)\n	ld ra, 8(sp)\n	addi sp, sp, 16\n	ret\n"
	"outermost_end:\n");
#else
__asm__(".text\n.globl outermost, outermost_ret, outermost_end\noutermost:\n"
	"	stp x29, x30, [sp, #-16]!\n	mov x29, xzr\n	mov x9, x0\n	mov x0, x1\n"
	"	blr x9\n"
	"outermost_ret:\n	ldp x29, x30, [sp], #16\n	ret\noutermost_end:\n");
#endif
extern const char outermost_ret[], outermost_end[];

/* A stack, and what it is. */
struct call {
	unsigned int depth;	/* how many functions call each other */
	uint64_t truth[DEEP + 2];	/* where each returns to, the innermost first */
	unsigned int nr;	/* of these */
	int fd;	/* device */
	struct gprof_self_stack *arg;	/* argument of the call */
	int err;	/* what the call gave */
};

static uint64_t return_address(void *addr)
{
	return (uintptr_t)__builtin_extract_return_addr(addr);
}

__attribute__((noinline, noclone)) static void innermost(struct call *c)
{
	c->truth[1] = return_address(__builtin_return_address(0));
	c->err = self_stack_call(c->fd, c->arg);
	__asm__ volatile("");
}

/* @n functions deep, of which the last makes the call. */
__attribute__((noinline, noclone)) static void descend(struct call *c, unsigned int n)
{
	c->truth[1 + n] = return_address(__builtin_return_address(0));
	if (n > 1)
		descend(c, n - 1);
	else
		innermost(c);
	__asm__ volatile("");
}

__attribute__((noinline, noclone)) static void first(struct call *c)
{
	c->nr = c->depth + 2;
	/* what self_stack_call() returns to is known by where it lies alone */
	c->truth[0] = 0;
	if (c->depth)
		descend(c, c->depth);
	else
		innermost(c);
	c->truth[c->depth + 2] = (uintptr_t)outermost_ret;
	__asm__ volatile("");
}

static struct gprof_self_stack argument(uint64_t *frames, uint32_t max, uint32_t skip)
{
	return (struct gprof_self_stack){
		.size = sizeof(struct gprof_self_stack), .frames = (uintptr_t)frames,
		.max_frames = max, .skip = skip,
	};
}

/*
 * The whole stack: the leaf, its caller, depth + 1 of whom truth says who called them, and the
 * outermost's.
 */
static unsigned int whole(const struct call *c)
{
	return 2 + 1 + c->depth + 1;
}

static uint64_t truth_of(const struct call *c, unsigned int n)
{
	if (!n)
		return (uintptr_t)self_stack_leaf;
	return c->truth[n - 1];
}

/* Is frame @n what it should be? Of who called self_stack_call() it is near enough. */
static bool is_right(const struct call *c, unsigned int n, uint64_t frame)
{
	if (n == 1)
		return frame > (uintptr_t)innermost && frame < (uintptr_t)innermost + 256;
	return frame == truth_of(c, n);
}

FIXTURE(stack) {
	int fd;
	uint64_t frames[FRAMES_MAX + 1];
	struct gprof_self_stack arg;
	struct call c;
};

FIXTURE_SETUP(stack)
{
	self->fd = device_open();
	ASSERT_LE(0, self->fd);
	self->arg = argument(self->frames, FRAMES_MAX, 0);
	self->c.fd = self->fd;
	self->c.arg = &self->arg;
	memset(self->frames, 0x5a, sizeof(self->frames));
}

FIXTURE_TEARDOWN(stack)
{
	close(self->fd);
}

/* @_from: frames skipped; @_nr: how many are to be there */
#define EXPECT_FRAMES(_from, _nr) do {						\
	unsigned int _i;							\
	ASSERT_EQ(0, self->c.err);						\
	ASSERT_EQ(_nr, self->arg.out_frames);					\
	for (_i = 0; _i < self->arg.out_frames; _i++)				\
		EXPECT_TRUE(is_right(&self->c, (_from) + _i, self->frames[_i]))	\
			TH_LOG("frame %u is %llx, not %llx", _i,		\
			       (unsigned long long)self->frames[_i],		\
			       (unsigned long long)truth_of(&self->c, (_from) + _i));	\
	EXPECT_EQ(0x5a5a5a5a5a5a5a5aULL, self->frames[self->arg.out_frames]);	\
} while (0)

TEST_F(stack, the_module_says_that_it_can)
{
	EXPECT_TRUE(device_has(GPROF_FEAT_SELF_STACK));
}

TEST_F(stack, every_frame_is_right_to_the_byte)
{
	for (unsigned int depth = 0; depth < 40; depth++) {
		self->c.depth = depth;
		memset(self->frames, 0x5a, sizeof(self->frames));
		outermost(first, &self->c);
		EXPECT_FRAMES(0, whole(&self->c));
		EXPECT_EQS(0, self->arg.out_flags, GPROF_REASON_NONE, self->arg.out_reason);
		EXPECT_NE(0, self->arg.out_exec_map_seq);
	}
}

TEST_F(stack, frames_are_skipped_from_the_leaf_on)
{
	self->c.depth = 10;
	for (unsigned int skip = 0; skip <= whole(&self->c); skip++) {
		memset(self->frames, 0x5a, sizeof(self->frames));
		self->arg.skip = skip;
		outermost(first, &self->c);
		EXPECT_FRAMES(skip, whole(&self->c) - skip);
		EXPECT_EQ(0, self->arg.out_flags);
	}
}

TEST_F(stack, where_more_is_skipped_than_there_is_none_is_written)
{
	static const uint32_t skips[] = { 20, 126, 127, 128, 1 << 20, INT32_MAX, UINT32_MAX };

	self->c.depth = 5;
	for (unsigned int i = 0; i < ARRAY_SIZE(skips); i++) {
		self->arg.skip = skips[i];
		outermost(first, &self->c);
		EXPECT_FRAMES(0, 0);
	}
}

TEST_F(stack, what_does_not_fit_is_cut_and_said_to_be)
{
	self->c.depth = 10;
	/* the leaf alone */
	self->arg.max_frames = 1;
	outermost(first, &self->c);
	EXPECT_FRAMES(0, 1);
	EXPECT_EQ(GPROF_STACK_REC_F_USER_CUT, self->arg.out_flags);
	for (unsigned int max = 1; max < whole(&self->c); max++) {
		memset(self->frames, 0x5a, sizeof(self->frames));
		self->arg.max_frames = max;
		self->arg.skip = max % 3;
		outermost(first, &self->c);
		EXPECT_FRAMES(max % 3, max + max % 3 > whole(&self->c) ?
			      whole(&self->c) - max % 3 : max);
		if (max + max % 3 < whole(&self->c)) {
			EXPECT_EQ(GPROF_STACK_REC_F_USER_CUT, self->arg.out_flags);
		}
	}
}

TEST_F(stack, of_a_stack_that_is_too_deep_there_is_the_near_end)
{
	self->c.depth = DEEP - 10;
	outermost(first, &self->c);
	EXPECT_FRAMES(0, FRAMES_MAX);
	EXPECT_EQ(GPROF_STACK_REC_F_USER_CUT, self->arg.out_flags);
	/* what is skipped is walked too */
	memset(self->frames, 0x5a, sizeof(self->frames));
	self->arg.skip = 27;
	outermost(first, &self->c);
	EXPECT_FRAMES(27, FRAMES_MAX - 27);
	EXPECT_EQ(GPROF_STACK_REC_F_USER_CUT, self->arg.out_flags);
}

/* ---- what is refused ---- */

TEST_F(stack, room_for_none_or_for_more_than_there_can_be_is_EINVAL)
{
	static const uint32_t rooms[] = { 0, FRAMES_MAX + 1, UINT32_MAX };

	for (unsigned int i = 0; i < ARRAY_SIZE(rooms); i++) {
		self->arg.max_frames = rooms[i];
		self->arg.out_frames = 77;
		EXPECT_EQ(-EINVAL, self_stack_call(self->fd, &self->arg));
		EXPECT_EQS(GPROF_REASON_PARAMS, self->arg.out_reason, 0, self->arg.out_frames);
	}
	EXPECT_EQ(0x5a5a5a5a5a5a5a5aULL, self->frames[0]);
}

TEST_F(stack, room_that_is_not_the_callers_is_EFAULT)
{
	size_t page = sysconf(_SC_PAGESIZE);
	char *map = private_memory(2 * page);
	const uint64_t places[] = {
		0,
		8,
		UINTPTR_MAX << 20,
		-8ULL,
		1ULL << 47,
		(1ULL << 47) - 8,
		(uintptr_t)map + page - 8,
		(uintptr_t)map + page,
	};

	ASSERT_NE(MAP_FAILED, map);
	ASSERT_EQ(0, mprotect(map + page, page, PROT_READ));
	self->c.depth = 5;
	for (unsigned int i = 0; i < ARRAY_SIZE(places); i++) {
		self->arg.frames = places[i];
		self->arg.out_frames = 77;
		outermost(first, &self->c);
		EXPECT_EQ(-EFAULT, self->c.err) TH_LOG("%llx", ull(places[i]));
		EXPECT_EQ(0, self->arg.out_frames);
	}
	/* nobody asks for a place where nothing is written */
	self->arg.frames = 0;
	self->arg.skip = 1000;
	outermost(first, &self->c);
	EXPECT_FRAMES(0, 0);
	self->arg = argument(self->frames, FRAMES_MAX, 0);
	outermost(first, &self->c);
	EXPECT_FRAMES(0, whole(&self->c));
}

/* Written for the first time by the call itself. */
TEST_F(stack, room_that_is_not_in_memory_yet_is_found)
{
	uint64_t *map = private_memory(1 << 20);

	self->c.depth = 20;
	self->arg.frames = (uintptr_t)map + 4096 - 64;
	outermost(first, &self->c);
	ASSERT_EQ(0, self->c.err);
	EXPECT_EQS(whole(&self->c), self->arg.out_frames, (uintptr_t)self_stack_leaf, map[512 - 8],
		   (uintptr_t)outermost_ret, map[512 - 8 + whole(&self->c) - 1]);
}

/* Of outermost(), whose copy at @code calls first(). */
struct high {
	char *code;
	struct call *c;
};

static void *call_high(void *arg)
{
	struct high *h = arg;
	void (*copy)(void *fn, void *arg) = (void (*)(void *, void *))(uintptr_t)h->code;

	copy(first, h->c);
	/* where the copy has been returned to */
	h->c->truth[h->c->depth + 2] = (uintptr_t)h->code + (outermost_ret - (char *)outermost);
	return NULL;
}

/* Code and stack are where a process has to ask for a place with more bits. */
TEST_F(stack, addresses_of_more_than_47_bits_are_as_right)
{
	struct high h = { .c = &self->c };
	pthread_attr_t attr;
	pthread_t thread;
	char *stack;

	h.code = mmap((void *)(1UL << 51), 1 << 20, PROT_READ | PROT_WRITE | PROT_EXEC,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, h.code);
	if ((uintptr_t)h.code < 1UL << 50)
		SKIP(return, "this machine has no such addresses");
	stack = mmap((void *)(1UL << 52), 1 << 20, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, stack);
	EXPECT_LT(1UL << 50, (uintptr_t)stack);
	memcpy(h.code, outermost, outermost_end - (char *)outermost);
	__builtin___clear_cache(h.code, h.code + 4096);
	self->c.depth = 20;
	ASSERT_ZEROS(pthread_attr_init(&attr), pthread_attr_setstack(&attr, stack, 1 << 20),
		     pthread_create(&thread, &attr, call_high, &h), pthread_join(thread, NULL));
	EXPECT_FRAMES(0, whole(&self->c));
	EXPECT_EQ(0, self->arg.out_flags);
	pthread_attr_destroy(&attr);
}

/* A chain that leads anywhere is not followed, and does no harm. */
TEST_F(stack, a_frame_record_may_say_anything)
{
	static const uint64_t words[] = {
		0, 1, 8, 4096, UINTPTR_MAX, 1ULL << 47, 0xffff888000000000ULL, (1ULL << 47) - 16,
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(words); i++) {
		for (unsigned int j = 0; j < ARRAY_SIZE(words); j++) {
			volatile uint64_t *record = (uint64_t *)__builtin_frame_address(0) +
						    SELF_STACK_RECORD;
			uint64_t kept[2] = { record[0], record[1] };
			int err;

			record[0] = words[i];
			record[1] = words[j];
			err = self_stack_call(self->fd, &self->arg);
			record[0] = kept[0];
			record[1] = kept[1];
			ASSERT_EQ(0, err);
			EXPECT_EQ((uintptr_t)self_stack_leaf, self->frames[0]);
			EXPECT_EQ(2, self->arg.out_frames);
		}
	}
}

/* ---- in every state ---- */

TEST_F(stack, it_is_no_sample_in_any_state_of_the_recorder)
{
	struct gprof_cpu_params params = timer_params(1000000000);
	struct gprof_setup setup = device_setup_of(GPROF_TARGET_PROCESS, getpid(), &params);
	struct gprof_stats st;
	struct device dev;

	self->c.depth = 4;
	ASSERT_EQ(0, device_setup(&dev, &setup));
	self->c.fd = dev.fd;
	outermost(first, &self->c);
	EXPECT_FRAMES(0, whole(&self->c));
	ASSERT_EQ(0, device_start(&dev));
	for (unsigned int i = 0; i < 1000; i++) {
		outermost(first, &self->c);
		EXPECT_FRAMES(0, whole(&self->c));
	}
	ASSERT_EQ(0, device_stop(&dev));
	outermost(first, &self->c);
	EXPECT_FRAMES(0, whole(&self->c));
	ASSERT_EQ(0, device_stats(&dev, GPROF_STATS_ALL_CPUS, &st));
	EXPECT_GE(50, st.out_produced);
	device_close(&dev);
}

TEST_F(stack, a_recorder_without_buffers_will_do)
{
	struct gprof_sched_params params = { .size = sizeof(params) };
	struct gprof_setup setup = {
		.size = sizeof(setup), .kind = GPROF_KIND_SCHED, .target = GPROF_TARGET_PROCESS,
		.id = getpid(), .params = (uintptr_t)&params,
	};

	ASSERT_EQ(0, device_ioctl(self->fd, GPROF_IOC_SETUP, &setup));
	self->c.depth = 4;
	outermost(first, &self->c);
	EXPECT_FRAMES(0, whole(&self->c));
}

/* Samples at any place of a walk have their own memory. */
TEST_F(stack, samples_meanwhile_change_nothing)
{
	struct gprof_cpu_params params = timer_params(100000);
	struct gprof_setup setup = device_setup_of(GPROF_TARGET_PROCESS, getpid(), &params);
	uint64_t end = monotonic_ns() + 60000000000ULL;
	struct gprof_stats st = { 0 };
	struct device dev;

	ASSERT_ZEROS(device_setup(&dev, &setup), device_start(&dev));
	/* how often the timer gets to run is up to the host */
	for (unsigned int i = 0; st.out_produced < 500 && monotonic_ns() < end; i++) {
		self->c.depth = (self->c.depth + 7) % 60;
		memset(self->frames, 0x5a, sizeof(self->frames));
		outermost(first, &self->c);
		EXPECT_FRAMES(0, whole(&self->c));
		EXPECT_EQ(0, self->arg.out_flags);
		if (!_metadata->passed)
			break;
		if (i % 256 == 0) {
			ASSERT_EQ(0, device_stats(&dev, GPROF_STATS_ALL_CPUS, &st));
		}
	}
	ASSERT_EQ(0, device_stop(&dev));
	EXPECT_LE(500, st.out_produced);
	device_close(&dev);
}

struct racer {
	int fd;
	unsigned int depth, wrong;
	uint64_t end;
};

static void *race(void *arg)
{
	struct racer *r = arg;
	uint64_t frames[FRAMES_MAX + 1];
	struct gprof_self_stack own = argument(frames, FRAMES_MAX, 0);
	struct call c = { .depth = r->depth, .fd = r->fd, .arg = &own };

	while (monotonic_ns() < r->end) {
		outermost(first, &c);
		r->wrong += c.err || own.out_frames != whole(&c) || own.out_flags;
		for (unsigned int i = 0; !c.err && i < own.out_frames; i++)
			r->wrong += !is_right(&c, i, frames[i]);
	}
	return NULL;
}

TEST_F(stack, threads_of_one_file_have_each_its_own)
{
	struct racer racers[8];
	pthread_t threads[8];

	for (unsigned int i = 0; i < 8; i++) {
		racers[i] = (struct racer){ self->fd, 3 * i, 0, monotonic_ns() + 2000000000 };
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, race, &racers[i]));
	}
	for (unsigned int i = 0; i < 8; i++) {
		pthread_join(threads[i], NULL);
		EXPECT_EQ(0, racers[i].wrong);
	}
}

/* Whoever has the file: a child has its own stack, not that of who opened it. */
TEST_F(stack, a_child_has_its_own)
{
	pid_t pid;

	self->c.depth = 3;
	outermost(first, &self->c);
	EXPECT_FRAMES(0, whole(&self->c));
	pid = fork_bound();
	if (!pid) {
		struct racer r = { self->fd, 9, 0, monotonic_ns() + 100000000 };

		/* another user, who could not have opened it */
		if (!geteuid() && become(1000))
			_exit(2);
		race(&r);
		_exit(r.wrong ? 1 : 0);
	}
	EXPECT_EQ(0, reap(pid));
}

TEST_HARNESS_MAIN
