// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * flight.c: the last seconds of a trace.
 */
#include <gprof/flight.h>

#include <errno.h>
#include <glob.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/opts.h"
#include "device/device.h"
#include "record/table_loader.h"
#include "trace/convert/trace_naming.h"
#include "trace/write/trace_write.h"
#include "trace_device.h"
#include "trace_snapshot.h"
#include "trigger.h"

#define WHAT		"the flight recorder"
#define NS		1000000000ULL
#define DEFAULT_BYTES	(64ULL << 20)
#define RING_MIN	(32ULL << 10)
#define RING_MAX	(1ULL << 30)

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

/* sysconf() counts those that might be plugged in, too, for which the kernel has no rings. */
static size_t present_cpus(void)
{
	size_t nr;
	glob_t cpus;

	if (glob("/sys/devices/system/cpu/cpu[0-9]*", GLOB_NOSORT, NULL, &cpus))
		return 1;
	nr = cpus.gl_pathc;
	globfree(&cpus);
	return nr;
}

/* The largest that all CPUs can have one of; the kernel rounds up. */
static int ring_bytes(uint64_t max_bytes, uint64_t *bytes, struct gprof_error *e)
{
	size_t cpus = present_cpus();
	uint64_t each = max_bytes / cpus;
	uint64_t n = RING_MIN;

	if (each < RING_MIN)
		return gprof_error_set(e, EINVAL,
				       "%llu bytes are too few for the rings of %zu CPUs; at least "
				       "32 KiB each", (unsigned long long)max_bytes, cpus);
	while (n < RING_MAX && 2 * n <= each)
		n *= 2;
	*bytes = n;
	return 0;
}

static int open_with(struct gprof_flight *f, const struct gprof_trace_config *cfg, uint64_t ring)
{
	f->cfg = *cfg;
	f->cfg.buffer_bytes = ring;
	return gprof_trace_device_open(&f->dev, &f->cfg, GPROF_SETUP_F_FLIGHT, &f->error);
}

static int make(struct gprof_flight *f)
{
	const struct gprof_trace_config cfg = f->cfg;
	uint64_t ring = 0;
	int err;

	if (f->cfg.buffer_bytes || f->cfg.generation)
		return gprof_error_set(&f->error, EINVAL,
				       "a flight recorder has a max_bytes in place of buffer_bytes, "
				       "and hands out no generations");
	err = ring_bytes(f->opts.max_bytes ? f->opts.max_bytes : DEFAULT_BYTES, &ring, &f->error);
	if (err)
		return err;
	err = open_with(f, &cfg, ring);
	/* Without a size it is the user's limit. */
	while (err == -ENOMEM && !f->opts.max_bytes && ring > RING_MIN) {
		gprof_trace_device_close(&f->dev);
		ring /= 2;
		err = open_with(f, &cfg, ring);
	}
	return err;
}

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
		err = make(f);
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

/* Generations that are older than the requested age are left out. */
static uint64_t not_before(const struct gprof_flight *f, uint64_t until)
{
	uint64_t age = f->opts.min_age_ns;

	if (!age || age > until || f->cfg.generation_ns > until - age)
		return 0;
	return until - age - f->cfg.generation_ns;
}

static int explain(struct gprof_flight *f, int err)
{
	switch (-err) {
	case ENOMEM:
		return gprof_error_set(&f->error, ENOMEM,
				       "no memory for a snapshot; it takes an eighth of the rings at least");
	case EAGAIN:
		return gprof_error_set(&f->error, EAGAIN,
				       "events come faster than the rings can be copied; give the "
				       "flight recorder more memory");
	case EBADMSG:
		return gprof_error_set(&f->error, EBADMSG,
				       "a buffer of the kernel holds a record that makes no sense");
	default:
		return gprof_error_set(&f->error, -err, "the snapshot cannot be written (%s)",
				       gprof_strerror(-err));
	}
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
		return explain(f, err ? err : ret);
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
	uint64_t now = now_ns(), least = not_before(f, now);
	struct gprof_trace_snapshot s;
	struct gprof_trace_users users;
	int err;

	if (!f->started_ns)
		return gprof_error_set(&f->error, EINVAL, "the flight recorder was never started");
	err = gprof_trace_snapshot_capture(&s, &f->dev.buffer, f->started_ns, now);
	if (err) {
		explain(f, err);
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
	struct gprof_stats kernel;
	int err;

	pthread_mutex_lock(&f->lock);
	err = gprof_device_stats(&f->dev.own, &kernel, &f->error);
	if (!err) {
		out.produced = kernel.out_produced;
		out.lost = gprof_device_lost(&kernel);
		out.overwritten = kernel.out_overwritten;
		out.held = out.produced - out.lost - out.overwritten;
		out.over_quota = kernel.out_lost[GPROF_LOST_QUOTA];
		out.ring_bytes = f->dev.buffer.nr * f->dev.buffer.rings[0].size;
		err = gprof_opts_copy_out(st, &out, sizeof(out), least, "gprof_flight_stats",
					  &f->error);
	}
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
