// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * process_files.c: which files, and names of mappings, address spaces need yet.
 */
#include "process_files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* @paths: by number in @s->paths; GPROF_NONE: not needed */
static void need_those_of(struct gprof_spaces *s, const struct gprof_reading *r, uint32_t *paths)
{
	size_t i;

	for (i = 0; i < r->nr; i++) {
		const struct gprof_vma *vma = &r->v[i];

		if (vma->object)
			vma->object->needed = true;
		/* It is there: nothing is added. */
		paths[gprof_strings_add(&s->paths, vma->path, strlen(vma->path))] = 0;
	}
}

int gprof_spaces_keep_files(struct gprof_spaces *s)
{
	uint32_t *paths = malloc((s->paths.nr + 1) * sizeof(*paths));
	size_t i, j;
	int err;

	if (!paths)
		return -ENOMEM;
	for (i = 0; i < s->paths.nr; i++)
		paths[i] = GPROF_NONE;
	for (i = 0; i < s->nr; i++)
		for (j = 0; j < s->v[i].nr; j++)
			if (!s->v[i].readings[j].shared)
				need_those_of(s, &s->v[i].readings[j], paths);
	err = gprof_objects_keep(&s->objects);
	if (!err)
		err = gprof_strings_keep(&s->paths, paths);
	free(paths);
	return err;
}
