/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * quarantine: items that their engine could not take some times, though it was there.
 *
 * One of them may be the reason itself: a profile over which a receiver falls. It is skipped for
 * five minutes then, and for twice as long each time, so that those behind it are sent. But as
 * long as none of those is taken either, as in an outage that something in between answers for, it
 * is in doubt, and comes again at once when one is. A process that begins knows of none.
 */
#ifndef GPROF_TOOLS_AGENT_QUARANTINE_H
#define GPROF_TOOLS_AGENT_QUARANTINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine.h"

#define QUARANTINE_TRIES	4	/* in a row, as it is the oldest */
#define QUARANTINE_MAX	4096

/**
 * struct quarantine - some items
 * @v: id, form, how often it was tried, CLOCK_BOOTTIME before which it is let be, and whether no
 *	other has been taken since it was first tried
 * @nr: how many
 * @room: there is memory for
 */
struct quarantine {
	struct {
		uint64_t id;
		enum item_form form;
		unsigned int tries;
		uint64_t until_ns;
		bool doubt;
	} *v;
	size_t nr, room;
};

/* quarantine_tried() - it was tried once more in vain */
void quarantine_tried(struct quarantine *a, uint64_t id, enum item_form form, uint64_t now_ns);

/* quarantine_put() - it is let be now: it cannot even be tried */
void quarantine_put(struct quarantine *a, uint64_t id, enum item_form form, uint64_t now_ns);

/* quarantine_accepted() - one of this form was taken: those in doubt come again; were there any? */
bool quarantine_accepted(struct quarantine *a, enum item_form form);

/* quarantine_is() - is it let be? */
bool quarantine_is(const struct quarantine *a, uint64_t id, uint64_t now_ns);

/* quarantine_forget() - it waits no more */
void quarantine_forget(struct quarantine *a, uint64_t id);

void quarantine_free(struct quarantine *a);

#endif /* GPROF_TOOLS_AGENT_QUARANTINE_H */
