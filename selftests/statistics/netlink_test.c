// SPDX-License-Identifier: GPL-2.0-only
/* netlink_test: the family "gprof", asked rightly and wrongly. */
#include <grp.h>
#include <linux/capability.h>
#include "harness.h"
#include "sched_stats.h"
#include "workload.h"

#define USER	1000

FIXTURE(family) {
	struct genl g;
	struct sched_recorder r;
};

FIXTURE_SETUP(family)
{
	ASSERT_EQ(0, genl_open(&self->g));
}

FIXTURE_TEARDOWN(family)
{
	sched_close(&self->r);
	genl_close(&self->g);
}

#define START(_target, _id) do {						\
	ASSERT_EQ(0, sched_setup(&self->r, _target, _id, 0, 0));		\
	ASSERT_EQ(0, device_start(&self->r.dev));				\
} while (0)

/* A whole attribute as it lies in a message. */
struct u64_attr {
	struct nlattr head;
	uint64_t value;
} __attribute__((packed));

static struct u64_attr attr_of(uint16_t type, uint64_t value)
{
	return (struct u64_attr){
		.head = { .nla_len = sizeof(struct u64_attr), .nla_type = type },
		.value = value,
	};
}

/* What comes of any bytes as attributes: 1, a reply, or the errno. */
static int ask_bytes(struct genl *g, uint8_t cmd, const void *attrs, size_t bytes)
{
	int ret = genl_send(g, g->family, NLM_F_ACK, cmd, attrs, bytes);

	return ret ?: genl_receive(g);
}

/* Every error is a sentence. */
#define EXPECT_SENTENCE() EXPECT_LT(10, strlen(self->g.message))		\
	TH_LOG("the kernel says '%s'", self->g.message)

#define EXPECT_REFUSED(_err, ...) do {						\
	EXPECT_EQ(_err, ask_bytes(&self->g, __VA_ARGS__));			\
	EXPECT_SENTENCE();							\
} while (0)

TEST_F(family, info_is_that_of_the_ioctl)
{
	struct gprof_info info = { .size = sizeof(info) };
	int fd = device_open();

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, device_ioctl(fd, GPROF_IOC_INFO, &info));
	ASSERT_EQ(1, genl_ask(&self->g, GPROF_CMD_INFO_GET, 0, 0));
	EXPECT_EQS(GPROF_CMD_INFO_GET, self->g.cmd,
		   info.out_abi_version, genl_u32(self->g.attrs[GPROF_A_INFO_ABI_VERSION]),
		   info.out_kinds, genl_u64(self->g.attrs[GPROF_A_INFO_KINDS]),
		   info.out_features, genl_u64(self->g.attrs[GPROF_A_INFO_FEATURES]),
		   info.out_recorders, genl_u64(self->g.attrs[GPROF_A_INFO_RECORDERS]));
	EXPECT_TRUE(info.out_features & GPROF_FEAT_NETLINK);
	EXPECT_TRUE(info.out_kinds & 1 << GPROF_KIND_SCHED);
	close(fd);
}

/* ---- wrong requests ---- */

TEST_F(family, a_request_without_an_id_is_EINVAL)
{
	EXPECT_REFUSED(-EINVAL, GPROF_CMD_RECORDER_GET, NULL, 0);
	EXPECT_REFUSED(-EINVAL, GPROF_CMD_SCHED_STATS_GET, NULL, 0);
}

TEST_F(family, an_id_that_is_none_is_ENOENT)
{
	struct u64_attr a = attr_of(GPROF_A_RECORDER_ID, ~0ULL);

	EXPECT_REFUSED(-ENOENT, GPROF_CMD_RECORDER_GET, &a, sizeof(a));
	EXPECT_REFUSED(-ENOENT, GPROF_CMD_SCHED_STATS_GET, &a, sizeof(a));
	a.value = 0;
	EXPECT_EQ(-ENOENT, ask_bytes(&self->g, GPROF_CMD_RECORDER_GET, &a, sizeof(a)));
}

