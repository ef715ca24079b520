// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * resolve.c: from addresses of processes and the kernel to locations with names.
 */
#include "resolve.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/patience.h"
#include "python_mix.h"
#include "symbol/debuginfod.h"
#include "symbol/demangle.h"
#include "symbol/kernel_table.h"

/* Mapping of kernel addresses that belong to no image that is known. */
#define KERNEL_REST		"[kernel]"
#define KERNEL_REST_START	0xff00000000000000ULL

/* Name of what lay where something else may have been before and after. */
#define CHANGED			"[unknown: unmapped or replaced]"

#define FILE_SHOWN		200	/* bytes of a file's name in the name of its code */

#define TEXT_SHOWN		(64U << 10)	/* bytes of any name */
#define TEXTS_MAX		(128ULL << 20)	/* bytes that files may put into a profile */

/* Name of a frame of Python whose code was gone, or another's, when it was looked for. */
#define PYTHON_UNKNOWN		"[python: unknown]"

#define EVAL_BEGIN		128	/* bytes: of the interpreter's call, until it has a frame */

#define RELATIVE_FRAMES		64	/* that must lie in mappings of a relative */

/**
 * struct place - where an address lies
 * @mapping: index + 1 in the profile, or 0
 * @address: in that mapping
 * @object: ELF file, or NULL
 * @vaddr: address in the file
 * @has_vaddr: is there one?
 * @changed: there may have been another mapping at the time
 * @offset: in the file
 */
struct place {
	uint32_t mapping;
	uint64_t address;
	struct gprof_object *object;
	uint64_t vaddr;
	bool has_vaddr;
	bool changed;
	uint64_t offset;
};

void gprof_resolver_free(struct gprof_resolver *r)
{
	size_t i;

	for (i = 0; i < r->nr_unnamed; i++)
		gprof_object_done(r->unnamed[i].object);
	gprof_map64_free(&r->by_vma);
	gprof_map64_free(&r->names);
	gprof_map64_free(&r->by_line);
	free(r->kernel_mappings);
	free(r->placed);
	free(r->unnamed);
	free(r->stack);
	memset(r, 0, sizeof(*r));
}

static void put_hex(char *hex, const unsigned char *bytes, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		sprintf(hex + 2 * i, "%02x", bytes[i]);
	hex[2 * len] = '\0';
}

/* Index + 1 of a new mapping; 0 without memory. */
static uint32_t add_mapping(struct gprof_resolver *r, uint64_t start, uint64_t limit,
			    uint64_t offset, const char *file, const char *build_id)
{
	struct gprof_mapping m = {
		.start = start,
		.limit = limit,
		.offset = offset,
		.filename = gprof_profile_text(r->p, file),
		.build_id = gprof_profile_text(r->p, build_id),
	};
	uint32_t index;

	if (m.filename == GPROF_NONE || m.build_id == GPROF_NONE)
		return 0;
	index = gprof_profile_add_mapping(r->p, &m);
	return index == GPROF_NONE ? 0 : index + 1;
}

/* Does a mapping of the profile hold this place of a file, or of an address space? */
static bool holds(const struct gprof_resolver *r, const struct gprof_placed *placed,
		  const struct gprof_vma *vma, size_t space, uint64_t offset)
{
	const struct gprof_mapping *m = &r->p->mappings[placed->mapping];

	if (placed->object != vma->object)
		return false;
	if (placed->object)
		return offset >= m->offset && offset - m->offset < m->limit - m->start;
	return placed->space == space && m->start == vma->start && m->limit == vma->end &&
	       m->offset == vma->offset;
}

