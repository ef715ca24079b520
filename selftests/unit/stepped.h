/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * stepped.h: a program that runs step by step, and what it has called and not returned
 * from, which is known by its instructions and its stack pointer alone.
 */
#ifndef GPROF_STEPPED_H
#define GPROF_STEPPED_H

#include <sched.h>
#include <signal.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "lib_util.h"
#include "walk_arch.h"
#include "unwind/unwind_table.h"

#define DEPTH_MAX	4096
#define MAPS_MAX	64

struct map {
	uint64_t start, end, offset;
	char path[256];
	struct gprof_unwind_blob blob;	/* empty: it has none */
	unsigned char *text;
};

/**
 * struct called - a call that has not returned, or where a signal came
 * @ret: where it returns to
 * @sp: the stack pointer then
 * @signal: it is the latter
 * @claimed: the tables have said so, and nobody has seen the call
 */
struct called {
	uint64_t ret, sp;
	bool signal, claimed;
};

struct stepped {
	pid_t pid;
	int mem;
	struct map maps[MAPS_MAX];
	int nr_maps;
	struct called called[DEPTH_MAX];
	int depth;
	int deepest;
	bool leapt;	/* the stack pointer has, out of frames that have not returned */
	bool ended;
	struct frame_regs now;
	int sig;
	size_t signals;
	size_t confirmed, contradicted;	/* of those that were claimed */
};

static bool peek(const struct stepped *s, uint64_t addr, void *to, size_t len)
{
	return pread(s->mem, to, len, (off_t)addr) == (ssize_t)len;
}

static void forget_maps(struct stepped *s)
{
	for (int i = 0; i < s->nr_maps; i++) {
		gprof_unwind_blob_free(&s->maps[i].blob);
		free(s->maps[i].text);
	}
	s->nr_maps = 0;
}

static void load_map(struct stepped *s, struct map *m)
{
	size_t len = m->end - m->start;
	int fd;

	m->text = malloc(len);
	if (!m->text || !peek(s, m->start, m->text, len))
		memset(m->text, 0, len);
	if (!strcmp(m->path, "[vdso]")) {
		gprof_unwind_compile_vdso(&m->blob);
		return;
	}
	fd = open(m->path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	gprof_unwind_compile(fd, 0, &m->blob);
	close(fd);
}

static void read_maps(struct stepped *s)
{
	unsigned long long start, end, offset;
	char path[64], line[512], flags[8];
	struct map *m;
	FILE *f;
	int at;

	forget_maps(s);
	snprintf(path, sizeof(path), "/proc/%d/maps", s->pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f) && s->nr_maps < MAPS_MAX) {
		if (sscanf(line, "%llx-%llx %7s %llx %*s %*s %n", &start, &end, flags, &offset,
			   &at) != 4 || flags[2] != 'x' || !strcmp(line + at, "[vsyscall]\n"))
			continue;
		m = &s->maps[s->nr_maps++];
		*m = (struct map){ .start = start, .end = end, .offset = offset };
		sscanf(line + at, "%255s", m->path);
		load_map(s, m);
	}
	if (f)
		fclose(f);
}

static struct map *map_of(struct stepped *s, uint64_t pc, bool again)
{
	for (int i = 0; i < s->nr_maps; i++)
		if (pc - s->maps[i].start < s->maps[i].end - s->maps[i].start)
			return &s->maps[i];
	if (!again)
		return NULL;
	read_maps(s);
	return map_of(s, pc, false);
}

/* What it has returned from, or jumped out of. */
static void take_returned(struct stepped *s, const struct frame_regs *after, bool jumped, int sig)
{
	while (s->depth) {
		struct called *c = &s->called[s->depth - 1];
		bool there = c->ret == after->pc && c->sp == after->sp;

		if (c->signal) {
			if (!there)
				break;
		} else if (sig) {
			break;
		} else if (!ARCH_RETURNS_IN_REGISTER) {
			if (c->sp > after->sp)
				break;
		} else if (c->sp < after->sp) {
			s->leapt = true;
		} else if (!there && (!jumped || !s->leapt || c->sp > after->sp)) {
			break;
		}
		if (c->claimed && there)
			s->confirmed++;
		else if (c->claimed)
			s->contradicted++;
		s->depth--;
		if (there && ARCH_RETURNS_IN_REGISTER)
			break;
	}
	if (jumped)
		s->leapt = false;
}

