// SPDX-License-Identifier: GPL-2.0-only
/*
 * gprof: precise profiles of every program on the host.
 *
 * The table of contents: what there is, in the order in which it depends on
 * each other.
 */
#include "counter.h"
#include "dev.h"
#include "sampler.h"

#include <linux/init.h>
#include <linux/module.h>

static int __init gprof_init(void)
{
	int err;

	err = gprof_samplers_init();
	if (err)
		return err;
	err = gprof_counter_hotplug_init();
	if (err)
		goto err_samplers;
	err = gprof_dev_init();
	if (err)
		goto err_hotplug;
	return 0;

err_hotplug:
	gprof_counter_hotplug_exit();
err_samplers:
	gprof_samplers_exit();
	return err;
}

static void __exit gprof_exit(void)
{
	gprof_dev_exit();
	gprof_counter_hotplug_exit();
	gprof_samplers_exit();
}

module_init(gprof_init);
module_exit(gprof_exit);

MODULE_DESCRIPTION("Profiles, traces and statistics of every program on the host");
MODULE_AUTHOR("The gprof authors");
MODULE_LICENSE("GPL");
MODULE_VERSION("0.1");
