// SPDX-License-Identifier: GPL-2.0-only
/*
 * trace_test: what the kernel's trace says against what is known of those who made it.
 *
 * Each word is held to the rules of <linux/gprof.h> where it is read (trace_words.c).
 */
#include <sys/eventfd.h>
#include "harness.h"
#include "device.h"
#include "trace_words.h"
#include "workload.h"

#define USER		1000
#define MS		1000000ULL
#define LARGE		(2 << 20)
#define LATER		200	/* naps */

FIXTURE(trace) {
	struct gprof_trace_params params;
	struct gprof_setup setup;
	struct device dev;
	struct trace_words words;
	struct child child;
	bool cpus_go;
};

FIXTURE_SETUP(trace)
{
	self->params = (struct gprof_trace_params){ .size = sizeof(self->params) };
	self->setup = device_setup_kind(GPROF_KIND_TRACE, GPROF_TARGET_SYSTEM, 0, &self->params);
	self->setup.buffer_size = LARGE;
}

FIXTURE_TEARDOWN(trace)
{
	trace_words_free(&self->words);
	device_close(&self->dev);
	child_end(&self->child);
}

#define BEGIN(_target, _id) do {						\
	self->setup.target = _target;						\
	self->setup.id = _id;							\
	ASSERT_EQ(0, device_record(&self->dev, &self->setup)) {			\
		TH_LOG("reason %u", self->setup.out_reason);			\
	}									\
	ASSERT_EQ(0, trace_words_init(&self->words, &self->dev));		\
} while (0)

/* Stops, reads the rest, and holds the numbers of the ledger to each other. */
static void end(struct __test_metadata *_metadata, FIXTURE_DATA(trace) *self)
{
	struct gprof_stats st = { 0 };

	TRACE_WORDS_END(&self->words, &self->dev, &st);
	EXPECT_EQ(st.out_produced, st.out_task + st.out_irq + st.out_nmi +
				   st.out_lost[GPROF_LOST_NO_BUFFER]);
	EXPECT_EQS(0, st.out_nmi, 0, self->words.absences * !self->cpus_go);
	TH_LOG("produced=%llu lost=%llu overwritten=%llu bytes=%llu", ull(st.out_produced),
	       ull(device_lost(&st)), ull(st.out_overwritten), ull(self->words.reader.bytes));
}

#define END()	end(_metadata, self)

static uint64_t lost(FIXTURE_DATA(trace) *self)
{
	struct gprof_stats st = { 0 };

	device_stats(&self->dev, GPROF_STATS_ALL_CPUS, &st);
	return device_lost(&st);
}

/* The first word after @from that says @what of @tid (-1: any); or NULL. */
static const struct trace_word *find(const struct trace_words *t, const struct trace_word *from,
				     unsigned int what, int tid)
{
	const struct trace_word *w = from ? from + 1 : t->words;

	for (; w < t->words + t->nr; w++)
		if (w->what == what && (tid < 0 || w->tid == (uint32_t)tid))
			return w;
	return NULL;
}

/* When did @tid stop, on the CPU where it ran, after @from? */
static const struct trace_word *find_stop(const struct trace_words *t,
					  const struct trace_word *from, int tid)
{
	const struct trace_word *w = from ? from + 1 : t->words;

	for (; w < t->words + t->nr; w++)
		if (w->what == GPROF_TRACE_SWITCH && w->running == (uint32_t)tid)
			return w;
	return NULL;
}

static unsigned int stops_for(const struct trace_words *t, int tid, unsigned int reason)
{
	const struct trace_word *w = NULL;
	unsigned int n = 0;

	while ((w = find_stop(t, w, tid)))
		n += (w->arg & 7) == reason;
	return n;
}

#define COUNT(_what, _tid)	trace_words_count(&self->words, GPROF_TRACE_##_what, _tid)
#define STOPS(_tid, _why)	stops_for(&self->words, _tid, GPROF_TRACE_PREV_##_why)

/* Whoever has been waited for has yet to give its CPU away for good. */
static void see_dead(struct __test_metadata *_metadata, FIXTURE_DATA(trace) *self, int tid,
		     unsigned int times)
{
	for (int tries = 0; tries < 1000; tries++) {
		ASSERT_EQ(0, trace_words_read(&self->words));
		if (STOPS(tid, DEAD) >= times)
			return;
		sleep_ms(1);
	}
}

#define SEE_DEAD(_tid, _times) see_dead(_metadata, self, _tid, _times)

/* ---- what there is to ask for ---- */

TEST_F(trace, wrong_arguments_are_refused)
{
	struct gprof_setup s = self->setup;

	self->params.flags = 1U << 31;
	ASSERT_LE(0, self->dev.fd = device_open());
	EXPECT_EQS(-EOPNOTSUPP, device_ioctl(self->dev.fd, GPROF_IOC_SETUP, &s),
		   GPROF_REASON_PARAMS, s.out_reason);
	self->params.flags = 0;
	s.stack = GPROF_STACK_F_IP;
	EXPECT_EQS(-EOPNOTSUPP, device_ioctl(self->dev.fd, GPROF_IOC_SETUP, &s),
		   GPROF_REASON_FLAGS, s.out_reason);
	s = self->setup;
	s.target = GPROF_TARGET_PROCESS;
	s.id = getpid();
	s.flags = GPROF_SETUP_F_ON_EXEC;
	EXPECT_EQS(-EOPNOTSUPP, device_ioctl(self->dev.fd, GPROF_IOC_SETUP, &s),
		   GPROF_REASON_FLAGS, s.out_reason);
	EXPECT_EQ(0, device_ioctl(self->dev.fd, GPROF_IOC_SETUP, &self->setup));
}

/* ---- exact against the kernel ---- */

#define READINGS	60

