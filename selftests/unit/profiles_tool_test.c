// SPDX-License-Identifier: GPL-2.0-only
/* Views of profiles: what is chosen of them, and the numbers that are then shown. */
#include "harness.h"
#include <elf.h>

#include "cli/cmd.h"
#include "record/heap_text.h"
#include "profile/elf_place.h"
#include "profile/function_match.h"
#include "tool_run.h"
#include <gprof/profile_builder.h>

static const char source[] = "int main(void)\n{\n\tdeep();\n\twide();\n}\n";

/* A sample of the profile that is looked at. */
struct stack {
	int64_t value;	/* of it */
	int64_t pid;	/* process */
	int64_t tid;	/* thread */
	const char *comm;	/* name of it */
	int64_t cpu;	/* where it ran */
	const char *frames;	/* "function@module:line", root first, with spaces between */
	const char *process;	/* what its process is called, or NULL: it is not told */
	const char *reason;	/* of a wait, or NULL */
	int64_t addr;		/* of a fault, or 0 */
};

static const struct stack stacks[] = {
	{ 10, 7, 7, "shop", 0, "main@/bin/shop:3 deep@/bin/shop:9 read@[kernel.kallsyms]:0" },
	{ 20, 7, 8, "worker", 1, "main@/bin/shop:3 deep@/bin/shop:9 deep@/bin/shop:9" },
	{ 30, 7, 8, "worker", 1, "main@/bin/shop:4 wide@/lib/libx.so:2" },
	{ 40, 9, 9, "a,b;c", 1, "start@/bin/other:1 wide@/lib/libx.so:3 read@[kernel.kallsyms]:0" },
	{ 100, 9, 9, "other", 0, "start@/bin/other:1 \"quo;te,@/bin/other:1" },
};

/*
 * Of 7 the first thread was never seen. 8 is called as three samples of one CPU say, and not as
 * two of two CPUs do.
 * 10 is called as its first thread is, of which there is one sample, and of another four.
 */
static const struct stack named[] = {
	{ 90, 7, 71, "hottest", 0, "main@/bin/shop:3", "shop" },
	{ 10, 7, 72, "other", 0, "main@/bin/shop:3", "shop" },
	{ 30, 8, 8, "renamed", 1, "main@/bin/shop:3", "bank" },
	{ 30, 8, 8, "renamed", 1, "main@/bin/shop:4", "bank" },
	{ 10, 8, 8, "renamed", 1, "main@/bin/shop:5", "bank" },
	{ 5, 8, 81, "helper", 1, "main@/bin/shop:3", "teller" },
	{ 5, 8, 81, "helper", 0, "main@/bin/shop:3", "teller" },
	{ 20, 9, 91, "hottest", 1, "main@/bin/shop:3" },
	{ 10, 10, 101, "busy", 1, "main@/bin/shop:3" },
	{ 10, 10, 101, "busy", 1, "main@/bin/shop:4" },
	{ 10, 10, 101, "busy", 1, "main@/bin/shop:5" },
	{ 10, 10, 101, "busy", 1, "main@/bin/shop:6" },
	{ 10, 10, 10, "first", 1, "main@/bin/shop:3" },
	{ 10, 11, 11, "clerk", 1, "main@/bin/shop:3" },
	{ 10, 11, 111, "busy", 2, "main@/bin/shop:3", "kiosk" },
	{ 10, 11, 111, "busy", 2, "main@/bin/shop:4", "kiosk" },
};

/* Of a thread of the kernel all frames are the kernel's. */
static const struct stack waits[] = {
	{ 40, 7, 7, "shop", 0, "main@/bin/shop:3 lock@/lib/libx.so:9 futex@[kernel.kallsyms]:0 "
	  "schedule@[kernel.kallsyms]:0", "shop", "futex" },
	{ 20, 7, 8, "shop", 0, "main@/bin/shop:3 lock@/lib/libx.so:9 schedule@[kernel.kallsyms]:0",
	  "shop", "io" },
	{ 10, 9, 9, "kswapd", 0, "kthread@[kernel.kallsyms]:0 schedule@[kernel.kallsyms]:0", "kswapd",
	  "kernel" },
	{ 100, 7, 8, "shop", 0, "main@/bin/shop:4 schedule@[kernel.kallsyms]:0", "shop", "sleep" },
	{ 30, 7, 8, "shop", 0, "main@/bin/shop:5 schedule@[kernel.kallsyms]:0", "shop", "poll" },
};

/* Code without an object file; the source of native is compiled: its module alone is not told. */
static const struct stack runtimes[] = {
	{ 1, 7, 7, "app", 0, "main@/bin/app:3 <module>@:2" },
	{ 2, 7, 7, "app", 0, "main@/bin/app:3 jit@[anon]:1 dump@/tmp/jit-7.dump:1 [anon]@[anon]:0" },
	{ 3, 7, 7, "app", 0, "main@/bin/app:3 native@:4" },
};

/* Each "%s" in it is the file. */
struct row {
	const char *line;
	const char *wanted[4];
	const char *not_wanted;
};

/* What is printed below the heading, all of it; of blanks one stands for many. */
struct table {
	const char *line;
	const char *whole;
};

FIXTURE(profiles) {
	char dir[64];
	char file[96];
	char source[96];
	struct ran r;
};

static void put(struct gprof_profile_builder *b, const struct stack *s, const char *file)
{
	struct gprof_tag tags[7] = {
		{ .key = "pid", .num = s->pid }, { .key = "tid", .num = s->tid },
		{ .key = "comm", .text = s->comm }, { .key = "cpu", .num = s->cpu },
		{ .key = "process.executable.name", .text = s->process },
		{ .key = "reason", .text = s->reason },
	};
	const int64_t values[] = { 1, s->value };
	struct gprof_frame frames[8];
	char text[256], *word, *rest = text;
	size_t nr = 0, nr_tags = s->reason ? 6 : s->process ? 5 : 4;

	snprintf(text, sizeof(text), "%s", s->frames);
	while ((word = strsep(&rest, " "))) {
		char *at = strrchr(word, '@'), *colon = strrchr(word, ':');

		*at = *colon = '\0';
		memmove(&frames[1], &frames[0], nr++ * sizeof(frames[0]));
		frames[0] = (struct gprof_frame){
			.function = word, .mapping = at + 1, .line = atoi(colon + 1),
			.file = *word == '<' ? "work.py" : strcmp(word, "main") ? "x.c" : file,
		};
	}
	if (s->addr)
		tags[nr_tags++] = (struct gprof_tag){ .key = "addr", .num = s->addr };
	gprof_profile_builder_add(b, frames, nr, tags, nr_tags, values);
}

