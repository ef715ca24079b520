// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * python_file.c: offsets of the structs of an interpreter of Python, by its file.
 */
#include "python_file.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/read_at.h"

#define SECTIONS_MAX	512
#define SEGMENTS_MAX	64
#define SYMBOLS_MAX	(4U << 20)	/* bytes of them, and of their names */

/* Symbols that are looked for. */
enum { RUNTIME, EVAL, VERSION, NR_SYMBOLS };

static const char *const names[NR_SYMBOLS] = {
	"_PyRuntime", "_PyEval_EvalFrameDefault", "Py_Version",
};

/**
 * struct file - an ELF file that is being read
 * @fd: it
 * @segments: its loaded parts
 * @nr_segments: how many
 * @symbols: those that were found; @st_value 0: it was not
 */
struct file {
	int fd;
	Elf64_Phdr segments[SEGMENTS_MAX];
	size_t nr_segments;
	Elf64_Sym symbols[NR_SYMBOLS];
};

/* Bytes of the file that are loaded at an address. */
static int read_loaded(const struct file *f, uint64_t addr, void *to, size_t len)
{
	size_t i;

	for (i = 0; i < f->nr_segments; i++) {
		const Elf64_Phdr *p = &f->segments[i];

		if (addr >= p->p_vaddr && addr - p->p_vaddr < p->p_filesz &&
		    len <= p->p_filesz - (addr - p->p_vaddr))
			return gprof_read_at(f->fd, to, len, p->p_offset + (addr - p->p_vaddr));
	}
	return -ENOEXEC;
}

static void note_symbol(struct file *f, const Elf64_Sym *sym, const char *strings, size_t size)
{
	size_t i;

	/* The last byte of @strings is 0. */
	if (sym->st_name >= size || sym->st_shndx == SHN_UNDEF)
		return;
	for (i = 0; i < NR_SYMBOLS; i++)
		if (!strcmp(strings + sym->st_name, names[i]))
			f->symbols[i] = *sym;
}

static int read_symbols(struct file *f, const Elf64_Shdr *syms, const Elf64_Shdr *strs)
{
	size_t nr = syms->sh_size / sizeof(Elf64_Sym), i;
	Elf64_Sym *table = NULL;
	char *strings = NULL;
	int err = -ENOEXEC;

	if (syms->sh_size > SYMBOLS_MAX || strs->sh_size > SYMBOLS_MAX || !strs->sh_size)
		return err;
	table = malloc((nr + 1) * sizeof(*table));
	strings = malloc(strs->sh_size + 1);
	err = table && strings ? 0 : -ENOMEM;
	if (!err)
		err = gprof_read_at(f->fd, table, nr * sizeof(*table), syms->sh_offset);
	if (!err)
		err = gprof_read_at(f->fd, strings, strs->sh_size, strs->sh_offset);
	if (!err) {
		strings[strs->sh_size] = '\0';
		for (i = 0; i < nr; i++)
			note_symbol(f, &table[i], strings, strs->sh_size);
	}
	free(table);
	free(strings);
	return err;
}

static int read_sections(struct file *f, const Elf64_Ehdr *ehdr)
{
	Elf64_Shdr *sections;
	int err = -ENOENT;
	size_t i;

	if (ehdr->e_shentsize != sizeof(*sections) || ehdr->e_shnum > SECTIONS_MAX)
		return -ENOEXEC;
	sections = calloc(ehdr->e_shnum + 1U, sizeof(*sections));
	if (!sections)
		return -ENOMEM;
	if (gprof_read_at(f->fd, sections, ehdr->e_shnum * sizeof(*sections), ehdr->e_shoff))
		err = -ENOEXEC;
	for (i = 0; i < ehdr->e_shnum && err == -ENOENT; i++)
		if (sections[i].sh_type == SHT_DYNSYM && sections[i].sh_link < ehdr->e_shnum)
			err = read_symbols(f, &sections[i], &sections[sections[i].sh_link]);
	free(sections);
	return err;
}

