/* SPDX-License-Identifier: GPL-2.0-only */
#include "../shim.h"
#define OPTIMIZER_HIDE_VAR(var)	__asm__ ("" : "=r" (var) : "0" (var))
#define data_race(x)	(x)
