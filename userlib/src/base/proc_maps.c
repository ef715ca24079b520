// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * proc_maps.c: lines of maps, taken apart by hand: there are tens of thousands on a large host.
 */
#include "proc_maps.h"

#include <stdlib.h>
#include <string.h>

static unsigned int digit(char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned int)(c - '0');
	return c >= 'a' && c <= 'f' ? (unsigned int)(c - 'a') + 10 : 16;
}

/* A number, and the character behind it, which is passed by. */
static bool parse_number(char **at, unsigned int base, char behind, uint64_t *value)
{
	char *p = *at;

	for (*value = 0; digit(*p) < base; p++)
		*value = *value * base + digit(*p);
	if (p == *at || *p != behind)
		return false;
	*at = p + 1;
	return true;
}

/* /proc writes a newline as \012. */
static void unescape(char *path)
{
	char *to;

	path += strcspn(path, "\\");
	to = path;
	while (*path) {
		if (!strncmp(path, "\\012", 4)) {
			*to++ = '\n';
			path += 4;
		} else {
			*to++ = *path++;
		}
	}
	*to = '\0';
}

bool gprof_proc_map_parse(struct gprof_proc_map *m, char *line)
{
	uint64_t dev_major, dev_minor;
	char *at = line, *path;

	line[strcspn(line, "\n")] = '\0';
	if (!parse_number(&at, 16, '-', &m->start) || !parse_number(&at, 16, ' ', &m->end) ||
	    strlen(at) < 5 || at[4] != ' ')
		return false;
	m->readable = at[0] == 'r';
	m->code = at[2] == 'x';
	at += 5;
	if (!parse_number(&at, 16, ' ', &m->offset) || !parse_number(&at, 16, ':', &dev_major) ||
	    !parse_number(&at, 16, ' ', &dev_minor))
		return false;
	m->dev_major = (unsigned int)dev_major;
	m->dev_minor = (unsigned int)dev_minor;
	m->inode = strtoull(at, &path, 10);
	if (path == at)
		return false;
	path += strspn(path, " ");
	unescape(path);
	m->path = path;
	return true;
}

int gprof_proc_maps_each(FILE *f, int (*fn)(void *ctx, const struct gprof_proc_map *m), void *ctx)
{
	struct gprof_proc_map m;
	char *line = NULL;
	size_t cap = 0;
	int ret = 0;

	while (!ret && getline(&line, &cap, f) > 0)
		if (gprof_proc_map_parse(&m, line))
			ret = fn(ctx, &m);
	free(line);
	fclose(f);
	return ret;
}
