// SPDX-License-Identifier: GPL-2.0-only
/*
 * Small parts of the command that other parts lean on: durations, text for pictures
 * and tables, names of functions, numbers with their unit.
 */
#include <math.h>
#include "harness.h"
#include "base/unnamed.h"
#include "cli/duration.h"
#include "cli/hook.h"
#include "cli/intern.h"
#include "cli/json.h"
#include "trace/plot.h"
#include "record/record_summary.h"
#include "cli/human.h"
#include "cli/text.h"
#include "trace/triggers.h"
#include "profile/view.h"

TEST(durations_are_read_with_their_unit)
{
	static const struct { const char *text; int64_t ns; } good[] = {
		{ "0", 0 }, { "1ns", 1 }, { "1us", 1000 }, { "1µs", 1000 }, { "1ms", 1000000 },
		{ "1s", 1000000000 }, { "1min", 60000000000 }, { "1h", 3600000000000 },
		{ "1.5ms", 1500000 }, { "0.0004us", 0 }, { "0.6ns", 1 }, { ".5s", 500000000 },
	};
	static const char *const bad[] = {
		"", "s", "-1s", "+1s", " 1s", "0x1s", "1 s", "1ss", "1S", "nan", "infs",
		"1e300s", "99999999999999h", "1.s.",
	};

	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		int64_t ns = -1;

		EXPECT_TRUE(duration_parse(good[i].text, &ns));
		EXPECT_EQ(good[i].ns, ns) TH_LOG("%s", good[i].text);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		int64_t ns;

		EXPECT_FALSE(duration_parse(bad[i], &ns)) TH_LOG("%s", bad[i]);
	}
}

TEST(durations_have_four_digits_and_a_unit)
{
	static const struct { int64_t ns; const char *text; } table[] = {
		{ 0, "0 ns" }, { 999, "999 ns" }, { 1000, "1 us" }, { 999949, "999.9 us" },
		{ 999960, "1 ms" }, { 1234567, "1.235 ms" }, { 1500000000, "1.5 s" },
	};
	char text[DURATION_TEXT];

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		EXPECT_STREQ(table[i].text, duration_text(table[i].ns, text));
}

/* What is written of a text in each way. */
static char *written(void (*how)(FILE *f, const char *s), const char *s)
{
	static char text[256];
	FILE *f = fmemopen(text, sizeof(text), "w");

	how(f, s);
	fclose(f);
	return text;
}

static size_t xml_columns = SIZE_MAX;

static void xml(FILE *f, const char *s)
{
	text_xml(f, s, xml_columns);
}

TEST(text_cannot_leave_the_place_it_is_written_to)
{
	EXPECT_STREQ("a&amp;&lt;b&gt;&quot;'", written(xml, "a&<b>\"'"));
	EXPECT_STREQ("\"\\\"\\\\\\u003c\\u003e\\u0026\\u000a\\u0009/\"",
		     written(text_json, "\"\\<>&\n\t/"));
	/* what a terminal would obey */
	EXPECT_STREQS("a?[31mb?c?", written(text_plain, "a\033[31mb\nc\x7f"),
		      "a?b", written(text_plain, "a\xc2\x9b" "b"),
		      "?dc?שלום", written(text_plain, "\u202edc\u2069שלום"),
		      "ä€𝄞", written(text_plain, "ä€𝄞"), "\"ä€𝄞\"", written(text_json, "ä€𝄞"),
		      "ä€𝄞", written(xml, "ä€𝄞"));
}

