// SPDX-License-Identifier: GPL-2.0-only
/*
 * Profiles and traces to items of a store.
 */
#include "item_make.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/diag.h"
#include "memory_trim.h"
#include "store/store_dir.h"

void item_host(char host[ITEM_HOST])
{
	if (gethostname(host, ITEM_HOST))
		host[0] = '\0';
	host[ITEM_HOST - 1] = '\0';
	for (char *at = host; *at; at++)
		if (!isalnum((unsigned char)*at) && *at != '.' && *at != '-')
			*at = '-';
	if (!*host)
		strcpy(host, "localhost");
}

/**
 * struct bytes - a file in the making
 * @v: bytes
 * @nr: how many
 * @room: there is memory for
 */
struct bytes {
	char *v;
	size_t nr, room;
};

static int add_bytes(void *ctx, const void *data, size_t len)
{
	struct bytes *b = ctx;
	char *more;

	if (b->nr + len > b->room) {
		b->room = 2 * (b->nr + len);
		more = realloc(b->v, b->room);
		if (!more)
			return -ENOMEM;
		b->v = more;
	}
	memcpy(b->v + b->nr, data, len);
	b->nr += len;
	return 0;
}

int item_put_profile(struct store *s, struct gprof_profile *p, const char *type,
		     const char *host)
{
	struct item_name n = { .form = ITEM_PROFILE };
	int64_t start = 0, duration = 0;
	struct gprof_profile_stack sample;
	struct bytes b = { 0 };
	int err;

	snprintf(n.type, sizeof(n.type), "%s", type);
	snprintf(n.host, sizeof(n.host), "%s", host);
	gprof_profile_time(p, &start, &duration);
	n.start_ns = start > 0 ? (uint64_t)start : 0;
	n.duration_ns = duration > 0 ? (uint64_t)duration : 0;
	while (!gprof_profile_stack(p, n.samples, &sample))
		n.samples++;
	err = gprof_profile_write_to(p, add_bytes, &b);
	/* Without memory it counts as dropped, as an item that is too large for any store does. */
	err = err ? store_put(s, &n, NULL, ITEM_BYTES_MAX + 1, p) :
		    store_put(s, &n, b.v, b.nr, p);
	free(b.v);
	/* Names of many files were read for it. */
	memory_trim();
	return err;
}

int item_put_rollup(struct store *s, const struct gprof_profile *p, struct item_name *n)
{
	struct bytes b = { 0 };
	int err = gprof_profile_write_to(p, add_bytes, &b);

	if (!err)
		err = store_put_rollup(s, n, b.v, b.nr);
	free(b.v);
	return err;
}

int item_put_trace(struct store *s, int fd, uint64_t start_ns, uint64_t duration_ns,
		   const char *host)
{
	struct item_name n = {
		.form = ITEM_TRACE, .type = "trace", .start_ns = start_ns,
		.duration_ns = duration_ns,
	};
	void *data = MAP_FAILED;
	size_t size = ITEM_BYTES_MAX + 1;
	struct stat st;
	int err;

	snprintf(n.host, sizeof(n.host), "%s", host);
	if (!fstat(fd, &st) && st.st_size > 0 && st.st_size <= ITEM_BYTES_MAX) {
		size = (size_t)st.st_size;
		data = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
	}
	err = store_put(s, &n, data, data == MAP_FAILED ? ITEM_BYTES_MAX + 1 : size, NULL);
	if (data != MAP_FAILED)
		munmap(data, size);
	return err;
}
