// SPDX-License-Identifier: GPL-2.0-only
/*
 * abi_test: the ioctls of /dev/gprof, as <linux/gprof.h> promises them.
 *
 * The first part sweeps over all commands with what is common to all; the second goes through what
 * SETUP refuses, each test wrong in one thing only; the third through the order of commands.
 */
#include <limits.h>
#include "harness.h"
#include "device.h"
#include "table.h"
#include "workload.h"

#define PERIOD_NS	1000000

union argument {
	uint32_t size;
	struct gprof_info info;
	struct gprof_setup setup;
	struct gprof_start start;
	struct gprof_stop stop;
	struct gprof_stats stats;
	struct gprof_rate rate;
	struct gprof_trigger trigger;
	struct gprof_unwind_table_add table;
	struct gprof_self_stack self_stack;
	struct gprof_annotate annotate;
	unsigned char bytes[2 * 65536];
};

/* What the sweep is about. */
FIXTURE(command) {
	int fd;
	union argument *arg;
	struct gprof_cpu_params params;
	struct gprof_sched_params sched;
	struct gprof_trace_params trace;
	struct table_parts parts;
	uint64_t frames[8];
	int exe;
};

FIXTURE_VARIANT(command) {
	unsigned int nr;
	size_t size;
	size_t grown;		/* since its first version */
	unsigned int known_flags;
	bool setup, start;	/* what must come before */
	unsigned int kind;	/* of this one; 0: CPU */
	bool out;		/* has out_* members */
	bool tables;		/* stacks are walked by them */
};

FIXTURE_VARIANT_ADD(command, info) {
	.nr = GPROF_IOC_INFO, .size = GPROF_INFO_SIZE_VER0, .out = true,
};

FIXTURE_VARIANT_ADD(command, setup) {
	.nr = GPROF_IOC_SETUP, .size = GPROF_SETUP_SIZE_VER0, .out = true,
	.known_flags = __GPROF_SETUP_F_ALL,
};

FIXTURE_VARIANT_ADD(command, start) {
	.nr = GPROF_IOC_START, .size = GPROF_START_SIZE_VER0, .out = true, .setup = true,
};

FIXTURE_VARIANT_ADD(command, stop) {
	.nr = GPROF_IOC_STOP, .size = GPROF_STOP_SIZE_VER0, .setup = true, .start = true,
};

FIXTURE_VARIANT_ADD(command, stats) {
	.nr = GPROF_IOC_STATS, .size = GPROF_STATS_SIZE_VER0, .out = true, .setup = true,
};

FIXTURE_VARIANT_ADD(command, rate) {
	.nr = GPROF_IOC_RATE, .size = GPROF_RATE_SIZE_VER0, .setup = true, .kind = GPROF_KIND_SCHED,
};

FIXTURE_VARIANT_ADD(command, trigger) {
	.nr = GPROF_IOC_TRIGGER, .size = GPROF_TRIGGER_SIZE_VER0, .out = true, .setup = true,
	.grown = GPROF_TRIGGER_SIZE_VER1 - GPROF_TRIGGER_SIZE_VER0, .kind = GPROF_KIND_TRACE,
};

FIXTURE_VARIANT_ADD(command, table){
	.nr = GPROF_IOC_UNWIND_TABLE_ADD, .size = GPROF_UNWIND_TABLE_ADD_SIZE_VER0, .out = true,
	.setup = true, .grown = GPROF_UNWIND_TABLE_ADD_SIZE_VER1 - GPROF_UNWIND_TABLE_ADD_SIZE_VER0,
	.tables = true, .known_flags = __GPROF_UNWIND_TABLE_ADD_F_ALL,
};

FIXTURE_VARIANT_ADD(command, stack){
	.nr = GPROF_IOC_SELF_STACK, .size = GPROF_SELF_STACK_SIZE_VER0, .out = true,
};

FIXTURE_VARIANT_ADD(command, memory){
	.nr = GPROF_IOC_ALLOC_REPORT, .size = GPROF_ALLOC_REPORT_SIZE_VER0, .out = true,
	.known_flags = 3, /* of what */
};

FIXTURE_VARIANT_ADD(command, annotate) {
	.nr = GPROF_IOC_ANNOTATE, .size = GPROF_ANNOTATE_SIZE_VER0, .out = true,
	.known_flags = 7,	/* of what */
};

