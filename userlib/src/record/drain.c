// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * drain.c: the thread that empties the kernel's buffers while recording.
 *
 * The kernel wakes it when a buffer is half full; it also looks by itself ten
 * times a second, which keeps files of short-lived processes within reach; more often at
 * the beginning, when the files come up that unwind tables are wanted of.
 */
#include "drain.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/thread.h"

#define LOOK_MS	100
#define LOOK_FIRST_MS	10
#define FIRST_NS	500000000ULL
/* A sample may be published, by an interrupt that took long, a little after its time. */
#define LATE_NS	1000000000ULL

static void drain_all(struct gprof_drain *d)
{
	uint64_t now = gprof_labels_now();
	size_t i;

	pthread_mutex_lock(&d->lock);
	for (i = 0; i < d->nr; i++) {
		struct gprof_error e;

		if (gprof_stream_drain(&d->streams[i], &e) && !d->error.err)
			d->error = e;
		gprof_table_loader_scan(d->table_loader, &d->streams[i].builder.spaces.objects);
	}
	gprof_labels_read(&d->labels, now - LATE_NS);
	pthread_mutex_unlock(&d->lock);
}

static int poll_ms(const struct gprof_drain *d)
{
	return d->table_loader->running && gprof_labels_now() - d->began < FIRST_NS ?
		       LOOK_FIRST_MS :
		       LOOK_MS;
}

/*
 * A file of the program's under that number is not polled: it may always be ready. True: it is the
 * library's, and broken.
 */
static bool is_hung_up(int n, struct pollfd *p, const struct gprof_own_fd *own)
{
	if (n <= 0 || !p->revents)
		return false;
	if (gprof_own_fd_is(own))
		return p->revents & (POLLERR | POLLHUP | POLLNVAL);
	p->fd = -1;
	p->revents = 0;
	return false;
}

static void *drain_thread(void *arg)
{
	struct gprof_drain *d = arg;
	struct pollfd *fds = calloc(d->nr + 1, sizeof(*fds));
	struct pollfd wake = { .fd = d->wake.ends[0].fd, .events = POLLIN };
	size_t i;

	for (i = 0; fds && i < d->nr; i++) {
		fds[i].fd = d->streams[i].dev.fd;
		fds[i].events = POLLIN;
	}
	if (fds)
		fds[d->nr] = wake;
	for (;;) {
		/* Without memory for the descriptors the clock alone has to do. */
		int n = fds ? poll(fds, d->nr + 1, poll_ms(d)) : poll(&wake, 1, LOOK_MS);
		bool broken = n < 0 && errno != EINTR;

		if (gprof_wakeup_pipe_signalled(&d->wake))
			break;
		is_hung_up(n, &wake, &d->wake.ends[0]);
		for (i = 0; fds && i <= d->nr; i++)
			broken |= is_hung_up(n, &fds[i], i < d->nr ? &d->streams[i].dev :
								     &d->wake.ends[0]);
		drain_all(d);
		/* A device that only ever reports an error must not keep a CPU busy. */
		if (broken)
			nanosleep(&(struct timespec){ 0, LOOK_MS * 1000000L }, NULL);
	}
	free(fds);
	return NULL;
}

int gprof_drain_begin(struct gprof_drain *d, struct gprof_stream *streams, size_t nr,
		      struct gprof_table_loader *table_loader, struct gprof_error *e)
{
	int err;

	memset(d, 0, sizeof(*d));
	d->streams = streams;
	d->nr = nr;
	d->table_loader = table_loader;
	pthread_mutex_init(&d->lock, NULL);
	err = gprof_wakeup_pipe_begin(&d->wake, e);
	if (err)
		return err;
	gprof_labels_begin(&d->labels);
	d->began = gprof_labels_now();
	err = gprof_thread_start(&d->thread, drain_thread, d, "gprof-drain");
	if (err) {
		gprof_labels_end(&d->labels);
		gprof_wakeup_pipe_end(&d->wake);
		return gprof_error_set(e, err,
				       "cannot start the thread that reads the buffers (%s)",
				       gprof_strerror(err));
	}
	d->running = true;
	return 0;
}

void gprof_drain_end(struct gprof_drain *d)
{
	if (!d->running)
		return;
	gprof_wakeup_pipe_signal(&d->wake);
	pthread_join(d->thread, NULL);
	gprof_wakeup_pipe_end(&d->wake);
	d->running = false;
}

void gprof_drain_pause(struct gprof_drain *d)
{
	if (d->running)
		pthread_mutex_lock(&d->lock);
}

void gprof_drain_resume(struct gprof_drain *d)
{
	if (d->running)
		pthread_mutex_unlock(&d->lock);
}
