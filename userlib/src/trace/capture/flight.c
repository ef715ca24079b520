// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * flight.c: the last seconds of a trace.
 */
#include <gprof/flight.h>

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/opts.h"
#include "device/device.h"
#include "device/flight_device.h"
#include "record/table_loader.h"
#include "trace/convert/trace_naming.h"
#include "trace/write/trace_write.h"
#include "device_writer.h"
#include "trace_snapshot.h"
#include "trigger.h"

#define WHAT	"the flight recorder"

/**
 * struct gprof_flight - a flight recorder
 * @dev: device
 * @cfg: the caller's configuration
 * @target_name: of its target, which does not keep it
 * @table_loader: makes unwind tables, from start to stop
 * @opts: likewise
 * @triggers: likewise
 * @started_ns: when it was; 0: never
 * @running: between start and stop
 * @lock: of the members below and of @running
 * @error: last failure
 */
struct gprof_flight {
	struct gprof_trace_device dev;
	struct gprof_trace_config cfg;
	char *target_name;
	struct gprof_table_loader table_loader;
	struct gprof_flight_opts opts;
	struct gprof_trigger_set triggers;
	uint64_t started_ns;
	bool running;
	pthread_mutex_t lock;
	struct gprof_error error;
};

struct gprof_flight *gprof_flight_new(const struct gprof_trace_config *cfg,
				      const struct gprof_flight_opts *opts)
{
	const size_t least = GPROF_SIZE_WITH(struct gprof_trace_config, ctx);
	const size_t least_opts = GPROF_SIZE_WITH(struct gprof_flight_opts, max_bytes);
	struct gprof_flight *f = calloc(1, sizeof(*f));
	int err;

	if (!f) {
		gprof_error_set(NULL, ENOMEM, "no memory for a flight recorder");
		return NULL;
	}
	f->dev.own = GPROF_OWN_FD_NONE;
	pthread_mutex_init(&f->lock, NULL);
	err = gprof_opts_copy_in(&f->cfg, sizeof(f->cfg), least, cfg, "gprof_trace_config",
				 &f->error);
	if (!err && opts)
		err = gprof_opts_copy_in(&f->opts, sizeof(f->opts), least_opts, opts,
					 "gprof_flight_opts", &f->error);
	if (!err && f->cfg.target.name) {
		f->target_name = strdup(f->cfg.target.name);
		f->cfg.target.name = f->target_name;
		if (!f->target_name)
			err = gprof_error_set(&f->error, ENOMEM, "no memory for a flight recorder");
	}
	if (!err)
		err = gprof_flight_device_open(&f->dev, &f->cfg, &f->opts, &f->error);
	if (!err)
		return f;
	gprof_error_publish(&f->error);
	gprof_flight_free(f);
	errno = -err;
	return NULL;
}

int gprof_flight_trigger(struct gprof_flight *f, const struct gprof_flight_trigger *trigger)
{
	const size_t least = GPROF_SIZE_WITH(struct gprof_flight_trigger, number);
	struct gprof_flight_trigger t = { 0 };
	int ret;

	pthread_mutex_lock(&f->lock);
	ret = gprof_opts_copy_in(&t, sizeof(t), least, trigger, "gprof_flight_trigger", &f->error);
	if (!ret)
		ret = gprof_trigger_add(&f->triggers, &f->dev.own, &t, &f->error);
	pthread_mutex_unlock(&f->lock);
	return ret;
}

int gprof_flight_fired(struct gprof_flight *f, struct gprof_flight_fired *fired)
{
	const size_t least = GPROF_SIZE_WITH(struct gprof_flight_fired, unwatched);
	struct gprof_flight_fired out = { 0 };
	struct gprof_stats taken;
	int err, ret = 0;

	pthread_mutex_lock(&f->lock);
	err = gprof_trigger_read(&f->triggers, &f->dev.own, &out, &f->error);
	/* Other events are read with the counts, or poll() would not wait for more. */
	if (err == -EAGAIN)
		ret = gprof_device_stats(&f->dev.own, &taken, &f->error);
	if (!ret && (!err || err == -EAGAIN))
		ret = gprof_opts_copy_out(fired, &out, sizeof(out), least, "gprof_flight_fired",
					  &f->error);
	pthread_mutex_unlock(&f->lock);
	return ret ? ret : err;
}

int gprof_flight_fd(const struct gprof_flight *f)
{
	return f->dev.own.fd;
}

