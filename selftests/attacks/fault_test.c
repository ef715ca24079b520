// SPDX-License-Identifier: GPL-2.0-only
/*
 * fault_test: each allocation and each copy from and to the caller fails once in turn,
 * by /proc/self/fail-nth: the call says so or does without, leaves nothing behind, and
 * succeeds when it is made again.
 */
#include <linux/capability.h>
#include <sys/mount.h>
#include "harness.h"
#include "device.h"
#include "reader.h"
#include "remains.h"
#include "workload.h"

#define FAIL_NTH	"/proc/self/fail-nth"
#define MOST_FAULTS	2000	/* more in one call: something tries for ever */
#define EACH_OF		40	/* at either end of a call */
#define STEP		13	/* between, where START makes 256 members, all alike */

static void knob(const char *mechanism, const char *name, const char *value)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/kernel/debug/%s/%s", mechanism, name);
	file_write(path, value);
}

/* All allocations count, also those that may sleep; no fault is talked about. */
static void prepare_faults(void)
{
	knob("failslab", "ignore-gfp-wait", "N");
	knob("failslab", "verbose", "0");
	knob("fail_page_alloc", "ignore-gfp-wait", "N");
	knob("fail_page_alloc", "ignore-gfp-highmem", "N");
	knob("fail_page_alloc", "min-order", "0");
	knob("fail_page_alloc", "verbose", "0");
	knob("fail_usercopy", "verbose", "0");
}

FIXTURE(fault) {
	struct gprof_cpu_params params;
	struct gprof_tracepoint_params profile;
	struct gprof_setup setup;
	struct device dev;
	uint64_t recorders;
	long references, charged;
	char allowance[16];
	uint64_t cpus[16];
	void *mapped;
	size_t length;
	int nth;	/* FAIL_NTH, or -1 */
	int cgroup;
};

FIXTURE_VARIANT(fault) {
	uint32_t kind;
	uint32_t target;
	uint32_t flags;
	bool kernel;
	bool counter;	/* perf's page faults instead of the timer */
	bool allocates;	/* START does */
};

FIXTURE_VARIANT_ADD(fault, thread) {
	.kind = GPROF_KIND_CPU, .target = GPROF_TARGET_THREAD, .allocates = true,
};

FIXTURE_VARIANT_ADD(fault, process) {
	.kind = GPROF_KIND_CPU, .target = GPROF_TARGET_PROCESS, .allocates = true,
};

FIXTURE_VARIANT_ADD(fault, counters_of_process) {
	.kind = GPROF_KIND_CPU, .target = GPROF_TARGET_PROCESS, .counter = true, .allocates = true,
};

FIXTURE_VARIANT_ADD(fault, flight_of_cpus) {
	.kind = GPROF_KIND_CPU, .target = GPROF_TARGET_CPUS, .flags = GPROF_SETUP_F_FLIGHT,
	.kernel = true,
};

FIXTURE_VARIANT_ADD(fault, cgroup) {
	.kind = GPROF_KIND_CPU, .target = GPROF_TARGET_CGROUP, .kernel = true,
};

FIXTURE_VARIANT_ADD(fault, tracepoint){
	.kind = GPROF_KIND_TRACEPOINT, .target = GPROF_TARGET_SYSTEM, .kernel = true,
	.allocates = true,
};

/* least_memlock() of root without capabilities, to whom limits apply. */
static long charged(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[2] = { 0 };
	long pages = -EPIPE;
	int pipes[2];
	pid_t pid;

	if (pipe(pipes))
		return -errno;
	pid = fork();
	if (!pid) {
		/* as root still: what is tried later must lie below the hard limit */
		setrlimit(RLIMIT_MEMLOCK, &(struct rlimit){ 32 << 20, RLIM_INFINITY });
		pages = syscall(SYS_capset, &head, none) ? -errno : least_memlock();
		_exit(write(pipes[1], &pages, sizeof(pages)) != sizeof(pages));
	}
	close(pipes[1]);
	if (read(pipes[0], &pages, sizeof(pages)) != sizeof(pages))
		pages = -EPIPE;
	close(pipes[0]);
	waitpid(pid, NULL, 0);
	return pages;
}

