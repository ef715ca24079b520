// SPDX-License-Identifier: GPL-2.0-only
/*
 * netlink_spec_test: the running family against Documentation/netlink/specs/gprof.yaml,
 * which lies beside the test as gprof.yaml.
 *
 * Reads as much of YAML as that file uses: keys and values by indentation.
 */
#include <ctype.h>
#include <libgen.h>
#include <limits.h>
#include "harness.h"
#include "sched_stats.h"
#include "workload.h"

#define MOST	48

struct spec_attr {
	char name[32], type[16];
};

struct spec_set {
	char name[32];
	struct spec_attr attrs[MOST];	/* attrs[i] has number i + 1 */
	int nr;
};

struct spec_op {
	char name[32], set[32];
	int value;
	bool does, dumps, event;
	char request[MOST][32], reply[MOST][32];
	int nr_request, nr_reply;
};

static struct spec {
	struct spec_set sets[8];
	int nr_sets;
	struct spec_op ops[16];
	int nr_ops;
	char groups[4][32];
	int nr_groups;
} spec;

static void copy(char *to, const char *from, size_t size)
{
	snprintf(to, size, "%.*s", (int)size - 1, from);
}

static void take_set(int indent, const char *key, const char *value)
{
	struct spec_set *set = &spec.sets[spec.nr_sets - 1];

	if (indent == 4 && !strcmp(key, "name"))
		copy(spec.sets[spec.nr_sets++].name, value, 32);
	else if (indent == 8 && !strcmp(key, "name"))
		copy(set->attrs[set->nr++].name, value, 32);
	else if (indent == 8 && !strcmp(key, "type"))
		copy(set->attrs[set->nr - 1].type, value, 16);
}

/* An alias stands for the list of the same operation, in this file. */
static void take_op(int indent, const char *key, const char *value)
{
	static bool in_reply;
	struct spec_op *op = &spec.ops[spec.nr_ops - 1];

	if (indent == 6 && !strcmp(key, "name")) {
		copy(spec.ops[spec.nr_ops].name, value, 32);
		spec.ops[spec.nr_ops].value = spec.nr_ops + 1;
		spec.nr_ops++;
	} else if (indent == 6 && !strcmp(key, "value")) {
		op->value = atoi(value);
	} else if (indent == 6 && !strcmp(key, "attribute-set")) {
		copy(op->set, value, 32);
	} else if (indent == 6) {
		op->does |= !strcmp(key, "do");
		op->dumps |= !strcmp(key, "dump");
		op->event |= !strcmp(key, "mcgrp");
	} else if (indent == 8) {
		in_reply = !strcmp(key, "reply");
	} else if (indent == 12 && key[0] == '-') {
		if (in_reply)
			copy(op->reply[op->nr_reply++], key + 2, 32);
		else
			copy(op->request[op->nr_request++], key + 2, 32);
	}
}

static int read_spec(void)
{
	char path[PATH_MAX] = "", line[256], section[32] = "";
	FILE *f;

	if (readlink("/proc/self/exe", path, sizeof(path) - 16) < 0)
		return -errno;
	strcat(dirname(path), "/gprof.yaml");
	f = fopen(path, "r");
	if (!f)
		return -errno;
	while (fgets(line, sizeof(line), f)) {
		int indent = strspn(line, " ");
		char *key = line + indent, *value;

		key[strcspn(key, "\n")] = '\0';
		value = strstr(key, ": ");
		if (value) {
			*value = '\0';
			value += 2;
		} else if (*key && key[strlen(key) - 1] == ':') {
			key[strlen(key) - 1] = '\0';
		}
		if (!indent && isalpha(*key))
			copy(section, key, sizeof(section));
		else if (!strcmp(section, "attribute-sets"))
			take_set(indent, key, value ?: "");
		else if (!strcmp(section, "operations"))
			take_op(indent, key, value ?: "");
		else if (!strcmp(section, "mcast-groups") && !strcmp(key, "name") && value)
			copy(spec.groups[spec.nr_groups++], value, 32);
	}
	fclose(f);
	return 0;
}

static const struct spec_set *set_named(const char *name)
{
	for (int i = 0; i < spec.nr_sets; i++)
		if (!strcmp(spec.sets[i].name, name))
			return &spec.sets[i];
	return NULL;
}

