/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * frame_program.h: runs call frame instructions: from the program of an FDE to the state at each
 * of its addresses.
 *
 * Only the values that a table can express are followed: the CFA, and of the registers the frame
 * pointer, the return address and, on amd64, rbx.
 */
#ifndef GPROF_FRAME_PROGRAM_H
#define GPROF_FRAME_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "frame_entries.h"

/**
 * struct gprof_machine - DWARF's numbers of registers
 * @machine: EM_*
 * @sp: stack pointer
 * @fp: frame pointer
 * @ra: return address
 * @rbx: amd64's; UINT32_MAX: there is none
 */
struct gprof_machine {
	uint16_t machine;
	uint32_t sp;
	uint32_t fp;
	uint32_t ra;
	uint32_t rbx;
};

const struct gprof_machine *gprof_machine(uint16_t machine);

enum gprof_saved {
	GPROF_SAVED_NOT,		/* nothing said: still in the register */
	GPROF_SAVED_UNDEFINED,		/* lost; of the return address: there is none */
	GPROF_SAVED_AT,			/* at CFA + value */
	GPROF_SAVED_IN,			/* in register value */
	GPROF_SAVED_EXPRESSION,		/* where the expression says */
	GPROF_SAVED_OTHERWISE,		/* is a value that is calculated */
};

/**
 * struct gprof_expression - one of DWARF
 * @p: its bytes, in the section
 * @len: how many
 */
struct gprof_expression {
	const unsigned char *p;
	uint64_t len;
};

/**
 * struct gprof_register - where the caller's register is
 * @saved: GPROF_SAVED_*
 * @value: offset or register
 * @expression: that
 */
struct gprof_register {
	enum gprof_saved saved;
	int64_t value;
	struct gprof_expression expression;
};

/**
 * struct gprof_frame_state - state at an address
 * @cfa_reg: register that the CFA is an offset from
 * @cfa_offset: that
 * @cfa_calculated: @cfa says instead
 * @cfa: the expression
 * @fp: the frame pointer
 * @ra: the return address
 * @rbx: rbx
 */
struct gprof_frame_state {
	uint64_t cfa_reg;
	int64_t cfa_offset;
	bool cfa_calculated;
	struct gprof_expression cfa;
	struct gprof_register fp;
	struct gprof_register ra;
	struct gprof_register rbx;
};

/**
 * gprof_state_fn - a row
 * @ctx: passed on
 * @from: bytes from the beginning of the FDE's text
 * @state: from there on
 *
 * Return: 0 or -errno, which ends the program.
 */
typedef int (*gprof_state_fn)(void *ctx, uint32_t from, const struct gprof_frame_state *state);

/**
 * gprof_program_run() - run the program of an FDE
 * @e: its section
 * @m: machine
 * @fde: it
 * @fn: called with each row, @from ascending
 * @ctx: for it
 *
 * Return: 0; -EBADMSG: an instruction is not known or makes no sense; or the return of @fn.
 */
int gprof_program_run(const struct gprof_entries *e, const struct gprof_machine *m,
		      const struct gprof_fde *fde, gprof_state_fn fn, void *ctx);

#endif /* GPROF_FRAME_PROGRAM_H */
