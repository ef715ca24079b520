// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * trace_decode: the kernel's words to points.
 */
#include "trace_decode.h"

#include <string.h>

#define ARG_MASK	((1U << GPROF_TRACE_ARG_BITS) - 1)
#define TYPE_MASK	31U
/* The meaning of a word but for task and time; the most frequent ones beside switches first. */
#define WHAT_MASK	((1U << GPROF_TRACE_TID_SHIFT) - 1)
#define WAKING_BY_TASK	(GPROF_REC_SHORT | GPROF_TRACE_WAKING << GPROF_TRACE_ARG_BITS | \
			 GPROF_TRACE_BY_TASK)
#define TID_MASK	((1U << (GPROF_TRACE_TIME_SHIFT - GPROF_TRACE_TID_SHIFT)) - 1)

/* Type of a word's point; 0: there is no such type. */
static const uint8_t point_types[TYPE_MASK + 1] = {
	[GPROF_TRACE_SWITCH] = GPROF_TRACE_POINT_SWITCH,
	[GPROF_TRACE_WAKING] = GPROF_TRACE_POINT_WAKING,
	[GPROF_TRACE_FORK] = GPROF_TRACE_POINT_FORK,
	[GPROF_TRACE_EXEC] = GPROF_TRACE_POINT_EXEC,
	[GPROF_TRACE_EXIT] = GPROF_TRACE_POINT_EXIT,
	[GPROF_TRACE_RUNNING] = GPROF_TRACE_POINT_RUNNING,
	[GPROF_TRACE_MIGRATE] = GPROF_TRACE_POINT_MIGRATE,
	[GPROF_TRACE_SYSCALL_ENTER] = GPROF_TRACE_POINT_ENTER,
	[GPROF_TRACE_SYSCALL_EXIT] = GPROF_TRACE_POINT_LEAVE,
	[GPROF_TRACE_IRQ_ENTER] = GPROF_TRACE_POINT_IRQ_ENTER,
	[GPROF_TRACE_IRQ_EXIT] = GPROF_TRACE_POINT_IRQ_LEAVE,
	[GPROF_TRACE_SOFTIRQ_ENTER] = GPROF_TRACE_POINT_SOFTIRQ_ENTER,
	[GPROF_TRACE_SOFTIRQ_EXIT] = GPROF_TRACE_POINT_SOFTIRQ_LEAVE,
	[GPROF_TRACE_FAULT] = GPROF_TRACE_POINT_FAULT,
	[GPROF_TRACE_RECLAIM_BEGIN] = GPROF_TRACE_POINT_RECLAIM_BEGIN,
	[GPROF_TRACE_RECLAIM_END] = GPROF_TRACE_POINT_RECLAIM_END,
	[GPROF_TRACE_COMPACT_BEGIN] = GPROF_TRACE_POINT_COMPACT_BEGIN,
	[GPROF_TRACE_COMPACT_END] = GPROF_TRACE_POINT_COMPACT_END,
	[GPROF_TRACE_FREQ] = GPROF_TRACE_POINT_FREQ,
	[GPROF_TRACE_THROTTLE] = GPROF_TRACE_POINT_THROTTLE,
	[GPROF_TRACE_UNTHROTTLE] = GPROF_TRACE_POINT_UNTHROTTLE,
	[GPROF_TRACE_WAIT] = GPROF_TRACE_POINT_SWITCH,
	[GPROF_TRACE_WAIT | GPROF_TRACE_WAIT_BLOCKED] = GPROF_TRACE_POINT_SWITCH,
	[GPROF_TRACE_WAIT | GPROF_TRACE_WAIT_NOT_TARGET] = GPROF_TRACE_POINT_SWITCH,
	[GPROF_TRACE_WAIT | GPROF_TRACE_WAIT_BLOCKED | GPROF_TRACE_WAIT_NOT_TARGET] =
		GPROF_TRACE_POINT_SWITCH,
};

