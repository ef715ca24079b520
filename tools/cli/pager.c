// SPDX-License-Identifier: GPL-2.0-only
#include "pager.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "terminal.h"

static pid_t pager;

/* The result is shown without a pager too. */
static void run(const char *command)
{
	static const char or_cat[] = "eval \"$PAGER\"\n[ $? -ne 127 ] || exec cat";

	/* One screen is shown at once, colours as they are, and nothing is wiped at the end. */
	setenv("LESS", "FRX", 0);
	if (command)
		execlp("sh", "sh", "-c", or_cat, NULL);
	else
		execlp("less", "less", NULL);
	execlp("cat", "cat", NULL);
	_exit(1);
}

static void end(void)
{
	fclose(stdout);
	while (waitpid(pager, NULL, 0) < 0 && errno == EINTR)
		;
}

void pager_begin(void)
{
	const char *command = getenv("PAGER"), *kind = getenv("TERM");
	size_t columns = terminal_columns(stdout);
	int fds[2];

	if (pager || !columns || !kind || !*kind || !strcmp(kind, "dumb") ||
	    (command && (!*command || !strcmp(command, "cat"))) || pipe2(fds, O_CLOEXEC))
		return;
	fflush(stdout);
	pager = fork();
	if (pager > 0) {
		dup2(fds[1], STDOUT_FILENO);
		terminal_paged(columns);
		/* Both the end of the pager and Ctrl-C in it are the user's. */
		signal(SIGPIPE, SIG_IGN);
		signal(SIGINT, SIG_IGN);
		atexit(end);
	} else if (!pager) {
		dup2(fds[0], STDIN_FILENO);
		run(command);
	} else {
		pager = 0;
	}
	close(fds[0]);
	close(fds[1]);
}
