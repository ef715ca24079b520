/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * buffer: the lock-free ring of one recorder on one CPU.
 *
 * Producer side only; it never sleeps, takes no lock and runs in task,
 * interrupt and NMI context of its own CPU, nested in each other in any way.
 * All of it compiles in user space too (selftests/unit/shim), where signals
 * stand in for NMIs.
 */
#ifndef GPROF_BUFFER_H
#define GPROF_BUFFER_H

#include <asm/local64.h>
#include <linux/compiler.h>
#include <linux/gprof.h>
#include <linux/types.h>

struct gprof_event_queue;

#define GPROF_GENERATIONS	256	/* most generations that a ring remembers */
#define GPROF_FLIGHT_PARTS	8	/* a generation is cut at this part of a flight ring */
#define GPROF_RECORD_PART	8	/* a reservation is at most this part of a ring */
#define GPROF_BUFFER_MIN	(32 << 10)	/* so that the longest stack fits in that part */

#define GPROF_BEFORE_SAMPLE	2	/* records that a sample needs */

/**
 * struct gprof_generation - the ring's entry of a generation it holds
 * @pos: position of its GENERATION record
 * @samples: samples in it (flight mode)
 */
struct gprof_generation {
	u64 pos;
	local64_t samples;
};

/**
 * struct gprof_buffer - one ring
 * @word: the reservation word: generation (16 bits) and position / 8 (48 bits)
 * @nest: producers that are active on this CPU, each interrupting the one before
 * @flight: overwrite the oldest generation instead of dropping the newest record
 * @wakes: the reader is woken when half of it is full
 * @owing: @unreported may be more than 0
 * @recount: @lost or @overwritten are newer than their copies in @head
 * @generation_start: time of the current generation; written by the outermost producer
 * @generation_ns: a generation is cut after this time
 * @generation_end: @word with which the next one is cut; outermost producer
 * @freed: position before which may be overwritten: @tail's, where nothing is trusted, or
 *	@floor; of a closed ring one that no ring has, so that nothing is written quickly
 * @size: bytes of @data once, a power of two
 * @data: data, mapped twice in a row
 * @produced: samples that the source produced
 * @head: page that user space reads
 * @wake_at: position at which the reader is woken, all ones: never; outermost producer
 * @look_at: @wake_at, or 0: there is something else to do when records are published
 * @irq: produced samples by context; those of tasks are the rest
 * @nmi: produced samples by context
 * @generation: number of the current generation; written by the outermost producer
 * @quick_end: @word before which gprof_buffer_put() writes: there is room, the generation goes
 *	on, and nothing is owed; 0: that is not known
 * @weight: weight that GENERATION records announce
 * @first: number of the oldest generation (flight mode)
 * @floor: position of that one, or of an earlier one
 * @tail: page that user space writes
 * @overwritten: samples in generations that were given up
 * @lost: samples that were lost, by reason
 * @unreported: part of @lost that no LOST record has told yet
 * @throttled: throttle events
 * @maps_lost: readings of mappings that ended at a record that did not fit
 * @is_new: position up to which the reader is to read at once
 * @cpu: owner; only this CPU writes to the ring
 * @closed: nothing is written any more, later samples are not counted; the owning CPU
 * @events: where losses are told, and that it is time for the reader to come
 * @generations: ring of generations [@first, @generation]
 *
 * Written by the owning CPU only, except that anybody may read the counters.
 */
struct gprof_buffer {
	/* Fields that every sample reads: one cache line, and up to @generation a second. */
	local64_t word;
	unsigned int nest;
	bool flight;
	bool wakes;
	bool owing;
	bool recount;
	u64 generation_start;
	u64 generation_ns;
	u64 generation_end;
	const __u64 *freed;
	u64 size;
	void *data;

	local64_t produced;
	struct gprof_ring_head *head;
	u64 look_at;
	u64 quick_end;
	local64_t irq;
	local64_t nmi;
	u64 generation;
	u64 wake_at;

	local64_t first;
	u64 weight;
	__u64 floor;
	struct gprof_ring_tail *tail;
	local64_t overwritten;
	local64_t lost[GPROF_LOST_NR];
	local64_t unreported[GPROF_LOST_NR];
	local64_t throttled;
	local64_t maps_lost;
	u64 is_new;
	unsigned int cpu;

	bool closed;
	struct gprof_event_queue *events;
	struct gprof_generation generations[GPROF_GENERATIONS];
};