/* Whether one that cannot be told would go on is not known: being woken says so later. */
static const uint8_t whys[] = {
	[GPROF_TRACE_PREV_PREEMPTED] = GPROF_TRACE_WHY_PREEMPTED,
	[GPROF_TRACE_PREV_YIELDED] = GPROF_TRACE_WHY_YIELDED,
	[GPROF_TRACE_PREV_SLEEPS] = GPROF_TRACE_WHY_SLEEPS,
	[GPROF_TRACE_PREV_BLOCKED] = GPROF_TRACE_WHY_WAITS,
	[GPROF_TRACE_PREV_STOPPED] = GPROF_TRACE_WHY_STOPPED,
	[GPROF_TRACE_PREV_DEAD] = GPROF_TRACE_WHY_DEAD,
	[GPROF_TRACE_PREV_IDLE] = GPROF_TRACE_WHY_PREEMPTED,
	[GPROF_TRACE_PREV_OTHER] = GPROF_TRACE_WHY_SLEEPS,
};

static inline bool is_switch(unsigned int type)
{
	return type == GPROF_TRACE_SWITCH || type / 4 == GPROF_TRACE_WAIT / 4;
}

/* Both words of a switch; @p->arg is 0. Returns whether the next task is outside the target. */
static inline bool decode_switch(struct gprof_trace_point *p, unsigned int type, unsigned int arg)
{
	if (type == GPROF_TRACE_SWITCH) {
		p->why = whys[arg & ~GPROF_TRACE_NOT_TARGET];
		return arg & GPROF_TRACE_NOT_TARGET;
	}
	_Static_assert(GPROF_TRACE_WHY_WAITS == GPROF_TRACE_WHY_SLEEPS + GPROF_TRACE_WAIT_BLOCKED,
		       "the next number");
	p->why = GPROF_TRACE_WHY_SLEEPS + (type & GPROF_TRACE_WAIT_BLOCKED);
	p->arg = arg + 1;
	return type & GPROF_TRACE_WAIT_NOT_TARGET;
}

static int flush_deferred(struct gprof_ktrace *k)
{
	bool ran = k->ran;
	int err;

	if (!k->held)
		return 0;
	k->held = k->ran = false;
	err = k->ops->point(k->ctx, &k->event);
	return err || !ran ? err : k->ops->point(k->ctx, &k->running_now);
}

static int on_stack(void *ctx, const struct gprof_stack_rec *rec, uint32_t *handle)
{
	struct gprof_ktrace *k = ctx;

	return k->ops->stack(k->ctx, rec, handle);
}

static int on_map(void *ctx, const struct gprof_map_rec *rec, const char *path)
{
	struct gprof_ktrace *k = ctx;

	return k->ops->map(k->ctx, rec, path);
}

/* Names are taken by the records that words come with, whether a sample has one or not. */
static int on_task(void *ctx, const struct gprof_task_rec *rec, uint32_t *handle)
{
	(void)ctx;
	(void)rec;
	*handle = 0;
	return 0;
}

/*
 * A stack belongs to the event before it, whose time it has, in the units of that. A loss between
 * them would give it to another.
 */
static int event_stack(struct gprof_ktrace *k, const struct gprof_decoded *s)
{
	struct gprof_trace_point *p = &k->event;

	if (!k->held || s->stack == GPROF_NONE || s->time < p->time ||
	    s->time - p->time >= GPROF_TRACE_TIME_UNIT) {
		k->orphans++;
		return 0;
	}
	p->stack = s->stack + 1ULL;
	k->with_stack++;
	return flush_deferred(k);
}

/* A CPU sample: of an NMI, it may be older or newer than the words around it. */
static int on_sample(void *ctx, const struct gprof_decoded *s, uint32_t *handle)
{
	struct gprof_ktrace *k = ctx;
	struct gprof_trace_point p = {
		.time = s->time, .cpu = k->cpu, .type = GPROF_TRACE_POINT_SAMPLE,
		.tid = s->tid, .arg = s->weight,
	};

	*handle = GPROF_NONE;
	k->samples++;
	if (s->flags & GPROF_SAMPLE_REC_F_EVENT)
		return event_stack(k, s);
	if (s->stack != GPROF_NONE)
		p.stack = s->stack + 1ULL;
	else
		k->orphans++;
	return k->ops->point(k->ctx, &p);
}

