// SPDX-License-Identifier: GPL-2.0-only
/*
 * trace_dump [-n | -o] FILE: what the library reads from an execution trace, one event a line, as
 * trace_go/dump.go prints what Go's reader does; with -o, at the times that are in the trace. With
 * -n, how many events, how long it took, and how much memory. "-" is standard input.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include <gprof/trace.h>

static struct gprof_trace *trace;

static void quote(struct gprof_trace_text t)
{
	putchar('"');
	for (size_t i = 0; i < t.len; i++) {
		unsigned char c = (unsigned char)t.s[i];

		if (c <= ' ' || c >= 0x7f || c == '\\')
			printf("\\x%02x", c);
		else
			putchar(c);
	}
	putchar('"');
}

static void frames(uint64_t stack)
{
	struct gprof_trace_frame f[GPROF_TRACE_FRAMES_MAX];
	size_t nr = gprof_trace_stack(trace, stack, f, GPROF_TRACE_FRAMES_MAX);

	putchar('[');
	for (size_t i = 0; i < nr; i++) {
		printf(" %llx:", (unsigned long long)f[i].pc);
		quote(f[i].function);
		putchar(':');
		quote(f[i].file);
		printf(":%llu", (unsigned long long)f[i].line);
	}
	printf(" ]");
}

static void resource(struct gprof_trace_resource r)
{
	static const char *const names[] = { "None", "Goroutine", "Proc", "Thread" };

	if (r.kind == GPROF_TRACE_RESOURCE_NONE)
		printf(" None");
	else
		printf(" %s(%lld)", names[r.kind], (long long)r.id);
}

static void text(struct gprof_trace_text t)
{
	putchar(' ');
	quote(t);
}

static void details(const struct gprof_trace_event *ev)
{
	switch (ev->kind) {
	case GPROF_TRACE_METRIC:
		printf(" %s=%llu", ev->metric.name, (unsigned long long)ev->metric.value);
		break;
	case GPROF_TRACE_LABEL:
		resource(ev->label.resource);
		text(ev->label.text);
		break;
	case GPROF_TRACE_RANGE_BEGIN:
	case GPROF_TRACE_RANGE_ACTIVE:
	case GPROF_TRACE_RANGE_END:
		resource(ev->range.scope);
		text(ev->range.name);
		if (ev->kind == GPROF_TRACE_RANGE_END && ev->type == 33)
			printf(" %llu %llu", (unsigned long long)ev->range.swept,
			       (unsigned long long)ev->range.reclaimed);
		break;
	case GPROF_TRACE_TASK_BEGIN:
	case GPROF_TRACE_TASK_END:
		printf(" %llu parent=%llu", (unsigned long long)ev->task.id,
		       (unsigned long long)ev->task.parent);
		text(ev->task.type);
		break;
	case GPROF_TRACE_REGION_BEGIN:
	case GPROF_TRACE_REGION_END:
		printf(" task=%llu", (unsigned long long)ev->region.task);
		text(ev->region.type);
		break;
	case GPROF_TRACE_LOG:
		printf(" task=%llu", (unsigned long long)ev->log.task);
		text(ev->log.category);
		text(ev->log.message);
		break;
	case GPROF_TRACE_STATE_TRANSITION:
		resource(ev->transition.resource);
		printf(" %s->%s ",
		       gprof_trace_state_name(ev->transition.resource.kind, ev->transition.from),
		       gprof_trace_state_name(ev->transition.resource.kind, ev->transition.to));
		quote(ev->transition.reason);
		putchar(' ');
		frames(ev->transition.stack);
		break;
	case GPROF_TRACE_EXPERIMENTAL:
		printf(" %s", ev->experimental.name);
		for (unsigned int i = 0; i < ev->experimental.nr_args; i++)
			printf(" %s=%llu", ev->experimental.arg_names[i],
			       (unsigned long long)ev->experimental.args[i]);
		break;
	default:
		break;
	}
}

static void dump(const struct gprof_trace_event *ev)
{
	printf("%s %lld m=%lld p=%lld g=%lld", gprof_trace_kind_name(ev->kind),
	       (long long)ev->time, (long long)ev->thread, (long long)ev->proc,
	       (long long)ev->goroutine);
	details(ev);
	putchar(' ');
	frames(ev->stack);
	putchar('\n');
}

static void cost(struct timespec began, unsigned long long nr)
{
	struct timespec now;
	struct rusage u;

	clock_gettime(CLOCK_MONOTONIC, &now);
	getrusage(RUSAGE_SELF, &u);
	printf("%llu events %lld ns %ld KiB\n", nr,
	       (now.tv_sec - began.tv_sec) * 1000000000LL + now.tv_nsec - began.tv_nsec,
	       u.ru_maxrss);
}

int main(int argc, char **argv)
{
	int count = argc == 3 && !strcmp(argv[1], "-n");
	const struct gprof_trace_opts opts = {
		.sz = sizeof(opts), .own_times = argc == 3 && !strcmp(argv[1], "-o"),
	};
	unsigned long long nr = 0;
	struct gprof_trace_event ev;
	struct timespec began;
	int fd, ret = 0;

	if (argc != 2 && !count && !opts.own_times) {
		fprintf(stderr, "usage: trace_dump [-n | -o] FILE\n");
		return 2;
	}
	clock_gettime(CLOCK_MONOTONIC, &began);
	fd = strcmp(argv[argc - 1], "-") ? open(argv[argc - 1], O_RDONLY) : 0;
	if (fd < 0) {
		perror(argv[argc - 1]);
		return 2;
	}
	trace = gprof_trace_new(fd, &opts);
	if (!trace) {
		fprintf(stderr, "refused: %s\n", gprof_error());
		return 1;
	}
	while ((ret = gprof_trace_next(trace, &ev)) > 0) {
		nr++;
		if (!count)
			dump(&ev);
	}
	if (ret < 0)
		fprintf(stderr, "refused: %s\n", gprof_error());
	else if (count)
		cost(began, nr);
	gprof_trace_free(trace);
	return ret < 0;
}
