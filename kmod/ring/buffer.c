// SPDX-License-Identifier: GPL-2.0-only
/*
 * buffer: reserve, publish, cut generations. The part that every sample runs is
 * in buffer.h, inline; the seldom part is here.
 *
 * One word decides. A producer reserves by a compare-exchange on @word, which
 * holds the position *and* the number of the generation. So the place of a
 * record and the generation that it belongs to, with the dictionary that its
 * stack id refers to, are chosen in one step that an NMI can only see before
 * or after. Positions are in units of 8 bytes: 48 bits are 2 PiB per CPU, 200
 * days at 128 MB/s.
 *
 * Nesting. Producers on one CPU nest like the interrupts that they run in: an
 * inner one has finished before the outer one goes on. Each reserves for
 * itself; records of inner ones lie behind that of the outer, which may still
 * be incomplete. Hence only the outermost publishes @head->head, up to @word,
 * when all are complete. An inner one that comes after the outermost has read
 * @word is seen by reading @word once more after @nest has become 0.
 *
 * Only the outermost producer cuts a generation, so that the generation never
 * changes under a producer's feet: the result of gprof_buffer_begin() holds
 * until gprof_buffer_end().
 *
 * The model is perf's ring (kernel/events/ring_buffer.c, perf_output_begin()
 * and perf_output_put_handle()). The ordering with the reader is the table in
 * uapi/linux/gprof.h; letters below are those of that table.
 *
 * User space can write @tail->tail alone. It is read once per
 * reservation, compared, and never used as an index or a loop bound.
 */
#include "buffer.h"
#include "user/event_queue.h"

#include <linux/bug.h>
#include <linux/compiler.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/ktime.h>

#define LOST_SIZE	(sizeof(struct gprof_lost_rec) + GPROF_LOST_NR * sizeof(u64))

/* A position that no ring has. */
static const __u64 nowhere = 1;

/**
 * gprof_buffer_close() - end writing; later samples are none
 * @b: ring
 *
 * A producer that this interrupts may finish its record.
 *
 * Context: On the owning CPU with interrupts off, or that CPU is offline.
 */
void gprof_buffer_close(struct gprof_buffer *b)
{
	WRITE_ONCE(b->closed, true);
	WRITE_ONCE(b->freed, &nowhere);
	WRITE_ONCE(b->quick_end, 0);
}

/**
 * gprof_buffer_open() - let producers write
 * @b: ring
 *
 * Context: Any; there is no producer.
 */
void gprof_buffer_open(struct gprof_buffer *b)
{
	b->freed = b->flight ? &b->floor : &b->tail->tail;
	b->closed = false;
}

/**
 * gprof_buffer_init() - make an empty ring
 * @b: ring whose memory, @cpu, @flight, @wakes, @generation_ns and @weight are set
 *
 * Context: Any; nobody else uses @b yet.
 */
void gprof_buffer_init(struct gprof_buffer *b)
{
	local64_set(&b->first, 1);
	gprof_buffer_open(b);
	b->wake_at = b->wakes ? b->size / 2 : ~0ULL;
	b->look_at = b->wake_at;
	b->head->version = GPROF_ABI_VERSION;
	b->head->header_size = sizeof(*b->head);
	b->head->cpu = b->cpu;
	b->head->flags = b->flight ? GPROF_SETUP_F_FLIGHT : 0;
	b->head->data_offset = PAGE_SIZE;
	b->head->data_size = b->size;
}

/* There is more to publish than where the records end. */
static void recount_later(struct gprof_buffer *b)
{
	WRITE_ONCE(b->recount, true);
	barrier();	/* said before it is asked for */
	WRITE_ONCE(b->look_at, 0);
}

/**
 * gprof_buffer_lose() - count a sample that is lost
 * @b: ring
 * @reason: GPROF_LOST_*
 *
 * Context: Any, on the owning CPU, preemption off.
 */
void gprof_buffer_lose(struct gprof_buffer *b, unsigned int reason)
{
	gprof_buffer_lose_unreported(b, reason);
	barrier();	/* counted before it is announced */
	WRITE_ONCE(b->owing, true);
	WRITE_ONCE(b->quick_end, 0);
	gprof_event_raise(b->events, GPROF_EVENT_LOST);
}

