// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counts of events, and their ratios, for people and as JSON.
 */
#include "stat_view.h"

#include <inttypes.h>
#include <string.h>

#include "cli/diag.h"
#include "cli/json.h"
#include "cli/text.h"

/**
 * struct ratio - ratio of two events
 * @key: for programs
 * @part: event that is divided
 * @whole: event that it is divided by
 * @text: for people, behind the number
 * @percent: it is a share
 */
struct ratio {
	const char *key;
	const char *part;
	const char *whole;
	const char *text;
	bool percent;
};

static const struct ratio ratios[] = {
	{ "cycles_per_ns", "cycles", "timer", "GHz" },
	{ "instructions_per_cycle", "instructions", "cycles", "per cycle" },
	{ "branch_misses_per_branch", "branchMisses", "branches", "of all branches", true },
	{ "cache_misses_per_reference", "cacheMisses", "cacheReferences",
	  "of all cache references", true },
};

static const struct gprof_count *find(const struct gprof_count *counts, size_t nr,
				      const char *event)
{
	for (size_t i = 0; i < nr; i++)
		if (!counts[i].error && !strcmp(counts[i].event, event))
			return &counts[i];
	return NULL;
}

/* The count, scaled up for the time in which it was not counted; the largest at most. */
static uint64_t scaled(const struct gprof_count *n)
{
	unsigned __int128 product = (unsigned __int128)n->count * n->time_enabled_ns;

	if (!n->time_running_ns || n->time_running_ns >= n->time_enabled_ns)
		return n->count;
	product = (product + n->time_running_ns / 2) / n->time_running_ns;
	return product > UINT64_MAX ? UINT64_MAX : (uint64_t)product;
}

/* Is there such a ratio? An event that was never counted is to nothing anything. */
static bool divide(const struct ratio *r, const struct gprof_count *counts, size_t nr, bool idle,
		   double *value)
{
	const struct gprof_count *part = find(counts, nr, r->part);
	const struct gprof_count *whole = find(counts, nr, r->whole);

	if (!part || !whole || !part->time_running_ns || !whole->count ||
	    part->user_only != whole->user_only)
		return false;
	/* Cycles are of the time in which a CPU was not idle. */
	if (idle && !strcmp(r->whole, "timer"))
		return false;
	*value = (double)scaled(part) / scaled(whole);
	return true;
}

/* Starting and stopping the clocks themselves leaves a difference too. */
static bool took_turns(const struct gprof_count *n)
{
	return n->time_running_ns < n->time_enabled_ns - n->time_enabled_ns / 200;
}

static const char *grouped(uint64_t value, char text[32])
{
	char digits[24], *p = text + 31;
	int n = snprintf(digits, sizeof(digits), "%" PRIu64, value);

	*p = '\0';
	for (int i = 0; i < n; i++) {
		if (i && i % 3 == 0)
			*--p = ',';
		*--p = digits[n - 1 - i];
	}
	return p;
}

static void comment(FILE *f, const struct gprof_count *counts, size_t nr, size_t i, uint64_t ns,
		    bool idle)
{
	const struct gprof_count *n = &counts[i], *timer = find(counts, nr, "timer");
	double value;

	for (size_t r = 0; r < ARRAY_SIZE(ratios); r++) {
		if (strcmp(ratios[r].part, n->event) ||
		    !divide(&ratios[r], counts, nr, idle, &value))
			continue;
		if (ratios[r].percent)
			fprintf(f, "  # %.2f %% %s", 100 * value, ratios[r].text);
		else
			fprintf(f, "  # %.3f %s", value, ratios[r].text);
		return;
	}
	if (n == timer && idle)
		fprintf(f, "  # of %.0f CPUs, idle or not", ns ? (double)n->count / ns : 0);
	else if (n == timer)
		fprintf(f, "  # %.3f CPUs used", ns ? (double)n->count / ns : 0);
	else if (timer && timer->count && n->count)
		fprintf(f, "  # %.4g per second %s", scaled(n) * 1e9 / timer->count,
			idle ? "and CPU" : "of CPU time");
}

