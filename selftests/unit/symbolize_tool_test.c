// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names for a profile that was recorded before there were any: what a recording of the
 * stripped program gets later is what a recording of the program has that was not stripped.
 */
#include "harness.h"
#include <gprof/profile.h>
#include <sys/sysmacros.h>

#include "cli/cmd.h"
#include "lib_util.h"
#include "profile/debug_package.h"
#include "record/builder.h"
#include "tool_run.h"

#define START	0x7f0000000000ULL
#define DUMP	(4U << 20)

static const char source[] =
"static volatile int sink;\n"
"static inline __attribute__((always_inline)) void add(int n)\n"
"{\n"
"	sink += n * n;\n"
"}\n"
"static __attribute__((noinline)) int inner(int n)\n"
"{\n"
"	for (int i = 0; i < n; i++)\n"
"		add(i);\n"
"	return sink;\n"
"}\n"
"__attribute__((noinline)) int exported(int n)\n"
"{\n"
"	return inner(n) + inner(n + 1);\n"
"}\n"
"int main(int argc, char **argv)\n"
"{\n"
"	(void)argv;\n"
"	return exported(argc) == -1;\n"
"}\n";

/* The program, and where its code is. */
struct code {
	uint64_t offset;	/* segment */
	uint64_t size;
	uint64_t text;		/* section, as an offset */
	uint64_t text_end;
	char id[64];
};

FIXTURE(symbolize) {
	char dir[64];
	char cwd[256];
	struct code code;
	struct ran r;
	char *wanted;
	char *got;
};

/* The first line of what a command says. */
static bool answer(char *line, size_t size, const char *cmd)
{
	FILE *f = popen(cmd, "r");
	bool ok = f && fgets(line, (int)size, f);

	if (f)
		pclose(f);
	line[strcspn(line, "\n")] = '\0';
	return ok;
}

/* Programs of one page of code lie as far in memory as in the file. */
static bool look(struct code *c, const char *file)
{
	char cmd[256], line[256];
	unsigned long long a, b, d;

	snprintf(cmd, sizeof(cmd), "readelf -lW %s | awk '/LOAD.*R E/ { print $2, $3, $5 }'", file);
	if (!answer(line, sizeof(line), cmd) || sscanf(line, "%llx %llx %llx", &a, &d, &b) != 3)
		return false;
	c->offset = a & ~4095ULL;
	c->size = (a + b + 4095) / 4096 * 4096 - c->offset;
	snprintf(cmd, sizeof(cmd), "readelf -SW %s | sed 's/^ *\\[ *//' | awk '$2 == \".text\" { print $5, $6 }'", file);
	if (!answer(line, sizeof(line), cmd) || sscanf(line, "%llx %llx", &a, &b) != 2)
		return false;
	c->text = a;
	c->text_end = a + b;
	snprintf(cmd, sizeof(cmd), "readelf -n %s | awk '/Build ID/ { print $3 }'", file);
	return answer(c->id, sizeof(c->id), cmd);
}

static bool build(FIXTURE_DATA(symbolize) *self)
{
	return !lib_sh("gcc -O2 -g -pie -fPIE -Wl,--build-id=sha1 -rdynamic a.c -o full && "
		       "objcopy --only-keep-debug full app.debug && cp full app") &&
	       look(&self->code, "full");
}

FIXTURE_SETUP(symbolize)
{
	if (!lib_have("gcc") || !lib_have("objcopy"))
		SKIP(return, "no gcc or no binutils");
	strcpy(self->dir, lib_tmpdir());
	ASSERT_NE(NULL, getcwd(self->cwd, sizeof(self->cwd)));
	ASSERT_EQ(0, chdir(self->dir));
	unsetenv("DEBUGINFOD_URLS");
	setenv("DEBUGINFOD_CACHE_PATH", self->dir, 1);
	ASSERT_TRUES(lib_put("a.c", source, strlen(source)), build(self));
	self->wanted = calloc(1, DUMP);
	self->got = calloc(1, DUMP);
}

FIXTURE_TEARDOWN(symbolize)
{
	free(self->wanted);
	free(self->got);
	if (!chdir(self->cwd))
		lib_sh("rm -rf %s", self->dir);
}

