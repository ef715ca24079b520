/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * trace_input.h: the bytes of a trace, from a file, a pipe, memory or a function.
 *
 * Read once from front to back through a small buffer. Bytes that are needed again later (the
 * events of a batch, when their turn comes) are *held*: in a file that can be sought in, and in
 * memory, that costs nothing but to know where it is; from a pipe it is copied.
 */
#ifndef GPROF_TRACE_INPUT_H
#define GPROF_TRACE_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "trace_memory.h"

enum gprof_trace_input_kind {
	GPROF_TRACE_INPUT_MEMORY,
	GPROF_TRACE_INPUT_FILE,		/* pread() */
	GPROF_TRACE_INPUT_STREAM,	/* @read */
};

/**
 * struct gprof_trace_input - where the bytes come from
 * @kind: how they are read
 * @fd: of a file or pipe
 * @base: offset in the file where the trace begins
 * @read: of a stream
 * @ctx: for @read
 * @offset: of the next byte, from the trace's first
 * @p: the next bytes
 * @avail: how many of them are there
 * @ended: nothing follows them
 * @buf: room of a file or stream
 * @memory: that @buf and the held bytes are taken from
 * @held: copies of a stream
 */
struct gprof_trace_input {
	enum gprof_trace_input_kind kind;
	int fd;
	off_t base;
	ssize_t (*read)(void *ctx, void *buf, size_t len);
	void *ctx;
	uint64_t offset;
	const unsigned char *p;
	size_t avail;
	bool ended;
	unsigned char *buf;
	struct gprof_trace_memory *memory;
	struct gprof_trace_arena held;
};

/**
 * union gprof_trace_held - bytes that can be had later
 * @p: where they are in memory
 * @offset: or in the file
 */
union gprof_trace_held {
	const unsigned char *p;
	uint64_t offset;
};

void gprof_trace_input_memory(struct gprof_trace_input *in, const void *data, size_t len);
/** gprof_trace_input_fd() - of a regular file from its position on, or of any other; 0 or -errno */
int gprof_trace_input_fd(struct gprof_trace_input *in, int fd);
int gprof_trace_input_stream(struct gprof_trace_input *in,
			     ssize_t (*read)(void *ctx, void *buf, size_t len), void *ctx);
void gprof_trace_input_free(struct gprof_trace_input *in);

/**
 * gprof_trace_input_want() - have bytes at hand
 * @in: input
 * @n: how many; at most GPROF_TRACE_BATCH_MAX
 *
 * Return: 0 with @in->avail >= @n, or less when the trace ends before; -errno.
 */
int gprof_trace_input_want(struct gprof_trace_input *in, size_t n);

/** gprof_trace_input_consume() - go past bytes that are at hand */
void gprof_trace_input_consume(struct gprof_trace_input *in, size_t n);

/**
 * gprof_trace_input_hold() - go past bytes that will be needed later
 * @in: input
 * @n: how many; at most GPROF_TRACE_BATCH_MAX
 * @held: where they are, until gprof_trace_input_unhold()
 *
 * Return: 1; 0 when the trace ends before; -errno.
 */
int gprof_trace_input_hold(struct gprof_trace_input *in, size_t n, union gprof_trace_held *held);

/** gprof_trace_input_unhold() - the bytes held so far are not needed any more */
void gprof_trace_input_unhold(struct gprof_trace_input *in);

/** gprof_trace_input_read() - @n held bytes of a file to @buf; 0 or -errno */
int gprof_trace_input_read(const struct gprof_trace_input *in, uint64_t offset, void *buf,
			   size_t n);

#endif /* GPROF_TRACE_INPUT_H */
