// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * next.c: whom to pass calls on to.
 *
 * Looking for them may allocate: until they are known memory comes from a reserve, which
 * is never freed.
 */
#include "shim.h"

#include <dlfcn.h>
#include <errno.h>

#define RESERVE		65536
#define ALIGN		16

/* Not there where a program is linked to an old C library. */
#pragma weak dlsym
#pragma weak dladdr
#pragma weak dlopen
void *__libc_malloc(size_t n) __attribute__((weak));
void *__libc_calloc(size_t n, size_t size) __attribute__((weak));
void *__libc_realloc(void *p, size_t n) __attribute__((weak));
void *__libc_memalign(size_t align, size_t n) __attribute__((weak));
void __libc_free(void *p) __attribute__((weak));

static char reserve[RESERVE] __attribute__((aligned(4096)));
static size_t used;

bool shim_is_boot(const void *p)
{
	return (const char *)p >= reserve && (const char *)p < reserve + RESERVE;
}

/* How much of the reserve lies behind it: as much may be read. */
size_t shim_boot_usable(const void *p)
{
	return (size_t)(reserve + RESERVE - (const char *)p);
}

static void *take(size_t align, size_t n)
{
	size_t at, end;

	if (align < ALIGN)
		align = ALIGN;
	do {
		at = __atomic_load_n(&used, __ATOMIC_RELAXED);
		end = (at + align - 1) & ~(align - 1);
		if (n > RESERVE || end > RESERVE - n)
			return NULL;
	} while (!__atomic_compare_exchange_n(&used, &at, end + n + !n, false, __ATOMIC_RELAXED,
					      __ATOMIC_RELAXED));
	shim_cell_mark(reserve + end);
	return reserve + end;
}

/* Wherever something may begin. */
void shim_boot_mark(void)
{
	size_t i;

	for (i = 0; i < used; i += ALIGN)
		shim_cell_mark(reserve + i);
}

/* ---- until they are known ---- */

static void *boot_malloc(size_t n)
{
	return shim_resolve() ? shim_next.malloc(n) : take(ALIGN, n);
}

static void *boot_calloc(size_t n, size_t size)
{
	size_t bytes;

	if (shim_resolve())
		return shim_next.calloc(n, size);
	/* It was never used. */
	return __builtin_mul_overflow(n, size, &bytes) ? NULL : take(ALIGN, bytes);
}

static void *boot_realloc(void *p, size_t n)
{
	return shim_resolve() ? shim_next.realloc(p, n) : p ? NULL : take(ALIGN, n);
}

static void *boot_reallocarray(void *p, size_t n, size_t size)
{
	return shim_resolve() ? shim_next.reallocarray(p, n, size) : NULL;
}

static void *boot_memalign(size_t align, size_t n)
{
	return shim_resolve() ? shim_next.memalign(align, n) : take(align, n);
}

static void *boot_aligned_alloc(size_t align, size_t n)
{
	return shim_resolve() ? shim_next.aligned_alloc(align, n) : take(align, n);
}

static int boot_posix_memalign(void **p, size_t align, size_t n)
{
	if (shim_resolve())
		return shim_next.posix_memalign(p, align, n);
	*p = take(align, n);
	return *p ? 0 : ENOMEM;
}

static void *boot_valloc(size_t n)
{
	return shim_resolve() ? shim_next.valloc(n) : take(4096, n);
}

static void *boot_pvalloc(size_t n)
{
	return shim_resolve() ? shim_next.pvalloc(n) : take(4096, n);
}

static void boot_free(void *p)
{
	if (shim_resolve())
		shim_next.free(p);
}

static size_t boot_usable(void *p)
{
	(void)p;
	return 0;
}

struct shim_next shim_next = {
	.malloc = boot_malloc,
	.calloc = boot_calloc,
	.realloc = boot_realloc,
	.reallocarray = boot_reallocarray,
	.memalign = boot_memalign,
	.aligned_alloc = boot_aligned_alloc,
	.posix_memalign = boot_posix_memalign,
	.valloc = boot_valloc,
	.pvalloc = boot_pvalloc,
	.free = boot_free,
	.usable = boot_usable,
};

