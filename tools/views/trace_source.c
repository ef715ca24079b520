// SPDX-License-Identifier: GPL-2.0-only
/*
 * The trace of a view: a file, or a new recording.
 */
#include "trace_source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cmd.h"
#include "cli/diag.h"
#include "cli/output.h"
#include "live_view.h"

/* Words of gprofctl trace besides its options and the command's. */
#define WORDS_MAX	12

static int set_calls(void *ctx, const char *value)
{
	(void)value;
	((struct trace_source *)ctx)->calls = true;
	return STATUS_OK;
}

const struct option_row trace_source_options[] = {
	{ 0, "syscalls", NULL, "record system calls and page faults too: many events, of which some may be\n"
	  "lost on a busy host", set_calls },
	{ 0 },
};

/* The recording, while there is one. */
static const char *recording;

const char *trace_source_told(const char *file)
{
	return file == recording ? "the trace" : file;
}

bool trace_source_mixed(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], "--"))
			return false;
	return true;
}

static int make_temp(struct trace_source *t)
{
	const char *dir = getenv("TMPDIR");
	int fd;

	t->temp = xprintf("%s/gprofctl-XXXXXX", dir && *dir ? dir : "/tmp");
	fd = mkostemp(t->temp, O_CLOEXEC);
	if (fd < 0) {
		int status = fail("%s cannot be made (%s)", t->temp, strerror(errno));

		free(t->temp);
		t->temp = NULL;
		return status;
	}
	close(fd);
	t->file = recording = t->temp;
	return STATUS_OK;
}

/* Into @out, in a form of @version; NULL: that of a file. */
static void record(struct trace_source *t, const char *const *wants, const char *out,
		   const char *version)
{
	const struct target *target = &t->target;
	size_t nr = 0, nr_wants = 0, nr_command = 0;
	char number[16], *duration = NULL;
	char **words;

	while (wants[nr_wants])
		nr_wants++;
	while (target->command && target->command[nr_command])
		nr_command++;
	words = xalloc(nr_wants + nr_command + WORDS_MAX, sizeof(*words));
	words[nr++] = "trace";
	for (size_t i = 0; i < nr_wants; i++)
		words[nr++] = (char *)wants[i];
	if (t->calls) {
		words[nr++] = "--syscalls";
		words[nr++] = "--faults";
	}
	words[nr++] = "-o";
	words[nr++] = (char *)out;
	if (version) {
		words[nr++] = "--go-version";
		words[nr++] = (char *)version;
	}
	if (target->duration_ns) {
		duration = xprintf("-d%lluns", target->duration_ns);
		words[nr++] = duration;
	}
	if (!target->is_command) {
		words[nr++] = (char *)target->chosen;
		snprintf(number, sizeof(number), "%d", target->gprof.id);
		if (target->gprof.name)
			words[nr++] = (char *)target->gprof.name;
		else if (target->gprof.id)
			words[nr++] = number;
	}
	if (target->command) {
		words[nr++] = "--";
		for (size_t i = 0; i < nr_command; i++)
			words[nr++] = target->command[i];
	}
	optind = 0;
	t->status = cmd_trace((int)nr, words);
	free(words);
	free(duration);
}

static int record_file(struct trace_source *t, const char *const *wants)
{
	int status = make_temp(t);
	struct stat st;

	if (status != STATUS_OK)
		return status;
	output_temporary(t->temp);
	record(t, wants, t->temp, NULL);
	/* A command may have failed, and its trace be there. */
	if (stat(t->temp, &st) || !st.st_size)
		return t->status != STATUS_OK ? t->status : STATUS_FAILED;
	return STATUS_OK;
}

static int record_live(struct trace_source *t, const char *const *wants)
{
	struct live_view live = { 0 };
	int status = live_view_begin(&live, t->show, t->ctx);
	char path[32];

	if (status != STATUS_OK)
		return status;
	snprintf(path, sizeof(path), "/dev/fd/%d", live.fd);
	record(t, wants, path, LIVE_VIEW_VERSION_TEXT);
	return live_view_end(&live);
}

int trace_source_get(struct trace_source *t, const char *name, char **argv, int operands,
		     const char *const *wants)
{
	bool command = operands > 0 && !strcmp(argv[operands - 1], "--");
	int status;

	if (!command && argv[operands]) {
		if (t->target.chosen)
			return misused("%s is for a recording, and %s is a file; a command follows "
				       "--", t->target.chosen, argv[operands]);
		if (argv[operands + 1])
			return misused("%s wants one trace, not \"%s\" too; a command follows --",
				       name, argv[operands + 1]);
		if (t->target.duration_ns)
			return misused("-d is for a recording, and %s is a file; a command follows "
				       "--", argv[operands]);
		if (t->calls)
			return misused("--syscalls is for a recording, and %s is a file; a command "
				       "follows --", argv[operands]);
		if (t->show)
			return misused("--follow is for a recording, and %s is a file; a command "
				       "follows --", argv[operands]);
		t->file = argv[operands];
		return STATUS_OK;
	}
	status = target_complete(&t->target, argv + operands, name);
	if (status != STATUS_OK)
		return status;
	return t->show ? record_live(t, wants) : record_file(t, wants);
}

int trace_source_free(struct trace_source *t, int status)
{
	if (t->temp)
		unlink(t->temp);
	free(t->temp);
	return status == STATUS_OK ? t->status : status;
}
