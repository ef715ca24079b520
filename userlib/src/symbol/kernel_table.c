// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * kernel_table.c: the kernel's names, which all profiles of a process share.
 */
#include "kernel_table.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/table.h"

/* Protects the pointer to the newest table, and counts of users; not held while one is read. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct gprof_kernel *newest;

/*
 * Identity of a module: size, address, whether it has started ("live"), and its serial number, for
 * one that is loaded again may be where the last one was. The count of its users is left out.
 */
static uint64_t add_module(uint64_t state, const char *line, const char *sys)
{
	char name[80] = "", stage[16] = "", path[512], text[256];
	unsigned long long size = 0, addr = 0;
	struct stat st = { 0 };
	int len;

	sscanf(line, "%79s %llu %*s %*s %15s %llx", name, &size, stage, &addr);
	snprintf(path, sizeof(path), "%s/module/%s", sys, name);
	/* A directory that is made again has another number. */
	if (stat(path, &st))
		st.st_ino = 0;
	len = snprintf(text, sizeof(text), "%s %llu %s %llx %ju", name, size, stage, addr,
		       (uintmax_t)st.st_ino);
	return gprof_hash_bytes(state, text, (size_t)len);
}

static uint64_t modules_state(const char *proc, const char *sys)
{
	uint64_t state = 0;
	char path[256];
	char *line = NULL;
	size_t cap = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/modules", proc);
	f = fopen(path, "re");
	while (f && getline(&line, &cap, f) > 0)
		state = add_module(state, line, sys);
	free(line);
	if (f)
		fclose(f);
	return state;
}

static struct gprof_kernel *read_table(const char *proc, const char *sys, uint64_t state)
{
	struct gprof_kernel *k = malloc(sizeof(*k));

	if (!k || gprof_kernel_load(k, proc, sys)) {
		free(k);
		return NULL;
	}
	k->state = state;
	k->refs = 1;
	pthread_mutex_lock(&lock);
	/* That they are hidden may change at any time. */
	if (!k->hidden)
		newest = k;
	pthread_mutex_unlock(&lock);
	return k;
}

struct gprof_kernel *gprof_kernel_get(const char *proc, const char *sys, bool *anew)
{
	/* Before names are read: a change meanwhile is seen the next time. */
	uint64_t state = modules_state(proc, sys);
	struct gprof_kernel *k = NULL;

	pthread_mutex_lock(&lock);
	if (!*anew && newest && newest->state == state) {
		k = newest;
		k->refs++;
	}
	pthread_mutex_unlock(&lock);
	if (k)
		return k;
	*anew = true;
	return read_table(proc, sys, state);
}

void gprof_kernel_put(struct gprof_kernel *k)
{
	bool last;

	if (!k)
		return;
	pthread_mutex_lock(&lock);
	last = !--k->refs;
	if (last && newest == k)
		newest = NULL;
	pthread_mutex_unlock(&lock);
	if (!last)
		return;
	gprof_kernel_free(k);
	free(k);
}
