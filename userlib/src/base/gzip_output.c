// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * gzip_output.c: what is written piece by piece, as one gzip member.
 */
#include "gzip_output.h"

#include <errno.h>
#include <libdeflate.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <zlib.h>

#define PIECE		65536	/* what a stream gets at once, at least */
#define OUT_SIZE	65536
#define GZIP_FORMAT	16	/* added to windowBits: a gzip header */
/* As Go does: the next level is 2 % smaller, for 60 % more instructions. */
#define LEVEL		1

/**
 * struct gprof_gzip_stream - compressor of what is too much for a whole
 * @z: zlib's
 * @out: compressed bytes
 */
struct gprof_gzip_stream {
	z_stream z;
	unsigned char out[OUT_SIZE];
};

size_t gprof_gzip_wants(const struct gprof_gzip *g)
{
	return g->stream ? PIECE : GPROF_GZIP_WHOLE;
}

static int begin_stream(struct gprof_gzip *g)
{
	struct gprof_gzip_stream *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	if (deflateInit2(&s->z, LEVEL, Z_DEFLATED, MAX_WBITS + GZIP_FORMAT, 8,
			 Z_DEFAULT_STRATEGY) != Z_OK) {
		free(s);
		return -ENOMEM;
	}
	g->stream = s;
	return 0;
}

static void put_stream(struct gprof_gzip *g, const void *data, size_t len, int flush)
{
	struct gprof_gzip_stream *s = g->stream;
	int ret;

	s->z.next_in = (unsigned char *)data;
	s->z.avail_in = (uInt)len;
	do {
		s->z.next_out = s->out;
		s->z.avail_out = sizeof(s->out);
		ret = deflate(&s->z, flush);
		if (ret == Z_STREAM_ERROR)
			g->err = -EIO;
		if (!g->err && s->z.avail_out < sizeof(s->out))
			g->err = g->write(g->ctx, s->out, sizeof(s->out) - s->z.avail_out);
	} while (!g->err && s->z.avail_out == 0);
}

static void put_whole(struct gprof_gzip *g, const void *data, size_t len)
{
	struct libdeflate_compressor *c = libdeflate_alloc_compressor(LEVEL);
	size_t most = c ? libdeflate_gzip_compress_bound(c, len) : 0, size = 0;
	void *out = malloc(most);

	if (c && out)
		size = libdeflate_gzip_compress(c, data, len, out, most);
	libdeflate_free_compressor(c);
	g->err = size ? g->write(g->ctx, out, size) : -ENOMEM;
	free(out);
}

/* zlib counts bytes in an int. */
static bool takes(struct gprof_gzip *g, size_t len)
{
	if (len > INT32_MAX && !g->err)
		g->err = -ENOMEM;
	return !g->err;
}

int gprof_gzip_put(struct gprof_gzip *g, const void *data, size_t len)
{
	if (takes(g, len) && !g->stream)
		g->err = begin_stream(g);
	if (!g->err)
		put_stream(g, data, len, Z_NO_FLUSH);
	return g->err;
}

int gprof_gzip_end(struct gprof_gzip *g, const void *data, size_t len)
{
	if (takes(g, len)) {
		if (g->stream)
			put_stream(g, data, len, Z_FINISH);
		else
			put_whole(g, data, len);
	}
	if (g->stream) {
		deflateEnd(&g->stream->z);
		free(g->stream);
		g->stream = NULL;
	}
	return g->err;
}
