// SPDX-License-Identifier: GPL-2.0-only
/*
 * heap_test: what the kernel allocates for a task, and what of it is not freed yet; and the
 * table that tells the latter.
 *
 * Messages of System V queues are of a size that nobody else asks for, and are freed by
 * whoever receives them; files, pages and timers are freed in ways of their own.
 */
#include <arpa/inet.h>
#include <stdatomic.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/timerfd.h>
#include "clock.h"
#include "harness.h"
#include "device.h"
#include "object_table.h"
#include "reader.h"
#include "remains.h"
#include "workload.h"

#define QUEUES		10
#define IN_QUEUE	100
#define TEXT		100
#define MESSAGE		(48 + TEXT)	/* struct msg_msg, and the text */
#define SAMPLES_MAX	200000

/* A sample, as far as it is of interest. */
struct told {
	uint32_t tid;
	uint16_t nr_kernel;
	uint16_t nr_user;
	uint16_t flags;
	uint64_t value;
	uint64_t weight;
	uint64_t live;
	uint64_t ended;
	uint64_t time;
};

FIXTURE(heap) {
	struct gprof_alloc_params params;
	struct gprof_setup setup;
	struct device dev;
	struct reader reader;
	struct gprof_stats st;
	const struct gprof_object_table_head *head;
	size_t head_size;
	struct told *told;
	unsigned int nr;
	int queues[QUEUES];
	size_t page;
};

static void note(void *ctx, const struct reader_sample *s)
{
	FIXTURE_DATA(heap) *self = ctx;
	struct told *t = &self->told[self->nr];

	if (self->nr == SAMPLES_MAX)
		return;
	self->nr++;
	*t = (struct told){
		.tid = s->rec->tid, .time = s->rec->time, .value = s->value,
		.flags = s->rec->rec.flags,
		.weight = s->weight, .live = s->live, .ended = s->ended,
		.nr_kernel = s->stack ? s->stack->nr_kernel : 0,
		.nr_user = s->stack ? s->stack->nr_user : 0,
	};
}

FIXTURE_SETUP(heap)
{
	self->page = sysconf(_SC_PAGESIZE);
	self->params = (struct gprof_alloc_params){
		.size = sizeof(self->params), .flags = GPROF_ALLOC_F_SLAB, .period = 1,
	};
	self->setup = device_setup_kind(GPROF_KIND_HEAP, GPROF_TARGET_PROCESS, getpid(),
					&self->params);
	self->setup.stack |= GPROF_STACK_F_KERNEL;
	self->setup.buffer_size = 4 << 20;
	for (int i = 0; i < QUEUES; i++) {
		self->queues[i] = msgget(IPC_PRIVATE, 0600);
		ASSERT_LE(0, self->queues[i]);
	}
	SKIP_ALL_UNLESS(device_has(GPROF_FEAT_OBJECTS), "no ends of allocations are told here");
}

static void end(FIXTURE_DATA(heap) *self)
{
	if (self->head)
		munmap((void *)self->head, self->head_size);
	reader_free(&self->reader);
	device_close(&self->dev);
	free(self->told);
}

FIXTURE_TEARDOWN(heap)
{
	end(self);
	for (int i = 0; i < QUEUES; i++)
		msgctl(self->queues[i], IPC_RMID, NULL);
}

static void *map_live(FIXTURE_DATA(heap) *self, size_t length, int prot)
{
	return mmap(NULL, length, prot, MAP_SHARED, self->dev.fd, GPROF_MMAP_OBJECTS);
}

static void set_up(struct __test_metadata *_metadata, FIXTURE_DATA(heap) *self)
{
	ASSERT_EQ(0, device_setup(&self->dev, &self->setup))
		TH_LOG("reason %u", self->setup.out_reason);
	ASSERT_ZEROS(device_map(&self->dev), reader_init(&self->reader, &self->dev));
	self->told = calloc(SAMPLES_MAX, sizeof(*self->told));
	ASSERT_NE(NULL, self->told);
	self->reader.on_sample = note;
	self->reader.ctx = self;
	if (self->setup.kind != GPROF_KIND_HEAP)
		return;
	self->head = object_table_map(self->dev.fd, &self->head_size);
	ASSERT_NE(NULL, self->head);
}

static void start(struct __test_metadata *_metadata, FIXTURE_DATA(heap) *self)
{
	set_up(_metadata, self);
	ASSERT_EQ(0, device_start(&self->dev));
}

/* Reads all that there is, and holds the numbers of the ledger to each other. */
static void finish(struct __test_metadata *_metadata, FIXTURE_DATA(heap) *self)
{
	READER_END(&self->reader, &self->st);
	EXPECT_EQ(0, self->reader.unknown);
}

/* Of samples of @tid (0: all) with that value (0: all): how many, and for how many they stand. */
struct sum {
	uint64_t nr, live, in_table, weight, bytes, without_kernel, without_user;
};

static struct sum sum_of(const FIXTURE_DATA(heap) *self, pid_t tid, uint64_t value)
{
	struct sum s = { 0 };

	for (unsigned int i = 0; i < self->nr; i++) {
		const struct told *t = &self->told[i];

		if ((tid && t->tid != (uint32_t)tid) || (value && t->value != value))
			continue;
		s.nr++;
		s.weight += t->weight;
		s.bytes += t->weight * t->value;
		s.without_kernel += t->nr_kernel < 2;
		s.without_user += !t->nr_user;
		s.in_table += !!t->live;
		s.live += object_table_has(self->head, t->live);
	}
	return s;
}

