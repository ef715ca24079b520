/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * gprof/info.h: events and features of this host.
 *
 * Threads. Answers, once there, are only read: any number of threads may do so.
 * Fork. They are plain memory; each process frees its own. Growth: the structs are
 * closed, see gprof/recorder.h.
 */
#ifndef GPROF_INFO_H
#define GPROF_INFO_H

#include <stddef.h>
#include <stdint.h>
#include <gprof/recorder.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct gprof_info_event - an event that recorders of kind cpu take by name
 * @name: as in struct gprof_cpu_event
 * @period: preset events per sample (ns for the timer); 0: none
 * @error: 0 when the kernel accepts it for the calling thread, else an errno
 * @reason: a sentence when it does not, else ""
 */
struct gprof_info_event {
	const char *name;
	uint64_t period;
	int error;
	const char *reason;
};

/**
 * struct gprof_info_feature - a capability
 * @name: stable key such as "kernel_frames"
 * @present: the module has it here
 * @reason: a sentence: a description, or why it is missing
 */
struct gprof_info_feature {
	const char *name;
	bool present;
	const char *reason;
};

struct gprof_host;

/**
 * gprof_host_new() - read the kinds, features and events of the module and the kernel
 *
 * Every preset event is really tried (on the calling thread, unprivileged
 * user-mode counting), and every PMU under /sys/bus/event_source is listed.
 *
 * Return: answers for gprof_host_free(), or NULL with errno: ENOENT (module not
 * loaded), EACCES, EPROTO (ABI of another version).
 */
GPROF_API struct gprof_host *gprof_host_new(void);
GPROF_API void gprof_host_free(struct gprof_host *h);

GPROF_API size_t gprof_host_events(const struct gprof_host *h,
				   const struct gprof_info_event **events);
GPROF_API size_t gprof_host_features(const struct gprof_host *h,
				     const struct gprof_info_feature **features);
/** gprof_host_pmus() - names of the kernel's PMUs; returns their number */
GPROF_API size_t gprof_host_pmus(const struct gprof_host *h, const char *const **pmus);
/** gprof_host_abi() - ABI version of the loaded module */
GPROF_API unsigned int gprof_host_abi(const struct gprof_host *h);
GPROF_API unsigned int gprof_host_cpus(const struct gprof_host *h);
GPROF_API uint64_t gprof_host_buffer(const struct gprof_host *h);

#ifdef __cplusplus
}
#endif

#endif /* GPROF_INFO_H */
