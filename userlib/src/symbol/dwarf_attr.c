// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * dwarf_attr.c: attributes of DIEs, read so that no file can do harm.
 */
#include "dwarf_attr.h"

#include <dwarf.h>

#define CHAIN_MAX	16	/* an instance of a declaration of ... */

static int next_attr(Dwarf_Attribute *attr, void *ctx)
{
	(void)attr;
	(void)ctx;
	return DWARF_CB_OK;
}

bool gprof_dwarf_sound(Dwarf_Die *die)
{
	return dwarf_getattrs(die, next_attr, NULL, 0) == 1;
}

/* Does the value lie in the alternative file? libdw looks for that where we would not. */
static bool is_elsewhere(const struct gprof_dwarf_cost *c, unsigned int form)
{
	return !c->alt.dw && (form == DW_FORM_GNU_strp_alt || form == DW_FORM_strp_sup ||
			      form == DW_FORM_GNU_ref_alt || form == DW_FORM_ref_sup4 ||
			      form == DW_FORM_ref_sup8);
}

/* dwarf_attr_integrate(), as far as it can be afforded; @owner: the DIE that has it */
static bool find_attr(struct gprof_dwarf_cost *c, Dwarf_Die *die, unsigned int name,
		      Dwarf_Attribute *attr, Dwarf_Die *owner)
{
	Dwarf_Attribute to;
	int i;

	*owner = *die;
	for (i = 0; i < CHAIN_MAX; i++) {
		if (!gprof_dwarf_cost_unit(c, owner->cu))
			return false;
		if (dwarf_attr(owner, name, attr))
			return !is_elsewhere(c, dwarf_whatform(attr));
		if (!dwarf_attr(owner, DW_AT_abstract_origin, &to) &&
		    !dwarf_attr(owner, DW_AT_specification, &to))
			return false;
		if (is_elsewhere(c, dwarf_whatform(&to)) || !dwarf_formref_die(&to, owner))
			return false;
	}
	return false;
}

/* libdw lets an index lead to the end of the section. */
static bool is_within(const struct gprof_dwarf_cost *c, const char *s)
{
	const unsigned char *at = (const unsigned char *)s;

	return s && at >= c->main.str.v && at < c->main.str.v + c->main.str.nr;
}

const char *gprof_dwarf_string(struct gprof_dwarf_cost *c, Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attr;
	Dwarf_Die owner;
	const char *s;

	if (!find_attr(c, die, name, &attr, &owner))
		return NULL;
	switch (dwarf_whatform(&attr)) {
	case DW_FORM_string:
		return gprof_dwarf_sound(&owner) ? dwarf_formstring(&attr) : NULL;
	case DW_FORM_strp:
	case DW_FORM_line_strp:
	case DW_FORM_GNU_strp_alt:
	case DW_FORM_strp_sup:
		return dwarf_formstring(&attr);
	default:
		s = dwarf_formstring(&attr);
		return is_within(c, s) ? s : NULL;
	}
}

static int64_t to_number(Dwarf_Attribute *attr)
{
	Dwarf_Word value;

	return dwarf_formudata(attr, &value) || value > INT32_MAX ? 0 : (int64_t)value;
}

int64_t gprof_dwarf_number(struct gprof_dwarf_cost *c, Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attr;
	Dwarf_Die owner;

	return find_attr(c, die, name, &attr, &owner) ? to_number(&attr) : 0;
}

int64_t gprof_dwarf_own_number(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attr;

	return dwarf_attr(die, name, &attr) ? to_number(&attr) : 0;
}
