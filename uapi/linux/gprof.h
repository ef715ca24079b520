/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * gprof: sampling recorders in the kernel, read through a mapping.
 *
 * DOC: the interface in one page
 *
 * open("/dev/gprof") gives one unconfigured recorder. close() of the file frees all that the
 * recorder owns. The calls, in order:
 *
 *	GPROF_IOC_INFO	read the kinds and features of this module (any time)
 *	GPROF_IOC_SETUP	give the recorder a kind, a target and rings (once)
 *	mmap		map the ring of each CPU (after SETUP)
 *	GPROF_IOC_TRIGGER	add a trigger (after SETUP, while not started)
 *	GPROF_IOC_START	attach to the target and record
 *	GPROF_IOC_TRIGGER_READ	read the oldest trigger event (after SETUP)
 *	GPROF_IOC_STATS	count samples produced, lost and overwritten (after SETUP)
 *	GPROF_IOC_RATE	change the rate, where the kind has one (after SETUP)
 *	GPROF_IOC_UNWIND_TABLE_ADD	add the unwind table of a file (after SETUP)
 *	GPROF_IOC_SELF_STACK	read the stack of the calling thread (any time)
 *	GPROF_IOC_ALLOC_REPORT	report an allocation or a free of the caller (any time)
 *	GPROF_IOC_ANNOTATE	report a region, a task or a log of the caller (any time)
 *	GPROF_IOC_STOP	detach; START may follow again
 *	close
 *
 * poll() reports EPOLLIN when a ring is half full: a reader that also reads a few times a second
 * then loses no record while it sleeps. With GPROF_STACK_F_TABLES poll() also reports EPOLLIN
 * when the rings have MAP records of a file without a table. In flight mode it reports EPOLLIN
 * only with GPROF_SETUP_F_WAKE, by the position that the reader writes. It reports EPOLLPRI after
 * an event (GPROF_STATS_EVENT_*), and while a trigger event waits for GPROF_IOC_TRIGGER_READ.
 *
 * Arguments. Every command takes a pointer to its struct, whose first member
 * is the size that the caller was compiled with. Later versions may append members:
 * an unknown tail must be zero, and no struct is longer than a page. The
 * command numbers carry no size, so that they do not change when a struct
 * grows; this differs from the usual _IOWR on purpose. The kernel writes the members
 * named out_*, on failure too. Reserved members and unknown flags must be zero.
 *
 * Errors, of all commands:
 *
 *	ENOTTY		unknown command
 *	E2BIG		bytes beyond the struct of this kernel are not 0
 *	EINVAL		size below the first published one, or a wrong value
 *	EOPNOTSUPP	a kind, flag or event that this kernel or CPU lacks
 *	ENOENT		the event or the kind does not exist here; there is no such table
 *	ESRCH		the target task does not exist (any more)
 *	ENODEV		the CPU does not exist, is offline, or has no ring
 *	EPERM		the caller lacks the privilege (see "Privilege")
 *	EBUSY		wrong state: SETUP twice, START while started, mmap before SETUP, ...;
 *			a process keeps its address space locked
 *	ENOSPC		the recorder has as many triggers, or tables, as it may have
 *	EAGAIN		TRIGGER_READ: no trigger event waits. SETUP, START, TRIGGER: users ask
 *			too often (see "Privilege"), or a real-time task keeps a CPU
 *	EINTR		a signal came while the call waited; nothing was done
 *	ENOMEM		no memory, or over RLIMIT_MEMLOCK
 *	EFAULT		a pointer that the kernel cannot read or write; nothing was done
 *
 * and out_reason (GPROF_REASON_*) names the argument.
 *
 * Privilege. Without CAP_PERFMON a recorder may have the owner's own tasks as its target (same
 * user and group ids, dumpable), it records in user mode only, it has no kernel addresses, and its
 * buffers are charged to RLIMIT_MEMLOCK. With CAP_PERFMON every target is allowed, and so are
 * kernel frames unless the kernel is locked down.
 * (Each user may pin 1 MiB per CPU beyond RLIMIT_MEMLOCK: the module parameter mlock_kb.)
 * All threads of a process must be the owner's own, at SETUP and at START. A task that
 * executes a set-user-ID program leaves the target of an unprivileged recorder, also while
 * START is under way.
 * A process that a target forks later is charged when it begins, with a few hundred bytes;
 * a process beyond the limit is left out, and counted as lost (NO_BUFFER). perf's own memory of
 * each counter, which differs between kernels, is not charged.
 * Where kernel.perf_event_paranoid is above 2, which in some kernels closes perf to
 * users, counters of perf need CAP_PERFMON here too; the timer is no counter of perf.
 * A task that a security module keeps the owner from tracing (ptrace(2)) is not the
 * owner's own. Users without CAP_PERFMON may cause work that interrupts every CPU at most ten
 * times a second, all of them together. SETUP and START of a software event of perf wait
 * for their turn, two seconds at most, and then fail (EAGAIN).
 *
 * Buffer. One ring per present CPU, in two mappings: the reader writes the first, and the module
 * writes the second:
 *
 *	GPROF_MMAP_TAIL(cpu)	one page, struct gprof_ring_tail; the only page
 *				that user space may write
 *	GPROF_MMAP_RING(cpu)	read-only: one page, struct gprof_ring_head, and
 *				the data, mapped twice in a row, so that no
 *				record wraps: length = page + 2 * data_size
 *
 * A recorder of a kind with live objects has one mapping for all CPUs:
 *
 *	GPROF_MMAP_OBJECTS		read-only: struct gprof_object_table_head, and a table of
 *				the live objects: length = one page, or all of it
 *
 * Every file has one more mapping, before SETUP too. Its page is the same for all files of a user;
 * the first user that maps it through a file is the user of that file:
 *
 *	GPROF_MMAP_ANNOTATED	read-only: one page, whose first __u32 is not 0 while a
 *				recorder may take GPROF_IOC_ANNOTATE of the user's tasks
 *
 * All need MAP_SHARED; PROT_EXEC and, except on the tail, PROT_WRITE give EPERM.
 * Positions (head, tail, oldest) count bytes since SETUP and never wrap; a
 * record at position p lies at data + (p & (data_size - 1)).
 *
 * Stream mode (default). The reader reads the records in [tail, head) and then writes tail.
 * A full ring drops the newest record, counts it by reason, and puts a LOST
 * record before the next record that fits.
 *
 * Flight mode (GPROF_SETUP_F_FLIGHT). The module overwrites the oldest generation as a whole;
 * the ring holds [oldest, head). A reader copies that while recording goes on,
 * reads oldest again, and discards its copy of the generations before it.
 *
 * In both modes: produced = read + lost + overwritten, counted in samples.
 *
 * Generations. A ring's data is a sequence of generations. Each begins with a
 * GENERATION record and can be read by itself: ids of stacks, and TASK and MAP
 * records, are valid in their generation, and the next one repeats them. In stream mode
 * a reader may keep TASK and MAP records for longer.
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
 * The object table. A SAMPLE with GPROF_SAMPLE_REC_F_OBJECT is of an object that the table can
 * hold: a slot of the table has the sample's word for as long as the object is live, and no slot
 * has it afterwards, since no slot ever has the same word twice. A reader with the samples thus
 * finds which of their objects are live, whatever the rings have lost; of objects whose samples
 * were lost the slots have the sizes. A reader reads a slot while the module may change it:
 *
 *	claim the slot      I	|	load-acquire live	H
 *	store live, not LIVE	|	read the rest
 *	write barrier       M	|	read barrier		J
 *	fill it			|	load live again
 *	store-release live  G	|
 *
 * G pairs with H, I and M with J: if both loads of live give the same word, the members that were
 * read between belong to it. A walk through all slots finds every object that is live from the
 * begin of the walk to its end, and no object that ended before its begin. At the end of an object
 * the module stores live without LIVE, and then time, which is greater than the begin: until the
 * slot has another object, whose sample then has that end (GPROF_SAMPLE_REC_F_ENDED). If the module
 * saw all ends, their number is added less removed of the head, which it counts a little later.
 *
 * Times are nanoseconds of CLOCK_MONOTONIC unless a comment names another clock. In arguments of
 * commands the ids of tasks and processes are those of the caller's pid namespace. In records
 * they are those of the namespace of the process that opened the device. A task without an id in
 * that namespace has id 0 there, and so has a task whose id is released: a thread releases its
 * id shortly before its end. Records may still name such a thread by its former id.
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

/* Recorder kinds; out_kinds of INFO has bit (1 << kind) for each that this module has. */
#define GPROF_KIND_CPU		1
#define GPROF_KIND_TRACEPOINT	2
#define GPROF_KIND_SCHED	3	/* no buffer */
#define GPROF_KIND_TRACE	4	/* records of one word */
#define GPROF_KIND_BLOCK	5
#define GPROF_KIND_MUTEX	6
#define GPROF_KIND_TASK		7
#define GPROF_KIND_ALLOC	8
#define GPROF_KIND_HEAP		9	/* with an object table */

