// SPDX-License-Identifier: GPL-2.0-only
/*
 * mapping: from an NMI to a thread that reads a process' mappings.
 *
 * In the sampling context gprof_maps_request() looks into a small cache (one per
 * CPU, written by that CPU in any context). The cache forgets at will,
 * which costs a reading too many and is never wrong: an entry that an NMI tore
 * mixes a start time of one process with the id of another and matches none.
 *
 * The thread moves the wanted ids into a table of processes, each of which has its
 * turn when its allowance says so. A process that nobody has met has spent nothing:
 * it is read at once, before all that were read already. mapping_record.c writes.
 *
 * Lock order: exec_update_lock of the sampled process; struct gprof_table_set.lock, then
 * its mmap_lock. Those of the process are only tried, since their holder may sleep for ever.
 */
#include "mapping.h"
#include "compat/mm.h"
#include "compat/task.h"
#include "mapping_record.h"
#include "mm/exec_map_seq.h"
#include "target/target.h"
#include "task/pid.h"
#include "task/process.h"
#include "unwind/table_set.h"
#include "user/later.h"
#include "user/memlock.h"

#include <linux/cpumask.h>
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/pid.h>
#include <linux/preempt.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>

#define PROCESSES		64
#define SHARE			16	/* of one CPU that reading one process takes */
#define RETRY_MIN_NS		NSEC_PER_MSEC
#define RETRY_MAX_NS		(256 * NSEC_PER_MSEC)
#define FULL_PENALTY_NS		(10 * NSEC_PER_MSEC)
#define FLUSH_NS		(500 * NSEC_PER_MSEC)
#define RENEW_NS		(5 * NSEC_PER_MSEC)
#define KEPT_MAX		256	/* mappings that are read without a pause */
#define FLUSH_LIMIT_NS		(625 * NSEC_PER_MSEC)	/* more than FLUSH_NS */

/**
 * struct requested_process - a process that was or shall be read
 * @pid: which; 0: free
 * @requested: it shall be
 * @cpu: in whose ring; the CPU that asked last
 * @start_ns: when the process that was read last under this id began
 * @untracked: it was read, and nobody was told of mappings that it unmaps from then on
 * @spent: time for reading it
 * @retry: not before this time; 0: its locks were free
 * @retry_after: how long @retry lay ahead when it was set
 */
struct requested_process {
	u32 pid;
	bool requested;
	bool untracked;
	unsigned int cpu;
	u64 start_ns;
	struct gprof_cpu_budget spent;
	u64 retry;
	u64 retry_after;
};

/**
 * struct gprof_maps_memory - memory that the work item alone uses
 * @processes: those met last
 * @watches: those that are watched
 * @writer: of the process that is being read
 */
struct gprof_maps_memory {
	struct requested_process processes[PROCESSES];
	struct gprof_watches watches;
	struct gprof_map_writer writer;
};

static struct gprof_mapped_process *maps_read_entry(struct gprof_percpu_buffer *ch,
						    const struct gprof_process *p)
{
	u64 h = (p->start_ns ^ p->pid) * 0x9E3779B97F4A7C15ULL;

	return &ch->maps_read[(h >> 32) % GPROF_MAPS_READ];
}

static bool ask(struct gprof_percpu_buffer *ch, u32 pid)
{
	int i;

	for (i = 0; i < GPROF_MAPS_REQUESTS; i++) {
		int old = atomic_cmpxchg(&ch->maps_requested[i], 0, pid);

		if (!old || old == pid)
			return true;
	}
	return false;
}

/**
 * gprof_maps_request() - make sure that the mappings of a process are in the buffer
 * @m: reader
 * @ch: per-CPU buffer of this CPU
 * @process: which process
 * @exec_map_seq: stamp of its mappings now
 * @generation: current generation of @ch
 *
 * Context: Any incl. NMI, on the CPU of @ch, preemption off.
 */