/* Index in @placed, made when it is new; GPROF_NONE without memory. */
static uint32_t find_placed(struct gprof_resolver *r, const struct gprof_vma *vma, size_t space,
			    uint64_t offset)
{
	char build_id[2 * GPROF_BUILD_ID_MAX + 1] = "";
	uint32_t i = gprof_map64_get(&r->by_vma, (uintptr_t)vma), mapping;

	if (i != GPROF_NONE && holds(r, &r->placed[i], vma, space, offset))
		return i;
	for (i = 0; i < r->nr_placed; i++)
		if (holds(r, &r->placed[i], vma, space, offset))
			goto found;
	if (vma->object)
		put_hex(build_id, vma->object->build_id, vma->object->build_id_len);
	mapping = add_mapping(r, vma->start, vma->end, vma->offset, vma->path, build_id);
	if (!mapping ||
	    gprof_grow(&r->placed, &r->cap_placed, r->nr_placed + 1, sizeof(*r->placed)))
		return GPROF_NONE;
	r->placed[r->nr_placed++] = (struct gprof_placed){ vma->object, space, mapping - 1 };
found:
	return gprof_map64_put(&r->by_vma, (uintptr_t)vma, i) ? GPROF_NONE : i;
}

/* The profile's mapping for an address of a process. */
static int place_vma(struct gprof_resolver *r, const struct gprof_space *space,
		     const struct gprof_vma *vma, uint64_t addr, struct place *place)
{
	uint64_t offset = addr - vma->start + vma->offset;
	uint32_t i = find_placed(r, vma, (size_t)(space - r->spaces->v), offset);
	const struct gprof_mapping *m;

	if (i == GPROF_NONE)
		return -ENOMEM;
	m = &r->p->mappings[r->placed[i].mapping];
	place->mapping = r->placed[i].mapping + 1;
	place->address = m->start + (offset - m->offset);
	return 0;
}

int gprof_resolver_init(struct gprof_resolver *r, struct gprof_profile *p,
			struct gprof_spaces *spaces, const struct gprof_process *main)
{
	struct gprof_space *space = main ? gprof_spaces_find(spaces, main) : NULL;
	const struct gprof_vma *program = NULL;
	struct place place;
	size_t i;

	memset(r, 0, sizeof(*r));
	r->p = p;
	r->spaces = spaces;
	gprof_map64_init(&r->by_vma);
	gprof_map64_init(&r->names);
	gprof_map64_init(&r->by_line);
	gprof_spaces_generate_again(spaces);
	if (!space || !space->nr)
		return 0;
	/* Programs lie below libraries, whether position independent or not. */
	for (i = 0; i < space->readings[0].nr; i++) {
		const struct gprof_vma *vma = &space->readings[0].v[i];

		if (vma->object && vma->object->elf && vma->path[0] == '/' &&
		    (!program || vma->start < program->start))
			program = vma;
	}
	return program ? place_vma(r, space, program, program->start, &place) : 0;
}

static int push(struct gprof_resolver *r, uint32_t location)
{
	if (location == GPROF_NONE ||
	    gprof_grow(&r->stack, &r->cap_stack, r->nr_stack + 1, sizeof(*r->stack)))
		return -ENOMEM;
	r->stack[r->nr_stack++] = location;
	return 0;
}

/* A text of a file, of which it may be a long part, as those of many others. */
static uint32_t add_text(struct gprof_resolver *r, const char *text)
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
	known = name ? add_text(r, name) : symbol;
	free(name);
	if (known == GPROF_NONE || gprof_map64_put(&r->names, symbol, known))
		return GPROF_NONE;
	return known;
}

/* The function with this symbol, in the file of a text; GPROF_NONE without memory. */
static uint32_t add_function(struct gprof_resolver *r, const char *symbol, uint32_t file,
			     int64_t start_line)
{
	struct gprof_function f = {
		.system_name = add_text(r, symbol),
		.filename = file,
		.start_line = start_line,
	};

	f.name = plain_name(r, f.system_name);
	if (f.name == GPROF_NONE || f.filename == GPROF_NONE)
		return GPROF_NONE;
	return gprof_profile_function(r->p, &f);
}

