// SPDX-License-Identifier: GPL-2.0-only
/* mmap_test: what may be mapped from a recorder, how, and what it holds. */
#include "harness.h"
#include "device.h"
#include "workload.h"

FIXTURE(mapping) {
	struct device dev;
	struct gprof_cpu_params params;
	struct gprof_setup setup;
	size_t page, ring_size;
	int cpu;	/* on which the test runs, and which has a buffer */
};

FIXTURE_SETUP(mapping)
{
	self->cpu = pin_to_some_cpu();
	ASSERT_LE(0, self->cpu);
	self->page = sysconf(_SC_PAGESIZE);
	self->params = timer_params(1000000);
	self->setup = device_setup_of(GPROF_TARGET_THREAD, gettid(), &self->params);
	ASSERT_EQ(0, device_setup(&self->dev, &self->setup));
	self->ring_size = self->page + 2 * self->dev.data_size;
}

FIXTURE_TEARDOWN(mapping)
{
	device_close(&self->dev);
}

static void *map(FIXTURE_DATA(mapping) *self, uint64_t offset, size_t length, int prot)
{
	return mmap(NULL, length, prot, MAP_SHARED, self->dev.fd, offset);
}

#define MAP_RING(_prot)	map(self, GPROF_MMAP_RING(self->cpu), self->ring_size, _prot)
#define MAP_TAIL(_prot)	map(self, GPROF_MMAP_TAIL(self->cpu), self->page, _prot)

#define EXPECT_REFUSED(_errno, _map) do {				\
	errno = 0;							\
	EXPECT_EQ(MAP_FAILED, _map);					\
	EXPECT_EQ(_errno, errno);					\
} while (0)

TEST_F(mapping, ring_is_readable_and_tail_is_writable)
{
	const struct gprof_ring_head *head = MAP_RING(PROT_READ);
	struct gprof_ring_tail *tail = MAP_TAIL(PROT_READ | PROT_WRITE);

	ASSERT_NE(MAP_FAILED, head);
	ASSERT_NE(MAP_FAILED, tail);
	EXPECT_EQ(0, tail->tail);
	tail->tail = 8;
	EXPECT_EQ(8, *(volatile uint64_t *)&tail->tail);
}

TEST_F(mapping, head_page_describes_itself)
{
	const struct gprof_ring_head *head = MAP_RING(PROT_READ);

	ASSERT_NE(MAP_FAILED, head);
	EXPECT_EQS(GPROF_ABI_VERSION, head->version, sizeof(*head), head->header_size,
		   self->cpu, head->cpu, 0, head->flags, self->page, head->data_offset,
		   self->dev.data_size, head->data_size, self->setup.out_id, head->recorder,
		   GPROF_KIND_CPU, head->kind, 0, head->__reserved0, 0, head->generation,
		   0, head->__reserved1, 0, head->head);
	EXPECT_EQS(0, head->oldest, 0, head->produced, 0, head->overwritten);
}

TEST_F(mapping, head_page_names_the_flight_mode)
{
	const struct gprof_ring_head *head;

	device_close(&self->dev);
	self->setup.flags = GPROF_SETUP_F_FLIGHT;
	ASSERT_EQ(0, device_setup(&self->dev, &self->setup));
	head = MAP_RING(PROT_READ);
	ASSERT_NE(MAP_FAILED, head);
	EXPECT_EQ(GPROF_SETUP_F_FLIGHT, head->flags);
}

/* Nothing that was in these pages before may be seen. */
TEST_F(mapping, fresh_pages_are_zero)
{
	const struct gprof_ring_head *head = MAP_RING(PROT_READ);
	const char *bytes = (const char *)head;
	size_t i, used = 0;

	ASSERT_NE(MAP_FAILED, head);
	for (i = sizeof(*head); i < self->ring_size; i++)
		used += bytes[i] != 0;
	EXPECT_EQ(0, used);
	bytes = MAP_TAIL(PROT_READ);
	ASSERT_NE(MAP_FAILED, bytes);
	for (i = 0; i < self->page; i++)
		used += bytes[i] != 0;
	EXPECT_EQ(0, used);
}

