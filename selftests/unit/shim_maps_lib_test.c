// SPDX-License-Identifier: GPL-2.0-only
/*
 * The list of mappings of libgprof-heap.so, without the module: nobody waits for ever for it,
 * and what ends meanwhile is not forgotten.
 */
/* Else its mmap() were mmap64(), of which the shim has one, too. */
#undef _FILE_OFFSET_BITS
#include "harness.h"
#include <semaphore.h>

#include "lib_util.h"

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define HAS_SHIM	true
#include "../../userlib/shim/partial_unmap.c"
#include "../../userlib/shim/hooks_mmap.c"
#include "../../userlib/shim/live_set.c"

/* ---- the rest of the shim ---- */

__thread struct shim_thread shim_thread;
/* All code is an allocator's: what the test itself maps, as threads' stacks, is not told. */
struct shim_real shim_real = { .page = 4096, .end = UINTPTR_MAX };

static int told, freed, followed;
static void (*at_free)(void);

bool shim_resolve(void)
{
	return false;
}

bool shim_is_ready(void)
{
	return true;
}

uint64_t shim_sample(size_t n)
{
	return 1;
}

bool shim_report_alloc(const void *p, size_t n, uint64_t stands_for, const struct shim_caller *c,
		       bool lasts)
{
	told++;
	followed += lasts;
	return true;
}

/* Under the lock of the list. */
void shim_report_free(const void *p)
{
	freed++;
	if (at_free)
		at_free();
}

void shim_report_resize(const void *p, size_t n)
{
}

void shim_boot_mark(void)
{
}

/* ---- tests ---- */

#define PAGE	4096UL
#define AT(n)	((void *)(0x10000000UL + 65536UL * (n)))

static void begin(int n)
{
	struct shim_caller c = { 0 };

	shim_thread.left = 0;
	begins(AT(n), PAGE, &c);
}

static void end(void *p)
{
	ended(detach(p, PAGE));
}

static sem_t within, done;

/* A handler that waits for another thread, which has something to unmap. */
static void wait_for_other(void)
{
	at_free = NULL;
	sem_post(&within);
	sem_wait(&done);
}

static void *end_one(void *arg)
{
	sem_wait(&within);
	end(arg);
	sem_post(&done);
	return NULL;
}

static int interrupted_holder(void)
{
	pthread_t other;

	alarm(20);
	begin(1);
	begin(2);
	at_free = wait_for_other;
	pthread_create(&other, NULL, end_one, AT(2));
	end(AT(1));
	pthread_join(other, NULL);
	if (told != 2)
		return 1;
	begin(2);
	/* what was there before was told to have ended before what came there */
	return freed == 2 && told == 3 && nr_in_tree == 1 ? 0 : 2;
}

static int in_child(int (*test)(void))
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		sem_init(&within, 0, 0);
		sem_init(&done, 0, 0);
		_exit(test());
	}
	waitpid(pid, &status, 0);
	return status;
}

TEST(the_holder_of_the_list_may_wait_for_a_thread_that_wants_it)
{
	EXPECT_EQ(0, in_child(interrupted_holder));
}

/* More, one after the other, than there is room for at once; and more parts. */
static int comes_and_goes(void)
{
	struct shim_caller c = { 0 };
	int i;

	for (i = 0; i < PARTS_MAX + 10; i++) {
		shim_thread.left = 0;
		begins(AT(1), 3 * PAGE, &c);
		end((char *)AT(1) + PAGE);
		ended(detach(AT(1), 3 * PAGE));
	}
	return followed == i && freed == i && !nr_in_tree ? 0 : 1;
}

