// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * jitdump.c: names and lines of generated code, from a jit-PID.dump.
 */
#include "jitdump.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAGIC		0x4a695444	/* "JiTD" */
#define MEMORY_MAX	(64ULL << 20)
#define LINES_MAX	(32ULL << 20)	/* of that: names are worth more */
#define NAME_MAX_BYTES	4096
#define DEBUG_MAX	(16U << 20)	/* bytes of places of one function */
#define DEBUG_ALL	(256U << 20)	/* ... of all: a file of holes has no end */
#define FLAG_ARCH_TIME	1ULL		/* times are of a clock that is not ours */
#define RECORDS_MAX	(16U << 20)	/* also of those that say nothing to us */

/* Types of records, whose order is part of the format. */
enum record_id { CODE_LOAD, CODE_MOVE, CODE_DEBUG_INFO };

struct header {
	uint32_t magic;
	uint32_t version;
	uint32_t total_size;
	uint32_t elf_mach;
	uint32_t pad;
	uint32_t pid;
	uint64_t timestamp;
	uint64_t flags;
};

struct record {
	uint32_t id;
	uint32_t total_size;
	uint64_t timestamp;
};

struct code_load {
	uint32_t pid;
	uint32_t tid;
	uint64_t vma;
	uint64_t addr;
	uint64_t size;
	uint64_t index;
};

struct code_move {
	uint32_t pid;
	uint32_t tid;
	uint64_t vma;
	uint64_t from;
	uint64_t to;
	uint64_t size;
	uint64_t index;
};

struct debug_info {
	uint64_t addr;
	uint64_t nr;
};

struct debug_entry {
	uint64_t addr;
	uint32_t line;
	uint32_t discriminator;
};

/**
 * struct reader - a file being read
 * @j: its contents
 * @f: the file
 * @by_index: age of the newest function with an index of the file's
 * @body: of a record
 * @cap_body: room in it
 * @lines: places that wait for their function
 * @lines_addr: its address
 * @debug: bytes of places that were read
 * @timed: times are CLOCK_MONOTONIC
 * @time: of the record
 */
struct reader {
	struct gprof_jitdump *j;
	FILE *f;
	struct gprof_map64 by_index;
	char *body;
	size_t cap_body;
	struct gprof_jit_lines lines;
	uint64_t lines_addr;
	uint64_t debug;
	bool timed;
	uint64_t time;
};

/* Number of a string, or GPROF_NONE without memory. Such as are too long are cut. */
static uint32_t keep_text(struct gprof_jitdump *j, const char *text, size_t len)
{
	return gprof_strings_add(&j->strings, text, len < NAME_MAX_BYTES ? len : NAME_MAX_BYTES);
}

static int add_code(struct reader *r, uint64_t addr, uint64_t size, uint32_t name, uint64_t index,
		    struct gprof_jit_lines lines)
{
	struct gprof_jitdump *j = r->j;
	uint32_t age = (uint32_t)j->nr;

	if (!size || addr + size <= addr)
		return 0;
	if (j->nr >= UINT32_MAX - 1 ||
	    gprof_grow_within(&j->budget, &j->v, &j->cap, j->nr + 1, sizeof(*j->v)) ||
	    gprof_grow_within(&j->budget, &j->of, &j->cap_of, j->nr + 1, sizeof(*j->of)) ||
	    gprof_grow_within(&j->budget, &j->made, &j->cap_made, j->nr + 1, sizeof(*j->made)) ||
	    gprof_map64_put(&r->by_index, index, age))
		return -ENOMEM;
	j->of[age] = lines;
	j->of[age].start = addr;
	j->made[age] = r->timed ? r->time : 0;
	j->v[j->nr++] = (struct gprof_code){ addr, addr + size, name, age };
	return 0;
}

static int load(struct reader *r, size_t len)
{
	struct gprof_jit_lines lines = { 0 };
	struct code_load load;
	const char *name = r->body + sizeof(load), *end;
	uint32_t text;

	if (len <= sizeof(load))
		return 0;
	memcpy(&load, r->body, sizeof(load));
	end = memchr(name, '\0', len - sizeof(load));
	text = keep_text(r->j, name, end ? (size_t)(end - name) : len - sizeof(load));
	if (text == GPROF_NONE)
		return -ENOMEM;
	if (r->lines.nr && r->lines_addr == load.addr) {
		lines = r->lines;
		r->lines.nr = 0;
	}
	return text ? add_code(r, load.addr, load.size, text, load.index, lines) : 0;
}

