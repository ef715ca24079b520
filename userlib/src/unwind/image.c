// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * image.c: an ELF file as its unwind tables need it.
 */
#include "image.h"

#include <elf.h>
#include <errno.h>
#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/read_at.h"
#include "go_table.h"

#define WINDOW		(128 << 10)
#define WINDOW_BEFORE	GPROF_IMAGE_AT_MAX	/* a scan looks back */
#define NAMES_MAX	(1 << 20)			/* of sections; real ones have 1 KiB */
#define PHDRS_MAX	1170			/* limit of execve(): 64 KiB */

static bool inside(const struct gprof_image *img, uint64_t offset, uint64_t len)
{
	return offset <= img->size && len <= img->size - offset;
}

/* All of it, or -errno: a file may have become shorter. */
static int read_all(const struct gprof_image *img, uint64_t offset, void *to, size_t len)
{
	int err;

	if (!inside(img, offset, len))
		return -ENOEXEC;
	if (img->mem) {
		memcpy(to, img->mem + offset, len);
		return 0;
	}
	err = gprof_read_at(img->fd, to, len, offset);
	return err == -ENODATA ? -ENOEXEC : err;
}

const unsigned char *gprof_image_at(struct gprof_image *img, uint64_t offset, size_t len)
{
	uint64_t at;

	if (!inside(img, offset, len) || len > GPROF_IMAGE_AT_MAX)
		return NULL;
	if (img->mem)
		return img->mem + offset;
	if (offset < img->window_at || offset - img->window_at + len > img->window_len) {
		at = offset > WINDOW_BEFORE ? offset - WINDOW_BEFORE : 0;
		img->window_at = at;
		img->window_len = img->size - at < WINDOW ? (size_t)(img->size - at) : WINDOW;
		if (read_all(img, at, img->window, img->window_len)) {
			img->window_len = 0;
			return NULL;
		}
	}
	return img->window + (offset - img->window_at);
}

/* @out has room for the unpacked size that the file says, and no more is written. */
static int inflate_to(void *out, size_t size, const void *data, size_t packed)
{
	struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
	int err = -ENOMEM;

	if (out && d)
		err = libdeflate_zlib_decompress(d, data, packed, out, size, NULL) ? -ENOEXEC : 0;
	libdeflate_free_decompressor(d);
	return err;
}

static int inflate_part(struct gprof_image *img, struct gprof_image_part *part,
			unsigned char **copy)
{
	uint64_t packed = part->size;
	unsigned char *out;
	Elf64_Chdr chdr;
	int err;

	if (packed < sizeof(chdr))
		return -ENOEXEC;
	memcpy(&chdr, *copy, sizeof(chdr));
	if (chdr.ch_type != ELFCOMPRESS_ZLIB || !chdr.ch_size)
		return -ENOEXEC;
	if (gprof_budget_charge(img->budget, chdr.ch_size))
		return -ENOMEM;
	out = malloc(chdr.ch_size);
	err = inflate_to(out, chdr.ch_size, *copy + sizeof(chdr), packed - sizeof(chdr));
	if (err) {
		free(out);
		gprof_budget_uncharge(img->budget, chdr.ch_size);
		return err;
	}
	gprof_image_drop(img, part, *copy);
	part->size = chdr.ch_size;
	*copy = out;
	return 0;
}

int gprof_image_read(struct gprof_image *img, struct gprof_image_part *part, unsigned char **out)
{
	int err;

	*out = NULL;
	if (!inside(img, part->offset, part->size) || !part->size)
		return -ENOEXEC;
	if (gprof_budget_charge(img->budget, part->size))
		return -ENOMEM;
	*out = malloc(part->size);
	err = *out ? read_all(img, part->offset, *out, part->size) : -ENOMEM;
	if (!err && part->compressed)
		err = inflate_part(img, part, out);
	if (err) {
		gprof_image_drop(img, part, *out);
		*out = NULL;
	}
	return err;
}

