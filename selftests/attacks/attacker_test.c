// SPDX-License-Identifier: GPL-2.0-only
/*
 * attacker_test: what a user without privilege tries against other users, other
 * recorders, the kernel's memory, and whoever wants to unload the module.
 *
 * privilege_test says what is refused by rule; here it is gone round the rules.
 */
#include <dirent.h>
#include <elf.h>
#include <linux/aio_abi.h>
#include <linux/fuse.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/un.h>
#include "harness.h"
#include "device.h"
#include "reader.h"
#include "remains.h"
#include "sched_stats.h"
#include "tally.h"
#include "workload.h"

#define ATTACKER	1000
#define VICTIM		1001
#define PERIOD_NS	500000
#define SMALL		32768

/* What the victim says of itself. */
struct victim {
	int fd;			/* of its recorder */
	uintptr_t ring;		/* where it is mapped */
	size_t length;
};

FIXTURE(attacker) {
	struct gprof_cpu_params params;
	struct gprof_setup setup;
	struct device dev;
	struct child child;
	struct victim *victim;
	uint64_t recorders;
	long references;
};

/* The calling process records itself from then on. */
static int record_oneself(struct device *dev, uint32_t flags)
{
	struct gprof_cpu_params params = timer_params(PERIOD_NS);
	struct gprof_setup setup = device_setup_of(GPROF_TARGET_PROCESS, getpid(), &params);

	setup.buffer_size = SMALL;
	setup.flags = flags;
	return device_record(dev, &setup);
}

/* Another user's process, which records itself. */
static void be_victim(void *arg, int step)
{
	static struct device dev;
	struct victim *v = arg;

	if (step == 0) {
		if (become(VICTIM) || record_oneself(&dev, 0))
			_exit(1);
		v->fd = dev.fd;
		v->ring = (uintptr_t)dev.rings[0].head;
		v->length = sysconf(_SC_PAGESIZE) + 2 * dev.data_size;
		return;
	}
	burn_ns(300000000);
}

FIXTURE_SETUP(attacker)
{
	SKIP_ALL_UNLESS(!geteuid(), "must be root to become another");
	self->recorders = open_recorders();
	self->references = module_references();
	self->victim = shared_memory(sizeof(*self->victim));
	self->params = timer_params(PERIOD_NS);
	self->setup = device_setup_of(GPROF_TARGET_PROCESS, getpid(), &self->params);
	self->setup.buffer_size = SMALL;
	ASSERT_ZEROS(child_fork(&self->child, be_victim, self->victim), child_step(&self->child));
}

FIXTURE_TEARDOWN(attacker)
{
	child_end(&self->child);
	device_close(&self->dev);
}

/* May lock as much memory as users may since 5.16; it was 64 KiB before. */
static int be_usual_attacker(void)
{
	struct rlimit memlock = { 8 << 20, 8 << 20 };

	return setrlimit(RLIMIT_MEMLOCK, &memlock) ? -errno : become(ATTACKER);
}

/* ---- what others do ---- */

struct seen {
	pid_t self;
	uint64_t own, foreign;
};

static void see_map(void *ctx, const struct gprof_map_rec *map)
{
	struct seen *seen = ctx;

	if (map->process.pid == (uint32_t)seen->self)
		seen->own++;
	else
		seen->foreign++;
}

static void see_sample(void *ctx, const struct reader_sample *sample)
{
	struct seen *seen = ctx;

	if (sample->rec->tid == (uint32_t)seen->self)
		seen->own++;
	else
		seen->foreign++;
}

static void see_task(void *ctx, const struct gprof_task_rec *task)
{
	struct seen *seen = ctx;

	if (task->tid != (uint32_t)seen->self)
		seen->foreign++;
}

/* Both on one CPU, so that every switch between the two is a chance to be mistaken. */
TEST_F(attacker, sees_no_stack_name_or_file_of_another_user)
{
	struct seen seen = { .self = getpid() };
	struct gprof_stats st;
	struct reader reader;

	ASSERT_LE(0, pin_to_some_cpu());
	ASSERT_ZEROS(become(ATTACKER),
		     reader_record(&reader, &self->dev, &self->setup, see_sample, &seen));
	reader.on_map = see_map;
	reader.on_task = see_task;
	ASSERT_EQ(0, child_begin(&self->child));
	burn_ns(200000000);
	READER_END(&reader, &st);
	EXPECT_LT(10, seen.own);
	EXPECT_EQ(0, seen.foreign);
	reader_free(&reader);
}

/* Events that carry addresses of data, some of them of faults that the kernel takes. */
TEST_F(attacker, sees_no_kernel_address_among_data_addresses)
{
	struct tally *t = calloc(1, sizeof(*t));
	char *memory;
	int i, fd;

	ASSERT_NE(NULL, t);
	ASSERT_EQ(0, become(ATTACKER));
	self->params = event_params(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 100);
	self->params.flags = GPROF_CPU_F_ADDR;
	ASSERT_ZEROS(device_record(&self->dev, &self->setup), tally_init(t, &self->dev));
	fd = open("/dev/zero", O_RDONLY);
	for (i = 0; i < 20; i++) {
		memory = private_memory(4 << 20);
		/* a fault for each page, not for 512; EINVAL: it is so anyway */
		ASSERT_TRUE(!madvise(memory, 4 << 20, MADV_NOHUGEPAGE) || errno == EINVAL);
		if (i & 1)
			memset(memory, 1, 4 << 20);
		else
			EXPECT_EQ(4 << 20, read(fd, memory, 4 << 20));
		munmap(memory, 4 << 20);
	}
	close(fd);
	ASSERT_EQ(0, device_stop(&self->dev));
	ASSERT_LE(0, reader_read(&t->reader));
	EXPECT_LT(10, t->reader.samples);
	EXPECT_EQS(0, t->kernel_addresses, 0, t->kernel_frames);
	tally_free(t);
	free(t);
}

/* ---- slowing others down ---- */

#define CROWD	9

/* Begins to count one's own thread; what slows everybody must be asked for in vain. */
static int count_oneself(struct device *dev, uint32_t flags)
{
	struct gprof_sched_params params = { .size = sizeof(params), .flags = flags };
	struct gprof_setup setup = device_setup_kind(GPROF_KIND_SCHED, GPROF_TARGET_THREAD,
						     gettid(), &params);
	int ret = device_setup(dev, &setup);

	if (ret == -EPERM && setup.out_reason == GPROF_REASON_SLOWS_DENIED)
		return -EACCES;
	return ret ?: device_start(dev);
}

