/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What can be done beside something else, by a second CPU where there is one.
 */
#ifndef TOOLS_BESIDE_H
#define TOOLS_BESIDE_H

#include <pthread.h>
#include <stdbool.h>

/**
 * struct beside - something that is done; all zeroes is nothing
 * @thread: who does it
 * @begun: it does, and beside_end() has to wait for it
 * @fn: what
 * @ctx: with what
 */
struct beside {
	pthread_t thread;
	bool begun;
	void (*fn)(void *ctx);
	void *ctx;
};

/*
 * beside_begin() - do something by a thread of its own; where there is no second CPU, or no
 * thread, at once. What comes of it must not depend on which.
 */
void beside_begin(struct beside *b, void (*fn)(void *ctx), void *ctx);

/* beside_end() - it is done then */
void beside_end(struct beside *b);

#endif /* TOOLS_BESIDE_H */
