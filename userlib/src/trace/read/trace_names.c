// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * trace_names.c: names that outlive the generation whose string they are.
 */
#include "trace_names.h"

#include <errno.h>
#include <string.h>

void gprof_trace_names_init(struct gprof_trace_names *n, struct gprof_trace_memory *m,
			    const char *prefix, const char *suffix)
{
	memset(n, 0, sizeof(*n));
	n->memory = m;
	n->prefix = prefix;
	n->suffix = suffix;
	gprof_trace_ids_init(m, &n->ids);
}

void gprof_trace_names_clear(struct gprof_trace_names *n)
{
	while (n->nr)
		gprof_trace_name_drop(n->memory, n->names[--n->nr]);
	gprof_trace_ids_clear(&n->ids);
}

void gprof_trace_names_free(struct gprof_trace_names *n)
{
	gprof_trace_names_clear(n);
	gprof_trace_ids_free(n->memory, &n->ids);
	gprof_trace_release(n->memory, n->names, n->cap * sizeof(*n->names));
	n->names = NULL;
	n->cap = 0;
}

static struct gprof_trace_name *make(struct gprof_trace_names *n,
				     const struct gprof_trace_text *text)
{
	size_t before = strlen(n->prefix), behind = strlen(n->suffix);
	size_t len = before + text->len + behind;
	struct gprof_trace_name *name = gprof_trace_alloc(n->memory, sizeof(*name) + len + 1);

	if (!name)
		return NULL;
	name->refs = 1;
	memcpy(name->bytes, n->prefix, before);
	memcpy(name->bytes + before, text->s, text->len);
	memcpy(name->bytes + before + text->len, n->suffix, behind + 1);
	name->text.s = name->bytes;
	name->text.len = len;
	return name;
}

struct gprof_trace_name *gprof_trace_names_get(struct gprof_trace_names *n, uint64_t id,
					       const struct gprof_trace_text *text)
{
	uint32_t i = gprof_trace_ids_get(&n->ids, id);
	struct gprof_trace_name *name;
	int err;

	if (i != GPROF_NONE)
		return n->names[i];
	name = make(n, text);
	if (!name)
		return NULL;
	err = gprof_trace_grow(n->memory, &n->names, &n->cap, n->nr + 1, sizeof(*n->names));
	if (!err)
		err = gprof_trace_ids_put(n->memory, &n->ids, id, (uint32_t)n->nr);
	if (err) {
		gprof_trace_name_drop(n->memory, name);
		errno = -err;
		return NULL;
	}
	n->names[n->nr++] = name;
	return name;
}

void gprof_trace_name_drop(struct gprof_trace_memory *m, struct gprof_trace_name *name)
{
	if (name && !--name->refs)
		gprof_trace_release(m, name, sizeof(*name) + name->text.len + 1);
}

bool gprof_trace_name_equal(const struct gprof_trace_name *a, const struct gprof_trace_name *b)
{
	return a == b || (a->text.len == b->text.len &&
			  !memcmp(a->text.s, b->text.s, a->text.len));
}
