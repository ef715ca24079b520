// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * own_fd.c: the library's descriptors in the program's table of descriptors.
 *
 * Device and inode tell files apart, pipes and sockets too. They do not tell one open
 * /dev/gprof from another: if another of ours has got the number since, it was free meanwhile.
 */
#include "own_fd.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdatomic.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define FEW		16	/* below that a number is no better than another */
#define NUMBERS		4096	/* those above are not counted */

static atomic_uint turns[NUMBERS];

int gprof_own_fd_high(int fd)
{
	int least, high;

	/* The errno is why there is none. */
	if (fd < 0)
		return fd;
	/* The limit may be below that. */
	for (least = GPROF_OWN_FD_LEAST; least > fd && least >= FEW; least /= 2) {
		high = fcntl(fd, F_DUPFD_CLOEXEC, least);
		if (high < 0)
			continue;
		close(fd);
		return high;
	}
	return fd;
}

static bool identify(int fd, struct gprof_own_fd *o)
{
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		return false;
	o->dev = st.st_dev;
	o->ino = st.st_ino;
	o->id = 0;
	if (!(st.st_mode & S_IFMT) && ioctl(fd, PERF_EVENT_IOC_ID, &o->id))
		o->id = 0;
	return true;
}

static atomic_uint *turn_of(int fd)
{
	return &turns[fd >= 0 && fd < NUMBERS ? fd : 0];
}

void gprof_own_fd_borrow(struct gprof_own_fd *o, int fd)
{
	*o = (struct gprof_own_fd){ .fd = fd, .turn = atomic_load(turn_of(fd)) };
	/* A number that is no open file cannot be recognized later. */
	if (!identify(fd, o))
		o->fd = -1;
}

void gprof_own_fd_adopt(struct gprof_own_fd *o, int fd)
{
	fd = gprof_own_fd_high(fd);
	if (fd > 0 && fd < NUMBERS)
		atomic_fetch_add(turn_of(fd), 1);
	gprof_own_fd_borrow(o, fd);
}

bool gprof_own_fd_is(const struct gprof_own_fd *o)
{
	struct gprof_own_fd now = { 0 };

	return o->fd >= 0 && atomic_load(turn_of(o->fd)) == o->turn && identify(o->fd, &now) &&
	       now.dev == o->dev && now.ino == o->ino && now.id == o->id;
}

int gprof_own_fd_check(const struct gprof_own_fd *o, const char *what, struct gprof_error *e)
{
	if (gprof_own_fd_is(o))
		return 0;
	return gprof_error_set(e, EBADF, "%.256s: the program has closed it meanwhile, descriptor %d; "
			       "leave the library's descriptors open", what, o->fd);
}

void gprof_own_fd_close(struct gprof_own_fd *o)
{
	if (gprof_own_fd_is(o))
		close(o->fd);
	*o = GPROF_OWN_FD_NONE;
}