TEST_F(family, an_unknown_attribute_is_EINVAL)
{
	struct u64_attr a[2] = { attr_of(GPROF_A_SCHED_STATS_ID, 1), attr_of(77, 1) };

	EXPECT_REFUSED(-EINVAL, GPROF_CMD_SCHED_STATS_GET, a, sizeof(a));
	EXPECT_REFUSED(-EINVAL, GPROF_CMD_INFO_GET, &a[1], sizeof(a[1]));
	/* known, but the answer's */
	a[1] = attr_of(GPROF_A_SCHED_STATS_STALL_NS, 1);
	EXPECT_REFUSED(-EINVAL, GPROF_CMD_SCHED_STATS_GET, a, sizeof(a));
}

TEST_F(family, a_malformed_attribute_is_refused)
{
	struct u64_attr a = attr_of(GPROF_A_SCHED_STATS_ID, 1);
	uint8_t cmds[] = { GPROF_CMD_RECORDER_GET, GPROF_CMD_SCHED_STATS_GET };
	uint16_t len;

	for (unsigned int i = 0; i < 2; i++) {
		/* shorter than its type, or than itself */
		for (len = 0; len < sizeof(a); len++) {
			a.head.nla_len = len;
			EXPECT_GT(0, ask_bytes(&self->g, cmds[i], &a,
					       len < NLA_HDRLEN ? sizeof(a) : NLA_ALIGN(len)))
				TH_LOG("length %u", len);
		}
		/* longer than the message */
		for (len = sizeof(a) + 1; len < 100; len += 7) {
			a.head.nla_len = len;
			EXPECT_GT(0, ask_bytes(&self->g, cmds[i], &a, sizeof(a)))
				TH_LOG("length %u", len);
		}
		a.head.nla_len = sizeof(a);
		/* a nest, which it is not */
		a.head.nla_type |= NLA_F_NESTED;
		EXPECT_REFUSED(-EINVAL, cmds[i], &a, sizeof(a));
		a.head.nla_type &= NLA_TYPE_MASK;
		/* some bytes are left over */
		EXPECT_GT(0, ask_bytes(&self->g, cmds[i], &a, sizeof(a) - 4));
	}
	/* and the family still answers */
	EXPECT_EQ(1, genl_ask(&self->g, GPROF_CMD_INFO_GET, 0, 0));
}

TEST_F(family, an_unknown_command_is_EOPNOTSUPP)
{
	EXPECT_EQ(-EOPNOTSUPP, ask_bytes(&self->g, 0, NULL, 0));
	EXPECT_EQ(-EOPNOTSUPP, ask_bytes(&self->g, __GPROF_CMD_MAX, NULL, 0));
	EXPECT_EQ(-EOPNOTSUPP, ask_bytes(&self->g, 255, NULL, 0));
	/* an event is not a question */
	EXPECT_EQ(-EOPNOTSUPP, ask_bytes(&self->g, GPROF_CMD_RECORDER_STARTED, NULL, 0));
	/* and not everything is a list */
	EXPECT_EQ(0, genl_send(&self->g, self->g.family, NLM_F_DUMP, GPROF_CMD_INFO_GET, NULL, 0));
	EXPECT_EQ(-EOPNOTSUPP, genl_receive(&self->g));
}

TEST_F(family, statistics_of_another_kind_are_EOPNOTSUPP)
{
	struct gprof_cpu_params params = timer_params(1000000);
	struct gprof_setup setup = device_setup_of(GPROF_TARGET_PROCESS, getpid(), &params);
	struct u64_attr a;
	struct device dev;

	setup.buffer_size = 65536;
	ASSERT_EQ(0, device_setup(&dev, &setup));
	EXPECT_NE(0, setup.out_id);
	a = attr_of(GPROF_A_SCHED_STATS_ID, setup.out_id);
	EXPECT_REFUSED(-EOPNOTSUPP, GPROF_CMD_SCHED_STATS_GET, &a, sizeof(a));
	device_close(&dev);
}

