// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * custom.c: custom profiles: a program's objects, by the stacks that added them.
 *
 * Each stack is kept once, with the count of its objects; an object refers to its stack by number.
 * The truth is in private memory; a reader outside has a copy.
 *
 * Locks: @profiles_lock, then that of a profile. fork() takes them all, so that a child's
 * copies are whole.
 */
#include "custom.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/opts.h"
#include "base/table.h"
#include "custom_dir.h"
#include "custom_keys.h"
#include "custom_profile.h"
#include "custom_share.h"
#include "custom_stack.h"

#define ADDED_DEFAULT	(1U << 20)
#define STACKS_DEFAULT	4096
#define FREE		UINT32_MAX	/* as the number of frames: no stack */

/**
 * struct gprof_custom - a profile
 * @next: of the process
 * @name: name
 * @added_max: most things
 * @stacks_max: most stacks that have a count; slots are twice as many at most, so that
 *	a half at least can be used again whenever all are gone through
 * @since_ns: since when there is it
 * @lock: protects the members below
 * @keys: things
 * @slots: stacks; those with a count of 0 may be used for others
 * @nr_slots: how many
 * @cap_slots: room
 * @nr_free: how many have a count of 0
 * @next_free: none before this one is FREE
 * @table: finds a stack, all but those that are FREE
 * @share: published copy, or NULL
 */
struct gprof_custom {
	struct gprof_custom *next;
	char name[GPROF_CUSTOM_NAME_MAX + 1];
	size_t added_max;
	size_t stacks_max;
	int64_t since_ns;
	pthread_mutex_t lock;
	struct gprof_custom_keys keys;
	struct gprof_custom_slot *slots;
	size_t nr_slots;
	size_t cap_slots;
	size_t nr_free;
	size_t next_free;
	struct gprof_table table;
	struct gprof_custom_share *share;
};

static pthread_mutex_t profiles_lock = PTHREAD_MUTEX_INITIALIZER;	/* guards @profiles */
static struct gprof_custom *profiles;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int once_err;
static pid_t owner;	/* of the published profiles */

/* ---- fork ---- */

static void before_fork(void)
{
	struct gprof_custom *p;

	pthread_mutex_lock(&profiles_lock);
	for (p = profiles; p; p = p->next)
		pthread_mutex_lock(&p->lock);
	gprof_custom_stacks_lock();
}

static void unlock_all(void)
{
	struct gprof_custom *p;

	gprof_custom_stacks_unlock();
	for (p = profiles; p; p = p->next)
		pthread_mutex_unlock(&p->lock);
	pthread_mutex_unlock(&profiles_lock);
}

static void in_child(void)
{
	struct gprof_custom *p;

	for (p = profiles; p; p = p->next) {
		gprof_custom_share_forget(p->share);
		p->share = NULL;
	}
	owner = getpid();
	unlock_all();
}

static void set_up(void)
{
	owner = getpid();
	once_err = pthread_atfork(before_fork, unlock_all, in_child);
}

/* A program that ends without freeing them. */
__attribute__((destructor)) static void at_exit(void)
{
	struct gprof_custom *p;

	/* A child of vfork() has not been told that it is one. */
	if (owner != getpid() || pthread_mutex_trylock(&profiles_lock))
		return;
	for (p = profiles; p; p = p->next) {
		if (pthread_mutex_trylock(&p->lock))
			continue;
		gprof_custom_share_free(p->share);
		p->share = NULL;
		pthread_mutex_unlock(&p->lock);
	}
	pthread_mutex_unlock(&profiles_lock);
}

/* ---- stacks ---- */

static bool same_stack(const void *ctx, uint32_t index, const void *key)
{
	const struct gprof_custom *p = ctx;
	const struct gprof_custom_slot *a = &p->slots[index], *b = key;

	return a->nr == b->nr && a->flags == b->flags &&
	       !memcmp(a->frames, b->frames, b->nr * sizeof(*b->frames));
}

static uint64_t hash_of(const struct gprof_custom *p, const struct gprof_custom_slot *s)
{
	return gprof_hash_u64(gprof_hash_bytes(p->table.seed, s->frames,
					       s->nr * sizeof(*s->frames)), s->flags);
}

/* Frees profiles without a user, which are still in the table. */
static int drop_unused_slots(struct gprof_custom *p)
{
	struct gprof_table fresh;
	size_t i;

	gprof_table_init(&fresh);
	fresh.seed = p->table.seed;
	for (i = 0; i < p->nr_slots; i++) {
		if (p->slots[i].count &&
		    gprof_table_insert(&fresh, hash_of(p, &p->slots[i]), (uint32_t)i)) {
			gprof_table_free(&fresh);
			return -ENOMEM;
		}
	}
	gprof_table_free(&p->table);
	p->table = fresh;
	for (i = 0; i < p->nr_slots; i++)
		if (!p->slots[i].count)
			p->slots[i].nr = FREE;
	p->next_free = 0;
	return 0;
}

