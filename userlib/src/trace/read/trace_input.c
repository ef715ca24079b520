// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * trace_input.c: the bytes of a trace, from a file, a pipe, memory or a function.
 */
#include "trace_input.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gprof/trace.h>

#include "base/read_at.h"

#define ROOM		(2 * GPROF_TRACE_BATCH_MAX)
#define FILE_READ	512	/* a batch's head needs little, and its body is elsewhere needed */
#define STREAM_READ	65536

void gprof_trace_input_memory(struct gprof_trace_input *in, const void *data, size_t len)
{
	in->kind = GPROF_TRACE_INPUT_MEMORY;
	in->p = data;
	in->avail = len;
	in->ended = true;
}

static int alloc_buffer(struct gprof_trace_input *in)
{
	in->buf = gprof_trace_alloc(in->memory, ROOM);
	if (!in->buf)
		return -errno;
	in->p = in->buf;
	return 0;
}

int gprof_trace_input_fd(struct gprof_trace_input *in, int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	in->fd = fd;
	in->kind = GPROF_TRACE_INPUT_STREAM;
	if (S_ISREG(st.st_mode)) {
		in->base = lseek(fd, 0, SEEK_CUR);
		if (in->base >= 0)
			in->kind = GPROF_TRACE_INPUT_FILE;
	}
	return alloc_buffer(in);
}

int gprof_trace_input_stream(struct gprof_trace_input *in,
			     ssize_t (*read)(void *ctx, void *buf, size_t len), void *ctx)
{
	in->kind = GPROF_TRACE_INPUT_STREAM;
	in->read = read;
	in->ctx = ctx;
	return alloc_buffer(in);
}

void gprof_trace_input_free(struct gprof_trace_input *in)
{
	gprof_trace_release(in->memory, in->buf, ROOM);
	gprof_trace_arena_free(in->memory, &in->held);
	memset(in, 0, sizeof(*in));
}

static ssize_t read_some(const struct gprof_trace_input *in, void *buf, size_t n)
{
	ssize_t ret;

	if (in->read) {
		ret = in->read(in->ctx, buf, n);
		return ret > (ssize_t)n ? -EINVAL : ret;
	}
	do {
		if (in->kind == GPROF_TRACE_INPUT_FILE)
			ret = pread(in->fd, buf, n, in->base + (off_t)(in->offset + in->avail));
		else
			ret = read(in->fd, buf, n);
	} while (ret < 0 && errno == EINTR);
	return ret < 0 ? -errno : ret;
}

int gprof_trace_input_want(struct gprof_trace_input *in, size_t n)
{
	if (in->avail >= n || in->ended)
		return 0;
	memmove(in->buf, in->p, in->avail);
	in->p = in->buf;
	while (in->avail < n) {
		size_t step = in->kind == GPROF_TRACE_INPUT_FILE ? FILE_READ : STREAM_READ;
		ssize_t got;

		if (step < n - in->avail)
			step = n - in->avail;
		if (step > ROOM - in->avail)
			step = ROOM - in->avail;
		got = read_some(in, in->buf + in->avail, step);
		if (got < 0)
			return (int)got;
		if (!got) {
			in->ended = true;
			return 0;
		}
		in->avail += (size_t)got;
	}
	return 0;
}

void gprof_trace_input_consume(struct gprof_trace_input *in, size_t n)
{
	in->p += n;
	in->avail -= n;
	in->offset += n;
}

/* Is there a byte at this distance? The last of a batch stands for all of it. */
static int file_reaches(const struct gprof_trace_input *in, size_t n)
{
	unsigned char last;
	ssize_t ret;

	do
		ret = pread(in->fd, &last, 1, in->base + (off_t)(in->offset + n - 1));
	while (ret < 0 && errno == EINTR);
	return ret < 0 ? -errno : (int)ret;
}

int gprof_trace_input_hold(struct gprof_trace_input *in, size_t n, union gprof_trace_held *held)
{
	unsigned char *copy;
	int ret;

	if (in->kind == GPROF_TRACE_INPUT_FILE) {
		held->offset = in->offset;
		if (n <= in->avail) {
			gprof_trace_input_consume(in, n);
			return 1;
		}
		ret = file_reaches(in, n);
		if (ret <= 0)
			return ret;
		in->offset += n;
		in->avail = 0;
		in->p = in->buf;
		return 1;
	}
	ret = gprof_trace_input_want(in, n);
	if (ret)
		return ret;
	if (in->avail < n)
		return 0;
	held->p = in->p;
	if (in->kind == GPROF_TRACE_INPUT_STREAM) {
		copy = gprof_trace_arena_alloc(in->memory, &in->held, n);
		if (!copy)
			return -errno;
		memcpy(copy, in->p, n);
		held->p = copy;
	}
	gprof_trace_input_consume(in, n);
	return 1;
}

void gprof_trace_input_unhold(struct gprof_trace_input *in)
{
	gprof_trace_arena_clear(in->memory, &in->held);
}

int gprof_trace_input_read(const struct gprof_trace_input *in, uint64_t offset, void *buf,
			   size_t n)
{
	int err = gprof_read_at(in->fd, buf, n, (uint64_t)in->base + offset);

	/* it was longer a moment ago */
	return err == -ENODATA ? -EIO : err;
}
