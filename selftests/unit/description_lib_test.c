// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a process publishes of itself, read from a living one: right, whole and of this
 * program run, whatever it puts there.
 */
#include "harness.h"
#include <linux/userfaultfd.h>
#include <sys/uio.h>

#include "symbol/description.h"
#include "lib_util.h"
#include "base/proc_maps.h"

#define PAGE	4096

struct header {
	char signature[8];
	uint32_t version;
	uint32_t payload_size;
	uint64_t published_ns;
	uint64_t payload;
};

/* What a process does that publishes @payload. */
struct publisher {
	const uint8_t *payload;
	size_t size;
	void (*spoil)(struct header *h);
	bool nameless;		/* neither memfd nor name */
	uid_t user;		/* that it becomes where the test is root; or 0 */
};

FIXTURE(description) {
	struct gprof_description d;
	struct gprof_process id;
	struct gprof_described_run run;
	pid_t pid;
	int said;		/* the child says that it is ready */
	uint64_t start, end, offset;	/* of its first executable mapping */
	bool another;		/* it is not known to be this program run */
	int asked;
};

static bool mapped(void *ctx, uint64_t start, uint64_t end, uint64_t offset)
{
	FIXTURE_DATA(description) *self = ctx;

	self->asked++;
	return !self->another && start == self->start && end == self->end &&
	       offset == self->offset;
}

FIXTURE_SETUP(description)
{
	memset(self, 0, sizeof(*self));
	self->run = (struct gprof_described_run){ &self->id, mapped, self };
}

FIXTURE_TEARDOWN(description)
{
	if (self->pid) {
		kill(self->pid, SIGKILL);
		waitpid(self->pid, NULL, 0);
	}
	gprof_description_free(&self->d);
}

/* Published as OTEP 4719 says, but for what is spoilt. */
static void publish(const struct publisher *p)
{
	int fd = p->nameless ? -1 : memfd_create("OTEL_CTX", 0);
	struct header *h;

	if (fd >= 0 && ftruncate(fd, 32 * PAGE))
		_exit(1);
	h = mmap(NULL, 32 * PAGE, PROT_READ | PROT_WRITE,
		 fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_PRIVATE, fd, 0);
	if (h == MAP_FAILED)
		_exit(1);
	memcpy(h + 1, p->payload, p->size);
	h->version = 2;
	h->payload_size = (uint32_t)p->size;
	h->published_ns = 1;
	h->payload = (uintptr_t)(h + 1);
	memcpy(h->signature, "OTEL_CTX", 8);
	if (p->spoil)
		p->spoil(h);
}

static void begin(struct __test_metadata *_metadata, FIXTURE_DATA(description) *self,
		  const struct publisher *p)
{
	char path[32], line[512], perms[5];
	unsigned long long start, end, offset;
	int there[2];
	FILE *f;

	ASSERT_EQ(0, pipe(there));
	self->pid = fork();
	if (!self->pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (p)
			publish(p);
		if (p && p->user && !geteuid())
			(void)!setuid(p->user);
		close(there[1]);
		for (;;)
			pause();
	}
	close(there[1]);
	EXPECT_EQ(0, read(there[0], path, 1));
	close(there[0]);
	self->id = (struct gprof_process){ (uint32_t)self->pid, 1, lib_start_ns(self->pid) };
	snprintf(path, sizeof(path), "/proc/%d/maps", self->pid);
	f = fopen(path, "r");
	ASSERT_NE(NULL, f);
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%llx-%llx %4s %llx", &start, &end, perms, &offset) == 4 &&
		    perms[2] == 'x' && !self->end) {
			self->start = start;
			self->end = end;
			self->offset = offset;
		}
	}
	fclose(f);
}

#define BEGIN(_publisher) begin(_metadata, self, _publisher)

/* ---- protobuf, by hand ---- */

struct bytes {
	uint8_t b[8192];
	size_t nr;
};

