/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The module of a frame: the program, a library, the kernel or one of its modules.
 */
#ifndef TOOLS_PROFILE_MODULE_H
#define TOOLS_PROFILE_MODULE_H

#include <gprof/profile.h>

/* FRAME_RUNTIME: code that a language's runtime interprets or has generated, as the runtime names it */
enum frame_kind { FRAME_USER, FRAME_KERNEL, FRAME_INLINED, FRAME_RUNTIME, FRAME_KINDS };

/* The name of each in tables and files. */
extern const char *const frame_kinds[FRAME_KINDS];

enum frame_kind frame_kind(const struct gprof_frame *f);

#define MODULE_TEXT_MAX	64

/*
 * module_text() - the short name of a mapping: "kernel", "kernel/ext4" of a module of it,
 * or the name of a file without its directory; "" where there is none; returns @text
 */
const char *module_text(enum frame_kind kind, const char *mapping, char text[MODULE_TEXT_MAX]);

#endif /* TOOLS_PROFILE_MODULE_H */
