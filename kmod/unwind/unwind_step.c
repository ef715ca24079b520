// SPDX-License-Identifier: GPL-2.0-only
/*
 * unwind_step: the steps that are not taken with user memory open.
 *
 * Each word is read by itself: a frame that comes here is rare, and may be anything that a
 * hostile program or table wants. The frames that go through here too often for that are
 * followed by unwind_user.c.
 */
#include "unwind_step.h"
#include "guess.h"
#include "lookup.h"

#include <linux/build_bug.h>
#include <linux/ptrace.h>

/* Kinds that a rule cannot have, and an address can. */
#define KIND_NO_TABLE	(GPROF_UNWIND_CFA_NR + 0)
#define KIND_UNREAD	(GPROF_UNWIND_CFA_NR + 1)

#define HOW_FP(how)	((how) & 3)
#define HOW_RA(how)	((how) >> 2 & 3)
#define HOW_REG(how)	((how) >> 4)

#define NO_GUESS	(GPROF_UNWIND_RA_UNKNOWN << 2)

#define RECORD_NEAR	0x100000	/* bytes, from a frame to the record of another */

#define CATCHES_FRAME	1920	/* bytes: the least frame of libgcc's _Unwind_RaiseException() */

#define LOST		1	/* a frame pointer that is unknown; no record lies there */
#define LOST_SP		U64_MAX	/* a stack pointer that is unknown: nothing lies above it */

static bool is_return(u64 addr)
{
	bool ok;

	if (!user_access_begin((void __user *)PAGE_SIZE, 16))
		return false;
	ok = gprof_user_is_return(addr);
	user_access_end();
	return ok;
}

/* The code at an address of which the copy says nothing. */
static noinline const struct gprof_exec_map *look_up_map(struct gprof_unwind_state *w, u64 at)
{
	struct mm_struct *mm = current->mm;

	if (!w->looked && !gprof_mm_tables_are_all(w->list, mm)) {
		w->looked = true;
		w->stack->wants_mm_tables = true;
		w->by = gprof_lookup_begin(mm);
	}
	/* Of a page that may be data something must show that it is code. */
	if (!w->by || (w->by == GPROF_LOOKUP_PAGES && at != w->since_at && !is_return(at + 1)))
		return NULL;
	/* Most frames are of the mapping of the last one. */
	if (at - w->seen.start < w->seen.end - w->seen.start)
		return &w->seen;
	w->seen.end = w->seen.start;
	return gprof_lookup_exec_map(w->by, w->set, mm, at, &w->seen) ? &w->seen : NULL;
}

/* The rule that a table has. @made: the program has made the code itself. */
static const struct gprof_unwind_rule *table_rule(struct gprof_unwind_state *w, u64 at, bool *made)
{
	static const struct gprof_unwind_rule no_table = { .kind = KIND_NO_TABLE, .how = NO_GUESS };
	static const struct gprof_unwind_rule unread = { .kind = KIND_UNREAD, .how = NO_GUESS };
	const struct gprof_exec_map *map = gprof_exec_map_at(w->list, at);
	const struct gprof_cfi_table *u;

	*made = false;
	if (!map)
		map = look_up_map(w, at);
	if (!map)
		return w->list->more ? &no_table : &unread;
	*made = map->kind == GPROF_EXEC_MAP_ANON;
	/* Pairs with smp_store_release() in gprof_mm_tables_attach(). */
	u = smp_load_acquire(&map->cfi);
	return u ? gprof_cfi_table_find(u, at - map->base) : &no_table;
}

/* NULL: there is no time for it. */
static const struct gprof_unwind_rule *guess(struct gprof_unwind_state *w, u64 at, u8 kind)
{
	w->guess = (struct gprof_unwind_rule){ .kind = kind, .how = NO_GUESS };
	/* It takes as long as many steps: the next one looks at the clock, as does the capture. */
	w->stack->slow |= GPROF_SLOW_UNWIND - 1;
	if (GPROF_UNWINDS_BY_TABLE && !gprof_arch_guess(at, w->stack->until, &w->guess))
		return NULL;
	return &w->guess;
}

/**
 * gprof_unwind_find_rule() - the rule for an address
 * @w: walk
 * @at: any number
 *
 * Context: Any incl. NMI, preemption off.
 * Return: rule, while preemption is off, until the next call; NULL: there is no time for it.
 */
const struct gprof_unwind_rule *gprof_unwind_find_rule(struct gprof_unwind_state *w, u64 at)
{
	const struct gprof_unwind_rule *r;
	bool made;

	r = table_rule(w, at, &made);
	if (r->kind != GPROF_UNWIND_CFA_NONE && !made)
		return r;
	return guess(w, at, r->kind);
}

