// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * probe_source.c: probes, from a program's words to tracepoints of their own.
 */
#include "probe_source.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/function_offset.h"

#define KERNEL	"kprobe:"
#define USER	"uprobe:"

/**
 * struct words - a probe as it is written, taken apart
 * @text: copy that the others are in
 * @file: of user space, or NULL
 * @function: name
 * @offset: into it
 * @at_return: where it returns
 */
struct words {
	char *text;
	char *file;
	char *function;
	uint64_t offset;
	bool at_return;
};

bool gprof_probe_is_meant(const char *name)
{
	return !strncmp(name, KERNEL, strlen(KERNEL)) || !strncmp(name, USER, strlen(USER));
}

static bool parse_offset(struct words *w)
{
	char *plus = strchr(w->function, '+'), *end;

	if (!plus)
		return true;
	*plus = '\0';
	errno = 0;
	w->offset = strtoull(plus + 1, &end, 0);
	return !errno && isdigit((unsigned char)plus[1]) && !*end && !w->at_return;
}

static bool parse(struct words *w, const char *name)
{
	char *percent, *colon;

	w->function = w->text + strlen(KERNEL);
	if (name[0] == USER[0]) {
		w->file = w->function;
		colon = strrchr(w->file, ':');
		if (!colon || colon == w->file)
			return false;
		*colon = '\0';
		w->function = colon + 1;
	}
	percent = strchr(w->function, '%');
	if (percent) {
		if (strcmp(percent, "%return"))
			return false;
		*percent = '\0';
		w->at_return = true;
	}
	return parse_offset(w) && *w->function && !strpbrk(w->function, " \t\n/");
}

static int add_user(struct gprof_probe *p, const struct words *w, const char *name,
		    struct gprof_error *e)
{
	char *path = realpath(w->file, NULL);
	uint64_t offset = 0;
	int err;

	if (!path)
		return gprof_error_set(e, errno, "%s: there is no file %s (%s)", name, w->file,
				       gprof_strerror(errno));
	err = gprof_function_offset(path, w->function, &offset, e);
	if (!err)
		err = gprof_probe_add(p, path, NULL, offset + w->offset, w->at_return, name, e);
	free(path);
	return err;
}

int gprof_probe_source_init(struct gprof_probe *p, const char *name, struct gprof_error *e)
{
	struct words w = { .text = strdup(name) };
	int err;

	if (!w.text)
		return gprof_error_set(e, ENOMEM, "%s: no memory", name);
	if (!parse(&w, name))
		err = gprof_error_set(e, EINVAL, "%.256s: a probe is written FUNCTION, or "
				      "FILE:FUNCTION for one of a program, with +OFFSET or %%return "
				      "behind", name + strlen(KERNEL));
	else if (w.file)
		err = add_user(p, &w, name, e);
	else
		err = gprof_probe_add(p, NULL, w.function, w.offset, w.at_return, name, e);
	free(w.text);
	return err;
}
