// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * raw_file.c: the rings of a flight recorder at one instant, as a file.
 *
 * The first piece of each ring is copied at once, for nobody knows yet how fast the kernel is; the
 * others as they are written, or before the kernel comes to them.
 */
#include "raw_file.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ring_snapshot.h"

/**
 * struct pieces - a ring on its way out
 * @live: what is not copied yet
 * @copy: the next piece
 * @before: see gprof_ring_snapshot_next()
 */
struct pieces {
	struct gprof_ring_snapshot live;
	struct gprof_snapshot copy;
	uint64_t before;
};

uint32_t gprof_raw_machine(void)
{
#if defined(__x86_64__)
	return EM_X86_64;
#elif defined(__aarch64__)
	return EM_AARCH64;
#elif defined(__riscv)
	return EM_RISCV;
#else
	return EM_NONE;
#endif
}

static int put(struct gprof_raw_output *o, const void *data, size_t len)
{
	int err = o->write(o->ctx, data, len);

	o->bytes += err ? 0 : len;
	return err;
}

static int rescue_all(struct pieces *rings, size_t nr)
{
	size_t i;
	int err = 0;

	for (i = 0; i < nr && !err; i++)
		err = gprof_ring_snapshot_rescue(&rings[i].live);
	return err;
}

static int next_piece(struct gprof_raw_output *o, struct pieces *p)
{
	int err;

	gprof_snapshot_free(&p->copy);
	err = gprof_ring_snapshot_next(&p->live, &p->copy, &p->before);
	if (!err && p->before != GPROF_RING_SNAPSHOT_ADJOINS)
		o->gaps++;
	return err;
}

/* This is the instant. */
static int begin(struct gprof_raw_output *o, const struct gprof_buffer *flight,
		 struct pieces *rings, uint64_t now)
{
	size_t i;
	int err = 0;

	for (i = 0; i < flight->nr && !err; i++)
		err = gprof_ring_snapshot_begin(&rings[i].live, &flight->rings[i]);
	if (!err)
		err = rescue_all(rings, flight->nr);
	for (i = 0; i < flight->nr && !err; i++) {
		struct pieces *p = &rings[i];

		err = next_piece(o, p);
		if (!err && p->before != GPROF_RING_SNAPSHOT_ADJOINS && !p->copy.len)
			err = -EAGAIN;
		if (!err)
			gprof_ring_snapshot_expect(&p->live, &p->copy, now);
	}
	return err ? err : rescue_all(rings, flight->nr);
}

static int write_heads(struct gprof_raw_output *o, const struct gprof_buffer *flight,
		       const struct pieces *rings, const struct gprof_raw_head *given)
{
	struct gprof_raw_head head = *given;
	size_t i;
	int err;

	memcpy(head.magic, GPROF_RAW_MAGIC, sizeof(head.magic));
	head.version = GPROF_RAW_VERSION;
	head.head_size = sizeof(head);
	head.ring_size = sizeof(struct gprof_ring_head);
	head.rings = (uint32_t)flight->nr;
	head.machine = gprof_raw_machine();
	err = put(o, &head, sizeof(head));
	for (i = 0; i < flight->nr && !err; i++) {
		/* The kernel goes on with it: the other counts are those at the end of the file. */
		struct gprof_ring_head h = *flight->rings[i].head;

		h.cpu = flight->rings[i].cpu;
		h.head = rings[i].live.end;
		h.overwritten = rings[i].live.overwritten;
		err = put(o, &h, sizeof(h));
	}
	return err;
}

static int write_ring(struct gprof_raw_output *o, struct pieces *rings, size_t nr, uint32_t i)
{
	struct pieces *p = &rings[i];
	int err = 0;

	/* Where all the rest was overwritten a part without records says so. */
	while (!err && (p->copy.len || p->before != GPROF_RING_SNAPSHOT_ADJOINS)) {
		const struct gprof_raw_part part = {
			.ring = i, .pos = p->copy.len ? p->copy.pos : p->live.pos,
			.bytes = p->copy.len, .before = p->before,
		};

		err = put(o, &part, sizeof(part));
		if (!err)
			err = put(o, p->copy.data, p->copy.len);
		if (!err)
			err = rescue_all(rings, nr);
		if (!err)
			err = next_piece(o, p);
	}
	return err;
}

int gprof_raw_file_write(struct gprof_raw_output *o, const struct gprof_buffer *flight,
			 const struct gprof_raw_head *head)
{
	struct pieces *rings = calloc(flight->nr, sizeof(*rings));
	uint32_t i;
	int err;

	if (!rings)
		return -ENOMEM;
	err = begin(o, flight, rings, head->until_ns);
	if (!err)
		err = write_heads(o, flight, rings, head);
	for (i = 0; i < flight->nr && !err; i++)
		err = write_ring(o, rings, flight->nr, i);
	for (i = 0; i < flight->nr; i++) {
		gprof_snapshot_free(&rings[i].copy);
		gprof_ring_snapshot_free(&rings[i].live);
	}
	free(rings);
	return err;
}

int gprof_raw_file_end(struct gprof_raw_output *o, const struct gprof_raw_end *end)
{
	const struct gprof_raw_part part = { .ring = GPROF_RAW_END, .bytes = sizeof(*end) };
	int err = put(o, &part, sizeof(part));

	return err ? err : put(o, end, sizeof(*end));
}