/* The value of a slot that is live, whatever the rings say, or 0. */
static uint64_t slot_live(const FIXTURE_DATA(heap) *self, uint64_t i)
{
	const struct gprof_object_slot *s = object_table_slot(self->head, i);
	uint64_t live = __atomic_load_n(&s->live, __ATOMIC_ACQUIRE);
	uint64_t value = *(volatile __u64 *)&s->value;

	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return live & GPROF_OBJECT_LIVE && *(volatile __u64 *)&s->live == live ? value : 0;
}

/* Slots with that value (0: all) that are live. */
static uint64_t slots_live(const FIXTURE_DATA(heap) *self, uint64_t value)
{
	uint64_t i, is, nr = 0;

	for (i = 0; i < self->head->nr_slots; i++) {
		is = slot_live(self, i);
		nr += is && (!value || is == value);
	}
	return nr;
}

struct message {
	long type;
	char text[TEXT];
};

static bool put(const FIXTURE_DATA(heap) *self, unsigned int nr)
{
	struct message m = { .type = 1 };

	for (unsigned int i = 0; i < nr; i++)
		if (msgsnd(self->queues[i % QUEUES], &m, TEXT, IPC_NOWAIT))
			return false;
	return true;
}

static bool receive(const FIXTURE_DATA(heap) *self, unsigned int nr)
{
	struct message m;

	for (unsigned int i = 0; i < nr; i++)
		if (msgrcv(self->queues[i % QUEUES], &m, TEXT, 0, IPC_NOWAIT) != TEXT)
			return false;
	return true;
}

/* ---- what is told ---- */

TEST_F(heap, each_message_is_told_and_is_live_until_it_is_received)
{
	struct sum s;

	start(_metadata, self);
	ASSERT_TRUES(put(self, 1000), receive(self, 300));
	finish(_metadata, self);
	s = sum_of(self, gettid(), MESSAGE);
	EXPECT_EQS(0, device_lost(&self->st), 1000, s.nr, 1000, s.weight, 1000, s.in_table,
		   700, s.live, 700, slots_live(self, MESSAGE), 0, s.without_kernel,
		   0, s.without_user, 0, self->head->full,
		   slots_live(self, 0), self->head->added - self->head->removed);
}

TEST_F(heap, nothing_of_what_was_all_freed_is_live)
{
	struct sum s;

	start(_metadata, self);
	for (int i = 0; i < 300; i++) {
		ASSERT_TRUES(put(self, QUEUES), receive(self, QUEUES));
	}
	finish(_metadata, self);
	s = sum_of(self, gettid(), MESSAGE);
	EXPECT_EQS(3000, s.nr, 0, s.live, 0, slots_live(self, MESSAGE));
}

TEST_F(heap, kind_alloc_tells_the_same_and_has_no_table)
{
	struct sum s;

	self->setup.kind = GPROF_KIND_ALLOC;
	start(_metadata, self);
	ASSERT_TRUES(put(self, 500), receive(self, 500));
	finish(_metadata, self);
	s = sum_of(self, gettid(), MESSAGE);
	EXPECT_EQS(500, s.nr, 500 * MESSAGE, s.bytes, 0, s.in_table,
		   MAP_FAILED, map_live(self, self->page, PROT_READ), ENODEV, errno);
}

TEST_F(heap, another_process_frees_it)
{
	struct sum s;

	start(_metadata, self);
	ASSERT_TRUE(put(self, 1000));
	ASSERT_EQ(0, IN_CHILD(!receive(self, 600)));
	finish(_metadata, self);
	s = sum_of(self, gettid(), MESSAGE);
	EXPECT_EQS(1000, s.nr, 400, s.live, 400, slots_live(self, MESSAGE));
}

static void receive_all(void *arg, int step)
{
	if (!step)
		_exit(!receive(arg, 1000));
}

TEST_F(heap, a_task_outside_the_target_frees_it)
{
	struct child child;
	struct sum s;

	/* From before, and not of the target, which is one thread. */
	ASSERT_EQ(0, child_fork(&child, receive_all, self));
	self->setup.target = GPROF_TARGET_THREAD;
	self->setup.id = gettid();
	start(_metadata, self);
	ASSERT_TRUE(put(self, 1000));
	EXPECT_ZEROS(child_begin(&child), child_reap(&child));
	finish(_metadata, self);
	s = sum_of(self, 0, MESSAGE);
	EXPECT_EQS(1000, s.nr, 0, s.live, 0, slots_live(self, MESSAGE));
}

/* The kernel frees it later, in a softirq or many at once, without telling. */
static void expect_gone(struct __test_metadata *_metadata, FIXTURE_DATA(heap) *self,
			uint64_t most)
{
	uint64_t until = monotonic_ns() + 60000000000ULL, i;

	while (slots_live(self, 0) > most && monotonic_ns() < until)
		sleep_ms(100);
	EXPECT_GE(most, slots_live(self, 0)) {
		TH_LOG("%llu slots are live", ull(slots_live(self, 0)));
		for (i = 0; i < self->head->nr_slots; i++)
			if (slot_live(self, i))
				TH_LOG("%llu bytes", ull(slot_live(self, i)));
	}
}

