// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * record_request.c: a request for a recording, from words.
 */
#include "record_request.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "query.h"

#define CGROUP_ROOT	"/sys/fs/cgroup"
#define COMM_SIZE	16

bool gprof_record_request_kind(struct gprof_record_request *w, const char *word)
{
	static const struct {
		const char *word;
		enum gprof_record_request_kind kind;
		const char *name;
	} kinds[] = {
		{ "cpu", GPROF_REQUEST_CPU, NULL },
		{ "trace", GPROF_REQUEST_TRACE, NULL },
		{ "task", GPROF_REQUEST_TASK, NULL },
		{ "counters", GPROF_REQUEST_COUNT, NULL },
		{ "block", GPROF_REQUEST_KIND, "block" },
		{ "mutex", GPROF_REQUEST_KIND, "mutex" },
		{ "alloc", GPROF_REQUEST_KIND, "user-alloc" },
		{ "heap", GPROF_REQUEST_KIND, "user-heap" },
		{ "kernel-alloc", GPROF_REQUEST_KIND, "alloc" },
		{ "kernel-heap", GPROF_REQUEST_KIND, "heap" },
	};
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(word, kinds[i].word))
			continue;
		w->word = kinds[i].word;
		w->kind = kinds[i].kind;
		w->name = kinds[i].name;
		return true;
	}
	return false;
}

static int set_id(struct gprof_record_request *w, const char *key, const char *value,
		  enum gprof_target_type type, struct gprof_error *e)
{
	uint64_t id;

	if (strspn(value, "0123456789") != strlen(value) || !gprof_count_parse(value, &id) || !id ||
	    id > INT_MAX)
		return gprof_error_set(e, EINVAL, "%s= wants the number of a %s, not \"%.64s\"", key,
				       type == GPROF_THREAD ? "thread" : "process", value);
	w->target.type = type;
	w->target.id = (int)id;
	return 0;
}

static int set_pid(struct gprof_record_request *w, const char *key, const char *value,
		   struct gprof_error *e)
{
	return set_id(w, key, value, GPROF_PROCESS, e);
}

static int set_tid(struct gprof_record_request *w, const char *key, const char *value,
		   struct gprof_error *e)
{
	return set_id(w, key, value, GPROF_THREAD, e);
}

/* A part of a path that leads elsewhere. */
static bool has_dots(const char *path)
{
	while (*path) {
		size_t n = strcspn(path, "/");

		if (n == 2 && path[0] == '.' && path[1] == '.')
			return true;
		path += n;
		path += *path == '/';
	}
	return false;
}

/* A client is not to find out which other directories there are. */
static int set_cgroup(struct gprof_record_request *w, const char *key, const char *value,
		      struct gprof_error *e)
{
	size_t root = strlen(CGROUP_ROOT);
	bool whole = !strncmp(value, CGROUP_ROOT, root) && (value[root] == '/' || !value[root]);

	(void)key;
	if (!value[0] || has_dots(value) || (value[0] == '/' && !whole))
		return gprof_error_set(e, EINVAL, "cgroup= wants a directory below " CGROUP_ROOT ", such "
				       "as system.slice, not \"%.128s\"", value);
	if (snprintf(w->target_name, sizeof(w->target_name), "%s%s", whole ? "" : CGROUP_ROOT "/",
		     value) >= (int)sizeof(w->target_name))
		return gprof_error_set(e, ENAMETOOLONG, "cgroup= is too long for a path");
	w->target.type = GPROF_CGROUP;
	w->target.name = w->target_name;
	return 0;
}

static int set_cpu(struct gprof_record_request *w, const char *key, const char *value,
		   struct gprof_error *e)
{
	(void)key;
	if (snprintf(w->target_name, sizeof(w->target_name), "%s", value) >=
	    (int)sizeof(w->target_name))
		return gprof_error_set(e, EINVAL, "cpu= is too long for a list of CPUs");
	w->target.type = GPROF_CPUS;
	w->target.name = w->target_name;
	return 0;
}

static bool has_comm(const char *pid, const char *comm)
{
	char path[32], name[COMM_SIZE + 1];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%.10s/comm", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, name, COMM_SIZE);
	close(fd);
	if (n <= 0)
		return false;
	name[n] = '\0';
	name[strcspn(name, "\n")] = '\0';
	/* As the kernel keeps it, which is no more than 15 bytes. */
	return !strncmp(name, comm, COMM_SIZE - 1);
}

