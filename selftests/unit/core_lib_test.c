// SPDX-License-Identifier: GPL-2.0-only
/*
 * Core dumps that were made to do harm, or are odd: what they take does not grow beyond
 * what is in them, and nothing in them is counted twice.
 */
#include <kselftest_harness.h>

#include <elf.h>
#include <gprof/core.h>
#include <linux/gprof.h>
#include <sys/mman.h>
#include <sys/resource.h>

#define PAGE		4096ULL
#define RING_AT		0x7f0000000000ULL
#define RING_BYTES	(3 * PAGE)	/* head, and the data twice */
#define RINGS		4
#define NOTES		400

struct ring {
	struct gprof_ring_head head __attribute__((aligned(4096)));
	unsigned char data[2 * PAGE] __attribute__((aligned(4096)));
};

/* The note NT_FILE: mappings, and their names. */
struct files {
	Elf64_Nhdr head;
	char owner[8];
	uint64_t count;
	uint64_t page_size;
	uint64_t of[RINGS][3];
	char names[RINGS * sizeof(GPROF_DEVICE) + 4];
} __attribute__((packed, aligned(8)));

/* @headers[0] is the note's, the others those of mappings, or of more notes. */
struct dump {
	Elf64_Ehdr elf;
	Elf64_Phdr headers[1 + NOTES];
	struct files files;
	struct ring rings[RINGS];
};

FIXTURE(core) {
	struct dump *d;
	struct gprof_core *c;
	int fd;
};

