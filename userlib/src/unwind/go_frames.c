// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * go_frames.c: from Go's table of the stack pointer to rows.
 */
#include "go_frames.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "a64_insn.h"
#include "table_layout.h"

#define LOOK		24	/* bytes of a prologue from where the frame is open on */
#define NEVER		UINT32_MAX
#define TABLE_ALIGN	32

#define A64_PUSH_LR(size) (0xf8000ffe | (-(uint32_t)(size) & 0x1ff) << 12) /* at [sp, #-size]! */
#define A64_SAVE_FP	0xf81f83fd	/* stur x29, [sp, #-8] */
#define A64_SAVE_BOTH	0xa93ffa9d	/* stp x29, x30, [x20, #-8] */
#define A64_SP_FROM_X20	0x9100029f	/* mov sp, x20 */
#define A64_NOP		0xaa0003e0	/* mov x0, x0, as Go writes it */
#define A64_BL		0x94000000U
#define A64_FP_LOADED(w) (((w) & 0xffc0001f) == 0xf940001d)

/**
 * struct go_code - a function's code
 * @img: file
 * @offset: of its first byte in the file
 * @len: bytes
 * @saved: offset from which on the caller's frame pointer is saved
 * @based: offset from which on the frame pointer leads there
 * @frame: bytes on the stack when the frame was opened
 * @left: offset from which on it is on another stack, or none of which anything is known
 * @called: arm64, without a frame: offset from which on x30 is another's
 * @pushed: bytes above the frame that are no function's
 */
struct go_code {
	struct gprof_image *img;
	uint64_t offset;
	uint32_t len;
	uint32_t saved;
	uint32_t based;
	int64_t frame;
	uint32_t left;
	uint32_t called;
	int64_t pushed;
};

/* Bytes from @at on, @len at most; the rest is 0. */
static void read_code(struct go_code *c, uint32_t at, unsigned char *to, size_t len)
{
	size_t left = at < c->len ? c->len - at : 0, nr = left < len ? left : len;
	const unsigned char *p = nr ? gprof_image_at(c->img, c->offset + at, nr) : NULL;

	memset(to, 0, len);
	if (p)
		memcpy(to, p, nr);
}

static uint32_t word(struct go_code *c, uint32_t at)
{
	uint32_t w;

	read_code(c, at, (unsigned char *)&w, sizeof(w));
	return w;
}

/* Bytes of an instruction @code that has rsp + @to as its operand; 0: it is another. */
static uint32_t x86_at_sp(const unsigned char *p, unsigned char code, int64_t to)
{
	int32_t disp;

	if (p[0] != 0x48 || p[1] != code || p[3] != 0x24)
		return 0;
	if (p[2] == 0x6c)
		return (int8_t)p[4] == to ? 5 : 0;
	memcpy(&disp, p + 4, sizeof(disp));
	return p[2] == 0xac && disp == to ? 8 : 0;
}

/*
 * Opens the instruction before @at the frame, of @size bytes then? Either rbp is pushed and
 * becomes rsp, or (up to Go 1.20) saved at the upper end of the whole.
 */
static void x86_open(struct go_code *c, uint32_t at, int64_t size)
{
	unsigned char p[LOOK];
	uint32_t save, base;

	read_code(c, at - 1, p, sizeof(p));
	if (size == 8 && !memcmp(p, "\x55\x48\x89\xe5", 4)) {
		c->saved = at;
		c->based = at + 3;
	} else {
		save = x86_at_sp(p + 1, 0x89, size - 8);
		base = save ? x86_at_sp(p + 1 + save, 0x8d, size - 8) : 0;
		if (!base)
			return;
		c->saved = at + save;
		c->based = at + save + base;
	}
	c->frame = size;
}

/* Where is the first call, of a function that keeps x30 to itself? */
static void a64_find_call(struct go_code *c)
{
	uint32_t at;

	for (at = 0; at < c->len && c->called == NEVER; at += 4)
		if (gprof_a64_decode(word(c, at)).does == GPROF_A64_CALL)
			c->called = at + 4;
}

