/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SHIM_LINUX_WAIT_H
#define SHIM_LINUX_WAIT_H

typedef struct wait_queue_head { int unused; } wait_queue_head_t;

#endif /* SHIM_LINUX_WAIT_H */
