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

/* In the directory. */
#define DO(cmd, ...)	ASSERT_EQ(0, lib_sh("cd %s && " cmd, self->dir, ##__VA_ARGS__))

/* The address that a command says in hexadecimal, or 0. */
static inline uint64_t __attribute__((format(printf, 1, 2))) symbol_said(const char *fmt, ...)
{
	char cmd[256], line[64] = "";
	va_list ap;
	FILE *f;

	va_start(ap, fmt);
	vsnprintf(cmd, sizeof(cmd), fmt, ap);
	va_end(ap);
	f = popen(cmd, "r");
	if (!f || !fgets(line, sizeof(line), f))
		line[0] = '\0';
	if (f)
		pclose(f);
	return strtoull(line, NULL, 16);
}

/* The line of nm for a symbol of DIR/FILE. */
static inline uint64_t symbol_address(const char *dir, const char *file, const char *symbol)
{
	return symbol_said("nm %s/%s | awk '$3 == \"%s\" { print $1 }'", dir, file, symbol);
}

#define ADDRESS(symbol)	symbol_address(self->dir, "out", symbol)

/* A file that may be written to; NULL: it cannot. */
static inline void *symbol_map(const char *path, size_t *size)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	void *p = MAP_FAILED;
	struct stat st;

	if (fd >= 0 && !fstat(fd, &st)) {
		*size = (size_t)st.st_size;
		p = mmap(NULL, *size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	}
	close(fd);
	return p == MAP_FAILED ? NULL : p;
}

#endif
