/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * gprof/recorder.h: record a profile of a thread, a process, a cgroup, CPUs or
 * the whole host.
 *
 *	struct gprof_cpu_event ev = { .name = "cycles" };
 *	struct gprof_cpu_config cfg = {
 *		.sz = sizeof(cfg), .target = { GPROF_SELF },
 *		.events = &ev, .nr_events = 1,
 *	};
 *	struct gprof_recorder *r = gprof_cpu_recorder_new(&cfg);
 *
 *	if (!r || gprof_recorder_start(r, fd))
 *		errx(1, "%s", gprof_error());
 *	work();
 *	if (gprof_recorder_stop(r))
 *		errx(1, "%s", gprof_error());
 *	gprof_recorder_free(r);
 *
 * The shape is that of the recorder types proposed for Go's runtime/pprof
 * (golang/go 74545, CPURecorder and ProfileRecorder): a configuration value
 * makes a recorder, Start takes the writer, Stop writes the profile.
 *
 * Errors are told as gprof/base.h says, for all of the library.
 *
 * Threads. A recorder is used by one thread at a time. Between start and stop a thread of its own
 * empties the kernel's buffers, and another makes unwind tables where those are wanted, with up to
 * three more while a start waits for tables (all signals blocked in each); they are created before
 * the kernel attaches, so they show in a profile of one's own process with their real cost. The library never prints, never exits and installs no
 * signal handler.
 *
 * Growth. Of all structs of this library there are three kinds. Those that begin with sz, which
 * the caller sets to sizeof(struct): members may be appended, and program and library may be of
 * different age; a member that an older library does not know has to be 0 (E2BIG). Those that only
 * the library makes and hands out by pointer. And all others, which a caller allocates, or finds
 * in an array: they are closed, and grow within @reserved or not at all.
 *
 * Fork. Only the process that made a recorder may use it: a child has neither the
 * thread nor the mappings, and must not even free it; exec and _exit are fine.
 * Descriptors of the library are closed on exec.
 */
#ifndef GPROF_RECORDER_H
#define GPROF_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <gprof/base.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gprof_recorder;
struct gprof_profile;

/* Targets. */
enum gprof_target_type {
	GPROF_SELF,	/* the calling process: all its threads, and all they fork */
	GPROF_THREAD,	/* @id: a thread id; that thread alone */
	GPROF_PROCESS,	/* @id: a process id; all its threads, and all they fork from then on */
	GPROF_CGROUP,	/* @name: path of a cgroup v2 directory */
	GPROF_CPUS,	/* @name: CPU list such as "0-3,6" */
	GPROF_SYSTEM,	/* everything */
};

/**
 * struct gprof_target - tasks or CPUs to record
 * @type: kind of target
 * @id: thread or process id
 * @name: cgroup path or CPU list; borrowed during the call only
 *
 * Closed.
 */
struct gprof_target {
	enum gprof_target_type type;
	int id;
	const char *name;
};

/* flags of struct gprof_cpu_event, after cpuProfileConfig in golang/go 36821 */
#define GPROF_EVENT_KERNEL		(1U << 0)	/* isKernelIncluded */
#define GPROF_EVENT_HV			(1U << 1)	/* isHvIncluded */
#define GPROF_EVENT_IDLE		(1U << 2)	/* isIdleIncluded */
#define GPROF_EVENT_ADDR		(1U << 3)	/* isSampleAddrIncluded */
#define GPROF_EVENT_CALLCHAIN_KERNEL	(1U << 4)	/* isCallchainKernelIncluded */
#define GPROF_EVENT_NO_CALLCHAIN_USER	(1U << 5)	/* not isCallchainUserIncluded */
#define GPROF_EVENT_NO_IP		(1U << 6)	/* not isSampleIPIncluded */
#define GPROF_EVENT_LATENCY		(1U << 7)	/* the value latency; not with _IDLE */

