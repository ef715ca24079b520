// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * address_recorder.c: a CPU profile of addresses: the device, its rings and the samples in them.
 */
#include <gprof/address_recorder.h>

#include <errno.h>
#include <gprof/version.h>
#include <linux/gprof.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "address_pprof.h"
#include "base/clock.h"
#include "base/opts.h"
#include "device/buffer.h"
#include "device/cpu_source.h"
#include "device/device.h"
#include "device/loss.h"
#include "device/target.h"

#define TEXT		256
#define COMMENTS	(2 + GPROF_LOST_SLOTS)

/**
 * struct gprof_address_recorder - a recorder
 * @dev: device
 * @name: of the event
 * @source: of the event
 * @buffer: rings
 * @decoders: one for each ring
 * @samples: those that were read
 * @started: it was
 * @running: it is
 * @error: last failure
 */
struct gprof_address_recorder {
	struct gprof_own_fd dev;
	const char *name;
	struct gprof_cpu_source source;
	struct gprof_buffer buffer;
	struct gprof_decoder *decoders;
	struct gprof_address_samples samples;
	bool started;
	bool running;
	struct gprof_error error;
};

/* Tables that the module has of others' recordings serve this one too. */
static int set_up(struct gprof_address_recorder *r, const struct gprof_cpu_config *cfg,
		  const struct gprof_kernel_target *target)
{
	struct gprof_setup s = {
		.flags = cfg->on_exec ? GPROF_SETUP_F_ON_EXEC : 0,
		.kind = GPROF_KIND_CPU,
		.target = target->target,
		.id = target->id,
		.cpus = (uintptr_t)target->cpus,
		.params = (uintptr_t)&r->source.params,
		.cpus_size = (uint32_t)target->cpus_size,
		.buffer_size = cfg->buffer_bytes,
		.stack = r->source.stack,
	};
	uint32_t plain = s.stack;
	struct gprof_info info;
	int err = gprof_device_open(&r->dev, &r->error);

	if (!err)
		err = gprof_device_info(&r->dev, &info, &r->error);
	if (err)
		return err;
	if (!cfg->no_unwind_tables && plain & GPROF_STACK_F_USER &&
	    info.out_features & GPROF_FEAT_TABLES)
		s.stack |= GPROF_STACK_F_TABLES;
	err = gprof_device_setup(&r->dev, &s, r->name, &r->error);
	if (err == -ENOMEM && s.stack != plain) {
		/* A user's allowance may be for the rings alone. */
		s.stack = plain;
		err = gprof_device_setup(&r->dev, &s, r->name, &r->error);
	}
	return err ? err : gprof_buffer_map(&r->buffer, r->dev.fd, &s, &r->error);
}

static int init(struct gprof_address_recorder *r, const struct gprof_cpu_config *cfg)
{
	static const struct gprof_cpu_event timer = { .name = "timer" };
	const struct gprof_cpu_event *ev = cfg->nr_events ? cfg->events : &timer;
	struct gprof_kernel_target target = { .cgroup = -1 };
	size_t i;
	int err;

	if (cfg->nr_events > 1 || !ev || ev->flags & GPROF_EVENT_LATENCY || cfg->flight ||
	    cfg->python || cfg->slice_ns)
		return gprof_error_set(&r->error, EINVAL, "a profile of addresses has one event, "
				       "and no latency, frames of Python, slices of time or flight "
				       "recorder; gprof_cpu_recorder_new() has them");
	r->name = ev->name;
	err = gprof_cpu_source_init(&r->source, ev, &r->error);
	if (!err)
		err = gprof_kernel_target_init(&target, &cfg->target, &r->error);
	if (!err)
		err = set_up(r, cfg, &target);
	gprof_kernel_target_free(&target);
	if (err)
		return err;
	r->decoders = calloc(r->buffer.nr, sizeof(*r->decoders));
	if (!r->decoders)
		return gprof_error_set(&r->error, ENOMEM, "%s: no memory", r->name);
	for (i = 0; i < r->buffer.nr; i++)
		gprof_decoder_init(&r->decoders[i], &gprof_address_ops, &r->samples);
	return 0;
}

struct gprof_address_recorder *gprof_address_recorder_new(const struct gprof_cpu_config *config)
{
	const size_t least = GPROF_SIZE_WITH(struct gprof_cpu_config, on_exec);
	struct gprof_address_recorder *r = calloc(1, sizeof(*r));
	struct gprof_cpu_config cfg = { 0 };
	int err;

	if (!r || gprof_address_samples_init(&r->samples)) {
		free(r);
		gprof_error_set(NULL, ENOMEM, "no memory for a recorder");
		return NULL;
	}
	r->dev = GPROF_OWN_FD_NONE;
	err = gprof_opts_copy_in(&cfg, sizeof(cfg), least, config, "gprof_cpu_config", &r->error);
	if (!err)
		err = init(r, &cfg);
	if (!err)
		return r;
	gprof_address_recorder_free(r);
	errno = -err;
	return NULL;
}

int gprof_address_recorder_start(struct gprof_address_recorder *r)
{
	int err;

	if (r->started)
		return gprof_error_set(&r->error, EBUSY, "%s: it was started before; make another "
				       "recorder", r->name);
	err = gprof_device_start(&r->dev, GPROF_KIND_CPU, r->name, &r->error);
	r->started = r->running = !err;
	return err;
}

