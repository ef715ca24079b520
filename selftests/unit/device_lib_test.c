// SPDX-License-Identifier: GPL-2.0-only
/*
 * A recorder on an imitation of the device: what the kernel counts, loses and writes
 * is given here, and what the library makes of it has to be exact.
 */
#include "harness.h"
#include <gprof/recorder.h>
#include <malloc.h>
#include <sys/eventfd.h>

#include "device/device.h"
#include "device/probe.h"
#include "profile_util.h"
#include "profile/profile.h"
#include "record/recorder.h"

#define CPUS	2
#define DATA	65536

/* ---- memory in blocks large enough to be copies of rings ---- */

static size_t large, most_large;

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && defined(__GLIBC__)
#define COUNTS_MEMORY	true
#define LARGE		4096

extern void *__libc_malloc(size_t size);
extern void __libc_free(void *p);

void *malloc(size_t size)
{
	void *p = __libc_malloc(size);
	size_t has = p ? malloc_usable_size(p) : 0;

	large += has < LARGE ? 0 : has;
	most_large = large > most_large ? large : most_large;
	return p;
}

void free(void *p)
{
	size_t has = p ? malloc_usable_size(p) : 0;

	large -= has < LARGE || has > large ? 0 : has;
	__libc_free(p);
}
#else
#define COUNTS_MEMORY	false
#endif

/* ---- the imitation ---- */

static struct {
	int fd;
	struct gprof_ring_head *head[CPUS];
	char *data[CPUS];
	struct gprof_ring_tail *tail[CPUS];
	struct gprof_stats stats;
	unsigned int opened, started, stopped;
	uint32_t next_id;
	uint32_t version;	/* in the head page */
	void (*at_stop)(void);
} kernel;

int gprof_device_open(struct gprof_own_fd *dev, struct gprof_error *e)
{
	kernel.opened++;
	gprof_own_fd_adopt(dev, dup(kernel.fd));
	return 0;
}

int gprof_device_check(const struct gprof_own_fd *dev, const char *what, struct gprof_error *e)
{
	return gprof_own_fd_check(dev, what, e);
}

int gprof_device_info(const struct gprof_own_fd *dev, struct gprof_info *info,
		      struct gprof_error *e)
{
	memset(info, 0, sizeof(*info));
	return 0;
}

int gprof_device_setup(const struct gprof_own_fd *dev, struct gprof_setup *setup, const char *what,
		       struct gprof_error *e)
{
	setup->out_data_size = DATA;
	setup->out_nr_cpus = CPUS;
	return 0;
}

int gprof_device_table(const struct gprof_own_fd *dev, int file, const void *table, size_t size,
		       const struct gprof_python *python)
{
	return -ENOTTY;
}

int gprof_device_start(const struct gprof_own_fd *dev, uint32_t kind, const char *what,
		       struct gprof_error *e)
{
	kernel.started++;
	return 0;
}

int gprof_device_stop(const struct gprof_own_fd *dev, const char *what, struct gprof_error *e)
{
	int err = gprof_device_check(dev, what, e);

	if (err)
		return err;
	kernel.stopped++;
	if (kernel.at_stop)
		kernel.at_stop();
	return 0;
}

int gprof_device_stats(const struct gprof_own_fd *dev, struct gprof_stats *st,
		       struct gprof_error *e)
{
	*st = kernel.stats;
	return gprof_device_check(dev, "stats", e);
}

int gprof_device_explain(int err, uint32_t reason, uint32_t kind, const char *doing,
			 const char *what, struct gprof_error *e)
{
	return gprof_error_set(e, err, "%s", what);
}

static void *map(off_t at, size_t size)
{
	return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, kernel.fd, at);
}

static bool plug_in(void)
{
	memset(&kernel, 0, sizeof(kernel));
	kernel.fd = memfd_create("gprof", MFD_CLOEXEC);
	if (kernel.fd < 0 || ftruncate(kernel.fd, GPROF_MMAP_TAIL(CPUS)))
		return false;
	for (unsigned int cpu = 0; cpu < CPUS; cpu++) {
		kernel.head[cpu] = map(GPROF_MMAP_RING(cpu), 4096 + 2 * DATA);
		kernel.tail[cpu] = map(GPROF_MMAP_TAIL(cpu), 4096);
		if (kernel.head[cpu] == MAP_FAILED || kernel.tail[cpu] == MAP_FAILED)
			return false;
		kernel.data[cpu] = (char *)kernel.head[cpu] + 4096;
		*kernel.head[cpu] = (struct gprof_ring_head){
			.version = GPROF_ABI_VERSION, .header_size = sizeof(struct gprof_ring_head),
			.cpu = cpu, .data_offset = 4096, .data_size = DATA,
		};
	}
	return true;
}

