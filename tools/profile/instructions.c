// SPDX-License-Identifier: GPL-2.0-only
/*
 * Instructions by objdump: see instructions.h.
 */
#include "instructions.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cmd.h"
#include "cli/diag.h"
#include "elf_place.h"

#define AROUND		64 /* bytes before the first instruction with a value, and after the last */
#define SPAN_MAX	(1 << 20)
#define SOURCE_MARK	"|"	/* no other line begins with it */

/* The mapping that an address of a file lies in. */
static bool find_mapping(const struct view *v, const struct place *p,
			 struct gprof_profile_mapping *m)
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

/**
 * struct code - instructions as they come
 * @l: listing
 * @p: places
 * @at: the next of them, by the file's addresses
 * @end: behind the last
 * @count: instructions so far
 * @block: first row of the symbol, which stays where the profile has samples in it
 * @open: row of the instruction that ends at the address of the next one, or SIZE_MAX
 * @has: the profile has samples in the block
 */
struct code {
	struct listing *l;
	const struct places *p;
	const struct place *at;
	const struct place *end;
	size_t count;
	size_t block;
	size_t open;
	bool has;
};

/* Callers are known by the byte before where they go on: within the call. */
static void end_instruction(struct code *c, uint64_t next)
{
	for (; c->at < c->end && c->at->at < next; c->at++) {
		c->has = true;
		if (c->open != SIZE_MAX)
			listing_sum(c->l, c->open, c->p->values + c->at->values);
	}
	c->open = SIZE_MAX;
}

static void end_block(struct code *c)
{
	if (!c->has)
		listing_cut(c->l, c->block);
	c->block = c->l->nr;
	c->has = false;
}

/* Lines of instructions begin with a space, their address and a colon; "ADDRESS <SYMBOL>:". */
static void parse_line(struct code *c, const char *line)
{
	size_t length = strcspn(line, "\n");
	char *colon = NULL;
	uint64_t at;

	if (*line == *SOURCE_MARK) {
		listing_add(c->l, LISTING_SOURCE, 0, line + 1, length - 1);
		return;
	}
	if (!strncmp(line, "Disassembly", 11) || strstr(line, "file format") || !length)
		return;
	at = strtoull(line, &colon, 16);
	end_instruction(c, at);
	if (colon == line || *colon != ':' || *line != ' ') {
		end_block(c);
		listing_add(c->l, LISTING_SYMBOL, at, line, length);
		return;
	}
	c->open = c->l->nr;
	c->count++;
	listing_add(c->l, LISTING_PLACE, at, line, length);
}

/* Whether objdump said all; its status is 0 for a file that it can read. */
static char *read_code(struct code *c, const char *file, uint64_t from, uint64_t to, bool source)
{
	char *line = NULL;
	size_t size = 0;
	int status = 0;
	pid_t pid;
	FILE *f = start_objdump(file, from, to, source, &pid);

	while (f && getline(&line, &size, f) > 0)
		parse_line(c, line);
	end_instruction(c, UINT64_MAX);
	end_block(c);
	free(line);
	if (f)
		fclose(f);
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return xprintf("objdump cannot be started: %s", strerror(errno));
	if (WIFEXITED(status) && WEXITSTATUS(status) == STATUS_NOT_FOUND)
		return xprintf("there is no objdump here: install binutils");
	if (!c->count)
		return xprintf("objdump finds no instructions in %s, where the profile has some", file);
	return NULL;
}

char *instructions(struct places *p, size_t first, const char *object, bool source,
		   struct listing *l)
{
	size_t end = places_next(p, first), left = first;
	struct place *places = p->all + first;
	const char *file = object ? object : places[0].file;
	struct code code = { .l = l, .p = p, .at = places, .open = SIZE_MAX };
	struct gprof_profile_mapping m;
	struct elf_place e;
	uint64_t from, to;
	char *why;

	*l = (struct listing){ .path = file, .each = 2 * p->nr_types };
	if (!find_mapping(p->view, &places[0], &m) || m.file[0] != '/')
		return xprintf("%s is no file: its instructions cannot be read",
			       *places[0].file ? places[0].file : "what the function is in");
	why = elf_place_read(&e, file);
	if (why)
		return why;
	if (*m.build_id && *e.build_id && strcmp(m.build_id, e.build_id))
		return xprintf("%s is not the recorded file: its build-id is %.12s..., that of the "
			       "profile %.12s...", file, e.build_id, m.build_id);
	for (size_t i = first; i < end; i++)
		if (to_file(p->view, &e, &p->all[i]))
			p->all[left++] = p->all[i];
	if (left == first)
		return xprintf("%s has nothing where the profile has instructions", file);
	/* Of several processes one instruction may have been at several addresses. */
	qsort(places, left - first, sizeof(*places), by_address);
	code.end = p->all + left;
	from = places[0].at > AROUND ? places[0].at - AROUND : 0;
	to = code.end[-1].at + AROUND;
	if (to - from > SPAN_MAX)
		return xprintf("the instructions of the function lie %" PRIu64 " KiB apart, which is "
			       "no function of %s", (to - from) >> 10, file);
	return read_code(&code, file, from & ~(uint64_t)3, to, source);
}

const char *instruction_text(const struct listing_row *row)
{
	const char *colon = strchr(row->text, ':');

	return colon ? colon + 1 + strspn(colon + 1, " \t") : row->text;
}
