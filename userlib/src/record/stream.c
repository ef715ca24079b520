// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * stream.c: one event of a recorder: a device, its rings, the profile in the making.
 */
#include "stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "device/ring_snapshot.h"
#include "profile/labels.h"
#include "device/loss.h"

/* A sample may be published, by an interrupt that took long, a little after its time. */
#define LATE_NS		1000000000ULL
/* Reading the table may take about a hundredth of the time. */
#define UPDATE_NS_A_SLOT	300

static int setup(struct gprof_stream *s, const struct gprof_stream_source *source,
		 const struct gprof_kernel_target *kernel_target,
		 const struct gprof_stream_opts *opts, struct gprof_error *e)
{
	struct gprof_setup setup = {
		.flags = (opts->on_exec ? GPROF_SETUP_F_ON_EXEC : 0) |
			 (opts->flight ? GPROF_SETUP_F_FLIGHT : 0) |
			 (source->columns.latency ? GPROF_SETUP_F_PARALLELISM : 0),
		.kind = source->kind,
		.target = kernel_target->target,
		.id = kernel_target->id,
		.stack = source->stack,
		.cpus = (uintptr_t)kernel_target->cpus,
		.params = (uintptr_t)source->params,
		.cpus_size = (uint32_t)kernel_target->cpus_size,
		.buffer_size = opts->buffer_bytes,
	};
	struct gprof_info info;
	int err;

	err = gprof_device_open(&s->dev, e);
	if (err)
		return err;
	err = gprof_device_info(&s->dev, &info, e);
	if (!err && source->columns.latency && !(info.out_features & GPROF_FEAT_PARALLELISM))
		err = gprof_error_set(e, EOPNOTSUPP, "%s: this gprof.ko cannot count running "
				      "tasks, which latency needs; load a newer one, or leave "
				      "latency out", s->name);
	if (!err && !(info.out_features & GPROF_FEAT_OBJECT_ENDS) && source->over_time_is_extra)
		s->columns.over_time = false;
	if (!err && s->columns.over_time && !(info.out_features & GPROF_FEAT_OBJECT_ENDS))
		err = gprof_error_set(e, EOPNOTSUPP, "%s: this gprof.ko does not tell when memory "
				      "is freed; load a newer one, or record without the peak",
				      s->name);
	if (!err && source->needs & ~info.out_features)
		err = gprof_error_set(e, EOPNOTSUPP, "%s: this gprof.ko %s", s->name,
				      source->needs_text);
	if (!err && opts->python && !(info.out_features & GPROF_FEAT_PYTHON))
		err = gprof_error_set(e, EOPNOTSUPP, "%s: this gprof.ko cannot find the frames of "
				      "Python; load a newer one, or leave them out", s->name);
	if (!err && opts->slice_ns && opts->flight)
		err = gprof_error_set(e, EINVAL, "%s: a flight recorder has no slices of time",
				      s->name);
	if (!err && opts->python && opts->no_tables)
		err = gprof_error_set(e, EINVAL, "%s: frames of Python want unwind tables, "
				      "which were left out", s->name);
	if (!err) {
		s->tables = !opts->no_tables && source->stack & GPROF_STACK_F_USER &&
			    info.out_features & GPROF_FEAT_TABLES;
		setup.stack |= s->tables ? GPROF_STACK_F_TABLES : 0;
		s->python = s->tables && opts->python;
		setup.stack |= s->python ? GPROF_STACK_F_PYTHON : 0;
		err = gprof_device_setup(&s->dev, &setup, s->name, e);
	}
	if (err == -ENOMEM && s->tables && !opts->python) {
		/* A user's allowance may be for the rings alone. */
		s->tables = false;
		s->tables_refused = true;
		setup.stack = source->stack;
		err = gprof_device_setup(&s->dev, &setup, s->name, e);
	}
	if (!err)
		err = gprof_buffer_map(&s->buffer, s->dev.fd, &setup, e);
	if (!err && source->columns.live_value_type)
		err = gprof_object_table_map(&s->live, s->dev.fd, s->name, e);
	return err;
}

