// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * core.c: the rings of a program's recorders in its core dump.
 *
 * A ring's head has its recorder and kind. Its records are read as those of a snapshot: from its
 * first generation on. In a dump there is no writer.
 */
#include <gprof/core.h>

#include <errno.h>
#include <linux/gprof.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/opts.h"
#include "base/read_at.h"
#include "device/syscall_name.h"
#include "record/builder.h"
#include "record/kind.h"
#include "record/recorder_answer.h"
#include "record/report.h"
#include "trace/convert/trace_decode.h"
#include "trace/convert/trace_naming.h"
#include "trace/write/trace_write.h"
#include "core_file.h"
#include "trace_snapshot.h"

#define NS		1000000000ULL
#define RING_MIN	4096ULL
#define RING_MAX	(1ULL << 30)
#define HEADER_MAX	(1ULL << 16)
/* Stacks are told by how they differ from others: 30 times as long as their records at most. */
#define STACKS_TIMES	32
#define STACKS_LEAST	(64ULL << 20)
#define GENERATIONS	1000	/* of a trace that goes back for long */

/**
 * struct core_ring - a ring in the dump
 * @head: its first page
 * @at: where that is in the file
 */
struct core_ring {
	struct gprof_ring_head head;
	uint64_t at;
};

/**
 * struct gprof_core - a dump
 * @fd: file
 * @rings: by recorder and CPU
 * @nr: how many
 * @first: the first ring of each recorder, and @nr
 * @recorders: how many of these
 * @error: last failure
 */
struct gprof_core {
	int fd;
	struct core_ring *rings;
	size_t nr;
	size_t *first;
	size_t recorders;
	struct gprof_error error;
};

static bool makes_sense(const struct gprof_ring_head *h, const struct gprof_core_mapping *m)
{
	uint64_t size = h->data_size;

	return h->version == GPROF_ABI_VERSION && h->header_size >= sizeof(*h) &&
	       h->cpu == m->offset >> GPROF_MMAP_CPU_SHIFT && size >= RING_MIN &&
	       size <= RING_MAX && !(size & (size - 1)) && h->data_offset >= h->header_size &&
	       h->data_offset <= HEADER_MAX && h->data_offset + size <= m->bytes &&
	       h->head % 8 == 0 && h->oldest % 8 == 0;
}

static int open_ring(struct gprof_core *c, const struct gprof_core_mapping *m)
{
	struct core_ring *r = &c->rings[c->nr];

	r->at = m->at;
	if (m->bytes < sizeof(r->head) || gprof_read_at(c->fd, &r->head, sizeof(r->head), m->at) ||
	    !makes_sense(&r->head, m))
		return gprof_error_set(&c->error, EBADMSG,
				       "a buffer in the core dump is cut short, or of another "
				       "version of gprof.ko");
	c->nr++;
	return 0;
}

static bool is_ring(const struct gprof_core_mapping *m)
{
	return m->offset == GPROF_MMAP_RING(m->offset >> GPROF_MMAP_CPU_SHIFT);
}

static int by_recorder(const void *pa, const void *pb)
{
	const struct gprof_ring_head *a = &((const struct core_ring *)pa)->head;
	const struct gprof_ring_head *b = &((const struct core_ring *)pb)->head;

	if (a->recorder != b->recorder)
		return a->recorder < b->recorder ? -1 : 1;
	return a->cpu < b->cpu ? -1 : a->cpu > b->cpu;
}

/* A program may have mapped a ring more than once. */
static void drop_copies(struct gprof_core *c)
{
	size_t i, nr = 0;

	for (i = 0; i < c->nr; i++)
		if (!nr || by_recorder(&c->rings[nr - 1], &c->rings[i]))
			c->rings[nr++] = c->rings[i];
	c->nr = nr;
}

