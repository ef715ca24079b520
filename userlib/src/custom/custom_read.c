// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * custom_read.c: the reading end of published profiles.
 *
 * A file may be anything: cut off or grown while it is read, and with any numbers in it. It is
 * read, not mapped, and its addresses are only looked up in the kernel's mappings of the process.
 * A slot is read as custom_layout.h says.
 */
#include <gprof/custom.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/read_at.h"
#include "custom.h"
#include "custom_dir.h"
#include "custom_layout.h"
#include "custom_profile.h"

#define WHOLE_TRIES	16	/* until all slots are of one instant */
#define SLOT_TRIES	256
#define TRIES_AGAIN	16384	/* of all slots, beyond the first of each */
#define SLOTS_MAX	(2 * GPROF_CUSTOM_STACKS_MAX)	/* limit of a writer */

/* ---- the writer ---- */

/* The user of a process whose profiles the caller may read. */
static int owner_of(pid_t pid, uid_t *uid, struct gprof_error *e)
{
	char path[32];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d", pid);
	if (pid <= 0 || stat(path, &st))
		return gprof_error_set(e, ESRCH, "there is no process %d", pid);
	if (st.st_uid != geteuid() && geteuid())
		return gprof_error_set(e, EPERM, "process %d is another user's (%u); that user and "
				       "root can read its profiles", pid, st.st_uid);
	*uid = st.st_uid;
	return 0;
}

/*
 * A file of a directory of @uid's: that user's own, with one name, closed to others.
 * Descriptor, or -ENOENT or -EPERM.
 */
static int open_file(int dir, const char *file, uid_t uid)
{
	int fd = openat(dir, file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return errno == ENOENT ? -ENOENT : -EPERM;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_uid != uid || st.st_mode & 077 ||
	    st.st_nlink > 1) {
		close(fd);
		return -EPERM;
	}
	return fd;
}

/* ---- the contents ---- */

static int read_head(int fd, struct gprof_custom_head *h, const char *name, struct gprof_error *e)
{
	const char *wrong = NULL;

	if (gprof_read_at(fd, h, sizeof(*h), 0))
		wrong = "it is too short";
	else if (h->magic != GPROF_CUSTOM_MAGIC)
		wrong = "it has another beginning";
	else if (h->version != GPROF_CUSTOM_VERSION)
		return gprof_error_set(e, EBADMSG, "the profile \"%s\" is of version %u, and this "
				       "library reads version %d; use that of the program", name,
				       h->version, GPROF_CUSTOM_VERSION);
	else if (h->slot_size != sizeof(struct gprof_custom_slot) ||
		 h->nr_slots > SLOTS_MAX)
		wrong = "its numbers make no sense";
	return wrong ? gprof_error_set(e, EBADMSG, "the file of the profile \"%s\" is not one: %s",
				       name, wrong) : 0;
}

static void read_barrier(void)
{
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
}

/**
 * struct reading - slots of a file
 * @fd: file
 * @nr: slots
 * @slots: copies of the slots
 * @seqs: all of it read before and after, for the numbers alone
 * @again: how often a slot may still be read again
 * @copy: result
 */
struct reading {
	int fd;
	size_t nr;
	struct gprof_custom_slot *slots;
	struct gprof_custom_slot *seqs;
	unsigned int again;
	struct gprof_custom_copy *copy;
};

static bool read_slots(const struct reading *r, struct gprof_custom_slot *to)
{
	return !gprof_read_at(r->fd, to, r->nr * sizeof(*to), GPROF_CUSTOM_HEAD);
}

static bool read_changes(const struct reading *r, uint64_t *changes)
{
	return !gprof_read_at(r->fd, changes, sizeof(*changes),
		       offsetof(struct gprof_custom_head, changes));
}

/* How many slots there are now. */
static bool read_nr(const struct reading *r, size_t *nr)
{
	uint32_t n;

	if (gprof_read_at(r->fd, &n, sizeof(n), offsetof(struct gprof_custom_head, nr_slots)) ||
	    n > SLOTS_MAX)
		return false;
	*nr = n;
	return true;
}

