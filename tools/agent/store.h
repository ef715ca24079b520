/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * store: a bounded store of profiles and traces on disk, from which they are sent too.
 *
 * The names of its files are its index (item_name.h). Two threads may use one: the recording one,
 * and the sender.
 *
 *	produced + waited = sent + waiting + dropped + refused + stored
 *
 * holds for items and for samples at any time.
 */
#ifndef GPROF_TOOLS_AGENT_STORE_H
#define GPROF_TOOLS_AGENT_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/item_name.h"

struct gprof_profile;
struct send_result;

struct store;

/**
 * struct store_options - how it is kept
 * @dir: where; borrowed
 * @keep_bytes: bytes that all items may take, in whole blocks
 * @keep_ns: how old they may get; 0: any age
 * @wait: bits of enum item_form that wait for an engine, when they are new
 * @parts: division of items into parts, by form: struct engine's; 0: any are the same
 */
struct store_options {
	const char *dir;
	uint64_t keep_bytes;
	uint64_t keep_ns;
	unsigned int wait;
	uint32_t parts[ITEM_FORMS];
};

/**
 * struct store_tally - items, or their samples
 * @produced: put in, or tried to
 * @waited: that waited when it was opened, or were found later: a disk that comes back has some
 *	that were given up
 * @stored: put in, not to be sent
 * @waiting: that wait for an engine now
 * @sent: that an engine took
 * @refused: that an engine will never take
 * @dropped: that could not be written, were removed before an engine took them, or are damaged
 */
struct store_tally {
	uint64_t produced;
	uint64_t waited;
	uint64_t stored;
	uint64_t waiting;
	uint64_t sent;
	uint64_t refused;
	uint64_t dropped;
};

/**
 * struct store_counts - counts of a store, since it was opened
 * @items: items
 * @samples: their samples
 * @bytes: their present size
 * @files: how many files there are now, of items and rollups
 * @unsure: samples that an engine gets again though it may have them: the sender was killed, the
 *	response was lost, or it had them as parts that are no longer made
 * @removed: items that were too old, or too many, and did not wait for an engine
 * @damaged: items with wrong contents
 * @failures: operations on the disk that failed
 * @clock_steps: how often the wall clock was set
 */
struct store_counts {
	struct store_tally items;
	struct store_tally samples;
	uint64_t bytes;
	uint64_t files;
	uint64_t unsure;
	uint64_t removed;
	uint64_t damaged;
	uint64_t failures;
	uint64_t clock_steps;
};

/**
 * store_open() - open one, made where it is missing
 * @o: copied
 * @status: gets the exit status on failure
 *
 * Return: store for store_close(), or NULL after a sentence.
 */
struct store *store_open(const struct store_options *o, int *status);
void store_close(struct store *s);

/**
 * store_put() - keep an item
 * @n: with form, type, host, time, duration and samples; the rest gets filled
 * @data: contents of the file
 * @size: bytes
 * @profile: the same in memory, or NULL; it is the store's from now on, also on failure
 *
 * The oldest make room for it. Where it cannot be written it counts as dropped, which is said
 * once until some have been written again.
 *
 * Return: 0 or -errno.
 */
int store_put(struct store *s, struct item_name *n, const void *data, size_t size,
	      struct gprof_profile *profile);

/**
 * store_put_rollup() - keep a rollup (rollup.h), which counts as no item above
 * @n: with form, type, host, time, duration, samples, and its items; the rest gets filled
 *
 * Return: 0 or -errno.
 */
int store_put_rollup(struct store *s, struct item_name *n, const void *data, size_t size);

/**
 * struct store_next - the next item to send
 * @name: item
 * @data: its contents; for store_answer() to free
 * @size: bytes
 * @profile: the same in memory, where it is there still, or NULL; likewise
 */
struct store_next {
	struct item_name name;
	void *data;
	size_t size;
	struct gprof_profile *profile;
};

/**
 * store_next() - the oldest item that waits; it is noted on disk that it may be sent now
 *
 * One that its engine could not take some times, when it was there, is skipped for five minutes
 * and more: it may be the reason, and others wait behind it.
 *
 * @s: store
 * @forms: bits of enum item_form that are wanted
 * @next: gets it
 *
 * Return: whether there is one; each is to be answered before the next.
 */
bool store_next(struct store *s, unsigned int forms, struct store_next *next);

/* store_answer() - its result */
void store_answer(struct store *s, struct store_next *next, const struct send_result *out);

/* store_counts() - recent counts: it does not wait for the disk */
void store_counts(struct store *s, struct store_counts *out);

#endif /* GPROF_TOOLS_AGENT_STORE_H */
