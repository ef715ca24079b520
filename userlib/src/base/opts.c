// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * opts.c: public structs that may grow.
 */
#include "opts.h"

#include <errno.h>
#include <string.h>

static int check_size(size_t sz, size_t least, const char *what, struct gprof_error *e)
{
	if (sz >= least)
		return 0;
	return gprof_error_set(e, EINVAL, "sz is %zu; it must be sizeof(struct %s), at least %zu",
			       sz, what, least);
}

int gprof_opts_copy_in(void *to, size_t size, size_t least, const void *from, const char *what,
		       struct gprof_error *e)
{
	const unsigned char *p = from;
	size_t sz, i;
	int err;

	if (!from)
		return gprof_error_set(e, EINVAL, "the struct %s is NULL", what);
	memcpy(&sz, from, sizeof(sz));
	err = check_size(sz, least, what, e);
	if (err)
		return err;
	for (i = size; i < sz; i++)
		if (p[i])
			return gprof_error_set(e, E2BIG,
					       "the struct %s sets members that this libgprof does not "
					       "know; it is older than the program", what);
	memcpy(to, from, sz < size ? sz : size);
	return 0;
}

int gprof_opts_copy_out(void *to, const void *from, size_t size, size_t least, const char *what,
			struct gprof_error *e)
{
	unsigned char *p = to;
	size_t sz;
	int err;

	memcpy(&sz, to, sizeof(sz));
	err = check_size(sz, least, what, e);
	if (err)
		return err;
	if (sz > size)
		memset(p + size, 0, sz - size);
	memcpy(p + sizeof(sz), (const unsigned char *)from + sizeof(sz),
	       (sz < size ? sz : size) - sizeof(sz));
	return 0;
}
