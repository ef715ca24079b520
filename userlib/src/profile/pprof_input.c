// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * pprof_input.c: the bytes of a pprof file, unpacked, and its parts one by one.
 */
#include "pprof_input.h"

#include <errno.h>
#include <libdeflate.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#define STEP		65536
#define PLAIN_FREE	(4ULL << 20)	/* limit on an unpacked file */
#define RATIO_MAX	256		/* real profiles shrink by 3 to 30 */
#define GZIP_FORMAT	16

int gprof_pprof_exceeded(const struct gprof_budget *b, struct gprof_error *e)
{
	return gprof_error_set(e, EFBIG,
			       "the file takes more memory than the %llu MiB that it may (memory_max)",
			       (unsigned long long)b->max >> 20);
}

static int no_room(const struct gprof_budget *b, struct gprof_error *e)
{
	if (b->exceeded)
		return gprof_pprof_exceeded(b, e);
	return gprof_error_set(e, ENOMEM, "no memory for the file");
}

static int read_input(int fd, struct gprof_budget *b, struct gprof_pprof_bytes *in,
		      struct gprof_error *e)
{
	for (;;) {
		ssize_t n;

		if (gprof_grow_within(b, &in->v, &in->cap, in->len + STEP, 1))
			return no_room(b, e);
		n = read(fd, in->v + in->len, in->cap - in->len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return gprof_error_set(e, errno, "the file cannot be read (%s)",
					       gprof_strerror(errno));
		if (!n)
			return 0;
		in->len += (size_t)n;
	}
}

static uInt at_most(size_t n)
{
	return n > UINT32_MAX ? UINT32_MAX : (uInt)n;
}

static uint64_t plain_max(const struct gprof_pprof_bytes *in)
{
	uint64_t max = in->len * (uint64_t)RATIO_MAX;

	return max < PLAIN_FREE ? PLAIN_FREE : max;
}

/*
 * A file of one member has its length at its end, and libdeflate unpacks it in less than half of
 * zlib's time. False for any other file, which inflate_all() unpacks or refuses.
 */
static bool unpack_whole(const struct gprof_pprof_bytes *in, struct gprof_budget *b,
			 struct gprof_pprof_bytes *out)
{
	const unsigned char *end = in->v + in->len;
	struct libdeflate_decompressor *d;
	size_t size, taken, len;
	bool whole;

	if (in->len < 18)
		return false;
	size = end[-4] | end[-3] << 8 | end[-2] << 16 | (size_t)end[-1] << 24;
	if (!size || size > plain_max(in) || gprof_grow_within(b, &out->v, &out->cap, size, 1))
		return false;
	d = libdeflate_alloc_decompressor();
	whole = d && !libdeflate_gzip_decompress_ex(d, in->v, in->len, out->v, size, &taken, &len) &&
		taken == in->len;
	libdeflate_free_decompressor(d);
	out->len = whole ? len : 0;
	return whole;
}

/* One gzip member after the other, as gzip itself takes them. */
static int inflate_all(z_stream *z, const struct gprof_pprof_bytes *in, struct gprof_budget *b,
		       struct gprof_pprof_bytes *out, struct gprof_error *e)
{
	uint64_t max = plain_max(in);
	size_t taken = 0;
	int ret = Z_OK;