TEST(json_is_whole_whatever_is_in_it)
{
	static const char zeros[] = "a\0\033\"\xff";
	char *text;
	size_t size;
	struct json j = { 0 };
	FILE *f = open_memstream(&text, &size);

	json_open_array(&j, f, "test");
	json_bytes(&j, NULL, zeros, sizeof(zeros) - 1);
	json_object(&j, NULL);
	json_double(&j, "nan", NAN, 6);
	json_double(&j, "inf", -INFINITY, 6);
	json_double(&j, "third", 1.0 / 3, JSON_EXACT);
	json_double(&j, "tenth", 0.1, JSON_EXACT);
	json_u64(&j, "most", UINT64_MAX);
	json_s64(&j, "least", INT64_MIN);
	json_array(&j, "rows");
	json_object(&j, NULL);
	json_end(&j);
	json_bool(&j, NULL, true);
	json_end(&j);
	json_end(&j);
	json_loss(&j, NULL, "%d%%", 7);
	json_loss(&j, "a\\", "x");
	json_close(&j);
	fclose(f);
	EXPECT_STREQ("{\"version\": 1, \"command\": \"test\", \"data\": [\"a\\u0000\\u001b\\\"\xef\xbf\xbd\",\n"
		     "{\"nan\": null, \"inf\": null, \"third\": 0.3333333333333333, \"tenth\": 0.1, "
		     "\"most\": 18446744073709551615, \"least\": -9223372036854775808, \"rows\": [{}, true]}], "
		     "\"losses\": [\n{\"text\": \"7%\"},\n{\"file\": \"a\\\\\", \"text\": \"x\"}]}\n", text);
	free(text);
}

/* Each byte that belongs to nothing is one replacement. */
TEST(what_is_no_utf8_is_replaced)
{
	static const struct { const char *text, *plain; } table[] = {
		{ "\x80", "?" }, { "\xff", "?" }, { "\xc3", "?" }, { "\xc3x", "?x" },
		{ "\xc0\x80", "?" }, { "\xc1\x81", "?" }, { "\xe0\x80\x80", "?" },
		{ "\xe0\x81\x81", "?" }, { "\xf0\x80\x81\x81", "?" },
		{ "\xed\xa0\x80", "?" }, { "\xed\x9f\xbf", "\xed\x9f\xbf" },
		{ "\xee\x80\x80", "\xee\x80\x80" }, { "\xf4\x90\x80\x80", "?" },
		{ "\xf4\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf" }, { "\xf0\x80\x80\x80", "?" },
		{ "\xf0\x90\x80\x80", "\xf0\x90\x80\x80" }, { "\xe2\x82", "??" },
		{ "\xc2\x80", "?" }, { "\xc2\xa0", "\xc2\xa0" }, { "\xdf\xbf", "\xdf\xbf" },
		{ "\xe0\xa0\x80", "\xe0\xa0\x80" }, { "\xef\xbf\xbe", "?" },
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		EXPECT_STREQ(table[i].plain, written(text_plain, table[i].text))
			TH_LOG("row %zu", i);
	}
}

TEST(columns_are_counted_and_kept_to)
{
	EXPECT_EQS(0, text_columns(""), 3, text_columns("aäb"), 4, text_columns("漢字"));
	xml_columns = 3;
	EXPECT_STREQS("a&lt;b", written(xml, "a<bc"), "a漢", written(xml, "a漢字"));
	xml_columns = SIZE_MAX;
}

TEST(values_are_written_in_three_digits)
{
	static const struct { double value; const char *unit, *text; } rows[] = {
		{ 0, "nanoseconds", "0" }, { 999, "nanoseconds", "999 ns" },
		{ 999.4e3, "nanoseconds", "999 us" }, { 999.5e6, "nanoseconds", "1.00 s" },
		{ -9.994e6, "nanoseconds", "-9.99 ms" }, { 9.996e6, "nanoseconds", "10.0 ms" },
		{ 99.96, "milliseconds", "100 ms" }, { 599, "seconds", "599 s" },
		{ 600, "seconds", "10.0 min" }, { 36000, "seconds", "10.0 h" },
		{ 1023, "bytes", "1023 B" }, { 1024, "bytes", "1.00 KiB" },
		{ 13002342, "bytes", "12.4 MiB" }, { 9999, "count", "9999" },
		{ 10000, "count", "10.0 k" }, { 1310400000, "cycles", "1.31 G" },
		{ 999499, "count", "999 k" }, { 999500, "count", "1.00 M" },
	};
	char text[HUMAN_MAX];

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		EXPECT_STREQ(rows[i].text, human(rows[i].value, rows[i].unit, text));
}