static const struct gprof_decode_ops decode_ops = {
	.stack = on_stack,
	.task = on_task,
	.sample = on_sample,
	.map = on_map,
};

void gprof_ktrace_init(struct gprof_ktrace *k, const struct gprof_ktrace_ops *ops, void *ctx)
{
	memset(k, 0, sizeof(*k));
	k->ops = ops;
	k->ctx = ctx;
	k->running = GPROF_TRACE_NO_TID;
	gprof_decoder_init(&k->decoder, &decode_ops, k);
}

void gprof_ktrace_free(struct gprof_ktrace *k)
{
	gprof_decoder_free(&k->decoder);
}

int gprof_ktrace_flush(struct gprof_ktrace *k, uint64_t time)
{
	return k->event.time < time ? flush_deferred(k) : 0;
}

static int malformed(struct gprof_ktrace *k)
{
	k->malformed++;
	return 0;
}

static bool has_operand(unsigned int type)
{
	return type == GPROF_TRACE_EXEC || type == GPROF_TRACE_MIGRATE ||
	       type == GPROF_TRACE_FAULT || type == GPROF_TRACE_FREQ;
}

static bool is_known(uint32_t tid)
{
	return tid < GPROF_TRACE_TIDS;
}

/* A CPU that was away has let go of the task that it had. */
static int absent(struct gprof_ktrace *k, uint64_t time)
{
	struct gprof_trace_point p = {
		.time = time, .cpu = k->cpu, .type = GPROF_TRACE_POINT_CPU_OFF,
		.tid = GPROF_TRACE_NO_TID,
	};
	int err = k->ops->point(k->ctx, &p);

	k->absences++;
	p.type = GPROF_TRACE_POINT_CPU_ON;
	return err ? err : k->ops->point(k->ctx, &p);
}

static int hand_out(struct gprof_ktrace *k)
{
	k->waits = 0;
	k->samples++;
	if (!k->stacks)
		return k->ops->point(k->ctx, &k->point);
	k->event = k->point;
	k->held = true;
	return 0;
}

static int operand(struct gprof_ktrace *k, uint64_t word)
{
	struct gprof_trace_point *p = &k->point;

	word >>= GPROF_TRACE_OPERAND_SHIFT;
	switch (k->waits) {
	case GPROF_TRACE_EXEC:
		/* A thread that executes has its leader's number afterwards. */
		k->running = p->other;
		p->tid = word & TID_MASK;
		break;
	case GPROF_TRACE_MIGRATE:
		p->arg = GPROF_TRACE_CPU_TO(word);
		break;
	case GPROF_TRACE_FAULT:
	case GPROF_TRACE_FREQ:
		p->arg = word;
		break;
	default:
		return malformed(k);
	}
	return hand_out(k);
}

/* The task that has the CPU from now on. */
static int next(struct gprof_ktrace *k, unsigned int type, unsigned int arg)
{
	struct gprof_trace_point *p = &k->point;
	bool outside = type == GPROF_TRACE_RUNNING ? arg & GPROF_TRACE_NOT_TARGET :
						     decode_switch(p, type, arg);
	uint32_t who = outside ? GPROF_KTRACE_STRANGER : p->other;
	bool known = is_known(k->running) && is_known(who);
	int err;

	p->other = is_known(who) ? who : 0;
	if (type != GPROF_TRACE_RUNNING) {
		k->running = who;
		return hand_out(k);
	}
	if (k->held && !k->ran && !(known && k->running != who)) {
		k->running_now = *p;
		k->ran = true;
		k->running = who;
		return 0;
	}
	err = flush_deferred(k);
	if (!err && known && k->running != who)
		err = absent(k, p->time);
	k->running = who;
	return err ? err : k->ops->point(k->ctx, p);
}

