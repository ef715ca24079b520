// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * trace_facts.c: facts: gprof's own records in a trace beside the events of Go's format.
 */
#include "trace_facts.h"

#include <errno.h>

#define PREFIX		sizeof(GPROF_TRACE_FACTS)
#define STRING_ROOM	(1 + 2 * GPROF_VARINT_MAX + GPROF_TRACE_STRING_MAX)

_Static_assert(PREFIX + GPROF_VARINT_MAX + 2 + GPROF_TRACE_FACT_MAX <=
	       GPROF_TRACE_STRING_MAX, "a fact fits into a string");

int gprof_trace_facts_add(struct gprof_trace_facts *f, uint64_t time,
			  struct gprof_trace_bytes *fact)
{
	int err;

	if (fact->nr > GPROF_TRACE_FACT_MAX)
		return -E2BIG;
	if (!f->waiting.nr)
		f->begin = time;
	err = gprof_trace_put_number(&f->waiting, time > f->begin ? time - f->begin : 0);
	if (!err)
		err = gprof_trace_put_number(&f->waiting, fact->nr);
	if (!err)
		err = gprof_trace_put(&f->waiting, fact->p, fact->nr);
	fact->nr = 0;
	return err;
}

int gprof_trace_facts_add_numbers(struct gprof_trace_facts *f, uint64_t time, unsigned char kind,
				  const uint64_t *numbers, size_t nr)
{
	struct gprof_trace_bytes fact = { 0 };
	int err = gprof_trace_put_byte(&fact, kind);
	size_t i;

	for (i = 0; i < nr && !err; i++)
		err = gprof_trace_put_number(&fact, numbers[i]);
	if (!err)
		err = gprof_trace_facts_add(f, time, &fact);
	gprof_trace_bytes_free(&fact);
	return err;
}

const unsigned char *gprof_trace_facts_next(const unsigned char *p, const unsigned char *end,
					    uint64_t *later, uint64_t *len)
{
	p = gprof_varint(p, end, later);
	p = p ? gprof_varint(p, end, len) : NULL;
	return p && *len && *len <= (uint64_t)(end - p) ? p : NULL;
}

/* The end of as many facts as fit into a string. */
static const unsigned char *fitting(const unsigned char *p, const unsigned char *end)
{
	const unsigned char *limit = p + GPROF_TRACE_STRING_MAX - PREFIX;
	const unsigned char *fact;
	uint64_t later, len;

	while ((fact = gprof_trace_facts_next(p, end, &later, &len)) && fact + len <= limit)
		p = fact + len;
	return p;
}

static int put_string(struct gprof_trace_bytes *body, uint64_t id, const unsigned char *p,
		      size_t len)
{
	int err = gprof_trace_put_byte(body, GPROF_EV_STRING);

	if (!err)
		err = gprof_trace_put_number(body, id);
	if (!err)
		err = gprof_trace_put_number(body, PREFIX + len);
	if (!err)
		err = gprof_trace_put(body, GPROF_TRACE_FACTS, PREFIX);
	return err ? err : gprof_trace_put(body, p, len);
}

int gprof_trace_facts_write(struct gprof_trace_facts *f, struct gprof_trace_bytes *out,
			    uint64_t generation, uint64_t *string)
{
	const unsigned char *p = f->waiting.p, *end = p + f->waiting.nr;
	struct gprof_trace_bytes body = { 0 };
	int err = 0;

	while (p < end && !err) {
		err = gprof_trace_put_byte(&body, GPROF_EV_STRINGS);
		while (p < end && !err && body.nr + STRING_ROOM <= GPROF_TRACE_BATCH_MAX) {
			const unsigned char *next = fitting(p, end);

			err = put_string(&body, (*string)++, p, (size_t)(next - p));
			p = next;
		}
		if (!err)
			err = gprof_trace_put_batch(out, generation, GPROF_TRACE_NO_THREAD,
						    f->begin, &body);
	}
	f->waiting.nr = 0;
	gprof_trace_bytes_free(&body);
	return err;
}

void gprof_trace_facts_free(struct gprof_trace_facts *f)
{
	gprof_trace_bytes_free(&f->waiting);
}

/* Length and bytes; NULL where they do not fit. */
static const unsigned char *read_text(const unsigned char *p, const unsigned char *end, char *text)
{
	uint64_t len;

	p = gprof_varint(p, end, &len);
	if (!p || len >= GPROF_TRACE_SAMPLE_TEXT || len > (uint64_t)(end - p))
		return NULL;
	memcpy(text, p, len);
	text[len] = '\0';
	return p + len;
}

static const unsigned char *read_recorded(struct gprof_trace_reported *t, const unsigned char *p,
					  const unsigned char *end)
{
	uint64_t *const values[] = {
		&t->groups, &t->stacks, &t->kernel_frames, &t->min_duration_ns,
	};
	size_t i;

	for (i = 0; p && i < sizeof(values) / sizeof(*values); i++)
		p = gprof_varint(p, end, values[i]);
	t->recorded = p;
	/* A trace from before this number has none. */
	return p && p < end ? gprof_varint(p, end, &t->target) : p;
}

static const unsigned char *read_clock(struct gprof_trace_reported *t, const unsigned char *p,
				       const unsigned char *end)
{
	p = gprof_varint(p, end, &t->clock.mono);
	p = p ? gprof_varint(p, end, &t->clock.sec) : NULL;
	p = p ? gprof_varint(p, end, &t->clock.nsec) : NULL;
	t->has_clock = p;
	return p;
}

bool gprof_trace_reported_read(struct gprof_trace_reported *t, const unsigned char *p,
			       const unsigned char *end)
{
	uint64_t cpu, lost;

	if (p == end)
		return true;
	switch (*p++) {
	case 'V':
		p = gprof_varint(p, end, &t->gprof_version);
		break;
	case 'L':
		p = gprof_varint(p, end, &cpu);
		p = p ? gprof_varint(p, end, &lost) : NULL;
		if (p && __builtin_add_overflow(t->lost, lost, &t->lost))
			t->lost = UINT64_MAX;
		break;
	case 'P':
		p = gprof_varint(p, end, &t->sample_period);
		p = p ? read_text(p, end, t->sample_type) : NULL;
		p = p ? read_text(p, end, t->sample_unit) : NULL;
		break;
	case 'R':
		p = read_recorded(t, p, end);
		break;
	case 'C':
		p = read_clock(t, p, end);
		break;
	default:
		break;
	}
	return p;
}
