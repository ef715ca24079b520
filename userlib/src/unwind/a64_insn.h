/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * a64_insn.h: effects of arm64's instructions on stack pointer, frame pointer and link register.
 */
#ifndef GPROF_A64_INSN_H
#define GPROF_A64_INSN_H

#include <stdint.h>

#define GPROF_A64_FP	29
#define GPROF_A64_LR	30
#define GPROF_A64_SP	31

enum gprof_a64_does {
	GPROF_A64_NOTHING,	/* to any of the three */
	GPROF_A64_STORE,	/* registers relative to sp, which may move */
	GPROF_A64_LOAD,
	GPROF_A64_ADD_SP,	/* sp = sp + imm */
	GPROF_A64_SET_FP,	/* x29 = sp + imm */
	GPROF_A64_SET_SP,	/* sp = x29 + imm */
	GPROF_A64_MOVE_SP,	/* sp = something else, as to align it */
	GPROF_A64_CALL,
	GPROF_A64_BRANCH,	/* by imm bytes, or not */
	GPROF_A64_JUMP,		/* by imm bytes */
	GPROF_A64_LEAVE,	/* returns, or jumps to a register */
	GPROF_A64_ANYTHING,	/* not known */
};

/**
 * struct gprof_a64_insn - an instruction
 * @does: effect
 * @imm: bytes
 * @before: LOAD and STORE: sp moves by this before memory is touched at sp + @imm
 * @after: and by this afterwards
 * @step: bytes from the first register's place to the second's
 * @reg: registers; GPROF_A64_SP: none that matters
 */
struct gprof_a64_insn {
	enum gprof_a64_does does;
	int64_t imm;
	int64_t before;
	int64_t after;
	int64_t step;
	uint32_t reg[2];
};

struct gprof_a64_insn gprof_a64_decode(uint32_t word);

#endif /* GPROF_A64_INSN_H */
