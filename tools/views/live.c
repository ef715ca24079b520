// SPDX-License-Identifier: GPL-2.0-only
/*
 * A trace that is shown while it is recorded: who records writes into a pipe, from which a
 * thread reads.
 */
#include "follow.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "../cmd.h"
#include "../say.h"

static void *show(void *arg)
{
	struct follow_pipe *p = arg;
	struct pollfd begin = { .fd = p->from, .events = POLLIN };

	/* Where the recording could not begin, that was said. */
	poll(&begin, 1, -1);
	if (begin.revents & POLLIN)
		p->status = follow_read(p->from, &p->opts);
	/* Whoever writes is told that nobody reads. */
	close(p->from);
	return NULL;
}

int follow_begin(struct follow_pipe *p, const struct follow_opts *o)
{
	int fds[2], err;

	p->fd = -1;
	p->opts = *o;
	if (pipe2(fds, O_CLOEXEC))
		return fail("no pipe: %s", strerror(errno));
	p->from = fds[0];
	err = pthread_create(&p->thread, NULL, show, p);
	if (err) {
		close(fds[0]);
		close(fds[1]);
		return fail("no thread: %s", strerror(err));
	}
	p->running = true;
	p->fd = fds[1];
	return STATUS_OK;
}

int follow_end(struct follow_pipe *p)
{
	if (!p->running)
		return STATUS_OK;
	close(p->fd);
	p->fd = -1;
	pthread_join(p->thread, NULL);
	p->running = false;
	return p->status;
}
