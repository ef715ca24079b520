// SPDX-License-Identifier: GPL-2.0-only
/*
 * hog_test: a task of real time keeps a CPU for itself, without a limit, as on hosts of real
 * time. Whatever the kernel defers to a thread of that CPU does not happen while it does. STOP
 * and close come back all the same, and events are told.
 */
#include <sys/time.h>
#include "harness.h"
#include "cpu_hog.h"
#include "device.h"
#include "genl.h"
#include "reader.h"
#include "remains.h"
#include "workload.h"

#define LIMIT_NS	2000000000ULL
#define STOP_NS		500000000ULL	/* for which STOP waits for the kernel */
#define LOOKS		5
#define THREAD_LOOKS_MS	600	/* in that the owner's thread looks at who waits, twice */

/* The hogged one is @nth, the test runs on the other of the first two. */
static int change_sides(unsigned int nth)
{
	pin_to(online_cpu(!nth));
	return online_cpu(nth);
}

FIXTURE(hogged) {
	union {
		struct gprof_cpu_params cpu;
		struct gprof_tracepoint_params profile;
		struct gprof_sched_params sched;
		struct gprof_trace_params trace;
		struct gprof_block_params block;
		struct gprof_alloc_params alloc;
		struct gprof_task_params task;
	} params;
	struct gprof_setup setup;
	struct device dev;
	struct hog hog;
};

FIXTURE_SETUP(hogged)
{
	const char *lack = hog_prepare(&self->hog);

	SKIP_ALL_UNLESS(!lack, "%s", lack);
}

FIXTURE_TEARDOWN(hogged)
{
	hog_clean(&self->hog);
	device_close(&self->dev);
}

FIXTURE_VARIANT(hogged) {
	uint32_t kind;
	bool counter;
};

FIXTURE_VARIANT_ADD(hogged, timer) { .kind = GPROF_KIND_CPU };
FIXTURE_VARIANT_ADD(hogged, counter) { .kind = GPROF_KIND_CPU, .counter = true };
FIXTURE_VARIANT_ADD(hogged, tracepoint) { .kind = GPROF_KIND_TRACEPOINT };
FIXTURE_VARIANT_ADD(hogged, sched) { .kind = GPROF_KIND_SCHED };
FIXTURE_VARIANT_ADD(hogged, trace) { .kind = GPROF_KIND_TRACE };
FIXTURE_VARIANT_ADD(hogged, block) { .kind = GPROF_KIND_BLOCK };
FIXTURE_VARIANT_ADD(hogged, mutex) { .kind = GPROF_KIND_MUTEX };
FIXTURE_VARIANT_ADD(hogged, alloc) { .kind = GPROF_KIND_ALLOC };
FIXTURE_VARIANT_ADD(hogged, heap) { .kind = GPROF_KIND_HEAP };
FIXTURE_VARIANT_ADD(hogged, task) { .kind = GPROF_KIND_TASK };

static void set_params(FIXTURE_DATA(hogged) *self, const FIXTURE_VARIANT(hogged) *variant)
{
	uint32_t what = variant->counter ? PERF_COUNT_SW_PAGE_FAULTS : PERF_COUNT_SW_CPU_CLOCK;

	memset(&self->params, 0, sizeof(self->params));
	switch (variant->kind) {
	case GPROF_KIND_CPU:
		self->params.cpu = event_params(PERF_TYPE_SOFTWARE, what,
						variant->counter ? 1 : 1000000);
		break;
	case GPROF_KIND_TRACEPOINT:
		self->params.profile = (struct gprof_tracepoint_params){
			.size = sizeof(self->params.profile), .period = 1,
			.tracepoint = tracepoint_id("sched", "sched_switch"),
		};
		break;
	case GPROF_KIND_SCHED:
		self->params.sched.size = sizeof(self->params.sched);
		break;
	case GPROF_KIND_TRACE:
		self->params.trace.size = sizeof(self->params.trace);
		self->params.trace.flags = GPROF_TRACE_F_SYSCALLS | GPROF_TRACE_F_IRQS;
		break;
	case GPROF_KIND_BLOCK:
	case GPROF_KIND_MUTEX:
		self->params.block = (struct gprof_block_params){
			.size = sizeof(self->params.block), .period = 1,
		};
		break;
	case GPROF_KIND_ALLOC:
	case GPROF_KIND_HEAP:
		self->params.alloc = (struct gprof_alloc_params){
			.size = sizeof(self->params.alloc), .period = 4096,
			.flags = GPROF_ALLOC_F_SLAB | GPROF_ALLOC_F_PAGES,
		};
		break;
	case GPROF_KIND_TASK:
		self->params.task.size = sizeof(self->params.task);
		break;
	}
}

