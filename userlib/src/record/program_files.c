// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * program_files.c: the files of code that a program maps when it begins.
 */
#include "program_files.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#define SCRIPTS_MAX	4	/* as many as the kernel follows */
#define LIST_MS		1000
#define LIST_MAX	(256 << 10)

extern char **environ;

static int add_file(struct gprof_objects *o, const char *path, char **real)
{
	const struct gprof_mapped_at nowhere = { 0 };
	struct gprof_file_id id = { 0 };
	struct gprof_object *obj;
	struct stat st;
	int err = 0;

	*real = realpath(path, NULL);
	if (!*real || stat(*real, &st))
		return 0;
	id.path = *real;
	id.inode = st.st_ino;
	id.dev_major = major(st.st_dev);
	id.dev_minor = minor(st.st_dev);
	obj = gprof_objects_get(o, &id, &nowhere);
	if (obj)
		obj->mappings++;
	else
		err = -ENOMEM;
	return err;
}

/* As execvp() finds it; for free(). */
static char *find_program(const char *name)
{
	const char *dir = secure_getenv("PATH");
	char *path;

	if (strchr(name, '/') || !*name)
		return strdup(name);
	for (dir = dir ? dir : "/bin:/usr/bin"; ; dir++) {
		size_t len = strcspn(dir, ":");

		if (asprintf(&path, "%.*s/%s", (int)len, len ? dir : ".", name) < 0)
			return NULL;
		if (!access(path, X_OK))
			return path;
		free(path);
		dir += len;
		if (!*dir)
			return NULL;
	}
}

/* Cuts the first word off. */
static char *word(char **at)
{
	char *begin = *at + strspn(*at, " \t");

	*at = begin + strcspn(begin, " \t\r\n");
	if (**at)
		*(*at)++ = '\0';
	return begin;
}

/*
 * The interpreter of a script, or the program that env looks for; @head is changed to it.
 */
static const char *script_interpreter(char *head)
{
	char *at = head + 2, *first, *slash;

	if (head[0] != '#' || head[1] != '!')
		return NULL;
	at[strcspn(at, "\n")] = '\0';
	first = word(&at);
	slash = strrchr(first, '/');
	if (!strcmp(slash ? slash + 1 : first, "env"))
		first = word(&at);
	return *first && *first != '-' ? first : NULL;
}

/* Where a file names its interpreter, and how long that is; false: it has none. */
static bool elf_interpreter(int fd, char path[4096])
{
	Elf *elf;
	size_t nr, i;
	bool found = false;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf && elf_kind(elf) == ELF_K_ELF && !elf_getphdrnum(elf, &nr)) {
		GElf_Phdr ph;

		for (i = 0; i < nr && !found; i++)
			found = gelf_getphdr(elf, (int)i, &ph) && ph.p_type == PT_INTERP &&
				ph.p_filesz && ph.p_filesz <= 4096 &&
				pread(fd, path, ph.p_filesz, (off_t)ph.p_offset) ==
					(ssize_t)ph.p_filesz && !path[ph.p_filesz - 1];
	}
	elf_end(elf);
	return found;
}

/* All output up to its end, or until LIST_MS have passed; for free(). */
static char *read_list(int fd)
{
	char *text = malloc(LIST_MAX + 1);
	struct pollfd p = { .fd = fd, .events = POLLIN };
	size_t len = 0;

	while (text && len < LIST_MAX && poll(&p, 1, LIST_MS) > 0) {
		ssize_t n = read(fd, text + len, LIST_MAX - len);

		if (n <= 0)
			break;
		len += (size_t)n;
	}
	if (text)
		text[len] = '\0';
	return text;
}

/* An interpreter's list for a program; NULL: it cannot be started. */
static char *list(const char *interpreter, const char *program)
{
	char *const argv[] = { (char *)interpreter, "--list", (char *)program, NULL };
	posix_spawn_file_actions_t actions;
	char *text = NULL;
	int ends[2];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC))
		return NULL;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
	posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
	if (!posix_spawn(&pid, interpreter, &actions, NULL, argv, environ)) {
		close(ends[1]);
		ends[1] = -1;
		text = read_list(ends[0]);
		kill(pid, SIGKILL);
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	posix_spawn_file_actions_destroy(&actions);
	close(ends[0]);
	if (ends[1] >= 0)
		close(ends[1]);
	return text;
}

/* Lines are "\tNAME => /PATH (0xADDRESS)", or "\t/PATH (0xADDRESS)". */
static int add_listed(struct gprof_objects *o, char *text)
{
	char *line, *at = text;
	int err = 0;

	while (!err && (line = strsep(&at, "\n"))) {
		char *path = strchr(line, '/'), *end = path ? strstr(path, " (0x") : NULL, *real;

		if (!end)
			continue;
		*end = '\0';
		end = strstr(path, " => /");
		err = add_file(o, end ? end + 4 : path, &real);
		free(real);
	}
	return err;
}

static int add_program(struct gprof_objects *o, const char *name, unsigned int depth)
{
	char *path = find_program(name), *real = NULL, *text, head[4097];
	int err = path ? add_file(o, path, &real) : 0, fd;
	const char *interpreter;
	ssize_t n;

	free(path);
	fd = real ? open(real, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
	n = fd >= 0 ? pread(fd, head, sizeof(head) - 1, 0) : -1;
	head[n > 0 ? n : 0] = '\0';
	interpreter = script_interpreter(head);
	if (interpreter) {
		if (!err && depth < SCRIPTS_MAX)
			err = add_program(o, interpreter, depth + 1);
	} else if (!err && fd >= 0 && elf_interpreter(fd, head)) {
		text = list(head, real);
		if (text)
			err = add_listed(o, text);
		free(text);
	}
	if (fd >= 0)
		close(fd);
	free(real);
	return err;
}

int gprof_program_files(const char *name, struct gprof_objects *o)
{
	return add_program(o, name, 0);
}
