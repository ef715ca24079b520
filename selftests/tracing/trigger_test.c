// SPDX-License-Identifier: GPL-2.0-only
/*
 * trigger_test: each trigger fires for what it is for, of whom it was and for how long it
 * lasted, and for nothing else.
 *
 * Who is told of is a child that begins blocked, which is not measured, and does what is
 * asked for in one step; in real time, so that nobody else makes it wait.
 */
#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/ptrace.h>
#include "genl.h"

#define BUFFER_SIZE	(1 << 20)
#define TIMES		100
#include "trigger.h"

/*
 * A busy machine may stop the guest between a cause and the kernel's look at the clock: by
 * less than the difference between the two.
 */
#define LONG_MS		50
#define NEVER_NS	(100000 * MS)
#define STILL_MS	60000	/* an emulator's CPU may stand still for so long (vm/run says so) */

#define START() do {								\
	ASSERT_EQ(0, device_start(&self->dev));					\
	ASSERT_EQ(0, trace_words_init(&self->words, &self->dev));		\
} while (0)

static void read_marks(struct __test_metadata *_metadata, FIXTURE_DATA(trigger) *self)
{
	EXPECT_EQ(0, self->dev.flight ? trace_words_snapshot(&self->words) :
					trace_words_read(&self->words));
	EXPECT_STREQS("", self->words.reader.error, "", self->words.error);
	EXPECT_EQ(0, self->words.reader.unknown);
}

static const struct trace_mark *mark_of(FIXTURE_DATA(trigger) *self,
					const struct gprof_trigger_event *f)
{
	for (size_t i = 0; i < self->words.nr_marks; i++) {
		const struct gprof_trigger_rec *m = &self->words.marks[i].rec;

		if (m->index == f->index && m->duration_ns == f->duration_ns && m->tid == f->tid &&
		    m->time - f->time < MS &&
		    m->rec.flags == (f->flags & GPROF_TRIGGER_EVENT_F_GOES_ON))
			return &self->words.marks[i];
	}
	return NULL;
}

/* Stops; each firing has a mark in the rings, and the ledger is right. */
static void end(struct __test_metadata *_metadata, FIXTURE_DATA(trigger) *self)
{
	struct gprof_stats st = { 0 };

	EXPECT_EQ(0, device_stop(&self->dev));
	ASSERT_EQ(0, take(self));
	read_marks(_metadata, self);
	EXPECT_EQ(self->nr, self->words.nr_marks);
	for (unsigned int i = 0; i < self->nr; i++) {
		const struct gprof_trigger_event *f = &self->fired[i];

		EXPECT_EQ(0, f->flags & GPROF_TRIGGER_EVENT_F_UNMARKED);
		EXPECT_NE(NULL, mark_of(self, f));
	}
	EXPECT_EQ(0, device_stats(&self->dev, GPROF_STATS_ALL_CPUS, &st));
	EXPECT_EQ(st.out_produced, self->words.samples + device_lost(&st) + st.out_overwritten);
	EXPECT_EQ(0, self->last.untracked);
}

#define END()	end(_metadata, self)

/* From the child's next step to what came of it. */
#define RECORD() do {								\
	START();								\
	RUN();									\
	END();									\
} while (0)

/*
 * Fired once for each of the child's causes, of nobody but the child, and none else did.
 * Where the host is busy the child may have to wait at other times too.
 */
static void expect(struct __test_metadata *_metadata, FIXTURE_DATA(trigger) *self, uint32_t index,
		   unsigned int causes, uint64_t longer_ns)
{
	unsigned int i, j, n;
	pid_t tid = self->setup.id;

	EXPECT_EQS(causes, self->told->done, self->nr, fired_by(self, index, 0));
	for (i = 0; i < self->nr; i++) {
		const struct gprof_trigger_event *f = &self->fired[i];

		EXPECT_EQS(tid, f->tid, tid, f->pid);
		EXPECT_STREQ("trigger_test", f->comm);
		EXPECT_LT(longer_ns, f->duration_ns + !longer_ns);
		EXPECT_EQS(i + 1, f->fired, 0, f->suppressed);
		EXPECT_GE(monotonic_ns(), f->time);
		EXPECT_GT(self->dev.nr_cpus, f->cpu);
		if (f->index != index || f->tid != tid)
			TH_LOG("trigger %u, %u/%u (%d), number %d, %llu us, flags %u", f->index,
			       f->pid, f->tid, tid, f->number, us_of(f->duration_ns), f->flags);
	}
	for (i = 0; i < causes; i++) {
		for (n = j = 0; j < self->nr; j++)
			n += self->fired[j].time >= self->told->began[i] &&
			     self->fired[j].time <= self->told->ended[i];
		EXPECT_EQ(1, n) TH_LOG("cause %u", i);
	}
	if (self->nr != causes)
		TH_LOG("%u firings for %u causes", self->nr, causes);
}

#define EXPECT_FIRED(_index, _times, _longer)	expect(_metadata, self, _index, _times, _longer)

/* ---- what children do ---- */

static void begins(struct told *t)
{
	while (t->done >
	       __atomic_load_n(&t->taken, __ATOMIC_RELAXED) + GPROF_TRIGGER_EVENTS_MAX / 2)
		rest(1);
	t->began[t->done] = monotonic_ns();
}

static void ends(struct told *t)
{
	t->ended[t->done++] = monotonic_ns();
}

static void sleeps(void *arg, int step)
{
	hurry(60);
	for (unsigned int i = 0; i < TIMES; i++) {
		begins(arg);
		rest(LONG_MS);
		ends(arg);
	}
	_exit(0);
}

/*
 * Off its CPU for so long each time. An emulator's CPU may stand still between the start of
 * the timer and the switch, for most of the time: that sleep is none, and is repeated. So is
 * a sleep of about the limit: what is taken here for its length includes the calls around it.
 */
static void is_off_its_cpu(void *arg, int step)
{
	struct told *t = arg;
	uint64_t ran, off;

	hurry(60);
	for (unsigned int i = 0; i < TIMES; i++) {
		do {
			begins(t);
			ran = thread_cpu_ns();
			rest(LONG_MS);
			ran = thread_cpu_ns() - ran;
			off = monotonic_ns() - t->began[t->done] - ran;
		} while (off < 2 * LIMIT_NS);
		ends(t);
	}
	_exit(0);
}

/* Nobody takes what it is the cause of. */
static void sleeps_on(void *arg, int step)
{
	for (unsigned int i = 0; i < TIMES; i++)
		rest(LONG_MS);
	_exit(0);
}

static int hog_to, hog_from, hog_cpu;