/* A profile of these; is it written? */
static bool write_profile(const char *path, const struct stack *all, size_t nr, const char *source)
{
	static const struct gprof_value_type cpu[] = {
		{ "samples", "count" }, { "cpu", "milliseconds" },
	}, delay[] = { { "contentions", "count" }, { "delay", "milliseconds" } };
	const struct gprof_profile_builder_config cfg = {
		.sz = sizeof(cfg), .types = all->reason ? delay : cpu, .nr_types = 2,
		.default_type = all->reason ? "delay" : "cpu",
	};
	struct gprof_profile_builder *b = gprof_profile_builder_new(&cfg);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600), err = -1;
	struct gprof_profile *p;

	for (size_t i = 0; i < nr; i++)
		put(b, &all[i], source);
	p = gprof_profile_builder_finish(b);
	if (p)
		err = gprof_profile_write(p, fd);
	close(fd);
	gprof_profile_free(p);
	return !err;
}

FIXTURE_SETUP(profiles)
{
	int fd;

	strcpy(self->dir, "/tmp/gprof-profiles.XXXXXX");
	ASSERT_NE(NULL, mkdtemp(self->dir));
	snprintf(self->file, sizeof(self->file), "%s/in.pb.gz", self->dir);
	snprintf(self->source, sizeof(self->source), "%s/main.c", self->dir);
	fd = open(self->source, O_WRONLY | O_CREAT, 0600);
	ASSERT_EQ((ssize_t)strlen(source), write(fd, source, strlen(source)));
	close(fd);
	ASSERT_TRUE(write_profile(self->file, stacks, sizeof(stacks) / sizeof(stacks[0]),
				  self->source));
}

FIXTURE_TEARDOWN(profiles)
{
	unlink(self->file);
	unlink(self->source);
	rmdir(self->dir);
}

/* The words of @line, of which "F" is the profile, and what has "D/" is in its directory. */
static void run_line(struct ran *r, int (*cmd)(int argc, char **argv), const char *line, char *file)
{
	char text[256], other[8][96], *argv[16], *rest = text;
	int argc = 0;

	snprintf(text, sizeof(text), "%s", line);
	while ((argv[argc] = strsep(&rest, " "))) {
		if (!strcmp(argv[argc], "F"))
			argv[argc] = file;
		if (!strncmp(argv[argc], "D/", 2)) {
			snprintf(other[argc % 8], sizeof(other[0]), "%.*s%s",
				 (int)(strrchr(file, '/') - file), file, argv[argc] + 1);
			argv[argc] = other[argc % 8];
		}
		argc++;
	}
	optind = 1;
	run(r, cmd, argv, -1);
}

static void check(struct __test_metadata *_metadata, FIXTURE_DATA(profiles) *self,
		  int (*cmd)(int argc, char **argv), const struct row *rows, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		run_line(&self->r, cmd, rows[i].line, self->file);
		EXPECT_EQ(0, self->r.status) TH_LOG("%s: %s", rows[i].line, self->r.err);
		for (size_t j = 0; j < 4 && rows[i].wanted[j]; j++) {
			EXPECT_NE(NULL, strstr(self->r.out, rows[i].wanted[j]))
				TH_LOG("%s: no \"%s\" in\n%s", rows[i].line, rows[i].wanted[j],
				       self->r.out);
		}
		if (rows[i].not_wanted) {
			EXPECT_EQ(NULL, strstr(self->r.out, rows[i].not_wanted))
				TH_LOG("%s: \"%s\" in\n%s", rows[i].line, rows[i].not_wanted,
				       self->r.out);
		}
	}
}

/* From "cum%" or "callees" on, which end the heading of a table that has one. */
static void squeeze(char *text)
{
	char *to = text, *from = strstr(text, "cum%\n"), *callees = strstr(text, "callees\n");

	if (callees)
		from = callees;
	from = from ? strchr(from, '\n') + 1 : text;
	for (; *from; from++)
		if ((*from != ' ' && (*from != '-' || from[1] != '-')) ||
		    (*from == ' ' && to > text && to[-1] != '\n' && to[-1] != ' '))
			*to++ = *from;
	*to = '\0';
}

static void check_tables(struct __test_metadata *_metadata, FIXTURE_DATA(profiles) *self,
			 int (*cmd)(int argc, char **argv), const struct table *tables, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		run_line(&self->r, cmd, tables[i].line, self->file);
		EXPECT_EQ(0, self->r.status) TH_LOG("%s: %s", tables[i].line, self->r.err);
		squeeze(self->r.out);
		EXPECT_STREQ(tables[i].whole, self->r.out) TH_LOG("%s", tables[i].line);
	}
}

#define CHECK_TABLES(cmd, tables) \
	check_tables(_metadata, self, cmd, tables, sizeof(tables) / sizeof(tables[0]))
#define CHECK(cmd, rows) check(_metadata, self, cmd, rows, sizeof(rows) / sizeof(rows[0]))

/* Names that begin as a formula does, and are none of theirs; tab and CR are no characters here. */
static const struct stack formulae[] = {
	{ 10, 7, 7, "=cmd|'/C_calc'!A1", 0, "main@/bin/shop:3" },
	{ 10, 7, 8, "+1", 0, "main@/bin/shop:3" },
	{ 10, 7, 9, "-[NSView_draw]", 0, "main@/bin/shop:3" },
	{ 10, 7, 10, "@SUM(1,2)", 0, "main@/bin/shop:3" },
	{ 10, 7, 11, "'quoted", 0, "main@/bin/shop:3" },
	{ 10, 7, 12, "\t=1", 0, "main@/bin/shop:3" }, { 10, 7, 13, "\r=1", 0, "main@/bin/shop:3" },
	{ 10, 7, 14, "\uff1d1", 0, "main@/bin/shop:3" },
	{ 20, 7, 15, "a=b+c-d", 0, "main@/bin/shop:3" },
};

TEST_F(profiles, no_spreadsheet_takes_a_name_for_a_formula)
{
	static const struct row rows[] = {
		{ "csv F --by comm", { "\n\"'=cmd|'/C_calc'!A1\",,user,10,", "\n\"'+1\",,user,10,",
			"\n\"'-[NSView_draw]\",,user,10,", "\n\"'@SUM(1,2)\",,user,10," }, "\n=" },
		{ "csv F --by comm", { "\n\"''quoted\",,user,10,", "\n\"'\uff1d1\",,user,10,",
			"\na=b+c-d,,user,20," }, "\t" },
	};

	ASSERT_TRUE(write_profile(self->file, formulae, sizeof(formulae) / sizeof(formulae[0]),
				  self->source));
	CHECK(cmd_csv, rows);
	EXPECT_LACKS(self->r.out, "\n@", "\n+", "\n-");
	EXPECT_EQ(NULL, strchr(self->r.out, '\r'));
}

