// SPDX-License-Identifier: GPL-2.0-only
/*
 * The module's sampler, over its own ring and dictionary: whatever the generations,
 * each sample leads to the stack and to the name that its task had.
 *
 * Stacks do not come from an unwinder but from the test; a weight of its own tells
 * each sample which one it is.
 */
#include "ring_test_core.h"

#include "harness.h"
#include "../../kmod/target/oncpu.h"
#include "../../kmod/sample/sampler.h"

#define SIZE		GPROF_BUFFER_MIN
#define SLOTS		1024
#define WORDS		8192
#define GENERATION_NS	1000
#define MOST_CALLERS	24	/* more than a key holds besides a base */
#define MOST_SAMPLES	(1 << 19)
#define MOST_TIDS	8

/* What a sample was taken of. */
struct trace_source {
	u32 leaf;
	u32 user_frames;	/* which list */
	u32 tid;
	u32 name;
	bool kept;		/* the id that the task has released */
};

struct task_struct shim_task = { .group_leader = &shim_task };
int shim_in_hardirq;
struct pid_namespace init_pid_ns;
static struct pid_namespace half = { .outside = MOST_TIDS / 2 };

/* Nobody here ends. */
struct task_struct *gprof_leader_otherwise(struct task_struct *task)
{
	return task;
}

/* Nobody asks. */
u32 gprof_oncpu_count(const struct gprof_oncpu *r)
{
	abort();
}

static struct core core;	/* for its memory */
static struct gprof_percpu_buffer percpu_buffer;
static struct gprof_percpu_buffer *buffers[] = { &percpu_buffer };
static struct gprof_sampler sampler = { .options.word = 1, .buffers = buffers };
static local64_t slots[SLOTS];
static u64 arena[WORDS];
static struct trace_source *taken;
static u32 nr_taken;
static u64 now;
static u64 seed;
static unsigned int nest_per_64k, nested;

static u32 random32(void)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return seed >> 33;
}

static void sample(struct trace_source t);

/*
 * List @n of callers; lengths differ. Some begin where all of a few threads do, and are
 * alike as far as that goes.
 */
static u32 fill_callers(u64 *frames, u32 n)
{
	u32 nr = n % (MOST_CALLERS + 1), alike = n * 7 % (nr + 1), i;

	for (i = 0; i < nr; i++)
		frames[i] = i < nr - alike ? 0x400000 + n * 64 + i :
					     0x800000 + n % 3 * 64 + nr - i;
	return nr;
}

/* Under which mappings. */
static u32 exec_map_seq_of(u32 n)
{
	return 1 + n / 49;
}

static struct trace_source any_stack(void)
{
	u32 r = random32();

	return (struct trace_source){
		.leaf = r % 13, .user_frames = r / 16 % 97, .tid = 1 + r / 4096 % MOST_TIDS,
		/* never a name that it had before: that is not said again */
		.name = nr_taken / 300,
	};
}

/* Here an interrupt may come, with a sample of its own. */
void gprof_stack_capture(struct gprof_stack *s, const struct gprof_stack_options *o,
			 struct pt_regs *regs, const struct perf_callchain_entry *chain)
{
	u32 me = nr_taken - 1, nr;
	struct gprof_user_frames *c = &s->user_frames;
	u64 frames[MOST_CALLERS];

	if (nested < GPROF_DEPTH - 1 && (random32() & 0xffff) < nest_per_64k) {
		struct trace_source inner = any_stack();

		/* of the same task */
		inner.tid = taken[me].tid;
		inner.name = taken[me].name;
		nested++;
		sample(inner);
		nested--;
	}
	s->top.flags = 0;
	s->top.nr_kernel = 0;
	s->top.nr_user = 1;
	s->top.frames[0] = 0x1000 + taken[me].leaf;
	gprof_user_frames_begin(c, current, exec_map_seq_of(taken[me].user_frames), 0);
	nr = fill_callers(frames, taken[me].user_frames);
	if (c->nr != nr || memcmp(c->frames, frames, nr * sizeof(u64))) {
		memcpy(c->frames, frames, nr * sizeof(u64));
		c->nr = nr;
		c->version++;
	}
}

/* All recorders here want the same. */
void gprof_stack_part(struct gprof_stack *part, const struct gprof_stack *whole,
		      const struct gprof_stack_options *o, struct pt_regs *regs)
{
	abort();
}

