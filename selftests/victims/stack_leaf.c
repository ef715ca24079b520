// SPDX-License-Identifier: GPL-2.0-only
/* stack_leaf.c: what of stack_target is compiled without frame pointers. */
#include <stdint.h>
#include <time.h>

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

__attribute__((noinline)) uint64_t nap(void);
__attribute__((noinline)) uint64_t nap(void)
{
	const struct timespec t = { .tv_nsec = 20000000 };

	return (uint64_t)nanosleep(&t, NULL) + 1;
}

uint64_t naps(uint64_t n);
uint64_t naps(uint64_t n)
{
	uint64_t x = 1;

	while (n--)
		x += nap();
	return x;
}
