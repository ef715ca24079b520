/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The first process of a guest: boots it, loads the module, runs one command,
 * unloads the module, and tells the host how each of these went.
 */
#ifndef GUEST_H
#define GUEST_H

#include <stdbool.h>
#include <stddef.h>

/* What ../run has put into the initramfs, beside this program. */
#define GUEST_DIR	"/gprof-vm"

struct config {
	bool module;		/* load gprof.ko */
	bool build;		/* mount the build tree on /gprof */
	bool icount;		/* time is a count of instructions */
	bool share;		/* mount the shared directory on /share */
	char kernel[32];	/* the kernel's name in kernels/table */
	char **argv;		/* the command */
};

/* boot.c: from an initramfs to a running system. */
void boot_early(void);
void boot_read_config(struct config *cfg);
void boot_root(void);
void boot_settle(const struct config *cfg);

/* control.c: the channels to the host, and dying. */
void control_open(void);
int control_port(const char *name);
void control_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void control_log(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void control_fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
_Noreturn void control_reboot(void);
_Noreturn void control_die(const char *what);

/* command.c: runs the command, its output byte for byte to the host. */
void command_run(const struct config *cfg);

/* module.c: the module under test, and what it may have left behind. */
void module_prepare(void);
void module_load(const struct config *cfg);
void module_unload(void);
void module_check(const struct config *cfg);

/* file.c: small files, whole. */
char *file_read(const char *path, size_t *size);
bool file_write(const char *path, const char *text);
bool file_insmod(const char *path, const char *parameters);

#endif /* GUEST_H */
