/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * recorder_bytes.h: the memory of a recorder, for a limit over many.
 */
#ifndef GPROF_RECORDER_BYTES_H
#define GPROF_RECORDER_BYTES_H

#include <stdint.h>

struct gprof_recorder;

/**
 * gprof_recorder_bytes() - memory of a recorder for the records that it has read, about
 * @r: recorder, in any state
 *
 * The profile that is made of that when it stops takes as much again.
 */
uint64_t gprof_recorder_bytes(struct gprof_recorder *r);

#endif /* GPROF_RECORDER_BYTES_H */