/* In between the CPU is left alone: the kernel lets others at it after 95 percent of a second. */
static void is_kept_waiting(void *arg, int step)
{
	char c = 0;

	pin_to(hog_cpu);
	hurry(60);
	for (unsigned int i = 0; i < TIMES; i++) {
		rest(LONG_MS / 5);
		begins(arg);
		if (write(hog_to, &c, 1) != 1 || read(hog_from, &c, 1) != 1)
			_exit(1);
		ends(arg);
	}
	_exit(0);
}

/* Wakes who asks, on the same CPU, and lets it wait. */
static void hog(int from, int to)
{
	struct sched_param p = { .sched_priority = 61 };
	char c;

	pin_to(hog_cpu);
	sched_setscheduler(0, SCHED_FIFO, &p);
	while (read(from, &c, 1) == 1) {
		if (write(to, &c, 1) != 1)
			break;
		burn_until(monotonic_ns() + LONG_MS * MS);
	}
	_exit(0);
}

/* Whoever makes a child by vfork() sleeps, not to be interrupted, until it has ended. */
static void vforks(void *arg, int step)
{
	hurry(60);
	for (unsigned int i = 0; i < TIMES; i++) {
		pid_t pid;

		begins(arg);
		pid = vfork();
		if (!pid) {
			rest(LONG_MS);
			_exit(0);
		}
		ends(arg);
		waitpid(pid, NULL, 0);
	}
	_exit(0);
}

static void *is_a_thread(void *arg)
{
	pause();
	return NULL;
}

/* Some end of themselves, or by another signal; of threads all do at once. */
static void is_killed(void *arg, int step)
{
	struct told *told = arg;
	pthread_t thread;

	for (unsigned int i = 0; i < 3 * TIMES; i++) {
		pid_t pid = fork();

		if (!pid) {
			for (unsigned int j = 0; i % 3 == 0 && j < 3; j++)
				pthread_create(&thread, NULL, is_a_thread, NULL);
			if (i % 3 == 1)
				_exit(SIGTERM);
			kill(getpid(), i % 3 ? SIGUSR1 : SIGTERM);
			pause();
		}
		if (i % 3 == 0)
			told->pids[told->nr++] = pid;
		waitpid(pid, NULL, 0);
	}
	_exit(0);
}

/* Slower than who kills it. */
static void *ends_by_itself(void *arg)
{
	struct sched_param p = { 0 };
	struct told *told = arg;

	sched_setscheduler(0, SCHED_IDLE, &p);
	__atomic_store_n(&told->thread, gettid(), __ATOMIC_RELEASE);
	while (__atomic_load_n(&told->thread, __ATOMIC_ACQUIRE))
		rest(1);
	syscall(SYS_exit, 0);
	return NULL;
}

static void killed_amid_an_end(struct told *told)
{
	pthread_t thread;

	pin_to(sched_getcpu());
	pthread_create(&thread, NULL, ends_by_itself, told);
	while (!__atomic_load_n(&told->ending, __ATOMIC_ACQUIRE))
		rest(1);
	kill(getpid(), SIGTERM);
	pause();
}

/* A process is killed while one of its threads ends by itself, and goes after the others. */
static void kills_who_end(void *arg, int step)
{
	struct told *told = arg;
	int status;
	pid_t tid;

	for (unsigned int i = 0; i < 10; i++) {
		pid_t pid = fork();

		if (!pid)
			killed_amid_an_end(told);
		while (!(tid = __atomic_load_n(&told->thread, __ATOMIC_ACQUIRE)))
			rest(1);
		if (ptrace(PTRACE_SEIZE, tid, NULL, PTRACE_O_TRACEEXIT))
			_exit(1);
		__atomic_store_n(&told->thread, 0, __ATOMIC_RELEASE);
		waitpid(tid, &status, __WALL);
		told->pids[told->nr++] = pid;
		__atomic_store_n(&told->ending, 1, __ATOMIC_RELEASE);
		waitpid(tid, &status, __WALL);
		waitpid(pid, &status, 0);
		if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGTERM)
			_exit(2);
		told->ending = 0;
	}
	_exit(0);
}

static void forks(void *arg, int step)
{
	for (unsigned int i = 0; i < TIMES; i++) {
		pid_t pid;

		begins(arg);
		pid = fork();
		if (!pid)
			_exit(0);
		ends(arg);
		waitpid(pid, NULL, 0);
	}
	_exit(0);
}

/* Until enough has come in between. */
static void burns(void *arg, int step)
{
	uint64_t end = monotonic_ns() + 60000 * MS;
	const struct told *t = arg;

	while (__atomic_load_n(&t->taken, __ATOMIC_RELAXED) < TIMES && monotonic_ns() < end)
		burn_until(monotonic_ns() + 10 * MS);
	_exit(0);
}

/* Each datagram to oneself is received by a softirq of who sends it. */
static void sends(void *arg, int step)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t length = sizeof(to);
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	char c = 0;

	if (fd < 0 || bind(fd, (void *)&to, sizeof(to)) || getsockname(fd, (void *)&to, &length))
		_exit(1);
	/* On a busy machine some are received by ksoftirqd, and are not this task's then. */
	for (unsigned int i = 0; i < 2 * TIMES; i++) {
		if (sendto(fd, &c, 1, 0, (void *)&to, length) != 1 || recv(fd, &c, 1, 0) != 1)
			_exit(1);
	}
	_exit(0);
}

#define CALLS	20000

static void calls(void *arg, int step)
{
	for (unsigned int i = 0; i < CALLS; i++)
		syscall(SYS_getppid);
	_exit(0);
}

static void sleeps_once(void *arg, int step)
{
	begins(arg);
	rest(2500);
	ends(arg);
	_exit(0);
}

static void vforks_once(void *arg, int step)
{
	begins(arg);
	if (!vfork()) {
		rest(2500);
		_exit(0);
	}
	ends(arg);
	_exit(0);
}

static void fills_cache(void *arg, int step)
{
	static char block[1 << 16];
	FILE *f = fopen("/tmp/gprof_trigger_cache", "w");

	memset(block, 1, sizeof(block));
	for (unsigned int i = 0; f && i < 600; i++)
		fwrite(block, sizeof(block), 1, f);
	_exit(0);
}

/* ---- each for itself ---- */

TEST_F(trigger, off_cpu)
{
	SETUP(is_off_its_cpu);
	SET(GPROF_TRIGGER_DELAY, NEVER_NS);
	EXPECT_EQ(1, SET(GPROF_TRIGGER_OFF_CPU, LIMIT_NS));
	SET(GPROF_TRIGGER_OFF_CPU, NEVER_NS);
	SET(GPROF_TRIGGER_BLOCKED, NEVER_NS);
	SET(GPROF_TRIGGER_SIGNAL, 0);
	RECORD();
	EXPECT_FIRED(1, TIMES, LIMIT_NS);
}

