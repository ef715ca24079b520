// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * monitor.c: the recorders of this host, and their events.
 */
#include <errno.h>
#include <gprof/monitor.h>
#include <linux/gprof_netlink.h>
#include <netlink/msg.h>
#include <stdlib.h>
#include <string.h>

#include "recorder_answer.h"
#include "base/table.h"

#define RECORDERS_MAX	(1U << 18)

/**
 * struct gprof_recorder_list - recorders
 * @items: by id
 * @nr: how many
 * @room: for how many
 */
struct gprof_recorder_list {
	struct gprof_recorder_info *items;
	size_t nr;
	size_t room;
};

/**
 * struct gprof_monitor - a listener
 * @netlink: member of the group
 * @asks: for questions
 * @events: heard and not yet taken, from @first to @nr
 * @first: next to take
 * @nr: events
 * @room: for how many
 * @started: recorders whose start was taken, as they were then
 * @error: last failure
 */
struct gprof_monitor {
	struct gprof_netlink netlink;
	struct gprof_netlink asks;
	struct gprof_monitor_event *events;
	size_t first;
	size_t nr;
	size_t room;
	struct gprof_recorder_list started;
	struct gprof_error error;
};

static int add_recorder(void *ctx, int cmd, struct nlattr **attrs)
{
	struct gprof_recorder_list *l = ctx;
	int err;

	if (cmd != GPROF_CMD_RECORDER_GET)
		return -EPROTO;
	/* More than a host can have: each has its pages and its open file. */
	if (l->nr >= RECORDERS_MAX)
		return -EFBIG;
	err = gprof_grow(&l->items, &l->room, l->nr + 1, sizeof(*l->items));
	if (!err)
		err = gprof_recorder_answer(attrs, &l->items[l->nr]);
	if (!err)
		l->nr++;
	return err;
}

static void forget_recorders(void *ctx)
{
	((struct gprof_recorder_list *)ctx)->nr = 0;
}

static int compare(const void *pa, const void *pb)
{
	const struct gprof_recorder_info *a = pa, *b = pb;

	return a->id < b->id ? -1 : a->id > b->id;
}

struct gprof_recorder_list *gprof_recorder_list_new(void)
{
	struct gprof_recorder_list *l = calloc(1, sizeof(*l));
	struct gprof_netlink_query q = {
		.dump = true,
		.policy = gprof_recorder_answer_policy,
		.take = add_recorder,
		.restart = forget_recorders,
		.ctx = l,
		.what = "recorders",
	};
	struct gprof_netlink n = GPROF_NETLINK_NONE;
	struct gprof_error e = { 0 };
	int err;

	err = l ? gprof_netlink_open(&n, &e) : gprof_error_set(&e, ENOMEM, "recorders: no memory");
	if (!err) {
		q.message = gprof_netlink_message(&n, GPROF_CMD_RECORDER_GET);
		err = gprof_netlink_query(&n, &q, &e);
	}
	gprof_netlink_close(&n);
	if (!err) {
		if (l->nr)
			qsort(l->items, l->nr, sizeof(*l->items), compare);
		return l;
	}
	gprof_recorder_list_free(l);
	gprof_error_publish(&e);
	return NULL;
}

void gprof_recorder_list_free(struct gprof_recorder_list *l)
{
	if (!l)
		return;
	free(l->items);
	free(l);
}

size_t gprof_recorder_list_get(const struct gprof_recorder_list *l,
			       const struct gprof_recorder_info **recorders)
{
	*recorders = l->items;
	return l->nr;
}

int gprof_snapshot_request(uint64_t id)
{
	struct gprof_netlink_query q = {
		.policy = gprof_recorder_answer_policy,
		.what = "a snapshot",
	};
	struct gprof_netlink n = GPROF_NETLINK_NONE;
	struct gprof_error e = { 0 };
	int err = gprof_netlink_open(&n, &e);

	if (!err) {
		q.message = gprof_netlink_message(&n, GPROF_CMD_RECORDER_SNAPSHOT);
		if (q.message && nla_put_u64(q.message, GPROF_A_RECORDER_ID, id)) {
			nlmsg_free(q.message);
			q.message = NULL;
		}
		err = gprof_netlink_query(&n, &q, &e);
	}
	gprof_netlink_close(&n);
	return err;
}

struct gprof_monitor *gprof_monitor_new(void)
{
	struct gprof_monitor *m = calloc(1, sizeof(*m));
	struct gprof_error e = { 0 };
	int err;

	if (!m) {
		err = gprof_error_set(&e, ENOMEM, "events: no memory");
	} else {
		m->asks = GPROF_NETLINK_NONE;
		err = gprof_netlink_open(&m->netlink, &e);
	}
	if (!err)
		err = gprof_netlink_join(&m->netlink, GPROF_NL_GROUP_EVENTS, &e);
	if (!err)
		err = gprof_netlink_open(&m->asks, &e);
	if (!err)
		return m;
	gprof_monitor_free(m);
	gprof_error_publish(&e);
	return NULL;
}