static void fill(FIXTURE_DATA(command) *self, const FIXTURE_VARIANT(command) *variant,
		 union argument *arg)
{
	if (variant->nr == GPROF_IOC_SETUP)
		arg->setup = device_setup_of(GPROF_TARGET_THREAD, gettid(), &self->params);
	else if (variant->nr == GPROF_IOC_STATS)
		arg->stats.cpu = GPROF_STATS_ALL_CPUS;
	else if (variant->nr == GPROF_IOC_TRIGGER)
		arg->trigger = (struct gprof_trigger){
			.what = GPROF_TRIGGER_OFF_CPU, .threshold_ns = 1, .number = GPROF_TRIGGER_ANY,
		};
	else if (variant->nr == GPROF_IOC_UNWIND_TABLE_ADD)
		arg->table = table_argument(&self->parts, self->exe);
	else if (variant->nr == GPROF_IOC_SELF_STACK)
		arg->self_stack = (struct gprof_self_stack){
			.frames = (uintptr_t)self->frames, .max_frames = 8,
		};
	else if (variant->nr == GPROF_IOC_ANNOTATE)
		arg->annotate.what = GPROF_ANNOTATE_LOG;
	arg->size = variant->size;
}

FIXTURE_SETUP(command)
{
	struct gprof_start start = { .size = sizeof(start) };
	struct gprof_setup setup;

	self->fd = device_open();
	ASSERT_LE(0, self->fd);
	self->params = timer_params(PERIOD_NS);
	self->arg = calloc(1, sizeof(*self->arg));
	ASSERT_NE(NULL, self->arg);
	if (variant->setup) {
		setup = device_setup_of(GPROF_TARGET_THREAD, gettid(), &self->params);
		if (variant->kind == GPROF_KIND_SCHED) {
			self->sched.size = sizeof(self->sched);
			setup.params = (uintptr_t)&self->sched;
		} else if (variant->kind == GPROF_KIND_TRACE) {
			self->trace.size = sizeof(self->trace);
			setup.params = (uintptr_t)&self->trace;
		}
		if (variant->tables) {
			const struct table_row row = { 0 };

			SKIP_ALL_UNLESS(device_has(GPROF_FEAT_TABLES), "nobody walks by tables here");
			setup.stack |= GPROF_STACK_F_TABLES;
			ASSERT_TRUE(table_make(&self->parts, &row, 1, 4096, 0));
			self->exe = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
			ASSERT_LE(0, self->exe);
		}
		if (variant->kind) {
			setup.kind = variant->kind;
			setup.stack = 0;
		}
		ASSERT_EQ(0, device_ioctl(self->fd, GPROF_IOC_SETUP, &setup));
	}
	if (variant->start) {
		ASSERT_EQ(0, device_ioctl(self->fd, GPROF_IOC_START, &start));
	}
	fill(self, variant, self->arg);
}

FIXTURE_TEARDOWN(command)
{
	free(self->arg);
	close(self->fd);
}

/* A refused command has changed nothing when the right one still succeeds. */
#define EXPECT_UNCHANGED() do {						\
	union argument *_arg = calloc(1, sizeof(*_arg));		\
	ASSERT_NE(NULL, _arg);						\
	fill(self, variant, _arg);					\
	EXPECT_EQ(0, device_ioctl(self->fd, variant->nr, _arg));	\
	free(_arg);							\
} while (0)

TEST_F(command, first_published_size_is_accepted)
{
	EXPECT_EQ(0, device_ioctl(self->fd, variant->nr, self->arg));
}

TEST_F(command, short_struct_is_EINVAL)
{
	static const size_t sizes[] = { 0, 1, 4, 7 };

	self->arg->size = variant->size - 1;
	EXPECT_EQ(-EINVAL, device_ioctl(self->fd, variant->nr, self->arg));
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		self->arg->size = sizes[i];
		EXPECT_EQ(-EINVAL, device_ioctl(self->fd, variant->nr, self->arg))
			TH_LOG("size %zu", sizes[i]);
	}
	EXPECT_UNCHANGED();
}

TEST_F(command, long_struct_with_zero_tail_is_as_normal)
{
	self->arg->size = variant->size + 8;
	EXPECT_EQ(0, device_ioctl(self->fd, variant->nr, self->arg));
	EXPECT_EQ(variant->size + 8, self->arg->size);
}

TEST_F(command, struct_of_a_page_with_zero_tail_is_as_normal)
{
	self->arg->size = sysconf(_SC_PAGESIZE);
	EXPECT_EQ(0, device_ioctl(self->fd, variant->nr, self->arg));
}

TEST_F(command, struct_beyond_a_page_is_E2BIG)
{
	self->arg->size = sysconf(_SC_PAGESIZE) + 8;
	EXPECT_EQ(-E2BIG, device_ioctl(self->fd, variant->nr, self->arg));
	self->arg->size = UINT32_MAX;
	EXPECT_EQ(-E2BIG, device_ioctl(self->fd, variant->nr, self->arg));
	EXPECT_UNCHANGED();
}

TEST_F(command, long_struct_with_garbage_tail_is_E2BIG)
{
	size_t whole = variant->size + variant->grown, i;

	self->arg->size = whole + 8;
	for (i = 0; i < 8; i++) {
		self->arg->bytes[whole + i] = 1;
		EXPECT_EQ(-E2BIG, device_ioctl(self->fd, variant->nr, self->arg))
			TH_LOG("garbage at %zu", whole + i);
		self->arg->bytes[whole + i] = 0;
	}
	self->arg->size = 4096;
	self->arg->bytes[4095] = 1;
	EXPECT_EQ(-E2BIG, device_ioctl(self->fd, variant->nr, self->arg));
	EXPECT_UNCHANGED();
}

