// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * frame_entries.c: the entries of .eh_frame and .debug_frame.
 */
#include "frame_entries.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cancel.h"

#define FORMAT	0x0f
#define APPLIED	0x70

#define CIE_PROGRAM_MAX	128	/* bytes; real ones have ten */

uint64_t gprof_encoded(struct gprof_dwarf_input *b, uint8_t encoding, uint64_t addr)
{
	uint64_t value = 0;

	switch (encoding & FORMAT) {
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		value = gprof_dwarf_input_get(b, 8);
		break;
	case DW_EH_PE_udata2:
		value = gprof_dwarf_input_get(b, 2);
		break;
	case DW_EH_PE_udata4:
		value = gprof_dwarf_input_get(b, 4);
		break;
	case DW_EH_PE_sdata2:
		value = (uint64_t)gprof_dwarf_input_signed(b, 2);
		break;
	case DW_EH_PE_sdata4:
		value = (uint64_t)gprof_dwarf_input_signed(b, 4);
		break;
	case DW_EH_PE_uleb128:
		value = gprof_dwarf_input_uleb(b);
		break;
	case DW_EH_PE_sleb128:
		value = (uint64_t)gprof_dwarf_input_sleb(b);
		break;
	default:
		b->bad = true;
	}
	switch (encoding & APPLIED) {
	case DW_EH_PE_absptr:
		break;
	case DW_EH_PE_pcrel:
		value += addr;
		break;
	default:
		b->bad = true;
	}
	/* An address that lies elsewhere is the dynamic linker's to know. */
	if (encoding & DW_EH_PE_indirect)
		b->bad = true;
	return value;
}

/* Personality: of no use here, in any encoding, but before parts that are needed. */
static void skip_encoded(struct gprof_dwarf_input *b, uint8_t encoding)
{
	if (encoding != DW_EH_PE_omit)
		gprof_encoded(b, encoding & FORMAT, 0);
}

/* Sets the members that the letters after "z" describe. */
static void read_augmentation(struct gprof_cie *c, struct gprof_dwarf_input *b, const char *letters)
{
	for (; *letters; letters++) {
		switch (*letters) {
		case 'L':
			gprof_dwarf_input_get(b, 1);
			break;
		case 'P':
			skip_encoded(b, (uint8_t)gprof_dwarf_input_get(b, 1));
			break;
		case 'R':
			c->encoding = (uint8_t)gprof_dwarf_input_get(b, 1);
			break;
		case 'S':
			c->signal = true;
			break;
		case 'B':	/* arm64: return addresses are signed with the other key */
		case 'G':	/* arm64: the stack is tagged */
			break;
		default:	/* the length of the data is known, but not its meaning */
			return;
		}
	}
}

static void read_cie(const struct gprof_entries *e, struct gprof_cie *c,
		     struct gprof_dwarf_input *b)
{
	const char *letters = (const char *)b->p;
	unsigned int version = (unsigned int)gprof_dwarf_input_get(b, 1);

	letters++;
	if (!memchr(b->p, '\0', (size_t)gprof_dwarf_input_left(b)))
		return;
	gprof_dwarf_input_skip(b, strlen(letters) + 1);
	if (version == 4) {
		/* of an address, and of a segment selector */
		if (gprof_dwarf_input_get(b, 1) != 8 || gprof_dwarf_input_get(b, 1) != 0)
			return;
	} else if (version != 1 && version != 3) {
		return;
	}
	c->code_align = gprof_dwarf_input_uleb(b);
	c->data_align = gprof_dwarf_input_sleb(b);
	c->return_reg = version == 1 ? gprof_dwarf_input_get(b, 1) : gprof_dwarf_input_uleb(b);
	if (letters[0] == 'z') {
		uint64_t len = gprof_dwarf_input_uleb(b);
		struct gprof_dwarf_input data = *b;

		c->augmented = true;
		gprof_dwarf_input_skip(b, len);
		data.end = b->p;
		read_augmentation(c, &data, letters + 1);
		if (data.bad)
			return;
	} else if (letters[0]) {
		return;
	}
	c->program = (uint32_t)(b->p - e->data);
	c->program_end = (uint32_t)(b->end - e->data);
	/* It is run for each FDE. */
	c->usable = !b->bad && c->program_end - c->program <= CIE_PROGRAM_MAX;
}

