/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * store_dir: a directory of items, in a directory for each hour.
 *
 * It has one writer, its owner; no other user may look into it. No symbolic link is followed below
 * its path. A file is there whole, or not at all.
 */
#ifndef GPROF_TOOLS_STORE_STORE_DIR_H
#define GPROF_TOOLS_STORE_STORE_DIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "item_name.h"

/* No item is larger. */
#define ITEM_BYTES_MAX	(64U << 20)

/* Name of an hour's directory, such as 20261125T09; of UTC. */
#define HOUR_NAME	16

/**
 * struct store_dir - an open one
 * @path: as the user wrote it
 * @quiet: set by the caller: a failure was reported before
 * @fd: directory
 * @lock: lock file of the writer, or -1
 * @dev: which directory it is
 * @ino: likewise
 */
struct store_dir {
	const char *path;
	bool quiet;
	int fd;
	int lock;
	dev_t dev;
	ino_t ino;
};

/*
 * store_dir_open() - open one for reading
 * store_dir_own() - open one for writing, made where it is missing (mode 0700), as the only writer
 *
 * @d: with @quiet
 * @path: borrowed
 *
 * Return: STATUS_OK, or STATUS_FAILED after a sentence.
 */
int store_dir_open(struct store_dir *d, const char *path);
int store_dir_own(struct store_dir *d, const char *path);
void store_dir_close(struct store_dir *d);

/* store_dir_present() - does its path lead there still? */
bool store_dir_present(const struct store_dir *d);

/* hour_name() - the directory of an item that begins at @start_ns */
void hour_name(uint64_t start_ns, char hour[HOUR_NAME]);

/**
 * store_dir_hours() - which hours there are
 * @d: store
 * @hours: gets them, sorted by time, for free()
 *
 * Return: how many, or -errno.
 */
ssize_t store_dir_hours(const struct store_dir *d, char (**hours)[HOUR_NAME]);

/* store_dir_hour() - a descriptor of an hour's directory, made where @make says so; or -errno */
int store_dir_hour(const struct store_dir *d, const char *hour, bool make);

/**
 * store_dir_each() - call a function for each item of an hour, in any order
 * @hour: from store_dir_hour()
 * @own: be the writer's: remove files that a killed writer has left, and pass sizes
 * @fn: a return other than 0 ends it; @bytes is the file's size on disk, 0 without @own
 * @ctx: passed on
 *
 * Return: 0, the return of @fn, or -errno.
 */
int store_dir_each(int hour, bool own,
		   int (*fn)(void *ctx, const struct item_name *n, uint64_t bytes), void *ctx);

/* item_bytes() - size on disk of a file of @size bytes, in whole blocks */
uint64_t item_bytes(uint64_t size);

/*
 * store_dir_write() - put an item in place, durably; its sum is made
 * store_dir_rename() - have it under the name @to, durably
 * store_dir_remove() - remove it, which took @bytes; the hour too where it was the last
 *
 * Return: 0 or -errno.
 */
int store_dir_write(const struct store_dir *d, struct item_name *n, const void *data,
		    size_t size);
int store_dir_rename(const struct store_dir *d, const struct item_name *from,
		     const struct item_name *to);
int store_dir_remove(const struct store_dir *d, const struct item_name *n, uint64_t *bytes);

/**
 * store_dir_read() - contents of an item
 * @hour: from store_dir_hour()
 * @n: item
 * @data: gets it, for free()
 * @size: bytes
 *
 * Return: 0 or -errno: -EBADMSG when its contents are wrong.
 */
int store_dir_read(int hour, const struct item_name *n, void **data, size_t *size);

#endif /* GPROF_TOOLS_STORE_STORE_DIR_H */
