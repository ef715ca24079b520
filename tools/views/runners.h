/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Goroutines that run as a Go program's trace begins.
 *
 * Go says that of each with the first event of its thread in the generation, which may be long
 * after. Nothing was told of it before, so that it ran all the time. Where a program begins to
 * trace itself, its world stands still, and the one runner is the goroutine that does so; a
 * snapshot of a flight recorder begins in the middle.
 */
#ifndef TOOLS_VIEWS_RUNNERS_H
#define TOOLS_VIEWS_RUNNERS_H

#include <stddef.h>
#include <stdint.h>

#include "join_model.h"

/**
 * struct runners - all of them; all zeroes to begin with
 * @all: they, and the threads that they run on
 * @nr: how many
 * @room: of @all
 * @begin: time of the first event
 */
struct runners {
	struct runner {
		int64_t goroutine;
		int64_t tid;
	} *all;
	size_t nr;
	size_t room;
	int64_t begin;
};

/**
 * runners_find() - read the first generation of a trace
 * @r: all zeroes
 * @fd: open file, whose position is restored; none is found in one that cannot be read twice
 */
void runners_find(struct runners *r, int fd);

/* runners_begin() - they run from the begin of their trace on, of which they tell later */
void runners_begin(const struct runners *r, struct join_model *j);

void runners_free(struct runners *r);

#endif /* TOOLS_VIEWS_RUNNERS_H */
