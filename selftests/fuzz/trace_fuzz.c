// SPDX-License-Identifier: GPL-2.0-only
/*
 * trace_fuzz: any bytes at all, read as an execution trace.
 *
 * Whatever they are, the reader says how far they are a trace: times rise, every
 * text ends, memory stays within its limit and is given back, and it makes no
 * difference whether they come from memory, in small pieces, or from a file.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <gprof/trace.h>

#define MEMORY		(32U << 20)
#define CHECK(x)	do { if (!(x)) { fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #x); \
				abort(); } } while (0)

/* What a reading came to. */
struct result {
	uint64_t events;
	uint64_t sum;
	uint64_t offset;
	uint64_t batches;
	int ret;
};

struct piece {
	const uint8_t *p;
	size_t left;
};

static ssize_t read_piece(void *ctx, void *buf, size_t len)
{
	struct piece *piece = ctx;
	size_t n = len < 7 ? len : 7;

	if (n > piece->left)
		n = piece->left;
	memcpy(buf, piece->p, n);
	piece->p += n;
	piece->left -= n;
	return (ssize_t)n;
}

static int count_batch(void *ctx, const struct gprof_trace_batch *b)
{
	uint64_t *sum = ctx;

	CHECK(b->len <= GPROF_TRACE_BATCH_MAX);
	for (size_t i = 0; i < b->len; i++)
		*sum = *sum * 31 + b->data[i];
	(*sum)++;
	return 0;
}

static uint64_t mix(uint64_t sum, uint64_t v)
{
	return (sum ^ v) * 0x9e3779b97f4a7c15ULL;
}

static uint64_t mix_text(uint64_t sum, struct gprof_trace_text t)
{
	CHECK(!t.s[t.len]);
	for (size_t i = 0; i < t.len; i++)
		sum = mix(sum, (unsigned char)t.s[i]);
	return mix(sum, t.len);
}

static uint64_t mix_stack(const struct gprof_trace *t, uint64_t sum, uint64_t id)
{
	struct gprof_trace_frame f[GPROF_TRACE_FRAMES_MAX];
	size_t i, nr = gprof_trace_stack(t, id, f, GPROF_TRACE_FRAMES_MAX);

	CHECK(nr <= GPROF_TRACE_FRAMES_MAX);
	for (i = 0; i < nr; i++) {
		sum = mix_text(mix(sum, f[i].pc), f[i].function);
		sum = mix_text(mix(sum, f[i].line), f[i].file);
	}
	return sum;
}

static uint64_t mix_event(const struct gprof_trace *t, uint64_t sum,
			  const struct gprof_trace_event *ev)
{
	sum = mix(mix(sum, ev->kind), (uint64_t)ev->time);
	sum = mix(mix(mix(sum, (uint64_t)ev->thread), (uint64_t)ev->proc), (uint64_t)ev->goroutine);
	sum = mix_stack(t, sum, ev->stack);
	switch (ev->kind) {
	case GPROF_TRACE_SYNC: return mix(sum, ev->sync.generation);
	case GPROF_TRACE_METRIC: return mix(mix(sum, strlen(ev->metric.name)), ev->metric.value);
	case GPROF_TRACE_LABEL: return mix_text(sum, ev->label.text);
	case GPROF_TRACE_RANGE_BEGIN:
	case GPROF_TRACE_RANGE_ACTIVE:
	case GPROF_TRACE_RANGE_END:
		return mix_text(mix(sum, (uint64_t)ev->range.scope.id), ev->range.name);
	case GPROF_TRACE_TASK_BEGIN:
	case GPROF_TRACE_TASK_END:
		return mix_text(mix(sum, ev->task.id), ev->task.type);
	case GPROF_TRACE_REGION_BEGIN:
	case GPROF_TRACE_REGION_END:
		return mix_text(mix(sum, ev->region.task), ev->region.type);
	case GPROF_TRACE_LOG:
		return mix_text(mix_text(sum, ev->log.category), ev->log.message);
	case GPROF_TRACE_STATE_TRANSITION:
		CHECK(gprof_trace_state_name(ev->transition.resource.kind, ev->transition.from));
		CHECK(gprof_trace_state_name(ev->transition.resource.kind, ev->transition.to));
		sum = mix_stack(t, sum, ev->transition.stack);
		sum = mix_text(sum, ev->transition.reason);
		return mix(sum, ev->transition.from * 16U + ev->transition.to);
	case GPROF_TRACE_EXPERIMENTAL:
		CHECK(ev->experimental.nr_args <= GPROF_TRACE_ARGS_MAX);
		return mix(sum, ev->experimental.args[0]);
	case GPROF_TRACE_STACK_SAMPLE:
		return sum;
	default:
		abort();
	}
}

static struct result read_all(struct gprof_trace *t, uint64_t *batches)
{
	struct gprof_trace_stats st = { .sz = sizeof(st) };
	struct result r = { 0 };
	struct gprof_trace_event ev;
	int64_t last = INT64_MIN;

	if (!t) {
		CHECK(gprof_error()[0]);
		r.ret = -errno;
		return r;
	}
	while ((r.ret = gprof_trace_next(t, &ev)) > 0) {
		CHECK(ev.time > last);
		last = ev.time;
		r.events++;
		r.sum = mix_event(t, r.sum, &ev);
	}
	CHECK(gprof_trace_next(t, &ev) == r.ret);
	CHECK(!gprof_trace_stats(t, &st));
	CHECK(st.events == r.events);
	CHECK(st.memory_peak <= MEMORY + 65536);
	CHECK(r.ret == 0 || gprof_error()[0]);
	r.offset = st.offset;
	r.batches = *batches;
	gprof_trace_free(t);
	return r;
}

static struct result from_memory(const uint8_t *data, size_t size)
{
	uint64_t batches = 0;
	struct gprof_trace_opts o = { sizeof(o), count_batch, &batches, MEMORY };

	return read_all(gprof_trace_new_memory(data, size, &o), &batches);
}

static struct result from_pieces(const uint8_t *data, size_t size)
{
	uint64_t batches = 0;
	struct gprof_trace_opts o = { sizeof(o), count_batch, &batches, MEMORY };
	struct piece piece = { data, size };

	return read_all(gprof_trace_new_stream(read_piece, &piece, &o), &batches);
}

static struct result from_file(const uint8_t *data, size_t size)
{
	static int fd = -1;
	uint64_t batches = 0;
	struct gprof_trace_opts o = { sizeof(o), count_batch, &batches, MEMORY };

	if (fd < 0)
		fd = memfd_create("trace", MFD_CLOEXEC);
	CHECK(fd >= 0 && !ftruncate(fd, 0) && pwrite(fd, data, size, 0) == (ssize_t)size);
	return read_all(gprof_trace_new(fd, &o), &batches);
}

static void same(struct result a, struct result b)
{
	CHECK(a.ret == b.ret);
	CHECK(a.events == b.events);
	CHECK(a.sum == b.sum);
	CHECK(a.batches == b.batches);
	CHECK(a.offset == b.offset);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct result r = from_memory(data, size);
	/* One in eight the other ways too: they cost more, and share most. */
	uint64_t h = mix(size, size ? data[size / 2] : 0) >> 61;

	if (!h) {
		same(r, from_pieces(data, size));
		same(r, from_file(data, size));
	}
	return 0;
}
