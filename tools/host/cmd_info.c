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

#include "cli/diag.h"
#include "cli/json.h"
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

static void put_item(struct json *j, const char *name, bool available, const char *reason)
{
	json_object(j, NULL);
	json_string(j, "name", name);
	json_bool(j, "available", available);
	json_string(j, "reason", reason);
}

static void print_json(const struct gprof_host *h, const struct utsname *u,
		       const struct gprof_recorder_list *l)
{
	const struct gprof_recorder_info *recorders;
	const struct gprof_info_feature *features;
	const struct gprof_info_event *events;
	const char *const *pmus;
	struct json j = { 0 };
	size_t nr;

	json_open(&j, stdout, "info");
	json_string(&j, "version", GPROF_VERSION);
	json_object(&j, "kernel");
	json_string(&j, "release", u->release);
	json_string(&j, "machine", u->machine);
	json_u64(&j, "cpus", gprof_host_cpus(h));
	json_end(&j);
	json_object(&j, "module");
	json_u64(&j, "abi", gprof_host_abi(h));
	json_u64(&j, "buffer_bytes", gprof_host_buffer(h));
	json_end(&j);
	json_array(&j, "events");
	nr = gprof_host_events(h, &events);
	for (size_t i = 0; i < nr; i++) {
		put_item(&j, events[i].name, !events[i].error, events[i].reason);
		json_s64(&j, "errno", events[i].error);
		json_u64(&j, "period", events[i].period);
		json_end(&j);
	}
	json_end(&j);
	json_array(&j, "pmus");
	nr = gprof_host_pmus(h, &pmus);
	for (size_t i = 0; i < nr; i++)
		json_string(&j, NULL, pmus[i]);
	json_end(&j);
	json_array(&j, "features");
	nr = gprof_host_features(h, &features);
	for (size_t i = 0; i < nr; i++) {
		put_item(&j, features[i].name, features[i].present, features[i].reason);
		json_end(&j);
	}
	json_end(&j);
	nr = 0;
	if (l) {
		json_array(&j, "recorders");
		nr = gprof_recorder_list_get(l, &recorders);
	} else {
		json_null(&j, "recorders");
	}
	for (size_t i = 0; i < nr; i++)
		recorder_json(&j, &recorders[i]);
	if (l)
		json_end(&j);
	json_close(&j);
}

static const struct usage info_usage = {
	.name = "info",
	.synopsis = "[--json]",
	.text =
"Lists what the module offers on this kernel and CPU: the events that work and\n"
"why others do not, the PMUs, the features, and the recorders that are open.",
	.examples =
"  gprofctl info                                               # for people\n"
"  gprofctl info --json | jq '.data.events[] | select(.available)'  # for programs",
};

int cmd_info(int argc, char **argv)
{
	bool json = false;
	const struct option_table tables[] = { { JSON_TABLE, json_options, &json }, { 0 } };
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
