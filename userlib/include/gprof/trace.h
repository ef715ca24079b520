/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * gprof/trace.h: read execution traces, those of Go programs and gprof's own.
 *
 *	struct gprof_trace *t = gprof_trace_new(fd, NULL);
 *	struct gprof_trace_event ev;
 *	int ret;
 *
 *	if (!t)
 *		errx(1, "%s", gprof_error());
 *	while ((ret = gprof_trace_next(t, &ev)) > 0)
 *		if (ev.kind == GPROF_TRACE_LABEL)
 *			printf("%.*s\n", (int)ev.label.text.len, ev.label.text.s);
 *	if (ret < 0)
 *		errx(1, "%s", gprof_error());
 *	gprof_trace_free(t);
 *
 * The format is Go execution trace v2, headers 1.22, 1.23, 1.25 and 1.26. The events are those of
 * the reader in Go's own source (internal/trace), kind by kind and field by field, in a total
 * order that follows the partial one: a thread's events stay in their order, and events of two
 * threads about one goroutine or proc are ordered by sequence numbers, not by clocks. Each event
 * is later than the one before it; a timestamp that says otherwise is put right, and counted
 * (struct gprof_trace_stats).
 *
 * Any other contradiction is an error, with the offset of the byte where it began and the reason:
 * there is no half-valid trace. Events that were returned before stay valid as a prefix.
 *
 * Memory. A trace is a row of generations; one is held at a time. A file that
 * can be sought in is read where it lies: 32 bytes are kept for each batch (up to
 * 64 KiB) of a generation, a window of at most 8 KiB for each thread in it, the
 * strings and stacks. From a pipe the generation's bytes are held as well.
 *
 * Lifetime. Text and stack ids of an event live until the next call of
 * gprof_trace_next(). Threads. A reader is used by one thread at a time. Fork. A
 * reader of memory is plain memory; any other shares its file with a child, and one
 * of the two has to leave it alone. Growth: see gprof/recorder.h.
 */
#ifndef GPROF_TRACE_H
#define GPROF_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <gprof/recorder.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where a thread, proc or goroutine is meant, and there is none. */
#define GPROF_TRACE_NONE	((int64_t)-1)
/* Where a task is meant, and there is none; task 0 is the background task. */
#define GPROF_TRACE_NO_TASK	UINT64_MAX

/* Limits of the format; a trace that exceeds them is refused. */
#define GPROF_TRACE_BATCH_MAX	65536U	/* bytes of a batch */
#define GPROF_TRACE_FRAMES_MAX	128U	/* frames of a stack */
#define GPROF_TRACE_STRING_MAX	1024U	/* bytes of a string */
#define GPROF_TRACE_ARGS_MAX	5U	/* arguments of an event */

/* Kinds of events; the numbers are those of Go's EventKind. */
enum gprof_trace_kind {
	GPROF_TRACE_SYNC = 1,	/* a generation begins, or the trace ended */
	GPROF_TRACE_METRIC,
	GPROF_TRACE_LABEL,
	GPROF_TRACE_STACK_SAMPLE,
	GPROF_TRACE_RANGE_BEGIN,
	GPROF_TRACE_RANGE_ACTIVE,	/* began before the trace, or goes on in this generation */
	GPROF_TRACE_RANGE_END,
	GPROF_TRACE_TASK_BEGIN,
	GPROF_TRACE_TASK_END,
	GPROF_TRACE_REGION_BEGIN,
	GPROF_TRACE_REGION_END,
	GPROF_TRACE_LOG,
	GPROF_TRACE_STATE_TRANSITION,
	GPROF_TRACE_EXPERIMENTAL,
	GPROF_TRACE_NR_KINDS,
};

enum gprof_trace_resource_kind {
	GPROF_TRACE_RESOURCE_NONE,
	GPROF_TRACE_RESOURCE_GOROUTINE,
	GPROF_TRACE_RESOURCE_PROC,
	GPROF_TRACE_RESOURCE_THREAD,
};

/* States of a goroutine, as Go's GoState. */
enum gprof_trace_go_state {
	GPROF_TRACE_GO_UNDETERMINED,
	GPROF_TRACE_GO_NOT_EXIST,
	GPROF_TRACE_GO_RUNNABLE,
	GPROF_TRACE_GO_RUNNING,
	GPROF_TRACE_GO_WAITING,
	GPROF_TRACE_GO_SYSCALL,
};