TEST_F(command, bytes_behind_the_struct_are_left_alone)
{
	memset(self->arg->bytes + variant->size, 0x5a, 64);
	EXPECT_EQ(0, device_ioctl(self->fd, variant->nr, self->arg));
	EXPECT_EQS(0x5a, self->arg->bytes[variant->size],
		   0x5a, self->arg->bytes[variant->size + 63]);
}

TEST_F(command, unknown_flags_are_EOPNOTSUPP)
{
	uint32_t *flags = (uint32_t *)self->arg + 1;

	for (unsigned int bit = 0; bit < 32; bit++) {
		if (variant->known_flags & (1U << bit))
			continue;
		*flags = 1U << bit;
		EXPECT_EQ(-EOPNOTSUPP, device_ioctl(self->fd, variant->nr, self->arg))
			TH_LOG("flag bit %u", bit);
		if (variant->nr == GPROF_IOC_SETUP) {
			EXPECT_EQ(GPROF_REASON_FLAGS, self->arg->setup.out_reason);
		} else if (variant->nr == GPROF_IOC_START) {
			EXPECT_EQ(GPROF_REASON_FLAGS, self->arg->start.out_reason);
		}
	}
	EXPECT_UNCHANGED();
}

TEST_F(command, bad_pointer_is_EFAULT)
{
	char *kernel = (char *)(UINTPTR_MAX << 20);

	EXPECT_EQS(-EFAULT, device_ioctl(self->fd, variant->nr, NULL),
		   -EFAULT, device_ioctl(self->fd, variant->nr, (void *)8),
		   -EFAULT, device_ioctl(self->fd, variant->nr, kernel));
	EXPECT_UNCHANGED();
}

TEST_F(command, struct_that_ends_in_a_hole_is_EFAULT)
{
	size_t page = sysconf(_SC_PAGESIZE);
	char *map = private_memory(2 * page), *arg;

	ASSERT_EQ(0, munmap(map + page, page));
	/* the last word is missing, though the size at the front is there */
	arg = map + page - (variant->size - 4);
	memcpy(arg, self->arg, variant->size - 4);
	EXPECT_EQ(-EFAULT, device_ioctl(self->fd, variant->nr, arg));
	/* the tail is missing */
	arg = map + page - variant->size;
	memcpy(arg, self->arg, variant->size);
	*(uint32_t *)arg = variant->size + 8;
	EXPECT_EQ(-EFAULT, device_ioctl(self->fd, variant->nr, arg));
	EXPECT_UNCHANGED();
}

TEST_F(command, read_only_struct_is_EFAULT_and_changes_nothing)
{
	void *map;

	if (!variant->out)
		return;
	map = private_memory(sysconf(_SC_PAGESIZE));
	memcpy(map, self->arg, variant->size);
	ASSERT_EQ(0, mprotect(map, sysconf(_SC_PAGESIZE), PROT_READ));
	EXPECT_EQ(-EFAULT, device_ioctl(self->fd, variant->nr, map));
	EXPECT_UNCHANGED();
}

TEST_F(command, number_carries_no_size)
{
	unsigned int nr = _IOC_NR(variant->nr);

	EXPECT_EQ(variant->nr, _IO(GPROF_IOC_TYPE, nr));
	EXPECT_EQ(-ENOTTY, device_ioctl(self->fd, _IOC(_IOC_READ | _IOC_WRITE, GPROF_IOC_TYPE, nr,
						       variant->size), self->arg));
	EXPECT_EQ(-ENOTTY, device_ioctl(self->fd, _IO(GPROF_IOC_TYPE - 1, nr), self->arg));
	EXPECT_UNCHANGED();
}

/* ---- outputs that cannot be written any more ---- */

/* A page that is writable now and then. */
struct flicker {
	char *page;
	bool stop;
};

static void *flicker(void *arg)
{
	struct flicker *f = arg;
	size_t size = sysconf(_SC_PAGESIZE);

	while (!__atomic_load_n(&f->stop, __ATOMIC_RELAXED)) {
		mprotect(f->page, size, PROT_READ);
		mprotect(f->page, size, PROT_READ | PROT_WRITE);
	}
	return NULL;
}

#define FAULTS	5

/*
 * Who is told EFAULT can do again what did not happen: the page goes while the command
 * is under way, and it has not taken effect.
 */
