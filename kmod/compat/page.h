/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pages of files.
 *
 * folio_mapping(): 5.16; before, page_mapping(). Only a folio has the offset in the file.
 */
#ifndef GPROF_COMPAT_PAGE_H
#define GPROF_COMPAT_PAGE_H

#include <linux/mm.h>
#include <linux/pagemap.h>

/**
 * gprof_page_mapping() - the file that a page belongs to
 * @page: page; the caller holds a reference
 * @nr: set to its offset in the file, in pages
 *
 * Context: Any incl. NMI.
 * Return: mapping, which may belong to no file, or NULL.
 */
static inline const struct address_space *gprof_page_mapping(struct page *page, unsigned long *nr)
{
#ifdef GPROF_HAVE_FOLIO_MAPPING
	struct folio *folio = page_folio(page);

	*nr = folio->index + page_to_pfn(page) - folio_pfn(folio);
	return folio_mapping(folio);
#else
	struct page *head = compound_head(page);

	*nr = head->index + page_to_pfn(page) - page_to_pfn(head);
	return page_mapping(head);
#endif
}

/**
 * gprof_page_drop() - put a reference, unless it is the last
 * @page: page
 *
 * Context: Any incl. NMI.
 * Return: true: the reference is put; false: the caller has to call put_page().
 */
static inline bool gprof_page_drop(struct page *page)
{
	return atomic_add_unless(&compound_head(page)->_refcount, -1, 1);
}

#endif /* GPROF_COMPAT_PAGE_H */
