// SPDX-License-Identifier: GPL-2.0-only
/*
 * Goroutines that run as a Go program's trace begins.
 */
#include "runners.h"

#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include <gprof/trace.h>

#include "cli/diag.h"

/* By its own thread: a status of another at the end of a generation does not name that. */
static bool is_running_status(const struct gprof_trace_event *ev)
{
	return ev->kind == GPROF_TRACE_STATE_TRANSITION && join_is_tid(ev->thread) &&
	       ev->transition.resource.kind == GPROF_TRACE_RESOURCE_GOROUTINE &&
	       ev->transition.from == GPROF_TRACE_GO_UNDETERMINED &&
	       ev->transition.to == GPROF_TRACE_GO_RUNNING;
}

static void read_generation(struct runners *r, struct gprof_trace *t)
{
	struct gprof_trace_event ev;
	bool any = false;

	while (gprof_trace_next(t, &ev) > 0) {
		if (ev.kind == GPROF_TRACE_SYNC) {
			if (any)
				break;
			continue;
		}
		if (!any || ev.time < r->begin)
			r->begin = ev.time;
		any = true;
		if (!is_running_status(&ev))
			continue;
		r->all = xgrow(r->all, r->nr, &r->room, sizeof(*r->all));
		r->all[r->nr++] = (struct runner){
			.goroutine = ev.transition.resource.id, .tid = ev.thread,
		};
	}
}

void runners_find(struct runners *r, int fd)
{
	const struct gprof_trace_opts opts = { .sz = sizeof(opts), .own_times = true };
	off_t at = lseek(fd, 0, SEEK_CUR);
	struct gprof_trace *t;

	if (at < 0)
		return;
	t = gprof_trace_new(fd, &opts);
	/* The reader of the whole trace reports its errors. */
	if (t)
		read_generation(r, t);
	gprof_trace_free(t);
	lseek(fd, at, SEEK_SET);
}

void runners_begin(const struct runners *r, struct join_model *j)
{
	for (size_t i = 0; i < r->nr; i++) {
		size_t thread = join_thread(j, r->all[i].tid);

		join_goroutine(j, r->all[i].goroutine)->state = GPROF_TRACE_GO_RUNNING;
		j->threads[thread].go = true;
		join_come(j, r->all[i].goroutine, thread, r->begin);
	}
}

void runners_free(struct runners *r)
{
	free(r->all);
}
