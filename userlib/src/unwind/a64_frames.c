// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * a64_frames.c: arm64's prologues and epilogues, by their instructions.
 */
#include "a64_frames.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "a64_insn.h"
#include "table_layout.h"

#define START_MAX	96				/* bytes at the begin of a program */
#define A64_NOP		0xd503201f
#define A64_BTI_C	0xd503245f
#define PROLOGUE_MAX	(GPROF_IMAGE_AT_MAX / 4)	/* instructions before it is done */
#define EPILOGUE_MAX	48				/* instructions of one */
#define CHUNK		(GPROF_IMAGE_AT_MAX - 4 * EPILOGUE_MAX)

/**
 * struct frame - state between two instructions
 * @size: the CFA is sp + this
 * @fp_saved: the caller's x29 is at CFA + @fp
 * @fp: that
 * @lr_saved: the return address is at CFA + @lr
 * @lr: that
 * @based: x29 is CFA - @base, and sp does not matter any more
 * @base: that
 */
struct frame {
	int64_t size;
	bool fp_saved;
	int64_t fp;
	bool lr_saved;
	int64_t lr;
	bool based;
	int64_t base;
};

/**
 * struct function - one that is looked at
 * @f: memory
 * @rows: rows
 * @img: file
 * @base: offset in the file that places count from
 * @at: where it begins
 * @end: and ends
 * @row: number of the row that holds
 * @begin: place from which on that holds, or behind the last that leaves the function
 * @left: it is the latter
 */
struct function {
	struct gprof_a64_frames *f;
	struct gprof_rows *rows;
	struct gprof_image *img;
	uint64_t base;
	uint32_t at;
	uint32_t end;
	size_t row;
	uint32_t begin;
	bool left;
};

static uint32_t word_at(const unsigned char *p)
{
	uint32_t word;

	memcpy(&word, p, sizeof(word));
	return word;
}

static int words(int64_t bytes, __s16 *to)
{
	if (bytes % 8 || bytes / 8 > INT16_MAX || bytes / 8 < INT16_MIN)
		return -EBADMSG;
	*to = (__s16)(bytes / 8);
	return 0;
}

static int add(struct function *fn, uint32_t at, struct gprof_unwind_rule rule)
{
	struct gprof_a64_frames *f = fn->f;

	if (gprof_grow_within(fn->rows->budget, &f->added, &f->cap_added, f->nr_added + 1,
			      sizeof(*f->added)))
		return -ENOMEM;
	f->added[f->nr_added++] = (struct gprof_a64_row){ .at = at, .rule = rule };
	return 0;
}

/* From @at on @frame holds; -EBADMSG where no rule says so. */
static int add_frame(struct function *fn, uint32_t at, const struct frame *frame)
{
	struct gprof_unwind_rule rule = {
		.kind = frame->based ? GPROF_UNWIND_CFA_FP : GPROF_UNWIND_CFA_SP,
	};
	int64_t cfa = frame->based ? frame->base : frame->size;

	rule.how = GPROF_UNWIND_HOW(
		frame->fp_saved ? GPROF_UNWIND_FP_AT_CFA : GPROF_UNWIND_FP_SAME,
		frame->lr_saved ? GPROF_UNWIND_RA_AT_CFA : GPROF_UNWIND_RA_LR, 0);
	if (words(cfa, &rule.cfa) || cfa < 0 ||
	    (frame->fp_saved && words(frame->fp, &rule.fp)) ||
	    (frame->lr_saved && words(frame->lr, &rule.ra)))
		return -EBADMSG;
	return add(fn, at, rule);
}

static struct gprof_unwind_rule rule_now(const struct function *fn)
{
	return fn->rows->rules[fn->rows->v[fn->row].rule];
}

/* The function has just been called. */
static bool is_entered(struct gprof_unwind_rule r)
{
	return r.kind == GPROF_UNWIND_CFA_SP && !r.cfa &&
	       r.how == GPROF_UNWIND_HOW(GPROF_UNWIND_FP_SAME, GPROF_UNWIND_RA_LR, 0);
}

/* Does a rule agree with @frame? The way back does not show that x29 is a base. */
static bool agrees(struct gprof_unwind_rule r, const struct frame *frame)
{
	bool fp = GPROF_UNWIND_FP(r.how) == GPROF_UNWIND_FP_AT_CFA;
	bool lr = GPROF_UNWIND_RA(r.how) == GPROF_UNWIND_RA_AT_CFA;

	if (GPROF_UNWIND_FP(r.how) > GPROF_UNWIND_FP_AT_CFA ||
	    GPROF_UNWIND_RA(r.how) > GPROF_UNWIND_RA_LR)
		return false;
	if (r.kind == GPROF_UNWIND_CFA_SP ? r.cfa * 8 != frame->size :
					    frame->based && r.cfa * 8 != frame->base)
		return false;
	return frame->fp_saved == fp && (!fp || frame->fp == r.fp * 8) && frame->lr_saved == lr &&
	       (!lr || frame->lr == r.ra * 8);
}

