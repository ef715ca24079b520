// SPDX-License-Identifier: GPL-2.0-only
/* The life of a guest, in order. */

#include "guest.h"

int main(void)
{
	struct config cfg = { 0 };

	boot_early();
	control_open();
	boot_read_config(&cfg);
	boot_root();
	boot_settle(&cfg);
	control_say("booted");

	module_prepare();
	control_log("log is watched from here");
	if (cfg.module)
		module_load(&cfg);
	command_run(&cfg);
	if (cfg.module)
		module_unload();
	module_check(&cfg);
	control_log("log was watched up to here");

	/* Success is the last act. */
	control_say("end");
	control_reboot();
}
