/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * cfi_gaps.h: text that no FDE is for, by its instructions.
 */
#ifndef GPROF_CFI_GAPS_H
#define GPROF_CFI_GAPS_H

#include "a64_leaves.h"
#include "image.h"
#include "rows.h"

/**
 * struct gprof_cfi_gaps - state of filling gaps
 * @img: file
 * @base: offset in the file that places of text count from
 * @text: all text, ascending, with something between
 * @nr_text: pieces of it
 * @next: the first that a gap to come may be in
 * @leaves: of the gap that was looked at last
 * @entry: place where the file begins to run; UINT64_MAX: none
 */
struct gprof_cfi_gaps {
	struct gprof_image *img;
	uint64_t base;
	struct gprof_text *text;
	size_t nr_text;
	size_t next;
	struct gprof_a64_leaves leaves;
	uint64_t entry;
};

/**
 * gprof_cfi_gaps_init() - find the text
 * @g: gaps; its base becomes where the first piece of text lies, more or less
 * @img: file, open as long as @g
 *
 * Return: 0, -ENODATA: there is no text, -EFBIG: too much, or -ENOMEM. To be freed in any case.
 */
int gprof_cfi_gaps_init(struct gprof_cfi_gaps *g, struct gprof_image *img);
void gprof_cfi_gaps_free(struct gprof_cfi_gaps *g);

/**
 * gprof_cfi_gaps_fill() - rows for a gap
 * @g: gaps
 * @rows: rows up to the gap
 * @from: where the gap begins: where an FDE ends, or 0; not before the last one's end
 * @to: where it ends: where an FDE begins, or the text ends
 *
 * Padding up to an alignment belongs to the function before it. The same goes for the code behind
 * the system call of clone(): its FDE ends there, since in the child it would be wrong. The entry
 * point has no caller. Linkers tell nothing of arm64's procedure linkage tables, and lld nothing
 * of amd64's either; kernels and C libraries not always of signal trampolines. Functions of arm64
 * that touch neither stack nor x30 return to x30. All else has no rule.
 *
 * Return: 0 or -ENOMEM.
 */
int gprof_cfi_gaps_fill(struct gprof_cfi_gaps *g, struct gprof_rows *rows, uint32_t from,
			uint32_t to);

#endif /* GPROF_CFI_GAPS_H */
