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

void recorder_json(struct json *j, const struct gprof_recorder_info *r)
{
	json_object(j, NULL);
	json_u64(j, "id", r->id);
	json_string(j, "kind", r->kind);
	json_string(j, "scope", scopes[r->target]);
	if (r->target_id)
		json_s64(j, "target", r->target_id);
	json_bool(j, "started", r->started);
	json_string(j, "owner", r->owner);
	json_s64(j, "owner_pid", r->owner_pid);
	json_u64(j, "owner_uid", r->owner_uid);
	if (r->has_samples) {
		json_u64(j, "produced", r->produced);
		json_u64(j, "read", r->read);
		json_u64(j, "lost", r->lost);
		json_u64(j, "overwritten", r->overwritten);
		json_u64(j, "buffer_bytes", r->buffer_bytes);
	}
	json_end(j);
}
