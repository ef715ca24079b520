// SPDX-License-Identifier: GPL-2.0-only
/*
 * Unwind tables against the truth: programs run step by step, calls and returns are
 * counted on a stack of our own, and what the tables find must be that. No other reader of
 * the same unwind information is asked.
 *
 * From a program's first instruction on all of its stack is known so. Where one is looked
 * at later on, the frames that it has then are what the tables say, and are believed no
 * longer than until they return: to where was said, or it was wrong.
 */
#include "harness.h"

#include "stepped.h"
#include "table_check.h"

#define LOST		1	/* a frame pointer that nobody has */

enum { COMPLETE, CUT, WRONG, NO_CFI, RESULTS };

struct seen {
	size_t steps, checks;
	size_t result[RESULTS];
	size_t in_vdso;	/* of NO_CFI */
	int shown;
};

struct walk {
	uint64_t pc[DEPTH_MAX], sp[DEPTH_MAX];
	int nr;
	int end;		/* kind of the last rule; GPROF_UNWIND_CFA_NR: none */
};

static bool find_cfa(struct stepped *s, const struct gprof_unwind_rule *rule,
		     const struct frame_regs *r, uint64_t pc, bool exact, uint64_t *cfa)
{
	unsigned int reg = GPROF_UNWIND_REG(rule->how);

	switch (rule->kind) {
	case GPROF_UNWIND_CFA_SP:
		*cfa = r->sp + (int64_t)rule->cfa * 8;
		return true;
	case GPROF_UNWIND_CFA_FP:
		*cfa = r->reg[ARCH_FP] + (int64_t)rule->cfa * 8;
		return true;
	case GPROF_UNWIND_CFA_REG:
		*cfa = r->reg[reg] + (int64_t)rule->cfa * 8;
		return exact || (int)reg == ARCH_KEPT;
	case GPROF_UNWIND_CFA_DEREF:
		if (!peek(s, (reg ? r->reg[ARCH_FP] : r->sp) + (int64_t)rule->ra * 8, cfa, 8))
			return false;
		*cfa += (int64_t)rule->cfa * 8;
		return true;
	case GPROF_UNWIND_CFA_PLT:
		*cfa = r->sp + 8 + ((pc & 15) >= (uint64_t)rule->cfa ? 8 : 0);
		return true;
	default:
		return false;
	}
}

static bool find_return(struct stepped *s, const struct gprof_unwind_rule *rule,
			const struct frame_regs *r, uint64_t cfa, bool exact, uint64_t *ra)
{
	switch (GPROF_UNWIND_RA(rule->how)) {
	case GPROF_UNWIND_RA_AT_CFA:
		return peek(s, arch_return_place(rule, cfa), ra, 8);
#ifdef ARCH_LR
	case GPROF_UNWIND_RA_LR:
		*ra = r->reg[ARCH_LR];
		return exact;
#endif
	case GPROF_UNWIND_RA_REG:
		*ra = r->reg[GPROF_UNWIND_REG(rule->how)];
		return exact;
	default:
		return false;
	}
}

static bool find_frame_pointer(struct stepped *s, const struct gprof_unwind_rule *rule,
			       struct frame_regs *r, uint64_t cfa)
{
	uint64_t *fp = &r->reg[ARCH_FP];

	switch (GPROF_UNWIND_FP(rule->how)) {
	case GPROF_UNWIND_FP_AT_CFA:
		return peek(s, cfa + (int64_t)rule->fp * 8, fp, 8);
	case GPROF_UNWIND_FP_AT_FP:
		return peek(s, *fp + (int64_t)rule->fp * 8, fp, 8);
	case GPROF_UNWIND_FP_UNKNOWN:
		*fp = LOST;
	}
	return true;
}

