// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * a64_insn.c: effects of arm64's instructions on stack pointer, frame pointer and link register.
 * By the encoding groups of the Arm Architecture Reference Manual, C4.1.
 */
#include "a64_insn.h"

#include <stdbool.h>

static uint32_t bits(uint32_t word, unsigned int from, unsigned int nr)
{
	return word >> from & ((1U << nr) - 1);
}

static int64_t signed_bits(uint32_t word, unsigned int from, unsigned int nr)
{
	return (int64_t)((uint64_t)bits(word, from, nr) << (64 - nr)) >> (64 - nr);
}

static bool is_special(uint32_t reg)
{
	return reg == GPROF_A64_FP || reg == GPROF_A64_LR;
}

static struct gprof_a64_insn just(enum gprof_a64_does does)
{
	return (struct gprof_a64_insn){ .does = does, .reg = { GPROF_A64_SP, GPROF_A64_SP } };
}

/*
 * With a base other than sp only the loaded registers matter; a base that is written back is never
 * one of the three in code that follows the ABI, but for sp.
 */
static struct gprof_a64_insn elsewhere(bool load, const uint32_t reg[2])
{
	return just(load && (is_special(reg[0]) || is_special(reg[1])) ? GPROF_A64_ANYTHING
								      : GPROF_A64_NOTHING);
}

static void set_move(struct gprof_a64_insn *in, bool pre, bool post, int64_t imm)
{
	in->imm = pre || post ? 0 : imm;
	in->before = pre ? imm : 0;
	in->after = post ? imm : 0;
}

/* ldp, stp and their like */
static struct gprof_a64_insn pair(uint32_t word)
{
	bool vector = bits(word, 26, 1), load = bits(word, 22, 1);
	uint32_t opc = bits(word, 30, 2), mode = bits(word, 23, 3);
	struct gprof_a64_insn in = just(load ? GPROF_A64_LOAD : GPROF_A64_STORE);
	uint32_t none[2] = { GPROF_A64_SP, GPROF_A64_SP };
	uint32_t reg[2] = { bits(word, 0, 5), bits(word, 10, 5) };

	/* No code saves halves of the registers, or tags of memory. */
	if (!vector && opc != 2)
		return bits(word, 5, 5) == GPROF_A64_SP && (mode & 1) ? just(GPROF_A64_ANYTHING)
								      : elsewhere(load, reg);
	if (bits(word, 5, 5) != GPROF_A64_SP)
		return elsewhere(load, vector ? none : reg);
	in.step = vector ? 4 << opc : 8;
	set_move(&in, mode == 3, mode == 1, signed_bits(word, 15, 7) * in.step);
	if (!vector) {
		in.reg[0] = reg[0];
		in.reg[1] = reg[1];
	}
	return in;
}

/* ldr, str and their like */
static struct gprof_a64_insn single(uint32_t word)
{
	bool vector = bits(word, 26, 1), scaled = bits(word, 24, 1), unscaled = !bits(word, 21, 1);
	uint32_t size = bits(word, 30, 2), opc = bits(word, 22, 2), mode = bits(word, 10, 2);
	bool load = vector ? opc & 1 : opc;
	struct gprof_a64_insn in = just(load ? GPROF_A64_LOAD : GPROF_A64_STORE);
	uint32_t reg[2] = { vector ? GPROF_A64_SP : bits(word, 0, 5), GPROF_A64_SP };

	if (vector && opc > 1)
		size = 4;
	if (bits(word, 5, 5) != GPROF_A64_SP || (!scaled && !unscaled))
		return elsewhere(load || (!scaled && !unscaled), reg);
	if (scaled)
		set_move(&in, false, false, (int64_t)bits(word, 10, 12) << size);
	else
		set_move(&in, mode == 3, mode == 1, signed_bits(word, 12, 9));
	if (size == 3)
		in.reg[0] = reg[0];
	else if (is_special(reg[0]))
		return just(GPROF_A64_ANYTHING);
	return in;
}

static struct gprof_a64_insn memory(uint32_t word)
{
	uint32_t reg[2] = { bits(word, 0, 5), GPROF_A64_SP };

