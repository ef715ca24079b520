/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cgroups: those of version 2, where the kernel has any (CONFIG_CGROUPS). Where it has
 * not, nothing is ever in one, and no target is made of one.
 */
#ifndef GPROF_CGROUPS_H
#define GPROF_CGROUPS_H

#include <linux/cgroup.h>
#include <linux/err.h>

struct task_struct;

#ifdef CONFIG_CGROUPS
/**
 * gprof_cgroup_has() - is a task in a cgroup, or below it?
 * @cgroup: cgroup
 * @task: whose css_set cannot be freed meanwhile: under RCU, or without preemption
 *
 * Context: Any incl. NMI.
 */
static inline bool gprof_cgroup_has(struct cgroup *cgroup, struct task_struct *task)
{
	return cgroup_is_descendant(task_dfl_cgroup(task), cgroup);
}

/**
 * gprof_cgroup_get() - the cgroup of a directory of version 2
 * @fd: the directory
 *
 * Context: Task.
 * Return: cgroup, to be given back by gprof_cgroup_put(), or ERR_PTR(-ENOMEM or -EINVAL).
 */
static inline struct cgroup *gprof_cgroup_get(int fd)
{
	struct cgroup *cgroup = cgroup_get_from_fd(fd);

	if (IS_ERR(cgroup))
		return cgroup == ERR_PTR(-ENOMEM) ? cgroup : ERR_PTR(-EINVAL);
	if (cgroup->root != &cgrp_dfl_root) {
		cgroup_put(cgroup);
		return ERR_PTR(-EINVAL);
	}
	return cgroup;
}

static inline void gprof_cgroup_put(struct cgroup *cgroup)
{
	cgroup_put(cgroup);
}

/**
 * gprof_cgroup_of_current() - the id of the cgroup of version 2 that current is in
 *
 * Context: Task.
 * Return: id, never 0.
 */
static inline u64 gprof_cgroup_of_current(void)
{
	u64 id;

	rcu_read_lock();
	id = cgroup_id(task_dfl_cgroup(current));
	rcu_read_unlock();
	return id;
}
#else
static inline bool gprof_cgroup_has(struct cgroup *cgroup, struct task_struct *task)
{
	return false;
}

static inline struct cgroup *gprof_cgroup_get(int fd)
{
	return ERR_PTR(-EINVAL);
}

static inline u64 gprof_cgroup_of_current(void)
{
	return 1;
}

static inline void gprof_cgroup_put(struct cgroup *cgroup)
{
}
#endif

#endif /* GPROF_CGROUPS_H */