/* States of a proc, as Go's ProcState. */
enum gprof_trace_proc_state {
	GPROF_TRACE_PROC_UNDETERMINED,
	GPROF_TRACE_PROC_NOT_EXIST,
	GPROF_TRACE_PROC_RUNNING,
	GPROF_TRACE_PROC_IDLE,
};

/** struct gprof_trace_text - @len bytes at @s, and a 0 behind them; never NULL */
struct gprof_trace_text {
	const char *s;
	size_t len;
};

/** struct gprof_trace_resource - subject of an event; @id is -1 for none */
struct gprof_trace_resource {
	enum gprof_trace_resource_kind kind;
	int64_t id;
};

/**
 * struct gprof_trace_clock - one instant on three clocks
 * @time: on the trace's, in ns
 * @mono: CLOCK_MONOTONIC, in ns
 * @sec: CLOCK_REALTIME, whole seconds since 1970
 * @nsec: and nanoseconds
 */
struct gprof_trace_clock {
	int64_t time;
	uint64_t mono;
	uint64_t sec;
	uint64_t nsec;
};

/* Arguments of each kind; see struct gprof_trace_event. */
struct gprof_trace_sync_data {
	uint64_t nr;
	uint64_t generation;
	bool has_clock;
	struct gprof_trace_clock clock;
};

struct gprof_trace_metric_data {
	const char *name;
	uint64_t value;
};

struct gprof_trace_label_data {
	struct gprof_trace_text text;
	struct gprof_trace_resource resource;
};

struct gprof_trace_range_data {
	struct gprof_trace_text name;
	struct gprof_trace_resource scope;
	uint64_t swept;
	uint64_t reclaimed;
};

struct gprof_trace_task_data {
	uint64_t id;
	uint64_t parent;
	struct gprof_trace_text type;
};

struct gprof_trace_region_data {
	uint64_t task;
	struct gprof_trace_text type;
};

struct gprof_trace_log_data {
	uint64_t task;
	struct gprof_trace_text category;
	struct gprof_trace_text message;
};

struct gprof_trace_transition_data {
	struct gprof_trace_resource resource;
	uint8_t from;
	uint8_t to;
	struct gprof_trace_text reason;
	uint64_t stack;
};

struct gprof_trace_experimental_data {
	const char *name;
	unsigned int experiment;
	unsigned int nr_args;
	const char *const *arg_names;
	uint64_t args[GPROF_TRACE_ARGS_MAX];
};

/**
 * struct gprof_trace_event - an event
 * @kind: says which member of the union is set
 * @type: event number in the file, such as 16 for GoStart; 255 for a sync. One
 *	GoSwitch gives three events, and GoDestroySyscall two
 * @time: ns on the trace's clock, greater than that of the event before (but see
 *	@own_times of struct gprof_trace_opts)
 * @thread: on which it happened, or -1
 * @proc: that the thread had before the event, or -1
 * @goroutine: that ran there before the event, or -1
 * @stack: id of the stack at the event, for gprof_trace_stack(); 0: none
 *
 * @sync: @nr counts from 1. @generation is the number in the file of that which
 *	begins, and 0 at the end of the trace. @has_clock: @clock is set (1.25+, and in
 *	a trace that gprof wrote while it was recorded).
 * @metric: @name as in Go's runtime/metrics, such as
 *	"/sched/gomaxprocs:threads", "/gc/heap/goal:bytes"
 * @label: @text applies to @resource from now on
 * @range: @scope may be another resource than that of the event when @kind is
 *	GPROF_TRACE_RANGE_ACTIVE. @swept and @reclaimed are bytes, at the end of
 *	"GC incremental sweep", else 0
 * @task: @parent or GPROF_TRACE_NO_TASK; @type is "" when the begin is not in
 *	the trace
 * @transition: @from and @to are of enum gprof_trace_go_state or _proc_state, as
 *	@resource.kind says. @stack is that of @resource: for a new goroutine
 *	where it starts
 * @experimental: of @experiment, with @nr_args @args, named @arg_names
 * @reserved: room for kinds to come
 *
 * Closed but for that, as are the structs in it.
 */
