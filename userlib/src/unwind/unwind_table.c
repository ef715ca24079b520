// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * unwind_table.c: compiles the unwind table of a file's text.
 */
#include "unwind_table.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "a64_frames.h"
#include "base/cancel.h"
#include "frame_entries.h"
#include "frame_program.h"
#include "frame_rule.h"
#include "cfi_gaps.h"
#include "go_frames.h"
#include "image.h"

/**
 * struct compile - a compilation
 * @budget: memory
 * @img: file
 * @gaps: its text
 * @entries: its CFI
 * @go: its functions of Go
 * @m: machine
 * @rows: rows so far
 * @a64: corrects them
 * @fde: the function that is at it
 */
struct compile {
	struct gprof_budget budget;
	struct gprof_image img;
	struct gprof_cfi_gaps gaps;
	struct gprof_entries entries;
	struct gprof_go_frames go;
	const struct gprof_machine *m;
	struct gprof_rows rows;
	struct gprof_a64_frames a64;
	const struct gprof_fde *fde;
};

static int add_row(void *ctx, uint32_t from, const struct gprof_frame_state *state)
{
	struct compile *c = ctx;
	bool signal = c->entries.cies[c->fde->cie].signal;

	return gprof_rows_add(&c->rows, c->fde->at + from, gprof_rule_of(c->m, signal, state));
}

static int add_function(struct compile *c, const struct gprof_fde *fde)
{
	static const struct gprof_unwind_rule unknown = { .kind = GPROF_UNWIND_CFA_UNKNOWN };
	const struct gprof_cie *cie = &c->entries.cies[fde->cie];
	int err = -EBADMSG;

	c->fde = fde;
	if (cie->return_reg == c->m->ra)
		err = gprof_program_run(&c->entries, c->m, fde, add_row, c);
	if (err == -EBADMSG) {
		gprof_rows_cut(&c->rows, fde->at);
		return gprof_rows_add(&c->rows, fde->at, unknown);
	}
	if (!err && c->m->machine == EM_AARCH64 && !cie->signal)
		err = gprof_a64_correct(&c->a64, &c->rows, &c->img, c->gaps.base, fde->at,
					fde->len);
	return err;
}

/* Of functions that overlap each ends where the next begins. */
static int add_functions(struct compile *c)
{
	static const struct gprof_unwind_rule none = { .kind = GPROF_UNWIND_CFA_NONE };
	uint32_t end = 0, text_end = c->gaps.text[c->gaps.nr_text - 1].to;
	size_t i;
	int err = 0;

	for (i = 0; i < c->entries.nr_fdes && !err; i++) {
		const struct gprof_fde *fde = &c->entries.fdes[i];

		if (!(i % GPROF_CANCEL_STEPS) && gprof_is_cancelled())
			return -ECONNABORTED;
		if (!fde->len)
			continue;
		if (fde->at > end)
			err = gprof_go_frames_fill(&c->go, &c->gaps, &c->rows, end, fde->at);
		if (!err)
			err = add_function(c, fde);
		end = fde->at + fde->len;
	}
	if (!err && end < text_end)
		err = gprof_go_frames_fill(&c->go, &c->gaps, &c->rows, end, text_end);
	return err ? err : gprof_rows_add(&c->rows, text_end, none);
}

static int compile(struct compile *c, int fd, const void *mem, size_t size)
{
	int err = gprof_image_open(&c->img, fd, mem, size, &c->budget);

	if (!err)
		err = gprof_rows_init(&c->rows, &c->budget);
	if (!err)
		err = gprof_cfi_gaps_init(&c->gaps, &c->img);
	if (!err) {
		c->m = gprof_machine(c->img.machine);
		err = gprof_entries_read(&c->entries, &c->img, c->gaps.base);
	}
	if (!err)
		err = gprof_go_frames_open(&c->go, &c->img);
	return err ? err : add_functions(c);
}

static int compile_to(int fd, const void *mem, size_t size, uint64_t memory,
		      struct gprof_unwind_blob *out)
{
	struct compile c;
	int err;

	memset(&c, 0, sizeof(c));
	*out = (struct gprof_unwind_blob){ NULL, 0 };
	c.budget.max = memory ? memory : GPROF_UNWIND_MEMORY;
	err = compile(&c, fd, mem, size);
	gprof_go_frames_close(&c.go, &c.img);
	gprof_entries_free(&c.entries, &c.img);
	gprof_a64_free(&c.a64, &c.budget);
	if (!err)
		err = gprof_rows_pack(&c.rows, c.img.machine, c.gaps.base,
				      c.gaps.text[c.gaps.nr_text - 1].to, out);
	gprof_rows_free(&c.rows);
	gprof_cfi_gaps_free(&c.gaps);
	gprof_image_close(&c.img);
	return err;
}

int gprof_unwind_compile(int fd, uint64_t memory, struct gprof_unwind_blob *out)
{
	return compile_to(fd, NULL, 0, memory, out);
}

int gprof_unwind_compile_memory(const void *file, size_t size, uint64_t memory,
				struct gprof_unwind_blob *out)
{
	return compile_to(-1, file, size, memory, out);
}

/* The kernel's own, so its headers are right; it is mapped as a whole. */
static size_t vdso_size(const unsigned char *p)
{
	const Elf64_Ehdr *eh = (const Elf64_Ehdr *)p;
	const Elf64_Phdr *ph = (const Elf64_Phdr *)(p + eh->e_phoff);
	size_t size = eh->e_shoff + (size_t)eh->e_shnum * eh->e_shentsize, i;

	for (i = 0; i < eh->e_phnum; i++)
		if (ph[i].p_offset + ph[i].p_filesz > size)
			size = ph[i].p_offset + ph[i].p_filesz;
	return size;
}

int gprof_unwind_compile_vdso(struct gprof_unwind_blob *out)
{
	const unsigned char *p = (const unsigned char *)getauxval(AT_SYSINFO_EHDR);

	*out = (struct gprof_unwind_blob){ NULL, 0 };
	return p ? compile_to(-1, p, vdso_size(p), 0, out) : -ENOENT;
}

void gprof_unwind_blob_free(struct gprof_unwind_blob *blob)
{
	free(blob->data);
	*blob = (struct gprof_unwind_blob){ NULL, 0 };
}
