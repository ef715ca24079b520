/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The shim that reports a program's allocations, for a command that is about to be started.
 */
#ifndef TOOLS_PRELOAD_H
#define TOOLS_PRELOAD_H

/**
 * preload() - have the shim loaded into later children of this process
 * @command: program and arguments
 * @why: for the sentence, option that needs the shim, such as "--user"
 * @instead: likewise, option for the kernel's allocations, such as "--kernel"
 *
 * Return: STATUS_OK, or STATUS_FAILED after a sentence: there is no shim, or the loader
 * would not load it into that program.
 */
int preload(char **command, const char *why, const char *instead);

#endif /* TOOLS_PRELOAD_H */
