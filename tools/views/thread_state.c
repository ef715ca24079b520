// SPDX-License-Identifier: GPL-2.0-only
/*
 * Why a thread waits, by where it is in the kernel.
 */
#include "thread_state.h"

#include <string.h>

#include "base/wait_words.h"
#include "cli/diag.h"

/* Functions that the scheduler may call as a thread stops. */
#define LEAVES_MAX	4

static const char *const names[NR_THREAD_STATES] = {
	[THREAD_CPU] = "cpu",
	[THREAD_RUNNABLE] = "runnable",
	[THREAD_THROTTLED] = "throttled",
	[THREAD_SLEEP] = GPROF_WORD_SLEEP,
	[THREAD_IO] = GPROF_WORD_IO,
	[THREAD_FUTEX] = GPROF_WORD_FUTEX,
	[THREAD_PIPE] = GPROF_WORD_PIPE,
	[THREAD_SOCKET] = GPROF_WORD_SOCKET,
	[THREAD_FILE] = GPROF_WORD_FILE,
	[THREAD_POLL] = GPROF_WORD_POLL,
	[THREAD_FAULT] = GPROF_WORD_FAULT,
	[THREAD_RECLAIM] = "reclaim",
	[THREAD_LOCK] = GPROF_WORD_LOCK,
	[THREAD_CHILD] = GPROF_WORD_CHILD,
	[THREAD_SIGNAL] = GPROF_WORD_SIGNAL,
	[THREAD_STOPPED] = GPROF_WORD_STOPPED,
	[THREAD_UNINTERRUPTIBLE] = GPROF_WORD_UNINTERRUPTIBLE,
	[THREAD_KERNEL] = GPROF_WORD_KERNEL,
	[THREAD_SYSCALL] = "syscall",
	[THREAD_CHAN] = "chan",
	[THREAD_SELECT] = "select",
	[THREAD_SYNC] = "sync",
	[THREAD_NETWORK] = "network",
	[THREAD_GC] = "gc",
	[THREAD_RUNTIME] = "runtime",
	[THREAD_OTHER] = GPROF_WORD_OTHER,
	[THREAD_NOT_RECORDED] = "untold",
	[THREAD_LOST] = "lost",
};

const char *thread_state_name(enum thread_state state)
{
	return names[state];
}

/* "*" in a name stands for anything, once. */
struct rule {
	const char *name;
	enum thread_state state;
};

/* A wait below these is on their behalf. */
static const struct rule outer[] = {
	{ "asm_exc_page_fault", THREAD_FAULT },
	{ "exc_page_fault", THREAD_FAULT },
	{ "do_user_addr_fault", THREAD_FAULT },
	{ "do_page_fault", THREAD_FAULT },
	{ "do_mem_abort", THREAD_FAULT },
	{ "handle_mm_fault", THREAD_FAULT },
	{ "handle_userfault", THREAD_FAULT },
	{ "try_to_free_pages", THREAD_RECLAIM },
	{ "try_to_free_mem_cgroup_pages", THREAD_RECLAIM },
	{ "try_to_compact_pages", THREAD_RECLAIM },
	{ "mem_cgroup_handle_over_high", THREAD_RECLAIM },
	{ "__mem_cgroup_handle_over_high", THREAD_RECLAIM },
	{ "throttle_direct_reclaim*", THREAD_RECLAIM },
};

