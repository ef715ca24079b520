/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * gprof: sampling recorders in the kernel, read through a mapping.
 *
 * DOC: the interface in one page
 *
 * open("/dev/gprof") gives one unconfigured recorder. Everything it owns dies
 * with the file. The calls, in order:
 *
 *	GPROF_IOC_INFO	what this module can do (any time)
 *	GPROF_IOC_SETUP	what to record, of whom, into how large a buffer (once)
 *	mmap		the buffer of each CPU (after SETUP)
 *	GPROF_IOC_TRIGGER	tell when something goes wrong (after SETUP, before START)
 *	GPROF_IOC_START	attach to the target and record
 *	GPROF_IOC_TRIGGER_READ	what went wrong, of whom (after SETUP)
 *	GPROF_IOC_STATS	how much was produced, lost, overwritten (after SETUP)
 *	GPROF_IOC_RATE	another rate, where the kind has one (after SETUP)
 *	GPROF_IOC_UNWIND_TABLE_ADD	how to walk stacks in a file's code (after SETUP)
 *	GPROF_IOC_SELF_STACK	where the calling thread is (any time)
 *	GPROF_IOC_ALLOC_REPORT	the caller has allocated or freed something (any time)
 *	GPROF_IOC_ANNOTATE	the caller begins or ends what it has a name for (any time)
 *	GPROF_IOC_STOP	detach; START may follow again
 *	close
 *
 * poll() reports EPOLLIN when a buffer is half full, so that a reader which also looks a few
 * times a second never loses a record to its own sleep, and, with GPROF_STACK_F_TABLES, when it
 * has MAP records of a file without a table; in flight mode only with GPROF_SETUP_F_WAKE, and
 * by the position that the reader writes. It reports EPOLLPRI when something has happened
 * (GPROF_STATS_EVENT_*), and while a trigger event waits for GPROF_IOC_TRIGGER_READ.
 *
 * Arguments. Every command takes a pointer to its struct, whose first member
 * is the size that the caller compiled with. Members may be appended later:
 * an unknown tail must be zero, and no struct is longer than a page. The
 * command numbers carry no size, so that they do not change when a struct
 * grows; this differs from the usual _IOWR on purpose. Members named out_* are
 * written by the kernel, on failure too. Reserved members and unknown flags must
 * be zero.
 *
 * Errors mean one thing each:
 *
 *	ENOTTY		unknown command
 *	E2BIG		bytes beyond the struct that the kernel knows are not 0
 *	EINVAL		size below the first published one, or a wrong value
 *	EOPNOTSUPP	a kind, flag or event that this kernel or CPU lacks
 *	ENOENT		the event or the kind does not exist here; there is no such table
 *	ESRCH		the target task does not exist (any more)
 *	ENODEV		the CPU does not exist, is offline, or has no buffer
 *	EPERM		the caller lacks the privilege (see "Privilege")
 *	EBUSY		wrong state: SETUP twice, START while started, ...
 *	ENOSPC		as many triggers, or tables, as there may be
 *	EAGAIN		no trigger has fired since; SETUP, START: see "Privilege"
 *	EINTR		a signal came while the call waited; nothing was done
 *	ENOMEM		no memory, or over RLIMIT_MEMLOCK
 *	EFAULT		a pointer that cannot be read or written; nothing was done
 *
 * and out_reason (GPROF_REASON_*) says which argument it was.
 *
 * Privilege. Without CAP_PERFMON: own tasks (same user and group ids, dumpable),
 * user mode only, no kernel addresses, buffers charged to RLIMIT_MEMLOCK. With
 * CAP_PERFMON: every target, and kernel frames unless the kernel is locked down.
 * (Each user has an allowance of 1 MiB per CPU beyond RLIMIT_MEMLOCK, the module
 * parameter mlock_kb.)
 * All threads of a process must be the owner's, at SETUP and at START. A task that
 * executes a set-user-ID program leaves an unprivileged recorder, also when it does so
 * while START is under way.
 * Processes that a target forks later are charged as they come, a few hundred bytes
 * each; beyond the limit they are left out, and counted as lost (NO_BUFFER). What
 * perf keeps of each counter, which other kernels keep otherwise, is not charged.
 * Where kernel.perf_event_paranoid is above 2, which in some kernels closes perf to
 * users, counters of perf need CAP_PERFMON here too; the timer is not one.
 * A task that the security modules keep the owner from tracing (ptrace(2)) is not the
 * owner's own. Work that interrupts every CPU is done for all users without CAP_PERFMON
 * together at most ten times a second. SETUP and START of a software event of perf wait
 * for their turn, two seconds at most, and then fail (EAGAIN).
 *
 * Buffer. One ring per present CPU. Three areas, told apart by who writes them:
 *
 *	GPROF_MMAP_TAIL(cpu)	one page, struct gprof_ring_tail; the only page
 *				that user space may write
 *	GPROF_MMAP_RING(cpu)	read-only: one page, struct gprof_ring_head, and
 *				the data, mapped twice in a row, so that no
 *				record wraps: length = page + 2 * data_size
 *
 * and one for all CPUs, of kinds that keep state:
 *
 *	GPROF_MMAP_OBJECTS		read-only: struct gprof_object_table_head, and a table of
 *				what is live: length = one page, or all of it
 *
 * and one that is there before SETUP too, and is the same page for all files of a user, who
 * is the one that maps it first:
 *
 *	GPROF_MMAP_ANNOTATED	read-only: one page, whose first __u32 is not 0 while
 *				somebody may want GPROF_IOC_ANNOTATE of the user's tasks
 *
 * All want MAP_SHARED; PROT_EXEC and, but on the tail, PROT_WRITE give EPERM.
 * Positions (head, tail, oldest) count bytes since SETUP and never wrap; a
 * record at position p lies at data + (p & (data_size - 1)).
 *
 * Stream mode (default). The reader takes [tail, head) and then writes tail.
 * A full ring drops the newest record, counts it by reason, and puts a LOST
 * record before the next good one.
 *
 * Flight mode (GPROF_SETUP_F_FLIGHT). The oldest generation is given up whole;
 * [oldest, head) is what there is. A reader copies it while recording goes on,
 * reads oldest again, and throws away what was given up meanwhile.
 *
 * In both: produced = read + lost + overwritten, counted in samples.
 *
 * Generations. A ring's data is a sequence of generations, each of which begins
 * with a GENERATION record and can be understood alone: ids of stacks, and
 * TASK and MAP records are valid (and repeated) per generation. In stream mode
 * a reader may keep TASK and MAP for longer.
 *
 * Ordering, kernel | reader (the argument stands in Documentation/design/ring.rst):
 *
 *	fill records		|	load-acquire head	C
 *	store-release head  A	|	read records
 *	load tail           B	|	store-release tail	D
 *
 * A pairs with C; D pairs with B (the kernel's stores to the freed space depend
 * on the loaded tail, or come behind a load-acquire of it). In flight mode:
 *
 *	store oldest		|	copy records
 *	write barrier       E	|	read barrier		F
 *	overwrite records	|	load oldest
 *
 * E pairs with F.
 *
 * The table of what is live. A SAMPLE with GPROF_SAMPLE_REC_F_OBJECT is of something that
 * lasts: its word is in a slot of the table for as long as that does, and in none
 * afterwards, for a slot never has the same word twice. So a reader who has the samples
 * says what of them is live, and nothing else is, whatever the rings have lost; of what
 * they have lost the slots tell how much it is. A slot is read beside who changes it:
 *
 *	claim the slot      I	|	load-acquire live	H
 *	fill it			|	read the rest
 *	store-release live  G	|	read barrier		J
 *				|	load live again
 *
 * G pairs with H, I with J: where both loads of live give the same, what was read between
 * belongs to it. A walk through all slots between two instants has all that was live at
 * both, and nothing that was not live at either. What it has is as many as added less
 * removed of the head where all was told; these two are counted a little later.
 *
 * Times are nanoseconds of CLOCK_MONOTONIC unless said otherwise. Ids of tasks and of
 * processes are those of the caller's pid namespace in arguments of commands, and in records
 * those of the namespace of the process that has opened the device. There a task has id 0 that
 * has none in the namespace, or whose id has been released: a thread releases it shortly before
 * its end. Records may go on to tell such a thread by the id that it had.
 */
#ifndef _UAPI_LINUX_GPROF_H
#define _UAPI_LINUX_GPROF_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define GPROF_ABI_VERSION	4
#define GPROF_DEVICE		"/dev/gprof"

#define GPROF_IOC_TYPE		0xBD
#define GPROF_IOC_INFO			_IO(GPROF_IOC_TYPE, 0x00)
#define GPROF_IOC_SETUP			_IO(GPROF_IOC_TYPE, 0x01)
#define GPROF_IOC_START			_IO(GPROF_IOC_TYPE, 0x02)
#define GPROF_IOC_STOP			_IO(GPROF_IOC_TYPE, 0x03)
#define GPROF_IOC_STATS			_IO(GPROF_IOC_TYPE, 0x04)
#define GPROF_IOC_RATE			_IO(GPROF_IOC_TYPE, 0x05)
#define GPROF_IOC_TRIGGER		_IO(GPROF_IOC_TYPE, 0x06)
#define GPROF_IOC_TRIGGER_READ		_IO(GPROF_IOC_TYPE, 0x07)
#define GPROF_IOC_UNWIND_TABLE_ADD	_IO(GPROF_IOC_TYPE, 0x09)
#define GPROF_IOC_SELF_STACK		_IO(GPROF_IOC_TYPE, 0x0A)
#define GPROF_IOC_ALLOC_REPORT		_IO(GPROF_IOC_TYPE, 0x0C)
#define GPROF_IOC_ANNOTATE		_IO(GPROF_IOC_TYPE, 0x0D)

/* Recorder kinds; out_kinds of INFO has bit (1 << kind) for each that is here. */
#define GPROF_KIND_CPU		1	/* struct gprof_cpu_params */
#define GPROF_KIND_TRACEPOINT	2	/* struct gprof_tracepoint_params */
#define GPROF_KIND_SCHED	3	/* struct gprof_sched_params; no buffer */
#define GPROF_KIND_TRACE	4	/* struct gprof_trace_params; records of one word */
#define GPROF_KIND_TASK		7	/* struct gprof_task_params */
#define GPROF_KIND_BLOCK	5	/* struct gprof_block_params */
#define GPROF_KIND_MUTEX	6	/* struct gprof_mutex_params */
#define GPROF_KIND_ALLOC	8	/* struct gprof_alloc_params */
#define GPROF_KIND_HEAP		9	/* struct gprof_alloc_params; and what is live of it */

/* What a recorder records; @id and @cpus of SETUP say which. */
#define GPROF_TARGET_THREAD	1	/* id: thread id; this thread alone */
#define GPROF_TARGET_PROCESS	2	/* id: process id; all threads, and all they fork */
#define GPROF_TARGET_CGROUP	3	/* id: fd of a cgroup v2 directory; with descendants */
#define GPROF_TARGET_CPUS	4	/* cpus: bitmap; everything on those CPUs */
#define GPROF_TARGET_SYSTEM	5	/* everything on every CPU */

