/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Capabilities of a program that serves other users.
 */
#ifndef TOOLS_CAPS_H
#define TOOLS_CAPS_H

#include <stdbool.h>

/*
 * caps_keep_needed() - drop all but those that recording and naming need, for ever, and with
 * them those that exec could add. Of the calling thread and those that it will start: to be called
 * before there are others. STATUS_OK, or STATUS_FAILED after a sentence
 */
int caps_keep_needed(void);

/*
 * caps_drop_all() - likewise all of them, between fork and exec: it only makes system calls.
 * False: they are as they were
 */
bool caps_drop_all(void);

#endif /* TOOLS_CAPS_H */