static int open_rings(struct gprof_core *c, const struct gprof_core_mapping *all, size_t nr)
{
	size_t i;
	int err = 0;

	c->rings = calloc(nr + 1, sizeof(*c->rings));
	c->first = calloc(nr + 1, sizeof(*c->first));
	if (!c->rings || !c->first)
		return gprof_error_set(&c->error, ENOMEM, "no memory for a core dump");
	for (i = 0; i < nr && !err; i++)
		if (is_ring(&all[i]))
			err = open_ring(c, &all[i]);
	if (err)
		return err;
	if (!c->nr)
		return gprof_error_set(&c->error, ENOENT,
				       "there is no recorder in the core dump; the program had "
				       "none, or kept its buffers out of dumps");
	qsort(c->rings, c->nr, sizeof(*c->rings), by_recorder);
	drop_copies(c);
	for (i = 0; i < c->nr; i++)
		if (!i || c->rings[i].head.recorder != c->rings[i - 1].head.recorder)
			c->first[c->recorders++] = i;
	c->first[c->recorders] = c->nr;
	return 0;
}

struct gprof_core *gprof_core_open(int fd)
{
	struct gprof_core *c = calloc(1, sizeof(*c));
	struct gprof_core_mapping *all = NULL;
	size_t nr = 0;
	int err;

	if (!c) {
		gprof_error_set(NULL, ENOMEM, "no memory for a core dump");
		return NULL;
	}
	c->fd = fd;
	err = gprof_core_file_read(fd, &all, &nr, &c->error);
	if (!err)
		err = open_rings(c, all, nr);
	free(all);
	if (!err)
		return c;
	gprof_error_publish(&c->error);
	gprof_core_free(c);
	errno = -err;
	return NULL;
}

void gprof_core_free(struct gprof_core *c)
{
	if (!c)
		return;
	free(c->rings);
	free(c->first);
	free(c);
}

size_t gprof_core_recorders(const struct gprof_core *c)
{
	return c->recorders;
}

int gprof_core_recorder(const struct gprof_core *c, size_t i, struct gprof_core_recorder *recorder)
{
	const size_t least = GPROF_SIZE_WITH(struct gprof_core_recorder, overwritten);
	struct gprof_core_recorder out = { 0 };
	const struct core_ring *r;
	size_t k, n;

	if (i >= c->recorders)
		return gprof_error_set(NULL, EINVAL, "the core dump has %zu recorders, no number %zu",
				       c->recorders, i);
	r = &c->rings[c->first[i]];
	out.id = r->head.recorder;
	out.kind = gprof_kind_name(r->head.kind);
	out.flight = r->head.flags & GPROF_SETUP_F_FLIGHT;
	out.bytes = r->head.data_size;
	for (n = c->first[i]; n < c->first[i + 1]; n++) {
		out.buffers++;
		out.produced += c->rings[n].head.produced;
		out.overwritten += c->rings[n].head.overwritten;
		for (k = 0; k < GPROF_LOST_SLOTS; k++)
			out.lost += c->rings[n].head.lost[k];
	}
	return gprof_opts_copy_out(recorder, &out, sizeof(out), least, "gprof_core_recorder", NULL);
}

/* ---- the records of a ring ---- */

/* Records that a reader has read stay until the kernel overwrites them. */
static uint64_t begins_at(const struct gprof_ring_head *h)
{
	if (h->flags & GPROF_SETUP_F_FLIGHT || h->head - h->oldest <= h->data_size)
		return h->oldest;
	return h->head - h->generation <= h->data_size ? h->generation : h->head;
}

static int load(struct gprof_core *c, const struct core_ring *r, struct gprof_snapshot *copy)
{
	uint64_t size = r->head.data_size, from = begins_at(&r->head), len = r->head.head - from;
	uint64_t data = r->at + r->head.data_offset, at = from & (size - 1), first;
	unsigned char *memory;

	if (from % 8 || len > size)
		return gprof_error_set(&c->error, EBADMSG, "CPU %u: the buffer makes no sense",
				       r->head.cpu);
	/* Pages that were never written are not even in a file with holes. */
	memory = malloc(len + 1);
	if (!memory)
		return gprof_error_set(&c->error, ENOMEM, "no memory for %llu bytes of a buffer",
				       (unsigned long long)len);
	first = len < size - at ? len : size - at;
	if (gprof_read_at(c->fd, memory, first, data + at) ||
	    gprof_read_at(c->fd, memory + first, len - first, data)) {
		free(memory);
		return gprof_error_set(&c->error, EBADMSG, "the core dump is cut short");
	}
	*copy = (struct gprof_snapshot){
		.memory = memory, .data = memory, .len = len, .pos = from,
	};
	return 0;
}

