/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * task_text.h: a profile as text: each stack with the first of its values, most first.
 */
#ifndef GPROF_TASK_TEXT_H
#define GPROF_TASK_TEXT_H

#include <gprof/profile.h>

/** gprof_stacks_write() - write it to @fd, with @title before its total; 0 or -errno */
int gprof_stacks_write(const struct gprof_profile *p, int fd, const char *title);

#endif /* GPROF_TASK_TEXT_H */