TEST_F(profiles, a_process_is_called_as_its_samples_say)
{
	static const struct table tops[] = {
		{ "top F --by process",
		  "100 ms 35.71% 35.71% 100 ms 35.71% shop (7)\n"
		  "80.0 ms 28.57% 64.29% 80.0 ms 28.57% bank (8)\n"
		  "50.0 ms 17.86% 82.14% 50.0 ms 17.86% first (10)\n"
		  "30.0 ms 10.71% 92.86% 30.0 ms 10.71% kiosk (11)\n"
		  "20.0 ms 7.14% 100.00% 20.0 ms 7.14% hottest (9)\n" },
		{ "top F --by thread",
		  "90.0 ms 32.14% 32.14% 90.0 ms 32.14% hottest (71)\n"
		  "70.0 ms 25.00% 57.14% 70.0 ms 25.00% renamed (8)\n"
		  "40.0 ms 14.29% 71.43% 40.0 ms 14.29% busy (101)\n"
		  "20.0 ms 7.14% 78.57% 20.0 ms 7.14% busy (111)\n"
		  "20.0 ms 7.14% 85.71% 20.0 ms 7.14% hottest (91)\n"
		  "10.0 ms 3.57% 89.29% 10.0 ms 3.57% clerk (11)\n"
		  "10.0 ms 3.57% 92.86% 10.0 ms 3.57% first (10)\n"
		  "10.0 ms 3.57% 96.43% 10.0 ms 3.57% helper (81)\n"
		  "10.0 ms 3.57% 100.00% 10.0 ms 3.57% other (72)\n" },
	};
	static const struct row pages[] = {
		{ "view F -o -", { "\"shop (7)\"", "\"bank (8)\"", "\"hottest (9)\"" },
			"\"hottest (7)\"" },
	};

	ASSERT_TRUE(write_profile(self->file, named, sizeof(named) / sizeof(named[0]),
				  self->source));
	CHECK_TABLES(cmd_top, tops);
	CHECK(cmd_view, pages);
}

TEST_F(profiles, code_of_a_runtime_is_told_apart)
{
	static const struct row csv[] = {
		{ "csv F", { "\n<module>,,runtime,", "\njit,anon,runtime,",
			     "\ndump,jit-7.dump,runtime," } },
		{ "csv F", { "\nmain,app,user,", "\nnative,,user,", "\n[anon],anon,user," } },
	};

	ASSERT_TRUE(write_profile(self->file, runtimes, sizeof(runtimes) / sizeof(runtimes[0]),
				  self->source));
	CHECK(cmd_csv, csv);
}

/* Shares stay those of the whole, 200 ms. */
TEST_F(profiles, rows_say_where_they_are_and_what_is_chosen_is_all_that_counts)
{
	static const struct table tables[] = {
		{ "top F",
		  "100 ms 50.00% 50.00% 100 ms 50.00% \"quo;te, [other]\n"
		  "50.0 ms 25.00% 75.00% 50.0 ms 25.00% read [kernel]\n"
		  "30.0 ms 15.00% 90.00% 70.0 ms 35.00% wide [libx.so]\n"
		  "20.0 ms 10.00% 100.00% 30.0 ms 15.00% deep [shop]\n"
		  "0 0.00% 100.00% 140 ms 70.00% start [other]\n"
		  "0 0.00% 100.00% 60.0 ms 30.00% main [shop]\n" },
		{ "top F --comm worker",
		  "30.0 ms 15.00% 15.00% 30.0 ms 15.00% wide [libx.so]\n"
		  "20.0 ms 10.00% 25.00% 20.0 ms 10.00% deep [shop]\n"
		  "0 0.00% 25.00% 50.0 ms 25.00% main [shop]\n" },
		{ "top F --pid 9",
		  "100 ms 50.00% 50.00% 100 ms 50.00% \"quo;te, [other]\n"
		  "40.0 ms 20.00% 70.00% 40.0 ms 20.00% read [kernel]\n"
		  "0 0.00% 70.00% 140 ms 70.00% start [other]\n"
		  "0 0.00% 70.00% 40.0 ms 20.00% wide [libx.so]\n" },
		{ "top F --label cpu=0",
		  "100 ms 50.00% 50.00% 100 ms 50.00% \"quo;te, [other]\n"
		  "10.0 ms 5.00% 55.00% 10.0 ms 5.00% read [kernel]\n"
		  "0 0.00% 55.00% 100 ms 50.00% start [other]\n"
		  "0 0.00% 55.00% 10.0 ms 5.00% deep [shop]\n"
		  "0 0.00% 55.00% 10.0 ms 5.00% main [shop]\n" },
		{ "top F --focus ^wide$",
		  "40.0 ms 20.00% 20.00% 40.0 ms 20.00% read [kernel]\n"
		  "30.0 ms 15.00% 35.00% 70.0 ms 35.00% wide [libx.so]\n"
		  "0 0.00% 35.00% 40.0 ms 20.00% start [other]\n"
		  "0 0.00% 35.00% 30.0 ms 15.00% main [shop]\n" },
		{ "top F --focus libx.so",
		  "40.0 ms 20.00% 20.00% 40.0 ms 20.00% read [kernel]\n"
		  "30.0 ms 15.00% 35.00% 70.0 ms 35.00% wide [libx.so]\n"
		  "0 0.00% 35.00% 40.0 ms 20.00% start [other]\n"
		  "0 0.00% 35.00% 30.0 ms 15.00% main [shop]\n" },
		{ "top F --ignore kernel",
		  "100 ms 50.00% 50.00% 100 ms 50.00% \"quo;te, [other]\n"
		  "30.0 ms 15.00% 65.00% 30.0 ms 15.00% wide [libx.so]\n"
		  "20.0 ms 10.00% 75.00% 20.0 ms 10.00% deep [shop]\n"
		  "0 0.00% 75.00% 100 ms 50.00% start [other]\n"
		  "0 0.00% 75.00% 50.0 ms 25.00% main [shop]\n" },
		/* the time of what is hidden is its callers' */
		{ "top F --hide ^read$",
		  "100 ms 50.00% 50.00% 100 ms 50.00% \"quo;te, [other]\n"
		  "70.0 ms 35.00% 85.00% 70.0 ms 35.00% wide [libx.so]\n"
		  "30.0 ms 15.00% 100.00% 30.0 ms 15.00% deep [shop]\n"
		  "0 0.00% 100.00% 140 ms 70.00% start [other]\n"
		  "0 0.00% 100.00% 60.0 ms 30.00% main [shop]\n" },
		{ "top F --focus deep --hide deep",
		  "20.0 ms 10.00% 10.00% 30.0 ms 15.00% main [shop]\n"
		  "10.0 ms 5.00% 15.00% 10.0 ms 5.00% read [kernel]\n" },
		{ "top F --focus wide --comm worker",
		  "30.0 ms 15.00% 15.00% 30.0 ms 15.00% wide [libx.so]\n"
		  "0 0.00% 15.00% 30.0 ms 15.00% main [shop]\n" },
		{ "top F --focus ^read$ --ignore deep",
		  "40.0 ms 20.00% 20.00% 40.0 ms 20.00% read [kernel]\n"
		  "0 0.00% 20.00% 40.0 ms 20.00% start [other]\n"
		  "0 0.00% 20.00% 40.0 ms 20.00% wide [libx.so]\n" },
		/* what has both labels, in whatever order they are asked for */
		{ "top F --pid 7 --label cpu=0",
		  "10.0 ms 5.00% 5.00% 10.0 ms 5.00% read [kernel]\n"
		  "0 0.00% 5.00% 10.0 ms 5.00% deep [shop]\n"
		  "0 0.00% 5.00% 10.0 ms 5.00% main [shop]\n" },
		{ "top F --label cpu=0 --pid 7",
		  "10.0 ms 5.00% 5.00% 10.0 ms 5.00% read [kernel]\n"
		  "0 0.00% 5.00% 10.0 ms 5.00% deep [shop]\n"
		  "0 0.00% 5.00% 10.0 ms 5.00% main [shop]\n" },
	};
	static const struct row rows[] = {
		{ "top F --pid 7,9", { "70.00%  start", "30.00%  main" } },
		/* chance has a part in what few samples say */
		{ "top F", { "One sample weighs up to 50.00% of the total (5 samples)" } },
		{ "top F --type samples", { "read [kernel]" }, "weighs" },
	};

	CHECK_TABLES(cmd_top, tables);
	CHECK(cmd_top, rows);
}

