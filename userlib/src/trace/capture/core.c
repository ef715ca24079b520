// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * core.c: the rings of a program's recorders in its core dump.
 *
 * A ring's head has its recorder and kind. Its records are read as those of a snapshot: from its
 * first generation on. In a dump there is no writer. A raw snapshot (raw_file.h) is the same of one
 * recorder, with what the program had asked for.
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
#include "raw_read.h"
#include "trace_snapshot.h"
#include "trace_span.h"

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
 * @at: where that is in the file; of a raw snapshot, the number of the ring
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
 * @raw: it is a raw snapshot, and this its content
 * @is_raw: likewise
 * @error: last failure
 */
struct gprof_core {
	int fd;
	struct core_ring *rings;
	size_t nr;
	size_t *first;
	size_t recorders;
	struct gprof_raw_read raw;
	bool is_raw;
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

static int alloc_rings(struct gprof_core *c, size_t nr)
{
	c->rings = calloc(nr + 1, sizeof(*c->rings));
	c->first = calloc(nr + 1, sizeof(*c->first));
	if (!c->rings || !c->first)
		return gprof_error_set(&c->error, ENOMEM, "no memory for a core dump");
	return 0;
}

static int open_raw(struct gprof_core *c)
{
	int err = gprof_raw_read_open(&c->raw, c->fd, &c->error);

	if (!err)
		err = alloc_rings(c, c->raw.head.rings);
	if (err)
		return err;
	for (; c->nr < c->raw.head.rings; c->nr++)
		c->rings[c->nr] = (struct core_ring){ c->raw.rings[c->nr], c->nr };
	c->first[1] = c->nr;
	c->recorders = 1;
	return 0;
}

static int open_rings(struct gprof_core *c, const struct gprof_core_mapping *all, size_t nr)
{
	int err = alloc_rings(c, nr);
	size_t i;

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
	c->is_raw = gprof_raw_is(fd);
	err = c->is_raw ? open_raw(c) : gprof_core_file_read(fd, &all, &nr, &c->error);
	if (!err && !c->is_raw)
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
	gprof_raw_read_free(&c->raw);
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
	if (c->is_raw) {
		out.produced = c->raw.end.produced;
		out.lost = c->raw.end.lost;
		out.overwritten = c->raw.end.overwritten;
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
	int err;

	if (c->is_raw) {
		err = gprof_raw_read_ring(&c->raw, c->fd, (uint32_t)r->at, copy);
		if (err)
			gprof_snapshot_free(copy);
		return err ? gprof_error_set(&c->error, -err, "CPU %u: the records of the raw "
					     "snapshot cannot be read (%s)", r->head.cpu,
					     gprof_strerror(-err)) : 0;
	}
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
	int err = gprof_trace_snapshot_init(s, nr, c->raw.head.started_ns, c->raw.head.until_ns);

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

static const char *syscall_name(void *ctx, uint64_t nr)
{
	(void)ctx;
	return gprof_syscall_name(nr);
}

/* Times of the first and the last event; and the period of CPU samples. */
static int find_span(struct gprof_core *c, const struct gprof_trace_snapshot *s,
		     struct gprof_trace_span *all)
{
	size_t n;
	int err = 0;

	*all = (struct gprof_trace_span){ .first = UINT64_MAX };
	for (n = 0; n < s->nr && !err; n++) {
		struct gprof_trace_span one;

		gprof_trace_span_init(&one);
		err = gprof_trace_span_add(&one, &s->copies[n]);
		if (one.first < all->first)
			all->first = one.first;
		if (one.last > all->last)
			all->last = one.last;
		if (one.weight)
			all->weight = one.weight;
		gprof_trace_span_free(&one);
	}
	if (!err && all->first == UINT64_MAX)
		return gprof_error_set(&c->error, ENOENT, "the recorder held nothing");
	return err;
}

/* A raw snapshot has the configuration of its program, a dump only the records. */
static void set_up(const struct gprof_core *c, const struct gprof_trace_span *span,
		   struct gprof_trace_writer_opts *opts)
{
	const struct gprof_raw_head *h = &c->raw.head;

	*opts = (struct gprof_trace_writer_opts){
		.sz = sizeof(*opts), .syscall = syscall_name, .sample_period = span->weight,
		.sample_type = "samples", .sample_unit = "count",
	};
	if (!c->is_raw)
		return;
	opts->sample_period = h->sample_period;
	opts->sample_type = h->sample_type;
	opts->sample_unit = h->sample_unit;
	opts->recorded = true;
	opts->groups = h->groups;
	opts->stacks = h->stacks;
	opts->kernel_frames = h->stacks && h->flags & GPROF_RAW_F_KERNEL_FRAMES;
	opts->min_duration_ns = h->min_duration_ns;
	opts->cpus_only = h->flags & GPROF_RAW_F_CPUS_ONLY;
	opts->whole_host = h->flags & GPROF_RAW_F_WHOLE_HOST;
}

static uint64_t generation_of(const struct gprof_core *c, const struct gprof_trace_snapshot *s)
{
	uint64_t wanted = c->is_raw && c->raw.head.generation_ns ? c->raw.head.generation_ns : NS;
	uint64_t least = (s->until - s->from) / GENERATIONS;

	return wanted > least ? wanted : least;
}

/* The counts of a recorder that was stopped are exact. */
static int check_counts(struct gprof_core *c, uint64_t samples)
{
	const struct gprof_raw_end *end = &c->raw.end;

	if (!c->is_raw || !(c->raw.head.flags & GPROF_RAW_F_STOPPED) ||
	    end->produced == samples + end->lost + end->overwritten)
		return 0;
	return gprof_error_set(&c->error, EBADMSG, "the counts of the raw snapshot do not add up: "
			       "%llu events were produced, it has %llu, %llu were lost and %llu "
			       "overwritten", (unsigned long long)end->produced,
			       (unsigned long long)samples, (unsigned long long)end->lost,
			       (unsigned long long)end->overwritten);
}

static int write_trace(struct gprof_core *c, struct gprof_trace_snapshot *s,
		       const struct gprof_trace_span *span, int fd)
{
	struct gprof_trace_writer_opts opts;
	struct gprof_trace_naming naming;
	struct gprof_trace_writer *w;
	uint64_t samples = 0;
	int err, ret;

	set_up(c, span, &opts);
	w = gprof_trace_writer_new(fd, &opts);
	if (!w)
		return gprof_error_set(&c->error, errno, "%s", gprof_error());
	gprof_trace_writer_of_another_time(w);
	err = gprof_trace_naming_init(&naming);
	if (!err)
		err = gprof_trace_snapshot_write(s, w, &naming, generation_of(c, s), &samples);
	ret = gprof_trace_writer_close(w);
	gprof_trace_naming_free(&naming);
	if (!err)
		err = ret;
	if (!err)
		return check_counts(c, samples);
	return gprof_error_set(&c->error, -err, "the trace of the %s cannot be written (%s)",
			       c->is_raw ? "raw snapshot" : "core dump", gprof_strerror(-err));
}

int gprof_core_trace(struct gprof_core *c, size_t i, int fd)
{
	struct gprof_trace_span span;
	struct gprof_trace_snapshot s;
	int err = check_kind(c, i, true);

	if (err)
		return err;
	err = load_all(c, i, &s);
	if (!err)
		err = find_span(c, &s, &span);
	if (!err) {
		if (s.from < span.first)
			s.from = span.first;
		if (s.from < c->raw.head.from_ns)
			s.from = c->raw.head.from_ns;
		if (!c->is_raw)
			s.until = span.last;
		if (s.until < s.from)
			s.until = s.from;
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