static int move(struct reader *r, size_t len)
{
	struct code_move move;
	uint32_t age;

	if (len < sizeof(move))
		return 0;
	memcpy(&move, r->body, sizeof(move));
	age = r->by_index.used ? gprof_map64_get(&r->by_index, move.index) : GPROF_NONE;
	if (age == GPROF_NONE)
		return 0;
	return add_code(r, move.to, move.size, r->j->v[age].name, move.index, r->j->of[age]);
}

static int by_offset(const void *a, const void *b)
{
	const struct gprof_jit_line *x = a, *y = b;

	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* A place; false where there is no room for more. */
static bool add_line(struct gprof_jitdump *j, uint64_t offset, uint32_t line, uint32_t file)
{
	if (file == GPROF_NONE || j->nr_lines >= LINES_MAX / sizeof(*j->lines) ||
	    gprof_grow_within(&j->budget, &j->lines, &j->cap_lines, j->nr_lines + 1,
			      sizeof(*j->lines))) {
		/* Some entries may be dropped; a function without a name says so. */
		j->budget.exceeded = false;
		j->lines_left_out = true;
		return false;
	}
	j->lines[j->nr_lines++] = (struct gprof_jit_line){ (uint32_t)offset, line, file };
	return true;
}

/* They come before the function that they belong to. */
static int debug_info(struct reader *r, size_t len)
{
	struct gprof_jitdump *j = r->j;
	const char *p = r->body, *end = p + len;
	struct debug_info info;
	uint32_t file = 0;
	uint64_t i;

	/* Those before belong to nothing that came. */
	if (r->lines.nr)
		j->nr_lines = r->lines.first;
	r->lines = (struct gprof_jit_lines){ .first = (uint32_t)j->nr_lines };
	if (len < sizeof(info))
		return 0;
	memcpy(&info, p, sizeof(info));
	p += sizeof(info);
	for (i = 0; i < info.nr; i++) {
		struct debug_entry entry;
		const char *name, *stop;

		if ((size_t)(end - p) <= sizeof(entry))
			break;
		memcpy(&entry, p, sizeof(entry));
		name = p + sizeof(entry);
		stop = memchr(name, '\0', (size_t)(end - name));
		if (!stop)
			break;
		p = stop + 1;
		/* The same source as before is written so. */
		if (strcmp(name, "\xff"))
			file = keep_text(j, name, (size_t)(stop - name));
		if (entry.addr < info.addr || entry.addr - info.addr > UINT32_MAX)
			continue;
		if (!add_line(j, entry.addr - info.addr, entry.line, file))
			break;
	}
	r->lines.nr = (uint32_t)(j->nr_lines - r->lines.first);
	r->lines_addr = info.addr;
	if (r->lines.nr)
		qsort(j->lines + r->lines.first, r->lines.nr, sizeof(*j->lines), by_offset);
	return 0;
}

/**
 * struct kind - handling of a type of record
 * @take: its first @max bytes
 * @max: that are needed
 */
static const struct kind {
	int (*take)(struct reader *r, size_t len);
	size_t max;
} kinds[] = {
	[CODE_LOAD] = { load, sizeof(struct code_load) + NAME_MAX_BYTES + 1 },
	[CODE_MOVE] = { move, sizeof(struct code_move) },
	[CODE_DEBUG_INFO] = { debug_info, DEBUG_MAX },
};

/* 1; 0 at the end, or where the file is not written any further; -ENOMEM. */
static int next(struct reader *r)
{
	struct record rec;
	size_t len, want;

	if (fread(&rec, sizeof(rec), 1, r->f) != 1 || rec.total_size < sizeof(rec))
		return 0;
	r->time = rec.timestamp;
	len = rec.total_size - sizeof(rec);
	want = 0;
	if (rec.id < sizeof(kinds) / sizeof(kinds[0]))
		want = len < kinds[rec.id].max ? len : kinds[rec.id].max;
	/* Not read in part: a partial name would be wrong. */
	if (rec.id == CODE_DEBUG_INFO && (want < len || want > DEBUG_ALL - r->debug)) {
		r->j->lines_left_out = true;
		want = 0;
	}
	if (rec.id == CODE_DEBUG_INFO)
		r->debug += want;
	if (want) {
		if (gprof_grow(&r->body, &r->cap_body, want, 1))
			return -ENOMEM;
		if (fread(r->body, want, 1, r->f) != 1)
			return 0;
	}
	if (len > want && fseeko(r->f, (off_t)(len - want), SEEK_CUR))
		return 0;
	return want && kinds[rec.id].take(r, want) ? -ENOMEM : 1;
}

static int check_header(struct reader *r, uint32_t pid)
{
	struct header h;

	if (fread(&h, sizeof(h), 1, r->f) != 1 || h.magic != MAGIC || h.total_size < sizeof(h))
		return -EINVAL;
	if (h.pid != pid)
		return -ESRCH;
	r->timed = !(h.flags & FLAG_ARCH_TIME);
	return fseeko(r->f, (off_t)h.total_size, SEEK_SET) ? -EINVAL : 0;
}

int gprof_jitdump_read(struct gprof_jitdump *j, int fd, uint32_t pid)
{
	struct reader r = { .j = j };
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0), ret;
	size_t records;

	memset(j, 0, sizeof(*j));
	j->budget.max = MEMORY_MAX;
	gprof_map64_init(&r.by_index);
	r.by_index.budget = &j->budget;
	r.f = copy < 0 ? NULL : fdopen(copy, "re");
	if (!r.f) {
		ret = -errno;
		if (copy >= 0)
			close(copy);
		return ret;
	}
	rewind(r.f);
	ret = gprof_strings_init(&j->strings);
	j->strings.table.budget = &j->budget;
	if (!ret)
		ret = check_header(&r, pid);
	for (records = 0; !ret; records++) {
		ret = records < RECORDS_MAX ? next(&r) : -EFBIG;
		if (ret <= 0)
			break;
		ret = 0;
	}
	if (!ret && r.timed)
		ret = gprof_code_remember(&j->past, j->v, j->nr, &j->budget);
	if (!ret)
		ret = gprof_code_settle(&j->v, &j->nr, &j->cap, &j->budget);
	if (ret == -ENOMEM && j->budget.exceeded)
		ret = -EFBIG;
	/* Nothing more comes, and the caller may move the result. */
	j->strings.table.budget = NULL;
	if (ret)
		gprof_jitdump_free(j);
	gprof_map64_free(&r.by_index);
	free(r.body);
	fclose(r.f);
	return ret;
}

