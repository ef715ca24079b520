// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * trigger.c: triggers of a flight recorder.
 */
#include "trigger.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>

#include "device/device.h"
#include "device/syscall_name.h"
#include "device/tracepoint.h"

#define CALLS_MAX	1024	/* above any number of a system call */

static_assert((int)GPROF_CAUSE_REQUEST == GPROF_TRIGGER_REQUEST, "the kernel's numbers");
static_assert((int)GPROF_CAUSE_TRACEPOINT == GPROF_TRIGGER_TRACEPOINT, "the kernel's numbers");

/* In the order of the numbers that the kernel has had since 2.6. */
static const char *const softirqs[] = {
	"HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU",
};

static const char *softirq_name(int nr)
{
	return nr >= 0 && (size_t)nr < sizeof(softirqs) / sizeof(*softirqs) ? softirqs[nr] : NULL;
}

static const char *call_name(int nr)
{
	return nr >= 0 ? gprof_syscall_name((uint64_t)nr) : NULL;
}

static const char *signal_name(int nr)
{
	return nr > 0 ? sigabbrev_np(nr) : NULL;
}

/**
 * struct cause - a kind of condition
 * @text: its name
 * @name: of its numbers, or NULL: they have none
 * @kind: name of its numbers, or NULL: it has none
 */
static const struct cause {
	const char *text;
	const char *(*name)(int nr);
	const char *kind;
} causes[] = {
	[GPROF_CAUSE_REQUEST] = { "request", NULL, NULL },
	[GPROF_CAUSE_DELAY] = { "delay", NULL, NULL },
	[GPROF_CAUSE_OFF_CPU] = { "off-cpu", NULL, NULL },
	[GPROF_CAUSE_BLOCKED] = { "blocked", NULL, NULL },
	[GPROF_CAUSE_SYSCALL] = { "syscall", call_name, "system call" },
	[GPROF_CAUSE_RECLAIM] = { "reclaim", NULL, NULL },
	[GPROF_CAUSE_IRQ] = { "irq", NULL, "interrupt" },
	[GPROF_CAUSE_SOFTIRQ] = { "softirq", softirq_name, "softirq" },
	[GPROF_CAUSE_SIGNAL] = { "signal", signal_name, "signal" },
	[GPROF_CAUSE_TRACEPOINT] = { "tracepoint", NULL, "tracepoint" },
};

/* "SIGSEGV" is "SEGV". */
static const char *without_prefix(const struct cause *c, const char *name)
{
	return c->name == signal_name && !strncasecmp(name, "SIG", 3) ? name + 3 : name;
}

static int find_number(const struct cause *c, const char *name, int *number, struct gprof_error *e)
{
	const char *plain = without_prefix(c, name);
	int i;

	for (i = 0; c->name && i < CALLS_MAX; i++) {
		const char *is = c->name(i);

		if (is && !strcasecmp(is, plain)) {
			*number = i;
			return 0;
		}
	}
	return gprof_error_set(e, ENOENT, "trigger %s: there is no %s called \"%s\"", c->text, c->kind,
			       name);
}

static int check(const struct gprof_flight_trigger *t, const struct cause *c, struct gprof_error *e)
{
	bool reached = t->cause == GPROF_CAUSE_TRACEPOINT;

	if (!c->kind && (t->name || t->number != GPROF_TRIGGER_ANY))
		return gprof_error_set(e, EINVAL, "trigger %s: it has neither a name nor a number",
				       c->text);
	if (reached && !t->name)
		return gprof_error_set(e, EINVAL,
				       "trigger tracepoint: which one? such as sched:sched_wakeup");
	if (t->filter && !reached)
		return gprof_error_set(e, EINVAL, "trigger %s: only a tracepoint has a filter",
				       c->text);
	if (t->longer_ns && (reached || t->cause == GPROF_CAUSE_SIGNAL))
		return gprof_error_set(e, EINVAL, "trigger %s: it happens, and does not last",
				       c->text);
	if (t->longer_ns > GPROF_TRIGGER_NS_MAX || t->interval_ns > GPROF_TRIGGER_NS_MAX)
		return gprof_error_set(e, EINVAL, "trigger %s: times are three days at most",
				       c->text);
	if (t->name && (reached ? strlen(t->name) >= GPROF_TRIGGER_NAME_MAX :
			t->number != GPROF_TRIGGER_ANY))
		return gprof_error_set(e, EINVAL, "trigger %s: %s", c->text,
				       reached ? "the name is too long" : "both name and number");
	return 0;
}

static int explain(int err, uint32_t reason, const char *text, struct gprof_error *e)
{
	switch (reason) {
	case GPROF_REASON_TRIGGER:
		if (err == ENOENT)
			return gprof_error_set(e, err, "trigger %s: this kernel has none such", text);
		if (err == ENOSPC)
			return gprof_error_set(e, err,
					       "trigger %s: a recorder has at most %d triggers", text,
					       GPROF_TRIGGERS_MAX);
		return gprof_error_set(e, err, "trigger %s: it cannot be evaluated on this kernel",
				       text);
	case GPROF_REASON_SLOWS_DENIED:
		return gprof_error_set(e, err,
				       "trigger %s: it slows down every task of the host, which needs "
				       "root or CAP_PERFMON", text);
	case GPROF_REASON_LOCKDOWN:
		return gprof_error_set(e, err,
				       "trigger %s: the kernel is locked down (Secure Boot), and "
				       "allows no tracepoints", text);
	case GPROF_REASON_MEMLOCK:
		return gprof_error_set(e, err,
				       "trigger %s: the table of what tasks wait for would be over the "
				       "limit of locked memory; raise ulimit -l, or ask for smaller "
				       "buffers", text);
	}
	if (err == E2BIG)
		return gprof_error_set(e, err,
				       "trigger %s: the module that is loaded is older than its "
				       "filters; load a newer one", text);
	if (err == EBUSY)
		return gprof_error_set(e, err, "trigger %s: the recorder was started before", text);
	return gprof_error_set(e, err, "trigger %s: %s", text, gprof_strerror(err));
}

