// SPDX-License-Identifier: GPL-2.0-only
/*
 * views_load.c: a profile as large as views have to bear, for what they cost.
 *
 *	views_load FILE [SAMPLES [FUNCTIONS [PERF_DATA PROGRAM | rich]]]
 *
 * A million samples of a hundred thousand functions unless told otherwise, of 64
 * processes on 8 CPUs.  A stack is a walk down a tree, in which each function calls four
 * others, mostly the first of them, and ends in any function at all.
 *
 * With "rich" some functions are inlined, and some a runtime's, of four processes one is the
 * parent, and samples are of a hundred slices of 10 ms.
 *
 * PERF_DATA gets the same samples for perf report, all of user mode: function i is at
 * TEXT + 16 * i of PROGRAM.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <gprof/profile_builder.h>

#define DEPTH		20
#define CALLEES		4
#define TEXT		0x400000
#define TEXT_SIZE	(16ULL << 20)

/* What begins a file of perf, as it has written them since 3.10. */
struct section {
	uint64_t offset;
	uint64_t size;
};

struct perf_file {
	uint64_t magic;
	uint64_t size;
	uint64_t attr_size;
	struct section attrs;
	struct section data;
	struct section event_types;
	uint64_t features[4];
	struct perf_event_attr attr;
	struct section ids;
};

struct perf_sample {
	struct perf_event_header header;
	uint64_t ip;
	uint32_t pid, tid;
	uint64_t time;
	uint64_t period;
	uint64_t nr;
	uint64_t ips[DEPTH + 1];
};

struct perf_map {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t start, length, offset;
	char path[256];
};

struct perf_comm {
	struct perf_event_header header;
	uint32_t pid, tid;
	char comm[16];
};

static uint64_t state = 88172645463325252ULL;

static uint64_t draw(uint64_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state % below;
}

static FILE *perf_begin(const char *file, const char *program)
{
	FILE *f = fopen(file, "w");
	struct perf_file head = {
		.magic = 0x32454c4946524550, .size = offsetof(struct perf_file, attr),
		.attr_size = sizeof(struct perf_event_attr) + sizeof(struct section),
		.attrs = { offsetof(struct perf_file, attr),
			   sizeof(struct perf_event_attr) + sizeof(struct section) },
		.data.offset = sizeof(struct perf_file),
		.attr = {
			.type = PERF_TYPE_SOFTWARE, .size = sizeof(struct perf_event_attr),
			.config = PERF_COUNT_SW_CPU_CLOCK, .sample_period = 1000000,
			.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
				       PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN,
		},
	};

	if (!f || fwrite(&head, sizeof(head), 1, f) != 1)
		return NULL;
	for (unsigned int i = 1000; i < 1064; i++) {
		struct perf_comm comm = { { PERF_RECORD_COMM, 0, sizeof(comm) }, i, i, "" };
		struct perf_map map = {
			{ PERF_RECORD_MMAP, PERF_RECORD_MISC_USER, sizeof(map) }, i, i, TEXT,
			TEXT_SIZE, 0x1000, "",
		};

		snprintf(comm.comm, sizeof(comm.comm), "program_%u", i - 1000);
		snprintf(map.path, sizeof(map.path), "%s", program);
		fwrite(&comm, sizeof(comm), 1, f);
		fwrite(&map, sizeof(map), 1, f);
	}
	return f;
}

static void perf_add(FILE *f, unsigned int pid, const unsigned long *stack)
{
	static uint64_t time = 1000000000;
	struct perf_sample s = {
		{ PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, sizeof(s) }, TEXT + 16 * stack[0],
		pid, pid, time, 1000000, DEPTH + 1, { PERF_CONTEXT_USER },
	};

	time += 1000;
	for (size_t i = 0; i < DEPTH; i++)
		s.ips[i + 1] = TEXT + 16 * stack[i] + (i ? 1 : 0);
	fwrite(&s, sizeof(s), 1, f);
}

static int perf_end(FILE *f)
{
	uint64_t size = (uint64_t)ftell(f) - sizeof(struct perf_file);
	int err = fseek(f, offsetof(struct perf_file, data.size), SEEK_SET) ||
		  fwrite(&size, sizeof(size), 1, f) != 1;

	return fclose(f) || err;
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
	FILE *perf = argc > 5 ? perf_begin(argv[4], argv[5]) : NULL;
	bool rich = argc == 5;
	struct gprof_profile *p;
	int fd, err = argc > 5 && !perf;

	if (argc < 2 || !functions || !samples || !b || !names)
		return 2;
	for (unsigned long i = 0; i < functions; i++)
		snprintf(names[i], sizeof(names[i]), "function_%lu", i);
	for (unsigned long i = 0; i < samples && !err; i++) {
		unsigned long process = draw(64);
		char comm[16];
		struct gprof_tag tags[] = {
			{ .key = "pid", .num = 1000 + process },
			{ .key = "tid", .num = 1000 + process }, { .key = "comm", .text = comm },
			{ .key = "cpu", .num = draw(8) },
			{ .key = "ppid", .num = 999 + (process + 3) / 4 },
			{ .key = "time", .num = (int64_t)(i * 100 / samples) * 10000000,
			  .unit = "nanoseconds" },
		};
		struct gprof_frame frames[DEPTH];
		unsigned long stack[DEPTH];
		/* as perf has it, or so that functions rank by one as they do not by the other */
		int64_t values[] = { 1, perf ? 1000000 : 1000000 * (1 + (int64_t)(i % 4)) };
		unsigned long at = 0;

		snprintf(comm, sizeof(comm), "program_%lu", process);
		for (size_t j = DEPTH; j-- > 0;) {
			bool inlined = rich && at % 5 == 2, runtime = rich && !inlined && at % 11 == 3;
			bool kernel = !inlined && !runtime && j < 3 && i % 4 == 0;

			stack[j] = at;
			frames[j] = (struct gprof_frame){
				.function = names[at], .file = runtime ? "work.py" : "source.c",
				.mapping = runtime ? "" : kernel ? "[kernel.kallsyms]" : at % 7 ? "/bin/prog" :
					   "/lib/libc.so.6",
				.line = at % 1000 + 1, .inlined = inlined,
			};
			at = at * CALLEES + 1 + (draw(4) ? 0 : draw(CALLEES));
			at = j == 1 ? draw(functions) : at % functions;
		}
		err = gprof_profile_builder_add(b, frames, DEPTH, tags, rich ? 6 : 4, values);
		if (perf)
			perf_add(perf, 1000 + process, stack);
	}
	if (perf && perf_end(perf))
		err = 1;
	p = err ? NULL : gprof_profile_builder_finish(b);
	fd = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC, 0666);
	if (!p || fd < 0 || gprof_profile_write(p, fd)) {
		fprintf(stderr, "views_load: %s\n", gprof_error());
		return 1;
	}
	return close(fd) != 0;
}
