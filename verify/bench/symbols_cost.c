// SPDX-License-Identifier: GPL-2.0-only
/*
 * symbols_cost: makes a profile with names, on stdout, of samples that perf recorded.
 *
 *	symbols_cost PID		from stdin, lines
 *		map START END OFFSET MAJOR MINOR INODE PATH	(numbers but inodes in hex)
 *		stack ADDRESS...				leaf first, in hex
 *
 * All that the library does with what the module tells is done here too, but that the
 * records are made of text.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <gprof/profile.h>

#include "record/builder.h"

#define FRAMES	128

static struct gprof_decoder decoder;

static int feed_map(const char *line, uint32_t pid)
{
	struct { struct gprof_map_rec rec; char path[512]; } m = {
		.rec = {
			.rec = { GPROF_REC_MAP, 0, sizeof(m) }, .process = { pid, 1, 1 },
			.layout = 1,
		},
	};
	unsigned long long start, end, offset, inode;
	unsigned int major, minor;

	if (sscanf(line, "%llx %llx %llx %x %x %llu %511[^\n]", &start, &end, &offset, &major,
		   &minor, &inode, m.path) != 7)
		return -1;
	m.rec.start = start;
	m.rec.end = end;
	m.rec.offset = offset;
	m.rec.dev_major = major;
	m.rec.dev_minor = minor;
	m.rec.inode = inode;
	return gprof_decoder_feed(&decoder, &m.rec.rec, sizeof(m));
}

static int feed_stack(char *line, uint32_t pid)
{
	static uint32_t id;
	struct { struct gprof_stack_rec s; uint64_t frames[FRAMES]; } r = {
		.s = {
			.rec = { GPROF_REC_STACK, 0, sizeof(r) }, .id = ++id, .layout = 1,
			.process = { pid, 1, 1 },
		},
	};
	struct gprof_sample_rec s = {
		.rec = { GPROF_REC_SAMPLE, 0, sizeof(s) },
		.time = 1000 + id, .tid = pid, .stack = id,
	};
	char *word = strtok(line, " \n");

	for (; word && r.s.nr_user < FRAMES; word = strtok(NULL, " \n"))
		r.frames[r.s.nr_user++] = strtoull(word, NULL, 16);
	r.s.rec.size = (uint32_t)(sizeof(r.s) + r.s.nr_user * sizeof(r.frames[0]));
	return gprof_decoder_feed(&decoder, &r.s.rec, r.s.rec.size) ||
	       gprof_decoder_feed(&decoder, &s.rec, sizeof(s));
}

int main(int argc, char **argv)
{
	uint32_t pid = argc == 2 ? (uint32_t)strtoul(argv[1], NULL, 10) : 0;
	struct gprof_columns columns = {
		.count_type = "samples", .weight_type = "faults", .weight_unit = "count", .period = 1,
	};
	struct gprof_generation_rec g = {
		.rec = { GPROF_REC_GENERATION, 0, sizeof(g) }, .weight = 1,
	};
	struct gprof_task_rec t = {
		.rec = { GPROF_REC_TASK, 0, sizeof(t) },
		.process = { pid, 1, 1 }, .tid = pid, .comm = "symbols_load",
	};
	struct gprof_profile *p = NULL;
	struct gprof_builder builder;
	char *line = NULL;
	size_t cap = 0;
	int err;

	if (!pid) {
		fprintf(stderr, "usage: symbols_cost PID\n");
		return 2;
	}
	gprof_builder_init(&builder);
	gprof_decoder_init(&decoder, &gprof_builder_ops, &builder);
	err = gprof_decoder_feed(&decoder, &g.rec, sizeof(g)) ||
	      gprof_decoder_feed(&decoder, &t.rec, sizeof(t));
	while (!err && getline(&line, &cap, stdin) > 0) {
		if (!strncmp(line, "map ", 4))
			err = feed_map(line + 4, pid);
		else if (!strncmp(line, "stack ", 6))
			err = feed_stack(line + 6, pid);
		else
			err = -1;
		if (err)
			fprintf(stderr, "symbols_cost: %s", line);
	}
	free(line);
	builder.last = true;
	err = err || gprof_builder_profile(&builder, &columns, &p) || gprof_profile_finish(p) ||
	      gprof_profile_write(p, 1);
	gprof_profile_free(p);
	gprof_decoder_free(&decoder);
	gprof_builder_free(&builder);
	return !!err;
}