TEST_F(mapping, every_present_cpu_has_a_ring)
{
	unsigned int cpu, nr = 0;
	const struct gprof_ring_head *head;

	for (cpu = 0; cpu < self->dev.nr_cpus; cpu++) {
		head = map(self, GPROF_MMAP_RING(cpu), self->ring_size, PROT_READ);
		if (head == MAP_FAILED) {
			EXPECT_EQ(ENODEV, errno);
			continue;
		}
		EXPECT_EQ(cpu, head->cpu);
		nr++;
	}
	EXPECT_EQ(nr_present_cpus(), nr);
}

TEST_F(mapping, data_is_mapped_twice)
{
	uint64_t size = self->dev.data_size;
	const char *head = MAP_RING(PROT_READ);
	const char *data;

	ASSERT_NE(MAP_FAILED, head);
	ASSERT_EQ(0, device_start(&self->dev));
	burn_ns(50000000);
	ASSERT_EQ(0, device_stop(&self->dev));
	data = head + self->page;
	ASSERT_LT(0, ((const struct gprof_ring_head *)head)->head);
	EXPECT_EQ(GPROF_REC_GENERATION, ((const struct gprof_rec *)data)->type);
	EXPECT_EQ(0, memcmp(data, data + size, size));
}

TEST_F(mapping, what_is_not_an_area_as_it_is_is_refused)
{
	const uint64_t ring = GPROF_MMAP_RING(self->cpu), tail = GPROF_MMAP_TAIL(self->cpu);
	const uint64_t page = self->page, size = self->ring_size, cpus = self->dev.nr_cpus;
	const int rw = PROT_READ | PROT_WRITE;
	const struct { uint64_t offset, length; int prot, flags, err; } rows[] = {
		{ ring, size, rw, MAP_SHARED, EPERM }, { ring, size, PROT_WRITE, MAP_SHARED, EPERM },
		{ ring, size, PROT_READ | PROT_EXEC, MAP_SHARED, EPERM },
		{ tail, page, rw | PROT_EXEC, MAP_SHARED, EPERM },
		{ ring, size, PROT_READ, MAP_PRIVATE, EINVAL }, { tail, page, rw, MAP_PRIVATE, EINVAL },
		/* of another length */
		{ ring, page, PROT_READ, MAP_SHARED, EINVAL },
		{ ring, size - page, PROT_READ, MAP_SHARED, EINVAL },
		{ ring, size + page, PROT_READ, MAP_SHARED, EINVAL },
		{ ring, page + self->dev.data_size, PROT_READ, MAP_SHARED, EINVAL },
		{ tail, 2 * page, rw, MAP_SHARED, EINVAL },
		/* between the areas */
		{ ring + page, size, PROT_READ, MAP_SHARED, EINVAL },
		{ ring + page, size - page, PROT_READ, MAP_SHARED, EINVAL },
		{ ring - page, page, PROT_READ, MAP_SHARED, EINVAL },
		{ tail + page, page, PROT_READ, MAP_SHARED, EINVAL },
		/* of no CPU */
		{ GPROF_MMAP_RING(cpus), size, PROT_READ, MAP_SHARED, ENODEV },
		{ GPROF_MMAP_TAIL(cpus), page, PROT_READ, MAP_SHARED, ENODEV },
		{ GPROF_MMAP_RING(100000), size, PROT_READ, MAP_SHARED, ENODEV },
		{ GPROF_MMAP_TAIL((1ULL << 31) - 1), page, PROT_READ, MAP_SHARED, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		errno = 0;
		EXPECT_EQ(MAP_FAILED, mmap(NULL, rows[i].length, rows[i].prot, rows[i].flags,
					   self->dev.fd, rows[i].offset)) TH_LOG("row %zu", i);
		EXPECT_EQ(rows[i].err ?: errno, errno) TH_LOG("row %zu", i);
	}
	EXPECT_NE(MAP_FAILED, MAP_RING(PROT_READ));
	EXPECT_NE(MAP_FAILED, MAP_TAIL(rw));
	EXPECT_NE(MAP_FAILED, MAP_TAIL(PROT_READ));
}

TEST_F(mapping, mprotect_gives_no_more)
{
	char *ring = MAP_RING(PROT_READ), *tail = MAP_TAIL(PROT_READ | PROT_WRITE);
	const struct { void *p; size_t length; int prot; } rows[] = {
		{ ring, self->page, PROT_READ | PROT_WRITE },
		{ ring, self->ring_size, PROT_READ | PROT_WRITE },
		{ ring, self->ring_size, PROT_READ | PROT_EXEC }, { tail, self->page, PROT_READ | PROT_EXEC },
	};

	ASSERT_NE(MAP_FAILED, ring);
	ASSERT_NE(MAP_FAILED, tail);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		EXPECT_EQS(-1, mprotect(rows[i].p, rows[i].length, rows[i].prot), EACCES, errno);
	}
}

