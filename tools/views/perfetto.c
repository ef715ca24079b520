// SPDX-License-Identifier: GPL-2.0-only
/*
 * A trace of the host for Perfetto: switches and wakings as ftrace tells them, system calls
 * as slices of their threads, and stacks, of CPU samples and of waits. Numbers of fields are
 * those of Perfetto's published protos/perfetto/trace.
 *
 * A late packet, as a slice has at its end, has the time of its event: readers sort packets by
 * time.
 */
#include "perfetto.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cmd.h"
#include "cli/output.h"
#include "cli/diag.h"
#include "thread_spans.h"
#include "protobuf.h"

#define SEQUENCE	1
/* Events of a CPU in a packet. */
#define BUNDLE		256
/* Perfetto's reader refuses all of a trace that has events of a CPU from this number on. */
#define CPUS_MAX	1024

enum {
	TRACE_PACKET = 1,
	PACKET_FTRACE_EVENTS = 1,
	PACKET_PROCESS_TREE = 2,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE_ID = 10,
	PACKET_TRACK_EVENT = 11,
	PACKET_INTERNED_DATA = 12,
	PACKET_SEQUENCE_FLAGS = 13,
	PACKET_TRACK_DESCRIPTOR = 60,
	PACKET_STACK_SAMPLE = 135,
	FLAG_STATE_CLEARED = 1,
	FLAG_NEEDS_STATE = 2,
	BUNDLE_CPU = 1,
	BUNDLE_EVENT = 2,
	BUNDLE_LOST_EVENTS = 3,
	EVENT_TIMESTAMP = 1,
	EVENT_PID = 2,
	EVENT_SCHED_SWITCH = 4,
	EVENT_SCHED_WAKING = 20,
	SWITCH_PREV_COMM = 1,
	SWITCH_PREV_PID = 2,
	SWITCH_PREV_STATE = 4,
	SWITCH_NEXT_COMM = 5,
	SWITCH_NEXT_PID = 6,
	WAKING_COMM = 1,
	WAKING_PID = 2,
	WAKING_SUCCESS = 4,
	TREE_PROCESSES = 1,
	TREE_THREADS = 2,
	PROCESS_PID = 1,
	PROCESS_CMDLINE = 3,
	THREAD_TID = 1,
	THREAD_NAME = 2,
	THREAD_TGID = 3,
	TRACK_UUID = 1,
	TRACK_THREAD = 4,
	DESCRIPTOR_PID = 1,
	DESCRIPTOR_TID = 2,
	DESCRIPTOR_NAME = 5,
	SLICE_TYPE = 9,
	SLICE_TRACK = 11,
	SLICE_CATEGORIES = 22,
	SLICE_NAME = 23,
	SLICE_BEGIN = 1,
	SLICE_END = 2,
	INTERNED_FUNCTION_NAMES = 5,
	INTERNED_FRAMES = 6,
	INTERNED_CALLSTACKS = 7,
	INTERNED_SOURCE_PATHS = 18,
	INTERNED_IID = 1,
	INTERNED_STR = 2,
	FRAME_FUNCTION_NAME = 2,
	FRAME_SOURCE_PATH = 5,
	FRAME_LINE = 6,
	SAMPLE_TASK = 1,
	SAMPLE_EXECUTION = 3,
	SAMPLE_CALLSTACK_IID = 6,
	SAMPLE_DESCRIPTOR = 9,
	SAMPLE_WEIGHT = 11,
	TASK_TID = 3,
	EXECUTION_CPU = 2,
	CALLSTACK_FRAMES = 2,
	COUNTER_NAME = 2,
	COUNTER_UNIT = 3,
	UNIT_NANOSECONDS = 1,
	UNIT_COUNT = 9,
};

