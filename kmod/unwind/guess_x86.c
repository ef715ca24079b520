// SPDX-License-Identifier: GPL-2.0-only
/*
 * guess on amd64: the bytes of the instructions that begin and end functions.
 */
#include "arch/user_x86.h"
#include "guess.h"

#define PUSH_RBP	0x55
#define POP_R64		0x58		/* and the seven that follow */
#define POP_RBP		0x5d
#define RET_IMM		0xc2
#define RET		0xc3
#define REX_B		0x41
#define REX_W		0x48
#define LEAVE		0xc9
#define REPZ		0xf3

#define REGISTERS	16

static __always_inline bool is_ret(u8 byte)
{
	return byte == RET || byte == RET_IMM || byte == REPZ;
}

static __always_inline bool is_pop(u64 text)
{
	return (text & 0xf8) == POP_R64 || (text & 0xf8ff) == (POP_R64 << 8 | REX_B);
}

/*
 * @words, and the registers that @at restores, are on the stack above the return address.
 * @returns: the function returns right behind that, as code that only looks like it does not.
 */
static __always_inline bool guess_pops(u64 at, u64 words, bool returns,
				       struct gprof_unwind_rule *r)
{
	u32 pops = 0, rbp = 0;
	u64 text;

	for (;; pops++, at++) {
		if (pops > REGISTERS || !gprof_user_readable(at) || !gprof_user_u64(&text, at))
			return false;
		if ((u8)text == POP_RBP)
			rbp = pops + 1;
		if ((text & 0xf8ff) == (POP_R64 << 8 | REX_B))
			at++;
		else if ((text & 0xf8) != POP_R64)
			break;
	}
	if (!is_ret(text) && (returns || !pops))
		return false;
	if (words + pops >= S16_MAX)
		return false;
	r->how = 0;
	r->cfa = words + pops + 1;
	r->ra = -1;
	if (rbp)
		r->fp = -(s16)(pops - rbp + 2);
	return true;
}

/* At the first instructions, nothing is on the stack but the return address, or rbp below it. */
static __always_inline bool guess_entry(u64 text, struct gprof_unwind_rule *r)
{
	u32 three = text & 0xffffff;

	r->ra = -1;
	/* also endbr64, and HotSpot's store far below the stack pointer */
	if ((u8)text == PUSH_RBP || (u32)text == 0xfa1e0ff3 || three == 0x248489)
		r->cfa = 1;
	/* mov %rsp,%rbp, in both of its forms */
	if (three == 0xe58948 || three == 0xec8b48) {
		r->cfa = 2;
		r->fp = -2;
	}
	if (r->cfa)
		r->how = 0;
	return r->cfa;
}

/* Is this mov %rbp,%rsp, in both of its forms, lea ...(%rbp),%rsp, or leave with ret or pop? */
static __always_inline bool leaves_by_rbp(u64 text)
{
	u32 three = text & 0xffffff;

	return three == 0xec8948 || three == 0xe58b48 || three == 0x658d48 || three == 0xa58d48 ||
	       ((u8)text == LEAVE && (is_ret(text >> 8) || (text >> 8 & 0xf8) == POP_R64));
}

/* How many bytes does add ...,%rsp take away? 0: it is another instruction. */
static __always_inline u64 added_to_rsp(u64 text, u32 *len)
{
	u32 three = text & 0xffffff;
	s64 bytes = 0;

	*len = 4;
	if (three == 0xc48348) {
		bytes = (s8)(text >> 24);
	} else if (three == 0xc48148) {
		bytes = (s32)(text >> 24);
		*len = 7;
	}
	return bytes > 0 && !(bytes & 7) ? bytes : 0;
}

bool gprof_arch_guess(u64 at, u64 until, struct gprof_unwind_rule *r)
{
	u64 text, bytes;
	bool popped = false;
	u32 i, len;

	if (!gprof_user_readable(at) || !gprof_user_readable(at + GPROF_GUESS_BYTES) ||
	    !user_access_begin((void __user *)PAGE_SIZE, 16))
		return true;
	for (i = 0; i < GPROF_GUESS_BYTES; i++, at++) {
		if (i && !(i % GPROF_GUESS_PART) && !gprof_guess_goes_on(until))
			return false;
		if (!gprof_user_u64(&text, at))
			break;
		if (!i && (guess_entry(text, r) || guess_pops(at, 0, false, r)))
			break;
		/* A row of pops is looked at once. */
		if (is_pop(text) && !popped && guess_pops(at, 0, true, r))
			break;
		popped = is_pop(text);
		/* Few instructions begin like those that are looked for. */
		if ((u8)text != REX_W && (u8)text != LEAVE)
			continue;
		bytes = added_to_rsp(text, &len);
		if (leaves_by_rbp(text) || (bytes && guess_pops(at + len, bytes / 8, false, r)))
			break;
	}
	user_access_end();
	return true;
}
