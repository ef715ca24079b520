// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * real_alloc.c: the allocator behind the shim.
 *
 * Looking for them may allocate: until they are known memory comes from a reserve, which
 * is never freed.
 */
#include "shim.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <sys/auxv.h>

#define RESERVE		65536
#define ALIGN		16

/* Not there where a program is linked to an old C library. */
#pragma weak dlsym
#pragma weak dladdr
#pragma weak dlopen
#pragma weak dlclose
#pragma weak getauxval
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

static void *boot_alloc(size_t align, size_t n)
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
	return shim_resolve() ? shim_real.malloc(n) : boot_alloc(ALIGN, n);
}

static void *boot_calloc(size_t n, size_t size)
{
	size_t bytes;

	if (shim_resolve())
		return shim_real.calloc(n, size);
	/* It was never used. */
	return __builtin_mul_overflow(n, size, &bytes) ? NULL : boot_alloc(ALIGN, bytes);
}

static void *boot_realloc(void *p, size_t n)
{
	return shim_resolve() ? shim_real.realloc(p, n) : p ? NULL : boot_alloc(ALIGN, n);
}

static void *boot_reallocarray(void *p, size_t n, size_t size)
{
	return shim_resolve() ? shim_real.reallocarray(p, n, size) : NULL;
}

static void *boot_memalign(size_t align, size_t n)
{
	return shim_resolve() ? shim_real.memalign(align, n) : boot_alloc(align, n);
}

static void *boot_aligned_alloc(size_t align, size_t n)
{
	return shim_resolve() ? shim_real.aligned_alloc(align, n) : boot_alloc(align, n);
}

static int boot_posix_memalign(void **p, size_t align, size_t n)
{
	if (shim_resolve())
		return shim_real.posix_memalign(p, align, n);
	*p = boot_alloc(align, n);
	return *p ? 0 : ENOMEM;
}

static void *boot_valloc(size_t n)
{
	return shim_resolve() ? shim_real.valloc(n) : boot_alloc(4096, n);
}

static void *boot_pvalloc(size_t n)
{
	return shim_resolve() ? shim_real.pvalloc(n) : boot_alloc(4096, n);
}

static void boot_free(void *p)
{
	if (shim_resolve())
		shim_real.free(p);
}

static size_t boot_usable(void *p)
{
	(void)p;
	return 0;
}

/* ---- fallbacks for missing functions ---- */

static void *plain_reallocarray(void *p, size_t n, size_t size)
{
	(void)p;
	(void)n;
	(void)size;
	/* The caller has checked for overflow. */
	errno = ENOMEM;
	return NULL;
}

