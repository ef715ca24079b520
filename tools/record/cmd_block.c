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
"Records waits of tasks, with their stacks and times, as a pprof profile. Its\n"
"values: contentions, the number of waits; delay, until the task was woken;\n"
"runnable, from then until it had a CPU. Samples are labelled with the reason of\n"
"the wait: sleep, io, futex, pipe, socket, file, poll, fault, uninterruptible,\n"
"child, signal, stopped, kernel, other.\n"
"\n"
"Waits under way at the begin or at the end count with their time within the\n"
"recording; those that go on at the end have the kernel's frames only.\n"
"\n"
"gprofctl exits with the command's status; 1 or 2: gprofctl itself failed, 127 or\n"
"126: the command did not start. Where samples were lost, and with -v, the last\n"
"line on stderr counts them: produced = read + lost + overwritten.",
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
