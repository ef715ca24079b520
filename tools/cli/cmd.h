/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The subcommands. A new one is a row in gprofctl.c, or in gprof-agent.c, a line here and a
 * file cmd_NAME.c; that of a kind of recorder is a row of base/kinds.def, and the file.
 */
#ifndef TOOLS_CMD_H
#define TOOLS_CMD_H

/* Exit statuses of gprofctl itself; a recorded command's status is passed on. */
enum {
	STATUS_OK = 0,
	STATUS_FAILED = 1,
	STATUS_USAGE = 2,
	STATUS_GREW = 3,	/* of compare --fail-above */
	STATUS_CANNOT_RUN = 126,
	STATUS_NOT_FOUND = 127,
};

/* argv[0] is the subcommand's name. Each returns the exit status. */
#define COMMAND(_name, _help)	int cmd_##_name(int argc, char **argv);
#include "base/kinds.def"
int cmd_stat(int argc, char **argv);
int cmd_custom(int argc, char **argv);
int cmd_record(int argc, char **argv);
int cmd_trace(int argc, char **argv);
int cmd_flight(int argc, char **argv);
int cmd_snapshot(int argc, char **argv);
int cmd_top(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_compare(int argc, char **argv);
int cmd_flame(int argc, char **argv);
int cmd_view(int argc, char **argv);
int cmd_symbolize(int argc, char **argv);
int cmd_peek(int argc, char **argv);
int cmd_list(int argc, char **argv);
int cmd_disasm(int argc, char **argv);
int cmd_collapsed(int argc, char **argv);
int cmd_csv(int argc, char **argv);
int cmd_read(int argc, char **argv);
int cmd_wall(int argc, char **argv);
int cmd_why(int argc, char **argv);
int cmd_latency(int argc, char **argv);
int cmd_syscalls(int argc, char **argv);
int cmd_timeline(int argc, char **argv);
int cmd_mmu(int argc, char **argv);
int cmd_schedstat(int argc, char **argv);
int cmd_serve(int argc, char **argv);
int cmd_push(int argc, char **argv);
int cmd_history(int argc, char **argv);
int cmd_prepare(int argc, char **argv);
int cmd_info(int argc, char **argv);
int cmd_doctor(int argc, char **argv);

#endif /* TOOLS_CMD_H */
