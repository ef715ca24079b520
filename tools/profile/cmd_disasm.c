// SPDX-License-Identifier: GPL-2.0-only
/*
 * gprofctl disasm: the instructions of a function with their values. objdump reads them, of the
 * file that was recorded and no other.
 */
#include "cli/cmd.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/diag.h"
#include "cli/json.h"
#include "cli/pager.h"
#include "cli/terminal.h"
#include "cli/text.h"
#include "debug_package.h"
#include "elf_place.h"
#include "options_view.h"
#include "source.h"
#include "function_match.h"

#define AROUND		64	/* bytes before the first instruction with a value, and after the last */
#define SPAN_MAX	(1 << 20)
#define NUMBER_COLUMNS	24
#define TEXT_COLUMNS	120
#define SOURCE_MARK	"|"	/* no other line begins with it */

/**
 * struct disasm_options - the command line
 * @view: common options
 * @object: --object, in the place of the file of the profile
 * @no_source: --no-source
 * @json: --json
 */
struct disasm_options {
	struct view_options view;
	const char *object;
	bool no_source;
	bool json;
};

static int set_object(void *ctx, const char *value)
{
	((struct disasm_options *)ctx)->object = value;
	return STATUS_OK;
}

static int set_no_source(void *ctx, const char *value)
{
	(void)value;
	((struct disasm_options *)ctx)->no_source = true;
	return STATUS_OK;
}

static const struct option_row disasm_rows[] = {
	{ 0, "object", "FILE", "the program or library, if it has moved",
	  set_object },
	{ 0, "no-source", NULL, "leave out the lines of the source between the instructions",
	  set_no_source },
	{ 0 },
};

static const struct usage disasm_usage = {
	.name = "disasm",
	.synopsis = "FUNCTION FILE [OPTIONS]",
	.text =
"Shows the instructions of a function of a pprof profile, each with its own value\n"
"(flat) and with all it calls (cum), like go tool pprof -disasm, with the jumps\n"
"within the function, and its source between them where there is debug\n"
"information. objdump (binutils) reads them from a file with the recorded\n"
"build-id. FUNCTION is its\n"
"name, or a regular expression where no function is called exactly that.",
	.examples =
"  gprofctl disasm sort_rows cpu.pb.gz\n"
"  gprofctl disasm crc32 cpu.pb.gz --object /usr/lib/debug/libz.so.1",
};

/* The mapping that an address of a file lies in. */
static bool find_mapping(const struct view *v, const struct place *p, struct gprof_profile_mapping *m)
{
	for (size_t i = 0; !gprof_profile_mapping(v->profile, i, m); i++)
		if (!strcmp(m->file, p->file) && p->at >= m->start && p->at < m->limit)
			return true;
	return false;
}

/* From an address of memory to the file's own. */
static bool to_file(const struct view *v, const struct elf_place *e, struct place *p)
{
	struct gprof_profile_mapping m;
	uint64_t address;

	if (!find_mapping(v, p, &m))
		return false;
	address = elf_place_address(e, p->at - m.start + m.offset);
	if (address == UINT64_MAX)
		return false;
	p->at = address;
	return true;
}

static int by_address(const void *pa, const void *pb)
{
	const struct place *a = pa, *b = pb;

	return a->at < b->at ? -1 : a->at > b->at;
}

/* Of several processes one instruction may have been at several addresses. */
static size_t join(struct place *p, size_t nr)
{
	size_t left = 0;

	qsort(p, nr, sizeof(*p), by_address);
	for (size_t i = 0; i < nr; i++) {
		if (left && p[left - 1].at == p[i].at) {
			p[left - 1].flat = view_sum(p[left - 1].flat, p[i].flat);
			p[left - 1].cum = view_sum(p[left - 1].cum, p[i].cum);
		} else {
			p[left++] = p[i];
		}
	}
	return left;
}