TEST_F(trigger, delay)
{
	int to[2], from[2];
	pid_t pid;

	SKIP_UNLESS(!geteuid(), "needs real-time priorities");
	ASSERT_ZEROS(pipe(to), pipe(from));
	hog_cpu = online_cpu(nr_online_cpus() - 1);
	pid = fork_bound();
	if (!pid)
		hog(to[0], from[1]);
	hog_to = to[1];
	hog_from = from[0];
	SETUP(is_kept_waiting);
	SET(GPROF_TRIGGER_DELAY, NEVER_NS);
	EXPECT_EQ(1, SET(GPROF_TRIGGER_DELAY, LIMIT_NS));
	SET(GPROF_TRIGGER_BLOCKED, NEVER_NS);
	SET(GPROF_TRIGGER_SIGNAL, 0);
	RECORD();
	EXPECT_FIRED(1, TIMES, LIMIT_NS);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

TEST_F(trigger, blocked)
{
	SETUP(vforks);
	SET(GPROF_TRIGGER_DELAY, NEVER_NS);
	EXPECT_EQ(1, SET(GPROF_TRIGGER_BLOCKED, LIMIT_NS));
	SET(GPROF_TRIGGER_BLOCKED, NEVER_NS);
	RECORD();
	EXPECT_FIRED(1, TIMES, LIMIT_NS);
}

TEST_F(trigger, system_call)
{
	struct gprof_trigger one = trigger_of(GPROF_TRIGGER_SYSCALL, LIMIT_NS);
	struct gprof_trigger other = trigger_of(GPROF_TRIGGER_SYSCALL, 0);

	SKIP_UNLESS(!geteuid(), "needs CAP_PERFMON");
	SETUP(sleeps);
	one.number = SYS_nanosleep;
	other.number = SYS_getppid;
	ASSERT_ZEROS(device_trigger(&self->dev, &other), device_trigger(&self->dev, &one));
	SET(GPROF_TRIGGER_SYSCALL, NEVER_NS);
	RECORD();
	EXPECT_FIRED(1, TIMES, LIMIT_NS);
	for (unsigned int i = 0; i < self->nr; i++)
		EXPECT_EQ(SYS_nanosleep, self->fired[i].number);
}

#ifdef __x86_64__
#define CALL32_GETPID		20
#define CALL32_POLL		168	/* not all kernels know a time of 32 bits */

static long call32(long nr, long timeout_ms)
{
	long ret;

	__asm__ volatile("int $0x80" : "=a" (ret) : "0" (nr), "b" (0), "c" (0), "d" (timeout_ms)
			 : "memory", "r8", "r9", "r10", "r11");
	return ret;
}

static bool has_call32(void)
{
	int status = 0;
	pid_t pid = fork();

	if (!pid)
		_exit(call32(CALL32_GETPID, 0) == getpid() ? 0 : 1);
	waitpid(pid, &status, 0);
	return !status;
}

static void sleeps_in_32_bits(void *arg, int step)
{
	hurry(60);
	for (unsigned int i = 0; i < TIMES; i++) {
		begins(arg);
		if (call32(CALL32_POLL, LONG_MS))
			_exit(1);
		ends(arg);
	}
	_exit(0);
}

/* It has another number there, and that number is another's here. */
TEST_F(trigger, system_call_of_32_bits)
{
	struct gprof_trigger namesake = trigger_of(GPROF_TRIGGER_SYSCALL, LIMIT_NS);
	struct gprof_trigger other = trigger_of(GPROF_TRIGGER_SYSCALL, LIMIT_NS);

	SKIP_UNLESS(!geteuid(), "needs CAP_PERFMON");
	SKIP_UNLESS(has_call32(), "needs a kernel that runs 32-bit programs");
	SETUP(sleeps_in_32_bits);
	namesake.number = CALL32_POLL;
	other.number = SYS_poll;
	ASSERT_ZEROS(device_trigger(&self->dev, &namesake), device_trigger(&self->dev, &other));
	EXPECT_EQ(2, SET(GPROF_TRIGGER_SYSCALL, LIMIT_NS));
	RECORD();
	EXPECT_FIRED(2, TIMES, LIMIT_NS);
	for (unsigned int i = 0; i < self->nr; i++)
		EXPECT_EQ(GPROF_TRIGGER_ANY, self->fired[i].number);
}
#endif

TEST_F(trigger, signal)
{
	struct gprof_trigger t = trigger_of(GPROF_TRIGGER_SIGNAL, 0);

	SETUP(is_killed);
	t.number = SIGKILL;
	ASSERT_EQ(0, device_trigger(&self->dev, &t));
	t.number = SIGTERM;
	ASSERT_EQ(0, device_trigger(&self->dev, &t));
	RECORD();
	EXPECT_EQS(TIMES, self->nr, TIMES, fired_by(self, 1, 0));
	for (unsigned int i = 0; i < self->nr && i < TIMES; i++) {
		EXPECT_EQS(self->told->pids[i], self->fired[i].pid, SIGTERM, self->fired[i].number,
			   0, self->fired[i].duration_ns);
	}
}

TEST_F(trigger, a_signal_while_a_thread_ends)
{
	SETUP(kills_who_end);
	SET(GPROF_TRIGGER_SIGNAL, 0);
	RECORD();
	EXPECT_EQS(10, self->told->nr, self->told->nr, self->nr);
	for (unsigned int i = 0; i < self->nr && i < self->told->nr; i++) {
		EXPECT_EQS(self->told->pids[i], self->fired[i].pid, SIGTERM, self->fired[i].number);
	}
}

TEST_F(trigger, tracepoint)
{
	struct gprof_trigger t = trigger_of(GPROF_TRIGGER_TRACEPOINT, 0);

	SKIP_UNLESS(!geteuid(), "needs CAP_PERFMON");
	SETUP(forks);
	t.name = (uintptr_t)"sched:sched_process_hang";
	ASSERT_TRUE(!device_trigger(&self->dev, &t) || t.out_reason == GPROF_REASON_TRIGGER);
	t.name = (uintptr_t)"task:task_newtask";
	if (kernel_checks_calls()) {
		/* One function for all of them is of the type of none. With a filter it is perf's. */
		EXPECT_EQS(-EOPNOTSUPP, device_trigger(&self->dev, &t), GPROF_REASON_TRIGGER, t.out_reason);
		return;
	}
	ASSERT_EQ(0, device_trigger(&self->dev, &t)) TH_LOG("reason %u", t.out_reason);
	RECORD();
	EXPECT_FIRED(t.out_index, TIMES, 0);
}

/* Passes where a bit of @value is in the @size bytes of a field of task:task_newtask. */
static bool has_bits(struct gprof_filter_step *step, const char *field, uint16_t size,
		     uint64_t value)
{
	FILE *f = fopen("/sys/kernel/tracing/events/task/task_newtask/format", "re");
	char line[256], name[64];
	unsigned int offset;
	bool found = false;

	if (!f)
		f = fopen("/sys/kernel/debug/tracing/events/task/task_newtask/format", "re");
	while (f && !found && fgets(line, sizeof(line), f))
		found = sscanf(line, " field:%*[^;]; offset:%u;", &offset) == 1 &&
			sscanf(strchr(line, ';') - strlen(field), "%63[^;]", name) == 1 &&
			!strcmp(name, field);
	if (f)
		fclose(f);
	*step = (struct gprof_filter_step){
		.what = GPROF_FILTER_UNSIGNED, .how = GPROF_FILTER_AND, .offset = offset,
		.size = size, .value = value, .yes = GPROF_FILTER_PASS, .no = GPROF_FILTER_DROP,
	};
	return found;
}

/* Children with an odd id, as the trace tells them. */
static unsigned int odd_forks(FIXTURE_DATA(trigger) *self)
{
	unsigned int n = 0;

	for (size_t i = 0; i < self->words.nr; i++)
		n += self->words.words[i].what == GPROF_TRACE_FORK && self->words.words[i].tid & 1;
	return n;
}

TEST_F(trigger, tracepoint_that_passes_a_filter)
{
	struct gprof_trigger t = trigger_of(GPROF_TRIGGER_TRACEPOINT, 0);
	struct gprof_filter_step step;
	uint32_t none, all, odd;
	unsigned int n;

	SKIP_UNLESS(!geteuid(), "needs CAP_PERFMON");
	SETUP(forks);
	t.name = (uintptr_t)"task:task_newtask";
	t.filter = (uintptr_t)&step;
	t.filter_steps = 1;
	if (!has_bits(&step, " clone_flags", 8, CLONE_THREAD))
		SKIP(return, "no tracefs");
	ASSERT_EQ(0, device_trigger(&self->dev, &t)) TH_LOG("reason %u", t.out_reason);
	none = t.out_index;
	ASSERT_TRUE(has_bits(&step, " clone_flags", 8, CLONE_CHILD_CLEARTID));
	ASSERT_EQ(0, device_trigger(&self->dev, &t)) TH_LOG("reason %u", t.out_reason);
	all = t.out_index;
	/* It lies elsewhere on RT kernels. */
	ASSERT_TRUE(has_bits(&step, " pid", 4, 1));
	ASSERT_EQ(0, device_trigger(&self->dev, &t)) TH_LOG("reason %u", t.out_reason);
	odd = t.out_index;
	RECORD();
	n = odd_forks(self);
	TH_LOG("%u of %u children have an odd id", n, TIMES);
	EXPECT_EQS(0, fired_by(self, none, 0), TIMES, fired_by(self, all, 0), n, fired_by(self, odd, 0));
	EXPECT_LT(0, n);
	EXPECT_EQ(self->nr, TIMES + n);
}

/*
 * Of interrupts and reclaim nobody but the trace knows how many causes there were: those
 * that it told from beginning to end, of the target.
 */
static unsigned int causes_told(FIXTURE_DATA(trigger) *self, unsigned int enter,
				unsigned int leave, int number)
{
	bool inside[CPU_SETSIZE] = { false };
	unsigned int n = 0;

	for (size_t i = 0; i < self->words.nr; i++) {
		const struct trace_word *w = &self->words.words[i];

		if (w->cpu >= CPU_SETSIZE || w->running != (uint32_t)self->setup.id ||
		    (number >= 0 && w->tid != (uint32_t)number))
			continue;
		if (w->what == leave)
			n += inside[w->cpu];
		if (w->what == enter || w->what == leave)
			inside[w->cpu] = w->what == enter;
	}
	return n;
}

/* Each cause fires @index once, and none else does. Too many to be taken are suppressed. */
static void expect_causes(struct __test_metadata *_metadata, FIXTURE_DATA(trigger) *self,
			  uint32_t index, unsigned int causes)
{
	EXPECT_LE(TIMES, causes);
	EXPECT_EQS(causes, self->last.fired + self->last.suppressed, self->nr, self->last.fired);
	EXPECT_LT(0, self->nr);
	EXPECT_EQ(self->nr, fired_by(self, index, 0));
	for (unsigned int i = 0; i < self->nr; i++) {
		EXPECT_EQ(self->setup.id, self->fired[i].tid);
		EXPECT_LT(0, self->fired[i].duration_ns);
		EXPECT_GT(1000 * MS, self->fired[i].duration_ns);
	}
}

TEST_F(trigger, interrupts)
{
	struct gprof_trigger irq = trigger_of(GPROF_TRIGGER_IRQ, 0);

	SKIP_UNLESS(!geteuid(), "needs CAP_PERFMON");
	self->params.flags = GPROF_TRACE_F_IRQS;
	SETUP(burns);
	SET(GPROF_TRIGGER_IRQ, NEVER_NS);
	SET(GPROF_TRIGGER_SOFTIRQ, NEVER_NS);
	irq.interval_ns = 10 * MS;	/* there are thousands */
	ASSERT_EQ(0, device_trigger(&self->dev, &irq));
	EXPECT_EQ(2, irq.out_index);
	RECORD();
	expect_causes(_metadata, self, 2,
		      causes_told(self, GPROF_TRACE_IRQ_ENTER, GPROF_TRACE_IRQ_EXIT, -1));
}

static bool loopback_up(void)
{
	struct ifreq r = { .ifr_name = "lo" };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool ok = fd >= 0 && !ioctl(fd, SIOCGIFFLAGS, &r);

	r.ifr_flags |= IFF_UP;
	ok = ok && !ioctl(fd, SIOCSIFFLAGS, &r);
	if (fd >= 0)
		close(fd);
	return ok;
}

TEST_F(trigger, softirqs)
{
	struct gprof_trigger soft = trigger_of(GPROF_TRIGGER_SOFTIRQ, 0);

	SKIP_UNLESS(!geteuid(), "needs CAP_PERFMON");
	SKIP_UNLESS(loopback_up(), "no loopback device");
	self->params.flags = GPROF_TRACE_F_IRQS;
	SETUP(sends);
	SET(GPROF_TRIGGER_IRQ, NEVER_NS);
	soft.number = 3;	/* NET_RX */
	ASSERT_EQ(0, device_trigger(&self->dev, &soft));
	SET(GPROF_TRIGGER_SOFTIRQ, NEVER_NS);
	RECORD();
	expect_causes(_metadata, self, 1,
		      causes_told(self, GPROF_TRACE_SOFTIRQ_ENTER, GPROF_TRACE_SOFTIRQ_EXIT, 3));
	for (unsigned int i = 0; i < self->nr; i++)
		EXPECT_EQ(3, self->fired[i].number);
}

TEST_F(trigger, reclaim)
{
	char path[MEMORY_CGROUP_PATH];

	SKIP_UNLESS(!geteuid(), "needs CAP_PERFMON");
	SKIP_UNLESS(!memory_cgroup(path, "16M"), "no memory controller");
	self->params.flags = GPROF_TRACE_F_RECLAIM;
	SETUP(fills_cache);
	ASSERT_EQ(0, memory_cgroup_enter(path, self->child.pid));
	SET(GPROF_TRIGGER_RECLAIM, NEVER_NS);
	SET(GPROF_TRIGGER_RECLAIM, 0);
	START();
	child_step(&self->child);	/* may be killed for it */
	child_end(&self->child);
	END();
	unlink("/tmp/gprof_trigger_cache");
	rmdir(path);
	expect_causes(_metadata, self, 1,
		      causes_told(self, GPROF_TRACE_RECLAIM_BEGIN, GPROF_TRACE_RECLAIM_END, -1));
}

/* ---- what goes on ---- */

/* Within a second, while it lasts, and not again when it ends. */
static void goes_on(struct __test_metadata *_metadata, FIXTURE_DATA(trigger) *self)
{
	struct pollfd pfd = { .fd = self->dev.fd, .events = POLLPRI };

	START();
	ASSERT_EQS(0, child_begin(&self->child), 1, poll(&pfd, 1, 100000), 0, take(self),
		   1, self->nr);
	EXPECT_EQ(GPROF_TRIGGER_EVENT_F_GOES_ON, self->fired[0].flags);
	EXPECT_GT(1100 * MS, self->fired[0].duration_ns);
	RUN();
	END();
	EXPECT_FIRED(0, 1, 100 * MS);
}

TEST_F(trigger, a_sleep_that_goes_on)
{
	SETUP(sleeps_once);
	SET(GPROF_TRIGGER_OFF_CPU, 100 * MS);
	/* A sleep is neither. */
	SET(GPROF_TRIGGER_BLOCKED, 1000 * MS);
	SET(GPROF_TRIGGER_DELAY, 1000 * MS);
	goes_on(_metadata, self);
}

TEST_F(trigger, a_block_that_goes_on)
{
	SETUP(vforks_once);
	SET(GPROF_TRIGGER_BLOCKED, 100 * MS);
	SET(GPROF_TRIGGER_DELAY, 1000 * MS);
	goes_on(_metadata, self);
}

TEST_F(trigger, a_system_call_that_goes_on)
{
	struct gprof_trigger t = trigger_of(GPROF_TRIGGER_SYSCALL, 100 * MS);

	SKIP_UNLESS(!geteuid(), "needs CAP_PERFMON");
	SETUP(sleeps_once);
	t.number = SYS_nanosleep;
	ASSERT_EQ(0, device_trigger(&self->dev, &t));
	goes_on(_metadata, self);
	EXPECT_EQ(SYS_nanosleep, self->fired[0].number);
}

/* ---- whose ---- */

/* Each has its own, and its own index. */
TEST_F(trigger, two_recorders)
{
	struct gprof_trigger t = trigger_of(GPROF_TRIGGER_OFF_CPU, LIMIT_NS);
	struct gprof_trigger_event f = { .size = sizeof(f) };
	struct device other;
	unsigned int n = 0;

	SETUP(is_off_its_cpu);
	ASSERT_EQ(0, device_setup(&other, &self->setup));
	SET(GPROF_TRIGGER_SIGNAL, 0);
	SET(GPROF_TRIGGER_OFF_CPU, LIMIT_NS);
	t.interval_ns = NEVER_NS;
	ASSERT_ZEROS(device_trigger(&other, &t), device_start(&other));
	RECORD();
	EXPECT_FIRED(1, TIMES, LIMIT_NS);
	EXPECT_EQ(0, device_stop(&other));
	while (!device_ioctl(other.fd, GPROF_IOC_TRIGGER_READ, &f)) {
		EXPECT_EQS(0, f.index, self->setup.id, f.tid);
		EXPECT_WITHIN(TIMES / 2, f.suppressed, TIMES - 1);
		n++;
	}
	EXPECT_EQ(1, n);
	device_close(&other);
}

/* Who reads sees the ids of where they live. */
TEST_F(trigger, ids_are_of_the_readers_namespace)
{
	pid_t pid;

	SKIP_UNLESS(!geteuid(), "needs CAP_SYS_ADMIN");
	ASSERT_EQ(0, unshare(CLONE_NEWPID));
	pid = fork();
	if (!pid) {
		struct gprof_trigger t = trigger_of(GPROF_TRIGGER_SIGNAL, 0);
		struct gprof_trigger_event f = { .size = sizeof(f) };
		pid_t victim;

		self->setup.id = getpid();
		if (device_setup(&self->dev, &self->setup) || device_trigger(&self->dev, &t) ||
		    device_start(&self->dev))
			_exit(1);
		victim = fork();
		if (!victim) {
			raise(SIGKILL);
			_exit(0);
		}
		waitpid(victim, NULL, 0);
		if (device_ioctl(self->dev.fd, GPROF_IOC_TRIGGER_READ, &f))
			_exit(2);
		_exit(f.tid == (__u32)victim && f.pid == (__u32)victim && victim < 100 ? 0 : 3);
	}
	EXPECT_EQ(0, reap(pid));
}

/* ---- how much ---- */

TEST_F(trigger, no_more_often_than_asked_for)
{
	struct gprof_trigger t = trigger_of(GPROF_TRIGGER_OFF_CPU, LIMIT_NS);

	SETUP(sleeps_on);
	t.interval_ns = 100000 * MS;
	ASSERT_EQ(0, device_trigger(&self->dev, &t));
	START();
	ASSERT_EQ(0, child_begin(&self->child));
	child_reap(&self->child);
	END();
	EXPECT_EQS(1, self->nr, 1, self->fired[0].fired);
	EXPECT_LE(TIMES - 1, self->fired[0].suppressed);
	/* Of all triggers, when none waits. */
	EXPECT_EQS(1, self->last.fired, self->fired[0].suppressed, self->last.suppressed);
}

/* Nobody takes them: the first are kept, all are counted, and nobody waits for anybody. */
TEST_F(trigger, thousands_that_no_reader_takes)
{
	struct gprof_trigger t = trigger_of(GPROF_TRIGGER_SYSCALL, 0);
	struct gprof_stats st;

	SKIP_UNLESS(!geteuid(), "needs CAP_PERFMON");
	SETUP(calls);
	t.number = SYS_getppid;
	ASSERT_EQ(0, device_trigger(&self->dev, &t));
	START();
	ASSERT_EQ(0, child_begin(&self->child));
	child_reap(&self->child);
	END();
	EXPECT_EQ(GPROF_TRIGGER_EVENTS_MAX, self->nr);
	for (unsigned int i = 0; i < self->nr; i++) {
		EXPECT_EQ(i + 1, self->fired[i].fired);
		EXPECT_EQ(CALLS - GPROF_TRIGGER_EVENTS_MAX, self->fired[i].suppressed);
	}
	ASSERT_EQ(0, device_stats(&self->dev, GPROF_STATS_ALL_CPUS, &st));
	/* and that the target has ended */
	EXPECT_EQ(GPROF_TRIGGER_EVENTS_MAX + 1, st.out_events_dropped);
}

/*
 * A flight recorder has the event that fired in its snapshot; where it is the end of a
 * wait, the mark stands behind the switch that ended it.
 */
TEST_F(trigger, a_snapshot_is_marked)
{
	self->setup.flags = GPROF_SETUP_F_FLIGHT;
	SETUP(is_off_its_cpu);
	SET(GPROF_TRIGGER_OFF_CPU, LIMIT_NS);
	RECORD();
	EXPECT_FIRED(0, TIMES, LIMIT_NS);
	for (unsigned int i = 0; i < self->nr; i++) {
		const struct gprof_trigger_event *f = &self->fired[i];
		const struct trace_mark *m = mark_of(self, f);
		const struct trace_word *w = m && m->before ? &self->words.words[m->before - 1] : NULL;

		if (f->flags & GPROF_TRIGGER_EVENT_F_GOES_ON)
			continue;
		ASSERT_NE(NULL, w);
		EXPECT_EQS(GPROF_TRACE_SWITCH, w->what, f->tid, w->tid, f->cpu, w->cpu);
		EXPECT_GE(f->time, w->time);
	}
}

static int listen_to(struct genl *g)
{
	return genl_open(g) ?: genl_listen(g);
}

/* The next firing of the recorder that is told within @ms. */
static bool hears(FIXTURE_DATA(trigger) *self, struct genl *g, int ms)
{
	struct pollfd pfd = { .fd = g->fd, .events = POLLIN };

	while (g->next < g->length || poll(&pfd, 1, ms) == 1) {
		if (genl_receive(g) != 1)
			return false;
		if (g->cmd == GPROF_CMD_RECORDER_FIRED &&
		    genl_u64(g->attrs[GPROF_A_RECORDER_ID]) == self->setup.out_id)
			return true;
	}
	return false;
}

/* What is told to all is that it happened, and nothing of whom. */
TEST_F(trigger, listeners_are_told)
{
	struct genl g;
	unsigned int i, n = 0;

	SKIP_UNLESS(!geteuid(), "must be root to listen");
	SETUP(is_off_its_cpu);
	ASSERT_EQ(0, listen_to(&g));
	SET(GPROF_TRIGGER_DELAY, NEVER_NS);
	SET(GPROF_TRIGGER_OFF_CPU, LIMIT_NS);
	RECORD();
	while (n < self->nr && hears(self, &g, 5000)) {
		n++;
		EXPECT_EQ(1, genl_u32(g.attrs[GPROF_A_RECORDER_TRIGGER]));
		EXPECT_EQ(GPROF_TRIGGER_OFF_CPU, genl_u32(g.attrs[GPROF_A_RECORDER_TRIGGER_WHAT]));
		EXPECT_EQ(GPROF_KIND_TRACE, genl_u32(g.attrs[GPROF_A_RECORDER_KIND]));
		for (i = GPROF_A_RECORDER_KIND + 1; i < GENL_ATTRS; i++)
			if (i != GPROF_A_RECORDER_TRIGGER && i != GPROF_A_RECORDER_TRIGGER_WHAT)
				EXPECT_EQ(NULL, g.attrs[i]) TH_LOG("attribute %u", i);
	}
	EXPECT_EQ(self->nr, n);
	EXPECT_LE(TIMES, n);
	genl_close(&g);
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/*
 * From what fired to who listens. GPROF_EXACT: time is a count of instructions, and a
 * millisecond is the limit; otherwise nobody knows what else the machine had to do.
 */
TEST_F(trigger, listeners_are_told_at_once)
{
	uint64_t took[TIMES] = { 0 };
	unsigned int n = 0;
	struct genl g;

	SKIP_UNLESS(!geteuid(), "must be root to listen");
	SETUP(is_off_its_cpu);
	ASSERT_EQ(0, listen_to(&g));
	SET(GPROF_TRIGGER_OFF_CPU, LIMIT_NS);
	START();
	ASSERT_EQ(0, child_begin(&self->child));
	while (n < TIMES && hears(self, &g, STILL_MS)) {
		uint64_t now = monotonic_ns();

		ASSERT_EQ(0, take(self));
		/* Who is late hears of the first when there are two. */
		ASSERT_LE(n + 1, self->nr);
		took[n] = now - self->fired[n].time;
		n++;
	}
	EXPECT_EQ(TIMES, n);
	child_end(&self->child);
	END();
	qsort(took, TIMES, sizeof(*took), by_value);
	TH_LOG("%llu us at least, %llu us half of the time, %llu us at most", us_of(took[0]),
	       us_of(took[TIMES / 2]), us_of(took[TIMES - 1]));
	if (getenv("GPROF_EXACT"))
		EXPECT_GE(MS, took[TIMES - 1]);
	genl_close(&g);
}

/* Who listens and does not read misses messages, and is in nobody's way. */
TEST_F(trigger, a_listener_that_sleeps_is_in_nobodys_way)
{
	struct genl sleeper, g;
	unsigned int n = 0;
	int room = 1;

	SKIP_UNLESS(!geteuid(), "must be root to listen");
	SETUP(is_off_its_cpu);
	ASSERT_ZEROS(listen_to(&sleeper), listen_to(&g),
		     setsockopt(sleeper.fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room)));
	SET(GPROF_TRIGGER_OFF_CPU, LIMIT_NS);
	START();
	ASSERT_EQ(0, child_begin(&self->child));
	while (n < TIMES && hears(self, &g, STILL_MS)) {
		ASSERT_EQ(0, take(self));
		n++;
	}
	EXPECT_EQ(TIMES, n);
	child_end(&self->child);
	END();
	EXPECT_EQ(TIMES, self->nr);
	/* It is told of that, and goes on. */
	EXPECT_EQ(-ENOBUFS, genl_receive(&sleeper));
	genl_close(&sleeper);
	genl_close(&g);
}

static int ask_for_snapshot(struct genl *g, uint64_t id)
{
	struct {
		struct nlattr head;
		uint64_t id;
	} __attribute__((packed)) a = {
		.head = { .nla_len = sizeof(a), .nla_type = GPROF_A_RECORDER_ID }, .id = id,
	};
	int ret = genl_send(g, g->family, NLM_F_ACK, GPROF_CMD_RECORDER_SNAPSHOT, &a,
			    id ? sizeof(a) : 0);

	return ret ?: genl_receive(g);
}

/* By netlink, of whoever may see the recorder; the owner learns of whom. */
TEST_F(trigger, a_user_asks_for_a_snapshot)
{
	struct device other = { 0 };
	struct gprof_setup setup = self->setup;
	struct pollfd pfd = { .events = POLLPRI };
	struct genl g;
	pid_t pid;

	ASSERT_EQ(0, genl_open(&g));
	self->setup.id = setup.id = gettid();
	setup.target = GPROF_TARGET_THREAD;
	ASSERT_EQ(0, device_setup(&other, &setup));
	EXPECT_EQ(-EOPNOTSUPP, ask_for_snapshot(&g, setup.out_id));
	device_close(&other);
	self->setup.flags = GPROF_SETUP_F_FLIGHT;
	self->setup.target = GPROF_TARGET_THREAD;
	ASSERT_EQ(0, device_setup(&self->dev, &self->setup));
	pfd.fd = self->dev.fd;
	EXPECT_EQ(-EINVAL, ask_for_snapshot(&g, 0));
	/* Of what START would throw away nobody is told that it was asked for. */
	EXPECT_EQ(-EBUSY, ask_for_snapshot(&g, self->setup.out_id));
	ASSERT_EQ(0, device_start(&self->dev));
	EXPECT_EQ(0, poll(&pfd, 1, 0));
	for (unsigned int i = 0; i < GPROF_TRIGGER_EVENTS_MAX; i++)
		EXPECT_EQ(0, ask_for_snapshot(&g, self->setup.out_id));
	EXPECT_EQS(-EBUSY, ask_for_snapshot(&g, self->setup.out_id), 1, poll(&pfd, 1, 0),
		   0, take(self), GPROF_TRIGGER_EVENTS_MAX, self->nr,
		   GPROF_TRIGGER_EVENT_REQUEST, self->fired[0].index, getpid(), self->fired[0].pid,
		   gettid(), self->fired[0].tid, 0, self->last.fired);

	SKIP_UNLESS(!geteuid(), "must be root to become another");
	pid = fork();
	if (!pid) {
		genl_close(&g);
		if (become(USER) || genl_open(&g))
			_exit(1);
		_exit(ask_for_snapshot(&g, self->setup.out_id) == -ENOENT ? 0 : 2);
	}
	EXPECT_EQ(0, reap(pid));
	self->nr = 0;
	EXPECT_ZEROS(take(self), self->nr);
	genl_close(&g);
}

/* ---- what is refused ---- */

#define EXPECT_REFUSED(_err, _reason, _dev, _t) do {				\
	struct gprof_trigger *_p = (_t);					\
										\
	EXPECT_EQ(_err, device_trigger(_dev, _p));						\
	EXPECT_EQ(_reason, _p->out_reason);					\
} while (0)

