// SPDX-License-Identifier: GPL-2.0-only
/*
 * Options of gprofctl mmu --flags.
 */
#include "mmu_flags.h"

#include <stdlib.h>
#include <string.h>

#include <gprof/trace_record.h>

#include "cli/cmd.h"
#include "cli/options.h"
#include "cli/diag.h"

#define WHOSE	(GPROF_UTIL_PER_PROC | GPROF_UTIL_PER_TASK | GPROF_UTIL_PER_GROUP)

static const struct {
	const char *name;
	struct mmu_flags f;
	const char *whose;
} names[] = {
	{ "stw", { GPROF_UTIL_STW, false }, NULL },
	{ "background", { GPROF_UTIL_BACKGROUND, false }, NULL },
	{ "assist", { GPROF_UTIL_ASSIST, false }, NULL },
	{ "sweep", { GPROF_UTIL_SWEEP, false }, NULL },
	{ "perproc", { GPROF_UTIL_PER_PROC, false }, "processor" },
	{ "pertask", { GPROF_UTIL_PER_TASK, false }, "task" },
	{ "perprocess", { GPROF_UTIL_PER_GROUP, true }, "process" },
	{ "alltasks", { GPROF_UTIL_PER_GROUP, false }, NULL },
};

static const char *flag_name(const void *ctx, size_t i)
{
	(void)ctx;
	return i < ARRAY_SIZE(names) ? names[i].name : NULL;
}

static int set_flag(struct mmu_flags *f, const char *name, const char *value)
{
	const char *meant;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const struct mmu_flags *one = &names[i].f;

		if (strcmp(name, names[i].name))
			continue;
		if (one->flags & WHOSE && f->flags & WHOSE &&
		    (one->flags != (f->flags & WHOSE) || one->processes != f->processes))
			return misused("--flags takes one of perproc, pertask, perprocess and "
				       "alltasks, not \"%s\"", value);
		f->flags |= one->flags;
		f->processes |= one->processes;
		return STATUS_OK;
	}
	meant = nearest(name, flag_name, NULL);
	if (meant)
		return misused("--flags: there is no \"%s\" in \"%s\"; did you mean %s?", name,
			       value, meant);
	return misused("--flags: there is no \"%s\"; there are stw, background, assist, sweep, "
		       "and perproc, pertask, perprocess or alltasks", name);
}

int mmu_flags_parse(struct mmu_flags *f, const char *value)
{
	char *copy = xprintf("%s", value), *rest = copy, *name;
	int status = STATUS_OK;

	*f = (struct mmu_flags){ 0 };
	while ((name = strsep(&rest, ",")) && status == STATUS_OK)
		if (*name)
			status = set_flag(f, name, value);
	free(copy);
	return status;
}

char *mmu_flags_text(const struct mmu_flags *f)
{
	char *text = xprintf("%s", "");

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		bool whose = names[i].f.flags & WHOSE;
		char *longer;

		if ((names[i].f.flags & f->flags) == 0 ||
		    (whose && names[i].f.processes != f->processes))
			continue;
		longer = xprintf("%s%s%s", text, *text ? ", " : "", names[i].name);
		free(text);
		text = longer;
	}
	return text;
}

const char *mmu_flags_whose(const struct mmu_flags *f)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (names[i].f.flags & WHOSE & f->flags && names[i].f.processes == f->processes)
			return names[i].whose;
	return NULL;
}

int mmu_flags_check(const struct mmu_flags *f, const struct gprof_trace_stats *st,
		    const char *file)
{
	if (f->processes && !st->gprof_version)
		return fail("%s is no trace of gprof: it lacks the processes of its tasks; --flags "
			    "alltasks takes all of them together", file);
	if (!st->recorded)
		return STATUS_OK;
	if (f->flags & GPROF_UTIL_ASSIST && !(st->groups & GPROF_TRACE_GROUP_RECLAIM))
		diag("%s was recorded without --reclaim, so that the time of reclaim (assist) is "
		     "missing; gprofctl trace --reclaim records it",
		     file);
	if (f->flags & GPROF_UTIL_SWEEP && !(st->groups & GPROF_TRACE_GROUP_IRQS))
		diag("%s was recorded without --irqs, so that the time of interrupts (sweep) is "
		     "missing; gprofctl trace --irqs records it",
		     file);
	if (!(f->flags & (GPROF_UTIL_PER_TASK | GPROF_UTIL_PER_GROUP)))
		diag("how long tasks waited for a CPU counts with --flags pertask, perprocess or "
		     "alltasks");
	return STATUS_OK;
}