void gprof_maps_request(struct gprof_maps *m, struct gprof_percpu_buffer *ch,
			const struct gprof_process *process, u32 exec_map_seq, u16 generation)
{
}

void gprof_maps_renew(struct gprof_maps *m, struct gprof_percpu_buffer *ch, u32 pid, u64 now)
{
}

static void name_of(char *comm, u32 name)
{
	memset(comm, 0, TASK_COMM_LEN);
	/* the names differ in the second word alone */
	snprintf(comm, TASK_COMM_LEN, "a long name %u", name);
}

static void sample(struct trace_source t)
{
	static struct pt_regs regs = { .user = true };
	u64 weight = nr_taken + 2;
	struct gprof_capture c;

	if (nr_taken == MOST_SAMPLES)
		abort();
	taken[nr_taken++] = t;
	shim_task.pid = t.tid;
	shim_task.tgid = MOST_TIDS;
	name_of(shim_task.comm, t.name);
	gprof_capture(&c, &regs, now += 10);
	gprof_emit(&c, &sampler, weight);
	gprof_captured(&c);
}

/* What a reader knows of the generation. */
struct view {
	struct gprof_stack_rec *stack_of[WORDS];
	char comm_of[MOST_TIDS + 1][TASK_COMM_LEN];
	u32 pid_of[MOST_TIDS + 1];
	u64 tail;
	struct gprof_stack_rec *bases[GPROF_STACK_SUFFIXES];
	u64 samples, generations, stacks, branches, bases_said, tasks;
	u64 bytes;
	const char *error;
};

static struct view view;

static void forget(void)
{
	u32 i;

	for (i = 0; i < WORDS; i++) {
		free(view.stack_of[i]);
		view.stack_of[i] = NULL;
	}
	for (i = 0; i < GPROF_STACK_SUFFIXES; i++) {
		free(view.bases[i]);
		view.bases[i] = NULL;
	}
	memset(view.comm_of, 0, sizeof(view.comm_of));
}

static void keep_stack(struct gprof_stack_rec *st)
{
	free(view.stack_of[st->id % WORDS]);
	view.stack_of[st->id % WORDS] = st;
}

static void on_stack(const struct gprof_stack_rec *st)
{
	size_t bytes = sizeof(*st) + (st->nr_kernel + st->nr_user) * sizeof(u64);

	view.stacks++;
	if (st->rec.size != bytes || st->suffix > GPROF_STACK_SUFFIXES) {
		view.error = "a stack makes no sense";
		return;
	}
	keep_stack(memcpy(malloc(bytes), st, bytes));
	if (!st->suffix)
		return;
	view.bases_said++;
	if (view.bases[st->suffix - 1])
		view.error = "two stacks of a generation are one base";
	view.bases[st->suffix - 1] = memcpy(malloc(bytes), st, bytes);
}

/* As a reader has to: what it says, and the end of its base. */
static void on_branch(const struct gprof_stack_delta_rec *br)
{
	const struct gprof_stack_rec *base = br->suffix && br->suffix <= GPROF_STACK_SUFFIXES ?
						     view.bases[br->suffix - 1] :
						     NULL;
	u32 frames = br->nr_kernel + br->nr_user;
	struct gprof_stack_rec *st;

	view.branches++;
	if (!base || br->nr_shared > base->nr_user ||
	    br->rec.size != sizeof(*br) + frames * sizeof(u64)) {
		view.error = "a branch has no base";
		return;
	}
	st = calloc(1, sizeof(*st) + (frames + br->nr_shared) * sizeof(u64));
	*st = *base;
	st->id = br->id;
	st->nr_kernel = br->nr_kernel;
	st->nr_user = br->nr_user + br->nr_shared;
	memcpy(st->frames, br->frames, frames * sizeof(u64));
	memcpy(st->frames + frames, base->frames + base->nr_kernel + base->nr_user - br->nr_shared,
	       br->nr_shared * sizeof(u64));
	keep_stack(st);
}

/* That a record is to have. */
static u32 id_here(u32 id)
{
	return sampler.pid_ns ? (u32)pid_nr_ns(find_pid_ns(id, &init_pid_ns), sampler.pid_ns) : id;
}

