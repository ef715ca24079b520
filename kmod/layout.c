// SPDX-License-Identifier: GPL-2.0-only
/*
 * layout: who is told of what a process unmaps.
 *
 * munmap() takes a mapping out under the mmap_lock, held for writing; then the kernel
 * tells us; then the lock is free again, and something else may be mapped there. What a
 * reading finds is noted under the lock, held for reading: so all of it that is unmapped
 * later is counted before there can be a sample of anything else in its place.
 *
 * Only what was read counts: whoever loads programs unmaps parts of them again at once.
 *
 * Lock order: mmap_lock, then @watches_lock or the lock of a watch, which are innermost
 * and never nest.
 */
#include "layout.h"
#include "memlock.h"
#include "compat/mmap_lock.h"
#include "compat/mmu_notifier.h"

#include <linux/hash.h>
#include <linux/lockdep.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/wait.h>

#define WATCHES_MAX	1024	/* of a reader */
#define CODE_MIN	32
#define CODE_MAX	2048	/* places of code in a process */
#define GONE_MAX	16	/* places where there was code */
#define GONE_READINGS	8	/* for how long they count */
#define MAPS_MAX	4096	/* of a process; to register all of them are locked at once */

/* Whoever is at a limit must not have others wait for the lock while memory is sought. */
#define GFP_UNDER_LOCK	(GFP_KERNEL_ACCOUNT | __GFP_NORETRY | __GFP_NOWARN)

atomic_t gprof_unmapped[GPROF_LAYOUTS];

static DEFINE_RAW_SPINLOCK(watches_lock);	/* protects who is in a reader's hash */
static atomic_t alive = ATOMIC_INIT(0);
static DECLARE_WAIT_QUEUE_HEAD(all_gone);

struct place {
	unsigned long start;
	unsigned long end;
};

/**
 * struct gprof_code - where code is in a process
 * @nr: places
 * @cap: room
 * @v: by address; none touches the next
 */
struct gprof_code {
	u32 nr;
	u32 cap;
	struct place v[];
};

/**
 * struct gone - a place where code was
 * @place: where
 * @readings: that have not found it
 */
struct gone {
	struct place place;
	u32 readings;
};

/**
 * struct gprof_watch - a process
 * @node: in its reader's hash; else the reader has done with it, or the process has ended
 * @reader: whose
 * @mm: its memory, of which a reference is held
 * @lock: protects @code
 * @code: what was read last, or NULL
 * @gone: where there was some before; something that nobody has read may be there
 * @nr_gone: how many
 * @notifier: tells of what is unmapped
 */
struct gprof_watch {
	struct hlist_node node;
	struct gprof_watches *reader;
	struct mm_struct *mm;
	raw_spinlock_t lock;		/* protects the code */
	struct gprof_code *code;
	struct gone gone[GONE_MAX];
	u32 nr_gone;
	struct mmu_notifier notifier;
};

/* ---- code ---- */

/* With the watch that it is of. */
static u64 code_bytes(u32 cap)
{
	return gprof_memory_of(sizeof(struct gprof_code) + cap * sizeof(struct place)) +
	       gprof_memory_of(sizeof(struct gprof_watch));
}

static void free_code(struct gprof_charge *charge, struct gprof_code *code)
{
	if (code)
		gprof_charge_less(charge, code_bytes(code->cap));
	kfree(code);
}

/* The same with more room, or NULL, @code being as it was. */
static struct gprof_code *grow(struct gprof_charge *charge, struct gprof_code *code)
{
	u32 cap = code ? 2 * code->cap : CODE_MIN;
	struct gprof_code *more;

	if (cap > CODE_MAX || gprof_charge_more(charge, code_bytes(cap)))
		return NULL;
	more = kmalloc(struct_size(more, v, cap), GFP_UNDER_LOCK);
	if (!more) {
		gprof_charge_less(charge, code_bytes(cap));
		return NULL;
	}
	more->nr = 0;
	more->cap = cap;
	if (code) {
		more->nr = code->nr;
		memcpy(more->v, code->v, code->nr * sizeof(*code->v));
		free_code(charge, code);
	}
	return more;
}

static bool add(struct gprof_watches *w, unsigned long start, unsigned long end)
{
	struct gprof_code *code = w->next;

	if (code && code->nr && code->v[code->nr - 1].end == start) {
		code->v[code->nr - 1].end = end;
		return true;
	}
	if (!code || code->nr == code->cap) {
		code = grow(w->charge, code);
		if (!code)
			return false;
		w->next = code;
	}
	code->v[code->nr++] = (struct place){ start, end };
	return true;
}

