// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table of kinds of file, with the subcommands that open each. A file is recognised by its
 * begin; profiles have no such mark, and are read for it.
 */
#include "file_kind.h"

#include <elf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gprof/profile.h>
#include <gprof/trace.h>

#include "cmd.h"
#include "diag.h"

#define HEAD		1024
#define RAW_MARK	"gprofraw"
/* A larger file is not read whole only for a message. */
#define PROFILE_MAX	(256L << 20)

/* As "FILE is WHAT; OPENED". */
static const struct {
	const char *what;
	const char *opened;
} kinds[FILE_KINDS] = {
	[FILE_EMPTY] = { "empty", "a recording writes its file when it ends" },
	[FILE_DIRECTORY] = { "a directory",
		"gprofctl compare, view --store and history --store open one that gprofctl push fills" },
	[FILE_PROFILE] = { "a profile",
		"gprofctl view, top, flame, peek, list, disasm, diff, collapsed and csv open it" },
	[FILE_TRACE] = { "a trace of a host",
		"gprofctl timeline, wall, latency, read and mmu open it" },
	[FILE_GO_TRACE] = { "a trace that a program wrote of itself",
		"gprofctl timeline, wall, latency, why, read and mmu open it" },
	[FILE_PERFETTO] = { "a trace for Perfetto", "ui.perfetto.dev opens it" },
	[FILE_PERF_DATA] = { "a recording of perf", "perf report and perf script open it" },
	[FILE_CORE] = { "a core dump",
		"gprofctl read --core opens it, where the program had recorders" },
	[FILE_RAW] = { "a raw flight snapshot", "gprofctl read FILE -o OUTPUT makes a trace of it" },
	[FILE_PROGRAM] = { "a program or a library",
		"gprofctl cpu -- PROGRAM records what it does" },
	[FILE_PACKED] = { "compressed, and no profile", "unpack it with gzip -d, and look again" },
	[FILE_PAGE] = { "a page or a picture", "a browser opens it" },
	[FILE_TEXT] = { "text", "gprofctl opens profiles and traces alone" },
};

/* Bytes that a file begins with. */
static const struct {
	const char *bytes;
	size_t nr;
	enum file_kind kind;
} marks[] = {
	{ "PERFILE2", 8, FILE_PERF_DATA }, { "2ELIFREP", 8, FILE_PERF_DATA },
	{ RAW_MARK, sizeof(RAW_MARK) - 1, FILE_RAW },
	{ "\177ELF", 4, FILE_PROGRAM }, { "\x1f\x8b", 2, FILE_PACKED },
	{ "<!DOCTYPE html", 14, FILE_PAGE }, { "<?xml", 5, FILE_PAGE }, { "<svg", 4, FILE_PAGE },
	{ "go 1.", 5, FILE_TRACE },
};

static bool is_text(const unsigned char *head, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (!head[i] || head[i] == 127 ||
		    (head[i] < ' ' && !strchr("\t\n\r\f\033", head[i])))
			return false;
	return true;
}

static bool is_profile(int fd)
{
	struct gprof_profile *p = NULL;

	if (lseek(fd, 0, SEEK_END) <= PROFILE_MAX && !lseek(fd, 0, SEEK_SET))
		p = gprof_profile_read(fd);
	gprof_profile_free(p);
	return p;
}

/* The trace of a host says which version of gprof has written it. */
static enum file_kind which_trace(int fd)
{
	struct gprof_trace_stats st = { .sz = sizeof(st) };
	struct gprof_trace_event ev;
	struct gprof_trace *t = lseek(fd, 0, SEEK_SET) ? NULL : gprof_trace_new(fd, NULL);
	enum file_kind kind = FILE_OTHER;

	if (t && gprof_trace_next(t, &ev) > 0) {
		gprof_trace_stats(t, &st);
		kind = st.gprof_version ? FILE_TRACE : FILE_GO_TRACE;
	}
	gprof_trace_free(t);
	return kind;
}

/* A message of protobuf: packets of Perfetto and profiles begin with the same field. */
static enum file_kind which_message(int fd, const unsigned char *head, size_t nr)
{
	size_t at = nr > 1 && head[1] & 0x80 ? 3 : 2;

	if (is_profile(fd))
		return FILE_PROFILE;
	/* No field of a profile's first message has such a number; those of packets have. */
	return nr > at && head[0] == 0x0a && head[at] >> 3 > 2 ? FILE_PERFETTO : FILE_OTHER;
}

static enum file_kind kind_of(int fd)
{
	unsigned char head[HEAD];
	struct stat st;
	ssize_t nr;

	if (fstat(fd, &st))
		return FILE_OTHER;
	if (S_ISDIR(st.st_mode))
		return FILE_DIRECTORY;
	if (!S_ISREG(st.st_mode))
		return FILE_OTHER;
	if (!st.st_size)
		return FILE_EMPTY;
	nr = pread(fd, head, sizeof(head), 0);
	if (nr <= 0)
		return FILE_OTHER;
	for (size_t i = 0; i < ARRAY_SIZE(marks); i++) {
		if ((size_t)nr < marks[i].nr || memcmp(head, marks[i].bytes, marks[i].nr))
			continue;
		if (marks[i].kind == FILE_TRACE)
			return which_trace(fd);
		if (marks[i].kind == FILE_PACKED && is_profile(fd))
			return FILE_PROFILE;
		if (marks[i].kind == FILE_PROGRAM && nr > EI_NIDENT + 1 &&
		    (head[EI_NIDENT] == ET_CORE || head[EI_NIDENT + 1] == ET_CORE))
			return FILE_CORE;
		return marks[i].kind;
	}
	return is_text(head, (size_t)nr) ? FILE_TEXT : which_message(fd, head, (size_t)nr);
}

bool file_is_raw(int fd)
{
	char head[sizeof(RAW_MARK) - 1];

	return pread(fd, head, sizeof(head), 0) == sizeof(head) &&
	       !memcmp(head, RAW_MARK, sizeof(head));
}

int file_kind_fail(const char *file, enum file_kind kind)
{
	return fail("%s is %s; %s", file, kinds[kind].what, kinds[kind].opened);
}

int file_not_opened(const char *file, int fd, enum file_kind wanted)
{
	char *why = xprintf("%s", gprof_error());
	enum file_kind kind = kind_of(fd);
	int status;

	/* A gzipped file may be a damaged profile, for which the error says more. */
	if (kind == FILE_OTHER || kind == wanted ||
	    (kind == FILE_GO_TRACE && wanted == FILE_TRACE) ||
	    (kind == FILE_PACKED && wanted == FILE_PROFILE))
		status = fail("%s: %s", file, why);
	else
		status = file_kind_fail(file, kind);
	free(why);
	return status;
}
