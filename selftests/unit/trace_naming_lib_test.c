// SPDX-License-Identifier: GPL-2.0-only
/* Stacks of rings, named as they are written: this program's own, whose functions are known. */
#include "harness.h"
#include <gprof/trace.h>

#include "lib_util.h"
#include "trace/convert/trace_merge.h"

#define CPUS	2
#define START	1000000000ULL
#define MS	1000000ULL

static uint64_t clock_ns;

static uint64_t now(void)
{
	return clock_ns;
}

__attribute__((noinline)) int waits(int x);
__attribute__((noinline)) int waits(int x)
{
	__asm__ volatile("" : "+r"(x));
	return x * 3;
}

__attribute__((noinline)) int wakes(int x);
__attribute__((noinline)) int wakes(int x)
{
	__asm__ volatile("" : "+r"(x));
	return x * 5;
}

FIXTURE(naming) {
	struct gprof_ring_head heads[CPUS];
	struct gprof_ring_tail tails[CPUS];
	unsigned char *data[CPUS];
	uint64_t size;
	struct gprof_ring rings[CPUS];
	struct gprof_buffer buffer;
	struct gprof_trace_merge m;
	struct gprof_trace_naming n;
	struct gprof_process process;
	int fd;
};

static bool lend(FIXTURE_DATA(naming) *self, int cpu)
{
	self->data[cpu] = lib_ring(self->size);
	self->rings[cpu] = (struct gprof_ring){
		.head = &self->heads[cpu], .tail = &self->tails[cpu], .data = self->data[cpu],
		.size = self->size, .cpu = (uint32_t)cpu,
	};
	return self->data[cpu];
}

static void put(FIXTURE_DATA(naming) *self, int cpu, const void *rec, size_t size)
{
	uint64_t head = self->heads[cpu].head;

	memcpy(self->data[cpu] + head % self->size, rec, size);
	__atomic_store_n(&self->heads[cpu].head, head + size, __ATOMIC_RELEASE);
}

static void generation(FIXTURE_DATA(naming) *self, int cpu, uint64_t time)
{
	struct gprof_generation_rec g = {
		.rec = { GPROF_REC_GENERATION, 0, sizeof(g) }, .generation = 1, .mono_ns = time,
		.real_ns = 1, .weight = 1000, .cpu = (uint32_t)cpu,
	};

	put(self, cpu, &g, sizeof(g));
}

static void word(FIXTURE_DATA(naming) *self, int cpu, unsigned int type, unsigned int arg,
		 uint64_t number, uint64_t time)
{
	uint64_t w = arg | type << GPROF_TRACE_ARG_BITS | GPROF_REC_SHORT |
		     number << GPROF_TRACE_TID_SHIFT |
		     (time - START) / 64 << GPROF_TRACE_TIME_SHIFT;

	put(self, cpu, &w, sizeof(w));
}

static void stack(FIXTURE_DATA(naming) *self, int cpu, uint32_t id, const void *function)
{
	uint64_t rec[sizeof(struct gprof_stack_rec) / 8 + 1] = { 0 };
	struct gprof_stack_rec *s = (void *)rec;

	s->rec = (struct gprof_rec){ GPROF_REC_STACK, 0, sizeof(rec) };
	s->id = id;
	s->exec_map_seq = 1;
	s->nr_user = 1;
	s->process = self->process;
	s->frames[0] = (uintptr_t)function + 1;
	put(self, cpu, rec, sizeof(rec));
}

static void sample(FIXTURE_DATA(naming) *self, int cpu, unsigned int flags, uint32_t id,
		   uint64_t time)
{
	struct gprof_sample_rec s = {
		.rec = { GPROF_REC_SAMPLE, (uint16_t)flags, sizeof(s) },
		.time = time, .tid = 10, .stack = id,
	};

	put(self, cpu, &s, sizeof(s));
}

