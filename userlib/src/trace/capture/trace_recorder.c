// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * trace_recorder.c: a trace that is written while it is recorded.
 */
#include <gprof/trace_record.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/opts.h"
#include "base/thread.h"
#include "base/wakeup_pipe.h"
#include "device/device.h"
#include "device/loss.h"
#include "record/table_loader.h"
#include "trace/convert/trace_merge.h"
#include "trace/convert/trace_naming.h"
#include "trace/read/trace_wire.h"
#include "trace/write/trace_write.h"
#include "device_writer.h"

#define WHAT	"the trace"
#define LOOK_MS	100
#define NS	1000000000ULL

/**
 * struct gprof_trace_recorder - a recorder
 * @dev: device
 * @null: where the trace goes, where nowhere; else none
 * @cfg: the caller's configuration
 * @target_name: of its target, which does not keep it
 * @has_naming: is @naming there?
 * @naming: names of stacks
 * @table_loader: makes unwind tables of the files that come up
 * @merge: reads them
 * @thread: does so, while @running
 * @wake: ends it
 * @running: is it there?
 * @used: it was started, once
 * @started: between start and stop
 * @lock: held while the thread reads
 * @first: the first failure, the thread's or not
 * @error: last failure
 * @written: the writer's counts at its end
 * @whole: size of a whole trace then
 */
struct gprof_trace_recorder {
	struct gprof_trace_device dev;
	struct gprof_own_fd null;
	struct gprof_trace_config cfg;
	char *target_name;
	bool has_naming;
	struct gprof_trace_naming naming;
	struct gprof_table_loader table_loader;
	struct gprof_trace_merge merge;
	pthread_t thread;
	struct gprof_wakeup_pipe wake;
	bool running;
	bool used;
	bool started;
	pthread_mutex_t lock;
	struct gprof_error first;
	struct gprof_error error;
	struct gprof_trace_writer_stats written;
	struct gprof_trace_whole whole;
};

static const char *const point_names[GPROF_TRACE_NR_POINTS] = {
	[GPROF_TRACE_POINT_SWITCH] = "switch",
	[GPROF_TRACE_POINT_WAKING] = "waking",
	[GPROF_TRACE_POINT_FORK] = "fork",
	[GPROF_TRACE_POINT_EXEC] = "exec",
	[GPROF_TRACE_POINT_EXIT] = "exit",
	[GPROF_TRACE_POINT_MIGRATE] = "migrate",
	[GPROF_TRACE_POINT_ENTER] = "syscall_enter",
	[GPROF_TRACE_POINT_LEAVE] = "syscall_leave",
	[GPROF_TRACE_POINT_SAMPLE] = "sample",
	[GPROF_TRACE_POINT_LOST] = "lost",
	[GPROF_TRACE_POINT_CPU_ON] = "cpu_on",
	[GPROF_TRACE_POINT_CPU_OFF] = "cpu_off",
	[GPROF_TRACE_POINT_RUNNING] = "running",
	[GPROF_TRACE_POINT_IRQ_ENTER] = "irq_enter",
	[GPROF_TRACE_POINT_IRQ_LEAVE] = "irq_leave",
	[GPROF_TRACE_POINT_SOFTIRQ_ENTER] = "softirq_enter",
	[GPROF_TRACE_POINT_SOFTIRQ_LEAVE] = "softirq_leave",
	[GPROF_TRACE_POINT_FAULT] = "fault",
	[GPROF_TRACE_POINT_RECLAIM_BEGIN] = "reclaim_begin",
	[GPROF_TRACE_POINT_RECLAIM_END] = "reclaim_end",
	[GPROF_TRACE_POINT_COMPACT_BEGIN] = "compact_begin",
	[GPROF_TRACE_POINT_COMPACT_END] = "compact_end",
	[GPROF_TRACE_POINT_FREQ] = "freq",
	[GPROF_TRACE_POINT_THROTTLE] = "throttle",
	[GPROF_TRACE_POINT_UNTHROTTLE] = "unthrottle",
	[GPROF_TRACE_POINT_FIRED] = "fired",
	[GPROF_TRACE_POINT_ANNOTATION] = "annotation",
};

const char *gprof_trace_point_name(unsigned int type)
{
	return type < GPROF_TRACE_NR_POINTS ? point_names[type] : NULL;
}

static int make(struct gprof_trace_recorder *r)
{
	int err = gprof_trace_device_open(&r->dev, &r->cfg, 0, &r->error);

	if (err)
		return err;
	if (r->dev.setup.stack) {
		r->has_naming = true;
		if (gprof_trace_naming_init(&r->naming))
			err = -ENOMEM;
	}
	if (!err)
		err = gprof_trace_merge_init(&r->merge, &r->dev.buffer, r->cfg.generation_ns);
	return err ? gprof_error_set(&r->error, ENOMEM, "no memory for a trace") : 0;
}