static bool find_free(struct gprof_custom *p)
{
	while (p->next_free < p->nr_slots && p->slots[p->next_free].nr != FREE)
		p->next_free++;
	return p->next_free < p->nr_slots;
}

/* A slot that the table does not know. */
static int free_slot(struct gprof_custom *p, uint32_t *index, struct gprof_error *e)
{
	int err;

	/* Else a half at least can be used again, and going through is no work for each. */
	if (p->nr_slots < 2 * p->stacks_max && p->nr_free <= p->nr_slots / 2) {
		if (gprof_grow(&p->slots, &p->cap_slots, p->nr_slots + 1, sizeof(*p->slots)))
			return gprof_error_set(e, ENOMEM, "no memory for another stack");
		err = gprof_custom_share_grow(p->share, p->nr_slots + 1, e);
		if (err)
			return err;
		memset(&p->slots[p->nr_slots], 0, sizeof(*p->slots));
		p->nr_free++;
		*index = (uint32_t)p->nr_slots++;
		return 0;
	}
	if (!find_free(p) && (drop_unused_slots(p) || !find_free(p)))
		return gprof_error_set(e, ENOMEM, "no memory for another stack");
	*index = (uint32_t)p->next_free;
	return 0;
}

/* The number of a stack, which may have to be added; its count is not touched. */
static int stack_of(struct gprof_custom *p, const struct gprof_custom_slot *s, uint32_t *index,
		    bool *whole, struct gprof_error *e)
{
	uint64_t hash = hash_of(p, s);
	struct gprof_custom_slot *slot;
	int err;

	*whole = false;
	*index = gprof_table_find(&p->table, hash, same_stack, p, s);
	if (*index != GPROF_NONE && p->slots[*index].count)
		return 0;
	if (p->nr_slots - p->nr_free >= p->stacks_max)
		return gprof_error_set(e, ENOMEM,
				       "the profile \"%s\" has %zu stacks, as many as it may; make "
				       "it with a larger stacks_max", p->name, p->stacks_max);
	if (*index != GPROF_NONE)
		return 0;
	err = free_slot(p, index, e);
	if (err)
		return err;
	if (gprof_table_insert(&p->table, hash, *index)) {
		p->slots[*index].nr = FREE;
		p->next_free = 0;
		return gprof_error_set(e, ENOMEM, "no memory for another stack");
	}
	slot = &p->slots[*index];
	slot->nr = s->nr;
	slot->flags = s->flags;
	memcpy(slot->frames, s->frames, sizeof(slot->frames));
	*whole = true;
	return 0;
}

/* ---- things ---- */

static int add_locked(struct gprof_custom *p, uint64_t key, const struct gprof_custom_slot *s,
		      struct gprof_error *e)
{
	uint32_t index;
	bool whole;
	int err;

	if (gprof_custom_keys_has(&p->keys, key))
		return gprof_error_set(e, EEXIST, "%#llx is in the profile \"%s\" already; remove it "
				       "first", (unsigned long long)key, p->name);
	if (p->keys.nr >= p->added_max)
		return gprof_error_set(e, ENOMEM, "%zu are in the profile \"%s\", as many as there may "
				       "be; make it with a larger added_max", p->keys.nr, p->name);
	if (gprof_custom_keys_room(&p->keys))
		return gprof_error_set(e, ENOMEM, "no memory for objects of \"%s\"", p->name);
	err = stack_of(p, s, &index, &whole, e);
	if (err)
		return err;
	gprof_custom_keys_put(&p->keys, key, index);
	if (!p->slots[index].count++)
		p->nr_free--;
	gprof_custom_share_set(p->share, index, &p->slots[index], whole);
	return 0;
}

static int publish_error(int err, const struct gprof_error *e)
{
	if (err)
		gprof_error_publish(e);
	return err;
}

__attribute__((noinline))
int gprof_custom_add(struct gprof_custom *p, const void *key, unsigned int skip)
{
	void *caller = __builtin_extract_return_addr(__builtin_return_address(0));
	struct gprof_custom_slot s = { 0 };
	struct gprof_error e = { 0 };
	int err = gprof_custom_stack(&s, caller, skip, &e);

	if (!err) {
		pthread_mutex_lock(&p->lock);
		err = add_locked(p, (uintptr_t)key, &s, &e);
		pthread_mutex_unlock(&p->lock);
	}
	return publish_error(err, &e);
}

