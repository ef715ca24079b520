// SPDX-License-Identifier: GPL-2.0-only
/*
 * stack_target: a program whose stacks are known.
 *
 *	stack_target deep DEPTH TRIPS	main, DEPTH times recurse, work
 *	stack_target tight CALLS	main, outer, calls_tiny, and tiny in a tight loop
 *	stack_target noframe CALLS	the same with a leaf compiled without frame pointers
 *	stack_target naps N		main, outer, naps, nap, the last two without frame
 *					pointers, which sleeps for 20 ms
 *	stack_target library CALLS	the same with a leaf of libc
 *	stack_target pushed TRIPS	the same with a leaf that is all prologue (amd64)
 *	stack_target ways CALLS TRIPS	main, one of 16 ways through left and right, work
 *
 * Compiled with frame pointers, but for stack_leaf.c.
 */
#include <string.h>
#include "truth.h"

WORKER(work, 1)

__attribute__((noinline)) uint64_t recurse(uint64_t depth, uint64_t trips);
__attribute__((noinline)) uint64_t recurse(uint64_t depth, uint64_t trips)
{
	if (depth <= 1)
		return work(trips, depth) + 1;
	return recurse(depth - 1, trips) + 1;
}

/* A few instructions, so that a good part of them are prologue and epilogue. */
__attribute__((noinline)) uint64_t tiny(uint64_t x);
__attribute__((noinline)) uint64_t tiny(uint64_t x)
{
	__asm__ volatile("" : "+r"(x));
	return x * 3 + 1;
}

/* The same, without a frame: stack_leaf.c. */
uint64_t noframe(uint64_t x);
uint64_t naps(uint64_t n);

__attribute__((noinline)) uint64_t calls_tiny(uint64_t calls);
__attribute__((noinline)) uint64_t calls_tiny(uint64_t calls)
{
	uint64_t x = 1;

	while (calls--)
		x = tiny(x);
	return x;
}

__attribute__((noinline)) uint64_t calls_noframe(uint64_t calls);
__attribute__((noinline)) uint64_t calls_noframe(uint64_t calls)
{
	uint64_t x = 1;

	while (calls--)
		x = noframe(x);
	return x;
}

#ifdef __x86_64__
/*
 * A prologue, again and again. The page ends where the frame pointer is pushed and not
 * set yet: there an emulator, too, looks for interrupts.
 */
uint64_t pushed(uint64_t trips);
__asm__(
"	.text\n"
"	.balign	4096, 0xcc\n"
"	.fill	4095, 1, 0xcc\n"
"	.type	pushed, @function\n"
"pushed:\n"
"	.cfi_startproc\n"
"	push	%rbp\n"
"	.cfi_def_cfa_offset 16\n"
"	.cfi_offset 6, -16\n"
"	mov	%rsp, %rbp\n"
"	pop	%rbp\n"
"	.cfi_def_cfa_offset 8\n"
"	.cfi_restore 6\n"
"	dec	%rdi\n"
"	jnz	pushed\n"
"	ret\n"
"	.cfi_endproc\n"
"	.size	pushed, . - pushed\n");

__attribute__((noinline)) uint64_t calls_pushed(uint64_t trips);
__attribute__((noinline)) uint64_t calls_pushed(uint64_t trips)
{
	return pushed(trips) + 1;
}
#endif

__attribute__((noinline)) uint64_t calls_library(uint64_t calls);
__attribute__((noinline)) uint64_t calls_library(uint64_t calls)
{
	static char buffer[16384];
	void *(*volatile clear)(void *, int, size_t) = memset;

	while (calls--)
		clear(buffer, (int)calls, sizeof(buffer));
	return buffer[0];
}

uint64_t left(unsigned int way, unsigned int level, uint64_t trips);
uint64_t right(unsigned int way, unsigned int level, uint64_t trips);

/* Three to six levels, each of which is left or right. A macro: inlined it had a name. */
#define GO(_way, _level, _trips)						\
	((_level) == 3 + (_way) % 4 ? work(_trips, _way) :			\
	 ((_way) * 5 >> (_level) & 1 ? right : left)(_way, (_level) + 1, _trips))

__attribute__((noinline)) uint64_t left(unsigned int way, unsigned int level, uint64_t trips)
{
	return GO(way, level, trips) + 1;
}

__attribute__((noinline)) uint64_t right(unsigned int way, unsigned int level, uint64_t trips)
{
	return GO(way, level, trips) + 2;
}

#define WAYS(m)		m(0) m(1) m(2) m(3) m(4) m(5) m(6) m(7) \
			m(8) m(9) m(10) m(11) m(12) m(13) m(14) m(15)
#define WAY_NAME(n)	way_##n,
#define WAY(n)								\
__attribute__((noinline)) static uint64_t way_##n(uint64_t trips)	\
{									\
	return GO(n, 0, trips) + (n);					\
}

WAYS(WAY)

static uint64_t (*const ways[16])(uint64_t trips) = { WAYS(WAY_NAME) };

__attribute__((noinline)) uint64_t outer(const char *mode, uint64_t n);
__attribute__((noinline)) uint64_t outer(const char *mode, uint64_t n)
{
	if (!strcmp(mode, "tight"))
		return calls_tiny(n) + 1;
	if (!strcmp(mode, "noframe"))
		return calls_noframe(n) + 1;
	if (!strcmp(mode, "naps"))
		return naps(n) + 1;
	if (!strcmp(mode, "library"))
		return calls_library(n) + 1;
#ifdef __x86_64__
	if (!strcmp(mode, "pushed"))
		return calls_pushed(n) + 1;
#endif
	fprintf(stderr, "stack_target: no such mode: %s\n", mode);
	exit(2);
}

int main(int argc, char **argv)
{
	uint64_t x, i;

	if (argc < 3) {
		fprintf(stderr, "usage: stack_target MODE N [TRIPS]\n");
		return 2;
	}
	if (!strcmp(argv[1], "deep"))
		x = recurse(truth_argument(argc, argv, 2, 1), truth_argument(argc, argv, 3, 1));
	else if (!strcmp(argv[1], "ways"))
		for (i = x = truth_argument(argc, argv, 2, 1); i--;)
			x += ways[i * 7 % 16](truth_argument(argc, argv, 3, 1));
	else
		x = outer(argv[1], truth_argument(argc, argv, 2, 1));
	/* the result is used, or it would not be computed */
	return x == 42;
}