struct gprof_trace_recorder *gprof_trace_recorder_new(const struct gprof_trace_config *cfg)
{
	const size_t least = GPROF_SIZE_WITH(struct gprof_trace_config, ctx);
	struct gprof_trace_recorder *r = calloc(1, sizeof(*r));
	int err;

	if (!r) {
		gprof_error_set(NULL, ENOMEM, "no memory for a recorder");
		return NULL;
	}
	r->dev.own = r->null = GPROF_OWN_FD_NONE;
	r->wake = GPROF_WAKEUP_PIPE_NONE;
	pthread_mutex_init(&r->lock, NULL);
	err = gprof_opts_copy_in(&r->cfg, sizeof(r->cfg), least, cfg, "gprof_trace_config",
				 &r->error);
	if (!err && r->cfg.target.name) {
		r->target_name = strdup(r->cfg.target.name);
		if (!r->target_name)
			err = gprof_error_set(&r->error, ENOMEM, "no memory for a recorder");
	}
	if (!err)
		err = make(r);
	if (!err)
		return r;
	gprof_error_publish(&r->error);
	gprof_trace_recorder_free(r);
	errno = -err;
	return NULL;
}

static int generation(void *ctx, uint64_t nr, const struct gprof_trace_point *points, size_t n)
{
	struct gprof_trace_recorder *r = ctx;

	return r->cfg.generation ? r->cfg.generation(r->cfg.ctx, nr, points, n) : 0;
}

static int begin_trace(struct gprof_trace_recorder *r, int fd)
{
	const struct gprof_trace_writer_opts opts = { .generation = generation, .ctx = r };

	if (fd < 0) {
		fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
		if (fd < 0)
			return gprof_error_set(&r->error, errno, "/dev/null: %s",
					       gprof_strerror(errno));
		gprof_own_fd_adopt(&r->null, fd);
		fd = r->null.fd;
	}
	r->merge.writer = gprof_trace_device_writer(&r->dev, &r->cfg, fd, &opts);
	if (!r->merge.writer)
		return gprof_error_set(&r->error, errno, "%s", gprof_error());
	return 0;
}

/* Under the lock: the first failure is kept. */
static void failed(struct gprof_trace_recorder *r, int err)
{
	if (!err || r->first.err)
		return;
	switch (-err) {
	case EBADMSG:
		gprof_error_set(&r->first, EBADMSG,
				"a buffer of the kernel holds a record that makes no sense, and is "
				"not read any further");
		break;
	case ENOSPC:
	case EDQUOT:
		gprof_error_set(&r->first, -err,
				"the disk is full (%s); the trace ends there, make room and record "
				"again", gprof_strerror(-err));
		break;
	case EPIPE:
		gprof_error_set(&r->first, EPIPE, "the reader of the trace has gone (%s)",
				gprof_strerror(EPIPE));
		break;
	case EBADF:
		gprof_error_set(&r->first, EBADF,
				"the program has closed the file of the trace meanwhile, and what came "
				"behind is lost");
		break;
	case ENOMEM:
		gprof_error_set(&r->first, ENOMEM, "no memory for the trace");
		break;
	default:
		gprof_error_set(&r->first, -err, "the trace cannot be written (%s)",
				gprof_strerror(-err));
	}
}

static void read_all(struct gprof_trace_recorder *r, bool last)
{
	pthread_mutex_lock(&r->lock);
	failed(r, gprof_trace_merge_read(&r->merge, now_ns, last));
	if (r->has_naming)
		gprof_table_loader_scan(&r->table_loader, &r->naming.spaces.objects);
	pthread_mutex_unlock(&r->lock);
}

static void *read_thread(void *arg)
{
	struct gprof_trace_recorder *r = arg;
	int wake = r->wake.ends[0].fd, dev = r->dev.own.fd;

	for (;;) {
		struct pollfd fds[] = {
			{ .fd = wake, .events = POLLIN },
			{ .fd = dev, .events = POLLIN },
		};
		int n = poll(fds, 2, LOOK_MS);

		if (gprof_wakeup_pipe_signalled(&r->wake))
			break;
		/* A file of the program's under that number is not polled. */
		if (n > 0 && fds[0].revents && !gprof_own_fd_is(&r->wake.ends[0]))
			wake = -1;
		if (n > 0 && fds[1].revents && !gprof_own_fd_is(&r->dev.own))
			dev = fds[1].revents = -1;
		read_all(r, false);
		/* A device that only ever reports an error must not keep a CPU busy. */
		if ((n < 0 && errno != EINTR) || fds[1].revents & (POLLERR | POLLHUP | POLLNVAL))
			nanosleep(&(struct timespec){ 0, LOOK_MS * 1000000L }, NULL);
	}
	return NULL;
}

