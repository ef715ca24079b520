// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * resolve_names.c: the functions and lines of locations, and comments on those without.
 */
#include "resolve_names.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cancel.h"
#include "symbol/debuginfod.h"
#include "symbol/demangle.h"
#include "symbol/kernel_table.h"

#define FILE_SHOWN		200	/* bytes of a file's name in the name of its code */
#define TEXT_SHOWN		(64U << 10)	/* bytes of any name */
#define TEXTS_MAX		(128ULL << 20)	/* bytes that files may put into a profile */

/* A text of a file, of which it may be a long part, as those of many others. */
uint32_t gprof_resolver_text(struct gprof_resolver *r, const char *text)
{
	size_t nr = r->p->strings.nr;
	uint32_t index = gprof_profile_text_of(r->p, text, TEXT_SHOWN);

	if (r->p->strings.nr > nr)
		r->texts += strlen(r->p->strings.v[index]);
	return index;
}

/* The name for people of a symbol, both texts of the profile; GPROF_NONE without memory. */
static uint32_t plain_name(struct gprof_resolver *r, uint32_t symbol)
{
	uint32_t known = gprof_map64_get(&r->names, symbol);
	char *name;

	if (known != GPROF_NONE || symbol == GPROF_NONE)
		return known;
	name = gprof_demangle(r->p->strings.v[symbol]);
	known = name ? gprof_resolver_text(r, name) : symbol;
	free(name);
	if (known == GPROF_NONE || gprof_map64_put(&r->names, symbol, known))
		return GPROF_NONE;
	return known;
}

/* The function with this symbol, in the file of a text; GPROF_NONE without memory. */
uint32_t gprof_resolver_function(struct gprof_resolver *r, const char *symbol, uint32_t file,
				 int64_t start_line)
{
	struct gprof_function f = {
		.system_name = gprof_resolver_text(r, symbol),
		.filename = file,
		.start_line = start_line,
	};

	f.name = plain_name(r, f.system_name);
	if (f.name == GPROF_NONE || f.filename == GPROF_NONE)
		return GPROF_NONE;
	return gprof_profile_function(r->p, &f);
}

/* Give a location one function. @file: "": its source is not known */
int gprof_resolver_name_as(struct gprof_resolver *r, uint32_t location, const char *name,
			   const char *file, uint32_t number)
{
	struct gprof_line line = {
		.function = gprof_resolver_function(r, name, gprof_profile_text(r->p, file), 0),
		.line = number,
	};

	if (line.function == GPROF_NONE)
		return -ENOMEM;
	return gprof_profile_set_lines(r->p, location, &line, 1);
}

static int by_object(const void *a, const void *b)
{
	const struct gprof_unnamed *x = a, *y = b;

	if (x->object != y->object)
		return (uintptr_t)x->object < (uintptr_t)y->object ? -1 : 1;
	return x->vaddr < y->vaddr ? -1 : x->vaddr > y->vaddr;
}

/* A source file of the object that is being read; most lines are in that of the last one. */
struct source {
	const char *path;
	uint32_t text;
};

static uint32_t source_text(struct gprof_resolver *r, struct source *last, const char *path)
{
	if (!path)
		return 0;
	if (path != last->path) {
		last->text = gprof_resolver_text(r, path);
		last->path = path;
	}
	return last->text;
}

/**
 * struct opened - the object that is being read
 * @object: it
 * @known: it has not changed since its names were noted
 * @asked: an attempt to open it was made, which an object with noted names alone does not need
 * @sym: its symbols; NULL: not opened, or not readable
 * @source: of the last line
 */
struct opened {
	struct gprof_object *object;
	bool known;
	bool asked;
	struct gprof_symbolizer *sym;
	struct source source;
};

static struct opened open_object(struct gprof_object *object)
{
	struct opened o = { .object = object };
	int fd = object->names.used ? gprof_object_dup(object) : -1;

	o.known = fd >= 0;
	if (o.known)
		close(fd);
	return o;
}

/* Return: how many; 0: none is known. */
static size_t frames_of(struct gprof_resolver *r, struct opened *o, uint64_t vaddr,
			struct gprof_symbol_frame *frames, bool *inlines)
{
	struct gprof_name_cache *names = &r->spaces->objects.names;
	size_t nr;

	if (o->known && gprof_name_cache_get(names, &o->object->names, vaddr, frames, &nr, inlines))
		return nr;
	if (!o->asked)
		o->sym = gprof_object_symbolizer(o->object);
	o->asked = true;
	if (!o->sym)
		return 0;
	nr = gprof_symbolizer_frames(o->sym, vaddr, frames, inlines);
	/* There may be more another time. */
	if (gprof_symbolizer_is_open(o->sym) &&
	    gprof_symbolizer_missing(o->sym) == GPROF_MISSING_NOT)
		gprof_name_cache_put(names, &o->object->names, vaddr, frames, nr, *inlines);
	return nr;
}