static void put(unsigned int cpu, const void *rec, uint32_t size)
{
	uint64_t head = kernel.head[cpu]->head;

	memcpy(kernel.data[cpu] + head, rec, size);
	__atomic_store_n(&kernel.head[cpu]->head, head + size, __ATOMIC_RELEASE);
}

static void put_generation(unsigned int cpu)
{
	struct gprof_generation_rec g = {
		.rec = { GPROF_REC_GENERATION, 0, sizeof(g) },
		.mono_ns = 1000000000, .real_ns = 1700000000000000000, .weight = 10, .cpu = cpu,
	};

	put(cpu, &g, sizeof(g));
}

static void put_samples(unsigned int cpu, unsigned int n, uint16_t flags)
{
	struct gprof_sample_rec s = {
		.rec = { GPROF_REC_SAMPLE, flags, sizeof(s) }, .time = 1000000001, .tid = 7,
	};

	while (n--)
		put(cpu, &s, sizeof(s));
}

/* With the stack that was said last. */
static void put_known(unsigned int cpu, unsigned int n)
{
	struct gprof_sample_rec s = {
		.rec = { GPROF_REC_SAMPLE, 0, sizeof(s) }, .time = 1000000001, .tid = 7,
		.stack = kernel.next_id,
	};

	while (n--)
		put(cpu, &s, sizeof(s));
}

/* With a stack, so that the library takes them in a row. */
static void put_row(unsigned int cpu, unsigned int n)
{
	struct { struct gprof_stack_rec s; uint64_t frame; } st = {
		.s = { .rec = { GPROF_REC_STACK, 0, sizeof(st) }, .id = ++kernel.next_id,
		       .nr_user = 1, .process = { 7, 1, 1 } },
		.frame = 0x1000,
	};
	struct gprof_task_rec t = {
		.rec = { GPROF_REC_TASK, 0, sizeof(t) }, .process = { 7, 1, 1 }, .tid = 7,
	};

	put(cpu, &t, sizeof(t));
	put(cpu, &st, sizeof(st));
	put_known(cpu, n);
}

/* ---- tests ---- */

FIXTURE(device) {
	struct gprof_recorder *r;
	struct gprof_recorder_stats st;
	struct gprof_error e;
	struct gprof_profile *p;
	int out;
};

static const struct gprof_stream_opts opts;

static struct gprof_recorder *make(const struct gprof_stream_opts *with, struct gprof_error *e)
{
	struct gprof_target target = { .type = GPROF_PROCESS, .id = getpid() };
	struct gprof_stream_source source = {
		.kind = GPROF_KIND_CPU, .name = "test", .detail = "of this test",
		.columns = { .count_type = "samples", .weight_type = "cycles",
			     .weight_unit = "count", .period = 10 },
	};

	return gprof_recorder_make(&target, &source, 1, with, e);
}

FIXTURE_SETUP(device)
{
	ASSERT_TRUE(plug_in());
	self->p = NULL;
	self->st.sz = sizeof(self->st);
	self->out = memfd_create("out", MFD_CLOEXEC);
	self->r = make(&opts, &self->e);
	ASSERT_NE(NULL, self->r) TH_LOG("%s", self->e.text);
}

FIXTURE_TEARDOWN(device)
{
	gprof_recorder_free(self->r);
	gprof_profile_free(self->p);
	close(self->out);
	close(kernel.fd);
}

/* All numbers of the kernel differ, so that none can be taken for another. */
static void count_on(uint64_t step)
{
	struct gprof_stats *k = &kernel.stats;

	k->out_throttled += 3 * step;
	k->out_nmi += 5 * step;
	k->out_irq += 7 * step;
	k->out_task += 11 * step;
	k->out_maps_lost += 13 * step;
	k->out_maps_missed += 17 * step;
	k->out_count += 19 * step;
	k->out_time_enabled += 1000 * step;
	k->out_time_running += 250 * step;
}