TEST_F(mapping, read_only_file_cannot_be_written_through)
{
	char path[64];
	int fd;

	/* the recorder belongs to the open file, so a new one has nothing to map */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", self->dev.fd);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		return;
	EXPECT_EQ(MAP_FAILED, mmap(NULL, self->page, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
				   GPROF_MMAP_TAIL(self->cpu)));
	close(fd);
}

TEST_F(mapping, nothing_can_be_mapped_before_setup)
{
	struct device dev = { .fd = device_open() };

	ASSERT_LE(0, dev.fd);
	EXPECT_REFUSED(EBUSY, mmap(NULL, self->page, PROT_READ | PROT_WRITE, MAP_SHARED, dev.fd,
				   GPROF_MMAP_TAIL(self->cpu)));
	EXPECT_REFUSED(EBUSY, mmap(NULL, self->ring_size, PROT_READ, MAP_SHARED, dev.fd,
				   GPROF_MMAP_RING(self->cpu)));
	device_close(&dev);
}

TEST_F(mapping, write_to_any_page_of_the_ring_is_SIGSEGV)
{
	const size_t places[] = {
		offsetof(struct gprof_ring_head, head), self->page, self->ring_size - 1,
	};

	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		pid_t pid = fork();

		if (!pid) {
			/* Of its own: a fork has none of its parent's. */
			volatile char *ring = MAP_RING(PROT_READ);

			signal(SIGSEGV, SIG_DFL);
			if (ring != MAP_FAILED)
				ring[places[i]] = 0;
			_exit(0);
		}
		EXPECT_EQ(SIGSEGV, WTERMSIG(reap(pid)));
	}
}

/* ptrace and the like write where the task itself may not. */
TEST_F(mapping, proc_mem_cannot_write_to_the_ring)
{
	char *ring = MAP_RING(PROT_READ);
	int mem = open("/proc/self/mem", O_RDWR);

	ASSERT_NE(MAP_FAILED, ring);
	ASSERT_LE(0, mem);
	EXPECT_EQ(-1, pwrite(mem, "x", 1, (uintptr_t)ring));
	EXPECT_EQ(-1, pwrite(mem, "x", 1, (uintptr_t)ring + self->page));
	EXPECT_EQ(GPROF_ABI_VERSION, *(uint32_t *)ring);
	close(mem);
}

TEST_F(mapping, mapping_cannot_grow)
{
	void *tail = MAP_TAIL(PROT_READ | PROT_WRITE);

	ASSERT_NE(MAP_FAILED, tail);
	EXPECT_EQ(MAP_FAILED, mremap(tail, self->page, 2 * self->page, MREMAP_MAYMOVE));
}

TEST_F(mapping, fork_does_not_inherit_the_mapping)
{
	void *ring = MAP_RING(PROT_READ);
	void *tail = MAP_TAIL(PROT_READ | PROT_WRITE);
	unsigned char vec[1];

	ASSERT_NE(MAP_FAILED, ring);
	ASSERT_NE(MAP_FAILED, tail);
	EXPECT_EQ(0, IN_CHILD((mincore(ring, self->page, vec) || errno == ENOMEM) &&
		      mincore(tail, self->page, vec) ? 0 : 1));
}

