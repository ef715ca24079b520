/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Children of a process that were there before its recording, which does not have them.
 */
#ifndef TOOLS_CHILDREN_H
#define TOOLS_CHILDREN_H

#include <stdint.h>

/* children_report() - say how many a process has, if any, and the target that has them too */
void children_report(int32_t pid);

#endif /* TOOLS_CHILDREN_H */
