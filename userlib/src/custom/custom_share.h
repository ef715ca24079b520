/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * custom_share.h: the writing end of a published profile.
 */
#ifndef GPROF_CUSTOM_SHARE_H
#define GPROF_CUSTOM_SHARE_H

#include <stddef.h>

#include "base/error.h"
#include "custom_layout.h"

struct gprof_custom_share;

/**
 * gprof_custom_share_new() - publish an empty profile
 * @name: name
 * @slots_max: most stacks
 * @e: sentence
 *
 * Return: for gprof_custom_share_free(), or NULL.
 */
struct gprof_custom_share *gprof_custom_share_new(const char *name, size_t slots_max,
						  struct gprof_error *e);

/** gprof_custom_share_free() - publish it no longer; NULL is fine */
void gprof_custom_share_free(struct gprof_custom_share *s);

/** gprof_custom_share_forget() - likewise, in a child: the file is the parent's */
void gprof_custom_share_forget(struct gprof_custom_share *s);

/** gprof_custom_share_grow() - make room for @nr slots; 0 or -errno, with the room as before */
int gprof_custom_share_grow(struct gprof_custom_share *s, size_t nr, struct gprof_error *e);

/**
 * gprof_custom_share_set() - a stack is another, or another number was added with it
 * @s: share, NULL: nothing happens
 * @i: slot
 * @slot: its new contents; @seq is ignored
 * @whole: frames have changed too
 *
 * One thread at a time.
 */
void gprof_custom_share_set(struct gprof_custom_share *s, size_t i,
			    const struct gprof_custom_slot *slot, bool whole);

#endif /* GPROF_CUSTOM_SHARE_H */
