/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * trace_words.h: the words of a trace, held to what <linux/gprof.h> promises of them.
 */
#ifndef GPROF_TEST_TRACE_WORDS_H
#define GPROF_TEST_TRACE_WORDS_H

#include "reader.h"

#define TRACE_UNKNOWN	UINT32_MAX		/* who runs is not known yet */
#define TRACE_STRANGER	(UINT32_MAX - 1)

/**
 * struct trace_word - an event
 * @time: ns
 * @operand: where it has one
 * @cpu: of the ring
 * @what: GPROF_TRACE_*
 * @arg: its argument
 * @tid: its number
 * @running: who ran on the CPU before it, or TRACE_*
 * @order: in which it was read
 */
struct trace_word {
	uint64_t time;
	uint64_t operand;
	uint32_t cpu;
	uint16_t what;
	uint16_t arg;
	uint32_t tid;
	uint32_t running;
	size_t order;
};

/* A name that was told, and where: before the word with this index. */
struct trace_name {
	struct gprof_task_rec rec;
	size_t before;
};

/**
 * struct trace_sample - a sample, and what it belongs to
 * @word: index of the word whose stack it has; SIZE_MAX: none, it is a CPU sample; or
 *	TRACE_BEFORE: one of the generation before
 * @time: ns
 * @weight: what it stands for
 * @tid: whose
 * @flags: GPROF_SAMPLE_REC_F_*
 * @stack: a copy, or NULL
 */
struct trace_sample {
	size_t word;
	uint64_t time;
	uint64_t weight;
	uint32_t tid;
	uint16_t flags;
	struct gprof_stack_rec *stack;
};

#define TRACE_BEFORE	(SIZE_MAX - 1)

/* A FIRED record, and where it stands: before the word with this index, if of its CPU. */
struct trace_mark {
	struct gprof_trigger_rec rec;
	uint32_t cpu;
	size_t before;
};

/* A copy of an ANNOTATION record, and where it stands, as a mark does. */
struct trace_annotation {
	struct gprof_annotation_rec *rec;
	uint32_t cpu;
	size_t before;
};

/**
 * struct trace_words - all that was read
 * @reader: of the rings
 * @words: by CPU of one reading, in the order of the ring
 * @nr: of them
 * @names: TASK records
 * @nr_names: of them
 * @samples: words that are a sample, and records that are one
 * @taken: the latter
 * @nr_taken: how many
 * @marks: FIRED records
 * @nr_marks: of them
 * @annotations: ANNOTATION records, which are a sample each
 * @nr_annotations: of them
 * @absences: times a CPU was away and another task ran on it when it came back
 * @error: the first rule that was broken, or ""
 */
struct trace_words {
	struct reader reader;
	struct trace_word *words;
	size_t nr;
	size_t room;
	struct trace_name *names;
	size_t nr_names;
	uint64_t samples;
	struct trace_sample *taken;
	size_t nr_taken;
	struct trace_mark *marks;
	size_t nr_marks;
	struct trace_annotation *annotations;
	size_t nr_annotations;
	uint64_t absences;
	struct trace_words_cpu *cpus;
	unsigned int cpu;
	char error[256];
};

int trace_words_init(struct trace_words *t, struct device *dev);
void trace_words_free(struct trace_words *t);
/* Stream mode: read all that is there. 0 or -errno. */
int trace_words_read(struct trace_words *t);
/* Flight mode: what there is; forgets what was read before. */
int trace_words_snapshot(struct trace_words *t);
/* By time; the order of each CPU stays. */
void trace_words_sort(struct trace_words *t);

/* How many words say @what, with this tid (or any: -1)? */
size_t trace_words_count(const struct trace_words *t, unsigned int what, int tid);
/* Has this id ever had this name? */
bool trace_words_named(const struct trace_words *t, uint32_t tid, const char *comm);

#endif
