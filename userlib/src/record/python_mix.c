// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * python_mix.c: where the frames of an interpreter of Python are among those of C code.
 */
#include "python_mix.h"

#include <linux/gprof.h>

#include "symbol/python_names.h"

/* How many runs there are; the last may want its outermost frame. */
static size_t count_runs(const uint64_t *user, size_t nr)
{
	bool within = false;
	size_t runs = 0, i;

	for (i = 0; i < nr; i++) {
		if (!gprof_python_is_frame(user[i]))
			continue;
		runs += !within;
		within = !(user[i] & GPROF_PYTHON_ENTRY);
	}
	return runs;
}

static size_t count_evals(const uint64_t *user, size_t nr, const enum gprof_python_role *roles)
{
	size_t evals = 0, i;

	for (i = 0; i < nr; i++)
		evals += !(user[i] >> 63) && roles[i] != GPROF_PYTHON_OTHER;
	return evals;
}

/* Is the innermost run one frame that has done nothing yet? */
static bool is_fresh(const uint64_t *user, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++)
		if (gprof_python_is_frame(user[i]))
			return user[i] & GPROF_PYTHON_ENTRY && !(user[i] & GPROF_PYTHON_AT);
	return false;
}

/*
 * How many of the innermost calls of the interpreter have no run, and how many of the innermost
 * runs are to be left out; false: that is not known.
 *
 * A call has none before it has put its first frame into the list, and after it has taken that
 * out. Amid putting it there, its place may have any old value.
 */
static bool find_begin(const uint64_t *user, size_t nr, uint16_t flags,
		       const enum gprof_python_role *roles, size_t *no_run, size_t *left_out)
{
	bool c_cut = flags & GPROF_STACK_REC_F_USER_CUT;
	bool python_cut = flags & GPROF_STACK_REC_F_PYTHON_CUT;
	size_t runs = count_runs(user, nr), evals = count_evals(user, nr, roles);

	*no_run = *left_out = 0;
	if (c_cut || python_cut) {
		/* From the leaf on, if it is sure that the first belongs to the first. */
		if (roles[0] != GPROF_PYTHON_OTHER && (runs > 1 || roles[0] != GPROF_PYTHON_EVAL))
			return false;
		return (runs <= evals || c_cut) && (runs >= evals || python_cut);
	}
	if (runs + 1 == evals && roles[0] != GPROF_PYTHON_OTHER) {
		*no_run = 1;
		return true;
	}
	if (runs == evals && roles[0] == GPROF_PYTHON_EVAL_BEGIN && !is_fresh(user, nr))
		*no_run = *left_out = 1;
	return runs == evals;
}

/* Copies the next run to @order, and moves on. */
static size_t copy_run(const uint64_t *user, size_t nr, size_t *next, uint32_t *order)
{
	size_t taken = 0;

	while (*next < nr) {
		size_t i = (*next)++;

		if (!gprof_python_is_frame(user[i]))
			continue;
		if (order)
			order[taken] = (uint32_t)i;
		taken++;
		if (user[i] & GPROF_PYTHON_ENTRY)
			break;
	}
	return taken;
}

size_t gprof_python_mix(const uint64_t *user, size_t nr, uint16_t flags,
			const enum gprof_python_role *roles, uint32_t *order)
{
	size_t no_run, left_out, next = 0, out = 0, more, i;

	if (!nr || !find_begin(user, nr, flags, roles, &no_run, &left_out))
		return 0;
	while (left_out--)
		copy_run(user, nr, &next, NULL);
	for (i = 0; i < nr; i++) {
		if (user[i] >> 63)
			continue;
		more = 0;
		if (roles[i] != GPROF_PYTHON_OTHER && !no_run)
			more = copy_run(user, nr, &next, order + out);
		else if (roles[i] != GPROF_PYTHON_OTHER)
			no_run--;
		if (!more)
			order[out++] = (uint32_t)i;
		out += more;
	}
	/* Of those beyond the last C frame that was found, only these are known. */
	do {
		more = copy_run(user, nr, &next, order + out);
		out += more;
	} while (more);
	return out;
}