static void a64_open(struct go_code *c, uint32_t at, int64_t size)
{
	uint32_t w = word(c, at - 4);

	if (w == A64_SP_FROM_X20 && word(c, at - 8) == A64_SAVE_BOTH)
		c->saved = at;
	else if (w == A64_PUSH_LR(size) && word(c, at) == A64_SAVE_FP)
		c->saved = at + 4;
	else
		return;
	c->based = c->saved + 4;
	c->frame = size;
}

/* Bytes of an instruction that sets the stack pointer, or 0. */
static uint32_t x86_sets_sp(const unsigned char *p)
{
	unsigned char mod = p[2] >> 6;

	if ((p[0] == 0x48 || p[0] == 0x49) && p[1] == 0x8b && (p[2] & 0x38) == 0x20 && mod != 3)
		return 3 + ((p[2] & 7) == 4) + (mod == 1 ? 1 : mod == 2 ? 4 : 0);
	if ((p[0] == 0x48 || p[0] == 0x4c) && p[1] == 0x89 && (p[2] & 0xc7) == 0xc4)
		return 3;
	if (p[0] == 0x48 && (p[1] == 0x83 || p[1] == 0x81) && (p[2] == 0xe4 || p[2] == 0xec))
		return p[1] == 0x83 ? 4 : 7;
	return 0;
}

/*
 * Where does a function that sets the stack pointer leave its table? A match in bytes that are no
 * instruction is too early.
 */
static void find_left(struct go_code *c, bool returns)
{
	bool x86 = c->img->machine == EM_X86_64, loaded;
	uint32_t at = c->based == NEVER ? 0 : c->based, size = 0;
	unsigned char p[LOOK];

	for (; at < c->len && !size; at += size ? size : x86 ? 1 : 4) {
		read_code(c, at, p, sizeof(p));
		if (x86)
			size = x86_sets_sp(p);
		else
			size = gprof_a64_decode(word(c, at)).does == GPROF_A64_MOVE_SP ? 4 : 0;
	}
	if (!size)
		return;
	read_code(c, at, p, sizeof(p));
	loaded = x86 ? (p[0] & 0xfe) == 0x48 && p[1] == 0x8b && (p[2] & 0x38) == 0x28 :
		       A64_FP_LOADED(word(c, at));
	if (!returns || c->based == NEVER || loaded)
		c->left = at;
}

/* With @size bytes on the stack at offset @at. */
static struct gprof_unwind_rule rule_at(const struct go_code *c, int64_t size, uint32_t at,
					bool writes_sp)
{
	struct gprof_unwind_rule r = { .kind = GPROF_UNWIND_CFA_SP };
	bool saved = size && at >= c->saved, x86 = c->img->machine == EM_X86_64;
	int ra = GPROF_UNWIND_RA_AT_CFA;

	if (at >= c->left)
		return (struct gprof_unwind_rule){ .kind = GPROF_UNWIND_CFA_END };
	if (size < 0 || size % 8 || size / 8 >= INT16_MAX - 2)
		return (struct gprof_unwind_rule){ .kind = GPROF_UNWIND_CFA_UNKNOWN };
	r.cfa = (__s16)(size / 8);
	if (x86) {
		r.cfa++;
		r.fp = saved ? -2 : 0;
	} else if (!size) {
		if (at >= c->called)
			return (struct gprof_unwind_rule){ .kind = GPROF_UNWIND_CFA_UNKNOWN };
		ra = GPROF_UNWIND_RA_LR;
	} else if (!c->frame) {
		return (struct gprof_unwind_rule){ .kind = GPROF_UNWIND_CFA_NONE };
	} else {
		r.ra = (__s16)(-(c->frame + c->pushed) / 8);
		r.fp = saved ? r.ra - 1 : 0;
	}
	r.how = GPROF_UNWIND_HOW(saved ? GPROF_UNWIND_FP_AT_CFA : GPROF_UNWIND_FP_SAME, ra, 0);
	r.cfa = (__s16)(r.cfa + c->pushed / 8);
	if (writes_sp && size && at >= c->based) {
		r.kind = GPROF_UNWIND_CFA_STACK;
		r.cfa = x86 ? 2 : (__s16)(c->frame / 8 + 1);
	}
	return r;
}

static bool is_called(const struct gprof_go_function *f, const char *name)
{
	size_t len = strlen(name);

	return !strncmp(f->name, name, len) && (!f->name[len] || !strcmp(f->name + len, ".abi0"));
}

