// SPDX-License-Identifier: GPL-2.0-only
/*
 * A thread that records windows into a store. It looks at the wall clock once a minute, so
 * that a clock that is set moves the next window by no more.
 */
#include "window_recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <gprof/trace_record.h>

#include "base/clock.h"
#include "cli/cmd.h"
#include "cli/diag.h"
#include "item_make.h"
#include "record/kinds.h"
#include "trace/trace_options.h"
#include "helper_thread.h"

#define SECOND_NS	1000000000ULL
#define LOOK_NS		(60 * SECOND_NS)
#define SIZE_NS		(SECOND_NS / 10)	/* so often a trace's size is looked at */
#define HOST_ID		128

/**
 * struct window_recorder - the thread
 * @store: where to
 * @dir: for a trace in the making
 * @trace_bytes: it is ended when it is that large
 * @host: name of the host
 * @id: unique number
 * @windows: windows to record
 * @nr: how many
 * @helper: the thread; its lock protects all below, and it is woken to end
 * @stopping: likewise
 * @said: that one could not be recorded
 * @counts: counts of them
 */
struct window_recorder {
	struct store *store;
	const char *dir;
	uint64_t trace_bytes;
	const char *host;
	char id[HOST_ID];
	struct scheduled_window windows[WINDOW_RECORDER_MAX];
	size_t nr;
	struct helper_thread helper;
	bool stopping, said;
	struct window_recorder_counts counts;
};

/* Is it over? */
static bool sleep_for(struct window_recorder *r, uint64_t ns)
{
	uint64_t until = now_ns() + ns;
	struct timespec t = { (time_t)(until / SECOND_NS), (long)(until % SECOND_NS) };
	bool over;

	pthread_mutex_lock(&r->helper.lock);
	while (!r->stopping && !pthread_cond_timedwait(&r->helper.wake, &r->helper.lock, &t))
		;
	over = r->stopping;
	pthread_mutex_unlock(&r->helper.lock);
	return over;
}

static bool make_trace(void *ctx, const struct gprof_trace_config *cfg)
{
	struct gprof_trace_recorder **recorder = ctx;

	*recorder = gprof_trace_recorder_new(cfg);
	return *recorder;
}

/* A file without a name, which is gone with the process. Not in memory: that is bounded. */
static int open_unnamed(const char *dir)
{
	int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	char *name;

	/* Not all filesystems have these. */
	if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT))
		return fd;
	name = xprintf("%s/.trace-XXXXXX", dir);
	fd = mkostemp(name, O_CLOEXEC);
	if (fd >= 0)
		unlink(name);
	free(name);
	return fd;
}

/* Until it is over, or it is as large as it may be: is that so? */
static bool record_until(struct window_recorder *r, int fd, uint64_t ns)
{
	uint64_t end = now_ns() + ns, now;
	struct stat st;

	while ((now = now_ns()) < end) {
		if (sleep_for(r, end - now < SIZE_NS ? end - now : SIZE_NS))
			return false;
		if (!fstat(fd, &st) && (uint64_t)st.st_size >= r->trace_bytes)
			return true;
	}
	return false;
}

static void note_cut(struct window_recorder *r, const struct scheduled_window *w)
{
	pthread_mutex_lock(&r->helper.lock);
	if (!r->counts.cut++)
		diag("a sampled window, %s, ended when its trace had %llu KiB; others are counted",
		     w->text, (unsigned long long)(r->trace_bytes >> 10));
	pthread_mutex_unlock(&r->helper.lock);
}

static int record_trace(struct window_recorder *r, const struct scheduled_window *w)
{
	struct trace_wants wants = {
		.cfg = { .sz = sizeof(wants.cfg), .target.type = GPROF_SYSTEM },
	};
	struct gprof_trace_recorder *recorder = NULL;
	uint64_t start = clock_now_ns(CLOCK_REALTIME), begun = now_ns();
	int fd = open_unnamed(r->dir), err = fd < 0 ? -errno : 0;

	if (!err && (!trace_wants_try(&wants, make_trace, &recorder) ||
		     gprof_trace_recorder_start(recorder, fd)))
		err = -EIO;
	if (!err) {
		if (record_until(r, fd, w->ns))
			note_cut(r, w);
		if (gprof_trace_recorder_stop(recorder))
			err = -EIO;
		else
			err = item_put_trace(r->store, fd, start,
					     now_ns() - begun, r->host);
	}
	gprof_trace_recorder_free(recorder);
	if (fd >= 0)
		close(fd);
	return err;
}

