/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A trace as it comes: running threads, waits for a CPU, and waits for other threads, interval by
 * interval. Nothing is stored; memory is that of a generation, and of the threads alive.
 */
#ifndef TOOLS_VIEWS_LIVE_ANALYSIS_H
#define TOOLS_VIEWS_LIVE_ANALYSIS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/**
 * struct live_analysis_opts - how it is shown
 * @out: where to
 * @interval_ns: of the trace's time, of which a picture has at least half: they are shown as
 *	generations end
 * @redraw: each takes the place of the one before; @out is a terminal
 * @colour: with colours
 */
struct live_analysis_opts {
	FILE *out;
	int64_t interval_ns;
	bool redraw;
	bool colour;
};

/* live_analysis_terminal() - whether @out is a terminal that can redraw, and wants colours */
void live_analysis_terminal(struct live_analysis_opts *o);

/**
 * live_analysis_read() - show a trace up to its end
 * @fd: file or pipe
 * @o: how
 *
 * Return: STATUS_OK, or another status after a sentence.
 */
int live_analysis_read(int fd, const struct live_analysis_opts *o);

#endif /* TOOLS_VIEWS_LIVE_ANALYSIS_H */
