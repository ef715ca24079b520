// SPDX-License-Identifier: GPL-2.0-only
/* reader.c: a reader of the rings that trusts nothing. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "reader.h"

#define MOST_IDS	(1U << 24)	/* more stacks in one generation: an id is wrong */

struct reader_ring {
	unsigned int cpu;
	bool begun;			/* a GENERATION record was read */
	uint64_t generation;
	uint64_t mono_ns;		/* when it began */
	uint64_t weight;
	struct gprof_stack_rec **stacks;	/* of this generation, by id */
	uint32_t nr_stacks;
	struct gprof_stack_rec
		*bases[GPROF_STACK_SUFFIXES]; /* of this generation, by number less 1 */
	struct gprof_stack_rec *next;	/* id 0: for the next sample */
	uint32_t last_id;		/* id of the STACK or BRANCH record just before, else 0 */
	uint32_t *tids;			/* that TASK records named in this generation */
	size_t nr_tids;
	uint64_t time;			/* of the last sample */
	uint64_t position;		/* where reading began */
};

static int64_t broken(struct reader *r, const struct reader_ring *ring, uint64_t pos,
		      const char *format, ...)
{
	size_t n = 0;
	va_list args;

	if (!r->error[0]) {
		n = snprintf(r->error, sizeof(r->error), "cpu %u position %llu: ", ring->cpu,
			     (unsigned long long)pos);
		va_start(args, format);
		vsnprintf(r->error + n, sizeof(r->error) - n, format, args);
		va_end(args);
	}
	return -EBADMSG;
}

static void forget_generation(struct reader_ring *ring)
{
	for (uint32_t i = 0; i < ring->nr_stacks; i++)
		free(ring->stacks[i]);
	for (uint32_t i = 0; i < GPROF_STACK_SUFFIXES; i++) {
		free(ring->bases[i]);
		ring->bases[i] = NULL;
	}
	free(ring->stacks);
	free(ring->next);
	free(ring->tids);
	ring->stacks = NULL;
	ring->nr_stacks = 0;
	ring->next = NULL;
	ring->last_id = 0;
	ring->tids = NULL;
	ring->nr_tids = 0;
}

int reader_init(struct reader *r, struct device *dev)
{
	*r = (struct reader){ .dev = dev };
	r->rings = calloc(dev->nr_cpus, sizeof(*r->rings));
	if (!r->rings)
		return -ENOMEM;
	for (unsigned int cpu = 0; cpu < dev->nr_cpus; cpu++)
		r->rings[cpu].cpu = cpu;
	return 0;
}

void reader_free(struct reader *r)
{
	for (unsigned int cpu = 0; r->rings && cpu < r->dev->nr_cpus; cpu++)
		forget_generation(&r->rings[cpu]);
	free(r->rings);
	r->rings = NULL;
}

int reader_record(struct reader *r, struct device *dev, struct gprof_setup *setup,
		  void (*on_sample)(void *ctx, const struct reader_sample *sample), void *ctx)
{
	int err = device_record(dev, setup) ?: reader_init(r, dev);

	r->on_sample = on_sample;
	r->ctx = ctx;
	return err;
}

void reader_close(struct reader *r)
{
	reader_free(r);
	if (r->dev)
		device_close(r->dev);
}

void reader_reset(struct reader *r)
{
	struct reader old = *r;

	for (unsigned int cpu = 0; cpu < r->dev->nr_cpus; cpu++) {
		forget_generation(&r->rings[cpu]);
		r->rings[cpu] = (struct reader_ring){ .cpu = cpu };
	}
	*r = (struct reader){
		.dev = old.dev, .rings = old.rings, .ctx = old.ctx, .on_sample = old.on_sample,
		.on_map = old.on_map, .on_task = old.on_task, .on_word = old.on_word,
		.on_fired = old.on_fired, .on_annotation = old.on_annotation,
	};
}

static bool has_tid(const struct reader_ring *ring, uint32_t tid)
{
	for (size_t i = 0; i < ring->nr_tids; i++)
		if (ring->tids[i] == tid)
			return true;
	return false;
}