TEST_F(trigger, refused_by_reason)
{
	struct gprof_trigger t, ok = trigger_of(GPROF_TRIGGER_OFF_CPU, MS);
	const struct gprof_filter_step no_step = { .what = __GPROF_FILTER_WHATS };
	unsigned int i;

	SETUP(nothing);
#define REFUSED(_err, _reason, _what, ...) do {					\
	t = trigger_of(_what, 0);						\
	__VA_ARGS__;								\
	EXPECT_REFUSED(_err, _reason, &self->dev, &t);				\
} while (0)
	REFUSED(-EOPNOTSUPP, GPROF_REASON_TRIGGER, 0);
	REFUSED(-EOPNOTSUPP, GPROF_REASON_TRIGGER, GPROF_TRIGGER_NR);
	REFUSED(-EINVAL, GPROF_REASON_PARAMS, GPROF_TRIGGER_DELAY, t.filter = 8);
	REFUSED(-EINVAL, GPROF_REASON_PARAMS, GPROF_TRIGGER_DELAY, t.filter_steps = 1);
	REFUSED(-EINVAL, GPROF_REASON_PARAMS, GPROF_TRIGGER_DELAY, t.filter_text_size = 1);
	REFUSED(-EOPNOTSUPP, GPROF_REASON_FLAGS, GPROF_TRIGGER_DELAY, t.flags = 1);
	REFUSED(-EINVAL, GPROF_REASON_PERIOD, GPROF_TRIGGER_SIGNAL, t.threshold_ns = 1);
	REFUSED(-EINVAL, GPROF_REASON_PERIOD, GPROF_TRIGGER_DELAY,
		t.threshold_ns = GPROF_TRIGGER_NS_MAX + 1);
	REFUSED(-EINVAL, GPROF_REASON_PERIOD, GPROF_TRIGGER_DELAY, t.interval_ns = UINT64_MAX);
	REFUSED(-EINVAL, GPROF_REASON_PARAMS, GPROF_TRIGGER_DELAY, t.number = 0);
	REFUSED(-EINVAL, GPROF_REASON_PARAMS, GPROF_TRIGGER_SIGNAL, t.number = 0);
	REFUSED(-EINVAL, GPROF_REASON_PARAMS, GPROF_TRIGGER_SIGNAL, t.number = 65);
	REFUSED(-EINVAL, GPROF_REASON_PARAMS, GPROF_TRIGGER_SOFTIRQ, t.number = 100);
	REFUSED(-EINVAL, GPROF_REASON_PARAMS, GPROF_TRIGGER_DELAY, t.name = (uintptr_t)"a:b");
	REFUSED(-EINVAL, GPROF_REASON_PARAMS, GPROF_TRIGGER_TRACEPOINT);
	REFUSED(-EFAULT, GPROF_REASON_PARAMS, GPROF_TRIGGER_TRACEPOINT, t.name = 8);
	if (!geteuid()) {
		int none = kernel_checks_calls() ? -EOPNOTSUPP : -ENOENT;

		REFUSED(none, GPROF_REASON_TRIGGER, GPROF_TRIGGER_TRACEPOINT,
			t.name = (uintptr_t)"sched:no_such");
		REFUSED(none, GPROF_REASON_TRIGGER, GPROF_TRIGGER_TRACEPOINT,
			t.name = (uintptr_t)"sched_switch");
		REFUSED(-EOPNOTSUPP, GPROF_REASON_TRIGGER, GPROF_TRIGGER_TRACEPOINT,
			t.name = (uintptr_t)"syscalls:sys_enter_read");
		REFUSED(-EINVAL, GPROF_REASON_PARAMS, GPROF_TRIGGER_TRACEPOINT,
			t.name = (uintptr_t)"sched:sched_switch", t.filter = 8);
		REFUSED(-EFAULT, GPROF_REASON_PARAMS, GPROF_TRIGGER_TRACEPOINT,
			t.name = (uintptr_t)"sched:sched_switch", t.filter = 8, t.filter_steps = 1);
		REFUSED(-EINVAL, GPROF_REASON_PARAMS, GPROF_TRIGGER_TRACEPOINT,
			t.name = (uintptr_t)"sched:sched_switch", t.filter = (uintptr_t)&no_step,
			t.filter_steps = 1);
	}
	for (i = 0; i < GPROF_TRIGGERS_MAX; i++) {
		ASSERT_EQ(0, device_trigger(&self->dev, &ok));
		EXPECT_EQS(i, ok.out_index, GPROF_REASON_NONE, ok.out_reason);
	}
	EXPECT_REFUSED(-ENOSPC, GPROF_REASON_TRIGGER, &self->dev, &ok);
	START();
	EXPECT_REFUSED(-EBUSY, GPROF_REASON_STATE, &self->dev, &ok);
	EXPECT_ZEROS(device_stop(&self->dev), take(self), self->nr);
}

