// SPDX-License-Identifier: GPL-2.0-only
/* library_test: libgprof on a live kernel. What needs no module is in unit/. */
#include <gprof/flight.h>
#include <gprof/labels.h>
#include <limits.h>
#include <malloc.h>
#include "harness.h"
#include "device.h"
#include "record.h"
#include "workload.h"

#define BURN_MS	300

FIXTURE(library) {
	struct gprof_cpu_event events[2];
	struct gprof_cpu_config cfg;
	struct gprof_recorder_stats st;
	struct gprof_recorder *r;
	int fd;
};

FIXTURE_SETUP(library)
{
	self->events[0] = (struct gprof_cpu_event){
		.name = "timer", .hz = 1000, .flags = GPROF_EVENT_KERNEL,
	};
	self->cfg = (struct gprof_cpu_config){
		.sz = sizeof(self->cfg), .target = { .type = GPROF_SELF },
		.events = self->events, .nr_events = 1,
	};
	self->st.sz = sizeof(self->st);
	self->fd = record_file();
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(library)
{
	gprof_recorder_free(self->r);
	close(self->fd);
}

#define NEW() do {							\
	self->r = gprof_cpu_recorder_new(&self->cfg);			\
	ASSERT_NE(NULL, self->r) TH_LOG("%s", gprof_error());		\
} while (0)

#define EXPECT_OK(_call)	EXPECT_EQ(0, _call) TH_LOG("%s", gprof_error())

/* A refused configuration: NULL, errno, and a sentence that says the word. */
#define EXPECT_REFUSED(_errno, _word) do {				\
	EXPECT_ERRNO(_errno, gprof_cpu_recorder_new(&self->cfg));	\
	EXPECT_SAYS(gprof_error(), _word);				\
} while (0)

/* The profile that was recorded to @fd, which it closes. */
static struct gprof_profile *profile_of(struct __test_metadata *_metadata, int fd)
{
	const char *error = "";
	struct gprof_profile *p = record_profile(fd, &error);

	EXPECT_NE(NULL, p) TH_LOG("%s", error);
	return p;
}

#define PROFILE(_p, _fd)	ASSERT_NE(NULL, (_p) = profile_of(_metadata, _fd))

/* ---- the order of calls ---- */

TEST_F(library, recorder_may_be_started_again)
{
	struct gprof_profile *p;
	int64_t total[2];
	int i, fd;

	NEW();
	for (i = 0; i < 2; i++) {
		fd = record_file();
		EXPECT_OK(gprof_recorder_start(self->r, fd));
		burn_ns(100000000ULL * (i + 1));
		EXPECT_OK(gprof_recorder_stop(self->r));
		PROFILE(p, fd);
		total[i] = gprof_profile_total(p, 0);
		gprof_profile_free(p);
	}
	/* each has its own time only, and the counts are those of the last */
	EXPECT_LTS(0, total[0], 0, total[1]);
	EXPECT_OK(gprof_recorder_stats(self->r, 0, &self->st));
	EXPECT_EQ(self->st.read, (uint64_t)total[1]);
}

/*
 * What malloc() keeps for a thread counts as used, and grows with each size that was freed.
 * By its path: executed as /proc/self/exe, the process would have the name "exe".
 */
static __attribute__((constructor)) void keep_nothing_for_threads(int argc, char **argv)
{
	char path[PATH_MAX];
	ssize_t n;

	if (getenv("GLIBC_TUNABLES"))
		return;
	n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	if (n <= 0)
		return;
	path[n] = '\0';
	setenv("GLIBC_TUNABLES", "glibc.malloc.tcache_count=0", 1);
	execv(path, argv);
}

/*
 * Each round records a few processes that are new, with their names, mappings and stacks.
 * An emulated CPU, or a kernel with every check on, does not get through a hundred of them.
 */
