/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * timeparse: points of time, as people write them.
 */
#ifndef GPROF_TOOLS_STORE_TIMEPARSE_H
#define GPROF_TOOLS_STORE_TIMEPARSE_H

#include <stdbool.h>
#include <stdint.h>

#define TIMEPARSE_TEXT	32

/**
 * timeparse() - a point of time
 * @text: "2026-11-25T09:00:00Z", or with an offset such as +01:00, as RFC 3339 has it;
 *	"-1h" before now; "now"; seconds since 1970
 * @now: ns of CLOCK_REALTIME
 * @ns: gets it, likewise
 *
 * Return: whether @text is one.
 */
bool timeparse(const char *text, uint64_t now, uint64_t *ns);

/* timeparse_text() - as RFC 3339 has it, in UTC, to the second; returns @text */
const char *timeparse_text(uint64_t ns, char text[TIMEPARSE_TEXT]);

#endif /* GPROF_TOOLS_STORE_TIMEPARSE_H */
