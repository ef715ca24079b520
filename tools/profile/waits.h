/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Samples of waits as people ask for them: from the place where the program waits, below the reason
 * of the wait; without the kernel's way to the scheduler, and without the waits of threads that
 * have nothing to do.
 */
#ifndef TOOLS_PROFILE_WAITS_H
#define TOOLS_PROFILE_WAITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gprof/profile.h>

#include "frames.h"

/**
 * struct waits_reason - the frame of a reason
 * @text: its name
 * @frame: its number
 */
struct waits_reason {
	char *text;
	uint32_t frame;
};

/**
 * struct waits - how waits are shown; all zeroes is as above
 * @kernel: stacks as they were recorded, the kernel's frames too
 * @all: with idle waits
 * @are: the values are of waits
 * @ready: these are known:
 * @hides: idle waits are hidden
 * @idle: the idle waits, by reason
 * @whole: all waits
 * @reported: this was told
 * @reasons: the frame above the functions, for each reason
 * @nr_reasons: how many
 * @room_reasons: of @reasons
 */
struct waits {
	bool kernel;
	bool all;
	bool are;
	bool ready;
	bool hides;
	double idle[3];
	double whole;
	bool reported;
	struct waits_reason *reasons;
	size_t nr_reasons;
	size_t room_reasons;
};

/* waits_look() - before a walk: are the values of type @type, whose name is @name, of waits? */
void waits_look(struct waits *w, const struct gprof_profile *p, size_t type, const char *name);

/* waits_hide() - is a sample with these labels left out? */
bool waits_hide(const struct waits *w, const struct gprof_profile *p, uint32_t labels);

/* waits_frames() - the frames of a sample as they are shown, in their stack; returns how many */
size_t waits_frames(struct waits *w, const struct gprof_profile *p, struct frames *frames,
		    uint32_t labels, size_t nr);

/* waits_report() - after a walk: one line of what is hidden */
void waits_report(struct waits *w);

void waits_free(struct waits *w);

#endif /* TOOLS_PROFILE_WAITS_H */
