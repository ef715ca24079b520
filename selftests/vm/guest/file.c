// SPDX-License-Identifier: GPL-2.0-only
/* Small files, whole. */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "guest.h"

/* Returns the file's bytes with a NUL behind them, or NULL with errno. */
char *file_read(const char *path, size_t *size)
{
	size_t have = 0, room = 4096;
	char *buf = NULL, *more;
	ssize_t n;
	int fd;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	do {
		room *= 2;
		more = realloc(buf, room + 1);
		if (!more)
			goto err;
		buf = more;
		do {
			n = read(fd, buf + have, room - have);
			if (n > 0)
				have += n;
		} while (n > 0 && have < room);
		if (n < 0)
			goto err;
	} while (n > 0);
	close(fd);
	buf[have] = '\0';
	if (size)
		*size = have;
	return buf;

err:
	free(buf);
	close(fd);
	return NULL;
}

bool file_write(const char *path, const char *text)
{
	size_t len = strlen(text);
	ssize_t n;
	int fd;

	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = write(fd, text, len);
	close(fd);
	return n == (ssize_t)len;
}

/* Loads a kernel module; one that is there already is fine. */
bool file_insmod(const char *path, const char *parameters)
{
	long ret;
	int fd;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	ret = syscall(SYS_finit_module, fd, parameters, 0);
	if (ret && errno == EEXIST)
		ret = 0;
	close(fd);
	return !ret;
}
