// SPDX-License-Identifier: GPL-2.0-only
/*
 * source alloc: kinds alloc and heap. Memory that the kernel allocates for tasks, or
 * they themselves, how much, and where; and of heap, the part that is not freed yet.
 */
#include "alloc.h"
#include "alloc_probe.h"
#include "kind/source.h"
#include "ring/object_table.h"
#include "target/target.h"
#include "user/memlock.h"

#include <linux/gprof.h>
#include <linux/minmax.h>

#define OF_KERNEL	(GPROF_ALLOC_F_SLAB | GPROF_ALLOC_F_PAGES)

static u64 features(void)
{
	return GPROF_FEAT_ALLOC_REPORT | (gprof_allocs_can_last() ? GPROF_FEAT_OBJECTS : 0) |
	       GPROF_FEAT_OBJECT_ENDS |
	       (gprof_alloc_probes_exist() ? GPROF_FEAT_ALLOC_PROBES : 0);
}

static bool is_user_reported(const struct gprof_alloc_params *p)
{
	return p->flags & GPROF_ALLOC_F_PROGRAM;
}

static bool is_probed(const struct gprof_alloc_params *p)
{
	return p->flags & GPROF_ALLOC_F_PROBES;
}

static bool is_of_programs(const struct gprof_alloc_params *p)
{
	return is_user_reported(p) || is_probed(p);
}

static u32 slots(const struct gprof_request *req)
{
	const struct gprof_alloc_params *p = req->params;

	/* A caller that is going to be refused is told why, and not that the table is too large. */
	if (!req->target->privileged && !is_user_reported(p))
		return 1;
	return min_t(u32, p->slots ?: GPROF_ALLOC_SLOTS, GPROF_ALLOC_SLOTS_MAX);
}

/* Memory of allocations, and of each live one whose it is. */
static u64 owners_bytes(u32 slots)
{
	return gprof_memory_of((u64)slots * sizeof(u32)) +
	       gprof_memory_of((u64)DIV_ROUND_UP(slots, GPROF_ALLOC_GROUP) * sizeof(u64));
}

static u64 heap_bytes(const struct gprof_request *req)
{
	const struct gprof_alloc_params *p = req->params;

	return gprof_allocs_bytes(req) +
	       (is_of_programs(p) && !(p->flags & GPROF_ALLOC_F_KEEP) ?
		owners_bytes(gprof_object_table_slots_for(slots(req))) : 0);
}

static int check_slots(const struct gprof_request *req, const struct gprof_alloc_params *p,
		       u32 *reason)
{
	*reason = GPROF_REASON_PARAMS;
	if (p->slots > (req->objects ? GPROF_ALLOC_SLOTS_MAX : 0))
		return -EINVAL;
	*reason = GPROF_REASON_EVENT;
	return req->objects && !is_of_programs(p) && !gprof_allocs_can_last() ? -EOPNOTSUPP : 0;
}

/* A task that runs the files is checked for the target, which tasks alone can be of. */
static int check_functions(const struct gprof_request *req, const struct gprof_alloc_params *p,
			   u32 *reason)
{
	*reason = GPROF_REASON_PARAMS;
	if (p->__reserved2)
		return -EINVAL;
	if (!is_probed(p))
		return p->functions || p->nr_functions ? -EINVAL : 0;
	if (!p->nr_functions || p->nr_functions > GPROF_ALLOC_FUNCTIONS_MAX)
		return -EINVAL;
	*reason = GPROF_REASON_EVENT;
	if (!gprof_alloc_probes_exist())
		return -EOPNOTSUPP;
	*reason = GPROF_REASON_TARGET;
	/* An exec makes its mappings before it is known whose they are. */
	return gprof_target_is_tasks(req->target) && !req->target->on_exec ? 0 : -EOPNOTSUPP;
}

static int check(const struct gprof_request *req, const struct gprof_alloc_params *p,
		 u32 *reason)
{
	*reason = GPROF_REASON_FLAGS;
	if (p->flags & ~__GPROF_ALLOC_F_ALL)
		return -EOPNOTSUPP;
	if (!(p->flags & ~GPROF_ALLOC_F_KEEP) || (is_of_programs(p) && p->flags & OF_KERNEL))
		return -EINVAL;
	if (is_user_reported(p) && is_probed(p))
		return -EINVAL;
	if (p->flags & GPROF_ALLOC_F_KEEP && (!is_user_reported(p) || !req->objects))
		return -EINVAL;
	*reason = GPROF_REASON_PARAMS;
	if (p->__reserved)
		return -EINVAL;
	*reason = GPROF_REASON_PERIOD;
	if (!p->period || p->period > GPROF_ALLOC_PERIOD_MAX)
		return -EINVAL;
	*reason = GPROF_REASON_SLOWS_DENIED;
	if (!req->target->privileged && !is_user_reported(p))
		return -EPERM;
	return gprof_source_check_kernel(req, req->kernel_frames, reason) ?:
	       check_functions(req, p, reason) ?: check_slots(req, p, reason);
}

static int setup(struct gprof_request *req, void **state)
{
	int err = check(req, req->params, &req->reason);

	if (err)
		return err;
	req->reason = GPROF_REASON_NONE;
	return gprof_allocs_setup(req, state);
}

#define SOURCE									\
	.params_size = sizeof(struct gprof_alloc_params),			\
	.params_min = GPROF_ALLOC_PARAMS_SIZE_VER0,				\
	.setup = setup,								\
	.start = gprof_allocs_start,						\
	.stop = gprof_allocs_stop,						\
	.stats = gprof_allocs_stats,						\
	.destroy = gprof_allocs_destroy

const struct gprof_source_ops gprof_source_alloc = {
	.kind = GPROF_KIND_ALLOC,
	.bytes = gprof_allocs_bytes,
	SOURCE,
};

const struct gprof_source_ops gprof_source_heap = {
	.kind = GPROF_KIND_HEAP,
	.bytes = heap_bytes,
	.features = features,
	.slots = slots,
	SOURCE,
};
