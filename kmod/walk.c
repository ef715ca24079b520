// SPDX-License-Identifier: GPL-2.0-only
/*
 * walk: from frame to frame, by what a table says of the code.
 *
 * A frame is known by three registers: where its code goes on, its stack pointer and its
 * frame pointer. The rule for the first says where those of the caller lie. Nearly all
 * rules are one of two kinds, and followed here with user memory open; the others are
 * for step(), which opens it for each word.
 *
 * What makes it cheap is what is kept of the last walk on this CPU: when a frame's three
 * registers are those of a frame of then, and the words that its callers were read from
 * are what they were, so are its callers. Frames are kept by their distance from the
 * outermost: those next to the leaf come and go.
 *
 * Where no table says anything, a frame record is believed as callers.c believes it: when
 * a call stands before the return address. Any loop here is bounded by the number of
 * frames; addresses and rules may be anything that a hostile program wants.
 */
#include "walk.h"
#include "compat/uaccess.h"

#if defined(CONFIG_X86_64)
#include "user_x86.h"
#elif defined(CONFIG_ARM64)
#include "user_arm64.h"
#endif

#include <linux/build_bug.h>
#include <linux/percpu.h>
#include <linux/ptrace.h>
#include <linux/rcupdate.h>
#include <linux/string.h>

#define RULES		512	/* a power of two */
#define GO_ON		(~0U)	/* no GPROF_STACK_END_* */

/* What rules cannot be, and an address can. */
#define KIND_NO_TABLE	(GPROF_UNWIND_CFA_NR + 0)
#define KIND_UNREAD	(GPROF_UNWIND_CFA_NR + 1)

/* Beyond the two usual kinds of rules: a frame pointer or return address elsewhere. */
#define HOW_FP(how)	((how) & 3)
#define HOW_RA(how)	((how) >> 2 & 3)
#define HOW_REG(how)	((how) >> 4)
#define HOW_RARE	(GPROF_UNWIND_FP_AT_FP | 3 << 2)

#define LOST		1	/* a frame pointer that nobody has; no record lies there */

/**
 * struct frame - a caller
 * @pc: return address
 * @sp: stack pointer behind the call
 * @fp: frame pointer
 * @pc_at: where @pc was read; 0: it cannot be read again
 * @fp_at: where @fp was read, or @pc_at
 * @fp_word: what was read there
 */
struct frame {
	u64 pc;
	u64 sp;
	u64 fp;
	u64 pc_at;
	u64 fp_at;
	u64 fp_word;
};

/**
 * struct known_rule - the rule of an address
 * @at: address
 * @version: of the mappings that it was found under; 0: none
 * @rule: rule
 */
struct known_rule {
	u64 at;
	u64 version;
	struct gprof_unwind_rule rule;
};

/**
 * struct memory - of the outermost samples on a CPU
 * @version: of the mappings that @kept was found under; 0: none
 * @serial: a new number whenever @kept changes
 * @first: of @kept
 * @end: how that walk ended
 * @kept: frames of the last walk, the outermost last; behind it one above all stacks
 * @fresh: frames of this walk, the nearest first
 * @rules: by address, forgetful
 */
struct memory {
	u64 version;
	u64 serial;
	u32 first;
	u32 end;
	struct frame kept[GPROF_MAX_FRAMES + 1];
	struct frame fresh[GPROF_MAX_FRAMES];
	struct known_rule rules[RULES];
};

/**
 * struct walk - a walk
 * @stack: where the leaf is
 * @regs: registers of the program
 * @list: mappings
 * @version: of them
 * @at: instruction whose rule is followed, or the byte before a return address
 * @exact: all registers of the frame are known: those in @regs, or at @signal
 * @signal: where a signal has saved them; 0: in @regs
 * @since: number of frames that there were when registers were known last
 * @since_at: @at of then
 * @nr: frames
 * @frames: frames, or NULL: the memory is in use
 * @drop: the last of them is none
 */
