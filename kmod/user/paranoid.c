// SPDX-License-Identifier: GPL-2.0-only
/*
 * paranoid: the administrator's setting for perf.
 *
 * Above 2, kernel.perf_event_paranoid takes perf_event_open(2) from all users that lack
 * CAP_PERFMON (in the kernels of Debian, Ubuntu and Android; elsewhere such a value
 * means the same as 2, and can only have been meant so). It must not come back through
 * us. The kernel exports neither the number nor a function that tells it; so it is
 * read from where the administrator writes it.
 */
#include "paranoid.h"
#include "task/procfs.h"

#include <linux/kernel.h>

#define FOR_ALL		2	/* at most: one's own tasks, in user mode */

/**
 * gprof_perf_is_for_all() - may those without CAP_PERFMON count events of perf?
 *
 * A file that cannot be read forbids.
 *
 * Context: Task.
 */
bool gprof_perf_is_for_all(void)
{
	char text[16];
	int level;

	return gprof_procfs_read("sys/kernel/perf_event_paranoid", NULL, text, sizeof(text)) > 0 &&
	       !kstrtoint(text, 10, &level) && level <= FOR_ALL;
}