TEST_F(attacker, counts_no_system_calls_or_faults_which_slows_everybodys)
{
	ASSERT_EQ(0, become(ATTACKER));
	EXPECT_EQS(-EACCES, count_oneself(&self->dev, GPROF_SCHED_F_SYSCALLS),
		   -EACCES, count_oneself(&self->dev, GPROF_SCHED_F_FAULTS),
		   -EACCES, count_oneself(&self->dev, __GPROF_SCHED_F_ALL),
		   0, count_oneself(&self->dev, 0));
}

/* The worst that a user can do of it: as many recorders as they get. */
static void crowd(void *arg, int step)
{
	static struct device devs[CROWD];

	if (be_usual_attacker())
		_exit(1);
	for (int i = 0; i < CROWD; i++) {
		if (count_oneself(&devs[i], __GPROF_SCHED_F_ALL) && count_oneself(&devs[i], 0))
			_exit(1);
	}
}

static uint64_t least(uint64_t (*once)(void))
{
	uint64_t ns, best = UINT64_MAX;

	for (int i = 0; i < 300; i++) {
		ns = once();
		best = ns < best ? ns : best;
	}
	return best;
}

static uint64_t calls_ns(void)
{
	uint64_t begin = monotonic_ns();

	for (int i = 0; i < 200; i++)
		syscall(SYS_getppid);
	return monotonic_ns() - begin;
}

static uint64_t faults_ns(void)
{
	size_t page = sysconf(_SC_PAGESIZE), length = 64 * page, i;
	uint64_t begin;
	volatile char *at;

	at = private_memory(length);
	begin = monotonic_ns();
	for (i = 0; i < length; i += page)
		at[i] = 1;
	begin = monotonic_ns() - begin;
	munmap((void *)at, length);
	return begin;
}

TEST_F(attacker, slows_no_system_call_or_page_fault_of_others)
{
	uint64_t calls = 0, calls_beside = 0, faults = 0, faults_beside = 0;
	struct child child;

	/* A busy host may slow a round of some ms, but not each; a counter does. */
	for (int tries = 0; tries < 10; tries++) {
		calls = least(calls_ns);
		faults = least(faults_ns);
		ASSERT_ZEROS(child_fork(&child, crowd, NULL), child_step(&child));
		calls_beside = least(calls_ns);
		faults_beside = least(faults_ns);
		child_end(&child);
		if (calls_beside * 10 <= calls * 11 && faults_beside * 10 <= faults * 11)
			break;
	}
	TH_LOG("200 calls %llu ns, beside a crowd %llu; 64 faults %llu ns, beside it %llu",
	       ull(calls), ull(calls_beside), ull(faults), ull(faults_beside));
	EXPECT_LE(calls_beside * 10, calls * 11);
	EXPECT_LE(faults_beside * 10, faults * 11);
}

/* ---- holding locks that others need ---- */

struct siege {
	uint64_t id;	/* of the attacker's recorder */
	bool begun;
};

static void start_and_stop(struct siege *siege, struct device *dev)
{
	for (;;) {
		if (device_start(dev) || device_stop(dev))
			_exit(1);
		__atomic_store_n(&siege->begun, true, __ATOMIC_RELAXED);
	}
}

static void ask_on_and_on(uint64_t id)
{
	struct genl g;

	if (genl_open(&g))
		_exit(1);
	for (;;) {
		genl_ask(&g, GPROF_CMD_RECORDER_GET, GPROF_A_RECORDER_ID, id);
		genl_ask(&g, GPROF_CMD_SCHED_STATS_GET, GPROF_A_SCHED_STATS_ID, id);
	}
}

/* All on one CPU: others have the rest for themselves. */
static void besiege(void *arg, int step)
{
	struct sched_recorder r;
	struct siege *siege = arg;

	if (pin_to(online_cpu(0)) < 0 || become(ATTACKER) ||
	    sched_setup(&r, GPROF_TARGET_THREAD, gettid(), 0, 0))
		_exit(1);
	siege->id = r.id;
	if (!fork_bound())
		start_and_stop(siege, &r.dev);
	if (!fork_bound())
		ask_on_and_on(r.id);
}

/* What root wants of netlink: a family, of whomever; what all recorders do; that of one. */
static uint64_t ns_of_asking(uint64_t id)
{
	uint64_t begin = monotonic_ns(), now, turns = 0;
	struct genl g, other;

	if (genl_open(&g))
		return UINT64_MAX;
	do {
		if (genl_open(&other))
			return UINT64_MAX;
		genl_close(&other);
		if (genl_ask(&g, GPROF_CMD_INFO_GET, 0, 0) != 1)
			return UINT64_MAX;
		genl_ask(&g, GPROF_CMD_RECORDER_GET, GPROF_A_RECORDER_ID, id);
		turns++;
		now = monotonic_ns();
	} while (now - begin < 1000000000);
	genl_close(&g);
	return (now - begin) / turns;
}

TEST_F(attacker, delays_no_netlink_request_of_others)
{
	uint64_t alone = 0, beside = UINT64_MAX;
	struct siege *siege;
	struct child child;

	SKIP_UNLESS(nr_online_cpus() > 1, "needs a CPU for each side");
	siege = shared_memory(sizeof(*siege));
	ASSERT_LE(0, pin_to(online_cpu(1)));
	/* A busy host may slow a round, but not each; who holds a lock does. */
	for (int tries = 0; tries < 5; tries++) {
		siege->begun = false;
		alone = ns_of_asking(siege->id);
		ASSERT_ZEROS(child_fork(&child, besiege, siege), child_step(&child));
		while (!__atomic_load_n(&siege->begun, __ATOMIC_RELAXED))
			sleep_ms(1);
		beside = ns_of_asking(siege->id);
		child_end(&child);
		if (beside <= 2 * alone)
			break;
	}
	TH_LOG("three requests: %llu ns alone, %llu ns beside a siege", ull(alone), ull(beside));
	EXPECT_NE(UINT64_MAX, alone);
	EXPECT_LE(beside, 2 * alone);
	munmap(siege, sizeof(*siege));
}

/* ---- flooding listeners ---- */

#define FLOOD_NS	2000000000ULL