int gprof_naming_init(struct gprof_naming *n, const struct gprof_resolver *r)
{
	n->inlines = calloc(r->p->nr_locations + 1, sizeof(*n->inlines));
	n->bare = calloc(r->p->nr_locations + 1, sizeof(*n->bare));
	return n->inlines && n->bare ? 0 : -ENOMEM;
}

void gprof_naming_free(struct gprof_naming *n)
{
	free(n->inlines);
	free(n->bare);
}

/* "FILE+0xADDRESS"; GPROF_NONE without memory. */
static uint32_t bare_function(struct gprof_resolver *r, const char *path, const char *place)
{
	const char *base = strrchr(path, '/');
	char text[FILE_SHOWN + 32];

	snprintf(text, sizeof(text), "%.*s%s", FILE_SHOWN, base ? base + 1 : path, place);
	return gprof_resolver_function(r, text, 0, 0);
}

static int name_one(struct gprof_resolver *r, struct opened *o, const struct gprof_unnamed *u,
		    struct gprof_naming *n)
{
	bool *inlines = &n->inlines[u->location];
	struct gprof_symbol_frame frames[GPROF_FRAMES_MAX];
	struct gprof_line lines[GPROF_FRAMES_MAX];
	size_t nr, i;

	if (gprof_is_cancelled())
		return -ECONNABORTED;
	nr = frames_of(r, o, u->vaddr, frames, inlines);
	if (nr && r->texts > TEXTS_MAX) {
		r->left_out++;
		*inlines = false;
		return 0;
	}
	if (nr && frames[0].name[0] == '+') {
		n->bare[u->location] = bare_function(r, u->object->path, frames[0].name) + 1;
		return n->bare[u->location] == GPROF_NONE + 1 ? -ENOMEM : 0;
	}
	for (i = 0; i < nr; i++) {
		lines[i].function = gprof_resolver_function(r, frames[i].name,
							    source_text(r, &o->source, frames[i].file),
							    frames[i].start_line);
		lines[i].line = frames[i].line;
		lines[i].column = frames[i].column;
		if (lines[i].function == GPROF_NONE)
			return -ENOMEM;
	}
	return nr ? gprof_profile_set_lines(r->p, u->location, lines, nr) : 0;
}

void gprof_mapping_has_all(struct gprof_mapping *m)
{
	m->has_functions = m->has_filenames = m->has_line_numbers = m->has_inline_frames = true;
}

void gprof_mapping_lacks(struct gprof_mapping *m, const struct gprof_profile *p,
			 const struct gprof_location *l, bool named, bool inlines)
{
	size_t i;

	if (!named)
		m->has_functions = m->has_filenames = m->has_line_numbers = false;
	if (!inlines)
		m->has_inline_frames = false;
	for (i = 0; i < l->nr_lines; i++) {
		const struct gprof_line *line = &p->lines[l->lines + i];

		m->has_filenames &= p->functions[line->function].filename != 0;
		m->has_line_numbers &= line->line != 0;
	}
}

/* A mapping has the flags that all of its locations have; one without locations has none. */
static void describe_mappings(struct gprof_resolver *r, const bool *inlines)
{
	struct gprof_profile *p = r->p;
	size_t i;

	for (i = 0; i < p->nr_locations; i++)
		if (p->locations[i].mapping)
			gprof_mapping_has_all(&p->mappings[p->locations[i].mapping - 1]);
	for (i = 0; i < p->nr_locations; i++) {
		const struct gprof_location *l = &p->locations[i];

		if (l->mapping)
			gprof_mapping_lacks(&p->mappings[l->mapping - 1], p, l, l->nr_lines,
					    inlines[i]);
	}
}

/* "[FILE]", or "[FILE: REASON]" where the file could not be read. @object: or NULL. */
static void name_of_file(const char *path, const struct gprof_object *object, char *text,
			 size_t size)
{
	const char *base = strrchr(path, '/'), *reason = "";
	size_t len;

	if (object)
		reason = gprof_missing_text(object->why);
	base = base ? base + 1 : path;
	len = strlen(base);
	/* "[vdso]" and the like have their brackets. */
	if (base[0] == '[' && base[len - 1] == ']') {
		base++;
		len -= 2;
	}
	snprintf(text, size, "[%.*s%s%s]", (int)(len > FILE_SHOWN ? FILE_SHOWN : len), base,
		 reason[0] ? ": " : "", reason);
}

/* The function that stands for a mapping; GPROF_NONE without memory. */
static uint32_t stand_in(struct gprof_resolver *r, uint32_t mapping,
			 const struct gprof_object *object)
{
	const char *path = "unknown";
	char text[FILE_SHOWN + 64];

	if (mapping)
		path = r->p->strings.v[r->p->mappings[mapping - 1].filename];
	name_of_file(path, object, text, sizeof(text));
	return gprof_resolver_function(r, text, 0, 0);
}

/*
 * A location without a name is named after its file, and after the place where its function
 * begins if that is known: a viewer that draws functions draws nothing for a location without
 * one, and weighs all others wrongly.
 */
