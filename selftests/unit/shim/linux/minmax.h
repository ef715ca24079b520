/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SHIM_MINMAX_H
#define SHIM_MINMAX_H

#include <sys/param.h>
#include "../shim.h"

#define min(_a, _b)		MIN(_a, _b)
#define max(_a, _b)		MAX(_a, _b)
#define max_t(_type, _a, _b)	MAX((_type)(_a), (_type)(_b))

#endif /* SHIM_MINMAX_H */
