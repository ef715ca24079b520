// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * trace_setup.c: the configuration of a trace, from a program's words to the kernel's.
 */
#include "trace_setup.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define SAMPLE_FLAGS	(GPROF_EVENT_KERNEL | GPROF_EVENT_HV | GPROF_EVENT_IDLE)

/* Groups of the library, of the kernel, the feature that has them, and their names. */
static const struct {
	unsigned int group;
	uint32_t flag;
	uint64_t feature;
	const char *name;
} groups[] = {
	{ GPROF_TRACE_GROUP_SYSCALLS, GPROF_TRACE_F_SYSCALLS, GPROF_FEAT_TRACE_SYSCALLS,
	  "system calls" },
	{ GPROF_TRACE_GROUP_IRQS, GPROF_TRACE_F_IRQS, GPROF_FEAT_TRACE_IRQS, "interrupts" },
	{ GPROF_TRACE_GROUP_FAULTS, GPROF_TRACE_F_FAULTS, GPROF_FEAT_TRACE_FAULTS, "page faults" },
	{ GPROF_TRACE_GROUP_RECLAIM, GPROF_TRACE_F_RECLAIM, GPROF_FEAT_TRACE_RECLAIM,
	  "reclaim of memory" },
	{ GPROF_TRACE_GROUP_FREQ, GPROF_TRACE_F_FREQ, GPROF_FEAT_TRACE_FREQ, "CPU frequencies" },
	{ GPROF_TRACE_GROUP_THROTTLE, GPROF_TRACE_F_THROTTLE, GPROF_FEAT_TRACE_THROTTLE,
	  "throttling of cgroups" },
	{ GPROF_TRACE_GROUP_ANNOTATIONS, GPROF_TRACE_F_ANNOTATIONS, GPROF_FEAT_ANNOTATIONS,
	  "annotations of programs" },
};

static int set_groups(unsigned int wanted, uint64_t features, struct gprof_trace_params *params,
		      struct gprof_error *e)
{
	size_t i;

	for (i = 0; i < sizeof(groups) / sizeof(*groups); i++) {
		if (!(wanted & groups[i].group))
			continue;
		wanted &= ~groups[i].group;
		if (!(features & groups[i].feature))
			return gprof_error_set(e, EOPNOTSUPP,
					       "this kernel has no events of %s (%s); leave them "
					       "out",
					       groups[i].name, gprof_strerror(EOPNOTSUPP));
		params->flags |= groups[i].flag;
	}
	if (wanted)
		return gprof_error_set(e, EINVAL, "there is no group of events %#x", wanted);
	return 0;
}

/* Stacks of the library, of the kernel, and the group whose events have them, or 0. */
static const struct {
	unsigned int stack;
	uint32_t kernel;
	unsigned int group;
	const char *name;
} stacks[] = {
	{ GPROF_TRACE_STACK_BLOCKED, GPROF_TRACE_STACKS_SWITCH, 0, "switches" },
	{ GPROF_TRACE_STACK_WAKER, GPROF_TRACE_STACKS_WAKING, 0, "wakings" },
	{ GPROF_TRACE_STACK_FORK, GPROF_TRACE_STACKS_FORK, 0, "forks" },
	{ GPROF_TRACE_STACK_SYSCALLS, GPROF_TRACE_STACKS_SYSCALLS, GPROF_TRACE_GROUP_SYSCALLS,
	  "system calls" },
	{ GPROF_TRACE_STACK_FAULTS, GPROF_TRACE_STACKS_FAULTS, GPROF_TRACE_GROUP_FAULTS,
	  "page faults" },
	{ GPROF_TRACE_STACK_RECLAIM, GPROF_TRACE_STACKS_RECLAIM, GPROF_TRACE_GROUP_RECLAIM,
	  "reclaim of memory" },
};

static int set_stacks(struct gprof_trace_setup *s, const struct gprof_trace_config *cfg,
		      struct gprof_error *e)
{
	unsigned int wanted = cfg->stacks;
	size_t i;

