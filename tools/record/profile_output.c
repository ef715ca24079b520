// SPDX-License-Identifier: GPL-2.0-only
/*
 * A profile that was taken at once, from the output file to the exit status.
 */
#include "profile_output.h"

#include "cli/cmd.h"
#include "cli/diag.h"

int profile_output(struct output *o, struct gprof_profile *p,
		   int (*write)(const struct gprof_profile *p, int fd, const void *ctx),
		   const void *ctx, void (*tell)(const struct gprof_profile *p))
{
	const char *name = o->name;
	int status;

	if (!p || (write ? write(p, o->fd, ctx) : gprof_profile_write(p, o->fd))) {
		output_discard(o);
		gprof_profile_free(p);
		return fail("%s", gprof_error());
	}
	o->keep_old = true;
	status = output_commit(o);
	if (!write && status == STATUS_OK)
		output_place(name, "", "view", "top");
	tell(p);
	gprof_profile_free(p);
	return status;
}
