// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * pprof_read.c: a profile from a pprof file.
 *
 * The file may come from anyone. All memory for it is from one budget, and every reference is
 * checked. Each kind of parts is gone through in turn, those that others refer to first, and taken
 * from the bytes as they are: protobuf-c makes objects of a message, which for the samples of a
 * large file takes three times as long as all the rest of reading.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/opts.h"
#include "pprof_input.h"
#include "pprof_into.h"
#include "pprof_reader.h"
#include "profile.h"

#define MEMORY_DEFAULT	(1ULL << 30)
/* Of files that are added up: all of them may be an attacker's. */
#define SUM_MEMORY	(4ULL << 30)

/* Text of the last failure: reading has no object to keep it in. */
static _Thread_local struct gprof_error last;

/* Memory for a walk over the samples is checked now, not when it begins. */
static int finish(struct gprof_profile *p)
{
	const struct gprof_pprof_reader r = { .error = &last, .p = p };

	if (gprof_profile_finish(p) ||
	    gprof_budget_charge(&p->budget, p->frames_max * sizeof(struct gprof_frame)))
		return gprof_pprof_no_memory(&r);
	return 0;
}

static int read_message(struct gprof_pprof_reader *r)
{
	int err = gprof_pprof_head(r);

	if (!err)
		err = gprof_pprof_code(r);
	return err ? err : gprof_pprof_samples(r);
}

static int read_plain(const struct gprof_pprof_bytes *plain, struct gprof_profile *p,
		      struct gprof_locations *places)
{
	struct gprof_pprof_reader r = {
		.error = &last, .plain = { plain->v, plain->len }, .p = p, .places = places,
		.memo.seed = p->label_sets_table.seed,
	};
	int err;

	gprof_ids_init(&r.mappings, &p->budget);
	gprof_ids_init(&r.functions, &p->budget);
	gprof_ids_init(&r.locations, &p->budget);
	err = read_message(&r);
	gprof_ids_free(&r.mappings);
	gprof_ids_free(&r.functions);
	gprof_ids_free(&r.locations);
	gprof_budget_uncharge(
		&p->budget,
		r.cap_text * sizeof(*r.text) + r.cap_nr_frames * sizeof(*r.nr_frames) +
			r.cap_placed * sizeof(*r.placed) + r.cap_stack * sizeof(*r.stack) +
			r.cap_values * sizeof(*r.values) + r.cap_labels * sizeof(*r.labels) +
			r.cap_lines * sizeof(*r.lines));
	free(r.text);
	free(r.placed);
	free(r.nr_frames);
	free(r.stack);
	free(r.values);
	free(r.labels);
	free(r.lines);
	gprof_memo_free(&r.memo);
	return err;
}

static int read_file(int fd, const struct gprof_profile_opts *opts, struct gprof_profile *p)
{
	struct gprof_profile_opts o = { 0 };
	struct gprof_pprof_bytes plain;
	int err = 0;

	if (opts)
		err = gprof_opts_copy_in(&o, sizeof(o),
					 GPROF_SIZE_WITH(struct gprof_profile_opts, memory_max),
					 opts, "gprof_profile_opts", &last);
	if (err)
		return err;
	p->budget.max = o.memory_max ? o.memory_max : MEMORY_DEFAULT;
	err = gprof_pprof_load(fd, &p->budget, &plain, &last);
	if (!err)
		err = read_plain(&plain, p, NULL);
	gprof_pprof_unload(&p->budget, &plain);
	return err ? err : finish(p);
}

int gprof_pprof_read_into(struct gprof_profile *p, struct gprof_locations *places, const void *data,
			  size_t size)
{
	struct gprof_pprof_bytes plain;
	int err;

	/* as much for each of them, as long as there is */
	p->budget.max = p->budget.used + MEMORY_DEFAULT;
	if (p->budget.max > SUM_MEMORY)
		p->budget.max = p->budget.used > SUM_MEMORY ? p->budget.used : SUM_MEMORY;
	p->budget.exceeded = false;
	err = gprof_pprof_unpack(data, size, &p->budget, &plain, &last);
	if (!err)
		err = read_plain(&plain, p, places);
	gprof_pprof_unload(&p->budget, &plain);
	return err;
}

struct gprof_profile *gprof_profile_read_opts(int fd, const struct gprof_profile_opts *opts)
{
	struct gprof_profile *p = gprof_profile_new();
	int err;

	if (p)
		err = read_file(fd, opts, p);
	else
		err = gprof_error_set(&last, ENOMEM, "no memory for the profile");
	if (!err)
		return p;
	gprof_profile_free(p);
	errno = -err;
	return NULL;
}

struct gprof_profile *gprof_profile_read(int fd)
{
	return gprof_profile_read_opts(fd, NULL);
}