/* One frame up; false: this was the last. */
static bool up(struct stepped *s, struct frame_regs *r, bool *exact, struct walk *w)
{
	unsigned char signal[ARCH_SIGNAL_FRAME];
	uint64_t pc = r->pc - !*exact, cfa, ra;
	struct map *m = map_of(s, pc, *exact);
	const struct gprof_unwind_rule *rule = NULL;
	int kept;

	w->end = GPROF_UNWIND_CFA_NR;
	if (m && m->blob.data)
		rule = table_find(m->blob.data, pc - m->start + m->offset);
	if (!rule)
		return false;
	w->end = rule->kind;
	if (rule->kind == GPROF_UNWIND_CFA_SIGNAL) {
		*exact = true;
		if (!peek(s, r->sp, signal, sizeof(signal)))
			return false;
		arch_signal_regs(signal, r);
		return true;
	}
	if (!find_cfa(s, rule, r, pc, *exact, &cfa) || cfa < r->sp || (cfa == r->sp && !*exact) ||
	    !find_return(s, rule, r, cfa, *exact, &ra) || !find_frame_pointer(s, rule, r, cfa))
		return false;
	kept = arch_kept_at(rule);
	if (kept && !peek(s, cfa + (int64_t)kept * 8, &r->reg[ARCH_KEPT & 31], 8))
		return false;
	r->pc = ra & arch_address_mask;
	if (!r->pc)
		w->end = GPROF_UNWIND_CFA_END;	/* as the kernel begins a program on arm64 */
	r->sp = cfa;
	*exact = false;
	return r->pc;
}

static void walk(struct stepped *s, struct walk *w)
{
	struct frame_regs r = s->now;
	bool exact = true;

	w->nr = 0;
	do {
		w->pc[w->nr] = r.pc;
		w->sp[w->nr++] = r.sp;
	} while (w->nr < DEPTH_MAX && up(s, &r, &exact, w));
}

static void show(struct stepped *s, struct seen *seen, const struct walk *w, int same, const char *what)
{
	int at[2] = { 0, same }, i;

	if (seen->shown++ >= 8)
		return;
	printf("# %s after %d of %d frames, rule %d", what, same, s->depth, w->end);
	for (i = 0; i <= !!same; i++) {
		struct map *m = map_of(s, w->pc[at[i]], false);

		printf(", %s %llx of %s", i ? "called from" : "at",
		       m ? (unsigned long long)(w->pc[at[i]] - m->start + m->offset) : 0,
		       m ? m->path : "nothing");
	}
	putchar('\n');
	fflush(stdout);
}

/* How often it is there depends on the clock; on arm64 the kernel's has no CFI. */
static bool is_vdso(struct stepped *s, uint64_t pc)
{
	const struct map *m = map_of(s, pc, false);

	return m && !strcmp(m->path, "[vdso]");
}

static void check(struct stepped *s, struct seen *seen)
{
	static struct walk w;
	int same = 0;

	walk(s, &w);
	while (same < s->depth && same + 1 < w.nr &&
	       s->called[s->depth - 1 - same].ret == w.pc[same + 1])
		same++;
	seen->checks++;
	if (same == s->depth && same + 1 == w.nr && w.end == GPROF_UNWIND_CFA_END) {
		seen->result[COMPLETE]++;
	} else if (same + 1 < w.nr || (w.end == GPROF_UNWIND_CFA_END && same < s->depth)) {
		seen->result[WRONG]++;
		show(s, seen, &w, same, "wrong");
	} else if (w.end == GPROF_UNWIND_CFA_NONE || w.end == GPROF_UNWIND_CFA_NR) {
		seen->result[NO_CFI]++;
		seen->in_vdso += is_vdso(s, w.pc[w.nr - 1]);
		show(s, seen, &w, same, "no CFI");
	} else {
		seen->result[CUT]++;
		show(s, seen, &w, same, "cut");
	}
}

/* Run it for @max steps; look at each of the first @all, then at one in @every. */
static void step(struct stepped *s, struct seen *seen, size_t max, size_t all, size_t every)
{
	size_t i;

	for (i = 0; i < max && !s->ended; i++) {
		if (i < all || i % every == 0)
			check(s, seen);
		s->ended = !step_once(s);
	}
	seen->steps += i;
}

