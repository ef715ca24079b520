/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * gprof_unwind: tables by which the unwinder steps from a frame to its caller without a frame
 * pointer.
 *
 * User space compiles a table from a file's .eh_frame or .debug_frame, and
 * gives it to the module for the text of that one file. Text is divided into granules of 256
 * bytes. A row has the first byte of its granule to which its rule applies; the rule applies up to
 * the next row, in that granule or a later one. So to look up an address costs one index and a
 * few bytes. In this order, each from the next multiple of 8 bytes on:
 *
 *	struct gprof_unwind_table
 *	__u32 base[granules / 64 + 1]	rows before each 64th granule
 *	__u16 index[granules + 1]	rows from there to each granule
 *	__u8  low[rows]			first byte of a row in its granule, ascending
 *	__u8  rule[rows]		its rule, or GPROF_UNWIND_FAR
 *	struct gprof_unwind_far far[fars]
 *	struct gprof_unwind_rule rules[rules]
 *
 * The first row begins at the first byte of the text. base and index have an entry behind
 * the last granule, which leads to @rows. All numbers have the machine's byte order.
 */
#ifndef _UAPI_LINUX_GPROF_UNWIND_H
#define _UAPI_LINUX_GPROF_UNWIND_H

#include <linux/types.h>

#define GPROF_UNWIND_MAGIC		0x54575547	/* "GUWT" */
#define GPROF_UNWIND_VERSION		3
#define GPROF_UNWIND_VERSION_OLDEST	2		/* that the module accepts */
#define GPROF_UNWIND_GRANULE		256		/* bytes of text */
#define GPROF_UNWIND_BASE		64		/* granules */
#define GPROF_UNWIND_FAR		255		/* a row's rule is in @far */
#define GPROF_UNWIND_RULES_MAX		65535
#define GPROF_UNWIND_TABLE_MAX		(64U << 20)	/* bytes of a table */

/* The rule for the CFA, which is the stack pointer of the caller. */
#define GPROF_UNWIND_CFA_NONE		0	/* no CFI here: by the frame pointer */
#define GPROF_UNWIND_CFA_SP		1	/* sp + @cfa */
#define GPROF_UNWIND_CFA_FP		2	/* fp + @cfa */
#define GPROF_UNWIND_CFA_END		3	/* no caller: the outermost frame */
#define GPROF_UNWIND_CFA_REG		4	/* register @reg + @cfa */
#define GPROF_UNWIND_CFA_DEREF		5	/* word at sp/fp (@reg 0/1) + @ra, + @cfa */
#define GPROF_UNWIND_CFA_PLT		6	/* sp + 8; + 16 from byte @cfa of 16 on */
#define GPROF_UNWIND_CFA_SIGNAL		7	/* all registers lie in the signal frame at sp */
#define GPROF_UNWIND_CFA_UNKNOWN	8	/* has a rule that these kinds cannot express */
#define GPROF_UNWIND_CFA_STACK		9	/* fp + @cfa, on any stack: the code has left it */
#define GPROF_UNWIND_CFA_NR		10

/* The place of the caller's frame pointer (two bits). */
#define GPROF_UNWIND_FP_SAME		0	/* still in the register */
#define GPROF_UNWIND_FP_AT_CFA		1	/* at CFA + @fp */
#define GPROF_UNWIND_FP_AT_FP		2	/* at fp + @fp */
#define GPROF_UNWIND_FP_UNKNOWN		3

/* The place of the return address (two bits). */
#define GPROF_UNWIND_RA_AT_CFA		0	/* arm64: at CFA + @ra; amd64: at CFA - 8 */
#define GPROF_UNWIND_RA_LR		1	/* arm64: in x30; innermost frame only */
#define GPROF_UNWIND_RA_REG		2	/* in register @reg; likewise */
#define GPROF_UNWIND_RA_UNKNOWN		3

/**
 * struct gprof_unwind_rule - rule for the step from a frame to its caller
 * @kind: GPROF_UNWIND_CFA_*
 * @how: GPROF_UNWIND_FP_* | GPROF_UNWIND_RA_* << 2 | reg << 4; registers by their numbers in
 *	DWARF, which must be below 16
 * @cfa: operand of @kind, in words of 8 bytes
 * @fp: operand of @how, in words of 8 bytes
 * @ra: likewise. amd64, kinds SP and FP: offset of the caller's rbx from the CFA; 0: it is still in
 *	the register. The code of lazy binding has its CFA in rbx.
 */
struct gprof_unwind_rule {
	__u8 kind;
	__u8 how;
	__s16 cfa;
	__s16 fp;
	__s16 ra;
};

/**
 * struct gprof_unwind_far - the rule of a row that has GPROF_UNWIND_FAR, if the table has more
 *	rules than a byte can number; in the order of rows
 * @row: number of the row
 * @rule: number of its rule
 */
struct gprof_unwind_far {
	__u32 row;
	__u32 rule;
};

/**
 * struct gprof_unwind_table - the head of a table
 * @magic: GPROF_UNWIND_MAGIC
 * @version: GPROF_UNWIND_VERSION, GPROF_UNWIND_VERSION_OLDEST at least
 * @machine: EM_X86_64, EM_AARCH64 or EM_RISCV: that of the kernel
 * @start: offset in the file of the first byte of text, a multiple of GPROF_UNWIND_GRANULE
 * @granules: number of granules of text
 * @rows: number of rows, at least 1
 * @rules: number of rules, at least 1
 * @fars: number of entries of far[]
 */
struct gprof_unwind_table {
	__u32 magic;
	__u16 version;
	__u16 machine;
	__aligned_u64 start;
	__u32 granules;
	__u32 rows;
	__u32 rules;
	__u32 fars;
};

#endif /* _UAPI_LINUX_GPROF_UNWIND_H */
