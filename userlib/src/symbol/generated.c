// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * generated.c: names of code that a process generates, as it writes them down.
 */
#include "generated.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* The pid that the process has in its own pid namespace. */
static uint32_t inner_pid(uint32_t pid)
{
	char path[64];
	char line[256];
	uint32_t inner = pid;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%u/status", pid);
	f = fopen(path, "re");
	if (!f)
		return pid;
	while (fgets(line, sizeof(line), f)) {
		char *last = strrchr(line, '\t');

		if (strncmp(line, "NSpid:", 6) || !last)
			continue;
		inner = (uint32_t)strtoul(last + 1, NULL, 10);
		break;
	}
	fclose(f);
	return inner ? inner : pid;
}

/* CLOCK_REALTIME at a time of CLOCK_BOOTTIME, in seconds. */
static time_t real_time(uint64_t boot_ns)
{
	struct timespec boot, real;

	clock_gettime(CLOCK_BOOTTIME, &boot);
	clock_gettime(CLOCK_REALTIME, &real);
	return real.tv_sec - boot.tv_sec + (time_t)(boot_ns / 1000000000);
}

static int read_perf_map(struct gprof_perf_map *map, const struct gprof_process *process,
			 uint32_t inner, uid_t uid)
{
	time_t since = real_time(process->start_ns) - 1;
	uint32_t pid = process->pid;
	char path[96];
	int err = -ENOENT;

	if (gprof_process_alive(process)) {
		snprintf(path, sizeof(path), "/proc/%u/root/tmp/perf-%u.map", pid, inner);
		err = gprof_perf_map_read(map, path, uid, since);
	}
	if (err) {
		snprintf(path, sizeof(path), "/tmp/perf-%u.map", pid);
		err = gprof_perf_map_read(map, path, uid, since);
	}
	return err;
}

/* The file grows: it is the mapped one, with any size and time. */
static int read_jitdump(struct gprof_jitdump *j, const struct gprof_file_id *dump,
			const struct gprof_mapped_at *at, uint32_t inner, uid_t uid)
{
	struct gprof_file_id id = *dump;
	enum gprof_missing why;
	struct stat st;
	int fd, err;

	id.known = false;
	id.build_id_len = 0;
	fd = gprof_mapped_open(&id, at, &why);
	if (fd < 0)
		return -ENOENT;
	if (fstat(fd, &st))
		err = -errno;
	else if (st.st_uid && st.st_uid != uid)
		err = -EPERM;
	else
		err = gprof_jitdump_read(j, fd, inner);
	close(fd);
	return err;
}

/* So that no two have the same number, in all program runs. */
static _Atomic uint32_t readings;

void gprof_generated_read(struct gprof_generated *g, const struct gprof_process *process, uid_t uid,
			  const struct gprof_file_id *dump, const struct gprof_mapped_at *at)
{
	uint32_t inner = gprof_process_alive(process) ? inner_pid(process->pid) : process->pid;
	struct gprof_jitdump jitdump;
	struct gprof_perf_map map;

	g->read = true;
	g->reading = atomic_fetch_add(&readings, 1) + 1;
	/* Earlier contents stay right, when the process and its files are gone. */
	if (dump && !read_jitdump(&jitdump, dump, at, inner, uid)) {
		gprof_jitdump_free(&g->jitdump);
		g->jitdump = jitdump;
	}
	if (!read_perf_map(&map, process, inner, uid)) {
		gprof_perf_map_free(&g->perf_map);
		g->perf_map = map;
	}
}

void gprof_generated_free(struct gprof_generated *g)
{
	gprof_jitdump_free(&g->jitdump);
	gprof_perf_map_free(&g->perf_map);
}

bool gprof_generated_find(struct gprof_generated *g, uint64_t addr, uint64_t from,
			  uint64_t to, struct gprof_jit_code *code)
{
	if (!gprof_jitdump_find(&g->jitdump, addr, from, to, code))
		code->name = gprof_perf_map_find(&g->perf_map, addr);
	else if (!code->name)
		return true;
	code->id |= (uint64_t)g->reading << 32;
	return code->name;
}
