/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hints for naming code without names.
 */
#ifndef TOOLS_PROFILE_NAME_HINT_H
#define TOOLS_PROFILE_NAME_HINT_H

#include "view.h"

/**
 * name_hint() - the packages, servers and command for the names that are missing
 * @v: view
 * @file: its profile, as it was typed
 *
 * Return: a sentence for free(), or NULL where less than a hundredth of all has none that may
 * be found.
 */
char *name_hint(struct view *v, const char *file);

#endif /* TOOLS_PROFILE_NAME_HINT_H */
