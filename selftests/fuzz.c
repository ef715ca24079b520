// SPDX-License-Identifier: GPL-2.0-only
/* fuzz.c: what is drawn, how it is called, and what must hold. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "device.h"
#include "fuzz.h"
#include "reader.h"
#include "workload.h"

#define SLOTS		6
#define THREADS		4
#define MAPPINGS	16

/**
 * struct slot - a recorder that all threads know
 * @fd: its file
 * @honest: read by the rules
 * @life: read-locked by who uses an honest one, write-locked by who replaces it
 * @reading: who reads; protects what is below
 * @dev: the mapping of an honest one, once it is set up
 * @reader: its reader
 * @mapped: @dev and @reader are there
 */
struct slot {
	int fd;
	bool honest;
	pthread_rwlock_t life;
	pthread_mutex_t reading;
	struct device dev;
	struct reader reader;
	bool mapped;
};

struct mapped {
	void *at;
	size_t length;
	bool tail;	/* of one that is not honest */
};

struct thread {
	struct run *run;
	pthread_t id;
	uint64_t state;
	uint8_t *edge;		/* a page, behind which lies one that cannot be touched */
	struct mapped mappings[MAPPINGS];
};

struct run {
	struct fuzz *f;
	uint64_t end_ns;
	size_t page;
	struct slot slots[SLOTS];
	struct thread threads[THREADS];
};

/* splitmix64 */
static uint64_t draw(struct thread *t)
{
	uint64_t z = (t->state += 0x9E3779B97F4A7C15ULL);

	z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ULL;
	z = (z ^ z >> 27) * 0x94D049BB133111EBULL;
	return z ^ z >> 31;
}

static uint64_t below(struct thread *t, uint64_t n)
{
	return draw(t) % n;
}

static bool one_in(struct thread *t, unsigned int n)
{
	return !below(t, n);
}

#define ONE_OF(_t, ...) ({						\
	const uint64_t _all[] = { __VA_ARGS__ };			\
	_all[below(_t, sizeof(_all) / sizeof(_all[0]))];		\
})

static void broken(struct fuzz *f, const char *format, ...)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	va_list args;

	pthread_mutex_lock(&lock);
	if (!f->error[0]) {
		va_start(args, format);
		vsnprintf(f->error, sizeof(f->error), format, args);
		va_end(args);
	}
	pthread_mutex_unlock(&lock);
}

static void count(uint64_t *number)
{
	__atomic_fetch_add(number, 1, __ATOMIC_RELAXED);
}

/* The errors that <linux/gprof.h> names, and no others. */
static bool is_promised(int err)
{
	static const int promised[] = {
		0, ENOTTY, E2BIG, EINVAL, EOPNOTSUPP, ENOENT, ESRCH, ENODEV, EPERM, EBUSY,
		ENOMEM, EFAULT,
	};
	unsigned int i;

	for (i = 0; i < sizeof(promised) / sizeof(promised[0]); i++)
		if (promised[i] == err)
			return true;
	return false;
}

static int call(struct thread *t, struct slot *s, unsigned int cmd, void *arg)
{
	struct fuzz *f = t->run->f;
	int fd = __atomic_load_n(&s->fd, __ATOMIC_RELAXED);
	int err = ioctl(fd, cmd, arg) ? errno : 0;

	count(&f->calls);
	if (err)
		count(&f->refused);
	/* a liar may be closed by another thread at any moment */
	if (!is_promised(err) && !(err == EBADF && !s->honest))
		broken(f, "command %#x gave %d (%s)", cmd, err, strerror(err));
	return err;
}

/*
 * Sends a struct from a random place: often straight before a page that is not
 * there, with a size that may reach into it.
 */
static int send_struct(struct thread *t, struct slot *s, unsigned int cmd, void *arg, size_t size)
{
	size_t room = t->run->page - size;
	uint8_t *place = t->edge + (one_in(t, 2) ? room : below(t, room / 8) * 8);
	uint32_t *words = (uint32_t *)place;
	int err;

	memcpy(place, arg, size);
	switch (below(t, 12)) {
	case 0:		/* a size that is wrong */
		words[0] = ONE_OF(t, 0, 1, 4, 8, size - 1, size - 8, size + 1, size + 8,
				  t->run->page, t->run->page + 1, 1 << 20, UINT32_MAX);
		break;
	case 1:		/* a bit that is */
		words[below(t, size / 4)] ^= 1U << below(t, 32);
		break;
	case 2:		/* garbage */
		words[below(t, size / 4)] = draw(t);
		break;
	case 3:
		if (one_in(t, 4))
			place = (uint8_t *)ONE_OF(t, 0, 8, -8, 1ULL << 47, 0xffff888000000000ULL,
						  (uintptr_t)t->edge + t->run->page);
		break;
	}
	err = call(t, s, cmd, place);
	if (place >= t->edge && place < t->edge + t->run->page)
		memcpy(arg, place, size);
	return err;
}