void gprof_jitdump_free(struct gprof_jitdump *j)
{
	free(j->v);
	gprof_code_past_free(&j->past);
	free(j->of);
	free(j->made);
	free(j->lines);
	gprof_strings_free(&j->strings);
	memset(j, 0, sizeof(*j));
}

static void find_line(const struct gprof_jitdump *j, const struct gprof_code *at, uint64_t addr,
		      struct gprof_jit_code *code)
{
	const struct gprof_jit_lines *of = &j->of[at->age];
	size_t lo = of->first, hi = lo + of->nr;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (j->lines[mid].offset <= addr - of->start)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo > of->first) {
		code->file = j->strings.v[j->lines[lo - 1].file];
		code->line = j->lines[lo - 1].line;
	}
}

bool gprof_jitdump_find(struct gprof_jitdump *j, uint64_t addr, uint64_t from, uint64_t to,
			struct gprof_jit_code *code)
{
	const struct gprof_code *newest = gprof_code_find(j->v, j->nr, addr), *at = newest;

	memset(code, 0, sizeof(*code));
	if (!newest)
		return false;
	/* It has come since the first sample of the stack: find the code before it. */
	if (from && j->past.nr && j->made[newest->age] > from) {
		at = gprof_code_was(&j->past, addr, j->made, from, to);
		if (!at)
			return true;
	}
	code->name = j->strings.v[at->name];
	code->id = at->age + 1ULL;
	find_line(j, at, addr, code);
	return true;
}

bool gprof_is_jitdump(const char *path)
{
	const char *base = strrchr(path, '/'), *p;

	base = base ? base + 1 : path;
	if (strncmp(base, "jit-", 4))
		return false;
	p = base + 4 + strspn(base + 4, "0123456789");
	return p > base + 4 && (!strcmp(p, ".dump") || !strcmp(p, ".dump (deleted)"));
}
