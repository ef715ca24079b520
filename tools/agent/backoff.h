/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * backoff: the time of the next try at an engine.
 *
 * As late as it says and somewhat later, or else after a second, two, four and so on up to
 * five minutes, a quarter more or less by chance: the hosts of a fleet do not all come back at
 * once.
 */
#ifndef GPROF_TOOLS_AGENT_BACKOFF_H
#define GPROF_TOOLS_AGENT_BACKOFF_H

#include <stdint.h>

/**
 * backoff_ns() - how long to wait
 * @failures: how often in a row it did not take something, 1 or more
 * @asked_ms: wait that it asked for; 0: none
 * @chance: by chance, any number
 */
uint64_t backoff_ns(unsigned int failures, uint64_t asked_ms, uint32_t chance);

#endif /* GPROF_TOOLS_AGENT_BACKOFF_H */
