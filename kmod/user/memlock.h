/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * memlock: memory that user space makes the kernel pin, charged to its user.
 */
#ifndef GPROF_MEMLOCK_H
#define GPROF_MEMLOCK_H

#include <linux/log2.h>
#include <linux/sched.h>
#include <linux/types.h>

struct cred;
struct mem_cgroup;

/**
 * struct gprof_charge - the charge of a recorder
 * @cred: whose user pays; a reference is held
 * @pages: how much
 * @limit: how much all charges of the user may come to, pages
 */
struct gprof_charge {
	const struct cred *cred;
	atomic64_t pages;
	unsigned long limit;
};

/**
 * gprof_memory_of() - memory that an allocation takes at most
 * @bytes: its size
 *
 * The slab allocator, and the page allocator below it, round up to a power of two.
 */
static inline u64 gprof_memory_of(u64 bytes)
{
	return bytes ? roundup_pow_of_two(bytes) : 0;
}

/**
 * gprof_pay_for() - have current's allocations charged to a memory cgroup, or to none: NULL
 * @memcg: which; a reference is held
 *
 * set_active_memcg(), whose half for interrupts modules cannot reach on 5.10.
 *
 * Context: Task, of the kernel's own threads.
 */
static inline void gprof_pay_for(struct mem_cgroup *memcg)
{
#ifdef CONFIG_MEMCG
	current->active_memcg = memcg;
#endif
}

int gprof_charge(struct gprof_charge *c, u64 bytes, bool unlimited);
int gprof_charge_more(struct gprof_charge *c, u64 bytes);
void gprof_charge_less(struct gprof_charge *c, u64 bytes);
void gprof_uncharge(struct gprof_charge *c);

#endif /* GPROF_MEMLOCK_H */
