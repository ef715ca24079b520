// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * flight.c: the last seconds of a trace.
 */
#include <gprof/flight.h>

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/opts.h"
#include "device/device.h"
#include "device/loss.h"
#include "device/flight_device.h"
#include "record/table_loader.h"
#include "trace/convert/trace_naming.h"
#include "trace/write/trace_write.h"
#include "device_writer.h"
#include "trace_snapshot.h"
#include "trigger.h"

/**
 * struct gprof_flight - a flight recorder
 * @device: device; its lock is of the members below
 * @table_loader: makes unwind tables, from start to stop
 * @triggers: the caller's
 */
struct gprof_flight {
	struct gprof_flight_device device;
	struct gprof_table_loader table_loader;
	struct gprof_trigger_set triggers;
};

struct gprof_flight *gprof_flight_new(const struct gprof_trace_config *cfg,
				      const struct gprof_flight_opts *opts)
{
	struct gprof_flight *f = calloc(1, sizeof(*f));
	int err;

	if (!f) {
		gprof_error_set(NULL, ENOMEM, "no memory for a flight recorder");
		return NULL;
	}
	err = gprof_flight_device_init(&f->device, cfg, opts);
	if (!err)
		return f;
	gprof_flight_free(f);
	errno = -err;
	return NULL;
}

int gprof_flight_trigger(struct gprof_flight *f, const struct gprof_flight_trigger *trigger)
{
	const size_t least = GPROF_SIZE_WITH(struct gprof_flight_trigger, number);
	struct gprof_flight_trigger t = { 0 };
	int ret;

	pthread_mutex_lock(&f->device.lock);
	ret = gprof_opts_copy_in(&t, sizeof(t), least, trigger, "gprof_flight_trigger",
				 &f->device.error);
	if (!ret)
		ret = gprof_trigger_add(&f->triggers, &f->device.trace.own, &t, &f->device.error);
	pthread_mutex_unlock(&f->device.lock);
	return ret;
}

int gprof_flight_fired(struct gprof_flight *f, struct gprof_flight_fired *fired)
{
	const size_t least = GPROF_SIZE_WITH(struct gprof_flight_fired, unwatched);
	struct gprof_flight_fired out = { 0 };
	struct gprof_stats taken;
	int err, ret = 0;

	pthread_mutex_lock(&f->device.lock);
	err = gprof_trigger_read(&f->triggers, &f->device.trace.own, &out, &f->device.error);
	/* Other events are read with the counts, or poll() would not wait for more. */
	if (err == -EAGAIN)
		ret = gprof_device_stats(&f->device.trace.own, &taken, &f->device.error);
	if (!ret && (!err || err == -EAGAIN))
		ret = gprof_opts_copy_out(fired, &out, sizeof(out), least, "gprof_flight_fired",
					  &f->device.error);
	pthread_mutex_unlock(&f->device.lock);
	return ret ? ret : err;
}

int gprof_flight_fd(const struct gprof_flight *f)
{
	return f->device.trace.own.fd;
}

int gprof_flight_start(struct gprof_flight *f)
{
	const struct gprof_prepare how = { .sz = sizeof(how) };
	struct gprof_flight_device *d = &f->device;
	int err;

	pthread_mutex_lock(&d->lock);
	if (!d->started_ns) {
		gprof_table_loader_begin(&f->table_loader, d->trace.tables ? &d->trace.own : NULL);
		gprof_table_loader_prepare(&f->table_loader, &d->cfg.target, &how);
	}
	err = gprof_flight_device_start(d);
	if (!d->running)
		gprof_table_loader_end(&f->table_loader);
	pthread_mutex_unlock(&d->lock);
	return err;
}

int gprof_flight_stop(struct gprof_flight *f)
{
	int err;

	pthread_mutex_lock(&f->device.lock);
	err = gprof_flight_device_stop(&f->device);
	gprof_table_loader_end(&f->table_loader);
	pthread_mutex_unlock(&f->device.lock);
	return err;
}

/* A stopped ring holds all records that it has not counted as overwritten. */
static int check(struct gprof_flight *f, const struct gprof_stats *kernel, uint64_t samples)
{
	uint64_t gone = gprof_device_lost(kernel) + kernel->out_overwritten;

	if (f->device.running || kernel->out_produced == gone + samples)
		return 0;
	return gprof_error_set(&f->device.error, EPROTO,
			       "the counts do not add up: %llu events were produced, %llu are kept, "
			       "lost and overwritten; this is a bug of gprof",
			       (unsigned long long)kernel->out_produced,
			       (unsigned long long)(gone + samples));
}

