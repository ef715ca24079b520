// SPDX-License-Identifier: GPL-2.0-only
/* perf_map_fuzz: any bytes at all, read as a map of generated code. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "symbol/perf_map.h"

#define CHECK(x)	do { if (!(x)) { fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #x); \
				abort(); } } while (0)

static char path[64] = "/dev/shm/perf-map-fuzz.XXXXXX";

static void drop_file(void)
{
	unlink(path);
}

/* A regular file by its own name, for the map must be one. */
static const char *file_of(const uint8_t *data, size_t size)
{
	static int fd = -1;

	if (fd < 0) {
		fd = mkstemp(path);
		CHECK(fd >= 0);
		atexit(drop_file);
	}
	CHECK(!ftruncate(fd, 0) && pwrite(fd, data, size, 0) == (ssize_t)size);
	return path;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct gprof_perf_map m = { 0 };
	uint64_t addr = 0;

	int err = gprof_perf_map_read(&m, file_of(data, size), getuid(), 0);

	CHECK(!err || err == -EFBIG);
	if (!err) {
		/* Addresses that the file may name, and their neighbours. */
		for (size_t i = 0; i < size; i++) {
			const char *name;

			addr = addr << 4 | (data[i] & 15);
			name = gprof_perf_map_find(&m, addr);
			CHECK(!name || strlen(name) <= size);
		}
		gprof_perf_map_find(&m, 0);
		gprof_perf_map_find(&m, UINT64_MAX);
	}
	gprof_perf_map_free(&m);
	return 0;
}
