// SPDX-License-Identifier: GPL-2.0-only
/* heap: allocations that are told, and what is live of them */
#include "../alloc_told.c"
#include "../alloc_space.c"
#include "../alloc_page.c"
#include "../live.c"