static int set_comm(struct gprof_record_request *w, const char *key, const char *value,
		    struct gprof_error *e)
{
	unsigned int nr = 0;
	struct dirent *d;
	int first = 0;
	DIR *proc;

	(void)key;
	if (!value[0])
		return gprof_error_set(e, EINVAL, "comm= wants the name of a process");
	proc = opendir("/proc");
	if (!proc)
		return gprof_error_set(e, errno, "/proc cannot be read (%s): use pid= rather than "
				       "comm=", gprof_strerror(errno));
	while ((d = readdir(proc))) {
		if (strspn(d->d_name, "0123456789") != strlen(d->d_name) ||
		    !has_comm(d->d_name, value))
			continue;
		if (!nr++)
			first = atoi(d->d_name);
	}
	closedir(proc);
	if (!nr)
		return gprof_error_set(e, ESRCH, "no process is called \"%.64s\"", value);
	if (nr > 1)
		return gprof_error_set(e, EINVAL, "%u processes are called \"%.64s\": say which one "
				       "with pid=, or take their cgroup=", nr, value);
	w->target.type = GPROF_PROCESS;
	w->target.id = first;
	return 0;
}

static int set_event(struct gprof_record_request *w, const char *key, const char *value,
		     struct gprof_error *e)
{
	if (!value[0] || strlen(value) >= sizeof(w->event))
		return gprof_error_set(e, EINVAL, "%s= wants the name of an event, such as cycles; "
				       "gprofctl info lists them", key);
	strcpy(w->event, value);
	return 0;
}

static int set_count(uint64_t *to, const char *key, const char *value, const char *what,
		     struct gprof_error *e)
{
	if (gprof_count_parse(value, to) && *to)
		return 0;
	return gprof_error_set(e, EINVAL, "%s= wants %s above 0, such as 1000, not \"%.64s\"", key,
			       what, value);
}

static int set_period(struct gprof_record_request *w, const char *key, const char *value,
		      struct gprof_error *e)
{
	return set_count(&w->period, key, value, "a number of events", e);
}

static int set_hz(struct gprof_record_request *w, const char *key, const char *value,
		  struct gprof_error *e)
{
	return set_count(&w->hz, key, value, "samples per second", e);
}

static int set_every(struct gprof_record_request *w, const char *key, const char *value,
		     struct gprof_error *e)
{
	return set_count(&w->every, key, value, "a number", e);
}

static int set_probes(struct gprof_record_request *w, const char *key, const char *value,
		      struct gprof_error *e)
{
	if (strcmp(value, "0") && strcmp(value, "1"))
		return gprof_error_set(e, EINVAL, "%s= wants 0 or 1, not \"%.64s\"", key, value);
	w->probes = value[0] == '1';
	return 0;
}

static const struct {
	const char *key;
	bool chooses;
	int (*set)(struct gprof_record_request *w, const char *key, const char *value,
		   struct gprof_error *e);
} keys[] = {
	{ "event", false, set_event },
	{ "period", false, set_period },
	{ "hz", false, set_hz },
	{ "every", false, set_every },
	{ "probes", false, set_probes },
	{ "pid", true, set_pid },
	{ "tid", true, set_tid },
	{ "cgroup", true, set_cgroup },
	{ "cpu", true, set_cpu },
	{ "comm", true, set_comm },
};

#define NR_KEYS	(sizeof(keys) / sizeof(keys[0]))

const char *gprof_record_request_nth_key(size_t i)
{
	return i < NR_KEYS ? keys[i].key : NULL;
}

bool gprof_record_request_is_target(const char *key)
{
	size_t i;

	for (i = 0; i < NR_KEYS; i++)
		if (!strcmp(key, keys[i].key))
			return keys[i].chooses;
	return false;
}

int gprof_record_request_set(struct gprof_record_request *w, const char *key, const char *value,
			     struct gprof_error *e)
{
	size_t i;

	for (i = 0; i < NR_KEYS; i++) {
		if (strcmp(key, keys[i].key))
			continue;
		if (keys[i].chooses && w->chosen)
			return gprof_error_set(e, EINVAL, "%s= and %s= exclude each other: a recording "
					       "has one target", w->chosen, key);
		if (keys[i].chooses)
			w->chosen = keys[i].key;
		return keys[i].set(w, key, value, e);
	}
	return gprof_error_set(e, ENOENT, "there is no \"%.64s\" to be set", key);
}