/* Features of this module on this kernel and CPU (out_features). */
#define GPROF_FEAT_KERNEL_FRAMES	(1ULL << 0)
#define GPROF_FEAT_USER_FRAMES		(1ULL << 1)
#define GPROF_FEAT_CALLER		(1ULL << 2)	/* GPROF_STACK_REC_F_CALLER */
#define GPROF_FEAT_CGROUP		(1ULL << 3)
#define GPROF_FEAT_FLIGHT		(1ULL << 4)
#define GPROF_FEAT_MAPS			(1ULL << 5)	/* MAP records */
#define GPROF_FEAT_NETLINK		(1ULL << 6)	/* linux/gprof_netlink.h */
#define GPROF_FEAT_SCHED_SYSCALLS	(1ULL << 7)	/* GPROF_SCHED_F_SYSCALLS */
#define GPROF_FEAT_SCHED_FAULTS		(1ULL << 8)	/* GPROF_SCHED_F_FAULTS */
#define GPROF_FEAT_MAP_FILES		(1ULL << 9)	/* struct gprof_map_file */
#define GPROF_FEAT_EVENTS		(1ULL << 10)	/* GPROF_STATS_EVENT_*, POLLPRI */
#define GPROF_FEAT_TRIGGERS		(1ULL << 11)	/* GPROF_IOC_TRIGGER */
#define GPROF_FEAT_TABLES		(1ULL << 12)	/* IOC_UNWIND_TABLE_ADD, STACK_F_TABLES */
#define GPROF_FEAT_TRACE_SYSCALLS	(1ULL << 16)	/* GPROF_TRACE_F_* */
#define GPROF_FEAT_TRACE_IRQS		(1ULL << 17)
#define GPROF_FEAT_TRACE_FAULTS		(1ULL << 18)
#define GPROF_FEAT_TRACE_RECLAIM	(1ULL << 19)
#define GPROF_FEAT_TRACE_FREQ		(1ULL << 20)
#define GPROF_FEAT_TRACE_THROTTLE	(1ULL << 21)
#define GPROF_FEAT_TRACE_STACKS		(1ULL << 22)	/* GPROF_TRACE_STACKS_* */
#define GPROF_FEAT_TRACE_SAMPLES	(1ULL << 23)	/* cpu of struct gprof_trace_params */
#define GPROF_FEAT_TASK_STATE		(1ULL << 24)	/* GPROF_SAMPLE_REC_F_STATE */
#define GPROF_FEAT_TRACE_MIN		(1ULL << 25)	/* min_us of struct gprof_trace_params */
#define GPROF_FEAT_FILTERS		(1ULL << 26)	/* filters of tracepoints */
#define GPROF_FEAT_KERNEL_LOCKS		(1ULL << 27)	/* GPROF_MUTEX_F_KERNEL */
#define GPROF_FEAT_SELF_STACK		(1ULL << 28)	/* GPROF_IOC_SELF_STACK */
#define GPROF_FEAT_PARALLELISM		(1ULL << 29)	/* GPROF_SETUP_F_PARALLELISM */
#define GPROF_FEAT_OBJECTS		(1ULL << 30)	/* GPROF_MMAP_OBJECTS, GPROF_KIND_HEAP */
#define GPROF_FEAT_ALLOC_REPORT		(1ULL << 31)	/* IOC_ALLOC_REPORT, ALLOC_F_PROGRAM */
#define GPROF_FEAT_TRIGGER_FILTERS	(1ULL << 32)	/* filter of struct gprof_trigger */
#define GPROF_FEAT_ANNOTATIONS		(1ULL << 33)	/* GPROF_IOC_ANNOTATE */
#define GPROF_FEAT_PYTHON		(1ULL << 34)	/* GPROF_STACK_F_PYTHON */
#define GPROF_FEAT_ALLOC_PROBES		(1ULL << 35)	/* GPROF_ALLOC_F_PROBES */

/**
 * struct gprof_info - argument of GPROF_IOC_INFO
 * @size: sizeof(struct gprof_info)
 * @flags: must be 0
 * @out_abi_version: GPROF_ABI_VERSION of the module
 * @out_nr_cpus: CPUs are numbered below this
 * @out_kinds: bit mask of GPROF_KIND_*
 * @out_features: bit mask of GPROF_FEAT_*
 * @out_max_frames: most frames of either half (kernel, user) of a stack
 * @out_clock_id: clock of all times (CLOCK_MONOTONIC)
 * @out_default_buffer: bytes of data per CPU when SETUP says 0
 * @out_recorders: open recorders on this host, this one included
 */
struct gprof_info {
	__u32 size;
	__u32 flags;
	__u32 out_abi_version;
	__u32 out_nr_cpus;
	__aligned_u64 out_kinds;
	__aligned_u64 out_features;
	__u32 out_max_frames;
	__u32 out_clock_id;
	__aligned_u64 out_default_buffer;
	__aligned_u64 out_recorders;
};

#define GPROF_INFO_SIZE_VER0	56

/* flags of struct gprof_setup */
#define GPROF_SETUP_F_FLIGHT		(1U << 0)	/* overwrite the oldest generation */
#define GPROF_SETUP_F_ON_EXEC		(1U << 1)	/* tasks: count from the next exec on */
#define GPROF_SETUP_F_WAKE		(1U << 2)	/* flight mode: poll() as in stream mode */
#define GPROF_SETUP_F_PARALLELISM	(1U << 3)	/* samples tell how many tasks ran */
#define __GPROF_SETUP_F_ALL		0xfU

/*
 * GPROF_SETUP_F_PARALLELISM, of kinds CPU and PROFILE: each sample has
 * GPROF_SAMPLE_REC_F_PARALLELISM, the number of CPUs on which tasks of the target ran at its
 * instant, be it in user or kernel mode, its own CPU one of them. It is 1 or more, and no
 * more than there are CPUs online. An idle CPU is none, but where the sample is the idle
 * task's own, of kind PROFILE; GPROF_CPU_F_IDLE is refused (EINVAL). Of a process that is
 * over 512 KiB of memory more; and no sample is taken of it while START or STOP is under way,
 * when it is not known who runs.
 */

/* stack of struct gprof_setup; none: samples without a stack */
#define GPROF_STACK_F_IP		(1U << 0)	/* the sampled instruction */
#define GPROF_STACK_F_KERNEL		(1U << 1)	/* kernel call chain */
#define GPROF_STACK_F_USER		(1U << 2)	/* user call chain */
#define GPROF_STACK_F_TABLES		(1U << 3)	/* USER by GPROF_IOC_UNWIND_TABLE_ADD */
#define GPROF_STACK_F_PYTHON		(1U << 4)	/* with TABLES: see struct gprof_python */
#define __GPROF_STACK_F_ALL		0x1fU

/* out_reason: which argument an error is about */
#define GPROF_REASON_NONE		0
#define GPROF_REASON_FLAGS		1	/* unknown or contradicting flags */
#define GPROF_REASON_KIND		2	/* no such kind */
#define GPROF_REASON_PARAMS		3	/* the kind's parameters */
#define GPROF_REASON_EVENT		4	/* this CPU, kernel or VM lacks the event */
#define GPROF_REASON_PERIOD		5	/* zero, too short or too long */
#define GPROF_REASON_PRECISE		6	/* this event cannot be that precise */
#define GPROF_REASON_TARGET		7	/* unknown target type */
#define GPROF_REASON_TASK_GONE		8	/* no such thread or process */
#define GPROF_REASON_TASK_DENIED	9	/* not the caller's own task */
#define GPROF_REASON_CGROUP		10	/* not a cgroup v2 directory */
#define GPROF_REASON_CPU		11	/* no such CPU, or offline */
#define GPROF_REASON_WIDE_DENIED	12	/* cgroups, CPUs, system need CAP_PERFMON */
#define GPROF_REASON_KERNEL_DENIED	13	/* kernel mode or frames need CAP_PERFMON */
#define GPROF_REASON_LOCKDOWN		14	/* the kernel is locked down */
#define GPROF_REASON_BUFFER		15	/* buffer size out of range */
#define GPROF_REASON_MEMLOCK		16	/* over RLIMIT_MEMLOCK */
#define GPROF_REASON_STATE		17	/* SETUP missing or done, started or not */
#define GPROF_REASON_GENERATION		18	/* generation time out of range */
#define GPROF_REASON_EXCLUDE		19	/* this event cannot leave out what was asked */
#define GPROF_REASON_SLOWS_DENIED	20	/* what slows all tasks needs CAP_PERFMON */
#define GPROF_REASON_PARANOID		21	/* kernel.perf_event_paranoid: CAP_PERFMON */
#define GPROF_REASON_TRIGGER		22	/* this kernel, kind or target lacks the trigger */
#define GPROF_REASON_FILE		23	/* no regular file that is open for reading */
#define GPROF_REASON_TABLE		24	/* the table is not one */
#define GPROF_REASON_TURN		25	/* users without CAP_PERFMON do so too often */
#define GPROF_REASON_MAP_LOCKED		26	/* a process keeps its address space locked */
#define GPROF_REASON_GRACE		27	/* PREEMPT_RT: a task of real time keeps a CPU */

/**
 * struct gprof_setup - argument of GPROF_IOC_SETUP
 * @size: sizeof(struct gprof_setup)
 * @flags: GPROF_SETUP_F_*
 * @kind: GPROF_KIND_*
 * @target: GPROF_TARGET_*
 * @id: thread id, process id or cgroup fd; else must be 0
 * @stack: GPROF_STACK_F_*
 * @cpus: pointer to a bitmap of __u64 words, bit n of word n / 64 is CPU n;
 *	for GPROF_TARGET_CPUS, else must be 0
 * @params: pointer to the kind's struct, whose size member is first
 * @cpus_size: bytes at @cpus, a multiple of 8, at most a page
 * @max_frames: most frames of either half, a guessed caller not counted;
 *	0: out_max_frames of INFO
 * @buffer_size: bytes of data per CPU, at least 4096 whatever the size of pages, rounded up
 *	to a power of two and what a buffer has to have; 0: default
 * @generation_ns: a generation is cut after this time, 1 ms to 256 s; 0: one second
 * @out_data_size: bytes of data per CPU that the buffer has
 * @out_nr_cpus: CPUs are numbered below this; those without a buffer give
 *	ENODEV on mmap
 * @out_reason: GPROF_REASON_*
 * @out_id: id of the recorder, for linux/gprof_netlink.h; never used again
 *	while the module is loaded
 */
struct gprof_setup {
	__u32 size;
	__u32 flags;
	__u32 kind;
	__u32 target;
	__s32 id;
	__u32 stack;
	__aligned_u64 cpus;
	__aligned_u64 params;
	__u32 cpus_size;
	__u32 max_frames;
	__aligned_u64 buffer_size;
	__aligned_u64 generation_ns;
	__aligned_u64 out_data_size;
	__u32 out_nr_cpus;
	__u32 out_reason;
	__aligned_u64 out_id;
};

#define GPROF_SETUP_SIZE_VER0	88

/* flags of struct gprof_cpu_params */
#define GPROF_CPU_F_KERNEL	(1U << 0)	/* count in kernel mode too */
#define GPROF_CPU_F_HV		(1U << 1)	/* count in hypervisor mode too */
#define GPROF_CPU_F_IDLE	(1U << 2)	/* count the idle task too */
#define GPROF_CPU_F_ADDR	(1U << 3)	/* record the data address */
#define __GPROF_CPU_F_ALL	0xfU

/**
 * struct gprof_cpu_params - parameters of GPROF_KIND_CPU
 * @size: sizeof(struct gprof_cpu_params)
 * @flags: GPROF_CPU_F_*
 * @type: as perf_event_attr.type: PERF_TYPE_HARDWARE, _SOFTWARE, _RAW,
 *	_HW_CACHE or the type of a PMU under /sys/bus/event_source. The timer is
 *	PERF_TYPE_SOFTWARE with PERF_COUNT_SW_CPU_CLOCK.
 * @precise: as perf_event_attr.precise_ip, 0 to 3
 * @config: as perf_event_attr.config
 * @config1: as perf_event_attr.config1
 * @config2: as perf_event_attr.config2
 * @period: events (nanoseconds for the timer) per sample
 */
struct gprof_cpu_params {
	__u32 size;
	__u32 flags;
	__u32 type;
	__u32 precise;
	__aligned_u64 config;
	__aligned_u64 config1;
	__aligned_u64 config2;
	__aligned_u64 period;
};

#define GPROF_CPU_PARAMS_SIZE_VER0	48

#define GPROF_CPU_PERIOD_MIN		100		/* events; 1 of PERF_TYPE_SOFTWARE */
#define GPROF_CPU_TIMER_MIN		10000		/* ns: 100 kHz */
#define GPROF_PERIOD_MAX		(1ULL << 48)

/* what a step of a filter looks at; @size of struct gprof_filter_step is of this */
#define GPROF_FILTER_UNSIGNED	0	/* a number of 1, 2, 4 or 8 bytes at @offset */
#define GPROF_FILTER_SIGNED	1	/* likewise */
#define GPROF_FILTER_ARRAY	2	/* text of at most @size bytes at @offset */
#define GPROF_FILTER_TEXT	3	/* a __u32 at @offset: length << 16 | offset of text */
#define GPROF_FILTER_NEAR	4	/* likewise, the offset from behind the __u32 on */
#define GPROF_FILTER_CPU	5	/* the number of the CPU; @offset and @size are 0 */
#define GPROF_FILTER_COMM	6	/* text: the task's name; likewise */
#define __GPROF_FILTER_WHATS	7

/* how it compares that with @value; of text EQ, NE and GLOB */
#define GPROF_FILTER_EQ		0
#define GPROF_FILTER_NE		1
#define GPROF_FILTER_LT		2
#define GPROF_FILTER_LE		3
#define GPROF_FILTER_GT		4
#define GPROF_FILTER_GE		5
#define GPROF_FILTER_AND	6	/* some bit is common */
#define GPROF_FILTER_GLOB	7	/* *, ?, [a-z], [!a-z] */
#define __GPROF_FILTER_HOWS	8

/* where a filter ends */
#define GPROF_FILTER_PASS	0xffffU
#define GPROF_FILTER_DROP	0xfffeU

