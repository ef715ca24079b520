// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * core_file.c: the mappings of /dev/gprof in a core dump.
 *
 * The note NT_FILE has the mappings: a count, the size of a page, start, end and offset of each
 * mapping, and then their names (fs/binfmt_elf.c, fill_files_note()). The program headers say
 * which addresses are in the file. Nothing of it is trusted: the parts that are read add up to no
 * more than the file, lest a small file with overlapping parts takes memory without end.
 */
#include "core_file.h"

#include <errno.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <linux/gprof.h>

#ifndef NT_FILE
#define NT_FILE		0x46494c45
#endif

#define NOTES_MAX	(64U << 20)

/* Addresses that are in the file. */
struct load {
	uint64_t addr;
	uint64_t bytes;
	uint64_t at;
};

struct file_entry {
	uint64_t start;
	uint64_t end;
	uint64_t page;
};

/**
 * struct search - state of a search
 * @elf: file
 * @size: bytes of it
 * @phnum: program headers
 * @loads: those of memory, by address
 * @nr_loads: how many
 * @notes: bytes of the notes that were read
 * @mapped: bytes of @all
 * @all: mappings
 * @nr: how many
 */
struct search {
	Elf *elf;
	uint64_t size;
	size_t phnum;
	struct load *loads;
	size_t nr_loads;
	uint64_t notes;
	uint64_t mapped;
	struct gprof_core_mapping *all;
	size_t nr;
};

static int by_addr(const void *a, const void *b)
{
	const struct load *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static int read_loads(struct search *s)
{
	GElf_Phdr ph;
	size_t i;

	s->loads = calloc(s->phnum + 1, sizeof(*s->loads));
	if (!s->loads)
		return -ENOMEM;
	for (i = 0; i < s->phnum; i++)
		if (gelf_getphdr(s->elf, (int)i, &ph) && ph.p_type == PT_LOAD)
			s->loads[s->nr_loads++] = (struct load){ ph.p_vaddr, ph.p_filesz,
								 ph.p_offset };
	qsort(s->loads, s->nr_loads, sizeof(*s->loads), by_addr);
	return 0;
}

/*
 * Where the memory of a mapping is, as far as it was dumped: 1, or 0 when it was not. Dumped bytes
 * that are not in the file are -EBADMSG, lest half of the rings pass for all.
 */
static int find_bytes(struct search *s, const struct file_entry *f, struct gprof_core_mapping *m)
{
	size_t lo = 0, hi = s->nr_loads;
	const struct load *l;
	uint64_t into;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (s->loads[mid].addr <= f->start)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo || f->start - s->loads[lo - 1].addr >= s->loads[lo - 1].bytes)
		return 0;
	l = &s->loads[lo - 1];
	into = f->start - l->addr;
	if (l->at > s->size || l->bytes > s->size - l->at)
		return -EBADMSG;
	m->at = l->at + into;
	m->bytes = l->bytes - into;
	if (m->bytes > f->end - f->start)
		m->bytes = f->end - f->start;
	return 1;
}

static int add(struct search *s, const struct file_entry *f, uint64_t page_size)
{
	struct gprof_core_mapping m = { .offset = f->page * page_size }, *more;

	int ret = f->end > f->start ? find_bytes(s, f, &m) : 0;

	if (ret <= 0)
		return ret;
	if (m.bytes > s->size - s->mapped)
		return -EBADMSG;
	s->mapped += m.bytes;
	more = realloc(s->all, (s->nr + 1) * sizeof(*more));
	if (!more)
		return -ENOMEM;
	s->all = more;
	s->all[s->nr++] = m;
	return 0;
}

static int read_files(struct search *s, const unsigned char *p, size_t len)
{
	uint64_t count, page_size;
	const char *name, *end = (const char *)p + len;
	size_t i;
	int err = 0;

	if (len < 16)
		return -EBADMSG;
	memcpy(&count, p, 8);
	memcpy(&page_size, p + 8, 8);
	if (count > GPROF_CORE_MAPPINGS_MAX || count * sizeof(struct file_entry) > len - 16)
		return -EBADMSG;
	name = (const char *)p + 16 + count * sizeof(struct file_entry);
	for (i = 0; i < count && !err; i++) {
		const char *zero = memchr(name, '\0', (size_t)(end - name));
		struct file_entry f;

		if (!zero)
			return -EBADMSG;
		memcpy(&f, p + 16 + i * sizeof(f), sizeof(f));
		if (!strcmp(name, GPROF_DEVICE))
			err = add(s, &f, page_size);
		name = zero + 1;
	}
	return err;
}

static int read_notes(struct search *s, const GElf_Phdr *ph)
{
	Elf_Data *data;
	size_t at = 0;
	int err = 0;

	if (ph->p_filesz > NOTES_MAX - s->notes || ph->p_offset > s->size ||
	    ph->p_filesz > s->size - ph->p_offset)
		return -EBADMSG;
	s->notes += ph->p_filesz;
	data = elf_getdata_rawchunk(s->elf, (int64_t)ph->p_offset, ph->p_filesz, ELF_T_NHDR);
	while (data && !err) {
		size_t name, desc, next;
		GElf_Nhdr note;

		next = gelf_getnote(data, at, &note, &name, &desc);
		if (!next)
			break;
		if (note.n_type == NT_FILE)
			err = read_files(s, (const unsigned char *)data->d_buf + desc,
					 note.n_descsz);
		at = next;
	}
	return err;
}

static int search(struct search *s, struct gprof_error *e)
{
	GElf_Ehdr ehdr;
	GElf_Phdr ph;
	size_t i;
	int err;

	if (elf_kind(s->elf) != ELF_K_ELF || !gelf_getehdr(s->elf, &ehdr) ||
	    ehdr.e_type != ET_CORE || ehdr.e_ident[EI_CLASS] != ELFCLASS64 ||
	    elf_getphdrnum(s->elf, &s->phnum))
		return gprof_error_set(e, ENOEXEC, "the file is no core dump of a 64-bit program");
	err = read_loads(s);
	for (i = 0; i < s->phnum && !err; i++)
		if (gelf_getphdr(s->elf, (int)i, &ph) && ph.p_type == PT_NOTE)
			err = read_notes(s, &ph);
	if (err == -EBADMSG)
		return gprof_error_set(e, EBADMSG,
				       "the core dump's list of mapped files makes no sense, or "
				       "the file is cut short");
	return err ? gprof_error_set(e, -err, "no memory for a core dump") : 0;
}

int gprof_core_file_read(int fd, struct gprof_core_mapping **mappings, size_t *nr,
			 struct gprof_error *e)
{
	struct search s = { 0 };
	struct stat st;
	int err;

	*mappings = NULL;
	*nr = 0;
	if (fstat(fd, &st))
		return gprof_error_set(e, errno, "the core dump cannot be read (%s)",
				       gprof_strerror(errno));
	if (!S_ISREG(st.st_mode))
		return gprof_error_set(e, ENOEXEC, "a core dump must be a regular file");
	s.size = (uint64_t)st.st_size;
	elf_version(EV_CURRENT);
	s.elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!s.elf)
		return gprof_error_set(e, ENOEXEC, "the file is no core dump (%s)", elf_errmsg(-1));
	err = search(&s, e);
	elf_end(s.elf);
	free(s.loads);
	if (err) {
		free(s.all);
		return err;
	}
	*mappings = s.all;
	*nr = s.nr;
	return 0;
}