static void do_info(struct thread *t, struct slot *s)
{
	struct gprof_info info = { .size = sizeof(info) };

	send_struct(t, s, GPROF_IOC_INFO, &info, sizeof(info));
}

static void do_stats(struct thread *t, struct slot *s)
{
	struct gprof_stats st = {
		.size = sizeof(st), .cpu = ONE_OF(t, -1, -1, 0, 1, 2, 4096, -2, INT32_MIN),
	};
	uint64_t told;

	if (send_struct(t, s, GPROF_IOC_STATS, &st, sizeof(st)) || st.size != sizeof(st))
		return;
	/* they are read one after the other, from what goes on: but never backwards */
	told = device_lost(&st) + st.out_overwritten;
	if (st.out_stopped_ns && st.out_produced < told && st.out_started_ns < st.out_stopped_ns)
		broken(t->run->f, "produced %llu, lost and overwritten %llu",
		       (unsigned long long)st.out_produced, (unsigned long long)told);
}

static void do_start(struct thread *t, struct slot *s)
{
	struct gprof_start start = { .size = sizeof(start) };

	if (!send_struct(t, s, GPROF_IOC_START, &start, sizeof(start)))
		count(&t->run->f->started);
}

static void do_stop(struct thread *t, struct slot *s)
{
	struct gprof_stop stop = { .size = sizeof(stop) };

	send_struct(t, s, GPROF_IOC_STOP, &stop, sizeof(stop));
}

static void do_unknown(struct thread *t, struct slot *s)
{
	unsigned int cmd = GPROF_IOC_TYPE << 8 | below(t, 256);

	if (one_in(t, 2))
		cmd = draw(t);
	/* what every file has would have its own errors */
	if ((cmd >> 8 & 0xff) != GPROF_IOC_TYPE)
		cmd = (cmd & ~0xff00U) | GPROF_IOC_TYPE << 8;
	if (cmd >= GPROF_IOC_INFO && cmd <= GPROF_IOC_STATS)
		return;
	call(t, s, cmd, t->edge + below(t, t->run->page));
}

static void draw_params(struct thread *t, struct gprof_cpu_params *p)
{
	*p = timer_params(ONE_OF(t, 1000000, 1000000, 250000, 100000, 10000000));
	if (one_in(t, 4)) {
		p->type = ONE_OF(t, PERF_TYPE_HARDWARE, PERF_TYPE_SOFTWARE, PERF_TYPE_RAW,
				 PERF_TYPE_HW_CACHE, PERF_TYPE_TRACEPOINT, PERF_TYPE_BREAKPOINT,
				 6, 7, 8, 9, 10, UINT32_MAX);
		p->config = ONE_OF(t, 0, 1, 2, 3, 4, 5, 6, 0x11, 0xff, draw(t), UINT64_MAX);
		p->period = 100000 + below(t, 1000000);
	}
	if (one_in(t, 4))
		p->flags = ONE_OF(t, 1, 2, 4, 8, 15, 16, draw(t));
	if (one_in(t, 8))
		p->period = ONE_OF(t, 0, 1, 99, 9999, GPROF_PERIOD_MAX, GPROF_PERIOD_MAX + 1,
				   UINT64_MAX);
	if (one_in(t, 8))
		p->precise = ONE_OF(t, 1, 2, 3, 4, UINT32_MAX);
	if (one_in(t, 16))
		p->config1 = draw(t);
	if (one_in(t, 16))
		p->config2 = draw(t);
	if (one_in(t, 16))
		p->size = ONE_OF(t, 0, 47, 56, 4096, 4097, UINT32_MAX);
}

/* Nothing so large that the guest's memory is what is tested. */
static uint64_t draw_buffer(struct thread *t)
{
	return ONE_OF(t, 0, 4096, 32768, 32768, 32768, 65536, 65536, 131072, 3, 4095, 100000,
		      (1ULL << 30) + 1, 1ULL << 40, UINT64_MAX);
}

