// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * device.c: one open file of /dev/gprof, and sentences for its errors.
 */
#include "device.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>

#include "pmu.h"
#include "pmu_cpus.h"

int gprof_device_open(struct gprof_own_fd *dev, struct gprof_error *e)
{
	int fd = open(GPROF_DEVICE, O_RDWR | O_CLOEXEC);

	*dev = GPROF_OWN_FD_NONE;
	if (fd >= 0) {
		gprof_own_fd_adopt(dev, fd);
		return 0;
	}
	switch (errno) {
	case ENOENT:
	case ENODEV:
	case ENXIO:
		return gprof_error_set(e, ENOENT,
				       "%s: gprof.ko is not loaded; run insmod gprof.ko or "
				       "modprobe gprof as root", GPROF_DEVICE);
	case EACCES:
	case EPERM:
		return gprof_error_set(e, EACCES,
				       "%s: no permission to open it, which only root has as it "
				       "comes; run as root, or let users in: chmod a+rw %s now, a "
				       "udev rule for good (see gprof(4))", GPROF_DEVICE,
				       GPROF_DEVICE);
	case EMFILE:
	case ENFILE:
		return gprof_error_set(e, errno,
				       "%s: too many open files; close some or raise ulimit -n",
				       GPROF_DEVICE);
	default:
		return gprof_error_set(e, errno, "%s: %s", GPROF_DEVICE, gprof_strerror(errno));
	}
}

int gprof_device_check(const struct gprof_own_fd *dev, const char *what, struct gprof_error *e)
{
	if (gprof_own_fd_is(dev))
		return 0;
	return gprof_error_set(e, EBADF, "%.256s: the program has closed the recorder, descriptor %d; "
			       "leave the library's descriptors open", what, dev->fd);
}

int gprof_device_info(const struct gprof_own_fd *dev, struct gprof_info *info,
		      struct gprof_error *e)
{
	int err = gprof_device_check(dev, GPROF_DEVICE, e);

	if (err)
		return err;
	memset(info, 0, sizeof(*info));
	info->size = sizeof(*info);
	if (ioctl(dev->fd, GPROF_IOC_INFO, info))
		return gprof_error_set(e, errno, "%s: INFO failed: %s", GPROF_DEVICE,
				       gprof_strerror(errno));
	if (info->out_abi_version != GPROF_ABI_VERSION)
		return gprof_error_set(e, EPROTO,
				       "gprof.ko speaks version %u of the interface, libgprof "
				       "version %u; install module and library of one release",
				       info->out_abi_version, GPROF_ABI_VERSION);
	return 0;
}

/* Reason and remedy, by out_reason; used where errno adds nothing. */
static const char *const reasons[] = {
	[GPROF_REASON_FLAGS] = "flags that the module does not know, or that contradict each other",
	[GPROF_REASON_KIND] = "this gprof.ko has no such kind of recorder; load a newer one",
	[GPROF_REASON_PARAMS] = "parameters that the module does not understand",
	[GPROF_REASON_PERIOD] = "the period is too short or too long; events want 100 to 2^48 "
				"(1 where the kernel counts them), the timer 1 to 100000 Hz",
	[GPROF_REASON_PRECISE] = "this event cannot be that precise; ask for a lower level "
				 "(0 works for every event)",
	[GPROF_REASON_TARGET] = "the module does not know this type of target",
	[GPROF_REASON_TASK_GONE] = "no such thread or process; it may have ended",
	[GPROF_REASON_TASK_DENIED] = "not a process of your own (same user and group, dumpable, and "
				     "no security module keeps you from tracing it); "
				     "run as root or with CAP_PERFMON",
	[GPROF_REASON_CGROUP] = "not a cgroup v2 directory; give one below /sys/fs/cgroup",
	[GPROF_REASON_CPU] = "no such CPU, or it is offline",
	[GPROF_REASON_WIDE_DENIED] = "recording cgroups, CPUs, the system or tracepoints needs "
				     "root or CAP_PERFMON",
	[GPROF_REASON_KERNEL_DENIED] = "recording kernel mode needs root or CAP_PERFMON; leave out "
				       "the kernel, or run with the privilege",
	[GPROF_REASON_LOCKDOWN] = "the kernel is locked down (Secure Boot) and hides kernel "
				  "addresses; leave out the kernel",
	[GPROF_REASON_BUFFER] = "the buffer size is out of range; leave it 0 for the default",
	[GPROF_REASON_MEMLOCK] = "the buffers would be over the limit of locked memory; raise "
				 "ulimit -l, ask for smaller buffers, or run as root",
	[GPROF_REASON_STATE] = "the recorder is in the wrong state for this call",
	[GPROF_REASON_GENERATION] = "the time of a generation is out of range",
	[GPROF_REASON_EXCLUDE] = "this event cannot leave out kernel, hypervisor or idle; include "
				 "them (as root or with CAP_PERFMON)",
	[GPROF_REASON_SLOWS_DENIED] = "this slows other tasks than one's own (counts of system "
				      "calls and page faults, allocations), and needs root or "
				      "CAP_PERFMON; leave it out, or run with the privilege",
	[GPROF_REASON_FILE] = "what the process has mapped is another file by now, or not open for "
			      "reading; try again",
	[GPROF_REASON_PARANOID] = "kernel.perf_event_paranoid is above 2: counting events needs "
				  "root or CAP_PERFMON; use -e timer, which is not one of them",
	[GPROF_REASON_TURN] = "users without privilege count events of the kernel's own 5 times a "
			      "second, all together, as that interrupts every CPU; try again, use "
			      "-e timer, or run as root or with CAP_PERFMON",
	[GPROF_REASON_GRACE] = "a task of real time has kept a CPU for itself for 1.5 s, and "
			       "this kernel (PREEMPT_RT) begins and ends events when each CPU has "
			       "run something else; try again, or limit such tasks "
			       "(kernel.sched_rt_runtime_us=950000)",
};

