// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * http_recording.c: the recording of a request, and its body.
 */
#include "http_exchange.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/gprof.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "query.h"

#define TICK_NS		((uint64_t)100000000)
/* All together may have so many times the share of one. */
#define SHARES		4

static unsigned int status_of(int err)
{
	switch (err < 0 ? -err : err) {
	case EINVAL:
	case ERANGE:
	case E2BIG:
	case EEXIST:
	case ENAMETOOLONG:
	case ENOTDIR:
	case EDOM:
		return 400;
	case EPERM:
	case EACCES:
		return 403;
	case ENOENT:
	case ESRCH:
	case ENODEV:
		return 404;
	case EOPNOTSUPP:
	case ENOSYS:
		return 501;
	case EAGAIN:
	case EBUSY:
	case ENOMEM:
	case ENXIO:
	case EMFILE:
	case ENFILE:
	case ENOBUFS:
	case EUSERS:
		return 503;
	default:
		return 500;
	}
}

int gprof_exchange_value(struct exchange *a, const char *key, char *value, size_t size)
{
	return gprof_query_get(a->rq->query, key, value, size, &a->e);
}

int gprof_exchange_refuse(struct exchange *a, unsigned int status, int err)
{
	a->status = status;
	return err;
}

int gprof_exchange_fail(struct exchange *a, int err)
{
	return gprof_exchange_refuse(a, status_of(err), err);
}

static bool gone(const struct exchange *a)
{
	return a->rq->gone && a->rq->gone(a->rq->ctx);
}

/* ---- recording ---- */

static void have_memory(struct exchange *a, uint64_t bytes)
{
	a->h->memory += bytes - a->memory;
	a->memory = bytes;
}

/*
 * Are all together over the limit, and is this one no smaller than most? One thread at a time
 * checks, and an ended one counts no more for the next: so only as many end as needed.
 */
static bool has_to_end(struct exchange *a, unsigned int *busy)
{
	bool ends;

	pthread_mutex_lock(&a->h->weighing);
	*busy = a->h->busy;
	ends = a->h->memory / SHARES > a->h->cfg.max_memory &&
	       a->memory >= a->h->memory / (*busy ? *busy : 1);
	if (ends)
		have_memory(a, 0);
	pthread_mutex_unlock(&a->h->weighing);
	return ends;
}

/* A truncated profile would be wrong: rather there is none. */
static int weigh(struct exchange *a, const struct gprof_recording *rec)
{
	uint64_t max = a->h->cfg.max_memory;
	unsigned int busy;

	have_memory(a, gprof_recording_bytes(rec));
	if (a->memory > max)
		return gprof_error_set(&a->e, ENOBUFS, "the profile takes more than %" PRIu64 " KiB, "
				       "which is all that one may: ask for fewer seconds or samples, "
				       "or for one process", max >> 10);
	if (has_to_end(a, &busy))
		return gprof_error_set(&a->e, ENOBUFS, "the %u recordings that are under way take more "
				       "than %" PRIu64 " KiB, and this is one of the largest; come "
				       "back later", busy, (max >> 10) * SHARES);
	return 0;
}

/*
 * A descriptor that is held for as long as is recorded may be another's meanwhile, and no pidfd
 * can be told from other anonymous files. From one look to the next no pid is used again.
 */
static bool has_ended(const struct gprof_target *target)
{
	struct pollfd p = { .events = POLLIN };
	bool ended;

	if (target->type != GPROF_PROCESS)
		return false;
	p.fd = (int)syscall(SYS_pidfd_open, target->id, 0);
	if (p.fd < 0)
		return errno == ESRCH;
	ended = poll(&p, 1, 0) > 0;
	close(p.fd);
	return ended;
}

/* Until the time is over, the target is gone, or the file is full. */
static int wait_for(struct exchange *a, const struct gprof_recording *rec)
{
	uint64_t until = now_ns() + a->ns, now;
	struct stat st;
	int err = 0;

	while (!err && (now = now_ns()) < until) {
		uint64_t left = until - now;

		poll(NULL, 0, (int)(((left < TICK_NS ? left : TICK_NS) + 999999) / 1000000));
		if (has_ended(&a->request.target))
			break;
		err = gone(a) ? -ECONNABORTED : weigh(a, rec);
		if (a->request.kind == GPROF_REQUEST_TRACE && !fstat(a->trace, &st) &&
		    (uint64_t)st.st_size > a->h->cfg.max_bytes) {
			snprintf(a->note, sizeof(a->note), "the trace ends early: it has more than %"
				 PRIu64 " MiB", a->h->cfg.max_bytes >> 20);
			break;
		}
	}
	return err;
}

static int record(struct exchange *a)
{
	struct gprof_recording rec;
	char title[64];
	int err = gprof_recording_make(&rec, &a->request);

	if (!err)
		err = gprof_recording_start(&rec, &a->request, a->trace);
	if (!err)
		err = wait_for(a, &rec);
	if (err) {
		gprof_recording_drop(&rec);
		return err;
	}
	snprintf(title, sizeof(title), "%s profile", a->page->name);
	return gprof_recording_end(&rec, a->trace, a->debug ? title : NULL);
}