#define EXPECT_COMMENT(text) do {						\
	EXPECT_TRUE(profile_says(self->p, text)) {				\
		size_t _i;							\
		const char *_c;							\
										\
		TH_LOG("no '%s' in", text);					\
		for (_i = 0; (_c = gprof_profile_comment(self->p, _i)); _i++)	\
			TH_LOG("%s", _c);					\
	}									\
} while (0)

static struct gprof_profile *written(int fd)
{
	lseek(fd, 0, SEEK_SET);
	return gprof_profile_read(fd);
}

TEST_F(device, counts_are_those_of_the_recording_alone)
{
	struct gprof_stats *k = &kernel.stats;
	int64_t start, duration;

	/* What an attempt before has left. */
	put_generation(0);
	put_samples(0, 4, 0);
	k->out_produced = 400;
	k->out_lost[GPROF_LOST_FULL] = 100;
	k->out_lost[GPROF_LOST_NESTED] = 200;
	k->out_overwritten = 96;
	count_on(100);

	ASSERT_EQ(0, gprof_recorder_start(self->r, self->out));
	EXPECT_EQ(1, kernel.started);
	put_generation(0);
	put_generation(1);
	put_row(0, 6);
	put_samples(1, 2, GPROF_SAMPLE_REC_F_NMI);
	put_row(1, 3);
	k->out_produced += 11 + 5 + 6 + 2;
	k->out_lost[GPROF_LOST_FULL] += 5;
	k->out_lost[GPROF_LOST_NESTED] += 6;
	k->out_overwritten += 2;
	count_on(1);
	k->out_started_ns = 1500000000;
	k->out_stopped_ns = 4000000000;
	ASSERT_EQ(0, gprof_recorder_stop(self->r)) TH_LOG("%s", gprof_error());
	EXPECT_EQ(1, kernel.stopped);

	ASSERT_EQ(0, gprof_recorder_stats(self->r, 0, &self->st));
	EXPECT_STREQ("test", self->st.event);
	EXPECT_EQS(24, self->st.produced, 11, self->st.read, 11, self->st.lost,
		   2, self->st.overwritten, 3, self->st.throttled, 5, self->st.nmi, 7, self->st.irq,
		   11, self->st.task, 13, self->st.maps_lost, 19, self->st.count,
		   1000, self->st.time_enabled_ns, 250, self->st.time_running_ns);

	self->p = written(self->out);
	ASSERT_NE(NULL, self->p);
	EXPECT_TOTALS(self->p, 11, 110);
	gprof_profile_time(self->p, &start, &duration);
	EXPECT_EQS(1700000000500000000, start, 2500000000, duration, 10, self->p->period);
	EXPECT_COMMENT("gprof ");
	EXPECT_COMMENT("target: process ");
	EXPECT_COMMENT("kernel: Linux ");
	EXPECT_COMMENT("samples: produced=24 read=11 lost=11 overwritten=2");
	EXPECT_COMMENT("lost 5 samples: the buffer was full");
	EXPECT_COMMENT("lost 6 samples: interrupts were nested");
	EXPECT_COMMENT("2 samples were overwritten");
	EXPECT_COMMENT("throttled 3 times");
	EXPECT_COMMENT("multiplexed: the counter ran 25.0 % of the time");
	EXPECT_COMMENT("17 times the mappings of a process were not read");
	EXPECT_COMMENT("13 times the mappings of a process did not fit");
	EXPECT_FALSE(profile_says(self->p, "the counts"));
}

static int count_stacks(void *ctx, const struct gprof_frame *frames, size_t nr,
			const int64_t *values)
{
	if (nr != 1 || strcmp(frames[0].function, "[no stack]"))
		++*(size_t *)ctx;
	return 0;
}

/* Where the kernel had no room to begin a generation, ids mean nothing. */
TEST_F(device, recording_knows_no_stack_of_the_one_before)
{
	size_t stacks = 0;

	put_generation(0);
	put_row(0, 3);
	kernel.stats.out_produced = 3;
	ASSERT_EQ(0, gprof_recorder_start(self->r, self->out));
	put_known(0, 2);
	kernel.stats.out_produced += 2;
	ASSERT_EQ(0, gprof_recorder_stop(self->r)) TH_LOG("%s", gprof_error());
	self->p = written(self->out);
	ASSERT_NE(NULL, self->p);
	EXPECT_EQ(2, gprof_profile_total(self->p, 0));
	gprof_profile_each(self->p, count_stacks, &stacks);
	EXPECT_EQ(0, stacks);
}