static void step_taken(struct stepped *s, const struct frame_regs *after)
{
	const struct frame_regs *before = &s->now;
	struct map *m = map_of(s, before->pc, true);
	uint64_t at = m ? before->pc - m->start : 0;
	struct called *c;

	take_returned(s, after, m && arch_jumps(m->text + at), s->sig);
	if (s->depth + 2 > DEPTH_MAX)
		return;
	c = &s->called[s->depth];
	if (s->sig) {
		/* the handler has been called, by nobody, and will return to the trampoline */
		c[0] = (struct called){ .ret = before->pc, .signal = true, .sp = before->sp };
		c[1] = (struct called){ .sp = after->sp };
#ifdef ARCH_LR
		c[1].ret = after->reg[ARCH_LR];
#else
		peek(s, after->sp, &c[1].ret, 8);
		c[1].sp += 8;
#endif
		s->depth += 2;
		s->signals++;
		return;
	}
	if (m && arch_was_called(before, after) &&
	    arch_is_call(m->text + at, m->end - m->start - at)) {
		*c = (struct called){ .sp = before->sp };
#ifdef ARCH_LR
		c->ret = before->pc + 4;
#else
		peek(s, after->sp, &c->ret, 8);
#endif
		s->depth++;
	}
	if (s->depth > s->deepest)
		s->deepest = s->depth;
}

/* Goes on up to an instruction @size bytes further. */
static bool run_over(struct stepped *s, size_t size)
{
	uint64_t at = s->now.pc + size, word_at = at & ~7ULL, word, broken;
	int status;

	if (!peek(s, word_at, &word, 8))
		return false;
	broken = word;
	memcpy((unsigned char *)&broken + (at & 7), "\x00\x00\x20\xd4", 4);	/* brk */
	ptrace(PTRACE_POKEDATA, s->pid, word_at, broken);
	if (ptrace(PTRACE_CONT, s->pid, 0, 0) || waitpid(s->pid, &status, 0) != s->pid ||
	    !WIFSTOPPED(status))
		return false;
	ptrace(PTRACE_POKEDATA, s->pid, word_at, word);
	return arch_get_regs(s->pid, &s->now) && s->now.pc == at;
}

static bool begin(struct stepped *s, char *const argv[])
{
	char path[32];
	cpu_set_t one;
	int status;

	memset(s, 0, sizeof(*s));
	/* Both take turns all the time: to wake another CPU is dear where it is emulated. */
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	sched_setaffinity(0, sizeof(one), &one);
	s->pid = fork();
	if (!s->pid) {
		int null = open("/dev/null", O_RDWR);

		dup2(null, 0);
		dup2(null, 1);
		personality(ADDR_NO_RANDOMIZE);	/* the same steps each time */
		setenv("LC_ALL", "C", 1);
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		execv(argv[0], argv);
		_exit(127);
	}
	if (waitpid(s->pid, &status, 0) != s->pid || !WIFSTOPPED(status))
		return false;
	ptrace(PTRACE_SETOPTIONS, s->pid, 0, PTRACE_O_EXITKILL);
	snprintf(path, sizeof(path), "/proc/%d/mem", s->pid);
	s->mem = open(path, O_RDONLY | O_CLOEXEC);
	return arch_get_regs(s->pid, &s->now);
}

/* One instruction further, or what must be one; false: it has ended. */
static bool step_once(struct stepped *s)
{
	struct map *m = map_of(s, s->now.pc, true);
	struct frame_regs after;
	size_t size = m ? arch_whole(m->text + (s->now.pc - m->start), m->end - s->now.pc) : 0;
	int status;

	if (size && !s->sig)
		return run_over(s, size);
	if (ptrace(PTRACE_SINGLESTEP, s->pid, 0, s->sig) ||
	    waitpid(s->pid, &status, 0) != s->pid || !WIFSTOPPED(status) ||
	    !arch_get_regs(s->pid, &after))
		return false;
	if (WSTOPSIG(status) != SIGTRAP) {
		/* it is to come: nothing was executed */
		s->sig = WSTOPSIG(status);
		return true;
	}
	step_taken(s, &after);
	s->sig = 0;
	s->now = after;
	return true;
}

/* Let it run by itself for a while; false: it has ended. What it has called is not known. */
static bool run_free(struct stepped *s, unsigned int ms)
{
	int status;

	ptrace(PTRACE_CONT, s->pid, 0, 0);
	usleep(ms * 1000);
	kill(s->pid, SIGSTOP);
	if (waitpid(s->pid, &status, 0) != s->pid || !WIFSTOPPED(status) ||
	    WSTOPSIG(status) != SIGSTOP || !arch_get_regs(s->pid, &s->now))
		return false;
	forget_maps(s);
	s->leapt = false;
	s->depth = 0;
	return true;
}

static void end(struct stepped *s)
{
	int status;

	kill(s->pid, SIGKILL);
	waitpid(s->pid, &status, 0);
	close(s->mem);
	forget_maps(s);
}

#endif /* GPROF_STEPPED_H */
