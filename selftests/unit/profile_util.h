/* SPDX-License-Identifier: GPL-2.0-only */
/* profile_util.h: profiles that are read again, and what is said in them. */
#ifndef GPROF_PROFILE_UTIL_H
#define GPROF_PROFILE_UTIL_H

#include <gprof/profile.h>

#include "lib_util.h"

/* Written and read again. */
static inline struct gprof_profile *profile_again(const struct gprof_profile *p)
{
	int fd = memfd_create("profile", MFD_CLOEXEC);
	struct gprof_profile *q = NULL;

	if (!gprof_profile_write(p, fd) && !lseek(fd, 0, SEEK_SET))
		q = gprof_profile_read(fd);
	close(fd);
	return q;
}

static inline bool profile_says(const struct gprof_profile *p, const char *text)
{
	const char *comment;

	for (size_t i = 0; (comment = gprof_profile_comment(p, i)); i++)
		if (strstr(comment, text))
			return true;
	return false;
}

#endif