TEST_F(family, statistics_that_were_never_started_are_EBUSY)
{
	struct u64_attr a;

	ASSERT_EQ(0, sched_setup(&self->r, GPROF_TARGET_PROCESS, getpid(), 0, 0));
	a = attr_of(GPROF_A_SCHED_STATS_ID, self->r.id);
	EXPECT_REFUSED(-EBUSY, GPROF_CMD_SCHED_STATS_GET, &a, sizeof(a));
}

TEST_F(family, a_closed_recorder_is_ENOENT)
{
	struct u64_attr a;

	START(GPROF_TARGET_PROCESS, getpid());
	a = attr_of(GPROF_A_SCHED_STATS_ID, self->r.id);
	sched_close(&self->r);
	EXPECT_REFUSED(-ENOENT, GPROF_CMD_SCHED_STATS_GET, &a, sizeof(a));
}

/* ---- recorders ---- */

TEST_F(family, a_recorder_is_described)
{
	const struct nlattr **a = self->g.attrs;
	char comm[16] = "";

	START(GPROF_TARGET_PROCESS, getpid());
	prctl(PR_GET_NAME, comm);
	ASSERT_EQ(1, genl_ask(&self->g, GPROF_CMD_RECORDER_GET, GPROF_A_RECORDER_ID, self->r.id));
	EXPECT_EQS(self->r.id, genl_u64(a[GPROF_A_RECORDER_ID]),
		   GPROF_KIND_SCHED, genl_u32(a[GPROF_A_RECORDER_KIND]),
		   GPROF_TARGET_PROCESS, genl_u32(a[GPROF_A_RECORDER_TARGET]),
		   getpid(), genl_u32(a[GPROF_A_RECORDER_TARGET_PID]),
		   getpid(), genl_u32(a[GPROF_A_RECORDER_OWNER_PID]),
		   geteuid(), genl_u32(a[GPROF_A_RECORDER_OWNER_UID]));
	ASSERT_NE(NULL, a[GPROF_A_RECORDER_OWNER_COMM]);
	EXPECT_STREQ(comm, (const char *)genl_data(a[GPROF_A_RECORDER_OWNER_COMM]));
	EXPECT_EQ(GPROF_RECORDER_STATE_STARTED, genl_u32(a[GPROF_A_RECORDER_STATE]));
	EXPECT_LT(0, genl_u64(a[GPROF_A_RECORDER_STARTED_NS]));
	EXPECT_EQ(0, genl_u64(a[GPROF_A_RECORDER_STOPPED_NS]));
	EXPECT_EQ(0, genl_u64(a[GPROF_A_RECORDER_BUFFER_SIZE]));
	EXPECT_EQ(NULL, a[GPROF_A_RECORDER_PRODUCED]);
	ASSERT_EQ(0, device_stop(&self->r.dev));
	ASSERT_EQ(1, genl_ask(&self->g, GPROF_CMD_RECORDER_GET, GPROF_A_RECORDER_ID, self->r.id));
	EXPECT_EQ(GPROF_RECORDER_STATE_READY, genl_u32(a[GPROF_A_RECORDER_STATE]));
	EXPECT_LT(0, genl_u64(a[GPROF_A_RECORDER_STOPPED_NS]));
}