static int record_profile(struct window_recorder *r, const struct scheduled_window *w)
{
	const struct gprof_target all = { .type = GPROF_SYSTEM };
	struct kinds k = { .services = true };
	struct gprof_recorder *recorder;
	struct gprof_profile *p = NULL;
	int err = -EIO;

	kinds_add(&k, w->kind, NULL);
	k.kinds[0].rate = w->rate;
	recorder = kinds_recorder(&k, &all, false);
	if (recorder && !gprof_recorder_start_events(recorder, NULL, 1)) {
		sleep_for(r, w->ns);
		if (!gprof_recorder_stop_profiles(recorder, &p, 1))
			err = item_put_profile(r->store, p, w->kind, r->host);
		else
			gprof_profile_free(p);
	}
	gprof_recorder_free(recorder);
	return err;
}

static void record_window(struct window_recorder *r, const struct scheduled_window *w)
{
	bool trace = !strcmp(w->kind, "trace");
	int err = trace ? record_trace(r, w) : record_profile(r, w);

	pthread_mutex_lock(&r->helper.lock);
	if (!err)
		r->counts.recorded++;
	else
		r->counts.failed++;
	if (err && !r->said)
		diag("a sampled window, %s, could not be recorded: %s; others are counted", w->text,
		     err == -EIO ? gprof_error() : strerror(-err));
	r->said |= err != 0;
	pthread_mutex_unlock(&r->helper.lock);
}

static void note_missed(struct window_recorder *r)
{
	pthread_mutex_lock(&r->helper.lock);
	r->counts.missed++;
	pthread_mutex_unlock(&r->helper.lock);
}

/* The window that begins first, of those to come. */
static const struct scheduled_window *next_window(struct window_recorder *r, uint64_t now,
						  uint64_t *begin)
{
	const struct scheduled_window *next = NULL;

	*begin = UINT64_MAX;
	for (size_t i = 0; i < r->nr; i++) {
		uint64_t at = scheduled_window_next(&r->windows[i], r->id, now);

		if (at < *begin) {
			*begin = at;
			next = &r->windows[i];
		}
	}
	pthread_mutex_lock(&r->helper.lock);
	r->counts.next_ns = *begin;
	pthread_mutex_unlock(&r->helper.lock);
	return next;
}

static void *run(void *arg)
{
	struct window_recorder *r = arg;
	const struct scheduled_window *w;
	uint64_t begin, now, after = clock_now_ns(CLOCK_REALTIME);

	for (;;) {
		w = next_window(r, after, &begin);
		now = clock_now_ns(CLOCK_REALTIME);
		if (w && now >= begin) {
			/*
			 * One whose time has passed meanwhile, another having been recorded or
			 * the clock having been set, is not.
			 */
			if (now - begin < LOOK_NS)
				record_window(r, w);
			else
				note_missed(r);
			after = begin + 1;
			if (sleep_for(r, 0))
				break;
			continue;
		}
		/*
		 * Set back: a window that was recorded is not recorded again, but later ones are.
		 */
		if (begin == UINT64_MAX || begin - now > 26 * 3600 * SECOND_NS)
			after = now;
		if (sleep_for(r, begin - now < LOOK_NS ? begin - now : LOOK_NS))
			break;
	}
	return NULL;
}

/* As systemd has it; else two hosts differ by their names. */
static void read_id(struct window_recorder *r)
{
	FILE *f = fopen("/etc/machine-id", "re");

	if (f && fgets(r->id, sizeof(r->id), f))
		r->id[strcspn(r->id, "\n")] = '\0';
	if (f)
		fclose(f);
	if (!r->id[0])
		snprintf(r->id, sizeof(r->id), "%s", r->host);
}

struct window_recorder *window_recorder_start(struct store *store, const char *dir,
					      uint64_t trace_bytes, const char *host,
					      const struct scheduled_window *windows, size_t nr,
					      int *status)
{
	struct window_recorder *r = xalloc(1, sizeof(*r));
	int err;

	r->store = store;
	r->dir = dir;
	r->trace_bytes = trace_bytes;
	r->host = host;
	r->nr = nr;
	memcpy(r->windows, windows, nr * sizeof(*windows));
	read_id(r);
	err = helper_thread_start(&r->helper, run, r);
	if (!err)
		return r;
	*status = fail("no thread for sampled windows can be started: %s", strerror(err));
	free(r);
	return NULL;
}

void window_recorder_stop(struct window_recorder *r)
{
	if (!r)
		return;
	pthread_mutex_lock(&r->helper.lock);
	r->stopping = true;
	pthread_cond_signal(&r->helper.wake);
	pthread_mutex_unlock(&r->helper.lock);
	helper_thread_join(&r->helper);
	free(r);
}

void window_recorder_counts(struct window_recorder *r, struct window_recorder_counts *out)
{
	pthread_mutex_lock(&r->helper.lock);
	*out = r->counts;
	pthread_mutex_unlock(&r->helper.lock);
}