void gprof_maps_request(struct gprof_maps *m, struct gprof_percpu_buffer *ch,
			const struct gprof_process *process, u32 exec_map_seq, u16 generation)
{
	struct gprof_mapped_process *maps_read = maps_read_entry(ch, process);

	if (gprof_same_process(&maps_read->process, process) &&
	    maps_read->exec_map_seq == exec_map_seq && maps_read->generation == generation)
		return;
	/* When no place is free, the next new stack asks again. */
	if (!ask(ch, process->pid))
		return;
	maps_read->process = *process;
	maps_read->exec_map_seq = exec_map_seq;
	maps_read->generation = generation;
	gprof_work_raise(&m->work);
}

/**
 * gprof_maps_expect() - have current's mappings read, as its next sample may come near its end
 * @m: reader
 * @ch: per-CPU buffer of this CPU
 *
 * Context: Any incl. NMI, on the CPU of @ch, preemption off.
 */
void gprof_maps_expect(struct gprof_maps *m, struct gprof_percpu_buffer *ch)
{
	struct gprof_process process;

	if (!current->mm)
		return;
	gprof_process_of(&process, current);
	gprof_maps_request(m, ch, &process, gprof_exec_map_seq_of(current->mm), ch->generation);
}

/**
 * gprof_maps_renew() - a copy of mappings that walks use was wanting
 * @m: reader
 * @ch: per-CPU buffer of this CPU
 * @pid: of the process
 * @now: time
 *
 * A missing mapping may be missing for good. So this is done now and then only.
 *
 * Context: Any incl. NMI, on the CPU of @ch, preemption off.
 */
void gprof_maps_renew(struct gprof_maps *m, struct gprof_percpu_buffer *ch, u32 pid, u64 now)
{
	if (now - READ_ONCE(ch->renewed) < RENEW_NS)
		return;
	WRITE_ONCE(ch->renewed, now);
	if (ask(ch, pid))
		gprof_work_raise(&m->work);
}

/**
 * struct reading - of the mappings of one process
 * @m: the recorder's maps
 * @writer: writes them
 * @untracked: see struct requested_process
 */
struct reading {
	struct gprof_maps *m;
	struct gprof_map_writer *writer;
	bool untracked;
};

/*
 * The reader keeps its CPU while it holds the mmap_lock: a task that waits to map something would
 * wait for the scheduler too. On PREEMPT_RT the locks of the functions called here sleep.
 */
static void keep_cpu(void)
{
	if (!IS_ENABLED(CONFIG_PREEMPT_RT))
		preempt_disable();
}

static void leave_cpu(void)
{
	if (!IS_ENABLED(CONFIG_PREEMPT_RT))
		preempt_enable();
}

/*
 * Writes no more records after the first that does not fit (-ENOSPC): the rest would not
 * either. Ends with -EDQUOT when it has cost all that a user may save, however many are left: a
 * ring in flight mode, or one whose reader is quick enough, is never full.
 */
static int read_mm(struct reading *r, struct mm_struct *mm, struct gprof_exec_map_copy *copy,
		   struct gprof_watch *watch)
{
	VMA_ITERATOR(vmi, mm, 0);
	struct vm_area_struct *vma, *found = NULL;
	u32 nr = 0;
	int err = 0;

	mmap_assert_locked(mm);
	gprof_map_begin(r->writer, gprof_exec_map_seq_of(mm));
	for_each_vma(vmi, vma) {
		/* There may be tens of thousands, and others wait for the CPU. */
		if (++nr % KEPT_MAX == 0) {
			leave_cpu();
			gprof_work_yield(&r->m->work);
			cond_resched();
			keep_cpu();
		}
		if (READ_ONCE(r->m->work.cut))
			return -EINTR;
		/* The process has died: files that its memory holds (a recorder's?) are to end. */
		if (atomic_read(&mm->mm_users) == 1)
			return -ESRCH;
		if (!(vma->vm_flags & VM_EXEC))
			continue;
		if (gprof_work_overspent(&r->m->work))
			return -EDQUOT;
		if (copy)
			gprof_exec_map_note(copy, vma);
		if (watch)
			gprof_watch_note(watch, vma);
		if (!err && found && !gprof_map_write(r->writer, found, false))
			err = -ENOSPC;
		if (err && !copy)
			return err;
		found = vma;
	}
	if (!err && found && !gprof_map_write(r->writer, found, true))
		err = -ENOSPC;
	return err;
}