static void put_field(struct bytes *b, unsigned int field, const void *data, size_t len)
{
	b->b[b->nr++] = (uint8_t)(field << 3 | 2);
	b->b[b->nr++] = (uint8_t)(0x80 | (len & 0x7f));
	b->b[b->nr++] = (uint8_t)(len >> 7);
	memcpy(b->b + b->nr, data, len);
	b->nr += len;
}

static struct bytes key_value(const char *key, const char *text)
{
	struct bytes value = { .nr = 0 }, kv = { .nr = 0 };

	put_field(&value, 1, text, strlen(text));
	put_field(&kv, 1, key, strlen(key));
	put_field(&kv, 2, value.b, value.nr);
	return kv;
}

/* A ProcessContext of pairs of key and value: those up to @split are the Resource's. */
static struct bytes context_of(const char *const *pairs, size_t split)
{
	struct bytes resource = { .nr = 0 }, all = { .nr = 0 }, kv;
	size_t i;

	for (i = 0; pairs[2 * i] && i < split; i++) {
		kv = key_value(pairs[2 * i], pairs[2 * i + 1]);
		put_field(&resource, 1, kv.b, kv.nr);
	}
	put_field(&all, 1, resource.b, resource.nr);
	for (; pairs[2 * i]; i++) {
		kv = key_value(pairs[2 * i], pairs[2 * i + 1]);
		put_field(&all, 2, kv.b, kv.nr);
	}
	return all;
}

static const char *const shop[] = {
	"service.name", "shop", "process.pid", "17", "service.version", "1.2", NULL
};

#define SHOP	"service.name\1shop\2service.version\0011.2\2"

TEST_F(description, what_is_published_is_told)
{
	struct bytes b = context_of(shop, 2);
	struct publisher p = { .payload = b.b, .size = b.nr };

	BEGIN(&p);
	gprof_describe(&self->d, &self->run, false);
	EXPECT_STREQ(SHOP, self->d.context);
	/* It has as many mappings as it likes: of each of two readings one was asked for. */
	EXPECT_EQ(2, self->asked);
	EXPECT_STREQ(lib_own_cgroup(), self->d.cgroup);
	/* It is kept when the process is gone. */
	kill(self->pid, SIGKILL);
	waitpid(self->pid, NULL, 0);
	self->pid = 0;
	gprof_describe(&self->d, &self->run, true);
	EXPECT_STREQ(SHOP, self->d.context);
}

TEST_F(description, nothing_is_told_of_another_program_run)
{
	struct bytes b = context_of(shop, 2);
	struct publisher p = { .payload = b.b, .size = b.nr };

	BEGIN(&p);
	/* Its pid is another's. */
	self->id.start_ns += 1000000000;
	gprof_describe(&self->d, &self->run, true);
	EXPECT_EQS(NULL, self->d.context, NULL, self->d.cgroup);
	self->id.start_ns -= 1000000000;
	/* It has executed since, which changes its mappings. */
	self->another = true;
	gprof_describe(&self->d, &self->run, true);
	EXPECT_EQ(NULL, self->d.context);
	self->another = false;
	gprof_describe(&self->d, &self->run, true);
	EXPECT_STREQ(SHOP, self->d.context);
}

TEST_F(description, it_is_looked_at_again_but_not_at_once)
{
	struct bytes b = context_of(shop, 2);
	struct timespec now;
	struct publisher p = { .payload = b.b, .size = b.nr };

	BEGIN(&p);
	self->another = true;
	gprof_describe(&self->d, &self->run, false);
	self->another = false;
	gprof_describe(&self->d, &self->run, false);
	EXPECT_EQ(NULL, self->d.context);
	/* When its time has come, after a second. */
	clock_gettime(CLOCK_MONOTONIC, &now);
	EXPECT_LT(0, self->d.next_ns);
	EXPECT_GT((now.tv_sec + 2) * 1000000000ULL, self->d.next_ns);
	self->d.next_ns = 0;
	gprof_describe(&self->d, &self->run, false);
	EXPECT_STREQ(SHOP, self->d.context);
	EXPECT_EQ(2000000000, self->d.wait_ns);
}