static int view(struct exchange *a)
{
	char why[sizeof(a->e.text)] = "";
	int err = record(a);

	if (!err)
		err = gprof_own_fd_check(&a->own_trace, "the trace", &a->e);
	if (!err && lseek(a->trace, 0, SEEK_SET))
		err = -errno;
	if (!err) {
		err = a->view->make(a->view->ctx, a->rq, a->trace, a->fd, why, sizeof(why));
		if (err)
			gprof_error_set(&a->e, -err, "%s", why[0] ? why : gprof_strerror(-err));
	}
	return err;
}

/* ---- of this moment ---- */

static int await_moment(struct exchange *a)
{
	while (pthread_mutex_trylock(&a->h->moment)) {
		poll(NULL, 0, TICK_NS / 1000000);
		if (gone(a))
			return -ECONNABORTED;
	}
	return 0;
}

static int fly(struct exchange *a)
{
	struct gprof_flight_snapshot snap = { .sz = sizeof(snap) };

	if (!a->h->cfg.flight)
		return gprof_error_set(&a->e, ESRCH, "no flight recorder runs here: gprofctl serve "
				       "--flight starts one");
	if (a->request.chosen)
		return gprof_error_set(&a->e, EINVAL,
				       "%s= sets a target, but the flight recorder has its target "
				       "already",
				       a->request.chosen);
	return gprof_flight_snapshot(a->h->cfg.flight, a->fd, &snap);
}

static int at_moment(struct exchange *a, bool flight)
{
	int err = await_moment(a);

	if (err)
		return err;
	err = flight ? fly(a) : gprof_record_request_snapshot(&a->request, a->fd, a->debug);
	pthread_mutex_unlock(&a->h->moment);
	return err;
}

static int make(struct exchange *a)
{
	char value[16];
	int flight = 0;

	if (a->request.kind == GPROF_REQUEST_TRACE && !a->view) {
		flight = gprof_exchange_value(a, "flight", value, sizeof(value));
		if (flight > 0)
			flight = strcmp(value, "0") != 0;
	}
	if (flight < 0)
		return flight;
	if (flight || a->request.kind == GPROF_REQUEST_TASK ||
	    a->request.kind == GPROF_REQUEST_CUSTOM)
		return at_moment(a, flight);
	return a->view ? view(a) : record(a);
}

/* A client that is gone needs no sentence; a failure below has left its own with the thread. */
static int make_for(struct exchange *a)
{
	int err;

	gprof_cancel_begin(&a->cancel);
	err = make(a);
	if (gprof_is_cancelled())
		err = -ECONNABORTED;
	gprof_cancel_end();
	if (err && err != -ECONNABORTED && !a->e.text[0])
		snprintf(a->e.text, sizeof(a->e.text), "%s",
			 gprof_error()[0] ? gprof_error() : gprof_strerror(-err));
	return err;
}

/* Takes a place for a recording; 0, or -EBUSY with a status and a sentence. */
static int acquire_slot(struct exchange *a)
{
	const struct gprof_http_config *cfg = &a->h->cfg;
	const struct exchange *other;
	unsigned int n = 0;
	int err = 0;

	pthread_mutex_lock(&a->h->weighing);
	for (other = a->h->recording; other; other = other->next)
		n += other->rq->peer == a->rq->peer;
	if (a->h->busy >= cfg->max_recordings) {
		gprof_error_set(&a->e, EBUSY, "%u recordings are under way, which is all that are allowed "
				"at once; come back later", cfg->max_recordings);
		err = gprof_exchange_refuse(a, 503, -EBUSY);
	} else if (a->rq->peer && n >= cfg->max_peer_recordings) {
		gprof_error_set(&a->e, EBUSY, "%u recordings of this client are under way, and one client "
				"has no more at once; come back when one has ended", n);
		err = gprof_exchange_refuse(a, 429, -EBUSY);
	} else {
		a->h->busy++;
		a->next = a->h->recording;
		a->h->recording = a;
	}
	pthread_mutex_unlock(&a->h->weighing);
	return err;
}

static void release_slot(struct exchange *a)
{
	struct exchange **p = &a->h->recording;

	pthread_mutex_lock(&a->h->weighing);
	a->h->busy--;
	while (*p != a)
		p = &(*p)->next;
	*p = a->next;
	pthread_mutex_unlock(&a->h->weighing);
}

/* As many at once as are allowed, and no more. */
int gprof_exchange_record(struct exchange *a)
{
	int err = acquire_slot(a);

	if (err)
		return err;
	err = make_for(a);
	have_memory(a, 0);
	release_slot(a);
	/* No module is not a page that there is not. */
	if (err == -ENOENT && access(GPROF_DEVICE, F_OK))
		return gprof_exchange_refuse(a, 503, err);
	return err ? gprof_exchange_fail(a, err) : 0;
}
