// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * query.c: the query of a URL.
 */
#include "query.h"

#include <errno.h>
#include <string.h>

static int hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Undo the escapes of @len bytes; the length, or -EINVAL, or -E2BIG when it does not fit. */
static int unescape(const char *p, size_t len, char *out, size_t size)
{
	size_t n = 0, i;

	for (i = 0; i < len; i++) {
		char c = p[i];

		if (c == '+') {
			c = ' ';
		} else if (c == '%') {
			if (len - i < 3 || hex(p[i + 1]) < 0 || hex(p[i + 2]) < 0)
				return -EINVAL;
			c = (char)(hex(p[i + 1]) << 4 | hex(p[i + 2]));
			i += 2;
		}
		if (!c)
			return -EINVAL;
		if (n + 1 >= size)
			return -E2BIG;
		out[n++] = c;
	}
	out[n] = '\0';
	return (int)n;
}

int gprof_query_get(const char *query, const char *key, char *value, size_t size,
		    struct gprof_error *e)
{
	const char *p = query ? query : "";

	while (*p) {
		size_t len = strcspn(p, "&"), name = 0;
		char word[32];

		while (name < len && p[name] != '=')
			name++;
		/* An unknown word need not be valid. */
		if (unescape(p, name, word, sizeof(word)) >= 0 && !strcmp(word, key)) {
			const char *from = p + name + (name < len);
			int n = unescape(from, len - name - (name < len), value, size);

			if (n == -E2BIG)
				return gprof_error_set(e, EINVAL, "%s= is longer than %zu bytes", key,
						       size - 1);
			if (n < 0)
				return gprof_error_set(e, EINVAL, "%s= has an escape that is none: %% is "
						       "followed by two hexadecimal digits that are not 00",
						       key);
			return 1;
		}
		p += len;
		p += *p == '&';
	}
	return 0;
}

bool gprof_count_parse(const char *text, uint64_t *value)
{
	uint64_t v = 0, scale = 1;
	const char *p = text;

	for (; *p >= '0' && *p <= '9'; p++)
		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(*p - '0'), &v))
			return false;
	if (p == text)
		return false;
	if (*p) {
		scale = (*p | 0x20) == 'k' ? 1000 : (*p | 0x20) == 'm' ? 1000000 :
			(*p | 0x20) == 'g' ? 1000000000 : 0;
		p++;
	}
	return !*p && scale && !__builtin_mul_overflow(v, scale, value);
}

bool gprof_seconds_parse(const char *text, uint64_t *ns)
{
	uint64_t whole = 0, part = 0, unit = 1000000000;
	const char *p = text;

	for (; *p >= '0' && *p <= '9'; p++) {
		whole = whole * 10 + (uint64_t)(*p - '0');
		/* Longer than any limit, so that the limit refuses it. */
		if (whole > 1000000000)
			whole = 1000000000;
	}
	if (p == text)
		return false;
	if (*p == '.') {
		const char *digits = ++p;

		for (; *p >= '0' && *p <= '9'; p++) {
			unit /= 10;
			part += (uint64_t)(*p - '0') * unit;
		}
		if (p == digits)
			return false;
	}
	*ns = whole * 1000000000 + part;
	return !*p && *ns;
}
