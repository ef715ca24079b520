// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table of top and the picture of flame, of a profile whose every number is
 * known, held to what they must say to the last digit.
 */
#include "harness.h"
#include <stdarg.h>

#include "profile/profile.h"

#include "profile/calltree.h"
#include "cli/cmd.h"

#define FRAMES_MAX	8

FIXTURE(profile) {
	struct gprof_profile *p;
	char file[64];
	char *out;
	char said[256];
	int status;
};

FIXTURE_SETUP(profile)
{
	setenv("TZ", "UTC", 1);
	self->p = gprof_profile_new();
	ASSERT_NE(NULL, self->p);
	ASSERT_EQ(0, gprof_profile_add_column(self->p, "samples", "count"));
	ASSERT_EQ(0, gprof_profile_add_column(self->p, "cpu", "nanoseconds"));
	strcpy(self->file, "/tmp/gprof-profile.XXXXXX");
	self->out = NULL;
}

FIXTURE_TEARDOWN(profile)
{
	gprof_profile_free(self->p);
	unlink(self->file);
	free(self->out);
}

static uint32_t mapping(struct gprof_profile *p, const char *file, uint64_t start)
{
	struct gprof_mapping m = {
		.start = start, .limit = start + 0x1000, .filename = gprof_profile_text(p, file),
	};

	return gprof_profile_add_mapping(p, &m) + 1;
}

/* A place with these functions, NULL behind the last: inlined ones first. */
static uint32_t location(struct gprof_profile *p, uint32_t map, uint64_t address, ...)
{
	uint32_t l = gprof_profile_add_location(p, map, address);
	struct gprof_line lines[FRAMES_MAX] = { 0 };
	const char *name;
	size_t nr = 0;
	va_list names;

	va_start(names, address);
	while ((name = va_arg(names, const char *))) {
		struct gprof_function f = { .name = gprof_profile_text(p, name) };

		f.system_name = f.name;
		lines[nr++].function = gprof_profile_function(p, &f);
	}
	va_end(names);
	if (nr)
		gprof_profile_set_lines(p, l, lines, nr);
	return l;
}

#define SAMPLE(p, n, ms, ...) do {						\
	const uint32_t _stack[] = { __VA_ARGS__ };				\
	const int64_t _values[] = { n, (int64_t)((ms) * 1000000) };			\
	gprof_profile_add_sample(p, _stack, sizeof(_stack) / sizeof(*_stack),	\
				 NULL, 0, _values);				\
} while (0)

/*
 * 1000 ms in 100 samples: main, in it work, in it leaf (with what is inlined there),
 * again, which calls itself, and the kernel; beside it a library without names. What
 * is below 0.5 % has no row, and what is narrower than 0.3 px no box of its own.
 */
static void make(struct gprof_profile *p)
{
	uint32_t program = mapping(p, "/bin/prog", 0x1000);
	uint32_t library = mapping(p, "/lib/libx.so", 0x7000);
	uint32_t kernel = mapping(p, "[kernel.kallsyms]", 0xffff800000000000);
	uint32_t at_main = location(p, program, 0x1100, "main", NULL);
	uint32_t work = location(p, program, 0x1200, "work", NULL);
	uint32_t leaf = location(p, program, 0x1300, "tiny", "leaf", NULL);
	uint32_t again = location(p, program, 0x1400, "again", NULL);
	uint32_t call = location(p, kernel, 0xffff800000000100, "sys<call>", NULL);
	uint32_t unnamed = location(p, library, 0x7100, NULL);
	uint32_t small = location(p, program, 0x1500, "small", NULL);
	uint32_t rest[] = {
		location(p, program, 0x1600, "rest_a", NULL),
		location(p, program, 0x1610, "rest_b", NULL),
		location(p, program, 0x1620, "rest_c", NULL),
		location(p, program, 0x1630, "rest_d", NULL),
	};

	SAMPLE(p, 10, 100, at_main);
	SAMPLE(p, 20, 200, work, at_main);
	SAMPLE(p, 30, 300, leaf, work, at_main);
	SAMPLE(p, 16, 160, again, again, again, at_main);
	SAMPLE(p, 4, 36, call, work, at_main);
	SAMPLE(p, 19, 200, unnamed);
	SAMPLE(p, 1, 3.7, small, at_main);
	SAMPLE(p, 0, 0.1, rest[0], at_main);
	SAMPLE(p, 0, 0.1, rest[1], at_main);
	SAMPLE(p, 0, 0.1, rest[3], rest[2], at_main);
	p->duration_nanos = 2000000000;
	p->time_nanos = 1700000000000000000;
	gprof_profile_add_comment(p, "a comment");
}

