// SPDX-License-Identifier: GPL-2.0-only
/*
 * timer_test: the clock of a target runs while the target does, and the samples stand for what it
 * showed, to within a period on each CPU, or two where a recorder joins the schedule of another.
 */
#include <inttypes.h>
#include <limits.h>
#include "harness.h"
#include "device.h"
#include "reader.h"
#include "remains.h"
#include "tally.h"
#include "workload.h"

#define MS	1000000ULL

struct shared {
	uint64_t burned;	/* ns, by children */
	uint32_t other;		/* a process id */
	uint64_t progress;	/* turns of a loop */
};

FIXTURE(timer) {
	struct shared *shared;
	struct gprof_cpu_params params;
	struct gprof_setup setup;
	struct device dev;
	struct tally *tally;
	struct child child;
};

FIXTURE_SETUP(timer)
{
	self->tally = calloc(1, sizeof(*self->tally));
	self->shared = shared_memory(sizeof(*self->shared));
	/* a clock in user mode alone tells no count */
	self->params = timer_params(MS);
	self->params.flags = GPROF_CPU_F_KERNEL;
}

FIXTURE_TEARDOWN(timer)
{
	if (self->shared->other)
		kill(self->shared->other, SIGKILL);
	child_end(&self->child);
	if (self->tally->reader.rings)
		tally_free(self->tally);
	free(self->tally);
	device_close(&self->dev);
}

static void begin(struct __test_metadata *_metadata, FIXTURE_DATA(timer) *self,
		  void (*fn)(void *arg, int step))
{
	ASSERT_EQ(0, child_fork(&self->child, fn, self->shared));
	self->setup = device_setup_of(GPROF_TARGET_PROCESS, self->child.pid, &self->params);
}

static void record(struct __test_metadata *_metadata, FIXTURE_DATA(timer) *self)
{
	ASSERT_EQ(0, device_record(&self->dev, &self->setup))
		TH_LOG("reason %u", self->setup.out_reason);
	ASSERT_EQ(0, tally_init(self->tally, &self->dev));
}

/* Stops, reads, and checks what is counted. */
static struct gprof_stats stop_and_read(struct __test_metadata *_metadata, struct reader *reader)
{
	struct gprof_stats st = { 0 };

	READER_END(reader, &st);
	EXPECT_EQS(0, device_lost(&st), 0, st.out_throttled, st.out_count, st.out_time_running,
		   st.out_count, st.out_time_enabled);
	return st;
}

/* ... and that the samples stand for the time. */
static struct gprof_stats finish(struct __test_metadata *_metadata, struct reader *reader,
				 uint64_t period)
{
	struct gprof_stats st = stop_and_read(_metadata, reader);
	uint64_t margin = nr_online_cpus() * period;

	EXPECT_LES(reader->weight, st.out_count + margin, st.out_count, reader->weight + margin);
	TH_LOG("%llu samples stand for %llu us of %llu us", ull(reader->samples),
	       us_of(reader->weight), us_of(st.out_count));
	return st;
}

#define BEGIN(_fn)	begin(_metadata, self, _fn)
#define RECORD()	record(_metadata, self)
#define FINISH()	finish(_metadata, &self->tally->reader, self->params.period)

static uint64_t children_ns(void)
{
	struct rusage r;

	getrusage(RUSAGE_CHILDREN, &r);
	return (r.ru_utime.tv_sec + r.ru_stime.tv_sec) * 1000000000ULL +
	       (r.ru_utime.tv_usec + r.ru_stime.tv_usec) * 1000ULL;
}

#define NR_SHORT	200
#define SHORT_NS	(2 * MS)

