/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * dictionary.h: the ProfilesDictionary of a request, filled as samples need it.
 *
 * Each of its tables has each item once, told apart by its encoding, and begins with the
 * item that says nothing. Items refer to earlier ones alone: without its last additions
 * to each table it is still whole, which is how a request ends before a sample that does
 * not fit.
 */
#ifndef GPROF_OTLP_DICTIONARY_H
#define GPROF_OTLP_DICTIONARY_H

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/table.h"
#include "base/wire.h"
#include "profile/profile.h"

/* Its tables by their fields' numbers. */
enum gprof_otlp_field {
	GPROF_OTLP_MAPPINGS = 1,
	GPROF_OTLP_LOCATIONS,
	GPROF_OTLP_FUNCTIONS,
	GPROF_OTLP_LINKS,
	GPROF_OTLP_STRINGS,
	GPROF_OTLP_ATTRIBUTES,
	GPROF_OTLP_STACKS,
	GPROF_OTLP_FIELDS,
};

/**
 * struct gprof_otlp_table - one of the tables
 * @wire: items, encoded as fields of the dictionary
 * @starts: where in it each begins
 * @nr: how many
 * @cap: room in @starts
 * @index: finds them
 */
struct gprof_otlp_table {
	struct gprof_wire wire;
	size_t *starts;
	size_t nr;
	size_t cap;
	struct gprof_table index;
};

/**
 * struct gprof_otlp_entry - numbers of a profile's parts in the dictionary
 * @v: for each part the number below, and the dictionary's epoch above
 */
struct gprof_otlp_entry {
	uint64_t *v;
};

/* A label, the attribute that it is, and the number of its key. */
struct gprof_otlp_label {
	struct gprof_label label;
	uint32_t attribute;
	uint32_t key;
};

/**
 * struct gprof_otlp_stack - a stack of the profile that has a number
 * @locations: where it lies in the profile's stacks
 * @nr_locations: frames
 * @number: in the dictionary
 * @mappings: how often it gets into another mapping
 */
struct gprof_otlp_stack {
	size_t locations;
	uint32_t nr_locations;
	int32_t number;
	uint32_t mappings;
};

/**
 * struct gprof_otlp_dictionary - the dictionary
 * @p: the profile that is exported
 * @no_names: leave out functions
 * @bytes_max: give up adding the places of a sample beyond
 * @tables: by field
 * @strings: numbers of the profile's texts
 * @functions: likewise functions
 * @mappings: likewise mappings
 * @locations: likewise locations
 * @epoch: of the numbers that are those of this request
 * @labels: that are attributes
 * @nr_labels: how many
 * @cap_labels: room
 * @labels_index: finds them
 * @stacks: of the profile that have numbers
 * @nr_stacks: how many
 * @cap_stacks: room
 * @stacks_index: finds them
 * @stack: room for the locations of a stack
 * @cap_stack: elements of it
 * @failed: there was no memory
 */
struct gprof_otlp_dictionary {
	const struct gprof_profile *p;
	bool no_names;
	uint64_t bytes_max;
	struct gprof_otlp_table tables[GPROF_OTLP_FIELDS];
	struct gprof_otlp_entry strings;
	struct gprof_otlp_entry functions;
	struct gprof_otlp_entry mappings;
	struct gprof_otlp_entry locations;
	uint32_t epoch;
	struct gprof_otlp_label *labels;
	size_t nr_labels;
	size_t cap_labels;
	struct gprof_table labels_index;
	struct gprof_otlp_stack *stacks;
	size_t nr_stacks;
	size_t cap_stacks;
	struct gprof_table stacks_index;
	uint32_t *stack;
	size_t cap_stack;
	bool failed;
};

/* Where each table ends at some time. */
struct gprof_otlp_mark {
	size_t nr[GPROF_OTLP_FIELDS];
};

/** gprof_otlp_dictionary_init() - for the requests of a profile; 0 or -ENOMEM */
int gprof_otlp_dictionary_init(struct gprof_otlp_dictionary *d, const struct gprof_profile *p);
void gprof_otlp_dictionary_free(struct gprof_otlp_dictionary *d);

/** gprof_otlp_dictionary_begin() - empty, for the next request */
void gprof_otlp_dictionary_begin(struct gprof_otlp_dictionary *d);

/** gprof_otlp_fields() - add the fields of a message, at the present level */
void gprof_otlp_fields(struct gprof_wire *w, const ProtobufCMessage *m);
/** gprof_otlp_message() - add a message as a field */
void gprof_otlp_message(struct gprof_wire *w, unsigned int field, const ProtobufCMessage *m);

/* These return the number of an item, added where it is not there; look at @failed. */
int32_t gprof_otlp_string(struct gprof_otlp_dictionary *d, const char *text);
/**
 * gprof_otlp_stack() - of a sample; -1 when its places alone take more than @bytes_max
 *
 * @mappings gets how often it gets into another mapping.
 */
int32_t gprof_otlp_stack(struct gprof_otlp_dictionary *d, const struct gprof_sample *s,
			 uint32_t *mappings);
/** gprof_otlp_label() - a label as an attribute; @key gets the number of its key's text */
int32_t gprof_otlp_label(struct gprof_otlp_dictionary *d, const struct gprof_label *l,
			 uint32_t *key);
/** gprof_otlp_comments() - the profile's comments as an attribute; 0: none, -1: too many */
int32_t gprof_otlp_comments(struct gprof_otlp_dictionary *d);

/** gprof_otlp_dictionary_size() - encoded bytes of it */
size_t gprof_otlp_dictionary_size(const struct gprof_otlp_dictionary *d);
void gprof_otlp_dictionary_mark(const struct gprof_otlp_dictionary *d,
				struct gprof_otlp_mark *mark);
/** gprof_otlp_dictionary_put() - add it to a request as it was at @mark */
void gprof_otlp_dictionary_put(const struct gprof_otlp_dictionary *d,
			       const struct gprof_otlp_mark *mark, struct gprof_wire *to,
			       unsigned int field);

#endif /* GPROF_OTLP_DICTIONARY_H */
