// SPDX-License-Identifier: GPL-2.0-only
/*
 * core_fuzz: any bytes at all, as a core dump with two rings of a recorder, or as a raw snapshot of
 * them.
 *
 * The file is made here, and then the input is put into it: first three bytes each for
 * changes to its headers and the heads of the rings, then what the rings hold.
 */
#include <elf.h>
#include <fcntl.h>
#include <gprof/core.h>
#include <linux/gprof.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "device/raw_file.h"

#define CHECK(x)	do { if (!(x)) { fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #x); \
				abort(); } } while (0)

#define RINGS		2
#define PAGE		4096ULL
#define RING_AT		0x7f0000000000ULL
#define RING_BYTES	(3 * PAGE)	/* head, and the data twice */
#define CHANGES_MAX	31
#define BUFFERS_MAX	64	/* heads of rings in a file of such a size */

/* The note NT_FILE: mappings, and their names. */
struct files {
	Elf64_Nhdr head;
	char owner[8];
	uint64_t count;
	uint64_t page_size;
	uint64_t of[RINGS][3];
	char names[24];
} __attribute__((packed, aligned(8)));

struct dump {
	Elf64_Ehdr elf;
	Elf64_Phdr note;
	Elf64_Phdr load[RINGS];
	struct files files;
	struct {
		struct gprof_ring_head head __attribute__((aligned(4096)));
		unsigned char data[2 * PAGE] __attribute__((aligned(4096)));
	} ring[RINGS];
};

static void make_ring(struct dump *d, unsigned int i, uint32_t kind)
{
	const struct gprof_generation_rec first = {
		.rec = { .type = GPROF_REC_GENERATION, .size = sizeof(first) },
		.generation = 1, .mono_ns = 1000000, .real_ns = 2000000, .weight = 1, .cpu = i,
	};

	d->files.of[i][0] = RING_AT + i * RING_BYTES;
	d->files.of[i][1] = RING_AT + (i + 1) * RING_BYTES;
	d->files.of[i][2] = GPROF_MMAP_RING(i) / PAGE;
	d->load[i] = (Elf64_Phdr){
		.p_type = PT_LOAD, .p_vaddr = RING_AT + i * RING_BYTES, .p_filesz = RING_BYTES,
		.p_memsz = RING_BYTES, .p_offset = (uintptr_t)&d->ring[i] - (uintptr_t)d,
	};
	d->ring[i].head = (struct gprof_ring_head){
		.version = GPROF_ABI_VERSION, .header_size = sizeof(struct gprof_ring_head),
		.cpu = i, .data_offset = PAGE, .data_size = PAGE, .recorder = 7, .kind = kind,
		.head = PAGE,
	};
	memcpy(d->ring[i].data, &first, sizeof(first));
}

static void make_dump(struct dump *d, uint32_t kind)
{
	memcpy(d->elf.e_ident, ELFMAG, SELFMAG);
	d->elf.e_ident[EI_CLASS] = ELFCLASS64;
	d->elf.e_ident[EI_DATA] = ELFDATA2LSB;
	d->elf.e_ident[EI_VERSION] = EV_CURRENT;
	d->elf.e_type = ET_CORE;
	d->elf.e_version = EV_CURRENT;
	d->elf.e_phoff = sizeof(d->elf);
	d->elf.e_ehsize = sizeof(d->elf);
	d->elf.e_phentsize = sizeof(Elf64_Phdr);
	d->elf.e_phnum = 1 + RINGS;
	d->note = (Elf64_Phdr){
		.p_type = PT_NOTE, .p_offset = (uintptr_t)&d->files - (uintptr_t)d,
		.p_filesz = sizeof(d->files),
	};
	d->files.head = (Elf64_Nhdr){
		.n_namesz = 5, .n_type = NT_FILE,
		.n_descsz = sizeof(d->files) - sizeof(d->files.head) - sizeof(d->files.owner),
	};
	memcpy(d->files.owner, "CORE", 5);
	d->files.count = RINGS;
	d->files.page_size = PAGE;
	memcpy(d->files.names, "/dev/gprof\0/dev/gprof", 22);
	for (unsigned int i = 0; i < RINGS; i++)
		make_ring(d, i, kind);
}

static void put_in(struct dump *d, const uint8_t *data, size_t size)
{
	size_t changes = size ? *data & CHANGES_MAX : 0, i, at = 1 + 3 * changes;
	const size_t room = PAGE - sizeof(struct gprof_generation_rec);

	for (i = 0; i < changes && 3 * i + 3 < size; i++)
		((unsigned char *)d)[(data[3 * i + 1] | data[3 * i + 2] << 8) % sizeof(*d)] =
			data[3 * i + 3];
	for (i = 0; i < RINGS && at < size; i++) {
		size_t len = (size - at) / (RINGS - i) & ~(size_t)7;

		len = len < room ? len : room;
		memcpy(d->ring[i].data + PAGE - room, data + at, len);
		d->ring[i].head.head = PAGE - room + len;
		at += len;
	}
}