/* Room for @nr slots; 0 or -ENOMEM. */
static int make_room(struct reading *r, size_t nr)
{
	free(r->slots);
	free(r->seqs);
	r->slots = calloc(nr + 1, sizeof(*r->slots));
	r->seqs = calloc(nr + 1, sizeof(*r->seqs));
	r->nr = nr;
	return r->slots && r->seqs ? 0 : -ENOMEM;
}

/* One slot, until it stands still. */
static bool read_slot(struct reading *r, size_t i)
{
	off_t at = GPROF_CUSTOM_HEAD + (off_t)(i * sizeof(struct gprof_custom_slot));
	off_t seq_at = at + (off_t)offsetof(struct gprof_custom_slot, seq);
	unsigned int tries;
	uint64_t seq, then;

	for (tries = 0; tries < SLOT_TRIES; tries++) {
		if (gprof_read_at(r->fd, &seq, sizeof(seq), seq_at))
			return false;
		read_barrier();		/* D: pairs with B in custom_share.c */
		if (gprof_read_at(r->fd, &r->slots[i], sizeof(r->slots[i]), at))
			return false;
		read_barrier();		/* C: pairs with A */
		if (gprof_read_at(r->fd, &then, sizeof(then), seq_at))
			return false;
		if (seq == then && !(seq & 1))
			return true;
		if (!r->again)
			break;
		r->again--;
	}
	r->slots[i].count = 0;
	r->copy->unsteady++;
	return true;
}

/* All slots, by themselves. @r->seqs: their numbers before */
static bool settle(struct reading *r)
{
	struct gprof_custom_slot *before = r->seqs;
	size_t i, nr;

	r->copy->moving = true;
	for (i = 0; i < r->nr; i++) {
		if (before[i].seq == r->slots[i].seq && !before[i].count && !r->slots[i].count)
			continue;
		if (!read_slot(r, i))
			return false;
	}
	if (!read_nr(r, &nr))
		return false;
	r->copy->grew = nr > r->nr;
	return true;
}

/*
 * Of one instant if possible, else each slot of one of its own. Slots that cannot be read are cut
 * off: 0, -EBADMSG or -ENOMEM.
 */
static int read_all(struct reading *r)
{
	uint64_t before, after;
	unsigned int tries;
	size_t nr;

	for (tries = 0; tries < WHOLE_TRIES; tries++) {
		if (!read_changes(r, &before))
			return -EBADMSG;
		read_barrier();		/* D: pairs with B in custom_share.c */
		if (!read_slots(r, r->slots))
			return -EBADMSG;
		read_barrier();		/* C: pairs with A */
		if (!read_changes(r, &after))
			return -EBADMSG;
		read_barrier();		/* pairs with B: slots come before they change */
		if (!read_nr(r, &nr))
			return -EBADMSG;
		if (nr != r->nr) {
			if (make_room(r, nr))
				return -ENOMEM;
			continue;
		}
		if (before == after && !(before & 1))
			return 0;
	}
	return read_slots(r, r->slots) && read_slots(r, r->seqs) && settle(r) ? 0 : -EBADMSG;
}

/* No writer has more frames than there is room for. */
static void mend(const struct reading *r)
{
	size_t i;

	for (i = 0; i < r->nr; i++)
		if (r->slots[i].nr > GPROF_CUSTOM_FRAMES_MAX)
			r->slots[i].nr = GPROF_CUSTOM_FRAMES_MAX;
}

static struct gprof_profile *read_file(int fd, pid_t pid, const char *name, struct gprof_error *e)
{
	struct gprof_custom_copy copy = { .name = name, .pid = pid };
	struct reading r = { .fd = fd, .again = TRIES_AGAIN, .copy = &copy };
	struct gprof_profile *p = NULL;
	struct gprof_custom_head h;
	int err;

	if (read_head(fd, &h, name, e))
		return NULL;
	err = make_room(&r, h.nr_slots);
	if (!err)
		err = read_all(&r);
	if (err == -ENOMEM) {
		gprof_error_set(e, ENOMEM, "no memory for a profile");
	} else if (err) {
		gprof_error_set(e, EBADMSG, "the file of the profile \"%s\" is not one: it is cut off",
				name);
	} else {
		mend(&r);
		copy.slots = r.slots;
		copy.nr = r.nr;
		copy.since_ns = h.since_ns;
		p = gprof_custom_make(&copy, e);
	}
	free(r.slots);
	free(r.seqs);
	return p;
}

