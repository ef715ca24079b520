// SPDX-License-Identifier: GPL-2.0-only
#include "program.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

const char *program_name = "gprofctl";

/* Else a profile could get the number of a closed stderr, and sentences in it. */
static void open_standard_files(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

void program_begin(void)
{
	open_standard_files();
	/* The parent may have ignored it, and then wait() does not work. */
	signal(SIGCHLD, SIG_DFL);
}

void program_exec(const char *name, char **argv)
{
	char path[PATH_MAX], *slash;
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	/* Of a replaced program the path ends in " (deleted)", behind the last slash. */
	path[n > 0 ? n : 0] = '\0';
	slash = strrchr(path, '/');
	if (slash && (size_t)(slash + 1 - path) + strlen(name) < sizeof(path)) {
		strcpy(slash + 1, name);
		execv(path, argv);
	}
	execvp(name, argv);
}