/**
 * struct gprof_filter_step - one comparison of a filter
 * @what: GPROF_FILTER_UNSIGNED, ...
 * @how: GPROF_FILTER_EQ, ...
 * @offset: in the tracepoint's record, as its "format" says it
 * @size: bytes there
 * @yes: number of the step to go on with where it holds, a later one; or PASS or DROP
 * @no: likewise where it does not hold
 * @__reserved: must be 0
 * @value: number; of text, where it begins in the filter's text
 * @length: of text, bytes; else 0
 * @__reserved2: must be 0
 *
 * What is not in a record, for it is shorter, holds nothing.
 */
struct gprof_filter_step {
	__u16 what;
	__u16 how;
	__u16 offset;
	__u16 size;
	__u16 yes;
	__u16 no;
	__u32 __reserved;
	__aligned_u64 value;
	__u32 length;
	__u32 __reserved2;
};

#define GPROF_FILTER_STEPS_MAX	64
#define GPROF_FILTER_TEXT_MAX	4096

/**
 * struct gprof_tracepoint_params - parameters of GPROF_KIND_TRACEPOINT
 * @size: sizeof(struct gprof_tracepoint_params)
 * @flags: must be 0
 * @tracepoint: the number in /sys/kernel/tracing/events/CATEGORY/NAME/id
 * @period: events per sample
 * @filter: pointer to struct gprof_filter_step; 0: all are events
 * @filter_text: pointer to the text that steps compare with
 * @filter_steps: number of steps, at most GPROF_FILTER_STEPS_MAX
 * @filter_text_size: bytes at @filter_text, at most GPROF_FILTER_TEXT_MAX
 *
 * Needs CAP_PERFMON.
 *
 * With a filter only what passes it is an event, of which one in @period is a sample, by
 * chance; out_count of STATS is then unknown. A filter that is none gives EINVAL and
 * GPROF_REASON_PARAMS.
 */
struct gprof_tracepoint_params {
	__u32 size;
	__u32 flags;
	__aligned_u64 tracepoint;
	__aligned_u64 period;
	__aligned_u64 filter;
	__aligned_u64 filter_text;
	__u32 filter_steps;
	__u32 filter_text_size;
};

#define GPROF_TRACEPOINT_PARAMS_SIZE_VER0	24

/*
 * flags of struct gprof_sched_params. Whatever the target, SYSCALLS and FAULTS slow
 * down every system call, or page fault, of every task on the host: they need
 * CAP_PERFMON. STALL has all CPUs share a counter, which each switch and each wake-up
 * of the target changes.
 */
#define GPROF_SCHED_F_SYSCALLS	(1U << 0)	/* count system calls */
#define GPROF_SCHED_F_FAULTS	(1U << 1)	/* count user page faults */
#define GPROF_SCHED_F_STALL	(1U << 2)	/* time in which some task waited */
#define __GPROF_SCHED_F_ALL	0x7U

/**
 * struct gprof_sched_params - parameters of GPROF_KIND_SCHED
 * @size: sizeof(struct gprof_sched_params)
 * @flags: GPROF_SCHED_F_*
 * @hz: delays to sample in a second; 0: none. GPROF_IOC_RATE changes it.
 * @__reserved: must be 0
 *
 * Scheduler statistics of a thread, a process, a cgroup or the system, read by
 * GPROF_CMD_SCHED_STATS_GET of linux/gprof_netlink.h. Of a process: all
 * threads that it has at START, and all that these fork from then on. There is
 * no buffer: stack, max_frames, buffer_size, generation_ns and flags of SETUP
 * must be 0, and mmap gives ENODEV. START sets all counters to 0; after STOP
 * they stay readable.
 */
struct gprof_sched_params {
	__u32 size;
	__u32 flags;
	__u32 hz;
	__u32 __reserved;
};

#define GPROF_SCHED_PARAMS_SIZE_VER0	16

#define GPROF_SCHED_HZ_MAX		100000

/*
 * flags of struct gprof_trace_params: what to record besides the scheduler's doing.
 * Each but ANNOTATIONS slows down every task of the host, and needs CAP_PERFMON. One that
 * the kernel cannot give has no GPROF_FEAT_TRACE_* and is refused (EOPNOTSUPP,
 * REASON_PARAMS). ANNOTATIONS costs who has them alone, a system call each: tasks of the
 * recorder's user, and of everybody where that has CAP_PERFMON.
 */
#define GPROF_TRACE_F_SYSCALLS	(1U << 0)	/* system calls, begin and end */
#define GPROF_TRACE_F_IRQS	(1U << 1)	/* interrupts and softirqs, begin and end */
#define GPROF_TRACE_F_FAULTS	(1U << 2)	/* page faults of user code */
#define GPROF_TRACE_F_RECLAIM	(1U << 3)	/* direct reclaim, compaction, begin and end */
#define GPROF_TRACE_F_FREQ	(1U << 4)	/* changes of a CPU's frequency */
#define GPROF_TRACE_F_THROTTLE	(1U << 5)	/* a cgroup has used up its CPU time */
#define GPROF_TRACE_F_ANNOTATIONS (1U << 6)	/* what programs tell by GPROF_IOC_ANNOTATE */
#define __GPROF_TRACE_F_ALL	0x7fU

/*
 * stacks of struct gprof_trace_params: which events have one, always of who runs on the
 * CPU. SYSCALLS, FAULTS and RECLAIM want the flag of their group too (EOPNOTSUPP,
 * REASON_PARAMS).
 */
#define GPROF_TRACE_STACKS_SWITCH	(1U << 0)	/* of who stops, if it is of the target */
#define GPROF_TRACE_STACKS_WAKING	(1U << 1)	/* of the waker, a task */
#define GPROF_TRACE_STACKS_FORK		(1U << 2)	/* of the parent */
#define GPROF_TRACE_STACKS_SYSCALLS	(1U << 3)	/* at the begin; user frames */
#define GPROF_TRACE_STACKS_FAULTS	(1U << 4)	/* user frames */
#define GPROF_TRACE_STACKS_RECLAIM	(1U << 5)	/* at the begin, also of compaction */
#define __GPROF_TRACE_STACKS_ALL	0x3fU

/**
 * struct gprof_trace_params - parameters of GPROF_KIND_TRACE
 * @size: sizeof(struct gprof_trace_params)
 * @flags: GPROF_TRACE_F_*
 * @stacks: GPROF_TRACE_STACKS_*
 * @min_us: a system call, an interrupt, a softirq, reclaim or compaction that lasts less,
 *	and in which nothing else of the trace happened, is not told; 0: all are. Not with
 *	@cpu (EINVAL)
 * @cpu: CPU samples of the same target in the same rings: the timer, or an event of the
 *	CPU's own counters (PERF_TYPE_HARDWARE, _HW_CACHE, _RAW; else REASON_EVENT). Its
 *	size is 0 (and all of it): none
 *
 * Switches, wakings, forks, execs, exits and migrations of a target, each as one or two
 * words in the ring; see GPROF_TRACE_SWITCH and what follows. stack of SETUP says what
 * is taken of a stack, and must be 0 where @stacks and @cpu ask for none, as it must not
 * be where they do. The waker's stack is told where the waker may be recorded: it is of
 * the target, or whoever records has CAP_PERFMON. GPROF_SETUP_F_ON_EXEC is not there
 * (EOPNOTSUPP).
 */
struct gprof_trace_params {
	__u32 size;
	__u32 flags;
	__u32 stacks;
	__u32 min_us;
	struct gprof_cpu_params cpu;
};

#define GPROF_TRACE_PARAMS_SIZE_VER0	8

/* flags of struct gprof_block_params */
#define GPROF_BLOCK_F_WAKER	(1U << 0)	/* the stack of who ended the wait */
#define __GPROF_BLOCK_F_ALL	0x1U

/**
 * struct gprof_block_params - parameters of GPROF_KIND_BLOCK
 * @size: sizeof(struct gprof_block_params)
 * @flags: GPROF_BLOCK_F_*
 * @period: waits per sample; each is sampled with the same probability
 *
 * An event is a wait: a task gave its CPU away and could not have gone on. It ends when
 * the task is woken; what it waits for a CPU from then on is told apart. A sample has
 * GPROF_SAMPLE_REC_F_VALUE (ns from one to the other) and GPROF_SAMPLE_REC_F_WAIT, and
 * is taken when the task runs again, with the stack it waited in. With WAKER it is taken
 * when the wait ends: its task and stack are those of who ended it. Of an interrupt there
 * are only kernel frames, and the task is 0; likewise, without a stack, of a waker that may
 * not be recorded: not of the target, where there is no CAP_PERFMON. Waits that nobody ended
 * before STOP are then left out.
 *
 * Waits under way at START or STOP count with what they lasted between the two, which
 * are out_started_ns and out_stopped_ns of STATS. One that goes on at STOP has its kernel
 * frames, and user frames where it is of the process that calls STOP.
 * Whoever waits on one of the CPUs of GPROF_TARGET_CPUS began to do so there, and whoever
 * waits in a cgroup of GPROF_TARGET_CGROUP likewise.
 *
 * There is room for the waits of 4096 tasks at least, and for four to eight times as many as
 * the target had threads at SETUP, 131072 at most. A sampled one for which there is none is
 * GPROF_LOST_WAIT, as is one at whose end the task may not be recorded any more.
 *
 * A call that a stop, the freezing of a cgroup or a debugger interrupts, and that the kernel
 * begins anew, is a wait before and one after that. Where it has a timeout the latter may be in
 * another call, restart_syscall(): OTHER.
 */
struct gprof_block_params {
	__u32 size;
	__u32 flags;
	__aligned_u64 period;
};

#define GPROF_BLOCK_PARAMS_SIZE_VER0	16

/* flags of struct gprof_mutex_params */
#define GPROF_MUTEX_F_WAITER	(1U << 0)	/* the stack of who waited */
#define GPROF_MUTEX_F_ADDR	(1U << 1)	/* record where the lock is */
#define GPROF_MUTEX_F_KERNEL	(1U << 2)	/* locks of the kernel, not of user space */
#define GPROF_MUTEX_F_OWNER	(1U << 3)	/* with KERNEL: record who had the lock */
#define __GPROF_MUTEX_F_ALL	0xfU

/**
 * struct gprof_mutex_params - parameters of GPROF_KIND_MUTEX
 * @size: sizeof(struct gprof_mutex_params)
 * @flags: GPROF_MUTEX_F_*
 * @period: waits per sample; each is sampled with the same probability
 *
 * Waits in futex calls, as GPROF_KIND_BLOCK has them; GPROF_WAIT_LOCK says what kind. A
 * sample is who ended the wait, as with GPROF_BLOCK_F_WAKER: who released the lock; so a
 * release that many waited for has all their waits. With WAITER it is who waited. A wait
 * that no release ended, but its timeout or a signal, is told as one that an
 * interrupt, or the sender, ended. With ADDR it has GPROF_SAMPLE_REC_F_ADDR. What a call is
 * after it was begun anew as restart_syscall(), one with a timeout, is left out.
 *
 * With KERNEL it is about locks of the kernel for which somebody has to wait, be it asleep
 * or spinning: GPROF_WAIT_FOR_LOCK. The kernel tells when such a wait begins and ends, but
 * not who released the lock: KERNEL needs WAITER. What is told is from the one to the other;
 * waits under way at START or STOP are left out, and the time until the task ran again is
 * part of the wait. Needs CAP_PERFMON and GPROF_FEAT_KERNEL_LOCKS (5.19). With OWNER, which
 * needs KERNEL, it has GPROF_SAMPLE_REC_F_OWNER: who had the lock when the wait began, as
 * far as that stands in the lock: in a mutex, in an rwsem that is locked for writing, and
 * in an rt_mutex.
 */
struct gprof_mutex_params {
	__u32 size;
	__u32 flags;
	__aligned_u64 period;
};

#define GPROF_MUTEX_PARAMS_SIZE_VER0	16

/* flags of struct gprof_alloc_params: what memory; one of them at least */
#define GPROF_ALLOC_F_SLAB	(1U << 0)	/* the kernel's own: kmalloc() and slab caches */
#define GPROF_ALLOC_F_PAGES	(1U << 1)	/* the kernel's own: whole pages, but for slabs */
#define GPROF_ALLOC_F_PROGRAM	(1U << 2)	/* programs' own, as they tell; alone */
#define GPROF_ALLOC_F_KEEP	(1U << 3)	/* HEAP of PROGRAM: also what ended programs had */
#define GPROF_ALLOC_F_PROBES	(1U << 4)	/* programs' own, as probes see them; alone */
#define __GPROF_ALLOC_F_ALL	0x1FU

/* role of struct gprof_alloc_function: what is passed, and what it means */
#define GPROF_ALLOC_FN_MALLOC		1	/* (bytes); returns where */
#define GPROF_ALLOC_FN_CALLOC		2	/* (number, bytes); likewise */
#define GPROF_ALLOC_FN_REALLOC		3	/* (old, bytes); likewise, old is freed */
#define GPROF_ALLOC_FN_REALLOCARRAY	4	/* (old, number, bytes); likewise */
#define GPROF_ALLOC_FN_ALIGNED		5	/* (alignment, bytes); returns where */
#define GPROF_ALLOC_FN_POSIX_MEMALIGN	6	/* (&where, alignment, bytes); returns 0 */
#define GPROF_ALLOC_FN_FREE		7	/* (old) */
#define GPROF_ALLOC_FN_LAST		7

