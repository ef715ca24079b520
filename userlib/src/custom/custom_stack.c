// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * custom_stack.c: the stack of the calling thread, as the module finds it.
 *
 * One open device serves the process. It is set up as a recorder that is never started,
 * so that the module walks by unwind tables; where that is refused it walks by frame
 * records, as it does on a device that is not set up. Tables are those of files that are
 * mapped when the device is opened, and later whenever the stamp of the mappings, which
 * comes with each stack, has changed.
 *
 * This file is compiled with frame pointers, so that records lead out of the library.
 */
#include "custom_stack.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/gprof.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/proc_maps.h"
#include "base/regular_file.h"
#include "base/system_call.h"
#include "device/device.h"
#include "symbol/python_file.h"
#include "unwind/unwind_cache.h"

#define WALKED_MAX	127	/* frames that the module walks */
#define LOOK_NS		100000000ULL	/* mappings that change all the time are read so often */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;	/* protects the variables below */
static struct gprof_own_fd own;	/* set before @device */
static atomic_int device = -1;
static bool by_tables;
static uint64_t looked_ns;
static _Atomic uint32_t looked_layout;

void gprof_custom_stacks_lock(void)
{
	pthread_mutex_lock(&lock);
}

void gprof_custom_stacks_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

/*
 * Not by ioctl(), which has no frame record; nor may it be part of another function, whose
 * record would lead past it.
 */
__attribute__((noinline)) static long call(int fd, struct gprof_self_stack *arg)
{
	/*
	 * forces a record, with any options of the compiler; without outputs it stays where it is
	 */
	__asm__("" : : "r"(__builtin_frame_address(0)));
#ifdef GPROF_HAS_SYSTEM_CALL
	return gprof_syscall(SYS_ioctl, fd, GPROF_IOC_SELF_STACK, (long)arg, 0, 0, 0);
#else
	return ioctl(fd, GPROF_IOC_SELF_STACK, arg) ? -errno : 0;
#endif
}

/* ---- tables ---- */

/* Missing tables are no error: stacks say where the unwinding ended. */
static void add_file_table(struct gprof_unwind_cache *cache, int fd, const char *path)
{
	struct gprof_unwind_blob blob = { 0 };
	struct gprof_interpreter python;
	bool has;

	if (gprof_device_table(&own, fd, NULL, 0, NULL) != -ENOENT)
		return;
	/* Other recorders of the user have the table too, and may want to know. */
	has = path && gprof_python_is_named(path) && !gprof_python_read_file(fd, &python);
	if (!(fd < 0 ? gprof_unwind_compile_vdso(&blob) :
		       gprof_unwind_cache_get(cache, fd, NULL, 0, &blob, NULL)))
		gprof_device_table(&own, fd, blob.data, blob.size,
				   has ? &python.kernel : NULL);
	gprof_unwind_blob_free(&blob);
}

struct table_pass {
	struct gprof_unwind_cache *cache;
	char last[PATH_MAX];
};

/* Files have several mappings in a row. */
static int add_map_table(void *ctx, const struct gprof_proc_map *m)
{
	struct table_pass *g = ctx;
	struct stat st;
	int look, fd;

	if (!m->code || m->path[0] != '/' || strlen(m->path) >= sizeof(g->last) ||
	    !strcmp(g->last, m->path))
		return 0;
	strcpy(g->last, m->path);
	look = gprof_open_path(g->last, 0, &st);
	if (look < 0)
		return 0;
	fd = gprof_reopen(look);
	close(look);
	if (fd < 0)
		return 0;
	add_file_table(g->cache, fd, g->last);
	close(fd);
	return 0;
}

/* Under @lock. */
static void add_tables(void)
{
	struct table_pass g = { .last = "" };
	FILE *f = fopen("/proc/self/maps", "re");

	if (!f)
		return;
	add_file_table(NULL, -1, NULL);
	gprof_unwind_cache_open(&g.cache, NULL, NULL, 0);
	gprof_proc_maps_each(f, add_map_table, &g);
	gprof_unwind_cache_close(g.cache);
}

/* The stamp of the mappings; 0: it is not told. */
static uint32_t layout_of(int fd)
{
	uint64_t frame;
	struct gprof_self_stack arg = {
		.size = sizeof(arg), .frames = (uintptr_t)&frame, .max_frames = 1,
	};

	return call(fd, &arg) ? 0 : arg.out_exec_map_seq;
}