/* Runs a command of gprofctl. */
static void run_words(FIXTURE_DATA(profile) *self, int (*command)(int, char **), int argc,
		      char **argv)
{
	int out = memfd_create("out", MFD_CLOEXEC), err = memfd_create("err", MFD_CLOEXEC), status;
	off_t size;

	fflush(NULL);
	if (!fork()) {
		dup2(out, STDOUT_FILENO);
		dup2(err, STDERR_FILENO);
		status = command(argc, argv);
		fflush(NULL);
		_exit(status);
	}
	wait(&status);
	self->status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	size = lseek(out, 0, SEEK_END);
	free(self->out);
	self->out = calloc(size + 1, 1);
	if (pread(out, self->out, size, 0) != size)
		self->status = -1;
	memset(self->said, 0, sizeof(self->said));
	if (pread(err, self->said, sizeof(self->said) - 1, 0) < 0)
		self->status = -1;
	close(err);
	close(out);
}

static void save(FIXTURE_DATA(profile) *self)
{
	int fd = mkstemp(self->file);

	gprof_profile_finish(self->p);
	gprof_profile_write(self->p, fd);
	close(fd);
}

/* Writes the profile, and runs a command with it. */
static void run(FIXTURE_DATA(profile) *self, int (*command)(int, char **), ...)
{
	char *argv[16] = { "command", self->file };
	int argc = 2;
	va_list words;

	save(self);
	va_start(words, command);
	while ((argv[argc] = va_arg(words, char *)))
		argc++;
	va_end(words);
	run_words(self, command, argc, argv);
}

#define RUN(...) do {							\
	run(self, __VA_ARGS__);						\
	EXPECT_EQ(STATUS_OK, self->status);				\
} while (0)

/* From the title of the picture to the end of its data: the rest is no number. */
static char *picture(FIXTURE_DATA(profile) *self)
{
	char *from = strstr(self->out, "<g id=\"frames\""), *to;

	to = from ? strstr(from, "]]></script>") : NULL;
	if (!to)
		return self->out;
	*to = '\0';
	return from;
}

/* What "top --ratio" makes of @files. */
static void run_ratio(FIXTURE_DATA(profile) *self, char *files, char *option, char *value)
{
	char *argv[] = { "top", "--ratio", files, option, value, NULL };

	run_words(self, cmd_top, value ? 5 : option ? 4 : 3, argv);
}

/* B has the same program with other numbers; what is in one of both alone has a row too. */
static struct gprof_profile *make_base(void)
{
	struct gprof_profile *p = gprof_profile_new();
	uint32_t program, at_main, work, alone;

	gprof_profile_add_column(p, "samples", "count");
	gprof_profile_add_column(p, "references", "count");
	program = mapping(p, "/bin/prog", 0x1000);
	at_main = location(p, program, 0x1100, "main", NULL);
	work = location(p, program, 0x1200, "work", NULL);
	alone = location(p, program, 0x1700, "alone", NULL);
	SAMPLE(p, 400, 4, at_main);
	SAMPLE(p, 80, 2, work, at_main);
	SAMPLE(p, 5, 1, alone, at_main);
	return p;
}

TEST_F(profile, ratio_is_of_each_function_and_tells_how_sure_it_is)
{
	struct gprof_profile *base = make_base();
	char name[] = "/tmp/profile_base.XXXXXX";
	int fd = mkstemp(name);
	char files[128];

	gprof_profile_finish(base);
	gprof_profile_write(base, fd);
	close(fd);
	make(self->p);
	run(self, cmd_top, NULL);
	snprintf(files, sizeof(files), "%s/%s", self->file, name);
	run_ratio(self, files, NULL, NULL);
	EXPECT_EQ(STATUS_OK, self->status);
	/* tiny is in A alone; 30 samples and none, 20 and 80, 10 and 400 */
	EXPECT_STREQ(
"Type: cpu / references\n"
"Total = 1.00 s / 7.00 M = 142.86\n"
"       ratio                   cpu   references\n"
"           -                300 ms            0  tiny\n"
"         100 +- 25.0%       200 ms       2.00 M  work\n"
"           -                200 ms            0  [libx.so]\n"
"           -                160 ms            0  again\n"
"          25 +- 32.0%       100 ms       4.00 M  main\n"
"           -               36.0 ms            0  sys<call>\n"
"           0                     0       1.00 M  alone\n"
"6 of 13 functions are not shown, each below 0.5% of both; -n N shows N\n", self->out);
	run_ratio(self, files, "-n", "1");
	EXPECT_SAYS(self->out, "12 of 13 functions are not shown; -n N");
	run_ratio(self, files, "--cum", NULL);
	/* 800 ms of 100 - 19 samples, by all 485 */
	EXPECT_SAYS(self->out, "      114.29 +- 12.0%       800 ms       7.00 M  main");
	unlink(name);
	run_ratio(self, files, NULL, NULL);
	EXPECT_EQ(STATUS_FAILED, self->status);
	EXPECT_SAYS(self->said, name);
	run_ratio(self, name, NULL, NULL);
	EXPECT_EQ(STATUS_USAGE, self->status);
}

