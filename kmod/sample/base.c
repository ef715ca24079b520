// SPDX-License-Identifier: GPL-2.0-only
/*
 * base: callers that a generation has said, for others to end like them.
 *
 * A place for each of some hashes of the process and the outermost caller, which is a
 * thread's first function. The first callers of a generation that have it keep it, so that
 * a stack that ends like them always is told in the same way, under the same id.
 *
 * All frames are compared, as many as the two have: nothing is taken for another's end.
 *
 * The outermost sample's alone: a sample that interrupts it finds its callers in the dictionary.
 */
#include "base.h"
#include "ring/channel.h"
#include "unwind/callers.h"

#include <linux/gprof.h>
#include <linux/hash.h>
#include <linux/minmax.h>

static u32 place_of(const struct gprof_callers *c)
{
	u64 outermost = c->nr ? c->frames[c->nr - 1] : 0;

	return ((outermost ^ c->process.pid) * GOLDEN_RATIO_64) >> 32 & (GPROF_BASES - 1);
}

/* How many frames do both end with? Most: by fours, with one branch for each. */
static u32 count_shared(const struct gprof_callers *a, const struct gprof_callers *b)
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
 * gprof_base_find() - callers that end as these do
 * @ch: channel of this CPU
 * @callers: these
 * @shared: gets with how many frames; perhaps 0
 *
 * Context: The outermost sample.
 * Return: their number, or 0.
 */
u32 gprof_base_find(const struct gprof_channel *ch, const struct gprof_callers *callers,
		    u32 *shared)
{
	u32 place = place_of(callers);
	const struct gprof_base *base = &ch->bases[place];
	const struct gprof_callers *said;

	if (base->epoch != ch->epoch)
		return 0;
	said = (const void *)gprof_dictionary_key(&ch->dictionary, base->callers);
	if (said->layout != callers->layout ||
	    !gprof_same_process(&said->process, &callers->process))
		return 0;
	*shared = count_shared(said, callers);
	return place + 1;
}

/**
 * gprof_base_free() - may these become a base?
 * @ch: channel of this CPU
 * @callers: these
 *
 * Context: The outermost sample.
 * Return: under which number, or 0.
 */
u32 gprof_base_free(const struct gprof_channel *ch, const struct gprof_callers *callers)
{
	u32 place = place_of(callers);

	return ch->bases[place].epoch == ch->epoch ? 0 : place + 1;
}

/**
 * gprof_base_take() - callers are a base from now on
 * @ch: channel of this CPU
 * @number: from gprof_base_free()
 * @id: of the callers, in the dictionary; the ring tells of them under @number
 *
 * Context: The outermost sample.
 */
void gprof_base_take(struct gprof_channel *ch, u32 number, u32 id)
{
	ch->bases[number - 1] = (struct gprof_base){ .epoch = ch->epoch, .callers = id };
}
