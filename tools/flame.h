/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A call tree as a picture: one SVG file that needs nothing else.
 */
#ifndef TOOLS_FLAME_H
#define TOOLS_FLAME_H

#include <stdio.h>

#include "calltree.h"
#include "view.h"

/* flame_write() - write the picture; errors stay in @f */
/* flame_draw() - likewise, for a page when it is to be @within one */
void flame_draw(FILE *f, const struct calltree *tree, const struct view *view, const char *title,
		bool within);
void flame_write(FILE *f, const struct calltree *tree, const struct view *view,
		 const char *title);

#endif /* TOOLS_FLAME_H */
