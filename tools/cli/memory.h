/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory that a program cannot do without.
 */
#ifndef TOOLS_MEMORY_H
#define TOOLS_MEMORY_H

#include <stdarg.h>
#include <stddef.h>

/* xalloc() - zeroed memory of @nr elements of @size bytes; a sentence and exit without it */
void *xalloc(size_t nr, size_t size);
/* xraw() - likewise, not zeroed: for large arrays */
void *xraw(size_t nr, size_t size);
/* xgrow() - make room for one more element in an array of @nr */
void *xgrow(void *array, size_t nr, size_t *room, size_t size);
/* xmore() - likewise, but the new part is not zeroed: for large arrays */
void *xmore(void *array, size_t nr, size_t *room, size_t size);
/* xprintf() - a formatted string for free() */
char *xprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* vxprintf() - likewise */
char *vxprintf(const char *fmt, va_list ap);

#endif /* TOOLS_MEMORY_H */
