// SPDX-License-Identifier: GPL-2.0-only
/*
 * gprofctl snapshot: ask flight recorders for snapshots.
 */
#include "cli/cmd.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include <gprof/monitor.h>

#include "cli/options.h"
#include "cli/diag.h"
#include "cli/text.h"

static const struct usage snapshot_usage = {
	.name = "snapshot",
	.synopsis = "[PID...]",
	.text =
"Asks flight recorders for a snapshot: those of the given processes, or all that\n"
"the caller may see: its user's, and with CAP_PERFMON those of all. gprofctl\n"
"flight then writes a file to its own directory.",
	.examples =
"  gprofctl flight -a -o /var/tmp/flight &\n"
"  gprofctl snapshot                        # something just happened",
};

static bool is_wanted(const struct gprof_recorder_info *r, char **pids, size_t nr, bool *found)
{
	size_t i;

	if (!r->flight || !r->started)
		return false;
	for (i = 0; i < nr; i++) {
		unsigned long long pid;

		if (parse_count(pids[i], &pid) && pid == (unsigned long long)r->owner_pid) {
			found[i] = true;
			return true;
		}
	}
	return !nr;
}

static int request(const struct gprof_recorder_info *r)
{
	int err = gprof_snapshot_request(r->id), status = STATUS_OK;
	char *owner = text_safe(r->owner);

	/* Else it has ended meanwhile. */
	if (!err)
		diag("process %d (%s) was asked", r->owner_pid, owner);
	else if (err != -ENOENT)
		status = fail("process %d (%s): %s", r->owner_pid, owner, gprof_error());
	free(owner);
	return status;
}

static int request_all(const struct gprof_recorder_list *l, char **pids, size_t nr)
{
	const struct gprof_recorder_info *all;
	bool *found = xalloc(nr + 1, sizeof(*found));
	size_t i, n = gprof_recorder_list_get(l, &all), asked = 0;
	int status = STATUS_OK;

	for (i = 0; i < n; i++) {
		if (!is_wanted(&all[i], pids, nr, found))
			continue;
		asked++;
		if (request(&all[i]) != STATUS_OK)
			status = STATUS_FAILED;
	}
	for (i = 0; i < nr; i++)
		if (!found[i])
			status = fail("process %s has no flight recorder that you may see", pids[i]);
	if (!asked && !nr)
		status = fail("there is no flight recorder that you may see; gprofctl flight starts "
			      "one");
	free(found);
	return status;
}

int cmd_snapshot(int argc, char **argv)
{
	const struct option_table tables[] = { { 0 } };
	struct gprof_recorder_list *l;
	unsigned long long pid;
	int operands, status, i;

	if (!options_parse(&snapshot_usage, tables, argc, argv, true, &operands, &status))
		return status;
	for (i = operands; i < argc; i++)
		if (!parse_count(argv[i], &pid))
			return misused("snapshot wants the numbers of processes, not \"%s\"", argv[i]);
	l = gprof_recorder_list_new();
	if (!l)
		return fail("%s", gprof_error());
	status = request_all(l, argv + operands, (size_t)(argc - operands));
	gprof_recorder_list_free(l);
	return status;
}
