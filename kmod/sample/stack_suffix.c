// SPDX-License-Identifier: GPL-2.0-only
/*
 * stack_suffix: callers that a generation has said, for others to end like them.
 *
 * A place for each of some hashes of the process and the outermost caller, which is a
 * thread's first function. The first callers of a generation that have it keep it, so that
 * a stack that ends like them always is told in the same way, under the same id.
 *
 * All frames are compared, as many as the two have: nothing is taken for another's end.
 *
 * The outermost sample's alone: a sample that interrupts it finds its callers in the dictionary.
 */
#include "stack_suffix.h"
#include "ring/percpu_buffer.h"
#include "unwind/user_fp.h"

#include <linux/gprof.h>
#include <linux/hash.h>
#include <linux/minmax.h>

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

/**
 * gprof_stack_suffix_find() - callers that end as these do
 * @ch: per-CPU buffer of this CPU
 * @user_frames: these
 * @shared: gets with how many frames; perhaps 0
 *
 * Context: The outermost sample.
 * Return: their number, or 0.
 */
u32 gprof_stack_suffix_find(const struct gprof_percpu_buffer *ch,
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

/**
 * gprof_stack_suffix_free() - may these become a suffix?
 * @ch: per-CPU buffer of this CPU
 * @user_frames: these
 *
 * Context: The outermost sample.
 * Return: under which number, or 0.
 */
u32 gprof_stack_suffix_free(const struct gprof_percpu_buffer *ch,
			    const struct gprof_user_frames *user_frames)
{
	u32 place = place_of(user_frames);

	return ch->suffixes[place].epoch == ch->epoch ? 0 : place + 1;
}

/**
 * gprof_stack_suffix_use() - callers are a suffix from now on
 * @ch: per-CPU buffer of this CPU
 * @number: from gprof_stack_suffix_free()
 * @id: of the callers, in the dictionary; the ring tells of them under @number
 *
 * Context: The outermost sample.
 */
void gprof_stack_suffix_use(struct gprof_percpu_buffer *ch, u32 number, u32 id)
{
	ch->suffixes[number - 1] =
		(struct gprof_stack_suffix){ .epoch = ch->epoch, .user_frames = id };
}
