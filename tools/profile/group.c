// SPDX-License-Identifier: GPL-2.0-only
/*
 * A process is told by its number, and called as its samples say, which in profiles of earlier
 * versions and of others they do not: then as its first thread was most of the time. A program
 * that executes another has had two names.
 */
#include "group.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmd.h"
#include "cli/diag.h"
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

/* Names of other tools, or the label of it. */
static const char *const others[][2] = {
	{ "pid", "process" }, { "tid", "thread" }, { "dso", "module" }, { "file", "module" },
	{ "binary", "module" }, { "core", "cpu" }, { "container", "cgroup" },
};

int group_set(struct group *g, const char *value)
{
	const char *meant = NULL;

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
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (!strcmp(value, others[i][0]))
			meant = others[i][1];
	if (!meant)
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

/* Each text once, where it stays; its number. */
static size_t keep(struct group *g, const char *text)
{
	size_t n = intern_add(&g->numbers, text, strlen(text) + 1);

	g->texts = xgrow(g->texts, n, &g->room, sizeof(*g->texts));
	if (n == g->nr)
		g->texts[g->nr++] = xprintf("%s", text);
	return n;
}

struct pair {
	int64_t pid;
	const char *name;
};

/* One sample weighs more than all those of other threads; a file has less than 2^31. */
#define FIRST_THREAD	(1LL << 31)

/**
 * struct naming - search for names of processes
 * @pairs: process and name
 * @weights: of each pair
 * @room: of @weights
 */
struct naming {
	struct intern pairs;
	int64_t *weights;
	size_t room;
};

static void add_pair(struct naming *naming, const struct gprof_profile *p, uint32_t labels,
		     uint32_t samples)
{
	struct pair pair = {
		.name = gprof_profile_label_of(p, labels, "process.executable.name", NULL),
	};
	bool told = pair.name && *pair.name;
	int64_t tid = 0;
	size_t n;

	if (!told)
		pair.name = gprof_profile_label_of(p, labels, "comm", NULL);
	if (!pair.name || !gprof_profile_label_of(p, labels, "pid", &pair.pid))
		return;
	n = intern_add(&naming->pairs, &pair, sizeof(pair));
	naming->weights = xgrow(naming->weights, n, &naming->room, sizeof(*naming->weights));
	/* Other threads name it where the first was never seen. */
	naming->weights[n] += samples;
	if (told || (gprof_profile_label_of(p, labels, "tid", &tid) && tid == pair.pid))
		naming->weights[n] += FIRST_THREAD * samples;
}

static void name_processes(struct group *g, const struct gprof_profile *p)
{
	struct naming naming = { 0 };
	struct gprof_profile_stack s;
	uint32_t *samples = NULL;
	size_t room = 0;
	int64_t *best;

	for (size_t i = 0; !gprof_profile_stack(p, i, &s); i++) {
		while (s.labels >= room)
			samples = xgrow(samples, room, &room, sizeof(*samples));
		samples[s.labels]++;
	}
	for (size_t i = 0; i < room; i++)
		if (samples[i])
			add_pair(&naming, p, i, samples[i]);
	free(samples);
	best = xalloc(naming.pairs.nr, sizeof(*best));
	g->names = xalloc(naming.pairs.nr, sizeof(*g->names));
	for (size_t i = 0; i < naming.pairs.nr; i++) {
		struct pair pair;
		size_t length, n;

		memcpy(&pair, intern_key(&naming.pairs, i, &length), sizeof(pair));
		n = intern_add(&g->pids, &pair.pid, sizeof(pair.pid));
		if (naming.weights[i] <= best[n])
			continue;
		best[n] = naming.weights[i];
		g->names[n] = pair.name;
	}
	g->nr_names = g->pids.nr;
	free(best);
	free(naming.weights);
	intern_free(&naming.pairs);
}

void group_name(struct group *g, const struct gprof_profile *p)
{
	if (g->how == GROUP_PROCESS && !g->ready)
		name_processes(g, p);
	g->ready = true;
}

static size_t process_text(struct group *g, const struct gprof_profile *p, uint32_t labels)
{
	char text[128];
	int64_t pid = 0;
	size_t n;

	group_name(g, p);
	if (!gprof_profile_label_of(p, labels, "pid", &pid))
		return keep(g, "(no pid)");
	n = intern_add(&g->pids, &pid, sizeof(pid));
	snprintf(text, sizeof(text), "%s (%" PRId64 ")",
		 n < g->nr_names ? g->names[n] : "process", pid);
	return keep(g, text);
}

static size_t thread_text(struct group *g, const struct gprof_profile *p, uint32_t labels)
{
	const char *comm = gprof_profile_label_of(p, labels, "comm", NULL);
	char text[128];
	int64_t tid = 0;

	if (!gprof_profile_label_of(p, labels, "tid", &tid))
		return keep(g, "(no tid)");
	snprintf(text, sizeof(text), "%s (%" PRId64 ")", comm ? comm : "thread", tid);
	return keep(g, text);
}

/* "addr" and "address", and names of fields that end with these. */
static bool is_address(const char *key)
{
	static const char *const ends[] = { "addr", "address" };
	size_t length = strlen(key);

	for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
		if (length >= strlen(ends[i]) && !strcmp(key + length - strlen(ends[i]), ends[i]))
			return true;
	return false;
}

static size_t label_text(struct group *g, const struct gprof_profile *p, uint32_t labels)
{
	char text[512];
	int64_t num = 0;
	const char *label = gprof_profile_label_of(p, labels, g->key, &num);

	if (!label)
		snprintf(text, sizeof(text), "(no %s)", g->key);
	else if (*label)
		return keep(g, label);
	else if (!strcmp(g->key, "cpu"))
		snprintf(text, sizeof(text), "CPU %" PRId64, num);
	/* By itself that would be code without a name: see view_function(). */
	else if (is_address(g->key))
		snprintf(text, sizeof(text), "%s 0x%" PRIx64, g->key, (uint64_t)num);
	else
		snprintf(text, sizeof(text), "%" PRId64, num);
	return keep(g, text);
}

static uint32_t *known(struct group *g, size_t n)
{
	while (n >= g->room_known)
		g->known = xgrow(g->known, g->room_known, &g->room_known, sizeof(*g->known));
	return &g->known[n];
}

size_t group_text(struct group *g, const struct gprof_profile *p, uint32_t labels)
{
	uint32_t *text = known(g, labels);

	if (!*text)
		*text = 1 + (g->how == GROUP_PROCESS ? process_text(g, p, labels) :
			     g->how == GROUP_THREAD ? thread_text(g, p, labels) :
			     label_text(g, p, labels));
	return *text - 1;
}

/* The key of added frames, without holes. */
struct made {
	size_t text;
	const char *mapping;
	uint64_t kind;
};

static uint32_t make_frame(struct group *g, struct frames *frames, size_t text,
			   const struct gprof_frame *like)
{
	struct made key = { text, like->mapping, frame_kind(like) };
	size_t before = g->made.nr, n = intern_add(&g->made, &key, sizeof(key));
	struct gprof_frame f = *like;

	f.function = g->texts[text];
	g->frames = xgrow(g->frames, n, &g->room_frames, sizeof(*g->frames));
	if (n == before)
		g->frames[n] = frames_add(frames, &f);
	return g->frames[n];
}

static uint32_t module_of(struct group *g, struct frames *frames, uint32_t n)
{
	uint32_t *found = known(g, n);
	char text[MODULE_TEXT_MAX];
	struct gprof_frame f;
	const char *module;

	if (!*found) {
		f = frames->all[n];
		module = module_text(frame_kind(&f), f.mapping, text);
		f.file = "";
		f.inlined = false;
		*found = 1 + make_frame(g, frames, keep(g, *module ? module : "(no module)"), &f);
	}
	return *found - 1;
}

/* Neighbours in one module are one frame of it, but rows count the value of each. */
static size_t by_module(struct group *g, struct frames *frames, size_t nr)
{
	const char *last = NULL;
	size_t left = 0;

	for (size_t i = 0; i < nr; i++) {
		uint32_t n = module_of(g, frames, frames->stack[i]);

		if (frames->all[n].function == last)
			continue;
		last = frames->all[n].function;
		frames->stack[left++] = n;
	}
	return left;
}

size_t group_frames(struct group *g, const struct gprof_profile *p, struct frames *frames,
		    uint32_t labels, size_t nr)
{
	static const struct gprof_frame none = { .function = "", .file = "", .mapping = "" };

	if (g->how == GROUP_MODULE)
		return by_module(g, frames, nr);
	if (g->rows)
		nr = 0;
	frames_room(frames, nr + 1);
	frames->stack[nr] = make_frame(g, frames, group_text(g, p, labels), &none);
	return nr + 1;
}

void group_free(struct group *g)
{
	for (size_t i = 0; i < g->nr; i++)
		free(g->texts[i]);
	free(g->texts);
	free(g->names);
	free(g->known);
	free(g->frames);
	intern_free(&g->numbers);
	intern_free(&g->pids);
	intern_free(&g->made);
	*g = (struct group){ 0 };
}
