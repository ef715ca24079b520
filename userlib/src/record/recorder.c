// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * recorder.c: start, stop and free, for all kinds of recorders.
 */
#include "recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "drain.h"
#include "base/opts.h"
#include "base/fd_write.h"
#include "base/shim_hooks.h"
#include "recorder_bytes.h"
#include "report.h"

/**
 * struct gprof_recorder - a recorder
 * @target: of all
 * @streams: its events
 * @nr: how many
 * @started: between start and stop
 * @flight: nothing is read but for a snapshot
 * @used: a flight recorder that was started
 * @table_loader: makes unwind tables, from gprof_recorder_prepare() to stop
 * @drain: thread that reads the buffers meanwhile
 * @error: last failure
 * @kept: files that go with it, or NULL
 * @end_kept: called with that at the end
 */
struct gprof_recorder {
	struct gprof_target target;
	struct gprof_stream *streams;
	size_t nr;
	bool started;
	bool flight;
	bool used;
	struct gprof_table_loader table_loader;
	struct gprof_drain drain;
	struct gprof_error error;
	void *kept;
	void (*end_kept)(void *what);
};

struct gprof_recorder *gprof_recorder_make(const struct gprof_target *target,
					   const struct gprof_stream_source *sources, size_t nr,
					   const struct gprof_stream_opts *opts,
					   struct gprof_error *e)
{
	struct gprof_recorder *r = calloc(1, sizeof(*r));
	struct gprof_kernel_target kernel_target = { .cgroup = -1 };
	int err = 0;

	if (r) {
		r->streams = calloc(nr, sizeof(*r->streams));
		r->target = *target;
		r->target.name = target->name ? strdup(target->name) : NULL;
	}
	if (!r || !r->streams || !r->target.name != !target->name) {
		if (r)
			free(r->streams);
		free(r);
		gprof_error_set(e, ENOMEM, "no memory for a recorder");
		return NULL;
	}
	err = gprof_kernel_target_init(&kernel_target, target, e);
	while (!err && r->nr < nr) {
		struct gprof_stream *s = &r->streams[r->nr];

		err = gprof_stream_init(s, &sources[r->nr], &kernel_target, opts, e);
		r->nr++;
	}
	gprof_kernel_target_free(&kernel_target);
	r->flight = opts->flight;
	if (!err)
		return r;
	gprof_recorder_free(r);
	errno = -err;
	return NULL;
}

/* Each output must be there, writable, and another one than the rest. */
static int check_outputs(struct gprof_recorder *r, const int *fds)
{
	size_t i, j;

	for (i = 0; fds && i < r->nr; i++) {
		int flags = fcntl(fds[i], F_GETFL);

		if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY || flags & O_PATH)
			return gprof_error_set(&r->error, EBADF,
					       "%s: file descriptor %d cannot be written to; open "
					       "the output for writing", r->streams[i].name,
					       fds[i]);
		for (j = 0; j < i; j++)
			if (gprof_fd_same(fds[i], fds[j]))
				return gprof_error_set(&r->error, EEXIST,
						       "%s and %s would be written to the same "
						       "file; give each event an output of its own",
						       r->streams[j].name, r->streams[i].name);
	}
	return 0;
}

/* Stop the started ones; the first failure is returned. */
static void detach(struct gprof_recorder *r)
{
	struct gprof_error ignored;
	size_t i;

	for (i = 0; i < r->nr; i++)
		gprof_stream_stop(&r->streams[i], &ignored);
	gprof_drain_end(&r->drain);
	gprof_table_loader_end(&r->table_loader);
	gprof_labels_end(&r->drain.labels);
}

static int start_streams(struct gprof_recorder *r, const int *fds)
{
	int err = 0;
	size_t i;

	for (i = 0; i < r->nr && !err; i++) {
		r->streams[i].out = fds ? fds[i] : -1;
		err = gprof_stream_start(&r->streams[i], &r->error);
	}
	if (err) {
		detach(r);
		gprof_error_publish(&r->error);
		return err;
	}
	r->started = true;
	r->used = r->flight;
	return 0;
}