TEST_F(heap, files_end_after_they_are_closed)
{
	uint64_t before, open;
	int fds[100][2], i;

	start(_metadata, self);
	before = slots_live(self, 0);
	for (i = 0; i < 100; i++)
		ASSERT_EQ(0, pipe(fds[i]));
	open = slots_live(self, 0);
	/* Two files, an inode, an entry, a pipe and its buffers each. */
	EXPECT_LE(before + 600, open);
	for (i = 0; i < 100; i++) {
		close(fds[i][0]);
		close(fds[i][1]);
	}
	expect_gone(_metadata, self, before + 30);
	finish(_metadata, self);
	EXPECT_EQ(0, self->head->unseen);
}

TEST_F(heap, what_is_freed_many_at_once_ends)
{
	uint64_t before, open;
	int fds[300], i;

	start(_metadata, self);
	before = slots_live(self, 0);
	for (i = 0; i < 300; i++) {
		fds[i] = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
		ASSERT_LE(0, fds[i]);
	}
	open = slots_live(self, 0);
	EXPECT_LE(before + 600, open);
	for (i = 0; i < 300; i++)
		close(fds[i]);
	expect_gone(_metadata, self, before + 60);
	finish(_metadata, self);
	EXPECT_EQ(0, self->head->unseen);
}

TEST_F(heap, pages_are_told_and_end)
{
	struct sum s;
	char *memory;

	self->params.flags = GPROF_ALLOC_F_PAGES;
	memory = private_memory(300 * self->page);
	madvise(memory, 300 * self->page, MADV_NOHUGEPAGE);
	start(_metadata, self);
	for (size_t i = 0; i < 300; i++)
		memory[i * self->page] = 1;
	ASSERT_LE(0, reader_read(&self->reader));
	s = sum_of(self, gettid(), self->page);
	EXPECT_LES(300, s.nr, 300, s.live);
	EXPECT_GE(400, s.nr);
	munmap(memory, 300 * self->page);
	/* Those that have gone to a list of the CPU are free as well. */
	s = sum_of(self, gettid(), self->page);
	EXPECT_GE(100, s.live);
	finish(_metadata, self);
}

/* Of a datagram a part is in eight pages in a row. */
TEST_F(heap, pages_in_a_row_are_told_with_all_their_bytes)
{
	static char data[60000];
	int sockets[2];
	struct sum s;

	SKIP_UNLESS(self->page == 4096, "a datagram does not fill eight pages here");
	self->params.flags = GPROF_ALLOC_F_PAGES;
	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_DGRAM, 0, sockets));
	start(_metadata, self);
	ASSERT_EQ(sizeof(data), write(sockets[0], data, sizeof(data)));
	ASSERT_LE(0, reader_read(&self->reader));
	s = sum_of(self, gettid(), 8 * self->page);
	EXPECT_LE(1, s.live);
	ASSERT_EQ(sizeof(data), read(sockets[1], data, sizeof(data)));
	finish(_metadata, self);
	s = sum_of(self, gettid(), 8 * self->page);
	EXPECT_LE(1, s.nr);
	EXPECT_EQ(0, s.live);
	close(sockets[0]);
	close(sockets[1]);
}

struct range {
	uint64_t from, to;
};

/* Functions of the slab allocator that get pages. */
static unsigned int slab_functions(struct range *ranges, unsigned int max)
{
	static const char *const names[] = { "allocate_slab", "new_slab", "___slab_alloc" };
	FILE *f = fopen("/proc/kallsyms", "r");
	char line[512], type, name[256];
	unsigned int nr = 0, i;
	uint64_t addr;
	bool within = false;

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%lx %c %255s", &addr, &type, name) != 3 || strchr(line, '['))
			continue;
		if (within && addr != ranges[nr - 1].from) {
			ranges[nr - 1].to = addr;
			within = false;
		}
		for (i = 0; i < 3 && !within && nr < max; i++) {
			size_t length = strlen(names[i]);

			if (strncmp(name, names[i], length) || (name[length] && name[length] != '.'))
				continue;
			ranges[nr++] = (struct range){ .from = addr };
			within = true;
		}
	}
	if (f)
		fclose(f);
	return nr;
}

static struct {
	struct range ranges[16];
	unsigned int nr, of_slabs, pages;
} slabs;

static void note_page(void *ctx, const struct reader_sample *s)
{
	slabs.pages++;
	for (unsigned int i = 0; s->stack && i < s->stack->nr_kernel; i++)
		for (unsigned int j = 0; j < slabs.nr; j++)
			if (s->stack->frames[i] > slabs.ranges[j].from &&
			    s->stack->frames[i] <= slabs.ranges[j].to) {
				slabs.of_slabs++;
				return;
			}
}

