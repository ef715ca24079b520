/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sender: a thread that sends a store's waiting items to engines, the oldest first.
 *
 * An engine that does not take an item now is asked again (backoff.h).
 */
#ifndef GPROF_TOOLS_AGENT_SENDER_H
#define GPROF_TOOLS_AGENT_SENDER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "engine.h"
#include "store.h"

#define SENDER_ENGINES	2
#define SENDER_END_NS	(10 * 1000000000ULL)

struct sender;

/**
 * struct sender_counts - counts of tries
 * @tries: items that it gave the engine, or tried to
 * @later: of these, those that the engine did not take then
 * @never: ... or never will
 * @bytes: on the wire
 * @failed_ns: CLOCK_REALTIME of the last that was not taken; 0: none
 * @taken_ns: ... and of the last that was
 */
struct sender_counts {
	uint64_t tries;
	uint64_t later;
	uint64_t never;
	uint64_t bytes;
	uint64_t failed_ns;
	uint64_t taken_ns;
};

/**
 * sender_start() - begin to send
 * @store: from which
 * @engines: receivers: each form of item goes to the first that takes it. They are the sender's
 *	from now on, which closes them
 * @nr: how many, up to SENDER_ENGINES
 * @give_up: set when an engine has to end its work, or NULL; borrowed
 * @status: gets the exit status on failure
 *
 * All signals are blocked in its thread.
 *
 * Return: sender for sender_stop(), or NULL after a sentence.
 */
struct sender *sender_start(struct store *store, struct engine *const *engines, size_t nr,
			    atomic_bool *give_up, int *status);

/* sender_wake() - there is something new in the store */
void sender_wake(struct sender *s);

/**
 * sender_stop() - send no more
 * @s: sender, or NULL
 * @all: first send the items that wait, as far as the engine takes them within SENDER_END_NS
 */
void sender_stop(struct sender *s, bool all);

/* sender_counts() - counts until now */
void sender_counts(struct sender *s, struct sender_counts *out);

#endif /* GPROF_TOOLS_AGENT_SENDER_H */
