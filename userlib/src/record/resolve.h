/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * resolve.h: from addresses of processes and the kernel to locations with names.
 *
 * A location of pprof is an address in a mapping. Processes share addresses, and one file lies at
 * different addresses in them; here a mapping stands for a piece of a file, at the address where
 * it was first seen, and addresses of other processes in that piece are moved there.
 */
#ifndef GPROF_RESOLVE_H
#define GPROF_RESOLVE_H

#include <stddef.h>
#include <stdint.h>

#include "code_versions.h"
#include "symbol/process.h"
#include "profile/profile.h"

/**
 * struct gprof_mapped_part - a mapping of the profile and its file
 * @object: file, or NULL
 * @space: index of the address space, where there is no file
 * @mapping: index in the profile
 */
struct gprof_mapped_part {
	struct gprof_object *object;
	size_t space;
	uint32_t mapping;
};

/**
 * struct gprof_unnamed - a location that waits for its name
 * @object: file
 * @vaddr: address in it
 * @location: index in the profile
 */
struct gprof_unnamed {
	struct gprof_object *object;
	uint64_t vaddr;
	uint32_t location;
};

/**
 * struct gprof_resolver - state of the work
 * @p: profile
 * @spaces: address spaces, and the kernel's names
 * @kernel_looked: have these been looked at for this profile, and are those of now?
 * @kernel_anew: were they read for it?
 * @kernel_mappings: index + 1 in the profile of each kernel image
 * @kernel_rest: index + 1 of the mapping of other kernel addresses
 * @hidden: kernel frames that have no name since the kernel hides its addresses
 * @unmapped: user frames where no mapping is known
 * @changed: user frames where one is known, but may not have been there
 * @texts: bytes of names that files have put into the profile
 * @left_out: locations that have no name since that is too much
 * @guessed: guesses at the caller of a leaf that were right
 * @dropped: ... that were wrong
 * @mixed: stacks with frames of Python
 * @unmixed: ... which are left out, for it is not known where they belong
 * @unread: frames of Python whose code could not be read
 * @versions: locations of generated code
 * @by_line: location of a frame of Python, by its function and line
 * @by_vma: index in @placed, by the address of a struct gprof_vma
 * @names: name for people, by symbol; both are texts of the profile
 * @stack: locations of the last stack, leaf first
 */
struct gprof_resolver {
	struct gprof_profile *p;
	struct gprof_spaces *spaces;
	bool kernel_looked;
	bool kernel_anew;
	uint32_t *kernel_mappings;
	uint32_t kernel_rest;
	uint64_t hidden;
	uint64_t unmapped;
	uint64_t changed;
	uint64_t texts;
	uint64_t left_out;
	uint64_t guessed;
	uint64_t dropped;
	uint64_t mixed;
	uint64_t unmixed;
	uint64_t unread;
	struct gprof_code_versions versions;
	struct gprof_map64 by_line;
	GPROF_ARRAY(struct gprof_mapped_part, placed);
	struct gprof_map64 by_vma;
	struct gprof_map64 names;
	GPROF_ARRAY(struct gprof_unnamed, unnamed);
	GPROF_ARRAY(uint32_t, stack);
};

/**
 * gprof_resolver_init() - begin
 * @r: resolver
 * @p: profile that gets the locations
 * @spaces: address spaces
 * @main: program run whose program becomes the first mapping, or NULL
 */
int gprof_resolver_init(struct gprof_resolver *r, struct gprof_profile *p,
			struct gprof_spaces *spaces, const struct gprof_process *main);
void gprof_resolver_free(struct gprof_resolver *r);

/** gprof_resolve_stack() - locations of a stack into @r->stack; 0 or -ENOMEM */
int gprof_resolve_stack(struct gprof_resolver *r, const struct gprof_stack *s,
			const uint64_t *frames);

/** gprof_resolve_none() - a location that says that there is no stack */
int gprof_resolve_none(struct gprof_resolver *r);

/** gprof_resolver_kernel_of() - go on with the kernel's names of another, which ends; 0 or -ENOMEM */
int gprof_resolver_kernel_of(struct gprof_resolver *r, const struct gprof_resolver *old);

/**
 * gprof_resolver_spaces_kept() - address spaces were forgotten
 * @r: resolver
 * @numbers: new index of each, by the one it had; GPROF_NONE: it was forgotten
 */
void gprof_resolver_spaces_kept(struct gprof_resolver *r, const uint32_t *numbers);

/** gprof_resolver_need_files() - those that locations of the profile are in are to be kept */
void gprof_resolver_need_files(const struct gprof_resolver *r);

#endif /* GPROF_RESOLVE_H */
