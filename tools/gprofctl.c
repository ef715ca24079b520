// SPDX-License-Identifier: GPL-2.0-only
/*
 * gprofctl: the table of subcommands.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gprof/version.h>

#include "cli/cmd.h"
#include "cli/diag.h"
#include "cli/program.h"
#include "cli/record_first.h"

/* gprof-agent has the commands that need the network or keep profiles, and their libraries. */
static int run_agent(int argc, char **argv)
{
	char **args = xalloc((size_t)argc + 2, sizeof(*args));
	int error;

	args[0] = "gprofctl";
	memcpy(&args[1], argv, (size_t)argc * sizeof(*args));
	program_exec("gprof-agent", args);
	error = errno;
	free(args);
	if (error != ENOENT)
		return fail("gprof-agent, which runs %s, cannot be run: %s", argv[0], strerror(error));
	return fail("%s is run by gprof-agent, which is not here; it is in the package gprof-agent: "
		    "apt-get install gprof-agent", argv[0]);
}

#define COMMAND(_name, _help)	{ #_name, cmd_##_name, _help },

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *help;
	const char *records;	/* what a target in place of a file has recorded first */
	const char *group;	/* heading of this one and those behind it */
} commands[] = {
#include "base/kinds.def"
	{ "stat", cmd_stat, "count events, and print their ratios" },
	{ "custom", cmd_custom, "read a profile that a program keeps of its objects" },
	{ "record", cmd_record, "record several kinds of profiles of one run" },
	{ "trace", cmd_trace, "record runs and waits of tasks" },
	{ "flight", cmd_flight, "keep the last seconds of a trace, and write them on request" },
	{ "snapshot", cmd_snapshot, "ask flight recorders for snapshots" },
	{ "top", cmd_top, "show the functions of a profile as a table", "cpu", "show a profile" },
	{ "diff", cmd_diff, "show two profiles beside each other, and what differs" },
	{ "compare", cmd_compare, "tell which functions a change made dearer, and fail in CI" },
	{ "flame", cmd_flame, "draw a profile as a flame graph for a browser", "cpu" },
	{ "view", cmd_view, "open a profile in the browser", "cpu" },
	{ "symbolize", cmd_symbolize, "add missing names of functions to a profile" },
	{ "peek", cmd_peek, "show the callers and the callees of a function" },
	{ "list", cmd_list, "show the source lines of a function, with their values" },
	{ "disasm", cmd_disasm, "show the instructions of a function, with their values" },
	{ "collapsed", cmd_collapsed, "write a profile as a line for each stack" },
	{ "csv", cmd_csv, "write the functions of a profile for a spreadsheet" },
	{ "read", cmd_read, "show the events of an execution trace, or count them", "trace",
	  "show a trace" },
	{ "wall", cmd_wall, "show where all the time of each thread went" },
	{ "why", cmd_why, "show which threads kept a thread waiting" },
	{ "latency", cmd_latency, "show how long threads wait for a CPU" },
	{ "syscalls", cmd_syscalls, "show which system calls take the time" },
	{ "timeline", cmd_timeline, "draw a trace as a page: running and waiting threads" },
	{ "mmu", cmd_mmu, "show the share of the processors that a program had" },
	{ "schedstat", cmd_schedstat, "show how the scheduler treats a program or the host", NULL,
	  "watch a host" },
	{ "serve", run_agent, "serve statistics to Prometheus, and profiles on request" },
	{ "push", run_agent, "record this host all the time, and send that to an engine" },
	{ "history", run_agent, "merge the profiles of a span of time from push's store" },
	{ "prepare", cmd_prepare, "make unwind tables, so that no recording has to", NULL,
	  "set up" },
	{ "info", cmd_info, "list the events and features that work here" },
	{ "doctor", cmd_doctor, "check this host, and name remedies" },
};

/* The manual page begins with the same. */
static const struct {
	const char *find;
	const char *command;
} questions[] = {
	{ "where CPU time goes", "view -- COMMAND" },
	{ "why a process waits", "top block -p PID -d 10" },
	{ "where a process hangs", "task -p PID --format traceback" },
	{ "the thread it waits for", "why -p PID -d 10" },
	{ "the holder of a lock", "top mutex -p PID -d 10" },
	{ "memory that leaks", "heap --leaks -- COMMAND" },
	{ "causes of page faults", "top profile -e page-faults -- COMMAND" },
	{ "costly system calls", "syscalls -p PID -d 10" },
	{ "causes of wakeups", "view profile -e sched:sched_waking -a -d 10" },
	{ "a shortage of CPUs", "latency -- make -j8" },
	{ "the time before a stall", "flight -o DIR --trigger 'off-cpu>1s' -p PID" },
	{ "effects of a change", "compare OLD.pb.gz NEW.pb.gz" },
	{ "slower than yesterday", "compare /var/lib/gprof --ago 1d" },
	{ "why gprof does not work", "doctor" },
};

