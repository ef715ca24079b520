// SPDX-License-Identifier: GPL-2.0-only
/*
 * Capabilities, by the system calls themselves.
 */
#include "caps.h"

#include <errno.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cli/cmd.h"
#include "cli/diag.h"

/* Not in the headers of all. */
#ifndef CAP_PERFMON
#define CAP_PERFMON		38
#endif
#ifndef CAP_CHECKPOINT_RESTORE
#define CAP_CHECKPOINT_RESTORE	40
#endif

static const int needed[] = {
	CAP_PERFMON,		/* record others, and the kernel */
	CAP_SYS_PTRACE,		/* read mappings of others */
	CAP_CHECKPOINT_RESTORE,	/* open mapped files, /proc/PID/map_files */
	CAP_DAC_READ_SEARCH,	/* read files and directories of others, for names */
	CAP_SYSLOG,		/* addresses of the kernel's functions */
	CAP_IPC_LOCK,		/* buffers beyond a user's limit */
};

int caps_keep_needed(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2], keep[2] = { 0 };

	if (syscall(SYS_capget, &head, data))
		return fail("capabilities cannot be read: %s", strerror(errno));
	for (size_t i = 0; i < ARRAY_SIZE(needed); i++)
		keep[needed[i] / 32].permitted |= 1U << needed[i] % 32;
	/* Without CAP_SETPCAP the bounding set stays, of which no_new_privs makes nothing. */
	for (int cap = 0; cap < 64 && prctl(PR_CAPBSET_READ, cap) >= 0; cap++)
		if (!(keep[cap / 32].permitted & 1U << cap % 32))
			prctl(PR_CAPBSET_DROP, cap);
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	for (int i = 0; i < 2; i++) {
		keep[i].permitted &= data[i].permitted;
		keep[i].effective = keep[i].permitted & data[i].effective;
	}
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || syscall(SYS_capset, &head, keep))
		return fail("capabilities cannot be dropped: %s", strerror(errno));
	return STATUS_OK;
}

bool caps_drop_all(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	const struct __user_cap_data_struct none[2] = { 0 };

	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	/* Or root would get them back by exec. */
	return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) && !syscall(SYS_capset, &head, none);
}
