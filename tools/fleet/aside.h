/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * aside: items that their engine could not take some times, though it was there.
 *
 * One of them may be the reason itself: a profile over which a receiver falls. It is let be for
 * five minutes then, and for twice as long each time, so that those behind it are sent. A
 * process that begins knows of none.
 */
#ifndef GPROF_TOOLS_FLEET_ASIDE_H
#define GPROF_TOOLS_FLEET_ASIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ASIDE_TRIES	4	/* in a row, as it is the oldest */
#define ASIDE_MAX	4096

/**
 * struct aside - some items
 * @v: id, how often it was tried, and CLOCK_BOOTTIME before which it is let be
 * @nr: how many
 * @room: there is memory for
 */
struct aside {
	struct {
		uint64_t id;
		unsigned int tries;
		uint64_t until_ns;
	} *v;
	size_t nr, room;
};

/* aside_tried() - @tries more were in vain; ASIDE_TRIES of them at once have it let be now */
void aside_tried(struct aside *a, uint64_t id, unsigned int tries, uint64_t now_ns);

/* aside_is() - is it let be? */
bool aside_is(const struct aside *a, uint64_t id, uint64_t now_ns);

/* aside_forget() - it waits no more */
void aside_forget(struct aside *a, uint64_t id);

void aside_free(struct aside *a);

#endif /* GPROF_TOOLS_FLEET_ASIDE_H */
