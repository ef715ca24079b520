// SPDX-License-Identifier: GPL-2.0-only
/*
 * A process is told by its number, and called as its first thread was most of the time: a
 * program that executes another has had two names.
 */
#include "group.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../cmd.h"
#include "../say.h"
#include "module.h"

static const struct {
	const char *word;
	enum group_how how;
	const char *key;
	const char *title;
} ways[] = {
	{ "process", GROUP_PROCESS, "pid", "processes" },
	{ "thread", GROUP_THREAD, "tid", "threads" },
	{ "module", GROUP_MODULE, NULL, "modules" },
	{ "comm", GROUP_LABEL, "comm", "names of threads" },
	{ "cgroup", GROUP_LABEL, "cgroup", "cgroups" },
	{ "cpu", GROUP_LABEL, "cpu", "CPUs" },
	{ "service", GROUP_LABEL, "service.name", "services" },
};

static const char *nth_way(const void *ctx, size_t i)
{
	(void)ctx;
	return i < ARRAY_SIZE(ways) ? ways[i].word : NULL;
}

int group_set(struct group *g, const char *value)
{
	const char *meant;

	if (!strncmp(value, "label=", 6) && value[6]) {
		g->how = GROUP_LABEL;
		g->key = value + 6;
		return STATUS_OK;
	}
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		if (strcmp(value, ways[i].word))
			continue;
		g->how = ways[i].how;
		g->key = ways[i].key;
		return STATUS_OK;
	}
	meant = nearest(value, nth_way, NULL);
	if (meant)
		return misused("--by knows no \"%s\"; did you mean %s?", value, meant);
	return misused("--by wants process, thread, module, comm, cgroup, cpu, service or label=KEY, "
		       "not \"%s\"", value);
}

const char *group_title(const struct group *g)
{
	for (size_t i = 0; g->how != GROUP_NONE && i < ARRAY_SIZE(ways); i++)
		if (ways[i].how == g->how && (!ways[i].key || !strcmp(ways[i].key, g->key)))
			return ways[i].title;
	return g->how == GROUP_NONE ? "functions" : "values of the label";
}

/* Each text once, where it stays. */
static const char *keep(struct group *g, const char *text)
{
	size_t n = intern_add(&g->numbers, text, strlen(text) + 1);

	g->texts = xgrow(g->texts, n, &g->room, sizeof(*g->texts));
	if (n == g->nr)
		g->texts[g->nr++] = xprintf("%s", text);
	return g->texts[n];
}

/**
 * struct naming - the walk that finds out what processes are called
 * @p: profile
 * @pairs: process and name
 * @weights: samples of each pair
 * @room: of @weights
 */
struct naming {
	const struct gprof_profile *p;
	struct intern pairs;
	int64_t *weights;
	size_t room;
};

struct pair {
	int64_t pid;
	const char *comm;
};

static int add_pair(void *ctx, const struct gprof_frame *frames, size_t nr_frames,
		    const int64_t *values)
{
	struct naming *naming = ctx;
	struct pair pair = { .comm = gprof_profile_label(naming->p, "comm", NULL) };
	int64_t tid = 0;
	size_t n;

	(void)frames;
	(void)nr_frames;
	(void)values;
	if (!pair.comm || !gprof_profile_label(naming->p, "pid", &pair.pid))
		return 0;
	n = intern_add(&naming->pairs, &pair, sizeof(pair));
	naming->weights = xgrow(naming->weights, n, &naming->room, sizeof(*naming->weights));
	/* Other threads name it where the first was never seen. */
	naming->weights[n]++;
	if (gprof_profile_label(naming->p, "tid", &tid) && tid == pair.pid)
		naming->weights[n] += 1LL << 32;
	return 0;
}

static void name_processes(struct group *g, const struct gprof_profile *p)
{
	struct naming naming = { .p = p };
	int64_t *best;

	gprof_profile_each(p, add_pair, &naming);
	best = xalloc(naming.pairs.nr, sizeof(*best));
	g->comms = xalloc(naming.pairs.nr, sizeof(*g->comms));
	for (size_t i = 0; i < naming.pairs.nr; i++) {
		struct pair pair;
		size_t length, n;

		memcpy(&pair, intern_key(&naming.pairs, i, &length), sizeof(pair));
		n = intern_add(&g->pids, &pair.pid, sizeof(pair.pid));
		if (naming.weights[i] <= best[n])
			continue;
		best[n] = naming.weights[i];
		g->comms[n] = pair.comm;
	}
	g->nr_comms = g->pids.nr;
	free(best);
	free(naming.weights);
	intern_free(&naming.pairs);
}

static const char *process_text(struct group *g, const struct gprof_profile *p)
{
	char text[128];
	int64_t pid = 0;
	size_t n;

	if (!g->ready)
		name_processes(g, p);
	g->ready = true;
	if (!gprof_profile_label(p, "pid", &pid))
		return keep(g, "(no pid)");
	n = intern_add(&g->pids, &pid, sizeof(pid));
	snprintf(text, sizeof(text), "%s (%" PRId64 ")",
		 n < g->nr_comms ? g->comms[n] : "process", pid);
	return keep(g, text);
}

static const char *thread_text(struct group *g, const struct gprof_profile *p)
{
	const char *comm = gprof_profile_label(p, "comm", NULL);
	char text[128];
	int64_t tid = 0;

	if (!gprof_profile_label(p, "tid", &tid))
		return keep(g, "(no tid)");
	snprintf(text, sizeof(text), "%s (%" PRId64 ")", comm ? comm : "thread", tid);
	return keep(g, text);
}

static const char *label_text(struct group *g, const struct gprof_profile *p)
{
	char text[512];
	int64_t num = 0;
	const char *label = gprof_profile_label(p, g->key, &num);

	if (!label)
		snprintf(text, sizeof(text), "(no %s)", g->key);
	else if (*label)
		return keep(g, label);
	else if (!strcmp(g->key, "cpu"))
		snprintf(text, sizeof(text), "CPU %" PRId64, num);
	else
		snprintf(text, sizeof(text), "%" PRId64, num);
	return keep(g, text);
}

/* Neighbours in one module are one frame of it, but that rows count what each takes. */
static size_t by_module(struct group *g, struct gprof_frame *frames, size_t nr)
{
	size_t left = 0;

	for (size_t i = 0; i < nr; i++) {
		struct gprof_frame f = frames[i];
		char text[MODULE_TEXT_MAX];
		const char *module = module_text(frame_kind(&f), f.mapping, text);

		f.function = keep(g, *module ? module : "(no module)");
		f.file = "";
		f.inlined = false;
		if (!left || frames[left - 1].function != f.function)
			frames[left++] = f;
	}
	return left;
}

const char *group_text(struct group *g, const struct gprof_profile *p)
{
	return g->how == GROUP_PROCESS ? process_text(g, p) :
	       g->how == GROUP_THREAD ? thread_text(g, p) : label_text(g, p);
}

size_t group_frames(struct group *g, const struct gprof_profile *p, struct gprof_frame *frames,
		    size_t nr)
{
	const char *text;

	if (g->how == GROUP_MODULE)
		return by_module(g, frames, nr);
	text = group_text(g, p);
	if (g->rows)
		nr = 0;
	frames[nr] = (struct gprof_frame){ .function = text, .file = "", .mapping = "" };
	return nr + 1;
}

void group_free(struct group *g)
{
	for (size_t i = 0; i < g->nr; i++)
		free(g->texts[i]);
	free(g->texts);
	free(g->comms);
	intern_free(&g->numbers);
	intern_free(&g->pids);
	*g = (struct group){ 0 };
}
