/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * gzip_output.h: a stream of output as one gzip member.
 *
 * One and no more, since many readers stop at the end of the first.
 */
#ifndef GPROF_GZIP_OUTPUT_H
#define GPROF_GZIP_OUTPUT_H

#include <stddef.h>

/* Bytes that a piece is to have: with a quarter of them the instructions are 8 % more. */
#define GPROF_GZIP_PIECE	(256U << 10)

struct gprof_gzip_stream;

/**
 * struct gprof_gzip - output that is compressed; all 0 but for the first two before it begins
 * @write: where to; 0 or -errno
 * @ctx: for it
 * @err: first -errno; later output is dropped
 * @stream: since the first piece
 */
struct gprof_gzip {
	int (*write)(void *ctx, const void *data, size_t len);
	void *ctx;
	int err;
	struct gprof_gzip_stream *stream;
};

/** gprof_gzip_put() - write a piece that is not the last; 0 or @err */
int gprof_gzip_put(struct gprof_gzip *g, const void *data, size_t len);
/** gprof_gzip_end() - write the last piece, if there was no error, and free all; 0 or @err */
int gprof_gzip_end(struct gprof_gzip *g, const void *data, size_t len);

#endif /* GPROF_GZIP_OUTPUT_H */
