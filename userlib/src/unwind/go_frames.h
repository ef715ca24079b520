/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * go_frames.h: rows of Go's functions.
 *
 * Go says of each instruction how much its function has on the stack. On amd64 the word below
 * the return address is the caller's frame pointer, where a function has a frame at all; on
 * arm64 the return address is the lowest word, and the frame pointer below it. A function that
 * goes to another stack (of the thread: "g0") has its frame found by the frame pointer, which
 * stays on the stack that it has left, or is the last: where it does not come back, or has taken
 * another frame pointer along.
 */
#ifndef GPROF_GO_FRAMES_H
#define GPROF_GO_FRAMES_H

#include "cfi_gaps.h"
#include "go_table.h"
#include "rows.h"

/**
 * struct gprof_go_frames - a file's
 * @table: its table
 * @part: where that was
 * @copy: it; NULL: the file is not Go's, or its table is not for this code
 * @next: first function that is not done
 */
struct gprof_go_frames {
	struct gprof_go_table table;
	struct gprof_image_part part;
	unsigned char *copy;
	uint64_t next;
};

/** gprof_go_frames_open() - find the table; 0, also where there is none, or -errno */
int gprof_go_frames_open(struct gprof_go_frames *g, struct gprof_image *img);
void gprof_go_frames_close(struct gprof_go_frames *g, struct gprof_image *img);

/**
 * gprof_go_frames_fill() - rows for a gap, of Go's functions and of the text between them
 * @g: functions
 * @gaps: fills the rest
 * @rows: rows up to the gap
 * @from: as gprof_cfi_gaps_fill() has it
 * @to: likewise
 *
 * Return: 0 or -ENOMEM.
 */
int gprof_go_frames_fill(struct gprof_go_frames *g, struct gprof_cfi_gaps *gaps,
			 struct gprof_rows *rows, uint32_t from, uint32_t to);

#endif /* GPROF_GO_FRAMES_H */