int gprof_custom_remove(struct gprof_custom *p, const void *key)
{
	struct gprof_error e = { 0 };
	uint32_t index;
	int err = 0;

	pthread_mutex_lock(&p->lock);
	if (gprof_custom_keys_remove(&p->keys, (uintptr_t)key, &index)) {
		if (!--p->slots[index].count)
			p->nr_free++;
		gprof_custom_share_set(p->share, index, &p->slots[index], false);
	} else {
		err = gprof_error_set(&e, ENOENT, "%p is not in the profile \"%s\"", key, p->name);
	}
	pthread_mutex_unlock(&p->lock);
	return publish_error(err, &e);
}

size_t gprof_custom_count(const struct gprof_custom *profile)
{
	struct gprof_custom *p = (struct gprof_custom *)profile;
	size_t nr;

	pthread_mutex_lock(&p->lock);
	nr = p->keys.nr;
	pthread_mutex_unlock(&p->lock);
	return nr;
}

/* ---- profiles ---- */

static struct gprof_custom *find_locked(const char *name)
{
	struct gprof_custom *p = profiles;

	while (p && strcmp(p->name, name))
		p = p->next;
	return p;
}

static int there_is_none(const char *name, struct gprof_error *e)
{
	return gprof_error_set(e, ENOENT, "this process has no custom profile \"%s\"", name);
}

struct gprof_custom *gprof_custom_lookup(const char *name)
{
	struct gprof_custom *p;

	if (gprof_custom_name_check(name, NULL))
		return NULL;
	pthread_mutex_lock(&profiles_lock);
	p = find_locked(name);
	pthread_mutex_unlock(&profiles_lock);
	if (!p)
		there_is_none(name, NULL);
	return p;
}

/* A copy of published names and counts; NULL without memory. */
static struct gprof_custom_info *published(size_t *nr)
{
	struct gprof_custom_info *info;
	struct gprof_custom *p;
	size_t n = 0;
	char *names;

	for (p = profiles; p; p = p->next)
		n++;
	info = calloc(n + 1, sizeof(*info) + sizeof(p->name));
	if (!info)
		return NULL;
	names = (char *)(info + n + 1);
	*nr = 0;
	for (p = profiles; p; p = p->next) {
		if (!p->share)
			continue;
		strcpy(names, p->name);
		info[(*nr)++] = (struct gprof_custom_info){ names, gprof_custom_count(p), getpid() };
		names += sizeof(p->name);
	}
	return info;
}

int gprof_custom_show(int (*each)(void *ctx, const struct gprof_custom_info *info), void *ctx)
{
	struct gprof_custom_info *info;
	size_t nr, i;
	int ret = 0;

	pthread_mutex_lock(&profiles_lock);
	info = published(&nr);
	pthread_mutex_unlock(&profiles_lock);
	if (!info)
		return gprof_error_set(NULL, ENOMEM, "no memory for a list of profiles");
	for (i = 0; i < nr && !ret; i++)
		ret = each(ctx, &info[i]);
	free(info);
	return ret;
}

static void destroy(struct gprof_custom *p)
{
	gprof_custom_share_free(p->share);
	gprof_custom_keys_free(&p->keys);
	gprof_table_free(&p->table);
	free(p->slots);
	pthread_mutex_destroy(&p->lock);
	free(p);
}

static int check(const struct gprof_custom_config *cfg, struct gprof_error *e)
{
	int err = gprof_custom_name_check(cfg->name, e);

	if (err)
		return err;
	if (cfg->added_max > GPROF_CUSTOM_ADDED_MAX)
		return gprof_error_set(e, EINVAL, "added_max of a custom profile is %u at most",
				       GPROF_CUSTOM_ADDED_MAX);
	if (cfg->stacks_max > GPROF_CUSTOM_STACKS_MAX)
		return gprof_error_set(e, EINVAL, "stacks_max of a custom profile is %d at most",
				       GPROF_CUSTOM_STACKS_MAX);
	pthread_once(&once, set_up);
	if (once_err)
		return gprof_error_set(e, once_err, "no memory for a custom profile");
	return gprof_custom_stacks_open(e);
}

/* Under @profiles_lock. */
static struct gprof_custom *make(const struct gprof_custom_config *cfg, struct gprof_error *e)
{
	struct gprof_custom *p;