static int read_file(struct file *f)
{
	Elf64_Phdr phdr;
	Elf64_Ehdr ehdr;
	size_t i;
	int err = gprof_read_at(f->fd, &ehdr, sizeof(ehdr), 0);

	if (err)
		return err;
	if (memcmp(ehdr.e_ident, ELFMAG, SELFMAG) || ehdr.e_ident[EI_CLASS] != ELFCLASS64 ||
	    ehdr.e_ident[EI_DATA] != ELFDATA2LSB || ehdr.e_phentsize != sizeof(phdr) ||
	    ehdr.e_phnum > SEGMENTS_MAX)
		return -ENOEXEC;
	for (i = 0; i < ehdr.e_phnum; i++) {
		err = gprof_read_at(f->fd, &phdr, sizeof(phdr), ehdr.e_phoff + i * sizeof(phdr));
		if (err)
			return err;
		if (phdr.p_type == PT_LOAD)
			f->segments[f->nr_segments++] = phdr;
	}
	return read_sections(f, &ehdr);
}

/* Debian's and others': members of structs that only a build for debugging has otherwise. */
static const struct gprof_interpreter v3_11 = {
	.kernel = {
		.size = sizeof(struct gprof_python),
		.interpreters = 40,		/* _PyRuntimeState.interpreters.head */
		.interpreter_next = 0,
		.interpreter_threads = 16,	/* PyInterpreterState.threads.head */
		.thread_next = 8,
		.thread_native_id = 160,
		.thread_frame = 56,		/* PyThreadState.cframe */
		.cframe_frame = 8,
		.frame_code = 32,
		.frame_previous = 48,
		.frame_instr = 56,
		.frame_mark = 68,		/* _PyInterpreterFrame.is_entry */
		.code_instrs = 184,
		.code_line = 72,
		.code_filename = 112,
		.code_name = 120,
		.code_qualname = 128,
		.string_hash = 24,
	},
	.linetable = 136,
	.code_size = 184,
	.bytes_size = 16,
	.bytes_data = 32,
	.string_length = 16,
	.string_state = 32,
	.string_ascii = 48,
	.string_other = 72,
};

/* Begin of 3.13's _PyRuntime, as far as it is of use here. */
struct debug_offsets {
	char cookie[8];
	uint64_t version;
	uint64_t free_threaded;
	struct {
		uint64_t size, finalizing, interpreters_head;
	} runtime_state;
	struct {
		uint64_t size, id, next, threads_head, gc, imports_modules, sysdict, builtins;
		uint64_t ceval_gil, gil_runtime_state[4];
	} interpreter_state;
	struct {
		uint64_t size, prev, next, interp, current_frame, thread_id, native_thread_id;
		uint64_t datastack_chunk, status;
	} thread_state;
	struct {
		uint64_t size, previous, executable, instr_ptr, localsplus, owner;
	} interpreter_frame;
	struct {
		uint64_t size, filename, name, qualname, linetable, firstlineno, argcount;
		uint64_t localsplusnames, localspluskinds, co_code_adaptive;
	} code_object;
	uint64_t pyobject[2], type_object[4], tuple_object[3], list_object[3], dict_object[3];
	uint64_t float_object[2], long_object[3];
	struct {
		uint64_t size, ob_size, ob_sval;
	} bytes_object;
	struct {
		uint64_t size, state, length, asciiobject_size;
	} unicode_object;
};

/* The module refuses numbers larger than any offset. */
static uint32_t narrow(uint64_t offset)
{
	return offset > GPROF_PYTHON_OFFSET_MAX ? GPROF_PYTHON_OFFSET_MAX + 1 : (uint32_t)offset;
}