TEST_F(trigger, only_where_there_is_a_trace)
{
	struct gprof_cpu_params params = timer_params(MS);
	struct gprof_setup setup = device_setup_of(GPROF_TARGET_PROCESS, getpid(), &params);
	struct gprof_trigger t = trigger_of(GPROF_TRIGGER_DELAY, MS);
	struct gprof_trigger_event f = { .size = sizeof(f) };
	struct gprof_info info = { .size = sizeof(info) };

	self->dev.fd = device_open();
	ASSERT_LE(0, self->dev.fd);
	EXPECT_EQ(0, device_ioctl(self->dev.fd, GPROF_IOC_INFO, &info));
	EXPECT_TRUE(info.out_features & GPROF_FEAT_TRIGGERS);
	EXPECT_REFUSED(-EBUSY, GPROF_REASON_STATE, &self->dev, &t);
	EXPECT_EQ(-EBUSY, device_ioctl(self->dev.fd, GPROF_IOC_TRIGGER_READ, &f));
	device_close(&self->dev);
	ASSERT_EQ(0, device_setup(&self->dev, &setup));
	EXPECT_REFUSED(-EOPNOTSUPP, GPROF_REASON_TRIGGER, &self->dev, &t);
	EXPECT_EQ(-EAGAIN, device_ioctl(self->dev.fd, GPROF_IOC_TRIGGER_READ, &f));
}

