/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * image.h: an ELF file as its unwind tables need it: loaded segments, the text, and sections.
 *
 * The file belongs to the recorded user. It is read, not mapped, since truncating a mapped file
 * kills its reader by SIGBUS; each offset is checked against the file's size; all memory comes out
 * of a budget.
 */
#ifndef GPROF_IMAGE_H
#define GPROF_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/table.h"

/**
 * struct gprof_load - a part of the file that is mapped
 * @addr: its address in the file (p_vaddr)
 * @offset: where it lies in the file
 * @size: bytes of it that are in the file
 * @exec: it is text
 */
struct gprof_load {
	uint64_t addr;
	uint64_t offset;
	uint64_t size;
	bool exec;
};

/**
 * struct gprof_image_part - bytes of the file
 * @offset: where
 * @size: how many; 0: there are none
 * @addr: address of the first one
 * @compressed: a section that is (SHF_COMPRESSED)
 */
struct gprof_image_part {
	uint64_t offset;
	uint64_t size;
	uint64_t addr;
	bool compressed;
};

/**
 * struct gprof_image - an ELF file of 64 bits, ET_EXEC or ET_DYN
 * @fd: it, or -1: it is in memory
 * @mem: then here
 * @size: bytes
 * @machine: EM_X86_64 or EM_AARCH64
 * @entry: address at which it begins
 * @loads: mapped segments, ascending, no two at one address
 * @nr_loads: how many
 * @eh_frame: section, empty where there is none
 * @debug_frame: section
 * @eh_frame_hdr: segment (PT_GNU_EH_FRAME)
 * @go: made by Go, whose .debug_frame leaves out the frame pointer
 * @go_table: Go's own table
 * @relro: .data.rel.ro, into which a linker of C may have put that
 * @text: address of .text, where that table may begin to count
 * @budget: for memory
 * @window: the part of the file that was read last
 * @window_at: where that lies
 * @window_len: its bytes
 */
struct gprof_image {
	int fd;
	const unsigned char *mem;
	uint64_t size;
	uint16_t machine;
	uint64_t entry;
	struct gprof_load *loads;
	size_t nr_loads;
	struct gprof_image_part eh_frame;
	struct gprof_image_part debug_frame;
	struct gprof_image_part eh_frame_hdr;
	bool go;
	struct gprof_image_part go_table;
	struct gprof_image_part relro;
	uint64_t text;
	struct gprof_budget *budget;
	unsigned char *window;
	uint64_t window_at;
	size_t window_len;
};

/* Limit of gprof_image_at(). */
#define GPROF_IMAGE_AT_MAX	4096

/**
 * gprof_image_open() - begin to read
 * @img: file
 * @fd: descriptor of a regular file, which stays the caller's and open; or -1
 * @mem: @size bytes of it then
 * @size: their number
 * @budget: for all that the image takes
 *
 * Return: 0, -ENOEXEC: not such a file, or one that contradicts itself, or -errno. To be
 * closed in any case.
 */
int gprof_image_open(struct gprof_image *img, int fd, const void *mem, uint64_t size,
		     struct gprof_budget *budget);
void gprof_image_close(struct gprof_image *img);

/**
 * gprof_image_at() - look at some bytes of the file
 * @img: file
 * @offset: where
 * @len: how many, GPROF_IMAGE_AT_MAX at most
 *
 * Return: the bytes, until the next call; NULL: they are not in the file.
 */
const unsigned char *gprof_image_at(struct gprof_image *img, uint64_t offset, size_t len);

/**
 * gprof_image_read() - a copy of a part, unpacked
 * @img: file
 * @part: which; its size becomes that of the copy
 * @out: the copy, to be given to gprof_image_drop()
 *
 * Return: 0, -ENOEXEC: it is not in the file or cannot be unpacked, or -errno.
 */
int gprof_image_read(struct gprof_image *img, struct gprof_image_part *part, unsigned char **out);
void gprof_image_drop(struct gprof_image *img, const struct gprof_image_part *part,
		      unsigned char *copy);

/** gprof_image_load() - the segment at an address; NULL: none */
const struct gprof_load *gprof_image_load(const struct gprof_image *img, uint64_t addr);

#endif /* GPROF_IMAGE_H */
