// SPDX-License-Identifier: GPL-2.0-only
/*
 * From records to a profile with names, for programs that really run.
 */
#include "harness.h"

#include <link.h>
#include <sys/auxv.h>

#include "record/evict.h"
#include "record/builder.h"
#include "record/report.h"
#include "symbol/process_files.h"
#include "symbol/service.h"
#include "lib_util.h"

static const char program[] =
	"#include <stdio.h>\n"
	"#include <unistd.h>\n"
	"extern void leaf(void), framed_in(void), *lib_work_address(void);\n"
	"volatile int v;\n"
	"__attribute__((noinline)) void work(void) { v++; }\n"
	"__asm__(\".text\\n.globl leaf\\n.type leaf,@function\\nleaf:\\n.cfi_startproc\\nnop\\nret\\n\"\n"
	"	\".cfi_endproc\\n.size leaf,.-leaf\\n\"\n"
	"	\".globl framed\\n.type framed,@function\\nframed:\\n.cfi_startproc\\n\"\n"
	"#ifdef __x86_64__\n"
	"	\"push %rbp\\n.cfi_def_cfa_offset 16\\nmov %rsp,%rbp\\n.cfi_def_cfa_register 6\\n\"\n"
	"#else\n"
	"	\"stp x29,x30,[sp,#-16]!\\n.cfi_def_cfa_offset 16\\n.cfi_offset 30,-8\\n\"\n"
	"#endif\n"
	"	\".globl framed_in\\nframed_in: nop\\nret\\n.cfi_endproc\\n.size framed,.-framed\\n\");\n"
	"int main(void)\n"
	"{\n"
	"	char line[512];\n"
	"	FILE *f = fopen(\"/proc/self/maps\", \"r\");\n"
	"	printf(\"work %p\\nleaf %p\\nframed_in %p\\nmain %p\\n\", work, leaf, framed_in, main);\n"
	"#ifndef ALONE\n"
	"	printf(\"lib_work %p\\n\", lib_work_address());\n"
	"#endif\n"
	"	while (fgets(line, sizeof(line), f)) fputs(line, stdout);\n"
	"	puts(\"end\");\n"
	"	fflush(stdout);\n"
	"	return getchar();\n"
	"}\n";

/* A fixed program takes its stub for the function's address; the library knows better. */
static const char library[] =
	"volatile int w;\n"
	"void lib_work(void) { w++; }\n"
	"__attribute__((visibility(\"hidden\"), alias(\"lib_work\"))) void alias(void);\n"
	"void *lib_work_address(void) { return alias; }\n";

/*
 * A program that waits, and what it said about itself. Without a @comm it is called "prog",
 * without a @tid its first thread is sampled.
 */
struct child {
	pid_t pid;
	uint32_t tid;
	uint32_t exec_id;
	uint64_t start_ns;
	int in;
	char comm[16];
	uint64_t work, leaf, framed_in, main, lib_work, vdso;
	struct {
		struct gprof_map_rec rec;
		char path[256];
	} maps[64];
	size_t nr_maps;
};

static bool start(struct child *c, const char *dir)
{
	int in[2], out[2];
	char line[512], path[128], perms[8], name[256];
	unsigned long lo, hi, off, ino;
	unsigned int major, minor;
	FILE *f;

	memset(c, 0, sizeof(*c));
	if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC))
		return false;
	snprintf(path, sizeof(path), "%s/prog", dir);
	c->pid = fork();
	if (!c->pid) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		execl(path, path, NULL);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	c->in = in[1];
	c->start_ns = lib_start_ns(c->pid);
	c->exec_id = 1;
	f = fdopen(out[0], "r");
	while (fgets(line, sizeof(line), f) && strcmp(line, "end\n")) {
		struct gprof_map_rec *m = &c->maps[c->nr_maps].rec;

		sscanf(line, "work %lx", &c->work);
		sscanf(line, "leaf %lx", &c->leaf);
		sscanf(line, "framed_in %lx", &c->framed_in);
		sscanf(line, "main %lx", &c->main);
		sscanf(line, "lib_work %lx", &c->lib_work);
		name[0] = '\0';
		if (sscanf(line, "%lx-%lx %7s %lx %x:%x %lu %255[^\n]", &lo, &hi, perms, &off, &major,
			   &minor, &ino, name) < 7 || perms[2] != 'x')
			continue;
		if (!strcmp(name, "[vdso]"))
			c->vdso = lo;
		*m = (struct gprof_map_rec){
			.rec = { GPROF_REC_MAP, 0, sizeof(c->maps[0]) },
			.process = { c->pid, 1, c->start_ns },
			.time = 100,
			.start = lo,
			.end = hi,
			.offset = off,
			.inode = ino,
			.dev_major = major,
			.dev_minor = minor,
			.exec_map_seq = 5,
		};
		strcpy(c->maps[c->nr_maps++].path, name);
	}
	fclose(f);
	if (c->nr_maps) {
		c->maps[0].rec.rec.flags |= GPROF_MAP_REC_F_FIRST;
		c->maps[c->nr_maps - 1].rec.rec.flags |= GPROF_MAP_REC_F_LAST;
	}
	return c->nr_maps && c->work;
}

static void end(struct child *c)
{
	if (!c->pid)
		return;
	kill(c->pid, SIGKILL);
	waitpid(c->pid, NULL, 0);
	close(c->in);
	c->pid = 0;
}

FIXTURE(builder) {
	const char *dir;
	struct child c;
	struct gprof_builder b;
	struct gprof_decoder d;
	struct gprof_profile *p;
	uint32_t next_id;
	struct gprof_eviction aging;
};

static int begin_generation(FIXTURE_DATA(builder) *self)
{
	struct gprof_generation_rec g = {
		.rec = { GPROF_REC_GENERATION, 0, sizeof(g) }, .weight = 1000, .cpu = 1,
	};

	return gprof_decoder_feed(&self->d, &g.rec, sizeof(g));
}

FIXTURE_SETUP(builder)
{
	self->dir = lib_tmpdir();
	ASSERT_NE(NULL, self->dir);
	gprof_eviction_init(&self->aging);
	ASSERT_EQ(0, gprof_builder_init(&self->b));
	gprof_decoder_init(&self->d, &gprof_builder_ops, &self->b);
	ASSERT_EQ(0, begin_generation(self));
}

FIXTURE_TEARDOWN(builder)
{
	end(&self->c);
	gprof_profile_free(self->p);
	gprof_decoder_free(&self->d);
	gprof_builder_free(&self->b);
	gprof_eviction_free(&self->aging);
	lib_sh("rm -rf %s", self->dir);
}

static bool build(const char *dir, const char *flags, bool alone)
{
	lib_write(dir, "prog.c", program);
	lib_write(dir, "lib.c", library);
	if (alone)
		return !lib_sh("cd %s && gcc -O1 -g -DALONE %s -o prog prog.c", dir, flags);
	return !lib_sh("cd %s && gcc -O1 -shared -fPIC -o libw.so lib.c && "
		       "gcc -O1 -g %s -o prog prog.c -L. -lw -Wl,-rpath,%s", dir, flags, dir);
}

