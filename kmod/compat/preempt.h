/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Context.
 *
 * in_hardirq(): 5.11; before, in_irq(), with the same meaning.
 */
#ifndef GPROF_COMPAT_PREEMPT_H
#define GPROF_COMPAT_PREEMPT_H

#include <linux/preempt.h>

#ifndef in_hardirq
#define in_hardirq()	in_irq()
#endif

#endif /* GPROF_COMPAT_PREEMPT_H */
