/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The functions of a profile, told apart by name, as go tool pprof does.
 */
#ifndef TOOLS_FUNCTIONS_H
#define TOOLS_FUNCTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "intern.h"
#include "profiles/memo.h"
#include "profiles/module.h"
#include "view.h"

/**
 * struct function - a function
 * @flat: values of samples in it
 * @cum: values of samples in it or below it
 * @sample: last sample that was added to @cum, from 1: once each, though it recurs
 * @inlined: frames of it that were inlined
 * @frames: frames of it
 * @name: number in the table of names
 * @mapping: file that it is in, valid while the profile is
 * @kind: of its first frame
 * @elsewhere: there are more of its name, in other files
 */
struct function {
	int64_t flat;
	int64_t cum;
	uint64_t sample;
	uint64_t inlined;
	uint64_t frames;
	size_t name;
	const char *mapping;
	enum frame_kind kind;
	bool elsewhere;
};

/**
 * struct functions - all of a profile
 * @names: their names; the numbers index @all until these are sorted
 * @all: functions
 * @nr: how many
 * @room: of @all
 * @samples: samples seen
 * @heaviest: most that one sample stands for, where the profile counts its samples
 * @counted: how many these are; -1: some are below 0, as in a difference
 * @known: functions by their texts in the profile
 */
struct functions {
	struct intern names;
	struct function *all;
	size_t nr;
	size_t room;
	uint64_t samples;
	int64_t heaviest;
	int64_t counted;
	struct memo known;
};

/* functions_add() - add a sample's frames, leaf first, and its value */
void functions_add(struct functions *fs, const struct gprof_frame *frames, size_t nr_frames,
		   int64_t value);

/* functions_number() - index of a frame's function in @all, which adds it when it is new */
size_t functions_number(struct functions *fs, const struct gprof_frame *frame);

/* functions_of() - all of what a view shows; STATUS_OK, or STATUS_FAILED after a sentence */
int functions_of(struct functions *fs, const struct view *v);

const char *functions_name(const struct functions *fs, const struct function *f);
void functions_free(struct functions *fs);

#endif /* TOOLS_FUNCTIONS_H */
