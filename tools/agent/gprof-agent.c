// SPDX-License-Identifier: GPL-2.0-only
/*
 * gprof-agent: the subcommands of gprofctl that need the network or keep profiles.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <gprof/version.h>

#include "cli/cmd.h"
#include "cli/diag.h"
#include "cli/program.h"

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
} commands[] = {
	{ "serve", cmd_serve }, { "push", cmd_push }, { "history", cmd_history },
};

int main(int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : "";

	program_begin();
	/* Run by gprofctl, it speaks for that. */
	if (strcmp(program_invocation_short_name, program_name))
		program_name = "gprof-agent";
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		if (!strcmp(word, commands[i].name))
			return commands[i].run(argc - 1, argv + 1);
	if (!strcmp(word, "--version") || !strcmp(word, "-V"))
		puts("gprof-agent " GPROF_VERSION);
	else if (!strcmp(word, "--help") || !strcmp(word, "-h"))
		puts("Usage: gprof-agent serve|push|history [OPTIONS]\n"
		     "\n"
		     "The program behind gprofctl serve, gprofctl push and gprofctl history.\n"
		     "\n"
		     "  gprof-agent SUBCOMMAND --help   explains one of them\n"
		     "  gprof-agent --version           prints the version");
	else
		return misused("\"%s\" is no subcommand: serve, push and history are", word);
	return finish_stdout();
}