static void feed(struct gprof_decoder *d, const struct gprof_process *process, uint32_t id,
		 uint64_t address, uint64_t caller)
{
	struct { struct gprof_stack_rec s; uint64_t frames[2]; } stack = {
		.s = {
			.rec = { GPROF_REC_STACK, 0, sizeof(stack) }, .id = id, .exec_map_seq = 5,
			.process = *process, .nr_user = 2,
		},
		.frames = { address, caller },
	};
	struct gprof_sample_rec sample = {
		.rec = { GPROF_REC_SAMPLE, 0, sizeof(sample) }, .time = 200, .tid = 7, .stack = id,
	};

	gprof_decoder_feed(d, &stack.s.rec, sizeof(stack));
	for (uint32_t i = 0; i <= id % 3; i++)
		gprof_decoder_feed(d, &sample.rec, sizeof(sample));
}

/* A recording of the program as it lies at "app": each byte of its code was sampled. */
static bool record(FIXTURE_DATA(symbolize) *self, const char *to)
{
	struct gprof_generation_rec g = {
		.rec = { GPROF_REC_GENERATION, 0, sizeof(g) }, .weight = 10, .cpu = 1,
	};
	struct { struct gprof_map_rec m; char path[128]; } map = { .m = {
			  .rec = { GPROF_REC_MAP, GPROF_MAP_REC_F_FIRST | GPROF_MAP_REC_F_LAST,
				   sizeof(map) },
			  .process = { 7, 1, 1 },
			  .time = 100,
			  .start = START,
			  .end = START + self->code.size,
			  .offset = self->code.offset,
			  .exec_map_seq = 5,
		  } };
	struct gprof_columns columns = {
		.count_type = "samples", .weight_type = "cycles", .weight_unit = "count", .period = 10,
	};
	struct gprof_profile *p = NULL;
	struct gprof_decoder d;
	struct gprof_builder b;
	struct stat st;
	int fd, err;

	snprintf(map.m.path, sizeof(map.path), "%s/app", self->dir);
	if (stat("app", &st) || gprof_builder_init(&b))
		return false;
	map.m.inode = st.st_ino;
	map.m.dev_major = major(st.st_dev);
	map.m.dev_minor = minor(st.st_dev);
	gprof_decoder_init(&d, &gprof_builder_ops, &b);
	gprof_decoder_feed(&d, &g.rec, sizeof(g));
	err = gprof_spaces_map(&b.spaces, &map.m, map.m.path);
	for (uint64_t at = self->code.text; at < self->code.text_end; at++)
		feed(&d, &map.m.process, (uint32_t)(at - self->code.text + 1),
		     START + at - self->code.offset,
		     START + self->code.text_end - self->code.offset);
	if (!err)
		err = gprof_builder_profile(&b, &columns, &p);
	fd = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (!err)
		err = gprof_profile_write(p, fd);
	close(fd);
	gprof_profile_free(p);
	gprof_decoder_free(&d);
	gprof_builder_free(&b);
	return !err;
}

static void dump_location(FILE *f, const struct gprof_profile *p, const struct gprof_location *l)
{
	const struct gprof_line *line = p->lines + l->lines;

	fprintf(f, " %u:%llx", l->mapping, (unsigned long long)l->address);
	for (uint32_t i = 0; i < l->nr_lines; i++, line++) {
		const struct gprof_function *fn = &p->functions[line->function];

		fprintf(f, "[%s,%s,%s:%lld,%lld,%lld]", p->strings.v[fn->name],
			p->strings.v[fn->system_name], p->strings.v[fn->filename], (long long)line->line,
			(long long)line->column, (long long)fn->start_line);
	}
}