static void check_sample(const struct gprof_sample_rec *s)
{
	const struct gprof_stack_rec *stack = view.stack_of[s->stack % WORDS];
	u64 n = *(u64 *)(s + 1) - 2, frames[MOST_CALLERS];
	char comm[TASK_COMM_LEN];
	const struct trace_source *t;
	u32 nr, tid, pid;

	view.samples++;
	if (!(s->rec.flags & GPROF_SAMPLE_REC_F_WEIGHT) || n >= nr_taken) {
		view.error = "a sample has no weight of its own";
		return;
	}
	t = &taken[n];
	nr = fill_callers(frames, t->user_frames);
	tid = t->kept ? t->tid - half.outside : id_here(t->tid);
	pid = id_here(MOST_TIDS);
	if (tid)
		name_of(comm, t->name);
	else
		strncpy(comm, GPROF_TASK_OUTSIDE, sizeof(comm));
	if (!stack)
		view.error = "a stack was not said in this generation";
	else if (stack->nr_user != 1 + nr || stack->frames[0] != 0x1000 + t->leaf ||
		 memcmp(stack->frames + 1, frames, nr * sizeof(u64)))
		view.error = "a sample has the stack of another";
	else if (stack->exec_map_seq != exec_map_seq_of(t->user_frames))
		view.error = "a stack is said to be of other mappings";
	else if (stack->process.pid != pid)
		view.error = "a stack is said to be of another process";
	else if (s->tid != tid)
		view.error = "a sample has another task";
	else if (!view.comm_of[tid][0])
		view.error = "a task was not named in this generation";
	else if (memcmp(view.comm_of[tid], comm, sizeof(comm)))
		view.error = "a task has another name";
	else if (view.pid_of[tid] != (tid ? pid : 0))
		view.error = "a task is said to be of another process";
}

static void read_all(void)
{
	const struct gprof_buffer *b = &percpu_buffer.buffer;

	while (view.tail < b->head->head && !view.error) {
		const struct gprof_rec *r = b->data + (view.tail & (b->size - 1));

		switch (r->type) {
		case GPROF_REC_GENERATION:
			forget();
			view.generations++;
			break;
		case GPROF_REC_STACK:
			on_stack((const void *)r);
			break;
		case GPROF_REC_STACK_DELTA:
			on_branch((const void *)r);
			break;
		case GPROF_REC_TASK: {
			const struct gprof_task_rec *t = (const void *)r;

			view.tasks++;
			memcpy(view.comm_of[t->tid % (MOST_TIDS + 1)], t->comm, TASK_COMM_LEN);
			view.pid_of[t->tid % (MOST_TIDS + 1)] = t->process.pid;
			break;
		}
		case GPROF_REC_SAMPLE:
			check_sample((const void *)r);
			break;
		default:
			view.error = "there is a record of another type";
		}
		view.bytes += r->size;
		view.tail += r->size;
	}
	b->tail->tail = view.tail;
}

static void begin(unsigned int nests)
{
	core_init(&core, SIZE, false, 1, 0);
	memset(&percpu_buffer, 0, sizeof(percpu_buffer));
	memset(slots, 0, sizeof(slots));
	memset(arena, 0, sizeof(arena));
	percpu_buffer.buffer = core.b;
	percpu_buffer.buffer.generation_ns = GENERATION_NS;
	percpu_buffer.dictionary.slots = slots;
	percpu_buffer.dictionary.nr_slots = SLOTS;
	percpu_buffer.dictionary.arena = arena;
	percpu_buffer.dictionary.nr_words = WORDS;
	free(taken);
	taken = calloc(MOST_SAMPLES, sizeof(*taken));
	forget();
	memset(&view, 0, sizeof(view));
	nr_taken = 0;
	/* Each sample has all the time that it wants. */
	gprof_interrupt_us = UINT32_MAX;
	now = ktime_get_mono_fast_ns();
	seed = 1;
	nest_per_64k = nests;
	if (gprof_captures_init())
		abort();
}

static void end(struct __test_metadata *_metadata)
{
	read_all();
	EXPECT_EQ(NULL, view.error)
		TH_LOG("sample %llu in generation %llu: %s", (unsigned long long)view.samples,
		       (unsigned long long)view.generations, view.error);
	EXPECT_EQ(nr_taken, view.samples);
	gprof_captures_exit();
	forget();
}

static void next_generation(void)
{
	now += GENERATION_NS;
}