TEST_F(trigger, triggers_of_a_user_slow_no_other)
{
	static const uint32_t slow[] = {
		GPROF_TRIGGER_SYSCALL, GPROF_TRIGGER_RECLAIM, GPROF_TRIGGER_IRQ,
		GPROF_TRIGGER_SOFTIRQ, GPROF_TRIGGER_TRACEPOINT,
	};

	SKIP_UNLESS(!geteuid(), "must be root to become another");
	ASSERT_EQ(0, become(USER));
	self->setup.buffer_size = 1 << 16;	/* a user may not pin much */
	SETUP(is_off_its_cpu);
	for (unsigned int i = 0; i < sizeof(slow) / sizeof(slow[0]); i++) {
		struct gprof_trigger t = trigger_of(slow[i], 0);

		if (slow[i] == GPROF_TRIGGER_TRACEPOINT)
			t.name = (uintptr_t)"task:task_newtask";
		EXPECT_REFUSED(-EPERM, GPROF_REASON_SLOWS_DENIED, &self->dev, &t);
	}
	SET(GPROF_TRIGGER_OFF_CPU, LIMIT_NS);
	SET(GPROF_TRIGGER_SIGNAL, 0);
	RECORD();
	EXPECT_LE(TIMES, fired_by(self, 0, 0));	/* others may make it wait too */
	EXPECT_EQ(0, fired_by(self, 1, 0));
}