static int read_offsets(const struct file *f, struct gprof_interpreter *out)
{
	struct debug_offsets d;
	int err = read_loaded(f, f->symbols[RUNTIME].st_value, &d, sizeof(d));

	if (err)
		return err;
	if (memcmp(d.cookie, "xdebugpy", sizeof(d.cookie)) || d.version >> 16 != 0x030d ||
	    d.free_threaded)
		return -EOPNOTSUPP;
	*out = (struct gprof_interpreter){
		.kernel = {
			.size = sizeof(struct gprof_python),
			.flags = GPROF_PYTHON_F_OWNER,
			.interpreters = narrow(d.runtime_state.interpreters_head),
			.interpreter_next = narrow(d.interpreter_state.next),
			.interpreter_threads = narrow(d.interpreter_state.threads_head),
			.thread_next = narrow(d.thread_state.next),
			.thread_native_id = narrow(d.thread_state.native_thread_id),
			.thread_frame = narrow(d.thread_state.current_frame),
			.cframe_frame = GPROF_PYTHON_NONE,
			.frame_code = narrow(d.interpreter_frame.executable),
			.frame_previous = narrow(d.interpreter_frame.previous),
			.frame_instr = narrow(d.interpreter_frame.instr_ptr),
			.frame_mark = narrow(d.interpreter_frame.owner),
			.code_instrs = narrow(d.code_object.co_code_adaptive),
			.code_line = narrow(d.code_object.firstlineno),
			.code_filename = narrow(d.code_object.filename),
			.code_name = narrow(d.code_object.name),
			.code_qualname = narrow(d.code_object.qualname),
			/* Between length and state. */
			.string_hash = narrow(d.unicode_object.length) + 8,
		},
		.linetable = narrow(d.code_object.linetable),
		.code_size = narrow(d.code_object.co_code_adaptive),
		.bytes_size = narrow(d.bytes_object.ob_size),
		.bytes_data = narrow(d.bytes_object.ob_sval),
		.string_length = narrow(d.unicode_object.length),
		.string_state = narrow(d.unicode_object.state),
		.string_ascii = narrow(d.unicode_object.asciiobject_size),
		/* Behind the number of bytes as UTF-8, and where these are. */
		.string_other = narrow(d.unicode_object.asciiobject_size) + 16,
	};
	return 0;
}

/* Difference of addresses and offsets where the code begins with the file's first byte. */
static int find_runtime(const struct file *f, struct gprof_interpreter *out)
{
	size_t i;

	for (i = 0; i < f->nr_segments; i++) {
		const Elf64_Phdr *p = &f->segments[i];

		if (!(p->p_flags & PF_X) || f->symbols[EVAL].st_value < p->p_vaddr ||
		    f->symbols[EVAL].st_value - p->p_vaddr >= p->p_filesz)
			continue;
		out->kernel.runtime = f->symbols[RUNTIME].st_value - (p->p_vaddr - p->p_offset);
		return 0;
	}
	return -ENOEXEC;
}

int gprof_python_read_file(int fd, struct gprof_interpreter *out)
{
	struct file f = { .fd = fd };
	uint64_t version;
	int err = read_file(&f);

	if (err)
		return err == -ENODATA ? -ENOEXEC : err;
	if (!f.symbols[RUNTIME].st_value || !f.symbols[EVAL].st_value ||
	    !f.symbols[VERSION].st_value)
		return -ENOENT;
	err = read_loaded(&f, f.symbols[VERSION].st_value, &version, sizeof(version));
	if (err)
		return err;
	if (version >> 16 == 0x030b)
		*out = v3_11;
	else if (version >> 16 == 0x030d)
		err = read_offsets(&f, out);
	else
		err = -EOPNOTSUPP;
	out->version = (uint32_t)(version >> 16);
	if (!err)
		err = find_runtime(&f, out);
	out->eval = f.symbols[EVAL].st_value;
	out->eval_size = f.symbols[EVAL].st_size;
	return err;
}

bool gprof_python_is_named(const char *path)
{
	const char *base = strrchr(path, '/');

	return strstr(base ? base : path, "python");
}