/**
 * gprof_buffer_lose_unreported() - likewise, of which the next LOST record tells, whenever it comes
 * @b: ring
 * @reason: GPROF_LOST_*
 *
 * Context: Any, on the owning CPU, preemption off.
 */
void gprof_buffer_lose_unreported(struct gprof_buffer *b, unsigned int reason)
{
	local64_inc(&b->lost[reason]);
	local64_inc(&b->unreported[reason]);
	recount_later(b);
}

/*
 * A producer that interrupts between the test and here takes it all: then this
 * tells 0. One that loses a sample meanwhile says again that something is owed.
 */
static void fill_lost(struct gprof_buffer *b, struct gprof_lost_rec *lost)
{
	int i;

	WRITE_ONCE(b->owing, false);
	barrier();	/* losses that are counted from here on are announced again */
	lost->rec.type = GPROF_REC_LOST;
	lost->rec.flags = 0;
	lost->rec.size = LOST_SIZE;
	for (i = 0; i < GPROF_LOST_NR; i++)
		lost->lost[i] = local64_xchg(&b->unreported[i], 0);
}

/* Moves @head->oldest forward only: an inner producer may have moved it further. */
static void publish_oldest(struct gprof_buffer *b, u64 pos)
{
	u64 old = READ_ONCE(b->head->oldest);

	while (pos > old) {
		u64 seen = cmpxchg(&b->head->oldest, old, pos);

		if (seen == old)
			break;
		old = seen;
	}
}

/*
 * Flight mode: gives up the oldest generation. The current one is never given
 * up. An inner producer also leaves the one before alone, because the
 * outermost may be about to fill in where the current one begins.
 *
 * Readers are told before @first moves: an inner producer that finds it moved
 * overwrites the generation that was given up without asking further.
 */
static bool give_up_oldest(struct gprof_buffer *b, u16 current_generation)
{
	u64 first = local64_read(&b->first);
	u16 held = current_generation - (u16)first;
	u64 samples;

	if (held < (READ_ONCE(b->nest) > 1 ? 2 : 1))
		return false;

	samples = local64_read(&gprof_generation_of(b, first)->samples);
	publish_oldest(b, gprof_generation_of(b, first + 1)->pos);
	smp_wmb();	/* E, pairs with F: oldest moves before data is overwritten */
	/* Fails when an inner producer gave it up meanwhile, which is as good. */
	if (local64_cmpxchg(&b->first, first, first + 1) == first) {
		/* That it may go back again, past an inner producer's, costs but a look. */
		WRITE_ONCE(b->floor, gprof_generation_of(b, first + 1)->pos);
		local64_add(samples, &b->overwritten);
		recount_later(b);
	}
	return true;
}

static bool room_in_flight(struct gprof_buffer *b, u64 word, u32 size)
{
	u64 end = gprof_word_pos(word) + size;

	while (end - gprof_generation_of(b, local64_read(&b->first))->pos > b->size) {
		if (!give_up_oldest(b, gprof_word_generation(word)))
			return false;
	}
	return true;
}

/* Why is there no room? Returns 0 where there is, or 1 + GPROF_LOST_*. */
static int room(struct gprof_buffer *b, u64 word, u32 size)
{
	u64 used;

	if (READ_ONCE(b->closed))
		return 1 + GPROF_LOST_NO_BUFFER;
	if (size > b->size / GPROF_RECORD_PART)
		return 1 + GPROF_LOST_FULL;
	if (b->flight)
		return room_in_flight(b, word, size) ? 0 : 1 + GPROF_LOST_FULL;

	/*
	 * B, pairs with D. No barrier is needed: the stores to the freed space
	 * are conditional on this load (control dependency).
	 */
	used = gprof_word_pos(word) - READ_ONCE(b->tail->tail);
	if (used > b->size || used & 7)
		return 1 + GPROF_LOST_BAD_TAIL;
	return used + size <= b->size ? 0 : 1 + GPROF_LOST_FULL;
}

/**
 * gprof_buffer_cut() - begin a generation
 * @b: ring
 * @now: its time
 *
 * When there is no room the old generation goes on.
 *
 * Context: Outermost producer.
 */
