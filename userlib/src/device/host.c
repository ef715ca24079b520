// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * host.c: events and features of this host, as its files say and SETUP accepts.
 */
#include <errno.h>
#include <gprof/info.h>
#include <linux/gprof.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "device.h"
#include "event.h"
#include "pmu.h"

struct feature {
	const char *name;
	uint64_t bit;
	const char *yes;
	const char *no;
};

static const struct feature features[] = {
	{ "kernel_frames", GPROF_FEAT_KERNEL_FRAMES, "call chains of the kernel (with privilege)",
	  "this kernel's unwinder is not open to modules" },
	{ "user_frames", GPROF_FEAT_USER_FRAMES, "call chains of programs, by frame pointers",
	  "the module cannot walk user stacks on this architecture" },
	{ "parallelism", GPROF_FEAT_PARALLELISM,
	  "CPU samples can have the number of running tasks of the target (latency)",
	  "this kernel has no tracepoint of switches" },
	{ "caller", GPROF_FEAT_CALLER, "the caller of a leaf function without a frame is recorded",
	  "callers of leaf functions without a frame are missing from stacks" },
	{ "unwind_tables", GPROF_FEAT_TABLES,
	  "call chains of programs without frame pointers, by unwind tables",
	  "this kernel has no notifiers of mappings, for which it needs CONFIG_MMU_NOTIFIER (as KVM "
	  "brings it), or this architecture has no such tables yet; "
	  "call chains are by frame pointers alone" },
	{ "python", GPROF_FEAT_PYTHON, "call chains of Python programs (--python)",
	  "the module cannot walk by tables, or does not know of Python; load a newer one" },
	{ "own_stack", GPROF_FEAT_SELF_STACK, "programs can keep profiles of their objects",
	  "the module does not give a thread its own stack; load a newer one" },
	{ "memory", GPROF_FEAT_ALLOC_REPORT, "profiles of programs' own allocations",
	  "the module takes no reports of allocations from programs; load a newer one" },
	{ "memory_over_time", GPROF_FEAT_OBJECT_ENDS,
	  "profiles of memory have its peak, and its use over time",
	  "the module does not tell when memory is freed; load a newer one" },
	{ "alloc_probes", GPROF_FEAT_ALLOC_PROBES,
	  "profiles of what programs that run already allocate themselves (--uprobes)",
	  "functions of programs cannot be probed; the kernel needs CONFIG_UPROBES, CONFIG_MEMCG "
	  "and CONFIG_MMU_NOTIFIER" },
	{ "cgroup", GPROF_FEAT_CGROUP, "cgroups can be recorded", "this kernel has no cgroup v2" },
	{ "flight", GPROF_FEAT_FLIGHT, "buffers that overwrite the oldest",
	  "the module has no flight mode" },
	{ "netlink", GPROF_FEAT_NETLINK, "recorders and statistics are read over netlink",
	  "the module has no netlink family" },
	{ "sched_sys_calls", GPROF_FEAT_SCHED_SYSCALLS,
	  "scheduler statistics can count system calls",
	  "this kernel has no tracepoints of system calls" },
	{ "sched_faults", GPROF_FEAT_SCHED_FAULTS, "scheduler statistics can count page faults",
	  "page faults cannot be probed; the kernel needs CONFIG_KPROBES" },
	{ "trace_syscalls", GPROF_FEAT_TRACE_SYSCALLS, "traces can have system calls",
	  "this kernel has no tracepoints of system calls" },
	{ "trace_irqs", GPROF_FEAT_TRACE_IRQS, "traces can have interrupts",
	  "this kernel has no tracepoints of interrupts" },
	{ "trace_faults", GPROF_FEAT_TRACE_FAULTS, "traces can have page faults",
	  "page faults cannot be probed; the kernel needs CONFIG_KPROBES" },
	{ "trace_reclaim", GPROF_FEAT_TRACE_RECLAIM, "traces can have reclaim and compaction",
	  "this kernel has no tracepoints of reclaim" },
	{ "trace_freq", GPROF_FEAT_TRACE_FREQ, "traces can have CPU frequencies",
	  "this kernel has no tracepoint of CPU frequencies" },
	{ "trace_throttle", GPROF_FEAT_TRACE_THROTTLE, "traces can have cgroups being throttled",
	  "throttling cannot be probed; the kernel needs CONFIG_KPROBES and CONFIG_CFS_BANDWIDTH" },
	{ "trace_reasons", GPROF_FEAT_TRACE_REASONS, "traces have the reason of each wait",
	  "the module has no reasons in switches; record stacks" },
	{ "notices", GPROF_FEAT_EVENTS, "losses and the end of a target are reported when they "
	  "happen",
	  "losses and the end of a target are not reported" },
	{ "maps", GPROF_FEAT_MAPS,
	  "mappings are recorded, so that ended processes keep their names",
	  "mappings are not recorded; addresses have no names" },
	{ "map_files", GPROF_FEAT_MAP_FILES,
	  "mapped files are known by build-id, on every file system",
	  "the module sends no build-ids; files on overlayfs may have no names" },
};