static void feed_maps(FIXTURE_DATA(builder) *self, struct child *c)
{
	for (size_t i = 0; i < c->nr_maps; i++) {
		c->maps[i].rec.process.exec_id = c->exec_id;
		c->maps[i].rec.process.start_ns = c->start_ns;
		gprof_decoder_feed(&self->d, &c->maps[i].rec.rec, sizeof(c->maps[i]));
	}
}

/* A stack of up to 4 user frames, 0 ends it; of a task that is named. */
static void feed_stack(FIXTURE_DATA(builder) *self, const struct child *c, uint16_t flags,
		       const uint64_t frames[4])
{
	struct {
		struct gprof_stack_rec s;
		uint64_t frames[4];
	} r = {
		.s = {
			.rec = { GPROF_REC_STACK, flags, sizeof(r) },
			.id = ++self->next_id,
			.exec_map_seq = 5,
			.process = { c->pid, c->exec_id, c->start_ns },
		},
	};
	struct gprof_task_rec t = {
		.rec = { GPROF_REC_TASK, 0, sizeof(t) },
		.process = { c->pid, c->exec_id, c->start_ns },
		.tid = c->tid ? c->tid : (uint32_t)c->pid,
	};

	strcpy(t.comm, c->comm[0] ? c->comm : "prog");
	while (r.s.nr_user < 4 && frames[r.s.nr_user]) {
		r.frames[r.s.nr_user] = frames[r.s.nr_user];
		r.s.nr_user++;
	}
	gprof_decoder_feed(&self->d, &t.rec, sizeof(t));
	gprof_decoder_feed(&self->d, &r.s.rec, sizeof(r));
}

static void feed_sample(FIXTURE_DATA(builder) *self, const struct child *c, uint16_t flags,
			const uint64_t frames[4])
{
	struct gprof_sample_rec s = {
		.rec = { GPROF_REC_SAMPLE, 0, sizeof(s) },
		.time = 200,
		.tid = c->tid ? c->tid : (uint32_t)c->pid,
	};

	feed_stack(self, c, flags, frames);
	s.stack = self->next_id;
	gprof_decoder_feed(&self->d, &s.rec, sizeof(s));
}

static const struct gprof_columns columns = {
	.count_type = "samples",
	.weight_type = "cycles",
	.weight_unit = "count",
	.period = 1000,
};

static const struct gprof_object_table no_table;

static void drop(FIXTURE_DATA(builder) *self)
{
	gprof_profile_free(self->p);
	self->p = NULL;
}

static int make(FIXTURE_DATA(builder) *self)
{
	int err = gprof_builder_profile(&self->b, &columns, &self->p);

	return err ? err : gprof_profile_finish(self->p);
}

static int evict(FIXTURE_DATA(builder) *self)
{
	return gprof_evict(&self->aging, &self->b, &columns, &no_table, &self->d, 1);
}

/* So many times, with room for nothing. */
static int evict_all(FIXTURE_DATA(builder) *self, int times)
{
	int err = 0;

	while (times-- && !err) {
		self->aging.max = 0;
		err = evict(self);
	}
	return err;
}

/* As the stream does. */
static int next_profile(FIXTURE_DATA(builder) *self)
{
	int err = gprof_builder_next(&self->b);

	gprof_decoder_forget(&self->d);
	gprof_eviction_next(&self->aging);
	return err;
}

struct text {
	char v[1024];
};

static int join(void *ctx, const struct gprof_frame *frames, size_t nr, const int64_t *values)
{
	struct text *t = ctx;

	for (size_t i = 0; i < nr; i++) {
		strcat(t->v, i ? " " : "");
		strcat(t->v, frames[i].function);
	}
	strcat(t->v, ";");
	return 0;
}

#define STACKS(want) do {						\
	struct text _t = { "" };					\
	gprof_profile_each(self->p, join, &_t);				\
	EXPECT_STREQ(want, _t.v);					\
} while (0)

#define MAKES(want) do {						\
	ASSERT_EQ(0, make(self));					\
	STACKS(want);							\
} while (0)

/* What pprof wants of mappings and locations. */
static void check_shape(struct __test_metadata *_metadata, const struct gprof_profile *p)
{
	for (size_t i = 0; i < p->nr_locations; i++) {
		const struct gprof_location *l = &p->locations[i];

		if (!l->mapping)
			continue;
		EXPECT_LE(p->mappings[l->mapping - 1].start, l->address);
		EXPECT_GT(p->mappings[l->mapping - 1].limit, l->address);
	}
}

static void check_names(struct __test_metadata *_metadata, FIXTURE_DATA(builder) *self)
{
	const char *want = lib_text("%s/prog", self->dir);

	MAKES("lib_work work main;");
	check_shape(_metadata, self->p);
	EXPECT_STREQ(want, self->p->strings.v[self->p->mappings[0].filename]);
	EXPECT_NE(0, self->p->mappings[0].build_id);
	EXPECT_TRUES(self->p->mappings[0].has_functions, self->p->mappings[0].has_line_numbers,
		     self->p->mappings[0].has_inline_frames);
	/* The library has no DWARF. */
	EXPECT_TRUE(self->p->mappings[1].has_functions);
	EXPECT_ZEROS(self->p->mappings[1].has_filenames, self->p->mappings[1].has_inline_frames);
}

#define START_WITH(flags) do {						\
	if (!lib_have("gcc"))						\
		SKIP(return, "gcc is not installed");			\
	ASSERT_TRUE(build(self->dir, flags, false));			\
	ASSERT_TRUE(start(&self->c, self->dir));			\
	ASSERT_NE(0, self->c.lib_work);					\
} while (0)

/* lib_work called by work called by main; return addresses lie behind calls. */
#define CHAIN(c)	(c).lib_work, (c).work + 3, (c).main + 3

#define SAMPLE(c, ...)	feed_sample(self, &(c), 0, (const uint64_t[4]){ __VA_ARGS__ })

#define START()	START_WITH("-fPIE -pie")

#define START_MAPPED() do {						\
	START();							\
	feed_maps(self, &self->c);					\
} while (0)

#define START_SAMPLED(flags) do {					\
	START_WITH(flags);						\
	feed_maps(self, &self->c);					\
	SAMPLE(self->c, CHAIN(self->c));				\
} while (0)

TEST_F(builder, a_pie_and_its_library_have_names)
{
	START_SAMPLED("-fPIE -pie");
	check_names(_metadata, self);
}

/* Names come when all else is in the profile: what it was made of would lie beside them. */
TEST_F(builder, the_last_profile_has_all_and_leaves_nothing_counted)
{
	START_SAMPLED("-fPIE -pie");
	self->b.last = true;
	check_names(_metadata, self);
	EXPECT_EQS(0, self->b.nr_counts, NULL, self->b.counts, NULL, self->b.stacks.frames,
		   NULL, self->b.counts_table.slots);
}

TEST_F(builder, a_fixed_program_and_its_library_have_names)
{
	START_SAMPLED("-fno-pie -no-pie");
	check_names(_metadata, self);
}

