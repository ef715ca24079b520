/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * names_image.h: an ELF file of many functions that share the text of one long name, each
 * with an end of it that is a byte shorter than the one before.
 */
#ifndef GPROF_NAMES_IMAGE_H
#define GPROF_NAMES_IMAGE_H

#include <elf.h>

#include "lib_util.h"

#define NAMES_TEXT	0x1000ULL	/* offset and address */
#define NAMES_STEP	16		/* bytes of a function */

enum { NAMES_NULL, NAMES_CODE, NAMES_SYMBOLS, NAMES_STRINGS, NAMES_SECTIONS, NAMES_NR };

/* @nr functions, the first with a name of @len letters; all of the names end on @end. */
static inline bool names_write(const char *path, uint32_t nr, size_t len, const char *end)
{
	static const char sections[] = "\0.text\0.symtab\0.strtab\0.shstrtab";
	static const uint32_t names[] = { 0, 1, 7, 15, 23 };
	const size_t text = (size_t)nr * NAMES_STEP, symbols = (nr + 1) * sizeof(Elf64_Sym);
	const size_t strings = 1 + len + strlen(end) + 1;
	const uint64_t at[NAMES_NR] = {
		0, NAMES_TEXT, NAMES_TEXT + text, NAMES_TEXT + text + symbols,
		NAMES_TEXT + text + symbols + strings,
	};
	const uint64_t bytes[NAMES_NR] = { 0, text, symbols, strings, sizeof(sections) };
	const uint64_t headers = (at[NAMES_SECTIONS] + sizeof(sections) + 7) & ~7ULL;
	const size_t size = headers + NAMES_NR * sizeof(Elf64_Shdr);
	unsigned char *file = calloc(1, size);
	Elf64_Ehdr *eh = (Elf64_Ehdr *)file;
	Elf64_Phdr *ph = (Elf64_Phdr *)(eh + 1);
	Elf64_Shdr *sh = (Elf64_Shdr *)(file + headers);
	Elf64_Sym *sym = (Elf64_Sym *)(file + at[NAMES_SYMBOLS]);
	bool ok;

	if (!file)
		return false;
	*eh = (Elf64_Ehdr){
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_DYN, .e_machine = EM_X86_64, .e_version = EV_CURRENT,
		.e_phoff = sizeof(*eh), .e_shoff = headers, .e_ehsize = sizeof(*eh),
		.e_phentsize = sizeof(*ph), .e_phnum = 1, .e_shentsize = sizeof(*sh),
		.e_shnum = NAMES_NR, .e_shstrndx = NAMES_SECTIONS,
	};
	*ph = (Elf64_Phdr){
		.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_offset = NAMES_TEXT,
		.p_vaddr = NAMES_TEXT, .p_filesz = text, .p_memsz = text, .p_align = 4096,
	};
	for (uint32_t i = 1; i < NAMES_NR; i++)
		sh[i] = (Elf64_Shdr){
			.sh_name = names[i], .sh_type = SHT_STRTAB, .sh_offset = at[i],
			.sh_size = bytes[i], .sh_addralign = 1,
		};
	sh[NAMES_CODE].sh_type = SHT_PROGBITS;
	sh[NAMES_CODE].sh_flags = SHF_ALLOC | SHF_EXECINSTR;
	sh[NAMES_CODE].sh_addr = NAMES_TEXT;
	sh[NAMES_SYMBOLS].sh_type = SHT_SYMTAB;
	sh[NAMES_SYMBOLS].sh_link = NAMES_STRINGS;
	sh[NAMES_SYMBOLS].sh_info = 1;
	sh[NAMES_SYMBOLS].sh_entsize = sizeof(*sym);
	for (uint32_t i = 0; i < nr; i++)
		sym[i + 1] = (Elf64_Sym){
			.st_name = 1 + i, .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
			.st_shndx = NAMES_CODE, .st_value = NAMES_TEXT + (uint64_t)i * NAMES_STEP,
			.st_size = NAMES_STEP,
		};
	memset(file + at[NAMES_STRINGS] + 1, 'a', len);
	memcpy(file + at[NAMES_STRINGS] + 1 + len, end, strlen(end));
	memcpy(file + at[NAMES_SECTIONS], sections, sizeof(sections));
	ok = lib_put(path, file, size);
	free(file);
	return ok;
}

#endif