static int64_t on_generation(struct reader *r, struct reader_ring *ring, uint64_t pos,
			     const struct gprof_generation_rec *g)
{
	if (g->rec.size < sizeof(*g))
		return broken(r, ring, pos, "GENERATION of %u bytes", g->rec.size);
	if (ring->begun && g->generation != ring->generation + 1)
		return broken(r, ring, pos, "generation %llu after %llu",
			      (unsigned long long)g->generation,
			      (unsigned long long)ring->generation);
	if (g->cpu != ring->cpu)
		return broken(r, ring, pos, "GENERATION of cpu %u", g->cpu);
	if (g->__reserved || g->rec.flags)
		return broken(r, ring, pos, "GENERATION with reserved bits");
	if (!g->mono_ns || !g->real_ns || !g->weight)
		return broken(r, ring, pos, "GENERATION without time or weight");
	forget_generation(ring);
	ring->begun = true;
	ring->generation = g->generation;
	ring->mono_ns = g->mono_ns;
	ring->weight = g->weight;
	r->generations++;
	return 0;
}

static int64_t on_lost(struct reader *r, struct reader_ring *ring, uint64_t pos,
		       const struct gprof_lost_rec *l)
{
	uint64_t sum = 0;
	size_t i, n = (l->rec.size - sizeof(*l)) / sizeof(l->lost[0]);

	if (!n || n > GPROF_LOST_SLOTS)
		return broken(r, ring, pos, "LOST of %u bytes", l->rec.size);
	for (i = 0; i < n; i++) {
		r->lost[i] += l->lost[i];
		sum += l->lost[i];
	}
	if (sum >> 48)
		return broken(r, ring, pos, "LOST of absurdly many");
	r->lost_records++;
	return 0;
}

/* Takes @s, which is in memory of its own. */
static int64_t keep_stack(struct reader *r, struct reader_ring *ring, uint64_t pos,
			  struct gprof_stack_rec *s)
{
	struct gprof_stack_rec **stacks;
	uint32_t nr;

	/* The kernel never calls a function from where that one returns to. */
	if (s->nr_kernel > 1 && s->frames[0] == s->frames[1]) {
		free(s);
		return broken(r, ring, pos, "STACK that tells its leaf twice");
	}
	if (!s->id) {
		free(ring->next);
		ring->next = s;
		r->inline_stacks++;
		return 0;
	}
	if (s->id >= MOST_IDS) {
		free(s);
		return broken(r, ring, pos, "a stack id is %u", MOST_IDS);
	}
	if (s->id >= ring->nr_stacks) {
		nr = s->id * 2 + 64;
		stacks = realloc(ring->stacks, nr * sizeof(*stacks));
		if (!stacks) {
			free(s);
			return -ENOMEM;
		}
		memset(stacks + ring->nr_stacks, 0, (nr - ring->nr_stacks) * sizeof(*stacks));
		ring->stacks = stacks;
		ring->nr_stacks = nr;
	}
	if (ring->stacks[s->id]) {
		nr = s->id;
		free(s);
		return broken(r, ring, pos, "stack id %u defined twice", nr);
	}
	ring->stacks[s->id] = s;
	r->stacks++;
	return 0;
}

static int64_t on_stack(struct reader *r, struct reader_ring *ring, uint64_t pos,
			const struct gprof_stack_rec *s)
{
	struct gprof_stack_rec *copy;
	uint64_t frames;

	if (s->rec.size < sizeof(*s))
		return broken(r, ring, pos, "STACK of %u bytes", s->rec.size);
	frames = (uint64_t)s->nr_kernel + s->nr_user;
	if (sizeof(*s) + frames * 8 != s->rec.size)
		return broken(r, ring, pos, "STACK of %u bytes with %llu frames", s->rec.size,
			      (unsigned long long)frames);
	if (s->suffix > GPROF_STACK_SUFFIXES)
		return broken(r, ring, pos, "STACK that is base %u", s->suffix);
	if (s->suffix && ring->bases[s->suffix - 1])
		return broken(r, ring, pos, "base %u is two stacks", s->suffix);
	copy = malloc(s->rec.size);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, s, s->rec.size);
	if (s->suffix) {
		ring->bases[s->suffix - 1] = malloc(s->rec.size);
		if (!ring->bases[s->suffix - 1]) {
			free(copy);
			return -ENOMEM;
		}
		memcpy(ring->bases[s->suffix - 1], s, s->rec.size);
	}
	return keep_stack(r, ring, pos, copy);
}

