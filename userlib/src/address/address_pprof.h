/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * address_pprof.h: samples as pprof whose locations are addresses in mappings.
 */
#ifndef GPROF_ADDRESS_PPROF_H
#define GPROF_ADDRESS_PPROF_H

#include <stddef.h>
#include <stdint.h>

#include "address_samples.h"

/**
 * struct gprof_address_head - fields of a profile beside its samples
 * @type: of the weights
 * @unit: of the weights
 * @period: events per sample
 * @time_ns: begin, ns since 1970
 * @duration_ns: from there to the end
 * @comments: texts
 * @nr_comments: how many
 */
struct gprof_address_head {
	const char *type;
	const char *unit;
	uint64_t period;
	uint64_t time_ns;
	uint64_t duration_ns;
	const char *const *comments;
	size_t nr_comments;
};

/**
 * gprof_address_pprof_write() - write them
 * @s: samples; texts are added
 * @head: the rest
 * @fd: where to
 * @unmapped: gets the number of frames without a mapping
 *
 * Return: 0 or -errno: -ENOMEM, or of writing, without a sentence.
 */
int gprof_address_pprof_write(struct gprof_address_samples *s,
			      const struct gprof_address_head *head, int fd, uint64_t *unmapped);

#endif /* GPROF_ADDRESS_PPROF_H */