/* The table of them: FN(KIND, name, parameters). */
#define GPROF_KINDS(FN)					\
	FN(CPU, cpu, gprof_cpu_params)			\
	FN(TRACEPOINT, tracepoint, gprof_tracepoint_params)\
	FN(SCHED, sched, gprof_sched_params)		\
	FN(TRACE, trace, gprof_trace_params)		\
	FN(BLOCK, block, gprof_block_params)		\
	FN(MUTEX, mutex, gprof_mutex_params)		\
	FN(TASK, task, gprof_task_params)		\
	FN(ALLOC, alloc, gprof_alloc_params)		\
	FN(HEAP, heap, gprof_alloc_params)

/* Types of targets; @id and @cpus of SETUP name the task, the cgroup or the CPUs. */
#define GPROF_TARGET_THREAD	1	/* id: thread id; this thread alone */
#define GPROF_TARGET_PROCESS	2	/* id: process id; its threads, and its descendants */
#define GPROF_TARGET_CGROUP	3	/* id: fd of a cgroup v2 directory; with its descendants */
#define GPROF_TARGET_CPUS	4	/* cpus: bitmap; every task on those CPUs */
#define GPROF_TARGET_SYSTEM	5	/* every task on every CPU */

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
#define GPROF_FEAT_TRACE_REASONS	(1ULL << 36)	/* GPROF_TRACE_F_REASONS */
#define GPROF_FEAT_OBJECT_ENDS		(1ULL << 37)	/* time of struct gprof_object_slot */

/**
 * struct gprof_info - argument of GPROF_IOC_INFO
 * @size: sizeof(struct gprof_info)
 * @flags: must be 0
 * @out_abi_version: GPROF_ABI_VERSION of the module
 * @out_nr_cpus: the numbers of all CPUs are below this
 * @out_kinds: bit mask of GPROF_KIND_*
 * @out_features: bit mask of GPROF_FEAT_*
 * @out_max_frames: most frames of either half (kernel, user) of a stack
 * @out_clock_id: clock of all times (CLOCK_MONOTONIC)
 * @out_default_buffer: bytes of data per CPU where SETUP asks for 0; a trace of a host has more, as
 *	its events and the memory are: out_data_size of SETUP
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
#define GPROF_SETUP_F_PARALLELISM	(1U << 3)	/* samples have the parallelism */
#define __GPROF_SETUP_F_ALL		0xfU

/*
 * GPROF_SETUP_F_PARALLELISM, of kinds CPU and TRACEPOINT: each sample has
 * GPROF_SAMPLE_REC_F_PARALLELISM, the number of CPUs that run tasks of the target at the
 * instant of the sample, in user or kernel mode, the sample's own CPU included. It is 1 or more,
 * and no more than the number of CPUs online. An idle CPU does not count, except the sample's own
 * where kind TRACEPOINT samples the idle task; GPROF_CPU_F_IDLE is refused (EINVAL). For a target
 * that is a process the recorder takes over 512 KiB of memory more, and takes no sample while
 * START or STOP is under way, since the running tasks are not known then.
 */

/* stack of struct gprof_setup; 0: samples without a stack */
#define GPROF_STACK_F_IP		(1U << 0)	/* the sampled instruction */
#define GPROF_STACK_F_KERNEL		(1U << 1)	/* kernel call chain */
#define GPROF_STACK_F_USER		(1U << 2)	/* user call chain */
#define GPROF_STACK_F_TABLES		(1U << 3)	/* USER by GPROF_IOC_UNWIND_TABLE_ADD */
#define GPROF_STACK_F_PYTHON		(1U << 4)	/* with TABLES: see struct gprof_python */
#define __GPROF_STACK_F_ALL		0x1fU

/* out_reason: the argument that an error is about */
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
#define GPROF_REASON_EXCLUDE		19	/* this event cannot leave out kernel mode */
#define GPROF_REASON_SLOWS_DENIED	20	/* it slows all tasks, and needs CAP_PERFMON */
#define GPROF_REASON_PARANOID		21	/* kernel.perf_event_paranoid: CAP_PERFMON */
#define GPROF_REASON_TRIGGER		22	/* this kernel, kind or target lacks the trigger */
#define GPROF_REASON_FILE		23	/* no regular file that is open for reading */
#define GPROF_REASON_TABLE		24	/* the table is not valid */
#define GPROF_REASON_TURN		25	/* users without CAP_PERFMON ask too often */
#define GPROF_REASON_MAP_LOCKED		26	/* a process keeps its address space locked */
#define GPROF_REASON_GRACE		27	/* PREEMPT_RT: a real-time task keeps a CPU */

/**
 * struct gprof_setup - argument of GPROF_IOC_SETUP
 * @size: sizeof(struct gprof_setup)
 * @flags: GPROF_SETUP_F_*
 * @kind: GPROF_KIND_*
 * @target: GPROF_TARGET_*
 * @id: thread id, process id or cgroup fd; else must be 0
 * @stack: GPROF_STACK_F_*
 * @cpus: pointer to a bitmap of __u64 words, bit n % 64 of word n / 64 is CPU n;
 *	for GPROF_TARGET_CPUS, else must be 0
 * @params: pointer to the kind's struct, whose size member is first
 * @cpus_size: bytes at @cpus, a multiple of 8, at most a page
 * @max_frames: most frames of either half, without a guessed caller;
 *	0: out_max_frames of INFO
 * @buffer_size: bytes of data per CPU, at least 4096 for any page size; the module rounds it up
 *	to a power of two and to the smallest ring; 0: default
 * @generation_ns: the module ends a generation after this time, 1 ms to 256 s; 0: one second
 * @out_data_size: bytes of data per CPU that the ring has
 * @out_nr_cpus: the numbers of all CPUs are below this; mmap for a CPU without a ring gives
 *	ENODEV
 * @out_reason: GPROF_REASON_*
 * @out_id: id of the recorder, for linux/gprof_netlink.h; no other recorder gets it
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

/* what of struct gprof_filter_step: the operand; @size is the size of this */
#define GPROF_FILTER_UNSIGNED	0	/* a number of 1, 2, 4 or 8 bytes at @offset */
#define GPROF_FILTER_SIGNED	1	/* likewise */
#define GPROF_FILTER_ARRAY	2	/* text of at most @size bytes at @offset */
#define GPROF_FILTER_TEXT	3	/* a __u32 at @offset: length << 16 | offset of text */
#define GPROF_FILTER_NEAR	4	/* likewise, but the offset counts from behind the __u32 */
#define GPROF_FILTER_CPU	5	/* the number of the CPU; @offset and @size are 0 */
#define GPROF_FILTER_COMM	6	/* text: the task's name; likewise */
#define __GPROF_FILTER_WHATS	7

/* how of struct gprof_filter_step: the comparison with @value; of text EQ, NE and GLOB */
#define GPROF_FILTER_EQ		0
#define GPROF_FILTER_NE		1
#define GPROF_FILTER_LT		2
#define GPROF_FILTER_LE		3
#define GPROF_FILTER_GT		4
#define GPROF_FILTER_GE		5
#define GPROF_FILTER_AND	6	/* the two have a bit in common */
#define GPROF_FILTER_GLOB	7	/* *, ?, [a-z], [!a-z] */
#define __GPROF_FILTER_HOWS	8

/* yes and no of struct gprof_filter_step: the filter ends with this result */
#define GPROF_FILTER_PASS	0xffffU
#define GPROF_FILTER_DROP	0xfffeU

/**
 * struct gprof_filter_step - one comparison of a filter
 * @what: GPROF_FILTER_UNSIGNED, ...
 * @how: GPROF_FILTER_EQ, ...
 * @offset: offset in the tracepoint's record, as its "format" file has it
 * @size: bytes there
 * @yes: next step if the comparison holds: the number of a later one, or PASS or DROP
 * @no: likewise if it does not hold
 * @__reserved: must be 0
 * @value: number; of text, offset of the operand in the filter's text
 * @length: of text, bytes; else 0
 * @__reserved2: must be 0
 *
 * No comparison holds for a field that lies beyond the end of its record.
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
 * @filter: pointer to struct gprof_filter_step; 0: every hit is an event
 * @filter_text: pointer to the text that steps compare with
 * @filter_steps: number of steps, at most GPROF_FILTER_STEPS_MAX
 * @filter_text_size: bytes at @filter_text, at most GPROF_FILTER_TEXT_MAX
 *
 * Needs CAP_PERFMON.
 *
 * With a filter a hit is an event if it passes the filter, and one event in @period becomes a
 * sample, at random; out_count of STATS is then unknown. An invalid filter gives EINVAL and
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
 * flags of struct gprof_sched_params. For every target, SYSCALLS and FAULTS slow
 * down every system call, or page fault, of every task on the host: they need
 * CAP_PERFMON. With STALL all CPUs share a counter, which each switch and each wake-up
 * of the target changes.
 */
#define GPROF_SCHED_F_SYSCALLS	(1U << 0)	/* count system calls */
#define GPROF_SCHED_F_FAULTS	(1U << 1)	/* count user page faults */
#define GPROF_SCHED_F_STALL	(1U << 2)	/* time in which at least one task waited */
#define __GPROF_SCHED_F_ALL	0x7U

