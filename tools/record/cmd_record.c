// SPDX-License-Identifier: GPL-2.0-only
/*
 * gprofctl record: several kinds of profiles of one run.
 */
#include "cli/cmd.h"

#include <stdlib.h>
#include <string.h>

#include "cli/diag.h"
#include "kinds.h"

static int set_kind(void *ctx, const char *value)
{
	struct kinds *k = ctx;
	unsigned long long rate = 0;
	char *name, *colon;

	if (k->nr == KINDS_MAX)
		return misused("more than %d kinds at once are too many", KINDS_MAX);
	name = xprintf("%s", value);
	kinds_add(k, name, NULL);
	colon = strchr(name, ':');
	if (colon) {
		*colon = '\0';
		if (!parse_count(colon + 1, &rate) || !rate)
			return misused("-e %s: the rate is a number above 0, such as %s:100", value,
				       name);
	}
	/* It will be the name of a file. */
	if (!*name || strchr(name, '/'))
		return misused("-e wants a kind of profile, such as block, not \"%s\"", value);
	for (size_t i = 0; i + 1 < k->nr; i++)
		if (!strcmp(k->kinds[i].kind, name))
			return misused("the kind %s is given twice", name);
	k->kinds[k->nr - 1].rate = rate;
	return STATUS_OK;
}

static int set_output(void *ctx, const char *value)
{
	struct kinds *k = ctx;
	const char **file = k->nr ? &k->files[k->nr - 1] : NULL;

	if (!file)
		return misused("-o %s stands before every -e: an -o belongs to the -e before it",
			       value);
	if (*file)
		return misused("two outputs, %s and %s, for one kind: an -o belongs to the -e "
			       "before it", *file, value);
	*file = xprintf("%s", value);
	return STATUS_OK;
}

static const struct option_row rows[] = {
	{ 'e', "kind", "KIND[:RATE]", "a kind of profile; may be repeated. RATE is samples per\n"
	  "second of CPU time for cpu (default: 100, of a command 999), bytes per sample for\n"
	  "memory (default: 524288), else one sample of so many (default: 1, all)", set_kind },
	{ 'o', "output", "FILE", "the profile of the -e before it (default: KIND.pb.gz);\n"
	  "\"-\" is stdout", set_output },
	KINDS_ROW_ADDR,
	KINDS_ROW_OWNER,
	KINDS_ROW_LATENCY,
	KINDS_ROWS_KERNEL,
	KINDS_ROW_BUFFER,
	KINDS_ROW_TABLES,
	RECORD_DEBUGINFOD,
	{ 0 },
};

#define PROFILE(_name, _number, _flags, _source, _every, _title, ...)	"  " _name ": " _title "\n"

static const struct usage usage = {
	.name = "record",
	.synopsis = "-e KIND[:RATE]... [OPTIONS] " TARGET_SYNOPSIS,
	.text =
"Records several kinds of profiles of one run, each into a file of its own, as\n"
"the subcommands of these kinds do one at a time. All of them begin before a\n"
"command and end after it; of a running target they begin and end one right after\n"
"the other. The kinds:\n"
#include "base/kinds.def"
"\n"
"gprofctl exits with the command's status; 1 or 2: gprofctl itself failed, 127 or\n"
"126: the command did not start. Where samples were lost, and with -v, lines on\n"
"stderr count those of each kind: produced = read + lost + overwritten.",
	.examples =
"  gprofctl record -e cpu:99 -e block -e mutex -- ./server   # cpu.pb.gz, block.pb.gz, ...\n"
"  gprofctl record -e block:10 -o b.pb.gz -e block-waker:10 -o w.pb.gz -p 1234 -d 10",
};

static int check(struct kinds *k)
{
	for (size_t i = 0; i < k->nr; i++)
		if (k->target.is_command && !strcmp(k->kinds[i].kind, "cpu") && !k->kinds[i].rate)
			k->kinds[i].rate = RECORD_COMMAND_HZ;
	return STATUS_OK;
}

int cmd_record(int argc, char **argv)
{
	static const struct record_words words = {
		.fewer = "a RATE that takes fewer samples",
		.more = "a RATE that takes more",
		.none = "there was nothing of the kind while the target was recorded, or less than RATE "
			"asks for; user-alloc and user-heap need libgprof-heap.so in the program, which "
			"a command alone is given",
	};
	struct kinds k = { .words = &words, .check = check };
	int status = kinds_record(&k, &usage, rows, argc, argv);

	for (size_t i = 0; i < k.nr; i++) {
		free((char *)k.kinds[i].kind);
		free((char *)k.files[i]);
	}
	return status;
}
