/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Profiles of memory as text.
 */
#ifndef TOOLS_HEAP_TEXT_H
#define TOOLS_HEAP_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/**
 * heap_text() - write a profile of memory to stdout, by stack, the most bytes first
 * @file: the profile
 * @command: gprofctl's
 * @leaks: only memory in use, with equal lines as one; else as Go's /debug/pprof/heap?debug=1 has it
 * @limit: places of @leaks that are shown, 0: 25
 * @json: for programs
 *
 * Return: STATUS_OK, or another status after a sentence.
 */
int heap_text(const char *file, const char *command, bool leaks, size_t limit, bool json);

#endif /* TOOLS_HEAP_TEXT_H */
