// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where the shim is, and whether the loader would load it.
 */
#include "preload.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "cli/cmd.h"
#include "cli/diag.h"

#define SHIM	"libgprof-heap.so"

#if defined(__x86_64__)
#define MACHINE	EM_X86_64
#elif defined(__riscv)
#define MACHINE	EM_RISCV
#else
#define MACHINE	EM_AARCH64
#endif

/* Beside the library that this program was installed with. */
static char *find_shim(void)
{
	static const char *const places[] = {
		"../lib/" SHIM, "../lib/x86_64-linux-gnu/" SHIM, "../lib/aarch64-linux-gnu/" SHIM,
		"../lib/riscv64-linux-gnu/" SHIM, "../lib64/" SHIM,
		"../lib/x86_64-linux-gnu/gprof/" SHIM, "../lib/aarch64-linux-gnu/gprof/" SHIM,
		"../lib/riscv64-linux-gnu/gprof/" SHIM, "../lib64/gprof/" SHIM,
	};
	char self[PATH_MAX], *slash;
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (n < 0)
		return NULL;
	self[n] = '\0';
	slash = strrchr(self, '/');
	if (!slash)
		return NULL;
	*slash = '\0';
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		char *path = xprintf("%s/%s", self, places[i]);
		char *real = realpath(path, NULL);

		free(path);
		if (real)
			return real;
	}
	return NULL;
}

/* As execvp() finds it; NULL where it does not. */
static char *find_program(const char *name)
{
	const char *path = getenv("PATH"), *end;

	if (strchr(name, '/'))
		return xprintf("%s", name);
	for (path = path ? path : "/bin:/usr/bin"; ; path = end + 1) {
		char *file;

		end = strchrnul(path, ':');
		file = xprintf("%.*s%s%s", (int)(end - path), path, end > path ? "/" : "", name);
		if (!access(file, X_OK))
			return file;
		free(file);
		if (!*end)
			return NULL;
	}
}

static bool gains_rights(const char *file)
{
	struct stat st;

	if (stat(file, &st))
		return false;
	if ((st.st_mode & S_ISUID && st.st_uid != getuid()) ||
	    (st.st_mode & S_ISGID && st.st_mode & S_IXGRP && st.st_gid != getgid()))
		return true;
	return getuid() && getxattr(file, "security.capability", NULL, 0) > 0;
}

/* A 64-bit ELF file without an interpreter; an unreadable file may be any. */
static int check_elf(const char *file, const char *name, const char *why, const char *instead)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK), status = STATUS_OK;
	Elf64_Ehdr h;
	bool loader = false;

	if (fd < 0)
		return STATUS_OK;
	if (read(fd, &h, sizeof(h)) != sizeof(h) || memcmp(h.e_ident, ELFMAG, SELFMAG))
		goto out;
	if (h.e_ident[EI_CLASS] != ELFCLASS64 || h.e_machine != MACHINE) {
		status = fail("%s: %s is a program of another architecture than gprofctl, and " SHIM
			      " cannot be loaded into it", why, name);
		goto out;
	}
	for (unsigned int i = 0; i < h.e_phnum; i++) {
		Elf64_Phdr p;

		if (pread(fd, &p, sizeof(p), (off_t)(h.e_phoff + (uint64_t)i * h.e_phentsize)) !=
		    sizeof(p))
			goto out;
		loader |= p.p_type == PT_INTERP;
	}
	if (!loader)
		status = fail("%s: %s is a static program, into which nothing can be loaded, so what "
			      "it allocates itself is not known; %s records what the kernel allocates "
			      "for it", why, name, instead);
out:
	close(fd);
	return status;
}

int preload(char **command, const char *why, const char *instead)
{
	const char *old = getenv("LD_PRELOAD");
	char *shim = find_shim(), *file, *all;
	int status = STATUS_OK;

	if (!shim)
		return fail("%s: " SHIM " is not where gprofctl was installed to; install it, or record "
			    "by %s what the kernel allocates", why, instead);
	if (strpbrk(shim, " :")) {
		status = fail("%s: the loader takes no file with a space or a colon in its name, such "
			      "as %s", why, shim);
		free(shim);
		return status;
	}
	file = find_program(command[0]);
	if (file && gains_rights(file))
		status = fail("%s: %s is set-user-ID, set-group-ID or has capabilities; the loader "
			      "refuses to load " SHIM " into it. Run gprofctl as the user that it "
			      "becomes", why, command[0]);
	else if (file)
		status = check_elf(file, command[0], why, instead);
	free(file);
	if (status == STATUS_OK) {
		all = old && *old ? xprintf("%s:%s", shim, old) : xprintf("%s", shim);
		if (setenv("LD_PRELOAD", all, 1))
			status = fail("LD_PRELOAD cannot be set: %s", strerror(errno));
		free(all);
	}
	free(shim);
	return status;
}