static int begin_thread(struct gprof_trace_recorder *r)
{
	int err;

	err = gprof_wakeup_pipe_begin(&r->wake, &r->error);
	if (err)
		return err;
	err = gprof_thread_start(&r->thread, read_thread, r, "gprof-trace");
	if (err)
		return gprof_error_set(&r->error, err,
				       "cannot start the thread that reads the buffers (%s)",
				       gprof_strerror(err));
	r->running = true;
	return 0;
}

static void end_thread(struct gprof_trace_recorder *r)
{
	gprof_table_loader_end(&r->table_loader);
	if (!r->running)
		return;
	gprof_wakeup_pipe_signal(&r->wake);
	pthread_join(r->thread, NULL);
	r->running = false;
}

/* Also after a failed start. */
static int end_trace(struct gprof_trace_recorder *r)
{
	int err;

	r->written.sz = sizeof(r->written);
	if (!r->merge.writer)
		return 0;
	/* Points held until then are counted when they are written. */
	err = gprof_trace_writer_cut(r->merge.writer, 1ULL << 62, NULL);
	gprof_trace_writer_stats(r->merge.writer, &r->written);
	r->whole = gprof_trace_writer_whole(r->merge.writer);
	if (!err)
		err = gprof_trace_writer_close(r->merge.writer);
	else
		gprof_trace_writer_close(r->merge.writer);
	r->merge.writer = NULL;
	gprof_own_fd_close(&r->null);
	return err;
}

int gprof_trace_recorder_prepare(struct gprof_trace_recorder *r, const struct gprof_prepare *how)
{
	const size_t least = GPROF_SIZE_WITH(struct gprof_prepare, program);
	struct gprof_target target = r->cfg.target;
	struct gprof_prepare taken = { 0 };
	int err = gprof_opts_copy_in(&taken, sizeof(taken), least, how, "gprof_prepare", &r->error);

	if (err || r->used || r->table_loader.running)
		return err;
	target.name = r->target_name;
	gprof_table_loader_begin(&r->table_loader, r->dev.tables ? &r->dev.own : NULL);
	gprof_table_loader_prepare(&r->table_loader, &target, &taken);
	return 0;
}

int gprof_trace_recorder_start(struct gprof_trace_recorder *r, int fd)
{
	const struct gprof_prepare how = { .sz = sizeof(how) };
	int err;

	if (r->used)
		return gprof_error_set(&r->error, EBUSY,
				       "the recorder was started before; a trace is recorded once");
	err = gprof_trace_recorder_prepare(r, &how);
	if (!err)
		err = begin_trace(r, fd);
	if (err)
		return err;
	r->used = true;
	gprof_trace_merge_begin(&r->merge, r->has_naming ? &r->naming : NULL, now_ns());
	err = begin_thread(r);
	if (!err)
		err = gprof_device_start(&r->dev.own, GPROF_KIND_TRACE, WHAT, &r->error);
	if (err) {
		end_thread(r);
		end_trace(r);
		gprof_error_publish(&r->error);
		return err;
	}
	r->started = true;
	return 0;
}

/* A ring tells losses before the next good record, which may not have come. */
static void report_last_losses(struct gprof_trace_recorder *r)
{
	size_t i;

	for (i = 0; i < r->merge.nr; i++) {
		struct gprof_stats st = {
			.size = sizeof(st), .cpu = (int32_t)r->merge.cpus[i].ring->cpu,
		};

		if (gprof_own_fd_is(&r->dev.own) && !ioctl(r->dev.own.fd, GPROF_IOC_STATS, &st))
			failed(r, gprof_trace_merge_lost(&r->merge, i, gprof_device_lost(&st)));
	}
}

static uint64_t samples(const struct gprof_trace_recorder *r)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < r->merge.nr; i++)
		sum += r->merge.cpus[i].k.samples;
	return sum;
}

static void check_sum(struct gprof_trace_recorder *r)
{
	struct gprof_stats st;
	uint64_t sum;

	if (gprof_device_stats(&r->dev.own, &st, &r->error)) {
		if (!r->first.err)
			r->first = r->error;
		return;
	}
	sum = samples(r) + gprof_device_lost(&st) + st.out_overwritten;
	if (st.out_produced != sum && !r->first.err)
		gprof_error_set(&r->first, EPROTO,
				"the counts do not add up: %llu events were produced, %llu read, "
				"lost and overwritten; this is a bug of gprof",
				(unsigned long long)st.out_produced, (unsigned long long)sum);
}