/* Fires at each switch of a process and its child; takes what has fired at once. */
static void flood(void *arg, int step)
{
	struct gprof_trace_params params = { .size = sizeof(params) };
	struct gprof_setup setup = device_setup_kind(GPROF_KIND_TRACE, GPROF_TARGET_PROCESS,
						     getpid(), &params);
	struct gprof_trigger t = trigger_of(GPROF_TRIGGER_OFF_CPU, 0);
	struct gprof_trigger_event f = { .size = sizeof(f) };
	uint64_t *firings = arg;
	int to[2], from[2];
	struct device dev;
	char c = 0;

	setup.buffer_size = SMALL;
	setup.flags = GPROF_SETUP_F_FLIGHT;
	if (be_usual_attacker() || device_setup(&dev, &setup) ||
	    device_trigger(&dev, &t) || device_start(&dev) ||
	    pipe(to) || pipe(from))
		_exit(1);
	if (!fork_bound()) {
		while (read(to[0], &c, 1) == 1)
			if (write(from[1], &c, 1) != 1)
				break;
		_exit(0);
	}
	for (;;) {
		if (write(to[1], &c, 1) != 1 || read(from[0], &c, 1) != 1)
			break;
		while (!device_ioctl(dev.fd, GPROF_IOC_TRIGGER_READ, &f))
			__atomic_fetch_add(firings, 1, __ATOMIC_RELAXED);
	}
	_exit(1);
}

/* How often is the limit of a trigger for its owner to choose, how often it is told is not. */
TEST_F(attacker, floods_no_listener_with_trigger_events)
{
	uint64_t *firings = (uint64_t *)self->victim, end;
	struct child child;
	unsigned int told = 0;
	struct genl g;
	int ret = 0;

	ASSERT_ZEROS(genl_open(&g), genl_listen(&g));
	*firings = 0;
	ASSERT_ZEROS(child_fork(&child, flood, firings), child_begin(&child));
	end = monotonic_ns() + FLOOD_NS;
	while (monotonic_ns() < end && ret >= 0) {
		struct pollfd pfd = { .fd = g.fd, .events = POLLIN };

		if (g.next >= g.length && poll(&pfd, 1, 10) != 1)
			continue;
		ret = genl_receive(&g);
		told += ret == 1 && g.cmd == GPROF_CMD_RECORDER_FIRED;
	}
	EXPECT_LE(0, ret);	/* ENOBUFS: some was lost */
	child_end(&child);
	genl_close(&g);
	TH_LOG("%llu firings, told of %u", ull(*firings), told);
	EXPECT_LT(500, *firings);
	EXPECT_LT(0, told);
	/* Two seconds, and a third that it began in. */
	EXPECT_GE(3 * 64 + 16, told);
}

/* ---- the pages of another recorder ---- */

TEST_F(attacker, opens_a_recorder_of_their_own_where_another_has_one)
{
	struct gprof_stats st;
	char path[64];
	int fd;

	ASSERT_EQ(0, become(ATTACKER));
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", self->child.pid, self->victim->fd);
	fd = open(path, O_RDWR);
	if (fd >= 0) {
		self->dev.fd = fd;
		EXPECT_EQ(-EBUSY, device_stats(&self->dev, GPROF_STATS_ALL_CPUS, &st));
	} else {
		EXPECT_EQ(EACCES, errno);
	}
}

TEST_F(attacker, reads_no_page_of_another_recorder)
{
	struct iovec to, from;
	char path[128], byte;
	int pidfd;

	ASSERT_EQ(0, become(ATTACKER));
	snprintf(path, sizeof(path), "/proc/%d/mem", self->child.pid);
	EXPECT_EQ(-1, open(path, O_RDONLY));
	snprintf(path, sizeof(path), "/proc/%d/map_files/%lx-%lx", self->child.pid,
		 (long)self->victim->ring, (long)(self->victim->ring + self->victim->length));
	EXPECT_EQ(-1, open(path, O_RDONLY));
	to = (struct iovec){ &byte, 1 };
	from = (struct iovec){ (void *)self->victim->ring, 1 };
	EXPECT_EQ(-1, process_vm_readv(self->child.pid, &to, 1, &from, 1, 0));
	EXPECT_EQ(-1, ptrace(PTRACE_ATTACH, self->child.pid, NULL, NULL));
	pidfd = syscall(SYS_pidfd_open, self->child.pid, 0);
	ASSERT_LE(0, pidfd);
	EXPECT_EQ(-1, syscall(SYS_pidfd_getfd, pidfd, self->victim->fd, 0));
	close(pidfd);
}

/* No offset of one's own recorder leads anywhere else. */
TEST_F(attacker, maps_nothing_but_the_rings_of_their_own_recorder)
{
	size_t page = sysconf(_SC_PAGESIZE), lengths[3];
	unsigned int cpu, i, good = 0, wrong = 0;
	int64_t step;
	uint64_t offset;
	void *at;

	ASSERT_ZEROS(become(ATTACKER), device_setup(&self->dev, &self->setup));
	lengths[0] = page;
	lengths[1] = page + 2 * self->dev.data_size;
	lengths[2] = page + 2 * self->dev.data_size + page;
	for (cpu = 0; cpu < self->dev.nr_cpus + 2; cpu++) {
		for (i = 0; i < 6; i++) {
			offset = i & 1 ? GPROF_MMAP_RING(cpu) : GPROF_MMAP_TAIL(cpu);
			for (step = -3; step <= 40; step++) {
				at = mmap(NULL, lengths[i / 2], PROT_READ, MAP_SHARED, self->dev.fd,
					  offset + step * (int64_t)page);
				if (at == MAP_FAILED)
					continue;
				munmap(at, lengths[i / 2]);
				if (!step && cpu < self->dev.nr_cpus && i / 2 == (i & 1))
					good++;
				else
					wrong++;
			}
		}
	}
	EXPECT_LE(2, good);
	EXPECT_EQ(0, wrong);
}

TEST_F(attacker, makes_no_mapping_writable_by_any_way)
{
	size_t page = sysconf(_SC_PAGESIZE);
	char *ring, byte = 1;
	int mem;

	ASSERT_ZEROS(become(ATTACKER), device_record(&self->dev, &self->setup));
	ring = (char *)self->dev.rings[0].head;
	EXPECT_EQ(-1, mprotect(ring, page, PROT_READ | PROT_WRITE));
	EXPECT_EQ(-1, syscall(SYS_pkey_mprotect, ring, page, PROT_READ | PROT_WRITE, -1));
	mem = open("/proc/self/mem", O_RDWR);
	ASSERT_LE(0, mem);
	EXPECT_EQ(-1, pwrite(mem, &byte, 1, (uintptr_t)ring));
	EXPECT_EQ(-1, pwrite(mem, &byte, 1, (uintptr_t)ring + page));
	close(mem);
	/* the kernel as helper: it reads into the ring for us */
	mem = open("/dev/zero", O_RDONLY);
	EXPECT_EQ(-1, read(mem, ring, 8));
	EXPECT_EQ(EFAULT, errno);
	close(mem);
	EXPECT_EQ(GPROF_ABI_VERSION, *(volatile uint32_t *)ring);
}

