// SPDX-License-Identifier: GPL-2.0-only
/*
 * registry: a list of entries that are part of recorders.
 *
 * A query holds a reference on the memory only: the recorder may be closed
 * meanwhile, which its state tells.
 *
 * Lock: registry_lock, a mutex that is held for the list alone, taken under a
 * recorder's lock. A query that looks for an entry waits for no other lock.
 */
#include "registry.h"

#include <linux/cred.h>
#include <linux/mutex.h>
#include <linux/pid.h>
#include <linux/sched/signal.h>

static DEFINE_MUTEX(registry_lock);	/* protects the members below */
static LIST_HEAD(entries);
static u64 last_id;
static u32 generation;

/**
 * gprof_entry_init() - begin with one reference, not published
 * @e: entry
 * @gone: called when the last reference is given up
 *
 * Context: Any.
 */
void gprof_entry_init(struct gprof_entry *e, void (*gone)(struct gprof_entry *e))
{
	INIT_LIST_HEAD(&e->node);
	refcount_set(&e->refs, 1);
	e->gone = gone;
}

/**
 * gprof_entry_publish() - give it an id, and let others find it
 * @e: entry
 * @privileged: its owner may record everything
 *
 * Context: Task, in the process that owns it.
 */
void gprof_entry_publish(struct gprof_entry *e, bool privileged)
{
	e->privileged = privileged;
	e->owner = current_euid();
	e->pid = get_pid(task_tgid(current));
	get_task_comm(e->comm, current);
	mutex_lock(&registry_lock);
	e->id = ++last_id;
	generation++;
	list_add_tail(&e->node, &entries);
	mutex_unlock(&registry_lock);
}

/**
 * gprof_entry_withdraw() - nobody finds it any more
 * @e: entry, published or not
 *
 * Context: Task.
 */
void gprof_entry_withdraw(struct gprof_entry *e)
{
	mutex_lock(&registry_lock);
	if (!list_empty(&e->node))
		generation++;
	list_del_init(&e->node);
	mutex_unlock(&registry_lock);
}

/**
 * gprof_entry_get() - take one more reference
 * @e: entry of which the caller has one
 *
 * Context: Any.
 */
void gprof_entry_get(struct gprof_entry *e)
{
	refcount_inc(&e->refs);
}

/**
 * gprof_entry_put() - give up a reference
 * @e: entry
 *
 * Context: Task.
 */
void gprof_entry_put(struct gprof_entry *e)
{
	if (!refcount_dec_and_test(&e->refs))
		return;
	put_pid(e->pid);
	e->gone(e);
}

/**
 * gprof_registry_next() - the first entry whose id is not below
 * @id: id
 *
 * Context: Task.
 * Return: entry with a reference, or NULL.
 */
struct gprof_entry *gprof_registry_next(u64 id)
{
	struct gprof_entry *e, *found = NULL;

	mutex_lock(&registry_lock);
	list_for_each_entry(e, &entries, node) {
		if (e->id >= id) {
			refcount_inc(&e->refs);
			found = e;
			break;
		}
	}
	mutex_unlock(&registry_lock);
	return found;
}

/**
 * gprof_registry_find() - the entry with an id
 * @id: id
 *
 * Context: Task.
 * Return: entry with a reference, or NULL.
 */
struct gprof_entry *gprof_registry_find(u64 id)
{
	struct gprof_entry *e = gprof_registry_next(id);

	if (e && e->id != id) {
		gprof_entry_put(e);
		e = NULL;
	}
	return e;
}

/**
 * gprof_registry_generation() - changes when an entry comes or goes; never 0
 *
 * Context: Task.
 */
u32 gprof_registry_generation(void)
{
	u32 g;

	mutex_lock(&registry_lock);
	g = generation + 1;
	mutex_unlock(&registry_lock);
	return g ?: 1;
}