TEST_F(family, samples_of_a_recorder_are_those_of_its_stats)
{
	struct gprof_cpu_params params = timer_params(1000000);
	struct gprof_setup setup = device_setup_of(GPROF_TARGET_PROCESS, getpid(), &params);
	const struct nlattr **a = self->g.attrs;
	struct gprof_stats st = { 0 };
	struct device dev;

	setup.buffer_size = 65536;
	ASSERT_EQ(0, device_record(&dev, &setup));
	burn_ns(200000000);
	ASSERT_ZEROS(device_stop(&dev), device_stats(&dev, GPROF_STATS_ALL_CPUS, &st));
	ASSERT_EQ(1, genl_ask(&self->g, GPROF_CMD_RECORDER_GET, GPROF_A_RECORDER_ID, setup.out_id));
	EXPECT_LT(0, st.out_produced);
	EXPECT_EQ(dev.data_size, genl_u64(a[GPROF_A_RECORDER_BUFFER_SIZE]));
	EXPECT_EQ(st.out_produced, genl_u64(a[GPROF_A_RECORDER_PRODUCED]));
	EXPECT_EQ(device_lost(&st), genl_u64(a[GPROF_A_RECORDER_LOST]));
	EXPECT_EQ(st.out_overwritten, genl_u64(a[GPROF_A_RECORDER_OVERWRITTEN]));
	EXPECT_EQ(st.out_produced - device_lost(&st) - st.out_overwritten,
		  genl_u64(a[GPROF_A_RECORDER_READ]));
	device_close(&dev);
}

#define MANY	100

/* Counts those of @first to @last; -errno on error. Sets whether it was interrupted. */
static int dump(struct genl *g, uint64_t first, uint64_t last, bool *interrupted)
{
	int ret, found = 0;

	*interrupted = false;
	ret = genl_send(g, g->family, NLM_F_DUMP, GPROF_CMD_RECORDER_GET, NULL, 0);
	while (!ret && (ret = genl_receive(g)) == 1) {
		uint64_t id = genl_u64(g->attrs[GPROF_A_RECORDER_ID]);

		found += id >= first && id <= last;
		*interrupted |= !!(g->flags & NLM_F_DUMP_INTR);
		ret = 0;
	}
	*interrupted |= g->type == NLMSG_DONE && g->flags & NLM_F_DUMP_INTR;
	return ret ?: found;
}

static int open_many(struct __test_metadata *_metadata, int *fds, uint64_t *first, uint64_t *last)
{
	struct gprof_sched_params params = { .size = sizeof(params) };

	for (int i = 0; i < MANY; i++) {
		struct gprof_setup setup =
			device_setup_kind(GPROF_KIND_SCHED, GPROF_TARGET_SYSTEM, 0, &params);

		fds[i] = device_open();
		EXPECT_EQ(0, device_ioctl(fds[i], GPROF_IOC_SETUP, &setup));
		if (!i)
			*first = setup.out_id;
		EXPECT_LE(*last, setup.out_id);
		*last = setup.out_id;
	}
	return 0;
}

TEST_F(family, a_dump_lists_every_recorder_once)
{
	uint64_t first = 0, last = 0;
	bool interrupted;
	int fds[MANY], i;

	open_many(_metadata, fds, &first, &last);
	EXPECT_EQ(MANY, dump(&self->g, first, last, &interrupted));
	EXPECT_FALSE(interrupted);
	for (i = 0; i < MANY; i++)
		close(fds[i]);
	EXPECT_EQ(0, dump(&self->g, first, last, &interrupted));
}

TEST_F(family, a_dump_with_attributes_is_EINVAL)
{
	struct u64_attr a = attr_of(GPROF_A_RECORDER_ID, 1);

	ASSERT_EQ(0, genl_send(&self->g, self->g.family, NLM_F_DUMP, GPROF_CMD_RECORDER_GET, &a,
			       sizeof(a)));
	EXPECT_EQ(-EINVAL, genl_receive(&self->g));
	EXPECT_SENTENCE();
}

TEST_F(family, a_dump_during_which_a_recorder_goes_says_so)
{
	uint64_t first = 0, last = 0;
	bool interrupted = false;
	int fds[MANY], i, ret;

	open_many(_metadata, fds, &first, &last);
	ASSERT_EQ(0, genl_send(&self->g, self->g.family, NLM_F_DUMP, GPROF_CMD_RECORDER_GET, NULL,
			       0));
	/* One datagram is filled when the dump begins; they do not all fit. */
	ASSERT_EQ(1, genl_receive(&self->g));
	close(fds[MANY - 1]);
	fds[MANY - 1] = -1;
	while ((ret = genl_receive(&self->g)) == 1)
		interrupted |= !!(self->g.flags & NLM_F_DUMP_INTR);
	EXPECT_EQ(0, ret);
	interrupted |= !!(self->g.flags & NLM_F_DUMP_INTR);
	EXPECT_TRUE(interrupted);
	for (i = 0; i < MANY - 1; i++)
		close(fds[i]);
}

