// SPDX-License-Identifier: GPL-2.0-only
/*
 * elf_fuzz: any bytes at all, as a file whose functions are looked up: symbols,
 * lines, inlined functions, and what the unwind table says of a caller.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "symbol/symbolizer.h"

#define CHECK(x)	do { if (!(x)) { fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #x); \
				abort(); } } while (0)

static void look_up(struct gprof_symbolizer *s, uint64_t addr)
{
	struct gprof_symbol_frame f[GPROF_FRAMES_MAX];
	bool inlines;
	size_t i, nr = gprof_symbolizer_frames(s, addr, f, &inlines);

	CHECK(nr <= GPROF_FRAMES_MAX);
	for (i = 0; i < nr; i++)
		CHECK(f[i].name && strlen(f[i].name) + (f[i].file ? strlen(f[i].file) : 0) < 1U << 20);
	CHECK(gprof_symbolizer_caller(s, addr, true) == gprof_symbolizer_caller(s, addr, true));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int fd = -1;
	struct gprof_symbolizer *s;

	if (fd < 0)
		fd = memfd_create("elf", MFD_CLOEXEC);
	CHECK(fd >= 0 && !ftruncate(fd, 0) && pwrite(fd, data, size, 0) == (ssize_t)size);
	s = gprof_symbolizer_open(fd, NULL, 0);
	if (!s)
		return 0;
	for (uint64_t addr = 0; addr < 0x2000; addr += 0x47)
		look_up(s, addr);
	look_up(s, UINT64_MAX);
	gprof_symbolizer_close(s);
	return 0;
}