static int64_t on_branch(struct reader *r, struct reader_ring *ring, uint64_t pos,
			 const struct gprof_stack_delta_rec *b)
{
	const struct gprof_stack_rec *base;
	struct gprof_stack_rec *s;
	size_t own;

	if (b->rec.size < sizeof(*b))
		return broken(r, ring, pos, "BRANCH of %u bytes", b->rec.size);
	own = (size_t)b->nr_kernel + b->nr_user;
	if (sizeof(*b) + own * 8 != b->rec.size)
		return broken(r, ring, pos, "BRANCH of %u bytes with %zu frames", b->rec.size, own);
	if (b->__reserved)
		return broken(r, ring, pos, "BRANCH with reserved bits");
	if (!b->suffix || b->suffix > GPROF_STACK_SUFFIXES || !ring->bases[b->suffix - 1])
		return broken(r, ring, pos, "base %u is not in generation %llu", b->suffix,
			      (unsigned long long)ring->generation);
	base = ring->bases[b->suffix - 1];
	if (b->nr_shared > base->nr_user)
		return broken(r, ring, pos, "BRANCH shares %u frames of %u", b->nr_shared,
			      base->nr_user);
	s = malloc(sizeof(*s) + (own + b->nr_shared) * 8);
	if (!s)
		return -ENOMEM;
	*s = *base;
	s->rec.flags = b->rec.flags;
	s->rec.size = (uint32_t)(sizeof(*s) + (own + b->nr_shared) * 8);
	s->id = b->id;
	s->nr_kernel = b->nr_kernel;
	s->nr_user = b->nr_user + b->nr_shared;
	memcpy(s->frames, b->frames, own * 8);
	memcpy(s->frames + own, base->frames + base->nr_kernel + base->nr_user - b->nr_shared,
	       b->nr_shared * 8);
	r->branches++;
	return keep_stack(r, ring, pos, s);
}

static int64_t on_task(struct reader *r, struct reader_ring *ring, uint64_t pos,
		       const struct gprof_task_rec *t)
{
	uint32_t *tids;

	if (t->rec.size < sizeof(*t))
		return broken(r, ring, pos, "TASK of %u bytes", t->rec.size);
	if (t->rec.flags & ~GPROF_TASK_REC_F_UID || (!t->rec.flags && t->uid))
		return broken(r, ring, pos, "TASK with reserved bits");
	if (!memchr(t->comm, 0, sizeof(t->comm)))
		return broken(r, ring, pos, "TASK whose name does not end");
	if (!has_tid(ring, t->tid)) {
		tids = realloc(ring->tids, (ring->nr_tids + 1) * sizeof(*tids));
		if (!tids)
			return -ENOMEM;
		tids[ring->nr_tids++] = t->tid;
		ring->tids = tids;
	}
	r->tasks++;
	if (r->on_task)
		r->on_task(r->ctx, t);
	return 0;
}

static int64_t on_map(struct reader *r, struct reader_ring *ring, uint64_t pos,
		      const struct gprof_map_rec *m)
{
	if (m->rec.size <= sizeof(*m) || !memchr(m->path, 0, m->rec.size - sizeof(*m)))
		return broken(r, ring, pos, "MAP whose path does not end");
	if (m->start >= m->end)
		return broken(r, ring, pos, "MAP from %llx to %llx", (unsigned long long)m->start,
			      (unsigned long long)m->end);
	r->maps++;
	if (r->on_map)
		r->on_map(r->ctx, m);
	return 0;
}

