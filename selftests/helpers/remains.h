/* SPDX-License-Identifier: GPL-2.0-only */
/* remains.h: what recorders leave behind once they are closed, which must be nothing. */
#ifndef GPROF_TEST_REMAINS_H
#define GPROF_TEST_REMAINS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Open recorders of the host, without the one that asks; UINT64_MAX on error. */
uint64_t open_recorders(void);

/* Wait for that: files are released a moment after the process that had them. */
bool recorders_become(uint64_t wanted);

/* Thread of that name, likewise by cgroup. */
pid_t thread_named(const char *name, const char *cgroup);

/*
 * Thread of the module that works for the recorders of a user, in that cgroup of version 2
 * ("/name"; NULL: in any), or 0.
 */
pid_t thread_for(uid_t user, const char *cgroup);

/* Wait until there is none: close leaves to others what takes it longer than half a second. */
bool thread_ends(uid_t user, const char *cgroup);

/* References on the module, or -1 where it cannot be told. */
long module_references(void);

/**
 * least_memlock() - what of RLIMIT_MEMLOCK the calling user needs for one more recorder
 *
 * The least limit, in pages, with which a small recorder of the caller can be set
 * up: what all recorders of the user are charged already, and one more. So two
 * equal answers mean that what happened in between has left no charge behind.
 * Meaningful only without CAP_IPC_LOCK and CAP_PERFMON, and while the module's
 * mlock_kb is 0.
 *
 * Return: pages, or -errno.
 */
long least_memlock(void);

/* The module's allowance beyond RLIMIT_MEMLOCK, a file that root alone may open. */
#define ALLOWANCE	"/sys/module/gprof/parameters/mlock_kb"

/* Has the kernel a function or a variable of this name? */
bool has_symbol(const char *name);

/**
 * is_debug_kernel() - is this a kernel with KASAN?
 *
 * Its allocations take memory that is nobody's charge, and what is not instrumented
 * costs a small part of what is.
 */
bool is_debug_kernel(void);

#endif
