/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Triggers as people write them, and messages of their events.
 */
#ifndef TOOLS_TRIGGERS_H
#define TOOLS_TRIGGERS_H

#include <stdint.h>

#include <gprof/flight.h>

#define TRIGGERS_MAX	8
#define TRIGGER_LINE	384

/**
 * struct triggers - those of a command line
 * @all: for the library; @name is on the heap
 * @nr: how many
 */
struct triggers {
	struct gprof_flight_trigger all[TRIGGERS_MAX];
	unsigned int nr;
};

/**
 * triggers_add() - take CAUSE[:WHICH][>TIME][/INTERVAL]
 * @t: triggers
 * @text: such as "syscall:read>10ms/30s"
 *
 * Return: STATUS_OK, or STATUS_USAGE after a sentence.
 */
int triggers_add(struct triggers *t, const char *text);
void triggers_free(struct triggers *t);

/* triggers_line() - one line of a trigger event; returns @line */
const char *triggers_line(const struct gprof_flight_fired *fired, char line[TRIGGER_LINE]);

#endif /* TOOLS_TRIGGERS_H */
