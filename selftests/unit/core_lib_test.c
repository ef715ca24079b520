// SPDX-License-Identifier: GPL-2.0-only
/*
 * Core dumps that were made to do harm, or are odd: what they take does not grow beyond
 * what is in them, and nothing in them is counted twice.
 */
#include "harness.h"
#include <elf.h>
#include <gprof/core.h>
#include <linux/gprof.h>

#include "profile_util.h"
#include "profile/profile.h"

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

/* Though a program may map it as often as it likes. */
TEST_F(core, each_ring_is_one)
{
	struct gprof_core_recorder r = { .sz = sizeof(r) };

	add_ring(self->d, 1, 4);
	add_ring(self->d, 0, 3);
	add_ring(self->d, 1, 4);
	ASSERT_EQ(0, open_it(self)) TH_LOG("%s", gprof_error());
	ASSERT_EQS(1, gprof_core_recorders(self->c), 0, gprof_core_recorder(self->c, 0, &r));
	EXPECT_EQS(2, r.buffers, 7, r.produced);
}

/* Any number of rings from the bytes of one. */
TEST_F(core, mappings_are_not_more_than_the_file)
{
	struct dump *d = self->d;

	add_ring(d, 0, 3);
	for (unsigned int i = 1; i < 1 + RINGS * 40; i++) {
		d->headers[d->elf.e_phnum] = d->headers[1];
		d->headers[d->elf.e_phnum++].p_offset = (uintptr_t)&d->rings[0] - (uintptr_t)d;
	}
	/* The list of mappings is four times as long in each of so many notes. */
	for (unsigned int i = 1; i < RINGS; i++) {
		memcpy(d->files.of[i], d->files.of[0], sizeof(d->files.of[0]));
		memcpy(d->files.names + i * sizeof(GPROF_DEVICE), GPROF_DEVICE,
		       sizeof(GPROF_DEVICE));
	}
	for (unsigned int i = 0; i < 20; i++)
		d->headers[d->elf.e_phnum++] = d->headers[0];
	EXPECT_EQ(-EBADMSG, open_it(self));
}

