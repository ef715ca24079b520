// SPDX-License-Identifier: GPL-2.0-only
/* scope: who is recorded, and what the kernel tells of them */
#include "../scope.c"
#include "../tap.c"
#include "../tap_probe.c"
#include "../later.c"
#include "../base.c"
