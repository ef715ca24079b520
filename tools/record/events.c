// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names of events as other tools have them: see events.h.
 */
#include "events.h"

#include <ctype.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmd.h"
#include "cli/options.h"
#include "cli/diag.h"

/* How often an event happens in a second of a busy CPU of 2.4 GHz; 0: rarely. */
static const struct {
	const char *name;
	unsigned long long rate;
} names[] = {
	{ "timer", 0 },
	{ "cycles", 2400000000 },
	{ "instructions", 2400000000 },
	{ "cacheReferences", 100000000 },
	{ "cacheMisses", 20000000 },
	{ "branches", 500000000 },
	{ "branchMisses", 20000000 },
	{ "page-faults", 0 },
	{ "minor-faults", 0 },
	{ "major-faults", 0 },
	{ "context-switches", 0 },
	{ "cpu-migrations", 0 },
	{ "alignment-faults", 0 },
	{ "emulation-faults", 0 },
};

#define RATE_OTHER	1000000000ULL	/* of an event that nothing is known of */

static const struct {
	const char *perf;
	const char *name;
} aliases[] = {
	{ "cpu-cycles", "cycles" },
	{ "cache-references", "cacheReferences" },
	{ "cache-misses", "cacheMisses" },
	{ "branch-instructions", "branches" },
	{ "branch-misses", "branchMisses" },
	{ "cpu-clock", "timer" },
	{ "task-clock", "timer" },
	{ "faults", "page-faults" },
	{ "cs", "context-switches" },
	{ "migrations", "cpu-migrations" },
};

static const char *nth_name(const void *ctx, size_t i)
{
	(void)ctx;
	if (i < ARRAY_SIZE(names))
		return names[i].name;
	i -= ARRAY_SIZE(names);
	return i < ARRAY_SIZE(aliases) ? aliases[i].perf : NULL;
}

static int read_modifiers(struct event_word *w, const char *text, const char *modifiers)
{
	bool user = false, kernel = false;

	for (const char *m = modifiers; *m; m++) {
		switch (*m) {
		case 'u':
			user = true;
			break;
		case 'k':
			kernel = true;
			break;
		case 'p':
			w->precise++;
			break;
		default:
			return misused("-e %s: :%c is not known here; :u is user mode alone, and :p "
				       "to :ppp ask for precise instructions", text, *m);
		}
	}
	if (w->precise > 3)
		return misused("-e %s: more than :ppp is not known", text);
	if (kernel && !user)
		return misused("-e %s: the kernel alone cannot be recorded; without :k it is included, "
			       "and gprofctl top --focus kernel shows it", text);
	w->user_only = user && !kernel;
	w->kernel = kernel;
	return STATUS_OK;
}

/* Behind the colon is a period, modifiers, or the name of a tracepoint. */
static int read_end(struct event_word *w, const char *text, char *end)
{
	bool letters = *end && strspn(end, "ukpPhHGIDSW") == strlen(end);

	if (parse_count(end, &w->period) && w->period)
		return STATUS_OK;
	w->period = 0;
	if (letters)
		return read_modifiers(w, text, end);
	if (islower((unsigned char)*end) && strlen(end) > 4 && strchr(end, '_'))
		return misused("-e %s is a tracepoint: gprofctl profile -e %s", text, text);
	return misused("-e %s: the period is a number of events above 0, such as %s:1000000 or %s:1M",
		       text, w->name, w->name);
}

static bool is_known(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(names[i].name, name))
			return true;
	return false;
}

/* Does a PMU of this machine call an event so? */
static bool is_of_pmu(const char *name)
{
	char *pattern = xprintf("/sys/bus/event_source/devices/*/events/%s", name);
	glob_t found;
	bool is = !glob(pattern, GLOB_NOSORT, NULL, &found);

	if (is)
		globfree(&found);
	free(pattern);
	return is;
}

/* A raw event, one of a PMU, or one of the library; not a word that is nearly one. */
static int check_name(const struct event_word *w, const char *text)
{
	const char *meant;

	if (!*w->name)
		return misused("-e wants an event, such as cycles, not \"%s\"; gprofctl info lists them",
			       text);
	if (is_known(w->name) || strchr(w->name, '/') || is_of_pmu(w->name) ||
	    (w->name[0] == 'r' && strspn(w->name + 1, "0123456789abcdefABCDEF") == strlen(w->name + 1)))
		return STATUS_OK;
	meant = nearest(w->name, nth_name, NULL);
	if (meant)
		return misused("there is no event \"%s\"; did you mean %s?", w->name, meant);
	return STATUS_OK;
}

int events_read(struct event_word *w, const char *text)
{
	char *colon;
	int status = STATUS_OK;

	*w = (struct event_word){ .name = xprintf("%s", text) };
	colon = event_period(w->name);
	if (colon) {
		*colon = '\0';
		status = read_end(w, text, colon + 1);
	}
	for (size_t i = 0; i < ARRAY_SIZE(aliases); i++) {
		if (strcmp(aliases[i].perf, w->name))
			continue;
		free(w->name);
		w->name = xprintf("%s", aliases[i].name);
		break;
	}
	return status == STATUS_OK ? check_name(w, text) : status;
}

unsigned long long events_period(const char *name, unsigned long long hz)
{
	unsigned long long rate = RATE_OTHER;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(names[i].name, name))
			rate = names[i].rate;
	return !rate ? 0 : rate / hz ? rate / hz : 1;
}
