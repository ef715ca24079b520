// SPDX-License-Identifier: GPL-2.0-only
/*
 * alloc_page: recognises pages that the slab allocator has asked for.
 *
 * The slab allocator has its memory from the page allocator, and both have tracepoints: slab
 * pages would be counted twice. At that time a page does not say its use yet, but the callers
 * of the page allocator do. Only sampled pages get here; a name is looked up once for an
 * address, until another address takes its place.
 */
#include "allocs.h"
#include "unwind/stack.h"

#include <linux/compiler.h>
#include <linux/hash.h>
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/preempt.h>
#include <linux/string.h>

#define LOOKS		16	/* frames from the allocator on */
#define BITS		8

/* In any of the kernels; the compiler makes some part of the others. */
static const char *const page_functions[] = {
	"allocate_slab", "alloc_slab_page", "new_slab", "___slab_alloc", "__slab_alloc",
	"refill_objects", "__refill_objects",
	"kmalloc_order", "kmalloc_large", "__kmalloc_large", "___kmalloc_large",
};

/* Return addresses, the lowest bit of which is the answer; as many as are met. */
static unsigned long slab_pages[1 << BITS];

/* In part: the compiler appends a suffix to a function that it has changed. */
static bool is_function(const char *name, const char *function)
{
	size_t length = strlen(function);

	return !strncmp(name, function, length) &&
	       (!name[length] || name[length] == '.' || name[length] == '_');
}

static noinline bool find_name(unsigned long addr)
{
	char name[KSYM_SYMBOL_LEN];
	unsigned int i;

	/* The function that makes the call, and not the one that begins behind it. */
	sprint_symbol_no_offset(name, addr - 1);
	for (i = 0; i < ARRAY_SIZE(page_functions); i++) {
		if (is_function(name, page_functions[i]))
			return true;
	}
	return false;
}

static bool is_part(unsigned long addr)
{
	unsigned long *place = &slab_pages[hash_long(addr, BITS)], word = READ_ONCE(*place);
	unsigned long key = addr << 1;
	bool part;

	if ((word & ~1UL) == key)
		return word & 1;
	/* Both halves of an answer are one word: others may come between. */
	part = find_name(addr);
	WRITE_ONCE(*place, key | part);
	return part;
}

/**
 * gprof_pages_are_part() - does an allocator ask for pages that tells its objects in them?
 * @regs: of the tracepoint's caller
 *
 * Context: Any but NMI, preemption off.
 */
bool gprof_pages_are_part(struct pt_regs *regs)
{
	u64 frames[LOOKS];
	u32 nr, i;

	nr = gprof_arch_kernel_frames(regs, frames, LOOKS);
	for (i = 0; i < nr; i++) {
		if (is_part(frames[i]))
			return true;
	}
	return false;
}
