// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * flags.c: recordings of the process itself, from its command line or its environment.
 */
#include <gprof/flags.h>

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/own_process.h"
#include "base/shim_hooks.h"
#include "flags_file.h"
#include "record_request.h"

#define ITEMS_MAX	8

/**
 * struct item - a recording
 * @request: kind and target
 * @out: where to, as it was given; NULL: stderr, of counters alone
 * @file: it, while open
 * @rec: recorder, while it records
 */
struct item {
	struct gprof_record_request request;
	char *out;
	struct gprof_flags_file file;
	struct gprof_recording rec;
};

/**
 * struct gprof_flags - recordings
 * @items: they
 * @nr: number of @items
 * @owner: gprof_own_process() of the process that started them, 0 when they are not
 */
struct gprof_flags {
	struct item items[ITEMS_MAX];
	size_t nr;
	uint64_t owner;
};

static const struct {
	const char *name;
	const char *kind;	/* NULL: about that of -cpuprofile */
	const char *key;	/* the value is of that; NULL: it is a file */
} flags[] = {
	{ "cpuprofile", "cpu", NULL },
	{ "cpuprofileevent", NULL, "event" },
	{ "cpuprofileperiod", NULL, "period" },
	{ "blockprofile", "block", NULL },
	{ "mutexprofile", "mutex", NULL },
	{ "memprofile", "heap", NULL },
	{ "trace", "trace", NULL },
	{ "counters", "counters", "event" },
};

#define NR_FLAGS	(sizeof(flags) / sizeof(flags[0]))

static struct gprof_flags *new_flags(struct gprof_error *e)
{
	struct gprof_flags *f = calloc(1, sizeof(*f));
	size_t i;

	if (!f) {
		gprof_error_set(e, ENOMEM, "no memory for flags");
		return NULL;
	}
	for (i = 0; i < ITEMS_MAX; i++)
		f->items[i].file = GPROF_FLAGS_FILE_NONE;
	return f;
}

static struct item *add(struct gprof_flags *f, const char *kind, const char *out,
			struct gprof_error *e)
{
	struct item *it = &f->items[f->nr];

	if (f->nr == ITEMS_MAX) {
		gprof_error_set(e, EINVAL, "more than %d recordings at once are too many", ITEMS_MAX);
		return NULL;
	}
	if (!gprof_record_request_kind(&it->request, kind) ||
	    it->request.kind == GPROF_REQUEST_TASK) {
		gprof_error_set(e, EINVAL, "\"%.64s\" cannot be recorded; cpu, block, mutex, alloc, heap, "
				"kernel-alloc, kernel-heap, trace and counters can", kind);
		return NULL;
	}
	it->request.target.type = GPROF_SELF;
	it->out = out ? strdup(out) : NULL;
	if (out && !it->out) {
		gprof_error_set(e, ENOMEM, "no memory for flags");
		return NULL;
	}
	f->nr++;
	return it;
}

/* ---- a command line ---- */

/* Which flag it is, or NR_FLAGS; @value: behind "=", or NULL. */
static size_t find_flag(const char *arg, const char **value)
{
	size_t i, n;

	*value = NULL;
	if (arg[0] != '-' || !arg[1])
		return NR_FLAGS;
	arg += arg[1] == '-' ? 2 : 1;
	n = strcspn(arg, "=");
	for (i = 0; i < NR_FLAGS; i++)
		if (strlen(flags[i].name) == n && !memcmp(flags[i].name, arg, n))
			break;
	if (i < NR_FLAGS && arg[n])
		*value = arg + n + 1;
	return i;
}

static int apply(struct gprof_flags *f, const char *const values[], struct gprof_error *e)
{
	struct item *cpu = NULL, *it;
	size_t i;
	int err;

	for (i = 0; i < NR_FLAGS; i++) {
		if (!values[i])
			continue;
		if (!values[i][0])
			return gprof_error_set(e, EINVAL, "-%s wants a %s", flags[i].name,
					       flags[i].key ? "value" : "file");
		it = cpu;
		if (flags[i].kind)
			it = add(f, flags[i].kind, flags[i].key ? NULL : values[i], e);
		if (!it && !e->err)
			gprof_error_set(e, EINVAL, "-%s is about -cpuprofile, which is not there",
					flags[i].name);
		if (!it)
			return -e->err;
		if (it->request.kind == GPROF_REQUEST_CPU)
			cpu = it;
		err = flags[i].key ?
			      gprof_record_request_set(&it->request, flags[i].key, values[i], e) :
			      0;
		if (err)
			return err;
	}
	return 0;
}

