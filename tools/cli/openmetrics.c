// SPDX-License-Identifier: GPL-2.0-only
/*
 * The two formats differ in names of counters' families, in units, and in the last line.
 */
#include "openmetrics.h"

#include <inttypes.h>
#include <string.h>

#include "text.h"

#define NSEC_PER_SEC	UINT64_C(1000000000)

static const char *const kinds[] = {
	[OPENMETRICS_COUNTER] = "counter",
	[OPENMETRICS_GAUGE] = "gauge",
	[OPENMETRICS_HISTOGRAM] = "histogram",
};

/* Of a sample, or of the older format's family. */
static const char *suffix(const struct openmetrics *m)
{
	return m->kind == OPENMETRICS_COUNTER ? "_total" : "";
}

/* Help and labels have the same escapes, but for the quote. */
static void put_text(FILE *f, const char *s, bool quoted)
{
	while (*s) {
		uint32_t c = text_next(&s);

		if (c == '\n')
			fputs("\\n", f);
		else if (c == '\\' || (c == '"' && quoted))
			fprintf(f, "\\%c", (int)c);
		else
			text_put(f, c);
	}
}

void openmetrics_family(struct openmetrics *m, enum openmetrics_kind kind, const char *name,
			const char *unit, const char *help)
{
	const char *end;

	m->kind = kind;
	m->name = name;
	m->seconds = !strcmp(unit, "seconds");
	end = m->old ? suffix(m) : "";
	/* The older format wants HELP first, the newer takes any order. */
	fprintf(m->out, "# HELP %s%s ", name, end);
	/* In OpenMetrics a quote is escaped here too. */
	put_text(m->out, help, !m->old);
	fprintf(m->out, "\n# TYPE %s%s %s\n", name, end, kinds[kind]);
	if (*unit && !m->old)
		fprintf(m->out, "# UNIT %s %s\n", name, unit);
}

/* A double would not hold every number of 64 bits. */
static void put_value(const struct openmetrics *m, uint64_t value)
{
	if (m->seconds)
		fprintf(m->out, "%" PRIu64 ".%09" PRIu64, value / NSEC_PER_SEC,
			value % NSEC_PER_SEC);
	else
		fprintf(m->out, "%" PRIu64, value);
}

static void put_name(const struct openmetrics *m, const char *end, const char *labels)
{
	fprintf(m->out, "%s%s", m->name, end);
	if (*labels)
		fprintf(m->out, "{%s}", labels);
	putc(' ', m->out);
}

static void put_line(const struct openmetrics *m, const char *end, const char *labels,
		     uint64_t value)
{
	put_name(m, end, labels);
	put_value(m, value);
	putc('\n', m->out);
}

void openmetrics_sample(struct openmetrics *m, const char *labels, uint64_t value)
{
	put_line(m, suffix(m), labels, value);
}

void openmetrics_histogram(struct openmetrics *m, const char *labels,
			   const struct openmetrics_bucket *buckets, size_t nr, uint64_t sum,
			   uint64_t count)
{
	const char *comma = *labels ? "," : "";

	for (size_t i = 0; i < nr; i++) {
		fprintf(m->out, "%s_bucket{%s%sle=\"", m->name, labels, comma);
		put_value(m, buckets[i].le);
		/* A bound is a float in OpenMetrics: it has a point. */
		fprintf(m->out, "%s\"} %" PRIu64 "\n", m->seconds ? "" : ".0", buckets[i].count);
	}
	fprintf(m->out, "%s_bucket{%s%sle=\"+Inf\"} %" PRIu64 "\n", m->name, labels, comma, count);
	fprintf(m->out, "%s_count", m->name);
	if (*labels)
		fprintf(m->out, "{%s}", labels);
	fprintf(m->out, " %" PRIu64 "\n", count);
	put_line(m, "_sum", labels, sum);
}

void openmetrics_end(struct openmetrics *m)
{
	if (!m->old)
		fputs("# EOF\n", m->out);
}

void openmetrics_label(FILE *f, const char *name, const char *value)
{
	if (ftell(f) > 0)
		putc(',', f);
	fprintf(f, "%s=\"", name);
	put_text(f, value, true);
	putc('"', f);
}
