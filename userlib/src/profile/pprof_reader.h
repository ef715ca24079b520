/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * pprof_reader.h: a message of profile.proto that becomes a profile, for the files that each
 * take a part of it: the head (pprof_head.c), code (pprof_code.c) and samples
 * (pprof_samples.c).
 */
#ifndef GPROF_PPROF_READER_H
#define GPROF_PPROF_READER_H

#include "base/error.h"
#include "base/pprof_fields.h"
#include "pprof_ids.h"
#include "pprof_input.h"
#include "pprof_into.h"
#include "pprof_memo.h"
#include "profile.h"

/**
 * struct gprof_pprof_reader - state of reading a message into a profile
 * @error: gets the text of a failure
 * @plain: the message
 * @kinds: for each field of it, where the first of its parts begins, and the last ends
 * @p: profile
 * @places: its mappings and locations, where it is a sum of several files; or NULL
 * @text: string number of the message to that of the profile
 * @nr_text: how many
 * @cap_text: room in it
 * @mappings: id to index in @placed
 * @placed: that mapping of the profile, and the difference of its address there
 * @cap_placed: room in it
 * @functions: id to index
 * @locations: likewise
 * @nr_frames: of each location
 * @several: one has more than one
 * @cap_nr_frames: room in it
 * @frames: of all samples
 * @stack: room for the locations of a sample
 * @cap_stack: elements of it
 * @values: room for the values of a sample
 * @cap_values: elements of it
 * @labels: room for the labels of a sample
 * @cap_labels: elements of it
 * @lines: room for the lines of a location
 * @cap_lines: elements of it
 * @memo: sets of labels that were read
 */
struct gprof_pprof_reader {
	struct gprof_error *error;
	struct gprof_pprof_parts plain;
	struct gprof_pprof_parts kinds[DOC_URL + 1];
	struct gprof_profile *p;
	struct gprof_locations *places;
	uint32_t *text;
	size_t nr_text;
	size_t cap_text;
	struct gprof_ids mappings;
	struct gprof_pprof_placed {
		uint32_t mapping;
		uint64_t lower;
	} *placed;
	size_t nr_placed;
	size_t cap_placed;
	struct gprof_ids functions;
	struct gprof_ids locations;
	uint32_t *nr_frames;
	bool several;
	size_t cap_nr_frames;
	uint64_t frames;
	uint32_t *stack;
	size_t cap_stack;
	int64_t *values;
	size_t cap_values;
	struct gprof_label *labels;
	size_t cap_labels;
	struct gprof_line *lines;
	size_t cap_lines;
	struct gprof_memo memo;
};

#define GPROF_PPROF_ROOM(r, name, n) \
	gprof_grow_within(&(r)->p->budget, &(r)->name, &(r)->cap_##name, n, sizeof(*(r)->name))

/* gprof_pprof_bad() - why it is no profile; -EBADMSG */
int gprof_pprof_bad(const struct gprof_pprof_reader *r, const char *what);

/* gprof_pprof_invalid() - likewise of a violation of the schema */
int gprof_pprof_invalid(const struct gprof_pprof_reader *r);

/* gprof_pprof_no_memory() - or none that is allowed; -ENOMEM or -EFBIG */
int gprof_pprof_no_memory(const struct gprof_pprof_reader *r);

/**
 * gprof_pprof_numbers() - a message of numbers alone
 * @r: reader
 * @message: the part that it is
 * @values: gets the number of each field, 0 where there is none; of several the last counts
 * @nr: fields from 1 to @nr - 1; others are ignored
 *
 * Return: 0 or -errno.
 */
int gprof_pprof_numbers(const struct gprof_pprof_reader *r, const struct gprof_pprof_part *message,
			uint64_t *values, size_t nr);

/* gprof_pprof_each() - all parts of one kind, which most often lie together */
int gprof_pprof_each(struct gprof_pprof_reader *r, unsigned int field,
		     int (*take)(struct gprof_pprof_reader *r,
				 const struct gprof_pprof_part *part));

/* gprof_pprof_text() - the profile's number of the message's string */
static inline int gprof_pprof_text(const struct gprof_pprof_reader *r, uint64_t index, uint32_t *out)
{
	if (index >= r->nr_text)
		return gprof_pprof_bad(r, "it refers to a string that is not there");
	*out = r->text[index];
	return 0;
}

/* gprof_pprof_head() - strings, and all that is there once; also the first look at all parts */
int gprof_pprof_head(struct gprof_pprof_reader *r);

/* gprof_pprof_code() - mappings, functions and locations, after the head */
int gprof_pprof_code(struct gprof_pprof_reader *r);

/* gprof_pprof_samples() - samples, after the code */
int gprof_pprof_samples(struct gprof_pprof_reader *r);

#endif /* GPROF_PPROF_READER_H */
