/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * target.h: a target, from the caller's words to the kernel's.
 */
#ifndef GPROF_TARGET_H
#define GPROF_TARGET_H

#include <gprof/recorder.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/**
 * struct gprof_kernel_target - a target as the kernel wants it
 * @target: GPROF_TARGET_*
 * @id: thread, process, or descriptor of a cgroup
 * @cpus: bitmap, or NULL
 * @cpus_size: bytes of it
 * @cgroup: descriptor to close, or -1
 * @text: description for people
 */
struct gprof_kernel_target {
	uint32_t target;
	int32_t id;
	uint64_t *cpus;
	size_t cpus_size;
	int cgroup;
	char text[256];
};

/** gprof_kernel_target_init() - 0 or -errno with a sentence; gprof_kernel_target_free() in any case */
int gprof_kernel_target_init(struct gprof_kernel_target *a, const struct gprof_target *t,
			     struct gprof_error *e);
void gprof_kernel_target_free(struct gprof_kernel_target *a);

/**
 * gprof_cpu_list() - bitmap of a list such as "0-3,6"
 * @list: text
 * @bits: result for free()
 * @size: its bytes, a multiple of 8
 *
 * Return: 0, -EINVAL or -ENOMEM.
 */
int gprof_cpu_list(const char *list, uint64_t **bits, size_t *size);

#endif /* GPROF_TARGET_H */
