// SPDX-License-Identifier: GPL-2.0-only
/*
 * Unwind tables against the truth: programs run step by step from their first
 * instruction, calls and returns are counted on a stack of our own, and what the tables
 * find must be that. No other reader of the same unwind information is asked.
 */
#include <kselftest_harness.h>

#include <signal.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>

#include "lib_util.h"
#include "unwind/layout.h"
#include "unwind/unwind_table.h"

#ifdef __x86_64__

#define DEPTH_MAX	4096
#define MAPS_MAX	64
#define RBX		3

struct map {
	uint64_t start, end, offset;
	char path[256];
	struct gprof_unwind_blob blob;	/* empty: it has none */
	unsigned char *text;
};

/* What was called: the return address, and where it lies; or where a signal came. */
struct called {
	uint64_t ret, slot;
	bool signal;
	uint64_t sp;	/* at which it came */
};

enum { COMPLETE, CUT, WRONG, NO_CFI, RESULTS };

struct stepped {
	pid_t pid;
	int mem;
	struct map maps[MAPS_MAX];
	int nr_maps;
	struct called called[DEPTH_MAX];
	int depth;
	int deepest;
	size_t steps, checks, signals;
	size_t result[RESULTS];
	int shown;
};

struct walk {
	uint64_t pc[DEPTH_MAX];
	int nr;
	int end;		/* kind of the last rule; GPROF_UNWIND_CFA_NR: none */
};

static bool peek(const struct stepped *s, uint64_t addr, void *to, size_t len)
{
	return pread(s->mem, to, len, (off_t)addr) == (ssize_t)len;
}

