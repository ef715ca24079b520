// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * symbolize.c: names for a profile that was recorded before there were any.
 *
 * The profile may come from anyone: its names of files are suggestions, each file is accepted by
 * its build-id, and no more than FILES_MAX are looked for.
 */
#include <errno.h>
#include <gprof/symbolize.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/opts.h"
#include "base/unnamed.h"
#include "resolve_names.h"
#include "symbol/debuginfod.h"
#include "symbol/found_file.h"

#define FILES_MAX	4096	/* that are looked for: servers may be asked for each */
#define KERNEL		(1ULL << 63)

/**
 * struct code_file - mappings of one build-id, or without one of one name
 * @name: text
 * @build_id: text
 * @first: index of its first location in those that are sorted by files
 * @nr: how many
 * @lacks: some have no name or no line
 * @kernel: it is code of the kernel
 * @done: result for the caller
 */
struct code_file {
	uint32_t name;
	uint32_t build_id;
	size_t first;
	size_t nr;
	bool lacks;
	bool kernel;
	struct gprof_symbolized done;
};

/**
 * struct work - a profile that gets names
 * @p: profile
 * @opts: options
 * @e: sentence of a failure
 * @spaces: holds the file that is being read
 * @r: names it
 * @naming: names found so far
 * @places: where debug files are besides
 * @given: files that were given
 * @used: a mapping is of the given file
 * @files: of the profile
 * @nr_files: how many
 * @file_of: file of each mapping
 * @order: locations by their files
 * @old: of the file that is being read, as they were
 * @lines: of the profile before that
 * @unmapped: locations without a name that are in no mapping
 * @changed: something has
 * @why: room for the reason
 */
struct work {
	struct gprof_profile *p;
	struct gprof_symbolize_opts opts;
	struct gprof_error *e;
	struct gprof_spaces spaces;
	struct gprof_resolver r;
	struct gprof_naming naming;
	struct gprof_debug_places places;
	struct gprof_given_file *given;
	bool *used;
	struct code_file *files;
	size_t nr_files;
	uint32_t *file_of;
	uint32_t *order;
	struct gprof_location *old;
	size_t lines;
	uint64_t unmapped;
	bool changed;
	char why[PATH_MAX + 128];
};

static bool is_unnamed(const struct gprof_profile *p, const struct gprof_location *l)
{
	const struct gprof_function *f;
	const char *name;

	if (l->nr_lines != 1)
		return !l->nr_lines;
	f = &p->functions[p->lines[l->lines].function];
	name = p->strings.v[f->name];
	return !p->lines[l->lines].line && !f->filename && (!name[0] || gprof_is_unnamed(name));
}

static bool has_line(const struct gprof_profile *p, const struct gprof_location *l)
{
	return l->nr_lines && p->lines[l->lines].line;
}

static int by_need(const void *a, const void *b)
{
	const struct code_file *x = a, *y = b;

	if (x->done.unnamed != y->done.unnamed)
		return x->done.unnamed > y->done.unnamed ? -1 : 1;
	return x->first < y->first ? -1 : x->first > y->first;
}

static int find_files(struct work *w)
{
	struct gprof_profile *p = w->p;
	struct gprof_map64 known;
	int err = 0;
	size_t i;

	gprof_map64_init(&known);
	for (i = 0; i < p->nr_mappings && !err; i++) {
		const struct gprof_mapping *m = &p->mappings[i];
		uint64_t key = m->build_id ? m->build_id : 1ULL << 32 | m->filename;

		w->file_of[i] = gprof_map64_get(&known, key);
		if (w->file_of[i] != GPROF_NONE)
			continue;
		w->file_of[i] = (uint32_t)w->nr_files;
		w->files[w->nr_files++] = (struct code_file){
			.name = m->filename, .build_id = m->build_id,
			.kernel = m->start >= KERNEL,
		};
		err = gprof_map64_put(&known, key, w->file_of[i]);
	}
	gprof_map64_free(&known);
	return err;
}

static struct code_file *file_of(const struct work *w, const struct gprof_location *l)
{
	return l->mapping ? &w->files[w->file_of[l->mapping - 1]] : NULL;
}