/* Their objects are what is told. */
TEST_F(heap, pages_of_slabs_are_not_told)
{
	long long before = file_field("/proc/meminfo", "SUnreclaim"), after;
	int more[40], i;

	slabs.nr = slab_functions(slabs.ranges, 16);
	slabs.of_slabs = slabs.pages = 0;
	SKIP_UNLESS(slabs.nr, "the names of the kernel's functions are not to be seen");
	self->params.flags = GPROF_ALLOC_F_PAGES;
	set_up(_metadata, self);
	self->reader.on_sample = note_page;
	ASSERT_EQ(0, device_start(&self->dev));
	for (i = 0; i < 40; i++) {
		struct message m = { .type = 1 };

		more[i] = msgget(IPC_PRIVATE, 0600);
		for (int n = 0; n < IN_QUEUE; n++)
			ASSERT_EQ(0, msgsnd(more[i], &m, TEXT, IPC_NOWAIT));
	}
	after = file_field("/proc/meminfo", "SUnreclaim");
	finish(_metadata, self);
	for (i = 0; i < 40; i++)
		msgctl(more[i], IPC_RMID, NULL);
	/* It did get pages for them: 4000 messages are more than 500 KiB. */
	EXPECT_LE(before + 300, after);
	EXPECT_EQ(0, slabs.of_slabs) TH_LOG("%u of %u", slabs.of_slabs, slabs.pages);
}

/* ---- of whom ---- */

TEST_F(heap, of_cpus_what_is_allocated_on_them)
{
	SKIP_UNLESS(nr_online_cpus() > 1, "there is one CPU");
	device_target_cpu(&self->setup, online_cpu(0));
	start(_metadata, self);
	ASSERT_LE(0, pin_to(online_cpu(1)));
	ASSERT_TRUE(put(self, 100));
	ASSERT_LE(0, pin_to(online_cpu(0)));
	ASSERT_TRUE(put(self, 30));
	finish(_metadata, self);
	EXPECT_EQ(30, sum_of(self, gettid(), MESSAGE).nr);
}

/* Connects over the loopback; what comes of it there is done by the interrupt of a packet. */
static bool connect_to_self(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int to = socket(AF_INET, SOCK_STREAM, 0), from = socket(AF_INET, SOCK_STREAM, 0);
	socklen_t size = sizeof(a);
	bool is;

	is = !bind(to, (struct sockaddr *)&a, sizeof(a)) && !listen(to, 10) &&
	     !getsockname(to, (struct sockaddr *)&a, &size) &&
	     !connect(from, (struct sockaddr *)&a, sizeof(a));
	close(from);
	close(to);
	return is;
}

static unsigned int nr_of_task(const FIXTURE_DATA(heap) *self, uint32_t tid)
{
	unsigned int i, nr = 0;

	for (i = 0; i < self->nr; i++)
		nr += self->told[i].tid == tid;
	return nr;
}

/* They are nobody's: those that come while the target runs, too. */
TEST_F(heap, what_interrupts_allocate_is_the_hosts_alone)
{
	SKIP_UNLESS(connect_to_self(), "there is no loopback");
	start(_metadata, self);
	ASSERT_TRUE(connect_to_self());
	finish(_metadata, self);
	EXPECT_LT(0, self->nr);
	EXPECT_EQ(0, nr_of_task(self, 0));
	end(self);
	self->nr = 0;
	self->setup.target = GPROF_TARGET_SYSTEM;
	self->setup.id = 0;
	start(_metadata, self);
	ASSERT_TRUE(connect_to_self());
	finish(_metadata, self);
	EXPECT_LT(0, nr_of_task(self, 0));
}

TEST_F(heap, what_recorders_allocate_themselves_is_not_told)
{
	uint32_t own;

	self->setup.target = GPROF_TARGET_SYSTEM;
	self->setup.id = 0;
	self->params.flags = GPROF_ALLOC_F_SLAB | GPROF_ALLOC_F_PAGES;
	start(_metadata, self);
	own = thread_for(geteuid(), NULL);
	EXPECT_NE(0, own);
	for (int i = 0; i < 20; i++)
		IN_CHILD(put(self, 1));
	sleep_ms(500);
	finish(_metadata, self);
	EXPECT_EQ(0, nr_of_task(self, own));
}

/* ---- thinned ---- */

TEST_F(heap, sampled_bytes_stand_for_all)
{
	const unsigned int nr = 20000;
	struct sum s;
	double p, sigma;

	self->params.period = 4096;
	start(_metadata, self);
	for (unsigned int i = 0; i < nr / QUEUES; i++) {
		ASSERT_TRUES(put(self, QUEUES), receive(self, QUEUES));
		if (!(i % 100))
			ASSERT_LE(0, reader_read(&self->reader));
	}
	finish(_metadata, self);
	s = sum_of(self, gettid(), MESSAGE);
	/* Of the sum of weights it is nr (1 - p) / p at most, drawn among what others allocate. */
	p = 148. / 4096;
	sigma = nr * (1 - p) / p;
	EXPECT_LT(((double)s.weight - nr) * ((double)s.weight - nr), 16 * sigma)
		TH_LOG("%llu samples stand for %llu of %u", ull(s.nr), ull(s.weight), nr);
	EXPECT_LT(s.nr, nr / 15);
	EXPECT_ZEROS(s.live, slots_live(self, MESSAGE));
}

/* ---- the table ---- */

