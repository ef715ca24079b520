// SPDX-License-Identifier: GPL-2.0-only
#include "recorder_metrics.h"

#include <gprof/monitor.h>
#include <inttypes.h>
#include <stdlib.h>

#include "cli/diag.h"
#include "host/recorder_view.h"

#define AT(member)	offsetof(struct gprof_recorder_info, member)

/* Numbers that recorders with a buffer have. */
static const struct {
	const char *family;
	enum openmetrics_kind kind;
	const char *unit;
	const char *help;
	size_t offset;
} numbers[] = {
	{ "gprof_recorder_produced_samples", OPENMETRICS_COUNTER, "",
	  "Samples that the kernel took.", AT(produced) },
	{ "gprof_recorder_read_samples", OPENMETRICS_COUNTER, "",
	  "Samples that were read, or may still be.", AT(read) },
	{ "gprof_recorder_lost_samples", OPENMETRICS_COUNTER, "",
	  "Samples that were lost for want of room.", AT(lost) },
	{ "gprof_recorder_overwritten_samples", OPENMETRICS_COUNTER, "",
	  "Samples that were given up for newer ones.", AT(overwritten) },
	{ "gprof_recorder_buffer_bytes", OPENMETRICS_GAUGE, "bytes",
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
	openmetrics_label(f, "scope", recorder_scope(r));
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
