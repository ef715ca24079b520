/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * gprof/core.h: the rings of a program's recorders in its core dump.
 *
 *	struct gprof_core *c = gprof_core_open(fd);
 *
 *	if (!c || gprof_core_trace(c, 0, 1))
 *		errx(1, "%s", gprof_error());
 *	gprof_core_free(c);
 *
 * The buffers that a process maps from /dev/gprof are part of its core dump, unless it
 * said MADV_DONTDUMP of them; so the last that its recorders saw is there. Of a flight
 * recorder that is all that it held; of another a second or two, by the time of its
 * generations, whether that had been read or not.
 *
 * Memory. The buffers of one recorder while one of these functions runs. Any file may be
 * given: one that makes no sense is refused with a sentence. Threads. An object is used by
 * one thread at a time. Fork. It is plain memory, and a descriptor that is only read by
 * place: a child may go on with it.
 */
#ifndef GPROF_CORE_H
#define GPROF_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <gprof/profile.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gprof_core;

/**
 * gprof_core_open() - look for recorders in a core dump
 * @fd: ELF core file that can be read at any place; borrowed until gprof_core_free()
 *
 * Return: an object for gprof_core_free(), or NULL with errno and a sentence from gprof_error():
 * ENOEXEC for a file that is no core dump of this kind of machine, ENOENT for one without
 * recorders, EBADMSG for one that makes no sense.
 */
GPROF_API struct gprof_core *gprof_core_open(int fd);

/**
 * struct gprof_core_recorder - a recorder of the program
 * @sz: sizeof(struct gprof_core_recorder), set by the caller
 * @id: of the recorder, when it lived
 * @kind: such as "trace" or "cpu"; "unknown" for one that is newer than this library
 * @flight: it was a flight recorder
 * @buffers: CPUs whose buffers are there
 * @bytes: of one of them
 * @produced: samples and events, on these CPUs
 * @lost: of these, those that never were in a buffer
 * @overwritten: that a flight recorder has given up
 */
struct gprof_core_recorder {
	size_t sz;
	uint64_t id;
	const char *kind;
	bool flight;
	size_t buffers;
	uint64_t bytes;
	uint64_t produced;
	uint64_t lost;
	uint64_t overwritten;
};

/** gprof_core_recorders() - how many there are, in the order of their ids */
GPROF_API size_t gprof_core_recorders(const struct gprof_core *c);

/** gprof_core_recorder() - the i-th of them; 0, -EINVAL for one that is not there */
GPROF_API int gprof_core_recorder(const struct gprof_core *c, size_t i,
				  struct gprof_core_recorder *recorder);

/**
 * gprof_core_trace() - write the trace that a recorder of traces held
 * @c: dump
 * @i: which recorder
 * @fd: where to; not closed
 *
 * Return: 0 or -errno: -EINVAL for a recorder of another kind, -EBADMSG, or an error of writing.
 */
GPROF_API int gprof_core_trace(struct gprof_core *c, size_t i, int fd);

/**
 * gprof_core_profile() - the profile that another recorder held
 * @c: dump
 * @i: which recorder
 * @profile: gets it, for gprof_profile_free(); NULL on failure
 *
 * The dump does not have the period: the values are samples, and their weights in units of the
 * recorder's period.
 *
 * Return: 0 or -errno, as for gprof_core_trace().
 */
GPROF_API int gprof_core_profile(struct gprof_core *c, size_t i, struct gprof_profile **profile);

/** gprof_core_free() - NULL is fine */
GPROF_API void gprof_core_free(struct gprof_core *c);

#ifdef __cplusplus
}
#endif

#endif /* GPROF_CORE_H */