	for (i = 0; i < sizeof(stacks) / sizeof(*stacks); i++) {
		if (!(wanted & stacks[i].stack))
			continue;
		wanted &= ~stacks[i].stack;
		if (stacks[i].group && !(cfg->groups & stacks[i].group))
			return gprof_error_set(e, EINVAL,
					       "stacks of %s are wanted, but not the events",
					       stacks[i].name);
		s->params.stacks |= stacks[i].kernel;
	}
	if (wanted)
		return gprof_error_set(e, EINVAL, "there are no stacks %#x", wanted);
	return 0;
}

static int set_samples(struct gprof_trace_setup *s, const struct gprof_cpu_event *ev,
		       struct gprof_error *e)
{
	int err;

	if (ev->name && ev->flags & ~SAMPLE_FLAGS)
		return gprof_error_set(e, EINVAL,
				       "%s: CPU samples of a trace have the stacks that the trace "
				       "has, and no addresses; leave out flags %#x", ev->name,
				       ev->flags & ~SAMPLE_FLAGS);
	err = gprof_cpu_source_init(&s->source, ev, e);
	if (!err)
		s->params.cpu = s->source.params;
	return err;
}

static int set_duration(struct gprof_trace_setup *s, const struct gprof_trace_config *cfg,
			uint64_t features, struct gprof_error *e)
{
	if (cfg->min_duration_ns % 1000 || cfg->min_duration_ns > 3600 * 1000000000ULL)
		return gprof_error_set(e, EINVAL,
				       "a least duration is a number of whole microseconds, up to an "
				       "hour, not %" PRIu64 " ns", cfg->min_duration_ns);
	if (cfg->samples)
		return gprof_error_set(e, EINVAL,
				       "a trace has CPU samples, or a least duration, not both; "
				       "record two");
	if (!(features & GPROF_FEAT_TRACE_MIN))
		return gprof_error_set(e, EOPNOTSUPP,
				       "this module does not leave out of traces what is short (%s); "
				       "install a newer one", gprof_strerror(EOPNOTSUPP));
	s->params.size = sizeof(s->params);
	s->params.min_us = (uint32_t)(cfg->min_duration_ns / 1000);
	return 0;
}

int gprof_trace_setup_init(struct gprof_trace_setup *s, const struct gprof_trace_config *cfg,
			   uint64_t features, struct gprof_error *e)
{
	uint64_t needed = 0;
	int err;

	memset(s, 0, sizeof(*s));
	/* An older module takes the parameters that it has. */
	s->params.size = GPROF_TRACE_PARAMS_SIZE_VER0;
	s->params.flags = features & GPROF_FEAT_TRACE_REASONS ? GPROF_TRACE_F_REASONS : 0;
	err = set_groups(cfg->groups, features, &s->params, e);
	if (!err && cfg->min_duration_ns)
		err = set_duration(s, cfg, features, e);
	if (!err && cfg->stacks)
		err = set_stacks(s, cfg, e);
	if (!err && cfg->samples)
		err = set_samples(s, cfg->samples, e);
	if (err || (!cfg->stacks && !cfg->samples))
		return err;
	s->params.size = sizeof(s->params);
	s->stack = GPROF_STACK_F_IP | GPROF_STACK_F_USER |
		   (cfg->kernel_frames ? GPROF_STACK_F_KERNEL : 0);
	needed |= cfg->stacks ? GPROF_FEAT_TRACE_STACKS : 0;
	needed |= cfg->samples ? GPROF_FEAT_TRACE_SAMPLES : 0;
	if (needed & ~features)
		return gprof_error_set(e, EOPNOTSUPP,
				       "this module gives traces no %s (%s); install a newer one",
				       needed & ~features & GPROF_FEAT_TRACE_STACKS ? "stacks" :
				       "CPU samples", gprof_strerror(EOPNOTSUPP));
	return 0;
}
