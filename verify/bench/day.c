// SPDX-License-Identifier: GPL-2.0-only
/*
 * day: a day of a continuous recorder of a host that builds software, in minutes.
 *
 *	day STORE PROGRAMS HOURS [URL]
 *
 * Records as the kernel writes them, a profile each 10 s of the day, a store and an engine at
 * URL are those of "gprofctl push", and its rollups where there is no URL; the clock, the device
 * and its rings are not: each interval begins when the one before has its profile. 500 processes
 * go on all day, of programs that are PROGRAMS/0 to 39; beside them are 5,000 short ones an hour,
 * each with a name and a file of its own, a copy of PROGRAMS/0, which is removed as it ends.
 * Prints what memory it has.
 */
#include <err.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "cli/cmd.h"
#include "agent/engine.h"
#include "agent/give_back.h"
#include "agent/item_make.h"
#include "store/rollup.h"
#include "agent/rollup_make.h"
#include "agent/sender.h"
#include "record/aging.h"
#include "record/builder.h"
#include "symbol/mapped_file.h"

#define SECOND		1000000000ULL
#define INTERVAL	10
#define HOUR		(3600 / INTERVAL)
#define PROCESSES	500
#define PROGRAMS	40
#define SAMPLES		3040	/* of an interval: 19 Hz on 16 CPUs */
#define STACKS		200	/* that a program is seen in */
#define SHORT		5000	/* processes an hour */
#define SHORT_SAMPLES	10
#define DRAINS		INTERVAL	/* a generation is a second */
#define DEPTH		20
#define TEXT		0x1000	/* where a small program has its code */
#define BASE		0x400000
#define LIBRARY		0x7f0000000000

/* The recorder. */
struct day {
	struct gprof_builder b;	/* builder */
	struct gprof_decoder d;	/* decoder */
	struct gprof_aging aging;	/* of both */
	struct gprof_live_table live;	/* nothing is */
	const char *programs;	/* their directory */
	struct gprof_process processes[PROCESSES];	/* that go on */
	uint32_t ids[PROCESSES][STACKS];	/* numbers of their stacks in this generation */
	uint32_t next_id;	/* the next one */
	uint64_t random;	/* numbers */
	uint32_t nr_short;	/* short processes until now */
};

static const struct gprof_columns columns = {
	.count_type = "samples", .weight_type = "cpu", .weight_unit = "nanoseconds",
	.period = SECOND / 19,
};

static uint32_t number(struct day *day, uint32_t below)
{
	day->random = day->random * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)((day->random >> 32) * below >> 32);
}

static void feed(struct day *day, const struct gprof_rec *rec)
{
	if (gprof_decoder_feed(&day->d, rec, rec->size))
		errx(1, "no memory");
}

static void feed_generation(struct day *day)
{
	struct gprof_generation_rec g = {
		.rec = { GPROF_REC_GENERATION, 0, sizeof(g) }, .weight = columns.period,
	};

	memset(day->ids, 0, sizeof(day->ids));
	day->next_id = 0;
	feed(day, &g.rec);
}

static void feed_map(struct day *day, const struct gprof_process *process, const char *path,
		     uint64_t start, uint16_t flags)
{
	struct { struct gprof_map_rec rec; char path[256]; } m = {
		.rec = {
			.rec = { GPROF_REC_MAP, flags, sizeof(m) },
			.process = *process, .time = 100, .start = start, .layout = 5,
		},
	};
	struct stat st;

	if (stat(path, &st))
		err(1, "%s", path);
	m.rec.end = start + ((uint64_t)st.st_size | 0xfff) + 1;
	m.rec.inode = st.st_ino;
	m.rec.dev_major = major(st.st_dev);
	m.rec.dev_minor = minor(st.st_dev);
	snprintf(m.path, sizeof(m.path), "%s", path);
	feed(day, &m.rec.rec);
}

static void feed_maps(struct day *day, const struct gprof_process *process, const char *program)
{
	feed_map(day, process, program, BASE, GPROF_MAP_REC_F_FIRST);
	feed_map(day, process, "/lib/x86_64-linux-gnu/libc.so.6", LIBRARY, GPROF_MAP_REC_F_LAST);
}

static void feed_task(struct day *day, const struct gprof_process *process, const char *comm)
{
	struct gprof_task_rec t = {
		.rec = { GPROF_REC_TASK, 0, sizeof(t) }, .process = *process, .tid = process->pid,
	};

	snprintf(t.comm, sizeof(t.comm), "%s", comm);
	feed(day, &t.rec);
}