/* Everything that a profile says, but for how it numbers that. */
static bool dump(const char *file, char *text)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	struct gprof_profile *p = gprof_profile_read(fd);
	FILE *f = fmemopen(text, DUMP, "w");

	close(fd);
	for (size_t i = 0; p && i < p->nr_mappings; i++) {
		const struct gprof_mapping *m = &p->mappings[i];

		fprintf(f, "map %llx %llx %llx %s %s %d%d%d%d\n", (unsigned long long)m->start,
			(unsigned long long)m->limit, (unsigned long long)m->offset,
			p->strings.v[m->filename], p->strings.v[m->build_id], m->has_functions,
			m->has_filenames, m->has_line_numbers, m->has_inline_frames);
	}
	for (size_t i = 0; p && i < p->nr_samples; i++) {
		const struct gprof_sample *s = &p->samples[i];
		const struct gprof_label_set *set = &p->label_sets[s->labels];

		for (size_t j = 0; j < p->nr_columns; j++)
			fprintf(f, "%lld ", (long long)p->values[i * p->nr_columns + j]);
		for (size_t j = 0; j < set->nr; j++) {
			const struct gprof_label *l = &p->labels[set->first + j];

			fprintf(f, "%s=%s%lld%s ", p->strings.v[l->key], p->strings.v[l->str],
				(long long)l->num, p->strings.v[l->unit]);
		}
		for (size_t j = 0; j < s->nr_locations; j++)
			dump_location(f, p, &p->locations[p->stacks[s->locations + j]]);
		fputc('\n', f);
	}
	for (size_t i = 0; p && i < p->nr_comments; i++)
		fprintf(f, "comment %s\n", p->strings.v[p->comments[i]]);
	fclose(f);
	gprof_profile_free(p);
	return p;
}

static void symbolize(FIXTURE_DATA(symbolize) *self, const char *options)
{
	char line[512], *argv[16], *rest = line;
	int n = 0;

	snprintf(line, sizeof(line), "symbolize old.pb.gz %s", options);
	while ((argv[n] = strsep(&rest, " ")))
		n += argv[n][0] != '\0';
	run(&self->r, cmd_symbolize, argv, -1);
}

/* Places of debug files, what leads to them, and what is said where they are not there. */
TEST_F(symbolize, a_stripped_program_gets_what_the_whole_one_has)
{
	static const struct {
		const char *before;	/* the shell makes things so */
		const char *options;
	} rows[] = {
		{ "strip app", "--file app.debug" },
		{ "strip app", "--debug-dir none --debug-dir dbg" },
		{ "rm app", "--file app.debug" }, { "rm app", "--debug-dir dbg" },
		{ "rm app", "--file full" }, { "strip app", "--file app.debug --file full" },
		{ "cp full app", "" },
		/* a debug file beside it that is none is not in the way */
		{ "cp full app; mkdir .debug; echo x >.debug/app.debug", "" },
	};

	ASSERT_EQ(0, lib_sh("mkdir -p dbg/.build-id/%.2s && cp app.debug dbg/.build-id/%.2s/%s.debug",
			    self->code.id, self->code.id, self->code.id + 2));
	ASSERT_TRUES(record(self, "whole.pb.gz"), dump("whole.pb.gz", self->wanted));
	ASSERT_NE(NULL, strstr(self->wanted, "[add,add,"));
	ASSERT_NE(NULL, strstr(self->wanted, "[inner,inner,"));
	ASSERT_EQ(0, lib_sh("strip app"));
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		ASSERT_EQ(0, lib_sh("cp full app && strip app"));
		ASSERT_TRUES(record(self, "old.pb.gz"), dump("old.pb.gz", self->got));
		ASSERT_EQ(NULL, strstr(self->got, "[inner,"));
		ASSERT_NE(NULL, strstr(self->got, "[app+0x"));
		ASSERT_EQ(0, lib_sh("%s", rows[i].before));
		symbolize(self, rows[i].options);
		EXPECT_EQ(0, self->r.status);
		EXPECT_SAYS(self->r.err, "named ");
		ASSERT_TRUE(dump("old.pb.gz", self->got));
		EXPECT_STREQ(self->wanted, self->got)
			TH_LOG("%s: %s: %s", rows[i].before, rows[i].options, self->r.err);
		/* what it was before is kept, once: there is nothing more to do */
		EXPECT_EQ(0, access("old.pb.gz~", F_OK));
		unlink("old.pb.gz~");
		symbolize(self, rows[i].options);
		EXPECT_EQ(0, self->r.status);
		EXPECT_NE(0, access("old.pb.gz~", F_OK));
	}
}

