// SPDX-License-Identifier: GPL-2.0-only
/* stack_leaf.c: the leaf of stack_target that is compiled without frame pointers. */
#include <stdint.h>

__attribute__((noinline)) uint64_t noframe(uint64_t x);
__attribute__((noinline)) uint64_t noframe(uint64_t x)
{
	int i;

	for (i = 0; i < 4; i++) {
		__asm__ volatile("" : "+r"(x));
		x = x * 5 + 1;
	}
	return x;
}
