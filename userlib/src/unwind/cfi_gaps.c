// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * cfi_gaps.c: text that no FDE is for, by its instructions.
 */
#include "cfi_gaps.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "table_layout.h"

#define PADDING_MAX	64	/* functions are aligned to that at most */
#define CLONE_MAX	48	/* instructions of clone() between the system call and its child */
#define ENTRY_MAX	96	/* instructions of the dynamic linker before it enters the program */
#define LOOK		64	/* bytes in which a pattern is recognised */
#define SLOT		16
#define TEXT_MAX	(1U << 30)	/* first to last byte; browsers have a quarter */

#define A64_NOP		0xd503201f
#define A64_BTI_C	0xd503245f
#define A64_SVC		0xd4000001
#define A64_SIGRETURN	0xd2801168	/* mov x8, #139 */
#define A64_PUSH_PLT	0xa9bf7bf0	/* stp x16, x30, [sp, #-16]! */
#define A64_BR_X17	0xd61f0220

/**
 * struct gap - a gap in the reading
 * @all: the file's
 * @rows: rows so far
 * @to: where it ends
 */
struct gap {
	struct gprof_cfi_gaps *all;
	struct gprof_rows *rows;
	uint32_t to;
};

static const struct gprof_unwind_rule rule_none = { .kind = GPROF_UNWIND_CFA_NONE };
static const struct gprof_unwind_rule rule_end = { .kind = GPROF_UNWIND_CFA_END };
static const struct gprof_unwind_rule rule_signal = { .kind = GPROF_UNWIND_CFA_SIGNAL };

static uint32_t word_at(const unsigned char *p)
{
	uint32_t word;

	memcpy(&word, p, sizeof(word));
	return word;
}

/* Bytes of one instruction that does nothing; 0: it is none. */
static size_t x86_nop(const unsigned char *p, size_t len)
{
	size_t i = 0, size;

	while (i < len && (p[i] == 0x66 || p[i] == 0x2e))
		i++;
	if (i < len && (p[i] == 0x90 || p[i] == 0xcc))
		return i + 1;
	if (len - i < 3 || p[i] != 0x0f || p[i + 1] != 0x1f)
		return 0;
	size = 3 + ((p[i + 2] & 7) == 4);
	if (p[i + 2] >> 6 == 1)
		size += 1;
	else if (p[i + 2] >> 6 == 2)
		size += 4;
	return i + size;
}

static bool is_padding(const unsigned char *p, size_t len, uint16_t machine)
{
	size_t i = 0, size;

	for (; i < len && machine == EM_X86_64; i += size) {
		size = p[i] ? x86_nop(p + i, len - i) : 1;
		if (!size)
			return false;
	}
	for (; i + 4 <= len; i += 4)
		if (word_at(p + i) && word_at(p + i) != A64_NOP)
			return false;
	return true;
}

/* The system call, and the test of its result. */
static bool is_clone(struct gprof_image *img, uint64_t offset, size_t len)
{
	const unsigned char *p = offset >= 4 ? gprof_image_at(img, offset - 4, len + 4) : NULL;

	if (!p || len < 4)
		return false;
	if (img->machine == EM_AARCH64)
		return word_at(p) == A64_SVC || word_at(p + 4) == A64_SVC;
	return !memcmp(p + 4, "\x0f\x05", 2) || !memcmp(p + 2, "\x0f\x05", 2);
}

static int add(struct gap *g, uint64_t place, struct gprof_unwind_rule rule)
{
	return place < g->to ? gprof_rows_add(g->rows, (uint32_t)place, rule) : 0;
}

/*
 * From @at on for @len bytes. The kernel returns to the first, and an unwinder looks up the byte
 * before.
 */
static int add_signal(struct gap *g, uint32_t at, uint32_t len)
{
	const struct gprof_row *last = g->rows->nr ? &g->rows->v[g->rows->nr - 1] : NULL;
	int err;

	err = add(g, at && (!last || last->at < at) ? at - 1 : at, rule_signal);
	return err ? err : add(g, (uint64_t)at + len, rule_none);
}