TEST_F(library, a_hundred_recordings_take_the_memory_of_one)
{
	uint64_t end = monotonic_ns() + 20000000000ULL;
	size_t before = 0, after;
	int i, j, null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	NEW();
	for (i = 0; i < 100 && (i < 25 || monotonic_ns() < end); i++) {
		if (i == 10)
			before = mallinfo2().uordblks;
		ASSERT_EQ(0, gprof_recorder_start(self->r, null));
		for (j = 0; j < 3; j++)
			ASSERT_EQ(0, IN_CHILD((burn_ns(4000000), 0)));
		ASSERT_EQ(0, gprof_recorder_stop(self->r)) TH_LOG("%s", gprof_error());
	}
	after = mallinfo2().uordblks;
	close(null);
	TH_LOG("%zu bytes after 10, %zu after %d", before, after, i);
	EXPECT_GT(before + 50000, after);
}

/* Counts @n down; needs nothing of where it lies. */
static void __attribute__((noinline, aligned(64))) count_down(volatile uint64_t *n)
{
	while (*n)
		*n = *n - 1;
}

static int name_generated(const char *path, const void *code, const char *name)
{
	FILE *f = fopen(path, "we");

	if (!f)
		return -1;
	fprintf(f, "%lx 100 %s\n", (unsigned long)code, name);
	return fclose(f);
}

/* A jitdump with one function of 128 bytes, and a place; its page mapped as it has to be. */
static void *dump_generated(const char *path, const void *code, const char *name)
{
	struct {
		uint32_t magic, version, total_size, elf_mach, pad, pid;
		uint64_t timestamp, flags;
		struct {
			uint32_t id, total_size;
			uint64_t timestamp, addr, nr, at;
			uint32_t line, discriminator;
			char file[8];
		} debug;
		struct {
			uint32_t id, total_size;
			uint64_t timestamp;
			uint32_t pid, tid;
			uint64_t vma, addr, size, index;
			char name[16];
			char code[128];
		} load;
	} d = {
		.magic = 0x4a695444, .version = 1, .total_size = 40, .pid = getpid(),
		.debug = { .id = 2, .total_size = sizeof(d.debug), .nr = 1, .line = 77,
			   .addr = (uintptr_t)code, .at = (uintptr_t)code, .file = "spin.js" },
		.load = { .total_size = sizeof(d.load), .pid = getpid(), .tid = getpid(),
			  .addr = (uintptr_t)code, .size = sizeof(d.load.code), .index = 1 },
	};
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	void *page = MAP_FAILED;

	strncpy(d.load.name, name, sizeof(d.load.name) - 1);
	memcpy(d.load.code, code, sizeof(d.load.code));
	if (write(fd, &d, sizeof(d)) == sizeof(d))
		page = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	close(fd);
	return page;
}

struct sought {
	const char *name;
	int64_t samples;
	const char *file;
	int64_t line;
};

static int seek_name(void *ctx, const struct gprof_frame *frames, size_t nr, const int64_t *values)
{
	struct sought *s = ctx;

	if (nr && !strcmp(frames[0].function, s->name)) {
		s->samples += values[0];
		s->file = frames[0].file;
		s->line = frames[0].line;
	}
	return 0;
}

TEST_F(library, a_recording_has_the_names_of_its_time)
{
	static const char *const names[] = { "first_name", "second_name", "dumped_name" };
	struct sought sought;
	struct gprof_profile *p;
	volatile uint64_t n;
	uint64_t end;
	void *code, *page = NULL;
	char path[64], dump[64];
	int i, fd;

	code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, code);
	memcpy(code, (const void *)(uintptr_t)count_down, 128);
	__builtin___clear_cache(code, (char *)code + 128);
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	snprintf(dump, sizeof(dump), "/tmp/jit-%d.dump", getpid());
	NEW();
	for (i = 0; i < 3; i++) {
		if (i < 2) {
			ASSERT_EQ(0, name_generated(path, code, names[i]));
		} else {
			page = dump_generated(dump, code, names[i]);
			ASSERT_NE(MAP_FAILED, page);
		}
		fd = record_file();
		EXPECT_OK(gprof_recorder_start(self->r, fd));
		end = thread_cpu_ns() + 100000000;
		while (thread_cpu_ns() < end) {
			n = 100000;
			((void (*)(volatile uint64_t *))(uintptr_t)code)(&n);
		}
		EXPECT_OK(gprof_recorder_stop(self->r));
		PROFILE(p, fd);
		sought = (struct sought){ .name = names[i] };
		gprof_profile_each(p, seek_name, &sought);
		EXPECT_LT(10, sought.samples)
			TH_LOG("%s: %lld samples", names[i], (long long)sought.samples);
		if (i == 2) {
			ASSERT_NE(NULL, sought.file);
			EXPECT_STREQ("spin.js", sought.file);
			EXPECT_EQ(77, sought.line);
		}
		gprof_profile_free(p);
	}
	unlink(path);
	unlink(dump);
	munmap(page, 4096);
	munmap(code, 4096);
}

