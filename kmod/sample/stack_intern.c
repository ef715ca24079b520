// SPDX-License-Identifier: GPL-2.0-only
/*
 * stack_intern: the id of a stack, with its record where this generation has not said it yet.
 *
 * Callers that a generation has said are suffixes, for others to end like them: a place for each
 * of some hashes of the process and the outermost caller, which is a thread's first function. The
 * first callers of a generation that have it keep it, so that a stack that ends like them always
 * is told in the same way, under the same id. All frames are compared, as many as the two have:
 * nothing is taken for another's end.
 *
 * They are the outermost sample's alone: a sample that interrupts it finds its callers in the
 * dictionary.
 */
#include "stack_intern.h"
#include "mapping.h"
#include "ring/percpu_buffer.h"
#include "task/pid.h"
#include "unwind/stack.h"

#include <linux/gprof.h>
#include <linux/hash.h>
#include <linux/minmax.h>
#include <linux/overflow.h>

static u32 place_of(const struct gprof_user_frames *c)
{
	u64 outermost = c->nr ? c->frames[c->nr - 1] : 0;

	return ((outermost ^ c->process.pid) * GOLDEN_RATIO_64) >> 32 & (GPROF_STACK_SUFFIXES - 1);
}

/* How many frames do both end with? Most: by fours, with one branch for each. */
static u32 count_shared(const struct gprof_user_frames *a, const struct gprof_user_frames *b)
{
	const u64 *pa = a->frames + a->nr, *pb = b->frames + b->nr, *stop;

	stop = pa - min(a->nr, b->nr);
	for (; pa - stop >= 4; pa -= 4, pb -= 4) {
		if ((pa[-1] ^ pb[-1]) | (pa[-2] ^ pb[-2]) | (pa[-3] ^ pb[-3]) | (pa[-4] ^ pb[-4]))
			break;
	}
	for (; pa > stop && pa[-1] == pb[-1]; pa--, pb--)
		;
	return a->frames + a->nr - pa;
}

/* Callers that end as these do: their number and @shared, with how many frames; or 0. */
static u32 find_suffix(const struct gprof_percpu_buffer *ch,
		       const struct gprof_user_frames *user_frames, u32 *shared)
{
	u32 place = place_of(user_frames);
	const struct gprof_stack_suffix *suffix = &ch->suffixes[place];
	const struct gprof_user_frames *said;

	if (suffix->epoch != ch->epoch)
		return 0;
	said = (const void *)gprof_dictionary_key(&ch->dictionary, suffix->user_frames);
	if (said->exec_map_seq != user_frames->exec_map_seq ||
	    !gprof_same_process(&said->process, &user_frames->process))
		return 0;
	*shared = count_shared(said, user_frames);
	return place + 1;
}

/* May these become a suffix? Under which number, or 0. */
static u32 free_suffix(const struct gprof_percpu_buffer *ch, const struct gprof_memo *memo,
		       const struct gprof_user_frames *user_frames)
{
	u32 place = place_of(user_frames);

	return memo != ch->memo || ch->suffixes[place].epoch == ch->epoch ? 0 : place + 1;
}

/*
 * The id and frames by which the dictionary knows callers that are not the last sample's. No record
 * defines that id. False: the dictionary is full.
 */
static noinline bool place_frames(struct gprof_percpu_buffer *ch, struct gprof_memo *memo,
				  const struct gprof_user_frames *user_frames)
{
	u32 shared = 0, suffix = 0, own = 0, id;

	if (memo == ch->memo)
		suffix = find_suffix(ch, user_frames, &shared);
	if (suffix && user_frames->nr - shared <= GPROF_OWN_FRAMES) {
		id = ch->suffixes[suffix - 1].user_frames;
		own = user_frames->nr - shared;
	} else {
		struct gprof_lookup l;

		gprof_dictionary_lookup(&ch->dictionary, ch->generation, (const u64 *)user_frames,
					gprof_user_frames_words(user_frames), &l);
		if (!l.id)
			return false;
		if (!l.known)
			gprof_dictionary_commit(&ch->dictionary, &l);
		id = l.id;
	}
	memo->frames_version = user_frames->version;
	memo->user_frames = id;
	memo->nr_end = user_frames->nr - own;
	memo->nr_own = own;
	memo->suffix = suffix;
	memo->nr_shared = shared;
	return true;
}

static void write_frames(u64 *to, const struct gprof_stack *stack, u32 shared)
{
	to = gprof_u64_array_copy(to, stack->top.frames, stack->top.nr_kernel + stack->top.nr_user);
	gprof_u64_array_copy(to, stack->user_frames.frames, stack->user_frames.nr - shared);
}

