// SPDX-License-Identifier: GPL-2.0-only
/*
 * Points of time, as people write them.
 */
#include "timeparse.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cli/duration.h"

#define SECOND_NS	1000000000ULL

/* "Z", "+HH:MM" or "-HH:MM", in seconds. */
static bool parse_offset(const char *text, int *seconds)
{
	unsigned int hours, minutes;
	int end = 0;

	*seconds = 0;
	if (!strcmp(text, "Z") || !strcmp(text, "z"))
		return true;
	if ((*text != '+' && *text != '-') ||
	    sscanf(text + 1, "%2u:%2u%n", &hours, &minutes, &end) != 2 || end != 5 ||
	    text[6] || hours > 23 || minutes > 59)
		return false;
	*seconds = (int)(hours * 3600 + minutes * 60) * (*text == '-' ? -1 : 1);
	return true;
}

/* A day that there is: timegm() takes the 31st of February for one of March. */
static bool is_same(const struct tm *a, const struct tm *b)
{
	return a->tm_mday == b->tm_mday && a->tm_mon == b->tm_mon && a->tm_hour == b->tm_hour &&
	       a->tm_min == b->tm_min && a->tm_sec == b->tm_sec;
}

static bool parse_date(const char *text, uint64_t *ns)
{
	unsigned int year, month, day, hour, minute, second;
	struct tm tm = { 0 }, again;
	char digits[16] = "";
	uint64_t fraction = 0;
	int end = 0, offset;
	time_t t;

	if (sscanf(text, "%4u-%2u-%2u%*1[Tt ]%2u:%2u:%2u%n", &year, &month, &day, &hour, &minute,
		   &second, &end) != 6 || end != 19)
		return false;
	text += end;
	if (*text == '.') {
		size_t len = strspn(text + 1, "0123456789");

		if (!len || len > 9)
			return false;
		snprintf(digits, sizeof(digits), "%.*s%.*s", (int)len, text + 1, (int)(9 - len),
			 "00000000");
		sscanf(digits, "%" SCNu64, &fraction);
		text += 1 + len;
	}
	if (!parse_offset(text, &offset))
		return false;
	tm = (struct tm){
		.tm_year = (int)year - 1900, .tm_mon = (int)month - 1, .tm_mday = (int)day,
		.tm_hour = (int)hour, .tm_min = (int)minute, .tm_sec = (int)second,
	};
	again = tm;
	t = timegm(&again);
	if (!is_same(&tm, &again) || t - offset < 0)
		return false;
	*ns = (uint64_t)(t - offset) * SECOND_NS + fraction;
	return true;
}

bool timeparse(const char *text, uint64_t now, uint64_t *ns)
{
	int64_t before;

	if (!strcmp(text, "now")) {
		*ns = now;
		return true;
	}
	if (*text == '-') {
		if (!duration_parse(text + 1, &before))
			return false;
		*ns = (uint64_t)before < now ? now - (uint64_t)before : 0;
		return true;
	}
	if (text[strspn(text, "0123456789.")])
		return parse_date(text, ns);
	if (!duration_parse(text, &before))
		return false;
	*ns = (uint64_t)before;
	return true;
}

const char *timeparse_text(uint64_t ns, char text[TIMEPARSE_TEXT])
{
	time_t t = (time_t)(ns / SECOND_NS);
	struct tm tm;

	gmtime_r(&t, &tm);
	strftime(text, TIMEPARSE_TEXT, "%Y-%m-%dT%H:%M:%SZ", &tm);
	return text;
}