TEST_F(device, nothing_to_tell_is_not_told)
{
	size_t i;

	ASSERT_EQ(0, gprof_recorder_start(self->r, self->out));
	kernel.stats.out_time_enabled = 1000;
	kernel.stats.out_time_running = 996;
	ASSERT_EQ(0, gprof_recorder_stop(self->r));
	self->p = written(self->out);
	ASSERT_NE(NULL, self->p);
	EXPECT_COMMENT("samples: produced=0 read=0 lost=0 overwritten=0");
	for (i = 0; gprof_profile_comment(self->p, i); i++)
		;
	EXPECT_EQ(4, i) TH_LOG("%s", gprof_profile_comment(self->p, i - 1));
}

TEST_F(device, counts_that_do_not_add_up_are_an_error_and_a_comment)
{
	ASSERT_EQ(0, gprof_recorder_start(self->r, self->out));
	put_generation(0);
	put_row(0, 3);
	kernel.stats.out_produced = 4;
	EXPECT_EQ(-EPROTO, gprof_recorder_stop(self->r));
	EXPECT_SAYS(gprof_error(), "4 samples were produced");
	self->p = written(self->out);
	ASSERT_NE(NULL, self->p);
	EXPECT_COMMENT("the counts do not add up: 4 samples were produced, 3 read");
}

static void late(void)
{
	put_row(1, 2);
	kernel.stats.out_produced += 2;
}

TEST_F(device, what_comes_until_the_end_is_read)
{
	ASSERT_EQ(0, gprof_recorder_start(self->r, self->out));
	put_generation(0);
	put_generation(1);
	kernel.at_stop = late;
	ASSERT_ZEROS(gprof_recorder_stop(self->r), gprof_recorder_stats(self->r, 0, &self->st));
	EXPECT_EQ(2, self->st.read);
	/* and the kernel has its room back */
	EXPECT_EQ(kernel.head[0]->head, kernel.tail[0]->tail);
	EXPECT_EQ(kernel.head[1]->head, kernel.tail[1]->tail);
}

/* All that the rings hold, in memory for about one generation of each. */
TEST_F(device, a_snapshot_takes_a_part_of_the_memory_of_the_rings)
{
	static const struct gprof_stream_opts flight = { .flight = true };
	unsigned int cpu, i, n = 0;
	size_t before;

	gprof_recorder_free(self->r);
	self->r = make(&flight, &self->e);
	ASSERT_NE(NULL, self->r);
	ASSERT_EQ(0, gprof_recorder_start(self->r, self->out));
	for (cpu = 0; cpu < CPUS; cpu++) {
		for (i = 0; i < 7; i++) {
			put_generation(cpu);
			put_row(cpu, 320);
			n += 320;
		}
		ASSERT_LT(DATA * 6 / 8, kernel.head[cpu]->head);
	}
	kernel.stats.out_produced = n;
	before = large;
	most_large = large;
	ASSERT_EQ(0, gprof_recorder_snapshot(self->r, 0, &self->p)) TH_LOG("%s", gprof_error());
	EXPECT_EQ(n, gprof_profile_total(self->p, 0));
	TH_LOG("%zu KiB of %u KiB", (most_large - before) >> 10, CPUS * DATA >> 10);
	if (COUNTS_MEMORY) {
		EXPECT_LT(before, most_large);
		EXPECT_GT(CPUS * DATA / 2, most_large - before);
	}
}

TEST_F(device, corrupt_ring_is_told_and_the_others_are_read)
{
	struct gprof_rec rec[2] = { { 99, 0, 12 } };

	ASSERT_EQ(0, gprof_recorder_start(self->r, self->out));
	put_generation(0);
	put(0, rec, sizeof(rec));
	put_generation(1);
	put_row(1, 5);
	kernel.stats.out_produced = 5;
	EXPECT_EQ(-EBADMSG, gprof_recorder_stop(self->r));
	EXPECT_SAYS(gprof_error(), "CPU 0");
	self->p = written(self->out);
	ASSERT_NE(NULL, self->p);
	EXPECT_EQ(5, gprof_profile_total(self->p, 0));
	EXPECT_COMMENT("test: the buffer of CPU 0");
}

