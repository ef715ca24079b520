/* SPDX-License-Identifier: GPL-2.0-only */
#define GOLDEN_RATIO_64	0x61C8864680B583EBULL
