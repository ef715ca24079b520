// SPDX-License-Identifier: GPL-2.0-only
/*
 * tp_mux: one probe for each of the kernel's tracepoints, and the subscribers that it calls.
 *
 * Subscribers come and go while the probe runs (tp_mux_probe.c): it walks a list under RCU, which
 * preemption being off is; the tracepoint does not see to that in every kernel (7.2).
 * Nothing is allocated, so that a subscriber that leaves is never refused.
 *
 * A probe is registered when the first subscriber joins, and unregistered after the last one
 * has left: LINGER later where that one hears of known tasks alone, as all subscribers do that
 * belong to recorders without privilege. To register and to unregister patches the kernel's
 * text, which interrupts all CPUs, under the lock of all tracepoints; so does the aim of a
 * probe that calls its only subscriber directly. A subscriber of known tasks that joins such a
 * one has both called by the walk, and the other one is called directly again LINGER later at
 * the earliest. A program that starts and stops recorders all the time has each tracepoint
 * patched twice in LINGER, no more.
 *
 * Locks: tp_mutex, then that of tracepoint.c and the tracepoints' own; grace periods
 * pass under it only where a tracepoint was just given up.
 */
#include "tp_mux.h"
#include "compat/workqueue.h"
#include "tp_mux_walk.h"
#include "tracepoint.h"

#include <linux/jiffies.h>
#include <linux/lockdep.h>
#include <linux/mutex.h>
#include <linux/rculist.h>
#include <linux/rcupdate.h>
#include <linux/workqueue.h>

/* Of the tracepoints, 15 are for recorders without privilege: 6 patches a second. */
#define LINGER	(5 * HZ)

static DEFINE_MUTEX(tp_mutex);

static void tidy(struct work_struct *work);
static DECLARE_DELAYED_WORK(tidy_work, tidy);

static struct gprof_tp_sub *first_of(struct gprof_tp_mux *t)
{
	return hlist_entry_safe(t->subs.first ?: t->of_tracked.first, struct gprof_tp_sub, node);
}

/* At switches tasks outside the target pay less for a walk that they do not go than for a call. */
static bool can_be_direct(struct gprof_tp_mux *t)
{
	lockdep_assert_held(&tp_mutex);
	return t->set_direct && t->nr == 1 && (t->subs.first || t->of_any);
}

static void name_only(struct gprof_tp_mux *t)
{
	struct gprof_tp_sub *u = first_of(t);

	WRITE_ONCE(t->only_data, u->data);
	t->only = u;
	t->turns++;
}

static void call_directly(struct gprof_tp_mux *t)
{
	t->set_direct(t, first_of(t));
	t->direct = true;
}

static void call_all(struct gprof_tp_mux *t)
{
	t->set_direct(t, NULL);
	t->direct = false;
}

/* The first has come. */
static int begin(struct gprof_tp_mux *t)
{
	int err;

	lockdep_assert_held(&tp_mutex);
	if (t->attached) {
		/* Its probe runs: it is called directly by gprof_tp_mux_settle(). */
		if (can_be_direct(t))
			name_only(t);
		return 0;
	}
	if (can_be_direct(t)) {
		if (t->has_emptied && !t->of_any)
			cond_synchronize_rcu(t->emptied);
		name_only(t);
		/*
		 * Where the tracepoint itself does not keep its probes from being preempted
		 * (since 7.2), one can be as old as any; but it reads the subscriber that it
		 * calls, and calls it, with preemption off.
		 */
		if (t->has_emptied && t->of_any)
			synchronize_rcu();
		call_directly(t);
	}
	err = gprof_tracepoint_attach(t->name, t->probe, t);
	t->attached = !err;
	if (err && t->direct)
		call_all(t);
	return err;
}

/* The last has gone. */
static void end(struct gprof_tp_mux *t)
{
	lockdep_assert_held(&tp_mutex);
	gprof_tracepoint_detach_nowait(t->name, t->probe, t);
	t->attached = false;
	if (t->direct)
		call_all(t);
	t->emptied = get_state_synchronize_rcu();
	t->has_emptied = true;
}

static void tidy_later(struct gprof_tp_mux *t)
{
	t->since = jiffies;
	queue_delayed_work(system_dfl_wq, &tidy_work, LINGER);
}

static bool has_lingered(const struct gprof_tp_mux *t)
{
	return time_after_eq(jiffies, t->since + LINGER);
}

/* All are called in turn, for one that may come and go as often as it likes has come. */
static void make_room(struct gprof_tp_mux *t, const struct gprof_tp_sub *u)
{
	lockdep_assert_held(&tp_mutex);
	call_all(t);
	t->crowded = u->tracked_only;
	if (t->crowded)
		tidy_later(t);
}

static void tidy(struct work_struct *work)
{
	bool later = false, crowded = false;
	int i;

	mutex_lock(&tp_mutex);
	for (i = 0; i < GPROF_NR_TPS; i++) {
		struct gprof_tp_mux *t = &gprof_tp_muxes[i];

		if (!t->attached || (t->nr && !t->crowded))
			continue;
		if (!has_lingered(t))
			later = true;
		else if (t->nr)
			crowded = true;
		else
			end(t);
	}
	mutex_unlock(&tp_mutex);
	if (crowded)
		gprof_tp_mux_settle();
	if (later)
		queue_delayed_work(system_dfl_wq, &tidy_work, HZ);
}

/**
 * gprof_tp_exists() - does this kernel have the tracepoint?
 * @id: which
 *
 * Context: Task.
 */
