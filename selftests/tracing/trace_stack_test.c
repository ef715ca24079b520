// SPDX-License-Identifier: GPL-2.0-only
/*
 * trace_stack_test: stacks of the trace's events, and CPU samples beside them.
 *
 * That a stack belongs to its word is held to the rules of <linux/gprof.h> where it is
 * read (trace_words.c).
 */
#include "harness.h"
#include "device.h"
#include "trace_words.h"
#include "workload.h"

#define USER		1000
#define MS		1000000ULL
#define PERIOD		MS
#define LARGE		(2 << 20)
#define ROUNDS		50
#define LEAST		5	/* that find the other waiting, however slow the machine is */

/* ---- those whose stack is known ---- */

#if defined(__x86_64__)
#define CALL(_n, _a, _b, _c) ({							\
	long ret = _n;								\
	__asm__ volatile("syscall" : "+a"(ret) : "D"(_a), "S"(_b), "d"(_c)	\
			 : "rcx", "r11", "memory");				\
	ret;									\
})
#else
#ifdef __riscv
#define INSN	"ecall"
#define NR	"a7"
#define ARG(_n)	"a" #_n
#else
#define INSN	"svc #0"
#define NR	"x8"
#define ARG(_n)	"x" #_n
#endif
#define CALL(_n, _a, _b, _c) ({							\
	register long nr __asm__(NR) = _n;					\
	register long a0 __asm__(ARG(0)) = (long)(_a);				\
	register long a1 __asm__(ARG(1)) = (long)(_b);				\
	register long a2 __asm__(ARG(2)) = (long)(_c);				\
	__asm__ volatile(INSN : "+r"(a0) : "r"(nr), "r"(a1), "r"(a2) : "memory"); \
	a0;									\
})
#endif

/* Each alone in a section, whose bounds the linker knows. */
#define KNOWN(_section)	__attribute__((noinline, noclone, section(_section)))

extern const char __start_in_waits[], __stop_in_waits[], __start_in_wakes[], __stop_in_wakes[];
extern const char __start_in_forks[], __stop_in_forks[];

KNOWN("in_waits") static long waits(int fd)
{
	char byte;

	return CALL(SYS_read, fd, &byte, 1);
}

KNOWN("in_wakes") static long wakes(int fd)
{
	char byte = 0;

	return CALL(SYS_write, fd, &byte, 1);
}

KNOWN("in_forks") static long forks(void)
{
#if defined(__x86_64__)
	long pid = CALL(SYS_fork, 0, 0, 0);
#else
	long pid = CALL(SYS_clone, SIGCHLD, 0, 0);
#endif

	if (!pid)
		CALL(SYS_exit_group, 0, 0, 0);
	return pid;
}

static struct pipes {
	int there[2], back[2];
} pipes;

/* Each naps before it wakes, in the first step, so that the other waits by then. */
static void answer(void *arg, int step)
{
	for (int i = 0; i < ROUNDS; i++) {
		if (waits(pipes.there[0]) != 1)
			_exit(1);
		if (!step)
			sleep_ms(1);
		if (wakes(pipes.back[1]) != 1)
			_exit(1);
	}
}

static bool ask(int step)
{
	for (int i = 0; i < ROUNDS; i++) {
		if (!step)
			sleep_ms(1);
		if (wakes(pipes.there[1]) != 1 || waits(pipes.back[0]) != 1)
			return false;
	}
	return true;
}

/* ---- looking at stacks ---- */

static bool begins_in(const struct gprof_stack_rec *s, const char *start, const char *stop)
{
	uint64_t leaf = s && s->nr_user ? s->frames[s->nr_kernel] : 0;

	return leaf >= (uintptr_t)start && leaf < (uintptr_t)stop;
}

#define BEGINS_IN(_stack, _where) begins_in(_stack, __start_in_##_where, __stop_in_##_where)

/* The kernel's function that an address is in. */
static void kernel_name(uint64_t address, char *name, size_t size)
{
	unsigned long long at, best = 0;
	char line[512], symbol[256];
	FILE *f = fopen("/proc/kallsyms", "re");

	name[0] = 0;
	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%llx %*c %255s", &at, symbol) != 2 || at > address || at < best)
			continue;
		best = at;
		snprintf(name, size, "%s", symbol);
	}
	if (f)
		fclose(f);
}

FIXTURE(stacks) {
	struct gprof_trace_params params;
	struct gprof_setup setup;
	struct device dev;
	struct trace_words words;
	struct child child;
};