/* ---- by name ---- */

static int refuse_directory(pid_t pid, uid_t uid, struct gprof_error *e)
{
	return gprof_error_set(e, EPERM, "process %d: the file of the profile, or its directory, is "
			       "not that of user %u alone (mode 0600, 0700); it is not read", pid, uid);
}

/*
 * Does the process that has the number now write it? A file without a writer is removed if it is
 * the caller's.
 */
static bool is_written_by(pid_t pid, int dir, const char *file, int fd, uid_t uid)
{
	pid_t holder = gprof_custom_file_holder(fd);
	struct stat st, now;

	/* A process with the number of a dead one may have put its own there since. */
	if (!holder && uid == geteuid() && !fstat(fd, &st) &&
	    !fstatat(dir, file, &now, AT_SYMLINK_NOFOLLOW) &&
	    st.st_dev == now.st_dev && st.st_ino == now.st_ino)
		unlinkat(dir, file, 0);
	return holder == pid;
}

/* A published profile: descriptor, or -errno with a sentence. */
static int open_published(pid_t pid, uid_t uid, const char *name, struct gprof_error *e)
{
	char file[GPROF_CUSTOM_FILE_SIZE];
	bool planted = false, found = false;
	int err = -ENOENT;
	unsigned int n;

	gprof_custom_file_of(name, file);
	for (n = 0; n < GPROF_CUSTOM_BASES; n++) {
		int base = gprof_custom_base_open(n, uid), dir, fd;

		/* The session may be the caller's own, and another user's profiles not there. */
		planted |= base == -EPERM && n;
		if (base < 0)
			continue;
		/* The last is seldom used. */
		found |= n < GPROF_CUSTOM_BASES - 1;
		dir = gprof_custom_pid_open(base, pid, uid);
		fd = dir < 0 ? dir : open_file(dir, file, uid);
		if (fd >= 0 && !is_written_by(pid, dir, file, fd, uid)) {
			close(fd);
			fd = -ENOENT;
		}
		if (dir >= 0)
			close(dir);
		close(base);
		if (fd >= 0)
			return fd;
		if (fd == -EPERM)
			err = fd;
	}
	/* Any user can make /tmp/gprof-UID; its errors count only where there is no other. */
	if (err == -EPERM || (planted && !found))
		return refuse_directory(pid, uid, e);
	return gprof_error_set(e, ENOENT, "process %d publishes no profile \"%s\" here: it may have "
			       "another /tmp or XDG_RUNTIME_DIR; gprofctl custom --list -p %d shows "
			       "those that it does", pid, name, pid);
}

static struct gprof_profile *read_published(pid_t pid, const char *name, struct gprof_error *e)
{
	struct gprof_profile *p;
	uid_t uid;
	int fd;

	if (gprof_custom_name_check(name, e) || owner_of(pid, &uid, e))
		return NULL;
	fd = open_published(pid, uid, name, e);
	if (fd < 0)
		return NULL;
	p = read_file(fd, pid, name, e);
	/* While it holds the lock, it was that process whose mappings were read. */
	if (p && gprof_custom_file_holder(fd) != pid) {
		gprof_profile_free(p);
		p = NULL;
		gprof_error_set(e, ESRCH, "process %d ended while its profile was read", pid);
	}
	close(fd);
	return p;
}

struct gprof_profile *gprof_custom_read(pid_t pid, const char *name)
{
	struct gprof_profile *p = NULL;
	struct gprof_error e = { 0 };

	/* Not through the file: to close it would let our own lock on it go. */
	if (pid == getpid())
		p = gprof_custom_own(name, &e);
	else
		p = read_published(pid, name, &e);
	if (!p)
		gprof_error_publish(&e);
	return p;
}

/* ---- which there are ---- */

typedef int (*show_fn)(void *ctx, const struct gprof_custom_info *info);