struct walk {
	struct gprof_stack *stack;
	struct pt_regs *regs;
	const struct gprof_text_list *list;
	u64 version;
	u64 at;
	bool exact;
	u64 signal;
	u32 since;
	u64 since_at;
	u32 nr;
	const struct frame *frames;
	bool drop;
};

static struct memory __percpu *memories;

/**
 * gprof_walk_begin() - allocate what walks keep
 *
 * Context: Task.
 * Return: 0 or -ENOMEM.
 */
int gprof_walk_begin(void)
{
	int cpu;

	memories = alloc_percpu(struct memory);
	if (!memories)
		return -ENOMEM;
	for_each_possible_cpu(cpu) {
		struct memory *m = per_cpu_ptr(memories, cpu);

		m->first = GPROF_MAX_FRAMES;
		m->kept[GPROF_MAX_FRAMES].sp = U64_MAX;
	}
	return 0;
}

/**
 * gprof_walk_end() - free it
 *
 * Context: Task; nobody walks any more.
 */
void gprof_walk_end(void)
{
	free_percpu(memories);
	memories = NULL;
}

static const struct gprof_unwind_rule *find_rule(const struct gprof_text_list *list, u64 at)
{
	static const struct gprof_unwind_rule no_table = { .kind = KIND_NO_TABLE };
	static const struct gprof_unwind_rule unread = { .kind = KIND_UNREAD };
	const struct gprof_text *text = gprof_text_at(list, at);
	const struct gprof_unwind *u;

	if (!text)
		return list->more ? &no_table : &unread;
	/* Pairs with smp_store_release() in gprof_texts_attach(). */
	u = smp_load_acquire(&text->unwind);
	return u ? gprof_unwind_find(u, at - text->base) : &no_table;
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

static bool is_return(u64 addr)
{
	bool ok;

	if (!user_access_begin((void __user *)PAGE_SIZE, 16))
		return false;
	ok = gprof_user_is_return(addr);
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

static bool known_register(const struct walk *w, u32 nr, u64 *to)
{
	if (!w->signal) {
		*to = gprof_user_register(w->regs, nr);
		return true;
	}
	return read_word(to, w->signal + gprof_signal_register(nr));
}

/*
 * What a register that callees keep was in the frame that is @w->nr frames up: amd64's
 * rbx, on which lazy binding stands. What it was when all registers were known, and then
 * what each frame since has saved.
 */
static bool kept_register(const struct walk *w, u32 nr, u64 *to)
{
	u64 at = w->since_at;
	u32 i;

	if (w->exact)
		return known_register(w, nr, to);
	if (!IS_ENABLED(CONFIG_X86_64) || nr != GPROF_KEPT_REGISTER || !w->frames ||
	    !known_register(w, nr, to))
		return false;
	for (i = w->since; i < w->nr; i++) {
		const struct gprof_unwind_rule *r = find_rule(w->list, at);

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
static u32 step_signal(struct walk *w, struct frame *f)
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
	return GO_ON;
}

static u32 end_of_kind(u8 kind)
{
	if (kind == KIND_UNREAD)
		return GPROF_STACK_END_UNREAD;
	return kind == KIND_NO_TABLE ? GPROF_STACK_END_NO_TABLE : GPROF_STACK_END_NO_ROW;
}

/* There is no rule. Code of the kernel that ends a handler has none, and frames have records. */
static u32 step_record(struct walk *w, u8 kind, struct frame *f)
{
	bool leaf = w->exact && !w->signal;
	u64 next, pc, fp = f->fp;

	if (returns_from_signal(w->exact ? w->at : w->at + 1))
		return step_signal(w, f);
	if (kind == KIND_UNREAD) {
		w->stack->wants_texts = true;
		/* Not known to be code: then something must show that it is. */
		if (!w->exact && !is_return(w->at + 1)) {
			w->drop = true;
			return GPROF_STACK_END_ADDRESS;
		}
	}
	if (leaf)
		fp = gprof_arch_first_record(w->regs, &w->stack->top);
	/* Whoever keeps no frame pointer may have a 0 there by chance. */
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
		return end_of_kind(kind);
	f->pc = pc;
	f->sp = fp + 16;
	f->fp = gprof_user_strip(next);
	f->pc_at = fp + 8;
	f->fp_at = fp;
	f->fp_word = f->fp;
	/* Which record is the first may depend on what is no register of a frame. */
	if (leaf)
		f->pc_at = 0;
	w->exact = false;
	return GO_ON;
}

/* Where the caller's stack pointer is; @again: it follows from the frame alone. */
static u32 find_cfa(struct walk *w, const struct gprof_unwind_rule *r, const struct frame *f,
		    u64 *cfa, bool *again)
{
	u64 word;

	*again = false;
	switch (r->kind) {
	case GPROF_UNWIND_CFA_SP:
		*cfa = f->sp + (s64)r->cfa * 8;
		*again = true;
		return GO_ON;
	case GPROF_UNWIND_CFA_FP:
		*cfa = f->fp + (s64)r->cfa * 8;
		*again = true;
		return GO_ON;
	case GPROF_UNWIND_CFA_PLT:
		*cfa = f->sp + 8 + ((w->at & 15) >= (u16)r->cfa ? 8 : 0);
		return GO_ON;
	case GPROF_UNWIND_CFA_REG:
		if (!kept_register(w, HOW_REG(r->how), &word))
			return GPROF_STACK_END_RULE;
		*cfa = word + (s64)r->cfa * 8;
		return GO_ON;
	case GPROF_UNWIND_CFA_DEREF:
		if (!read_word(&word, (HOW_REG(r->how) ? f->fp : f->sp) + (s64)r->ra * 8))
			return GPROF_STACK_END_PAGE;
		*cfa = word + (s64)r->cfa * 8;
		return GO_ON;
	}
	return GPROF_STACK_END_RULE;
}

static __always_inline u64 return_address_at(const struct gprof_unwind_rule *r, u64 cfa)
{
	if (IS_ENABLED(CONFIG_ARM64) && r->kind != GPROF_UNWIND_CFA_DEREF)
		return gprof_user_strip(cfa + (s64)r->ra * 8);
	return gprof_user_strip(cfa - 8);
}

/*
 * One frame up, by any rule. @f: @sp and @fp of the frame; becomes its caller. Returns
 * GO_ON or how the walk ends.
 */
static noinline u32 step(struct walk *w, const struct gprof_unwind_rule *r, struct frame *f)
{
	bool again;
	u64 cfa;
	u32 end;

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
	if (end != GO_ON)
		return end;
	/* A function that has no stack has its caller's, and its return address in x30. */
	if (cfa < f->sp || (cfa == f->sp && !w->exact))
		return GPROF_STACK_END_ADDRESS;

	f->pc_at = return_address_at(r, cfa);
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
	return GO_ON;
}

static noinline void learn(const struct walk *w, u64 at, struct known_rule *k)
{
	k->rule = *find_rule(w->list, at);
	k->version = w->version;
	k->at = at;
}

static __always_inline struct known_rule *rule_place(struct memory *m, u64 at)
{
	return &m->rules[(at ^ at >> 10) & (RULES - 1)];
}

/*
 * How many of the frames behind @k are as they were when it was? Through pointers and
 * without calls, since user memory is open.
 */
static __always_inline const struct frame *unchanged(const struct frame *k,
						     const struct frame *end)
{
	for (k++; k < end && k->pc_at; k++) {
		u64 pc, word;

		if (!gprof_user_u64(&pc, k->pc_at) || !gprof_user_u64(&word, k->fp_at) ||
		    gprof_user_strip(pc) != k->pc || gprof_user_strip(word) != k->fp_word)
			break;
	}
	return k;
}

/* @to and @from may be the same memory only if @to lies below. */
static void copy_frames(struct frame *to, const struct frame *from, u32 nr)
{
	for (; nr; nr--)
		*to++ = *from++;
}

/**
 * struct found - what a walk has found
 * @nr: fresh frames
 * @rest: the last of them is this one of those kept, and all behind it are as they were
 * @end: how it ended
 */
struct found {
	u32 nr;
	const struct frame *rest;
	u32 end;
};

/*
 * @m: memory, or NULL for a sample within a sample: then frames go to @pcs at once.
 */
static __always_inline void follow(struct walk *w, struct memory *m, u64 *pcs, u32 max,
				   struct found *found)
{
	const struct frame *k = m ? &m->kept[m->first] : NULL;
	const struct frame *kept_end = m ? &m->kept[GPROF_MAX_FRAMES] : NULL;
	u64 at = w->at, sp = gprof_user_strip(user_stack_pointer(w->regs));
	u64 fp = gprof_user_strip(gprof_user_frame_pointer(w->regs));
	struct known_rule one = {};
	struct frame alone, *f = m ? m->fresh : &alone;
	u32 nr = 0, end;

	found->rest = NULL;
	if (!user_access_begin((void __user *)PAGE_SIZE, 16)) {
		found->nr = 0;
		found->end = GPROF_STACK_END_PAGE;
		return;
	}
	for (;;) {
		struct known_rule *known = m ? rule_place(m, at) : &one;
		const struct gprof_unwind_rule *r = &known->rule;

		if (unlikely(known->at != at || known->version != w->version)) {
			user_access_end();
			learn(w, at, known);
			end = GPROF_STACK_END_PAGE;
			if (!user_access_begin((void __user *)PAGE_SIZE, 16))
				goto out;
		}
		if (likely((u8)(r->kind - GPROF_UNWIND_CFA_SP) <= 1 && !(r->how & HOW_RARE))) {
			u64 cfa = (r->kind == GPROF_UNWIND_CFA_SP ? sp : fp) + (s64)r->cfa * 8;
			u64 pc, pc_at = return_address_at(r, cfa);

			end = GPROF_STACK_END_ADDRESS;
			if (unlikely(cfa <= sp || !gprof_user_readable(pc_at)))
				goto close;
			end = GPROF_STACK_END_PAGE;
			if (!gprof_user_u64(&pc, pc_at))
				goto close;
			pc = gprof_user_strip(pc);
			end = GPROF_STACK_END_COMPLETE;
			if (unlikely(!pc))
				goto close;
			f->pc = pc;
			f->pc_at = pc_at;
			f->fp_at = pc_at;
			f->fp_word = pc;
			if (r->how & GPROF_UNWIND_FP_AT_CFA) {
				u64 fp_at = gprof_user_strip(cfa + (s64)r->fp * 8);

				end = GPROF_STACK_END_PAGE;
				if (!gprof_user_readable(fp_at) || !gprof_user_u64(&fp, fp_at))
					goto close;
				fp = gprof_user_strip(fp);
				f->fp_at = fp_at;
				f->fp_word = fp;
			}
			sp = cfa;
			f->sp = sp;
			f->fp = fp;
			w->exact = false;
		} else {
			user_access_end();
			f->sp = sp;
			f->fp = fp;
			w->at = at;
			w->nr = nr;
			end = step(w, r, f);
			if (end != GO_ON)
				goto out;
			end = GPROF_STACK_END_PAGE;
			if (!user_access_begin((void __user *)PAGE_SIZE, 16))
				goto out;
			sp = f->sp;
			fp = f->fp;
		}
		end = GPROF_STACK_END_MAX;
		if (unlikely(nr == max))
			goto close;
		at = f->pc - 1;
		nr++;
		if (!m) {
			pcs[nr - 1] = f->pc;
			continue;
		}
		while (k->sp < sp)
			k++;
		if (k->sp == sp && k->pc == f->pc && k->fp == fp) {
			const struct frame *same = unchanged(k, kept_end);
			u32 more = same - k - 1;

			if (same == kept_end && m->end == GPROF_STACK_END_COMPLETE &&
			    nr + more <= max) {
				found->rest = k;
				end = m->end;
				goto close;
			}
			more = min(more, max - nr);
			if (more) {
				user_access_end();
				copy_frames(f + 1, k + 1, more);
				w->exact = false;
				end = GPROF_STACK_END_PAGE;
				if (!user_access_begin((void __user *)PAGE_SIZE, 16))
					goto out;
				nr += more;
				f += more;
				k += more;
				at = f->pc - 1;
				sp = f->sp;
				fp = f->fp;
			}
		}
		f++;
	}
close:
	user_access_end();
out:
	if (w->drop)
		nr--;
	found->nr = nr;
	found->end = end;
}

/* Puts the frames of a walk where the next will look for them, and the callers'. */
static void keep(struct memory *m, struct gprof_callers *c, const struct found *found)
{
	u32 begin = found->rest ? found->rest - m->kept + 1 - found->nr :
				  GPROF_MAX_FRAMES - found->nr;
	/* The last fresh one is kept already where there is a rest. */
	u32 fresh = found->rest ? found->nr - 1 : found->nr;
	u32 nr = GPROF_MAX_FRAMES - begin, i;
	bool changed = c->nr != nr;

	copy_frames(&m->kept[begin], m->fresh, fresh);
	if (!found->rest || c->kept != m->serial || begin != m->first)
		fresh = nr;
	for (i = 0; i < fresh; i++) {
		u64 pc = m->kept[begin + i].pc;

		changed |= c->frames[i] != pc;
		c->frames[i] = pc;
	}
	m->first = begin;
	m->end = found->end;
	c->kept = ++m->serial;
	c->nr = nr;
	if (changed)
		c->version++;
}

static void forget(struct memory *m, u64 version)
{
	m->version = version;
	m->first = GPROF_MAX_FRAMES;
	m->serial++;
}

/* Without memory: compare, since a stack that is as it was has its id. */
static noinline u32 walk_within(struct walk *w, struct gprof_callers *c, u32 max)
{
	struct found found;

	follow(w, NULL, c->frames, max, &found);
	c->nr = found.nr;
	c->kept = 0;
	c->version++;
	return found.end;
}

static noinline u32 walk_outermost(struct walk *w, struct gprof_callers *c, u32 max)
{
	struct memory *m = this_cpu_ptr(memories);
	struct found found;

	if (m->version != w->version)
		forget(m, w->version);
	w->frames = m->fresh;
	follow(w, m, NULL, max, &found);
	keep(m, c, &found);
	return found.end;
}

/**
 * gprof_walk() - the callers of current's user leaf
 * @s: stack; its leaf is there, and its callers have begun
 * @texts: mappings of current, which have been read
 * @version: of @texts, read before anything else of them
 * @regs: registers of user mode
 * @max: most frames, a guessed caller not counted
 *
 * Context: Any incl. NMI, preemption and page faults off; the page tables that
 * are loaded are those of current.
 * Return: GPROF_STACK_END_*
 */
u32 gprof_walk(struct gprof_stack *s, const struct gprof_texts *texts, u64 version,
	       struct pt_regs *regs, u32 max)
{
	struct walk w = {
		.stack = s,
		.regs = regs,
		/* Preemption is off; RCU's debugging need not know why. */
		.list = rcu_dereference_raw(texts->list),
		.version = version,
		.at = instruction_pointer(regs),
		.exact = true,
		.since_at = instruction_pointer(regs),
	};

	if (!s->outermost)
		return walk_within(&w, &s->callers, max);
	return walk_outermost(&w, &s->callers, max);
}
