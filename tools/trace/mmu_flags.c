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

/**
 * struct name - a word of --flags
 * @name: the word
 * @f: its meaning
 * @whose: kind of the functions
 * @go: for people: the cause in a trace of a Go program
 * @host: in one of a host, if it is something else
 */
static const struct name {
	const char *name;
	struct mmu_flags f;
	const char *whose;
	const char *go;
	const char *host;
} names[] = {
	{ "stw", { GPROF_UTIL_STW, false }, NULL, "stopping the world" },
	{ "background", { GPROF_UTIL_BACKGROUND, false }, NULL, "background collection" },
	{ "assist", { GPROF_UTIL_ASSIST, false }, NULL, "assists of the collector", "reclaim" },
	{ "sweep", { GPROF_UTIL_SWEEP, false }, NULL, "sweeping", "interrupts" },
	{ "perproc", { GPROF_UTIL_PER_PROC, false }, "processor" },
	{ "pertask", { GPROF_UTIL_PER_TASK, false }, "task", "waits for a CPU" },
	{ "perprocess", { GPROF_UTIL_PER_GROUP, true }, "process", "waits for a CPU" },
	{ "alltasks", { GPROF_UTIL_PER_GROUP, false }, NULL, "waits for a CPU" },
};

static bool has(const struct mmu_flags *f, const struct name *n)
{
	return n->f.flags & f->flags &&
	       (!(n->f.flags & WHOSE) || n->f.processes == f->processes);
}

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

	*f = (struct mmu_flags){ .given = true };
	while ((name = strsep(&rest, ",")) && status == STATUS_OK)
		if (*name)
			status = set_flag(f, name, value);
	free(copy);
	return status;
}

void mmu_flags_choose(struct mmu_flags *f, const struct gprof_trace_stats *st)
{
	if (!st->recorded) {
		f->flags = GPROF_UTIL_STW | GPROF_UTIL_BACKGROUND | GPROF_UTIL_ASSIST;
		return;
	}
	f->flags = GPROF_UTIL_PER_TASK;
	if (st->groups & GPROF_TRACE_GROUP_RECLAIM)
		f->flags |= GPROF_UTIL_ASSIST;
	if (st->groups & GPROF_TRACE_GROUP_IRQS)
		f->flags |= GPROF_UTIL_SWEEP;
}

char *mmu_flags_text(const struct mmu_flags *f, bool host)
{
	char *words = xprintf("%s", ""), *flags = xprintf("%s", ""), *text;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const struct name *n = &names[i];
		const char *word = host && n->host ? n->host : n->go;

		if (!has(f, n))
			continue;
		text = xprintf("%s%s%s", flags, *flags ? "," : "", n->name);
		free(flags);
		flags = text;
		if (!word)
			continue;
		text = xprintf("%s%s%s", words, *words ? ", " : "", word);
		free(words);
		words = text;
	}
	text = xprintf("%s (--flags %s)", *words ? words : "nothing", *flags ? flags : "''");
	free(words);
	free(flags);
	return text;
}

const char *mmu_flags_whose(const struct mmu_flags *f)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (names[i].f.flags & WHOSE && has(f, &names[i]))
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