int gprof_recorder_prepare(struct gprof_recorder *r, const struct gprof_prepare *how)
{
	const size_t least = GPROF_SIZE_WITH(struct gprof_prepare, program);
	struct gprof_prepare taken = { 0 };
	int err = gprof_opts_copy_in(&taken, sizeof(taken), least, how, "gprof_prepare", &r->error);

	if (err || r->started || r->table_loader.running)
		return err;
	gprof_table_loader_begin(&r->table_loader,
				 r->streams[0].tables ? &r->streams[0].dev : NULL);
	gprof_table_loader_prepare(&r->table_loader, &r->target, &taken);
	return 0;
}

static int start_events(struct gprof_recorder *r, const int *fds, size_t nr_fds)
{
	const struct gprof_prepare how = { .sz = sizeof(how) };
	int err;
	size_t i;

	if (r->started)
		return gprof_error_set(&r->error, EBUSY,
				       "the recorder is already started; stop it first");
	if (r->used)
		return gprof_error_set(&r->error, EBUSY,
				       "the flight recorder was started before; make another");
	if (nr_fds != r->nr)
		return gprof_error_set(&r->error, EINVAL,
				       "the recorder has %zu events, but %zu outputs were given",
				       r->nr, nr_fds);
	err = check_outputs(r, fds);
	for (i = 0; i < r->nr && !err; i++)
		err = gprof_stream_prepare(&r->streams[i], &r->error);
	if (!err)
		err = gprof_recorder_prepare(r, &how);
	if (err)
		return err;
	/* First the thread, so that it is there when the kernel looks for the target's. */
	if (!r->flight)
		err = gprof_drain_begin(&r->drain, r->streams, r->nr, &r->table_loader, &r->error);
	if (!err)
		err = start_streams(r, fds);
	return err;
}

/* The recording may be of this very process' memory. */
int gprof_recorder_start_events(struct gprof_recorder *r, const int *fds, size_t nr_fds)
{
	int64_t left = gprof_heap_pause();
	int err = start_events(r, fds, nr_fds);

	gprof_heap_resume(left);
	return err;
}

int gprof_recorder_start(struct gprof_recorder *r, int fd)
{
	return gprof_recorder_start_events(r, &fd, 1);
}

static int write_profile(struct gprof_recorder *r, struct gprof_stream *s, struct gprof_profile *p)
{
	int err = gprof_profile_write(p, s->out);

	switch (-err) {
	case 0:
		return 0;
	case ENOSPC:
	case EDQUOT:
		return gprof_error_set(&r->error, -err,
				       "%s: the disk is full (%s); the profile is incomplete, make "
				       "room and record again", s->name, gprof_strerror(-err));
	case EPIPE:
		return gprof_error_set(&r->error, EPIPE,
				       "%s: the reader of the profile has gone (%s)", s->name,
				       gprof_strerror(EPIPE));
	default:
		return gprof_error_set(&r->error, -err, "%s: the profile cannot be written (%s)",
				       s->name, gprof_strerror(-err));
	}
}

static struct gprof_profile *make_profile(struct gprof_stream *s, const struct gprof_tally *t,
					  const struct gprof_error *before)
{
	struct gprof_profile *p = NULL;
	int err = gprof_builder_profile(&s->builder, &s->columns, &p);

	if (!err)
		err = gprof_report(p, s, t);
	if (!err && before->err)
		err = gprof_profile_add_comment(p, before->text);
	if (!err)
		err = gprof_profile_finish(p);
	if (!err)
		return p;
	gprof_profile_free(p);
	return NULL;
}

