/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * own_fd.h: descriptors of ours in somebody else's program.
 *
 * A program may close what it has not opened (closefrom(), the loop of a daemon), and open a
 * file of its own under the same number. So ours get numbers that programs do not come to by
 * themselves, and are looked at before they are used: what is no longer ours is neither read,
 * written to, asked, nor closed.
 */
#ifndef GPROF_OWN_FD_H
#define GPROF_OWN_FD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "error.h"

/* Out of the way of who counts on small ones, and below the usual limit of 1024. */
#define GPROF_OWN_FD_LEAST	700

/**
 * struct gprof_own_fd - a descriptor, and what it is of
 * @fd: it, or -1
 * @turn: how often the library had opened something under that number
 * @dev: of the file
 * @ino: likewise
 * @id: of a counter of perf, all of which have one @ino; else 0
 */
struct gprof_own_fd {
	int fd;
	unsigned int turn;
	dev_t dev;
	ino_t ino;
	uint64_t id;
};

#define GPROF_OWN_FD_NONE	((struct gprof_own_fd){ .fd = -1 })

/** gprof_own_fd_high() - under a high number, if there is one; which it has then */
int gprof_own_fd_high(int fd);

/** gprof_own_fd_adopt() - what has just been opened is ours, under a high number */
void gprof_own_fd_adopt(struct gprof_own_fd *o, int fd);

/** gprof_own_fd_borrow() - the caller's, and to be known again under the number that it has */
void gprof_own_fd_borrow(struct gprof_own_fd *o, int fd);

/** gprof_own_fd_is() - is it still that? */
bool gprof_own_fd_is(const struct gprof_own_fd *o);

/** gprof_own_fd_check() - likewise: 0, or -EBADF with a sentence about @what */
int gprof_own_fd_check(const struct gprof_own_fd *o, const char *what, struct gprof_error *e);

/** gprof_own_fd_close() - close it, if it still is that; then it is none */
void gprof_own_fd_close(struct gprof_own_fd *o);

#endif /* GPROF_OWN_FD_H */
