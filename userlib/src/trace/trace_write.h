/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * trace_write.h: what of a trace that is being written is a trace already.
 */
#ifndef GPROF_TRACE_WRITE_PRIVATE_H
#define GPROF_TRACE_WRITE_PRIVATE_H

#include <gprof/trace_write.h>

/**
 * struct gprof_trace_whole - the beginning of a file that readers take
 * @bytes: of it
 * @generations: that are in it; where there is none, it is no trace
 */
struct gprof_trace_whole {
	uint64_t bytes;
	uint64_t generations;
};

/** gprof_trace_writer_whole() - what would be left if nothing more were written */
struct gprof_trace_whole gprof_trace_writer_whole(const struct gprof_trace_writer *w);

#endif /* GPROF_TRACE_WRITE_PRIVATE_H */