static void set_up(FIXTURE_DATA(hogged) *self, const FIXTURE_VARIANT(hogged) *variant,
		   uint32_t target)
{
	int id = target == GPROF_TARGET_SYSTEM ? 0 : getpid();

	set_params(self, variant);
	self->setup = device_setup_kind(variant->kind, target, id, &self->params);
	if (variant->kind == GPROF_KIND_ALLOC || variant->kind == GPROF_KIND_HEAP)
		self->setup.stack |= GPROF_STACK_F_KERNEL;
}

/*
 * Where the hog is, and before it: whatever the caller sleeps for is timed on that CPU, whose
 * thread for that does not run on PREEMPT_RT.
 */
static int go_there(int cpu)
{
	if (sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){ HOG_PRIORITY + 1 }))
		return -errno;
	return pin_to(cpu);
}

/*
 * A source that has not ended yet counts an event, and takes that back when it finds no ring, which
 * an emulator's CPU that stands still does late: the least of some. @there: the caller has the hog's
 * CPU.
 */
static void settled_stats(FIXTURE_DATA(hogged) *self, bool there, struct gprof_stats *st)
{
	struct gprof_stats again;

	for (unsigned int i = 0; i < LOOKS; i++) {
		again = (struct gprof_stats){ 0 };
		device_stats(&self->dev, GPROF_STATS_ALL_CPUS, &again);
		if (!i || again.out_produced + again.out_irq < st->out_produced + st->out_irq)
			*st = again;
		if (!there && !hog_goes_on(&self->hog))
			return;
		burn_ns(1000000);
	}
}

/* Keeps the thread that ends grace periods to a CPU, or to none (-1), where there is one. */
static int bind_grace(int cpu)
{
	pid_t thread = thread_named("rcu_preempt", NULL) ?: thread_named("rcu_sched", NULL);
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (cpu < 0 || cpu == i)
			CPU_SET(i, &cpus);
	return thread && sched_setaffinity(thread, sizeof(cpus), &cpus) ? -errno : 0;
}

/*
 * The hog's first sample asks for its mappings on its CPU, and the kernel defers work there:
 * none of it gets to run before the hog has ended. @grace: nor does any grace period end.
 */
static void stop_beside(struct __test_metadata *_metadata, FIXTURE_DATA(hogged) *self,
			unsigned int nth, bool there, bool grace)
{
	int cpu = change_sides(nth);
	struct gprof_stats st = { 0 }, later = { 0 };
	uint64_t begin, stopped, counted, closed;
	uint64_t limit;
	int began, stop;

	ASSERT_EQ(0, device_record(&self->dev, &self->setup))
		TH_LOG("reason %u", self->setup.out_reason);
	EXPECT_EQ(0, bind_grace(grace ? cpu : -1));
	began = hog_begin(&self->hog, cpu);
	sleep_ms(300);
	if (there)
		EXPECT_EQ(cpu, go_there(cpu));
	begin = monotonic_ns();
	stop = device_stop(&self->dev);
	stopped = monotonic_ns();
	settled_stats(self, there, &st);
	burn_ns(20000000);
	settled_stats(self, there, &later);
	counted = monotonic_ns();
	device_close(&self->dev);
	closed = monotonic_ns();
	change_sides(nth);
	sched_setscheduler(0, SCHED_OTHER, &(struct sched_param){ 0 });
	sleep_ms(20);
	limit = LIMIT_NS + self->hog.shared->still_ns;
	hog_end(&self->hog);

	ASSERT_ZEROS(began, bind_grace(-1));
	EXPECT_EQ(0, stop);
	EXPECT_GT(limit, stopped - begin);
	/* Events come while the source has not ended. */
	if (grace && self->setup.kind == GPROF_KIND_TRACE)
		EXPECT_LE(STOP_NS, stopped - begin);
	EXPECT_GT(limit, closed - counted);
	/* Events after STOP are neither produced nor lost. */
	EXPECT_EQ(st.out_produced, st.out_task + st.out_irq + st.out_nmi +
				   st.out_lost[GPROF_LOST_NO_BUFFER]);
	EXPECT_EQS(st.out_produced, later.out_produced, st.out_task, later.out_task, st.out_irq,
		   later.out_irq, st.out_nmi, later.out_nmi);
	TH_LOG("cpu %d%s, target %u: stop %llu ms, close %llu ms, produced %llu, others %lu, still %llu ms",
	       cpu, there ? " itself" : "", self->setup.target, ms_of(stopped - begin),
	       ms_of(closed - counted), ull(st.out_produced), self->hog.shared->others,
	       ms_of(limit - LIMIT_NS));
}

