// SPDX-License-Identifier: GPL-2.0-only
/* stack: stacks */
#include "../stack.c"
#include "../walk.c"
#include "../walk_step.c"
#include "../lookup.c"
#include "../text.c"
#include "../mm_watch.c"
#include "../unwind.c"
#include "../target.c"
