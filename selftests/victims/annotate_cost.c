// SPDX-License-Identifier: GPL-2.0-only
/*
 * annotate_cost: instructions that an annotation takes while nobody traces, each of them
 * stepped through.
 *
 * Usage: annotate_cost; prints "WHAT INSTRUCTIONS SYSTEM-CALLS", without those of a function
 * around it, which does nothing else. On arm64 for processors with atomic instructions:
 * the function that GCC calls where it does not know takes six more.
 */
#if defined(__aarch64__)
#pragma GCC target("arch=armv8-a+lse")
#endif
#include <elf.h>
#include <err.h>
#include <gprof/annotate.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define STEPS_MAX	10000000

/* Where it is, and where it goes back to from the first instruction of a function. */
#if defined(__x86_64__)
#define PC(regs)	((regs)->rip)
#define IS_CALL(word)	(((word) & 0xffff) == 0x050f)
#elif defined(__aarch64__)
#define PC(regs)	((regs)->pc)
#define IS_CALL(word)	(((word) & 0xffffffff) == 0xd4000001)
#endif

static uint64_t come_back(pid_t pid, const struct user_regs_struct *regs)
{
#if defined(__x86_64__)
	return (uint64_t)ptrace(PTRACE_PEEKTEXT, pid, (void *)regs->rsp, NULL);
#elif defined(__aarch64__)
	(void)pid;
	return regs->regs[30];
#endif
}

/*
 * What is behind an annotation is called last, so that none of them needs a frame, which
 * would be counted as the annotation's.
 */
static __attribute__((noinline)) void nothing(void)
{
	__asm__ volatile("");
}

static __attribute__((noinline)) void region_begin(void)
{
	gprof_trace_region_begin(1, "region");
}

static __attribute__((noinline)) void region_end(void)
{
	gprof_trace_region_end(1, "region");
}

static __attribute__((noinline)) uint64_t task_begin(void)
{
	return gprof_trace_task_begin(1, "task");
}

static __attribute__((noinline)) void task_end(uint64_t task)
{
	gprof_trace_task_end(task);
}

static __attribute__((noinline)) void log_some(void)
{
	gprof_trace_log(1, "category", "message");
}

static const struct { const char *name; void (*run)(void); } all[] = {
	{ "nothing", nothing }, { "region_begin", region_begin }, { "region_end", region_end },
	{ "task_begin", (void (*)(void))task_begin }, { "task_end", (void (*)(void))task_end },
	{ "log", log_some },
};

#define NR	(sizeof(all) / sizeof(*all))

/* The first of a process looks for the device. */
static void annotate(void)
{
	uint64_t task;

	gprof_trace_log(0, "first", "");
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	raise(SIGSTOP);
	nothing();
	region_begin();
	region_end();
	task = task_begin();
	task_end(task);
	log_some();
	_exit(0);
}

int main(void)
{
	unsigned long steps[NR] = { 0 }, calls[NR] = { 0 };
	uint64_t back = 0;
	size_t at = NR;
	int status;
	pid_t pid = fork();

	if (!pid)
		annotate();
	if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
		errx(1, "it cannot be traced");
	ptrace(PTRACE_SETOPTIONS, pid, NULL, (void *)PTRACE_O_EXITKILL);
	for (size_t n = 0; n < STEPS_MAX; n++) {
		struct user_regs_struct regs;
		struct iovec v = { &regs, sizeof(regs) };

		if (ptrace(PTRACE_GETREGSET, pid, (void *)NT_PRSTATUS, &v))
			err(1, "no registers");
		for (size_t i = 0; i < NR && at == NR; i++) {
			if (PC(&regs) == (uintptr_t)all[i].run) {
				at = i;
				back = come_back(pid, &regs);
			}
		}
		if (at < NR && PC(&regs) == back)
			at = NR;
		if (at < NR) {
			steps[at]++;
			calls[at] += IS_CALL(ptrace(PTRACE_PEEKTEXT, pid, (void *)PC(&regs), NULL));
		}
		if (ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) || waitpid(pid, &status, 0) != pid)
			err(1, "it cannot be stepped");
		if (WIFEXITED(status))
			break;
	}
	for (size_t i = 0; i < NR; i++) {
		if (!steps[i] || (i && steps[i] <= steps[0]))
			errx(1, "%s was not stepped through", all[i].name);
		if (i)
			printf("%s %lu %lu\n", all[i].name, steps[i] - steps[0], calls[i]);
	}
	return 0;
}
