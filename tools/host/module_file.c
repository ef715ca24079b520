// SPDX-License-Identifier: GPL-2.0-only
/* Finds and reads the installed module. */
#include "module_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cmd.h"
#include "cli/diag.h"

#define MODULE_MAX	(64U << 20)	/* bytes; a larger one is not ours */

/* modules.dep has a line "PATH: PATHS it depends on" for each module. */
char *module_file_find(const char *release)
{
	char *dep = xprintf("/lib/modules/%s/modules.dep", release), *line = NULL, *found = NULL;
	FILE *f = fopen(dep, "re");
	size_t room = 0;

	free(dep);
	while (f && !found && getline(&line, &room, f) > 0) {
		char *end = strchr(line, ':'), *name, *suffix;

		if (!end)
			continue;
		*end = '\0';
		name = strrchr(line, '/');
		name = name ? name + 1 : line;
		suffix = strstr(name, ".ko");
		if (!suffix || suffix - name != 5 || strncmp(name, "gprof", 5))
			continue;
		if (!suffix[3] || !strcmp(suffix, ".ko.xz") || !strcmp(suffix, ".ko.zst") ||
		    !strcmp(suffix, ".ko.gz"))
			found = *line == '/' ? xprintf("%s", line) :
					       xprintf("/lib/modules/%s/%s", release, line);
	}
	free(line);
	if (f)
		fclose(f);
	return found;
}

/* All of a file or pipe; NULL with errno. */
static void *read_all(int fd, size_t *size)
{
	size_t room = 1 << 16, have = 0;
	char *data = malloc(room), *more;
	ssize_t n;

	while (data && (n = read(fd, data + have, room - have))) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 || have + n > MODULE_MAX) {
			errno = n < 0 ? errno : EFBIG;
			free(data);
			return NULL;
		}
		have += n;
		if (have < room)
			continue;
		room *= 2;
		more = realloc(data, room);
		if (!more)
			free(data);
		data = more;
	}
	*size = have;
	return data;
}

static void *unpack(const char *path, const char *program, size_t *size)
{
	int fds[2], status;
	void *data;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC))
		return NULL;
	pid = fork();
	if (!pid) {
		int null = open("/dev/null", O_RDWR | O_CLOEXEC);

		dup2(null, 0);
		dup2(fds[1], 1);
		dup2(null, 2);
		execlp(program, program, "-dc", "--", path, NULL);
		_exit(127);
	}
	close(fds[1]);
	if (pid < 0) {
		close(fds[0]);
		return NULL;
	}
	data = read_all(fds[0], size);
	close(fds[0]);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (!data || (WIFEXITED(status) && !WEXITSTATUS(status)))
		return data;
	free(data);
	errno = 0;
	return NULL;
}

void *module_file_read(const char *path, size_t *size, const char **error)
{
	static const struct {
		const char *suffix, *program, *error;
	} packers[] = {
		{ ".xz", "xz", "xz cannot unpack it" },
		{ ".zst", "zstd", "zstd cannot unpack it" },
		{ ".gz", "gzip", "gzip cannot unpack it" },
	};
	const char *suffix = strrchr(path, '.');
	void *data;
	int fd;

	for (size_t i = 0; i < ARRAY_SIZE(packers); i++) {
		if (strcmp(suffix, packers[i].suffix))
			continue;
		data = unpack(path, packers[i].program, size);
		if (!data)
			*error = packers[i].error;
		return data;
	}
	fd = open(path, O_RDONLY | O_CLOEXEC);
	data = fd < 0 ? NULL : read_all(fd, size);
	if (!data)
		*error = strerror(errno);
	if (fd >= 0)
		close(fd);
	return data;
}
