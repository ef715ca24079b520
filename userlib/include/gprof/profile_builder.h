/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * gprof/profile_builder.h: profiles of anything that a program counts by itself.
 *
 *	const struct gprof_value_type types[] = { { "jobs", "count" } };
 *	struct gprof_profile_builder_config cfg = {
 *		.sz = sizeof(cfg), .types = types, .nr_types = 1,
 *	};
 *	struct gprof_profile_builder *b = gprof_profile_builder_new(&cfg);
 *	const struct gprof_frame stack[] = {
 *		{ .function = "resize", .file = "image.c", .line = 12 },
 *		{ .function = "serve" },
 *	};
 *	const struct gprof_tag tag = { .key = "customer", .text = "17" };
 *	const int64_t jobs = 3;
 *	struct gprof_profile *p;
 *
 *	if (!b || gprof_profile_builder_add(b, stack, 2, &tag, 1, &jobs))
 *		errx(1, "%s", gprof_error());
 *	p = gprof_profile_builder_finish(b);
 *	if (!p || gprof_profile_write(p, fd))
 *		errx(1, "%s", gprof_error());
 *	gprof_profile_free(p);
 *	gprof_profile_builder_free(b);
 *
 * Threads. A builder is used by one thread at a time. Fork. It is plain memory: both
 * processes have it, and each frees its own.
 */
#ifndef GPROF_PROFILE_BUILDER_H
#define GPROF_PROFILE_BUILDER_H

#include <stddef.h>
#include <stdint.h>
#include <gprof/base.h>
#include <gprof/profile.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gprof_profile_builder;

/**
 * struct gprof_profile_builder_config - types and period of a profile
 * @sz: sizeof(struct gprof_profile_builder_config)
 * @types: of the values of a sample; no two of one name
 * @nr_types: how many, at least 1
 * @default_type: name of the one to show; NULL: the last, as pprof has it
 * @period_type: unit of @period; NULLs: not known
 * @period: likewise; 0: not said
 */
struct gprof_profile_builder_config {
	size_t sz;
	const struct gprof_value_type *types;
	size_t nr_types;
	const char *default_type;
	struct gprof_value_type period_type;
	int64_t period;
};

/**
 * gprof_profile_builder_new() - make a builder
 * @cfg: copied
 *
 * Return: builder for gprof_profile_builder_free(), or NULL with errno.
 */
GPROF_API struct gprof_profile_builder *
gprof_profile_builder_new(const struct gprof_profile_builder_config *cfg);

/** gprof_profile_builder_free() - free a builder and its unfinished profile; NULL is fine */
GPROF_API void gprof_profile_builder_free(struct gprof_profile_builder *b);

/**
 * gprof_profile_builder_add() - add values to the sample with this stack and these labels
 * @b: builder
 * @frames: the stack, leaf first; all text is copied. A NULL is as good as "", and a
 *	frame needs a function, an address, or both. Frames that are inlined go with the
 *	next one that is not, of which the address and the mapping are
 * @nr_frames: how many; 0 is fine
 * @tags: labels, or NULL
 * @nr_tags: how many
 * @values: one for each type; a sum that does not fit stays at the limit
 *
 * Return: 0 or -errno (EINVAL: a frame that is nothing, a label without a key, or a last
 * frame that is inlined).
 */
GPROF_API int gprof_profile_builder_add(struct gprof_profile_builder *b,
					const struct gprof_frame *frames, size_t nr_frames,
					const struct gprof_tag *tags, size_t nr_tags,
					const int64_t *values);

/** gprof_profile_builder_comment() - add a comment; 0 or -errno */
GPROF_API int gprof_profile_builder_comment(struct gprof_profile_builder *b, const char *text);

/** gprof_profile_builder_time() - start (ns of CLOCK_REALTIME) and duration (ns) */
GPROF_API void gprof_profile_builder_time(struct gprof_profile_builder *b, int64_t start_ns,
					  int64_t duration_ns);

/**
 * gprof_profile_builder_finish() - take the profile
 * @b: builder; it is empty again, for another profile of the same kind
 *
 * Return: profile for gprof_profile_free(), or NULL with errno, @b as it was.
 */
GPROF_API struct gprof_profile *gprof_profile_builder_finish(struct gprof_profile_builder *b);

#ifdef __cplusplus
}
#endif

#endif /* GPROF_PROFILE_BUILDER_H */
