// SPDX-License-Identifier: GPL-2.0-only
/*
 * profile_dump: a profile as the library reads it, in numbers that nobody rounded.
 *
 *	profile_dump FILE	"total TYPE UNIT N" for each column, then
 *				"flat TYPE N FUNCTION" for each function that is a leaf
 *	profile_dump FILE time	"time START DURATION", ns
 *	profile_dump FILE cum	likewise "cum TYPE N FUNCTION" for each of a stack
 *	profile_dump FILE whole	likewise "whole TYPE N FUNCTION" for leaves, of which one
 *				that is inlined counts for the function that it is part of
 *	profile_dump FILE label KEY	"label TYPE N FUNCTION TEXT": what leaves have with
 *				each text of a label; "-" where a sample has none
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <gprof/profile.h>

#define MOST_FUNCTIONS	65536

struct flat {
	char *function;
	int64_t *values;
};

static struct flat flats[MOST_FUNCTIONS];
static size_t nr_flats, nr_types;

static int add(const char *function, const int64_t *values)
{
	size_t i, type;

	for (i = 0; i < nr_flats; i++)
		if (!strcmp(flats[i].function, function))
			break;
	if (i == MOST_FUNCTIONS)
		return -1;
	if (i == nr_flats) {
		flats[i].function = strdup(function);
		flats[i].values = calloc(nr_types, sizeof(int64_t));
		nr_flats++;
	}
	for (type = 0; type < nr_types; type++)
		flats[i].values[type] += values[type];
	return 0;
}

struct how {
	const struct gprof_profile *p;
	bool cum;
	bool whole;
	const char *label;
};

static int each(void *ctx, const struct gprof_frame *frames, size_t nr, const int64_t *values)
{
	const struct how *how = ctx;
	const char *text;
	char line[4096];
	size_t i, j;

	if (how->label) {
		text = gprof_profile_label(how->p, how->label, NULL);
		snprintf(line, sizeof(line), "%s %s", nr ? frames[0].function : "",
			 text && *text ? text : "-");
		return add(line, values);
	}
	if (how->whole) {
		for (i = 0; i + 1 < nr && frames[i].inlined; i++)
			;
		return add(nr ? frames[i].function : "", values);
	}
	if (!nr || !how->cum)
		return add(nr ? frames[0].function : "", values);
	for (i = 0; i < nr; i++) {
		/* Once, however often it calls itself. */
		for (j = 0; j < i && strcmp(frames[j].function, frames[i].function); j++)
			;
		if (j == i && add(frames[i].function, values))
			return -1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	const struct gprof_value_type *types;
	struct gprof_profile *p;
	struct how how = {
		.cum = argc == 3 && !strcmp(argv[2], "cum"),
		.whole = argc == 3 && !strcmp(argv[2], "whole"),
		.label = argc == 4 && !strcmp(argv[2], "label") ? argv[3] : NULL,
	};
	bool when = argc == 3 && !strcmp(argv[2], "time");
	int64_t start, duration;
	int fd;

	if (argc != 2 && !when && !how.cum && !how.whole && !how.label) {
		fprintf(stderr, "usage: profile_dump FILE [time | cum | whole | label KEY]\n");
		return 2;
	}
	fd = open(argv[1], O_RDONLY);
	p = fd < 0 ? NULL : gprof_profile_read(fd);
	if (!p) {
		fprintf(stderr, "%s: %s %s\n", argv[1], strerror(errno), gprof_error());
		return 1;
	}
	if (when) {
		gprof_profile_time(p, &start, &duration);
		printf("time %" PRId64 " %" PRId64 "\n", start, duration);
		return 0;
	}
	nr_types = gprof_profile_types(p, &types);
	for (size_t type = 0; type < nr_types; type++)
		printf("total %s %s %" PRId64 "\n", types[type].type, types[type].unit,
		       gprof_profile_total(p, type));
	how.p = p;
	if (gprof_profile_each(p, each, &how))
		return 1;
	for (size_t type = 0; type < nr_types; type++)
		for (size_t i = 0; i < nr_flats; i++)
			printf("%s %s %" PRId64 " %s\n",
			       how.label ? "label" : how.cum ? "cum" : how.whole ? "whole" : "flat", types[type].type,
			       flats[i].values[type], flats[i].function);
	gprof_profile_free(p);
	return 0;
}