/* The meaning of a word besides time and task. */
static inline void decode_word(struct gprof_trace_point *p, unsigned int type, unsigned int arg,
			       uint32_t number)
{
	switch (type) {
	case GPROF_TRACE_WAKING:
		if (arg != GPROF_TRACE_BY_TASK)
			p->tid = GPROF_TRACE_NO_TID;
		break;
	case GPROF_TRACE_SYSCALL_ENTER:
		p->other = 0;
		p->arg = number | (arg ? GPROF_TRACE_CALL_32 : 0);
		break;
	case GPROF_TRACE_SYSCALL_EXIT:
		p->arg = GPROF_TRACE_NO_CALL;
		break;
	case GPROF_TRACE_IRQ_ENTER:
	case GPROF_TRACE_IRQ_EXIT:
		p->other = 0;
		p->arg = number | (arg ? GPROF_TRACE_IRQ_VECTOR : 0);
		break;
	case GPROF_TRACE_SOFTIRQ_ENTER:
	case GPROF_TRACE_SOFTIRQ_EXIT:
		p->other = 0;
		p->arg = number;
		break;
	case GPROF_TRACE_FAULT:
		/* The same bits. */
		p->other = arg;
		break;
	case GPROF_TRACE_RECLAIM_BEGIN:
	case GPROF_TRACE_RECLAIM_END:
		p->arg = arg;
		break;
	}
}

static int event(struct gprof_ktrace *k, unsigned int type, unsigned int arg, uint32_t number)
{
	if (is_switch(type) || type == GPROF_TRACE_RUNNING)
		return next(k, type, arg);
	decode_word(&k->point, type, arg, number);
	if (!has_operand(type))
		return hand_out(k);
	k->waits = (uint8_t)type;
	return 0;
}

static inline uint64_t time_of(uint64_t mono_ns, uint64_t word)
{
	return mono_ns + (word >> GPROF_TRACE_TIME_SHIFT) * GPROF_TRACE_TIME_UNIT;
}

/* A word's type, and above it whether it is a short record. */
static inline unsigned int short_type(uint64_t word)
{
	_Static_assert(GPROF_REC_SHORT >> GPROF_TRACE_ARG_BITS == TYPE_MASK + 1, "the next bit");
	return word >> GPROF_TRACE_ARG_BITS & (2 * TYPE_MASK + 1);
}

/* Short records that are an event each, and change nothing but the time and the running task. */
static inline bool is_plain(unsigned int short_type)
{
	const uint64_t plain = 1U << GPROF_TRACE_SWITCH | 1U << GPROF_TRACE_WAKING |
			       15U << GPROF_TRACE_WAIT |
			       1U << GPROF_TRACE_SYSCALL_ENTER | 1U << GPROF_TRACE_SYSCALL_EXIT |
			       1U << GPROF_TRACE_IRQ_ENTER | 1U << GPROF_TRACE_IRQ_EXIT |
			       1U << GPROF_TRACE_SOFTIRQ_ENTER | 1U << GPROF_TRACE_SOFTIRQ_EXIT;

	return plain << (TYPE_MASK + 1) >> short_type & 1;
}

size_t gprof_ktrace_plain(struct gprof_ktrace *k, const void *words, size_t nr,
			  struct gprof_trace_point *points)
{
	const unsigned char *from = words;
	uint32_t running = k->running, tid = running == GPROF_KTRACE_STRANGER ? 0 : running;
	/* For a compiler the points may overlap any other memory. */
	uint32_t cpu = k->cpu;
	uint64_t mono_ns = k->mono_ns, time = k->time, word;
	size_t i;

	if (!k->started || k->stacks || k->held || k->waits || k->unreported)
		return 0;
	for (i = 0; i < nr; i++) {
		struct gprof_trace_point *p = &points[i];
		unsigned int type, arg;
		uint64_t then;

		memcpy(&word, from + i * sizeof(word), sizeof(word));
		type = short_type(word);
		if (!is_plain(type))
			break;
		then = time_of(mono_ns, word);
		if (then < time)
			break;
		type -= TYPE_MASK + 1;
		arg = word & ARG_MASK;
		time = then;
		/* One by one: compilers would make it all 0 first. */
		p->time = time;
		p->cpu = cpu;
		p->type = point_types[type];
		p->tid = tid;
		p->other = word >> GPROF_TRACE_TID_SHIFT & TID_MASK;
		p->stack = 0;
		p->arg = 0;
		if (is_switch(type)) {
			running = decode_switch(p, type, arg) ? GPROF_KTRACE_STRANGER : p->other;
			tid = p->other = is_known(running) ? running : 0;
			continue;
		}
		p->why = 0;
		if ((word & WHAT_MASK) != WAKING_BY_TASK)
			decode_word(p, type, arg, p->other);
	}
	if (!i)
		return 0;
	k->decoder.next = GPROF_NONE;
	k->running = running;
	k->samples += i;
	k->time = time;
	return i;
}

