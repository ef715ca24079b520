/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * gprof/profile.h: profiles in memory, and as pprof files.
 *
 * A profile is a set of samples: a stack of locations, labels, and one value for each sample type.
 * The file format is pprof's profile.proto, gzipped
 * (github.com/google/pprof/blob/main/proto/profile.proto); files of `go tool pprof` can be read
 * here and the other way round.
 *
 * Threads. A profile, once there, is only read by all functions that take it as
 * const: any number of threads may do so at a time. Fork. A profile is plain
 * memory: both processes have it, and each frees its own.
 */
#ifndef GPROF_PROFILE_H
#define GPROF_PROFILE_H

#include <stddef.h>
#include <stdint.h>
#include <gprof/recorder.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gprof_profile;

/**
 * struct gprof_profile_opts - options of reading; all zero is the default
 * @sz: sizeof(struct gprof_profile_opts)
 * @memory_max: bytes that reading may take, the profile and a walk over it
 *	included; EFBIG beyond. 0: 1 GiB
 */
struct gprof_profile_opts {
	size_t sz;
	uint64_t memory_max;
};

/**
 * gprof_profile_read_opts() - read a pprof file
 * @fd: file, pipe or socket with a (gzipped) profile
 * @opts: or NULL
 *
 * The file may come from anyone. Files that pprof refuses are refused: ids that are 0 or there
 * twice, a string_table[0] that is not empty, samples with other than as many values as there are
 * types, and references that lead nowhere; but as for pprof, a location whose mapping_id leads
 * nowhere has no mapping. Time is linear in the size of the file, and memory too: a gzipped file
 * may unpack to 256 times its size (4 MiB at least), and its stacks may have 16 frames for each
 * byte of that, inlined ones counted, and a million beside.
 *
 * Return: profile for gprof_profile_free(), or NULL with errno (EBADMSG: not a
 * profile; EFBIG: larger than it may be; ENOMEM).
 */
GPROF_API struct gprof_profile *gprof_profile_read_opts(int fd,
							const struct gprof_profile_opts *opts);

/** gprof_profile_read() - likewise without options */
GPROF_API struct gprof_profile *gprof_profile_read(int fd);

/**
 * gprof_profile_merge() - one profile out of several, as of several runs
 * @profiles: the profiles, of one event (their period types are the same)
 * @nr: how many, at least 1
 *
 * Values of equal samples are added up, as pprof does: samples with the same places and labels;
 * places with the same mapping, address and lines; mappings of one size, one offset and one file,
 * by build-id or else by name. Of the types of values those are kept that all have. The time is
 * the first, the duration the sum, the period the longest. Samples that add up to 0 are left out.
 *
 * Return: profile for gprof_profile_free(), or NULL with errno (EINVAL: they do not go
 * together; ENOMEM).
 */
GPROF_API struct gprof_profile *
gprof_profile_merge(const struct gprof_profile *const *profiles, size_t nr);

struct gprof_profile_sum;

/* flags of gprof_profile_sum_add() */
#define GPROF_SUM_LAST_IN_USE	(1U << 0)	/* columns "inuse_*" are those of the last file */

/**
 * gprof_profile_sum_new() - begin one profile out of many files, or NULL with errno
 *
 * The result is that of gprof_profile_merge() of all, in the memory of the result alone and for
 * half of the work.
 */
GPROF_API struct gprof_profile_sum *gprof_profile_sum_new(void);
GPROF_API void gprof_profile_sum_free(struct gprof_profile_sum *s);

/**
 * gprof_profile_sum_add() - add a file to it
 * @s: sum, which one thread uses at a time
 * @data: the file, as gprof_profile_write() makes it
 * @size: bytes
 * @flags: GPROF_SUM_*
 *
 * Return: 0, or as gprof_profile_read() a negative errno, the sum being unchanged; of -ENOMEM it
 * may be the end. -EINVAL: it does not go together with those before.
 */
GPROF_API int gprof_profile_sum_add(struct gprof_profile_sum *s, const void *data, size_t size,
				    unsigned int flags);

/**
 * gprof_profile_sum_time() - label the samples of files that are added from now on with a time
 * @s: sum
 * @ns: their label time, as that of slices (struct gprof_recorder_config), in place of one that
 *	they have; below 0: they keep their labels
 */
GPROF_API void gprof_profile_sum_time(struct gprof_profile_sum *s, int64_t ns);

/** gprof_profile_sum_end() - free it; return the profile that gprof_profile_merge() makes of all */
GPROF_API struct gprof_profile *gprof_profile_sum_end(struct gprof_profile_sum *s);