static int name_rest(struct gprof_resolver *r, const struct gprof_naming *n)
{
	struct gprof_profile *p = r->p;
	const struct gprof_object **objects = calloc(p->nr_mappings + 1, sizeof(*objects));
	uint32_t *functions = calloc(p->nr_mappings + 1, sizeof(*functions));	/* index + 1 */
	int err = objects && functions ? 0 : -ENOMEM;
	size_t i;

	for (i = 0; i < r->nr_placed && !err; i++)
		objects[r->placed[i].mapping + 1] = r->placed[i].object;
	for (i = 0; i < p->nr_locations && !err; i++) {
		uint32_t mapping = p->locations[i].mapping;
		struct gprof_line line = { 0 };
		bool bare;

		if (p->locations[i].nr_lines)
			continue;
		/* Where a reason can be given that is worth more. */
		bare = n->bare[i] && objects[mapping] && objects[mapping]->why == GPROF_MISSING_NOT;
		if (!bare && !functions[mapping])
			functions[mapping] = stand_in(r, mapping, objects[mapping]) + 1;
		line.function = (bare ? n->bare[i] : functions[mapping]) - 1;
		err = line.function == GPROF_NONE ? -ENOMEM :
		      gprof_profile_set_lines(p, (uint32_t)i, &line, 1);
	}
	free(objects);
	free(functions);
	return err;
}

/* Is there a file that could not be read since /proc hides the processes that map it? */
static bool has_hidden(const struct gprof_resolver *r)
{
	size_t i;

	for (i = 0; i < r->nr_placed; i++)
		if (r->placed[i].object && r->placed[i].object->why == GPROF_MISSING_HIDDEN)
			return true;
	return false;
}

static int add_comments(struct gprof_resolver *r)
{
	int err = 0;

	if (r->kernel_looked && r->spaces->kernel->hidden)
		err = gprof_profile_commentf(r->p, "kernel symbols hidden: the kernel shows no "
					     "addresses (sysctl kernel.kptr_restrict=0 as root "
					     "shows them)");
	if (!err && has_hidden(r))
		err = gprof_profile_commentf(r->p, "names are missing: /proc hides processes of "
					     "others from this user (mount option hidepid)");
	if (!err && r->left_out)
		err = gprof_profile_commentf(r->p, "%llu places have no names, since those of the "
					     "others come to more than %llu MiB",
					     (unsigned long long)r->left_out, TEXTS_MAX >> 20);
	if (!err && r->unmapped)
		err = gprof_profile_commentf(r->p, "%llu user frames of the stacks lie in no "
					     "mapping that was recorded, and have no name",
					     (unsigned long long)r->unmapped);
	if (!err && r->unmixed)
		err = gprof_profile_commentf(r->p, "%llu of %llu stacks are without their frames of "
					     "Python, since it is not known where among the others "
					     "these belong", (unsigned long long)r->unmixed,
					     (unsigned long long)r->mixed);
	if (!err && r->unread)
		err = gprof_profile_commentf(r->p, "%llu frames of Python in the stacks have no name: "
					     "their code was gone, or another one in its place, when "
					     "it was looked for, or the process' memory may not be read",
					     (unsigned long long)r->unread);
	if (!err && r->changed)
		err = gprof_profile_commentf(r->p, "%llu user frames of the stacks lie where code "
					     "was unmapped, or mapped in the place of other, before "
					     "its mappings were read, and have no name",
					     (unsigned long long)r->changed);
	return err;
}

int gprof_resolver_name_unnamed(struct gprof_resolver *r, struct gprof_naming *n)
{
	struct opened o = { NULL };
	int err = 0;
	size_t i;

	/* File by file: each is open only while it is needed. */
	if (r->nr_unnamed)
		qsort(r->unnamed, r->nr_unnamed, sizeof(*r->unnamed), by_object);
	for (i = 0; i < r->nr_unnamed && !err; i++) {
		struct gprof_unnamed *u = &r->unnamed[i];

		if (!i || u->object != r->unnamed[i - 1].object)
			o = open_object(u->object);
		err = name_one(r, &o, u, n);
		if (i + 1 == r->nr_unnamed || u->object != r->unnamed[i + 1].object)
			gprof_object_done(u->object);
	}
	return err;
}

int gprof_resolver_name_new(struct gprof_resolver *r)
{
	struct gprof_naming n;
	int err = gprof_naming_init(&n, r);

	if (!err)
		err = gprof_resolver_name_unnamed(r, &n);
	if (!err) {
		r->nr_unnamed = 0;
		err = name_rest(r, &n);
	}
	gprof_naming_free(&n);
	return err;
}

int gprof_resolver_name(struct gprof_resolver *r)
{
	struct gprof_naming n;
	int err = gprof_naming_init(&n, r);

	gprof_debuginfod_begin();
	if (!err)
		err = gprof_resolver_name_unnamed(r, &n);
	/* A mapping whose functions are its file's name has none to a viewer that finds them. */
	if (!err) {
		describe_mappings(r, n.inlines);
		err = name_rest(r, &n);
	}
	gprof_naming_free(&n);
	return err ? err : add_comments(r);
}
