// SPDX-License-Identifier: GPL-2.0-only
/*
 * The recorders of this host, for people and for programs.
 */
#include "recorder_view.h"

#include <inttypes.h>
#include <stdlib.h>

#include "cli/diag.h"
#include "cli/text.h"

static const char *const scopes[] = {
	[GPROF_SELF] = "process", [GPROF_THREAD] = "thread", [GPROF_PROCESS] = "process",
	[GPROF_CGROUP] = "cgroup", [GPROF_CPUS] = "cpus", [GPROF_SYSTEM] = "system",
};

#define AT(member)	offsetof(struct gprof_recorder_info, member)

/* Numbers that recorders with a buffer have. */
static const struct {
	const char *key;
	const char *family;
	enum openmetrics_kind kind;
	const char *unit;
	const char *help;
	size_t offset;
} numbers[] = {
	{ "produced", "gprof_recorder_produced_samples", OPENMETRICS_COUNTER, "",
	  "Samples that the kernel took.", AT(produced) },
	{ "read", "gprof_recorder_read_samples", OPENMETRICS_COUNTER, "",
	  "Samples that were read, or may still be.", AT(read) },
	{ "lost", "gprof_recorder_lost_samples", OPENMETRICS_COUNTER, "",
	  "Samples that were lost for want of room.", AT(lost) },
	{ "overwritten", "gprof_recorder_overwritten_samples", OPENMETRICS_COUNTER, "",
	  "Samples that were given up for newer ones.", AT(overwritten) },
	{ "buffer_bytes", "gprof_recorder_buffer_bytes", OPENMETRICS_GAUGE, "bytes",
	  "Buffer of each CPU.", AT(buffer_bytes) },
};

static uint64_t number(const struct gprof_recorder_info *r, size_t i)
{
	return *(const uint64_t *)((const char *)r + numbers[i].offset);
}

/*
 * netlink shows a recorder to its owner and to a task that may record all: root, and a client
 * with the server's own trust.
 */
static bool may_read(const struct http_request *rq, const struct gprof_recorder_info *r)
{
	return rq->trusted || !rq->uid || rq->uid == r->owner_uid;
}

/* For free(); NULL without memory. */
static char *labels_of(const struct gprof_recorder_info *r, bool whose)
{
	char digits[24], *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	snprintf(digits, sizeof(digits), "%" PRIu64, r->id);
	openmetrics_label(f, "id", digits);
	openmetrics_label(f, "kind", r->kind);
	openmetrics_label(f, "scope", scopes[r->target]);
	if (whose && r->target_id) {
		snprintf(digits, sizeof(digits), "%d", r->target_id);
		openmetrics_label(f, r->target == GPROF_THREAD ? "tid" : "pid", digits);
	}
	if (whose) {
		openmetrics_label(f, "owner", r->owner);
		snprintf(digits, sizeof(digits), "%d", r->owner_pid);
		openmetrics_label(f, "owner_pid", digits);
		snprintf(digits, sizeof(digits), "%u", r->owner_uid);
		openmetrics_label(f, "owner_uid", digits);
	}
	if (!fclose(f))
		return text;
	free(text);
	return NULL;
}

const char *recorder_openmetrics(struct openmetrics *m, const struct http_request *rq)
{
	const struct gprof_recorder_info *r;
	struct gprof_recorder_list *list;
	char **labels;
	size_t nr, i;

	list = gprof_recorder_list_new();
	if (!list)
		return gprof_error();
	nr = gprof_recorder_list_get(list, &r);
	labels = xalloc(nr, sizeof(*labels));
	for (i = 0; i < nr; i++)
		labels[i] = labels_of(&r[i], may_read(rq, &r[i]));
	for (size_t n = 0; n < ARRAY_SIZE(numbers); n++) {
		openmetrics_family(m, numbers[n].kind, numbers[n].family, numbers[n].unit,
				   numbers[n].help);
		for (i = 0; i < nr; i++)
			if (labels[i] && r[i].has_samples)
				openmetrics_sample(m, labels[i], number(&r[i], n));
	}
	openmetrics_family(m, OPENMETRICS_GAUGE, "gprof_recorder_started", "",
			   "1 while a recorder records.");
	for (i = 0; i < nr; i++) {
		if (labels[i])
			openmetrics_sample(m, labels[i], r[i].started);
		free(labels[i]);
	}
	free(labels);
	gprof_recorder_list_free(list);
	return NULL;
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
	for (size_t i = 0; i < ARRAY_SIZE(numbers) && r->has_samples; i++)
		fprintf(f, ", \"%s\": %" PRIu64, numbers[i].key, number(r, i));
	putc('}', f);
}