TEST_F(family, a_dump_that_is_left_half_way_leaves_nothing)
{
	uint64_t first = 0, last = 0;
	struct genl other;
	int fds[MANY], i;

	open_many(_metadata, fds, &first, &last);
	for (i = 0; i < 20; i++) {
		ASSERT_EQ(0, genl_open(&other));
		ASSERT_EQ(0, genl_send(&other, other.family, NLM_F_DUMP, GPROF_CMD_RECORDER_GET,
				       NULL, 0));
		if (i % 2)
			EXPECT_EQ(1, genl_receive(&other));
		genl_close(&other);
	}
	for (i = 0; i < MANY; i++)
		close(fds[i]);
	ASSERT_EQ(1, genl_ask(&self->g, GPROF_CMD_INFO_GET, 0, 0));
	EXPECT_EQ(0, genl_u64(self->g.attrs[GPROF_A_INFO_RECORDERS]));
}

/* ---- targets that go ---- */

static void nothing(void *arg, int step)
{
}

TEST_F(family, a_target_that_dies_is_no_error)
{
	struct sched_stats st;
	struct child child;

	/* between request and answer too: the dying is not waited for */
	for (int i = 0; i < 20; i++) {
		ASSERT_EQ(0, child_fork(&child, nothing, NULL));
		START(GPROF_TARGET_PROCESS, child.pid);
		kill(child.pid, SIGKILL);
		EXPECT_EQ(0, sched_read(&self->r, &st));
		child_end(&child);
		EXPECT_ZEROS(sched_read(&self->r, &st), st.num_task);
		ASSERT_EQ(1, genl_ask(&self->g, GPROF_CMD_RECORDER_GET, GPROF_A_RECORDER_ID,
				      self->r.id));
		EXPECT_EQ(NULL, self->g.attrs[GPROF_A_RECORDER_TARGET_PID]);
		sched_close(&self->r);
	}
}

TEST_F(family, a_cgroup_that_is_removed_is_no_error)
{
	char path[MEMORY_CGROUP_PATH];
	struct sched_stats st;
	struct stat inode;
	int fd;

	SKIP_UNLESS(!geteuid(), "must be root");
	SKIP_UNLESS(kernel_has_cgroups(), "this kernel has no cgroups");
	ASSERT_EQ(0, cgroup_make(path, "netlink"));
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, fstat(fd, &inode));
	START(GPROF_TARGET_CGROUP, fd);
	close(fd);
	ASSERT_EQ(0, rmdir(path));
	EXPECT_ZEROS(sched_read(&self->r, &st), st.num_task);
	ASSERT_EQ(1, genl_ask(&self->g, GPROF_CMD_RECORDER_GET, GPROF_A_RECORDER_ID, self->r.id));
	EXPECT_EQ(inode.st_ino, genl_u64(self->g.attrs[GPROF_A_RECORDER_TARGET_CGROUP]));
}

/* ---- who may ---- */

/* The exit status says what another user saw: 0 is as it should be. */
static int look_as_user(uint64_t foreign)
{
	struct sched_recorder own;
	struct sched_stats st;
	struct genl g;
	bool interrupted;

	if (become(USER))
		return 1;
	if (genl_open(&g))
		return 2;
	if (genl_ask(&g, GPROF_CMD_RECORDER_GET, GPROF_A_RECORDER_ID, foreign) != -ENOENT)
		return 3;
	if (genl_ask(&g, GPROF_CMD_SCHED_STATS_GET, GPROF_A_SCHED_STATS_ID, foreign) != -ENOENT)
		return 4;
	if (dump(&g, 1, ~0ULL, &interrupted))
		return 5;
	if (sched_setup(&own, GPROF_TARGET_PROCESS, getpid(), 0, 0) || device_start(&own.dev))
		return 6;
	if (sched_read(&own, &st))
		return 7;
	if (dump(&g, 1, ~0ULL, &interrupted) != 1 || own.id == foreign)
		return 8;
	if (!genl_listen(&g))
		return 9;
	return 0;
}

