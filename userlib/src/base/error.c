// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * error.c: an errno and the sentence that goes with it.
 */
#include "error.h"

#include <errno.h>
#include <gprof/base.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Of the thread, as errno is. */
static _Thread_local struct gprof_error published;

int gprof_error_set(struct gprof_error *e, int err, const char *fmt, ...)
{
	struct gprof_error now = { .err = err };
	va_list ap;

	/* The arguments may point into an old text: format beside it. */
	va_start(ap, fmt);
	vsnprintf(now.text, sizeof(now.text), fmt, ap);
	va_end(ap);
	if (e)
		*e = now;
	gprof_error_publish(&now);
	return -err;
}

void gprof_error_clear(struct gprof_error *e)
{
	e->err = 0;
	e->text[0] = '\0';
}

void gprof_error_publish(const struct gprof_error *e)
{
	published = *e;
	errno = e->err;
}

const char *gprof_error(void)
{
	return published.text;
}

const char *gprof_strerror(int err)
{
	const char *text = strerrordesc_np(err);

	return text ? text : "Unknown error";
}