/* The same as a raw snapshot; its bytes. */
static size_t make_raw(unsigned char *file, const uint8_t *data, size_t size)
{
	const struct gprof_raw_head head = {
		.magic = { 'g', 'p', 'r', 'o', 'f', 'r', 'a', 'w' }, .version = GPROF_RAW_VERSION,
		.head_size = sizeof(head), .ring_size = sizeof(struct gprof_ring_head),
		.rings = RINGS, .machine = gprof_raw_machine(), .until_ns = 1000000000,
	};
	const struct gprof_raw_part last = {
		.ring = GPROF_RAW_END, .bytes = sizeof(struct gprof_raw_end),
	};
	size_t changes = *data & CHANGES_MAX, at = 1 + 3 * changes, end = sizeof(head);

	memcpy(file, &head, sizeof(head));
	for (uint32_t i = 0; i < RINGS; i++, end += sizeof(struct gprof_ring_head)) {
		const struct gprof_ring_head ring = {
			.version = GPROF_ABI_VERSION, .cpu = i, .flags = GPROF_SETUP_F_FLIGHT,
			.data_size = PAGE, .recorder = 7, .kind = GPROF_KIND_TRACE,
		};

		memcpy(file + end, &ring, sizeof(ring));
	}
	/* Two parts of each ring: the second where something is missing. */
	for (uint32_t i = 0; i < 2 * RINGS; i++) {
		const struct gprof_generation_rec first = {
			.rec = { .type = GPROF_REC_GENERATION, .size = sizeof(first) },
			.generation = 1 + i / RINGS, .mono_ns = 1000000, .real_ns = 2000000,
			.weight = 1, .cpu = i % RINGS,
		};
		size_t len = at < size ? (size - at) / (2 * RINGS - i) & ~(size_t)7 : 0;
		struct gprof_raw_part part = {
			.ring = i % RINGS, .pos = i / RINGS * PAGE,
			.before = i < RINGS ? UINT64_MAX : 100,
		};

		len = len < PAGE / 2 - sizeof(first) ? len : PAGE / 2 - sizeof(first);
		part.bytes = sizeof(first) + len;
		memcpy(file + end, &part, sizeof(part));
		memcpy(file + end + sizeof(part), &first, sizeof(first));
		memcpy(file + end + sizeof(part) + sizeof(first), data + at, len);
		end += sizeof(part) + part.bytes;
		at += len;
	}
	memcpy(file + end, &last, sizeof(last));
	end += sizeof(last) + sizeof(struct gprof_raw_end);
	for (size_t i = 0; i < changes && 3 * i + 3 < size; i++)
		file[(data[3 * i + 1] | data[3 * i + 2] << 8) % end] = data[3 * i + 3];
	return end;
}

static void take_out(struct gprof_core *c, int nowhere)
{
	struct gprof_core_recorder r = { .sz = sizeof(r) };
	struct gprof_profile *p;
	size_t i;

	for (i = 0; i < gprof_core_recorders(c); i++) {
		CHECK(!gprof_core_recorder(c, i, &r) && r.buffers && r.buffers <= BUFFERS_MAX);
		CHECK(gprof_core_trace(c, i, nowhere) <= 0);
		CHECK(!gprof_core_profile(c, i, &p) == !!p);
		gprof_profile_free(p);
	}
	CHECK(gprof_core_recorder(c, i, &r) < 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int fd = -1, nowhere = -1;
	struct dump *d = aligned_alloc(PAGE, sizeof(*d));
	off_t length = sizeof(*d);
	struct gprof_core *c;

	if (fd < 0) {
		fd = memfd_create("core", MFD_CLOEXEC);
		nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
	}
	CHECK(d && fd >= 0 && nowhere >= 0);
	memset(d, 0, sizeof(*d));
	if (size && *data & 0x40) {
		length = make_raw((unsigned char *)d, data, size);
	} else {
		make_dump(d, size && *data & 0x80 ? GPROF_KIND_CPU : GPROF_KIND_TRACE);
		put_in(d, data, size);
	}
	CHECK(!ftruncate(fd, length) && pwrite(fd, d, length, 0) == length);
	c = gprof_core_open(fd);
	CHECK(c || (size && *data & CHANGES_MAX));
	if (c)
		take_out(c, nowhere);
	gprof_core_free(c);
	free(d);
	return 0;
}