/* Its frames are what the tables say. */
static void claim(struct stepped *s)
{
	static struct walk w;

	walk(s, &w);
	for (int i = w.nr - 1; i > 0; i--)
		s->called[s->depth++] = (struct called){
			.ret = w.pc[i], .sp = w.sp[i], .claimed = true,
		};
}

static void expect_true_stacks(struct __test_metadata *_metadata, const struct stepped *s,
			       const struct seen *n, const char *name)
{
	const size_t *r = n->result;

	printf("# %s: %zu steps, %zu checks, %d deep, %zu signals: %zu complete, %zu cut, %zu wrong, %zu without CFI (%zu in the vDSO); of frames that the tables told %zu have returned there, %zu not\n",
	       name, n->steps, n->checks, s->deepest, s->signals, r[COMPLETE], r[CUT], r[WRONG],
	       r[NO_CFI], n->in_vdso, s->confirmed, s->contradicted);
	fflush(stdout);
	EXPECT_LT(1000, n->checks);
	EXPECT_ZEROS(r[WRONG], s->contradicted);
	/* 99.7 % of what CFI covers */
	EXPECT_LE((r[CUT] + r[WRONG]) * 1000, 3 * (n->checks - r[NO_CFI]));
	/* 0.56 % where a linker by LLVM has its slots; one kind of them alone is 0.9. */
	EXPECT_LE((r[NO_CFI] - n->in_vdso) * 1000, 7 * n->checks);
}

static struct stepped stepped;
static struct seen seen;

FIXTURE(own_program) {
	char dir[64];
	char path[PATH_MAX + 64];
};

/* What to compile victims/walked.c with, and its name where that was done before. */
FIXTURE_VARIANT(own_program) {
	const char *compiler, *flags, *built;
};

FIXTURE_VARIANT_ADD(own_program, dynamic) {
	"gcc", "-O2 -fomit-frame-pointer", "walked",
};

FIXTURE_VARIANT_ADD(own_program, of_static_kind) {
	"gcc", "-O2 -fomit-frame-pointer -static", "walked_static",
};

FIXTURE_VARIANT_ADD(own_program, stripped_of_its_sections) {
	"gcc", "-O1 -fomit-frame-pointer -static-pie -s", "walked_bare",
};

#ifdef __aarch64__
FIXTURE_VARIANT_ADD(own_program, signing_return_addresses) {
	"gcc", "-O2 -fomit-frame-pointer -mbranch-protection=standard", "walked_signed",
};
#endif

/* Its linker tells nothing of linkage tables, its compiler on arm64 not all of prologues. */
FIXTURE_VARIANT_ADD(own_program, of_llvm) {
	"clang", "-O2 -fomit-frame-pointer -fuse-ld=lld", "walked_llvm",
};

FIXTURE_SETUP(own_program)
{
	const char *dir = lib_tmpdir();

	ASSERT_NE(NULL, dir);
	strcpy(self->dir, dir);
	if (lib_have(variant->compiler) && lib_top()) {
		snprintf(self->path, sizeof(self->path), "%s/out", dir);
		if (lib_sh("%s -w %s -o %s %s/selftests/victims/walked.c", variant->compiler,
			   variant->flags, self->path, lib_top()))
			self->path[0] = '\0';
	} else {
		ASSERT_LT(0, readlink("/proc/self/exe", self->path, PATH_MAX - 1));
		sprintf(strrchr(self->path, '/'), "/../%s", variant->built);
	}
}

FIXTURE_TEARDOWN(own_program)
{
	lib_sh("rm -rf %s", self->dir);
}

TEST_F_TIMEOUT(own_program, has_true_stacks_from_its_first_instruction, 300)
{
	char *argv[] = { self->path, NULL };

	if (access(self->path, X_OK))
		SKIP(return, "%s cannot compile it, and it was not built", variant->compiler);
	ASSERT_TRUE(begin(&stepped, argv));
	step(&stepped, &seen, 400000, 0, 11);
	end(&stepped);
	expect_true_stacks(_metadata, &stepped, &seen, variant->built);
	EXPECT_LT(30, stepped.deepest);
	EXPECT_EQ(2, stepped.signals);
	EXPECT_TRUE(stepped.ended);
}