TEST_F(profile, table_is_exact)
{
	make(self->p);
	RUN(cmd_top, NULL);
	EXPECT_STREQ(
"Type: cpu\n"
"Time: 2023-11-14 22:13:20 UTC\n"
"Duration: 2.00 s, Total = 1.00 s (50.00%)\n"
"Comment: a comment\n"
"Showing 7 of 12 functions, 99.60% of the total; -n N shows N\n"
"20.00% are in code without names, shown as FILE+0xADDRESS or [FILE]; debug\n"
"symbols name it, where no reason stands beside it\n"
"     flat   flat%    sum%       cum    cum%\n"
"   300 ms  30.00%  30.00%    300 ms  30.00%  tiny (inline) [prog]\n"
"   200 ms  20.00%  50.00%    536 ms  53.60%  work [prog]\n"
"   200 ms  20.00%  70.00%    200 ms  20.00%  [libx.so]\n"
"   160 ms  16.00%  86.00%    160 ms  16.00%  again [prog]\n"
"   100 ms  10.00%  96.00%    800 ms  80.00%  main [prog]\n"
"  36.0 ms   3.60%  99.60%   36.0 ms   3.60%  sys<call> [kernel]\n"
"        0   0.00%  99.60%    300 ms  30.00%  leaf [prog]\n", self->out);
}

TEST_F(profile, table_of_another_type_by_cum_has_as_many_rows_as_are_wanted)
{
	make(self->p);
	RUN(cmd_top, "--cum", "-n", "4", "--type", "samples", NULL);
	EXPECT_STREQ(
"Type: samples\n"
"Time: 2023-11-14 22:13:20 UTC\n"
"Duration: 2.00 s, Total = 100\n"
"Comment: a comment\n"
"Showing 4 of 12 functions, 60.00% of the total; -n N shows N\n"
"19.00% are in code without names, shown as FILE+0xADDRESS or [FILE]; debug\n"
"symbols name it, where no reason stands beside it\n"
"     flat   flat%    sum%       cum    cum%\n"
"       10  10.00%  10.00%        81  81.00%  main [prog]\n"
"       20  20.00%  30.00%        54  54.00%  work [prog]\n"
"       30  30.00%  60.00%        30  30.00%  tiny (inline) [prog]\n"
"        0   0.00%  60.00%        30  30.00%  leaf [prog]\n", self->out);
}

/* As of two profiles, one taken from the other. */
TEST_F(profile, table_of_a_difference_is_sorted_by_size)
{
	uint32_t program = mapping(self->p, "/bin/prog", 0x1000);
	uint32_t less = location(self->p, program, 0x1100, "less", NULL);
	uint32_t more = location(self->p, program, 0x1200, "more", NULL);
	uint32_t inlined = location(self->p, program, 0x1300, "more", "less", NULL);

	SAMPLE(self->p, -6, -0.006, less);
	SAMPLE(self->p, 4, 0.004, more);
	SAMPLE(self->p, 1, 0.001, inlined);
	RUN(cmd_top, NULL);
	EXPECT_STREQ(
"Type: cpu\n"
"Total = 11.0 us\n"
"Showing 2 of 2 functions, -9.09% of the total\n"
"     flat   flat%    sum%       cum    cum%\n"
" -6.00 us -54.55% -54.55%  -5.00 us -45.45%  less [prog]\n"
"  5.00 us  45.45%  -9.09%   5.00 us  45.45%  more (partial-inline) [prog]\n", self->out);
}

