// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * symbol.c: functions of an ELF file by address.
 */
#include "symbol.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "elf_strings.h"
#include "unwind/go_table.h"

#define NAME_MAX_BYTES	(64U << 10)	/* longer ones are ignored */
#define MADE_MAX	(64ULL << 20)	/* bytes of names that are not those of the file */
#define LOOK_MAX	(256ULL << 20)	/* bytes in which ends of names are looked for */
#define ORDER_MAX	256		/* bytes by which names for one address are ordered */

/* Is this section code? Sections of a separate debug file keep their flags. */
static bool is_code(Elf *elf, GElf_Word shndx)
{
	GElf_Shdr sh;
	Elf_Scn *scn;

	if (shndx == SHN_ABS || shndx == SHN_COMMON || !elf)
		return false;
	scn = elf_getscn(elf, shndx);
	return scn && gelf_getshdr(scn, &sh) && sh.sh_flags & SHF_EXECINSTR;
}

static uint64_t section_end(Elf *elf, GElf_Word shndx, GElf_Addr bias)
{
	GElf_Shdr sh;
	Elf_Scn *scn = elf_getscn(elf, shndx);

	return scn && gelf_getshdr(scn, &sh) ? sh.sh_addr + sh.sh_size + bias : 0;
}

/* $x and $d (arm64 mapping symbols), .L123 and the like say nothing to people. */
static bool is_marker(const char *name)
{
	return !name[0] || name[0] == '$' || !strncmp(name, ".L", 2);
}

/*
 * Any number of symbols may share one text, each with an end of it: such names are ignored where
 * they are long, or where all of them together are.
 */
static bool is_long(struct gprof_symbols *s, const char *name)
{
	size_t len = strnlen(name, NAME_MAX_BYTES + 1);

	s->looked += len;
	return len > NAME_MAX_BYTES;
}

#define SIZED	32
#define TYPED	16

/*
 * Of several names for one address the best one wins: with a size, a function
 * by type, global before weak before local, without leading underscores.
 */
static int score(const GElf_Sym *sym, const char *name)
{
	int n = 0;

	if (sym->st_size)
		n += SIZED;
	if (GELF_ST_TYPE(sym->st_info) != STT_NOTYPE)
		n += TYPED;
	if (GELF_ST_BIND(sym->st_info) == STB_GLOBAL)
		n += 8;
	else if (GELF_ST_BIND(sym->st_info) == STB_WEAK)
		n += 4;
	if (name[0] != '_')
		n += 2;
	else if (name[1] != '_')
		n += 1;
	return n;
}

/* The first @len bytes and @end, kept until gprof_symbols_free(); NULL without memory. */
static const char *make_name(struct gprof_symbols *s, const char *name, size_t len,
			     const char *end)
{
	size_t size = len + strlen(end) + 1;
	char *text;

	if (gprof_grow(&s->made, &s->cap_made, s->nr_made + 1, sizeof(*s->made)) ||
	    gprof_budget_charge(&s->texts, size))
		return NULL;
	text = malloc(size);
	if (!text)
		return NULL;
	memcpy(text, name, len);
	strcpy(text + len, end);
	s->made[s->nr_made++] = text;
	return text;
}

/*
 * A name without its version ("fnmatch@@GLIBC_2.2.5"); NULL without memory. Most
 * names have none and are borrowed.
 */
static const char *plain_name(struct gprof_symbols *s, const char *name)
{
	const char *at = strchr(name, '@');

	return !at || at == name ? name : make_name(s, name, (size_t)(at - name), "");
}

/* While the table is built, @outer holds the score. */
static int add(struct gprof_symbols *s, uint64_t start, uint64_t end, const char *name, int points)
{
	if (s->nr >= UINT32_MAX / 2 ||
	    gprof_grow_within(s->memory, &s->v, &s->cap, s->nr + 1, sizeof(*s->v)))
		return -ENOMEM;
	s->v[s->nr++] = (struct gprof_symbol){ start, end, name, (uint32_t)points };
	return 0;
}

