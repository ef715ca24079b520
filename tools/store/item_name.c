// SPDX-License-Identifier: GPL-2.0-only
/*
 * All that a store knows of an item, as the name of its file:
 *
 *	START_DURATION_TYPE_SAMPLES_ID_SUM_STATE_HOST.pb.gz
 *
 * in nanoseconds and numbers, the first of them with leading zeros, so that names sort by time.
 * STATE is a letter, then PARTS.TAKEN, and .OF behind that where some are taken. A rollup has
 * rITEMS.FIRST.LAST in place of it, and .rollup.pb.gz at its end.
 */
#include "item_name.h"

#include <inttypes.h>
#include <libdeflate.h>
#include <stdio.h>
#include <string.h>

static const char *const suffixes[] = {
	[ITEM_PROFILE] = ".pb.gz", [ITEM_TRACE] = ".trace", [ITEM_ROLLUP] = ".rollup.pb.gz",
};
static const char states[] = { [ITEM_KEPT] = 'k', [ITEM_WAITS] = 'w', [ITEM_TRIED] = 't' };

#define TYPE_CHARS	"abcdefghijklmnopqrstuvwxyz0123456789-"
#define HOST_CHARS	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-"

static int constant_part(const struct item_name *n, char text[ITEM_NAME])
{
	return snprintf(text, ITEM_NAME, "%020" PRIu64 "_%" PRIu64 "_%s_%" PRIu64 "_%016" PRIx64,
			n->start_ns, n->duration_ns, n->type, n->samples, n->id);
}

static int rollup_part(const struct item_name *n, char text[ITEM_NAME])
{
	return snprintf(text, ITEM_NAME, "r%" PRIu32 ".%016" PRIx64 ".%016" PRIx64, n->items,
			n->first_id, n->last_id);
}

static void state_part(const struct item_name *n, char text[ITEM_NAME])
{
	int at;

	if (n->form == ITEM_ROLLUP) {
		rollup_part(n, text);
		return;
	}
	at = snprintf(text, ITEM_NAME, "%c%" PRIu32 ".%" PRIu64, states[n->state], n->parts, n->taken);
	if (n->of)
		snprintf(text + at, ITEM_NAME - (size_t)at, ".%08" PRIx32, n->of);
}

uint32_t item_sum(const struct item_name *n, const void *data, size_t size)
{
	uint32_t sum = libdeflate_crc32(0, data, size);
	char text[ITEM_NAME];

	sum = libdeflate_crc32(sum, text, (size_t)constant_part(n, text));
	if (n->form == ITEM_ROLLUP)
		sum = libdeflate_crc32(sum, text, (size_t)rollup_part(n, text));
	sum = libdeflate_crc32(sum, n->host, strlen(n->host));
	return libdeflate_crc32(sum, suffixes[n->form], strlen(suffixes[n->form]));
}

void item_name_text(const struct item_name *n, char text[ITEM_NAME])
{
	int at = constant_part(n, text);
	char state[ITEM_NAME];

	state_part(n, state);
	snprintf(text + at, ITEM_NAME - (size_t)at, "_%08" PRIx32 "_%s_%s%s", n->sum, state, n->host,
		 suffixes[n->form]);
}

static bool cut_suffix(char *host, enum item_form *form)
{
	/* The longest first, of those that end alike. */
	for (size_t i = sizeof(suffixes) / sizeof(*suffixes); i-- > 0;) {
		size_t len = strlen(suffixes[i]), all = strlen(host);

		if (all > len && !strcmp(host + all - len, suffixes[i])) {
			*form = (enum item_form)i;
			host[all - len] = '\0';
			return true;
		}
	}
	return false;
}

/* Its state, as state_part() writes it; returns how long that is, or 0. */
static int parse_state(struct item_name *n, const char *text)
{
	const char *which;
	char state;
	int at = 0, more = 0;

	if (sscanf(text, "r%10" SCNu32 ".%16" SCNx64 ".%16" SCNx64 "%n", &n->items, &n->first_id,
		   &n->last_id, &at) == 3 && at)
		return at;
	if (sscanf(text, "%c%10" SCNu32 ".%20" SCNu64 "%n", &state, &n->parts, &n->taken, &at) != 3)
		return 0;
	which = memchr(states, state, sizeof(states));
	if (!which)
		return 0;
	n->state = (enum item_state)(which - states);
	if (sscanf(text + at, ".%8" SCNx32 "%n", &n->of, &more) == 1)
		at += more;
	return at;
}

static bool makes_sense(const struct item_name *n)
{
	/* Numbers count on from the time in ns: those of a later age would come to an end. */
	if (n->taken > n->samples || n->id > INT64_MAX)
		return false;
	return n->form == ITEM_ROLLUP ? n->items && n->first_id <= n->last_id && n->last_id < n->id :
					!n->items;
}

bool item_name_parse(struct item_name *n, const char *text)
{
	char again[ITEM_NAME], host[ITEM_HOST + 16];
	int at = 0, state;

	memset(n, 0, sizeof(*n));
	if (sscanf(text, "%20" SCNu64 "_%20" SCNu64 "_%31[" TYPE_CHARS "]_%20" SCNu64 "_%16" SCNx64
		   "_%8" SCNx32 "_%n", &n->start_ns, &n->duration_ns, n->type, &n->samples, &n->id,
		   &n->sum, &at) != 6 || !at)
		return false;
	state = parse_state(n, text + at);
	if (!state || sscanf(text + at + state, "_%79[" HOST_CHARS "]", host) != 1)
		return false;
	if (!cut_suffix(host, &n->form) || strlen(host) >= sizeof(n->host) || !makes_sense(n))
		return false;
	strcpy(n->host, host);
	/* Each item has one name: no sign, no zero too many. */
	item_name_text(n, again);
	return !strcmp(again, text);
}
