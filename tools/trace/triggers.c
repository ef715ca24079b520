// SPDX-License-Identifier: GPL-2.0-only
/*
 * Triggers as people write them.
 */
#include "triggers.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmd.h"
#include "cli/duration.h"
#include "cli/diag.h"
#include "cli/text.h"

/**
 * struct cause - a cause
 * @name: as it is written
 * @which: name of its argument, or NULL
 * @did: verb of the task, before how long; or its event
 */
static const struct cause {
	const char *name;
	const char *which;
	const char *did;
} causes[] = {
	[GPROF_CAUSE_REQUEST] = { "request", NULL, "asked for a snapshot" },
	[GPROF_CAUSE_DELAY] = { "delay", NULL, "could run, and had no CPU" },
	[GPROF_CAUSE_OFF_CPU] = { "off-cpu", NULL, "was off the CPU" },
	[GPROF_CAUSE_BLOCKED] = { "blocked", NULL, "slept uninterruptibly" },
	[GPROF_CAUSE_SYSCALL] = { "syscall", "a name or number", "was in the system call" },
	[GPROF_CAUSE_RECLAIM] = { "reclaim", NULL, "had to reclaim memory" },
	[GPROF_CAUSE_IRQ] = { "irq", "a number", "was interrupted by irq" },
	[GPROF_CAUSE_SOFTIRQ] = { "softirq", "a name or number", "was interrupted by softirq" },
	[GPROF_CAUSE_SIGNAL] = { "signal", "a name or number", "was ended by signal" },
	[GPROF_CAUSE_TRACEPOINT] = { "tracepoint", "CATEGORY:EVENT", "came to" },
};

#define NR_CAUSES	(sizeof(causes) / sizeof(*causes))

static bool lasts(enum gprof_flight_cause cause)
{
	return cause != GPROF_CAUSE_SIGNAL && cause != GPROF_CAUSE_TRACEPOINT;
}

static int find_cause(const char *name, size_t len, enum gprof_flight_cause *cause)
{
	size_t i;

	for (i = GPROF_CAUSE_DELAY; i < NR_CAUSES; i++) {
		if (strlen(causes[i].name) == len && !memcmp(name, causes[i].name, len)) {
			*cause = (enum gprof_flight_cause)i;
			return STATUS_OK;
		}
	}
	return misused("there is no trigger \"%.*s\"; there are delay, off-cpu, blocked, syscall, "
		       "reclaim, irq, softirq, signal and tracepoint", (int)len, name);
}

/* "syscall:read", "irq:24", "irq:-236" */
static int parse_which(struct gprof_flight_trigger *t, const char *which)
{
	const struct cause *c = &causes[t->cause];
	long number;
	char *end;

	if (!c->which)
		return misused("trigger %s has no \":%s\"", c->name, which);
	errno = 0;
	number = strtol(which, &end, 10);
	if (*which && !*end && !errno && number > -100000 && number < 100000) {
		/* Which stands for any. */
		if (number == -1)
			return misused("trigger %s has no number -1", c->name);
		t->number = (int)number;
	} else if (!*which || t->cause == GPROF_CAUSE_IRQ) {
		return misused("trigger %s wants %s after the colon, not \"%s\"", c->name, c->which,
			       which);
	} else {
		t->name = xprintf("%s", which);
	}
	return STATUS_OK;
}

static int parse_time(const struct cause *c, const char *what, const char *text, uint64_t *ns)
{
	int64_t value;

	if (!duration_parse(text, &value) || value <= 0)
		return misused("trigger %s: %s is a time such as 5ms, not \"%s\"", c->name, what, text);
	*ns = (uint64_t)value;
	return STATUS_OK;
}

/*
 * "tracepoint:sched:sched_switch if prev_pid > 1", as ftrace's own triggers have it. Cuts it
 * off, for it may have any character that has a meaning here.
 */