bool gprof_tp_exists(enum gprof_tp_id id)
{
	return gprof_tracepoint_exists(gprof_tp_muxes[id].name);
}

static int subscribe(struct gprof_tp_sub *u)
{
	struct gprof_tp_mux *t = &gprof_tp_muxes[u->tp];
	int err = 0;

	/* A walk that came to it in its old place must not go on from the new one. */
	if (u->has_left)
		cond_synchronize_rcu(u->left);
	mutex_lock(&tp_mutex);
	WRITE_ONCE(t->nr_regs, t->nr_regs + u->wants_regs);
	hlist_add_head_rcu(&u->node, u->tracked_only ? &t->of_tracked : &t->subs);
	if (!t->nr++)
		err = begin(t);
	else if (t->direct)
		make_room(t, u);
	if (err) {
		hlist_del_rcu(&u->node);
		WRITE_ONCE(t->nr_regs, t->nr_regs - u->wants_regs);
		t->nr--;
		u->left = get_state_synchronize_rcu();
		u->has_left = true;
	}
	mutex_unlock(&tp_mutex);
	return err;
}

/**
 * gprof_tp_unsubscribe_nowait() - no longer be called, though a call may be under way
 * @u: subscriber that has joined; stays in memory for a grace period
 *
 * Context: Task.
 */
void gprof_tp_unsubscribe_nowait(struct gprof_tp_sub *u)
{
	struct gprof_tp_mux *t = &gprof_tp_muxes[u->tp];

	mutex_lock(&tp_mutex);
	hlist_del_rcu(&u->node);
	WRITE_ONCE(t->nr_regs, t->nr_regs - u->wants_regs);
	if (--t->nr) {
		if (can_be_direct(t))
			name_only(t);
	} else if (u->tracked_only && !t->of_any) {
		/* It was not called directly, and so nobody is. */
		t->crowded = false;
		tidy_later(t);
	} else {
		end(t);
	}
	u->left = get_state_synchronize_rcu();
	u->has_left = true;
	mutex_unlock(&tp_mutex);
}

/* It is called by the walk, and could be called directly. */
static bool awaits_settling(struct gprof_tp_mux *t)
{
	return can_be_direct(t) && !t->direct && (!t->crowded || has_lingered(t));
}

static bool await_settling(const struct gprof_tp_sub *subs, unsigned int nr)
{
	bool any = false;

	mutex_lock(&tp_mutex);
	while (nr--)
		any |= awaits_settling(&gprof_tp_muxes[subs[nr].tp]);
	mutex_unlock(&tp_mutex);
	return any;
}

/**
 * gprof_tp_mux_settle() - wait until no subscriber that has left is called any more
 *
 * A subscriber that is then alone at a tracepoint is called directly again.
 *
 * Context: Task.
 */
void gprof_tp_mux_settle(void)
{
	unsigned int turns[GPROF_NR_TPS];
	int i;

	mutex_lock(&tp_mutex);
	for (i = 0; i < GPROF_NR_TPS; i++)
		turns[i] = gprof_tp_muxes[i].turns;
	mutex_unlock(&tp_mutex);
	synchronize_rcu();
	mutex_lock(&tp_mutex);
	for (i = 0; i < GPROF_NR_TPS; i++) {
		struct gprof_tp_mux *t = &gprof_tp_muxes[i];

		/* No probe runs that has read other data than that of the one. */
		if (awaits_settling(t) && t->turns == turns[i] && t->only == first_of(t))
			call_directly(t);
	}
	mutex_unlock(&tp_mutex);
}

/**
 * gprof_tp_subscribe_all() - join several tracepoints in turn, or none
 * @subs: their subscribers
 * @nr: how many
 *
 * Context: Task.
 * Return: 0; -ENOENT when this kernel has no such tracepoint; -ENOMEM.
 */
int gprof_tp_subscribe_all(struct gprof_tp_sub *subs, unsigned int nr)
{
	unsigned int i;
	int err;

	for (i = 0; i < nr; i++) {
		err = subscribe(&subs[i]);
		if (err) {
			gprof_tp_unsubscribe_all(subs, i);
			return err;
		}
	}
	if (await_settling(subs, nr))
		gprof_tp_mux_settle();
	return 0;
}

/**
 * gprof_tp_subscribe() - be called from now on
 * @u: subscriber, not joined
 *
 * Context: Task.
 * Return: as gprof_tp_subscribe_all().
 */
int gprof_tp_subscribe(struct gprof_tp_sub *u)
{
	return gprof_tp_subscribe_all(u, 1);
}

/**
 * gprof_tp_unsubscribe_all() - leave them, the last first; no call is under way afterwards
 * @subs: their subscribers
 * @nr: how many
 *
 * Context: Task.
 */
void gprof_tp_unsubscribe_all(struct gprof_tp_sub *subs, unsigned int nr)
{
	while (nr--)
		gprof_tp_unsubscribe_nowait(&subs[nr]);
	gprof_tp_mux_settle();
}

/**
 * gprof_tp_mux_exit() - unregister the probes that linger
 *
 * Context: Task; nobody is joined, or joins.
 */
void gprof_tp_mux_exit(void)
{
	int i;

	cancel_delayed_work_sync(&tidy_work);
	mutex_lock(&tp_mutex);
	for (i = 0; i < GPROF_NR_TPS; i++) {
		if (gprof_tp_muxes[i].attached)
			end(&gprof_tp_muxes[i]);
	}
	mutex_unlock(&tp_mutex);
}
