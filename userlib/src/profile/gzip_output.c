// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * gzip_output.c: a stream of output as one gzip member.
 */
#include "gzip_output.h"

#include <errno.h>
#include <isa-l/igzip_lib.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#define OUT_SIZE	65536
/* The next one is 2 % smaller, for 60 % more instructions. */
#define LEVEL		2
#define LEVEL_ROOM	ISAL_DEF_LVL2_DEFAULT

/**
 * struct gprof_gzip_stream - compressor
 * @z: ISA-L's
 * @room: buffer for its level
 * @out: compressed bytes
 */
struct gprof_gzip_stream {
	struct isal_zstream z;
	uint8_t room[LEVEL_ROOM];
	uint8_t out[OUT_SIZE];
};

static int begin(struct gprof_gzip *g)
{
	struct gprof_gzip_stream *s = malloc(sizeof(*s));

	if (!s)
		return -ENOMEM;
	isal_deflate_init(&s->z);
	s->z.gzip_flag = IGZIP_GZIP;
	s->z.level = LEVEL;
	s->z.level_buf = s->room;
	s->z.level_buf_size = sizeof(s->room);
	g->stream = s;
	return 0;
}

static bool is_over(const struct isal_zstream *z)
{
	return z->end_of_stream ? z->internal_state.state == ZSTATE_END :
				  !z->avail_in && z->avail_out;
}

static void put(struct gprof_gzip *g, const void *data, size_t len, bool last)
{
	struct gprof_gzip_stream *s = g->stream;
	struct isal_zstream *z = &s->z;

	z->next_in = (uint8_t *)(uintptr_t)data;
	z->avail_in = (uint32_t)len;
	z->end_of_stream = last;
	do {
		z->next_out = s->out;
		z->avail_out = sizeof(s->out);
		if (isal_deflate(z))
			g->err = -EIO;
		if (!g->err && z->avail_out < sizeof(s->out))
			g->err = g->write(g->ctx, s->out, sizeof(s->out) - z->avail_out);
	} while (!g->err && !is_over(z));
}

/* ISA-L counts bytes in 32 bits. */
static void put_all(struct gprof_gzip *g, const void *data, size_t len, bool last)
{
	const uint8_t *at = data;

	if (!g->err && !g->stream)
		g->err = begin(g);
	for (; !g->err && len > INT32_MAX; at += INT32_MAX, len -= INT32_MAX)
		put(g, at, INT32_MAX, false);
	if (!g->err)
		put(g, at, len, last);
}

int gprof_gzip_put(struct gprof_gzip *g, const void *data, size_t len)
{
	put_all(g, data, len, false);
	return g->err;
}

int gprof_gzip_end(struct gprof_gzip *g, const void *data, size_t len)
{
	put_all(g, data, len, true);
	free(g->stream);
	g->stream = NULL;
	return g->err;
}