/* @source: with jumps, and lines of the source, each behind SOURCE_MARK */
static FILE *start_objdump(const char *file, uint64_t from, uint64_t to, bool source, pid_t *pid)
{
	char *start = xprintf("--start-address=0x%" PRIx64, from);
	char *stop = xprintf("--stop-address=0x%" PRIx64, to);
	int fds[2];

	*pid = -1;
	if (!pipe2(fds, O_CLOEXEC)) {
		*pid = fork();
		if (!*pid) {
			dup2(fds[1], STDOUT_FILENO);
			if (source)
				execlp("objdump", "objdump", "-dS", "-C", "--no-show-raw-insn",
				       "--visualize-jumps", "--source-comment=" SOURCE_MARK, start, stop,
				       "--", file, NULL);
			else
				execlp("objdump", "objdump", "-d", "-C", "--no-show-raw-insn", start,
				       stop, "--", file, NULL);
			_exit(STATUS_NOT_FOUND);
		}
		close(fds[1]);
	}
	free(start);
	free(stop);
	return *pid < 0 ? NULL : fdopen(fds[0], "r");
}

static void put_instruction(struct json *j, const struct place *p, const char *line)
{
	char *text;
	uint64_t address = strtoull(line, &text, 16);

	text += strspn(text, ": \t");
	json_object(j, NULL);
	json_u64(j, "address", address);
	json_s64(j, "flat", p->flat);
	json_s64(j, "cum", p->cum);
	json_bytes(j, "text", text, strcspn(text, "\n"));
	json_end(j);
}

static void print_line(FILE *f, const struct view *v, const struct place *p, const char *line)
{
	size_t columns = terminal_columns(stdout), room = TEXT_COLUMNS;
	char flat[VIEW_TEXT_MAX] = ".", cum[VIEW_TEXT_MAX] = ".";
	char *text;

	if (columns && columns < NUMBER_COLUMNS + TEXT_COLUMNS)
		room = columns > NUMBER_COLUMNS + 20 ? columns - NUMBER_COLUMNS : 20;
	if (p && p->flat)
		view_value(v, p->flat, flat);
	if (p && p->cum)
		view_value(v, p->cum, cum);
	if (*line == *SOURCE_MARK)
		fprintf(f, "%23s %s", "", terminal_color(stdout, TERMINAL_BOLD));
	else
		fprintf(f, "%s%11s %11s%s ",
			terminal_color(stdout, terminal_heat(p ? view_percent(v, p->flat) : 0)), flat,
			cum, terminal_color(stdout, TERMINAL_PLAIN));
	line += *line == *SOURCE_MARK;
	text = xprintf("%.*s", (int)room, line);
	for (char *c = text; *c; c++)
		if (*c == '\t')
			*c = ' ';
	text[strcspn(text, "\n")] = '\0';
	text_plain(f, text);
	fprintf(f, "%s\n", terminal_color(stdout, TERMINAL_PLAIN));
	free(text);
}

/**
 * struct code - instructions as they come
 * @v: view
 * @places: of the profile, by address
 * @nr: how many
 * @at: the next of them
 * @line: instruction that ends at the address of the next one; or NULL
 * @source: lines of the source before the next instruction, each with its mark
 * @nr_source: how many there were in all
 * @count: instructions so far
 * @block: objdump's output for one symbol; shown when the profile has samples in it
 * @text: of @block
 * @size: of @text
 * @has: the profile has
 * @json: for programs, or NULL
 * @in_block: likewise, as far as @block goes
 */
struct code {
	const struct view *v;
	const struct place *places;
	size_t nr;
	size_t at;
	char *line;
	char *source;
	size_t nr_source;
	size_t count;
	FILE *block;
	char *text;
	size_t size;
	bool has;
	struct json *json;
	struct json in_block;
};

/* Callers are known by the byte before where they go on: within the call. */
static void end_instruction(struct code *c, uint64_t next)
{
	struct place sum = { 0 };

	for (; c->at < c->nr && c->places[c->at].at < next; c->at++) {
		c->has = true;
		sum.flat = view_sum(sum.flat, c->places[c->at].flat);
		sum.cum = view_sum(sum.cum, c->places[c->at].cum);
	}
	if (c->line && c->block && c->json)
		put_instruction(&c->in_block, &sum, c->line);
	else if (c->line && c->block)
		print_line(c->block, c->v, &sum, c->line);
	free(c->line);
	c->line = NULL;
}