TEST_F(hogged, stop_and_close_come_back)
{
	static const uint32_t targets[] = { GPROF_TARGET_SYSTEM, GPROF_TARGET_PROCESS };

	for (unsigned int nth = 0; nth < 2; nth++) {
		for (unsigned int i = 0; i < 2; i++) {
			set_up(self, variant, targets[i]);
			stop_beside(_metadata, self, nth, false, nth && !i);
		}
		set_up(self, variant, targets[nth]);
		stop_beside(_metadata, self, nth, true, false);
	}
}

/* START with its reason. */
static int start(struct device *dev, uint32_t *reason)
{
	struct gprof_start start = { .size = sizeof(start) };
	int err = device_ioctl(dev->fd, GPROF_IOC_START, &start);

	*reason = start.out_reason;
	return err;
}

/* No grace period passes beside a hog. Where the kernel waits for one that is the answer. */
static bool is_answer(int err, uint32_t reason)
{
	return !err || (err == -EAGAIN && reason == GPROF_REASON_GRACE);
}

/* Sets how long the longest of the calls took. */
static void begin_beside(struct __test_metadata *_metadata, FIXTURE_DATA(hogged) *self,
			 unsigned int starts, uint64_t *longest)
{
	uint64_t began = monotonic_ns(), now;
	uint32_t reason;
	int err;

	self->setup.out_reason = 0;
	err = device_setup(&self->dev, &self->setup);
	now = monotonic_ns();
	TH_LOG("SETUP: %d, reason %u, after %llu ms", err, self->setup.out_reason,
	       ms_of(now - began));
	*longest = now - began;
	EXPECT_TRUE(is_answer(err, self->setup.out_reason));
	for (unsigned int i = 0; !err && i < starts; i++) {
		began = monotonic_ns();
		err = start(&self->dev, &reason);
		now = monotonic_ns();
		TH_LOG("START: %d, reason %u, after %llu ms", err, reason, ms_of(now - began));
		if (now - began > *longest)
			*longest = now - began;
		EXPECT_TRUE(is_answer(err, reason));
		if (!err)
			EXPECT_EQ(0, device_stop(&self->dev));
	}
	began = monotonic_ns();
	device_close(&self->dev);
	now = monotonic_ns();
	if (now - began > *longest)
		*longest = now - began;
}

/* A call that was given up is in no caller's way when the hog has gone. */
TEST_F(hogged, setup_and_start_come_back)
{
	static const uint32_t targets[] = { GPROF_TARGET_SYSTEM, GPROF_TARGET_PROCESS };
	uint64_t longest, still;
	uint32_t reason;

	SKIP_UNLESS(file_number("/sys/kernel/realtime") == 1, "no limit but on PREEMPT_RT yet");
	for (unsigned int nth = 0; nth < 2; nth++) {
		set_up(self, variant, targets[nth]);
		ASSERT_EQ(0, hog_begin(&self->hog, change_sides(nth)));
		sleep_ms(50);
		/* A second one has what STOP has left to wait for. */
		begin_beside(_metadata, self, 2 - nth, &longest);
		sleep_ms(20);
		still = self->hog.shared->still_ns;
		hog_end(&self->hog);
		EXPECT_GT(LIMIT_NS + still, longest);
		EXPECT_ZEROS(device_setup(&self->dev, &self->setup), start(&self->dev, &reason),
			     device_stop(&self->dev));
		device_close(&self->dev);
	}
}

/* ---- what is told beside it ---- */

FIXTURE(beside) {
	struct gprof_cpu_params timer;
	struct gprof_trace_params trace;
	struct gprof_setup setup;
	struct device timer_dev;
	struct device dev;
	struct child child;
	struct genl genl;
	struct hog hog;
	bool mapped;
};

FIXTURE_SETUP(beside)
{
	const char *lack = hog_prepare(&self->hog);

	self->genl.fd = -1;
	SKIP_ALL_UNLESS(!lack, "%s", lack);
	self->timer = timer_params(100000);
	self->trace.size = sizeof(self->trace);
}

FIXTURE_TEARDOWN(beside)
{
	hog_clean(&self->hog);
	child_end(&self->child);
	device_close(&self->dev);
	device_close(&self->timer_dev);
	if (self->genl.fd >= 0)
		genl_close(&self->genl);
}

