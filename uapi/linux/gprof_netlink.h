/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * gprof: state and counters of recorders, over generic netlink.
 *
 * DOC: the interface in one page
 *
 * The files of /dev/gprof own recorders (linux/gprof.h). This family only reads
 * their state, and sends events about them. The id that SETUP returned names a
 * recorder. The same in YNL's form: Documentation/netlink/specs/gprof.yaml.
 *
 *	GPROF_CMD_INFO_GET		kinds and features of this module
 *	GPROF_CMD_RECORDER_GET		one recorder; dump: all that the caller may see
 *	GPROF_CMD_RECORDER_SNAPSHOT	ask the owner of a flight recorder for a snapshot:
 *					GPROF_IOC_TRIGGER_READ gives it a trigger event
 *					GPROF_TRIGGER_EVENT_REQUEST, of the task that asked
 *	GPROF_CMD_SCHED_STATS_GET	counters of a GPROF_KIND_SCHED recorder
 *
 * and to listeners of the group GPROF_NL_GROUP_EVENTS (CAP_SYS_ADMIN or
 * CAP_NET_ADMIN, in the initial network namespace)
 *
 *	GPROF_CMD_RECORDER_STARTED	its ID and KIND
 *	GPROF_CMD_RECORDER_STOPPED	the same; it may be closed already
 *	GPROF_CMD_RECORDER_LOST		the same; it loses samples. Once a second at most
 *	GPROF_CMD_RECORDER_TARGET_GONE	the same; the thread or process has ended; the
 *					processes that it has forked may go on
 *	GPROF_CMD_RECORDER_FIRED	the same, TRIGGER and TRIGGER_WHAT: a trigger has
 *					fired. Only the recorder's owner can read its task.
 *					64 times a second at most
 *
 * An event goes to all listeners alike, and so has only the facts that every listener may
 * read. A listener gets more by RECORDER_GET.
 *
 * A caller may ask for recorders of its own user; with CAP_PERFMON or CAP_SYS_ADMIN for
 * all. Without those a recorder that was set up with CAP_PERFMON is only for the process
 * that set it up, and not for others of its user. Other recorders do not
 * exist for the caller: ENOENT, left out of dumps.
 *
 * Errors, each with a sentence in the extended acknowledgment:
 *
 *	ENOENT		no such recorder, or one that the caller may not see
 *	EBUSY		the recorder is not set up, or never was started; its owner has
 *			not read the requests before
 *	EOPNOTSUPP	statistics of another kind than GPROF_KIND_SCHED; a snapshot of
 *			a recorder that is not in flight mode
 *	EINVAL		an unknown, malformed or missing attribute
 *
 * A dump during which recorders came or went has NLM_F_DUMP_INTR set.
 *
 * All counters have 64 bits. Times are nanoseconds. A reader skips attributes
 * of unknown types.
 */
#ifndef _UAPI_LINUX_GPROF_NETLINK_H
#define _UAPI_LINUX_GPROF_NETLINK_H

#include <linux/stddef.h>
#include <linux/types.h>

#define GPROF_NL_FAMILY		"gprof"
#define GPROF_NL_VERSION	1
#define GPROF_NL_GROUP_EVENTS	"events"

enum {
	GPROF_CMD_INFO_GET = 1,
	GPROF_CMD_RECORDER_GET,
	GPROF_CMD_SCHED_STATS_GET,
	GPROF_CMD_RECORDER_STARTED,
	GPROF_CMD_RECORDER_STOPPED,
	GPROF_CMD_RECORDER_LOST,
	GPROF_CMD_RECORDER_TARGET_GONE,
	GPROF_CMD_RECORDER_FIRED,
	GPROF_CMD_RECORDER_SNAPSHOT,

	__GPROF_CMD_MAX,
	GPROF_CMD_MAX = (__GPROF_CMD_MAX - 1)
};

/* Attributes of INFO_GET; the same values as in struct gprof_info. */
enum {
	GPROF_A_INFO_PAD = 1,
	GPROF_A_INFO_ABI_VERSION,	/* u32 */
	GPROF_A_INFO_KINDS,		/* u64, bit (1 << GPROF_KIND_*) */
	GPROF_A_INFO_FEATURES,		/* u64, GPROF_FEAT_* */
	GPROF_A_INFO_RECORDERS,		/* u64, open files */

