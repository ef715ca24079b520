// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * libgprof-self.so: has any program record itself, from before its main() until it exits:
 *
 *	LD_PRELOAD=libgprof-self.so GPROF=cpu,event=cycles,period=100000,out=cpu.pb.gz ./program
 *
 * What it starts is recorded with it, and finds no GPROF in its environment: two would write
 * one file. A program that cannot be recorded runs all the same, and says why on stderr. One
 * with the rights of another than its user takes nothing from the environment.
 */
#include <gprof/flags.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct gprof_flags *flags;

/* Not by unsetenv(), of which some shells have one of their own, which does not work yet. */
static void forget(void)
{
	char **from, **to;

	for (from = to = environ; *from; from++)
		if (strncmp(*from, "GPROF=", 6))
			*to++ = *from;
	*to = NULL;
}

__attribute__((constructor)) static void begin(void)
{
	const char *text = secure_getenv("GPROF");

	if (!text)
		return;
	flags = gprof_flags_parse_text(text);
	forget();
	if (flags && !gprof_flags_start(flags))
		return;
	fprintf(stderr, "gprof: not recording: %s\n", gprof_error());
	gprof_flags_free(flags);
	flags = NULL;
}

__attribute__((destructor)) static void end(void)
{
	if (!flags)
		return;
	if (gprof_flags_stop(flags))
		fprintf(stderr, "gprof: %s\n", gprof_error());
	gprof_flags_free(flags);
}