/* Sort the locations by files, and see which files have some that lack something. */
static void sort_locations(struct work *w)
{
	const struct gprof_profile *p = w->p;
	struct code_file *f;
	size_t i, at = 0;

	for (i = 0; i < p->nr_locations; i++) {
		const struct gprof_location *l = &p->locations[i];

		f = file_of(w, l);
		if (!f) {
			w->unmapped += is_unnamed(p, l) && l->address;
			continue;
		}
		f->nr++;
		f->done.unnamed += is_unnamed(p, l);
		f->lacks |= !has_line(p, l);
	}
	for (i = 0; i < w->nr_files; i++) {
		w->files[i].first = at;
		at += w->files[i].nr;
		w->files[i].nr = 0;
	}
	for (i = 0; i < p->nr_locations; i++) {
		f = file_of(w, &p->locations[i]);
		if (f)
			w->order[f->first + f->nr++] = (uint32_t)i;
	}
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* A build-id is a name in a file system, and asked for of servers: nothing but digits. */
static bool read_build_id(struct gprof_lost_file *lost, const char *hex)
{
	size_t len = strlen(hex), i;

	if (len < 4 || len % 2 || len > 2 * sizeof(lost->build_id))
		return false;
	for (i = 0; i < len; i += 2) {
		int high = hex_digit(hex[i]), low = hex_digit(hex[i + 1]);

		if (high < 0 || low < 0)
			return false;
		lost->build_id[i / 2] = (unsigned char)(high << 4 | low);
	}
	lost->build_id_len = len / 2;
	return true;
}

static void mark_used(struct work *w, const struct gprof_lost_file *lost)
{
	size_t i;

	for (i = 0; i < w->places.nr_files; i++)
		w->used[i] |= w->given[i].build_id_len == lost->build_id_len &&
			      !memcmp(w->given[i].build_id, lost->build_id, lost->build_id_len);
}

/* The file's locations in the object that was found. @outside: how many have none */
static int match_places(struct work *w, const struct code_file *f,
			const struct gprof_found_file *found, size_t *outside)
{
	struct gprof_resolver *r = &w->r;
	size_t i;

	*outside = 0;
	r->nr_unnamed = 0;
	if (gprof_grow(&r->unnamed, &r->cap_unnamed, f->nr, sizeof(*r->unnamed)))
		return -ENOMEM;
	for (i = 0; i < f->nr; i++) {
		uint32_t index = w->order[f->first + i];
		const struct gprof_location *l = &w->p->locations[index];
		const struct gprof_mapping *m = &w->p->mappings[l->mapping - 1];
		uint64_t vaddr;

		w->old[i] = *l;
		if (gprof_found_file_vaddr(found, m->start, m->limit, m->offset, l->address, &vaddr))
			r->unnamed[r->nr_unnamed++] = (struct gprof_unnamed){ found->object, vaddr,
									     index };
		else
			(*outside)++;
	}
	return 0;
}

/* One location of the file, the new lines of which are kept where they say more than the old. */
static int settle(struct work *w, struct code_file *f, const struct gprof_location *old,
		  uint32_t index)
{
	struct gprof_profile *p = w->p;
	struct gprof_location *l = &p->locations[index];
	bool unnamed = is_unnamed(p, old), had_line = has_line(p, old);
	bool found = l->nr_lines && l->lines >= w->lines, lined = has_line(p, l) && !had_line;
	uint32_t bare = w->naming.bare[index];
	struct gprof_line line = { 0 };

	if (found && (unnamed || lined)) {
		f->done.named += unnamed;
		f->done.lined += !unnamed && lined;
		w->changed = true;
		return 0;
	}
	l->lines = old->lines;
	l->nr_lines = old->nr_lines;
	w->naming.inlines[index] |= had_line && p->mappings[l->mapping - 1].has_inline_frames;
	if (!unnamed || !bare ||
	    (l->nr_lines && gprof_is_bare(p->strings.v[p->functions[p->lines[l->lines].function].name])))
		return 0;
	/* Its function has no name, but is told apart from others. */
	line.function = bare - 1;
	w->changed = true;
	return gprof_profile_set_lines(p, index, &line, 1);
}

static void describe(struct work *w, const struct code_file *f)
{
	struct gprof_profile *p = w->p;
	size_t i;

	for (i = 0; i < f->nr; i++)
		gprof_mapping_has_all(&p->mappings[p->locations[w->order[f->first + i]].mapping - 1]);
	for (i = 0; i < f->nr; i++) {
		uint32_t index = w->order[f->first + i];
		const struct gprof_location *l = &p->locations[index];

		gprof_mapping_lacks(&p->mappings[l->mapping - 1], p, l, !is_unnamed(p, l),
				    w->naming.inlines[index]);
	}
}

static int name_places(struct work *w, struct code_file *f, const struct gprof_found_file *found,
		       size_t *outside)
{
	uint64_t before = f->done.named + f->done.lined;
	int err;
	size_t i;

	w->lines = w->p->nr_lines;
	err = match_places(w, f, found, outside);
	if (!err)
		err = gprof_resolver_name_unnamed(&w->r, &w->naming);
	w->r.nr_unnamed = 0;
	for (i = 0; i < f->nr && !err; i++)
		err = settle(w, f, &w->old[i], w->order[f->first + i]);
	if (!err && f->done.named + f->done.lined > before)
		describe(w, f);
	return err;
}

static void set_why(struct code_file *f, const char *why, bool wanted)
{
	f->done.why = why;
	f->done.wanted = wanted;
}

/* Why a file that was found, or its debug file, has no name for all. */
static void explain_found(struct work *w, struct code_file *f, const struct gprof_found_file *found,
			  size_t outside)
{
	const struct gprof_object *object = found->object;

	if (w->places.refused[0]) {
		snprintf(w->why, sizeof(w->why), "%s is damaged, or of another build",
			 w->places.refused);
		set_why(f, w->why, true);
	} else if (outside == f->nr && found->apart) {
		set_why(f,
			"its debug file does not say where in it the code lay, and the file itself "
			"does",
			false);
	} else if (found->apart && !object->has_debug) {
		set_why(f, "its debug file is damaged", true);
	} else if (object->why != GPROF_MISSING_NOT) {
		set_why(f, gprof_missing_text(object->why), true);
	} else if (outside) {
		set_why(f, "their addresses are outside of it", false);
	} else if (object->has_debug) {
		f->done.found = true;
		set_why(f, "its debug symbols have no name for them", false);
	} else {
		set_why(f, "it is stripped, and no debug file of it was found", true);
	}
}

static void explain_lost(struct work *w, struct code_file *f, bool other)
{
	if (w->places.refused[0])
		snprintf(w->why, sizeof(w->why), "%s is damaged, or of another build",
			 w->places.refused);
	else if (other)
		snprintf(w->why, sizeof(w->why), "%s is of another build now", f->done.file);
	set_why(f, w->places.refused[0] || other ? w->why :
		"neither it nor a debug file of it was found", true);
}

/* By the file itself, and where that is not sound, or not there, by its debug file alone. */
static int name_file(struct work *w, struct code_file *f, const struct gprof_lost_file *lost)
{
	struct gprof_objects *objects = &w->spaces.objects;
	struct gprof_found_file found;
	size_t outside = 0;
	bool other;
	int err;

	w->places.refused[0] = '\0';
	mark_used(w, lost);
	err = gprof_found_file_code(&found, objects, lost, &w->places, &other);
	if (!err && (!found.object || !gprof_object_symbolizer(found.object)))
		err = gprof_found_file_debug(&found, objects, lost);
	if (!err && found.object)
		err = name_places(w, f, &found, &outside);
	if (err)
		return err;
	if (!found.object)
		explain_lost(w, f, other);
	else if (f->done.named < f->done.unnamed)
		explain_found(w, f, &found, outside);
	/* None is needed any more. */
	return gprof_objects_keep(objects);
}

static int do_file(struct work *w, struct code_file *f, bool look)
{
	struct gprof_lost_file lost = { .path = w->p->strings.v[f->name] };
	int err = 0;

	f->done.file = lost.path;
	f->done.build_id = w->p->strings.v[f->build_id];
	f->done.why = "";
	if (f->kernel)
		set_why(f, "what the kernel hid while it was recorded has no names "
			   "(sysctl kernel.kptr_restrict=0 shows it)", false);
	else if (!f->build_id)
		set_why(f, "the profile has no build-id of it to find it by", false);
	else if (!read_build_id(&lost, f->done.build_id))
		set_why(f, "what the profile has for its build-id is none", false);
	else if (!look)
		set_why(f, "of so many files not all are looked for", false);
	else
		err = name_file(w, f, &lost);
	if (f->done.named == f->done.unnamed)
		set_why(f, "", false);
	if (!err && w->opts.tell && (f->done.unnamed || f->done.lined))
		w->opts.tell(w->opts.ctx, &f->done);
	return err;
}

static int name_all(struct work *w)
{
	size_t looked = 0, i;
	int err = 0;

	for (i = 0; i < w->nr_files && !err; i++) {
		struct code_file *f = &w->files[i];

		if (!f->lacks)
			continue;
		err = do_file(w, f, looked < FILES_MAX);
		looked += !f->kernel && f->build_id;
	}
	return err;
}

static void report_unmapped(const struct work *w)
{
	if (w->opts.tell && w->unmapped)
		w->opts.tell(w->opts.ctx, &(struct gprof_symbolized){
			.file = "", .build_id = "", .unnamed = w->unmapped,
			.why = "the profile does not say what files they are of",
		});
}

static void report_unused(const struct work *w)
{
	char hex[2 * GPROF_BUILD_ID_MAX + 1];
	size_t i, j;

	for (i = 0; i < w->places.nr_files && w->opts.tell; i++) {
		const struct gprof_given_file *g = &w->given[i];

		if (w->used[i])
			continue;
		for (j = 0; j < g->build_id_len; j++)
			sprintf(hex + 2 * j, "%02x", g->build_id[j]);
		w->opts.tell(w->opts.ctx, &(struct gprof_symbolized){
			.file = g->path, .build_id = hex,
			.why = "the profile has nothing without names of this build-id",
		});
	}
}

/* Functions that nothing refers to any more stand for names that are known now. */
static int forget_functions(struct gprof_profile *p)
{
	uint32_t *numbers = calloc(p->nr_functions + 1, sizeof(*numbers));
	size_t nr = p->nr_functions, i, j;

	if (!numbers)
		return -ENOMEM;
	for (i = 0; i < p->nr_locations; i++)
		for (j = 0; j < p->locations[i].nr_lines; j++)
			numbers[p->lines[p->locations[i].lines + j].function] = 1;
	/* Each goes to where it was, or before that. */
	gprof_table_clear(&p->functions_table);
	p->nr_functions = 0;
	for (i = 0; i < nr; i++) {
		struct gprof_function f = p->functions[i];

		if (numbers[i])
			numbers[i] = gprof_profile_function(p, &f);
	}
	for (i = 0; i < p->nr_locations; i++)
		for (j = 0; j < p->locations[i].nr_lines; j++) {
			struct gprof_line *line = &p->lines[p->locations[i].lines + j];

			line->function = numbers[line->function];
		}
	free(numbers);
	return 0;
}

static int read_given(struct work *w)
{
	size_t i;
	int err;

	w->given = calloc(w->opts.nr_files + 1, sizeof(*w->given));
	w->used = calloc(w->opts.nr_files + 1, sizeof(*w->used));
	if (!w->given || !w->used)
		return -ENOMEM;
	for (i = 0; i < w->opts.nr_files; i++) {
		err = gprof_given_file_read(&w->given[i], w->opts.files[i]);
		if (err == -ENOEXEC)
			return gprof_error_set(w->e, EINVAL, "%s is no ELF file with a build-id",
					       w->opts.files[i]);
		if (err)
			return gprof_error_set(w->e, EINVAL, "%s cannot be read (%s)",
					       w->opts.files[i], gprof_strerror(-err));
	}
	w->places.files = w->given;
	w->places.nr_files = w->opts.nr_files;
	w->places.dirs = w->opts.debug_dirs;
	w->places.nr_dirs = w->opts.nr_debug_dirs;
	return 0;
}

static int begin(struct work *w)
{
	struct gprof_profile *p = w->p;
	int err = read_given(w);

	if (err)
		return err;
	w->files = calloc(p->nr_mappings + 1, sizeof(*w->files));
	w->file_of = calloc(p->nr_mappings + 1, sizeof(*w->file_of));
	w->order = calloc(p->nr_locations + 1, sizeof(*w->order));
	w->old = calloc(p->nr_locations + 1, sizeof(*w->old));
	if (!w->files || !w->file_of || !w->order || !w->old ||
	    gprof_naming_init(&w->naming, &w->r))
		return -ENOMEM;
	err = find_files(w);
	if (err)
		return err;
	sort_locations(w);
	if (w->nr_files)
		qsort(w->files, w->nr_files, sizeof(*w->files), by_need);
	return 0;
}

static int symbolize(struct work *w)
{
	struct gprof_profile *p = w->p;
	int err = begin(w), end;

	if (err)
		return err;
	gprof_debuginfod_begin();
	gprof_debug_places_set(&w->places);
	err = name_all(w);
	gprof_debug_places_set(NULL);
	if (!err) {
		report_unmapped(w);
		report_unused(w);
	}
	/* Stacks may have more frames now, after a failure too. */
	end = w->changed ? forget_functions(p) : 0;
	p->frames_max = 0;
	if (!end)
		end = gprof_profile_finish(p);
	return err ? err : end;
}

static void end_work(struct work *w)
{
	gprof_naming_free(&w->naming);
	gprof_resolver_free(&w->r);
	gprof_spaces_free(&w->spaces);
	free(w->given);
	free(w->used);
	free(w->files);
	free(w->file_of);
	free(w->order);
	free(w->old);
}

int gprof_profile_symbolize(struct gprof_profile *p, const struct gprof_symbolize_opts *opts)
{
	struct gprof_error e = { 0 };
	struct work w = { .p = p, .e = &e };
	int err = opts ? gprof_opts_copy_in(&w.opts, sizeof(w.opts),
					    GPROF_SIZE_WITH(struct gprof_symbolize_opts, ctx), opts,
					    "gprof_symbolize_opts", &e) :
			 0;

	if (err) {
		gprof_error_publish(&e);
		return err;
	}
	err = gprof_spaces_init(&w.spaces);
	if (!err)
		err = gprof_resolver_init(&w.r, p, &w.spaces, NULL);
	if (!err)
		err = symbolize(&w);
	end_work(&w);
	if (!err)
		return w.changed;
	if (!e.err)
		gprof_error_set(&e, -err, "no memory for the names of the profile");
	gprof_error_publish(&e);
	return err;
}
