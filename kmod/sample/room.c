// SPDX-License-Identifier: GPL-2.0-only
/*
 * sample: one event becomes a record in the ring of each recorder that counts it.
 *
 * The stack is walked once for all recorders of the task (capture.c) and said once in a generation
 * of each (stack_intern.c), with the names of the task (comm_cache.c) and of its mappings
 * (mapping.c); sampler.c writes the sample.
 *
 * Contexts: capture.c, sampler.c, comm_cache.c and stack_intern.c any, NMI included; mapping.c and
 * task_stack.c the thread of the recorder's user; self_stack.c system calls.
 * May include: target, unwind, ring and the rooms below.
 */
#include "self_stack.c"
#include "capture.c"
#include "sampler.c"
#include "comm_cache.c"
#include "stack_intern.c"
#include "task_stack.c"
#include "mapping.c"
#include "mapping_record.c"
