// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * cfi.c: where the return address is, as the unwind tables tell.
 */
#include "cfi.h"

#include <dwarf.h>
#include <elf.h>
#include <elfutils/libdw.h>
#include <stdlib.h>

#define X86_RSP		7
#define X86_RIP		16
#define A64_LR		30
#define RISCV_RA	1
#define STACK_MAX	8

/**
 * struct value - a number, perhaps relative to the stack pointer
 * @n: number
 * @rsp: add the stack pointer
 */
struct value {
	int64_t n;
	bool rsp;
};

/*
 * The value of an expression in terms of the stack pointer, with the program
 * counter known. Enough for a plain register and offset, and for the expression
 * that linkers write for the procedure linkage table.
 */
static bool evaluate(const Dwarf_Op *ops, size_t nr, uint64_t pc, struct value *out)
{
	struct value st[STACK_MAX];
	size_t sp = 0, i;

	for (i = 0; i < nr; i++) {
		const Dwarf_Op *op = &ops[i];
		struct value *a, *b;

		if (op->atom == DW_OP_bregx ||
		    (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31)) {
			bool x = op->atom == DW_OP_bregx;
			uint64_t reg = x ? op->number : (uint64_t)op->atom - DW_OP_breg0;
			int64_t off = (int64_t)(x ? op->number2 : op->number);

			if (sp == STACK_MAX || (reg != X86_RSP && reg != X86_RIP))
				return false;
			st[sp].rsp = reg == X86_RSP;
			st[sp++].n = reg == X86_RSP ? off : (int64_t)pc + off;
			continue;
		}
		if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31) {
			if (sp == STACK_MAX)
				return false;
			st[sp++] = (struct value){ op->atom - DW_OP_lit0, false };
			continue;
		}
		if (op->atom == DW_OP_plus_uconst) {
			if (!sp)
				return false;
			st[sp - 1].n += (int64_t)op->number;
			continue;
		}
		if (sp < 2)
			return false;
		b = &st[--sp];
		a = &st[sp - 1];
		switch (op->atom) {
		case DW_OP_plus:
			if (a->rsp && b->rsp)
				return false;
			a->rsp |= b->rsp;
			a->n += b->n;
			break;
		case DW_OP_and:
			if (a->rsp || b->rsp)
				return false;
			a->n &= b->n;
			break;
		case DW_OP_ge:
			if (a->rsp || b->rsp)
				return false;
			a->n = a->n >= b->n;
			break;
		case DW_OP_shl:
			if (a->rsp || b->rsp || b->n < 0 || b->n > 62)
				return false;
			a->n = (int64_t)((uint64_t)a->n << b->n);
			break;
		default:
			return false;
		}
	}
	if (sp != 1)
		return false;
	*out = st[0];
	return true;
}

/* amd64: the guess is at the top of the stack, or one word above it. */
static bool x86_caller(Dwarf_Frame *frame, uint64_t pc, bool pushed)
{
	Dwarf_Op *ops;
	struct value cfa;
	size_t nr;

	return !dwarf_frame_cfa(frame, &ops, &nr) && evaluate(ops, nr, pc, &cfa) && cfa.rsp &&
	       cfa.n == (pushed ? 16 : 8);
}

/* arm64, riscv64: the guess is the register that calls leave their address in. */
static bool register_caller(Dwarf_Frame *frame, int reg)
{
	Dwarf_Op mem[3];
	Dwarf_Op *ops;
	size_t nr;

	if (dwarf_frame_register(frame, reg, mem, &ops, &nr))
		return false;
	if (!nr)
		return !ops;	/* the same value as in the caller; else undefined */
	return nr == 1 && ((ops[0].atom == DW_OP_regx && ops[0].number == (Dwarf_Word)reg) ||
			   ops[0].atom == DW_OP_reg0 + reg);
}

static Dwarf_Frame *frame_at(Dwarf_CFI *cfi, GElf_Addr addr)
{
	Dwarf_Frame *frame;

	return cfi && !dwarf_cfi_addrframe(cfi, addr, &frame) ? frame : NULL;
}

bool gprof_cfi_caller(struct gprof_elf *m, uint64_t pc, bool pushed)
{
	Dwarf_Addr bias = 0;
	Dwarf_Frame *frame;
	Dwarf_CFI *cfi;
	bool signal;
	bool yes = false;

	/* Look into .eh_frame first: looking for .debug_frame may load a debug file. */
	cfi = dwfl_module_eh_cfi(m->mod, &bias);
	frame = frame_at(cfi, pc + m->bias - bias);
	if (!frame) {
		cfi = gprof_elf_dwarf(m, &bias) ? dwfl_module_dwarf_cfi(m->mod, &bias) : NULL;
		frame = frame_at(cfi, pc + m->bias - bias);
	}
	if (!frame)
		return false;
	/* A signal trampoline has no caller. */
	if (dwarf_frame_info(frame, NULL, NULL, &signal) >= 0 && !signal) {
		if (m->machine == EM_X86_64)
			yes = x86_caller(frame, pc, pushed);
		else if (m->machine == EM_AARCH64)
			yes = register_caller(frame, A64_LR);
		/*
		 * Where the module knew that the frame was not linked, the saved registers do not
		 * matter.
		 */
		else if (m->machine == EM_RISCV)
			yes = pushed || register_caller(frame, RISCV_RA);
	}
	free(frame);
	return yes;
}
