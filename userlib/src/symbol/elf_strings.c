// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * elf_strings.c: do the strings of a file end within it?
 */
#include "elf_strings.h"

#include <gelf.h>
#include <stddef.h>
#include <stdint.h>

static bool sections_end(Elf *elf)
{
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(elf, scn))) {
		const Elf_Data *d;
		GElf_Shdr sh;

		if (!gelf_getshdr(scn, &sh) || sh.sh_type != SHT_STRTAB)
			continue;
		/*
		 * These are never compressed in practice, and the unpacked size of one is not
		 * known yet.
		 */
		if (sh.sh_flags & SHF_COMPRESSED)
			return false;
		d = elf_getdata(scn, NULL);
		if (d && d->d_size && ((const char *)d->d_buf)[d->d_size - 1])
			return false;
	}
	return true;
}

/* Where an address lies in the file; 0: nowhere. */
static uint64_t offset_of(Elf *elf, size_t nr, uint64_t addr)
{
	GElf_Phdr ph;
	size_t i;

	for (i = 0; i < nr; i++)
		if (gelf_getphdr(elf, (int)i, &ph) && ph.p_type == PT_LOAD &&
		    addr >= ph.p_vaddr && addr - ph.p_vaddr < ph.p_filesz)
			return ph.p_offset + (addr - ph.p_vaddr);
	return 0;
}

/* The table that the dynamic linker uses, which libdwfl takes where there are no sections. */
static bool dynamic_ends(Elf *elf, size_t nr, const GElf_Phdr *dynamic)
{
	Elf_Data *d = elf_getdata_rawchunk(elf, (int64_t)dynamic->p_offset, dynamic->p_filesz,
					   ELF_T_DYN);
	uint64_t table = 0, size = 0, at;
	const Elf_Data *last;
	GElf_Dyn dyn;
	int i;

	for (i = 0; d && gelf_getdyn(d, i, &dyn) && dyn.d_tag != DT_NULL; i++) {
		if (dyn.d_tag == DT_STRTAB)
			table = dyn.d_un.d_ptr;
		else if (dyn.d_tag == DT_STRSZ)
			size = dyn.d_un.d_val;
	}
	at = offset_of(elf, nr, table);
	if (!at || !size)
		return !size;
	last = elf_getdata_rawchunk(elf, (int64_t)(at + size - 1), 1, ELF_T_BYTE);
	return last && !*(const char *)last->d_buf;
}

bool gprof_elf_strings_end(Elf *elf)
{
	GElf_Phdr ph;
	size_t nr, i;

	if (!sections_end(elf))
		return false;
	if (elf_getphdrnum(elf, &nr))
		return true;
	for (i = 0; i < nr; i++)
		if (gelf_getphdr(elf, (int)i, &ph) && ph.p_type == PT_DYNAMIC &&
		    !dynamic_ends(elf, nr, &ph))
			return false;
	return true;
}
