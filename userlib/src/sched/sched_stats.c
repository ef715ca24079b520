// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * sched_stats.c: scheduler statistics: a recorder that owns them, and netlink,
 * over which they are read.
 */
#include <assert.h>
#include <errno.h>
#include <gprof/sched_stats.h>
#include <linux/gprof.h>
#include <linux/gprof_netlink.h>
#include <netlink/msg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/opts.h"
#include "device/device.h"
#include "device/netlink.h"
#include "device/target.h"
#include "sched_answer.h"

#define WHAT	"scheduler statistics"
#define FLAGS	(GPROF_SCHED_SYS_CALLS | GPROF_SCHED_FAULTS | GPROF_SCHED_STALL)

static_assert(GPROF_SCHED_SYS_CALLS == GPROF_SCHED_F_SYSCALLS &&
	      GPROF_SCHED_FAULTS == GPROF_SCHED_F_FAULTS &&
	      GPROF_SCHED_STALL == GPROF_SCHED_F_STALL, "the kernel's flags");

/**
 * struct gprof_sched - open statistics
 * @dev: /dev/gprof; the kernel counts until it is closed
 * @id: of the recorder
 * @netlink: where it is read
 * @error: last failure
 */
struct gprof_sched {
	struct gprof_own_fd dev;
	uint64_t id;
	struct gprof_netlink netlink;
	struct gprof_error error;
};

/* Missing features are named here, before the module refuses them by number. */
static int check_features(const struct gprof_info *info, unsigned int flags,
			  struct gprof_error *e)
{
	if (!(info->out_kinds & 1ULL << GPROF_KIND_SCHED))
		return gprof_error_set(e, EOPNOTSUPP,
				       WHAT ": this gprof.ko has none; load a newer one");
	if (flags & GPROF_SCHED_SYS_CALLS && !(info->out_features & GPROF_FEAT_SCHED_SYSCALLS))
		return gprof_error_set(e, EOPNOTSUPP,
				       WHAT ": system calls cannot be counted on this kernel, "
				       "which is built without their tracepoints; leave them out");
	if (flags & GPROF_SCHED_FAULTS && !(info->out_features & GPROF_FEAT_SCHED_FAULTS))
		return gprof_error_set(e, EOPNOTSUPP,
				       WHAT ": page faults cannot be counted on this kernel, which "
				       "has no probes (CONFIG_KPROBES); leave them out");
	return 0;
}

static int setup(struct gprof_sched *s, const struct gprof_sched_config *cfg,
		 const struct gprof_kernel_target *kernel_target, struct gprof_error *e)
{
	struct gprof_sched_params params = {
		.size = sizeof(params),
		.flags = cfg->flags,
		.hz = cfg->sample_hz,
	};
	struct gprof_setup setup = {
		.kind = GPROF_KIND_SCHED,
		.target = kernel_target->target,
		.id = kernel_target->id,
		.params = (uintptr_t)&params,
	};
	struct gprof_info info;
	int err;

	err = gprof_device_open(&s->dev, e);
	if (err)
		return err;
	err = gprof_device_info(&s->dev, &info, e);
	if (!err)
		err = check_features(&info, cfg->flags, e);
	if (!err)
		err = gprof_device_setup(&s->dev, &setup, WHAT, e);
	if (err)
		return err;
	s->id = setup.out_id;
	err = gprof_netlink_open(&s->netlink, e);
	if (!err)
		err = gprof_device_start(&s->dev, GPROF_KIND_SCHED, WHAT, e);
	return err;
}

