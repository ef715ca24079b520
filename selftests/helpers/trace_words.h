/* SPDX-License-Identifier: GPL-2.0-only */
/* trace_words.h: the words of a trace, held to what <linux/gprof.h> promises of them. */
#ifndef GPROF_TEST_TRACE_WORDS_H
#define GPROF_TEST_TRACE_WORDS_H

#include "reader.h"

#define TRACE_UNKNOWN	UINT32_MAX		/* who runs is not known yet */
#define TRACE_STRANGER	(UINT32_MAX - 1)

/* An event. */
struct trace_word {
	uint64_t time;	/* ns */
	uint64_t operand;	/* where it has one */
	uint32_t cpu;	/* of the ring */
	uint16_t what;	/* GPROF_TRACE_* */
	uint16_t arg;	/* its argument; of WAIT that of the SWITCH that it is */
	uint16_t reason;	/* of WAIT: 1 + GPROF_WAIT_FOR_* */
	uint32_t tid;	/* its number */
	uint32_t running;	/* who ran on the CPU before it, or TRACE_* */
	size_t order;	/* in which it was read */
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

/* All that was read. */
struct trace_words {
	struct reader reader;	/* of the rings */
	struct trace_word *words;	/* by CPU of one reading, in the order of the ring */
	size_t nr;	/* of them */
	size_t room;
	struct trace_name *names;	/* TASK records */
	size_t nr_names;	/* of them */
	uint64_t samples;	/* words that are a sample, and records that are one */
	struct trace_sample *taken;	/* the latter */
	size_t nr_taken;	/* how many */
	struct trace_mark *marks;	/* FIRED records */
	size_t nr_marks;	/* of them */
	struct trace_annotation *annotations;	/* ANNOTATION records, which are a sample each */
	size_t nr_annotations;	/* of them */
	uint64_t absences; /* times a CPU was away and another task ran on it when it came back */
	struct trace_words_cpu *cpus;
	unsigned int cpu;
	char error[256];	/* the first rule that was broken, or "" */
};

int trace_words_init(struct trace_words *t, struct device *dev);
void trace_words_free(struct trace_words *t);
/* Stream mode: read all that is there. 0 or -errno. */
int trace_words_read(struct trace_words *t);
/* Flight mode: what there is; forgets what was read before. */
int trace_words_snapshot(struct trace_words *t);
/* Stops, and reads the rest, of either mode: all that was produced is there, or said to be gone. */
#define TRACE_WORDS_END(_t, _dev, _st) do {						\
	EXPECT_EQ(0, device_stop(_dev));						\
	EXPECT_EQ(0, (_dev)->flight ? trace_words_snapshot(_t) : trace_words_read(_t));	\
	EXPECT_STREQS("", (_t)->reader.error, "", (_t)->error);				\
	EXPECT_EQ(0, (_t)->reader.unknown);						\
	EXPECT_EQ(0, device_stats(_dev, GPROF_STATS_ALL_CPUS, _st));			\
	EXPECT_EQ((_st)->out_produced, (_t)->samples + device_lost(_st) + (_st)->out_overwritten); \
} while (0)

/* By time; the order of each CPU stays. */
void trace_words_sort(struct trace_words *t);

/* How many words say @what, with this tid (or any: -1)? */
size_t trace_words_count(const struct trace_words *t, unsigned int what, int tid);
/* Has this id ever had this name? */
bool trace_words_named(const struct trace_words *t, uint32_t tid, const char *comm);

#endif
