// SPDX-License-Identifier: GPL-2.0-only
/* fuzz_alloc.c: what is probed is our own allocator, or a file of bytes at random. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include "fuzz_alloc.h"
#include "probed.h"

#define CODE	65536

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int exe, code, data;
static uint64_t offsets[GPROF_ALLOC_FN_LAST + 1];

/* A file with such bytes; one half of it is mapped as code. */
static int file_of_bytes(void)
{
	struct draw d = { .state = 1 };
	char path[] = "/tmp/fuzz_alloc.XXXXXX";
	int fd = mkostemp(path, O_CLOEXEC), i;
	uint64_t bytes[64];

	for (i = 0; i < 64; i++)
		bytes[i] = draw(&d);
	if (fd < 0)
		return -1;
	unlink(path);
	for (i = 0; i < CODE / (int)sizeof(bytes); i++)
		if (write(fd, bytes, sizeof(bytes)) != sizeof(bytes))
			break;
	mmap(NULL, CODE / 2, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	return fd;
}

static void begin(void)
{
	exe = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	data = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	code = file_of_bytes();
	offsets[GPROF_ALLOC_FN_MALLOC] = probed_offset_of(malloc);
	offsets[GPROF_ALLOC_FN_CALLOC] = probed_offset_of(calloc);
	offsets[GPROF_ALLOC_FN_REALLOC] = probed_offset_of(realloc);
	offsets[GPROF_ALLOC_FN_REALLOCARRAY] = probed_offset_of(reallocarray);
	offsets[GPROF_ALLOC_FN_ALIGNED] = probed_offset_of(aligned_alloc);
	offsets[GPROF_ALLOC_FN_POSIX_MEMALIGN] = probed_offset_of(posix_memalign);
	offsets[GPROF_ALLOC_FN_FREE] = probed_offset_of(free);
}

/* Of our own code the begin of a function alone: in the middle of an instruction we would end. */
static void draw_function(struct draw *d, struct gprof_alloc_function *f)
{
	f->role = 1 + below(d, GPROF_ALLOC_FN_LAST);
	f->fd = exe;
	f->offset = offsets[1 + below(d, GPROF_ALLOC_FN_LAST)];
	if (one_in(d, 2))
		f->offset = offsets[f->role];
	if (one_in(d, 8)) {
		f->fd = code;
		f->offset = one_in(d, 8) ? below(d, CODE) : below(d, CODE / 8) * 4;
	}
	if (one_in(d, 32)) {
		f->fd = ONE_OF(d, data, code, -1, 12345, INT32_MIN);
		f->offset = ONE_OF(d, 0, 1, CODE - 1, CODE, 1ULL << 40, 1ULL << 63, UINT64_MAX);
	}
	if (one_in(d, 32))
		f->role = ONE_OF(d, 0, GPROF_ALLOC_FN_LAST + 1, UINT32_MAX);
}

void fuzz_alloc(struct draw *d, struct gprof_alloc_params *p,
		struct gprof_alloc_function functions[FUZZ_FUNCTIONS])
{
	pthread_once(&once, begin);
	*p = (struct gprof_alloc_params){
		.size = sizeof(*p),
		.flags = ONE_OF(d, 1, 2, 3, GPROF_ALLOC_F_PROGRAM, GPROF_ALLOC_F_PROGRAM,
				GPROF_ALLOC_F_PROGRAM | GPROF_ALLOC_F_KEEP,
				GPROF_ALLOC_F_PROBES, GPROF_ALLOC_F_PROBES, GPROF_ALLOC_F_PROBES),
		.period = ONE_OF(d, 1, 100, 4096, 4096, 1 << 20, 1ULL << 40, 0, UINT64_MAX),
		.slots = one_in(d, 2) ? 0 : ONE_OF(d, 1, 16, 1000, 1 << 22, (1 << 22) + 1, UINT32_MAX),
	};
	if (one_in(d, 8))
		p->flags = below(d, 2 * (__GPROF_ALLOC_F_ALL + 1));
	if (p->flags & GPROF_ALLOC_F_PROBES || one_in(d, 16)) {
		p->functions = (uintptr_t)functions;
		p->nr_functions = 1 + below(d, FUZZ_FUNCTIONS);
	}
	for (unsigned int i = 0; i < FUZZ_FUNCTIONS; i++)
		draw_function(d, &functions[i]);
	if (one_in(d, 32))
		p->functions = ONE_OF(d, 0, 1, -8, 0xffff888000000000ULL, draw(d));
	if (one_in(d, 32))
		p->nr_functions = ONE_OF(d, 0, GPROF_ALLOC_FUNCTIONS_MAX, GPROF_ALLOC_FUNCTIONS_MAX + 1,
					 UINT32_MAX);
	if (one_in(d, 32))
		p->size = ONE_OF(d, 0, GPROF_ALLOC_PARAMS_SIZE_VER0, GPROF_ALLOC_PARAMS_SIZE_VER1,
				 sizeof(*p) - 4, sizeof(*p) + 8, 4096, 4097, UINT32_MAX);
	if (one_in(d, 32))
		p->__reserved2 = draw(d);
}
