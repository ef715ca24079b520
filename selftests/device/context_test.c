// SPDX-License-Identifier: GPL-2.0-only
/*
 * context_test: in which context samples are taken, and counted as taken.
 *
 * Overflows of hardware counters come as NMIs on amd64, and on arm64 where the
 * kernel has pseudo-NMIs and was told to use them; else as interrupts, as on riscv64. The timer
 * is an interrupt everywhere, but for what is due when its task is switched out
 * with interrupts off. A tracepoint is where the task is.
 */
#include <sys/utsname.h>
#include "harness.h"
#include "device.h"
#include "reader.h"
#include "workload.h"

enum context { NMI, IRQ, TASK };

static bool pseudo_nmi(void)
{
	char line[4096];

	return !file_read("/proc/cmdline", line, sizeof(line)) &&
	       strstr(line, "irqchip.gicv3_pseudo_nmi=1");
}

static enum context hardware_context(void)
{
	struct utsname name;

	uname(&name);
	if (!strcmp(name.machine, "riscv64"))
		return IRQ;
	return !strcmp(name.machine, "aarch64") && !pseudo_nmi() ? IRQ : NMI;
}

struct outcome {
	struct gprof_stats st;
	struct reader reader;	/* its numbers alone */
};

/* Reads all that a stopped recorder has. */
static struct outcome outcome(struct __test_metadata *_metadata, struct device *dev)
{
	struct outcome o = { 0 };

	EXPECT_EQ(0, reader_init(&o.reader, dev));
	READER_END(&o.reader, &o.st);
	EXPECT_EQ(o.st.out_produced, o.st.out_nmi + o.st.out_irq + o.st.out_task);
	TH_LOG("produced=%llu nmi=%llu irq=%llu task=%llu", ull(o.st.out_produced),
	       ull(o.st.out_nmi), ull(o.st.out_irq), ull(o.st.out_task));
	reader_free(&o.reader);
	return o;
}

static void expect_context(struct __test_metadata *_metadata, const struct outcome *o,
			   enum context context)
{
	EXPECT_LT(0, o->st.out_produced);
	EXPECT_EQ(context == NMI ? o->st.out_produced : 0, o->st.out_nmi);
	EXPECT_EQ(context == IRQ ? o->st.out_produced : 0, o->st.out_irq);
	EXPECT_EQ(context == TASK ? o->st.out_produced : 0, o->st.out_task);
	/* what the records say */
	EXPECT_EQS(context == NMI ? o->reader.samples : 0, o->reader.nmi,
		   context == IRQ ? o->reader.samples : 0, o->reader.irq);
}

static void burn_in_both_modes(void)
{
	uint64_t end = thread_cpu_ns() + 1000000000;
	char zeros[65536];
	int fd = open("/dev/zero", O_RDONLY);

	while (thread_cpu_ns() < end)
		if (read(fd, zeros, sizeof(zeros)) < 0)
			break;
	close(fd);
}

TEST(timer_samples_are_taken_in_interrupts_but_for_few)
{
	struct gprof_cpu_params params = timer_params(1000000);
	struct gprof_setup setup = device_setup_of(GPROF_TARGET_THREAD, gettid(), &params);
	struct device dev;
	struct outcome o;

	params.flags = GPROF_CPU_F_KERNEL;
	setup.stack |= GPROF_STACK_F_KERNEL;
	ASSERT_EQ(0, device_record(&dev, &setup));
	burn_in_both_modes();
	o = outcome(_metadata, &dev);
	EXPECT_LT(0, o.st.out_produced);
	EXPECT_EQS(0, o.st.out_nmi, 0, o.reader.nmi);
	EXPECT_LE(o.st.out_produced * 9 / 10, o.st.out_irq);
	EXPECT_EQ(o.reader.samples + device_lost(&o.st), o.reader.irq + o.st.out_task);
	EXPECT_LT(0, o.reader.kernel);
	device_close(&dev);
}

/* Of a thread, and of the whole system. */
TEST(hardware_samples_are_all_taken_in_nmis_where_there_are_any)
{
	int refused = perf_refuses(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, false);
	struct gprof_cpu_params params = event_params(PERF_TYPE_HARDWARE,
						      PERF_COUNT_HW_CPU_CYCLES, 1000000);

	SKIP_UNLESS(!refused, "perf has no cycles here: %s", strerror(refused));
	perf_at_any_rate();
	for (int all = 0; all < 2; all++) {
		struct gprof_setup setup = device_setup_of(all ? GPROF_TARGET_SYSTEM :
							   GPROF_TARGET_THREAD,
							   all ? 0 : gettid(), &params);
		struct device dev;
		struct outcome o;

		params.flags = GPROF_CPU_F_KERNEL | (all ? GPROF_CPU_F_IDLE : 0);
		setup.stack |= GPROF_STACK_F_KERNEL;
		ASSERT_EQ(0, device_record(&dev, &setup));
		burn_in_both_modes();
		o = outcome(_metadata, &dev);
		expect_context(_metadata, &o, hardware_context());
		device_close(&dev);
	}
}

/* ---- tracepoints: the kind profile ---- */

FIXTURE(tracepoint) {
	struct gprof_tracepoint_params params;
	struct gprof_setup setup;
	struct device dev;
};