#define GPROF_ALLOC_FUNCTIONS_MAX	64

/**
 * struct gprof_alloc_function - a function that programs allocate or free by
 * @fd: of its file, a regular one that is open for reading; may be closed after SETUP
 * @role: GPROF_ALLOC_FN_*
 * @offset: of its first instruction in that file
 *
 * The target has mapped that place, as private code that cannot be written (else EINVAL).
 * Whether an instruction begins there the module does not know: in the middle of one, the
 * program may end.
 */
struct gprof_alloc_function {
	__s32 fd;
	__u32 role;
	__aligned_u64 offset;
};

#define GPROF_ALLOC_PERIOD_MAX	(1ULL << 40)
#define GPROF_ALLOC_SLOTS	65536		/* where slots says 0 */
#define GPROF_ALLOC_SLOTS_MAX	(1U << 22)

/**
 * struct gprof_alloc_params - parameters of GPROF_KIND_ALLOC and GPROF_KIND_HEAP
 * @size: sizeof(struct gprof_alloc_params)
 * @flags: GPROF_ALLOC_F_*
 * @period: bytes per sample: of each such stretch, in the order in which they are allocated,
 *	one is sampled, each as likely, and an allocation with one of its bytes. Each
 *	allocation of as many bytes or more is, and is in no stretch. 1: each is
 * @slots: HEAP: how many sampled allocations may be live at once; 0: GPROF_ALLOC_SLOTS.
 *	The table has some more. ALLOC: must be 0
 * @__reserved: must be 0
 * @functions: with PROBES: pointer to struct gprof_alloc_function; else must be 0
 * @nr_functions: how many, 1 to GPROF_ALLOC_FUNCTIONS_MAX; else must be 0
 * @__reserved2: must be 0
 *
 * An event is an allocation, by who asks for it; a sample has GPROF_SAMPLE_REC_F_VALUE: bytes as
 * they were asked for, or those of an object of the cache, or of the pages. What it stands
 * for (weight) is how many allocations of as many bytes, on an average: @period for each byte
 * that is sampled, by the bytes that it has, rounded up or down by chance; 1 where it has
 * @period bytes or more. What is allocated in an interrupt is of no
 * task: it is task 0's, with the kernel's frames, where the target is CPUs or the system, and
 * left out elsewhere. So is what the module allocates for its recorders in threads of its own.
 * Of what is allocated many at a time (kmem_cache_alloc_bulk(), alloc_pages_bulk(), among them
 * the pages of vmalloc()) the kernel does not tell, and it is not there.
 *
 * HEAP: with GPROF_SAMPLE_REC_F_OBJECT, as long as there was a slot. Once any task has freed
 * it, it is live no longer. At a START nothing is; at STOP what is live stays so,
 * in the table. Pages that are given back in parts are when the first of them is; what
 * the kernel moves to other pages is live no longer.
 *
 * Needs CAP_PERFMON, as it slows all tasks; HEAP needs GPROF_FEAT_OBJECTS.
 *
 * With PROGRAM it is what the target's programs allocate for themselves, as far as they tell
 * (GPROF_IOC_ALLOC_REPORT), with their user stack alone. It slows nobody else, and needs no
 * more than any recorder of that target does, nor GPROF_FEAT_OBJECTS. Allocations of a
 * process that ends, or executes another program, are live no longer, once nobody else runs
 * in its memory. They stay live with KEEP, where they belong to the process that is the
 * target and that ends, and in a kernel without CONFIG_MMU_NOTIFIER. Another process whose
 * end nobody would tell of, as it has more than 4096 mappings, has nothing live; that is
 * counted (full of struct gprof_object_table_head).
 *
 * With PROBES (GPROF_FEAT_ALLOC_PROBES) it is the same of a THREAD or PROCESS that runs already
 * (not with GPROF_SETUP_F_ON_EXEC), with nothing loaded into it: in the memory of the target's
 * processes, and nobody else's, breakpoints are at @functions and where these return to, so
 * that each call of them enters the kernel, sampled or not. A child has them from its
 * parent, another program that the target executes where it maps the same files. Of calls
 * within each other the outermost one counts, once it has returned a place; a sample that
 * would be of one that never returns, or of a task for which there was no room to note its
 * call, is lost. Who leaves a call by a jump is taken to be in it until another one begins
 * higher on the stack, or there and of the same function. Who resizes in vain has nothing
 * live there any more; that is counted (full of struct gprof_object_table_head). Needs CAP_PERFMON,
 * and excludes KEEP. START refuses what no probe can be put on (EOPNOTSUPP), and a file that
 * was cut (EINVAL). While START and STOP put them there and take them away, each process that
 * has mapped one of the files waits a little; and the module waits for the mmap_lock of each, as
 * long as that is held: of this kind START has no bound.
 */
struct gprof_alloc_params {
	__u32 size;
	__u32 flags;
	__aligned_u64 period;
	__u32 slots;
	__u32 __reserved;
	__aligned_u64 functions;
	__u32 nr_functions;
	__u32 __reserved2;
};

#define GPROF_ALLOC_PARAMS_SIZE_VER0	24
#define GPROF_ALLOC_PARAMS_SIZE_VER1	40

/**
 * struct gprof_task_params - parameters of GPROF_KIND_TASK
 * @size: sizeof(struct gprof_task_params)
 * @flags: must be 0
 *
 * START takes one sample of each task that the target has at that moment, whatever it
 * does, and returns when all are in the rings: with GPROF_SAMPLE_REC_F_STATE, and with
 * the stack of the moment that its time says. Nothing is recorded between START and STOP.
 * Of CPUs: the tasks that run there, or ran there last. out_attached is the number of
 * tasks. Who reads the rings meanwhile may make them as small as there are; a ring that
 * nobody reads for a second loses what does not fit. The leaf alone (GPROF_STACK_F_IP
 * without another) is told of tasks that run only. GPROF_SETUP_F_ON_EXEC is not there
 * (EOPNOTSUPP).
 *
 * START waits for the owner's share of one CPU: what the last one has cost is to be earned
 * before it returns.
 */
struct gprof_task_params {
	__u32 size;
	__u32 flags;
};

#define GPROF_TASK_PARAMS_SIZE_VER0	8

/**
 * struct gprof_start - argument of GPROF_IOC_START
 * @size: sizeof(struct gprof_start)
 * @flags: must be 0
 * @out_attached: counters that were attached: threads, or CPUs; with GPROF_REASON_MAP_LOCKED the
 *	process, in the caller's pid namespace, or 0
 * @out_reason: GPROF_REASON_*
 *
 * With GPROF_ALLOC_F_PROBES START waits for each process that maps the files, and nobody forks
 * meanwhile. Each is tried before; where one holds the lock of its address space for 20 ms, or is
 * not free within a second, START is refused (EBUSY). It ends on a signal (EINTR). What it has
 * begun ends by itself.
 *
 * On each CPU a generation begins with the first record after a START, so that a
 * reader may forget all of an earlier recording.
 */
struct gprof_start {
	__u32 size;
	__u32 flags;
	__u32 out_attached;
	__u32 out_reason;
};

#define GPROF_START_SIZE_VER0	16

/**
 * struct gprof_stop - argument of GPROF_IOC_STOP
 * @size: sizeof(struct gprof_stop)
 * @flags: must be 0
 *
 * When it returns, no further record is written and all are published. STOP and close() are
 * back within two seconds, whatever else goes on. Where the kernel has not given up the
 * source's events by then, as beside a task of real time that keeps a CPU for itself, it does so
 * later: until then out_count of STATS is of when STOP came, START, RATE and TRIGGER wait, or are
 * EINTR when a signal comes, and after close() the memory stays charged.
 */
struct gprof_stop {
	__u32 size;
	__u32 flags;
};

#define GPROF_STOP_SIZE_VER0	8

/*
 * Why samples were lost: index of out_lost and of struct gprof_lost_rec.lost. A
 * reader adds up all that there are: one that it has no name for is a loss too.
 */
#define GPROF_LOST_FULL		0	/* stream mode: the reader was too slow */
#define GPROF_LOST_BAD_TAIL	1	/* the reader wrote an impossible tail */
#define GPROF_LOST_NESTED	2	/* interrupts nested deeper than the scratch memory */
/* a CPU that was not present at SETUP; a process forked faster than memory came: 1 for all */
#define GPROF_LOST_NO_BUFFER	3
/* a wait of which there is no note: too many at once; or its stack could not be taken */
#define GPROF_LOST_WAIT		4
/* flight mode: annotations and new names of one user beyond its share of a generation */
#define GPROF_LOST_QUOTA	5
#define GPROF_LOST_NR		6	/* those above */
#define GPROF_LOST_SLOTS	16	/* room for more, 0 until then */

#define GPROF_STATS_ALL_CPUS	(-1)

/*
 * What may happen to a recorder. poll() says POLLPRI from then on until STATS is called,
 * and listeners of linux/gprof_netlink.h are told; each at most once a second.
 */
#define GPROF_STATS_EVENT_LOST		0	/* a sample was lost: see out_lost */
#define GPROF_STATS_EVENT_TARGET_GONE	1	/* the thread or process has ended */
#define GPROF_STATS_EVENT_NR		2

/**
 * struct gprof_stats - argument of GPROF_IOC_STATS
 * @size: sizeof(struct gprof_stats)
 * @flags: must be 0
 * @cpu: a CPU, or GPROF_STATS_ALL_CPUS for the sum
 * @out_cpus: CPUs with a buffer that the numbers cover
 * @out_produced: samples that the source produced
 * @out_lost: samples that were lost, by GPROF_LOST_*
 * @out_overwritten: samples in generations that were given up (flight mode)
 * @out_nmi: produced samples that were taken in NMI context
 * @out_irq: ... in interrupt context
 * @out_task: ... in task context
 * @out_throttled: times the kernel stopped a counter for interrupting too often
 * @out_maps_lost: readings of a process' mappings that ended at a MAP record that
 *	did not fit
 * @out_maps_missed: processes whose mappings were not read, or not all of them: gone
 *	before, another's since an exec, locked for too long, read too often already, or
 *	so many that reading them took too long
 * @out_count: events counted, whether sampled or not; 0 where the counters
 *	count more than was asked for: a cgroup on whole CPUs, whole CPUs
 *	without the idle task, a clock in user mode alone
 * @out_time_enabled: ns that counters were enabled, summed over counters
 * @out_time_running: ns of these that they really counted; less than enabled
 *	when the CPU has too few counters (multiplexing)
 * @out_started_ns: time of the last START, 0 before it
 * @out_stopped_ns: time of the last STOP, 0 while recording
 * @out_events: what has happened since STATS was last called: bit
 *	(1 << GPROF_STATS_EVENT_*) each
 * @out_events_dropped: events that no listener of linux/gprof_netlink.h heard of
 *
 * Counters are sums since SETUP. After STOP they are exact; while recording
 * each is right, but they are not read at one instant.
 */
struct gprof_stats {
	__u32 size;
	__u32 flags;
	__s32 cpu;
	__u32 out_cpus;
	__aligned_u64 out_produced;
	__aligned_u64 out_lost[GPROF_LOST_SLOTS];
	__aligned_u64 out_overwritten;
	__aligned_u64 out_nmi;
	__aligned_u64 out_irq;
	__aligned_u64 out_task;
	__aligned_u64 out_throttled;
	__aligned_u64 out_maps_lost;
	__aligned_u64 out_maps_missed;
	__aligned_u64 out_count;
	__aligned_u64 out_time_enabled;
	__aligned_u64 out_time_running;
	__aligned_u64 out_started_ns;
	__aligned_u64 out_stopped_ns;
	__aligned_u64 out_events;
	__aligned_u64 out_events_dropped;
};

#define GPROF_STATS_SIZE_VER0	264

/**
 * struct gprof_rate - argument of GPROF_IOC_RATE
 * @size: sizeof(struct gprof_rate)
 * @flags: must be 0
 * @hz: what hz of struct gprof_sched_params would have been
 * @__reserved: must be 0
 *
 * Takes effect at once, started or not. EOPNOTSUPP for kinds without a rate
 * in Hz.
 */
struct gprof_rate {
	__u32 size;
	__u32 flags;
	__u32 hz;
	__u32 __reserved;
};

#define GPROF_RATE_SIZE_VER0	16

/*
 * what of struct gprof_trigger: when it fires. Who it is about is of the target. What
 * began before START is not measured. Each of the first five fires once for a wait,
 * a system call or a reclaim: when it ends, or within a second where it goes on
 * for longer (GPROF_TRIGGER_EVENT_F_GOES_ON).
 */