static int print_help(void)
{
	puts("  gprofctl cpu -- COMMAND             # record a command into cpu.pb.gz\n"
	     "  gprofctl view cpu.pb.gz             # see where the time went, in a browser\n"
	     "\n"
	     "Usage: gprofctl SUBCOMMAND [OPTIONS]\n"
	     "\n"
	     "Profiles programs through the gprof kernel module. Profiles are pprof files;\n"
	     "go tool pprof opens them too.\n"
	     "\n"
	     "To find:");
	for (size_t i = 0; i < ARRAY_SIZE(questions); i++)
		printf("  %-25sgprofctl %s\n", questions[i].find, questions[i].command);
	puts("\n"
	     "Subcommands:\n"
	     " record:");
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		if (commands[i].group)
			printf(" %s:\n", commands[i].group);
		printf("  %-10s %s\n", commands[i].name, commands[i].help);
	}
	puts("\n"
	     "  gprofctl SUBCOMMAND --help   explains one of them\n"
	     "  gprofctl --version           prints the version");
	return finish_stdout();
}

static const char *command_name(const void *ctx, size_t i)
{
	(void)ctx;
	return i < ARRAY_SIZE(commands) ? commands[i].name : NULL;
}

/* Names of other tools. */
static const struct {
	const char *word;
	const char *meant;
} others[] = {
	{ "report", "view" }, { "annotate", "disasm" }, { "script", "collapsed" }, { "sched", "latency" },
	{ "lock", "mutex" }, { "mem", "heap" }, { "memory", "heap" }, { "malloc", "heap" },
	{ "events", "info" }, { "offcpu", "block" }, { "off-cpu", "block" }, { "flamegraph", "flame" },
	{ "svg", "flame" }, { "web", "view" }, { "http", "view" }, { "tree", "peek" },
	{ "folded", "collapsed" }, { "fold", "collapsed" }, { "probe", "profile" },
	{ "pprof", "view" }, { "locks", "mutex" }, { "list-events", "info" }, { "leaks", "heap" },
	{ "callers", "peek" }, { "callgraph", "peek" }, { "source", "list" }, { "asm", "disasm" },
	{ "buildid-list", "info" }, { "goroutine", "task" }, { "threads", "task" }, { "traceback", "task" },
	{ "allocs", "alloc" }, { "wait", "block" }, { "hang", "task" }, { "hangs", "task" },
	{ "stuck", "task" }, { "slow", "view" }, { "leak", "heap" }, { "strace", "syscalls" },
	{ "syscall", "syscalls" },
	{ "symbols", "symbolize" }, { "names", "symbolize" }, { "symbolicate", "symbolize" }, { "version", "--version" },
};

static int unknown(const char *word)
{
	const char *meant;

	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (!strcmp(word, others[i].word))
			return misused("there is no subcommand \"%s\"; that is gprofctl %s here", word,
				       others[i].meant);
	meant = nearest(word, command_name, NULL);
	if (meant)
		return misused("there is no subcommand \"%s\"; did you mean %s?", word, meant);
	return misused("there is no subcommand \"%s\"; see gprofctl --help", word);
}

/* "help SUBCOMMAND", as others have it. */
static int help_of(char **argv)
{
	char option[] = "--help", *help[] = { argv[2], option, NULL };

	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		if (!strcmp(argv[2], commands[i].name))
			return commands[i].run(2, help);
	return unknown(argv[2]);
}

static int run(size_t i, int argc, char **argv)
{
	int status, recorded = STATUS_OK;

	status = commands[i].records ?
		 record_first(commands[i].records, !strcmp(commands[i].name, "view"), &argc,
			      argv, &recorded) : STATUS_OK;
	if (status == STATUS_OK)
		status = commands[i].run(argc, argv);
	/* That of a recorded command is passed on. */
	return status == STATUS_OK ? recorded : status;
}

int main(int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : NULL;

	program_begin();
	if (!word)
		return misused("no subcommand; see gprofctl --help");
	if (!strcmp(word, "--help") || !strcmp(word, "-h") || !strcmp(word, "help"))
		return argc > 2 ? help_of(argv) : print_help();
	if (!strcmp(word, "--version") || !strcmp(word, "-V")) {
		puts("gprofctl " GPROF_VERSION);
		return finish_stdout();
	}
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		if (!strcmp(word, commands[i].name))
			return run(i, argc - 1, argv + 1);
	return unknown(word);
}
