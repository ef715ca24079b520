// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * decode.c: records of one CPU, in order, to calls.
 */
#include "decode.h"

#include <errno.h>
#include <string.h>

void gprof_decoder_init(struct gprof_decoder *d, const struct gprof_decode_ops *ops, void *ctx)
{
	memset(d, 0, sizeof(*d));
	d->ops = ops;
	d->ctx = ctx;
	d->next = GPROF_NONE;
	gprof_map64_init(&d->stacks);
	gprof_map64_init(&d->tasks);
}

void gprof_decoder_free(struct gprof_decoder *d)
{
	gprof_map64_free(&d->stacks);
	gprof_map64_free(&d->tasks);
}

void gprof_decoder_forget(struct gprof_decoder *d)
{
	memset(d->again, 0, sizeof(d->again));
}

void gprof_decoder_restart(struct gprof_decoder *d)
{
	gprof_map64_clear(&d->stacks);
	gprof_map64_clear(&d->tasks);
	gprof_decoder_forget(d);
	d->next = GPROF_NONE;
}

static int malformed(struct gprof_decoder *d)
{
	d->counts.malformed++;
	return 0;
}

static int generation(struct gprof_decoder *d, const struct gprof_rec *rec, uint32_t size)
{
	const struct gprof_generation_rec *g = (const void *)rec;

	if (size < sizeof(*g))
		return malformed(d);
	gprof_map64_clear(&d->stacks);
	gprof_map64_clear(&d->tasks);
	gprof_decoder_forget(d);
	d->started = true;
	d->cpu = g->cpu;
	d->weight = g->weight;
	d->mono_ns = g->mono_ns;
	d->real_ns = g->real_ns;
	return 0;
}

static int lost(struct gprof_decoder *d, const struct gprof_rec *rec, uint32_t size)
{
	const struct gprof_lost_rec *l = (const void *)rec;
	size_t i, n = (size - sizeof(*l)) / sizeof(l->lost[0]);

	if (!n)
		return malformed(d);
	for (i = 0; i < n; i++)
		d->counts.lost += l->lost[i];
	return 0;
}

static int task(struct gprof_decoder *d, const struct gprof_rec *rec, uint32_t size)
{
	const struct gprof_task_rec *t = (const void *)rec;
	uint32_t handle = GPROF_NONE, was;
	int err;

	if (size < sizeof(*t) || !d->started)
		return malformed(d);
	err = d->ops->task(d->ctx, t, &handle);
	if (err)
		return err;
	was = gprof_map64_get(&d->tasks, t->tid);
	if (was != GPROF_NONE && was != handle)
		gprof_decoder_forget(d);	/* the task has a new name */
	return gprof_map64_put(&d->tasks, t->tid, handle);
}

static int stack(struct gprof_decoder *d, const struct gprof_rec *rec, uint32_t size)
{
	const struct gprof_stack_rec *s = (const void *)rec;
	uint32_t handle = GPROF_NONE;
	int err;

	if (size < sizeof(*s) || !d->started ||
	    (size - sizeof(*s)) / sizeof(s->frames[0]) < (uint32_t)s->nr_kernel + s->nr_user)
		return malformed(d);
	err = d->ops->stack(d->ctx, s, &handle);
	if (err)
		return err;
	if (!s->id) {
		d->next = handle;
		return 0;
	}
	if (gprof_map64_get(&d->stacks, s->id) != GPROF_NONE)
		gprof_decoder_forget(d);	/* ids are not reused, says the kernel */
	return gprof_map64_put(&d->stacks, s->id, handle);
}

static struct gprof_again *again_of(struct gprof_decoder *d, const struct gprof_sample_rec *s)
{
	return &d->again[(s->stack ^ s->tid * 31) & (GPROF_AGAIN - 1)];
}

/* What distinguishes samples besides stack and task: a weight, an address, throttling. */
#define PLAIN	(GPROF_SAMPLE_REC_F_NMI | GPROF_SAMPLE_REC_F_IRQ | GPROF_SAMPLE_REC_F_KERNEL)

static bool is_plain(const struct gprof_rec *rec)
{
	return rec->type == GPROF_REC_SAMPLE && !(rec->flags & ~PLAIN) &&
	       rec->size == sizeof(struct gprof_sample_rec);
}

size_t gprof_decoder_feed_again(struct gprof_decoder *d, const void *data, size_t bytes)
{
	struct gprof_decode_counts *c = &d->counts;
	size_t done = 0;

	while (bytes - done >= sizeof(struct gprof_sample_rec)) {
		const struct gprof_sample_rec *s = (const void *)((const char *)data + done);
		const struct gprof_again *a = again_of(d, s);

		if (!is_plain(&s->rec) || !s->stack || a->stack != s->stack || a->tid != s->tid)
			break;
		c->samples++;
		c->nmi += !!(s->rec.flags & GPROF_SAMPLE_REC_F_NMI);
		c->irq += !!(s->rec.flags & GPROF_SAMPLE_REC_F_IRQ);
		d->ops->again(d->ctx, a->sample, d->weight);
		done += sizeof(*s);
	}
	if (done)
		d->next = GPROF_NONE;
	return done;
}