void gprof_buffer_cut(struct gprof_buffer *b, u64 now)
{
	struct gprof_generation_rec *rec;
	u64 number = b->generation + 1;
	u64 word, pos;

	if (READ_ONCE(b->closed))
		return;
	/* It was found in the generation before. */
	WRITE_ONCE(b->quick_end, 0);
	if (b->flight && number - local64_read(&b->first) >= GPROF_GENERATIONS - 1)
		give_up_oldest(b, (u16)b->generation);
	local64_set(&gprof_generation_of(b, number)->samples, 0);
	do {
		word = local64_read(&b->word);
		pos = gprof_word_pos(word);
		if (room(b, word, sizeof(*rec)))
			return;
		gprof_generation_of(b, number)->pos = pos;
	} while ((u64)local64_cmpxchg(&b->word, word,
				      gprof_word(number, pos + sizeof(*rec))) != word);

	b->generation = number;
	b->generation_start = now;
	if (!b->flight)
		WRITE_ONCE(b->head->oldest, b->head->generation);
	WRITE_ONCE(b->head->generation, pos);
	b->generation_end = gprof_word(number, pos + (b->flight ? b->size / GPROF_FLIGHT_PARTS :
								 b->size));
	rec = gprof_buffer_at(b, pos);
	rec->rec.type = GPROF_REC_GENERATION;
	rec->rec.flags = 0;
	rec->rec.size = sizeof(*rec);
	rec->generation = number;
	rec->mono_ns = now;
	/* Real time of @now, not of this instruction: an interrupt may lie between. */
	rec->real_ns = ktime_get_real_fast_ns() - (ktime_get_mono_fast_ns() - now);
	rec->weight = b->weight;
	rec->cpu = b->cpu;
	rec->__reserved = 0;
}

/**
 * gprof_buffer_reserve_slow() - get room where it is not there for the taking
 * @b: ring
 * @size: as for gprof_buffer_reserve()
 * @samples: as for gprof_buffer_reserve()
 *
 * Context: As for gprof_buffer_reserve().
 * Return: the place, or NULL when there is no room.
 */
void *gprof_buffer_reserve_slow(struct gprof_buffer *b, u32 size, unsigned int samples)
{
	u32 extra, full;
	u64 word, pos;
	int reason;

	do {
		extra = READ_ONCE(b->owing) ? LOST_SIZE : 0;
		full = size + extra;
		word = local64_read(&b->word);
		pos = gprof_word_pos(word);
		reason = gprof_word_generation(word) || b->generation ? room(b, word, full) :
									1 + GPROF_LOST_NESTED;
		if (reason) {
			/* After STOP nothing is produced. */
			if (samples && READ_ONCE(b->closed))
				local64_add(-1, &b->produced);
			else if (samples)
				gprof_buffer_lose(b, reason - 1);
			return NULL;
		}
	} while ((u64)local64_cmpxchg(&b->word, word,
				      gprof_word(gprof_word_generation(word), pos + full)) != word);

	gprof_buffer_holds(b, word, samples);
	if (extra)
		fill_lost(b, gprof_buffer_at(b, pos));
	return gprof_buffer_at(b, pos + extra);
}

/**
 * gprof_buffer_uncount() - of a sample for which there was no place, take back its context
 * @b: ring
 * @context: GPROF_SAMPLE_REC_F_IRQ, or _NMI, or neither, by which it was counted
 *
 * After STOP nothing is produced, in no context either.
 *
 * Context: After gprof_buffer_reserve(), by the same producer.
 */
noinline void gprof_buffer_uncount(struct gprof_buffer *b, u16 context)
{
	if (!READ_ONCE(b->closed))
		return;
	if (context & GPROF_SAMPLE_REC_F_IRQ)
		local64_add(-1, &b->irq);
	else if (context & GPROF_SAMPLE_REC_F_NMI)
		local64_add(-1, &b->nmi);
}

/**
 * gprof_buffer_prefetch() - find out how long gprof_buffer_put() need not look
 * @b: ring
 *
 * A producer that interrupts another one learns nothing: that one may be about to cut.
 *
 * Context: Between gprof_buffer_begin() and gprof_buffer_end().
 */
