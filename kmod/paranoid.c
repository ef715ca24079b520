// SPDX-License-Identifier: GPL-2.0-only
/*
 * paranoid: what the administrator says of perf.
 *
 * Above 2, kernel.perf_event_paranoid takes perf_event_open(2) from all who lack
 * CAP_PERFMON (in the kernels of Debian, Ubuntu and Android; elsewhere such a value
 * means what 2 does, and can only have been meant so). It must not come back through
 * us. The kernel exports neither the number nor a function that tells it; so it is
 * read from where the administrator writes it.
 *
 * By a worker, who sees the files of the first mount namespace and not those of who
 * asks, who could have put another file in its place.
 */
#include "paranoid.h"
#include "compat/workqueue.h"

#include <linux/err.h>
#include <linux/fs.h>
#include <linux/kernel.h>

#define FILE_NAME	"/proc/sys/kernel/perf_event_paranoid"
#define FOR_ALL		2	/* at most: one's own tasks, in user mode */

struct question {
	struct work_struct work;
	bool for_all;
};

/* What cannot be read forbids. */
static void ask(struct work_struct *work)
{
	struct question *q = container_of(work, struct question, work);
	struct file *file = filp_open(FILE_NAME, O_RDONLY, 0);
	char text[16] = "";
	loff_t at = 0;
	int level;

	if (IS_ERR(file))
		return;
	if (kernel_read(file, text, sizeof(text) - 1, &at) > 0 && !kstrtoint(text, 10, &level))
		q->for_all = level <= FOR_ALL;
	filp_close(file, NULL);
}

/**
 * gprof_perf_is_for_all() - may those without CAP_PERFMON count events of perf?
 *
 * Context: Task.
 */
bool gprof_perf_is_for_all(void)
{
	struct question q = {};

	INIT_WORK_ONSTACK(&q.work, ask);
	queue_work(system_dfl_wq, &q.work);
	flush_work(&q.work);
	destroy_work_on_stack(&q.work);
	return q.for_all;
}