static int load_symtab(struct gprof_symbols *s, struct gprof_elf *m)
{
	int nr, i, err;

	s->why = gprof_elf_symbols(m);
	if (s->why != GPROF_MISSING_NOT)
		return 0;
	nr = gprof_elf_symtab(m);
	for (i = 1; i < nr && s->looked <= LOOK_MAX; i++) {
		GElf_Addr addr, bias;
		GElf_Word shndx;
		const char *name;
		uint64_t end;
		GElf_Sym sym;
		Elf *elf;
		int type, points;

		name = dwfl_module_getsym_info(m->mod, i, &sym, &addr, &shndx, &elf, &bias);
		if (!name || shndx == SHN_UNDEF || is_marker(name) || is_long(s, name))
			continue;
		type = GELF_ST_TYPE(sym.st_info);
		if (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE)
			continue;
		if (!is_code(elf, shndx))
			continue;
		addr -= m->bias;
		/* Without a size: to the end of the section; arrange() makes less of it. */
		end = sym.st_size ? addr + sym.st_size
				  : section_end(elf, shndx, bias - m->bias);
		if (end <= addr)
			continue;
		points = score(&sym, name);
		name = plain_name(s, name);
		err = name ? add(s, addr, end, name, points) : -ENOMEM;
		if (err)
			return err;
	}
	return s->looked > LOOK_MAX ? -ENOMEM : 0;
}

/**
 * struct plt - where linkage stubs lie
 * @start: address of the first stub that belongs to a relocation
 * @end: end of the section
 * @step: bytes of a stub
 */
struct plt {
	uint64_t start;
	uint64_t end;
	uint64_t step;
};

static bool find_plt(struct gprof_elf *m, struct plt *plt, GElf_Shdr *rel, Elf_Scn **rel_scn)
{
	bool sec = false;
	Elf_Scn *scn = NULL;
	size_t shstrndx;
	GElf_Shdr sh;

	memset(plt, 0, sizeof(*plt));
	*rel_scn = NULL;
	if (elf_getshdrstrndx(m->elf, &shstrndx))
		return false;
	while ((scn = elf_nextscn(m->elf, scn))) {
		const char *name;

		if (!gelf_getshdr(scn, &sh))
			continue;
		name = elf_strptr(m->elf, shstrndx, sh.sh_name);
		if (!name)
			continue;
		if (!strcmp(name, ".rela.plt")) {
			*rel = sh;
			*rel_scn = scn;
		} else if (!strcmp(name, ".plt.sec")) {
			/* With IBT calls go here; there is no first stub for the linker. */
			plt->start = sh.sh_addr;
			plt->end = sh.sh_addr + sh.sh_size;
			plt->step = 16;
			sec = true;
		} else if (!strcmp(name, ".plt") && !sec) {
			uint64_t head = m->machine == EM_X86_64 ? 16 : 32;

			plt->start = sh.sh_addr + head;
			plt->end = sh.sh_addr + sh.sh_size;
			plt->step = 16;
		}
	}
	return *rel_scn && plt->start < plt->end;
}

static int load_plt(struct gprof_symbols *s, struct gprof_elf *m)
{
	GElf_Shdr rel = { 0 }, symsh;
	Elf_Scn *rel_scn, *sym_scn;
	Elf_Data *rels, *syms;
	struct plt plt;
	size_t nr, i;

	if (m->machine != EM_X86_64 && m->machine != EM_AARCH64 && m->machine != EM_RISCV)
		return 0;
	if (!find_plt(m, &plt, &rel, &rel_scn) || rel.sh_type != SHT_RELA || !rel.sh_entsize)
		return 0;
	sym_scn = elf_getscn(m->elf, rel.sh_link);
	if (!sym_scn || !gelf_getshdr(sym_scn, &symsh))
		return 0;
	rels = elf_getdata(rel_scn, NULL);
	syms = elf_getdata(sym_scn, NULL);
	nr = rel.sh_size / rel.sh_entsize;
	/* Stubs of another size (BTI, PAC) than the relocations account for: no names. */
	if (!rels || !syms || (plt.end - plt.start) / plt.step < nr ||
	    plt.end - plt.start >= (nr + 1) * plt.step)
		return 0;
	for (i = 0; i < nr && s->looked <= LOOK_MAX; i++) {
		uint64_t start = plt.start + i * plt.step;
		const char *name, *made;
		GElf_Rela rela;
		GElf_Sym sym;

		if (!gelf_getrela(rels, (int)i, &rela) ||
		    !gelf_getsym(syms, (int)GELF_R_SYM(rela.r_info), &sym))
			continue;
		name = elf_strptr(m->elf, symsh.sh_link, sym.st_name);
		if (!name || !name[0] || is_long(s, name))
			continue;
		made = make_name(s, name, strlen(name), "@plt");
		if (!made || add(s, start, start + plt.step, made, TYPED | SIZED))
			return -ENOMEM;
	}
	return 0;
}

