// SPDX-License-Identifier: GPL-2.0-only
/*
 * buffer_pages: one per-CPU buffer's memory.
 *
 *	kernel and user:   [head][data 0 .. n-1][data 0 .. n-1]
 *	separately:        [tail]
 *
 * The data pages stand twice in a row in both mappings, so that no record ever
 * wraps (as in kernel/bpf/ringbuf.c). Pages are split by their writers:
 * user space gets the tail page alone writable.
 */
#include "buffer_pages.h"
#include "compat/mm.h"
#include "user/memlock.h"

#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/topology.h>
#include <linux/vmalloc.h>

/* The recorder does without rather than that the OOM killer makes room for it. */
#define GFP_BUFFER	(GFP_KERNEL_ACCOUNT | __GFP_RETRY_MAYFAIL | __GFP_NOWARN)

/* A stack needs about as much in the dictionary as in the ring. */
static u64 arena_bytes(u64 data_size)
{
	return min_t(u64, data_size / 2, 8ULL << 20);
}

static u32 nr_stack_slots(u64 data_size)
{
	return arena_bytes(data_size) / 32;
}

/**
 * gprof_percpu_buffer_bytes() - memory that a per-CPU buffer takes, for the charge
 * @data_size: bytes of data
 */
u64 gprof_percpu_buffer_bytes(u64 data_size)
{
	return data_size + 2 * PAGE_SIZE + gprof_memory_of(sizeof(struct gprof_percpu_buffer)) +
	       gprof_memory_of(arena_bytes(data_size)) +
	       gprof_memory_of(nr_stack_slots(data_size) * sizeof(local64_t)) +
	       gprof_memory_of((2 * (data_size >> PAGE_SHIFT) + 1) * sizeof(struct page *));
}

/**
 * gprof_buffers_fit_host() - is there enough memory, and some to spare?
 * @bytes: that are wanted
 *
 * As ring_buffer.c of ftrace asks; the memory that others need next minute is left to them.
 *
 * Context: Task.
 */
bool gprof_buffers_fit_host(u64 bytes)
{
	long left = si_mem_available() - (long)(bytes >> PAGE_SHIFT);

	return left > (long)(totalram_pages() / 16);
}

static int allocate_pages(struct gprof_percpu_buffer *ch, unsigned int nr_data)
{
	gfp_t gfp = GFP_BUFFER | __GFP_ZERO;
	int node = cpu_to_node(ch->buffer.cpu);
	unsigned int i;

	ch->pages = kvcalloc(1 + 2 * nr_data, sizeof(*ch->pages), GFP_BUFFER);
	if (!ch->pages)
		return -ENOMEM;
	ch->tail_page = alloc_pages_node(node, gfp, 0);
	if (!ch->tail_page)
		return -ENOMEM;
	for (i = 0; i < 1 + nr_data; i++) {
		ch->pages[i] = alloc_pages_node(node, gfp, 0);
		if (!ch->pages[i])
			return -ENOMEM;
		ch->nr_pages++;
	}
	for (; i < 1 + 2 * nr_data; i++)
		ch->pages[i] = ch->pages[i - nr_data];
	ch->memory = vmap(ch->pages, 1 + 2 * nr_data, VM_MAP, PAGE_KERNEL);
	return ch->memory ? 0 : -ENOMEM;
}

static int allocate_dictionary(struct gprof_percpu_buffer *ch, u64 data_size)
{
	struct gprof_dictionary *d = &ch->dictionary;

	d->nr_slots = nr_stack_slots(data_size);
	d->nr_words = arena_bytes(data_size) / sizeof(u64);
	d->slots = kvcalloc(d->nr_slots, sizeof(*d->slots), GFP_BUFFER);
	d->arena = kvcalloc(d->nr_words, sizeof(*d->arena), GFP_BUFFER);
	return d->slots && d->arena ? 0 : -ENOMEM;
}

/**
 * gprof_percpu_buffer_new() - allocate a per-CPU buffer
 * @cpu: its CPU, on whose node the memory is taken
 * @data_size: bytes of data, a power of two, at least GPROF_BUFFER_MIN
 *
 * Context: Task.
 * Return: a per-CPU buffer whose buffer is not yet initialised, or NULL.
 */
