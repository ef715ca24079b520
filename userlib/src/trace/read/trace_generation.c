// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * trace_generation.c: one generation of a trace, from its batches.
 */
#include "trace_generation.h"

#include <errno.h>
#include <gprof/trace_write.h>
#include <stdlib.h>
#include <string.h>

#include "trace_wire.h"

#define VERSION_SYNC	25	/* has sync batches and clocks */
#define VERSION_END	26	/* says where generations end */

/* A batch: its head, and its place. */
struct batch {
	uint64_t start;		/* offset of its head */
	uint64_t head;		/* bytes of that */
	uint64_t generation;
	int64_t thread;
	uint64_t time;
	uint64_t size;
	unsigned int experiment;
	bool experimental;
	bool end;		/* no batch: the generation ends */
};

/* The failure that a step is about to return. */
struct failure {
	struct gprof_error *error;
	uint64_t *offset;
};

#define FAIL(f, at, err, ...) (*(f)->offset = (at), gprof_error_set((f)->error, err, __VA_ARGS__))

static int no_room(struct failure *f, uint64_t at, int err)
{
	if (err == -EFBIG)
		return FAIL(f, at, EFBIG, "a generation takes more memory than it may have");
	return FAIL(f, at, -err, "no memory for a generation");
}

static int unreadable(struct failure *f, uint64_t at, int err)
{
	return FAIL(f, at, -err, "the trace cannot be read (%s)", gprof_strerror(-err));
}

int gprof_trace_generation_init(struct gprof_trace_generation *g, struct gprof_trace_memory *m,
				unsigned int version)
{
	g->memory = m;
	g->version = version;
	gprof_trace_ids_init(m, &g->thread_ids);
	return gprof_trace_dictionary_init(&g->dictionary, m);
}

void gprof_trace_generation_free(struct gprof_trace_generation *g)
{
	struct gprof_trace_memory *m = g->memory;

	if (!m)
		return;
	gprof_trace_dictionary_free(&g->dictionary);
	gprof_trace_release(m, g->batches, g->cap_batches * sizeof(*g->batches));
	gprof_trace_release(m, g->threads, g->cap_threads * sizeof(*g->threads));
	gprof_trace_ids_free(m, &g->thread_ids);
	gprof_trace_release(m, g->samples, g->cap_samples * sizeof(*g->samples));
}

/* The head of the next batch, which is not yet gone past. 1, 0 at the end, -errno. */
static int read_head(const struct gprof_trace_generation *g, struct gprof_trace_input *in,
		     struct batch *b, struct failure *f)
{
	const unsigned char *p, *end;
	uint64_t thread;
	int err = gprof_trace_input_want(in, 2 + 4 * GPROF_VARINT_MAX);

	if (err)
		return unreadable(f, in->offset, err);
	if (!in->avail)
		return 0;
	memset(b, 0, sizeof(*b));
	b->start = in->offset;
	p = in->p;
	end = p + in->avail;
	if (*p == GPROF_EV_END_OF_GENERATION && g->version >= VERSION_END) {
		b->end = true;
		b->head = 1;
		return 1;
	}
	if (*p != GPROF_EV_EVENT_BATCH && *p != GPROF_EV_EXPERIMENTAL_BATCH)
		return FAIL(f, b->start, EBADMSG, "here should begin a batch, but there is %u", *p);
	b->experimental = *p++ == GPROF_EV_EXPERIMENTAL_BATCH;
	if (b->experimental && p < end)
		b->experiment = *p++;
	/* Experiment 0 is none: the batch has events. */
	b->experimental = b->experiment;
	p = gprof_varint(p, end, &b->generation);
	p = p ? gprof_varint(p, end, &thread) : NULL;
	p = p ? gprof_varint(p, end, &b->time) : NULL;
	p = p ? gprof_varint(p, end, &b->size) : NULL;
	if (!p)
		return FAIL(f, b->start, EBADMSG,
			    "the head of a batch does not end, or has a number of more than 64 bits");
	if (b->size > GPROF_TRACE_BATCH_MAX)
		return FAIL(f, b->start, EBADMSG, "a batch says that it has %llu bytes, of at most %u",
			    (unsigned long long)b->size, GPROF_TRACE_BATCH_MAX);
	b->thread = (int64_t)thread;
	b->head = (uint64_t)(p - in->p);
	return 1;
}