TEST_F(description, text_that_would_end_a_label_does_not)
{
	static const char *const pairs[] = { "service.name", "a\1b\2c\n", NULL };
	struct bytes b = context_of(pairs, 0);
	struct publisher p = { .payload = b.b, .size = b.nr };

	BEGIN(&p);
	gprof_describe(&self->d, &self->run, true);
	EXPECT_STREQ("service.name\1a?b?c?\2", self->d.context);
}

TEST_F(description, text_has_an_end)
{
	char text[1000], wanted[300];
	const char *pairs[] = { "service.name", text, NULL };
	struct bytes b;
	struct publisher p;

	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	b = context_of(pairs, 1);
	p = (struct publisher){ .payload = b.b, .size = b.nr };
	BEGIN(&p);
	gprof_describe(&self->d, &self->run, true);
	snprintf(wanted, sizeof(wanted), "service.name\1%.256s\2", text);
	EXPECT_STREQ(wanted, self->d.context);
}

/* ---- what nothing is made of ---- */

static void other_signature(struct header *h)
{
	h->signature[7] = 'Y';
}

static void other_version(struct header *h)
{
	h->version = 3;
}

static void being_written(struct header *h)
{
	h->published_ns = 0;
}

static void empty(struct header *h)
{
	h->payload_size = 0;
}

static void huge(struct header *h)
{
	h->payload_size = 65537;
}

static void beyond_its_mapping(struct header *h)
{
	h->payload = (uintptr_t)h + 32 * PAGE - 4;
}

static void nowhere(struct header *h)
{
	h->payload = 8;
}

static void at_the_end_of_addresses(struct header *h)
{
	h->payload = UINT64_MAX - 2;
}

/* A file's pages come from where somebody else may have them wait. */
static void in_a_file(struct header *h)
{
	char path[] = "/tmp/descriptionXXXXXX";
	int fd = mkstemp(path);
	void *map;

	if (fd < 0 || write(fd, h + 1, h->payload_size) != (ssize_t)h->payload_size)
		_exit(1);
	unlink(path);
	map = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, fd, 0);
	h->payload = (uintptr_t)map;
}

static void garbage(struct header *h)
{
	memset(h + 1, 0xff, h->payload_size);
}

FIXTURE(nothing) {
	FIXTURE_DATA(description) base;
};

FIXTURE_VARIANT(nothing) {
	void (*spoil)(struct header *h);
};

#define SPOILT(_name) FIXTURE_VARIANT_ADD(nothing, _name) { .spoil = _name }
SPOILT(other_signature);
SPOILT(other_version);
SPOILT(being_written);
SPOILT(empty);
SPOILT(huge);
SPOILT(beyond_its_mapping);
SPOILT(nowhere);
SPOILT(at_the_end_of_addresses);
SPOILT(in_a_file);
SPOILT(garbage);

FIXTURE_SETUP(nothing)
{
	memset(self, 0, sizeof(*self));
	self->base.run = (struct gprof_described_run){ &self->base.id, mapped, &self->base };
}

FIXTURE_TEARDOWN(nothing)
{
	kill(self->base.pid, SIGKILL);
	waitpid(self->base.pid, NULL, 0);
	gprof_description_free(&self->base.d);
}

TEST_F(nothing, is_told)
{
	struct bytes b = context_of(shop, 2);
	struct publisher p = { .payload = b.b, .size = b.nr, .spoil = variant->spoil };

	begin(_metadata, &self->base, &p);
	gprof_describe(&self->base.d, &self->base.run, true);
	EXPECT_EQ(NULL, self->base.d.context);
	EXPECT_STREQ(lib_own_cgroup(), self->base.d.cgroup);
}

