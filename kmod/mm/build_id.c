// SPDX-License-Identifier: GPL-2.0-only
/*
 * build_id: the build-id of a mapped file, from its pages in memory.
 *
 * The kernel's build_id_parse() is not for modules. As there, nothing is read from
 * the file system: the user that mapped a file chose that as well, and may let a reader
 * wait for ever. A program that runs has its headers in memory, and the note lies beside
 * them. The content of the pages is the user's and may change while it is read: each
 * number is taken once, checked, and bounds its own use.
 */
#include "build_id.h"
#include "compat/file.h"

#include <linux/elf.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/magic.h>
#include <linux/mm.h>
#include <linux/page-flags.h>
#include <linux/pagemap.h>
#include <linux/string.h>

#define GNU_BUILD_ID	3	/* type of the note */

#define PHDRS_MAX	64	/* looked at in a file */
#define NOTES_MAX	4096	/* bytes of notes looked at in a file */

/* Copies from the page cache: 0, or -ENODATA where that has not all of it. */
static int copy_cached(struct address_space *mapping, u64 pos, void *to, u32 len)
{
	while (len) {
		u32 in_page = offset_in_page(pos);
		u32 n = min_t(u32, len, PAGE_SIZE - in_page);
		struct page *page;
		bool ok;

		if (pos + n < pos)
			return -ENODATA;
		page = find_get_page(mapping, pos >> PAGE_SHIFT);
		if (!page)
			return -ENODATA;
		ok = PageUptodate(page) && !PageHWPoison(page);
		/* All memory has an address on 64-bit machines. */
		if (ok)
			memcpy(to, page_address(page) + in_page, n);
		put_page(page);
		if (!ok)
			return -ENODATA;
		pos += n;
		to += n;
		len -= n;
	}
	return 0;
}

/* As gprof_build_id(), of the notes from @pos up to @end. */
static int find_note(struct address_space *mapping, u64 pos, u64 end, u8 *id, u32 max)
{
	while (end - pos >= sizeof(struct elf64_note) + 4) {
		struct elf64_note note;
		u64 text, next;
		char name[4];

		if (copy_cached(mapping, pos, &note, sizeof(note)))
			return -ENODATA;
		text = pos + sizeof(note) + ALIGN((u64)note.n_namesz, 4);
		next = text + ALIGN((u64)note.n_descsz, 4);
		if (next > end)
			return 0;
		if (note.n_type == GNU_BUILD_ID && note.n_namesz == sizeof(name)) {
			if (copy_cached(mapping, pos + sizeof(note), name, sizeof(name)))
				return -ENODATA;
			if (!memcmp(name, "GNU", sizeof(name))) {
				if (note.n_descsz > max)
					return 0;
				return copy_cached(mapping, text, id, note.n_descsz) ?:
				       (int)note.n_descsz;
			}
		}
		pos = next;
	}
	return 0;
}

static bool is_elf64(const struct elf64_hdr *eh)
{
	return !memcmp(eh->e_ident, ELFMAG, SELFMAG) && eh->e_ident[EI_CLASS] == ELFCLASS64 &&
	       eh->e_phentsize == sizeof(struct elf64_phdr) && eh->e_phoff <= S32_MAX;
}

/**
 * gprof_build_id() - the build-id of a file
 * @file: a mapped file
 * @id: result
 * @max: room in @id; a longer one is none
 *
 * Context: Task; does not sleep.
 * Return: bytes of @id; 0: it has none; -ENODATA: the page that would tell is not in memory,
 * or not for the kernel to see.
 */
int gprof_build_id(struct file *file, u8 *id, u32 max)
{
	struct address_space *mapping = file->f_mapping;
	u64 left = NOTES_MAX;
	int err = 0, i, nr;
	struct elf64_hdr eh;

	/* Pages that are counted otherwise, or that the kernel itself cannot see. */
	if (mapping->host->i_sb->s_magic == HUGETLBFS_MAGIC || mapping_unevictable(mapping))
		return -ENODATA;
	if (copy_cached(mapping, 0, &eh, sizeof(eh)))
		return -ENODATA;
	nr = is_elf64(&eh) ? min_t(int, eh.e_phnum, PHDRS_MAX) : 0;
	for (i = 0; i < nr && left; i++) {
		struct elf64_phdr ph;
		u64 size;
		int ret;

		if (copy_cached(mapping, eh.e_phoff + i * sizeof(ph), &ph, sizeof(ph)))
			return -ENODATA;
		if (ph.p_type != PT_NOTE || ph.p_offset > S64_MAX)
			continue;
		size = min(left, ph.p_filesz);
		left -= size;
		ret = find_note(mapping, ph.p_offset, ph.p_offset + size, id, max);
		if (ret > 0)
			return ret;
		if (ret)
			err = ret;
	}
	return err;
}
