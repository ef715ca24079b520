/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * budget: how often to sample, so that it costs no more than it may.
 *
 * At each level rates are half of those of the level before; at every second one recording
 * intervals are twice as long too, since to write a profile has a price of its own. A level
 * is kept for a minute or so, for to change it costs something as well.
 */
#ifndef GPROF_TOOLS_AGENT_BUDGET_H
#define GPROF_TOOLS_AGENT_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#define BUDGET_LEVEL_MAX	10

/**
 * struct budget - limit of the cost, and the present cost
 * @share: of one CPU's time; 0: no limit
 * @level: 0: as was asked for
 * @cost_ns: CPU time at this level
 * @elapsed_ns: likewise, time
 * @intervals: likewise
 */
struct budget {
	double share;
	unsigned int level;
	uint64_t cost_ns;
	uint64_t elapsed_ns;
	unsigned int intervals;
};

/**
 * budget_step() - an interval is over
 * @b: budget
 * @cost_ns: CPU time that it took
 * @elapsed_ns: how long it was
 *
 * Return: whether there is another level from now on.
 */
bool budget_step(struct budget *b, uint64_t cost_ns, uint64_t elapsed_ns);

/* budget_share() - cost at this level, of one CPU's time */
double budget_share(const struct budget *b);

/*
 * budget_hz() - samples a second, of those asked for; at least 1
 * budget_every() - one sample of so many events or bytes, likewise
 * budget_interval() - ns
 */
uint64_t budget_hz(const struct budget *b, uint64_t hz);
uint64_t budget_every(const struct budget *b, uint64_t every);
uint64_t budget_interval(const struct budget *b, uint64_t ns);

#endif /* GPROF_TOOLS_AGENT_BUDGET_H */