int gprof_trace_recorder_stop(struct gprof_trace_recorder *r)
{
	if (!r->started)
		return gprof_error_set(&r->error, EINVAL, "the recorder is not started");
	r->started = false;
	/* The thread reads on until nothing more can come. */
	if (gprof_device_stop(&r->dev.own, WHAT, &r->error) && !r->first.err)
		r->first = r->error;
	end_thread(r);
	read_all(r, true);
	report_last_losses(r);
	failed(r, end_trace(r));
	check_sum(r);
	r->error = r->first;
	if (r->first.err)
		gprof_error_publish(&r->first);
	return -r->first.err;
}

bool gprof_trace_recorder_failed(struct gprof_trace_recorder *r)
{
	bool ret;

	pthread_mutex_lock(&r->lock);
	ret = r->first.err;
	pthread_mutex_unlock(&r->lock);
	return ret;
}

void gprof_trace_recorder_free(struct gprof_trace_recorder *r)
{
	struct gprof_error ignored;

	if (!r)
		return;
	if (r->started)
		gprof_device_stop(&r->dev.own, WHAT, &ignored);
	end_thread(r);
	end_trace(r);
	gprof_wakeup_pipe_end(&r->wake);
	gprof_trace_merge_free(&r->merge);
	if (r->has_naming)
		gprof_trace_naming_free(&r->naming);
	gprof_trace_device_close(&r->dev);
	free(r->target_name);
	pthread_mutex_destroy(&r->lock);
	free(r);
}

size_t gprof_trace_recorder_frames(struct gprof_trace_recorder *r, uint64_t stack,
				   struct gprof_trace_frame *frames, size_t max)
{
	return r->merge.writer ? gprof_trace_writer_frames(r->merge.writer, stack, frames, max) : 0;
}

/* A lost event is taken to be as large as one that was read, on average. */
static void count_buffers(const struct gprof_buffer *b, struct gprof_trace_recorder_stats *st)
{
	uint64_t bytes = 0;
	double wanted;
	size_t i;

	for (i = 0; i < b->nr; i++)
		bytes += b->rings[i].pos;
	st->buffer_bytes = b->nr ? b->rings[0].size : 0;
	st->buffer_wanted = st->buffer_bytes;
	wanted = (double)st->buffer_bytes +
		 (double)st->lost * (double)bytes / (double)(st->read ? st->read : 1);
	while (st->buffer_wanted && (double)st->buffer_wanted < wanted && st->buffer_wanted >> 62 == 0)
		st->buffer_wanted <<= 1;
}

int gprof_trace_recorder_stats(struct gprof_trace_recorder *r,
			       struct gprof_trace_recorder_stats *st)
{
	const size_t least = GPROF_SIZE_WITH(struct gprof_trace_recorder_stats, writer);
	struct gprof_trace_recorder_stats out = { .writer.sz = sizeof(out.writer) };
	struct gprof_trace_whole whole;
	struct gprof_stats kernel;
	size_t i;
	int err;

	pthread_mutex_lock(&r->lock);
	err = gprof_device_stats(&r->dev.own, &kernel, &r->error);
	out.read = samples(r);
	out.malformed = r->merge.refused;
	for (i = 0; i < r->merge.nr; i++) {
		const struct gprof_ktrace *k = &r->merge.cpus[i].k;

		out.malformed += k->malformed + k->unknown;
		out.away += k->absences;
		out.stacks += k->with_stack;
		out.orphans += k->orphans;
	}
	for (i = 0; i < GPROF_TRACE_POINTS_MAX; i++)
		out.points[i] = r->merge.points[i];
	if (r->merge.writer) {
		gprof_trace_writer_stats(r->merge.writer, &out.writer);
		whole = gprof_trace_writer_whole(r->merge.writer);
	} else {
		out.writer = r->written;
		whole = r->whole;
	}
	out.whole_bytes = whole.bytes;
	out.whole_generations = whole.generations;
	pthread_mutex_unlock(&r->lock);
	if (err)
		return err;
	out.produced = kernel.out_produced;
	out.lost = gprof_device_lost(&kernel);
	out.overwritten = kernel.out_overwritten;
	count_buffers(&r->dev.buffer, &out);
	return gprof_opts_copy_out(st, &out, sizeof(out), least, "gprof_trace_recorder_stats",
				   &r->error);
}