static bool read_word(u64 *to, u64 addr)
{
	bool ok;

	addr = gprof_user_strip(addr);
	if (!gprof_user_readable(addr) || !user_access_begin((void __user *)PAGE_SIZE, 16))
		return false;
	ok = gprof_user_u64(to, addr);
	user_access_end();
	return ok;
}

static bool is_goexit(u64 addr)
{
	bool ok;

	if (!user_access_begin((void __user *)PAGE_SIZE, 16))
		return false;
	ok = gprof_user_is_goexit(addr);
	user_access_end();
	return ok;
}

static bool returns_from_signal(u64 addr)
{
	bool ok;

	if (!user_access_begin((void __user *)PAGE_SIZE, 16))
		return false;
	ok = gprof_user_returns_from_signal(addr);
	user_access_end();
	return ok;
}

static bool register_value(const struct gprof_unwind_state *w, u32 nr, u64 *to)
{
	if (!w->signal) {
		*to = gprof_user_register(w->regs, nr);
		return true;
	}
	return read_word(to, w->signal + gprof_signal_register(nr));
}

/*
 * The value of a register that callees keep, in the frame that is @w->nr frames up: amd64's
 * rbx, on which lazy binding stands. Its value when all registers were known, and then
 * the one that each frame since has saved.
 */
static bool kept_register(struct gprof_unwind_state *w, u32 nr, u64 *to)
{
	u64 at = w->since_at;
	bool made;
	u32 i;

	if (w->exact)
		return register_value(w, nr, to);
	if (!IS_ENABLED(CONFIG_X86_64) || nr != GPROF_KEPT_REGISTER || !w->frames ||
	    !register_value(w, nr, to))
		return false;
	for (i = w->since; i < w->nr; i++) {
		const struct gprof_unwind_rule *r = table_rule(w, at, &made);

		if (r->kind == GPROF_UNWIND_CFA_SP || r->kind == GPROF_UNWIND_CFA_FP) {
			if (r->ra && !read_word(to, w->frames[i].sp + (s64)r->ra * 8))
				return false;
		} else if (r->kind != GPROF_UNWIND_CFA_PLT) {
			return false;
		}
		at = w->frames[i].pc - 1;
	}
	return true;
}

/* The frame that a signal has interrupted, whose registers the kernel has put at @sp. */
static u32 step_signal(struct gprof_unwind_state *w, struct gprof_frame *f)
{
	u64 regs = f->sp, pc;

	if (!read_word(&pc, regs + GPROF_SIGNAL_PC) ||
	    !read_word(&f->sp, regs + GPROF_SIGNAL_SP) ||
	    !read_word(&f->fp, regs + gprof_signal_register(GPROF_FP_REGISTER)))
		return GPROF_STACK_END_PAGE;
	pc = gprof_user_strip(pc);
	f->sp = gprof_user_strip(f->sp);
	f->fp = gprof_user_strip(f->fp);
	/* As behind a call, so that everybody looks one byte before. */
	f->pc = pc + 1;
	f->pc_at = 0;
	w->signal = regs;
	w->exact = true;
	w->since = w->nr + 1;
	w->since_at = pc;
	return GPROF_GO_ON;
}

/*
 * Where a signal has saved the registers, if the record that the kernel has put there too,
 * with the interrupted frame pointer and x30, is at @fp. The kernel's frame may be
 * larger than this; then the two are not found there.
 */
static u64 signal_below_record(u64 fp)
{
	u64 sp = fp - GPROF_SIGNAL_FRAME, saved_fp, saved_lr, next, lr;

	if (!read_word(&next, fp) || !read_word(&lr, fp + 8) ||
	    !read_word(&saved_fp, sp + gprof_signal_register(GPROF_FP_REGISTER)) ||
	    !read_word(&saved_lr, sp + gprof_signal_register(GPROF_LR_REGISTER)) ||
	    saved_fp != next || saved_lr != lr)
		return LOST_SP;
	return sp;
}

/*
 * The stack pointer of the caller whose frame pointer is @fp and whose code is before @pc;
 * @above: the record that led there lies below. On amd64 a record is the uppermost of its
 * frame; on arm64 anything of the frame may lie above it, but the caller's own record is
 * where its rule says that it saves both registers.
 */
