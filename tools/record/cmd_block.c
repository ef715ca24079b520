// SPDX-License-Identifier: GPL-2.0-only
/*
 * gprofctl block: where tasks wait, and the tasks that end their waits.
 */
#include "cli/cmd.h"

#include "cli/diag.h"
#include "kinds.h"

static int set_waker(void *ctx, const char *value)
{
	struct kinds *k = ctx;

	if (k->nr > 1)
		return misused("two outputs for tasks that end waits: %s and %s", k->files[1], value);
	kinds_add(k, "block-waker", value);
	return STATUS_OK;
}

static const struct option_row rows[] = {
	{ 'o', "output", "FILE", "the profile (default: block.pb.gz); \"-\" is stdout",
	  kinds_set_output },
	{ 0, "waker", "FILE", "a second profile: the stacks of the tasks that ended the waits",
	  set_waker },
	KINDS_ROW_EVERY,
	KINDS_ROWS_KERNEL,
	KINDS_ROW_BUFFER,
	KINDS_ROW_TABLES,
	RECORD_DEBUGINFOD,
	{ 0 },
};

static const struct usage usage = {
	.name = "block",
	.synopsis = "[OPTIONS] " TARGET_SYNOPSIS,
	.text =
"Records where tasks give the CPU away because they cannot go on, and for how long,\n"
"and writes it as a pprof profile. Its values: contentions, the number of waits; delay,\n"
"until the task was woken; runnable, from then until it had a CPU. Samples are labelled\n"
"with the reason of the wait: sleep, io, futex, pipe, socket, file, poll, fault,\n"
"uninterruptible, child, signal, stopped, kernel, other.\n"
"\n"
"Waits that are under way at the begin or at the end count with what they lasted\n"
"meanwhile; those that go on at the end have the kernel's frames only.\n"
"\n"
"A command's exit status is passed on; 1 or 2 mean that gprofctl itself failed,\n"
"127 or 126 that the command could not be run. The last line on stderr counts the\n"
"samples: produced = read + lost + overwritten.",
	.examples =
"  gprofctl block -- make -j4                         # what a build waits for\n"
"  gprofctl block -p 1234 -d 10 --waker waker.pb.gz   # and who ends its waits\n"
"  gprofctl block -a -d 10 --every 100                # the whole host, one wait in 100",
};

int cmd_block(int argc, char **argv)
{
	struct kinds k = { 0 };

	kinds_add(&k, "block", "block.pb.gz");
	return kinds_record(&k, &usage, rows, argc, argv);
}
