/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The lines of perf sched timehist, of which there are as many as switches.
 */
#ifndef TOOLS_VIEWS_TIMEHIST_H
#define TOOLS_VIEWS_TIMEHIST_H

#include <stddef.h>
#include <stdint.h>

/* That a name takes at least. */
#define TIMEHIST_TASK	30

/* timehist_head() - print the head of the table */
void timehist_head(void);

/* timehist_time() - print a time, as the lines begin with it */
void timehist_time(int64_t ns);

/**
 * timehist_line() - print a line
 * @time: when the task left its CPU, in ns
 * @cpu: which
 * @task: its name, of at least TIMEHIST_TASK columns
 * @len: bytes of it
 * @off: how long it had been off a CPU, in ns
 * @delay: for how much of that it was woken
 * @ran: and on it
 */
void timehist_line(int64_t time, int64_t cpu, const char *task, size_t len, int64_t off,
		   int64_t delay, int64_t ran);

#endif /* TOOLS_VIEWS_TIMEHIST_H */