TEST_F(profiles, groups_are_rows)
{
	static const struct table tables[] = {
		{ "top F --by process",
		  "140 ms 70.00% 70.00% 140 ms 70.00% a,b;c (9)\n"
		  "60.0 ms 30.00% 100.00% 60.0 ms 30.00% shop (7)\n" },
		{ "top F --by thread",
		  "100 ms 50.00% 50.00% 100 ms 50.00% other (9)\n"
		  "50.0 ms 25.00% 75.00% 50.0 ms 25.00% worker (8)\n"
		  "40.0 ms 20.00% 95.00% 40.0 ms 20.00% a,b;c (9)\n"
		  "10.0 ms 5.00% 100.00% 10.0 ms 5.00% shop (7)\n" },
		{ "top F --by comm",
		  "100 ms 50.00% 50.00% 100 ms 50.00% other\n"
		  "50.0 ms 25.00% 75.00% 50.0 ms 25.00% worker\n"
		  "40.0 ms 20.00% 95.00% 40.0 ms 20.00% a,b;c\n"
		  "10.0 ms 5.00% 100.00% 10.0 ms 5.00% shop\n" },
		{ "top F --by cpu",
		  "110 ms 55.00% 55.00% 110 ms 55.00% CPU 0\n"
		  "90.0 ms 45.00% 100.00% 90.0 ms 45.00% CPU 1\n" },
		{ "top F --by cgroup",
		  "200 ms 100.00% 100.00% 200 ms 100.00% (no cgroup)\n" },
		{ "top F --by label=pid",
		  "140 ms 70.00% 70.00% 140 ms 70.00% 9\n"
		  "60.0 ms 30.00% 100.00% 60.0 ms 30.00% 7\n" },
		/* flat of the leaf's, cum of all that are in a stack */
		{ "top F --by module",
		  "100 ms 50.00% 50.00% 140 ms 70.00% other\n"
		  "50.0 ms 25.00% 75.00% 50.0 ms 25.00% kernel\n"
		  "30.0 ms 15.00% 90.00% 70.0 ms 35.00% libx.so\n"
		  "20.0 ms 10.00% 100.00% 60.0 ms 30.00% shop\n" },
		{ "top F --by process --focus deep",
		  "30.0 ms 15.00% 15.00% 30.0 ms 15.00% shop (7)\n" },
	};

	CHECK_TABLES(cmd_top, tables);
}

/* A state is no code without a name, as a file without symbols is; an address is hexadecimal. */
static const struct stack made_up[] = {
	{ 70, 7, 7, "shop", 0, "main@/bin/shop:3 [sleep]@:0" },
	{ 30, 7, 7, "shop", 0, "main@/bin/shop:3 [libx.so]@/lib/libx.so:0", .addr = 0x7f0012345678 },
};

TEST_F(profiles, states_are_no_code_without_names)
{
	static const struct row rows[] = {
		{ "top F", { "30.00% are in code without names", "70.0 ms  70.00%", "[sleep]" }, NULL },
		{ "top F --by label=addr", { "  addr 0x7f0012345678\n", " (no addr)\n" }, NULL },
	};

	ASSERT_TRUE(write_profile(self->file, made_up, 2, self->source));
	CHECK(cmd_top, rows);
}

TEST_F(profiles, waits_begin_where_the_program_waits)
{
	static const char idle[] = "gprofctl: 65.0 % of the waiting is idle and not shown (sleep 50.0 %, "
				   "poll 15.0 %); --all-waits shows it\n";
	static const struct table shown[] = {
		{ "top F",
		  "60.0 ms 30.00% 30.00% 60.0 ms 30.00% lock [libx.so]\n"
		  "10.0 ms 5.00% 35.00% 10.0 ms 5.00% schedule [kernel]\n"
		  "0 0.00% 35.00% 60.0 ms 30.00% main [shop]\n"
		  "0 0.00% 35.00% 40.0 ms 20.00% waiting: futex\n"
		  "0 0.00% 35.00% 20.0 ms 10.00% waiting: io\n"
		  "0 0.00% 35.00% 10.0 ms 5.00% kthread [kernel]\n"
		  "0 0.00% 35.00% 10.0 ms 5.00% waiting: kernel\n" },
		{ "top F --type contentions --focus lock --kernel-frames",
		  "2 40.00% 40.00% 2 40.00% schedule [kernel]\n"
		  "0 0.00% 40.00% 2 40.00% lock [libx.so]\n"
		  "0 0.00% 40.00% 2 40.00% main [shop]\n"
		  "0 0.00% 40.00% 1 20.00% futex [kernel]\n" },
	};
	static const struct table all[] = {
		{ "top F --all-waits --focus shop",
		  "130 ms 65.00% 65.00% 190 ms 95.00% main [shop]\n"
		  "60.0 ms 30.00% 95.00% 60.0 ms 30.00% lock [libx.so]\n"
		  "0 0.00% 95.00% 100 ms 50.00% waiting: sleep\n"
		  "0 0.00% 95.00% 40.0 ms 20.00% waiting: futex\n"
		  "0 0.00% 95.00% 30.0 ms 15.00% waiting: poll\n"
		  "0 0.00% 95.00% 20.0 ms 10.00% waiting: io\n" },
	}, alone[] = {
		{ "top F",
		  "130 ms 100.00% 100.00% 130 ms 100.00% main [shop]\n"
		  "0 0.00% 100.00% 100 ms 76.92% waiting: sleep\n"
		  "0 0.00% 100.00% 30.0 ms 23.08% waiting: poll\n" },
	};

	ASSERT_TRUE(write_profile(self->file, waits, 5, self->source));
	CHECK_TABLES(cmd_top, shown);
	run_line(&self->r, cmd_top, "top F", self->file);
	EXPECT_STREQ(idle, self->r.err);
	CHECK_TABLES(cmd_top, all);
	EXPECT_STREQ("", self->r.err);
	/* where nothing else is, that is the answer */
	ASSERT_TRUE(write_profile(self->file, waits + 3, 2, self->source));
	CHECK_TABLES(cmd_top, alone);
	EXPECT_STREQ("", self->r.err);
}

