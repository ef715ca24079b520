/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * reader.h: reads the rings of a recorder and holds each record to the format
 * that <linux/gprof.h> promises. Knows nothing of the library.
 */
#ifndef GPROF_TEST_READER_H
#define GPROF_TEST_READER_H

#include "device.h"

/* A sample and what the records before it say of it. */
struct reader_sample {
	unsigned int cpu;	/* CPU of the ring */
	const struct gprof_sample_rec *rec;	/* the record, in the ring or in a copy of it */
	uint32_t size;	/* of the record */
	uint64_t weight;	/* what it stands for */
	uint64_t addr;	/* data address, or 0 */
	uint64_t value;	/* what was measured, or 0 */
	uint64_t wait;	/* GPROF_WAIT_*, or 0 */
	uint64_t parallelism;	/* tasks of the target that ran, or 0 */
	uint64_t live;	/* its word in the table of what is live, or 0 */
	uint64_t ended;	/* end of the object before in its slot, or 0 */
	const struct gprof_stack_rec *stack;	/* its stack, NULL where it has none */
};

struct reader_ring;

/**
 * struct reader - what was read so far
 * @dev: whose rings
 * @rings: state of each, by CPU
 * @on_sample: called for each sample, or NULL
 * @on_map: called for each MAP record, or NULL
 * @on_task: called for each TASK record, or NULL
 * @on_word: called for each short record with its time, or NULL
 * @on_fired: called for each FIRED record, or NULL
 * @on_annotation: called for each ANNOTATION record, or NULL
 * @ctx: for these
 * @samples: samples read
 * @events: short records that are events, which the ledger counts as it does samples
 * @weight: what they stand for
 * @newest: time of the newest sample, 0: none
 * @weighted: samples with a weight of their own
 * @lost: what LOST records told, by reason
 * @lost_records: how many of these
 * @generations: GENERATION records read
 * @stacks: STACK and BRANCH records with an id
 * @inline_stacks: such records without
 * @branches: BRANCH records
 * @known: samples whose stack was defined before, not just before them
 * @tasks: TASK records
 * @maps: MAP records
 * @fired: FIRED records
 * @unknown: records of a type that this reader does not know
 * @nmi: samples taken there
 * @irq: samples taken there
 * @kernel: samples of kernel mode
 * @without_task: samples of threads that no TASK record named in the generation
 * @backwards: samples older than the one before them in the ring
 * @bytes: bytes read
 * @sample_bytes: bytes of SAMPLE records
 * @wraps: times a ring was gone round
 * @error: the first rule that was broken, or ""
 */
struct reader {
	struct device *dev;
	struct reader_ring *rings;
	void (*on_sample)(void *ctx, const struct reader_sample *sample);
	void (*on_map)(void *ctx, const struct gprof_map_rec *map);
	void (*on_task)(void *ctx, const struct gprof_task_rec *task);
	void (*on_word)(void *ctx, unsigned int cpu, uint64_t time, uint64_t word);
	void (*on_fired)(void *ctx, unsigned int cpu, const struct gprof_trigger_rec *fired);
	void (*on_annotation)(void *ctx, unsigned int cpu, const struct gprof_annotation_rec *rec);
	void *ctx;

	uint64_t samples;
	uint64_t events;
	uint64_t weight;
	uint64_t newest;
	uint64_t weighted;
	uint64_t lost[GPROF_LOST_SLOTS];
	uint64_t lost_records;
	uint64_t generations;
	uint64_t stacks;
	uint64_t inline_stacks;
	uint64_t branches;
	uint64_t known;
	uint64_t tasks;
	uint64_t maps;
	uint64_t fired;
	uint64_t unknown;
	uint64_t nmi;
	uint64_t irq;
	uint64_t kernel;
	uint64_t without_task;
	uint64_t backwards;
	uint64_t bytes;
	uint64_t sample_bytes;
	uint64_t wraps;
	char error[256];
};

int reader_init(struct reader *r, struct device *dev);
void reader_free(struct reader *r);
/* Of a recorder that is set up and started with it, and closed with it. */
int reader_record(struct reader *r, struct device *dev, struct gprof_setup *setup,
		  void (*on_sample)(void *ctx, const struct reader_sample *sample), void *ctx);
void reader_close(struct reader *r);
/* Stops, and reads the rest, of either mode: all that was produced is there, or said to be gone. */
#define READER_END(_r, _st) do {							\
	struct reader *_reader = (_r);							\
	struct gprof_stats *_s = (_st);							\
											\
	EXPECT_EQ(0, device_stop(_reader->dev));					\
	EXPECT_LE(0, _reader->dev->flight ? reader_snapshot(_reader) : reader_read(_reader)); \
	EXPECT_STREQ("", _reader->error);						\
	EXPECT_EQ(0, device_stats(_reader->dev, GPROF_STATS_ALL_CPUS, _s));		\
	EXPECT_EQ(_s->out_produced, _reader->samples + device_lost(_s) + _s->out_overwritten); \
} while (0)
/* Forget the counts and the state; positions are those of the device. */
void reader_reset(struct reader *r);

/* Stream mode: read all that is there and give the room back. Returns bytes or -errno. */
int64_t reader_read(struct reader *r);
int64_t reader_read_cpu(struct reader *r, unsigned int cpu);

/*
 * Flight mode: read a snapshot of all rings; what was given up while they were
 * copied is left out. Starts from nothing each time. Returns bytes or -errno.
 */
int64_t reader_snapshot(struct reader *r);
/* The same of one ring, for who has just begun; nothing is forgotten. */
int64_t reader_snapshot_cpu(struct reader *r, unsigned int cpu);

uint64_t reader_lost(const struct reader *r);

#endif