/**
 * struct gprof_sched_params - parameters of GPROF_KIND_SCHED
 * @size: sizeof(struct gprof_sched_params)
 * @flags: GPROF_SCHED_F_*
 * @hz: delays to sample in a second; 0: none. GPROF_IOC_RATE changes it.
 * @__reserved: must be 0
 *
 * Scheduler statistics of a thread, a process, a cgroup or the system, read by
 * GPROF_CMD_SCHED_STATS_GET of linux/gprof_netlink.h. A process counts with all
 * threads that it has at START, and all that these fork from then on. There is
 * no ring: stack, max_frames, buffer_size, generation_ns and flags of SETUP
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
 * flags of struct gprof_trace_params: events to record besides those of the scheduler.
 * Each except ANNOTATIONS and REASONS slows down every task of the host, and needs CAP_PERFMON. The
 * module refuses a flag whose event the kernel lacks (EOPNOTSUPP, REASON_PARAMS), and does not set
 * its GPROF_FEAT_TRACE_*. ANNOTATIONS costs a system call for each annotation, in programs with
 * annotations alone: those of the owner's user, and of all users if the owner has CAP_PERFMON.
 */
#define GPROF_TRACE_F_SYSCALLS	(1U << 0)	/* system calls, begin and end */
#define GPROF_TRACE_F_IRQS	(1U << 1)	/* interrupts and softirqs, begin and end */
#define GPROF_TRACE_F_FAULTS	(1U << 2)	/* page faults of user code */
#define GPROF_TRACE_F_RECLAIM	(1U << 3)	/* direct reclaim, compaction, begin and end */
#define GPROF_TRACE_F_FREQ	(1U << 4)	/* changes of a CPU's frequency */
#define GPROF_TRACE_F_THROTTLE	(1U << 5)	/* a cgroup has used up its CPU time */
#define GPROF_TRACE_F_ANNOTATIONS (1U << 6)	/* annotations of programs, by GPROF_IOC_ANNOTATE */
#define GPROF_TRACE_F_REASONS	(1U << 7)	/* the reason of a wait: WAIT in place of SWITCH */
#define __GPROF_TRACE_F_ALL	0xffU

/*
 * stacks of struct gprof_trace_params: the events that have a stack, which is always that of the
 * task that runs on the CPU. SYSCALLS, FAULTS and RECLAIM need the flag of their group too
 * (EOPNOTSUPP, REASON_PARAMS).
 */
#define GPROF_TRACE_STACKS_SWITCH	(1U << 0)	/* of the stopped task, if of the target */
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
 * @min_us: leave out a system call, an interrupt, a softirq, a reclaim or a compaction that
 *	is shorter than this, in microseconds, and during which no other event of the trace
 *	happened; 0: record all. Not with @cpu (EINVAL)
 * @cpu: CPU samples of the same target in the same rings: the timer, or an event of the
 *	CPU's own counters (PERF_TYPE_HARDWARE, _HW_CACHE, _RAW; else REASON_EVENT). All of it
 *	is 0, its size too: no samples
 *
 * Switches, wake-ups, forks, execs, exits and migrations of a target, each as one or two
 * words in the ring; see GPROF_TRACE_SWITCH and the values behind it. stack of SETUP names the
 * parts of each stack: it must be 0 if @stacks and @cpu ask for no stack, and must not be 0 if
 * they do. The waker's stack is recorded if the waker may be recorded: it is of
 * the target, or the owner has CAP_PERFMON. This kind has no GPROF_SETUP_F_ON_EXEC
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
#define GPROF_BLOCK_F_WAKER	(1U << 0)	/* the stack of the task that ended the wait */
#define __GPROF_BLOCK_F_ALL	0x1U

/**
 * struct gprof_block_params - parameters of GPROF_KIND_BLOCK
 * @size: sizeof(struct gprof_block_params)
 * @flags: GPROF_BLOCK_F_*
 * @period: waits per sample; each is sampled with the same probability
 *
 * An event is a wait: a task gives its CPU away and is not runnable. The wait ends when
 * the task is woken; GPROF_WAIT_RUNNABLE_NS has the time from then until the task runs. A sample
 * has GPROF_SAMPLE_REC_F_VALUE (ns of the wait) and GPROF_SAMPLE_REC_F_WAIT. The module
 * takes it when the task runs again, with the stack in which the task waited. With WAKER the
 * module takes it when the wait ends: its task and stack are those of the waker. If an interrupt
 * ends the wait there are only kernel frames, and the task is 0. The task is 0 too, without a
 * stack, for a waker that may not be recorded: one outside the target of an owner without
 * CAP_PERFMON. With WAKER, waits that had no waker before STOP are left out.
 *
 * A wait under way at START or STOP counts with the part between the two, which
 * are out_started_ns and out_stopped_ns of STATS. A wait that goes on at STOP has its kernel
 * frames, and user frames if its task is of the process that calls STOP.
 * A task that waits on one of the CPUs of GPROF_TARGET_CPUS is assumed to have begun its
 * wait there, and so is a task that waits in a cgroup of GPROF_TARGET_CGROUP.
 *
 * There is room for the waits of 4096 tasks at least, and for four to eight times as many as
 * the target had threads at SETUP, 131072 at most. A sampled wait without room is a
 * GPROF_LOST_WAIT, and so is a wait at whose end the task may not be recorded any more.
 *
 * If a stop, the freezing of a cgroup or a debugger interrupts a call, and the kernel
 * restarts the call, there is one wait before and one after. If the call has a timeout the second
 * one may be in another call, restart_syscall(): OTHER.
 */
struct gprof_block_params {
	__u32 size;
	__u32 flags;
	__aligned_u64 period;
};

#define GPROF_BLOCK_PARAMS_SIZE_VER0	16

/* flags of struct gprof_mutex_params */
#define GPROF_MUTEX_F_WAITER	(1U << 0)	/* the stack of the task that waited */
#define GPROF_MUTEX_F_ADDR	(1U << 1)	/* record the address of the lock */
#define GPROF_MUTEX_F_KERNEL	(1U << 2)	/* locks of the kernel, not of user space */
#define GPROF_MUTEX_F_OWNER	(1U << 3)	/* with KERNEL: record the owner of the lock */
#define __GPROF_MUTEX_F_ALL	0xfU

/**
 * struct gprof_mutex_params - parameters of GPROF_KIND_MUTEX
 * @size: sizeof(struct gprof_mutex_params)
 * @flags: GPROF_MUTEX_F_*
 * @period: waits per sample; each is sampled with the same probability
 *
 * Waits in futex calls, as GPROF_KIND_BLOCK has them; GPROF_WAIT_LOCK has the type of the lock.
 * Task and stack of a sample are those of the task that released the lock, as with
 * GPROF_BLOCK_F_WAKER; a release that ends several waits has the samples of all of them. With
 * WAITER they are those of the waiter. A wait that ended by its timeout or a signal counts as
 * ended by the interrupt, or by the sender. With ADDR a sample has
 * GPROF_SAMPLE_REC_F_ADDR. A call with a timeout that the kernel restarted as
 * restart_syscall() is left out.
 *
 * With KERNEL the events are waits for locks of the kernel, asleep or spinning:
 * GPROF_WAIT_FOR_LOCK. The kernel has tracepoints at the begin and the end of such a wait, but
 * none that names the task that released the lock: KERNEL needs WAITER. A wait lasts from one
 * tracepoint to the other; waits under way at START or STOP are left out, and the time until the
 * task runs again is part of the wait. Needs CAP_PERFMON and GPROF_FEAT_KERNEL_LOCKS (5.19).
 * With OWNER, which needs KERNEL, a sample has GPROF_SAMPLE_REC_F_OWNER: the owner of the lock
 * when the wait began, if the lock itself has it: a mutex has, an rwsem that is locked for
 * writing, and an rt_mutex.
 */
struct gprof_mutex_params {
	__u32 size;
	__u32 flags;
	__aligned_u64 period;
};

#define GPROF_MUTEX_PARAMS_SIZE_VER0	16

/* flags of struct gprof_alloc_params: the types of memory, at least one */
#define GPROF_ALLOC_F_SLAB	(1U << 0)	/* the kernel's own: kmalloc() and slab caches */
#define GPROF_ALLOC_F_PAGES	(1U << 1)	/* the kernel's own: whole pages, but for slabs */
#define GPROF_ALLOC_F_PROGRAM	(1U << 2)	/* programs' own, by their reports; alone */
#define GPROF_ALLOC_F_KEEP	(1U << 3)	/* HEAP of PROGRAM: keep objects of ended ones */
#define GPROF_ALLOC_F_PROBES	(1U << 4)	/* programs' own, by probes; alone */
#define __GPROF_ALLOC_F_ALL	0x1FU

/* role of struct gprof_alloc_function: the arguments and the result of the function */
#define GPROF_ALLOC_FN_MALLOC		1	/* (bytes); returns the address */
#define GPROF_ALLOC_FN_CALLOC		2	/* (number, bytes); likewise */
#define GPROF_ALLOC_FN_REALLOC		3	/* (old, bytes); likewise, old is freed */
#define GPROF_ALLOC_FN_REALLOCARRAY	4	/* (old, number, bytes); likewise */
#define GPROF_ALLOC_FN_ALIGNED		5	/* (alignment, bytes); returns the address */
#define GPROF_ALLOC_FN_POSIX_MEMALIGN	6	/* (&address, alignment, bytes); returns 0 */
#define GPROF_ALLOC_FN_FREE		7	/* (old) */
#define GPROF_ALLOC_FN_LAST		7