TEST_F(profiles, peek_counts_a_call_once_in_a_sample)
{
	static const struct table tables[] = {
		{ "peek deep F",
		  "-+-\n"
		  "30.0 ms 100.00% | main [shop]\n"
		  "20.0 ms 10.00% 30.0 ms 15.00% | deep [shop]\n"
		  "10.0 ms 33.33% | read [kernel]\n" },
		{ "peek wide F",
		  "-+-\n"
		  "40.0 ms 57.14% | start [other]\n"
		  "30.0 ms 42.86% | main [shop]\n"
		  "30.0 ms 15.00% 70.0 ms 35.00% | wide [libx.so]\n"
		  "40.0 ms 57.14% | read [kernel]\n" },
		/* one called exactly so is meant alone, else all that are alike */
		{ "peek e F -n 1",
		  "-+-\n"
		  "100 ms 100.00% | start [other]\n"
		  "100 ms 50.00% 100 ms 50.00% | \"quo;te, [other]\n" },
		{ "peek ^(deep|wide)$ F",
		  "-+-\n"
		  "40.0 ms 57.14% | start [other]\n"
		  "30.0 ms 42.86% | main [shop]\n"
		  "30.0 ms 15.00% 70.0 ms 35.00% | wide [libx.so]\n"
		  "40.0 ms 57.14% | read [kernel]\n"
		  "-+-\n"
		  "30.0 ms 100.00% | main [shop]\n"
		  "20.0 ms 10.00% 30.0 ms 15.00% | deep [shop]\n"
		  "10.0 ms 33.33% | read [kernel]\n" },
		{ "peek read F --type samples",
		  "-+-\n"
		  "1 50.00% | deep [shop]\n"
		  "1 50.00% | wide [libx.so]\n"
		  "2 40.00% 2 40.00% | read [kernel]\n" },
		{ "peek read F --pid 9",
		  "-+-\n"
		  "40.0 ms 100.00% | wide [libx.so]\n"
		  "40.0 ms 20.00% 40.0 ms 20.00% | read [kernel]\n" },
	};

	CHECK_TABLES(cmd_peek, tables);
	run_line(&self->r, cmd_peek, "peek nosuch F", self->file);
	EXPECT_EQ(STATUS_FAILED, self->r.status);
	EXPECT_SAYS(self->r.err, "\"nosuch\"");
	EXPECT_STREQ("", self->r.out);
	run_line(&self->r, cmd_peek, "peek a[ F", self->file);
	EXPECT_EQ(STATUS_FAILED, self->r.status);
	EXPECT_SAYS(self->r.err, "\"a[\", which is no regular");
}

/* A pair once in a stack; and one that is called exactly so is meant alone. */
TEST_F(profiles, peek_of_what_recurs)
{
	static const struct gprof_value_type type = { "n", "count" };
	static const struct row rows[] = {
		{ "peek a F", { "  5 100.00% |   b [p]", "  5 100.00%                    | a [p]" },
		  "| ab" },
		{ "peek ^ab?$ F", { "| a [p]", "| ab [p]" }, " 10 " },
	};
	const struct gprof_frame frames[] = {
		{ .function = "ab", .mapping = "p", .file = "" },
		{ .function = "b", .mapping = "p", .file = "" },
		{ .function = "a", .mapping = "p", .file = "" },
		{ .function = "b", .mapping = "p", .file = "" },
		{ .function = "a", .mapping = "p", .file = "" },
	};
	const struct gprof_profile_builder_config cfg = {
		.sz = sizeof(cfg), .types = &type, .nr_types = 1,
	};
	struct gprof_profile_builder *b = gprof_profile_builder_new(&cfg);
	const int64_t value = 5;
	struct gprof_profile *p;
	int fd = open(self->file, O_WRONLY | O_TRUNC);

	ASSERT_EQ(0, gprof_profile_builder_add(b, frames, 5, NULL, 0, &value));
	p = gprof_profile_builder_finish(b);
	ASSERT_EQ(0, gprof_profile_write(p, fd));
	close(fd);
	gprof_profile_free(p);
	CHECK(cmd_peek, rows);
}

TEST_F(profiles, list_has_what_lines_take)
{
	static const struct row rows[] = {
		{ "list main F", { "          .     30.0 ms      3  deep();\n",
				   "          .     30.0 ms      4  wide();\n",
				   "          .           .      5 }\n", "30.00% of total: main [shop]" } },
		{ "list deep F", { "20.0 ms     30.0 ms      9" } },
	};
	static const struct row away[] = { { "list main F", { " 30.0 ms      3 \n" }, "deep()" } };

	CHECK(cmd_list, rows);
	/* no source has so much, and one line of it might fill memory */
	ASSERT_EQ(0, truncate(self->source, 1LL << 40));
	CHECK(cmd_list, away);
	EXPECT_SAYS(self->r.err, "main.c cannot be read: File too large");
	unlink(self->source);
	CHECK(cmd_list, away);
	EXPECT_SAYS(self->r.err, "main.c cannot be read: No such file");
	ASSERT_TRUE(write_profile(self->file, stacks, sizeof(stacks) / sizeof(stacks[0]),
				  "/proc/self/environ"));
	CHECK(cmd_list, away);
	EXPECT_SAYS(self->r.err, "environ cannot be read: Invalid argument");
	/* a name does not steer the terminal, here as in tables */
	ASSERT_TRUE(write_profile(self->file, stacks, sizeof(stacks) / sizeof(stacks[0]),
				  "/none\033]0;x\a\n"));
	CHECK(cmd_list, away);
	EXPECT_SAYS(self->r.err, "/none?]0;x?? cannot be read: No such file");
}

TEST_F(profiles, lines_are_for_other_tools)
{
	static const struct table collapsed[] = {
		{ "collapsed F",
		  "start;\"quo:te, 100\n"
		  "start;wide;read_[k] 40\n"
		  "main;deep;deep 20\n"
		  "main;deep;read_[k] 10\n"
		  "main;wide 30\n" },
		{ "collapsed F --by process",
		  "a,b:c (9);start;\"quo:te, 100\n"
		  "a,b:c (9);start;wide;read_[k] 40\n"
		  "shop (7);main;deep;deep 20\n"
		  "shop (7);main;deep;read_[k] 10\n"
		  "shop (7);main;wide 30\n" },
		{ "collapsed F --by module",
		  "other 100\n"
		  "other;libx.so;kernel_[k] 40\n"
		  "shop 20\n"
		  "shop;libx.so 30\n"
		  "shop;kernel_[k] 10\n" },
		{ "collapsed F --hide main --pid 7",
		  "deep;deep 20\n"
		  "deep;read_[k] 10\n"
		  "wide 30\n" },
	};
	static const struct table csv[] = {
		{ "csv F",
		  "name,module,kind,flat_milliseconds,flat_percent,cum_milliseconds,cum_percent\n"
		  "\"\"\"quo;te,\",other,user,100,50.0000,100,50.0000\n"
		  "read,kernel,kernel,50,25.0000,50,25.0000\n"
		  "wide,libx.so,user,30,15.0000,70,35.0000\n"
		  "deep,shop,user,20,10.0000,30,15.0000\n"
		  "start,other,user,0,0.0000,140,70.0000\n"
		  "main,shop,user,0,0.0000,60,30.0000\n" },
		{ "csv F --by comm --type samples",
		  "name,module,kind,flat_count,flat_percent,cum_count,cum_percent\n"
		  "worker,,user,2,40.0000,2,40.0000\n"
		  "\"a,b;c\",,user,1,20.0000,1,20.0000\n"
		  "other,,user,1,20.0000,1,20.0000\n"
		  "shop,,user,1,20.0000,1,20.0000\n" },
	};

	CHECK_TABLES(cmd_collapsed, collapsed);
	CHECK_TABLES(cmd_csv, csv);
}