static uint32_t x86_sigreturn(const unsigned char *p, size_t len)
{
	static const unsigned char set_rax[] = { 0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05 };
	static const unsigned char set_eax[] = { 0xb8, 15, 0, 0, 0, 0x0f, 0x05 };

	if (len >= sizeof(set_rax) && !memcmp(p, set_rax, sizeof(set_rax)))
		return sizeof(set_rax);
	return len >= sizeof(set_eax) && !memcmp(p, set_eax, sizeof(set_eax)) ? sizeof(set_eax) : 0;
}

/* push GOT + 8; jmp *(GOT + 16) */
static bool x86_is_plt(const unsigned char *p, size_t len)
{
	return len >= SLOT && p[0] == 0xff && p[1] == 0x35 && p[6] == 0xff && p[7] == 0x25;
}

/* From which byte of a slot on its number is pushed; 0: it is no slot. */
static __s16 x86_plt_slot(const unsigned char *p)
{
	if (p[0] == 0xff && p[1] == 0x25 && p[6] == 0x68 && p[11] == 0xe9)
		return 11;
	if (!memcmp(p, "\xf3\x0f\x1e\xfa\x68", 5) && p[9] == 0xe9)
		return 9;
	return 0;
}

/* Returns the bytes of it, or -errno. */
static int x86_add_plt(struct gap *g, uint32_t at)
{
	const struct gprof_unwind_rule entered = {
		.kind = GPROF_UNWIND_CFA_SP, .cfa = 2,
	}, pushed = { .kind = GPROF_UNWIND_CFA_SP, .cfa = 3 };
	uint32_t end = at + SLOT;
	int err = add(g, at, entered);

	if (!err)
		err = add(g, at + 6, pushed);
	for (; !err && g->to - end >= SLOT; end += SLOT) {
		const unsigned char *p = gprof_image_at(g->all->img, g->all->base + end, SLOT);
		struct gprof_unwind_rule slot = { .kind = GPROF_UNWIND_CFA_PLT };

		slot.cfa = p ? x86_plt_slot(p) : 0;
		if (!slot.cfa)
			break;
		err = add(g, end, slot);
	}
	if (!err)
		err = add(g, end, rule_none);
	return err ? err : (int)(end - at);
}

static const unsigned char x86_pad[] = { 0xf3, 0x0f, 0x1e, 0xfa };

