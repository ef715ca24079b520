/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names from files, which may hold anything, into formats and terminals that
 * do not take anything.
 */
#ifndef TOOLS_TEXT_H
#define TOOLS_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * text_next() - decode one character of UTF-8 and move on; U+FFFD for bytes that are not UTF-8 or
 * not allowed in XML (control characters but tab and newline)
 */
uint32_t text_next(const char **p);

/* text_put() - write one character as UTF-8 */
void text_put(FILE *f, uint32_t c);

/*
 * text_is_formula() - would a spreadsheet take it for a formula? Its first character says so, of
 * full width too, and inside of quotes too. An apostrophe before it makes it text. A name that has
 * one gets another, so that a reader that takes one away has the name.
 */
bool text_is_formula(const char *s);

/* text_xml() - write as XML text or attribute, at most @columns wide */
void text_xml(FILE *f, const char *s, size_t columns);

/* text_json() - write as a JSON string with its quotes, also safe within XML */
void text_json(FILE *f, const char *s);
/* text_json_bytes() - likewise; it may hold zeros, and one stands behind it */
void text_json_bytes(FILE *f, const char *s, size_t length);

/* text_plain() - write to a terminal: control characters, of directions too, become "?" */
void text_plain(FILE *f, const char *s);

/* text_safe() - the same as a string; to be freed */
char *text_safe(const char *s);

/*
 * text_short() - a name of no more than @columns: without the contents of the angle brackets of C++
 * and Rust, then without the path of its package and outer name spaces, and last of all without its
 * middle; to be freed. @columns: from 8 on
 */
char *text_short(const char *s, size_t columns);

/* text_columns() - width in a monospace font */
size_t text_columns(const char *s);

#endif /* TOOLS_TEXT_H */