static void fork_short_ones(void *arg, int step)
{
	struct shared *s = arg;

	for (int i = 0; i < NR_SHORT; i++) {
		pid_t pid = fork();

		if (!pid) {
			burn_ns(SHORT_NS);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
	s->burned = children_ns();
}

/* None of them lives for a period. */
TEST_F(timer, children_shorter_than_a_period_stand_for_their_cpu_time)
{
	struct gprof_stats st;
	uint64_t burned;

	BEGIN(fork_short_ones);
	self->params.period = 20 * MS;
	burned = process_cpu_ns(self->child.pid);
	RECORD();
	ASSERT_EQ(0, child_step(&self->child));
	burned = self->shared->burned + process_cpu_ns(self->child.pid) - burned;
	st = FINISH();
	TH_LOG("the kernel says %llu us", us_of(burned));
	/* it charges who is woken for the way out of idle, which an emulated CPU takes long for */
	EXPECT_WITHIN(NR_SHORT * SHORT_NS * 9 / 10, st.out_count, burned * 11 / 10 + 10 * MS);
}

/*
 * The kernel's clock of a task begins a little before the switch to it that the module sees, and on
 * PREEMPT_RT threads of the kernel take turns with the task.
 */
static uint64_t surely(uint64_t burned)
{
	return file_number("/sys/kernel/realtime") == 1 ? burned * 9 / 10 : burned;
}

static void burn_then_sleep(void *arg, int step)
{
	if (step & 1)
		sleep_ms(500);
	else
		burn_ns(100 * MS);
}

TEST_F(timer, clock_stands_while_the_target_sleeps)
{
	struct gprof_stats before, after;
	uint64_t burned;

	BEGIN(burn_then_sleep);
	RECORD();
	ASSERT_EQ(0, child_step(&self->child));
	ASSERT_EQ(0, device_stats(&self->dev, GPROF_STATS_ALL_CPUS, &before));
	EXPECT_LE(surely(100 * MS), before.out_count);
	burned = process_cpu_ns(self->child.pid);
	ASSERT_EQ(0, child_step(&self->child));
	burned = process_cpu_ns(self->child.pid) - burned;
	ASSERT_EQ(0, device_stats(&self->dev, GPROF_STATS_ALL_CPUS, &after));
	TH_LOG("%llu us amid the sleep, the kernel says %llu us",
	       us_of(after.out_count - before.out_count), us_of(burned));
	EXPECT_GE(before.out_count + 100 * MS + burned, after.out_count);
	ASSERT_EQ(0, child_step(&self->child));
	FINISH();
}

TEST_F(timer, count_grows_while_the_target_runs)
{
	struct gprof_stats st;
	uint64_t last = 0;

	BEGIN(burn_then_sleep);
	RECORD();
	ASSERT_EQ(0, child_begin(&self->child));
	for (int i = 0; i < 5; i++) {
		sleep_ms(5);
		ASSERT_EQ(0, device_stats(&self->dev, GPROF_STATS_ALL_CPUS, &st));
		EXPECT_LE(last, st.out_count);
		last = st.out_count;
	}
	EXPECT_LT(0, last);
	ASSERT_EQ(0, child_wait(&self->child));
	FINISH();
}

TEST_F(timer, recorders_at_different_rates_each_get_their_own)
{
	struct gprof_cpu_params slow = self->params;
	struct gprof_setup setup;
	struct gprof_stats st[2];
	struct reader reader;
	struct device other;

	BEGIN(burn_then_sleep);
	slow.period = 7 * MS;
	setup = self->setup;
	setup.params = (uintptr_t)&slow;
	RECORD();
	ASSERT_ZEROS(reader_record(&reader, &other, &setup, NULL, NULL), child_step(&self->child));
	st[1] = finish(_metadata, &reader, slow.period);
	st[0] = FINISH();
	/* both saw all that was burned between them */
	EXPECT_LES(st[1].out_count, st[0].out_count, surely(100 * MS), st[1].out_count);
	reader_close(&reader);
}

#define MAX_TIMES	2048

struct times {
	uint64_t at[MAX_TIMES];
	unsigned int nr;
};

static void note_time(void *ctx, const struct reader_sample *s)
{
	struct times *t = ctx;

	if (t->nr < MAX_TIMES)
		t->at[t->nr++] = s->rec->time;
}

static void burn_on_first(void *arg, int step)
{
	if (step == 0)
		pin_to(online_cpu(0));
	else
		burn_ns(500 * MS);
}

/* Records while the child takes a step; gets the times of the samples. */
static void record_times(struct __test_metadata *_metadata, FIXTURE_DATA(timer) *self,
			 struct times *t, struct times *t_other)
{
	struct reader reader, reader_other;
	struct device other;

	ASSERT_ZEROS(reader_record(&reader, &self->dev, &self->setup, note_time, t),
		     child_begin(&self->child));
	if (t_other) {
		/* the second begins while the first one's clock runs */
		sleep_ms(50);
		ASSERT_EQ(0, reader_record(&reader_other, &other, &self->setup, note_time, t_other));
	}
	ASSERT_EQ(0, child_wait(&self->child));
	if (t_other) {
		finish(_metadata, &reader_other, 2 * self->params.period);
		reader_close(&reader_other);
	}
	finish(_metadata, &reader, self->params.period);
	reader_free(&reader);
}

/* So any number of recorders at one rate costs one interrupt. */
TEST_F(timer, recorders_at_one_rate_are_served_together)
{
	struct times a = { 0 }, b = { 0 };
	unsigned int i, j, together = 0;

	BEGIN(burn_on_first);
	self->params.period = 5 * MS;
	ASSERT_EQ(0, child_step(&self->child));
	record_times(_metadata, self, &a, &b);
	for (i = 0; i < b.nr; i++) {
		for (j = 0; j < a.nr; j++) {
			int64_t apart = a.at[j] - b.at[i];

			if (apart < 500000 && apart > -500000)
				break;
		}
		together += j < a.nr;
	}
	TH_LOG("%u of %u", together, b.nr);
	EXPECT_LES(10, b.nr, b.nr * 8 / 10, together);
}

#define NR_OTHERS	32

/*
 * Where samples take longer than a period those of the others are overdue when one
 * more recorder joins their schedule (that time was before it) and when it stops.
 */
TEST_F(timer, overdue_samples_stand_for_time_of_their_own)
{
	struct device others[NR_OTHERS];
	const uint64_t margin = nr_online_cpus() * 2 * GPROF_CPU_TIMER_MIN;
	struct reader reader;

	ASSERT_LE(0, pin_to(online_cpu(0)));
	self->params.period = GPROF_CPU_TIMER_MIN;
	self->setup = device_setup_of(GPROF_TARGET_PROCESS, getpid(), &self->params);
	for (unsigned int i = 0; i < NR_OTHERS; i++)
		ASSERT_EQ(0, device_record(&others[i], &self->setup));
	for (unsigned int i = 0; i < 20; i++) {
		struct gprof_stats st;
		uint64_t untold;

		ASSERT_EQ(0, reader_record(&reader, &self->dev, &self->setup, NULL, NULL));
		burn_ns(MS);
		st = stop_and_read(_metadata, &reader);
		/*
		 * Samples rest twice as long as they took, be it milliseconds: what has run since
		 * the last one is not told, and nothing else.
		 */
		untold = st.out_stopped_ns - (reader.newest ?: st.out_started_ns);
		EXPECT_LE(reader.weight, st.out_count + margin);
		EXPECT_GE(reader.weight + untold + margin, st.out_count)
			TH_LOG("%llu us of %llu us, %llu us untold", us_of(reader.weight),
			       us_of(st.out_count), us_of(untold));
		reader_close(&reader);
	}
	for (unsigned int i = 0; i < NR_OTHERS; i++)
		device_close(&others[i]);
}

/* What comes every period, like much that schedulers do, must not be seen at one place. */
TEST_F(timer, samples_come_at_all_places_of_a_period)
{
	unsigned int bins[8] = { 0 }, i, most = 0, used = 0;
	struct times t = { 0 };

	SKIP_UNLESS(timers_are_fine(), "this kernel's timers come with its ticks alone");
	BEGIN(burn_on_first);
	self->params.period = 5 * MS;
	ASSERT_EQ(0, child_step(&self->child));
	record_times(_metadata, self, &t, NULL);
	for (i = 0; i < t.nr; i++)
		bins[t.at[i] % self->params.period * 8 / self->params.period]++;
	for (i = 0; i < 8; i++) {
		used += !!bins[i];
		most = bins[i] > most ? bins[i] : most;
	}
	TH_LOG("%u samples, in %u of 8 parts, at most %u in one", t.nr, used, most);
	EXPECT_LES(40, t.nr, 6, used);
	EXPECT_GE(t.nr / 2, most);
}

static void fork_then_both_burn(void *arg, int step)
{
	struct shared *s = arg;
	pid_t pid;

	if (step == 0) {
		pid = fork();
		if (!pid) {
			for (;;)
				burn_ns(MS);
		}
		s->other = pid;
		return;
	}
	burn_ns(200 * MS);
}

TEST_F(timer, child_from_before_start_is_left_out)
{
	uint32_t pid;

	BEGIN(fork_then_both_burn);
	pid = self->child.pid;
	ASSERT_EQ(0, child_step(&self->child));
	RECORD();
	ASSERT_EQ(0, child_step(&self->child));
	FINISH();
	EXPECT_LE(timers_are_fine() ? 5 : 1, tally_of(self->tally, pid));
	EXPECT_EQ(0, tally_of_others(self->tally, &pid, 1));
}

static void *exec_burner(void *arg)
{
	execl(beside_us("burner"), "burner", "300", (char *)NULL);
	_exit(127);
}

static void exec_from_a_thread(void *arg, int step)
{
	pthread_t thread;

	pthread_create(&thread, NULL, exec_burner, NULL);
	pthread_join(thread, NULL);
}

/* The thread takes the place of the process' first one, which ends. */
TEST_F(timer, exec_of_another_thread_is_followed)
{
	uint32_t pid;

	BEGIN(exec_from_a_thread);
	pid = self->child.pid;
	RECORD();
	ASSERT_ZEROS(child_begin(&self->child), child_reap(&self->child));
	FINISH();
	EXPECT_TRUE(tally_has_map(self->tally, pid, "/burner"));
	EXPECT_LE(20, tally_of(self->tally, pid));
}

#define NR_FAST	8

/*
 * Eight times 100 kHz is more than an emulated machine bears; the work must go on. The
 * kernel's clock of a task begins some instructions before its switch is told: where the
 * machine stands still in between, that time is another's to us; not in each of three tries.
 */
TEST_F(timer, more_than_the_machine_can_do_leaves_time_for_the_target)
{
	struct device devs[NR_FAST];
	struct gprof_stats st;
	uint64_t least = 0;

	BEGIN(burn_then_sleep);
	self->params.period = GPROF_CPU_TIMER_MIN;
	self->setup.flags = GPROF_SETUP_F_FLIGHT;
	for (int try = 0; try < 3 && least < 100 * MS; try++) {
		least = UINT64_MAX;
		for (int i = 0; i < NR_FAST; i++)
			ASSERT_EQ(0, device_record(&devs[i], &self->setup));
		ASSERT_EQ(0, child_step(&self->child));
		for (int i = 0; i < NR_FAST; i++) {
			EXPECT_EQ(0, device_stop(&devs[i]));
			EXPECT_EQ(0, device_stats(&devs[i], GPROF_STATS_ALL_CPUS, &st));
			EXPECT_LT(0, st.out_produced);
			EXPECT_LE(st.out_produced * self->params.period,
				  st.out_count + nr_online_cpus() * self->params.period);
			if (st.out_count < least)
				least = st.out_count;
			device_close(&devs[i]);
		}
		ASSERT_EQ(0, child_step(&self->child));
	}
	EXPECT_LE(100 * MS, least);
}

static void burn_alone(void *arg, int step)
{
	if (step == 0)
		pin_to(online_cpu(nr_online_cpus() - 1));
	else
		burn_ns(300 * MS);
}

/* On a CPU of its own, where no switch would end the clock. */
TEST_F(timer, nothing_is_sampled_once_stop_has_returned)
{
	struct gprof_stats before, after;

	BEGIN(burn_alone);
	ASSERT_EQ(0, child_step(&self->child));
	RECORD();
	ASSERT_EQ(0, child_begin(&self->child));
	sleep_ms(50);
	ASSERT_ZEROS(device_stop(&self->dev),
		     device_stats(&self->dev, GPROF_STATS_ALL_CPUS, &before));
	sleep_ms(50);
	ASSERT_ZEROS(device_stats(&self->dev, GPROF_STATS_ALL_CPUS, &after),
		     child_wait(&self->child));
	EXPECT_LT(0, before.out_produced);
	EXPECT_EQS(before.out_produced, after.out_produced,
		   before.out_time_running, after.out_time_running);
}

/* Looks at the clock seldom: the readers of an emulated one wait for each other. */
static void make_progress(void *arg, int step)
{
	struct shared *s = arg;
	uint64_t end;

	if (step == 0) {
		pin_to(online_cpu(0));
		return;
	}
	s->progress = 0;
	end = monotonic_ns() + 100 * MS;
	while (monotonic_ns() < end) {
		for (int i = 0; i < 20000; i++)
			__asm__ volatile("" : : : "memory");
		s->progress++;
	}
}

#define NR_SHARING	64
#define TRIES		5
#define ROUNDS		12

/* Turns of the child alone, and beside the recorders. */
static void compare(struct __test_metadata *_metadata, FIXTURE_DATA(timer) *self,
		    struct device *devs, uint64_t *alone, uint64_t *beside)
{
	ASSERT_EQ(0, child_step(&self->child));
	*alone = self->shared->progress;
	for (int i = 0; i < NR_SHARING; i++)
		ASSERT_EQ(0, device_start(&devs[i]));
	ASSERT_EQ(0, child_step(&self->child));
	*beside = self->shared->progress;
	for (int i = 0; i < NR_SHARING; i++)
		EXPECT_EQ(0, device_stop(&devs[i]));
	TH_LOG("%llu turns alone, %llu beside %d timers", ull(*alone), ull(*beside), NR_SHARING);
}

/*
 * Whatever is asked for by however many, half of its CPU stays the target's, over some
 * tries, for one may be lucky. In one of some rounds at least: where time is not a
 * count of instructions, the machine may stand still in any of them.
 */
TEST_F(timer, any_number_of_timers_together_leaves_half_to_the_target)
{
	struct device devs[NR_SHARING];
	uint64_t alone = 2, beside = 0, a, b;

	SKIP_UNLESS(!is_debug_kernel() && !has_symbol("__tsan_read8"),
		    "with a sanitizer an interrupt costs more than what we see of it");
	BEGIN(make_progress);
	self->params.period = 90000;
	self->setup.buffer_size = 65536;
	self->setup.flags = GPROF_SETUP_F_FLIGHT;
	ASSERT_EQ(0, child_step(&self->child));
	for (int i = 0; i < NR_SHARING; i++)
		ASSERT_EQ(0, device_setup(&devs[i], &self->setup));
	for (int round = 0; round < ROUNDS && beside < alone / 2; round++) {
		alone = 0;
		beside = 0;
		for (int try = 0; try < TRIES; try++) {
			compare(_metadata, self, devs, &a, &b);
			alone += a;
			beside += b;
		}
	}
	EXPECT_LE(alone / 2, beside);
	for (int i = 0; i < NR_SHARING; i++)
		device_close(&devs[i]);
}

/* Two that wake each other on a CPU. */
static void play(void *arg, int step)
{
	if (pin_to(online_cpu(0)) >= 0)
		ping_pong(UINT_MAX);
}

#define MAX_IPS	64

/* Frames of samples that were taken where a task was switched out. */
struct switched {
	struct reader reader;
	uint64_t samples;
	uint64_t leaves[MAX_IPS], all[MAX_IPS];
	unsigned int nr_leaves, nr;
};

static void note_ip(uint64_t *ips, unsigned int *nr, uint64_t ip)
{
	unsigned int i;

	for (i = 0; i < *nr && ips[i] != ip; i++)
		;
	if (i == *nr && i < MAX_IPS)
		ips[(*nr)++] = ip;
}

static void note_switched(void *ctx, const struct reader_sample *sample)
{
	struct switched *s = ctx;

	if (sample->rec->rec.flags & (GPROF_SAMPLE_REC_F_IRQ | GPROF_SAMPLE_REC_F_NMI))
		return;
	if (!sample->stack || !sample->stack->nr_kernel)
		return;
	s->samples++;
	note_ip(s->leaves, &s->nr_leaves, sample->stack->frames[0]);
	for (int i = 0; i < sample->stack->nr_kernel; i++)
		note_ip(s->all, &s->nr, sample->stack->frames[i]);
}

/* The nearest symbol at or below each address, with its module. */
static void name_ips(const uint64_t *ips, unsigned int nr, char (*names)[128])
{
	FILE *f = fopen("/proc/kallsyms", "re");
	uint64_t best[MAX_IPS] = { 0 }, addr;
	char line[256], type;
	int at;

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%" SCNx64 " %c %n", &addr, &type, &at) != 2 ||
		    (type != 't' && type != 'T'))
			continue;
		for (unsigned int i = 0; i < nr; i++) {
			if (addr > ips[i] || addr < best[i])
				continue;
			best[i] = addr;
			snprintf(names[i], sizeof(names[i]), "%.*s",
				 (int)strcspn(line + at, "\n"), line + at);
		}
	}
	if (f)
		fclose(f);
}

