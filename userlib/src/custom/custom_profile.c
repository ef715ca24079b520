// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * custom_profile.c: stacks and how many were added with each, as a profile with names.
 *
 * There are no recorded mappings: /proc/PID/maps has those of now. It may be another user's, and
 * is checked like the kernel's records.
 */
#include "custom_profile.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/gprof.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/proc_maps.h"
#include "profile/profile.h"
#include "record/resolve_names.h"
#include "symbol/mapped_file.h"
#include "symbol/process.h"

/*
 * Bytes that a profile may take. Stacks of a program have most of their callers in common;
 * a file may say that each of some million addresses is another.
 */
#define MEMORY_MAX	(256ULL << 20)

/* Start time of the process, as struct gprof_process has it, in whole ticks. */
static uint64_t start_of(pid_t pid)
{
	long hz = sysconf(_SC_CLK_TCK);
	uint64_t ticks;

	if (hz <= 0 || !gprof_process_start((uint32_t)pid, &ticks))
		return 0;
	return ticks * (1000000000ULL / (uint64_t)hz);
}

/*
 * On overlayfs maps have the inode of the file below, which its path does not lead to. But a path
 * there is still that of the file while it does not say that it was deleted. No link is in such a
 * path, but may have been put there since: none is followed, and nothing is looked at that is not
 * below @root, the root of the process. A kernel before 5.6 has no openat2(): no names then.
 */
static void resolve_overlay(struct gprof_map_rec *rec, int root, const char *path)
{
	struct open_how how = {
		.flags = O_PATH | O_NOFOLLOW | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
	};
	struct statfs fs;
	struct stat st;
	int fd;

	if (path[0] != '/' || root < 0)
		return;
	fd = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
	if (fd < 0)
		return;
	if (!fstatfs(fd, &fs) && fs.f_type == OVERLAYFS_SUPER_MAGIC && !fstat(fd, &st)) {
		rec->inode = st.st_ino;
		rec->dev_major = major(st.st_dev);
		rec->dev_minor = minor(st.st_dev);
	}
	close(fd);
}

struct reading {
	struct gprof_spaces *spaces;
	struct gprof_map_rec rec;
	int root;
};

static int on_map(void *ctx, const struct gprof_proc_map *m)
{
	struct reading *r = ctx;
	int err;

	if (!m->code)
		return 0;
	r->rec.start = m->start;
	r->rec.end = m->end;
	r->rec.offset = m->offset;
	r->rec.inode = m->inode;
	r->rec.dev_major = m->dev_major;
	r->rec.dev_minor = m->dev_minor;
	resolve_overlay(&r->rec, r->root, m->path);
	err = gprof_spaces_map(r->spaces, &r->rec, m->path[0] ? m->path : "//anon");
	r->rec.rec.flags = 0;
	return err;
}

static int read_maps(struct gprof_spaces *spaces, const struct gprof_process *id,
		     struct gprof_error *e)
{
	struct reading r = {
		.spaces = spaces,
		.rec = { .rec.type = GPROF_REC_MAP, .process = *id, .time = 1 },
	};
	char path[32];
	FILE *f;
	int err;

	snprintf(path, sizeof(path), "/proc/%u/maps", id->pid);
	f = fopen(path, "re");
	if (!f)
		return gprof_error_set(e, errno, "%s: %s; the names in a profile come from it", path,
				       gprof_strerror(errno));
	snprintf(path, sizeof(path), "/proc/%u/root", id->pid);
	r.root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	r.rec.rec.flags = GPROF_MAP_REC_F_FIRST;
	err = gprof_proc_maps_each(f, on_map, &r);
	if (r.root >= 0)
		close(r.root);
	return err ? gprof_error_set(e, -err, "no memory for a profile") : 0;
}

