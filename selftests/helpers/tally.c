// SPDX-License-Identifier: GPL-2.0-only
/* tally.c: sum up what a reader reads. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tally.h"

static bool in_kernel(uint64_t address)
{
	/* non-canonical or negative: no user address on amd64 or arm64 */
	return address >> 56 == 0xff;
}

static bool same_process(const struct gprof_process *a, const struct gprof_process *b)
{
	return a->pid == b->pid && a->exec_id == b->exec_id && a->start_ns == b->start_ns;
}

static void on_sample(void *ctx, const struct reader_sample *s)
{
	struct gprof_process process = { 0 };
	struct tally *t = ctx;
	struct tally_task *task;

	if (s->stack)
		process = s->stack->process;
	for (task = t->tasks; task < t->tasks + t->nr_tasks; task++)
		if (task->tid == s->rec->tid && same_process(&task->process, &process))
			break;
	if (task == t->tasks + TALLY_TASKS)
		return;
	if (task == t->tasks + t->nr_tasks) {
		t->nr_tasks++;
		task->tid = s->rec->tid;
		task->process = process;
	}
	task->samples++;
	task->weight += s->weight;
	task->cpus |= 1ULL << (s->cpu & 63);
	if (!t->time_first)
		t->time_first = s->rec->time;
	t->time_last = s->rec->time;
	t->kernel_addresses += in_kernel(s->addr);
	if (!s->stack)
		return;
	t->kernel_frames += s->stack->nr_kernel;
	for (unsigned int i = 0; i < s->stack->nr_kernel + s->stack->nr_user; i++)
		t->kernel_addresses += in_kernel(s->stack->frames[i]);
	if (!s->stack->nr_user)
		return;
	if (!(t->nr_ips & (t->nr_ips + 1)))
		t->ips = realloc(t->ips, (2 * t->nr_ips + 2) * sizeof(*t->ips));
	t->ips[t->nr_ips].process = process;
	t->ips[t->nr_ips].exec_map_seq = s->stack->exec_map_seq;
	t->ips[t->nr_ips++].ip = s->stack->frames[s->stack->nr_kernel];
}

static void on_map(void *ctx, const struct gprof_map_rec *m)
{
	struct tally *t = ctx;
	struct tally_map *map;

	if (!(t->nr_maps & (t->nr_maps + 1)))
		t->maps = realloc(t->maps, (2 * t->nr_maps + 2) * sizeof(*t->maps));
	map = &t->maps[t->nr_maps++];
	*map = (struct tally_map){
		.process = m->process, .exec_map_seq = m->exec_map_seq, .start = m->start,
		.end = m->end,
	};
	snprintf(map->path, sizeof(map->path), "%s", m->path);
	t->kernel_addresses += in_kernel(m->start) && strcmp(m->path, "[vsyscall]");
}

int tally_init(struct tally *t, struct device *dev)
{
	int ret;

	memset(t, 0, sizeof(*t));
	ret = reader_init(&t->reader, dev);
	t->reader.ctx = t;
	t->reader.on_sample = on_sample;
	t->reader.on_map = on_map;
	return ret;
}

void tally_free(struct tally *t)
{
	reader_free(&t->reader);
	free(t->maps);
	free(t->ips);
	t->maps = NULL;
	t->ips = NULL;
}

uint64_t tally_of(const struct tally *t, uint32_t tid)
{
	uint64_t samples = 0;

	for (unsigned int i = 0; i < t->nr_tasks; i++)
		if (t->tasks[i].tid == tid)
			samples += t->tasks[i].samples;
	return samples;
}

uint64_t tally_weight_of(const struct tally *t, uint32_t tid)
{
	uint64_t weight = 0;

	for (unsigned int i = 0; i < t->nr_tasks; i++)
		if (t->tasks[i].tid == tid)
			weight += t->tasks[i].weight;
	return weight;
}

uint64_t tally_of_others(const struct tally *t, const uint32_t *tids, unsigned int nr)
{
	uint64_t samples = t->reader.samples;

	for (unsigned int i = 0; i < nr; i++)
		samples -= tally_of(t, tids[i]);
	return samples;
}

unsigned int tally_runs(const struct tally *t, uint32_t pid)
{
	unsigned int i, j, runs = 0;

	for (i = 0; i < t->nr_tasks; i++) {
		if (t->tasks[i].process.pid != pid)
			continue;
		for (j = 0; j < i; j++)
			if (same_process(&t->tasks[i].process, &t->tasks[j].process))
				break;
		runs += j == i;
	}
	return runs;
}

bool tally_has_map(const struct tally *t, uint32_t pid, const char *end_of_path)
{
	size_t length, wanted = strlen(end_of_path);

	for (unsigned int i = 0; i < t->nr_maps; i++) {
		length = strlen(t->maps[i].path);
		if (t->maps[i].process.pid == pid && length >= wanted &&
		    !strcmp(t->maps[i].path + length - wanted, end_of_path))
			return true;
	}
	return false;
}

uint64_t tally_unexplained(const struct tally *t)
{
	uint64_t unexplained = 0;
	unsigned int i, j;

	for (i = 0; i < t->nr_ips; i++) {
		for (j = 0; j < t->nr_maps; j++)
			if (same_process(&t->maps[j].process, &t->ips[i].process) &&
			    t->maps[j].exec_map_seq == t->ips[i].exec_map_seq &&
			    t->maps[j].start <= t->ips[i].ip && t->ips[i].ip < t->maps[j].end)
				break;
		unexplained += j == t->nr_maps;
	}
	return unexplained;
}
