// SPDX-License-Identifier: GPL-2.0-only
/*
 * UTF-8 in, and out in the way that each format can bear.
 */
#include "text.h"

#include <stdlib.h>
#include <string.h>

#include "memory.h"

#define REPLACEMENT	0xfffd

static bool allowed(uint32_t c)
{
	if (c < 0x20)
		return c == '\t' || c == '\n';
	if (c >= 0x7f && c < 0xa0)
		return false;
	return c < 0xd800 || (c >= 0xe000 && c < 0xfffe) || (c >= 0x10000 && c <= 0x10ffff);
}

uint32_t text_next(const char **p)
{
	static const uint32_t least[] = { 0, 0x80, 0x800, 0x10000 };
	const unsigned char *s = (const unsigned char *)*p;
	uint32_t c = *s++;
	int more = 0;

	*p = (const char *)s;
	if (c >= 0xf0 && c < 0xf8)
		more = 3;
	else if (c >= 0xe0 && c < 0xf0)
		more = 2;
	else if (c >= 0xc0 && c < 0xe0)
		more = 1;
	else if (c >= 0x80)
		return REPLACEMENT;
	if (!more)
		return allowed(c) ? c : REPLACEMENT;
	c &= 0x3f >> more;
	for (int i = 0; i < more; i++) {
		/* A NUL is no continuation: the string's end is never passed. */
		if ((s[i] & 0xc0) != 0x80)
			return REPLACEMENT;
		c = c << 6 | (s[i] & 0x3f);
	}
	*p = (const char *)s + more;
	return c >= least[more] && allowed(c) ? c : REPLACEMENT;
}

bool text_is_formula(const char *s)
{
	uint32_t c = *s ? text_next(&s) : 'x';

	return strchr("=+-@'\t\r", (int)(c < 0x80 ? c : 'x')) || c == 0xff1d || c == 0xff0b ||
	       c == 0xff0d || c == 0xff20;
}

void text_put(FILE *f, uint32_t c)
{
	if (c < 0x80) {
		putc(c, f);
	} else if (c < 0x800) {
		putc(0xc0 | c >> 6, f);
		putc(0x80 | (c & 0x3f), f);
	} else if (c < 0x10000) {
		putc(0xe0 | c >> 12, f);
		putc(0x80 | (c >> 6 & 0x3f), f);
		putc(0x80 | (c & 0x3f), f);
	} else {
		putc(0xf0 | c >> 18, f);
		putc(0x80 | (c >> 12 & 0x3f), f);
		putc(0x80 | (c >> 6 & 0x3f), f);
		putc(0x80 | (c & 0x3f), f);
	}
}

/* From Hangul on, most are two columns wide; the rest loses a little room by it. */
static size_t columns_of(uint32_t c)
{
	return c >= 0x1100 ? 2 : 1;
}

size_t text_columns(const char *s)
{
	size_t n = 0;

	while (*s)
		n += columns_of(text_next(&s));
	return n;
}

/* Does a '<' or '>' at @at stand in an operator's name, or in an arrow? */
static bool is_operator(const char *s, const char *at)
{
	static const char word[] = "operator";
	const size_t length = sizeof(word) - 1;
	const char *signs = *at == '<' ? "<" : "<>=-";

	if (*at == '>' && at > s && at[-1] == '-')
		return true;
	/* operator<, <<, <=>, >>=: signs alone, up to the word */
	while (at > s && strchr(signs, at[-1]))
		at--;
	return (size_t)(at - s) >= length && !memcmp(at - length, word, length);
}

/*
 * Leaves out template arguments where that is shorter, but not Rust's qualified types ("<T as
 * U>::f"). False where brackets do not match: comparisons, or nonsense.
 */
static bool drop_arguments(char *to, const char *s)
{
	const char *begin = s, *open = NULL;
	size_t depth = 0;

	for (; *s; s++) {
		bool bracket = (*s == '<' || *s == '>') && !is_operator(begin, s);

		if (bracket && *s == '<' && (depth || (s > begin && !strchr(" <", s[-1])))) {
			if (!depth++)
				open = s;
		} else if (bracket && *s == '>' && depth && !--depth) {
			bool shorter = s - open > 4;

			memcpy(to, shorter ? "<..." : open, shorter ? 4 : s - open);
			to += shorter ? 4 : s - open;
		}
		if (!depth)
			*to++ = *s;
	}
	*to = '\0';
	return !depth;
}

