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
void flame_write(FILE *f, const struct calltree *tree, const struct view *view,
		 const char *title);

/* flame_write_page() - likewise as a page for a browser, which is as dark as the picture */
void flame_write_page(FILE *f, const struct calltree *tree, const struct view *view,
		      const char *title);

#endif /* TOOLS_FLAME_H */