/* The mapping that this function lies in, as the kernel tells it. */
static bool map(FIXTURE_DATA(naming) *self, int cpu, uint64_t time)
{
	unsigned long start, end, offset, inode;
	char line[512], path[256];
	unsigned int major, minor;
	union {
		struct gprof_map_rec rec;
		char bytes[sizeof(struct gprof_map_rec) + 256];
	} m = { 0 };
	FILE *f = fopen("/proc/self/maps", "r");
	bool found = false;

	while (f && !found && fgets(line, sizeof(line), f))
		found = sscanf(line, "%lx-%lx %*s %lx %x:%x %lu %255s", &start, &end, &offset,
			       &major, &minor, &inode, path) == 7 &&
			start <= (uintptr_t)waits && (uintptr_t)waits < end;
	if (f)
		fclose(f);
	if (!found)
		return false;
	m.rec = (struct gprof_map_rec){
		.rec = { GPROF_REC_MAP, GPROF_MAP_REC_F_FIRST | GPROF_MAP_REC_F_LAST, sizeof(m) },
		.process = self->process, .time = time, .start = start, .end = end,
		.offset = offset, .inode = inode, .dev_major = major, .dev_minor = minor,
		.exec_map_seq = 1,
	};
	strcpy(m.rec.path, path);
	m.rec.rec.size = (uint32_t)((sizeof(m.rec) + strlen(path) + 8) & ~7UL);
	put(self, cpu, &m, m.rec.rec.size);
	return true;
}

FIXTURE_SETUP(naming)
{
	clock_ns = START;
	self->size = (uint64_t)sysconf(_SC_PAGESIZE) * 16;
	for (int i = 0; i < CPUS; i++)
		ASSERT_TRUE(lend(self, i));
	self->buffer.rings = self->rings;
	self->buffer.nr = CPUS;
	self->process = (struct gprof_process){ (uint32_t)getpid(), 1, lib_start_ns(getpid()) };
	self->fd = memfd_create("trace", MFD_CLOEXEC);
	ASSERT_EQ(0, gprof_trace_naming_init(&self->n));
	ASSERT_EQ(0, gprof_trace_merge_init(&self->m, &self->buffer, 100 * MS));
	self->m.writer = gprof_trace_writer_new(self->fd, NULL);
	ASSERT_NE(NULL, self->m.writer);
	gprof_trace_merge_begin(&self->m, &self->n, START);
	generation(self, 0, START);
	generation(self, 1, START);
}

FIXTURE_TEARDOWN(naming)
{
	gprof_trace_writer_close(self->m.writer);
	gprof_trace_merge_free(&self->m);
	gprof_trace_naming_free(&self->n);
	for (int i = 0; i < CPUS; i++)
		munmap(self->data[i], 2 * self->size);
	close(self->fd);
}

/* How many events of a type have a stack whose leaf is that function; -1: no trace. */
static int told(FIXTURE_DATA(naming) *self, const char *type, const char *function)
{
	struct gprof_trace_frame f;
	struct gprof_trace_event ev;
	struct gprof_trace *t;
	int n = 0, ret;

	lseek(self->fd, 0, SEEK_SET);
	t = gprof_trace_new(self->fd, NULL);
	if (!t)
		return -1;
	while ((ret = gprof_trace_next(t, &ev)) > 0)
		n += !strcmp(gprof_trace_type_name(ev.type), type) &&
		     gprof_trace_stack(t, ev.stack, &f, 1) && !strcmp(f.function.s, function);
	gprof_trace_free(t);
	return ret ? -1 : n;
}

static int finish(FIXTURE_DATA(naming) *self)
{
	int err = gprof_trace_merge_read(&self->m, now, true), end;

	end = gprof_trace_writer_close(self->m.writer);
	self->m.writer = NULL;
	return err ? err : end;
}

/* 10 waits on CPU 0, and is woken there by who runs then. */
static void round_trip(FIXTURE_DATA(naming) *self, uint64_t time)
{
	word(self, 0, GPROF_TRACE_SWITCH, GPROF_TRACE_PREV_SLEEPS, 11, time);
	sample(self, 0, GPROF_SAMPLE_REC_F_EVENT, 1, time);
	word(self, 0, GPROF_TRACE_WAKING, GPROF_TRACE_BY_TASK, 10, time + MS);
	sample(self, 0, GPROF_SAMPLE_REC_F_EVENT, 2, time + MS);
	word(self, 0, GPROF_TRACE_SWITCH, GPROF_TRACE_PREV_PREEMPTED, 10, time + 2 * MS);
}

/* Mappings come behind, and from another CPU. */
TEST_F(naming, stacks_have_names_though_mappings_come_later)
{
	word(self, 0, GPROF_TRACE_RUNNING, 0, 10, START);
	stack(self, 0, 1, waits);
	stack(self, 0, 2, wakes);
	for (int i = 0; i < 10; i++)
		round_trip(self, START + MS + 3 * (uint64_t)i * MS);
	sample(self, 0, 0, 2, START + 50 * MS);
	ASSERT_TRUE(map(self, 1, START + 60 * MS));
	clock_ns = START + 2000 * MS;
	ASSERT_EQ(0, finish(self));
	EXPECT_EQS(10, told(self, "GoBlock", "waits"), 10, told(self, "GoUnblock", "wakes"),
		   1, told(self, "CPUSample", "wakes"));
	EXPECT_EQS(20, self->m.cpus[0].k.with_stack, 0, self->m.cpus[0].k.orphans);
}