TEST_F(builder, a_static_program_has_names)
{
	if (!lib_have("gcc"))
		SKIP(return, "gcc is not installed");
	ASSERT_TRUES(build(self->dir, "-static", true), start(&self->c, self->dir));
	feed_maps(self, &self->c);
	SAMPLE(self->c, self->c.work, self->c.main + 3);
	MAKES("work main;");
}

TEST_F(builder, a_return_address_at_the_end_of_a_function_belongs_to_it)
{
	START_MAPPED();
	/* A call that does not return may be the last instruction: the next
	 * function begins at its return address.
	 */
	SAMPLE(self->c, self->c.lib_work, self->c.leaf + 2);
	MAKES("lib_work leaf;");
}

TEST_F(builder, a_deleted_program_keeps_its_names)
{
	START();
	/* As the kernel tells it: the path no longer leads there. */
	lib_sh("rm %s/prog %s/libw.so", self->dir, self->dir);
	if (access("/proc/1/map_files", R_OK | X_OK))
		SKIP(return, "needs root for files without a name");
	feed_maps(self, &self->c);
	SAMPLE(self->c, CHAIN(self->c));
	check_names(_metadata, self);
}

TEST_F(builder, a_program_that_was_replaced_does_not_lend_its_names)
{
	struct child gone;

	START();
	ASSERT_EQ(0, lib_sh("cd %s && cp prog other && mv other prog", self->dir));
	/* Its process is out of reach: there is the path alone. */
	gone = self->c;
	gone.pid = 1 << 29;
	for (size_t i = 0; i < gone.nr_maps; i++)
		gone.maps[i].rec.process.pid = gone.pid;
	feed_maps(self, &gone);
	SAMPLE(gone, CHAIN(gone));
	ASSERT_EQ(0, make(self));
	EXPECT_EQS(3, self->p->nr_locations, 2, self->p->nr_functions);
	STACKS("lib_work [prog: another file has its name] [prog: another file has its name];");
}

/* What a stripped program has as a name, whose packed symbol table @make makes. */
static void check_packed(struct __test_metadata *_metadata, FIXTURE_DATA(builder) *self,
			 const char *make_table, const char *want)
{
	ASSERT_TRUE(build(self->dir, "", true));
	ASSERT_EQ(0, lib_sh("cd %s && (%s) >mini.xz && strip prog && "
			    "objcopy --add-section .gnu_debugdata=mini.xz prog",
			    self->dir, make_table));
	ASSERT_TRUE(start(&self->c, self->dir));
	feed_maps(self, &self->c);
	SAMPLE(self->c, self->c.work);
	MAKES(want);
}

TEST_F(builder, a_packed_symbol_table_that_is_too_large_is_the_reason_given)
{
	if (!lib_have("gcc") || !lib_have("xz"))
		SKIP(return, "gcc or xz is not installed");
	check_packed(_metadata, self, "head -c 300M /dev/zero | xz -0",
		     "[prog: packed symbols beyond 64 MiB];");
}

TEST_F(builder, a_packed_symbol_table_that_is_damaged_is_the_reason_given)
{
	if (!lib_have("gcc") || !lib_have("xz"))
		SKIP(return, "gcc or xz is not installed");
	check_packed(_metadata, self, "cp prog whole; xz -c whole | head -c 1000",
		     "[prog: not a sound ELF file];");
}

TEST_F(builder, a_program_that_ended_and_was_deleted_keeps_its_names)
{
	START_SAMPLED("-fPIE -pie");
	kill(self->c.pid, SIGKILL);
	waitpid(self->c.pid, NULL, 0);
	lib_sh("rm %s/prog %s/libw.so", self->dir, self->dir);
	check_names(_metadata, self);
	close(self->c.in);
	self->c.pid = 0;
}

TEST_F(builder, two_processes_of_one_program_share_its_locations)
{
	struct child second;
	size_t locations, mappings;

	START();
	ASSERT_TRUE(start(&second, self->dir));
	if (second.work == self->c.work) {
		end(&second);
		SKIP(return, "addresses are not random here");
	}
	feed_maps(self, &self->c);
	SAMPLE(self->c, CHAIN(self->c));
	ASSERT_EQ(0, make(self));
	locations = self->p->nr_locations;
	mappings = self->p->nr_mappings;
	drop(self);

	feed_maps(self, &second);
	SAMPLE(second, CHAIN(second));
	ASSERT_EQ(0, make(self));
	EXPECT_EQS(locations, self->p->nr_locations, mappings, self->p->nr_mappings,
		   2, self->p->nr_samples, 2000, gprof_profile_total(self->p, 1));
	STACKS("lib_work work main;lib_work work main;");
	check_shape(_metadata, self->p);
	end(&second);
}

TEST_F(builder, the_vdso_has_names)
{
	char path[128], cmd[256], line[64] = "";
	uint64_t at;
	FILE *f;
	int fd;

	if (!getauxval(AT_SYSINFO_EHDR))
		SKIP(return, "no vDSO");
	if (!lib_have("nm"))
		SKIP(return, "nm is not installed");
	START();
	ASSERT_NE(0, self->c.vdso);
	/* Where is a function of it? */
	snprintf(path, sizeof(path), "%s/vdso", self->dir);
	fd = open(path, O_WRONLY | O_CREAT, 0644);
	ASSERT_EQ(4096, write(fd, (void *)getauxval(AT_SYSINFO_EHDR), 4096));
	write(fd, (char *)getauxval(AT_SYSINFO_EHDR) + 4096, 4096);
	close(fd);
	snprintf(cmd, sizeof(cmd), "nm -D %s | awk '/_clock_gettime/ && $2 == \"T\" { print $1 }'",
		 path);
	f = popen(cmd, "r");
	if (!fgets(line, sizeof(line), f))
		line[0] = '\0';
	pclose(f);
	at = strtoull(line, NULL, 16);
	ASSERT_NE(0, at);
	feed_maps(self, &self->c);
	SAMPLE(self->c, self->c.vdso + (at & 0xfff) + (at & 0xf000));
	ASSERT_EQ(0, make(self));
	{
		struct text t = { "" };

		gprof_profile_each(self->p, join, &t);
		EXPECT_SAYS(t.v, "clock_gettime;");
	}
}

TEST_F(builder, generated_code_has_the_names_of_its_map)
{
	const char *map;
	struct {
		struct gprof_map_rec rec;
		char path[8];
	} m = {
		.rec = {
			.rec = { GPROF_REC_MAP, 3, sizeof(m) },
			.time = 100,
			.start = 0x10000000,
			.end = 0x10001000,
			.exec_map_seq = 5,
		},
		.path = "//anon",
	};

	START();
	map = lib_text("/tmp/perf-%d.map", self->c.pid);
	m.rec.process = self->c.maps[0].rec.process;
	ASSERT_TRUE(lib_put(map, "10000010 10 jitted code\n", 24));
	feed_maps(self, &self->c);
	gprof_decoder_feed(&self->d, &m.rec.rec, sizeof(m));
	SAMPLE(self->c, 0x10000018);
	SAMPLE(self->c, 0x10000028);
	EXPECT_EQ(0, make(self));
	unlink(map);
	STACKS("jitted code;[anon];");
}