/* Give a location one function. @file: "": its source is not known */
static int name_location(struct gprof_resolver *r, uint32_t location, const char *name,
			 const char *file, uint32_t number)
{
	struct gprof_line line = {
		.function = add_function(r, name, gprof_profile_text(r->p, file), 0),
		.line = number,
	};

	if (line.function == GPROF_NONE)
		return -ENOMEM;
	return gprof_profile_set_lines(r->p, location, &line, 1);
}

/* The mapping that an image had before the kernel's names were read again, or 0. */
static uint32_t old_mapping(const struct gprof_resolver *r, const struct gprof_kernel_image *image)
{
	const struct gprof_kernel *k = r->spaces->kernel;
	size_t i;

	for (i = 0; r->kernel_looked && i < k->nr_images; i++)
		if (k->images[i].start == image->start && k->images[i].end == image->end &&
		    !strcmp(k->images[i].name, image->name))
			return r->kernel_mappings[i];
	return 0;
}

/* Have the kernel's names as they are now. @anew: read them whether modules changed or not */
static int look_at_kernel(struct gprof_resolver *r, bool anew)
{
	struct gprof_kernel *k = gprof_kernel_get("/proc", "/sys", &anew);
	uint32_t *mappings = k ? calloc(k->nr_images, sizeof(*mappings)) : NULL;
	size_t i;

	if (!mappings) {
		gprof_kernel_put(k);
		return -ENOMEM;
	}
	for (i = 0; i < k->nr_images; i++)
		mappings[i] = old_mapping(r, &k->images[i]);
	free(r->kernel_mappings);
	r->kernel_mappings = mappings;
	gprof_kernel_put(r->spaces->kernel);
	r->spaces->kernel = k;
	r->kernel_looked = true;
	r->kernel_anew = anew;
	return 0;
}

int gprof_resolver_kernel_of(struct gprof_resolver *r, const struct gprof_resolver *old)
{
	if (!old->kernel_looked)
		return 0;
	/* Mappings are of a profile. */
	r->kernel_mappings = calloc(r->spaces->kernel->nr_images, sizeof(*r->kernel_mappings));
	if (!r->kernel_mappings)
		return -ENOMEM;
	r->kernel_looked = true;
	r->kernel_anew = old->kernel_anew;
	return 0;
}

void gprof_resolver_spaces_kept(struct gprof_resolver *r, const uint32_t *numbers)
{
	size_t i, nr = 0;

	/* it knows places in memory that are others' now */
	gprof_map64_clear(&r->by_vma);
	for (i = 0; i < r->nr_placed; i++) {
		struct gprof_placed placed = r->placed[i];

		if (!placed.object) {
			if (numbers[placed.space] == GPROF_NONE)
				continue;
			placed.space = numbers[placed.space];
		}
		r->placed[nr++] = placed;
	}
	r->nr_placed = nr;
}

/* The name at an address, or NULL, and the image that it is in, or NULL. */
static int find_in_kernel(struct gprof_resolver *r, uint64_t addr, const char **name,
			  const struct gprof_kernel_image **image)
{
	if (!r->kernel_looked && look_at_kernel(r, false))
		return -ENOMEM;
	*name = gprof_kernel_find(r->spaces->kernel, addr, image);
	if ((*image && (*image)->lasting) || r->kernel_anew)
		return 0;
	/* It may have come since, and be where another was. */
	if (look_at_kernel(r, true))
		return -ENOMEM;
	*name = gprof_kernel_find(r->spaces->kernel, addr, image);
	return 0;
}

static int kernel_frame(struct gprof_resolver *r, uint64_t addr)
{
	const struct gprof_kernel_image *image;
	uint32_t *mapping, location;
	const char *name;

	if (find_in_kernel(r, addr, &name, &image))
		return -ENOMEM;
	if (image) {
		mapping = &r->kernel_mappings[image - r->spaces->kernel->images];
		if (!*mapping)
			*mapping = add_mapping(r, image->start, image->end, 0, image->name,
					       image->build_id);
	} else {
		mapping = &r->kernel_rest;
		if (!*mapping)
			*mapping = add_mapping(r, KERNEL_REST_START, UINT64_MAX, 0, KERNEL_REST,
					       r->spaces->kernel->images[0].build_id);
		r->hidden++;
	}
	if (!*mapping)
		return -ENOMEM;
	location = gprof_profile_find_location(r->p, *mapping, addr);
	if (location == GPROF_NONE) {
		location = gprof_profile_add_location(r->p, *mapping, addr);
		if (location == GPROF_NONE || (name && name_location(r, location, name, "", 0)))
			return -ENOMEM;
	}
	return push(r, location);
}