int gprof_flight_start(struct gprof_flight *f)
{
	int err;

	pthread_mutex_lock(&f->lock);
	if (f->started_ns) {
		err = gprof_error_set(&f->error, EBUSY,
				      "the flight recorder was started before; make another");
	} else {
		const struct gprof_prepare how = { .sz = sizeof(how) };
		uint64_t now;

		gprof_table_loader_begin(&f->table_loader, f->dev.tables ? &f->dev.own : NULL);
		gprof_table_loader_prepare(&f->table_loader, &f->cfg.target, &how);
		now = now_ns();
		err = gprof_device_start(&f->dev.own, GPROF_KIND_TRACE, WHAT, &f->error);
		f->started_ns = err ? 0 : now;
		f->running = !err;
		if (err)
			gprof_table_loader_end(&f->table_loader);
	}
	pthread_mutex_unlock(&f->lock);
	return err;
}

int gprof_flight_stop(struct gprof_flight *f)
{
	int err;

	pthread_mutex_lock(&f->lock);
	if (f->running)
		err = gprof_device_stop(&f->dev.own, WHAT, &f->error);
	else
		err = gprof_error_set(&f->error, EINVAL, "the flight recorder is not started");
	f->running = false;
	gprof_table_loader_end(&f->table_loader);
	pthread_mutex_unlock(&f->lock);
	return err;
}

/* A stopped ring holds all records that it has not counted as overwritten. */
static int check(struct gprof_flight *f, const struct gprof_stats *kernel, uint64_t samples)
{
	uint64_t gone = gprof_device_lost(kernel) + kernel->out_overwritten;

	if (f->running || kernel->out_produced == gone + samples)
		return 0;
	return gprof_error_set(&f->error, EPROTO,
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
	struct gprof_trace_writer *w = gprof_trace_device_writer(&f->dev, &f->cfg, fd, &opts);
	struct gprof_trace_naming naming, *n = f->dev.setup.stack ? &naming : NULL;
	struct gprof_stats kernel;
	uint64_t samples = 0;
	int err, ret;

	if (!w)
		return gprof_error_set(&f->error, errno, "%s", gprof_error());
	err = n ? gprof_trace_naming_init(n) : 0;
	if (!err)
		err = gprof_trace_snapshot_write(s, w, n, f->cfg.generation_ns, &samples);
	gprof_trace_writer_stats(w, &out->writer);
	ret = gprof_trace_writer_close(w);
	if (n) {
		/* Files that have come up are for the next snapshot. */
		gprof_table_loader_scan(&f->table_loader, &n->spaces.objects);
		gprof_trace_naming_free(n);
	}
	if (err || ret)
		return gprof_flight_device_explain(err ? err : ret, &f->error);
	err = gprof_device_stats(&f->dev.own, &kernel, &f->error);
	if (err)
		return err;
	out->lost = gprof_device_lost(&kernel);
	return check(f, &kernel, samples);
}

/* Does the snapshot from @from on go back as far as the caller asked? */
static bool is_whole(const struct gprof_flight *f, uint64_t from, uint64_t now)
{
	uint64_t age = f->opts.min_age_ns;

	return from == f->started_ns || (age && from <= now && now - from >= age);
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
	uint64_t now = now_ns(), least = gprof_flight_device_from(&f->cfg, &f->opts, now);
	struct gprof_trace_snapshot s;
	struct gprof_trace_users users;
	int err;

	if (!f->started_ns)
		return gprof_error_set(&f->error, EINVAL, "the flight recorder was never started");
	err = gprof_trace_snapshot_capture(&s, &f->dev.buffer, f->started_ns, now);
	if (err) {
		gprof_flight_device_explain(err, &f->error);
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

	pthread_mutex_lock(&f->lock);
	err = capture(f, fd, &out);
	if (err)
		gprof_error_publish(&f->error);
	else if (snapshot)
		err = gprof_opts_copy_out(snapshot, &out, sizeof(out), least,
					  "gprof_flight_snapshot", &f->error);
	pthread_mutex_unlock(&f->lock);
	return err;
}

int gprof_flight_stats(struct gprof_flight *f, struct gprof_flight_stats *st)
{
	const size_t least = GPROF_SIZE_WITH(struct gprof_flight_stats, ring_bytes);
	struct gprof_flight_stats out = { 0 };
	int err;

	pthread_mutex_lock(&f->lock);
	err = gprof_flight_device_stats(&f->dev, &out, &f->error);
	if (!err)
		err = gprof_opts_copy_out(st, &out, sizeof(out), least, "gprof_flight_stats",
					  &f->error);
	pthread_mutex_unlock(&f->lock);
	return err;
}

void gprof_flight_free(struct gprof_flight *f)
{
	struct gprof_error ignored;

	if (!f)
		return;
	if (f->running)
		gprof_device_stop(&f->dev.own, WHAT, &ignored);
	gprof_table_loader_end(&f->table_loader);
	gprof_trace_device_close(&f->dev);
	pthread_mutex_destroy(&f->lock);
	free(f->target_name);
	free(f);
}