TEST_F(family, another_users_recorder_does_not_exist)
{
	SKIP_UNLESS(!geteuid(), "must be root to become another");
	START(GPROF_TARGET_SYSTEM, 0);
	EXPECT_EQ(0, IN_CHILD(look_as_user(self->r.id)));
}

TEST_F(family, a_socket_of_another_user_does_not_see_what_its_sender_may)
{
	struct genl g;
	int ret;

	SKIP_UNLESS(!geteuid(), "must be root to become another");
	START(GPROF_TARGET_SYSTEM, 0);
	/* opened by a user, used by root */
	ASSERT_EQ(0, seteuid(USER));
	ret = genl_open(&g);
	ASSERT_ZEROS(seteuid(0), ret);
	EXPECT_EQ(-ENOENT, genl_ask(&g, GPROF_CMD_RECORDER_GET, GPROF_A_RECORDER_ID, self->r.id));
	genl_close(&g);
}

/* Only CAP_PERFMON, or nothing any more. */
static int have_capability(bool any)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { { 0 } };

	data[CAP_PERFMON / 32].permitted = any ? 1U << CAP_PERFMON % 32 : 0;
	data[CAP_PERFMON / 32].effective = data[CAP_PERFMON / 32].permitted;
	return syscall(SYS_capset, &head, data);
}

/* Another program of a user, one that has no capability. */
static int look_for(uint64_t id)
{
	bool interrupted;
	struct genl g;

	if (genl_open(&g))
		return 10;
	if (genl_ask(&g, GPROF_CMD_RECORDER_GET, GPROF_A_RECORDER_ID, id) != -ENOENT)
		return 11;
	if (genl_ask(&g, GPROF_CMD_SCHED_STATS_GET, GPROF_A_SCHED_STATS_ID, id) != -ENOENT)
		return 12;
	return dump(&g, id, id, &interrupted) ? 13 : 0;
}

/* A program of a user that may record everything, for a while. */
static int record_all_and_be_looked_for(void)
{
	struct sched_recorder own;
	struct sched_stats st;
	int status;

	if (prctl(PR_SET_KEEPCAPS, 1) || setgroups(0, NULL) || setresgid(USER, USER, USER) ||
	    setresuid(USER, USER, USER) || have_capability(true))
		return 1;
	if (sched_setup(&own, GPROF_TARGET_SYSTEM, 0, 0, 0) || device_start(&own.dev))
		return 2;
	if (have_capability(false))
		return 3;
	if (sched_read(&own, &st))
		return 4;
	status = IN_CHILD(look_for(own.id));
	return WIFEXITED(status) ? WEXITSTATUS(status) : 5;
}

TEST_F(family, what_a_capability_recorded_does_not_exist_for_others_of_the_user)
{
	SKIP_UNLESS(!geteuid(), "must be root to become another");
	EXPECT_EQ(0, IN_CHILD(record_all_and_be_looked_for()));
}

/* From user and process namespaces that know neither the owner nor the target. */
static int look_from_elsewhere(uint64_t id)
{
	const struct nlattr **a;
	struct genl g;

	if (genl_open(&g))
		return 10;
	if (genl_ask(&g, GPROF_CMD_RECORDER_GET, GPROF_A_RECORDER_ID, id) != 1)
		return 11;
	a = g.attrs;
	if (a[GPROF_A_RECORDER_TARGET_PID])
		return 12;
	if (!a[GPROF_A_RECORDER_OWNER_PID] || genl_u32(a[GPROF_A_RECORDER_OWNER_PID]))
		return 13;
	if (genl_u32(a[GPROF_A_RECORDER_OWNER_UID]) != 65534)
		return 14;
	return 0;
}