struct gprof_flags *gprof_flags_parse(int *argc, char **argv)
{
	const char *values[NR_FLAGS] = { NULL };
	struct gprof_error e = { 0 };
	struct gprof_flags *f = new_flags(&e);
	char **left = f ? calloc((size_t)*argc + 2, sizeof(*left)) : NULL;
	int i, n = 0;

	if (!left) {
		free(f);
		gprof_error_set(NULL, ENOMEM, "no memory for flags");
		return NULL;
	}
	for (i = 0; i < *argc; i++) {
		const char *value;
		size_t which = i && strcmp(argv[i], "--") ? find_flag(argv[i], &value) : NR_FLAGS;

		if (i && !strcmp(argv[i], "--")) {
			while (i < *argc)
				left[n++] = argv[i++];
			break;
		}
		if (which == NR_FLAGS) {
			left[n++] = argv[i];
			continue;
		}
		if (!value && i + 1 < *argc)
			value = argv[++i];
		if (values[which]) {
			gprof_error_set(&e, EINVAL, "-%s is given twice", flags[which].name);
			break;
		}
		values[which] = value ? value : "";
	}
	if (e.err || apply(f, values, &e)) {
		free(left);
		gprof_flags_free(f);
		gprof_error_publish(&e);
		return NULL;
	}
	memcpy(argv, left, (size_t)n * sizeof(*left));
	argv[n] = NULL;
	*argc = n;
	free(left);
	return f;
}

/* ---- a text ---- */

/* Cut off a piece, and undo its backslashes; which character ended it. */
static char cut(char **p, char *out)
{
	char *s = *p, end;

	while (*s && *s != ',' && *s != ';') {
		if (*s == '\\' && s[1])
			s++;
		*out++ = *s++;
	}
	end = *s;
	*out = '\0';
	*p = s + (end != '\0');
	return end;
}

static int set(struct item *it, char *word, struct gprof_error *e)
{
	char *value = strchr(word, '=');

	if (!value)
		return gprof_error_set(e, EINVAL, "\"%.64s\" is no KEY=VALUE", word);
	*value++ = '\0';
	if (!strcmp(word, "out")) {
		if (it->out || !*value)
			return gprof_error_set(e, EINVAL, "out= wants one file");
		it->out = strdup(value);
		return it->out ? 0 : gprof_error_set(e, ENOMEM, "no memory for flags");
	}
	if (gprof_record_request_is_target(word))
		return gprof_error_set(e, EINVAL, "%s= is not for here: a program records itself", word);
	if (it->request.kind == GPROF_REQUEST_COUNT && strcmp(word, "event"))
		return gprof_error_set(e, EINVAL, "%s= means nothing to counters, which have event= and "
				       "out=", word);
	return gprof_record_request_set(&it->request, word, value, e);
}

static int finish(struct item *it, struct gprof_error *e)
{
	char name[32];

	if (it->request.kind == GPROF_REQUEST_COUNT)
		return it->request.event[0] ? 0 :
					      gprof_error_set(e, EINVAL,
							      "counters want event=, such "
							      "as event=cycles\\,instructions");
	if (it->out)
		return 0;
	snprintf(name, sizeof(name), "%s.%s", it->request.word,
		 it->request.kind == GPROF_REQUEST_TRACE ? "out" : "pb.gz");
	it->out = strdup(name);
	return it->out ? 0 : gprof_error_set(e, ENOMEM, "no memory for flags");
}