/* ---- to and fro ---- */

static void *calls_on(void *arg)
{
	while (!__atomic_load_n((bool *)arg, __ATOMIC_RELAXED))
		syscall(SYS_getppid);
	return NULL;
}

/* Stopped and closed amid firings. */
TEST_F(trigger, stops_amid_trigger_events)
{
	struct gprof_trigger t = trigger_of(GPROF_TRIGGER_TRACEPOINT, 0);
	pthread_t thread;
	bool ends = false;

	SKIP_UNLESS(!geteuid(), "needs CAP_PERFMON");
	self->setup.target = GPROF_TARGET_SYSTEM;
	t.name = (uintptr_t)"sched:sched_waking";
	ASSERT_EQ(0, pthread_create(&thread, NULL, calls_on, &ends));
	for (unsigned int i = 0; i < 6; i++) {
		ASSERT_EQ(0, device_setup(&self->dev, &self->setup));
		SET(GPROF_TRIGGER_SYSCALL, 0);
		SET(GPROF_TRIGGER_OFF_CPU, 0);
		SET(GPROF_TRIGGER_DELAY, 0);
		SET(GPROF_TRIGGER_SOFTIRQ, 0);
		ASSERT_EQ(kernel_checks_calls() ? -EOPNOTSUPP : 0, device_trigger(&self->dev, &t));
		ASSERT_EQ(0, device_start(&self->dev));
		sleep_ms(20);
		EXPECT_EQ(0, take(self));
		EXPECT_LT(0, self->nr);
		if (i & 1) {
			EXPECT_ZEROS(device_stop(&self->dev), take(self), device_start(&self->dev));
		}
		device_close(&self->dev);
	}
	__atomic_store_n(&ends, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
}

TEST_HARNESS_MAIN