/* Bytes of an instruction of crti.o's or crtbegin.o's that leaves the stack pointer; 0: another */
static uint32_t x86_keeps_sp(const unsigned char *p, size_t len)
{
	static const struct {
		unsigned char size, nr, code[3];
	} known[] = {
		{ 7, 3, { 0x48, 0x8b, 0x05 } },	/* mov place, %rax */
		{ 7, 3, { 0x48, 0x8b, 0x3d } },	/* mov place, %rdi */
		{ 7, 3, { 0x48, 0xc7, 0xc0 } },	/* mov $..., %rax */
		{ 5, 1, { 0xb8 } },		/* mov $..., %eax */
		{ 5, 1, { 0xbf } },		/* mov $..., %edi */
		{ 3, 3, { 0x48, 0x89, 0xe5 } },	/* mov %rsp, %rbp */
		{ 3, 3, { 0x48, 0x85, 0xc0 } },	/* test %rax, %rax */
		{ 8, 3, { 0x48, 0x83, 0x3d } },	/* cmpq $..., place */
		{ 7, 2, { 0xc6, 0x05 } },	/* movb $..., place */
		{ 2, 1, { 0x74 } },		/* je */
		{ 5, 1, { 0xe8 } },		/* call */
		{ 6, 2, { 0xff, 0x15 } },	/* call *place */
		{ 2, 2, { 0xff, 0xd0 } },	/* call *%rax */
	};
	size_t i;

	for (i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (len >= known[i].size && !memcmp(p, known[i].code, known[i].nr))
			return known[i].size;
	return 0;
}

/*
 * _init(), _fini() and __do_global_dtors_aux(), which crti.o and crtbegin.o put into each file:
 * a word more is on the stack from an instruction on until another. All between them is known,
 * or the function may be any, with more on its stack. Bytes of them, 0 or -errno.
 */
static int x86_add_startup(struct gap *g, uint32_t at, const unsigned char *p, size_t len)
{
	const struct gprof_unwind_rule entered = { .kind = GPROF_UNWIND_CFA_SP, .cfa = 1 };
	struct gprof_unwind_rule inside = { .kind = GPROF_UNWIND_CFA_SP, .cfa = 2 };
	const char *leave = "\x48\x83\xc4\x08\xc3";
	uint32_t from = 0, to, size = 0, step, last = 4;
	int err;

	len = len < LOOK ? len : LOOK;
	if (len > 2 * sizeof(x86_pad) && !memcmp(p, x86_pad, sizeof(x86_pad)))
		from = sizeof(x86_pad);
	if (len - from >= 9 && !memcmp(p + from, "\x48\x83\xec\x08", 4)) {
		from += 4;
	} else if (len - from >= 12 && p[from] == 0x80 && p[from + 1] == 0x3d &&
		   !p[from + 6] && p[from + 7] == 0x75 && p[from + 9] == 0x55) {
		size = from + 9 + p[from + 8] + 1;
		from += 10;
		leave = "\x5d\xc3";
		last = 1;
		inside.how = GPROF_UNWIND_FP_AT_CFA;
		inside.fp = -2;
	} else {
		return 0;
	}
	for (to = from; to + last < len && memcmp(p + to, leave, last + 1); to += step) {
		step = x86_keeps_sp(p + to, len - to);
		if (!step)
			return 0;
	}
	to += last;
	if (!size)
		size = to + 1;
	if (to >= len || size <= to || size > len || p[size - 1] != 0xc3 ||
	    (size > to + 1 && !is_padding(p + to + 1, size - to - 2, EM_X86_64)))
		return 0;
	err = add(g, at, entered);
	if (!err)
		err = add(g, at + from, inside);
	if (!err)
		err = add(g, at + to, entered);
	if (!err)
		err = add(g, at + size, rule_none);
	return err ? err : (int)size;
}

/* jmp *place, filled up with nothing, perhaps behind a landing pad: bytes of it, or 0 */
static uint32_t x86_jump_slot(const unsigned char *p, size_t len)
{
	if (len >= 8 && p[0] == 0xff && p[1] == 0x25 && p[6] == 0x66 && p[7] == 0x90)
		return 8;
	if (len < SLOT || memcmp(p, x86_pad, sizeof(x86_pad)))
		return 0;
	p += sizeof(x86_pad);
	p += *p == 0xf2;
	return p[0] == 0xff && p[1] == 0x25 ? SLOT : 0;
}

/* A slot by itself, or a leaf: it was called, and has nothing on its stack. */
static int add_entered(struct gap *g, uint32_t at, uint32_t size)
{
	static const struct gprof_unwind_rule x86 = { .kind = GPROF_UNWIND_CFA_SP, .cfa = 1 },
					      a64 = {
						      .kind = GPROF_UNWIND_CFA_SP,
						      .how = GPROF_UNWIND_HOW(GPROF_UNWIND_FP_SAME,
									      GPROF_UNWIND_RA_LR,
									      0),
					      };
	int err = add(g, at, g->all->img->machine == EM_X86_64 ? x86 : a64);

	if (!err)
		err = add(g, (uint64_t)at + size, rule_none);
	return err ? err : (int)size;
}

/* adrp x16; ldr x17; add x16; br x17, with or without a landing pad; bytes of it, or 0 */
static uint32_t a64_plt_slot(const unsigned char *p, size_t len)
{
	uint32_t pad = len >= 4 && word_at(p) == A64_BTI_C ? 4 : 0;
	uint32_t size = pad ? 24 : 16;

	if (len < size || (word_at(p + pad) & 0x9f00001f) != 0x90000010 ||
	    (word_at(p + pad + 4) & 0xffc003ff) != 0xf9400211 ||
	    word_at(p + pad + 12) != A64_BR_X17)
		return 0;
	return size;
}

static int a64_add_plt(struct gap *g, uint32_t at)
{
	const struct gprof_unwind_rule leaf = {
		.kind = GPROF_UNWIND_CFA_SP,
		.how = GPROF_UNWIND_HOW(GPROF_UNWIND_FP_SAME, GPROF_UNWIND_RA_LR, 0),
	}, pushed = { .kind = GPROF_UNWIND_CFA_SP, .cfa = 2, .ra = -1 };
	const unsigned char *p = gprof_image_at(g->all->img, g->all->base + at, 4);
	uint32_t push = at, end = at + 32;
	int err = add(g, at, leaf);

	if (p && word_at(p) == A64_BTI_C)
		push += 4;
	if (!err)
		err = add(g, push + 4, pushed);
	if (!err)
		err = add(g, end, leaf);
	while (!err && end < g->to) {
		size_t len = g->to - end < LOOK ? g->to - end : LOOK;
		uint32_t size;

		p = gprof_image_at(g->all->img, g->all->base + end, len);
		size = p ? a64_plt_slot(p, len) : 0;
		if (!size)
			break;
		end += size;
	}
	if (!err)
		err = add(g, end, rule_none);
	return err ? err : (int)(end - at);
}

/* The code at @at, with @len bytes in view: its length, 0: not known, or -errno. */
static int recognise(struct gap *g, uint32_t at, const unsigned char *p, size_t len)
{
	uint32_t size = 0;
	int err;

	if (at == g->all->entry) {
		size = g->to - at < ENTRY_MAX ? g->to - at : ENTRY_MAX;
		err = add(g, at, rule_end);
		if (!err)
			err = add(g, (uint64_t)at + size, rule_none);
		return err ? err : (int)size;
	}
	if (g->all->img->machine == EM_X86_64) {
		if (*p == 0x48 || *p == 0xb8) {
			size = x86_sigreturn(p, len);
		} else if ((*p == 0xff || *p == 0xf3) && !((g->all->base + at) % 8)) {
			if (!((g->all->base + at) % SLOT) && x86_is_plt(p, len))
				return x86_add_plt(g, at);
			size = x86_jump_slot(p, len);
			if (size)
				return add_entered(g, at, size);
		}
		if (!size && (*p == 0x48 || *p == 0x80 || *p == 0xf3))
			return x86_add_startup(g, at, p, len);
	} else if (!(at % 4) && len >= 8) {
		uint32_t pad = word_at(p) == A64_BTI_C ? 4 : 0;

		if (word_at(p) == A64_SIGRETURN && word_at(p + 4) == A64_SVC)
			size = 8;
		else if (word_at(p + pad) == A64_PUSH_PLT && len >= 32)
			return a64_add_plt(g, at);
		/* A static program has such slots without the code that would bind them. */
		pad = size ? 0 : a64_plt_slot(p, len);
		if (pad)
			return add_entered(g, at, pad);
	}
	err = size ? add_signal(g, at, size) : 0;
	return err ? err : (int)size;
}

/* Bytes from @at on that are a leaf's. */
static uint32_t leaf_at(const struct gprof_a64_leaves *l, uint32_t at)
{
	size_t first = 0, nr = l->nr;

	/* The last that begins at @at or before. */
	while (nr > 1) {
		size_t half = nr / 2;

		if (l->v[first + half].from <= at) {
			first += half;
			nr -= half;
		} else {
			nr = half;
		}
	}
	return nr && l->v[first].from <= at && at < l->v[first].to ? l->v[first].to - at : 0;
}

/* amd64: bytes that something which is recognised begins with; of most text there are few. */
static const bool x86_begins[256] = {
	[0x48] = true, [0x80] = true, [0xb8] = true, [0xf3] = true, [0xff] = true,
};

/* Text from @from to @to, in which nothing is known yet. */
static int scan(struct gap *g, uint32_t from, uint32_t to)
{
	struct gprof_a64_leaves *leaves = &g->all->leaves;
	uint32_t step = g->all->img->machine == EM_X86_64 ? 1 : 4;
	uint32_t at = (from + step - 1) / step * step;
	int err = 0;

	leaves->nr = 0;
	if (step == 4)
		err = gprof_a64_leaves_find(leaves, g->all->img, g->all->base, at, to);
	while (at < to && !err) {
		size_t len = to - at < GPROF_IMAGE_AT_MAX ? to - at : GPROF_IMAGE_AT_MAX, i;
		const unsigned char *p = gprof_image_at(g->all->img, g->all->base + at, len);
		int size = 0;

		if (!p)
			return 0;
		/* The last bytes are read again with the following ones. */
		for (i = 0; i < len && (len - i >= LOOK || at + len == to); i += step) {
			uint32_t place = at + (uint32_t)i, leaf;

			if (step == 1 && !x86_begins[p[i]] && place != g->all->entry)
				continue;
			size = recognise(g, place, p + i, len - i);
			leaf = size ? 0 : leaf_at(leaves, place);
			if (leaf)
				size = add_entered(g, place, leaf);
			if (size)
				break;
		}
		if (size < 0)
			return size;
		at += (uint32_t)i + (uint32_t)size;
	}
	return err;
}

int gprof_cfi_gaps_fill(struct gprof_cfi_gaps *all, struct gprof_rows *rows, uint32_t from,
			uint32_t to)
{
	struct gap g = { .all = all, .rows = rows, .to = to };
	uint32_t len = to - from;
	const unsigned char *p;
	size_t i;
	int err;

	if (len <= PADDING_MAX) {
		p = gprof_image_at(all->img, all->base + from, len);
		if (p && is_padding(p, len, all->img->machine))
			return 0;
	}
	if (from && len <= CLONE_MAX && is_clone(all->img, all->base + from, len))
		return 0;
	err = gprof_rows_add(rows, from, rule_none);
	while (all->next < all->nr_text && all->text[all->next].to <= from)
		all->next++;
	for (i = all->next; i < all->nr_text && all->text[i].from < to && !err; i++) {
		const struct gprof_text *t = &all->text[i];

		err = scan(&g, t->from > from ? t->from : from, t->to < to ? t->to : to);
	}
	return err;
}

static int by_offset(const void *a, const void *b)
{
	const struct gprof_load *x = a, *y = b;

	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

int gprof_cfi_gaps_init(struct gprof_cfi_gaps *g, struct gprof_image *img)
{
	const struct gprof_load *entry = gprof_image_load(img, img->entry);
	struct gprof_load *loads;
	size_t nr = 0, i;

	memset(g, 0, sizeof(*g));
	g->img = img;
	loads = calloc(img->nr_loads, sizeof(*loads));
	g->text = calloc(img->nr_loads, sizeof(*g->text));
	for (i = 0; i < img->nr_loads && loads; i++)
		if (img->loads[i].exec)
			loads[nr++] = img->loads[i];
	if (!nr || !loads || !g->text) {
		free(loads);
		return img->nr_loads && nr ? -ENOMEM : -ENODATA;
	}
	qsort(loads, nr, sizeof(*loads), by_offset);
	g->base = loads[0].offset / GPROF_UNWIND_GRANULE * GPROF_UNWIND_GRANULE;
	for (i = 0; i < nr; i++) {
		uint64_t from = loads[i].offset - g->base, to = from + loads[i].size;
		struct gprof_text *last = g->nr_text ? &g->text[g->nr_text - 1] : NULL;

		if (to > TEXT_MAX) {
			free(loads);
			return -EFBIG;
		}
		if (!last || last->to < from)
			g->text[g->nr_text++] = (struct gprof_text){ (uint32_t)from, (uint32_t)to };
		else if (last->to < to)
			last->to = (uint32_t)to;
	}
	free(loads);
	g->entry = UINT64_MAX;
	if (img->entry && entry && entry->exec)	/* libraries have none */
		g->entry = entry->offset + (img->entry - entry->addr) - g->base;
	return 0;
}

void gprof_cfi_gaps_free(struct gprof_cfi_gaps *g)
{
	free(g->text);
	gprof_a64_leaves_free(&g->leaves);
	memset(g, 0, sizeof(*g));
}
