// SPDX-License-Identifier: GPL-2.0-only
/*
 * comm_cache: the names of tasks that a generation has told, on one CPU.
 *
 * Three kinds of keys in the dictionary: a task with a name; a task that was named; a task
 * that was named twice, which is told with each sample from then on. Those are few: a program
 * that renames its threads pays 48 bytes a sample for it, for the rest of the generation.
 *
 * An interrupt between look-up and commit does not see the name that is being told. When it names
 * the same task its commit is the first, and ours fails: then the task counts as renamed,
 * since nobody knows whose record is the last.
 */
#include "comm_cache.h"
#include "ring/percpu_buffer.h"
#include "task/pid.h"
#include "task/process.h"
#include "unwind/user_fp.h"

#include <linux/build_bug.h>
#include <linux/gprof.h>
#include <linux/sched.h>
#include <linux/stddef.h>
#include <linux/string.h>

/* A task and its name as records have them, a key of the dictionary. */
struct name {
	struct gprof_process process;
	u32 tid;
	u32 zero;
	u64 comm[TASK_COMM_LEN / sizeof(u64)];
};

/* Other facts of tasks in the dictionary: keys without a name, with this in place of 0. */
enum what {
	NAMED = 1,
	RENAMED = 2,
};

#define TASK_WORDS	(offsetof(struct name, comm) / sizeof(u64))

static struct name key_of(const struct name *name, enum what what)
{
	return (struct name){ .process = name->process, .tid = name->tid, .zero = what };
}

/* From now on the task is told with each sample, even if its name is known. */
static void mark(struct gprof_percpu_buffer *ch, const struct name *name)
{
	struct name key = key_of(name, RENAMED);
	struct gprof_lookup l;
	unsigned int i;

	gprof_dictionary_lookup(&ch->dictionary, ch->generation, (u64 *)&key, TASK_WORDS, &l);
	if (!l.known && l.id)
		gprof_dictionary_commit(&ch->dictionary, &l);
	/* There may be no room for it. */
	if (!gprof_dictionary_find(&ch->dictionary, ch->generation, (u64 *)&key, TASK_WORDS))
		WRITE_ONCE(ch->unsure, ch->epoch);
	WRITE_ONCE(ch->renamed, ch->epoch);
	barrier();	/* a remember() that is interrupted here sees it */
	for (i = 0; i < GPROF_DEPTH; i++)
		ch->memo[i].process_version = 0;
}

static bool is_marked(struct gprof_percpu_buffer *ch, const struct name *name)
{
	struct name key;

	if (likely(READ_ONCE(ch->renamed) != ch->epoch))
		return false;
	if (READ_ONCE(ch->unsure) == ch->epoch)
		return true;
	key = key_of(name, RENAMED);
	return gprof_dictionary_find(&ch->dictionary, ch->generation, (u64 *)&key, TASK_WORDS);
}

/* Not get_task_comm(): no lock here. A name that is just being changed may be mixed. */
static u64 name_word(const struct task_struct *task, unsigned int n)
{
	u64 word;

	BUILD_BUG_ON(TASK_COMM_LEN != 2 * sizeof(u64));
	memcpy(&word, task->comm + n * sizeof(word), sizeof(word));
	return word;
}

/* All tasks without an id in @ns have one name: a reader could not tell them apart. */
static void name_of(struct name *n, struct task_struct *task, struct pid_namespace *ns)
{
	BUILD_BUG_ON(sizeof(*n) != 40);	/* no holes: compared as words */
	n->tid = gprof_pid_in(ns, task->pid);
	n->zero = 0;
	if (unlikely(ns && !n->tid)) {
		n->process = (struct gprof_process){ };
		strscpy_pad((char *)n->comm, GPROF_TASK_OUTSIDE, sizeof(n->comm));
	} else {
		gprof_process_of(&n->process, task);
		n->process.pid = gprof_pid_in(ns, n->process.pid);
		n->comm[0] = name_word(task, 0);
		n->comm[1] = name_word(task, 1);
	}
}

