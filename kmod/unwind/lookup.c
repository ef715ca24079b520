// SPDX-License-Identifier: GPL-2.0-only
/*
 * lookup: tables by the text that they are for, and the mappings of current under its lock,
 * or the pages that are mapped.
 *
 * The mmap_lock is only tried. An interrupt or NMI cannot give it back, since that may wake
 * a writer, and the interrupted code may hold the locks that this takes. So a hard irq_work
 * does, which runs as soon as interrupts are on again; until then walks of the same memory
 * use it too, and the CPU has no other.
 *
 * That may be when the CPU has left the task, which may have ended since. So the memory's
 * description is held, and the call that would free it is left to a worker.
 *
 * Where the lock is not to be had, a page says of which file it is, and where in it. Of code
 * that has just run the page is there, and get_user_pages_fast_only() takes no lock. A page
 * that was unmapped meanwhile, and has nobody else, is left to the worker too.
 */
#include "lookup.h"
#include "compat/irq_work.h"
#include "compat/mm.h"
#include "compat/page.h"
#include "compat/vma.h"
#include "compat/workqueue.h"
#include "mm_tables.h"
#include "cfi_table.h"

#include <linux/cpumask.h>
#include <linux/fs.h>
#include <linux/irqflags.h>
#include <linux/magic.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/random.h>
#include <linux/rculist.h>
#include <linux/sched/mm.h>
#include <linux/siphash.h>
#include <linux/spinlock.h>

#define TABLES_BITS	10

/**
 * struct held - the memory whose lock this CPU has taken in an interrupt, or of whose pages one
 * @mm: memory; NULL: none
 * @locked: its lock is held
 * @page: page that nobody else holds; NULL: none
 * @unlock: gives the lock back
 * @drop: frees a description, or a page, that nobody else holds
 */
struct held {
	struct mm_struct *mm;
	bool locked;
	struct page *page;
	struct irq_work unlock;
	struct work_struct drop;
};

static struct hlist_head tables[1 << TABLES_BITS];
static DEFINE_RAW_SPINLOCK(tables_lock);	/* protects it against writers */
static siphash_key_t tables_key;	/* users choose what their files' times are */
static DEFINE_PER_CPU(struct held, helds);

static struct hlist_head *tables_of(u32 set, const struct gprof_file_id *id)
{
	return &tables[(siphash(id, sizeof(*id), &tables_key) + set) % ARRAY_SIZE(tables)];
}

/**
 * gprof_lookup_add() - a table may be found
 * @u: table with its @set and @id
 *
 * Context: Task.
 */
void gprof_lookup_add(struct gprof_cfi_table *u)
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
void gprof_lookup_remove(struct gprof_cfi_table *u)
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
const struct gprof_cfi_table *gprof_lookup_table(u32 set, const struct gprof_file_id *id)
{
	struct hlist_node *n;

	/* Open-coded: a walk is in no section that RCU's debugging could know of. */
	for (n = READ_ONCE(tables_of(set, id)->first); n; n = READ_ONCE(n->next)) {
		struct gprof_cfi_table *u = hlist_entry(n, struct gprof_cfi_table, hash);

		if (u->set == set && gprof_same_file_id(&u->id, id))
			return u;
	}
	return NULL;
}

static bool unlocks_later(void)
{
	return irqs_disabled() || in_nmi();
}

/* On PREEMPT_RT the lock is one that sleeps. */
static bool try_lock(struct mm_struct *mm)
{
	return !IS_ENABLED(CONFIG_PREEMPT_RT) && mmap_read_trylock(mm);
}

/**
 * gprof_lookup_begin() - texts are going to be looked up
 * @mm: memory of current
 *
 * Context: Any incl. NMI, preemption off.
 * Return: from where, until gprof_lookup_end() in the same context.
 */
enum gprof_lookup_by gprof_lookup_begin(struct mm_struct *mm)
{
	struct held *h = this_cpu_ptr(&helds);
	bool later = unlocks_later();

	if (!later && try_lock(mm))
		return GPROF_LOOKUP_MAPPINGS;
	/* Pairs with smp_store_release() in drop(): the page is gone. */
	if (cmpxchg(&h->mm, NULL, mm)) {
		/* A late timer has fired twice, or an NMI has met the walk of an interrupt. */
		if (!later || !READ_ONCE(h->locked) || h->mm != mm)
			return GPROF_LOOKUP_NONE;
		rwsem_acquire_read(&mm->mmap_lock.dep_map, 0, 1, _RET_IP_);
		return GPROF_LOOKUP_KEPT;
	}
	if (!later || !try_lock(mm))
		return GPROF_LOOKUP_PAGES;
	mmgrab(mm);
	WRITE_ONCE(h->locked, true);
	return GPROF_LOOKUP_MAPPINGS;
}

