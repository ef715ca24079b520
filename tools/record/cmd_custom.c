// SPDX-License-Identifier: GPL-2.0-only
/*
 * gprofctl custom: read the profiles that running programs keep of their own.
 */
#include "cli/cmd.h"

#include <stdio.h>
#include <stdlib.h>

#include <gprof/custom.h>
#include <gprof/profile.h>

#include "cli/options.h"
#include "cli/output.h"
#include "cli/diag.h"
#include "cli/json.h"
#include "cli/text.h"
#include "profile_output.h"

/**
 * struct custom_options - the command line
 * @list: --list
 * @json: --json
 * @pid: -p; 0: none
 * @file: -o
 */
struct custom_options {
	bool list;
	bool json;
	int pid;
	const char *file;
};

static int set_list(void *ctx, const char *value)
{
	(void)value;
	((struct custom_options *)ctx)->list = true;
	return STATUS_OK;
}

static int set_pid(void *ctx, const char *value)
{
	struct custom_options *o = ctx;

	if (o->pid)
		return misused("two processes: %d and %s", o->pid, value);
	if (!parse_id(value, &o->pid))
		return misused("-p wants the number of a process, not \"%s\"", value);
	return STATUS_OK;
}

static int set_output(void *ctx, const char *value)
{
	struct custom_options *o = ctx;

	if (o->file)
		return misused("two outputs: %s and %s", o->file, value);
	o->file = value;
	return STATUS_OK;
}

static const struct option_row custom_rows[] = {
	{ 0, "list", NULL, "list the profiles: process, count, name",
	  set_list },
	{ 'p', "pid", "PID", "the process (default of --list: all of this user)",
	  set_pid },
	{ 'o', "output", "FILE", "where to (default: custom.pb.gz); \"-\" is stdout", set_output },
	{ 0 },
};

static const struct usage custom_usage = {
	.name = "custom",
	.synopsis = "--list [-p PID] | -p PID NAME [-o FILE]",
	.text =
"Reads a profile that a running program keeps of its objects: connections,\n"
"buffers, or others that it adds and removes (gprof_custom_add(3)). The profile\n"
"has the stacks that added the present objects. The program goes on undisturbed.\n"
"Its user and root may read it.",
	.examples =
"  gprofctl custom --list\n"
"  gprofctl custom -p 1234 example.connections\n"
"  gprofctl top custom.pb.gz --cum",
};

static int put(void *ctx, const struct gprof_custom_info *info)
{
	struct json *j = ctx;

	json_object(j, NULL);
	json_s64(j, "pid", info->pid);
	json_u64(j, "count", info->count);
	json_string(j, "name", info->name);
	json_end(j);
	return 0;
}

static int list_json(const struct custom_options *o)
{
	struct json j = { 0 };
	int err;

	json_open(&j, stdout, "custom");
	json_array(&j, "profiles");
	err = gprof_custom_each(o->pid, put, &j);
	json_end(&j);
	json_close(&j);
	return err ? fail("%s", gprof_error()) : finish_stdout();
}

static int show(void *ctx, const struct gprof_custom_info *info)
{
	size_t *nr = ctx;

	printf("%d\t%llu\t", info->pid, (unsigned long long)info->count);
	text_plain(stdout, info->name);
	putchar('\n');
	++*nr;
	return 0;
}

static int list(const struct custom_options *o)
{
	size_t nr = 0;

	if (gprof_custom_each(o->pid, show, &nr))
		return fail("%s", gprof_error());
	if (!nr && o->pid)
		diag("process %d publishes no profiles", o->pid);
	else if (!nr)
		diag("no program of this user publishes profiles");
	return finish_stdout();
}

/* Its comments. */
static void report(const struct gprof_profile *p)
{
	const char *text;

	for (size_t i = 0; (text = gprof_profile_comment(p, i)); i++)
		diag("custom: %s", text);
}

static int write_custom(const struct custom_options *o, const char *name)
{
	struct output out;
	int status = output_open(&out, o->file ? o->file : "custom.pb.gz");

	if (status != STATUS_OK)
		return status;
	return profile_output(&out, gprof_custom_read(o->pid, name), NULL, NULL, report);
}

int cmd_custom(int argc, char **argv)
{
	struct custom_options o = { 0 };
	const struct option_table tables[] = {
		{ "Which", custom_rows, &o },
		{ JSON_TABLE, json_options, &o.json },
		{ 0 },
	};
	int operands, status;

	if (!options_parse(&custom_usage, tables, argc, argv, true, &operands, &status))
		return status;
	if (o.list) {
		if (operands < argc || o.file)
			return misused("--list takes no name, and no -o");
		return o.json ? list_json(&o) : list(&o);
	}
	if (o.json)
		return misused("--json is for --list; gprofctl top --json shows a profile");
	if (!o.pid || argc - operands != 1)
		return misused("custom wants -p PID and the name of one profile; --list shows them");
	return write_custom(&o, argv[operands]);
}
