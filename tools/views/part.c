// SPDX-License-Identifier: GPL-2.0-only
/*
 * Why a thread waits, by where it is in the kernel.
 */
#include "part.h"

#include <string.h>

#include "base/wait_words.h"
#include "cli/say.h"

/* What may be called by the scheduler as somebody stops. */
#define LEAVES_MAX	4

static const char *const names[NR_PARTS] = {
	[PART_CPU] = "cpu",
	[PART_RUNNABLE] = "runnable",
	[PART_THROTTLED] = "throttled",
	[PART_SLEEP] = GPROF_WORD_SLEEP,
	[PART_IO] = GPROF_WORD_IO,
	[PART_FUTEX] = GPROF_WORD_FUTEX,
	[PART_PIPE] = GPROF_WORD_PIPE,
	[PART_SOCKET] = GPROF_WORD_SOCKET,
	[PART_POLL] = GPROF_WORD_POLL,
	[PART_FAULT] = GPROF_WORD_FAULT,
	[PART_RECLAIM] = "reclaim",
	[PART_LOCK] = GPROF_WORD_LOCK,
	[PART_CHILD] = GPROF_WORD_CHILD,
	[PART_SIGNAL] = GPROF_WORD_SIGNAL,
	[PART_STOPPED] = GPROF_WORD_STOPPED,
	[PART_UNINTERRUPTIBLE] = GPROF_WORD_UNINTERRUPTIBLE,
	[PART_KERNEL] = GPROF_WORD_KERNEL,
	[PART_OTHER] = GPROF_WORD_OTHER,
	[PART_UNTOLD] = "untold",
	[PART_LOST] = "lost",
};

const char *part_name(enum part part)
{
	return names[part];
}

/* "*" in a name stands for anything, once. */
struct rule {
	const char *name;
	enum part part;
};

/* Whatever is waited for below these is waited for on their behalf. */
static const struct rule outer[] = {
	{ "asm_exc_page_fault", PART_FAULT },
	{ "exc_page_fault", PART_FAULT },
	{ "do_user_addr_fault", PART_FAULT },
	{ "do_page_fault", PART_FAULT },
	{ "do_mem_abort", PART_FAULT },
	{ "handle_mm_fault", PART_FAULT },
	{ "handle_userfault", PART_FAULT },
	{ "try_to_free_pages", PART_RECLAIM },
	{ "try_to_free_mem_cgroup_pages", PART_RECLAIM },
	{ "try_to_compact_pages", PART_RECLAIM },
	{ "mem_cgroup_handle_over_high", PART_RECLAIM },
	{ "__mem_cgroup_handle_over_high", PART_RECLAIM },
	{ "throttle_direct_reclaim*", PART_RECLAIM },
};

static const struct rule inner[] = {
	{ "io_schedule*", PART_IO },
	{ "bit_wait_io*", PART_IO },
	{ "folio_wait*", PART_IO },
	{ "wait_on_page_bit*", PART_IO },
	{ "__wait_on_buffer", PART_IO },
	{ "submit_bio_wait", PART_IO },
	{ "blk_execute_rq", PART_IO },
	{ "blk_mq_get_tag", PART_IO },
	{ "blk_io_schedule", PART_IO },
	{ "rq_qos_wait", PART_IO },
	{ "__blkdev_direct_IO*", PART_IO },
	{ "blkdev_direct_IO*", PART_IO },
	{ "__iomap_dio_rw", PART_IO },
	{ "iomap_dio_rw", PART_IO },
	{ "jbd2_log_wait_commit", PART_IO },
	{ "jbd2_journal_commit_transaction", PART_IO },
	{ "wait_transaction_locked", PART_IO },
	{ "balance_dirty_pages*", PART_IO },
	{ "wb_wait_for_completion", PART_IO },
	{ "read_events", PART_IO },
	{ "io_cqring_wait", PART_IO },
	{ "p9_client_rpc", PART_IO },
	{ "p9_virtio_request", PART_IO },
	{ "nfs_wait_*", PART_IO },
	{ "rpc_wait_bit_killable", PART_IO },
	{ "request_wait_answer", PART_IO },
	{ "futex_*", PART_FUTEX },
	{ "__futex_*", PART_FUTEX },
	{ "do_futex", PART_FUTEX },
	{ "do_nanosleep", PART_SLEEP },
	{ "hrtimer_nanosleep", PART_SLEEP },
	{ "msleep*", PART_SLEEP },
	{ "usleep_range*", PART_SLEEP },
	{ "pipe_*", PART_PIPE },
	{ "anon_pipe_*", PART_PIPE },
	{ "fifo_open", PART_PIPE },
	{ "wait_for_partner", PART_PIPE },
	{ "splice_*", PART_PIPE },
	{ "unix_*", PART_SOCKET },
	{ "sock_*", PART_SOCKET },
	{ "sk_wait_data", PART_SOCKET },
	{ "sk_stream_wait_*", PART_SOCKET },
	{ "__skb_wait_for_more_packets", PART_SOCKET },
	{ "inet_csk_accept", PART_SOCKET },
	{ "inet_*connect", PART_SOCKET },
	{ "inet_wait_for_connect", PART_SOCKET },
	{ "tcp_*", PART_SOCKET },
	{ "udp_recvmsg", PART_SOCKET },
	{ "netlink_*", PART_SOCKET },
	{ "vsock_*", PART_SOCKET },
	{ "poll_schedule_timeout*", PART_POLL },
	{ "do_poll*", PART_POLL },
	{ "do_sys_poll", PART_POLL },
	{ "do_select", PART_POLL },
	{ "ep_poll", PART_POLL },
	{ "do_epoll_wait", PART_POLL },
	{ "do_wait", PART_CHILD },
	{ "__do_wait", PART_CHILD },
	{ "kernel_wait4", PART_CHILD },
	/* vfork's wait for its child has no frame of its own on some kernels. */
	{ "kernel_clone", PART_CHILD },
	{ "do_sigtimedwait*", PART_SIGNAL },
	{ "sigsuspend", PART_SIGNAL },
	{ "*_sys_rt_sigsuspend", PART_SIGNAL },
	{ "*_sys_pause", PART_SIGNAL },
	{ "__mutex_lock*", PART_LOCK },
	{ "mutex_lock*", PART_LOCK },
	{ "rwsem_down_*", PART_LOCK },
	{ "down_*", PART_LOCK },
	{ "__down*", PART_LOCK },
	{ "percpu_rwsem_wait", PART_LOCK },
	{ "__percpu_down_read", PART_LOCK },
	{ "rt_mutex_*", PART_LOCK },
	{ "__rt_mutex_*", PART_LOCK },
	{ "rtlock_*", PART_LOCK },
	{ "rt_spin_lock*", PART_LOCK },
	{ "do_signal_stop", PART_STOPPED },
	{ "ptrace_stop", PART_STOPPED },
	{ "do_jobctl_trap", PART_STOPPED },
	{ "kthread", PART_KERNEL },
};

