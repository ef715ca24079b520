// SPDX-License-Identifier: GPL-2.0-only
/*
 * The lines of perf sched timehist.
 */
#include "timehist.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NS_US	1000
/* Widths of numbers, how many of their digits are behind the point, and the first too long. */
#define MS_COLUMNS	9
#define MS_DECIMALS	3
#define MS_END		UINT64_C(100000000)
#define TIME_COLUMNS	14
#define TIME_DECIMALS	6
#define TIME_END	UINT64_C(10000000000000)
/* The longest that any 64-bit number takes. */
#define NUMBER_MAX	24
/* A longer name is written by itself. */
#define TASK_MAX	128

static inline char *put_pair(char *end, unsigned int pair)
{
	static const char pairs[] =
		"00010203040506070809101112131415161718192021222324"
		"25262728293031323334353637383940414243444546474849"
		"50515253545556575859606162636465666768697071727374"
		"75767778798081828384858687888990919293949596979899";

	memcpy(end - 2, pairs + 2 * pair, 2);
	return end - 2;
}

/* Exactly so many digits, up to @end; returns where they begin. */
static inline char *put_digits(char *end, uint32_t value, unsigned int nr)
{
	for (; nr > 1; nr -= 2, value /= 100)
		end = put_pair(end, value % 100);
	if (nr)
		*--end = (char)('0' + value % 10);
	return end;
}

/*
 * As "%*.*f" does of @value / 10^@decimals, which most of the time would be spent in;
 * returns the end of the text.
 */
static inline char *put_scaled(char *to, int64_t value, unsigned int decimals,
			       unsigned int columns, uint64_t too_long)
{
	const uint64_t scale = decimals == MS_DECIMALS ? 1000 : 1000000;
	uint64_t left = value > 0 ? (uint64_t)value : 0, whole = left / scale;
	char *end = to + columns;

	if (left >= too_long)
		return to + snprintf(to, NUMBER_MAX, "%" PRIu64 ".%0*" PRIu64, whole, (int)decimals,
				     left % scale);
	memset(to, ' ', columns);
	to = put_digits(end, (uint32_t)(left - whole * scale), decimals);
	*--to = '.';
	for (; whole >= 100; whole /= 100)
		to = put_pair(to, (unsigned int)(whole % 100));
	if (whole >= 10)
		put_pair(to, (unsigned int)whole);
	else
		to[-1] = (char)('0' + whole);
	return end;
}

static inline char *put_time(char *to, int64_t ns)
{
	return put_scaled(to, ns / NS_US, TIME_DECIMALS, TIME_COLUMNS, TIME_END);
}

static inline char *put_ms(char *to, int64_t ns)
{
	*to++ = ' ';
	*to++ = ' ';
	return put_scaled(to, (ns + NS_US / 2) / NS_US, MS_DECIMALS, MS_COLUMNS, MS_END);
}

static inline char *put_cpu(char *to, int64_t cpu)
{
	if (cpu < 0 || cpu > 9999)
		return to + snprintf(to, NUMBER_MAX, "%04" PRId64, cpu);
	put_digits(to + 4, (uint32_t)cpu, 4);
	return to + 4;
}

static void put_out(const char *text, const char *end)
{
	fwrite_unlocked(text, 1, (size_t)(end - text), stdout);
}

void timehist_head(void)
{
	printf("%15s %6s  %-30s  %9s  %9s  %9s\n%15s %6s  %-30s  %9s  %9s  %9s\n", "time", "cpu",
	       "task name[tid]", "wait time", "sch delay", "run time", "", "", "", "(msec)",
	       "(msec)", "(msec)");
}

void timehist_time(int64_t ns)
{
	char text[NUMBER_MAX];

	put_out(text, put_time(text, ns));
}

void timehist_line(int64_t time, int64_t cpu, const char *task, size_t len, int64_t off,
		   int64_t delay, int64_t ran)
{
	char text[TASK_MAX + 8 * NUMBER_MAX], *p = text;

	*p++ = ' ';
	p = put_time(p, time);
	*p++ = ' ';
	*p++ = '[';
	p = put_cpu(p, cpu);
	memcpy(p, "]  ", 3);
	p += 3;
	if (len <= TASK_MAX) {
		memcpy(p, task, len);
		p += len;
	} else {
		put_out(text, p);
		put_out(task, task + len);
		p = text;
	}
	p = put_ms(p, off);
	p = put_ms(p, delay);
	p = put_ms(p, ran);
	*p++ = '\n';
	put_out(text, p);
}
