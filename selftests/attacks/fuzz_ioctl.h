/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fuzz_ioctl.h: calls of the device, with arguments right and wrong. Each
 * takes the thread whose draws it follows and the slot that it is about.
 */
#ifndef GPROF_TEST_FUZZ_IOCTL_H
#define GPROF_TEST_FUZZ_IOCTL_H

#include "fuzz_thread.h"

void do_info(struct thread *t, struct slot *s);
void do_setup(struct thread *t, struct slot *s);
void do_setup_sched(struct thread *t, struct slot *s);
void do_start(struct thread *t, struct slot *s);
void do_stop(struct thread *t, struct slot *s);
void do_stats(struct thread *t, struct slot *s);
void do_rate(struct thread *t, struct slot *s);
void do_trigger(struct thread *t, struct slot *s);
void do_fired(struct thread *t, struct slot *s);
void do_table(struct thread *t, struct slot *s);
void do_stack(struct thread *t, struct slot *s);
void do_memory(struct thread *t, struct slot *s);
void do_unknown(struct thread *t, struct slot *s);

#endif
