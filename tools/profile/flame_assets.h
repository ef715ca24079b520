/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * flame.js and flame.css as strings, from flame_assets.S.
 */
#ifndef TOOLS_FLAME_ASSETS_H
#define TOOLS_FLAME_ASSETS_H

extern const char flame_script[];
extern const char flame_style[];

#endif /* TOOLS_FLAME_ASSETS_H */
