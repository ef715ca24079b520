// SPDX-License-Identifier: GPL-2.0-only
/*
 * gprofctl alloc, heap: what memory is allocated, and what of it is not freed.
 */
#include "cmd.h"

#include "kinds.h"
#include "say.h"

static int set_every(void *ctx, const char *value)
{
	struct kinds *k = ctx;
	unsigned long long bytes;

	if (!parse_size(value, &bytes) || !bytes)
		return misused("--every wants bytes, such as 64K, not \"%s\"", value);
	k->kinds[0].rate = bytes;
	return STATUS_OK;
}

static int set_of_user(void *ctx, const char *value)
{
	(void)ctx;
	(void)value;
	return fail("--user: what a program allocates itself cannot be recorded yet; --kernel "
		    "records what the kernel allocates for it");
}

/* A command's own allocations are what one would expect of one. */
static int check(const struct kinds *k)
{
	if (k->target.command && !k->kernel)
		return misused("what a command allocates itself cannot be recorded yet; --kernel "
			       "records what the kernel allocates for it");
	return STATUS_OK;
}

static const struct option_row rows[] = {
	{ 'o', "output", "FILE", "the profile (default: alloc.pb.gz or heap.pb.gz); \"-\" is stdout",
	  kinds_set_output },
	{ 0, "kernel", NULL, "what the kernel allocates: slab objects, pages (the default but\n"
	  "for a command, which wants it said)", kinds_set_kernel },
	{ 0, "user", NULL, "what programs allocate themselves: not there yet", set_of_user },
	{ 0, "every", "BYTES", "sample one byte of so many, by chance, and what it belongs to\n"
	  "(default: 512K; 1: all)", set_every },
	KINDS_ROW_BUFFER,
	KINDS_ROW_TABLES,
	RECORD_DEBUGINFOD,
	{ 0 },
};

static const struct record_words words = {
	.fewer = "a higher --every",
	.more = "a lower --every",
	.none = "nothing was allocated while it was recorded, or less than --every asks for",
};

static int run(const char *kind, const char *file, const struct usage *usage, int argc, char **argv)
{
	struct kinds k = { .words = &words, .check = check };

	kinds_add(&k, kind, file);
	return kinds_record(&k, usage, rows, argc, argv);
}

#define OF_WHAT									\
"Memory is what the kernel allocates for the target's tasks: objects of slab caches and\n" \
"of kmalloc(), with the bytes that were asked for, and pages, but not those that slabs\n" \
"are made of. Each is told where it was asked for, with the kernel's stack and the\n"	\
"program's. Of CPUs and the host, what interrupts allocate is told too, as of task 0.\n" \
"It slows all tasks a little, and needs CAP_PERFMON.\n"

#define STATUS									\
"\n"										\
"A command's exit status is passed on; 1 or 2 mean that gprofctl itself failed,\n" \
"127 or 126 that the command could not be run. The last line on stderr counts the\n" \
"samples: produced = read + lost + overwritten."

int cmd_alloc(int argc, char **argv)
{
	static const struct usage usage = {
		.name = "alloc",
		.synopsis = "[OPTIONS] " TARGET_SYNOPSIS,
		.text =
"Records where memory is allocated, and writes it as a pprof profile. Its values:\n"
"alloc_objects, and alloc_space in bytes.\n"
"\n"
OF_WHAT STATUS,
		.examples =
"  gprofctl alloc -p 1234 -d 10                 # what the kernel allocates for it\n"
"  gprofctl alloc --kernel -- make -j4          # for a command\n"
"  gprofctl alloc -a -d 10 --every 64K          # the whole host, in more detail",
	};

	return run("alloc", "alloc.pb.gz", &usage, argc, argv);
}

int cmd_heap(int argc, char **argv)
{
	static const struct usage usage = {
		.name = "heap",
		.synopsis = "[OPTIONS] " TARGET_SYNOPSIS,
		.text =
"Records what memory is allocated while it records, and what of that is not freed when\n"
"it ends, and writes both as a pprof profile. Its values: alloc_objects, alloc_space in\n"
"bytes; inuse_objects, inuse_space, which is what is shown first.\n"
"\n"
OF_WHAT
"Whoever frees it, and whatever the buffers lose, nothing that was freed is told as in\n"
"use, but for ends that the kernel does not tell, which a message counts. What was\n"
"allocated before is not known.\n"
STATUS,
		.examples =
"  gprofctl heap -p 1234 -d 60                  # what the kernel keeps for it\n"
"  gprofctl heap --kernel --every 1 -- ./a.out  # all of it, for a command\n"
"  gprofctl heap -a -d 60                       # the whole host",
	};

	return run("heap", "heap.pb.gz", &usage, argc, argv);
}
