// SPDX-License-Identifier: GPL-2.0-only
/*
 * sched_stats_test: scheduler statistics, the list of recorders and their events
 * through the library, on a live kernel. What they count is sched_test's.
 */
#include <gprof/monitor.h>
#include <gprof/sched_stats.h>

#include "harness.h"
#include "record.h"
#include "workload.h"

/* Allocations until one fails, -1 for none; blocks that are not freed. */
static long fail_at = -1;
static long live;

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t nr, size_t size);
extern void *__libc_realloc(void *p, size_t size);
extern void __libc_free(void *p);

static bool fails(void)
{
	if (fail_at < 0 || fail_at-- > 0)
		return false;
	errno = ENOMEM;
	return true;
}

void *malloc(size_t size)
{
	void *p = fails() ? NULL : __libc_malloc(size);

	__atomic_add_fetch(&live, !!p, __ATOMIC_RELAXED);
	return p;
}

void *calloc(size_t nr, size_t size)
{
	void *p = fails() ? NULL : __libc_calloc(nr, size);

	__atomic_add_fetch(&live, !!p, __ATOMIC_RELAXED);
	return p;
}

void *realloc(void *old, size_t size)
{
	void *p = fails() ? NULL : __libc_realloc(old, size);

	__atomic_add_fetch(&live, !old && p, __ATOMIC_RELAXED);
	return p;
}

void free(void *p)
{
	__atomic_sub_fetch(&live, !!p, __ATOMIC_RELAXED);
	__libc_free(p);
}

FIXTURE(stats) {
	struct gprof_sched_config cfg;
	struct gprof_sched_stats st;
	struct gprof_sched *s;
};

FIXTURE_SETUP(stats)
{
	self->cfg = (struct gprof_sched_config){
		.sz = sizeof(self->cfg), .target = { .type = GPROF_SELF }, .sample_hz = 1000,
	};
	self->st.sz = sizeof(self->st);
}

FIXTURE_TEARDOWN(stats)
{
	gprof_sched_stats_free(self->s);
}

#define OPEN() do {							\
	self->s = gprof_sched_stats_new(&self->cfg);			\
	ASSERT_NE(NULL, self->s) TH_LOG("%s", gprof_error());		\
} while (0)

#define CLOSE() do {							\
	gprof_sched_stats_free(self->s);				\
	self->s = NULL;							\
} while (0)

#define READ()								\
	ASSERT_EQ(0, gprof_sched_stats_read(self->s, &self->st)) TH_LOG("%s", gprof_error())

static void sleep_often(int times)
{
	while (times--)
		usleep(1000);
}

TEST_F(stats, forks_and_switches_of_a_process_are_counted)
{
	struct gprof_sched_value v;

	OPEN();
	for (int i = 0; i < 5; i++)
		ASSERT_EQ(0, IN_CHILD(0));
	sleep_often(20);
	READ();
	EXPECT_EQS(5, self->st.total_task, 1, self->st.num_task, 1, self->st.num_task_exec);
	EXPECT_LE(25, self->st.total_switches);
	EXPECT_LE(self->st.total_task_exec, self->st.total_task_sched);
	EXPECT_LT(self->st.started_ns, self->st.time_ns);
	ASSERT_EQ(0, gprof_sched_stats_get(&self->st, "total_task", &v));
	EXPECT_EQS(5, v.number, -ENODATA, gprof_sched_stats_get(&self->st, "total_sys_calls", &v));
}

TEST_F(stats, system_calls_are_counted_when_asked_for)
{
	self->cfg.flags = GPROF_SCHED_SYS_CALLS;
	self->s = gprof_sched_stats_new(&self->cfg);
	SKIP_UNLESS(self->s || errno != EOPNOTSUPP, "%s", gprof_error());
	ASSERT_NE(NULL, self->s);
	for (int i = 0; i < 1000; i++)
		syscall(SYS_getppid);
	READ();
	EXPECT_TRUE(self->st.has_sys_calls);
	EXPECT_WITHIN(1000, self->st.total_sys_calls, 1100);
	/* The one that reads. */
	EXPECT_EQ(1, self->st.num_sys_calls);
}