/* Where does a user address lie? */
static int find_place(struct gprof_resolver *r, struct gprof_space *space,
		      const struct gprof_stack *s, uint64_t addr, struct place *place)
{
	const struct gprof_vma *vma = NULL;

	memset(place, 0, sizeof(*place));
	place->address = addr;
	if (space)
		vma = gprof_space_vma(space, s->layout, s->time, addr, &place->changed);
	if (!vma)
		return 0;
	if (vma->object && vma->object->elf) {
		place->object = vma->object;
		place->offset = addr - vma->start + vma->offset;
		place->has_vaddr = gprof_object_vaddr(vma->object, place->offset, &place->vaddr);
	}
	return place_vma(r, space, vma, addr, place);
}

static int user_frame(struct gprof_resolver *r, struct gprof_space *space,
		      const struct place *place, uint64_t addr)
{
	uint32_t location = gprof_profile_find_location(r->p, place->mapping, place->address);
	struct gprof_generated_code code;

	if (location != GPROF_NONE)
		return push(r, location);
	location = gprof_profile_add_location(r->p, place->mapping, place->address);
	if (location == GPROF_NONE)
		return -ENOMEM;
	if (place->has_vaddr) {
		if (gprof_grow(&r->unnamed, &r->cap_unnamed, r->nr_unnamed + 1,
			       sizeof(*r->unnamed)))
			return -ENOMEM;
		r->unnamed[r->nr_unnamed++] = (struct gprof_unnamed){ place->object, place->vaddr,
								     location };
	} else if (space && !place->object) {
		const char *name = place->changed ? CHANGED : NULL, *file = "";
		uint32_t line = 0;

		if (gprof_space_generated(space, addr, &code)) {
			name = code.name;
			file = code.file ? code.file : "";
			line = code.line;
		}
		if (name && name_location(r, location, name, file, line))
			return -ENOMEM;
	}
	return push(r, location);
}

/* Is user frame 1, read where a leaf's return address may be, the caller of frame 0? */
static bool caller_right(const struct gprof_stack *s, const struct place *leaf)
{
	struct gprof_symbolizer *sym;

	if (!leaf->has_vaddr)
		return false;
	sym = gprof_object_symbolizer(leaf->object);
	return sym && gprof_symbolizer_caller(sym, leaf->vaddr,
					      s->flags & GPROF_STACK_REC_F_CALLER_PUSHED);
}

/* The address space of a stack: its process' own, or what the process began with. */
static struct gprof_space *find_space(struct gprof_resolver *r, const struct gprof_stack *s,
				      const uint64_t *user)
{
	struct gprof_space *space = gprof_spaces_find(r->spaces, &s->process);
	bool guess = s->flags & GPROF_STACK_REC_F_CALLER;
	uint64_t addrs[RELATIVE_FRAMES];
	size_t nr = 0, i;

	if (space)
		return space;
	for (i = 0; i < s->nr_user && nr < RELATIVE_FRAMES; i++)
		if ((i != 1 || !guess) && !(user[i] >> 63))
			addrs[nr++] = i ? user[i] - 1 : user[i];
	return gprof_spaces_relative(r->spaces, &s->process, s->layout, addrs, nr);
}

/* Where the code goes on that called frame @i; 0: that is not known. */
static uint64_t caller_of(const uint64_t *user, size_t nr, size_t i)
{
	for (i++; i < nr; i++)
		if (!(user[i] >> 63))
			return user[i];
	return 0;
}

