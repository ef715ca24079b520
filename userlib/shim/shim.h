/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * shim.h: libgprof-heap.so, between a program and its allocator: it samples allocations by bytes,
 * and reports the sampled ones and their frees to the kernel, which takes the stack.
 *
 *	hooks.c			the allocator's functions; an unsampled call goes straight on
 *	hooks_cxx.c		likewise, operators of C++
 *	sampled.c		the sampled path
 *	hooks_mmap.c		mappings
 *	partial_unmap.c		the parts that are left of them
 *	byte_sample.c		sampling by bytes
 *	alloc_report.c		the device, and the life of the process
 *	live_set.c		addresses of sampled allocations
 *	real_alloc.c		the allocator behind, and a reserve until it is found
 *
 * It is loaded into programs of any C library, and uses of it only dlsym() and the like,
 * getauxval(), and errno. It may be called in any state that malloc() may be called in, and in
 * signal handlers it does no more harm than the allocator behind it. It never allocates.
 */
#ifndef GPROF_SHIM_H
#define GPROF_SHIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXPORT		__attribute__((visibility("default")))
#define HIDDEN		__attribute__((visibility("hidden")))
#define likely(x)	__builtin_expect(!!(x), 1)
#define unlikely(x)	__builtin_expect(!!(x), 0)

/**
 * struct shim_thread - state of a thread; all 0 at first
 * @left: bytes until the next stop, which counts too; never below 0
 * @period: bytes per sample that @left was drawn for, and is at most; 0: none
 * @rest: bytes of the stretch that the last sampled byte was drawn in, behind that
 * @beyond: 0: the stop is a byte that is sampled; else so many behind it is one
 * @random: state of the generator; 0: none yet
 * @ends: the wanted period has changed: @period holds to the end of this stretch
 * @in_maps: it changes the list of mappings
 */
struct shim_thread {
	int64_t left;
	uint64_t period;
	uint64_t rest;
	uint64_t beyond;
	uint64_t random;
	bool ends;
	bool in_maps;
};

extern __thread struct shim_thread shim_thread
	__attribute__((tls_model("initial-exec"), visibility("hidden")));

/*
 * Is an allocation of @n bytes not sampled? Once for each, so that nothing is between. Unsigned:
 * an allocation of a huge size is going to fail, and leaves no more bytes.
 */
static inline __attribute__((always_inline)) bool shim_skips(size_t n)
{
	uint64_t left = (uint64_t)shim_thread.left;

	if (likely(left > n)) {
		shim_thread.left = (int64_t)(left - n);
		return true;
	}
	return false;
}

/* ---- real_alloc.c ---- */

/**
 * struct shim_real - the allocator behind us
 * @start: where its file lies; 0 where it is the C library's
 * @end: behind that
 * @page: size of a page
 */
struct shim_real {
	void *(*malloc)(size_t n);
	void *(*calloc)(size_t n, size_t size);
	void *(*realloc)(void *p, size_t n);
	void *(*reallocarray)(void *p, size_t n, size_t size);
	void *(*memalign)(size_t align, size_t n);
	void *(*aligned_alloc)(size_t align, size_t n);
	int (*posix_memalign)(void **p, size_t align, size_t n);
	void *(*valloc)(size_t n);
	void *(*pvalloc)(size_t n);
	void (*free)(void *p);
	size_t (*usable)(void *p);
	void (*free_sized)(void *p, size_t n);
	void (*free_aligned_sized)(void *p, size_t align, size_t n);
	void (*dallocx)(void *p, int flags);
	void (*sdallocx)(void *p, size_t n, int flags);
	void *(*rallocx)(void *p, size_t n, int flags);
	size_t (*xallocx)(void *p, size_t n, size_t extra, int flags);
	void (*tc_free)(void *p);
	void (*tc_cfree)(void *p);
	void (*tc_free_sized)(void *p, size_t n);
	void *(*mmap)(void *p, size_t n, int prot, int flags, int fd, long off);
	int (*munmap)(void *p, size_t n);
	void *(*mremap)(void *p, size_t from, size_t to, int flags, ...);
	uintptr_t start;
	uintptr_t end;
	size_t page;
};

extern struct shim_real shim_real HIDDEN;

/* shim_resolve() - find the allocator; false: that is under way */
bool shim_resolve(void) HIDDEN;

/* shim_is_boot() - is it memory that was handed out before that? It is never freed. */
bool shim_is_boot(const void *p) HIDDEN;
size_t shim_boot_usable(const void *p) HIDDEN;
void shim_boot_mark(void) HIDDEN;

/* shim_operator() - an operator of C++; @own: it does not come to malloc() */
void *shim_operator(const char *name, bool *own) HIDDEN;

/* shim_operator_of() - one that only the file has which @caller is in */
void *shim_operator_of(const char *name, const void *caller) HIDDEN;

/* shim_is_allocators() - does that code belong to the allocator, and not to a C library? */
static inline bool shim_is_allocators(const void *code)
{
	return (uintptr_t)code >= shim_real.start && (uintptr_t)code < shim_real.end;
}

/* ---- live_set.c ---- */

#define SHIM_CELL_BITS	15

extern uint16_t shim_cells[1 << SHIM_CELL_BITS] HIDDEN;

static inline uint64_t shim_hash(const void *p)
{
	return (uint64_t)(uintptr_t)p * 0x9e3779b97f4a7c15ULL;
}