/* As ftrace has it. */
enum { STATE_RUNNING = 0, STATE_SLEEPS = 1, STATE_WAITS = 2, STATE_STOPPED = 4, STATE_DEAD = 16 };
/* None of a kernel: Perfetto's reader knows it for one that it does not know. */
#define STATE_UNKNOWN	0x8000
/*
 * ftrace has no event for a CPU whose running task is unknown. Each CPU has a tid for that,
 * beyond the largest possible one.
 */
#define UNKNOWN_NAME	"[not known]"
#define UNKNOWN_TID	(1ULL << 22)

struct bundle {
	struct message events;
	size_t nr;
	uint64_t left_out;
	uint32_t runs;		/* as was told last */
	bool lost;		/* events are missing before these */
};

/**
 * struct writing - the trace in the making
 * @thread_spans: of the threads
 * @f: where to
 * @bundles: by CPU
 * @nr_bundles: how many
 * @room_bundles: of them
 * @what: of an event, in the making; its room is that of the last one
 * @event: likewise the event
 * @head: likewise a packet with its length
 * @tracks: of threads, whether they were told of, by index
 * @room_tracks: of them
 * @frames: line, name and file of those that were told of
 * @callstacks: numbers of frames, outermost first, of those that were told of
 * @begun: a packet was written
 */
struct writing {
	struct thread_spans thread_spans;
	FILE *f;
	struct bundle *bundles;
	size_t nr_bundles;
	size_t room_bundles;
	struct message what;
	struct message event;
	struct message head;
	unsigned char *tracks;
	size_t room_tracks;
	struct intern frames;
	struct intern callstacks;
	bool begun;
};

/* Takes the packet, which is empty again. */
static void write_packet(struct writing *w, struct message *packet)
{
	message_number(packet, PACKET_SEQUENCE_ID, SEQUENCE);
	message_number(packet, PACKET_SEQUENCE_FLAGS,
		       w->begun ? FLAG_NEEDS_STATE : FLAG_STATE_CLEARED | FLAG_NEEDS_STATE);
	w->begun = true;
	w->head.nr = 0;
	message_in(&w->head, TRACE_PACKET, packet);
	fwrite_unlocked(w->head.p, 1, w->head.nr, w->f);
	message_free(packet);
}

static struct bundle *bundle_of(struct writing *w, int64_t cpu)
{
	while (w->nr_bundles <= (size_t)cpu) {
		w->bundles = xgrow(w->bundles, w->nr_bundles, &w->room_bundles,
				   sizeof(*w->bundles));
		w->bundles[w->nr_bundles++].runs = THREAD_UNKNOWN;
	}
	return &w->bundles[cpu];
}

static void write_bundle(struct writing *w, size_t cpu)
{
	struct message packet = { 0 }, bundle = { 0 };
	struct bundle *b = &w->bundles[cpu];

	if (!b->nr)
		return;
	message_number(&bundle, BUNDLE_CPU, cpu);
	/* Fields of one message may lie one behind the other. */
	while (bundle.room - bundle.nr < b->events.nr)
		bundle.p = xgrow(bundle.p, bundle.room, &bundle.room, 1);
	memcpy(bundle.p + bundle.nr, b->events.p, b->events.nr);
	bundle.nr += b->events.nr;
	if (b->lost)
		message_number(&bundle, BUNDLE_LOST_EVENTS, true);
	message_in(&packet, PACKET_FTRACE_EVENTS, &bundle);
	message_free(&bundle);
	b->events.nr = 0;
	b->nr = 0;
	b->lost = false;
	write_packet(w, &packet);
}

/* Those of an idle CPU, and of an unknown task, are no threads of the trace. */
static uint64_t tid_of(const struct thread_spans *v, uint32_t thread, int64_t cpu)
{
	if (thread == THREAD_UNKNOWN)
		return UNKNOWN_TID + (uint64_t)cpu;
	return thread == THREAD_NONE ? 0 : (uint64_t)THREAD_TID(v->all[thread].id);
}