#define GPROF_TRIGGER_DELAY		1	/* runnable, and not on a CPU, for so long */
#define GPROF_TRIGGER_OFF_CPU		2	/* not on a CPU for so long */
#define GPROF_TRIGGER_BLOCKED		3	/* in an uninterruptible sleep for so long */
#define GPROF_TRIGGER_SYSCALL		4	/* number: of the call */
#define GPROF_TRIGGER_RECLAIM		5	/* direct, or for a cgroup's limit */
#define GPROF_TRIGGER_IRQ		6	/* number: of the interrupt; below -1: a vector */
#define GPROF_TRIGGER_SOFTIRQ		7	/* number: of the softirq */
#define GPROF_TRIGGER_SIGNAL		8	/* number: of the signal that ends a process */
#define GPROF_TRIGGER_TRACEPOINT	9	/* whoever runs comes to it */
#define GPROF_TRIGGER_NR		10
#define GPROF_TRIGGER_REQUEST		0	/* no trigger: GPROF_CMD_RECORDER_SNAPSHOT */

#define GPROF_TRIGGERS_MAX	8		/* of one recorder */
#define GPROF_TRIGGER_ANY	(-1)
#define GPROF_TRIGGER_NS_MAX	(1ULL << 48)	/* three days; of threshold and interval */
#define GPROF_TRIGGER_NAME_MAX	128

/**
 * struct gprof_trigger - argument of GPROF_IOC_TRIGGER
 * @size: sizeof(struct gprof_trigger)
 * @flags: must be 0
 * @what: GPROF_TRIGGER_*
 * @threshold_ns: it fires for what lasts longer. SIGNAL and TRACEPOINT: must be 0
 * @interval_ns: it fires at most once in this time, whatever happens; 0: one second
 * @number: which system call, interrupt, softirq or signal; GPROF_TRIGGER_ANY: each.
 *	Else must be GPROF_TRIGGER_ANY. A vector of the CPU that is no interrupt with a
 *	number (amd64: the timer's) goes by its negative. A system call as 32-bit programs
 *	make it has other numbers, and goes by GPROF_TRIGGER_ANY alone
 * @out_index: of the trigger: 0, 1 and so on, in the order in which they are set
 * @out_reason: GPROF_REASON_*
 * @name: TRACEPOINT: pointer to "CATEGORY:NAME"; else must be 0
 * @filter: TRACEPOINT: pointer to struct gprof_filter_step, see struct gprof_tracepoint_params:
 *	it fires for what passes. 0: for each; else must be 0
 * @filter_text: pointer to the text that steps compare with
 * @filter_steps: number of steps, at most GPROF_FILTER_STEPS_MAX
 * @filter_text_size: bytes at @filter_text, at most GPROF_FILTER_TEXT_MAX
 *
 * For GPROF_KIND_TRACE, set up and not started (EBUSY); triggers stay through STOP and
 * START. ENOSPC beyond GPROF_TRIGGERS_MAX. One that cannot be evaluated here
 * gives EOPNOTSUPP or ENOENT with REASON_TRIGGER. All but DELAY, OFF_CPU, BLOCKED and
 * SIGNAL slow down others and need CAP_PERFMON (REASON_SLOWS_DENIED). A filter that is none
 * gives EINVAL with REASON_PARAMS; with one, tracepoints of system calls and of probes are
 * possible too.
 */
struct gprof_trigger {
	__u32 size;
	__u32 flags;
	__aligned_u64 threshold_ns;
	__aligned_u64 interval_ns;
	__u32 what;
	__s32 number;
	__u32 out_index;
	__u32 out_reason;
	__aligned_u64 name;
	__aligned_u64 filter;
	__aligned_u64 filter_text;
	__u32 filter_steps;
	__u32 filter_text_size;
};

#define GPROF_TRIGGER_SIZE_VER0	56
#define GPROF_TRIGGER_SIZE_VER1	72

/* flags of struct gprof_trigger_event and of struct gprof_trigger_rec */
#define GPROF_TRIGGER_EVENT_F_GOES_ON	(1U << 0)	/* what lasts so long had not ended yet */
#define GPROF_TRIGGER_EVENT_F_UNMARKED	(1U << 1)	/* no room for a record in the ring */

#define GPROF_TRIGGER_EVENT_REQUEST	(~0U)	/* index: @tid asks for a snapshot */
#define GPROF_TRIGGER_EVENTS_MAX	16	/* trigger events that wait; more are suppressed */

/**
 * struct gprof_trigger_event - argument of GPROF_IOC_TRIGGER_READ: the oldest trigger event not
 * yet taken
 * @size: sizeof(struct gprof_trigger_event)
 * @index: of the trigger, or GPROF_TRIGGER_EVENT_REQUEST
 * @time: CLOCK_MONOTONIC; of the end of what lasted too long, or of when it was seen
 * @duration_ns: how long it lasted until then; 0 where it has no duration
 * @tid: whose wait, call or reclaim; whom the interrupt stopped; of the threads of a
 *	process that a signal ends the last one to go. 0: not in the reader's pid
 *	namespace, as are all ids here, or there no longer
 * @pid: process of @tid
 * @number: as in struct gprof_trigger: which one it was
 * @cpu: where; of what goes on, the CPU that @tid is on, waits for, or was on last
 * @flags: GPROF_TRIGGER_EVENT_F_*
 * @__reserved: 0
 * @comm: name of @tid
 * @fired: trigger events of this trigger up to this one
 * @suppressed: causes that did not make it fire until now, for its interval or because
 *	GPROF_TRIGGER_EVENTS_MAX trigger events waited
 * @untracked: waits, calls and reclaims of all triggers that were not measured, because
 *	too many tasks were there
 *
 * All but @size is written by the kernel. EAGAIN: none waits; then @fired and @suppressed
 * are those of all triggers, and all else but @untracked is 0. Trigger events outlive STOP; a
 * START throws away those that nobody took, and counts from 0.
 */
struct gprof_trigger_event {
	__u32 size;
	__u32 index;
	__aligned_u64 time;
	__aligned_u64 duration_ns;
	__u32 tid;
	__u32 pid;
	__s32 number;
	__u32 cpu;
	__u32 flags;
	__u32 __reserved;
	char comm[16];
	__aligned_u64 fired;
	__aligned_u64 suppressed;
	__aligned_u64 untracked;
};

#define GPROF_TRIGGER_EVENT_SIZE_VER0	88

/* flags of struct gprof_unwind_table_add */
#define GPROF_UNWIND_TABLE_ADD_F_VDSO	(1U << 0)	/* of the vDSO; there is no file */
#define __GPROF_UNWIND_TABLE_ADD_F_ALL	0x1U

/**
 * struct gprof_unwind_table_add - argument of GPROF_IOC_UNWIND_TABLE_ADD
 * @size: sizeof(struct gprof_unwind_table_add)
 * @flags: GPROF_UNWIND_TABLE_ADD_F_*
 * @fd: the file that the code is mapped from: a regular one, open for reading; else -1
 * @out_reason: GPROF_REASON_*
 * @table: pointer to a table as in linux/gprof_unwind.h
 * @table_size: its bytes; 0: is there one already? ENOENT: no
 * @out_bytes: what all tables that the recorder shares take
 * @out_tables: how many these are
 * @__reserved: must be 0
 * @python: pointer to struct gprof_python, where the file has an interpreter; else 0
 *
 * For recorders that were set up with GPROF_STACK_F_TABLES, started or not (EBUSY). Stacks
 * are walked by the table from then on, in every process that maps the file as it is now;
 * a file that is written to later has none. Recorders of the same user with the same
 * privilege share tables, which stay until the last of them is closed, and are charged
 * to who gave them. The first table of a file stays; 0 for one more. A table that does not
 * hold together gives EINVAL with REASON_TABLE.
 */
struct gprof_unwind_table_add {
	__u32 size;
	__u32 flags;
	__s32 fd;
	__u32 out_reason;
	__aligned_u64 table;
	__aligned_u64 table_size;
	__aligned_u64 out_bytes;
	__u32 out_tables;
	__u32 __reserved;
	__aligned_u64 python;
};

#define GPROF_UNWIND_TABLE_ADD_SIZE_VER0	48
#define GPROF_UNWIND_TABLE_ADD_SIZE_VER1	56	/* + python */

/* flags of struct gprof_python */
#define GPROF_PYTHON_F_OWNER	(1U << 0)	/* @frame_mark is who owns the frame */
#define __GPROF_PYTHON_F_ALL	0x1U

#define GPROF_PYTHON_OFFSET_MAX	(1U << 20)	/* of any member */
#define GPROF_PYTHON_NONE	0xffffffffU	/* there is no such member */

/**
 * struct gprof_python - where CPython has what it knows of its own frames
 * @size: sizeof(struct gprof_python)
 * @flags: GPROF_PYTHON_F_*
 * @runtime: address of _PyRuntime less that of the file's first byte, as its code is mapped
 * @interpreters: in _PyRuntime: the first interpreter; this and what follows are offsets
 * @interpreter_next: in an interpreter: the next one
 * @interpreter_threads: its first thread
 * @thread_next: in a thread: the next one
 * @thread_native_id: what gettid() says of it
 * @thread_frame: its innermost frame, or what has that
 * @cframe_frame: the innermost frame there; or GPROF_PYTHON_NONE: the thread has it itself
 * @frame_code: in a frame: its code
 * @frame_previous: who called
 * @frame_instr: the instruction that it is at
 * @frame_mark: a byte; with OWNER: 3: the frame is none, but stands where C code called
 *	the interpreter. Else: not 0: it was C code that called
 * @code_instrs: in a code object: the first of its instructions, which have two bytes
 * @code_line: its first line, a 32-bit number
 * @code_filename: its file, a string
 * @code_name: its name
 * @code_qualname: its name with those of what it is in
 * @string_hash: in a string: its hash
 *
 * With GPROF_STACK_F_PYTHON the user frames of a stack have, behind the leaf (and a guessed
 * caller), frames of the interpreter too, from the innermost on, two words each, whose high
 * bits no address has:
 *
 *	GPROF_PYTHON_FRAME	bits 0 to 44: address of the code object / 8; GPROF_PYTHON_AT:
 *				number of the instruction + 1, 0: none yet, all ones: not
 *				known; GPROF_PYTHON_ENTRY: C code called it
 *	GPROF_PYTHON_CHECK	bits 0 to 60: gprof_python_check() of that object then
 *
 * Whose frames they are among those of C code is for the reader to find: a run of them up to
 * one with ENTRY is what one call of the interpreter has run. They are what the process
 * has in its memory, which it may have written itself. Of a thread beyond the first 256
 * there are none; see GPROF_STACK_REC_F_PYTHON.
 */
struct gprof_python {
	__u32 size;
	__u32 flags;
	__aligned_u64 runtime;
	__u32 interpreters;
	__u32 interpreter_next;
	__u32 interpreter_threads;
	__u32 thread_next;
	__u32 thread_native_id;
	__u32 thread_frame;
	__u32 cframe_frame;
	__u32 frame_code;
	__u32 frame_previous;
	__u32 frame_instr;
	__u32 frame_mark;
	__u32 code_instrs;
	__u32 code_line;
	__u32 code_filename;
	__u32 code_name;
	__u32 code_qualname;
	__u32 string_hash;
	__u32 __reserved;
};

#define GPROF_PYTHON_SIZE_VER0	88

#define GPROF_PYTHON_TAGS	(7ULL << 61)
#define GPROF_PYTHON_ENTRY	(1ULL << 61)
#define GPROF_PYTHON_FRAME	(1ULL << 63)	/* of the highest two bits */
#define GPROF_PYTHON_CHECK	(3ULL << 62)	/* of the highest three */
#define GPROF_PYTHON_AT_SHIFT	45
#define GPROF_PYTHON_AT		(0xffffULL << GPROF_PYTHON_AT_SHIFT)
#define GPROF_PYTHON_CODE	((1ULL << GPROF_PYTHON_AT_SHIFT) - 1)

/*
 * Of a code object's name (its hash), file and long name (their addresses) and first line:
 * what is read later at its address is what it was if this is the same.
 */
static inline __u64 gprof_python_check(__u64 name_hash, __u64 filename, __u64 qualname,
				       __u32 line)
{
	__u64 h = name_hash * 0x9e3779b97f4a7c15ULL;

	h = ((h ^ h >> 32) + filename) * 0x9e3779b97f4a7c15ULL;
	h = ((h ^ h >> 32) + qualname) * 0x9e3779b97f4a7c15ULL;
	h = ((h ^ h >> 32) + line) * 0x9e3779b97f4a7c15ULL;
	return GPROF_PYTHON_CHECK | (h >> 3 & ~GPROF_PYTHON_TAGS);
}