/* The recording so far is written, or returned, with a comment on the error. */
static int finish(struct gprof_recorder *r, struct gprof_stream *s,
		  const struct gprof_error *before, struct gprof_profile **given)
{
	struct gprof_profile *p;
	struct gprof_tally t;
	uint64_t sum;
	int err;

	err = gprof_stream_tally(s, &t, &r->error);
	if (err == -EBADF)
		return gprof_error_set(&r->error, EBADF,
				       "%s: the program has closed the recorder meanwhile, and the "
				       "%llu samples that were read are lost with its counts; leave "
				       "open the library's descriptors", s->name,
				       (unsigned long long)gprof_stream_samples(s));
	if (err)
		return err;
	err = gprof_stream_mark_live(s, &r->error);
	if (err)
		return err;
	s->builder.last = true;
	p = make_profile(s, &t, before);
	if (!p)
		err = gprof_error_set(&r->error, ENOMEM, "%s: no memory for the profile", s->name);
	else if (!given && s->out >= 0)
		err = write_profile(r, s, p);
	if (given)
		*given = p;
	else
		gprof_profile_free(p);
	sum = t.seen.samples + gprof_tally_lost(&t) + t.kernel.out_overwritten;
	if (!err && t.kernel.out_produced != sum)
		err = gprof_error_set(&r->error, EPROTO,
				      "%s: the counts do not add up: %llu samples were produced, "
				      "%llu read, lost and overwritten; this is a bug of gprof",
				      s->name, (unsigned long long)t.kernel.out_produced,
				      (unsigned long long)sum);
	return err;
}

static int read_rest(struct gprof_stream *s, struct gprof_error *e)
{
	return s->flight ? gprof_stream_snapshot(s, e) : gprof_stream_drain(s, e);
}

static int stop(struct gprof_recorder *r, struct gprof_profile **given)
{
	struct gprof_error first = { 0 };
	size_t i;

	if (!r->started)
		return gprof_error_set(&r->error, EINVAL, "the recorder is not started");
	r->started = false;
	/* The thread reads on until nothing more can come. */
	for (i = 0; i < r->nr; i++)
		if (gprof_stream_stop(&r->streams[i], &r->error) && !first.err)
			first = r->error;
	gprof_drain_end(&r->drain);
	gprof_table_loader_end(&r->table_loader);
	if (r->drain.error.err && !first.err)
		first = r->drain.error;
	for (i = 0; i < r->nr; i++)
		if (read_rest(&r->streams[i], &r->error) && !first.err)
			first = r->error;
	gprof_labels_end(&r->drain.labels);
	for (i = 0; i < r->nr; i++) {
		struct gprof_stream *s = &r->streams[i];

		if (given)
			given[i] = NULL;
		/* A closed descriptor is an error, with its losses. */
		if (finish(r, s, &first, given ? &given[i] : NULL) &&
		    (!first.err || r->error.err == EBADF))
			first = r->error;
		s->out = -1;
	}
	r->error = first;
	if (first.err)
		gprof_error_publish(&first);
	return -first.err;
}

int gprof_recorder_stop(struct gprof_recorder *r)
{
	return stop(r, NULL);
}

int gprof_recorder_stop_profiles(struct gprof_recorder *r, struct gprof_profile **profiles,
				 size_t nr)
{
	if (nr != r->nr || !profiles)
		return gprof_error_set(&r->error, EINVAL,
				       "the recorder has %zu events, but room for %zu profiles was "
				       "given", r->nr, profiles ? nr : 0);
	return stop(r, profiles);
}

/* One profile, of the records read until now; the next begins there. */
static int make_next(struct gprof_recorder *r, struct gprof_stream *s, uint64_t now,
		     struct gprof_profile **profile)
{
	const struct gprof_error none = { 0 };
	struct gprof_tally t;
	int err = gprof_stream_drain(s, &r->error);

	if (!err)
		err = gprof_stream_tally(s, &t, &r->error);
	if (err)
		return err;
	/* Samples of the kernel since the reading are of the next. */
	t.kernel.out_produced = t.seen.samples + gprof_tally_lost(&t) + t.kernel.out_overwritten;
	s->until_ns = now;
	err = gprof_stream_mark_live(s, &r->error);
	if (err)
		return err;
	*profile = make_profile(s, &t, &none);
	if (!*profile)
		return gprof_error_set(&r->error, ENOMEM, "%s: no memory for the profile", s->name);
	err = gprof_stream_next(s, &t, &r->error);
	if (err) {
		gprof_profile_free(*profile);
		*profile = NULL;
	}
	return err;
}

