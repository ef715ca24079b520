/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * custom_stack.h: the stack of the calling thread, as the module finds it.
 */
#ifndef GPROF_CUSTOM_STACK_H
#define GPROF_CUSTOM_STACK_H

#include "base/error.h"
#include "custom_layout.h"

/** gprof_custom_stacks_open() - open the device, once for the process; 0 or -errno */
int gprof_custom_stacks_open(struct gprof_error *e);

/**
 * gprof_custom_stack() - stack of the caller
 * @s: @nr, @flags and @frames are set
 * @caller: an address that a function of ours returns to, which is the first
 * @skip: how many to leave out from there on
 * @e: sentence
 *
 * Return: 0 or -errno.
 */
int gprof_custom_stack(struct gprof_custom_slot *s, const void *caller, unsigned int skip,
		       struct gprof_error *e);

/* Around fork(): no thread is amid making tables. */
void gprof_custom_stacks_lock(void);
void gprof_custom_stacks_unlock(void);

#endif /* GPROF_CUSTOM_STACK_H */
