// SPDX-License-Identifier: GPL-2.0-only
/*
 * The wall view: where the time of each thread went, all of it.
 */
#include "wall.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmd.h"
#include "cli/say.h"
#include "cli/text.h"
#include "lives.h"
#include "trace_profile.h"

/* A line of it, and a place where time was spent. */
struct row {
	uint32_t life;
	int64_t ns[NR_PARTS];
};

struct place {
	uint32_t life;
	uint32_t part;		/* NR_PARTS: CPU samples, of which @times counts */
	uint32_t stack;
};

struct spent {
	int64_t times;
	int64_t ns;
};

/**
 * struct wall - the view in the making
 * @lives: of the threads
 * @rows: by index of the thread
 * @nr: of them
 * @room: of them
 * @places: each once, where a profile is wanted
 * @spent: there
 * @room_spent: of @spent
 * @profile: it is wanted
 */
struct wall {
	struct lives lives;
	struct row *rows;
	size_t nr;
	size_t room;
	struct intern places;
	struct spent *spent;
	size_t room_spent;
	bool profile;
};

static struct row *row_of(struct wall *w, uint32_t life)
{
	while (w->nr <= life) {
		w->rows = xgrow(w->rows, w->nr, &w->room, sizeof(*w->rows));
		w->rows[w->nr] = (struct row){ .life = (uint32_t)w->nr };
		w->nr++;
	}
	return &w->rows[life];
}

static void spend(struct wall *w, uint32_t life, uint32_t part, uint32_t stack, int64_t ns)
{
	const struct place place = { life, part, stack };
	size_t nr = w->places.nr, i = intern_add(&w->places, &place, sizeof(place));

	if (i == nr)
		w->spent = xgrow(w->spent, nr, &w->room_spent, sizeof(*w->spent));
	w->spent[i].times++;
	w->spent[i].ns += ns;
}

static void take_stretch(void *ctx, struct lives *v, const struct stretch *s)
{
	struct wall *w = ctx;

	(void)v;
	row_of(w, s->life)->ns[s->part] += s->end - s->begin;
	if (w->profile)
		spend(w, s->life, s->part, s->stack, s->end - s->begin);
}

static void take_sample(void *ctx, struct lives *v, uint32_t life, int64_t time, int64_t cpu,
			uint32_t stack)
{
	struct wall *w = ctx;

	(void)v, (void)time, (void)cpu;
	if (w->profile && life != LIVES_NONE && stack)
		spend(w, life, NR_PARTS, stack, 0);
}

static int read_all(struct wall *w, const char *file, bool profile)
{
	w->profile = profile;
	w->lives.use = (struct lives_use){
		.ctx = w, .stretch = take_stretch, .sample = take_sample,
	};
	return lives_read(&w->lives, file);
}

static void free_all(struct wall *w)
{
	lives_free(&w->lives);
	intern_free(&w->places);
	free(w->rows);
	free(w->spent);
}

static int64_t elapsed(const struct row *r)
{
	int64_t sum = 0;

	for (size_t i = 0; i < NR_PARTS; i++)
		sum += r->ns[i];
	return sum;
}

/* What it did, or would have done if it could. */
static int64_t wanted(const struct row *r)
{
	return r->ns[PART_CPU] + r->ns[PART_RUNNABLE] + r->ns[PART_THROTTLED];
}

static int busiest_first(const void *pa, const void *pb)
{
	const struct row *a = pa, *b = pb;

	if (wanted(a) != wanted(b))
		return wanted(a) < wanted(b) ? 1 : -1;
	return a->life < b->life ? -1 : a->life > b->life;
}

static void print_json(const struct wall *w, size_t nr)
{
	fputs("{\"threads\": [", stdout);
	for (size_t i = 0; i < nr; i++) {
		const struct row *r = &w->rows[i];
		const struct life *l = &w->lives.all[r->life];

		printf("%s\n {\"tid\": %" PRId64 ", \"comm\": ", i ? "," : "", LIVES_TID(l->id));
		text_json(stdout, lives_name(&w->lives, r->life));
		printf(", \"first_ns\": %" PRId64 ", \"last_ns\": %" PRId64 ", \"elapsed_ns\": %"
		       PRId64, l->first, l->last, l->last - l->first);
		for (size_t part = 0; part < NR_PARTS; part++)
			printf(", \"%s_ns\": %" PRId64, part_name(part), r->ns[part]);
		putchar('}');
	}
	puts("\n]}");
}