/* Memory that is fresh is zero, and not to be had before it is used. */
static void *plain_calloc(size_t n, size_t size)
{
	size_t bytes, i;
	uint64_t *p;

	if (__builtin_mul_overflow(n, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	p = shim_real.malloc(bytes);
	for (i = 0; p && i < bytes / sizeof(*p); i++) {
		if (p[i])
			p[i] = 0;
	}
	for (i *= sizeof(*p); p && i < bytes; i++)
		((char *)p)[i] = 0;
	return p;
}

static void *plain_aligned_alloc(size_t align, size_t n)
{
	return shim_real.memalign(align, n);
}

static int plain_posix_memalign(void **p, size_t align, size_t n)
{
	void *q;

	if (align < sizeof(void *) || align & (align - 1))
		return EINVAL;
	q = shim_real.memalign(align, n);
	if (!q)
		return ENOMEM;
	*p = q;
	return 0;
}

static void *plain_valloc(size_t n)
{
	return shim_real.memalign(shim_real.page, n);
}

static void *plain_pvalloc(size_t n)
{
	return shim_real.memalign(shim_real.page, (n + shim_real.page - 1) & ~(shim_real.page - 1));
}

static void plain_free(void *p)
{
	shim_real.free(p);
}

static void plain_free_sized(void *p, size_t n)
{
	(void)n;
	shim_real.free(p);
}

static void plain_free_aligned_sized(void *p, size_t align, size_t n)
{
	(void)align;
	(void)n;
	shim_real.free(p);
}

static void plain_dallocx(void *p, int flags)
{
	(void)flags;
	shim_real.free(p);
}

static void plain_sdallocx(void *p, size_t n, int flags)
{
	(void)n;
	(void)flags;
	shim_real.free(p);
}

static void *plain_rallocx(void *p, size_t n, int flags)
{
	(void)flags;
	return shim_real.realloc(p, n);
}

static size_t plain_xallocx(void *p, size_t n, size_t extra, int flags)
{
	(void)n;
	(void)extra;
	(void)flags;
	return shim_real.usable(p);
}

/* ---- */

struct shim_real shim_real = {
	.free_sized = plain_free_sized,
	.free_aligned_sized = plain_free_aligned_sized,
	.dallocx = plain_dallocx,
	.sdallocx = plain_sdallocx,
	.rallocx = plain_rallocx,
	.xallocx = plain_xallocx,
	.tc_free = plain_free,
	.tc_cfree = plain_free,
	.tc_free_sized = plain_free_sized,
	.page = 4096,
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

static const void *base_of(const void *code)
{
	Dl_info info;

	return dladdr && dladdr(code, &info) ? info.dli_fbase : NULL;
}

/* Where a file lies of which @base is the beginning. */
static void set_range(struct shim_real *found, const char *base)
{
	const ElfW(Ehdr) *h = (const ElfW(Ehdr) *)base;
	const ElfW(Phdr) *p;
	uintptr_t from = UINTPTR_MAX, to = 0;
	int i;

	if (!base || h->e_ident[0] != ELFMAG0 || h->e_ident[1] != ELFMAG1 ||
	    h->e_ident[2] != ELFMAG2 || h->e_ident[3] != ELFMAG3)
		return;
	p = (const ElfW(Phdr) *)(base + h->e_phoff);
	for (i = 0; i < h->e_phnum; i++) {
		if (p[i].p_type != PT_LOAD)
			continue;
		if (p[i].p_vaddr < from)
			from = p[i].p_vaddr;
		if (p[i].p_vaddr + p[i].p_memsz > to)
			to = p[i].p_vaddr + p[i].p_memsz;
	}
	from &= ~(uintptr_t)(found->page - 1);
	if (from >= to)
		return;
	found->start = (uintptr_t)base;
	found->end = (uintptr_t)base + (to - from);
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
	struct shim_real found = { 0 };
	const void *base;

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
	FIND(free_sized, "free_sized", plain_free_sized);
	FIND(free_aligned_sized, "free_aligned_sized", plain_free_aligned_sized);
	FIND(dallocx, "dallocx", plain_dallocx);
	FIND(sdallocx, "sdallocx", plain_sdallocx);
	FIND(rallocx, "rallocx", plain_rallocx);
	FIND(xallocx, "xallocx", plain_xallocx);
	FIND(tc_free, "tc_free", plain_free);
	FIND(tc_cfree, "tc_cfree", plain_free);
	FIND(tc_free_sized, "tc_free_sized", plain_free_sized);
	FIND(mmap, "mmap", NULL);
	FIND(munmap, "munmap", NULL);
	FIND(mremap, "mremap", NULL);
	/* An allocator need not have it, and the C library's would not be its. */
	if (!found.memalign)
		found.memalign = found.aligned_alloc;
	/*
	 * In musl these call each other by the names that are ours: calloc() calls malloc(),
	 * all that aligns aligned_alloc().
	 */
	if (dlsym && !next("gnu_get_libc_version", NULL) &&
	    base_of((const void *)found.malloc) == base_of(next("__libc_start_main", NULL))) {
		found.calloc = plain_calloc;
		found.memalign = found.aligned_alloc;
		found.posix_memalign = plain_posix_memalign;
		found.valloc = plain_valloc;
	}
	found.page = getauxval ? getauxval(AT_PAGESZ) : 4096;
	base = base_of((const void *)found.malloc);
	/* An allocator may have mmap() too, but no beginning of programs. */
	if (base != base_of(next("__libc_start_main", (void *)found.malloc)))
		set_range(&found, base);
	if (base_of((const void *)found.usable) != base)
		found.usable = boot_usable;
	shim_real = found;
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

void *shim_operator_of(const char *name, const void *caller)
{
	Dl_info info;
	void *h, *p;

	if (!dladdr || !dlopen || !dlsym || !dladdr(caller, &info))
		return NULL;
	h = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
	p = h ? dlsym(h, name) : NULL;
	if (h && dlclose)
		dlclose(h);
	return p;
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
	*own = p && shim_is_allocators(p);
	return p;
}