/* Adds the contents of @w->what. */
static void add_event(struct writing *w, int64_t cpu, int64_t time, uint32_t by,
		      unsigned int field)
{
	struct bundle *b = bundle_of(w, cpu);
	struct message *event = &w->event;

	if (cpu >= CPUS_MAX) {
		b->left_out++;
		return;
	}
	event->nr = 0;
	message_number(event, EVENT_TIMESTAMP, (uint64_t)time);
	message_number(event, EVENT_PID, tid_of(&w->thread_spans, by, cpu));
	message_in(event, field, &w->what);
	message_in(&b->events, BUNDLE_EVENT, event);
	if (++b->nr == BUNDLE)
		write_bundle(w, (size_t)cpu);
}

/* Its name and number; those of an idle CPU are swapper and 0. */
static void put_task(struct message *m, const struct thread_spans *v, uint32_t thread, int64_t cpu,
		     unsigned int comm, unsigned int pid)
{
	char idle[32];

	if (thread == THREAD_NONE) {
		snprintf(idle, sizeof(idle), "swapper/%lld", (long long)cpu);
		message_text(m, comm, idle);
	} else {
		message_text(m, comm,
			     thread == THREAD_UNKNOWN ? UNKNOWN_NAME :
							thread_spans_name(v, thread));
	}
	message_number(m, pid, tid_of(v, thread, cpu));
}

static unsigned int state_of(const struct thread *l)
{
	switch (l->state) {
	case GPROF_TRACE_GO_WAITING:
		return l->stopped ? STATE_STOPPED : l->uninterruptible ? STATE_WAITS : STATE_SLEEPS;
	case GPROF_TRACE_GO_NOT_EXIST:
		return STATE_DEAD;
	default:
		return STATE_RUNNING;
	}
}

static void put_switch(struct writing *w, int64_t cpu, uint32_t left, unsigned int state,
		       uint32_t thread, int64_t time)
{
	struct message *m = &w->what;

	m->nr = 0;
	put_task(m, &w->thread_spans, left, cpu, SWITCH_PREV_COMM, SWITCH_PREV_PID);
	message_number(m, SWITCH_PREV_STATE, state);
	put_task(m, &w->thread_spans, thread, cpu, SWITCH_NEXT_COMM, SWITCH_NEXT_PID);
	add_event(w, cpu, time, left, EVENT_SCHED_SWITCH);
	bundle_of(w, cpu)->runs = thread;
}

static void on_switch(void *ctx, struct thread_spans *v, int64_t cpu, uint32_t left,
		      uint32_t thread, int64_t time)
{
	unsigned int state;

	if (cpu < 0)
		return;
	state = left == THREAD_UNKNOWN ? STATE_UNKNOWN :
		left == THREAD_NONE ? STATE_RUNNING : state_of(&v->all[left]);
	put_switch(ctx, cpu, left, state, thread, time);
}

/* How its last task left is not known either. */
static void on_lost(void *ctx, struct thread_spans *v, int64_t cpu, uint32_t thread, int64_t begin,
		    int64_t end)
{
	struct writing *w = ctx;
	uint32_t had;

	(void)v;
	had = bundle_of(w, cpu)->runs;
	write_bundle(w, (size_t)cpu);
	bundle_of(w, cpu)->lost = true;
	if (had != THREAD_UNKNOWN)
		put_switch(w, cpu, had, had == THREAD_NONE ? STATE_RUNNING : STATE_UNKNOWN,
			   THREAD_UNKNOWN, begin);
	if (thread != THREAD_UNKNOWN)
		put_switch(w, cpu, THREAD_UNKNOWN, STATE_UNKNOWN, thread, end);
}

static void on_waking(void *ctx, struct thread_spans *v, uint32_t thread, uint32_t by, int64_t time,
		      uint32_t stack, int64_t cpu)
{
	struct writing *w = ctx;
	struct message *m = &w->what;

	(void)stack;
	if (cpu < 0)
		return;
	m->nr = 0;
	put_task(m, v, thread, cpu, WAKING_COMM, WAKING_PID);
	message_number(m, WAKING_SUCCESS, 1);
	add_event(w, cpu, time, by, EVENT_SCHED_WAKING);
}

