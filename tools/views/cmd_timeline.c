// SPDX-License-Identifier: GPL-2.0-only
/*
 * gprofctl timeline: a trace as a picture.
 */
#include "cli/cmd.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/browser.h"
#include "cli/duration.h"
#include "cli/output.h"
#include "cli/diag.h"
#include "trace_source.h"
#include "timeline.h"
#include "timeline_page.h"

/**
 * struct timeline_options - the subcommand
 * @source: the trace
 * @timeline: with its range
 * @file: -o
 * @title: --title
 */
struct timeline_options {
	struct trace_source source;
	struct timeline timeline;
	const char *file;
	const char *title;
};

static int set_output(void *ctx, const char *value)
{
	((struct timeline_options *)ctx)->file = value;
	return STATUS_OK;
}

static int set_title(void *ctx, const char *value)
{
	((struct timeline_options *)ctx)->title = value;
	return STATUS_OK;
}

static int set_time(const char *option, const char *value, int64_t *ns, bool *offset)
{
	*offset = *value == '+';
	if (duration_parse(value + *offset, ns) && *ns >= 0)
		return STATUS_OK;
	return misused("%s wants a time of the trace in seconds, such as 54.406, or one since it "
		       "began, such as +1.5, not \"%s\"", option, value);
}

static int set_from(void *ctx, const char *value)
{
	struct timeline_range *w = &((struct timeline_options *)ctx)->timeline.range;

	return set_time("--from", value, &w->from, &w->from_offset);
}

static int set_to(void *ctx, const char *value)
{
	struct timeline_range *w = &((struct timeline_options *)ctx)->timeline.range;

	return set_time("--to", value, &w->to, &w->to_offset);
}

static const struct option_row timeline_rows[] = {
	{ 'o', "output", "HTML", "write the page here and start no browser; \"-\" is stdout",
	  set_output },
	{ 0, "from", "TIME", "draw it from there on: seconds as the trace counts them, or \"+\" and\n"
	  "seconds since it began", set_from },
	{ 0, "to", "TIME", "draw it up to there", set_to },
	{ 0, "title", "TEXT", "title of the page (default: name of the trace)", set_title },
	{ 0 },
};

static const struct usage timeline_usage = {
	.name = "timeline",
	.synopsis = TRACE_SOURCE_SYNOPSIS,
	.text = "Opens a trace of the host in the browser, as a page that needs no network: the\n"
		"states of each CPU and each thread, reasons of waits, wakers, and the stack of\n"
		"the clicked piece. Keys and the mouse zoom, pan and search; \"?\" in the page\n"
		"shows how. The size of a page is bounded: in a long trace equal short pieces are\n"
		"joined, and sums stay exact; --from and --to draw a part in more detail. FILE is\n"
		"a trace of gprofctl trace or a snapshot of gprofctl flight, best with --stacks\n"
		"--reclaim --throttle, or one that a Go program wrote of\n"
		"itself; without a FILE a trace is recorded with these.",
	.examples = "  gprofctl timeline trace.out              # in the browser (xdg-open, or $BROWSER)\n"
		    "  gprofctl timeline trace.out -o t.html    # as a file\n"
		    "  gprofctl timeline trace.out -o part.html --from +2.5 --to +2.6\n"
		    "  gprofctl timeline -o t.html -- make -j4",
};

static int write_page(void *ctx, const char *file)
{
	struct timeline_options *o = ctx;
	struct output out;
	FILE *f;
	int status = output_open_text(&out, file);
	int error = 0;

	if (status != STATUS_OK)
		return status;
	f = output_stream(&out);
	if (!f) {
		error = errno;
	} else {
		timeline_page(f, &o->timeline, o->title);
		if (ferror(f))
			error = errno ? errno : EIO;
		if (fclose(f) && !error)
			error = errno;
	}
	if (error) {
		output_discard(&out);
		return fail("%s could not be written: %s", file, strerror(error));
	}
	return output_commit(&out);
}

int cmd_timeline(int argc, char **argv)
{
	static const char *const wants[] = {
		"--stacks=blocked,waker", "--reclaim", "--throttle",
		"--cpu-samples=999", NULL,
	};
	struct timeline_options o = { 0 };
	const struct option_table tables[] = {
		{ "What to draw", timeline_rows, &o },
		{ "What to record, without a FILE", trace_source_options, &o.source },
		{ "Target, without a FILE", target_options, &o.source.target },
		{ 0 },
	};
	int operands, status;

	if (!options_parse(&timeline_usage, tables, argc, argv, trace_source_mixed(argc, argv),
			   &operands, &status))
		return status;
	status = trace_source_get(&o.source, "timeline", argv, operands, wants);
	if (status == STATUS_OK)
		status = timeline_read(&o.timeline, o.source.file);
	if (status == STATUS_OK) {
		if (!o.title)
			o.title = o.source.temp ? "timeline" : basename(o.source.file);
		thread_spans_report(&o.timeline.thread_spans, o.source.file);
		status = o.file ? write_page(&o, o.file) :
				  browser_show("timeline", write_page, &o);
	}
	timeline_free(&o.timeline);
	return trace_source_free(&o.source, status);
}