static int cannot_list(int err)
{
	return gprof_error_set(NULL, err, "the directory of published profiles cannot be read: %s",
			       gprof_strerror(err));
}

/* 0 or the return of @each. */
static int show_file(int dir, const char *file, pid_t pid, uid_t uid, show_fn each, void *ctx)
{
	char name[GPROF_CUSTOM_NAME_MAX + 1];
	struct gprof_custom_info info = { .name = name, .pid = pid };
	struct gprof_custom_head h;
	int fd, ret = 0;

	fd = open_file(dir, file, uid);
	if (fd < 0)
		return 0;
	if (is_written_by(pid, dir, file, fd, uid) && gprof_custom_name_of(file, name) &&
	    !read_head(fd, &h, name, NULL)) {
		info.count = h.added;
		ret = each(ctx, &info);
	}
	close(fd);
	return ret;
}

/* @dir is closed. */
static int show_pid(int dir, pid_t pid, uid_t uid, show_fn each, void *ctx)
{
	DIR *d = fdopendir(dir);
	struct dirent *entry;
	int ret = 0;

	if (!d) {
		ret = cannot_list(errno);
		close(dir);
		return ret;
	}
	while (!ret && (entry = readdir(d)))
		if (entry->d_name[0] != '.' || !strncmp(entry->d_name, ".new-", 5))
			ret = show_file(dirfd(d), entry->d_name, pid, uid, each, ctx);
	closedir(d);
	return ret;
}

static int show_one(int base, pid_t pid, uid_t uid, show_fn each, void *ctx)
{
	int dir = gprof_custom_pid_open(base, pid, uid), ret;

	if (dir < 0)
		return 0;
	ret = show_pid(dir, pid, uid, each, ctx);
	/* Where nothing is left in it. */
	if (uid == geteuid())
		gprof_custom_pid_remove(base, pid);
	return ret;
}

static int show_base(int base, uid_t uid, show_fn each, void *ctx)
{
	int again = openat(base, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), ret = 0;
	DIR *d = again < 0 ? NULL : fdopendir(again);
	struct dirent *entry;

	if (!d) {
		ret = cannot_list(errno);
		if (again >= 0)
			close(again);
		return ret;
	}
	while (!ret && (entry = readdir(d))) {
		char *end;
		long pid = strtol(entry->d_name, &end, 10);

		/* Our own were shown without their files. */
		if (!*end && pid > 0 && pid <= INT32_MAX && pid != getpid())
			ret = show_one(base, (pid_t)pid, uid, each, ctx);
	}
	closedir(d);
	return ret;
}

/* One directory may have two names: XDG_RUNTIME_DIR often is /run/user/UID. */
static bool was_read(int base, struct stat *seen, unsigned int *nr)
{
	unsigned int i;

	if (fstat(base, &seen[*nr]))
		return true;
	for (i = 0; i < *nr; i++)
		if (seen[i].st_dev == seen[*nr].st_dev && seen[i].st_ino == seen[*nr].st_ino)
			return true;
	++*nr;
	return false;
}

static int show_all(pid_t pid, uid_t uid, show_fn each, void *ctx)
{
	struct stat seen[GPROF_CUSTOM_BASES];
	unsigned int n, nr = 0;
	int ret = 0;

	for (n = 0; n < GPROF_CUSTOM_BASES && !ret; n++) {
		int base = gprof_custom_base_open(n, uid);

		if (base < 0)
			continue;
		if (!was_read(base, seen, &nr))
			ret = pid ? show_one(base, pid, uid, each, ctx) :
				    show_base(base, uid, each, ctx);
		close(base);
	}
	return ret;
}

int gprof_custom_each(pid_t pid, show_fn each, void *ctx)
{
	struct gprof_error e = { 0 };
	uid_t uid = geteuid();
	int ret = 0;

	if (pid && pid != getpid()) {
		ret = owner_of(pid, &uid, &e);
		if (ret) {
			gprof_error_publish(&e);
			return ret;
		}
	}
	if (!pid || pid == getpid())
		ret = gprof_custom_show(each, ctx);
	if (!ret && pid != getpid())
		ret = show_all(pid, uid, each, ctx);
	return ret;
}