static const struct rule inner[] = {
	{ "io_schedule*", THREAD_IO },
	{ "bit_wait_io*", THREAD_IO },
	{ "folio_wait*", THREAD_IO },
	{ "wait_on_page_bit*", THREAD_IO },
	{ "__wait_on_buffer", THREAD_IO },
	{ "submit_bio_wait", THREAD_IO },
	{ "blk_execute_rq", THREAD_IO },
	{ "blk_mq_get_tag", THREAD_IO },
	{ "blk_io_schedule", THREAD_IO },
	{ "rq_qos_wait", THREAD_IO },
	{ "__blkdev_direct_IO*", THREAD_IO },
	{ "blkdev_direct_IO*", THREAD_IO },
	{ "__iomap_dio_rw", THREAD_IO },
	{ "iomap_dio_rw", THREAD_IO },
	{ "jbd2_log_wait_commit", THREAD_IO },
	{ "jbd2_journal_commit_transaction", THREAD_IO },
	{ "wait_transaction_locked", THREAD_IO },
	{ "balance_dirty_pages*", THREAD_IO },
	{ "wb_wait_for_completion", THREAD_IO },
	{ "read_events", THREAD_IO },
	{ "io_cqring_wait", THREAD_IO },
	{ "p9_client_rpc", THREAD_IO },
	{ "p9_virtio_request", THREAD_IO },
	{ "nfs_wait_*", THREAD_IO },
	{ "rpc_wait_bit_killable", THREAD_IO },
	{ "request_wait_answer", THREAD_IO },
	{ "futex_*", THREAD_FUTEX },
	{ "__futex_*", THREAD_FUTEX },
	{ "do_futex", THREAD_FUTEX },
	{ "do_nanosleep", THREAD_SLEEP },
	{ "hrtimer_nanosleep", THREAD_SLEEP },
	{ "msleep*", THREAD_SLEEP },
	{ "usleep_range*", THREAD_SLEEP },
	{ "pipe_*", THREAD_PIPE },
	{ "anon_pipe_*", THREAD_PIPE },
	{ "fifo_open", THREAD_PIPE },
	{ "wait_for_partner", THREAD_PIPE },
	{ "splice_*", THREAD_PIPE },
	{ "unix_*", THREAD_SOCKET },
	{ "sock_*", THREAD_SOCKET },
	{ "sk_wait_data", THREAD_SOCKET },
	{ "sk_stream_wait_*", THREAD_SOCKET },
	{ "__skb_wait_for_more_packets", THREAD_SOCKET },
	{ "inet_csk_accept", THREAD_SOCKET },
	{ "inet_*connect", THREAD_SOCKET },
	{ "inet_wait_for_connect", THREAD_SOCKET },
	{ "tcp_*", THREAD_SOCKET },
	{ "udp_recvmsg", THREAD_SOCKET },
	{ "netlink_*", THREAD_SOCKET },
	{ "vsock_*", THREAD_SOCKET },
	{ "poll_schedule_timeout*", THREAD_POLL },
	{ "do_poll*", THREAD_POLL },
	{ "do_sys_poll", THREAD_POLL },
	{ "do_select", THREAD_POLL },
	{ "ep_poll", THREAD_POLL },
	{ "do_epoll_wait", THREAD_POLL },
	{ "do_wait", THREAD_CHILD },
	{ "__do_wait", THREAD_CHILD },
	{ "kernel_wait4", THREAD_CHILD },
	/* vfork's wait for its child has no frame of its own on some kernels. */
	{ "kernel_clone", THREAD_CHILD },
	{ "do_sigtimedwait*", THREAD_SIGNAL },
	{ "sigsuspend", THREAD_SIGNAL },
	{ "*_sys_rt_sigsuspend", THREAD_SIGNAL },
	{ "*_sys_pause", THREAD_SIGNAL },
	{ "__mutex_lock*", THREAD_LOCK },
	{ "mutex_lock*", THREAD_LOCK },
	{ "rwsem_down_*", THREAD_LOCK },
	{ "down_*", THREAD_LOCK },
	{ "__down*", THREAD_LOCK },
	{ "percpu_rwsem_wait", THREAD_LOCK },
	{ "__percpu_down_read", THREAD_LOCK },
	{ "rt_mutex_*", THREAD_LOCK },
	{ "__rt_mutex_*", THREAD_LOCK },
	{ "rtlock_*", THREAD_LOCK },
	{ "rt_spin_lock*", THREAD_LOCK },
	{ "do_signal_stop", THREAD_STOPPED },
	{ "ptrace_stop", THREAD_STOPPED },
	{ "do_jobctl_trap", THREAD_STOPPED },
	{ "kthread", THREAD_KERNEL },
};

