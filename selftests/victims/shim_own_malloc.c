// SPDX-License-Identifier: GPL-2.0-only
/*
 * shim_own_malloc: a program with an allocator of its own, which has no reallocarray(), as one has
 * that is linked with a static one. The C library's comes to the program's realloc().
 *
 * Fails if that is given, or free() is, what is not the program's.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char heap[1 << 20] __attribute__((aligned(16)));
static size_t used;

void *reallocarray(void *p, size_t n, size_t size);

/* Before each piece is how long it is. */
void *malloc(size_t n)
{
	char *p = heap + used;

	if (n > sizeof(heap) - used - 32)
		return NULL;
	used += (n + 31) & ~15UL;
	memcpy(p, &n, sizeof(n));
	return p + 16;
}

static void check(const char *p)
{
	if (p && (p < heap || p >= heap + used))
		_exit(1);
}

void free(void *p)
{
	check(p);
}

void *calloc(size_t n, size_t size)
{
	return malloc(n * size);
}

void *realloc(void *p, size_t n)
{
	char *q = malloc(n);
	size_t had;

	check(p);
	if (!p || !q)
		return q;
	memcpy(&had, (char *)p - 16, sizeof(had));
	return memcpy(q, p, had < n ? had : n);
}

int main(void)
{
	volatile size_t ten = 10;	/* nothing is worked out by the compiler */
	char *p = malloc(16), *q;

	strcpy(p, "hello");
	q = reallocarray(p, 100, ten);
	if (q < heap || q >= heap + used || strcmp(q, "hello"))
		return 2;
	if (reallocarray(q, SIZE_MAX / 2, ten))
		return 3;
	free(q);
	return 0;
}