static int load_all(struct gprof_core *c, size_t i, struct gprof_trace_snapshot *s)
{
	size_t n, nr = c->first[i + 1] - c->first[i];
	int err = gprof_trace_snapshot_init(s, nr, 0, 0);

	if (err)
		return gprof_error_set(&c->error, ENOMEM, "no memory for a core dump");
	for (n = 0; n < nr && !err; n++) {
		const struct core_ring *r = &c->rings[c->first[i] + n];

		err = load(c, r, &s->copies[n]);
		if (!err)
			gprof_trace_snapshot_add(s, r->head.cpu);
	}
	return err;
}

static int check_kind(struct gprof_core *c, size_t i, bool trace)
{
	if (i >= c->recorders)
		return gprof_error_set(&c->error, EINVAL,
				       "the core dump has %zu recorders, no number %zu", c->recorders,
				       i);
	if ((c->rings[c->first[i]].head.kind == GPROF_KIND_TRACE) != trace)
		return gprof_error_set(&c->error, EINVAL, "this recorder held %s",
				       trace ? "a profile, not a trace" : "a trace, not a profile");
	return 0;
}

/* ---- traces ---- */

/* Times of a ring's first and last event; and the period of CPU samples. */
struct span {
	uint64_t first;
	uint64_t last;
	uint64_t weight;
};

static int on_point(void *ctx, const struct gprof_trace_point *p)
{
	struct span *s = ctx;

	if (p->time > s->last)
		s->last = p->time;
	return 0;
}

static int on_task(void *ctx, uint32_t cpu, uint64_t time, const struct gprof_task_rec *rec)
{
	(void)ctx;
	(void)cpu;
	(void)time;
	(void)rec;
	return 0;
}

static int on_stack(void *ctx, const struct gprof_stack_rec *rec, uint32_t *handle)
{
	(void)ctx;
	(void)rec;
	*handle = 0;
	return 0;
}

static int on_map(void *ctx, const struct gprof_map_rec *rec, const char *path)
{
	(void)ctx;
	(void)rec;
	(void)path;
	return 0;
}

static int on_annotation(void *ctx, const struct gprof_annotation_rec *rec, uint64_t *id)
{
	(void)ctx;
	(void)rec;
	*id = 0;
	return 0;
}

static int find_span(const struct gprof_snapshot *copy, struct span *span)
{
	static const struct gprof_ktrace_ops ops = {
		on_point, on_task, on_stack, on_map, on_annotation,
	};
	const struct gprof_generation_rec *g = (const void *)copy->data;
	const struct gprof_rec *rec;
	struct gprof_ktrace k;
	uint32_t size;
	size_t off = 0;
	int ret;

	if (copy->len < sizeof(*g))
		return 0;
	if (g->mono_ns < span->first)
		span->first = g->mono_ns;
	span->weight = g->weight;
	gprof_ktrace_init(&k, &ops, span);
	while ((ret = gprof_snapshot_next(copy, &off, &rec, &size)) > 0) {
		ret = gprof_ktrace_feed(&k, rec, size);
		if (ret)
			break;
	}
	if (k.time > span->last)
		span->last = k.time;
	gprof_ktrace_free(&k);
	return ret;
}

static const char *syscall_name(void *ctx, uint64_t nr)
{
	(void)ctx;
	return gprof_syscall_name(nr);
}

