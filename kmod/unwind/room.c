// SPDX-License-Identifier: GPL-2.0-only
/*
 * unwind: the frames of a stack, of the kernel and of a program: by frame pointers, by
 * tables made of the program's call frame information, by a runtime's own rules.
 *
 * Contexts: any, NMI included; tables.c and text.c also system calls and the watch of
 * mappings.
 * May include: mm and the rooms below.
 */
#include "stack.c"
#include "walk.c"
#include "walk_step.c"
#include "lookup.c"
#include "text.c"
#include "unwind.c"
#include "callers.c"
#include "tables.c"
#include "python.c"
