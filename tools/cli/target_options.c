// SPDX-License-Identifier: GPL-2.0-only
/*
 * -p, -t, -G, -C, -a, COMMAND and -d.
 */
#include "target_options.h"

#include <stdlib.h>

#include "cmd.h"
#include "duration.h"
#include "diag.h"

static int choose(struct target *t, const char *option, enum gprof_target_type type)
{
	if (t->chosen)
		return misused("%s and %s exclude each other: a recording has one target",
			       t->chosen, option);
	t->chosen = option;
	t->gprof.type = type;
	return STATUS_OK;
}

static int choose_id(struct target *t, const char *option, enum gprof_target_type type,
		     const char *value)
{
	if (!parse_id(value, &t->gprof.id))
		return misused("%s wants the number of a %s, not \"%s\"", option,
			       type == GPROF_THREAD ? "thread" : "process", value);
	return choose(t, option, type);
}

static int set_pid(void *ctx, const char *value)
{
	return choose_id(ctx, "-p", GPROF_PROCESS, value);
}

static int set_tid(void *ctx, const char *value)
{
	return choose_id(ctx, "-t", GPROF_THREAD, value);
}

static int choose_name(struct target *t, const char *option, enum gprof_target_type type,
		       const char *value)
{
	t->gprof.name = value;
	return choose(t, option, type);
}

static int set_cgroup(void *ctx, const char *value)
{
	return choose_name(ctx, "-G", GPROF_CGROUP, value);
}

static int set_cpus(void *ctx, const char *value)
{
	return choose_name(ctx, "-C", GPROF_CPUS, value);
}

static int set_system(void *ctx, const char *value)
{
	(void)value;
	return choose(ctx, "-a", GPROF_SYSTEM);
}

static int set_duration(void *ctx, const char *value)
{
	struct target *t = ctx;
	int64_t ns;

	if (!duration_parse(value, &ns) || !ns)
		return misused("-d wants a time above 0, such as 10 (seconds) or 500ms, not \"%s\"",
			       value);
	t->duration_ns = ns;
	return STATUS_OK;
}

static int set_verbose(void *ctx, const char *value)
{
	(void)value;
	((struct target *)ctx)->verbose = true;
	return STATUS_OK;
}

#define WHOM(_process) \
	{ 'p', "pid", "PID", _process, set_pid }, \
	{ 't', "tid", "TID", "one thread alone", set_tid }, \
	{ 'G', "cgroup", "DIR", "a cgroup v2 directory, with all below it", set_cgroup }, \
	{ 'C', "cpus", "LIST", "everything on these CPUs, such as 0-3,6", set_cpus }, \
	{ 'a', "all", NULL, "the whole host", set_system }

#define DURATION \
	{ 'd', "duration", "TIME", "end after this time, such as 10 (seconds) or 500ms (default:\n" \
	  "with the process or the command, or at Ctrl-C). A command beside -p, -t, -G, -C or -a\n" \
	  "sets the duration alone", set_duration }

#define VERBOSE \
	{ 'v', "verbose", NULL, "print the counts at the end although nothing was lost", \
	  set_verbose }

#define PROCESS	"a process, its threads, and all that they fork from now on; children that\n" \
		"exist already are not recorded"

const struct option_row target_options[] = {
	WHOM(PROCESS),
	DURATION,
	{ 0 },
};

const struct option_row target_record_options[] = {
	WHOM(PROCESS),
	DURATION,
	VERBOSE,
	{ 0 },
};

/* -d is known, so that it can be refused by name. */
const struct option_row target_instant_options[] = {
	WHOM("a process, with all its threads"),
	{ 'd', "duration", "TIME", NULL, set_duration },
	VERBOSE,
	{ 0 },
};

int target_complete(struct target *target, char **operands, const char *name)
{
	if (operands[0]) {
		target->command = operands;
		if (!target->chosen) {
			target->is_command = true;
			target->chosen = "the command";
			target->gprof.type = GPROF_PROCESS;
		}
	}
	if (!target->chosen)
		return misused("nothing to record: give -p PID, -a, or a command, as in "
			       "gprofctl %s -- COMMAND; see gprofctl %s --help", name, name);
	return STATUS_OK;
}
