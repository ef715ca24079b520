// SPDX-License-Identifier: GPL-2.0-only
/*
 * gprofctl task: states and stacks of all tasks at one moment.
 */
#include "cli/cmd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include <gprof/profile.h>
#include <gprof/task.h>

#include "cli/options.h"
#include "cli/output.h"
#include "cli/diag.h"
#include "cli/json.h"
#include "cli/target_options.h"
#include "profile/view.h"
#include "profile_output.h"
#include "record.h"

static const char *const formats[] = {
	[GPROF_TASK_FORMAT_PPROF] = "pprof",
	[GPROF_TASK_FORMAT_TEXT] = "text",
	[GPROF_TASK_FORMAT_TRACEBACK] = "traceback",
};

/**
 * struct task_options - the command line
 * @target: of the tasks
 * @file: -o
 * @format: --format
 * @buffer: --buffer
 * @user_only: --user-only
 * @kernel: --kernel
 * @python: --python
 * @json: --json
 */
struct task_options {
	struct target target;
	const char *file;
	enum gprof_task_format format;
	unsigned long long buffer;
	bool user_only;
	bool kernel;
	bool python;
	bool json;
};

static int set_format(void *ctx, const char *value)
{
	struct task_options *o = ctx;

	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		if (!strcmp(value, formats[i])) {
			o->format = i;
			return STATUS_OK;
		}
	}
	return misused("--format wants pprof, text or traceback, not \"%s\"", value);
}

static int set_output(void *ctx, const char *value)
{
	struct task_options *o = ctx;

	if (o->file)
		return misused("two outputs: %s and %s", o->file, value);
	o->file = value;
	return STATUS_OK;
}

static int set_user_only(void *ctx, const char *value)
{
	(void)value;
	((struct task_options *)ctx)->user_only = true;
	return STATUS_OK;
}

static int set_kernel(void *ctx, const char *value)
{
	(void)value;
	((struct task_options *)ctx)->kernel = true;
	return STATUS_OK;
}

static int set_python(void *ctx, const char *value)
{
	(void)value;
	((struct task_options *)ctx)->python = true;
	return STATUS_OK;
}

static int set_buffer(void *ctx, const char *value)
{
	struct task_options *o = ctx;

	if (!parse_size(value, &o->buffer) || !o->buffer)
		return misused("--buffer wants bytes, such as 4M, not \"%s\"", value);
	return STATUS_OK;
}

static const struct option_row task_rows[] = {
	{ 0, "format", "FORMAT", "pprof (default), text (the number of tasks with each stack) or\n"
	  "traceback (each task with its state and stack)", set_format },
	{ 'o', "output", "FILE", "the output file (default: task.pb.gz; stdout for text and\n"
	  "traceback); \"-\" is stdout", set_output },
	{ 0, "user-only", NULL, "leave the kernel's frames out", set_user_only },
	{ 0, "kernel", NULL, "require the kernel's frames (default: if permitted, CAP_PERFMON)",
	  set_kernel },
	{ 0, "python", NULL, "put functions of Python programs into the stacks (CPython 3.11 and\n"
	  "3.13)", set_python },
	{ 0, "buffer", "BYTES", "kernel buffer per CPU", set_buffer },
	RECORD_DEBUGINFOD,
	{ 0 },
};

static const struct usage task_usage = {
	.name = "task",
	.synopsis = "[OPTIONS] [-p PID | -t TID | -G CGROUP | -C CPUS | -a]",
	.text =
"Takes the stacks of all tasks of a process, a cgroup, CPUs or the whole host,\n"
"running and waiting, with the reason and the begin of each wait. No task is\n"
"stopped: each stack is of an instant of its own, and a comment of the profile\n"
"has the span of all of them.",
	.examples =
"  gprofctl task -p 1234 --format traceback   # why does it hang?\n"
"  gprofctl task -a && gprofctl top task.pb.gz --cum",
};

static struct gprof_profile *capture(const struct task_options *o, bool kernel)
{
	return gprof_task_snapshot(&(struct gprof_task_config){
		.sz = sizeof(struct gprof_task_config),
		.target = o->target.gprof,
		.buffer_bytes = o->buffer,
		.kernel_frames = kernel,
		.python = o->python,
	});
}

