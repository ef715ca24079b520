// SPDX-License-Identifier: GPL-2.0-only
/*
 * privilege_test: what a user without CAP_PERFMON may record, and see.
 *
 * The tests start as root, prepare what they need, and become user 1000.
 */
#include <grp.h>
#include <linux/capability.h>
#include <sys/utsname.h>
#include "harness.h"
#include "device.h"
#include "reader.h"
#include "remains.h"
#include "tally.h"
#include "workload.h"

#define USER		1000
#define OTHER_USER	1001
#define PERIOD_NS	1000000
#define SMALL		65536

/* A child of a user; it burns 100 ms at each step. */
struct person {
	uid_t user;
	bool dumpable;
	gid_t group;
};

static void live(void *arg, int step)
{
	struct person *p = arg;

	if (step == 0) {
		if (become(p->user))
			_exit(1);
		prctl(PR_SET_DUMPABLE, p->dumpable);
		return;
	}
	burn_ns(100000000);
}

FIXTURE(user) {
	struct gprof_cpu_params params;
	struct gprof_setup setup;
	struct device dev;
	struct person person;
	struct child child;
};

FIXTURE_SETUP(user)
{
	SKIP_ALL_UNLESS(!geteuid(), "must be root to become another");
	self->person = (struct person){ .user = USER, .dumpable = true };
	self->params = timer_params(PERIOD_NS);
	self->setup = device_setup_of(GPROF_TARGET_PROCESS, getpid(), &self->params);
	self->setup.buffer_size = SMALL;
}

FIXTURE_TEARDOWN(user)
{
	child_end(&self->child);
	device_close(&self->dev);
}

static int limit_memlock(uint64_t bytes)
{
	struct rlimit limit = { bytes, bytes };

	return setrlimit(RLIMIT_MEMLOCK, &limit) ? -errno : 0;
}

static void make_child(struct __test_metadata *_metadata, FIXTURE_DATA(user) *self,
		       void (*live)(void *arg, int step), void *arg)
{
	ASSERT_ZEROS(child_fork(&self->child, live, arg), child_step(&self->child));
	self->setup.id = self->child.pid;
}

#define MAKE_CHILD()	make_child(_metadata, self, live, &self->person)

/* The setup is refused; one of oneself is still accepted. */
#define EXPECT_DENIED(_errno, _reason) do {				\
	struct gprof_setup own = device_setup_of(GPROF_TARGET_PROCESS, getpid(), &self->params); \
	struct gprof_cpu_params own_params = timer_params(PERIOD_NS);	\
									\
	own.params = (uintptr_t)&own_params;				\
	own.buffer_size = SMALL;					\
	EXPECT_EQS(-(_errno), device_setup(&self->dev, &self->setup),	\
		   _reason, self->setup.out_reason,			\
		   0, device_setup(&self->dev, &own), 0, own.out_reason); \
} while (0)