/* As a branch of the suffix that the callers have. */
static bool say_delta(struct gprof_percpu_buffer *ch, const struct gprof_memo *memo,
		      const struct gprof_stack *stack, u32 id)
{
	u32 shared = memo->nr_shared, nr_kernel = stack->top.nr_kernel;
	u32 nr_user = stack->top.nr_user + stack->user_frames.nr - shared;
	struct gprof_stack_delta_rec *rec;
	u32 size = struct_size(rec, frames, nr_kernel + nr_user);

	rec = gprof_buffer_reserve(&ch->buffer, size, GPROF_BEFORE_SAMPLE);
	if (!rec)
		return false;
	rec->rec.type = GPROF_REC_STACK_DELTA;
	rec->rec.flags = stack->top.flags;
	rec->rec.size = size;
	rec->id = id;
	rec->suffix = memo->suffix;
	rec->nr_kernel = nr_kernel;
	rec->nr_user = nr_user;
	rec->nr_shared = shared;
	rec->__reserved = 0;
	write_frames(rec->frames, stack, shared);
	return true;
}

/* Whole, under a @number that others shall be told by, or 0. */
static bool say_whole(struct gprof_percpu_buffer *ch, struct pid_namespace *ns,
		      const struct gprof_stack *stack, u32 id, u32 number)
{
	u32 nr_kernel = stack->top.nr_kernel;
	u32 nr_user = stack->top.nr_user + stack->user_frames.nr;
	struct gprof_stack_rec *rec;
	u32 size = struct_size(rec, frames, nr_kernel + nr_user);

	rec = gprof_buffer_reserve(&ch->buffer, size, GPROF_BEFORE_SAMPLE);
	if (!rec)
		return false;
	rec->rec.type = GPROF_REC_STACK;
	rec->rec.flags = stack->top.flags;
	rec->rec.size = size;
	rec->id = id;
	rec->exec_map_seq = stack->user_frames.exec_map_seq;
	rec->nr_kernel = nr_kernel;
	rec->nr_user = nr_user;
	rec->suffix = number;
	rec->process = stack->user_frames.process;
	rec->process.pid = gprof_pid_in(ns, rec->process.pid);
	write_frames(rec->frames, stack, 0);
	return true;
}

static noinline s64 say(struct gprof_percpu_buffer *ch, struct gprof_memo *memo,
			const struct gprof_stack *stack, struct pid_namespace *ns,
			struct gprof_maps *maps)
{
	const struct gprof_user_frames *user_frames = &stack->user_frames;
	bool placed = memo->frames_version == user_frames->version;
	struct gprof_lookup l = {};
	u32 id, number = 0;

	if (placed)
		gprof_dictionary_lookup(&ch->dictionary, ch->generation, (const u64 *)&stack->top,
					gprof_top_words(&stack->top), &l);
	/* An interrupt may just have said it. */
	if (l.known)
		return l.id;
	id = l.id ?: gprof_dictionary_spare(&ch->dictionary, ch->generation);
	if (placed && memo->suffix) {
		if (!say_delta(ch, memo, stack, id))
			return GPROF_UNSAID;
	} else {
		if (placed)
			number = free_suffix(ch, memo, user_frames);
		if (!say_whole(ch, ns, stack, id, number))
			return GPROF_UNSAID;
	}
	if (l.id)
		gprof_dictionary_commit(&ch->dictionary, &l);
	if (number) {
		ch->suffixes[number - 1] = (struct gprof_stack_suffix){
			.epoch = ch->epoch, .user_frames = memo->user_frames,
		};
		memo->suffix = number;
		memo->nr_shared = user_frames->nr;
	}
	if (user_frames->exec_map_seq)
		gprof_maps_request(maps, ch, &user_frames->process, user_frames->exec_map_seq,
				   ch->generation);
	return id;
}

/**
 * gprof_stack_intern() - the id of a stack that the generation has said
 * @ch: per-CPU buffer
 * @memo: of this nesting depth, of the current generation
 * @stack: stack
 * @ns: in which records have ids; NULL: the initial pid namespace
 * @maps: has the mappings of its process read
 *
 * A new stack's id is made known once its record is in the ring. An interrupt in between does not
 * find it, and says the same stack under another id, which is as true.
 *
 * Context: A producer of the CPU's buffer.
 * Return: id, 0 of an empty stack; or GPROF_UNSAID: there is no room in the ring, and the sample is
 * counted as lost.
 */
s64 gprof_stack_intern(struct gprof_percpu_buffer *ch, struct gprof_memo *memo,
		       struct gprof_stack *stack, struct pid_namespace *ns,
		       struct gprof_maps *maps)
{
	const struct gprof_user_frames *user_frames = &stack->user_frames;
	struct gprof_top *top = &stack->top;
	u32 nr_top = top->nr_kernel + top->nr_user, id;

	if (!nr_top)
		return 0;
	if (likely(memo->frames_version == user_frames->version) ||
	    place_frames(ch, memo, user_frames)) {
		top->ends = memo->ends;
		gprof_u64_array_copy(top->frames + nr_top, user_frames->frames, memo->nr_own);
		id = gprof_dictionary_find(&ch->dictionary, ch->generation, (const u64 *)top,
					   gprof_top_words(top));
		if (likely(id))
			return id;
	}
	return say(ch, memo, stack, ns, maps);
}