/* A sample that is due where its task is switched out shows the scheduler, not us. */
TEST_F(timer, samples_at_a_switch_begin_in_the_scheduler)
{
	static char names[MAX_IPS][128];
	struct switched s = { .nr = 0 };
	uint64_t until = monotonic_ns() + 20000 * MS;

	SKIP_UNLESS(!geteuid(), "needs the addresses of /proc/kallsyms");
	BEGIN(play);
	self->params.period = 100000;
	self->setup.stack |= GPROF_STACK_F_KERNEL;
	ASSERT_ZEROS(reader_record(&s.reader, &self->dev, &self->setup, note_switched, &s),
		     child_begin(&self->child));
	while (s.samples < 20 && monotonic_ns() < until) {
		sleep_ms(20);
		ASSERT_LE(0, reader_read(&s.reader));
		ASSERT_STREQ("", s.reader.error);
	}
	EXPECT_LE(20, s.samples);
	name_ips(s.leaves, s.nr_leaves, names);
	for (unsigned int i = 0; i < s.nr_leaves; i++) {
		EXPECT_NE(NULL, strstr(names[i], "sched")) TH_LOG("the leaf is %s", names[i]);
	}
	name_ips(s.all, s.nr, names);
	for (unsigned int i = 0; i < s.nr; i++) {
		EXPECT_EQ(NULL, strstr(names[i], "[gprof]"))
			TH_LOG("a frame of ours: %s", names[i]);
	}
	reader_free(&s.reader);
}

