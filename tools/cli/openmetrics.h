/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Metrics as text that Prometheus and its kin read: OpenMetrics 1.0, or the
 * older text format 0.0.4 for scrapers that do not take that.
 *
 *	openmetrics_family(&m, OPENMETRICS_COUNTER, "gprof_x", NULL, "...");
 *	openmetrics_count(&m, "", n);		gprof_x_total 42
 *	openmetrics_end(&m);
 *
 * All samples of a family follow it at once; a family comes once. Numbers are
 * exact: times come in nanoseconds and are written as decimal seconds.
 */
#ifndef TOOLS_OPENMETRICS_H
#define TOOLS_OPENMETRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define OPENMETRICS_TYPE	"application/openmetrics-text; version=1.0.0; charset=utf-8"
#define OPENMETRICS_OLD_TYPE	"text/plain; version=0.0.4; charset=utf-8"

enum openmetrics_kind {
	OPENMETRICS_COUNTER,	/* only grows; its samples end in _total */
	OPENMETRICS_GAUGE,	/* goes up and down */
	OPENMETRICS_HISTOGRAM,
};

/**
 * struct openmetrics - an exposition that is being written
 * @out: where to
 * @old: in the older text format
 * @kind: of the current family
 * @name: of the current family, without _total
 * @seconds: its values are nanoseconds, to be written as seconds
 */
struct openmetrics {
	FILE *out;
	bool old;
	enum openmetrics_kind kind;
	const char *name;
	bool seconds;
};

/**
 * openmetrics_family() - begin a family
 * @m: exposition
 * @kind: of all its samples
 * @name: without _total; borrowed until the next family. With a unit it must
 *	end in _UNIT.
 * @unit: "seconds" takes values as nanoseconds; "" is a number without unit
 * @help: a sentence
 */
void openmetrics_family(struct openmetrics *m, enum openmetrics_kind kind, const char *name,
			const char *unit, const char *help);

/**
 * openmetrics_sample() - a value of a counter or gauge
 * @m: exposition
 * @labels: from openmetrics_label(), or ""
 * @value: number, or nanoseconds
 */
void openmetrics_sample(struct openmetrics *m, const char *labels, uint64_t value);

/**
 * struct openmetrics_bucket - a histogram's count up to a bound
 * @le: largest value that it counts
 * @count: values up to @le, those of lower buckets included
 */
struct openmetrics_bucket {
	uint64_t le;
	uint64_t count;
};

/**
 * openmetrics_histogram() - a histogram
 * @m: exposition
 * @labels: from openmetrics_label(), or ""
 * @buckets: ascending, without the one that has no bound
 * @nr: number of buckets
 * @sum: of all values
 * @count: of all values
 */
void openmetrics_histogram(struct openmetrics *m, const char *labels,
			   const struct openmetrics_bucket *buckets, size_t nr, uint64_t sum,
			   uint64_t count);

/** openmetrics_end() - the last line; without it OpenMetrics counts as cut off */
void openmetrics_end(struct openmetrics *m);

/**
 * openmetrics_label() - append NAME="VALUE" to a list of labels
 * @f: the list so far, a memory stream
 * @name: of the label
 * @value: any text; invalid UTF-8 becomes U+FFFD
 */
void openmetrics_label(FILE *f, const char *name, const char *value);

#endif /* TOOLS_OPENMETRICS_H */
