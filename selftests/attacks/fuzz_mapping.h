/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fuzz_mapping.h: mappings of a recorder, and lies in its head. Each
 * takes the thread whose draws it follows and the slot that it is about.
 */
#ifndef GPROF_TEST_FUZZ_MAPPING_H
#define GPROF_TEST_FUZZ_MAPPING_H

#include "fuzz_thread.h"

void do_mmap(struct thread *t, struct slot *s);
void do_mapping(struct thread *t, struct slot *s);
void do_lie(struct thread *t, struct slot *s);

#endif
