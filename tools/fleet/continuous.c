// SPDX-License-Identifier: GPL-2.0-only
/*
 * Profiles of the whole host all the time.
 */
#include "continuous.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../cmd.h"
#include "../options.h"
#include "../say.h"
#include "item_make.h"

/* 0.28 % of a CPU for 99 samples a second on each of 16. */
#define SAMPLE_NS	1800

/* What costs little: of rates that are not given. */
static const struct {
	const char *kind;
	uint64_t rate;
} presets[] = {
	{ "cpu", 19 }, { "block", 100 }, { "block-waker", 100 }, { "mutex", 10 },
	{ "mutex-waiter", 10 }, { "kernel-lock", 100 }, { "alloc", 4 << 20 }, { "heap", 4 << 20 },
	{ "user-alloc", 4 << 20 }, { "user-heap", 4 << 20 },
};

static int add(struct continuous *c, const char *kind, uint64_t rate)
{
	struct kinds *k = &c->kinds;

	for (size_t i = 0; i < k->nr; i++)
		if (!strcmp(k->kinds[i].kind, kind))
			return misused("the kind %s is given twice", kind);
	if (k->nr == KINDS_MAX)
		return misused("more than %d kinds at once are too many", KINDS_MAX);
	for (size_t i = 0; i < ARRAY_SIZE(presets) && !rate; i++)
		if (!strcmp(presets[i].kind, kind))
			rate = presets[i].rate;
	c->rates[k->nr] = rate ? rate : 1;
	kinds_add(k, xprintf("%s", kind), NULL);
	return STATUS_OK;
}

int continuous_add(struct continuous *c, const char *spec)
{
	char *kind = xprintf("%s", spec), *colon = strchr(kind, ':');
	unsigned long long rate = 0;
	int status;

	if (colon)
		*colon = '\0';
	if (colon && (!parse_count(colon + 1, &rate) || !rate)) {
		status = misused("-e %s: the rate is a number above 0, such as %s:19", spec, kind);
	} else if (!*kind || strlen(kind) >= ITEM_TYPE) {
		status = misused("-e wants a kind of profile, such as cpu, not \"%s\"", spec);
	} else if (strcmp(kind, "wall")) {
		status = add(c, kind, rate);
	} else {
		status = add(c, "cpu", rate);
		if (status == STATUS_OK)
			status = add(c, "block", 0);
	}
	free(kind);
	return status;
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000ULL + (uint64_t)t.tv_nsec;
}

int continuous_start(struct continuous *c, const struct budget *b)
{
	const struct gprof_target all = { .type = GPROF_SYSTEM };
	struct kinds *k = &c->kinds;

	for (size_t i = 0; i < k->nr; i++)
		k->kinds[i].rate = !strcmp(k->kinds[i].kind, "cpu") ? budget_hz(b, c->rates[i]) :
				   budget_every(b, c->rates[i]);
	k->services = true;
	memset(c->before, 0, sizeof(c->before));
	c->r = kinds_recorder(k, &all, false);
	if (!c->r || gprof_recorder_start_events(c->r, NULL, k->nr))
		return fail("%s", gprof_error());
	if (c->stopped_ns)
		c->gap_ns += now_ns() - c->stopped_ns;
	c->stopped_ns = 0;
	return STATUS_OK;
}

static void count(struct continuous *c)
{
	for (size_t i = 0; i < c->kinds.nr; i++) {
		struct gprof_recorder_stats st = { .sz = sizeof(st) };

		if (gprof_recorder_stats(c->r, i, &st))
			continue;
		c->produced[i] += st.produced - c->before[i].produced;
		c->lost[i] += st.lost - c->before[i].lost;
		c->before[i] = st;
	}
}

int continuous_take(struct continuous *c, struct store *s, bool last)
{
	struct gprof_profile *profiles[KINDS_MAX] = { NULL };
	size_t nr = c->kinds.nr;
	uint64_t now = now_ns();
	int err = last ? gprof_recorder_stop_profiles(c->r, profiles, nr) :
			 gprof_recorder_next_profiles(c->r, profiles, nr);
	int status = err ? fail("%s", gprof_error()) : STATUS_OK;

	if (last)
		c->stopped_ns = now;
	count(c);
	c->intervals++;
	/* The disk's failures are the store's to tell, and recording goes on. */
	for (size_t i = 0; i < nr; i++)
		if (profiles[i])
			item_put_profile(s, profiles[i], c->kinds.kinds[i].kind, c->host);
	if (last) {
		gprof_recorder_free(c->r);
		c->r = NULL;
	}
	return status;
}

uint64_t continuous_cost(const struct continuous *c, const uint64_t produced_before[KINDS_MAX])
{
	uint64_t samples = 0;

	for (size_t i = 0; i < c->kinds.nr; i++)
		samples += c->produced[i] - produced_before[i];
	return samples * SAMPLE_NS;
}

void continuous_free(struct continuous *c)
{
	gprof_recorder_free(c->r);
	for (size_t i = 0; i < c->kinds.nr; i++)
		free((char *)c->kinds.kinds[i].kind);
}