TEST(stack_and_name_are_said_once_in_a_generation)
{
	struct trace_source one = { .leaf = 1, .user_frames = 3, .tid = 1 };

	begin(0);
	for (int i = 0; i < 5; i++) {
		for (int n = 0; n < 20; n++)
			sample(one);
		next_generation();
	}
	end(_metadata);
	EXPECT_EQS(5, view.generations, 5, view.stacks, 5, view.tasks);
}

TEST(name_that_changes_is_said_again)
{
	struct trace_source one = { .leaf = 1, .user_frames = 3, .tid = 1 };

	begin(0);
	sample(one);
	one.name = 1;
	sample(one);
	sample(one);
	end(_metadata);
	/* and from then on each time */
	EXPECT_EQS(3, view.tasks, 1, view.stacks);
}

/* Between others and in interrupts too; check_sample() compares. */
TEST(name_that_is_taken_back_is_said_again)
{
	struct trace_source one = { .leaf = 1, .user_frames = 3, .tid = 1 };
	struct trace_source other = { .leaf = 1, .user_frames = 3, .tid = 2 };
	u32 i;

	begin(0);
	for (i = 0; i < 4; i++) {
		one.name = i & 1;
		sample(one);
		sample(one);
		sample(other);
		sample(other);
	}
	read_all();
	/* the other once, its first name once, and twice each of three more */
	EXPECT_EQ(1 + 1 + 2 * 3, view.tasks);
	/* Others are told once, and the next generation knows of no renaming. */
	next_generation();
	for (i = 0; i < 10; i++) {
		sample(one);
		sample(other);
	}
	end(_metadata);
	EXPECT_EQ(1 + 1 + 2 * 3 + 2, view.tasks);
}

TEST(names_of_many_tasks_come_and_go)
{
	u32 i;

	begin(4000);
	for (i = 0; i < 200000 && !view.error; i++) {
		struct trace_source t = any_stack();

		t.name = random32() % 3;
		sample(t);
		if (!(random32() % 200))
			next_generation();
		read_all();
	}
	end(_metadata);
}

/* What a stack has in common with the first is not said again. */
TEST(end_that_stacks_share_is_said_once)
{
	/* lists of one thread: 3 frames more each time, and ends alike */
	static const u32 lists[] = { 9, 12, 15, 18, 21, 24 };
	u64 a[MOST_CALLERS], b[MOST_CALLERS];
	u32 i, n, nr, first;

	begin(0);
	first = fill_callers(a, lists[0]);
	for (n = 0; n < 3; n++)
		for (i = 0; i < 6; i++)
			sample((struct trace_source){
				.leaf = 1, .user_frames = lists[i], .tid = 1 });
	end(_metadata);
	EXPECT_EQS(1, view.bases_said, 6, view.stacks + view.branches);
	for (i = n = 0; i < 6; i++) {
		nr = fill_callers(b, lists[i]);
		n += nr && first && a[first - 1] == b[nr - 1];
	}
	EXPECT_LE(2, n);
	EXPECT_EQ(n - 1, view.branches);
}

static void any_stacks(struct __test_metadata *_metadata, unsigned int nests, u32 words)
{
	begin(nests);
	percpu_buffer.dictionary.nr_words = words;
	for (int i = 0; i < 200000 && !view.error; i++) {
		sample(any_stack());
		if (!(random32() % 200))
			next_generation();
		read_all();
	}
	end(_metadata);
	EXPECT_LE(1000, view.generations);
}

TEST(samples_of_many_generations_have_their_stacks)
{
	any_stacks(_metadata, 0, WORDS);
	EXPECT_LES(10000, view.branches, 1000, view.bases_said, 10000, view.stacks);
}

TEST(samples_that_interrupt_each_other_have_their_stacks)
{
	any_stacks(_metadata, 8000, WORDS);
}

/* Most are said with each of their samples then, and so are most names. */
TEST(samples_have_their_stacks_where_the_dictionary_is_full)
{
	any_stacks(_metadata, 8000, 256);
	EXPECT_LE(100000, view.stacks + view.branches);
}

/* Half of the tasks have no id there; they have one name. */
TEST(samples_have_the_ids_of_the_pid_namespace)
{
	u64 inside = MOST_TIDS / 2;
	u32 i;

	sampler.pid_ns = &half;
	begin(0);
	for (i = 0; i < 4 * MOST_TIDS; i++)
		sample((struct trace_source){
			.leaf = 1, .user_frames = 3, .tid = 1 + i % MOST_TIDS });
	end(_metadata);
	EXPECT_EQ(inside + 1, view.tasks);

	any_stacks(_metadata, 8000, WORDS);
	sampler.pid_ns = NULL;
}

