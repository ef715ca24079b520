/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * own_process.h: a number that tells a process from its forked children.
 */
#ifndef GPROF_OWN_PROCESS_H
#define GPROF_OWN_PROCESS_H

#include <stdint.h>

/**
 * gprof_own_process() - a number of this process that none of its children has
 *
 * The one that getpid() gives is a child's, too, where each has a pid namespace of its own.
 *
 * Return: never 0.
 */
uint64_t gprof_own_process(void);

#endif /* GPROF_OWN_PROCESS_H */