/* flags of gprof_profile_diff() */
#define GPROF_DIFF_SUBTRACT	(1U << 0)	/* of two profiles of one run, one after the other */

/**
 * gprof_profile_diff() - the difference of two profiles
 * @profile: the profile
 * @base: profile to subtract
 * @flags: GPROF_DIFF_*
 *
 * Merged are @profile and @base with its values negated. As with pprof's -diff_base
 * the samples of the base keep apart by the label pprof::base=true, and shares are of
 * the base; with GPROF_DIFF_SUBTRACT, as with pprof's -base, equal samples cancel out.
 *
 * Return: as gprof_profile_merge().
 */
GPROF_API struct gprof_profile *gprof_profile_diff(const struct gprof_profile *profile,
						   const struct gprof_profile *base,
						   unsigned int flags);

/**
 * gprof_profile_write() - write a profile as gzipped pprof
 * @p: profile
 * @fd: where to
 *
 * Return: 0 or -errno.
 */
GPROF_API int gprof_profile_write(const struct gprof_profile *p, int fd);

/**
 * gprof_profile_write_to() - likewise to wherever a function puts it
 * @p: profile
 * @write: takes the next @len bytes; a return other than 0 ends the writing
 * @ctx: passed on
 *
 * @write has to return: no longjmp() or exception out of it.
 *
 * Return: 0, the return of @write, or -ENOMEM.
 */
GPROF_API int gprof_profile_write_to(const struct gprof_profile *p,
				     int (*write)(void *ctx, const void *data, size_t len),
				     void *ctx);

/** gprof_profile_free() - free a profile; NULL is fine */
GPROF_API void gprof_profile_free(struct gprof_profile *p);

/**
 * struct gprof_value_type - a column of values
 * @type: such as "samples", "cpu", "cycles"
 * @unit: such as "count", "nanoseconds"
 */
struct gprof_value_type {
	const char *type;
	const char *unit;
};

/** gprof_profile_types() - the columns; returns their number */
GPROF_API size_t gprof_profile_types(const struct gprof_profile *p,
				     const struct gprof_value_type **types);

/** gprof_profile_default_type() - index of the column to show unless told otherwise */
GPROF_API size_t gprof_profile_default_type(const struct gprof_profile *p);

/** gprof_profile_total() - sum of a column; the largest or smallest number if it does not fit */
GPROF_API int64_t gprof_profile_total(const struct gprof_profile *p, size_t type);

/**
 * gprof_profile_whole() - the whole for shares of a column, as pprof has it
 *
 * Return: the sum of the absolute values; in a difference, of those of the base alone. The largest
 * number if it does not fit.
 */
GPROF_API int64_t gprof_profile_whole(const struct gprof_profile *p, size_t type);

/** gprof_profile_comment() - i-th comment, or NULL past the last */
GPROF_API const char *gprof_profile_comment(const struct gprof_profile *p, size_t i);

/** gprof_profile_time() - start (ns of CLOCK_REALTIME) and duration (ns) */
GPROF_API void gprof_profile_time(const struct gprof_profile *p, int64_t *start_ns,
				  int64_t *duration_ns);

/**
 * gprof_profile_system_names() - name functions as the linker does, mangled
 * @p: profile that no other thread reads now
 * @on: from now on, or else as people do again
 */
GPROF_API void gprof_profile_system_names(struct gprof_profile *p, bool on);

/**
 * struct gprof_frame - one named frame of a stack
 * @function: name, never NULL; "0x..." or "[file+0x...]" where none is known
 * @file: source file or ""
 * @mapping: object file that the code is in, or ""
 * @line: source line or 0
 * @address: address or 0
 * @inlined: inlined into the next frame
 */
struct gprof_frame {
	const char *function;
	const char *file;
	const char *mapping;
	int64_t line;
	uint64_t address;
	bool inlined;
};

/**
 * gprof_profile_each() - call a function for each sample
 * @p: profile
 * @fn: gets the frames, leaf first, and the sample's values; a return other
 *	than 0 ends the walk
 * @ctx: passed on
 *
 * Walks may be nested. @fn has to return: no longjmp() or exception out of it.
 *
 * Return: 0, the return of @fn, or -ENOMEM.
 */
GPROF_API int gprof_profile_each(const struct gprof_profile *p,
				 int (*fn)(void *ctx, const struct gprof_frame *frames,
					   size_t nr_frames, const int64_t *values),
				 void *ctx);

