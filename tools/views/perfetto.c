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

#include "base/wire.h"
#include "cli/cmd.h"
#include "cli/output.h"
#include "cli/diag.h"
#include "cli/text.h"
#include "thread_spans.h"

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
	struct gprof_wire events;
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
	struct gprof_wire what;
	struct gprof_wire event;
	struct gprof_wire head;
	unsigned char *tracks;
	size_t room_tracks;
	struct intern frames;
	struct intern callstacks;
	bool begun;
};

static bool is_plain(const char *text)
{
	while (*text >= ' ' && *text <= '~')
		text++;
	return !*text;
}

/* A name of a thread is any bytes, or the first of a longer one's; a text has to be UTF-8. */
static void put_text(struct gprof_wire *m, unsigned int field, const char *text)
{
	char *safe = is_plain(text) ? NULL : text_safe(text);

	gprof_wire_bytes(m, field, safe ? safe : text, strlen(safe ? safe : text));
	free(safe);
}

static void put_message(struct gprof_wire *m, unsigned int field, const struct gprof_wire *other)
{
	gprof_wire_bytes(m, field, other->v, other->nr);
	m->failed |= other->failed;
}

/* Takes the packet, which is empty again. */
static void write_packet(struct writing *w, struct gprof_wire *packet)
{
	gprof_wire_present(packet, PACKET_SEQUENCE_ID, SEQUENCE);
	gprof_wire_present(packet, PACKET_SEQUENCE_FLAGS,
			   w->begun ? FLAG_NEEDS_STATE : FLAG_STATE_CLEARED | FLAG_NEEDS_STATE);
	w->begun = true;
	w->head.nr = 0;
	put_message(&w->head, TRACE_PACKET, packet);
	fwrite_unlocked(w->head.v, 1, w->head.nr, w->f);
	gprof_wire_free(packet);
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
	struct gprof_wire packet = { 0 }, bundle = { 0 };
	struct bundle *b = &w->bundles[cpu];

	if (!b->nr)
		return;
	gprof_wire_present(&bundle, BUNDLE_CPU, cpu);
	gprof_wire_raw(&bundle, b->events.v, b->events.nr);
	bundle.failed |= b->events.failed;
	if (b->lost)
		gprof_wire_present(&bundle, BUNDLE_LOST_EVENTS, true);
	put_message(&packet, PACKET_FTRACE_EVENTS, &bundle);
	gprof_wire_free(&bundle);
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
	struct gprof_wire *event = &w->event;

	if (cpu >= CPUS_MAX) {
		b->left_out++;
		return;
	}
	event->nr = 0;
	gprof_wire_present(event, EVENT_TIMESTAMP, (uint64_t)time);
	gprof_wire_present(event, EVENT_PID, tid_of(&w->thread_spans, by, cpu));
	put_message(event, field, &w->what);
	put_message(&b->events, BUNDLE_EVENT, event);
	if (++b->nr == BUNDLE)
		write_bundle(w, (size_t)cpu);
}

/* Its name and number; those of an idle CPU are swapper and 0. */
static void put_task(struct gprof_wire *m, const struct thread_spans *v, uint32_t thread,
		     int64_t cpu, unsigned int comm, unsigned int pid)
{
	char idle[32];

	if (thread == THREAD_NONE) {
		snprintf(idle, sizeof(idle), "swapper/%lld", (long long)cpu);
		put_text(m, comm, idle);
	} else {
		put_text(m, comm,
			 thread == THREAD_UNKNOWN ? UNKNOWN_NAME :
							thread_spans_name(v, thread));
	}
	gprof_wire_present(m, pid, tid_of(v, thread, cpu));
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
	struct gprof_wire *m = &w->what;

	m->nr = 0;
	put_task(m, &w->thread_spans, left, cpu, SWITCH_PREV_COMM, SWITCH_PREV_PID);
	gprof_wire_present(m, SWITCH_PREV_STATE, state);
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
	struct gprof_wire *m = &w->what;

	(void)stack;
	if (cpu < 0)
		return;
	m->nr = 0;
	put_task(m, v, thread, cpu, WAKING_COMM, WAKING_PID);
	gprof_wire_present(m, WAKING_SUCCESS, 1);
	add_event(w, cpu, time, by, EVENT_SCHED_WAKING);
}

