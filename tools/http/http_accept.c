// SPDX-License-Identifier: GPL-2.0-only
/*
 * The Accept header (RFC 9110, 12.5.1): TYPE/SUBTYPE;PARAMETER=VALUE;q=N, ...
 */
#include "http_server.h"

#include <string.h>
#include <strings.h>

#define Q_MAX	1000

/* A piece of the header: from @p, @n bytes. */
struct piece {
	const char *p;
	size_t n;
};

static struct piece trim(struct piece s)
{
	while (s.n && strchr(" \t", s.p[0])) {
		s.p++;
		s.n--;
	}
	while (s.n && strchr(" \t", s.p[s.n - 1]))
		s.n--;
	return s;
}

/* Cuts off the part before @by; never cuts quoted text. */
static struct piece cut(struct piece *rest, char by)
{
	struct piece s = *rest;
	bool quoted = false;
	size_t i;

	for (i = 0; i < s.n && (quoted || s.p[i] != by); i++)
		if (s.p[i] == '"')
			quoted = !quoted;
	rest->p += i;
	rest->n -= i;
	if (rest->n) {
		rest->p++;
		rest->n--;
	}
	s.n = i;
	return trim(s);
}

static bool is(struct piece s, const char *word)
{
	return s.n == strlen(word) && !strncasecmp(s.p, word, s.n);
}

static struct piece unquote(struct piece s)
{
	if (s.n >= 2 && s.p[0] == '"' && s.p[s.n - 1] == '"') {
		s.p++;
		s.n -= 2;
	}
	return s;
}

/* "0.75" as 750; nonsense counts as 1, as if it were not there. */
static int parse_q(struct piece s)
{
	int q, unit = Q_MAX;
	size_t i;

	if (!s.n || (s.p[0] != '0' && s.p[0] != '1') || (s.n > 1 && s.p[1] != '.') || s.n > 5)
		return Q_MAX;
	q = (s.p[0] - '0') * Q_MAX;
	for (i = 2; i < s.n; i++) {
		if (s.p[i] < '0' || s.p[i] > '9')
			return Q_MAX;
		unit /= 10;
		q += (s.p[i] - '0') * unit;
	}
	return q > Q_MAX ? Q_MAX : q;
}

/* How exactly a range names the type: 3 itself, 2 its kind, 1 anything, 0 not. */
static int match(struct piece range, const char *type)
{
	size_t slash = strcspn(type, "/") + 1;

	if (is(range, type))
		return 3;
	if (range.n == slash + 1 && range.p[slash] == '*' && !strncasecmp(range.p, type, slash))
		return 2;
	return is(range, "*/*");
}

int http_accepts(const char *accept, const char *type, const char *version)
{
	struct piece rest = { accept, strlen(accept) };
	int best = 0, best_q = 0;

	if (!trim(rest).n)
		return Q_MAX;
	while (rest.n) {
		struct piece entry = cut(&rest, ','), range = cut(&entry, ';');
		int how = match(range, type), q = Q_MAX;

		while (entry.n) {
			struct piece value = cut(&entry, ';'), key = cut(&value, '=');

			value = unquote(trim(value));
			if (is(key, "q"))
				q = parse_q(value);
			else if (is(key, "version") && version && !is(value, version))
				how = 0;
		}
		/* Of several that fit equally well, the preference of the client. */
		if (how > best || (how && how == best && q > best_q)) {
			best = how;
			best_q = q;
		}
	}
	return best_q;
}