/* As long as the CPU has not seen another task; then it has none. */
TEST(task_that_has_released_its_id_is_known_by_it)
{
	struct trace_source one = { .leaf = 1, .user_frames = 3, .tid = MOST_TIDS - 1 };
	struct trace_source other = { .leaf = 1, .user_frames = 3, .tid = MOST_TIDS - 2 };

	sampler.pid_ns = &half;
	begin(0);
	sample(one);
	read_all();
	half.released = one.tid;
	one.kept = true;
	sample(one);
	one.leaf = 2;
	sample(one);
	read_all();
	EXPECT_EQ(1, view.tasks);
	sample(other);
	one.kept = false;
	sample(one);
	end(_metadata);
	EXPECT_EQ(3, view.tasks);
	half.released = 0;
	sampler.pid_ns = NULL;
}

/* Those of interrupts too: where they were counted they are taken back. */
TEST(samples_of_a_closed_ring_are_none)
{
	struct trace_source one = { .leaf = 1, .user_frames = 3, .tid = 1 };
	struct gprof_buffer *b = &percpu_buffer.buffer;

	begin(0);
	shim_in_hardirq = 1;
	sample(one);
	gprof_buffer_close(b);
	/* Known, and not known yet. */
	sample(one);
	one.leaf = 2;
	sample(one);
	shim_in_hardirq = 0;
	sample(one);
	EXPECT_EQS(1, local64_read(&b->produced), 1, local64_read(&b->irq),
		   0, local64_read(&b->lost[GPROF_LOST_FULL]));
	nr_taken = 1;
	end(_metadata);
}

/* A capture @ns after the last one; returns when its walk has to end. */
static u64 walk_ends(u64 ns)
{
	struct gprof_scratch *scratch = this_cpu_ptr(gprof_scratches);
	static struct pt_regs regs = { .user = true };
	struct gprof_capture c;
	u64 until;

	gprof_capture(&c, &regs, (scratch->close == GPROF_CLOSE_KNOWN ? scratch->end : now) + ns);
	now = c.time;
	if (!gprof_capture_begin(&c))
		abort();
	until = c.stack->until;
	gprof_capture_end(&c);
	return until;
}

/* Two are close, the end of the second is known; what is a third one's, if something is other? */
TEST(walks_of_one_interrupt_have_its_time_together)
{
	static const struct {
		bool first_irq, then_irq, switches;
		u64 ns;
		bool together;
	} rows[] = {
		{ true, true, false, 4999, true },
		{ true, true, false, 5000, false },
		{ true, true, true, 100, false },
		{ true, false, false, 100, false },
		{ false, true, false, 100, false },
		{ false, false, false, 100, false },
	};
	u64 second, third;

	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		begin(0);
		gprof_interrupt_us = 100;
		shim_in_hardirq = rows[i].first_irq;
		walk_ends(0);
		second = walk_ends(29999);
		EXPECT_EQ(now + 100000, second);
		shim_in_hardirq = rows[i].then_irq;
		shim_task.nvcsw += rows[i].switches;
		third = walk_ends(rows[i].ns);
		EXPECT_EQ(rows[i].together ? second : now + 100000, third) TH_LOG("row %u", i);
		end(_metadata);
	}
	shim_in_hardirq = 0;
}

/* Numbers of generations come again; what was known under one then must be forgotten. */
TEST(generation_whose_number_comes_again_begins_with_nothing)
{
	struct trace_source common = { .leaf = 0, .user_frames = 1, .tid = 1 };
	u32 i, n;

	begin(0);
	for (i = 0; i < 65536 + 20 && !view.error; i++) {
		sample(common);
		/* far back in memory, where the generations between do not write */
		for (n = 1; (i & 0xffff) == 10 && n < 60; n++)
			sample((struct trace_source){ .leaf = n, .user_frames = 1, .tid = 1 });
		next_generation();
		read_all();
	}
	end(_metadata);
	/* none was cut for another reason: numbers are i + 1 */
	EXPECT_EQ(65536 + 20, view.generations);
}

TEST_HARNESS_MAIN
