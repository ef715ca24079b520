// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * dwarf_headers.c: counts of the entries of a piece of DWARF, by its bytes alone.
 */
#include "dwarf_headers.h"

#include <dwarf.h>
#include <string.h>

/* The rest of the data; a read beyond its end sets @bad. */
struct input {
	const unsigned char *at;
	const unsigned char *end;
	bool bad;
};

static struct input input_at(const struct gprof_dwarf_bytes *section, uint64_t at)
{
	struct input in = { .at = section->v, .end = section->v, .bad = at >= section->nr };

	if (!in.bad) {
		in.at += at;
		in.end += section->nr;
	}
	return in;
}

static void skip(struct input *in, uint64_t len)
{
	if (in->bad || len > (uint64_t)(in->end - in->at))
		in->bad = true;
	else
		in->at += len;
}

static uint64_t get_uint(struct input *in, unsigned int len)
{
	const unsigned char *at = in->at;
	uint64_t value = 0;

	skip(in, len);
	while (!in->bad && len--)
		value = value << 8 | at[len];
	return value;
}

static uint64_t get_uleb(struct input *in)
{
	uint64_t value = 0, byte;
	unsigned int shift = 0;

	do {
		byte = get_uint(in, 1);
		if (shift < 64)
			value |= (byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	return value;
}

/* Its length, without the 0 at its end. */
static size_t get_string(struct input *in)
{
	const unsigned char *end = in->bad ? NULL : memchr(in->at, 0, (size_t)(in->end - in->at));
	size_t len = end ? (size_t)(end - in->at) : 0;

	in->bad |= !end;
	skip(in, len + 1);
	return len;
}

/* The length of the unit behind it; @wide: bytes of an offset. */
static uint64_t get_length(struct input *in, unsigned int *wide)
{
	uint64_t len = get_uint(in, 4);

	*wide = len == UINT32_MAX ? 8 : 4;
	return *wide == 8 ? get_uint(in, 8) : len;
}

bool gprof_dwarf_next_unit(const struct gprof_dwarf_bytes *section, bool types,
			   struct gprof_dwarf_unit *unit)
{
	struct input in = input_at(section, unit->next), first;
	unsigned int wide, version, type = 0;
	uint64_t len = get_length(&in, &wide);

	if (in.bad)
		return false;
	/* Units end with the section at the latest, and may overlap. */
	unit->next = (uint64_t)(in.at - section->v);
	unit->next = len > section->nr - unit->next ? section->nr : unit->next + len;
	version = (unsigned int)get_uint(&in, 2);
	if (version >= 5) {
		type = (unsigned int)get_uint(&in, 1);
		get_uint(&in, 1);
		unit->abbrev = get_uint(&in, wide);
	} else {
		unit->abbrev = get_uint(&in, wide);
		get_uint(&in, 1);
	}
	if (type == DW_UT_skeleton || type == DW_UT_split_compile)
		skip(&in, 8);
	else if (types || type == DW_UT_type || type == DW_UT_split_type)
		skip(&in, 8 + wide);
	first = in;
	unit->code = get_uleb(&first);
	if (first.bad)
		unit->code = 0;
	return true;
}

uint64_t gprof_dwarf_abbrevs(const struct gprof_dwarf_bytes *section, uint64_t at,
			     uint64_t code, uint64_t max)
{
	struct input in = input_at(section, at);
	uint64_t nr, this, name, form;

	for (nr = 0; nr <= max; nr++) {
		this = get_uleb(&in);
		if (!this || in.bad)
			break;
		if (this == code)
			return nr + 1;
		get_uleb(&in);
		skip(&in, 1);
		do {
			name = get_uleb(&in);
			form = get_uleb(&in);
			if (form == DW_FORM_implicit_const)
				get_uleb(&in);
		} while (!in.bad && (name || form));
	}
	return nr;
}

/* Passes one value of a table of files; false: it is none that one would have there. */
static bool parse_form(struct input *in, uint64_t form, unsigned int wide,
		       struct gprof_dwarf_rows *rows)
{
	size_t len;

	switch (form) {
	case DW_FORM_string:
		len = get_string(in);
		if (len > rows->longest)
			rows->longest = len;
		break;
	case DW_FORM_line_strp:
		rows->line_str = true;
		skip(in, wide);
		break;
	case DW_FORM_udata:
		get_uleb(in);
		break;
	case DW_FORM_data1:
		skip(in, 1);
		break;
	case DW_FORM_data2:
		skip(in, 2);
		break;
	case DW_FORM_data4:
		skip(in, 4);
		break;
	case DW_FORM_data8:
		skip(in, 8);
		break;
	case DW_FORM_data16:
		skip(in, 16);
		break;
	case DW_FORM_block:
		skip(in, get_uleb(in));
		break;
	default:
		return false;
	}
	return !in->bad;
}

/* Directories, or files, as DWARF 5 has them. */
static bool parse_entries(struct input *in, unsigned int wide, struct gprof_dwarf_rows *rows)
{
	unsigned int nr_forms = (unsigned int)get_uint(in, 1), i;
	uint64_t forms[255], nr, n;

	for (i = 0; i < nr_forms; i++) {
		get_uleb(in);
		forms[i] = get_uleb(in);
	}
	nr = get_uleb(in);
	if (in->bad || (!nr_forms && nr))
		return false;
	for (n = 0; n < nr; n++)
		for (i = 0; i < nr_forms; i++)
			if (!parse_form(in, forms[i], wide, rows))
				return false;
	rows->files += nr;
	return true;
}

static bool parse_old_entries(struct input *in, struct gprof_dwarf_rows *rows, bool files)
{
	size_t len;

	while ((len = get_string(in)) != 0) {
		if (len > rows->longest)
			rows->longest = len;
		rows->files++;
		if (files) {
			get_uleb(in);
			get_uleb(in);
			get_uleb(in);
		}
	}
	return !in->bad;
}

bool gprof_dwarf_rows(const struct gprof_dwarf_bytes *section, uint64_t at,
		      struct gprof_dwarf_rows *rows)
{
	struct input in = input_at(section, at), program;
	unsigned int wide, version, base;
	uint64_t len = get_length(&in, &wide);
	bool ok;

	memset(rows, 0, sizeof(*rows));
	if (in.bad || len > (uint64_t)(in.end - in.at))
		return false;
	in.end = in.at + len;
	version = (unsigned int)get_uint(&in, 2);
	skip(&in, version >= 5 ? 2 : 0);
	len = get_uint(&in, wide);
	program = in;
	skip(&program, len);
	skip(&in, version >= 4 ? 5 : 4);
	base = (unsigned int)get_uint(&in, 1);
	skip(&in, base ? base - 1 : 0);
	if (version >= 5)
		ok = parse_entries(&in, wide, rows) && parse_entries(&in, wide, rows);
	else
		ok = parse_old_entries(&in, rows, false) && parse_old_entries(&in, rows, true);
	if (!ok || in.bad || program.bad)
		return false;
	/*
	 * libdw goes on where the tables end. A row is made by DW_LNS_copy, by a special opcode,
	 * or at the end of a sequence, which has a 1 in it. A file can be defined by four bytes,
	 * the first of which are a 0 and its length.
	 */
	if (program.at < in.at)
		in = program;
	for (; in.at < in.end; in.at++) {
		rows->rows += *in.at >= base || *in.at == DW_LNS_copy;
		rows->files += in.end - in.at > 3 && !in.at[0] && in.at[2] == DW_LNE_define_file;
	}
	return true;
}
