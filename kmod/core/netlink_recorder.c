// SPDX-License-Identifier: GPL-2.0-only
/*
 * netlink_recorder: which sender sees which recorder, and which part of it.
 *
 * Both the sender of a request and the opener of its socket must be allowed, lest a
 * program with privileges be talked into asking for another. Members that are read
 * without any lock of the recorder decide that, and a query waits for no lock
 * that its owner can hold for long.
 *
 * Ids are those of the pid and user namespaces of the sender.
 */
#include "compat/genetlink.h"
#include "kind/source.h"
#include "netlink.h"
#include "recorder.h"

#include <linux/capability.h>
#include <linux/cgroup.h>
#include <linux/cred.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/gprof.h>
#include <linux/gprof_netlink.h>
#include <linux/net.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <net/sock.h>

static bool opened_by(struct sk_buff *request, kuid_t uid)
{
	struct sock *sk = NETLINK_CB(request).sk;

	return sk && sk->sk_socket && sk->sk_socket->file &&
	       uid_eq(sk->sk_socket->file->f_cred->euid, uid);
}

/*
 * The same uid is not enough: a program with a capability, of its file perhaps, may count events
 * that other programs of the user must not know.
 */
static bool owned_by_current(const struct gprof_entry *e)
{
	return uid_eq(current_euid(), e->owner) &&
	       (!e->privileged || e->pid == task_tgid(current));
}

static bool can_see(struct sk_buff *request, const struct gprof_entry *e)
{
	if (owned_by_current(e) && opened_by(request, e->owner))
		return true;
	return netlink_capable(request, CAP_PERFMON) || netlink_capable(request, CAP_SYS_ADMIN);
}

static struct gprof_recorder *recorder_of(struct gprof_entry *e)
{
	return container_of(e, struct gprof_recorder, entry);
}

/**
 * gprof_netlink_enter() - look at the recorder that a request is about
 * @request: request
 * @id: its id
 * @phase: gets how it is now
 * @extack: for the sentence
 *
 * Context: Task.
 * Return: recorder for gprof_netlink_leave(), or an ERR_PTR.
 */
struct gprof_recorder *gprof_netlink_enter(struct sk_buff *request, u64 id,
					   struct gprof_phase *phase,
					   struct netlink_ext_ack *extack)
{
	struct gprof_entry *e = gprof_registry_find(id);

	if (e) {
		if (can_see(request, e) && gprof_recorder_pin(recorder_of(e), phase))
			return recorder_of(e);
		gprof_entry_put(e);
	}
	NL_SET_ERR_MSG(extack, "No recorder of yours has this id; it may have been closed");
	return ERR_PTR(-ENOENT);
}

/**
 * gprof_netlink_leave() - end of looking
 * @r: result of gprof_netlink_enter()
 *
 * Context: Task.
 */
void gprof_netlink_leave(struct gprof_recorder *r)
{
	gprof_recorder_unpin(r);
	gprof_entry_put(&r->entry);
}

static int put_u64(struct sk_buff *skb, int attr, u64 value)
{
	return nla_put_u64_64bit(skb, attr, value, GPROF_A_RECORDER_PAD);
}

static int put_target(struct sk_buff *skb, const struct gprof_target *t)
{
	pid_t pid;

	if (nla_put_u32(skb, GPROF_A_RECORDER_TARGET, t->type))
		return -EMSGSIZE;
	if (t->cgroup && put_u64(skb, GPROF_A_RECORDER_TARGET_CGROUP, cgroup_id(t->cgroup)))
		return -EMSGSIZE;
	if (!t->task)
		return 0;
	/* 0 once it has died. */
	pid = task_pid_nr_ns(t->task, task_active_pid_ns(current));
	return pid ? nla_put_u32(skb, GPROF_A_RECORDER_TARGET_PID, pid) : 0;
}

static int put_owner(struct sk_buff *skb, const struct gprof_recorder *r)
{
	uid_t uid = from_kuid_munged(current_user_ns(), r->entry.owner);
	pid_t pid = pid_nr_ns(r->entry.pid, task_active_pid_ns(current));

	return nla_put_u32(skb, GPROF_A_RECORDER_OWNER_PID, pid) ||
	       nla_put_u32(skb, GPROF_A_RECORDER_OWNER_UID, uid) ||
	       nla_put_string(skb, GPROF_A_RECORDER_OWNER_COMM, r->entry.comm) ?
	       -EMSGSIZE : 0;
}

static int put_samples(struct sk_buff *skb, struct gprof_recorder *r)
{
	struct gprof_stats st = {};
	u64 lost = 0;
	int i;

	if (put_u64(skb, GPROF_A_RECORDER_BUFFER_SIZE, r->data_size))
		return -EMSGSIZE;
	if (!r->data_size)
		return 0;
	if (r->flight && nla_put_flag(skb, GPROF_A_RECORDER_FLIGHT))
		return -EMSGSIZE;
	gprof_recorder_samples(r, &st);
	for (i = 0; i < GPROF_LOST_NR; i++)
		lost += st.out_lost[i];
	/* Read at several instants while recording. */
	st.out_produced = max(st.out_produced, lost + st.out_overwritten);
	return put_u64(skb, GPROF_A_RECORDER_PRODUCED, st.out_produced) ||
	       put_u64(skb, GPROF_A_RECORDER_READ,
		       st.out_produced - lost - st.out_overwritten) ||
	       put_u64(skb, GPROF_A_RECORDER_LOST, lost) ||
	       put_u64(skb, GPROF_A_RECORDER_OVERWRITTEN, st.out_overwritten) ?
	       -EMSGSIZE : 0;
}