/**
 * struct gprof_self_stack - argument of GPROF_IOC_SELF_STACK
 * @size: sizeof(struct gprof_self_stack)
 * @flags: must be 0
 * @frames: pointer to __u64, where addresses go
 * @max_frames: room there, 1 to out_max_frames of INFO
 * @skip: how many are left out, next to the leaf; where there are no more, none is written
 * @out_frames: how many were written
 * @out_flags: GPROF_STACK_REC_F_*, as in struct gprof_stack_rec
 * @out_exec_map_seq: stamp of the mappings, likewise
 * @out_reason: GPROF_REASON_*
 *
 * The user stack of the calling thread, leaf first, as in struct gprof_stack_rec: frame 0 is
 * the instruction behind the call, all others are return addresses. The whole of it may
 * have out_max_frames of INFO, what is skipped included; USER_CUT where it has more than
 * was walked. It is no sample: no record is written, whatever state the recorder is in.
 *
 * Frames are found by frame records; no caller is guessed. So whoever wants to be in it makes
 * the call from a function that has a record, which ioctl() of a C library has not. A
 * recorder that was set up with GPROF_STACK_F_TABLES has them found by the tables that it
 * shares, and then flags have TABLES.
 */
struct gprof_self_stack {
	__u32 size;
	__u32 flags;
	__aligned_u64 frames;
	__u32 max_frames;
	__u32 skip;
	__u32 out_frames;
	__u32 out_flags;
	__u32 out_exec_map_seq;
	__u32 out_reason;
};

#define GPROF_SELF_STACK_SIZE_VER0	40

/* what of struct gprof_alloc_report */
#define GPROF_ALLOC_REPORT_ASK	0	/* nothing; only out_period is wanted */
#define GPROF_ALLOC_REPORT_ALLOC	1	/* @bytes at @addr, sampled by @period */
#define GPROF_ALLOC_REPORT_FREE	2	/* what is at @addr is going to be freed */
#define GPROF_ALLOC_REPORT_RESIZE	3	/* of what is at @addr @bytes are left */

/* flags of struct gprof_alloc_report */
#define GPROF_ALLOC_REPORT_F_NO_ROOM	(1U << 0)	/* ALLOC: its end is not going to be told */
#define __GPROF_ALLOC_REPORT_F_ALL	0x1U

/**
 * struct gprof_alloc_report - argument of GPROF_IOC_ALLOC_REPORT
 * @size: sizeof(struct gprof_alloc_report)
 * @what: GPROF_ALLOC_REPORT_*
 * @addr: by which the end is known, with @mm_id; not 0. For ASK 0
 * @mm_id: whose addresses these are: a random number, of each address space another
 * @bytes: ALLOC and RESIZE: 1 to 2^48 - 1; else 0
 * @period: ALLOC: for so many bytes the caller has found that it stands, on an average over all
 *	that it allocates for as many as that has; for @bytes where these are more. At most
 *	twice GPROF_ALLOC_PERIOD_MAX; else 0
 * @pc: ALLOC: where the stack begins, an instruction of who allocates; 0: at the call
 * @sp: stack pointer there; 0 with @pc
 * @fp: frame pointer there
 * @out_period: bytes per sample that are wanted: the fewest that a recorder of the caller
 *	asks for; 0: nobody records
 * @out_reason: GPROF_REASON_*
 * @flags: GPROF_ALLOC_REPORT_F_*
 *
 * For who allocates: recorders with GPROF_ALLOC_F_PROGRAM whose target the caller is have a
 * sample. One that asks for more bytes per sample takes some of them by chance; one that
 * asks for fewer takes all, and they stand for as many as @period says. Who samples by
 * out_period as struct gprof_alloc_params says gives that, once for each byte that it has sampled.
 *
 * A process that was forked draws a new @mm_id, and has the addresses of its parent no more.
 * A program that knows a @mm_id can end what is live of it, so it is nobody else's to know.
 * FREE of something that is not live is nothing; so is ALLOC where nobody records. An ALLOC
 * of what is live has ended that, which is counted (unseen of struct
 * gprof_object_table_head). An ALLOC of a program without room to know its end by (NO_ROOM) is
 * not live, which is counted too (full); nor is one of a process whose end would not be known
 * (struct gprof_alloc_params).
 */
struct gprof_alloc_report {
	__u32 size;
	__u32 what;
	__aligned_u64 addr;
	__aligned_u64 mm_id;
	__aligned_u64 bytes;
	__aligned_u64 period;
	__aligned_u64 pc;
	__aligned_u64 sp;
	__aligned_u64 fp;
	__aligned_u64 out_period;
	__u32 out_reason;
	__u32 flags;
};

#define GPROF_ALLOC_REPORT_SIZE_VER0	80

/* what of struct gprof_annotate, and flags of struct gprof_annotation_rec */
#define GPROF_ANNOTATE_REGION_BEGIN	1	/* what the thread does from now on */
#define GPROF_ANNOTATE_REGION_END	2
#define GPROF_ANNOTATE_TASK_BEGIN	3	/* what many threads may work at */
#define GPROF_ANNOTATE_TASK_END		4
#define GPROF_ANNOTATE_LOG		5	/* an instant */
#define __GPROF_ANNOTATE_WHATS		6

#define GPROF_ANNOTATE_NAME_MAX		128	/* bytes; more is cut off by who has it */
#define GPROF_ANNOTATE_TEXT_MAX		512

/**
 * struct gprof_annotate - argument of GPROF_IOC_ANNOTATE
 * @size: sizeof(struct gprof_annotate)
 * @what: GPROF_ANNOTATE_*
 * @task: number of the task, by which the process knows it; 0: none, but for TASK_BEGIN
 *	and TASK_END
 * @parent: TASK_BEGIN: number of the task that it is a part of, or 0; else 0
 * @name: pointer to the name of the region or task, or to the category of the log; not
 *	NUL-terminated. TASK_END: 0
 * @text: LOG: pointer to the message, likewise; else 0
 * @name_size: bytes at @name, at most GPROF_ANNOTATE_NAME_MAX
 * @text_size: bytes at @text, at most GPROF_ANNOTATE_TEXT_MAX
 * @out_recorders: how many recorders it was for, those included that had no room
 * @out_reason: GPROF_REASON_*
 *
 * For traces with GPROF_TRACE_F_ANNOTATIONS whose target the caller is; it has a
 * GPROF_REC_ANNOTATION in each. What the bytes are is nobody's business here. So that a
 * program that annotates much does not drive out what is told of others, a ring in stream
 * mode takes annotations into its first half alone; beyond, they are lost (FULL). In flight
 * mode, where a generation is an eighth of the ring at most, the annotations of one user, and
 * the new names that its tasks take but by exec, fill an eighth of that eighth, and those of
 * all users half of it; beyond, they are lost (QUOTA), a name until the next generation. Users
 * whose ids are equal modulo 16 have one share.
 */
struct gprof_annotate {
	__u32 size;
	__u32 what;
	__aligned_u64 task;
	__aligned_u64 parent;
	__aligned_u64 name;
	__aligned_u64 text;
	__u32 name_size;
	__u32 text_size;
	__u32 out_recorders;
	__u32 out_reason;
};

#define GPROF_ANNOTATE_SIZE_VER0	56

/* Offsets for mmap; off_t must have 64 bits. */
#define GPROF_MMAP_CPU_SHIFT	32
#define GPROF_MMAP_TAIL(cpu)	((__u64)(cpu) << GPROF_MMAP_CPU_SHIFT)
#define GPROF_MMAP_RING(cpu)	(GPROF_MMAP_TAIL(cpu) | 0x80000000ULL)

/* The one of the recorder, for kinds that have it; else ENODEV. */
#define GPROF_MMAP_OBJECTS	0x40000000ULL
/* Of any file, whether it is set up or not. It stays with a child of the process. */
#define GPROF_MMAP_ANNOTATED	0x20000000ULL

/**
 * struct gprof_ring_tail - the page that the reader writes
 * @tail: position up to which the reader is done. In flight mode with
 *	GPROF_SETUP_F_WAKE only poll() looks at it
 */
struct gprof_ring_tail {
	__aligned_u64 tail;
};

/**
 * struct gprof_ring_head - the first page of GPROF_MMAP_RING
 * @version: GPROF_ABI_VERSION
 * @header_size: bytes of this struct that the kernel knows
 * @cpu: the CPU that writes here
 * @flags: GPROF_SETUP_F_FLIGHT or 0
 * @data_offset: bytes from the start of this page to the data
 * @data_size: bytes of data (once), a power of two
 * @recorder: id of the recorder, as in out_id of SETUP
 * @kind: its GPROF_KIND_*
 * @__reserved0: 0
 * @generation: position of the newest GENERATION record
 * @__reserved1: 0
 * @head: position after the newest complete record
 * @oldest: position of the oldest record that still exists (flight mode),
 *	always the start of a generation. Else that of the generation before @generation,
 *	which exists if it is not further from @head than @data_size: with it one can
 *	read, in a core dump, what the reader is done with
 * @produced: samples produced on this CPU
 * @lost: samples lost on this CPU, by reason
 * @overwritten: samples given up on this CPU
 *
 * @head to @overwritten are published together by the outermost producer and
 * may lag behind GPROF_IOC_STATS while recording.
 */
struct gprof_ring_head {
	__u32 version;
	__u32 header_size;
	__u32 cpu;
	__u32 flags;
	__aligned_u64 data_offset;
	__aligned_u64 data_size;
	__aligned_u64 recorder;
	__u32 kind;
	__u32 __reserved0;
	__aligned_u64 generation;
	__aligned_u64 __reserved1;
	__aligned_u64 head;
	__aligned_u64 oldest;
	__aligned_u64 produced;
	__aligned_u64 lost[GPROF_LOST_SLOTS];
	__aligned_u64 overwritten;
};

/**
 * struct gprof_object_table_head - the begin of GPROF_MMAP_OBJECTS
 * @version: GPROF_ABI_VERSION
 * @header_size: bytes of this struct that the kernel knows
 * @slot_size: bytes from one slot to the next
 * @nr_slots: how many there are
 * @slots_offset: bytes from the start of this page to the first
 * @size: bytes of the whole mapping
 * @starts: changes before the table is emptied for a START, and is odd until it is empty
 * @added: things that got a slot since the last START
 * @removed: ... that are live no longer
 * @full: sampled ones that got none, for the table was full, or their ends would be told by
 *	nobody; they are not among @added
 * @unseen: ends that the kernel did not tell, as far as is known: of what was in the way of
 *	something else at the same address, and when a probe was not called, which is known
 *	at STOP
 */
struct gprof_object_table_head {
	__u32 version;
	__u32 header_size;
	__u32 slot_size;
	__u32 nr_slots;
	__aligned_u64 slots_offset;
	__aligned_u64 size;
	__aligned_u64 starts;
	__aligned_u64 added;
	__aligned_u64 removed;
	__aligned_u64 full;
	__aligned_u64 unseen;
};

/**
 * struct gprof_object_slot - something that is live, or was
 * @live: what the sample's word is; without GPROF_OBJECT_LIVE it is live no longer
 * @time: since when, as the sample says it
 * @value: likewise
 * @weight: likewise
 */
struct gprof_object_slot {
	__aligned_u64 live;
	__aligned_u64 time;
	__aligned_u64 value;
	__aligned_u64 weight;
};

/* The word: which slot, whether it is live, and how often the slot was used. */
#define GPROF_OBJECT_SLOT(live)	((live) & 0xffffffU)
#define GPROF_OBJECT_LIVE	(1ULL << 24)
#define GPROF_OBJECT_SERIAL_SHIFT	25
#define GPROF_OBJECT_SERIAL(live)	((live) >> GPROF_OBJECT_SERIAL_SHIFT)

/*
 * Records. All are multiples of 8 bytes and 8-byte aligned. A reader skips
 * what it does not know by its size: 8 when GPROF_REC_SHORT is set in type,
 * else @size. A size below 8 or beyond head means a corrupt buffer.
 *
 * Records grow at their end. Behind an array whose length the record says (frames,
 * path, extra) follow members in the order of the flags that announce them, each
 * 8-byte aligned; a reader takes those whose flags it knows, up to the first that
 * it does not, and leaves the rest alone.
 */
#define GPROF_REC_SHORT		0x200	/* one word: 10 bits type, 22 bits tid, 32 bits time */

#define GPROF_REC_GENERATION	1
#define GPROF_REC_LOST		2
#define GPROF_REC_TASK		3
#define GPROF_REC_STACK		4
#define GPROF_REC_SAMPLE	5
#define GPROF_REC_MAP		6
#define GPROF_REC_TRIGGER	7
#define GPROF_REC_STACK_DELTA	8
#define GPROF_REC_ANNOTATION	9

