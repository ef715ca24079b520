// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * buffer.c: the reader's half of the kernel's rings.
 *
 * The order of accesses, from <linux/gprof.h>, kernel | reader:
 *
 *	fill records		|	load-acquire head	C
 *	store-release head  A	|	read records
 *	load tail           B	|	store-release tail	D
 *
 * A pairs with C: a reader that sees the new head sees the records before it. D pairs with B: the
 * records are read before the kernel, which writes to the freed space only in dependence on the
 * tail that it loaded, can reuse their place. Flight mode:
 *
 *	store oldest		|	copy records
 *	write barrier       E	|	read barrier		F
 *	overwrite records	|	load oldest
 *
 * E pairs with F: if the copy got a byte that was written over a generation,
 * the oldest that is loaded after it lies behind that generation.
 *
 * The kernel is the only writer of head and data, the reader of tail. Each record is still
 * checked, since a corrupt ring must end in an error and not in a crash of the program that
 * records itself.
 */
#include "buffer.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Bytes of a copy that are freed at a time */
#define USED_MIN	(1UL << 20)

static uint64_t load(const __u64 *p, memory_order order)
{
	return atomic_load_explicit((const _Atomic uint64_t *)p, order);
}

/* Bytes of the record at @rec, of which @avail are there; 0 when it makes no sense. */
static uint32_t record_size(const struct gprof_rec *rec, uint64_t avail)
{
	uint32_t size;

	if (avail < sizeof(*rec))
		return 0;
	size = rec->type & GPROF_REC_SHORT ? 8 : rec->size;
	if (size < sizeof(*rec) || size % 8 || size > avail)
		return 0;
	return size;
}

int gprof_ring_peek(struct gprof_ring *r, const struct gprof_rec **rec, uint32_t *size)
{
	if (r->err)
		return r->err;
	if (r->pos == r->limit) {
		r->limit = load(&r->head->head, memory_order_acquire);	/* C, pairs with A */
		if (r->pos == r->limit)
			return 0;
		if (r->limit % 8 || r->limit - r->pos > r->size) {
			r->err = -EBADMSG;
			return r->err;
		}
	}
	*rec = gprof_ring_here(r);
	*size = record_size(*rec, gprof_ring_ahead(r));
	if (!*size) {
		r->err = -EBADMSG;
		return r->err;
	}
	return 1;
}

void gprof_ring_advance(struct gprof_ring *r, uint64_t size)
{
	r->pos += size;
}

void gprof_ring_release(struct gprof_ring *r)
{
	atomic_store_explicit((_Atomic uint64_t *)&r->tail->tail, r->pos,
			      memory_order_release);	/* D, pairs with B */
}

/*
 * Copy words that the kernel may be overwriting. Each load is atomic, so that a
 * torn record is the worst that can happen, and F finds that out.
 */
static void copy_words(uint64_t *to, const unsigned char *from, size_t len)
{
	const _Atomic uint64_t *p = (const _Atomic uint64_t *)from;
	size_t i;

	for (i = 0; i < len / 8; i++)
		to[i] = atomic_load_explicit(&p[i], memory_order_relaxed);
}

int gprof_ring_bounds(const struct gprof_ring *r, struct gprof_ring_bounds *b)
{
	size_t i;

	/* Both only grow and oldest <= head: loaded in this order it stays so. */
	b->oldest = load(&r->head->oldest, memory_order_acquire);
	b->head = load(&r->head->head, memory_order_acquire);	/* C */
	b->overwritten = load(&r->head->overwritten, memory_order_relaxed);
	b->written = load(&r->head->produced, memory_order_relaxed);
	for (i = 0; i < GPROF_LOST_NR; i++)
		b->written -= load(&r->head->lost[i], memory_order_relaxed);
	return b->oldest % 8 || b->head % 8 || b->head < b->oldest ? -EBADMSG : 0;
}

int gprof_ring_copy(const struct gprof_ring *r, uint64_t from, uint64_t to, void *copy,
		    uint64_t *oldest)
{
	copy_words(copy, r->data + (from & (r->size - 1)), to - from);
	atomic_thread_fence(memory_order_acquire);	/* F, pairs with E */
	*oldest = load(&r->head->oldest, memory_order_relaxed);
	return *oldest % 8 ? -EBADMSG : 0;
}

void gprof_snapshot_free(struct gprof_snapshot *snap)
{
	free(snap->memory);
	memset(snap, 0, sizeof(*snap));
}

/* In parts that are worth a system call. */
void gprof_snapshot_used(struct gprof_snapshot *snap, size_t off)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t from = ((uintptr_t)snap->memory + page - 1) & -page;
	uintptr_t to = (uintptr_t)(snap->data + off) & -page;

	if (!snap->memory || off - snap->used < USED_MIN)
		return;
	/* It stays ours, and the kernel that refuses keeps it: a hint. */
	if (from < to)
		madvise((void *)from, to - from, MADV_DONTNEED);
	snap->used = off;
}

