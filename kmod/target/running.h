/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * running: how many tasks of a target run at this instant.
 */
#ifndef GPROF_RUNNING_H
#define GPROF_RUNNING_H

#include <linux/types.h>

struct gprof_target;

/**
 * struct gprof_running - whose running tasks are counted
 * @target: of this target; outlives it
 * @tgids: processes, by number, of a target that is a process; else NULL. The source that
 *	keeps the scope of the samples has it kept there (struct gprof_scope), so that the
 *	same tasks are counted as are sampled
 * @looked: of these, the running tasks are known; not before START has looked, nor once STOP
 *	lets them go, though samples are taken for a grace period more
 */
struct gprof_running {
	const struct gprof_target *target;
	unsigned long *tgids;
	bool looked;
};

u64 gprof_running_features(void);
u64 gprof_running_bytes(const struct gprof_target *target);
struct gprof_running *gprof_running_new(const struct gprof_target *target);
void gprof_running_free(struct gprof_running *r);

int gprof_running_begin(const struct gprof_running *r);
void gprof_running_look(struct gprof_running *r);
void gprof_running_leave(struct gprof_running *r);
void gprof_running_end(const struct gprof_running *r);

/* For the scope of the samples; NULL: it has no use for one. */
static inline unsigned long *gprof_running_tgids(const struct gprof_running *r)
{
	return r ? r->tgids : NULL;
}

u32 gprof_running_count(const struct gprof_running *r);

#endif /* GPROF_RUNNING_H */