/* The mapping of this program that has @code, once more, above 2^50; or NULL. */
static void *mapped_high(const void *code)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	char *high = MAP_FAILED;
	struct mapped_file m;

	if (mapped_at(code, &m))
		high = mmap((void *)(1UL << 51), m.end - m.start, PROT_READ | PROT_EXEC,
			    MAP_PRIVATE, fd, m.offset) + ((uintptr_t)code - m.start);
	close(fd);
	return (uintptr_t)high > 1UL << 50 && (uintptr_t)high < 1UL << 56 ? high : NULL;
}

/* Where a process has to ask for a place with more bits than 47. */
TEST_F(library, what_lies_high_has_its_names_too)
{
	struct sought sought = { .name = "count_down" };
	struct gprof_profile *p;
	volatile uint64_t n;
	uint64_t end;
	void *high = mapped_high((const void *)(uintptr_t)count_down);

	SKIP_UNLESS(high, "this machine has no such addresses");
	NEW();
	EXPECT_OK(gprof_recorder_start(self->r, self->fd));
	end = thread_cpu_ns() + 100000000;
	while (thread_cpu_ns() < end) {
		n = 100000;
		((void (*)(volatile uint64_t *))(uintptr_t)high)(&n);
	}
	EXPECT_OK(gprof_recorder_stop(self->r));
	PROFILE(p, self->fd);
	self->fd = -1;
	gprof_profile_each(p, seek_name, &sought);
	EXPECT_LT(10, sought.samples);
	gprof_profile_free(p);
}

/* ---- what is refused ---- */

TEST_F(library, targets_that_are_not_there_are_refused)
{
	self->cfg.target = (struct gprof_target){ .type = GPROF_PROCESS, .id = 4194300 };
	EXPECT_REFUSED(ESRCH, "no such");
	self->cfg.target = (struct gprof_target){ .type = GPROF_CPUS, .name = "4000" };
	EXPECT_REFUSED(ENODEV, "CPU");
}

/* ---- several events ---- */

TEST_F(library, same_output_twice_is_EEXIST)
{
	int fds[2] = { self->fd, dup(self->fd) };

	SKIP_UNLESS(!perf_refuses(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, true),
		    "two events are needed, perf has no cycles here");
	self->events[1] = (struct gprof_cpu_event){ .name = "cycles" };
	self->cfg.nr_events = 2;
	NEW();
	EXPECT_EQ(-EEXIST, gprof_recorder_start_events(self->r, fds, 2));
	close(fds[1]);
	fds[1] = self->fd;
	EXPECT_EQ(-EEXIST, gprof_recorder_start_events(self->r, fds, 2));
}

TEST_F(library, each_event_has_its_output)
{
	const struct gprof_value_type *types;
	int fds[2] = { record_file(), record_file() }, i;
	struct gprof_profile *p;

	SKIP_UNLESS(!perf_refuses(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, true),
		    "two events are needed, perf has no cycles here");
	self->events[1] = (struct gprof_cpu_event){ .name = "cycles", .period = 1000000 };
	self->cfg.nr_events = 2;
	NEW();
	EXPECT_OK(gprof_recorder_start_events(self->r, fds, 2));
	burn_ns(BURN_MS * 1000000ULL);
	EXPECT_OK(gprof_recorder_stop(self->r));
	for (i = 0; i < 2; i++) {
		EXPECT_OK(gprof_recorder_stats(self->r, i, &self->st));
		EXPECT_STREQ(self->events[i].name, self->st.event);
		PROFILE(p, fds[i]);
		ASSERT_EQ(2, gprof_profile_types(p, &types));
		EXPECT_STREQS("samples", types[0].type, i ? "cycles" : "cpu", types[1].type);
		EXPECT_EQ(self->st.read, (uint64_t)gprof_profile_total(p, 0));
		gprof_profile_free(p);
	}
}