/*
 * Does a call of the function that interprets stand before where its caller goes on? What is
 * seldom run of the function may lie apart from it, without a name.
 */
static bool called_eval(struct gprof_resolver *r, struct gprof_space *space,
			const struct gprof_stack *s, struct gprof_python_object *python,
			uint64_t caller)
{
	struct place call;
	bool called;
	int fd;

	if (!caller || find_place(r, space, s, caller - 1, &call) || !call.has_vaddr ||
	    gprof_object_python(call.object) != python)
		return false;
	fd = gprof_object_dup(call.object);
	if (fd < 0)
		return false;
	called = gprof_python_called_eval(python, fd, call.vaddr + 1, call.offset + 1);
	close(fd);
	return called;
}

/* Is a C frame a call of the function that interprets? */
static int find_role(struct gprof_resolver *r, struct gprof_space *space,
		     const struct gprof_stack *s, const uint64_t *user, size_t i,
		     enum gprof_python_role *role)
{
	uint64_t caller = caller_of(user, s->nr_user, i);
	struct gprof_python_object *python = NULL;
	struct place place;
	int err;

	*role = GPROF_PYTHON_OTHER;
	err = find_place(r, space, s, i ? user[i] - 1 : user[i], &place);
	if (!err && place.has_vaddr)
		python = gprof_object_python(place.object);
	if (!python)
		return err;
	if (!i && gprof_python_in_eval(python, place.vaddr, EVAL_BEGIN))
		*role = GPROF_PYTHON_EVAL_BEGIN;
	else if (gprof_python_in_eval(python, place.vaddr, 0) ||
		 called_eval(r, space, s, python, caller))
		*role = GPROF_PYTHON_EVAL;
	return 0;
}

/* Which user frames there are, in their order, of a stack that may have some of Python. */
static int order_frames(struct gprof_resolver *r, struct gprof_space *space,
			const struct gprof_stack *s, const uint64_t *user, uint32_t *order,
			size_t *nr)
{
	enum gprof_python_role *roles;
	int err = 0;
	size_t i;

	*nr = 0;
	roles = calloc(s->nr_user + 1U, sizeof(*roles));
	if (!roles)
		return -ENOMEM;
	if (s->flags & GPROF_STACK_REC_F_PYTHON) {
		for (i = 0; i < s->nr_user && !err; i++)
			if (!(user[i] >> 63) && (i != 1 || !(s->flags & GPROF_STACK_REC_F_CALLER)))
				err = find_role(r, space, s, user, i, &roles[i]);
		*nr = gprof_python_mix(user, s->nr_user, s->flags, roles, order);
		r->mixed++;
		r->unmixed += !*nr;
	}
	free(roles);
	if (!*nr)
		for (i = 0; i < s->nr_user; i++)
			if (!(user[i] >> 63))
				order[(*nr)++] = (uint32_t)i;
	return err;
}

/* @frame: its two words. */
static int python_frame(struct gprof_resolver *r, const struct gprof_space *space,
			const uint64_t *frame)
{
	const struct gprof_python_code *code = NULL;
	struct gprof_line line = { 0 };
	uint32_t location;
	uint64_t key;

	if (space)
		code = gprof_python_find(&space->python, frame);
	if (code) {
		struct gprof_function f = {
			.name = add_text(r, code->name),
			.filename = add_text(r, code->file),
			.start_line = code->first_line,
		};

		f.system_name = f.name;
		if (f.name == GPROF_NONE || f.filename == GPROF_NONE)
			return -ENOMEM;
		line.function = gprof_profile_function(r->p, &f);
		line.line = gprof_python_line(code, frame[0]);
	} else {
		r->unread++;
		line.function = add_function(r, PYTHON_UNKNOWN, 0, 0);
	}
	if (line.function == GPROF_NONE)
		return -ENOMEM;
	key = (uint64_t)line.function << 32 | (uint32_t)line.line;
	location = gprof_map64_get(&r->by_line, key);
	if (location == GPROF_NONE) {
		location = gprof_profile_append_location(r->p, 0, 0);
		if (location == GPROF_NONE ||
		    gprof_profile_set_lines(r->p, location, &line, 1) ||
		    gprof_map64_put(&r->by_line, key, location))
			return -ENOMEM;
	}
	return push(r, location);
}

