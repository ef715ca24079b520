/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * pprof_into.h: a pprof file is read into a profile that has others already.
 */
#ifndef GPROF_PPROF_INTO_H
#define GPROF_PPROF_INTO_H

#include <stddef.h>

#include "locations.h"
#include "profile.h"

/**
 * gprof_pprof_read_into() - read a file, and append it
 * @p: profile; its head, columns among it, becomes the file's
 * @places: of it: equal mappings and locations are not added again
 * @data: the file
 * @size: bytes
 *
 * Samples are appended, their labels in order; whether there were such before is not looked at.
 *
 * Return: 0, or -errno as gprof_profile_read(): then there may be some samples more, which the
 * caller removes, and unused locations.
 */
int gprof_pprof_read_into(struct gprof_profile *p, struct gprof_locations *places, const void *data,
			  size_t size);

#endif /* GPROF_PPROF_INTO_H */