#define GPROF_ALLOC_FUNCTIONS_MAX	64

/**
 * struct gprof_alloc_function - a function by which programs allocate or free memory
 * @fd: of its file, a regular one that is open for reading; may be closed after SETUP
 * @role: GPROF_ALLOC_FN_*
 * @offset: offset of its first instruction in that file, bytes
 *
 * The target has mapped that offset as private code that cannot be written (else EINVAL).
 * The module cannot check that an instruction begins there: a probe in the middle of one may end
 * the program.
 */
struct gprof_alloc_function {
	__s32 fd;
	__u32 role;
	__aligned_u64 offset;
};

#define GPROF_ALLOC_PERIOD_MAX	(1ULL << 40)
#define GPROF_ALLOC_SLOTS	65536		/* if slots is 0 */
#define GPROF_ALLOC_SLOTS_MAX	(1U << 22)

/**
 * struct gprof_alloc_params - parameters of GPROF_KIND_ALLOC and GPROF_KIND_HEAP
 * @size: sizeof(struct gprof_alloc_params)
 * @flags: GPROF_ALLOC_F_*
 * @period: bytes per sample: in each stretch of so many bytes, in the order of allocation, one
 *	byte is sampled, each with the same probability; an allocation is sampled if one of its
 *	bytes is. An allocation of @period bytes or more is always sampled, and is in no
 *	stretch. 1: each allocation is sampled
 * @slots: HEAP: the number of sampled allocations that may be live at once; 0:
 *	GPROF_ALLOC_SLOTS. The table has some more. ALLOC: must be 0
 * @__reserved: must be 0
 * @functions: with PROBES: pointer to struct gprof_alloc_function; else must be 0
 * @nr_functions: their number, 1 to GPROF_ALLOC_FUNCTIONS_MAX; else must be 0
 * @__reserved2: must be 0
 *
 * An event is an allocation, of the task that asks for it. A sample has
 * GPROF_SAMPLE_REC_F_VALUE: the bytes that the task asked for, or those of an object of the cache,
 * or those of the pages. Its weight is the number of allocations of the same size that it stands
 * for: on average @period for each of its sampled bytes, divided by its bytes, rounded up or down
 * at random; 1 for an allocation of @period bytes or more. An allocation in an interrupt has
 * no task: if the target is CPUs or the system it is of task 0, with the kernel's frames, else it
 * is left out. So are allocations for recorders in the module's own threads. Allocations in bulk
 * (kmem_cache_alloc_bulk(), alloc_pages_bulk(), among them the pages of vmalloc()) have no event in
 * the kernel, and no samples.
 *
 * HEAP: samples have GPROF_SAMPLE_REC_F_OBJECT if there was a free slot. An object is live until
 * any task frees it. At START no object is live; objects that are live at STOP stay so
 * in the table. Pages that are freed in parts end with the first part; an object that
 * the kernel moves to other pages is live no longer.
 *
 * Needs CAP_PERFMON, as it slows all tasks; HEAP needs GPROF_FEAT_OBJECTS.
 *
 * With PROGRAM the events are the target's own allocations in user space, as its programs report
 * them (GPROF_IOC_ALLOC_REPORT), with their user stack alone. It slows no other program, and needs
 * no more privilege than any recorder of that target does, nor GPROF_FEAT_OBJECTS. The objects of
 * a process end when it ends, or executes another program, and no other process runs
 * in its memory. They stay live with KEEP, if they belong to the process that is the
 * target and that ends, and in a kernel without CONFIG_MMU_NOTIFIER. Another process whose
 * end the module could not see, as it has more than 4096 mappings, has no live objects; the
 * module counts them (full of struct gprof_object_table_head).
 *
 * With PROBES (GPROF_FEAT_ALLOC_PROBES) the events are the same for a THREAD or PROCESS that runs
 * already (not with GPROF_SETUP_F_ON_EXEC), without a library loaded into it. In the memory of the
 * target's processes, and in no other, there are breakpoints at @functions and at their return
 * addresses, so that each call of them enters the kernel, sampled or not. A child inherits them
 * from its parent; another program that the target executes has them if it maps the same files.
 * Of nested calls the outermost one counts, once it has returned an address. A sample is
 * lost if its call never returns, or if there was no room to keep the call of its task. A call
 * that the task leaves by a jump ends when the next one begins at a higher stack address, or at
 * the same address in the same function. A failed resize ends the object at that address, although
 * it is still allocated; the module counts that (full of struct gprof_object_table_head). Needs
 * CAP_PERFMON, and excludes KEEP. START refuses a function that cannot be probed (EOPNOTSUPP), and
 * a file that was truncated (EINVAL). While START and STOP insert and remove the probes, each
 * process that has mapped one of the files waits a little, and the module waits for the mmap_lock
 * of each, as long as that is held: START of this kind has no time limit.
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
 * START takes one sample of each task that the target has at that moment, in any state, and
 * returns when all are in the rings. A sample has GPROF_SAMPLE_REC_F_STATE, and the stack of the
 * instant of its time. The module records nothing between START and STOP.
 * Of CPUs: the tasks that run there, or ran there last. out_attached is the number of
 * tasks. If a reader empties the rings meanwhile they may have the smallest size; a ring that
 * is not read for a second loses the samples that do not fit. The leaf alone (GPROF_STACK_F_IP
 * without another flag) is recorded only for tasks that run. This kind has no
 * GPROF_SETUP_F_ON_EXEC (EOPNOTSUPP).
 *
 * START uses the owner's share of one CPU: it returns once that share has paid for the cost of
 * the samples.
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
 * @out_attached: number of threads or CPUs with a counter; with GPROF_REASON_MAP_LOCKED the id of
 *	the process, in the caller's pid namespace, or 0
 * @out_reason: GPROF_REASON_*
 *
 * With GPROF_ALLOC_F_PROBES START waits for each process that maps the files, and no task can fork
 * meanwhile. START tests each process before: if one holds the lock of its address space for
 * 20 ms, or is not free within a second, START is refused (EBUSY). A signal ends the wait (EINTR);
 * the module then ends by itself the work that it has begun.
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
 * After it returns the module writes no further record, and all records are published. STOP and
 * close() return within two seconds in every case. If the kernel still uses the source's events
 * then, as beside a real-time task that keeps a CPU for itself, it frees them later. Until then
 * out_count of STATS is the count at the time of STOP; START, RATE and TRIGGER wait, or give
 * EINTR if a signal comes, and on PREEMPT_RT EAGAIN after 1.5 s without a grace period; and after
 * close() the memory stays charged.
 */
struct gprof_stop {
	__u32 size;
	__u32 flags;
};

#define GPROF_STOP_SIZE_VER0	8

/*
 * Reasons of losses: index of out_lost and of struct gprof_lost_rec.lost. A
 * reader adds up all entries: an entry without a name here is a loss too.
 */
#define GPROF_LOST_FULL		0	/* stream mode: the reader was too slow */
#define GPROF_LOST_BAD_TAIL	1	/* the reader wrote an impossible tail */
#define GPROF_LOST_NESTED	2	/* interrupts nested deeper than the scratch memory */
/* a CPU that was not present at SETUP; a process forked before memory was ready: 1 for all */
#define GPROF_LOST_NO_BUFFER	3
/* a wait without an entry in the wait table: too many at once; or its stack could not be taken */
#define GPROF_LOST_WAIT		4
/* flight mode: annotations and new names of one user beyond its share of a generation */
#define GPROF_LOST_QUOTA	5
#define GPROF_LOST_NR		6	/* the number of those above */
#define GPROF_LOST_SLOTS	16	/* room for later ones, 0 until then */

#define GPROF_STATS_ALL_CPUS	(-1)

/*
 * Events of a recorder. poll() reports POLLPRI from then on until STATS is called,
 * and listeners of linux/gprof_netlink.h get a message; each event at most once a second.
 */
#define GPROF_STATS_EVENT_LOST		0	/* a sample was lost: see out_lost */
#define GPROF_STATS_EVENT_TARGET_GONE	1	/* the thread or process has ended */
#define GPROF_STATS_EVENT_NR		2

