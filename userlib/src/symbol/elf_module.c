// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * elf_module.c: an ELF file, opened for elfutils so that it can do no harm.
 */
#include "elf_module.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory_share.h"
#include "base/own_fd.h"
#include "debug_file.h"
#include "elf_packed.h"
#include "elf_strings.h"

/*
 * Nothing is mapped: a user with write access to a file may truncate it, and a read behind its end
 * would kill the program that we are a part of. libelf reads parts on demand. Larger files of
 * others than root and ourselves are not opened at all.
 */
#define FOREIGN_MAX	(1 << 30)

#define MEMORY_MAX	(256ULL << 20)	/* bytes of objects that are made of a file */
#define INFLATED_MAX	(256ULL << 20)	/* bytes that its compressed DWARF comes to */
#define TRUSTED_MAX	(1ULL << 30)	/* likewise, of a debug file that root has put there */

static int find_elf(Dwfl_Module *mod, void **userdata, const char *name, Dwarf_Addr base,
		    char **file_name, Elf **elfp)
{
	struct gprof_elf *m = *userdata;

	(void)mod;
	(void)name;
	(void)base;
	(void)file_name;
	*elfp = m->elf;
	m->given = true;
	/* It closes its descriptor by number: the one here stays open. */
	return -1;
}

/* They come last in a file, and one that was cut short has lost them. */
static bool has_sections(Elf *elf)
{
	size_t nr;

	return !elf_getshdrnum(elf, &nr) && nr;
}

/* Uses a debug file only after a check that its strings end; closes any other. */
static int adopt_debug(struct gprof_elf *m, int fd)
{
	uint64_t max = INFLATED_MAX;
	bool good = false;
	struct stat st;
	Elf *elf;

	if (fd < 0)
		return -1;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);	/* it is not truncated */
	if (elf && !fstat(fd, &st) && has_sections(elf) && gprof_elf_strings_end(elf) &&
	    gprof_elf_inflated(elf, false) <= GPROF_PACKED_MAX) {
		if (!st.st_uid && !(st.st_mode & 022))
			max = TRUSTED_MAX;
		if (gprof_elf_inflated(elf, true) > gprof_memory_share(max))
			m->no_dwarf = true;
		good = !m->no_dwarf || !m->asks_dwarf;
	}
	elf_end(elf);
	if (!good || m->no_dwarf)
		m->why = GPROF_MISSING_DEBUG;
	if (good)
		return fd;
	close(fd);
	return -1;
}

static int find_debuginfo(Dwfl_Module *mod, void **userdata, const char *name, Dwarf_Addr base,
			  const char *file_name, const char *link, GElf_Word crc,
			  char **debug_name)
{
	struct gprof_elf *m = *userdata;
	struct gprof_debug_request wanted = {
		.path = m->path, .pid = m->pid, .link = link, .crc = crc,
	};
	Dwarf_Addr bias;
	const void *id;
	ssize_t len;
	int fd;

	(void)name;
	(void)base;
	(void)file_name;
	(void)debug_name;
	/*
	 * Where it has DWARF already it asks for the file that dwz(1) made of several files, and
	 * accepts any.
	 */
	if (m->asks_dwarf && dwfl_module_getdwarf(mod, &bias))
		return -1;
	len = dwelf_elf_gnu_build_id(m->elf, &id);
	if (len > 0) {
		wanted.build_id = id;
		wanted.build_id_len = (size_t)len;
	}
	fd = adopt_debug(m, gprof_debug_file(&wanted));
	if (fd < 0)
		return -1;
	gprof_own_fd_adopt(&m->debug, fd);
	return m->debug.fd;
}

/* A debug file that elfutils has just had and found no good it has closed itself. */
static void check_debug(struct gprof_elf *m, bool had)
{
	if (!had && !gprof_own_fd_is(&m->debug))
		m->debug = GPROF_OWN_FD_NONE;
}

