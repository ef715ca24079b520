// SPDX-License-Identifier: GPL-2.0-only
/*
 * source task: kind task. A START has one sample taken of each task of the target: its state
 * at that moment, and where it is.
 *
 * After the goroutine profile of Go, which stops the world for it. Here each task has an
 * instant of its own (task_stack.c), and the times of the samples tell how far these
 * lie apart.
 *
 * User stacks are read in the address space that they are in, which only a thread of the
 * kernel may borrow: the owner's (worker.c). START waits for it. The thread comes
 * back for samples that found no room, as long as somebody reads the rings.
 */
#include "kind/source.h"
#include "sample/sampler.h"
#include "sample/task_stack.h"
#include "target/target.h"
#include "task/cgroups.h"
#include "unwind/table_set.h"
#include "user/worker.h"
#include "user/later.h"

#include <linux/completion.h>
#include <linux/gprof.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>

#define SPARE		64	/* tasks that may come while they are counted */
#define FULL_NS		NSEC_PER_SEC	/* a reader that takes nothing for so long has gone */
#define LOOK_NS		(300 * NSEC_PER_USEC)

enum phase {
	IDLE,
	WALK,	/* START waits for the stacks */
	REST,	/* and for their cost to be earned again */
};

/**
 * struct task_source - state of a recorder of kind task
 * @target: whose tasks
 * @sampler: where to
 * @work: the owner's thread
 * @phase: work that it is to do. START sets it, and is told by @done
 * @tasks: references to the tasks of this START
 * @nr: of them
 * @at: the next of them
 * @told: how many were recorded
 * @full_since: when there was no room for the first time since there was; 0: there is
 * @done: the thread has done all
 */
struct task_source {
	const struct gprof_target *target;
	struct gprof_sampler *sampler;
	struct gprof_work work;
	enum phase phase;
	struct task_struct **tasks;
	unsigned int nr;
	unsigned int at;
	unsigned int told;
	u64 full_since;
	struct completion done;
};

/* ---- which tasks ---- */

static bool is_wanted(const struct gprof_target *t, struct task_struct *task)
{
	if (t->type == GPROF_TARGET_CPUS)
		return cpumask_test_cpu(task_cpu(task), t->cpus);
	return !t->cgroup || gprof_cgroup_has(t->cgroup, task);
}

/* Under RCU. Counts all, and takes as many as there is room for. */
static unsigned int collect_tasks(struct task_source *s, unsigned int room)
{
	const struct gprof_target *t = s->target;
	struct task_struct *process, *task;
	unsigned int nr = 0;

#define TAKE(_task) do {						\
	if (nr < room)							\
		s->tasks[nr] = get_task_struct(_task);			\
	nr++;								\
} while (0)

	if (t->type == GPROF_TARGET_THREAD) {
		TAKE(t->task);
	} else if (t->type == GPROF_TARGET_PROCESS) {
		for_each_thread(t->task, task)
			TAKE(task);
	} else {
		for_each_process_thread(process, task) {
			if (is_wanted(t, task))
				TAKE(task);
		}
	}
#undef TAKE
	return nr;
}

static void put_tasks(struct task_source *s)
{
	while (s->nr)
		put_task_struct(s->tasks[--s->nr]);
	kvfree(s->tasks);
	s->tasks = NULL;
}

static int collect(struct task_source *s)
{
	unsigned int room = 0, nr;

	for (;;) {
		rcu_read_lock();
		nr = collect_tasks(s, room);
		rcu_read_unlock();
		s->nr = min(nr, room);
		if (nr <= room)
			return 0;
		put_tasks(s);
		room = nr + SPARE;
		s->tasks = kvmalloc_array(room, sizeof(*s->tasks), GFP_KERNEL_ACCOUNT);
		if (!s->tasks)
			return -ENOMEM;
		if (fatal_signal_pending(s->target->caller))
			return -EINTR;
	}
}

/* ---- the owner's thread ---- */

/* The most that one task takes: its name, a stack, a sample. */
#define LARGEST	(sizeof(struct gprof_task_rec) + sizeof(struct gprof_stack_rec) +		\
		 sizeof(u64) * (2 * GPROF_MAX_FRAMES + 2) + sizeof(struct gprof_sample_rec) +	\
		 sizeof(struct gprof_task_state) + sizeof(struct gprof_generation_rec))

static bool has_room(const struct task_source *s)
{
	struct gprof_percpu_buffer *ch;
	bool room;

	preempt_disable();
	ch = s->sampler->buffers[smp_processor_id()];
	room = !ch || gprof_buffer_room(&ch->buffer) >= LARGEST;
	preempt_enable();
	return room;
}

/*
 * When to look again for room, or 0: there is some, or nobody takes anything any more. A sample
 * that does not fit then is lost, and counted.
 */
static u64 wait_for_room(struct task_source *s)
{
	u64 now;

	if (has_room(s)) {
		s->full_since = 0;
		return 0;
	}
	now = ktime_get_mono_fast_ns();
	if (!s->full_since)
		s->full_since = now;
	return now - s->full_since < FULL_NS ? now + LOOK_NS : 0;
}