static int event_error(int err, const char *what, struct gprof_error *e)
{
	switch (err) {
	case ENOENT:
	case ENODEV:
		return gprof_error_set(e, err,
				       "%s: this CPU (or virtual machine) has no such hardware "
				       "counter (%s); use -e timer, which works everywhere",
				       what, gprof_strerror(err));
	case EBUSY:
		return gprof_error_set(e, err,
				       "%s: another user holds the counter (%s); wait until it is "
				       "done (the NMI watchdog: sysctl kernel.nmi_watchdog=0)",
				       what, gprof_strerror(err));
	case EACCES:
	case EPERM:
		return gprof_error_set(e, err,
				       "%s: the kernel does not let this user count it (%s); run "
				       "as root or with CAP_PERFMON", what, gprof_strerror(err));
	case EINVAL:
		return gprof_error_set(e, err,
				       "%s: the CPU's counter refuses this event number or these "
				       "options (%s); compare /sys/bus/event_source/devices",
				       what, gprof_strerror(err));
	default:
		return gprof_error_set(e, err,
				       "%s: this CPU, kernel or virtual machine cannot sample the "
				       "event (%s); use -e timer, which works everywhere",
				       what, gprof_strerror(err));
	}
}

/* A kind that uses tracepoints and probes of the kernel's needs no counter. */
#define KIND(_number, _name, _records, _lack)	[GPROF_KIND_##_number] = _lack,

static const char *const lacks[] = {
#include "base/kinds.def"
};

static const char *lack_of(int err, uint32_t kind)
{
	if (err != ENOENT && err != EOPNOTSUPP)
		return NULL;
	return kind < sizeof(lacks) / sizeof(lacks[0]) ? lacks[kind] : NULL;
}

int gprof_device_explain(int err, uint32_t reason, uint32_t kind, const char *doing,
			 const char *what, struct gprof_error *e)
{
	const char *why = reason < sizeof(reasons) / sizeof(reasons[0]) ? reasons[reason] : NULL;

	if (reason == GPROF_REASON_EVENT) {
		why = lack_of(err, kind);
		/* A lack of memory of START itself is of no event. */
		if (!why && err != ENOMEM && kind == GPROF_KIND_CPU)
			return event_error(err, what, e);
	}
	if (why)
		return gprof_error_set(e, err, "%s: %s (%s)", what, why, gprof_strerror(err));
	if (err == ENOMEM)
		return gprof_error_set(e, err,
				       "%s: no memory for the buffers; ask for smaller ones", what);
	return gprof_error_set(e, err, "%s: %s failed: %s", what, doing, gprof_strerror(err));
}

