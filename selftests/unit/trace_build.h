/* SPDX-License-Identifier: GPL-2.0-only */
/* trace_build.h: execution traces, byte by byte, for the tests of their reader. */
#ifndef GPROF_TRACE_BUILD_H
#define GPROF_TRACE_BUILD_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <gprof/trace.h>

#include "trace/read/trace_wire.h"

#define NONE	UINT64_MAX

/* A trace in the making. */
struct build {
	unsigned char b[1 << 17];	/* its bytes */
	size_t n;	/* how many */
	unsigned char body[1 << 17];	/* of the batch in the making */
	size_t body_n;	/* how many */
	unsigned char head[64];	/* of that batch */
	size_t head_n;	/* how many */
};

static inline size_t build_varint(unsigned char *p, uint64_t v)
{
	size_t n = 0;

	for (; v >= 0x80; v >>= 7)
		p[n++] = (unsigned char)(v | 0x80);
	p[n++] = (unsigned char)v;
	return n;
}

static inline void build_bytes(struct build *t, const void *p, size_t n)
{
	memcpy(t->b + t->n, p, n);
	t->n += n;
}

static inline void build_header(struct build *t, unsigned int version)
{
	char head[32] = { 0 };

	memset(t, 0, sizeof(*t));
	snprintf(head, sizeof(head), "go 1.%02u trace", version);
	build_bytes(t, head, 16);
}

static inline void build_begin(struct build *t, uint64_t gen, uint64_t m, uint64_t time)
{
	t->head[0] = GPROF_EV_EVENT_BATCH;
	t->head_n = 1;
	t->head_n += build_varint(t->head + t->head_n, gen);
	t->head_n += build_varint(t->head + t->head_n, m);
	t->head_n += build_varint(t->head + t->head_n, time);
	t->body_n = 0;
}

static inline void build_experimental(struct build *t, unsigned char exp, uint64_t gen,
				      uint64_t m, uint64_t time)
{
	build_begin(t, gen, m, time);
	memmove(t->head + 2, t->head + 1, t->head_n - 1);
	t->head[0] = GPROF_EV_EXPERIMENTAL_BATCH;
	t->head[1] = exp;
	t->head_n++;
}

static inline void build_put(struct build *t, const void *p, size_t n)
{
	memcpy(t->body + t->body_n, p, n);
	t->body_n += n;
}

static inline void build_byte(struct build *t, unsigned char byte)
{
	build_put(t, &byte, 1);
}

static inline void build_number(struct build *t, uint64_t v)
{
	t->body_n += build_varint(t->body + t->body_n, v);
}

static inline void build_end(struct build *t)
{
	t->head_n += build_varint(t->head + t->head_n, t->body_n);
	build_bytes(t, t->head, t->head_n);
	build_bytes(t, t->body, t->body_n);
}

static inline void build_event_v(struct build *t, uint8_t type, const uint64_t *v, size_t n)
{
	build_byte(t, type);
	for (size_t i = 0; i < n; i++)
		build_number(t, v[i]);
}

/* An event: time since the last, arguments. */
#define EV(t, type, ...) do { \
	const uint64_t v_[] = { __VA_ARGS__ }; \
	build_event_v(t, type, v_, sizeof(v_) / sizeof(*v_)); \
} while (0)

static inline void build_string(struct build *t, uint64_t id, const char *s)
{
	build_byte(t, GPROF_EV_STRING);
	build_number(t, id);
	build_number(t, strlen(s));
	build_put(t, s, strlen(s));
}

/* A string table of one batch: ids from 1 on. */
#define STRINGS(t, gen, ...) do { \
	const char *const s_[] = { __VA_ARGS__ }; \
	build_begin(t, gen, NONE, 1); \
	build_byte(t, GPROF_EV_STRINGS); \
	for (size_t i_ = 0; i_ < sizeof(s_) / sizeof(*s_); i_++) \
		build_string(t, i_ + 1, s_[i_]); \
	build_end(t); \
} while (0)

/* A clock whose units are ns. */
static inline void build_clock(struct build *t, unsigned int version, uint64_t gen)
{
	build_begin(t, gen, NONE, 1);
	if (version >= 25)
		build_byte(t, GPROF_EV_SYNC);
	build_byte(t, GPROF_EV_FREQUENCY);
	build_number(t, 1000000000);
	if (version >= 25)
		EV(t, GPROF_EV_CLOCK_SNAPSHOT, 9, 5000, 1700000000, 42);
	build_end(t);
}

/* What every generation of a trace with one proc and one goroutine begins with. */
static inline void build_status(struct build *t)
{
	EV(t, GPROF_EV_PROC_STATUS, 1, 0, GPROF_PROC_RUNNING);
	EV(t, GPROF_EV_GO_STATUS, 1, 1, 0, GPROF_GO_RUNNING);
}

#endif /* GPROF_TRACE_BUILD_H */
