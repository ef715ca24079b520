// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * go_table.c: functions of Go programs, from the table that their own tracebacks use.
 *
 * The header: magic, two bytes of 0, size of an instruction step and of a word, number
 * of functions, number of files, from 1.18 on the address of the code, and then offsets
 * of five parts: names first, functions last. Functions are pairs of a place in the code
 * and a place in their part, where the offset of their name is; the end of the last one
 * follows them.
 */
#include "go_table.h"

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define MAGIC_1_16	0xfffffffaU	/* entries are addresses */
#define MAGIC_1_18	0xfffffff0U	/* entries are offsets in the code */
#define MAGIC_1_20	0xfffffff1U

#define HEADER		72

#define NAME_MAX_BYTES	4096	/* with its end; any number may share one text */

/**
 * struct go_table - the table
 * @data: its bytes
 * @size: how many
 * @word: bytes of a place
 * @nr: functions
 * @text: address that places count from
 * @names: where names are
 * @functions: where functions are
 */
struct go_table {
	const unsigned char *data;
	uint64_t size;
	unsigned int word;
	uint64_t nr;
	uint64_t text;
	uint64_t names;
	uint64_t functions;
};

/* @word bytes at @at, which is right; they are in no order of alignment. */
static uint64_t get(const struct go_table *t, uint64_t at, unsigned int word)
{
	uint64_t value = 0;
	unsigned int i;

	for (i = 0; i < word; i++)
		value |= (uint64_t)t->data[at + i] << (8 * i);
	return value;
}

static bool read_header(struct go_table *t, uint64_t text)
{
	uint32_t magic;

	if (t->size < HEADER || t->data[4] || t->data[5] || t->data[7] != 8)
		return false;
	magic = (uint32_t)get(t, 0, 4);
	if (magic != MAGIC_1_16 && magic != MAGIC_1_18 && magic != MAGIC_1_20)
		return false;
	t->nr = get(t, 8, 8);
	if (magic == MAGIC_1_16) {
		t->word = 8;
		t->names = get(t, 24, 8);
		t->functions = get(t, 56, 8);
	} else {
		t->word = 4;
		/* 0 where it is left to the loader, or to the reader */
		t->text = get(t, 24, 8);
		if (!t->text)
			t->text = text;
		t->names = get(t, 32, 8);
		t->functions = get(t, 64, 8);
	}
	return t->names < t->size && t->functions < t->size &&
	       t->size - t->functions >= t->word &&
	       t->nr <= (t->size - t->functions - t->word) / (2 * t->word);
}

/* The name of function @i, or NULL. */
static const char *name_of(const struct go_table *t, uint64_t i)
{
	uint64_t at = get(t, t->functions + (2 * i + 1) * t->word, t->word), name;
	const unsigned char *text;
	uint64_t left;

	if (at > t->size - t->functions || t->size - t->functions - at < t->word + 4)
		return NULL;
	name = get(t, t->functions + at + t->word, 4);
	if (name >= t->size - t->names)
		return NULL;
	text = t->data + t->names + name;
	left = t->size - t->names - name;
	if (left > NAME_MAX_BYTES)
		left = NAME_MAX_BYTES;
	if (!text[0] || !memchr(text, '\0', left))
		return NULL;
	return (const char *)text;
}

static bool find_table(Elf *elf, struct go_table *t)
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
		else if (!strcmp(name, ".gopclntab") || !strcmp(name, ".data.rel.ro.gopclntab"))
			data = elf_rawdata(scn, NULL);
	}
	if (!data || !data->d_buf)
		return false;
	t->data = data->d_buf;
	t->size = data->d_size;
	return read_header(t, text);
}

int gprof_go_functions(Elf *elf, gprof_go_function_fn *fn, void *ctx)
{
	struct go_table t = { 0 };
	uint64_t i;
	int err = 0;

	if (!find_table(elf, &t))
		return 0;
	for (i = 0; i < t.nr && !err; i++) {
		uint64_t start = get(&t, t.functions + 2 * i * t.word, t.word);
		uint64_t end = get(&t, t.functions + 2 * (i + 1) * t.word, t.word);
		const char *name = name_of(&t, i);

		if (name && start < end && t.text + end > t.text)
			err = fn(ctx, t.text + start, t.text + end, name);
	}
	return err;
}
