// SPDX-License-Identifier: GPL-2.0-only
/* device.c: open, set up, map and close a recorder without the library. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "device.h"

/*
 * Only root may open the device until an administrator lets others in. That is done
 * for every program of these before its tests, which become other users, and undone
 * behind them: a fixture could not, since who became another cannot be root again.
 */
static struct {
	pid_t pid;	/* who undoes it */
	mode_t mode;
} shut;

__attribute__((constructor)) static void let_users_in(void)
{
	struct stat st;

	if (geteuid() || stat(GPROF_DEVICE, &st) || chmod(GPROF_DEVICE, 0666))
		return;
	shut.pid = getpid();
	shut.mode = st.st_mode & 07777;
}

__attribute__((destructor)) static void shut_users_out(void)
{
	if (shut.pid && shut.pid == getpid() && chmod(GPROF_DEVICE, shut.mode))
		_exit(1);
}

int device_open(void)
{
	int fd = open(GPROF_DEVICE, O_RDWR | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

bool device_has(uint64_t feature)
{
	struct gprof_info info = { .size = sizeof(info) };
	int fd = device_open();
	int err = device_ioctl(fd, GPROF_IOC_INFO, &info);

	close(fd);
	return !err && info.out_features & feature;
}

int device_ioctl(int fd, unsigned int cmd, void *arg)
{
	return ioctl(fd, cmd, arg) < 0 ? -errno : 0;
}

int device_setup(struct device *dev, struct gprof_setup *setup)
{
	int ret;

	*dev = (struct device){ .fd = device_open() };
	if (dev->fd < 0)
		return dev->fd;
	ret = device_ioctl(dev->fd, GPROF_IOC_SETUP, setup);
	if (ret) {
		close(dev->fd);
		dev->fd = -1;
		return ret;
	}
	dev->nr_cpus = setup->out_nr_cpus;
	dev->data_size = setup->out_data_size;
	dev->flight = setup->flags & GPROF_SETUP_F_FLIGHT;
	return 0;
}

static int map_ring(const struct device *dev, unsigned int cpu, struct device_ring *ring)
{
	size_t page = sysconf(_SC_PAGESIZE);
	void *tail, *head;

	head = mmap(NULL, page + 2 * dev->data_size, PROT_READ, MAP_SHARED, dev->fd,
		    GPROF_MMAP_RING(cpu));
	if (head == MAP_FAILED)
		return errno == ENODEV ? 0 : -errno;
	tail = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, dev->fd, GPROF_MMAP_TAIL(cpu));
	if (tail == MAP_FAILED)
		return -errno;
	ring->head = head;
	ring->tail = tail;
	ring->data = (const uint8_t *)head + ring->head->data_offset;
	return 0;
}

int device_map(struct device *dev)
{
	int ret;

	dev->rings = calloc(dev->nr_cpus, sizeof(*dev->rings));
	if (!dev->rings)
		return -ENOMEM;
	for (unsigned int cpu = 0; cpu < dev->nr_cpus; cpu++) {
		ret = map_ring(dev, cpu, &dev->rings[cpu]);
		if (ret)
			return ret;
	}
	return 0;
}

/*
 * On PREEMPT_RT the answer may be to try again: in a virtual machine no grace period passes for
 * as long as one of its CPUs stands still.
 */
int device_start(struct device *dev)
{
	struct gprof_start start = { .size = sizeof(start) };
	int err, tries = 0;

	do {
		err = device_ioctl(dev->fd, GPROF_IOC_START, &start);
	} while (err == -EAGAIN && start.out_reason == GPROF_REASON_GRACE && ++tries < 4);
	return err;
}

int device_stop(struct device *dev)
{
	struct gprof_stop stop = { .size = sizeof(stop) };

	return device_ioctl(dev->fd, GPROF_IOC_STOP, &stop);
}

struct gprof_trigger trigger_of(uint32_t what, uint64_t threshold_ns)
{
	return (struct gprof_trigger){
		.size = sizeof(struct gprof_trigger), .what = what, .threshold_ns = threshold_ns,
		.interval_ns = 1, .number = GPROF_TRIGGER_ANY,
	};
}

int device_trigger(const struct device *dev, struct gprof_trigger *t)
{
	return device_ioctl(dev->fd, GPROF_IOC_TRIGGER, t);
}

int device_stats(struct device *dev, int cpu, struct gprof_stats *st)
{
	*st = (struct gprof_stats){ .size = sizeof(*st), .cpu = cpu };
	return device_ioctl(dev->fd, GPROF_IOC_STATS, st);
}

int device_record(struct device *dev, struct gprof_setup *setup)
{
	int ret = device_setup(dev, setup);

	if (ret)
		return ret;
	ret = device_map(dev);
	if (!ret)
		ret = device_start(dev);
	if (ret)
		device_close(dev);
	return ret;
}

void device_close(struct device *dev)
{
	size_t page = sysconf(_SC_PAGESIZE);

	for (unsigned int cpu = 0; dev->rings && cpu < dev->nr_cpus; cpu++) {
		if (!dev->rings[cpu].head)
			continue;
		munmap((void *)dev->rings[cpu].head, page + 2 * dev->data_size);
		munmap(dev->rings[cpu].tail, page);
	}
	free(dev->rings);
	dev->rings = NULL;
	if (dev->fd > 0)
		close(dev->fd);
	dev->fd = 0;
}

uint64_t device_lost(const struct gprof_stats *st)
{
	uint64_t lost = 0;

	for (int i = 0; i < GPROF_LOST_SLOTS; i++)
		lost += st->out_lost[i];
	return lost;
}

struct gprof_cpu_params event_params(uint32_t type, uint64_t config, uint64_t period)
{
	return (struct gprof_cpu_params){
		.size = sizeof(struct gprof_cpu_params), .type = type, .config = config,
		.period = period,
	};
}

struct gprof_cpu_params timer_params(uint64_t period_ns)
{
	return event_params(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, period_ns);
}

struct gprof_setup device_setup_of(uint32_t target, int32_t id, const void *params)
{
	return (struct gprof_setup){
		.size = sizeof(struct gprof_setup), .kind = GPROF_KIND_CPU, .target = target,
		.id = id, .stack = GPROF_STACK_F_IP | GPROF_STACK_F_USER,
		.params = (uintptr_t)params,
	};
}

struct gprof_setup device_setup_kind(uint32_t kind, uint32_t target, int32_t id, const void *params)
{
	struct gprof_setup setup = device_setup_of(target, id, params);

	setup.kind = kind;
	if (kind == GPROF_KIND_TRACE || kind == GPROF_KIND_SCHED)
		setup.stack = 0;
	return setup;
}

void device_target_cpu(struct gprof_setup *setup, unsigned int cpu)
{
	static uint64_t cpus[1024 / 64];

	memset(cpus, 0, sizeof(cpus));
	cpus[cpu / 64] = 1ULL << cpu % 64;
	setup->target = GPROF_TARGET_CPUS;
	setup->id = 0;
	setup->cpus = (uintptr_t)cpus;
	setup->cpus_size = (cpu / 64 + 1) * 8;
}

int perf_refuses(uint32_t type, uint64_t config, bool user_only)
{
	struct perf_event_attr attr = {
		.type = type, .size = sizeof(attr), .config = config, .sample_period = 1000000,
		.disabled = 1, .exclude_kernel = user_only, .exclude_hv = 1,
	};
	int fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}