static void write_track(struct writing *w, const struct thread_spans *v, uint32_t thread)
{
	struct message packet = { 0 }, track = { 0 }, descriptor = { 0 };
	uint64_t tid = (uint64_t)THREAD_TID(v->all[thread].id);

	while (w->room_tracks <= thread)
		w->tracks = xgrow(w->tracks, w->room_tracks, &w->room_tracks, 1);
	if (w->tracks[thread])
		return;
	w->tracks[thread] = 1;
	message_number(&descriptor, DESCRIPTOR_PID, (uint64_t)thread_spans_pid(v, thread));
	message_number(&descriptor, DESCRIPTOR_TID, tid);
	message_text(&descriptor, DESCRIPTOR_NAME, thread_spans_name(v, thread));
	message_number(&track, TRACK_UUID, thread + 1);
	message_in(&track, TRACK_THREAD, &descriptor);
	message_in(&packet, PACKET_TRACK_DESCRIPTOR, &track);
	write_packet(w, &packet);
	message_free(&descriptor);
	message_free(&track);
}

static void write_slice(struct writing *w, uint32_t thread, int64_t time, unsigned int type,
			const char *name)
{
	struct message packet = { 0 }, event = { 0 };

	message_number(&packet, PACKET_TIMESTAMP, (uint64_t)time);
	message_number(&event, SLICE_TYPE, type);
	message_number(&event, SLICE_TRACK, thread + 1);
	if (name) {
		message_text(&event, SLICE_CATEGORIES, "syscall");
		message_text(&event, SLICE_NAME, name);
	}
	message_in(&packet, PACKET_TRACK_EVENT, &event);
	write_packet(w, &packet);
	message_free(&event);
}

/* One that the trace ends in has no end; where events are missing, it is told up to them. */
static void on_call(void *ctx, struct thread_spans *v, uint32_t thread, int64_t begin, int64_t end,
		    bool cut)
{
	struct writing *w = ctx;

	write_track(w, v, thread);
	write_slice(w, thread, begin, SLICE_BEGIN, thread_spans_text(v, v->all[thread].call - 1));
	if (!cut || !v->over)
		write_slice(w, thread, end, SLICE_END, NULL);
}

/* Number of a frame, which is told of once. */
static uint64_t frame_iid(struct writing *w, const struct gprof_frame *f)
{
	struct message packet = { 0 }, data = { 0 }, one = { 0 };
	/* With the length of the name, for that and the file are any text. */
	char *key = xprintf("%lld %zu %s%s", (long long)f->line, strlen(f->function), f->function,
			    f->file);
	size_t nr = w->frames.nr;
	uint64_t iid = intern_add(&w->frames, key, strlen(key)) + 1;

	free(key);
	if (w->frames.nr == nr)
		return iid;
	message_number(&one, INTERNED_IID, iid);
	message_text(&one, INTERNED_STR, f->function);
	message_in(&data, INTERNED_FUNCTION_NAMES, &one);
	one.nr = 0;
	if (*f->file) {
		message_number(&one, INTERNED_IID, iid);
		message_text(&one, INTERNED_STR, f->file);
		message_in(&data, INTERNED_SOURCE_PATHS, &one);
		one.nr = 0;
	}
	message_number(&one, INTERNED_IID, iid);
	message_number(&one, FRAME_FUNCTION_NAME, iid);
	if (*f->file)
		message_number(&one, FRAME_SOURCE_PATH, iid);
	if (f->line > 0)
		message_number(&one, FRAME_LINE, (uint64_t)f->line);
	message_in(&data, INTERNED_FRAMES, &one);
	message_in(&packet, PACKET_INTERNED_DATA, &data);
	write_packet(w, &packet);
	message_free(&one);
	message_free(&data);
	return iid;
}

