// SPDX-License-Identifier: GPL-2.0-only
/* fuzz.c: threads that draw what they do, and the ledgers that must balance. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "fuzz.h"
#include "fuzz_ioctl.h"
#include "fuzz_mapping.h"
#include "fuzz_thread.h"
#include "workload.h"

/*
 * The slot's file under a number of this thread's own, or -1: a liar may be closed by
 * another thread at any moment, and its number be a netlink socket's then, which takes
 * what is written and waits no more when told so.
 */
static int own_copy(int fd)
{
	int copy = dup(fd);
	struct stat st;

	if (copy >= 0 && (fstat(copy, &st) || !S_ISCHR(st.st_mode))) {
		close(copy);
		return -1;
	}
	return copy;
}

/* Calls that the device does not have, and what every file has. */
static void do_file(struct thread *t, struct slot *s)
{
	int fd = own_copy(__atomic_load_n(&s->fd, __ATOMIC_RELAXED)), copy;
	struct pollfd p = { .fd = fd, .events = draw(&t->draw) };

	fuzz_count(&t->run->f->calls);
	switch (below(&t->draw, 6)) {
	case 0:
		if (read(fd, t->edge, t->run->page) >= 0)
			fuzz_broken(t->run->f, "read() gave something");
		break;
	case 1:
		if (write(fd, t->edge, t->run->page) >= 0)
			fuzz_broken(t->run->f, "write() took something");
		break;
	case 2:
		lseek(fd, draw(&t->draw), SEEK_SET);
		break;
	case 3:
		fcntl(fd, F_SETFL, one_in(&t->draw, 2) ? O_NONBLOCK : 0);
		break;
	case 4:
		copy = dup(fd);
		if (copy >= 0)
			close(copy);
		break;
	default:
		poll(&p, 1, 0);
	}
	close(fd);
}

static void do_netlink(struct thread *t, struct slot *s)
{
	fuzz_netlink_ask(&t->netlink, &t->draw, __atomic_load_n(&s->id, __ATOMIC_RELAXED));
	fuzz_count(&t->run->f->calls);
	if (t->netlink.error[0])
		fuzz_broken(t->run->f, "%s", t->netlink.error);
}

/* A child that has the files, not the mappings; what it stops is stopped for all. */
static void do_fork(struct thread *t, struct slot *s)
{
	pid_t pid = fork();

	fuzz_count(&t->run->f->calls);
	if (!pid) {
		do_stats(t, s);
		do_stop(t, s);
		do_setup(t, s);
		_exit(0);
	}
	if (pid > 0)
		waitpid(pid, NULL, 0);
}

/* Under @reading. The mapping of an honest recorder, as soon as it is set up. */
/* Both that could be followed and those that could not have been walked. */
static void on_sample(void *ctx, const struct reader_sample *s)
{
	struct fuzz *f = ctx;

	if (s->stack && s->stack->rec.flags & (GPROF_STACK_REC_F_PYTHON |
					       GPROF_STACK_REC_F_PYTHON_CUT))
		fuzz_count(&f->interpreters);
}

static bool map_honest(struct thread *t, struct slot *s)
{
	struct gprof_info info = { .size = sizeof(info) };
	size_t page = sysconf(_SC_PAGESIZE);
	const struct gprof_ring_head *head;

	if (s->mapped)
		return true;
	if (device_ioctl(s->fd, GPROF_IOC_INFO, &info))
		return false;
	/* another has called SETUP and knows the size: here it is found by trying */
	for (uint64_t size = 32768; size <= 1 << 21; size *= 2) {
		head = mmap(NULL, page + 2 * size, PROT_READ, MAP_SHARED, s->fd,
			    GPROF_MMAP_RING(0));
		if (head == MAP_FAILED)
			continue;
		s->dev = (struct device){
			.fd = s->fd, .nr_cpus = info.out_nr_cpus, .data_size = head->data_size,
			.flight = head->flags & GPROF_SETUP_F_FLIGHT,
		};
		munmap((void *)head, page + 2 * size);
		if (device_map(&s->dev) || reader_init(&s->reader, &s->dev)) {
			device_close(&s->dev);
			__atomic_store_n(&s->fd, -1, __ATOMIC_RELAXED);
			return false;
		}
		s->reader.on_sample = on_sample;
		s->reader.ctx = t->run->f;
		s->mapped = true;
		return true;
	}
	return false;
}

