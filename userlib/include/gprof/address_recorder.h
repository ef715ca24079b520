/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * gprof/address_recorder.h: a CPU profile of addresses, for a program that links libgprof-core alone.
 *
 *	struct gprof_cpu_config cfg = {
 *		.sz = sizeof(cfg), .target = { .type = GPROF_SELF },
 *	};
 *	struct gprof_address_recorder *r = gprof_address_recorder_new(&cfg);
 *
 *	if (!r || gprof_address_recorder_start(r))
 *		errx(1, "%s", gprof_error());
 *	for (int i = 0; i < 10; i++) {
 *		work();
 *		gprof_address_recorder_read(r);
 *	}
 *	if (gprof_address_recorder_stop(r) || gprof_address_recorder_write(r, fd, NULL))
 *		errx(1, "%s", gprof_error());
 *	gprof_address_recorder_free(r);
 *
 * The output is pprof without names: a location is an address in a mapping, which has its file and
 * build-id. "gprofctl symbolize" or pprof names the functions, there or on another host. It is not
 * compressed, which pprof's readers accept.
 *
 * The recorder makes no unwind tables: where the module has none of a file yet, stacks go by frame
 * pointers. There the caller of the innermost frame may be a guess; such samples have the label
 * stack=guessed. No thread is started. Threads: one at a time. Fork: as for gprof/recorder.h.
 */
#ifndef GPROF_ADDRESS_RECORDER_H
#define GPROF_ADDRESS_RECORDER_H

#include <stddef.h>
#include <stdint.h>
#include <gprof/recorder.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gprof_address_recorder;

/**
 * gprof_address_recorder_new() - make a recorder
 * @cfg: as for gprof_cpu_recorder_new(), with one event at most; its @flight, @python and @slice_ns
 *	are refused (EINVAL). Copied, but for the event's name, which must live as long
 *
 * Return: a recorder, or NULL with errno and a sentence from gprof_error(), as for
 * gprof_cpu_recorder_new().
 */
GPROF_API struct gprof_address_recorder *
gprof_address_recorder_new(const struct gprof_cpu_config *cfg);

/** gprof_address_recorder_start() - begin; 0 or -errno; -EBUSY when it was started before */
GPROF_API int gprof_address_recorder_start(struct gprof_address_recorder *r);

/**
 * gprof_address_recorder_read() - empty the kernel's buffers, so that they do not overflow
 *
 * A buffer of the default size holds some 20,000 samples. Samples that find it full are lost, and
 * counted. Memory grows with the number of different stacks.
 *
 * Return: 0 or -errno: -ENOMEM, -EBADMSG.
 */
GPROF_API int gprof_address_recorder_read(struct gprof_address_recorder *r);

/** gprof_address_recorder_stop() - end, and read the rest; 0 or -errno, as for reading */
GPROF_API int gprof_address_recorder_stop(struct gprof_address_recorder *r);

/**
 * struct gprof_address_counts - samples of a recording
 * @sz: sizeof(struct gprof_address_counts), set by the caller
 * @produced: by the kernel: the sum of the other three
 * @read: in the profile
 * @lost: not in a buffer
 * @overwritten: 0
 * @unmapped: frames of which no mapping is known; their locations have none
 */
struct gprof_address_counts {
	size_t sz;
	uint64_t produced;
	uint64_t read;
	uint64_t lost;
	uint64_t overwritten;
	uint64_t unmapped;
};

/**
 * gprof_address_recorder_write() - write the profile
 * @r: recorder that was stopped (-EBUSY)
 * @fd: where to: a file, a pipe or a socket; not closed
 * @counts: gets the counts, or NULL
 *
 * Return: 0 or -errno of writing.
 */
GPROF_API int gprof_address_recorder_write(struct gprof_address_recorder *r, int fd,
					   struct gprof_address_counts *counts);

/** gprof_address_recorder_free() - free a recorder, stopping it first; NULL is fine */
GPROF_API void gprof_address_recorder_free(struct gprof_address_recorder *r);

#ifdef __cplusplus
}
#endif

#endif /* GPROF_ADDRESS_RECORDER_H */
