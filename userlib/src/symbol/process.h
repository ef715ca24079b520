/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * process.h: address spaces: which file lay where, in which process, when.
 *
 * The kernel reads the executable mappings of a process now and then and sends
 * them as MAP records. All records with one time are one reading; a stack and a
 * reading with the same exec_map_seq go together. The stamp says how much code there
 * was, and how often some that was read was unmapped.
 */
#ifndef GPROF_PROCESS_H
#define GPROF_PROCESS_H

#include <linux/gprof.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "description.h"
#include "generated.h"
#include "object.h"
#include "python_names.h"
#include "base/table.h"
#include "device/stacks.h"

/**
 * struct gprof_vma - an executable mapping
 * @start: first address
 * @end: address after the last
 * @offset: file offset of @start
 * @object: the file, or NULL
 * @path: the kernel's name of it
 */
struct gprof_vma {
	uint64_t start;
	uint64_t end;
	uint64_t offset;
	struct gprof_object *object;
	const char *path;
};

/**
 * struct gprof_reading - the executable mappings of a process at one time
 * @time: when
 * @last_time: when the same was read again for the last time
 * @exec_map_seq: stamp
 * @flags: GPROF_MAP_REC_F_FIRST and _LAST, once seen
 * @sorted: @v is in the order of addresses
 * @shared: @v is that of an earlier one, which has found the same
 * @v: mappings
 * @nr: how many
 * @cap: room
 */
struct gprof_reading {
	uint64_t time;
	uint64_t last_time;
	uint32_t exec_map_seq;
	uint16_t flags;
	bool sorted;
	bool shared;
	struct gprof_vma *v;
	size_t nr;
	size_t cap;
};

/**
 * struct gprof_space - the address space of one program run
 * @id: the program run
 * @readings: of its mappings
 * @nr: how many
 * @cap: room
 * @generated: names of code that it generates
 * @python: names of the code of an interpreter of Python
 * @description: cgroup and published context
 * @over: not needed any more, but for a child of it
 */
struct gprof_space {
	struct gprof_process id;
	struct gprof_reading *readings;
	size_t nr;
	size_t cap;
	struct gprof_generated generated;
	struct gprof_python_names python;
	struct gprof_description description;
	bool over;
};

/**
 * struct gprof_spaces - all address spaces
 * @v: address spaces
 * @nr: how many
 * @cap: room
 * @table: finds them by program run
 * @objects: files
 * @paths: names of mappings
 * @python_bytes: memory of all code objects, which programs may make as large as they like
 * @kernel: names of the kernel, which others share; NULL: not yet needed
 */
struct gprof_spaces {
	struct gprof_space *v;
	size_t nr;
	size_t cap;
	struct gprof_table table;
	struct gprof_objects objects;
	struct gprof_strings paths;
	uint64_t python_bytes;
	struct gprof_kernel *kernel;
};

int gprof_spaces_init(struct gprof_spaces *s);
void gprof_spaces_free(struct gprof_spaces *s);

/**
 * gprof_spaces_map() - take a MAP record, and open its file
 * @s: address spaces
 * @rec: record
 * @path: its path
 *
 * Return: 0 or -ENOMEM.
 */
int gprof_spaces_map(struct gprof_spaces *s, const struct gprof_map_rec *rec, const char *path);

/** gprof_spaces_find() - the address space of a program run, or NULL */
struct gprof_space *gprof_spaces_find(struct gprof_spaces *s, const struct gprof_process *id);

/**
 * gprof_spaces_keep() - forget address spaces, so that no struct gprof_vma is valid any more
 * @s: address spaces
 * @keep: is this one kept? They are asked for in their order
 * @ctx: passed on
 *
 * Files and names of mappings stay, until they are forgotten (process_files.h).
 *
 * Return: 0 or -ENOMEM, all being left as it was.
 */
int gprof_spaces_keep(struct gprof_spaces *s,
		      bool (*keep)(void *ctx, const struct gprof_process *id), void *ctx);

/**
 * gprof_spaces_describe() - find the description of a new process
 * @s: address spaces
 * @id: program run; one without a space has no description
 */
void gprof_spaces_describe(struct gprof_spaces *s, const struct gprof_process *id);

/**
 * gprof_spaces_call() - set the name of a process, unless it has one
 * @s: address spaces
 * @id: program run; one without a space is called nothing
 * @comm: name of its first thread; NULL: as the file is that it runs
 *
 * Return: 0 or -ENOMEM.
 */
int gprof_spaces_call(struct gprof_spaces *s, const struct gprof_process *id, const char *comm);

/** gprof_spaces_describe_all() - look at all that live yet, for the last time */
void gprof_spaces_describe_all(struct gprof_spaces *s);

/**
 * gprof_spaces_read_python() - read the unknown code objects of a stack's frames of Python; 0 or
 * -ENOMEM
 */
int gprof_spaces_read_python(struct gprof_spaces *s, const struct gprof_process *id,
			     const uint64_t *user, size_t nr);

/** gprof_spaces_generate_again() - programs have gone on compiling: look at their maps again */
void gprof_spaces_generate_again(struct gprof_spaces *s);

/** gprof_space_generated() - gprof_generated_find() of a program run, which is looked at now */
bool gprof_space_generated(struct gprof_space *space, uint64_t addr, uint64_t from, uint64_t to,
			   struct gprof_jit_code *code);

#endif /* GPROF_PROCESS_H */