static int sample(struct gprof_decoder *d, const struct gprof_rec *rec, uint32_t size,
		  uint32_t next)
{
	const struct gprof_sample_rec *s = (const void *)rec;
	struct gprof_decoded out = { .flags = rec->flags, .cpu = d->cpu, .weight = d->weight };
	const __u64 *extra = s->extra;
	uint32_t want = sizeof(*s), handle = GPROF_NONE;
	int err;

	if (rec->flags & GPROF_SAMPLE_REC_F_WEIGHT)
		want += 8;
	if (rec->flags & GPROF_SAMPLE_REC_F_ADDR)
		want += 8;
	if (rec->flags & GPROF_SAMPLE_REC_F_VALUE)
		want += 8;
	if (rec->flags & GPROF_SAMPLE_REC_F_STATE)
		want += sizeof(out.state);
	if (size < want || !d->started)
		return malformed(d);
	if (rec->flags & GPROF_SAMPLE_REC_F_WEIGHT)
		out.weight = *extra++;
	if (rec->flags & GPROF_SAMPLE_REC_F_ADDR) {
		out.addr = *extra++;
		out.has_addr = true;
	}
	if (rec->flags & GPROF_SAMPLE_REC_F_VALUE) {
		out.value = *extra++;
		out.has_value = true;
	}
	if (rec->flags & GPROF_SAMPLE_REC_F_STATE)
		memcpy(&out.state, extra, sizeof(out.state));
	out.time = s->time;
	out.tid = s->tid;
	out.task = gprof_map64_get(&d->tasks, s->tid);
	out.stack = s->stack ? gprof_map64_get(&d->stacks, s->stack) : next;
	d->counts.samples++;
	d->counts.orphans += s->stack && out.stack == GPROF_NONE;
	d->counts.nmi += !!(rec->flags & GPROF_SAMPLE_REC_F_NMI);
	d->counts.irq += !!(rec->flags & GPROF_SAMPLE_REC_F_IRQ);
	d->counts.throttled += !!(rec->flags & GPROF_SAMPLE_REC_F_THROTTLED);
	err = d->ops->sample(d->ctx, &out, &handle);
	if (!err && handle != GPROF_NONE && is_plain(rec) && s->stack && out.stack != GPROF_NONE &&
	    out.task != GPROF_NONE)
		*again_of(d, s) = (struct gprof_again){ s->stack, s->tid, handle };
	return err;
}

const struct gprof_map_file *gprof_map_file(const struct gprof_map_rec *m)
{
	if (!(m->rec.flags & GPROF_MAP_REC_F_FILE))
		return NULL;
	return (const void *)(m->path + ((strlen(m->path) + 1 + 7) & ~(size_t)7));
}

static int map(struct gprof_decoder *d, const struct gprof_rec *rec, uint32_t size)
{
	const struct gprof_map_rec *m = (const void *)rec;
	const struct gprof_map_file *file;

	if (size <= sizeof(*m) || !memchr(m->path, '\0', size - sizeof(*m)) || m->start >= m->end)
		return malformed(d);
	file = gprof_map_file(m);
	if (file) {
		size_t at = (size_t)((const char *)file - (const char *)m);

		if (at > size || size - at < sizeof(*file) ||
		    file->build_id_size > sizeof(file->build_id))
			return malformed(d);
	}
	return d->ops->map(d->ctx, m, m->path);
}

int gprof_decoder_feed(struct gprof_decoder *d, const struct gprof_rec *rec, uint32_t size)
{
	/* A stack with id 0 belongs to the sample right behind it, and to no other. */
	uint32_t next = d->next;

	d->next = GPROF_NONE;
	if (rec->type & GPROF_REC_SHORT) {
		d->counts.unknown++;
		return 0;
	}
	switch (rec->type) {
	case GPROF_REC_GENERATION:
		return generation(d, rec, size);
	case GPROF_REC_LOST:
		return lost(d, rec, size);
	case GPROF_REC_TASK:
		return task(d, rec, size);
	case GPROF_REC_STACK:
		return stack(d, rec, size);
	case GPROF_REC_SAMPLE:
		return sample(d, rec, size, next);
	case GPROF_REC_MAP:
		return map(d, rec, size);
	default:
		d->counts.unknown++;
		return 0;
	}
}
