/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * gprof/monitor.h: the recorders of this host, and their events.
 *
 * One sees one's own user's recorders; with CAP_PERFMON or CAP_SYS_ADMIN all.
 *
 * Memory. A list takes some 250 bytes for each recorder, and is refused (EFBIG)
 * with more than 262,144. Threads. A list, once read, is only read by all functions
 * that take it as const: any number of threads may do so. A monitor is used by one
 * thread at a time. Fork. A list is plain memory. The socket of a monitor is shared
 * with a child: one of the two has to leave it alone.
 */
#ifndef GPROF_MONITOR_H
#define GPROF_MONITOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <gprof/recorder.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GPROF_RECORDER_COMM	32

/**
 * struct gprof_recorder_info - a recorder as others see it
 * @id: never used again while the module is loaded
 * @kind: such as "cpu", "profile", "sched"; "unknown" for one that is newer than
 *	this library. Static.
 * @target: its target; never GPROF_SELF
 * @target_id: thread or process; 0: none, or not in this pid namespace
 * @cgroup: inode number of a cgroup's directory
 * @owner_pid: process that made it; 0: not in this pid namespace
 * @owner_uid: its user
 * @owner: its name
 * @started: it is recording
 * @flight: the oldest is overwritten
 * @has_samples: it has a buffer, and the counts below
 * @started_ns: of the last start, CLOCK_MONOTONIC; 0: never
 * @stopped_ns: of the last stop; 0: never, or started
 * @buffer_bytes: for each CPU
 * @produced: samples; produced = read + lost + overwritten
 * @read: that a reader has, or may still fetch
 * @lost: for want of room
 * @overwritten: given up in flight mode
 * @reserved: 0
 *
 * Closed but for @reserved.
 */
struct gprof_recorder_info {
	uint64_t id;
	const char *kind;
	enum gprof_target_type target;
	int target_id;
	uint64_t cgroup;
	int owner_pid;
	unsigned int owner_uid;
	char owner[GPROF_RECORDER_COMM];
	bool started;
	bool flight;
	bool has_samples;
	uint64_t started_ns;
	uint64_t stopped_ns;
	uint64_t buffer_bytes;
	uint64_t produced;
	uint64_t read;
	uint64_t lost;
	uint64_t overwritten;
	uint64_t reserved[8];
};

struct gprof_recorder_list;

/**
 * gprof_recorder_list_new() - the recorders that there are now
 *
 * Those that are not set up yet are left out.
 *
 * Return: list for gprof_recorder_list_free(), or NULL with errno (ENOENT: the
 * module is not loaded; EFBIG).
 */
GPROF_API struct gprof_recorder_list *gprof_recorder_list_new(void);
GPROF_API void gprof_recorder_list_free(struct gprof_recorder_list *l);

/** gprof_recorder_list_get() - the recorders, by id; returns their number */
GPROF_API size_t gprof_recorder_list_get(const struct gprof_recorder_list *l,
					 const struct gprof_recorder_info **recorders);

/**
 * gprof_snapshot_request() - ask the owner of a flight recorder for a snapshot
 * @id: of the recorder
 *
 * The owner takes it from gprof_flight_fired(). gprofctl flight writes a snapshot then.
 *
 * Return: 0 or -errno: -ENOENT for none that one sees, -EOPNOTSUPP for one that is no
 * flight recorder, -EBUSY when its owner has not looked at earlier ones.
 */
GPROF_API int gprof_snapshot_request(uint64_t id);

struct gprof_monitor;

enum gprof_monitor_type {
	GPROF_MONITOR_STARTED,
	GPROF_MONITOR_STOPPED,	/* or closed while it was started */
	GPROF_MONITOR_LOST,	/* it loses samples; at most once a second */
	GPROF_MONITOR_TARGET_GONE,	/* its thread or process has ended */
	GPROF_MONITOR_FIRED,	/* a trigger has fired, @trigger */
};

/**
 * struct gprof_monitor_event - something that happened
 * @type: kind of event
 * @described: all of @recorder is known; else only its id and kind: it was gone
 *	before one could ask for more, or is not for this user to see
 * @recorder: of which recorder, as it is when the event is read; of one that was closed, as it was
 *	when its start was taken
 * @trigger: number of the trigger that has fired, or -1: a snapshot is asked for
 * @cause: enum gprof_flight_cause of it (gprof/flight.h)
 *
 * Closed.
 */
struct gprof_monitor_event {
	enum gprof_monitor_type type;
	bool described;
	struct gprof_recorder_info recorder;
	int trigger;
	unsigned int cause;
};

/**
 * gprof_monitor_new() - hear of recorders from now on
 *
 * Return: monitor for gprof_monitor_free(), or NULL with errno (EPERM:
 * CAP_SYS_ADMIN or CAP_NET_ADMIN is missing).
 */
GPROF_API struct gprof_monitor *gprof_monitor_new(void);

/** gprof_monitor_fd() - for poll(): readable when there may be an event */
GPROF_API int gprof_monitor_fd(const struct gprof_monitor *m);

/**
 * gprof_monitor_next() - take an event
 * @m: monitor
 * @event: gets it
 *
 * Does not wait. The event itself tells all listeners no more than the recorder's id
 * and kind; the module is asked for the rest. Events of a type
 * that this library does not know are skipped.
 *
 * Return: 1, 0 when there is none, or -errno; after -ENOBUFS, which says that
 * events were lost, one may go on.
 */
GPROF_API int gprof_monitor_next(struct gprof_monitor *m, struct gprof_monitor_event *event);

/** gprof_monitor_free() - hear no more; NULL is fine */
GPROF_API void gprof_monitor_free(struct gprof_monitor *m);

#ifdef __cplusplus
}
#endif

#endif /* GPROF_MONITOR_H */