/**
 * struct gprof_rec - head of every record that is not short
 * @type: GPROF_REC_*
 * @flags: by type
 * @size: bytes, this head included
 */
struct gprof_rec {
	__u16 type;
	__u16 flags;
	__u32 size;
};

/**
 * struct gprof_generation_rec - GPROF_REC_GENERATION: a generation begins
 * @rec: head
 * @generation: number on this CPU, one more than the last
 * @mono_ns: CLOCK_MONOTONIC now; the origin of short records' times
 * @real_ns: CLOCK_REALTIME at the same instant
 * @weight: what a sample without GPROF_SAMPLE_REC_F_WEIGHT stands for
 * @cpu: the CPU
 * @__reserved: 0
 */
struct gprof_generation_rec {
	struct gprof_rec rec;
	__aligned_u64 generation;
	__aligned_u64 mono_ns;
	__aligned_u64 real_ns;
	__aligned_u64 weight;
	__u32 cpu;
	__u32 __reserved;
};

/**
 * struct gprof_lost_rec - GPROF_REC_LOST: samples were lost before this place
 * @rec: head
 * @lost: how many since the last such record, by GPROF_LOST_*; as many reasons as
 *	fill @rec.size
 */
struct gprof_lost_rec {
	struct gprof_rec rec;
	__aligned_u64 lost[];
};

/**
 * struct gprof_process - one program run: changes with pid reuse and with exec
 * @pid: process id
 * @exec_id: counts the execs of the task and of its ancestors
 * @start_ns: start of the process, CLOCK_BOOTTIME
 */
struct gprof_process {
	__u32 pid;
	__u32 exec_id;
	__aligned_u64 start_ns;
};

/**
 * struct gprof_task_rec - GPROF_REC_TASK: name of a task, before its first sample
 * @rec: head
 * @process: the process that the task belongs to; all 0 where @tid is, but for the idle task
 * @tid: thread id; 0: the idle task, or tasks without an id, which share GPROF_TASK_OUTSIDE
 * @uid: GPROF_TASK_REC_F_UID: real user id, as the initial user namespace has it; else 0
 * @comm: name, NUL-terminated
 */
struct gprof_task_rec {
	struct gprof_rec rec;
	struct gprof_process process;
	__u32 tid;
	__u32 uid;
	char comm[16];
};

#define GPROF_TASK_OUTSIDE	"[outside]"	/* comm of tasks without an id */

#define GPROF_TASK_REC_F_UID	(1U << 0)	/* flags of struct gprof_task_rec; of kind TRACE */

/*
 * flags of struct gprof_stack_rec.
 *
 * CALLER: user frame 1 is a guess at the caller of frame 0, read from the link
 * register (arm64, riscv64) or from the top of the stack (amd64) in case frame 0 had no
 * frame record at that instruction (a leaf function, a prologue). It is right
 * exactly when the unwind table at frame 0 says that the return address is
 * there (arm64: in x30; amd64: at CFA-8, with CFA = rsp + 8, or rsp + 16 with
 * CALLER_PUSHED; riscv64: in ra, and with CALLER_PUSHED whatever the table says,
 * as the code has shown that the frame is not linked yet, or no longer); else it
 * must be dropped.
 */
#define GPROF_STACK_REC_F_CALLER	(1U << 0)
#define GPROF_STACK_REC_F_CALLER_PUSHED	(1U << 1)
#define GPROF_STACK_REC_F_KERNEL_CUT	(1U << 2)	/* max_frames reached */
#define GPROF_STACK_REC_F_USER_CUT	(1U << 3)	/* max_frames, unreadable, or no frame */

/*
 * With GPROF_STACK_F_TABLES: how the walk of the user's half ended. Any but COMPLETE
 * have USER_CUT too.
 */
#define GPROF_STACK_REC_F_TABLES	(1U << 4)
#define GPROF_STACK_REC_END(flags)	((flags) >> 8 & 0xfU)
#define GPROF_STACK_REC_END_SHIFT	8
#define GPROF_STACK_END_COMPLETE	0	/* at the first function of the thread */
#define GPROF_STACK_END_MAX		1	/* at max_frames */
#define GPROF_STACK_END_UNREAD		2	/* code whose mapping has not been read (yet) */
#define GPROF_STACK_END_NO_TABLE	3	/* code of a file without one, or of none */
#define GPROF_STACK_END_NO_ROW		4	/* code that its table says nothing about */
#define GPROF_STACK_END_RULE		5	/* a rule that wants what is not known */
#define GPROF_STACK_END_PAGE		6	/* a page of the stack that is not in memory */
#define GPROF_STACK_END_ADDRESS		7	/* the next is no frame, or no return address */
#define GPROF_STACK_END_MODE		8	/* not 64-bit code, or memory that is not its own */
#define GPROF_STACK_END_TIME		9	/* of the interrupt; without tables, too */
#define GPROF_STACK_END_NR		10

/*
 * With GPROF_STACK_F_PYTHON: the thread is one of an interpreter, and its frames are among
 * those of the user, but for the outermost ones with CUT: there is no room for them, or
 * they cannot be read, or are no frames. CUT alone: it is not known whether it is one.
 */
#define GPROF_STACK_REC_F_PYTHON	(1U << 5)
#define GPROF_STACK_REC_F_PYTHON_CUT	(1U << 6)

/*
 * With GPROF_STACK_F_TABLES: a frame of the user's half was found in code without a rule, by what
 * such code mostly does. It may be wrong, or its caller left out.
 */
#define GPROF_STACK_REC_F_GUESSED	(1U << 7)

/**
 * struct gprof_stack_rec - GPROF_REC_STACK: a stack, before the first sample of it
 * @rec: head
 * @id: valid in this generation on this CPU; 0: for the next sample only
 * @exec_map_seq: stamp of the process' executable mappings, see struct gprof_map_rec
 * @nr_kernel: kernel frames, which come first
 * @nr_user: user frames
 * @suffix: number by which struct gprof_stack_delta_rec names this stack, from here to the end of
 *	the generation or to the next with that number; 0: none does
 * @process: whose user addresses these are
 * @frames: leaf first; frame 0 of each half is the instruction itself where the
 *	sample was taken in that half, all others are return addresses. User
 *	frame 0 is always the instruction (or the return address from a
 *	syscall, which is as good). What a signal has interrupted is the
 *	instruction plus 1, so that a reader finds it where callers are.
 */
struct gprof_stack_rec {
	struct gprof_rec rec;
	__u32 id;
	__u32 exec_map_seq;
	__u16 nr_kernel;
	__u16 nr_user;
	__u32 suffix;
	struct gprof_process process;
	__aligned_u64 frames[];
};

#define GPROF_STACK_SUFFIXES	64	/* the largest number of a suffix */

/**
 * struct gprof_stack_delta_rec - GPROF_REC_STACK_DELTA: a stack that ends as another does
 * @rec: head; flags as those of struct gprof_stack_rec
 * @id: likewise
 * @suffix: number of the other, which came before in this generation
 * @nr_kernel: kernel frames, which come first
 * @nr_user: user frames behind them
 * @nr_shared: user frames behind those: the last of the other's
 * @__reserved: 0
 * @frames: nr_kernel and nr_user, leaf first
 *
 * Process and layout are the other's.
 */
struct gprof_stack_delta_rec {
	struct gprof_rec rec;
	__u32 id;
	__u32 suffix;
	__u16 nr_kernel;
	__u16 nr_user;
	__u16 nr_shared;
	__u16 __reserved;
	__aligned_u64 frames[];
};

/* flags of struct gprof_sample_rec */
#define GPROF_SAMPLE_REC_F_WEIGHT	(1U << 0)	/* a __u64 weight follows */
#define GPROF_SAMPLE_REC_F_ADDR		(1U << 1)	/* a __u64 data address, after weight */
#define GPROF_SAMPLE_REC_F_NMI		(1U << 2)	/* taken in NMI context */
#define GPROF_SAMPLE_REC_F_IRQ		(1U << 3)	/* taken in interrupt context */
#define GPROF_SAMPLE_REC_F_KERNEL	(1U << 4)	/* the CPU was in kernel mode */
#define GPROF_SAMPLE_REC_F_THROTTLED	(1U << 5)	/* then stopped for a tick */
#define GPROF_SAMPLE_REC_F_VALUE	(1U << 6)	/* a __u64 value, after address */
#define GPROF_SAMPLE_REC_F_EVENT	(1U << 7)	/* the stack of a short record; no weight */
#define GPROF_SAMPLE_REC_F_WAIT		(1U << 8)	/* a __u64 GPROF_WAIT_*, after value */
#define GPROF_SAMPLE_REC_F_STATE	(1U << 9)	/* a struct gprof_task_state, behind */
#define GPROF_SAMPLE_REC_F_PARALLELISM	(1U << 10)	/* a __u64 number of tasks, after wait */
#define GPROF_SAMPLE_REC_F_OBJECT	(1U << 11)	/* a __u64 at the end: live of its slot */
#define GPROF_SAMPLE_REC_F_OWNER	(1U << 12)	/* a struct gprof_lock_owner, after that */

/**
 * struct gprof_sample_rec - GPROF_REC_SAMPLE
 * @rec: head
 * @time: ns
 * @tid: the task whose event it is
 * @stack: id of its stack; 0: the STACK or STACK_DELTA record with id 0 just before this one,
 *	or none where there is no such record
 * @extra: as flags say
 */
struct gprof_sample_rec {
	struct gprof_rec rec;
	__aligned_u64 time;
	__u32 tid;
	__u32 stack;
	__aligned_u64 extra[];
};

/**
 * struct gprof_lock_owner - who had a lock
 * @tid: thread id; 0: nobody, or it is not told
 * @__reserved: 0
 * @comm: its name then, NUL-terminated
 */
struct gprof_lock_owner {
	__u32 tid;
	__u32 __reserved;
	char comm[16];
};

/* state of struct gprof_task_state */
#define GPROF_TASK_RUNNING	1	/* on a CPU */
#define GPROF_TASK_RUNNABLE	2	/* waits for a CPU */
#define GPROF_TASK_SLEEPS	3	/* waits; a signal would wake it */
#define GPROF_TASK_BLOCKED	4	/* waits, uninterruptibly */
#define GPROF_TASK_STOPPED	5	/* by a signal or a debugger */
#define GPROF_TASK_IDLE		6	/* a thread of the kernel that waits for work */
#define GPROF_TASK_DEAD		7	/* has ended, and nobody has taken notice; no stack */
#define GPROF_TASK_OTHER	8

/* flags of struct gprof_task_state */
#define GPROF_TASK_F_AT_MOST	(1U << 0)	/* since_ns: or less */
#define GPROF_TASK_F_UNSTABLE	(1U << 1)	/* it ran whenever it was looked at: no stack */

/**
 * struct gprof_task_state - how a task was
 * @state: GPROF_TASK_*
 * @flags: GPROF_TASK_F_*
 * @__reserved: 0
 * @cpu: where it runs, or ran last
 * @since_ns: for how long it had been so, without ever getting a CPU, or giving it away;
 *	0: unknown
 */
struct gprof_task_state {
	__u8 state;
	__u8 flags;
	__u16 __reserved;
	__u32 cpu;
	__aligned_u64 since_ns;
};

/*
 * What GPROF_SAMPLE_REC_F_WAIT says of a wait, from the lowest bit: 8 bits for what, 4 bits
 * how it ended, 4 bits what kind of lock, 48 bits ns until the task ran again.
 */
#define GPROF_WAIT_FOR(wait)		((wait) & 0xff)
#define GPROF_WAIT_ENDED(wait)		((wait) >> 8 & 0xf)
#define GPROF_WAIT_LOCK_SHIFT		12
#define GPROF_WAIT_LOCK(wait)		((wait) >> GPROF_WAIT_LOCK_SHIFT & 0xf)
#define GPROF_WAIT_RUNNABLE_SHIFT	16
#define GPROF_WAIT_RUNNABLE_NS(wait)	((wait) >> GPROF_WAIT_RUNNABLE_SHIFT)

/*
 * For what. Calls of 32-bit programs are not told apart: OTHER. Nor is what a task waits for
 * while it ends, or writes a core file.
 */