/* Walks look mappings up, but for those of Python, and but on PREEMPT_RT: these want a copy. */
static void learn(struct task_source *s, struct task_struct *task)
{
	struct gprof_table_set *table_set = s->sampler->maps.table_set;

	if (table_set &&
	    (IS_ENABLED(CONFIG_PREEMPT_RT) || s->sampler->options.flags & GPROF_STACK_F_PYTHON) &&
	    gprof_task_in_mm_seems_allowed(task, current->mm, s->target->owner))
		gprof_table_set_map_current(table_set);
}

static void borrow(struct task_source *s, struct mm_struct **mm, struct task_struct *task)
{
	/* Only to be compared: its owner keeps it. */
	if (*mm && READ_ONCE(task->mm) == *mm)
		return;
	if (*mm) {
		kthread_unuse_mm(*mm);
		mmput_async(*mm);
	}
	*mm = get_task_mm(task);
	if (!*mm)
		return;
	kthread_use_mm(*mm);
	learn(s, task);
}

/*
 * A reader may be slow, and others have work items for the same thread: it does not wait here.
 * Returns when to go on, or 0: all are told.
 */
static u64 walk(struct task_source *s)
{
	struct mm_struct *mm = NULL;
	u64 due = 0;

	while (s->at < s->nr && !READ_ONCE(s->work.cut)) {
		due = wait_for_room(s);
		if (due)
			break;
		gprof_work_yield(&s->work);
		borrow(s, &mm, s->tasks[s->at]);
		s->told += gprof_task_stack(s->tasks[s->at], s->target, s->sampler);
		s->at++;
		cond_resched();
	}
	if (mm) {
		kthread_unuse_mm(mm);
		mmput_async(mm);
	}
	return due;
}

/*
 * The owner pays for it, and waits until the cost is earned: else nothing would be left
 * for reading the mappings of the tasks that were found.
 */
static u64 run(struct gprof_work *e, bool awaited)
{
	struct task_source *s = container_of(e, struct task_source, work);
	u64 due;

	if (READ_ONCE(s->phase) == WALK) {
		gprof_work_begin(e);
		due = walk(s);
		gprof_work_end(e);
		if (due && !READ_ONCE(e->cut))
			return due;
		s->phase = REST;
	}
	if (s->phase != REST)
		return U64_MAX;
	due = gprof_work_due(e);
	if (due > ktime_get_mono_fast_ns() && !READ_ONCE(e->cut))
		return due;
	s->phase = IDLE;
	complete(&s->done);
	return U64_MAX;
}

/* ---- */

static int check(const struct gprof_request *req, u32 *reason)
{
	const struct gprof_task_params *p = req->params;

	*reason = GPROF_REASON_PARAMS;
	if (p->flags)
		return -EOPNOTSUPP;
	*reason = GPROF_REASON_FLAGS;
	if (req->target->on_exec)
		return -EOPNOTSUPP;
	return gprof_source_check_kernel(req, req->kernel_frames, reason);
}

static u64 features(void)
{
	return GPROF_FEAT_TASK_STATE;
}

static int setup(struct gprof_request *req, void **state)
{
	struct task_source *s;
	int err;

	err = check(req, &req->reason);
	if (err)
		return err;
	req->reason = GPROF_REASON_NONE;
	s = kzalloc(sizeof(*s), GFP_KERNEL_ACCOUNT);
	if (!s)
		return -ENOMEM;
	s->target = req->target;
	s->sampler = req->sampler;
	init_completion(&s->done);
	err = gprof_work_init(&s->work, run, req->target->privileged);
	if (err) {
		kfree(s);
		return err;
	}
	req->weight = 1;
	req->kernel = req->kernel_frames;
	*state = s;
	return 0;
}

/* Until the caller is killed, in a worker too. Returns whether it is done. */
static bool await_done(struct task_source *s)
{
	while (!fatal_signal_pending(s->target->caller)) {
		if (!gprof_complete_within(&s->done, TASK_KILLABLE, NSEC_PER_SEC / 20))
			return true;
	}
	return false;
}

static int start(void *state, u32 *attached)
{
	struct task_source *s = state;
	int err = 0;

	/* Those of a START that was killed. */
	if (!gprof_work_resume(&s->work))
		return -EINTR;
	put_tasks(s);
	if (gprof_target_is_tasks(s->target))
		err = gprof_target_ask(s->target);
	err = err < 0 ? err : collect(s);
	if (!err) {
		s->told = 0;
		s->at = 0;
		s->full_since = 0;
		reinit_completion(&s->done);
		WRITE_ONCE(s->phase, WALK);
		gprof_work_call(&s->work);
		if (!await_done(s)) {
			/* It ends with the task that it is at; it may be kept from running. */
			gprof_work_finish(&s->work, 0);
			return -EINTR;
		}
		*attached = s->told;
	}
	put_tasks(s);
	return err;
}

static void stop(void *state)
{
}

static void stats(void *state, struct gprof_stats *stats)
{
}

static void destroy(void *state)
{
	struct task_source *s = state;

	gprof_work_destroy(&s->work);
	put_tasks(s);
	kfree(s);
}

const struct gprof_source_ops gprof_source_task = {
	.kind = GPROF_KIND_TASK,
	.params_size = sizeof(struct gprof_task_params),
	.params_min = GPROF_TASK_PARAMS_SIZE_VER0,
	.features = features,
	.setup = setup,
	.start = start,
	.stop = stop,
	.stats = stats,
	.destroy = destroy,
};