/* Whether the kernel may be looked at is for the module to decide: ask it. */
static struct gprof_profile *capture_permitted(const struct task_options *o)
{
	struct gprof_profile *p = NULL;

	errno = EPERM;
	if (!o->user_only)
		p = capture(o, true);
	if (p || o->kernel || errno != EPERM)
		return p;
	return capture(o, false);
}

/* Losses, and last the counts, as of a recording: programs read them. */
static void report(const struct gprof_profile *p)
{
	static const char samples[] = "samples: ";
	const char *text, *counts = NULL;

	for (size_t i = 0; (text = gprof_profile_comment(p, i)); i++) {
		if (!strncmp(text, samples, strlen(samples)))
			counts = text + strlen(samples);
		else if (!strncmp(text, "lost ", 5) || strstr(text, "user stacks are complete"))
			diag("task: %s", text);
	}
	if (counts)
		fprintf(stderr, "%s\n", counts);
}

/**
 * struct listing - tasks for programs
 * @p: profile
 * @j: document
 */
struct listing {
	const struct gprof_profile *p;
	struct json j;
};

static void put_number(struct listing *l, const char *key, const char *label)
{
	int64_t n;

	if (gprof_profile_label(l->p, label, &n))
		json_s64(&l->j, key, n);
}

static int put_task(void *ctx, const struct gprof_frame *frames, size_t nr, const int64_t *values)
{
	struct listing *l = ctx;
	const char *state = gprof_profile_label(l->p, "state", NULL);
	const char *comm = gprof_profile_label(l->p, "comm", NULL);

	(void)values;
	json_object(&l->j, NULL);
	put_number(l, "pid", "pid");
	put_number(l, "tid", "tid");
	json_string(&l->j, "comm", comm ? comm : "");
	json_string(&l->j, "state", state ? state : "other");
	put_number(l, "since_ns", "since");
	put_number(l, "at_ns", "at");
	put_number(l, "cpu", "cpu");
	frames_json(&l->j, frames, nr);
	json_end(&l->j);
	return 0;
}

static int write_json(const struct gprof_profile *p, int fd, const void *ctx)
{
	const struct view v = { .profile = (struct gprof_profile *)p };
	struct listing l = { .p = p };
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0), err;
	FILE *f = copy < 0 ? NULL : fdopen(copy, "w");

	(void)ctx;
	if (!f)
		return -errno;
	json_open(&l.j, f, "task");
	json_array(&l.j, "tasks");
	err = gprof_profile_each(p, put_task, &l);
	json_end(&l.j);
	view_json_close(&l.j, &v, NULL);
	return fclose(f) ? -errno : err;
}

static int write_as(const struct gprof_profile *p, int fd, const void *ctx)
{
	return gprof_task_write(p, fd, ((const struct task_options *)ctx)->format);
}

static int snapshot(struct task_options *o)
{
	bool text = o->json || o->format != GPROF_TASK_FORMAT_PPROF;
	struct output out;
	int status;

	if (!o->file)
		o->file = text ? "-" : "task.pb.gz";
	status = text ? output_open_text(&out, o->file) : output_open(&out, o->file);
	if (status != STATUS_OK)
		return status;
	return profile_output(&out, capture_permitted(o), o->json ? write_json : text ? write_as : NULL,
			      o, report);
}

int cmd_task(int argc, char **argv)
{
	struct task_options o = { 0 };
	const struct option_table tables[] = {
		{ "Output", task_rows, &o },
		{ "Target", target_instant_options, &o.target },
		{ JSON_TABLE, json_options, &o.json },
		{ 0 },
	};
	int operands, status;

	if (!options_parse(&task_usage, tables, argc, argv, false, &operands, &status))
		return status;
	if (o.user_only && o.kernel)
		return misused("--user-only and --kernel exclude each other");
	if (o.json && o.format != GPROF_TASK_FORMAT_PPROF)
		return misused("--json and --format %s exclude each other", formats[o.format]);
	if (operands < argc || o.target.duration_ns)
		return misused("task is of one moment of what runs already: it takes no command, "
			       "and no -d");
	if (!o.target.chosen)
		return misused("nothing to look at: give -p PID, -t TID, -G CGROUP, -C CPUS or -a, as in "
			       "gprofctl task -p 1234 --format traceback");
	status = target_complete(&o.target, argv + operands, task_usage.name);
	return status == STATUS_OK ? snapshot(&o) : status;
}