static void end_block(struct code *c)
{
	if (c->block) {
		if (c->json) {
			json_end(&c->in_block);
			json_end(&c->in_block);
			c->in_block.f = c->json->f;
		}
		fclose(c->block);
		if (c->has)
			fputs(c->text, stdout);
		if (c->has && c->json)
			*c->json = c->in_block;
		free(c->text);
	}
	c->block = NULL;
	c->has = false;
}

static void note_source(struct code *c, const char *line)
{
	char *more = xprintf("%s%s", c->source ? c->source : "", line);

	free(c->source);
	c->source = more;
	c->nr_source++;
}

static void print_source(struct code *c)
{
	for (char *line = c->source; line && *line && c->block; line += strcspn(line, "\n") + 1)
		print_line(c->block, c->v, NULL, line);
	free(c->source);
	c->source = NULL;
}

/* "ADDRESS <SYMBOL>:" */
static void begin_block(struct code *c, const char *line)
{
	const char *symbol = strchr(line, '<');
	size_t length = symbol ? strcspn(symbol, "\n") : 0;

	c->in_block = *c->json;
	c->in_block.f = c->block;
	json_object(&c->in_block, NULL);
	json_bytes(&c->in_block, "symbol", symbol ? symbol + 1 : "", length > 3 ? length - 3 : 0);
	json_array(&c->in_block, "instructions");
}

/* Lines of instructions begin with a space, their address and a colon. */
static void parse_line(struct code *c, const char *line)
{
	char *colon = NULL;
	uint64_t at = strtoull(line, &colon, 16);

	if (*line == *SOURCE_MARK) {
		note_source(c, line);
		return;
	}
	if (!strncmp(line, "Disassembly", 11) || strstr(line, "file format") || *line == '\n')
		return;
	if (colon == line || *colon != ':' || *line != ' ') {
		end_instruction(c, at);
		end_block(c);
		c->block = open_memstream(&c->text, &c->size);
		if (c->block && c->json)
			begin_block(c, line);
		else if (c->block)
			print_line(c->block, c->v, NULL, line);
		return;
	}
	end_instruction(c, at);
	print_source(c);
	c->line = xprintf("%s", line);
	c->count++;
}

/* Where a file without lines of its source has them. */
static void advise_source(const char *file)
{
	char *package = NULL;

	debug_packages(DPKG_INFO, &file, 1, &package);
	if (package)
		diag("%s has no debug information here, so that no source is between the "
		     "instructions: install %s", file, package);
	else
		diag("%s has no debug information, or its source is not here, so that no source is "
		     "between the instructions: build it with -g", file);
	free(package);
}

static int print_code(const struct disasm_options *o, struct json *j, const struct view *v,
		      const char *file, const struct place *p, size_t nr)
{
	bool source = !j && !o->no_source;
	uint64_t from = p[0].at > AROUND ? p[0].at - AROUND : 0, to = p[nr - 1].at + AROUND;
	struct code code = { .v = v, .places = p, .nr = nr, .json = j };
	char *line = NULL;
	size_t size = 0;
	int status = 0;
	pid_t pid;
	FILE *f;

	if (to - from > SPAN_MAX)
		return fail("the instructions of the function lie %" PRIu64 " KiB apart, which is no "
			    "function of %s", (to - from) >> 10, file);
	f = start_objdump(file, from & ~(uint64_t)3, to, source, &pid);
	while (f && getline(&line, &size, f) > 0)
		parse_line(&code, line);
	end_instruction(&code, UINT64_MAX);
	end_block(&code);
	free(line);
	free(code.source);
	if (f)
		fclose(f);
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return fail("objdump cannot be started: %s", strerror(errno));
	if (WIFEXITED(status) && WEXITSTATUS(status) == STATUS_NOT_FOUND)
		return fail("there is no objdump here: install binutils");
	if (!code.count)
		return fail("objdump finds no instructions in %s, where the profile has some", file);
	if (source && !code.nr_source)
		advise_source(file);
	return STATUS_OK;
}