static void *busy_sleeper(void *stop)
{
	while (!__atomic_load_n((bool *)stop, __ATOMIC_RELAXED))
		usleep(50);
	return NULL;
}

TEST_F(stats, no_total_goes_back_nor_below_its_part)
{
	struct gprof_sched_stats before = { 0 };
	pthread_t threads[4];
	bool stop = false;

	self->cfg.target.type = GPROF_SYSTEM;
	OPEN();
	for (int i = 0; i < 4; i++)
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, busy_sleeper, &stop));
	for (int i = 0; i < 300; i++) {
		const struct gprof_sched_stats *st = &self->st;

		READ();
		EXPECT_LES(before.total_task_exec, st->total_task_exec,
			   before.total_task_sched, st->total_task_sched,
			   before.total_switches, st->total_switches, before.stall_ns, st->stall_ns,
			   before.num_samples, st->num_samples, before.delay.count, st->delay.count,
			   before.on_cpu.sum, st->on_cpu.sum, before.time_ns, st->time_ns);
		EXPECT_LES(st->total_task_exec, st->total_task_sched,
			   st->delay.count, st->total_task_exec,
			   st->on_cpu.count, st->total_switches,
			   st->max_procs, st->num_procs, st->delay.largest, st->delay.sum);
		before = *st;
	}
	stop = true;
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	/* Their sleeps last to the next tick at least, where no timer comes between. */
	EXPECT_LT(timers_are_fine() ? 100 : 20, before.total_switches);
}

TEST_F(stats, the_largest_delay_is_one_of_those_since_the_start)
{
	pthread_t threads[4];
	bool stop = false;

	self->cfg.target.type = GPROF_SYSTEM;
	for (int i = 0; i < 4; i++)
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, busy_sleeper, &stop));
	for (int i = 0; i < 20; i++) {
		OPEN();
		READ();
		EXPECT_LES(self->st.delay.largest, self->st.delay.sum,
			   self->st.on_cpu.largest, self->st.on_cpu.sum);
		CLOSE();
	}
	stop = true;
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
}

TEST_F(stats, the_rate_can_be_changed_while_it_counts)
{
	self->cfg.sample_hz = 0;
	OPEN();
	sleep_often(50);
	READ();
	EXPECT_EQS(0, self->st.sample_hz, 0, self->st.num_samples);
	EXPECT_EQ(0, gprof_sched_profile_rate_set(self->s, 1000));
	sleep_often(100);
	READ();
	EXPECT_EQ(1000, self->st.sample_hz);
	EXPECT_LT(0, self->st.num_samples);
	EXPECT_EQ(-EINVAL, gprof_sched_profile_rate_set(self->s, 100001));
	EXPECT_NE(NULL, strstr(gprof_error(), "100000"));
	READ();
	EXPECT_EQ(1000, self->st.sample_hz);
}

TEST_F(stats, structs_of_other_sizes_are_taken_or_refused)
{
	struct {
		struct gprof_sched_stats st;
		uint64_t newer;
	} larger = { .st.sz = sizeof(larger), .newer = 7 };

	OPEN();
	ASSERT_EQ(0, gprof_sched_stats_read(self->s, &larger.st));
	EXPECT_EQS(sizeof(larger), larger.st.sz, 0, larger.newer);
	/* As it was before it grew. */
	self->st.sz = offsetof(struct gprof_sched_stats, faults_missed);
	EXPECT_EQ(0, gprof_sched_stats_read(self->s, &self->st));
	self->st.sz--;
	EXPECT_EQ(-EINVAL, gprof_sched_stats_read(self->s, &self->st));
	EXPECT_NE(NULL, strstr(gprof_error(), "sz"));
}

static const struct gprof_recorder_info *find(const struct gprof_recorder_list *l,
					      const char *kind)
{
	const struct gprof_recorder_info *r;
	size_t nr = gprof_recorder_list_get(l, &r);

	for (; nr--; r++)
		if (!strcmp(r->kind, kind) && r->owner_pid == getpid())
			return r;
	return NULL;
}