/* By its call, where it is not told where in there; the second where it may be a disk. */
static const struct {
	const char *name;
	enum thread_state soon;
	enum thread_state late;
} calls[] = {
	{ "futex*", THREAD_FUTEX, THREAD_FUTEX },
	{ "nanosleep", THREAD_SLEEP, THREAD_SLEEP },
	{ "clock_nanosleep*", THREAD_SLEEP, THREAD_SLEEP },
	{ "poll", THREAD_POLL, THREAD_POLL },
	{ "ppoll*", THREAD_POLL, THREAD_POLL },
	{ "select", THREAD_POLL, THREAD_POLL },
	{ "pselect6*", THREAD_POLL, THREAD_POLL },
	{ "epoll_*wait*", THREAD_POLL, THREAD_POLL },
	{ "recv*", THREAD_UNINTERRUPTIBLE, THREAD_SOCKET },
	{ "send*", THREAD_UNINTERRUPTIBLE, THREAD_SOCKET },
	{ "accept*", THREAD_UNINTERRUPTIBLE, THREAD_SOCKET },
	{ "connect", THREAD_UNINTERRUPTIBLE, THREAD_SOCKET },
	{ "splice", THREAD_IO, THREAD_PIPE },
	{ "read*", THREAD_IO, THREAD_PIPE },
	{ "write*", THREAD_IO, THREAD_PIPE },
	{ "pread*", THREAD_IO, THREAD_OTHER },
	{ "pwrite*", THREAD_IO, THREAD_OTHER },
	{ "*sync", THREAD_IO, THREAD_OTHER },
	{ "sync_file_range", THREAD_IO, THREAD_OTHER },
	{ "msync", THREAD_IO, THREAD_OTHER },
	{ "io_getevents", THREAD_IO, THREAD_IO },
	{ "io_uring_enter", THREAD_IO, THREAD_IO },
	{ "open*", THREAD_IO, THREAD_PIPE },
	{ "getdents*", THREAD_IO, THREAD_OTHER },
	{ "execve*", THREAD_IO, THREAD_OTHER },
	{ "wait4", THREAD_CHILD, THREAD_CHILD },
	{ "waitid", THREAD_CHILD, THREAD_CHILD },
	{ "vfork", THREAD_CHILD, THREAD_CHILD },
	{ "rt_sigtimedwait*", THREAD_UNINTERRUPTIBLE, THREAD_SIGNAL },
	{ "rt_sigsuspend", THREAD_UNINTERRUPTIBLE, THREAD_SIGNAL },
	{ "pause", THREAD_UNINTERRUPTIBLE, THREAD_SIGNAL },
};

/* "*" stands for anything, once. */
static bool is_like(const char *name, const char *pattern)
{
	const char *star = strchr(pattern, '*');
	size_t len, head, tail;

	if (!star)
		return !strcmp(name, pattern);
	head = (size_t)(star - pattern);
	tail = strlen(star + 1);
	len = strlen(name);
	return len >= head + tail && !memcmp(name, pattern, head) &&
	       !memcmp(name + len - tail, star + 1, tail);
}

static enum thread_state match(const struct rule *rules, size_t nr, const char *name)
{
	for (size_t i = 0; i < nr; i++)
		if (is_like(name, rules[i].name))
			return rules[i].state;
	return THREAD_NOT_RECORDED;
}

/* A thread stops in it, or in its caller. */
static bool is_schedule(const char *name)
{
	return !strcmp(name, "__schedule") || !strcmp(name, "schedule") ||
	       !strcmp(name, "schedule_idle") || !strcmp(name, "preempt_schedule_common");
}

/* Of a stack that begins in the kernel: where a user's part of it does. */
static bool is_entry(const char *name)
{
	static const char *const entries[] = {
		"entry_SYSCALL_64*", "entry_SYSENTER_compat*", "entry_INT80_compat*",
		"do_syscall_64", "do_int80_syscall_32", "do_fast_syscall_32", "ret_from_fork*",
		"el0t_64_*", "el0t_32_*", "el0_svc*",
	};

	for (size_t i = 0; i < ARRAY_SIZE(entries); i++)
		if (is_like(name, entries[i]))
			return true;
	return false;
}

/* How many of the frames are the kernel's; all of them where it has no user. */
static size_t kernel_frames(const struct gprof_frame *frames, size_t nr)
{
	size_t i, fault = nr;

	for (i = 0; i < nr; i++) {
		if (is_entry(frames[i].function))
			return i + 1;
		/* The kernel's own fault lies within a call. */
		if (fault == nr && !strcmp(frames[i].function, "asm_exc_page_fault"))
			fault = i + 1;
	}
	return fault;
}

size_t thread_state_kernel_frames(const struct gprof_frame *frames, size_t nr)
{
	size_t begin = 0, kernel;

	while (begin < nr && begin < LEAVES_MAX && !is_schedule(frames[begin].function))
		begin++;
	if (begin == nr || begin == LEAVES_MAX)
		return 0;
	kernel = begin + kernel_frames(frames + begin, nr - begin);
	while (kernel < nr && is_entry(frames[kernel].function))
		kernel++;
	return kernel;
}