/**
 * struct gprof_cpu_event - one event to sample
 * @name: "timer", "cycles", "instructions", "cacheReferences", "cacheMisses", "branches",
 *	"branchMisses", "rHEX" (raw event number), or "PMU/EVENT/" or "PMU/term=value,.../" as
 *	under /sys/bus/event_source; of the kernel's own counters "page-faults", "minor-faults",
 *	"major-faults", "context-switches", "cpu-migrations", "alignment-faults",
 *	"emulation-faults"
 * @period: events per sample; 0: a preset for the event. Not for the timer.
 * @hz: timer only: samples per second of CPU time; 0: 100
 * @precise: 0 any skid, 1 constant skid, 2 asks for no skid, 3 must have none
 * @flags: GPROF_EVENT_*
 * @reserved: 0
 *
 * With GPROF_EVENT_LATENCY the profile has a value more, "latency", in the unit of the period:
 * that, divided by the number of the target's tasks that ran at the sample's instant, this one
 * among them, which is the label parallelism. So it is about the time that passed while the target
 * ran: a sample of one running task counts in full, one of four running tasks a quarter. Each
 * value is exact to 1, and so is the sum of all.
 *
 * No callchain of either kind is isSampleCallchainIncluded = false: the sampled
 * instruction alone.
 *
 * Preset periods: 2,400,000 for cycles and instructions, 500,000 for branches, 100,000 for
 * cacheReferences, 20,000 for cacheMisses and branchMisses, 1 for the kernel's own counters,
 * 1,000,000 for every other event.
 */
struct gprof_cpu_event {
	const char *name;
	uint64_t period;
	uint64_t hz;
	unsigned int precise;
	unsigned int flags;
	uint64_t reserved[2];
};

/**
 * struct gprof_cpu_config - configuration of a CPU recorder
 * @sz: sizeof(struct gprof_cpu_config)
 * @target: tasks or CPUs
 * @events: events to sample, each to an output of its own; the same event twice is refused
 *	(EEXIST)
 * @nr_events: number of @events; 0: the timer at 100 Hz
 * @buffer_bytes: kernel buffer per CPU and event; 0: the module's default
 * @on_exec: count from the target's next exec on
 * @flight: keep the last of it in the kernel's buffers alone, for
 *	gprof_recorder_snapshot(); labels of threads are not kept
 * @no_unwind_tables: walk stacks by frame pointers alone. Else a thread of the library's
 *	compiles tables of the files that are recorded, before the recording and beside it
 *	(gprof_recorder_prepare()), so that stacks of programs without frame pointers are
 *	complete
 * @python: have CPython's functions (3.11 and 3.13) in the stacks, in the place of the
 *	interpreting function. Wants unwind tables
 * @slice_ns: samples have a label time, the ns from the start of the recording to that of the slice
 *	that they are of, each this long or, so that there are no more than 512, some power of two
 *	times longer; 0: none. Not with @flight
 */
struct gprof_cpu_config {
	size_t sz;
	struct gprof_target target;
	const struct gprof_cpu_event *events;
	size_t nr_events;
	uint64_t buffer_bytes;
	bool on_exec;
	bool flight;
	bool no_unwind_tables;
	bool python;
	uint64_t slice_ns;
};

/**
 * struct gprof_tracepoint_config - configuration of a tracepoint profile
 * @sz: sizeof(struct gprof_tracepoint_config)
 * @target: tasks or CPUs
 * @event: tracepoint, "CATEGORY:NAME" as under /sys/kernel/tracing/events; or a counter of the
 *	kernel, such as "page-faults"; or a probe, "kprobe:FUNCTION" of the kernel or
 *	"uprobe:FILE:FUNCTION" of a program or library, with "+OFFSET" or "%return" behind, which
 *	needs root, is there for the host to see under events/gprof while there is the recorder,
 *	and is removed with it. NULL where there are @events
 * @period: events per sample; 0: 1, every event
 * @buffer_bytes: kernel buffer per CPU; 0: the module's default
 * @kernel_frames: record the kernel's call chain too
 * @on_exec: count from the target's next exec on
 * @flight: keep the last of it in the kernel's buffers alone, for
 *	gprof_recorder_snapshot(); labels of threads are not kept
 * @events: several such, each to an output of its own; the same twice is refused (EEXIST)
 * @nr_events: number of @events, at most 64; 0: @event alone
 * @no_unwind_tables: walk stacks by frame pointers alone. Else a thread of the library's
 *	compiles tables of the files that are recorded, before the recording and beside it
 *	(gprof_recorder_prepare()), so that stacks of programs without frame pointers are
 *	complete
 * @filter: which hits of @event, a tracepoint, are events: comparisons of its fields in
 *	the kernel's syntax, such as "prev_pid != 0 && next_comm ~ \"sh*\""; NULL: all. One
 *	in @period of the events that pass is sampled, at random. Fields that are arrays of
 *	numbers, masks of CPUs, or pointers to text cannot be compared with
 * @filters: likewise one for each of @events, NULL for those without; or NULL
 * @latency: as GPROF_EVENT_LATENCY of struct gprof_cpu_event
 * @python: as in struct gprof_cpu_config
 * @slice_ns: likewise
 */