/* Pages that held another's stacks are given to the next one empty. */
TEST_F(attacker, finds_nothing_in_the_pages_that_another_gave_back)
{
	size_t length = 0, i, dirty = 0;
	const uint64_t *words;
	struct device dev;

	self->setup.buffer_size = 1 << 18;
	for (unsigned int life = 0; life < 10; life++) {
		ASSERT_EQ(0, device_record(&dev, &self->setup));
		burn_ns(10000000);
		device_close(&dev);
	}
	ASSERT_ZEROS(become(ATTACKER), device_setup(&self->dev, &self->setup),
		     device_map(&self->dev));
	length = 2 * self->dev.data_size;
	words = (const uint64_t *)self->dev.rings[0].data;
	for (i = 0; i < length / sizeof(*words); i++)
		dirty += !!words[i];
	EXPECT_EQ(0, dirty);
}

/* ---- recorders that are passed on ---- */

static int send_fd(int socket, int fd)
{
	char control[CMSG_SPACE(sizeof(fd))] = "", byte = 0;
	struct iovec io = { &byte, 1 };
	struct msghdr msg = {
		.msg_iov = &io, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control),
	};
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	return sendmsg(socket, &msg, 0) == 1 ? 0 : -errno;
}

static int receive_fd(int socket)
{
	char control[CMSG_SPACE(sizeof(int))] = "", byte;
	struct iovec io = { &byte, 1 };
	struct msghdr msg = {
		.msg_iov = &io, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control),
	};
	int fd;

	if (recvmsg(socket, &msg, 0) != 1 || !CMSG_FIRSTHDR(&msg))
		return -EBADMSG;
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(fd));
	return fd;
}

/* A file that root opened is no privilege: SETUP asks who calls. */
TEST_F(attacker, gains_nothing_from_an_empty_recorder_that_root_opened)
{
	int sockets[2], fd;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, sockets));
	fd = device_open();
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, send_fd(sockets[0], fd));
	close(fd);
	ASSERT_EQ(0, become(ATTACKER));
	self->dev.fd = receive_fd(sockets[1]);
	ASSERT_LE(0, self->dev.fd);
	self->setup.target = GPROF_TARGET_SYSTEM;
	self->setup.id = 0;
	EXPECT_EQ(-EPERM, device_ioctl(self->dev.fd, GPROF_IOC_SETUP, &self->setup));
	EXPECT_EQ(GPROF_REASON_WIDE_DENIED, self->setup.out_reason);
	self->setup = device_setup_of(GPROF_TARGET_PROCESS, self->child.pid, &self->params);
	EXPECT_EQ(-EPERM, device_ioctl(self->dev.fd, GPROF_IOC_SETUP, &self->setup));
	EXPECT_EQ(GPROF_REASON_TASK_DENIED, self->setup.out_reason);
}

/* Whoever passes a recorder on passes what it records, and nothing more. */
TEST_F(attacker, can_read_a_recorder_that_was_given_but_not_point_it_elsewhere)
{
	struct device mine = { 0 };
	struct gprof_setup setup;
	struct gprof_stats st;
	int sockets[2];

	ASSERT_ZEROS(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets),
		     device_setup(&self->dev, &self->setup), send_fd(sockets[0], self->dev.fd),
		     become(ATTACKER));
	mine = self->dev;
	mine.fd = receive_fd(sockets[1]);
	ASSERT_LE(0, mine.fd);
	EXPECT_ZEROS(device_map(&mine), device_start(&mine));
	burn_ns(20000000);
	EXPECT_ZEROS(device_stop(&mine), device_stats(&mine, GPROF_STATS_ALL_CPUS, &st));
	EXPECT_LT(0, st.out_produced);
	setup = device_setup_of(GPROF_TARGET_PROCESS, self->child.pid, &self->params);
	EXPECT_EQ(-EBUSY, device_ioctl(mine.fd, GPROF_IOC_SETUP, &setup));
	device_close(&mine);
}

/* ---- memory ---- */

/* Pages that each CPU keeps for its next allocations are in no sum; tens of MiB since 6.7. */
static long long free_kb_of_cpus(void)
{
	FILE *f = fopen("/proc/zoneinfo", "re");
	long long n, pages = 0;
	char line[256];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, " count: %lld", &n) == 1)
			pages += n;
	if (f)
		fclose(f);
	return pages * sysconf(_SC_PAGESIZE) / 1024;
}

static long long available_kb(void)
{
	return free_kb_of_cpus() + file_field("/proc/meminfo", "MemFree") +
	       file_field("/proc/meminfo", "Cached") +
	       file_field("/proc/meminfo", "SReclaimable");
}

#define FILES	2000

/* What can be opened without a charge is small, and bounded by the limit of files. */
TEST_F(attacker, takes_less_than_4_KiB_for_each_recorder_that_is_only_opened)
{
	struct rlimit limit = { FILES + 100, FILES + 100 };
	int fds[FILES], i;
	long long before, taken;

	SKIP_UNLESS(!is_debug_kernel(), "KASAN takes memory of its own for each allocation");
	ASSERT_ZEROS(setrlimit(RLIMIT_NOFILE, &limit), become(ATTACKER));
	for (i = 0; i < 100; i++)
		close(device_open());
	before = file_field("/proc/meminfo", "Slab") + file_field("/proc/meminfo", "VmallocUsed");
	for (i = 0; i < FILES; i++) {
		fds[i] = device_open();
		ASSERT_LE(0, fds[i]);
	}
	taken = file_field("/proc/meminfo", "Slab") + file_field("/proc/meminfo", "VmallocUsed") -
		before;
	TH_LOG("%lld KiB for %d open recorders", taken, FILES);
	EXPECT_GT(4 * FILES, taken);
	for (i = 0; i < FILES; i++)
		close(fds[i]);
}

#define CHARGE_KB	(32 << 10)
#define MOST		1024

