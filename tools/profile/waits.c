// SPDX-License-Identifier: GPL-2.0-only
/*
 * Waits as people ask for them: see waits.h.
 */
#include "waits.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/diag.h"
#include "module.h"

/* A thread that waits so has been told to sleep, or has nothing to do. */
static const char *const idle_reasons[] = { "sleep", "poll", "signal" };

/* The number of an idle reason, ARRAY_SIZE() of another; *@reason: NULL without one. */
static size_t idle_of(const struct gprof_profile *p, uint32_t labels, const char **reason)
{
	size_t i;

	*reason = gprof_profile_label_of(p, labels, "reason", NULL);
	for (i = 0; i < ARRAY_SIZE(idle_reasons); i++)
		if (*reason && !strcmp(*reason, idle_reasons[i]))
			break;
	return i;
}

void waits_look(struct waits *w, const struct gprof_profile *p, size_t type, const char *name)
{
	struct gprof_profile_stack stack;
	double idle = 0;

	if (w->ready || (strcmp(name, "delay") && strcmp(name, "contentions")))
		return;
	w->ready = true;
	for (size_t i = 0; !gprof_profile_stack(p, i, &stack); i++) {
		const char *reason;
		size_t n = idle_of(p, stack.labels, &reason);
		/* Of the base of a difference they are below 0. */
		double value = fabs((double)stack.values[type]);

		w->are |= reason != NULL;
		w->whole += value;
		if (n < ARRAY_SIZE(idle_reasons)) {
			w->idle[n] += value;
			idle += value;
		}
	}
	/* Of a program that does nothing else they are the answer. */
	w->hides = !w->all && idle > 0 && idle < w->whole;
}

bool waits_hide(const struct waits *w, const struct gprof_profile *p, uint32_t labels)
{
	const char *reason;

	return w->hides && idle_of(p, labels, &reason) < ARRAY_SIZE(idle_reasons);
}

static uint32_t reason_frame(struct waits *w, const struct gprof_profile *p, struct frames *frames,
			     uint32_t labels)
{
	const char *reason = gprof_profile_label_of(p, labels, "reason", NULL);
	struct gprof_frame f = { .file = "", .mapping = "" };
	char *text = xprintf("waiting: %s", reason ? reason : "unknown");

	for (size_t i = 0; i < w->nr_reasons; i++) {
		if (!strcmp(w->reasons[i].text, text)) {
			free(text);
			return w->reasons[i].frame;
		}
	}
	f.function = text;
	w->reasons = xgrow(w->reasons, w->nr_reasons, &w->room_reasons, sizeof(*w->reasons));
	w->reasons[w->nr_reasons] = (struct waits_reason){ text, frames_add(frames, &f) };
	return w->reasons[w->nr_reasons++].frame;
}

size_t waits_frames(struct waits *w, const struct gprof_profile *p, struct frames *frames,
		    uint32_t labels, size_t nr)
{
	const char *ended = gprof_profile_label_of(p, labels, "ended", NULL);
	/* The program that it met has no part in that. */
	bool irq = ended && (!strcmp(ended, "interrupt") || !strcmp(ended, "softirq"));
	size_t kernel = 0;

	if (!w->are || w->kernel)
		return nr;
	while (!irq && kernel < nr &&
	       frame_kind(&frames->all[frames->stack[kernel]]) == FRAME_KERNEL)
		kernel++;
	/* A thread of the kernel has no others. */
	if (kernel && kernel < nr) {
		nr -= kernel;
		memmove(frames->stack, frames->stack + kernel, nr * sizeof(*frames->stack));
	}
	frames_room(frames, nr + 1);
	frames->stack[nr] = reason_frame(w, p, frames, labels);
	return nr + 1;
}

void waits_report(struct waits *w)
{
	char each[128] = "", *to = each;
	double all = 0;

	for (size_t i = 0; i < ARRAY_SIZE(idle_reasons); i++) {
		all += w->idle[i];
		if (w->idle[i] > 0)
			to += sprintf(to, "%s%s %.1f %%", to == each ? "" : ", ", idle_reasons[i],
				      100 * w->idle[i] / w->whole);
	}
	if (w->hides && !w->reported)
		diag("%.1f %% of the waiting is idle and not shown (%s); --all-waits shows it",
		     100 * all / w->whole, each);
	w->reported = true;
}

void waits_free(struct waits *w)
{
	for (size_t i = 0; i < w->nr_reasons; i++)
		free(w->reasons[i].text);
	free(w->reasons);
	*w = (struct waits){ 0 };
}