TEST_F(builder, a_guessed_caller_stays_only_where_the_table_agrees)
{
	START_MAPPED();
	feed_sample(self, &self->c, GPROF_STACK_REC_F_CALLER,
		    (const uint64_t[4]){ self->c.leaf, self->c.work + 3, self->c.main + 3 });
	feed_sample(self, &self->c, GPROF_STACK_REC_F_CALLER,
		    (const uint64_t[4]){ self->c.framed_in, self->c.work + 3, self->c.main + 3 });
	SAMPLE(self->c, self->c.framed_in, self->c.work + 3, self->c.main + 3);
	MAKES("leaf work main;framed main;framed work main;");
}

/* A share of main is of what was called by main. */
TEST_F(builder, cut_stacks_stand_apart_with_why)
{
#define CUT(_end)	GPROF_STACK_REC_F_USER_CUT | GPROF_STACK_REC_F_TABLES |	\
			(_end) << GPROF_STACK_REC_END_SHIFT
	START_MAPPED();
	feed_sample(self, &self->c, GPROF_STACK_REC_F_TABLES, (const uint64_t[4]){ self->c.leaf });
	feed_sample(self, &self->c, GPROF_STACK_REC_F_USER_CUT,
		    (const uint64_t[4]){ self->c.leaf });
	for (unsigned int end = 1; end <= GPROF_STACK_END_NR; end++)
		feed_sample(self, &self->c, CUT(end), (const uint64_t[4]){ self->c.leaf });
	MAKES("leaf;leaf [cut: no frame pointer];leaf [cut: max frames];"
	       "leaf [cut: code not known yet];leaf [cut: no unwind table];"
	       "leaf [cut: no unwind rule];leaf [cut: unwind rule not followed];"
	       "leaf [cut: page not in memory];leaf [cut: no return address];"
	       "leaf [cut: memory out of reach];leaf [cut: time];leaf [cut];");
}

TEST_F(builder, addresses_outside_of_all_mappings_are_told)
{
	START_MAPPED();
	SAMPLE(self->c, 0x1234, self->c.main + 3);
	MAKES("[unknown] main;");
	ASSERT_NE(NULL, gprof_profile_comment(self->p, 0));
	EXPECT_SAYS(gprof_profile_comment(self->p, 0), "no mapping");
}

TEST_F(builder, a_sample_without_a_stack_is_counted)
{
	struct gprof_sample_rec s = { .rec = { GPROF_REC_SAMPLE, 0, sizeof(s) }, .tid = 7 };
	struct child nobody = { .pid = 77 };

	gprof_decoder_feed(&self->d, &s.rec, sizeof(s));
	SAMPLE(nobody, 0);
	MAKES("[no stack];[no stack];");
	EXPECT_TOTALS(self->p, 2, 2000);
}

struct told {
	const struct gprof_profile *p;
	const char *const *keys;
	char *end;
	char text[1024];
};

static int tell_labels(void *ctx, const struct gprof_frame *frames, size_t nr,
		       const int64_t *values)
{
	struct told *t = ctx;

	for (const char *const *key = t->keys; *key; key++) {
		int64_t num = 0;
		const char *text = gprof_profile_label(t->p, *key, &num);

		if (text && *text)
			t->end += sprintf(t->end, "%s ", text);
		else if (text)
			t->end += sprintf(t->end, "%lld ", (long long)num);
		else
			t->end += sprintf(t->end, "- ");
	}
	t->end += sprintf(t->end, "%lld\n", (long long)values[0]);
	return 0;
}

/* The labels of these keys that each sample has, and its count. */
#define LABELS(want, ...) do {						\
	const char *const _keys[] = { __VA_ARGS__, NULL };		\
	struct told _t = { .p = self->p, .keys = _keys, .end = _t.text };	\
	gprof_profile_each(self->p, tell_labels, &_t);			\
	EXPECT_STREQ(want, _t.text);					\
} while (0)

/* Since when, where that is known; and when it was looked at, from the first of them on. */
TEST_F(builder, samples_of_tasks_say_how_they_were_and_when)
{
	static const struct {
		uint32_t tid;
		uint64_t time;
		struct gprof_task_state state;
	} rows[] = {
		{ 1, 500, { GPROF_TASK_RUNNING, 0, 0, 3, 0 } },
		{ 2, 300, { GPROF_TASK_RUNNABLE, 0, 0, 1, 20 } },
		{ 3, 900, { GPROF_TASK_SLEEPS, GPROF_TASK_F_AT_MOST, 0, 1, 30 } },
		{ 4, 301, { GPROF_TASK_BLOCKED, 0, 0, 1, 40 } },
		{ 5, 302, { GPROF_TASK_STOPPED, 0, 0, 1, 50 } },
		{ 6, 303, { GPROF_TASK_IDLE, 0, 0, 1, 60 } },
		{ 7, 304, { GPROF_TASK_DEAD, 0, 0, 1, 0 } },
		{ 8, 305, { GPROF_TASK_OTHER, 0, 0, 1, 80 } },
		{ 9, 306, { 200, 0, 0, 1, 90 } },
		{ 10, 307, { GPROF_TASK_SLEEPS, GPROF_TASK_F_UNSTABLE, 0, 1, 0 } },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct {
			struct gprof_sample_rec s;
			struct gprof_task_state state;
		} r = {
			.s = { .rec = { GPROF_REC_SAMPLE, GPROF_SAMPLE_REC_F_STATE, sizeof(r) },
			       .tid = rows[i].tid, .time = rows[i].time },
			.state = rows[i].state,
		};

		gprof_decoder_feed(&self->d, &r.s.rec, sizeof(r));
	}
	ASSERT_EQ(0, make(self));
	LABELS("1 running - 200 1\n2 runnable 20 0 1\n3 sleeping 30 600 1\n4 blocked 40 1 1\n"
	       "5 stopped 50 2 1\n6 idle 60 3 1\n7 dead - 4 1\n8 other 80 5 1\n9 other 90 6 1\n"
	       "10 restless - 7 1\n", "tid", "state", "since", "at");
}

