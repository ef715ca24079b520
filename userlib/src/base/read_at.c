// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * read_at.c: bytes of a file, however many pieces they come in.
 */
#include "read_at.h"

#include <errno.h>
#include <unistd.h>

int gprof_read_at(int fd, void *to, size_t len, uint64_t offset)
{
	char *p = to;

	while (len) {
		ssize_t n = pread(fd, p, len, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -ENODATA;
		p += n;
		offset += (uint64_t)n;
		len -= (size_t)n;
	}
	return 0;
}
