// SPDX-License-Identifier: GPL-2.0-only
/*
 * host_profile: a profile as of a whole busy host, of any size, the same for each seed.
 *
 *	host_profile [-b] [-s STACKS] SEED PROCESSES SAMPLES >FILE
 *
 * SAMPLES that were hit, at 99 Hz, in PROCESSES of some forty programs. Programs are trees
 * of calls of which few are hot, as those that are profiled are: an interpreter's loop, a
 * server's, and what they share, which ends in the kernel now and then. With -s a program is
 * seen in one of so many STACKS, few of them most of the time; without, hardly ever twice in
 * the same. Labels are those of gprofctl; with -b some are of every byte there is.
 */
#include <err.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "profile/locations.h"
#include "profile/profile.h"

#define PERIOD_NS	10101010
#define PROGRAMS	40
#define FUNCTIONS	600	/* of a program that are hot enough to be seen */
#define LIBRARY		2000	/* of what they share */
#define KERNEL		1500
#define CPUS		16
#define DEPTH		64

struct host {
	struct gprof_profile *p;
	struct gprof_locations places;
	uint32_t mappings[PROGRAMS + 2];
	uint64_t random;
	uint32_t stacks;
	bool bytes;
};

static uint64_t number(struct host *h)
{
	h->random ^= h->random << 13;
	h->random ^= h->random >> 7;
	h->random ^= h->random << 17;
	return h->random;
}

static uint64_t hash(uint64_t a)
{
	a = (a ^ (a >> 31)) * 0x9e3779b97f4a7c15ULL;
	a = (a ^ (a >> 29)) * 0xbf58476d1ce4e5b9ULL;
	return a ^ (a >> 32);
}

/* Of @nr, those with small numbers most. */
static uint32_t few(struct host *h, uint32_t nr)
{
	double u = (double)(number(h) >> 11) / 9007199254740992.0;

	return (uint32_t)(u * u * u * nr);
}

/* Which of four calls of a function is on the way: nearly always the same. */
static uint32_t way(struct host *h)
{
	uint32_t at = (uint32_t)(number(h) % 100);

	return at < 85 ? 0 : at < 95 ? 1 : at < 99 ? 2 : 3;
}

static uint32_t text(struct host *h, const char *t)
{
	return gprof_profile_text(h->p, t);
}

static void add_mappings(struct host *h)
{
	char name[64], id[48];

	for (uint32_t i = 0; i < PROGRAMS + 2; i++) {
		struct gprof_mapping m = { .start = 0x400000 + 0x100000000ULL * i };

		m.limit = m.start + 0x800000;
		snprintf(name, sizeof(name), i < PROGRAMS ? "/usr/bin/program-%u" :
			 i == PROGRAMS ? "/usr/lib/x86_64-linux-gnu/libc.so.6" : "[kernel.kallsyms]",
			 i);
		snprintf(id, sizeof(id), "%016llx%016llx%08x", (unsigned long long)hash(i),
			 (unsigned long long)hash(i + 100), i);
		m.filename = text(h, name);
		m.build_id = text(h, id);
		h->mappings[i] = gprof_locations_add_mapping(&h->places, &m);
	}
}

/* A place in a function of an image: some functions have another inlined there. */
static uint32_t place(struct host *h, uint32_t image, uint32_t function, uint32_t at)
{
	static const char *const verbs[] = { "parse", "handle", "update", "lookup", "alloc",
					     "release", "encode", "dispatch" };
	static const char *const nouns[] = { "request", "session", "entry", "packet", "page",
					     "buffer", "object", "record" };
	uint64_t what = hash((uint64_t)image << 32 | function);
	uint32_t mapping = h->mappings[image], nr = 0, i;
	struct gprof_line lines[2];
	struct gprof_location l = { .mapping = mapping + 1 };
	char name[96], file[96];

	l.address = h->p->mappings[mapping].start + (what % 0x7000) * 0x100 + at * 12;
	for (i = what % 5 == 0 ? 0 : 1; i < 2; i++) {
		struct gprof_function f = { .start_line = (int64_t)(what >> 40 & 1023) };
		uint64_t w = i ? what : hash(what);

		snprintf(name, sizeof(name), "%s_%s_%s_%llu", image > PROGRAMS ? "__sys" :
			 image == PROGRAMS ? "lib" : "svc", verbs[w % 8], nouns[w / 8 % 8],
			 (unsigned long long)(w % 9973));
		snprintf(file, sizeof(file), "/usr/src/%s/%s-%u.c", image > PROGRAMS ? "linux" :
			 image == PROGRAMS ? "glibc" : "app", nouns[w % 8], image);
		f.name = f.system_name = text(h, name);
		f.filename = image > PROGRAMS ? 0 : text(h, file);
		lines[nr].function = gprof_profile_function(h->p, &f);
		lines[nr].line = image > PROGRAMS ? 0 : f.start_line + at;
		lines[nr++].column = 0;
	}
	return gprof_locations_add(&h->places, &l, lines, nr);
}

