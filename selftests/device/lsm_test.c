// SPDX-License-Identifier: GPL-2.0-only
/*
 * lsm_test: whom a security module keeps a user from tracing is not recorded.
 *
 * Landlock confines a process by itself: it traces nobody from then on that it has not begun
 * itself. AppArmor does by a profile, which the test makes: one that lets a process trace nobody,
 * and open nothing.
 */
#include <endian.h>
#include <linux/landlock.h>
#include <sys/mount.h>
#include "harness.h"
#include "device.h"
#include "workload.h"

#define USER	1000

/* The outcome, in the status of a process. */
enum { RECORDED = 10, DENIED, NOT_CONFINED, STRANGE };

FIXTURE(lsm) {
	struct child other;
};

static void live(void *arg, int step)
{
	if (!step && become(USER))
		_exit(1);
}

FIXTURE_SETUP(lsm)
{
	SKIP_ALL_UNLESS(!geteuid(), "must be root to become another");
	ASSERT_ZEROS(child_fork(&self->other, live, NULL), child_step(&self->other));
}

FIXTURE_TEARDOWN(lsm)
{
	child_end(&self->other);
}

static int record(int fd, uint32_t target, pid_t pid)
{
	struct gprof_cpu_params params = timer_params(1000000);
	struct gprof_setup setup = device_setup_of(target, pid, &params);
	struct gprof_start start = { .size = sizeof(start) };
	int err;

	setup.buffer_size = 65536;
	err = device_ioctl(fd, GPROF_IOC_SETUP, &setup);
	if (!err)
		return device_ioctl(fd, GPROF_IOC_START, &start) ? STRANGE : RECORDED;
	return err == -EPERM && setup.out_reason == GPROF_REASON_TASK_DENIED ? DENIED : STRANGE;
}

static int trace_nobody(void)
{
	/* Not even what is of no interest here: a file system is not written to. */
	struct landlock_ruleset_attr rules = { .handled_access_fs = LANDLOCK_ACCESS_FS_MAKE_CHAR };
	int fd = syscall(SYS_landlock_create_ruleset, &rules, sizeof(rules), 0);

	return fd < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       syscall(SYS_landlock_restrict_self, fd, 0) ? -errno : 0;
}

/* ---- a profile of AppArmor, as its parser writes them ---- */

#define SECURITY	"/sys/kernel/security"
#define POLICY		SECURITY "/apparmor/"
#define PROFILE		"gprof_lsm_test"
#define CLASS_PTRACE	9	/* byte that begins what its rules are about */
#define STATES		3	/* none, the first, and what is reached by that byte */

struct policy {
	uint8_t bytes[4096];
	size_t size;
};

static void add(struct policy *p, const void *bytes, size_t size)
{
	memcpy(p->bytes + p->size, bytes, size);
	p->size += size;
}

static void add_byte(struct policy *p, uint8_t byte)
{
	add(p, &byte, 1);
}

static void add_string(struct policy *p, uint8_t type, const char *text)
{
	uint16_t size = htole16(strlen(text) + 1);

	add_byte(p, type);
	add(p, &size, sizeof(size));
	add(p, text, strlen(text) + 1);
}

static void add_number(struct policy *p, uint32_t number)
{
	number = htole32(number);
	add_byte(p, 2);
	add(p, &number, sizeof(number));
}

static void begin_struct(struct policy *p, const char *name)
{
	add_string(p, 4, name);
	add_byte(p, 7);
}

static void end_struct(struct policy *p)
{
	add_byte(p, 8);
}

/* Four numbers of 32 bits, the first of them all capabilities or none. */
static void add_caps(struct policy *p, uint32_t first)
{
	add_number(p, first);
	add_number(p, 0);
	add_number(p, 0);
	add_number(p, 0);
}

/* Numbers of @width bytes, all 0 but one. */
static void add_table(struct policy *p, size_t from, uint16_t id, uint16_t width, uint32_t nr,
		      uint32_t at, uint16_t value)
{
	struct {
		uint16_t id;
		uint16_t width;
		uint32_t none;
		uint32_t nr;
	} head = { htobe16(id), htobe16(width), 0, htobe32(nr) };
	size_t data = p->size + sizeof(head);

	add(p, &head, sizeof(head));
	p->size += nr * width;
	value = htobe16(value);
	if (value)
		memcpy(p->bytes + data + at * width + width - sizeof(value), &value, sizeof(value));
	while ((p->size - from) % 8)
		p->size++;
}

