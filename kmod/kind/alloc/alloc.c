// SPDX-License-Identifier: GPL-2.0-only
/*
 * alloc: the kernel's allocations for a target's tasks.
 *
 * The allocators tell when something was allocated, before the caller has it, and when it is
 * going to be freed: so of one address nothing is told at a time but once. A sampled object is
 * found by its address in a table (object_table.c), pages by that of their struct. Objects that
 * are freed many at once are not told of: there a probe is in the function. All of that happens
 * in any context, and in the middle of itself; nothing here takes a lock, allocates, or turns
 * interrupts off.
 *
 * The way of an allocation that is not sampled is counted in instructions.
 */
#include "alloc.h"
#include "alloc_probe.h"
#include "user_alloc.h"
#include "compat/alloc.h"
#include "kind/source.h"
#include "ring/object_table.h"
#include "sample/sampler.h"
#include "user/memlock.h"

#include <linux/build_bug.h>
#include <linux/gprof.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/perf_event.h>
#include <linux/preempt.h>
#include <linux/random.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/threads.h>
#include <linux/timekeeping.h>

#define BITMAP_BYTES	(PID_MAX_LIMIT / BITS_PER_BYTE)

/* ---- allocations ---- */

/* Allocations of a work item are the recorders' own. */
static bool is_ours(void)
{
	return in_task() && current->flags & PF_KTHREAD && !strncmp(current->comm, "gprof/", 6);
}

static void sample(struct gprof_allocs *a, const void *what, size_t bytes, u64 weight, bool pages)
{
	struct gprof_capture c __uninitialized;
	struct pt_regs regs;

	perf_fetch_caller_regs(&regs);
	gprof_arch_caller_regs(&regs);
	if (pages && !in_nmi() && gprof_pages_are_part(&regs))
		return;
	gprof_capture(&c, &regs, ktime_get_mono_fast_ns());
	if (!in_task()) {
		c.task = &init_task;
		/* Nor the place in user mode where the interrupt came, for want of the kernel's. */
		c.without = GPROF_STACK_F_USER |
			    (a->sampler->options.kernel ? 0 : GPROF_STACK_F_IP);
	}
	c.flags |= GPROF_SAMPLE_REC_F_VALUE;
	c.value = bytes;
	/* In the table first: a reader of the ring looks there. */
	if (a->objects)
		c.object = gprof_object_table_add(a->objects, (unsigned long)what, c.time, bytes,
						  weight, &c.ended);
	if (a->objects && c.object)
		c.flags |= gprof_object_flags(&c);
	gprof_emit(&c, a->sampler, weight);
	gprof_captured(&c);
}

/* It is at a stop, or interrupts an allocation that is. */
static noinline void perhaps(struct gprof_allocs *a, const void *what, size_t bytes, s64 left,
			     bool pages)
{
	struct gprof_byte_sample *byte_sample = &this_cpu_ptr(a->cpus)->byte_sample;
	u64 weight = gprof_byte_sample_draw(byte_sample, a->period, bytes, &left);

	if (weight && READ_ONCE(a->on) && gprof_allocs_are_targets(a) &&
	    !ZERO_OR_NULL_PTR(what) && bytes && !is_ours())
		sample(a, what, bytes, weight, pages);
	local64_add(left, &byte_sample->subsample.left);
}

/*
 * Bytes that are not the target's are in stretches of byte_sample.c like its own: that takes no
 * part in whether a byte is sampled. So most need not be looked at.
 */
static inline void allocated(struct gprof_allocs *a, const void *what, size_t bytes, bool pages)
{
	s64 left = local64_sub_return(bytes, &this_cpu_ptr(a->cpus)->byte_sample.subsample.left);

	if (unlikely(left <= 0))
		perhaps(a, what, bytes, left, pages);
}

static notrace void slab_allocated(void *data, const void *what, size_t bytes,
				   const struct gprof_tp_mux *mux)
{
	allocated(data, what, bytes, false);
}

static notrace void pages_allocated(void *data, const void *what, size_t bytes,
				    const struct gprof_tp_mux *mux)
{
	allocated(data, what, bytes, true);
}

/* ---- and their ends ---- */

static noinline void ended(struct gprof_allocs *a, unsigned int at, const void *what)
{
	/* An allocation that is live at STOP is so afterwards. */
	if (READ_ONCE(a->on))
		gprof_object_table_remove(a->objects, at, (unsigned long)what);
}

static inline void freed(struct gprof_allocs *a, const void *what)
{
	int at;

	if (ZERO_OR_NULL_PTR(what))
		return;
	at = gprof_object_table_find(a->objects, (unsigned long)what);
	if (unlikely(at >= 0))
		ended(a, at, what);
}