static int truncated(struct failure *f, const struct batch *b)
{
	return FAIL(f, b->start, EBADMSG, "the trace ends in the middle of a batch of %llu bytes",
		    (unsigned long long)b->size);
}

static int add_thread(struct gprof_trace_generation *g, int64_t id, uint32_t *number)
{
	int err;

	*number = gprof_trace_ids_get(&g->thread_ids, (uint64_t)id);
	if (*number != GPROF_NONE)
		return 0;
	err = gprof_trace_grow(g->memory, &g->threads, &g->cap_threads, g->nr_threads + 1,
			       sizeof(*g->threads));
	if (!err)
		err = gprof_trace_ids_put(g->memory, &g->thread_ids, (uint64_t)id,
					  (uint32_t)g->nr_threads);
	if (err)
		return err;
	*number = (uint32_t)g->nr_threads;
	g->threads[g->nr_threads++] = (struct gprof_trace_thread){ id, GPROF_NONE, GPROF_NONE, 0 };
	return 0;
}

static int add_events(struct gprof_trace_generation *g, const struct batch *b,
		      union gprof_trace_held where)
{
	uint32_t thread, n = (uint32_t)g->nr_batches;
	int err = add_thread(g, b->thread, &thread);

	if (!err)
		err = gprof_trace_grow(g->memory, &g->batches, &g->cap_batches, g->nr_batches + 1,
				       sizeof(*g->batches));
	if (err)
		return err;
	g->batches[g->nr_batches++] = (struct gprof_trace_events){
		.where = where,
		.offset = b->start + b->head,
		.time = b->time,
		.len = (uint32_t)b->size,
		.next = GPROF_NONE,
	};
	if (g->threads[thread].last == GPROF_NONE)
		g->threads[thread].first = n;
	else
		g->batches[g->threads[thread].last].next = n;
	g->threads[thread].last = n;
	if (g->threads[thread].longest < b->size)
		g->threads[thread].longest = (uint32_t)b->size;
	return 0;
}

static int add_sample(struct gprof_trace_generation *g, const uint64_t v[5])
{
	int err = gprof_trace_grow(g->memory, &g->samples, &g->cap_samples, g->nr_samples + 1,
				   sizeof(*g->samples));

	if (err)
		return err;
	g->samples[g->nr_samples] = (struct gprof_trace_sample){
		.time = (int64_t)v[0],	/* in units until the generation is complete */
		.thread = (int64_t)v[1],
		.proc = (int64_t)v[2],
		.goroutine = v[3] ? (int64_t)v[3] : GPROF_TRACE_NONE,
		.stack = v[4],
		.nr = g->nr_samples,
	};
	g->nr_samples++;
	return 0;
}

/* As gprof_trace_dictionary_strings(). */
static const unsigned char *add_samples(struct gprof_trace_generation *g, const unsigned char *p,
					const unsigned char *end, const char **why)
{
	*why = NULL;
	while (p < end) {
		const unsigned char *start = p;
		uint64_t v[5];
		int i, err;

		*why = "a batch of CPU samples holds something else";
		if (*p++ != GPROF_EV_CPU_SAMPLE)
			return start;
		*why = "a CPU sample does not end with its batch, or has a number of more than 64 bits";
		for (i = 0; i < 5 && p; i++)
			p = gprof_varint(p, end, &v[i]);
		if (!p)
			return start;
		*why = NULL;
		err = add_sample(g, v);
		if (err) {
			errno = -err;
			return start;
		}
	}
	return NULL;
}