static u64 sp_behind_record(struct gprof_unwind_state *w, u64 above, u64 pc, u64 fp)
{
	const struct gprof_unwind_rule *r;
	bool made;
	u64 sp;

	if (IS_ENABLED(CONFIG_X86_64))
		return above;
	r = table_rule(w, pc - 1, &made);
	if (r->kind == GPROF_UNWIND_CFA_SIGNAL || returns_from_signal(pc))
		return signal_below_record(fp);
	if (r->kind == GPROF_UNWIND_CFA_DEREF && !HOW_REG(r->how))
		return LOST_SP;
	/* Where a caller's rule has no need of it, it is only known to be no less. */
	if (r->kind != GPROF_UNWIND_CFA_SP)
		return above;
	if (HOW_FP(r->how) != GPROF_UNWIND_FP_AT_CFA || HOW_RA(r->how) != GPROF_UNWIND_RA_AT_CFA ||
	    r->ra != r->fp + 1)
		return LOST_SP;
	sp = fp - ((s64)r->fp + r->cfa) * 8;
	return fp >= above && sp >= above && sp <= fp ? sp : LOST_SP;
}

/* Does a record lie at @fp, not far above @sp? */
static bool is_record(u64 fp, u64 sp)
{
	u64 next, pc;

	return !(fp & 7) && fp - sp < RECORD_NEAR &&
	       read_word(&next, fp) && read_word(&pc, fp + 8) &&
	       (next > fp || !next) && is_return(gprof_user_strip(pc));
}

/**
 * gprof_unwind_by_record() - begin again where a frame's stack pointer may be wrong
 * @w: walk that ended at a word that is no return address; gets the frame to go on from
 * @frames: frames found
 * @nr: their number
 *
 * libgcc's unwinder writes the registers of the function that catches an exception over those
 * that its own frame has saved, and leaves last of all. Until then rules lead to that function,
 * with its frame pointer and without its stack pointer, which follows from its record. In other
 * code that wants a stack pointer x29 may be any register: the frame of the unwinder, which has
 * two contexts of 960 bytes, is a large one.
 *
 * Context: Any incl. NMI, preemption and page faults off, user memory closed.
 * Return: whether there is such a frame.
 */
bool gprof_unwind_by_record(struct gprof_unwind_state *w, struct gprof_frame *frames, u32 nr)
{
	u64 sp, below = w->sp;
	struct gprof_frame *f;

	for (f = frames; f < frames + nr; below = f++->sp) {
		if (gprof_unwind_is_late(w))
			return false;
		if (f->sp - below < CATCHES_FRAME || f->fp == f->sp || !is_record(f->fp, f->sp))
			continue;
		sp = sp_behind_record(w, f->sp, f->pc, f->fp);
		if (sp == LOST_SP || sp == f->sp)
			continue;
		f->sp = sp;
		f->pc_at = 0;
		w->nr = f - frames + 1;
		w->at = f->pc - 1;
		w->sp = sp;
		w->fp = f->fp;
		w->exact = false;
		w->drop = false;
		w->record_nr = 0;
		return true;
	}
	return false;
}

static u32 end_of_kind(u8 kind)
{
	if (kind == KIND_UNREAD)
		return GPROF_STACK_END_UNREAD;
	return kind == KIND_NO_TABLE ? GPROF_STACK_END_NO_TABLE : GPROF_STACK_END_NO_ROW;
}

/* The caller of code without a rule is at @pc; its stack pointer is @sp. */
static u32 guessed(struct gprof_unwind_state *w, struct gprof_frame *f, u64 pc, u64 sp)
{
	f->pc = pc;
	f->sp = sp;
	/* Kept frames would not say that there was a guess among them. */
	f->pc_at = 0;
	w->exact = false;
	w->stack->top.flags |= GPROF_STACK_REC_F_GUESSED;
	return GPROF_GO_ON;
}

/* Code that a program has made may be left by a jump, so that no call needs to be before @pc. */
static bool may_return_to(const struct gprof_unwind_state *w, u64 pc)
{
	const struct gprof_exec_map *map;

	if (is_return(pc))
		return true;
	map = gprof_exec_map_at(w->list, pc - 1);
	return map && map->kind == GPROF_EXEC_MAP_ANON;
}

/* Does the return address @pc say that @at is of the function that was called there? */
static bool called_near(u64 at, u64 pc)
{
	bool ok;

	if (!user_access_begin((void __user *)PAGE_SIZE, 16))
		return false;
	ok = gprof_user_called(at, pc, GPROF_GUESS_BYTES);
	user_access_end();
	return ok;
}

/* By the way out of the function. False: no caller is there. */
static bool step_guess(struct gprof_unwind_state *w, const struct gprof_unwind_rule *r,
		       struct gprof_frame *f)
{
	u64 pc, fp = f->fp, cfa = f->sp + (s64)r->cfa * 8;