static int64_t on_sample(struct reader *r, struct reader_ring *ring, uint64_t pos,
			 const struct gprof_sample_rec *s)
{
	struct reader_sample sample = { .cpu = ring->cpu, .rec = s, .size = s->rec.size };
	const unsigned int extras = GPROF_SAMPLE_REC_F_WEIGHT | GPROF_SAMPLE_REC_F_ADDR |
				    GPROF_SAMPLE_REC_F_VALUE | GPROF_SAMPLE_REC_F_WAIT |
				    GPROF_SAMPLE_REC_F_PARALLELISM | GPROF_SAMPLE_REC_F_OBJECT |
				    GPROF_SAMPLE_REC_F_ENDED;
	unsigned int flags = s->rec.flags, extra = __builtin_popcount(flags & extras);
	const __u64 *next = s->extra;

	if (s->rec.size < sizeof(*s))
		return broken(r, ring, pos, "SAMPLE of %u bytes", s->rec.size);
	if (flags & GPROF_SAMPLE_REC_F_STATE)
		extra += sizeof(struct gprof_task_state) / 8;
	if (flags & GPROF_SAMPLE_REC_F_OWNER)
		extra += sizeof(struct gprof_lock_owner) / 8;
	if (s->rec.size != sizeof(*s) + 8 * extra)
		return broken(r, ring, pos, "SAMPLE of %u bytes with flags %#x", s->rec.size, flags);
	if ((flags & GPROF_SAMPLE_REC_F_NMI) && (flags & GPROF_SAMPLE_REC_F_IRQ))
		return broken(r, ring, pos, "SAMPLE both of an NMI and of an interrupt");
	sample.weight = flags & GPROF_SAMPLE_REC_F_WEIGHT ? *next++ : ring->weight;
	if (flags & GPROF_SAMPLE_REC_F_ADDR)
		sample.addr = *next++;
	if (flags & GPROF_SAMPLE_REC_F_VALUE)
		sample.value = *next++;
	if (flags & GPROF_SAMPLE_REC_F_WAIT)
		sample.wait = *next++;
	if (flags & GPROF_SAMPLE_REC_F_PARALLELISM) {
		sample.parallelism = *next++;
		if (!sample.parallelism || sample.parallelism > r->dev->nr_cpus)
			return broken(r, ring, pos, "%llu tasks run on %u CPUs",
				      (unsigned long long)sample.parallelism, r->dev->nr_cpus);
	}
	if (flags & GPROF_SAMPLE_REC_F_OWNER)
		next += sizeof(struct gprof_lock_owner) / 8;
	if (flags & GPROF_SAMPLE_REC_F_STATE)
		next += sizeof(struct gprof_task_state) / 8;
	if (flags & GPROF_SAMPLE_REC_F_OBJECT)
		sample.live = *next++;
	if (flags & GPROF_SAMPLE_REC_F_ENDED)
		sample.ended = *next;
	if (s->stack) {
		if (s->stack >= ring->nr_stacks || !ring->stacks[s->stack])
			return broken(r, ring, pos, "stack id %u is not in generation %llu",
				      s->stack, (unsigned long long)ring->generation);
		sample.stack = ring->stacks[s->stack];
		r->known += s->stack != ring->last_id;
	} else {
		sample.stack = ring->next;
	}
	if (s->time < ring->mono_ns)
		return broken(r, ring, pos, "SAMPLE %llu ns before its generation",
			      (unsigned long long)(ring->mono_ns - s->time));
	r->samples++;
	r->weight += sample.weight;
	r->newest = s->time > r->newest ? s->time : r->newest;
	r->weighted += !!(flags & GPROF_SAMPLE_REC_F_WEIGHT);
	r->nmi += !!(flags & GPROF_SAMPLE_REC_F_NMI);
	r->irq += !!(flags & GPROF_SAMPLE_REC_F_IRQ);
	r->kernel += !!(flags & GPROF_SAMPLE_REC_F_KERNEL);
	r->without_task += !has_tid(ring, s->tid);
	r->backwards += s->time < ring->time;
	r->sample_bytes += s->rec.size;
	ring->time = s->time;
	if (r->on_sample)
		r->on_sample(r->ctx, &sample);
	free(ring->next);
	ring->next = NULL;
	return 0;
}

static int64_t on_fired(struct reader *r, struct reader_ring *ring, uint64_t pos,
			const struct gprof_trigger_rec *rec)
{
	if (rec->rec.size != sizeof(*rec))
		return broken(r, ring, pos, "a firing of %u bytes", rec->rec.size);
	if (rec->rec.flags & ~GPROF_TRIGGER_EVENT_F_GOES_ON)
		return broken(r, ring, pos, "a firing with flags %#x", rec->rec.flags);
	if (rec->index >= GPROF_TRIGGERS_MAX)
		return broken(r, ring, pos, "trigger %u", rec->index);
	if (rec->time < ring->mono_ns)
		return broken(r, ring, pos, "a firing before its generation");
	r->fired++;
	if (r->on_fired)
		r->on_fired(r->ctx, ring->cpu, rec);
	return 0;
}

