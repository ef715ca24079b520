/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Work queues.
 *
 * system_dfl_wq: 6.17; before, system_unbound_wq, whose use makes newer kernels warn.
 */
#ifndef GPROF_COMPAT_WORKQUEUE_H
#define GPROF_COMPAT_WORKQUEUE_H

#include <linux/workqueue.h>

#ifndef GPROF_HAVE_SYSTEM_DFL_WQ
#define system_dfl_wq	system_unbound_wq
#endif

#endif /* GPROF_COMPAT_WORKQUEUE_H */