	if ((word & 0x3a000000) == 0x28000000)
		return pair(word);
	if ((word & 0x3a000000) == 0x38000000)
		return single(word);
	/* Structures of vectors have a form that moves the base. */
	if ((word & 0xbe000000) == 0x0c000000)
		return just(bits(word, 23, 1) && bits(word, 5, 5) == GPROF_A64_SP ?
			    GPROF_A64_ANYTHING : GPROF_A64_NOTHING);
	return elsewhere(true, reg);
}

static struct gprof_a64_insn branch(uint32_t word)
{
	struct gprof_a64_insn in = just(GPROF_A64_JUMP);

	if ((word & 0xfc000000) == 0x14000000) {
		in.imm = signed_bits(word, 0, 26) * 4;
		return in;
	}
	if ((word & 0xfc000000) == 0x94000000 || (word & 0xfefff000) == 0xd63f0000)
		return just(GPROF_A64_CALL);
	/* br, ret, and those that authenticate */
	if ((word & 0xfedff000) == 0xd61f0000 || (word & 0xfffff000) == 0xd65f0000)
		return just(GPROF_A64_LEAVE);
	/* cbz, cbnz, b.cond; tbz, tbnz */
	if ((word & 0x7c000000) == 0x34000000 || (word & 0xfe000000) == 0x54000000) {
		in.does = GPROF_A64_BRANCH;
		in.imm = signed_bits(word, 5, (word & 0x7e000000) == 0x36000000 ? 14 : 19) * 4;
		return in;
	}
	/* Hints, among them those that sign and authenticate x30 in its place. */
	if ((word & 0xfffff01f) == 0xd503201f)
		return just(GPROF_A64_NOTHING);
	/* Reading a system register, barriers, system calls: the rest of this group. */
	return just((word & 0xffc00000) == 0xd5000000 && !is_special(bits(word, 0, 5)) ?
		    GPROF_A64_NOTHING : GPROF_A64_ANYTHING);
}

/* add and sub of an immediate to 64 bits, flags not set */
static struct gprof_a64_insn add(uint32_t word)
{
	struct gprof_a64_insn in = just(GPROF_A64_NOTHING);
	uint32_t to = bits(word, 0, 5), from = bits(word, 5, 5);

	in.imm = (int64_t)bits(word, 10, 12) << (bits(word, 22, 1) ? 12 : 0);
	if (bits(word, 30, 1))
		in.imm = -in.imm;
	if (to == GPROF_A64_SP)
		in.does = from == GPROF_A64_SP ? GPROF_A64_ADD_SP :
			  from == GPROF_A64_FP ? GPROF_A64_SET_SP : GPROF_A64_MOVE_SP;
	else if (to == GPROF_A64_FP && from == GPROF_A64_SP)
		in.does = GPROF_A64_SET_FP;
	else if (is_special(to))
		in.does = GPROF_A64_ANYTHING;
	return in;
}

/* Does Rd = 31 mean sp, rather than nowhere? */
static bool to_sp(uint32_t word)
{
	return (word & 0x3f800000) == 0x11000000 ||	/* add, sub of an immediate, 32 bits */
	       ((word & 0x1f800000) == 0x12000000 &&
		bits(word, 29, 2) != 3) ||		/* and, orr, eor of an immediate */
	       (word & 0x3fe00000) == 0x0b200000;	/* add, sub of a register, extended */
}

struct gprof_a64_insn gprof_a64_decode(uint32_t word)
{
	uint32_t to = bits(word, 0, 5);

	if ((word & 0x0a000000) == 0x08000000)
		return memory(word);
	if ((word & 0x1c000000) == 0x14000000)
		return branch(word);
	if ((word & 0xbf800000) == 0x91000000)
		return add(word);
	if ((word & 0x1c000000) == 0x10000000 || (word & 0x0e000000) == 0x0a000000)
		return just(is_special(to) ? GPROF_A64_ANYTHING :
			    to == GPROF_A64_SP && to_sp(word) ? GPROF_A64_MOVE_SP :
								GPROF_A64_NOTHING);
	if ((word & 0x0e000000) == 0x0e000000)
		return just(GPROF_A64_NOTHING);	/* floating point and vectors */
	return just(GPROF_A64_ANYTHING);
}