/* With a copy for walks, where they are to have one. */
static int read_locked(struct reading *r, struct mm_struct *mm, struct gprof_mm_tables *mm_tables,
		       struct gprof_watch *watch)
{
	struct gprof_table_set *table_set = r->m->table_set;
	int err, ret = 0;

	keep_cpu();
	err = read_mm(r, mm, mm_tables ? table_set->copy : NULL, watch);
	/* The records of a reading that ended early. */
	if (!gprof_map_flush(r->writer) && !err)
		err = -ENOSPC;
	if (mm_tables && (!err || err == -ENOSPC))
		ret = gprof_table_set_end(table_set, mm_tables,
					  GFP_NOWAIT | __GFP_ACCOUNT | __GFP_NOWARN);
	leave_cpu();
	/* Until the owner has made it, stacks are cut there. */
	if (mm_tables && table_set->copy->lacks)
		gprof_map_call(r->writer);
	if (ret == -ENOMEM)
		gprof_table_set_end(table_set, mm_tables, GFP_KERNEL_ACCOUNT);
	return err;
}

/*
 * The memory of a process that the owner may see. An exec has the task go on as
 * another program, perhaps of another user, so that its identity, whether it may be seen,
 * and its memory must be of the same program: no exec is let in between.
 */
static struct mm_struct *get_allowed_mm(struct reading *r, struct task_struct *task)
{
	struct mm_struct *mm = ERR_PTR(-EPERM);

	if (!gprof_exec_trylock(task->signal))
		return ERR_PTR(-EAGAIN);
	preempt_disable();
	gprof_process_of(&r->writer->process, task);
	r->writer->process.pid = gprof_pid_in(r->m->pid_ns, r->writer->process.pid);
	preempt_enable();
	if (gprof_task_allowed(task, r->m->owner))
		mm = get_task_mm(task) ?: ERR_PTR(-ESRCH);
	gprof_exec_unlock(task->signal);
	return mm;
}

static int read_task(struct reading *r, struct task_struct *task)
{
	struct mm_struct *mm = get_allowed_mm(r, task);
	struct gprof_table_set *table_set = r->m->table_set;
	struct gprof_mm_tables *mm_tables = NULL;
	struct gprof_watch *watch;
	bool is_new;
	int err = -EAGAIN;

	if (IS_ERR(mm))
		return PTR_ERR(mm);
	if (table_set)
		mm_tables = gprof_table_set_begin(table_set, mm);
	watch = gprof_watch_begin(&r->m->memory->watches, mm, &is_new);
	/* Nobody knows which mappings were unmapped since it was read. */
	if (r->untracked && watch && is_new)
		gprof_exec_map_seq_change(mm);
	if (mmap_read_trylock(mm)) {
		err = read_locked(r, mm, mm_tables, watch);
		mmap_read_unlock(mm);
		r->untracked = !watch;
	}
	if (table_set)
		gprof_table_set_cancel(table_set);
	/*
	 * When the process has died meanwhile this reference is the last. The end of its
	 * asynchronous I/O, on a file system of the user's, may never come.
	 */
	mmput_async(mm);
	return err;
}

