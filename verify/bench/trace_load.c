// SPDX-License-Identifier: GPL-2.0-only
/*
 * trace_load: a trace of a busy host that there never was, of any length.
 *
 *	trace_load FILE EVENTS [THREADS [CPUS [HZ]]]
 *
 * Threads of a dozen programs run for a while and wait for one of several reasons, with the
 * stacks of that; an interrupt or whoever runs ends their waits, and they queue up for CPUs.
 * With HZ each CPU has as many CPU samples a second. The same arguments give the same trace. At the end it says what it wrote.
 */
#include <err.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <gprof/trace_write.h>

#define CPUS_MAX	64
#define NR_WAYS		8
#define VARIANTS	16
#define GENERATION	(1ULL << 17)

static const char *const ways[NR_WAYS][6] = {
	{ "__schedule", "schedule", "do_nanosleep", "do_syscall_64", "main", NULL },
	{ "__schedule", "schedule", "pipe_read", "vfs_read", "do_syscall_64", NULL },
	{ "__schedule", "schedule", "futex_wait", "do_futex", "do_syscall_64", NULL },
	{ "__schedule", "schedule", "io_schedule", "folio_wait_bit_common", "vfs_read", NULL },
	{ "__schedule", "schedule", "ep_poll", "do_epoll_wait", "do_syscall_64", NULL },
	{ "__schedule", "schedule", "folio_wait_bit_common", "handle_mm_fault", "asm_exc_page_fault",
	  NULL },
	{ "__schedule", "schedule", "__mutex_lock", "pipe_write", "do_syscall_64", NULL },
	{ "__schedule", "schedule", "worker_thread", "kthread", "ret_from_fork", NULL },
};

struct thread {
	uint64_t wakes_at;	/* of one that waits */
	uint32_t next;		/* in a queue */
	uint32_t way;
	uint32_t variant;
	uint64_t since;		/* it is runnable, or runs */
	bool waits;
};

static struct gprof_trace_writer *w;
static struct thread *all;
static uint32_t nr_threads = 200, nr_cpus = 8;
static uint32_t runs[CPUS_MAX];
static uint64_t until[CPUS_MAX];
static uint64_t sample_ns, sampled_at;
static uint32_t *queue;
static uint32_t queue_head, queue_len;
static uint64_t stacks[NR_WAYS][VARIANTS];
static uint64_t now = 1000000000, points, random_state = 88172645463325252ULL;

static uint64_t rnd(uint64_t n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state % n;
}

static void point(uint32_t cpu, uint16_t type, uint16_t why, uint32_t tid, uint32_t other,
		  uint64_t stack)
{
	const struct gprof_trace_point p = {
		.time = now, .cpu = cpu, .type = type, .why = why, .tid = tid, .other = other,
		.stack = stack,
	};

	if (gprof_trace_writer_add(w, &p))
		errx(1, "%s", gprof_error());
	points++;
}

static uint32_t tid_of(uint32_t i)
{
	return 1000 + i;
}

static void enqueue(uint32_t i)
{
	queue[(queue_head + queue_len++) % nr_threads] = i;
	all[i].since = now;
}

static const char program[VARIANTS][12] = {
	"work_0", "work_1", "work_2", "work_3", "work_4", "work_5", "work_6", "work_7",
	"serve_0", "serve_1", "serve_2", "serve_3", "serve_4", "serve_5", "serve_6", "serve_7",
};

static uint64_t stack_of(uint32_t way, uint32_t variant)
{
	struct gprof_trace_frame f[8];
	uint64_t id;
	size_t nr = 0;

	if (stacks[way][variant])
		return stacks[way][variant];
	for (; ways[way][nr]; nr++)
		f[nr] = (struct gprof_trace_frame){
			.pc = 1 + nr + 8 * way,
			.function = { ways[way][nr], strlen(ways[way][nr]) }, .file = { "", 0 },
		};
	f[nr] = (struct gprof_trace_frame){
		.pc = 1000 + variant, .function = { program[variant], strlen(program[variant]) },
		.file = { "", 0 },
	};
	if (gprof_trace_writer_stack(w, f, nr + 1, &id))
		errx(1, "%s", gprof_error());
	return stacks[way][variant] = id;
}

static void wake(uint32_t cpu, uint32_t by, uint32_t i)
{
	all[i].waits = false;
	point(cpu, GPROF_TRACE_POINT_WAKING, 0, by, tid_of(i), 0);
	enqueue(i);
}

/* One that waits and is not due yet is woken by whoever runs, now and then. */
static void switch_on(uint32_t cpu)
{
	uint32_t was = runs[cpu], next = UINT32_MAX;
	bool preempted = was != UINT32_MAX && queue_len > nr_cpus && !rnd(3);
	uint16_t why = GPROF_TRACE_WHY_PREEMPTED;
	uint64_t stack = 0;

	if (was != UINT32_MAX && !rnd(4)) {
		uint32_t other = (uint32_t)rnd(nr_threads);

		if (all[other].waits && all[other].way != 0)
			wake(cpu, tid_of(was), other);
	}
	if (queue_len) {
		next = queue[queue_head];
		queue_head = (queue_head + 1) % nr_threads;
		queue_len--;
	}
	if (was != UINT32_MAX) {
		struct thread *t = &all[was];

		if (preempted) {
			enqueue(was);
		} else {
			t->waits = true;
			t->way = rnd(3) ? was % NR_WAYS : (uint32_t)rnd(NR_WAYS);
			t->wakes_at = now + 20000 + rnd(1ULL << (14 + rnd(12)));
			why = t->way == 3 || t->way == 5 ? GPROF_TRACE_WHY_WAITS :
			      GPROF_TRACE_WHY_SLEEPS;
			stack = stack_of(t->way, (was * 7 + t->way) % VARIANTS);
		}
	}
	point(cpu, GPROF_TRACE_POINT_SWITCH, why, was == UINT32_MAX ? 0 : tid_of(was),
	      next == UINT32_MAX ? 0 : tid_of(next), stack);
	runs[cpu] = next;
	until[cpu] = next == UINT32_MAX ? UINT64_MAX : now + 2000 + rnd(1ULL << (10 + rnd(11)));
}

