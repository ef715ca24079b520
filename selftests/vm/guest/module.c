// SPDX-License-Identifier: GPL-2.0-only
/* The module under test: in, out, and what it may have left behind. */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "guest.h"

#define KMEMLEAK	"/sys/kernel/debug/kmemleak"

/* Bad page, died, warned, locked up. */
#define TAINTS		(1ul << 5 | 1ul << 7 | 1ul << 9 | 1ul << 14)

static unsigned long tainted;
static unsigned long long began;

static unsigned long taints(void)
{
	unsigned long value;
	char *text;

	text = file_read("/proc/sys/kernel/tainted", NULL);
	if (!text)
		control_die("/proc/sys/kernel/tainted");
	value = strtoul(text, NULL, 10) & TAINTS;
	free(text);
	return value;
}

static long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void sleep_ms(long ms)
{
	struct timespec t = { .tv_sec = ms / 1000,
			      .tv_nsec = ms % 1000 * 1000000 };

	while (nanosleep(&t, &t) && errno == EINTR)
		;
}

/* The clock that kmemleak tells the time with. */
static unsigned long long jiffies(void)
{
	static const char name[] = "\njiffies: ";
	unsigned long long value;
	char *text, *found;

	text = file_read("/proc/timer_list", NULL);
	found = text ? strstr(text, name) : NULL;
	if (!found)
		control_die("/proc/timer_list");
	value = strtoull(found + strlen(name), NULL, 10);
	free(text);
	return value;
}

/* What is wrong before the module is there is not its fault. */
void module_prepare(void)
{
	tainted = taints();
	if (!access(KMEMLEAK, F_OK))
		began = jiffies();
}

/* Under emulation an interrupt takes a hundred times as long, unless time is instructions. */
void module_load(const struct config *cfg)
{
	if (!file_insmod(GUEST_DIR "/ko/gprof.ko", cfg->icount ? "" : "interrupt_us=1000000"))
		control_die("loading gprof.ko");
}

/*
 * The command may have unloaded it itself, but it must be gone in the end.
 * Files of a killed process can be released a moment after the process.
 */
void module_unload(void)
{
	int tries;
	long ret;

	for (tries = 0; tries < 200; tries++) {
		ret = syscall(SYS_delete_module, "gprof", O_NONBLOCK);
		if (!ret || (errno != EAGAIN && errno != EBUSY &&
			     errno != EWOULDBLOCK))
			break;
		sleep_ms(10);
	}
	if (ret && errno != ENOENT)
		control_fail("unloading gprof: %s", strerror(errno));
	if (!access("/dev/gprof", F_OK))
		control_fail("/dev/gprof is there without its module");
}

/*
 * kmemleak reports what is older than five seconds and was found unreferenced with the same content
 * twice.  What was allocated before the module came is somebody else's.
 */
static void check_leaks(void)
{
	char *report, *line, *rest, *born;
	long unloaded = now_ms();
	bool ours = false;

	if (access(KMEMLEAK, F_OK))
		return;
	if (!file_write(KMEMLEAK, "scan"))
		control_die(KMEMLEAK);
	if (now_ms() < unloaded + 5500)
		sleep_ms(unloaded + 5500 - now_ms());
	if (!file_write(KMEMLEAK, "scan"))
		control_die(KMEMLEAK);
	report = file_read(KMEMLEAK, NULL);
	if (!report)
		control_die(KMEMLEAK);
	/* The second line of an entry has the time, the first one begins it. */
	for (line = strtok_r(report, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest)) {
		if (!strncmp(line, "unreferenced object", 19)) {
			born = strstr(rest, "jiffies ");
			ours = !born || strtoull(born + 8, NULL, 10) >= began;
		}
		if (ours)
			control_fail("kmemleak: %s", line);
	}
	free(report);
}

void module_check(const struct config *cfg)
{
	unsigned long now;

	if (cfg->module)
		check_leaks();
	now = taints() & ~tainted;
	if (now)
		control_fail("the kernel became tainted: %#lx", now);
}