struct gprof_percpu_buffer *gprof_percpu_buffer_new(unsigned int cpu, u64 data_size)
{
	struct gprof_percpu_buffer *ch;

	if (!gprof_buffers_fit_host(gprof_percpu_buffer_bytes(data_size)))
		return NULL;
	ch = kvzalloc(sizeof(*ch), GFP_BUFFER);
	if (!ch)
		return NULL;
	ch->buffer.cpu = cpu;
	ch->buffer.size = data_size;
	if (allocate_pages(ch, data_size >> PAGE_SHIFT) || allocate_dictionary(ch, data_size)) {
		gprof_percpu_buffer_free(ch);
		return NULL;
	}
	ch->buffer.head = ch->memory;
	ch->buffer.data = ch->memory + PAGE_SIZE;
	ch->buffer.tail = page_address(ch->tail_page);
	return ch;
}

/**
 * gprof_percpu_buffer_free() - free a per-CPU buffer
 * @ch: per-CPU buffer, also a half-made one, or NULL
 *
 * Context: Task; nothing of it is mapped any more: a mapping holds the file.
 */
void gprof_percpu_buffer_free(struct gprof_percpu_buffer *ch)
{
	if (!ch)
		return;
	kvfree(ch->dictionary.slots);
	kvfree(ch->dictionary.arena);
	vunmap(ch->memory);
	while (ch->nr_pages)
		__free_page(ch->pages[--ch->nr_pages]);
	if (ch->tail_page)
		__free_page(ch->tail_page);
	kvfree(ch->pages);
	kvfree(ch);
}

/*
 * A mapping with a name of its own is in every core dump, whichever pages it maps; unless
 * madvise(MADV_DONTDUMP) said that it shall not be. Pages that the kernel does not count
 * cannot be dumped.
 */
static const char *mapping_name(struct vm_area_struct *vma)
{
	return vma->vm_flags & (VM_DONTDUMP | VM_PFNMAP) ? NULL : "[gprof]";
}

static const struct vm_operations_struct mapping_ops = {
	.name = mapping_name,
};

/**
 * gprof_buffer_pages_mmap() - map pages of a recorder into user space
 * @vma: mapping that is being made
 * @pages: pages, which live as long as the file that @vma is of
 * @nr: how many
 * @writable: user space may write
 *
 * Context: Task, mmap_lock of the process held for writing.
 * Return: 0; -EINVAL for a wrong length or a private mapping, -EPERM for more
 * rights than user space may have.
 */
int gprof_buffer_pages_mmap(struct vm_area_struct *vma, struct page **pages, unsigned long nr,
			    bool writable)
{
	mmap_assert_write_locked(vma->vm_mm);
	if (!(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	if (vma->vm_end - vma->vm_start != nr << PAGE_SHIFT)
		return -EINVAL;
	if (vma->vm_flags & (writable ? VM_EXEC : VM_WRITE | VM_EXEC))
		return -EPERM;
	/* mprotect() must not bring back a right that was refused. */
	vm_flags_clear(vma, writable ? VM_MAYEXEC : VM_MAYWRITE | VM_MAYEXEC);
	vm_flags_set(vma, VM_DONTCOPY | VM_DONTEXPAND);
	vma->vm_ops = &mapping_ops;
	return gprof_insert_pages(vma, pages, nr);
}

/**
 * gprof_percpu_buffer_mmap() - map a per-CPU buffer into user space
 * @ch: per-CPU buffer
 * @vma: mapping that is being made
 * @ring: head and data; else the tail page
 *
 * Context: As gprof_buffer_pages_mmap().
 * Return: likewise.
 */
int gprof_percpu_buffer_mmap(struct gprof_percpu_buffer *ch, struct vm_area_struct *vma, bool ring)
{
	/* The second half of @pages repeats the data. */
	return ring ? gprof_buffer_pages_mmap(vma, ch->pages, 2 * ch->nr_pages - 1, false) :
		      gprof_buffer_pages_mmap(vma, &ch->tail_page, 1, true);
}