/* The charge is the truth: no more goes than was counted. */
TEST_F(attacker, takes_no_more_memory_than_is_charged)
{
	struct rlimit files = { MOST + 100, MOST + 100 }, memlock = { CHARGE_KB << 10, CHARGE_KB << 10 };
	static struct device devs[MOST];
	char allowance[16];
	long long before, taken;
	int nr, i, fd, ret = 0;

	SKIP_UNLESS(!is_debug_kernel(), "KASAN takes memory of its own for each allocation");
	ASSERT_EQ(0, file_read(ALLOWANCE, allowance, sizeof(allowance)));
	fd = open(ALLOWANCE, O_WRONLY);
	ASSERT_LE(0, fd);
	ASSERT_EQ(1, pwrite(fd, "0", 1, 0));
	ASSERT_ZEROS(setrlimit(RLIMIT_NOFILE, &files), setrlimit(RLIMIT_MEMLOCK, &memlock),
		     become(ATTACKER), device_record(&devs[0], &self->setup));
	device_close(&devs[0]);
	sleep_ms(200);
	before = available_kb();
	for (nr = 0; nr < MOST; nr++) {
		ret = device_record(&devs[nr], &self->setup);
		if (ret)
			break;
	}
	taken = before - available_kb();
	TH_LOG("%d recorders, %lld KiB taken, %d KiB charged at most", nr, taken, CHARGE_KB);
	EXPECT_EQ(-ENOMEM, ret);
	EXPECT_LT(10, nr);
	/* memory that the guest itself takes meanwhile: 4 MiB */
	EXPECT_GT(CHARGE_KB + 4096, taken);
	for (i = 0; i < nr; i++)
		device_close(&devs[i]);
	EXPECT_LT(0, pwrite(fd, allowance, strlen(allowance), 0));
	close(fd);
}

/* ---- time ---- */

/* CPU time of threads of the kernel, s: of those with a nice value below 0, and of ours. */
struct kernel_time {
	double urgent, ours;
};

static void add_thread(struct kernel_time *t, const char *pid)
{
	unsigned long flags, user, system;
	char path[300], text[1024], *rest;
	double seconds;
	long nice;

	snprintf(path, sizeof(path), "/proc/%s/stat", pid);
	if (file_read(path, text, sizeof(text)))
		return;
	rest = strrchr(text, ')');
	if (!rest || sscanf(rest + 2, "%*c %*d %*d %*d %*d %*d %lu %*u %*u %*u %*u %lu %lu %*d %*d %*d %ld",
			    &flags, &user, &system, &nice) != 4)
		return;
	seconds = (double)(user + system) / sysconf(_SC_CLK_TCK);
	if (flags & 0x200000 /* PF_KTHREAD */ && nice < 0)
		t->urgent += seconds;
	if (strstr(text, "(gprof/"))
		t->ours += seconds;
}

static struct kernel_time kernel_time(void)
{
	struct kernel_time t = { 0 };
	DIR *proc = opendir("/proc");
	struct dirent *d;

	while (proc && (d = readdir(proc)))
		if (d->d_name[0] >= '1' && d->d_name[0] <= '9')
			add_thread(&t, d->d_name);
	if (proc)
		closedir(proc);
	return t;
}

/* As many executable mappings, each of the first page of the file, so that none merge. */
static int map_file_often(int fd, unsigned int nr)
{
	size_t page = sysconf(_SC_PAGESIZE);
	char *at;

	at = mmap(NULL, nr * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (fd < 0 || ftruncate(fd, page) || at == MAP_FAILED)
		return -errno;
	for (unsigned int i = 0; i < nr; i++)
		if (mmap(at + i * page, page, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd,
			 0) == MAP_FAILED)
			return -errno;
	close(fd);
	return 0;
}

static int map_many(unsigned int nr)
{
	return map_file_often(memfd_create("many", MFD_CLOEXEC), nr);
}

/* Of a program whose notes, as many as there can be, have to be searched for a build-id. */
static int map_many_slow(unsigned int nr)
{
	static struct { Elf64_Ehdr head; Elf64_Phdr notes; char empty[3840]; } program = {
		.head = {
			.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64 },
			.e_phoff = sizeof(Elf64_Ehdr), .e_phentsize = sizeof(Elf64_Phdr),
			.e_phnum = 1,
		},
		.notes = {
			.p_type = PT_NOTE, .p_offset = sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr),
			.p_filesz = 3840,
		},
	};
	int fd = memfd_create("many", MFD_CLOEXEC);

	if (fd < 0 || write(fd, &program, sizeof(program)) != sizeof(program))
		return -errno;
	return map_file_often(fd, nr);
}