/* One of the two registers lies there. */
static void note_place(struct frame *frame, const struct gprof_a64_insn *in, int64_t place)
{
	int i;

	for (i = 0; i < 2; i++, place += in->step) {
		if (in->reg[i] == GPROF_A64_FP) {
			frame->fp_saved = true;
			frame->fp = place;
		} else if (in->reg[i] == GPROF_A64_LR) {
			frame->lr_saved = true;
			frame->lr = place;
		}
	}
}

static bool touches(const struct gprof_a64_insn *in, uint32_t reg)
{
	return in->reg[0] == reg || in->reg[1] == reg;
}

/* Applies an instruction of a prologue; false: it is none. */
static bool forward(struct frame *frame, const struct gprof_a64_insn *in)
{
	switch (in->does) {
	case GPROF_A64_NOTHING:
		return true;
	case GPROF_A64_BRANCH:
		/* Large frames are touched page by page, in a loop that moves sp. */
		return in->imm > 0 || frame->based;
	case GPROF_A64_STORE:
		frame->size -= in->before;
		/* A register that was changed is not saved. */
		if (touches(in, GPROF_A64_FP) && frame->based)
			return false;
		note_place(frame, in, in->imm - frame->size);
		frame->size -= in->after;
		return true;
	case GPROF_A64_LOAD:
		return !in->before && !in->after && !touches(in, GPROF_A64_FP) &&
		       !touches(in, GPROF_A64_LR);
	case GPROF_A64_ADD_SP:
		frame->size -= in->imm;
		return true;
	case GPROF_A64_SET_FP:
		frame->based = true;
		frame->base = frame->size - in->imm;
		return frame->fp_saved;
	case GPROF_A64_MOVE_SP:
		return frame->based;
	case GPROF_A64_CALL:
		return frame->lr_saved;
	case GPROF_A64_JUMP:
	case GPROF_A64_LEAVE:
		*frame = (struct frame){ 0 };	/* the next instruction is a jump's target, from before */
		return true;
	default:
		return false;
	}
}

/* Up to the second row, if the instructions lead to its rule. */
static int prologue(struct function *fn)
{
	struct gprof_a64_frames *f = fn->f;
	uint32_t until, i, nr;
	struct frame frame = { 0 }, last = frame;
	struct gprof_unwind_rule rule;
	const unsigned char *p;
	int err = 0;

	if (!is_entered(rule_now(fn)) || fn->row + 1 == fn->rows->nr)
		return 0;
	until = fn->rows->v[fn->row + 1].at;
	nr = (until - fn->at) / 4;
	p = nr <= PROLOGUE_MAX ? gprof_image_at(fn->img, fn->base + fn->at, 4 * nr) : NULL;
	for (i = 0; p && i < nr && !err; i++) {
		struct gprof_a64_insn in = gprof_a64_decode(word_at(p + 4 * i));

		if (!forward(&frame, &in))
			err = -EBADMSG;
		else if (i + 1 < nr && memcmp(&frame, &last, sizeof(frame)))
			err = add_frame(fn, fn->at + 4 * (i + 1), &frame);
		last = frame;
	}
	rule = fn->rows->rules[fn->rows->v[fn->row + 1].rule];
	if (err || !p || !agrees(rule, &frame) ||
	    (rule.kind == GPROF_UNWIND_CFA_FP && !frame.based))
		f->nr_added = 0;
	return err == -ENOMEM ? err : 0;
}

/* From the state behind an instruction of an epilogue to the state before it. */
static bool backward(struct frame *frame, const struct gprof_a64_insn *in)
{
	switch (in->does) {
	case GPROF_A64_NOTHING:
	case GPROF_A64_BRANCH:
		return true;
	case GPROF_A64_STORE:
		return !in->before && !in->after;
	case GPROF_A64_LOAD:
		if (in->before || (touches(in, GPROF_A64_FP) && frame->fp_saved) ||
		    (touches(in, GPROF_A64_LR) && frame->lr_saved))
			return false;
		frame->size += in->after;
		note_place(frame, in, in->imm - frame->size);
		return true;
	case GPROF_A64_ADD_SP:
		frame->size += in->imm;
		return in->imm > 0;
	default:
		return false;
	}
}

