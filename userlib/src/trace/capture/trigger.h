/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * trigger.h: triggers of a flight recorder: names, and the kernel's numbers.
 */
#ifndef GPROF_TRIGGER_H
#define GPROF_TRIGGER_H

#include <gprof/flight.h>
#include <linux/gprof.h>
#include <stdint.h>

#include "base/own_fd.h"

#define GPROF_TRIGGER_TEXT	96

/**
 * struct gprof_trigger_set - those of a recorder
 * @nr: how many
 * @cause: of each
 * @text: its name, "syscall:read"
 */
struct gprof_trigger_set {
	unsigned int nr;
	enum gprof_flight_cause cause[GPROF_TRIGGERS_MAX];
	char text[GPROF_TRIGGERS_MAX][GPROF_TRIGGER_TEXT];
};

/**
 * gprof_trigger_add() - set one
 * @s: set
 * @dev: device, set up
 * @t: the condition
 * @e: sentence
 *
 * Return: its number or -errno.
 */
int gprof_trigger_add(struct gprof_trigger_set *s, const struct gprof_own_fd *dev,
		      const struct gprof_flight_trigger *t, struct gprof_error *e);

/** gprof_trigger_read() - the oldest firing; 0, -EAGAIN (counts alone, no sentence) or -errno */
int gprof_trigger_read(const struct gprof_trigger_set *s, const struct gprof_own_fd *dev,
		       struct gprof_flight_fired *fired, struct gprof_error *e);

/** gprof_trigger_text() - name of a number, or NULL */
const char *gprof_trigger_text(const struct gprof_trigger_set *s, uint32_t index);

#endif /* GPROF_TRIGGER_H */
