// SPDX-License-Identifier: GPL-2.0-only
/*
 * pprof_fuzz: any bytes at all, read as a profile.
 *
 * Whatever they are: memory stays within its limit, what was read can be walked
 * over twice with the same result, what is written of it is read as the same, and each
 * of its samples is in one request of OTLP or counted as too large for one.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <gprof/otlp.h>

#include "otlp/schema.h"
#include "profile/profile.h"

#define MEMORY		(64U << 20)
#define CHECK(x)	do { if (!(x)) { fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #x); \
				abort(); } } while (0)

struct walk {
	const struct gprof_profile *p;
	uint64_t sum;
	size_t samples;
};

static uint64_t mix(uint64_t sum, uint64_t v)
{
	return (sum ^ v) * 0x9e3779b97f4a7c15ULL;
}

static uint64_t mix_text(uint64_t sum, const char *s)
{
	while (*s)
		sum = mix(sum, (unsigned char)*s++);
	return mix(sum, 256);
}

static int look(void *ctx, const struct gprof_frame *frames, size_t nr, const int64_t *values)
{
	const struct gprof_value_type *types;
	struct walk *w = ctx;
	size_t i, columns = gprof_profile_types(w->p, &types);
	const char *label;
	int64_t num = 0;

	for (i = 0; i < nr; i++) {
		w->sum = mix_text(mix_text(w->sum, frames[i].function), frames[i].file);
		w->sum = mix_text(mix(w->sum, frames[i].address), frames[i].mapping);
		w->sum = mix(w->sum, (uint64_t)frames[i].line + frames[i].inlined);
	}
	for (i = 0; i < columns; i++)
		w->sum = mix(w->sum, (uint64_t)values[i]);
	label = gprof_profile_label(w->p, "tid", &num);
	w->sum = mix_text(mix(w->sum, (uint64_t)num), label ? label : "-");
	w->samples++;
	return 0;
}

static struct walk walk(const struct gprof_profile *p)
{
	struct walk w = { .p = p };

	CHECK(!gprof_profile_each(p, look, &w));
	CHECK(w.samples == p->nr_samples);
	w.sum = mix(w.sum, gprof_profile_default_type(p));
	for (size_t i = 0; gprof_profile_comment(p, i); i++)
		w.sum = mix_text(w.sum, gprof_profile_comment(p, i));
	return w;
}

static struct gprof_profile *read_file(int fd, uint64_t memory)
{
	struct gprof_profile_opts o = { sizeof(o), memory };
	struct gprof_profile *p;

	lseek(fd, 0, SEEK_SET);
	p = gprof_profile_read_opts(fd, &o);
	if (p) {
		CHECK(p->budget.used <= p->budget.max);
	} else {
		CHECK(errno == EBADMSG || errno == EFBIG);
		CHECK(gprof_error()[0]);
	}
	return p;
}

#define REQUEST_MAX	4096

static int look_at_request(void *ctx, const struct gprof_otlp_request *r)
{
	ProtobufCMessage *m = protobuf_c_message_unpack(
		&opentelemetry__proto__collector__profiles__v1development__export_profiles_service_request__descriptor,
		NULL, r->size, r->data);

	CHECK(m && r->size <= REQUEST_MAX && r->samples && r->profiles);
	protobuf_c_message_free_unpacked(m, NULL);
	*(size_t *)ctx += r->samples;
	return 0;
}

static void export(const struct gprof_profile *p, uint32_t flags)
{
	struct gprof_otlp_opts o = { .sz = sizeof(o), .bytes_max = REQUEST_MAX, .flags = flags,
				     .host = "host", .id = (const uint8_t *)"0123456789abcdef" };
	size_t samples = 0, too_large = 0;
	int err = gprof_otlp_export(p, &o, look_at_request, &samples, &too_large);

	CHECK(err == -EFBIG || (!err && samples + too_large == p->nr_samples));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int fd = -1, copy = -1;
	struct gprof_profile *p, *q;
	struct walk a, b;

	if (fd < 0) {
		fd = memfd_create("in", MFD_CLOEXEC);
		copy = memfd_create("out", MFD_CLOEXEC);
	}
	CHECK(fd >= 0 && !ftruncate(fd, 0) && pwrite(fd, data, size, 0) == (ssize_t)size);
	p = read_file(fd, MEMORY);
	/* With little memory it is the same profile, or none. */
	q = read_file(fd, 1024 + size * 16);
	CHECK(p || !q);
	if (!p)
		return 0;
	a = walk(p);
	b = walk(p);
	CHECK(a.sum == b.sum);
	if (q)
		CHECK(walk(q).sum == a.sum);
	gprof_profile_free(q);
	if (p->nr_columns) {
		export(p, 0);
		export(p, GPROF_OTLP_NO_NAMES);
	}
	/* Compression takes most of the time. */
	if (a.sum % 16 == 0 && p->nr_columns) {
		CHECK(!ftruncate(copy, 0) && !lseek(copy, 0, SEEK_SET));
		CHECK(!gprof_profile_write(p, copy));
		q = read_file(copy, MEMORY);
		CHECK(q && walk(q).samples == a.samples && walk(q).sum == a.sum);
		gprof_profile_free(q);
	}
	gprof_profile_free(p);
	return 0;
}