static int check_config(const struct gprof_sched_config *cfg, struct gprof_error *e)
{
	if (cfg->flags & ~FLAGS)
		return gprof_error_set(e, EINVAL, WHAT ": unknown flags %#x", cfg->flags & ~FLAGS);
	if (cfg->sample_hz > GPROF_SCHED_HZ_MAX)
		return gprof_error_set(e, EINVAL, WHAT ": %u samples in a second are too many; at "
				       "most %u", cfg->sample_hz, GPROF_SCHED_HZ_MAX);
	if (cfg->target.type == GPROF_CPUS)
		return gprof_error_set(e, EOPNOTSUPP,
				       WHAT " are kept of a thread, a process, a cgroup or the "
				       "whole host, not of single CPUs");
	return 0;
}

struct gprof_sched *gprof_sched_stats_new(const struct gprof_sched_config *config)
{
	const size_t least = GPROF_SIZE_WITH(struct gprof_sched_config, flags);
	struct gprof_sched_config cfg = { 0 };
	struct gprof_sched *s = calloc(1, sizeof(*s));
	struct gprof_kernel_target kernel_target = { .cgroup = -1 };
	struct gprof_error e = { 0 };
	int err;

	if (!s) {
		gprof_error_set(&e, ENOMEM, WHAT ": no memory");
		gprof_error_publish(&e);
		return NULL;
	}
	s->dev = GPROF_OWN_FD_NONE;
	s->netlink = GPROF_NETLINK_NONE;
	err = gprof_opts_copy_in(&cfg, sizeof(cfg), least, config, "gprof_sched_config", &e);
	if (!err)
		err = check_config(&cfg, &e);
	if (!err)
		err = gprof_kernel_target_init(&kernel_target, &cfg.target, &e);
	if (!err)
		err = setup(s, &cfg, &kernel_target, &e);
	gprof_kernel_target_free(&kernel_target);
	if (!err)
		return s;
	gprof_sched_stats_free(s);
	gprof_error_publish(&e);
	return NULL;
}

void gprof_sched_stats_free(struct gprof_sched *s)
{
	if (!s)
		return;
	gprof_netlink_close(&s->netlink);
	gprof_own_fd_close(&s->dev);
	free(s);
}

int gprof_sched_stats_read(struct gprof_sched *s, struct gprof_sched_stats *st)
{
	struct gprof_sched_stats out = { 0 };
	const size_t least = GPROF_SIZE_WITH(struct gprof_sched_stats, on_cpu);
	struct gprof_netlink_query q = {
		.policy = gprof_sched_answer_policy,
		.take = gprof_sched_answer,
		.ctx = &out,
		.what = WHAT,
	};
	int err;

	if (st->sz < least)
		return gprof_error_set(&s->error, EINVAL, "sz is %zu; it must be sizeof(struct "
				       "gprof_sched_stats), at least %zu", st->sz, least);
	q.message = gprof_netlink_message(&s->netlink, GPROF_CMD_SCHED_STATS_GET);
	if (q.message && nla_put_u64(q.message, GPROF_A_SCHED_STATS_ID, s->id)) {
		nlmsg_free(q.message);
		q.message = NULL;
	}
	err = gprof_netlink_query(&s->netlink, &q, &s->error);
	if (err)
		return err;
	if (!out.time_ns)
		return gprof_error_set(&s->error, EPROTO, WHAT ": the module did not answer");
	return gprof_opts_copy_out(st, &out, sizeof(out), least, "gprof_sched_stats", &s->error);
}

int gprof_sched_profile_rate_set(struct gprof_sched *s, unsigned int hz)
{
	struct gprof_rate rate = { .size = sizeof(rate), .hz = hz };
	int err = gprof_device_check(&s->dev, WHAT, &s->error);

	if (err)
		return err;
	if (!ioctl(s->dev.fd, GPROF_IOC_RATE, &rate))
		return 0;
	if (errno == EINVAL)
		return gprof_error_set(&s->error, EINVAL,
				       WHAT ": %u samples in a second are too many; at most %u", hz,
				       GPROF_SCHED_HZ_MAX);
	return gprof_error_set(&s->error, errno, WHAT ": the rate cannot be set: %s",
			       gprof_strerror(errno));
}
