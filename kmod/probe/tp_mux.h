/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tp_mux: one probe for each of the kernel's tracepoints, and the subscribers that it calls.
 */
#ifndef GPROF_TP_MUX_H
#define GPROF_TP_MUX_H

#include "tp_sub.h"

#include <linux/types.h>

bool gprof_tp_exists(enum gprof_tp_id id);
int gprof_tp_subscribe(struct gprof_tp_sub *u);
void gprof_tp_unsubscribe_nowait(struct gprof_tp_sub *u);
int gprof_tp_subscribe_all(struct gprof_tp_sub *subs, unsigned int nr);
void gprof_tp_unsubscribe_all(struct gprof_tp_sub *subs, unsigned int nr);
void gprof_tp_mux_settle(void);
void gprof_tp_mux_exit(void);

#endif /* GPROF_TP_MUX_H */