static void write_track(struct writing *w, const struct thread_spans *v, uint32_t thread)
{
	struct gprof_wire packet = { 0 }, track = { 0 }, descriptor = { 0 };
	uint64_t tid = (uint64_t)THREAD_TID(v->all[thread].id);

	while (w->room_tracks <= thread)
		w->tracks = xgrow(w->tracks, w->room_tracks, &w->room_tracks, 1);
	if (w->tracks[thread])
		return;
	w->tracks[thread] = 1;
	gprof_wire_present(&descriptor, DESCRIPTOR_PID, (uint64_t)thread_spans_pid(v, thread));
	gprof_wire_present(&descriptor, DESCRIPTOR_TID, tid);
	put_text(&descriptor, DESCRIPTOR_NAME, thread_spans_name(v, thread));
	gprof_wire_present(&track, TRACK_UUID, thread + 1);
	put_message(&track, TRACK_THREAD, &descriptor);
	put_message(&packet, PACKET_TRACK_DESCRIPTOR, &track);
	write_packet(w, &packet);
	gprof_wire_free(&descriptor);
	gprof_wire_free(&track);
}

static void write_slice(struct writing *w, uint32_t thread, int64_t time, unsigned int type,
			const char *name)
{
	struct gprof_wire packet = { 0 }, event = { 0 };

	gprof_wire_present(&packet, PACKET_TIMESTAMP, (uint64_t)time);
	gprof_wire_present(&event, SLICE_TYPE, type);
	gprof_wire_present(&event, SLICE_TRACK, thread + 1);
	if (name) {
		put_text(&event, SLICE_CATEGORIES, "syscall");
		put_text(&event, SLICE_NAME, name);
	}
	put_message(&packet, PACKET_TRACK_EVENT, &event);
	write_packet(w, &packet);
	gprof_wire_free(&event);
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
	struct gprof_wire packet = { 0 }, data = { 0 }, one = { 0 };
	/* With the length of the name, for that and the file are any text. */
	char *key = xprintf("%lld %zu %s%s", (long long)f->line, strlen(f->function), f->function,
			    f->file);
	size_t nr = w->frames.nr;
	uint64_t iid = intern_add(&w->frames, key, strlen(key)) + 1;

	free(key);
	if (w->frames.nr == nr)
		return iid;
	gprof_wire_present(&one, INTERNED_IID, iid);
	put_text(&one, INTERNED_STR, f->function);
	put_message(&data, INTERNED_FUNCTION_NAMES, &one);
	one.nr = 0;
	if (*f->file) {
		gprof_wire_present(&one, INTERNED_IID, iid);
		put_text(&one, INTERNED_STR, f->file);
		put_message(&data, INTERNED_SOURCE_PATHS, &one);
		one.nr = 0;
	}
	gprof_wire_present(&one, INTERNED_IID, iid);
	gprof_wire_present(&one, FRAME_FUNCTION_NAME, iid);
	if (*f->file)
		gprof_wire_present(&one, FRAME_SOURCE_PATH, iid);
	if (f->line > 0)
		gprof_wire_present(&one, FRAME_LINE, (uint64_t)f->line);
	put_message(&data, INTERNED_FRAMES, &one);
	put_message(&packet, PACKET_INTERNED_DATA, &data);
	write_packet(w, &packet);
	gprof_wire_free(&one);
	gprof_wire_free(&data);
	return iid;
}

/* Number of a stack, leaf first, which is told of once. */
static uint64_t callstack_iid(struct writing *w, const struct gprof_frame *frames, size_t nr)
{
	struct gprof_wire packet = { 0 }, data = { 0 }, one = { 0 };
	uint64_t iids[GPROF_TRACE_FRAMES_MAX], iid;
	size_t known = w->callstacks.nr;

	for (size_t i = 0; i < nr; i++)
		iids[i] = frame_iid(w, &frames[nr - 1 - i]);
	iid = intern_add(&w->callstacks, iids, nr * sizeof(*iids)) + 1;
	if (w->callstacks.nr == known)
		return iid;
	gprof_wire_present(&one, INTERNED_IID, iid);
	for (size_t i = 0; i < nr; i++)
		gprof_wire_present(&one, CALLSTACK_FRAMES, iids[i]);
	put_message(&data, INTERNED_CALLSTACKS, &one);
	put_message(&packet, PACKET_INTERNED_DATA, &data);
	write_packet(w, &packet);
	gprof_wire_free(&one);
	gprof_wire_free(&data);
	return iid;
}

