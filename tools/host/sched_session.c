// SPDX-License-Identifier: GPL-2.0-only
/*
 * Statistics of a target or a command, for gprofctl schedstat and gprofctl serve.
 */
#include "sched_session.h"

#include "cli/cmd.h"
#include "cli/diag.h"

static int set_delays(struct sched_options *o, const char *option, const char *value)
{
	if (!parse_count(value, &o->hz) || o->hz > 100000)
		return misused("%s wants delays to sample in a second, 0 to 100000, not \"%s\"",
			       option, value);
	return STATUS_OK;
}

static int set_hz(void *ctx, const char *value)
{
	return set_delays(ctx, "--hz", value);
}

/* As it was called before. */
static int set_rate(void *ctx, const char *value)
{
	return set_delays(ctx, "--rate", value);
}

static int set_sys_calls(void *ctx, const char *value)
{
	(void)value;
	((struct sched_options *)ctx)->flags |= GPROF_SCHED_SYS_CALLS;
	return STATUS_OK;
}

static int set_faults(void *ctx, const char *value)
{
	(void)value;
	((struct sched_options *)ctx)->flags |= GPROF_SCHED_FAULTS;
	return STATUS_OK;
}

static int set_stall(void *ctx, const char *value)
{
	(void)value;
	((struct sched_options *)ctx)->flags |= GPROF_SCHED_STALL;
	return STATUS_OK;
}

const struct option_row sched_option_rows[] = {
	{ 0, "syscalls", NULL, "count system calls too, which slows those of all tasks a little",
	  set_sys_calls },
	{ 0, "faults", NULL, "count user page faults too, which slows those of all tasks a little",
	  set_faults },
	{ 0, "stall", NULL, "the time in which some task waited too, which slows switches a little",
	  set_stall },
	{ 0, "hz", "HZ", "delays to sample in a second (default: 100); all are counted", set_hz },
	{ 0, "rate", "HZ", NULL, set_rate },
	{ 0 },
};

int sched_begin(struct sched_session *s, struct sched_options *o)
{
	int status;

	s->sched = NULL;
	status = session_begin(&s->session, &o->target);
	if (status != STATUS_OK)
		return status;
	s->sched = gprof_sched_stats_new(&(struct gprof_sched_config){
		.sz = sizeof(struct gprof_sched_config),
		.target = o->target.gprof,
		.sample_hz = o->hz,
		.flags = o->flags,
	});
	if (!s->sched)
		return fail("%s", gprof_error());
	return STATUS_OK;
}

int sched_end(struct sched_session *s, int status)
{
	gprof_sched_stats_free(s->sched);
	return session_end(&s->session, status);
}