TEST_F(mapping, recording_goes_on_through_the_mapping_after_close)
{
	const struct gprof_ring_head *head = MAP_RING(PROT_READ);
	struct gprof_ring_tail *tail = MAP_TAIL(PROT_READ | PROT_WRITE);
	uint64_t seen;

	ASSERT_NE(MAP_FAILED, head);
	ASSERT_NE(MAP_FAILED, tail);
	ASSERT_EQ(0, device_start(&self->dev));
	burn_ns(20000000);
	/* the mapping holds the file, and with it the recorder */
	close(self->dev.fd);
	self->dev.fd = 0;
	seen = *(volatile uint64_t *)&head->head;
	burn_ns(50000000);
	EXPECT_LT(seen, *(volatile uint64_t *)&head->head);
	tail->tail = head->head;
	munmap(tail, self->page);
	EXPECT_EQ(GPROF_ABI_VERSION, head->version);
	munmap((void *)head, self->ring_size);
}

TEST_F(mapping, areas_may_be_unmapped_in_any_order)
{
	char *ring, *tail;

	for (int order = 0; order < 2; order++) {
		ring = MAP_RING(PROT_READ);
		tail = MAP_TAIL(PROT_READ | PROT_WRITE);
		ASSERT_NE(MAP_FAILED, ring);
		ASSERT_NE(MAP_FAILED, tail);
		EXPECT_EQ(0, order ? munmap(ring, self->ring_size) : munmap(tail, self->page));
		EXPECT_EQ(0, order ? munmap(tail, self->page) : munmap(ring, self->ring_size));
	}
	/* and in parts */
	ring = MAP_RING(PROT_READ);
	ASSERT_NE(MAP_FAILED, ring);
	EXPECT_EQS(0, munmap(ring + self->page, self->page), GPROF_ABI_VERSION, *(uint32_t *)ring,
		   0, munmap(ring, self->ring_size));
}

TEST_F(mapping, ring_may_be_mapped_many_times)
{
	const struct gprof_ring_head *first = MAP_RING(PROT_READ);
	const struct gprof_ring_head *second = MAP_RING(PROT_READ);

	ASSERT_NE(MAP_FAILED, first);
	ASSERT_NE(MAP_FAILED, second);
	ASSERT_EQ(0, device_start(&self->dev));
	burn_ns(50000000);
	ASSERT_EQ(0, device_stop(&self->dev));
	EXPECT_LT(0, first->head);
	EXPECT_EQ(first->head, second->head);
	munmap((void *)first, self->ring_size);
	EXPECT_LT(0, second->head);
}

/* As every service is: its pages are charged to it, which some kernels mark in the page. */
static void record_once(void *arg, int step)
{
	struct gprof_cpu_params params = timer_params(1000000);
	struct gprof_setup setup = device_setup_of(GPROF_TARGET_THREAD, gettid(), &params);
	struct device dev;
	int cpu = pin_to_some_cpu();
	int ret = cpu < 0 ? cpu : device_record(&dev, &setup);

	if (!ret) {
		burn_ns(20000000);
		ret = device_stop(&dev);
	}
	_exit(ret ? -ret : dev.rings[cpu].head->head > 0 ? 0 : 255);
}

TEST(process_in_a_memory_cgroup_can_map_its_buffers)
{
	char path[MEMORY_CGROUP_PATH];
	struct child child;
	int status, ret;

	SKIP_UNLESS(!geteuid(), "must be root");
	ret = memory_cgroup(path, "64M");
	SKIP_UNLESS(ret != -ENODEV, "no memory controller in cgroup v2");
	ASSERT_ZEROS(ret, child_fork(&child, record_once, NULL));
	EXPECT_ZEROS(memory_cgroup_enter(path, child.pid), child_begin(&child));
	EXPECT_EQ(child.pid, waitpid(child.pid, &status, 0));
	EXPECT_TRUE(WIFEXITED(status));
	EXPECT_EQ(0, WEXITSTATUS(status)) TH_LOG("its recorder: %s", strerror(WEXITSTATUS(status)));
	EXPECT_EQ(0, rmdir(path));
}

TEST_HARNESS_MAIN
