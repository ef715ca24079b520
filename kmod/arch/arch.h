/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * arch: the parts that differ between architectures, but for stack_*.c.
 */
#ifndef GPROF_ARCH_H
#define GPROF_ARCH_H

#if defined(CONFIG_X86_64)
#include "user_x86.h"
#elif defined(CONFIG_ARM64)
#include "user_arm64.h"
#elif defined(CONFIG_RISCV)
#include "user_riscv.h"
#endif

#endif /* GPROF_ARCH_H */