/* Burns as one of two parts of a program. */
static void __attribute__((noipa)) burn_part(uint64_t ns)
{
	burn_ns(ns);
	__asm__ volatile("");
}

struct parts {
	struct gprof_profile *p;
	int64_t samples[3];	/* in burn_part: without a label, with "0", with "1" */
	int64_t astray;		/* elsewhere, with a label */
};

static int count_parts(void *ctx, const struct gprof_frame *frames, size_t nr,
		       const int64_t *values)
{
	struct parts *c = ctx;
	const char *part = gprof_profile_label(c->p, "part", NULL);
	size_t i;

	for (i = 0; i < nr && strcmp(frames[i].function, "burn_part"); i++)
		;
	if (i < nr)
		c->samples[part ? part[0] - '0' + 1 : 0] += values[0];
	else if (part && nr > 1 && !strcmp(frames[0].function, "burn_ns"))
		c->astray += values[0];
	return 0;
}

TEST_F(library, labels_of_a_thread_are_those_of_its_samples)
{
	static const char *const texts[] = { "0", "1" };
	struct parts c = { 0 };

	self->events[0].hz = 1000;
	NEW();
	EXPECT_OK(gprof_recorder_start_events(self->r, NULL, 1));
	/* before there were any labels, and between */
	burn_ns(50000000);
	for (int i = 0; i < 20; i++) {
		const struct gprof_tag tag = { .key = "part", .text = texts[i & 1] };

		EXPECT_EQ(0, gprof_labels_push(&tag, 1));
		burn_part(10000000);
		gprof_labels_pop();
		burn_ns(1000000);
	}
	EXPECT_OK(gprof_recorder_stop_profiles(self->r, &c.p, 1));
	ASSERT_NE(NULL, c.p);
	EXPECT_EQ(0, gprof_profile_each(c.p, count_parts, &c));
	TH_LOG("%lld without, %lld and %lld with, %lld astray", (long long)c.samples[0],
	       (long long)c.samples[1], (long long)c.samples[2], (long long)c.astray);
	EXPECT_EQS(0, c.samples[0], 0, c.astray);
	EXPECT_LTS(5, c.samples[1], 5, c.samples[2]);
	gprof_profile_free(c.p);
}

/* Counts what it is given, up to @room. */
struct sink {
	size_t bytes;
	size_t room;
	int fd;
};

static int take_bytes(void *ctx, const void *data, size_t len)
{
	struct sink *s = ctx;

	s->bytes += len;
	if (s->bytes > s->room)
		return -ENOBUFS;
	return write(s->fd, data, len) == (ssize_t)len ? 0 : -EIO;
}

TEST_F(library, stop_can_give_the_profile)
{
	struct gprof_profile *p[2] = { (void *)1, (void *)2 }, *q;
	struct sink sink = { .room = SIZE_MAX, .fd = self->fd };
	int fd = record_file();

	NEW();
	EXPECT_EQS(-EINVAL, gprof_recorder_stop_profiles(self->r, p, 1), (void *)1, p[0]);
	EXPECT_OK(gprof_recorder_start_events(self->r, NULL, 1));
	burn_ns(BURN_MS * 1000000ULL);
	/* a wrong number stops nothing */
	EXPECT_EQS(-EINVAL, gprof_recorder_stop_profiles(self->r, p, 2),
		   -EINVAL, gprof_recorder_stop_profiles(self->r, NULL, 1), (void *)1, p[0]);
	EXPECT_OK(gprof_recorder_stop_profiles(self->r, p, 1));
	EXPECT_EQ((void *)2, p[1]);
	EXPECT_OK(gprof_recorder_stats(self->r, 0, &self->st));
	gprof_recorder_free(self->r);
	self->r = NULL;
	ASSERT_LT((void *)2, (void *)p[0]);
	EXPECT_LT(0, self->st.read);
	EXPECT_EQ(self->st.read, (uint64_t)gprof_profile_total(p[0], 0));

	/* the same bytes by descriptor and by function, which may refuse */
	EXPECT_EQS(0, gprof_profile_write_to(p[0], take_bytes, &sink),
		   0, gprof_profile_write(p[0], fd), (off_t)sink.bytes, lseek(fd, 0, SEEK_END));
	PROFILE(q, dup(self->fd));
	EXPECT_EQ(gprof_profile_total(p[0], 1), gprof_profile_total(q, 1));
	sink = (struct sink){ .room = 10, .fd = fd };
	EXPECT_EQ(-ENOBUFS, gprof_profile_write_to(p[0], take_bytes, &sink));
	EXPECT_LT(0, strlen(gprof_error()));
	gprof_profile_free(p[0]);
	gprof_profile_free(q);
	close(fd);
}