void gprof_image_drop(struct gprof_image *img, const struct gprof_image_part *part,
		      unsigned char *copy)
{
	gprof_budget_uncharge(img->budget, part->size);
	free(copy);
}

const struct gprof_load *gprof_image_load(const struct gprof_image *img, uint64_t addr)
{
	size_t lo = 0, hi = img->nr_loads;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (img->loads[mid].addr <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo || addr - img->loads[lo - 1].addr >= img->loads[lo - 1].size)
		return NULL;
	return &img->loads[lo - 1];
}

/* The kernel maps them in this order, later ones over earlier ones; linkers overlap none. */
static int add_load(struct gprof_image *img, const Elf64_Phdr *ph)
{
	const struct gprof_load *last = img->nr_loads ? &img->loads[img->nr_loads - 1] : NULL;
	struct gprof_load load = {
		.addr = ph->p_vaddr, .offset = ph->p_offset, .size = ph->p_filesz,
		.exec = ph->p_flags & PF_X,
	};

	if (!load.size || load.offset >= img->size)
		return 0;
	if (load.size > img->size - load.offset)
		load.size = img->size - load.offset;
	if (load.addr + load.size < load.addr ||
	    (last && load.addr - last->addr < last->size) || (last && load.addr < last->addr))
		return -ENOEXEC;
	img->loads[img->nr_loads++] = load;
	return 0;
}

static int read_segments(struct gprof_image *img, const Elf64_Ehdr *eh)
{
	Elf64_Phdr ph;
	size_t i;
	int err = 0;

	if (eh->e_phentsize != sizeof(ph) || !eh->e_phnum || eh->e_phnum > PHDRS_MAX)
		return -ENOEXEC;
	if (gprof_budget_charge(img->budget, eh->e_phnum * sizeof(*img->loads)))
		return -ENOMEM;
	img->loads = calloc(eh->e_phnum, sizeof(*img->loads));
	if (!img->loads) {
		gprof_budget_uncharge(img->budget, eh->e_phnum * sizeof(*img->loads));
		return -ENOMEM;
	}
	for (i = 0; i < eh->e_phnum && !err; i++) {
		const unsigned char *p = gprof_image_at(img, eh->e_phoff + i * sizeof(ph),
							sizeof(ph));

		if (!p)
			return -ENOEXEC;
		memcpy(&ph, p, sizeof(ph));
		if (ph.p_type == PT_LOAD)
			err = add_load(img, &ph);
		else if (ph.p_type == PT_GNU_EH_FRAME && inside(img, ph.p_offset, ph.p_filesz))
			img->eh_frame_hdr = (struct gprof_image_part){
				.offset = ph.p_offset, .size = ph.p_filesz, .addr = ph.p_vaddr,
			};
	}
	return err;
}

/* Both in one piece: names may lie anywhere, and the window is one. */
struct sections {
	struct gprof_image_part headers;
	struct gprof_image_part names;
	unsigned char *header;
	unsigned char *name;
};

static bool is_named(const struct sections *s, uint32_t name, const char *text)
{
	size_t len = strlen(text) + 1;

	return name < s->names.size && len <= s->names.size - name &&
	       !memcmp(s->name + name, text, len);
}

static void note_section(struct gprof_image *img, const struct sections *s, const Elf64_Shdr *sh)
{
	struct gprof_image_part *to = NULL;

	if (sh->sh_type == SHT_NOBITS || !sh->sh_size || !inside(img, sh->sh_offset, sh->sh_size))
		return;
	if ((sh->sh_flags & SHF_ALLOC) && is_named(s, sh->sh_name, ".eh_frame"))
		to = &img->eh_frame;
	else if (is_named(s, sh->sh_name, ".debug_frame"))
		to = &img->debug_frame;
	else if (is_named(s, sh->sh_name, GPROF_GO_SECTION) ||
		 is_named(s, sh->sh_name, GPROF_GO_SECTION_PIE))
		to = &img->go_table;
	else if (is_named(s, sh->sh_name, ".data.rel.ro"))
		to = &img->relro;
	else if (is_named(s, sh->sh_name, ".note.go.buildid"))
		img->go = true;
	else if (is_named(s, sh->sh_name, ".text"))
		img->text = sh->sh_addr;
	if (to && !to->size)
		*to = (struct gprof_image_part){
			.offset = sh->sh_offset, .size = sh->sh_size, .addr = sh->sh_addr,
			.compressed = sh->sh_flags & SHF_COMPRESSED,
		};
}