struct reading {
	uint64_t before, after, ctxt, processes;
};

static uint64_t number_after(const char *text, const char *key)
{
	const char *at = strstr(text, key);

	return at ? strtoull(at + strlen(key), NULL, 10) : 0;
}

static int read_numbers(struct reading *r)
{
	static char text[65536];
	int err;

	r->before = monotonic_ns();
	err = file_read("/proc/stat", text, sizeof(text));
	r->after = monotonic_ns();
	r->ctxt = number_after(text, "\nctxt ");
	r->processes = number_after(text, "\nprocesses ");
	return err;
}

static size_t count_between(const struct trace_words *t, unsigned int what, uint64_t from,
			    uint64_t to)
{
	size_t i, n = 0;

	for (i = 0; i < t->nr; i++)
		n += t->words[i].what == what && t->words[i].time > from && t->words[i].time <= to;
	return n;
}

static bool was_quiet(const struct trace_words *t, const struct reading *r)
{
	return !count_between(t, GPROF_TRACE_SWITCH, r->before, r->after);
}

static int set_others_online(bool online)
{
	int cpu, err = 0, first = online_cpu(0), nr = nr_present_cpus();

	for (cpu = 0; cpu < nr && !err; cpu++)
		if (cpu != first)
			err = cpu_set_online(cpu, online);
	return err;
}

static void take_readings(struct __test_metadata *_metadata, FIXTURE_DATA(trace) *self,
			  struct reading *readings)
{
	for (unsigned int i = 0; i < READINGS; i++) {
		ASSERT_LT(0, ping_pong(20));
		ASSERT_ZEROS(read_numbers(&readings[i]), trace_words_read(&self->words));
	}
}

/* How many pairs of readings were compared? */
static unsigned int compare(struct __test_metadata *_metadata, FIXTURE_DATA(trace) *self,
			    const struct reading *readings, int64_t under_way)
{
	const struct reading *last = NULL;
	unsigned int i, pairs = 0;

	for (i = 0; i < READINGS; i++) {
		const struct reading *r = &readings[i];
		int64_t off;

		if (!was_quiet(&self->words, r))
			continue;
		if (last) {
			pairs++;
			off = r->ctxt - last->ctxt -
			      count_between(&self->words, GPROF_TRACE_SWITCH, last->after,
					    r->before);
			EXPECT_WITHIN(-under_way, off, under_way);
			off = r->processes - last->processes -
			      count_between(&self->words, GPROF_TRACE_FORK, last->after, r->before);
			EXPECT_WITHIN(-under_way, off, under_way);
		}
		last = r;
	}
	TH_LOG("%u pairs", pairs);
	return pairs;
}

/*
 * The kernel sums up its numbers while it goes on. Where nobody was switched during a
 * reading there is but one number that it can be; on another CPU, a switch that is under
 * way may be in the kernel's number, and in ours a moment later.
 */
TEST_F(trace, switches_and_forks_are_the_kernels)
{
	struct reading readings[READINGS];

	BEGIN(GPROF_TARGET_SYSTEM, 0);
	take_readings(_metadata, self, readings);
	END();
	ASSERT_EQ(0, lost(self));
	EXPECT_LT(0, compare(_metadata, self, readings, nr_online_cpus() - 1));
}

TEST_F(trace, switches_and_forks_of_one_cpu_are_exactly_the_kernels)
{
	struct reading readings[READINGS];
	bool alone;

	alone = !set_others_online(false);
	if (alone) {
		BEGIN(GPROF_TARGET_SYSTEM, 0);
		take_readings(_metadata, self, readings);
		END();
	}
	set_others_online(true);
	SKIP_UNLESS(alone, "CPUs cannot be taken offline");
	ASSERT_EQ(0, lost(self));
	EXPECT_LT(0, compare(_metadata, self, readings, 0));
}

/* ---- known sequences ---- */

#define ROUNDS	200

static int be_first(int cpu)
{
	struct sched_param param = { .sched_priority = 90 };

	if (pin_to(cpu) < 0)
		return -1;
	return sched_setscheduler(0, SCHED_FIFO, &param);
}

/* Nobody else comes between two tasks that the scheduler prefers, nor do they preempt each other. */
TEST_F(trace, two_tasks_that_take_turns)
{
	unsigned int turns = 0, wakings = 0;
	const struct trace_word *w;
	int me = getpid(), woken = 0;
	pid_t other;

	SKIP_UNLESS(!be_first(online_cpu(0)), "needs CAP_SYS_NICE");
	BEGIN(GPROF_TARGET_SYSTEM, 0);
	other = ping_pong(ROUNDS);
	sched_setscheduler(0, SCHED_OTHER, &(struct sched_param){ 0 });
	SEE_DEAD(other, 1);
	END();
	ASSERT_LT(0, other);
	for (w = self->words.words; w < self->words.words + self->words.nr; w++) {
		bool mine = w->running == (uint32_t)me;

		if (w->cpu != (uint32_t)online_cpu(0) || (!mine && w->running != (uint32_t)other))
			continue;
		if (w->what == GPROF_TRACE_WAKING && w->tid == (uint32_t)(mine ? other : me)) {
			EXPECT_EQ(GPROF_TRACE_BY_TASK, w->arg);
			woken = w->tid;
			wakings++;
		}
		if (w->what != GPROF_TRACE_SWITCH || w->tid != (uint32_t)(mine ? other : me))
			continue;
		/* Who gets the CPU has been woken by the one before, who now waits. */
		if ((w->arg & 7) == GPROF_TRACE_PREV_SLEEPS && woken == (int)w->tid)
			turns++;
		woken = 0;
	}
	/* The first and the last have to do with its beginning and its end. */
	EXPECT_WITHIN(2 * ROUNDS - 2, turns, 2 * ROUNDS + 2);
	EXPECT_WITHIN(2 * ROUNDS - 2, wakings, 2 * ROUNDS + 3);
	EXPECT_EQS(1, COUNT(FORK, other), 1, COUNT(EXIT, other), 1, STOPS(other, DEAD));
}