/* Likewise. */
static const unsigned char *add_clock(struct gprof_trace_generation *g, const struct batch *b,
				      const unsigned char *p, const unsigned char *end,
				      const char **why)
{
	while (p < end) {
		const unsigned char *start = p;
		uint64_t v;

		switch (*p++) {
		case GPROF_EV_FREQUENCY:
			*why = "the generation has two frequencies";
			if (g->ns_per_unit != 0)
				return start;
			*why = "the frequency is 0, or does not end with its batch";
			p = gprof_varint(p, end, &v);
			if (!p || !v)
				return start;
			/* In this order, for the last bit to be that of Go's reader. */
			g->ns_per_unit = 1.0 / ((double)v / 1e9);
			break;
		case GPROF_EV_CLOCK_SNAPSHOT:
			*why = "the generation has two clock snapshots, or is of before Go 1.25";
			if (g->has_clock || g->version < VERSION_SYNC)
				return start;
			*why = "a clock snapshot does not end with its batch";
			g->has_clock = true;
			p = gprof_varint(p, end, &v);
			g->clock.time = (int64_t)(b->time + (p ? v : 0));
			p = p ? gprof_varint(p, end, &g->clock.mono) : NULL;
			p = p ? gprof_varint(p, end, &g->clock.sec) : NULL;
			p = p ? gprof_varint(p, end, &g->clock.nsec) : NULL;
			if (!p)
				return start;
			break;
		default:
			*why = "a batch of clocks holds something else";
			return start;
		}
	}
	return NULL;
}

static bool is_clock(const struct gprof_trace_generation *g, unsigned char first)
{
	return first == (g->version >= VERSION_SYNC ? GPROF_EV_SYNC : GPROF_EV_FREQUENCY);
}

static bool is_structure(const struct gprof_trace_generation *g, unsigned char first)
{
	return first == GPROF_EV_STRINGS || first == GPROF_EV_STACKS ||
	       first == GPROF_EV_CPU_SAMPLES || is_clock(g, first);
}

/* An experimental batch, or a fact of gprof's. */
static int emit_batch(struct gprof_trace_generation *g, const struct batch *b,
		      const struct gprof_trace_batch *batch, struct failure *f)
{
	int err;

	if (batch->experiment == GPROF_TRACE_EXPERIMENT &&
	    !gprof_trace_reported_read(&g->told, batch->data, batch->data + batch->len))
		return FAIL(f, b->start, EBADMSG, "a fact of gprof's own ends within a number");
	/* Go's own says more. */
	if (g->told.has_clock && !g->has_clock && g->version < VERSION_SYNC) {
		g->has_clock = true;
		g->clock = g->told.clock;
		g->clock.time = (int64_t)(g->clock.mono / GPROF_TRACE_UNIT_NS);
	}
	if (!g->batch)
		return 0;
	err = g->batch(g->ctx, batch);
	if (err)
		return FAIL(f, b->start, err < 0 ? -err : ECANCELED,
			    "the function for experimental batches has ended the reading");
	return 0;
}

static int read_experimental(struct gprof_trace_generation *g, const struct batch *b,
			     const unsigned char *p, struct failure *f)
{
	const struct gprof_trace_batch batch = {
		.experiment = b->experiment,
		.generation = b->generation,
		.thread = b->thread,
		.time = b->time,
		.data = p,
		.len = (size_t)b->size,
	};

	g->nr_experimental++;
	return emit_batch(g, b, &batch, f);
}

static int read_facts(struct gprof_trace_generation *g, const struct batch *b,
		      const struct gprof_trace_text *text, struct failure *f)
{
	const unsigned char *p = (const unsigned char *)text->s, *end = p + text->len;
	struct gprof_trace_batch batch = {
		.experiment = GPROF_TRACE_EXPERIMENT,
		.generation = b->generation,
		.thread = GPROF_TRACE_NONE,
	};
	uint64_t later, len;
	int err = 0;

	for (p += sizeof(GPROF_TRACE_FACTS); p < end && !err; p = batch.data + batch.len) {
		batch.data = gprof_trace_facts_next(p, end, &later, &len);
		if (!batch.data)
			return FAIL(f, b->start, EBADMSG,
				    "a fact of gprof's own does not end with its string");
		batch.time = b->time + later;
		batch.len = (size_t)len;
		err = emit_batch(g, b, &batch, f);
	}
	return err;
}

/* The strings of a batch from number @i on. */
static int find_facts(struct gprof_trace_generation *g, const struct batch *b, size_t i,
		      struct failure *f)
{
	int err = 0;