TEST(long_names_lose_their_arguments_then_their_middle)
{
	static const struct { const char *name; size_t columns; const char *shown; } table[] = {
		{ "main", 8, "main" },
		{ "std::vector<int, std::allocator<int> >::at", 42,
		  "std::vector<int, std::allocator<int> >::at" },
		{ "std::vector<int, std::allocator<int> >::at", 41, "std::vector<...>::at" },
		{ "a<b<c> >::d<e>::f<>(g)", 21, "a<...>::d<e>::f<>(g)" },
		{ "x::operator<< <std::char_traits<char> >", 24, "operator<<...aits<...> >" },
		{ "x::operator-><abcdefghijklm>", 24, "x::operator-><...>" },
		{ "x::operator<=><abcdefghijk>", 24, "x::operator<=><...>" },
		{ "<alloc::vec::Vec<T> as core::Drop>::drop", 40,
		  "<alloc::vec::Vec<T> as core::Drop>::drop" },
		{ "<<T as U>::V as core::W<X, Y>>::f::<Yyyyyy>", 41,
		  "<<T as U>::V as core::W<...>>::f::<...>" },
		{ "github.com/a/b.c/log.(*T).Write", 14, "log.(*T).Write" },
		{ "a.b/c.f[go.shape.*a/b.T]", 20, "c.f[go.shape.*a/b.T]" },
		{ "core::iter::Map<A, B>::fold", 22, "iter::Map<...>::fold" },
		{ "core::iter::Map::fold", 14, "Map::fold" }, { "a::b::", 5, "b::" },
		{ "a::b(c::d)", 7, "b(c::d)" }, { "dir/a long name", 12, "a long name" },
		{ "unbalanced<<<<aaaaaaaaaaa", 19, "unbalanc...aaaaaaaa" },
		{ "aaaaaaaaaabbbbbbbbbb", 11, "aaaa...bbbb" }, { "漢字漢字漢字漢字", 9, "漢...字" },
		{ "\xff\xff\xff\xff\xff", 8, "\xff...\xff" }, { "", 8, "" },
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		char *text = text_short(table[i].name, table[i].columns);

		EXPECT_STREQ(table[i].shown, text);
		EXPECT_GE(table[i].columns, text_columns(text));
		free(text);
	}
}

/* A profile may have any names. */
TEST(name_spaces_without_end_take_no_time_without_end)
{
	enum { SPACES = 300000 };
	char *name = calloc(SPACES, 3), *text;

	for (size_t i = 0; i < SPACES - 1; i++)
		memcpy(&name[3 * i], "a::", 3);
	strcpy(&name[3 * (SPACES - 1)], "b");
	text = text_short(name, 8);
	EXPECT_STREQ("a::a::b", text);
	free(text);
	free(name);
}

TEST(functions_without_a_name_are_called_by_their_file)
{
	static const struct { const char *function, *shown; bool unnamed; } table[] = {
		{ "main", "main", false }, { "[libx.so+0x12]", "[libx.so]", true },
		{ "[a+0x1+0x2]", "[a+0x1]", true }, { "0x1234", "[unknown]", true },
		{ "[no stack]", "[no stack]", false }, { "[vdso]", "[vdso]", true },
		{ "libx.so.1+0x96120", "libx.so.1+0x96120", true },
		{ "operator+0x1", "operator+0x1", false },
		{ "operator+0x123()", "operator+0x123()", false }, { "[a+b]", "[a+b]", true },
	};
	char text[VIEW_NAME_MAX];

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		const struct gprof_frame f = { .function = table[i].function };
		const char *shown = view_function(&f, text);

		EXPECT_STREQ(table[i].shown, shown);
		EXPECT_EQ(table[i].unnamed, gprof_is_unnamed(shown)) TH_LOG("%s", shown);
	}
}

