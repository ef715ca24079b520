/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * store_hours: the index of a store's files, hour by hour, and the removal of items that are too
 * old or too many. For the files store*.c alone; all are called with the store's lock held.
 *
 * In memory there are sums for each hour, and of the oldest hour with items that wait, their
 * names: so memory does not grow with the store. Hours are listed again when room is to be
 * made, which makes room for a while.
 */
#ifndef GPROF_TOOLS_AGENT_STORE_HOURS_H
#define GPROF_TOOLS_AGENT_STORE_HOURS_H

#include <pthread.h>

#include "quarantine.h"
#include "profile_cache.h"
#include "store.h"
#include "store/store_dir.h"

/**
 * struct hour - items that begin in one hour
 * @name: its directory
 * @bytes: size of the items
 * @files: how many there are
 * @rollups: of these
 * @waiting: ... that wait, by form
 * @rest: samples of these
 * @oldest_ns: begin of the oldest
 * @round: of struct store, in which it was looked at
 * @ours: this process has written to it
 * @shift_ns: how far the clock was set since
 */
struct hour {
	char name[HOUR_NAME];
	uint64_t bytes;
	uint64_t files;
	uint64_t rollups;
	uint64_t waiting[ITEM_FORMS];
	uint64_t rest[ITEM_FORMS];
	uint64_t oldest_ns;
	uint64_t round;
	bool ours;
	int64_t shift_ns;
};

/**
 * struct list - items of an hour
 * @v: names
 * @nr: how many
 * @room: there is memory for
 * @at: those before are done with
 */
struct list {
	struct item_name *v;
	size_t nr, room, at;
};

/**
 * struct store - a store
 * @o: how it is kept
 * @lock: protects all below; it is held while the disk works
 * @dir: where the files are
 * @hours: by name
 * @nr_hours: how many
 * @room_hours: there is memory for
 * @counts: counts of all items
 * @queue: that wait, of one hour, the oldest first
 * @profile_cache: of waiting items, those in memory still
 * @quarantine: of waiting items, those that are skipped for a while
 * @round: how often hours were gone through, each once
 * @queue_forms: they are of these forms, as bits
 * @sending: id of the item under way, or 0
 * @answered: it is, but its new state is not on the disk yet
 * @before: its name on the disk then
 * @after: the name that it is to have
 * @last_id: highest that was given
 * @said: last failure that was said, 0 when all is well
 * @well: items that were written since
 * @real_ns: CLOCK_REALTIME when it was looked at last
 * @boot_ns: CLOCK_BOOTTIME then
 * @aged_ns: CLOCK_BOOTTIME of the last removal of old items
 * @shown_lock: protects @shown, and is held for short times
 * @shown: @counts when @lock was given back
 */
struct store {
	struct store_options o;
	pthread_mutex_t lock;
	struct store_dir dir;
	struct hour *hours;
	size_t nr_hours, room_hours;
	struct store_counts counts;
	struct list queue;
	struct profile_cache profile_cache;
	struct quarantine quarantine;
	uint64_t round;
	unsigned int queue_forms;
	uint64_t sending;
	bool answered;
	struct item_name before, after;
	uint64_t last_id;
	int said;
	unsigned int well;
	uint64_t real_ns, boot_ns, aged_ns;
	pthread_mutex_t shown_lock;
	struct store_counts shown;
};

/* store_unlock() - release @lock, and publish the counts */
void store_unlock(struct store *s);

/* store_failed() - count a failure of the disk, and report it once; returns @err */
int store_failed(struct store *s, int err, const char *what);

/* store_damaged() - count an item with wrong contents, and report the first */
void store_damaged(struct store *s, const struct item_name *n);

/* store_check_clock() - CLOCK_REALTIME; shifts the age of older items when it was set */
uint64_t store_check_clock(struct store *s);

/* hour_rest_of() - samples of an item that wait */
uint64_t hour_rest_of(const struct item_name *n);

/*
 * store_counted_form() - an item of the disk as it is in the sums: its result may not be on disk
 * yet, and parts of another engine are none
 */
struct item_name store_counted_form(const struct store *s, const struct item_name *n);

struct hour *store_find_hour(struct store *s, const struct item_name *n);
struct hour *store_add_hour(struct store *s, const struct item_name *n);
void store_add_file(struct store *s, struct hour *h, const struct item_name *n, uint64_t bytes);

/*
 * store_scan() - sums of the directory's files; 0 or -errno
 *
 * An hour that cannot be read is left out, which is counted. Waiting samples that are gone are
 * dropped; new ones have waited.
 */
int store_scan(struct store *s, bool first);

/* store_restore_dir() - make the directory anew where it has gone; 0 or -errno */
int store_restore_dir(struct store *s);

/*
 * store_list_hour() - the items of an hour, the oldest first; 0 or -errno
 *
 * Others may have removed files: its sums are those of the present files, likewise.
 */
int store_list_hour(struct store *s, struct hour *h, struct list *l);

/* store_begin_of() - begin of an hour, for the order of age */
uint64_t store_begin_of(const struct store *s, const struct hour *h);

/* store_remove_item() - its file, and with it its waiting samples; 0 or -errno */
int store_remove_item(struct store *s, struct hour *h, const struct item_name *n);

/*
 * store_make_room() - room for @bytes more: items that rollups have go first, then the oldest
 */
void store_make_room(struct store *s, uint64_t bytes);

/* store_remove_old() - remove items that are too old, now and then */
void store_remove_old(struct store *s);

#endif /* GPROF_TOOLS_AGENT_STORE_HOURS_H */
