// SPDX-License-Identifier: GPL-2.0-only
/*
 * truth_waits: threads each of which spends its time in one known way.
 *
 * Usage: truth_waits MS [DISK]; one after the other, each for about MS: "spin" is on a
 * CPU, "sleep" sleeps, "futex" waits for a word, "pipe" for a pipe, "socket" for a
 * socket, "fault" for a page that another thread fills in, "io" reads from DISK past the
 * page cache, and "behind" is runnable while "hog", of a higher priority, has its CPU.
 * They wait again and again; whom they wait for are threads named "helper".
 *
 * What each did is printed as the kernel's own ledger has it, the time off the CPU being
 * what is left: "NAME ELAPSED CPU RUNNABLE BLOCKED", in ns.
 */
#define _GNU_SOURCE
#include "truth.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/futex.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE	4096UL
#define BLOCK	(256 * 1024)
/* How long a wait for a helper is. */
#define NAP_NS	10000000L

static uint64_t part_ns;
static const char *disk;

static void nap(void)
{
	struct timespec t = { 0, NAP_NS };

	nanosleep(&t, NULL);
}

/* Of this thread, in ns: on a CPU, and runnable without one. */
static void ledger(uint64_t *cpu, uint64_t *runnable)
{
	unsigned long long ran = 0, waited = 0;
	FILE *f = fopen("/proc/thread-self/schedstat", "r");

	/* That of a thread that runs is brought up to date as it is switched out. */
	if (!f || fscanf(f, "%llu %llu", &ran, &waited) != 2)
		exit(1);
	fclose(f);
	*cpu = truth_clock();
	*runnable = waited;
}

static int pipes[2], sockets[2], faults = -1;
static int word;
static volatile bool over;
static char *area, *last;
static pthread_t helper;
/* When the thread that does its part was. */
static uint64_t created;

static void *wakes_futex(void *arg)
{
	prctl(PR_SET_NAME, "helper");
	while (!over) {
		nap();
		__atomic_store_n(&word, 1, __ATOMIC_SEQ_CST);
		syscall(SYS_futex, &word, FUTEX_WAKE, 1, NULL, NULL, 0);
	}
	return arg;
}

static void *writes(void *fd)
{
	prctl(PR_SET_NAME, "helper");
	while (!over) {
		nap();
		if (write(*(int *)fd, "x", 1) != 1)
			exit(1);
	}
	return NULL;
}

static void *fills_in(void *arg)
{
	static char page[PAGE];
	struct uffd_msg msg;

	prctl(PR_SET_NAME, "helper");
	while (read(faults, &msg, sizeof(msg)) == sizeof(msg)) {
		struct uffdio_copy copy = {
			.dst = msg.arg.pagefault.address & ~(PAGE - 1),
			.src = (unsigned long)page, .len = PAGE,
		};

		nap();
		if (ioctl(faults, UFFDIO_COPY, &copy))
			exit(1);
		if (copy.dst == (unsigned long)last)
			break;
	}
	return arg;
}

static void *hogs(void *arg)
{
	const struct sched_param param = { .sched_priority = 1 };
	const uint64_t begun = now_ns();

	prctl(PR_SET_NAME, "hog");
	if (sched_setscheduler(0, SCHED_FIFO, &param))
		exit(1);
	while (now_ns() - begun < part_ns)
		;
	return arg;
}

static WORKER(works, 1)

static void spins(uint64_t until)
{
	uint64_t x = 1;

	while (now_ns() < until)
		x = works(10000, x);
}

static void sleeps(uint64_t until)
{
	while (now_ns() < until)
		nap();
}

static void waits_for_futex(uint64_t until)
{
	while (now_ns() < until) {
		syscall(SYS_futex, &word, FUTEX_WAIT, 0, NULL, NULL, 0);
		__atomic_store_n(&word, 0, __ATOMIC_SEQ_CST);
	}
}

static void waits_for(int fd, uint64_t until)
{
	char byte;

	while (now_ns() < until)
		if (read(fd, &byte, 1) != 1)
			exit(1);
}

static void waits_for_pipe(uint64_t until)
{
	waits_for(pipes[0], until);
}

static void waits_for_socket(uint64_t until)
{
	waits_for(sockets[0], until);
}

static void faults_in(uint64_t until)
{
	char *p = area;

	while (now_ns() < until && p < last) {
		*(volatile char *)p = 1;
		p += PAGE;
	}
	/* After which the helper ends. */
	*(volatile char *)last = 1;
}

static void reads_disk(uint64_t until)
{
	int fd = open(disk, O_RDONLY | O_DIRECT);
	void *block = NULL;
	off_t at = 0;

	if (fd < 0 || posix_memalign(&block, PAGE, BLOCK))
		exit(1);
	while (now_ns() < until) {
		if (pread(fd, block, BLOCK, at) != BLOCK)
			at = -BLOCK;
		at += BLOCK;
	}
	close(fd);
}

/* Until the hog is there it runs itself. */
static void is_behind(uint64_t until)
{
	spins(until);
}

static void make_area(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	size_t size = (part_ns / NAP_NS + 2) * PAGE;

	area = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	faults = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	range.range.start = (unsigned long)area;
	range.range.len = size;
	last = area + size - PAGE;
	if (area == MAP_FAILED || faults < 0 || ioctl(faults, UFFDIO_API, &api) ||
	    ioctl(faults, UFFDIO_REGISTER, &range)) {
		perror("truth_waits: userfaultfd");
		exit(1);
	}
}

static const struct part {
	const char *name;
	void (*run)(uint64_t until);
	void *(*helper)(void *arg);
	int *arg;
} parts[] = {
	{ "spin", spins }, { "sleep", sleeps }, { "futex", waits_for_futex, wakes_futex },
	{ "pipe", waits_for_pipe, writes, &pipes[1] },
	{ "socket", waits_for_socket, writes, &sockets[1] }, { "fault", faults_in, fills_in },
	{ "io", reads_disk }, { "behind", is_behind, hogs },
};

static void *run(void *arg)
{
	const struct part *p = arg;
	uint64_t cpu, runnable, elapsed;

	prctl(PR_SET_NAME, p->name);
	over = false;
	if (p->helper && pthread_create(&helper, NULL, p->helper, p->arg))
		exit(1);
	p->run(now_ns() + part_ns);
	over = true;
	ledger(&cpu, &runnable);
	elapsed = now_ns() - created;
	printf("%s %llu %llu %llu %lld\n", p->name, (unsigned long long)elapsed,
	       (unsigned long long)cpu, (unsigned long long)runnable,
	       (long long)(elapsed - cpu - runnable));
	fflush(stdout);
	return NULL;
}

int main(int argc, char **argv)
{
	cpu_set_t one;

	part_ns = truth_argument(argc, argv, 1, 200) * 1000000;
	disk = argc > 2 ? argv[2] : NULL;
	CPU_ZERO(&one);
	CPU_SET(0, &one);
	/* Who is behind another is so on one CPU. */
	if (sched_setaffinity(0, sizeof(one), &one) || pipe(pipes) ||
	    socketpair(AF_UNIX, SOCK_STREAM, 0, sockets))
		return 1;
	make_area();
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		pthread_t thread;

		if (parts[i].run == reads_disk && !disk)
			continue;
		created = now_ns();
		if (pthread_create(&thread, NULL, run, (void *)&parts[i]))
			return 1;
		pthread_join(thread, NULL);
		/* What it waited for here would be no part of its own. */
		if (parts[i].helper)
			pthread_join(helper, NULL);
	}
	return 0;
}