#define NAPS	20

/* Falls asleep so often: a nap may be over before its sleeper has left the CPU. */
static void take_naps(unsigned int naps, unsigned int ms)
{
	struct rusage before, after;
	unsigned int i = 0;

	while (i < naps) {
		getrusage(RUSAGE_THREAD, &before);
		sleep_ms(ms);
		getrusage(RUSAGE_THREAD, &after);
		i += after.ru_nvcsw > before.ru_nvcsw;
	}
}

TEST_F(trace, a_timer_wakes_from_an_interrupt)
{
	const struct trace_word *w = NULL;
	struct gprof_stats st = { 0 };
	int me = getpid(), by_interrupt = 0;

	BEGIN(GPROF_TARGET_PROCESS, me);
	take_naps(NAPS, 2);
	END();
	while ((w = find(&self->words, w, GPROF_TRACE_WAKING, me)))
		by_interrupt += w->arg != GPROF_TRACE_BY_TASK;
	ASSERT_EQ(0, device_stats(&self->dev, GPROF_STATS_ALL_CPUS, &st));
	/*
	 * Nothing else that is traced here happens in one. But on PREEMPT_RT a thread serves soft
	 * ones, and a wake-up may preempt it: the switch to the woken task happens in one, too.
	 */
	if (file_number("/sys/kernel/realtime") != 1) {
		EXPECT_EQ(by_interrupt, st.out_irq);
	} else {
		EXPECT_WITHIN(by_interrupt, st.out_irq, 2 * by_interrupt);
	}
	EXPECT_LES(NAPS, by_interrupt, NAPS, STOPS(me, SLEEPS));
}

#define CLOCKS	"/sys/devices/system/clocksource/clocksource0/"

/* Another counter than @now, or false: there is none. */
static bool other_clock(const char *now, char *other, size_t size)
{
	char all[256], *name, *rest = all;

	if (file_read(CLOCKS "available_clocksource", all, sizeof(all)))
		return false;
	while ((name = strtok_r(rest, " \n", &rest))) {
		if (strcmp(name, now)) {
			snprintf(other, size, "%s", name);
			return true;
		}
	}
	return false;
}

/* On whichever CPU. A word's time is that of the unit in which it lies. */
static bool stopped_within(const struct trace_words *t, int tid, uint64_t from, uint64_t to)
{
	const struct trace_word *w = NULL;

	while ((w = find_stop(t, w, tid)))
		if (w->time + GPROF_TRACE_TIME_UNIT > from && w->time <= to)
			return true;
	return false;
}

/* Whichever counter the kernel has: of each nap it is known when it began and ended. */
TEST_F(trace, its_time_is_the_clocks)
{
	enum { EACH = 60 };
	uint64_t began[2 * EACH], ended[2 * EACH];
	char clock[64] = "", other[64];
	int i, nr = EACH, me = getpid(), within = 0;

	BEGIN(GPROF_TARGET_PROCESS, me);
	for (i = 0; i < nr; i++) {
		if (i == EACH && file_write(CLOCKS "current_clocksource", other))
			break;
		began[i] = monotonic_ns();
		take_naps(1, 10);
		ended[i] = monotonic_ns();
		if (i == EACH - 1 && !file_read(CLOCKS "current_clocksource", clock, sizeof(clock))) {
			clock[strcspn(clock, "\n")] = '\0';
			if (other_clock(clock, other, sizeof(other)))
				nr = 2 * EACH;
		}
	}
	if (nr > EACH)
		file_write(CLOCKS "current_clocksource", clock);
	nr = i;
	END();
	TH_LOG("%d naps, by %s%s%s", nr, clock, nr > EACH ? ", then " : "", nr > EACH ? other : "");
	for (i = 0; i < nr; i++)
		within += stopped_within(&self->words, me, began[i], ended[i]);
	EXPECT_EQ(nr, within);
}

/* Whoever is woken may go first, when the waker is about to leave the kernel. */
TEST_F(trace, a_preempted_task_has_not_yielded)
{
	int me = getpid();
	pid_t other;

	ASSERT_LE(0, pin_to(online_cpu(0)));
	BEGIN(GPROF_TARGET_PROCESS, me);
	other = ping_pong(ROUNDS);
	SEE_DEAD(other, 1);
	END();
	ASSERT_LT(0, other);
	TH_LOG("%u of %u gave way", STOPS(me, PREEMPTED) +
	       STOPS(other, PREEMPTED), 2 * ROUNDS);
	EXPECT_EQS(0, STOPS(me, YIELDED), 0, STOPS(other, YIELDED));
}