/* Interrupts that a CPU's own timer has made. */
static long long timer_interrupts(unsigned int cpu)
{
	char line[4096], *word, *save, name[16];
	FILE *f = fopen("/proc/interrupts", "re");
	unsigned int column = 0, i;
	long long n = -1;

	snprintf(name, sizeof(name), "CPU%u", cpu);
	if (f && fgets(line, sizeof(line), f)) {
		for (word = strtok_r(line, " \n", &save); word && strcmp(word, name);
		     word = strtok_r(NULL, " \n", &save))
			column++;
	}
	while (f && n < 0 && fgets(line, sizeof(line), f)) {
		if (!strstr(line, "LOC:") && !strstr(line, "arch_timer") &&
		    !strstr(line, "riscv-timer"))
			continue;
		word = strtok_r(line, " ", &save);
		for (i = 0; word && i <= column; i++)
			word = strtok_r(NULL, " ", &save);
		n = word ? atoll(word) : -1;
	}
	if (f)
		fclose(f);
	return n;
}

#define SLEEP_MS	2000

static long long interrupts_in_sleep(unsigned int cpu)
{
	long long before = timer_interrupts(cpu);

	sleep_ms(SLEEP_MS);
	return timer_interrupts(cpu) - before;
}

static void burns_there(void *arg, int step)
{
	struct shared *s = arg;

	pin_to(s->progress);
	burn_ns(300 * MS);
	s->burned = thread_cpu_ns();
}