/* Of the recorder's buffers, after @ns of work; the samples, their weight and their time. */
static int64_t last_seconds(struct __test_metadata *_metadata, FIXTURE_DATA(library) *self,
			    uint64_t ns, int64_t *weight, int64_t *lasted)
{
	struct gprof_profile *p = NULL;
	int64_t start, samples;

	burn_ns(ns);
	EXPECT_OK(gprof_recorder_snapshot(self->r, 0, &p));
	ASSERT_NE(NULL, p);
	samples = gprof_profile_total(p, 0);
	*weight = gprof_profile_total(p, 1);
	gprof_profile_time(p, &start, lasted);
	gprof_profile_free(p);
	return samples;
}

/* More than the buffers take, which are of some pages, however large these are. */
static void burn_until_overwritten(struct __test_metadata *_metadata, FIXTURE_DATA(library) *self)
{
	int i;

	for (i = 0; i < 60; i++) {
		burn_ns(1000000000);
		EXPECT_OK(gprof_recorder_stats(self->r, 0, &self->st));
		if (self->st.overwritten)
			return;
	}
	TH_LOG("nothing is overwritten after a minute's work");
	EXPECT_NE(60, i);
}

/*
 * A flight recorder has what was last and no more, of the time that its profile says, while
 * it goes on; at the end its counts add up.  On one CPU, for what is in the buffers of two
 * begins when either does.
 */
TEST_F(library, a_flight_recorder_gives_what_was_last)
{
	struct gprof_profile *p = (void *)1;
	int64_t samples, weight, lasted, began;

	self->cfg.flight = true;
	self->cfg.buffer_bytes = 8192;
	self->events[0].hz = 500;
	ASSERT_LE(0, pin_to_some_cpu());
	NEW();
	EXPECT_EQS(-EINVAL, gprof_recorder_snapshot(self->r, 0, &p), NULL, p);
	began = monotonic_ns();
	EXPECT_OK(gprof_recorder_start_events(self->r, NULL, 1));
	EXPECT_EQ(-EINVAL, gprof_recorder_snapshot(self->r, 1, &p));
	samples = last_seconds(_metadata, self, 50000000, &weight, &lasted);
	/* on a busy host they are few that stand for more */
	EXPECT_LT(0, samples);
	EXPECT_LES(2000000 * samples, weight, 40000000, weight, 50000000, lasted);
	/* some, of less time than it has been recording */
	burn_until_overwritten(_metadata, self);
	samples = last_seconds(_metadata, self, 500000000, &weight, &lasted);
	EXPECT_LT(0, samples);
	EXPECT_GT((int64_t)monotonic_ns() - began - 100000000, lasted);
	EXPECT_GT(lasted + lasted / 10 + 10000000, weight);
	EXPECT_LT(lasted / 4, weight);
	EXPECT_OK(gprof_recorder_stop_profiles(self->r, &p, 1));
	ASSERT_NE(NULL, p);
	EXPECT_OK(gprof_recorder_stats(self->r, 0, &self->st));
	EXPECT_LT(0, self->st.overwritten);
	EXPECT_EQ(self->st.produced, self->st.read + self->st.lost + self->st.overwritten);
	EXPECT_LE(gprof_profile_total(p, 0), (int64_t)self->st.read);
	gprof_profile_free(p);
	EXPECT_EQ(-EBUSY, gprof_recorder_start_events(self->r, NULL, 1));
	gprof_recorder_free(self->r);
	/* One that is none. */
	self->cfg.flight = false;
	NEW();
	EXPECT_OK(gprof_recorder_start_events(self->r, NULL, 1));
	EXPECT_EQ(-EINVAL, gprof_recorder_snapshot(self->r, 0, &p));
	EXPECT_OK(gprof_recorder_stop(self->r));
}

