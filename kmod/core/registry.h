/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * registry: all recorders that are set up, for queries from outside.
 */
#ifndef GPROF_REGISTRY_H
#define GPROF_REGISTRY_H

#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/types.h>
#include <linux/uidgid.h>

struct pid;

/**
 * struct gprof_entry - one of them
 * @node: in the list, by ascending @id
 * @id: never given out twice
 * @refs: the owner's, and those of queries
 * @gone: called when the last reference is given up
 * @owner: whose process did SETUP
 * @privileged: which had CAP_PERFMON then
 * @pid: that process; a reference is held
 * @comm: name of the thread that did it
 *
 * The holder of a reference may read all from @owner on, which no longer changes.
 */
struct gprof_entry {
	struct list_head node;
	u64 id;
	refcount_t refs;
	void (*gone)(struct gprof_entry *e);
	kuid_t owner;
	bool privileged;
	struct pid *pid;
	char comm[16];
};

void gprof_entry_init(struct gprof_entry *e, void (*gone)(struct gprof_entry *e));
void gprof_entry_publish(struct gprof_entry *e, bool privileged);
void gprof_entry_withdraw(struct gprof_entry *e);
void gprof_entry_get(struct gprof_entry *e);
void gprof_entry_put(struct gprof_entry *e);

struct gprof_entry *gprof_registry_find(u64 id);
struct gprof_entry *gprof_registry_next(u64 id);
u32 gprof_registry_generation(void);

#endif /* GPROF_REGISTRY_H */
