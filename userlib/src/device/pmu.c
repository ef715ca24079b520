// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * pmu.c: the kernel's PMUs and their events, as /sys/bus/event_source tells.
 */
#include "pmu.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/table.h"

#define NAME_SIZE	128
#define FILE_SIZE	1024

/* The first line of a small file, without its end; 0 or -errno. */
static int read_line(const char *path, char line[FILE_SIZE])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = read(fd, line, FILE_SIZE - 1);
	if (n < 0)
		n = -errno;
	close(fd);
	if (n < 0)
		return (int)n;
	line[n] = '\0';
	line[strcspn(line, "\r\n")] = '\0';
	return 0;
}

/* A name that goes into a path: no separators, no dots at the start. */
static bool plain_name(const char *name)
{
	return name[0] && name[0] != '.' && !strchr(name, '/') && strlen(name) < NAME_SIZE;
}

static int read_file(char line[FILE_SIZE], const char *sysfs, const char *pmu, const char *dir,
		     const char *name)
{
	char path[512];
	int n;

	if (!plain_name(pmu) || (name && !plain_name(name)))
		return -ENOENT;
	n = snprintf(path, sizeof(path), "%s/%s/%s%s%s", sysfs, pmu, dir, name ? "/" : "",
		     name ? name : "");
	if (n < 0 || (size_t)n >= sizeof(path))
		return -ENOENT;
	return read_line(path, line);
}

static int parse_number(const char *text, uint64_t *value)
{
	char *end;

	if (!isdigit((unsigned char)text[0]))
		return -EINVAL;
	errno = 0;
	*value = strtoull(text, &end, 0);
	return errno || *end ? -EINVAL : 0;
}

/*
 * Spread a value over the bits that a format names, lowest bits first:
 * "config:0-7,32-35" takes 8 bits into 0-7 and 4 into 32-35.
 */
static int put_format(const char *format, uint64_t value, struct gprof_pmu_event *ev, bool *fits)
{
	const char *p = strchr(format, ':');
	unsigned int word;

	if (!p)
		return -EIO;
	if (!strncmp(format, "config:", 7))
		word = 0;
	else if (!strncmp(format, "config1:", 8))
		word = 1;
	else if (!strncmp(format, "config2:", 8))
		word = 2;
	else
		return -EOPNOTSUPP;
	for (p++;; p++) {
		unsigned long lo, hi;
		uint64_t mask;
		char *end;

		if (!isdigit((unsigned char)*p))
			return -EIO;
		lo = hi = strtoul(p, &end, 10);
		if (*end == '-') {
			p = end + 1;
			if (!isdigit((unsigned char)*p))
				return -EIO;
			hi = strtoul(p, &end, 10);
		}
		if (lo > hi || hi > 63)
			return -EIO;
		mask = hi - lo == 63 ? UINT64_MAX : (1ULL << (hi - lo + 1)) - 1;
		ev->config[word] &= ~(mask << lo);
		ev->config[word] |= (value & mask) << lo;
		value = hi - lo == 63 ? 0 : value >> (hi - lo + 1);
		p = end;
		if (*p != ',')
			break;
	}
	if (*p)
		return -EIO;
	*fits = !value;
	return 0;
}

static int put_term(const char *sysfs, const char *pmu, const char *term, uint64_t value,
		    struct gprof_pmu_event *ev, struct gprof_error *e)
{
	static const char *const words[] = { "config", "config1", "config2" };
	char format[FILE_SIZE];
	bool fits = true;
	size_t i;
	int err;

	for (i = 0; i < 3; i++) {
		if (!strcmp(term, words[i])) {
			ev->config[i] = value;
			return 0;
		}
	}
	err = read_file(format, sysfs, pmu, "format", term);
	if (err)
		return gprof_error_set(e, ENOENT,
				       "%s has no term \"%s\"; those that it has are in "
				       "%s/%s/format", pmu, term, sysfs, pmu);
	err = put_format(format, value, ev, &fits);
	if (err)
		return gprof_error_set(e, -err, "%s/%s/format/%s says \"%.80s\", which is not "
				       "understood", sysfs, pmu, term, format);
	if (!fits)
		return gprof_error_set(e, EINVAL, "%s: %#llx does not fit into term \"%s\" (%.80s)",
				       pmu, (unsigned long long)value, term, format);
	return 0;
}

/* "term=value,term,..." into @ev; a term without a value is 1. */
static int put_terms(const char *sysfs, const char *pmu, char *terms, bool from_sysfs,
		     struct gprof_pmu_event *ev, struct gprof_error *e)
{
	char *save = NULL;
	char *term;
	int err;

	for (term = strtok_r(terms, ",", &save); term; term = strtok_r(NULL, ",", &save)) {
		char *text = strchr(term, '=');
		uint64_t value = 1;

		if (text)
			*text++ = '\0';
		/* "event=?" wants the caller to say; a later term does. */
		if (from_sysfs && text && !strcmp(text, "?"))
			continue;
		if (text && parse_number(text, &value))
			return gprof_error_set(e, EINVAL,
					       "%s: \"%s\" is not a number (term \"%s\")",
					       pmu, text, term);
		err = put_term(sysfs, pmu, term, value, ev, e);
		if (err)
			return err;
	}
	return 0;
}

