// SPDX-License-Identifier: GPL-2.0-only
/*
 * Outputs are opened before the recording, since an output that fails needs none.
 */
#include "record.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmd.h"
#include "cli/debuginfod_progress.h"
#include "cli/output.h"
#include "cli/diag.h"
#include "cli/session.h"
#include "profile_output.h"

/**
 * struct run - a recording under way
 * @rec: the recording
 * @outputs: one for each event
 * @nr_open: outputs that are open
 * @session: target and command
 * @recorder: from the library
 */
struct run {
	const struct recording *rec;
	struct output *outputs;
	size_t nr_open;
	struct session session;
	struct gprof_recorder *recorder;
};

static int open_outputs(struct run *s)
{
	const struct recording *rec = s->rec;

	for (size_t i = 0; i < rec->nr_files; i++) {
		int status = output_open(&s->outputs[i], rec->files[i]);

		if (status != STATUS_OK)
			return status;
		s->outputs[i].keep_old = true;
		s->nr_open++;
		for (size_t j = 0; j < i; j++)
			if (output_same(&s->outputs[i], &s->outputs[j]))
				return misused("two events cannot share the output %s: "
					       "each wants an -o of its own", rec->files[i]);
	}
	return STATUS_OK;
}

static void discard_outputs(struct run *s)
{
	for (size_t i = 0; i < s->nr_open; i++)
		output_discard(&s->outputs[i]);
	s->nr_open = 0;
}

static int commit_outputs(struct run *s)
{
	int status = STATUS_OK;

	for (size_t i = 0; i < s->nr_open; i++) {
		int one = output_commit(&s->outputs[i]);

		if (one != STATUS_OK)
			status = one;
	}
	s->nr_open = 0;
	return status;
}

static int start(struct run *s)
{
	struct gprof_prepare how = session_preparing(&s->session);
	struct target *t = s->rec->target;
	int *fds;
	int err;

	s->recorder = s->rec->make(s->rec->ctx, &t->gprof, t->is_command);
	if (!s->recorder)
		return fail("%s", gprof_error());
	err = gprof_recorder_prepare(s->recorder, &how);
	if (err)
		return fail("%s", gprof_error());
	session_prepared(&s->session);
	fds = xalloc(s->nr_open, sizeof(*fds));
	for (size_t i = 0; i < s->nr_open; i++)
		fds[i] = s->outputs[i].fd;
	err = gprof_recorder_start_events(s->recorder, fds, s->nr_open);
	free(fds);
	if (err)
		return fail("%s", gprof_error());
	return session_go(&s->session);
}

static bool tick(void *ctx, uint64_t ns)
{
	struct run *s = ctx;
	uint64_t produced = 0, lost = 0;

	for (size_t i = 0; i < s->rec->nr_files; i++) {
		struct gprof_recorder_stats st = { .sz = sizeof(st) };

		if (gprof_recorder_stats(s->recorder, i, &st))
			return true;
		produced += st.produced;
		lost += st.lost;
	}
	progress("recording: %s, %" PRIu64 " samples, %" PRIu64 " lost (Ctrl-C ends it)",
		 session_time(&s->session, ns), produced, lost);
	return true;
}

/* Where it is, how much it is, and how it is looked at. */
static void report_files(const struct run *s, const struct gprof_recorder_stats *st)
{
	for (size_t i = 0; i < s->rec->nr_files; i++) {
		char *samples;

		if (!st[i].read)
			continue;
		samples = xprintf("%" PRIu64 " samples, ", st[i].read);
		output_place(s->rec->files[i], samples, "view", "top");
		free(samples);
	}
}

static int report(struct run *s, bool written)
{
	size_t nr = s->rec->nr_files;
	struct gprof_recorder_stats *st = xalloc(nr, sizeof(*st));
	int status = STATUS_OK;

	for (size_t i = 0; i < nr && status == STATUS_OK; i++) {
		st[i].sz = sizeof(st[i]);
		if (gprof_recorder_stats(s->recorder, i, &st[i]))
			status = fail("%s", gprof_error());
	}
	if (status == STATUS_OK && written)
		report_files(s, st);
	if (status == STATUS_OK)
		record_summary(st, nr, &s->rec->words, s->rec->target->verbose);
	free(st);
	return status;
}

/* Ends the recording and puts the profiles in place, or none of them. */
static int finish(struct run *s)
{
	int status;

	progress("writing the profile");
	watch_hurry(output_discard_all);
	if (gprof_recorder_stop(s->recorder)) {
		status = fail("%s", gprof_error());
		for (size_t i = 0; i < s->nr_open; i++)
			diag("%s was not written", s->outputs[i].name);
		watch_resume();
		discard_outputs(s);
	} else {
		watch_resume();
		status = commit_outputs(s);
		if (status == STATUS_OK && s->rec->after)
			status = s->rec->after(s->rec->ctx, s->recorder);
	}
	progress_clear();
	if (report(s, status == STATUS_OK) != STATUS_OK)
		status = STATUS_FAILED;
	return status;
}

int record_debuginfod(void *ctx, const char *value)
{
	(void)ctx;
	(void)value;
	return debuginfod_enable(0) ? fail("%s", gprof_error()) : STATUS_OK;
}

int record(const struct recording *rec)
{
	struct run s = {
		.rec = rec,
		.outputs = xalloc(rec->nr_files, sizeof(*s.outputs)),
	};
	/* With a command the terminal is the command's. */
	bool shown = progress_enabled() && !rec->target->command;
	int status = session_begin(&s.session, rec->target);

	if (status == STATUS_OK)
		status = open_outputs(&s);
	if (status == STATUS_OK)
		status = start(&s);
	if (status == STATUS_OK) {
		session_wait(&s.session, shown ? tick : NULL, &s);
		status = finish(&s);
	}
	gprof_recorder_free(s.recorder);
	discard_outputs(&s);
	status = session_end(&s.session, status);
	free(s.outputs);
	return status;
}