TEST_F(heap, full_table_says_so_and_is_right_for_what_it_holds)
{
	struct sum s;

	self->params.slots = 16;
	start(_metadata, self);
	ASSERT_GT(500, self->head->nr_slots);
	ASSERT_TRUE(put(self, 1000));
	EXPECT_LT(500, self->head->full);
	EXPECT_GE(self->head->nr_slots, self->head->added - self->head->removed);
	/* More than half of what there is can be used. */
	EXPECT_LT(self->head->nr_slots / 2, self->head->added - self->head->removed);
	ASSERT_LE(0, reader_read(&self->reader));
	s = sum_of(self, gettid(), MESSAGE);
	EXPECT_EQS(1000, s.nr, s.in_table, s.live, s.live, slots_live(self, MESSAGE));
	ASSERT_TRUE(receive(self, 1000));
	EXPECT_EQ(0, slots_live(self, MESSAGE));
	/* And holds again what there is room for; nothing of before comes back. */
	ASSERT_TRUE(put(self, 20));
	s = sum_of(self, gettid(), MESSAGE);
	EXPECT_EQ(0, s.live);
	finish(_metadata, self);
	s = sum_of(self, gettid(), MESSAGE);
	EXPECT_EQ(1020, s.nr);
	EXPECT_LT(10, s.live);
	EXPECT_EQS(s.live, slots_live(self, MESSAGE), 0, self->head->unseen);
	/* What there was no room for is of that time alone. */
	ASSERT_EQ(0, device_start(&self->dev));
	EXPECT_GT(500, self->head->full);
	ASSERT_EQ(0, device_stop(&self->dev));
}

TEST_F(heap, slots_are_used_again_under_another_word)
{
	unsigned int i, j, again = 0;

	self->params.slots = 16;
	start(_metadata, self);
	for (int round = 0; round < 50; round++) {
		ASSERT_TRUES(put(self, 10), receive(self, 10));
	}
	finish(_metadata, self);
	for (i = 0; i < self->nr; i++) {
		if (!self->told[i].live)
			continue;
		EXPECT_TRUE(self->told[i].live & GPROF_OBJECT_LIVE);
		for (j = 0; j < i; j++) {
			ASSERT_NE(self->told[i].live, self->told[j].live);
			again += GPROF_OBJECT_SLOT(self->told[i].live) ==
				 GPROF_OBJECT_SLOT(self->told[j].live);
		}
	}
	EXPECT_LT(100, again);
}

TEST_F(heap, slot_says_what_the_sample_says)
{
	unsigned int i, seen = 0;

	start(_metadata, self);
	ASSERT_TRUE(put(self, 100));
	finish(_metadata, self);
	for (i = 0; i < self->nr; i++) {
		const struct told *t = &self->told[i];
		const struct gprof_object_slot *s =
			object_table_slot(self->head, GPROF_OBJECT_SLOT(t->live));

		if (!t->live || s->live != t->live)
			continue;
		EXPECT_EQS(t->value, s->value, t->weight, s->weight);
		EXPECT_LE(s->time, t->time);
		seen++;
	}
	EXPECT_LE(100, seen);
}

/* Of objects that follow each other in a slot, each ends between its begin and the next one's. */
TEST_F(heap, ends_have_their_time)
{
	unsigned int i, j, known = 0, last = 0;
	uint64_t from, between, until;

	self->params.slots = 16;
	start(_metadata, self);
	from = now_ns();
	for (int round = 0; round < 20; round++) {
		ASSERT_TRUES(put(self, 10), receive(self, 10));
	}
	between = now_ns();
	ASSERT_TRUE(put(self, 10));
	usleep(2000);
	until = now_ns();
	ASSERT_TRUE(receive(self, 10));
	finish(_metadata, self);
	for (i = 0; i < self->nr; i++) {
		const struct told *t = &self->told[i];
		const struct gprof_object_slot *s =
			object_table_slot(self->head, GPROF_OBJECT_SLOT(t->live));

		for (j = 0; t->live && j < self->nr; j++) {
			const struct told *next = &self->told[j];

			if (GPROF_OBJECT_SLOT(next->live) != GPROF_OBJECT_SLOT(t->live) ||
			    GPROF_OBJECT_SERIAL(next->live) != GPROF_OBJECT_SERIAL(t->live) + 1)
				continue;
			EXPECT_LE(t->time, next->ended);
			EXPECT_LE(next->ended, next->time);
			known++;
		}
		/* The last ones of their slots, among them the last messages. */
		if (t->value == MESSAGE && t->time > between && t->time < until &&
		    s->live == (t->live & ~GPROF_OBJECT_LIVE)) {
			EXPECT_LE(until, s->time);
			EXPECT_GE(now_ns(), s->time);
			last++;
		}
		EXPECT_FALSE(!t->live && t->ended);
		EXPECT_FALSE(t->ended && t->ended < from && GPROF_OBJECT_SERIAL(t->live) > 2);
	}
	EXPECT_LT(100, known);
	EXPECT_LT(0, last);
}

/* Whatever the ring has lost. */
TEST_F(heap, nothing_freed_is_live_though_the_ring_overflows)
{
	struct sum s;

	self->setup.buffer_size = self->page;
	start(_metadata, self);
	for (int i = 0; i < 10; i++) {
		ASSERT_TRUES(put(self, 1000), receive(self, 1000));
	}
	EXPECT_EQ(0, slots_live(self, MESSAGE));
	ASSERT_TRUE(put(self, 50));
	finish(_metadata, self);
	EXPECT_LT(1000, device_lost(&self->st));
	s = sum_of(self, gettid(), MESSAGE);
	EXPECT_LT(0, s.nr);
	EXPECT_EQ(0, s.live);
	/* And of what is live whose samples are lost, it is known how much there is. */
	EXPECT_EQ(50, slots_live(self, MESSAGE));
}

