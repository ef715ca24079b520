// SPDX-License-Identifier: GPL-2.0-only
/*
 * mm_watch: the one subscription to the kernel's news of an mm.
 *
 * An mmu_interval_notifier over all addresses. An mmu_notifier would make the exiting
 * process wait for a grace period: mn_hlist_release() calls synchronize_srcu(). An interval
 * is told of the end (MMU_NOTIFY_RELEASE) without any wait.
 *
 * Removing an interval waits for invalidations of that mm that are under way, for as long
 * as a hostile process makes them last. So a worker removes it, and neither an exit nor the
 * owner of a recorder waits for that. The worker comes some time after an exit, which has
 * then done with its own invalidation.
 *
 * The order that makes a copy of mappings safe to use: munmap(), mremap() and a mapping over
 * others take a mapping out under the mmap_lock, held for writing; then the kernel tells the
 * watch; then the lock is free again, and something else may be mapped there. A copy is made
 * and published under the lock, held for reading, by a reader that has subscribed before. So
 * subscribers hear of all that goes from a copy later, before something else is in its place.
 *
 * Lock order: mmap_lock; @watches_lock; struct gprof_mm_watch.lock; locks of subscribers.
 */
#include "mm_watch.h"
#include "compat/mmap_lock.h"
#include "compat/mmu_notifier.h"

#include <linux/atomic.h>
#include <linux/hash.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/rculist.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#define WATCHES_BITS	10
#define USERS_BITS	11
#define MAPS_MAX	4096	/* of a process; to watch it all of them are locked at once */
#define LEAVING_MAX	1024	/* watches that are still to be removed */
#define LEAVE_MS	10

/**
 * struct gprof_mm_watch - an mm
 * @notifier: subscription; holds a reference of @mm
 * @hash: by @mm; not in the hash: nobody can join any more
 * @mm: memory
 * @lock: protects @users against changes, with @watches_lock
 * @users: subscribers
 * @leave: removes @notifier and frees this
 */
struct gprof_mm_watch {
	struct mmu_interval_notifier notifier;
	struct hlist_node hash;
	struct mm_struct *mm;
	raw_spinlock_t lock;		/* protects the list of subscribers */
	struct hlist_head users;
	struct delayed_work leave;
};

static struct hlist_head watches[1 << WATCHES_BITS];
static struct hlist_head mm_users[1 << USERS_BITS];
static DEFINE_RAW_SPINLOCK(watches_lock);	/* protects both hashes against writers */
static struct workqueue_struct *leave_queue;
static atomic_t nr_leaving = ATOMIC_INIT(0);
static atomic_t nr_watches = ATOMIC_INIT(0);
static DECLARE_WAIT_QUEUE_HEAD(no_watches);

static struct hlist_head *watches_of(const struct mm_struct *mm)
{
	return &watches[hash_ptr(mm, WATCHES_BITS)];
}

static struct hlist_head *users_of(unsigned long owner, const struct mm_struct *mm)
{
	return &mm_users[hash_64((u64)(unsigned long)mm ^ owner, USERS_BITS)];
}

/**
 * gprof_mm_find() - the subscriber of an owner
 * @owner: owner
 * @mm: memory
 *
 * Context: Any incl. NMI, under RCU or with preemption off.
 * Return: subscriber, or NULL.
 */
struct gprof_mm_user *gprof_mm_find(unsigned long owner, const struct mm_struct *mm)
{
	struct hlist_node *n;

	/* Open-coded: a walk is in no section that RCU's debugging could know of. */
	for (n = READ_ONCE(users_of(owner, mm)->first); n; n = READ_ONCE(n->next)) {
		struct gprof_mm_user *u = hlist_entry(n, struct gprof_mm_user, hash);

		if (u->mm == mm && u->owner == owner)
			return u;
	}
	return NULL;
}