/* The @n-th element of a JSON array, "" after the last. */
static const char *element(const char *array, size_t n)
{
	const char *at = array + 1;
	bool quoted = false;
	int depth = 0;

	for (; *at && depth >= 0 && (n || *at == '\n'); at++) {
		if (*at == '\\')
			at++;
		else if (*at == '"')
			quoted = !quoted;
		else if (!quoted && *at == '[')
			depth++;
		else if (!quoted && *at == ']')
			depth--;
		else if (!quoted && !depth && *at == ',')
			n--;
	}
	return n || *at == ']' ? "" : at;
}

static long number(const char *array, size_t n)
{
	return atol(element(array, n));
}

/* An element without quotes and brackets. */
static void put_element(FILE *f, const char *at)
{
	bool quoted = false;
	int depth = 0;

	for (; *at && (quoted || depth || (*at != ',' && *at != ']')); at++) {
		if (*at == '"' && at[-1] != '\\')
			quoted = !quoted;
		else if (!quoted && (*at == '[' || *at == ']'))
			depth += *at == '[' ? 1 : -1;
		else
			putc(*at, f);
	}
}

static const char *array_of(const char *page, const char *name)
{
	const char *at = strstr(page, name);

	return at ? at + strlen(name) : "";
}

/*
 * The data of a page, whatever has which number: for each sample a line
 * "VALUE... LABEL...: FUNCTION,MODULE,KIND...", leaf first. "PARENT" stands in it where a parent
 * does not come before its child, as the script wants.
 */
static void read_page(const char *page, char *text, size_t size)
{
	const char *frames = array_of(page, "\"frames\":"), *nodes = array_of(page, "\"nodes\":");
	const char *parents = array_of(page, "\"parents\":"), *sets = array_of(page, "\"sets\":");
	const char *labels = array_of(page, "\"values\":"), *node = array_of(page, "\"node\":");
	const char *set = array_of(page, "\"set\":"), *columns = array_of(page, "\"columns\":");
	FILE *f = fmemopen(text, size, "w");

	for (size_t i = 0; *element(set, i); i++) {
		long n = number(node, i), parent;

		for (size_t t = 0; *element(columns, t); t++) {
			fputs(t ? " " : "", f);
			put_element(f, element(element(columns, t), i));
		}
		for (size_t k = 0; *element(labels, k); k++) {
			putc(' ', f);
			put_element(f, element(element(labels, k),
					       number(element(sets, number(set, i)), k)));
		}
		putc(':', f);
		for (; n >= 0; n = parent) {
			putc(' ', f);
			put_element(f, element(frames, number(nodes, n)));
			parent = number(parents, n);
			if (parent >= n) {
				fputs(" PARENT", f);
				break;
			}
		}
		putc('\n', f);
	}
	fclose(f);
}

/* The page has what its script adds up: a tree, and what each node takes for each set of labels. */
TEST_F(profiles, page_has_all_that_its_script_needs)
{
	static const struct row rows[] = {
		{ "view F -o - --title a<b", {
			"<title>a&lt;b</title>",
			"\"keys\":[\"process\",\"cgroup\",\"cpu\",\"thread\"]",
			"content=\"default-src 'none'; script-src" }, "://" },
		{ "view F -o - --comm worker", {
			"\"type\":1,\n\"types\":[{\"name\":\"samples\",\"total\":5,",
			"{\"name\":\"cpu\",\"total\":200," }, "\"start\"" },
		{ "view F -o - --type samples", { "\"type\":0," } },
		{ "view F F -o -", { "content=\"default-src 'none'; script-src" } },
	};
	static const struct { const char *line, *wanted[6]; } pages[] = {
		{ "view F -o -", {
			"1 10 shop (7) (no cgroup) CPU 0 shop (7): read,kernel,1 deep,shop,0 main,shop,0 all,,0\n",
			"1 20 shop (7) (no cgroup) CPU 1 worker (8): deep,shop,0 deep,shop,0 main,shop,0 all,,0\n",
			"1 30 shop (7) (no cgroup) CPU 1 worker (8): wide,libx.so,0 main,shop,0 all,,0\n",
			"1 40 a,b;c (9) (no cgroup) CPU 1 a,b;c (9): read,kernel,1 wide,libx.so,0 start,other,0 all,,0\n",
			"1 100 a,b;c (9) (no cgroup) CPU 0 other (9): \\\"quo;te,,other,0 start,other,0 all,,0\n" } },
		{ "view F -o - --comm worker", {
			"1 20 shop (7) (no cgroup) CPU 1 worker (8): deep,shop,0 deep,shop,0 main,shop,0 all,,0\n",
			"1 30 shop (7) (no cgroup) CPU 1 worker (8): wide,libx.so,0 main,shop,0 all,,0\n" } },
	};
	char text[2048];

	CHECK(cmd_view, rows);
	for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++) {
		size_t length = 0;

		run_line(&self->r, cmd_view, pages[i].line, self->file);
		read_page(self->r.out, text, sizeof(text));
		for (size_t j = 0; pages[i].wanted[j]; length += strlen(pages[i].wanted[j++])) {
			EXPECT_NE(NULL, strstr(text, pages[i].wanted[j]))
				TH_LOG("%s: no \"%s\" in\n%s", pages[i].line, pages[i].wanted[j], text);
		}
		/* and nothing else */
		EXPECT_EQ(length, strlen(text)) TH_LOG("%s:\n%s", pages[i].line, text);
	}
	/* nothing that a name could end the script with */
	EXPECT_LACKS(self->r.out, "</script>\n<script>x");
	EXPECT_SAYS(self->r.out, "</html>");
}

TEST_F(profiles, page_without_a_browser_says_where_it_is)
{
	char path[96], *at;

	setenv("XDG_RUNTIME_DIR", self->dir, 1);
	unsetenv("DISPLAY");
	unsetenv("WAYLAND_DISPLAY");
	unsetenv("BROWSER");
	run_line(&self->r, cmd_view, "view F", self->file);
	EXPECT_EQ(STATUS_FAILED, self->r.status);
	at = strstr(self->r.err, self->dir);
	ASSERT_NE(NULL, at);
	snprintf(path, sizeof(path), "%.*s", (int)strcspn(at, " "), at);
	EXPECT_EQ(0, unlink(path));
	setenv("BROWSER", "true", 1);
	run_line(&self->r, cmd_view, "view F", self->file);
	EXPECT_EQ(0, self->r.status);
	at = strstr(self->r.err, self->dir);
	ASSERT_NE(NULL, at);
	snprintf(path, sizeof(path), "%.*s", (int)strcspn(at, " "), at);
	EXPECT_EQ(0, unlink(path));
	setenv("BROWSER", "false", 1);
	run_line(&self->r, cmd_view, "view F", self->file);
	EXPECT_EQ(STATUS_FAILED, self->r.status);
	at = strstr(self->r.err, self->dir);
	ASSERT_NE(NULL, at);
	snprintf(path, sizeof(path), "%.*s", (int)strcspn(at, " "), at);
	EXPECT_EQ(0, unlink(path));
}