/* shim_may_be_sampled() - may it have been sampled? Seldom true else. */
static inline bool shim_may_be_sampled(const void *p)
{
	return __atomic_load_n(&shim_cells[shim_hash(p) >> (64 - SHIM_CELL_BITS)],
			       __ATOMIC_RELAXED);
}

bool shim_set_add(const void *p) HIDDEN;
bool shim_set_has(const void *p) HIDDEN;
bool shim_set_remove(const void *p) HIDDEN;

/*
 * shim_set_hold() - it may end now: no other owner of the address gets in until one of the next
 * two
 */
bool shim_set_hold(const void *p) HIDDEN;
void shim_set_keep(const void *p) HIDDEN;
void shim_set_drop(const void *p) HIDDEN;

void shim_set_clear(void) HIDDEN;
void shim_cell_mark(const void *p) HIDDEN;

/* ---- byte_sample.c ---- */

/* shim_byte_sample_init() - @t begins to sample by @period */
void shim_byte_sample_init(struct shim_thread *t, uint64_t period) HIDDEN;

/*
 * shim_byte_sample() - for how many bytes do @n stand that come to the stop, or beyond? 0: for
 * none; a weight below the size is the size. From the next stretch on @t samples by @wanted.
 */
uint64_t shim_byte_sample(struct shim_thread *t, size_t n, uint64_t wanted) HIDDEN;
uint64_t shim_random(struct shim_thread *t) HIDDEN;

/* ---- alloc_report.c ---- */

/**
 * struct shim_caller - the caller of the allocator
 * @pc: an address in the call
 * @sp: stack pointer there
 * @fp: frame pointer there
 */
struct shim_caller {
	uint64_t pc;
	uint64_t sp;
	uint64_t fp;
};

/* Of a function with a frame record, to which others jump: they have none. */
#define SHIM_CALLER() ((struct shim_caller){					\
	.pc = (uint64_t)(uintptr_t)__builtin_return_address(0) - 1,		\
	.sp = (uint64_t)(uintptr_t)__builtin_dwarf_cfa(),			\
	.fp = *(const uint64_t *)__builtin_frame_address(0) })

/* shim_is_ready() - is the device open, and the state that of this process? A fork clears it. */
bool shim_is_ready(void) HIDDEN;

/* shim_period() - bytes per sample that a recorder wants; 0: there is none */
uint64_t shim_period(void) HIDDEN;

/*
 * Each reports to the kernel. False: no recorder took it. An allocation without room in the set
 * counts as one that does not last.
 */
bool shim_report_alloc(const void *p, size_t n, uint64_t stands_for, const struct shim_caller *c,
		       bool lasts) HIDDEN;
void shim_report_free(const void *p) HIDDEN;
void shim_report_resize(const void *p, size_t n) HIDDEN;

/* ---- sampled.c ---- */

/*
 * shim_sample() - weight of an allocation that shim_skips() did not skip, in bytes, at least its
 * size; 0: it is not sampled
 */
uint64_t shim_sample(size_t n) HIDDEN;

/* shim_report_sampled() - @p is sampled, and the program does not have it yet */
void shim_report_sampled(const void *p, size_t n, uint64_t stands_for,
			 const struct shim_caller *c) HIDDEN;

/* shim_before_free() - @p is about to be freed, and may have been sampled */
void shim_before_free(const void *p) HIDDEN;

/*
 * shim_may_free() - likewise, of any memory; false: it is from before the allocator, and not freed
 */
bool shim_may_free(void *p) HIDDEN;

void *shim_malloc(size_t n) HIDDEN;
void *shim_calloc(size_t n, size_t size) HIDDEN;
void *shim_realloc(void *p, size_t n) HIDDEN;
void *shim_realloc_unsampled(void *p, size_t n) HIDDEN;
void *shim_memalign(size_t align, size_t n) HIDDEN;
void *shim_aligned_alloc(size_t align, size_t n) HIDDEN;
int shim_posix_memalign(void **p, size_t align, size_t n) HIDDEN;
void *shim_valloc(size_t n) HIDDEN;
void *shim_pvalloc(size_t n) HIDDEN;
void *shim_rallocx(void *p, size_t n, int flags) HIDDEN;
void *shim_rallocx_unsampled(void *p, size_t n, int flags) HIDDEN;
size_t shim_xallocx(void *p, size_t n, size_t extra, int flags) HIDDEN;
void shim_free(void *p) HIDDEN;

/* ---- partial_unmap.c ---- */

/**
 * struct shim_parts - parts of mappings that were taken out
 * @first: a list of them; 0: none
 * @generation: the process that did
 */
struct shim_parts {
	uint32_t first;
	uint32_t generation;
};

bool shim_parts_any(void) HIDDEN;
void shim_parts_forget(void) HIDDEN;

/* shim_parts_add() - a new part; its number, by which it is reported; 0: there is no room */
uint64_t shim_parts_add(uintptr_t start, uintptr_t end) HIDDEN;

/* shim_parts_detach() - take out the parts there, for one of the next two */
struct shim_parts shim_parts_detach(uintptr_t start, uintptr_t end) HIDDEN;

/* shim_parts_attach() - put them back where they were, or as far from there as @to is from @from */
void shim_parts_attach(struct shim_parts taken, uintptr_t from, uintptr_t to) HIDDEN;

/* shim_parts_end() - they are unmapped, and reported */
void shim_parts_end(struct shim_parts taken, bool tell) HIDDEN;

/* ---- hooks_mmap.c ---- */

/* shim_maps_forget() - after a fork */
void shim_maps_forget(void) HIDDEN;

#endif /* GPROF_SHIM_H */