#define KIND(_number, _name, _records, _lack)					\
	{ "kind_" _name, 1ULL << GPROF_KIND_##_number, _records,		\
	  "the module does not have this kind of recorder; load a newer one" },

static const struct feature kinds[] = {
#include "base/kinds.def"
};

#define NR(a)	(sizeof(a) / sizeof((a)[0]))

/**
 * struct gprof_host - answers
 * @info: of the module
 * @events: presets, and whether they work
 * @nr_events: how many
 * @reasons: texts that @events point to
 * @features: capabilities
 * @pmus: names of PMUs
 * @nr_pmus: how many
 */
struct gprof_host {
	struct gprof_info info;
	struct gprof_info_event *events;
	size_t nr_events;
	struct gprof_error *reasons;
	struct gprof_info_feature features[NR(features) + NR(kinds)];
	char **pmus;
	size_t nr_pmus;
};

/* SETUP is the whole test: it creates nothing that outlives the descriptor. */
static int try_event(const struct gprof_event_preset *preset, struct gprof_error *e)
{
	struct gprof_cpu_params params = {
		.size = sizeof(params),
		.type = preset->type,
		.config = preset->config,
		.period = preset->period,
	};
	struct gprof_setup setup = {
		.kind = GPROF_KIND_CPU,
		.target = GPROF_TARGET_THREAD,
		.id = (int32_t)syscall(SYS_gettid),
		.stack = GPROF_STACK_F_IP,
		.params = (uintptr_t)&params,
		.buffer_size = 4096,
	};
	struct gprof_own_fd dev;
	int err = gprof_device_open(&dev, e);

	if (err)
		return err;
	err = gprof_device_setup(&dev, &setup, preset->name, e);
	gprof_own_fd_close(&dev);
	return err;
}

static int try_events(struct gprof_host *h)
{
	const struct gprof_event_preset *presets;
	size_t nr = gprof_event_presets(&presets), i;

	h->events = calloc(nr, sizeof(*h->events));
	h->reasons = calloc(nr, sizeof(*h->reasons));
	if (!h->events || !h->reasons)
		return -ENOMEM;
	h->nr_events = nr;
	for (i = 0; i < nr; i++) {
		h->events[i].name = presets[i].name;
		h->events[i].period = presets[i].period;
		h->events[i].error = -try_event(&presets[i], &h->reasons[i]);
		h->events[i].reason = h->events[i].error ? h->reasons[i].text : "";
	}
	return 0;
}

static void fill_features(struct gprof_host *h)
{
	struct gprof_info_feature *out = h->features;
	size_t i;

	for (i = 0; i < NR(kinds); i++, out++) {
		out->name = kinds[i].name;
		out->present = h->info.out_kinds & kinds[i].bit;
		out->reason = out->present ? kinds[i].yes : kinds[i].no;
	}
	for (i = 0; i < NR(features); i++, out++) {
		out->name = features[i].name;
		out->present = h->info.out_features & features[i].bit;
		out->reason = out->present ? features[i].yes : features[i].no;
	}
}

struct gprof_host *gprof_host_new(void)
{
	struct gprof_host *h = calloc(1, sizeof(*h));
	struct gprof_error e = { 0 };
	struct gprof_own_fd dev;
	int err = 0;

	if (!h)
		err = gprof_error_set(&e, ENOMEM, "no memory");
	if (!err)
		err = gprof_device_open(&dev, &e);
	if (!err) {
		err = gprof_device_info(&dev, &h->info, &e);
		gprof_own_fd_close(&dev);
	}
	if (!err && try_events(h))
		err = gprof_error_set(&e, ENOMEM, "no memory");
	if (!err) {
		fill_features(h);
		/* A kernel without PMUs has an empty list, and that is an answer. */
		gprof_pmu_list(GPROF_PMU_SYSFS, NULL, &h->pmus, &h->nr_pmus);
		return h;
	}
	gprof_host_free(h);
	gprof_error_publish(&e);
	return NULL;
}

void gprof_host_free(struct gprof_host *h)
{
	if (!h)
		return;
	gprof_pmu_list_free(h->pmus, h->nr_pmus);
	free(h->events);
	free(h->reasons);
	free(h);
}

size_t gprof_host_events(const struct gprof_host *h, const struct gprof_info_event **events)
{
	*events = h->events;
	return h->nr_events;
}

size_t gprof_host_features(const struct gprof_host *h, const struct gprof_info_feature **f)
{
	*f = h->features;
	return NR(h->features);
}

size_t gprof_host_pmus(const struct gprof_host *h, const char *const **pmus)
{
	*pmus = (const char *const *)h->pmus;
	return h->nr_pmus;
}

unsigned int gprof_host_abi(const struct gprof_host *h)
{
	return h->info.out_abi_version;
}

unsigned int gprof_host_cpus(const struct gprof_host *h)
{
	return h->info.out_nr_cpus;
}

uint64_t gprof_host_buffer(const struct gprof_host *h)
{
	return h->info.out_default_buffer;
}