struct gprof_tracepoint_config {
	size_t sz;
	struct gprof_target target;
	const char *event;
	uint64_t period;
	uint64_t buffer_bytes;
	bool kernel_frames;
	bool on_exec;
	bool flight;
	const char *const *events;
	size_t nr_events;
	bool no_unwind_tables;
	const char *filter;
	const char *const *filters;
	bool latency;
	bool python;
	uint64_t slice_ns;
};

/* flags of struct gprof_kind_config */
#define GPROF_RECORD_KERNEL	(1U << 0)	/* the kernel too, its frames and its time */
#define GPROF_RECORD_ADDR	(1U << 1)	/* label addr: where the lock is */
#define GPROF_RECORD_LATENCY	(1U << 2)	/* "cpu": as GPROF_EVENT_LATENCY; else nothing */
#define GPROF_RECORD_OWNER	(1U << 3)	/* ""kernel-lock": the lock's owner; else nothing */
#define GPROF_RECORD_KEEP	(1U << 4)	/* ""user-heap": also memory of ended programs; likewise */

#define GPROF_RECORD_PROBES	(1U << 5)	/* "user-alloc", "user-heap": by probes */
#define GPROF_RECORD_OVER_TIME	(1U << 6)	/* "heap", "user-heap": the peak too */
#define GPROF_RECORD_TRY_OVER_TIME (1U << 7)	/* likewise where it can be; else nothing */