static void do_read(struct thread *t, struct slot *s)
{
	struct fuzz *f = t->run->f;

	pthread_mutex_lock(&s->reading);
	if (map_honest(t, s)) {
		int64_t ret = s->dev.flight ? reader_snapshot(&s->reader) : reader_read(&s->reader);

		if (ret < 0 && ret != -EAGAIN)
			fuzz_broken(f, "reading: %s (%s)", s->reader.error, strerror(-ret));
	}
	pthread_mutex_unlock(&s->reading);
}

/* Nobody else uses the slot. The ledger, then a new file. */
static void close_honest(struct thread *t, struct slot *s)
{
	struct gprof_stats st;
	uint64_t accounted, got;

	if (map_honest(t, s)) {
		device_stop(&s->dev);
		do_read(t, s);
		if (device_stats(&s->dev, GPROF_STATS_ALL_CPUS, &st))
			fuzz_broken(t->run->f, "no statistics at the end");
		got = s->reader.samples + s->reader.events;
		accounted = got + device_lost(&st) + st.out_overwritten;
		if (st.out_produced != accounted)
			fuzz_broken(t->run->f, "produced %llu, read %llu, lost %llu, overwritten %llu",
			       (unsigned long long)st.out_produced,
			       (unsigned long long)got,
			       (unsigned long long)device_lost(&st),
			       (unsigned long long)st.out_overwritten);
		__atomic_fetch_add(&t->run->f->samples, s->reader.samples, __ATOMIC_RELAXED);
		__atomic_fetch_add(&t->run->f->events, s->reader.events, __ATOMIC_RELAXED);
		fuzz_count(&t->run->f->ledgers);
		reader_free(&s->reader);
		device_close(&s->dev);
		s->mapped = false;
	} else if (s->fd >= 0) {
		close(s->fd);
	}
	s->fd = -1;
}

static void do_reopen(struct thread *t, struct slot *s)
{
	int old, fd;

	fuzz_count(&t->run->f->calls);
	if (s->honest) {
		pthread_rwlock_wrlock(&s->life);
		close_honest(t, s);
		s->fd = device_open();
		pthread_rwlock_unlock(&s->life);
		return;
	}
	fd = device_open();
	if (fd < 0) {
		fuzz_broken(t->run->f, "open: %s", strerror(-fd));
		return;
	}
	/* under whoever is in a call with it just now */
	old = __atomic_exchange_n(&s->fd, fd, __ATOMIC_RELAXED);
	if (old >= 0)
		close(old);
}

/* What takes milliseconds is drawn seldom, what is cheap in batches. */
static void act(struct thread *t, struct slot *s)
{
	static void (*const calls[])(struct thread *t, struct slot *s) = {
		do_info, do_info, do_stats, do_stats, do_rate, do_unknown,
		do_trigger, do_fired, do_table, do_stack, do_memory,
	};
	unsigned int dice = below(&t->draw, 1000), i;

	if (dice < 250) {
		for (i = 0; i < 16; i++)
			calls[below(&t->draw, sizeof(calls) / sizeof(calls[0]))](t, s);
	} else if (dice < 350) {
		for (i = 0; i < 8; i++)
			do_file(t, s);
	} else if (dice < 450) {
		for (i = 0; i < 8; i++)
			do_netlink(t, s);
	} else if (dice < 550) {
		do_mmap(t, s);
	} else if (dice < 650) {
		do_mapping(t, s);
	} else if (dice < 690) {
		do_lie(t, s);
	} else if (dice < 750) {
		do_setup(t, s);
	} else if (dice < 790) {
		do_setup_sched(t, s);
	} else if (dice < 870) {
		do_start(t, s);
	} else if (dice < 885) {
		do_stop(t, s);
	} else if (dice < 998) {
		if (s->honest)
			do_read(t, s);
	} else if (one_in(&t->draw, 4)) {
		do_fork(t, s);
	}
}