static notrace void is_freed(void *data, const void *what, const struct gprof_tp_mux *mux)
{
	freed(data, what);
}

#ifdef CONFIG_KPROBES
static struct gprof_allocs *allocs_of(struct kprobe *kp)
{
	return container_of(kp, struct gprof_alloc_kprobe, kp)->allocs;
}

/* kmem_cache_free_bulk(cache, size, objects) */
static int many_freed(struct kprobe *kp, struct pt_regs *regs)
{
	size_t size = regs_get_kernel_argument(regs, 1);
	void **objects = (void **)regs_get_kernel_argument(regs, 2);

	while (size--)
		freed(allocs_of(kp), objects[size]);
	return 0;
}

/* kmem_cache_free(cache, object), kvfree_call_rcu(head, object) */
static int one_freed(struct kprobe *kp, struct pt_regs *regs)
{
	freed(allocs_of(kp), (void *)regs_get_kernel_argument(regs, 1));
	return 0;
}

static const struct {
	const char *symbol;
	kprobe_pre_handler_t handler;
	bool wanted;
} functions[GPROF_ALLOC_KPROBES] = {
	{ "kmem_cache_free_bulk", many_freed, true },
	{ "kmem_cache_free", one_freed, GPROF_CACHE_FREE_LATE },
	{ "kvfree_call_rcu", one_freed, GPROF_RCU_FREE_UNREPORTED },
};

static void detach_functions(struct gprof_allocs *a)
{
	while (a->nr_kprobes) {
		struct kprobe *kp = &a->kprobes[--a->nr_kprobes].kp;

		unregister_kprobe(kp);
		/* Within another probe it is not called. Each may have been one end. */
		if (kp->nmissed)
			gprof_object_table_count_unseen(a->objects, kp->nmissed);
	}
}

static int attach_functions(struct gprof_allocs *a)
{
	unsigned int i;
	int err;

	for (i = 0; a->objects && i < ARRAY_SIZE(functions); i++) {
		struct gprof_alloc_kprobe *k = &a->kprobes[a->nr_kprobes];

		if (!functions[i].wanted)
			continue;
		*k = (struct gprof_alloc_kprobe){
			.kp.symbol_name = functions[i].symbol,
			.kp.pre_handler = functions[i].handler,
			.allocs = a,
		};
		err = register_kprobe(&k->kp);
		if (err) {
			detach_functions(a);
			return err;
		}
		a->nr_kprobes++;
	}
	return 0;
}

static bool can_probe_one(const char *symbol)
{
	struct kprobe kp = { .symbol_name = symbol, .flags = KPROBE_FLAG_DISABLED };

	if (register_kprobe(&kp))
		return false;
	unregister_kprobe(&kp);
	return true;
}

static bool can_probe(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(functions); i++) {
		if (functions[i].wanted && !can_probe_one(functions[i].symbol))
			return false;
	}
	return true;
}
#else
static void detach_functions(struct gprof_allocs *a)
{
}

static int attach_functions(struct gprof_allocs *a)
{
	return a->objects ? -EOPNOTSUPP : 0;
}

static bool can_probe(void)
{
	return false;
}
#endif

/**
 * gprof_allocs_can_last() - do all ends get told on this kernel?
 *
 * Tried once; a caller may ask for INFO often.
 *
 * Context: Task.
 */
bool gprof_allocs_can_last(void)
{
	static DEFINE_MUTEX(mutex);	/* protects the variables below */
	static bool tried, can;
	bool found;

	mutex_lock(&mutex);
	if (!tried) {
		can = gprof_tp_exists(GPROF_TP_KFREE) && gprof_tp_exists(GPROF_TP_CACHE_FREE) &&
		      gprof_tp_exists(GPROF_TP_PAGE_FREE) && can_probe();
		tried = true;
	}
	found = can;
	mutex_unlock(&mutex);
	return found;
}

/* ---- life ---- */

static void add_sub(struct gprof_allocs *a, enum gprof_tp_id id,
		    void (*on_alloc)(void *data, const void *what, size_t bytes,
				     const struct gprof_tp_mux *mux),
		    void (*on_free)(void *data, const void *what, const struct gprof_tp_mux *mux))
{
	struct gprof_tp_sub *u = &a->subs[a->nr_subs];

	if (!gprof_tp_exists(id))
		return;
	u->tp = id;
	if (on_alloc)
		u->on_alloc = on_alloc;
	else
		u->on_free = on_free;
	u->data = a;
	/* Frees count from any task. */
	u->tracked_only = on_alloc && a->whose.tgids;
	a->nr_subs++;
}