/**
 * struct gprof_kind_config - something to record, each with a profile of its own
 * @kind: its name, and the profile's values:
 *
 *	"cpu"		samples/count, cpu/nanoseconds: where CPU time goes
 *	"block"		contentions/count, delay/nanoseconds, runnable/nanoseconds: where tasks
 *			wait, for how long, and how long then until they have a CPU
 *	"block-waker"	contentions/count, delay/nanoseconds: tasks that end these waits
 *	"mutex"		contentions/count, delay/nanoseconds: tasks that release the locks of user
 *			space (futexes) that others wait for
 *	"mutex-waiter"	contentions/count, delay/nanoseconds, runnable/nanoseconds: tasks that
 *			wait for them
 *	"kernel-lock"	contentions/count, delay/nanoseconds: tasks that wait for locks of the
 *			kernel, asleep or spinning; needs CAP_PERFMON, and Linux 5.19
 *	"alloc"		alloc_objects/count, alloc_space/bytes: the kernel's allocations for
 *			tasks, slab objects and pages; needs CAP_PERFMON
 *	"heap"		alloc_objects/count, alloc_space/bytes, inuse_objects/count,
 *			inuse_space/bytes: and those that are not freed at the stop; likewise
 *
 *	"user-alloc"	as "alloc", but allocations of programs, by malloc() and the like,
 *			where they were started with libgprof-heap.so in LD_PRELOAD
 *	"user-heap"	as "heap", likewise; memory of a process that ends, or executes
 *			another program, is not in use, but for the target's own when it ends;
 *			with GPROF_RECORD_KEEP it is
 *
 * With GPROF_RECORD_OVER_TIME a heap has three more values: peak_objects/count, peak_space/bytes,
 * the memory in use at the one moment at which it was the most; and temporary_objects/count, those
 * that lived for less than 1 ms. gprof_recorder_memory() has the memory in use over time. Not in a
 * flight recorder; the module must have GPROF_FEAT_OBJECT_ENDS (EOPNOTSUPP). A mapping that is
 * unmapped in parts counts whole until it ends. GPROF_RECORD_TRY_OVER_TIME is the same where all
 * this holds, and nothing where it does not.
 *
 * With GPROF_RECORD_PROBES these two are of a process or thread that runs already, started with
 * any environment: breakpoints are put where its functions that allocate begin and return
 * (malloc() and the like of all its allocators; C++'s operators where they are an allocator's own;
 * no mappings). Each call then enters the kernel, sampled or not, which slows a program that
 * allocates much many times over. Needs CAP_PERFMON, and excludes GPROF_RECORD_KEEP and on_exec.
 *
 * @rate: "cpu": samples per second of CPU time, 0: 100; of allocations: bytes per sample,
 *	each of them sampled with the same probability, 0: 512 KiB; else events per sample,
 *	likewise, 0: 1, every event
 * @flags: GPROF_RECORD_*
 * @slots: "heap", "user-heap": how many sampled allocations can be live at once, at most 2^22;
 *	0: 65536; else nothing
 * @grown_since_ms: with GPROF_RECORD_OVER_TIME: two more values, grown_objects/count and
 *	grown_space/bytes: by how much the memory in use at the stop is more, or less, than it was
 *	so many ms after the start; the last is the default. 0: none
 * @reserved: 0
 *
 * Samples of waits have labels: reason (sleep, io, futex, pipe, socket, file, poll, fault,
 * uninterruptible, child, signal, stopped, kernel, other), and ended, where the stack is not that
 * of the task that ended it: interrupt, softirq, stranger (a task that may not be recorded), not
 * yet.
 * Those of locks also lock, as far as the call tells: mutex, pi mutex, condition (also semaphores,
 * and waits with a timeout), many; kernel spinlock, kernel rwlock, kernel mutex, kernel rwsem,
 * kernel rt_mutex, kernel percpu_rwsem, kernel semaphore. With GPROF_RECORD_OWNER those of
 * mutexes, of rwsems with a writer, and of rt_mutexes have owner, the thread id of the owner when
 * the wait began, and owner_comm, its name. Of locks of user space that is the releasing thread,
 * whose stack "mutex" has.
 */
struct gprof_kind_config {
	const char *kind;
	uint64_t rate;
	unsigned int flags;
	unsigned int slots;
	unsigned int grown_since_ms;
	unsigned int reserved;
};

/**
 * struct gprof_recorder_config - configuration of a recorder of any kinds
 * @sz: sizeof(struct gprof_recorder_config)
 * @target: tasks or CPUs
 * @kinds: kinds to record, each to an output of its own; the same twice is refused (EEXIST)
 * @nr_kinds: number of @kinds, at least 1
 * @buffer_bytes: kernel buffer per CPU and kind; 0: the module's default
 * @on_exec: from the target's next exec on
 * @flight: keep the last of it in the kernel's buffers alone, for
 *	gprof_recorder_snapshot(); labels of threads are not kept
 * @no_unwind_tables: walk stacks by frame pointers alone
 * @service_names: each sample has a label service.name: the process' own (profile.h), else the
 *	unit of systemd that it is in, its cgroup, or its name
 * @python: as in struct gprof_cpu_config
 * @slice_ns: likewise
 */
struct gprof_recorder_config {
	size_t sz;
	struct gprof_target target;
	const struct gprof_kind_config *kinds;
	size_t nr_kinds;
	uint64_t buffer_bytes;
	bool on_exec;
	bool flight;
	bool no_unwind_tables;
	bool service_names;
	bool python;
	uint64_t slice_ns;
};

/**
 * gprof_recorder_new() - make a recorder of any kinds
 * @cfg: configuration; copied
 *
 * The argument "event" of the functions below tells them apart.
 *
 * Return: as gprof_cpu_recorder_new().
 */
GPROF_API struct gprof_recorder *gprof_recorder_new(const struct gprof_recorder_config *cfg);