/* A thread that runs is in one of two functions, one of which calls the other, below main(). */
static void sample_all(void)
{
	static const char top[] = "main";

	for (uint32_t i = 0; i < nr_cpus; i++) {
		uint32_t at = runs[i] % VARIANTS, deep = now / sample_ns % 3 != 0;
		const char *calls[] = { program[(at + 5) % VARIANTS], program[at], top };
		struct gprof_trace_frame f[3];
		uint64_t id;

		if (runs[i] == UINT32_MAX)
			continue;
		for (uint32_t k = 0; k < 3; k++)
			f[k] = (struct gprof_trace_frame){
				.pc = 2000 + k, .function = { calls[k], strlen(calls[k]) }, .file = { "", 0 },
			};
		if (gprof_trace_writer_stack(w, f + !deep, 2 + deep, &id))
			errx(1, "%s", gprof_error());
		point(i, GPROF_TRACE_POINT_SAMPLE, 0, tid_of(runs[i]), 0, id);
	}
	sampled_at += sample_ns;
}

static void name_all(void)
{
	static const char *const names[] = {
		"postgres", "nginx", "node", "cc1", "make", "kworker/0:1", "java", "rsyslogd", "sshd",
		"ksoftirqd/0", "chrome", "a \"b\" <c>",
	};

	/* Threads of a name are those of a process. */
	for (uint32_t i = 0; i < nr_threads; i++)
		if (gprof_trace_writer_name(w, tid_of(i), names[i % 12]) ||
		    gprof_trace_writer_process(w, tid_of(i), tid_of(i % 12)))
			errx(1, "%s", gprof_error());
}

int main(int argc, char **argv)
{
	struct gprof_trace_writer_opts opts = { .sz = sizeof(opts) };
	uint64_t want, cut, due;
	int fd;

	if (argc < 3)
		errx(2, "usage: trace_load FILE EVENTS [THREADS [CPUS [HZ]]]");
	want = strtoull(argv[2], NULL, 0);
	if (argc > 3)
		nr_threads = (uint32_t)strtoul(argv[3], NULL, 0);
	if (argc > 4)
		nr_cpus = (uint32_t)strtoul(argv[4], NULL, 0);
	if (argc > 5) {
		opts.sample_period = sample_ns = 1000000000 / strtoull(argv[5], NULL, 0);
		opts.sample_type = "cpu";
		opts.sample_unit = "nanoseconds";
		sampled_at = now + sample_ns;
	}
	if (!nr_threads || !nr_cpus || nr_cpus > CPUS_MAX)
		errx(2, "threads from 1 on, CPUs up to %d", CPUS_MAX);
	all = calloc(nr_threads, sizeof(*all));
	queue = calloc(nr_threads, sizeof(*queue));
	fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0644);
	if (!all || !queue || fd < 0)
		err(1, "%s", argv[1]);
	opts.cpus = nr_cpus;
	w = gprof_trace_writer_new(fd, &opts);
	if (!w)
		errx(1, "%s", gprof_error());
	name_all();
	for (uint32_t i = 0; i < nr_cpus; i++) {
		runs[i] = UINT32_MAX;
		until[i] = UINT64_MAX;
	}
	for (uint32_t i = 0; i < nr_threads; i++) {
		all[i].waits = true;
		all[i].wakes_at = now + rnd(2000000);
	}
	for (cut = GENERATION; points < want;) {
		due = UINT64_MAX;
		for (uint32_t i = 0; i < nr_cpus; i++)
			if (until[i] < due)
				due = until[i];
		now = due < now + 5000 ? (due > now ? due : now + 1) : now + 5000;
		if (sample_ns && now >= sampled_at)
			sample_all();
		/* One timer a step, at most a few: what is due. */
		for (uint32_t n = 0; n < 16; n++) {
			uint32_t i = (uint32_t)rnd(nr_threads);

			if (all[i].waits && all[i].wakes_at <= now)
				wake((uint32_t)rnd(nr_cpus), GPROF_TRACE_NO_TID, i);
		}
		for (uint32_t i = 0; i < nr_cpus; i++)
			if (until[i] <= now || (runs[i] == UINT32_MAX && queue_len))
				switch_on(i);
		if (points >= cut) {
			if (gprof_trace_writer_cut(w, now, NULL))
				errx(1, "%s", gprof_error());
			memset(stacks, 0, sizeof(stacks));
			cut = points + GENERATION;
		}
	}
	if (gprof_trace_writer_close(w) || close(fd))
		errx(1, "%s", gprof_error());
	printf("points=%llu seconds=%.3f\n", (unsigned long long)points, (double)now / 1e9 - 1);
	return 0;
}
