/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * pprof_input.h: the bytes of a pprof file, unpacked, and its parts one by one.
 */
#ifndef GPROF_PPROF_INPUT_H
#define GPROF_PPROF_INPUT_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/table.h"

/** struct gprof_pprof_bytes - a growing array of bytes */
struct gprof_pprof_bytes {
	unsigned char *v;
	size_t len;
	size_t cap;
};

/**
 * gprof_pprof_load() - read a file to its end, and unpack it if it is gzipped
 * @fd: file, pipe or socket
 * @b: budget for the file, and for its unpacked contents
 * @out: for gprof_pprof_unload(), also on failure
 * @e: sentence
 *
 * Return: 0, -EFBIG beyond the budget, or for data that shrank more than profiles do, -EBADMSG for
 * corrupt data, -ENOMEM, or -errno of a read.
 */
int gprof_pprof_load(int fd, struct gprof_budget *b, struct gprof_pprof_bytes *out,
		     struct gprof_error *e);

/** gprof_pprof_unpack() - gprof_pprof_load() of a file in memory */
int gprof_pprof_unpack(const void *data, size_t size, struct gprof_budget *b,
		       struct gprof_pprof_bytes *out, struct gprof_error *e);
void gprof_pprof_unload(struct gprof_budget *b, struct gprof_pprof_bytes *bytes);

/** gprof_pprof_exceeded() - say that the budget is too small; -EFBIG */
int gprof_pprof_exceeded(const struct gprof_budget *b, struct gprof_error *e);

/**
 * struct gprof_pprof_part - a field of a protobuf message
 * @field: its number
 * @type: wire type: 0: @value; 2: @data; others are skipped
 * @value: of a number
 * @data: of text, bytes, a message, or packed numbers
 * @len: bytes of it
 */
struct gprof_pprof_part {
	uint64_t field;
	unsigned int type;
	uint64_t value;
	const unsigned char *data;
	size_t len;
};

/** struct gprof_pprof_parts - the rest of a message */
struct gprof_pprof_parts {
	const unsigned char *p;
	size_t left;
};

/** gprof_pprof_parts_next_any() - gprof_pprof_parts_next() of a part that may be of any kind */
int gprof_pprof_parts_next_any(struct gprof_pprof_parts *parts, struct gprof_pprof_part *part);

/** gprof_pprof_parts_number() - take a number without a tag, as packed ones are; 1, 0, -EBADMSG */
static inline int gprof_pprof_parts_number(struct gprof_pprof_parts *parts, uint64_t *value)
{
	const unsigned char *p = parts->p;
	size_t i, max = parts->left < 10 ? parts->left : 10;
	uint64_t v = 0;

	if (!parts->left)
		return 0;
	/* Most are small. */
	if (!(*p & 0x80)) {
		parts->p++;
		parts->left--;
		*value = *p;
		return 1;
	}
	if (max > 1 && !(p[1] & 0x80)) {
		parts->p += 2;
		parts->left -= 2;
		*value = (*p & 0x7f) | (uint64_t)p[1] << 7;
		return 1;
	}
	for (i = 0; i < max; i++) {
		/* Of the tenth byte, one bit counts. */
		v |= (uint64_t)(p[i] & 0x7f) << 7 * i;
		if (p[i] & 0x80)
			continue;
		parts->p += i + 1;
		parts->left -= i + 1;
		*value = v;
		return 1;
	}
	return -EBADMSG;
}

/**
 * gprof_pprof_parts_next() - take the next part; 1, 0 at the end, -EBADMSG
 *
 * Only the members of its type are set in @part. Nearly all are numbers, or shorter than 16 KiB,
 * of a field whose tag is one byte.
 */
static inline int gprof_pprof_parts_next(struct gprof_pprof_parts *parts,
					 struct gprof_pprof_part *part)
{
	const unsigned char *p = parts->p;
	size_t left = parts->left, len;

	if (left < 2 || p[0] & 0x80 || p[0] < 8)
		return gprof_pprof_parts_next_any(parts, part);
	part->field = p[0] >> 3;
	part->type = p[0] & 7;
	len = p[1];
	if (!part->type) {
		if (!(p[1] & 0x80)) {
			part->value = len;
			len = 2;
		} else if (left > 2 && !(p[2] & 0x80)) {
			part->value = (len & 0x7f) | (uint64_t)p[2] << 7;
			len = 3;
		} else {
			parts->p++;
			parts->left--;
			return gprof_pprof_parts_number(parts, &part->value) > 0 ? 1 : -EBADMSG;
		}
		parts->p = p + len;
		parts->left = left - len;
		return 1;
	}
	p += 2;
	left -= 2;
	if (len & 0x80 && left && !(p[0] & 0x80)) {
		len = (len & 0x7f) | (size_t)p[0] << 7;
		p++;
		left--;
	} else if (len & 0x80) {
		return gprof_pprof_parts_next_any(parts, part);
	}
	if (part->type != 2 || len > left)
		return gprof_pprof_parts_next_any(parts, part);
	part->data = p;
	part->len = len;
	parts->p = p + len;
	parts->left = left - len;
	return 1;
}

#endif /* GPROF_PPROF_INPUT_H */