static void live_a_life(void *arg, int step)
{
	struct sched_param param = { .sched_priority = 10 };
	pid_t pid;

	if (pin_to_some_cpu() < 0)
		_exit(1);
	/* waits uninterruptibly until the child has ended, which sleeps */
	pid = vfork();
	if (!pid) {
		usleep(20000);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	/* is preempted, by a child that the scheduler prefers */
	pid = fork();
	if (!pid) {
		sched_setscheduler(0, SCHED_FIFO, &param);
		usleep(20000);
		burn_ns(MS);
		_exit(0);
	}
	while (!waitpid(pid, NULL, WNOHANG))
		burn_ns(MS);
	/* yields to one that it made equal */
	sched_setscheduler(0, SCHED_FIFO, &param);
	pid = fork();
	if (!pid) {
		burn_ns(MS);
		_exit(0);
	}
	while (!waitpid(pid, NULL, WNOHANG))
		sched_yield();
	sched_setscheduler(0, SCHED_OTHER, &(struct sched_param){ 0 });
}

/* A task that is told to be stopped may be on its CPU yet: the kernel waits for it here. */
static bool left_its_cpu(pid_t pid)
{
	char path[32], text[256];

	snprintf(path, sizeof(path), "/proc/%d/syscall", pid);
	return !file_read(path, text, sizeof(text)) && strncmp(text, "running", 7) != 0;
}

TEST_F(trace, why_a_task_stops)
{
	pid_t pid;
	int status;

	SKIP_UNLESS(!geteuid(), "needs CAP_SYS_NICE");
	ASSERT_EQ(0, child_fork(&self->child, live_a_life, NULL));
	pid = self->child.pid;
	BEGIN(GPROF_TARGET_PROCESS, pid);
	ASSERT_EQ(0, child_step(&self->child));
	kill(pid, SIGSTOP);
	EXPECT_EQ(pid, waitpid(pid, &status, WUNTRACED));
	EXPECT_TRUE(left_its_cpu(pid));
	kill(pid, SIGCONT);
	child_end(&self->child);
	SEE_DEAD(pid, 1);
	END();
	EXPECT_LES(1, STOPS(pid, BLOCKED), 1, STOPS(pid, PREEMPTED), 1, STOPS(pid, YIELDED),
		   1, STOPS(pid, SLEEPS), 1, STOPS(pid, STOPPED));
	EXPECT_EQS(1, STOPS(pid, DEAD), 0, STOPS(pid, IDLE));
}

TEST_F(trace, a_task_that_moves)
{
	const struct trace_word *w = NULL;
	int me = getpid(), a = online_cpu(0), b = online_cpu(1), i, there = 0, back = 0;

	SKIP_UNLESS(b > 0, "needs two CPUs");
	ASSERT_LE(0, pin_to(a));
	BEGIN(GPROF_TARGET_THREAD, me);
	for (i = 0; i < 10; i++) {
		ASSERT_LE(0, pin_to(b));
		ASSERT_LE(0, pin_to(a));
	}
	END();
	while ((w = find(&self->words, w, GPROF_TRACE_MIGRATE, me))) {
		int from = GPROF_TRACE_CPU_FROM(w->operand), to = GPROF_TRACE_CPU_TO(w->operand);

		there += from == a && to == b;
		back += from == b && to == a;
	}
	EXPECT_EQS(10, there, 10, back);
}

/* ---- names ---- */

static void execute(void *arg, int step)
{
	prctl(PR_SET_NAME, "renamed");
	if (!fork()) {
		execl("/bin/true", "true", NULL);
		_exit(1);
	}
	wait(NULL);
}

TEST_F(trace, each_task_is_named)
{
	const struct trace_word *fork_of, *exec;
	char name[16] = "";
	pid_t pid;

	ASSERT_EQ(0, child_fork(&self->child, execute, NULL));
	pid = self->child.pid;
	BEGIN(GPROF_TARGET_PROCESS, pid);
	ASSERT_EQ(0, child_step(&self->child));
	child_end(&self->child);
	/* The dead leave their CPU after their parent knows of it. */
	sleep_ms(20);
	END();
	prctl(PR_GET_NAME, name);
	/* The name that it had, was born with, took, gave on, and took again. */
	fork_of = find(&self->words, NULL, GPROF_TRACE_FORK, -1);
	ASSERT_NE(NULL, fork_of);
	EXPECT_TRUES(trace_words_named(&self->words, pid, name),
		     trace_words_named(&self->words, pid, "renamed"),
		     trace_words_named(&self->words, fork_of->tid, "renamed"),
		     trace_words_named(&self->words, fork_of->tid, "true"));
	exec = find(&self->words, NULL, GPROF_TRACE_EXEC, fork_of->tid);
	ASSERT_NE(NULL, exec);
	EXPECT_EQS(fork_of->tid, exec->operand, 1, COUNT(EXIT, fork_of->tid));
	EXPECT_NE(NULL, find_stop(&self->words,
				  find(&self->words, NULL, GPROF_TRACE_EXIT, fork_of->tid),
				  fork_of->tid));
}

static void *execute_from_thread(void *arg)
{
	execl("/bin/true", "true", NULL);
	return NULL;
}

static void execute_threaded(void *arg, int step)
{
	pthread_t thread;

	pthread_create(&thread, NULL, execute_from_thread, NULL);
	pthread_join(thread, NULL);
}

/* A thread that executes takes its leader's id. */
TEST_F(trace, a_thread_that_executes_changes_its_id)
{
	const struct trace_word *exec, *fork_of;

	ASSERT_EQ(0, child_fork(&self->child, execute_threaded, NULL));
	BEGIN(GPROF_TARGET_PROCESS, self->child.pid);
	ASSERT_EQ(0, child_begin(&self->child));
	waitpid(self->child.pid, NULL, 0);
	SEE_DEAD(self->child.pid, 2);
	END();
	fork_of = find(&self->words, NULL, GPROF_TRACE_FORK, -1);
	ASSERT_NE(NULL, fork_of);
	exec = find(&self->words, NULL, GPROF_TRACE_EXEC, self->child.pid);
	ASSERT_NE(NULL, exec);
	EXPECT_EQ(fork_of->tid, exec->operand);
	/*
	 * Two have died: the leader before that, and who had taken its place. The leader has the
	 * other's id by then, and is told of by that if it lost its CPU once more.
	 */
	EXPECT_LE(1, STOPS(self->child.pid, DEAD));
	EXPECT_EQ(2, STOPS(self->child.pid, DEAD) +
		     STOPS(fork_of->tid, DEAD));
	self->child.pid = 0;
}

/* ---- whose ---- */

static void *nap_in_thread(void *arg)
{
	*(int *)arg = syscall(SYS_gettid);
	take_naps(NAPS, 1);
	return NULL;
}

/* All ids that are in the trace, but for strangers and the idle task. */
static bool has_only(const struct trace_words *t, const int *tids, unsigned int nr)
{
	for (size_t i = 0; i < t->nr; i++) {
		const struct trace_word *w = &t->words[i];
		bool known = w->arg & GPROF_TRACE_NOT_TARGET && w->what != GPROF_TRACE_WAKING;

		for (unsigned int n = 0; n < nr; n++)
			known |= w->tid == (uint32_t)tids[n];
		if (!known)
			return false;
	}
	for (size_t i = 0; i < t->nr_names; i++) {
		bool known = false;

		for (unsigned int n = 0; n < nr; n++)
			known |= t->names[i].rec.tid == (uint32_t)tids[n];
		if (!known)
			return false;
	}
	return true;
}

TEST_F(trace, one_thread)
{
	pthread_t thread;
	int me = getpid(), other = 0;

	BEGIN(GPROF_TARGET_THREAD, me);
	ASSERT_EQ(0, pthread_create(&thread, NULL, nap_in_thread, &other));
	take_naps(NAPS, 1);
	pthread_join(thread, NULL);
	END();
	EXPECT_TRUE(has_only(&self->words, &me, 1));
	EXPECT_LE(NAPS, STOPS(me, SLEEPS));
}

TEST_F(trace, a_process_with_its_threads)
{
	unsigned int before;
	pthread_t thread;
	int tids[2] = { getpid() };

	BEGIN(GPROF_TARGET_PROCESS, getpid());
	ASSERT_EQ(0, pthread_create(&thread, NULL, nap_in_thread, &tids[1]));
	pthread_join(thread, NULL);
	/* To be joined is not yet to have ended. */
	SEE_DEAD(tids[1], 1);
	before = STOPS(tids[0], SLEEPS);
	/* Long enough for the kernel to forget it; the others are there still. */
	take_naps(LATER, 1);
	END();
	EXPECT_TRUE(has_only(&self->words, tids, 2));
	EXPECT_LES(before + LATER, STOPS(tids[0], SLEEPS), NAPS, STOPS(tids[1], SLEEPS));
	EXPECT_EQS(1, COUNT(FORK, tids[1]), 1, COUNT(EXIT, tids[1]));
}

#define LONG_END	20000	/* files that the last thread has to close */

static void *end_at_once(void *arg)
{
	return NULL;
}

/* The other thread is gone for good long before the last one has closed all. */
static void end_slowly(void *arg, int step)
{
	struct rlimit many = { LONG_END + 100, LONG_END + 100 };
	pthread_t thread;

	setrlimit(RLIMIT_NOFILE, &many);
	for (int i = 0; i < LONG_END; i++)
		eventfd(0, 0);
	pthread_create(&thread, NULL, end_at_once, NULL);
	pthread_join(thread, NULL);
	_exit(0);
}

TEST_F(trace, the_end_of_a_process_is_its_own)
{
	int pid;

	SKIP_UNLESS(!geteuid(), "needs CAP_SYS_RESOURCE");
	ASSERT_EQ(0, child_fork(&self->child, end_slowly, NULL));
	pid = self->child.pid;
	BEGIN(GPROF_TARGET_PROCESS, pid);
	ASSERT_EQ(0, child_begin(&self->child));
	child_reap(&self->child);
	SEE_DEAD(pid, 1);
	END();
	EXPECT_EQ(1, STOPS(pid, DEAD));
}

TEST_F(trace, one_cpu)
{
	int cpu = online_cpu(1);

	SKIP_UNLESS(cpu > 0, "needs two CPUs");
	device_target_cpu(&self->setup, cpu);
	BEGIN(GPROF_TARGET_CPUS, 0);
	ASSERT_LE(0, pin_to(cpu));
	ASSERT_LT(0, ping_pong(20));
	ASSERT_LE(0, pin_to(online_cpu(0)));
	ASSERT_LT(0, ping_pong(20));
	END();
	EXPECT_LT(40, self->words.nr);
	for (size_t i = 0; i < self->words.nr; i++)
		ASSERT_EQ((uint32_t)cpu, self->words.words[i].cpu);
}

static void nap(void *arg, int step)
{
	take_naps(NAPS, 1);
}

TEST_F(trace, a_cgroup)
{
	char path[MEMORY_CGROUP_PATH];
	int fd, tid;

	SKIP_UNLESS(!cgroup_make(path, "trace"), "no cgroup v2");
	ASSERT_EQ(0, child_fork(&self->child, nap, NULL));
	tid = self->child.pid;
	fd = open(path, O_RDONLY | O_DIRECTORY);
	EXPECT_EQ(0, memory_cgroup_enter(path, tid));
	BEGIN(GPROF_TARGET_CGROUP, fd);
	EXPECT_EQ(0, child_step(&self->child));
	nap(NULL, 0);
	child_end(&self->child);
	END();
	close(fd);
	EXPECT_EQ(0, rmdir(path));
	EXPECT_TRUE(has_only(&self->words, &tid, 1));
	EXPECT_LE(NAPS, STOPS(tid, SLEEPS));
}

/* ---- what slows everybody ---- */

TEST_F(trace, system_calls)
{
	const struct trace_word *w = NULL, *left;
	unsigned int i, n = 0, failed = 0;

	SKIP_UNLESS(device_has(GPROF_FEAT_TRACE_SYSCALLS), "this kernel has no tracepoint sys_enter");
	SKIP_UNLESS(!geteuid(), "needs CAP_PERFMON");
	self->params.flags = GPROF_TRACE_F_SYSCALLS;
	BEGIN(GPROF_TARGET_THREAD, getpid());
	for (i = 0; i < 100; i++)
		syscall(SYS_getppid);
	for (i = 0; i < 10; i++)
		close(-1);
	END();
	while ((w = find(&self->words, w, GPROF_TRACE_SYSCALL_ENTER, SYS_getppid))) {
		n++;
		EXPECT_EQS(0, w->arg, getpid(), w->running);
		left = find(&self->words, w, GPROF_TRACE_SYSCALL_EXIT, -1);
		ASSERT_NE(NULL, left);
		EXPECT_EQ(0, left->tid);
	}
	EXPECT_EQ(100, n);
	while ((w = find(&self->words, w, GPROF_TRACE_SYSCALL_ENTER, SYS_close))) {
		left = find(&self->words, w, GPROF_TRACE_SYSCALL_EXIT, -1);
		ASSERT_NE(NULL, left);
		failed += left->tid == EBADF;
	}
	EXPECT_EQ(10, failed);
}

/* Calls that take long, by themselves or as they wait, are told from their begin on. */
TEST_F(trace, what_lasts_less_than_asked_for_is_left_out)
{
	const struct timespec nap = { .tv_nsec = 20 * MS };
	const struct trace_word *w = NULL, *left;
	uint64_t from, to, slept = 0;
	size_t bytes = 64 << 10;
	char *random;

	SKIP_UNLESS(device_has(GPROF_FEAT_TRACE_SYSCALLS), "this kernel has no tracepoint sys_enter");
	SKIP_UNLESS(!geteuid(), "needs CAP_PERFMON");
	random = private_memory(32 << 20);
	memset(random, 1, 32 << 20);
	for (;; bytes *= 2) {
		from = monotonic_ns();
		ASSERT_EQ(bytes, syscall(SYS_getrandom, random, bytes, 0));
		if (monotonic_ns() - from > 30 * MS || bytes == 32 << 20)
			break;
	}
	self->params.flags = GPROF_TRACE_F_SYSCALLS;
	self->params.min_us = 10000;
	BEGIN(GPROF_TARGET_THREAD, getpid());
	for (unsigned int i = 0; i < 200; i++)
		syscall(SYS_getppid);
	for (unsigned int i = 0; i < 3; i++)
		nanosleep(&nap, NULL);
	for (unsigned int i = 0; i < 200; i++)
		syscall(SYS_getppid);
	from = monotonic_ns();
	ASSERT_EQ(bytes, syscall(SYS_getrandom, random, bytes, 0));
	to = monotonic_ns();
	END();
	munmap(random, 32 << 20);
	/* A preempted call lasts long too; so may the mapping of the buffer. */
	EXPECT_GE(10, COUNT(SYSCALL_ENTER, SYS_getppid));
	while ((w = find(&self->words, w, GPROF_TRACE_SYSCALL_ENTER, -1))) {
		left = find(&self->words, w, GPROF_TRACE_SYSCALL_EXIT, -1);
		/* but for what ends the recording */
		if (!left)
			break;
		if (w->tid == SYS_getrandom) {
			EXPECT_LE(from, w->time + GPROF_TRACE_TIME_UNIT);
			EXPECT_GE(to, left->time);
			EXPECT_LE((to - from) * 8 / 10, left->time - w->time);
		} else if (w->tid == SYS_clock_nanosleep) {
			slept += left->time - w->time >= 20 * MS;
		}
	}
	EXPECT_EQS(3, slept, 1, COUNT(SYSCALL_ENTER, SYS_getrandom));
}

/* They come and go in each other, and in user mode there is none. */
TEST_F(trace, interrupts)
{
	const struct trace_word *w, *in[64] = { 0 };
	unsigned int depth = 0, n = 0, told = 0;
	struct gprof_stats st = { 0 };
	uint64_t from, to;

	SKIP_UNLESS(device_has(GPROF_FEAT_TRACE_IRQS), "this kernel has no tracepoint irq_handler_entry");
	SKIP_UNLESS(!geteuid(), "needs CAP_PERFMON");
	ASSERT_LE(0, pin_to(online_cpu(0)));
	self->params.flags = GPROF_TRACE_F_IRQS;
	BEGIN(GPROF_TARGET_THREAD, getpid());
	from = monotonic_ns();
	burn_ns(200 * MS);
	to = monotonic_ns();
	END();
	for (w = self->words.words; w < self->words.words + self->words.nr; w++) {
		told += w->what >= GPROF_TRACE_IRQ_ENTER && w->what <= GPROF_TRACE_SOFTIRQ_EXIT;
		if (w->cpu != (uint32_t)online_cpu(0) || w->time < from || w->time > to)
			continue;
		if (w->what == GPROF_TRACE_IRQ_ENTER || w->what == GPROF_TRACE_SOFTIRQ_ENTER) {
			ASSERT_GT(64, depth);
			in[depth++] = w;
		} else if (w->what == GPROF_TRACE_IRQ_EXIT ||
			   w->what == GPROF_TRACE_SOFTIRQ_EXIT) {
			ASSERT_LT(0, depth);
			depth--;
			EXPECT_EQS(in[depth]->what + 1, w->what, in[depth]->tid, w->tid,
				   in[depth]->arg, w->arg);
			n++;
		}
	}
	TH_LOG("%u interrupts", n);
	EXPECT_LT(5, n);
	EXPECT_EQ(0, depth);
	/* Each is of an interrupt, as few other events are here. */
	ASSERT_EQ(0, device_stats(&self->dev, GPROF_STATS_ALL_CPUS, &st));
	EXPECT_LE(told, st.out_irq + device_lost(&st));
	EXPECT_GE(2 * told, st.out_irq);
}

#define PAGES	50

TEST_F(trace, page_faults)
{
	size_t page = sysconf(_SC_PAGESIZE), i;
	const struct trace_word *w = NULL;
	unsigned int times[PAGES] = { 0 };
	char *mem;

	SKIP_UNLESS(device_has(GPROF_FEAT_TRACE_FAULTS),
		    "page faults are told by a kprobe, and this kernel has none");
	SKIP_UNLESS(!geteuid(), "needs CAP_PERFMON");
	mem = private_memory(PAGES * page);
	madvise(mem, PAGES * page, MADV_NOHUGEPAGE);
	self->params.flags = GPROF_TRACE_F_FAULTS;
	BEGIN(GPROF_TARGET_THREAD, getpid());
	for (i = 0; i < PAGES; i++)
		mem[i * page] = 1;
	END();
	while ((w = find(&self->words, w, GPROF_TRACE_FAULT, -1))) {
		uintptr_t at = w->operand << 12;

		if (at < (uintptr_t)mem || at >= (uintptr_t)mem + PAGES * page)
			continue;
		EXPECT_EQ(GPROF_TRACE_FAULT_WRITE, w->arg & ~GPROF_TRACE_FAULT_AGAIN);
		times[(at - (uintptr_t)mem) / page] += !(w->arg & GPROF_TRACE_FAULT_AGAIN);
	}
	for (i = 0; i < PAGES; i++)
		EXPECT_EQ(1, times[i]);
	munmap(mem, PAGES * page);
}

static void fill_cache(void *arg, int step)
{
	static char block[1 << 20];
	int fd = memfd_create("trace_test", 0), i;

	/* what has been read again and again, and is in nobody's way */
	for (i = 0; i < 64; i++)
		if (write(fd, block, sizeof(block)) != sizeof(block))
			_exit(1);
	close(fd);
}

TEST_F(trace, reclaim_for_a_cgroup)
{
	char path[MEMORY_CGROUP_PATH];
	size_t began, ended;

	SKIP_UNLESS(device_has(GPROF_FEAT_TRACE_RECLAIM), "this kernel tells of no direct reclaim");
	SKIP_UNLESS(!geteuid(), "needs CAP_PERFMON");
	SKIP_UNLESS(!memory_cgroup(path, "16M"), "no memory controller");
	ASSERT_EQ(0, child_fork(&self->child, fill_cache, NULL));
	ASSERT_EQ(0, memory_cgroup_enter(path, self->child.pid));
	self->params.flags = GPROF_TRACE_F_RECLAIM;
	BEGIN(GPROF_TARGET_PROCESS, self->child.pid);
	child_step(&self->child);	/* is killed for it */
	child_end(&self->child);
	END();
	rmdir(path);
	began = COUNT(RECLAIM_BEGIN, -1);
	ended = COUNT(RECLAIM_END, -1);
	EXPECT_LT(0, began);
	EXPECT_EQS(began, ended,
		   1, find(&self->words, NULL, GPROF_TRACE_RECLAIM_BEGIN, -1)->arg);
}

static void burn_long(void *arg, int step)
{
	burn_until(monotonic_ns() + 1000 * MS);
}

TEST_F(trace, a_throttled_cgroup)
{
	char path[MEMORY_CGROUP_PATH];
	const struct trace_word *word;
	size_t i, again = 0;

	SKIP_UNLESS(device_has(GPROF_FEAT_TRACE_THROTTLE) && !geteuid(), "the kernel has no such function");
	SKIP_UNLESS(!cgroup_make(path, "trace"), "no cgroup v2");
	cgroup_write("/sys/fs/cgroup", "cgroup.subtree_control", "+cpu");
	if (cgroup_write(path, "cpu.max", "10000 100000")) {
		rmdir(path);
		SKIP_UNLESS(false, "no cpu controller");
	}
	ASSERT_ZEROS(child_fork(&self->child, burn_long, NULL),
		     memory_cgroup_enter(path, self->child.pid));
	self->params.flags = GPROF_TRACE_F_THROTTLE;
	BEGIN(GPROF_TARGET_SYSTEM, 0);
	EXPECT_EQ(0, child_step(&self->child));
	child_end(&self->child);
	END();
	rmdir(path);
	EXPECT_LTS(1, COUNT(THROTTLE, -1), 1, COUNT(UNTHROTTLE, -1));
	/* Either says whose time it is: of the cgroup on that CPU. */
	EXPECT_EQS(0, COUNT(THROTTLE, 0), 0, COUNT(UNTHROTTLE, 0));
	for (i = 0; i < self->words.nr; i++) {
		word = &self->words.words[i];
		if (word->what == GPROF_TRACE_THROTTLE)
			again += COUNT(UNTHROTTLE,
						   (int)word->tid) > 0;
	}
	EXPECT_LT(0, again);
}

/* All at once, of everybody: the rules for each word hold. */
TEST_F(trace, everything)
{
	struct gprof_info info = { .size = sizeof(info) };
	int fd;

	SKIP_UNLESS(!geteuid(), "needs CAP_PERFMON");
	fd = device_open();
	ASSERT_EQ(0, device_ioctl(fd, GPROF_IOC_INFO, &info));
	close(fd);
	self->params.flags = info.out_features / GPROF_FEAT_TRACE_SYSCALLS & __GPROF_TRACE_F_ALL;
	TH_LOG("flags %#x", self->params.flags);
	BEGIN(GPROF_TARGET_SYSTEM, 0);
	ASSERT_LT(0, ping_pong(50));
	sleep_ms(20);
	END();
}

/* ---- a user ---- */

TEST_F(trace, a_user_sees_no_task_of_others)
{
	int me = getpid();

	SKIP_UNLESS(!geteuid(), "must be root to become another");
	/* Somebody else works on the same CPU, wakes and is woken. */
	ASSERT_LE(0, pin_to(online_cpu(0)));
	ASSERT_EQ(0, child_fork(&self->child, nap, NULL));
	self->setup.buffer_size = 65536;
	ASSERT_ZEROS(chmod(GPROF_DEVICE, 0666), become(USER));
	BEGIN(GPROF_TARGET_PROCESS, me);
	for (unsigned int i = 0; i < NAPS; i++) {
		ASSERT_EQ(0, child_step(&self->child));
		take_naps(1, 1);
	}
	END();
	EXPECT_TRUE(has_only(&self->words, &me, 1));
	EXPECT_LE(NAPS, STOPS(me, SLEEPS));
}

TEST_F(trace, a_user_may_not_slow_others)
{
	struct gprof_info info = { .size = sizeof(info) };
	const uint32_t free = GPROF_TRACE_F_ANNOTATIONS | GPROF_TRACE_F_REASONS;
	unsigned int bit;

	SKIP_UNLESS(!geteuid(), "must be root to become another");
	self->setup.buffer_size = 65536;
	self->setup.target = GPROF_TARGET_PROCESS;
	self->setup.id = getpid();
	ASSERT_ZEROS(chmod(GPROF_DEVICE, 0666), become(USER));
	ASSERT_LE(0, self->dev.fd = device_open());
	ASSERT_EQ(0, device_ioctl(self->dev.fd, GPROF_IOC_INFO, &info));
	for (bit = 0; (__GPROF_TRACE_F_ALL & ~free) >> bit; bit++) {
		bool there = info.out_features & GPROF_FEAT_TRACE_SYSCALLS << bit;

		self->params.flags = 1U << bit;
		EXPECT_EQ(there ? -EPERM : -EOPNOTSUPP,
			  device_ioctl(self->dev.fd, GPROF_IOC_SETUP, &self->setup));
		EXPECT_EQ(there ? GPROF_REASON_SLOWS_DENIED : GPROF_REASON_PARAMS,
			  self->setup.out_reason);
	}
	/* That costs themselves alone. */
	self->params.flags = free;
	EXPECT_EQ(0, device_ioctl(self->dev.fd, GPROF_IOC_SETUP, &self->setup));
}

/* ---- too much ---- */

TEST_F(trace, a_full_ring_loses_and_says_so)
{
	self->setup.buffer_size = 32768;
	BEGIN(GPROF_TARGET_SYSTEM, 0);
	/* So that the ring is not full just where a generation ends. */
	ASSERT_LT(0, ping_pong(200));
	ASSERT_EQ(0, trace_words_read(&self->words));
	while (!lost(self))
		ASSERT_LT(0, ping_pong(1000));
	/* What comes after the losses is understood again. */
	ASSERT_EQ(0, trace_words_read(&self->words));
	ASSERT_LT(0, ping_pong(100));
	END();
	EXPECT_LT(0, self->words.reader.lost_records);
	EXPECT_EQ(lost(self), reader_lost(&self->words.reader));
}

TEST_F(trace, flight_keeps_the_last)
{
	struct gprof_stats st = { 0 };
	pid_t last;

	self->setup.buffer_size = 32768;
	self->setup.flags = GPROF_SETUP_F_FLIGHT;
	BEGIN(GPROF_TARGET_SYSTEM, 0);
	do {
		ASSERT_LT(0, ping_pong(1000));
		ASSERT_EQ(0, device_stats(&self->dev, GPROF_STATS_ALL_CPUS, &st));
	} while (!st.out_overwritten);
	ASSERT_EQ(0, trace_words_snapshot(&self->words));
	EXPECT_STREQ("", self->words.error);
	last = ping_pong(20);
	END();
	EXPECT_EQ(1, COUNT(EXIT, last));
}

#define STORM	300

TEST_F(trace, a_storm_of_forks)
{
	BEGIN(GPROF_TARGET_PROCESS, getpid());
	for (unsigned int i = 0; i < STORM; i++) {
		ASSERT_EQ(0, IN_CHILD(0));
	}
	END();
	if (!lost(self)) {
		EXPECT_EQS(STORM, COUNT(FORK, -1), STORM, COUNT(EXIT, -1));
	}
}

TEST_F(trace, a_cpu_that_goes_and_comes)
{
	int cpu = online_cpu(1), i;
	size_t before = 0, n;

	SKIP_UNLESS(cpu > 0 && !cpu_set_online(cpu, false), "no CPU can be taken offline");
	self->cpus_go = true;
	BEGIN(GPROF_TARGET_SYSTEM, 0);
	for (i = 0; i < 2; i++) {
		ASSERT_ZEROS(cpu_set_online(cpu, true), pin_to(cpu) < 0);
		ASSERT_LT(0, ping_pong(10));
		ASSERT_ZEROS(pin_to(online_cpu(0)) < 0, cpu_set_online(cpu, false),
			     trace_words_read(&self->words));
	}
	ASSERT_EQ(0, cpu_set_online(cpu, true));
	END();
	for (n = 0; n < self->words.nr; n++)
		before += self->words.words[n].cpu == (uint32_t)cpu;
	EXPECT_LT(40, before);
}

/* Each recording is understood alone. */
TEST_F(trace, again_after_stop)
{
	int i, me = getpid();
	size_t had;

	BEGIN(GPROF_TARGET_PROCESS, me);
	for (i = 0; i < 3; i++) {
		had = self->words.nr;
		sleep_ms(2);
		sleep_ms(2);
		if (i < 2) {
			ASSERT_ZEROS(device_stop(&self->dev), trace_words_read(&self->words));
			EXPECT_LE(had + 4, self->words.nr);
			ASSERT_EQ(0, device_start(&self->dev));
		}
	}
	END();
	EXPECT_LE(had + 4, self->words.nr);
}

TEST_HARNESS_MAIN