static int64_t on_annotation(struct reader *r, struct reader_ring *ring, uint64_t pos,
			     const struct gprof_annotation_rec *rec)
{
	uint32_t text = rec->name_size + rec->text_size, i;

	if (rec->rec.size != (sizeof(*rec) + text + 7) / 8 * 8)
		return broken(r, ring, pos, "an annotation of %u bytes", rec->rec.size);
	if (!rec->rec.flags || rec->rec.flags >= __GPROF_ANNOTATE_WHATS)
		return broken(r, ring, pos, "an annotation of kind %u", rec->rec.flags);
	if (rec->name_size > GPROF_ANNOTATE_NAME_MAX || rec->text_size > GPROF_ANNOTATE_TEXT_MAX)
		return broken(r, ring, pos, "texts of %u bytes", text);
	for (i = text; i < rec->rec.size - sizeof(*rec); i++)
		if (rec->text[i])
			return broken(r, ring, pos, "something behind the text");
	if (rec->time < ring->mono_ns)
		return broken(r, ring, pos, "an annotation before its generation");
	r->events++;
	if (r->on_annotation)
		r->on_annotation(r->ctx, ring->cpu, rec);
	return 0;
}

/* One record at @p, @left bytes before the end. Returns its size or -errno. */
static int64_t record(struct reader *r, struct reader_ring *ring, uint64_t pos, const void *p,
		      uint64_t left)
{
	const struct gprof_rec *rec = p;
	uint32_t size, id = 0;
	int64_t ret = 0;

	if (left < sizeof(*rec))
		return broken(r, ring, pos, "%llu bytes at the end", (unsigned long long)left);
	size = rec->type & GPROF_REC_SHORT ? 8 : rec->size;
	if (size < 8 || size & 7 || size > left)
		return broken(r, ring, pos, "type %u, size %u, %llu left", rec->type, size,
			      (unsigned long long)left);
	if (rec->type & GPROF_REC_SHORT) {
		const uint64_t *word = p;
		unsigned int what = *word >> GPROF_TRACE_ARG_BITS & 31;

		if (!ring->begun)
			return broken(r, ring, pos, "a word before the first generation");
		r->events += what != GPROF_TRACE_RUNNING && what != GPROF_TRACE_OPERAND;
		if (r->on_word)
			r->on_word(r->ctx, ring->cpu, ring->mono_ns +
				   (*word >> GPROF_TRACE_TIME_SHIFT) * GPROF_TRACE_TIME_UNIT, *word);
		else
			r->unknown++;
		return size;
	}
	if (!ring->begun && rec->type != GPROF_REC_GENERATION)
		return broken(r, ring, pos, "type %u before the first generation", rec->type);
	if (ring->next && rec->type != GPROF_REC_SAMPLE)
		return broken(r, ring, pos, "type %u between a stack and its sample", rec->type);
	switch (rec->type) {
	case GPROF_REC_GENERATION: ret = on_generation(r, ring, pos, p); break;
	case GPROF_REC_LOST: ret = on_lost(r, ring, pos, p); break;
	case GPROF_REC_TASK: ret = on_task(r, ring, pos, p); break;
	case GPROF_REC_STACK:
		ret = on_stack(r, ring, pos, p);
		id = ((const struct gprof_stack_rec *)p)->id;
		break;
	case GPROF_REC_STACK_DELTA:
		ret = on_branch(r, ring, pos, p);
		id = ((const struct gprof_stack_delta_rec *)p)->id;
		break;
	case GPROF_REC_SAMPLE: ret = on_sample(r, ring, pos, p); break;
	case GPROF_REC_MAP: ret = on_map(r, ring, pos, p); break;
	case GPROF_REC_TRIGGER: ret = on_fired(r, ring, pos, p); break;
	case GPROF_REC_ANNOTATION: ret = on_annotation(r, ring, pos, p); break;
	default:
		r->unknown++;
	}
	ring->last_id = id;
	return ret < 0 ? ret : size;
}