/* The event that is to be counted, or NULL. */
static const struct gprof_cpu_params *counted(const struct gprof_setup *setup)
{
	const void *params = (const void *)(uintptr_t)setup->params;
	const struct gprof_trace_params *trace = params;

	if (setup->kind == GPROF_KIND_CPU)
		return params;
	return setup->kind == GPROF_KIND_TRACE && trace->cpu.size ? &trace->cpu : NULL;
}

int gprof_device_setup(const struct gprof_own_fd *dev, struct gprof_setup *setup, const char *what,
		       struct gprof_error *e)
{
	const struct gprof_cpu_params *event = counted(setup);
	int err = gprof_device_check(dev, what, e);

	if (!err && event)
		err = gprof_pmu_cpus_check(GPROF_PMU_SYSFS, setup, event->type, what, e);
	if (err)
		return err;
	setup->size = sizeof(*setup);
	setup->out_reason = 0;
	if (!ioctl(dev->fd, GPROF_IOC_SETUP, setup))
		return 0;
	/*
	 * Of a trace that is the event of its samples; anything else that it lacks is a parameter.
	 */
	return gprof_device_explain(errno, setup->out_reason,
				    setup->kind == GPROF_KIND_TRACE ? GPROF_KIND_CPU : setup->kind,
				    "SETUP", what, e);
}

int gprof_device_table(const struct gprof_own_fd *dev, int file, const void *table, size_t size,
		       const struct gprof_python *python)
{
	struct gprof_unwind_table_add arg = {
		.size = sizeof(arg),
		.flags = file < 0 ? GPROF_UNWIND_TABLE_ADD_F_VDSO : 0,
		.fd = file,
		.table = (uintptr_t)table,
		.table_size = table ? size : 0,
	};

	if (!gprof_own_fd_is(dev))
		return -EBADF;
	if (python && table) {
		arg.python = (uintptr_t)python;
		if (!ioctl(dev->fd, GPROF_IOC_UNWIND_TABLE_ADD, &arg))
			return 0;
		/* One that does not know of Python, or not of this one. */
		if (errno != E2BIG && errno != EINVAL)
			return -errno;
		arg.python = 0;
	}
	return ioctl(dev->fd, GPROF_IOC_UNWIND_TABLE_ADD, &arg) ? -errno : 0;
}

static int locked_error(int err, uint32_t pid, const char *what, struct gprof_error *e)
{
	return gprof_error_set(e, err,
			       "%s: process %u, which maps a file to be probed, keeps its address space "
			       "locked, and every fork on this host would wait until it lets go; try "
			       "again, or end the process (%s)",
			       what, pid, gprof_strerror(err));
}

int gprof_device_start(const struct gprof_own_fd *dev, uint32_t kind, const char *what,
		       struct gprof_error *e)
{
	struct gprof_start start = { .size = sizeof(start) };
	int err = gprof_device_check(dev, what, e);

	if (err)
		return err;
	if (!ioctl(dev->fd, GPROF_IOC_START, &start))
		return 0;
	if (start.out_reason == GPROF_REASON_MAP_LOCKED)
		return locked_error(errno, start.out_attached, what, e);
	return gprof_device_explain(errno, start.out_reason, kind, "START", what, e);
}

int gprof_device_stop(const struct gprof_own_fd *dev, const char *what, struct gprof_error *e)
{
	struct gprof_stop stop = { .size = sizeof(stop) };
	int err = gprof_device_check(dev, what, e);

	if (err)
		return err;
	if (!ioctl(dev->fd, GPROF_IOC_STOP, &stop))
		return 0;
	return gprof_device_explain(errno, GPROF_REASON_NONE, GPROF_KIND_CPU, "STOP", what, e);
}

int gprof_device_stats(const struct gprof_own_fd *dev, struct gprof_stats *st,
		       struct gprof_error *e)
{
	int err = gprof_device_check(dev, GPROF_DEVICE, e);

	if (err)
		return err;
	memset(st, 0, sizeof(*st));
	st->size = sizeof(*st);
	st->cpu = GPROF_STATS_ALL_CPUS;
	if (!ioctl(dev->fd, GPROF_IOC_STATS, st))
		return 0;
	return gprof_error_set(e, errno, "%s: STATS failed: %s", GPROF_DEVICE,
			       gprof_strerror(errno));
}
