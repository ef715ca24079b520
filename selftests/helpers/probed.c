// SPDX-License-Identifier: GPL-2.0-only
#include "probed.h"
#include "workload.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define CODE	8	/* bytes of a function that are looked at */

uint64_t probed_offset_of(const void *at)
{
	struct mapped_file m;

	return mapped_at(at, &m) ? (uintptr_t)at - m.start + m.offset : 0;
}

bool probed_is_clean(pid_t pid, const void *at, int fd, uint64_t offset)
{
	uint8_t has[CODE], is[CODE];
	char path[64];
	bool same;
	int mem;

	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	mem = open(path, O_RDONLY | O_CLOEXEC);
	same = mem >= 0 && pread(mem, is, CODE, (off_t)(uintptr_t)at) == CODE &&
	       pread(fd, has, CODE, (off_t)offset) == CODE && !memcmp(has, is, CODE);
	if (mem >= 0)
		close(mem);
	return same;
}

static void note(void *ctx, const struct reader_sample *s)
{
	struct probed *p = ctx;

	if (p->nr == PROBED_SAMPLES_MAX)
		return;
	p->told[p->nr++] = (struct probed_sample){
		.tid = s->rec->tid, .value = s->value, .weight = s->weight, .live = s->live,
		.nr_user = s->stack ? s->stack->nr_user : 0,
		.leaf = s->stack && s->stack->nr_user ? s->stack->frames[s->stack->nr_kernel] : 0,
	};
}

int probed_init(struct probed *p)
{
	/* Not by malloc(), which may be what is probed. */
	p->told = private_memory(PROBED_SAMPLES_MAX * sizeof(*p->told));
	p->exe = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	p->params = (struct gprof_alloc_params){
		.size = sizeof(p->params), .flags = GPROF_ALLOC_F_PROBES, .period = 1,
	};
	p->setup = device_setup_kind(GPROF_KIND_HEAP, GPROF_TARGET_PROCESS, getpid(), &p->params);
	p->setup.buffer_size = 4 << 20;
	return p->exe < 0 ? -errno : 0;
}

int probed_prepare(struct probed *p)
{
	int err = device_setup(&p->dev, &p->setup) ?: device_map(&p->dev) ?:
		  reader_init(&p->reader, &p->dev);

	if (err)
		return err;
	p->reader.on_sample = note;
	p->reader.ctx = p;
	if (p->setup.kind != GPROF_KIND_HEAP)
		return 0;
	p->head = object_table_map(p->dev.fd, &p->head_size);
	return p->head ? 0 : -errno;
}

int probed_start(struct probed *p)
{
	int err, i;

	for (i = 0; (err = device_start(&p->dev)) == -EBUSY && i < 20; i++)
		sleep_ms(100);
	return err;
}

int probed_stop(struct probed *p)
{
	int err = device_stop(&p->dev);
	int64_t got = err ? err : reader_read(&p->reader);

	return got < 0 ? (int)got : device_stats(&p->dev, GPROF_STATS_ALL_CPUS, &p->st);
}

void probed_free(struct probed *p)
{
	if (p->head)
		munmap((void *)p->head, p->head_size);
	reader_free(&p->reader);
	device_close(&p->dev);
	if (p->told)
		munmap(p->told, PROBED_SAMPLES_MAX * sizeof(*p->told));
	close(p->exe);
}

struct probed_sum probed_sum_of(const struct probed *p, pid_t tid, uint64_t value)
{
	struct probed_sum sum = { 0 };

	for (unsigned int i = 0; i < p->nr; i++) {
		const struct probed_sample *s = &p->told[i];

		if ((tid && s->tid != (uint32_t)tid) || s->value != value)
			continue;
		sum.nr++;
		sum.weight += s->weight;
		sum.live += p->head && object_table_has(p->head, s->live);
		sum.without_user += !s->nr_user;
	}
	return sum;
}