static void do_setup(struct thread *t, struct slot *s)
{
	struct gprof_profile_params profile = {
		.size = sizeof(profile), .tracepoint = below(t, 3000), .period = 1 + below(t, 999),
	};
	uint64_t cpus[2] = { ONE_OF(t, 1, 2, 3, 0, UINT64_MAX), 0 };
	struct gprof_cpu_params params;
	struct gprof_setup setup;

	params = timer_params(1000000);
	setup = device_setup_of(GPROF_TARGET_PROCESS, getpid(), &params);
	setup.buffer_size = 32768;
	if (one_in(t, 2)) {
		setup.flags = below(t, 2);
		if (!call(t, s, GPROF_IOC_SETUP, &setup))
			count(&t->run->f->set_up);
		return;
	}
	draw_params(t, &params);
	if (one_in(t, 3))
		setup.target = below(t, 8);
	if (setup.target > GPROF_TARGET_PROCESS)
		setup.id = one_in(t, 8) ? draw(t) : 0;
	else if (one_in(t, 4))
		setup.id = ONE_OF(t, gettid(), 0, 1, 2, -1, getppid(), 1 << 22, INT32_MIN);
	if (setup.target == GPROF_TARGET_CPUS) {
		setup.cpus = (uintptr_t)cpus;
		setup.cpus_size = ONE_OF(t, 8, 8, 16, 4, 0, 4096, 4104);
	}
	if (one_in(t, 8)) {
		setup.kind = GPROF_KIND_PROFILE;
		setup.params = (uintptr_t)&profile;
	}
	if (one_in(t, 3))
		setup.flags = below(t, one_in(t, 8) ? 8 : 2);
	if (one_in(t, 3))
		setup.stack = below(t, 9);
	setup.buffer_size = draw_buffer(t);
	if (one_in(t, 4))
		setup.max_frames = ONE_OF(t, 1, 2, 16, 127, 128, UINT32_MAX);
	if (one_in(t, 4))
		setup.generation_ns = ONE_OF(t, 1000000, 10000000, 999999, 1, 3600000000000ULL,
					     3600000000001ULL, UINT64_MAX);
	if (one_in(t, 32))
		setup.params = ONE_OF(t, 0, 1, -8, (uintptr_t)t->edge + t->run->page - 8);
	if (one_in(t, 32))
		setup.cpus = ONE_OF(t, 0, 1, -8, draw(t));
	if (!send_struct(t, s, GPROF_IOC_SETUP, &setup, sizeof(setup)))
		count(&t->run->f->set_up);
}

static void do_mmap(struct thread *t, struct slot *s)
{
	static const int protections[] = {
		PROT_READ, PROT_READ, PROT_READ | PROT_WRITE, PROT_WRITE, PROT_EXEC, PROT_NONE,
	};
	struct mapped *m = &t->mappings[below(t, MAPPINGS)];
	int fd = __atomic_load_n(&s->fd, __ATOMIC_RELAXED);
	uint64_t cpu = ONE_OF(t, 0, 0, 1, 1, 2, 63, 4096, 0x7fffffff);
	bool ring = one_in(t, 2);
	uint64_t offset = ring ? GPROF_MMAP_RING(cpu) : GPROF_MMAP_TAIL(cpu);
	int protection = protections[below(t, 6)];
	size_t length = t->run->page;
	void *at;

	if (m->at)
		return;
	if (ring)
		length += 2 * ONE_OF(t, 32768, 32768, 65536, 131072, 524288, 4096);
	if (one_in(t, 8))
		offset += t->run->page * ONE_OF(t, 1, -1, below(t, 1 << 20));
	if (one_in(t, 8))
		length = t->run->page * (1 + below(t, 300));
	/* who maps an honest tail must not write to it */
	at = mmap(NULL, length, protection,
		  one_in(t, 8) ? MAP_PRIVATE : MAP_SHARED | (one_in(t, 8) ? MAP_POPULATE : 0),
		  fd, offset);
	count(&t->run->f->calls);
	if (at == MAP_FAILED) {
		count(&t->run->f->refused);
		return;
	}
	*m = (struct mapped){ at, length, !ring && !s->honest && protection & PROT_WRITE };
	if (ring && protection & (PROT_WRITE | PROT_EXEC))
		broken(t->run->f, "a ring was mapped with protection %d", protection);
}

