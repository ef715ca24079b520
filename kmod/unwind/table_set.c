// SPDX-License-Identifier: GPL-2.0-only
/*
 * table_set: sets of tables: their users, their content, and the charge.
 *
 * Lock order: @sets_lock; struct gprof_table_set.lock, then mmap_lock of a process, which
 * is only tried.
 */
#include "table_set.h"
#include "arch/arch.h"
#include "compat/mm.h"
#include "lookup.h"
#include "python.h"
#include "unwind_user.h"

#include <linux/cred.h>
#include <linux/dcache.h>
#include <linux/err.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/gprof.h>
#include <linux/mm.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#define TABLES_MAX	4096	/* of a set */
#define MM_TABLES_MAX	1024	/* processes of a set */
#define RENEW_NS	(5 * NSEC_PER_MSEC)

/* A user at a limit must not have others wait for the lock while memory is sought. */
#define GFP_UNDER_LOCK	(GFP_KERNEL_ACCOUNT | __GFP_NORETRY)

static DEFINE_MUTEX(sets_lock);	/* protects sets */
static LIST_HEAD(sets);

u64 gprof_table_set_features(void)
{
	return IS_ENABLED(CONFIG_MMU_NOTIFIER) && GPROF_UNWINDS_BY_TABLE ?
		       GPROF_FEAT_TABLES | GPROF_FEAT_PYTHON :
		       0;
}

/* A free number: there are few sets. Under @sets_lock. */
static u16 new_id(void)
{
	const struct gprof_table_set *set;
	u32 id;

	for (id = 1; id <= U16_MAX; id++) {
		bool taken = false;

		list_for_each_entry(set, &sets, node)
			taken |= set->id == id;
		if (!taken)
			return id;
	}
	return 0;
}

static struct gprof_table_set *new_set(bool privileged)
{
	struct gprof_table_set *set = kzalloc(sizeof(*set), GFP_UNDER_LOCK);
	int err = -ENOMEM;

	if (!set)
		return ERR_PTR(err);
	set->copy = kvzalloc(sizeof(*set->copy), GFP_UNDER_LOCK);
	if (!set->copy)
		goto err_free;
	err = gprof_charge(&set->charge, sizeof(*set) + sizeof(*set->copy), privileged);
	if (err)
		goto err_copy;
	/* The first brings the memory of walks, the last takes it away. */
	err = list_empty(&sets) ? gprof_unwind_user_begin() : 0;
	if (err)
		goto err_uncharge;
	err = -ENOSPC;
	set->id = new_id();
	if (!set->id)
		goto err_uncharge;
	set->owner = current_euid();
	set->privileged = privileged;
	mutex_init(&set->lock);
	INIT_LIST_HEAD(&set->mm_tables);
	list_add(&set->node, &sets);
	return set;

err_uncharge:
	gprof_uncharge(&set->charge);
err_copy:
	kvfree(set->copy);
err_free:
	kfree(set);
	return ERR_PTR(err);
}

/**
 * gprof_table_set_get() - the set of the calling user
 * @privileged: of the two that a user may have
 *
 * Context: Task.
 * Return: set for gprof_table_set_put(), or ERR_PTR.
 */
struct gprof_table_set *gprof_table_set_get(bool privileged)
{
	struct gprof_table_set *set;

	if (!gprof_table_set_features())
		return ERR_PTR(-EOPNOTSUPP);
	mutex_lock(&sets_lock);
	list_for_each_entry(set, &sets, node) {
		if (uid_eq(set->owner, current_euid()) && set->privileged == privileged)
			goto found;
	}
	set = new_set(privileged);
	if (!IS_ERR(set))
found:
		set->users++;
	mutex_unlock(&sets_lock);
	return set;
}

static void drop_mm_tables(struct gprof_table_set *set, struct gprof_mm_tables *t)
{
	list_del(&t->node);
	set->nr_mm_tables--;
	gprof_charge_less(&set->charge, t->bytes);
	gprof_mm_tables_free(t);
}