static void ends(void *arg, int step)
{
	_exit(0);
}

/* That the target has ended is no firing, and does not keep poll() from waiting for one. */
TEST(a_flight_recorder_waits_for_trigger_events)
{
	struct gprof_trace_config cfg = { .sz = sizeof(cfg), .target = { .type = GPROF_PROCESS } };
	struct gprof_flight_fired fired = { .sz = sizeof(fired) };
	struct pollfd pfd = { .events = POLLPRI };
	struct gprof_flight *f;
	struct child child;

	ASSERT_EQ(0, child_fork(&child, ends, NULL));
	cfg.target.id = child.pid;
	f = gprof_flight_new(&cfg, NULL);
	ASSERT_NE(NULL, f) TH_LOG("%s", gprof_error());
	pfd.fd = gprof_flight_fd(f);
	EXPECT_ZEROS(gprof_flight_start(f), poll(&pfd, 1, 0), child_begin(&child));
	EXPECT_EQS(1, poll(&pfd, 1, 30000), -EAGAIN, gprof_flight_fired(f, &fired),
		   0, poll(&pfd, 1, 0));
	gprof_flight_free(f);
	child_end(&child);
}

/* Not even what goes back to the beginning of time is called whole when it is not. */
TEST(a_flight_recorder_says_how_far_it_went_back)
{
	const uint64_t ages[] = { 1, 3600000000000, UINT64_MAX };
	struct gprof_trace_config cfg = { .sz = sizeof(cfg), .target = { .type = GPROF_PROCESS } };
	struct gprof_flight_snapshot snap = { .sz = sizeof(snap) };
	struct gprof_flight_opts opts = { .sz = sizeof(opts) };
	struct gprof_flight_stats st = { .sz = sizeof(st) };
	int fd = memfd_create("trace", 0);
	struct gprof_flight *f;

	cfg.target.id = getpid();
	for (size_t i = 0; i < ARRAY_SIZE(ages); i++) {
		opts.min_age_ns = ages[i];
		opts.max_bytes = 32768 * nr_present_cpus();
		f = gprof_flight_new(&cfg, &opts);
		ASSERT_NE(NULL, f) TH_LOG("%s", gprof_error());
		EXPECT_EQ(0, gprof_flight_start(f));
		do {
			usleep(1);
			EXPECT_EQ(0, gprof_flight_stats(f, &st));
		} while (!st.overwritten);
		EXPECT_EQ(0, gprof_flight_snapshot(f, fd, &snap)) TH_LOG("%s", gprof_error());
		EXPECT_EQ(i == 0, snap.whole);
		gprof_flight_free(f);
	}
	close(fd);
}

TEST_F(library, given_profiles_are_not_written)
{
	struct gprof_profile *p = NULL;

	NEW();
	EXPECT_OK(gprof_recorder_start(self->r, self->fd));
	EXPECT_OK(gprof_recorder_stop_profiles(self->r, &p, 1));
	EXPECT_NE(NULL, p);
	gprof_profile_free(p);
	EXPECT_EQ(0, lseek(self->fd, 0, SEEK_END));
	/* nor is what nobody wants */
	EXPECT_OK(gprof_recorder_start_events(self->r, NULL, 1));
	EXPECT_OK(gprof_recorder_stop(self->r));
}

/* ---- what is in the profile ---- */

/* Burns under the recorder; the profile. */
static struct gprof_profile *profile(struct __test_metadata *_metadata,
				     FIXTURE_DATA(library) *self)
{
	NEW();
	EXPECT_OK(gprof_recorder_start(self->r, self->fd));
	burn_ns(BURN_MS * 1000000ULL);
	EXPECT_OK(gprof_recorder_stop(self->r));
	EXPECT_OK(gprof_recorder_stats(self->r, 0, &self->st));
	return profile_of(_metadata, dup(self->fd));
}