void gprof_buffer_init(struct gprof_buffer *b);
void gprof_buffer_close(struct gprof_buffer *b);
void gprof_buffer_open(struct gprof_buffer *b);
void gprof_buffer_lose(struct gprof_buffer *b, unsigned int reason);
void gprof_buffer_lose_unreported(struct gprof_buffer *b, unsigned int reason);
u64 gprof_buffer_room(const struct gprof_buffer *b);
void gprof_buffer_call(struct gprof_buffer *b);
bool gprof_buffer_readable(const struct gprof_buffer *b);

/* For the functions below. */
void gprof_buffer_cut(struct gprof_buffer *b, u64 now);
void *gprof_buffer_reserve_slow(struct gprof_buffer *b, u32 size, unsigned int samples);
void gprof_buffer_uncount(struct gprof_buffer *b, u16 context);
void gprof_buffer_prefetch(struct gprof_buffer *b);
void gprof_buffer_publish_slowly(struct gprof_buffer *b);

#define GPROF_POS_BITS	48
#define GPROF_POS_MASK	((1ULL << GPROF_POS_BITS) - 1)

static inline u64 gprof_word_pos(u64 word)
{
	/* Not by GPROF_POS_MASK, which is another instruction on amd64. */
	return word << (64 - GPROF_POS_BITS) >> (64 - GPROF_POS_BITS - 3);
}

static inline u16 gprof_word_generation(u64 word)
{
	return word >> GPROF_POS_BITS;
}

static inline u64 gprof_word(u16 generation, u64 pos)
{
	return (u64)generation << GPROF_POS_BITS | (pos >> 3 & GPROF_POS_MASK);
}

static inline void *gprof_buffer_at(struct gprof_buffer *b, u64 pos)
{
	return b->data + (pos & (b->size - 1));
}

static inline struct gprof_generation *gprof_generation_of(struct gprof_buffer *b, u64 number)
{
	return &b->generations[number % GPROF_GENERATIONS];
}

/* Does the generation end before the next record? Outermost producer. */
static __always_inline bool gprof_buffer_cut_due(const struct gprof_buffer *b, u64 word, u64 now)
{
	/* An interrupt may have cut one after this producer took its time: then @now is earlier. */
	return (s64)(now - b->generation_start) >= (s64)b->generation_ns ||
	       word >= b->generation_end;
}

/**
 * gprof_buffer_begin() - become a producer
 * @b: ring of this CPU
 * @now: time in ns of CLOCK_MONOTONIC
 *
 * Context: Any incl. NMI, on the owning CPU, preemption off until
 * gprof_buffer_end().
 * Return: the generation (low 16 bits of its number) in which records reserved
 * until gprof_buffer_end() will lie; 0 while there is none, which happens to
 * producers that interrupt the very first one.
 */
static inline u16 gprof_buffer_begin(struct gprof_buffer *b, u64 now)
{
	unsigned int nest = READ_ONCE(b->nest) + 1;
	u64 word;

	WRITE_ONCE(b->nest, nest);
	barrier();	/* interrupts from here on see this producer */
	word = local64_read(&b->word);
	if (nest == 1 && gprof_buffer_cut_due(b, word, now)) {
		gprof_buffer_cut(b, now);
		word = local64_read(&b->word);
	}
	return gprof_word_generation(word);
}

/**
 * gprof_buffer_time() - the time that a record says
 * @b: ring
 * @now: when it happened, ns of CLOCK_MONOTONIC
 *
 * A producer that read its time before gprof_buffer_begin() may have been interrupted there
 * by another that cut; and in an NMI the clock may be a little behind itself. No record
 * lies before its generation.
 *
 * Context: Between gprof_buffer_begin() and gprof_buffer_end().
 */
static inline u64 gprof_buffer_time(const struct gprof_buffer *b, u64 now)
{
	u64 start = READ_ONCE(b->generation_start);

	return likely((s64)(now - start) >= 0) ? now : start;
}

/* A flight ring counts the samples of its generations, for when they are given up. */
static __always_inline void gprof_buffer_holds(struct gprof_buffer *b, u64 word,
					       unsigned int samples)
{
	if (samples == 1 && b->flight)
		local64_inc(&gprof_generation_of(b, gprof_word_generation(word))->samples);
}

/**
 * gprof_buffer_reserve() - get room for records
 * @b: ring
 * @size: bytes, a multiple of 8, for one record or several in a row
 * @samples: samples among them, 0 or 1; one that does not fit is counted as lost. Or
 *	GPROF_BEFORE_SAMPLE: none, but the sample behind them is lost with them
 *
 * Context: Between gprof_buffer_begin() and gprof_buffer_end(), by the same
 * producer, which fills all of it before gprof_buffer_end().
 * Return: the place, or NULL when there is no room.
 */