/* Lookups of other sets may still pass by its description. */
static void free_unwind(struct gprof_cfi_table *u)
{
	vfree(u->memory);
	kfree_rcu(u, rcu);
}

/**
 * gprof_table_set_put() - a recorder has done with it
 * @set: set that no walk of the recorder's will use any more
 *
 * Context: Task.
 */
void gprof_table_set_put(struct gprof_table_set *set)
{
	struct gprof_mm_tables *t, *next;
	struct gprof_cfi_table *u;
	struct hlist_node *n;

	mutex_lock(&sets_lock);
	if (--set->users) {
		mutex_unlock(&sets_lock);
		return;
	}
	list_del(&set->node);
	mutex_lock(&set->lock);
	list_for_each_entry_safe(t, next, &set->mm_tables, node)
		drop_mm_tables(set, t);
	mutex_unlock(&set->lock);
	/* The walks of the set's recorders have ended: their sources were taken apart. */
	if (list_empty(&sets))
		gprof_unwind_user_end();
	mutex_unlock(&sets_lock);

	hlist_for_each_entry_safe(u, n, &set->unwinds, node) {
		gprof_lookup_remove(u);
		free_unwind(u);
	}
	gprof_uncharge(&set->charge);
	kvfree(set->copy);
	mutex_destroy(&set->lock);
	kfree(set);
}

static const struct gprof_cfi_table *find(struct gprof_table_set *set,
					  const struct gprof_file_id *id)
{
	const struct gprof_cfi_table *u;

	lockdep_assert_held(&set->lock);
	/* The lock keeps the set's own tables alone. */
	rcu_read_lock();
	u = gprof_lookup_table(set->id, id);
	rcu_read_unlock();
	return u;
}

static int identify(const struct gprof_unwind_table_add *arg, struct gprof_file_id *id)
{
	struct file *file;
	int err = -EINVAL;

	memset(id, 0, sizeof(*id));
	if (arg->flags & GPROF_UNWIND_TABLE_ADD_F_VDSO)
		return arg->fd == -1 ? 0 : -EINVAL;
	file = fget(arg->fd);
	if (!file)
		return -EINVAL;
	if (file->f_mode & FMODE_READ && S_ISREG(file_inode(file)->i_mode)) {
		/* That whose pages a mapping of the file has. */
		gprof_file_id_of(id, d_real_inode(file->f_path.dentry));
		err = 0;
	}
	fput(file);
	return err;
}

/* Returns a table that nobody else knows of, or ERR_PTR. */
static struct gprof_cfi_table *copy_table(const struct gprof_unwind_table_add *arg,
					  const struct gprof_file_id *id)
{
	struct gprof_cfi_table *u = kzalloc(sizeof(*u), GFP_KERNEL_ACCOUNT);
	int err = -ENOMEM;

	if (!u)
		return ERR_PTR(err);
	u->id = *id;
	u->bytes = arg->table_size;
	u->memory = __vmalloc(u->bytes, GFP_KERNEL_ACCOUNT);
	if (!u->memory)
		goto err_free;
	err = -EFAULT;
	if (copy_from_user(u->memory, u64_to_user_ptr(arg->table), u->bytes))
		goto err_free;
	err = gprof_cfi_table_check(u);
	if (!err && arg->python)
		err = gprof_python_copy(&u->python, u64_to_user_ptr(arg->python));
	if (err)
		goto err_free;
	return u;

err_free:
	free_unwind(u);
	return ERR_PTR(err);
}

static int add_locked(struct gprof_table_set *set, struct gprof_cfi_table *u, u64 bytes)
{
	struct gprof_mm_tables *t;

	if (set->nr >= TABLES_MAX)
		return -ENOSPC;
	u->set = set->id;
	hlist_add_head(&u->node, &set->unwinds);
	gprof_lookup_add(u);
	set->nr++;
	set->bytes += bytes;
	list_for_each_entry(t, &set->mm_tables, node)
		gprof_mm_tables_attach(t, u);
	return 0;
}

