/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * cfi.h: where the return address is, as the unwind tables tell.
 */
#ifndef GPROF_CFI_H
#define GPROF_CFI_H

#include <stdbool.h>
#include <stdint.h>

#include "elf_module.h"

/**
 * gprof_cfi_caller() - was the guess at the caller of a leaf right?
 * @m: object that the leaf is in
 * @pc: address of the sampled instruction
 * @pushed: the guess was read one word above the top of the stack (amd64), or is none
 *	(riscv64)
 *
 * See GPROF_STACK_REC_F_CALLER in <linux/gprof.h>. Where no table covers @pc
 * the answer is no: a caller too few is a shorter stack, a wrong one is a lie.
 */
bool gprof_cfi_caller(struct gprof_elf *m, uint64_t pc, bool pushed);

#endif /* GPROF_CFI_H */