FIXTURE_SETUP(fault)
{
	long long id;

	self->dev.fd = self->cgroup = -1;
	self->nth = open(FAIL_NTH, O_RDWR | O_CLOEXEC);
	SKIP_ALL_UNLESS(self->nth >= 0, "the kernel has no " FAIL_NTH);
	SKIP_ALL_UNLESS(!geteuid(), "must be root");
	prepare_faults();
	self->params = timer_params(1000000);
	if (variant->counter) {
		self->params.config = PERF_COUNT_SW_PAGE_FAULTS;
		self->params.period = 100;
	}
	self->setup = device_setup_of(variant->target, 0, &self->params);
	self->setup.kind = variant->kind;
	self->setup.flags = variant->flags;
	self->setup.buffer_size = 32768;
	if (variant->kernel)
		self->setup.stack |= GPROF_STACK_F_KERNEL;
	if (variant->kind == GPROF_KIND_TRACEPOINT) {
		id = tracepoint_id("sched", "sched_process_fork");
		ASSERT_LT(0, id);
		self->profile = (struct gprof_tracepoint_params){
			.size = sizeof(self->profile), .tracepoint = id, .period = 1,
		};
		self->setup.params = (uintptr_t)&self->profile;
	}
	if (variant->target == GPROF_TARGET_CPUS) {
		cpu_set_t first;

		/* who burns must be there to be seen */
		CPU_ZERO(&first);
		CPU_SET(0, &first);
		ASSERT_EQ(0, sched_setaffinity(0, sizeof(first), &first));
		self->cpus[0] = 1;
		self->setup.cpus = (uintptr_t)self->cpus;
		self->setup.cpus_size = sizeof(self->cpus);
	} else if (variant->target == GPROF_TARGET_CGROUP) {
		mkdir("/sys/fs/cgroup", 0755);
		if (access("/sys/fs/cgroup/cgroup.procs", F_OK))
			mount("none", "/sys/fs/cgroup", "cgroup2", 0, NULL);
		self->cgroup = open("/sys/fs/cgroup", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		ASSERT_LE(0, self->cgroup);
		self->setup.id = self->cgroup;
	} else if (variant->target != GPROF_TARGET_SYSTEM) {
		self->setup.id = getpid();
	}
	ASSERT_EQ(0, file_read(ALLOWANCE, self->allowance, sizeof(self->allowance)));
	ASSERT_EQ(0, file_write(ALLOWANCE, "0"));
	self->recorders = open_recorders();
	self->references = module_references();
	self->charged = charged();
	ASSERT_LT(0, self->charged);
}

FIXTURE_TEARDOWN(fault)
{
	device_close(&self->dev);
	EXPECT_EQ(self->charged, charged());
	file_write(ALLOWANCE, self->allowance);
	EXPECT_TRUE(recorders_become(self->recorders));
	EXPECT_EQ(self->references, module_references());
	close(self->nth);
	close(self->cgroup);
}

static void fail_the(FIXTURE_DATA(fault) *self, unsigned int n)
{
	char text[16];
	int length = snprintf(text, sizeof(text), "%u", n);

	/* a fault that waits may hit this very call */
	if (pwrite(self->nth, text, length, 0) != length &&
	    pwrite(self->nth, text, length, 0) != length)
		abort();
}

/* Was the fault reached? From here on there are none. */
static bool did_fail(FIXTURE_DATA(fault) *self)
{
	char text[16] = "";
	ssize_t n = pread(self->nth, text, sizeof(text) - 1, 0);
	/* the file is copied to us: if that failed, the fault was still to come */
	bool reached = n > 0 && !atoi(text);

	fail_the(self, 0);
	return reached;
}

/* An error that a failed allocation or a failed copy may give; 0: it was done without. */
static bool is_fair(int ret)
{
	return ret == 0 || ret == -ENOMEM || ret == -EFAULT;
}

/* The faults of one call: how many there were, and how it ended with each. */
struct faults {
	unsigned int nr, no_memory, no_copy, harmless;
};

static void add_fault(struct faults *f, int ret)
{
	f->nr++;
	f->no_memory += ret == -ENOMEM;
	f->no_copy += ret == -EFAULT;
	f->harmless += !ret;
}

/* How many faults could @call have? A fault that is far away counts down to it. */
static unsigned int count_faults(struct __test_metadata *_metadata, FIXTURE_DATA(fault) *self,
				 int (*prepare)(FIXTURE_DATA(fault) *self),
				 int (*call)(FIXTURE_DATA(fault) *self),
				 void (*undo)(FIXTURE_DATA(fault) *self))
{
	char text[16] = "";

	ASSERT_EQ(0, prepare(self));
	fail_the(self, MOST_FAULTS);
	ASSERT_EQ(0, call(self));
	ASSERT_LT(0, pread(self->nth, text, sizeof(text) - 1, 0));
	fail_the(self, 0);
	undo(self);
	ASSERT_LT(0, atoi(text));
	return MOST_FAULTS - atoi(text);
}

/*
 * For each n: @prepare, then @call with its nth fault, @undo where that succeeded, and
 * where it did not, once more @call without a fault, which must succeed, and @undo.
 * Of very many, all at either end, and one in STEP between.
 */
static struct faults each_fault(struct __test_metadata *_metadata, FIXTURE_DATA(fault) *self,
				const char *what, int (*prepare)(FIXTURE_DATA(fault) *self),
				int (*call)(FIXTURE_DATA(fault) *self),
				void (*undo)(FIXTURE_DATA(fault) *self))
{
	unsigned int nr = count_faults(_metadata, self, prepare, call, undo);
	struct faults f = { 0 };
	int ret, again;
	unsigned int n;
	bool reached;

	for (n = 1; n < MOST_FAULTS; n += n > EACH_OF && n + STEP + EACH_OF < nr ? STEP : 1) {
		ret = prepare(self);
		ASSERT_EQ(0, ret) TH_LOG("%s: preparing for fault %u: %s", what, n, strerror(-ret));
		fail_the(self, n);
		ret = call(self);
		reached = did_fail(self);
		if (reached) {
			add_fault(&f, ret);
			EXPECT_TRUE(is_fair(ret))
				TH_LOG("%s: fault %u gave %s", what, n, strerror(-ret));
		} else {
			EXPECT_EQ(0, ret);
		}
		if (ret) {
			again = call(self);
			EXPECT_EQ(0, again)
				TH_LOG("%s after fault %u (%s): %s", what, n, strerror(-ret),
				       strerror(-again));
		}
		undo(self);
		if (!reached)
			break;
	}
	EXPECT_GT(MOST_FAULTS, n);
	TH_LOG("%s: %u of %u faults, %u ENOMEM, %u EFAULT, %u harmless", what, f.nr, nr,
	       f.no_memory, f.no_copy, f.harmless);
	return f;
}

#define EACH_FAULT(_what, _prepare, _call, _undo)			\
	each_fault(_metadata, self, _what, _prepare, _call, _undo)

static int prepare_nothing(FIXTURE_DATA(fault) *self)
{
	return 0;
}

static int call_open(FIXTURE_DATA(fault) *self)
{
	self->dev.fd = device_open();
	return self->dev.fd < 0 ? self->dev.fd : 0;
}

static void undo_all(FIXTURE_DATA(fault) *self)
{
	device_close(&self->dev);
}

TEST_F(fault, every_fault_of_open_is_an_error_and_leaves_nothing)
{
	struct faults f;

	f = EACH_FAULT("open", prepare_nothing, call_open, undo_all);
	EXPECT_LT(0, f.no_memory);
}

static int call_setup(FIXTURE_DATA(fault) *self)
{
	struct gprof_setup setup = self->setup;
	int ret = device_ioctl(self->dev.fd, GPROF_IOC_SETUP, &setup);

	if (!ret) {
		self->dev.nr_cpus = setup.out_nr_cpus;
		self->dev.data_size = setup.out_data_size;
		self->dev.flight = setup.flags & GPROF_SETUP_F_FLIGHT;
	} else if (ret == -EBUSY) {
		/* it was done, and only the answer could not be delivered */
		struct gprof_info info = { .size = sizeof(info) };

		if (device_ioctl(self->dev.fd, GPROF_IOC_INFO, &info))
			return ret;
		self->dev.nr_cpus = info.out_nr_cpus;
		self->dev.data_size = 32768;
		ret = 0;
	}
	return ret;
}

TEST_F(fault, every_fault_of_setup_is_an_error_and_leaves_nothing)
{
	struct faults f;

	f = EACH_FAULT("SETUP", call_open, call_setup, undo_all);
	/* pages of two rings of 32 KiB, and all that goes with them */
	EXPECT_LT(20, f.no_memory);
}

static int prepare_mapping(FIXTURE_DATA(fault) *self)
{
	return call_open(self) ?: call_setup(self);
}

static int call_mmap(FIXTURE_DATA(fault) *self, uint64_t offset, size_t length, int protection)
{
	void *at = mmap(NULL, length, protection, MAP_SHARED, self->dev.fd, offset);

	if (at == MAP_FAILED)
		return -errno;
	self->mapped = at;
	self->length = length;
	return 0;
}

/* Not within the call: munmap() wants memory too. */
static void undo_mmap(FIXTURE_DATA(fault) *self)
{
	munmap(self->mapped, self->length);
	device_close(&self->dev);
}

static int call_mmap_ring(FIXTURE_DATA(fault) *self)
{
	return call_mmap(self, GPROF_MMAP_RING(0),
			 sysconf(_SC_PAGESIZE) + 2 * self->dev.data_size, PROT_READ);
}

static int call_mmap_tail(FIXTURE_DATA(fault) *self)
{
	return call_mmap(self, GPROF_MMAP_TAIL(0), sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE);
}

TEST_F(fault, every_fault_of_mmap_is_an_error_and_leaves_nothing)
{
	struct faults f;

	f = EACH_FAULT("mmap of the ring", prepare_mapping, call_mmap_ring, undo_mmap);
	EXPECT_LT(0, f.no_memory);
	f = EACH_FAULT("mmap of the tail", prepare_mapping, call_mmap_tail, undo_mmap);
	EXPECT_LT(0, f.no_memory);
}

static int call_start(FIXTURE_DATA(fault) *self)
{
	int ret = device_start(&self->dev);

	/* done, and only the answer could not be delivered */
	return ret == -EBUSY ? 0 : ret;
}

TEST_F(fault, every_fault_of_start_is_an_error_and_leaves_nothing)
{
	struct faults f;

	f = EACH_FAULT("START", prepare_mapping, call_start, undo_all);
	/* a clock on CPUs has all that it needs since SETUP */
	if (variant->allocates)
		EXPECT_LT(0, f.no_memory);
}

static int prepare_stop(FIXTURE_DATA(fault) *self)
{
	return prepare_mapping(self) ?: device_map(&self->dev) ?: device_start(&self->dev);
}

static int call_stop(FIXTURE_DATA(fault) *self)
{
	int ret = device_stop(&self->dev);

	return ret == -EBUSY ? 0 : ret;
}

/* Nobody can be asked to STOP again later: it does without what it cannot get. */
TEST_F(fault, no_failed_allocation_stops_a_stop)
{
	struct faults f;

	f = EACH_FAULT("STOP", prepare_stop, call_stop, undo_all);
	EXPECT_EQ(0, f.no_memory);
	EXPECT_LT(0, f.no_copy);
}

/* Without mappings: that munmap() wants memory is not the device's affair. */
static int prepare_close(FIXTURE_DATA(fault) *self)
{
	return prepare_mapping(self) ?: device_start(&self->dev);
}

static int call_close(FIXTURE_DATA(fault) *self)
{
	close(self->dev.fd);
	self->dev.fd = -1;
	return 0;
}

TEST_F(fault, no_failed_allocation_stops_a_close)
{
	EACH_FAULT("close", prepare_close, call_close, undo_all);
}

/* A page fault each. */
static void touch_pages(size_t nr)
{
	size_t size = sysconf(_SC_PAGESIZE), i;
	volatile char *p = mmap(NULL, nr * size, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return;
	madvise((void *)p, nr * size, MADV_NOHUGEPAGE);
	for (i = 0; i < nr; i++)
		p[i * size] = 1;
	munmap((void *)p, nr * size);
}

/* What was recorded after all those faults is as right as ever. */
TEST_F(fault, samples_add_up_after_faults)
{
	struct gprof_stats st;
	struct reader reader;

	EACH_FAULT("START", prepare_mapping, call_start, undo_all);
	ASSERT_ZEROS(prepare_stop(self), reader_init(&reader, &self->dev));
	burn_ns(50000000);
	touch_pages(500);
	for (int i = 0; i < 10; i++)
		IN_CHILD(0);
	READER_END(&reader, &st);
	EXPECT_LT(0, st.out_produced);
	reader_free(&reader);
}

TEST_HARNESS_MAIN
