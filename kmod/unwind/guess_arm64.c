// SPDX-License-Identifier: GPL-2.0-only
/*
 * guess on arm64: the instructions that begin and end functions.
 */
#include "arch/user_arm64.h"
#include "guess.h"

/* sign_extend32() by itself: nothing is called while user memory is open. */
static __always_inline s32 field(u32 insn, u32 low, u32 bits)
{
	return (s32)(insn << (32 - low - bits)) >> (32 - bits);
}

/* Only x30 says where the caller is, and @words of the function's own are on the stack. */
static __always_inline void guess_lr(u32 words, struct gprof_unwind_rule *r)
{
	r->how = GPROF_UNWIND_RA_LR << 2;
	r->cfa = words;
}

/* At the first instructions, nothing is on the stack. */
static __always_inline bool is_entry(u32 insn)
{
	return (insn & 0xffc07fff) == 0xa9807bfd ||	/* stp x29, x30, [sp, #...]! */
	       (insn & 0xffc003ff) == 0xd10003ff ||	/* sub sp, sp, #... */
	       (insn & 0xffffff3f) == 0xd503241f ||	/* bti */
	       (insn & 0xffffffbf) == 0xd503233f;	/* paciasp, pacibsp */
}

/* Where registers were saved, in words from sp; below 0: not seen. */
struct saved {
	s32 fp, lr;
};

/* ldp x29, x30 or ldr of one of them, from the stack; @added: words that are gone from there. */
static __always_inline void note_load(struct saved *saved, u32 insn, s32 added)
{
	if ((insn & 0xffc07fff) == 0xa9407bfd) {	/* ldp x29, x30, [sp, #...] */
		saved->fp = added + field(insn, 15, 7);
		saved->lr = saved->fp + 1;
	} else if ((insn & 0xffc07fff) == 0xa8c07bfd) {	/* ldp x29, x30, [sp], #... */
		saved->fp = added;
		saved->lr = added + 1;
	} else if ((insn & 0xffc003ff) == 0xf94003fd) {	/* ldr x29, [sp, #...] */
		saved->fp = added + (insn >> 10 & 0xfff);
	} else if ((insn & 0xffc003ff) == 0xf94003fe) {	/* ldr x30, [sp, #...] */
		saved->lr = added + (insn >> 10 & 0xfff);
	} else if ((insn & 0xffe00fff) == 0xf84007fe) {	/* ldr x30, [sp], #... */
		saved->lr = added;
	}
}

/* The words that an instruction takes from the stack. */
static __always_inline s32 added_to_sp(u32 insn)
{
	if ((insn & 0xffc003ff) == 0x910003ff)		/* add sp, sp, #... */
		return (insn >> 10 & 0xfff) / 8;
	if ((insn & 0xffc003e0) == 0xa8c003e0)		/* ldp ..., [sp], #... */
		return field(insn, 15, 7);
	if ((insn & 0xffe00fe0) == 0xf84007e0)		/* ldr ..., [sp], #... */
		return field(insn, 12, 9) / 8;
	return 0;
}

bool gprof_arch_guess(u64 at, u64 until, struct gprof_unwind_rule *r)
{
	struct saved saved = { -1, -1 };
	s32 added = 0;
	u32 i, insn;

	/* A byte before a return address is in the call. */
	at = ALIGN(at, 4);
	if (!user_access_begin((void __user *)PAGE_SIZE, 16))
		return true;
	for (i = 0; i < GPROF_GUESS_BYTES; i += 4, at += 4) {
		if (i && !(i % GPROF_GUESS_PART) && !gprof_guess_goes_on(until))
			return false;
		if (!gprof_user_readable(at) || !gprof_user_u32(&insn, at))
			break;
		if (!i && is_entry(insn)) {
			guess_lr(0, r);
			break;
		}
		/* mov sp, x29: there is a record, which x29 leads to */
		if (insn == 0x910003bf)
			break;
		note_load(&saved, insn, added);
		added += added_to_sp(insn);
		if (added < 0 || added > S16_MAX)
			break;
		/* ret, retaa, retab */
		if (insn != 0xd65f03c0 && (insn & 0xfffffbff) != 0xd65f0bff)
			continue;
		if (saved.lr < 0) {
			guess_lr(added, r);
		} else if (saved.lr < added && saved.fp < added) {
			r->how = 0;
			r->cfa = added;
			r->ra = saved.lr - added;
			if (saved.fp >= 0)
				r->fp = saved.fp - added;
		}
		break;
	}
	user_access_end();
	return true;
}