/* ---- what there may be for want of better ---- */

static void *plain_reallocarray(void *p, size_t n, size_t size)
{
	(void)n;
	(void)size;
	/* Who calls has seen that it is too much. */
	return shim_next.realloc(p, PTRDIFF_MAX);
}

static void *plain_aligned_alloc(size_t align, size_t n)
{
	return shim_next.memalign(align, n);
}

static int plain_posix_memalign(void **p, size_t align, size_t n)
{
	void *q;

	if (align < sizeof(void *) || align & (align - 1))
		return EINVAL;
	q = shim_next.memalign(align, n);
	if (!q)
		return ENOMEM;
	*p = q;
	return 0;
}

static void *plain_valloc(size_t n)
{
	return shim_next.memalign(4096, n);
}

static void *plain_pvalloc(size_t n)
{
	return shim_next.memalign(4096, (n + 4095) & ~(size_t)4095);
}

/* ---- */

static void *base_of(const void *code)
{
	Dl_info info;

	return dladdr && dladdr(code, &info) ? info.dli_fbase : NULL;
}

static void *next(const char *name, void *otherwise)
{
	void *p = dlsym ? dlsym(RTLD_NEXT, name) : NULL;

	return p ? p : otherwise;
}

#define FIND(_name, _symbol, _otherwise)					\
	found._name = (__typeof__(found._name))next(_symbol, (void *)(_otherwise))

static void find(void)
{
	struct shim_next found = { 0 };

	FIND(malloc, "malloc", __libc_malloc);
	FIND(calloc, "calloc", __libc_calloc);
	FIND(realloc, "realloc", __libc_realloc);
	FIND(free, "free", __libc_free);
	FIND(memalign, "memalign", __libc_memalign);
	FIND(reallocarray, "reallocarray", plain_reallocarray);
	FIND(aligned_alloc, "aligned_alloc", plain_aligned_alloc);
	FIND(posix_memalign, "posix_memalign", plain_posix_memalign);
	FIND(valloc, "valloc", plain_valloc);
	FIND(pvalloc, "pvalloc", plain_pvalloc);
	FIND(usable, "malloc_usable_size", boot_usable);
	FIND(mmap, "mmap", NULL);
	FIND(munmap, "munmap", NULL);
	FIND(mremap, "mremap", NULL);
	/* An allocator need not have it, and the C library's would not be its. */
	if (!found.memalign)
		found.memalign = found.aligned_alloc;
	found.base = base_of((const void *)found.malloc);
	found.is_libc = found.base == base_of((const void *)found.mmap);
	if (base_of((const void *)found.usable) != found.base)
		found.usable = boot_usable;
	shim_next = found;
}

bool shim_resolve(void)
{
	static int state;
	int is = 0;

	if (__atomic_load_n(&state, __ATOMIC_ACQUIRE) == 2)
		return true;
	if (!__atomic_compare_exchange_n(&state, &is, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE))
		return is == 2;
	find();
	__atomic_store_n(&state, 2, __ATOMIC_RELEASE);
	return true;
}

bool shim_is_allocators(const void *code)
{
	return !shim_next.is_libc && base_of(code) == shim_next.base;
}

void *shim_operator(const char *name, bool *own)
{
	static const char *const libraries[] = { "libstdc++.so.6", "libc++.so.1" };
	void *p = next(name, NULL);
	size_t i;

	/* A library of C++ that was loaded later, and not for all, is not behind us. */
	for (i = 0; !p && dlopen && dlsym && i < sizeof(libraries) / sizeof(libraries[0]); i++) {
		void *h = dlopen(libraries[i], RTLD_LAZY | RTLD_NOLOAD);

		if (h)
			p = dlsym(h, name);
	}
	*own = p && !shim_next.is_libc && base_of(p) == shim_next.base;
	return p;
}