/* A call that the user is denied, once the statements have prepared it. */
#define DENIED(_name, _reason, ...)					\
TEST_F(user, is_denied_##_name)						\
{									\
	__VA_ARGS__;							\
	ASSERT_EQ(0, become(USER));					\
	EXPECT_DENIED(EPERM, GPROF_REASON_##_reason);			\
}

/* ---- what is allowed ---- */

TEST_F(user, may_record_their_own_process)
{
	struct gprof_stats st;
	struct reader reader;

	ASSERT_EQ(0, become(USER));
	ASSERT_EQ(0, reader_record(&reader, &self->dev, &self->setup, NULL, NULL))
		TH_LOG("reason %u", self->setup.out_reason);
	burn_ns(200000000);
	READER_END(&reader, &st);
	EXPECT_LE(10, reader.samples);
	reader_free(&reader);
}

TEST_F(user, may_record_their_own_thread)
{
	ASSERT_EQ(0, become(USER));
	self->setup = device_setup_of(GPROF_TARGET_THREAD, gettid(), &self->params);
	self->setup.buffer_size = SMALL;
	EXPECT_EQ(0, device_record(&self->dev, &self->setup));
}

/* The work of the user's child is seen. */
static void expect_recorded(struct __test_metadata *_metadata, FIXTURE_DATA(user) *self)
{
	struct gprof_stats st;

	ASSERT_ZEROS(become(USER), device_record(&self->dev, &self->setup),
		     child_step(&self->child), device_stop(&self->dev),
		     device_stats(&self->dev, GPROF_STATS_ALL_CPUS, &st));
	EXPECT_LE(5, st.out_produced);
}

TEST_F(user, may_record_another_process_of_theirs)
{
	MAKE_CHILD();
	expect_recorded(_metadata, self);
}

TEST_F(user, may_ask_for_info)
{
	struct gprof_info info = { .size = sizeof(info) };
	int fd;

	ASSERT_EQ(0, become(USER));
	fd = device_open();
	ASSERT_LE(0, fd);
	EXPECT_EQ(0, device_ioctl(fd, GPROF_IOC_INFO, &info));
	close(fd);
}

TEST_F(user, sees_no_kernel_address_and_no_kernel_sample)
{
	struct tally t;
	char zeros[4096];
	uint64_t end;
	int fd;

	ASSERT_ZEROS(become(USER), device_record(&self->dev, &self->setup),
		     tally_init(&t, &self->dev));
	/* half of the time in the kernel */
	fd = open("/dev/zero", O_RDONLY);
	end = thread_cpu_ns() + 300000000;
	while (thread_cpu_ns() < end) {
		EXPECT_EQ(sizeof(zeros), read(fd, zeros, sizeof(zeros)));
		ASSERT_LE(0, reader_read(&t.reader));
	}
	close(fd);
	ASSERT_EQ(0, device_stop(&self->dev));
	ASSERT_LE(0, reader_read(&t.reader));
	EXPECT_LT(0, t.reader.samples);
	EXPECT_EQS(0, t.reader.kernel, 0, t.kernel_frames, 0, t.kernel_addresses);
	tally_free(&t);
}

/* ---- what is not ---- */
DENIED(the_process_of_another, TASK_DENIED, self->person.user = OTHER_USER; MAKE_CHILD())
DENIED(the_thread_of_another, TASK_DENIED,
	self->person.user = OTHER_USER; MAKE_CHILD(); self->setup.target = GPROF_TARGET_THREAD)
DENIED(a_process_of_root, TASK_DENIED, self->setup.id = 1)
DENIED(a_process_that_is_not_dumpable, TASK_DENIED, self->person.dumpable = false; MAKE_CHILD())

/* @arg: real, effective and saved group, and user. */
static void live_as(void *arg, int step)
{
	const uid_t *id = arg;

	if (step == 0) {
		if (setgroups(0, NULL) || setresgid(id[0], id[1], id[2]) ||
		    setresuid(id[3], id[4], id[5]))
			_exit(1);
		prctl(PR_SET_DUMPABLE, 1);
	}
}

#define LIVE_AS(...)	make_child(_metadata, self, live_as, (uid_t[]){ __VA_ARGS__ })

DENIED(a_process_with_a_foreign_group, TASK_DENIED,
	LIVE_AS(OTHER_USER, USER, USER, USER, USER, USER))
DENIED(a_process_that_can_become_root_again, TASK_DENIED, LIVE_AS(USER, USER, USER, USER, USER, 0))
/* Whose credentials are so without any capability: a set-user-ID program that went back. */
DENIED(a_process_that_can_become_another_user_again, TASK_DENIED,
	LIVE_AS(USER, USER, USER, USER, USER, OTHER_USER))
DENIED(a_process_that_can_take_a_foreign_group_again, TASK_DENIED,
	LIVE_AS(USER, USER, OTHER_USER, USER, USER, USER))

static void keep_one_capability(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { { .permitted = 1 << CAP_NET_RAW } };

	if (prctl(PR_SET_KEEPCAPS, 1) || become(USER) || syscall(SYS_capset, &head, data))
		_exit(1);
	prctl(PR_SET_DUMPABLE, 1);
}

static void live_with_capability(void *arg, int step)
{
	if (step == 0)
		keep_one_capability();
}

DENIED(a_process_of_theirs_with_more_capabilities, TASK_DENIED,
	make_child(_metadata, self, live_with_capability, NULL))

/* Where Debian's kernels have it that users may make no user namespaces, let them. */
static void allow_namespaces(void)
{
	file_write("/proc/sys/kernel/unprivileged_userns_clone", "1");
}

/* All capabilities of a namespace of one's own are none over those outside of it. */
TEST_F(user, is_denied_a_process_with_more_capabilities_from_a_namespace_of_theirs)
{
	allow_namespaces();
	make_child(_metadata, self, live_with_capability, NULL);
	ASSERT_ZEROS(become(USER), unshare(CLONE_NEWUSER));
	EXPECT_DENIED(EPERM, GPROF_REASON_TASK_DENIED);
}

static void live_in_namespace(void *arg, int step)
{
	if (step == 0 && (become(USER) || unshare(CLONE_NEWUSER)))
		_exit(1);
	burn_ns(100000000);
}

/* It has all capabilities there, and the namespace is its maker's. */
TEST_F(user, may_record_a_process_in_a_namespace_of_theirs)
{
	allow_namespaces();
	make_child(_metadata, self, live_in_namespace, NULL);
	expect_recorded(_metadata, self);
}

/* The first thread is the user's; the other, which the C library knows nothing of, is not. */
static void *stay_root(void *arg)
{
	for (;;)
		pause();
	return NULL;
}

static void mix_users(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, stay_root, NULL) ||
	    syscall(SYS_setresgid, USER, USER, USER) || syscall(SYS_setresuid, USER, USER, USER))
		_exit(1);
	prctl(PR_SET_DUMPABLE, 1);
}

static void live_mixed(void *arg, int step)
{
	if (step == 0)
		mix_users();
}