struct gprof_trace_event {
	enum gprof_trace_kind kind;
	uint8_t type;
	int64_t time;
	int64_t thread;
	int64_t proc;
	int64_t goroutine;
	uint64_t stack;
	union {
		struct gprof_trace_sync_data sync;
		struct gprof_trace_metric_data metric;
		struct gprof_trace_label_data label;
		struct gprof_trace_range_data range;
		struct gprof_trace_task_data task;
		struct gprof_trace_region_data region;
		struct gprof_trace_log_data log;
		struct gprof_trace_transition_data transition;
		struct gprof_trace_experimental_data experimental;
		uint64_t reserved[16];
	};
};

/**
 * struct gprof_trace_batch - an experimental batch, as it is in the file, or a fact
 *
 * @experiment: 1 is Go's AllocFree, GPROF_TRACE_EXPERIMENT a fact
 * @generation: in which
 * @thread: that wrote it, or -1
 * @time: on the trace's clock, in its own units, not ns
 * @data: its contents, alive during the call only
 * @len: bytes of them, at most GPROF_TRACE_BATCH_MAX
 *
 * Facts are gprof's own records in a trace beside the events of Go's format. They lie in strings
 * that no event names, and in the first traces of gprof in experimental batches.
 * userlib/src/trace/read/trace_facts.h has a list.
 */
struct gprof_trace_batch {
	unsigned int experiment;
	uint64_t generation;
	int64_t thread;
	uint64_t time;
	const unsigned char *data;
	size_t len;
};

/**
 * struct gprof_trace_opts - options of a reader; all zero is the default
 * @sz: sizeof(struct gprof_trace_opts)
 * @batch: gets each experimental batch and fact, those of a generation before its sync
 *	event; a return other than 0 (-errno) ends the reading with it
 * @ctx: passed on to it
 * @memory_max: bytes that a generation may take, -EFBIG beyond; 0: 4 GiB
 * @own_times: events have the times that are in the trace, in the same order: where that
 *	contradicts its clocks, an event may be earlier than one before it. So it is for
 *	those that a thread wrote for a new generation while another still wrote of the
 *	one before
 */
struct gprof_trace_opts {
	size_t sz;
	int (*batch)(void *ctx, const struct gprof_trace_batch *batch);
	void *ctx;
	uint64_t memory_max;
	bool own_times;
};

struct gprof_trace;

/**
 * gprof_trace_new() - read a trace from a file, pipe or socket
 * @fd: from its current position on; borrowed until gprof_trace_free(). A regular
 *	file is read with pread() and its position left alone
 * @opts: or NULL; copied
 *
 * Return: a reader, or NULL with errno (EBADMSG: not a trace of a version that
 * can be read) and a sentence from gprof_error().
 */
GPROF_API struct gprof_trace *gprof_trace_new(int fd, const struct gprof_trace_opts *opts);

/** gprof_trace_new_memory() - likewise from @len bytes at @data, which are borrowed */
GPROF_API struct gprof_trace *gprof_trace_new_memory(const void *data, size_t len,
						      const struct gprof_trace_opts *opts);

/**
 * gprof_trace_new_stream() - likewise from a function
 * @read: as read(2): up to @len bytes to @buf, how many, 0 at the end, or -errno
 * @ctx: passed on to it
 */
GPROF_API struct gprof_trace *
gprof_trace_new_stream(ssize_t (*read)(void *ctx, void *buf, size_t len), void *ctx,
			const struct gprof_trace_opts *opts);

/** gprof_trace_free() - end reading; NULL is fine */
GPROF_API void gprof_trace_free(struct gprof_trace *t);

/**
 * gprof_trace_next() - the next event
 * @t: reader
 * @ev: where to; of the union, only the member for @ev->kind is written
 *
 * The first event of each generation is a sync: the states between it and the next are those of
 * all resources. The last event of a trace is a sync too.
 *
 * Return: 1; 0 at the end of a trace that is whole; -EBADMSG for an invalid trace, -EFBIG,
 * -ENOMEM, or -errno of a read. An error is final: further calls return it again.
 */