/**
 * gprof_cpu_recorder_new() - make a recorder of CPU events
 * @cfg: configuration; copied
 *
 * The kernel checks everything here: an event that this CPU lacks fails now
 * (ENOENT, EOPNOTSUPP), not with an empty profile later. The process that is
 * to be recorded must exist.
 *
 * Return: a recorder for gprof_recorder_free(), or NULL with errno.
 */
GPROF_API struct gprof_recorder *gprof_cpu_recorder_new(const struct gprof_cpu_config *cfg);

/**
 * gprof_tracepoint_recorder_new() - make a recorder of a kernel tracepoint
 * @cfg: configuration; copied
 *
 * Return: as gprof_cpu_recorder_new().
 */
GPROF_API struct gprof_recorder *
gprof_tracepoint_recorder_new(const struct gprof_tracepoint_config *cfg);

/**
 * struct gprof_prepare - preparation of a recording
 * @sz: sizeof(struct gprof_prepare)
 * @timeout_ms: how long it may take; 0: 3,000
 * @progress: called with the number of files whose unwind tables the kernel has, or that have
 *	none, of how many, some times a second; a return other than 0 ends the waiting. NULL: no
 *	calls
 * @ctx: passed on
 * @program: the program that the target is about to execute, as execvp() takes it: its files,
 *	those of the interpreter, and of all libraries that it needs take the place of the target's
 *	mappings; the interpreter is asked for them, in a child process. NULL: nothing
 */
struct gprof_prepare {
	size_t sz;
	unsigned int timeout_ms;
	int (*progress)(void *ctx, size_t done, size_t all);
	void *ctx;
	const char *program;
};

/**
 * gprof_recorder_prepare() - make the unwind tables of the target's mapped files
 * @r: recorder that is not started
 * @how: for how long, and the progress function
 *
 * Starting does the same, without progress. The files that most processes have mapped come first;
 * those whose time has not come are done beside the recording, and stacks through them are cut
 * until then. Nothing where stacks want no tables, and the second time.
 *
 * Return: 0 or -errno.
 */
GPROF_API int gprof_recorder_prepare(struct gprof_recorder *r, const struct gprof_prepare *how);

/**
 * gprof_recorder_start() - begin recording, one event
 * @r: recorder with one event
 * @fd: where stop writes the profile; borrowed until stop, not closed
 *
 * Return: 0 or -errno; -EBUSY when already started.
 */
GPROF_API int gprof_recorder_start(struct gprof_recorder *r, int fd);

/**
 * gprof_recorder_start_events() - begin recording, several events
 * @r: recorder
 * @fds: where stop writes the profile of each event, in their order; two that
 *	are the same open file are refused (-EEXIST). NULL: nowhere, for
 *	gprof_recorder_stop_profiles()
 * @nr_fds: number of @fds, which must be that of the events
 *
 * Return: 0 or -errno.
 */
GPROF_API int gprof_recorder_start_events(struct gprof_recorder *r, const int *fds,
					  size_t nr_fds);

/**
 * gprof_recorder_stop() - end recording and write the profiles
 * @r: started recorder
 *
 * Detaches from the target, reads the rest of the buffers, names the addresses and writes one
 * gzip-compressed pprof profile per event. An error of the recording is returned here, and is in a
 * comment of the profile, which is written all the same. A pipe without a reader gives -EPIPE and
 * no SIGPIPE.
 *
 * Return: 0 or -errno, such as -ENOSPC from the write, -EPROTO when produced,
 * read and lost samples do not add up, -EBADMSG for a corrupt buffer; -EINVAL
 * when the recorder was not started. The recorder is stopped in any case and
 * may be started again.
 */
GPROF_API int gprof_recorder_stop(struct gprof_recorder *r);

/**
 * gprof_recorder_stop_profiles() - end recording and take the profiles
 * @r: started recorder
 * @profiles: gets the profile of each event, in their order, for gprof_profile_free();
 *	NULL where there is none
 * @nr: number of @profiles, which must be that of the events
 *
 * As gprof_recorder_stop(), but nothing is written. The profiles are returned as far as they could
 * be made, also on failure; the profiles outlive the recorder.
 *
 * Return: 0 or -errno; with -EINVAL for @nr or for a recorder that is not started,
 * @profiles is untouched and a started recorder goes on.
 */
