/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * debuginfod_progress: debug files from servers of debuginfod, with progress on the terminal.
 */
#ifndef TOOLS_DEBUGINFOD_PROGRESS_H
#define TOOLS_DEBUGINFOD_PROGRESS_H

/* debuginfod_enable() - ask servers, for @ms at most (0: 30 s), and show how that goes; 0 or -errno */
int debuginfod_enable(unsigned int ms);

#endif
