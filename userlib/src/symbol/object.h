/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * object.h: files that code was mapped from.
 *
 * A file is opened as soon as its mapping is known, so that it can still be
 * read when it has been deleted or replaced, or its process has ended.
 */
#ifndef GPROF_OBJECT_H
#define GPROF_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "file_pool.h"
#include "name_cache.h"
#include "mapped_file.h"
#include "python_object.h"
#include "symbolizer.h"
#include "base/table.h"

/**
 * struct gprof_segment - a PT_LOAD
 * @offset: in the file
 * @filesz: bytes in the file
 * @vaddr: address
 * @align: of both
 * @exec: code
 */
struct gprof_segment {
	uint64_t offset;
	uint64_t filesz;
	uint64_t vaddr;
	uint64_t align;
	bool exec;
};

/**
 * struct gprof_object - a file that code was mapped from
 * @id: identity; @id.path is @path
 * @path: path
 * @at: a mapping of it, to open it again by
 * @file: the open file, or NULL
 * @tries: how often it could not be opened
 * @why: why it could not, or why symbols of it were left out
 * @size: bytes of the file
 * @mtime: when it was last written to
 * @elf: it is an ELF file, and the following was read
 * @foreign: of a machine that is not ours
 * @build_id: build-id note
 * @build_id_len: its bytes, 0 for none
 * @segments: PT_LOADs
 * @nr_segments: how many
 * @symbolizer: once needed
 * @no_symbolizer: could not be had
 * @has_debug: it, or its debug file, had debug symbols when @symbolizer was closed last
 * @names: its addresses in gprof_objects.names
 * @mappings: how many processes have mapped it, once gprof_target_files() has looked
 * @code: bytes of code of the last of them
 * @tabled: the maker of unwind tables has seen it
 * @python_looked: it is known whether it has an interpreter of Python
 * @python: that, or NULL
 * @other_python: version of one that is not known, or 0
 * @needed: gprof_objects_keep() is to keep it
 */
struct gprof_object {
	struct gprof_file_id id;
	char *path;
	struct gprof_mapped_at at;
	struct gprof_pool_file *file;
	unsigned int tries;
	enum gprof_missing why;
	uint64_t size;
	struct timespec mtime;
	bool elf;
	bool foreign;
	unsigned char build_id[GPROF_BUILD_ID_MAX];
	size_t build_id_len;
	struct gprof_segment *segments;
	size_t nr_segments;
	struct gprof_symbolizer *symbolizer;
	bool no_symbolizer;
	bool has_debug;
	struct gprof_map64 names;
	size_t mappings;
	uint64_t code;
	bool tabled;
	bool python_looked;
	struct gprof_python_object *python;
	uint32_t other_python;
	bool needed;
};

/**
 * struct gprof_objects - all files, each once
 * @v: the files
 * @nr: how many
 * @cap: room in @v
 * @table: finds them by identity
 * @vdso: this process' vDSO, or NULL; stands for everyone's
 * @names: cache of names at their addresses
 */
struct gprof_objects {
	struct gprof_object **v;
	size_t nr;
	size_t cap;
	struct gprof_table table;
	struct gprof_object *vdso;
	struct gprof_name_cache names;
};

void gprof_objects_init(struct gprof_objects *o);
void gprof_objects_free(struct gprof_objects *o);

/**
 * gprof_objects_get() - the file of a mapping
 * @o: files
 * @id: identity
 * @at: a mapping of it, to find the file by
 *
 * Return: object that lives until gprof_objects_keep() forgets it, opened if that was
 * possible, or NULL without memory.
 */
struct gprof_object *gprof_objects_get(struct gprof_objects *o, const struct gprof_file_id *id,
				       const struct gprof_mapped_at *at);

/** gprof_objects_add() - a file that no mapping leads to, by its open descriptor, which is taken */
struct gprof_object *gprof_objects_add(struct gprof_objects *o, const struct gprof_file_id *id, int fd);

/** gprof_objects_vdso() - the vDSO; NULL when there is none */
struct gprof_object *gprof_objects_vdso(struct gprof_objects *o);

/**
 * gprof_objects_keep() - forget the files that are not needed, so that none points to them
 * @o: files, but for the vDSO; none of them is needed afterwards, until it is said again
 *
 * Return: 0 or -ENOMEM, all being left as it was.
 */
int gprof_objects_keep(struct gprof_objects *o);

/** gprof_object_vaddr() - address of a place in the file; false when it is not loaded */
bool gprof_object_vaddr(const struct gprof_object *obj, uint64_t offset, uint64_t *vaddr);

/** gprof_object_dup() - its open file, as it was; -1: it was closed, or written to since */
int gprof_object_dup(struct gprof_object *obj);

/** gprof_object_open() - likewise; opens a file again that was closed to make room */
int gprof_object_open(struct gprof_object *obj);

/** gprof_object_python() - the interpreter of Python that it has, as long as it is there; or NULL */
struct gprof_python_object *gprof_object_python(struct gprof_object *obj);

/** gprof_object_symbolizer() - open it, or NULL */
struct gprof_symbolizer *gprof_object_symbolizer(struct gprof_object *obj);

/** gprof_object_done() - close the symbolizer again */
void gprof_object_done(struct gprof_object *obj);

#endif /* GPROF_OBJECT_H */