/* What is called where follows from the caller: a stack is a way down a tree. */
static uint32_t walk(struct host *h, uint32_t program, uint32_t *stack)
{
	uint32_t up[DEPTH], nr = 0, i, image = program, function = 0;
	uint32_t depth = 6 + (uint32_t)(hash(program) % 6) + few(h, 20);

	up[nr++] = place(h, PROGRAMS, 0, 1);
	while (nr < depth) {
		uint32_t call = way(h);
		uint32_t of = image == program ? FUNCTIONS : LIBRARY;

		up[nr++] = place(h, image, function, call);
		function = (uint32_t)(hash((uint64_t)image << 40 | function << 8 | call) % of);
		if (image == program && hash(function) % 12 == 0)
			image = PROGRAMS;
	}
	if (number(h) % 4 == 0) {
		uint32_t syscall = few(h, 60), more = 3 + few(h, 9);

		for (i = 0; i < more; i++) {
			up[nr++] = place(h, PROGRAMS + 1, syscall, 1);
			syscall = (uint32_t)(hash(syscall << 4 | way(h)) % KERNEL);
		}
	}
	/* The leaf is anywhere in its function. */
	up[nr++] = place(h, image, function, few(h, 12));
	for (i = 0; i < nr; i++)
		stack[i] = up[nr - 1 - i];
	return nr;
}

static void add_label(struct host *h, struct gprof_label *labels, size_t *nr, const char *key,
		      const char *t, int64_t num)
{
	struct gprof_label l = { .key = text(h, key), .num = num };

	l.str = t ? text(h, t) : 0;
	l.unit = t ? 0 : l.key;
	labels[(*nr)++] = l;
}

static void add_sample(struct host *h, uint32_t processes)
{
	uint32_t process = few(h, processes), program = process % PROGRAMS, depth, i;
	int64_t values[2] = { 1, PERIOD_NS };
	struct gprof_label labels[8];
	char name[64], bytes[257];
	uint32_t stack[DEPTH];
	uint64_t own;
	size_t nr = 0;

	own = h->random;
	if (h->stacks)
		h->random = hash((uint64_t)few(h, h->stacks) << 32 | program) | 1;
	depth = walk(h, program, stack);
	if (h->stacks) {
		h->random = own;
		number(h);
	}
	add_label(h, labels, &nr, "pid", NULL, 1000 + process);
	snprintf(name, sizeof(name), "program-%u", program);
	add_label(h, labels, &nr, "comm", name, 0);
	if (process % 3) {
		snprintf(name, sizeof(name), "service-%u", program);
		add_label(h, labels, &nr, "service.name", name, 0);
	}
	if (h->bytes && number(h) % 4 == 0) {
		for (i = 0; i < 255; i++)
			bytes[i] = (char)(i + 1);
		bytes[255] = '\0';
		add_label(h, labels, &nr, "request", bytes, 0);
	}
	if (gprof_profile_add_sample(h->p, stack, depth, labels, nr, values))
		errx(1, "no memory");
}

int main(int argc, char **argv)
{
	struct host h = { .p = gprof_profile_new() };
	uint32_t processes, samples, i;
	struct timespec now;
	int opt;

	while ((opt = getopt(argc, argv, "bs:")) != -1) {
		if (opt == 'b')
			h.bytes = true;
		else if (opt == 's')
			h.stacks = (uint32_t)strtoul(optarg, NULL, 0);
		else
			return 2;
	}
	if (argc - optind != 3)
		errx(2, "SEED PROCESSES SAMPLES");
	argv += optind - 1;
	h.random = hash(strtoull(argv[1], NULL, 0) + 1) | 1;
	processes = (uint32_t)strtoul(argv[2], NULL, 0);
	samples = (uint32_t)strtoul(argv[3], NULL, 0);
	gprof_locations_init(&h.places, h.p);
	gprof_profile_add_column(h.p, "samples", "count");
	gprof_profile_add_column(h.p, "cpu", "nanoseconds");
	h.p->period_type = h.p->columns[1];
	h.p->period = PERIOD_NS;
	clock_gettime(CLOCK_REALTIME, &now);
	h.p->duration_nanos = 10000000000LL;
	h.p->time_nanos = (int64_t)now.tv_sec * 1000000000 - h.p->duration_nanos;
	gprof_profile_add_comment(h.p, "of no host at all");
	add_mappings(&h);
	for (i = 0; i < samples; i++)
		add_sample(&h, processes ? processes : 1);
	if (gprof_profile_finish(h.p) || gprof_profile_write(h.p, STDOUT_FILENO))
		errx(1, "%s", gprof_error());
	fprintf(stderr, "%zu samples, %zu locations, %zu functions\n", h.p->nr_samples,
		h.p->nr_locations, h.p->nr_functions);
	gprof_locations_free(&h.places);
	gprof_profile_free(h.p);
	return 0;
}
