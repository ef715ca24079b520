// SPDX-License-Identifier: GPL-2.0-only
/*
 * join_kernel: a trace of a host beside that which a Go program wrote of itself.
 *
 * Usage: join_kernel GO.TRACE HOST.TRACE TID TIMES SHIFT_NS LOSE. All of its threads have a CPU
 * each all the time, but that TID loses its own up to TIMES times, for 100032 ns each ms, where it
 * tells nothing meanwhile: without a CPU it could not have. All of that happens SHIFT_NS later than
 * in truth. Prints when each of those began during which a goroutine ran on TID.
 *
 * Each LOSEth time, that it gets its CPU back is lost, and half a ms later the host's trace tells
 * that something is; such a time is not printed. 0: nothing is lost.
 */
#include <fcntl.h>
#include <gprof/trace.h>
#include <gprof/trace_write.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS	256
#define HOG	4000000U
#define OFF	100032

struct ran {
	int64_t from;
	int64_t to;
};

static int64_t threads[THREADS];
static size_t nr_threads;
static struct ran *ran;
static size_t nr_ran;
static int64_t *tells;
static size_t nr_tells;
static int64_t first, last, begun = -1;

static void see(const struct gprof_trace_event *ev, int64_t tid)
{
	const struct gprof_trace_transition_data *t = &ev->transition;
	size_t i;

	if (ev->kind == GPROF_TRACE_SYNC)
		return;
	first = first ? first : ev->time;
	last = ev->time > last ? ev->time : last;
	for (i = 0; i < nr_threads && threads[i] != ev->thread; i++)
		;
	if (i == nr_threads && nr_threads < THREADS && ev->thread >= 0 && ev->thread != tid)
		threads[nr_threads++] = ev->thread;
	if (ev->thread == tid && ev->kind != GPROF_TRACE_STACK_SAMPLE) {
		tells = realloc(tells, (nr_tells + 1) * sizeof(*tells));
		tells[nr_tells++] = ev->time;
	}
	if (ev->kind != GPROF_TRACE_STATE_TRANSITION || ev->thread != tid || t->from == t->to ||
	    t->resource.kind != GPROF_TRACE_RESOURCE_GOROUTINE)
		return;
	if (t->to == GPROF_TRACE_GO_RUNNING) {
		begun = ev->time;
	} else if (t->from == GPROF_TRACE_GO_RUNNING && begun >= 0) {
		ran = realloc(ran, (nr_ran + 1) * sizeof(*ran));
		ran[nr_ran++] = (struct ran){ begun, ev->time };
		begun = -1;
	}
}

static int runs_at(int64_t time)
{
	for (size_t i = 0; i < nr_ran; i++)
		if (time >= ran[i].from && time < ran[i].to)
			return 1;
	return begun >= 0 && time >= begun;
}

static int tells_at(int64_t time)
{
	for (size_t i = 0; i < nr_tells; i++)
		if (tells[i] >= time && tells[i] <= time + OFF)
			return 1;
	return 0;
}

static void put(struct gprof_trace_writer *w, struct gprof_trace_point p)
{
	if (gprof_trace_writer_add(w, &p))
		exit(1);
}

int main(int argc, char **argv)
{
	/* As they were, for the thread loses its CPU at times of the host. */
	const struct gprof_trace_opts opts = { .sz = sizeof(opts), .own_times = true };
	struct gprof_trace_writer *w;
	struct gprof_trace_event ev;
	struct gprof_trace *t;
	int64_t at, shift;
	uint32_t tid;
	long times, lose;

	if (argc != 7)
		return 2;
	tid = (uint32_t)atoi(argv[3]);
	times = atol(argv[4]);
	shift = atoll(argv[5]);
	lose = atol(argv[6]);
	t = gprof_trace_new(open(argv[1], O_RDONLY), &opts);
	w = gprof_trace_writer_new(open(argv[2], O_WRONLY | O_CREAT | O_TRUNC, 0644), NULL);
	if (!t || !w)
		return 1;
	while (gprof_trace_next(t, &ev) > 0)
		see(&ev, tid);
	for (size_t i = 0; i <= nr_threads; i++)
		put(w, (struct gprof_trace_point){
			.type = GPROF_TRACE_POINT_RUNNING, .time = first + shift - 1000000,
			.cpu = i, .tid = GPROF_TRACE_NO_TID, .other = i ? threads[i - 1] : tid,
		});
	for (at = first + 20000000; times-- && at < last - 20000000; at += 1000000) {
		/* In units of the trace, rounded down as it does. */
		int64_t begin = (at + shift) / 64 * 64;

		if (tells_at(begin - shift))
			continue;
		put(w, (struct gprof_trace_point){
			.type = GPROF_TRACE_POINT_SWITCH, .time = begin, .tid = tid, .other = HOG,
			.why = GPROF_TRACE_WHY_PREEMPTED,
		});
		if (lose && times % lose == 0) {
			put(w, (struct gprof_trace_point){
				.type = GPROF_TRACE_POINT_LOST, .time = begin + 500032,
				.tid = GPROF_TRACE_NO_TID, .arg = 1,
			});
			put(w, (struct gprof_trace_point){
				.type = GPROF_TRACE_POINT_RUNNING, .time = begin + 500032,
				.tid = GPROF_TRACE_NO_TID, .other = tid,
			});
			continue;
		}
		put(w, (struct gprof_trace_point){
			.type = GPROF_TRACE_POINT_SWITCH, .time = begin + OFF, .tid = HOG,
			.other = tid, .why = GPROF_TRACE_WHY_SLEEPS,
		});
		if (runs_at(begin))
			printf("%" PRId64 "\n", begin);
	}
	put(w, (struct gprof_trace_point){
		.type = GPROF_TRACE_POINT_SWITCH, .time = last + shift + 1000000, .tid = tid,
		.why = GPROF_TRACE_WHY_SLEEPS,
	});
	gprof_trace_free(t);
	return gprof_trace_writer_close(w) ? 1 : 0;
}
