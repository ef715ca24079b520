// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rings of a program's recorders in its core dump.
 */
#include "core_dump.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <gprof/core.h>

#include "cli/cmd.h"
#include "cli/file_kind.h"
#include "cli/output.h"
#include "cli/diag.h"
#include "cli/json.h"

static void put(struct json *j, const struct gprof_core_recorder *r)
{
	json_object(j, NULL);
	json_u64(j, "id", r->id);
	json_string(j, "kind", r->kind);
	json_u64(j, "buffers", r->buffers);
	json_u64(j, "produced", r->produced);
	json_u64(j, "lost", r->lost);
	json_u64(j, "overwritten", r->overwritten);
	json_bool(j, "in_flight", r->flight);
	json_end(j);
}

static int list_json(const struct gprof_core *c)
{
	struct json j = { 0 };
	int status = STATUS_OK;

	json_open(&j, stdout, "read");
	json_array(&j, "recorders");
	for (size_t i = 0; status == STATUS_OK && i < gprof_core_recorders(c); i++) {
		struct gprof_core_recorder r = { .sz = sizeof(r) };

		if (gprof_core_recorder(c, i, &r))
			status = fail("%s", gprof_error());
		else
			put(&j, &r);
	}
	json_end(&j);
	json_close(&j);
	return status == STATUS_OK ? finish_stdout() : status;
}

static int list(const struct gprof_core *c)
{
	size_t i, nr = gprof_core_recorders(c);

	printf("%8s %-8s %8s %12s %12s %12s\n", "id", "kind", "buffers", "produced", "lost",
	       "overwritten");
	for (i = 0; i < nr; i++) {
		struct gprof_core_recorder r = { .sz = sizeof(r) };

		if (gprof_core_recorder(c, i, &r))
			return fail("%s", gprof_error());
		printf("%8" PRIu64 " %-8s %8zu %12" PRIu64 " %12" PRIu64 " %12" PRIu64 "%s\n", r.id,
		       r.kind, r.buffers, r.produced, r.lost, r.overwritten,
		       r.flight ? "  in flight" : "");
	}
	return finish_stdout();
}

/* The one that is wanted: *@i is which; and whether it is a trace. */
static int choose(const struct gprof_core *c, const char *name, uint64_t id, size_t *i, bool *trace)
{
	size_t nr = gprof_core_recorders(c);

	if (!id && nr > 1)
		return misused("%s has %zu recorders; --core=ID says which, gprofctl read --core %s "
			       "lists them", name, nr, name);
	for (*i = 0; *i < nr; ++*i) {
		struct gprof_core_recorder r = { .sz = sizeof(r) };

		if (gprof_core_recorder(c, *i, &r))
			return fail("%s", gprof_error());
		*trace = !strcmp(r.kind, "trace");
		if (!id || r.id == id)
			return STATUS_OK;
	}
	return fail("%s has no recorder %" PRIu64, name, id);
}

static int write_it(struct gprof_core *c, size_t i, bool trace, int fd)
{
	struct gprof_profile *p = NULL;
	int err = trace ? gprof_core_trace(c, i, fd) : gprof_core_profile(c, i, &p);

	if (!err && !trace)
		err = gprof_profile_write(p, fd);
	gprof_profile_free(p);
	return err ? fail("%s", gprof_error()) : STATUS_OK;
}

static int extract(struct gprof_core *c, const char *name, uint64_t id, const char *file)
{
	struct output out;
	bool trace = false;
	size_t i = 0;
	int status = choose(c, name, id, &i, &trace);

	if (status == STATUS_OK)
		status = output_open(&out, file);
	if (status != STATUS_OK)
		return status;
	status = write_it(c, i, trace, out.fd);
	if (status == STATUS_OK)
		return output_commit(&out);
	output_discard(&out);
	return status;
}

int core_dump_trace(const char *name, int *fd)
{
	struct gprof_core *c = gprof_core_open(*fd);
	int trace = memfd_create("trace", MFD_CLOEXEC), status = STATUS_OK;

	if (!c)
		status = file_not_opened(name, *fd, FILE_RAW);
	else if (trace < 0)
		status = fail("no memory for the trace of %s (%s)", name, strerror(errno));
	else
		status = write_it(c, 0, true, trace);
	gprof_core_free(c);
	if (status == STATUS_OK) {
		lseek(trace, 0, SEEK_SET);
		close(*fd);
		*fd = trace;
	} else if (trace >= 0) {
		close(trace);
	}
	return status;
}

int core_dump(const char *name, int fd, uint64_t id, const char *out, bool json)
{
	struct gprof_core *c = gprof_core_open(fd);
	int status;

	if (!c)
		return file_not_opened(name, fd, file_is_raw(fd) ? FILE_RAW : FILE_CORE);
	status = out ? extract(c, name, id, out) : json ? list_json(c) : list(c);
	gprof_core_free(c);
	return status;
}
