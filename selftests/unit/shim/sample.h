/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sample.h: what kmod/sample/sampler.c needs besides: tasks, contexts, memory of one CPU.
 *
 * There is one task and one CPU. The test says what they are, and in which context
 * a sample is taken.
 */
#ifndef GPROF_SHIM_SAMPLE_H
#define GPROF_SHIM_SAMPLE_H

#include "shim.h"

#include <errno.h>
#include <stdlib.h>

#define noinline		__attribute__((__noinline__))
#define hweight16(_w)		__builtin_popcount((u16)(_w))
#define BUILD_BUG_ON(_bad)	((void)sizeof(char[1 - 2 * !!(_bad)]))
#define struct_size(_p, _member, _n)	(sizeof(*(_p)) + sizeof((_p)->_member[0]) * (_n))
#define static_assert(_good)	_Static_assert(_good, #_good)
#define NSEC_PER_SEC		1000000000L
#define NSEC_PER_USEC		1000L
#define TASK_SIZE_MAX		(1UL << 47)
#define TASK_COMM_LEN		16

struct task_struct {
	int pid, tgid;
	unsigned int self_exec_id;
	unsigned long nvcsw, nivcsw;
	u64 start_boottime;
	struct task_struct *group_leader;
	char comm[TASK_COMM_LEN];
};

extern struct task_struct shim_task;
extern int shim_in_hardirq;
#define current			(&shim_task)

/* A namespace has an id for each that is greater than @outside in the initial one, but one. */
struct pid_namespace {
	int outside, released;
};

struct pid;

extern struct pid_namespace init_pid_ns;

static inline struct pid *find_pid_ns(int nr, struct pid_namespace *ns)
{
	return (struct pid *)(long)nr;
}

static inline int pid_nr_ns(struct pid *pid, struct pid_namespace *ns)
{
	int nr = (long)pid;

	return nr > ns->outside && nr != ns->released ? nr - ns->outside : 0;
}

#define task_active_pid_ns(_task)	(&init_pid_ns)
#define get_pid_ns(_ns)			(_ns)
#define put_pid_ns(_ns)			((void)(_ns))

#define rcu_read_lock()			do { } while (0)
#define rcu_read_unlock()		do { } while (0)
#define __maybe_unused			__attribute__((__unused__))
#define strscpy_pad(_to, _from, _size)	((void)strncpy(_to, _from, _size))

struct pt_regs {
	bool user;
};

#define pid_alive(_task)	((_task)->pid >= 0)
#define user_mode(_regs)	((_regs)->user)
#define in_nmi()		0
#define in_hardirq()		shim_in_hardirq
#define in_serving_softirq()	0
#define irqs_disabled()		0
#define smp_processor_id()	0

#define __percpu
#define alloc_percpu(_type)	((_type *)calloc(1, sizeof(_type)))
#define free_percpu(_p)		free(_p)
#define per_cpu_ptr(_p, _cpu)	((void)(_cpu), (_p))
#define this_cpu_ptr(_p)	(_p)
#define this_cpu_read(_var)	(_var)
#define for_each_possible_cpu(_cpu)	for ((_cpu) = 0; (_cpu) < 1; (_cpu)++)

#define module_param_named(_name, _var, _type, _mode)	static_assert(true)
#define MODULE_PARM_DESC(_name, _text)			static_assert(true)

typedef struct {
	int a;
} atomic_t;

typedef struct {
	s64 a;
} atomic64_t;

static inline void atomic64_inc(atomic64_t *a)
{
	a->a++;
}

struct list_head {
	struct list_head *next, *prev;
};

struct page;

struct vm_area_struct {
	unsigned long vm_start;
};

int vm_insert_pages(struct vm_area_struct *vma, unsigned long addr, struct page **pages,
		    unsigned long *nr);

#endif /* GPROF_SHIM_SAMPLE_H */