TEST(equal_keys_have_one_number_and_others_have_others)
{
	struct intern t = { 0 };
	char key[16];
	size_t length;

	for (unsigned int round = 0; round < 2; round++)
		for (unsigned int i = 0; i < 5000; i++) {
			snprintf(key, sizeof(key), "%u", i);
			ASSERT_EQ(i, intern_add(&t, key, strlen(key) + 1));
		}
	EXPECT_EQ(5000, t.nr);
	EXPECT_STREQ("4321", (const char *)intern_key(&t, 4321, &length));
	EXPECT_EQ(5, length);
	/* a key that another begins with is another */
	EXPECT_EQ(5000, intern_add(&t, "4321", 4));
	intern_free(&t);
}

/* Many times what the pool has room for then, at the first key and later. */
TEST(keys_may_be_of_any_length)
{
	const size_t size = 1 << 20;
	struct intern t = { 0 };
	char *key = malloc(size);
	size_t length;

	for (unsigned int i = 0; i < 3; i++) {
		memset(key, 'a' + i, size);
		ASSERT_EQ(i, intern_add(&t, key, size));
		EXPECT_LE((i + 1) * size, t.pool_size);
	}
	memset(key, 'a', size);
	EXPECT_ZEROS(intern_add(&t, key, size), memcmp(intern_key(&t, 0, &length), key, size));
	EXPECT_EQ(size, length);
	intern_free(&t);
	free(key);
}

TEST(names_of_tasks_are_not_obeyed)
{
	/* CSI as one character of UTF-8, and as a byte that is none */
	struct gprof_flight_fired f = {
		.cause = GPROF_CAUSE_DELAY, .trigger = "delay>1ms",
		.comm = "\302\233" "2J\233\033[x\303\244",
	};
	char line[TRIGGER_LINE], *safe = text_safe(f.comm);

	EXPECT_STREQ("?2J??[x\303\244", safe);
	EXPECT_TRUE(triggers_line(&f, line) == line);
	EXPECT_SAYS(line, safe);
	free(safe);
}

TEST(what_is_not_marked_is_told)
{
	struct gprof_flight_fired f = { .cause = GPROF_CAUSE_DELAY, .trigger = "delay>1ms" };
	char line[TRIGGER_LINE];

	EXPECT_LACKS(triggers_line(&f, line), "no mark");
	f.unmarked = true;
	EXPECT_SAYS(triggers_line(&f, line), "no mark");
}

/* Nobody can wait for a child where SIGCHLD is ignored, as who starts us may have it. */
TEST(a_hook_whose_status_is_lost_has_ended)
{
	sigset_t none;
	struct hook h = { .command = "exit 0", .limit_ns = 60000000000ULL, .mask = &none };

	sigemptyset(&none);
	signal(SIGCHLD, SIG_IGN);
	hook_run(&h, "x");
	ASSERT_LT(0, h.pid);
	for (unsigned int i = 0; i < 500 && h.pid; i++) {
		usleep(10000);
		hook_poll(&h);
	}
	EXPECT_EQS(0, h.pid, 1, h.failed);
}

/* What comes in is for the command that is recorded. */
TEST(a_hook_has_nothing_to_read)
{
	sigset_t none;
	struct hook h = { .command = "! read line", .limit_ns = 60000000000ULL, .mask = &none };
	int in[2], old = dup(STDIN_FILENO);
	char byte = 0;

	sigemptyset(&none);
	ASSERT_EQS(0, pipe(in), 2, write(in[1], "x\n", 2), STDIN_FILENO, dup2(in[0], STDIN_FILENO));
	hook_run(&h, "x");
	hook_end(&h);
	EXPECT_EQS(0, h.failed, 1, read(STDIN_FILENO, &byte, 1), 'x', byte);
	dup2(old, STDIN_FILENO);
	close(old);
	close(in[0]);
	close(in[1]);
}

