/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * filter.h: filters on the fields of a tracepoint, from the kernel's syntax to steps.
 */
#ifndef GPROF_FILTER_H
#define GPROF_FILTER_H

#include <linux/gprof.h>
#include <stddef.h>

#include "base/error.h"

/**
 * struct gprof_filter - a filter
 * @steps: for the module
 * @nr: how many
 * @text: strings to compare with
 * @text_size: bytes of that
 */
struct gprof_filter {
	struct gprof_filter_step steps[GPROF_FILTER_STEPS_MAX];
	unsigned int nr;
	char text[GPROF_FILTER_TEXT_MAX];
	unsigned int text_size;
};

/**
 * gprof_filter_compile() - make steps of a filter
 * @f: result
 * @event: tracepoint, for sentences
 * @format: its file "format" under tracefs
 * @text: filter: comparisons FIELD OP VALUE, with !, &&, || and parentheses
 * @e: sentence, with the place where it does not parse
 *
 * Return: 0, -EINVAL, or -E2BIG for one that has too many comparisons or too much text.
 */
int gprof_filter_compile(struct gprof_filter *f, const char *event, const char *format,
			 const char *text, struct gprof_error *e);

#endif /* GPROF_FILTER_H */
