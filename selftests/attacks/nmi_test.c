// SPDX-License-Identifier: GPL-2.0-only
/*
 * nmi_test: NMIs on amd64, where emulated CPUs have no counter that gives them.
 *
 * They are sent by hand: through the local APIC's registers, which /dev/mem shows when
 * the kernel was started with iomem=relaxed. The event is the tracepoint nmi:nmi_handler;
 * its samples are taken in the NMI. What they interrupt is the worker that writes MAP
 * records into the same ring, over and over, since each generation of a millisecond wants
 * them again; and the timer samples of a second recorder, with which they share the
 * scratch memory. (printk:console, which happens in tasks and in NMIs, cannot be the event:
 * in an NMI that tracepoint is a warning of the kernel, for perf too.)
 *
 * The second way needs no APIC: a kprobe that is a breakpoint is handled in the same
 * context as a hardware breakpoint on the kernel (irqentry_nmi_enter()).
 */
#include "harness.h"
#include "device.h"
#include "reader.h"
#include "workload.h"

#define APIC		0xfee00000UL
#define APIC_ICR_LOW	0x300
#define APIC_ICR_HIGH	0x310
#define ICR_NMI		0x400
#define ICR_BUSY	0x1000
#define ICR_ASSERT	0x4000

#define NMIS		2000
#define IGNORE_LOGLEVEL	"/sys/module/printk/parameters/ignore_loglevel"
#define PRINTK		"/proc/sys/kernel/printk"
#define KPROBES		"/sys/kernel/tracing/kprobe_events"
#define OPTIMIZATION	"/proc/sys/debug/kprobes-optimization"

FIXTURE(nmi) {
	struct gprof_tracepoint_params profile;
	struct gprof_cpu_params timer;
	struct gprof_setup setup, timer_setup;
	struct device dev, timer_dev;
	struct reader reader, timer_reader;
	char loglevel[64];
};

FIXTURE_SETUP(nmi)
{
#ifndef __x86_64__
	SKIP_ALL_UNLESS(false, "amd64 only: on arm64 the counters of the PMU give NMIs");
#endif
	SKIP_ALL_UNLESS(!geteuid(), "must be root");
	self->profile = (struct gprof_tracepoint_params){
		.size = sizeof(self->profile), .period = 1,
	};
	self->setup = device_setup_kind(GPROF_KIND_TRACEPOINT, GPROF_TARGET_SYSTEM, 0,
					&self->profile);
	self->setup.stack |= GPROF_STACK_F_KERNEL;
	self->setup.buffer_size = 1 << 20;
	self->setup.generation_ns = 1000000;
	self->timer = timer_params(200000);
	self->timer_setup = device_setup_of(GPROF_TARGET_SYSTEM, 0, &self->timer);
	self->timer_setup.stack |= GPROF_STACK_F_KERNEL;
	/*
	 * Nobody shall wait for the console: of each NMI that nobody claims the kernel
	 * says so, as an emergency and with interrupts off. With such messages on a
	 * serial line 5.10 takes one timer interrupt a second.
	 */
	file_read(PRINTK, self->loglevel, sizeof(self->loglevel));
	file_write(IGNORE_LOGLEVEL, "N");
	file_write(PRINTK, "0");
}

FIXTURE_TEARDOWN(nmi)
{
	reader_close(&self->reader);
	reader_close(&self->timer_reader);
	file_write(PRINTK, self->loglevel);
	file_write(IGNORE_LOGLEVEL, "Y");
}

static void record(struct __test_metadata *_metadata, FIXTURE_DATA(nmi) *self, uint64_t tracepoint)
{
	self->profile.tracepoint = tracepoint;
	ASSERT_ZEROS(reader_record(&self->reader, &self->dev, &self->setup, NULL, NULL),
		     reader_record(&self->timer_reader, &self->timer_dev, &self->timer_setup,
				   NULL, NULL));
}

static void read_both(struct __test_metadata *_metadata, FIXTURE_DATA(nmi) *self)
{
	EXPECT_LE(0, reader_read(&self->reader)) TH_LOG("%s", self->reader.error);
	EXPECT_LE(0, reader_read(&self->timer_reader)) TH_LOG("%s", self->timer_reader.error);
}

static struct gprof_stats finish(struct __test_metadata *_metadata, FIXTURE_DATA(nmi) *self)
{
	struct gprof_stats st = { 0 }, timer = { 0 };

	EXPECT_ZEROS(device_stop(&self->dev), device_stop(&self->timer_dev));
	read_both(_metadata, self);
	EXPECT_EQ(0, device_stats(&self->dev, GPROF_STATS_ALL_CPUS, &st));
	EXPECT_EQ(0, device_stats(&self->timer_dev, GPROF_STATS_ALL_CPUS, &timer));
	EXPECT_EQ(st.out_produced, self->reader.samples + device_lost(&st));
	EXPECT_EQ(st.out_produced, st.out_nmi + st.out_irq + st.out_task);
	EXPECT_EQ(timer.out_produced, self->timer_reader.samples + device_lost(&timer));
	EXPECT_LT(0, timer.out_irq);
	TH_LOG("produced %llu: nmi %llu irq %llu task %llu; lost: full %llu nested %llu; timer produced %llu",
	       ull(st.out_produced), ull(st.out_nmi), ull(st.out_irq), ull(st.out_task),
	       ull(st.out_lost[GPROF_LOST_FULL]), ull(st.out_lost[GPROF_LOST_NESTED]),
	       ull(timer.out_produced));
	return st;
}