/**
 * struct gprof_stats - argument of GPROF_IOC_STATS
 * @size: sizeof(struct gprof_stats)
 * @flags: must be 0
 * @cpu: a CPU, or GPROF_STATS_ALL_CPUS for the sum
 * @out_cpus: number of CPUs with a ring that the counters cover
 * @out_produced: samples that the source produced
 * @out_lost: samples that were lost, by GPROF_LOST_*
 * @out_overwritten: samples in generations that were overwritten (flight mode)
 * @out_nmi: produced samples that were taken in NMI context
 * @out_irq: ... in interrupt context
 * @out_task: ... in task context
 * @out_throttled: times the kernel stopped a counter for interrupting too often
 * @out_maps_lost: readings of a process' mappings that ended at a MAP record that
 *	did not fit
 * @out_maps_missed: processes whose mappings were not read, or not all of them: the process
 *	ended before, or is another program's since an exec, it was locked for too long, it was
 *	read too often already, or it had so many mappings that reading them took too long
 * @out_count: events counted, whether sampled or not; 0 where the counters
 *	count more than the request: a cgroup on whole CPUs, whole CPUs
 *	without the idle task, a clock in user mode alone
 * @out_time_enabled: ns that counters were enabled, summed over counters
 * @out_time_running: ns of these that they really counted; less than enabled
 *	when the CPU has too few counters (multiplexing)
 * @out_started_ns: time of the last START, 0 before it
 * @out_stopped_ns: time of the last STOP, 0 while recording
 * @out_events: events since the last STATS: bit (1 << GPROF_STATS_EVENT_*) each
 * @out_events_dropped: events that reached no listener of linux/gprof_netlink.h
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
 * @hz: new value for hz of struct gprof_sched_params
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
 * what of struct gprof_trigger: its condition, on tasks of the target. The module does not
 * measure states that began before START. Each of the first five fires once for a wait,
 * a system call or a reclaim: at its end, or within a second if it goes on
 * for longer (GPROF_TRIGGER_EVENT_F_GOES_ON).
 */