/* Of the same twice nothing differs; of what has no wide in it, wide is what is gone. */
TEST_F(profiles, difference_is_drawn)
{
	char svg[96], text[65536], *table;
	int fd;

	snprintf(svg, sizeof(svg), "%s/d.svg", self->dir);
	run_line(&self->r, cmd_diff, "diff F F --ignore start -n 9", self->file);
	table = strdup(self->r.out);
	ASSERT_NE(NULL, table);
	EXPECT_SAYS(table, "main");
	run_line(&self->r, cmd_diff, "diff F F -o D/d.svg --ignore start -n 9", self->file);
	EXPECT_EQ(0, self->r.status);
	/* the picture takes nothing from the table */
	EXPECT_STREQ(table, self->r.out);
	free(table);
	fd = open(svg, O_RDONLY);
	ASSERT_LE(0, fd);
	slurp(fd, text, sizeof(text));
	close(fd);
	/* as wide as both together */
	EXPECT_SAYS(text, "<title>main: 60.0 ms before, 60.0 ms now, +0.00%; +0.00% of all before<");
	EXPECT_LACKS(text, "class=\"g0", ">start");
	EXPECT_SAYS(text, "\"diff\":true");
	unlink(svg);
	run_line(&self->r, cmd_diff, "diff F F --subtract -o D/d.svg", self->file);
	EXPECT_EQ(STATUS_USAGE, self->r.status);
	EXPECT_SAYS(self->r.err, "--subtract");
	EXPECT_NE(0, access(svg, F_OK));
}

/* Two builds of a program, whose files have other names: their functions are the same. */
static const struct stack built[] = { { 60, 7, 7, "shop", 0, "main@/bin/shop:3 wide@/bin/shop:4" } };
static const struct stack rebuilt[] = {
	{ 60, 7, 7, "shop-2", 0, "main@/opt/shop-2:3 wide@/opt/shop-2:4" },
};

TEST_F(profiles, difference_of_a_renamed_program_is_none)
{
	char svg[96], page[96], other[96], text[65536];
	int fd;

	snprintf(svg, sizeof(svg), "%s/d.svg", self->dir);
	snprintf(page, sizeof(page), "%s/d.html", self->dir);
	snprintf(other, sizeof(other), "%s/new.pb.gz", self->dir);
	ASSERT_TRUE(write_profile(self->file, built, 1, self->source));
	ASSERT_TRUE(write_profile(other, rebuilt, 1, self->source));
	run_line(&self->r, cmd_diff, "diff F D/new.pb.gz -o D/d.svg", self->file);
	EXPECT_EQ(0, self->r.status);
	fd = open(svg, O_RDONLY);
	ASSERT_LE(0, fd);
	slurp(fd, text, sizeof(text));
	close(fd);
	EXPECT_SAYS(text, "<title>main: 60.0 ms before, 60.0 ms now, +0.00%; +0.00% of all before<",
		    "<title>wide: 60.0 ms before, 60.0 ms now, +0.00%; +0.00% of all before<");
	/* Each function is once in the page. */
	run_line(&self->r, cmd_view, "view F D/new.pb.gz -o D/d.html", self->file);
	EXPECT_EQ(0, self->r.status);
	fd = open(page, O_RDONLY);
	ASSERT_LE(0, fd);
	slurp(fd, text, sizeof(text));
	close(fd);
	EXPECT_SAYS(text, "[\"wide\",\"/opt/shop-2\"");
	EXPECT_LACKS(text, "\"/bin/shop\"");
	unlink(svg);
	unlink(page);
	unlink(other);
}

#define TEN	"1,1,1,1,1,1,1,1,1,1"
#define SIXTY	TEN "," TEN "," TEN "," TEN "," TEN "," TEN