int gprof_resolve_stack(struct gprof_resolver *r, const struct gprof_stack *s,
			const uint64_t *frames)
{
	const uint64_t *user = frames + s->nr_kernel;
	struct gprof_space *space = NULL;
	struct place place, leaf = { 0 };
	uint32_t *order = NULL;
	size_t i, j, nr = s->nr_user;
	int err = 0;

	if (gprof_patience_over())
		return -ECONNABORTED;
	r->nr_stack = 0;
	for (i = 0; i < s->nr_kernel && !err; i++)
		err = kernel_frame(r, i ? frames[i] - 1 : frames[i]);
	if (s->nr_user)
		space = find_space(r, s, user);
	if (!err && s->flags & (GPROF_STACK_REC_F_PYTHON | GPROF_STACK_REC_F_PYTHON_CUT)) {
		order = calloc(s->nr_user + 1U, sizeof(*order));
		err = order ? order_frames(r, space, s, user, order, &nr) : -ENOMEM;
	}
	for (j = 0; j < nr && !err; j++) {
		uint64_t addr;

		i = order ? order[j] : j;
		if (user[i] >> 63) {
			err = python_frame(r, space, &user[i]);
			continue;
		}
		/* A return address may be that of the next function: go back into the call. */
		addr = i ? user[i] - 1 : user[i];

		if (i == 1 && s->flags & GPROF_STACK_REC_F_CALLER) {
			if (!caller_right(s, &leaf)) {
				r->dropped++;
				continue;
			}
			r->guessed++;
		}
		err = find_place(r, space, s, addr, &place);
		if (!err)
			err = user_frame(r, space, &place, addr);
		if (place.changed)
			r->changed++;
		else if (!place.mapping)
			r->unmapped++;
		if (!i)
			leaf = place;
	}
	free(order);
	if (!err && !r->nr_stack)
		err = gprof_resolve_none(r);
	return err;
}

int gprof_resolve_none(struct gprof_resolver *r)
{
	uint32_t location = gprof_profile_find_location(r->p, 0, 0);

	r->nr_stack = 0;
	if (location == GPROF_NONE) {
		location = gprof_profile_add_location(r->p, 0, 0);
		if (location == GPROF_NONE || name_location(r, location, "[no stack]", "", 0))
			return -ENOMEM;
	}
	return push(r, location);
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
		last->text = add_text(r, path);
		last->path = path;
	}
	return last->text;
}

static int name_one(struct gprof_resolver *r, struct gprof_symbolizer *sym, struct source *last,
		    const struct gprof_unnamed *u, bool *inlines)
{
	struct gprof_symbol_frame frames[GPROF_FRAMES_MAX];
	struct gprof_line lines[GPROF_FRAMES_MAX];
	size_t nr, i;

	if (gprof_patience_over())
		return -ECONNABORTED;
	nr = gprof_symbolizer_frames(sym, u->vaddr, frames, inlines);
	if (nr && r->texts > TEXTS_MAX) {
		r->left_out++;
		*inlines = false;
		return 0;
	}
	for (i = 0; i < nr; i++) {
		lines[i].function = add_function(r, frames[i].name,
						 source_text(r, last, frames[i].file),
						 frames[i].start_line);
		lines[i].line = frames[i].line;
		lines[i].column = frames[i].column;
		if (lines[i].function == GPROF_NONE)
			return -ENOMEM;
	}
	return nr ? gprof_profile_set_lines(r->p, u->location, lines, nr) : 0;
}