static void remove_watch(struct work_struct *work)
{
	struct gprof_mm_watch *watch =
		container_of(to_delayed_work(work), struct gprof_mm_watch, leave);

	/* Drops the reference of the mm; no callback runs any more. */
	mmu_interval_notifier_remove(&watch->notifier);
	kfree(watch);
	atomic_dec(&nr_leaving);
	if (atomic_dec_and_test(&nr_watches))
		wake_up(&no_watches);
}

static void leave(struct gprof_mm_watch *watch)
{
	atomic_inc(&nr_leaving);
	queue_delayed_work(leave_queue, &watch->leave, msecs_to_jiffies(LEAVE_MS));
}

/* Returns whether the caller has to let @watch leave. */
static bool remove_user(struct gprof_mm_watch *watch, struct gprof_mm_user *u)
{
	lockdep_assert_held(&watches_lock);
	lockdep_assert_held(&watch->lock);
	hlist_del_init_rcu(&u->hash);
	hlist_del_init(&u->node);
	u->watch = NULL;
	if (!hlist_empty(&watch->users))
		return false;
	hlist_del_init(&watch->hash);
	return true;
}

static void add_user(struct gprof_mm_watch *watch, struct gprof_mm_user *u)
{
	lockdep_assert_held(&watches_lock);
	u->watch = watch;
	raw_spin_lock(&watch->lock);
	hlist_add_head(&u->node, &watch->users);
	raw_spin_unlock(&watch->lock);
	hlist_add_head_rcu(&u->hash, users_of(u->owner, u->mm));
}

static void unmapped(struct gprof_mm_watch *watch, unsigned long start, unsigned long end)
{
	struct gprof_mm_user *u;

	raw_spin_lock(&watch->lock);
	hlist_for_each_entry(u, &watch->users, node) {
		if (u->ops->unmapped)
			u->ops->unmapped(u, start, end);
	}
	raw_spin_unlock(&watch->lock);
}

/* By the last user of the memory, at exit or exec; nobody runs in it, nor looks it up. */
static void mm_ends(struct gprof_mm_watch *watch)
{
	HLIST_HEAD(sleepers);
	struct hlist_node *next;
	struct gprof_mm_user *u;
	bool leaves = false;

	raw_spin_lock(&watches_lock);
	raw_spin_lock(&watch->lock);
	hlist_for_each_entry_safe(u, next, &watch->users, node) {
		leaves = remove_user(watch, u);
		if (u->ops->gone)
			hlist_add_head(&u->node, &sleepers);
		else
			u->ops->ended(u);
	}
	raw_spin_unlock(&watch->lock);
	raw_spin_unlock(&watches_lock);
	hlist_for_each_entry_safe(u, next, &sleepers, node)
		u->ops->gone(u);
	if (leaves)
		leave(watch);
}

static bool invalidated(struct mmu_interval_notifier *notifier,
			const struct mmu_notifier_range *range, unsigned long seq)
{
	struct gprof_mm_watch *watch = container_of(notifier, struct gprof_mm_watch, notifier);

	if (gprof_range_is_unmapped(range))
		unmapped(watch, range->start, range->end);
	else if (gprof_range_is_released(range))
		mm_ends(watch);
	return true;
}

static const struct mmu_interval_notifier_ops notifier_ops = { .invalidate = invalidated };

/* Returns 0; -EEXIST: the owner has another subscriber; -ENOENT: @u->mm is not watched. */
static int join(struct gprof_mm_user *u)
{
	struct gprof_mm_watch *watch;
	int err = -ENOENT;

	raw_spin_lock(&watches_lock);
	hlist_for_each_entry(watch, watches_of(u->mm), hash) {
		if (watch->mm != u->mm)
			continue;
		err = gprof_mm_find(u->owner, u->mm) ? -EEXIST : 0;
		if (!err)
			add_user(watch, u);
		break;
	}
	raw_spin_unlock(&watches_lock);
	return err;
}

