/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A page that is shown in the browser at once, for subcommands without -o.
 */
#ifndef TOOLS_BROWSER_H
#define TOOLS_BROWSER_H

/**
 * browser_show() - write a page to a private place, and open it in the browser
 * @name: of the subcommand, for the name of the file
 * @write: writes it to @path; STATUS_OK, or another status after a sentence
 * @ctx: for @write
 *
 * Return: STATUS_OK, or another status after a sentence; a page that no browser opened stays.
 */
int browser_show(const char *name, int (*write)(void *ctx, const char *path), void *ctx);

#endif /* TOOLS_BROWSER_H */