int gprof_ktrace_emit_lost(struct gprof_ktrace *k, uint64_t time)
{
	struct gprof_trace_point p = {
		.time = time,
		.cpu = k->cpu,
		.type = GPROF_TRACE_POINT_LOST,
		.tid = GPROF_TRACE_NO_TID,
		.arg = k->unreported,
	};

	if (!k->unreported)
		return 0;
	k->unreported = 0;
	return k->ops->point(k->ctx, &p);
}

static int short_record(struct gprof_ktrace *k, uint64_t word)
{
	struct gprof_trace_point *p = &k->point;
	unsigned int type = word >> GPROF_TRACE_ARG_BITS & TYPE_MASK;
	uint32_t number = word >> GPROF_TRACE_TID_SHIFT & TID_MASK;
	int err;

	k->decoder.next = GPROF_NONE;
	if (type == GPROF_TRACE_OPERAND)
		return operand(k, word);
	err = type == GPROF_TRACE_RUNNING ? 0 : flush_deferred(k);
	if (err)
		return err;
	if (k->waits) {
		k->waits = 0;
		k->malformed++;
	}
	if (!k->started || !type)
		return malformed(k);
	if (!point_types[type]) {
		k->unknown++;
		return 0;
	}
	*p = (struct gprof_trace_point){
		.time = time_of(k->mono_ns, word),
		.cpu = k->cpu,
		.type = point_types[type],
		.tid = k->running == GPROF_KTRACE_STRANGER ? 0 : k->running,
		.other = number,
	};
	/* The kernel's never go back. */
	if (p->time < k->time) {
		p->time = k->time;
		k->malformed++;
	}
	k->time = p->time;
	err = gprof_ktrace_emit_lost(k, k->time);
	return err ? err : event(k, type, word & ARG_MASK, number);
}

/* Records that the decoder of other recordings has too; it counts invalid ones. */
static int decode(struct gprof_ktrace *k, const struct gprof_rec *rec, uint32_t size)
{
	uint64_t before = k->decoder.counts.malformed;
	int err = gprof_decoder_feed(&k->decoder, rec, size);

	k->malformed += k->decoder.counts.malformed - before;
	return err;
}

static int generation(struct gprof_ktrace *k, const struct gprof_rec *rec, uint32_t size)
{
	const struct gprof_generation_rec *g = (const void *)rec;

	if (k->waits) {
		k->waits = 0;
		k->malformed++;
	}
	if (size < sizeof(*g))
		return malformed(k);
	k->started = true;
	k->cpu = g->cpu;
	k->mono_ns = g->mono_ns;
	if (k->time < g->mono_ns)
		k->time = g->mono_ns;
	return decode(k, rec, size);
}

/* Up to when is known by the next event. */
int gprof_ktrace_lose(struct gprof_ktrace *k, uint64_t nr)
{
	k->lost += nr;
	if (!nr)
		return 0;
	k->unreported += nr;
	k->running = GPROF_TRACE_NO_TID;
	return flush_deferred(k);
}

static int lost(struct gprof_ktrace *k, const struct gprof_rec *rec, uint32_t size)
{
	const struct gprof_lost_rec *l = (const void *)rec;
	size_t i, nr = (size - sizeof(*l)) / sizeof(l->lost[0]);
	uint64_t sum = 0;

	for (i = 0; i < nr; i++)
		sum += l->lost[i];
	return gprof_ktrace_lose(k, sum);
}

