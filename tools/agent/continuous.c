// SPDX-License-Identifier: GPL-2.0-only
/*
 * Profiles of the whole host all the time.
 */
#include "continuous.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "cli/cmd.h"
#include "cli/options.h"
#include "cli/diag.h"
#include "item_make.h"

/* 0.28 % of a CPU for 99 samples a second on each of 16. */
#define SAMPLE_NS	1800

/* Default rates, of little cost. */
#define PROFILE(_name, _number, _flags, _source, _every, ...)	{ _name, _every },

static const struct {
	const char *kind;
	uint64_t rate;
} presets[] = {
#include "base/kinds.def"
};

static int add(struct continuous *c, const char *kind, uint64_t rate)
{
	bool lasting = !strcmp(kind, "heap") || !strcmp(kind, "user-heap");
	struct kinds *k = &c->kinds;
	size_t at = k->nr;

	for (size_t i = 0; i < k->nr; i++)
		if (!strcmp(k->kinds[i].kind, kind))
			return misused("the kind %s is given twice", kind);
	if (k->nr == KINDS_MAX)
		return misused("more than %d kinds at once are too many", KINDS_MAX);
	for (size_t i = 0; i < ARRAY_SIZE(presets) && !rate; i++)
		if (!strcmp(presets[i].kind, kind))
			rate = presets[i].rate;
	kinds_add(k, NULL, NULL);
	for (; !lasting && at > c->nr_rated; at--) {
		k->kinds[at] = k->kinds[at - 1];
		c->rates[at] = c->rates[at - 1];
	}
	c->nr_rated += !lasting;
	k->kinds[at].kind = xprintf("%s", kind);
	c->rates[at] = rate ? rate : 1;
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

/* Of a recorder's kinds: the first, and how many. */
static size_t first_of(const struct continuous *c, int which)
{
	return which ? c->nr_rated : 0;
}

static size_t nr_of(const struct continuous *c, int which)
{
	return which ? c->kinds.nr - c->nr_rated : c->nr_rated;
}

static int start(struct continuous *c, int which)
{
	const struct gprof_target all = { .type = GPROF_SYSTEM };
	size_t first = first_of(c, which), nr = nr_of(c, which);
	struct kinds k = { .nr = nr, .services = true };

	if (c->r[which] || !nr)
		return STATUS_OK;
	memcpy(k.kinds, &c->kinds.kinds[first], nr * sizeof(*k.kinds));
	memset(&c->before[first], 0, nr * sizeof(*c->before));
	c->r[which] = kinds_recorder(&k, &all, false);
	if (c->r[which] && !gprof_recorder_start_events(c->r[which], NULL, nr))
		return STATUS_OK;
	fail("%s", gprof_error());
	/* Nothing is to be taken of it. */
	gprof_recorder_free(c->r[which]);
	c->r[which] = NULL;
	return STATUS_FAILED;
}

int continuous_start(struct continuous *c, const struct budget *b)
{
	struct kinds *k = &c->kinds;
	int status;

	for (size_t i = 0; i < c->nr_rated; i++)
		k->kinds[i].rate = !strcmp(k->kinds[i].kind, "cpu") ? budget_hz(b, c->rates[i]) :
				   budget_every(b, c->rates[i]);
	for (size_t i = c->nr_rated; i < k->nr; i++)
		k->kinds[i].rate = c->rates[i];
	status = start(c, 0);
	if (status == STATUS_OK)
		status = start(c, 1);
	if (status != STATUS_OK)
		return status;
	if (c->stopped_ns)
		c->gap_ns += now_ns() - c->stopped_ns;
	c->stopped_ns = 0;
	return STATUS_OK;
}

static void count(struct continuous *c, int which)
{
	size_t first = first_of(c, which);

	for (size_t i = first; i < first + nr_of(c, which); i++) {
		struct gprof_recorder_stats st = { .sz = sizeof(st) };

		if (gprof_recorder_stats(c->r[which], i - first, &st))
			continue;
		c->produced[i] += st.produced - c->before[i].produced;
		c->lost[i] += st.lost - c->before[i].lost;
		c->before[i] = st;
	}
}

static int store_profiles(struct continuous *c, struct store *s, int which, bool last)
{
	struct gprof_profile *profiles[KINDS_MAX] = { NULL };
	size_t first = first_of(c, which), nr = nr_of(c, which);
	int err = last ? gprof_recorder_stop_profiles(c->r[which], profiles, nr) :
			 gprof_recorder_next_profiles(c->r[which], profiles, nr);
	int status = err ? fail("%s", gprof_error()) : STATUS_OK;

	count(c, which);
	/* The disk's failures are the store's to tell, and recording goes on. */
	for (size_t i = 0; i < nr; i++)
		if (profiles[i])
			item_put_profile(s, profiles[i], c->kinds.kinds[first + i].kind, c->host);
	if (last) {
		gprof_recorder_free(c->r[which]);
		c->r[which] = NULL;
	}
	return status;
}

int continuous_store(struct continuous *c, struct store *s, enum continuous_then then)
{
	int status[2] = { STATUS_OK, STATUS_OK };
	uint64_t now = now_ns();

	if (then != CONTINUOUS_GO_ON)
		c->stopped_ns = now;
	c->intervals++;
	/* A failure of one does not end the other. */
	if (c->r[0])
		status[0] = store_profiles(c, s, 0, then != CONTINUOUS_GO_ON);
	if (c->r[1] && then != CONTINUOUS_RENEW)
		status[1] = store_profiles(c, s, 1, then == CONTINUOUS_END);
	return status[0] != STATUS_OK ? status[0] : status[1];
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
	gprof_recorder_free(c->r[0]);
	gprof_recorder_free(c->r[1]);
	for (size_t i = 0; i < c->kinds.nr; i++)
		free((char *)c->kinds.kinds[i].kind);
}