/* Its live samples are as many as the kernel's table has slots. */
static int init_builder(struct gprof_stream *s)
{
	int err = gprof_builder_init(&s->builder);

	gprof_eviction_free(&s->eviction);
	gprof_eviction_init(&s->eviction);
	if (!err && s->live.head)
		s->builder.live_samples.max = s->live.head->nr_slots;
	s->builder.services = s->services;
	s->builder.slice_ns = s->slice_ns;
	s->builder.lock_waits.on = s->columns.by_release;
	s->builder.lock_waits.keep_addr = s->columns.addr;
	gprof_lifetimes_init(&s->builder.lifetimes, s->columns.over_time,
			     s->columns.grown_since_ns);
	s->since_ns = s->until_ns = 0;
	memset(&s->past, 0, sizeof(s->past));
	memset(s->past_ends, 0, sizeof(s->past_ends));
	return err;
}

int gprof_stream_init(struct gprof_stream *s, const struct gprof_stream_source *source,
		      const struct gprof_kernel_target *kernel_target,
		      const struct gprof_stream_opts *opts, struct gprof_error *e)
{
	size_t i;
	int err;

	memset(s, 0, sizeof(*s));
	s->dev = GPROF_OWN_FD_NONE;
	s->out = -1;
	s->columns = source->columns;
	s->services = opts->services;
	s->slice_ns = opts->slice_ns;
	s->kind = source->kind;
	s->name = strdup(source->name);
	s->detail = strdup(source->detail);
	s->target = strdup(kernel_target->text);
	s->column = strdup(source->columns.weight_type);
	if (!s->name || !s->detail || !s->target || !s->column || init_builder(s))
		return gprof_error_set(e, ENOMEM, "%s: no memory", source->name);
	s->columns.weight_type = s->column;
	s->flight = opts->flight;
	err = setup(s, source, kernel_target, opts, e);
	if (err)
		return err;
	if (s->live.head)
		s->builder.live_samples.max = s->live.head->nr_slots;
	s->decoders = calloc(s->buffer.nr, sizeof(*s->decoders));
	if (!s->decoders)
		return gprof_error_set(e, ENOMEM, "%s: no memory", s->name);
	for (i = 0; i < s->buffer.nr; i++)
		gprof_decoder_init(&s->decoders[i], &gprof_builder_ops, &s->builder);
	return 0;
}

void gprof_stream_free(struct gprof_stream *s)
{
	size_t i;

	for (i = 0; s->decoders && i < s->buffer.nr; i++)
		gprof_decoder_free(&s->decoders[i]);
	free(s->decoders);
	gprof_builder_free(&s->builder);
	gprof_eviction_free(&s->eviction);
	gprof_buffer_unmap(&s->buffer);
	gprof_object_table_unmap(&s->live);
	gprof_own_fd_close(&s->dev);
	free(s->name);
	free(s->detail);
	free(s->target);
	free(s->column);
	memset(s, 0, sizeof(*s));
	s->dev = GPROF_OWN_FD_NONE;
	s->out = -1;
}

static void sum_seen(const struct gprof_stream *s, struct gprof_decode_counts *sum)
{
	size_t i;

	memset(sum, 0, sizeof(*sum));
	for (i = 0; i < s->buffer.nr; i++) {
		const struct gprof_decode_counts *c = &s->decoders[i].counts;

		sum->samples += c->samples;
		sum->lost += c->lost;
		sum->nmi += c->nmi;
		sum->irq += c->irq;
		sum->throttled += c->throttled;
		sum->unknown += c->unknown;
		sum->malformed += c->malformed;
		sum->orphans += c->orphans;
	}
}

/* How many bytes are read before the kernel gets their room back. */
static uint64_t release_step(const struct gprof_ring *r)
{
	return r->size / 8;
}

/* All of it, but no more. */
static uint64_t one_step(const struct gprof_ring *r)
{
	uint64_t ahead = gprof_ring_ahead(r);

	return ahead < release_step(r) ? ahead : release_step(r);
}

