// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * python_names.c: names and lines of an interpreter's Python code, out of its memory.
 */
#include "python_names.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CODES_MAX	(1U << 16)	/* of a program run */
#define TRIES_MAX	3
#define CHARS_MAX	512		/* of a name or of a file's */
#define LINES_MAX	(256U << 10)	/* bytes of a table of lines */
#define CODE_MAX	512		/* bytes of an object before its instructions */
/* Least memory of each, with its place in the table */
#define CODE_BYTES	(2 * sizeof(struct gprof_python_code))

void gprof_python_names_init(struct gprof_python_names *n)
{
	memset(n, 0, sizeof(*n));
	gprof_table_init(&n->table);
}

void gprof_python_names_free(struct gprof_python_names *n)
{
	size_t i;

	for (i = 0; i < n->nr; i++) {
		free(n->v[i].name);
		free(n->v[i].file);
		free(n->v[i].lines);
	}
	free(n->v);
	gprof_table_free(&n->table);
	memset(n, 0, sizeof(*n));
}

static bool code_eq(const void *ctx, uint32_t index, const void *key)
{
	const struct gprof_python_code *a = &((const struct gprof_python_names *)ctx)->v[index];
	const struct gprof_python_code *b = key;

	return a->code == b->code && a->check == b->check;
}

static uint32_t find(const struct gprof_python_names *n, const uint64_t *frame, uint64_t *hash)
{
	struct gprof_python_code key = { .code = frame[0] & GPROF_PYTHON_CODE, .check = frame[1] };

	*hash = gprof_hash_u64(gprof_hash_u64(n->table.seed, key.code), key.check);
	return gprof_table_find(&n->table, *hash, code_eq, n, &key);
}

/* ---- the memory of the process ---- */

/*
 * The file does not wait for pages that a process withholds (userfaultfd), as
 * process_vm_readv() would.
 */
static bool read_all(int mem, void *to, size_t size, uint64_t from)
{
	return pread(mem, to, size, (off_t)from) == (ssize_t)size;
}

static uint64_t word_at(const unsigned char *bytes, uint32_t offset)
{
	uint64_t word;

	memcpy(&word, bytes + offset, sizeof(word));
	return word;
}

