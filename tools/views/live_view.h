/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A trace that is shown while it is recorded: the recorder writes into a pipe, from which a thread
 * reads. Nothing of it is stored.
 */
#ifndef TOOLS_VIEWS_LIVE_VIEW_H
#define TOOLS_VIEWS_LIVE_VIEW_H

#include <pthread.h>
#include <stdbool.h>

/* The version whose generations say that they end, so that one is shown as it does. */
#define LIVE_VIEW_VERSION	26
#define LIVE_VIEW_VERSION_TEXT	"1.26"

/**
 * struct live_view - it; all zeroes is none
 * @fd: where it is to be written; -1: there is none
 */
struct live_view {
	int fd;
	int from;
	bool running;
	int status;
	pthread_t thread;
	int (*show)(void *ctx, int fd);
	void *ctx;
};

/**
 * live_view_begin() - show the trace that is written to @l->fd
 * @l: gets filled
 * @show: reads a trace up to its end, in a thread of its own; its status
 * @ctx: passed on to it, alive until live_view_end()
 *
 * Return: STATUS_OK, or another status after a sentence.
 */
int live_view_begin(struct live_view *l, int (*show)(void *ctx, int fd), void *ctx);

/* live_view_end() - the trace has ended; the status of @show */
int live_view_end(struct live_view *l);

#endif /* TOOLS_VIEWS_LIVE_VIEW_H */