static void forget_maps(struct stepped *s)
{
	int i;

	for (i = 0; i < s->nr_maps; i++) {
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
	int i;

	for (i = 0; i < s->nr_maps; i++)
		if (pc - s->maps[i].start < s->maps[i].end - s->maps[i].start)
			return &s->maps[i];
	if (!again)
		return NULL;
	read_maps(s);
	return map_of(s, pc, false);
}

/* DWARF's numbers */
static uint64_t reg_of(const struct user_regs_struct *r, unsigned int nr)
{
	const unsigned long long regs[16] = {
		r->rax, r->rdx, r->rcx, r->rbx, r->rsi, r->rdi, r->rbp, r->rsp,
		r->r8, r->r9, r->r10, r->r11, r->r12, r->r13, r->r14, r->r15,
	};

	return regs[nr & 15];
}

/* From the frame of a signal at @sp. */
static bool signal_regs(const struct stepped *s, uint64_t sp, struct user_regs_struct *r)
{
	uint64_t g[17];	/* r8..r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip */

	if (!peek(s, sp + 40, g, sizeof(g)))
		return false;
	r->r8 = g[0];
	r->r9 = g[1];
	r->r10 = g[2];
	r->r11 = g[3];
	r->r12 = g[4];
	r->r13 = g[5];
	r->r14 = g[6];
	r->r15 = g[7];
	r->rdi = g[8];
	r->rsi = g[9];
	r->rbp = g[10];
	r->rbx = g[11];
	r->rdx = g[12];
	r->rax = g[13];
	r->rcx = g[14];
	r->rsp = g[15];
	r->rip = g[16];
	return true;
}

/* One frame up; false: this was the last. */
static bool up(struct stepped *s, struct user_regs_struct *r, bool *exact, struct walk *w)
{
	uint64_t pc = r->rip - !*exact, cfa, ra, fp = r->rbp, sp = r->rsp;
	struct map *m = map_of(s, pc, *exact);
	const struct gprof_unwind_rule *rule = NULL;
	unsigned int reg;

	w->end = GPROF_UNWIND_CFA_NR;
	if (m && m->blob.data)
		rule = gprof_layout_find(m->blob.data, pc - m->start + m->offset);
	if (!rule)
		return false;
	w->end = rule->kind;
	reg = GPROF_UNWIND_REG(rule->how);
	switch (rule->kind) {
	case GPROF_UNWIND_CFA_SP:
		cfa = sp + (int64_t)rule->cfa * 8;
		break;
	case GPROF_UNWIND_CFA_FP:
		cfa = fp + (int64_t)rule->cfa * 8;
		break;
	case GPROF_UNWIND_CFA_REG:
		if (!*exact && reg != RBX)
			return false;
		cfa = reg_of(r, reg) + (int64_t)rule->cfa * 8;
		break;
	case GPROF_UNWIND_CFA_DEREF:
		if (!peek(s, (reg ? fp : sp) + (int64_t)rule->ra * 8, &cfa, 8))
			return false;
		cfa += (int64_t)rule->cfa * 8;
		break;
	case GPROF_UNWIND_CFA_PLT:
		cfa = sp + 8 + ((pc & 15) >= (uint64_t)rule->cfa ? 8 : 0);
		break;
	case GPROF_UNWIND_CFA_SIGNAL:
		*exact = true;
		return signal_regs(s, sp, r);
	default:
		return false;
	}
	if (cfa <= sp && GPROF_UNWIND_RA(rule->how) == GPROF_UNWIND_RA_AT_CFA)
		return false;
	if (GPROF_UNWIND_RA(rule->how) == GPROF_UNWIND_RA_REG) {
		if (!*exact)
			return false;
		ra = reg_of(r, reg);
	} else if (!peek(s, cfa - 8, &ra, 8)) {
		return false;
	}
	if ((GPROF_UNWIND_FP(rule->how) == GPROF_UNWIND_FP_AT_CFA &&
	     !peek(s, cfa + (int64_t)rule->fp * 8, &r->rbp, 8)) ||
	    (GPROF_UNWIND_FP(rule->how) == GPROF_UNWIND_FP_AT_FP &&
	     !peek(s, fp + (int64_t)rule->fp * 8, &r->rbp, 8)))
		return false;
	if (rule->kind <= GPROF_UNWIND_CFA_FP && rule->ra &&
	    !peek(s, cfa + (int64_t)rule->ra * 8, &r->rbx, 8))
		return false;
	r->rip = ra;
	r->rsp = cfa;
	*exact = false;
	return ra;
}

static void walk(struct stepped *s, const struct user_regs_struct *regs, struct walk *w)
{
	struct user_regs_struct r = *regs;
	bool exact = true;

	w->nr = 0;
	do
		w->pc[w->nr++] = r.rip;
	while (w->nr < DEPTH_MAX && up(s, &r, &exact, w));
}

static void show(struct stepped *s, const struct walk *w, int same, const char *what)
{
	struct map *m = map_of(s, w->pc[same], false);

	if (s->shown++ >= 8)
		return;
	printf("# %s after %d of %d frames, rule %d, at %llx of %s\n", what, same, s->depth, w->end,
	       m ? (unsigned long long)(w->pc[same] - m->start + m->offset) : 0,
	       m ? m->path : "nothing");
	fflush(stdout);
}

static void check(struct stepped *s, const struct user_regs_struct *regs)
{
	static struct walk w;
	int same = 0;

	walk(s, regs, &w);
	while (same < s->depth && same + 1 < w.nr &&
	       s->called[s->depth - 1 - same].ret == w.pc[same + 1])
		same++;
	s->checks++;
	if (same == s->depth && same + 1 == w.nr && w.end == GPROF_UNWIND_CFA_END) {
		s->result[COMPLETE]++;
	} else if (same + 1 < w.nr || (w.end == GPROF_UNWIND_CFA_END && same < s->depth)) {
		s->result[WRONG]++;
		show(s, &w, same, "wrong");
	} else if (w.end == GPROF_UNWIND_CFA_NONE || w.end == GPROF_UNWIND_CFA_NR) {
		s->result[NO_CFI]++;
	} else {
		s->result[CUT]++;
		show(s, &w, same, "cut");
	}
}

/* A call, near, direct or not. */
static bool is_call(const unsigned char *p, size_t len)
{
	size_t i = 0;

	while (i + 2 < len && (p[i] == 0xf2 || p[i] == 0x3e || p[i] == 0x66 || p[i] == 0x67 ||
			       (p[i] & 0xf0) == 0x40))
		i++;
	return i + 2 < len && (p[i] == 0xe8 || (p[i] == 0xff && (p[i + 1] & 0x38) == 0x10));
}

static void step_taken(struct stepped *s, const struct user_regs_struct *before,
		       const struct user_regs_struct *after, int sig)
{
	struct map *m = map_of(s, before->rip, true);
	struct called *c;
	uint64_t at;

	while (s->depth) {
		c = &s->called[s->depth - 1];
		if (c->signal ? c->ret == after->rip && c->sp == after->rsp
			      : c->slot < after->rsp && !sig)
			s->depth--;
		else
			break;
	}
	if (s->depth + 2 > DEPTH_MAX)
		return;
	c = &s->called[s->depth];
	if (sig) {
		/* the handler has been called, by nobody, and will return to the trampoline */
		c[0] = (struct called){ .ret = before->rip, .signal = true, .sp = before->rsp };
		c[1] = (struct called){ .slot = after->rsp };
		peek(s, after->rsp, &c[1].ret, 8);
		s->depth += 2;
		s->signals++;
		return;
	}
	at = m ? before->rip - m->start : 0;
	if (m && after->rsp == before->rsp - 8 && is_call(m->text + at, m->end - m->start - at)) {
		*c = (struct called){ .slot = after->rsp };
		peek(s, after->rsp, &c->ret, 8);
		s->depth++;
	}
	if (s->depth > s->deepest)
		s->deepest = s->depth;
}

/* Run a program for @max steps; look at each of the first @all, then at one in @every. */
static bool run_steps(struct stepped *s, char *const argv[], size_t max, size_t all, size_t every)
{
	struct user_regs_struct before, after;
	char path[32];
	int status, sig = 0, null;

	memset(s, 0, sizeof(*s));
	s->pid = fork();
	if (!s->pid) {
		null = open("/dev/null", O_RDWR);
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
	ptrace(PTRACE_GETREGS, s->pid, 0, &before);
	for (s->steps = 0; s->steps < max; s->steps++) {
		if (s->steps < all || s->steps % every == 0)
			check(s, &before);
		if (ptrace(PTRACE_SINGLESTEP, s->pid, 0, sig) ||
		    waitpid(s->pid, &status, 0) != s->pid || !WIFSTOPPED(status))
			break;
		ptrace(PTRACE_GETREGS, s->pid, 0, &after);
		if (WSTOPSIG(status) != SIGTRAP) {
			/* it is to come: nothing was executed */
			sig = WSTOPSIG(status);
			continue;
		}
		step_taken(s, &before, &after, sig);
		sig = 0;
		before = after;
	}
	kill(s->pid, SIGKILL);
	waitpid(s->pid, &status, 0);
	close(s->mem);
	forget_maps(s);
	return true;
}

static void expect_true_stacks(struct __test_metadata *_metadata, struct stepped *s,
			       const char *name)
{
	printf("# %s: %zu steps, %zu checks, %d deep, %zu signals: %zu complete, %zu cut, %zu wrong, %zu without CFI\n",
	       name, s->steps, s->checks, s->deepest, s->signals, s->result[COMPLETE],
	       s->result[CUT], s->result[WRONG], s->result[NO_CFI]);
	fflush(stdout);
	EXPECT_LT(1000, s->checks);
	EXPECT_EQ(0, s->result[WRONG]);
	/* 99.7 % of what CFI covers */
	EXPECT_LE((s->result[CUT] + s->result[WRONG]) * 1000,
		  3 * (s->checks - s->result[NO_CFI]));
	EXPECT_LE(s->result[NO_CFI] * 100, s->checks);
}

static const char source[] =
	"#include <setjmp.h>\n"
	"#include <signal.h>\n"
	"#include <stdio.h>\n"
	"#include <stdlib.h>\n"
	"#include <string.h>\n"
	"#include <time.h>\n"
	"#include <unistd.h>\n"
	"static volatile int v;\n"
	"static jmp_buf jmp;\n"
	"static __attribute__((noinline)) int leaf(int a) { v += a; return v; }\n"
	"static __attribute__((noinline)) int deep(int n) { return n ? deep(n - 1) + leaf(n) : leaf(0); }\n"
	"static __attribute__((noinline)) int varies(int n)\n"
	"{ char b[n]; memset(b, n, n); return b[n / 2] + leaf(n); }\n"
	"static __attribute__((noinline)) int aligned(int n)\n"
	"{ _Alignas(64) char b[64]; memset(b, n, 64); v = b[n & 63]; return varies(n) + leaf(n); }\n"
	"static __attribute__((noinline)) int both(int n)\n"
	"{ _Alignas(64) char b[64]; char c[n]; memset(b, n, 64); memset(c, 1, n); v = b[n & 63] + c[n / 2];\n"
	"  return aligned(n) + leaf(n); }\n"
	"static __attribute__((noinline)) void jumps(int n) { if (n) jumps(n - 1); else longjmp(jmp, 1); leaf(n); }\n"
	"static int order(const void *a, const void *b) { return leaf(0) ? *(int *)a - *(int *)b : 0; }\n"
	"static void handler(int sig) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); varies(40); }\n"
	"int main(int argc, char **argv)\n"
	"{\n"
	"	int a[20], i; char text[64]; struct timespec t;\n"
	"	stack_t other = { .ss_sp = malloc(65536), .ss_size = 65536 };\n"
	"	struct sigaction act = { .sa_handler = handler };\n"
	"	for (i = 0; i < 20; i++) a[i] = i * 7 % 20;\n"
	"	qsort(a, 20, sizeof(*a), order);\n"
	"	deep(30); varies(100); aligned(100); both(50);\n"
	"	if (!setjmp(jmp)) jumps(5);\n"
	"	clock_gettime(CLOCK_MONOTONIC, &t);\n"
	"	sigaction(SIGUSR1, &act, NULL); raise(SIGUSR1);\n"
	"	sigaltstack(&other, NULL); act.sa_flags = SA_ONSTACK; sigaction(SIGUSR2, &act, NULL); raise(SIGUSR2);\n"
	"	snprintf(text, sizeof(text), \"%d %g\", v, v / 3.0); puts(text);\n"
	"	free(other.ss_sp);\n"
	"	return 0;\n"
	"}\n";

static struct stepped stepped;

static void step_own(struct __test_metadata *_metadata, const char *compiler, const char *flags)
{
	const char *dir = lib_tmpdir();
	char path[128];
	char *argv[] = { path, NULL };

	ASSERT_NE(NULL, dir);
	snprintf(path, sizeof(path), "%s/out", dir);
	ASSERT_TRUE(lib_write(dir, "program.c", source));
	ASSERT_EQ(0, lib_sh("cd %s && %s -w %s -o out program.c", dir, compiler, flags));
	ASSERT_TRUE(run_steps(&stepped, argv, 400000, 0, 11));
	expect_true_stacks(_metadata, &stepped, flags);
	EXPECT_LT(30, stepped.deepest);
	EXPECT_EQ(2, stepped.signals);
	lib_sh("rm -rf %s", dir);
}

TEST(stacks_of_a_program_are_true_from_its_first_instruction)
{
	if (!lib_have("gcc"))
		SKIP(return, "no compiler");
	step_own(_metadata, "gcc", "-O2 -fomit-frame-pointer");
}

TEST(stacks_of_a_static_program_are_true)
{
	if (!lib_have("gcc"))
		SKIP(return, "no compiler");
	step_own(_metadata, "gcc", "-O2 -fomit-frame-pointer -static");
}

TEST(stacks_of_a_program_stripped_of_its_sections_are_true)
{
	if (!lib_have("gcc"))
		SKIP(return, "no compiler");
	step_own(_metadata, "gcc", "-O1 -fomit-frame-pointer -static-pie -s");
}

/* Its linker tells nothing of linkage tables. */
TEST(stacks_of_a_program_of_llvm_are_true)
{
	if (!lib_have("clang") || !lib_have("ld.lld"))
		SKIP(return, "no clang, or no lld");
	step_own(_metadata, "clang", "-O2 -fomit-frame-pointer -fuse-ld=lld");
}

TEST(stacks_of_a_program_of_the_system_are_true)
{
	char *argv[] = { "/usr/bin/sort", "/etc/passwd", NULL };

	ASSERT_TRUE(run_steps(&stepped, argv, 100000, 10000, 23));
	expect_true_stacks(_metadata, &stepped, argv[0]);
}

#endif

TEST_HARNESS_MAIN