TEST_F(library, samples_in_the_file_are_those_that_were_read)
{
	struct gprof_profile *p = profile(_metadata, self);

	ASSERT_NE(NULL, p);
	EXPECT_EQS(self->st.produced, self->st.read + self->st.lost + self->st.overwritten,
		   self->st.read, (uint64_t)gprof_profile_total(p, 0),
		   self->st.produced, self->st.nmi + self->st.irq + self->st.task);
	gprof_profile_free(p);
}

TEST_F(library, total_is_what_was_counted)
{
	struct gprof_profile *p;
	int64_t total;

	if (!perf_refuses(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, true))
		self->events[0] = (struct gprof_cpu_event){ .name = "cycles", .period = 100000 };
	p = profile(_metadata, self);
	ASSERT_NE(NULL, p);
	total = gprof_profile_total(p, 1);
	TH_LOG("total %lld, counted %llu", (long long)total, ull(self->st.count));
	ASSERT_LT(0, self->st.count);
	/* each thread may have up to a period that did not overflow */
	EXPECT_LE((int64_t)(self->st.count * 9 / 10), total + 5000000);
	EXPECT_GE((int64_t)(self->st.count * 11 / 10), total - 5000000);
	gprof_profile_free(p);
}

TEST_F(library, profile_says_what_it_is)
{
	const struct gprof_value_type *types;
	struct timespec now;
	int64_t start, duration;
	struct gprof_profile *p;
	const char *comment;
	bool counts = false;

	clock_gettime(CLOCK_REALTIME, &now);
	p = profile(_metadata, self);
	ASSERT_NE(NULL, p);
	ASSERT_EQ(2, gprof_profile_types(p, &types));
	EXPECT_STREQS("samples", types[0].type, "count", types[0].unit, "cpu", types[1].type,
		      "nanoseconds", types[1].unit);
	EXPECT_EQ(1, gprof_profile_default_type(p));
	gprof_profile_time(p, &start, &duration);
	EXPECT_WITHIN(now.tv_sec - 1, start / 1000000000, now.tv_sec + 60);
	EXPECT_WITHIN(BURN_MS * 900000LL, duration, 60000000000LL);
	for (size_t i = 0; (comment = gprof_profile_comment(p, i)); i++)
		counts |= strstr(comment, "produced=") != NULL;
	EXPECT_TRUE(counts);
	gprof_profile_free(p);
}

struct labels {
	struct gprof_profile *p;
	uint64_t samples, wrong, named;
};

static int check_labels(void *ctx, const struct gprof_frame *frames, size_t nr,
			const int64_t *values)
{
	struct labels *l = ctx;
	const char *comm = gprof_profile_label(l->p, "comm", NULL);
	int64_t pid = 0, tid = 0;

	l->samples++;
	l->wrong += !gprof_profile_label(l->p, "pid", &pid) || pid != getpid();
	l->wrong += !gprof_profile_label(l->p, "tid", &tid) || !tid;
	/* the library's own thread shows too, under its name */
	l->wrong += !comm || (strcmp(comm, "library_test") && tid == getpid());
	l->wrong += gprof_profile_label(l->p, "nonsense", NULL) != NULL;
	for (size_t i = 0; i < nr; i++)
		l->named += !strcmp(frames[i].function, "burn_ns");
	return 0;
}

TEST_F(library, samples_are_labelled_and_named)
{
	struct labels l = { .p = profile(_metadata, self) };

	ASSERT_NE(NULL, l.p);
	EXPECT_EQ(0, gprof_profile_each(l.p, check_labels, &l));
	EXPECT_LTS(0, l.samples, 0, l.named);
	EXPECT_EQ(0, l.wrong);
	gprof_profile_free(l.p);
}

static int count_burn(void *ctx, const struct gprof_frame *frames, size_t nr,
		      const int64_t *values)
{
	for (size_t i = 0; i < nr; i++) {
		if (!strcmp(frames[i].function, "burn_ns")) {
			*(int64_t *)ctx += values[0];
			break;
		}
	}
	return 0;
}

