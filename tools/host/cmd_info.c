// SPDX-License-Identifier: GPL-2.0-only
/*
 * gprofctl info: events and features of this kernel, for people or as JSON.
 */
#include "cli/cmd.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include <gprof/info.h>
#include <gprof/version.h>

#include "cli/options.h"
#include "cli/diag.h"
#include "cli/text.h"
#include "recorder_view.h"

static void print_event(const struct gprof_info_event *e)
{
	printf("  %-18s ", e->name);
	if (e->error)
		printf("no   %s\n", e->reason);
	else if (!strcmp(e->name, "timer") && e->period)
		printf("yes  %" PRIu64 " per second unless told otherwise\n",
		       1000000000 / e->period);
	else
		printf("yes  every %" PRIu64 " unless told otherwise\n", e->period);
}

static void print_text(const struct gprof_host *h, const struct utsname *u,
		       const struct gprof_recorder_list *l, const char *why)
{
	const struct gprof_recorder_info *recorders;
	const struct gprof_info_event *events;
	const struct gprof_info_feature *features;
	const char *const *pmus;
	size_t nr;

	printf("kernel: %s %s, %u CPUs\n", u->release, u->machine, gprof_host_cpus(h));
	printf("module: ABI %u, %" PRIu64 " KiB of buffer per CPU unless told otherwise\n",
	       gprof_host_abi(h), gprof_host_buffer(h) / 1024);
	puts("events (-e):");
	nr = gprof_host_events(h, &events);
	for (size_t i = 0; i < nr; i++)
		print_event(&events[i]);
	puts("PMUs (-e PMU/EVENT/, as in /sys/bus/event_source/devices/PMU/events):");
	nr = gprof_host_pmus(h, &pmus);
	for (size_t i = 0; i < nr; i++)
		printf("  %s\n", pmus[i]);
	puts("features:");
	nr = gprof_host_features(h, &features);
	for (size_t i = 0; i < nr; i++)
		printf("  %-18s %s  %s\n", features[i].name, features[i].present ? "yes" : "no ",
		       features[i].reason);
	if (!l) {
		printf("recorders: %s\n", why);
		return;
	}
	puts("recorders that you may see:");
	nr = gprof_recorder_list_get(l, &recorders);
	for (size_t i = 0; i < nr; i++) {
		fputs("  ", stdout);
		recorder_line(stdout, &recorders[i]);
	}
}

static void print_item(size_t i, const char *name, bool available, const char *reason)
{
	printf("%s\n    {\"name\": ", i ? "," : "");
	text_json(stdout, name);
	printf(", \"available\": %s, \"reason\": ", available ? "true" : "false");
	text_json(stdout, reason);
}

/* Keys are stable; new ones may come. */
static void print_json(const struct gprof_host *h, const struct utsname *u,
		       const struct gprof_recorder_list *l)
{
	const struct gprof_recorder_info *recorders;
	const struct gprof_info_event *events;
	const struct gprof_info_feature *features;
	const char *const *pmus;
	size_t nr;

	printf("{\n  \"version\": \"%s\",\n  \"kernel\": {\"release\": ", GPROF_VERSION);
	text_json(stdout, u->release);
	fputs(", \"machine\": ", stdout);
	text_json(stdout, u->machine);
	printf(", \"cpus\": %u},\n  \"module\": {\"abi\": %u, \"buffer_bytes\": %" PRIu64 "},\n",
	       gprof_host_cpus(h), gprof_host_abi(h), gprof_host_buffer(h));
	fputs("  \"events\": [", stdout);
	nr = gprof_host_events(h, &events);
	for (size_t i = 0; i < nr; i++) {
		print_item(i, events[i].name, !events[i].error, events[i].reason);
		printf(", \"errno\": %d, \"period\": %" PRIu64 "}", events[i].error,
		       events[i].period);
	}
	fputs("\n  ],\n  \"pmus\": [", stdout);
	nr = gprof_host_pmus(h, &pmus);
	for (size_t i = 0; i < nr; i++) {
		fputs(i ? ", " : "", stdout);
		text_json(stdout, pmus[i]);
	}
	fputs("],\n  \"features\": [", stdout);
	nr = gprof_host_features(h, &features);
	for (size_t i = 0; i < nr; i++) {
		print_item(i, features[i].name, features[i].present, features[i].reason);
		putchar('}');
	}
	fputs("\n  ],\n  \"recorders\": ", stdout);
	if (!l) {
		puts("null\n}");
		return;
	}
	putchar('[');
	nr = gprof_recorder_list_get(l, &recorders);
	for (size_t i = 0; i < nr; i++) {
		fputs(i ? ",\n    " : "\n    ", stdout);
		recorder_json(stdout, &recorders[i]);
	}
	fputs("\n  ]\n}\n", stdout);
}

static int set_json(void *ctx, const char *value)
{
	(void)value;
	*(bool *)ctx = true;
	return STATUS_OK;
}

static const struct option_row info_rows[] = {
	{ 0, "json", NULL, "as JSON, with stable keys: kernel, module, events, pmus, features,\n"
	  "recorders",
	  set_json },
	{ 0 },
};

static const struct usage info_usage = {
	.name = "info",
	.synopsis = "[--json]",
	.text =
"Lists what the module offers on this kernel and CPU: the events that work and\n"
"why others do not, the PMUs, the features, and the recorders that are open.",
	.examples =
"  gprofctl info                                               # for people\n"
"  gprofctl info --json | jq '.events[] | select(.available)'  # for programs",
};

int cmd_info(int argc, char **argv)
{
	bool json = false;
	const struct option_table tables[] = { { "Options", info_rows, &json }, { 0 } };
	const char *error = "";
	struct gprof_recorder_list *recorders;
	struct gprof_host *h;
	struct utsname u;
	int operands, status;

	if (!options_parse(&info_usage, tables, argc, argv, true, &operands, &status))
		return status;
	if (argv[operands])
		return misused("info takes no \"%s\"; see gprofctl info --help", argv[operands]);
	h = gprof_host_new();
	if (!h)
		return fail("%s; gprofctl doctor says more", gprof_error());
	/* A network namespace may hide netlink; the rest is worth telling. */
	recorders = gprof_recorder_list_new();
	error = gprof_error();
	uname(&u);
	if (json)
		print_json(h, &u, recorders);
	else
		print_text(h, &u, recorders, error);
	gprof_recorder_list_free(recorders);
	gprof_host_free(h);
	return finish_stdout();
}
