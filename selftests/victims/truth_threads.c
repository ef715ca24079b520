// SPDX-License-Identifier: GPL-2.0-only
/*
 * truth_threads: ten equal functions in ten threads, each called through thread -> level1 ->
 * level2. After the concurrent program of golang/go 36821.
 *
 * Usage: truth_threads [TRIPS]; of each thread. Prints what each function took, "NAME NANOSECONDS".
 */
#include <pthread.h>
#include "truth.h"

WORKER(f1, 1)
WORKER(f2, 2)
WORKER(f3, 3)
WORKER(f4, 4)
WORKER(f5, 5)
WORKER(f6, 6)
WORKER(f7, 7)
WORKER(f8, 8)
WORKER(f9, 9)
WORKER(f10, 10)

static uint64_t (*const workers[])(uint64_t, uint64_t) = {
	f1, f2, f3, f4, f5, f6, f7, f8, f9, f10,
};

#define NR_THREADS (sizeof(workers) / sizeof(workers[0]))

static uint64_t trips, taken[NR_THREADS];

__attribute__((noinline)) uint64_t level2(size_t i);
__attribute__((noinline)) uint64_t level2(size_t i)
{
	return workers[i](trips, i) + 1;
}

__attribute__((noinline)) uint64_t level1(size_t i);
__attribute__((noinline)) uint64_t level1(size_t i)
{
	return level2(i) + 1;
}

static void *thread(void *arg)
{
	uint64_t begun = truth_clock();
	uint64_t x = level1((uintptr_t)arg);

	taken[(uintptr_t)arg] = truth_clock() - begun;
	return (void *)(uintptr_t)x;
}

int main(int argc, char **argv)
{
	pthread_t threads[NR_THREADS];
	uint64_t sum = 0;
	void *x;
	size_t i;

	trips = truth_argument(argc, argv, 1, 10000000);
	for (i = 0; i < NR_THREADS; i++) {
		if (pthread_create(&threads[i], NULL, thread, (void *)(uintptr_t)i)) {
			perror("pthread_create");
			return 1;
		}
	}
	for (i = 0; i < NR_THREADS; i++) {
		pthread_join(threads[i], &x);
		sum += (uintptr_t)x;
	}
	for (i = 0; i < NR_THREADS; i++)
		printf("f%zu %llu\n", i + 1, (unsigned long long)taken[i]);
	/* the result is used, or it would not be computed */
	return sum == 42;
}