/* The first place that ends behind an address; @nr where there is none. */
static u32 find(const struct gprof_code *code, unsigned long addr)
{
	u32 lo = 0, hi = code->nr;

	while (lo < hi) {
		u32 mid = lo + (hi - lo) / 2;

		if (code->v[mid].end <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* @code: or NULL */
static bool has(const struct gprof_code *code, const struct place *place)
{
	u32 i = code ? find(code, place->start) : 0;

	return code && i < code->nr && code->v[i].start <= place->start &&
	       code->v[i].end >= place->end;
}

/* Do a place and a range that is unmapped meet? */
static bool meets(const struct place *place, const struct mmu_notifier_range *range)
{
	return place->start < range->end && place->end > range->start;
}

/* ---- watches ---- */

static struct hlist_head *bucket_of(struct gprof_watches *w, const struct mm_struct *mm)
{
	return &w->watches[hash_ptr(mm, ilog2(GPROF_WATCHES_BUCKETS))];
}

static bool was_code(const struct gprof_watch *watch, const struct mmu_notifier_range *range)
{
	const struct gprof_code *code = watch->code;
	u32 i = code ? find(code, range->start) : 0;

	lockdep_assert_held(&watch->lock);
	if (code && i < code->nr && meets(&code->v[i], range))
		return true;
	for (i = 0; i < watch->nr_gone; i++) {
		if (meets(&watch->gone[i].place, range))
			return true;
	}
	return false;
}

static int code_goes(struct mmu_notifier *notifier, const struct mmu_notifier_range *range)
{
	struct gprof_watch *watch = container_of(notifier, struct gprof_watch, notifier);
	unsigned long flags;
	bool was;

	if (!gprof_range_goes(range))
		return 0;
	raw_spin_lock_irqsave(&watch->lock, flags);
	was = was_code(watch, range);
	raw_spin_unlock_irqrestore(&watch->lock, flags);
	if (was)
		gprof_layout_change(watch->mm);
	return 0;
}

/* Under @lock: a reading has not found some places. Returns whether one is new. */
static bool note_gone(struct gprof_watch *watch, const struct gprof_code *now)
{
	const struct gprof_code *old = watch->code;
	bool found = false;
	u32 i, nr = 0;

	lockdep_assert_held(&watch->lock);
	for (i = 0; i < watch->nr_gone; i++) {
		struct gone g = watch->gone[i];

		if (++g.readings <= GONE_READINGS && !has(now, &g.place))
			watch->gone[nr++] = g;
	}
	for (i = 0; old && i < old->nr; i++) {
		if (has(now, &old->v[i]))
			continue;
		found = true;
		/* The oldest have been there for long enough. */
		if (nr == GONE_MAX)
			memmove(watch->gone, watch->gone + 1, --nr * sizeof(*watch->gone));
		watch->gone[nr++] = (struct gone){ .place = old->v[i] };
	}
	watch->nr_gone = nr;
	return found;
}

/* Under @watches_lock. Whoever does this is the one who ends it. */
static void take_out(struct gprof_watch *watch)
{
	struct gprof_watches *w = watch->reader;

	lockdep_assert_held(&watches_lock);
	hlist_del_init(&watch->node);
	w->nr--;
	if (watch->code)
		gprof_charge_less(w->charge, code_bytes(watch->code->cap));
}

/* Its memory is kept no longer, whether the reader finds out or not. */
static void process_ends(struct mmu_notifier *notifier, struct mm_struct *mm)
{
	struct gprof_watch *watch = container_of(notifier, struct gprof_watch, notifier);
	unsigned long flags;
	bool was_in;

	raw_spin_lock_irqsave(&watches_lock, flags);
	was_in = !hlist_unhashed(&watch->node);
	/* Its reader lives until it has none. */
	if (was_in)
		take_out(watch);
	raw_spin_unlock_irqrestore(&watches_lock, flags);
	if (was_in)
		mmu_notifier_put(notifier);
}

static void free_watch(struct mmu_notifier *notifier)
{
	struct gprof_watch *watch = container_of(notifier, struct gprof_watch, notifier);

	kfree(watch->code);
	kfree(watch);
	if (atomic_dec_and_test(&alive))
		wake_up(&all_gone);
}

static const struct mmu_notifier_ops notifier_ops = {
	.release = process_ends,
	.invalidate_range_start = code_goes,
	.free_notifier = free_watch,
};

static struct gprof_watch *new_watch(struct gprof_watches *w, struct mm_struct *mm)
{
	struct gprof_watch *watch;
	unsigned long flags;
	bool told = false;

	if (w->nr >= WATCHES_MAX || READ_ONCE(mm->map_count) > MAPS_MAX)
		return NULL;
	watch = kzalloc(sizeof(*watch), GFP_UNDER_LOCK);
	if (!watch)
		return NULL;
	raw_spin_lock_init(&watch->lock);
	watch->reader = w;
	watch->mm = mm;
	watch->notifier.ops = &notifier_ops;
	if (gprof_mmap_write_trylock(mm)) {
		/* Holds a reference of @mm. */
		told = !__mmu_notifier_register(&watch->notifier, mm);
		mmap_write_unlock(mm);
	}
	if (!told) {
		kfree(watch);
		return NULL;
	}
	atomic_inc(&alive);
	/* It has not ended: the caller has the memory in use. */
	raw_spin_lock_irqsave(&watches_lock, flags);
	hlist_add_head(&watch->node, bucket_of(w, mm));
	w->nr++;
	raw_spin_unlock_irqrestore(&watches_lock, flags);
	return watch;
}

static struct gprof_watch *find_watch(struct gprof_watches *w, const struct mm_struct *mm)
{
	struct gprof_watch *watch;
	unsigned long flags;

	raw_spin_lock_irqsave(&watches_lock, flags);
	hlist_for_each_entry(watch, bucket_of(w, mm), node) {
		if (watch->mm == mm)
			break;
	}
	raw_spin_unlock_irqrestore(&watches_lock, flags);
	return watch;
}

/**
 * gprof_watch_begin() - mappings of a process are about to be read
 * @w: of the reader
 * @mm: memory that the caller has in use until it is read
 * @is_new: gets whether nothing was known of its unmapping up to here
 *
 * Context: Task, without mmap_lock.
 * Return: for gprof_watch_note() and gprof_watch_end(); NULL: nobody will be told, as there
 * are too many, or the process' lock was not free.
 */
struct gprof_watch *gprof_watch_begin(struct gprof_watches *w, struct mm_struct *mm, bool *is_new)
{
	struct gprof_watch *watch = find_watch(w, mm);

	*is_new = !watch;
	if (w->next)
		w->next->nr = 0;
	w->failed = false;
	return watch ?: new_watch(w, mm);
}

/**
 * gprof_watch_note() - a mapping was read
 * @w: of the reader
 * @vma: executable mapping, each behind the last
 *
 * Context: Task, mmap_lock held.
 */
void gprof_watch_note(struct gprof_watches *w, const struct vm_area_struct *vma)
{
	mmap_assert_locked(vma->vm_mm);
	if (!w->failed && !add(w, vma->vm_start, vma->vm_end))
		w->failed = true;
}

/* A reading has ended early: what is behind is as the one before has found it. */
static void add_rest(struct gprof_watches *w, const struct gprof_code *old)
{
	unsigned long end = w->next && w->next->nr ? w->next->v[w->next->nr - 1].end : 0;
	u32 i;

	for (i = old ? find(old, end) : 0; old && i < old->nr && !w->failed; i++)
		if (!add(w, max(old->v[i].start, end), old->v[i].end))
			w->failed = true;
}

/**
 * gprof_watch_end() - a reading is over
 * @w: of the reader
 * @watch: what gprof_watch_begin() gave
 * @whole: all mappings were noted
 *
 * Context: Task, mmap_lock held since the first was noted.
 */
void gprof_watch_end(struct gprof_watches *w, struct gprof_watch *watch, bool whole)
{
	struct gprof_code *old = watch->code;
	unsigned long flags;

	if (!whole)
		add_rest(w, old);
	if (w->failed) {
		gprof_layout_change(watch->mm);
		/* It cannot end meanwhile. */
		raw_spin_lock_irqsave(&watches_lock, flags);
		take_out(watch);
		raw_spin_unlock_irqrestore(&watches_lock, flags);
		mmu_notifier_put(&watch->notifier);
		return;
	}
	raw_spin_lock_irqsave(&watch->lock, flags);
	/* What is no code any more may be unmapped, and another be there, untold. */
	if (note_gone(watch, w->next))
		gprof_layout_change(watch->mm);
	watch->code = w->next;
	raw_spin_unlock_irqrestore(&watch->lock, flags);
	/* Its memory is for the next. */
	w->next = old;
}

static struct gprof_watch *take_any(struct hlist_head *bucket)
{
	struct gprof_watch *watch;
	unsigned long flags;

	raw_spin_lock_irqsave(&watches_lock, flags);
	watch = hlist_entry_safe(bucket->first, struct gprof_watch, node);
	if (watch)
		take_out(watch);
	raw_spin_unlock_irqrestore(&watches_lock, flags);
	return watch;
}

/**
 * gprof_watches_destroy() - a reader is told no more
 * @w: zeroed, or used; nobody reads any more
 *
 * Context: Task.
 */
void gprof_watches_destroy(struct gprof_watches *w)
{
	struct gprof_watch *watch;
	int i;

	for (i = 0; i < GPROF_WATCHES_BUCKETS; i++) {
		while ((watch = take_any(&w->watches[i])))
			mmu_notifier_put(&watch->notifier);
	}
	free_code(w->charge, w->next);
	w->next = NULL;
}

/**
 * gprof_watches_exit() - wait until all that were given up are gone
 *
 * Context: Task; nobody begins any more.
 */
void gprof_watches_exit(void)
{
	wait_event(all_gone, !atomic_read(&alive));
	/* The callbacks have begun; they run where RCU waits for them. */
	mmu_notifier_synchronize();
	synchronize_rcu();
}