TEST(what_has_ended_makes_room)
{
	EXPECT_EQ(0, in_child(comes_and_goes));
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void *hold(void *arg)
{
	struct sched_param low = { .sched_priority = 1 };
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	sched_setaffinity(0, sizeof(one), &one);
	pthread_setaffinity_np(*(pthread_t *)arg, sizeof(one), &one);
	if (sched_setscheduler(0, SCHED_FIFO, &low))
		_exit(77);
	end(AT(1));
	return NULL;
}

static void *want_urgently(void *arg)
{
	sem_wait(&within);
	end(AT(2));
	sem_post(&done);
	return NULL;
}

/* The holder goes on once it has the CPU again, which the urgent one takes it. */
static void let_urgent_in(void)
{
	uint64_t until = now_ns() + 50000000;

	at_free = NULL;
	sem_post(&within);
	while (now_ns() < until)
		;
}

static int urgent_waits(void)
{
	struct sched_param high = { .sched_priority = 2 };
	pthread_t urgent, holder_thread;
	struct timespec t;

	begin(1);
	begin(2);
	pthread_create(&urgent, NULL, want_urgently, NULL);
	if (pthread_setschedparam(urgent, SCHED_FIFO, &high))
		return 77;
	at_free = let_urgent_in;
	pthread_create(&holder_thread, NULL, hold, &urgent);
	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_sec += 4;
	if (sem_timedwait(&done, &t))
		return 1;
	pthread_join(holder_thread, NULL);
	pthread_join(urgent, NULL);
	return freed == 2 && !nr_in_tree ? 0 : 2;
}

TEST(an_urgent_thread_lets_the_holder_go_on)
{
	int status = in_child(urgent_waits);

	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		SKIP(return, "no real-time priority for this user");
	EXPECT_EQ(0, status);
}

/* Addresses that all have one bucket of the set, in which there is room for seven. */
static void find_alike(uintptr_t *all, size_t nr)
{
	uintptr_t p = 0x7f0000000000;

	for (size_t i = 0; i < nr; p += 16)
		if (!i || shim_hash((void *)p) >> 44 == shim_hash((void *)all[0]) >> 44)
			all[i++] = p;
}

static size_t nr_there(const uintptr_t *all, size_t nr)
{
	size_t there = 0;

	for (size_t i = 0; i < nr; i++)
		there += shim_set_has((void *)all[i]);
	return there;
}

#define ALIKE	(WAYS * NEAR)
#define P(n)	((void *)all[n])

TEST(addresses_without_room_in_their_bucket_are_found)
{
	uintptr_t all[ALIKE + 1];

	find_alike(all, ALIKE + 1);
	for (size_t i = 0; i < ALIKE; i++)
		ASSERT_TRUE(shim_set_add(P(i)));
	EXPECT_ZEROS(shim_set_add(P(ALIKE)), shim_set_has(P(ALIKE)));
	EXPECT_EQ(ALIKE, nr_there(all, ALIKE));
	/* Held and kept, as by a realloc() that fails; whatever place they have. */
	for (size_t turn = 0; turn < 100; turn++) {
		for (size_t i = 0; i < ALIKE; i++) {
			EXPECT_TRUE(shim_set_hold(P(i)));
			EXPECT_ZEROS(shim_set_hold(P(i)), shim_set_has(P(i)), shim_set_remove(P(i)),
				     shim_set_add(P(i)));
			shim_set_keep(P(i));
		}
	}
	EXPECT_EQ(ALIKE, nr_there(all, ALIKE));
	/* Of the far ones some end, one way or the other. */
	for (size_t i = WAYS; i < ALIKE; i += 2) {
		if (i % 4 == 1) {
			EXPECT_TRUE(shim_set_hold(P(i)));
			shim_set_drop(P(i));
			shim_set_drop(P(i));
		} else {
			EXPECT_TRUE(shim_set_remove(P(i)));
			EXPECT_FALSE(shim_set_remove(P(i)));
		}
	}
	EXPECT_EQ(WAYS + (ALIKE - WAYS) / 2, nr_there(all, ALIKE));
	EXPECT_TRUE(shim_may_be_sampled(P(0)));
	for (size_t i = 0; i < ALIKE; i++)
		EXPECT_EQ(i < WAYS || (i - WAYS) % 2, shim_set_remove(P(i)));
	EXPECT_FALSE(shim_may_be_sampled(P(0)));
	/* And all is as before. */
	EXPECT_EQ(0, bucket_of(set, P(0), 0)->beyond);
	EXPECT_TRUE(shim_set_add(P(ALIKE)));
	shim_set_clear();
	EXPECT_ZEROS(shim_set_has(P(ALIKE)), shim_may_be_sampled(P(ALIKE)));
}

#else
TEST(the_holder_of_the_list_may_wait_for_a_thread_that_wants_it)
{
	SKIP(return, "a sanitizer has mappings of its own");
}
#endif

TEST_HARNESS_MAIN