TEST_F(profile, picture_is_exact)
{
	make(self->p);
	RUN(cmd_flame, "-o", "-", "--title", "a & b", NULL);
	EXPECT_STREQ(
"<g id=\"frames\">\n"
"<g><rect class=\"a\" x=\"10.00\" y=\"86\" width=\"1179.40\" height=\"17\" rx=\"1\"/><text x=\"13.00\" y=\"99\">all</text><title>all: 1.00 s, 100.00%</title></g>\n"
"<g><rect class=\"u3\" x=\"10.00\" y=\"104\" width=\"943.40\" height=\"17\" rx=\"1\"/><text x=\"13.00\" y=\"117\">main</text><title>main [/bin/prog]: 800 ms, 80.00%</title></g>\n"
"<g><rect class=\"u1\" x=\"10.00\" y=\"122\" width=\"631.88\" height=\"17\" rx=\"1\"/><text x=\"13.00\" y=\"135\">work</text><title>work [/bin/prog]: 536 ms, 53.60%</title></g>\n"
"<g><rect class=\"u1\" x=\"10.00\" y=\"140\" width=\"353.40\" height=\"17\" rx=\"1\"/><text x=\"13.00\" y=\"153\">leaf</text><title>leaf [/bin/prog]: 300 ms, 30.00%</title></g>\n"
"<g><rect class=\"i0\" x=\"10.00\" y=\"158\" width=\"353.40\" height=\"17\" rx=\"1\"/><text x=\"13.00\" y=\"171\">tiny</text><title>tiny [/bin/prog]: 300 ms, 30.00%</title></g>\n"
"<g><rect class=\"k3\" x=\"364.00\" y=\"140\" width=\"41.88\" height=\"17\" rx=\"1\"/><text x=\"367.00\" y=\"153\">sys..</text><title>sys&lt;call&gt; [[kernel.kallsyms]]: 36.0 ms, 3.60%</title></g>\n"
"<g><rect class=\"u2\" x=\"642.48\" y=\"122\" width=\"188.20\" height=\"17\" rx=\"1\"/><text x=\"645.48\" y=\"135\">again</text><title>again [/bin/prog]: 160 ms, 16.00%</title></g>\n"
"<g><rect class=\"u2\" x=\"642.48\" y=\"140\" width=\"188.20\" height=\"17\" rx=\"1\"/><text x=\"645.48\" y=\"153\">again</text><title>again [/bin/prog]: 160 ms, 16.00%</title></g>\n"
"<g><rect class=\"u2\" x=\"642.48\" y=\"158\" width=\"188.20\" height=\"17\" rx=\"1\"/><text x=\"645.48\" y=\"171\">again</text><title>again [/bin/prog]: 160 ms, 16.00%</title></g>\n"
"<g><rect class=\"u0\" x=\"831.28\" y=\"122\" width=\"3.77\" height=\"17\" rx=\"1\"/><title>small [/bin/prog]: 3.70 ms, 0.37%</title></g>\n"
"<g><rect class=\"r\" x=\"835.65\" y=\"122\" width=\"0.35\" height=\"17\" rx=\"1\"/><title>3 functions: 300 us, 0.03%</title></g>\n"
"<g><rect class=\"u0\" x=\"954.00\" y=\"104\" width=\"235.40\" height=\"17\" rx=\"1\"/><text x=\"957.00\" y=\"117\">[libx.so]</text><title>[libx.so] [/lib/libx.so]: 200 ms, 20.00%</title></g>\n"
"</g>\n"
"<text class=\"note\" x=\"10\" y=\"196\">a comment</text>\n"
"<g id=\"bar\">\n"
"<rect class=\"paper\" width=\"1200\" height=\"84\"/>\n"
"<text class=\"head\" x=\"10\" y=\"26\">a &amp; b</text>\n"
"<text class=\"note\" x=\"10\" y=\"44\">cpu: 1.00 s in 2.00 s, 2023-11-14 22:13:20 UTC</text>\n"
"<rect class=\"u1\" x=\"10\" y=\"52\" width=\"12\" height=\"12\"/><text class=\"note\" x=\"28\" y=\"62\">user</text>\n"
"<rect class=\"k1\" x=\"79\" y=\"52\" width=\"12\" height=\"12\"/><text class=\"note\" x=\"97\" y=\"62\">kernel</text>\n"
"<rect class=\"i1\" x=\"162\" y=\"52\" width=\"12\" height=\"12\"/><text class=\"note\" x=\"180\" y=\"62\">inlined</text>\n"
"<rect class=\"j1\" x=\"252\" y=\"52\" width=\"12\" height=\"12\"/><text class=\"note\" x=\"270\" y=\"62\">runtime</text>\n"
"<text id=\"culled\" class=\"note\" x=\"350\" y=\"62\">4 frames narrower than 0.3 px not drawn, grey stands for them</text>\n"
"<text id=\"details\" x=\"10\" y=\"80\">click a frame to zoom in, Ctrl-F to search, Esc for the whole</text>\n"
"<text id=\"matched\" x=\"1190\" y=\"49\"></text>\n"
"</g>\n"
"<script id=\"data\" type=\"application/json\"><![CDATA[\n"
"{\"width\":1200,\"margin\":10,\"top\":86,\"row\":18,\"column\":7.23,\"height\":212,\"narrowest\":0.3,\"widestRest\":80,\"drawnMax\":10000,\"units\":[[3.6e+13,3.6e+12,\" h\"],[6e+11,6e+10,\" min\"],[999500000,1e+09,\" s\"],[999500,1000000,\" ms\"],[999.5,1000,\" us\"],[0,1,\" ns\"]],\"diff\":false,\"hint\":\"click a frame to zoom in, Ctrl-F to search, Esc for the whole\",\n"
"\"frames\":[[\"all\",\"\",0,2],\n"
"[\"main\",\"/bin/prog\",0,3],\n"
"[\"work\",\"/bin/prog\",0,1],\n"
"[\"leaf\",\"/bin/prog\",0,1],\n"
"[\"tiny\",\"/bin/prog\",2,0],\n"
"[\"again\",\"/bin/prog\",0,2],\n"
"[\"sys\\u003ccall\\u003e\",\"[kernel.kallsyms]\",1,3],\n"
"[\"[libx.so]\",\"/lib/libx.so\",0,0],\n"
"[\"small\",\"/bin/prog\",0,0],\n"
"[\"rest_a\",\"/bin/prog\",0,3],\n"
"[\"rest_b\",\"/bin/prog\",0,3],\n"
"[\"rest_c\",\"/bin/prog\",0,3],\n"
"[\"rest_d\",\"/bin/prog\",0,3]],\n"
"\"tree\":\"(0(1:1njchs(2:3b2ozk(3(4:4ym1hc))(6:lfls0))(5(5(5:2n9csg)))(8:27axs)(9:255s)(a:255s)(b(c:255s)))(7:3b2ozk))\"}\n", picture(self));
}

