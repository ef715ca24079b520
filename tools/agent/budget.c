// SPDX-License-Identifier: GPL-2.0-only
/*
 * How often to sample, so that it costs no more than it may.
 */
#include "budget.h"

#define INTERVALS	6	/* until the cost of a level is judged */
#define LESS		0.4	/* of the budget: twice as much is below it then */
#define LONGEST_NS	(300 * 1000000000ULL)

static bool change(struct budget *b, unsigned int level)
{
	b->level = level;
	b->cost_ns = b->elapsed_ns = b->intervals = 0;
	return true;
}

bool budget_step(struct budget *b, uint64_t cost_ns, uint64_t elapsed_ns)
{
	double share;

	b->cost_ns += cost_ns;
	b->elapsed_ns += elapsed_ns;
	b->intervals++;
	if (b->share <= 0 || b->intervals < INTERVALS)
		return false;
	share = budget_share(b);
	if (share > b->share && b->level < BUDGET_LEVEL_MAX)
		return change(b, b->level + 1);
	if (share < b->share * LESS && b->level)
		return change(b, b->level - 1);
	/* The next judgement is of later intervals. */
	b->cost_ns /= 2;
	b->elapsed_ns /= 2;
	b->intervals /= 2;
	return false;
}

double budget_share(const struct budget *b)
{
	return b->elapsed_ns ? (double)b->cost_ns / (double)b->elapsed_ns : 0;
}

uint64_t budget_hz(const struct budget *b, uint64_t hz)
{
	return hz >> b->level ? hz >> b->level : 1;
}

/* Up to the kernel's limit, 2^32 - 1. */
uint64_t budget_every(const struct budget *b, uint64_t every)
{
	return every <= UINT32_MAX >> b->level ? every << b->level : UINT32_MAX;
}

uint64_t budget_interval(const struct budget *b, uint64_t ns)
{
	uint64_t longer = ns << b->level / 2;

	return longer < LONGEST_NS || longer == ns ? longer : ns > LONGEST_NS ? ns : LONGEST_NS;
}
