/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * item_name: all metadata of an item, as the name of its file.
 *
 * The names are the store's index. So a change of an item's state is one rename(), which
 * happens or does not, and there is nothing beside the items that could disagree with them.
 */
#ifndef GPROF_TOOLS_STORE_ITEM_NAME_H
#define GPROF_TOOLS_STORE_ITEM_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ITEM_NAME	256
#define ITEM_TYPE	32
#define ITEM_HOST	65

#define ITEM_FORMS	3	/* of enum item_form */

enum item_form {
	ITEM_PROFILE,	/* pprof, gzipped */
	ITEM_TRACE,	/* Go's execution trace */
	ITEM_ROLLUP,	/* profiles of some minutes as one, which no engine gets (rollup.h) */
};

enum item_state {
	ITEM_KEPT,	/* it does not wait for an engine */
	ITEM_WAITS,	/* for an engine */
	ITEM_TRIED,	/* an engine may have it, and has not answered */
};

/**
 * struct item_name - an item
 * @form: profile, trace or rollup
 * @state: does it wait for an engine?
 * @type: kind that recorded it: lower case letters, digits and dashes
 * @host: of which host it is; letters, digits, dots and dashes
 * @start_ns: when it begins, CLOCK_REALTIME
 * @duration_ns: how long it was recorded
 * @id: unique; a later item has a higher one
 * @samples: how many it has
 * @parts: that an engine has taken
 * @taken: samples of @samples that an engine has taken, or refused
 * @of: division that @parts are of, struct engine's; 0: not known, or none is taken
 * @items: of a rollup: number of its items; the durations and samples above are sums
 * @first_id: of these
 * @last_id: likewise
 * @sum: of the file's bytes and of the constant members above, item_sum()
 */
struct item_name {
	enum item_form form;
	enum item_state state;
	char type[ITEM_TYPE];
	char host[ITEM_HOST];
	uint64_t start_ns;
	uint64_t duration_ns;
	uint64_t id;
	uint64_t samples;
	uint32_t parts;
	uint64_t taken;
	uint32_t of;
	uint32_t items;
	uint64_t first_id;
	uint64_t last_id;
	uint32_t sum;
};

/* item_sum() - CRC-32 of the file's contents, then of its name but for its state */
uint32_t item_sum(const struct item_name *n, const void *data, size_t size);

/* item_name_text() - the file's name */
void item_name_text(const struct item_name *n, char text[ITEM_NAME]);

/* item_name_parse() - is @text one, written as item_name_text() does? */
bool item_name_parse(struct item_name *n, const char *text);

#endif /* GPROF_TOOLS_STORE_ITEM_NAME_H */
