/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * a64_leaves.h: functions of arm64 without unwind information that keep their return
 * address in x30, as the vDSO's do.
 */
#ifndef GPROF_A64_LEAVES_H
#define GPROF_A64_LEAVES_H

#include "image.h"

/**
 * struct gprof_text - text in the file
 * @from: place
 * @to: place after it
 */
struct gprof_text {
	uint32_t from;
	uint32_t to;
};

/**
 * struct gprof_a64_leaves - leaf functions in a piece of text
 * @v: text of such functions, ascending, with something between
 * @nr: how many pieces
 * @cap: room
 */
struct gprof_a64_leaves {
	struct gprof_text *v;
	size_t nr;
	size_t cap;
};

/**
 * gprof_a64_leaves_find() - find them
 * @l: zeroed, or found before; to be freed by gprof_a64_leaves_free()
 * @img: file
 * @base: offset in the file that places count from
 * @from: first place, a multiple of 4
 * @to: place after the last
 *
 * A function is the text that branches connect. It counts where no instruction of it calls, or
 * touches sp, x29 or x30. A longer text than 64 KiB is taken for one without such functions.
 *
 * Return: 0 or -ENOMEM.
 */
int gprof_a64_leaves_find(struct gprof_a64_leaves *l, struct gprof_image *img, uint64_t base,
			  uint32_t from, uint32_t to);
void gprof_a64_leaves_free(struct gprof_a64_leaves *l);

#endif /* GPROF_A64_LEAVES_H */
