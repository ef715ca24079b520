/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * trace_memory.h: memory of a trace reader, counted and limited.
 *
 * A trace is not trusted: all memory for its state is allocated here, so that no input takes more
 * than the caller allowed.
 */
#ifndef GPROF_TRACE_MEMORY_H
#define GPROF_TRACE_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/**
 * struct gprof_trace_memory - limit of memory, and its use
 * @used: bytes held
 * @peak: most that were held at a time
 * @max: limit
 * @seed: for hashes of its contents
 */
struct gprof_trace_memory {
	uint64_t used;
	uint64_t peak;
	uint64_t max;
	uint64_t seed;
};

/** gprof_trace_memory_init() - nothing is held yet, of @max bytes */
void gprof_trace_memory_init(struct gprof_trace_memory *m, uint64_t max);


/** gprof_trace_alloc() - malloc() within the limit; NULL with errno ENOMEM or EFBIG */
void *gprof_trace_alloc(struct gprof_trace_memory *m, size_t size);
void gprof_trace_release(struct gprof_trace_memory *m, void *p, size_t size);

/**
 * gprof_trace_grow() - make room in an array
 * @m: memory
 * @array: pointer to the array's pointer
 * @cap: its capacity in elements
 * @need: elements that it must hold
 * @size: bytes of an element
 *
 * Return: 0, -ENOMEM or -EFBIG, the array being untouched.
 */
int gprof_trace_grow(struct gprof_trace_memory *m, void *array, size_t *cap, size_t need,
		     size_t size);

struct gprof_trace_chunk;

/**
 * struct gprof_trace_arena - bytes that live until all of them are given up
 * @chunks: the current one first
 * @p: free bytes of it
 * @left: how many
 */
struct gprof_trace_arena {
	struct gprof_trace_chunk *chunks;
	unsigned char *p;
	size_t left;
};

/** gprof_trace_arena_alloc() - @size bytes without alignment; NULL with errno */
void *gprof_trace_arena_alloc(struct gprof_trace_memory *m, struct gprof_trace_arena *a,
			      size_t size);
/** gprof_trace_arena_clear() - free all bytes, but for one chunk */
void gprof_trace_arena_clear(struct gprof_trace_memory *m, struct gprof_trace_arena *a);
void gprof_trace_arena_free(struct gprof_trace_memory *m, struct gprof_trace_arena *a);

#endif /* GPROF_TRACE_MEMORY_H */