/* The row names the event already. */
static const char *without_name(const char *reason, const char *event)
{
	size_t n = strlen(event);

	return !strncmp(reason, event, n) && !strncmp(reason + n, ": ", 2) ? reason + n + 2 :
									      reason;
}

static bool has_reason_of(const struct gprof_count *n, const struct gprof_count *other)
{
	return n->error && other->error && !strcmp(without_name(n->reason, n->event),
						   without_name(other->reason, other->event));
}

/* All events of a reason are in the line of the first. */
static void not_counted(FILE *f, const struct gprof_count *counts, size_t nr, size_t i)
{
	int width = 0;

	for (size_t before = 0; before < i; before++)
		if (has_reason_of(&counts[i], &counts[before]))
			return;
	fprintf(f, "%20s  ", "not counted");
	for (size_t n = i; n < nr; n++)
		if (has_reason_of(&counts[i], &counts[n]))
			width += fprintf(f, "%s%s", width ? ", " : "", counts[n].event);
	fprintf(f, "%*s  # ", width < 24 ? 24 - width : 0, "");
	text_plain(f, without_name(counts[i].reason, counts[i].event));
	fputc('\n', f);
}

static void text_row(FILE *f, const struct gprof_count *counts, size_t nr, size_t i, uint64_t ns,
		     bool idle)
{
	const struct gprof_count *n = &counts[i];
	char text[32];

	if (n->error) {
		not_counted(f, counts, nr, i);
		return;
	}
	if (n->time_enabled_ns && !n->time_running_ns)
		fprintf(f, "%20s", "never counted");
	else if (!strcmp(n->event, "timer"))
		fprintf(f, "%13" PRIu64 ".%03u ms", n->count / 1000000,
			(unsigned int)(n->count / 1000 % 1000));
	else
		fprintf(f, "%20s", grouped(scaled(n), text));
	fprintf(f, "  %s%-*s", n->event, (int)(24 - strlen(n->event) > 24 ? 0 :
					      24 - strlen(n->event)),
		n->user_only ? " (user)" : "");
	comment(f, counts, nr, i, ns, idle);
	if (took_turns(n))
		fprintf(f, "  (counted %.2f %% of the time)",
			100.0 * n->time_running_ns / n->time_enabled_ns);
	fputc('\n', f);
}

void stat_text(FILE *f, const struct gprof_count *counts, size_t nr, uint64_t ns, bool idle)
{
	for (size_t i = 0; i < nr; i++)
		text_row(f, counts, nr, i, ns, idle);
	fprintf(f, "%18.6f s  passed\n", ns / 1e9);
}

static void json_event(struct json *j, const struct gprof_count *n)
{
	json_object(j, NULL);
	json_string(j, "event", n->event);
	json_bool(j, "available", !n->error);
	json_string(j, "reason", n->reason);
	json_u64(j, "count", n->count);
	json_u64(j, "scaled", scaled(n));
	json_u64(j, "time_enabled_ns", n->time_enabled_ns);
	json_u64(j, "time_running_ns", n->time_running_ns);
	json_bool(j, "user_only", n->user_only);
	json_end(j);
}

void stat_json(FILE *f, const struct gprof_count *counts, size_t nr, uint64_t ns, bool idle)
{
	struct json j = { 0 };
	double value;

	json_open(&j, f, "stat");
	json_u64(&j, "time_ns", ns);
	json_array(&j, "events");
	for (size_t i = 0; i < nr; i++)
		json_event(&j, &counts[i]);
	json_end(&j);
	json_object(&j, "ratios");
	for (size_t r = 0; r < ARRAY_SIZE(ratios); r++)
		if (divide(&ratios[r], counts, nr, idle, &value))
			json_double(&j, ratios[r].key, value, 6);
	json_end(&j);
	json_close(&j);
}
