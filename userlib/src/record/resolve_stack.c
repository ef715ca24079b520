// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * resolve_stack.c: from addresses of processes and the kernel to locations with names.
 */
#include "resolve.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cancel.h"
#include "python_mix.h"
#include "resolve_names.h"
#include "stack_ends.h"
#include "symbol/kernel_table.h"
#include "symbol/process_lookup.h"

/* Mapping of kernel addresses that belong to no image that is known. */
#define KERNEL_REST		"[kernel]"
#define KERNEL_REST_START	0xff00000000000000ULL

/* Name of code at an address that may have had other code before and after. */
#define CHANGED			"[unknown: unmapped or replaced]"

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
	gprof_code_versions_free(&r->versions);
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
static bool holds(const struct gprof_resolver *r, const struct gprof_mapped_part *placed,
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
	r->placed[r->nr_placed++] = (struct gprof_mapped_part){ vma->object, space, mapping - 1 };
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
	gprof_code_versions_init(&r->versions, p);
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
static int load_kernel(struct gprof_resolver *r, bool anew)
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
		struct gprof_mapped_part placed = r->placed[i];

		if (!placed.object) {
			if (numbers[placed.space] == GPROF_NONE)
				continue;
			placed.space = numbers[placed.space];
		}
		r->placed[nr++] = placed;
	}
	r->nr_placed = nr;
}

void gprof_resolver_need_files(const struct gprof_resolver *r)
{
	size_t i;

	for (i = 0; i < r->nr_placed; i++)
		if (r->placed[i].object)
			r->placed[i].object->needed = true;
	for (i = 0; i < r->nr_unnamed; i++)
		r->unnamed[i].object->needed = true;
}

/* The name at an address, or NULL, and the image that it is in, or NULL. */
static int find_in_kernel(struct gprof_resolver *r, uint64_t addr, const char **name,
			  const struct gprof_kernel_image **image)
{
	if (!r->kernel_looked && load_kernel(r, false))
		return -ENOMEM;
	*name = gprof_kernel_find(r->spaces->kernel, addr, image);
	if ((*image && (*image)->permanent) || r->kernel_anew)
		return 0;
	/* It may have come since, and be where another was. */
	if (load_kernel(r, true))
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
		if (location == GPROF_NONE ||
		    (name && gprof_resolver_name_as(r, location, name, "", 0)))
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
		vma = gprof_space_vma(space, s->exec_map_seq, s->time, addr, &place->changed);
	if (!vma)
		return 0;
	if (vma->object && vma->object->elf) {
		place->object = vma->object;
		place->offset = addr - vma->start + vma->offset;
		place->has_vaddr = gprof_object_vaddr(vma->object, place->offset, &place->vaddr);
	}
	return place_vma(r, space, vma, addr, place);
}

/* Generated code, of which there may have been several at an address. */
static int generated_frame(struct gprof_resolver *r, struct gprof_space *space,
			   const struct gprof_stack *s, const struct place *place, uint64_t addr)
{
	const char *name = place->changed ? CHANGED : NULL, *file = "";
	uint64_t to = s->last > s->time ? s->last : s->time;
	struct gprof_code_entry *known = NULL;
	uint32_t location, function, line = 0;
	struct gprof_jit_code code;

	if (gprof_space_generated(space, addr, s->time, to, &code)) {
		name = code.name ? code.name : CHANGED;
		file = code.file ? code.file : "";
		line = code.line;
		r->changed += !code.name;
	}
	if (name && code.id)
		known = gprof_code_versions_find(&r->versions, place->mapping, place->address,
						 code.id);
	if (known && known->id == code.id && known->address == place->address &&
	    known->mapping == place->mapping)
		return push(r, known->location);
	if (!name) {
		location = gprof_profile_find_location(r->p, place->mapping, place->address);
		return push(r, location != GPROF_NONE ? location :
			    gprof_profile_add_location(r->p, place->mapping, place->address));
	}
	/* Programs go on compiling: the name of an address may be out of date. */
	function = gprof_resolver_function(r, name, gprof_profile_text(r->p, file), 0);
	if (function == GPROF_NONE)
		return -ENOMEM;
	location = gprof_code_versions_location(&r->versions, place->mapping, place->address,
						function, line);
	if (known && location != GPROF_NONE)
		*known = (struct gprof_code_entry){ place->address, code.id, place->mapping,
						    location };
	return push(r, location);
}