/* The number of the CIE that lies at @at; most FDEs have the one of the FDE before. */
static const struct gprof_cie *find_cie(const struct gprof_entries *e, uint64_t at,
					const struct gprof_cie *last)
{
	size_t lo = 0, hi = e->nr_cies;

	if (last && last->at == at)
		return last;
	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (e->cies[mid].at == at)
			return &e->cies[mid];
		if (e->cies[mid].at < at)
			lo = mid + 1;
		else
			hi = mid;
	}
	return NULL;
}

static int read_fde(struct gprof_entries *e, struct gprof_image *img, const struct gprof_cie *c,
		    struct gprof_dwarf_input *b)
{
	uint64_t here = e->part.addr + (uint64_t)(b->p - e->data), addr, start, len;
	const struct gprof_load *load;
	struct gprof_fde *fde;

	addr = gprof_encoded(b, c->encoding, here);
	len = gprof_encoded(b, c->encoding & FORMAT, 0);
	if (c->augmented)
		gprof_dwarf_input_skip(b, gprof_dwarf_input_uleb(b));
	load = gprof_image_load(img, addr);
	if (b->bad || !len || !load || !load->exec)
		return 0;
	start = addr - load->addr;
	if (len > load->size - start)
		len = load->size - start;
	start += load->offset - e->base;
	if (start + len > UINT32_MAX)
		return 0;
	if (gprof_grow_within(img->budget, &e->fdes, &e->cap_fdes, e->nr_fdes + 1,
			      sizeof(*e->fdes)))
		return -ENOMEM;
	fde = &e->fdes[e->nr_fdes++];
	fde->addr = addr;
	fde->at = (uint32_t)start;
	fde->len = (uint32_t)len;
	fde->cie = (uint32_t)(c - e->cies);
	fde->program = (uint32_t)(b->p - e->data);
	fde->program_end = (uint32_t)(b->end - e->data);
	return 0;
}

/* One entry, behind its length. */
static int read_entry(struct gprof_entries *e, struct gprof_image *img, uint64_t at,
		      struct gprof_dwarf_input *b, size_t word, const struct gprof_cie **last)
{
	uint64_t here = (uint64_t)(b->p - e->data), id = gprof_dwarf_input_get(b, word), cie;
	const struct gprof_cie *c;

	if (b->bad)
		return 0;
	if (id == (e->debug ? (word == 8 ? UINT64_MAX : UINT32_MAX) : 0)) {
		struct gprof_cie *new;

		if (gprof_grow_within(img->budget, &e->cies, &e->cap_cies, e->nr_cies + 1,
				      sizeof(*e->cies)))
			return -ENOMEM;
		new = &e->cies[e->nr_cies++];
		memset(new, 0, sizeof(*new));
		new->at = (uint32_t)at;
		*last = NULL;	/* they may have moved */
		read_cie(e, new, b);
		return 0;
	}
	cie = e->debug ? id : here - id;
	c = find_cie(e, cie, *last);
	if (!c || !c->usable)
		return 0;
	*last = c;
	return read_fde(e, img, c, b);
}

static int read_entries(struct gprof_entries *e, struct gprof_image *img, bool to_end)
{
	struct gprof_dwarf_input all = { .p = e->data, .end = e->data + e->part.size };
	const struct gprof_cie *last = NULL;
	size_t n;
	int err = 0;

	for (n = 0; !err && gprof_dwarf_input_left(&all) >= 4; n++) {
		uint64_t at = (uint64_t)(all.p - e->data), len = gprof_dwarf_input_get(&all, 4);
		struct gprof_dwarf_input one;
		size_t word = 4;

		if (!(n % GPROF_CANCEL_STEPS) && gprof_is_cancelled())
			return -ECONNABORTED;
		/* An input section of the linker may have an end of its own. */
		if (!len) {
			if (to_end)
				continue;
			break;
		}
		if (len == UINT32_MAX) {
			len = gprof_dwarf_input_get(&all, 8);
			word = e->debug ? 8 : 4;
		}
		one = all;
		gprof_dwarf_input_skip(&all, len);
		if (all.bad)
			break;
		one.end = all.p;
		err = read_entry(e, img, at, &one, word, &last);
	}
	return err;
}

