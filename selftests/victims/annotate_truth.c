// SPDX-License-Identifier: GPL-2.0-only
/*
 * annotate_truth: regions, tasks and logs of which is known what a trace must say.
 *
 * Usage: annotate_truth MODE [N]; prints "WHAT TIMES NANOSECONDS [NANOSECONDS OF CPU]" of
 * what it measured itself, between the annotations.
 *
 *	parts N		N times a region in which it spins, one in which it sleeps, both
 *			within one, and one in which it spins beside another on its CPU
 *	tasks N		N tasks, begun by one thread, worked at and ended by another
 *	wrong		ends of regions that do not fit
 *	deep N		regions within each other, N deep, ended in order
 *	children	a fork and an exec within regions
 *	flood N		N logs as fast as they go
 *	stranger	logs with bytes that are no text
 *	wait SECONDS	regions, until the time is over
 */
#include <gprof/annotate.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include "truth.h"

#define MS	1000000ULL

struct sum {
	uint64_t times;
	uint64_t ns;
	uint64_t cpu_ns;
	uint64_t since;
	uint64_t cpu_since;
};

static void begin(struct sum *s, uint64_t task, const char *name)
{
	gprof_trace_region_begin(task, name);
	s->since = now_ns();
	s->cpu_since = truth_clock();
}

static void end(struct sum *s, uint64_t task, const char *name)
{
	s->times++;
	s->cpu_ns += truth_clock() - s->cpu_since;
	s->ns += now_ns() - s->since;
	gprof_trace_region_end(task, name);
}

static void print(const char *name, const struct sum *s)
{
	printf("%s %llu %llu %llu\n", name, (unsigned long long)s->times,
	       (unsigned long long)s->ns, (unsigned long long)s->cpu_ns);
}

/* For so long on a CPU. */
static void spin(uint64_t ns)
{
	uint64_t until = truth_clock() + ns;

	while (truth_clock() < until)
		;
}

static void nap(uint64_t ns)
{
	nanosleep(&(struct timespec){ ns / 1000000000, ns % 1000000000 }, NULL);
}

static void stay_on_cpu(int cpu)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus);
}

static pid_t begin_hog(void)
{
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			__asm__ volatile("");
	}
	return pid;
}

static int parts(uint64_t n)
{
	struct sum spins = { 0 }, sleeps = { 0 }, both = { 0 }, shared = { 0 };
	pid_t hog;
	uint64_t i;

	stay_on_cpu(0);
	for (i = 0; i < n; i++) {
		begin(&both, 0, "both");
		begin(&spins, 0, "spin");
		spin(5 * MS);
		end(&spins, 0, "spin");
		begin(&sleeps, 0, "sleep");
		nap(8 * MS);
		end(&sleeps, 0, "sleep");
		end(&both, 0, "both");
	}
	hog = begin_hog();
	for (i = 0; i < n; i++) {
		begin(&shared, 0, "shared");
		spin(20 * MS);
		end(&shared, 0, "shared");
	}
	kill(hog, SIGKILL);
	waitpid(hog, NULL, 0);
	print("spin", &spins);
	print("sleep", &sleeps);
	print("both", &both);
	print("shared", &shared);
	return 0;
}

static int tasks_pipe[2];

static void *work_at_tasks(void *arg)
{
	struct sum *worked = arg;
	uint64_t task;

	while (read(tasks_pipe[0], &task, sizeof(task)) == sizeof(task)) {
		begin(worked, task, "work at it");
		spin(2 * MS);
		end(worked, task, "work at it");
		gprof_trace_task_end(task);
	}
	return NULL;
}

static int tasks(uint64_t n)
{
	struct sum worked = { 0 };
	uint64_t parent, task, i;
	pthread_t thread;

	if (pipe(tasks_pipe) || pthread_create(&thread, NULL, work_at_tasks, &worked))
		return 1;
	parent = gprof_trace_task_begin(0, "all");
	for (i = 0; i < n; i++) {
		task = gprof_trace_task_begin(parent, "one");
		gprof_trace_log(task, "queued", "for the other thread");
		if (write(tasks_pipe[1], &task, sizeof(task)) != sizeof(task))
			return 1;
	}
	close(tasks_pipe[1]);
	pthread_join(thread, NULL);
	gprof_trace_task_end(parent);
	print("work at it", &worked);
	return 0;
}