FIXTURE_SETUP(stacks)
{
	self->params = (struct gprof_trace_params){ .size = sizeof(self->params) };
	self->setup = device_setup_of(GPROF_TARGET_PROCESS, getpid(), &self->params);
	self->setup.kind = GPROF_KIND_TRACE;
	self->setup.buffer_size = LARGE;
	ASSERT_ZEROS(pipe(pipes.there), pipe(pipes.back));
}

FIXTURE_TEARDOWN(stacks)
{
	trace_words_free(&self->words);
	device_close(&self->dev);
	child_end(&self->child);
}

/* Before 5.16 a user may lock 64 KiB. */
static const struct rlimit enough = { 64 << 20, 64 << 20 };

static void begin(struct __test_metadata *_metadata, FIXTURE_DATA(stacks) *self)
{
	ASSERT_EQ(0, device_record(&self->dev, &self->setup))
		TH_LOG("reason %u", self->setup.out_reason);
	ASSERT_EQ(0, trace_words_init(&self->words, &self->dev));
}

#define BEGIN()	begin(_metadata, self)

static void end(struct __test_metadata *_metadata, FIXTURE_DATA(stacks) *self)
{
	struct gprof_stats st = { 0 };

	TRACE_WORDS_END(&self->words, &self->dev, &st);
	EXPECT_EQ(st.out_produced, st.out_task + st.out_irq + st.out_nmi +
				   st.out_lost[GPROF_LOST_NO_BUFFER]);
	TH_LOG("produced=%llu lost=%llu bytes=%llu", ull(st.out_produced), ull(device_lost(&st)),
	       ull(self->words.reader.bytes));
}

#define END()	end(_metadata, self)

/* With the child, for some rounds. */
#define TALK(_step)								\
	ASSERT_EQS(0, child_begin(&self->child), true, ask(_step), 0, child_wait(&self->child))

static const struct trace_word *word_of(const struct trace_words *t, const struct trace_sample *s)
{
	return s->word < t->nr ? &t->words[s->word] : NULL;
}

/* How many stacks of what @tid did so begin there? Of those, how many have kernel frames? */
static unsigned int count(const struct trace_words *t, unsigned int what, pid_t tid,
			  const char *start, const char *stop, unsigned int *kernel)
{
	unsigned int n = 0;

	for (size_t i = 0; i < t->nr_taken; i++) {
		const struct trace_sample *s = &t->taken[i];
		const struct trace_word *w = word_of(t, s);

		if (w && w->what == what && s->tid == (uint32_t)tid &&
		    begins_in(s->stack, start, stop)) {
			n++;
			*kernel += s->stack->nr_kernel > 0;
		}
	}
	return n;
}

