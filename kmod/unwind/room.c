// SPDX-License-Identifier: GPL-2.0-only
/*
 * unwind: the frames of a stack, of the kernel and of a program: by frame pointers, by
 * tables made of the program's call frame information, by a runtime's own rules.
 *
 * Contexts: any, NMI included; table_set.c and mm_tables.c also system calls and the watch of
 * mappings.
 * May include: mm and the rooms below.
 */
#include "stack.c"
#include "unwind_user.c"
#include "unwind_step.c"
#include "lookup.c"
#include "mm_tables.c"
#include "cfi_table.c"
#include "user_fp.c"
#include "table_set.c"
#include "python.c"