DENIED(a_process_of_which_one_thread_is_anothers, TASK_DENIED,
	make_child(_metadata, self, live_mixed, NULL))
DENIED(a_kernel_thread, TASK_DENIED, self->setup.id = 2)
DENIED(kernel_mode, KERNEL_DENIED, self->params.flags = GPROF_CPU_F_KERNEL)
DENIED(kernel_frames, KERNEL_DENIED, self->setup.stack |= GPROF_STACK_F_KERNEL)
DENIED(the_system, WIDE_DENIED, self->setup.target = GPROF_TARGET_SYSTEM; self->setup.id = 0)

DENIED(cpus, WIDE_DENIED, device_target_cpu(&self->setup, 0))
DENIED(cgroups, WIDE_DENIED,
	self->setup.target = GPROF_TARGET_CGROUP;
	self->setup.id = open("/sys/fs/cgroup", O_RDONLY | O_DIRECTORY);
	ASSERT_LE(0, self->setup.id))

TEST_F(user, is_denied_tracepoints)
{
	struct gprof_tracepoint_params params = { .size = sizeof(params), .period = 1 };
	long long id = tracepoint_id("sched", "sched_process_fork");

	ASSERT_LT(0, id);
	params.tracepoint = id;
	self->setup.kind = GPROF_KIND_TRACEPOINT;
	self->setup.params = (uintptr_t)&params;
	ASSERT_EQ(0, become(USER));
	EXPECT_EQ(-EPERM, device_setup(&self->dev, &self->setup));
	EXPECT_NE(GPROF_REASON_NONE, self->setup.out_reason);
}

/* Which perf answers with an errno of its own. Found by fuzz_test. */
TEST_F(user, is_denied_dynamic_probes)
{
	long long type = file_number("/sys/bus/event_source/devices/kprobe/type");

	SKIP_UNLESS(type >= 0, "the kernel has no dynamic probes");
	self->params = event_params(type, 0, 1000);
	ASSERT_EQ(0, become(USER));
	EXPECT_DENIED(EPERM, GPROF_REASON_EXCLUDE);
}

/* ---- what the administrator has closed ---- */

#define PARANOID	"/proc/sys/kernel/perf_event_paranoid"

