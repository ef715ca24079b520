// SPDX-License-Identifier: GPL-2.0-only
/*
 * unwind_user: from frame to frame, by the rules that a table has for the code.
 *
 * A frame is known by three registers: where its code goes on, its stack pointer and its
 * frame pointer. The rule for the first says where those of the caller lie. Nearly all
 * rules are one of two kinds, and followed here with user memory open; the others are
 * for unwind_step.c, which opens it for each word.
 *
 * The frames that are kept of the last walk on this CPU make it cheap: when a frame's three
 * registers are those of a frame of then, and the words that its callers were read from
 * are unchanged, so are its callers. Frames are kept by their distance from the
 * outermost: those next to the leaf come and go.
 *
 * Where no table says anything, the caller is guessed. Any loop here is bounded by the number
 * of frames; addresses and rules may be anything that a hostile program wants.
 */
#include "unwind_user.h"
#include "lookup.h"
#include "unwind_step.h"

#include <linux/build_bug.h>
#include <linux/percpu.h>
#include <linux/ptrace.h>
#include <linux/rcupdate.h>
#include <linux/string.h>

#define RULES		512	/* a power of two */

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
 * @version: of the mappings that @cached was found under; 0: none
 * @serial: a new number whenever @cached changes
 * @first: of @cached
 * @end: how that walk ended
 * @cached: frames of the last walk, the outermost last; behind it one above all stacks
 * @fresh: frames of this walk, the nearest first
 * @rules: by address, forgetful
 */
struct memory {
	u64 version;
	u64 serial;
	u32 first;
	u32 end;
	struct gprof_frame frames_cache[GPROF_MAX_FRAMES + 1];
	struct gprof_frame fresh[GPROF_MAX_FRAMES];
	struct known_rule rules[RULES];
};

static struct memory __percpu *memories;

/**
 * gprof_unwind_user_begin() - allocate the memory that walks keep
 *
 * Context: Task.
 * Return: 0 or -ENOMEM.
 */
int gprof_unwind_user_begin(void)
{
	int cpu;

	memories = alloc_percpu(struct memory);
	if (!memories)
		return -ENOMEM;
	for_each_possible_cpu(cpu) {
		struct memory *m = per_cpu_ptr(memories, cpu);

		m->first = GPROF_MAX_FRAMES;
		m->frames_cache[GPROF_MAX_FRAMES].sp = U64_MAX;
	}
	return 0;
}

/**
 * gprof_unwind_user_end() - free it
 *
 * Context: Task; nobody walks any more.
 */
void gprof_unwind_user_end(void)
{
	free_percpu(memories);
	memories = NULL;
}

/* False: it is too late. */
static noinline bool learn(struct gprof_unwind_state *w, u64 at, struct known_rule *k)
{
	const struct gprof_unwind_rule *r;

	if (gprof_unwind_is_late(w))
		return false;
	r = gprof_unwind_find_rule(w, at);
	if (!r)
		return false;
	k->rule = *r;
	/* A rule that was looked up holds for this walk alone. */
	if (w->by)
		w->version = w->once;
	k->version = w->version;
	k->at = at;
	return true;
}

static __always_inline struct known_rule *rule_place(struct memory *m, u64 at)
{
	return &m->rules[(at ^ at >> 10) & (RULES - 1)];
}

/*
 * How many of the frames behind @k are as they were when it was? Through pointers and
 * without calls, since user memory is open.
 */
static __always_inline const struct gprof_frame *
unchanged(const struct gprof_frame *k, const struct gprof_frame *end)
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
static void copy_frames(struct gprof_frame *to, const struct gprof_frame *from, u32 nr)
{
	for (; nr; nr--)
		*to++ = *from++;
}

/**
 * struct found - the frames that a walk has found
 * @nr: fresh frames
 * @rest: the last of them is this one of those kept, and all behind it are as they were
 * @end: how it ended
 */
struct found {
	u32 nr;
	const struct gprof_frame *rest;
	u32 end;
};

/*
 * @m: memory, or NULL for a sample within a sample: then frames go to @pcs at once.
 */