#define GPROF_TRIGGER_DELAY		1	/* runnable, and not on a CPU, for threshold_ns */
#define GPROF_TRIGGER_OFF_CPU		2	/* off the CPU for threshold_ns; no kthread */
#define GPROF_TRIGGER_BLOCKED		3	/* in uninterruptible sleep for threshold_ns */
#define GPROF_TRIGGER_SYSCALL		4	/* number: of the call */
#define GPROF_TRIGGER_RECLAIM		5	/* direct, or for a cgroup's limit */
#define GPROF_TRIGGER_IRQ		6	/* number: of the interrupt; below -1: a vector */
#define GPROF_TRIGGER_SOFTIRQ		7	/* number: of the softirq */
#define GPROF_TRIGGER_SIGNAL		8	/* number: of the signal that ends a process */
#define GPROF_TRIGGER_TRACEPOINT	9	/* the task that runs hits it */
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
 * @threshold_ns: it fires for states that last longer. SIGNAL and TRACEPOINT: must be 0
 * @interval_ns: it fires at most once in this time; 0: one second
 * @number: number of the system call, interrupt, softirq or signal; GPROF_TRIGGER_ANY: each.
 *	For other conditions must be GPROF_TRIGGER_ANY. A vector of the CPU that is no
 *	interrupt with a number (amd64: the timer's) has its negative as its number. A system
 *	call of a 32-bit program has other numbers, and matches GPROF_TRIGGER_ANY alone
 * @out_index: index of the trigger: 0, 1 and so on, in the order in which they are set
 * @out_reason: GPROF_REASON_*
 * @name: TRACEPOINT: pointer to "CATEGORY:NAME"; else must be 0
 * @filter: TRACEPOINT: pointer to struct gprof_filter_step, see struct gprof_tracepoint_params:
 *	it fires for hits that pass. 0: for every hit; else must be 0
 * @filter_text: pointer to the text that steps compare with
 * @filter_steps: number of steps, at most GPROF_FILTER_STEPS_MAX
 * @filter_text_size: bytes at @filter_text, at most GPROF_FILTER_TEXT_MAX
 *
 * For GPROF_KIND_TRACE, set up and not started (EBUSY); triggers stay through STOP and
 * START. ENOSPC beyond GPROF_TRIGGERS_MAX. A condition that this kernel cannot evaluate
 * gives EOPNOTSUPP or ENOENT with REASON_TRIGGER. All but DELAY, OFF_CPU, BLOCKED and
 * SIGNAL slow down other tasks and need CAP_PERFMON (REASON_SLOWS_DENIED). An invalid filter
 * gives EINVAL with REASON_PARAMS; with a filter, tracepoints of system calls and of probes are
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
#define GPROF_TRIGGER_EVENT_F_GOES_ON	(1U << 0)	/* the state had not ended yet */
#define GPROF_TRIGGER_EVENT_F_UNMARKED	(1U << 1)	/* no room for a record in the ring */

#define GPROF_TRIGGER_EVENT_REQUEST	(~0U)	/* index: @tid asks for a snapshot */
#define GPROF_TRIGGER_EVENTS_MAX	16	/* trigger events that wait; more are suppressed */

/**
 * struct gprof_trigger_event - argument of GPROF_IOC_TRIGGER_READ: the oldest trigger event that
 *	has not been read yet
 * @size: sizeof(struct gprof_trigger_event)
 * @index: of the trigger, or GPROF_TRIGGER_EVENT_REQUEST
 * @time: CLOCK_MONOTONIC: the end of the state that lasted too long, or when the module saw it
 * @duration_ns: how long the state had lasted until then; 0: it has no duration
 * @tid: the task of the wait, call or reclaim; the task that the interrupt stopped; if a signal
 *	ends a process, the last of its threads to end. 0: it has no id, or no longer one, in
 *	the reader's pid namespace, of which all ids here are
 * @pid: process of @tid
 * @number: as in struct gprof_trigger: the number of this one
 * @cpu: CPU of the event; of a state that goes on, the CPU that @tid runs on, waits for, or
 *	ran on last
 * @flags: GPROF_TRIGGER_EVENT_F_*
 * @__reserved: 0
 * @comm: name of @tid
 * @fired: trigger events of this trigger up to this one
 * @suppressed: times that the condition held until now without a trigger event, because of the
 *	interval or because GPROF_TRIGGER_EVENTS_MAX trigger events waited
 * @untracked: waits, calls and reclaims of all triggers that were not measured, because
 *	there were too many tasks
 *
 * The kernel writes all but @size. EAGAIN: no trigger event waits; then @fired and @suppressed
 * are the sums of all triggers, and all else but @untracked is 0. Trigger events stay after STOP;
 * a START discards those that were not read, and counts from 0.
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
 * @table_size: its bytes; 0: only ask whether the file has a table. ENOENT: it has none
 * @out_bytes: bytes of all tables that the recorder shares
 * @out_tables: number of these tables
 * @__reserved: must be 0
 * @python: pointer to struct gprof_python, if the file has an interpreter; else 0
 *
 * For recorders that were set up with GPROF_STACK_F_TABLES, started or not (EBUSY). From then on
 * the table unwinds stacks in every process that maps the file as it is now; a write to the
 * file later takes its table away. Recorders of the same user with the same
 * privilege share tables. A table stays until the last of them is closed, and is charged
 * to the user that added it. The first table of a file stays; another one gives 0, and is ignored.
 * An inconsistent table gives EINVAL with REASON_TABLE.
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
#define GPROF_PYTHON_F_OWNER	(1U << 0)	/* @frame_mark is the owner of the frame */
#define __GPROF_PYTHON_F_ALL	0x1U

#define GPROF_PYTHON_OFFSET_MAX	(1U << 20)	/* of any member */
#define GPROF_PYTHON_NONE	0xffffffffU	/* there is no such member */

/**
 * struct gprof_python - where CPython's own frames lie in its memory
 * @size: sizeof(struct gprof_python)
 * @flags: GPROF_PYTHON_F_*
 * @runtime: address of _PyRuntime less that of the file's first byte, as its code is mapped
 * @interpreters: in _PyRuntime: the first interpreter; this and all members below are offsets
 * @interpreter_next: in an interpreter: the next one
 * @interpreter_threads: its first thread
 * @thread_next: in a thread: the next one
 * @thread_native_id: its id, as gettid() returns it
 * @thread_frame: its innermost frame, or the cframe that points to it
 * @cframe_frame: in a cframe: the innermost frame; GPROF_PYTHON_NONE: the thread points to that
 * @frame_code: in a frame: its code
 * @frame_previous: the frame of its caller
 * @frame_instr: its current instruction
 * @frame_mark: a byte; with OWNER: 3: it is no frame, but marks where C code called
 *	the interpreter. Else: not 0: C code called the frame
 * @code_instrs: in a code object: the first of its instructions, of two bytes each
 * @code_line: its first line, a 32-bit number
 * @code_filename: its file, a string
 * @code_name: its name
 * @code_qualname: its name, qualified by the names around it
 * @string_hash: in a string: its hash
 * @__reserved: must be 0
 *
 * With GPROF_STACK_F_PYTHON the user frames of a stack have, behind the leaf (and a guessed
 * caller), frames of the interpreter too, innermost first. Each is two words, whose high
 * bits no address has:
 *
 *	GPROF_PYTHON_FRAME	bits 0 to 44: address of the code object / 8; GPROF_PYTHON_AT:
 *				number of the instruction + 1, 0: none yet, all ones:
 *				unknown; GPROF_PYTHON_ENTRY: C code called the frame
 *	GPROF_PYTHON_CHECK	bits 0 to 60: gprof_python_check() of that object then
 *
 * The reader has to find their places among the frames of C code: the frames up to and including
 * one with ENTRY belong to one call of the interpreter. They come from the process' memory,
 * which the process may have written itself. Threads beyond the first 256 of a process have none;
 * see GPROF_STACK_REC_F_PYTHON.
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
 * gprof_python_check() of a code object's name (its hash), file and qualified name (their
 * addresses) and first line. If the value of the object that is read later at its address is
 * the same, that is the object that the frame had.
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
 * @frames: pointer to __u64, for the addresses
 * @max_frames: room there, 1 to out_max_frames of INFO
 * @skip: number of frames to leave out, next to the leaf; if there are no more, none is written
 * @out_frames: number of frames written
 * @out_flags: GPROF_STACK_REC_F_*, as in struct gprof_stack_rec
 * @out_exec_map_seq: stamp of the mappings, likewise
 * @out_reason: GPROF_REASON_*
 *
 * The user stack of the calling thread, leaf first, as in struct gprof_stack_rec: frame 0 is
 * the instruction behind the call, all others are return addresses. The whole stack may have
 * out_max_frames of INFO, skipped frames included; USER_CUT if it has frames behind the
 * written ones. It is no sample: the module writes no record, in any state of the recorder.
 *
 * The unwinder goes by frame pointers, and guesses no caller. So a function that has to be in the
 * stack needs a frame record when it makes the call; ioctl() of a C library has none. If the
 * recorder was set up with GPROF_STACK_F_TABLES the unwinder goes by the tables that the recorder
 * shares, and out_flags has TABLES.
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

/* what of struct gprof_alloc_report: the report */
#define GPROF_ALLOC_REPORT_ASK	0	/* none; the caller wants only out_period */
#define GPROF_ALLOC_REPORT_ALLOC	1	/* @bytes at @addr, sampled by @period */
#define GPROF_ALLOC_REPORT_FREE	2	/* the caller is about to free the object at @addr */
#define GPROF_ALLOC_REPORT_RESIZE	3	/* the object at @addr has @bytes left */

/* flags of struct gprof_alloc_report */
#define GPROF_ALLOC_REPORT_F_NO_ROOM	(1U << 0)	/* ALLOC: its end will not be reported */
#define __GPROF_ALLOC_REPORT_F_ALL	0x1U

/**
 * struct gprof_alloc_report - argument of GPROF_IOC_ALLOC_REPORT
 * @size: sizeof(struct gprof_alloc_report)
 * @what: GPROF_ALLOC_REPORT_*
 * @addr: address of the object, by which with @mm_id its end is found; not 0. ASK: 0
 * @mm_id: number of the address space of @addr: random, and another one in each address space
 * @bytes: ALLOC and RESIZE: 1 to 2^48 - 1; else 0
 * @period: ALLOC: the bytes that this sample stands for, by the caller's sampling: on average
 *	as many as the caller allocates for each of its samples; @bytes if these are more. At
 *	most twice GPROF_ALLOC_PERIOD_MAX; else 0
 * @pc: ALLOC: instruction of the allocating function at which the stack begins; 0: at the call
 * @sp: stack pointer there; 0 with @pc
 * @fp: frame pointer there
 * @out_period: bytes per sample for the caller to use: the fewest that a recorder of the caller
 *	asks for; 0: no recorder records the caller
 * @out_reason: GPROF_REASON_*
 * @flags: GPROF_ALLOC_REPORT_F_*
 *
 * For allocating programs: recorders with GPROF_ALLOC_F_PROGRAM and the caller as a target get a
 * sample. A recorder that asks for more bytes per sample than @period takes some of them, at
 * random; one that asks for fewer takes all, and each stands for @period bytes. A caller that
 * samples by out_period, as struct gprof_alloc_params describes, sets @period to that, once for
 * each byte that it has sampled.
 *
 * A forked process draws a new @mm_id, and does not report its parent's addresses any more.
 * A program with another's @mm_id could end the objects of that: each process keeps its @mm_id
 * secret. FREE of an address without a live object does nothing; so does ALLOC without a recorder.
 * An ALLOC at the address of a live object ends that object, which is counted (unseen of struct
 * gprof_object_table_head). The object of an ALLOC with NO_ROOM, for a program that has no memory
 * to remember it, is not live, which is counted too (full); nor is one of a process whose end the
 * module could not see (struct gprof_alloc_params).
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
#define GPROF_ANNOTATE_REGION_BEGIN	1	/* an activity of the thread, from now on */
#define GPROF_ANNOTATE_REGION_END	2
#define GPROF_ANNOTATE_TASK_BEGIN	3	/* work that several threads may do */
#define GPROF_ANNOTATE_TASK_END		4
#define GPROF_ANNOTATE_LOG		5	/* an instant */
#define __GPROF_ANNOTATE_WHATS		6

#define GPROF_ANNOTATE_NAME_MAX		128	/* bytes; the caller cuts off the rest */
#define GPROF_ANNOTATE_TEXT_MAX		512

/**
 * struct gprof_annotate - argument of GPROF_IOC_ANNOTATE
 * @size: sizeof(struct gprof_annotate)
 * @what: GPROF_ANNOTATE_*
 * @task: number that the process has given the task; 0: none, but for TASK_BEGIN
 *	and TASK_END
 * @parent: TASK_BEGIN: number of the task that this one is a part of, or 0; else 0
 * @name: pointer to the name of the region or task, or to the category of the log; not
 *	NUL-terminated. TASK_END: 0
 * @text: LOG: pointer to the message, likewise; else 0
 * @name_size: bytes at @name, at most GPROF_ANNOTATE_NAME_MAX
 * @text_size: bytes at @text, at most GPROF_ANNOTATE_TEXT_MAX
 * @out_recorders: number of recorders that it was for, those without room included
 * @out_reason: GPROF_REASON_*
 *
 * For traces with GPROF_TRACE_F_ANNOTATIONS and the caller in their target; each gets a
 * GPROF_REC_ANNOTATION. The module does not interpret the bytes. To keep room for the records of
 * other programs, a ring in stream mode takes annotations into its first half alone; beyond, they
 * are lost (FULL). In flight mode a generation is an eighth of the ring at most. The annotations of
 * one user in a generation, and the new names that its tasks take but by exec, fill an eighth of
 * that at most, and those of all users half of it; beyond, they are lost (QUOTA), a name until the
 * next generation. Users whose ids are equal modulo 16 have one share.
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

/* The recorder's object table, for kinds that have it; else ENODEV. */
#define GPROF_MMAP_OBJECTS	0x40000000ULL
/* The page of the user, for any file, also before SETUP. A child of the process inherits it. */
#define GPROF_MMAP_ANNOTATED	0x20000000ULL

/**
 * struct gprof_ring_tail - the page that the reader writes
 * @tail: position up to which the reader has read. In flight mode only poll() with
 *	GPROF_SETUP_F_WAKE uses it
 */
struct gprof_ring_tail {
	__aligned_u64 tail;
};

/**
 * struct gprof_ring_head - the first page of GPROF_MMAP_RING
 * @version: GPROF_ABI_VERSION
 * @header_size: bytes of this struct in the kernel's version
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
 *	always the start of a generation. In stream mode that of the generation before
 *	@generation, which exists if it is not further from @head than @data_size: with it a
 *	program can read, in a core dump, the records that the reader has already read
 * @produced: samples produced on this CPU
 * @lost: samples lost on this CPU, by reason
 * @overwritten: samples overwritten on this CPU
 *
 * The outermost producer publishes @head to @overwritten together; they
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
 * @header_size: bytes of this struct in the kernel's version
 * @slot_size: bytes from one slot to the next
 * @nr_slots: number of slots
 * @slots_offset: bytes from the start of this page to the first slot
 * @size: bytes of the whole mapping
 * @starts: changes before a START empties the table, and is odd until the table is empty
 * @added: objects that got a slot since the last START
 * @removed: ... that are live no longer
 * @full: sampled objects that got no slot, since the table was full, or the module could not see
 *	their ends; they are not among @added
 * @unseen: ends that the module did not see, as far as it has found out: of an object at whose
 *	address another one began, and while a probe was not called, which the module
 *	finds out at STOP
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
 * struct gprof_object_slot - an object that is live, or was
 * @live: the word of its sample; without GPROF_OBJECT_LIVE it is live no longer
 * @time: begin of the object, the sample's time; with GPROF_FEAT_OBJECT_ENDS its end once it is
 *	live no longer, 0: none is known
 * @value: of the sample, or less after a resize
 * @weight: of the sample
 */
struct gprof_object_slot {
	__aligned_u64 live;
	__aligned_u64 time;
	__aligned_u64 value;
	__aligned_u64 weight;
};

/* The word: number of the slot, whether it is live, and how often the slot was used. */
#define GPROF_OBJECT_SLOT(live)	((live) & 0xffffffU)
#define GPROF_OBJECT_LIVE	(1ULL << 24)
#define GPROF_OBJECT_SERIAL_SHIFT	25
#define GPROF_OBJECT_SERIAL(live)	((live) >> GPROF_OBJECT_SERIAL_SHIFT)

/*
 * Records. All are multiples of 8 bytes and 8-byte aligned. A reader skips
 * a record of an unknown type by its size: 8 when GPROF_REC_SHORT is set in type,
 * else @size. A size below 8 or beyond head means a corrupt ring.
 *
 * Records grow at their end. Behind an array whose length the record says (frames,
 * path, extra) there are members in the order of the flags that announce them, each
 * 8-byte aligned. A reader reads them up to the first whose flag is new to it, and ignores
 * the rest.
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
 * @weight: weight of a sample without GPROF_SAMPLE_REC_F_WEIGHT
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
 * @lost: number of losses since the last such record, by GPROF_LOST_*; as many reasons as
 *	fill @rec.size
 */
struct gprof_lost_rec {
	struct gprof_rec rec;
	__aligned_u64 lost[];
};

/**
 * struct gprof_process - one program run: differs after reuse of the pid and after exec
 * @pid: process id
 * @exec_id: number of execs of the task and of its ancestors
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
 * @process: the process that the task belongs to; if @tid is 0 all of it is 0, but for the idle
 *	task
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
 * CALLER: user frame 1 is a guess at the caller of frame 0, from the link
 * register (arm64, riscv64) or from the top of the stack (amd64), for the case that frame 0 had no
 * frame record at that instruction (a leaf function, a prologue). The guess is right
 * exactly when the unwind table at frame 0 says that the return address is
 * there (arm64: in x30; amd64: at CFA-8, with CFA = rsp + 8, or rsp + 16 with
 * CALLER_PUSHED; riscv64: in ra, and with CALLER_PUSHED whatever the table says,
 * since the code shows that the frame is not linked yet, or no longer); else the
 * reader must drop it.
 */
#define GPROF_STACK_REC_F_CALLER	(1U << 0)
#define GPROF_STACK_REC_F_CALLER_PUSHED	(1U << 1)
#define GPROF_STACK_REC_F_KERNEL_CUT	(1U << 2)	/* max_frames reached */
#define GPROF_STACK_REC_F_USER_CUT	(1U << 3)	/* max_frames, unreadable, or no frame */

/*
 * With GPROF_STACK_F_TABLES: where the unwinder stopped in the user's half. All but COMPLETE
 * have USER_CUT too.
 */
#define GPROF_STACK_REC_F_TABLES	(1U << 4)
#define GPROF_STACK_REC_END(flags)	((flags) >> 8 & 0xfU)
#define GPROF_STACK_REC_END_SHIFT	8
#define GPROF_STACK_END_COMPLETE	0	/* at the first function of the thread */
#define GPROF_STACK_END_MAX		1	/* at max_frames */
#define GPROF_STACK_END_UNREAD		2	/* code whose mapping has not been read (yet) */
#define GPROF_STACK_END_NO_TABLE	3	/* code of a file without a table, or of no file */
#define GPROF_STACK_END_NO_ROW		4	/* code without a row in its table */
#define GPROF_STACK_END_RULE		5	/* a rule that needs an unknown value */
#define GPROF_STACK_END_PAGE		6	/* a page of the stack that is not in memory */
#define GPROF_STACK_END_ADDRESS		7	/* the next is no frame, or no return address */
#define GPROF_STACK_END_MODE		8	/* no 64-bit code, or not the task's own memory */
#define GPROF_STACK_END_TIME		9	/* of the interrupt is up; without tables too */
#define GPROF_STACK_END_NR		10

/*
 * With GPROF_STACK_F_PYTHON: PYTHON: the thread runs an interpreter, whose frames are among those
 * of the user. PYTHON and CUT: the outermost ones are missing: there is no room for them, or the
 * module cannot read them, or they are no frames. CUT alone: the module does not know whether the
 * thread runs an interpreter.
 */
#define GPROF_STACK_REC_F_PYTHON	(1U << 5)
#define GPROF_STACK_REC_F_PYTHON_CUT	(1U << 6)

/*
 * With GPROF_STACK_F_TABLES: the unwinder guessed a frame of the user's half in code without a
 * rule, by the usual form of such code. The frame may be wrong, or its caller left out.
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
 *	the generation or to the next stack with that number; 0: none names it
 * @process: the process of the user addresses
 * @frames: leaf first; frame 0 of each half is the instruction itself where the
 *	sample was taken in that half, all others are return addresses. User
 *	frame 0 is always the instruction (or the return address from a
 *	syscall, which is as good). The frame that a signal has interrupted is its
 *	instruction plus 1, so that a reader looks it up as it does return addresses.
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
 * struct gprof_stack_delta_rec - GPROF_REC_STACK_DELTA: a stack with the outermost frames of
 *	another one
 * @rec: head; flags as those of struct gprof_stack_rec
 * @id: likewise
 * @suffix: number of the other stack, which came before in this generation
 * @nr_kernel: kernel frames, which come first
 * @nr_user: user frames behind them
 * @nr_shared: user frames behind those: the outermost of the other stack
 * @__reserved: 0
 * @frames: nr_kernel and nr_user, leaf first
 *
 * Process and stamp of the mappings are the other stack's.
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
#define GPROF_SAMPLE_REC_F_THROTTLED	(1U << 5)	/* the counter then stopped for a tick */
#define GPROF_SAMPLE_REC_F_VALUE	(1U << 6)	/* a __u64 value, after address */
#define GPROF_SAMPLE_REC_F_EVENT	(1U << 7)	/* the stack of a short record; no weight */
#define GPROF_SAMPLE_REC_F_WAIT		(1U << 8)	/* a __u64 GPROF_WAIT_*, after value */
#define GPROF_SAMPLE_REC_F_STATE	(1U << 9)	/* a struct gprof_task_state, behind */
#define GPROF_SAMPLE_REC_F_PARALLELISM	(1U << 10)	/* a __u64 number of tasks, after wait */
#define GPROF_SAMPLE_REC_F_OBJECT	(1U << 11)	/* a __u64 at the end: live of its slot */
#define GPROF_SAMPLE_REC_F_OWNER	(1U << 12)	/* a struct gprof_lock_owner, after that */
#define GPROF_SAMPLE_REC_F_ENDED	(1U << 13)	/* a __u64 after the object */

/**
 * struct gprof_sample_rec - GPROF_REC_SAMPLE
 * @rec: head
 * @time: ns
 * @tid: the task of the event
 * @stack: id of its stack; 0: none. Of older modules also the STACK or STACK_DELTA record with
 *	id 0 just before this one
 * @extra: members that the flags announce
 */
struct gprof_sample_rec {
	struct gprof_rec rec;
	__aligned_u64 time;
	__u32 tid;
	__u32 stack;
	__aligned_u64 extra[];
};

/**
 * struct gprof_lock_owner - the owner of a lock
 * @tid: thread id; 0: no task, or an unknown one
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
#define GPROF_TASK_DEAD		7	/* has ended, and was not waited for; no stack */
#define GPROF_TASK_OTHER	8

/* flags of struct gprof_task_state */
#define GPROF_TASK_F_AT_MOST	(1U << 0)	/* since_ns: or less */
#define GPROF_TASK_F_UNSTABLE	(1U << 1)	/* it ran at each attempt to read it: no stack */

/**
 * struct gprof_task_state - state of a task
 * @state: GPROF_TASK_*
 * @flags: GPROF_TASK_F_*
 * @__reserved: 0
 * @cpu: the CPU that it runs on, or ran on last
 * @since_ns: how long it had been in that state, without getting a CPU, or giving it away;
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
 * The word of GPROF_SAMPLE_REC_F_WAIT, from the lowest bit: 8 bits GPROF_WAIT_FOR_*, 4 bits
 * GPROF_WAIT_ENDED_*, 4 bits GPROF_WAIT_LOCK_*, 48 bits ns from the end of the wait until the
 * task ran again.
 */
#define GPROF_WAIT_FOR(wait)		((wait) & 0xff)
#define GPROF_WAIT_ENDED(wait)		((wait) >> 8 & 0xf)
#define GPROF_WAIT_LOCK_SHIFT		12
#define GPROF_WAIT_LOCK(wait)		((wait) >> GPROF_WAIT_LOCK_SHIFT & 0xf)
#define GPROF_WAIT_RUNNABLE_SHIFT	16
#define GPROF_WAIT_RUNNABLE_NS(wait)	((wait) >> GPROF_WAIT_RUNNABLE_SHIFT)

/*
 * Reasons of waits. The module does not distinguish the calls of 32-bit programs: OTHER. Nor the
 * waits of a task that ends, or writes a core file.
 */
#define GPROF_WAIT_FOR_OTHER	0
#define GPROF_WAIT_FOR_SLEEP	1	/* nanosleep() and the like */
#define GPROF_WAIT_FOR_IO	2	/* a disk: a wait that the kernel counts as I/O */
#define GPROF_WAIT_FOR_FUTEX	3
#define GPROF_WAIT_FOR_PIPE	4	/* a call on a pipe */
#define GPROF_WAIT_FOR_SOCKET	5	/* a call on a socket */
#define GPROF_WAIT_FOR_FILE	6	/* a call on any other file */
#define GPROF_WAIT_FOR_POLL	7	/* poll(), select(), epoll_wait() */
#define GPROF_WAIT_FOR_FAULT	8	/* in a page fault of user code */
#define GPROF_WAIT_FOR_BLOCKED	9	/* uninterruptible, and none of the above */
#define GPROF_WAIT_FOR_CHILD	10	/* wait4() and the like */
#define GPROF_WAIT_FOR_SIGNAL	11	/* pause(), sigtimedwait() and the like */
#define GPROF_WAIT_FOR_STOPPED	12	/* by a signal or a debugger, or frozen with its cgroup */
#define GPROF_WAIT_FOR_KERNEL	13	/* a thread of the kernel */
#define GPROF_WAIT_FOR_LOCK	14	/* a lock of the kernel */
#define GPROF_WAIT_FOR_NR	15

#define GPROF_WAIT_ENDED_UNKNOWN	0
#define GPROF_WAIT_ENDED_BY_TASK	1	/* the task of the stack */
#define GPROF_WAIT_ENDED_BY_SOFTIRQ	2
#define GPROF_WAIT_ENDED_BY_IRQ		3
#define GPROF_WAIT_ENDED_BY_NOT_TARGET	4
#define GPROF_WAIT_ENDED_NOT		5	/* it goes on at STOP */

/* Types of locks, of GPROF_KIND_MUTEX, as far as the call shows the type. */
#define GPROF_WAIT_LOCK_UNKNOWN		0
#define GPROF_WAIT_LOCK_PLAIN		1	/* FUTEX_WAIT, as glibc's mutexes use it */
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

/* A stamp of mappings has from this bit on the number of unmappings of code in MAP records. */
#define GPROF_EXEC_MAP_SEQ_UNMAPPED_SHIFT	16

/**
 * struct gprof_map_rec - GPROF_REC_MAP: one executable mapping of a process
 * @rec: head
 * @process: the process
 * @time: time of the reading, the same in all records of one reading
 * @start: first address
 * @end: address after the last
 * @offset: file offset of @start, bytes
 * @inode: inode number, 0 without a file
 * @dev_major: device of the file
 * @dev_minor: device of the file
 * @exec_map_seq: stamp: stacks with the same stamp were taken under these mappings. If only the
 *	bits from GPROF_EXEC_MAP_SEQ_UNMAPPED_SHIFT on are the same, the process may have mapped
 *	more code between, but has replaced none of this
 * @inode_generation: generation of the inode
 * @path: NUL-terminated and padded with NUL; "[vdso]", "//anon", "... (deleted)"
 *
 * Inode and device are those of the file whose bytes were mapped: on a stacked
 * file system (overlayfs) those of the layer below, which stat() does not return.
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
#define GPROF_MAP_FILE_F_DELETED	(1U << 0)	/* the kernel added " (deleted)" to path */
#define GPROF_MAP_FILE_F_UNREAD		(1U << 1)	/* the build-id was not in memory */

#define GPROF_BUILD_ID_SIZE		20

/**
 * struct gprof_map_file - identity of a mapped file
 * @file_size: bytes
 * @mtime_ns: time of the last write, ns since 1970
 * @flags: GPROF_MAP_FILE_F_*
 * @build_id_size: bytes of @build_id; 0: it has none, or F_UNREAD
 * @build_id: the build-id note, read from the pages that are mapped
 * @__reserved: 0
 *
 * Lies behind the path of a MAP record, from the next multiple of 8 bytes after
 * the path's NUL on, if its flags have GPROF_MAP_REC_F_FILE.
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
 * @tid: as in struct gprof_trigger_event
 *
 * Stands in the ring of the CPU that saw the event, behind all that happened before. Each trigger
 * event has one, but those with GPROF_TRIGGER_EVENT_F_UNMARKED; suppressed ones have none.
 */
struct gprof_trigger_rec {
	struct gprof_rec rec;
	__aligned_u64 time;
	__aligned_u64 duration_ns;
	__u32 index;
	__u32 tid;
};

/**
 * struct gprof_annotation_rec - GPROF_REC_ANNOTATION: an annotation of a program; a sample
 * @rec: head; flags: GPROF_ANNOTATE_*
 * @time: ns
 * @process: the process, which has given @task its number
 * @tid: its thread, the task that runs on the CPU
 * @name_size: bytes of the name, at most GPROF_ANNOTATE_NAME_MAX
 * @text_size: bytes of the text behind it, at most GPROF_ANNOTATE_TEXT_MAX
 * @task: as in struct gprof_annotate
 * @parent: likewise
 * @text: the name and the text as the program gave them, any bytes; padded with NUL
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
 * A word without a task is about the task that runs on the CPU of the ring: that of the
 * last SWITCH or RUNNING. RUNNING names the running task where a reader may not know it: at
 * START, as the first event of each generation, and as the first after lost ones. If
 * nothing was lost and RUNNING names another task than ran before, the CPU has been offline
 * since the event before. Every word but RUNNING and OPERAND is a sample.
 *
 * For a target made of tasks or a cgroup the ring names only its own tasks; all others are tasks
 * outside the target, and so is the idle task. For any target, tasks without an id in
 * the opener's pid namespace are outside the target. A switch between two tasks outside the target
 * is not recorded.
 *
 * A TASK record stands before the first SWITCH, FORK, EXEC or RUNNING that has the task's id in
 * a generation, and wherever the task changes its name; the idle task (id 0) and tasks outside the
 * target have none.
 *
 * A SAMPLE with GPROF_SAMPLE_REC_F_EVENT has the stack and the time of the last word before it
 * that is no OPERAND or RUNNING; tid is the running task. If no word of the
 * generation stands before it, its word is in the generation before. A word whose
 * stack was lost has no SAMPLE behind it. Other SAMPLEs are the CPU samples that the parameters'
 * cpu asked for; one of an NMI may stand between a word and its OPERAND or SAMPLE. A TASK
 * record of a sample has no more than the name.
 */
#define GPROF_TRACE_SWITCH		1	/* tid: next; arg: TRACE_PREV_* | NOT_TARGET */
#define GPROF_TRACE_WAKING		2	/* tid: the task woken; arg: GPROF_TRACE_BY_* */
#define GPROF_TRACE_FORK		3	/* tid: child, which is runnable from now on */
#define GPROF_TRACE_EXEC		4	/* tid: the task; OPERAND: id before, 0: unknown */
#define GPROF_TRACE_EXIT		5	/* tid: the task; it runs on until a switch */
#define GPROF_TRACE_RUNNING		6	/* tid: the task; arg: NOT_TARGET or 0; no sample */
#define GPROF_TRACE_MIGRATE		7	/* tid: the task; OPERAND: TRACE_CPU_TO/FROM */
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
#define GPROF_TRACE_THROTTLE		20	/* a cgroup on this CPU; tid: its queue's number */
#define GPROF_TRACE_UNTHROTTLE		21	/* by this CPU, perhaps of another; tid: likewise */
#define GPROF_TRACE_WAIT		24	/* + _WAIT_*; SWITCH from a task that waits */
#define GPROF_TRACE_OPERAND		31	/* of the word before: 54 bits, not tid, time */

#define GPROF_TRACE_ARG_BITS	4
#define GPROF_TRACE_TID_SHIFT	10
#define GPROF_TRACE_TIME_SHIFT	32
#define GPROF_TRACE_TIME_UNIT	64	/* ns */
#define GPROF_TRACE_OPERAND_SHIFT 10

/* arg of SWITCH: the reason for which the task before stopped */
#define GPROF_TRACE_PREV_PREEMPTED	0	/* was runnable */
#define GPROF_TRACE_PREV_YIELDED	1	/* ... but called sched_yield() */
#define GPROF_TRACE_PREV_SLEEPS		2	/* waits; a signal would wake it, or it is idle */
#define GPROF_TRACE_PREV_BLOCKED	3	/* waits, uninterruptibly */
#define GPROF_TRACE_PREV_STOPPED	4	/* by a signal or a debugger */
#define GPROF_TRACE_PREV_DEAD		5
#define GPROF_TRACE_PREV_IDLE		6	/* the idle task */
#define GPROF_TRACE_PREV_OTHER		7	/* a task outside the target; or unknown */
#define GPROF_TRACE_NOT_TARGET		8	/* the next task is outside; tid is 0 */

/* Bits of WAIT, which has the numbers up to 27. Its arg is the reason, GPROF_WAIT_FOR_* */
#define GPROF_TRACE_WAIT_BLOCKED	1	/* as PREV_BLOCKED; without: as PREV_SLEEPS */
#define GPROF_TRACE_WAIT_NOT_TARGET	2	/* as NOT_TARGET */

/* arg of WAKING */
#define GPROF_TRACE_BY_TASK		0	/* by the task that runs on this CPU */
#define GPROF_TRACE_BY_SOFTIRQ		1
#define GPROF_TRACE_BY_IRQ		2

/* arg of FAULT */
#define GPROF_TRACE_FAULT_WRITE		1
#define GPROF_TRACE_FAULT_EXEC		2
#define GPROF_TRACE_FAULT_AGAIN		4	/* the retry of a fault that had to wait */

/* OPERAND of MIGRATE */
#define GPROF_TRACE_CPU_TO(operand)	((operand) & 0xffffffU)
#define GPROF_TRACE_CPU_FROM(operand)	((operand) >> 24 & 0xffffffU)

#endif /* _UAPI_LINUX_GPROF_H */