/* A user's SETUP for their own process: 0, the reason of EPERM, or 255. */
static int reason_for_user(const void *params)
{
	struct gprof_setup setup;
	struct device dev;
	int status, err;
	pid_t pid = fork();

	if (!pid) {
		setup = device_setup_of(GPROF_TARGET_PROCESS, getpid(), params);
		setup.buffer_size = SMALL;
		err = become(USER) ?: device_setup(&dev, &setup);
		_exit(err && err != -EPERM ? 255 : (int)setup.out_reason);
	}
	status = reap(pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

TEST_F(user, is_denied_events_where_perf_is_closed_to_users)
{
	struct gprof_cpu_params timer = self->params;
	long long level = file_number(PARANOID);
	char text[32];

	ASSERT_LE(-1, level);
	self->params = event_params(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 100);
	ASSERT_EQ(0, file_write(PARANOID, "3"));
	EXPECT_EQ(GPROF_REASON_PARANOID, reason_for_user(&self->params));
	/* the timer is not perf's, and root is not meant */
	EXPECT_ZEROS(reason_for_user(&timer), device_setup(&self->dev, &self->setup));
	ASSERT_EQ(0, file_write(PARANOID, "2"));
	EXPECT_EQ(0, reason_for_user(&self->params));
	snprintf(text, sizeof(text), "%lld", level);
	EXPECT_EQ(0, file_write(PARANOID, text));
}

/* ---- privilege that changes on the way ---- */

static void live_and_hide(void *arg, int step)
{
	if (step == 0 && become(USER))
		_exit(1);
	if (step == 1)
		prctl(PR_SET_DUMPABLE, 0);
}

/* What was the user's at SETUP is looked at again at START. */
static void expect_denied_at_start(struct __test_metadata *_metadata, FIXTURE_DATA(user) *self)
{
	struct gprof_start start = { .size = sizeof(start) };

	make_child(_metadata, self, live_and_hide, NULL);
	ASSERT_ZEROS(become(USER), device_setup(&self->dev, &self->setup),
		     child_step(&self->child));
	EXPECT_EQ(-EPERM, device_ioctl(self->dev.fd, GPROF_IOC_START, &start));
	EXPECT_EQ(GPROF_REASON_TASK_DENIED, start.out_reason);
}

#define HIDES(_name, ...)						\
TEST_F(user, is_denied_##_name##_that_hides_between_setup_and_start)	\
{									\
	__VA_ARGS__;							\
	expect_denied_at_start(_metadata, self);			\
}

#define COUNT_FAULTS()							\
	(self->params = event_params(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 100))

HIDES(a_target)
HIDES(counters_of_a_target, COUNT_FAULTS())
HIDES(counters_of_a_thread, COUNT_FAULTS(); self->setup.target = GPROF_TARGET_THREAD)

TEST_F(user, is_denied_statistics_of_a_target_that_hides_between_setup_and_start)
{
	struct gprof_sched_params params = { .size = sizeof(params) };

	self->setup = device_setup_kind(GPROF_KIND_SCHED, GPROF_TARGET_PROCESS, 0, &params);
	expect_denied_at_start(_metadata, self);
}

#define HIDERS	400	/* threads; to attach to them takes a while */
#define TRIES	11

/* A process that hides amid START. */
struct hiding {
	uint64_t go;	/* START is about to begin */
	uint64_t after_ns;	/* how long later it hides */
	uint64_t hidden_ns;	/* when it had; 0: not yet */
};

static void *hide_amid(void *arg)
{
	struct hiding *h = arg;
	uint64_t go;

	while (!(go = __atomic_load_n(&h->go, __ATOMIC_ACQUIRE)))
		sched_yield();
	while (monotonic_ns() < go + h->after_ns)
		;
	prctl(PR_SET_DUMPABLE, 0);
	__atomic_store_n(&h->hidden_ns, monotonic_ns(), __ATOMIC_RELEASE);
	return NULL;
}

static void live_and_hide_amid(void *arg, int step)
{
	pthread_attr_t attr;
	pthread_t thread;

	if (step)
		return;
	if (!geteuid() && become(USER))
		_exit(1);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536);
	for (int i = 0; i < HIDERS; i++)
		if (pthread_create(&thread, &attr, stay_root, NULL))
			_exit(1);
	if (pthread_create(&thread, &attr, hide_amid, arg))
		_exit(1);
}

/*
 * All threads were the user's when START began, and not any more when it came to the last
 * of them: each is looked at as it is attached to. What START does before it attaches,
 * which looks as well, takes no time where another recorder has done it already.
 */
TEST_F(user, is_denied_counters_of_a_target_that_hides_amid_start)
{
	struct gprof_start start = { .size = sizeof(start) };
	uint64_t began, ended, after = 2000000000, lasts = 0;
	struct gprof_setup setup;
	struct device keeper;
	unsigned int amid = 0;
	struct hiding *h;
	int i, ret;

	h = shared_memory(sizeof(*h));
	self->params = event_params(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 100);
	ASSERT_EQ(0, limit_memlock(RLIM_INFINITY));
	setup = self->setup;
	ASSERT_EQ(0, device_record(&keeper, &setup));
	for (i = 0; i < TRIES; i++) {
		*h = (struct hiding){ .after_ns = after };
		make_child(_metadata, self, live_and_hide_amid, h);
		if (!i) {
			ASSERT_EQ(0, become(USER));
		}
		ASSERT_EQ(0, device_setup(&self->dev, &self->setup))
			TH_LOG("reason %u", self->setup.out_reason);
		began = monotonic_ns();
		__atomic_store_n(&h->go, began, __ATOMIC_RELEASE);
		ret = device_ioctl(self->dev.fd, GPROF_IOC_START, &start);
		ended = monotonic_ns();
		while (!__atomic_load_n(&h->hidden_ns, __ATOMIC_ACQUIRE))
			sched_yield();
		/* The last of them come in the last fifth of it. */
		if (!ret && h->hidden_ns < ended)
			EXPECT_LT(ended - (ended - began) / 5, h->hidden_ns);
		if (ret) {
			EXPECT_EQS(-EPERM, ret, GPROF_REASON_TASK_DENIED, start.out_reason);
			amid += h->hidden_ns > began + lasts / 10;
		}
		device_close(&self->dev);
		child_end(&self->child);
		/*
		 * First what it takes alone; then into the midst of it. The first one may
		 * have taken longer than any other, as the machine stood still.
		 */
		if (!ret && h->hidden_ns >= ended)
			lasts = ended - began;
		if (lasts)
			after = lasts * (2 + i % 5) / 10;
	}
	TH_LOG("START takes %llu us alone; %u of %u denied amid it", us_of(lasts), amid,
	       TRIES - 1);
	EXPECT_LT(0, amid);
	device_close(&keeper);
	munmap(h, sizeof(*h));
}

#define SETUID_PATH	"/tmp/gprof_setuid_burner"


/* @arg: shared; burns until it says that enough was burned. */
static void burn_and_exec_setuid(void *arg, int step)
{
	const volatile bool *enough = arg;

	if (step == 0) {
		if (become(USER))
			_exit(1);
		return;
	}
	if (!*enough) {
		burn_ns(200000000);
		return;
	}
	execl(SETUID_PATH, "burner", "300", (char *)NULL);
	_exit(127);
}

static void record_setuid(struct __test_metadata *_metadata, FIXTURE_DATA(user) *self,
			  uint32_t kind_of_target, uid_t owner, mode_t mode)
{
	volatile bool *enough = shared_memory(sizeof(*enough));
	struct gprof_stats st;
	uint64_t before = 0;
	struct tally t;
	int i;

	ASSERT_ZEROS(install_program(NULL, SETUID_PATH, owner, mode),
		     child_fork(&self->child, burn_and_exec_setuid, (void *)enough),
		     child_step(&self->child), become(USER));
	self->setup.target = kind_of_target;
	self->setup.id = self->child.pid;
	ASSERT_ZEROS(device_record(&self->dev, &self->setup), tally_init(&t, &self->dev));
	/* time that a busy host takes away counts as burned, and brings no sample */
	for (i = 0; i < 50 && before < 10; i++) {
		ASSERT_EQ(0, child_step(&self->child));
		ASSERT_EQ(0, device_stats(&self->dev, GPROF_STATS_ALL_CPUS, &st));
		before = st.out_produced;
	}
	EXPECT_LE(10, before);
	*enough = true;
	ASSERT_EQ(0, child_begin(&self->child));
	EXPECT_EQ(0, reap(self->child.pid));
	READER_END(&t.reader, &st);
	/* the exec itself may still be sampled, what comes after may not */
	EXPECT_GE(before + 30, st.out_produced);
	EXPECT_EQ(1, tally_runs(&t, self->child.pid));
	EXPECT_FALSE(tally_has_map(&t, self->child.pid, SETUID_PATH));
	tally_free(&t);
}

#define LOSES(_name, _target, _mode)					\
TEST_F(user, loses_##_name)						\
{									\
	record_setuid(_metadata, self, GPROF_TARGET_##_target, OTHER_USER, _mode); \
}

LOSES(a_task_that_executes_a_set_user_id_program, PROCESS, 04755)
LOSES(a_thread_that_executes_a_set_user_id_program, THREAD, 04755)
LOSES(a_task_that_executes_a_set_group_id_program, PROCESS, 02755)
LOSES(a_task_that_executes_an_unreadable_program, PROCESS, 0711)

TEST_F(user, root_keeps_a_task_that_executes_a_set_user_id_program)
{
	volatile bool *enough = shared_memory(sizeof(*enough));
	struct gprof_stats st;
	struct tally t;

	ASSERT_EQ(0, install_program(NULL, SETUID_PATH, OTHER_USER, 04755));
	make_child(_metadata, self, burn_and_exec_setuid, (void *)enough);
	ASSERT_ZEROS(device_record(&self->dev, &self->setup), tally_init(&t, &self->dev),
		     child_step(&self->child));
	*enough = true;
	ASSERT_EQ(0, child_begin(&self->child));
	reap(self->child.pid);
	READER_END(&t.reader, &st);
	EXPECT_EQ(2, tally_runs(&t, self->child.pid));
	EXPECT_LE(100, tally_weight_of(&t, self->child.pid) / 1000000);
	tally_free(&t);
}

static void exec_setuid_with_faults(void *arg, int step)
{
	if (step == 0) {
		if (become(USER))
			_exit(1);
		return;
	}
	execl(SETUID_PATH, "burner", "+300", (char *)NULL);
	_exit(127);
}

/* Recorders that ask for the same have one counter, which an exec takes from the user alone. */
TEST_F(user, loses_what_root_keeps_of_a_counter_that_both_ask_for)
{
	struct device root = { 0 };
	struct gprof_stats st;

	ASSERT_EQ(0, install_program(NULL, SETUID_PATH, OTHER_USER, 04755));
	ASSERT_EQ(0, child_fork(&self->child, exec_setuid_with_faults, NULL));
	ASSERT_EQ(0, child_step(&self->child));
	self->params = event_params(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 10);
	self->setup.id = self->child.pid;
	ASSERT_ZEROS(device_record(&root, &self->setup), become(USER),
		     device_record(&self->dev, &self->setup), child_begin(&self->child));
	EXPECT_EQ(0, child_reap(&self->child));
	ASSERT_ZEROS(device_stop(&self->dev), device_stop(&root),
		     device_stats(&root, GPROF_STATS_ALL_CPUS, &st));
	/* perf throttles as many faults as there are here, more so where interrupts take long. */
	EXPECT_LE(1, st.out_produced);
	ASSERT_EQ(0, device_stats(&self->dev, GPROF_STATS_ALL_CPUS, &st));
	/* those of the exec itself are some hundred faults */
	EXPECT_GE(50, st.out_produced);
	device_close(&root);
}

/* A recorder that was given away does not lend its privilege, nor take any. */
TEST_F(user, recorder_keeps_the_privilege_that_it_was_set_up_with)
{
	struct gprof_stats st;

	self->setup = device_setup_of(GPROF_TARGET_SYSTEM, 0, &self->params);
	ASSERT_ZEROS(device_record(&self->dev, &self->setup), become(USER));
	burn_ns(50000000);
	EXPECT_ZEROS(device_stop(&self->dev), device_stats(&self->dev, GPROF_STATS_ALL_CPUS, &st));
	EXPECT_LT(0, st.out_produced);
}

/* ---- the thread that works for a user ---- */

struct owner {
	struct gprof_setup setup;
	struct device dev;
	bool privileged;
};

static void sets_up(void *arg, int step)
{
	struct owner *o = arg;

	if (step) {
		device_close(&o->dev);
		return;
	}
	if (setgroups(0, NULL) || setresgid(USER, USER, USER) ||
	    setresuid(USER, o->privileged ? 0 : USER, 0))
		_exit(1);
	if (device_setup(&o->dev, &o->setup))
		_exit(2);
}

static bool threads_join_v2(void)
{
	struct utsname name;

	return !uname(&name) && strncmp(name.release, "5.10.", 5);
}

/* A service that ends is not held up by another of the same user. */
TEST_F(user, has_the_cgroup_of_each_recorder_charged_for_what_is_done_for_it)
{
	char path[2][MEMORY_CGROUP_PATH];
	struct child child[3];
	struct owner owner;

	SKIP_UNLESS(kernel_has_cgroups(), "this kernel has no cgroups");
	SKIP_UNLESS(threads_join_v2(), "on 5.10 a module has threads join cgroups of v1 alone");
	ASSERT_ZEROS(cgroup_make(path[0], "first"), cgroup_make(path[1], "second"));
	make_child(_metadata, self, live, &self->person);
	for (int i = 0; i < 3; i++) {
		owner = (struct owner){ .setup = self->setup, .dev.fd = -1, .privileged = i == 2 };
		ASSERT_ZEROS(child_fork(&child[i], sets_up, &owner),
			     memory_cgroup_enter(path[i & 1], child[i].pid), child_step(&child[i]));
	}
	EXPECT_NE(0, thread_for(USER, strrchr(path[0], '/')));
	EXPECT_NE(0, thread_for(USER, strrchr(path[1], '/')));
	EXPECT_NE(0, thread_for(USER, "/"));

	/* Those of the first cgroup close theirs. */
	ASSERT_ZEROS(child_step(&child[0]), child_step(&child[2]));
	child_end(&child[0]);
	child_end(&child[2]);
	EXPECT_TRUES(thread_ends(USER, strrchr(path[0], '/')), thread_ends(USER, "/"));
	EXPECT_EQ(0, rmdir(path[0]));
	EXPECT_NE(0, thread_for(USER, strrchr(path[1], '/')));
	child_end(&child[1]);
	EXPECT_TRUE(thread_ends(USER, strrchr(path[1], '/')));
	EXPECT_EQ(0, rmdir(path[1]));
}

/* ---- memory ---- */

/* A user has nothing beyond RLIMIT_MEMLOCK here, so that the limit alone counts. */
FIXTURE(memory) {
	struct gprof_cpu_params params;
	struct gprof_setup setup;
	struct device dev;
	int allowance;
	char before[16];
};

FIXTURE_SETUP(memory)
{
	SKIP_ALL_UNLESS(!geteuid(), "must be root to become another");
	self->params = timer_params(PERIOD_NS);
	self->setup = device_setup_of(GPROF_TARGET_PROCESS, getpid(), &self->params);
	ASSERT_EQ(0, file_read(ALLOWANCE, self->before, sizeof(self->before)));
	/* stays open, because it is written back by another user */
	self->allowance = open(ALLOWANCE, O_WRONLY);
	ASSERT_LE(0, self->allowance);
	ASSERT_EQ(1, write(self->allowance, "0", 1));
}

FIXTURE_TEARDOWN(memory)
{
	device_close(&self->dev);
	EXPECT_LT(0, pwrite(self->allowance, self->before, strlen(self->before), 0));
	close(self->allowance);
}

/* The least RLIMIT_MEMLOCK, within a factor of two, under which one recorder fits. */
static uint64_t enough_for_one(FIXTURE_DATA(memory) *self)
{
	struct rlimit limit = { 0, RLIM_INFINITY };
	struct device dev;

	for (uint64_t bytes = 65536; bytes < 1ULL << 32; bytes *= 2) {
		limit.rlim_cur = bytes;
		setrlimit(RLIMIT_MEMLOCK, &limit);
		if (!device_setup(&dev, &self->setup)) {
			device_close(&dev);
			return bytes;
		}
	}
	return 0;
}

static void as_user_with(struct __test_metadata *_metadata, FIXTURE_DATA(memory) *self,
			 uint64_t memlock)
{
	setrlimit(RLIMIT_MEMLOCK, &(struct rlimit){ memlock, RLIM_INFINITY });
	ASSERT_EQ(0, become(USER));
	if (memlock < 1 << 20)
		self->setup.buffer_size = 1 << 20;
}

/* As perf has perf_event_mlock_kb. */
TEST_F(memory, perf_event_mlock_kb_comes_on_top_of_the_limit)
{
	ASSERT_EQ(4, pwrite(self->allowance, "4096", 4, 0));
	ASSERT_ZEROS(limit_memlock(65536), become(USER));
	self->setup.buffer_size = 1 << 20;
	EXPECT_EQ(0, device_setup(&self->dev, &self->setup));
	device_close(&self->dev);
	ASSERT_EQ(1, pwrite(self->allowance, "0", 1, 0));
	EXPECT_EQ(-ENOMEM, device_setup(&self->dev, &self->setup));
}

TEST_F(memory, buffers_are_charged_to_rlimit_memlock)
{
	struct device second;
	uint64_t bytes;

	as_user_with(_metadata, self, 65536);
	EXPECT_EQ(-ENOMEM, device_setup(&self->dev, &self->setup));
	EXPECT_EQ(GPROF_REASON_MEMLOCK, self->setup.out_reason);
	bytes = enough_for_one(self);
	TH_LOG("%llu bytes for one of 1 MiB per CPU", ull(bytes));
	/* all of the data at least */
	EXPECT_LE((1 << 20) * nr_present_cpus(), bytes);
	ASSERT_EQ(0, device_setup(&self->dev, &self->setup));
	EXPECT_EQ(-ENOMEM, device_setup(&second, &self->setup));
	EXPECT_EQ(GPROF_REASON_MEMLOCK, self->setup.out_reason);
	/* and given back at close */
	device_close(&self->dev);
	EXPECT_EQ(0, device_setup(&self->dev, &self->setup));
}

TEST_F(memory, charge_is_given_back_after_mmap_and_start_too)
{
	as_user_with(_metadata, self, 65536);
	ASSERT_LT(0, enough_for_one(self));
	for (int i = 0; i < 20; i++) {
		ASSERT_EQ(0, device_record(&self->dev, &self->setup)) TH_LOG("life %d", i);
		device_close(&self->dev);
	}
	/* a failed setup is not charged either */
	self->params.type = 0x7fff;
	for (int i = 0; i < 20; i++)
		EXPECT_EQ(-ENOENT, device_setup(&self->dev, &self->setup));
	self->params = timer_params(PERIOD_NS);
	EXPECT_EQ(0, device_setup(&self->dev, &self->setup));
}

TEST_F(memory, charge_is_given_back_when_the_owner_dies)
{
	struct device dev;
	pid_t pid;

	as_user_with(_metadata, self, 65536);
	ASSERT_LT(0, enough_for_one(self));
	for (int i = 0; i < 5; i++) {
		pid = fork();
		ASSERT_LE(0, pid);
		if (!pid) {
			self->setup.id = getpid();
			if (!device_record(&dev, &self->setup))
				pause();
			_exit(1);
		}
		sleep_ms(100);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	self->setup.id = getpid();
	for (int i = 0; i < 100 && device_setup(&self->dev, &self->setup); i++)
		sleep_ms(20);
	EXPECT_LE(0, self->dev.fd);
}

/* Sets a trace of oneself up in a file that one was given, and ends. */
static int sets_up_and_ends(int fd)
{
	const struct gprof_trace_params params = { .size = sizeof(params) };
	struct gprof_setup setup = device_setup_kind(GPROF_KIND_TRACE, GPROF_TARGET_PROCESS,
						     getpid(), &params);
	const struct rlimit enough = { 16 << 20, RLIM_INFINITY };

	return setrlimit(RLIMIT_MEMLOCK, &enough) || become(USER) ||
	       device_ioctl(fd, GPROF_IOC_SETUP, &setup);
}

/* The table is charged to the recorder, the thread that looks at it to who asks. */
TEST_F(memory, a_trigger_that_is_refused_is_not_charged)
{
	struct gprof_trigger t = trigger_of(GPROF_TRIGGER_OFF_CPU, 0);
	int i;

	self->dev.fd = device_open();
	ASSERT_LE(0, self->dev.fd);
	ASSERT_EQ(0, IN_CHILD(sets_up_and_ends(self->dev.fd)));
	setrlimit(RLIMIT_MEMLOCK, &(struct rlimit){ 0, RLIM_INFINITY });
	ASSERT_EQ(0, become(OTHER_USER));
	for (i = 0; i < 1100; i++) {
		ASSERT_EQ(-ENOMEM, device_trigger(&self->dev, &t));
		ASSERT_EQ(GPROF_REASON_MEMLOCK, t.out_reason);
	}
	setrlimit(RLIMIT_MEMLOCK, &(struct rlimit){ 16 << 20, RLIM_INFINITY });
	EXPECT_EQ(0, device_trigger(&self->dev, &t));
}

/* A limit that every process has for itself would be none. */
TEST_F(memory, charge_is_shared_by_all_processes_of_a_user)
{
	struct device dev;

	as_user_with(_metadata, self, 65536);
	ASSERT_LT(0, enough_for_one(self));
	ASSERT_EQ(0, device_setup(&self->dev, &self->setup));
	EXPECT_EQ(0, IN_CHILD((self->setup.id = getpid(),
			       device_setup(&dev, &self->setup) != -ENOMEM)));
}

#define MANY	800

/* They sleep, and end with who made them. */
static void fork_many(struct __test_metadata *_metadata)
{
	pid_t group = 0;

	for (int i = 0; i < MANY; i++) {
		pid_t pid = fork_bound();

		ASSERT_LE(0, pid);
		while (!pid)
			pause();
		if (!group)
			group = pid;
		setpgid(pid, group);
		/* a worker makes what the next ones need */
		if (i % 32 == 31)
			sleep_ms(20);
	}
	kill(-group, SIGKILL);
	while (waitpid(-1, NULL, 0) > 0)
		;
}


/* What the kernel keeps of each process of a target, for as long as it lives. */
TEST_F(memory, processes_that_are_forked_later_are_charged)
{
	long first, before, after;

	setrlimit(RLIMIT_NPROC, &(struct rlimit){ 4 * MANY, 4 * MANY });
	as_user_with(_metadata, self, 64 << 20);
	first = least_memlock();
	ASSERT_LT(0, first);
	ASSERT_EQ(0, device_record(&self->dev, &self->setup));
	before = least_memlock();
	ASSERT_LT(0, before);
	fork_many(_metadata);
	after = least_memlock();
	TH_LOG("%ld pages more for %d processes", after - before, MANY);
	/* 256 are paid for beforehand; of each more than a hundred bytes */
	EXPECT_LE((MANY - 256) * 100 / sysconf(_SC_PAGESIZE), after - before);
	/* and given back with the recorder */
	device_close(&self->dev);
	EXPECT_EQ(first, least_memlock());
}

/* And of one that has ended no more than of one that never was, however many there were. */
TEST_F(memory, processes_that_have_ended_are_charged_no_more)
{
	struct gprof_stats st;
	long before;

	as_user_with(_metadata, self, 64 << 20);
	ASSERT_EQ(0, device_record(&self->dev, &self->setup));
	/* what is forked ahead of the worker that frees is paid for once more */
	for (int i = 0; i < 300; i++)
		ASSERT_EQ(0, IN_CHILD(0));
	before = least_memlock();
	ASSERT_LT(0, before);
	for (int i = 0; i < 1000; i++)
		ASSERT_EQ(0, IN_CHILD(0));
	EXPECT_GE(before + 4, least_memlock());
	ASSERT_ZEROS(device_stop(&self->dev), device_stats(&self->dev, GPROF_STATS_ALL_CPUS, &st));
	EXPECT_EQ(0, st.out_lost[GPROF_LOST_NO_BUFFER]);
}

/* Nor is it forgotten when there is no more: what is missing is told. */
TEST_F(memory, processes_that_cannot_be_paid_for_are_told_as_lost)
{
	struct gprof_stats st, one;
	uint64_t of_buffers = 0;
	long least;

	setrlimit(RLIMIT_NPROC, &(struct rlimit){ 4 * MANY, 4 * MANY });
	as_user_with(_metadata, self, 64 << 20);
	least = least_memlock();
	ASSERT_LT(0, least);
	/* as least_memlock() asks for, and not a page more */
	setrlimit(RLIMIT_MEMLOCK, &(struct rlimit){ least * sysconf(_SC_PAGESIZE),
						    RLIM_INFINITY });
	self->setup.buffer_size = 4096;
	ASSERT_EQ(0, device_record(&self->dev, &self->setup));
	fork_many(_metadata);
	ASSERT_ZEROS(device_stop(&self->dev), device_stats(&self->dev, GPROF_STATS_ALL_CPUS, &st));
	EXPECT_LE(MANY - 256 - 64, st.out_lost[GPROF_LOST_NO_BUFFER]);
	/* one of these is the target's own */
	EXPECT_GE(MANY - 255, st.out_lost[GPROF_LOST_NO_BUFFER]);
	/* and as produced, beside those of the buffers */
	for (unsigned int cpu = 0; cpu < self->dev.nr_cpus; cpu++)
		if (!device_stats(&self->dev, cpu, &one))
			of_buffers += one.out_produced;
	EXPECT_EQ(of_buffers + st.out_lost[GPROF_LOST_NO_BUFFER], st.out_produced);
}

TEST_F(memory, root_is_not_charged)
{
	ASSERT_EQ(0, limit_memlock(0));
	self->setup.buffer_size = 1 << 20;
	EXPECT_EQ(0, device_setup(&self->dev, &self->setup));
}

/* Recorders without end: refused at some point, and the host goes on. */
TEST_F(memory, is_not_there_for_recorders_without_end)
{
	static struct device devs[1024];
	int i, nr, ret = 0;

	setrlimit(RLIMIT_NOFILE, &(struct rlimit){ 4096, 4096 });
	ASSERT_ZEROS(limit_memlock(8 << 20), become(USER));
	self->setup.buffer_size = 4096;
	for (nr = 0; nr < 1024; nr++) {
		ret = device_setup(&devs[nr], &self->setup);
		if (ret)
			break;
	}
	TH_LOG("%d recorders within 8 MiB", nr);
	EXPECT_EQS(-ENOMEM, ret, GPROF_REASON_MEMLOCK, self->setup.out_reason);
	EXPECT_LT(0, nr);
	for (i = 0; i < nr; i++)
		device_close(&devs[i]);
	EXPECT_EQ(0, device_setup(&self->dev, &self->setup));
}

TEST_HARNESS_MAIN