/* Each is told, and the profile is as it was. */
TEST_F(symbolize, what_is_not_the_file_is_told_and_nothing_of_it_taken)
{
	static const struct {
		const char *before;
		const char *options;
		int status;
		const char *told[2];
	} rows[] = {
		{ "true", "", 1, { "it is stripped, and no debug file of it was found",
				   "set DEBUGINFOD_URLS, or give its debug file by --file" } },
		{ "rm app", "", 1, { "neither it nor a debug file of it was found", "named 0 of " } },
		{ "cp other app", "", 1, { "app is of another build now" } },
		{ "true", "--file other", 1, { "the profile has nothing without names of this build-id" } },
		{ "head -c 2000 app.debug >short", "--file short", 1, { "debug data unsound or too large" } },
		{ "true", "--file a.c", 1, { "a.c is no ELF file with a build-id" } },
		{ "true", "--file absent", 1, { "absent cannot be read (No such file or directory)" } },
		{ "true", "--file .", 1, { "cannot be read" } },
		{ "mkdir -p dbg/.build-id/ID && cp other dbg/.build-id/IDREST.debug", "--debug-dir dbg", 1,
		  { ".debug is damaged, or of another build" } },
		{ "true", "--debuginfod", 1, { "DEBUGINFOD_URLS names no server" } },
		{ "true", "-o /nonexistent/x", 1, { "/nonexistent/x cannot be written" } },
		{ "true", "another.pb.gz", 2, { "symbolize wants one profile" } },
	};

	ASSERT_EQ(0, lib_sh("cp a.c b.c && echo 'int b;' >>b.c && "
			    "gcc -O2 -g -pie -fPIE -Wl,--build-id=sha1 b.c -o other"));
	ASSERT_EQ(0, lib_sh("strip app"));
	ASSERT_TRUES(record(self, "first.pb.gz"), dump("first.pb.gz", self->wanted));
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		ASSERT_EQ(0, lib_sh("cp first.pb.gz old.pb.gz && rm -rf dbg && cp full app && strip app"));
		ASSERT_EQ(0, lib_sh("$(echo '%s' | grep -q ID && echo true || echo false) && "
				    "{ mkdir -p dbg/.build-id/%.2s && cp other dbg/.build-id/%.2s/%s.debug; } || { %s; }",
				    rows[i].before, self->code.id, self->code.id, self->code.id + 2,
				    rows[i].before));
		symbolize(self, rows[i].options);
		EXPECT_EQ(rows[i].status, self->r.status)
			TH_LOG("%s: %s", rows[i].options, self->r.err);
		for (size_t j = 0; j < 2 && rows[i].told[j]; j++) {
			EXPECT_NE(NULL, strstr(self->r.err, rows[i].told[j]))
				TH_LOG("%s: %s", rows[i].told[j], self->r.err);
		}
		ASSERT_TRUE(dump("old.pb.gz", self->got));
		EXPECT_STREQ(self->wanted, self->got);
		EXPECT_NE(0, access("old.pb.gz~", F_OK));
	}
}

/* Where in a file code lay a debug file knows of a mapping of the whole segment alone. */
TEST_F(symbolize, a_piece_of_code_is_not_guessed)
{
	ASSERT_EQ(0, lib_sh("strip app"));
	self->code.size += 4096;
	ASSERT_TRUES(record(self, "old.pb.gz"), dump("old.pb.gz", self->wanted));
	ASSERT_EQ(0, lib_sh("mv app stripped"));
	symbolize(self, "--file app.debug");
	EXPECT_EQ(1, self->r.status);
	EXPECT_SAYS(self->r.err, "does not say where in it the code lay");
	ASSERT_TRUE(dump("old.pb.gz", self->got));
	EXPECT_STREQ(self->wanted, self->got);
	/* the file itself does */
	symbolize(self, "--file app.debug --file stripped");
	EXPECT_EQ(0, self->r.status);
	ASSERT_TRUE(dump("old.pb.gz", self->got));
	EXPECT_SAYS(self->got, "[add,add,");
}

/* Wherever a debug file ends, or is not what it was: told, or names, never the end of us. */
TEST_F(symbolize, a_damaged_debug_file_is_no_end)
{
	struct stat st;
	off_t at;

	ASSERT_EQ(0, lib_sh("strip app"));
	ASSERT_TRUE(record(self, "old.pb.gz"));
	ASSERT_EQ(0, stat("app.debug", &st));
	for (int i = 0; i < 40; i++) {
		at = st.st_size * i / 40;
		ASSERT_EQ(0, i % 2 ? lib_sh("head -c %lld app.debug >bad", (long long)at) :
			  lib_sh("cp app.debug bad && dd if=full of=bad bs=1 count=64 skip=%d "
				 "seek=%lld conv=notrunc 2>/dev/null", 4096 + 64 * i, (long long)at));
		symbolize(self, "--file bad -o new.pb.gz");
		EXPECT_GE(1, self->r.status)
			TH_LOG("%d at %lld: status %d, %s", i, (long long)at, self->r.status, self->r.err);
		EXPECT_NE(0, strlen(self->r.err));
		if (i % 2) {
			EXPECT_EQ(1, self->r.status);
			EXPECT_TRUE(strstr(self->r.err, "bad is") || strstr(self->r.err, "unsound"))
				TH_LOG("%d: %s", i, self->r.err);
		}
	}
}

