/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * device.h: a recorder as the kernel shows it. The tests go past the library
 * on purpose, so that an error in one is not hidden by the same in the other.
 */
#ifndef GPROF_TEST_DEVICE_H
#define GPROF_TEST_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <linux/gprof.h>
#include <linux/perf_event.h>

/* The mapping of one CPU's buffer. */
struct device_ring {
	/* page that the kernel writes, NULL where the CPU has no buffer */
	const struct gprof_ring_head *head;
	struct gprof_ring_tail *tail;	/* page that the test writes */
	const uint8_t *data;	/* records */
};

/* An open recorder, or none: all 0. */
struct device {
	int fd;	/* the file */
	unsigned int nr_cpus;	/* CPUs are numbered below this */
	uint64_t data_size;	/* bytes of data of each ring */
	bool flight;	/* set up in flight mode */
	struct device_ring *rings;	/* one of each CPU once mapped, else NULL */
};

/* All return 0 (or a descriptor) or -errno. */
int device_open(void);

/* Does the module have a feature, GPROF_FEAT_*? */
bool device_has(uint64_t feature);

#define NO_TABLES	"the module walks by no unwind tables here"

int device_ioctl(int fd, unsigned int cmd, void *arg);
int device_setup(struct device *dev, struct gprof_setup *setup);
int device_map(struct device *dev);
int device_start(struct device *dev);
/* Has it a trigger of these, which says its index, or why not. */
struct gprof_trigger trigger_of(uint32_t what, uint64_t threshold_ns);
int device_trigger(const struct device *dev, struct gprof_trigger *t);
int device_stop(struct device *dev);
int device_stats(struct device *dev, int cpu, struct gprof_stats *st);
void device_close(struct device *dev);

/* device_setup(), device_map(), device_start(), with the one that failed in the errno */
int device_record(struct device *dev, struct gprof_setup *setup);

uint64_t device_lost(const struct gprof_stats *st);

struct gprof_cpu_params timer_params(uint64_t period_ns);
struct gprof_cpu_params event_params(uint32_t type, uint64_t config, uint64_t period);

/* A setup that succeeds for one's own tasks: user frames, default sizes. */
struct gprof_setup device_setup_of(uint32_t target, int32_t id, const void *params);
/* One of another kind than CPU; those of traces and statistics have no stacks. */
struct gprof_setup device_setup_kind(uint32_t kind, uint32_t target, int32_t id, const void *params);
/* ... of this CPU alone. */
void device_target_cpu(struct gprof_setup *setup, unsigned int cpu);

/* errno with which the kernel's own perf refuses an event on this thread, 0: it does not */
int perf_refuses(uint32_t type, uint64_t config, bool user_only);

#endif
