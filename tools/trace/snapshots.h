/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A directory of snapshots: named by time and reason, in place only when they are whole,
 * the oldest removed for the newest.
 *
 * Other writers to the same directory are not disturbed: names are never taken twice, and only
 * files with a snapshot's name that are the user's own are removed.
 */
#ifndef TOOLS_SNAPSHOTS_H
#define TOOLS_SNAPSHOTS_H

#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#define SNAPSHOT_NAME	96
#define SNAPSHOT_REASON	41

/**
 * struct snapshots - a directory
 * @dir: as the user wrote it
 * @keep: so many, 0: any number
 * @bytes: so many in all, 0: any number
 * @removed: that were, for these two
 * @path: the same without the symbolic links that it had in the beginning
 * @dev: which directory it is
 * @ino: likewise
 * @fd: of the one that is being written, or -1
 * @at: the directory that it is written to, or -1
 * @temp: its name until it is whole
 */
struct snapshots {
	const char *dir;
	unsigned long long keep;
	unsigned long long bytes;
	uint64_t removed;
	char *path;
	dev_t dev;
	ino_t ino;
	int fd;
	int at;
	char temp[SNAPSHOT_NAME];
};

/**
 * snapshots_begin() - make the directory if it is missing, and remove the files that a killed
 * writer has left in it
 * @s: with @dir, @keep and @bytes; the rest gets filled
 *
 * Return: STATUS_OK, or STATUS_FAILED after a sentence.
 */
int snapshots_begin(struct snapshots *s);

/* snapshots_open() - begin to write one to @s->fd; STATUS_OK, or STATUS_FAILED after a sentence */
int snapshots_open(struct snapshots *s);

/**
 * snapshots_commit() - put it in place, and remove the oldest beyond the limits
 * @s: with one that is open
 * @when: wall clock time that it is named by
 * @reason: why it was taken: lower case letters, digits and dashes
 * @name: gets its name in the directory
 *
 * Return: STATUS_OK, or STATUS_FAILED after a sentence; it is gone then.
 */
int snapshots_commit(struct snapshots *s, const struct timespec *when, const char *reason,
		     char name[SNAPSHOT_NAME]);

/* snapshots_discard() - give it up; nothing happens when none is open */
void snapshots_discard(struct snapshots *s);

/* snapshots_abandon() - likewise, for a handler of signals that ends the process */
void snapshots_abandon(const struct snapshots *s);

/* snapshots_end() - no more of them */
void snapshots_end(struct snapshots *s);

#endif /* TOOLS_SNAPSHOTS_H */
