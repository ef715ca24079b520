/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * gzip_output.h: what is written piece by piece, as one gzip member.
 *
 * One and no more, since many readers stop at the end of the first. What comes to little is
 * compressed as a whole, at less than half of the instructions that a stream takes.
 */
#ifndef GPROF_GZIP_OUTPUT_H
#define GPROF_GZIP_OUTPUT_H

#include <stddef.h>

/* Up to this it is little. */
#define GPROF_GZIP_WHOLE	(4U << 20)

struct gprof_gzip_stream;

/**
 * struct gprof_gzip - output that is compressed; all 0 but for the first two before it begins
 * @write: where to; 0 or -errno
 * @ctx: for it
 * @err: first -errno; what comes after it is dropped
 * @stream: once there was too much for a whole
 */
struct gprof_gzip {
	int (*write)(void *ctx, const void *data, size_t len);
	void *ctx;
	int err;
	struct gprof_gzip_stream *stream;
};

/** gprof_gzip_wants() - bytes that are to be collected before gprof_gzip_put() gets them */
size_t gprof_gzip_wants(const struct gprof_gzip *g);
/** gprof_gzip_put() - write a piece that is not the last; 0 or @err */
int gprof_gzip_put(struct gprof_gzip *g, const void *data, size_t len);
/** gprof_gzip_end() - write the last piece, if there was no error, and free all; 0 or @err */
int gprof_gzip_end(struct gprof_gzip *g, const void *data, size_t len);

#endif /* GPROF_GZIP_OUTPUT_H */
