// SPDX-License-Identifier: GPL-2.0-only
/*
 * The recorders of this host, for people and as JSON.
 */
#include "recorder_view.h"

#include <inttypes.h>

#include "cli/text.h"

static const char *const scopes[] = {
	[GPROF_SELF] = "process", [GPROF_THREAD] = "thread", [GPROF_PROCESS] = "process",
	[GPROF_CGROUP] = "cgroup", [GPROF_CPUS] = "cpus", [GPROF_SYSTEM] = "system",
};

const char *recorder_scope(const struct gprof_recorder_info *r)
{
	return scopes[r->target];
}

void recorder_line(FILE *f, const struct gprof_recorder_info *r)
{
	fprintf(f, "%" PRIu64 " %s of ", r->id, r->kind);
	if (r->target_id)
		fprintf(f, "%s %d", scopes[r->target], r->target_id);
	else
		fprintf(f, "%s", r->target == GPROF_SYSTEM ? "the whole host" : scopes[r->target]);
	fprintf(f, ", %s, by ", r->started ? "started" : "not started");
	text_plain(f, r->owner);
	fprintf(f, " (process %d, user %u)", r->owner_pid, r->owner_uid);
	if (r->has_samples)
		fprintf(f, ": produced=%" PRIu64 " read=%" PRIu64 " lost=%" PRIu64
			" overwritten=%" PRIu64, r->produced, r->read, r->lost, r->overwritten);
	putc('\n', f);
}

void recorder_json(FILE *f, const struct gprof_recorder_info *r)
{
	fprintf(f, "{\"id\": %" PRIu64 ", \"kind\": \"%s\", \"scope\": \"%s\"", r->id, r->kind,
		scopes[r->target]);
	if (r->target_id)
		fprintf(f, ", \"target\": %d", r->target_id);
	fprintf(f, ", \"started\": %s, \"owner\": ", r->started ? "true" : "false");
	text_json(f, r->owner);
	fprintf(f, ", \"owner_pid\": %d, \"owner_uid\": %u", r->owner_pid, r->owner_uid);
	if (r->has_samples)
		fprintf(f, ", \"produced\": %" PRIu64 ", \"read\": %" PRIu64 ", \"lost\": %" PRIu64
			", \"overwritten\": %" PRIu64 ", \"buffer_bytes\": %" PRIu64, r->produced,
			r->read, r->lost, r->overwritten, r->buffer_bytes);
	putc('}', f);
}