TEST_F(profile, rows_that_are_asked_for_are_there_however_small)
{
	make(self->p);
	RUN(cmd_top, "-n", "12", NULL);
	EXPECT_SAYS(self->out, "  rest_a [prog]\n", "  rest_d [prog]\n");
	EXPECT_LACKS(self->out, "not shown");
}

TEST_F(profile, frames_of_a_module_are_the_kernels)
{
	uint32_t module = mapping(self->p, "/lib/modules/6.1/net.ko", 0x1000);

	SAMPLE(self->p, 1, 1, location(self->p, module, 0x1100, "in_module", NULL));
	RUN(cmd_flame, "-o", "-", NULL);
	EXPECT_SAYS(self->out, "[\"in_module\",\"/lib/modules/6.1/net.ko\",1,");
}

#define DEEP	1100	/* more than the picture is deep */

TEST_F(profile, stacks_too_deep_keep_their_root)
{
	uint32_t program = mapping(self->p, "/bin/prog", 0x1000), stack[DEEP];
	uint32_t leaf = location(self->p, program, 0x1100, "the_leaf", NULL);
	uint32_t again = location(self->p, program, 0x1200, "again", NULL);
	const int64_t values[] = { 1, 1000000 };

	for (size_t i = 0; i < DEEP; i++)
		stack[i] = again;
	stack[0] = leaf;
	stack[DEEP - 1] = location(self->p, program, 0x1300, "the_root", NULL);
	gprof_profile_add_sample(self->p, stack, DEEP, NULL, 0, values);
	RUN(cmd_flame, "-o", "-", NULL);
	EXPECT_SAYS(self->out, "[\"the_root\",");
	EXPECT_LACKS(self->out, "the_leaf");
	EXPECT_SAYS(self->said, "1 samples with more than 1024 frames were cut");
}

