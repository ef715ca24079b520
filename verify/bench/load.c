// SPDX-License-Identifier: GPL-2.0-only
/*
 * load: work whose instructions and whose stacks are known.
 *
 * 	load user|kernel DEPTH STACKS
 * 	load pipe|futex|quickest|quickfutex|yield|spawn|spawns|forks|maps|faults
 * 	load threads N
 *
 * For each line with a number N on stdin it does N chunks of work and answers with the nanoseconds
 * that this took. In between it waits and costs nothing.
 *
 * A chunk is CHUNK instructions in user mode, or one read() of so many bytes, under a stack of
 * DEPTH user frames: the leaf, its callers, and nothing of libc, for the chain of frame pointers
 * ends where this file says. Chunk i has stack i modulo STACKS; two stacks differ in the callers
 * next to the leaf.
 *
 * A chunk of pipe is one byte sent to another process and back: on a machine of one CPU that is two
 * wakeups and two context switches. For quickest the time is that of the quickest PART of them,
 * times all PARTs: there was no timer tick then, nor anything else that comes and goes.
 *
 * A chunk of futex is the same by a word that two processes wait for in turn, and of quickfutex the
 * quickest likewise.
 *
 * A chunk of yield is two switches between two processes that give up the CPU to each other and
 * never sleep, without a wakeup; the time is told as for quickest.
 *
 * A chunk of spawn is a process that executes a program, which ends at once; the time is that on a
 * CPU, of both, of the quickest chunk: to wait for a grace period takes a spawn longer than all
 * else.
 *
 * A chunk of spawns is load_static, executed to work for SPAWN_WORK instructions; of forks a
 * process that ends at once; of maps AREA bytes that are mapped and unmapped; of faults AREA bytes
 * that are touched first, a page at a time. The time includes all waiting.
 *
 * With threads there is nothing to do, but N threads more, which sleep.
 *
 * Compiled with frame pointers, and without tail calls; as load_bare without the former.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../selftests/helpers/clock.h"
#include "mark.h"

#define CHUNK		25000	/* instructions of the leaf's loop */
#define PART		100	/* chunks between two ticks */
#define PART_SPAWN	1	/* program runs */
#define SPAWN_WORK	500000	/* instructions of the leaf's loop */
#define READ_BYTES	65536
#define AREA		65536
#define DEPTH_MIN	4
#define DEPTH_MAX	127
#define FAN		128	/* functions that a caller is chosen from */
#define STACKS_MAX	(FAN * FAN)

#if defined(__x86_64__)
#define COUNT_DOWN	"1: dec %0; jnz 1b"
#define SYSCALL_RESULT	"rax"
#elif defined(__aarch64__)
#define COUNT_DOWN	"1: subs %0, %0, #1; b.ne 1b"
#define SYSCALL_RESULT	"x0"
#else
#error "the benchmark does not know this architecture"
#endif

static int zero = -1;
static char *room;

/*
 * The place in the program where a sample falls: two instructions. It calls
 * nothing and would go without a frame, did it not ask for the address of that.
 */
__attribute__((noinline)) static void spin(uint64_t n)
{
#ifdef BARE
	__asm__ volatile(COUNT_DOWN : "+r"(n) : : "cc");
#else
	__asm__ volatile(COUNT_DOWN : "+r"(n) : "r"(__builtin_frame_address(0)) : "cc");
#endif
}

/* read() without libc, which has no frame pointers. */
__attribute__((noinline)) static void call_kernel(void)
{
	register long n __asm__(SYSCALL_RESULT);
#if defined(__x86_64__)
	n = SYS_read;
	__asm__ volatile("syscall" : "+r"(n) : "D"(zero), "S"(room), "d"(READ_BYTES)
			 : "rcx", "r11", "memory");
#else
	register long number __asm__("x8") = SYS_read;
	register void *to __asm__("x1") = room;
	register long size __asm__("x2") = READ_BYTES;

	n = zero;
	__asm__ volatile("svc #0" : "+r"(n) : "r"(number), "r"(to), "r"(size) : "memory");
#endif
	if (n != READ_BYTES)
		abort();
}

struct path {
	unsigned int levels;	/* callers still to come above the leaf */
	unsigned int stack;
	bool kernel;
};