	if (r->how == NO_GUESS)
		return false;
	/*
	 * HotSpot moves a return address down to make room for an interpreter's arguments, and the
	 * stack pointer behind the interpreter's record is too low. Then that address is met again.
	 */
	if (w->nr && w->nr == w->record_nr && HOW_RA(r->how) == GPROF_UNWIND_RA_AT_CFA &&
	    read_word(&pc, cfa + (s64)r->ra * 8) && gprof_user_strip(pc) == w->at + 1)
		cfa += (s64)r->cfa * 8;
	if (HOW_RA(r->how) == GPROF_UNWIND_RA_LR) {
		if (!w->exact || !register_value(w, GPROF_LR_REGISTER, &pc))
			return false;
	} else if (!read_word(&pc, cfa + (s64)r->ra * 8)) {
		return false;
	}
	pc = gprof_user_strip(pc);
	if (!may_return_to(w, pc) || (r->fp && !read_word(&fp, cfa + (s64)r->fp * 8)))
		return false;
	f->fp = gprof_user_strip(fp);
	return guessed(w, f, pc, gprof_user_strip(cfa));
}

/* The first function of a program moves the stack pointer by some words at most. */
static bool is_first_frame(u64 sp)
{
	return current->mm->start_stack + 64 - sp <= 128;
}

/* By the frame record that the frame pointer leads to. */
static u32 step_record(struct gprof_unwind_state *w, u8 kind, struct gprof_frame *f)
{
	u64 next, pc, fp = f->fp;

	if (w->exact && !w->signal)
		fp = gprof_arch_first_record(w->regs, &w->stack->top);
	/* Code that keeps no frame pointer may have a 0 there by chance. */
	if (!fp && is_first_frame(f->sp))
		return GPROF_STACK_END_COMPLETE;
	if (fp & 7 || fp < f->sp || !gprof_user_readable(fp))
		return end_of_kind(kind);
	if (!read_word(&next, fp) || !read_word(&pc, fp + 8))
		return GPROF_STACK_END_PAGE;
	pc = gprof_user_strip(pc);
	if (!pc && !next) {
		w->stack->top.flags |= GPROF_STACK_REC_F_GUESSED;
		return GPROF_STACK_END_COMPLETE;
	}
	if (!is_return(pc)) {
		if (!next && is_goexit(pc))
			return GPROF_STACK_END_COMPLETE;
		if (next - fp >= RECORD_NEAR || fp - f->sp >= RECORD_NEAR || !may_return_to(w, pc))
			return end_of_kind(kind);
	}
	f->fp = gprof_user_strip(next);
	w->record_nr = w->nr + 1;
	return guessed(w, f, pc, sp_behind_record(w, fp + 16, pc, f->fp));
}

/*
 * There is no rule. Code of the kernel that ends a handler has none, and frames have records. Other
 * code is believed to be left as its next instructions would leave it, to keep a frame pointer,
 * or to have nothing on the stack.
 */
static u32 step_without_rule(struct gprof_unwind_state *w, const struct gprof_unwind_rule *r,
			     struct gprof_frame *f)
{
	bool on_top;
	u32 end;
	u64 pc;

	if (returns_from_signal(w->exact ? w->at : w->at + 1))
		return step_signal(w, f);
	if (r->kind == KIND_UNREAD) {
		/* Not known to be code: then something must show that it is. */
		if (!w->exact && !is_return(w->at + 1)) {
			w->drop = true;
			return GPROF_STACK_END_ADDRESS;
		}
		w->stack->wants_mm_tables = true;
	}
	on_top = IS_ENABLED(CONFIG_X86_64) && r->kind != KIND_UNREAD && read_word(&pc, f->sp) &&
		 is_return(pc);
	if (on_top && w->exact && called_near(w->at, pc))
		return guessed(w, f, pc, f->sp + 8);
	/* Once more, since other code may be there than when the guess was made. */
	if (r->how != NO_GUESS) {
		if (step_guess(w, r, f))
			return GPROF_GO_ON;
		r = guess(w, w->at, r->kind);
		if (!r)
			return GPROF_STACK_END_TIME;
		if (step_guess(w, r, f))
			return GPROF_GO_ON;
	}
	end = step_record(w, r->kind, f);
	w->guessed_end = end == GPROF_STACK_END_COMPLETE;
	return on_top && end == end_of_kind(r->kind) ? guessed(w, f, pc, f->sp + 8) : end;
}

