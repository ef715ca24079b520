// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * pprof_reader.c: functions for all parts of a pprof file.
 */
#include "pprof_reader.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "pprof_plain.h"

int gprof_pprof_bad(const struct gprof_pprof_reader *r, const char *what)
{
	return gprof_error_set(r->error, EBADMSG, "the file is not a profile: %s", what);
}

int gprof_pprof_invalid(const struct gprof_pprof_reader *r)
{
	return gprof_pprof_bad(r, "it does not follow profile.proto");
}

int gprof_pprof_no_memory(const struct gprof_pprof_reader *r)
{
	if (r->p->budget.exceeded)
		return gprof_pprof_exceeded(&r->p->budget, r->error);
	return gprof_error_set(r->error, ENOMEM, "no memory for the profile");
}

int gprof_pprof_numbers(const struct gprof_pprof_reader *r, const struct gprof_pprof_part *message,
			uint64_t *values, size_t nr)
{
	const unsigned char *p = message->data, *end = p + message->len;

	memset(values, 0, nr * sizeof(*values));
	while (p < end) {
		struct gprof_pprof_parts parts = { p, (size_t)(end - p) };
		const unsigned char *at = p + 1;
		struct gprof_pprof_part part;
		uint64_t value;

		/* Nearly all are small numbers, which need nothing in memory. */
		if (p[0] / 8U - 1 < nr - 1 && !(p[0] & 0x87) &&
		    gprof_varint_small(&at, end, &value)) {
			values[p[0] / 8] = value;
			p = at;
			continue;
		}
		if (gprof_pprof_parts_next_any(&parts, &part) < 0)
			return gprof_pprof_invalid(r);
		p = parts.p;
		if (part.field >= nr)
			continue;
		if (part.type)
			return gprof_pprof_invalid(r);
		values[part.field] = part.value;
	}
	return 0;
}

int gprof_pprof_each(struct gprof_pprof_reader *r, unsigned int field,
		     int (*take)(struct gprof_pprof_reader *r, const struct gprof_pprof_part *part))
{
	struct gprof_pprof_parts parts = r->kinds[field];
	struct gprof_pprof_part part;
	int err = 0;

	while (!err && gprof_pprof_parts_next(&parts, &part) > 0)
		if (part.field == field)
			err = take(r, &part);
	return err;
}
