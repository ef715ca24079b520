// SPDX-License-Identifier: GPL-2.0-only
/*
 * unwind_step: the steps that are not taken with user memory open.
 *
 * Each word is read by itself: a frame that comes here is rare, and may be anything that a
 * hostile program or table wants. The frames that go through here too often for that are
 * followed by unwind_user.c.
 */
#include "unwind_step.h"
#include "lookup.h"

#include <linux/build_bug.h>
#include <linux/ptrace.h>

/* Kinds that a rule cannot have, and an address can. */
#define KIND_NO_TABLE	(GPROF_UNWIND_CFA_NR + 0)
#define KIND_UNREAD	(GPROF_UNWIND_CFA_NR + 1)

#define HOW_FP(how)	((how) & 3)
#define HOW_RA(how)	((how) >> 2 & 3)
#define HOW_REG(how)	((how) >> 4)

#define LOST		1	/* a frame pointer that nobody has; no record lies there */
#define LOST_SP		U64_MAX	/* a stack pointer likewise: nothing lies above it */

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
static noinline const struct gprof_exec_map *look_up(struct gprof_unwind_state *w, u64 at,
						     struct gprof_exec_map *map)
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
	return gprof_lookup_exec_map(w->by, w->set, mm, at, map) ? map : NULL;
}

/**
 * gprof_unwind_find_rule() - the rule for an address
 * @w: walk
 * @at: any number
 *
 * Context: Any incl. NMI, preemption off.
 * Return: rule, while preemption is off; never NULL.
 */
const struct gprof_unwind_rule *gprof_unwind_find_rule(struct gprof_unwind_state *w, u64 at)
{
	static const struct gprof_unwind_rule no_table = { .kind = KIND_NO_TABLE };
	static const struct gprof_unwind_rule unread = { .kind = KIND_UNREAD };
	const struct gprof_exec_map *map = gprof_exec_map_at(w->list, at);
	const struct gprof_cfi_table *u;
	struct gprof_exec_map seen;

	if (!map)
		map = look_up(w, at, &seen);
	if (!map)
		return w->list->more ? &no_table : &unread;
	/* Pairs with smp_store_release() in gprof_mm_tables_attach(). */
	u = smp_load_acquire(&map->cfi);
	return u ? gprof_cfi_table_find(u, at - map->base) : &no_table;
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

static bool known_register(const struct gprof_unwind_state *w, u32 nr, u64 *to)
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
	u32 i;

	if (w->exact)
		return known_register(w, nr, to);
	if (!IS_ENABLED(CONFIG_X86_64) || nr != GPROF_KEPT_REGISTER || !w->frames ||
	    !known_register(w, nr, to))
		return false;
	for (i = w->since; i < w->nr; i++) {
		const struct gprof_unwind_rule *r = gprof_unwind_find_rule(w, at);

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
	u64 sp;

	if (IS_ENABLED(CONFIG_X86_64))
		return above;
	r = gprof_unwind_find_rule(w, pc - 1);
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

static u32 end_of_kind(u8 kind)
{
	if (kind == KIND_UNREAD)
		return GPROF_STACK_END_UNREAD;
	return kind == KIND_NO_TABLE ? GPROF_STACK_END_NO_TABLE : GPROF_STACK_END_NO_ROW;
}

/* There is no rule. Code of the kernel that ends a handler has none, and frames have records. */
static u32 step_record(struct gprof_unwind_state *w, u8 kind, struct gprof_frame *f)
{
	bool leaf = w->exact && !w->signal;
	u64 next, pc, fp = f->fp;

	if (returns_from_signal(w->exact ? w->at : w->at + 1))
		return step_signal(w, f);
	if (kind == KIND_UNREAD) {
		/* Not known to be code: then something must show that it is. */
		if (!w->exact && !is_return(w->at + 1)) {
			w->drop = true;
			return GPROF_STACK_END_ADDRESS;
		}
		w->stack->wants_mm_tables = true;
	}
	if (leaf)
		fp = gprof_arch_first_record(w->regs, &w->stack->top);
	/* Code that keeps no frame pointer may have a 0 there by chance. */
	if (!fp && kind == GPROF_UNWIND_CFA_NONE)
		return GPROF_STACK_END_COMPLETE;
	if (fp & 7 || fp < f->sp || !gprof_user_readable(fp))
		return end_of_kind(kind);
	if (!read_word(&next, fp) || !read_word(&pc, fp + 8))
		return GPROF_STACK_END_PAGE;
	pc = gprof_user_strip(pc);
	if (!pc)
		return GPROF_STACK_END_COMPLETE;
	if (!is_return(pc))
		return !next && is_goexit(pc) ? GPROF_STACK_END_COMPLETE : end_of_kind(kind);
	f->pc = pc;
	f->fp = gprof_user_strip(next);
	f->sp = sp_behind_record(w, fp + 16, pc, f->fp);
	f->pc_at = fp + 8;
	f->fp_at = fp;
	f->fp_word = f->fp;
	/* Which record is the first may depend on a register that a frame does not keep. */
	if (leaf)
		f->pc_at = 0;
	w->exact = false;
	return GPROF_GO_ON;
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
		return step_record(w, r->kind, f);
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
		    !known_register(w, HOW_RA(r->how) == GPROF_UNWIND_RA_LR ? GPROF_LR_REGISTER :
				    HOW_REG(r->how), &f->pc))
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
