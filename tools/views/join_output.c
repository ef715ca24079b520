// SPDX-License-Identifier: GPL-2.0-only
/*
 * The join of two traces as a table and as JSON: a row for each function in which goroutines
 * began.
 */
#include "join_output.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/diag.h"
#include "cli/json.h"
#include "cli/text.h"

static const char *const gap_names[NR_JOIN_GAPS] = {
	[JOIN_DESCHEDULED] = "descheduled",
	[JOIN_WAITED] = "blocked",
};

struct line {
	const char *name;
	const struct join_row *row;
};

static int64_t ran(const struct join_row *r)
{
	return r->in[JOIN_ON_CPU] + r->in[JOIN_READY] + r->in[JOIN_BLOCKED] + r->in[JOIN_UNTOLD];
}

static int longest_first(const void *pa, const void *pb)
{
	const struct line *a = pa, *b = pb;

	if (ran(a->row) != ran(b->row))
		return ran(a->row) < ran(b->row) ? 1 : -1;
	return strcmp(a->name, b->name);
}

static struct line *lines_of(const struct join_model *j)
{
	struct line *lines = xalloc(j->names.nr + 1, sizeof(*lines));
	size_t length;

	for (size_t i = 0; i < j->names.nr; i++)
		lines[i] = (struct line){ intern_key(&j->names, i, &length), &j->rows[i] };
	qsort(lines, j->names.nr, sizeof(*lines), longest_first);
	return lines;
}

static struct join_times kernel_delay(const struct join_model *j)
{
	struct join_times sum = { 0 };

	for (size_t i = 0; i < j->tids.nr; i++) {
		const struct join_thread *t = &j->threads[i];

		if (!t->go)
			continue;
		sum.nr += t->delay.nr;
		sum.ns += t->delay.ns;
		sum.max = t->delay.max > sum.max ? t->delay.max : sum.max;
	}
	return sum;
}

static struct join_times runtime_delay(const struct join_model *j)
{
	struct join_times sum = { 0 };

	for (size_t i = 0; i < j->names.nr; i++) {
		sum.nr += j->rows[i].delay.nr;
		sum.ns += j->rows[i].delay.ns;
		sum.max = j->rows[i].delay.max > sum.max ? j->rows[i].delay.max : sum.max;
	}
	return sum;
}

static void print_cell(bool there, int64_t ns)
{
	if (there)
		printf(" %10.3f", (double)ns / 1e6);
	else
		printf(" %10s", "-");
}

static void print_delay(const char *who, struct join_times t)
{
	printf("%-36s %10" PRIu64 " times, %12.3f ms, at most %10.3f ms\n", who, t.nr,
	       (double)t.ns / 1e6, (double)t.max / 1e6);
}

void join_table(const struct join_model *j)
{
	struct line *lines = lines_of(j);

	printf("%10s %10s %10s %8s %10s %8s %10s %10s %8s %10s %10s  %s\n", "running ms", "on a CPU",
	       "interrupts", "desched.", "ms", "blocked", "ms", "in faults", "faults", "not told",
	       "goroutines", "function");
	for (size_t i = 0; i < j->names.nr; i++) {
		const struct join_row *r = lines[i].row;

		printf("%10.3f %10.3f", (double)ran(r) / 1e6, (double)r->in[JOIN_ON_CPU] / 1e6);
		print_cell(j->irqs, r->interrupted.ns);
		printf(" %8" PRIu64 " %10.3f %8" PRIu64 " %10.3f", r->gaps[JOIN_DESCHEDULED].nr,
		       (double)r->in[JOIN_READY] / 1e6, r->gaps[JOIN_WAITED].nr,
		       (double)r->in[JOIN_BLOCKED] / 1e6);
		print_cell(j->faults, r->fault.ns);
		if (j->faults)
			printf(" %8" PRIu64, r->faults);
		else
			printf(" %8s", "-");
		printf(" %10.3f %10" PRIu64 "  ", (double)r->in[JOIN_UNTOLD] / 1e6, r->nr);
		text_plain(stdout, lines[i].name);
		putchar('\n');
	}
	free(lines);
	putchar('\n');
	print_delay("goroutines waited for a thread", runtime_delay(j));
	print_delay("their threads waited for a CPU", kernel_delay(j));
}

static void json_times(struct json *j, const char *key, struct join_times t)
{
	json_object(j, key);
	json_u64(j, "count", t.nr);
	json_s64(j, "ns", t.ns);
	json_s64(j, "max_ns", t.max);
	json_end(j);
}

static void json_function(struct json *j, const char *name, const struct join_row *r)
{
	json_object(j, NULL);
	json_string(j, "function", name);
	json_u64(j, "goroutines", r->nr);
	json_s64(j, "running_ns", ran(r));
	json_s64(j, "cpu_ns", r->in[JOIN_ON_CPU]);
	json_s64(j, "runnable_ns", r->in[JOIN_READY]);
	json_s64(j, "blocked_ns", r->in[JOIN_BLOCKED]);
	json_s64(j, "untold_ns", r->in[JOIN_UNTOLD]);
	json_u64(j, "faults", r->faults);
	json_times(j, "interrupted", r->interrupted);
	json_times(j, "descheduled", r->gaps[JOIN_DESCHEDULED]);
	json_times(j, "blocked", r->gaps[JOIN_WAITED]);
	json_times(j, "blocked_in_faults", r->fault);
	json_times(j, "runtime_delay", r->delay);
	json_end(j);
}

void join_json(const struct join_model *m, const char *kernel, uint64_t lost)
{
	struct line *lines = lines_of(m);
	struct json json = { 0 }, *j = &json;

	json_open(j, stdout, "read");
	json_array(j, "functions");
	for (size_t i = 0; i < m->names.nr; i++)
		json_function(j, lines[i].name, lines[i].row);
	json_end(j);
	free(lines);
	json_array(j, "intervals");
	for (size_t i = 0; i < m->nr_gaps; i++) {
		const struct join_interval *g = &m->gaps[i];

		json_object(j, NULL);
		json_string(j, "kind", gap_names[g->kind]);
		json_s64(j, "goroutine", g->goroutine);
		json_u64(j, "tid", g->tid);
		json_s64(j, "begin_ns", g->begin);
		json_s64(j, "end_ns", g->end);
		json_end(j);
	}
	json_end(j);
	json_u64(j, "checked", m->checked);
	json_u64(j, "contradictions", m->wrong);
	json_times(j, "runtime_delay", runtime_delay(m));
	json_times(j, "kernel_delay", kernel_delay(m));
	json_lost_events(j, kernel, lost);
	json_close(j);
}
