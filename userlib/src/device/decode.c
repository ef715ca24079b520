// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * decode.c: records of one CPU, in order, to calls.
 */
#include "decode.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * Of a stack: the module has at most 127 of either half, and the markers of an exception between
 * them. A STACK_DELTA record is small, so a file could make many frames of few bytes.
 */
#define FRAMES_MAX	512

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
	size_t i;

	for (i = 0; i < GPROF_STACK_SUFFIXES; i++)
		free(d->bases[i].words);
	free(d->whole.words);
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
	d->bases_said = 0;
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
	d->bases_said = 0;
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

/* A whole stack: hands it out. */
static int hand_out(struct gprof_decoder *d, const struct gprof_stack_rec *s)
{
	uint32_t handle = GPROF_NONE;
	int err = d->ops->stack(d->ctx, s, &handle);

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

/* Room for a stack of so many frames, or NULL. */
static struct gprof_stack_rec *room_for(struct gprof_decoder_stack *s, size_t frames)
{
	size_t head = sizeof(struct gprof_stack_rec) / sizeof(*s->words);

	if (gprof_grow(&s->words, &s->cap, head + frames, sizeof(*s->words)))
		return NULL;
	return (struct gprof_stack_rec *)s->words;
}

static int keep_base(struct gprof_decoder *d, const struct gprof_stack_rec *s)
{
	size_t frames = (size_t)s->nr_kernel + s->nr_user;
	struct gprof_stack_rec *copy = room_for(&d->bases[s->suffix - 1], frames);

	if (!copy)
		return -ENOMEM;
	memcpy(copy, s, sizeof(*s) + frames * sizeof(s->frames[0]));
	d->bases_said |= 1ULL << (s->suffix - 1);
	return 0;
}

static int stack(struct gprof_decoder *d, const struct gprof_rec *rec, uint32_t size)
{
	const struct gprof_stack_rec *s = (const void *)rec;
	int err = 0;

	if (size < sizeof(*s) || !d->started ||
	    (size - sizeof(*s)) / sizeof(s->frames[0]) < (uint32_t)s->nr_kernel + s->nr_user ||
	    (uint32_t)s->nr_kernel + s->nr_user > FRAMES_MAX)
		return malformed(d);
	if (s->suffix && s->suffix <= GPROF_STACK_SUFFIXES)
		err = keep_base(d, s);
	return err ? err : hand_out(d, s);
}

static int branch(struct gprof_decoder *d, const struct gprof_rec *rec, uint32_t size)
{
	const struct gprof_stack_delta_rec *b = (const void *)rec;
	const struct gprof_stack_rec *base;
	struct gprof_stack_rec *s;
	size_t own;

	_Static_assert(GPROF_STACK_SUFFIXES <= 64, "a bit for each base");
	if (size < sizeof(*b) || !d->started || !b->suffix || b->suffix > GPROF_STACK_SUFFIXES ||
	    !(d->bases_said >> (b->suffix - 1) & 1))
		return malformed(d);
	base = (const struct gprof_stack_rec *)d->bases[b->suffix - 1].words;
	own = (size_t)b->nr_kernel + b->nr_user;
	if ((size - sizeof(*b)) / sizeof(b->frames[0]) < own || b->nr_shared > base->nr_user ||
	    own + b->nr_shared > FRAMES_MAX)
		return malformed(d);
	s = room_for(&d->whole, own + b->nr_shared);
	if (!s)
		return -ENOMEM;
	*s = (struct gprof_stack_rec){
		.rec = {
			.type = GPROF_REC_STACK, .flags = rec->flags,
			.size = (uint32_t)(sizeof(*s) + (own + b->nr_shared) * sizeof(s->frames[0])),
		},
		.id = b->id,
		.exec_map_seq = base->exec_map_seq,
		.nr_kernel = b->nr_kernel,
		.nr_user = (uint16_t)(b->nr_user + b->nr_shared),
		.process = base->process,
	};
	memcpy(s->frames, b->frames, own * sizeof(s->frames[0]));
	memcpy(s->frames + own, base->frames + base->nr_kernel + base->nr_user - b->nr_shared,
	       b->nr_shared * sizeof(s->frames[0]));
	return hand_out(d, s);
}

/* The task and the stack, in one word. */
static uint64_t again_key(const struct gprof_sample_rec *s)
{
	uint64_t key;

	_Static_assert(offsetof(struct gprof_sample_rec, stack) ==
		       offsetof(struct gprof_sample_rec, tid) + 4, "one behind the other");
	memcpy(&key, &s->tid, sizeof(key));
	return key;
}

static struct gprof_again *again_of(struct gprof_decoder *d, uint64_t key)
{
	return &d->again[(key >> 32 ^ (uint32_t)key * 31) & (GPROF_AGAIN - 1)];
}

static uint64_t head_word(struct gprof_rec rec)
{
	uint64_t word;

	memcpy(&word, &rec, sizeof(word));
	return word;
}

/* Flags of a sample that stack and task alone distinguish: no weight, address or throttling. */
#define PLAIN	(GPROF_SAMPLE_REC_F_NMI | GPROF_SAMPLE_REC_F_IRQ | GPROF_SAMPLE_REC_F_KERNEL)

static bool is_plain(const struct gprof_rec *rec)
{
	const struct gprof_rec flags = { .flags = PLAIN }, plain = {
		.type = GPROF_REC_SAMPLE, .size = sizeof(struct gprof_sample_rec),
	};

	return (head_word(*rec) & ~head_word(flags)) == head_word(plain);
}

size_t gprof_decoder_feed_again(struct gprof_decoder *d, const void *data, size_t bytes)
{
	void (*const again)(void *ctx, uint32_t handle, uint64_t weight, uint64_t time) =
		d->ops->again;
	uint64_t samples = 0, nmi = 0, irq = 0;
	const uint64_t weight = d->weight;
	void *const ctx = d->ctx;
	const char *p = data, *end = p + bytes - bytes % sizeof(struct gprof_sample_rec);

	for (; p != end; p += sizeof(struct gprof_sample_rec)) {
		const struct gprof_sample_rec *s = (const void *)p;
		const uint64_t key = again_key(s);
		const struct gprof_again *a = again_of(d, key);

		/* A key whose stack is 0 is in no place. */
		if (a->key != key || !key || !is_plain(&s->rec))
			break;
		nmi += !!(s->rec.flags & GPROF_SAMPLE_REC_F_NMI);
		irq += !!(s->rec.flags & GPROF_SAMPLE_REC_F_IRQ);
		samples++;
		again(ctx, a->sample, weight, s->time);
	}
	if (!samples)
		return 0;
	d->counts.samples += samples;
	d->counts.nmi += nmi;
	d->counts.irq += irq;
	d->next = GPROF_NONE;
	return samples * sizeof(struct gprof_sample_rec);
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
	if (rec->flags & GPROF_SAMPLE_REC_F_WAIT)
		want += 8;
	if (rec->flags & GPROF_SAMPLE_REC_F_PARALLELISM)
		want += 8;
	if (rec->flags & GPROF_SAMPLE_REC_F_OWNER)
		want += sizeof(out.owner);
	if (rec->flags & GPROF_SAMPLE_REC_F_STATE)
		want += sizeof(out.state);
	if (rec->flags & GPROF_SAMPLE_REC_F_OBJECT)
		want += 8;
	if (rec->flags & GPROF_SAMPLE_REC_F_ENDED)
		want += 8;
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
	if (rec->flags & GPROF_SAMPLE_REC_F_WAIT) {
		out.wait = *extra++;
		out.has_wait = true;
	}
	if (rec->flags & GPROF_SAMPLE_REC_F_PARALLELISM) {
		uint64_t running = *extra++;

		/* A sampled task runs, and no host has that many CPUs. */
		if (!running || running > UINT32_MAX)
			return malformed(d);
		out.parallelism = (uint32_t)running;
	}
	if (rec->flags & GPROF_SAMPLE_REC_F_OWNER) {
		memcpy(&out.owner, extra, sizeof(out.owner));
		extra += sizeof(out.owner) / sizeof(*extra);
	}
	if (rec->flags & GPROF_SAMPLE_REC_F_STATE) {
		memcpy(&out.state, extra, sizeof(out.state));
		extra += sizeof(out.state) / sizeof(*extra);
	}
	if (rec->flags & GPROF_SAMPLE_REC_F_OBJECT)
		out.live = *extra++;
	if (rec->flags & GPROF_SAMPLE_REC_F_ENDED)
		out.ended = *extra;
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
		*again_of(d, again_key(s)) = (struct gprof_again){ again_key(s), handle };
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
	case GPROF_REC_STACK_DELTA:
		return branch(d, rec, size);
	case GPROF_REC_SAMPLE:
		return sample(d, rec, size, next);
	case GPROF_REC_MAP:
		return map(d, rec, size);
	default:
		d->counts.unknown++;
		return 0;
	}
}
