// SPDX-License-Identifier: GPL-2.0-only
/*
 * gprofctl alloc, heap: allocated memory, and the part that is not freed.
 */
#include "cli/cmd.h"

#include <string.h>

#include "cli/diag.h"
#include "cli/duration.h"
#include "cli/output.h"
#include "heap_history.h"
#include "heap_text.h"
#include "kinds.h"

#define SLOTS_MAX	(1U << 22)

static const struct record_words words = {
	.fewer = "a higher --every",
	.more = "a lower --every",
	.none = "nothing was allocated while it was recorded, or less than --every asks for",
};

static const struct record_words words_of_user = {
	.fewer = "a higher --every",
	.more = "a lower --every",
	.none = "no program reported an allocation: less was allocated than --every asks for, or "
		"libgprof-heap.so was not loaded, or may not open /dev/gprof",
};

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
	(void)value;
	((struct kinds *)ctx)->of_user = true;
	return STATUS_OK;
}

static int set_probes(void *ctx, const char *value)
{
	struct kinds *k = ctx;

	(void)value;
	k->probes = k->of_user = true;
	k->flags |= GPROF_RECORD_PROBES;
	return STATUS_OK;
}

static int set_rows(void *ctx, const char *value)
{
	struct kinds *k = ctx;

	if (!parse_count(value, &k->rows) || !k->rows)
		return misused("-n wants a number of places above 0, not \"%s\"", value);
	return STATUS_OK;
}

static int set_leaks(void *ctx, const char *value)
{
	(void)value;
	((struct kinds *)ctx)->leaks = true;
	return STATUS_OK;
}

static int set_format(void *ctx, const char *value)
{
	struct kinds *k = ctx;

	k->text = !strcmp(value, "text");
	return k->text || !strcmp(value, "pprof") ? STATUS_OK :
	       misused("--format wants pprof or text, not \"%s\"", value);
}

static int set_slots(void *ctx, const char *value)
{
	struct kinds *k = ctx;

	if (!parse_count(value, &k->slots) || !k->slots || k->slots > SLOTS_MAX)
		return misused("--slots wants a number from 1 to %u, not \"%s\"", SLOTS_MAX, value);
	return STATUS_OK;
}

static int set_svg(void *ctx, const char *value)
{
	((struct kinds *)ctx)->svg = value;
	return STATUS_OK;
}

static int set_grown_since(void *ctx, const char *value)
{
	struct kinds *k = ctx;

	if (!duration_parse(value, &k->grown_since) || k->grown_since < 1000000 ||
	    k->grown_since / 1000000 > UINT32_MAX)
		return misused("--grown-since wants a time after the start, such as 10s, at least "
			       "1ms, not \"%s\"", value);
	return STATUS_OK;
}

static int show(void *ctx, struct gprof_recorder *r)
{
	const struct kinds *k = ctx;
	int status = STATUS_OK;

	if (k->over_time)
		status = heap_history(r, k->files[0], k->svg, k->grown_since);
	if (status != STATUS_OK || (!k->leaks && !k->text && !k->json))
		return status;
	return heap_text(k->files[0], strstr(k->kinds[0].kind, "heap") ? "heap" : "alloc", k->leaks,
			 k->rows, k->json);
}

static int check_text(struct kinds *k)
{
	k->after = show;
	if (!k->leaks && !k->text && !k->json)
		return STATUS_OK;
	if (k->json && k->text)
		return misused("--json and --format text exclude each other");
	if (k->leaks && k->text)
		return misused("--leaks and --format text exclude each other");
	if (!strcmp(k->files[0], "-"))
		return misused("%s goes to stdout, where the profile cannot go as well",
			       k->leaks ? "--leaks" : k->json ? "--json" : "--format text");
	return STATUS_OK;
}

static bool is_program(const struct kinds *k)
{
	return k->target.gprof.type == GPROF_PROCESS || k->target.gprof.type == GPROF_THREAD;
}

static int check_probes(const struct kinds *k)
{
	if (k->leaks)
		return misused("--uprobes and --leaks exclude each other");
	if (k->target.is_command || !is_program(k))
		return misused("--uprobes is about a program that runs already: it wants -p or -t");
	diag("--uprobes: until it ends, each malloc() of %d enters the kernel twice and each free() "
	     "once, sampled or not, which slows it many times over if it does little else",
	     k->target.gprof.id);
	return STATUS_OK;
}

/* Of a command one expects its own allocations. */
static int check(struct kinds *k)
{
	bool heap = !strcmp(k->kinds[0].kind, "heap");

	k->over_time = heap;
	if (k->of_user && k->kernel)
		return misused("--user and --kernel exclude each other");
	if (k->rows && (!k->leaks || k->json))
		return misused("-n is about the places that --leaks shows as text");
	if (k->leaks && (!k->target.is_command || k->kernel))
		return misused("--leaks is about what a command has not freed itself at its end: it "
			       "wants a command, and no --kernel");
	if (check_text(k) != STATUS_OK)
		return STATUS_USAGE;
	if (k->probes && check_probes(k) != STATUS_OK)
		return STATUS_USAGE;
	if (!k->kernel && !k->of_user && !k->target.is_command && is_program(k))
		diag("of what runs already this is the memory of the kernel for it; --uprobes has the "
		     "program's own, which slows it (--kernel leaves this line out)");
	if (k->kernel || (!k->of_user && !k->target.is_command))
		return STATUS_OK;
	k->kinds[0].kind = heap ? "user-heap" : "user-alloc";
	k->user_only = true;
	k->words = k->probes ? &words : &words_of_user;
	if (k->leaks && !k->kinds[0].rate)
		k->kinds[0].rate = 1;
	return STATUS_OK;
}