	for (; i < g->dictionary.nr_strings && !err; i++)
		if (gprof_trace_facts_are(&g->dictionary.strings[i]))
			err = read_facts(g, b, &g->dictionary.strings[i], f);
	return err;
}

/* A batch of which all bytes are at hand. */
static int read_structure(struct gprof_trace_generation *g, const struct batch *b,
			  const unsigned char *p, struct failure *f)
{
	const unsigned char *end = p + b->size, *bad;
	uint64_t at = b->start + b->head;
	size_t nr_strings = g->dictionary.nr_strings;
	const char *why = NULL;

	errno = 0;
	if (*p == GPROF_EV_STRINGS)
		bad = gprof_trace_dictionary_strings(&g->dictionary, p + 1, end, &why);
	else if (*p == GPROF_EV_STACKS)
		bad = gprof_trace_dictionary_stacks(&g->dictionary, p + 1, end, &why);
	else if (*p == GPROF_EV_CPU_SAMPLES)
		bad = add_samples(g, p + 1, end, &why);
	else
		bad = add_clock(g, b, *p == GPROF_EV_SYNC ? p + 1 : p, end, &why);
	if (!bad)
		return find_facts(g, b, nr_strings, f);
	at += (uint64_t)(bad - p);
	return why ? FAIL(f, at, EBADMSG, "%s", why) : no_room(f, at, -errno);
}

/*
 * A batch whose head was gone past. A truncated batch ends the trace; the batches before it can be
 * read. 1, 0 when it is cut short.
 */
static int load_batch(struct gprof_trace_generation *g, struct gprof_trace_input *in,
		      const struct batch *b, struct failure *f)
{
	union gprof_trace_held where;
	int ret;

	ret = gprof_trace_input_want(in, b->size ? 1 : 0);
	if (ret)
		return unreadable(f, in->offset, ret);
	if (b->size && !in->avail)
		return 0;
	if (b->size && (b->experimental || is_structure(g, *in->p))) {
		ret = gprof_trace_input_want(in, (size_t)b->size);
		if (ret)
			return unreadable(f, in->offset, ret);
		if (in->avail < b->size)
			return 0;
		ret = b->experimental ? read_experimental(g, b, in->p, f)
				      : read_structure(g, b, in->p, f);
		if (ret)
			return ret;
		gprof_trace_input_consume(in, (size_t)b->size);
		return 1;
	}
	if (b->experimental) {
		ret = read_experimental(g, b, in->p, f);
		return ret ? ret : 1;
	}
	if (b->size && *in->p == GPROF_EV_END_OF_GENERATION)
		return FAIL(f, in->offset, EBADMSG, "a generation ends inside a batch");
	ret = gprof_trace_input_hold(in, (size_t)b->size, &where);
	if (!ret)
		return 0;
	if (ret < 0)
		return ret == -ENOMEM || ret == -EFBIG ? no_room(f, in->offset, ret)
						       : unreadable(f, in->offset, ret);
	ret = add_events(g, b, where);
	return ret ? no_room(f, b->start, ret) : 1;
}

static int by_time(const void *pa, const void *pb)
{
	const struct gprof_trace_sample *a = pa, *b = pb;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return a->nr < b->nr ? -1 : 1;
}

/* All batches are there: do they make a generation? */
static int complete(struct gprof_trace_generation *g, uint64_t at, struct failure *f)
{
	uint64_t bad = 0;
	size_t i;
	int err;

	if (g->ns_per_unit == 0)
		return FAIL(f, at, EBADMSG, "generation %llu does not say the frequency of its clock",
			    (unsigned long long)g->number);
	if (g->version >= VERSION_SYNC && !g->has_clock)
		return FAIL(f, at, EBADMSG, "generation %llu has no clock snapshot",
			    (unsigned long long)g->number);
	err = gprof_trace_dictionary_seal(&g->dictionary, &bad);
	if (err == -EBADMSG)
		return FAIL(f, at, EBADMSG,
			    "a stack of generation %llu names the string %llu, which is not there",
			    (unsigned long long)g->number, (unsigned long long)bad);
	if (err)
		return no_room(f, at, err);
	if (g->has_clock &&
	    !gprof_trace_ns(g->ns_per_unit, (uint64_t)g->clock.time, &g->clock.time))
		return FAIL(f, at, EBADMSG, "the clock snapshot is beyond 2^62 ns");
	for (i = 0; i < g->nr_samples; i++)
		if (!gprof_trace_ns(g->ns_per_unit, (uint64_t)g->samples[i].time,
				    &g->samples[i].time))
			return FAIL(f, at, EBADMSG, "the time of a CPU sample is beyond 2^62 ns");
	if (g->nr_samples)
		qsort(g->samples, g->nr_samples, sizeof(*g->samples), by_time);
	return 1;
}

