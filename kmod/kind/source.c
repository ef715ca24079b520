// SPDX-License-Identifier: GPL-2.0-only
/*
 * source: the table of recorder kinds.
 */
#include "source.h"
#include "target/target.h"

#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/security.h>

#define ROW(_kind, _name, _params)	{ &gprof_source_##_name },

static const struct {
	const struct gprof_source_ops *ops;
} sources[] = { GPROF_KINDS(ROW) };

/**
 * gprof_source_find() - the source of a kind
 * @kind: GPROF_KIND_*, from user space
 *
 * Return: source or NULL.
 */
const struct gprof_source_ops *gprof_source_find(u32 kind)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sources); i++) {
		if (sources[i].ops->kind == kind)
			return sources[i].ops;
	}
	return NULL;
}

/**
 * gprof_source_kinds() - bit mask of all kinds, for INFO
 */
u64 gprof_source_kinds(void)
{
	u64 kinds = 0;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sources); i++)
		kinds |= BIT_ULL(sources[i].ops->kind);
	return kinds;
}

/**
 * gprof_source_features() - bit mask of the kinds' features, for INFO
 */
u64 gprof_source_features(void)
{
	u64 features = 0;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sources); i++) {
		if (sources[i].ops->features)
			features |= sources[i].ops->features();
	}
	return features;
}

/**
 * gprof_source_check_kernel() - may the owner see the kernel, if that is asked for?
 * @req: request
 * @wanted: for its frames, or its time
 * @reason: set on error
 *
 * Return: 0 or -EPERM.
 */
int gprof_source_check_kernel(const struct gprof_request *req, bool wanted, u32 *reason)
{
	if (!wanted)
		return 0;
	*reason = GPROF_REASON_KERNEL_DENIED;
	if (!req->target->privileged)
		return -EPERM;
	*reason = GPROF_REASON_LOCKDOWN;
	return security_locked_down(LOCKDOWN_PERF) ? -EPERM : 0;
}