typedef void caller_fn(struct path *p);
static caller_fn *const callers[FAN];

/* Which function is next: the two levels next to the leaf tell stacks apart. */
__attribute__((always_inline)) static inline void descend(struct path *p)
{
	unsigned int level = --p->levels;

	if (!level) {
		if (p->kernel)
			call_kernel();
		else
			spin(CHUNK / 2);
	} else {
		callers[level <= 2 ? (level == 1 ? p->stack % FAN : p->stack / FAN) : 0](p);
	}
	/* The call above is not the last thing, so it has a frame. */
	__asm__ volatile("" : : : "memory");
}

#define CALLER(n) \
	__attribute__((noinline)) static void caller_##n(struct path *p) { descend(p); }
#define NAME(n)		caller_##n,
#define TEN(m, n) \
	m(n##0) m(n##1) m(n##2) m(n##3) m(n##4) m(n##5) m(n##6) m(n##7) m(n##8) m(n##9)
#define ALL(m)		TEN(m, 1) TEN(m, 2) TEN(m, 3) TEN(m, 4) TEN(m, 5) TEN(m, 6) TEN(m, 7) \
			TEN(m, 8) TEN(m, 9) TEN(m, 10) TEN(m, 11) TEN(m, 12) m(130) m(131) m(132) \
			m(133) m(134) m(135) m(136) m(137)

ALL(CALLER)

static caller_fn *const callers[FAN] = { ALL(NAME) };

/* Calls fn with a frame pointer of 0: there the chain ends, and for who reads CFI. */
void bottom(void (*fn)(struct path *), struct path *p);
#if defined(__x86_64__)
__asm__(".text\n.globl bottom\n.type bottom, @function\nbottom:\n"
	".cfi_startproc\n.cfi_undefined rip\n"
	"push %rbp\nxor %ebp, %ebp\nmov %rdi, %rax\nmov %rsi, %rdi\n"
	"call *%rax\npop %rbp\nret\n.cfi_endproc\n.size bottom, .-bottom\n");
#else
__asm__(".text\n.globl bottom\n.type bottom, %function\nbottom:\n"
	".cfi_startproc\n.cfi_undefined x30\n"
	"stp x29, x30, [sp, #-16]!\nmov x29, #0\nmov x2, x0\nmov x0, x1\n"
	"blr x2\nldp x29, x30, [sp], #16\nret\n.cfi_endproc\n.size bottom, .-bottom\n");
#endif

/* What the command line asks for. */
struct job {
	bool kernel;	/* chunks of kernel, not of user */
	unsigned int depth;	/* user frames */
	unsigned int stacks;	/* number of stacks */
	/* does so many chunks and tells how long they took, ns; the quickest count; or NULL */
	uint64_t (*quickest)(const struct job *job, uint64_t chunks);
	/* how many at once @to, @from: pipes to the process that echoes, when it is that */
	unsigned int part;
	int to, from;
	/* the process that yields, when it is that, goes on; read at @to's other end before */
	volatile bool *go;
	uint32_t *turn;	/* whose it is, 0 or 1, where two wait for it in turn */
	/* does so many chunks, whose time is by the clock; or NULL */
	void (*waits)(uint64_t chunks);
};

static void descents(const struct job *job, uint64_t chunks)
{
	for (uint64_t i = 0; i < chunks; i++) {
		/* frames: the leaf, its callers, bottom() */
		struct path p = {
			.levels = job->depth - 2, .stack = i % job->stacks, .kernel = job->kernel,
		};

		bottom(callers[p.levels == 2 ? p.stack / FAN : 0], &p);
	}
}

static void echo(int from, int to)
{
	char byte;

	while (read(from, &byte, 1) == 1 && write(to, &byte, 1) == 1)
		;
	_exit(0);
}

static void echo_start(struct job *job)
{
	int to[2], from[2];

	if (pipe(to) || pipe(from))
		err(1, "pipe");
	if (!fork()) {
		close(to[1]);
		close(from[0]);
		echo(to[0], from[1]);
	}
	close(to[0]);
	close(from[1]);
	job->to = to[1];
	job->from = from[0];
}

static uint64_t round_trips(const struct job *job, uint64_t chunks)
{
	uint64_t start = now_ns();
	char byte = 0;

	while (chunks--)
		if (write(job->to, &byte, 1) != 1 || read(job->from, &byte, 1) != 1)
			abort();
	return now_ns() - start;
}

static void *shared(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		err(1, "mmap");
	return p;
}

static void wait_for_turn(uint32_t *turn, uint32_t mine)
{
	uint32_t now;

	while ((now = __atomic_load_n(turn, __ATOMIC_ACQUIRE)) != mine)
		if (syscall(SYS_futex, turn, FUTEX_WAIT, now, NULL, NULL, 0) && errno != EAGAIN)
			exit(1);
}

static void give_turn(uint32_t *turn, uint32_t to)
{
	__atomic_store_n(turn, to, __ATOMIC_RELEASE);
	syscall(SYS_futex, turn, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* Who is woken does not come before who wakes waits: else there would be no wait. */
static void turns_start(struct job *job)
{
	const struct sched_param p = { 0 };

	job->turn = shared(sizeof(*job->turn));
	if (sched_setscheduler(0, SCHED_BATCH, &p))
		err(1, "sched_setscheduler");
	if (fork())
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		wait_for_turn(job->turn, 1);
		give_turn(job->turn, 0);
	}
}

static uint64_t turns(const struct job *job, uint64_t chunks)
{
	uint64_t start = now_ns();

	while (chunks--) {
		give_turn(job->turn, 1);
		wait_for_turn(job->turn, 0);
	}
	return now_ns() - start;
}

static void yield_start(struct job *job)
{
	int to[2];
	char byte;

	job->go = shared(sizeof(*job->go));
	if (pipe(to))
		err(1, "pipe");
	if (!fork()) {
		close(to[1]);
		while (read(to[0], &byte, 1) == 1)
			while (*job->go)
				sched_yield();
		_exit(0);
	}
	close(to[0]);
	job->to = to[1];
}

static uint64_t yields(const struct job *job, uint64_t chunks)
{
	uint64_t start = now_ns();
	char byte = 0;

	*job->go = true;
	if (write(job->to, &byte, 1) != 1)
		abort();
	while (chunks--)
		sched_yield();
	*job->go = false;
	return now_ns() - start;
}

static pid_t execute(const char *program, const char *arg)
{
	pid_t pid = vfork();

	if (!pid) {
		execl(program, "load", arg, (char *)NULL);
		_exit(1);
	}
	return pid;
}

/* How long @pid, which waits to be waited for, has been on a CPU: to the ns. */
static uint64_t on_cpu(pid_t pid)
{
	uint64_t ns;
	char path[40];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/schedstat", (int)pid);
	f = fopen(path, "re");
	if (!f || fscanf(f, "%" SCNu64, &ns) != 1)
		abort();
	fclose(f);
	return ns;
}

static uint64_t spawn(const struct job *job, uint64_t chunks)
{
	uint64_t ns = 0;

	(void)job;
	while (chunks--) {
		uint64_t start = clock_now_ns(CLOCK_THREAD_CPUTIME_ID);
		pid_t pid = execute("/proc/self/exe", "nothing");
		siginfo_t info;

		if (pid < 0 || waitid(P_PID, pid, &info, WEXITED | WNOWAIT))
			abort();
		ns += clock_now_ns(CLOCK_THREAD_CPUTIME_ID) - start + on_cpu(pid);
		if (waitpid(pid, NULL, 0) != pid)
			abort();
	}
	return ns;
}

/* The program that is linked statically stands beside this one. */
static void spawns(uint64_t chunks)
{
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - sizeof("_static"));
	int status;

	if (n < 0)
		abort();
	strcpy(path + n, "_static");
	while (chunks--) {
		pid_t pid = execute(path, "work");

		if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
			abort();
	}
}

static void forks(uint64_t chunks)
{
	int status;

	while (chunks--) {
		pid_t pid = fork();

		if (!pid)
			_exit(0);
		if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
			abort();
	}
}

static char *map_area(void)
{
	char *area = mmap(NULL, AREA, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (area == MAP_FAILED)
		abort();
	return area;
}

static void maps(uint64_t chunks)
{
	while (chunks--)
		munmap(map_area(), AREA);
}

static void faults(uint64_t chunks)
{
	char *area = map_area();

	while (chunks--) {
		for (size_t i = 0; i < AREA; i += 4096)
			area[i] = 1;
		if (madvise(area, AREA, MADV_DONTNEED))
			abort();
	}
	munmap(area, AREA);
}

static uint64_t quickest(const struct job *job, uint64_t chunks)
{
	uint64_t done, best = UINT64_MAX;

	for (done = 0; done < chunks; done += job->part) {
		uint64_t ns = job->quickest(job, job->part);

		if (ns < best)
			best = ns;
	}
	return best * chunks / job->part;
}

static void *sleeper(void *arg)
{
	(void)arg;
	for (;;)
		pause();
	return NULL;
}

static void threads_start(long n)
{
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 16384);
	while (n--) {
		errno = pthread_create(&thread, &attr, sleeper, NULL);
		if (errno)
			err(1, "pthread_create");
	}
}

static uint64_t work(const struct job *job, uint64_t chunks)
{
	uint64_t ns, start;

	mark();
	start = now_ns();
	if (job->depth)
		descents(job, chunks);
	else if (job->to && !job->quickest)
		round_trips(job, chunks);
	else if (job->turn && !job->quickest)
		turns(job, chunks);
	else if (job->waits)
		job->waits(chunks);
	ns = job->quickest ? quickest(job, chunks) : now_ns() - start;
	mark();
	return ns;
}

static int usage(void)
{
	fprintf(stderr, "usage: load user|kernel DEPTH STACKS\n"
		"       load pipe|futex|quickest|quickfutex|yield|spawn|spawns|forks|maps|faults\n"
		"       load threads N\n"
		"DEPTH is %d to %d, STACKS 1 to %d\n", DEPTH_MIN, DEPTH_MAX, STACKS_MAX);
	return 2;
}

/* Is that what chunks can be of? */
static bool begin(struct job *job, const char *name)
{
	static const struct {
		const char *name;
		void (*start)(struct job *job);
		uint64_t (*quickest)(const struct job *job, uint64_t chunks);
		unsigned int part;
		void (*waits)(uint64_t chunks);
	} modes[] = {
		{ "pipe", echo_start }, { "quickest", echo_start, round_trips, PART },
		{ "futex", turns_start }, { "quickfutex", turns_start, turns, PART },
		{ "yield", yield_start, yields, PART }, { "spawn", NULL, spawn, PART_SPAWN },
		{ "spawns", .waits = spawns }, { "forks", .waits = forks },
		{ "maps", .waits = maps }, { "faults", .waits = faults },
	};

	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (strcmp(name, modes[i].name))
			continue;
		job->quickest = modes[i].quickest;
		job->part = modes[i].part;
		job->waits = modes[i].waits;
		if (modes[i].start)
			modes[i].start(job);
		return true;
	}
	return false;
}