/* A mapping has what all of its locations have; one without locations has nothing. */
static void describe_mappings(struct gprof_resolver *r, const bool *inlines)
{
	struct gprof_profile *p = r->p;
	size_t i, j;

	for (i = 0; i < p->nr_locations; i++) {
		const struct gprof_location *l = &p->locations[i];

		if (l->mapping) {
			struct gprof_mapping *m = &p->mappings[l->mapping - 1];

			m->has_functions = m->has_filenames = m->has_line_numbers = true;
			m->has_inline_frames = true;
		}
	}
	for (i = 0; i < p->nr_locations; i++) {
		const struct gprof_location *l = &p->locations[i];
		struct gprof_mapping *m;

		if (!l->mapping)
			continue;
		m = &p->mappings[l->mapping - 1];
		if (!l->nr_lines)
			m->has_functions = m->has_filenames = m->has_line_numbers = false;
		if (!inlines[i])
			m->has_inline_frames = false;
		for (j = 0; j < l->nr_lines; j++) {
			const struct gprof_line *line = &p->lines[l->lines + j];

			m->has_filenames &= p->functions[line->function].filename != 0;
			m->has_line_numbers &= line->line != 0;
		}
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
	return add_function(r, text, 0, 0);
}

/*
 * What has no name is named after its file: a viewer that draws functions draws nothing
 * for a location without one, and weighs all others wrongly.
 */
static int name_rest(struct gprof_resolver *r)
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

		if (p->locations[i].nr_lines)
			continue;
		if (!functions[mapping])
			functions[mapping] = stand_in(r, mapping, objects[mapping]) + 1;
		line.function = functions[mapping] - 1;
		err = line.function == GPROF_NONE ? -ENOMEM :
		      gprof_profile_set_lines(p, (uint32_t)i, &line, 1);
	}
	free(objects);
	free(functions);
	return err;
}

/* Is there a file that could not be read since /proc does not show who mapped it? */
static bool has_hidden(const struct gprof_resolver *r)
{
	size_t i;

	for (i = 0; i < r->nr_placed; i++)
		if (r->placed[i].object && r->placed[i].object->why == GPROF_MISSING_HIDDEN)
			return true;
	return false;
}

static int tell(struct gprof_resolver *r)
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

/* @inlines: of each location, where something is known of inlined functions */
static int name_unnamed(struct gprof_resolver *r, bool *inlines)
{
	struct gprof_symbolizer *sym = NULL;
	struct source last = { NULL };
	int err = 0;
	size_t i;

	/* File by file: each is open only while it is needed. */
	if (r->nr_unnamed)
		qsort(r->unnamed, r->nr_unnamed, sizeof(*r->unnamed), by_object);
	for (i = 0; i < r->nr_unnamed && !err; i++) {
		struct gprof_unnamed *u = &r->unnamed[i];

		if (!i || u->object != r->unnamed[i - 1].object) {
			sym = gprof_object_symbolizer(u->object);
			last.path = NULL;
		}
		if (sym)
			err = name_one(r, sym, &last, u, &inlines[u->location]);
		if (i + 1 == r->nr_unnamed || u->object != r->unnamed[i + 1].object)
			gprof_object_done(u->object);
	}
	return err;
}

int gprof_resolver_name_new(struct gprof_resolver *r)
{
	bool *inlines = calloc(r->p->nr_locations + 1, sizeof(*inlines));
	int err = inlines ? name_unnamed(r, inlines) : -ENOMEM;

	free(inlines);
	if (err)
		return err;
	r->nr_unnamed = 0;
	return name_rest(r);
}

int gprof_resolver_name(struct gprof_resolver *r)
{
	bool *inlines = calloc(r->p->nr_locations + 1, sizeof(*inlines));
	int err;

	if (!inlines)
		return -ENOMEM;
	gprof_debuginfod_begin();
	err = name_unnamed(r, inlines);
	/* A mapping whose functions are its file's name has none to a viewer that finds them. */
	if (!err) {
		describe_mappings(r, inlines);
		err = name_rest(r);
	}
	free(inlines);
	return err ? err : tell(r);
}
