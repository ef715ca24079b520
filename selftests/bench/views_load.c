// SPDX-License-Identifier: GPL-2.0-only
/*
 * views_load.c: a profile as large as views have to bear, for what they cost.
 *
 *	views_load FILE [SAMPLES [FUNCTIONS]]
 *
 * A million samples of a hundred thousand functions unless told otherwise, of 64
 * processes on 8 CPUs.  A stack is a walk down a tree, in which each function calls four
 * others, mostly the first of them, and ends in any function at all.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <gprof/profile_builder.h>

#define DEPTH		20
#define CALLEES		4

static uint64_t state = 88172645463325252ULL;

static uint64_t draw(uint64_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state % below;
}

int main(int argc, char **argv)
{
	static const struct gprof_value_type types[] = {
		{ "samples", "count" }, { "cpu", "nanoseconds" },
	};
	unsigned long samples = argc > 2 ? strtoul(argv[2], NULL, 10) : 1000000;
	unsigned long functions = argc > 3 ? strtoul(argv[3], NULL, 10) : 100000;
	struct gprof_profile_builder *b = gprof_profile_builder_new(
		&(struct gprof_profile_builder_config){
			.sz = sizeof(struct gprof_profile_builder_config),
			.types = types, .nr_types = 2, .default_type = "cpu",
			.period_type = types[1], .period = 1000000,
		});
	char (*names)[32] = calloc(functions ? functions : 1, sizeof(*names));
	struct gprof_profile *p;
	int fd, err = 0;

	if (argc < 2 || !functions || !samples || !b || !names)
		return 2;
	for (unsigned long i = 0; i < functions; i++)
		snprintf(names[i], sizeof(names[i]), "function_%lu", i);
	for (unsigned long i = 0; i < samples && !err; i++) {
		unsigned long process = draw(64);
		char comm[16];
		struct gprof_tag tags[] = {
			{ .key = "pid", .num = 1000 + process },
			{ .key = "tid", .num = 1000 + process },
			{ .key = "comm", .text = comm },
			{ .key = "cpu", .num = draw(8) },
		};
		struct gprof_frame frames[DEPTH];
		int64_t values[] = { 1, 1000000 };
		unsigned long at = 0;

		snprintf(comm, sizeof(comm), "program_%lu", process);
		for (size_t j = DEPTH; j-- > 0;) {
			bool kernel = j < 3 && i % 4 == 0;

			frames[j] = (struct gprof_frame){
				.function = names[at],
				.file = "source.c",
				.mapping = kernel ? "[kernel.kallsyms]" : at % 7 ? "/bin/prog" :
					   "/lib/libc.so.6",
				.line = at % 1000 + 1,
			};
			at = at * CALLEES + 1 + (draw(4) ? 0 : draw(CALLEES));
			at = j == 1 ? draw(functions) : at % functions;
		}
		err = gprof_profile_builder_add(b, frames, DEPTH, tags, 4, values);
	}
	p = err ? NULL : gprof_profile_builder_finish(b);
	fd = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC, 0666);
	if (!p || fd < 0 || gprof_profile_write(p, fd)) {
		fprintf(stderr, "views_load: %s\n", gprof_error());
		return 1;
	}
	return close(fd) != 0;
}