/*
 * Is it the last of a stack? The handler of signals is the last for Go, and the kernel's frame
 * above it leads on. The entry of the file was not called, nor was the function that stops a
 * goroutine anywhere: its return address is no call's.
 */
static bool is_last(const struct gprof_go_function *f)
{
	if (f->flags & GPROF_GO_TOP)
		return !is_called(f, "runtime.sigtramp");
	return !strncmp(f->name, "_rt0_", 5) || is_called(f, "runtime.asyncPreempt");
}

/*
 * A row that a subtraction begins holds from its last byte on: where a fault was, the address is
 * looked up one byte before it, as if a call had been there.
 */
static uint32_t begin_of(struct go_code *c, uint32_t at, bool grows)
{
	unsigned char p[7];

	if (!grows || at < sizeof(p))
		return at;
	if (c->img->machine == EM_AARCH64)
		return c->frame ? at - 1 : at;
	read_code(c, at - 7, p, sizeof(p));
	return !memcmp(p + 3, "\x48\x83\xec", 3) || !memcmp(p, "\x48\x81\xec", 3) ? at - 1 : at;
}

static int add_function(struct go_code *c, struct gprof_rows *rows, uint32_t start,
			const struct gprof_go_table *t, struct gprof_go_function *f)
{
	bool writes_sp = f->flags & GPROF_GO_WRITES_SP;
	struct gprof_unwind_rule last = { .kind = GPROF_UNWIND_CFA_END };
	struct gprof_go_steps s = { 0 };
	struct gprof_dwarf_input steps = f->steps;
	int64_t size = 0;
	int err = 0;

	if (is_last(f))
		return gprof_rows_add(rows, start, last);
	last.kind = GPROF_UNWIND_CFA_NONE;
	/* Where the frame is opened, and the stack is left, first. */
	while (gprof_go_step(t, f, &s)) {
		if (s.size > 0 && s.at && !c->frame && c->img->machine == EM_AARCH64)
			a64_open(c, (uint32_t)s.at, s.size);
		else if (s.size > 0 && s.at && !c->frame && c->img->machine == EM_X86_64)
			x86_open(c, (uint32_t)s.at, s.size);
	}
	if (c->img->machine == EM_AARCH64) {
		if (!c->frame)
			a64_find_call(c);
		/* As if it was called where a fault was, whose x30 was pushed for that. */
		if (is_called(f, "runtime.sigpanic"))
			c->pushed = 16;
	}
	if (writes_sp)
		find_left(c, !is_called(f, "runtime.mcall"));
	f->steps = steps;
	s = (struct gprof_go_steps){ 0 };
	while (!err && gprof_go_step(t, f, &s)) {
		uint32_t from = (uint32_t)s.at, to = (uint32_t)s.to;
		/* In this order, where they are at all. */
		const uint32_t places[] = { from, c->called, c->saved, c->based, c->left };
		size_t i;

		for (i = 0; !err && i < 5; i++) {
			uint32_t at = places[i], begin = at;

			if (i && (at <= from || at >= to))
				continue;
			if (!i)
				begin = begin_of(c, at, s.size > size);
			err = gprof_rows_add(rows, start + begin,
					     rule_at(c, s.size, at, writes_sp));
		}
		size = s.size;
	}
	if (!err && s.to < f->end - f->start)
		err = gprof_rows_add(rows, start + (uint32_t)s.to, last);
	return err;
}

/* Bytes of a nop and a call of a function @far behind it, as goexit begins; @p has @len. */
static bool is_goexit(const unsigned char *p, size_t len, uint16_t machine, int64_t far)
{
	int32_t to;

	if (len < 8)
		return false;
	if (machine == EM_X86_64) {
		memcpy(&to, p + 2, sizeof(to));
		return p[0] == 0x90 && p[1] == 0xe8 && to == far - 6;
	}
	memcpy(&to, p, sizeof(to));
	if ((uint32_t)to != A64_NOP)
		return false;
	memcpy(&to, p + 4, sizeof(to));
	return (uint32_t)to == (A64_BL | ((far - 4) / 4 & 0x3ffffff));
}