TEST_F(profile, what_a_picture_leaves_out_is_told)
{
	uint32_t program = mapping(self->p, "/bin/prog", 0x1000);
	uint32_t less = location(self->p, program, 0x1100, "less", NULL);
	uint32_t more = location(self->p, program, 0x1200, "more", NULL);

	SAMPLE(self->p, -1, -1, less);
	SAMPLE(self->p, -2, -2, less, more);
	SAMPLE(self->p, 3, 3, more);
	RUN(cmd_flame, "-o", "-", NULL);
	EXPECT_SAYS(self->said, "2 samples with values below 0");
}

/* 3500 stacks of 5 functions each are all wide enough, and too many all the same. */
TEST_F(profile, a_picture_has_no_more_boxes_than_a_browser_can_bear)
{
	uint32_t program = mapping(self->p, "/bin/prog", 0x1000);
	const int64_t values[] = { 1, 1000000 };
	size_t boxes = 0, i, j;
	const char *at;

	for (i = 0; i < 3500; i++) {
		uint32_t stack[5];

		for (j = 0; j < 5; j++) {
			char name[16];

			snprintf(name, sizeof(name), "f%zu", i * 5 + j);
			stack[j] = location(self->p, program, 0x1100 + i * 5 + j, name, NULL);
		}
		gprof_profile_add_sample(self->p, stack, 5, NULL, 0, values);
	}
	RUN(cmd_flame, "-o", "-", NULL);
	for (at = self->out; (at = strstr(at, "<g><rect")); at++)
		boxes++;
	EXPECT_LT(0, boxes);
	EXPECT_GE(10000, boxes);
	EXPECT_SAYS(self->out, "[\"f17499\",");
}

/* As many as are not made at once, of a file that is sorted, each stack twice. */
TEST_F(profile, a_tree_of_any_size_has_each_stack_once)
{
	const struct gprof_label labels[] = {
		{ .key = gprof_profile_text(self->p, "tid"), .num = 1 },
		{ .key = gprof_profile_text(self->p, "tid"), .num = 2 },
	};
	uint32_t program = mapping(self->p, "/bin/prog", 0x1000), frames[3][100], i, j, k, l;
	const int64_t values[] = { 1, 1 };
	size_t leaves = 0, wrong = 0;
	struct calltree tree;
	struct view view;
	char name[16];

	for (i = 0; i < 3; i++)
		for (j = 0; j < 100; j++) {
			snprintf(name, sizeof(name), "f%u", i * 100 + j);
			frames[i][j] = location(self->p, program, 0x1100 + i * 100 + j, name, NULL);
		}
	for (i = 0; i < 5; i++)
		for (l = 0; l < 2; l++)
			for (j = 0; j < 100; j++)
				for (k = 0; k < 100; k++)
					gprof_profile_add_sample(self->p, (uint32_t[]){
						frames[2][k], frames[1][j], frames[0][i] }, 3,
						&labels[l], 1, values);
	save(self);
	ASSERT_EQ(STATUS_OK, view_open(&view, self->file, NULL));
	ASSERT_EQ(STATUS_OK, calltree_build(&tree, &view));
	EXPECT_EQS(1 + 5 + 5 * 100 + 5 * 100 * 100, tree.nr, 100000, tree.nodes[0].total);
	for (i = 0; i < tree.nr; i++) {
		leaves += tree.nodes[i].self == 2;
		wrong += tree.nodes[i].self != (tree.nodes[i].depth == 3 ? 2 : 0);
	}
	EXPECT_EQS(50000, leaves, 0, wrong);
	calltree_free(&tree);
	view_close(&view);
}

TEST_F(profile, what_is_asked_in_vain_is_an_error)
{
	make(self->p);
	run(self, cmd_top, "--type", "bytes", NULL);
	EXPECT_EQ(STATUS_USAGE, self->status);
	EXPECT_STREQ("", self->out);
	unlink(self->file);
	strcpy(self->file, "/tmp/gprof-profile.XXXXXX");
	run(self, cmd_top, "-n", "0", NULL);
	EXPECT_EQ(STATUS_USAGE, self->status);
	unlink(self->file);
	strcpy(self->file, "/tmp/gprof-profile.XXXXXX");
	run(self, cmd_flame, "--title", "t", NULL);
	EXPECT_EQ(STATUS_USAGE, self->status);
}

TEST_HARNESS_MAIN
