/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * own_fd.h: the library's descriptors in the program's table of descriptors.
 *
 * A program may close a descriptor that it has not opened (closefrom(), the loop of a daemon), and
 * open a file of its own under the same number. So the library's get numbers that programs do not
 * reach by themselves, and are checked before use: a descriptor of another file is neither read,
 * written to, nor closed.
 */
#ifndef GPROF_OWN_FD_H
#define GPROF_OWN_FD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "error.h"

/* Out of the way of programs that count on small ones, and below the usual limit of 1024. */
#define GPROF_OWN_FD_LEAST	700

/**
 * struct gprof_own_fd - a descriptor, and the file that it is of
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

/** gprof_own_fd_adopt() - take over a descriptor that was just opened, under a high number */
void gprof_own_fd_adopt(struct gprof_own_fd *o, int fd);

/** gprof_own_fd_borrow() - remember a caller's descriptor, under its number */
void gprof_own_fd_borrow(struct gprof_own_fd *o, int fd);

/** gprof_own_fd_is() - is it still that file? */
bool gprof_own_fd_is(const struct gprof_own_fd *o);

/** gprof_own_fd_check() - likewise: 0, or -EBADF with a sentence about @what */
int gprof_own_fd_check(const struct gprof_own_fd *o, const char *what, struct gprof_error *e);

/** gprof_own_fd_close() - close it, if it still is that file; then it is none */
void gprof_own_fd_close(struct gprof_own_fd *o);

#endif /* GPROF_OWN_FD_H */
