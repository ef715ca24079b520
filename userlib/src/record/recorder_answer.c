// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * recorder_answer.c: the module's answer about a recorder.
 */
#include "recorder_answer.h"

#include <errno.h>
#include <linux/gprof.h>
#include <linux/gprof_netlink.h>
#include <string.h>

static struct nla_policy policy[GPROF_A_RECORDER_MAX + 1] = {
	[GPROF_A_RECORDER_ID] = { .type = NLA_U64 },
	[GPROF_A_RECORDER_KIND] = { .type = NLA_U32 },
	[GPROF_A_RECORDER_TARGET] = { .type = NLA_U32 },
	[GPROF_A_RECORDER_TARGET_PID] = { .type = NLA_U32 },
	[GPROF_A_RECORDER_TARGET_CGROUP] = { .type = NLA_U64 },
	[GPROF_A_RECORDER_STATE] = { .type = NLA_U32 },
	[GPROF_A_RECORDER_OWNER_PID] = { .type = NLA_U32 },
	[GPROF_A_RECORDER_OWNER_UID] = { .type = NLA_U32 },
	[GPROF_A_RECORDER_OWNER_COMM] = { .type = NLA_NUL_STRING },
	[GPROF_A_RECORDER_STARTED_NS] = { .type = NLA_U64 },
	[GPROF_A_RECORDER_STOPPED_NS] = { .type = NLA_U64 },
	[GPROF_A_RECORDER_BUFFER_SIZE] = { .type = NLA_U64 },
	[GPROF_A_RECORDER_FLIGHT] = { .type = NLA_FLAG },
	[GPROF_A_RECORDER_PRODUCED] = { .type = NLA_U64 },
	[GPROF_A_RECORDER_READ] = { .type = NLA_U64 },
	[GPROF_A_RECORDER_LOST] = { .type = NLA_U64 },
	[GPROF_A_RECORDER_OVERWRITTEN] = { .type = NLA_U64 },
	[GPROF_A_RECORDER_TRIGGER] = { .type = NLA_U32 },
	[GPROF_A_RECORDER_TRIGGER_WHAT] = { .type = NLA_U32 },
};

const struct gprof_netlink_policy gprof_recorder_answer_policy = {
	.policy = policy,
	.max = GPROF_A_RECORDER_MAX,
};

#define KIND(_number, _name, _records, _lack)	[GPROF_KIND_##_number] = _name,

static const char *const kinds[] = {
#include "base/kinds.def"
};

static const enum gprof_target_type targets[] = {
	[GPROF_TARGET_THREAD] = GPROF_THREAD,
	[GPROF_TARGET_PROCESS] = GPROF_PROCESS,
	[GPROF_TARGET_CGROUP] = GPROF_CGROUP,
	[GPROF_TARGET_CPUS] = GPROF_CPUS,
	[GPROF_TARGET_SYSTEM] = GPROF_SYSTEM,
};

#define NR(a)	(sizeof(a) / sizeof((a)[0]))

static uint32_t number(struct nlattr *a)
{
	return a ? nla_get_u32(a) : 0;
}

static uint64_t large(struct nlattr *a)
{
	return a ? nla_get_u64(a) : 0;
}

const char *gprof_kind_name(uint32_t kind)
{
	return kind < NR(kinds) && kinds[kind] ? kinds[kind] : "unknown";
}

int gprof_recorder_event(struct nlattr **attrs, struct gprof_recorder_info *info)
{
	uint32_t kind = number(attrs[GPROF_A_RECORDER_KIND]);

	memset(info, 0, sizeof(*info));
	if (!attrs[GPROF_A_RECORDER_ID])
		return -EPROTO;
	info->id = large(attrs[GPROF_A_RECORDER_ID]);
	info->kind = gprof_kind_name(kind);
	return 0;
}

int gprof_recorder_answer(struct nlattr **attrs, struct gprof_recorder_info *info)
{
	uint32_t target = number(attrs[GPROF_A_RECORDER_TARGET]);

	if (gprof_recorder_event(attrs, info) || !target || target >= NR(targets))
		return -EPROTO;
	info->target = targets[target];
	info->target_id = (int)number(attrs[GPROF_A_RECORDER_TARGET_PID]);
	info->cgroup = large(attrs[GPROF_A_RECORDER_TARGET_CGROUP]);
	info->owner_pid = (int)number(attrs[GPROF_A_RECORDER_OWNER_PID]);
	info->owner_uid = number(attrs[GPROF_A_RECORDER_OWNER_UID]);
	if (attrs[GPROF_A_RECORDER_OWNER_COMM])
		nla_strlcpy(info->owner, attrs[GPROF_A_RECORDER_OWNER_COMM], sizeof(info->owner));
	info->started = number(attrs[GPROF_A_RECORDER_STATE]) == GPROF_RECORDER_STATE_STARTED;
	info->flight = attrs[GPROF_A_RECORDER_FLIGHT];
	info->has_samples = attrs[GPROF_A_RECORDER_PRODUCED];
	info->started_ns = large(attrs[GPROF_A_RECORDER_STARTED_NS]);
	info->stopped_ns = large(attrs[GPROF_A_RECORDER_STOPPED_NS]);
	info->buffer_bytes = large(attrs[GPROF_A_RECORDER_BUFFER_SIZE]);
	info->produced = large(attrs[GPROF_A_RECORDER_PRODUCED]);
	info->read = large(attrs[GPROF_A_RECORDER_READ]);
	info->lost = large(attrs[GPROF_A_RECORDER_LOST]);
	info->overwritten = large(attrs[GPROF_A_RECORDER_OVERWRITTEN]);
	return 0;
}
