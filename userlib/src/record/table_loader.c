// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * table_loader.c: makes unwind tables beside a recording.
 */
#include "table_loader.h"

#include <errno.h>
#include <linux/gprof.h>
#include <sched.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/cancel.h"
#include "base/clock.h"
#include "base/thread.h"
#include "device/device.h"
#include "program_files.h"
#include "target_files.h"
#include "unwind/unwind_cache.h"

#define NICE		5	/* than the program that records */
#define PREPARE_MS	3000
#define PROGRESS_MS	100
#define NS		1000000000ULL
#define GRACE_NS	(2 * NS)	/* for a table at the end: the next recording has it then */

/* A file that tells nothing of its frames has no table, nor one that cannot be had now. */
static void make(const struct gprof_own_fd *device, struct gprof_unwind_cache *cache,
		 const struct gprof_table_loader_file *f)
{
	struct gprof_unwind_blob blob = { 0 };
	int fd = f->own.fd, err;

	if (fd >= 0 && !gprof_own_fd_is(&f->own))
		return;
	/* Another recorder may have given it. */
	if (gprof_device_table(device, fd, NULL, 0, NULL) != -ENOENT)
		return;
	err = fd < 0 ? gprof_unwind_compile_vdso(&blob) :
		       gprof_unwind_cache_get(cache, fd, f->build_id, f->build_id_len, &blob, NULL);
	if (!err)
		gprof_device_table(device, fd, blob.data, blob.size,
				   f->python.size ? &f->python : NULL);
	gprof_unwind_blob_free(&blob);
}

/* Waits for one, which is worked at then; false: this thread is not needed any more. */
static bool next_file(struct gprof_table_loader *t, struct gprof_table_loader_file *f, bool first,
		      bool *eager)
{
	bool more;

	pthread_mutex_lock(&t->lock);
	while (!t->nr && !t->end && (first || t->preparing)) {
		if (!t->busy)
			pthread_cond_signal(&t->idle);
		pthread_cond_wait(&t->more, &t->lock);
	}
	more = t->nr && !t->end && (first || t->preparing);
	*eager = t->done < t->eager;
	if (more) {
		*f = t->files[0];
		t->nr--;
		memmove(t->files, t->files + 1, t->nr * sizeof(t->files[0]));
		t->busy++;
	}
	pthread_mutex_unlock(&t->lock);
	return more;
}

static void is_done(struct gprof_table_loader *t)
{
	pthread_mutex_lock(&t->lock);
	t->done++;
	t->busy--;
	pthread_mutex_unlock(&t->lock);
}

/* Of Linux' threads each has a nice value of its own, which it may not lower again. */
static void run_nice(void)
{
	id_t tid = (id_t)syscall(SYS_gettid);

	setpriority(PRIO_PROCESS, tid, getpriority(PRIO_PROCESS, tid) + NICE);
}

static bool is_given_up(void *arg)
{
	struct gprof_table_loader *t = arg;
	bool given_up;

	pthread_mutex_lock(&t->lock);
	given_up = t->end && now_ns() >= t->end_ns;
	pthread_mutex_unlock(&t->lock);
	return given_up;
}

static void work(struct gprof_table_loader *t, bool first)
{
	struct gprof_table_loader_file f = { .own = { .fd = -1 } };	/* the vDSO */
	struct gprof_cancel cancel = { .poll = is_given_up, .ctx = t };
	struct gprof_unwind_cache *cache;
	bool nice = false, eager;

	gprof_cancel_begin(&cancel);
	if (first) {
		make(t->device, NULL, &f);
		is_done(t);
	}
	/* Where there is no place for it, or others may write to that, all is compiled. */
	gprof_unwind_cache_open(&cache, NULL, NULL, 0);
	while (next_file(t, &f, first, &eager)) {
		if (!eager && !nice) {
			run_nice();
			nice = true;
		}
		make(t->device, cache, &f);
		gprof_own_fd_close(&f.own);
		is_done(t);
	}
	gprof_unwind_cache_close(cache);
	gprof_cancel_end();
}

static void *first_thread(void *arg)
{
	work(arg, true);
	return NULL;
}

static void *more_thread(void *arg)
{
	work(arg, false);
	return NULL;
}

static void start_thread(struct gprof_table_loader *t, void *(*run)(void *arg))
{
	if (!gprof_thread_start(&t->threads[t->nr_threads], run, t, "gprof-tables"))
		t->nr_threads++;
}

void gprof_table_loader_begin(struct gprof_table_loader *t, const struct gprof_own_fd *device)
{
	pthread_condattr_t attr;

	memset(t, 0, sizeof(*t));
	t->device = device;
	if (!device)
		return;
	pthread_mutex_init(&t->lock, NULL);
	pthread_cond_init(&t->more, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&t->idle, &attr);
	pthread_condattr_destroy(&attr);
	/* The vDSO's is the first; until it is there no recording has begun. */
	t->busy = 1;
	t->eager = SIZE_MAX;
	start_thread(t, first_thread);
	t->running = t->nr_threads;
}