/* elfutils' server, asked because the environment names it; not where that is forbidden. */
TEST_F(symbolize, a_server_is_asked_where_the_environment_names_one)
{
	char url[64];
	pid_t pid;

	if (!lib_have("debuginfod"))
		SKIP(return, "there is no debuginfod");
	ASSERT_TRUES(record(self, "whole.pb.gz"), dump("whole.pb.gz", self->wanted));
	ASSERT_EQ(0, lib_sh("strip app"));
	ASSERT_TRUE(record(self, "old.pb.gz"));
	ASSERT_EQ(0, lib_sh("mkdir served && cp app.debug served && rm app full app.debug"));
	snprintf(url, sizeof(url), "%d", 20000 + getpid() % 20000);
	pid = fork();
	if (!pid) {
		int null = open("/dev/null", O_RDWR);

		dup2(null, 1);
		dup2(null, 2);
		execlp("debuginfod", "debuginfod", "-F", "-p", url, "-d", ":memory:", "-t", "1", "served",
		       NULL);
		_exit(127);
	}
	snprintf(url, sizeof(url), "http://127.0.0.1:%d", 20000 + getpid() % 20000);
	setenv("DEBUGINFOD_URLS", url, 1);
	symbolize(self, "--no-debuginfod");
	EXPECT_EQ(1, self->r.status);
	EXPECT_SAYS(self->r.err, "leave out --no-debuginfod");
	for (int i = 0; i < 300 && self->r.status; i++) {
		lib_sh("rm -rf %s/????????????????????????????????????????", self->dir);
		usleep(100000);
		symbolize(self, "");
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	EXPECT_EQ(0, self->r.status) TH_LOG("%s", self->r.err);
	ASSERT_TRUE(dump("old.pb.gz", self->got));
	EXPECT_STREQ(self->wanted, self->got);
}

/* Of other tools, or made to do harm: mappings that are none, odd build-ids. */
TEST_F(symbolize, wild_mappings_are_told)
{
	static const struct {
		uint64_t start, limit, offset, address;
		const char *file, *build_id, *told;
	} rows[] = {
		{ 0, 0, 0, 0x1000, "/x/none", "", "none: 1 location: the profile has no build-id" },
		{ 0x1000, 0x2000, 0, 0x1800, "[anon]", "", "[anon]: 1 location: the profile has no build-id" },
		{ 0x1000, 0x2000, 0, 0x1800, "/x/odd", "abc", "odd (build-id abc...): 1 location: what the profile has for its build-id is none" },
		{ 0x1000, 0x2000, 0, 0x1800, "/x/up", "../../../../etc/passwd", "is none" },
		{ 0x1000, 0x2000, 0, 0x1800, "/x/long", "0123456789012345678901234567890123456789012345678901234567890123456789", "is none" },
		{ 0x1000, 0x2000, 0, 0x1800, "/x/two\033[2J", "0123456789abcdef", "two?[2J (build-id 0123456789ab...): 1 location: neither" },
		{ 0, UINT64_MAX, UINT64_MAX, UINT64_MAX, "APP", "ID", "app (build-id " },
		{ UINT64_MAX, 1, UINT64_MAX, 7, "APP", "ID", "their addresses are outside of it" },
		{ 0xffffffff80000000, UINT64_MAX, 0, 0xffffffff80000010, "[kernel.kallsyms]", "0123456789", "kptr_restrict" },
	};
	struct gprof_profile *p = gprof_profile_new();
	const char *app = lib_text("%s/app", self->dir);
	uint32_t at;
	int fd;

	ASSERT_EQ(0, gprof_profile_add_column(p, "samples", "count"));
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *file = strcmp(rows[i].file, "APP") ? rows[i].file : app;
		const char *id = strcmp(rows[i].build_id, "ID") ? rows[i].build_id : self->code.id;
		struct gprof_mapping m = {
			.start = rows[i].start, .limit = rows[i].limit, .offset = rows[i].offset,
			.filename = gprof_profile_text(p, file), .build_id = gprof_profile_text(p, id),
		};

		at = gprof_profile_append_location(p, gprof_profile_add_mapping(p, &m) + 1,
						   rows[i].address);
		ASSERT_EQ(0, gprof_profile_add_sample(p, &at, 1, NULL, 0, (int64_t[]){ 5 }));
	}
	/* and one that is of no mapping */
	at = gprof_profile_append_location(p, 0, 0x4711);
	ASSERT_EQ(0, gprof_profile_add_sample(p, &at, 1, NULL, 0, (int64_t[]){ 5 }));
	fd = open("old.pb.gz", O_WRONLY | O_CREAT, 0600);
	ASSERT_EQ(0, gprof_profile_write(p, fd));
	close(fd);
	gprof_profile_free(p);
	ASSERT_TRUE(dump("old.pb.gz", self->wanted));
	symbolize(self, "");
	EXPECT_EQ(1, self->r.status);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		EXPECT_NE(NULL, strstr(self->r.err, rows[i].told))
			TH_LOG("%s: %s", rows[i].told, self->r.err);
	}
	EXPECT_SAYS(self->r.err, "no mapping: 1 location: the profile does not say",
		    "named 0 of 10 locations");
	EXPECT_EQ(NULL, strchr(self->r.err, '\033'));
	ASSERT_TRUE(dump("old.pb.gz", self->got));
	EXPECT_STREQ(self->wanted, self->got);
	ASSERT_TRUE(lib_put("old.pb.gz", "no profile", 10));
	symbolize(self, "");
	EXPECT_EQ(1, self->r.status);
	EXPECT_SAYS(self->r.err, "old.pb.gz is text");
}

