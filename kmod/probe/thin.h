/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * thin: which of many samples a recorder takes that asked for fewer.
 *
 * Each with the same probability, independent of those before, so that nothing that goes with
 * the rhythm of the source is preferred. Instead of deciding for each, the number of
 * those to leave out is drawn: a geometric one. Compiles in user space too.
 */
#ifndef GPROF_THIN_H
#define GPROF_THIN_H

#include <asm/local64.h>
#include <linux/compiler.h>
#include <linux/types.h>

#define GPROF_THIN_BITS		62	/* of a gap */

/**
 * struct gprof_thinning - a probability, and how to draw gaps for it
 * @part: of
 * @whole: so many; a period for which samples come, and that which is asked for
 * @nr_bits: how many bits a gap may have
 * @bits: for each, how likely it is set, 32 bits of fraction
 */
struct gprof_thinning {
	u64 part;
	u64 whole;
	u32 nr_bits;
	u32 bits[GPROF_THIN_BITS];
};

/**
 * struct gprof_thin - the state of a recorder on one CPU
 * @drawn_for: the thinning that @left was drawn for, a number; 0: none
 * @left: samples until the next one that is taken, which counts too
 * @random: state of the generator
 *
 * Written by its CPU alone; a sample may be interrupted by another.
 */
struct gprof_thin {
	u32 drawn_for;
	local64_t left;
	local64_t random;
};

void gprof_thinning_init(struct gprof_thinning *t, u64 part, u64 whole);
u64 gprof_thin_gap(struct gprof_thin *s, const struct gprof_thinning *t);
bool gprof_thin_draws(struct gprof_thin *s, const struct gprof_thinning *t, u32 number,
		      s64 left);
bool gprof_thin_by_chance(struct gprof_thin *s, u64 part, u64 whole);
u64 gprof_thin_random(struct gprof_thin *s);

/**
 * gprof_thin_skips() - is this sample certainly none of the recorder's?
 * @s: its state on this CPU
 * @number: of its thinning, as below
 * @left: gets the value that gprof_thin_draws() wants to know where it may be
 *
 * For a caller that must not call anything while it is none.
 *
 * Context: Any incl. NMI, preemption off.
 */
static __always_inline bool gprof_thin_skips(struct gprof_thin *s, u32 number, s64 *left)
{
	*left = 0;
	if (unlikely(READ_ONCE(s->drawn_for) != number))
		return false;
	*left = local64_sub_return(1, &s->left);
	return likely(*left > 0);
}

/**
 * gprof_thin_takes() - is this sample one of the recorder's?
 * @s: its state on this CPU
 * @t: how likely that is
 * @number: of @t, another one for each that there was; not 0
 *
 * Context: Any incl. NMI, preemption off.
 */
static __always_inline bool gprof_thin_takes(struct gprof_thin *s,
					     const struct gprof_thinning *t, u32 number)
{
	s64 left;

	return likely(gprof_thin_skips(s, number, &left)) ? false :
							    gprof_thin_draws(s, t, number, left);
}

#endif /* GPROF_THIN_H */