/* Each count has a number of its own, so that none is told for another. */
TEST(a_profile_says_what_became_of_its_recording)
{
	struct gprof_stream s = {
		.name = "cycles", .detail = "r3c", .target = "process 7", .columns = columns,
		.until_ns = 9000, .tables_refused = true,
		.builder = {
			.from = 3000, .early = 11, .labels_forgotten = 12,
			.unknown = { .objects = 13, .value = 14, .full = 15, .unseen = 16 },
		},
	};
	struct gprof_tally t = {
		.kernel = {
			.out_produced = 1000, .out_overwritten = 20, .out_throttled = 17,
			.out_time_enabled = 1000, .out_time_running = 250, .out_maps_missed = 18,
			.out_maps_lost = 19, .out_started_ns = 1000, .out_stopped_ns = 9500,
			.out_lost = { [GPROF_LOST_FULL] = 1, [GPROF_LOST_BAD_TAIL] = 2,
				      [GPROF_LOST_NESTED] = 3, [GPROF_LOST_NO_BUFFER] = 4,
				      [GPROF_LOST_WAIT] = 5, [GPROF_LOST_QUOTA] = 6,
				      [GPROF_LOST_NR] = 7 },
		},
		.seen = { .samples = 951, .orphans = 21, .malformed = 22 },
	};
	struct gprof_profile *p = gprof_profile_new();
	char text[4096] = "";
	const char *comment;

	ASSERT_NE(NULL, p);
	ASSERT_EQ(0, gprof_report(p, &s, &t));
	/* without the versions of library and kernel */
	for (size_t i = 0; (comment = gprof_profile_comment(p, i)); i++)
		if (strncmp(comment, "kernel: ", 8))
			sprintf(text + strlen(text), "%s\n", comment + (i ? 0 : strcspn(comment, ":")));
	EXPECT_STREQ(": event cycles (r3c), period 1000\n"
		     "target: process 7\n"
		     "samples: produced=1000 read=951 lost=28 overwritten=20\n"
		     "lost 1 samples: the buffer was full; a larger buffer or a longer period "
		     "helps\n"
		     "lost 2 samples: the reader's position made no sense\n"
		     "lost 3 samples: interrupts were nested deeper than there is memory for\n"
		     "lost 4 samples: a CPU came, or a process was forked, for which there was no "
		     "memory yet\n"
		     "lost 5 samples: too many tasks waited at once, or one was gone before its "
		     "stack could be taken\n"
		     "lost 6 samples: a user's annotations or new names took more than its share "
		     "of a flight ring\n"
		     "lost 7 samples: for a reason that only a newer library can name\n"
		     "20 samples were overwritten by newer ones\n"
		     "11 samples were left out, as they are of before all CPUs had something to "
		     "tell\n"
		     "the counts do not add up: 1000 samples were produced, 999 read, lost and "
		     "overwritten; this is a bug of gprof\n"
		     "13 live objects of 14 bytes are not in the profile, for their samples were "
		     "lost or not read\n"
		     "15 samples are not among the live ones, for there were too many at once; more "
		     "bytes per sample help\n"
		     "16 objects at most may be live no longer, for the kernel did not tell of "
		     "their ends\n"
		     "throttled 17 times: the kernel paused the counter for interrupting too "
		     "often, so busy times are underrated; a longer period helps, or raising "
		     "sysctl kernel.perf_event_max_sample_rate\n"
		     "multiplexed: the counter ran 25.0 % of the time, since the CPU has fewer "
		     "counters than events that want one; values are of that share\n"
		     "stacks were walked by frame pointers alone, since unwind tables did not fit "
		     "into the memory that this user may lock (ulimit -l)\n"
		     "18 times the mappings of a process were not read, since it was gone, "
		     "locked, or changing them all the time; addresses may have no names\n"
		     "19 times the mappings of a process did not fit into the buffer; addresses "
		     "may have no names\n"
		     "21 samples refer to a stack that is not in the buffer; this is a bug of "
		     "gprof\n"
		     "12 samples have no labels of their threads, which changed them too often\n"
		     "22 records made no sense; this is a bug of gprof\n", text);
	/* from the first that it has, up to the end of what it is made of */
	EXPECT_EQ(6000, p->duration_nanos);
	gprof_profile_free(p);
}

TEST_F(builder, totals_are_those_of_the_samples)
{
	uint64_t rnd = 5;

	START_MAPPED();
	for (int i = 0; i < 5000; i++) {
		uint64_t frames[4] = { self->c.work + lib_random(&rnd) % 8, self->c.main + 3 };

		feed_sample(self, &self->c, 0, frames);
	}
	EXPECT_EQ(5000, self->d.counts.samples);
	/* A stack that comes again, with whatever id, is the same stack. */
	EXPECT_EQ(8, self->b.stacks.nr);
	ASSERT_EQ(0, make(self));
	EXPECT_TOTALS(self->p, 5000, 5000000);
	EXPECT_EQ(8, self->p->nr_samples);
	/* Cleared, it counts anew, and knows the stacks still. */
	drop(self);
	gprof_builder_clear(&self->b);
	SAMPLE(self->c, self->c.work, self->c.main + 3);
	ASSERT_EQ(0, make(self));
	EXPECT_EQ(1, gprof_profile_total(self->p, 0));
}

#define RUNS	3000

static void grow(size_t *most, size_t nr)
{
	*most = nr > *most ? nr : *most;
}

#define EXPECT_BELOW(limit, nr)	EXPECT_GT(limit, nr) TH_LOG("%zu", nr)

/* A program that executes itself again and again, beside one that goes on all the time. */
TEST_F(builder, what_is_over_is_forgotten_and_its_samples_are_not)
{
	size_t spaces = 0, stacks = 0, tasks = 0, counts = 0;
	struct child other;

	START();
	ASSERT_TRUE(start(&other, self->dir));
	self->aging.max = 64 << 10;
	feed_maps(self, &other);
	for (int i = 0; i < RUNS; i++) {
		/* the dictionary of the kernel is full now and then */
		if (i % 20 == 0)
			ASSERT_EQ(0, begin_generation(self));
		self->c.exec_id = 1 + i;
		feed_maps(self, &self->c);
		for (int j = 0; j < 3; j++)
			SAMPLE(self->c, self->c.work + j, self->c.main + 3);
		if (i % 10 == 0)
			SAMPLE(other, other.work, other.main + 3);
		ASSERT_EQ(0, evict(self));
		grow(&spaces, self->b.spaces.nr);
		grow(&stacks, self->b.stacks.nr);
		grow(&tasks, self->b.nr_tasks);
		grow(&counts, self->b.nr_counts);
	}
	/* all that is left is over as well, but for one of the two */
	end(&self->c);
	ASSERT_EQ(0, evict_all(self, 4));
	EXPECT_EQ(1, self->b.nr_counts);
	EXPECT_BELOW(RUNS / 10, spaces);
	EXPECT_BELOW(RUNS / 5, stacks);
	EXPECT_BELOW(RUNS / 10, tasks);
	EXPECT_BELOW(RUNS / 5, counts);
	ASSERT_EQ(0, make(self));
	end(&other);
	EXPECT_TOTALS(self->p, 3 * RUNS + RUNS / 10, 1000LL * (3 * RUNS + RUNS / 10));
	/* each of the samples once, however often it was executed */
	STACKS("work main;work main;work main;work main;");
	check_shape(_metadata, self->p);
}

#define SLOTS	64

struct lasting_table {
	struct gprof_object_table_head head;
	struct gprof_object_slot slots[SLOTS];
};

/* An allocation of 100 bytes by who executes a program with this stack. */
static void feed_allocation(FIXTURE_DATA(builder) *self, struct lasting_table *t, uint32_t slot,
			    const uint64_t frames[4])
{
	struct gprof_object_slot *s = &t->slots[slot];
	struct {
		struct gprof_sample_rec s;
		uint64_t value, live;
	} r = {
		.s.rec = { GPROF_REC_SAMPLE, GPROF_SAMPLE_REC_F_VALUE | GPROF_SAMPLE_REC_F_OBJECT,
			   sizeof(r) },
		.s.time = 200,
		.s.tid = self->c.pid,
		.value = 100,
	};

	*s = (struct gprof_object_slot){
		.live = (GPROF_OBJECT_SERIAL(s->live) + 1) << GPROF_OBJECT_SERIAL_SHIFT |
			GPROF_OBJECT_LIVE | slot,
		.value = 100,
		.weight = 1000,
	};
	feed_stack(self, &self->c, 0, frames);
	r.s.stack = self->next_id;
	r.live = s->live;
	gprof_decoder_feed(&self->d, &r.s.rec, sizeof(r));
}