GPROF_API int gprof_recorder_stop_profiles(struct gprof_recorder *r,
					   struct gprof_profile **profiles, size_t nr);

/**
 * gprof_recorder_next_profiles() - profiles so far, of a recording that goes on
 * @r: started recorder, no flight recorder
 * @profiles: gets the profile of each event, in their order, for gprof_profile_free();
 *	NULL where there is none
 * @nr: number of @profiles, which must be that of the events
 *
 * Each begins where the one before ended, and no sample is in none or in two of them: nothing is
 * stopped. The next call, or the stop, continues from there. Live objects are in each profile; all
 * other values are new since the last call. The state of programs is kept, and freed when they are
 * over, so that memory does not grow with the time.
 *
 * Return: 0 or -errno, as gprof_recorder_stop_profiles(), but the recorder goes on; samples of
 * which there was no profile for want of memory are in the next.
 */
GPROF_API int gprof_recorder_next_profiles(struct gprof_recorder *r,
					   struct gprof_profile **profiles, size_t nr);

/**
 * gprof_recorder_snapshot() - contents of a flight recorder, which goes on
 * @r: started recorder whose configuration says @flight
 * @event: number of the event
 * @profile: gets its profile, for gprof_profile_free(); NULL on failure
 *
 * It begins where the buffers of all CPUs have records, as its time says. Takes memory for about a
 * generation of each buffer, an eighth of it, while it lasts, and more where samples come faster
 * than they are read. The profile of a stop is one too. A flight recorder may be started once.
 *
 * Return: 0 or -errno: -EINVAL for one that is no flight recorder, or is not started;
 * -EAGAIN when samples come faster than the buffers can be copied.
 */
GPROF_API int gprof_recorder_snapshot(struct gprof_recorder *r, size_t event,
				      struct gprof_profile **profile);

/**
 * gprof_recorder_free() - free a recorder, stopping it without output first
 * @r: recorder or NULL
 */
GPROF_API void gprof_recorder_free(struct gprof_recorder *r);

/**
 * struct gprof_recorder_stats - counts of the samples of one event, since the last start
 * @sz: sizeof(struct gprof_recorder_stats), set by the caller
 * @event: name of the event; lives as long as the recorder
 * @produced: samples that the kernel took; produced = read + lost + overwritten
 * @read: samples that are in the profile
 * @lost: samples that are not, for want of room
 * @overwritten: samples given up in flight mode
 * @throttled: times the kernel paused the counter for interrupting too often
 * @nmi: samples taken in NMI context
 * @irq: samples taken in interrupt context
 * @task: samples taken in task context
 * @maps_lost: readings of mappings that did not fit into the buffer
 * @count: events that the counters counted, sampled or not (0: unknown)
 * @time_enabled_ns: time that counters were enabled, summed over counters
 * @time_running_ns: time that they really counted
 * @stacks: samples read whose user stack was walked by unwind tables; they are the sum of
 *	those that follow
 * @stacks_complete: ... up to the first function of the thread
 * @stacks_unread: ... up to code that the kernel did not know to be mapped there yet
 * @stacks_no_table: ... up to code that has no table, or had none yet
 * @stacks_no_page: ... up to a page of the stack that was not in memory
 * @stacks_max: ... up to as many frames as are recorded
 * @stacks_other: ... up to code that the tables do not describe
 * @lost_full: of @lost, those for which the buffer had no room
 * @lost_nested: ... in interrupts that were nested too deeply
 * @lost_no_buffer: ... on CPUs, or of processes, for which there was no memory yet
 * @lost_waits: ... of waits: too many tasks waited at once, or one was gone too soon
 * @tables_refused: 1: stacks were walked by frame pointers alone, for unwind tables did not
 *	fit into the memory that the user may lock
 * @live_full: "heap": samples that are not among the live objects, for the table was full
 * @live_lost: ... objects that are live, but not in the profile, for their samples were lost, or
 *	overwritten in a flight recorder, or were not read yet
 * @live_unseen: ... objects at most that are in it as live, but are so no longer. These three
 *	are of the last profile
 * @other_python: with @python of the configuration: version of an interpreter whose functions
 *	are not in the stacks, as it is not one of those that are known, 0x030c for 3.12; 0: none
 * @stacks_time: of @stacks_other, those that were cut as the interrupt had lasted long enough
 * @stacks_guessed: ... up to the first function of the thread, by frames of which some were
 *	guessed, as code without a table does not tell of them; such a frame may be wrong
 * @stacks_text: the same as a sentence, "" without @stacks; the recorder's, until the counts of
 *	the event are read again. A profile has it as a comment, of its own samples
 */
