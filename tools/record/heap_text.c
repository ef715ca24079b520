// SPDX-License-Identifier: GPL-2.0-only
#include "heap_text.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmd.h"
#include "cli/diag.h"
#include "cli/human.h"
#include "cli/json.h"
#include "cli/pager.h"
#include "cli/terminal.h"
#include "cli/text.h"
#include "profile/view.h"

#define PLACES_MAX	25	/* that are shown unless -n asks for more */
#define NAME_COLUMNS	100	/* of a function, in a pipe */
#define NAME_LEAST	30	/* and on a terminal */

enum { IN_OBJECTS, IN_BYTES, ALL_OBJECTS, ALL_BYTES, NR_VALUES };

/**
 * struct place - a stack
 * @values: of all samples with it
 * @nr: frames
 * @frames: they, whose texts are the profile's
 */
struct place {
	int64_t values[NR_VALUES];
	size_t nr;
	struct gprof_frame *frames;
};

/**
 * struct places - of a profile
 * @column: index of each value in the profile, or -1
 * @v: stacks
 * @nr: how many
 * @room: for how many
 * @leaks: only memory in use, in words for people
 */
struct places {
	int column[NR_VALUES];
	struct place *v;
	size_t nr;
	size_t room;
	bool leaks;
};

static void find_columns(struct places *p, const struct gprof_profile *profile)
{
	static const char *const names[NR_VALUES] = {
		"inuse_objects", "inuse_space", "alloc_objects", "alloc_space",
	};
	const struct gprof_value_type *types;
	size_t nr = gprof_profile_types(profile, &types);

	for (int i = 0; i < NR_VALUES; i++) {
		p->column[i] = -1;
		for (size_t j = 0; j < nr; j++)
			if (!strcmp(types[j].type, names[i]))
				p->column[i] = (int)j;
	}
}

static const char *file_of(const struct gprof_frame *frame)
{
	return frame->file[0] ? frame->file : frame->mapping;
}

static void put_frame(const struct gprof_frame *frame)
{
	printf("#\t0x%" PRIx64 "\t", frame->address);
	text_plain(stdout, frame->function);
	fputs("\t\t", stdout);
	text_plain(stdout, file_of(frame));
	if (frame->line)
		printf(":%" PRId64, frame->line);
	putchar('\n');
}

/* Those of inlined functions are not told apart. */
static uint64_t key_of(const struct gprof_frame *frame)
{
	return frame->inlined ? 0 : frame->address;
}

static int note(void *ctx, const struct gprof_frame *frames, size_t nr, const int64_t *values)
{
	struct places *p = ctx;
	struct place *place;

	if (p->leaks && !values[p->column[IN_OBJECTS]])
		return 0;
	p->v = xgrow(p->v, p->nr + 1, &p->room, sizeof(*p->v));
	place = &p->v[p->nr++];
	memset(place, 0, sizeof(*place));
	for (int i = 0; i < NR_VALUES; i++)
		place->values[i] = p->column[i] < 0 ? 0 : values[p->column[i]];
	place->nr = nr;
	place->frames = xalloc(nr + 1, sizeof(*frames));
	if (nr)
		memcpy(place->frames, frames, nr * sizeof(*frames));
	return 0;
}

static int by_stack(const void *a, const void *b)
{
	const struct place *x = a, *y = b;
	size_t i;

	for (i = 0; i < x->nr && i < y->nr; i++)
		if (key_of(&x->frames[i]) != key_of(&y->frames[i]))
			return key_of(&x->frames[i]) < key_of(&y->frames[i]) ? -1 : 1;
	return x->nr < y->nr ? -1 : x->nr > y->nr;
}

/* As people read them: of one line, whatever their addresses. */
static int by_line(const struct gprof_frame *a, const struct gprof_frame *b)
{
	int by = strcmp(a->function, b->function);

	if (!by)
		by = strcmp(file_of(a), file_of(b));
	return by ? by : a->line < b->line ? -1 : a->line > b->line;
}

static int by_lines(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	for (size_t i = 0; i < x->nr && i < y->nr; i++) {
		int by = by_line(&x->frames[i], &y->frames[i]);

		if (by)
			return by;
	}
	return x->nr < y->nr ? -1 : x->nr > y->nr;
}

static int by_bytes(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->values[IN_BYTES] != y->values[IN_BYTES])
		return x->values[IN_BYTES] > y->values[IN_BYTES] ? -1 : 1;
	if (x->values[ALL_BYTES] != y->values[ALL_BYTES])
		return x->values[ALL_BYTES] > y->values[ALL_BYTES] ? -1 : 1;
	return by_stack(a, b);
}

/* Samples of one place differ in their labels alone, or in addresses. */
static void merge(struct places *p, int (*compare)(const void *a, const void *b))
{
	size_t to = 0;

	if (!p->nr)
		return;
	qsort(p->v, p->nr, sizeof(*p->v), compare);
	for (size_t i = 1; i < p->nr; i++) {
		if (compare(&p->v[to], &p->v[i])) {
			p->v[++to] = p->v[i];
			continue;
		}
		for (int j = 0; j < NR_VALUES; j++)
			p->v[to].values[j] = view_sum(p->v[to].values[j], p->v[i].values[j]);
		free(p->v[i].frames);
	}
	p->nr = to + 1;
	qsort(p->v, p->nr, sizeof(*p->v), by_bytes);
}