static int parse_text(struct gprof_flags *f, char *p, char *word, struct gprof_error *e)
{
	struct item *it = NULL;
	int err;

	while (*p) {
		char end = cut(&p, word);

		if (!it) {
			it = add(f, word, NULL, e);
			err = it ? 0 : -e->err;
		} else {
			err = set(it, word, e);
		}
		if (err)
			return err;
		if (end == ',')
			continue;
		err = finish(it, e);
		if (err)
			return err;
		it = NULL;
	}
	return it ? gprof_error_set(e, EINVAL, "nothing stands behind the last comma") : 0;
}

struct gprof_flags *gprof_flags_parse_text(const char *text)
{
	struct gprof_error e = { 0 };
	struct gprof_flags *f = new_flags(&e);
	char *copy = strdup(text), *word = malloc(strlen(text) + 1);

	if (!f || !copy || !word)
		gprof_error_set(&e, ENOMEM, "no memory for flags");
	else
		parse_text(f, copy, word, &e);
	free(copy);
	free(word);
	if (!e.err)
		return f;
	gprof_flags_free(f);
	gprof_error_publish(&e);
	return NULL;
}

/* ---- recording ---- */

static void drop(struct gprof_flags *f)
{
	size_t i;

	for (i = 0; i < f->nr; i++) {
		gprof_recording_drop(&f->items[i].rec);
		gprof_flags_file_drop(&f->items[i].file);
	}
	f->owner = 0;
}

static int start(struct gprof_flags *f)
{
	struct gprof_error e = { 0 };
	int err = 0;
	size_t i;

	if (f->owner)
		return gprof_error_set(NULL, EBUSY, "what the flags ask for is being recorded already");
	/* Files are opened before the recording begins. */
	for (i = 0; i < f->nr && !err; i++)
		err = gprof_flags_file_open(&f->items[i].file, f->items[i].out, &e);
	for (i = 0; i < f->nr && !err; i++)
		err = gprof_recording_make(&f->items[i].rec, &f->items[i].request);
	for (i = 0; i < f->nr && !err; i++)
		err = gprof_recording_prepare(&f->items[i].rec);
	for (i = 0; i < f->nr && !err; i++)
		err = gprof_recording_start(&f->items[i].rec, &f->items[i].request,
					    f->items[i].file.own.fd);
	if (err) {
		if (!e.err)
			gprof_error_set(&e, -err, "%.600s", gprof_error());
		drop(f);
		gprof_error_publish(&e);
		return err;
	}
	f->owner = gprof_own_process();
	return 0;
}

static int stop(struct gprof_flags *f)
{
	struct gprof_error first = { 0 };
	size_t i;

	if (!f->owner)
		return gprof_error_set(NULL, EINVAL, "nothing is being recorded by flags");
	if (f->owner != gprof_own_process())
		return 0;
	for (i = 0; i < f->nr; i++) {
		struct item *it = &f->items[i];
		struct gprof_error e = { 0 };
		int err = gprof_flags_file_is_there(&it->file, &e);

		if (err) {
			gprof_recording_drop(&it->rec);
		} else {
			err = gprof_recording_end(&it->rec, it->file.own.fd, NULL);
			if (err)
				gprof_error_set(&e, -err, "%.256s was not written: %.340s",
						it->out ? it->out : "stderr",
						gprof_error());
			else
				gprof_flags_file_commit(&it->file, &e);
		}
		gprof_flags_file_drop(&it->file);
		if (e.err && !first.err)
			first = e;
	}
	f->owner = 0;
	if (first.err)
		gprof_error_publish(&first);
	return -first.err;
}

/* Its memory is in no profile of the program's memory. */
int gprof_flags_start(struct gprof_flags *f)
{
	int64_t left = gprof_heap_pause();
	int err = start(f);

	gprof_heap_resume(left);
	return err;
}

int gprof_flags_stop(struct gprof_flags *f)
{
	int64_t left = gprof_heap_pause();
	int err = stop(f);

	gprof_heap_resume(left);
	return err;
}

void gprof_flags_free(struct gprof_flags *f)
{
	size_t i;

	if (!f)
		return;
	/* The recorders of a parent are not a child's to be freed. */
	if (f->owner && f->owner == gprof_own_process())
		drop(f);
	for (i = 0; i < ITEMS_MAX; i++)
		free(f->items[i].out);
	free(f);
}
