// SPDX-License-Identifier: GPL-2.0-only
/* From an initramfs to a running system. */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "guest.h"

static void mount_or_die(const char *source, const char *target,
			 const char *type, unsigned long flags,
			 const char *data)
{
	mkdir(target, 0755);
	if (mount(source, target, type, flags, data))
		control_die(target);
}

/* Devices, and the drivers that a stock kernel has as modules. */
void boot_early(void)
{
	char *list, *line, *rest;

	mount_or_die("dev", "/dev", "devtmpfs", 0, NULL);
	mount_or_die("proc", "/proc", "proc", 0, NULL);
	mount_or_die("sys", "/sys", "sysfs", 0, NULL);

	list = file_read("/modules.list", NULL);
	if (!list)
		control_die("/modules.list");
	for (line = strtok_r(list, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest))
		if (!file_insmod(line, ""))
			control_die(line);
	free(list);
}

void boot_read_config(struct config *cfg)
{
	char *text, *line, *rest, *args;
	size_t size, at, n = 0;

	text = file_read(GUEST_DIR "/config", NULL);
	if (!text)
		control_die(GUEST_DIR "/config");
	for (line = strtok_r(text, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest)) {
		if (!strcmp(line, "module"))
			cfg->module = true;
		else if (!strcmp(line, "build"))
			cfg->build = true;
		else if (!strcmp(line, "icount"))
			cfg->icount = true;
		else if (!strcmp(line, "share"))
			cfg->share = true;
		else if (sscanf(line, "kernel %31s", cfg->kernel) != 1)
			control_die("unknown line in " GUEST_DIR "/config");
	}
	free(text);

	/* Each argument ends with a NUL; they live as long as the guest. */
	args = file_read(GUEST_DIR "/argv", &size);
	if (!args || !size)
		control_die(GUEST_DIR "/argv");
	for (at = 0; at < size; at += strlen(args + at) + 1)
		n++;
	cfg->argv = calloc(n + 1, sizeof(*cfg->argv));
	if (!cfg->argv)
		control_die("argv");
	for (at = 0, n = 0; at < size; at += strlen(args + at) + 1)
		cfg->argv[n++] = args + at;
}

/* The read-only image under a layer of memory becomes the root. */
void boot_root(void)
{
	const struct timespec pause = { .tv_nsec = 2000000 };
	int tries;

	for (tries = 0; access("/dev/vda", F_OK) && tries < 5000; tries++)
		nanosleep(&pause, NULL);
	mount_or_die("/dev/vda", "/image", "erofs", MS_RDONLY, NULL);
	mount_or_die("memory", "/memory", "tmpfs", 0, NULL);
	mkdir("/memory/upper", 0755);
	mkdir("/memory/work", 0755);
	mount_or_die("root", "/root", "overlay", 0,
		     "lowerdir=/image,upperdir=/memory/upper,workdir=/memory/work");
	if (mount("/dev", "/root/dev", NULL, MS_MOVE, NULL) ||
	    mount("/proc", "/root/proc", NULL, MS_MOVE, NULL) ||
	    mount("/sys", "/root/sys", NULL, MS_MOVE, NULL))
		control_die("moving mounts");
	/* What the host has sent stays reachable. */
	mkdir("/root" GUEST_DIR, 0755);
	if (mount(GUEST_DIR, "/root" GUEST_DIR, NULL, MS_BIND, NULL))
		control_die(GUEST_DIR);
	if (chdir("/root") || mount(".", "/", NULL, MS_MOVE, NULL) ||
	    chroot(".") || chdir("/"))
		control_die("changing the root");
}

static bool kernel_has(const char *filesystem)
{
	char word[32], *text;
	bool found;

	snprintf(word, sizeof(word), "\t%s\n", filesystem);
	text = file_read("/proc/filesystems", NULL);
	if (!text)
		control_die("/proc/filesystems");
	found = strstr(text, word);
	free(text);
	return found;
}

/* A bare kernel has neither, and no place for it. */
static void mount_if_there(const char *source, const char *target, const char *type)
{
	if (kernel_has(type))
		mount_or_die(source, target, type, 0, NULL);
}

static void loopback_up(void)
{
	struct ifreq req = { .ifr_name = "lo" };
	int fd;

	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || ioctl(fd, SIOCGIFFLAGS, &req))
		control_die("lo");
	req.ifr_flags |= IFF_UP;
	if (ioctl(fd, SIOCSIFFLAGS, &req))
		control_die("lo");
	close(fd);
}

static void setting(const char *path, const char *value)
{
	if (!file_write(path, value))
		control_die(path);
}

/* What an init system does, and what emulation needs. */
void boot_settle(const struct config *cfg)
{
	static const char shared[] =
		"trans=virtio,version=9p2000.L,msize=524288,cache=mmap";
	static const char fixed[] =
		"trans=virtio,version=9p2000.L,msize=524288,cache=loose";

	mount_or_die("devpts", "/dev/pts", "devpts", 0, "mode=620,ptmxmode=666");
	mount_or_die("shm", "/dev/shm", "tmpfs", 0, "mode=1777");
	mount_or_die("run", "/run", "tmpfs", 0, "mode=755");
	mount_or_die("tmp", "/tmp", "tmpfs", 0, "mode=1777");
	mount_if_there("cgroup", "/sys/fs/cgroup", "cgroup2");
	mount_if_there("debug", "/sys/kernel/debug", "debugfs");
	mount_or_die("trace", "/sys/kernel/tracing", "tracefs", 0, NULL);
	if (cfg->build)
		mount_or_die("build", "/gprof", "9p", MS_RDONLY, fixed);
	if (cfg->share)
		mount_or_die("share", "/share", "9p", 0, shared);
	symlink("/proc/self/fd", "/dev/fd");
	symlink("/proc/self/fd/0", "/dev/stdin");
	symlink("/proc/self/fd/1", "/dev/stdout");
	symlink("/proc/self/fd/2", "/dev/stderr");

	if (sethostname("gprof-vm", 8))
		control_die("hostname");
	loopback_up();
	chmod("/root", 0700);
	if (chown("/home/user", 1000, 1000))
		control_die("/home/user");

	/*
	 * All else is as the kernel has it: a test that needs another setting,
	 * such as perf's throttling, makes it itself.
	 */
	if (!access("/proc/sys/kernel/hung_task_timeout_secs", F_OK))
		setting("/proc/sys/kernel/hung_task_timeout_secs", "240");
}