enum thread_state thread_state_of_stack(const struct gprof_frame *frames, size_t nr)
{
	size_t begin = 0, i;
	enum thread_state state;

	/* A user's function is no wait, with any name. */
	while (begin < nr && begin < LEAVES_MAX && !is_schedule(frames[begin].function))
		begin++;
	if (begin == nr || begin == LEAVES_MAX)
		return THREAD_NOT_RECORDED;
	nr = begin + kernel_frames(frames + begin, nr - begin);
	for (i = nr; i-- > begin;) {
		state = match(outer, ARRAY_SIZE(outer), frames[i].function);
		if (state != THREAD_NOT_RECORDED)
			return state;
	}
	for (i = begin; i < nr; i++) {
		state = match(inner, ARRAY_SIZE(inner), frames[i].function);
		if (state != THREAD_NOT_RECORDED)
			return state;
	}
	return THREAD_OTHER;
}

enum thread_state thread_state_of_call(const char *call, bool uninterruptible)
{
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		if (is_like(call, calls[i].name))
			return uninterruptible ? calls[i].soon : calls[i].late;
	return uninterruptible ? THREAD_UNINTERRUPTIBLE : THREAD_OTHER;
}

/* "sleep (sync)" and "uninterruptible sleep (sync)" are states of a wait for any reason. */
enum thread_state thread_state_of_reason(const char *text)
{
	static const char prefix[] = GPROF_WORD_UNINTERRUPTIBLE " ";
	bool blocked = !strncmp(text, prefix, sizeof(prefix) - 1);
	size_t len;

	text += blocked ? sizeof(prefix) - 1 : 0;
	if (blocked && *text == '(')
		return THREAD_UNINTERRUPTIBLE;
	len = strcspn(text, " ");
	for (size_t i = THREAD_SLEEP; i < THREAD_NOT_RECORDED; i++)
		if (!thread_state_is_go(i) && strlen(names[i]) == len && !memcmp(names[i], text, len) &&
		    (i != THREAD_SLEEP || !(blocked || text[len])))
			return i;
	return THREAD_NOT_RECORDED;
}

/* As Go's runtime words them, from 1.22 on. */
enum thread_state thread_state_of_go_reason(const char *text)
{
	static const struct rule reasons[] = {
		{ "sleep", THREAD_SLEEP },	{ "chan *", THREAD_CHAN },
		{ "select", THREAD_SELECT },	{ "sync*", THREAD_SYNC },
		{ "network", THREAD_NETWORK },	{ "GC background*", THREAD_RUNTIME },
		{ "GC *", THREAD_GC },		{ "wait until GC*", THREAD_GC },
		{ "system goroutine*", THREAD_RUNTIME },
		{ "", THREAD_NOT_RECORDED },	{ "unspecified", THREAD_NOT_RECORDED },
		{ "*", THREAD_OTHER },
	};

	return match(reasons, ARRAY_SIZE(reasons), text);
}

/* Of a goroutine that waits since before the trace: the innermost call that is known. */
enum thread_state thread_state_of_go_stack(const struct gprof_frame *frames, size_t nr)
{
	static const struct rule calls_of_go[] = {
		{ "time.Sleep", THREAD_SLEEP },		{ "runtime.chan*", THREAD_CHAN },
		{ "runtime.selectgo", THREAD_SELECT },	{ "sync.(*)*", THREAD_SYNC },
		{ "sync.runtime_*", THREAD_SYNC },	{ "internal/poll.runtime_poll*", THREAD_NETWORK },
		{ "runtime.gcBgMarkWorker", THREAD_GC }, { "runtime.bgs*", THREAD_RUNTIME },
		{ "runtime.forcegchelper", THREAD_RUNTIME }, { "runtime.runfin*", THREAD_RUNTIME },
	};
	enum thread_state state = THREAD_NOT_RECORDED;

	for (size_t i = 0; i < nr && state == THREAD_NOT_RECORDED; i++)
		state = match(calls_of_go, ARRAY_SIZE(calls_of_go), frames[i].function);
	return state;
}

enum thread_state thread_state_of_wait(enum thread_state stack, enum thread_state text)
{
	bool vague = stack == THREAD_OTHER || stack == THREAD_KERNEL ||
		     stack == THREAD_NOT_RECORDED;

	return vague && text != THREAD_NOT_RECORDED ? text : stack;
}
