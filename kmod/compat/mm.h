/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory mappings.
 *
 * vm_flags_set(), vm_flags_clear(): 6.3; before, vm_flags was written directly.
 * for_each_vma(): 6.1, with the maple tree; before, a list from mm->mmap.
 */
#ifndef GPROF_COMPAT_MM_H
#define GPROF_COMPAT_MM_H

#include <linux/mm.h>

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

#ifdef GPROF_HAVE_FOR_EACH_VMA
#define gprof_for_each_vma(mm, vma)				\
	for (struct vma_iterator __vmi = VMA_ITERATOR_INIT(mm);	\
	     ((vma) = vma_next(&__vmi)) != NULL; )
#define VMA_ITERATOR_INIT(mm_)					\
	{ .mas = { .tree = &(mm_)->mm_mt, .node = MAS_START } }
#else
#define gprof_for_each_vma(mm, vma)				\
	for ((vma) = (mm)->mmap; (vma); (vma) = (vma)->vm_next)
#endif

#endif /* GPROF_COMPAT_MM_H */
