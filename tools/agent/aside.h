/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * aside: items that their engine could not take some times, though it was there.
 *
 * One of them may be the reason itself: a profile over which a receiver falls. It is let be for
 * five minutes then, and for twice as long each time, so that those behind it are sent. But as
 * long as none of those is taken either, as in an outage that something in between answers for,
 * it is in doubt, and comes again at once when one is. A process that begins knows of none.
 */
#ifndef GPROF_TOOLS_FLEET_ASIDE_H
#define GPROF_TOOLS_FLEET_ASIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine.h"

#define ASIDE_TRIES	4	/* in a row, as it is the oldest */
#define ASIDE_MAX	4096

/**
 * struct aside - some items
 * @v: id, form, how often it was tried, CLOCK_BOOTTIME before which it is let be, and whether no
 *	other has been taken since it was first tried
 * @nr: how many
 * @room: there is memory for
 */
struct aside {
	struct {
		uint64_t id;
		enum item_form form;
		unsigned int tries;
		uint64_t until_ns;
		bool doubt;
	} *v;
	size_t nr, room;
};

/* aside_tried() - it was tried once more in vain */
void aside_tried(struct aside *a, uint64_t id, enum item_form form, uint64_t now_ns);

/* aside_put() - it is let be now: it cannot even be tried */
void aside_put(struct aside *a, uint64_t id, enum item_form form, uint64_t now_ns);

/* aside_taken() - one of this form was taken: those in doubt come again; were there any? */
bool aside_taken(struct aside *a, enum item_form form);

/* aside_is() - is it let be? */
bool aside_is(const struct aside *a, uint64_t id, uint64_t now_ns);

/* aside_forget() - it waits no more */
void aside_forget(struct aside *a, uint64_t id);

void aside_free(struct aside *a);

#endif /* GPROF_TOOLS_FLEET_ASIDE_H */