void gprof_monitor_free(struct gprof_monitor *m)
{
	if (!m)
		return;
	gprof_netlink_close(&m->netlink);
	gprof_netlink_close(&m->asks);
	free(m->started.items);
	free(m->events);
	free(m);
}

int gprof_monitor_fd(const struct gprof_monitor *m)
{
	return m->netlink.own.fd;
}

static int on_event(void *ctx, int cmd, struct nlattr **attrs)
{
	struct gprof_monitor *m = ctx;
	struct gprof_monitor_event *event;
	enum gprof_monitor_type type;
	int err;

	switch (cmd) {
	case GPROF_CMD_RECORDER_STARTED:
		type = GPROF_MONITOR_STARTED;
		break;
	case GPROF_CMD_RECORDER_STOPPED:
		type = GPROF_MONITOR_STOPPED;
		break;
	case GPROF_CMD_RECORDER_LOST:
		type = GPROF_MONITOR_LOST;
		break;
	case GPROF_CMD_RECORDER_TARGET_GONE:
		type = GPROF_MONITOR_TARGET_GONE;
		break;
	case GPROF_CMD_RECORDER_FIRED:
		type = GPROF_MONITOR_FIRED;
		break;
	default:
		return 0;
	}
	err = gprof_grow(&m->events, &m->room, m->nr + 1, sizeof(*m->events));
	if (err)
		return err;
	event = &m->events[m->nr];
	memset(event, 0, sizeof(*event));
	err = gprof_recorder_event(attrs, &event->recorder);
	if (err)
		return err;
	event->type = type;
	if (attrs[GPROF_A_RECORDER_TRIGGER])
		event->trigger = (int)nla_get_u32(attrs[GPROF_A_RECORDER_TRIGGER]);
	if (attrs[GPROF_A_RECORDER_TRIGGER_WHAT])
		event->cause = nla_get_u32(attrs[GPROF_A_RECORDER_TRIGGER_WHAT]);
	m->nr++;
	return 0;
}

static struct gprof_recorder_info *find_started(struct gprof_monitor *m, uint64_t id)
{
	for (size_t i = 0; i < m->started.nr; i++)
		if (m->started.items[i].id == id)
			return &m->started.items[i];
	return NULL;
}

/* Asks for one recorder. 1: it is in @info; 0: there is none to see; or -errno. */
static int query(struct gprof_monitor *m, uint64_t id, struct gprof_recorder_info *info)
{
	struct gprof_recorder_list found = { 0 };
	struct gprof_netlink_query q = {
		.message = gprof_netlink_message(&m->asks, GPROF_CMD_RECORDER_GET),
		.policy = gprof_recorder_answer_policy,
		.take = add_recorder,
		.restart = forget_recorders,
		.ctx = &found,
		.what = "a recorder",
	};
	int err;

	if (q.message && nla_put_u64(q.message, GPROF_A_RECORDER_ID, id)) {
		nlmsg_free(q.message);
		q.message = NULL;
	}
	err = gprof_netlink_query(&m->asks, &q, &m->error);
	if (!err && found.nr)
		*info = found.items[0];
	err = err == -ENOENT ? 0 : err ? err : found.nr > 0;
	free(found.items);
	return err;
}

/* A recorder that is closed while it is started can be asked for before only. */
static int describe(struct gprof_monitor *m, struct gprof_monitor_event *event)
{
	struct gprof_recorder_info *before = find_started(m, event->recorder.id);
	struct gprof_recorder_list *l = &m->started;
	int ret = query(m, event->recorder.id, &event->recorder);

	if (ret < 0)
		return ret;
	if (!ret && before && event->type == GPROF_MONITOR_STOPPED) {
		event->recorder = *before;
		event->recorder.started = false;
		ret = 1;
	}
	event->described = ret;
	/* The others may be taken after it has stopped. */
	if (event->type != GPROF_MONITOR_STOPPED && event->type != GPROF_MONITOR_STARTED)
		return 0;
	if (event->type == GPROF_MONITOR_STOPPED) {
		if (before)
			*before = l->items[--l->nr];
		return 0;
	}
	if (!ret)
		return 0;
	if (!before) {
		ret = gprof_grow(&l->items, &l->room, l->nr + 1, sizeof(*l->items));
		if (ret)
			return gprof_error_set(&m->error, ENOMEM, "no memory for events");
		before = &l->items[l->nr++];
	}
	*before = event->recorder;
	return 0;
}

int gprof_monitor_next(struct gprof_monitor *m, struct gprof_monitor_event *event)
{
	int err;

	if (m->first == m->nr) {
		m->first = m->nr = 0;
		err = gprof_netlink_receive(&m->netlink, &gprof_recorder_answer_policy, on_event, m,
					    &m->error);
		if (err)
			return err;
	}
	if (m->first == m->nr)
		return 0;
	*event = m->events[m->first];
	event->described = false;
	err = describe(m, event);
	if (err)
		return err;
	m->first++;
	return 1;
}
