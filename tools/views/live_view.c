// SPDX-License-Identifier: GPL-2.0-only
/*
 * A trace that is shown while it is recorded: the recorder writes into a pipe, from which a thread
 * reads.
 */
#include "live_view.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/thread.h"
#include "cli/cmd.h"
#include "cli/diag.h"

static void *read_all(void *arg)
{
	struct live_view *l = arg;
	struct pollfd begin = { .fd = l->from, .events = POLLIN };

	/* Where the recording could not begin, that was said. */
	poll(&begin, 1, -1);
	if (begin.revents & POLLIN)
		l->status = l->show(l->ctx, l->from);
	/* The writer gets EPIPE. */
	close(l->from);
	return NULL;
}

int live_view_begin(struct live_view *l, int (*show)(void *ctx, int fd), void *ctx)
{
	int fds[2], err;

	l->fd = -1;
	l->show = show;
	l->ctx = ctx;
	if (pipe2(fds, O_CLOEXEC))
		return fail("no pipe: %s", strerror(errno));
	l->from = fds[0];
	err = gprof_thread_start(&l->thread, read_all, l, "live");
	if (err) {
		close(fds[0]);
		close(fds[1]);
		return fail("no thread: %s", strerror(err));
	}
	l->running = true;
	l->fd = fds[1];
	return STATUS_OK;
}

int live_view_end(struct live_view *l)
{
	if (!l->running)
		return STATUS_OK;
	close(l->fd);
	l->fd = -1;
	pthread_join(l->thread, NULL);
	l->running = false;
	return l->status;
}