static int go_elsewhere_and_look(void)
{
	struct sched_recorder own;
	int status;

	if (become(USER))
		return 1;
	if (sched_setup(&own, GPROF_TARGET_PROCESS, getpid(), 0, 0))
		return 2;
	if (unshare(CLONE_NEWUSER | CLONE_NEWPID))
		return 77;
	status = IN_CHILD(look_from_elsewhere(own.id));
	return WIFEXITED(status) ? WEXITSTATUS(status) : 3;
}

TEST_F(family, ids_are_those_of_the_clients_namespaces)
{
	int status;

	SKIP_UNLESS(!geteuid(), "must be root to become another");
	status = IN_CHILD(go_elsewhere_and_look());
	ASSERT_TRUE(WIFEXITED(status));
	SKIP_UNLESS(WEXITSTATUS(status) != 77, "no user namespaces for users");
	EXPECT_EQ(0, WEXITSTATUS(status));
}

/* ---- events ---- */

/* The next event about a recorder; 0: none came in time. */
static int next_event(struct genl *g, uint64_t id)
{
	struct pollfd p = { .fd = g->fd, .events = POLLIN };

	while (g->next < g->length || poll(&p, 1, 5000) == 1) {
		if (genl_receive(g) == 1 && genl_u64(g->attrs[GPROF_A_RECORDER_ID]) == id)
			return g->cmd;
	}
	return 0;
}

TEST_F(family, start_and_stop_are_told)
{
	struct genl *g = &self->g;

	SKIP_UNLESS(!geteuid(), "must be root to listen");
	ASSERT_EQ(0, genl_listen(g));
	START(GPROF_TARGET_PROCESS, getpid());
	EXPECT_EQ(GPROF_CMD_RECORDER_STARTED, next_event(g, self->r.id));
	EXPECT_EQ(GPROF_KIND_SCHED, genl_u32(g->attrs[GPROF_A_RECORDER_KIND]));
	/* What not every listener may know is not told: who, of whom, when. */
	for (unsigned int i = GPROF_A_RECORDER_KIND + 1; i < GENL_ATTRS; i++) {
		EXPECT_EQ(NULL, g->attrs[i]) TH_LOG("attribute %u", i);
	}
	ASSERT_EQ(0, device_stop(&self->r.dev));
	EXPECT_EQ(GPROF_CMD_RECORDER_STOPPED, next_event(g, self->r.id));
	ASSERT_EQ(0, device_start(&self->r.dev));
	EXPECT_EQ(GPROF_CMD_RECORDER_STARTED, next_event(g, self->r.id));
	/* closed while started */
	device_close(&self->r.dev);
	EXPECT_EQ(GPROF_CMD_RECORDER_STOPPED, next_event(g, self->r.id));
	genl_close(&self->r.genl);
}


static void burn(void *arg, int step)
{
	burn_until(UINT64_MAX);
}