TEST_F(heap, stop_keeps_what_is_live_and_start_forgets_it)
{
	uint64_t starts;
	struct sum s;

	start(_metadata, self);
	starts = self->head->starts;
	ASSERT_TRUE(put(self, 100));
	finish(_metadata, self);
	ASSERT_TRUE(receive(self, 100));
	s = sum_of(self, gettid(), MESSAGE);
	EXPECT_EQ(100, s.live);
	ASSERT_TRUE(put(self, 10));
	EXPECT_EQ(100, slots_live(self, MESSAGE));
	ASSERT_EQ(0, device_start(&self->dev));
	EXPECT_EQS(starts + 2, self->head->starts, 0, slots_live(self, MESSAGE));
	ASSERT_TRUES(receive(self, 10), put(self, 30));
	finish(_metadata, self);
	s = sum_of(self, gettid(), MESSAGE);
	EXPECT_EQS(130, s.nr, 30, s.live, 30, slots_live(self, MESSAGE), 0, self->head->unseen);
}

static void *churn(void *arg)
{
	const FIXTURE_DATA(heap) *self = arg;
	uint64_t until = monotonic_ns() + 3000000000ULL;
	struct message m = { .type = 1 };

	while (monotonic_ns() < until) {
		int q = self->queues[rand() % QUEUES];

		if (rand() % 2)
			msgsnd(q, &m, TEXT, IPC_NOWAIT);
		else
			msgrcv(q, &m, TEXT, 0, IPC_NOWAIT);
	}
	return NULL;
}

/* On all CPUs at once, and whoever sent it is seldom who receives it. */
TEST_F(heap, many_at_once_come_and_go)
{
	uint64_t left = 0;
	struct sum s;

	self->params.slots = 200;
	start(_metadata, self);
	ASSERT_EQ(0, run_threads(4, churn, self));
	ASSERT_LE(0, reader_read(&self->reader));
	for (int i = 0; i < QUEUES; i++) {
		struct msqid_ds ds;

		ASSERT_EQ(0, msgctl(self->queues[i], IPC_STAT, &ds));
		left += ds.msg_qnum;
	}
	EXPECT_GE(left, slots_live(self, MESSAGE));
	s = sum_of(self, 0, MESSAGE);
	EXPECT_GE(left, s.live);
	for (int i = 0; i < QUEUES; i++)
		msgctl(self->queues[i], IPC_RMID, NULL);
	EXPECT_EQ(0, slots_live(self, MESSAGE));
	ASSERT_EQ(0, device_stop(&self->dev));
	EXPECT_EQ(slots_live(self, 0), self->head->added - self->head->removed);
	EXPECT_EQ(0, self->head->unseen);
}

/* ---- mapping ---- */

#define EXPECT_REFUSED(_errno, _map) do {				\
	errno = 0;							\
	EXPECT_EQ(MAP_FAILED, _map);					\
	EXPECT_EQ(_errno, errno);					\
} while (0)

TEST_F(heap, table_describes_itself)
{
	set_up(_metadata, self);
	EXPECT_EQS(GPROF_ABI_VERSION, self->head->version,
		   sizeof(*self->head), self->head->header_size,
		   sizeof(struct gprof_object_slot), self->head->slot_size,
		   self->page, self->head->slots_offset);
	EXPECT_LES(GPROF_ALLOC_SLOTS, self->head->nr_slots, self->head->slots_offset +
		   self->head->nr_slots * self->head->slot_size, self->head->size);
	EXPECT_ZEROS(self->head->starts, slots_live(self, 0));
}

TEST_F(heap, table_can_be_read_alone)
{
	char *table;

	set_up(_metadata, self);
	EXPECT_REFUSED(EPERM, map_live(self, self->head_size, PROT_READ | PROT_WRITE));
	EXPECT_REFUSED(EPERM, map_live(self, self->page, PROT_WRITE));
	EXPECT_REFUSED(EPERM, map_live(self, self->head_size, PROT_READ | PROT_EXEC));
	EXPECT_REFUSED(EINVAL, mmap(NULL, self->page, PROT_READ, MAP_PRIVATE, self->dev.fd,
				    GPROF_MMAP_OBJECTS));
	table = map_live(self, self->head_size, PROT_READ);
	ASSERT_NE(MAP_FAILED, table);
	EXPECT_EQS(-1, mprotect(table, self->head_size, PROT_READ | PROT_WRITE), EACCES, errno,
		   -1, mprotect(table, self->page, PROT_READ | PROT_EXEC), EACCES, errno);
	munmap(table, self->head_size);
}

TEST_F(heap, table_is_mapped_whole_or_its_first_page)
{
	set_up(_metadata, self);
	EXPECT_REFUSED(EINVAL, map_live(self, 2 * self->page, PROT_READ));
	EXPECT_REFUSED(EINVAL, map_live(self, self->head_size - self->page, PROT_READ));
	EXPECT_REFUSED(EINVAL, map_live(self, self->head_size + self->page, PROT_READ));
	EXPECT_REFUSED(EINVAL, map_live(self, 1ULL << 40, PROT_READ));
	EXPECT_REFUSED(EINVAL, mmap(NULL, self->page, PROT_READ, MAP_SHARED, self->dev.fd,
				    GPROF_MMAP_OBJECTS + self->page));
	EXPECT_REFUSED(EINVAL, mmap(NULL, self->page, PROT_READ, MAP_SHARED, self->dev.fd,
				    GPROF_MMAP_OBJECTS | GPROF_MMAP_TAIL(1)));
}