/* Number of a stack, leaf first, which is told of once. */
static uint64_t callstack_iid(struct writing *w, const struct gprof_frame *frames, size_t nr)
{
	struct message packet = { 0 }, data = { 0 }, one = { 0 };
	uint64_t iids[GPROF_TRACE_FRAMES_MAX], iid;
	size_t known = w->callstacks.nr;

	for (size_t i = 0; i < nr; i++)
		iids[i] = frame_iid(w, &frames[nr - 1 - i]);
	iid = intern_add(&w->callstacks, iids, nr * sizeof(*iids)) + 1;
	if (w->callstacks.nr == known)
		return iid;
	message_number(&one, INTERNED_IID, iid);
	for (size_t i = 0; i < nr; i++)
		message_number(&one, CALLSTACK_FRAMES, iids[i]);
	message_in(&data, INTERNED_CALLSTACKS, &one);
	message_in(&packet, PACKET_INTERNED_DATA, &data);
	write_packet(w, &packet);
	message_free(&one);
	message_free(&data);
	return iid;
}

/* @cpu is -1 for one that is off them; that of a CPU that is left out is told without it. */
static void write_sample(struct writing *w, const struct thread_spans *v, uint32_t thread,
			 int64_t time, int64_t cpu, uint32_t stack, uint64_t weight, const char *of,
			 unsigned int unit)
{
	struct gprof_frame frames[GPROF_TRACE_FRAMES_MAX];
	size_t nr = trace_stacks_frames(&v->stacks, stack, frames);
	struct message packet = { 0 }, sample = { 0 }, field = { 0 };

	if (!nr || thread == THREAD_NONE)
		return;
	message_number(&packet, PACKET_TIMESTAMP, (uint64_t)time);
	message_number(&field, TASK_TID, (uint64_t)THREAD_TID(v->all[thread].id));
	message_in(&sample, SAMPLE_TASK, &field);
	field.nr = 0;
	if (cpu >= 0 && cpu < CPUS_MAX) {
		message_number(&field, EXECUTION_CPU, (uint64_t)cpu);
		message_in(&sample, SAMPLE_EXECUTION, &field);
		field.nr = 0;
	}
	message_number(&sample, SAMPLE_CALLSTACK_IID, callstack_iid(w, frames, nr));
	message_text(&field, COUNTER_NAME, of);
	message_number(&field, COUNTER_UNIT, unit);
	message_in(&sample, SAMPLE_DESCRIPTOR, &field);
	message_number(&sample, SAMPLE_WEIGHT, weight);
	message_in(&packet, PACKET_STACK_SAMPLE, &sample);
	write_packet(w, &packet);
	message_free(&field);
	message_free(&sample);
}

static void on_span(void *ctx, struct thread_spans *v, const struct span *s)
{
	struct writing *w = ctx;

	if (s->state == THREAD_CPU)
		return;
	write_sample(w, v, s->thread, s->begin, -1, s->stack, (uint64_t)(s->end - s->begin),
		     thread_state_name(s->state), UNIT_NANOSECONDS);
}

static void on_sample(void *ctx, struct thread_spans *v, uint32_t thread, int64_t time, int64_t cpu,
		      uint32_t stack)
{
	write_sample(ctx, v, thread, time, cpu, stack, 1, "cpu samples", UNIT_COUNT);
}

/* A process is told of by its first thread, or, where that is not told of, without a name. */
static void write_process(struct message *tree, const struct thread_spans *v, uint32_t thread,
			  struct intern *processes)
{
	int64_t pid = thread_spans_pid(v, thread);
	bool first = pid == THREAD_TID(v->all[thread].id);
	struct message one = { 0 };
	size_t nr = processes->nr;