#define COUNT(_what, _tid, _where)						\
	count(&self->words, GPROF_TRACE_##_what, _tid, __start_in_##_where, __stop_in_##_where, &kernel)

static bool has_stack(const struct trace_words *t, size_t word)
{
	size_t i, n = 0;

	for (i = 0; i < t->nr_taken; i++)
		n += t->taken[i].word == word && t->taken[i].stack;
	return n == 1;
}

/*
 * Of those whose word says so, each has one stack, and no other has any. A stranger who wakes
 * may have one, where the recorder may look at everybody (of_a_waker_outside_the_target).
 */
static unsigned int wrong(struct __test_metadata *_metadata, const struct trace_words *t,
			  uint32_t stacks)
{
	unsigned int n = 0;

	for (size_t i = 0; i < t->nr; i++) {
		const struct trace_word *w = &t->words[i];
		uint32_t reason = w->arg & ~GPROF_TRACE_NOT_TARGET;
		bool wanted = false;

		if (w->what == GPROF_TRACE_SWITCH && stacks & GPROF_TRACE_STACKS_SWITCH)
			wanted = w->running < TRACE_STRANGER && reason <= GPROF_TRACE_PREV_STOPPED;
		if (w->what == GPROF_TRACE_WAKING && stacks & GPROF_TRACE_STACKS_WAKING)
			wanted = w->running < TRACE_STRANGER && w->arg == GPROF_TRACE_BY_TASK;
		if (w->what == GPROF_TRACE_WAKING && w->running == TRACE_STRANGER)
			wanted = w->arg == GPROF_TRACE_BY_TASK && has_stack(t, i);
		if (wanted == has_stack(t, i))
			continue;
		n++;
		TH_LOG("word %zu of %zu: what %u, arg %#x, thread %u running %u, stack %s", i,
		       t->nr, w->what, w->arg, w->tid, w->running, wanted ? "missing" : "too many");
	}
	return n;
}

/* ---- what there is to ask for ---- */

TEST_F(stacks, what_does_not_fit_together_is_refused)
{
	const struct {
		struct gprof_trace_params params;
		uint32_t stack;
		int err;
		uint32_t reason;
	} wrong[] = {
		{ { .stacks = 1U << 31 }, GPROF_STACK_F_IP, -EOPNOTSUPP, GPROF_REASON_PARAMS },
		{ { .stacks = GPROF_TRACE_STACKS_SYSCALLS }, GPROF_STACK_F_IP, -EOPNOTSUPP,
		  GPROF_REASON_PARAMS },
		{ { .stacks = GPROF_TRACE_STACKS_FAULTS }, GPROF_STACK_F_IP, -EOPNOTSUPP,
		  GPROF_REASON_PARAMS },
		{ { .stacks = GPROF_TRACE_STACKS_RECLAIM }, GPROF_STACK_F_IP, -EOPNOTSUPP,
		  GPROF_REASON_PARAMS },
		{ { .stacks = GPROF_TRACE_STACKS_SWITCH }, 0, -EOPNOTSUPP, GPROF_REASON_FLAGS },
		{ { .cpu = timer_params(PERIOD) }, 0, -EOPNOTSUPP, GPROF_REASON_FLAGS },
		{ { .stacks = 0 }, GPROF_STACK_F_IP, -EOPNOTSUPP, GPROF_REASON_FLAGS },
		{ { .min_us = 1, .cpu = timer_params(PERIOD) }, GPROF_STACK_F_IP, -EINVAL,
		  GPROF_REASON_PARAMS },
		{ { .cpu = { .size = 8 } }, GPROF_STACK_F_IP, -EINVAL, GPROF_REASON_PARAMS },
		{ { .cpu = { .period = PERIOD } }, 0, -EINVAL, GPROF_REASON_PARAMS },
		{ { .cpu = event_params(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 100) },
		  GPROF_STACK_F_IP, -EOPNOTSUPP, GPROF_REASON_EVENT },
		{ { .cpu = event_params(PERF_TYPE_BREAKPOINT + 1, 0, 100) },
		  GPROF_STACK_F_IP, -EOPNOTSUPP, GPROF_REASON_EVENT },
		{ { .cpu = timer_params(1) }, GPROF_STACK_F_IP, -EINVAL, GPROF_REASON_PERIOD },
	};

	ASSERT_LE(0, self->dev.fd = device_open());
	for (unsigned int i = 0; i < ARRAY_SIZE(wrong); i++) {
		struct gprof_trace_params params = wrong[i].params;
		struct gprof_setup s = self->setup;

		params.size = sizeof(params);
		s.params = (uintptr_t)&params;
		s.stack = wrong[i].stack;
		EXPECT_EQ(wrong[i].err, device_ioctl(self->dev.fd, GPROF_IOC_SETUP, &s))
			TH_LOG("row %u", i);
		EXPECT_EQ(wrong[i].reason, s.out_reason) TH_LOG("row %u", i);
	}
	/* What was published first is still understood. */
	self->params.size = GPROF_TRACE_PARAMS_SIZE_VER0;
	self->params.stacks = 1U << 31;
	self->setup.stack = 0;
	EXPECT_EQ(0, device_ioctl(self->dev.fd, GPROF_IOC_SETUP, &self->setup));
}

TEST_F(stacks, kernel_frames_are_for_privileged_owners)
{
	SKIP_UNLESS(!geteuid(), "must be root to become another");
	self->params.stacks = GPROF_TRACE_STACKS_SWITCH;
	self->setup.stack |= GPROF_STACK_F_KERNEL;
	ASSERT_ZEROS(chmod(GPROF_DEVICE, 0666), setrlimit(RLIMIT_MEMLOCK, &enough), become(USER));
	ASSERT_LE(0, self->dev.fd = device_open());
	EXPECT_EQ(-EPERM, device_ioctl(self->dev.fd, GPROF_IOC_SETUP, &self->setup));
	EXPECT_EQ(GPROF_REASON_KERNEL_DENIED, self->setup.out_reason);
}

/* ---- whose stack ---- */

/* Everybody who waited has a stack of where; and so has everybody who woke somebody. */
TEST_F(stacks, of_waiters_and_of_wakers)
{
	unsigned int kernel = 0;
	char name[256];
	size_t i;

	SKIP_UNLESS(!geteuid(), "needs CAP_PERFMON");
	/* On one CPU, so that each round is two waits. */
	ASSERT_LE(0, pin_to(online_cpu(0)));
	self->params.stacks = GPROF_TRACE_STACKS_SWITCH | GPROF_TRACE_STACKS_WAKING;
	self->setup.stack |= GPROF_STACK_F_KERNEL;
	BEGIN();
	ASSERT_EQ(0, child_fork(&self->child, answer, NULL));
	TALK(0);
	END();
	EXPECT_LES(LEAST, COUNT(SWITCH, self->child.pid, waits),
		   LEAST, COUNT(SWITCH, getpid(), waits));
	EXPECT_EQ(0, wrong(_metadata, &self->words, self->params.stacks));
	EXPECT_LES(LEAST, COUNT(WAKING, self->child.pid, wakes),
		   LEAST, COUNT(WAKING, getpid(), wakes), 4 * LEAST, kernel);
	/* Who wakes does not sleep there, but may be preempted, for whom it woke above all. */
	for (i = 0; i < self->words.nr_taken; i++) {
		const struct trace_sample *s = &self->words.taken[i];
		const struct trace_word *w = word_of(&self->words, s);

		if (!w || w->what != GPROF_TRACE_SWITCH || s->tid != (uint32_t)getpid() ||
		    !BEGINS_IN(s->stack, wakes))
			continue;
		EXPECT_NE(GPROF_TRACE_PREV_SLEEPS, w->arg & ~GPROF_TRACE_NOT_TARGET);
	}
	/* It begins where the kernel lets another run, not in the module. */
	for (i = 0; i < self->words.nr_taken; i++) {
		const struct trace_sample *s = &self->words.taken[i];
		const struct trace_word *w = word_of(&self->words, s);

		if (!w || w->what != GPROF_TRACE_SWITCH || !BEGINS_IN(s->stack, waits))
			continue;
		ASSERT_LT(1, s->stack->nr_kernel);
		kernel_name(s->stack->frames[0], name, sizeof(name));
		EXPECT_TRUE(!strncmp(name, "__schedule", 10) || !strncmp(name, "__traceiter", 11))
			TH_LOG("%s", name);
		break;
	}
	ASSERT_LT(i, self->words.nr_taken);
}

TEST_F(stacks, of_one_of_both_alone)
{
	unsigned int kernel = 0;

	ASSERT_LE(0, pin_to(online_cpu(0)));
	self->params.stacks = GPROF_TRACE_STACKS_WAKING;
	BEGIN();
	ASSERT_EQ(0, child_fork(&self->child, answer, NULL));
	TALK(0);
	END();
	EXPECT_EQ(0, COUNT(SWITCH, getpid(), waits));
	EXPECT_LE(LEAST, COUNT(WAKING, getpid(), wakes));
	EXPECT_EQ(0, wrong(_metadata, &self->words, self->params.stacks));
	/* Nobody has asked for the kernel's. */
	EXPECT_EQ(0, kernel);
}

TEST_F(stacks, of_forks)
{
	unsigned int kernel = 0;
	pid_t pid;

	self->params.stacks = GPROF_TRACE_STACKS_FORK;
	BEGIN();
	pid = forks();
	ASSERT_LT(0, pid);
	waitpid(pid, NULL, 0);
	END();
	EXPECT_EQS(1, COUNT(FORK, getpid(), forks), 1, self->words.nr_taken);
}

TEST_F(stacks, of_system_calls)
{
	unsigned int kernel = 0;

	SKIP_UNLESS(!geteuid(), "needs CAP_PERFMON");
	self->params.flags = GPROF_TRACE_F_SYSCALLS;
	self->params.stacks = GPROF_TRACE_STACKS_SYSCALLS;
	self->setup.stack |= GPROF_STACK_F_KERNEL;
	BEGIN();
	ASSERT_EQS(1, wakes(pipes.there[1]), 1, waits(pipes.there[0]));
	END();
	EXPECT_EQS(1, COUNT(SYSCALL_ENTER, getpid(), waits),
		   1, COUNT(SYSCALL_ENTER, getpid(), wakes),
		   0, COUNT(SYSCALL_EXIT, getpid(), wakes), 0, kernel);
}

/* A stranger wakes and lets run who is recorded; its own stack is not theirs to see. */
TEST_F(stacks, of_no_task_outside_the_target)
{
	unsigned int kernel = 0;

	SKIP_UNLESS(!geteuid(), "must be root to become another");
	ASSERT_LE(0, pin_to(online_cpu(0)));
	ASSERT_EQ(0, child_fork(&self->child, answer, NULL));
	self->params.stacks = GPROF_TRACE_STACKS_SWITCH | GPROF_TRACE_STACKS_WAKING |
			      GPROF_TRACE_STACKS_FORK;
	ASSERT_ZEROS(chmod(GPROF_DEVICE, 0666), setrlimit(RLIMIT_MEMLOCK, &enough), become(USER));
	BEGIN();
	TALK(0);
	END();
	EXPECT_LE(LEAST, COUNT(SWITCH, getpid(), waits));
	EXPECT_EQ(0, kernel);
	for (size_t i = 0; i < self->words.nr_taken; i++) {
		ASSERT_EQ((uint32_t)getpid(), self->words.taken[i].tid);
		ASSERT_EQ(0, self->words.taken[i].stack ?
			     self->words.taken[i].stack->nr_kernel : 0);
	}
}

/* Whoever may look at everybody sees who it was. */
TEST_F(stacks, of_a_waker_outside_the_target)
{
	unsigned int kernel = 0;

	SKIP_UNLESS(!geteuid(), "needs CAP_PERFMON");
	ASSERT_LE(0, pin_to(online_cpu(0)));
	ASSERT_EQ(0, child_fork(&self->child, answer, NULL));
	self->params.stacks = GPROF_TRACE_STACKS_SWITCH | GPROF_TRACE_STACKS_WAKING;
	BEGIN();
	TALK(0);
	END();
	EXPECT_LE(LEAST, COUNT(WAKING, self->child.pid, wakes));
	EXPECT_EQ(0, COUNT(SWITCH, self->child.pid, waits));
}

/* ---- limits ---- */

TEST_F(stacks, a_full_ring_loses_and_mixes_nothing_up)
{
	ASSERT_LE(0, pin_to(online_cpu(0)));
	self->params.stacks = GPROF_TRACE_STACKS_SWITCH | GPROF_TRACE_STACKS_WAKING;
	self->setup.buffer_size = 4096;
	BEGIN();
	ASSERT_EQ(0, child_fork(&self->child, answer, NULL));
	for (int step = 0; step < 20; step++) {
		TALK(step);
		/* What comes next says what was lost. */
		if (step == 17)
			ASSERT_EQ(0, trace_words_read(&self->words));
	}
	END();
	EXPECT_LTS(0, reader_lost(&self->words.reader), 0, self->words.nr_taken);
}

/* ---- CPU samples ---- */

#define BURNT	(200 * MS)

static void burn(void *arg, int step)
{
	burn_ns(BURNT);
}

TEST_F(stacks, cpu_samples_are_those_of_a_cpu_recorder)
{
	uint64_t used, weight = 0;
	size_t i, words = 0;

	SKIP_UNLESS(!geteuid(), "time in the kernel is not counted else");
	self->params.cpu = timer_params(PERIOD);
	self->params.cpu.flags = GPROF_CPU_F_KERNEL;
	self->params.stacks = GPROF_TRACE_STACKS_SWITCH;
	ASSERT_EQ(0, child_fork(&self->child, burn, NULL));
	self->setup.id = self->child.pid;
	BEGIN();
	used = process_cpu_ns(self->child.pid);
	ASSERT_EQ(0, child_step(&self->child));
	used = process_cpu_ns(self->child.pid) - used;
	END();
	for (i = 0; i < self->words.nr_taken; i++) {
		const struct trace_sample *s = &self->words.taken[i];

		ASSERT_EQ((uint32_t)self->child.pid, s->tid);
		/* what all stand for is told once */
		ASSERT_FALSE(s->weight == PERIOD && s->flags & GPROF_SAMPLE_REC_F_WEIGHT);
		if (s->word == SIZE_MAX)
			weight += s->weight;
		else
			words++;
	}
	TH_LOG("%llu ns of %llu", ull(weight), ull(used));
	EXPECT_LE(BURNT, weight + 3 * PERIOD);
	/* what a busy host takes amid a switch, the kernel charges to either (timer_test.c) */
	EXPECT_LES(used, weight * 11 / 10 + 10 * PERIOD, weight, used * 11 / 10 + 10 * PERIOD);
	EXPECT_LT(0, words);
}

TEST_HARNESS_MAIN