/* Columns of what nobody did are left out. */
static void print_table(const struct wall *w, size_t nr)
{
	int64_t total[NR_PARTS] = { 0 };

	for (size_t i = 0; i < w->nr; i++)
		for (size_t part = 0; part < NR_PARTS; part++)
			total[part] += w->rows[i].ns[part];
	printf("%12s", "elapsed ms");
	for (size_t part = 0; part < NR_PARTS; part++)
		if (total[part])
			printf(" %10s", part_name(part));
	puts("  thread");
	for (size_t i = 0; i < nr; i++) {
		const struct row *r = &w->rows[i];

		printf("%12.3f", (double)elapsed(r) / 1e6);
		for (size_t part = 0; part < NR_PARTS; part++)
			if (total[part] && r->ns[part])
				printf(" %10.3f", (double)r->ns[part] / 1e6);
			else if (total[part])
				printf(" %10s", "-");
		printf("  %" PRId64 " ", LIVES_TID(w->lives.all[r->life].id));
		text_plain(stdout, lives_name(&w->lives, r->life));
		putchar('\n');
	}
	if (nr < w->nr)
		printf("and %zu threads more\n", w->nr - nr);
}

int wall_table(const char *file, bool json, size_t most)
{
	struct wall w = { 0 };
	int status = read_all(&w, file, false);
	size_t nr = 0;

	if (status == STATUS_OK) {
		/* One that is only named has no time. */
		for (size_t i = 0; i < w.nr; i++)
			if (elapsed(&w.rows[i]))
				w.rows[nr++] = w.rows[i];
		w.nr = nr;
		if (nr)
			qsort(w.rows, nr, sizeof(*w.rows), busiest_first);
		if (most && most < nr)
			nr = most;
		if (json)
			print_json(&w, nr);
		else
			print_table(&w, nr);
		lives_tell(&w.lives, file);
		status = finish_stdout();
	}
	free_all(&w);
	return status;
}

/* Time on a CPU is exact, and CPU samples tell where it went, if there are any. */
struct shares {
	int64_t samples;	/* of a thread */
	int64_t seen;		/* of them so far */
	int64_t given;		/* ns of its time so far */
};

static int add(struct wall *w, struct gprof_profile_builder *b, const struct place *p,
	       int64_t times, int64_t ns)
{
	enum part part = p->part == NR_PARTS ? PART_CPU : p->part;
	struct gprof_frame frames[GPROF_TRACE_FRAMES_MAX];
	size_t nr = trace_stacks_frames(&w->lives.stacks, p->stack, frames);
	const char *name = lives_name(&w->lives, p->life);
	const struct gprof_tag tags[] = {
		{ .key = "reason", .text = part_name(part) },
		{ .key = "tid", .num = LIVES_TID(w->lives.all[p->life].id) },
		{ .key = "comm", .text = name },
	};
	const int64_t values[] = { times, ns };
	char none[32];

	if (!nr) {
		snprintf(none, sizeof(none), "[%s]", part_name(part));
		frames[nr++] = (struct gprof_frame){ .function = none };
		frames[nr++] = (struct gprof_frame){ .function = *name ? name : "[no name]" };
	}
	return gprof_profile_builder_add(b, frames, nr, tags, *name ? 3 : 2, values);
}

static int add_places(struct wall *w, struct gprof_profile_builder *b)
{
	struct shares *shares = xalloc(w->nr + 1, sizeof(*shares));
	int err = 0;
	size_t len;

	for (size_t i = 0; i < w->places.nr; i++) {
		const struct place *p = intern_key(&w->places, i, &len);

		if (p->part == NR_PARTS && p->life < w->nr)
			shares[p->life].samples += w->spent[i].times;
	}
	for (size_t i = 0; i < w->places.nr && !err; i++) {
		const struct place *p = intern_key(&w->places, i, &len);
		struct shares *s = p->life < w->nr ? &shares[p->life] : NULL;
		int64_t ns = w->spent[i].ns, until;

		if (!s || (p->part == PART_CPU && s->samples))
			continue;
		if (p->part == NR_PARTS) {
			s->seen += w->spent[i].times;
			until = (int64_t)((double)w->rows[p->life].ns[PART_CPU] *
					  (double)s->seen / (double)s->samples);
			if (s->seen == s->samples)
				until = w->rows[p->life].ns[PART_CPU];
			ns = until - s->given;
			s->given = until;
		}
		err = add(w, b, p, w->spent[i].times, ns);
	}
	free(shares);
	return err;
}

int wall_profile(const char *file, const char *output)
{
	static const struct gprof_value_type types[] = {
		{ "stretches", "count" }, { "wall", "nanoseconds" },
	};
	const struct gprof_profile_builder_config cfg = {
		.sz = sizeof(cfg), .types = types, .nr_types = 2,
	};
	struct gprof_profile_builder *b = gprof_profile_builder_new(&cfg);
	struct wall w = { 0 };
	int status = b ? read_all(&w, file, true) : fail("%s", gprof_error());

	if (status == STATUS_OK && add_places(&w, b))
		status = fail("%s: no memory for the profile", output);
	if (status == STATUS_OK) {
		gprof_profile_builder_time(b, 0, w.lives.end - w.lives.begin);
		if (!w.lives.seen.samples)
			gprof_profile_builder_comment(b, "there are no CPU samples in the trace, "
						      "so that time on a CPU has no stacks");
		lives_tell(&w.lives, file);
		status = trace_profile_write(b, output);
	}
	free_all(&w);
	gprof_profile_builder_free(b);
	return status;
}
