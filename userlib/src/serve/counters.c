// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * counters.c: events that are counted and told as text.
 */
#include "counters.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fd_write.h"

#define EVENTS_MAX	32

/* How many there are, of which the first @room are kept. */
static size_t cut(char *list, const char *events[], size_t room)
{
	bool within = false;
	size_t nr = 1;
	char *p;

	events[0] = list;
	for (p = list; *p; p++) {
		if (*p == '/')
			within = !within;
		if (*p != ',' || within)
			continue;
		*p = '\0';
		if (nr < room)
			events[nr] = p + 1;
		nr++;
	}
	return nr;
}

static int begin(struct gprof_counters *k, char *list, const struct gprof_target *target)
{
	const char *events[EVENTS_MAX];
	const struct gprof_count_config cfg = {
		.sz = sizeof(cfg),
		.target = *target,
		.events = events,
		.nr_events = cut(list, events, EVENTS_MAX),
	};
	size_t i;

	if (cfg.nr_events > EVENTS_MAX)
		return gprof_error_set(NULL, EINVAL, "%zu events are too many to be counted at once; "
				       "%d are not", cfg.nr_events, EVENTS_MAX);
	for (i = 0; i < cfg.nr_events; i++)
		if (!events[i][0])
			return gprof_error_set(NULL, EINVAL, "counters are names of events with commas "
					       "between, such as cycles,instructions; one is empty");
	k->nr = cfg.nr_events;
	k->counting = gprof_counting_new(&cfg);
	return k->counting ? gprof_counting_start(k->counting) : -errno;
}

int gprof_counters_begin(struct gprof_counters *k, const char *list,
			 const struct gprof_target *target)
{
	char *copy = strdup(list);
	int err;

	*k = (struct gprof_counters){ 0 };
	if (!copy)
		return gprof_error_set(NULL, ENOMEM, "no memory for counters");
	err = begin(k, copy, target);
	free(copy);
	return err;
}

/* For the time in which it was not counted; the largest at most. */
static uint64_t scale_up(const struct gprof_count *n)
{
	unsigned __int128 all = (unsigned __int128)n->count * n->time_enabled_ns;

	all = (all + n->time_running_ns / 2) / n->time_running_ns;
	return all > UINT64_MAX ? UINT64_MAX : (uint64_t)all;
}

static int put_count(const struct gprof_count *n, int fd)
{
	const char *mode = n->user_only ? " (user mode)" : "";
	char *text;
	int len, err;

	if (n->time_enabled_ns && !n->time_running_ns)
		len = asprintf(&text, "0 %s (never counted: the CPU has no counter left)\n", n->event);
	else if (n->time_running_ns < n->time_enabled_ns)
		len = asprintf(&text, "%" PRIu64 " %s%s (scaled: counted for %.1f %% of the time)\n",
			       scale_up(n), n->event, mode,
			       100.0 * (double)n->time_running_ns / (double)n->time_enabled_ns);
	else
		len = asprintf(&text, "%" PRIu64 " %s%s\n", n->count, n->event, mode);
	if (len < 0)
		return gprof_error_set(NULL, ENOMEM, "no memory for counters");
	err = gprof_fd_write(fd, text, (size_t)len);
	free(text);
	return err ? gprof_error_set(NULL, -err, "%s", gprof_strerror(-err)) : 0;
}

int gprof_counters_end(struct gprof_counters *k, int fd)
{
	struct gprof_count n = { .sz = sizeof(n) };
	int err = gprof_counting_stop(k->counting);
	size_t i;

	for (i = 0; !err && i < k->nr; i++) {
		err = gprof_counting_read(k->counting, i, &n);
		if (!err)
			err = put_count(&n, fd);
	}
	return err;
}

void gprof_counters_drop(struct gprof_counters *k)
{
	gprof_counting_free(k->counting);
	*k = (struct gprof_counters){ 0 };
}
