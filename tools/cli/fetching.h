/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fetching: debug files from servers of debuginfod, with progress on the terminal.
 */
#ifndef TOOLS_FETCHING_H
#define TOOLS_FETCHING_H

/* debuginfod_ask() - ask servers, for @ms at most (0: 30 s), and show how that goes; 0 or -errno */
int debuginfod_ask(unsigned int ms);

#endif