/* Makes all from @at to the end a field of a message around it. */
static size_t wrap(uint8_t *buffer, size_t size, size_t at, unsigned int field)
{
	size_t len = size - at;

	/* Its length as a number of three bytes. */
	buffer[--at] = (uint8_t)(len >> 14);
	buffer[--at] = (uint8_t)(0x80 | (len >> 7 & 0x7f));
	buffer[--at] = (uint8_t)(0x80 | (len & 0x7f));
	buffer[--at] = (uint8_t)(field << 3 | 2);
	return at;
}

/* A value within a value within a value: no stack is deep enough for 15,000 of them. */
TEST_F(description, values_that_nest_are_left_alone)
{
	static uint8_t deep[60000];
	struct publisher p;
	size_t at = sizeof(deep);

	/* AnyValue.array_value is 5, ArrayValue.values 1, KeyValue.value 2. */
	while (at > 24)
		at = wrap(deep, sizeof(deep), wrap(deep, sizeof(deep), at, 1), 5);
	at = wrap(deep, sizeof(deep), wrap(deep, sizeof(deep), at, 2), 2);
	p = (struct publisher){ .payload = deep + at, .size = sizeof(deep) - at };
	BEGIN(&p);
	gprof_describe(&self->d, &self->run, true);
	EXPECT_STREQ("", self->d.context);
}

/*
 * Pages that are missing, of which nobody is told who would bring them: who reads such
 * a page waits, as its owner does.
 */
static uint64_t *withheld;	/* the first of them; shared with the child */

static void withhold(void *at, size_t len)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = {
		.range = { (uintptr_t)at, len }, .mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);

	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &reg))
		_exit(1);
	*withheld = (uintptr_t)at;
}

static void withhold_header(struct header *h)
{
	void *at = (void *)((uintptr_t)h & -PAGE);
	int fd = memfd_create("OTEL_CTX", 0);

	if (ftruncate(fd, 32 * PAGE) ||
	    mmap(at, 32 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, fd, 0) != at)
		_exit(1);
	withhold(at, 32 * PAGE);
}

/* The payload lies in pages that nobody has touched yet. */
static void withhold_payload(struct header *h)
{
	void *at = (void *)(((uintptr_t)h & -PAGE) + 16 * PAGE);

	h->payload = (uintptr_t)at;
	withhold(at, 16 * PAGE);
}