/* One file and function: all its places, which are changed. */
static int show(const struct disasm_options *o, struct json *j, const struct view *v,
		struct place *p, size_t nr)
{
	const char *file = o->object ? o->object : p[0].file;
	struct gprof_profile_mapping m;
	struct elf_place e;
	size_t left = 0;
	int status;

	if (!find_mapping(v, &p[0], &m) || m.file[0] != '/')
		return fail("%s is no file: its instructions cannot be read",
			    *p[0].file ? p[0].file : "what the function is in");
	status = elf_place_read(&e, file);
	if (status != STATUS_OK)
		return status;
	if (*m.build_id && *e.build_id && strcmp(m.build_id, e.build_id))
		return fail("%s is not the recorded file: its build-id is %.12s..., that of the "
			    "profile %.12s...", file, e.build_id, m.build_id);
	for (size_t i = 0; i < nr; i++)
		if (to_file(v, &e, &p[i]))
			p[left++] = p[i];
	if (!left)
		return fail("%s has nothing where the profile has instructions", file);
	if (j) {
		json_object(j, NULL);
		json_string(j, "path", file);
		json_array(j, "blocks");
	}
	status = print_code(o, j, v, file, p, join(p, left));
	if (j) {
		json_end(j);
		json_end(j);
	}
	return status;
}

static void begin_function(struct json *j, const struct view *v, const struct functions *fs,
			   const struct function *fn)
{
	char flat[VIEW_TEXT_MAX], cum[VIEW_TEXT_MAX];

	if (j) {
		view_json_open(j, v, "disasm");
		functions_json(j, fs, fn);
		view_json_value(j, v, "flat", fn->flat);
		view_json_value(j, v, "cum", fn->cum);
		json_array(j, "files");
		return;
	}
	pager_begin();
	printf("%11s %11s (flat, cum) %.2f%% of total: ", view_value(v, fn->flat, flat),
	       view_value(v, fn->cum, cum), view_percent(v, fn->cum));
	text_plain(stdout, functions_name(fs, fn));
	putchar('\n');
}

static int show_all(const struct disasm_options *o, const struct view *v, struct places *p,
		    const char *file)
{
	size_t *found, nr = function_match_all(&p->wanted, &p->functions, &found), i = 0, end;
	struct json json, *j = o->json ? &json : NULL;
	int status = STATUS_FAILED;

	if (!nr)
		return function_match_none(&p->wanted);
	places_sort(p);
	begin_function(j, v, &p->functions, &p->functions.all[found[0]]);
	if (nr > 1)
		diag("%zu functions are like %s: this is the one with the largest cum", nr,
		     p->wanted.word);
	fflush(stdout);
	while (i < p->nr && p->all[i].function != found[0])
		i++;
	for (; i < p->nr && p->all[i].function == found[0]; i = end) {
		for (end = i; end < p->nr && p->all[end].function == found[0] &&
			      p->all[end].file == p->all[i].file;)
			end++;
		status = show(o, j, v, &p->all[i], end - i);
		if (status != STATUS_OK)
			break;
	}
	free(found);
	if (j) {
		json_end(j);
		view_json_close(j, v, file);
	}
	return status == STATUS_OK ? finish_stdout() : status;
}

int cmd_disasm(int argc, char **argv)
{
	struct disasm_options o = { 0 };
	const struct option_table tables[] = {
		{ "Options", disasm_rows, &o }, { "The profile", view_options, &o.view },
		{ "Which samples", sample_filter_options, &o.view.filter },
		{ JSON_TABLE, json_options, &o.json }, { 0 }
	};
	struct places p = { 0 };
	struct view v;
	int operands, status;

	if (!options_parse(&disasm_usage, tables, argc, argv, true, &operands, &status))
		return status;
	status = function_match_operands("disasm", argv + operands, argc - operands);
	if (status == STATUS_OK)
		status = view_open_with(&v, argv[operands + 1], &o.view);
	if (status != STATUS_OK)
		return status;
	status = places_collect(&p, &v, argv[operands], true);
	if (status == STATUS_OK)
		status = show_all(&o, &v, &p, argv[operands + 1]);
	places_free(&p);
	sample_filter_free(&o.view.filter);
	view_close(&v);
	return status;
}
