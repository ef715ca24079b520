/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * trace_bytes.h: the bytes of a trace that is being written: numbers and batches.
 */
#ifndef GPROF_TRACE_BYTES_H
#define GPROF_TRACE_BYTES_H

#include <stddef.h>
#include <stdint.h>

/* The thread of batches that belong to none. */
#define GPROF_TRACE_NO_THREAD	UINT64_MAX

/**
 * struct gprof_trace_bytes - bytes that grow
 * @p: them
 * @nr: how many
 * @cap: room
 */
struct gprof_trace_bytes {
	unsigned char *p;
	size_t nr;
	size_t cap;
};

/** gprof_trace_put() - add bytes; 0 or -ENOMEM, as all here */
int gprof_trace_put(struct gprof_trace_bytes *b, const void *data, size_t len);
int gprof_trace_put_byte(struct gprof_trace_bytes *b, unsigned char byte);
int gprof_trace_put_number(struct gprof_trace_bytes *b, uint64_t v);
/** gprof_trace_reserve() - make room for so many more bytes; 0 or -ENOMEM */
int gprof_trace_reserve(struct gprof_trace_bytes *b, size_t len);

/**
 * gprof_trace_number_at() - write a number where GPROF_VARINT_MAX bytes fit; the position behind
 * it
 */
static inline unsigned char *gprof_trace_number_at(unsigned char *p, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		*p++ = (unsigned char)(v | 0x80);
	*p++ = (unsigned char)v;
	return p;
}

/**
 * gprof_trace_put_batch() - add a batch
 * @b: where to
 * @generation: of which
 * @thread: of which
 * @time: in units
 * @body: contents, GPROF_TRACE_BATCH_MAX bytes at most; emptied
 */
int gprof_trace_put_batch(struct gprof_trace_bytes *b, uint64_t generation, uint64_t thread,
			  uint64_t time, struct gprof_trace_bytes *body);

void gprof_trace_bytes_free(struct gprof_trace_bytes *b);

#endif /* GPROF_TRACE_BYTES_H */
