/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * truth_heap.h: places that allocate, and what is said of them: "NAME OBJECTS BYTES OBJECTS_LEFT
 * BYTES_LEFT", what was allocated there, and what of it never freed.
 */
#ifndef TRUTH_HEAP_H
#define TRUTH_HEAP_H

#include <stdio.h>
#include <unistd.h>

#define SITE	__attribute__((noinline, noclone))

static inline void say(const char *name, unsigned long long nr, unsigned long long bytes,
		       unsigned long long nr_left, unsigned long long left)
{
	char text[128];
	int n = snprintf(text, sizeof(text), "%s %llu %llu %llu %llu\n", name, nr, bytes, nr_left,
			 left);

	/* stdout has a buffer, which is memory too. */
	if (write(1, text, (size_t)n) != n)
		_exit(9);
}

/* Mappings of a program that is gone at once are not known, and its functions have no names. */
static inline void stay(void)
{
	usleep(500000);
}

#endif /* TRUTH_HEAP_H */
