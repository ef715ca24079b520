// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pages in the browser: xdg-open, or what $BROWSER names.
 */
#include "browser.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd.h"
#include "diag.h"

/* A private place that lasts until the browser has read it; for free(). */
static char *place_of_page(const char *name)
{
	const char *dir = getenv("XDG_RUNTIME_DIR");
	char *path;
	int fd;

	if (!dir || access(dir, W_OK))
		dir = getenv("TMPDIR");
	if (!dir || access(dir, W_OK))
		dir = "/tmp";
	path = xprintf("%s/gprofctl-%s-XXXXXX.html", dir, name);
	fd = mkostemps(path, strlen(".html"), O_CLOEXEC);
	if (fd >= 0) {
		close(fd);
		return path;
	}
	fail("no page can be written to %s: %s; -o FILE says where", dir, strerror(errno));
	free(path);
	return NULL;
}

/* The browser outlives us, and its messages are not for this terminal. */
static bool start_browser(const char *path)
{
	const char *browser = getenv("BROWSER");
	const char *program = browser && *browser ? browser : "xdg-open";
	int status;
	pid_t pid;

	if (!getenv("DISPLAY") && !getenv("WAYLAND_DISPLAY") && !browser)
		return false;
	pid = fork();
	if (!pid) {
		setsid();
		if (!freopen("/dev/null", "r", stdin) || !freopen("/dev/null", "w", stdout) ||
		    !freopen("/dev/null", "w", stderr))
			_exit(STATUS_CANNOT_RUN);
		execlp(program, program, path, NULL);
		_exit(STATUS_NOT_FOUND);
	}
	/* One that stays is not waited for, only one that fails. */
	for (int i = 0; pid > 0 && i < 20; i++) {
		if (waitpid(pid, &status, WNOHANG) == pid)
			return WIFEXITED(status) && !WEXITSTATUS(status);
		usleep(50000);
	}
	return pid > 0;
}

int browser_show(const char *name, int (*write)(void *ctx, const char *path), void *ctx)
{
	char *path = place_of_page(name);
	int status;

	if (!path)
		return STATUS_FAILED;
	status = write(ctx, path);
	if (status != STATUS_OK)
		unlink(path);
	else if (start_browser(path))
		diag("%s was opened in the browser", path);
	else
		status = fail("no browser could be started; open %s in one", path);
	free(path);
	return status;
}