static int listed(char list[][32], int nr, const char *name)
{
	while (nr--)
		if (!strcmp(list[nr], name))
			return 1;
	return 0;
}

FIXTURE(spec) {
	struct genl g;
};

FIXTURE_SETUP(spec)
{
	int ret = read_spec();

	self->g.fd = -1;
	SKIP_ALL_UNLESS(ret != -ENOENT, "gprof.yaml does not lie beside the test");
	ASSERT_EQ(0, ret);
	ASSERT_LT(3, spec.nr_sets);
	ASSERT_LT(3, spec.nr_ops);
	ASSERT_EQ(0, genl_open(&self->g));
}

FIXTURE_TEARDOWN(spec)
{
	genl_close(&self->g);
}

static int get_family(struct genl *g, uint8_t cmd, uint16_t flags)
{
	struct { struct nlattr head; uint16_t id, pad; } id = {
		.head = { .nla_len = NLA_HDRLEN + 2, .nla_type = CTRL_ATTR_FAMILY_ID },
		.id = g->family,
	};
	int ret = genl_send(g, GENL_ID_CTRL, flags, cmd, &id, sizeof(id));

	return ret ?: genl_receive(g);
}

TEST_F(spec, operations_are_those_of_the_family)
{
	const struct nlattr *ops[GENL_ATTRS], *op[GENL_ATTRS];
	uint32_t flags[256] = { 0 };
	int i, running = 0, described = 0;

	ASSERT_EQ(1, get_family(&self->g, CTRL_CMD_GETFAMILY, 0));
	EXPECT_EQ(1, genl_u32(self->g.attrs[CTRL_ATTR_VERSION]));
	ASSERT_NE(NULL, self->g.attrs[CTRL_ATTR_OPS]);
	genl_parse(genl_data(self->g.attrs[CTRL_ATTR_OPS]),
		   genl_size(self->g.attrs[CTRL_ATTR_OPS]), ops);
	for (i = 0; i < GENL_ATTRS; i++) {
		if (!ops[i])
			continue;
		genl_parse(genl_data(ops[i]), genl_size(ops[i]), op);
		flags[genl_u32(op[CTRL_ATTR_OP_ID]) & 255] = genl_u32(op[CTRL_ATTR_OP_FLAGS]);
		running++;
	}
	for (i = 0; i < spec.nr_ops; i++) {
		const struct spec_op *o = &spec.ops[i];
		uint32_t f = flags[o->value & 255];

		described += o->does || o->dumps;
		EXPECT_EQ(o->does, !!(f & GENL_CMD_CAP_DO)) TH_LOG("%s", o->name);
		EXPECT_EQ(o->dumps, !!(f & GENL_CMD_CAP_DUMP)) TH_LOG("%s", o->name);
		EXPECT_EQ(o->does, !o->event) TH_LOG("%s", o->name);
		EXPECT_EQ(0, f & GENL_ADMIN_PERM) TH_LOG("%s", o->name);
	}
	EXPECT_EQS(described, running, GPROF_CMD_MAX, spec.nr_ops);
}

TEST_F(spec, groups_are_those_of_the_family)
{
	const struct nlattr *groups[GENL_ATTRS], *group[GENL_ATTRS];
	int i, running = 0;

	ASSERT_EQ(1, get_family(&self->g, CTRL_CMD_GETFAMILY, 0));
	ASSERT_NE(NULL, self->g.attrs[CTRL_ATTR_MCAST_GROUPS]);
	genl_parse(genl_data(self->g.attrs[CTRL_ATTR_MCAST_GROUPS]),
		   genl_size(self->g.attrs[CTRL_ATTR_MCAST_GROUPS]), groups);
	for (i = 0; i < GENL_ATTRS; i++) {
		const char *name;

		if (!groups[i])
			continue;
		genl_parse(genl_data(groups[i]), genl_size(groups[i]), group);
		name = genl_data(group[CTRL_ATTR_MCAST_GRP_NAME]);
		EXPECT_TRUE(listed(spec.groups, spec.nr_groups, name)) TH_LOG("%s", name);
		running++;
	}
	EXPECT_EQ(spec.nr_groups, running);
}