/* Batches that can be read up to here are a generation; returns the error with the next one. */
static int postpone(struct gprof_trace_generation *g, struct failure *f, int err)
{
	if (!g->number || g->version >= VERSION_END)
		return err;
	g->late = *f->error;
	g->late_offset = *f->offset;
	return 0;
}

static int start(struct gprof_trace_generation *g, struct gprof_trace_input *in)
{
	gprof_trace_input_unhold(in);
	gprof_trace_ids_clear(&g->thread_ids);
	g->nr_batches = g->nr_threads = g->nr_samples = 0;
	g->number = 0;
	g->ns_per_unit = 0;
	g->min_time = 0;
	g->has_clock = g->told.has_clock = false;
	gprof_error_clear(&g->late);
	return gprof_trace_dictionary_clear(&g->dictionary);
}

/* Does the batch belong to this generation? 1, 0 when to the next, -errno. */
static int belongs(struct gprof_trace_generation *g, const struct batch *b, struct failure *f)
{
	if (!b->generation)
		return FAIL(f, b->start, EBADMSG, "a batch is of generation 0, which none is");
	if (!g->number)
		g->number = b->generation;
	if (b->generation == g->number)
		return 1;
	if (b->generation == g->number + 1 && g->version < VERSION_END)
		return 0;
	return FAIL(f, b->start, EBADMSG,
		    "a batch of generation %llu lies among those of generation %llu",
		    (unsigned long long)b->generation, (unsigned long long)g->number);
}

/* A trace of before 1.26 has one generation at least, or was not closed. */
static int nothing_more(const struct gprof_trace_generation *g, const struct gprof_trace_input *in,
			struct failure *f)
{
	if (g->nr_all || g->version >= VERSION_END)
		return 0;
	return FAIL(f, in->offset, EBADMSG, "there is nothing behind the header");
}

int gprof_trace_generation_read(struct gprof_trace_generation *g, struct gprof_trace_input *in,
				struct gprof_error *error, uint64_t *offset)
{
	struct failure f = { error, offset };
	int ret = start(g, in);

	if (ret)
		return no_room(&f, in->offset, ret);
	for (;;) {
		struct batch b;

		ret = read_head(g, in, &b, &f);
		if (!ret && !g->number)
			return nothing_more(g, in, &f);
		if (!ret && g->version >= VERSION_END)
			return FAIL(&f, in->offset, EBADMSG,
				    "the trace ends inside generation %llu",
				    (unsigned long long)g->number);
		if (ret < 0)
			ret = postpone(g, &f, ret);
		if (ret < 0)
			return ret;
		if (!ret)
			break;
		if (b.end) {
			gprof_trace_input_consume(in, 1);
			break;
		}
		ret = belongs(g, &b, &f);
		if (ret < 0)
			return ret;
		if (!ret)
			break;
		gprof_trace_input_consume(in, (size_t)b.head);
		g->nr_all++;
		if (!g->min_time || b.time < g->min_time)
			g->min_time = b.time;
		ret = load_batch(g, in, &b, &f);
		if (!ret)
			ret = postpone(g, &f, truncated(&f, &b));
		else if (ret > 0)
			continue;
		if (ret < 0)
			return ret;
		break;
	}
	ret = complete(g, in->offset, &f);
	if (ret == -EBADMSG && g->late.err) {
		*error = g->late;	/* which is why it is not complete */
		*offset = g->late_offset;
	}
	return ret;
}