int main(int argc, char **argv)
{
	struct job job = { 0 };
	char line[32];

	if (argc == 4) {
		job.kernel = !strcmp(argv[1], "kernel");
		job.depth = atoi(argv[2]);
		job.stacks = atoi(argv[3]);
		if (job.depth < DEPTH_MIN || job.depth > DEPTH_MAX || !job.stacks ||
		    job.stacks > STACKS_MAX)
			return usage();
	} else if (argc == 2 && begin(&job, argv[1])) {
		/* at the first line */
	} else if (argc == 2 && !strcmp(argv[1], "nothing")) {
		return 0;
	} else if (argc == 2 && !strcmp(argv[1], "work")) {
		spin(SPAWN_WORK / 2);
		return 0;
	} else if (argc == 3 && !strcmp(argv[1], "threads")) {
		threads_start(atol(argv[2]));
	} else {
		return usage();
	}
	zero = open("/dev/zero", O_RDONLY);
	room = mmap(NULL, READ_BYTES, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (zero < 0 || room == MAP_FAILED)
		err(1, "/dev/zero");
	setvbuf(stdout, NULL, _IOLBF, 0);
	while (fgets(line, sizeof(line), stdin))
		printf("%" PRIu64 "\n", work(&job, strtoull(line, NULL, 10)));
	return 0;
}