static const Dwfl_Callbacks callbacks = {
	.find_elf = find_elf,
	.find_debuginfo = find_debuginfo,
};

static bool load_range(Elf *elf, GElf_Addr *start, GElf_Addr *end)
{
	size_t nr, i;

	*start = UINT64_MAX;
	*end = 0;
	if (elf_getphdrnum(elf, &nr))
		return false;
	for (i = 0; i < nr; i++) {
		GElf_Phdr ph;

		if (!gelf_getphdr(elf, (int)i, &ph) || ph.p_type != PT_LOAD)
			continue;
		if (ph.p_vaddr + ph.p_memsz < ph.p_vaddr)
			return false;
		if (ph.p_vaddr < *start)
			*start = ph.p_vaddr;
		if (ph.p_vaddr + ph.p_memsz > *end)
			*end = ph.p_vaddr + ph.p_memsz;
	}
	*start &= ~(GElf_Addr)0xfff;
	return *start < *end;
}

static bool may_read(int fd)
{
	struct stat st;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return false;
	return st.st_size <= FOREIGN_MAX || st.st_uid == 0 || st.st_uid == geteuid();
}

int gprof_elf_open(struct gprof_elf *m, int fd, const char *path, uint32_t pid)
{
	GElf_Addr start, end;
	GElf_Ehdr ehdr;
	void **userdata;

	memset(m, 0, sizeof(*m));
	m->own = GPROF_OWN_FD_NONE;
	m->debug = GPROF_OWN_FD_NONE;
	m->path = path;
	m->pid = pid;
	m->memory.max = gprof_memory_share(MEMORY_MAX);
	gprof_own_fd_adopt(&m->own, fcntl(fd, F_DUPFD_CLOEXEC, 0));
	if (m->own.fd < 0)
		return -errno;
	if (!may_read(m->own.fd))
		goto bad;
	elf_version(EV_CURRENT);
	m->elf = elf_begin(m->own.fd, ELF_C_READ, NULL);
	if (!m->elf || elf_kind(m->elf) != ELF_K_ELF || !gelf_getehdr(m->elf, &ehdr) ||
	    (ehdr.e_type != ET_EXEC && ehdr.e_type != ET_DYN) || !load_range(m->elf, &start, &end))
		goto bad;
	m->machine = ehdr.e_machine;

	m->dwfl = dwfl_begin(&callbacks);
	if (!m->dwfl)
		goto bad;
	dwfl_report_begin(m->dwfl);
	m->mod = dwfl_report_module(m->dwfl, "module", start, end);
	if (!m->mod || dwfl_report_end(m->dwfl, NULL, NULL))
		goto bad;
	dwfl_module_info(m->mod, &userdata, NULL, NULL, NULL, NULL, NULL, NULL);
	*userdata = m;
	if (!dwfl_module_getelf(m->mod, &m->bias))
		goto bad;
	return 0;

bad:
	gprof_elf_close(m);
	return -ENOEXEC;
}

bool gprof_elf_is_open(const struct gprof_elf *m)
{
	return gprof_own_fd_is(&m->own);
}

enum gprof_missing gprof_elf_symbols(struct gprof_elf *m)
{
	if (!gprof_elf_strings_end(m->elf))
		return GPROF_MISSING_ELF;
	switch (gprof_elf_packed(m->elf)) {
	case GPROF_PACKED_LARGE:
		return GPROF_MISSING_PACKED;
	case GPROF_PACKED_DAMAGED:
		return GPROF_MISSING_ELF;
	case GPROF_PACKED_UNKNOWN:
		return GPROF_MISSING_MEMORY;
	default:
		return GPROF_MISSING_NOT;
	}
}

bool gprof_elf_has_symtab(Elf *elf)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;

	while ((scn = elf_nextscn(elf, scn)))
		if (gelf_getshdr(scn, &sh) && sh.sh_type == SHT_SYMTAB)
			return true;
	return false;
}

