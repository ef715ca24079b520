/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * symbol_build.h: a program that is compiled in a directory of its own, and what the
 * symbolizer says of it.
 */
#ifndef GPROF_SYMBOL_BUILD_H
#define GPROF_SYMBOL_BUILD_H

#include "harness.h"
#include "lib_util.h"
#include "symbol/symbolizer.h"

FIXTURE(symbol) {
	const char *dir;
	char out[128];	/* the program */
	int fd;
	struct gprof_symbolizer *s;
	struct gprof_symbol_frame frames[GPROF_FRAMES_MAX];
	bool inlines;
};

static inline void symbol_close(FIXTURE_DATA(symbol) *self)
{
	gprof_symbolizer_close(self->s);
	self->s = NULL;
	if (self->fd >= 0)
		close(self->fd);
	self->fd = -1;
}

static inline bool symbol_open(FIXTURE_DATA(symbol) *self)
{
	symbol_close(self);
	self->fd = open(self->out, O_RDONLY | O_CLOEXEC);
	self->s = gprof_symbolizer_open(self->fd, self->out, 0);
	return self->s;
}

FIXTURE_SETUP(symbol)
{
	self->dir = lib_tmpdir();
	self->fd = -1;
	ASSERT_NE(NULL, self->dir);
	snprintf(self->out, sizeof(self->out), "%s/out", self->dir);
}

FIXTURE_TEARDOWN(symbol)
{
	symbol_close(self);
	lib_sh("rm -rf %s", self->dir);
}

#define NEED(program)							\
	do {							\
		if (!lib_have(program))				\
			SKIP(return, "%s is not installed", program);	\
	} while (0)

#define OPEN()	ASSERT_TRUE(symbol_open(self))

#define FRAMES(addr) \
	gprof_symbolizer_frames(self->s, addr, self->frames, &self->inlines)

/* Nothing names the code at an address; where its function begins may be known. */
#define NAMELESS(addr)	(!FRAMES(addr) || self->frames[0].name[0] == '+')

/* What nm says of a symbol of DIR/FILE. */
static inline uint64_t symbol_address(const char *dir, const char *file, const char *symbol)
{
	char cmd[256], line[64] = "";
	FILE *f;

	snprintf(cmd, sizeof(cmd), "nm %s/%s | awk '$3 == \"%s\" { print $1 }'", dir, file, symbol);
	f = popen(cmd, "r");
	if (!f || !fgets(line, sizeof(line), f))
		line[0] = '\0';
	if (f)
		pclose(f);
	return strtoull(line, NULL, 16);
}

/* What the process has taken at most so far, in KiB. */
static inline long symbol_peak_kib(void)
{
	struct rusage u;

	return getrusage(RUSAGE_SELF, &u) ? -1 : u.ru_maxrss;
}

#endif