TEST_F(library, process_that_lived_50_ms_has_its_names)
{
	char *argv[] = { beside_us("burner"), "50", NULL };
	const char *error = "";
	struct gprof_profile *p = record_command(argv, self->events, false, &self->st, &error);
	int64_t named = 0;

	ASSERT_NE(NULL, p) TH_LOG("%s", error);
	gprof_profile_each(p, count_burn, &named);
	TH_LOG("%lld of %lld samples are in burn_ns", (long long)named,
	       (long long)gprof_profile_total(p, 0));
	EXPECT_LE(5, named);
	gprof_profile_free(p);
}

/* ---- a good guest in the process ---- */

static volatile sig_atomic_t handled_by_others, handled;
static pid_t main_thread;

static void on_signal(int sig)
{
	handled++;
	handled_by_others += gettid() != main_thread;
}

TEST_F(library, signals_of_the_process_never_reach_the_librarys_thread)
{
	main_thread = gettid();
	signal(SIGUSR1, on_signal);
	NEW();
	EXPECT_OK(gprof_recorder_start(self->r, self->fd));
	for (int i = 0; i < 200; i++) {
		kill(getpid(), SIGUSR1);
		burn_ns(500000);
	}
	EXPECT_OK(gprof_recorder_stop(self->r));
	EXPECT_LT(0, handled);
	EXPECT_EQ(0, handled_by_others);
}

static int nr_threads(void)
{
	return (int)file_field("/proc/self/status", "Threads");
}

TEST_F(library, threads_of_the_library_live_from_start_to_stop)
{
	int before = nr_threads(), tables, made;

	/* One reads the buffers, one makes unwind tables where they are wanted. */
	for (tables = 0; tables < 2; tables++) {
		made = tables && device_has(GPROF_FEAT_TABLES);
		self->cfg.no_unwind_tables = !tables;
		NEW();
		EXPECT_EQ(before, nr_threads());
		EXPECT_OK(gprof_recorder_start(self->r, self->fd));
		/* Those that helped with the tables end, but START waits for their work alone. */
		for (int i = 0; i < 100 && nr_threads() > before + 1 + made; i++)
			sleep_ms(10);
		EXPECT_EQ(before + 1 + made, nr_threads());
		EXPECT_OK(gprof_recorder_stop(self->r));
		EXPECT_EQ(before, nr_threads());
		gprof_recorder_free(self->r);
		self->r = NULL;
		EXPECT_EQ(0, ftruncate(self->fd, 0));
	}
}

static int nr_files(void)
{
	int fd, nr = 0;

	for (fd = 0; fd < 256; fd++)
		nr += fcntl(fd, F_GETFD) >= 0;
	return nr;
}

TEST_F(library, no_file_and_no_memory_stays)
{
	size_t before = 0;
	int files = nr_files(), i;

	for (i = 0; i < 30; i++) {
		NEW();
		EXPECT_OK(gprof_recorder_start(self->r, self->fd));
		burn_ns(5000000);
		EXPECT_OK(gprof_recorder_stop(self->r));
		gprof_recorder_free(self->r);
		self->r = NULL;
		EXPECT_EQ(0, ftruncate(self->fd, 0));
		if (i == 9)
			before = mallinfo2().uordblks;
	}
	EXPECT_EQ(files, nr_files());
	TH_LOG("%zu bytes of heap after 10, %zu after 30", before, mallinfo2().uordblks);
	/* what malloc keeps for the next time counts as used */
	EXPECT_GE(before + 65536, mallinfo2().uordblks);
}

TEST_F(library, files_of_the_library_are_not_inherited_by_exec)
{
	char path[64];
	int fd, flags;

	NEW();
	EXPECT_OK(gprof_recorder_start(self->r, self->fd));
	for (fd = 3; fd < 256; fd++) {
		flags = fcntl(fd, F_GETFD);
		if (flags < 0 || flags & FD_CLOEXEC)
			continue;
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		TH_LOG("descriptor %d stays open", fd);
		EXPECT_LT(fd, 3);
	}
	EXPECT_OK(gprof_recorder_stop(self->r));
}

TEST_HARNESS_MAIN
