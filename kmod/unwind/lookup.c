// SPDX-License-Identifier: GPL-2.0-only
/*
 * lookup: tables by the text that they are for, and the mappings of current under its lock.
 *
 * The mmap_lock is only tried. An interrupt or NMI cannot give it back, since that may wake
 * a writer, and the interrupted code may hold the locks that this takes. So a hard irq_work
 * does, which runs as soon as interrupts are on again; until then the CPU has no other.
 *
 * That may be when the CPU has left the task, which may have ended since. So the memory's
 * description is held, and the call that would free it is left to a worker.
 */
#include "lookup.h"
#include "compat/irq_work.h"
#include "compat/mm.h"
#include "compat/vma.h"
#include "compat/workqueue.h"
#include "text.h"
#include "unwind.h"

#include <linux/cpumask.h>
#include <linux/fs.h>
#include <linux/hash.h>
#include <linux/irqflags.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/rculist.h>
#include <linux/sched/mm.h>
#include <linux/spinlock.h>

#define TABLES_BITS	10

/**
 * struct held - the memory whose lock this CPU has taken in an interrupt
 * @mm: memory; NULL: none
 * @unlock: gives the lock back
 * @drop: frees a description that nobody else holds
 */
struct held {
	struct mm_struct *mm;
	struct irq_work unlock;
	struct work_struct drop;
};

static struct hlist_head tables[1 << TABLES_BITS];
static DEFINE_RAW_SPINLOCK(tables_lock);	/* protects it against writers */
static DEFINE_PER_CPU(struct held, helds);

static struct hlist_head *tables_of(u32 set, const struct gprof_text_id *id)
{
	return &tables[hash_64(id->inode ^ id->mtime_ns ^ id->dev ^ (u64)set << 48, TABLES_BITS)];
}

/**
 * gprof_lookup_add() - a table may be found
 * @u: table with its @set and @id
 *
 * Context: Task.
 */
void gprof_lookup_add(struct gprof_unwind *u)
{
	raw_spin_lock(&tables_lock);
	hlist_add_head_rcu(&u->hash, tables_of(u->set, &u->id));
	raw_spin_unlock(&tables_lock);
}

/**
 * gprof_lookup_remove() - a table is no longer found
 * @u: table; its description is freed behind a grace period
 *
 * Context: Task.
 */
void gprof_lookup_remove(struct gprof_unwind *u)
{
	raw_spin_lock(&tables_lock);
	hlist_del_rcu(&u->hash);
	raw_spin_unlock(&tables_lock);
}

/**
 * gprof_lookup_table() - the table of a set for a text
 * @set: number of the set
 * @id: text
 *
 * Context: Any incl. NMI, preemption off or under RCU.
 * Return: table, which lives as long as walks of the set do, or NULL.
 */
const struct gprof_unwind *gprof_lookup_table(u32 set, const struct gprof_text_id *id)
{
	struct hlist_node *n;

	/* Open-coded: a walk is in no section that RCU's debugging could know of. */
	for (n = READ_ONCE(tables_of(set, id)->first); n; n = READ_ONCE(n->next)) {
		struct gprof_unwind *u = hlist_entry(n, struct gprof_unwind, hash);

		if (u->set == set && gprof_same_text(&u->id, id))
			return u;
	}
	return NULL;
}

static bool unlocks_later(void)
{
	return irqs_disabled() || in_nmi();
}

/**
 * gprof_lookup_begin() - keep the mappings as they are
 * @mm: memory of current
 *
 * Context: Any incl. NMI, preemption off.
 * Return: whether they are kept, until gprof_lookup_end() in the same context.
 */
bool gprof_lookup_begin(struct mm_struct *mm)
{
	struct held *h = this_cpu_ptr(&helds);

	/* There the lock is one that sleeps. */
	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		return false;
	if (!unlocks_later())
		return mmap_read_trylock(mm);
	if (cmpxchg(&h->mm, NULL, mm))
		return false;
	if (!mmap_read_trylock(mm)) {
		WRITE_ONCE(h->mm, NULL);
		return false;
	}
	mmgrab(mm);
	return true;
}

/**
 * gprof_lookup_end() - let the mappings change
 * @mm: memory, after gprof_lookup_begin()
 *
 * Context: As that.
 */
void gprof_lookup_end(struct mm_struct *mm)
{
	if (!unlocks_later()) {
		mmap_read_unlock(mm);
		return;
	}
	/* Lockdep is not to wonder at a context that ends with a lock. */
	rwsem_release(&mm->mmap_lock.dep_map, _RET_IP_);
	irq_work_queue(&this_cpu_ptr(&helds)->unlock);
}

static void unlock(struct irq_work *work)
{
	struct held *h = container_of(work, struct held, unlock);
	struct mm_struct *mm = h->mm;

	mmap_read_unlock_non_owner(mm);
	if (atomic_add_unless(&mm->mm_count, -1, 1))
		WRITE_ONCE(h->mm, NULL);
	else
		queue_work(system_dfl_wq, &h->drop);
}

static void drop(struct work_struct *work)
{
	struct held *h = container_of(work, struct held, drop);
	struct mm_struct *mm = h->mm;

	WRITE_ONCE(h->mm, NULL);
	mmdrop(mm);
}

/**
 * gprof_lookup_text() - the mapping of an address
 * @set: number of a set of tables
 * @mm: memory, after gprof_lookup_begin()
 * @at: any number
 * @text: becomes that, with the set's table if there is one
 *
 * Context: Any incl. NMI, preemption off.
 * Return: whether there is code.
 */
bool gprof_lookup_text(u32 set, struct mm_struct *mm, u64 at, struct gprof_text *text)
{
	struct vm_area_struct *vma = at < TASK_SIZE_MAX ? gprof_find_vma(mm, at) : NULL;
	const struct gprof_unwind *u;

	if (!vma || vma->vm_start > at || !(vma->vm_flags & VM_EXEC))
		return false;
	gprof_text_of(text, vma);
	if (text->kind == GPROF_TEXT_ANON)
		return true;
	u = gprof_lookup_table(set, &text->id);
	if (u) {
		text->unwind = u;
		text->base = gprof_text_base(text, u);
	}
	return true;
}

/**
 * gprof_lookup_init() - prepare the work that interrupts leave behind
 *
 * Context: Task.
 */
void gprof_lookup_init(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct held *h = per_cpu_ptr(&helds, cpu);

		gprof_irq_work_init_hard(&h->unlock, unlock);
		INIT_WORK(&h->drop, drop);
	}
}

/**
 * gprof_lookup_exit() - wait for it
 *
 * Context: Task; nobody walks any more.
 */
void gprof_lookup_exit(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct held *h = per_cpu_ptr(&helds, cpu);

		irq_work_sync(&h->unlock);
		flush_work(&h->drop);
	}
}
