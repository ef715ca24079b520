// SPDX-License-Identifier: GPL-2.0-only
/*
 * trace_of_perf: what perf script says of switches and wakings, as a trace of gprof.
 *
 *	perf script --ns -i FILE | trace_of_perf TRACE
 *
 * Thus views of a trace and perf's own are of the same recording. It says how many points
 * there are.
 */
#include <err.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gprof/trace_write.h>

#define GENERATION	(1ULL << 17)
#define TIDS		(1U << 22)
#define NAME		64

static bool named[TIDS];

/* The number behind @key, or -1. */
static long number(const char *text, const char *key)
{
	const char *p = strstr(text, key);
	long n = p ? atol(p + strlen(key)) : -1;

	return n < TIDS ? n : -1;
}

static unsigned int why(char state)
{
	switch (state) {
	case 'R':
		return GPROF_TRACE_WHY_PREEMPTED;
	case 'S':
		return GPROF_TRACE_WHY_SLEEPS;
	case 'D':
	case 'I':
		return GPROF_TRACE_WHY_WAITS;
	case 'X':
	case 'Z':
		return GPROF_TRACE_WHY_DEAD;
	default:
		return GPROF_TRACE_WHY_STOPPED;
	}
}

static void name(struct gprof_trace_writer *w, long tid, const char *text)
{
	const char *p = strstr(text, "next_comm="), *end = strstr(text, " next_pid=");
	char comm[NAME];

	if (!p || !end || !tid || named[tid])
		return;
	p += strlen("next_comm=");
	snprintf(comm, sizeof(comm), "%.*s", (int)(end - p), p);
	gprof_trace_writer_name(w, (uint32_t)tid, comm);
	named[tid] = true;
}

/* Is the line a point? */
static bool take(struct gprof_trace_writer *w, const char *line, struct gprof_trace_point *p)
{
	const char *head = strchr(line, '['), *event, *state;
	unsigned long long s, ns;
	unsigned int cpu;
	long from, to;

	if (!head || sscanf(head, "[%u] %llu.%llu:", &cpu, &s, &ns) != 3)
		return false;
	*p = (struct gprof_trace_point){ .time = s * 1000000000 + ns, .cpu = cpu };
	event = strstr(head, "sched:sched_switch:");
	if (event) {
		state = strstr(event, "prev_state=");
		from = number(event, "prev_pid=");
		to = number(event, "next_pid=");
		if (!state || from < 0 || to < 0)
			return false;
		p->type = GPROF_TRACE_POINT_SWITCH;
		p->why = (uint16_t)why(state[strlen("prev_state=")]);
		p->tid = (uint32_t)from;
		p->other = (uint32_t)to;
		name(w, to, event);
		return true;
	}
	event = strstr(head, "sched:sched_waking:");
	to = event ? number(event, " pid=") : -1;
	p->type = GPROF_TRACE_POINT_WAKING;
	p->tid = GPROF_TRACE_NO_TID;
	p->other = (uint32_t)to;
	return to > 0;
}

int main(int argc, char **argv)
{
	struct gprof_trace_writer *w;
	struct gprof_trace_point p;
	uint64_t points = 0;
	char *line = NULL;
	size_t room = 0;
	int fd;

	if (argc != 2)
		errx(2, "usage: perf script --ns -i FILE | trace_of_perf TRACE");
	fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0644);
	if (fd < 0)
		err(1, "%s", argv[1]);
	w = gprof_trace_writer_new(fd, NULL);
	if (!w)
		errx(1, "%s", gprof_error());
	while (getline(&line, &room, stdin) > 0) {
		if (!take(w, line, &p))
			continue;
		if (gprof_trace_writer_add(w, &p) ||
		    (++points % GENERATION == 0 && gprof_trace_writer_cut(w, p.time, NULL)))
			errx(1, "%s", gprof_error());
	}
	if (!points)
		errx(1, "there are no switches");
	if (gprof_trace_writer_close(w))
		errx(1, "%s", gprof_error());
	printf("points=%" PRIu64 "\n", points);
	return 0;
}
