// SPDX-License-Identifier: GPL-2.0-only
/*
 * ring: KUnit cases of a per-CPU buffer: its memory, its ring and its dictionary in a kernel,
 * where a task produces, interrupts of a timer produce in the midst of it, and another task
 * reads.
 *
 * In user space (selftests/unit/ring_*) the same code meets signals at every step instead;
 * here it meets its real surroundings: interrupts, the kernel's local_t and barriers, vmap(),
 * and the checks that this kernel was built with.
 */
#include "suites.h"

#include "../ring/buffer.c"
#include "../ring/buffer_pages.c"
#include "../ring/dictionary.c"
#include "../user/event_queue.h"
#include "../compat/hrtimer.h"

#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/hash.h>
#include <linux/preempt.h>
#include <linux/workqueue.h>

/* The rings here are nobody's. */
void gprof_event_raise(struct gprof_event_queue *q, enum gprof_event_type type)
{
}

#define STACKS		64	/* distinct ones */
#define PERIOD_NS	30000	/* of the interrupts */

/**
 * struct cpu - a producer
 * @ch: into this
 * @timer: whose interrupts produce too
 * @work: of the task that produces
 * @done: it has ended
 * @samples: how many it produces, interrupts' not counted
 * @numbers: of samples, of both
 * @nested: of interrupts that came between begin and end of the task's
 */
struct cpu {
	struct gprof_percpu_buffer *ch;
	struct hrtimer timer;
	struct work_struct work;
	struct completion done;
	unsigned int samples;
	local64_t numbers;
	u64 nested;
};

/**
 * struct reader - counts of the records that were read
 * @samples: whole ones
 * @told: losses that LOST records tell
 * @generation: number of the last
 * @stack_of: by id, 1 + the stack that has it in this generation
 * @last: 1 + the last stack without an id
 * @error: the first thing wrong, or NULL
 */
struct reader {
	u64 samples;
	u64 told;
	u64 generation;
	u32 *stack_of;
	u32 last;
	const char *error;
};

/* Frames tell whose they are; any two stacks differ. */
static u32 fill(u64 *frames, u32 stack)
{
	u32 words = 3 + stack % 5, i;

	for (i = 0; i < words; i++)
		frames[i] = (u64)(stack + 1) << 32 | i;
	return words;
}

static void write_sample(struct gprof_percpu_buffer *ch, u16 generation, u64 number)
{
	u32 stack = hash_64(number, 6), words, size;
	struct gprof_sample_rec *sample;
	struct gprof_stack_rec *told;
	struct gprof_lookup l;
	u64 frames[8];
	void *place;

	words = fill(frames, stack);
	gprof_dictionary_lookup(&ch->dictionary, generation, frames, words, &l);
	size = sizeof(*sample) + (l.known ? 0 : sizeof(*told) + words * sizeof(u64));
	place = gprof_buffer_reserve(&ch->buffer, size, 1);
	if (!place)
		return;
	if (!l.known) {
		told = place;
		memset(told, 0, sizeof(*told));
		told->rec.type = GPROF_REC_STACK;
		told->rec.size = sizeof(*told) + words * sizeof(u64);
		told->id = l.id;
		told->nr_user = words;
		memcpy(told->frames, frames, words * sizeof(u64));
		place += told->rec.size;
	}
	sample = place;
	sample->rec.type = GPROF_REC_SAMPLE;
	sample->rec.flags = 0;
	sample->rec.size = sizeof(*sample);
	sample->time = number;
	sample->tid = stack;
	sample->stack = l.id;
	if (!l.known && l.id)
		gprof_dictionary_commit(&ch->dictionary, &l);
}

static void produce(struct cpu *c)
{
	struct gprof_percpu_buffer *ch = c->ch;
	struct gprof_buffer *b = &ch->buffer;
	u64 number = local64_inc_return(&c->numbers);
	u16 generation;

	local64_inc(&b->produced);
	generation = gprof_buffer_begin(b, ktime_get_mono_fast_ns());
	if (generation != READ_ONCE(ch->generation)) {
		WRITE_ONCE(ch->generation, generation);
		gprof_dictionary_scrub(&ch->dictionary, generation);
	}
	write_sample(ch, generation, number);
	gprof_buffer_end(b);
}

static enum hrtimer_restart interrupt(struct hrtimer *timer)
{
	struct cpu *c = container_of(timer, struct cpu, timer);

	c->nested += READ_ONCE(c->ch->buffer.nest) > 0;
	produce(c);
	hrtimer_forward_now(timer, ns_to_ktime(PERIOD_NS));
	return HRTIMER_RESTART;
}

