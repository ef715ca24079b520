// SPDX-License-Identifier: GPL-2.0-only
/*
 * news: of recorders, for whoever announces them.
 */
#include "news.h"

#include <linux/notifier.h>

static BLOCKING_NOTIFIER_HEAD(watchers);

/**
 * gprof_news_tell() - tell the watchers
 * @event: what happened
 * @news: of whom
 *
 * Context: Task.
 * Return: whether one has passed it on.
 */
bool gprof_news_tell(enum gprof_recorder_event event, struct gprof_news *news)
{
	return blocking_notifier_call_chain(&watchers, event, news) == NOTIFY_OK;
}

/**
 * gprof_news_watch() - be told of recorders that start and stop
 * @nb: called with enum gprof_recorder_event and struct gprof_news; in task context,
 *	without locks
 *
 * Context: Task.
 * Return: 0 or a negative errno.
 */
int gprof_news_watch(struct notifier_block *nb)
{
	return blocking_notifier_chain_register(&watchers, nb);
}

/**
 * gprof_news_unwatch() - no longer; no call is under way when it returns
 * @nb: watcher
 *
 * Context: Task.
 */
void gprof_news_unwatch(struct notifier_block *nb)
{
	blocking_notifier_chain_unregister(&watchers, nb);
}