/* Its machine: rules about tracing exist, and none of them allows anything. */
static void add_machine(struct policy *p)
{
	const char version[] = "notflex";
	struct {
		uint32_t magic;
		uint32_t head;
		uint32_t size;
		uint16_t flags;
	} __attribute__((packed)) head = { htobe32(0x1b5e783d), htobe32(24), 0, 0 };
	uint32_t size;
	size_t at, from;

	add_string(p, 4, "aadfa");
	add_byte(p, 6);
	at = p->size;
	p->size += sizeof(size);
	/* Aligned in the whole, as the kernel expects it. */
	while (p->size % 8)
		p->size++;
	from = p->size;
	add(p, &head, sizeof(head));
	add(p, version, sizeof(version));
	while ((p->size - from) % 8)
		p->size++;
	add_table(p, from, 1, 4, STATES, 0, 0);
	add_table(p, from, 7, 4, STATES, 0, 0);
	add_table(p, from, 2, 4, STATES, 0, 0);
	add_table(p, from, 4, 2, STATES, 0, 0);
	add_table(p, from, 8, 2, 256, CLASS_PTRACE, 2);
	add_table(p, from, 3, 2, 256, CLASS_PTRACE, 1);
	size = htobe32(p->size - from);
	memcpy(p->bytes + from + offsetof(typeof(head), size), &size, sizeof(size));
	size = htole32(p->size - at - sizeof(size));
	memcpy(p->bytes + at, &size, sizeof(size));
}

static void make_policy(struct policy *p)
{
	memset(p, 0, sizeof(*p));
	add_string(p, 4, "version");
	add_number(p, 5);
	begin_struct(p, "profile");
	add_string(p, 5, PROFILE);
	begin_struct(p, "flags");
	add_number(p, 0);
	add_number(p, 0);
	add_number(p, 0);
	end_struct(p);
	add_caps(p, UINT32_MAX);
	begin_struct(p, "caps64");
	add_caps(p, UINT32_MAX);
	end_struct(p);
	begin_struct(p, "policydb");
	add_machine(p);
	end_struct(p);
	end_struct(p);
}

static bool has_apparmor(void)
{
	char text[8] = "";

	if (file_read("/sys/module/apparmor/parameters/enabled", text, sizeof(text)) || *text != 'Y')
		return false;
	return !mount("securityfs", SECURITY, "securityfs", 0, NULL) || errno == EBUSY;
}

static int load(void)
{
	int fd = open(POLICY ".replace", O_WRONLY | O_CLOEXEC), err = 0;
	struct policy p;

	make_policy(&p);
	if (fd < 0 || write(fd, p.bytes, p.size) != (ssize_t)p.size)
		err = -errno;
	if (fd >= 0)
		close(fd);
	return err;
}

static int change_profile(void)
{
	const char *words = "changeprofile " PROFILE;

	return file_write("/proc/self/attr/apparmor/current", words) &&
	       file_write("/proc/self/attr/current", words) ? -1 : 0;
}

/* ---- */

/* Becomes a user that is confined, and records; the device is open before. */
static int record_confined(int (*confine)(void), uint32_t target, pid_t pid)
{
	int fd = device_open();
	int status = IN_CHILD(become(USER) ? STRANGE : confine && confine() ? NOT_CONFINED :
			      record(fd, target, pid ?: getpid()));

	close(fd);
	return WIFEXITED(status) ? WEXITSTATUS(status) : STRANGE;
}

/* As a process, and as a thread. */
#define EXPECT_BOTH(_outcome, _confine, _pid)						\
	EXPECT_EQS(_outcome, record_confined(_confine, GPROF_TARGET_PROCESS, _pid),	\
		   _outcome, record_confined(_confine, GPROF_TARGET_THREAD, _pid))

static bool has_landlock(void)
{
	return syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION) > 0;
}

TEST_F(lsm, one_that_is_not_confined_records_another_of_the_same_user)
{
	EXPECT_BOTH(RECORDED, NULL, self->other.pid);
}

TEST_F(lsm, whom_landlock_keeps_from_being_traced_is_not_recorded)
{
	SKIP_UNLESS(has_landlock(), "this kernel has no Landlock");
	EXPECT_BOTH(DENIED, trace_nobody, self->other.pid);
}

TEST_F(lsm, one_that_landlock_confines_records_itself)
{
	SKIP_UNLESS(has_landlock(), "this kernel has no Landlock");
	EXPECT_BOTH(RECORDED, trace_nobody, 0);
}

TEST_F(lsm, whom_apparmor_keeps_from_being_traced_is_not_recorded)
{
	SKIP_UNLESS(has_apparmor(), "AppArmor is not on");
	ASSERT_EQ(0, load());
	EXPECT_BOTH(DENIED, change_profile, self->other.pid);
	/* Itself it may, though it can open no file. */
	EXPECT_EQ(RECORDED, record_confined(change_profile, GPROF_TARGET_PROCESS, 0));
	EXPECT_EQ(0, file_write(POLICY ".remove", PROFILE));
}

TEST_HARNESS_MAIN