static int write_trace(struct gprof_core *c, struct gprof_trace_snapshot *s,
		       const struct span *span, int fd)
{
	const struct gprof_trace_writer_opts opts = {
		.sz = sizeof(opts), .syscall = syscall_name, .sample_period = span->weight,
		.sample_type = "samples", .sample_unit = "count",
	};
	struct gprof_trace_writer *w = gprof_trace_writer_new(fd, &opts);
	uint64_t generation = (s->until - s->from) / GENERATIONS, samples;
	struct gprof_trace_naming naming;
	int err, ret;

	if (!w)
		return gprof_error_set(&c->error, errno, "%s", gprof_error());
	if (generation < NS)
		generation = NS;
	err = gprof_trace_naming_init(&naming);
	if (!err)
		err = gprof_trace_snapshot_write(s, w, &naming, generation, &samples);
	ret = gprof_trace_writer_close(w);
	gprof_trace_naming_free(&naming);
	if (!err)
		err = ret;
	return err ? gprof_error_set(&c->error, -err, "the trace of the core dump cannot be written "
				     "(%s)", gprof_strerror(-err)) : 0;
}

int gprof_core_trace(struct gprof_core *c, size_t i, int fd)
{
	struct span span = { .first = UINT64_MAX };
	struct gprof_trace_snapshot s;
	int err = check_kind(c, i, true);
	size_t n;

	if (err)
		return err;
	err = load_all(c, i, &s);
	for (n = 0; n < s.nr && !err; n++)
		err = find_span(&s.copies[n], &span);
	if (!err && span.first == UINT64_MAX)
		err = gprof_error_set(&c->error, ENOENT, "the recorder held nothing");
	if (!err) {
		if (s.from < span.first)
			s.from = span.first;
		s.until = span.last > s.from ? span.last : s.from;
		err = write_trace(c, &s, &span, fd);
	}
	gprof_trace_snapshot_free(&s);
	return err;
}

/* ---- profiles ---- */

static int feed(struct gprof_builder *b, const struct gprof_snapshot *copy,
		struct gprof_decode_counts *seen)
{
	const struct gprof_rec *rec;
	struct gprof_decoder d;
	uint32_t size;
	size_t off = 0;
	int ret;

	gprof_decoder_init(&d, &gprof_builder_ops, b);
	while ((ret = gprof_snapshot_next(copy, &off, &rec, &size)) > 0) {
		ret = gprof_decoder_feed(&d, rec, size);
		if (ret)
			break;
	}
	seen->samples += d.counts.samples;
	seen->orphans += d.counts.orphans;
	seen->malformed += d.counts.malformed;
	gprof_decoder_free(&d);
	return ret;
}

/* The event's unit is not in the dump, but that of a wait follows from its kind. */
static struct gprof_columns columns_of(const struct gprof_builder *b, uint32_t kind)
{
	static const struct gprof_columns any = {
		.count_type = "samples", .weight_type = "weight", .weight_unit = "count",
	};
	const struct gprof_columns *known = gprof_kind_columns(kind);
	struct gprof_columns columns = known ? *known : any;
	size_t i;

	columns.period = 1;
	columns.runnable_type = NULL;
	/* The object table is not in the dump. */
	columns.live_weight_type = columns.live_value_type = NULL;
	for (i = 0; i < b->nr_counts; i++) {
		if (known && b->counts[i].runnable)
			columns.runnable_type = "runnable";
		columns.latency |= b->counts[i].parallelism > 0;
	}
	return columns;
}

static unsigned long long ull(uint64_t n)
{
	return n;
}