/* Samples are taken, and lost, in interrupts. */
TEST_F(family, a_loss_is_told)
{
	struct gprof_cpu_params params = timer_params(100000);
	struct gprof_stats st = { .size = sizeof(st), .cpu = GPROF_STATS_ALL_CPUS };
	struct genl *g = &self->g;
	struct gprof_setup setup;
	struct pollfd pfd;
	struct child child;
	struct device dev;
	unsigned int i;

	SKIP_UNLESS(!geteuid(), "must be root to listen");
	ASSERT_EQ(0, genl_listen(g));
	ASSERT_EQ(0, child_fork(&child, burn, NULL));
	setup = device_setup_of(GPROF_TARGET_PROCESS, child.pid, &params);
	setup.buffer_size = 4096;
	ASSERT_EQ(0, device_record(&dev, &setup));
	EXPECT_EQ(GPROF_CMD_RECORDER_STARTED, next_event(g, setup.out_id));
	pfd = (struct pollfd){ .fd = dev.fd, .events = POLLPRI };
	EXPECT_EQ(0, poll(&pfd, 1, 0));
	ASSERT_EQ(0, child_begin(&child));
	EXPECT_EQ(1, poll(&pfd, 1, 100000));
	EXPECT_TRUE(pfd.revents & POLLPRI);
	while ((i = next_event(g, setup.out_id)) && i != GPROF_CMD_RECORDER_LOST)
		;
	EXPECT_EQ(GPROF_CMD_RECORDER_LOST, i);
	EXPECT_EQ(GPROF_KIND_CPU, genl_u32(g->attrs[GPROF_A_RECORDER_KIND]));
	for (i = GPROF_A_RECORDER_KIND + 1; i < GENL_ATTRS; i++)
		EXPECT_EQ(NULL, g->attrs[i]) TH_LOG("attribute %u", i);
	EXPECT_ZEROS(device_stop(&dev), device_stats(&dev, GPROF_STATS_ALL_CPUS, &st));
	EXPECT_EQS(1 << GPROF_STATS_EVENT_LOST, st.out_events, 0, st.out_events_dropped);
	EXPECT_LT(0, device_lost(&st));
	EXPECT_EQ(0, poll(&pfd, 1, 0));
	device_close(&dev);
	child_end(&child);
}

/* At most once a second, whether anybody listens or not. */
TEST_F(family, a_loss_without_a_listener_is_counted)
{
	struct gprof_cpu_params params = timer_params(100000);
	struct gprof_stats st;
	struct gprof_setup setup;
	struct child child;
	struct device dev;
	uint64_t begun;

	ASSERT_EQ(0, child_fork(&child, burn, NULL));
	setup = device_setup_of(GPROF_TARGET_PROCESS, child.pid, &params);
	setup.buffer_size = 4096;
	ASSERT_EQ(0, device_record(&dev, &setup));
	begun = monotonic_ns();
	ASSERT_EQ(0, child_begin(&child));
	do {
		sleep_ms(100);
		ASSERT_EQ(0, device_stats(&dev, GPROF_STATS_ALL_CPUS, &st));
	} while (st.out_events_dropped < 2);
	EXPECT_LE(begun + 900000000, monotonic_ns());
	EXPECT_LT(timers_are_fine() ? 100 : 10, device_lost(&st));
	device_close(&dev);
	child_end(&child);
}

static void end(void *arg, int step)
{
	/* one that is forked goes on */
	if (!fork())
		sleep_ms(10000);
	_exit(0);
}

TEST_F(family, the_end_of_a_target_is_told)
{
	struct genl *g = &self->g;
	struct child child;
	struct pollfd pfd;
	struct gprof_stats st;

	SKIP_UNLESS(!geteuid(), "must be root to listen");
	ASSERT_EQ(0, genl_listen(g));
	ASSERT_EQ(0, child_fork(&child, end, NULL));
	START(GPROF_TARGET_PROCESS, child.pid);
	EXPECT_EQ(GPROF_CMD_RECORDER_STARTED, next_event(g, self->r.id));
	pfd = (struct pollfd){ .fd = self->r.dev.fd, .events = POLLPRI };
	EXPECT_EQ(0, poll(&pfd, 1, 0));
	ASSERT_EQ(0, child_begin(&child));
	EXPECT_EQ(GPROF_CMD_RECORDER_TARGET_GONE, next_event(g, self->r.id));
	EXPECT_EQ(1, poll(&pfd, 1, 5000));
	ASSERT_EQ(0, device_stats(&self->r.dev, GPROF_STATS_ALL_CPUS, &st));
	EXPECT_EQ(1 << GPROF_STATS_EVENT_TARGET_GONE, st.out_events);
	child_end(&child);
}

TEST_HARNESS_MAIN