static void name_it(char *text, const struct cause *c, const struct gprof_flight_trigger *t,
		    int number)
{
	const char *name = t->cause == GPROF_CAUSE_TRACEPOINT ? t->name :
			   c->name ? c->name(number) : NULL;

	if (name)
		snprintf(text, GPROF_TRIGGER_TEXT, "%s:%s", c->text, name);
	else if (number != GPROF_TRIGGER_ANY)
		snprintf(text, GPROF_TRIGGER_TEXT, "%s:%d", c->text, number);
	else
		snprintf(text, GPROF_TRIGGER_TEXT, "%s", c->text);
}

static int set(const struct gprof_own_fd *dev, struct gprof_trigger *k,
	       const struct gprof_flight_trigger *t, const char *text, struct gprof_error *e)
{
	struct gprof_filter *filter = NULL;
	int err;

	if (t->filter) {
		filter = malloc(sizeof(*filter));
		if (!filter)
			return gprof_error_set(e, ENOMEM, "out of memory");
		err = gprof_tracepoint_filter(NULL, t->name, t->filter, filter, e);
		if (err) {
			free(filter);
			return err;
		}
		k->filter = (uintptr_t)filter->steps;
		k->filter_steps = filter->nr;
		k->filter_text = (uintptr_t)filter->text;
		k->filter_text_size = filter->text_size;
	}
	err = ioctl(dev->fd, GPROF_IOC_TRIGGER, k) ? errno : 0;
	free(filter);
	return err ? explain(err, k->out_reason, text, e) : 0;
}

int gprof_trigger_add(struct gprof_trigger_set *s, const struct gprof_own_fd *dev,
		      const struct gprof_flight_trigger *t, struct gprof_error *e)
{
	struct gprof_trigger k = {
		.size = sizeof(k), .threshold_ns = t->longer_ns, .interval_ns = t->interval_ns,
		.number = t->number,
	};
	bool reached = t->cause == GPROF_CAUSE_TRACEPOINT;
	char text[GPROF_TRIGGER_TEXT];
	const struct cause *c;
	int err;

	if (t->cause < GPROF_CAUSE_DELAY || t->cause > GPROF_CAUSE_TRACEPOINT)
		return gprof_error_set(e, EINVAL, "there is no cause %d for a trigger", (int)t->cause);
	c = &causes[t->cause];
	err = check(t, c, e);
	if (!err && t->name && !reached)
		err = find_number(c, t->name, &k.number, e);
	if (err)
		return err;
	k.what = (uint32_t)t->cause;
	k.name = reached ? (uintptr_t)t->name : 0;
	name_it(text, c, t, k.number);
	err = gprof_device_check(dev, text, e);
	if (!err)
		err = set(dev, &k, t, text, e);
	if (err)
		return err;
	s->cause[k.out_index] = t->cause;
	memcpy(s->text[k.out_index], text, sizeof(text));
	s->nr = k.out_index + 1;
	return (int)k.out_index;
}

int gprof_trigger_read(const struct gprof_trigger_set *s, const struct gprof_own_fd *dev,
		       struct gprof_flight_fired *out, struct gprof_error *e)
{
	struct gprof_trigger_event k = { .size = sizeof(k) };
	enum gprof_flight_cause cause;
	int err = gprof_device_check(dev, "the flight recorder", e);

	if (err)
		return err;
	if (ioctl(dev->fd, GPROF_IOC_TRIGGER_READ, &k)) {
		if (errno == EAGAIN) {
			out->fired = k.fired;
			out->suppressed = k.suppressed;
			out->unwatched = k.untracked;
			return -EAGAIN;
		}
		return gprof_error_set(e, errno, "%s: FIRED failed: %s", GPROF_DEVICE,
				       gprof_strerror(errno));
	}
	if (k.index >= s->nr && k.index != GPROF_TRIGGER_EVENT_REQUEST)
		return gprof_error_set(e, EPROTO, "trigger %u has fired, which was not set; this "
				       "is a bug of gprof", k.index);
	cause = k.index == GPROF_TRIGGER_EVENT_REQUEST ? GPROF_CAUSE_REQUEST : s->cause[k.index];
	*out = (struct gprof_flight_fired){
		.index = (int)k.index,
		.cause = cause,
		.trigger = cause == GPROF_CAUSE_REQUEST ? causes[cause].text : s->text[k.index],
		.name = causes[cause].name ? causes[cause].name(k.number) : NULL,
		.number = k.number,
		.time_ns = k.time,
		.duration_ns = k.duration_ns,
		.tid = k.tid,
		.pid = k.pid,
		.cpu = k.cpu,
		.goes_on = k.flags & GPROF_TRIGGER_EVENT_F_GOES_ON,
		.unmarked = k.flags & GPROF_TRIGGER_EVENT_F_UNMARKED,
		.fired = k.fired,
		.suppressed = k.suppressed,
		.unwatched = k.untracked,
	};
	memcpy(out->comm, k.comm, sizeof(out->comm));
	out->comm[sizeof(out->comm) - 1] = '\0';
	return 0;
}

const char *gprof_trigger_text(const struct gprof_trigger_set *s, uint32_t index)
{
	return index < s->nr ? s->text[index] : NULL;
}
