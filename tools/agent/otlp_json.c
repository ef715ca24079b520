// SPDX-License-Identifier: GPL-2.0-only
/*
 * Answers of receivers of OTLP in JSON: {"partialSuccess": {"rejectedProfiles": "2",
 * "errorMessage": "words"}}, where all may be absent, and a number may be a string.
 */
#include "otlp_json.h"

#include <stdlib.h>
#include <string.h>

/* Text that is left. */
struct text {
	const char *at, *end;
};

static void skip_blanks(struct text *t)
{
	while (t->at < t->end && *t->at && strchr(" \t\r\n", *t->at))
		t->at++;
}

/* Whether @c is next, which is taken then. */
static bool expect(struct text *t, char c)
{
	skip_blanks(t);
	if (t->at == t->end || *t->at != c)
		return false;
	t->at++;
	return true;
}

/* A string, cut to the room of @to. */
static bool parse_string(struct text *t, char *to, size_t room)
{
	size_t nr = 0;

	if (!expect(t, '"'))
		return false;
	for (; t->at < t->end && *t->at != '"'; t->at++) {
		char c = *t->at;

		if (c == '\\') {
			if (++t->at == t->end)
				return false;
			c = strchr("\"\\/", *t->at) && *t->at ? *t->at : '?';
		}
		if (nr + 1 < room)
			to[nr++] = c < ' ' || c > '~' ? '?' : c;
	}
	to[nr] = '\0';
	return expect(t, '"');
}

static bool parse_number(struct text *t, int64_t *n)
{
	bool quoted = expect(t, '"');
	char digits[24];
	size_t nr = 0;
	char *end;

	skip_blanks(t);
	while (t->at < t->end && nr + 1 < sizeof(digits) && strchr("-0123456789", *t->at) && *t->at)
		digits[nr++] = *t->at++;
	digits[nr] = '\0';
	*n = strtoll(digits, &end, 10);
	return nr && !*end && (!quoted || expect(t, '"'));
}

static bool is(const char *key, const char *name, const char *other)
{
	return !strcmp(key, name) || !strcmp(key, other);
}

static bool parse_partial(struct text *t, int64_t *rejected, char *message, size_t room)
{
	char key[32];

	if (!expect(t, '{'))
		return false;
	if (expect(t, '}'))
		return true;
	do {
		if (!parse_string(t, key, sizeof(key)) || !expect(t, ':'))
			return false;
		if (is(key, "rejectedProfiles", "rejected_profiles")) {
			if (!parse_number(t, rejected))
				return false;
		} else if (!is(key, "errorMessage", "error_message") ||
			   !parse_string(t, message, room)) {
			return false;
		}
	} while (expect(t, ','));
	return expect(t, '}');
}

bool otlp_json_answer(const char *text, size_t size, int64_t *rejected, char *message, size_t room)
{
	struct text t = { text, text + size };
	char key[32];

	*rejected = 0;
	message[0] = '\0';
	if (!expect(&t, '{'))
		return false;
	if (!expect(&t, '}')) {
		if (!parse_string(&t, key, sizeof(key)) || !expect(&t, ':') ||
		    !is(key, "partialSuccess", "partial_success") ||
		    !parse_partial(&t, rejected, message, room) || !expect(&t, '}'))
			return false;
	}
	skip_blanks(&t);
	return t.at == t.end;
}
