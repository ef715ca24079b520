// SPDX-License-Identifier: GPL-2.0-only
/*
 * A bounded store of profiles and traces.
 */
#include "store.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmd.h"
#include "cli/diag.h"
#include "store_hours.h"

#define WELL		16	/* so many are written until a failure is over */

struct store *store_open(const struct store_options *o, int *status)
{
	struct store *s = xalloc(1, sizeof(*s));
	int err;

	s->o = *o;
	pthread_mutex_init(&s->lock, NULL);
	pthread_mutex_init(&s->shown_lock, NULL);
	*status = store_dir_own(&s->dir, o->dir);
	if (*status != STATUS_OK) {
		free(s);
		return NULL;
	}
	store_check_clock(s);
	err = store_scan(s, true);
	if (err) {
		*status = fail("the store %s cannot be read: %s", o->dir, strerror(-err));
		store_close(s);
		return NULL;
	}
	s->shown = s->counts;
	if (s->counts.unsure)
		diag("the store %s: %" PRIu64
		     " samples were being sent when their sender ended, or "
		     "were sent in other parts; they are sent again, and may arrive twice",
		     o->dir, s->counts.unsure);
	return s;
}

void store_close(struct store *s)
{
	if (!s)
		return;
	store_dir_close(&s->dir);
	pthread_mutex_destroy(&s->lock);
	pthread_mutex_destroy(&s->shown_lock);
	free(s->hours);
	free(s->queue.v);
	profile_cache_free(&s->profile_cache);
	quarantine_free(&s->quarantine);
	free(s);
}

static int write_item(struct store *s, struct item_name *n, const void *data, size_t size)
{
	uint64_t bytes = item_bytes(size);
	struct hour *h;
	int err;

	if (bytes > s->o.keep_bytes || size > ITEM_BYTES_MAX)
		return store_failed(s, -EFBIG, "an item is larger than all may be");
	err = store_restore_dir(s);
	if (err)
		return err;
	store_remove_old(s);
	store_make_room(s, bytes);
	if (s->counts.bytes > s->o.keep_bytes - bytes)
		return store_failed(s, -ENOSPC, "no room can be made");
	err = store_dir_write(&s->dir, n, data, size);
	if (err)
		return store_failed(s, err, "an item cannot be written");
	h = store_add_hour(s, n);
	h->ours = true;
	store_add_file(s, h, n, bytes);
	/* On a disk that is nearly full small ones may fit in now and then. */
	if (s->said && ++s->well == WELL) {
		diag("the store %s: items are written again", s->o.dir);
		s->said = 0;
		s->dir.quiet = false;
	}
	return 0;
}

static void give_id(struct store *s, struct item_name *n)
{
	uint64_t real = store_check_clock(s);

	n->id = real > s->last_id ? real : s->last_id + 1;
	s->last_id = n->id;
}

int store_put(struct store *s, struct item_name *n, const void *data, size_t size,
	      struct gprof_profile *profile)
{
	struct store_counts *c = &s->counts;
	int err;

	pthread_mutex_lock(&s->lock);
	give_id(s, n);
	n->state = s->o.wait >> n->form & 1 ? ITEM_WAITS : ITEM_KEPT;
	n->parts = 0;
	n->taken = 0;
	n->of = 0;
	c->items.produced++;
	c->samples.produced += n->samples;
	err = write_item(s, n, data, size);
	if (err) {
		c->items.dropped++;
		c->samples.dropped += n->samples;
	} else if (n->state == ITEM_KEPT) {
		c->items.stored++;
		c->samples.stored += n->samples;
	} else if (profile) {
		profile_cache_put(&s->profile_cache, n, profile);
		profile = NULL;
	}
	store_unlock(s);
	gprof_profile_free(profile);
	return err;
}

int store_put_rollup(struct store *s, struct item_name *n, const void *data, size_t size)
{
	int err;

	pthread_mutex_lock(&s->lock);
	give_id(s, n);
	n->state = ITEM_KEPT;
	err = write_item(s, n, data, size);
	store_unlock(s);
	return err;
}

void store_unlock(struct store *s)
{
	pthread_mutex_lock(&s->shown_lock);
	s->shown = s->counts;
	pthread_mutex_unlock(&s->shown_lock);
	pthread_mutex_unlock(&s->lock);
}

void store_counts(struct store *s, struct store_counts *out)
{
	pthread_mutex_lock(&s->shown_lock);
	*out = s->shown;
	pthread_mutex_unlock(&s->shown_lock);
}
