/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * stack_ends.h: where the walks of user stacks ended, in numbers and in words.
 */
#ifndef GPROF_STACK_ENDS_H
#define GPROF_STACK_ENDS_H

#include <linux/gprof.h>
#include <stddef.h>
#include <stdint.h>

#define GPROF_END_GUESSED 15	/* complete but for frames that were guessed */
#define GPROF_ENDS	16	/* GPROF_STACK_END_* and GPROF_END_GUESSED */
#define GPROF_END_OTHER	16	/* of stacks that were not unwound by tables */

#define GPROF_STACK_ENDS_TEXT	768	/* bytes: of the longest sentence */

/** gprof_stack_end_name() - why the walk ended there; NULL for an end that is not known */
const char *gprof_stack_end_name(unsigned int end);

/**
 * gprof_stack_ends_text() - say how many stacks are complete, and why others are not
 * @ends: stacks by how their walk ended
 * @text: gets the sentence; "" without stacks
 */
void gprof_stack_ends_text(const uint64_t ends[GPROF_ENDS], char text[GPROF_STACK_ENDS_TEXT]);

#endif /* GPROF_STACK_ENDS_H */