/* @cpu is -1 for one that is off them; that of a CPU that is left out is told without it. */
static void write_sample(struct writing *w, const struct thread_spans *v, uint32_t thread,
			 int64_t time, int64_t cpu, uint32_t stack, uint64_t weight, const char *of,
			 unsigned int unit)
{
	struct gprof_frame frames[GPROF_TRACE_FRAMES_MAX];
	size_t nr = trace_stacks_frames(&v->stacks, stack, frames);
	struct gprof_wire packet = { 0 }, sample = { 0 }, field = { 0 };

	if (!nr || thread == THREAD_NONE)
		return;
	gprof_wire_present(&packet, PACKET_TIMESTAMP, (uint64_t)time);
	gprof_wire_present(&field, TASK_TID, (uint64_t)THREAD_TID(v->all[thread].id));
	put_message(&sample, SAMPLE_TASK, &field);
	field.nr = 0;
	if (cpu >= 0 && cpu < CPUS_MAX) {
		gprof_wire_present(&field, EXECUTION_CPU, (uint64_t)cpu);
		put_message(&sample, SAMPLE_EXECUTION, &field);
		field.nr = 0;
	}
	gprof_wire_present(&sample, SAMPLE_CALLSTACK_IID, callstack_iid(w, frames, nr));
	put_text(&field, COUNTER_NAME, of);
	gprof_wire_present(&field, COUNTER_UNIT, unit);
	put_message(&sample, SAMPLE_DESCRIPTOR, &field);
	gprof_wire_present(&sample, SAMPLE_WEIGHT, weight);
	put_message(&packet, PACKET_STACK_SAMPLE, &sample);
	write_packet(w, &packet);
	gprof_wire_free(&field);
	gprof_wire_free(&sample);
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
static void write_process(struct gprof_wire *tree, const struct thread_spans *v, uint32_t thread,
			  struct intern *processes)
{
	int64_t pid = thread_spans_pid(v, thread);
	bool first = pid == THREAD_TID(v->all[thread].id);
	struct gprof_wire one = { 0 };
	size_t nr = processes->nr;

	intern_add(processes, &pid, sizeof(pid));
	if (processes->nr == nr)
		return;
	gprof_wire_present(&one, PROCESS_PID, (uint64_t)pid);
	if (first)
		put_text(&one, PROCESS_CMDLINE, thread_spans_name(v, thread));
	put_message(tree, TREE_PROCESSES, &one);
	gprof_wire_free(&one);
}

static void write_threads(struct writing *w)
{
	struct gprof_wire packet = { 0 }, tree = { 0 }, one = { 0 };
	const struct thread_spans *v = &w->thread_spans;
	struct intern processes = { 0 };

	gprof_wire_present(&packet, PACKET_TIMESTAMP, (uint64_t)v->begin);
	/* First threads name their processes. */
	for (uint32_t i = 0; i < thread_spans_nr(v); i++)
		if (thread_spans_pid(v, i) == THREAD_TID(v->all[i].id))
			write_process(&tree, v, i, &processes);
	for (uint32_t i = 0; i < thread_spans_nr(v); i++) {
		write_process(&tree, v, i, &processes);
		one.nr = 0;
		gprof_wire_present(&one, THREAD_TID, (uint64_t)THREAD_TID(v->all[i].id));
		put_text(&one, THREAD_NAME, thread_spans_name(v, i));
		gprof_wire_present(&one, THREAD_TGID, (uint64_t)thread_spans_pid(v, i));
		put_message(&tree, TREE_THREADS, &one);
	}
	intern_free(&processes);
	put_message(&packet, PACKET_PROCESS_TREE, &tree);
	write_packet(w, &packet);
	gprof_wire_free(&one);
	gprof_wire_free(&tree);
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
	/* Each message passes on that it lacked memory, and the last is the head. */
	if (status == STATUS_OK && w->head.failed)
		status = fail("%s cannot be written (%s)", name, strerror(ENOMEM));
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
		gprof_wire_free(&w.bundles[cpu].events);
	gprof_wire_free(&w.what);
	gprof_wire_free(&w.event);
	gprof_wire_free(&w.head);
	thread_spans_free(&w.thread_spans);
	intern_free(&w.frames);
	intern_free(&w.callstacks);
	free(w.bundles);
	free(w.tracks);
	return status;
}