/* Whatever is forgotten meanwhile, what is still referred to keeps its name. */
TEST_F(naming, names_are_found_again_when_they_were_forgotten)
{
	uint64_t time = START;

	self->n.max = 1;
	ASSERT_TRUE(map(self, 1, START));
	/* The first of all, so that those of the others change their numbers when it goes. */
	stack(self, 1, 99, (const char *)map + 99);
	ASSERT_EQS(0, gprof_trace_merge_read(&self->m, now, false), 1, self->n.stacks.nr);
	word(self, 0, GPROF_TRACE_RUNNING, 0, 10, START);
	stack(self, 0, 1, waits);
	stack(self, 0, 2, wakes);
	for (int i = 0; i < 20; i++) {
		/* One that is not needed any more, a generation long. */
		stack(self, 1, (uint32_t)i + 1, (const char *)map + i);
		generation(self, 1, START);
		round_trip(self, time + MS);
		time += 100 * MS;
		clock_ns = time + 900 * MS;
		ASSERT_EQ(0, gprof_trace_merge_read(&self->m, now, false));
		self->n.max = 1;
	}
	EXPECT_LT(5, self->n.forgotten);
	EXPECT_GE(4, self->n.stacks.nr);
	clock_ns += 2000 * MS;
	ASSERT_EQ(0, finish(self));
	EXPECT_EQS(20, told(self, "GoBlock", "waits"), 20, told(self, "GoUnblock", "wakes"));
}

/* A process that has gone is forgotten, and one that is there is not. */
TEST_F(naming, mappings_of_living_processes_are_kept)
{
	const struct gprof_process own = self->process;

	ASSERT_TRUE(map(self, 0, START));
	for (uint32_t i = 0; i < 50; i++) {
		self->process = (struct gprof_process){
			own.pid, 2 + i, own.start_ns + (1 + i) * 1000000000ULL,
		};
		ASSERT_TRUE(map(self, 1, START));
	}
	self->process = own;
	word(self, 0, GPROF_TRACE_RUNNING, 0, 10, START);
	stack(self, 0, 1, waits);
	stack(self, 0, 2, wakes);
	round_trip(self, START + MS);
	clock_ns = START + 1000 * MS;
	ASSERT_EQ(0, gprof_trace_merge_read(&self->m, now, false));
	EXPECT_EQ(51, self->n.spaces.nr);
	self->n.max = 1;
	round_trip(self, START + 1100 * MS);
	clock_ns = START + 3000 * MS;
	ASSERT_EQ(0, gprof_trace_merge_read(&self->m, now, false));
	EXPECT_LT(0, self->n.forgotten);
	EXPECT_GT(3, self->n.spaces.nr);
	EXPECT_NE(NULL, gprof_spaces_find(&self->n.spaces, &own));
	ASSERT_EQ(0, finish(self));
	EXPECT_EQ(2, told(self, "GoBlock", "waits"));
}

/* It is told when its stack cannot come any more, and not before. */
TEST_F(naming, an_event_waits_for_its_stack)
{
	stack(self, 0, 1, waits);
	word(self, 0, GPROF_TRACE_RUNNING, 0, 10, START);
	word(self, 0, GPROF_TRACE_SWITCH, GPROF_TRACE_PREV_SLEEPS, 0, START + MS);
	clock_ns = START + 2 * MS;
	ASSERT_EQ(0, gprof_trace_merge_read(&self->m, now, false));
	EXPECT_EQS(1, self->m.added, START + MS, self->m.cpus[0].reached);
	clock_ns += GPROF_TRACE_STACK_LATE_NS;
	ASSERT_EQ(0, gprof_trace_merge_read(&self->m, now, false));
	EXPECT_EQS(2, self->m.added, clock_ns, self->m.cpus[0].reached);
	/* What comes at the very end too. */
	word(self, 0, GPROF_TRACE_SWITCH, GPROF_TRACE_PREV_IDLE, 10, START + 50 * MS);
	ASSERT_EQ(0, finish(self));
	EXPECT_EQ(3, self->m.added);
}

TEST_HARNESS_MAIN
