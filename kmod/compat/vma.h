/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The mapping of an address.
 *
 * find_vma(): before 6.1 it used a cache of current's, which an interrupt may find half
 * invalidated.
 */
#ifndef GPROF_COMPAT_VMA_H
#define GPROF_COMPAT_VMA_H

#include <linux/mm.h>
#include <linux/rbtree.h>

/* The first mapping that ends above @addr, or NULL. Context: Any incl. NMI, mmap_lock held. */
static inline struct vm_area_struct *gprof_find_vma(struct mm_struct *mm, unsigned long addr)
{
#ifdef GPROF_HAVE_FOR_EACH_VMA
	return find_vma(mm, addr);
#else
	struct rb_node *node = mm->mm_rb.rb_node;
	struct vm_area_struct *found = NULL;

	while (node) {
		struct vm_area_struct *vma = rb_entry(node, struct vm_area_struct, vm_rb);

		if (vma->vm_end > addr) {
			found = vma;
			node = node->rb_left;
		} else {
			node = node->rb_right;
		}
	}
	return found;
#endif
}

#endif /* GPROF_COMPAT_VMA_H */
