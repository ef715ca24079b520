// SPDX-License-Identifier: GPL-2.0-only
/*
 * The lines of a function's source: see source_lines.h. A profile may name any file.
 */
#include "source_lines.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cmd.h"
#include "cli/diag.h"
#include "debug_package.h"

#define AROUND		5	/* lines before the first with a value, and after the last */
#define LINES_MAX	20000	/* of one function; a file may say anything */
#define SOURCE_MAX	(16 << 20)	/* bytes of a file, which may be one line */

int source_dirs_add(struct source_dirs *d, const char *directory)
{
	if (d->nr == ARRAY_SIZE(d->all))
		return misused("--source %s: more than %zu directories are too many", directory, d->nr);
	d->all[d->nr++] = directory;
	return STATUS_OK;
}

/*
 * A pipe is not waited for, and a device not read for ever. Files of /proc, which have no size, may
 * have no end, and an environment with passwords is no source.
 */
static FILE *open_regular(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st = { 0 };

	if (fd < 0)
		return NULL;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size && st.st_size <= SOURCE_MAX)
		return fdopen(fd, "r");
	close(fd);
	errno = st.st_size > SOURCE_MAX ? EFBIG : EINVAL;
	return NULL;
}

/* As it stands, then in each directory with ever fewer of its own directories. */
static FILE *open_source(const struct source_dirs *d, const char *file, char **path)
{
	FILE *f = open_regular(file);

	*path = f ? xprintf("%s", file) : NULL;
	for (size_t i = 0; i < d->nr && !f; i++) {
		for (const char *rest = file; rest && !f; rest = strchr(rest, '/')) {
			rest += strspn(rest, "/");
			*path = xprintf("%s/%s", d->all[i], rest);
			f = *rest ? open_regular(*path) : NULL;
			if (f)
				break;
			free(*path);
			*path = NULL;
		}
	}
	return f;
}

static char *note_age(const struct view *v, FILE *f, const char *path)
{
	int64_t start = 0, duration = 0;
	struct stat st;

	gprof_profile_time(v->profile, &start, &duration);
	if (start && !fstat(fileno(f), &st) && st.st_mtime > (start + duration) / 1000000000)
		return xprintf("%s was changed after the profile was taken: lines may be others", path);
	return NULL;
}

static void add_line(struct listing *l, const struct places *p, const struct place *place,
		     uint64_t at, const char *text)
{
	listing_add(l, LISTING_PLACE, at, text, text ? strcspn(text, "\r\n") : 0);
	if (place)
		listing_sum(l, l->nr - 1, p->values + place->values);
}

char *source_lines(const struct source_dirs *d, const struct places *p, size_t first,
		   struct listing *l)
{
	const struct place *places = p->all + first;
	size_t nr = places_next(p, first) - first, size = 0, i = 0;
	uint64_t from = places[0].at > AROUND ? places[0].at - AROUND : 1;
	uint64_t to = places[nr - 1].at + AROUND, at = 0;
	char *path = NULL, *text = NULL, *note = NULL;
	FILE *f = *places[0].file ? open_source(d, places[0].file, &path) : NULL;

	*l = (struct listing){ .path = places[0].file, .each = 2 * p->nr_types };
	if (!f && *places[0].file)
		note = xprintf("%s cannot be read: %s; --source%sDIR says where sources are",
			       places[0].file, strerror(errno), p->all_wanted ? "=" : " ");
	if (f)
		note = note_age(p->view, f, path);
	while (f && to - from < LINES_MAX && at < to && getline(&text, &size, f) > 0) {
		at++;
		for (; i < nr && places[i].at < at; i++)
			add_line(l, p, &places[i], places[i].at, NULL);
		if (at < from)
			continue;
		add_line(l, p, i < nr && places[i].at == at ? &places[i] : NULL, at, text);
		i += i < nr && places[i].at == at;
	}
	/* Without a source, or beyond its end, there are the numbers at least. */
	for (; i < nr; i++)
		add_line(l, p, &places[i], places[i].at, NULL);
	if (f)
		fclose(f);
	free(path);
	free(text);
	return note;
}

char *source_advice(const char *mapping, const char *package, const char *profile)
{
	char *advice = debug_advice(package, 0), *text;

	text = xprintf("the profile has no lines of %s: %s, then gprofctl symbolize %s", mapping,
		       advice, strcmp(profile, "-") ? profile : "FILE");
	free(advice);
	return text;
}