static void do_mapping(struct thread *t)
{
	struct mapped *m = &t->mappings[below(t, MAPPINGS)];
	size_t half = m->length / 2 & ~(t->run->page - 1);
	char residence[256];
	void *moved;

	if (!m->at)
		return;
	count(&t->run->f->calls);
	switch (below(t, 8)) {
	case 0:		/* as a whole, or in two */
		/* each page once: another thread may have mapped something there since */
		if (half && one_in(t, 2)) {
			munmap(m->at + half, m->length - half);
			munmap(m->at, half);
		} else {
			munmap(m->at, m->length);
		}
		m->at = NULL;
		break;
	case 1:
		if (!mprotect(m->at, m->length, PROT_READ | PROT_EXEC))
			broken(t->run->f, "a mapping was made executable");
		break;
	case 2:
		if (!m->tail && m->length > t->run->page &&
		    !mprotect(m->at, m->length, PROT_READ | PROT_WRITE))
			broken(t->run->f, "a ring was made writable");
		break;
	case 3:
		moved = mremap(m->at, m->length, m->length * 2, MREMAP_MAYMOVE);
		if (moved != MAP_FAILED) {
			broken(t->run->f, "a mapping has grown");
			m->at = moved;
			m->length *= 2;
		}
		break;
	case 4:
		moved = mremap(m->at, m->length, m->length, MREMAP_MAYMOVE);
		if (moved != MAP_FAILED)
			m->at = moved;
		break;
	case 5:
		if (m->length / t->run->page <= sizeof(residence))
			mincore(m->at, m->length, (void *)residence);
		break;
	case 6:
		m->tail = false;	/* what was given up is SIGBUS when touched again */
		madvise(m->at, m->length, ONE_OF(t, MADV_DONTNEED, MADV_WILLNEED, MADV_FREE,
						 MADV_REMOVE, MADV_COLD, MADV_MERGEABLE));
		break;
	case 7:
		msync(m->at, m->length, MS_SYNC);
		break;
	}
}

static void do_lie(struct thread *t)
{
	struct mapped *m = &t->mappings[below(t, MAPPINGS)];
	struct gprof_ring_tail *tail = m->at;

	if (m->at && m->tail)
		__atomic_store_n(&tail->tail, ONE_OF(t, 0, 7, 8, draw(t), UINT64_MAX, 1 << 20,
						     32768, -8), __ATOMIC_RELAXED);
}

/* Calls that the device does not have, and what every file has. */
static void do_file(struct thread *t, struct slot *s)
{
	int fd = __atomic_load_n(&s->fd, __ATOMIC_RELAXED);
	struct pollfd p = { .fd = fd, .events = draw(t) };
	int copy;

	count(&t->run->f->calls);
	switch (below(t, 6)) {
	case 0:
		if (read(fd, t->edge, t->run->page) >= 0)
			broken(t->run->f, "read() gave something");
		break;
	case 1:
		if (write(fd, t->edge, t->run->page) >= 0)
			broken(t->run->f, "write() took something");
		break;
	case 2:
		lseek(fd, draw(t), SEEK_SET);
		break;
	case 3:
		fcntl(fd, F_SETFL, one_in(t, 2) ? O_NONBLOCK : 0);
		break;
	case 4:
		copy = dup(fd);
		if (copy >= 0)
			close(copy);
		break;
	default:
		poll(&p, 1, 0);
	}
}

