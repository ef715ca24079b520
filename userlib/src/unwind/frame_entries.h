/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * frame_entries.h: the entries of .eh_frame and .debug_frame: which program of call frame
 * instructions (CFI) is for which text.
 *
 * A CIE is for many functions, an FDE for the text of one. Of each FDE only where it lies is kept;
 * its program is run by frame_program.c.
 */
#ifndef GPROF_FRAME_ENTRIES_H
#define GPROF_FRAME_ENTRIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dwarf_input.h"
#include "image.h"

/**
 * struct gprof_cie - common part of FDEs
 * @at: where it lies in the section
 * @code_align: unit of advances of the address
 * @data_align: unit of offsets
 * @return_reg: number of the return address
 * @encoding: of addresses, DW_EH_PE_*
 * @augmented: an FDE has augmentation data
 * @signal: for the frame that the kernel makes for a signal
 * @usable: understood
 * @program: where in the section its instructions are
 * @program_end: and where they end
 */
struct gprof_cie {
	uint32_t at;
	uint64_t code_align;
	int64_t data_align;
	uint64_t return_reg;
	uint8_t encoding;
	bool augmented;
	bool signal;
	bool usable;
	uint32_t program;
	uint32_t program_end;
};

/**
 * struct gprof_fde - a piece of text
 * @addr: address of its first byte
 * @at: offset in the file of its first byte, from the base
 * @len: bytes, within the loaded part of the file
 * @cie: number of its CIE
 * @program: where in the section its instructions are
 * @program_end: and where they end
 */
struct gprof_fde {
	uint64_t addr;
	uint32_t at;
	uint32_t len;
	uint32_t cie;
	uint32_t program;
	uint32_t program_end;
};

/**
 * struct gprof_entries - a section, taken apart
 * @part: where it was
 * @data: the section
 * @debug: it is a .debug_frame
 * @base: offset in the file that places of text count from
 * @cies: ascending by @at
 * @nr_cies: how many
 * @cap_cies: room
 * @fdes: ascending by @at, equal ones as in the section
 * @nr_fdes: how many
 * @cap_fdes: room
 */
struct gprof_entries {
	struct gprof_image_part part;
	unsigned char *data;
	bool debug;
	uint64_t base;
	struct gprof_cie *cies;
	size_t nr_cies;
	size_t cap_cies;
	struct gprof_fde *fdes;
	size_t nr_fdes;
	size_t cap_fdes;
};

/**
 * gprof_entries_read() - find the section and take it apart
 * @e: entries
 * @img: file; the entries' memory is of its budget
 * @base: offset in the file that places of text count from
 *
 * .eh_frame is taken, be it by the segment that leads to it alone; where it has nothing
 * for any text, .debug_frame. An entry that makes no sense is left out, as is text that is
 * not loaded as such.
 *
 * Return: 0, also where there is none, or -errno. To be freed in any case.
 */
int gprof_entries_read(struct gprof_entries *e, struct gprof_image *img, uint64_t base);
void gprof_entries_free(struct gprof_entries *e, struct gprof_image *img);

/**
 * gprof_encoded() - an address as DW_EH_PE_* says
 * @b: bytes
 * @encoding: how it is written; @b becomes bad where that is not for addresses of text
 * @addr: address of @b's next byte
 */
uint64_t gprof_encoded(struct gprof_dwarf_input *b, uint8_t encoding, uint64_t addr);

#endif /* GPROF_FRAME_ENTRIES_H */
