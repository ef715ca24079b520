/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * States of a Go program's threads in the kernel, by its own trace and that of the host.
 */
#ifndef TOOLS_VIEWS_JOIN_H
#define TOOLS_VIEWS_JOIN_H

#include <stdbool.h>

/**
 * join_print() - a table of it
 * @kernel: path of a trace that gprof has recorded
 * @go: path of one that the Go program wrote at the same time
 * @json: as JSON with stable keys, and with each interval
 *
 * Return: the exit status.
 */
int join_print(const char *kernel, const char *go, bool json);

#endif /* TOOLS_VIEWS_JOIN_H */