#define SQL "with recursive n(i) as (select 1 union all select i + 1 from n where i < 9999999) " \
	"select sum(length(printf('%d %s', i, upper(hex(i))))) from n group by i % 97 order by 1"
#define PYTHON "import re, json\n" \
	"while 1: json.dumps([{str(i): sorted(re.findall('[0-9]', str(i * i)))} for i in range(99)])"
#define PERL "while (1) { my %h; $h{$_ % 7} .= sprintf('%s', lc(\"A$_\")) =~ s/a(.)/$1$1/r " \
	"for 1 .. 99; join ',', sort { $h{$a} cmp $h{$b} } keys %h }"
#define SHELL "f() { local i; for i in 1 2 3 4 5 6 7 8 9; do v=$((v + i)); w=${v#1}x; done; }; " \
	"while :; do f; case $w in *1*x) w=a ;; *) w=\"b$w\" ;; esac; done"

FIXTURE(program_of_the_system) {
};

/* @endless: it is looked at amid its work too. */
FIXTURE_VARIANT(program_of_the_system) {
	char *argv[8];
	bool endless;
};

FIXTURE_VARIANT_ADD(program_of_the_system, sqlite3) {
	{ "/usr/bin/sqlite3", ":memory:", SQL }, true,
};

FIXTURE_VARIANT_ADD(program_of_the_system, python3) {
	{ "/usr/bin/python3", "-c", PYTHON }, true,
};

FIXTURE_VARIANT_ADD(program_of_the_system, perl) {
	{ "/usr/bin/perl", "-e", PERL }, true,
};

FIXTURE_VARIANT_ADD(program_of_the_system, bash) {
	{ "/bin/bash", "-c", SHELL }, true,
};

FIXTURE_VARIANT_ADD(program_of_the_system, dash) {
	{ "/bin/dash", "-c", "v=0; f() { v=$((v + 1)); w=\"${v#1}x\"; }; while :; do f; f; done" },
	true,
};

FIXTURE_VARIANT_ADD(program_of_the_system, xz) {
	{ "/usr/bin/xz", "-cf", "/dev/urandom" }, true,
};

FIXTURE_VARIANT_ADD(program_of_the_system, sort) {
	{ "/usr/bin/sort", "-n", "/proc/self/maps", "/etc/passwd" }, false,
};

/* Of C++, with exceptions and threads. */
FIXTURE_VARIANT_ADD(program_of_the_system, pzstd) {
	{ "/usr/bin/pzstd", "-p", "2", "-c", "/etc/passwd" }, false,
};

FIXTURE_SETUP(program_of_the_system)
{
}

FIXTURE_TEARDOWN(program_of_the_system)
{
}

#define FIRST_STEPS	30000
#define ALL_STEPS	150000	/* of who does not go on for ever */
#define WINDOWS		4
#define WINDOW_STEPS	4000
#define WINDOW_MS	700

TEST_F_TIMEOUT(program_of_the_system, has_true_stacks, 300)
{
	if (access(variant->argv[0], X_OK))
		SKIP(return, "there is no %s", variant->argv[0]);
	if (variant->endless && getenv("GPROF_WALK_FEW"))
		SKIP(return, "it takes long, and GPROF_WALK_FEW is set");
	ASSERT_TRUE(begin(&stepped, variant->argv));
	step(&stepped, &seen, variant->endless ? FIRST_STEPS : ALL_STEPS, FIRST_STEPS / 10, 7);
	for (int i = 0; variant->endless && i < WINDOWS; i++) {
		ASSERT_TRUE(run_free(&stepped, WINDOW_MS));
		claim(&stepped);
		step(&stepped, &seen, WINDOW_STEPS, 0, 3);
	}
	EXPECT_TRUE(!variant->endless || !stepped.ended);
	end(&stepped);
	expect_true_stacks(_metadata, &stepped, &seen, variant->argv[0]);
}

TEST_HARNESS_MAIN