static void *ends_anothers(void *arg)
{
	gprof_trace_region_end(0, "of two threads");
	return arg;
}

static int wrong(uint64_t n)
{
	pthread_t thread;

	(void)n;
	gprof_trace_region_end(0, "never begun");
	gprof_trace_region_begin(0, "of two threads");
	if (pthread_create(&thread, NULL, ends_anothers, NULL))
		return 1;
	pthread_join(thread, NULL);
	gprof_trace_region_begin(0, "outer");
	gprof_trace_region_begin(0, "inner");
	gprof_trace_region_end(0, "outer");
	gprof_trace_region_end(0, "inner");
	gprof_trace_task_end(12345);
	return 0;
}

static int deep(uint64_t n)
{
	char name[32];
	uint64_t i;

	for (i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "deep %llu", (unsigned long long)i);
		gprof_trace_region_begin(0, name);
	}
	while (i--) {
		snprintf(name, sizeof(name), "deep %llu", (unsigned long long)i);
		gprof_trace_region_end(0, name);
	}
	return 0;
}

/* A child's end is none of its parent's region; who executes has left all. */
static int children(uint64_t n)
{
	pid_t child;

	(void)n;
	gprof_trace_region_begin(0, "around a fork");
	child = fork();
	if (!child) {
		gprof_trace_region_begin(0, "of a child");
		nap(5 * MS);
		gprof_trace_region_end(0, "of a child");
		gprof_trace_region_end(0, "around a fork");
		_exit(0);
	}
	waitpid(child, NULL, 0);
	gprof_trace_region_end(0, "around a fork");
	child = fork();
	if (!child) {
		gprof_trace_region_begin(0, "until exec");
		nap(5 * MS);
		execl("/bin/sleep", "sleep", "0.1", NULL);
		_exit(1);
	}
	waitpid(child, NULL, 0);
	return 0;
}

static int flood(uint64_t n)
{
	uint64_t i;

	for (i = 0; i < n; i++)
		gprof_trace_log(0, "flood", "so many words that say nothing");
	printf("flood %llu 0 0\n", (unsigned long long)n);
	return 0;
}

static int stranger(uint64_t n)
{
	char name[300], text[2000];

	(void)n;
	memset(name, 'n', sizeof(name));
	memset(text, 't', sizeof(text));
	name[299] = text[1999] = '\0';
	gprof_trace_log(0, name, text);
	gprof_trace_log(0, "\033[31m\xff\n", "\x01\"\\\xc0\x80");
	gprof_trace_log(0, "page fault", "read");
	gprof_trace_region_begin(0, "");
	gprof_trace_region_end(0, "");
	gprof_trace_region_begin(0, "read");
	nap(5 * MS);
	gprof_trace_region_end(0, "read");
	return 0;
}

static int stay(uint64_t seconds)
{
	uint64_t until = now_ns() + seconds * 1000 * MS;

	while (now_ns() < until) {
		gprof_trace_region_begin(0, "now and then");
		nap(10 * MS);
		gprof_trace_region_end(0, "now and then");
	}
	return 0;
}

int main(int argc, char **argv)
{
	static const struct { const char *name; int (*run)(uint64_t n); } modes[] = {
		{ "parts", parts }, { "tasks", tasks }, { "wrong", wrong }, { "deep", deep },
		{ "children", children }, { "flood", flood }, { "stranger", stranger },
		{ "wait", stay },
	};
	uint64_t n = truth_argument(argc, argv, 2, 10);
	size_t i;

	for (i = 0; argc > 1 && i < sizeof(modes) / sizeof(*modes); i++)
		if (!strcmp(argv[1], modes[i].name))
			return modes[i].run(n);
	fprintf(stderr, "usage: annotate_truth MODE [N]\n");
	return 2;
}
