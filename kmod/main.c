// SPDX-License-Identifier: GPL-2.0-only
/*
 * gprof: precise profiles of every program on the host.
 *
 * The table of contents: what there is, in the order in which it depends on
 * each other.
 */
#include "alloc_space.h"
#include "attach.h"
#include "callers.h"
#include "cycles.h"
#include "dev.h"
#include "mm_watch.h"
#include "mono.h"
#include "netlink.h"
#include "procfs.h"
#include "sampler.h"
#include "scope.h"
#include "tap.h"
#include "timer.h"
#include "tracepoint.h"

#include <linux/init.h>
#include <linux/module.h>

static int __init gprof_init(void)
{
	int err;

	gprof_cycles_init();
	gprof_callers_prepare();
	err = gprof_mono_init();
	if (err)
		return err;
	err = gprof_procfs_init();
	if (err)
		goto err_mono;
	err = gprof_mm_watch_init();
	if (err)
		goto err_procfs;
	err = gprof_samplers_init();
	if (err)
		goto err_mm_watch;
	err = gprof_attach_init();
	if (err)
		goto err_samplers;
	err = gprof_timers_init();
	if (err)
		goto err_attach;
	err = gprof_netlink_init();
	if (err)
		goto err_timers;
	err = gprof_dev_init();
	if (err)
		goto err_netlink;
	return 0;

err_netlink:
	gprof_netlink_exit();
err_timers:
	gprof_timers_exit();
err_attach:
	gprof_attach_exit();
err_samplers:
	gprof_samplers_exit();
err_mm_watch:
	gprof_mm_watch_exit();
err_procfs:
	gprof_procfs_exit();
err_mono:
	gprof_mono_exit();
	return err;
}

static void __exit gprof_exit(void)
{
	gprof_dev_exit();
	gprof_netlink_exit();
	gprof_timers_exit();
	gprof_attach_exit();
	gprof_taps_exit();
	gprof_tracepoints_exit();
	gprof_scopes_exit();
	gprof_spaces_forget();
	gprof_mm_watch_exit();
	gprof_samplers_exit();
	gprof_procfs_exit();
	gprof_mono_exit();
}

module_init(gprof_init);
module_exit(gprof_exit);

MODULE_DESCRIPTION("Profiles, traces and statistics of every program on the host");
MODULE_AUTHOR("The gprof authors");
MODULE_LICENSE("GPL");
MODULE_VERSION("0.1");
