// SPDX-License-Identifier: GPL-2.0-only
/*
 * Descriptors of ours in a program that closes what it has not opened, and opens something of
 * its own under the same numbers: it is neither asked nor read nor closed.
 */
#include "harness.h"
#include <linux/gprof_netlink.h>
#include <netlink/msg.h>

#include "device/netlink.h"
#include "lib_util.h"
#include "symbol/symbolizer.h"

#define NUMBERS	1024

FIXTURE(own_fd) {
	bool before[NUMBERS];
	int ends[2];
};

FIXTURE_SETUP(own_fd)
{
	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, self->ends));
	for (int fd = 0; fd < NUMBERS; fd++)
		self->before[fd] = fcntl(fd, F_GETFD) >= 0;
	alarm(20);
}

FIXTURE_TEARDOWN(own_fd)
{
	close(self->ends[0]);
	close(self->ends[1]);
}

/* What has been opened since is one end of the pair now: how many they are. */
static unsigned int take_numbers(FIXTURE_DATA(own_fd) *self)
{
	unsigned int n = 0;

	for (int fd = 3; fd < NUMBERS; fd++)
		if (!self->before[fd] && fcntl(fd, F_GETFD) >= 0)
			n += dup2(self->ends[0], fd) == fd;
	return n;
}

static bool are_ours(FIXTURE_DATA(own_fd) *self, unsigned int n)
{
	char byte;

	for (int fd = 3; fd < NUMBERS; fd++)
		n -= !self->before[fd] && fcntl(fd, F_GETFD) >= 0;
	/* nothing was written to it, and what the other end writes can be read */
	return !n && recv(self->ends[1], &byte, 1, 0) < 0 && errno == EAGAIN &&
	       send(self->ends[1], "x", 1, 0) == 1 && recv(self->ends[0], &byte, 1, 0) == 1 &&
	       byte == 'x';
}

static void close_numbers(FIXTURE_DATA(own_fd) *self)
{
	for (int fd = 3; fd < NUMBERS; fd++)
		if (!self->before[fd])
			close(fd);
}

static int take_none(void *ctx, int cmd, struct nlattr **attrs)
{
	return -EPROTO;
}

TEST_F(own_fd, a_closed_netlink_socket_is_not_asked_and_not_closed)
{
	struct gprof_netlink_policy policy = { .max = 1 };
	struct gprof_netlink_query q = { .policy = policy, .take = take_none, .what = "it" };
	struct gprof_error e = { 0 };
	struct gprof_netlink n;
	unsigned int taken;
	int err = gprof_netlink_open(&n, &e);

	/* Without the module there is a socket all the same. */
	ASSERT_TRUE(!err || err == -ENOENT) TH_LOG("%s", e.text);
	taken = take_numbers(self);
	ASSERT_EQ(1, taken);
	q.message = gprof_netlink_message(&n, GPROF_CMD_INFO_GET);
	EXPECT_EQ(-EBADF, gprof_netlink_query(&n, &q, &e));
	EXPECT_SAYS(e.text, "the program has closed it meanwhile");
	EXPECT_EQ(-EBADF, gprof_netlink_receive(&n, &policy, take_none, NULL, &e));
	gprof_netlink_close(&n);
	EXPECT_TRUE(are_ours(self, taken));
	close_numbers(self);
}

extern const char __ehdr_start[];

TEST_F(own_fd, a_closed_elf_file_is_not_read_and_not_closed)
{
	const uint64_t here = (uintptr_t)take_numbers - (uintptr_t)__ehdr_start;
	struct gprof_symbol_frame frames[GPROF_FRAMES_MAX];
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct gprof_symbolizer *s;
	unsigned int taken;
	bool inlines = true;

	ASSERT_LE(0, fd);
	s = gprof_symbolizer_open(fd, NULL, 0);
	close(fd);
	ASSERT_NE(NULL, s);
	ASSERT_LT(0, gprof_symbolizer_frames(s, here, frames, &inlines));
	EXPECT_STREQ("take_numbers", frames[0].name);
	taken = take_numbers(self);
	ASSERT_EQ(1, taken);
	EXPECT_EQ(0, gprof_symbolizer_frames(s, here, frames, &inlines));
	EXPECT_ZEROS(inlines, gprof_symbolizer_caller(s, here, false));
	gprof_symbolizer_close(s);
	EXPECT_TRUE(are_ours(self, taken));
	close_numbers(self);
}

TEST_F(own_fd, no_descriptor_left_is_told_as_that)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), error;
	struct rlimit before, none;
	struct gprof_symbolizer *s;

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, getrlimit(RLIMIT_NOFILE, &before));
	none = before;
	none.rlim_cur = (rlim_t)fd + 1;
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &none));
	s = gprof_symbolizer_open(fd, NULL, 0);
	error = errno;
	setrlimit(RLIMIT_NOFILE, &before);
	EXPECT_EQS(NULL, s, EMFILE, error);
	close(fd);
}

TEST_HARNESS_MAIN