/*
 * The table may count from another place than .text, which only a relocation or the runtime knows:
 * where goexit, which every goroutine ends in, is found by its code.
 */
static bool find_text(struct gprof_go_table *t, struct gprof_image *img)
{
	/* Two: the called one has another convention than the function of that name. */
	struct gprof_go_function f, exit = { 0 }, exit1[2] = { 0 };
	const struct gprof_load *load = gprof_image_load(img, t->text);
	size_t step = img->machine == EM_X86_64 ? 1 : 4, len, i;
	uint64_t at;

	for (at = 0; t->flags && load && at < t->nr && !(exit.name && exit1[1].name); at++) {
		if (!gprof_go_function(t, at, &f))
			continue;
		if (is_called(&f, "runtime.goexit"))
			exit = f;
		else if (is_called(&f, "runtime.goexit1"))
			exit1[!!exit1[0].name] = f;
	}
	if (!exit.name)
		return false;
	/* It cannot lie before the text, and mostly lies right there. */
	for (at = exit.start - load->addr; at < load->size; at += len) {
		const unsigned char *p;

		len = load->size - at < GPROF_IMAGE_AT_MAX ? load->size - at : GPROF_IMAGE_AT_MAX;
		p = gprof_image_at(img, load->offset + at, len);
		for (i = 0; p && i < len; i += step) {
			int64_t far0 = (int64_t)(exit1[0].start - exit.start);
			int64_t far1 = (int64_t)(exit1[1].start - exit.start);

			if (!is_goexit(p + i, len - i, img->machine, far0) &&
			    !is_goexit(p + i, len - i, img->machine, far1))
				continue;
			t->text += load->addr + at + i - exit.start;
			return true;
		}
		if (len > 8)
			len -= 8;	/* the end is searched with the following bytes */
	}
	return false;
}

int gprof_go_frames_open(struct gprof_go_frames *g, struct gprof_image *img)
{
	bool found = false;
	uint64_t at;
	int err;

	memset(g, 0, sizeof(*g));
	g->part = img->go_table.size ? img->go_table : img->relro;
	if (!img->go || !g->part.size)
		return 0;
	err = gprof_image_read(img, &g->part, &g->copy);
	/* The first that looks like one: to try each would take unbounded time. */
	for (at = 0; !err && !found && at < g->part.size; at += TABLE_ALIGN)
		found = gprof_go_table_open(&g->table, g->copy + at, g->part.size - at, img->text);
	if (!found || !find_text(&g->table, img))
		gprof_go_frames_close(g, img);
	return err == -ENOEXEC ? 0 : err;
}

void gprof_go_frames_close(struct gprof_go_frames *g, struct gprof_image *img)
{
	if (g->copy)
		gprof_image_drop(img, &g->part, g->copy);
	memset(g, 0, sizeof(*g));
}

int gprof_go_frames_fill(struct gprof_go_frames *g, struct gprof_cfi_gaps *gaps,
			 struct gprof_rows *rows, uint32_t from, uint32_t to)
{
	struct gprof_go_function f;
	uint64_t start;
	int err = 0;

	for (; g->copy && g->next < g->table.nr && !err; g->next++) {
		struct go_code c = { .img = gaps->img, .saved = NEVER, .based = NEVER,
				     .left = NEVER, .called = NEVER };
		const struct gprof_load *load;

		if (!gprof_go_function(&g->table, g->next, &f))
			continue;
		load = gprof_image_load(gaps->img, f.start);
		if (!load || !load->exec || f.end - load->addr > load->size)
			continue;
		c.offset = load->offset + (f.start - load->addr);
		c.len = (uint32_t)(f.end - f.start);
		start = c.offset - gaps->base;
		if (start >= to)
			break;
		/* A signal trampoline is known by its code. */
		if (start < from || c.len > to - start ||
		    is_called(&f, "runtime.sigreturn__sigaction"))
			continue;
		if (start > from)
			err = gprof_cfi_gaps_fill(gaps, rows, from, (uint32_t)start);
		if (!err)
			err = add_function(&c, rows, (uint32_t)start, &g->table, &f);
		from = (uint32_t)start + c.len;
	}
	return err || from == to ? err : gprof_cfi_gaps_fill(gaps, rows, from, to);
}