/* Frames of a slot are all return addresses; a stack begins with the call itself. */
static int add_slot(struct gprof_resolver *r, const struct gprof_custom_slot *slot,
		    const struct gprof_process *id)
{
	uint64_t frames[GPROF_CUSTOM_FRAMES_MAX];
	struct gprof_stack stack = { .process = *id, .time = 1 };
	int64_t count = slot->count > INT64_MAX ? INT64_MAX : (int64_t)slot->count;
	int err;

	stack.nr_user = (uint16_t)slot->nr;
	memcpy(frames, slot->frames, stack.nr_user * sizeof(*frames));
	if (stack.nr_user)
		frames[0]--;
	err = gprof_resolve_stack(r, &stack, frames);
	return err ? err : gprof_profile_add_sample(r->p, r->stack, r->nr_stack, NULL, 0, &count);
}

static int describe(struct gprof_profile *p, const struct gprof_custom_copy *copy,
		    uint64_t cut)
{
	int err = gprof_profile_add_column(p, copy->name, "count");

	if (err)
		return err;
	p->period_type = p->columns[0];
	p->default_type = p->period_type.type;
	p->period = 1;
	p->time_nanos = (int64_t)clock_now_ns(CLOCK_REALTIME);
	if (copy->since_ns > 0 && copy->since_ns < p->time_nanos)
		p->duration_nanos = p->time_nanos - copy->since_ns;
	if (cut)
		err = gprof_profile_commentf(p, "%llu stacks were cut: code without frame pointers "
					     "or unwind tables, or more than %d frames",
					     (unsigned long long)cut, GPROF_CUSTOM_FRAMES_MAX);
	if (!err && copy->unsteady)
		err = gprof_profile_commentf(p, "%zu stacks changed whenever they were read, and "
					     "are left out", copy->unsteady);
	if (!err && copy->moving)
		err = gprof_profile_commentf(p, "the program added and removed while it was read: "
					     "the number of each stack is of an instant of its own");
	if (!err && copy->grew)
		err = gprof_profile_commentf(p, "the program added stacks faster than they were read: "
					     "those behind the first %zu are left out", copy->nr);
	return err;
}

static int fill(struct gprof_profile *p, struct gprof_spaces *spaces,
		const struct gprof_process *id, const struct gprof_custom_copy *copy)
{
	struct gprof_resolver r;
	uint64_t cut = 0;
	size_t i;
	int err;

	for (i = 0; i < copy->nr; i++)
		cut += copy->slots[i].count && copy->slots[i].flags & GPROF_STACK_REC_F_USER_CUT;
	err = describe(p, copy, cut);
	if (err)
		return err;
	err = gprof_resolver_init(&r, p, spaces, id);
	for (i = 0; i < copy->nr && !err; i++)
		if (copy->slots[i].count)
			err = add_slot(&r, &copy->slots[i], id);
	if (!err)
		err = gprof_resolver_name(&r);
	gprof_resolver_free(&r);
	return err ? err : gprof_profile_finish(p);
}

struct gprof_profile *gprof_custom_make(const struct gprof_custom_copy *copy,
					struct gprof_error *e)
{
	struct gprof_process id = { .pid = (uint32_t)copy->pid, .start_ns = start_of(copy->pid) };
	struct gprof_profile *p = gprof_profile_new();
	struct gprof_spaces spaces;
	int err;

	if (!p || gprof_spaces_init(&spaces)) {
		gprof_profile_free(p);
		gprof_error_set(e, ENOMEM, "no memory for a profile");
		return NULL;
	}
	p->budget.max = MEMORY_MAX;
	err = read_maps(&spaces, &id, e);
	if (!err) {
		err = fill(p, &spaces, &id, copy);
		if (err && p->budget.exceeded)
			gprof_error_set(e, EFBIG, "the profile \"%s\" takes more memory than the "
					"%llu MiB that it may: its stacks have too many addresses",
					copy->name, MEMORY_MAX >> 20);
		else if (err)
			gprof_error_set(e, -err, "no memory for a profile");
	}
	gprof_spaces_free(&spaces);
	if (!err)
		return p;
	gprof_profile_free(p);
	return NULL;
}
