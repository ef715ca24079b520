// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * loss.c: samples that the kernel lost, and why.
 */
#include "loss.h"

static const char *const lost_reasons[GPROF_LOST_NR] = {
	[GPROF_LOST_FULL] = "the buffer was full; a larger buffer or a longer period helps",
	[GPROF_LOST_BAD_TAIL] = "the reader's position made no sense",
	[GPROF_LOST_NESTED] = "interrupts were nested deeper than there is memory for",
	[GPROF_LOST_NO_BUFFER] = "a CPU came, or a process was forked, for which there was no memory yet",
	[GPROF_LOST_WAIT] = "too many tasks waited at once, or one was gone before its stack could be taken",
	[GPROF_LOST_QUOTA] = "a user's annotations or new names took more than its share of a flight ring",
};

uint64_t gprof_device_lost(const struct gprof_stats *st)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < GPROF_LOST_SLOTS; i++)
		sum += st->out_lost[i];
	return sum;
}

const char *gprof_device_lost_reason(size_t i)
{
	return i < GPROF_LOST_NR ? lost_reasons[i] :
				   "for a reason that only a newer library can name";
}