static bool write(struct gprof_percpu_buffer *ch, const struct name *name)
{
	struct gprof_task_rec *rec = gprof_buffer_reserve(&ch->buffer, sizeof(*rec),
							  GPROF_BEFORE_SAMPLE);

	if (!rec)
		return false;
	rec->rec.type = GPROF_REC_TASK;
	rec->rec.flags = 0;
	rec->rec.size = sizeof(*rec);
	rec->process = name->process;
	rec->tid = name->tid;
	rec->uid = 0;
	memcpy(rec->comm, name->comm, TASK_COMM_LEN);
	return true;
}

/* A name that the dictionary does not know: writes it, and has it known where there is room. */
static bool tell(struct gprof_percpu_buffer *ch, const struct name *name, struct gprof_lookup *l)
{
	struct name key = key_of(name, NAMED);
	struct gprof_lookup task;

	gprof_dictionary_lookup(&ch->dictionary, ch->generation, (u64 *)&key, TASK_WORDS, &task);
	if (task.known)
		mark(ch, name);
	if (!write(ch, name))
		return false;
	/* Without room for either the name stays unknown, and is told each time. */
	if (!l->id || !task.id)
		return true;
	if (!task.known && !gprof_dictionary_commit(&ch->dictionary, &task))
		mark(ch, name);
	l->known = gprof_dictionary_commit(&ch->dictionary, l);
	return true;
}

/* Was current told by its name last, as this depth remembers? */
static bool is_remembered(const struct gprof_memo *memo,
			  const struct gprof_user_frames *user_frames)
{
	return memo->process_version == user_frames->process_version && memo->tid == current->pid &&
	       memo->comm[0] == name_word(current, 0) && memo->comm[1] == name_word(current, 1);
}

static void remember(struct gprof_percpu_buffer *ch, struct gprof_memo *memo,
		     const struct gprof_user_frames *user_frames, const struct name *name)
{
	memo->process_version = user_frames->process_version;
	memo->tid = current->pid;
	memo->told_tid = name->tid;
	memcpy(memo->comm, name->comm, sizeof(memo->comm));
	barrier();	/* an interrupt that renames forgets this, or is seen below */
	if (unlikely(READ_ONCE(ch->renamed) == ch->epoch))
		memo->process_version = 0;
}

static noinline s64 tell_if_new(struct gprof_percpu_buffer *ch, struct gprof_memo *memo,
				struct task_struct *whose, struct pid_namespace *ns,
				const struct gprof_user_frames *user_frames)
{
	struct gprof_lookup l;
	struct name name;

	name_of(&name, whose, ns);
	gprof_dictionary_lookup(&ch->dictionary, ch->generation, (const u64 *)&name,
				sizeof(name) / sizeof(u64), &l);
	if (!l.known ? !tell(ch, &name, &l) :
		       is_marked(ch, &name) && !write(ch, &name))
		return GPROF_UNSAID;
	if (l.known && whose == current)
		remember(ch, memo, user_frames, &name);
	return name.tid;
}

/**
 * gprof_comm_cache_tell() - the id of a task whose name the ring has told last
 * @ch: per-CPU buffer
 * @memo: of this nesting depth, of the current generation
 * @whose: whose sample it is
 * @ns: in which records have ids; NULL: the initial pid namespace
 * @user_frames: of the sample
 *
 * Context: A producer of the CPU's buffer.
 * Return: id; or GPROF_UNSAID: there is no room in the ring, and the sample is counted as lost.
 */
s64 gprof_comm_cache_tell(struct gprof_percpu_buffer *ch, struct gprof_memo *memo,
			  struct task_struct *whose, struct pid_namespace *ns,
			  const struct gprof_user_frames *user_frames)
{
	if (likely(whose == current && is_remembered(memo, user_frames)))
		return memo->told_tid;
	return tell_if_new(ch, memo, whose, ns, user_frames);
}
