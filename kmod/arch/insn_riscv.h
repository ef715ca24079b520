/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * insn_riscv: the few instructions of riscv64 by which functions begin and end.
 */
#ifndef GPROF_INSN_RISCV_H
#define GPROF_INSN_RISCV_H

#include <linux/bitops.h>
#include <linux/types.h>

/**
 * enum gprof_insn - the meaning of an instruction to a search for a frame
 * @GPROF_INSN_OTHER: nothing
 * @GPROF_INSN_LINK: addi s0, sp, imm: from now on s0 is of this frame
 * @GPROF_INSN_SAVE: sd s0, imm(sp)
 * @GPROF_INSN_RESTORE: ld s0, imm(sp)
 * @GPROF_INSN_SP: addi sp, sp, imm
 * @GPROF_INSN_SP_OF_FP: addi sp, s0, imm
 * @GPROF_INSN_RETURN: jalr zero, ra
 * @GPROF_INSN_CALL: leaves its own address in ra
 * @GPROF_INSN_BRANCH: goes on at one of two places
 * @GPROF_INSN_ELSEWHERE: goes on elsewhere, or changes sp in another way
 */
enum gprof_insn {
	GPROF_INSN_OTHER,
	GPROF_INSN_LINK,
	GPROF_INSN_SAVE,
	GPROF_INSN_RESTORE,
	GPROF_INSN_SP,
	GPROF_INSN_SP_OF_FP,
	GPROF_INSN_RETURN,
	GPROF_INSN_CALL,
	GPROF_INSN_BRANCH,
	GPROF_INSN_ELSEWHERE,
};

/* Registers by number. */
#define GPROF_X_RA	1
#define GPROF_X_SP	2
#define GPROF_X_FP	8

static __always_inline u32 gprof_insn_bits(u32 insn, u32 from, u32 nr)
{
	return insn >> from & ((1U << nr) - 1);
}

static __always_inline enum gprof_insn gprof_insn_addi(u32 to, u32 from)
{
	if (to == GPROF_X_SP)
		return from == GPROF_X_SP ? GPROF_INSN_SP :
		       from == GPROF_X_FP ? GPROF_INSN_SP_OF_FP : GPROF_INSN_ELSEWHERE;
	return to == GPROF_X_FP && from == GPROF_X_SP ? GPROF_INSN_LINK : GPROF_INSN_OTHER;
}

