// SPDX-License-Identifier: GPL-2.0-only
/* fuzz_python.c: what is walked by is a page of words, each at random one that leads on. */
#include <stddef.h>
#include <unistd.h>
#include "fuzz_python.h"

#define WORDS	512
#define NEAR	96	/* bytes: where members are, mostly */

extern const char __ehdr_start[];

static uint64_t memory[WORDS];

static uint64_t somewhere(struct draw *d)
{
	if (!one_in(d, 8))
		return (uintptr_t)&memory[below(d, WORDS)];
	return ONE_OF(d, 0, 0, 1, -8, 0xffff888000000000ULL, 1ULL << 47, (uintptr_t)memory + 4,
		      (uintptr_t)fuzz_python, draw(d));
}

/* Others read, and the kernel: a word at a time. */
static void change(struct draw *d)
{
	for (unsigned int i = 0; i < 64; i++)
		__atomic_store_n(&memory[below(d, WORDS)],
				 one_in(d, 4) ? (uint64_t)gettid() : somewhere(d), __ATOMIC_RELAXED);
}

uint64_t fuzz_python(struct draw *d, struct gprof_python *p)
{
	uint32_t *member;

	change(d);
	*p = (struct gprof_python){
		.size = sizeof(*p), .flags = below(d, one_in(d, 16) ? 4 : 2),
		.runtime = (uintptr_t)memory - (uintptr_t)__ehdr_start,
	};
	for (member = &p->interpreters; member < &p->__reserved; member++)
		*member = 8 * below(d, NEAR / 8);
	if (one_in(d, 4))
		p->cframe_frame = GPROF_PYTHON_NONE;
	if (one_in(d, 8))
		(&p->interpreters)[below(d, member - &p->interpreters)] =
			ONE_OF(d, 1, 4, GPROF_PYTHON_OFFSET_MAX, GPROF_PYTHON_OFFSET_MAX + 1,
			       GPROF_PYTHON_NONE, draw(d));
	if (one_in(d, 8))
		p->runtime = ONE_OF(d, 0, 1, -8, 1ULL << 47, draw(d));
	if (one_in(d, 16))
		p->size = ONE_OF(d, 0, sizeof(*p) - 4, sizeof(*p) + 8, 4096, 4097, UINT32_MAX);
	return one_in(d, 16) ? ONE_OF(d, 1, -8, 0xffff888000000000ULL, draw(d)) : (uintptr_t)p;
}