static const char *trigger_name(void *ctx, uint32_t index)
{
	return gprof_trigger_text(ctx, index);
}

static int write_out(struct gprof_flight *f, struct gprof_trace_snapshot *s, int fd,
		     struct gprof_flight_snapshot *out)
{
	const struct gprof_trace_writer_opts opts = { .trigger = trigger_name, .ctx = &f->triggers };
	struct gprof_flight_device *d = &f->device;
	struct gprof_trace_writer *w = gprof_trace_device_writer(&d->trace, &d->cfg, fd, &opts);
	struct gprof_trace_naming naming, *n = d->trace.setup.stack ? &naming : NULL;
	struct gprof_stats kernel;
	uint64_t samples = 0;
	int err, ret;

	if (!w)
		return gprof_error_set(&d->error, errno, "%s", gprof_error());
	err = n ? gprof_trace_naming_init(n) : 0;
	if (!err)
		err = gprof_trace_snapshot_write(s, w, n, d->cfg.generation_ns, &samples);
	gprof_trace_writer_stats(w, &out->writer);
	ret = gprof_trace_writer_close(w);
	if (n) {
		/* Files that have come up are for the next snapshot. */
		gprof_table_loader_scan(&f->table_loader, &n->spaces.objects);
		gprof_trace_naming_free(n);
	}
	if (err || ret)
		return gprof_flight_device_explain(d, err ? err : ret);
	err = gprof_device_stats(&d->trace.own, &kernel, &d->error);
	if (err)
		return err;
	out->lost = gprof_device_lost(&kernel);
	return check(f, &kernel, samples);
}

/* Does the snapshot from @from on go back as far as the caller asked? */
static bool is_whole(const struct gprof_flight *f, uint64_t from, uint64_t now)
{
	uint64_t age = f->device.opts.min_age_ns;

	return from == f->device.started_ns || (age && from <= now && now - from >= age);
}

static void fill_most(const struct gprof_trace_users *u, struct gprof_flight_snapshot *out)
{
	const struct gprof_trace_user *most = gprof_trace_users_most(u);

	if (!most)
		return;
	out->uid = most->uid;
	out->uid_permille = (uint32_t)(1000 * most->events / u->events);
}

static int capture(struct gprof_flight *f, int fd, struct gprof_flight_snapshot *out)
{
	struct gprof_flight_device *d = &f->device;
	uint64_t now = now_ns(), least = gprof_flight_device_from(d, now);
	struct gprof_trace_snapshot s;
	struct gprof_trace_users users;
	int err;

	if (!d->started_ns)
		return gprof_error_set(&d->error, EINVAL, "the flight recorder was never started");
	err = gprof_trace_snapshot_capture(&s, &d->trace.buffer, d->started_ns, now);
	if (err) {
		gprof_flight_device_explain(d, err);
	} else {
		out->whole = is_whole(f, s.from, now);
		if (s.from < least)
			s.from = least;
		out->from_ns = s.from;
		out->until_ns = now;
		gprof_trace_users_init(&users);
		s.users = out->whole ? NULL : &users;
		err = write_out(f, &s, fd, out);
		out->missed = s.missed;
		fill_most(&users, out);
		gprof_trace_users_free(&users);
	}
	gprof_trace_snapshot_free(&s);
	return err;
}

int gprof_flight_snapshot(struct gprof_flight *f, int fd, struct gprof_flight_snapshot *snapshot)
{
	const size_t least = GPROF_SIZE_WITH(struct gprof_flight_snapshot, writer);
	struct gprof_flight_snapshot out = { .writer.sz = sizeof(out.writer) };
	int err;

	pthread_mutex_lock(&f->device.lock);
	err = capture(f, fd, &out);
	if (err)
		gprof_error_publish(&f->device.error);
	else if (snapshot)
		err = gprof_opts_copy_out(snapshot, &out, sizeof(out), least,
					  "gprof_flight_snapshot", &f->device.error);
	pthread_mutex_unlock(&f->device.lock);
	return err;
}

int gprof_flight_stats(struct gprof_flight *f, struct gprof_flight_stats *st)
{
	return gprof_flight_device_stats(&f->device, st);
}

void gprof_flight_free(struct gprof_flight *f)
{
	if (!f)
		return;
	gprof_table_loader_end(&f->table_loader);
	gprof_flight_device_free(&f->device);
	free(f);
}