TEST(a_command_that_is_EFAULT_has_changed_nothing)
{
	struct gprof_cpu_params params = timer_params(PERIOD_NS);
	struct gprof_setup setup = device_setup_of(GPROF_TARGET_THREAD, gettid(), &params);
	struct gprof_start start = { .size = sizeof(start) };
	unsigned int faults[2] = { 0 }, effects[2] = { 0 }, i;
	struct flicker f = { 0 };
	pthread_t thread;
	int fd, err;

	setup.buffer_size = 4096;
	f.page = private_memory(sysconf(_SC_PAGESIZE));
	memcpy(f.page, &setup, sizeof(setup));
	memcpy(f.page + 1024, &start, sizeof(start));
	ASSERT_EQ(0, pthread_create(&thread, NULL, flicker, &f));
	for (i = 0; i < 20 * FAULTS && (faults[0] < FAULTS || faults[1] < FAULTS); i++) {
		fd = device_open();
		ASSERT_LE(0, fd);
		err = device_ioctl(fd, GPROF_IOC_SETUP, f.page);
		ASSERT_TRUE(!err || err == -EFAULT) TH_LOG("%d", err);
		faults[0] += !!err;
		if (err)
			effects[0] += !!device_ioctl(fd, GPROF_IOC_SETUP, &setup);
		err = device_ioctl(fd, GPROF_IOC_START, f.page + 1024);
		ASSERT_TRUE(!err || err == -EFAULT) TH_LOG("%d", err);
		faults[1] += !!err;
		if (err)
			effects[1] += !!device_ioctl(fd, GPROF_IOC_START, &start);
		close(fd);
	}
	__atomic_store_n(&f.stop, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	TH_LOG("%u and %u faults in %u turns", faults[0], faults[1], i);
	EXPECT_LTS(0, faults[0], 0, faults[1]);
	EXPECT_EQS(0, effects[0], 0, effects[1]);
	munmap(f.page, sysconf(_SC_PAGESIZE));
}

/* A struct across two pages is written to both. */
TEST(outputs_across_a_page_boundary_are_whole)
{
	size_t page = sysconf(_SC_PAGESIZE), at;
	struct gprof_info plain = { .size = sizeof(plain) }, *info;
	int fd = device_open();
	char *map;

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, device_ioctl(fd, GPROF_IOC_INFO, &plain));
	map = private_memory(2 * page);
	for (at = page - sizeof(*info); at <= page; at += 8) {
		memset(map, 0, 2 * page);
		info = (void *)(map + at);
		info->size = sizeof(*info);
		EXPECT_EQ(0, device_ioctl(fd, GPROF_IOC_INFO, info));
		EXPECT_EQ(0, memcmp(&plain, info, sizeof(plain))) TH_LOG("at %zu", at);
		EXPECT_EQ(0, map[at + sizeof(*info)]);
	}
	munmap(map, 2 * page);
	close(fd);
}

/* ---- all but the commands ---- */

FIXTURE(file) {
	int fd;
};