TEST_F(device, output_that_cannot_take_the_profile_is_refused_or_told)
{
	int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
	int readable = open("/dev/null", O_RDONLY | O_CLOEXEC);

	EXPECT_EQS(-EBADF, gprof_recorder_start(self->r, readable),
		   -EBADF, gprof_recorder_start(self->r, -1),
		   -EINVAL, gprof_recorder_start_events(self->r, &full, 2),
		   -EINVAL, gprof_recorder_start_events(self->r, &full, 0), 0, kernel.started,
		   -EINVAL, gprof_recorder_stop(self->r));
	ASSERT_EQ(0, gprof_recorder_start(self->r, full));
	EXPECT_EQ(-EBUSY, gprof_recorder_start(self->r, self->out));
	EXPECT_EQ(-ENOSPC, gprof_recorder_stop(self->r));
	EXPECT_SAYS(gprof_error(), "disk is full");
	EXPECT_EQ(-EINVAL, gprof_recorder_stats(self->r, 1, &self->st));
	/* it is stopped, and works again */
	EXPECT_EQ(-EINVAL, gprof_recorder_stop(self->r));
	EXPECT_ZEROS(gprof_recorder_start(self->r, self->out), gprof_recorder_stop(self->r));
	EXPECT_LT(0, lseek(self->out, 0, SEEK_END));
	close(full);
	close(readable);
}

TEST_F(device, free_stops_what_is_started)
{
	ASSERT_EQ(0, gprof_recorder_start(self->r, self->out));
	gprof_recorder_free(self->r);
	self->r = NULL;
	EXPECT_EQ(1, kernel.stopped);
}

/* The head page of another kind of ring is not read on. */
TEST_F(device, ring_that_describes_itself_otherwise_is_refused)
{
	struct gprof_target target = { .type = GPROF_PROCESS, .id = getpid() };
	struct gprof_stream_source source = { .name = "test", .columns.weight_type = "cycles" };
	struct gprof_ring_head good = *kernel.head[1];

	for (unsigned int i = 0; i < 5; i++) {
		struct gprof_ring_head *h = kernel.head[1];

		*h = good;
		switch (i) {
		case 0: h->version++; break;
		case 1: h->header_size--; break;
		case 2: h->cpu = 0; break;
		case 3: h->data_size /= 2; break;
		default:
			h->data_offset *= 2;
		}
		EXPECT_ERRNO(EPROTO, gprof_recorder_make(&target, &source, 1, &opts, &self->e));
		EXPECT_NE(NULL, strstr(self->e.text, "CPU 1")) TH_LOG("%u: %s", i, self->e.text);
	}
	*kernel.head[1] = good;
}

/* ---- probes ---- */

static const char *tracefs;

const char *gprof_tracepoint_root(const char *name, struct gprof_error *e)
{
	return tracefs;
}

/* Processes that are ours, another user's, and gone. */
int kill(pid_t pid, int sig)
{
	static const int errors[] = { 0, EPERM, ESRCH };

	if (pid < 11 || pid > 13)
		return (int)syscall(SYS_kill, pid, sig);
	errno = errors[pid - 11];
	return errno ? -1 : 0;
}

#define EXPECT_WRITTEN(file, ...) do {						\
	const char *_text = lib_text(__VA_ARGS__);				\
	int _fd = open(lib_text("%s/" file, tracefs), O_RDONLY | O_CLOEXEC);	\
	char _is[512] = "";							\
										\
	EXPECT_LE(0, read(_fd, _is, sizeof(_is) - 1));				\
	EXPECT_STREQ(_text, _is);						\
	close(_fd);								\
} while (0)