/* Mappings that change their stamp for as long as @go_on says, under samples. */
static void change_mappings(bool (*go_on)(void *arg), void *arg)
{
	size_t page = sysconf(_SC_PAGESIZE);
	char *at;

	for (unsigned int i = 1; go_on(arg); i = i % 4096 + 1) {
		at = mmap(NULL, i * page, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		burn_ns(500000);
		munmap(at, i * page);
	}
}

static bool drain(void *arg)
{
	struct device *dev = arg;

	for (unsigned int cpu = 0; cpu < dev->nr_cpus; cpu++)
		if (dev->rings[cpu].head)
			dev->rings[cpu].tail->tail =
				__atomic_load_n(&dev->rings[cpu].head->head, __ATOMIC_ACQUIRE);
	return true;
}

#define MANY		60000
#define MANY_DEBUG	3000
#define WATCHED_NS	4000000000

/* To make so many takes a kernel that checks everything, emulated, minutes. */
static unsigned int many(void)
{
	return is_debug_kernel() ? MANY_DEBUG : MANY;
}

/* Steps: map, and change what is mapped for ever. */
static void map_much(void *arg, int step)
{
	static struct device dev;

	if (step == 0) {
		if (setpriority(PRIO_PROCESS, 0, 19) || become(ATTACKER) || map_many(many()) ||
		    record_oneself(&dev, 0))
			_exit(1);
		return;
	}
	change_mappings(drain, &dev);
}

/* The CPU time of the kernel beside a child that does @fn, from its second step on. */
static struct kernel_time used_beside(struct __test_metadata *_metadata,
				      void (*fn)(void *arg, int step))
{
	struct kernel_time before, used;
	struct child child;

	EXPECT_ZEROS(child_fork(&child, fn, NULL), child_step(&child));
	before = kernel_time();
	EXPECT_EQ(0, child_begin(&child));
	sleep_ms(WATCHED_NS / 1000000);
	used = kernel_time();
	child_end(&child);
	used.urgent = (used.urgent - before.urgent) / (WATCHED_NS / 1e9);
	used.ours = (used.ours - before.ours) / (WATCHED_NS / 1e9);
	TH_LOG("%.1f %% of a CPU in threads of nice < 0, %.1f %% in ours", 100 * used.urgent,
	       100 * used.ours);
	return used;
}

/* A task with many mappings that change all the time; the reader is as nice as the task. */
TEST_F(attacker, at_nice_19_has_no_work_done_before_others)
{
	struct kernel_time used = used_beside(_metadata, map_much);

	EXPECT_GT(0.02, used.urgent);
	EXPECT_GT(0.25, used.ours);
}

static bool always(void *arg)
{
	return true;
}

#define LONG_GAP_NS	500000000
#define GAP_TRIES	8

/* How long was the CPU away from who wants nothing but that, at the worst? */
static uint64_t worst_gap(uint64_t ns)
{
	uint64_t begin = monotonic_ns(), last = begin, now, worst = 0;

	do {
		now = monotonic_ns();
		worst = now - last > worst ? now - last : worst;
		last = now;
	} while (now - begin < ns);
	return worst;
}

/* Steps: map; be recorded, by who gives up what is old so that there is room for all. */
static void be_read_slowly(void *arg, int step)
{
	static struct device dev;

	if (step == 0) {
		if (setpriority(PRIO_PROCESS, 0, 19) || become(ATTACKER) || map_many_slow(many()))
			_exit(1);
		return;
	}
	if (record_oneself(&dev, GPROF_SETUP_F_FLIGHT))
		_exit(1);
	change_mappings(always, NULL);
}

/* A reading takes seconds. It is no single step, whatever the kernel's preemption. */
TEST_F(attacker, takes_the_cpu_from_no_task_for_long)
{
	uint64_t gap = UINT64_MAX;
	struct child target;

	ASSERT_LE(0, pin_to_some_cpu());
	/* A busy host may keep a guest waiting, but not each time. */
	for (int tries = 0; tries < GAP_TRIES && gap > LONG_GAP_NS; tries++) {
		ASSERT_ZEROS(child_fork(&target, be_read_slowly, NULL), child_step(&target),
			     child_begin(&target));
		gap = worst_gap(6000000000);
		child_end(&target);
	}
	TH_LOG("%llu ms without the CPU", ms_of(gap));
	EXPECT_GT(LONG_GAP_NS, gap);
}

/* Nor is much read for them where the ring is never full, however much there is. */
TEST_F(attacker, at_nice_19_has_little_read_of_very_much)
{
	struct kernel_time used = used_beside(_metadata, be_read_slowly);

	EXPECT_LT(0, used.ours);
	EXPECT_GT(0.25, used.ours);
}

#define LOCKED_SIZE	(64UL << 20)
#define LIFTED_MS	8000

/* Holds the lock of its memory for writing most of the time. */
static int hold_lock(void *memory)
{
	for (;;) {
		mprotect(memory, LOCKED_SIZE, PROT_READ);
		mprotect(memory, LOCKED_SIZE, PROT_READ | PROT_WRITE);
	}
	return 0;
}

/* Steps: say who holds the lock of the memory that both have; burn, without a call. */
static void be_locked(void *arg, int step)
{
	static char stack[65536];
	pid_t *holder = arg;
	char *memory;

	if (step == 0) {
		memory = private_memory(LOCKED_SIZE);
		madvise(memory, LOCKED_SIZE, MADV_NOHUGEPAGE);
		/* all is there, the clock's page too: a fault would have to wait for the lock */
		burn_until(monotonic_ns() + 1000000);
		if (mlockall(MCL_CURRENT) || become(ATTACKER))
			_exit(1);
		*holder = clone(hold_lock, stack + sizeof(stack), CLONE_VM | SIGCHLD, memory);
		if (*holder < 0)
			_exit(1);
		return;
	}
	burn_until(UINT64_MAX);
}

/* Does who wants to read the memory of a process have to wait for its lock? */
static bool is_locked(pid_t pid)
{
	char path[64], text[4096];
	int i, status;
	pid_t prober = fork();

	if (!prober) {
		snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", pid);
		_exit(!!file_read(path, text, sizeof(text)));
	}
	for (i = 0; i < 30; i++) {
		if (waitpid(prober, &status, WNOHANG) == prober)
			return false;
		sleep_ms(10);
	}
	kill(prober, SIGKILL);
	waitpid(prober, &status, 0);
	return true;
}

/* A cgroup whose tasks have a millisecond each second; or all, with "max 1000000". */
static int limit_cpu(const char *cgroup, const char *max)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/cpu.max", cgroup);
	return file_write(path, max);
}

/* A process of one who has @cgroup, which gives it time again while STOP waits for ever. */
static pid_t lift_later(const char *cgroup)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	sleep_ms(LIFTED_MS);
	limit_cpu(cgroup, "max 1000000");
	_exit(0);
}

/* Whose memory is locked by a task that hardly gets to run. */
TEST_F(attacker, does_not_hold_up_stop_by_a_lock)
{
	char cgroup[MEMORY_CGROUP_PATH], path[128];
	uint64_t begun, took = 0, produced = 0;
	struct gprof_stats st;
	struct child target;
	pid_t lifter;
	bool limited, locked;
	int i;
	pid_t *holder = (pid_t *)self->victim;

	limited = !memory_cgroup(cgroup, "max");
	SKIP_UNLESS(limited, "there is no cgroup v2");
	snprintf(path, sizeof(path), "%s/../cgroup.subtree_control", cgroup);
	limited = !file_write(path, "+cpu") && !limit_cpu(cgroup, "1000 1000000");
	SKIP_UNLESS(limited, "cgroup v2 has no limit of CPU time");
	ASSERT_ZEROS(child_fork(&target, be_locked, holder), child_step(&target),
		     memory_cgroup_enter(cgroup, *holder));
	for (locked = false, i = 0; i < 20 && !locked; i++) {
		sleep_ms(100);
		locked = is_locked(target.pid);
	}
	ASSERT_EQ(0, child_begin(&target));
	self->setup.id = target.pid;
	ASSERT_EQ(0, device_record(&self->dev, &self->setup));
	for (i = 0; i < 100 && !produced; i++) {
		sleep_ms(100);
		ASSERT_EQ(0, device_stats(&self->dev, GPROF_STATS_ALL_CPUS, &st));
		produced = st.out_produced;
	}
	sleep_ms(100);
	lifter = lift_later(cgroup);
	begun = monotonic_ns();
	EXPECT_EQ(0, device_stop(&self->dev));
	took = monotonic_ns() - begun;
	ASSERT_EQ(0, device_stats(&self->dev, GPROF_STATS_ALL_CPUS, &st));
	kill(lifter, SIGKILL);
	waitpid(lifter, NULL, 0);
	limit_cpu(cgroup, "max 1000000");
	kill(*holder, SIGKILL);
	child_end(&target);
	sleep_ms(200);
	rmdir(cgroup);
	TH_LOG("STOP took %llu ms, %llu samples, %llu readings missed", ms_of(took),
	       ull(st.out_produced), ull(st.out_maps_missed));
	EXPECT_GT(2000000000, took);
	/* since 6.18 or so a task that has no time left gives up its locks first */
	SKIP_UNLESS(locked, "this kernel lets nobody wait for time under a lock");
	EXPECT_LT(0, st.out_produced);
	EXPECT_LT(0, st.out_maps_missed);
}

