/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * profile.h: a profile in memory, shaped like pprof's schema.
 *
 * References between parts are indexes; ids exist in files only. Text is a
 * number in @strings, where 0 is "".
 */
#ifndef GPROF_PROFILE_DATA_H
#define GPROF_PROFILE_DATA_H

#include <gprof/profile.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/table.h"

/** struct gprof_column - a sample type */
struct gprof_column {
	uint32_t type;
	uint32_t unit;
};

/**
 * struct gprof_mapping - a piece of an object file in memory
 * @start: first address
 * @limit: address after the last
 * @offset: file offset of @start
 * @filename: object file
 * @build_id: in hexadecimal
 */
struct gprof_mapping {
	uint64_t start;
	uint64_t limit;
	uint64_t offset;
	uint32_t filename;
	uint32_t build_id;
	bool has_functions;
	bool has_filenames;
	bool has_line_numbers;
	bool has_inline_frames;
};

/** struct gprof_function - a named function */
struct gprof_function {
	uint32_t name;
	uint32_t system_name;
	uint32_t filename;
	int64_t start_line;
};

/** struct gprof_line - a place in a function */
struct gprof_line {
	uint32_t function;
	int64_t line;
	int64_t column;
};

/**
 * struct gprof_location - an address
 * @mapping: index + 1 of its mapping, or 0
 * @nr_lines: functions there: inlined ones first, innermost first
 * @lines: index of the first of them in the profile's lines
 * @address: address
 * @made: name for it in the profile's @made, when it has no lines
 * @folded: several functions may lie here
 */
struct gprof_location {
	uint32_t mapping;
	uint32_t nr_lines;
	size_t lines;
	uint64_t address;
	uint32_t made;
	bool folded;
};

/**
 * struct gprof_label - a key and a text or a number
 * @key: key
 * @str: text; 0: it is a number
 * @unit: of the number
 * @num: number
 */
struct gprof_label {
	uint32_t key;
	uint32_t str;
	uint32_t unit;
	int64_t num;
};

/**
 * struct gprof_label_set - the labels of samples, each set once
 * @first: index of the first in the profile's labels
 * @nr: how many
 */
struct gprof_label_set {
	size_t first;
	uint32_t nr;
};

/**
 * struct gprof_sample - a stack with labels; its values are in the profile's values
 * @locations: index of the leaf in the profile's stacks
 * @nr_locations: frames
 * @labels: index in the profile's label_sets
 */
struct gprof_sample {
	size_t locations;
	uint32_t nr_locations;
	uint32_t labels;
};

#define GPROF_ARRAY(type, name)		\
	type *name;			\
	size_t nr_##name;		\
	size_t cap_##name

/**
 * struct gprof_profile - a profile
 * @values: nr_columns for each sample, in the order of samples
 * @stacks: location indexes of all samples
 * @default_type: text that names the column to show
 * @types: columns as text, for gprof_profile_types()
 * @made: names of locations that have none of their own
 * @system_names: a walk names functions by their symbols
 * @frames_max: frames of the deepest sample, inlined ones counted; 0: not known yet
 * @budget: memory that all of this may take
 */
struct gprof_profile {
	struct gprof_strings strings;
	GPROF_ARRAY(struct gprof_column, columns);
	GPROF_ARRAY(struct gprof_mapping, mappings);
	GPROF_ARRAY(struct gprof_function, functions);
	GPROF_ARRAY(struct gprof_line, lines);
	GPROF_ARRAY(struct gprof_location, locations);
	GPROF_ARRAY(struct gprof_sample, samples);
	GPROF_ARRAY(uint32_t, stacks);
	GPROF_ARRAY(struct gprof_label, labels);
	GPROF_ARRAY(struct gprof_label_set, label_sets);
	GPROF_ARRAY(int64_t, values);
	GPROF_ARRAY(uint32_t, comments);
	struct gprof_column period_type;
	int64_t period;
	int64_t time_nanos;
	int64_t duration_nanos;
	uint32_t default_type;
	uint32_t drop_frames;
	uint32_t keep_frames;
	uint32_t doc_url;