static int record_all(FIXTURE_DATA(beside) *self)
{
	struct gprof_setup setup = device_setup_of(GPROF_TARGET_SYSTEM, 0, &self->timer);

	setup.buffer_size = 32768;
	return device_record(&self->timer_dev, &setup);
}

static void move_there(void *cpu, int step)
{
	if (!step)
		pin_to(*(int *)cpu);
}

/* A recorder of the child that fires when it has waited for its CPU for 20 ms. */
static int record_delay(FIXTURE_DATA(beside) *self)
{
	struct gprof_trigger t = trigger_of(GPROF_TRIGGER_DELAY, 20000000);
	int err;

	self->setup = device_setup_kind(GPROF_KIND_TRACE, GPROF_TARGET_PROCESS, self->child.pid,
					&self->trace);
	err = device_setup(&self->dev, &self->setup);
	err = err ?: device_trigger(&self->dev, &t);
	return err ?: device_start(&self->dev);
}

static bool hears_firing(FIXTURE_DATA(beside) *self)
{
	struct pollfd pfd = { .fd = self->genl.fd, .events = POLLIN };

	while (self->genl.next < self->genl.length || poll(&pfd, 1, 2000) == 1) {
		if (genl_receive(&self->genl) != 1)
			return false;
		if (self->genl.cmd == GPROF_CMD_RECORDER_FIRED &&
		    genl_u64(self->genl.attrs[GPROF_A_RECORDER_ID]) == self->setup.out_id)
			return true;
	}
	return false;
}

/* Where the owner's thread has gone to sleep for a while, it goes on elsewhere. */
static int hog_the_thread(struct hog *hog, int cpu)
{
	pid_t thread = thread_for(0, NULL);
	cpu_set_t there, all;
	int err;

	sched_getaffinity(thread, sizeof(all), &all);
	CPU_ZERO(&there);
	CPU_SET(cpu, &there);
	if (sched_setaffinity(thread, sizeof(there), &there))
		return -errno;
	sleep_ms(THREAD_LOOKS_MS);
	err = hog_begin(hog, cpu);
	return sched_setaffinity(thread, sizeof(all), &all) ? -errno : err;
}

/*
 * A task waits for the CPU that the hog has, and its wait has no end. The owner's thread has
 * to find it, where a recorder of all gives it work on that CPU, and where it slept there.
 */
TEST_F(beside, trigger_fires_and_is_announced)
{
	struct gprof_trigger_event fired = { .size = sizeof(fired) };
	struct pollfd pfd = { .events = POLLPRI };
	int cpu, began, polled, took, i;
	bool heard;

	ASSERT_ZEROS(genl_open(&self->genl), genl_listen(&self->genl));
	for (i = 0; i < 4; i++) {
		cpu = change_sides(i % 2);
		ASSERT_ZEROS(child_fork(&self->child, move_there, &cpu), child_step(&self->child));
		child_asleep(&self->child);
		if (i < 2)
			ASSERT_EQ(0, record_all(self));
		ASSERT_EQ(0, record_delay(self));
		began = i < 2 ? hog_begin(&self->hog, cpu) : hog_the_thread(&self->hog, cpu);
		sleep_ms(200);
		child_begin(&self->child);
		pfd.fd = self->dev.fd;
		polled = poll(&pfd, 1, 2000);
		took = device_ioctl(self->dev.fd, GPROF_IOC_TRIGGER_READ, &fired);
		heard = hears_firing(self);
		hog_end(&self->hog);

		ASSERT_EQ(0, began);
		EXPECT_EQS(1, polled, 0, took, self->child.pid, fired.tid, cpu, fired.cpu);
		EXPECT_TRUES(fired.flags & GPROF_TRIGGER_EVENT_F_GOES_ON, heard);
		child_end(&self->child);
		device_close(&self->dev);
		device_close(&self->timer_dev);
	}
}

static void read_others(struct device *dev, int cpu)
{
	for (unsigned int i = 0; i < dev->nr_cpus; i++) {
		if (i != (unsigned int)cpu && dev->rings[i].head)
			dev->rings[i].tail->tail = dev->rings[i].head->head;
	}
}

static bool is_half_full(const struct device *dev, int cpu)
{
	return dev->rings[cpu].head->head - dev->rings[cpu].tail->tail >= dev->data_size / 2;
}