int gprof_elf_symtab(struct gprof_elf *m)
{
	bool had = m->debug.fd >= 0;
	int nr = dwfl_module_getsymtab(m->mod);

	check_debug(m, had);
	return nr;
}

/* libdw would open any path that the file names: it gets this file, or is not called. */
static void open_alt(struct gprof_elf *m, Dwarf *dw)
{
	struct gprof_debug_request wanted = { .pid = m->pid };
	const void *id;
	ssize_t len;
	int fd;

	len = dwelf_dwarf_gnu_debugaltlink(dw, &wanted.alt, &id);
	if (len <= 0)
		return;
	wanted.build_id = id;
	wanted.build_id_len = (size_t)len;
	fd = adopt_debug(m, gprof_debug_file(&wanted));
	if (fd < 0)
		return;
	m->alt_elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	m->alt = m->alt_elf ? dwarf_begin_elf(m->alt_elf, DWARF_C_READ, NULL) : NULL;
	if (m->alt)
		dwarf_setalt(dw, m->alt);
	/* It is mapped, and nothing has to stay open for it. */
	if (m->alt_elf)
		elf_cntl(m->alt_elf, ELF_C_FDDONE);
	close(fd);
}

/*
 * libdw has unpacked the compressed sections, and does not need their pages: a later read maps
 * them again. Where elfutils has memory in place of a mapping there is no mapped file. libdwfl
 * relocates an object file where it is mapped.
 */
static void release_pages(Dwarf *dw)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), size;
	char path[64], *at = elf_rawfile(dwarf_getelf(dw), &size);
	GElf_Ehdr ehdr;
	struct stat st;

	if (!at || (uintptr_t)at % page || !gelf_getehdr(dwarf_getelf(dw), &ehdr) ||
	    ehdr.e_type == ET_REL)
		return;
	size = (size + page - 1) & ~(page - 1);
	snprintf(path, sizeof(path), "/proc/self/map_files/%lx-%lx", (unsigned long)at,
		 (unsigned long)at + size);
	if (!lstat(path, &st))
		madvise(at, size, MADV_DONTNEED);
}

static void close_alt(struct gprof_elf *m)
{
	if (m->alt)
		dwarf_end(m->alt);
	elf_end(m->alt_elf);
}

Dwarf *gprof_elf_dwarf(struct gprof_elf *m, Dwarf_Addr *bias)
{
	bool had = m->debug.fd >= 0;
	Dwarf *dw;

	if (m->has_dwarf)
		return dwfl_module_getdwarf(m->mod, bias);
	if (!m->no_dwarf &&
	    gprof_elf_inflated(m->elf, true) > gprof_memory_share(INFLATED_MAX)) {
		m->no_dwarf = true;
		m->why = GPROF_MISSING_DEBUG;
	}
	if (m->no_dwarf)
		return NULL;
	m->asks_dwarf = true;
	dw = dwfl_module_getdwarf(m->mod, bias);
	check_debug(m, had);
	/* An image that is read, and not mapped, is the file itself. */
	if (dw && dwarf_getelf(dw) != m->elf)
		release_pages(dw);
	if (dw)
		open_alt(m, dw);
	m->asks_dwarf = false;
	m->has_dwarf = dw;
	m->no_dwarf = !dw;
	return dw;
}

void gprof_elf_close(struct gprof_elf *m)
{
	/* elfutils closes that of a debug file: rather its memory is lost than another's closed. */
	if (m->dwfl && (m->debug.fd < 0 || gprof_own_fd_is(&m->debug)))
		dwfl_end(m->dwfl);
	close_alt(m);
	if (!m->given)
		elf_end(m->elf);
	gprof_own_fd_close(&m->own);
	memset(m, 0, sizeof(*m));
	m->own = GPROF_OWN_FD_NONE;
	m->debug = GPROF_OWN_FD_NONE;
}
