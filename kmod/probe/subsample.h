/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * subsample: which of many samples a recorder takes that asked for fewer.
 *
 * Each with the same probability, independent of those before, so that nothing that goes with
 * the rhythm of the source is preferred. Instead of deciding for each, the number of
 * those to leave out is drawn: a geometric one. Compiles in user space too.
 */
#ifndef GPROF_SUBSAMPLE_H
#define GPROF_SUBSAMPLE_H

#include <asm/local64.h>
#include <linux/compiler.h>
#include <linux/types.h>

#define GPROF_SUBSAMPLE_BITS	62	/* of a gap */

/**
 * struct gprof_subsampling - a probability, and how to draw gaps for it
 * @part: of
 * @whole: so many; a period for which samples come, and that which is asked for
 * @nr_bits: how many bits a gap may have
 * @bits: for each, how likely it is set, 32 bits of fraction
 */
struct gprof_subsampling {
	u64 part;
	u64 whole;
	u32 nr_bits;
	u32 bits[GPROF_SUBSAMPLE_BITS];
};

/**
 * struct gprof_subsample - the state of a recorder on one CPU
 * @drawn_for: the subsampling that @left was drawn for, a number; 0: none
 * @left: samples until the next one that is taken, which counts too
 * @random: state of the generator
 *
 * Written by its CPU alone; a sample may be interrupted by another.
 */
struct gprof_subsample {
	u32 drawn_for;
	local64_t left;
	local64_t random;
};

void gprof_subsampling_init(struct gprof_subsampling *t, u64 part, u64 whole);
u64 gprof_subsample_skip(struct gprof_subsample *s, const struct gprof_subsampling *t);
bool gprof_subsample_draws(struct gprof_subsample *s, const struct gprof_subsampling *t, u32 number,
			   s64 left);
bool gprof_subsample_by_chance(struct gprof_subsample *s, u64 part, u64 whole);
u64 gprof_subsample_random(struct gprof_subsample *s);

/**
 * gprof_subsample_skips() - is this sample certainly none of the recorder's?
 * @s: its state on this CPU
 * @number: of its subsampling, as below
 * @left: gets the value that gprof_subsample_draws() wants to know where it may be
 *
 * For a caller that must not call anything while it is none.
 *
 * Context: Any incl. NMI, preemption off.
 */
static __always_inline bool gprof_subsample_skips(struct gprof_subsample *s, u32 number, s64 *left)
{
	*left = 0;
	if (unlikely(READ_ONCE(s->drawn_for) != number))
		return false;
	*left = local64_sub_return(1, &s->left);
	return likely(*left > 0);
}

/**
 * gprof_subsample_takes() - is this sample one of the recorder's?
 * @s: its state on this CPU
 * @t: how likely that is
 * @number: of @t, another one for each that there was; not 0
 *
 * Context: Any incl. NMI, preemption off.
 */
static __always_inline bool gprof_subsample_takes(struct gprof_subsample *s,
						  const struct gprof_subsampling *t, u32 number)
{
	s64 left;

	return likely(gprof_subsample_skips(s, number, &left)) ?
		       false :
		       gprof_subsample_draws(s, t, number, left);
}

#endif /* GPROF_SUBSAMPLE_H */