static void set_results(struct gprof_table_set *set, struct gprof_unwind_table_add *arg)
{
	arg->out_bytes = set->bytes;
	arg->out_tables = set->nr;
}

static u64 bytes_of(u64 table_size)
{
	return PAGE_ALIGN(table_size) + PAGE_SIZE;
}

static int charge(struct gprof_table_set *set, u64 bytes)
{
	int err;

	mutex_lock(&set->lock);
	err = gprof_charge_more(&set->charge, bytes);
	mutex_unlock(&set->lock);
	return err;
}

/**
 * gprof_table_set_add() - GPROF_IOC_UNWIND_TABLE_ADD
 * @set: of the recorder
 * @arg: argument; outputs are set, also on error
 *
 * Context: Task; reads user memory.
 * Return: 0 or a negative errno.
 */
int gprof_table_set_add(struct gprof_table_set *set, struct gprof_unwind_table_add *arg)
{
	u64 bytes = bytes_of(arg->table_size);
	struct gprof_cfi_table *u = NULL;
	struct gprof_file_id id;
	bool known;
	int err;

	arg->out_reason = GPROF_REASON_FILE;
	err = identify(arg, &id);
	if (err)
		return err;
	mutex_lock(&set->lock);
	known = find(set, &id);
	set_results(set, arg);
	mutex_unlock(&set->lock);
	arg->out_reason = GPROF_REASON_NONE;
	if (known || !arg->table_size)
		return known ? 0 : -ENOENT;

	arg->out_reason = GPROF_REASON_TABLE;
	if (arg->table_size > GPROF_UNWIND_TABLE_MAX)
		return -EINVAL;
	arg->out_reason = GPROF_REASON_MEMLOCK;
	err = charge(set, bytes);
	if (err)
		return err;
	arg->out_reason = GPROF_REASON_TABLE;
	u = copy_table(arg, &id);
	err = PTR_ERR_OR_ZERO(u);
	mutex_lock(&set->lock);
	/* Somebody may have been quicker. */
	known = !err && find(set, &id);
	if (!err && !known)
		err = add_locked(set, u, bytes);
	if (err || known)
		gprof_charge_less(&set->charge, bytes);
	set_results(set, arg);
	mutex_unlock(&set->lock);
	if (!IS_ERR(u) && (err || known))
		free_unwind(u);
	if (!err)
		arg->out_reason = GPROF_REASON_NONE;
	return err;
}

/* Those whose process has ended; where there are too many, the one not read for longest. */
static void make_room(struct gprof_table_set *set)
{
	struct gprof_mm_tables *t, *next, *oldest = NULL;

	list_for_each_entry_safe(t, next, &set->mm_tables, node) {
		if (READ_ONCE(t->dead))
			drop_mm_tables(set, t);
		else if (!oldest || t->read_ns < oldest->read_ns)
			oldest = t;
	}
	if (set->nr_mm_tables >= MM_TABLES_MAX)
		drop_mm_tables(set, oldest);
}

static struct gprof_mm_tables *mm_tables_of(struct gprof_table_set *set, struct mm_struct *mm)
{
	u64 bytes = gprof_mm_tables_bytes(0);
	struct gprof_mm_tables *t;

	list_for_each_entry(t, &set->mm_tables, node) {
		if (t->user.mm == mm && !READ_ONCE(t->dead))
			return t;
	}
	if (gprof_charge_more(&set->charge, bytes))
		return NULL;
	t = gprof_mm_tables_new(set->id, mm);
	if (IS_ERR(t)) {
		gprof_charge_less(&set->charge, bytes);
		return NULL;
	}
	t->bytes = bytes;
	list_add(&t->node, &set->mm_tables);
	set->nr_mm_tables++;
	return t;
}