TEST_F(symbolize, views_say_what_would_name_it)
{
	char *top[] = { "top", "old.pb.gz", NULL }, *view[] = { "view", "old.pb.gz", "-o", "x.html", NULL };
	static const char hint[] = "could have names: install debug symbols of app, or set "
				   "DEBUGINFOD_URLS, then gprofctl symbolize old.pb.gz\n";

	ASSERT_EQ(0, lib_sh("strip app"));
	ASSERT_TRUE(record(self, "old.pb.gz"));
	run(&self->r, cmd_top, top, -1);
	EXPECT_SAYS(self->r.out, hint);
	RUN_OK(cmd_view, view);
	EXPECT_SAYS(self->r.err, hint);
	setenv("DEBUGINFOD_URLS", "http://127.0.0.1:1", 1);
	run(&self->r, cmd_top, top, -1);
	EXPECT_SAYS(self->r.out,
		    "gprofctl symbolize old.pb.gz asks http://127.0.0.1:1, or " "install debug symbols of app before\n");
	symbolize(self, "--no-debuginfod --file app.debug");
	EXPECT_EQ(0, self->r.status);
	run(&self->r, cmd_top, top, -1);
	EXPECT_LACKS(self->r.out, "could have names");
	run(&self->r, cmd_view, view, -1);
	EXPECT_STREQ("", self->r.err);
}

TEST_F(symbolize, packages_are_those_that_dpkg_has)
{
	static const char *const paths[] = {
		"/usr/lib/libx.so.1", "/lib/libc.so.6", "/usr/bin/none", "/usr/lib/libx.so", "relative",
		"/usr/lib/libx.so.1\n/etc",
	};
	char *names[6];

	ASSERT_TRUE(lib_write(".", "info/libx1:amd64.list", "/.\n/usr\n/usr/lib/libx.so.1\n/usr/lib/libx.so.12\n"));
	ASSERT_TRUE(lib_write(".", "info/libc6:amd64.list", "/.\n/usr/lib/libc.so.6\n"));
	ASSERT_TRUE(lib_write(".", "info/libc6.md5sums", "/usr/bin/none\n"));
	ASSERT_TRUE(lib_write(".", "info/empty.list", ""));
	debug_packages("info", paths, 6, names);
	EXPECT_STREQS("libx1-dbgsym", names[0], "libc6-dbg", names[1]);
	for (size_t i = 2; i < 6; i++)
		EXPECT_EQ(NULL, names[i]);
	free(names[0]);
	free(names[1]);
	debug_packages("absent", paths, 1, names);
	EXPECT_EQ(NULL, names[0]);
}

TEST_HARNESS_MAIN