/* Returns 0; -ESRCH, -EPERM; -EAGAIN: not now; -ENOSPC; -EDQUOT; -EINTR: it was cut. */
static int read_process(struct gprof_maps *m, struct requested_process *p)
{
	struct gprof_map_writer *w = &m->memory->writer;
	struct reading r = { .m = m, .writer = w, .untracked = p->untracked };
	struct task_struct *task;
	int err;

	/* A thread of the kernel lives in the initial pid namespace, of which @p->pid is. */
	rcu_read_lock();
	task = pid_task(find_vpid(p->pid), PIDTYPE_TGID);
	if (task)
		get_task_struct(task);
	rcu_read_unlock();
	if (!task)
		return -ESRCH;
	w->cpu = p->cpu;
	w->process = (struct gprof_process){ };
	err = read_task(&r, task);
	p->untracked = r.untracked;
	put_task_struct(task);
	if (w->process.start_ns != p->start_ns) {
		/* Another process under the same id owes nothing. */
		p->start_ns = w->process.start_ns;
		p->spent.settled = 0;
	}
	return err;
}

static u64 due_of(const struct requested_process *p)
{
	return max(gprof_cpu_budget_due(&p->spent), p->retry);
}

static void drop_request(struct gprof_maps *m, struct requested_process *p)
{
	p->requested = false;
	p->retry = 0;
	p->retry_after = 0;
	atomic64_inc(&m->missed);
}

/* The place of a process. Where there is none, the one that has spent most goes. */
static struct requested_process *place_for(struct gprof_maps *m, u32 pid)
{
	struct requested_process *p = m->memory->processes, *idle = NULL, *most = p;
	int i;

	for (i = 0; i < PROCESSES; i++, p++) {
		if (p->pid == pid)
			return p;
		if (!p->requested && (!idle || p->spent.settled < idle->spent.settled))
			idle = p;
		if (p->spent.settled > most->spent.settled)
			most = p;
	}
	p = idle ?: most;
	if (p->requested)
		drop_request(m, p);
	*p = (struct requested_process){ .pid = pid };
	return p;
}

static void collect(struct gprof_maps *m)
{
	unsigned int cpu, i;

	for_each_possible_cpu(cpu) {
		struct gprof_percpu_buffer *ch = m->buffers[cpu];

		for (i = 0; ch && i < GPROF_MAPS_REQUESTS; i++) {
			/*
			 * Free the place first: a process that is asked for from now on is
			 * read again. The exchange is a full barrier and pairs with
			 * atomic_cmpxchg() in ask().
			 */
			u32 pid = atomic_read(&ch->maps_requested[i]) ?
					  atomic_xchg(&ch->maps_requested[i], 0) :
					  0;

			if (pid) {
				struct requested_process *p = place_for(m, pid);

				p->requested = true;
				p->cpu = cpu;
			}
		}
	}
}

static struct requested_process *first_requested(struct gprof_maps *m)
{
	struct requested_process *p = m->memory->processes, *first = NULL;
	int i;

	for (i = 0; i < PROCESSES; i++, p++) {
		if (p->requested && (!first || due_of(p) < due_of(first)))
			first = p;
	}
	return first;
}

static void serve(struct gprof_maps *m, struct requested_process *p)
{
	u64 cost, now;
	int err;

	gprof_work_begin(&m->work);
	err = read_process(m, p);
	cost = gprof_work_end(&m->work);
	now = ktime_get_mono_fast_ns();
	/* Until there is room again. */
	if (err == -ENOSPC)
		cost += FULL_PENALTY_NS;
	gprof_cpu_budget_spend(&p->spent, now, cost, SHARE);
	if (err == -EAGAIN) {
		p->retry_after = clamp_t(u64, 2 * p->retry_after, RETRY_MIN_NS, RETRY_MAX_NS);
		p->retry = now + p->retry_after;
		return;
	}
	if (err && err != -ENOSPC) {
		drop_request(m, p);
		return;
	}
	p->requested = false;
	p->retry = 0;
	p->retry_after = 0;
}

