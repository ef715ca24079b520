// SPDX-License-Identifier: GPL-2.0-only
#include "kinds.h"

#include <errno.h>
#include <string.h>

#include "cli/cmd.h"
#include "cli/diag.h"
#include "cli/duration.h"
#include "cli/json.h"
#include "preload.h"

void kinds_add(struct kinds *k, const char *kind, const char *file)
{
	k->kinds[k->nr].kind = kind;
	k->files[k->nr++] = file;
}

int kinds_set_output(void *ctx, const char *value)
{
	((struct kinds *)ctx)->files[0] = value;
	return STATUS_OK;
}

int kinds_set_every(void *ctx, const char *value)
{
	struct kinds *k = ctx;
	unsigned long long n;

	if (!parse_count(value, &n) || !n)
		return misused("--every wants a number, 1 or more, not \"%s\"", value);
	for (size_t i = 0; i < KINDS_MAX; i++)
		k->kinds[i].rate = n;
	return STATUS_OK;
}

int kinds_set_addr(void *ctx, const char *value)
{
	(void)value;
	((struct kinds *)ctx)->flags |= GPROF_RECORD_ADDR;
	return STATUS_OK;
}

int kinds_set_owner(void *ctx, const char *value)
{
	(void)value;
	((struct kinds *)ctx)->flags |= GPROF_RECORD_OWNER;
	return STATUS_OK;
}

int kinds_set_latency(void *ctx, const char *value)
{
	(void)value;
	((struct kinds *)ctx)->flags |= GPROF_RECORD_LATENCY;
	return STATUS_OK;
}

int kinds_set_user_only(void *ctx, const char *value)
{
	(void)value;
	((struct kinds *)ctx)->user_only = true;
	return STATUS_OK;
}

int kinds_set_kernel(void *ctx, const char *value)
{
	(void)value;
	((struct kinds *)ctx)->kernel = true;
	return STATUS_OK;
}

int kinds_set_buffer(void *ctx, const char *value)
{
	struct kinds *k = ctx;

	if (!parse_size(value, &k->buffer) || !k->buffer)
		return misused("--buffer wants bytes, such as 4M, not \"%s\"", value);
	return STATUS_OK;
}

int kinds_set_no_tables(void *ctx, const char *value)
{
	(void)value;
	((struct kinds *)ctx)->no_tables = true;
	return STATUS_OK;
}

int kinds_set_python(void *ctx, const char *value)
{
	(void)value;
	((struct kinds *)ctx)->python = true;
	return STATUS_OK;
}

int parse_slices(const char *value, uint64_t *ns)
{
	int64_t time;

	if (!duration_parse(value, &time) || time < 1000000)
		return misused("--slices wants a time of 1ms at least, such as 100ms, not \"%s\"",
			       value);
	*ns = (uint64_t)time;
	return STATUS_OK;
}

int kinds_set_slices(void *ctx, const char *value)
{
	return parse_slices(value, &((struct kinds *)ctx)->slice_ns);
}

static struct gprof_recorder *make_with(struct kinds *k, const struct gprof_target *target,
					bool on_exec, bool kernel)
{
	const struct gprof_recorder_config cfg = {
		.sz = sizeof(cfg),
		.target = *target,
		.kinds = k->kinds,
		.nr_kinds = k->nr,
		.buffer_bytes = k->buffer,
		.on_exec = on_exec,
		.no_unwind_tables = k->no_tables,
		.python = k->python,
		.slice_ns = k->slice_ns,
		.service_names = k->services,
	};

	for (size_t i = 0; i < k->nr; i++) {
		k->kinds[i].flags = k->flags | (kernel ? GPROF_RECORD_KERNEL : 0) |
				    (k->svg || k->grown_since ? GPROF_RECORD_OVER_TIME :
				     k->over_time ? GPROF_RECORD_TRY_OVER_TIME : 0);
		k->kinds[i].grown_since_ms = (unsigned int)(k->grown_since / 1000000);
		k->kinds[i].slots = (unsigned int)k->slots;
	}
	return gprof_recorder_new(&cfg);
}

/* Whether the kernel may be looked at is for the module to decide: ask it. */
struct gprof_recorder *kinds_recorder(void *kinds, const struct gprof_target *target,
				      bool on_exec)
{
	struct kinds *k = kinds;
	struct gprof_recorder *r = NULL;

	errno = EPERM;
	if (!k->user_only)
		r = make_with(k, target, on_exec, true);
	if (r || k->kernel || errno != EPERM)
		return r;
	return make_with(k, target, on_exec, false);
}

static const struct record_words of_waits = {
	.fewer = "a higher --every",
	.more = "a lower --every",
	.none = "the target never waited while it was recorded, or not as often as --every asks for",
	.open = "which have not ended (gprofctl task --format traceback shows where tasks are), or ",
};

static bool has_kind(const struct kinds *k, const char *kind)
{
	for (size_t i = 0; i < k->nr; i++)
		if (!strcmp(k->kinds[i].kind, kind))
			return true;
	return false;
}

/* Kinds of which a program tells itself, by the shim. */
static bool has_user_kind(const struct kinds *k)
{
	for (size_t i = 0; i < k->nr; i++)
		if (!strncmp(k->kinds[i].kind, "user-", 5))
			return true;
	return false;
}

int kinds_record(struct kinds *k, const struct usage *usage, const struct option_row *rows,
		 int argc, char **argv)
{
	const struct option_table tables[] = {
		{ "What to record", rows, k },
		{ "Target", target_record_options, &k->target },
		{ JSON_TABLE, k->reports ? json_options : NULL, &k->json },
		{ 0 },
	};
	int operands, status;

	if (!options_parse(usage, tables, argc, argv, false, &operands, &status))
		return status;
	if (!k->nr)
		return misused("%s wants a kind of profile, such as -e block", usage->name);
	for (size_t i = 0; i < k->nr; i++)
		if (!k->files[i])
			k->files[i] = xprintf("%s.pb.gz", k->kinds[i].kind);
	if (k->flags & GPROF_RECORD_OWNER && !has_kind(k, "kernel-lock"))
		return misused("--lock-owner is about locks of the kernel (--kernel-locks, -e "
			       "kernel-lock); the owner of a program's lock is the task that releases it");
	if (k->user_only && k->kernel)
		return misused("--user-only and --kernel exclude each other");
	status = target_complete(&k->target, argv + operands, usage->name);
	if (status == STATUS_OK && k->check)
		status = k->check(k);
	if (status == STATUS_OK && k->target.is_command && has_user_kind(k))
		status = preload(k->target.command, "--user", "--kernel");
	if (status != STATUS_OK)
		return status;
	return record(&(struct recording){
		.target = &k->target,
		.files = k->files,
		.nr_files = k->nr,
		.make = kinds_recorder,
		.ctx = k,
		.words = k->words ? *k->words : of_waits,
		.after = k->after,
	});
}