GPROF_API int gprof_trace_next(struct gprof_trace *t, struct gprof_trace_event *ev);

/**
 * struct gprof_trace_frame - one call of a stack
 * @pc: program counter
 * @function: name, or ""
 * @file: source file, or ""
 * @line: of it, or 0
 *
 * Closed.
 */
struct gprof_trace_frame {
	uint64_t pc;
	struct gprof_trace_text function;
	struct gprof_trace_text file;
	uint64_t line;
};

/**
 * gprof_trace_stack() - the frames of a stack, leaf first
 * @t: reader
 * @stack: id from the last event
 * @frames: where to
 * @max: how many there is room for; GPROF_TRACE_FRAMES_MAX is always enough
 *
 * Return: how many frames the stack has, even if more than @max; 0 for none,
 * and for an id that the trace does not explain (CPU samples may have one).
 */
GPROF_API size_t gprof_trace_stack(const struct gprof_trace *t, uint64_t stack,
				   struct gprof_trace_frame *frames, size_t max);

/** gprof_trace_string() - a string of the current generation; false: no such id */
GPROF_API bool gprof_trace_string(const struct gprof_trace *t, uint64_t id,
				  struct gprof_trace_text *text);

/**
 * struct gprof_trace_stats - counts so far
 * @sz: sizeof(struct gprof_trace_stats), set by the caller
 * @version: minor version in the header: 22, 23, 25 or 26
 * @offset: bytes of the trace that were read; after an error, where it lies
 * @generations: generations begun
 * @generation: number of the current one in the file
 * @batches: batches, of all kinds
 * @experimental: of which are experimental; a fact in a string is none
 * @events: events returned
 * @repaired: events whose own timestamp was before that of an event that comes
 *	before them
 * @tied: events that got a later time only because one before has the same
 * @memory: bytes held now
 * @memory_peak: most bytes held at a time
 * @gprof_version: gprof wrote the trace, of a host, in this way; 0: it is another's.
 *	Known from the first event on
 * @lost: events that gprof says are missing, up to the end of the current generation
 * @sample_period: period of CPU samples, in a trace that gprof wrote; 0: not known, or there are
 *	none. Known from the first event on
 * @sample_type: its type, such as "cpu", or ""; lives as long as the reader
 * @sample_unit: and its unit, such as "nanoseconds"; likewise
 * @recorded: the trace has its configuration: @groups, @stacks, @kernel_frames and
 *	@min_duration_ns are as in struct gprof_trace_config. Known from the first event on
 * @cpus_only: likewise; the target was CPUs, so that what tasks did on others is not in the trace
 * @whole_host: likewise; it was the whole host, and the trace has all tasks
 */
struct gprof_trace_stats {
	size_t sz;
	unsigned int version;
	uint64_t offset;
	uint64_t generations;
	uint64_t generation;
	uint64_t batches;
	uint64_t experimental;
	uint64_t events;
	uint64_t repaired;
	uint64_t tied;
	uint64_t memory;
	uint64_t memory_peak;
	uint64_t gprof_version;
	uint64_t lost;
	uint64_t sample_period;
	const char *sample_type;
	const char *sample_unit;
	bool recorded;
	bool kernel_frames;
	unsigned int groups;
	unsigned int stacks;
	uint64_t min_duration_ns;
	bool cpus_only;
	bool whole_host;
};

/** gprof_trace_stats() - read the counts; @st->sz must be set; 0 or -EINVAL */
GPROF_API int gprof_trace_stats(const struct gprof_trace *t, struct gprof_trace_stats *st);

/** gprof_trace_type_name() - name of an event number, such as "GoStart", or NULL */
GPROF_API const char *gprof_trace_type_name(uint8_t type);

/** gprof_trace_kind_name() - name of a kind, such as "RangeBegin", or NULL */
GPROF_API const char *gprof_trace_kind_name(enum gprof_trace_kind kind);

/** gprof_trace_state_name() - name of a state of a resource, such as "Running" */
GPROF_API const char *gprof_trace_state_name(enum gprof_trace_resource_kind kind,
					     unsigned int state);

#ifdef __cplusplus
}
#endif

#endif /* GPROF_TRACE_H */
