/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * python_mix.h: where the frames of an interpreter of Python are among those of C code.
 *
 * A call of the function that interprets is one C frame, and runs some frames of Python's,
 * the outermost of which says so. So the frames come in runs, and as many as there are such
 * C frames, which they take the place of. Where that does not come out even, it is not known
 * which belong where, and nothing is made up.
 */
#ifndef GPROF_PYTHON_MIX_H
#define GPROF_PYTHON_MIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Roles of a C frame. */
enum gprof_python_role {
	GPROF_PYTHON_OTHER,
	GPROF_PYTHON_EVAL,		/* the function that interprets */
	GPROF_PYTHON_EVAL_BEGIN,	/* at its very beginning */
};

/**
 * gprof_python_mix() - put a stack's user frames into their order
 * @user: frames as the kernel told them, the leaf first
 * @nr: how many
 * @flags: of the stack, GPROF_STACK_REC_F_*
 * @roles: of each that is C code's
 * @order: gets the indices in @user of all frames from the leaf on: C frames, and of others the
 *	first word; room for @nr
 *
 * Return: how many; 0: it is not known.
 */
size_t gprof_python_mix(const uint64_t *user, size_t nr, uint16_t flags,
			const enum gprof_python_role *roles, uint32_t *order);

#endif /* GPROF_PYTHON_MIX_H */