/* Each of which would be read into memory of its own. */
TEST_F(core, notes_are_not_more_than_some)
{
	const struct rlimit limit = { 600 << 20, 600 << 20 };
	const size_t size = 4 << 20;
	struct dump *d = self->d;

	add_ring(d, 0, 3);
	for (unsigned int i = 0; i < NOTES - 2; i++) {
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

/* Looking for each of them among all would take 10 seconds. */
TEST_F(core, mappings_are_found_at_once)
{
	enum { MANY = 30000 };
	static const char name[] = GPROF_DEVICE;
	const size_t list = 16 + MANY * (24 + sizeof(name));
	const size_t note = sizeof(Elf64_Nhdr) + 8 + list;
	const size_t headers = sizeof(Elf64_Ehdr) + (MANY + 1) * sizeof(Elf64_Phdr);
	unsigned char *file = calloc(1, headers + note + 8), *p = file + headers;
	Elf64_Phdr *ph = (Elf64_Phdr *)(file + sizeof(Elf64_Ehdr));
	uint64_t begin, count[2] = { MANY, PAGE };

	ASSERT_NE(NULL, file);
	self->d->elf.e_phoff = sizeof(Elf64_Ehdr);
	self->d->elf.e_phnum = MANY + 1;
	memcpy(file, &self->d->elf, sizeof(self->d->elf));
	self->d->files.head.n_descsz = list;
	memcpy(p, &self->d->files.head, sizeof(Elf64_Nhdr));
	memcpy(p + sizeof(Elf64_Nhdr), "CORE", 5);
	p += sizeof(Elf64_Nhdr) + 8;
	memcpy(p, count, 16);
	ph[0] = (Elf64_Phdr){ .p_type = PT_NOTE, .p_offset = headers, .p_filesz = note };
	for (size_t i = 0; i < MANY; i++) {
		uint64_t of[3] = { 2 * i * PAGE, (2 * i + 1) * PAGE, 0 };

		ph[MANY - i] = (Elf64_Phdr){
			.p_type = PT_LOAD, .p_vaddr = of[1], .p_filesz = PAGE, .p_memsz = PAGE,
		};
		memcpy(p + 16 + i * 24, of, 24);
		memcpy(p + 16 + MANY * 24 + i * sizeof(name), name, sizeof(name));
	}
	ASSERT_EQ(headers + note + 8, write(self->fd, file, headers + note + 8));
	free(file);
	begin = lib_cpu_ns();
	self->c = gprof_core_open(self->fd);
	EXPECT_EQ(NULL, self->c);
	EXPECT_EQ(ENOENT, errno) TH_LOG("%s", gprof_error());
	EXPECT_GT(1000000000, lib_cpu_ns() - begin);
}

/* What the process has taken at most so far, in KiB. */
/* A profile of the only ring, with these records behind what it has. */
static struct gprof_profile *profile_of(FIXTURE_DATA(core) *self, uint32_t kind,
					const void *records, size_t bytes)
{
	struct gprof_profile *p = NULL;
	struct ring *r = &self->d->rings[0];

	r->head.kind = kind;
	memcpy(r->data + r->head.head, records, bytes);
	r->head.head += bytes;
	if (open_it(self) || gprof_core_profile(self->c, 0, &p))
		return NULL;
	return p;
}

/* In a file with holes it takes no room either. */
TEST_F(core, an_empty_ring_takes_no_memory)
{
	const uint64_t size = 256 << 20;
	struct gprof_profile *p = NULL;
	struct dump *d = self->d;
	long before;

	add_ring(d, 0, 0);
	d->files.of[0][1] = RING_AT + PAGE + size;
	d->headers[1].p_filesz = d->headers[1].p_memsz = PAGE + size;
	d->rings[0].head.data_size = size;
	d->rings[0].head.kind = GPROF_KIND_CPU;
	ASSERT_EQ(0, ftruncate(self->fd, sizeof(*d) + PAGE + size));
	ASSERT_EQ(0, open_it(self)) TH_LOG("%s", gprof_error());
	before = lib_peak_kib(RUSAGE_SELF);
	EXPECT_EQ(0, gprof_core_profile(self->c, 0, &p));
	EXPECT_GT(32 << 10, lib_peak_kib(RUSAGE_SELF) - before);
	gprof_profile_free(p);
}

/* Two samples on either side of the end of the data. */
TEST_F(core, a_ring_is_read_around_its_end)
{
	const struct gprof_sample_rec s = { .rec = { GPROF_REC_SAMPLE, 0, sizeof(s) }, .tid = 3 };
	const struct gprof_generation_rec first = {
		.rec = { .type = GPROF_REC_GENERATION, .size = sizeof(first) }, .weight = 1,
	};
	const uint64_t from = 3 * PAGE - sizeof(first) - sizeof(s);
	struct gprof_profile *p = NULL;
	struct ring *r = &self->d->rings[0];

	add_ring(self->d, 0, 2);
	memset(r->data, 0, sizeof(r->data));
	r->head.kind = GPROF_KIND_CPU;
	r->head.oldest = r->head.generation = from;
	r->head.head = 3 * PAGE + sizeof(s);
	memcpy(r->data + from % PAGE, &first, sizeof(first));
	memcpy(r->data + PAGE - sizeof(s), &s, sizeof(s));
	memcpy(r->data, &s, sizeof(s));
	ASSERT_EQ(0, open_it(self)) TH_LOG("%s", gprof_error());
	ASSERT_EQ(0, gprof_core_profile(self->c, 0, &p)) TH_LOG("%s", gprof_error());
	EXPECT_EQ(2, gprof_profile_total(p, 0));
	gprof_profile_free(p);
}

TEST_F(core, a_wait_keeps_its_delay)
{
	static const char *const types[] = { "contentions", "delay" };
	struct {
		struct gprof_sample_rec s;
		uint64_t value;
		uint64_t wait;
	} s[3];
	struct gprof_profile *p;

	for (size_t i = 0; i < 3; i++) {
		s[i].s = (struct gprof_sample_rec){
			.rec = { GPROF_REC_SAMPLE,
				 GPROF_SAMPLE_REC_F_VALUE | GPROF_SAMPLE_REC_F_WAIT, sizeof(s[0]) },
			.time = 5, .tid = 3,
		};
		s[i].value = 5000000000;
		s[i].wait = 1;
	}
	add_ring(self->d, 0, 9);
	self->d->rings[0].head.lost[GPROF_LOST_FULL] = 4;
	p = profile_of(self, GPROF_KIND_BLOCK, s, sizeof(s));
	ASSERT_NE(NULL, p) TH_LOG("%s", gprof_error());
	ASSERT_EQ(2, p->nr_columns);
	for (size_t i = 0; i < 2; i++)
		EXPECT_STREQ(types[i], p->strings.v[p->columns[i].type]);
	EXPECT_TOTALS(p, 3, 15000000000);
	EXPECT_TRUE(profile_says(p, "produced=9 held=3 lost=4 overwritten=0"));
	EXPECT_TRUE(profile_says(p, "lost 4 samples: the buffer was full"));
	EXPECT_TRUE(profile_says(p, "2 samples had been read before"));
	gprof_profile_free(p);
}

/* Records of 32 bytes, each of which is a stack of 512 frames. */
TEST_F_TIMEOUT(core, stacks_are_made_within_a_limit, 120)
{
	static struct {
		struct gprof_stack_rec s;
		uint64_t frames[511];
	} base;
	struct { struct gprof_stack_delta_rec b; uint64_t frame; } r = { .b = {
			.rec = { GPROF_REC_STACK_DELTA, 0, sizeof(r) },
			.suffix = 1, .nr_user = 1, .nr_shared = 511,
		} };
	const uint64_t size = 2 << 20;
	const uint32_t nr = 40000;
	struct gprof_profile *p = NULL;
	struct dump *d = self->d;
	uint64_t at = sizeof(*d) + PAGE + sizeof(struct gprof_generation_rec);
	long before;

	add_ring(d, 0, 0);
	base.s = (struct gprof_stack_rec){
		.rec = { GPROF_REC_STACK, 0, sizeof(base) }, .id = 1, .suffix = 1, .nr_user = 511,
	};
	d->files.of[0][1] = RING_AT + PAGE + size;
	d->headers[1].p_filesz = d->headers[1].p_memsz = PAGE + size;
	d->headers[1].p_offset = sizeof(*d);
	d->rings[0].head.data_size = size;
	d->rings[0].head.kind = GPROF_KIND_CPU;
	d->rings[0].head.head += sizeof(base) + nr * sizeof(r);
	ASSERT_GT(size, d->rings[0].head.head);
	ASSERT_EQ(0, ftruncate(self->fd, sizeof(*d) + PAGE + size));
	ASSERT_EQ(2 * PAGE, pwrite(self->fd, &d->rings[0], 2 * PAGE, sizeof(*d)));
	ASSERT_EQ(sizeof(base), pwrite(self->fd, &base, sizeof(base), at));
	at += sizeof(base);
	for (uint32_t i = 0; i < nr; i++, at += sizeof(r)) {
		r.b.id = i + 2;
		r.frame = i;
		ASSERT_EQ(sizeof(r), pwrite(self->fd, &r, sizeof(r), at));
	}
	ASSERT_EQ(0, open_it(self)) TH_LOG("%s", gprof_error());
	before = lib_peak_kib(RUSAGE_SELF);
	EXPECT_EQ(-ENOMEM, gprof_core_profile(self->c, 0, &p));
	EXPECT_SAYS(gprof_error(), "more than 64 MiB");
	EXPECT_GT(LIB_MEMORY(150 << 10), lib_peak_kib(RUSAGE_SELF) - before);
}

TEST_HARNESS_MAIN
