/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SHIM_LINUX_WORKQUEUE_H
#define SHIM_LINUX_WORKQUEUE_H

struct work_struct { int unused; };

#endif /* SHIM_LINUX_WORKQUEUE_H */