	if (find_locked(cfg->name)) {
		gprof_error_set(e, EEXIST, "this process has a custom profile \"%s\" already; "
				"gprof_custom_lookup() finds it", cfg->name);
		return NULL;
	}
	p = calloc(1, sizeof(*p));
	if (!p) {
		gprof_error_set(e, ENOMEM, "no memory for a custom profile");
		return NULL;
	}
	strcpy(p->name, cfg->name);
	p->since_ns = (int64_t)clock_now_ns(CLOCK_REALTIME);
	p->added_max = cfg->added_max ? cfg->added_max : ADDED_DEFAULT;
	p->stacks_max = cfg->stacks_max ? cfg->stacks_max : STACKS_DEFAULT;
	pthread_mutex_init(&p->lock, NULL);
	gprof_custom_keys_init(&p->keys);
	gprof_table_init(&p->table);
	if (!cfg->unpublished) {
		p->share = gprof_custom_share_new(p->name, 2 * p->stacks_max, e);
		if (!p->share) {
			destroy(p);
			return NULL;
		}
	}
	p->next = profiles;
	profiles = p;
	return p;
}

struct gprof_custom *gprof_custom_new(const struct gprof_custom_config *config)
{
	const size_t least = GPROF_SIZE_WITH(struct gprof_custom_config, unpublished);
	struct gprof_custom_config cfg = { 0 };
	struct gprof_custom *p = NULL;
	struct gprof_error e = { 0 };

	if (!gprof_opts_copy_in(&cfg, sizeof(cfg), least, config, "gprof_custom_config", &e) &&
	    !check(&cfg, &e)) {
		pthread_mutex_lock(&profiles_lock);
		p = make(&cfg, &e);
		pthread_mutex_unlock(&profiles_lock);
	}
	if (!p)
		gprof_error_publish(&e);
	return p;
}

void gprof_custom_free(struct gprof_custom *p)
{
	struct gprof_custom **at = &profiles;

	if (!p)
		return;
	pthread_mutex_lock(&profiles_lock);
	while (*at && *at != p)
		at = &(*at)->next;
	if (*at)
		*at = p->next;
	destroy(p);
	pthread_mutex_unlock(&profiles_lock);
}

/* ---- as profiles with names ---- */

/* @copy->slots, which the caller frees; NULL without memory. */
static void copy_slots(struct gprof_custom *p, struct gprof_custom_copy *copy)
{
	struct gprof_custom_slot *slots;

	pthread_mutex_lock(&p->lock);
	slots = malloc(p->nr_slots * sizeof(*slots) + 1);
	if (slots && p->nr_slots)
		memcpy(slots, p->slots, p->nr_slots * sizeof(*slots));
	copy->nr = p->nr_slots;
	copy->since_ns = p->since_ns;
	pthread_mutex_unlock(&p->lock);
	copy->slots = slots;
}

/* Frees @copy->slots. */
static struct gprof_profile *profile_of(struct gprof_custom_copy *copy, struct gprof_error *e)
{
	struct gprof_profile *profile = NULL;

	copy->pid = getpid();
	if (copy->slots)
		profile = gprof_custom_make(copy, e);
	else
		gprof_error_set(e, ENOMEM, "no memory for a profile");
	free((void *)copy->slots);
	return profile;
}

struct gprof_profile *gprof_custom_profile(struct gprof_custom *p)
{
	struct gprof_custom_copy copy = { .name = p->name };
	struct gprof_profile *profile;
	struct gprof_error e = { 0 };

	copy_slots(p, &copy);
	profile = profile_of(&copy, &e);
	if (!profile)
		gprof_error_publish(&e);
	return profile;
}

struct gprof_profile *gprof_custom_own(const char *name, struct gprof_error *e)
{
	struct gprof_custom_copy copy = { .name = name };
	struct gprof_custom *p;

	if (gprof_custom_name_check(name, e))
		return NULL;
	pthread_mutex_lock(&profiles_lock);
	p = find_locked(name);
	if (p)
		copy_slots(p, &copy);
	pthread_mutex_unlock(&profiles_lock);
	if (!p) {
		there_is_none(name, e);
		return NULL;
	}
	return profile_of(&copy, e);
}

int gprof_custom_write_to(struct gprof_custom *p,
			  int (*write)(void *ctx, const void *data, size_t len), void *ctx)
{
	struct gprof_profile *profile = gprof_custom_profile(p);
	int err;

	if (!profile)
		return -errno;
	err = gprof_profile_write_to(profile, write, ctx);
	gprof_profile_free(profile);
	return err;
}

int gprof_custom_write(struct gprof_custom *p, int fd)
{
	struct gprof_profile *profile = gprof_custom_profile(p);
	int err;

	if (!profile)
		return -errno;
	err = gprof_profile_write(profile, fd);
	gprof_profile_free(profile);
	return err;
}
