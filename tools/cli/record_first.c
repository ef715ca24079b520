// SPDX-License-Identifier: GPL-2.0-only
#include "record_first.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd.h"
#include "diag.h"

/* Subcommands that record, and the file that each writes where no option names another. */
#define COMMAND(_name, _help)	{ #_name, #_name ".pb.gz" },

static const struct {
	const char *name;
	const char *file;
} recorders[] = {
#include "base/kinds.def"
	{ "trace", "trace.out" },
};

static const char *file_of(const char *kind)
{
	for (size_t i = 0; i < ARRAY_SIZE(recorders); i++)
		if (!strcmp(kind, recorders[i].name))
			return recorders[i].file;
	return NULL;
}

/* Options by their letters: --pid chooses samples of a file. */
static bool is_one_of(const char *arg, const char *letters)
{
	return arg[0] == '-' && arg[1] && strchr(letters, arg[1]);
}

/* A command, and no file whose name may begin with a dash. */
static bool is_command(const char *arg)
{
	struct stat st;

	return arg && (stat(arg, &st) || !S_ISREG(st.st_mode) || !access(arg, X_OK));
}

/* The file that an option of the recording names. */
static const char *named_file(char **args)
{
	static const char output[] = "--output";
	const char *file = NULL;

	for (; *args && strcmp(*args, "--"); args++) {
		if (!strcmp(*args, "-o") || !strcmp(*args, output))
			file = args[1];
		else if (!strncmp(*args, "-o", 2))
			file = *args + 2;
		else if (!strncmp(*args, output, strlen(output)) && (*args)[strlen(output)] == '=')
			file = *args + strlen(output) + 1;
	}
	return file;
}

/* All that write profiles over a time but "task" have the option; the user's own counts. */
static bool wants_slices(const char *kind, char **args)
{
	const char *file = file_of(kind);

	if (!file || !strcmp(kind, "task") || !strcmp(kind, "trace"))
		return false;
	for (; *args && strcmp(*args, "--"); args++)
		if (!strncmp(*args, "--slices", strlen("--slices")))
			return false;
	return true;
}

/* Ctrl-C ends the recording, and not the look at it. */
static int run(char **args)
{
	void (*old)(int);
	int status = 0;
	pid_t pid = fork();

	if (!pid) {
		execv("/proc/self/exe", args);
		_exit(STATUS_CANNOT_RUN);
	}
	if (pid < 0)
		return fail("no process can be made for the recording: %s", strerror(errno));
	old = signal(SIGINT, SIG_IGN);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	signal(SIGINT, old);
	return WIFEXITED(status) ? WEXITSTATUS(status) : STATUS_FAILED;
}

int record_first(const char *kind, bool slices, int *argc, char **argv, int *recorded)
{
	struct stat before = { 0 }, after;
	int target = 1, from, status;
	const char *file;
	char **args;
	bool named;

	while (target < *argc && strcmp(argv[target], "--") && !is_one_of(argv[target], "ptGCa"))
		target++;
	if (target == *argc ||
	    (!strcmp(argv[target], "--") && target + 2 == *argc && !is_command(argv[target + 1])))
		return STATUS_OK;
	for (from = 1; from < target && !file_of(argv[from]) && !is_one_of(argv[from], "deF"); from++)
		;
	named = file_of(argv[from]);
	if (named)
		kind = argv[from];
	args = calloc((size_t)(*argc - from) + 4, sizeof(*args));
	if (!args)
		return fail("there is no memory for the command line");
	args[0] = "gprofctl";
	args[1] = (char *)kind;
	slices = slices && wants_slices(kind, &argv[from + named]);
	args[2] = "--slices=10ms";
	memcpy(&args[2 + slices], &argv[from + named],
	       (size_t)(*argc - from - named) * sizeof(*args));
	file = named_file(&args[2]);
	if (!file)
		file = file_of(kind);
	stat(file, &before);
	status = run(args);
	free(args);
	/* The status of a recorded command says nothing of the recording. */
	if (stat(file, &after) || (after.st_ino == before.st_ino &&
				   after.st_mtim.tv_sec == before.st_mtim.tv_sec &&
				   after.st_mtim.tv_nsec == before.st_mtim.tv_nsec))
		return status != STATUS_OK ? status :
					     fail("the recording has written no file %s", file);
	*recorded = status;
	argv[from] = (char *)file;
	argv[from + 1] = NULL;
	*argc = from + 1;
	return STATUS_OK;
}