/* No event of its own: it follows that which it is for. */
static int fired(struct gprof_ktrace *k, const struct gprof_rec *rec, uint32_t size)
{
	const struct gprof_trigger_rec *f = (const void *)rec;
	struct gprof_trace_point p = {
		.cpu = k->cpu, .type = GPROF_TRACE_POINT_FIRED,
		.tid = k->running == GPROF_KTRACE_STRANGER ? 0 : k->running,
	};
	int err = flush_deferred(k);

	if (err)
		return err;
	if (size < sizeof(*f) || !k->started || f->index >= GPROF_TRACE_TRIGGERS ||
	    f->tid >= GPROF_TRACE_TIDS)
		return malformed(k);
	k->fired++;
	/* In the units of the words around it. */
	p.time = f->time - (f->time - k->mono_ns) % GPROF_TRACE_TIME_UNIT;
	if (p.time < k->time)
		p.time = k->time;
	k->time = p.time;
	err = gprof_ktrace_emit_lost(k, k->time);
	if (err)
		return err;
	p.why = (uint16_t)f->index;
	p.other = f->tid;
	p.arg = f->duration_ns & ~GPROF_TRACE_GOES_ON;
	if (f->rec.flags & GPROF_TRIGGER_EVENT_F_GOES_ON)
		p.arg |= GPROF_TRACE_GOES_ON;
	return k->ops->point(k->ctx, &p);
}

static bool is_note(const struct gprof_annotation_rec *a, uint32_t size)
{
	return size >= sizeof(*a) && a->rec.flags && a->rec.flags < __GPROF_ANNOTATE_WHATS &&
	       a->name_size <= GPROF_ANNOTATE_NAME_MAX && a->text_size <= GPROF_ANNOTATE_TEXT_MAX &&
	       size - sizeof(*a) >= (size_t)a->name_size + a->text_size &&
	       a->tid && a->tid < GPROF_TRACE_TIDS;
}

static int annotation(struct gprof_ktrace *k, const struct gprof_rec *rec, uint32_t size)
{
	const struct gprof_annotation_rec *a = (const void *)rec;
	struct gprof_trace_point p = { .cpu = k->cpu, .type = GPROF_TRACE_POINT_ANNOTATION };
	int err = flush_deferred(k);

	if (err)
		return err;
	if (!k->started || !is_note(a, size))
		return malformed(k);
	k->samples++;
	/* In the units of the words around it. */
	p.time = a->time - (a->time - k->mono_ns) % GPROF_TRACE_TIME_UNIT;
	if (p.time < k->time)
		p.time = k->time;
	k->time = p.time;
	p.tid = a->tid;
	err = gprof_ktrace_emit_lost(k, k->time);
	if (!err)
		err = k->ops->note(k->ctx, a, &p.arg);
	return err ? err : k->ops->point(k->ctx, &p);
}

static int task(struct gprof_ktrace *k, const struct gprof_rec *rec, uint32_t size)
{
	const struct gprof_task_rec *t = (const void *)rec;

	if (size < sizeof(*t) || !k->started || !memchr(t->comm, '\0', sizeof(t->comm)))
		return malformed(k);
	return k->ops->task(k->ctx, k->cpu, k->time, t);
}

int gprof_ktrace_feed(struct gprof_ktrace *k, const struct gprof_rec *rec, uint32_t size)
{
	uint64_t word;

	if (rec->type & GPROF_REC_SHORT) {
		memcpy(&word, rec, sizeof(word));
		return short_record(k, word);
	}
	switch (rec->type) {
	case GPROF_REC_GENERATION:
		return generation(k, rec, size);
	case GPROF_REC_LOST:
		return lost(k, rec, size);
	case GPROF_REC_TASK:
		return task(k, rec, size);
	case GPROF_REC_TRIGGER:
		return fired(k, rec, size);
	case GPROF_REC_ANNOTATION:
		return annotation(k, rec, size);
	case GPROF_REC_STACK:
	case GPROF_REC_STACK_DELTA:
	case GPROF_REC_SAMPLE:
	case GPROF_REC_MAP:
		return decode(k, rec, size);
	default:
		k->unknown++;
		return 0;
	}
}