static volatile uint32_t *map_apic(void)
{
	int fd = open("/dev/mem", O_RDWR | O_SYNC | O_CLOEXEC);
	void *at;

	if (fd < 0)
		return NULL;
	at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, APIC);
	close(fd);
	return at == MAP_FAILED ? NULL : at;
}

/* To the CPU with this APIC id, as soon as the last one is gone. */
static void send_nmi(volatile uint32_t *apic, uint32_t id)
{
	while (apic[APIC_ICR_LOW / 4] & ICR_BUSY)
		;
	apic[APIC_ICR_HIGH / 4] = id << 24;
	apic[APIC_ICR_LOW / 4] = ICR_NMI | ICR_ASSERT;
}

#define MAPPINGS	200

/* A process with many mappings, for there to be much to write. */
static void burn_with_mappings(void *arg, int step)
{
	size_t page = sysconf(_SC_PAGESIZE);
	char *all = mmap(NULL, 2 * MAPPINGS * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	/* every other page: neighbours would become one */
	for (int i = 0; i < MAPPINGS && all != MAP_FAILED; i++)
		mprotect(all + 2 * i * page, page, PROT_READ | PROT_EXEC);
	pin_to(1);
	burn_until(UINT64_MAX);
}

TEST_F(nmi, samples_that_interrupt_other_producers_add_up)
{
	volatile uint32_t *apic;
	struct child child;
	struct gprof_stats st;
	long long id;

	apic = map_apic();
	SKIP_UNLESS(apic, "the local APIC cannot be mapped: boot with iomem=relaxed");
	SKIP_UNLESS(online_cpu(1) == 1, "needs two CPUs");
	id = tracepoint_id("nmi", "nmi_handler");
	ASSERT_LT(0, id);
	ASSERT_ZEROS(child_fork(&child, burn_with_mappings, NULL), child_begin(&child));
	record(_metadata, self, id);
	pin_to(online_cpu(0));
	/* a CPU that is emulated may stand still meanwhile, tell little, and take many for one */
	for (int i = 0; i < NMIS || (i < 10 * NMIS && (self->reader.maps <= 10 * MAPPINGS ||
						   self->reader.samples <= NMIS / 2)); i++) {
		send_nmi(apic, 1);
		/* at a different place of the other's work each time */
		usleep(200 + i % 97);
		read_both(_metadata, self);
	}
	child_end(&child);
	st = finish(_metadata, self);
	EXPECT_LT(NMIS / 2, st.out_nmi);
	EXPECT_EQS(st.out_produced, st.out_nmi, self->reader.samples, self->reader.nmi);
	/* there was something to interrupt */
	EXPECT_LT(10 * MAPPINGS, self->reader.maps);
	TH_LOG("%llu mappings told", ull(self->reader.maps));
}

/* Beyond its first bytes a function has no place for ftrace: the probe is a breakpoint. */
static int add_kprobe(void)
{
	char text[128];
	int ret = -ENOENT;

	if (file_read(OPTIMIZATION, text, sizeof(text)) || file_write(OPTIMIZATION, "0"))
		return -EOPNOTSUPP;
	tracepoint_id("nmi", "nmi_handler");	/* mounts tracefs */
	/* an instruction begins somewhere there */
	for (unsigned int offset = 6; offset < 64; offset++) {
		snprintf(text, sizeof(text), "p:gprof_test/breakpoint hrtimer_interrupt+%u",
			 offset);
		ret = file_write(KPROBES, text);
		if (!ret)
			break;
	}
	return ret;
}

TEST_F(nmi, samples_of_breakpoints_in_the_kernel_add_up)
{
	struct gprof_stats st;
	long long id;
	int i, ret;

	ret = add_kprobe();
	SKIP_UNLESS(!ret, "no kprobe at hrtimer_interrupt: %s", strerror(-ret));
	id = tracepoint_id("gprof_test", "breakpoint");
	ASSERT_LT(0, id);
	record(_metadata, self, id);
	for (i = 0; i < 20; i++) {
		burn_ns(20000000);
		read_both(_metadata, self);
	}
	st = finish(_metadata, self);
	EXPECT_LT(100, st.out_produced);
	/* handled as an NMI since 5.8 */
	EXPECT_EQ(st.out_produced, st.out_nmi);
	device_close(&self->dev);
	EXPECT_EQ(0, file_write(KPROBES, "-:gprof_test/breakpoint"));
	file_write(OPTIMIZATION, "1");
}

/* What says that its addresses are not for everybody is refused, by name. */
TEST_F(nmi, hardware_breakpoints_are_no_event_of_kind_cpu)
{
	struct gprof_setup setup = self->timer_setup;
	struct gprof_cpu_params params = event_params(PERF_TYPE_BREAKPOINT, 0, 1000);

	setup.params = (uintptr_t)&params;
	EXPECT_EQ(-EOPNOTSUPP, device_setup(&self->dev, &setup));
	EXPECT_EQ(GPROF_REASON_EVENT, setup.out_reason);
}

TEST_HARNESS_MAIN