static const struct gprof_columns heap_columns = {
	.weight_type = "alloc_objects",
	.weight_unit = "count",
	.value_type = "alloc_space",
	.value_unit = "bytes",
	.live_weight_type = "inuse_objects",
	.live_value_type = "inuse_space",
	.period = 1000,
};

/* Programs that end, of which what one in a hundred allocated outlives it. */
TEST_F(builder, what_nothing_live_is_of_is_forgotten_and_counted)
{
	struct lasting_table t = {
		.head = {
			.version = GPROF_ABI_VERSION, .header_size = sizeof(t.head),
			.slot_size = sizeof(t.slots[0]), .nr_slots = SLOTS,
			.slots_offset = offsetof(struct lasting_table, slots), .size = sizeof(t),
		},
	};
	const struct gprof_object_table table = { &t.head, sizeof(t) };
	size_t spaces = 0, stacks = 0, counts = 0;
	uint32_t i, lasts = 0;

	START();
	self->aging.max = 64 << 10;
	self->b.live_samples.max = SLOTS;
	for (i = 0; i < RUNS; i++) {
		bool stays = i % 100 == 0;
		uint32_t slot = stays ? lasts++ : SLOTS - 1 - i % 2;

		if (i % 20 == 0)
			ASSERT_EQ(0, begin_generation(self));
		self->c.exec_id = 1 + i;
		feed_maps(self, &self->c);
		feed_allocation(self, &t, slot, (const uint64_t[4]){
				stays ? self->c.leaf : self->c.work, self->c.main + 3 });
		/* It was live when somebody looked. */
		if (i % 50 == 1)
			gprof_builder_mark_live(&self->b, &table);
		if (!stays)
			t.slots[slot].live &= ~GPROF_OBJECT_LIVE;
		ASSERT_EQ(0, gprof_evict(&self->aging, &self->b, &heap_columns, &table, &self->d,
					 1));
		grow(&spaces, self->b.spaces.nr);
		grow(&stacks, self->b.stacks.nr);
		grow(&counts, self->b.nr_counts);
	}
	EXPECT_BELOW(RUNS / 5, spaces);
	EXPECT_BELOW(RUNS / 5, stacks);
	EXPECT_BELOW(RUNS / 5, counts);
	/* What lasted all that time, but for one half, is no longer when the profile is made. */
	for (i = 0; i < lasts; i += 2)
		t.slots[i].live &= ~GPROF_OBJECT_LIVE;
	gprof_builder_mark_live(&self->b, &table);
	EXPECT_EQ(0, self->b.unknown.objects);
	ASSERT_EQ(0, gprof_builder_profile(&self->b, &heap_columns, &self->p));
	ASSERT_EQ(0, gprof_profile_finish(self->p));
	EXPECT_TOTALS(self->p, 1000LL * RUNS, 100000LL * RUNS, 1000LL * (lasts / 2),
		      100000LL * (lasts / 2));
	check_shape(_metadata, self->p);

	/* The next one has what lives, and nothing of what was allocated before. */
	drop(self);
	ASSERT_EQ(0, gprof_builder_next(&self->b));
	gprof_builder_mark_live(&self->b, &table);
	ASSERT_EQ(0, gprof_builder_profile(&self->b, &heap_columns, &self->p));
	ASSERT_EQ(0, gprof_profile_finish(self->p));
	EXPECT_TOTALS(self->p, 0, 0, 1000LL * (lasts / 2), 100000LL * (lasts / 2));
}

/* One stack at several times; there are no more slices than are of use, but longer ones. */
TEST_F(builder, samples_tell_their_slice_of_time)
{
	static const struct {
		uint64_t times[8];
		const char *wanted;
	} rows[] = {
		{ { 200, 209, 210, 219, 199, 205, 230 }, "0 4\n10 2\n30 1\n" },
		{ { 200, 200 + 10 * GPROF_SLICES_MAX - 1 }, "0 1\n5110 1\n" },
		{ { 200, 210, 220, 200 + 10 * GPROF_SLICES_MAX, 239 }, "0 2\n20 2\n5120 1\n" },
	};

	START_MAPPED();
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct gprof_sample_rec s = {
			.rec = { GPROF_REC_SAMPLE, 0, sizeof(s) }, .tid = (uint32_t)self->c.pid,
		};

		gprof_builder_clear(&self->b);
		self->b.slice_ns = 10;
		self->b.slice_base = 200;
		feed_stack(self, &self->c, 0, (const uint64_t[4]){ self->c.work, self->c.main + 3 });
		s.stack = self->next_id;
		for (size_t j = 0; rows[i].times[j]; j++) {
			s.time = rows[i].times[j];
			if (!gprof_decoder_feed_again(&self->d, &s, sizeof(s)))
				gprof_decoder_feed(&self->d, &s.rec, sizeof(s));
		}
		ASSERT_EQ(0, make(self));
		LABELS(rows[i].wanted, "time");
		drop(self);
	}
}

TEST_F(builder, samples_carry_pid_tid_cpu_and_comm)
{
	struct child c = { .pid = 4321 };

	SAMPLE(c, 0x1234);
	ASSERT_EQ(0, make(self));
	LABELS("4321 4321 1 prog 1\n", "pid", "tid", "cpu", "comm");
	/* Without a unit pprof takes a 0 for no label at all. */
	EXPECT_STREQ("cpu", self->p->strings.v[self->p->labels[2].key]);
	EXPECT_EQ(self->p->labels[2].key, self->p->labels[2].unit);
}

TEST_F(builder, samples_carry_what_there_is_to_say_of_the_process)
{
	struct gprof_space *space;
	const char *cgroup;

	START_MAPPED();
	SAMPLE(self->c, self->c.work, self->c.main + 3);
	ASSERT_LT(0, self->b.spaces.nr);
	space = &self->b.spaces.v[0];
	/* What is known for certain counts. */
	free(space->description.context);
	space->description.context = strdup("cgroup\1no\2service.name\1shop\2");
	space->description.ppid = 77;
	ASSERT_EQ(0, make(self));
	cgroup = lib_own_cgroup();
	LABELS(lib_text("%s shop 77 1\n", cgroup ? cgroup : "-"), "cgroup", "service.name", "ppid");
}