/* Where the first @columns of @s end. */
static const char *skip_columns(const char *s, size_t columns)
{
	while (*s) {
		const char *next = s;
		size_t width = columns_of(text_next(&next));

		if (width > columns)
			break;
		columns -= width;
		s = next;
	}
	return s;
}

/* Behind the import path of a Go package, "a.b/c/" of "a.b/c/d.(*T).f"; or @s. */
static const char *behind_path(const char *s)
{
	size_t length = strcspn(s, "(<[ ");

	while (length && s[length - 1] != '/')
		length--;
	return s + length;
}

/* Behind the first name space of C++ or Rust; NULL: there is none, or it is a type in brackets. */
static const char *behind_space(const char *s)
{
	size_t length = strcspn(s, ":(<[ ");

	return length && s[length] == ':' && s[length + 1] == ':' && s[length + 2] ? s + length + 2 :
	       NULL;
}

static void cut_middle(char *name, size_t width, size_t columns)
{
	size_t head = (columns - 3) / 2, tail = columns - 3 - head;
	char *cut = (char *)skip_columns(name, head);
	const char *rest = skip_columns(name, width - tail);

	/* half of a wide character does not go */
	if (text_columns(rest) > tail)
		text_next(&rest);
	memmove(cut + 3, rest, strlen(rest) + 1);
	memcpy(cut, "...", 3);
}

char *text_short(const char *s, size_t columns)
{
	/* Characters that are none are wider than their bytes: "..." may need room. */
	char *name = xalloc(strlen(s) + 4, 1);
	const char *from = name, *next;
	size_t width;

	if (text_columns(s) <= columns || !drop_arguments(name, s))
		strcpy(name, s);
	if (text_columns(name) > columns)
		from = behind_path(name);
	width = text_columns(from);
	while (width > columns && (next = behind_space(from)))
		while (from < next)
			width -= columns_of(text_next(&from));
	memmove(name, from, strlen(from) + 1);
	if (width > columns)
		cut_middle(name, width, columns);
	return name;
}

void text_xml(FILE *f, const char *s, size_t columns)
{
	size_t n = 0;

	while (*s) {
		uint32_t c = text_next(&s);

		n += columns_of(c);
		if (n > columns)
			return;
		switch (c) {
		case '&':
			fputs("&amp;", f);
			break;
		case '<':
			fputs("&lt;", f);
			break;
		case '>':
			fputs("&gt;", f);
			break;
		case '"':
			fputs("&quot;", f);
			break;
		default:
			text_put(f, c);
		}
	}
}

void text_json_bytes(FILE *f, const char *s, size_t length)
{
	const char *end = s + length;

	putc('"', f);
	while (s < end) {
		unsigned char byte = (unsigned char)*s;

		if (byte < 0x20 || byte == 0x7f || strchr("\"\\<>&", byte)) {
			fprintf(f, byte == '"' || byte == '\\' ? "\\%c" : "\\u%04x", byte);
			s++;
		} else {
			text_put(f, text_next(&s));
		}
	}
	putc('"', f);
}

void text_json(FILE *f, const char *s)
{
	text_json_bytes(f, s, strlen(s));
}

/* Of directions of writing: what is behind a name would move too. */
static bool steers(uint32_t c)
{
	return (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

char *text_safe(const char *s)
{
	char *text = xalloc(strlen(s) + 1, 1), *to = text;

	while (*s) {
		const char *at = s;
		uint32_t c = text_next(&s);

		if (c == REPLACEMENT || c < 0x20 || steers(c)) {
			*to++ = '?';
		} else {
			memcpy(to, at, (size_t)(s - at));
			to += s - at;
		}
	}
	return text;
}

void text_plain(FILE *f, const char *s)
{
	char *text = text_safe(s);

	fputs(text, f);
	free(text);
}