TEST_F(stats, recorders_are_listed_while_they_are_open)
{
	const struct gprof_recorder_info *r;
	struct gprof_recorder_list *l;

	OPEN();
	l = gprof_recorder_list_new();
	ASSERT_NE(NULL, l) TH_LOG("%s", gprof_error());
	r = find(l, "sched");
	ASSERT_NE(NULL, r);
	EXPECT_EQS(GPROF_PROCESS, r->target, getpid(), r->target_id, getuid(), r->owner_uid);
	EXPECT_STREQ("sched_stats_tes", r->owner);
	EXPECT_TRUE(r->started);
	EXPECT_FALSE(r->has_samples);
	gprof_recorder_list_free(l);
	CLOSE();
	l = gprof_recorder_list_new();
	ASSERT_NE(NULL, l);
	EXPECT_EQ(NULL, find(l, "sched"));
	gprof_recorder_list_free(l);
}

TEST(counts_of_samples_add_up_while_they_are_taken)
{
	struct gprof_cpu_event ev = { .name = "timer", .hz = 1000, .flags = GPROF_EVENT_KERNEL };
	struct gprof_cpu_config cfg = {
		.sz = sizeof(cfg), .target = { GPROF_SELF }, .events = &ev, .nr_events = 1,
	};
	struct gprof_recorder *rec = gprof_cpu_recorder_new(&cfg);
	const struct gprof_recorder_info *r;
	struct gprof_recorder_list *l;
	uint64_t produced = 0;
	int fd = record_file();

	ASSERT_NE(NULL, rec);
	ASSERT_EQ(0, gprof_recorder_start(rec, fd));
	for (int i = 0; i < 10; i++) {
		burn_ns(30000000);
		l = gprof_recorder_list_new();
		ASSERT_NE(NULL, l);
		r = find(l, "cpu");
		ASSERT_NE(NULL, r);
		EXPECT_TRUE(r->has_samples);
		EXPECT_LT(0, r->buffer_bytes);
		EXPECT_EQ(r->produced, r->read + r->lost + r->overwritten);
		EXPECT_LE(produced, r->produced);
		produced = r->produced;
		gprof_recorder_list_free(l);
	}
	EXPECT_LT(0, produced);
	gprof_recorder_free(rec);
	close(fd);
}

/* The next event of a recorder of ours, NULL when none comes for 5 s. */
static const struct gprof_monitor_event *hear(struct gprof_monitor *m)
{
	static struct gprof_monitor_event ev;
	struct pollfd p = { .fd = gprof_monitor_fd(m), .events = POLLIN };
	int ret;

	do {
		ret = gprof_monitor_next(m, &ev);
		if (ret > 0 && ev.recorder.owner_pid == getpid())
			return &ev;
	} while (ret > 0 || poll(&p, 1, 5000) > 0);
	return NULL;
}

TEST_F(stats, start_and_stop_are_heard)
{
	struct gprof_monitor *m = gprof_monitor_new();
	const struct gprof_monitor_event *ev;
	struct gprof_monitor_event unused;
	uint64_t id;

	ASSERT_NE(NULL, m) TH_LOG("%s", gprof_error());
	EXPECT_EQ(0, gprof_monitor_next(m, &unused));
	OPEN();
	ev = hear(m);
	ASSERT_NE(NULL, ev);
	EXPECT_EQ(GPROF_MONITOR_STARTED, ev->type);
	EXPECT_STREQ("sched", ev->recorder.kind);
	id = ev->recorder.id;
	CLOSE();
	ev = hear(m);
	ASSERT_NE(NULL, ev);
	EXPECT_EQS(GPROF_MONITOR_STOPPED, ev->type, id, ev->recorder.id);
	EXPECT_FALSE(ev->recorder.started);
	gprof_monitor_free(m);
}