static int unknown_pmu(const char *sysfs, const char *pmu, struct gprof_error *e)
{
	char have[256] = "";
	size_t used = 0;
	char **names;
	size_t nr, i;

	if (!gprof_pmu_list(sysfs, NULL, &names, &nr)) {
		for (i = 0; i < nr && used + strlen(names[i]) + 8 < sizeof(have); i++)
			used += (size_t)sprintf(have + used, "%s%s", i ? " " : "", names[i]);
		if (i < nr)
			sprintf(have + used, " ...");
		gprof_pmu_list_free(names, nr);
	}
	return gprof_error_set(e, ENOENT, "%s: the kernel has no such PMU; it has: %s", pmu,
			       have[0] ? have : "none");
}

int gprof_pmu_parse(const char *sysfs, const char *name, struct gprof_pmu_event *ev,
		    struct gprof_error *e)
{
	size_t len = strlen(name);
	const char *slash = strchr(name, '/');
	char pmu[NAME_SIZE], text[FILE_SIZE], line[FILE_SIZE];
	uint64_t type;
	char *rest;
	int err;

	memset(ev, 0, sizeof(*ev));
	if (!slash || slash == name || len < 2 || name[len - 1] != '/' ||
	    slash + 1 >= name + len - 1 ||
	    memchr(slash + 1, '/', len - (size_t)(slash - name) - 2))
		return gprof_error_set(e, EINVAL,
				       "%.128s: a PMU's event is written PMU/EVENT/ or "
				       "PMU/term=value,.../", name);
	if (slash - name >= NAME_SIZE || len >= FILE_SIZE)
		return gprof_error_set(e, EINVAL, "%.64s...: the name is too long", name);
	memcpy(pmu, name, (size_t)(slash - name));
	pmu[slash - name] = '\0';
	memcpy(text, slash + 1, len - (size_t)(slash - name) - 2);
	text[len - (size_t)(slash - name) - 2] = '\0';

	if (read_file(line, sysfs, pmu, "type", NULL))
		return unknown_pmu(sysfs, pmu, e);
	if (parse_number(line, &type) || type > UINT32_MAX)
		return gprof_error_set(e, EIO, "%s/%s/type says \"%.40s\", which is no number",
				       sysfs, pmu, line);
	ev->type = (uint32_t)type;

	/* The first item is an event's name, unless it has a value or is a term. */
	rest = text + strcspn(text, ",");
	if (*rest)
		*rest++ = '\0';
	if (!strchr(text, '=') && !read_file(line, sysfs, pmu, "events", text)) {
		err = put_terms(sysfs, pmu, line, true, ev, e);
	} else if (!strchr(text, '=') && read_file(line, sysfs, pmu, "format", text)) {
		err = gprof_error_set(e, ENOENT,
				      "%s has no event \"%s\"; those that it has are in "
				      "%s/%s/events", pmu, text, sysfs, pmu);
	} else {
		err = put_terms(sysfs, pmu, text, false, ev, e);
	}
	return err ? err : put_terms(sysfs, pmu, rest, false, ev, e);
}

int gprof_pmu_find(const char *sysfs, const char *event, struct gprof_pmu_event *ev,
		   struct gprof_error *e)
{
	char line[FILE_SIZE], name[2 * NAME_SIZE + 2];
	char **names;
	size_t nr, i;
	int err;

	err = gprof_pmu_list(sysfs, NULL, &names, &nr);
	if (err)
		return gprof_error_set(e, ENOENT, "%s: cannot be read (%s)", sysfs,
				       gprof_strerror(-err));
	err = -ENOENT;
	for (i = 0; i < nr; i++) {
		if (strlen(names[i]) >= NAME_SIZE ||
		    read_file(line, sysfs, names[i], "events", event))
			continue;
		snprintf(name, sizeof(name), "%s/%s/", names[i], event);
		err = gprof_pmu_parse(sysfs, name, ev, e);
		break;
	}
	gprof_pmu_list_free(names, nr);
	return err;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int gprof_pmu_list(const char *sysfs, const char *pmu, char ***names, size_t *nr)
{
	struct dirent *d;
	size_t cap = 0;
	char path[512];
	DIR *dir;

	*names = NULL;
	*nr = 0;
	if (pmu)
		snprintf(path, sizeof(path), "%s/%s/events", sysfs, pmu);
	else
		snprintf(path, sizeof(path), "%s", sysfs);
	dir = opendir(path);
	if (!dir)
		return -errno;
	while ((d = readdir(dir))) {
		char *copy;

		/* EVENT.scale and EVENT.unit go with EVENT. */
		if (d->d_name[0] == '.' || (pmu && strchr(d->d_name, '.')))
			continue;
		copy = strdup(d->d_name);
		if (!copy || gprof_grow(names, &cap, *nr + 1, sizeof(**names))) {
			free(copy);
			closedir(dir);
			gprof_pmu_list_free(*names, *nr);
			return -ENOMEM;
		}
		(*names)[(*nr)++] = copy;
	}
	closedir(dir);
	if (*nr)
		qsort(*names, *nr, sizeof(**names), by_name);
	return 0;
}

void gprof_pmu_list_free(char **names, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++)
		free(names[i]);
	free(names);
}
