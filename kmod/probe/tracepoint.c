// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracepoint: most tracepoints are not exported to modules, but all of the
 * kernel's own can be enumerated.
 */
#include "tracepoint.h"

#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/mutex.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

struct search {
	const char *name;
	struct tracepoint *found;
};

static void compare(struct tracepoint *tp, void *priv)
{
	struct search *s = priv;

	if (!strcmp(tp->name, s->name))
		s->found = tp;
}

/*
 * There are some two thousand, to look through which for each probe was most of a
 * START's cost. The kernel's own are never taken away.
 */
static struct search tracepoints[64];
static DEFINE_MUTEX(tracepoints_mutex);	/* protects it; innermost but for the kernel's own */

static struct tracepoint *find(const char *name)
{
	struct search s = { .name = name };
	unsigned int i;

	mutex_lock(&tracepoints_mutex);
	for (i = 0; i < ARRAY_SIZE(tracepoints) && tracepoints[i].found; i++) {
		if (!strcmp(tracepoints[i].name, name)) {
			s.found = tracepoints[i].found;
			goto out;
		}
	}
	for_each_kernel_tracepoint(compare, &s);
	/* The name lives as long as the tracepoint; the caller may not. */
	if (s.found && i < ARRAY_SIZE(tracepoints))
		tracepoints[i] = (struct search){ .name = s.found->name, .found = s.found };
out:
	mutex_unlock(&tracepoints_mutex);
	return s.found;
}

/**
 * gprof_tracepoint_exists() - does this kernel have it?
 * @name: tracepoint
 *
 * Context: Task.
 */
bool gprof_tracepoint_exists(const char *name)
{
	return find(name);
}

/**
 * gprof_tracepoint_attach() - have a probe called
 * @name: tracepoint
 * @probe: function with the tracepoint's prototype, after a void pointer
 * @data: that pointer; several may attach the same probe with data of their own
 *
 * Context: Task.
 * Return: 0; -ENOENT when this kernel has no such tracepoint; -ENOMEM.
 */
int gprof_tracepoint_attach(const char *name, void *probe, void *data)
{
	struct tracepoint *tp = find(name);

	return tp ? tracepoint_probe_register(tp, probe, data) : -ENOENT;
}

/**
 * gprof_tracepoint_detach() - end it; no call is under way when this returns
 * @name: tracepoint
 * @probe: function that was attached
 * @data: with this data
 *
 * Context: Task.
 */
void gprof_tracepoint_detach(const char *name, void *probe, void *data)
{
	gprof_tracepoint_detach_nowait(name, probe, data);
	tracepoint_synchronize_unregister();
}

/**
 * gprof_tracepoint_detach_nowait() - end it, though calls may still be under way
 * @name: tracepoint
 * @probe: function that was attached
 * @data: with this data
 *
 * Grace periods are long; a caller with a shorter way to know that the probe's data is
 * out of use need not wait. The probe itself stays until gprof_tracepoints_exit().
 *
 * Context: Task.
 */
void gprof_tracepoint_detach_nowait(const char *name, void *probe, void *data)
{
	struct tracepoint *tp = find(name);

	if (tp)
		tracepoint_probe_unregister(tp, probe, data);
}

/**
 * gprof_tracepoints_exit() - wait until no probe runs any more
 *
 * Context: Task; all are detached.
 */
void gprof_tracepoints_exit(void)
{
	tracepoint_synchronize_unregister();
}