TEST_F(spec, attribute_sets_are_as_long_as_those_of_the_header)
{
	const struct spec_set *stats = set_named("sched-stats"), *recorder = set_named("recorder");
	const struct spec_set *histogram = set_named("histogram");

	EXPECT_EQS(GPROF_A_INFO_MAX, set_named("info")->nr, GPROF_A_RECORDER_MAX, recorder->nr,
		   GPROF_A_HISTOGRAM_MAX, histogram->nr, GPROF_A_SCHED_STATS_MAX, stats->nr);
	EXPECT_STREQS("clock-doubtful", stats->attrs[GPROF_A_SCHED_STATS_CLOCK_DOUBTFUL - 1].name,
		      "stall-ns", stats->attrs[GPROF_A_SCHED_STATS_STALL_NS - 1].name,
		      "overwritten", recorder->attrs[GPROF_A_RECORDER_OVERWRITTEN - 1].name,
		      "buckets", histogram->attrs[GPROF_A_HISTOGRAM_BUCKETS - 1].name);
}

/* What each operation takes, as the kernel tells its policies. */
TEST_F(spec, requests_are_those_of_the_policies)
{
	const struct nlattr *list[GENL_ATTRS], *a[GENL_ATTRS];
	uint32_t policy_of[256];
	bool takes[16][GENL_ATTRS] = { 0 };
	int ret, i, j;

	memset(policy_of, 0xff, sizeof(policy_of));
	ret = get_family(&self->g, CTRL_CMD_GETPOLICY, NLM_F_DUMP);
	for (; ret == 1; ret = genl_receive(&self->g)) {
		const struct nlattr *ops = self->g.attrs[CTRL_ATTR_OP_POLICY];
		const struct nlattr *policy = self->g.attrs[CTRL_ATTR_POLICY];

		genl_parse(ops ? genl_data(ops) : NULL, genl_size(ops), list);
		for (i = 0; ops && i < GENL_ATTRS; i++) {
			if (!list[i])
				continue;
			genl_parse(genl_data(list[i]), genl_size(list[i]), a);
			policy_of[i] = genl_u32(a[CTRL_ATTR_POLICY_DO]);
		}
		genl_parse(policy ? genl_data(policy) : NULL, genl_size(policy), list);
		for (i = 0; policy && i < 16; i++) {
			if (!list[i])
				continue;
			genl_parse(genl_data(list[i]), genl_size(list[i]), a);
			for (j = 0; j < GENL_ATTRS; j++)
				takes[i][j] |= !!a[j];
		}
	}
	ASSERT_EQ(0, ret);
	for (i = 0; i < spec.nr_ops; i++) {
		struct spec_op *o = &spec.ops[i];
		const struct spec_set *set = set_named(o->set);
		uint32_t policy = policy_of[o->value];

		if (!o->does)
			continue;
		ASSERT_NE(NULL, set);
		ASSERT_GT(16, policy) TH_LOG("%s has no policy", o->name);
		for (j = 1; j <= set->nr; j++) {
			const char *name = set->attrs[j - 1].name;

			EXPECT_EQ(listed(o->request, o->nr_request, name), takes[policy][j])
				TH_LOG("%s of %s", name, o->name);
		}
	}
}

static bool size_fits(const char *type, size_t size)
{
	if (!strcmp(type, "u32"))
		return size == 4;
	if (!strcmp(type, "u64"))
		return size == 8;
	if (!strcmp(type, "flag"))
		return !size;
	if (!strcmp(type, "binary"))
		return size && size % 8 == 0;
	return size > 0;
}

/* Whether an answer holds nothing else than it may; marks what it held. */
static void check_attrs(struct __test_metadata *_metadata, const char *where,
			const struct spec_set *set, const struct nlattr *const *a,
			struct spec_op *op, bool *seen)
{
	for (int i = 1; i < GENL_ATTRS; i++) {
		if (!a[i])
			continue;
		ASSERT_GE(set->nr, i) TH_LOG("%s: number %d", where, i);
		if (!strcmp(set->attrs[i - 1].type, "pad"))
			continue;
		EXPECT_TRUE(size_fits(set->attrs[i - 1].type, genl_size(a[i])))
			TH_LOG("%s: %s of %zu bytes", where, set->attrs[i - 1].name,
			       genl_size(a[i]));
		if (op)
			EXPECT_TRUE(listed(op->reply, op->nr_reply, set->attrs[i - 1].name))
				TH_LOG("%s: %s", where, set->attrs[i - 1].name);
		seen[i] = true;
	}
}