FIXTURE_SETUP(core)
{
	struct dump *d = aligned_alloc(PAGE, sizeof(*d));

	ASSERT_NE(NULL, d);
	memset(d, 0, sizeof(*d));
	memcpy(d->elf.e_ident, ELFMAG, SELFMAG);
	d->elf.e_ident[EI_CLASS] = ELFCLASS64;
	d->elf.e_ident[EI_DATA] = ELFDATA2LSB;
	d->elf.e_ident[EI_VERSION] = EV_CURRENT;
	d->elf.e_type = ET_CORE;
	d->elf.e_version = EV_CURRENT;
	d->elf.e_phoff = offsetof(struct dump, headers);
	d->elf.e_ehsize = sizeof(d->elf);
	d->elf.e_phentsize = sizeof(Elf64_Phdr);
	d->elf.e_phnum = 1;
	d->headers[0] = (Elf64_Phdr){
		.p_type = PT_NOTE, .p_offset = offsetof(struct dump, files),
		.p_filesz = sizeof(d->files),
	};
	d->files.head = (Elf64_Nhdr){
		.n_namesz = 5, .n_type = NT_FILE,
		.n_descsz = sizeof(d->files) - offsetof(struct files, count),
	};
	memcpy(d->files.owner, "CORE", 5);
	d->files.page_size = PAGE;
	/* Those that are of nothing have no name either. */
	d->files.count = RINGS;
	self->d = d;
	self->fd = memfd_create("core", MFD_CLOEXEC);
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(core)
{
	gprof_core_free(self->c);
	close(self->fd);
	free(self->d);
}

/* Of this CPU a ring that has so much, at an address of its own. */
static void add_ring(struct dump *d, unsigned int cpu, uint64_t produced)
{
	const struct gprof_generation_rec first = {
		.rec = { .type = GPROF_REC_GENERATION, .size = sizeof(first) },
		.generation = 1, .mono_ns = 1000000, .real_ns = 2000000, .weight = 1, .cpu = cpu,
	};
	unsigned int i = d->elf.e_phnum - 1;
	struct ring *r = &d->rings[i];

	d->files.of[i][0] = RING_AT + i * RING_BYTES;
	d->files.of[i][1] = RING_AT + (i + 1) * RING_BYTES;
	d->files.of[i][2] = GPROF_MMAP_RING(cpu) / PAGE;
	memcpy(d->files.names + i * sizeof(GPROF_DEVICE), GPROF_DEVICE, sizeof(GPROF_DEVICE));
	d->headers[d->elf.e_phnum++] = (Elf64_Phdr){
		.p_type = PT_LOAD, .p_vaddr = d->files.of[i][0], .p_filesz = RING_BYTES,
		.p_memsz = RING_BYTES, .p_offset = (uintptr_t)r - (uintptr_t)d,
	};
	r->head = (struct gprof_ring_head){
		.version = GPROF_ABI_VERSION, .header_size = sizeof(r->head), .cpu = cpu,
		.data_offset = PAGE, .data_size = PAGE, .recorder = 7, .kind = GPROF_KIND_TRACE,
		.head = sizeof(first), .produced = produced,
	};
	memcpy(r->data, &first, sizeof(first));
}

static int open_it(FIXTURE_DATA(core) *self)
{
	if (pwrite(self->fd, self->d, sizeof(*self->d), 0) != sizeof(*self->d))
		return -EIO;
	errno = 0;
	self->c = gprof_core_open(self->fd);
	return self->c ? 0 : -errno;
}

TEST_F(core, each_ring_is_one)
{
	struct gprof_core_recorder r = { .sz = sizeof(r) };

	add_ring(self->d, 0, 3);
	add_ring(self->d, 1, 4);
	ASSERT_EQ(0, open_it(self)) TH_LOG("%s", gprof_error());
	ASSERT_EQ(1, gprof_core_recorders(self->c));
	ASSERT_EQ(0, gprof_core_recorder(self->c, 0, &r));
	EXPECT_EQ(2, r.buffers);
	EXPECT_EQ(7, r.produced);
}

/* A program may map a ring as often as it likes. */
TEST_F(core, a_ring_that_was_mapped_twice_is_one)
{
	struct gprof_core_recorder r = { .sz = sizeof(r) };

	add_ring(self->d, 1, 4);
	add_ring(self->d, 0, 3);
	add_ring(self->d, 1, 4);
	ASSERT_EQ(0, open_it(self)) TH_LOG("%s", gprof_error());
	ASSERT_EQ(1, gprof_core_recorders(self->c));
	ASSERT_EQ(0, gprof_core_recorder(self->c, 0, &r));
	EXPECT_EQ(2, r.buffers);
	EXPECT_EQ(7, r.produced);
}

/* Any number of rings from the bytes of one. */
TEST_F(core, mappings_are_not_more_than_the_file)
{
	struct dump *d = self->d;
	unsigned int i;

	add_ring(d, 0, 3);
	for (i = 1; i < 1 + RINGS * 40; i++) {
		d->headers[d->elf.e_phnum] = d->headers[1];
		d->headers[d->elf.e_phnum++].p_offset = (uintptr_t)&d->rings[0] - (uintptr_t)d;
	}
	/* The list of mappings is four times as long in each of so many notes. */
	for (i = 1; i < RINGS; i++) {
		memcpy(d->files.of[i], d->files.of[0], sizeof(d->files.of[0]));
		memcpy(d->files.names + i * sizeof(GPROF_DEVICE), GPROF_DEVICE,
		       sizeof(GPROF_DEVICE));
	}
	for (i = 0; i < 20; i++)
		d->headers[d->elf.e_phnum++] = d->headers[0];
	EXPECT_EQ(-EBADMSG, open_it(self));
}

/* Each of which would be read into memory of its own. */
TEST_F(core, notes_are_not_more_than_some)
{
	const struct rlimit limit = { 600 << 20, 600 << 20 };
	const size_t size = 4 << 20;
	struct dump *d = self->d;
	unsigned int i;

	add_ring(d, 0, 3);
	for (i = 0; i < NOTES - 2; i++) {
		d->headers[d->elf.e_phnum++] = (Elf64_Phdr){
			.p_type = PT_NOTE, .p_filesz = size, .p_offset = sizeof(*d) + 4 * i,
		};
	}
	ASSERT_EQ(0, ftruncate(self->fd, sizeof(*d) + size + 4 * NOTES));
#ifndef __SANITIZE_ADDRESS__
	ASSERT_EQ(0, setrlimit(RLIMIT_AS, &limit));
#else
	(void)limit;
#endif
	EXPECT_EQ(-EBADMSG, open_it(self));
}

TEST_HARNESS_MAIN