/* Code for another machine, or data of an emulator, has no stacks here. */
static bool is_wanted(const struct gprof_objects *objects, const struct gprof_object *obj)
{
	return obj->file && obj != objects->vdso && !obj->foreign;
}

/* One on each CPU, as the program that waits for them has nothing else to do. */
static void start_more(struct gprof_table_loader *t)
{
	cpu_set_t cpus;
	int nr = sched_getaffinity(0, sizeof(cpus), &cpus) ? 1 : CPU_COUNT(&cpus);

	t->preparing = true;
	while (nr-- > 1 && t->nr_threads < GPROF_TABLE_LOADER_THREADS)
		start_thread(t, more_thread);
}

/* Until there is no work, or then; how many were worked at. */
static size_t wait_idle(struct gprof_table_loader *t, uint64_t until, bool *idle)
{
	struct timespec ts = { (time_t)(until / NS), (long)(until % NS) };
	size_t done;
	int err = 0;

	pthread_mutex_lock(&t->lock);
	while ((t->nr || t->busy) && !err)
		err = pthread_cond_timedwait(&t->idle, &t->lock, &ts);
	*idle = !t->nr && !t->busy;
	done = t->done;
	pthread_mutex_unlock(&t->lock);
	return done;
}

static void make_tables(struct gprof_table_loader *t, struct gprof_objects *o,
			const struct gprof_prepare *how)
{
	uint64_t until = now_ns() + (how->timeout_ms ? how->timeout_ms : PREPARE_MS) * 1000000ULL;
	size_t done, nr = 1, i;	/* the vDSO */
	bool all, idle;

	for (i = 0; i < o->nr; i++)
		nr += is_wanted(o, o->v[i]);
	do {
		uint64_t look = now_ns() + PROGRESS_MS * 1000000ULL;

		all = gprof_table_loader_scan(t, o);
		done = wait_idle(t, look < until ? look : until, &idle);
		if (how->progress && how->progress(how->ctx, done, nr)) {
			t->interrupted = true;
			break;
		}
	} while (!(all && idle) && now_ns() < until);
}

void gprof_table_loader_prepare(struct gprof_table_loader *t, const struct gprof_target *target,
				const struct gprof_prepare *how)
{
	struct gprof_objects o;

	if (!t->running)
		return;
	gprof_objects_init(&o);
	/* Without memory for all of them, some. */
	if (how->program)
		gprof_program_files(how->program, &o);
	else
		gprof_target_files(target, &o);
	start_more(t);
	make_tables(t, &o, how);
	gprof_objects_free(&o);
	pthread_mutex_lock(&t->lock);
	t->preparing = false;
	t->eager = t->done + t->busy + t->nr;
	pthread_cond_broadcast(&t->more);
	pthread_mutex_unlock(&t->lock);
}

bool gprof_table_loader_scan(struct gprof_table_loader *t, struct gprof_objects *objects)
{
	size_t i;

	if (!t->running)
		return true;
	pthread_mutex_lock(&t->lock);
	for (i = 0; i < objects->nr && t->nr < GPROF_TABLE_LOADER_WAITING; i++) {
		struct gprof_object *obj = objects->v[i];
		struct gprof_table_loader_file *f = &t->files[t->nr];
		const struct gprof_python_object *python;
		int fd;

		if (obj->tabled || !is_wanted(objects, obj))
			continue;
		/* A file that was closed to make room is not opened again for this. */
		fd = gprof_object_dup(obj);
		obj->tabled = true;
		if (fd < 0)
			continue;
		gprof_own_fd_adopt(&f->own, fd);
		memcpy(f->build_id, obj->build_id, obj->build_id_len);
		f->build_id_len = obj->build_id_len;
		python = gprof_object_python(obj);
		if (obj->other_python)
			t->other_python = obj->other_python;
		f->python = python ? python->interpreter.kernel :
				      (struct gprof_python){ 0 };
		t->nr++;
	}
	pthread_cond_broadcast(&t->more);
	pthread_mutex_unlock(&t->lock);
	return i == objects->nr;
}

void gprof_table_loader_end(struct gprof_table_loader *t)
{
	size_t i;

	if (!t->running)
		return;
	pthread_mutex_lock(&t->lock);
	t->end = true;
	t->end_ns = t->interrupted ? 0 : now_ns() + GRACE_NS;
	pthread_cond_broadcast(&t->more);
	pthread_mutex_unlock(&t->lock);
	for (i = 0; i < t->nr_threads; i++)
		pthread_join(t->threads[i], NULL);
	for (i = 0; i < t->nr; i++)
		gprof_own_fd_close(&t->files[i].own);
	pthread_cond_destroy(&t->more);
	pthread_cond_destroy(&t->idle);
	pthread_mutex_destroy(&t->lock);
	t->running = false;
}