/* Is the instruction behind @in reached by jumps alone? */
static bool ends_block(const struct gprof_a64_insn *in)
{
	return in->does == GPROF_A64_JUMP || in->does == GPROF_A64_LEAVE;
}

static bool is_return(uint32_t word)
{
	return word == 0xd65f03c0 || (word & 0xfffffbff) == 0xd65f0bff;	/* ret, retaa, retab */
}

/*
 * Does the function's own jump or return leave it where no frame was made? Compilers that
 * tell each change of the frame have parts that lie elsewhere, to which they jump with it.
 */
static bool leaves_called(const struct function *fn, uint32_t word)
{
	return is_return(word) || (fn->f->nr_added && (word & 0xfc000000) == 0x14000000);
}

/*
 * At @pc the function is left. Back from there, where it has been as if just called, to
 * where the row that holds is right; @p: its instruction, behind the others. Where one
 * comes to no such place, but to where nothing leads on, it was jumped to from before the
 * prologue, and there never was a frame.
 */
static int epilogue(struct function *fn, uint32_t pc, const unsigned char *p)
{
	static const struct frame entered;
	struct gprof_unwind_rule rule = rule_now(fn);
	struct frame before[EPILOGUE_MAX + 1] = { { 0 } };
	uint32_t max = (pc - fn->begin) / 4, i;
	struct gprof_a64_frames *f = fn->f;
	size_t nr_added = f->nr_added;
	bool found = false;
	int err = 0;

	if (rule.kind != GPROF_UNWIND_CFA_SP && rule.kind != GPROF_UNWIND_CFA_FP)
		return 0;
	if (max > EPILOGUE_MAX)
		max = EPILOGUE_MAX;
	for (i = 0; i < max && !found; i++) {
		struct gprof_a64_insn in = gprof_a64_decode(word_at(p - 4 * (i + 1)));

		if (ends_block(&in))
			break;
		before[i + 1] = before[i];
		if (!backward(&before[i + 1], &in))
			return 0;
		found = agrees(rule, &before[i + 1]);
	}
	if (!found && (!leaves_called(fn, word_at(p)) || i == EPILOGUE_MAX ||
		       (i == max && !fn->left) || memcmp(&before[i], &entered, sizeof(entered))))
		return 0;
	if (!found)
		err = add_frame(fn, pc - 4 * i, &entered);
	while (found && i-- && !err) {
		/* By the frame pointer it can be told as long as that is not the caller's. */
		if (rule.kind == GPROF_UNWIND_CFA_FP && before[i].fp_saved)
			continue;
		err = add_frame(fn, pc - 4 * i, &before[i]);
	}
	/* The next instruction is jumped to from where the row is right. */
	if (!err && pc + 4 < fn->end)
		err = add(fn, pc + 4, rule);
	if (err)
		f->nr_added = nr_added;
	return err == -ENOMEM ? err : 0;
}

/* Does the instruction at @pc leave the function? */
static bool leaves(const struct function *fn, uint32_t pc, uint32_t word)
{
	struct gprof_a64_insn in;
	int64_t to;

	/* br, ret, b: of a million instructions most are none */
	if ((word & 0xfe000000) != 0xd6000000 && (word & 0xfc000000) != 0x14000000)
		return false;
	in = gprof_a64_decode(word);
	to = (int64_t)pc + in.imm;
	return in.does == GPROF_A64_LEAVE ||
	       (in.does == GPROF_A64_JUMP && (to < fn->at || to >= fn->end));
}

static int epilogues(struct function *fn)
{
	uint32_t pc = fn->at, i;
	int err = 0;

	while (pc + 4 <= fn->end && !err) {
		uint32_t back = pc - fn->at < 4 * EPILOGUE_MAX ? pc - fn->at : 4 * EPILOGUE_MAX;
		uint32_t len = (fn->end - pc < CHUNK ? fn->end - pc : CHUNK) & ~3U;
		const unsigned char *p = gprof_image_at(fn->img, fn->base + pc - back, back + len);

		if (!p)
			return 0;
		for (i = 0; i < len && !err; i += 4) {
			while (fn->row + 1 < fn->rows->nr &&
			       fn->rows->v[fn->row + 1].at <= pc + i) {
				fn->row++;
				fn->begin = fn->rows->v[fn->row].at;
				fn->left = false;
			}
			if (!leaves(fn, pc + i, word_at(p + back + i)))
				continue;
			if (!is_entered(rule_now(fn)))
				err = epilogue(fn, pc + i, p + back + i);
			fn->begin = pc + i + 4;
			fn->left = true;
		}
		pc += len;
	}
	return err;
}

