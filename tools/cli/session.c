// SPDX-License-Identifier: GPL-2.0-only
/*
 * The command is forked first and executed last, since nothing of it may be missed; it is
 * never ended: after -d, or the end of another target, it runs on, and its status is the
 * caller's to know.
 */
#include "session.h"

#include <stdio.h>

#include "children.h"
#include "cmd.h"
#include "diag.h"

#define NSEC_PER_SEC	1e9

#define SHOW_AFTER	5	/* looks, ten a second */

int session_begin(struct session *s, struct target *target)
{
	int status;

	*s = (struct session){ .target = target };
	status = watch_begin(&s->watch);
	if (status != STATUS_OK || !target->command)
		return status;
	status = launch_prepare(&s->command, target->command, &s->watch.old_mask);
	if (status != STATUS_OK)
		return status;
	if (target->is_command)
		target->gprof.id = s->command.pid;
	return watch_command(&s->watch, s->command.pid);
}

static int show_progress(void *ctx, size_t done, size_t all)
{
	struct session *s = ctx;

	s->done = done;
	s->all = all;
	if (++s->shown > SHOW_AFTER)
		progress("making unwind tables: %zu of %zu files", done, all);
	return watch_signalled(&s->watch);
}

struct gprof_prepare session_preparing(struct session *s)
{
	return (struct gprof_prepare){
		.sz = sizeof(struct gprof_prepare),
		.progress = show_progress,
		.ctx = s,
		.program = s->target->is_command ? s->target->command[0] : NULL,
	};
}

void session_prepared(const struct session *s)
{
	progress_clear();
	if (s->done < s->all)
		diag("%zu of %zu files have no unwind table yet; stacks through them are cut until "
		     "they have",
		     s->all - s->done, s->all);
}

int session_go(struct session *s)
{
	int status = STATUS_OK;

	if (!s->target->is_command) {
		watch_target(&s->watch, &s->target->gprof);
		if (s->target->gprof.type == GPROF_PROCESS)
			children_report(s->target->gprof.id);
	}
	if (s->target->command) {
		status = launch_go(&s->command);
		s->going = status == STATUS_OK;
	}
	return status;
}

static void reap(struct session *s)
{
	s->status = launch_wait(&s->command);
	s->going = false;
}

int session_wait(struct session *s, bool (*tick)(void *ctx, uint64_t ns), void *ctx)
{
	watch_wait(&s->watch, s->target->duration_ns, tick, ctx);
	if (s->going && watch_command_ended(&s->watch))
		reap(s);
	return s->status;
}

const char *session_time(struct session *s, uint64_t ns)
{
	if (s->target->duration_ns)
		snprintf(s->time, sizeof(s->time), "%.1f of %.1f s", (double)ns / NSEC_PER_SEC,
			 (double)s->target->duration_ns / NSEC_PER_SEC);
	else
		snprintf(s->time, sizeof(s->time), "%.1f s", (double)ns / NSEC_PER_SEC);
	return s->time;
}

int session_end(struct session *s, int status)
{
	if (s->going) {
		watch_command_alone(&s->watch);
		watch_wait(&s->watch, 0, NULL, NULL);
		reap(s);
	} else {
		launch_abandon(&s->command);
	}
	watch_end(&s->watch);
	return status == STATUS_OK ? s->status : status;
}
