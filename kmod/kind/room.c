// SPDX-License-Identifier: GPL-2.0-only
/*
 * kind: the table of sources, one row for each kind of recorder.
 *
 * Each folder of this room is a kind: the events that it sees, and the samples or the trace
 * that it makes of them. kind/source.h is the interface between a kind and the core.
 *
 * Contexts: system calls.
 * May include: sample and the rooms below.
 */
#include "source.c"
#include "source_cpu.c"