	__GPROF_A_INFO_MAX,
	GPROF_A_INFO_MAX = (__GPROF_A_INFO_MAX - 1)
};

/* values of GPROF_A_RECORDER_STATE */
#define GPROF_RECORDER_STATE_READY	1	/* set up, or stopped */
#define GPROF_RECORDER_STATE_STARTED	2

/*
 * Attributes of RECORDER_GET; the events have ID and KIND. Request: ID (not in dumps).
 * PRODUCED to OVERWRITTEN count samples, as in struct gprof_stats; recorders
 * without a ring have none of them. READ counts the samples that a reader has
 * read or may still read: PRODUCED - LOST - OVERWRITTEN.
 */
enum {
	GPROF_A_RECORDER_PAD = 1,
	GPROF_A_RECORDER_ID,		/* u64 */
	GPROF_A_RECORDER_KIND,		/* u32, GPROF_KIND_* */
	GPROF_A_RECORDER_TARGET,	/* u32, GPROF_TARGET_* */
	GPROF_A_RECORDER_TARGET_PID,	/* u32, in the reader's pid namespace; gone: absent */
	GPROF_A_RECORDER_TARGET_CGROUP,	/* u64, inode number of its directory */
	GPROF_A_RECORDER_STATE,		/* u32, GPROF_RECORDER_STATE_* */
	GPROF_A_RECORDER_OWNER_PID,	/* u32, of the process that did SETUP; 0: not in the */
					/* reader's pid namespace */
	GPROF_A_RECORDER_OWNER_UID,	/* u32, effective, in the reader's user namespace; */
					/* the overflow uid: not in it */
	GPROF_A_RECORDER_OWNER_COMM,	/* string, name of the thread that did SETUP */
	GPROF_A_RECORDER_STARTED_NS,	/* u64, CLOCK_MONOTONIC of START; 0: never */
	GPROF_A_RECORDER_STOPPED_NS,	/* u64, of the last STOP; 0: never, or started */
	GPROF_A_RECORDER_BUFFER_SIZE,	/* u64, bytes of data for each CPU; 0: no ring */
	GPROF_A_RECORDER_FLIGHT,	/* flag, GPROF_SETUP_F_FLIGHT */
	GPROF_A_RECORDER_PRODUCED,	/* u64 */
	GPROF_A_RECORDER_READ,		/* u64 */
	GPROF_A_RECORDER_LOST,		/* u64, all reasons */
	GPROF_A_RECORDER_OVERWRITTEN,	/* u64 */
	GPROF_A_RECORDER_TRIGGER,	/* u32, index; RECORDER_FIRED alone */
	GPROF_A_RECORDER_TRIGGER_WHAT,	/* u32, GPROF_TRIGGER_*; likewise */

	__GPROF_A_RECORDER_MAX,
	GPROF_A_RECORDER_MAX = (__GPROF_A_RECORDER_MAX - 1)
};

/*
 * Attributes of SCHED_STATS_GET. Request: ID.
 *
 * Totals are since START. No total ever decreases, nor is smaller
 * than a part of it: TOTAL_SCHED >= TOTAL_EXEC >= count of DELAY. Numbers
 * are those at the moment of reading (after STOP: 0, NUM_PROCS excepted).
 * Documentation/schedstat.rst has the reasons for this choice of counters.
 *
 * Totals and numbers of system calls and faults, and the stall, are there only if the
 * recorder counts them.
 */