/* By its call, where it is not told where in there; the second where it may be a disk. */
static const struct {
	const char *name;
	enum part soon;
	enum part late;
} calls[] = {
	{ "futex*", PART_FUTEX, PART_FUTEX },
	{ "nanosleep", PART_SLEEP, PART_SLEEP },
	{ "clock_nanosleep*", PART_SLEEP, PART_SLEEP },
	{ "poll", PART_POLL, PART_POLL },
	{ "ppoll*", PART_POLL, PART_POLL },
	{ "select", PART_POLL, PART_POLL },
	{ "pselect6*", PART_POLL, PART_POLL },
	{ "epoll_*wait*", PART_POLL, PART_POLL },
	{ "recv*", PART_UNINTERRUPTIBLE, PART_SOCKET },
	{ "send*", PART_UNINTERRUPTIBLE, PART_SOCKET },
	{ "accept*", PART_UNINTERRUPTIBLE, PART_SOCKET },
	{ "connect", PART_UNINTERRUPTIBLE, PART_SOCKET },
	{ "splice", PART_IO, PART_PIPE },
	{ "read*", PART_IO, PART_PIPE },
	{ "write*", PART_IO, PART_PIPE },
	{ "pread*", PART_IO, PART_OTHER },
	{ "pwrite*", PART_IO, PART_OTHER },
	{ "*sync", PART_IO, PART_OTHER },
	{ "sync_file_range", PART_IO, PART_OTHER },
	{ "msync", PART_IO, PART_OTHER },
	{ "io_getevents", PART_IO, PART_IO },
	{ "io_uring_enter", PART_IO, PART_IO },
	{ "open*", PART_IO, PART_PIPE },
	{ "getdents*", PART_IO, PART_OTHER },
	{ "execve*", PART_IO, PART_OTHER },
	{ "wait4", PART_CHILD, PART_CHILD },
	{ "waitid", PART_CHILD, PART_CHILD },
	{ "vfork", PART_CHILD, PART_CHILD },
	{ "rt_sigtimedwait*", PART_UNINTERRUPTIBLE, PART_SIGNAL },
	{ "rt_sigsuspend", PART_UNINTERRUPTIBLE, PART_SIGNAL },
	{ "pause", PART_UNINTERRUPTIBLE, PART_SIGNAL },
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

static enum part match(const struct rule *rules, size_t nr, const char *name)
{
	for (size_t i = 0; i < nr; i++)
		if (is_like(name, rules[i].name))
			return rules[i].part;
	return PART_UNTOLD;
}

/* Who stops is there, or in what calls that. */
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

enum part part_of_stack(const struct gprof_frame *frames, size_t nr)
{
	size_t begin = 0, i;
	enum part part;

	/* A user's function is no wait, whatever its name. */
	while (begin < nr && begin < LEAVES_MAX && !is_schedule(frames[begin].function))
		begin++;
	if (begin == nr || begin == LEAVES_MAX)
		return PART_UNTOLD;
	nr = begin + kernel_frames(frames + begin, nr - begin);
	for (i = nr; i-- > begin;) {
		part = match(outer, ARRAY_SIZE(outer), frames[i].function);
		if (part != PART_UNTOLD)
			return part;
	}
	for (i = begin; i < nr; i++) {
		part = match(inner, ARRAY_SIZE(inner), frames[i].function);
		if (part != PART_UNTOLD)
			return part;
	}
	return PART_OTHER;
}

enum part part_of_call(const char *call, bool uninterruptible)
{
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		if (is_like(call, calls[i].name))
			return uninterruptible ? calls[i].soon : calls[i].late;
	return uninterruptible ? PART_UNINTERRUPTIBLE : PART_OTHER;
}
