/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * query.h: the query of a URL: KEY=VALUE&KEY=VALUE, with escapes.
 */
#ifndef GPROF_QUERY_H
#define GPROF_QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/**
 * gprof_query_get() - the first value of a key
 * @query: with its escapes, or NULL
 * @key: without
 * @value: gets it
 * @size: room there, with the NUL
 * @e: sentence
 *
 * Return: 1; 0 when the key is not there; -EINVAL for an escape that is none, a NUL, or a
 * value that is too long.
 */
int gprof_query_get(const char *query, const char *key, char *value, size_t size,
		    struct gprof_error *e);

/** gprof_count_parse() - a whole number, with k, M or G for 10^3, 10^6, 10^9; is it one? */
bool gprof_count_parse(const char *text, uint64_t *value);

/** gprof_seconds_parse() - "30", "0.5" as ns; is it a number above 0? At most 10^9 and a bit */
bool gprof_seconds_parse(const char *text, uint64_t *ns);

#endif /* GPROF_QUERY_H */
