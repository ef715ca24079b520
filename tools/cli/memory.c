// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory that a program cannot do without.
 */
#include "memory.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/large_pages.h"
#include "cmd.h"
#include "program.h"

static void *need(void *p)
{
	if (!p) {
		fprintf(stderr, "%s: out of memory\n", program_name);
		exit(STATUS_FAILED);
	}
	return p;
}

void *xalloc(size_t nr, size_t size)
{
	return gprof_large_pages(need(calloc(nr ? nr : 1, size)), nr * size);
}

void *xraw(size_t nr, size_t size)
{
	return gprof_large_pages(need(reallocarray(NULL, nr ? nr : 1, size)), nr * size);
}

void *xmore(void *array, size_t nr, size_t *room, size_t size)
{
	size_t more;

	if (nr < *room)
		return array;
	more = *room ? *room * 2 : 16;
	if (more > SIZE_MAX / size)
		return need(NULL);
	*room = more;
	return gprof_large_pages(need(realloc(array, more * size)), more * size);
}

void *xgrow(void *array, size_t nr, size_t *room, size_t size)
{
	size_t before = *room;

	array = xmore(array, nr, room, size);
	if (*room > before)
		memset((char *)array + before * size, 0, (*room - before) * size);
	return array;
}

char *vxprintf(const char *fmt, va_list ap)
{
	char *text = NULL;
	int n = vasprintf(&text, fmt, ap);

	return need(n < 0 ? NULL : text);
}

char *xprintf(const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	text = vxprintf(fmt, ap);
	va_end(ap);
	return text;
}
