// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory that is not used between two profiles is the host's.
 */
#include "memory_trim.h"

#include <malloc.h>

#define LARGE	(128 << 10)	/* bytes: what the C library begins with */

/*
 * Left alone it keeps what is freed as soon as something as large was freed once, and each
 * thread has a heap of its own.
 */
void memory_trim_init(void)
{
#ifdef M_MMAP_THRESHOLD
	mallopt(M_MMAP_THRESHOLD, LARGE);
#endif
#ifdef M_ARENA_MAX
	mallopt(M_ARENA_MAX, 1);
#endif
}

/* What was small lies between what is kept, and is given back by the page. */
void memory_trim(void)
{
#ifdef M_TRIM_THRESHOLD
	malloc_trim(0);
#endif
}
