// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A program that says what it does, for whoever traces it:
 *
 *	cc annotate_self.c $(pkg-config --cflags --libs libgprof) -pthread -o annotate_self
 *	gprofctl trace --annotations -- ./annotate_self && gprofctl read trace.out --regions
 *
 * Its requests come in on one thread and are answered on another, so that each is a task, and
 * what is done for it are regions of those threads.
 */
#include <gprof/annotate.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define REQUESTS	20

struct request {
	uint64_t task;
	unsigned int number;
};

static int requests[2];

/* Some work, the same for each of the same size. */
static unsigned long work(unsigned long trips)
{
	unsigned long x = trips;

	while (trips--) {
		x = x * 2862933555777941757UL + 3037000493UL;
		__asm__ volatile("" : "+r"(x));
	}
	return x;
}

static void answer(const struct request *r)
{
	char message[40];

	gprof_trace_region_begin(r->task, "answer");
	gprof_trace_region_begin(r->task, "query");
	nanosleep(&(struct timespec){ .tv_nsec = 2000000 }, NULL);
	gprof_trace_region_end(r->task, "query");
	gprof_trace_region_begin(r->task, "render");
	work(300000);
	gprof_trace_region_end(r->task, "render");
	if (gprof_trace_annotated()) {
		snprintf(message, sizeof(message), "request %u", r->number);
		gprof_trace_log(r->task, "answered", message);
	}
	gprof_trace_region_end(r->task, "answer");
	gprof_trace_task_end(r->task);
}

static void *answers(void *arg)
{
	struct request r;

	while (read(requests[0], &r, sizeof(r)) == sizeof(r))
		answer(&r);
	return arg;
}

int main(void)
{
	struct request r = { 0 };
	pthread_t thread;

	if (pipe(requests) || pthread_create(&thread, NULL, answers, NULL))
		return 1;
	for (r.number = 0; r.number < REQUESTS; r.number++) {
		r.task = gprof_trace_task_begin(0, "request");
		gprof_trace_region_begin(r.task, "parse");
		work(50000);
		gprof_trace_region_end(r.task, "parse");
		if (write(requests[1], &r, sizeof(r)) != sizeof(r))
			return 1;
	}
	close(requests[1]);
	pthread_join(thread, NULL);
	printf("%d requests\n", REQUESTS);
	return 0;
}