/* .eh_frame, by the header that PT_GNU_EH_FRAME leads to. */
static bool find_by_segment(struct gprof_image *img, struct gprof_image_part *part)
{
	const unsigned char *p = gprof_image_at(img, img->eh_frame_hdr.offset, 4 + 8);
	const struct gprof_load *load;
	struct gprof_dwarf_input b;
	uint64_t addr;

	if (img->eh_frame_hdr.size < 4 + 8 || !p || p[0] != 1)
		return false;
	b = (struct gprof_dwarf_input){ .p = p + 4, .end = p + 4 + 8 };
	addr = gprof_encoded(&b, p[1], img->eh_frame_hdr.addr + 4);
	load = gprof_image_load(img, addr);
	if (b.bad || !load)
		return false;
	addr -= load->addr;
	*part = (struct gprof_image_part){
		.addr = load->addr + addr, .offset = load->offset + addr,
		.size = load->size - addr,
	};
	return true;
}

static int by_place(const void *a, const void *b)
{
	const struct gprof_fde *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return x->program < y->program ? -1 : x->program > y->program;
}

static int parse_section(struct gprof_entries *e, struct gprof_image *img,
			 const struct gprof_image_part *part, bool debug, bool to_end)
{
	size_t i;
	int err;

	e->part = *part;
	e->debug = debug;
	if (part->size > UINT32_MAX)
		return -ENOMEM;
	err = gprof_image_read(img, &e->part, &e->data);
	if (!err && e->part.size > UINT32_MAX)
		err = -ENOMEM;
	if (!err)
		err = read_entries(e, img, to_end);
	if (err)
		return err;
	/* As linkers write them, mostly. */
	for (i = 1; i < e->nr_fdes && by_place(&e->fdes[i - 1], &e->fdes[i]) <= 0; i++)
		;
	if (i < e->nr_fdes)
		qsort(e->fdes, e->nr_fdes, sizeof(*e->fdes), by_place);
	/*
	 * If some overlap, the one that begins last counts, as in the bisection of unwinders
	 * for exceptions; and no text is read twice.
	 */
	for (i = 1; i < e->nr_fdes; i++)
		if (e->fdes[i].at - e->fdes[i - 1].at < e->fdes[i - 1].len)
			e->fdes[i - 1].len = e->fdes[i].at - e->fdes[i - 1].at;
	return 0;
}

int gprof_entries_read(struct gprof_entries *e, struct gprof_image *img, uint64_t base)
{
	struct gprof_image_part part = img->eh_frame;
	bool section = part.size;
	int err = 0;

	memset(e, 0, sizeof(*e));
	e->base = base;
	if (section || find_by_segment(img, &part))
		err = parse_section(e, img, &part, false, section);
	if (err || e->nr_fdes || !img->debug_frame.size || img->go)
		return err == -ENOEXEC ? 0 : err;
	gprof_entries_free(e, img);
	e->base = base;
	err = parse_section(e, img, &img->debug_frame, true, true);
	return err == -ENOEXEC ? 0 : err;
}

void gprof_entries_free(struct gprof_entries *e, struct gprof_image *img)
{
	if (e->data)
		gprof_image_drop(img, &e->part, e->data);
	gprof_budget_uncharge(img->budget,
			      e->cap_cies * sizeof(*e->cies) + e->cap_fdes * sizeof(*e->fdes));
	free(e->cies);
	free(e->fdes);
	memset(e, 0, sizeof(*e));
}
