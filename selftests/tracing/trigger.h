/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * trigger.h: what both tests of triggers have, a child that a recorder with triggers is set up for,
 * and what has fired. Before it are TIMES, of each cause, and BUFFER_SIZE, of the rings.
 */
#ifndef GPROF_TEST_TRIGGER_H
#define GPROF_TEST_TRIGGER_H

#include "harness.h"
#include "device.h"
#include "trace_words.h"
#include "workload.h"

#define USER		1000
#define MS		1000000ULL
#define LIMIT_NS	(20 * MS)
#define FIRINGS		512

/* Shared with the child, which reports here. */
struct told {
	pid_t pids[TIMES];	/* of children that it has made */
	unsigned int nr;	/* how many */
	uint64_t began[TIMES];	/* when each of its causes began */
	uint64_t ended[TIMES];	/* and ended */
	unsigned int done;	/* causes */
	/* firings that the test has taken, for which it waits lest too many wait */
	unsigned int taken;
	pid_t thread;	/* of the killed process: ends by itself, until it is watched */
	int ending;	/* and when it does */
};

FIXTURE(trigger) {
	struct gprof_trace_params params;
	struct gprof_setup setup;
	struct device dev, other;
	struct trace_words words;
	struct child child;
	struct told *told;
	struct gprof_trigger_event fired[FIRINGS];
	unsigned int nr;
	struct gprof_trigger_event last;	/* what the one that gave EAGAIN said */
};

FIXTURE_SETUP(trigger)
{
	self->params = (struct gprof_trace_params){ .size = sizeof(self->params) };
	self->setup = device_setup_kind(GPROF_KIND_TRACE, GPROF_TARGET_PROCESS, 0, &self->params);
	self->setup.buffer_size = BUFFER_SIZE;
	self->told = shared_memory(sizeof(*self->told));
}

FIXTURE_TEARDOWN(trigger)
{
	trace_words_free(&self->words);
	device_close(&self->other);
	device_close(&self->dev);
	child_end(&self->child);
}

/* Forks the child that does @fn; and sets the recorder up for it. */
#define FORK(_fn) do {								\
	ASSERT_EQ(0, child_fork(&self->child, _fn, self->told));		\
	child_asleep(&self->child);						\
	self->setup.id = self->child.pid;					\
} while (0)

#define SETUP(_fn) do {								\
	FORK(_fn);								\
	ASSERT_EQ(0, device_setup(&self->dev, &self->setup)) {			\
		TH_LOG("reason %u", self->setup.out_reason);			\
	}									\
	ASSERT_EQ(0, device_map(&self->dev));					\
} while (0)

#define SET(_what, _threshold) ({						\
	struct gprof_trigger _t = trigger_of(_what, _threshold);		\
										\
	ASSERT_EQ(0, device_trigger(&self->dev, &_t)) TH_LOG("reason %u", _t.out_reason); \
	_t.out_index;								\
})

/* All that wait; 0 or what the last one gave, which is not EAGAIN. */
static int take(FIXTURE_DATA(trigger) *self)
{
	struct gprof_trigger_event f = { .size = sizeof(f) };
	unsigned int n = 0;
	int ret;

	/* One that is taken may make the next one fire: then there is no end of them. */
	while (n++ < 2 * GPROF_TRIGGER_EVENTS_MAX &&
	       !(ret = device_ioctl(self->dev.fd, GPROF_IOC_TRIGGER_READ, &f))) {
		if (self->nr < FIRINGS)
			self->fired[self->nr++] = f;
	}
	self->last = f;
	__atomic_store_n(&self->told->taken, self->nr, __ATOMIC_RELAXED);
	return ret == -EAGAIN ? 0 : ret;
}

/* Lets the child take its step, which ends it, and takes firings as they come. */
static void run(struct __test_metadata *_metadata, FIXTURE_DATA(trigger) *self)
{
	struct pollfd pfd = { .fd = self->dev.fd, .events = POLLPRI };
	int status;

	ASSERT_EQ(0, child_begin(&self->child));
	while (!waitpid(self->child.pid, &status, WNOHANG)) {
		poll(&pfd, 1, 20);
		ASSERT_EQ(0, take(self));
	}
	EXPECT_EQ(0, status);
	close(self->child.to);
	close(self->child.from);
	self->child.pid = 0;
	ASSERT_EQ(0, take(self));
}

#define RUN()	run(_metadata, self)

/* Of a trigger, and of a task where @tid is not 0. */
static unsigned int fired_by(FIXTURE_DATA(trigger) *self, uint32_t index, pid_t tid)
{
	unsigned int i, n = 0;

	for (i = 0; i < self->nr; i++)
		n += self->fired[i].index == index && (!tid || self->fired[i].tid == (uint32_t)tid);
	return n;
}

/* In real time; the threads that serve interrupts where the kernel is a real-time one have 50. */
static void hurry(int priority)
{
	struct sched_param p = { .sched_priority = priority };

	sched_setscheduler(0, SCHED_FIFO, &p);
}

static void rest(unsigned int ms)
{
	struct timespec ts = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * MS };

	syscall(SYS_nanosleep, &ts, NULL);
}

static void nothing(void *arg, int step)
{
	_exit(0);
}

#endif