static size_t put_utf8(char *to, uint32_t c)
{
	if (c < 0x80) {
		to[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		to[0] = (char)(0xc0 | c >> 6);
		to[1] = (char)(0x80 | (c & 0x3f));
		return 2;
	}
	/* Invalid characters, half a pair among them, become the replacement character. */
	if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		c = 0xfffd;
	if (c < 0x10000) {
		to[0] = (char)(0xe0 | c >> 12);
		to[1] = (char)(0x80 | (c >> 6 & 0x3f));
		to[2] = (char)(0x80 | (c & 0x3f));
		return 3;
	}
	to[0] = (char)(0xf0 | c >> 18);
	to[1] = (char)(0x80 | (c >> 12 & 0x3f));
	to[2] = (char)(0x80 | (c >> 6 & 0x3f));
	to[3] = (char)(0x80 | (c & 0x3f));
	return 4;
}

/* The first characters of a string, as UTF-8 for free(); NULL: it is none, or without memory. */
static char *read_string(int mem, const struct gprof_interpreter *i, uint64_t at)
{
	unsigned char chars[4 * CHARS_MAX];
	uint64_t length, n, size = 0;
	uint32_t state, kind, c;
	char *text, *shorter;

	if (!read_all(mem, &length, sizeof(length), at + i->string_length) ||
	    !read_all(mem, &state, sizeof(state), at + i->string_state))
		return NULL;
	/* interned : 2, kind : 3, compact : 1, ascii : 1 */
	kind = state >> 2 & 7;
	if ((kind != 1 && kind != 2 && kind != 4) || !(state >> 5 & 1))
		return NULL;
	length = length < CHARS_MAX ? length : CHARS_MAX;
	at += state >> 6 & 1 ? i->string_ascii : i->string_other;
	text = malloc(4 * length + 1);
	if (!text || !read_all(mem, chars, length * kind, at)) {
		free(text);
		return NULL;
	}
	for (n = 0; n < length; n++) {
		c = 0;
		memcpy(&c, chars + n * kind, kind);
		/* Names of functions are a line each, elsewhere. */
		size += put_utf8(text + size, c < ' ' ? '?' : c);
	}
	text[size] = '\0';
	shorter = realloc(text, size + 1);
	return shorter ? shorter : text;
}

static unsigned char *read_lines(int mem, const struct gprof_interpreter *i, uint64_t at,
				 size_t *size)
{
	unsigned char *lines;
	uint64_t length;

	*size = 0;
	if (!read_all(mem, &length, sizeof(length), at + i->bytes_size) || length > LINES_MAX)
		return NULL;
	lines = malloc(length + 1);
	if (!lines || !read_all(mem, lines, length, at + i->bytes_data)) {
		free(lines);
		return NULL;
	}
	*size = length;
	return lines;
}

/* The object, if it is the one that the check is of. */
static bool read_object(int mem, const struct gprof_interpreter *i, uint64_t at, uint64_t check,
			unsigned char *object)
{
	const struct gprof_python *k = &i->kernel;
	uint32_t line;
	uint64_t hash;

	if (!read_all(mem, object, i->code_size, at) ||
	    !read_all(mem, &hash, sizeof(hash), word_at(object, k->code_name) + k->string_hash))
		return false;
	memcpy(&line, object + k->code_line, sizeof(line));
	return check == gprof_python_check(hash, word_at(object, k->code_filename),
					   word_at(object, k->code_qualname), line);
}

static bool fits(const struct gprof_interpreter *i)
{
	const struct gprof_python *k = &i->kernel;
	uint32_t end = i->code_size - 8;

	return i->code_size >= 8 && i->code_size <= CODE_MAX && k->code_line <= end &&
	       k->code_filename <= end && k->code_name <= end && k->code_qualname <= end &&
	       i->linetable <= end;
}

static uint64_t bytes_of(const struct gprof_python_code *c)
{
	return strlen(c->name) + strlen(c->file) + 2 + c->lines_size;
}

/* Where anything of it changes meanwhile, or there is no @room, nothing is known of it. */
static void read_code(int mem, const struct gprof_interpreter *i, struct gprof_python_code *c,
		      uint64_t room)
{
	unsigned char object[CODE_MAX], again[CODE_MAX];
	uint64_t at = c->code << 3;

	if (!fits(i) || !read_object(mem, i, at, c->check, object))
		return;
	c->name = read_string(mem, i, word_at(object, i->kernel.code_qualname));
	c->file = read_string(mem, i, word_at(object, i->kernel.code_filename));
	c->lines = read_lines(mem, i, word_at(object, i->linetable), &c->lines_size);
	memcpy(&c->first_line, object + i->kernel.code_line, sizeof(c->first_line));
	if (c->name && c->name[0] && c->file && read_object(mem, i, at, c->check, again) &&
	    word_at(object, i->linetable) == word_at(again, i->linetable) && bytes_of(c) <= room)
		return;
	free(c->name);
	free(c->file);
	free(c->lines);
	c->name = c->file = NULL;
	c->lines = NULL;
}

static int open_memory(uint32_t pid)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%u/mem", pid);
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* Index of a code object, added where it is new; GPROF_NONE: no room, or no memory with @err. */
static uint32_t add(struct gprof_python_names *n, uint64_t max, const uint64_t *frame, int *err)
{
	uint64_t hash;
	uint32_t index = find(n, frame, &hash);

	if (index != GPROF_NONE || n->nr >= CODES_MAX || n->bytes + CODE_BYTES > max)
		return index;
	if (gprof_grow(&n->v, &n->cap, n->nr + 1, sizeof(*n->v)) ||
	    gprof_table_insert(&n->table, hash, (uint32_t)n->nr)) {
		*err = -ENOMEM;
		return GPROF_NONE;
	}
	n->v[n->nr] = (struct gprof_python_code){
		.code = frame[0] & GPROF_PYTHON_CODE,
		.check = frame[1],
	};
	n->bytes += CODE_BYTES;
	return (uint32_t)n->nr++;
}

int gprof_python_read(struct gprof_python_names *n, uint64_t max, uint32_t pid,
		      const struct gprof_interpreter *i, const uint64_t *frames, size_t nr)
{
	int mem = -1, err = 0;
	size_t f;

	for (f = 0; f + 1 < nr && !err; f++) {
		struct gprof_python_code *c;
		uint32_t index;

		if (!gprof_python_is_frame(frames[f]) || !gprof_python_is_check(frames[f + 1]))
			continue;
		index = add(n, max, &frames[f++], &err);
		if (index == GPROF_NONE)
			continue;
		c = &n->v[index];
		if (c->name || c->tries >= TRIES_MAX)
			continue;
		c->tries++;
		if (mem < 0)
			mem = open_memory(pid);
		if (mem >= 0)
			read_code(mem, i, c, max - n->bytes);
		if (c->name)
			n->bytes += bytes_of(c);
	}
	if (mem >= 0)
		close(mem);
	return err;
}

const struct gprof_python_code *gprof_python_find(const struct gprof_python_names *n,
						  const uint64_t *frame)
{
	uint64_t hash;
	uint32_t index = find(n, frame, &hash);

	return index == GPROF_NONE || !n->v[index].name ? NULL : &n->v[index];
}

/* ---- lines ---- */

/* Six bits a byte, the lowest first; a truncated number ends there. */
static uint32_t read_varint(const unsigned char **p, const unsigned char *end)
{
	unsigned int shift = 0;
	uint32_t value = 0;

	while (*p < end) {
		unsigned char byte = *(*p)++;

		if (shift < 32)
			value |= (uint32_t)(byte & 0x3f) << shift;
		shift += 6;
		if (!(byte & 0x40))
			break;
	}
	return value;
}

static int64_t read_signed(const unsigned char **p, const unsigned char *end)
{
	uint32_t value = read_varint(p, end);

	return value & 1 ? -(int64_t)(value >> 1) : (int64_t)(value >> 1);
}

/*
 * An entry begins with a byte whose high bit is set, which none of those behind it has. It has the
 * form of the entry (bits 3 to 6), and its number of instructions.
 */
uint32_t gprof_python_line(const struct gprof_python_code *code, uint64_t frame)
{
	uint64_t at = (frame & GPROF_PYTHON_AT) >> GPROF_PYTHON_AT_SHIFT, done = 0;
	const unsigned char *p = code->lines, *end = p + code->lines_size;
	int64_t line = code->first_line;

	if (!p || at == GPROF_PYTHON_AT >> GPROF_PYTHON_AT_SHIFT)
		return 0;
	if (!at)
		return code->first_line;
	at--;
	while (p < end) {
		unsigned char byte = *p++;
		unsigned int form = byte >> 3 & 15;

		if (form == 13 || form == 14)
			line += read_signed(&p, end);
		else if (form >= 10 && form <= 12)
			line += form - 10;
		done += (byte & 7) + 1;
		if (at < done)
			return form == 15 || line <= 0 || line > INT32_MAX ? 0 : (uint32_t)line;
		while (p < end && !(*p & 0x80))
			p++;
	}
	return 0;
}
