// SPDX-License-Identifier: GPL-2.0-only
/*
 * gprof: precise profiles of every program on the host.
 *
 * The table of contents: the parts, in the order in which they depend on
 * each other.
 */
#include "clock/cycles.h"
#include "clock/clock.h"
#include "compat/workqueue.h"
#include "core/dev.h"
#include "core/netlink.h"
#include "kind/alloc/alloc_probe.h"
#include "kind/alloc/mm_id.h"
#include "kind/cpu/counter_attach.h"
#include "kind/cpu/timer.h"
#include "mm/mm_watch.h"
#include "probe/tp_mux.h"
#include "probe/tracepoint.h"
#include "sample/capture.h"
#include "target/task_set.h"
#include "task/procfs.h"
#include "unwind/user_fp.h"
#include "unwind/lookup.h"
#include "user/later.h"

#include <linux/init.h>
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/printk.h>

static int __init gprof_init(void)
{
	int err;

	gprof_cycles_init();
	gprof_user_fp_prepare();
	err = gprof_clock_init();
	if (err)
		return err;
	err = gprof_procfs_init();
	if (err)
		goto err_clock;
	err = gprof_mm_watch_init();
	if (err)
		goto err_procfs;
	gprof_lookup_init();
	err = gprof_captures_init();
	if (err)
		goto err_mm_watch;
	err = gprof_counter_attach_init();
	if (err)
		goto err_captures;
	err = gprof_timers_init();
	if (err)
		goto err_attach;
	err = gprof_netlink_init();
	if (err)
		goto err_timers;
	err = gprof_later_init();
	if (err)
		goto err_netlink;
	err = gprof_dev_init();
	if (err)
		goto err_later;
	return 0;

err_later:
	gprof_later_exit();
err_netlink:
	gprof_netlink_exit();
err_timers:
	gprof_timers_exit();
err_attach:
	gprof_counter_attach_exit();
err_captures:
	gprof_captures_exit();
err_mm_watch:
	gprof_mm_watch_exit();
err_procfs:
	gprof_procfs_exit();
err_clock:
	gprof_clock_exit();
	return err;
}

static const char *waits_for;

static void report_wait(struct work_struct *work);
static DECLARE_DELAYED_WORK(wait_reporter, report_wait);

/* After a second, and whenever it waits for something else then. */
static void report_wait(struct work_struct *work)
{
	static const char *told;
	const char *now = READ_ONCE(waits_for);

	if (now != told)
		pr_info("unloading waits for %s\n", now);
	told = now;
	queue_delayed_work(system_dfl_wq, &wait_reporter, HZ);
}

static const struct {
	void (*exit)(void);
	const char *waits_for;
} exits[] = {
	{ gprof_dev_exit, "a process that opens the device" },
	{ gprof_later_exit, "closed recorders: grace periods of RCU, locks of others" },
	{ gprof_netlink_exit, "requests over netlink" },
	{ gprof_timers_exit, "CPUs that come or go" },
	{ gprof_counter_attach_exit, "CPUs that come or go" },
	{ gprof_alloc_probes_exit, "processes that keep their address space locked" },
	{ gprof_tp_mux_exit, "grace periods of tracepoints" },
	{ gprof_tracepoints_exit, "grace periods of tracepoints" },
	{ gprof_task_sets_exit, "a grace period of RCU-tasks" },
	{ gprof_mm_ids_forget, "processes that end" },
	{ gprof_lookup_exit, "locks of processes that were looked up" },
	{ gprof_mm_watch_exit, "processes that unmap, and a grace period of RCU" },
	{ gprof_captures_exit, "a grace period of RCU" },
	{ gprof_procfs_exit, "its mount of /proc" },
	{ gprof_clock_exit, "the clock" },
};

static void __exit gprof_exit(void)
{
	unsigned int i;

	queue_delayed_work(system_dfl_wq, &wait_reporter, HZ);
	for (i = 0; i < ARRAY_SIZE(exits); i++) {
		WRITE_ONCE(waits_for, exits[i].waits_for);
		exits[i].exit();
	}
	cancel_delayed_work_sync(&wait_reporter);
}

module_init(gprof_init);
module_exit(gprof_exit);

MODULE_DESCRIPTION("Profiles, traces and statistics of every program on the host");
MODULE_AUTHOR("The gprof authors");
MODULE_LICENSE("GPL");
MODULE_VERSION("0.1");