#define ROWS									\
	{ 'o', "output", "FILE", "the profile (default: alloc.pb.gz or heap.pb.gz); \"-\" is stdout", \
	  kinds_set_output },							\
	{ 0, "user", NULL, "allocations of programs themselves: the default for a command alone;\n" \
	  "of other targets, programs that run with the shim", set_of_user }, \
	{ 0, "uprobes", NULL, "the same of a program that runs already or is static (-p, -t), by\n" \
	  "probes: each call enters the kernel", set_probes }, \
	{ 0, "kernel", NULL, "allocations of the kernel: slab objects, pages (the default but\n" \
	  "for a command alone)", kinds_set_kernel },					\
	{ 0, "every", "BYTES", "sample one byte in BYTES at random, with its allocation\n" \
	  "(default: 512K; 1: all)", set_every },				\
	{ 0, "format", "FORMAT", "pprof, or text: also write Go's debug=1 form to stdout",	\
	  set_format },								\
	KINDS_ROW_BUFFER,							\
	KINDS_ROW_TABLES,							\
	RECORD_DEBUGINFOD

static const struct option_row alloc_rows[] = {
	ROWS,
	{ 0 },
};

static const struct option_row heap_rows[] = {
	{ 0, "leaks", NULL, "also write to stdout the memory that a command had not freed when it\n"
	  "ended, by place (--every defaults to 1)", set_leaks },
	{ 'n', "rows", "N", "places that --leaks shows (default: 25)", set_rows },
	{ 0, "slots", "N", "sampled objects in use at once, at most (default: 65536)",
	  set_slots },
	{ 0, "svg", "FILE", "draw the memory in use over time", set_svg },
	{ 0, "grown-since", "TIME", "also tell by how much the memory in use at the end is more\n"
	  "than it was TIME after the start, by place", set_grown_since },
	ROWS,
	{ 0 },
};

static int run(const char *kind, const char *file, const struct usage *usage, int argc, char **argv)
{
	struct kinds k = { .words = &words, .check = check, .reports = true };

	kinds_add(&k, kind, file);
	return kinds_record(&k, usage, strcmp(kind, "heap") ? alloc_rows : heap_rows, argc, argv);
}

#define OF_WHAT									\
"Of a command it records what its programs allocate themselves: malloc() and the\n" \
"like, C++'s operators, anonymous mappings. A shim (libgprof-heap.so, by\n" \
"LD_PRELOAD) samples these at little cost. Without the shim, and so not recorded,\n" \
"are static and set-user-ID programs, children that start without LD_PRELOAD, and\n" \
"allocators that a program contains itself.\n" \
"\n" \
"--uprobes records a program that runs already, or is static, by probes: malloc()\n" \
"and the like of all its allocators, but no mappings. Each call enters the\n" \
"kernel, sampled or not, which slows a program with many allocations many times\n" \
"over. C++'s operator new must not throw in an allocator that has one of its own\n" \
"(jemalloc, tcmalloc), or the program ends. It needs CAP_PERFMON.\n" \
"\n" \
"Else, and with --kernel, it records what the kernel allocates for the target's\n" \
"tasks: objects of slab caches and of kmalloc(), with the requested bytes, and\n" \
"pages, but not those of slabs. Samples have the stacks of the kernel and of the\n" \
"program. Of CPUs and the host, allocations of interrupts count too, as those of\n" \
"task 0. It slows all tasks a little, and needs CAP_PERFMON.\n"

#define STATUS									\
"\n" \
"gprofctl exits with the command's status; 1 or 2: gprofctl itself failed, 127 or\n" \
"126: the command did not start. Where samples were lost, and with -v, the last\n" \
"line on stderr counts them: produced = read + lost + overwritten."

int cmd_alloc(int argc, char **argv)
{
	static const struct usage usage = {
		.name = "alloc",
		.synopsis = "[OPTIONS] " TARGET_SYNOPSIS,
		.text =
"Records allocations of memory as a pprof profile. Its values: alloc_objects, and\n"
"alloc_space in bytes.\n"
"\n"
OF_WHAT STATUS,
		.examples =
"  gprofctl alloc -p 1234 -d 10                 # what the kernel allocates for it\n"
"  gprofctl alloc -- ./server                   # what a command allocates itself\n"
"  gprofctl alloc --uprobes -p 1234 -d 10       # what one that runs allocates itself\n"
"  gprofctl alloc --kernel -- make -j4          # what the kernel allocates for one\n"
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
"Records allocations of memory, and those that are not freed when the recording\n"
"ends, as a pprof profile. Its values: alloc_objects, alloc_space in bytes;\n"
"inuse_objects, inuse_space (shown first); peak_objects, peak_space: in use at the\n"
"moment of the most; temporary_objects: those that lived less than 1 ms.\n"
"\n"
OF_WHAT
"Freed memory never counts as in use, even if buffers lose records; a message\n"
"counts frees without an event of the kernel. Allocations from before the\n"
"recording are not in it. The memory of a process is in use until it ends, that\n"
"of the command itself also then.\n"
STATUS,
		.examples =
"  gprofctl heap -p 1234 -d 60                  # what the kernel keeps for it\n"
"  gprofctl heap --leaks -- ./a.out             # what a command never frees\n"
"  gprofctl heap --svg heap.svg -- ./a.out      # its peak, and a picture over time\n"
"  gprofctl heap --uprobes -p 1234 -d 60        # what a program that runs keeps\n"
"  gprofctl heap --kernel --every 1 -- ./a.out  # all of the kernel's, for a command\n"
"  gprofctl heap -a -d 60                       # the whole host",
	};

	return run("heap", "heap.pb.gz", &usage, argc, argv);
}