/* If the file still has them; they are optional, so damage to them is no error. */
static int read_sections(struct gprof_image *img, const Elf64_Ehdr *eh)
{
	struct sections s = {
		.headers = { .offset = eh->e_shoff,
			     .size = (uint64_t)eh->e_shnum * sizeof(Elf64_Shdr) },
	};
	Elf64_Shdr sh;
	size_t i;
	int err;

	if (eh->e_shentsize != sizeof(sh) || eh->e_shstrndx >= eh->e_shnum ||
	    !inside(img, s.headers.offset, s.headers.size))
		return 0;
	err = gprof_image_read(img, &s.headers, &s.header);
	if (err)
		return err;
	memcpy(&sh, s.header + eh->e_shstrndx * sizeof(sh), sizeof(sh));
	s.names.offset = sh.sh_offset;
	s.names.size = sh.sh_size;
	if (sh.sh_type != SHT_NOBITS && sh.sh_size && sh.sh_size <= NAMES_MAX &&
	    inside(img, sh.sh_offset, sh.sh_size)) {
		err = gprof_image_read(img, &s.names, &s.name);
		for (i = 0; i < eh->e_shnum && !err; i++) {
			memcpy(&sh, s.header + i * sizeof(sh), sizeof(sh));
			note_section(img, &s, &sh);
		}
		if (!err)
			gprof_image_drop(img, &s.names, s.name);
	}
	gprof_image_drop(img, &s.headers, s.header);
	return err;
}

static int start(struct gprof_image *img)
{
	struct stat st;

	if (!img->mem) {
		if (fstat(img->fd, &st))
			return -errno;
		if (!S_ISREG(st.st_mode))
			return -ENOEXEC;
		img->size = (uint64_t)st.st_size;
		if (gprof_budget_charge(img->budget, WINDOW))
			return -ENOMEM;
		img->window = malloc(WINDOW);
		if (!img->window) {
			gprof_budget_uncharge(img->budget, WINDOW);
			return -ENOMEM;
		}
	}
	return 0;
}

int gprof_image_open(struct gprof_image *img, int fd, const void *mem, uint64_t size,
		     struct gprof_budget *budget)
{
	const unsigned char *p;
	Elf64_Ehdr eh;
	int err;

	memset(img, 0, sizeof(*img));
	img->fd = fd;
	img->mem = mem;
	img->size = size;
	img->budget = budget;
	err = start(img);
	if (err)
		return err;
	p = gprof_image_at(img, 0, sizeof(eh));
	if (!p)
		return -ENOEXEC;
	memcpy(&eh, p, sizeof(eh));
	if (memcmp(eh.e_ident, ELFMAG, SELFMAG) || eh.e_ident[EI_CLASS] != ELFCLASS64 ||
	    eh.e_ident[EI_DATA] != ELFDATA2LSB || (eh.e_type != ET_EXEC && eh.e_type != ET_DYN) ||
	    (eh.e_machine != EM_X86_64 && eh.e_machine != EM_AARCH64))
		return -ENOEXEC;
	img->machine = eh.e_machine;
	img->entry = eh.e_entry;
	err = read_segments(img, &eh);
	return err ? err : read_sections(img, &eh);
}

void gprof_image_close(struct gprof_image *img)
{
	if (img->window)
		gprof_budget_uncharge(img->budget, WINDOW);
	free(img->window);
	free(img->loads);	/* the budget ends with the image */
	memset(img, 0, sizeof(*img));
	img->fd = -1;
}
