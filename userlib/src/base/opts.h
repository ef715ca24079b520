/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * opts.h: public structs that may grow.
 *
 * Such a struct begins with its size, as the caller was compiled with it. Members are only ever
 * appended, behind the sizeof that was published last, so that the size says which are there.
 */
#ifndef GPROF_OPTS_H
#define GPROF_OPTS_H

#include <stddef.h>

#include "error.h"

/* Bytes of a struct up to and with a member: of its first version, with the last then. */
#define GPROF_SIZE_WITH(type, member) \
	(offsetof(type, member) + sizeof(((type *)NULL)->member))

/**
 * gprof_opts_copy_in() - copy a caller's struct
 * @to: all 0; members that the caller does not have stay so
 * @size: sizeof(*@to)
 * @least: of the struct's first version
 * @from: the caller's, which begins with a size_t sz
 * @what: name for the sentence, such as "gprof_trace_opts"
 * @e: sentence, or NULL
 *
 * Return: 0, -EINVAL for a size below @least, -E2BIG when something is set that
 * this library does not know.
 */
int gprof_opts_copy_in(void *to, size_t size, size_t least, const void *from, const char *what,
		       struct gprof_error *e);

/**
 * gprof_opts_copy_out() - fill in a caller's struct
 * @to: the caller's, whose size_t sz is set
 * @from: the values
 * @size: sizeof(*@from)
 * @least: of the struct's first version
 * @what: name for the sentence
 * @e: sentence, or NULL
 *
 * Members of the caller's beyond @size become 0.
 *
 * Return: 0 or -EINVAL.
 */
int gprof_opts_copy_out(void *to, const void *from, size_t size, size_t least, const char *what,
			struct gprof_error *e);

#endif /* GPROF_OPTS_H */
