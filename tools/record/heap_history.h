/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The memory in use over time: what it was at its peak and at the end, and a picture.
 */
#ifndef TOOLS_HEAP_HISTORY_H
#define TOOLS_HEAP_HISTORY_H

#include <stdint.h>

#include <gprof/recorder.h>

/**
 * heap_history() - report it
 * @r: stopped recorder of a heap, over time where the module can
 * @file: its profile
 * @svg: picture to write, or NULL
 * @grown_since: ns after the start since when growth was asked for, 0: it was not
 *
 * Return: STATUS_OK, or another status after a sentence.
 */
int heap_history(struct gprof_recorder *r, const char *file, const char *svg, int64_t grown_since);

#endif /* TOOLS_HEAP_HISTORY_H */
