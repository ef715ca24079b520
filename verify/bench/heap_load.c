// SPDX-License-Identifier: GPL-2.0-only
/*
 * heap_load: work that allocates and frees.
 *
 *	heap_load user|kernel [quickest]
 *
 * For each line with a number N on stdin it does N chunks of work and answers with the
 * nanoseconds that this took, and behind them, or before them (quickest), with those that it would
 * have taken if all were as quick as the quickest PART: there was no sample in that, nor anything
 * else that comes and goes. A chunk is malloc() and free(), or a message
 * that is sent and received: an object that the kernel allocates and frees.
 *
 * It is a program that others are loaded into: linked dynamically.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>

#include "../../selftests/helpers/clock.h"

#define PART	100	/* of 100 bytes each */
#define BYTES	100

void *volatile kept;	/* nothing is left out by the compiler */

static int queue = -1;

static void allocate(void)
{
	kept = malloc(BYTES);
	free(kept);
}

static void send(void)
{
	struct { long type; char text[BYTES]; } message = { .type = 1 };

	if (msgsnd(queue, &message, BYTES, 0) || msgrcv(queue, &message, BYTES, 0, 0) != BYTES)
		exit(1);
}

static void work(uint64_t chunks, void (*chunk)(void), uint64_t *took, uint64_t *quickest)
{
	uint64_t i, start = now_ns(), from = start, to, least = UINT64_MAX;

	for (i = 0; i < chunks; i += PART) {
		for (int k = 0; k < PART; k++)
			chunk();
		to = now_ns();
		if (to - from < least)
			least = to - from;
		from = to;
	}
	*took = from - start;
	*quickest = least * (chunks / PART);
}

int main(int argc, char **argv)
{
	void (*chunk)(void) = argc > 1 && !strcmp(argv[1], "kernel") ? send : allocate;
	bool first = argc > 2 && !strcmp(argv[2], "quickest");
	uint64_t took, quickest;
	char line[32];

	if (chunk == send) {
		queue = msgget(IPC_PRIVATE, 0600);
		if (queue < 0)
			return 1;
	}
	while (fgets(line, sizeof(line), stdin)) {
		work(strtoull(line, NULL, 10), chunk, &took, &quickest);
		printf("%" PRIu64 " %" PRIu64 "\n", first ? quickest : took, first ? took : quickest);
		fflush(stdout);
	}
	if (queue >= 0)
		msgctl(queue, IPC_RMID, NULL);
	return 0;
}