/* Sleeps until a half of the ring of a CPU is full; the other rings wake too. */
static bool is_woken_for(struct device *dev, int cpu)
{
	struct pollfd pfd = { .fd = dev->fd, .events = POLLIN };
	uint64_t end = monotonic_ns() + HOG_NS / 3 * 2;

	dev->rings[cpu].tail->tail = dev->rings[cpu].head->head;
	while (monotonic_ns() < end && !is_half_full(dev, cpu)) {
		read_others(dev, cpu);
		if (poll(&pfd, 1, HOG_NS / 3 / 1000000) != 1)
			return false;
	}
	return is_half_full(dev, cpu);
}

TEST_F(beside, reader_is_woken)
{
	bool woken, full;
	int cpu, began;

	for (unsigned int nth = 0; nth < 2; nth++) {
		cpu = change_sides(nth);
		ASSERT_EQ(0, record_all(self));
		began = hog_begin(&self->hog, cpu);
		woken = is_woken_for(&self->timer_dev, cpu);
		full = is_half_full(&self->timer_dev, cpu);
		hog_end(&self->hog);
		device_close(&self->timer_dev);
		ASSERT_EQ(0, began);
		SKIP_UNLESS(woken || full, "too slow here to fill a ring");
		EXPECT_TRUE(woken);
	}
}

static void note_map(void *ctx, const struct gprof_map_rec *map)
{
	FIXTURE_DATA(beside) *self = ctx;

	self->mapped |= map->process.pid == (uint32_t)self->hog.pid;
}

/* The hog's samples have its mappings read, and written to the ring of its CPU. */
TEST_F(beside, mappings_reach_the_ring_of_its_cpu)
{
	struct gprof_setup setup;
	struct reader reader;
	int cpu, began;
	uint64_t end;

	self->timer = timer_params(1000000);
	for (unsigned int nth = 0; nth < 2; nth++) {
		cpu = change_sides(nth);
		setup = device_setup_of(GPROF_TARGET_SYSTEM, 0, &self->timer);
		ASSERT_EQ(0, reader_record(&reader, &self->timer_dev, &setup, NULL, self));
		reader.on_map = note_map;
		self->mapped = false;
		began = hog_begin(&self->hog, cpu);
		end = monotonic_ns() + LIMIT_NS;
		while (!self->mapped && monotonic_ns() < end) {
			sleep_ms(10);
			ASSERT_LE(0, reader_read_cpu(&reader, cpu));
		}
		hog_end(&self->hog);
		ASSERT_EQ(0, began);
		EXPECT_TRUE(self->mapped);
		EXPECT_STREQ("", reader.error);
		reader_close(&reader);
	}
}

static void do_nothing(int signal)
{
}

/*
 * The next call waits until the source has stopped, for as long as it takes, or a signal. This
 * call is one that waits for nothing else, and that the kind does not have. On a kernel that lets
 * others run for a while nothing may be left.
 */
TEST_F(beside, what_stop_has_left_is_waited_for_until_a_signal)
{
	struct gprof_block_params params = { .size = sizeof(params), .period = 1 };
	struct gprof_rate rate = { .size = sizeof(rate), .hz = 100 };
	struct itimerval second = { .it_value.tv_sec = 1 };
	struct sigaction action = { .sa_handler = do_nothing };
	uint64_t begin, took;
	int cpu, began, stop, ret;

	sigaction(SIGALRM, &action, NULL);
	self->setup = device_setup_kind(GPROF_KIND_BLOCK, GPROF_TARGET_PROCESS, getpid(), &params);
	for (unsigned int nth = 0; nth < 2; nth++) {
		cpu = change_sides(nth);
		ASSERT_EQ(0, device_record(&self->dev, &self->setup));
		began = hog_begin(&self->hog, cpu);
		sleep_ms(300);
		stop = device_stop(&self->dev);
		setitimer(ITIMER_REAL, &second, NULL);
		begin = monotonic_ns();
		ret = device_ioctl(self->dev.fd, GPROF_IOC_RATE, &rate);
		took = monotonic_ns() - begin;
		setitimer(ITIMER_REAL, &(struct itimerval){ 0 }, NULL);
		hog_end(&self->hog);

		ASSERT_EQ(0, began);
		EXPECT_EQ(0, stop);
		EXPECT_GT(LIMIT_NS, took);
		EXPECT_EQ(true, ret == -EINTR || ret == -EOPNOTSUPP);
		TH_LOG("cpu %d: %d after %llu ms", cpu, ret, ms_of(took));
		EXPECT_ZEROS(device_start(&self->dev), device_stop(&self->dev));
		device_close(&self->dev);
	}
}

TEST_HARNESS_MAIN
