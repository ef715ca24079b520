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
#include <linux/gprof.h>
#include <linux/irq_work.h>
#include <linux/types.h>

#define GPROF_GENERATIONS	256	/* most generations that a ring remembers */
#define GPROF_FLIGHT_PARTS	8	/* a generation is cut at this part of a flight ring */
#define GPROF_RECORD_PART	8	/* a reservation is at most this part of a ring */
#define GPROF_BUFFER_MIN	(32 << 10)	/* so that the longest stack fits in that part */

/**
 * struct gprof_generation - what the ring knows of a generation it holds
 * @pos: position of its GENERATION record
 * @samples: samples in it
 */
struct gprof_generation {
	u64 pos;
	local64_t samples;
};

/**
 * struct gprof_buffer - one ring
 * @data: data, mapped twice in a row
 * @size: bytes of @data once, a power of two
 * @head: page that user space reads
 * @tail: page that user space writes; nothing in it is trusted
 * @cpu: owner; only this CPU writes to the ring
 * @flight: overwrite the oldest generation instead of dropping the newest record
 * @generation_ns: a generation is cut after this time
 * @weight: weight that GENERATION records announce
 * @word: the reservation word: generation (16 bits) and position / 8 (48 bits)
 * @nest: producers that are active on this CPU, each interrupting the one before
 * @generation: number of the current generation; written by the outermost producer
 * @generation_start: its time; written by the outermost producer
 * @woken: position at which the reader was last woken; outermost producer
 * @first: number of the oldest generation (flight mode)
 * @generations: ring of generations [@first, @generation]
 * @produced: samples that the source produced
 * @lost: samples that were lost, by reason
 * @untold: part of @lost that no LOST record has told yet
 * @overwritten: samples in generations that were given up
 * @nmi: produced samples by context
 * @irq: produced samples by context
 * @task: produced samples by context
 * @throttled: throttle events
 * @maps_lost: MAP records that did not fit
 * @wake: wakes the reader from a context where wake-ups are allowed
 * @reader: for the function of @wake
 *
 * Written by the owning CPU only, except that anybody may read the counters.
 */
struct gprof_buffer {
	void *data;
	u64 size;
	struct gprof_ring_head *head;
	struct gprof_ring_tail *tail;
	unsigned int cpu;
	bool flight;
	u64 generation_ns;
	u64 weight;

	local64_t word;
	unsigned int nest;
	u64 generation;
	u64 generation_start;
	u64 woken;
	local64_t first;
	struct gprof_generation generations[GPROF_GENERATIONS];

	local64_t produced;
	local64_t lost[GPROF_LOST_NR];
	local64_t untold[GPROF_LOST_NR];
	local64_t overwritten;
	local64_t nmi;
	local64_t irq;
	local64_t task;
	local64_t throttled;
	local64_t maps_lost;

	struct irq_work wake;
	void *reader;
};

void gprof_buffer_init(struct gprof_buffer *b);
u16 gprof_buffer_begin(struct gprof_buffer *b, u64 now);
void *gprof_buffer_reserve(struct gprof_buffer *b, u32 size, unsigned int samples);
void gprof_buffer_end(struct gprof_buffer *b);
void gprof_buffer_lose(struct gprof_buffer *b, unsigned int reason);
bool gprof_buffer_readable(const struct gprof_buffer *b);

#endif /* GPROF_BUFFER_H */