static int drain_ring(struct gprof_ring *r, struct gprof_decoder *d)
{
	uint64_t released = r->pos;
	const struct gprof_rec *rec;
	uint32_t size;
	int ret;

	while ((ret = gprof_ring_peek(r, &rec, &size)) > 0) {
		uint64_t step;

		ret = gprof_decoder_feed(d, rec, size);
		gprof_ring_advance(r, size);
		if (ret)
			break;
		step = one_step(r);
		/*
		 * Samples that were taken before there were labels are remembered as having
		 * none. This is asked after it is known how far the samples go.
		 */
		if (!d->labelled && gprof_labels_used()) {
			gprof_decoder_forget(d);
			d->labelled = true;
		}
		gprof_ring_advance(r, gprof_decoder_feed_again(d, gprof_ring_here(r), step));
		if (r->pos - released >= release_step(r)) {
			gprof_ring_release(r);
			released = r->pos;
		}
	}
	if (r->pos != released)
		gprof_ring_release(r);
	return ret;
}

static int no_memory(const struct gprof_stream *s, struct gprof_error *e)
{
	return gprof_error_set(e, ENOMEM, "%s: no memory for the samples; record for a shorter "
			       "time, or less often", s->name);
}

/* Behind the reading of all that was in the rings at @now. */
static int update_lifetimes(struct gprof_stream *s, uint64_t now)
{
	struct gprof_lifetimes *l = &s->builder.lifetimes;

	if (!l->on || now - l->updated_ns < l->nr_newest * UPDATE_NS_A_SLOT)
		return 0;
	return gprof_lifetimes_update(l, &s->live, now, now - LATE_NS);
}

int gprof_stream_drain(struct gprof_stream *s, struct gprof_error *e)
{
	uint64_t now = now_ns();
	int first = 0;
	size_t i;

	for (i = 0; i < s->buffer.nr; i++) {
		struct gprof_ring *r = &s->buffer.rings[i];
		int err = drain_ring(r, &s->decoders[i]);

		if (!err || first)
			continue;
		if (err == -EBADMSG)
			first = gprof_error_set(e, EBADMSG,
						"%s: the buffer of CPU %u holds a record that "
						"makes no sense, and is not read any further",
						s->name, r->cpu);
		else
			first = no_memory(s, e);
	}
	if (!first && (update_lifetimes(s, now) ||
		       gprof_evict(&s->eviction, &s->builder, &s->columns, &s->live, s->decoders,
				   s->buffer.nr)))
		first = no_memory(s, e);
	return first;
}

/* Forgets all that was read, of the counts too. */
static int begin_anew(struct gprof_stream *s, struct gprof_error *e)
{
	size_t i;

	memset(&s->base_seen, 0, sizeof(s->base_seen));
	gprof_builder_free(&s->builder);
	if (init_builder(s))
		return gprof_error_set(e, ENOMEM, "%s: no memory", s->name);
	for (i = 0; i < s->buffer.nr; i++) {
		gprof_decoder_free(&s->decoders[i]);
		gprof_decoder_init(&s->decoders[i], &gprof_builder_ops, &s->builder);
	}
	return 0;
}

static int feed_copy(struct gprof_decoder *d, const struct gprof_snapshot *copy)
{
	const struct gprof_rec *rec;
	uint32_t size;
	size_t off = 0;
	int ret;

	while ((ret = gprof_snapshot_next(copy, &off, &rec, &size)) > 0) {
		ret = gprof_decoder_feed(d, rec, size);
		if (ret)
			break;
	}
	return ret;
}

/* A ring that has given up nothing tells of all that was since the start. */
static void note_begin(struct gprof_builder *b, const struct gprof_snapshot *copy)
{
	const struct gprof_generation_rec *rec = (const void *)copy->data;

	if (copy->pos && copy->len >= sizeof(*rec) && rec->mono_ns > b->from)
		b->from = rec->mono_ns;
}

/**
 * struct flight - the reading of flight rings' contents at one instant
 * @live: of each ring the part that was not read yet
 * @pieces: and the next of it
 * @nr: how many
 */
struct flight {
	struct gprof_ring_snapshot *live;
	struct gprof_snapshot *pieces;
	size_t nr;
};

/* While one ring is read, records of the others may be overwritten. */
static int rescue_all(struct flight *f)
{
	int err = 0;
	size_t i;

	for (i = 0; i < f->nr && !err; i++)
		err = gprof_ring_snapshot_rescue(&f->live[i]);
	return err;
}

