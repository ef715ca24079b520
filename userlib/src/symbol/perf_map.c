// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * perf_map.c: names of generated code, from /tmp/perf-PID.map.
 */
#include "perf_map.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/regular_file.h"

/* A line "1 1 a" of 6 bytes takes four times as much: limit of all. */
#define MEMORY_MAX	(64ULL << 20)

static int read_all(struct gprof_perf_map *m, int fd, size_t size, size_t *len)
{
	m->text = malloc(size + 1);
	if (!m->text)
		return -ENOMEM;
	*len = 0;
	while (*len < size) {
		ssize_t n = read(fd, m->text + *len, size - *len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			break;
		*len += (size_t)n;
	}
	m->text[*len] = '\0';
	return 0;
}

static int parse(struct gprof_perf_map *m, size_t len)
{
	struct gprof_budget memory = { .max = MEMORY_MAX };
	char *p = m->text, *end = m->text + len;
	size_t lines = 1, i;
	int err;

	/* Room for no more than there can be. */
	for (i = 0; i < len; i++)
		lines += p[i] == '\n';
	if (lines > (MEMORY_MAX - len) / sizeof(*m->v))
		return -EFBIG;
	m->v = calloc(lines, sizeof(*m->v));
	if (!m->v)
		return -ENOMEM;
	while (p < end) {
		char *eol = memchr(p, '\n', (size_t)(end - p));
		char *next = eol ? eol + 1 : end;
		uint64_t start, size;
		char *at;

		*(eol ? eol : end) = '\0';
		start = strtoull(p, &at, 16);
		if (at != p && *at == ' ') {
			p = at + 1;
			size = strtoull(p, &at, 16);
			if (at != p && *at == ' ' && at[1] && size && start + size > start)
				m->v[m->nr++] = (struct gprof_code){
					start, start + size, (uint32_t)(at + 1 - m->text),
					(uint32_t)m->nr };
		}
		p = next;
	}
	memory.used = len + lines * sizeof(*m->v);
	err = gprof_code_settle(&m->v, &m->nr, &lines, &memory);
	return err && memory.exceeded ? -EFBIG : err;
}

int gprof_perf_map_read(struct gprof_perf_map *m, const char *path, uid_t uid, time_t since)
{
	struct stat st;
	size_t len = 0;
	int look, fd, err;

	memset(m, 0, sizeof(*m));
	look = gprof_open_path(path, O_NOFOLLOW, &st);
	if (look < 0)
		return errno == ENXIO ? -EPERM : -errno;
	fd = gprof_reopen(look);
	err = fd < 0 ? -errno : 0;
	close(look);
	if (err)
		return err;
	if (fstat(fd, &st))
		err = -errno;
	else if (st.st_uid && st.st_uid != uid)
		err = -EPERM;
	else if (st.st_mtime < since)
		err = -ESTALE;
	else if (st.st_size > (off_t)MEMORY_MAX)
		err = -EFBIG;
	else
		err = read_all(m, fd, (size_t)st.st_size, &len);
	close(fd);
	if (!err)
		err = parse(m, len);
	if (err)
		gprof_perf_map_free(m);
	return err;
}

void gprof_perf_map_free(struct gprof_perf_map *m)
{
	free(m->v);
	free(m->text);
	memset(m, 0, sizeof(*m));
}

const char *gprof_perf_map_find(const struct gprof_perf_map *m, uint64_t addr)
{
	const struct gprof_code *code = gprof_code_find(m->v, m->nr, addr);

	return code ? m->text + code->name : NULL;
}