FIXTURE_SETUP(tracepoint)
{
	long long id = tracepoint_id("sched", "sched_process_fork");

	ASSERT_LT(0, id);
	self->params = (struct gprof_tracepoint_params){
		.size = sizeof(self->params), .tracepoint = id, .period = 1,
	};
	self->setup = device_setup_kind(GPROF_KIND_TRACEPOINT, GPROF_TARGET_PROCESS, getpid(),
					&self->params);
}

FIXTURE_TEARDOWN(tracepoint)
{
	device_close(&self->dev);
}

static void fork_times(int n)
{
	while (n--)
		IN_CHILD(0);
}

TEST_F(tracepoint, every_event_is_a_sample_in_task_context)
{
	struct outcome o;

	ASSERT_EQ(0, device_record(&self->dev, &self->setup))
		TH_LOG("reason %u", self->setup.out_reason);
	fork_times(123);
	o = outcome(_metadata, &self->dev);
	expect_context(_metadata, &o, TASK);
	EXPECT_EQS(123, o.st.out_produced, 123, o.reader.samples, 123, o.reader.kernel, 123, o.st.out_count);
}

/* perf swaps the counters of parent and child at a switch: the remainder must not die. */
TEST_F(tracepoint, samples_of_a_period_stand_for_all_events)
{
	struct outcome o;

	self->params.period = 10;
	ASSERT_EQ(0, device_record(&self->dev, &self->setup));
	fork_times(1000);
	o = outcome(_metadata, &self->dev);
	EXPECT_EQ(1000, o.st.out_count);
	EXPECT_WITHIN(700, o.reader.weight, 1300);
}

/* One fork here, and 50 by the child. */
static void fork_elsewhere(void)
{
	IN_CHILD((fork_times(50), 0));
}

TEST_F(tracepoint, events_of_others_are_left_out)
{
	struct outcome o;

	/* the target is the parent; this one forks from outside */
	self->setup = device_setup_kind(GPROF_KIND_TRACEPOINT, GPROF_TARGET_THREAD, getpid(),
					&self->params);
	ASSERT_EQ(0, device_record(&self->dev, &self->setup));
	fork_elsewhere();
	o = outcome(_metadata, &self->dev);
	EXPECT_EQ(1, o.st.out_produced);
}

TEST_F(tracepoint, whole_system_is_recorded)
{
	struct outcome o;

	self->setup = device_setup_kind(GPROF_KIND_TRACEPOINT, GPROF_TARGET_SYSTEM, 0,
					&self->params);
	ASSERT_EQ(0, device_record(&self->dev, &self->setup));
	fork_elsewhere();
	o = outcome(_metadata, &self->dev);
	EXPECT_LE(51, o.st.out_produced);
	EXPECT_EQ(o.st.out_produced, o.st.out_task);
}

struct frames {
	uint64_t user, kernel;
};

static void sum_frames(void *ctx, const struct reader_sample *s)
{
	struct frames *f = ctx;

	if (!s->stack)
		return;
	f->user += s->stack->nr_user;
	f->kernel += s->stack->nr_kernel;
}

struct kernel_stack {
	uint16_t nr;
	uint64_t frames[128];
	uint64_t others;	/* samples that have another one */
};

static void compare_stack(void *ctx, const struct reader_sample *s)
{
	struct kernel_stack *k = ctx;
	size_t bytes;

	if (!s->stack) {
		k->others++;
		return;
	}
	bytes = s->stack->nr_kernel * sizeof(k->frames[0]);
	if (!k->nr) {
		k->nr = s->stack->nr_kernel;
		memcpy(k->frames, s->stack->frames, bytes);
	} else if (k->nr != s->stack->nr_kernel || memcmp(k->frames, s->stack->frames, bytes)) {
		k->others++;
	}
}

/* Of so many forks, with their stacks of the kernel. */
static void read_forks(struct __test_metadata *_metadata, FIXTURE_DATA(tracepoint) *self, int n,
		       void (*on_sample)(void *ctx, const struct reader_sample *s), void *ctx)
{
	struct reader reader;

	self->setup.stack |= GPROF_STACK_F_KERNEL;
	ASSERT_EQ(0, device_record(&self->dev, &self->setup));
	fork_times(n);
	ASSERT_ZEROS(device_stop(&self->dev), reader_init(&reader, &self->dev));
	reader.ctx = ctx;
	reader.on_sample = on_sample;
	ASSERT_LT(0, reader_read(&reader)) TH_LOG("%s", reader.error);
	EXPECT_EQ(n, reader.samples);
	reader_free(&reader);
}

/* The first is found by the kernel's unwinder; the next may be by what was learnt. */
TEST_F(tracepoint, the_same_call_has_the_same_kernel_stack_each_time)
{
	struct kernel_stack stack = { 0 };

	read_forks(_metadata, self, 100, compare_stack, &stack);
	EXPECT_LE(4, stack.nr);
	EXPECT_EQ(0, stack.others);
}

TEST_F(tracepoint, samples_have_the_stacks_that_were_asked_for)
{
	struct frames frames = { 0 };

	read_forks(_metadata, self, 20, sum_frames, &frames);
	EXPECT_LES(20 * 3, frames.kernel, 20, frames.user);
}

TEST_HARNESS_MAIN