TEST(probes_of_those_that_are_gone_alone_are_removed)
{
	static const char *const there[] = {
		"k11_0", "u11_0", "k12_0", "u12_0", "k13_1", "u13_20", "x13_0", "k13", "k13_0_", "k0_0",
	};
	int pid = getpid();
	struct gprof_probe user, kernel_probe;
	struct gprof_error e;

	tracefs = lib_tmpdir();
	ASSERT_NE(NULL, tracefs);
	for (size_t i = 0; i < ARRAY_SIZE(there); i++)
		ASSERT_TRUE(lib_write(tracefs, lib_text("events/gprof/%s", there[i]), ""));
	ASSERT_TRUES(lib_write(tracefs, "kprobe_events", ""), lib_write(tracefs, "uprobe_events", ""));
	ASSERT_EQ(0, gprof_probe_add(&user, "/bin/true", NULL, 31, false, "x", &e))
		TH_LOG("%s", e.text);
	EXPECT_WRITTEN("kprobe_events", "-:gprof/k13_1\n");
	EXPECT_WRITTEN("uprobe_events", "-:gprof/u13_20\np:gprof/u%d_0 /bin/true:0x1f\n", pid);
	EXPECT_STREQ(lib_text("gprof:u%d_0", pid), user.event);
	lib_sh("rm -r %s/events/gprof/*13_*", tracefs);
	ASSERT_EQ(0, gprof_probe_add(&kernel_probe, NULL, "do_exit", 31, true, "x", &e));
	gprof_probe_remove(&user);
	EXPECT_WRITTEN("kprobe_events", "-:gprof/k13_1\nr:gprof/k%d_1 do_exit+31\n", pid);
	EXPECT_WRITTEN("uprobe_events", "-:gprof/u13_20\np:gprof/u%d_0 /bin/true:0x1f\n"
		       "-:gprof/u%d_0\n", pid, pid);
	EXPECT_FALSE(user.made);
	EXPECT_EQ(-EINVAL, gprof_probe_add(&user, "/bin/a b", NULL, 31, false, "x", &e));
	lib_sh("rm -r %s", tracefs);
}

/* ---- descriptors ---- */

#define STRANGERS	1024

/* As a daemon does: all are closed, and what it opens gets their numbers. */
static int take_numbers(bool *ours, int *tells, int *file)
{
	const char *path = lib_text("/tmp/gprof_strangers_%d", getpid());

	for (int fd = 3; fd < STRANGERS; fd++)
		ours[fd] = fcntl(fd, F_GETFD) >= 0;
	closefrom(3);
	*tells = fcntl(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC), F_DUPFD_CLOEXEC, STRANGERS);
	*file = fcntl(open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600), F_DUPFD_CLOEXEC,
		      STRANGERS);
	unlink(path);
	closefrom(*file + 1);
	for (int fd = 3; fd < STRANGERS; fd++) {
		close(fd);
		/* the file is ready at once, the other never */
		if (ours[fd] && dup2(fd % 2 ? *file : *tells, fd) != fd)
			return 1;
	}
	return 0;
}

/* In a child: where it went wrong, or 0. */
static int record_and_close(struct gprof_recorder *r)
{
	static bool ours[STRANGERS];
	struct gprof_profile *p = NULL;
	struct rusage before, after;
	int tells, file, fd;
	eventfd_t n;

	if (gprof_recorder_start_events(r, NULL, 1))
		return 1;
	put_generation(0);
	put_samples(0, 3, 0);
	if (take_numbers(ours, &tells, &file))
		return 2;
	kernel.fd = -1;
	getrusage(RUSAGE_SELF, &before);
	usleep(500000);
	getrusage(RUSAGE_SELF, &after);
	/* what is ready there is not waited for */
	if (after.ru_nvcsw - before.ru_nvcsw > 100)
		return 3;
	if (gprof_recorder_stop_profiles(r, &p, 1) != -EBADF || p)
		return 4;
	if (!strstr(gprof_error(), "has closed the recorder meanwhile, and the 3 samples"))
		return 5;
	gprof_recorder_free(r);
	if (kernel.stopped)
		return 6;
	for (fd = 3; fd < STRANGERS; fd++)
		if (ours[fd] != (fcntl(fd, F_GETFD) >= 0))
			return 7;
	return eventfd_read(tells, &n) < 0 && errno == EAGAIN && !lseek(file, 0, SEEK_END) ? 0 : 8;
}

TEST_F(device, what_the_program_has_under_our_numbers_is_let_alone)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		alarm(20);
		_exit(record_and_close(self->r));
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status) TH_LOG("step %d", WEXITSTATUS(status));
}

static unsigned int open_below(int end)
{
	unsigned int n = 0;

	for (int fd = 3; fd < end; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/* Programs close what lies low, and count on what they open next. */
TEST_F(device, our_numbers_are_high)
{
	unsigned int before = open_below(512);
	struct gprof_recorder *r = make(&opts, &self->e);

	ASSERT_NE(NULL, r);
	EXPECT_EQS(0, gprof_recorder_start(r, self->out), before, open_below(512));
	EXPECT_LT(before, open_below(1024));
	EXPECT_EQ(0, gprof_recorder_stop(r));
	gprof_recorder_free(r);
	EXPECT_EQ(before, open_below(512));
}

TEST_HARNESS_MAIN