void gprof_buffer_prefetch(struct gprof_buffer *b)
{
	u64 word = local64_read(&b->word);
	/* B, pairs with D: all that is written up to @quick_end comes behind this load. */
	u64 freed = smp_load_acquire(b->freed), used = gprof_word_pos(word) - freed;

	if (READ_ONCE(b->nest) > 1 || used > b->size || used & 7)
		return;
	WRITE_ONCE(b->quick_end, min(b->generation_end,
				     gprof_word(gprof_word_generation(word), freed + b->size)));
	barrier();	/* a loss from here on takes it back */
	if (READ_ONCE(b->owing))
		WRITE_ONCE(b->quick_end, 0);
}

/* Publishes the counts that seldom change. */
static void recount(struct gprof_buffer *b)
{
	struct gprof_ring_head *head = b->head;
	int i;

	WRITE_ONCE(b->recount, false);
	barrier();	/* counters that change from here on are published next time */
	WRITE_ONCE(head->overwritten, local64_read(&b->overwritten));
	for (i = 0; i < GPROF_LOST_NR; i++)
		WRITE_ONCE(head->lost[i], local64_read(&b->lost[i]));
}

/* Tells the reader that it is time to come. */
static void call_reader(struct gprof_buffer *b, u64 pos)
{
	b->wake_at = pos + b->size / 2;
	gprof_event_raise(b->events, GPROF_EVENT_READABLE);
}

static void publish_record(struct gprof_buffer *b, u64 pos)
{
	WRITE_ONCE(b->head->produced, local64_read(&b->produced));
	if (READ_ONCE(b->recount))
		recount(b);
	smp_store_release(&b->head->head, pos);	/* A, pairs with C */
	if (pos >= b->wake_at)
		call_reader(b, pos);
	WRITE_ONCE(b->look_at, b->wake_at);
	barrier();	/* a look that is asked for from here on is made again */
	if (READ_ONCE(b->recount))
		WRITE_ONCE(b->look_at, 0);
}

/**
 * gprof_buffer_publish_slowly() - publish more than where the records end
 * @b: ring
 *
 * Context: Outermost producer, or no producer any more.
 */
void gprof_buffer_publish_slowly(struct gprof_buffer *b)
{
	u64 word;

	do {
		WRITE_ONCE(b->nest, 1);
		barrier();
		word = local64_read(&b->word);
		publish_record(b, gprof_word_pos(word));
		barrier();	/* publish before giving up the role of the outermost */
		WRITE_ONCE(b->nest, 0);
		barrier();	/* and look after it */
	} while ((u64)local64_read(&b->word) != word);
}

/**
 * gprof_buffer_room() - how much could be written now
 * @b: ring of this CPU
 *
 * Of a ring that gives up its oldest, or whose reader has written nonsense, it is the whole
 * ring: there is nothing to wait for.
 *
 * Context: Any, preemption off.
 * Return: bytes; a record may find less, for an interrupt's producer writes too.
 */
u64 gprof_buffer_room(const struct gprof_buffer *b)
{
	u64 used = gprof_word_pos(local64_read(&b->word)) - READ_ONCE(b->tail->tail);

	return b->flight || used > b->size ? b->size : b->size - used;
}

/**
 * gprof_buffer_call() - have the reader read at once all that there is
 * @b: ring
 *
 * Context: Any, any CPU.
 */
void gprof_buffer_call(struct gprof_buffer *b)
{
	if (!b->wakes)
		return;
	WRITE_ONCE(b->is_new, gprof_word_pos(local64_read(&b->word)));
	gprof_event_raise(b->events, GPROF_EVENT_READABLE);
}

/**
 * gprof_buffer_readable() - is it time for the reader to come?
 * @b: ring
 *
 * Context: Any, any CPU.
 */
bool gprof_buffer_readable(const struct gprof_buffer *b)
{
	u64 head = READ_ONCE(b->head->head), tail = READ_ONCE(b->tail->tail);

	return b->wakes && (head - tail >= b->size / 2 || tail < READ_ONCE(b->is_new));
}
