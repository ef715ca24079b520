/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * timeline.js and timeline.css as strings, from timeline_assets.S.
 */
#ifndef TOOLS_VIEWS_TIMELINE_ASSETS_H
#define TOOLS_VIEWS_TIMELINE_ASSETS_H

extern const char timeline_script[];
extern const char timeline_style[];

#endif /* TOOLS_VIEWS_TIMELINE_ASSETS_H */