TEST_F(builder, a_process_is_called_as_its_first_thread_or_its_file)
{
	struct child thread_spans, led, ended, worker = { .pid = 12, .comm = "kworker/0:1" },
					       unmapped;
	char leader[128];
	FILE *f;

	START();
	snprintf(leader, sizeof(leader), "/proc/%d/comm", self->c.pid);
	f = fopen(leader, "r");
	ASSERT_NE(NULL, f);
	ASSERT_NE(NULL, fgets(leader, sizeof(leader), f));
	fclose(f);
	leader[strcspn(leader, "\n")] = '\0';
	/* one that lives, of which another thread was sampled */
	thread_spans = self->c;
	thread_spans.tid = thread_spans.pid + 1;
	strcpy(thread_spans.comm, "hottest");
	feed_maps(self, &thread_spans);
	SAMPLE(thread_spans, thread_spans.work);
	/* one that is gone, the first thread of which was sampled last */
	led = thread_spans;
	led.start_ns += 1000000000;
	feed_maps(self, &led);
	SAMPLE(led, led.leaf);
	led.tid = 0;
	strcpy(led.comm, "leader");
	SAMPLE(led, led.main);
	/* one that is gone, the first thread of which was not */
	ended = thread_spans;
	ended.start_ns += 2000000000;
	feed_maps(self, &ended);
	SAMPLE(ended, ended.work);
	/* one of the kernel's, and a thread of a process of which nothing is known */
	SAMPLE(worker, 0x1234);
	unmapped = (struct child){ .pid = 13, .tid = 14, .comm = "thread" };
	SAMPLE(unmapped, 0x1234);
	self->b.services = true;
	ASSERT_EQ(0, make(self));
	LABELS(lib_text("%s 1\nleader 1\nleader 1\nprog 1\nkworker/0:1 1\n- 1\n", leader),
	       "process.executable.name");
}

TEST_F(builder, samples_say_what_service_they_are_of_where_that_is_wanted)
{
	struct child c = { .pid = 0 };

	START();
	self->b.services = true;
	feed_maps(self, &self->c);
	SAMPLE(self->c, self->c.work, self->c.main + 3);
	ASSERT_LT(0, self->b.spaces.nr);
	free(self->b.spaces.v[0].description.cgroup);
	self->b.spaces.v[0].description.cgroup = strdup("/system.slice/shop@1.service/worker");
	self->b.goes_on = true;
	ASSERT_EQ(0, make(self));
	LABELS("shop@1 1\n", "service.name");
	/* one of which nothing is known but its name */
	gprof_profile_free(self->p);
	ASSERT_EQ(0, gprof_builder_next(&self->b));
	SAMPLE(c, 0x1234);
	ASSERT_EQ(0, make(self));
	LABELS("prog 1\n", "service.name");
}

TEST(a_service_is_the_innermost_unit_or_the_cgroup_or_the_name)
{
	static const struct {
		const char *cgroup, *comm, *name;
	} rows[] = {
		{ "/system.slice/ssh.service", "sshd", "ssh" },
		{ "/user.slice/user-0.slice/session-3.scope", "bash", "session-3" },
		{ "/user.slice/user@0.service/app.slice/dbus.service", "dbus", "dbus" },
		{ "/system.slice/shop.service/a/b", "x", "shop" },
		{ "/kubepods/pod1/c2", "x", "/kubepods/pod1/c2" },
		{ "/", "kworker/0:1", "kworker/0:1" }, { NULL, "init", "init" },
		{ "", "", "unknown" }, { NULL, NULL, "unknown" },
		{ "/.service", "x", "/.service" }, { "/a.slice", "x", "/a.slice" },
	};
	char name[GPROF_SERVICE_MAX], *cgroup;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		gprof_service_name(rows[i].cgroup, rows[i].comm, name);
		EXPECT_STREQ(rows[i].name, name);
	}
	cgroup = malloc(8192);
	memset(cgroup, '/', 8191);
	cgroup[8191] = '\0';
	gprof_service_name(cgroup, "x", name);
	EXPECT_EQ(GPROF_SERVICE_MAX - 1, strlen(name));
	memset(cgroup + 1, 'a', 8182);
	memcpy(cgroup + 8183, ".service", 9);
	gprof_service_name(cgroup, "x", name);
	EXPECT_EQ(GPROF_SERVICE_MAX - 1, strlen(name));
	free(cgroup);
}

/* However little of it a single interval has: what is over is no reason to wait for more. */
TEST_F(builder, what_is_over_is_forgotten_where_intervals_are_short)
{
	size_t bytes, most = 0;

	START();
	for (int i = 0; i < RUNS; i++) {
		if (i % 20 == 0)
			ASSERT_EQ(0, begin_generation(self));
		self->c.exec_id = 1 + i;
		feed_maps(self, &self->c);
		SAMPLE(self->c, self->c.work, self->c.main + 3);
		ASSERT_EQ(0, evict(self));
		bytes = gprof_builder_bytes(&self->b);
		most = bytes > most ? bytes : most;
		if (i % 10)
			continue;
		/* as the stream does */
		ASSERT_EQ(0, next_profile(self));
	}
	EXPECT_BELOW(2 * GPROF_EVICT_NEXT_BYTES, most);
}

/* A context of leaf_is(), and the samples that it has found. */
struct leaf {
	const char *name;
	int64_t samples;
};

static int leaf_is(void *ctx, const struct gprof_frame *frames, size_t nr, const int64_t *values)
{
	struct leaf *l = ctx;

	if (nr && !strcmp(frames[0].function, l->name))
		l->samples += values[0];
	return 0;
}

static int64_t named(const struct gprof_profile *p, const char *name)
{
	struct leaf l = { .name = name };

	gprof_profile_each(p, leaf_is, &l);
	return l.samples;
}

/* Each a program of its own, as of a host that builds software: what is mapped goes on. */
TEST_F(builder, files_without_a_mapping_are_forgotten)
{
	size_t files = 0, paths = 0, names = 0;
	struct child short_one;

	START();
	short_one = self->c;
	short_one.nr_maps = 1;
	short_one.maps[0].rec.rec.flags = GPROF_MAP_REC_F_FIRST | GPROF_MAP_REC_F_LAST;
	self->aging.max = 64 << 10;
	feed_maps(self, &self->c);
	for (int i = 0; i < RUNS; i++) {
		if (i % 20 == 0)
			ASSERT_EQ(0, begin_generation(self));
		/* there is no such process, and no such file */
		short_one.pid = 1 << 30 | i;
		short_one.maps[0].rec.process.pid = short_one.pid;
		short_one.maps[0].rec.inode = 1ULL << 40 | i;
		sprintf(short_one.maps[0].path, "/build/%d", i);
		sprintf(short_one.comm, "%d", i);
		feed_maps(self, &short_one);
		SAMPLE(short_one, short_one.work);
		SAMPLE(self->c, CHAIN(self->c));
		ASSERT_EQ(0, evict(self));
		grow(&files, self->b.spaces.objects.nr);
		grow(&paths, self->b.spaces.paths.nr);
		grow(&names, self->b.names.nr);
		if (i % 100 != 99)
			continue;
		ASSERT_EQ(0, make(self));
		EXPECT_EQS(200, gprof_profile_total(self->p, 0), 100, named(self->p, "lib_work"));
		drop(self);
		ASSERT_EQ(0, next_profile(self));
		self->aging.max = 64 << 10;
	}
	EXPECT_BELOW(RUNS / 5, files);
	EXPECT_BELOW(RUNS / 5, paths);
	EXPECT_BELOW(RUNS / 5, names);
}

