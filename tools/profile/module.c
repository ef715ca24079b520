// SPDX-License-Identifier: GPL-2.0-only
/*
 * The module of a frame: see module.h.
 */
#include "module.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cli/diag.h"

const char *const frame_kinds[FRAME_KINDS] = { "user", "kernel", "inlined", "runtime" };

/* Addresses from here on are the kernel's, on amd64, arm64 and riscv64 alike. */
#define KERNEL_HALF	(1ULL << 63)

static bool ends_with(const char *s, const char *end)
{
	size_t n = strlen(s), m = strlen(end);

	return n >= m && !strcmp(s + n - m, end);
}

static bool begins_with(const char *s, const char *begin)
{
	return !strncmp(s, begin, strlen(begin));
}

/* An interpreter's frame is at no address, and in a source that no compiler makes machine code of. */
static bool is_interpreted(const struct gprof_frame *f)
{
	static const char *const compiled[] = {
		".c", ".h", ".cc", ".cpp", ".cxx", ".hpp", ".go", ".rs", ".s", ".S",
	};

	if (f->address || f->mapping[0])
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(compiled); i++)
		if (ends_with(f->file, compiled[i]))
			return false;
	return f->file[0] || begins_with(f->function, "[python: ");
}

/* Generated code lies in no object file, and has the name that its runtime wrote down. */
static bool is_generated(const struct gprof_frame *f)
{
	const char *slash = strrchr(f->mapping, '/'), *name = slash ? slash + 1 : f->mapping;

	if (f->function[0] == '[' || begins_with(f->function, "0x"))
		return false;
	return begins_with(f->mapping, "[anon") || begins_with(f->mapping, "//anon") ||
	       begins_with(f->mapping, "/memfd:") ||
	       (begins_with(name, "jit-") && ends_with(name, ".dump"));
}

enum frame_kind frame_kind(const struct gprof_frame *f)
{
	/* In [brackets] are the kernel and its modules, and few user mappings such as [vdso]. */
	if (f->address & KERNEL_HALF || (f->mapping[0] == '[' && !strncmp(f->mapping, "[kernel", 7)) ||
	    (f->mapping[0] && ends_with(f->mapping, ".ko")))
		return FRAME_KERNEL;
	if (f->inlined)
		return FRAME_INLINED;
	return is_interpreted(f) || is_generated(f) ? FRAME_RUNTIME : FRAME_USER;
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
