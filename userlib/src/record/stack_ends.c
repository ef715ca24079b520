// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * stack_ends.c: where the walks of user stacks ended, in numbers and in words.
 */
#include "stack_ends.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *gprof_stack_end_name(unsigned int end)
{
	static const char *const names[] = {
		[GPROF_STACK_END_MAX] = "max frames",
		[GPROF_STACK_END_UNREAD] = "code not known yet",
		[GPROF_STACK_END_NO_TABLE] = "no unwind table",
		[GPROF_STACK_END_NO_ROW] = "no unwind rule",
		[GPROF_STACK_END_RULE] = "unwind rule not followed",
		[GPROF_STACK_END_PAGE] = "page not in memory",
		[GPROF_STACK_END_ADDRESS] = "no return address",
		[GPROF_STACK_END_MODE] = "memory out of reach",
		[GPROF_STACK_END_TIME] = "time",
	};

	return end < sizeof(names) / sizeof(*names) ? names[end] : NULL;
}

__attribute__((format(printf, 2, 3)))
static void append(char text[GPROF_STACK_ENDS_TEXT], const char *fmt, ...)
{
	size_t at = strlen(text);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text + at, GPROF_STACK_ENDS_TEXT - at, fmt, ap);
	va_end(ap);
}

static double percent(uint64_t part, uint64_t all)
{
	return 100.0 * (double)part / (double)all;
}

void gprof_stack_ends_text(const uint64_t ends[GPROF_ENDS], char text[GPROF_STACK_ENDS_TEXT])
{
	const char *before = "; cut: ";
	uint64_t all = 0;
	unsigned int end;

	for (end = 0; end < GPROF_ENDS; end++)
		all += ends[end];
	*text = '\0';
	if (!all)
		return;
	append(text, "%.2f %% of %" PRIu64 " user stacks are complete",
	       percent(ends[GPROF_STACK_END_COMPLETE], all), all);
	if (ends[GPROF_END_GUESSED])
		append(text, ", %.2f %% with guessed frames",
		       percent(ends[GPROF_END_GUESSED], all));
	for (end = 0; end < GPROF_END_GUESSED; end++) {
		if (!ends[end] || end == GPROF_STACK_END_COMPLETE)
			continue;
		append(text, "%s%s %" PRIu64, before, gprof_stack_end_name(end) ?: "other reasons",
		       ends[end]);
		before = ", ";
	}
}
