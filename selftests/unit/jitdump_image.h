/* SPDX-License-Identifier: GPL-2.0-only */
/* jitdump_image.h: what a program writes down of the code that it generates. */
#ifndef GPROF_JITDUMP_IMAGE_H
#define GPROF_JITDUMP_IMAGE_H

#include <stdint.h>
#include <string.h>

/* A jitdump in the making. */
struct dump {
	char bytes[1 << 16];	/* so far */
	size_t len;	/* how many */
	uint64_t time;	/* of the records that come */
};

static inline void put(struct dump *d, const void *bytes, size_t len)
{
	memcpy(d->bytes + d->len, bytes, len);
	d->len += len;
}

#define PUT(d, type, value)	put(d, &(type){ (type)(value) }, sizeof(type))

static inline void put_header(struct dump *d, uint32_t pid)
{
	d->len = 0;
	PUT(d, uint32_t, 0x4a695444);
	PUT(d, uint32_t, 1);
	/* Longer than it has to be: what comes behind is for others. */
	PUT(d, uint32_t, 48);
	PUT(d, uint32_t, 62);
	PUT(d, uint32_t, 0);
	PUT(d, uint32_t, pid);
	PUT(d, uint64_t, 1);
	PUT(d, uint64_t, 0);
	PUT(d, uint64_t, -1);
}

static inline size_t record_begin(struct dump *d, uint32_t id)
{
	PUT(d, uint32_t, id);
	PUT(d, uint32_t, 0);
	PUT(d, uint64_t, d->time);
	return d->len - 16;
}

static inline void record_end(struct dump *d, size_t at)
{
	uint32_t size = (uint32_t)(d->len - at);

	memcpy(d->bytes + at + 4, &size, sizeof(size));
}

static inline void put_load(struct dump *d, uint64_t addr, uint64_t size, uint64_t index, const char *name)
{
	static const char code[64] = { 0x55 };
	size_t at = record_begin(d, 0);

	PUT(d, uint32_t, 1);
	PUT(d, uint32_t, 1);
	PUT(d, uint64_t, addr);
	PUT(d, uint64_t, addr);
	PUT(d, uint64_t, size);
	PUT(d, uint64_t, index);
	put(d, name, strlen(name) + 1);
	put(d, code, size < sizeof(code) ? size : sizeof(code));
	record_end(d, at);
}

static inline void put_move(struct dump *d, uint64_t from, uint64_t to, uint64_t size, uint64_t index)
{
	size_t at = record_begin(d, 1);

	PUT(d, uint32_t, 1);
	PUT(d, uint32_t, 1);
	PUT(d, uint64_t, to);
	PUT(d, uint64_t, from);
	PUT(d, uint64_t, to);
	PUT(d, uint64_t, size);
	PUT(d, uint64_t, index);
	record_end(d, at);
}

static inline size_t debug_begin(struct dump *d, uint64_t addr, uint64_t nr)
{
	size_t at = record_begin(d, 2);

	PUT(d, uint64_t, addr);
	PUT(d, uint64_t, nr);
	return at;
}

static inline void put_place(struct dump *d, uint64_t addr, uint32_t line, const char *file)
{
	PUT(d, uint64_t, addr);
	PUT(d, uint32_t, line);
	PUT(d, uint32_t, 0);
	put(d, file, strlen(file) + 1);
}

#endif /* GPROF_JITDUMP_IMAGE_H */
