/* SPDX-License-Identifier: GPL-2.0-only */
/* fuzz_thread.h: what the threads of a run share. */
#ifndef GPROF_TEST_FUZZ_THREAD_H
#define GPROF_TEST_FUZZ_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "device.h"
#include "draw.h"
#include "fuzz_netlink.h"
#include "fuzz_result.h"
#include "reader.h"

#define SLOTS		6
#define THREADS		4
#define MAPPINGS	16

/* A recorder that all threads know. */
struct slot {
	int fd;	/* its file */
	uint64_t id;	/* of the recorder that was last set up in it */
	bool honest;	/* read by the rules */
	/* read-locked by users of an honest one, write-locked to replace it */
	pthread_rwlock_t life;
	pthread_mutex_t reading;	/* who reads; protects what is below */
	struct device dev;	/* the mapping of an honest one, once it is set up */
	struct reader reader;	/* its reader */
	bool mapped;	/* @dev and @reader are there */
};

struct mapped {
	void *at;
	size_t length;
	bool tail;	/* of one that is not honest */
};

struct thread {
	struct run *run;
	pthread_t id;
	struct draw draw;
	struct fuzz_netlink netlink;
	uint8_t *edge;		/* a page, behind which lies one that cannot be touched */
	struct mapped mappings[MAPPINGS];
};

struct run {
	struct fuzz *f;
	uint64_t end_ns;
	size_t page;
	int cgroup;		/* the root's directory, or -1 */
	struct slot slots[SLOTS];
	struct thread threads[THREADS];
};

#endif
