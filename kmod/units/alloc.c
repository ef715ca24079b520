// SPDX-License-Identifier: GPL-2.0-only
/* alloc: allocations, where they happen */
#include "../source_alloc.c"
#include "../alloc.c"
#include "../alloc_probe_life.c"
#include "../alloc_probe.c"
#include "../tap_alloc.c"