/* The mappings are others than when tables were made; false: that was not done. */
static bool refresh_tables(uint32_t layout)
{
	bool done = false;

	pthread_mutex_lock(&lock);
	if (atomic_load(&looked_layout) != layout && now_ns() - looked_ns >= LOOK_NS) {
		looked_ns = now_ns();
		add_tables();
		atomic_store(&looked_layout, layout);
		done = true;
	}
	pthread_mutex_unlock(&lock);
	return done;
}

/* ---- the device ---- */

/* It does not record: it is set up for the stacks of its owner. */
static bool set_up(int fd)
{
	struct gprof_task_params params = { .size = sizeof(params) };
	struct gprof_setup setup = {
		.size = sizeof(setup),
		.kind = GPROF_KIND_TASK,
		.target = GPROF_TARGET_PROCESS,
		.id = getpid(),
		.stack = GPROF_STACK_F_IP | GPROF_STACK_F_USER | GPROF_STACK_F_TABLES,
		.params = (uintptr_t)&params,
		.buffer_size = (uint64_t)sysconf(_SC_PAGESIZE),
	};

	return !ioctl(fd, GPROF_IOC_SETUP, &setup);
}

static int open_locked(struct gprof_error *e)
{
	struct gprof_info info;
	int err;

	if (atomic_load(&device) >= 0)
		return 0;
	err = gprof_device_open(&own, e);
	if (err)
		return err;
	err = gprof_device_info(&own, &info, e);
	if (!err && !(info.out_features & GPROF_FEAT_SELF_STACK))
		err = gprof_error_set(e, EOPNOTSUPP,
				      "this gprof.ko cannot give a thread its own stack; install "
				      "module and library of one release");
	if (err) {
		gprof_own_fd_close(&own);
		return err;
	}
	by_tables = info.out_features & GPROF_FEAT_TABLES && set_up(own.fd);
	atomic_store(&device, own.fd);
	if (by_tables) {
		/* Before they are read: a change meanwhile leads to another pass. */
		atomic_store(&looked_layout, layout_of(own.fd));
		looked_ns = now_ns();
		add_tables();
	}
	return 0;
}

int gprof_custom_stacks_open(struct gprof_error *e)
{
	int err;

	pthread_mutex_lock(&lock);
	err = open_locked(e);
	pthread_mutex_unlock(&lock);
	return err;
}

/* ---- stacks ---- */

static long capture(struct gprof_self_stack *arg, uint64_t *frames)
{
	long err;

	*arg = (struct gprof_self_stack){
		.size = sizeof(*arg), .frames = (uintptr_t)frames, .max_frames = WALKED_MAX,
	};
	err = call(atomic_load_explicit(&device, memory_order_relaxed), arg);
	/* keeps the record of this function below the call, too */
	__asm__("" : : "r"(__builtin_frame_address(0)));
	return err;
}

int gprof_custom_stack(struct gprof_custom_slot *s, const void *caller, unsigned int skip,
		       struct gprof_error *e)
{
	uint64_t frames[WALKED_MAX], first = (uintptr_t)caller;
	struct gprof_self_stack arg;
	size_t i = 0, nr;
	long err = capture(&arg, frames);

	if (!err && by_tables &&
	    arg.out_exec_map_seq != atomic_load_explicit(&looked_layout, memory_order_relaxed) &&
	    refresh_tables(arg.out_exec_map_seq))
		err = capture(&arg, frames);
	if (err && !gprof_own_fd_is(&own))
		return gprof_error_set(e, EBADF, "the program has closed %s, descriptor %d; leave "
				       "open the library's descriptors", GPROF_DEVICE,
				       atomic_load(&device));
	if (err)
		return gprof_error_set(e, (int)-err, "%s: STACK failed: %s", GPROF_DEVICE,
				       gprof_strerror((int)-err));
	s->flags = arg.out_flags;
	nr = arg.out_frames;
	while (i < nr && frames[i] != first)
		i++;
	/* The walk has lost its way in the library; that much is known all the same. */
	if (i == nr) {
		frames[0] = first;
		i = 0;
		nr = 1;
		s->flags |= GPROF_STACK_REC_F_USER_CUT;
	}
	i = skip < nr - i ? i + skip : nr;
	nr -= i;
	if (nr > GPROF_CUSTOM_FRAMES_MAX) {
		nr = GPROF_CUSTOM_FRAMES_MAX;
		s->flags |= GPROF_STACK_REC_F_USER_CUT;
	}
	s->nr = (uint32_t)nr;
	memcpy(s->frames, frames + i, nr * sizeof(*frames));
	memset(s->frames + nr, 0, (GPROF_CUSTOM_FRAMES_MAX - nr) * sizeof(*frames));
	return 0;
}