/* A CPU that nobody uses is not interrupted, and is counted as soon as somebody does. */
TEST_F(timer, a_cpu_that_sleeps_is_let_sleep)
{
	unsigned int cpu = online_cpu(1);
	struct gprof_stats st = { 0 };
	long long alone, beside;

	SKIP_UNLESS(nr_online_cpus() > 1, "needs two CPUs");
	ASSERT_LE(0, pin_to(online_cpu(0)));
	self->shared->progress = cpu;
	ASSERT_EQ(0, child_fork(&self->child, burns_there, self->shared));
	ASSERT_LE(0, timer_interrupts(cpu));
	alone = interrupts_in_sleep(cpu);
	self->setup = device_setup_of(GPROF_TARGET_CPUS, 0, &self->params);
	device_target_cpu(&self->setup, cpu);
	RECORD();
	beside = interrupts_in_sleep(cpu);
	TH_LOG("%lld interrupts alone, %lld beside a recorder of 1000 Hz", alone, beside);
	EXPECT_LE(beside, alone + alone / 2 + SLEEP_MS / 20);
	EXPECT_EQ(0, child_step(&self->child));
	READER_END(&self->tally->reader, &st);
	TH_LOG("%llu us burned, samples stand for %llu us", us_of(self->shared->burned),
	       us_of(self->tally->reader.weight));
	/* Others may run there too, a little. */
	EXPECT_WITHIN(self->shared->burned - 2 * self->params.period, self->tally->reader.weight,
		      self->shared->burned + 100 * MS);
}

TEST_HARNESS_MAIN
