/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The regions and tasks that programs tell of in a trace, by type.
 */
#ifndef TOOLS_VIEWS_REGIONS_H
#define TOOLS_VIEWS_REGIONS_H

#include <stdbool.h>

#include <gprof/trace.h>

/**
 * regions_print() - how long they lasted, and the states of their threads meanwhile
 * @t: trace of a host or of a Go program, from its begin
 * @name: for sentences
 * @json: as JSON with stable keys
 *
 * Return: the exit status.
 */
int regions_print(struct gprof_trace *t, const char *name, bool json);

#endif /* TOOLS_VIEWS_REGIONS_H */
