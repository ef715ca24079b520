// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stacks of an execution trace, kept for longer than the generation that tells them.
 */
#include "trace_stacks.h"

#include <stdlib.h>
#include <string.h>

#include "cli/diag.h"

/* Ids beyond are looked up each time: the trace's writer chooses them. */
#define KNOWN_MAX	(1U << 20)

/* A string of a trace may hold zeroes; bytes behind one are left out. */
static size_t put_text(char *to, const struct gprof_trace_text *text)
{
	size_t len = strnlen(text->s, text->len < GPROF_TRACE_STRING_MAX ? text->len :
				      GPROF_TRACE_STRING_MAX);

	memcpy(to, text->s, len);
	to[len] = '\0';
	return len + 1;
}

static uint32_t frame_number(struct trace_stacks *s, const struct gprof_trace_frame *f)
{
	char key[sizeof(f->line) + 2 * (GPROF_TRACE_STRING_MAX + 1)];
	size_t len = sizeof(f->line);

	memcpy(key, &f->line, sizeof(f->line));
	len += put_text(key + len, &f->function);
	len += put_text(key + len, &f->file);
	return intern_add(&s->frames, key, len);
}

static size_t *known_of(struct trace_stacks *s, uint64_t id)
{
	size_t nr = s->nr_known ? s->nr_known : 256;
	size_t *known;

	if (id >= KNOWN_MAX)
		return NULL;
	if (id < s->nr_known)
		return &s->known[id];
	while (nr <= id)
		nr *= 2;
	known = xalloc(nr, sizeof(*known));
	if (s->nr_known)
		memcpy(known, s->known, s->nr_known * sizeof(*known));
	free(s->known);
	s->known = known;
	s->nr_known = nr;
	return &s->known[id];
}

size_t trace_stacks_add(struct trace_stacks *s, const struct gprof_trace *trace, uint64_t id)
{
	struct gprof_trace_frame f[GPROF_TRACE_FRAMES_MAX];
	uint32_t numbers[GPROF_TRACE_FRAMES_MAX];
	size_t *known = id ? known_of(s, id) : NULL;
	size_t nr = 0, number;

	if (!id)
		return 0;
	if (known && *known)
		return *known;
	nr = gprof_trace_stack(trace, id, f, ARRAY_SIZE(f));
	if (nr > ARRAY_SIZE(f))
		nr = ARRAY_SIZE(f);
	for (size_t i = 0; i < nr; i++)
		numbers[i] = frame_number(s, &f[i]);
	if (!nr)
		return 0;
	number = intern_add(&s->stacks, numbers, nr * sizeof(*numbers)) + 1;
	if (known)
		*known = number;
	return number;
}

void trace_stacks_generation(struct trace_stacks *s)
{
	if (s->nr_known)
		memset(s->known, 0, s->nr_known * sizeof(*s->known));
}

size_t trace_stacks_frames(const struct trace_stacks *s, size_t number, struct gprof_frame *frames)
{
	const char *numbers;
	size_t len, nr;

	if (!number || number > s->stacks.nr)
		return 0;
	numbers = intern_key(&s->stacks, number - 1, &len);
	nr = len / sizeof(uint32_t);
	for (size_t i = 0; i < nr; i++) {
		const char *key;
		uint64_t line;
		uint32_t n;

		memcpy(&n, numbers + i * sizeof(n), sizeof(n));
		key = intern_key(&s->frames, n, &len);
		memcpy(&line, key, sizeof(line));
		key += sizeof(line);
		frames[i] = (struct gprof_frame){
			.function = *key ? key : "[no name]", .file = key + strlen(key) + 1,
			.line = (int64_t)line,
		};
	}
	return nr;
}

size_t trace_stacks_copy(struct trace_stacks *to, const struct trace_stacks *from, size_t number)
{
	uint32_t numbers[GPROF_TRACE_FRAMES_MAX];
	const char *old;
	size_t len, nr;

	if (!number || number > from->stacks.nr)
		return 0;
	old = intern_key(&from->stacks, number - 1, &len);
	nr = len / sizeof(*numbers);
	for (size_t i = 0; i < nr; i++) {
		const void *key;
		uint32_t n;

		memcpy(&n, old + i * sizeof(n), sizeof(n));
		key = intern_key(&from->frames, n, &len);
		numbers[i] = (uint32_t)intern_add(&to->frames, key, len);
	}
	return intern_add(&to->stacks, numbers, nr * sizeof(*numbers)) + 1;
}

void trace_stacks_free(struct trace_stacks *s)
{
	intern_free(&s->frames);
	intern_free(&s->stacks);
	free(s->known);
}