static bool can_withhold(void)
{
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* Does who reads it in another way wait, for as long as we look? */
static bool others_wait(pid_t of)
{
	uint64_t value;
	struct iovec to = { &value, sizeof(value) }, from = { (void *)*withheld, sizeof(value) };
	pid_t pid = fork();
	bool waits;

	if (!pid) {
		process_vm_readv(of, &to, 1, &from, 1, 0);
		_exit(0);
	}
	usleep(200000);
	waits = !waitpid(pid, NULL, WNOHANG);
	if (waits) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	return waits;
}

static void check_withheld(struct __test_metadata *_metadata, FIXTURE_DATA(description) *self,
			   void (*spoil)(struct header *h))
{
	struct bytes b = context_of(shop, 2);
	struct publisher p = { .payload = b.b, .size = b.nr, .spoil = spoil };
	struct timespec from, to;

	if (!can_withhold())
		SKIP(return, "no userfaultfd here");
	withheld = mmap(NULL, sizeof(*withheld), PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, withheld);
	BEGIN(&p);
	EXPECT_TRUE(others_wait(self->pid));
	clock_gettime(CLOCK_MONOTONIC, &from);
	gprof_describe(&self->d, &self->run, true);
	clock_gettime(CLOCK_MONOTONIC, &to);
	EXPECT_GT(2, to.tv_sec - from.tv_sec);
	EXPECT_EQS(NULL, self->d.context, 0, waitpid(self->pid, NULL, WNOHANG));
}

TEST_F(description, a_header_that_is_withheld_is_not_waited_for)
{
	check_withheld(_metadata, self, withhold_header);
}

TEST_F(description, a_payload_that_is_withheld_is_not_waited_for)
{
	check_withheld(_metadata, self, withhold_payload);
}

TEST_F(description, a_process_that_publishes_nothing_has_a_cgroup_a_user_and_a_parent)
{
	struct bytes b = context_of(shop, 2);
	struct publisher p = { .payload = b.b, .size = b.nr, .nameless = true, .user = 65534 };
	uid_t user = geteuid() ? geteuid() : p.user;

	BEGIN(&p);
	gprof_describe(&self->d, &self->run, true);
	EXPECT_EQ(NULL, self->d.context);
	EXPECT_STREQ(lib_own_cgroup(), self->d.cgroup);
	EXPECT_TRUE(self->d.uid_known);
	EXPECT_EQ(user, self->d.uid);
	EXPECT_EQ(getpid(), self->d.ppid);
	/* A process is begun once, by one parent. */
	self->d.ppid = 1;
	gprof_describe(&self->d, &self->run, true);
	EXPECT_EQ(1, self->d.ppid);
	/* Not those of a process with its pid. */
	self->d.uid = user + 1;
	self->d.ppid = 0;
	self->id.start_ns += 1000000000;
	gprof_describe(&self->d, &self->run, true);
	EXPECT_EQ(user + 1, self->d.uid);
	EXPECT_EQ(0, self->d.ppid);
}

/* Lines of maps as kernels write them, and what is none. */
TEST(lines_of_maps_are_taken_apart)
{
	static const struct { const char *line; struct gprof_proc_map m; } lines[] = {
		{ "7f01a0000000-7f01a0002000 r-xp 00001000 fd:01 1234567 /usr/bin/a b\n",
		  { 0x7f01a0000000, 0x7f01a0002000, 0x1000, 1234567, 0xfd, 1, true, true,
		    "/usr/bin/a b" } },
		{ "08048000-08049000 ---p 00000000 00:00 0                  \n",
		  { 0x8048000, 0x8049000, 0, 0, 0, 0, false, false, "" } },
		{ "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0  [vsyscall]",
		  { 0xffffffffff600000, 0xffffffffff601000, 0, 0, 0, 0, false, true, "[vsyscall]" } },
		{ "1000-2000 rw-s ffff000 103:1f 18446744073709551615 /x\\012y\\0 (deleted)\n",
		  { 0x1000, 0x2000, 0xffff000, UINT64_MAX, 0x103, 0x1f, true, false,
		    "/x\ny\\0 (deleted)" } },
	};
	static const char *const none[] = {
		"", "\n", "1000", "1000-", "1000-2000", "1000-2000 rw", "1000-2000 rw-p",
		"1000-2000 rw-p 0", "1000-2000 rw-p 0 0", "1000-2000 rw-p 0 0:0", "1000-2000 rw-p 0 0:0 ",
		"1000 2000 rw-p 0 0:0 0", "x-2000 rw-p 0 0:0 0", "1000-2000 rw-pp 0 0:0 0",
		"1000-2000 rw-p 0 0:0 x", "1000-2000 rw-p 0 0 0 0",
	};
	struct gprof_proc_map m;
	char line[128];

	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		const struct gprof_proc_map *want = &lines[i].m;

		strcpy(line, lines[i].line);
		ASSERT_TRUE(gprof_proc_map_parse(&m, line)) TH_LOG("%zu", i);
		EXPECT_EQS(want->start, m.start, want->end, m.end, want->offset, m.offset,
			   want->inode, m.inode, want->dev_major, m.dev_major,
			   want->dev_minor, m.dev_minor, want->readable, m.readable,
			   want->code, m.code);
		EXPECT_STREQ(want->path, m.path);
	}
	for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++) {
		strcpy(line, none[i]);
		EXPECT_FALSE(gprof_proc_map_parse(&m, line)) TH_LOG("%s", none[i]);
	}
}

TEST_HARNESS_MAIN
