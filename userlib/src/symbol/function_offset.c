// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * function_offset.c: where in a file a function's code is.
 */
#include "function_offset.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "base/regular_file.h"
#include "elf_module.h"

/* The name, which may have a version ("fnmatch@@GLIBC_2.2.5"). */
static bool is_named(const char *symbol, const char *function)
{
	size_t n = strlen(function);

	return !strncmp(symbol, function, n) && (!symbol[n] || symbol[n] == '@');
}

/* How many places have that name; @addr gets the last of them, as the file has it. */
static unsigned int find(struct gprof_elf *m, const char *function, GElf_Addr *addr)
{
	int nr = gprof_elf_symtab(m), i;
	unsigned int found = 0;

	for (i = 0; i < nr; i++) {
		GElf_Addr at;
		GElf_Sym sym;
		const char *name = dwfl_module_getsym_info(m->mod, i, &sym, &at, NULL, NULL, NULL);

		if (!name || sym.st_shndx == SHN_UNDEF ||
		    GELF_ST_TYPE(sym.st_info) != STT_FUNC || !is_named(name, function))
			continue;
		at -= m->bias;
		/* One function may be there under several versions, and in two tables. */
		if (found && at == *addr)
			continue;
		*addr = at;
		found++;
	}
	return found;
}

static bool to_offset(Elf *elf, GElf_Addr addr, uint64_t *offset)
{
	size_t nr, i;

	if (elf_getphdrnum(elf, &nr))
		return false;
	for (i = 0; i < nr; i++) {
		GElf_Phdr ph;

		if (!gelf_getphdr(elf, (int)i, &ph) || ph.p_type != PT_LOAD ||
		    !(ph.p_flags & PF_X) || addr < ph.p_vaddr || addr - ph.p_vaddr >= ph.p_filesz)
			continue;
		*offset = addr - ph.p_vaddr + ph.p_offset;
		return true;
	}
	return false;
}

int gprof_function_offset(const char *path, const char *function, uint64_t *offset,
			  struct gprof_error *e)
{
	enum gprof_missing why;
	unsigned int found = 0;
	GElf_Addr addr = 0;
	struct gprof_elf m;
	struct stat st;
	/* a pipe at the path would block */
	int look = gprof_open_path(path, 0, &st), fd, err;

	fd = look < 0 ? -1 : gprof_reopen(look);
	if (fd < 0) {
		err = errno;
		if (look >= 0)
			close(look);
		if (err == ENXIO)
			return gprof_error_set(e, EINVAL, "%s is no regular file, and so "
					       "neither a program nor a shared library", path);
		return gprof_error_set(e, err, "%s cannot be opened (%s)", path, gprof_strerror(err));
	}
	close(look);
	err = gprof_elf_open(&m, fd, path, 0);
	close(fd);
	if (err && err != -ENOEXEC)
		return gprof_error_set(e, -err, "%s cannot be read (%s)", path, gprof_strerror(-err));
	if (err)
		return gprof_error_set(e, -err, "%s is neither a program nor a shared library",
				       path);
	why = gprof_elf_symbols(&m);
	if (why == GPROF_MISSING_NOT)
		found = find(&m, function, &addr);
	if (why == GPROF_MISSING_MEMORY)
		err = gprof_error_set(e, ENOMEM, "%s: no memory for its symbols", path);
	else if (found > 1)
		err = gprof_error_set(e, EEXIST, "%s has %u functions of the name %s", path, found,
				      function);
	else if (!found || !to_offset(m.elf, addr, offset))
		err = gprof_error_set(e, ENOENT, "%s has no function %s, or has been stripped of its "
				      "name", path, function);
	gprof_elf_close(&m);
	return err;
}

static void each_symbol(struct gprof_elf *m, gprof_function_found found, void *ctx)
{
	int nr = gprof_elf_symtab(m), i;
	char plain[256];

	for (i = 0; i < nr; i++) {
		uint64_t offset;
		GElf_Addr at;
		GElf_Sym sym;
		const char *name = dwfl_module_getsym_info(m->mod, i, &sym, &at, NULL, NULL, NULL);
		size_t n = name ? strcspn(name, "@") : 0;

		if (!n || n >= sizeof(plain) || sym.st_shndx == SHN_UNDEF ||
		    GELF_ST_TYPE(sym.st_info) != STT_FUNC ||
		    GELF_ST_BIND(sym.st_info) == STB_LOCAL || !to_offset(m->elf, at - m->bias, &offset))
			continue;
		memcpy(plain, name, n);
		plain[n] = '\0';
		found(ctx, plain, offset);
	}
}

int gprof_functions_each(int fd, const char *path, gprof_function_found found, void *ctx)
{
	struct gprof_elf m;
	int err = gprof_elf_open(&m, fd, path, 0);

	if (err)
		return err;
	if (gelf_getclass(m.elf) != ELFCLASS64)
		err = -ENOEXEC;
	else if (gprof_elf_symbols(&m) == GPROF_MISSING_NOT)
		each_symbol(&m, found, ctx);
	gprof_elf_close(&m);
	return err;
}