	struct gprof_table functions_table;
	struct gprof_table locations_table;
	struct gprof_table label_sets_table;
	struct gprof_table samples_table;

	struct gprof_value_type *types;
	struct gprof_strings made;
	bool system_names;
	size_t frames_max;
	struct gprof_budget budget;
};

/** gprof_profile_new() - an empty profile, or NULL; its budget has no limit yet */
struct gprof_profile *gprof_profile_new(void);

/** gprof_profile_text() - number of a text, made valid UTF-8; GPROF_NONE without memory */
uint32_t gprof_profile_text(struct gprof_profile *p, const char *text);
/** gprof_profile_text_of() - likewise of at most @len bytes */
uint32_t gprof_profile_text_of(struct gprof_profile *p, const char *text, size_t len);

/* These add a part and return 0, or -ENOMEM. */
int gprof_profile_add_column(struct gprof_profile *p, const char *type, const char *unit);
int gprof_profile_add_comment(struct gprof_profile *p, const char *text);

/** gprof_profile_commentf() - add a formatted comment */
int gprof_profile_commentf(struct gprof_profile *p, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* These return an index, or GPROF_NONE without memory. */
uint32_t gprof_profile_add_mapping(struct gprof_profile *p, const struct gprof_mapping *m);
/** gprof_profile_function() - a function, each once */
uint32_t gprof_profile_function(struct gprof_profile *p, const struct gprof_function *f);
/** gprof_profile_find_location() - the location at an address of a mapping (index + 1) */
uint32_t gprof_profile_find_location(const struct gprof_profile *p, uint32_t mapping,
				     uint64_t address);
/** gprof_profile_append_location() - a location without lines, which is never looked for */
uint32_t gprof_profile_append_location(struct gprof_profile *p, uint32_t mapping,
				       uint64_t address);
/** gprof_profile_add_location() - a location that is not there yet, without lines */
uint32_t gprof_profile_add_location(struct gprof_profile *p, uint32_t mapping, uint64_t address);

/** gprof_profile_set_lines() - set the functions at a location */
int gprof_profile_set_lines(struct gprof_profile *p, uint32_t location,
			    const struct gprof_line *lines, size_t nr);

/**
 * gprof_profile_add_sample() - add values to the sample with this stack and labels
 * @p: profile
 * @locations: indexes, leaf first
 * @nr_locations: how many
 * @labels: labels
 * @nr_labels: how many
 * @values: one for each column; a sum that does not fit stays at the limit
 */
int gprof_profile_add_sample(struct gprof_profile *p, const uint32_t *locations,
			     size_t nr_locations, const struct gprof_label *labels,
			     size_t nr_labels, const int64_t *values);

/** gprof_profile_label_set() - a set of labels, each once; its index, or GPROF_NONE without memory */
uint32_t gprof_profile_label_set(struct gprof_profile *p, const struct gprof_label *labels,
				 size_t nr);

/**
 * gprof_profile_append_sample() - add a sample, though it may be like another
 * @p: profile
 * @locations: indexes, leaf first
 * @nr_locations: how many
 * @labels: index of their set
 * @values: one for each column
 */
int gprof_profile_append_sample(struct gprof_profile *p, const uint32_t *locations,
				size_t nr_locations, uint32_t labels, const int64_t *values);

/**
 * gprof_profile_add_up() - have samples that were appended in those before that are alike
 * @p: profile
 * @from: the first of them; those before are the result of this, or were added
 *
 * Return: 0, or -ENOMEM, some being added up and all there still.
 */
int gprof_profile_add_up(struct gprof_profile *p, size_t from);

/** gprof_profile_sort_labels() - those of samples that are alike have one order */
void gprof_profile_sort_labels(struct gprof_label *labels, size_t nr);

/** gprof_profile_have_samples() - no location and no sample is added any more: give up their tables */
void gprof_profile_have_samples(struct gprof_profile *p);

/** gprof_profile_finish() - complete: make the tables for views, which only read it */
int gprof_profile_finish(struct gprof_profile *p);

#endif /* GPROF_PROFILE_DATA_H */