/* Samples that were overwritten before they were copied are overwritten in the kernel's counts. */
static int next_piece(struct flight *f, size_t i, bool *gone)
{
	uint64_t before;
	int err = gprof_ring_snapshot_next(&f->live[i], &f->pieces[i], &before);

	*gone = before != GPROF_RING_SNAPSHOT_ADJOINS;
	return err;
}

/* The first of each: the profile begins where all of them have something to tell. */
static int begin_flight(struct gprof_stream *s, struct flight *f)
{
	bool gone = false;
	int err = 0;
	size_t i;

	for (i = 0; i < f->nr && !err; i++)
		err = gprof_ring_snapshot_begin(&f->live[i], &s->buffer.rings[i]);
	if (!err)
		err = rescue_all(f);
	for (i = 0; i < f->nr && !err; i++) {
		err = next_piece(f, i, &gone);
		if (!err && gone && !f->pieces[i].len)
			err = -EAGAIN;
		note_begin(&s->builder, &f->pieces[i]);
	}
	return err;
}

static int feed_ring(struct gprof_stream *s, struct flight *f, size_t i)
{
	bool gone;
	int err = 0;

	while (!err && f->pieces[i].len) {
		err = feed_copy(&s->decoders[i], &f->pieces[i]);
		gprof_snapshot_free(&f->pieces[i]);
		if (!err)
			err = rescue_all(f);
		if (!err)
			err = next_piece(f, i, &gone);
	}
	return err;
}

static int read_flight(struct gprof_stream *s, struct flight *f)
{
	int err = begin_flight(s, f);
	size_t i;

	for (i = 0; i < f->nr && !err; i++)
		err = feed_ring(s, f, i);
	for (i = 0; i < f->nr; i++) {
		gprof_snapshot_free(&f->pieces[i]);
		gprof_ring_snapshot_free(&f->live[i]);
	}
	return err;
}

int gprof_stream_snapshot(struct gprof_stream *s, struct gprof_error *e)
{
	struct flight f = {
		.live = calloc(s->buffer.nr, sizeof(*f.live)),
		.pieces = calloc(s->buffer.nr, sizeof(*f.pieces)),
		.nr = s->buffer.nr,
	};
	int err = f.live && f.pieces ? begin_anew(s, e) : -ENOMEM;

	if (!err)
		err = read_flight(s, &f);
	free(f.live);
	free(f.pieces);
	switch (-err) {
	case 0:
		return 0;
	case ENOMEM:
		return gprof_error_set(e, ENOMEM, "%s: no memory for a snapshot", s->name);
	case EAGAIN:
		return gprof_error_set(e, EAGAIN,
				       "%s: samples come faster than the buffers can be copied; give "
				       "them more memory", s->name);
	default:
		return gprof_error_set(e, -err, "%s: a buffer holds a record that makes no sense",
				       s->name);
	}
}

int gprof_stream_mark_live(struct gprof_stream *s, struct gprof_error *e)
{
	struct gprof_lifetimes *l = &s->builder.lifetimes;

	if (s->live.head)
		gprof_builder_mark_live(&s->builder, &s->live);
	if (l->on && gprof_lifetimes_update(l, &s->live, now_ns(), UINT64_MAX))
		return no_memory(s, e);
	return 0;
}

static void add_kernel(struct gprof_stats *sum, const struct gprof_stats *k)
{
	size_t i;

	sum->out_produced += k->out_produced;
	for (i = 0; i < GPROF_LOST_SLOTS; i++)
		sum->out_lost[i] += k->out_lost[i];
	sum->out_overwritten += k->out_overwritten;
	sum->out_nmi += k->out_nmi;
	sum->out_irq += k->out_irq;
	sum->out_task += k->out_task;
	sum->out_throttled += k->out_throttled;
	sum->out_maps_lost += k->out_maps_lost;
	sum->out_maps_missed += k->out_maps_missed;
	sum->out_count += k->out_count;
	sum->out_time_enabled += k->out_time_enabled;
	sum->out_time_running += k->out_time_running;
}

