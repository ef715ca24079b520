/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * a64_frames.h: arm64's prologues and epilogues, by their instructions.
 *
 * LLVM's unwind tables of arm64 have the state at the end of a prologue, and keep it through an
 * epilogue. Samples and signals come between, so the instructions' effects on the stack are
 * followed there. The result counts only where it agrees with the table: so tables that are right
 * stay as they are.
 */
#ifndef GPROF_A64_FRAMES_H
#define GPROF_A64_FRAMES_H

#include "image.h"
#include "rows.h"

struct gprof_a64_row {
	uint32_t at;
	struct gprof_unwind_rule rule;
};

/**
 * struct gprof_a64_frames - memory for one function after the other
 * @added: rows that the table lacks
 * @nr_added: how many
 * @cap_added: room
 * @old: rows that it has
 * @cap_old: room
 */
struct gprof_a64_frames {
	struct gprof_a64_row *added;
	size_t nr_added;
	size_t cap_added;
	struct gprof_row *old;
	size_t cap_old;
};

/**
 * gprof_a64_correct() - correct the rows of a function
 * @f: memory, zeroed before the first; to be freed by gprof_a64_free()
 * @rows: rows, those from @at on being the function's
 * @img: file
 * @base: offset in the file that places count from
 * @at: where the function begins
 * @len: bytes of it
 *
 * Return: 0 or -ENOMEM.
 */
int gprof_a64_correct(struct gprof_a64_frames *f, struct gprof_rows *rows,
		      struct gprof_image *img, uint64_t base, uint32_t at, uint32_t len);
void gprof_a64_free(struct gprof_a64_frames *f, struct gprof_budget *budget);

#endif /* GPROF_A64_FRAMES_H */
