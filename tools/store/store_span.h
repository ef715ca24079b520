/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The recordings of a store that the command line asks for: a span of time, a kind, a service.
 */
#ifndef GPROF_TOOLS_STORE_STORE_SPAN_H
#define GPROF_TOOLS_STORE_STORE_SPAN_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/options.h"
#include "store_dir.h"
#include "time_range.h"

#define STORE_SPAN_KIND	"cpu"	/* unless another is asked for */

/**
 * struct store_span - the command line
 * @from: --from, or NULL
 * @to: --to, or NULL
 * @service: --service, or NULL
 * @kind: --kind, or NULL
 */
struct store_span {
	const char *from;
	const char *to;
	const char *service;
	const char *kind;
};

/* For struct option_table; their ctx is a struct store_span. The second has --kind too. */
extern const struct option_row store_span_options[];
extern const struct option_row store_span_kind_options[];

/* store_span_given() - is there any of the options? */
bool store_span_given(const struct store_span *o);

/*
 * store_span_times() - the span's ends; @from: the default of --from
 *
 * Return: STATUS_OK, or STATUS_USAGE after a sentence.
 */
int store_span_times(const struct store_span *o, const char *from, struct time_range *w);

/* store_span_nothing() - say what the store has instead; STATUS_FAILED */
int store_span_nothing(const struct time_range *w, const char *kind);

/**
 * store_span_open() - the recordings of a store
 * @o: command line
 * @path: the store, borrowed
 * @ago_ns: so much earlier than it has it
 * @dir: gets opened, for store_dir_close()
 * @w: gets them, for time_range_free()
 *
 * Return: STATUS_OK, or another status after a sentence, also where there is none, or where some
 * cannot be read; nothing is open then.
 */
int store_span_open(const struct store_span *o, const char *path, uint64_t ago_ns,
		    struct store_dir *dir, struct time_range *w);

#endif /* GPROF_TOOLS_STORE_STORE_SPAN_H */