int gprof_stream_next(struct gprof_stream *s, const struct gprof_tally *t, struct gprof_error *e)
{
	const struct gprof_stats *k = &t->kernel;
	size_t i;

	for (i = 0; i < GPROF_ENDS; i++)
		s->past_ends[i] += s->builder.ends[i];
	if (gprof_builder_next(&s->builder))
		return no_memory(s, e);
	for (i = 0; i < s->buffer.nr; i++)
		gprof_decoder_forget(&s->decoders[i]);
	gprof_eviction_next(&s->eviction);
	add_kernel(&s->base, k);
	add_kernel(&s->past.kernel, k);
	s->past.seen.samples += t->seen.samples;
	sum_seen(s, &s->base_seen);
	s->since_ns = s->until_ns;
	s->until_ns = 0;
	return 0;
}

int gprof_stream_prepare(struct gprof_stream *s, struct gprof_error *e)
{
	/* A start that failed at a later event has left samples of this one. */
	int err = s->flight ? 0 : gprof_stream_drain(s, e);
	size_t i;

	if (!err)
		err = gprof_device_stats(&s->dev, &s->base, e);
	if (err)
		return err;
	sum_seen(s, &s->base_seen);
	/* The kernel begins a generation with each recording, and says all that it needs again. */
	for (i = 0; i < s->buffer.nr; i++)
		gprof_decoder_restart(&s->decoders[i]);
	gprof_builder_free(&s->builder);
	if (init_builder(s))
		return gprof_error_set(e, ENOMEM, "%s: no memory", s->name);
	return 0;
}

int gprof_stream_start(struct gprof_stream *s, struct gprof_error *e)
{
	int err;

	s->builder.slice_base = s->builder.lifetimes.from_ns = now_ns();
	err = gprof_device_start(&s->dev, s->kind, s->name, e);
	s->started = !err;
	return err;
}

int gprof_stream_stop(struct gprof_stream *s, struct gprof_error *e)
{
	if (!s->started)
		return 0;
	s->started = false;
	return gprof_device_stop(&s->dev, s->name, e);
}

int gprof_stream_tally(struct gprof_stream *s, struct gprof_tally *t, struct gprof_error *e)
{
	const struct gprof_decode_counts *b = &s->base_seen;
	struct gprof_stats *k = &t->kernel;
	int err = gprof_device_stats(&s->dev, k, e);
	size_t i;

	if (err)
		return err;
	k->out_produced -= s->base.out_produced;
	for (i = 0; i < GPROF_LOST_SLOTS; i++)
		k->out_lost[i] -= s->base.out_lost[i];
	k->out_overwritten -= s->base.out_overwritten;
	k->out_nmi -= s->base.out_nmi;
	k->out_irq -= s->base.out_irq;
	k->out_task -= s->base.out_task;
	k->out_throttled -= s->base.out_throttled;
	k->out_maps_lost -= s->base.out_maps_lost;
	k->out_maps_missed -= s->base.out_maps_missed;
	k->out_count -= s->base.out_count;
	k->out_time_enabled -= s->base.out_time_enabled;
	k->out_time_running -= s->base.out_time_running;

	sum_seen(s, &t->seen);
	t->seen.samples -= b->samples;
	t->seen.lost -= b->lost;
	t->seen.nmi -= b->nmi;
	t->seen.irq -= b->irq;
	t->seen.throttled -= b->throttled;
	t->seen.unknown -= b->unknown;
	t->seen.malformed -= b->malformed;
	t->seen.orphans -= b->orphans;
	return 0;
}

uint64_t gprof_stream_samples(const struct gprof_stream *s)
{
	struct gprof_decode_counts seen;

	sum_seen(s, &seen);
	return seen.samples - s->base_seen.samples;
}

int gprof_stream_total(struct gprof_stream *s, struct gprof_tally *t, struct gprof_error *e)
{
	int err = gprof_stream_tally(s, t, e);

	if (err)
		return err;
	add_kernel(&t->kernel, &s->past.kernel);
	t->seen.samples += s->past.seen.samples;
	return 0;
}

uint64_t gprof_stream_stack_ends(const struct gprof_stream *s, uint64_t ends[GPROF_ENDS])
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < GPROF_ENDS; i++) {
		ends[i] = s->builder.ends[i] + s->past_ends[i];
		sum += ends[i];
	}
	return sum;
}

uint64_t gprof_tally_lost(const struct gprof_tally *t)
{
	return gprof_device_lost(&t->kernel);
}
