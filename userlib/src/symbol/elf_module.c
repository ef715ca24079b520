// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * elf_module.c: an ELF file, opened for elfutils so that it can do no harm.
 */
#include "elf_module.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/own_fd.h"
#include "debug_file.h"

/*
 * Nothing is mapped: whoever may write to a file may truncate it, and reading what it
 * had would end the program that we are a part of. libelf reads what is asked for.
 * Larger files of others than root and ourselves are not opened at all.
 */
#define FOREIGN_MAX	(1 << 30)

static int find_elf(Dwfl_Module *mod, void **userdata, const char *name, Dwarf_Addr base,
		    char **file_name, Elf **elfp)
{
	struct gprof_elf *m = *userdata;
	int fd = m->fd;

	(void)mod;
	(void)name;
	(void)base;
	(void)file_name;
	*elfp = m->elf;
	m->fd = -1;	/* both are dwfl's now */
	return fd;
}

static int find_debuginfo(Dwfl_Module *mod, void **userdata, const char *name, Dwarf_Addr base,
			  const char *file_name, const char *link, GElf_Word crc,
			  char **debug_name)
{
	struct gprof_elf *m = *userdata;
	struct gprof_debug_wanted wanted = {
		.path = m->path, .pid = m->pid, .link = link, .crc = crc,
	};
	const void *id;
	ssize_t len = dwelf_elf_gnu_build_id(m->elf, &id);

	(void)mod;
	(void)name;
	(void)base;
	(void)file_name;
	(void)debug_name;
	if (len > 0) {
		wanted.build_id = id;
		wanted.build_id_len = (size_t)len;
	}
	return gprof_debug_file(&wanted);
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
	m->path = path;
	m->pid = pid;
	m->fd = gprof_own_fd_high(fcntl(fd, F_DUPFD_CLOEXEC, 0));
	if (m->fd < 0)
		return -errno;
	if (!may_read(m->fd))
		goto bad;
	elf_version(EV_CURRENT);
	m->elf = elf_begin(m->fd, ELF_C_READ, NULL);
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

void gprof_elf_close(struct gprof_elf *m)
{
	bool ours = m->fd >= 0;

	if (m->dwfl)
		dwfl_end(m->dwfl);
	if (ours) {
		elf_end(m->elf);
		close(m->fd);
	}
	memset(m, 0, sizeof(*m));
	m->fd = -1;
}