static int user_frame(struct gprof_resolver *r, struct gprof_space *space,
		      const struct gprof_stack *s, const struct place *place, uint64_t addr)
{
	uint32_t location;

	if (space && !place->has_vaddr && !place->object)
		return generated_frame(r, space, s, place, addr);
	location = gprof_profile_find_location(r->p, place->mapping, place->address);
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

/*
 * The address space of a stack: its process' own, or the one that the process began with, whose
 * stamp the stack gets then.
 */
static struct gprof_space *find_space(struct gprof_resolver *r, struct gprof_stack *s,
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
	return gprof_spaces_relative(r->spaces, &s->process, &s->exec_map_seq, addrs, nr);
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
 * Is the instruction before the return address a call of the interpreting function? Cold parts of
 * the function may lie apart from it, without a name.
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

/* A location of a line alone, which lies nowhere. */
static int push_line(struct gprof_resolver *r, const struct gprof_line *line)
{
	uint64_t key = (uint64_t)line->function << 32 | (uint32_t)line->line;
	uint32_t location;

	if (line->function == GPROF_NONE)
		return -ENOMEM;
	location = gprof_map64_get(&r->by_line, key);
	if (location == GPROF_NONE) {
		location = gprof_profile_append_location(r->p, 0, 0);
		if (location == GPROF_NONE ||
		    gprof_profile_set_lines(r->p, location, line, 1) ||
		    gprof_map64_put(&r->by_line, key, location))
			return -ENOMEM;
	}
	return push(r, location);
}

/* A name in the place of frames that are not known. */
static int push_name(struct gprof_resolver *r, const char *name)
{
	return push_line(r, &(struct gprof_line){
		.function = gprof_resolver_function(r, name, 0, 0) });
}

/* Stacks whose outermost callers are not known stand apart, with why. */
static int cut_frame(struct gprof_resolver *r, uint16_t flags)
{
	uint32_t end = GPROF_STACK_REC_END(flags);
	const char *why = "no frame pointer";
	char name[64];

	if (flags & GPROF_STACK_REC_F_TABLES || end == GPROF_STACK_END_TIME)
		why = gprof_stack_end_name(end);
	snprintf(name, sizeof(name), why ? "[cut: %s]" : "[cut]", why);
	return push_name(r, name);
}

/* @frame: its two words. */
static int python_frame(struct gprof_resolver *r, const struct gprof_space *space,
			const uint64_t *frame)
{
	const struct gprof_python_code *code = NULL;
	struct gprof_line line = { 0 };

	if (space)
		code = gprof_python_find(&space->python, frame);
	if (code) {
		struct gprof_function f = {
			.name = gprof_resolver_text(r, code->name),
			.filename = gprof_resolver_text(r, code->file),
			.start_line = code->first_line,
		};

		f.system_name = f.name;
		if (f.name == GPROF_NONE || f.filename == GPROF_NONE)
			return -ENOMEM;
		line.function = gprof_profile_function(r->p, &f);
		line.line = gprof_python_line(code, frame[0]);
	} else {
		r->unread++;
		line.function = gprof_resolver_function(r, PYTHON_UNKNOWN, 0, 0);
	}
	return push_line(r, &line);
}

/* The outermost frame of Python among @order, where there were more of them; @nr: none. */
static size_t last_python(const struct gprof_stack *s, const uint64_t *user,
			  const uint32_t *order, size_t nr)
{
	size_t j = s->flags & GPROF_STACK_REC_F_PYTHON_CUT ? nr : 0;

	while (j && !(user[order[j - 1]] >> 63))
		j--;
	return j ? j - 1 : nr;
}

int gprof_resolve_stack(struct gprof_resolver *r, const struct gprof_stack *stack,
			const uint64_t *frames)
{
	const uint64_t *user = frames + stack->nr_kernel;
	struct gprof_stack own = *stack, *s = &own;
	struct gprof_space *space = NULL;
	struct place place, leaf = { 0 };
	uint32_t *order = NULL;
	size_t i, j, nr = s->nr_user, last;
	int err = 0;

	if (gprof_is_cancelled())
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
	last = order ? last_python(s, user, order, nr) : nr;
	for (j = 0; j < nr && !err; j++) {
		uint64_t addr;

		i = order ? order[j] : j;
		if (user[i] >> 63) {
			err = python_frame(r, space, &user[i]);
			if (!err && j == last)
				err = push_name(r, "[cut: more Python frames]");
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
			err = user_frame(r, space, s, &place, addr);
		if (place.changed)
			r->changed++;
		else if (!place.mapping)
			r->unmapped++;
		if (!i)
			leaf = place;
	}
	free(order);
	if (!err && s->nr_user && s->flags & GPROF_STACK_REC_F_USER_CUT)
		err = cut_frame(r, s->flags);
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
		if (location == GPROF_NONE ||
		    gprof_resolver_name_as(r, location, "[no stack]", "", 0))
			return -ENOMEM;
	}
	return push(r, location);
}
