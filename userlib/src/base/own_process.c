// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * own_process.c: a number that tells a process from its forked children.
 *
 * A page that a fork wipes. A child of vfork() shares it, and has another pid.
 */
#include "own_process.h"

#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

static _Atomic(atomic_uint *) page;
static atomic_uint last;	/* a child's copy goes on from there */

static atomic_uint *find_page(void)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	atomic_uint *have = atomic_load(&page), *made;

	if (have)
		return have;
	made = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (made == MAP_FAILED)
		return NULL;
	if (!madvise(made, size, MADV_WIPEONFORK) && atomic_compare_exchange_strong(&page, &have, made))
		return made;
	munmap(made, size);
	return have;
}

uint64_t gprof_own_process(void)
{
	atomic_uint *mine = find_page();
	unsigned int turn = mine ? atomic_load(mine) : 1, none = 0;

	if (!turn) {
		turn = atomic_fetch_add(&last, 1) + 1;
		if (!atomic_compare_exchange_strong(mine, &none, turn))
			turn = none;
	}
	return (uint64_t)turn << 32 | (uint32_t)getpid();
}
