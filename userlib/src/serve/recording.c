// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * recording.c: from a request to a recorder, and from its recording to a file.
 *
 * Whether the kernel may be looked at is for the module to decide: it is asked, and if not,
 * the program alone is recorded.
 */
#include "record_request.h"

#include <errno.h>
#include <gprof/custom.h>
#include <gprof/profile.h>
#include <gprof/task.h>
#include <gprof/trace_record.h>
#include <string.h>
#include <unistd.h>

#include "record/recorder_bytes.h"
#include "record/task_text.h"
#include "shim_loaded.h"

static bool is_timer(const struct gprof_record_request *w)
{
	return !w->event[0] || !strcmp(w->event, "timer");
}

static struct gprof_recorder *new_cpu(const struct gprof_record_request *w, bool kernel)
{
	struct gprof_cpu_event ev = {
		.name = w->event[0] ? w->event : "timer",
		/* As the seed of this has it: the timer's is a rate, and a period means nothing. */
		.period = is_timer(w) ? 0 : w->period,
		.hz = is_timer(w) ? w->hz : 0,
		.flags = kernel ? GPROF_EVENT_KERNEL | GPROF_EVENT_CALLCHAIN_KERNEL : 0,
	};

	return gprof_cpu_recorder_new(&(struct gprof_cpu_config){
		.sz = sizeof(struct gprof_cpu_config),
		.target = w->target,
		.events = &ev,
		.nr_events = 1,
		.slice_ns = w->slice_ns,
	});
}

static struct gprof_recorder *new_kind(const struct gprof_record_request *w, bool kernel)
{
	const struct gprof_kind_config kind = {
		.kind = w->name,
		.rate = w->every,
		.flags = (kernel ? GPROF_RECORD_KERNEL : 0) |
			 (w->probes ? GPROF_RECORD_PROBES : 0) | GPROF_RECORD_TRY_OVER_TIME,
	};

	return gprof_recorder_new(&(struct gprof_recorder_config){
		.sz = sizeof(struct gprof_recorder_config),
		.target = w->target,
		.kinds = &kind,
		.nr_kinds = 1,
	});
}

static struct gprof_recorder *new_recorder(const struct gprof_record_request *w, bool kernel)
{
	return w->kind == GPROF_REQUEST_CPU ? new_cpu(w, kernel) : new_kind(w, kernel);
}

/* Without reports of allocations an empty profile would say that there were none. */
static int check_shim(const struct gprof_record_request *w)
{
	struct gprof_error e = { 0 };

	if (w->kind != GPROF_REQUEST_KIND || strncmp(w->name, "user-", 5) || w->probes ||
	    !gprof_shim_check(&w->target, &e))
		return 0;
	gprof_error_publish(&e);
	return -e.err;
}

static int make_trace(struct gprof_recording *rec, const struct gprof_record_request *w)
{
	struct gprof_trace_config cfg = { .sz = sizeof(cfg) };

	if (w->trace)
		cfg = *w->trace;
	cfg.target = w->target;
	rec->t = gprof_trace_recorder_new(&cfg);
	return rec->t ? 0 : -errno;
}

static int make_recorder(struct gprof_recording *rec, const struct gprof_record_request *w)
{
	int err = check_shim(w);

	if (err)
		return err;
	rec->r = new_recorder(w, true);
	if (!rec->r && errno == EPERM)
		rec->r = new_recorder(w, false);
	return rec->r ? 0 : -errno;
}

int gprof_recording_make(struct gprof_recording *rec, const struct gprof_record_request *w)
{
	*rec = (struct gprof_recording){ 0 };
	switch (w->kind) {
	case GPROF_REQUEST_TRACE:
		return make_trace(rec, w);
	case GPROF_REQUEST_COUNT:
		return 0;
	default:
		return make_recorder(rec, w);
	}
}

int gprof_recording_prepare(struct gprof_recording *rec)
{
	const struct gprof_prepare how = { .sz = sizeof(how) };

	if (rec->t)
		return gprof_trace_recorder_prepare(rec->t, &how);
	return rec->r ? gprof_recorder_prepare(rec->r, &how) : 0;
}

int gprof_recording_start(struct gprof_recording *rec, const struct gprof_record_request *w, int fd)
{
	int err;

	gprof_own_fd_borrow(&rec->out, fd);
	if (rec->t)
		err = gprof_trace_recorder_start(rec->t, fd);
	else if (rec->r)
		err = gprof_recorder_start_events(rec->r, NULL, 1);
	else
		err = gprof_counters_begin(&rec->counters, w->event, &w->target);
	if (err)
		gprof_recording_drop(rec);
	return err;
}

static int check_out(const struct gprof_recording *rec, int fd)
{
	return fd == rec->out.fd ? gprof_own_fd_check(&rec->out, "the file of the recording", NULL) : 0;
}

int gprof_recording_end(struct gprof_recording *rec, int fd, const char *text)
{
	struct gprof_profile *p = NULL;
	int err;

	if (rec->t) {
		err = gprof_trace_recorder_stop(rec->t);
	} else if (rec->counters.counting) {
		err = check_out(rec, fd);
		if (!err)
			err = gprof_counters_end(&rec->counters, fd);
	} else {
		err = gprof_recorder_stop_profiles(rec->r, &p, 1);
		/* It has taken a while. */
		if (!err)
			err = check_out(rec, fd);
		if (!err)
			err = text ? gprof_stacks_write(p, fd, text) : gprof_profile_write(p, fd);
		gprof_profile_free(p);
	}
	gprof_recording_drop(rec);
	return err;
}

/* Freeing cannot fail: the sentence of the earlier failure stays. */
void gprof_recording_drop(struct gprof_recording *rec)
{
	gprof_recorder_free(rec->r);
	gprof_trace_recorder_free(rec->t);
	gprof_counters_drop(&rec->counters);
	*rec = (struct gprof_recording){ 0 };
}

/* A trace is in its file, and counters are few. */
uint64_t gprof_recording_bytes(const struct gprof_recording *rec)
{
	return rec->r ? gprof_recorder_bytes(rec->r) : 0;
}

static struct gprof_profile *snapshot(const struct gprof_record_request *w, bool kernel)
{
	return gprof_task_snapshot(&(struct gprof_task_config){
		.sz = sizeof(struct gprof_task_config),
		.target = w->target,
		.kernel_frames = kernel,
	});
}

static int custom(const struct gprof_record_request *w, int fd, int debug)
{
	struct gprof_profile *p =
		gprof_custom_read(w->target.type == GPROF_SELF ? getpid() : w->target.id, w->name);
	int err;

	if (!p)
		return -errno;
	err = debug ? gprof_stacks_write(p, fd, w->name) : gprof_profile_write(p, fd);
	gprof_profile_free(p);
	return err;
}

static int tasks(const struct gprof_record_request *w, int fd, int debug)
{
	struct gprof_profile *p = snapshot(w, true);
	int err;

	if (!p && errno == EPERM)
		p = snapshot(w, false);
	if (!p)
		return -errno;
	err = gprof_task_write(p, fd, debug > 1 ? GPROF_TASK_FORMAT_TRACEBACK :
			       debug ? GPROF_TASK_FORMAT_TEXT : GPROF_TASK_FORMAT_PPROF);
	gprof_profile_free(p);
	return err;
}

int gprof_record_request_snapshot(const struct gprof_record_request *w, int fd, int debug)
{
	return w->kind == GPROF_REQUEST_CUSTOM ? custom(w, fd, debug) : tasks(w, fd, debug);
}