static __always_inline void follow(struct gprof_unwind_state *w, struct memory *m, u64 *pcs,
				   u32 max, struct found *found)
{
	const struct gprof_frame *k = m ? &m->frames_cache[m->first] : NULL;
	const struct gprof_frame *frames_end = m ? &m->frames_cache[GPROF_MAX_FRAMES] : NULL;
	u64 at = w->at, sp = w->sp, fp = w->fp;
	u32 nr = w->nr, end;
	struct known_rule one = {};
	struct gprof_frame alone, *f = m ? &m->fresh[nr] : &alone;

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
			end = GPROF_STACK_END_TIME;
			if (!learn(w, at, known))
				goto out;
			end = GPROF_STACK_END_PAGE;
			if (!user_access_begin((void __user *)PAGE_SIZE, 16))
				goto out;
		}
		if (likely((u8)(r->kind - GPROF_UNWIND_CFA_SP) <= 1 &&
			   !(r->how & GPROF_HOW_RARE))) {
			u64 base = r->kind == GPROF_UNWIND_CFA_SP ? sp : fp;
			u64 cfa = base + (s64)r->cfa * 8;
			u64 pc, pc_at = gprof_return_place(r, cfa);

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
			end = gprof_unwind_step(w, r, f);
			if (end != GPROF_GO_ON)
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
			const struct gprof_frame *same = unchanged(k, frames_end);
			u32 more = same - k - 1;

			if (same == frames_end && m->end == GPROF_STACK_END_COMPLETE &&
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
static void keep(struct memory *m, struct gprof_user_frames *c, const struct found *found)
{
	u32 begin = found->rest ? found->rest - m->frames_cache + 1 - found->nr :
				  GPROF_MAX_FRAMES - found->nr;
	/* The last fresh one is kept already where there is a rest. */
	u32 fresh = found->rest ? found->nr - 1 : found->nr;
	u32 nr = GPROF_MAX_FRAMES - begin, i;
	bool changed = c->nr != nr;

	copy_frames(&m->frames_cache[begin], m->fresh, fresh);
	if (!found->rest || c->cached != m->serial || begin != m->first)
		fresh = nr;
	for (i = 0; i < fresh; i++) {
		u64 pc = m->frames_cache[begin + i].pc;

		changed |= c->frames[i] != pc;
		c->frames[i] = pc;
	}
	m->first = begin;
	m->end = found->end;
	c->cached = ++m->serial;
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
static noinline u32 unwind_within(struct gprof_unwind_state *w, struct gprof_user_frames *c,
				  u32 max)
{
	struct found found;

	follow(w, NULL, c->frames, max, &found);
	c->nr = found.nr;
	c->cached = 0;
	c->version++;
	return found.end;
}

static noinline void follow_again(struct gprof_unwind_state *w, struct memory *m, u32 max,
				  struct found *found)
{
	follow(w, m, NULL, max, found);
}

static noinline u32 unwind_outermost(struct gprof_unwind_state *w, struct gprof_user_frames *c,
				     u32 max)
{
	struct memory *m = this_cpu_ptr(memories);
	struct found found;

	if (m->version != w->version)
		forget(m, w->version);
	w->frames = m->fresh;
	w->once = ~m->serial;
	follow(w, m, NULL, max, &found);
	if (IS_ENABLED(CONFIG_ARM64) && unlikely(found.end == GPROF_STACK_END_ADDRESS) &&
	    gprof_unwind_by_record(w, m->fresh, found.nr))
		follow_again(w, m, max, &found);
	keep(m, c, &found);
	/* So that the last step is taken again, where no word that is kept tells of its change. */
	if (unlikely(w->guessed_end))
		m->end = GPROF_STACK_END_NR;
	if (unlikely(w->by))
		forget(m, 0);
	return found.end;
}

/**
 * gprof_unwind_user() - the callers of current's user leaf
 * @s: stack; its leaf is there, and its callers have begun
 * @set: number of the set of tables
 * @mm_tables: copy of current's mappings; NULL: there is none
 * @version: of @mm_tables, read before anything else of them, or GPROF_UNWIND_UNKNOWN
 * @regs: registers of user mode
 * @max: most frames, a guessed caller not counted
 *
 * Context: Any incl. NMI, preemption and page faults off; the page tables that
 * are loaded are those of current.
 * Return: GPROF_STACK_END_*; GPROF_STACK_END_NR: nothing is known of the mappings now.
 */
u32 gprof_unwind_user(struct gprof_stack *s, u32 set, const struct gprof_mm_tables *mm_tables,
		      u64 version, struct pt_regs *regs, u32 max)
{
	static const struct gprof_exec_map_list nothing;
	/* Preemption is off; RCU's debugging need not know why. */
	const struct gprof_exec_map_list *list =
		mm_tables ? rcu_dereference_raw(mm_tables->list) : NULL;
	struct gprof_unwind_state w = {
		.stack = s,
		.regs = regs,
		.set = set,
		.list = list ?: &nothing,
		.version = version,
		.at = instruction_pointer(regs),
		.sp = gprof_user_strip(user_stack_pointer(regs)),
		.fp = gprof_user_strip(gprof_user_frame_pointer(regs)),
		.exact = true,
		.since_at = instruction_pointer(regs),
	};
	u32 end;

	/* x0: most have something there. */
	if (IS_ENABLED(CONFIG_ARM64) && !gprof_user_register(regs, 0) &&
	    unlikely(gprof_arch_begins_thread(regs))) {
		gprof_user_frames_cut(&s->user_frames, 0);
		s->user_frames.cached = 0;
		return GPROF_STACK_END_COMPLETE;
	}
	if (!list) {
		w.looked = true;
		w.by = gprof_lookup_begin(current->mm);
		s->wants_mm_tables = true;
		if (!w.by)
			return GPROF_STACK_END_NR;
	}
	end = s->outermost ? unwind_outermost(&w, &s->user_frames, max) :
			     unwind_within(&w, &s->user_frames, max);
	if (unlikely(w.by))
		gprof_lookup_end(w.by, current->mm);
	return end;
}