TEST_F(profiles, what_finds_nothing_is_told)
{
	static const struct { const char *line; int status; const char *said; } rows[] = {
		{ "top F --focus nosuch", 0, "--focus nosuch: no function is like that" },
		{ "top F --ignore nosuch", 0, "--ignore nosuch: no function" },
		{ "top F --hide nosuch", 0, "--hide nosuch: no function" },
		{ "top F --comm nosuch", 0, "no sample has comm nosuch" },
		{ "top F --focus ( ", 2, "\"(\" is no regular expression" },
		{ "top F --focus a --focus b", 2, "\"a|b\"" }, { "top F --pid x", 2, "not \"x\"" },
		{ "top F --pid 7,,9", 2, "not \"7,,9\"" },
		{ "top F --label cpu", 2, "not \"cpu\"" },
		{ "top F --pid " SIXTY ",61,62,63,7", 0, "" },
		{ "top F --pid " SIXTY ",61,62,63,64,7", 2, "more than 64 words" },
		{ "top F --by proces", 2, "did you mean process?" },
		{ "top F --by nosuch", 2, "not \"nosuch\"" },
		{ "top --ratio F/F --by cpu", 2, "--ratio" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		run_line(&self->r, cmd_top, rows[i].line, self->file);
		EXPECT_EQ(rows[i].status, self->r.status);
		EXPECT_NE(NULL, strstr(self->r.err, rows[i].said))
			TH_LOG("%s: %s", rows[i].line, self->r.err);
	}
}

TEST_F(profiles, operands_in_the_wrong_order_are_told)
{
	char none[] = "nosuch", input[] = "-";

	EXPECT_EQ(STATUS_USAGE, function_match_operands("peek", (char *[]){ self->file, none }, 2));
	EXPECT_EQ(STATUS_OK, function_match_operands("peek", (char *[]){ self->file, input }, 2));
	EXPECT_EQ(STATUS_OK, function_match_operands("peek", (char *[]){ none, self->file }, 2));
}

static int print_heap(int argc, char **argv)
{
	(void)argc;
	return heap_text(argv[1], "heap", false, 0, false);
}

static int print_leaks(int argc, char **argv)
{
	return heap_text(argv[1], "heap", true, argc > 2 ? 1 : 0, false);
}

/*
 * Places are those of addresses, and of leaks those of lines; what is inlined has no address of its
 * own.
 */
TEST_F(profiles, heap_as_text)
{
	static const struct gprof_value_type types[] = {
		{ "alloc_objects", "count" }, { "alloc_space", "bytes" }, { "inuse_objects", "count" },
		{ "inuse_space", "bytes" },
	};
	const struct gprof_frame frames[] = {
		{ .function = "tiny", .file = "t.c", .line = 3, .mapping = "/p", .address = 0x10,
		  .inlined = true },
		{ .function = "leaf", .file = "l.c", .line = 4, .mapping = "/p", .address = 0x10 },
		{ .function = "main", .file = "", .mapping = "/p", .address = 0x20 },
	};
	const struct gprof_frame again[] = {
		{ .function = "leaf", .file = "l.c", .line = 4, .mapping = "/p", .address = 0x18 },
		{ .function = "main", .file = "", .mapping = "/p", .address = 0x28 },
		{ .function = "main", .file = "", .mapping = "/p", .address = 0x38 },
		{ .function = "main", .file = "", .mapping = "/p", .address = 0x28 },
	};
	const struct gprof_tag tags[] = { { .key = "pid", .num = 7 }, { .key = "pid", .num = 8 } };
	static const int64_t values[][4] = {
		{ 1, 10, 1, 10 }, { 4, 40, 2, 20 }, { 100, 1000, 0, 0 }, { 7, 5000, 3, 300 },
		{ 1, 40000, 1, 40000 }, { 2, 80000, 1, 20000 },
	};
	const struct gprof_profile_builder_config cfg = {
		.sz = sizeof(cfg), .types = types, .nr_types = 4,
	};
	struct gprof_profile_builder *b = gprof_profile_builder_new(&cfg);
	int fd = open(self->file, O_WRONLY | O_TRUNC);
	char *argv[] = { "heap", self->file, NULL };
	struct gprof_profile *p;

	/* of two processes, which is no other place; one that is freed; and one more */
	gprof_profile_builder_add(b, frames, 3, &tags[0], 1, values[0]);
	gprof_profile_builder_add(b, frames, 3, &tags[1], 1, values[1]);
	gprof_profile_builder_add(b, frames + 2, 1, NULL, 0, values[2]);
	gprof_profile_builder_add(b, frames + 1, 2, NULL, 0, values[3]);
	/* a line at two addresses, and one that calls itself */
	gprof_profile_builder_add(b, again, 2, NULL, 0, values[4]);
	gprof_profile_builder_add(b, again, 4, NULL, 0, values[5]);
	p = gprof_profile_builder_finish(b);
	ASSERT_EQ(0, gprof_profile_write(p, fd));
	close(fd);
	gprof_profile_free(p);
	RUN_OK(print_heap, argv);
	EXPECT_STREQ("heap profile: 8: 60330 [115: 126050] @ heapprofile\n"
		     "1: 40000 [1: 40000] @ 0x18 0x28\n"
		     "#\t0x18\tleaf\t\tl.c:4\n"
		     "#\t0x28\tmain\t\t/p\n"
		     "\n"
		     "1: 20000 [2: 80000] @ 0x18 0x28 0x38 0x28\n"
		     "#\t0x18\tleaf\t\tl.c:4\n"
		     "#\t0x28\tmain\t\t/p\n"
		     "#\t0x38\tmain\t\t/p\n"
		     "#\t0x28\tmain\t\t/p\n"
		     "\n"
		     "3: 300 [7: 5000] @ 0x10 0x20\n"
		     "#\t0x10\tleaf\t\tl.c:4\n"
		     "#\t0x20\tmain\t\t/p\n"
		     "\n"
		     "3: 30 [5: 50] @ 0x10 0x20\n"
		     "#\t0x10\ttiny\t\tt.c:3\n"
		     "#\t0x10\tleaf\t\tl.c:4\n"
		     "#\t0x20\tmain\t\t/p\n"
		     "\n"
		     "0: 0 [100: 1000] @ 0x20\n"
		     "#\t0x20\tmain\t\t/p\n"
		     "\n", self->r.out);
	RUN_OK(print_leaks, argv);
	EXPECT_STREQ("never freed: 58.9 KiB in 8 objects, from 3 places\n"
		     "\n"
		     "39.4 KiB in 4 objects\n"
		     "    leaf  l.c:4\n"
		     "    main  /p\n"
		     "\n"
		     "19.5 KiB in 1 object\n"
		     "    leaf  l.c:4\n"
		     "    main  /p  (3 times)\n"
		     "\n"
		     "30 B in 3 objects\n"
		     "    tiny  t.c:3\n"
		     "    leaf  l.c:4\n"
		     "    main  /p\n", self->r.out);
	RUN_OK(print_leaks, ARGV("heap", self->file, "one"));
	EXPECT_STREQ("never freed: 58.9 KiB in 8 objects, from 3 places\n"
		     "\n"
		     "39.4 KiB in 4 objects\n"
		     "    leaf  l.c:4\n"
		     "    main  /p\n"
		     "\n"
		     "2 more, with 19.6 KiB in 4 objects; -n N shows N\n", self->r.out);
}

/* Linkers give 8, 16 or 20 bytes; another note comes first, whose lengths are odd. */
TEST_F(profiles, a_build_id_has_any_length)
{
	static const char wanted[] = "a0a1a2a3a4a5a6a7a8a9aaabacadaeafb0b1b2b3";
	static const unsigned int sizes[] = { 8, 16, 20, 5 };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct {
			Elf64_Ehdr h;
			Elf64_Phdr p[3];
			Elf64_Nhdr other;
			char other_name[8], other_desc[4];
			Elf64_Nhdr n;
			char name[4];
			unsigned char id[20];
		} file = {
			.h = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB },
			       .e_phoff = sizeof(file.h), .e_phentsize = sizeof(*file.p),
			       .e_phnum = 3 },
			.p = {
				{ .p_type = PT_LOAD, .p_offset = 0x1000, .p_filesz = 0x20,
				  .p_vaddr = 0x401000 },
				{ .p_type = PT_NOTE, .p_offset = offsetof(typeof(file), other),
				  .p_filesz = sizeof(file) - offsetof(typeof(file), other) },
				{ .p_type = PT_LOAD, .p_offset = 0x1020, .p_filesz = 0x10,
				  .p_vaddr = 0x602020 },
			},
			.other = { 5, 1, NT_GNU_BUILD_ID }, .other_name = "GNUx",
			.n = { 4, sizes[i], NT_GNU_BUILD_ID }, .name = "GNU",
		};
		int fd = open(self->file, O_WRONLY | O_TRUNC);
		struct elf_place e;

		for (size_t k = 0; k < sizeof(file.id); k++)
			file.id[k] = (unsigned char)(0xa0 + k);
		ASSERT_EQ((ssize_t)sizeof(file), write(fd, &file, sizeof(file)));
		close(fd);
		ASSERT_EQ(NULL, elf_place_read(&e, self->file));
		EXPECT_EQ(2 * sizes[i], strlen(e.build_id));
		EXPECT_EQ(0, strncmp(wanted, e.build_id, 2 * sizes[i])) TH_LOG("%s", e.build_id);
		EXPECT_EQ(UINT64_MAX, elf_place_address(&e, 0xfff));
		EXPECT_EQ(0x401000, elf_place_address(&e, 0x1000));
		EXPECT_EQ(0x40101f, elf_place_address(&e, 0x101f));
		EXPECT_EQ(0x602020, elf_place_address(&e, 0x1020));
		EXPECT_EQ(0x60202f, elf_place_address(&e, 0x102f));
		EXPECT_EQ(UINT64_MAX, elf_place_address(&e, 0x1030));
	}
}

TEST_HARNESS_MAIN