/* A child that has the files, not the mappings; what it stops is stopped for all. */
static void do_fork(struct thread *t, struct slot *s)
{
	pid_t pid = fork();

	count(&t->run->f->calls);
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
static bool map_honest(struct slot *s)
{
	struct gprof_info info = { .size = sizeof(info) };
	size_t page = sysconf(_SC_PAGESIZE);
	const struct gprof_ring_head *head;
	uint64_t size;

	if (s->mapped)
		return true;
	if (device_ioctl(s->fd, GPROF_IOC_INFO, &info))
		return false;
	/* another has called SETUP and knows the size: here it is found by trying */
	for (size = 32768; size <= 1 << 21; size *= 2) {
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
		s->mapped = true;
		return true;
	}
	return false;
}

static void do_read(struct thread *t, struct slot *s)
{
	struct fuzz *f = t->run->f;

	pthread_mutex_lock(&s->reading);
	if (map_honest(s)) {
		int64_t ret = s->dev.flight ? reader_snapshot(&s->reader) : reader_read(&s->reader);

		if (ret < 0 && ret != -EAGAIN)
			broken(f, "reading: %s (%s)", s->reader.error, strerror(-ret));
	}
	pthread_mutex_unlock(&s->reading);
}

/* Nobody else uses the slot. The ledger, then a new file. */
static void close_honest(struct thread *t, struct slot *s)
{
	struct gprof_stats st;
	uint64_t accounted;

	if (map_honest(s)) {
		device_stop(&s->dev);
		do_read(t, s);
		if (device_stats(&s->dev, GPROF_STATS_ALL_CPUS, &st))
			broken(t->run->f, "no statistics at the end");
		accounted = s->reader.samples + device_lost(&st) + st.out_overwritten;
		if (st.out_produced != accounted)
			broken(t->run->f, "produced %llu, read %llu, lost %llu, overwritten %llu",
			       (unsigned long long)st.out_produced,
			       (unsigned long long)s->reader.samples,
			       (unsigned long long)device_lost(&st),
			       (unsigned long long)st.out_overwritten);
		__atomic_fetch_add(&t->run->f->samples, s->reader.samples, __ATOMIC_RELAXED);
		count(&t->run->f->ledgers);
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

	count(&t->run->f->calls);
	if (s->honest) {
		pthread_rwlock_wrlock(&s->life);
		close_honest(t, s);
		s->fd = device_open();
		pthread_rwlock_unlock(&s->life);
		return;
	}
	fd = device_open();
	if (fd < 0) {
		broken(t->run->f, "open: %s", strerror(-fd));
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
	unsigned int dice = below(t, 1000), i;

	if (dice < 350) {
		for (i = 0; i < 32; i++)
			(one_in(t, 2) ? do_info : one_in(t, 2) ? do_stats : do_unknown)(t, s);
	} else if (dice < 500) {
		for (i = 0; i < 16; i++)
			do_file(t, s);
	} else if (dice < 620) {
		do_mmap(t, s);
	} else if (dice < 740) {
		do_mapping(t);
	} else if (dice < 790) {
		do_lie(t);
	} else if (dice < 870) {
		do_setup(t, s);
	} else if (dice < 920) {
		do_start(t, s);
	} else if (dice < 935) {
		do_stop(t, s);
	} else if (dice < 998) {
		if (s->honest)
			do_read(t, s);
	} else if (one_in(t, 4)) {
		do_fork(t, s);
	}
}

static bool goes_on(struct run *r)
{
	struct fuzz *f = r->f;

	return !f->error[0] && (!r->end_ns || monotonic_ns() < r->end_ns) &&
	       (!f->most_calls || __atomic_load_n(&f->calls, __ATOMIC_RELAXED) < f->most_calls);
}

static void *thread(void *arg)
{
	struct thread *t = arg;
	struct slot *s;
	int i;

	while (goes_on(t->run)) {
		s = &t->run->slots[below(t, SLOTS)];
		if (one_in(t, 20)) {
			do_reopen(t, s);
			continue;
		}
		pthread_rwlock_rdlock(&s->life);
		act(t, s);
		pthread_rwlock_unlock(&s->life);
	}
	for (i = 0; i < MAPPINGS; i++)
		if (t->mappings[i].at)
			munmap(t->mappings[i].at, t->mappings[i].length);
	return NULL;
}

struct fuzz *fuzz_new(uint64_t seed, uint64_t calls, uint64_t seconds)
{
	struct fuzz *f = mmap(NULL, sizeof(*f), PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (f == MAP_FAILED)
		return NULL;
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
	int i;

	r->f = f;
	r->end_ns = f->most_seconds ? monotonic_ns() + f->most_seconds * 1000000000ULL : 0;
	r->page = sysconf(_SC_PAGESIZE);
	for (i = 0; i < SLOTS; i++) {
		r->slots[i].fd = device_open();
		r->slots[i].honest = i & 1;
		pthread_rwlock_init(&r->slots[i].life, NULL);
		pthread_mutex_init(&r->slots[i].reading, NULL);
	}
	for (i = 0; i < THREADS; i++) {
		struct thread *t = &r->threads[i];

		t->run = r;
		t->state = f->seed + i * 0xD1B54A32D192ED03ULL;
		t->edge = mmap(NULL, 2 * r->page, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		mprotect(t->edge + r->page, r->page, PROT_NONE);
		if (pthread_create(&t->id, NULL, thread, t))
			broken(f, "no thread");
	}
	for (i = 0; i < THREADS; i++)
		pthread_join(r->threads[i].id, NULL);
	for (i = 0; i < SLOTS; i++) {
		if (r->slots[i].honest)
			close_honest(&r->threads[0], &r->slots[i]);
		else
			close(r->slots[i].fd);
	}
}