static bool find_go(Elf *elf, struct gprof_go_table *t)
{
	Elf_Data *data = NULL;
	Elf_Scn *scn = NULL;
	uint64_t text = 0;
	size_t shstrndx;
	GElf_Shdr sh;

	if (elf_getshdrstrndx(elf, &shstrndx))
		return false;
	while ((scn = elf_nextscn(elf, scn))) {
		const char *name;

		if (!gelf_getshdr(scn, &sh))
			return false;
		name = elf_strptr(elf, shstrndx, sh.sh_name);
		if (!name)
			continue;
		if (!strcmp(name, ".text"))
			text = sh.sh_addr;
		else if (!strcmp(name, GPROF_GO_SECTION) || !strcmp(name, GPROF_GO_SECTION_PIE))
			data = elf_rawdata(scn, NULL);
	}
	return data && data->d_buf && gprof_go_table_open(t, data->d_buf, data->d_size, text);
}

/* Any symbol says as much: it was the linker's. */
static int load_go(struct gprof_symbols *s, Elf *elf)
{
	struct gprof_go_function f;
	struct gprof_go_table t;
	uint64_t i;
	int err = 0;

	if (!find_go(elf, &t))
		return 0;
	for (i = 0; i < t.nr && !err; i++)
		if (gprof_go_function(&t, i, &f))
			err = add(s, f.start, f.end, f.name, TYPED | SIZED);
	return err;
}

static int by_start(const void *a, const void *b)
{
	const struct gprof_symbol *x = a, *y = b;
	int order;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->outer != y->outer)	/* the score: best first */
		return x->outer > y->outer ? -1 : 1;
	/* Any that is the same each time will do. */
	order = x->name == y->name ? 0 : strncmp(x->name, y->name, ORDER_MAX);
	return order ? order : (x->name > y->name) - (x->name < y->name);
}

/*
 * Sort, keep one name per address, link each symbol to the one around it. A
 * label within a function, as assembler code has them, is no function.
 */
static void arrange(struct gprof_symbols *s)
{
	uint64_t function_end = 0;
	size_t i, nr = 0;

	if (!s->nr)
		return;
	qsort(s->v, s->nr, sizeof(*s->v), by_start);
	for (i = 0; i < s->nr; i++) {
		const struct gprof_symbol *sym = &s->v[i];

		if (nr && sym->start == s->v[nr - 1].start)
			continue;
		if (!(sym->outer & TYPED) && sym->start < function_end)
			continue;
		if (sym->outer & TYPED && sym->outer & SIZED && sym->end > function_end)
			function_end = sym->end;
		s->v[nr++] = *sym;
	}
	s->nr = nr;
	/* Without a size a function ends where the next one begins. */
	for (i = 0; i + 1 < nr; i++)
		if (!(s->v[i].outer & SIZED) && s->v[i].end > s->v[i + 1].start)
			s->v[i].end = s->v[i + 1].start;
	for (i = 0; i < nr; i++) {
		uint32_t outer = (uint32_t)i;

		/* The candidates: the one before, and those around that. */
		while (outer && s->v[outer - 1].end <= s->v[i].start)
			outer = s->v[outer - 1].outer;
		s->v[i].outer = outer;
	}
}

int gprof_symbols_load(struct gprof_symbols *s, struct gprof_elf *m)
{
	int err;

	memset(s, 0, sizeof(*s));
	s->texts.max = MADE_MAX;
	s->memory = &m->memory;
	err = load_symtab(s, m);
	if (!err)
		err = load_plt(s, m);
	if (!err && gprof_elf_strings_end(m->elf))
		err = load_go(s, m->elf);
	if (err) {
		gprof_symbols_free(s);
		s->why = GPROF_MISSING_MEMORY;
		return err;
	}
	arrange(s);
	return 0;
}

void gprof_symbols_free(struct gprof_symbols *s)
{
	size_t i;

	for (i = 0; i < s->nr_made; i++)
		free(s->made[i]);
	free(s->made);
	free(s->v);
	memset(s, 0, sizeof(*s));
}

const struct gprof_symbol *gprof_symbols_find(const struct gprof_symbols *s, uint64_t addr)
{
	size_t lo = 0, hi = s->nr;
	uint32_t at;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (s->v[mid].start <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (at = (uint32_t)lo; at; at = s->v[at - 1].outer)
		if (addr < s->v[at - 1].end)
			return &s->v[at - 1];
	return NULL;
}