static void put_values(const int64_t *v)
{
	printf("%" PRId64 ": %" PRId64 " [%" PRId64 ": %" PRId64 "] @", v[IN_OBJECTS],
	       v[IN_BYTES], v[ALL_OBJECTS], v[ALL_BYTES]);
}

/* Values are of all allocations, and no reader is to make more of them: "heapprofile". */
static void put_text(const struct places *p, const int64_t *sum)
{
	printf("heap profile: ");
	put_values(sum);
	printf(" heapprofile\n");
	for (size_t i = 0; i < p->nr; i++) {
		put_values(p->v[i].values);
		for (size_t j = 0; j < p->v[i].nr; j++)
			if (key_of(&p->v[i].frames[j]))
				printf(" 0x%" PRIx64, key_of(&p->v[i].frames[j]));
		putchar('\n');
		for (size_t j = 0; j < p->v[i].nr; j++)
			put_frame(&p->v[i].frames[j]);
		putchar('\n');
	}
}

/* A line, that so many frames are one after another. */
static void put_line(const struct gprof_frame *frame, size_t times)
{
	char *where = frame->line ? xprintf("%s:%" PRId64, file_of(frame), frame->line) :
				    xprintf("%s", file_of(frame));
	char *again = times > 1 ? xprintf("  (%zu times)", times) : xprintf("%s", "");
	size_t terminal = terminal_columns(stdout);
	size_t others = strlen("      ") + text_columns(where) + strlen(again);
	size_t columns = !terminal ? NAME_COLUMNS :
			 terminal > others + NAME_LEAST ? terminal - others : NAME_LEAST;
	char *name = text_short(frame->function, columns);

	fputs("    ", stdout);
	text_plain(stdout, name);
	fputs("  ", stdout);
	text_plain(stdout, where);
	puts(again);
	free(name);
	free(again);
	free(where);
}

static void put_amount(const int64_t *v)
{
	char bytes[HUMAN_MAX], objects[HUMAN_MAX];

	printf("%s in %s object%s", human((double)v[IN_BYTES], "bytes", bytes),
	       human((double)v[IN_OBJECTS], "count", objects), v[IN_OBJECTS] == 1 ? "" : "s");
}

static void put_leak(const struct place *place)
{
	putchar('\n');
	put_amount(place->values);
	putchar('\n');
	for (size_t i = 0, next; i < place->nr; i = next) {
		for (next = i + 1; next < place->nr; next++)
			if (by_line(&place->frames[i], &place->frames[next]))
				break;
		put_line(&place->frames[i], next - i);
	}
}

static void put_leaks(struct places *p, const int64_t *sum, size_t limit)
{
	int64_t rest[NR_VALUES] = { 0 };

	merge(p, by_lines);
	pager_begin();
	fputs("never freed: ", stdout);
	put_amount(sum);
	printf(", from %zu place%s\n", p->nr, p->nr == 1 ? "" : "s");
	for (size_t i = 0; i < p->nr && i < limit; i++)
		put_leak(&p->v[i]);
	for (size_t i = limit; i < p->nr; i++)
		for (int j = 0; j < NR_VALUES; j++)
			rest[j] = view_sum(rest[j], p->v[i].values[j]);
	if (p->nr > limit) {
		printf("\n%zu more, with ", p->nr - limit);
		put_amount(rest);
		puts("; -n N shows N");
	}
}

static void json_values(struct json *j, const struct places *p, const int64_t *v)
{
	static const char *const keys[NR_VALUES] = {
		"inuse_objects", "inuse_bytes", "alloc_objects", "alloc_bytes",
	};

	for (int i = 0; i < NR_VALUES; i++)
		if (p->column[i] >= 0)
			json_s64(j, keys[i], v[i]);
}

static void print_json(const struct places *p, const struct view *v, const char *file,
		       const char *command, const int64_t *sum)
{
	struct json j = { 0 };

	json_open(&j, stdout, command);
	json_bool(&j, "in_use_only", p->leaks);
	json_object(&j, "total");
	json_values(&j, p, sum);
	json_end(&j);
	json_array(&j, "places");
	for (size_t i = 0; i < p->nr; i++) {
		json_object(&j, NULL);
		json_values(&j, p, p->v[i].values);
		frames_json(&j, p->v[i].frames, p->v[i].nr);
		json_end(&j);
	}
	json_end(&j);
	view_json_close(&j, v, file);
}

int heap_text(const char *file, const char *command, bool leaks, size_t limit, bool json)
{
	struct places p = { .leaks = leaks };
	int64_t sum[NR_VALUES] = { 0 };
	struct view v;
	int status = view_open(&v, file, NULL);

	if (status != STATUS_OK)
		return status;
	find_columns(&p, v.profile);
	if (gprof_profile_each(v.profile, note, &p))
		status = fail("the samples cannot be gone through: no memory");
	merge(&p, by_stack);
	for (size_t i = 0; i < p.nr; i++)
		for (int j = 0; j < NR_VALUES; j++)
			sum[j] = view_sum(sum[j], p.v[i].values[j]);
	if (status == STATUS_OK) {
		if (json)
			print_json(&p, &v, file, command, sum);
		else if (leaks)
			put_leaks(&p, sum, limit ? limit : PLACES_MAX);
		else
			put_text(&p, sum);
		status = finish_stdout();
	}
	for (size_t i = 0; i < p.nr; i++)
		free(p.v[i].frames);
	free(p.v);
	view_close(&v);
	return status;
}
