// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where the names of a file are to be had: see debug_package.h.
 */
#include "debug_package.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/diag.h"

#define LIST_MAX	(16 << 20)	/* bytes of a package's list of files */
#define USR		"/usr"

/* The whole of a file with a newline before it, for free(); NULL: it is not to be had. */
static char *read_list(int dir, const char *name, size_t *size)
{
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
	char *text = NULL;
	struct stat st;

	if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size <= LIST_MAX) {
		text = xraw((size_t)st.st_size + 2, 1);
		text[0] = '\n';
		*size = 1;
		if (read(fd, text + 1, (size_t)st.st_size) == st.st_size)
			*size += (size_t)st.st_size;
	}
	if (fd >= 0)
		close(fd);
	return text;
}

static bool has_line(const char *list, size_t size, const char *path)
{
	char *line = xprintf("\n%s\n", path);
	bool found = memmem(list, size, line, strlen(line));

	free(line);
	return found;
}

/* Since /lib is a link to /usr/lib, a file there has either name. */
static bool has_file(const char *list, size_t size, const char *path)
{
	bool found = has_line(list, size, path);
	char *other;

	if (found)
		return true;
	other = strncmp(path, USR "/", strlen(USR "/")) ? xprintf(USR "%s", path) :
							   xprintf("%s", path + strlen(USR));
	found = has_line(list, size, other);
	free(other);
	return found;
}

/* @list: "PACKAGE.list" or "PACKAGE:ARCHITECTURE.list" */
static char *debug_name(const char *list)
{
	int len = (int)strcspn(list, ":");

	if (!list[len])
		len = (int)(strlen(list) - strlen(".list"));
	/* The C library's is older than such packages, and goes on. */
	return xprintf("%.*s%s", len, list, !strncmp(list, "libc6", 5) && len == 5 ? "-dbg" :
											"-dbgsym");
}

void debug_packages(const char *info, const char *const *paths, size_t nr, char **names)
{
	DIR *dir = opendir(info);
	size_t left = nr, size;
	struct dirent *e;

	memset(names, 0, nr * sizeof(*names));
	while (dir && left && (e = readdir(dir))) {
		size_t len = strlen(e->d_name);
		char *list;

		if (len < 6 || strcmp(e->d_name + len - 5, ".list"))
			continue;
		list = read_list(dirfd(dir), e->d_name, &size);
		for (size_t i = 0; list && i < nr; i++)
			if (!names[i] && paths[i][0] == '/' && !strchr(paths[i], '\n') &&
			    has_file(list, size, paths[i])) {
				names[i] = debug_name(e->d_name);
				left--;
			}
		free(list);
	}
	if (dir)
		closedir(dir);
}

const char *debuginfod_urls(void)
{
	const char *urls = getenv("DEBUGINFOD_URLS");

	return urls && *urls ? urls : NULL;
}

char *debug_advice(const char *package, int asked)
{
	const char *server = asked ? "" : debuginfod_urls() ? "leave out --no-debuginfod" :
						"set DEBUGINFOD_URLS";

	if (package)
		return xprintf("install %s%s%s", package, *server ? ", or " : "", server);
	return xprintf("%s%sgive its debug file by --file", server, *server ? ", or " : "");
}