/* The rows that were there win where both are. */
static int merge(struct function *fn, size_t first)
{
	struct gprof_a64_frames *f = fn->f;
	struct gprof_rows *rows = fn->rows;
	size_t nr = rows->nr - first, i = 0, j = 0;
	int err = 0;

	if (gprof_grow_within(rows->budget, &f->old, &f->cap_old, nr, sizeof(*f->old)))
		return -ENOMEM;
	if (nr)
		memcpy(f->old, rows->v + first, nr * sizeof(*f->old));
	rows->nr = first;
	while ((i < nr || j < f->nr_added) && !err) {
		if (j == f->nr_added || (i < nr && f->old[i].at <= f->added[j].at)) {
			if (j < f->nr_added && f->old[i].at == f->added[j].at)
				j++;
			err = gprof_rows_add(rows, f->old[i].at, rows->rules[f->old[i].rule]);
			i++;
		} else {
			err = gprof_rows_add(rows, f->added[j].at, f->added[j].rule);
			j++;
		}
	}
	return err;
}

static bool is_pad(uint32_t word)
{
	return word == A64_NOP || word == A64_BTI_C;
}

/*
 * A landing pad moves no stack: a different row behind it held before it. glibc's
 * _dl_runtime_resolve has its state at entry only there, and _start the rule that it has no
 * caller.
 */
static int entry(struct function *fn, bool *found)
{
	const struct gprof_rows *rows = fn->rows;
	struct gprof_unwind_rule next;
	const unsigned char *p;

	*found = false;
	if (fn->row + 1 == rows->nr || rows->v[fn->row + 1].at != fn->at + 4 ||
	    !is_entered(rule_now(fn)))
		return 0;
	next = rows->rules[rows->v[fn->row + 1].rule];
	if (next.kind != GPROF_UNWIND_CFA_END &&
	    (next.kind != GPROF_UNWIND_CFA_SP ||
	     GPROF_UNWIND_RA(next.how) != GPROF_UNWIND_RA_AT_CFA))
		return 0;
	p = gprof_image_at(fn->img, fn->base + fn->at, 4);
	*found = p && is_pad(word_at(p));
	return *found ? add(fn, fn->at, next) : 0;
}

/*
 * Behind the code that a program begins with may be some that was called: behind the call
 * that does not return, a landing pad and a jump to another function. glibc's _start of
 * programs that are not position independent has its __wrap_main there.
 */
static int behind_start(struct function *fn)
{
	const unsigned char *p;
	uint32_t len = fn->end - fn->at, i;

	p = len <= START_MAX ? gprof_image_at(fn->img, fn->base + fn->at, len) : NULL;
	for (i = 0; p && i + 12 <= len; i += 4) {
		struct gprof_a64_insn in = gprof_a64_decode(word_at(p + i + 8));
		int64_t to = (int64_t)fn->at + i + 8 + in.imm;

		if (gprof_a64_decode(word_at(p + i)).does == GPROF_A64_CALL &&
		    is_pad(word_at(p + i + 4)) && in.does == GPROF_A64_JUMP &&
		    (to < fn->at || to >= fn->end))
			return add_frame(fn, fn->at + i + 4, &(struct frame){ 0 });
	}
	return 0;
}

int gprof_a64_correct(struct gprof_a64_frames *f, struct gprof_rows *rows,
		      struct gprof_image *img, uint64_t base, uint32_t at, uint32_t len)
{
	struct function fn = {
		.f = f, .rows = rows, .img = img, .base = base, .at = at, .end = at + len,
		.begin = at,
	};
	size_t first = rows->nr;
	bool padded;
	int err;

	f->nr_added = 0;
	while (first && rows->v[first - 1].at > at)
		first--;
	if (!first || at % 4)
		return 0;
	fn.row = first - 1;
	err = entry(&fn, &padded);
	if (!err && !padded)
		err = prologue(&fn);
	if (!err && (rule_now(&fn).kind == GPROF_UNWIND_CFA_END ||
		     (padded && f->added[0].rule.kind == GPROF_UNWIND_CFA_END)))
		err = behind_start(&fn);
	if (!err)
		err = epilogues(&fn);
	return err || !f->nr_added ? err : merge(&fn, first);
}

void gprof_a64_free(struct gprof_a64_frames *f, struct gprof_budget *budget)
{
	gprof_budget_uncharge(budget,
			      f->cap_added * sizeof(*f->added) + f->cap_old * sizeof(*f->old));
	free(f->added);
	free(f->old);
	memset(f, 0, sizeof(*f));
}