/* Whoever has its end of the pipe open is not gone. */
TEST(a_hook_is_killed_with_all_that_it_has_begun)
{
	struct hook h = { .command = "sleep 1000 & echo >&9; wait", .limit_ns = 60000000000ULL };
	struct pollfd pfd = { .events = POLLIN };
	sigset_t none;
	int out[2];
	char byte;

	sigemptyset(&none);
	h.mask = &none;
	ASSERT_EQS(0, pipe2(out, O_CLOEXEC), 9, dup2(out[1], 9));
	hook_run(&h, "x");
	close(out[1]);
	close(9);
	ASSERT_EQ(1, read(out[0], &byte, 1));
	h.limit_ns = 1;
	hook_end(&h);
	EXPECT_EQ(1, h.failed);
	pfd.fd = out[0];
	EXPECT_EQ(1, poll(&pfd, 1, 5000));
	close(out[0]);
}

/* Nor can it be killed where it is another user's by now, as sudo makes it. */
TEST(a_hook_that_cannot_be_killed_is_left)
{
	sigset_t none;
	struct hook h = { .command = "exec sleep 10", .limit_ns = 1, .mask = &none };
	pid_t pid;

	if (geteuid())
		SKIP(return, "needs root, whose program no other user may kill");
	sigemptyset(&none);
	hook_run(&h, "x");
	pid = h.pid;
	ASSERT_LT(0, pid);
	ASSERT_EQ(0, setresuid(1000, 1000, 0));
	hook_poll(&h);
	EXPECT_EQS(pid, h.pid, 0, h.failed);
	hook_end(&h);
	EXPECT_EQS(0, h.pid, 1, h.failed);
	ASSERT_EQ(0, setresuid(0, 0, 0));
	EXPECT_EQ(0, waitpid(pid, NULL, WNOHANG));
	kill(pid, SIGKILL);
}

/* What is told of it on stderr. */
static const char *told(const struct gprof_recorder_stats *st, bool verbose)
{
	static const struct record_words words = {
		"a higher --every", "a lower --every", "it never waited", "or ",
	};
	static char text[4096];
	int fd = memfd_create("err", MFD_CLOEXEC), old = dup(STDERR_FILENO);
	ssize_t n;

	dup2(fd, STDERR_FILENO);
	record_summary(st, 1, &words, verbose);
	dup2(old, STDERR_FILENO);
	n = pread(fd, text, sizeof(text) - 1, 0);
	text[n > 0 ? n : 0] = '\0';
	close(old);
	close(fd);
	return text;
}

TEST(a_loss_has_its_own_reason_and_help)
{
	struct gprof_recorder_stats st = { .event = "block", .produced = 8, .read = 4, .lost = 4 };
	static const struct { size_t at; const char *text; } table[] = {
		{ offsetof(struct gprof_recorder_stats, lost_full),
		  "larger --buffer avoids it, or a higher --every\n" },
		{ offsetof(struct gprof_recorder_stats, lost_nested), "interrupts were nested" },
		{ offsetof(struct gprof_recorder_stats, lost_no_buffer), "on a CPU that came" },
		{ offsetof(struct gprof_recorder_stats, lost_waits), "too many tasks waited" },
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		uint64_t *nr = (uint64_t *)((char *)&st + table[i].at);
		const char *text;

		*nr = 4;
		text = told(&st, true);
		EXPECT_SAYS(text, "block: 4 of 8 samples (50 %) were lost, ", table[i].text);
		EXPECT_EQ(i > 0, !strstr(text, "buffer was full"));
		*nr = 0;
	}
	EXPECT_SAYS(told(&st, true), "a reason that the profile tells");
	st.lost_full = st.lost = st.produced;
	EXPECT_SAYS(told(&st, true), "block: 8 of 8 samples (100 %) were lost, ");
	st.lost_full = 0;
	st.lost = st.read = st.produced = 0;
	EXPECT_SAYS(told(&st, true), "no sample was taken: it never waited\n");
	st.count = 3;
	EXPECT_SAYS(told(&st, true), "counted 3, or less than one period; a lower --every takes");
	st.tables_refused = 1;
	EXPECT_SAYS(told(&st, true), "by frame pointers alone");
}

