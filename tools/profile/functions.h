/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The functions of a profile, told apart by name, as go tool pprof does.
 */
#ifndef TOOLS_FUNCTIONS_H
#define TOOLS_FUNCTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "cli/intern.h"
#include "module.h"
#include "view.h"

/**
 * struct function - a function
 * @flat: values of samples in it; there after functions_finish()
 * @cum: values of samples in it or below it; likewise
 * @inlined: a frame of it was inlined
 * @plain: a frame of it was not
 * @name: number in the table of names
 * @mapping: file that it is in, valid while the profile is
 * @kind: of its first frame
 * @elsewhere: there are more of its name, in other files
 */
struct function {
	int64_t flat;
	int64_t cum;
	size_t name;
	const char *mapping;
	enum frame_kind kind;
	bool inlined;
	bool plain;
	bool elsewhere;
};

/**
 * struct function_sum - sums that change with each frame of each sample, kept close
 * @cum: as in struct function
 * @sample: last sample that was added to it, from 1: once each, though it recurs
 */
struct function_sum {
	int64_t cum;
	uint64_t sample;
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
 * @sums: of each function
 * @room_sums: of @sums
 * @known: number + 1 of each frame's function, or 0
 * @room_known: of @known
 * @stack: numbers of the functions of the sample that was added last, leaf first
 * @nr_stack: how many
 * @room_stack: of @stack
 * @value: of that sample, which the sums do not have yet
 * @before: as @stack, of the sample before
 * @nr_before: how many
 * @room_before: of @before
 */
struct functions {
	struct intern names;
	struct function *all;
	size_t nr;
	size_t room;
	uint64_t samples;
	int64_t heaviest;
	int64_t counted;
	struct function_sum *sums;
	size_t room_sums;
	uint32_t *known;
	size_t room_known;
	uint32_t *stack;
	size_t nr_stack;
	size_t room_stack;
	int64_t value;
	uint32_t *before;
	size_t nr_before;
	size_t room_before;
};

/* functions_add() - add a sample's frames and its value */
void functions_add(struct functions *fs, const struct view *v, const struct view_sample *s,
		   int64_t value);

/* functions_finish() - all samples were added */
void functions_finish(struct functions *fs);

/* functions_of() - all of a view; STATUS_OK, or STATUS_FAILED after a sentence */
int functions_of(struct functions *fs, struct view *v);

/* Samples of a view that is of a difference: all, those of the base, as they were, or the others. */
enum functions_side { FUNCTIONS_ALL, FUNCTIONS_BASE, FUNCTIONS_NEW };

/*
 * functions_counted() - likewise of a side, and in @samples their numbers of samples or waits, in
 * the same order: none where the profile does not have these
 */
int functions_counted(struct functions *fs, struct functions *samples, struct view *v,
		      enum functions_side side);

#define FUNCTION_COLUMNS	100	/* of a name, unless all of it is asked for */

/**
 * functions_label() - a function as a row shows it: name, words behind it, " [FILE]"
 * @fs: functions
 * @f: one of them
 * @behind: words, or ""
 * @place: add its file, where its name does not have it
 * @columns: room for all of it, where the name gets FUNCTION_COLUMNS at most; SIZE_MAX:
 *	nothing is shortened. The file has the rest of the room behind the whole name
 *
 * Return: for free().
 */
char *functions_label(const struct functions *fs, const struct function *f, const char *behind,
		      bool place, size_t columns);

struct json;
/* functions_json() - its name, mapping and kind, as members of an object */
void functions_json(struct json *j, const struct functions *fs, const struct function *f);

const char *functions_name(const struct functions *fs, const struct function *f);
void functions_free(struct functions *fs);

#endif /* TOOLS_FUNCTIONS_H */