/* The attributes of RECORDER_GET. The caller has pinned @r. */
static int put_recorder(struct sk_buff *skb, struct gprof_recorder *r,
			const struct gprof_phase *phase)
{
	u32 state = phase->started ? GPROF_RECORDER_STATE_STARTED : GPROF_RECORDER_STATE_READY;

	return put_u64(skb, GPROF_A_RECORDER_ID, r->entry.id) ||
	       nla_put_u32(skb, GPROF_A_RECORDER_KIND, r->source->kind) ||
	       put_target(skb, &r->target) ||
	       nla_put_u32(skb, GPROF_A_RECORDER_STATE, state) ||
	       put_owner(skb, r) ||
	       put_u64(skb, GPROF_A_RECORDER_STARTED_NS, phase->started_ns) ||
	       put_u64(skb, GPROF_A_RECORDER_STOPPED_NS, phase->stopped_ns) ||
	       put_samples(skb, r) ? -EMSGSIZE : 0;
}

/**
 * gprof_netlink_recorder() - GPROF_CMD_RECORDER_GET
 * @skb: request
 * @info: the same, parsed
 *
 * Context: Task.
 * Return: 0 or a negative errno.
 */
int gprof_netlink_recorder(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr *id = info->attrs[GPROF_A_RECORDER_ID];
	struct gprof_recorder *r;
	struct gprof_phase phase;
	struct sk_buff *reply;
	int err = -EMSGSIZE;
	void *head;

	if (!id) {
		NL_SET_ERR_MSG(info->extack, "The id of the recorder is missing");
		return -EINVAL;
	}
	reply = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
	if (!reply)
		return -ENOMEM;
	r = gprof_netlink_enter(skb, nla_get_u64(id), &phase, info->extack);
	if (IS_ERR(r)) {
		nlmsg_free(reply);
		return PTR_ERR(r);
	}
	head = genlmsg_put_reply(reply, info, &gprof_netlink_family, 0, GPROF_CMD_RECORDER_GET);
	if (head)
		err = put_recorder(reply, r, &phase);
	gprof_netlink_leave(r);
	if (err) {
		nlmsg_free(reply);
		return err;
	}
	genlmsg_end(reply, head);
	return genlmsg_reply(reply, info);
}

/**
 * gprof_netlink_snapshot() - GPROF_CMD_RECORDER_SNAPSHOT
 * @skb: request
 * @info: the same, parsed
 *
 * Context: Task.
 * Return: 0 or a negative errno.
 */
int gprof_netlink_snapshot(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr *id = info->attrs[GPROF_A_RECORDER_ID];
	struct gprof_recorder *r;
	struct gprof_phase phase;
	int err = -EOPNOTSUPP;

	if (!id) {
		NL_SET_ERR_MSG(info->extack, "The id of the recorder is missing");
		return -EINVAL;
	}
	r = gprof_netlink_enter(skb, nla_get_u64(id), &phase, info->extack);
	if (IS_ERR(r))
		return PTR_ERR(r);
	if (r->flight && !phase.started_ns) {
		/* START throws waiting records away. */
		err = -EBUSY;
		NL_SET_ERR_MSG(info->extack, "It was never started, and holds nothing yet");
	} else if (r->flight) {
		err = gprof_event_request(&r->events);
		if (err)
			NL_SET_ERR_MSG(info->extack, "Its owner has not served those before");
	} else {
		NL_SET_ERR_MSG(info->extack, "It is no flight recorder");
	}
	gprof_netlink_leave(r);
	return err;
}

static int dump_one(struct sk_buff *skb, struct netlink_callback *cb, struct gprof_recorder *r,
		    const struct gprof_phase *phase)
{
	void *head;
	int err;

	head = genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
			   &gprof_netlink_family, NLM_F_MULTI, GPROF_CMD_RECORDER_GET);
	if (!head)
		return -EMSGSIZE;
	genl_dump_check_consistent(cb, head);
	err = put_recorder(skb, r, phase);
	if (err)
		genlmsg_cancel(skb, head);
	else
		genlmsg_end(skb, head);
	return err;
}

/**
 * gprof_netlink_recorder_dump() - some more recorders
 * @skb: message to fill
 * @cb: dump; args[0] is the id of the last one that was told
 *
 * Context: Task.
 * Return: bytes in @skb, 0 at the end, or a negative errno.
 */
int gprof_netlink_recorder_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct gprof_entry *e;
	int err = 0;

	/* Here and not when the dump begins, where the sentence would be lost. */
	if (nlmsg_attrlen(cb->nlh, GENL_HDRLEN) > 0) {
		NL_SET_ERR_MSG(cb->extack, "A dump of recorders takes no attributes");
		return -EINVAL;
	}
	cb->seq = gprof_registry_generation();
	while (!err && (e = gprof_registry_next(cb->args[0] + 1))) {
		struct gprof_recorder *r = recorder_of(e);
		struct gprof_phase phase;

		if (can_see(cb->skb, e) && gprof_recorder_pin(r, &phase)) {
			err = dump_one(skb, cb, r, &phase);
			gprof_recorder_unpin(r);
		}
		if (!err)
			cb->args[0] = e->id;
		gprof_entry_put(e);
	}
	return err && !skb->len ? err : skb->len;
}