uint64_t gprof_snapshot_begins(const struct gprof_snapshot *snap)
{
	const struct gprof_generation_rec *rec = (const void *)snap->data;

	if (snap->len < sizeof(*rec) || rec->rec.type != GPROF_REC_GENERATION)
		return 0;
	return rec->mono_ns;
}

size_t gprof_snapshot_skip_short(const struct gprof_snapshot *snap, size_t off)
{
	while (off + sizeof(uint64_t) <= snap->len &&
	       ((const struct gprof_rec *)(snap->data + off))->type & GPROF_REC_SHORT)
		off += sizeof(uint64_t);
	return off;
}

int gprof_snapshot_next(const struct gprof_snapshot *snap, size_t *off,
			const struct gprof_rec **rec, uint32_t *size)
{
	if (*off >= snap->len)
		return 0;
	*rec = (const struct gprof_rec *)(snap->data + *off);
	*size = record_size(*rec, snap->len - *off);
	if (!*size)
		return -EBADMSG;
	*off += *size;
	return 1;
}

static void unmap_ring(struct gprof_ring *r, size_t page)
{
	if (r->map_len)
		munmap((void *)r->head, r->map_len);
	if (r->tail)
		munmap(r->tail, page);
}

/* 1, 0 when the CPU has no ring, or -errno. */
static int map_ring(struct gprof_ring *r, int fd, uint32_t cpu, const struct gprof_setup *setup,
		    size_t page, struct gprof_error *e)
{
	const struct gprof_ring_head *h;
	void *p;

	memset(r, 0, sizeof(*r));
	r->cpu = cpu;
	r->size = setup->out_data_size;
	r->map_len = page + 2 * r->size;
	p = mmap(NULL, r->map_len, PROT_READ, MAP_SHARED, fd, (off_t)GPROF_MMAP_RING(cpu));
	if (p == MAP_FAILED) {
		r->map_len = 0;
		if (errno == ENODEV)
			return 0;
		return gprof_error_set(e, errno, "CPU %u: cannot map the ring of %llu bytes (%s)",
				       cpu, (unsigned long long)r->size, gprof_strerror(errno));
	}
	h = r->head = p;
	if (h->version != GPROF_ABI_VERSION || h->header_size < sizeof(*h) || h->cpu != cpu ||
	    h->data_size != r->size || h->data_offset != page) {
		unmap_ring(r, page);
		return gprof_error_set(e, EPROTO,
				       "CPU %u: the ring describes itself in a way that this "
				       "library does not know; install module and library of one "
				       "release", cpu);
	}
	r->data = (const unsigned char *)p + page;
	if (setup->flags & GPROF_SETUP_F_FLIGHT)
		return 1;
	p = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)GPROF_MMAP_TAIL(cpu));
	if (p == MAP_FAILED) {
		int err = errno;

		unmap_ring(r, page);
		return gprof_error_set(e, err, "CPU %u: cannot map the tail page (%s)", cpu,
				       gprof_strerror(err));
	}
	r->tail = p;
	return 1;
}

int gprof_buffer_map(struct gprof_buffer *b, int fd, const struct gprof_setup *setup,
		     struct gprof_error *e)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint32_t cpu;
	int ret;

	memset(b, 0, sizeof(*b));
	if (!setup->out_data_size || setup->out_data_size & (setup->out_data_size - 1) ||
	    setup->out_data_size > SIZE_MAX / 4)
		return gprof_error_set(e, EPROTO, "SETUP answered a ring of %llu bytes",
				       (unsigned long long)setup->out_data_size);
	b->rings = calloc(setup->out_nr_cpus ? setup->out_nr_cpus : 1, sizeof(*b->rings));
	if (!b->rings)
		return gprof_error_set(e, ENOMEM, "no memory for %u rings", setup->out_nr_cpus);
	for (cpu = 0; cpu < setup->out_nr_cpus; cpu++) {
		ret = map_ring(&b->rings[b->nr], fd, cpu, setup, page, e);
		if (ret < 0) {
			gprof_buffer_unmap(b);
			return ret;
		}
		b->nr += (size_t)ret;
	}
	if (!b->nr) {
		gprof_buffer_unmap(b);
		return gprof_error_set(e, ENODEV, "no CPU has a ring");
	}
	return 0;
}

void gprof_buffer_unmap(struct gprof_buffer *b)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t i;

	for (i = 0; i < b->nr; i++)
		unmap_ring(&b->rings[i], page);
	free(b->rings);
	memset(b, 0, sizeof(*b));
}