FIXTURE_SETUP(file)
{
	self->fd = device_open();
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(file)
{
	close(self->fd);
}

TEST_F(file, unknown_commands_are_ENOTTY)
{
	static uint32_t arg[1024] = { sizeof(arg) };

	for (unsigned int nr = _IOC_NR(GPROF_IOC_TRIGGER_READ) + 1; nr < 256; nr++) {
		if (nr == _IOC_NR(GPROF_IOC_UNWIND_TABLE_ADD) ||
		    nr == _IOC_NR(GPROF_IOC_SELF_STACK) || nr == _IOC_NR(GPROF_IOC_ALLOC_REPORT) ||
		    nr == _IOC_NR(GPROF_IOC_ANNOTATE))
			continue;
		EXPECT_EQ(-ENOTTY, device_ioctl(self->fd, _IO(GPROF_IOC_TYPE, nr), arg))
			TH_LOG("command %#x", nr);
	}
}

TEST_F(file, read_write_and_seek_are_refused)
{
	char byte = 0;

	EXPECT_EQS(-1, read(self->fd, &byte, 1), EINVAL, errno, -1, write(self->fd, &byte, 1),
		   EINVAL, errno);
}

#define OR_BIT(_kind, _name, _params)	| 1ULL << GPROF_KIND_##_kind

TEST_F(file, info_tells_what_the_module_is)
{
	struct gprof_info info;

	memset(&info, 0xff, sizeof(info));
	info.size = sizeof(info);
	info.flags = 0;
	ASSERT_EQ(0, device_ioctl(self->fd, GPROF_IOC_INFO, &info));
	EXPECT_EQ(GPROF_ABI_VERSION, info.out_abi_version);
	EXPECT_EQ(sysconf(_SC_NPROCESSORS_CONF), info.out_nr_cpus);
	EXPECT_TRUE(info.out_kinds & (1ULL << GPROF_KIND_CPU));
	EXPECT_EQ(0, info.out_kinds & ~(0 GPROF_KINDS(OR_BIT)));
	EXPECT_TRUE(info.out_features & GPROF_FEAT_USER_FRAMES);
	EXPECT_LE(120, info.out_max_frames);
	EXPECT_EQ(CLOCK_MONOTONIC, info.out_clock_id);
	EXPECT_LE(4096, info.out_default_buffer);
	EXPECT_EQ(0, info.out_default_buffer & (info.out_default_buffer - 1));
	EXPECT_LE(1, info.out_recorders);
}

TEST_F(file, info_counts_open_recorders)
{
	struct gprof_info info = { .size = sizeof(info) };
	uint64_t before;
	int second;

	ASSERT_EQ(0, device_ioctl(self->fd, GPROF_IOC_INFO, &info));
	before = info.out_recorders;
	second = device_open();
	ASSERT_LE(0, second);
	ASSERT_EQ(0, device_ioctl(self->fd, GPROF_IOC_INFO, &info));
	EXPECT_EQ(before + 1, info.out_recorders);
	close(second);
	ASSERT_EQ(0, device_ioctl(self->fd, GPROF_IOC_INFO, &info));
	EXPECT_EQ(before, info.out_recorders);
}

/* ---- SETUP: wrong in one thing ---- */

FIXTURE(setup) {
	int fd;
	struct gprof_cpu_params params;
	struct gprof_setup good, bad;
};

FIXTURE_SETUP(setup)
{
	self->fd = device_open();
	ASSERT_LE(0, self->fd);
	self->params = timer_params(PERIOD_NS);
	self->good = device_setup_of(GPROF_TARGET_THREAD, gettid(), &self->params);
	self->bad = self->good;
	/* out members are written on failure too */
	self->bad.out_reason = 0xdead;
}

FIXTURE_TEARDOWN(setup)
{
	close(self->fd);
}

static void target_cpus(struct gprof_setup *setup, const void *cpus, uint32_t size)
{
	setup->target = GPROF_TARGET_CPUS;
	setup->id = 0;
	setup->cpus = (uintptr_t)cpus;
	setup->cpus_size = size;
}

static const uint64_t cpu_0[] = { 1, 0 };
static const uint64_t no_cpu[] = { 0, 0 };
static const uint64_t cpu_far_away[512] = { [511] = 1ULL << 63 };

/* @_change spoils a SETUP or its parameters, which is refused, and the right one is taken still. */
#define BAD_OF(_kind, _type, _params, _errno, _reason, ...) do {				\
	struct gprof_setup bad = self->good;						\
	struct _type params = _params;							\
	int fd = device_open();								\
											\
	bad.kind = _kind;								\
	bad.params = (uintptr_t)&params;						\
	/* out members are written on failure too */					\
	bad.out_reason = 0xdead;							\
	__VA_ARGS__;									\
	EXPECT_EQ(-_errno, device_ioctl(fd, GPROF_IOC_SETUP, &bad))			\
		TH_LOG("%s", #__VA_ARGS__);						\
	EXPECT_EQ(GPROF_REASON_##_reason, bad.out_reason) TH_LOG("%s", #__VA_ARGS__);	\
	EXPECT_EQ(0, device_ioctl(fd, GPROF_IOC_SETUP, &self->good))			\
		TH_LOG("%s", #__VA_ARGS__);						\
	EXPECT_EQ(GPROF_REASON_NONE, self->good.out_reason);				\
	close(fd);									\
} while (0)

#define BAD(...)	BAD_OF(GPROF_KIND_CPU, gprof_cpu_params, self->params, __VA_ARGS__)

TEST_F(setup, what_is_wrong_in_one_thing_is_refused)
{
	BAD(ENOENT, KIND, bad.kind = 0);
	BAD(ENOENT, KIND, bad.kind = 999);
	BAD(EINVAL, TARGET, bad.target = 0);
	BAD(EINVAL, TARGET, bad.target = GPROF_TARGET_SYSTEM + 1);
	BAD(EOPNOTSUPP, FLAGS, bad.stack |= __GPROF_STACK_F_ALL + 1);
	BAD(EINVAL, TARGET, bad.target = GPROF_TARGET_SYSTEM);
	BAD(EINVAL, FLAGS, bad.target = GPROF_TARGET_SYSTEM; bad.id = 0;
	    bad.flags = GPROF_SETUP_F_ON_EXEC);
	BAD(EINVAL, CPU, static uint64_t one = 1; bad.cpus = (uintptr_t)&one);
	BAD(EINVAL, CPU, bad.cpus_size = 8);
	BAD(EINVAL, BUFFER, bad.buffer_size = 4095);
	BAD(EINVAL, BUFFER, bad.buffer_size = 1ULL << 50);
	BAD(EINVAL, BUFFER, bad.buffer_size = UINT64_MAX);
	BAD(EINVAL, GENERATION, bad.generation_ns = UINT64_MAX);
	BAD(EINVAL, GENERATION, bad.generation_ns = 256000000001ULL);
	BAD(EINVAL, GENERATION, bad.generation_ns = 1);
	/* the kind's parameters */
	BAD(EFAULT, PARAMS, bad.params = 0);
	BAD(EFAULT, PARAMS, bad.params = UINT64_MAX << 20);
	BAD(EINVAL, PARAMS, params.size = GPROF_CPU_PARAMS_SIZE_VER0 - 1);
	BAD(EINVAL, PARAMS, params.size = 0);
	BAD(E2BIG, PARAMS, static struct { struct gprof_cpu_params p; uint64_t tail; } longer;
	    longer.p = params; longer.p.size = sizeof(longer); longer.tail = 1;
	    bad.params = (uintptr_t)&longer);
	BAD(EOPNOTSUPP, FLAGS, params.flags = __GPROF_CPU_F_ALL + 1);
	BAD(EINVAL, PRECISE, params.precise = 4);
	BAD(EINVAL, PERIOD, params.period = 0);
	BAD(EINVAL, PERIOD, params.period = 1);
	BAD(EINVAL, PERIOD, params.period = GPROF_CPU_TIMER_MIN - 1);
	BAD(EINVAL, PERIOD, params.period = GPROF_PERIOD_MAX + 1);
	BAD(EINVAL, PERIOD, params.period = 1ULL << 63);
	BAD(EINVAL, PERIOD, params.type = PERF_TYPE_HARDWARE;
	    params.period = GPROF_CPU_PERIOD_MIN - 1);
	BAD(EINVAL, PERIOD, params.config = PERF_COUNT_SW_PAGE_FAULTS; params.period = 0);
	BAD(ENOENT, EVENT, params.type = 0x7fff);
	BAD(ENOENT, EVENT, params.config = 0x7fff);
	/* targets */
	BAD(ESRCH, TASK_GONE, bad.id = 0);
	BAD(ESRCH, TASK_GONE, bad.id = -1);
	BAD(ESRCH, TASK_GONE, bad.id = INT_MAX);
	BAD(ESRCH, TASK_GONE, bad.target = GPROF_TARGET_PROCESS; bad.id = INT_MAX);
	BAD(EINVAL, CGROUP, bad.target = GPROF_TARGET_CGROUP; bad.id = -1);
	BAD(EINVAL, CGROUP, bad.target = GPROF_TARGET_CGROUP; bad.id = self->fd);
	BAD(EINVAL, CPU, target_cpus(&bad, cpu_0, 0));
	BAD(EINVAL, CPU, target_cpus(&bad, cpu_0, 12));
	BAD(EFAULT, CPU, target_cpus(&bad, NULL, 8));
	BAD(EINVAL, CPU, target_cpus(&bad, no_cpu, 16));
	BAD(ENODEV, CPU, target_cpus(&bad, cpu_far_away, sizeof(cpu_far_away)));
	BAD(ENODEV, CPU, struct gprof_info info = { .size = sizeof(info) };
	    static uint64_t cpus[16] = { 1 }; device_ioctl(self->fd, GPROF_IOC_INFO, &info);
	    cpus[info.out_nr_cpus / 64] |= 1ULL << info.out_nr_cpus % 64;
	    target_cpus(&bad, cpus, sizeof(cpus)));
	BAD(EINVAL, CPU, target_cpus(&bad, cpu_0, 0xfffffff8));
	BAD(EINVAL, TARGET, target_cpus(&bad, cpu_0, 8); bad.id = 1);
	self->bad.max_frames = 1U << 20;
	EXPECT_EQ(-EINVAL, device_ioctl(self->fd, GPROF_IOC_SETUP, &self->bad));
}

TEST_F(setup, dead_thread_is_ESRCH)
{
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	ASSERT_EQ(0, reap(pid));
	self->bad.id = pid;
	EXPECT_EQS(-ESRCH, device_ioctl(self->fd, GPROF_IOC_SETUP, &self->bad),
		   GPROF_REASON_TASK_GONE, self->bad.out_reason,
		   0, device_ioctl(self->fd, GPROF_IOC_SETUP, &self->good));
}

TEST_F(setup, zombie_is_ESRCH)
{
	siginfo_t info;
	pid_t pid = fork();

	ASSERT_LE(0, pid);
	if (!pid)
		_exit(0);
	ASSERT_EQ(0, waitid(P_PID, pid, &info, WEXITED | WNOWAIT));
	self->bad.target = GPROF_TARGET_PROCESS;
	self->bad.id = pid;
	EXPECT_EQS(-ESRCH, device_ioctl(self->fd, GPROF_IOC_SETUP, &self->bad),
		   GPROF_REASON_TASK_GONE, self->bad.out_reason,
		   0, device_ioctl(self->fd, GPROF_IOC_SETUP, &self->good));
	waitpid(pid, NULL, 0);
}

TEST_F(setup, target_that_dies_before_start_is_ESRCH)
{
	struct gprof_start start = { .size = sizeof(start) };
	pid_t pid = fork();

	ASSERT_LE(0, pid);
	if (!pid) {
		pause();
		_exit(0);
	}
	self->good.target = GPROF_TARGET_PROCESS;
	self->good.id = pid;
	EXPECT_EQ(0, device_ioctl(self->fd, GPROF_IOC_SETUP, &self->good));
	kill(pid, SIGKILL);
	ASSERT_EQ(pid, waitpid(pid, NULL, 0));
	EXPECT_EQ(-ESRCH, device_ioctl(self->fd, GPROF_IOC_START, &start));
	EXPECT_EQ(GPROF_REASON_TASK_GONE, start.out_reason);
}

TEST_F(setup, largest_and_smallest_are_accepted)
{
	int fd = device_open();

	self->params.period = GPROF_PERIOD_MAX;
	self->good.generation_ns = 256000000000ULL;
	EXPECT_EQ(0, device_ioctl(fd, GPROF_IOC_SETUP, &self->good));
	close(fd);
	self->params.period = GPROF_CPU_TIMER_MIN;
	EXPECT_EQ(0, device_ioctl(self->fd, GPROF_IOC_SETUP, &self->good));
}

TEST_F(setup, long_params_with_zero_tail_are_as_normal)
{
	struct { struct gprof_cpu_params p; uint64_t tail[128]; } longer = { .p = self->params };

	longer.p.size = sizeof(longer);
	self->good.params = (uintptr_t)&longer;
	EXPECT_EQ(0, device_ioctl(self->fd, GPROF_IOC_SETUP, &self->good));
}

TEST_F(setup, buffer_is_rounded_up_to_a_power_of_two)
{
	self->good.buffer_size = 3 * 65536;
	ASSERT_EQ(0, device_ioctl(self->fd, GPROF_IOC_SETUP, &self->good));
	EXPECT_EQ(4 * 65536, self->good.out_data_size);
	EXPECT_EQ(sysconf(_SC_NPROCESSORS_CONF), self->good.out_nr_cpus);
}

/* On pages of any size, which who asks need not know. */
TEST_F(setup, buffer_of_4096_bytes_has_what_a_buffer_must_have)
{
	self->good.buffer_size = 4096;
	ASSERT_EQ(0, device_ioctl(self->fd, GPROF_IOC_SETUP, &self->good));
	EXPECT_EQ(sysconf(_SC_PAGESIZE) > 32768 ? sysconf(_SC_PAGESIZE) : 32768,
		  self->good.out_data_size);
}

TEST_F(setup, buffer_of_0_bytes_is_the_default)
{
	struct gprof_info info = { .size = sizeof(info) };

	ASSERT_EQ(0, device_ioctl(self->fd, GPROF_IOC_INFO, &info));
	ASSERT_EQ(0, device_ioctl(self->fd, GPROF_IOC_SETUP, &self->good));
	EXPECT_EQ(info.out_default_buffer, self->good.out_data_size);
}

TEST_F(setup, set_of_cpus_may_be_longer_than_the_host)
{
	static uint64_t cpus[512] = { 1 };

	target_cpus(&self->good, cpus, sizeof(cpus));
	EXPECT_EQ(0, device_ioctl(self->fd, GPROF_IOC_SETUP, &self->good));
}

/* ---- parameters of each kind ---- */

#define SPOILT(_kind, _name, _params)				\
	{ GPROF_KIND_##_kind, 4, 0, EINVAL },			\
	{ GPROF_KIND_##_kind, sizeof(struct _params) + 8, 0, E2BIG }, \
	{ GPROF_KIND_##_kind, sizeof(struct _params), 1U << 31, EOPNOTSUPP },

TEST_F(setup, parameters_of_each_kind_have_a_size_and_known_flags)
{
	static const struct { uint32_t kind, size, flags; int err; } rows[] = {
		GPROF_KINDS(SPOILT)
	};
	struct { uint32_t size, flags; uint64_t rest[31]; } params = { 0 };

	memset(params.rest, 1, sizeof(params.rest));
	self->bad.params = (uintptr_t)&params;
	self->bad.stack = 0;
	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		params.size = rows[i].size;
		params.flags = rows[i].flags;
		self->bad.kind = rows[i].kind;
		EXPECT_EQ(-rows[i].err, device_ioctl(self->fd, GPROF_IOC_SETUP, &self->bad))
			TH_LOG("kind %u, size %u", rows[i].kind, rows[i].size);
		EXPECT_TRUE(self->bad.out_reason == GPROF_REASON_PARAMS ||
			    (rows[i].flags && self->bad.out_reason == GPROF_REASON_FLAGS))
			TH_LOG("kind %u, size %u", rows[i].kind, rows[i].size);
	}
	EXPECT_EQ(0, device_ioctl(self->fd, GPROF_IOC_SETUP, &self->good));
}

/* ---- the kind profile ---- */

#define BAD_PROFILE(...)								\
	BAD_OF(GPROF_KIND_TRACEPOINT, gprof_tracepoint_params,				\
	       ((struct gprof_tracepoint_params){ sizeof(params), 0, 1, 1 }), __VA_ARGS__)

TEST_F(setup, profile_that_is_wrong_in_one_thing_is_refused)
{
	BAD_PROFILE(ENOENT, EVENT, params.tracepoint = 0xfffff0);
	BAD_PROFILE(ENOENT, EVENT, params.tracepoint = 1ULL << 33);
	BAD_PROFILE(EINVAL, PERIOD, params.period = 0);
	BAD_PROFILE(EINVAL, PERIOD, params.period = GPROF_PERIOD_MAX + 1);
	BAD_PROFILE(EOPNOTSUPP, FLAGS, params.flags = 1);
	BAD_PROFILE(EINVAL, PARAMS, params.size = GPROF_TRACEPOINT_PARAMS_SIZE_VER0 - 1);
}

/* ---- order of commands ---- */

FIXTURE(order) {
	int fd;
	struct gprof_cpu_params params;
	struct gprof_setup setup;
	struct gprof_start start;
	struct gprof_stop stop;
	struct gprof_stats stats;
};

FIXTURE_SETUP(order)
{
	self->fd = device_open();
	ASSERT_LE(0, self->fd);
	self->params = timer_params(PERIOD_NS);
	self->setup = device_setup_of(GPROF_TARGET_THREAD, gettid(), &self->params);
	self->start = (struct gprof_start){ .size = sizeof(self->start) };
	self->stop = (struct gprof_stop){ .size = sizeof(self->stop) };
	self->stats = (struct gprof_stats){ .size = sizeof(self->stats),
					    .cpu = GPROF_STATS_ALL_CPUS };
}

FIXTURE_TEARDOWN(order)
{
	close(self->fd);
}

#define DO_SETUP()	device_ioctl(self->fd, GPROF_IOC_SETUP, &self->setup)
#define DO_START()	device_ioctl(self->fd, GPROF_IOC_START, &self->start)
#define DO_STOP()	device_ioctl(self->fd, GPROF_IOC_STOP, &self->stop)
#define DO_STATS()	device_ioctl(self->fd, GPROF_IOC_STATS, &self->stats)

TEST_F(order, nothing_comes_before_setup)
{
	EXPECT_EQS(-EBUSY, DO_START(), GPROF_REASON_STATE, self->start.out_reason,
		   -EBUSY, DO_STOP(), -EBUSY, DO_STATS(), 0, DO_SETUP());
}

TEST_F(order, nothing_comes_twice_and_start_may_follow_stop)
{
	ASSERT_EQ(0, DO_SETUP());
	EXPECT_EQS(-EBUSY, DO_SETUP(), GPROF_REASON_STATE, self->setup.out_reason, -EBUSY, DO_STOP(),
		   0, DO_START(), 1, self->start.out_attached, -EBUSY, DO_SETUP(), -EBUSY, DO_START(),
		   GPROF_REASON_STATE, self->start.out_reason, 0, DO_STOP(), -EBUSY, DO_STOP());
	for (int i = 0; i < 10; i++) {
		ASSERT_ZEROS(DO_START(), DO_STOP());
	}
}

TEST_F(order, stats_tell_when_recording_began_and_ended)
{
	uint64_t before = monotonic_ns(), after;

	ASSERT_ZEROS(DO_SETUP(), DO_STATS());
	EXPECT_EQS(0, self->stats.out_started_ns, 0, self->stats.out_stopped_ns);
	ASSERT_ZEROS(DO_START(), DO_STATS());
	EXPECT_LE(before, self->stats.out_started_ns);
	EXPECT_EQ(0, self->stats.out_stopped_ns);
	ASSERT_ZEROS(DO_STOP(), DO_STATS());
	after = monotonic_ns();
	EXPECT_WITHIN(self->stats.out_started_ns, self->stats.out_stopped_ns, after);
	ASSERT_ZEROS(DO_START(), DO_STATS());
	EXPECT_LE(after, self->stats.out_started_ns);
	EXPECT_EQ(0, self->stats.out_stopped_ns);
}

TEST_F(order, stats_of_a_cpu_that_does_not_exist_are_ENODEV)
{
	ASSERT_EQ(0, DO_SETUP());
	for (int i = 0; i < 4; i++) {
		self->stats.cpu = (const int[]){ 1 << 20, self->setup.out_nr_cpus, -2, INT_MIN }[i];
		EXPECT_EQ(-ENODEV, DO_STATS()) TH_LOG("%d", self->stats.cpu);
	}
	self->stats.cpu = 0;
	EXPECT_EQS(0, DO_STATS(), 1, self->stats.out_cpus);
	self->stats.cpu = GPROF_STATS_ALL_CPUS;
	EXPECT_EQS(0, DO_STATS(), nr_present_cpus(), self->stats.out_cpus);
}

TEST_HARNESS_MAIN