/* Returns its number. */
static uint32_t feed_stack(struct day *day, const struct gprof_process *process, uint64_t which)
{
	struct { struct gprof_stack_rec s; uint64_t frames[DEPTH]; } r = {
		.s = {
			.rec = { GPROF_REC_STACK, 0, sizeof(r) },
			.id = ++day->next_id, .layout = 5, .nr_user = DEPTH, .process = *process,
		},
	};

	for (uint32_t i = 0; i < DEPTH; i++) {
		uint64_t at = gprof_hash_u64(which, i);

		r.frames[i] = i < DEPTH / 2 ? LIBRARY + 0x30000 + at % 2000 * 0x80 :
			      BASE + TEXT + at % 40 * 16;
	}
	feed(day, &r.s.rec);
	return day->next_id;
}

static void feed_sample(struct day *day, const struct gprof_process *process, uint32_t stack)
{
	struct gprof_sample_rec s = {
		.rec = { GPROF_REC_SAMPLE, 0, sizeof(s) }, .time = 200, .tid = process->pid,
		.stack = stack,
	};

	feed(day, &s.rec);
}

/* Few of its stacks are a program's most of the time. */
static void feed_lasting(struct day *day)
{
	uint32_t i = number(day, PROCESSES);
	uint32_t which = number(day, 1 + number(day, 1 + number(day, STACKS)));
	const struct gprof_process *process = &day->processes[i];
	uint32_t *id = &day->ids[i][which];
	char comm[16];

	snprintf(comm, sizeof(comm), "program-%u", i % PROGRAMS);
	feed_task(day, process, comm);
	if (!*id)
		*id = feed_stack(day, process, (uint64_t)(i % PROGRAMS) << 32 | which);
	feed_sample(day, process, *id);
}