static struct spec_op *op_numbered(int value)
{
	for (int i = 0; i < spec.nr_ops; i++)
		if (spec.ops[i].value == value)
			return &spec.ops[i];
	return NULL;
}

#define CHECK(_cmd, _attr, _id, _seen) do {					\
	struct spec_op *_op = op_numbered(_cmd);				\
										\
	ASSERT_NE(NULL, _op);							\
	ASSERT_EQ(1, genl_ask(&self->g, _cmd, _attr, _id));			\
	check_attrs(_metadata, _op->name, set_named(_op->set), self->g.attrs, _op, _seen); \
} while (0)

/* All that is promised was seen, but for what does not happen here. */
static void check_seen(struct __test_metadata *_metadata, int cmd, const bool *seen,
		       const char *never)
{
	struct spec_op *op = op_numbered(cmd);
	const struct spec_set *set = set_named(op->set);

	for (int i = 1; i <= set->nr; i++) {
		const char *name = set->attrs[i - 1].name;

		if (listed(op->reply, op->nr_reply, name) && strcmp(name, never))
			EXPECT_TRUE(seen[i]) TH_LOG("%s: no %s", op->name, name);
	}
}

TEST_F(spec, replies_hold_what_is_described_and_nothing_else)
{
	bool info[GENL_ATTRS] = { 0 }, recorder[GENL_ATTRS] = { 0 }, stats[GENL_ATTRS] = { 0 };
	bool histogram[GENL_ATTRS] = { 0 };
	struct gprof_cpu_params params = timer_params(1000000);
	struct gprof_setup setup = device_setup_of(GPROF_TARGET_PROCESS, getpid(), &params);
	const struct nlattr *nest[GENL_ATTRS];
	struct sched_recorder r;
	struct device dev;
	uint32_t flags = 0;
	int fd;

	setup.flags = GPROF_SETUP_F_FLIGHT;
	setup.buffer_size = 65536;
	if (device_has(GPROF_FEAT_SCHED_FAULTS))
		flags |= GPROF_SCHED_F_FAULTS;
	if (device_has(GPROF_FEAT_SCHED_SYSCALLS))
		flags |= GPROF_SCHED_F_SYSCALLS;
	ASSERT_ZEROS(device_setup(&dev, &setup),
		     sched_setup(&r, GPROF_TARGET_PROCESS, getpid(), flags, 100),
		     device_start(&r.dev));
	sleep_ms(50);
	CHECK(GPROF_CMD_INFO_GET, 0, 0, info);
	check_seen(_metadata, GPROF_CMD_INFO_GET, info, "");
	CHECK(GPROF_CMD_RECORDER_GET, GPROF_A_RECORDER_ID, setup.out_id, recorder);
	CHECK(GPROF_CMD_RECORDER_GET, GPROF_A_RECORDER_ID, r.id, recorder);
	CHECK(GPROF_CMD_SCHED_STATS_GET, GPROF_A_SCHED_STATS_ID, r.id, stats);
	genl_parse(genl_data(self->g.attrs[GPROF_A_SCHED_STATS_ON_CPU]),
		   genl_size(self->g.attrs[GPROF_A_SCHED_STATS_ON_CPU]), nest);
	check_attrs(_metadata, "histogram", set_named("histogram"), nest, NULL, histogram);
	EXPECT_TRUE(histogram[GPROF_A_HISTOGRAM_BUCKETS]);
	if (flags == __GPROF_SCHED_F_ALL)
		check_seen(_metadata, GPROF_CMD_SCHED_STATS_GET, stats, "clock-doubtful");
	device_close(&dev);
	sched_close(&r);
	fd = open("/sys/fs/cgroup", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0 && !sched_setup(&r, GPROF_TARGET_CGROUP, fd, 0, 0)) {
		CHECK(GPROF_CMD_RECORDER_GET, GPROF_A_RECORDER_ID, r.id, recorder);
		sched_close(&r);
		check_seen(_metadata, GPROF_CMD_RECORDER_GET, recorder, "");
	} else {
		check_seen(_metadata, GPROF_CMD_RECORDER_GET, recorder, "target-cgroup");
	}
}

TEST_HARNESS_MAIN
