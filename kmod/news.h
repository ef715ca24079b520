/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * news: of recorders, for whoever announces them.
 */
#ifndef GPROF_NEWS_H
#define GPROF_NEWS_H

#include <linux/types.h>

struct gprof_recorder;
struct notifier_block;

/* What gprof_news_watch() tells of. */
enum gprof_recorder_event {
	GPROF_RECORDER_STARTED,
	GPROF_RECORDER_STOPPED,
	GPROF_RECORDER_LOST,
	GPROF_RECORDER_TARGET_GONE,
	GPROF_RECORDER_FIRED,
};

/**
 * struct gprof_news - what gprof_news_watch() tells
 * @recorder: whose, which exists for as long as the call
 * @trigger: FIRED: index of the trigger
 * @trigger_what: FIRED: GPROF_TRIGGER_*
 */
struct gprof_news {
	struct gprof_recorder *recorder;
	u32 trigger;
	u32 trigger_what;
};

bool gprof_news_tell(enum gprof_recorder_event event, struct gprof_news *news);
int gprof_news_watch(struct notifier_block *nb);
void gprof_news_unwatch(struct notifier_block *nb);

#endif /* GPROF_NEWS_H */