static int add_losses(const struct gprof_core *c, size_t i, const struct gprof_builder *b,
		      const struct gprof_decode_counts *seen, struct gprof_profile *p)
{
	uint64_t produced = 0, overwritten = 0, all_lost = 0, rest;
	__u64 lost[GPROF_LOST_SLOTS] = { 0 };
	size_t n, k;
	int err;

	for (n = c->first[i]; n < c->first[i + 1]; n++) {
		const struct gprof_ring_head *h = &c->rings[n].head;

		produced += h->produced;
		overwritten += h->overwritten;
		for (k = 0; k < GPROF_LOST_SLOTS; k++) {
			lost[k] += h->lost[k];
			all_lost += h->lost[k];
		}
	}
	err = gprof_profile_commentf(p, "samples: produced=%llu held=%llu lost=%llu "
				     "overwritten=%llu", ull(produced), ull(seen->samples),
				     ull(all_lost), ull(overwritten));
	if (!err)
		err = gprof_report_lost(p, lost);
	if (!err && overwritten)
		err = gprof_profile_commentf(p, "%llu samples were overwritten by newer ones",
					     ull(overwritten));
	rest = produced - seen->samples - all_lost - overwritten;
	if (!err && rest && rest <= produced)
		err = gprof_profile_commentf(p, "%llu samples had been read before, and were no "
					     "longer in the buffers", ull(rest));
	else if (!err && rest)
		err = gprof_profile_commentf(p, "the counts do not add up: the buffers held more "
					     "samples than were produced; the core dump is damaged");
	if (!err && b->early)
		err = gprof_profile_commentf(p, "%llu samples were left out, as they are of before "
					     "all CPUs had something to tell", ull(b->early));
	if (!err && seen->orphans + seen->malformed)
		err = gprof_profile_commentf(p, "%llu samples refer to a stack that is not in the "
					     "buffer, and %llu records made no sense",
					     ull(seen->orphans), ull(seen->malformed));
	return err;
}

static int make_profile(const struct gprof_core *c, size_t i, struct gprof_builder *b,
			const struct gprof_decode_counts *seen, struct gprof_profile **p)
{
	const struct gprof_ring_head *head = &c->rings[c->first[i]].head;
	const struct gprof_columns columns = columns_of(b, head->kind);
	int err = gprof_builder_profile(b, &columns, p);

	if (!err)
		err = gprof_profile_commentf(*p, "held by recorder %llu (%s) when its program dumped "
					     "core", (unsigned long long)head->recorder,
					     gprof_kind_name(head->kind));
	if (!err)
		err = add_losses(c, i, b, seen, *p);
	return err ? err : gprof_profile_finish(*p);
}

static int no_profile(struct gprof_core *c, int err, const struct gprof_budget *stacks)
{
	if (stacks->exceeded)
		return gprof_error_set(&c->error, -err, "no profile can be made of the core dump, whose "
				       "stacks come to more than %llu MiB",
				       (unsigned long long)stacks->max >> 20);
	return gprof_error_set(&c->error, -err, "no profile can be made of the core dump (%s)",
			       gprof_strerror(-err));
}

static struct gprof_budget stacks_budget(const struct gprof_trace_snapshot *s)
{
	struct gprof_budget stacks = { 0 };
	size_t n;

	for (n = 0; n < s->nr; n++)
		stacks.max += s->copies[n].len * STACKS_TIMES;
	if (stacks.max < STACKS_LEAST)
		stacks.max = STACKS_LEAST;
	return stacks;
}

int gprof_core_profile(struct gprof_core *c, size_t i, struct gprof_profile **profile)
{
	struct gprof_decode_counts seen = { 0 };
	struct gprof_trace_snapshot s;
	struct gprof_budget stacks;
	struct gprof_builder b;
	int err = check_kind(c, i, false);
	size_t n;

	*profile = NULL;
	if (err)
		return err;
	err = load_all(c, i, &s);
	if (!err && gprof_builder_init(&b))
		err = gprof_error_set(&c->error, ENOMEM, "no memory for a profile");
	if (!err) {
		stacks = stacks_budget(&s);
		b.stacks.table.budget = &stacks;
		b.from = s.from;
		for (n = 0; n < s.nr && !err; n++)
			err = feed(&b, &s.copies[n], &seen);
		if (!err)
			err = make_profile(c, i, &b, &seen, profile);
		gprof_builder_free(&b);
		if (err)
			no_profile(c, err, &stacks);
	}
	gprof_trace_snapshot_free(&s);
	if (err) {
		gprof_profile_free(*profile);
		*profile = NULL;
	}
	return err;
}
