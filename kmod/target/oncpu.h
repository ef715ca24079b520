/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * oncpu: how many tasks of a target run at this instant.
 */
#ifndef GPROF_ONCPU_H
#define GPROF_ONCPU_H

#include <linux/types.h>

struct gprof_target;

/**
 * struct gprof_oncpu - whose running tasks are counted
 * @target: of this target; outlives it
 * @tgids: processes, by number, of a target that is a process; else NULL. The source that
 *	keeps the task set of the samples has it kept there (struct gprof_task_set), so that the
 *	same tasks are counted as are sampled
 * @looked: of these, the running tasks are known; not before START has looked, nor once STOP
 *	lets them go, though samples are taken for a grace period more
 */
struct gprof_oncpu {
	const struct gprof_target *target;
	unsigned long *tgids;
	bool looked;
};

u64 gprof_oncpu_features(void);
u64 gprof_oncpu_bytes(const struct gprof_target *target);
struct gprof_oncpu *gprof_oncpu_new(const struct gprof_target *target);
void gprof_oncpu_free(struct gprof_oncpu *r);

int gprof_oncpu_begin(const struct gprof_oncpu *r);
void gprof_oncpu_scan(struct gprof_oncpu *r);
void gprof_oncpu_forget(struct gprof_oncpu *r);
void gprof_oncpu_end(const struct gprof_oncpu *r);

/* For the task set of the samples; NULL: it has no use for one. */
static inline unsigned long *gprof_oncpu_tgids(const struct gprof_oncpu *r)
{
	return r ? r->tgids : NULL;
}

u32 gprof_oncpu_count(const struct gprof_oncpu *r);

#endif /* GPROF_ONCPU_H */