TEST_F(heap, no_table_before_setup)
{
	int fd = device_open();

	ASSERT_LE(0, fd);
	EXPECT_REFUSED(EBUSY,
		       mmap(NULL, self->page, PROT_READ, MAP_SHARED, fd, GPROF_MMAP_OBJECTS));
	close(fd);
}

TEST_F(heap, table_goes_on_after_close_while_it_is_mapped)
{
	start(_metadata, self);
	close(self->dev.fd);
	self->dev.fd = 0;
	ASSERT_TRUE(put(self, 100));
	EXPECT_EQ(100, slots_live(self, MESSAGE));
	ASSERT_TRUE(receive(self, 100));
	EXPECT_EQ(0, slots_live(self, MESSAGE));
}

/* ---- what is refused ---- */

static int refused(FIXTURE_DATA(heap) *self, uint32_t *reason)
{
	struct device dev;
	int err = device_setup(&dev, &self->setup);

	*reason = self->setup.out_reason;
	if (!err)
		device_close(&dev);
	return err;
}

TEST_F(heap, parameters_are_checked)
{
	const struct {
		uint32_t kind, flags, slots, reserved;
		uint64_t period;
		int err;
		uint32_t reason;
	} cases[] = {
		{ GPROF_KIND_HEAP, 0, 0, 0, 1, -EINVAL, GPROF_REASON_FLAGS },
		{ GPROF_KIND_HEAP, 32, 0, 0, 1, -EOPNOTSUPP, GPROF_REASON_FLAGS },
		{ GPROF_KIND_HEAP, 8, 0, 0, 1, -EINVAL, GPROF_REASON_FLAGS },
		{ GPROF_KIND_HEAP, 9, 0, 0, 1, -EINVAL, GPROF_REASON_FLAGS },
		{ GPROF_KIND_HEAP, 12, 0, 0, 1, 0, GPROF_REASON_NONE },
		{ GPROF_KIND_ALLOC, 12, 0, 0, 1, -EINVAL, GPROF_REASON_FLAGS },
		{ GPROF_KIND_HEAP, 5, 0, 0, 1, -EINVAL, GPROF_REASON_FLAGS },
		{ GPROF_KIND_HEAP, 4, 0, 0, 1, 0, GPROF_REASON_NONE },
		{ GPROF_KIND_HEAP, 1, 0, 1, 1, -EINVAL, GPROF_REASON_PARAMS },
		{ GPROF_KIND_HEAP, 1, 0, 0, 0, -EINVAL, GPROF_REASON_PERIOD },
		{ GPROF_KIND_HEAP, 1, 0, 0, GPROF_ALLOC_PERIOD_MAX + 1, -EINVAL,
		  GPROF_REASON_PERIOD },
		{ GPROF_KIND_HEAP, 1, GPROF_ALLOC_SLOTS_MAX + 1, 0, 1, -EINVAL,
		  GPROF_REASON_PARAMS },
		{ GPROF_KIND_HEAP, 1, ~0U, 0, 1, -EINVAL, GPROF_REASON_PARAMS },
		{ GPROF_KIND_ALLOC, 1, 1, 0, 1, -EINVAL, GPROF_REASON_PARAMS },
		{ GPROF_KIND_ALLOC, 3, 0, 0, GPROF_ALLOC_PERIOD_MAX, 0, GPROF_REASON_NONE },
		{ GPROF_KIND_HEAP, 3, 1, 0, 1, 0, GPROF_REASON_NONE },
	};
	uint32_t reason;

	self->setup.buffer_size = 0;
	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		self->setup.kind = cases[i].kind;
		self->params.flags = cases[i].flags;
		self->params.slots = cases[i].slots;
		self->params.__reserved = cases[i].reserved;
		self->params.period = cases[i].period;
		EXPECT_EQ(cases[i].err, refused(self, &reason)) TH_LOG("case %u", i);
		EXPECT_EQ(cases[i].reason, reason) TH_LOG("case %u", i);
	}
}

TEST_F(heap, needs_the_capability)
{
	uint32_t reason;

	SKIP_UNLESS(!geteuid(), "must be root to become another");
	ASSERT_EQ(0, become(1000));
	self->setup.buffer_size = 0;
	self->setup.stack &= ~GPROF_STACK_F_KERNEL;
	EXPECT_EQS(-EPERM, refused(self, &reason), GPROF_REASON_SLOWS_DENIED, reason);
	self->setup.kind = GPROF_KIND_ALLOC;
	EXPECT_EQS(-EPERM, refused(self, &reason), GPROF_REASON_SLOWS_DENIED, reason);
}

/* ---- what programs tell, and have when they end ---- */

#define CHILDREN	20	/* more than the smallest table has rings */
#define TOLD_EACH	3
#define TOLD_BYTES	4096
#define ENDS		40
#define TABLE_LARGE	(1 << 20)

static int tell(int fd, unsigned int what, unsigned long addr, uint64_t space)
{
	struct gprof_alloc_report m = {
		.size = sizeof(m), .what = what, .addr = addr, .mm_id = space,
	};

	if (what == GPROF_ALLOC_REPORT_ALLOC) {
		m.bytes = TOLD_BYTES;
		m.period = 1;
	}
	return device_ioctl(fd, GPROF_IOC_ALLOC_REPORT, &m);
}

