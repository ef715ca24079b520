// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * tabler.c: makes unwind tables beside a recording.
 */
#include "tabler.h"

#include <errno.h>
#include <linux/gprof.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/thread.h"
#include "device/device.h"
#include "unwind/unwind_cache.h"

#define NICE	5	/* than whoever records */

/* A file that tells nothing of its frames has no table, nor one that cannot be had now. */
static void make(const struct gprof_own_fd *device, struct gprof_unwind_cache *cache,
		 const struct gprof_tabler_file *f)
{
	struct gprof_unwind_blob blob = { 0 };
	int fd = f->own.fd, err;

	if (fd >= 0 && !gprof_own_fd_is(&f->own))
		return;
	/* Another recorder may have given it. */
	if (gprof_device_table(device, fd, NULL, 0, NULL) != -ENOENT)
		return;
	err = fd < 0 ? gprof_unwind_compile_vdso(&blob) :
			  gprof_unwind_cache_get(cache, fd, f->build_id, f->build_id_len, &blob);
	if (!err)
		gprof_device_table(device, fd, blob.data, blob.size,
				   f->python.size ? &f->python : NULL);
	gprof_unwind_blob_free(&blob);
}

/* Waits for one; false at the end. */
static bool next_file(struct gprof_tabler *t, struct gprof_tabler_file *f)
{
	bool more;

	pthread_mutex_lock(&t->lock);
	while (!t->nr && !t->end)
		pthread_cond_wait(&t->more, &t->lock);
	more = !t->end;
	if (more) {
		*f = t->files[0];
		t->nr--;
		memmove(t->files, t->files + 1, t->nr * sizeof(t->files[0]));
	}
	pthread_mutex_unlock(&t->lock);
	return more;
}

static void *tabler_thread(void *arg)
{
	struct gprof_tabler_file f = { .own = { .fd = -1 } };	/* the vDSO */
	struct gprof_unwind_cache *cache;
	struct gprof_tabler *t = arg;
	long tid = syscall(SYS_gettid);

	/* Of Linux threads each has its own. */
	setpriority(PRIO_PROCESS, (id_t)tid, getpriority(PRIO_PROCESS, (id_t)tid) + NICE);
	make(t->device, NULL, &f);
	/* Where there is no place for it, or others may write to that, all is compiled. */
	gprof_unwind_cache_open(&cache, NULL, 0);
	while (next_file(t, &f)) {
		make(t->device, cache, &f);
		gprof_own_fd_close(&f.own);
	}
	gprof_unwind_cache_close(cache);
	return NULL;
}

void gprof_tabler_begin(struct gprof_tabler *t, const struct gprof_own_fd *device)
{
	memset(t, 0, sizeof(*t));
	t->device = device;
	if (!device)
		return;
	pthread_mutex_init(&t->lock, NULL);
	pthread_cond_init(&t->more, NULL);
	t->running = !gprof_thread_start(&t->thread, tabler_thread, t, "gprof-tables");
}

void gprof_tabler_look(struct gprof_tabler *t, struct gprof_objects *objects)
{
	size_t i;

	if (!t->running)
		return;
	pthread_mutex_lock(&t->lock);
	for (i = 0; i < objects->nr && t->nr < GPROF_TABLER_WAITING; i++) {
		struct gprof_object *obj = objects->v[i];
		struct gprof_tabler_file *f = &t->files[t->nr];
		const struct gprof_python_object *python;
		int fd;

		/* Of what runs elsewhere, or as the data of an emulator, no stack is here. */
		if (obj->tabled || !obj->file || obj == objects->vdso || obj->foreign)
			continue;
		/* What was closed to make room is not opened again for this. */
		fd = gprof_object_dup(obj);
		obj->tabled = true;
		if (fd < 0)
			continue;
		gprof_own_fd_take(&f->own, fd);
		memcpy(f->build_id, obj->build_id, obj->build_id_len);
		f->build_id_len = obj->build_id_len;
		python = gprof_object_python(obj);
		if (obj->other_python)
			t->other_python = obj->other_python;
		f->python = python ? python->interpreter.kernel :
				      (struct gprof_python){ 0 };
		t->nr++;
	}
	pthread_cond_signal(&t->more);
	pthread_mutex_unlock(&t->lock);
}

void gprof_tabler_end(struct gprof_tabler *t)
{
	size_t i;

	if (!t->running)
		return;
	pthread_mutex_lock(&t->lock);
	t->end = true;
	pthread_cond_signal(&t->more);
	pthread_mutex_unlock(&t->lock);
	pthread_join(t->thread, NULL);
	for (i = 0; i < t->nr; i++)
		gprof_own_fd_close(&t->files[i].own);
	pthread_cond_destroy(&t->more);
	pthread_mutex_destroy(&t->lock);
	t->running = false;
}
