// SPDX-License-Identifier: GPL-2.0-only
/*
 * The channels to the host: named virtio ports for the command's output and for
 * the verdict, and the kernel log for what belongs beside the kernel's words.
 *
 * The control port carries lines.  "end" is the last one and is written when
 * nothing can go wrong any more; a guest that dies never says it.
 */

#define _GNU_SOURCE
#include <errno.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/reboot.h>
#include <time.h>
#include <unistd.h>

#include "guest.h"

static int control_fd = -1;

/* The device of the port called @name, which the bus may still be finding. */
static int port_find(const char *name)
{
	char path[300], *found;
	struct dirent *entry;
	bool match;
	DIR *dir;
	int fd = -1;

	dir = opendir("/sys/class/virtio-ports");
	if (!dir)
		return -1;
	while (fd < 0 && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "/sys/class/virtio-ports/%s/name",
			 entry->d_name);
		found = file_read(path, NULL);
		if (!found)
			continue;
		found[strcspn(found, "\n")] = '\0';
		match = !strcmp(found, name);
		free(found);
		if (!match)
			continue;
		snprintf(path, sizeof(path), "/dev/%s", entry->d_name);
		fd = open(path, O_WRONLY | O_CLOEXEC);
	}
	closedir(dir);
	return fd;
}

int control_port(const char *name)
{
	const struct timespec pause = { .tv_nsec = 2000000 };
	int tries, fd;

	for (tries = 0; tries < 5000; tries++) {
		fd = port_find(name);
		if (fd >= 0)
			return fd;
		nanosleep(&pause, NULL);
	}
	control_die(name);
}

void control_open(void)
{
	control_fd = control_port("gprof.control");
}

static void say(const char *prefix, const char *fmt, va_list args)
{
	char line[1024];
	int len, n, done;

	len = snprintf(line, sizeof(line), "%s", prefix);
	n = vsnprintf(line + len, sizeof(line) - len - 1, fmt, args);
	len += n;
	if (len > (int)sizeof(line) - 2)
		len = sizeof(line) - 2;
	line[len++] = '\n';
	for (done = 0; done < len; done += n) {
		n = write(control_fd, line + done, len - done);
		if (n < 0)
			return;
	}
}

/* One line to the host. */
void control_say(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	say("", fmt, args);
	va_end(args);
}

/* One line into the kernel log. */
void control_log(const char *fmt, ...)
{
	char line[512];
	va_list args;
	int len;

	len = snprintf(line, sizeof(line), "<6>gprof-vm: ");
	va_start(args, fmt);
	vsnprintf(line + len, sizeof(line) - len, fmt, args);
	va_end(args);
	if (!file_write("/dev/kmsg", line))
		perror("gprof-vm: /dev/kmsg");
}

/* Whatever the command says, this run has failed. */
void control_fail(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	say("fail ", fmt, args);
	va_end(args);
}

void control_reboot(void)
{
	/* QEMU is told to leave instead (-no-reboot). */
	reboot(RB_AUTOBOOT);
	for (;;)
		pause();
}

/* Cannot go on.  Without the last line the host knows a failure. */
void control_die(const char *what)
{
	int error = errno;

	if (control_fd >= 0)
		control_fail("%s: %s", what, strerror(error));
	control_log("%s: %s", what, strerror(error));
	control_reboot();
}