int gprof_recorder_next_profiles(struct gprof_recorder *r, struct gprof_profile **profiles,
				 size_t nr)
{
	struct gprof_error first = { 0 };
	size_t i;

	if (nr != r->nr || !profiles)
		return gprof_error_set(&r->error, EINVAL,
				       "the recorder has %zu events, but room for %zu profiles was "
				       "given", r->nr, profiles ? nr : 0);
	if (r->flight || !r->started)
		return gprof_error_set(&r->error, EINVAL,
				       r->flight ? "a flight recorder gives snapshots" :
				       "the recorder is not started");
	gprof_drain_pause(&r->drain);
	for (i = 0; i < nr; i++) {
		profiles[i] = NULL;
		if (make_next(r, &r->streams[i], gprof_labels_now(), &profiles[i]) && !first.err)
			first = r->error;
	}
	gprof_drain_resume(&r->drain);
	r->error = first;
	if (first.err)
		gprof_error_publish(&first);
	return -first.err;
}

/* Samples that were produced or overwritten since are not a snapshot's. */
static void as_of_snapshot(struct gprof_tally *t)
{
	uint64_t rest = t->kernel.out_produced - gprof_tally_lost(t);

	t->kernel.out_overwritten = rest > t->seen.samples ? rest - t->seen.samples : 0;
}

int gprof_recorder_snapshot(struct gprof_recorder *r, size_t event, struct gprof_profile **profile)
{
	const struct gprof_error none = { 0 };
	struct gprof_stream *s;
	struct gprof_tally t;
	int err;

	*profile = NULL;
	if (!r->flight || !r->started || event >= r->nr)
		return gprof_error_set(&r->error, EINVAL,
				       event >= r->nr ? "the recorder has no event of that number" :
				       r->flight ? "the recorder is not started" :
				       "the recorder is no flight recorder");
	s = &r->streams[event];
	err = gprof_stream_snapshot(s, &r->error);
	if (!err)
		err = gprof_stream_tally(s, &t, &r->error);
	if (err)
		return err;
	/* Files that have come up are for the next snapshot. */
	gprof_table_loader_scan(&r->table_loader, &s->builder.spaces.objects);
	as_of_snapshot(&t);
	err = gprof_stream_mark_live(s, &r->error);
	if (err)
		return err;
	*profile = make_profile(s, &t, &none);
	return *profile ? 0 : gprof_error_set(&r->error, ENOMEM, "%s: no memory for the profile",
					      s->name);
}

void gprof_recorder_free(struct gprof_recorder *r)
{
	size_t i;

	if (!r)
		return;
	detach(r);
	for (i = 0; i < r->nr; i++)
		gprof_stream_free(&r->streams[i]);
	if (r->kept)
		r->end_kept(r->kept);
	free((char *)r->target.name);
	free(r->streams);
	free(r);
}

void gprof_recorder_keep(struct gprof_recorder *r, void *what, void (*end)(void *what))
{
	r->kept = what;
	r->end_kept = end;
}