/* ---- dying while one is read ---- */

#define FUSE_DIR	"/tmp/gprof_attacker_fuse"
#define FUSE_FILE	FUSE_DIR "/file"
#define FUSE_SIZE	4096
#define FUSE_MAPPINGS	20000
#define FUSE_TRIES	12
#define FUSE_ENDS_MS	8000

struct fuse_reply {
	struct fuse_out_header head;
	union {
		struct fuse_init_out init;
		struct fuse_attr_out attr;
		struct fuse_entry_out entry;
		struct fuse_open_out open;
	};
};

static struct fuse_attr fuse_attr_of(uint64_t node)
{
	return (struct fuse_attr){
		.ino = node, .mode = node == FUSE_ROOT_ID ? S_IFDIR | 0777 : S_IFREG | 0666,
		.nlink = 1, .size = FUSE_SIZE, .uid = ATTACKER, .gid = ATTACKER,
	};
}

/* Bytes of the answer behind its head, -1: there shall be none. */
static int fuse_answer(const struct fuse_in_header *in, struct fuse_reply *out)
{
	switch (in->opcode) {
	case FUSE_INIT:
		out->init.major = 7;
		out->init.minor = 31;
		out->init.flags = FUSE_ASYNC_READ | FUSE_ASYNC_DIO;
		out->init.max_write = 4096;
		out->init.max_background = 8;
		return sizeof(out->init);
	case FUSE_GETATTR:
		out->attr.attr_valid = 1000;
		out->attr.attr = fuse_attr_of(in->nodeid);
		return sizeof(out->attr);
	case FUSE_LOOKUP:
		out->entry.nodeid = FUSE_ROOT_ID + 1;
		out->entry.entry_valid = 1000;
		out->entry.attr_valid = 1000;
		out->entry.attr = fuse_attr_of(FUSE_ROOT_ID + 1);
		return sizeof(out->entry);
	case FUSE_OPEN:
		out->open.open_flags = FOPEN_DIRECT_IO;
		return sizeof(out->open);
	case FUSE_FLUSH:
	case FUSE_RELEASE:
		return 0;
	case FUSE_READ:
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		return -1;
	}
	out->head.error = -ENOSYS;
	return 0;
}

/* A file system with one file, which can be opened, and which no reading of ever ends. */
static void serve_fuse(int fd)
{
	static char request[1 << 17];
	const struct fuse_in_header *in = (const void *)request;
	struct fuse_reply out;
	int bytes;

	while (read(fd, request, sizeof(request)) >= (ssize_t)sizeof(*in)) {
		memset(&out, 0, sizeof(out));
		bytes = fuse_answer(in, &out);
		if (bytes < 0)
			continue;
		out.head.unique = in->unique;
		out.head.len = sizeof(out.head) + bytes;
		if (write(fd, &out, out.head.len) < 0)
			break;
	}
	_exit(0);
}

/* In namespaces of the attacker's own. Returns who serves it, or -errno. */
static pid_t mount_fuse(void)
{
	char options[128];
	pid_t server;
	int fd;

	if (unshare(CLONE_NEWUSER | CLONE_NEWNS) || prctl(PR_SET_DUMPABLE, 1) ||
	    file_write("/proc/self/setgroups", "deny") ||
	    file_write("/proc/self/uid_map", "0 1000 1") ||
	    file_write("/proc/self/gid_map", "0 1000 1"))
		return -errno;
	fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0", fd);
	if (fd < 0 || mount("gprof", FUSE_DIR, "fuse", MS_NOSUID | MS_NODEV, options))
		return -errno;
	server = fork();
	if (!server)
		serve_fuse(fd);
	close(fd);
	return server;
}

static int read_for_ever(void)
{
	static char buffer[FUSE_SIZE] __attribute__((aligned(4096)));
	static struct iocb cb, *cbs[] = { &cb };
	aio_context_t context = 0;
	int fd = open(FUSE_FILE, O_RDONLY | O_DIRECT);

	if (fd < 0 || syscall(SYS_io_setup, 1, &context))
		return -errno;
	cb.aio_fildes = fd;
	cb.aio_lio_opcode = IOCB_CMD_PREAD;
	cb.aio_buf = (uintptr_t)buffer;
	cb.aio_nbytes = sizeof(buffer);
	return syscall(SYS_io_submit, context, 1, cbs) == 1 ? 0 : -errno;
}

/* Steps: read what cannot be read, and say who serves it; be read again and again. */
static void be_read_for_ever(void *arg, int step)
{
	pid_t *server = arg;

	if (step == 0) {
		if (become(ATTACKER))
			_exit(1);
		*server = mount_fuse();
		if (*server < 0 || read_for_ever() || map_many_slow(FUSE_MAPPINGS))
			_exit(1);
		return;
	}
	change_mappings(always, NULL);
}

static pid_t end_later(pid_t server)
{
	pid_t pid = fork_bound();

	if (pid)
		return pid;
	sleep_ms(FUSE_ENDS_MS);
	kill(server, SIGKILL);
	_exit(0);
}

/*
 * A memory ends with the last who holds it. Where that is who reads the mappings, they
 * must not wait for what its process has begun.
 */
TEST_F(attacker, does_not_hold_up_stop_by_dying_amid_a_reading)
{
	pid_t *server = (pid_t *)self->victim, ender;
	uint64_t begun, took = 0;
	struct child target;
	int tries;

	SKIP_UNLESS(!access("/dev/fuse", F_OK), "this kernel has no FUSE");
	ASSERT_EQ(0, chmod("/dev/fuse", 0666));
	ASSERT_TRUE(!mkdir(FUSE_DIR, 0777) || errno == EEXIST);
	ASSERT_EQ(0, chmod(FUSE_DIR, 0777));
	/* Flight: the ring is never full, so that a reading goes on to its end. */
	self->setup.flags = GPROF_SETUP_F_FLIGHT;
	self->setup.buffer_size = 1 << 20;
	for (tries = 0; tries < FUSE_TRIES && took < 2000000000; tries++) {
		ASSERT_ZEROS(child_fork(&target, be_read_for_ever, server), child_step(&target),
			     child_begin(&target));
		self->setup.id = target.pid;
		ASSERT_EQ(0, device_record(&self->dev, &self->setup));
		/* amid the first reading, which takes a quarter of a second at most */
		sleep_ms(20 + 18 * tries);
		kill(target.pid, SIGKILL);
		sleep_ms(30);
		ender = end_later(*server);
		begun = monotonic_ns();
		EXPECT_EQ(0, device_stop(&self->dev));
		took = monotonic_ns() - begun;
		kill(ender, SIGKILL);
		waitpid(ender, NULL, 0);
		kill(*server, SIGKILL);
		child_end(&target);
		device_close(&self->dev);
	}
	TH_LOG("after %d deaths STOP took %llu ms", tries, ms_of(took));
	EXPECT_GT(2000000000, took);
	rmdir(FUSE_DIR);
}

