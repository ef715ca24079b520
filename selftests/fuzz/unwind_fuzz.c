// SPDX-License-Identifier: GPL-2.0-only
/*
 * unwind_fuzz: any bytes at all, as a file whose unwind table is compiled, as text and
 * call frame instructions of one that is sound, and as a table that was kept.
 *
 * The first byte says which. Whatever comes out is a table, the same each time.
 */
#include <elf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "table_check.h"
#include "unwind/unwind_table.h"

#define CHECK(x)	do { if (!(x)) { fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #x); \
				abort(); } } while (0)

#define MEMORY	(8 << 20)
#define TEXT	0x200
#define FRAMES	0x600	/* behind 12 bytes of header */
#define SIZE	(FRAMES + 0x2000)

/* Every byte of the file has a rule or none. */
static void look_up(const void *table, size_t file)
{
	const struct gprof_unwind_table *t = table;
	uint64_t offset, end = t->start + (uint64_t)t->granules * GPROF_UNWIND_GRANULE;

	for (offset = t->start; offset < end && offset < t->start + file; offset += 251)
		CHECK(table_find(table, offset)->kind < GPROF_UNWIND_CFA_NR);
	CHECK(!table_find(table, end));
	CHECK(!t->start || !table_find(table, t->start - 1));
}

static void compile(const uint8_t *data, size_t size)
{
	struct gprof_unwind_blob blob, again;
	int err = gprof_unwind_compile_memory(data, size, MEMORY, &blob);

	CHECK(err <= 0);
	if (err) {
		CHECK(!blob.data && !blob.size);
		return;
	}
	CHECK(!table_check(blob.data, blob.size));
	look_up(blob.data, size);
	/* it takes its time twice, so not for each */
	if (!(size & 15)) {
		CHECK(!gprof_unwind_compile_memory(data, size, MEMORY, &again));
		CHECK(blob.size == again.size && !memcmp(blob.data, again.data, blob.size));
		gprof_unwind_blob_free(&again);
	}
	gprof_unwind_blob_free(&blob);
}

/* 1 KiB of text and what is left of frames, in a file that is right. */
static void compile_within(uint16_t machine, const uint8_t *data, size_t size)
{
	static const unsigned char hdr[12] = { 1, 0x1b, 0xff, 0xff, 8, 0, 0, 0 };
	static unsigned char file[SIZE];
	Elf64_Ehdr eh = {
		.e_type = ET_DYN, .e_machine = machine, .e_entry = TEXT + 0x100,
		.e_phoff = sizeof(eh), .e_phentsize = sizeof(Elf64_Phdr), .e_phnum = 3,
	};
	Elf64_Phdr ph[3] = {
		{ .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_offset = TEXT, .p_vaddr = TEXT,
		  .p_filesz = FRAMES - TEXT },
		{ .p_type = PT_LOAD, .p_flags = PF_R, .p_offset = FRAMES, .p_vaddr = FRAMES,
		  .p_filesz = SIZE - FRAMES },
		{ .p_type = PT_GNU_EH_FRAME, .p_offset = FRAMES, .p_vaddr = FRAMES,
		  .p_filesz = sizeof(hdr) },
	};
	size_t text = size < FRAMES - TEXT ? size : FRAMES - TEXT;

	memcpy(eh.e_ident, ELFMAG, SELFMAG);
	eh.e_ident[EI_CLASS] = ELFCLASS64;
	eh.e_ident[EI_DATA] = ELFDATA2LSB;
	memset(file, 0, sizeof(file));
	memcpy(file, &eh, sizeof(eh));
	memcpy(file + sizeof(eh), ph, sizeof(ph));
	memcpy(file + FRAMES, hdr, sizeof(hdr));
	/* frames first, for they are what is most of it */
	if (size > text)
		memcpy(file + TEXT, data + size - text, text);
	if (size > SIZE - FRAMES - sizeof(hdr))
		size = SIZE - FRAMES - sizeof(hdr);
	memcpy(file + FRAMES + sizeof(hdr), data, size);
	compile(file, sizeof(file));
}

static void check_table(const uint8_t *data, size_t size)
{
	void *table = malloc(size + 1);

	CHECK(table);
	memcpy(table, data, size);
	if (!table_check(table, size))
		look_up(table, 1 << 16);
	free(table);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	switch (data[0] & 3) {
	case 0: compile(data + 1, size - 1); break;
	case 1: compile_within(EM_X86_64, data + 1, size - 1); break;
	case 2: compile_within(EM_AARCH64, data + 1, size - 1); break;
	default:
		check_table(data + 1, size - 1);
	}
	return 0;
}
