// SPDX-License-Identifier: GPL-2.0-only
/*
 * All that a store knows of an item, as the name of its file:
 *
 *	START_DURATION_TYPE_SAMPLES_ID_SUM_STATE_HOST.pb.gz
 *
 * in nanoseconds and numbers, the first of them with leading zeros, so that names sort by time.
 * STATE is a letter, then PARTS.TAKEN, and .OF behind that where some are taken.
 */
#include "item_name.h"

#include <inttypes.h>
#include <libdeflate.h>
#include <stdio.h>
#include <string.h>

static const char *const suffixes[] = { [ITEM_PROFILE] = ".pb.gz", [ITEM_TRACE] = ".trace" };
static const char states[] = { [ITEM_KEPT] = 'k', [ITEM_WAITS] = 'w', [ITEM_TRIED] = 't' };

#define TYPE_CHARS	"abcdefghijklmnopqrstuvwxyz0123456789-"
#define HOST_CHARS	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-"

static int constant_part(const struct item_name *n, char text[ITEM_NAME])
{
	return snprintf(text, ITEM_NAME, "%020" PRIu64 "_%" PRIu64 "_%s_%" PRIu64 "_%016" PRIx64,
			n->start_ns, n->duration_ns, n->type, n->samples, n->id);
}

uint32_t item_sum(const struct item_name *n, const void *data, size_t size)
{
	uint32_t sum = libdeflate_crc32(0, data, size);
	char text[ITEM_NAME];

	sum = libdeflate_crc32(sum, text, (size_t)constant_part(n, text));
	sum = libdeflate_crc32(sum, n->host, strlen(n->host));
	return libdeflate_crc32(sum, suffixes[n->form], strlen(suffixes[n->form]));
}

void item_name_text(const struct item_name *n, char text[ITEM_NAME])
{
	int at = constant_part(n, text);
	char of[16] = "";

	if (n->of)
		snprintf(of, sizeof(of), ".%08" PRIx32, n->of);
	snprintf(text + at, ITEM_NAME - (size_t)at,
		 "_%08" PRIx32 "_%c%" PRIu32 ".%" PRIu64 "%s_%s%s", n->sum, states[n->state],
		 n->parts, n->taken, of, n->host, suffixes[n->form]);
}

static bool cut_suffix(char *host, enum item_form *form)
{
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++) {
		size_t len = strlen(suffixes[i]), all = strlen(host);

		if (all > len && !strcmp(host + all - len, suffixes[i])) {
			*form = (enum item_form)i;
			host[all - len] = '\0';
			return true;
		}
	}
	return false;
}

bool item_name_parse(struct item_name *n, const char *text)
{
	char again[ITEM_NAME], host[ITEM_HOST + 8], state;
	const char *which;
	int at = 0;

	memset(n, 0, sizeof(*n));
	if (sscanf(text, "%20" SCNu64 "_%20" SCNu64 "_%31[" TYPE_CHARS "]_%20" SCNu64 "_%16" SCNx64
		   "_%8" SCNx32 "_%c%10" SCNu32 ".%20" SCNu64 "%n", &n->start_ns, &n->duration_ns,
		   n->type, &n->samples, &n->id, &n->sum, &state, &n->parts, &n->taken, &at) != 9)
		return false;
	if (text[at] == '.' && sscanf(text + at, ".%8" SCNx32, &n->of) == 1)
		at += 9;
	if (strlen(text) < (size_t)at || sscanf(text + at, "_%72[" HOST_CHARS "]", host) != 1)
		return false;
	which = memchr(states, state, sizeof(states));
	/* Numbers count on from the time in ns: those of a later age would come to an end. */
	if (!which || !cut_suffix(host, &n->form) || strlen(host) >= sizeof(n->host) ||
	    n->taken > n->samples || n->id > INT64_MAX)
		return false;
	n->state = (enum item_state)(which - states);
	strcpy(n->host, host);
	/* Each item has one name: no sign, no zero too many. */
	item_name_text(n, again);
	return !strcmp(again, text);
}
