/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory mappings.
 *
 * vm_flags_set(), vm_flags_clear(): 6.3; before, callers wrote vm_flags directly.
 * TASK_SIZE_MAX: arm64 has it since 5.11.
 * for_each_vma(): 6.1, with the maple tree; before, a list from mm->mmap.
 * vm_insert_pages(): since 5.11 it accepts pages that are charged to a memory cgroup. Before,
 * the charge was a type of the page, and it refused pages with a type.
 */
#ifndef GPROF_COMPAT_MM_H
#define GPROF_COMPAT_MM_H

#include <linux/mm.h>

#ifndef TASK_SIZE_MAX
#define TASK_SIZE_MAX	TASK_SIZE_64
#endif

#ifndef GPROF_HAVE_VM_FLAGS_SET
static inline void vm_flags_set(struct vm_area_struct *vma, vm_flags_t flags)
{
	vma->vm_flags |= flags;
}

static inline void vm_flags_clear(struct vm_area_struct *vma, vm_flags_t flags)
{
	vma->vm_flags &= ~flags;
}
#endif

#ifndef GPROF_HAVE_FOR_EACH_VMA
struct vma_iterator {
	struct vm_area_struct *next;
};

#define VMA_ITERATOR(name, mm, addr) \
	struct vma_iterator name = { .next = find_vma(mm, addr) }

static inline struct vm_area_struct *vma_next(struct vma_iterator *vmi)
{
	struct vm_area_struct *vma = vmi->next;

	if (vma)
		vmi->next = vma->vm_next;
	return vma;
}

#define for_each_vma(vmi, vma) \
	for (; ((vma) = vma_next(&(vmi))) != NULL; )
#endif

/**
 * gprof_insert_pages() - fill a mapping
 * @vma: shared mapping of @nr pages that is being made
 * @pages: pages, which exist for as long as the file of @vma
 * @nr: number of pages
 *
 * Context: Task, mmap_lock of the process held for writing.
 * Return: 0 or a negative errno.
 */
static inline int gprof_insert_pages(struct vm_area_struct *vma, struct page **pages,
				     unsigned long nr)
{
#ifdef GPROF_HAVE_PG_KMEMCG
	unsigned long i;
	int err = 0;

	for (i = 0; i < nr && !err; i++)
		err = remap_pfn_range(vma, vma->vm_start + (i << PAGE_SHIFT),
				      page_to_pfn(pages[i]), PAGE_SIZE, vma->vm_page_prot);
	return err;
#else
	return vm_insert_pages(vma, vma->vm_start, pages, &nr);
#endif
}

#endif /* GPROF_COMPAT_MM_H */