/* Its process is over and forgotten, and its file is not before the profile has its names. */
TEST_F(builder, a_file_is_kept_for_the_names_of_what_was_settled)
{
	START();
	feed_maps(self, &self->c);
	SAMPLE(self->c, CHAIN(self->c));
	end(&self->c);
	ASSERT_ZEROS(begin_generation(self), evict_all(self, 8));
	EXPECT_EQ(0, self->b.spaces.nr);
	EXPECT_NE(0, self->b.spaces.objects.nr);
	MAKES("lib_work work main;");
	ASSERT_EQ(0, next_profile(self));
	SAMPLE(self->c, CHAIN(self->c));
	ASSERT_EQ(0, evict_all(self, 4));
	/* but for the vDSO, which is everybody's */
	EXPECT_GE(1, self->b.spaces.objects.nr);
}

/* Another profile, with @work within the library. */
static int make_next(FIXTURE_DATA(builder) *self, uint64_t work)
{
	uint64_t frames[4] = { work, self->c.work + 3, self->c.main + 3 };
	int err;

	drop(self);
	err = gprof_builder_next(&self->b);
	gprof_decoder_forget(&self->d);
	feed_sample(self, &self->c, 0, frames);
	return err ? err : make(self);
}

TEST_F(builder, names_that_are_known_are_not_read_again_of_the_same_file)
{
	START_MAPPED();
	/* One who makes one profile has no use for what is known. */
	ASSERT_EQ(0, make_next(self, self->c.lib_work));
	EXPECT_EQ(0, self->b.spaces.objects.names.nr_places);
	ASSERT_ZEROS(gprof_spaces_keep_files(&self->b.spaces), make_next(self, self->c.lib_work));
	STACKS("lib_work work main;");
	EXPECT_EQ(3, self->b.spaces.objects.names.nr_places);
	/* By all that is looked at it is the same file. */
	ASSERT_EQ(0, lib_sh("cd %s && LC_ALL=C sed s/lib_work/lib_bork/g libw.so >other && "
			    "touch -r libw.so other && cat other >libw.so && touch -r other libw.so",
			    self->dir));
	ASSERT_EQ(0, make_next(self, self->c.lib_work));
	check_shape(_metadata, self->p);
	STACKS("lib_work work main;");
	EXPECT_TRUES(self->p->mappings[0].has_line_numbers, self->p->mappings[0].has_inline_frames);
	EXPECT_FALSE(self->p->mappings[1].has_inline_frames);
	EXPECT_EQ(3, self->b.spaces.objects.names.nr_places);
	/* A place that was not seen yet is looked up. */
	ASSERT_EQ(0, make_next(self, self->c.lib_work + 1));
	STACKS("lib_bork work main;");
	/* And of a file that is another one now nothing is known. */
	ASSERT_EQ(0, lib_sh("cd %s && gcc -O0 -g -shared -fPIC -o other lib.c && cat other >libw.so",
			    self->dir));
	ASSERT_EQ(0, make_next(self, self->c.lib_work));
	STACKS("[libw.so: another file has its name] work main;");
}

TEST_F(builder, names_that_were_learned_long_ago_are_learned_anew)
{
	struct gprof_name_cache *names = &self->b.spaces.objects.names;

	START();
	ASSERT_EQ(0, gprof_spaces_keep_files(&self->b.spaces));
	feed_maps(self, &self->c);
	ASSERT_EQ(0, make_next(self, self->c.lib_work));
	EXPECT_EQ(3, names->nr_places);
	ASSERT_EQ(0, gprof_spaces_keep_files(&self->b.spaces));
	EXPECT_EQ(3, names->nr_places);
	names->since_ns -= 601 * 1000000000ULL;
	ASSERT_EQ(0, gprof_spaces_keep_files(&self->b.spaces));
	EXPECT_ZEROS(names->nr_places, names->budget.used);
	ASSERT_EQ(0, make_next(self, self->c.lib_work));
	STACKS("lib_work work main;");
	EXPECT_EQ(3, names->nr_places);
	/* There is no room for more. */
	names->budget.max = names->budget.used;
	for (unsigned int i = 1; i < 40; i++)
		ASSERT_EQ(0, make_next(self, self->c.lib_work + i));
	ASSERT_EQ(0, make_next(self, self->c.lib_work));
	STACKS("lib_work work main;");
	EXPECT_GE(names->budget.max, names->budget.used);
	EXPECT_TRUE(names->budget.exceeded);
	ASSERT_EQ(0, gprof_spaces_keep_files(&self->b.spaces));
	EXPECT_LT(3, names->nr_places);
	EXPECT_GT(43, names->nr_places);
	names->since_ns -= 61 * 1000000000ULL;
	ASSERT_EQ(0, gprof_spaces_keep_files(&self->b.spaces));
	EXPECT_EQ(0, names->nr_places);
	ASSERT_EQ(0, make_next(self, self->c.lib_work));
	STACKS("lib_work work main;");
	EXPECT_EQ(3, names->nr_places);
}

TEST(a_budget_is_used_to_the_last_byte_and_paid_back)
{
	struct gprof_budget b = { .max = 10 };
	struct gprof_strings s = { .table.budget = &b };
	uint32_t numbers[] = { 0, 0, GPROF_NONE };
	uint64_t used;

	EXPECT_EQS(-ENOMEM, gprof_budget_charge(&b, 11), 0, gprof_budget_charge(&b, 10),
		   -ENOMEM, gprof_budget_charge(&b, 1), 10, b.used);
	b = (struct gprof_budget){ .max = 1 << 20 };
	EXPECT_EQS(0, gprof_strings_add(&s, "", 0), 1, gprof_strings_add(&s, "stays", 5));
	used = b.used;
	EXPECT_EQ(2, gprof_strings_add(&s, "goes", 4));
	EXPECT_LT(used, b.used);
	EXPECT_EQS(0, gprof_strings_keep(&s, numbers), used, b.used, 2, s.nr, 1, numbers[1]);
	gprof_strings_free(&s);
}

TEST_F(builder, each_sample_is_in_one_of_the_profiles_that_follow_each_other)
{
	size_t spaces = 0;

	START();
	for (int i = 0; i < 300; i++) {
		if (i % 20 == 0)
			ASSERT_EQ(0, begin_generation(self));
		self->c.exec_id = 1 + i;
		feed_maps(self, &self->c);
		/* some of the stacks, and of the names, are those of before */
		for (int j = 0; j < i % 7; j++)
			SAMPLE(self->c, self->c.work, self->c.main + 3);
		ASSERT_EQS(0, make(self), i % 7, gprof_profile_total(self->p, 0));
		drop(self);
		ASSERT_ZEROS(gprof_builder_next(&self->b), self->b.nr_counts);
		gprof_decoder_forget(&self->d);
		gprof_eviction_next(&self->aging);
		self->aging.max = 64 << 10;
		ASSERT_ZEROS(evict(self), evict(self));
		grow(&spaces, self->b.spaces.nr);
	}
	EXPECT_BELOW(100, spaces);
}

TEST_HARNESS_MAIN
