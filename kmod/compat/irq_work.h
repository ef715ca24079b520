/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Work in an interrupt of its own.
 *
 * IRQ_WORK_INIT_HARD(): 5.11; before, all such work runs in an interrupt, except on PREEMPT_RT.
 */
#ifndef GPROF_COMPAT_IRQ_WORK_H
#define GPROF_COMPAT_IRQ_WORK_H

#include <linux/irq_work.h>

static inline void gprof_irq_work_init_hard(struct irq_work *work,
					    void (*function)(struct irq_work *))
{
#ifdef IRQ_WORK_INIT_HARD
	*work = IRQ_WORK_INIT_HARD(function);
#else
	init_irq_work(work, function);
#endif
}

#endif /* GPROF_COMPAT_IRQ_WORK_H */
