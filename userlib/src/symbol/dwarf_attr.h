/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * dwarf_attr.h: attributes of DIEs, read so that no file can do harm.
 *
 * libdw hands out strings that do not end within their section, and opens any file that a
 * DIE leads to.
 */
#ifndef GPROF_DWARF_ATTR_H
#define GPROF_DWARF_ATTR_H

#include <stdbool.h>
#include <stdint.h>

#include "dwarf_cost.h"

/** gprof_dwarf_sound() - do all attributes of a DIE end within its unit? */
bool gprof_dwarf_sound(Dwarf_Die *die);

/** gprof_dwarf_string() - of a DIE, or its abstract origin; NULL: none that is sound */
const char *gprof_dwarf_string(struct gprof_dwarf_cost *c, Dwarf_Die *die, unsigned int name);

/** gprof_dwarf_number() - likewise; 0: none */
int64_t gprof_dwarf_number(struct gprof_dwarf_cost *c, Dwarf_Die *die, unsigned int name);

/** gprof_dwarf_own_number() - of the DIE alone */
int64_t gprof_dwarf_own_number(Dwarf_Die *die, unsigned int name);

#endif
