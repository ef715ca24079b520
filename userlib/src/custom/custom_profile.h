/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * custom_profile.h: stacks and how many were added with each, as a profile with names.
 */
#ifndef GPROF_CUSTOM_PROFILE_H
#define GPROF_CUSTOM_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "custom_layout.h"

/**
 * struct gprof_custom_copy - a custom profile at one time
 * @name: name
 * @pid: process
 * @since_ns: since when there is the profile, CLOCK_REALTIME
 * @slots: stacks, of GPROF_CUSTOM_FRAMES_MAX frames at most; those with a count of 0 say
 *	nothing
 * @nr: how many
 * @unsteady: slots that changed whenever they were read, and are left out
 * @moving: slots are not of one instant
 * @grew: there are more slots than were read
 */
struct gprof_custom_copy {
	const char *name;
	pid_t pid;
	int64_t since_ns;
	const struct gprof_custom_slot *slots;
	size_t nr;
	size_t unsteady;
	bool moving;
	bool grew;
};

/** gprof_custom_make() - its profile, with the names that addresses have now; or NULL */
struct gprof_profile *gprof_custom_make(const struct gprof_custom_copy *copy,
					struct gprof_error *e);

#endif /* GPROF_CUSTOM_PROFILE_H */
