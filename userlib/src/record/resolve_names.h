/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * resolve_names.h: the functions and lines of locations, and comments on those without.
 */
#ifndef GPROF_RESOLVE_NAMES_H
#define GPROF_RESOLVE_NAMES_H

#include "resolve.h"

/** gprof_resolver_text() - a text of the profile, out of a file: of a bounded length */
uint32_t gprof_resolver_text(struct gprof_resolver *r, const char *text);

/**
 * gprof_resolver_function() - a function of the profile
 * @r: resolver
 * @symbol: its symbol
 * @file: text of its source, 0: not known
 * @start_line: where it begins, or 0
 *
 * Return: its id; GPROF_NONE without memory.
 */
uint32_t gprof_resolver_function(struct gprof_resolver *r, const char *symbol, uint32_t file,
				 int64_t start_line);

/** gprof_resolver_name_as() - a location has one function; @file "": not known; 0 or -ENOMEM */
int gprof_resolver_name_as(struct gprof_resolver *r, uint32_t location, const char *name,
			   const char *file, uint32_t number);

/**
 * struct gprof_naming - of all locations, by their number
 * @inlines: something is known of inlined functions
 * @bare: function that stands for a name, index + 1; 0: none
 */
struct gprof_naming {
	bool *inlines;
	uint32_t *bare;
};

/** gprof_naming_init() - nothing is known; 0 or -ENOMEM, and gprof_naming_free() in any case */
int gprof_naming_init(struct gprof_naming *n, const struct gprof_resolver *r);
void gprof_naming_free(struct gprof_naming *n);

/** gprof_resolver_name_unnamed() - name those of @r->unnamed that their files name; 0 or -errno */
int gprof_resolver_name_unnamed(struct gprof_resolver *r, struct gprof_naming *n);

/** gprof_mapping_has_all() - names, files, lines and inlined functions, until a location lacks them */
void gprof_mapping_has_all(struct gprof_mapping *m);

/**
 * gprof_mapping_lacks() - clear the flags that a location of it lacks; @named: it has a name, and
 * no stand-in
 */
void gprof_mapping_lacks(struct gprof_mapping *m, const struct gprof_profile *p,
			 const struct gprof_location *l, bool named, bool inlines);

/**
 * gprof_resolver_name_new() - name the locations that wait for a name, of a resolver that goes on
 */
int gprof_resolver_name_new(struct gprof_resolver *r);

/**
 * gprof_resolver_name() - name the locations that wait for a name, with comments on those without
 */
int gprof_resolver_name(struct gprof_resolver *r);

#endif /* GPROF_RESOLVE_NAMES_H */