static int read_ring(struct gprof_ring *ring, struct gprof_decoder *d)
{
	const struct gprof_rec *rec;
	uint32_t size;
	int ret;

	while ((ret = gprof_ring_peek(ring, &rec, &size)) > 0) {
		ret = gprof_decoder_feed(d, rec, size);
		gprof_ring_advance(ring, size);
		if (ret)
			break;
	}
	gprof_ring_release(ring);
	return ret;
}

int gprof_address_recorder_read(struct gprof_address_recorder *r)
{
	int first = 0;
	size_t i;

	for (i = 0; i < r->buffer.nr; i++) {
		struct gprof_ring *ring = &r->buffer.rings[i];
		int err = read_ring(ring, &r->decoders[i]);

		if (!err || first)
			continue;
		if (err == -EBADMSG)
			first = gprof_error_set(&r->error, EBADMSG, "%s: the buffer of CPU %u holds "
						"a record that makes no sense, and is not read any "
						"further", r->name, ring->cpu);
		else
			first = gprof_error_set(&r->error, ENOMEM, "%s: no memory for the samples",
						r->name);
	}
	return first;
}

int gprof_address_recorder_stop(struct gprof_address_recorder *r)
{
	int err;

	if (!r->running)
		return 0;
	r->running = false;
	err = gprof_device_stop(&r->dev, r->name, &r->error);
	return err ? err : gprof_address_recorder_read(r);
}

/* CLOCK_REALTIME at a time of CLOCK_MONOTONIC. */
static uint64_t real_time(const struct gprof_address_recorder *r, uint64_t mono)
{
	size_t i;

	for (i = 0; i < r->buffer.nr; i++) {
		const struct gprof_decoder *d = &r->decoders[i];

		if (d->started)
			return d->real_ns + (mono - d->mono_ns);
	}
	return clock_now_ns(CLOCK_REALTIME) - now_ns() + mono;
}

static void count(const struct gprof_address_recorder *r, const struct gprof_stats *k,
		  struct gprof_address_counts *c)
{
	size_t i;

	*c = (struct gprof_address_counts){
		.produced = k->out_produced,
		.lost = gprof_device_lost(k),
		.overwritten = k->out_overwritten,
	};
	for (i = 0; i < r->buffer.nr; i++)
		c->read += r->decoders[i].counts.samples;
}

static size_t comment(const struct gprof_address_recorder *r, const struct gprof_stats *k,
		      const struct gprof_address_counts *c, char text[COMMENTS][TEXT])
{
	size_t n = 0, i;

	snprintf(text[n++], TEXT, "gprof " GPROF_VERSION ": event %s, period %llu", r->name,
		 (unsigned long long)r->source.params.period);
	snprintf(text[n++], TEXT, "samples: produced=%llu read=%llu lost=%llu overwritten=%llu",
		 (unsigned long long)c->produced, (unsigned long long)c->read,
		 (unsigned long long)c->lost, (unsigned long long)c->overwritten);
	for (i = 0; i < GPROF_LOST_SLOTS; i++)
		if (k->out_lost[i])
			snprintf(text[n++], TEXT, "lost %llu samples: %s",
				 (unsigned long long)k->out_lost[i], gprof_device_lost_reason(i));
	return n;
}

static int write_out(struct gprof_address_recorder *r, int fd, struct gprof_address_counts *c)
{
	char text[COMMENTS][TEXT];
	const char *comments[COMMENTS];
	struct gprof_address_head head = {
		.type = r->source.type, .unit = r->source.unit,
		.period = r->source.params.period, .comments = comments,
	};
	struct gprof_stats k;
	size_t i;
	int err = gprof_device_stats(&r->dev, &k, &r->error);

	if (err)
		return err;
	count(r, &k, c);
	if (c->produced != c->read + c->lost + c->overwritten)
		return gprof_error_set(&r->error, EBADMSG, "%s: the counts do not add up: %llu "
				       "samples were produced, %llu read and %llu lost; this is a "
				       "bug of gprof", r->name, (unsigned long long)c->produced,
				       (unsigned long long)c->read, (unsigned long long)c->lost);
	head.time_ns = real_time(r, k.out_started_ns);
	head.duration_ns = k.out_stopped_ns - k.out_started_ns;
	head.nr_comments = comment(r, &k, c, text);
	for (i = 0; i < head.nr_comments; i++)
		comments[i] = text[i];
	err = gprof_address_pprof_write(&r->samples, &head, fd, &c->unmapped);
	return !err ? 0 : gprof_error_set(&r->error, -err, "the profile cannot be written (%s)",
					  gprof_strerror(-err));
}

int gprof_address_recorder_write(struct gprof_address_recorder *r, int fd,
				 struct gprof_address_counts *counts)
{
	const size_t least = GPROF_SIZE_WITH(struct gprof_address_counts, unmapped);
	struct gprof_address_counts c = { 0 };
	int err;

	if (!r->started || r->running)
		return gprof_error_set(&r->error, EBUSY, "%s: it was not stopped; its counts add up "
				       "when it is", r->name);
	err = write_out(r, fd, &c);
	if (!err && counts)
		err = gprof_opts_copy_out(counts, &c, sizeof(c), least, "gprof_address_counts",
					  &r->error);
	return err;
}

void gprof_address_recorder_free(struct gprof_address_recorder *r)
{
	size_t i;

	if (!r)
		return;
	for (i = 0; r->decoders && i < r->buffer.nr; i++)
		gprof_decoder_free(&r->decoders[i]);
	free(r->decoders);
	gprof_buffer_unmap(&r->buffer);
	/* The kernel stops where its last descriptor is closed. */
	gprof_own_fd_close(&r->dev);
	gprof_address_samples_free(&r->samples);
	free(r);
}