/* Each has a number of its own, so that none is told for another. */
TEST(each_count_is_told_as_what_it_is)
{
	const struct gprof_recorder_stats st = {
		.event = "heap", .produced = 1000, .read = 890, .lost = 100, .overwritten = 10,
		.throttled = 11, .nmi = 12, .irq = 13, .task = 14, .maps_lost = 15, .count = 16,
		.time_enabled_ns = 1000, .time_running_ns = 990, .stacks = 200,
		.stacks_text = "8.50 % of 200 user stacks are complete", .lost_full = 40,
		.lost_nested = 30, .lost_no_buffer = 15, .lost_waits = 10,
		.tables_refused = 1, .live_full = 24, .live_lost = 25, .live_unseen = 26,
		.other_python = 3 << 8 | 12,
	};

	EXPECT_STREQ("gprofctl: heap: 40 of 1000 samples (4 %) were lost, as the buffer was full; "
		     "a larger --buffer avoids it, or a higher --every\n"
		     "gprofctl: heap: 30 of 1000 samples (3 %) were lost, as interrupts were "
		     "nested deeper than there is memory for\n"
		     "gprofctl: heap: 15 of 1000 samples (1.5 %) were lost, on a CPU that came, "
		     "or of a process that was forked, for which there was no memory yet\n"
		     "gprofctl: heap: 10 of 1000 samples (1 %) were lost, as too many tasks "
		     "waited at once, or were gone before their stacks could be taken\n"
		     "gprofctl: heap: 5 of 1000 samples (0.5 %) were lost, for a reason that the "
		     "profile tells\n"
		     "gprofctl: heap: 10 of 1000 samples were overwritten by newer ones\n"
		     "gprofctl: heap: the kernel paused the counter 11 times for interrupting too "
		     "often, so busy times are undercounted; a higher --every avoids it\n"
		     "gprofctl: heap: the CPU has too few counters and shared them out: this "
		     "event was counted 99.0 % of the time\n"
		     "gprofctl: heap: stacks were walked by frame pointers alone: unwind tables "
		     "did not fit into the memory that you may lock (ulimit -l)\n"
		     "gprofctl: heap: Python 3.12 is not supported by --python, which knows 3.11 "
		     "and 3.13: its functions are in the stacks where it runs as python3 -X perf, "
		     "which writes perf maps\n"
		     "gprofctl: heap: 24 samples are not among the live ones, as there were too many at "
		     "once (a higher --every helps), or of processes of more than 4096 mappings, "
		     "whose end is not told\n"
		     "gprofctl: heap: 25 objects are live that are not in the profile, as their "
		     "samples were lost or not read\n"
		     "gprofctl: heap: up to 26 objects may be told as live that are not, as the "
		     "kernel did not tell of their ends\n"
		     "gprofctl: heap: 15 times the mappings of a process did not fit into the "
		     "buffer; frames may have no names\n"
		     "gprofctl: heap: 8.50 % of 200 user stacks are complete\n"
		     "produced=1000 read=890 lost=100 overwritten=10 throttled=11 nmi=12 irq=13 "
		     "task=14\n", told(&st, false));
}

#define COUNTS(_read, _over) "produced=1000 read=" _read " lost=0 overwritten=" _over \
			     " throttled=0 nmi=0 irq=0 task=0\n"
#define STACKS	"gprofctl: heap: stacks\n"

/* A line about samples or stacks is one that a user has to know, or asked for. */
TEST(counts_are_printed_where_something_is_missing_and_on_request)
{
	static const struct {
		uint64_t read, overwritten, complete;
		bool verbose;
		const char *printed;
	} rows[] = {
		{ 1000, 0, 200, false, "" }, { 1000, 0, 198, false, "" },
		{ 1000, 0, 197, false, STACKS },
		{ 1000, 0, 200, true, STACKS COUNTS("1000", "0") },
		{ 999, 0, 200, false, COUNTS("999", "0") },
		{ 999, 1, 200, false, "gprofctl: heap: 1 of 1000 samples were overwritten by newer ones\n"
				      COUNTS("999", "1") },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct gprof_recorder_stats st = {
			.event = "heap", .produced = 1000, .read = rows[i].read,
			.overwritten = rows[i].overwritten, .stacks = 200,
			.stacks_complete = rows[i].complete, .stacks_text = "stacks",
		};

		EXPECT_STREQ(rows[i].printed, told(&st, rows[i].verbose));
	}
}