/* ---- what is read a while after it was seen ---- */

#define FOREIGN_PATH	"/tmp/gprof_attacker_foreign"
#define FOREIGN_MS	"8000"

struct maps_seen {
	uint64_t all, foreign;
};

static void see_foreign(void *ctx, const struct gprof_map_rec *map)
{
	struct maps_seen *seen = ctx;

	seen->all++;
	seen->foreign += !strcmp(map->path, FOREIGN_PATH);
}

static bool for_two_seconds(void *arg)
{
	return monotonic_ns() < *(uint64_t *)arg;
}

/* Steps: be many; use up what one may have read; be another user's program. */
static void use_up_and_exec(void *arg, int step)
{
	uint64_t end = monotonic_ns() + 2000000000;

	if (step == 0) {
		if (become(ATTACKER) || map_many(1000))
			_exit(1);
		return;
	}
	change_mappings(for_two_seconds, &end);
	execl(FOREIGN_PATH, FOREIGN_PATH, FOREIGN_MS, NULL);
	_exit(1);
}

/* Records the target until another's program runs in it, and what was read has ended. */
static int record_over_exec(struct gprof_setup *setup, struct child *target,
			    struct maps_seen *seen, uint64_t *missed)
{
	struct gprof_stats st, first = { 0 };
	char text[64] = "", path[64];
	struct reader reader;
	struct device dev;
	uint64_t end;
	int err;

	setup->id = target->pid;
	err = device_record(&dev, setup);
	if (err)
		return err;
	err = reader_init(&reader, &dev);
	reader.ctx = seen;
	reader.on_map = see_foreign;
	snprintf(path, sizeof(path), "/proc/%d/comm", target->pid);
	if (!err)
		err = child_begin(target);
	end = monotonic_ns() + 60000000000;
	for (;;) {
		if (!err)
			err = reader_read(&reader) < 0 ? -EIO : 0;
		if (!err)
			err = device_stats(&dev, GPROF_STATS_ALL_CPUS, &st);
		sleep_ms(1);
		if (!err)
			err = file_read(path, text, sizeof(text));
		if (err || monotonic_ns() > end || strstr(text, "gprof_att"))
			break;
		first = st;
	}
	end = monotonic_ns() + 3000000000;
	do {
		if (!err)
			err = reader_read(&reader) < 0 ? -EIO : 0;
		sleep_ms(10);
		if (!err)
			err = device_stats(&dev, GPROF_STATS_ALL_CPUS, &st);
	} while (!err && st.out_maps_missed == first.out_maps_missed && monotonic_ns() < end);
	if (!err)
		err = device_stop(&dev);
	if (!err)
		err = reader_read(&reader) < 0 || reader.error[0] ? -EIO : 0;
	*missed += st.out_maps_missed - first.out_maps_missed;
	reader_close(&reader);
	return err ? err : strstr(text, "gprof_att") ? 0 : -ETIME;
}

#define EXECS	6

/*
 * What waits to be read is another's program by the time it is: the owner is asked for
 * then. Whether anything waits as the exec comes is chance: until it did.
 */
TEST_F(attacker, sees_no_mapping_of_a_program_that_came_between)
{
	struct maps_seen seen = { 0 };
	struct child targets[EXECS];
	uint64_t missed = 0;
	int i;

	ASSERT_EQ(0, install_program(NULL, FOREIGN_PATH, VICTIM, 04755));
	for (i = 0; i < EXECS; i++) {
		ASSERT_ZEROS(child_fork(&targets[i], use_up_and_exec, NULL),
			     child_step(&targets[i]));
	}
	ASSERT_EQ(0, be_usual_attacker());
	self->setup.buffer_size = 1 << 20;
	for (i = 0; i < EXECS && !missed; i++)
		ASSERT_EQ(0, record_over_exec(&self->setup, &targets[i], &seen, &missed));
	TH_LOG("%llu mappings, %llu readings missed, %d execs", ull(seen.all), ull(missed), i);
	EXPECT_LT(10, seen.all);
	EXPECT_EQ(0, seen.foreign);
	EXPECT_LT(0, missed);
	for (i = 0; i < EXECS; i++)
		child_end(&targets[i]);
}

/* ---- holding on to the module ---- */

/* Files that are on their way in a socket that is on its way in itself: nobody has them. */
static void hide_in_sockets(struct gprof_setup *setup)
{
	struct device dev;
	int sockets[2];

	setup->id = getpid();
	if (become(ATTACKER) || device_record(&dev, setup) ||
	    socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) ||
	    send_fd(sockets[0], dev.fd) || send_fd(sockets[0], sockets[1]) ||
	    send_fd(sockets[1], sockets[0]))
		_exit(1);
}

static bool references_become(long wanted)
{
	for (int i = 0; i < 500 && module_references() != wanted; i++)
		sleep_ms(10);
	return module_references() == wanted;
}

TEST_F(attacker, that_died_does_not_hold_the_module_by_files_in_flight)
{
	long references = module_references();
	uint64_t recorders = open_recorders();
	int sockets[2];

	EXPECT_EQ(0, IN_CHILD((hide_in_sockets(&self->setup), 0)));
	/* closing a socket has the kernel look for such circles */
	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, sockets));
	close(sockets[0]);
	close(sockets[1]);
	EXPECT_TRUES(recorders_become(recorders), references_become(references));
}

TEST_F(attacker, that_is_killed_does_not_hold_the_module_by_mappings_and_children)
{
	long references = module_references();
	uint64_t recorders = open_recorders();
	pid_t pid;

	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		setpgid(0, 0);
		self->setup.id = getpid();
		if (become(ATTACKER) || device_record(&self->dev, &self->setup))
			_exit(1);
		close(self->dev.fd);
		for (int i = 0; i < 10; i++) {
			if (!fork())
				burn_until(UINT64_MAX);
		}
		burn_until(UINT64_MAX);
	}
	for (int i = 0; i < 200 && open_recorders() == recorders; i++)
		sleep_ms(10);
	EXPECT_LT(recorders, open_recorders());
	sleep_ms(100);
	kill(-pid, SIGKILL);
	ASSERT_EQ(pid, waitpid(pid, NULL, 0));
	EXPECT_TRUES(recorders_become(recorders), references_become(references));
}

TEST_HARNESS_MAIN
