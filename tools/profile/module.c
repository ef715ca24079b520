// SPDX-License-Identifier: GPL-2.0-only
/*
 * The module of a frame: see module.h.
 */
#include "module.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Addresses from here on are the kernel's, on amd64, arm64 and riscv64 alike. */
#define KERNEL_HALF	(1ULL << 63)

static bool ends_with(const char *s, const char *end)
{
	size_t n = strlen(s), m = strlen(end);

	return n >= m && !strcmp(s + n - m, end);
}

enum frame_kind frame_kind(const struct gprof_frame *f)
{
	/* In [brackets] are the kernel and its modules, and few user mappings such as [vdso]. */
	if (f->address & KERNEL_HALF || (f->mapping[0] == '[' && !strncmp(f->mapping, "[kernel", 7)) ||
	    (f->mapping[0] && ends_with(f->mapping, ".ko")))
		return FRAME_KERNEL;
	return f->inlined ? FRAME_INLINED : FRAME_USER;
}

const char *module_text(enum frame_kind kind, const char *mapping, char text[MODULE_TEXT_MAX])
{
	const char *slash = strrchr(mapping, '/'), *name = slash && slash[1] ? slash + 1 : mapping;
	size_t length = strlen(name);

	if (kind == FRAME_KERNEL && (!*name || !strncmp(name, "[kernel", 7)))
		snprintf(text, MODULE_TEXT_MAX, "kernel");
	else if (kind == FRAME_KERNEL && name[0] == '[' && length > 2)
		snprintf(text, MODULE_TEXT_MAX, "kernel/%.*s", (int)(length - 2), name + 1);
	else if (kind == FRAME_KERNEL)
		snprintf(text, MODULE_TEXT_MAX, "kernel/%s", name);
	else if (name[0] == '[' && length > 2)
		snprintf(text, MODULE_TEXT_MAX, "%.*s", (int)(length - 2), name + 1);
	else
		snprintf(text, MODULE_TEXT_MAX, "%s", name);
	return text;
}
