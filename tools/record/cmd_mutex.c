// SPDX-License-Identifier: GPL-2.0-only
/*
 * gprofctl mutex: tasks that release locks that others wait for, and the waiters.
 */
#include "cli/cmd.h"

#include <string.h>

#include "cli/diag.h"
#include "kinds.h"

static int set_waiter(void *ctx, const char *value)
{
	struct kinds *k = ctx;

	if (k->nr > 1)
		return misused("two outputs for waiters: %s and %s", k->files[1], value);
	if (!strcmp(k->kinds[0].kind, "kernel-lock"))
		return misused("--kernel-locks records the waiters already: it excludes --waiter");
	kinds_add(k, "mutex-waiter", value);
	return STATUS_OK;
}

static int set_kernel_locks(void *ctx, const char *value)
{
	struct kinds *k = ctx;

	(void)value;
	if (k->nr > 1)
		return misused("--kernel-locks records the waiters already: it excludes --waiter");
	k->kinds[0].kind = "kernel-lock";
	return STATUS_OK;
}

static const struct option_row rows[] = {
	{ 'o', "output", "FILE", "the profile (default: mutex.pb.gz); \"-\" is stdout",
	  kinds_set_output },
	{ 0, "waiter", "FILE", "a second profile: the stacks of the waiters", set_waiter },
	{ 0, "kernel-locks", NULL, "waiters for locks of the kernel instead", set_kernel_locks },
	KINDS_ROW_ADDR,
	KINDS_ROW_OWNER,
	KINDS_ROW_EVERY,
	KINDS_ROWS_KERNEL,
	KINDS_ROW_BUFFER,
	KINDS_ROW_TABLES,
	RECORD_DEBUGINFOD,
	{ 0 },
};

static const struct usage usage = {
	.name = "mutex",
	.synopsis = "[OPTIONS] " TARGET_SYNOPSIS,
	.text =
"Records the tasks that release contended locks as a pprof profile. The locks are\n"
"those of programs that wait in futex calls. Each wait counts once, with the\n"
"stack that ended it: a release has the waits of all its waiters. Its values:\n"
"contentions, the number of waits; delay, until the waiter was woken. Samples are\n"
"labelled with the type of the lock, as the call shows it: mutex, pi mutex,\n"
"condition (also semaphores, and waits with a timeout), many.\n"
"\n"
"With --kernel-locks, which needs CAP_PERFMON and Linux 5.19, it records waiters\n"
"for locks of the kernel, asleep or spinning, in place of releasing tasks. With\n"
"--lock-owner the labels owner and owner_comm name the owner of a mutex, an\n"
"rt_mutex, or an rwsem that is written, when the wait began. The label cgroup is\n"
"that of the sampled task.\n"
"\n"
"gprofctl exits with the command's status; 1 or 2: gprofctl itself failed, 127 or\n"
"126: the command did not start. Where samples were lost, and with -v, the last\n"
"line on stderr counts them: produced = read + lost + overwritten.",
	.examples =
"  gprofctl mutex -- ./server                           # locks that are held for too long\n"
"  gprofctl mutex -p 1234 -d 10 --waiter waiter.pb.gz   # and the waiters\n"
"  gprofctl mutex -a -d 10 --every 10 --addr            # the whole host, by lock\n"
"  gprofctl mutex -a -d 10 --kernel-locks --lock-owner  # the kernel's own",
};

int cmd_mutex(int argc, char **argv)
{
	struct kinds k = { 0 };

	kinds_add(&k, "mutex", "mutex.pb.gz");
	return kinds_record(&k, &usage, rows, argc, argv);
}