static void of_programs(FIXTURE_DATA(heap) *self, uint32_t slots)
{
	self->params.flags = GPROF_ALLOC_F_PROGRAM;
	self->params.slots = slots;
	self->setup.target = GPROF_TARGET_SYSTEM;
	self->setup.id = 0;
}

/* A child that tells of more than it keeps, some of it twice, and waits for a signal. */
static pid_t fork_teller(int to)
{
	pid_t pid = fork();
	uint64_t space;
	char c = 0;
	int fd, i;

	if (pid)
		return pid;
	space = (uint64_t)getpid() << 32;
	fd = device_open();
	for (i = 0; i < TOLD_EACH + 2; i++)
		if (tell(fd, GPROF_ALLOC_REPORT_ALLOC, 0x1000 + i * 0x1000, space))
			_exit(1);
	if (tell(fd, GPROF_ALLOC_REPORT_FREE, 0x1000, space) ||
	    tell(fd, GPROF_ALLOC_REPORT_FREE, 0x3000, space) ||
	    tell(fd, GPROF_ALLOC_REPORT_ALLOC, 0x2000, space))
		_exit(1);
	if (write(to, &c, 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

TEST_F(heap, a_program_is_told_the_shortest_period_that_is_wanted)
{
	struct gprof_alloc_report ask = { .size = sizeof(ask) };
	static const uint64_t periods[] = { 200, 100, 300 };
	struct device devs[3];

	of_programs(self, 16);
	for (size_t i = 0; i < 3; i++) {
		self->params.period = periods[i];
		ASSERT_EQ(0, device_record(&devs[i], &self->setup));
	}
	EXPECT_EQS(0, device_ioctl(devs[0].fd, GPROF_IOC_ALLOC_REPORT, &ask), 100, ask.out_period);
	for (size_t i = 0; i < 3; i++)
		device_close(&devs[i]);
}

TEST_F(heap, a_process_that_ends_takes_along_what_it_has_and_no_more)
{
	int told[2], status, i;
	pid_t pids[CHILDREN];
	char c = 0;

	of_programs(self, 16);
	start(_metadata, self);
	ASSERT_EQ(0, pipe(told));
	for (i = 0; i < CHILDREN; i++) {
		pids[i] = fork_teller(told[1]);
		ASSERT_LT(0, pids[i]);
		ASSERT_EQ(1, read(told[0], &c, 1));
	}
	EXPECT_EQ(CHILDREN * TOLD_EACH, slots_live(self, TOLD_BYTES));
	/* The first end of an allocation that is told twice was not told. */
	EXPECT_EQ(CHILDREN, self->head->unseen);
	/* In another order than that of the beginnings. */
	for (i = 0; i < CHILDREN; i++) {
		pid_t pid = pids[i * 7 % CHILDREN];

		ASSERT_EQS(0, kill(pid, SIGKILL), pid, waitpid(pid, &status, 0));
		expect_gone(_metadata, self, (CHILDREN - 1 - i) * TOLD_EACH);
		EXPECT_EQ((CHILDREN - 1 - i) * TOLD_EACH, slots_live(self, TOLD_BYTES));
	}
	finish(_metadata, self);
	EXPECT_EQ(self->head->added, self->head->removed);
}

/* Nanoseconds of @n children, one after the other, that tell of one allocation and end. */
static uint64_t ends_of(struct __test_metadata *_metadata, int n)
{
	uint64_t begin = monotonic_ns();

	while (n--) {
		pid_t pid = fork();

		if (!pid)
			_exit(!!tell(device_open(), GPROF_ALLOC_REPORT_ALLOC, 0x1000,
				     (uint64_t)getpid() << 32));
		ASSERT_EQ(0, reap(pid));
	}
	return monotonic_ns() - begin;
}

static int by_ratio(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* With a small table and with a large one, in turn. */
TEST_F(heap, an_exit_costs_what_the_process_has)
{
	double ratios[7];
	struct device small;
	uint64_t ns[2];

	of_programs(self, 16);
	self->setup.buffer_size = 0;
	ASSERT_EQ(0, device_setup(&small, &self->setup));
	self->params.slots = TABLE_LARGE;
	set_up(_metadata, self);
	for (int i = 0; i < 7; i++) {
		ASSERT_EQ(0, device_start(&small));
		ns[0] = ends_of(_metadata, ENDS);
		ASSERT_ZEROS(device_stop(&small), device_start(&self->dev));
		ns[1] = ends_of(_metadata, ENDS);
		/* The thread that reads mappings may be the last to let go of a process' memory. */
		for (int tries = 0; self->head->removed < ENDS && tries < 200; tries++)
			sleep_ms(10);
		ASSERT_EQ(0, device_stop(&self->dev));
		EXPECT_EQS(ENDS, self->head->added, ENDS, self->head->removed);
		ratios[i] = (double)ns[1] / (double)ns[0];
	}
	qsort(ratios, 7, sizeof(*ratios), by_ratio);
	TH_LOG("an exit takes %.2f times what it takes with a small table (%.2f to %.2f), %llu us",
	       ratios[3], ratios[0], ratios[6], ull(ns[1]) / ENDS / 1000);
	EXPECT_GT(1.5, ratios[3]);
	device_close(&small);
}

TEST_HARNESS_MAIN
