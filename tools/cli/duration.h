/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Times with their units, such as 1.5ms, read and written.
 */
#ifndef TOOLS_DURATION_H
#define TOOLS_DURATION_H

#include <stdbool.h>
#include <stdint.h>

#define DURATION_TEXT	32

/* duration_parse() - "10ms", "1.5s", "250us"; "10" is 10 s. Is @text one, and does it fit? */
bool duration_parse(const char *text, int64_t *ns);

/* duration_text() - with 4 digits and the unit that suits it; returns @text */
const char *duration_text(int64_t ns, char text[DURATION_TEXT]);

#endif /* TOOLS_DURATION_H */
