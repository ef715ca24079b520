/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names of events as other tools have them, to those of the library.
 */
#ifndef TOOLS_EVENTS_H
#define TOOLS_EVENTS_H

#include <stdbool.h>

/**
 * struct event_word - a typed event
 * @name: the library's name
 * @period: 0: none was given
 * @user_only: with :u
 * @kernel: with :k beside :u
 * @precise: number of p
 */
struct event_word {
	char *name;
	unsigned long long period;
	bool user_only;
	bool kernel;
	unsigned int precise;
};

/**
 * events_read() - take EVENT[:PERIOD], with perf's names and perf's :u and :p too
 * @word: gets filled; its name is to be freed in any case
 * @text: the typed text
 *
 * Return: STATUS_OK, or STATUS_USAGE after a sentence.
 */
int events_read(struct event_word *word, const char *text);

/*
 * events_period() - a period for about @hz samples in a second of a busy CPU of 2.4 GHz,
 * 0 for events that are sampled each time
 */
unsigned long long events_period(const char *name, unsigned long long hz);

#endif /* TOOLS_EVENTS_H */
