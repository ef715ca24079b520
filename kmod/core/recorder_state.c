// SPDX-License-Identifier: GPL-2.0-only
/*
 * recorder_state: the state of a recorder, and its pins.
 *
 * A query from outside must not wait for @lock, which the owner can hold for as long as it
 * likes. It pins the recorder: the parts that SETUP has built stay, unchanged, until the last
 * pin is gone. It reads the fields that START and STOP change under @state_lock.
 */
#include "recorder_state.h"

#include <linux/atomic.h>
#include <linux/lockdep.h>
#include <linux/timekeeping.h>
#include <linux/wait.h>

static atomic_t open_recorders = ATOMIC_INIT(0);

/**
 * gprof_recorder_set_state() - change the state
 * @r: recorder, whose @lock is held
 * @state: the new one
 *
 * Context: Task.
 */
void gprof_recorder_set_state(struct gprof_recorder *r, enum gprof_recorder_state state)
{
	lockdep_assert_held(&r->lock);
	raw_spin_lock(&r->state_lock);
	if (state == GPROF_STARTED) {
		r->started_ns = ktime_get_mono_fast_ns();
		r->stopped_ns = 0;
	} else if (r->state == GPROF_STARTED) {
		r->stopped_ns = ktime_get_mono_fast_ns();
	}
	r->state = state;
	raw_spin_unlock(&r->state_lock);
}

/**
 * gprof_recorder_pin() - have a recorder stay, without its lock
 * @r: recorder that was set up, of whose entry a reference is held
 * @phase: gets how it is now
 *
 * Context: Task.
 * Return: whether it is still there, until gprof_recorder_unpin().
 */
bool gprof_recorder_pin(struct gprof_recorder *r, struct gprof_phase *phase)
{
	bool there;

	raw_spin_lock(&r->state_lock);
	there = r->state == GPROF_READY || r->state == GPROF_STARTED;
	if (there)
		r->pins++;
	phase->started = r->state == GPROF_STARTED;
	phase->started_ns = r->started_ns;
	phase->stopped_ns = r->stopped_ns;
	raw_spin_unlock(&r->state_lock);
	return there;
}

/**
 * gprof_recorder_unpin() - let it go
 * @r: recorder that was pinned
 *
 * Context: Task.
 */
void gprof_recorder_unpin(struct gprof_recorder *r)
{
	bool awaited;

	raw_spin_lock(&r->state_lock);
	awaited = !--r->pins && r->state == GPROF_CLOSED;
	raw_spin_unlock(&r->state_lock);
	if (awaited)
		wake_up(&r->events.wait);
}

static bool is_unpinned(struct gprof_recorder *r)
{
	bool left;

	raw_spin_lock(&r->state_lock);
	left = !r->pins;
	raw_spin_unlock(&r->state_lock);
	return left;
}

/**
 * gprof_recorder_wait_unpinned() - wait until the last pin is gone
 * @r: recorder that is closed
 *
 * Context: Task.
 */
void gprof_recorder_wait_unpinned(struct gprof_recorder *r)
{
	wait_event(r->events.wait, is_unpinned(r));
}

/**
 * gprof_recorder_count_up() - a recorder is there
 *
 * Context: Any.
 */
void gprof_recorder_count_up(void)
{
	atomic_inc(&open_recorders);
}

/**
 * gprof_recorder_count_down() - a recorder is gone
 *
 * Context: Any.
 */
void gprof_recorder_count_down(void)
{
	atomic_dec(&open_recorders);
}

/**
 * gprof_recorder_count() - how many recorders there are
 *
 * Context: Any.
 * Return: that number.
 */
u32 gprof_recorder_count(void)
{
	return atomic_read(&open_recorders);
}
