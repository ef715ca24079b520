// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * trace_bytes.c: the bytes of a trace that is being written.
 */
#include "trace_bytes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "trace_wire.h"

/* Some bytes at a time, of which a trace has very many: seldom more than a comparison. */
static inline int make_room(struct gprof_trace_bytes *b, size_t len)
{
	return b->cap - b->nr >= len ? 0 : gprof_grow(&b->p, &b->cap, b->nr + len, 1);
}

int gprof_trace_put(struct gprof_trace_bytes *b, const void *data, size_t len)
{
	if (make_room(b, len))
		return -ENOMEM;
	if (len)
		memcpy(b->p + b->nr, data, len);
	b->nr += len;
	return 0;
}

int gprof_trace_put_byte(struct gprof_trace_bytes *b, unsigned char byte)
{
	if (make_room(b, 1))
		return -ENOMEM;
	b->p[b->nr++] = byte;
	return 0;
}

int gprof_trace_put_number(struct gprof_trace_bytes *b, uint64_t v)
{
	if (make_room(b, GPROF_VARINT_MAX))
		return -ENOMEM;
	b->nr = (size_t)(gprof_trace_number_at(b->p + b->nr, v) - b->p);
	return 0;
}

int gprof_trace_reserve(struct gprof_trace_bytes *b, size_t len)
{
	return make_room(b, len) ? -ENOMEM : 0;
}

int gprof_trace_put_batch(struct gprof_trace_bytes *b, uint64_t generation, uint64_t thread,
			  uint64_t time, struct gprof_trace_bytes *body)
{
	int err = gprof_trace_put_byte(b, GPROF_EV_EVENT_BATCH);

	if (!err)
		err = gprof_trace_put_number(b, generation);
	if (!err)
		err = gprof_trace_put_number(b, thread);
	if (!err)
		err = gprof_trace_put_number(b, time);
	if (!err)
		err = gprof_trace_put_number(b, body->nr);
	if (!err)
		err = gprof_trace_put(b, body->p, body->nr);
	body->nr = 0;
	return err;
}

void gprof_trace_bytes_free(struct gprof_trace_bytes *b)
{
	free(b->p);
	memset(b, 0, sizeof(*b));
}