int gprof_recorder_stats(struct gprof_recorder *r, size_t event, struct gprof_recorder_stats *st)
{
	const size_t least = GPROF_SIZE_WITH(struct gprof_recorder_stats, time_running_ns);
	struct gprof_recorder_stats out = { 0 };
	uint64_t ends[GPROF_ENDS], sum;
	struct gprof_tally t;
	int err;

	if (event >= r->nr)
		return gprof_error_set(&r->error, EINVAL,
				       "the recorder has %zu events, no number %zu", r->nr, event);
	gprof_drain_pause(&r->drain);
	err = gprof_stream_total(&r->streams[event], &t, &r->error);
	sum = gprof_stream_stack_ends(&r->streams[event], ends);
	gprof_drain_resume(&r->drain);
	if (err)
		return err;
	out.event = r->streams[event].name;
	out.produced = t.kernel.out_produced;
	out.read = r->flight ? t.kernel.out_produced - gprof_tally_lost(&t) -
			       t.kernel.out_overwritten : t.seen.samples;
	out.lost = gprof_tally_lost(&t);
	out.overwritten = t.kernel.out_overwritten;
	out.throttled = t.kernel.out_throttled;
	out.nmi = t.kernel.out_nmi;
	out.irq = t.kernel.out_irq;
	out.task = t.kernel.out_task;
	out.maps_lost = t.kernel.out_maps_lost;
	out.count = t.kernel.out_count;
	out.time_enabled_ns = t.kernel.out_time_enabled;
	out.time_running_ns = t.kernel.out_time_running;
	out.stacks = sum;
	out.stacks_complete = ends[GPROF_STACK_END_COMPLETE];
	out.stacks_unread = ends[GPROF_STACK_END_UNREAD];
	out.stacks_no_table = ends[GPROF_STACK_END_NO_TABLE];
	out.stacks_no_page = ends[GPROF_STACK_END_PAGE];
	out.stacks_max = ends[GPROF_STACK_END_MAX];
	out.stacks_guessed = ends[GPROF_END_GUESSED];
	out.stacks_other = sum - out.stacks_complete - out.stacks_unread - out.stacks_no_table -
			   out.stacks_no_page - out.stacks_max - out.stacks_guessed;
	out.lost_full = t.kernel.out_lost[GPROF_LOST_FULL];
	out.lost_nested = t.kernel.out_lost[GPROF_LOST_NESTED];
	out.lost_no_buffer = t.kernel.out_lost[GPROF_LOST_NO_BUFFER];
	out.lost_waits = t.kernel.out_lost[GPROF_LOST_WAIT];
	out.tables_refused = r->streams[event].tables_refused;
	out.other_python = r->streams[event].python ? r->table_loader.other_python : 0;
	out.stacks_time = ends[GPROF_STACK_END_TIME];
	gprof_stack_ends_text(ends, r->streams[event].ends_text);
	out.stacks_text = r->streams[event].ends_text;
	out.live_full = r->streams[event].builder.unknown.full;
	out.live_lost = r->streams[event].builder.unknown.objects;
	out.live_unseen = r->streams[event].builder.unknown.unseen;
	return gprof_opts_copy_out(st, &out, sizeof(out), least, "gprof_recorder_stats", &r->error);
}

int gprof_recorder_memory(struct gprof_recorder *r, size_t event, struct gprof_memory_history *m)
{
	const size_t least = GPROF_SIZE_WITH(struct gprof_memory_history, nr_steps);
	struct gprof_memory_history out = { 0 };
	const struct gprof_lifetimes *l;

	if (event >= r->nr || !r->streams[event].builder.lifetimes.on)
		return gprof_error_set(&r->error, EINVAL, "event %zu is no heap that is recorded "
				       "over time", event);
	if (r->started)
		return gprof_error_set(&r->error, EBUSY,
				       "the history of memory is known when the recorder is stopped");
	l = &r->streams[event].builder.lifetimes;
	out.peak_bytes = l->peak;
	out.peak_objects = l->peak_weight;
	out.peak_ns = l->peak_ns > l->from_ns ? l->peak_ns - l->from_ns : 0;
	out.objects = l->begun;
	out.temporary_objects = l->brief;
	out.end_bytes = l->now;
	out.end_objects = l->now_weight;
	out.grown = l->marked;
	out.guessed = l->guessed;
	out.step_ns = l->step_ns;
	out.steps = l->steps;
	out.nr_steps = l->nr_steps;
	return gprof_opts_copy_out(m, &out, sizeof(out), least, "gprof_memory_history", &r->error);
}

uint64_t gprof_recorder_bytes(struct gprof_recorder *r)
{
	uint64_t bytes = 0;
	size_t i;

	gprof_drain_pause(&r->drain);
	for (i = 0; i < r->nr; i++) {
		const struct gprof_builder *b = &r->streams[i].builder;

		bytes += gprof_builder_bytes(b) + (b->p ? b->p->budget.used : 0);
	}
	gprof_drain_resume(&r->drain);
	return bytes;
}