/**
 * gprof_table_set_begin() - mappings of a process are about to be read
 * @set: set
 * @mm: the process' memory, of which a reference is held
 *
 * @set->copy is empty, and the caller's until gprof_table_set_cancel().
 *
 * Context: Task, without mmap_lock.
 * Return: where they go; NULL: not now.
 */
struct gprof_mm_tables *gprof_table_set_begin(struct gprof_table_set *set, struct mm_struct *mm)
{
	mutex_lock(&set->lock);
	make_room(set);
	set->copy->nr = 0;
	set->copy->more = false;
	set->copy->lacks = false;
	return mm_tables_of(set, mm);
}

/**
 * gprof_table_set_end() - all mappings have been read
 * @set: set of which @set->copy has them
 * @t: result of gprof_table_set_begin()
 * @gfp: how to have memory for them
 *
 * Context: Task, mmap_lock held since they were read.
 * Return: 0; -ENOMEM; -EDQUOT: the owner may not lock so much.
 */
int gprof_table_set_end(struct gprof_table_set *set, struct gprof_mm_tables *t, gfp_t gfp)
{
	u64 bytes = gprof_mm_tables_bytes(set->copy->nr);
	u32 i;

	for (i = 0; i < set->copy->nr; i++) {
		struct gprof_exec_map *map = &set->copy->map[i];
		const struct gprof_cfi_table *u;

		if (map->kind == GPROF_EXEC_MAP_ANON)
			continue;
		u = find(set, &map->id);
		map->cfi = u;
		set->copy->lacks |= !u;
		map->base = u ? gprof_exec_map_base(map, u) : 0;
	}
	if (bytes > t->bytes) {
		if (gprof_charge_more(&set->charge, bytes - t->bytes))
			return -EDQUOT;
		t->bytes = bytes;
	}
	return gprof_mm_tables_publish(t, set->copy, gfp);
}

/**
 * gprof_table_set_cancel() - reading is over, and its result is not used
 * @set: set, after gprof_table_set_begin()
 *
 * Context: Task.
 */
void gprof_table_set_cancel(struct gprof_table_set *set)
{
	mutex_unlock(&set->lock);
}

/* When the set has read the mappings of current last; 0: never, or too long ago. */
static u64 last_read(const struct gprof_table_set *set)
{
	const struct gprof_mm_tables *t;
	u64 read_ns;

	preempt_disable();
	t = gprof_mm_tables_find(set->id, current->mm);
	read_ns = t ? READ_ONCE(t->read_ns) : READ_ONCE(set->refused_ns);
	preempt_enable();
	return read_ns;
}

static void note_current(struct gprof_table_set *set)
{
	VMA_ITERATOR(vmi, current->mm, 0);
	struct vm_area_struct *vma;

	for_each_vma(vmi, vma) {
		if (vma->vm_flags & VM_EXEC)
			gprof_exec_map_note(set->copy, vma);
		cond_resched();
	}
}

/**
 * gprof_table_set_map_current() - a walk of current's own did not know its mappings
 * @set: set
 *
 * A missing mapping may be missing for good. So this is done now and then only.
 *
 * Context: Task, without mmap_lock.
 * Return: whether they were read.
 */
bool gprof_table_set_map_current(struct gprof_table_set *set)
{
	struct mm_struct *mm = current->mm;
	struct gprof_mm_tables *t;
	bool done = false;

	if (ktime_get_mono_fast_ns() - last_read(set) < RENEW_NS)
		return false;
	t = gprof_table_set_begin(set, mm);
	/* Even if the reading fails. */
	WRITE_ONCE(*(t ? &t->read_ns : &set->refused_ns), ktime_get_mono_fast_ns());
	if (t && mmap_read_trylock(mm)) {
		note_current(set);
		gprof_table_set_end(set, t, GFP_KERNEL_ACCOUNT);
		mmap_read_unlock(mm);
		done = true;
	}
	gprof_table_set_cancel(set);
	return done;
}