/* On one CPU, to which its timer is pinned. */
static void run(struct work_struct *work)
{
	struct cpu *c = container_of(work, struct cpu, work);
	unsigned int i;

	hrtimer_setup(&c->timer, interrupt, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	hrtimer_start(&c->timer, ns_to_ktime(PERIOD_NS), HRTIMER_MODE_REL_PINNED_HARD);
	for (i = 0; i < c->samples; i++) {
		preempt_disable();
		produce(c);
		preempt_enable();
		if (!(i % 256))
			cond_resched();
	}
	hrtimer_cancel(&c->timer);
	complete(&c->done);
}

static void read_stack(struct reader *r, const struct gprof_stack_rec *s, u32 ids)
{
	u32 stack = (s->frames[0] >> 32) - 1;
	u64 frames[8];

	if (stack >= STACKS || s->nr_user != fill(frames, stack) ||
	    memcmp(s->frames, frames, s->nr_user * sizeof(u64)))
		r->error = "a stack is torn";
	else if (s->id >= ids)
		r->error = "an id is out of range";
	else if (!s->id)
		r->last = 1 + stack;
	else if (r->stack_of[s->id])
		r->error = "an id is defined twice in a generation";
	else
		r->stack_of[s->id] = 1 + stack;
}

static void read_sample(struct reader *r, const struct gprof_sample_rec *s, u32 ids)
{
	r->samples++;
	if (s->rec.flags || s->rec.size != sizeof(*s) || s->stack >= ids ||
	    s->tid != hash_64(s->time, 6))
		r->error = "a sample is torn";
	else if (s->tid + 1 != (s->stack ? r->stack_of[s->stack] : r->last))
		r->error = "a sample has the stack of another";
}

static void read_lost(struct reader *r, const struct gprof_lost_rec *l)
{
	unsigned int i;

	for (i = 0; i < GPROF_LOST_NR; i++)
		r->told += l->lost[i];
}

/* Returns how far all is well. */
static u64 read_records(struct reader *r, const struct gprof_percpu_buffer *ch, u64 pos, u64 head)
{
	const struct gprof_generation_rec *g;
	const struct gprof_rec *rec;

	while (pos < head && !r->error) {
		rec = ch->buffer.data + (pos & (ch->buffer.size - 1));
		if (rec->size < sizeof(*rec) || rec->size > head - pos || rec->size % 8) {
			r->error = "a size is torn";
			break;
		}
		switch (rec->type) {
		case GPROF_REC_GENERATION:
			g = (const void *)rec;
			if (r->generation && g->generation != r->generation + 1)
				r->error = "a generation is missing";
			r->generation = g->generation;
			memset(r->stack_of, 0, ch->dictionary.nr_words * sizeof(*r->stack_of));
			break;
		case GPROF_REC_STACK:
			read_stack(r, (const void *)rec, ch->dictionary.nr_words);
			break;
		case GPROF_REC_SAMPLE:
			read_sample(r, (const void *)rec, ch->dictionary.nr_words);
			break;
		case GPROF_REC_LOST:
			read_lost(r, (const void *)rec);
			break;
		default:
			r->error = "a record of a type that nobody wrote";
		}
		pos += rec->size;
	}
	return pos;
}

static u64 lost(const struct gprof_percpu_buffer *ch)
{
	u64 sum = 0;
	unsigned int i;

	for (i = 0; i < GPROF_LOST_NR; i++)
		sum += local64_read(&ch->buffer.lost[i]);
	return sum;
}

static u64 unreported(const struct gprof_percpu_buffer *ch)
{
	u64 sum = 0;
	unsigned int i;

	for (i = 0; i < GPROF_LOST_NR; i++)
		sum += local64_read(&ch->buffer.unreported[i]);
	return sum;
}

/* One that has no reader to wake; NULL: the case has failed. */
static struct gprof_percpu_buffer *percpu_buffer(struct kunit *test, u64 size, bool flight)
{
	struct gprof_percpu_buffer *ch = gprof_percpu_buffer_new(raw_smp_processor_id(), size);

	KUNIT_EXPECT_NOT_ERR_OR_NULL(test, ch);
	if (!ch)
		return NULL;
	ch->buffer.flight = flight;
	ch->buffer.generation_ns = 5 * NSEC_PER_MSEC;
	ch->buffer.weight = 1;
	gprof_buffer_init(&ch->buffer);
	return ch;
}

static void start(struct cpu *c, struct gprof_percpu_buffer *ch, unsigned int samples)
{
	memset(c, 0, sizeof(*c));
	c->ch = ch;
	c->samples = samples;
	init_completion(&c->done);
	INIT_WORK_ONSTACK(&c->work, run);
	queue_work_on(ch->buffer.cpu, system_highpri_wq, &c->work);
}

static void finish(struct cpu *c)
{
	wait_for_completion(&c->done);
	flush_work(&c->work);
	destroy_work_on_stack(&c->work);
}

static bool reader_begins(struct kunit *test, struct reader *r,
			  const struct gprof_percpu_buffer *ch)
{
	memset(r, 0, sizeof(*r));
	r->stack_of = kvcalloc(ch->dictionary.nr_words, sizeof(*r->stack_of), GFP_KERNEL);
	KUNIT_EXPECT_NOT_ERR_OR_NULL(test, r->stack_of);
	return r->stack_of;
}

/* Produced is read, lost or overwritten; all that is known of losses is told, or owed. */
static void balances(struct kunit *test, const struct cpu *c, const struct reader *r)
{
	const struct gprof_buffer *b = &c->ch->buffer;
	u64 produced = local64_read(&b->produced);

	KUNIT_EXPECT_STREQ(test, r->error ?: "", "");
	KUNIT_EXPECT_EQ(test, produced, (u64)local64_read(&c->numbers));
	KUNIT_EXPECT_EQ(test, produced,
			r->samples + lost(c->ch) + local64_read(&b->overwritten));
	KUNIT_EXPECT_EQ(test, b->head->produced, produced);
	KUNIT_EXPECT_EQ(test, b->head->overwritten, (u64)local64_read(&b->overwritten));
	KUNIT_EXPECT_EQ(test, READ_ONCE(b->nest), 0U);
}

/* @rest: milliseconds after each reading. Returns whether there was memory for it. */
static bool stream(struct kunit *test, struct cpu *c, struct reader *r, u64 size,
		   unsigned int samples, unsigned int rest)
{
	struct gprof_percpu_buffer *ch = percpu_buffer(test, size, false);
	u64 pos = 0;
	bool done;

	if (!ch || !reader_begins(test, r, ch)) {
		gprof_percpu_buffer_free(ch);
		return false;
	}
	start(c, ch, samples);
	do {
		done = completion_done(&c->done);
		/* C, pairs with A */
		pos = read_records(r, ch, pos, smp_load_acquire(&ch->buffer.head->head));
		/* D, pairs with B */
		smp_store_release(&ch->buffer.tail->tail, pos);
		if (rest && !done)
			msleep(rest);
		else
			cond_resched();
	} while (!done && !r->error);
	finish(c);
	/* C, pairs with A */
	read_records(r, ch, pos, smp_load_acquire(&ch->buffer.head->head));
	kvfree(r->stack_of);
	return true;
}

static void interrupts_and_tasks_leave_whole_records(struct kunit *test)
{
	struct reader r;
	struct cpu c;

	if (!stream(test, &c, &r, 4 << 20, 50000, 0))
		return;
	balances(test, &c, &r);
	KUNIT_EXPECT_GT(test, r.samples, 0ULL);
	kunit_info(test, "%llu samples of %llu, %llu interrupts in the midst of another", r.samples,
		   (u64)local64_read(&c.numbers), c.nested);
	KUNIT_EXPECT_GT(test, (u64)local64_read(&c.numbers), (u64)c.samples);
	KUNIT_EXPECT_GT(test, c.nested, 0ULL);
	gprof_percpu_buffer_free(c.ch);
}

static void a_full_ring_tells_what_it_lost(struct kunit *test)
{
	struct reader r;
	struct cpu c;

	if (!stream(test, &c, &r, GPROF_BUFFER_MIN, 50000, 3))
		return;
	balances(test, &c, &r);
	KUNIT_EXPECT_GT(test, lost(c.ch), 0ULL);
	KUNIT_EXPECT_GT(test, r.told, 0ULL);
	KUNIT_EXPECT_EQ(test, lost(c.ch), r.told + unreported(c.ch));
	gprof_percpu_buffer_free(c.ch);
}

static void a_flight_ring_holds_the_newest(struct kunit *test)
{
	struct gprof_percpu_buffer *ch = percpu_buffer(test, 256 << 10, true);
	struct reader r;
	struct cpu c;

	if (!ch || !reader_begins(test, &r, ch)) {
		gprof_percpu_buffer_free(ch);
		return;
	}
	start(&c, ch, 50000);
	finish(&c);
	read_records(&r, ch, ch->buffer.head->oldest, ch->buffer.head->head);
	balances(test, &c, &r);
	/* only of a producer that interrupts another just where it cuts */
	KUNIT_EXPECT_EQ(test, lost(ch), (u64)local64_read(&ch->buffer.lost[GPROF_LOST_NESTED]));
	KUNIT_EXPECT_GT(test, local64_read(&ch->buffer.overwritten), 0LL);
	/* a generation is cut at an eighth of the ring, and only whole ones are given up */
	KUNIT_EXPECT_GT(test, ch->buffer.head->head - ch->buffer.head->oldest,
			ch->buffer.size / 2);
	kvfree(r.stack_of);
	gprof_percpu_buffer_free(ch);
}

static void an_impossible_tail_is_a_loss(struct kunit *test)
{
	static const u64 tails[] = { 8, 1ULL << 40, ~0ULL, 3, -(u64)GPROF_BUFFER_MIN - 8 };
	struct gprof_percpu_buffer *ch = percpu_buffer(test, GPROF_BUFFER_MIN, false);
	struct cpu c = { .ch = ch };
	unsigned int i;

	if (!ch)
		return;
	preempt_disable();
	for (i = 0; i < ARRAY_SIZE(tails); i++) {
		WRITE_ONCE(ch->buffer.tail->tail, tails[i]);
		produce(&c);
	}
	preempt_enable();
	KUNIT_EXPECT_EQ(test, ch->buffer.head->head, 0ULL);
	KUNIT_EXPECT_EQ(test, lost(ch), (u64)ARRAY_SIZE(tails));
	gprof_percpu_buffer_free(ch);
}

static void data_stand_twice_in_a_row(struct kunit *test)
{
	struct gprof_percpu_buffer *ch = percpu_buffer(test, GPROF_BUFFER_MIN, false);
	u64 *data;
	u64 words = GPROF_BUFFER_MIN / sizeof(*data), i;

	if (!ch)
		return;
	data = ch->buffer.data;
	for (i = 0; i < words; i++)
		data[i] = ~i;
	for (i = 0; i < words; i++) {
		if (data[words + i] != ~i)
			break;
	}
	KUNIT_EXPECT_EQ(test, i, words);
	/* one that begins before the end goes on at the beginning */
	memset(data + words - 1, 0, 2 * sizeof(*data));
	KUNIT_EXPECT_EQ(test, data[0], 0ULL);
	KUNIT_EXPECT_EQ(test, data[1], ~1ULL);
	gprof_percpu_buffer_free(ch);
}

static u32 add(struct gprof_dictionary *d, u16 generation, const u64 *key, u32 words)
{
	struct gprof_lookup l;

	gprof_dictionary_lookup(d, generation, key, words, &l);
	if (!l.known && l.id)
		gprof_dictionary_commit(d, &l);
	return l.id;
}

static void keys_have_ids_until_the_generation_ends(struct kunit *test)
{
	struct gprof_percpu_buffer *ch = percpu_buffer(test, GPROF_BUFFER_MIN, false);
	u64 key[] = { 1, 2, 3, 4 };
	struct gprof_dictionary *d;
	u32 id, other, i;

	if (!ch)
		return;
	d = &ch->dictionary;
	id = add(d, 1, key, 4);
	KUNIT_EXPECT_NE(test, id, 0U);
	KUNIT_EXPECT_EQ(test, add(d, 1, key, 4), id);
	KUNIT_EXPECT_EQ(test, gprof_dictionary_find(d, 1, key, 4), id);
	for (i = 0; i < 4; i++) {
		key[i] ^= 1ULL << 63;
		other = add(d, 1, key, 4);
		KUNIT_EXPECT_NE(test, other, id);
		key[i] ^= 1ULL << 63;
	}
	KUNIT_EXPECT_NE(test, add(d, 1, key, 3), id);
	KUNIT_EXPECT_EQ(test, gprof_dictionary_find(d, 2, key, 4), 0U);
	gprof_percpu_buffer_free(ch);
}

static void a_full_dictionary_gives_no_id(struct kunit *test)
{
	struct gprof_percpu_buffer *ch = percpu_buffer(test, GPROF_BUFFER_MIN, false);
	u64 key[3] = { 0, 2, 3 };
	u32 given = 0, none = 0;

	if (!ch)
		return;
	for (key[0] = 0; key[0] < 2 * ch->dictionary.nr_words; key[0]++) {
		if (add(&ch->dictionary, 1, key, 3))
			given++;
		else
			none++;
	}
	KUNIT_EXPECT_GT(test, given, 0U);
	KUNIT_EXPECT_LE(test, given, (ch->dictionary.nr_words - 1) / 4);
	KUNIT_EXPECT_GT(test, none, 0U);
	/* the next generation has all of it again */
	KUNIT_EXPECT_EQ(test, add(&ch->dictionary, 2, key, 3), 1U);
	gprof_percpu_buffer_free(ch);
}

static struct kunit_case ring_cases[] = {
	KUNIT_CASE(interrupts_and_tasks_leave_whole_records),
	KUNIT_CASE(a_full_ring_tells_what_it_lost),
	KUNIT_CASE(a_flight_ring_holds_the_newest),
	KUNIT_CASE(an_impossible_tail_is_a_loss),
	KUNIT_CASE(data_stand_twice_in_a_row),
	KUNIT_CASE(keys_have_ids_until_the_generation_ends),
	KUNIT_CASE(a_full_dictionary_gives_no_id),
	{}
};

struct kunit_suite gprof_ring_suite = {
	.name = "gprof_ring",
	.test_cases = ring_cases,
};
