/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The time of each system call in a trace of the host.
 */
#ifndef TOOLS_VIEWS_SYSCALLS_H
#define TOOLS_VIEWS_SYSCALLS_H

#include <stdbool.h>

#define SYSCALLS_ROWS	25	/* by default */

/**
 * struct syscalls_opts - how it is printed
 * @threads: a row for a system call of each thread
 * @rows: at most, those of the most time; 0 for all
 * @json: all rows as JSON with stable keys
 */
struct syscalls_opts {
	bool threads;
	unsigned long long rows;
	bool json;
};

/* syscalls_print() - print the table of a trace of the host, by its path; the exit status */
int syscalls_print(const char *file, const struct syscalls_opts *o);

#endif /* TOOLS_VIEWS_SYSCALLS_H */
