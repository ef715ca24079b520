// SPDX-License-Identifier: GPL-2.0-only
/* jitdump_fuzz: any bytes at all, read as a dump of generated code. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "symbol/jitdump.h"

#define CHECK(x)	do { if (!(x)) { fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #x); \
				abort(); } } while (0)

#define PID	7	/* as in the corpus */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("jitdump", MFD_CLOEXEC), err;
	struct gprof_jitdump j;
	uint64_t addr = 0;

	CHECK(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	err = gprof_jitdump_read(&j, fd, PID);
	CHECK(!err || err == -EFBIG || err == -EINVAL || err == -ESRCH);
	close(fd);
	/* Addresses that the file may name, and their neighbours. */
	for (size_t i = 0; i < size && !err; i++) {
		struct gprof_jit_code code;

		addr = addr >> 8 | (uint64_t)data[i] << 56;
		/* Times that the file may have as well. */
		CHECK(gprof_jitdump_find(&j, addr, addr, addr + i, &code) ==
		      gprof_jitdump_find(&j, addr, 0, 0, &(struct gprof_jit_code){ 0 }));
		CHECK(!code.name || strlen(code.name) <= size);
		CHECK(code.name || (!code.file && !code.line));
		CHECK(!code.file || strlen(code.file) <= size);
	}
	gprof_jitdump_free(&j);
	return 0;
}