TEST_F(stats, events_that_were_not_taken_in_time_are_told)
{
	struct gprof_monitor *m = gprof_monitor_new();
	struct gprof_monitor_event ev;
	int ret, room = 1, lost = 0, taken = 0;

	ASSERT_NE(NULL, m);
	/* The kernel makes it as little as it may be: a few events. */
	ASSERT_EQ(0, setsockopt(gprof_monitor_fd(m), SOL_SOCKET, SO_RCVBUF, &room, sizeof(room)));
	for (int i = 0; i < 10; i++) {
		OPEN();
		CLOSE();
	}
	while ((ret = gprof_monitor_next(m, &ev))) {
		lost += ret == -ENOBUFS;
		taken += ret > 0;
		ASSERT_TRUE(ret > 0 || ret == -ENOBUFS) TH_LOG("%d: %s", ret, gprof_error());
	}
	EXPECT_LTS(0, lost, 0, taken);
	OPEN();
	EXPECT_NE(NULL, hear(m));
	gprof_monitor_free(m);
}

TEST_F(stats, other_users_see_their_own_alone)
{
	struct gprof_recorder_list *l;
	const struct gprof_recorder_info *r;

	OPEN();
	ASSERT_EQ(0, become(1000));
	l = gprof_recorder_list_new();
	ASSERT_NE(NULL, l);
	EXPECT_EQ(0, gprof_recorder_list_get(l, &r));
	gprof_recorder_list_free(l);
	EXPECT_EQS(NULL, gprof_monitor_new(), EPERM, errno);
	EXPECT_LT(0, strlen(gprof_error()));
	/* What root has opened is not read by another, not even through root's socket. */
	EXPECT_EQ(-ENOENT, gprof_sched_stats_read(self->s, &self->st)) TH_LOG("%s", gprof_error());
	self->cfg.target.type = GPROF_SYSTEM;
	EXPECT_EQS(NULL, gprof_sched_stats_new(&self->cfg), EPERM, errno);
	EXPECT_NE(NULL, strstr(gprof_error(), "CAP_PERFMON"));
}

static int open_and_read(void)
{
	struct gprof_sched_config cfg = { .sz = sizeof(cfg), .target = { .type = GPROF_SELF } };
	struct gprof_sched_stats st = { .sz = sizeof(st) };
	struct gprof_sched *s = gprof_sched_stats_new(&cfg);
	int err = s ? gprof_sched_stats_read(s, &st) : -errno;

	gprof_sched_stats_free(s);
	return err;
}

static int list(void)
{
	struct gprof_recorder_list *l = gprof_recorder_list_new();
	int err = l ? 0 : -errno;

	gprof_recorder_list_free(l);
	return err;
}

static int listen_for_events(void)
{
	struct gprof_monitor *m = gprof_monitor_new();
	struct gprof_sched_config cfg = { .sz = sizeof(cfg), .target = { .type = GPROF_SELF } };
	struct gprof_monitor_event ev;
	int err = m ? 0 : -errno;

	if (m) {
		gprof_sched_stats_free(gprof_sched_stats_new(&cfg));
		err = gprof_monitor_next(m, &ev);
	}
	gprof_monitor_free(m);
	return err < 0 ? err : 0;
}

TEST(each_allocation_that_fails_is_an_error_and_leaves_nothing)
{
	static int (*const calls[])(void) = { open_and_read, list, listen_for_events };
	struct gprof_sched_config cfg = { .sz = sizeof(cfg), .target = { .type = GPROF_SELF } };
	struct gprof_sched *keep = gprof_sched_stats_new(&cfg);

	ASSERT_NE(NULL, keep);
	for (size_t c = 0; c < sizeof(calls) / sizeof(calls[0]); c++) {
		long n, before;
		bool through = false;
		int ret;

		ASSERT_EQ(0, calls[c]());
		for (n = 0; !through; n++) {
			before = live;
			fail_at = n;
			ret = calls[c]();
			through = fail_at >= 0;
			fail_at = -1;
			ASSERT_EQ(before, live) TH_LOG("call %zu, failure %ld", c, n);
			ASSERT_TRUE(!ret || ret == -ENOMEM)
				TH_LOG("call %zu, failure %ld gave %d", c, n, ret);
		}
		EXPECT_LT(5, n);
	}
	gprof_sched_stats_free(keep);
}

TEST_HARNESS_MAIN