/* Somebody waits: is it worth a little while? For a lock it is, for an allowance not. */
static bool can_wait(struct requested_process *p, u64 solvent, u64 now, u64 deadline)
{
	return solvent <= now && now < deadline && gprof_cpu_budget_due(&p->spent) <= now;
}

static u64 read_requested(struct gprof_work *e, bool awaited)
{
	struct gprof_maps *m = container_of(e, struct gprof_maps, work);
	u64 deadline = ktime_get_mono_fast_ns() + FLUSH_NS;
	struct requested_process *p;

	collect(m);
	while ((p = first_requested(m))) {
		u64 now = ktime_get_mono_fast_ns(), solvent = gprof_work_due(e);
		u64 due = max(due_of(p), solvent);

		if (due <= now && !READ_ONCE(e->cut)) {
			serve(m, p);
			cond_resched();
		} else if (!awaited) {
			return due;
		} else if (can_wait(p, solvent, now, deadline) && !READ_ONCE(e->cut)) {
			set_current_state(TASK_UNINTERRUPTIBLE);
			gprof_sleep_until(now + NSEC_PER_MSEC);
		} else {
			drop_request(m, p);
		}
	}
	return U64_MAX;
}

/**
 * gprof_maps_bytes() - memory that a reader takes, for the charge
 */
u64 gprof_maps_bytes(void)
{
	return gprof_memory_of(sizeof(struct gprof_maps_memory));
}

/**
 * gprof_maps_init() - make a reader
 * @m: reader, zeroed
 * @buffers: per-CPU buffers by CPU, which outlive @m
 * @pid_ns: in which records have ids, which outlives @m; NULL: the initial pid namespace
 * @owner: the caller's credentials, which decide its right to see; a reference is taken
 * @privileged: the owner records the whole host
 * @table_set: set that gets copies, and outlives @m, or NULL
 * @charge: pays for the data kept of processes, and outlives @m
 *
 * Context: Task.
 * Return: 0 or a negative errno.
 */
int gprof_maps_init(struct gprof_maps *m, struct gprof_percpu_buffer **buffers,
		    struct pid_namespace *pid_ns, const struct cred *owner, bool privileged,
		    struct gprof_table_set *table_set, struct gprof_charge *charge)
{
	int err;

	m->memory = kzalloc(sizeof(*m->memory), GFP_KERNEL_ACCOUNT);
	if (!m->memory)
		return -ENOMEM;
	err = gprof_work_init(&m->work, read_requested, privileged);
	if (err) {
		kfree(m->memory);
		m->memory = NULL;
		return err;
	}
	gprof_watches_init(&m->memory->watches, charge);
	m->memory->writer.buffers = buffers;
	m->buffers = buffers;
	m->table_set = table_set;
	m->pid_ns = pid_ns;
	m->owner = get_cred(owner);
	return 0;
}

/**
 * gprof_maps_flush() - have all that was asked for written or given up
 * @m: reader, or zeroed; no source asks any more
 *
 * The thread tries locks for half a second. If it has more to read than that, or is kept from
 * running, it is cut.
 *
 * Context: Task; waits for the owner's thread.
 * Return: whether it is done. Else it may write until gprof_work_resume() says that it has
 * ended, which has to be asked before a source asks again.
 */
bool gprof_maps_flush(struct gprof_maps *m)
{
	return !m->memory || gprof_work_finish(&m->work, FLUSH_LIMIT_NS);
}

/**
 * gprof_maps_destroy() - free a reader
 * @m: reader that gprof_maps_init() made, or zeroed; no source uses it any more
 *
 * Context: Task.
 */
void gprof_maps_destroy(struct gprof_maps *m)
{
	if (!m->memory)
		return;
	gprof_work_destroy(&m->work);
	gprof_watches_destroy(&m->memory->watches);
	put_cred(m->owner);
	kfree(m->memory);
	m->memory = NULL;
}
