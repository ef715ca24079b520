/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Why a thread waited: the chain of threads that it waited for.
 */
#ifndef TOOLS_VIEWS_WAIT_CHAIN_H
#define TOOLS_VIEWS_WAIT_CHAIN_H

/**
 * wait_chain_print() - print the threads that made a thread wait
 * @file: a trace of the host, which is read twice
 * @who: tid or name
 * @at: a time in seconds of CLOCK_MONOTONIC, or "+" and seconds since the trace began; NULL:
 *	of its longest wait
 * @output: profile to write instead, or NULL
 *
 * Return: the exit status.
 */
int wait_chain_print(const char *file, const char *who, const char *at, const char *output);

#endif /* TOOLS_VIEWS_WAIT_CHAIN_H */