/* Returns 0 or a negative errno, with which @watch is freed. */
static int insert(struct gprof_mm_watch *watch, struct gprof_mm_user *u)
{
	int err;

	mmap_assert_write_locked(watch->mm);
	err = mmu_interval_notifier_insert_locked(&watch->notifier, watch->mm, 0, ULONG_MAX,
						  &notifier_ops);
	if (err) {
		kfree(watch);
		return err;
	}
	atomic_inc(&nr_watches);
	/*
	 * While another interval is told of an invalidation, the kernel defers the insertion,
	 * and does not tell this one of unmappings before that has ended. The lock is
	 * still held for writing: an interval that is in the tree now misses nothing.
	 */
	if (data_race(RB_EMPTY_NODE(&watch->notifier.interval_tree.rb))) {
		leave(watch);
		return -EAGAIN;
	}
	raw_spin_lock(&watches_lock);
	hlist_add_head(&watch->hash, watches_of(watch->mm));
	add_user(watch, u);
	raw_spin_unlock(&watches_lock);
	return 0;
}

/**
 * gprof_mm_watch() - subscribe
 * @u: subscriber with @ops and @owner
 * @mm: memory, which has users
 * @wait: for the mmap_lock
 *
 * Context: Task, without mmap_lock.
 * Return: 0 or a negative errno: -EAGAIN: not now; -EEXIST: @owner has another subscriber of
 * @mm; -E2BIG: the process has so many mappings that others would wait; -EINTR: a signal that
 * kills is pending.
 */
int gprof_mm_watch(struct gprof_mm_user *u, struct mm_struct *mm, bool wait)
{
	struct gprof_mm_watch *watch;
	int err;

	u->mm = mm;
	err = join(u);
	if (err != -ENOENT)
		return err;
	if (READ_ONCE(mm->map_count) > MAPS_MAX)
		return -E2BIG;
	if (atomic_read(&nr_leaving) >= LEAVING_MAX)
		return -EAGAIN;
	watch = kzalloc(sizeof(*watch), GFP_KERNEL_ACCOUNT | __GFP_NORETRY | __GFP_NOWARN);
	if (!watch)
		return -ENOMEM;
	raw_spin_lock_init(&watch->lock);
	watch->mm = mm;
	INIT_DELAYED_WORK(&watch->leave, remove_watch);
	if (wait)
		err = mmap_write_lock_killable(mm);
	else
		err = gprof_mmap_write_trylock(mm) ? 0 : -EAGAIN;
	if (err) {
		kfree(watch);
		return err;
	}
	err = join(u);
	if (err == -ENOENT)
		err = insert(watch, u);
	else
		kfree(watch);
	mmap_write_unlock(mm);
	return err;
}

/**
 * gprof_mm_unwatch() - end a subscription
 * @u: subscriber; may still be found until an RCU grace period has passed
 *
 * Context: Task.
 * Return: whether this has ended it; if not, @ended has returned, or @gone was called.
 */
bool gprof_mm_unwatch(struct gprof_mm_user *u)
{
	struct gprof_mm_watch *watch;
	bool leaves = false;

	raw_spin_lock(&watches_lock);
	watch = u->watch;
	if (watch) {
		raw_spin_lock(&watch->lock);
		leaves = remove_user(watch, u);
		raw_spin_unlock(&watch->lock);
	}
	raw_spin_unlock(&watches_lock);
	if (leaves)
		leave(watch);
	return watch;
}

/**
 * gprof_mm_watch_init() - prepare watching
 *
 * Context: Task.
 * Return: 0 or -ENOMEM.
 */
int gprof_mm_watch_init(void)
{
	leave_queue = alloc_workqueue("gprof_mm", WQ_UNBOUND, 0);
	return leave_queue ? 0 : -ENOMEM;
}

/**
 * gprof_mm_watch_exit() - wait until nothing is watched, and subscribers are freed
 *
 * Context: Task; all subscribers have left.
 */
void gprof_mm_watch_exit(void)
{
	wait_event(no_watches, !atomic_read(&nr_watches));
	destroy_workqueue(leave_queue);
	rcu_barrier();
}
