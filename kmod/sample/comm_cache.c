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
#include "task/pid.h"

#include <linux/build_bug.h>
#include <linux/stddef.h>

/* Other facts of tasks in the dictionary: keys without a name, with this in place of 0. */
enum what {
	NAMED = 1,
	RENAMED = 2,
};

#define TASK_WORDS	(offsetof(struct gprof_name, comm) / sizeof(u64))

static struct gprof_name key_of(const struct gprof_name *name, enum what what)
{
	return (struct gprof_name){ .process = name->process, .tid = name->tid, .zero = what };
}

/* From now on the task is told with each sample, even if its name is known. */
static void mark(struct gprof_percpu_buffer *ch, u16 generation, const struct gprof_name *name)
{
	struct gprof_name key = key_of(name, RENAMED);
	struct gprof_lookup l;
	unsigned int i;

	gprof_dictionary_lookup(&ch->dictionary, generation, (u64 *)&key, TASK_WORDS, &l);
	if (!l.known && l.id)
		gprof_dictionary_commit(&ch->dictionary, &l);
	/* is_marked() looks in one place only. */
	if (!gprof_dictionary_find(&ch->dictionary, generation, (u64 *)&key, TASK_WORDS))
		WRITE_ONCE(ch->unsure, ch->epoch);
	WRITE_ONCE(ch->renamed, ch->epoch);
	barrier();	/* a gprof_comm_cache_remember() that is interrupted here sees it */
	for (i = 0; i < GPROF_DEPTH; i++)
		ch->memo[i].process_version = 0;
}

static bool is_marked(struct gprof_percpu_buffer *ch, u16 generation, const struct gprof_name *name)
{
	struct gprof_name key;

	if (likely(READ_ONCE(ch->renamed) != ch->epoch))
		return false;
	if (READ_ONCE(ch->unsure) == ch->epoch)
		return true;
	key = key_of(name, RENAMED);
	return gprof_dictionary_find(&ch->dictionary, generation, (u64 *)&key, TASK_WORDS);
}

/**
 * gprof_comm_cache_lookup() - which records does a sample need of its task?
 * @ch: per-CPU buffer
 * @generation: as gprof_buffer_begin() returned it
 * @whose: whose sample it is
 * @ns: in which records have ids; NULL: the initial pid namespace
 * @n: result
 *
 * All tasks without an id there have one name: a reader could not tell them apart.
 *
 * Context: A producer of the CPU's buffer.
 */
void gprof_comm_cache_lookup(struct gprof_percpu_buffer *ch, u16 generation,
			     struct task_struct *whose, struct pid_namespace *ns,
			     struct gprof_comm_cache *n)
{
	struct gprof_name task;

	BUILD_BUG_ON(sizeof(n->key) != 40);	/* no holes: compared as words */
	n->key.tid = gprof_pid_in(ns, whose->pid);
	n->key.zero = 0;
	if (unlikely(ns && !n->key.tid)) {
		n->key.process = (struct gprof_process){ };
		strscpy_pad((char *)n->key.comm, GPROF_TASK_OUTSIDE, sizeof(n->key.comm));
	} else {
		gprof_process_of(&n->key.process, whose);
		n->key.process.pid = gprof_pid_in(ns, n->key.process.pid);
		n->key.comm[0] = gprof_name_word(whose, 0);
		n->key.comm[1] = gprof_name_word(whose, 1);
	}
	gprof_dictionary_lookup(&ch->dictionary, generation, (const u64 *)&n->key,
				sizeof(n->key) / sizeof(u64), &n->name);
	if (n->name.known) {
		n->tell = is_marked(ch, generation, &n->key);
		return;
	}
	n->tell = true;
	task = key_of(&n->key, NAMED);
	gprof_dictionary_lookup(&ch->dictionary, generation, (u64 *)&task, TASK_WORDS, &n->task);
	if (n->task.known)
		mark(ch, generation, &n->key);
}

/**
 * gprof_comm_cache_write() - write the record
 * @rec: place of a TASK record
 * @n: as gprof_comm_cache_lookup() filled it in
 *
 * Context: A producer of the CPU's buffer.
 * Return: the end of the record.
 */
void *gprof_comm_cache_write(struct gprof_task_rec *rec, const struct gprof_comm_cache *n)
{
	rec->rec.type = GPROF_REC_TASK;
	rec->rec.flags = 0;
	rec->rec.size = sizeof(*rec);
	rec->process = n->key.process;
	rec->tid = n->key.tid;
	rec->uid = 0;
	memcpy(rec->comm, n->key.comm, TASK_COMM_LEN);
	return rec + 1;
}

/**
 * gprof_comm_cache_has() - the records are in the buffer
 * @ch: per-CPU buffer
 * @generation: as in gprof_comm_cache_lookup()
 * @n: as that filled it in
 *
 * Context: A producer of the CPU's buffer.
 * Return: whether the dictionary knows the name.
 */
bool gprof_comm_cache_has(struct gprof_percpu_buffer *ch, u16 generation,
			  const struct gprof_comm_cache *n)
{
	/* Without room for either the name stays unknown, and is told each time. */
	if (n->name.known || !n->name.id || !n->task.id)
		return n->name.known;
	if (!n->task.known && !gprof_dictionary_commit(&ch->dictionary, &n->task))
		mark(ch, generation, &n->key);
	return gprof_dictionary_commit(&ch->dictionary, &n->name);
}
