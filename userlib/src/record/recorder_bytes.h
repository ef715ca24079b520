/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * recorder_bytes.h: what a recorder takes, for who has many.
 */
#ifndef GPROF_RECORDER_BYTES_H
#define GPROF_RECORDER_BYTES_H

#include <stdint.h>

struct gprof_recorder;

/**
 * gprof_recorder_bytes() - about what a recorder has in memory of what it has read
 * @r: recorder, in any state
 *
 * The profile that is made of that when it stops takes as much again.
 */
uint64_t gprof_recorder_bytes(struct gprof_recorder *r);

#endif /* GPROF_RECORDER_BYTES_H */