/* Position p is at @data + p: the data is mapped twice, so that no record wraps. */
static int64_t records(struct reader *r, struct reader_ring *ring, const uint8_t *data,
		       uint64_t from, uint64_t to)
{
	uint64_t pos = from;
	int64_t ret;

	while (pos < to) {
		ret = record(r, ring, pos, data + pos, to - pos);
		if (ret < 0)
			return ret;
		pos += ret;
	}
	r->bytes += to - from;
	return to - from;
}

int64_t reader_read_cpu(struct reader *r, unsigned int cpu)
{
	const struct device_ring *mapped = &r->dev->rings[cpu];
	struct reader_ring *ring = &r->rings[cpu];
	uint64_t size = r->dev->data_size;
	uint64_t head, tail;
	int64_t ret;

	if (!mapped->head)
		return 0;
	tail = mapped->tail->tail;
	/* C, pairs with A of the kernel: records are complete below head */
	head = __atomic_load_n(&mapped->head->head, __ATOMIC_ACQUIRE);
	if (head < tail || head - tail > size)
		return broken(r, ring, tail, "head %llu", (unsigned long long)head);
	ret = records(r, ring, mapped->data + (tail & (size - 1)) - tail, tail, head);
	if (ret < 0)
		return ret;
	r->wraps += (head & ~(size - 1)) != (tail & ~(size - 1));
	/* D, pairs with B: they are read before their room is given back */
	__atomic_store_n(&mapped->tail->tail, head, __ATOMIC_RELEASE);
	return ret;
}

int64_t reader_read(struct reader *r)
{
	int64_t sum = 0, ret;

	for (unsigned int cpu = 0; cpu < r->dev->nr_cpus; cpu++) {
		ret = reader_read_cpu(r, cpu);
		if (ret < 0)
			return ret;
		sum += ret;
	}
	return sum;
}

static int64_t snapshot_cpu(struct reader *r, unsigned int cpu)
{
	const struct device_ring *mapped = &r->dev->rings[cpu];
	struct reader_ring *ring = &r->rings[cpu];
	uint64_t size = r->dev->data_size;
	uint64_t oldest, head, given_up;
	const uint8_t *data;
	uint8_t *copy;
	int64_t ret;

	if (!mapped->head)
		return 0;
	oldest = __atomic_load_n(&mapped->head->oldest, __ATOMIC_ACQUIRE);
	head = __atomic_load_n(&mapped->head->head, __ATOMIC_ACQUIRE);
	if (head < oldest || head - oldest > size) {
		/* given up while these two were read */
		given_up = __atomic_load_n(&mapped->head->oldest, __ATOMIC_ACQUIRE);
		return given_up == oldest ?
			broken(r, ring, oldest, "head %llu", (unsigned long long)head) : -EAGAIN;
	}
	copy = malloc(size);
	if (!copy)
		return -ENOMEM;
	data = mapped->data + (oldest & (size - 1));
	memcpy(copy, data, head - oldest);
	/* F, pairs with E of the kernel: copied before oldest is read again */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	given_up = __atomic_load_n(&mapped->head->oldest, __ATOMIC_RELAXED);
	if (given_up < oldest) {
		ret = broken(r, ring, oldest, "oldest went back");
	} else if (given_up > head) {
		ret = -EAGAIN;
	} else {
		ring->position = given_up;
		ret = records(r, ring, copy - oldest, given_up, head);
	}
	free(copy);
	return ret;
}

int64_t reader_snapshot_cpu(struct reader *r, unsigned int cpu)
{
	int64_t ret = 0;

	for (unsigned int tries = 0; tries < 100; tries++) {
		ret = snapshot_cpu(r, cpu);
		if (ret != -EAGAIN)
			break;
	}
	return ret;
}

int64_t reader_snapshot(struct reader *r)
{
	int64_t sum = 0, ret;

	reader_reset(r);
	for (unsigned int cpu = 0; cpu < r->dev->nr_cpus; cpu++) {
		ret = reader_snapshot_cpu(r, cpu);
		if (ret < 0)
			return ret;
		sum += ret;
	}
	return sum;
}

uint64_t reader_lost(const struct reader *r)
{
	uint64_t lost = 0;

	for (int i = 0; i < GPROF_LOST_SLOTS; i++)
		lost += r->lost[i];
	return lost;
}
