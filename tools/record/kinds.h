/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Common parts of subcommands for kinds of recorders that differ in little more than their name.
 */
#ifndef TOOLS_KINDS_H
#define TOOLS_KINDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gprof/recorder.h>

#include "cli/options.h"
#include "cli/target_options.h"
#include "record.h"

#define KINDS_MAX	8

/**
 * struct kinds - kinds to record, and the command line
 * @target: tasks or CPUs
 * @kinds: kinds with their rates
 * @files: output of each; NULL: after its name
 * @nr: how many
 * @buffer: --buffer, 0 when absent
 * @flags: GPROF_RECORD_* for all of them
 * @user_only: --user-only
 * @kernel: --kernel
 * @no_tables: --no-unwind-tables
 * @python: --python
 * @slice_ns: --slices, 0 when absent
 * @services: samples have a label of their service
 * @leaks: --leaks
 * @rows: -n, 0 when absent
 * @text: --format text
 * @reports: it has --json
 * @json: it
 * @of_user: --user
 * @probes: --uprobes
 * @slots: --slots, 0 when absent
 * @over_time: a heap is recorded over time, where the module can
 * @svg: --svg
 * @grown_since: --grown-since, ns; 0 when absent
 * @check: returns STATUS_OK for a complete command line, and sets the members that follow from
 *	it, or another status after a sentence; or NULL
 * @after: as in struct recording, for @check to set
 * @words: for the summary; NULL: those for waits with --every
 */
struct kinds {
	struct target target;
	struct gprof_kind_config kinds[KINDS_MAX];
	const char *files[KINDS_MAX];
	size_t nr;
	unsigned long long buffer;
	unsigned int flags;
	bool user_only;
	bool kernel;
	bool no_tables;
	bool python;
	uint64_t slice_ns;
	bool services;
	bool leaks;
	unsigned long long rows;
	bool text;
	bool reports;
	bool json;
	bool of_user;
	bool probes;
	unsigned long long slots;
	bool over_time;
	const char *svg;
	int64_t grown_since;
	int (*check)(struct kinds *k);
	int (*after)(void *kinds, struct gprof_recorder *r);
	const struct record_words *words;
};

/* kinds_add() - record one more */
void kinds_add(struct kinds *k, const char *kind, const char *file);

/* Functions of the rows below; their context is a struct kinds. */
int kinds_set_output(void *ctx, const char *value);
int kinds_set_every(void *ctx, const char *value);
int kinds_set_addr(void *ctx, const char *value);
int kinds_set_owner(void *ctx, const char *value);
int kinds_set_latency(void *ctx, const char *value);
int kinds_set_user_only(void *ctx, const char *value);
int kinds_set_kernel(void *ctx, const char *value);
int kinds_set_buffer(void *ctx, const char *value);
int kinds_set_no_tables(void *ctx, const char *value);
int kinds_set_python(void *ctx, const char *value);
int kinds_set_slices(void *ctx, const char *value);

/* parse_slices() - the value of --slices, after a sentence where it is none; returns a status */
int parse_slices(const char *value, uint64_t *ns);

#define SLICES_HELP								\
	"label samples with the time of their slice, this long, such as 100ms,\n"	\
	"for view; longer ones where there would be more than 512"

#define KINDS_ROW_EVERY								\
	{ 0, "every", "N", "sample one of N, by chance (default: 1, all)", kinds_set_every }
#define KINDS_ROW_ADDR								\
	{ 0, "addr", NULL, "label samples with the address of the lock", kinds_set_addr }
#define KINDS_ROW_OWNER								\
	{ 0, "lock-owner", NULL, "label waits for locks of the kernel with the owner of the lock", \
	  kinds_set_owner }
#define KINDS_ROW_LATENCY							\
	{ 0, "latency", NULL, "cpu: a second value, the time divided by the number of the\n" \
	  "target's tasks on CPUs (label parallelism)", kinds_set_latency }
#define KINDS_ROWS_KERNEL							\
	{ 0, "user-only", NULL, "leave the kernel's frames out", kinds_set_user_only },	\
	{ 0, "kernel", NULL, "require the kernel's frames (default: if permitted, CAP_PERFMON)", \
	  kinds_set_kernel }
#define KINDS_ROW_BUFFER							\
	{ 0, "buffer", "BYTES", "kernel buffer per CPU and profile", kinds_set_buffer }
#define KINDS_ROW_TABLES							\
	{ 0, "no-unwind-tables", NULL, "walk stacks by frame pointers alone",		\
	  kinds_set_no_tables },							\
	{ 0, "python", NULL, "put functions of Python programs into the stacks (CPython 3.11 and\n" \
	  "3.13)", kinds_set_python },							\
	{ 0, "slices", "TIME", SLICES_HELP, kinds_set_slices }

/*
 * kinds_recorder() - a recorder of a struct kinds, of the kernel too where that is permitted;
 * NULL with gprof_error()
 */
struct gprof_recorder *kinds_recorder(void *kinds, const struct gprof_target *target,
				      bool on_exec);

/* kinds_record() - parse the command line, record; returns the exit status */
int kinds_record(struct kinds *k, const struct usage *usage, const struct option_row *rows,
		 int argc, char **argv);

#endif /* TOOLS_KINDS_H */