static void copy(const char *from, const char *to)
{
	char data[64 << 10];
	int in = open(from, O_RDONLY | O_CLOEXEC);
	int out = open(to, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
	ssize_t n = in < 0 ? -1 : read(in, data, sizeof(data));

	if (out < 0 || n <= 0 || write(out, data, (size_t)n) != n)
		err(1, "%s", to);
	close(in);
	close(out);
}

/* Its number is that of no process there can be. */
static void feed_short(struct day *day)
{
	struct gprof_process process = {
		.pid = 1U << 30 | day->nr_short, .exec_id = 1, .start_ns = SECOND,
	};
	char file[256], comm[16], program[256];

	snprintf(program, sizeof(program), "%s/0", day->programs);
	snprintf(file, sizeof(file), "%s/job-%u", day->programs, day->nr_short);
	snprintf(comm, sizeof(comm), "job-%u", day->nr_short++);
	copy(program, file);
	feed_maps(day, &process, file);
	feed_task(day, &process, comm);
	for (uint64_t i = 0; i < SHORT_SAMPLES; i++)
		feed_sample(day, &process, feed_stack(day, &process, i));
	unlink(file);
}

/* They wait for their end, and have what the records say. */
static void start_lasting(struct day *day)
{
	uint64_t tick = SECOND / (uint64_t)sysconf(_SC_CLK_TCK), ticks;
	char program[256];

	for (uint32_t i = 0; i < PROCESSES; i++) {
		pid_t pid = fork();

		if (!pid) {
			pause();
			_exit(0);
		}
		if (pid < 0 || !gprof_process_start((uint32_t)pid, &ticks))
			err(1, "fork");
		day->processes[i] = (struct gprof_process){ (uint32_t)pid, 1, ticks * tick };
		snprintf(program, sizeof(program), "%s/%u", day->programs, i % PROGRAMS);
		feed_maps(day, &day->processes[i], program);
	}
}

static void end_lasting(const struct day *day)
{
	for (uint32_t i = 0; i < PROCESSES; i++)
		kill((pid_t)day->processes[i].pid, SIGKILL);
}

static void age(struct day *day)
{
	if (gprof_age(&day->aging, &day->b, &columns, &day->live, &day->d, 1))
		errx(1, "no memory");
}

static struct gprof_profile *next_profile(struct day *day, uint64_t start_ns)
{
	struct gprof_profile *p;

	if (gprof_builder_profile(&day->b, &columns, &p))
		errx(1, "no memory");
	p->time_nanos = (int64_t)start_ns;
	p->duration_nanos = INTERVAL * SECOND;
	if (gprof_profile_finish(p) || gprof_builder_next(&day->b))
		errx(1, "no memory");
	gprof_decoder_forget(&day->d);
	gprof_aging_next(&day->aging);
	return p;
}

/* @i: which of the day */
static void interval(struct day *day, struct store *store, uint32_t i, uint64_t begin_ns)
{
	uint32_t until = (uint32_t)((uint64_t)(i + 1) * SHORT / HOUR);

	for (int drain = 0; drain < DRAINS; drain++) {
		feed_generation(day);
		for (uint32_t j = 0; j < SAMPLES / DRAINS; j++)
			feed_lasting(day);
		while (day->nr_short < until && number(day, DRAINS * SHORT / HOUR))
			feed_short(day);
		age(day);
	}
	item_put_profile(store, next_profile(day, begin_ns + i * INTERVAL * SECOND), "cpu", "host");
}

/* Where no engine has it, as "gprofctl push" does. */
static void roll_up(struct store *store, const char *dir, uint64_t begin_ns, uint64_t end_ns)
{
	if (rollup_begin(begin_ns) == rollup_begin(end_ns))
		return;
	rollup_make(store, dir, begin_ns);
	give_back_now();
}

static void tell(const struct day *day, const struct store_counts *c, uint32_t hour)
{
	char line[256];
	FILE *f = fopen("/proc/self/status", "re");
	long rss = 0, most = 0;

	while (f && fgets(line, sizeof(line), f)) {
		sscanf(line, "VmRSS: %ld", &rss);
		sscanf(line, "VmHWM: %ld", &most);
	}
	if (f)
		fclose(f);
	printf("day: hour %2u: %6u short processes, %4zu files known, VmRSS %6ld KiB, at most %6ld, "
	       "%llu items stored, %llu sent, %llu dropped\n", hour, day->nr_short,
	       day->b.spaces.objects.nr, rss, most, (unsigned long long)c->items.produced,
	       (unsigned long long)c->items.sent, (unsigned long long)c->items.dropped);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	struct store_options options = { .keep_bytes = 2ULL << 30, .keep_ns = 7 * 86400 * SECOND };
	struct engine_options engine_options = { .timeout_ms = 5000 };
	struct day day = { .random = 1 };
	struct sender *sender = NULL;
	struct engine *engine;
	struct store_counts counts;
	struct timespec now;
	struct store *store;
	uint64_t begin_ns;
	uint32_t hours, i;
	int status;

	if (argc < 4)
		errx(2, "usage: day STORE PROGRAMS HOURS [URL]");
	day.programs = argv[2];
	hours = (uint32_t)atoi(argv[3]);
	give_back_memory();
	options.dir = argv[1];
	options.wait = argc > 4 ? 1U << ITEM_PROFILE : 0;
	store = store_open(&options, &status);
	if (!store)
		return 1;
	if (argc > 4) {
		engine_options.url = argv[4];
		if (engine_otlp_open(&engine, &engine_options))
			return 1;
		sender = sender_start(store, &engine, 1, NULL, &status);
		if (!sender)
			return 1;
	}
	if (gprof_builder_init(&day.b))
		errx(1, "no memory");
	day.b.services = true;
	gprof_aging_init(&day.aging);
	gprof_decoder_init(&day.d, &gprof_builder_ops, &day.b);
	feed_generation(&day);
	start_lasting(&day);
	clock_gettime(CLOCK_REALTIME, &now);
	begin_ns = ((uint64_t)now.tv_sec - hours * 3600) * SECOND;
	for (i = 0; i < hours * HOUR; i++) {
		interval(&day, store, i, begin_ns);
		if (sender)
			sender_wake(sender);
		else
			roll_up(store, argv[1], begin_ns + (uint64_t)i * INTERVAL * SECOND,
				begin_ns + (uint64_t)(i + 1) * INTERVAL * SECOND);
		store_counts(store, &counts);
		if ((i + 1) % HOUR == 0 || i + 1 == HOUR / 10)
			tell(&day, &counts, (i + 1) / HOUR);
	}
	end_lasting(&day);
	sender_stop(sender, true);
	store_counts(store, &counts);
	tell(&day, &counts, hours);
	store_close(store);
	gprof_decoder_free(&day.d);
	gprof_builder_free(&day.b);
	gprof_aging_free(&day.aging);
	return 0;
}