/* Ends first: an allocation can be freed from then on. */
static void set_subs(struct gprof_allocs *a, u32 what)
{
	if (what & GPROF_ALLOC_F_SLAB) {
		if (a->objects) {
			add_sub(a, GPROF_TP_KFREE, NULL, is_freed);
			if (!GPROF_CACHE_FREE_LATE)
				add_sub(a, GPROF_TP_CACHE_FREE, NULL, is_freed);
		}
		add_sub(a, GPROF_TP_KMALLOC, slab_allocated, NULL);
		add_sub(a, GPROF_TP_KMALLOC_NODE, slab_allocated, NULL);
		add_sub(a, GPROF_TP_CACHE_ALLOC, slab_allocated, NULL);
		add_sub(a, GPROF_TP_CACHE_ALLOC_NODE, slab_allocated, NULL);
	}
	if (what & GPROF_ALLOC_F_PAGES) {
		if (a->objects)
			add_sub(a, GPROF_TP_PAGE_FREE, NULL, is_freed);
		add_sub(a, GPROF_TP_PAGE_ALLOC, pages_allocated, NULL);
	}
}

/**
 * gprof_allocs_bytes() - memory that allocations take, for the charge
 * @req: request
 *
 * Context: Task.
 */
u64 gprof_allocs_bytes(const struct gprof_request *req)
{
	const struct gprof_alloc_params *p = req->params;

	/* A caller that is going to be refused is told why, and not that it is too large. */
	if (!req->target->privileged && !(p->flags & GPROF_ALLOC_F_PROGRAM))
		return 0;
	return gprof_memory_of(sizeof(struct gprof_allocs)) +
	       (p->flags & GPROF_ALLOC_F_PROBES ?
		gprof_alloc_probes_bytes(min_t(u32, p->nr_functions,
					       GPROF_ALLOC_FUNCTIONS_MAX)) : 0) +
	       sizeof(struct gprof_alloc_cpu) * num_possible_cpus() +
	       (gprof_target_is_tasks(req->target) ?
		BITMAP_BYTES + gprof_task_set_bytes(req->target) : 0);
}

static void missed(struct gprof_task_set *task_set)
{
	atomic64_inc(&container_of(task_set, struct gprof_allocs, task_set)->sampler->no_buffer);
}

static const struct gprof_task_set_ops task_set_ops = {
	.missed = missed,
};

static bool build(struct gprof_allocs *a, struct gprof_request *req)
{
	int cpu;

	a->cpus = alloc_percpu_gfp(struct gprof_alloc_cpu, GFP_KERNEL_ACCOUNT);
	if (!a->cpus)
		return false;
	for_each_possible_cpu(cpu)
		local64_set(&per_cpu_ptr(a->cpus, cpu)->byte_sample.subsample.random,
			    get_random_u64());
	if (!gprof_target_is_tasks(req->target))
		return true;
	a->whose.tgids = kvzalloc(BITMAP_BYTES, GFP_KERNEL_ACCOUNT);
	if (!a->whose.tgids)
		return false;
	if (req->target->type == GPROF_TARGET_THREAD)
		a->whose.thread = req->target->task;
	a->task_set.tgids = a->whose.tgids;
	/* Nobody looks for the members of this kind but by @tgids. */
	return !gprof_task_set_init(&a->task_set, GPROF_TASK_SET_SCHED, &task_set_ops, req->target,
				    req->charge);
}

/**
 * gprof_allocs_setup() - prepare to record allocations
 * @req: request; its parameters were checked. With @req->objects ends are recorded too
 * @state: gets struct gprof_allocs, for gprof_allocs_destroy()
 *
 * Context: Task.
 * Return: 0; -ENOMEM; with probes also the errors of gprof_alloc_probes_new().
 */
