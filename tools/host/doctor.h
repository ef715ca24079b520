/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Common parts of the checks of "gprofctl doctor".
 */
#ifndef TOOLS_DOCTOR_H
#define TOOLS_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/utsname.h>

enum severity { WARN = 1, FAIL };

/**
 * struct checkup - state of the checks
 * @worst: of all lines so far, 0: all are well
 * @host: answers of the module, NULL when there are none
 * @error: why there are none
 * @u: the kernel
 * @privileged: may record everything
 * @json: the report is for programs; or NULL
 */
struct checkup {
	int worst;
	struct gprof_host *host;
	const char *error;
	struct utsname u;
	bool privileged;
	struct json *json;
};

/* One line of the report: something is as it should be. */
void good(struct checkup *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Or it is not, with a remedy. */
void bad(struct checkup *p, enum severity how, const char *remedy, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* First line of a small file, "" when it cannot be read. */
const char *read_line(const char *path, char *text, size_t size);

/* Which modules the kernel takes, and whether it would take ours. */
void check_signature(struct checkup *p);

#endif /* TOOLS_DOCTOR_H */