static int cut_filter(struct gprof_flight_trigger *t, char *text)
{
	char *space = strpbrk(text, " \t"), *filter;

	if (!space)
		return STATUS_OK;
	filter = space + strspn(space, " \t");
	if (strncmp(filter, "if", 2) || !strchr(" \t", filter[2]))
		return misused("trigger %s: \"if FILTER\" may follow a tracepoint, and nothing else",
			       text);
	filter += 2;
	filter += strspn(filter, " \t");
	if (!*filter)
		return misused("trigger %s: there is no filter behind the if", text);
	*space = '\0';
	t->filter = xprintf("%s", filter);
	return STATUS_OK;
}

static int parse(struct gprof_flight_trigger *t, char *text)
{
	int status = cut_filter(t, text);
	char *interval, *longer, *which;

	if (status != STATUS_OK)
		return status;
	interval = strrchr(text, '/');
	longer = strchr(text, '>');
	if (interval)
		*interval++ = '\0';
	if (longer && (!interval || longer < interval))
		*longer++ = '\0';
	which = strchr(text, ':');
	if (which)
		*which++ = '\0';
	status = find_cause(text, strlen(text), &t->cause);
	if (status == STATUS_OK && which)
		status = parse_which(t, which);
	if (status != STATUS_OK)
		return status;
	if (t->filter && t->cause != GPROF_CAUSE_TRACEPOINT)
		return misused("trigger %s has no filter; a tracepoint has", causes[t->cause].name);
	if (!which && t->cause == GPROF_CAUSE_TRACEPOINT)
		return misused("which tracepoint? such as tracepoint:sched:sched_process_fork");
	if (!longer && lasts(t->cause))
		return misused("trigger %s wants a time, in quotes for the shell: '%s>5ms'",
			       causes[t->cause].name, causes[t->cause].name);
	if (longer && !lasts(t->cause))
		return misused("trigger %s happens, and does not last: no \">%s\"",
			       causes[t->cause].name, longer);
	if (longer)
		status = parse_time(&causes[t->cause], "what follows the >", longer, &t->longer_ns);
	if (status == STATUS_OK && interval)
		status = parse_time(&causes[t->cause], "what follows the /", interval,
				    &t->interval_ns);
	return status;
}

static void free_one(const struct gprof_flight_trigger *t)
{
	free((char *)t->name);
	free((char *)t->filter);
}

int triggers_add(struct triggers *t, const char *text)
{
	struct gprof_flight_trigger one = { .sz = sizeof(one), .number = -1 };
	char *copy;
	int status;

	if (t->nr == TRIGGERS_MAX)
		return misused("at most %d triggers; \"%s\" is one too many", TRIGGERS_MAX, text);
	copy = xprintf("%s", text);
	status = parse(&one, copy);
	free(copy);
	if (status == STATUS_OK)
		t->all[t->nr++] = one;
	else
		free_one(&one);
	return status;
}

void triggers_free(struct triggers *t)
{
	while (t->nr)
		free_one(&t->all[--t->nr]);
}

/* " read", " 24", or nothing */
static void put_which(const struct gprof_flight_fired *f, char text[64])
{
	const char *colon = strchr(f->trigger, ':');

	text[0] = '\0';
	if (f->cause == GPROF_CAUSE_TRACEPOINT && colon)
		snprintf(text, 64, " %s", colon + 1);
	else if (f->name)
		snprintf(text, 64, " %s%s", f->cause == GPROF_CAUSE_SIGNAL ? "SIG" : "", f->name);
	else if (causes[f->cause].which && f->number != -1)
		snprintf(text, 64, " %d", f->number);
}

const char *triggers_line(const struct gprof_flight_fired *f, char line[TRIGGER_LINE])
{
	char which[64], lasted[DURATION_TEXT], how_long[DURATION_TEXT + 32] = "";
	char *comm = text_safe(f->comm);	/* a task may have any name */

	put_which(f, which);
	if (f->duration_ns)
		snprintf(how_long, sizeof(how_long), " for %s%s",
			 duration_text((int64_t)f->duration_ns, lasted),
			 f->goes_on ? " so far" : "");
	snprintf(line, TRIGGER_LINE, "%s: %s (process %u, thread %u) %s%s%s, CPU %u%s", f->trigger,
		 comm, f->pid, f->tid, causes[f->cause].did, which, how_long, f->cpu,
		 f->unmarked ? " (the trace has no mark of it)" : "");
	free(comm);
	return line;
}