struct gprof_recorder_stats {
	size_t sz;
	const char *event;
	uint64_t produced;
	uint64_t read;
	uint64_t lost;
	uint64_t overwritten;
	uint64_t throttled;
	uint64_t nmi;
	uint64_t irq;
	uint64_t task;
	uint64_t maps_lost;
	uint64_t count;
	uint64_t time_enabled_ns;
	uint64_t time_running_ns;
	uint64_t stacks;
	uint64_t stacks_complete;
	uint64_t stacks_unread;
	uint64_t stacks_no_table;
	uint64_t stacks_no_page;
	uint64_t stacks_max;
	uint64_t stacks_other;
	uint64_t lost_full;
	uint64_t lost_nested;
	uint64_t lost_no_buffer;
	uint64_t lost_waits;
	uint64_t tables_refused;
	uint64_t live_full;
	uint64_t live_lost;
	uint64_t live_unseen;
	uint64_t other_python;
	uint64_t stacks_time;
	uint64_t stacks_guessed;
	const char *stacks_text;
};

/**
 * gprof_recorder_stats() - read the counts of one event
 * @r: recorder, in any state; exact after stop
 * @event: index of the event
 * @st: where to; @st->sz must be set
 *
 * Return: 0 or -errno.
 */
GPROF_API int gprof_recorder_stats(struct gprof_recorder *r, size_t event,
				   struct gprof_recorder_stats *st);

/**
 * struct gprof_memory_history - the memory in use over time, of the last recording
 * @sz: sizeof(struct gprof_memory_history), set by the caller
 * @peak_bytes: the most bytes in use at one moment
 * @peak_objects: objects in use at that moment
 * @peak_ns: that moment, ns after the start
 * @end_bytes: bytes in use at the stop
 * @end_objects: objects in use at the stop
 * @objects: objects that were allocated
 * @temporary_objects: ... and lived for less than 1 ms
 * @grown: the moment of @grown_since_ms has come before the stop; without it nothing grew
 * @guessed: sampled objects whose end is known to lie between two times alone, since samples were
 *	lost
 * @step_ns: length of a step, ns
 * @steps: the most bytes in use in each step, from the start on; the recorder's, until it is
 *	started again or freed
 * @nr_steps: how many there are, at most 512; 0: nothing was allocated
 *
 * All are estimates from samples, as the profile's values are; with 1 byte per sample they are
 * exact.
 */
struct gprof_memory_history {
	size_t sz;
	uint64_t peak_bytes;
	uint64_t peak_objects;
	uint64_t peak_ns;
	uint64_t end_bytes;
	uint64_t end_objects;
	uint64_t objects;
	uint64_t temporary_objects;
	uint64_t grown;
	uint64_t guessed;
	uint64_t step_ns;
	const uint64_t *steps;
	size_t nr_steps;
};

/**
 * gprof_recorder_memory() - the memory in use over time
 * @r: recorder that was stopped
 * @event: index of a heap with GPROF_RECORD_OVER_TIME
 * @m: where to; @m->sz must be set
 *
 * Return: 0; -EBUSY before the stop; -EINVAL for another event.
 */
GPROF_API int gprof_recorder_memory(struct gprof_recorder *r, size_t event,
				    struct gprof_memory_history *m);

#ifdef __cplusplus
}
#endif

#endif /* GPROF_RECORDER_H */
