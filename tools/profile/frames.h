/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The frames of a profile by numbers: those of a location lie one after the other, so that a stack
 * is numbers, and a view evaluates each frame once.
 */
#ifndef TOOLS_PROFILE_FRAMES_H
#define TOOLS_PROFILE_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gprof/profile.h>

/**
 * struct frames - all frames that there are
 * @all: frames, with texts of the profile or of the code that added them
 * @nr: how many
 * @room: of @all
 * @first: number of the first frame of each location, and after the last location @nr of then
 * @nr_locations: how many
 * @one_each: a location has one frame, of the same number
 * @stack: room for the frames of a sample
 * @room_stack: of @stack
 */
struct frames {
	struct gprof_frame *all;
	size_t nr;
	size_t room;
	uint32_t *first;
	size_t nr_locations;
	bool one_each;
	uint32_t *stack;
	size_t room_stack;
};

/* frames_of() - those of a profile, as it names functions now; frames_free() */
struct frames *frames_of(const struct gprof_profile *p);
void frames_free(struct frames *f);

/* frames_add() - one that the profile does not have; returns its number */
uint32_t frames_add(struct frames *f, const struct gprof_frame *frame);

/* frames_room() - room for @nr frames in @stack */
void frames_room(struct frames *f, size_t nr);

/* frames_stack() - the frames of a sample to @stack, leaf first; returns how many */
size_t frames_stack(struct frames *f, const struct gprof_profile_stack *s);

struct json;
/* frames_json() - "stack": of frames as profiles have them, leaf first */
void frames_json(struct json *j, const struct gprof_frame *frames, size_t nr);

#endif /* TOOLS_PROFILE_FRAMES_H */
