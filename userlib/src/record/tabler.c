// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * tabler.c: compiles unwind tables beside a recording.
 */
#include "tabler.h"

#include <errno.h>
#include <linux/gprof.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "unwind/unwind_table.h"

#define NICE	5	/* than whoever records */

/* Returns 0 or -errno; -ENOENT with no @blob: the module has none of that file. */
static int give(int device, int fd, const struct gprof_unwind_blob *blob)
{
	struct gprof_text_table arg = {
		.size = sizeof(arg),
		.flags = fd < 0 ? GPROF_TABLE_F_VDSO : 0,
		.fd = fd,
		.table = blob ? (uintptr_t)blob->data : 0,
		.table_size = blob ? blob->size : 0,
	};

	return ioctl(device, GPROF_IOC_TABLE, &arg) ? -errno : 0;
}

/* A file that tells nothing of its frames has no table, nor one that cannot be had now. */
static void compile(int device, int fd)
{
	struct gprof_unwind_blob blob = { 0 };
	int err;

	/* Another recorder may have given it. */
	if (give(device, fd, NULL) != -ENOENT)
		return;
	err = fd < 0 ? gprof_unwind_compile_vdso(&blob) : gprof_unwind_compile(fd, 0, &blob);
	if (!err)
		give(device, fd, &blob);
	gprof_unwind_blob_free(&blob);
}

/* Its descriptor, or -1 at the end. */
static int next_file(struct gprof_tabler *t)
{
	int fd = -1;

	pthread_mutex_lock(&t->lock);
	while (!t->nr && !t->end)
		pthread_cond_wait(&t->more, &t->lock);
	if (!t->end) {
		fd = t->fds[0];
		t->nr--;
		memmove(t->fds, t->fds + 1, t->nr * sizeof(t->fds[0]));
	}
	pthread_mutex_unlock(&t->lock);
	return fd;
}

static void *tabler_thread(void *arg)
{
	struct gprof_tabler *t = arg;
	long tid = syscall(SYS_gettid);
	int fd;

	/* Of Linux threads each has its own. */
	setpriority(PRIO_PROCESS, (id_t)tid, getpriority(PRIO_PROCESS, (id_t)tid) + NICE);
	compile(t->device, -1);
	while ((fd = next_file(t)) >= 0) {
		compile(t->device, fd);
		close(fd);
	}
	return NULL;
}

void gprof_tabler_begin(struct gprof_tabler *t, int device)
{
	memset(t, 0, sizeof(*t));
	t->device = device;
	if (device < 0)
		return;
	pthread_mutex_init(&t->lock, NULL);
	pthread_cond_init(&t->more, NULL);
	t->running = !pthread_create(&t->thread, NULL, tabler_thread, t);
	if (t->running)
		pthread_setname_np(t->thread, "gprof-tables");
}

void gprof_tabler_look(struct gprof_tabler *t, struct gprof_objects *objects)
{
	size_t i;

	if (!t->running)
		return;
	pthread_mutex_lock(&t->lock);
	for (i = 0; i < objects->nr && t->nr < GPROF_TABLER_WAITING; i++) {
		struct gprof_object *obj = objects->v[i];
		int fd;

		if (obj->tabled || !obj->file || obj == objects->vdso)
			continue;
		/* What was closed to make room is not opened again for this. */
		fd = gprof_pool_dup(obj->file);
		obj->tabled = true;
		if (fd >= 0)
			t->fds[t->nr++] = fd;
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
		close(t->fds[i]);
	pthread_cond_destroy(&t->more);
	pthread_mutex_destroy(&t->lock);
	t->running = false;
}
