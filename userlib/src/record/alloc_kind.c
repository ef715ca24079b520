// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * alloc_kind.c: allocations of the kernel, or of a program, and the live ones.
 */
#include "kind.h"

#include <errno.h>

#define DEFAULT_BYTES	(512ULL << 10)

int gprof_alloc_kind_source(const struct gprof_kind *kind, const struct gprof_kind_config *cfg,
			    union gprof_kind_params *params, struct gprof_stream_source *out,
			    struct gprof_error *e)
{
	bool lasts = kind->kind == GPROF_KIND_HEAP;
	uint64_t period = cfg->rate ? cfg->rate : DEFAULT_BYTES;

	if (period > GPROF_ALLOC_PERIOD_MAX)
		return gprof_error_set(e, EINVAL, "%s: %llu bytes per sample are too many; at most "
				       "%llu", kind->name, (unsigned long long)period,
				       (unsigned long long)GPROF_ALLOC_PERIOD_MAX);
	if (cfg->slots > GPROF_ALLOC_SLOTS_MAX)
		return gprof_error_set(e, EINVAL, "%s: %u live samples are too many; at most %u",
				       kind->name, cfg->slots, GPROF_ALLOC_SLOTS_MAX);
	if (cfg->flags & GPROF_RECORD_PROBES && !(kind->flags & GPROF_ALLOC_F_PROGRAM))
		return gprof_error_set(e, EINVAL, "%s: probes are for what programs allocate "
				       "themselves; ask for user-%s", kind->name, kind->name);
	if (cfg->flags & GPROF_RECORD_PROBES && cfg->flags & GPROF_RECORD_KEEP)
		return gprof_error_set(e, EINVAL, "%s: with probes, what ended programs had is not "
				       "kept", kind->name);
	if (cfg->flags & GPROF_RECORD_OVER_TIME && !lasts)
		return gprof_error_set(e, EINVAL, "%s: what is allocated over time is of a heap",
				       kind->name);
	/* A program tells of itself alone. */
	if (kind->flags & GPROF_ALLOC_F_PROGRAM)
		out->stack &= ~GPROF_STACK_F_KERNEL;
	params->alloc = (struct gprof_alloc_params){
		.size = sizeof(params->alloc),
		.flags = kind->flags | (cfg->flags & GPROF_RECORD_KEEP && lasts &&
					kind->flags & GPROF_ALLOC_F_PROGRAM ? GPROF_ALLOC_F_KEEP : 0),
		.period = period,
		.slots = lasts ? cfg->slots : 0,
	};
	if (cfg->grown_since_ms && !(cfg->flags & GPROF_RECORD_OVER_TIME))
		return gprof_error_set(e, EINVAL, "%s: growth since a moment wants "
				       "GPROF_RECORD_OVER_TIME", kind->name);
	out->columns.over_time = cfg->flags & (GPROF_RECORD_OVER_TIME | GPROF_RECORD_TRY_OVER_TIME) &&
				 lasts;
	out->over_time_is_extra = !(cfg->flags & GPROF_RECORD_OVER_TIME);
	out->columns.grown_since_ns = cfg->grown_since_ms * 1000000ULL;
	if (cfg->flags & GPROF_RECORD_PROBES) {
		params->alloc.flags = GPROF_ALLOC_F_PROBES;
		out->needs = GPROF_FEAT_ALLOC_PROBES;
		out->needs_text = "cannot probe the functions that programs allocate by, for which the "
				  "kernel needs CONFIG_UPROBES, CONFIG_MEMCG and "
				  "CONFIG_MMU_NOTIFIER; start them with libgprof-heap.so";
	} else {
		/* As modules knew it that are older. */
		params->alloc.size = GPROF_ALLOC_PARAMS_SIZE_VER0;
	}
	out->params = &params->alloc;
	out->columns.period = period;
	return 0;
}
