// SPDX-License-Identifier: GPL-2.0-only
/*
 * Windows in which a host records more than all the time.
 */
#include "scheduled_window.h"

#include <stdlib.h>
#include <string.h>

#include "cli/duration.h"
#include "cli/options.h"
#include "cli/diag.h"

#define HOUR_NS		(3600 * 1000000000ULL)
#define ONE_IN_MAX	1000000

static bool parse_kind(char *text, struct scheduled_window *s)
{
	char *colon = strchr(text, ':');
	unsigned long long rate = 0;

	if (colon) {
		*colon = '\0';
		if (!parse_count(colon + 1, &rate) || !rate || !strcmp(text, "trace"))
			return false;
	}
	s->rate = rate;
	if (!*text || strlen(text) >= sizeof(s->kind) || strchr(text, '/'))
		return false;
	strcpy(s->kind, text);
	return true;
}

static bool parse(char *text, struct scheduled_window *s)
{
	char *colon, *equals, *hour;
	unsigned long long one_in;
	int64_t ns;

	if (strncmp(text, "1/", 2))
		return false;
	colon = strchr(text, ':');
	if (!colon)
		return false;
	*colon = '\0';
	equals = strchr(colon + 1, '=');
	if (equals)
		*equals = '\0';
	hour = strstr(colon + 1, "/h");
	if (!hour || hour[2])
		return false;
	*hour = '\0';
	if (!parse_count(text + 2, &one_in) || !one_in || one_in > ONE_IN_MAX ||
	    !duration_parse(colon + 1, &ns) || ns <= 0 || (uint64_t)ns > HOUR_NS)
		return false;
	s->one_in = one_in;
	s->ns = (uint64_t)ns;
	strcpy(s->kind, "trace");
	return !equals || parse_kind(equals + 1, s);
}

bool scheduled_window_parse(const char *text, struct scheduled_window *s)
{
	char *copy = xprintf("%s", text);
	bool ok;

	*s = (struct scheduled_window){ .text = text };
	ok = parse(copy, s);
	free(copy);
	return ok;
}

/* Bits that depend on all of the input, one after the other (FNV-1a, then mixed). */
static uint64_t mix(uint64_t hash, const void *data, size_t size)
{
	const unsigned char *at = data;

	while (size--)
		hash = (hash ^ *at++) * 0x100000001b3ULL;
	return hash;
}

static uint64_t spread(uint64_t n)
{
	for (int i = 0; i < 3; i++) {
		n ^= n >> 32;
		n *= 0x9e3779b97f4a7c15ULL;
	}
	return n ^ n >> 32;
}

bool scheduled_window_in_hour(const struct scheduled_window *s, const char *host, uint64_t hour,
			      uint64_t *offset_ns)
{
	uint64_t hash = 0xcbf29ce484222325ULL;

	hash = mix(hash, host, strlen(host) + 1);
	hash = mix(hash, s->text, strlen(s->text) + 1);
	for (int shift = 0; shift < 64; shift += 8)
		hash = mix(hash, &(unsigned char){ (unsigned char)(hour >> shift) }, 1);
	hash = spread(hash);
	if (hash % s->one_in)
		return false;
	*offset_ns = s->ns < HOUR_NS ? spread(hash + 1) % (HOUR_NS - s->ns) : 0;
	return true;
}

uint64_t scheduled_window_next(const struct scheduled_window *s, const char *host, uint64_t now_ns)
{
	uint64_t hour = now_ns / HOUR_NS, offset;

	/* Chance ends this sooner or later, and the bound if it does not. */
	for (uint64_t i = 0; i < 64 * s->one_in; i++, hour++)
		if (scheduled_window_in_hour(s, host, hour, &offset) &&
		    hour * HOUR_NS + offset >= now_ns)
			return hour * HOUR_NS + offset;
	return UINT64_MAX;
}