/**
 * gprof_profile_filter() - leave samples out
 * @p: profile that no other thread reads now
 * @keep: as the function of gprof_profile_each(), but returns whether to keep the sample
 * @ctx: passed on
 *
 * Places that no sample has then are left out by gprof_profile_merge().
 *
 * Return: 0 or -ENOMEM, nothing being left out.
 */
GPROF_API int gprof_profile_filter(struct gprof_profile *p,
				   int (*keep)(void *ctx, const struct gprof_frame *frames,
					       size_t nr_frames, const int64_t *values),
				   void *ctx);

/**
 * gprof_profile_clear() - have 0 in place of a column's values
 * @p: profile that no other thread reads now
 * @type: number of the column; one that is not there is none
 *
 * For values that do not add up over merged profiles: of memory in use at the end of each, the
 * last profile's counts.
 */
GPROF_API void gprof_profile_clear(struct gprof_profile *p, size_t type);

/**
 * gprof_profile_label() - a label of the sample that gprof_profile_each(), or filter, is at
 * @p: profile
 * @key: "pid", "tid", "comm", "cpu"; where they are known "process.executable.name" (name of the
 *	process' first thread, else of its file), "ppid" (its parent when it was first seen),
 *	"time" (where there are slices of it, struct gprof_cpu_config), "stack" ("guessed": at least one frame was),
 *	"cgroup" (path in the hierarchy of cgroup v2) and the attributes that the process publishes
 *	as OpenTelemetry's process context (OTEP 4719): "service.name", "service.namespace",
 *	"service.version", "service.instance.id", "deployment.environment.name"; the thread's own
 *	(labels.h)
 * @num: gets the number of a numeric label
 *
 * To be called from within @fn only, in its thread; of nested walks over one
 * profile the innermost counts.
 *
 * Return: text of the label, "" for a numeric one, NULL when there is none.
 */
GPROF_API const char *gprof_profile_label(const struct gprof_profile *p, const char *key,
					  int64_t *num);

/**
 * struct gprof_profile_stack - a sample by the numbers of its parts
 * @locations: for gprof_profile_location(), leaf first; the same number is the same place
 * @nr_locations: how many
 * @labels: for gprof_profile_label_of(); samples with the same labels have the same number
 * @values: one for each type
 *
 * Closed. The arrays are the profile's.
 */
struct gprof_profile_stack {
	const uint32_t *locations;
	uint32_t nr_locations;
	uint32_t labels;
	const int64_t *values;
};

/**
 * gprof_profile_stack() - the @i-th sample, from 0
 * @p: profile
 * @i: which
 * @s: gets it
 *
 * For a walk of many samples: a caller looks up each location and each set of labels once, by
 * their numbers, which begin at 0 and have no gaps.
 *
 * Return: 0, or -ENOENT past the last.
 */
GPROF_API int gprof_profile_stack(const struct gprof_profile *p, size_t i,
				  struct gprof_profile_stack *s);

/**
 * gprof_profile_location() - the frames at a place: inlined ones first, innermost first
 * @p: profile
 * @location: number
 * @frames: gets them, where there is room for all
 * @room: of @frames; it may be 0
 *
 * Return: how many there are, at least 1; 0 past the last location.
 */
GPROF_API size_t gprof_profile_location(const struct gprof_profile *p, uint32_t location,
					struct gprof_frame *frames, size_t room);

/**
 * gprof_profile_forget_samples() - give up the samples, which take most of the memory
 * @p: profile that no other thread reads now; it has none from now on, and sums are 0
 */
GPROF_API void gprof_profile_forget_samples(struct gprof_profile *p);

/** gprof_profile_label_of() - as gprof_profile_label(), of the labels with a number */
GPROF_API const char *gprof_profile_label_of(const struct gprof_profile *p, uint32_t labels,
					     const char *key, int64_t *num);

/**
 * struct gprof_profile_mapping - a piece of an object file, as it lay in memory
 * @file: object file, or ""
 * @build_id: in hexadecimal, or ""
 * @start: first address
 * @limit: address after the last
 * @offset: of @start in the file, bytes
 *
 * Closed. The texts are the profile's.
 */
struct gprof_profile_mapping {
	const char *file;
	const char *build_id;
	uint64_t start;
	uint64_t limit;
	uint64_t offset;
};

/**
 * gprof_profile_mapping() - the @i-th mapping, from 0
 * @p: profile
 * @i: which
 * @m: gets it
 *
 * Return: 0, or -ENOENT past the last.
 */
GPROF_API int gprof_profile_mapping(const struct gprof_profile *p, size_t i,
				    struct gprof_profile_mapping *m);

#ifdef __cplusplus
}
#endif

#endif /* GPROF_PROFILE_H */