/* A slow machine may not have come to anything by then: it gets ten times as long for that. */
static bool in_time(struct run *r)
{
	struct fuzz *f = r->f;
	uint64_t now = monotonic_ns();

	if (!r->end_ns || now < r->end_ns)
		return true;
	return (!__atomic_load_n(&f->started, __ATOMIC_RELAXED) ||
		!__atomic_load_n(&f->ledgers, __ATOMIC_RELAXED)) &&
	       now < r->end_ns + 9000000000ULL * f->most_seconds;
}

static bool goes_on(struct run *r)
{
	struct fuzz *f = r->f;

	return !f->error[0] && in_time(r) &&
	       (!f->most_calls || __atomic_load_n(&f->calls, __ATOMIC_RELAXED) < f->most_calls);
}

static void *thread(void *arg)
{
	struct thread *t = arg;
	struct slot *s;

	if (!fuzz_netlink_open(&t->netlink)) {
		fuzz_broken(t->run->f, "no netlink socket");
		return NULL;
	}
	while (goes_on(t->run)) {
		s = &t->run->slots[below(&t->draw, SLOTS)];
		if (one_in(&t->draw, 12)) {
			do_reopen(t, s);
			continue;
		}
		pthread_rwlock_rdlock(&s->life);
		act(t, s);
		pthread_rwlock_unlock(&s->life);
	}
	for (int i = 0; i < MAPPINGS; i++)
		if (t->mappings[i].at)
			munmap(t->mappings[i].at, t->mappings[i].length);
	__atomic_fetch_add(&t->run->f->refused, t->netlink.refused, __ATOMIC_RELAXED);
	__atomic_fetch_add(&t->run->f->told, t->netlink.told, __ATOMIC_RELAXED);
	fuzz_netlink_close(&t->netlink);
	return NULL;
}

struct fuzz *fuzz_new(uint64_t seed, uint64_t calls, uint64_t seconds)
{
	struct fuzz *f = shared_memory(sizeof(*f));

	f->seed = seed;
	f->most_calls = calls;
	f->most_seconds = seconds;
	return f;
}

void fuzz_free(struct fuzz *f)
{
	munmap(f, sizeof(*f));
}

void fuzz_run(struct fuzz *f)
{
	static struct run run;
	struct run *r = &run;

	r->f = f;
	r->end_ns = f->most_seconds ? monotonic_ns() + f->most_seconds * 1000000000ULL : 0;
	r->page = sysconf(_SC_PAGESIZE);
	r->cgroup = open("/sys/fs/cgroup", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (int i = 0; i < SLOTS; i++) {
		r->slots[i].fd = device_open();
		r->slots[i].honest = i & 1;
		pthread_rwlock_init(&r->slots[i].life, NULL);
		pthread_mutex_init(&r->slots[i].reading, NULL);
	}
	for (int i = 0; i < THREADS; i++) {
		struct thread *t = &r->threads[i];

		t->run = r;
		t->draw.state = f->seed + i * 0xD1B54A32D192ED03ULL;
		t->edge = private_memory(2 * r->page);
		mprotect(t->edge + r->page, r->page, PROT_NONE);
		if (pthread_create(&t->id, NULL, thread, t))
			fuzz_broken(f, "no thread");
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(r->threads[i].id, NULL);
	for (int i = 0; i < SLOTS; i++) {
		if (r->slots[i].honest)
			close_honest(&r->threads[0], &r->slots[i]);
		else
			close(r->slots[i].fd);
	}
	if (r->cgroup >= 0)
		close(r->cgroup);
}