/* Where the caller's stack pointer is; @again: it follows from the frame alone. */
static u32 find_cfa(struct gprof_unwind_state *w, const struct gprof_unwind_rule *r,
		    const struct gprof_frame *f, u64 *cfa, bool *again)
{
	u64 word;

	*again = false;
	switch (r->kind) {
	case GPROF_UNWIND_CFA_SP:
		*cfa = f->sp + (s64)r->cfa * 8;
		*again = true;
		return GPROF_GO_ON;
	case GPROF_UNWIND_CFA_FP:
	case GPROF_UNWIND_CFA_STACK:
		*cfa = f->fp + (s64)r->cfa * 8;
		*again = true;
		return GPROF_GO_ON;
	case GPROF_UNWIND_CFA_PLT:
		*cfa = f->sp + 8 + ((w->at & 15) >= (u16)r->cfa ? 8 : 0);
		return GPROF_GO_ON;
	case GPROF_UNWIND_CFA_REG:
		if (!kept_register(w, HOW_REG(r->how), &word))
			return GPROF_STACK_END_RULE;
		*cfa = word + (s64)r->cfa * 8;
		return GPROF_GO_ON;
	case GPROF_UNWIND_CFA_DEREF:
		if (!read_word(&word, (HOW_REG(r->how) ? f->fp : f->sp) + (s64)r->ra * 8))
			return GPROF_STACK_END_PAGE;
		*cfa = word + (s64)r->cfa * 8;
		return GPROF_GO_ON;
	}
	return GPROF_STACK_END_RULE;
}

/**
 * gprof_unwind_step() - one frame up, by any rule
 * @w: walk, of which @at and @nr are of now
 * @r: the rule for @w->at
 * @f: @sp and @fp of the frame; becomes its caller
 *
 * Context: Any incl. NMI, preemption and page faults off, user memory closed.
 * Return: GPROF_GO_ON, or GPROF_STACK_END_* where it ends.
 */
u32 gprof_unwind_step(struct gprof_unwind_state *w, const struct gprof_unwind_rule *r,
		      struct gprof_frame *f)
{
	bool again;
	u64 cfa;
	u32 end;

	if (gprof_unwind_is_late(w))
		return GPROF_STACK_END_TIME;
	switch (r->kind) {
	case GPROF_UNWIND_CFA_END:
		return GPROF_STACK_END_COMPLETE;
	case GPROF_UNWIND_CFA_SIGNAL:
		return step_signal(w, f);
	case GPROF_UNWIND_CFA_NONE:
	case KIND_NO_TABLE:
	case KIND_UNREAD:
		return step_without_rule(w, r, f);
	}
	end = find_cfa(w, r, f, &cfa, &again);
	if (end != GPROF_GO_ON)
		return end;
	/* A function that has no stack has its caller's, and its return address in x30. */
	if (r->kind != GPROF_UNWIND_CFA_STACK && (cfa < f->sp || (cfa == f->sp && !w->exact)))
		return GPROF_STACK_END_ADDRESS;

	f->pc_at = gprof_return_place(r, cfa);
	switch (HOW_RA(r->how)) {
	case GPROF_UNWIND_RA_AT_CFA:
		if (!read_word(&f->pc, f->pc_at))
			return GPROF_STACK_END_PAGE;
		break;
	case GPROF_UNWIND_RA_LR:
	case GPROF_UNWIND_RA_REG:
		again = false;
		if (!w->exact ||
		    !register_value(w,
				    HOW_RA(r->how) == GPROF_UNWIND_RA_LR ? GPROF_LR_REGISTER :
									   HOW_REG(r->how),
				    &f->pc))
			return GPROF_STACK_END_RULE;
		break;
	default:
		return GPROF_STACK_END_RULE;
	}
	f->fp_at = f->pc_at;
	f->fp_word = gprof_user_strip(f->pc);
	switch (HOW_FP(r->how)) {
	case GPROF_UNWIND_FP_AT_CFA:
	case GPROF_UNWIND_FP_AT_FP:
		f->fp_at = HOW_FP(r->how) == GPROF_UNWIND_FP_AT_CFA ? cfa : f->fp;
		f->fp_at = gprof_user_strip(f->fp_at + (s64)r->fp * 8);
		if (!read_word(&f->fp, f->fp_at))
			return GPROF_STACK_END_PAGE;
		f->fp = gprof_user_strip(f->fp);
		f->fp_word = f->fp;
		break;
	case GPROF_UNWIND_FP_UNKNOWN:
		f->fp = LOST;
		break;
	}
	f->pc = gprof_user_strip(f->pc);
	if (!f->pc)
		return GPROF_STACK_END_COMPLETE;
	f->sp = gprof_user_strip(cfa);
	if (!again)
		f->pc_at = 0;
	w->exact = false;
	return GPROF_GO_ON;
}