int gprof_allocs_setup(struct gprof_request *req, void **state)
{
	const struct gprof_alloc_params *p = req->params;
	struct gprof_allocs *a = kzalloc(sizeof(*a), GFP_KERNEL_ACCOUNT);

	if (!a)
		return -ENOMEM;
	a->whose.target = req->target;
	a->whose.cgroup = req->target->cgroup;
	if (req->target->type == GPROF_TARGET_CPUS)
		a->only_cpus = req->target->cpus;
	a->only_tasks = req->target->type != GPROF_TARGET_CPUS &&
			req->target->type != GPROF_TARGET_SYSTEM;
	a->sampler = req->sampler;
	a->objects = req->objects;
	a->period = p->period;
	if (!build(a, req)) {
		gprof_allocs_destroy(a);
		return -ENOMEM;
	}
	a->user_reported = p->flags & (GPROF_ALLOC_F_PROGRAM | GPROF_ALLOC_F_PROBES);
	raw_spin_lock_init(&a->ends);
	if (a->user_reported && a->objects && !(p->flags & GPROF_ALLOC_F_KEEP) &&
	    IS_ENABLED(CONFIG_MMU_NOTIFIER)) {
		a->owners = kvcalloc(gprof_object_table_slots(a->objects), sizeof(*a->owners),
				     GFP_KERNEL_ACCOUNT | __GFP_RETRY_MAYFAIL | __GFP_NOWARN);
		a->groups = kvcalloc(DIV_ROUND_UP(gprof_object_table_slots(a->objects),
						  GPROF_ALLOC_GROUP), sizeof(*a->groups),
				     GFP_KERNEL_ACCOUNT | __GFP_RETRY_MAYFAIL | __GFP_NOWARN);
		if (!a->owners || !a->groups) {
			gprof_allocs_destroy(a);
			return -ENOMEM;
		}
	}
	if (p->flags & GPROF_ALLOC_F_PROBES) {
		int err = gprof_alloc_probes_new(&a->probes, p, req->target, &req->reason);

		if (err) {
			gprof_allocs_destroy(a);
			return err;
		}
	}
	set_subs(a, p->flags);
	req->weight = 1;
	*state = a;
	return 0;
}

/**
 * gprof_allocs_destroy() - free; stopped before
 * @state: allocations
 *
 * Context: Task.
 */
void gprof_allocs_destroy(void *state)
{
	struct gprof_allocs *a = state;

	gprof_alloc_probes_free(a->probes);
	free_percpu(a->cpus);
	kvfree(a->whose.tgids);
	kvfree(a->groups);
	kvfree(a->owners);
	kfree(a);
}

static void detach(struct gprof_allocs *a)
{
	gprof_tp_unsubscribe_all(a->subs, a->nr_subs);
	detach_functions(a);
}

/**
 * gprof_allocs_start() - record from now on
 * @state: allocations
 * @attached: gets the number of threads, or CPUs
 *
 * Context: Task.
 * Return: 0 or a negative errno; nothing is recorded then.
 */
int gprof_allocs_start(void *state, u32 *attached)
{
	struct gprof_allocs *a = state;
	int err, cpu;

	if (!a->nr_subs && !a->user_reported)
		return -EOPNOTSUPP;
	if (a->objects)
		gprof_object_table_begin(a->objects);
	for_each_possible_cpu(cpu)
		gprof_byte_sample_begin(&per_cpu_ptr(a->cpus, cpu)->byte_sample, a->period);
	*attached = a->only_cpus ? cpumask_weight(a->only_cpus) : num_online_cpus();
	/* The kernel's functions know nothing of allocations that programs tell. */
	err = a->user_reported ? 0 : attach_functions(a);
	if (err)
		return err;
	err = gprof_tp_subscribe_all(a->subs, a->nr_subs);
	if (err)
		goto err_functions;
	err = a->whose.tgids ? gprof_task_set_attach(&a->task_set, attached) : 0;
	if (err)
		goto err_subs;
	a->from_ns = ktime_get_mono_fast_ns();
	a->until_ns = 0;
	WRITE_ONCE(a->on, true);
	if (a->user_reported)
		gprof_alloc_listen(a);
	err = a->probes ? gprof_alloc_probes_start(a->probes, a, attached) : 0;
	if (!err)
		return 0;

	WRITE_ONCE(a->on, false);
	gprof_alloc_listen_no_more(a);
	if (a->whose.tgids)
		gprof_task_set_detach(&a->task_set);
err_subs:
	gprof_tp_unsubscribe_all(a->subs, a->nr_subs);
err_functions:
	detach_functions(a);
	return err;
}

/**
 * gprof_allocs_stop() - end it; no sample is taken once this returns
 * @state: allocations that were started
 *
 * Context: Task.
 */
void gprof_allocs_stop(void *state)
{
	struct gprof_allocs *a = state;

	WRITE_ONCE(a->on, false);
	if (a->probes)
		gprof_alloc_probes_stop(a->probes);
	if (a->user_reported)
		gprof_alloc_listen_no_more(a);
	a->until_ns = ktime_get_mono_fast_ns();
	detach(a);
	if (a->whose.tgids)
		gprof_task_set_detach(&a->task_set);
}

/**
 * gprof_allocs_stats() - fill in the counts
 * @state: allocations
 * @stats: of the last window when it was
 *
 * Context: Task.
 */
void gprof_allocs_stats(void *state, struct gprof_stats *stats)
{
	struct gprof_allocs *a = state;

	if (!a->from_ns || !stats->out_started_ns)
		return;
	stats->out_started_ns = a->from_ns;
	stats->out_stopped_ns = a->until_ns;
}