static __always_inline void *gprof_buffer_reserve(struct gprof_buffer *b, u32 size,
						  unsigned int samples)
{
	u64 word = local64_read(&b->word), pos = gprof_word_pos(word);
	/*
	 * B, pairs with D. No barrier is needed: the stores to the freed space
	 * are conditional on this load (control dependency).
	 */
	u64 used = pos - READ_ONCE(*b->freed);
	/* A size that the compiler knows to fit into the smallest ring needs no look. */
	bool fits = __builtin_constant_p(size) && size <= GPROF_BUFFER_MIN / GPROF_RECORD_PART;

	/* An impossible tail makes @used odd, or larger than any ring. */
	if (unlikely(!gprof_word_generation(word) || READ_ONCE(b->owing) ||
		     (!fits && size > b->size / GPROF_RECORD_PART) || used & 7 ||
		     used > b->size - size))
		return gprof_buffer_reserve_slow(b, size, samples);
	if (unlikely((u64)local64_cmpxchg(&b->word, word, word + (size >> 3)) != word))
		return gprof_buffer_reserve_slow(b, size, samples);
	gprof_buffer_holds(b, word, samples);
	return gprof_buffer_at(b, pos);
}

/*
 * The outermost producer publishes all records, as all are complete, and ceases to be one. The
 * seldom part is called last, so that nothing has to be kept for it.
 */
static __always_inline void gprof_buffer_publish(struct gprof_buffer *b)
{
	struct gprof_ring_head *head = b->head;
	u64 word, pos;

	barrier();	/* records are filled before this producer is gone */
	word = local64_read(&b->word);
	pos = gprof_word_pos(word);
	WRITE_ONCE(head->produced, local64_read(&b->produced));
	if (unlikely(pos >= READ_ONCE(b->look_at))) {
		gprof_buffer_publish_slowly(b);
		return;
	}
	smp_store_release(&head->head, pos);	/* A, pairs with C */
	barrier();	/* publish before giving up the role of the outermost */
	WRITE_ONCE(b->nest, 0);
	barrier();	/* and look after it */
	if (unlikely((u64)local64_read(&b->word) != word))
		gprof_buffer_publish_slowly(b);
}

/**
 * gprof_buffer_end() - cease to be a producer; the outermost one publishes
 * @b: ring
 *
 * Context: As gprof_buffer_begin().
 */
static inline void gprof_buffer_end(struct gprof_buffer *b)
{
	unsigned int nest = READ_ONCE(b->nest);

	if (unlikely(nest > 1)) {
		barrier();	/* records are filled before this producer is gone */
		WRITE_ONCE(b->nest, nest - 1);
		return;
	}
	gprof_buffer_publish(b);
}

/**
 * gprof_buffer_look_no_further() - let the next word be looked at
 * @b: ring of this CPU
 *
 * For a source that puts words only while something of its own holds.
 *
 * Context: Any, preemption off.
 */
static __always_inline void gprof_buffer_look_no_further(struct gprof_buffer *b)
{
	WRITE_ONCE(b->quick_end, 0);
}

/**
 * gprof_buffer_put() - write a record of one word and publish it, where nothing is in the way
 * @b: ring of this CPU
 * @word: @b->word, read by the caller
 * @record: it, a sample
 *
 * Instead of gprof_buffer_begin(), _reserve() and _end(). A producer that cuts a generation or
 * reserves changes @b->word, so that all that the caller has read of the ring behind it is of
 * @word's generation still when the compare-exchange succeeds. gprof_buffer_prefetch() has
 * found that there is room; nobody but a producer takes it away, by changing @b->word.
 *
 * Context: Any incl. NMI, on the owning CPU, preemption off.
 * Return: false: nothing is done, and those three have to be called.
 */
static __always_inline bool gprof_buffer_put(struct gprof_buffer *b, u64 word, u64 record)
{
	/* The number of the generation lies above any ring's size. */
	u64 *place = b->data + (word << 3 & (b->size - 1));

	if (unlikely(READ_ONCE(b->nest)) || unlikely(word >= READ_ONCE(b->quick_end)))
		return false;
	WRITE_ONCE(b->nest, 1);
	barrier();	/* interrupts from here on see this producer */
	if (unlikely((u64)local64_cmpxchg(&b->word, word, word + 1) != word)) {
		/* The caller's end publishes the records of interrupts since @nest is 1. */
		WRITE_ONCE(b->nest, 0);
		return false;
	}
	gprof_buffer_holds(b, word, 1);
	*place = record;
	gprof_buffer_publish(b);
	return true;
}

#endif /* GPROF_BUFFER_H */
