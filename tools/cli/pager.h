/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A pager for results that are longer than the terminal.
 */
#ifndef TOOLS_PAGER_H
#define TOOLS_PAGER_H

/*
 * pager_begin() - from now on stdout goes through $PAGER, by default less, which shows one screen
 * at once and ends. Nothing where stdout is no terminal, the terminal is a dumb one, or PAGER is empty
 * or cat. The exit of gprofctl waits for it.
 */
void pager_begin(void);

#endif /* TOOLS_PAGER_H */