/**
 * gprof_lookup_end() - nothing more is looked up
 * @by: result of gprof_lookup_begin()
 * @mm: its memory
 *
 * Context: As that.
 */
void gprof_lookup_end(enum gprof_lookup_by by, struct mm_struct *mm)
{
	struct held *h = this_cpu_ptr(&helds);

	if (by == GPROF_LOOKUP_PAGES) {
		if (unlikely(h->page))
			irq_work_queue(&h->unlock);
		else
			WRITE_ONCE(h->mm, NULL);
		return;
	}
	if (!unlocks_later()) {
		mmap_read_unlock(mm);
		return;
	}
	/* Lockdep is not to wonder at a context that ends with a lock. */
	rwsem_release(&mm->mmap_lock.dep_map, _RET_IP_);
	if (by == GPROF_LOOKUP_MAPPINGS)
		irq_work_queue(&h->unlock);
}

static void unlock(struct irq_work *work)
{
	struct held *h = container_of(work, struct held, unlock);
	struct mm_struct *mm = h->mm;

	if (h->page) {
		queue_work(system_dfl_wq, &h->drop);
		return;
	}
	/* A walk that begins from here on, in an NMI, is not to believe in the lock. */
	WRITE_ONCE(h->locked, false);
	barrier();
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
	struct page *page = h->page;

	h->page = NULL;
	/* Pairs with cmpxchg() in gprof_lookup_begin(). */
	smp_store_release(&h->mm, NULL);
	if (page)
		put_page(page);
	else
		mmdrop(mm);
}

/*
 * The text that the page at @at is of. A file cannot lose its inode's memory before a grace
 * period has passed; preemption is off.
 */
static bool page_text(struct held *h, u64 at, struct gprof_exec_map *map)
{
	const struct address_space *mapping;
	const struct inode *inode;
	struct page *page;
	unsigned long nr;
	bool found;

	if (h->page || get_user_pages_fast_only(at, 1, 0, &page) != 1)
		return false;
	mapping = gprof_page_mapping(page, &nr);
	inode = mapping ? READ_ONCE(mapping->host) : NULL;
	/* Huge pages have had other numbers. */
	found = inode && S_ISREG(inode->i_mode) && inode->i_sb->s_magic != HUGETLBFS_MAGIC;
	if (found) {
		map->kind = GPROF_EXEC_MAP_FILE;
		map->start = at & PAGE_MASK;
		map->end = map->start + PAGE_SIZE;
		map->offset = (u64)nr << PAGE_SHIFT;
		map->cfi = NULL;
		map->inode = inode;
		gprof_file_id_of(&map->id, inode);
	}
	if (!gprof_page_drop(page))
		h->page = page;
	return found;
}

static bool mapped_text(struct mm_struct *mm, u64 at, struct gprof_exec_map *map)
{
	struct vm_area_struct *vma = gprof_find_vma(mm, at);

	if (!vma || vma->vm_start > at || !(vma->vm_flags & VM_EXEC))
		return false;
	gprof_exec_map_of(map, vma);
	return true;
}

/**
 * gprof_lookup_exec_map() - the text at an address
 * @by: result of gprof_lookup_begin()
 * @set: number of a set of tables
 * @mm: memory
 * @at: any number
 * @map: becomes that, with the set's table if there is one
 *
 * Context: Any incl. NMI, preemption off.
 * Return: whether there is code, or with GPROF_LOOKUP_PAGES a page of a file.
 */
bool gprof_lookup_exec_map(enum gprof_lookup_by by, u32 set, struct mm_struct *mm, u64 at,
			   struct gprof_exec_map *map)
{
	const struct gprof_cfi_table *u;

	if (at >= TASK_SIZE_MAX)
		return false;
	if (!(by == GPROF_LOOKUP_PAGES ? page_text(this_cpu_ptr(&helds), at, map) :
					 mapped_text(mm, at, map)))
		return false;
	if (map->kind == GPROF_EXEC_MAP_ANON)
		return true;
	u = gprof_lookup_table(set, &map->id);
	if (u) {
		map->cfi = u;
		map->base = gprof_exec_map_base(map, u);
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

	get_random_bytes(&tables_key, sizeof(tables_key));
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