#define GPROF_WAIT_FOR_OTHER	0
#define GPROF_WAIT_FOR_SLEEP	1	/* nanosleep() and the like */
#define GPROF_WAIT_FOR_IO	2	/* a disk: what the kernel counts as such */
#define GPROF_WAIT_FOR_FUTEX	3
#define GPROF_WAIT_FOR_PIPE	4	/* a call on one */
#define GPROF_WAIT_FOR_SOCKET	5	/* a call on one */
#define GPROF_WAIT_FOR_FILE	6	/* a call on any other file */
#define GPROF_WAIT_FOR_POLL	7	/* poll(), select(), epoll_wait() */
#define GPROF_WAIT_FOR_FAULT	8	/* amid a page fault of user code */
#define GPROF_WAIT_FOR_BLOCKED	9	/* uninterruptibly, and none of the above */
#define GPROF_WAIT_FOR_CHILD	10	/* wait4() and the like */
#define GPROF_WAIT_FOR_SIGNAL	11	/* pause(), sigtimedwait() and the like */
#define GPROF_WAIT_FOR_STOPPED	12	/* by a signal or a debugger, or frozen with its cgroup */
#define GPROF_WAIT_FOR_KERNEL	13	/* a thread of the kernel */
#define GPROF_WAIT_FOR_LOCK	14	/* a lock of the kernel */
#define GPROF_WAIT_FOR_NR	15

#define GPROF_WAIT_ENDED_UNKNOWN	0
#define GPROF_WAIT_ENDED_BY_TASK	1	/* whose stack this is */
#define GPROF_WAIT_ENDED_BY_SOFTIRQ	2
#define GPROF_WAIT_ENDED_BY_IRQ		3
#define GPROF_WAIT_ENDED_BY_NOT_TARGET	4
#define GPROF_WAIT_ENDED_NOT		5	/* it goes on at STOP */

/* What kind of lock, of GPROF_KIND_MUTEX, as far as the call tells. */
#define GPROF_WAIT_LOCK_UNKNOWN		0
#define GPROF_WAIT_LOCK_PLAIN		1	/* FUTEX_WAIT: what glibc's mutexes use */
#define GPROF_WAIT_LOCK_PI		2	/* FUTEX_LOCK_PI */
#define GPROF_WAIT_LOCK_CONDITION	3	/* others: conditions, semaphores, with timeouts */
#define GPROF_WAIT_LOCK_MANY		4	/* futex_waitv() */
#define GPROF_WAIT_LOCK_SPIN		5	/* of the kernel, as the rest */
#define GPROF_WAIT_LOCK_RWLOCK		6	/* spins too, or that on an RT kernel */
#define GPROF_WAIT_LOCK_MUTEX		7
#define GPROF_WAIT_LOCK_RWSEM		8
#define GPROF_WAIT_LOCK_RT		9	/* rt_mutex; spinlocks of an RT kernel too */
#define GPROF_WAIT_LOCK_PERCPU		10	/* percpu_rw_semaphore */
#define GPROF_WAIT_LOCK_SEMAPHORE	11	/* a counting one */
#define GPROF_WAIT_LOCK_NR		12

/* flags of struct gprof_map_rec */
#define GPROF_MAP_REC_F_FIRST	(1U << 0)	/* first of one reading of the mappings */
#define GPROF_MAP_REC_F_LAST	(1U << 1)	/* last of it; without it some were lost */
#define GPROF_MAP_REC_F_FILE	(1U << 2)	/* a struct gprof_map_file follows the path */

/* A stamp of mappings: from this bit on, how often code that was told of was unmapped. */
#define GPROF_EXEC_MAP_SEQ_UNMAPPED_SHIFT	16

/**
 * struct gprof_map_rec - GPROF_REC_MAP: one executable mapping of a process
 * @rec: head
 * @process: whose
 * @time: when it was read, the same in all records of one reading
 * @start: first address
 * @end: address after the last
 * @offset: file offset of @start, bytes
 * @inode: inode number, 0 without a file
 * @dev_major: device of the file
 * @dev_minor: device of the file
 * @exec_map_seq: stamp: stacks with the same stamp were taken under these mappings. With the
 *	same from bit GPROF_EXEC_MAP_SEQ_UNMAPPED_SHIFT on, more may have been mapped between,
 *	but nothing of this may have been replaced
 * @inode_generation: generation of the inode
 * @path: NUL-terminated and padded with NUL; "[vdso]", "//anon", "... (deleted)"
 *
 * Inode and device are those of the file whose bytes were mapped: on a stacked
 * file system (overlayfs) those of the layer below, which stat() does not tell.
 */
struct gprof_map_rec {
	struct gprof_rec rec;
	struct gprof_process process;
	__aligned_u64 time;
	__aligned_u64 start;
	__aligned_u64 end;
	__aligned_u64 offset;
	__aligned_u64 inode;
	__u32 dev_major;
	__u32 dev_minor;
	__u32 exec_map_seq;
	__u32 inode_generation;
	char path[];
};

/* flags of struct gprof_map_file */
#define GPROF_MAP_FILE_F_DELETED	(1U << 0)	/* path ends in " (deleted)", not a part */
#define GPROF_MAP_FILE_F_UNREAD		(1U << 1)	/* the build-id was not in memory */

#define GPROF_BUILD_ID_SIZE		20

/**
 * struct gprof_map_file - what tells a mapped file from others
 * @file_size: bytes
 * @mtime_ns: when it was last written to, ns since 1970
 * @flags: GPROF_MAP_FILE_F_*
 * @build_id_size: bytes of @build_id; 0: it has none, or F_UNREAD
 * @build_id: the build-id note, read from the pages that are mapped
 * @__reserved: 0
 *
 * Lies behind the path of a MAP record, from the next multiple of 8 bytes after
 * the path's NUL on, where its flags have GPROF_MAP_REC_F_FILE.
 */
struct gprof_map_file {
	__aligned_u64 file_size;
	__aligned_u64 mtime_ns;
	__u32 flags;
	__u32 build_id_size;
	__u8 build_id[GPROF_BUILD_ID_SIZE];
	__u32 __reserved;
};

/**
 * struct gprof_trigger_rec - GPROF_REC_TRIGGER: a trigger fires; no sample
 * @rec: head; flags: GPROF_TRIGGER_EVENT_F_GOES_ON
 * @time: as in struct gprof_trigger_event
 * @duration_ns: likewise
 * @index: of the trigger
 * @tid: whose
 *
 * Stands in the ring of the CPU that saw it, behind all that happened before. Each trigger
 * event has one, but those that say GPROF_TRIGGER_EVENT_F_UNMARKED; suppressed ones have none.
 */
struct gprof_trigger_rec {
	struct gprof_rec rec;
	__aligned_u64 time;
	__aligned_u64 duration_ns;
	__u32 index;
	__u32 tid;
};

/**
 * struct gprof_annotation_rec - GPROF_REC_ANNOTATION: a program tells what it does; a sample
 * @rec: head; flags: GPROF_ANNOTATE_*
 * @time: ns
 * @process: who tells, and whose number @task is
 * @tid: its thread, who runs on the CPU
 * @name_size: bytes of the name, at most GPROF_ANNOTATE_NAME_MAX
 * @text_size: bytes of the text behind it, at most GPROF_ANNOTATE_TEXT_MAX
 * @task: as in struct gprof_annotate
 * @parent: likewise
 * @text: the name and the text as they were given, any bytes; padded with NUL
 *
 * Stands among the short records, behind all that happened before on its CPU.
 */
struct gprof_annotation_rec {
	struct gprof_rec rec;
	__aligned_u64 time;
	struct gprof_process process;
	__u32 tid;
	__u16 name_size;
	__u16 text_size;
	__aligned_u64 task;
	__aligned_u64 parent;
	char text[];
};

/*
 * Short records, of GPROF_KIND_TRACE. From the lowest bit:
 *
 *	4 bits	arg
 *	5 bits	GPROF_TRACE_*
 *	1 bit	1: GPROF_REC_SHORT
 *	22 bits	tid, or another number
 *	32 bits	time since mono_ns of the generation, in units of 64 ns
 *
 * Whatever has no task in it is about who runs on the CPU of the ring: the task of the
 * last SWITCH or RUNNING. RUNNING says who that is where a reader may not know: at the
 * START, as the first event of each generation, and as the first after lost ones. Where
 * nothing was lost and it names another task than ran before, the CPU has been offline
 * since the event before. All but RUNNING and OPERAND are a sample each.
 *
 * Of a target made of tasks or of a cgroup only its own tasks are told, all others are tasks
 * outside the target, and so is the idle task. So are, of any target, tasks without an id in
 * the opener's pid namespace. Where neither of both is of the target, a switch is not recorded.
 *
 * A TASK record stands before the first SWITCH, FORK, EXEC or RUNNING that has the task's id in
 * a generation, and wherever it changes its name; the idle task (id 0) and tasks outside the
 * target have none.
 *
 * A SAMPLE with GPROF_SAMPLE_REC_F_EVENT has the stack of the last word (OPERAND and
 * RUNNING are none) before it, and its time; tid is who runs. Where no word of the
 * generation stands before it, its word is in the generation before. A word whose
 * stack was lost has none behind it. Other SAMPLEs are those that the parameters' cpu
 * asked for; one of an NMI may stand between a word and what belongs to it. A TASK
 * record of a sample says no more than the name.
 */
#define GPROF_TRACE_SWITCH		1	/* tid: next; arg: TRACE_PREV_* | NOT_TARGET */
#define GPROF_TRACE_WAKING		2	/* tid: who is woken; arg: GPROF_TRACE_BY_* */
#define GPROF_TRACE_FORK		3	/* tid: child, which is runnable from now on */
#define GPROF_TRACE_EXEC		4	/* tid: who; OPERAND: its id before, 0: unknown */
#define GPROF_TRACE_EXIT		5	/* tid: who; it runs on until a switch */
#define GPROF_TRACE_RUNNING		6	/* tid: who; arg: NOT_TARGET or 0; no sample */
#define GPROF_TRACE_MIGRATE		7	/* tid: who; OPERAND: GPROF_TRACE_CPU_TO/FROM */
#define GPROF_TRACE_SYSCALL_ENTER	8	/* tid: number of the call; arg: 1: 32-bit */
#define GPROF_TRACE_SYSCALL_EXIT	9	/* tid: errno or 0 */
#define GPROF_TRACE_IRQ_ENTER		10	/* tid: number; arg: 1: vector of the CPU */
#define GPROF_TRACE_IRQ_EXIT		11	/* as ENTER */
#define GPROF_TRACE_SOFTIRQ_ENTER	12	/* tid: number */
#define GPROF_TRACE_SOFTIRQ_EXIT	13	/* as ENTER */
#define GPROF_TRACE_FAULT		14	/* arg: _FAULT_*; OPERAND: address / 4096 */
#define GPROF_TRACE_RECLAIM_BEGIN	15	/* arg: 1: for a cgroup's limit */
#define GPROF_TRACE_RECLAIM_END		16	/* as BEGIN */
#define GPROF_TRACE_COMPACT_BEGIN	17
#define GPROF_TRACE_COMPACT_END		18
#define GPROF_TRACE_FREQ		19	/* tid: CPU; OPERAND: kHz */
#define GPROF_TRACE_THROTTLE		20	/* a cgroup on this CPU; tid: whose, or 0 */
#define GPROF_TRACE_UNTHROTTLE		21	/* by this CPU, perhaps on another; tid: likewise */
#define GPROF_TRACE_OPERAND		31	/* of the word before: 54 bits, not tid, time */

#define GPROF_TRACE_ARG_BITS	4
#define GPROF_TRACE_TID_SHIFT	10
#define GPROF_TRACE_TIME_SHIFT	32
#define GPROF_TRACE_TIME_UNIT	64	/* ns */
#define GPROF_TRACE_OPERAND_SHIFT 10

/* arg of SWITCH: why the task before has stopped */
#define GPROF_TRACE_PREV_PREEMPTED	0	/* would go on */
#define GPROF_TRACE_PREV_YIELDED	1	/* ... but has asked for this: sched_yield() */
#define GPROF_TRACE_PREV_SLEEPS		2	/* waits; a signal would wake it, or it is idle */
#define GPROF_TRACE_PREV_BLOCKED	3	/* waits, uninterruptibly */
#define GPROF_TRACE_PREV_STOPPED	4	/* by a signal or a debugger */
#define GPROF_TRACE_PREV_DEAD		5
#define GPROF_TRACE_PREV_IDLE		6	/* the idle task */
#define GPROF_TRACE_PREV_OTHER		7	/* a task outside the target; or cannot be told */
#define GPROF_TRACE_NOT_TARGET		8	/* the next is one; tid is 0 */

/* arg of WAKING */
#define GPROF_TRACE_BY_TASK		0	/* by who runs on this CPU */
#define GPROF_TRACE_BY_SOFTIRQ		1
#define GPROF_TRACE_BY_IRQ		2

/* arg of FAULT */
#define GPROF_TRACE_FAULT_WRITE		1
#define GPROF_TRACE_FAULT_EXEC		2
#define GPROF_TRACE_FAULT_AGAIN		4	/* the second try of one that had to wait */

/* OPERAND of MIGRATE */
#define GPROF_TRACE_CPU_TO(operand)	((operand) & 0xffffffU)
#define GPROF_TRACE_CPU_FROM(operand)	((operand) >> 24 & 0xffffffU)

#endif /* _UAPI_LINUX_GPROF_H */