	intern_add(processes, &pid, sizeof(pid));
	if (processes->nr == nr)
		return;
	message_number(&one, PROCESS_PID, (uint64_t)pid);
	if (first)
		message_text(&one, PROCESS_CMDLINE, thread_spans_name(v, thread));
	message_in(tree, TREE_PROCESSES, &one);
	message_free(&one);
}

static void write_threads(struct writing *w)
{
	struct message packet = { 0 }, tree = { 0 }, one = { 0 };
	const struct thread_spans *v = &w->thread_spans;
	struct intern processes = { 0 };

	message_number(&packet, PACKET_TIMESTAMP, (uint64_t)v->begin);
	/* First threads name their processes. */
	for (uint32_t i = 0; i < thread_spans_nr(v); i++)
		if (thread_spans_pid(v, i) == THREAD_TID(v->all[i].id))
			write_process(&tree, v, i, &processes);
	for (uint32_t i = 0; i < thread_spans_nr(v); i++) {
		write_process(&tree, v, i, &processes);
		one.nr = 0;
		message_number(&one, THREAD_TID, (uint64_t)THREAD_TID(v->all[i].id));
		message_text(&one, THREAD_NAME, thread_spans_name(v, i));
		message_number(&one, THREAD_TGID, (uint64_t)thread_spans_pid(v, i));
		message_in(&tree, TREE_THREADS, &one);
	}
	intern_free(&processes);
	message_in(&packet, PACKET_PROCESS_TREE, &tree);
	write_packet(w, &packet);
	message_free(&one);
	message_free(&tree);
}

static void report_left_out(const struct writing *w, const char *file)
{
	uint64_t events = 0;
	size_t cpus = 0;

	for (size_t cpu = CPUS_MAX; cpu < w->nr_bundles; cpu++) {
		events += w->bundles[cpu].left_out;
		cpus += w->bundles[cpu].left_out > 0;
	}
	if (cpus)
		diag("%s: %" PRIu64
		     " switches and wakings of %zu CPUs are left out, as Perfetto opens "
		     "no trace that has some of CPU %d or of a higher number; --format csv and "
		     "gprofctl timeline have them",
		     file, events, cpus, CPUS_MAX);
}

static int write_all(struct writing *w, const char *file, const char *name)
{
	int status = thread_spans_read(&w->thread_spans, file);

	for (size_t cpu = 0; cpu < w->nr_bundles && status == STATUS_OK; cpu++)
		write_bundle(w, cpu);
	if (status == STATUS_OK) {
		write_threads(w);
		thread_spans_report(&w->thread_spans, file);
		thread_spans_report_calls(&w->thread_spans, file, "slices of threads");
		report_left_out(w, file);
	}
	if (status == STATUS_OK && ferror(w->f))
		status = fail("%s cannot be written", name);
	return status;
}

int perfetto_write(const char *file, const char *name)
{
	struct writing w = { 0 };
	struct output output = { .fd = -1 };
	int status = output_open(&output, name);

	w.thread_spans.use = (struct thread_spans_ops){
		.ctx = &w,
		.span = on_span,
		.call = on_call,
		.waking = on_waking,
		.sample = on_sample,
		.cpu_switch = on_switch,
		.lost = on_lost,
	};
	if (status == STATUS_OK) {
		w.f = output_stream(&output);
		status = w.f ? write_all(&w, file, name) : fail("%s: %s", name, strerror(errno));
	}
	if (w.f && fclose(w.f) && status == STATUS_OK)
		status = fail("%s cannot be written (%s)", name, strerror(errno));
	if (status == STATUS_OK)
		status = output_commit(&output);
	output_discard(&output);
	for (size_t cpu = 0; cpu < w.nr_bundles; cpu++)
		message_free(&w.bundles[cpu].events);
	message_free(&w.what);
	message_free(&w.event);
	message_free(&w.head);
	thread_spans_free(&w.thread_spans);
	intern_free(&w.frames);
	intern_free(&w.callstacks);
	free(w.bundles);
	free(w.tracks);
	return status;
}