/* All of @text's lines with @what in them. */
static void lines_with(const char *text, const char *what, char *lines)
{
	const char *end;

	for (*lines = '\0'; (end = strchr(text, '\n')); text = end + 1) {
		const char *found = strstr(text, what);

		if (found && found < end)
			strncat(lines, text, (size_t)(end + 1 - text));
	}
}

/* Both axes are even in decades, but below 1 %; more utilization is higher, longer is further. */
TEST(a_curve_is_drawn_to_scale)
{
	static const int64_t windows[] = { 1000, 10000, 100000, 1000000, 10000000 };
	static const double mmu[] = { 0, 0.005, 0.01, 0.1, 1 }, marks_mmu[] = { 0.1 };
	static const double util[] = { 0.0025, 0.01, 0.1, 1, 1 }, q[] = { 0.01 };
	const struct plot p = {
		.title = "title", .subtitle = "", .windows = windows, .nr = 5, .mmu = mmu, .q = q,
		.nr_q = 1, .util = util, .marks = &windows[3], .marks_mmu = marks_mmu,
		.nr_marks = 1,
	};
	char *svg = NULL, lines[4096];
	size_t size;
	FILE *f = open_memstream(&svg, &size);

	plot_write(f, &p);
	fclose(f);
	lines_with(svg, "class=\"mmu\" d=\"M92.0", lines);
	EXPECT_STREQ("<path class=\"mmu\" d=\"M92.0 494.0L300.0 467.7L508.0 441.4L716.0 279.7"
		     "L924.0 118.0\"/>\n", lines);
	lines_with(svg, "fill=\"#b2182b\" d=", lines);
	EXPECT_STREQ("<path fill=\"#b2182b\" d=\"M92.0 480.8L300.0 441.4L508.0 279.7L716.0 118.0"
		     "L924.0 118.0L924.0 118.0L716.0 279.7L508.0 441.4L300.0 467.7L92.0 494.0Z\"/>\n",
		     lines);
	lines_with(svg, "class=\"hit\"", lines);
	EXPECT_STREQ("<circle class=\"hit\" cx=\"92.0\" cy=\"494.0\" r=\"7\"><title>1 us: MMU 0 %; "
		     "worst 1 % up to 0.25 %</title></circle>\n"
		     "<circle class=\"hit\" cx=\"300.0\" cy=\"467.7\" r=\"7\"><title>10 us: MMU 0.5 %; "
		     "worst 1 % up to 1 %</title></circle>\n"
		     "<circle class=\"hit\" cx=\"508.0\" cy=\"441.4\" r=\"7\"><title>100 us: MMU 1 %; "
		     "worst 1 % up to 10 %</title></circle>\n"
		     "<circle class=\"hit\" cx=\"716.0\" cy=\"279.7\" r=\"7\"><title>1 ms: MMU 10 %; "
		     "worst 1 % up to 100 %</title></circle>\n"
		     "<circle class=\"hit\" cx=\"924.0\" cy=\"118.0\" r=\"7\"><title>10 ms: MMU 100 %; "
		     "worst 1 % up to 100 %</title></circle>\n", lines);
	lines_with(svg, "class=\"mark\"", lines);
	EXPECT_STREQ("<circle class=\"mark\" cx=\"716.0\" cy=\"279.7\" r=\"4.5\"/>\n", lines);
	/* the numbers beside the axes are where the curve has them */
	lines_with(svg, "text-anchor=\"end\">", lines);
	EXPECT_SAYS(lines, "y=\"498.5\" text-anchor=\"end\">0 %</text>\n",
		    "y=\"445.9\" text-anchor=\"end\">1 %</text>\n",
		    "y=\"122.5\" text-anchor=\"end\">100 %</text>\n");
	lines_with(svg, "text-anchor=\"middle\">", lines);
	EXPECT_SAYS(lines, "<text x=\"508.0\" y=\"516\" text-anchor=\"middle\">100 us<");
	free(svg);
}

TEST_HARNESS_MAIN
