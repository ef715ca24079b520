// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * fd_write.c: writing to a descriptor of the caller.
 */
#include "fd_write.h"

#include <errno.h>
#include <linux/kcmp.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "cancel.h"

static int write_all(int fd, const char *p, size_t len)
{
	while (len) {
		ssize_t n = write(fd, p, len);

		if (n > 0) {
			p += n;
			len -= (size_t)n;
		} else if (!n) {
			return -ENOSPC;
		} else if (errno == EAGAIN || errno == EWOULDBLOCK) {
			struct pollfd pfd = { .fd = fd, .events = POLLOUT };

			if (poll(&pfd, 1, -1) < 0 && errno != EINTR)
				return -errno;
		} else if (errno != EINTR) {
			return -errno;
		}
	}
	return 0;
}

/*
 * write() sends SIGPIPE to the calling thread: keep it blocked meanwhile, and
 * take away one that was not pending before.
 */
int gprof_fd_write(int fd, const void *data, size_t len)
{
	static const struct timespec now;
	sigset_t pipe_set, pending, old;
	bool was_pending;
	int err;

	if (gprof_is_cancelled())
		return -ECONNABORTED;
	sigemptyset(&pipe_set);
	sigaddset(&pipe_set, SIGPIPE);
	sigpending(&pending);
	was_pending = sigismember(&pending, SIGPIPE) == 1;
	if (!was_pending)
		pthread_sigmask(SIG_BLOCK, &pipe_set, &old);
	err = write_all(fd, data, len);
	if (!was_pending) {
		if (err == -EPIPE)
			while (sigtimedwait(&pipe_set, NULL, &now) < 0 && errno == EINTR)
				;
		pthread_sigmask(SIG_SETMASK, &old, NULL);
	}
	return err;
}

bool gprof_fd_same(int a, int b)
{
	struct stat x, y;
	pid_t pid = getpid();

	if (a == b)
		return true;
	if (syscall(SYS_kcmp, pid, pid, KCMP_FILE, (unsigned long)a, (unsigned long)b) == 0)
		return true;
	if (fstat(a, &x) || fstat(b, &y))
		return false;
	return S_ISREG(x.st_mode) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}