/* Two bytes long: the compressed ones. Calls are not made relative to the code in RV64C. */
static __always_inline enum gprof_insn gprof_insn_short(u32 i, int *imm)
{
	u32 rd = gprof_insn_bits(i, 7, 5), rs2 = gprof_insn_bits(i, 2, 5);

	switch (gprof_insn_bits(i, 13, 3) << 2 | (i & 3)) {
	case 0 << 2 | 0:	/* c.addi4spn */
		if (rs2 & 7 || !i)
			return GPROF_INSN_OTHER;
		*imm = gprof_insn_bits(i, 11, 2) << 4 | gprof_insn_bits(i, 7, 4) << 6 |
		       gprof_insn_bits(i, 6, 1) << 2 | gprof_insn_bits(i, 5, 1) << 3;
		return GPROF_INSN_LINK;
	case 0 << 2 | 1:	/* c.addi */
		if (rd != GPROF_X_SP)
			return GPROF_INSN_OTHER;
		*imm = sign_extend32(gprof_insn_bits(i, 12, 1) << 5 | rs2, 5);
		return GPROF_INSN_SP;
	case 3 << 2 | 1:	/* c.addi16sp, c.lui */
		if (rd != GPROF_X_SP)
			return GPROF_INSN_OTHER;
		*imm = gprof_insn_bits(i, 12, 1) << 9 | gprof_insn_bits(i, 6, 1) << 4 |
		       gprof_insn_bits(i, 5, 1) << 6 | gprof_insn_bits(i, 3, 2) << 7 |
		       gprof_insn_bits(i, 2, 1) << 5;
		*imm = sign_extend32(*imm, 9);
		return GPROF_INSN_SP;
	case 5 << 2 | 1:	/* c.j */
		return GPROF_INSN_ELSEWHERE;
	case 6 << 2 | 1:	/* c.beqz */
	case 7 << 2 | 1:	/* c.bnez */
		return GPROF_INSN_BRANCH;
	case 3 << 2 | 2:	/* c.ldsp */
		if (rd != GPROF_X_FP)
			return rd == GPROF_X_SP ? GPROF_INSN_ELSEWHERE : GPROF_INSN_OTHER;
		*imm = gprof_insn_bits(i, 12, 1) << 5 | gprof_insn_bits(i, 5, 2) << 3 |
		       gprof_insn_bits(i, 2, 3) << 6;
		return GPROF_INSN_RESTORE;
	case 4 << 2 | 2:	/* c.jr, c.mv, c.jalr, c.add, c.ebreak */
		if (rs2 || !rd)
			return rs2 && rd == GPROF_X_SP ? GPROF_INSN_ELSEWHERE : GPROF_INSN_OTHER;
		if (i & 1 << 12)
			return GPROF_INSN_CALL;
		return rd == GPROF_X_RA ? GPROF_INSN_RETURN : GPROF_INSN_ELSEWHERE;
	case 7 << 2 | 2:	/* c.sdsp */
		if (rs2 != GPROF_X_FP)
			return GPROF_INSN_OTHER;
		*imm = gprof_insn_bits(i, 10, 3) << 3 | gprof_insn_bits(i, 7, 3) << 6;
		return GPROF_INSN_SAVE;
	}
	return GPROF_INSN_OTHER;
}

static __always_inline enum gprof_insn gprof_insn_long(u32 i, int *imm)
{
	u32 rd = gprof_insn_bits(i, 7, 5), rs1 = gprof_insn_bits(i, 15, 5);
	u32 width = gprof_insn_bits(i, 12, 3);

	*imm = (s32)i >> 20;
	switch (i & 0x7f) {
	case 0x03:	/* loads */
		return width == 3 && rd == GPROF_X_FP && rs1 == GPROF_X_SP ? GPROF_INSN_RESTORE :
		       GPROF_INSN_OTHER;
	case 0x13:	/* arithmetic with a constant */
		if (!width)
			return gprof_insn_addi(rd, rs1);
		break;
	case 0x23:	/* stores */
		*imm = (s32)(i & 0xfe000000) >> 20 | rd;
		return width == 3 && gprof_insn_bits(i, 20, 5) == GPROF_X_FP &&
		       rs1 == GPROF_X_SP ? GPROF_INSN_SAVE : GPROF_INSN_OTHER;
	case 0x63:
		return GPROF_INSN_BRANCH;
	case 0x67:	/* jalr */
		if (rd == GPROF_X_RA)
			return GPROF_INSN_CALL;
		return !rd && rs1 == GPROF_X_RA ? GPROF_INSN_RETURN : GPROF_INSN_ELSEWHERE;
	case 0x6f:	/* jal */
		return rd == GPROF_X_RA ? GPROF_INSN_CALL : GPROF_INSN_ELSEWHERE;
	case 0x33:	/* arithmetic */
		break;
	default:
		return GPROF_INSN_OTHER;
	}
	return rd == GPROF_X_SP ? GPROF_INSN_ELSEWHERE : GPROF_INSN_OTHER;
}

/**
 * gprof_insn_of() - the kind of an instruction
 * @insn: it; of one that is two bytes long the upper half is 0
 * @imm: set to its constant, where it has one of which something is said
 */
static __always_inline enum gprof_insn gprof_insn_of(u32 insn, int *imm)
{
	*imm = 0;
	return (insn & 3) == 3 ? gprof_insn_long(insn, imm) : gprof_insn_short(insn, imm);
}

#endif /* GPROF_INSN_RISCV_H */