enum {
	GPROF_A_SCHED_STATS_PAD = 1,
	GPROF_A_SCHED_STATS_ID,			/* u64 */
	GPROF_A_SCHED_STATS_TIME_NS,		/* u64, CLOCK_MONOTONIC now, or of STOP */
	GPROF_A_SCHED_STATS_STARTED_NS,		/* u64, CLOCK_MONOTONIC of START */
	GPROF_A_SCHED_STATS_TOTAL_TASK_EXEC,	/* u64, times a task was switched in */
	GPROF_A_SCHED_STATS_NUM_TASK_EXEC,	/* u64, tasks on a CPU */
	GPROF_A_SCHED_STATS_TOTAL_TASK_SCHED,	/* u64, times a task became runnable */
	GPROF_A_SCHED_STATS_NUM_TASK_SCHED,	/* u64, runnable tasks that wait for a CPU */
	GPROF_A_SCHED_STATS_TOTAL_TASK,		/* u64, tasks created */
	GPROF_A_SCHED_STATS_NUM_TASK,		/* u64, tasks alive */
	GPROF_A_SCHED_STATS_TOTAL_FAULTS,	/* u64, user page faults */
	GPROF_A_SCHED_STATS_NUM_FAULTS,		/* u64, tasks in one */
	GPROF_A_SCHED_STATS_TOTAL_SYS_CALLS,	/* u64, system calls entered */
	GPROF_A_SCHED_STATS_NUM_SYS_CALLS,	/* u64, tasks in one entered since START */
	GPROF_A_SCHED_STATS_MAX_PROCS,		/* u64, CPUs that the task set may use */
	GPROF_A_SCHED_STATS_NUM_PROCS,		/* u64, CPUs online */
	GPROF_A_SCHED_STATS_TOTAL_THREAD_STARTS, /* u64, times a CPU left idle */
	GPROF_A_SCHED_STATS_NUM_THREADS,	/* u64, CPUs that are not idle */
	GPROF_A_SCHED_STATS_TOTAL_SWITCHES,	/* u64, away from a task; system: all */
	GPROF_A_SCHED_STATS_DELAY,		/* nest: from runnable to running, ns */
	GPROF_A_SCHED_STATS_ON_CPU,		/* nest: from switched in to switched out, ns */
	GPROF_A_SCHED_STATS_STALL_NS,		/* u64, time with at least one waiting */
	GPROF_A_SCHED_STATS_SAMPLES,		/* binary, u64[256]: delays, ns; the newest */
						/* at (NUM_SAMPLES + 255) % 256 */
	GPROF_A_SCHED_STATS_NUM_SAMPLES,	/* u64, delays sampled since START */
	GPROF_A_SCHED_STATS_SAMPLE_HZ,		/* u32 */
	GPROF_A_SCHED_STATS_MISSED,		/* u64, delays that were not measured */
	GPROF_A_SCHED_STATS_CLOCK_DOUBTFUL,	/* flag: counts are right, times are not; or a */
						/* process was left out for lack of memory */
	GPROF_A_SCHED_STATS_FAULTS_MISSED,	/* u64, user page faults that were not */
						/* counted, at most: of all tasks */

	__GPROF_A_SCHED_STATS_MAX,
	GPROF_A_SCHED_STATS_MAX = (__GPROF_A_SCHED_STATS_MAX - 1)
};

#define GPROF_SCHED_SAMPLES		256

/*
 * Attributes of a histogram of times. Bucket i counts values v with
 *
 *	GPROF_HISTOGRAM_LOWEST(i) <= v < GPROF_HISTOGRAM_LOWEST(i + 1)
 *
 * Buckets below 8 hold one value each; from there on each power of two is
 * divided into eight buckets, so that a bucket is never wider than an eighth of its
 * values.
 */
enum {
	GPROF_A_HISTOGRAM_PAD = 1,
	GPROF_A_HISTOGRAM_COUNT,	/* u64, values; the sum of all buckets */
	GPROF_A_HISTOGRAM_SUM,		/* u64, of the values */
	GPROF_A_HISTOGRAM_LARGEST,	/* u64, largest value */
	GPROF_A_HISTOGRAM_FIRST,	/* u32, number of the first bucket in BUCKETS */
	GPROF_A_HISTOGRAM_BUCKETS,	/* binary, u64[]; all others are 0; absent if all are */

	__GPROF_A_HISTOGRAM_MAX,
	GPROF_A_HISTOGRAM_MAX = (__GPROF_A_HISTOGRAM_MAX - 1)
};

#define GPROF_HISTOGRAM_BUCKETS		496

static __always_inline __u64 __gprof_histogram_lowest(unsigned int i)
{
	return i < 8 ? i : (__u64)(i % 8 + 8) << (i / 8 - 1);
}

#define GPROF_HISTOGRAM_LOWEST(i)	__gprof_histogram_lowest(i)

#endif /* _UAPI_LINUX_GPROF_NETLINK_H */