	for (;;) {
		if (out->len >= max)
			return gprof_error_set(e, EFBIG,
					       "the file unpacks to more than %llu MiB, which no "
					       "profile of its size does",
					       (unsigned long long)max >> 20);
		if (gprof_grow_within(b, &out->v, &out->cap, out->len + STEP, 1))
			return no_room(b, e);
		z->next_in = in->v + taken;
		z->avail_in = at_most(in->len - taken);
		z->next_out = out->v + out->len;
		z->avail_out = at_most(out->cap - out->len);
		if (z->avail_out > max - out->len)
			z->avail_out = (uInt)(max - out->len);
		ret = inflate(z, Z_NO_FLUSH);
		out->len = (size_t)(z->next_out - out->v);
		taken = (size_t)(z->next_in - in->v);
		if (ret == Z_STREAM_END) {
			if (taken == in->len)
				return 0;
			if (inflateReset(z) != Z_OK)
				break;
		} else if (ret != Z_OK || (taken == in->len && z->avail_out)) {
			break;
		}
	}
	return gprof_error_set(e, EBADMSG, "the file is not a profile: its gzip data %s",
			       ret == Z_OK || ret == Z_BUF_ERROR ? "end too early" : "are damaged");
}

static bool is_packed(const struct gprof_pprof_bytes *in)
{
	return in->len >= 2 && in->v[0] == 0x1f && in->v[1] == 0x8b;
}

static int unpack(const struct gprof_pprof_bytes *in, struct gprof_budget *b,
		  struct gprof_pprof_bytes *out, struct gprof_error *e)
{
	z_stream z = { 0 };
	int err;

	if (unpack_whole(in, b, out))
		return 0;
	if (inflateInit2(&z, MAX_WBITS + GZIP_FORMAT) != Z_OK)
		return gprof_error_set(e, ENOMEM, "no memory to unpack the file");
	err = inflate_all(&z, in, b, out, e);
	inflateEnd(&z);
	return err;
}

int gprof_pprof_load(int fd, struct gprof_budget *b, struct gprof_pprof_bytes *out,
		     struct gprof_error *e)
{
	struct gprof_pprof_bytes in = { 0 };
	int err;

	*out = (struct gprof_pprof_bytes){ 0 };
	err = read_input(fd, b, &in, e);
	if (err || !is_packed(&in)) {
		*out = in;
		return err;
	}
	err = unpack(&in, b, out, e);
	gprof_pprof_unload(b, &in);
	return err;
}

int gprof_pprof_unpack(const void *data, size_t size, struct gprof_budget *b,
		       struct gprof_pprof_bytes *out, struct gprof_error *e)
{
	/* which is not written to */
	const struct gprof_pprof_bytes in = { .v = (unsigned char *)(uintptr_t)data, .len = size };

	*out = (struct gprof_pprof_bytes){ 0 };
	if (is_packed(&in))
		return unpack(&in, b, out, e);
	if (gprof_grow_within(b, &out->v, &out->cap, size, 1))
		return no_room(b, e);
	if (size)
		memcpy(out->v, data, size);
	out->len = size;
	return 0;
}

void gprof_pprof_unload(struct gprof_budget *b, struct gprof_pprof_bytes *bytes)
{
	gprof_budget_uncharge(b, bytes->cap);
	free(bytes->v);
	*bytes = (struct gprof_pprof_bytes){ 0 };
}

static int get_bytes(struct gprof_pprof_parts *parts, uint64_t len, struct gprof_pprof_part *part)
{
	if (len > parts->left)
		return -EBADMSG;
	part->data = parts->p;
	part->len = (size_t)len;
	parts->p += len;
	parts->left -= (size_t)len;
	return 1;
}

int gprof_pprof_parts_next_any(struct gprof_pprof_parts *parts, struct gprof_pprof_part *part)
{
	uint64_t tag, len;
	int ret = gprof_pprof_parts_number(parts, &tag);

	if (ret <= 0)
		return ret;
	*part = (struct gprof_pprof_part){ .field = tag >> 3, .type = tag & 7 };
	if (!part->field || part->field > 0x1fffffff)
		return -EBADMSG;
	switch (part->type) {
	case 0:
		return gprof_pprof_parts_number(parts, &part->value) > 0 ? 1 : -EBADMSG;
	case 1:
		return get_bytes(parts, 8, part);
	case 2:
		return gprof_pprof_parts_number(parts, &len) > 0 ? get_bytes(parts, len, part) :
								   -EBADMSG;
	case 5:
		return get_bytes(parts, 4, part);
	default:
		return -EBADMSG;
	}
}
