/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Profiles of memory as text.
 */
#ifndef TOOLS_HEAP_TEXT_H
#define TOOLS_HEAP_TEXT_H

/*
 * heap_text() - a profile of memory on stdout, as Go's /debug/pprof/heap?debug=1 has it
 *
 * Return: STATUS_OK, or another status after a sentence.
 */
int heap_text(const char *file);

/* heap_leaks() - memory in use on stdout, by stack, the most bytes first; likewise */
int heap_leaks(const char *file);

#endif /* TOOLS_HEAP_TEXT_H */
