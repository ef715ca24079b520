/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * jitdump.h: names and lines of generated code, from a jit-PID.dump.
 *
 * The process that generates the code writes the file, and has a page of it mapped for
 * execution, by which it is found (V8 --perf-prof, OpenJDK's libperf-jvmti, .NET, LLVM).
 * The format is that of tools/perf/Documentation/jitdump-specification.txt in the kernel.
 */
#ifndef GPROF_JITDUMP_H
#define GPROF_JITDUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "code_map.h"
#include "base/table.h"

/**
 * struct gprof_jit_line - a place in generated code
 * @offset: from where its function begins
 * @line: line in the source
 * @file: source, in @strings
 */
struct gprof_jit_line {
	uint32_t offset;
	uint32_t line;
	uint32_t file;
};

/**
 * struct gprof_jit_lines - the places of one function
 * @first: the first of them
 * @nr: how many
 * @start: where the function began, of which newer ones may have left less
 */
struct gprof_jit_lines {
	uint32_t first;
	uint32_t nr;
	uint64_t start;
};

/**
 * struct gprof_jitdump - generated functions, and where they come from
 * @budget: of which all of this is taken
 * @v: functions; once read, the parts that newer ones left, in the order of addresses
 * @cap: room in @v
 * @nr: how many
 * @strings: names of functions and sources
 * @past: functions that are where newer ones came
 * @of: for each function, by age, its places in @lines
 * @cap_of: room in @of
 * @made: for each function, by age, when it was made, CLOCK_MONOTONIC; 0: not known
 * @cap_made: room in @made
 * @lines: places, those of a function in their order
 * @cap_lines: room in @lines
 * @nr_lines: how many
 * @lines_left_out: there was no room for all places
 */
struct gprof_jitdump {
	struct gprof_budget budget;
	struct gprof_code *v;
	size_t cap;
	size_t nr;
	struct gprof_strings strings;
	struct gprof_code_past past;
	struct gprof_jit_lines *of;
	size_t cap_of;
	uint64_t *made;
	size_t cap_made;
	struct gprof_jit_line *lines;
	size_t cap_lines;
	size_t nr_lines;
	bool lines_left_out;
};

/**
 * gprof_jitdump_read() - read a file
 * @j: result for gprof_jitdump_free()
 * @fd: regular file, which may be written to meanwhile: whole records count
 * @pid: of the process in its own pid namespace
 *
 * Return: 0, -EINVAL (no jitdump, or of the other byte order), -ESRCH (another process wrote it),
 * -EFBIG (it would take more than 64 MiB), -ENOMEM, or an error of pread().
 */
int gprof_jitdump_read(struct gprof_jitdump *j, int fd, uint32_t pid);
void gprof_jitdump_free(struct gprof_jitdump *j);

/**
 * struct gprof_jit_code - generated code at an address
 * @name: function; NULL: not one and the same was there all the time
 * @file: its source, or NULL
 * @line: its line, or 0
 * @id: unique for this name, file and line at this address; 0: none
 */
struct gprof_jit_code {
	const char *name;
	const char *file;
	uint32_t line;
	uint64_t id;
};

/**
 * gprof_jitdump_find() - the function that was at an address
 * @j: functions
 * @addr: address
 * @from: when it was there, CLOCK_MONOTONIC; 0: the newest one is meant
 * @to: until when
 * @code: result; strings live as long as @j
 *
 * Return: is anything known of that address?
 */
bool gprof_jitdump_find(struct gprof_jitdump *j, uint64_t addr, uint64_t from, uint64_t to,
			struct gprof_jit_code *code);

/** gprof_is_jitdump() - is a mapping of this path one of a jitdump? */
bool gprof_is_jitdump(const char *path);

#endif /* GPROF_JITDUMP_H */
