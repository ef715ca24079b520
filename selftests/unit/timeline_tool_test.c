// SPDX-License-Identifier: GPL-2.0-only
/*
 * The page of a timeline: what its data says, of traces whose every number is known, and
 * that it stays a page however long they are.
 */
#include "harness.h"
#include "cli/cmd.h"
#include "views/pieces.h"
#include "views_build.h"
#include "lib_util.h"

#define PAGE_MAX	(64U << 20)
#define LETTERS		28

/* The page; for free(). */
static char *page_of(const char *path)
{
	int fd = open(path, O_RDONLY);
	char *text = calloc(1, PAGE_MAX);
	size_t len = 0;
	ssize_t n;

	while (fd >= 0 && text && (n = read(fd, text + len, PAGE_MAX - 1 - len)) > 0)
		len += (size_t)n;
	close(fd);
	return text;
}

/* 7 sleeps, is woken by 9, and runs for 2 ms; 9 has CPU 1 all the time. */
static void make_short(void)
{
	gprof_trace_writer_name(w, 7, "se</script>ven");
	gprof_trace_writer_name(w, 9, "nine");
	point(0, 1, GPROF_TRACE_POINT_SWITCH, 0, 0, 9, 0, 0);
	comes(1, 7);
	leaves(3, 7, GPROF_TRACE_WHY_SLEEPS, stack(in_sleep));
	wakes(13, 9, 7, 0);
	comes(14, 7);
	leaves(16, 7, GPROF_TRACE_WHY_DEAD, 0);
	point(20, 1, GPROF_TRACE_POINT_SWITCH, GPROF_TRACE_WHY_PREEMPTED, 9, 8, 0, 0);
}

TEST_F(views, page_of_a_short_trace)
{
	char *page, *data;

	make_short();
	SHOW(cmd_timeline, ARGV("timeline", self->trace, "-o", self->other));
	page = page_of(self->other);
	data = strstr(page, "{\"title\":\"x.trace\"");
	ASSERT_NE(NULL, data);
	EXPECT_SAYS(data, "\"resolution\":1,");
	/* A name is no end of the data. */
	EXPECT_LACKS(data, "</script>ven");
	EXPECT_SAYS(data, "[7,\"se\\u003c/script\\u003even\"]");
	/* On CPU 0 (a), asleep (d) until 9, which is the first thread, wakes it, runnable (b). */
	EXPECT_NE(NULL, strstr(data, "\"levels\":[[1,\"b2a1999998@0d10000000!:1@0b1000001!:1@0a1999999"
			       "@0\"]")) TH_LOG("%.2000s", data);
	/* CPU 0 has the second thread, nobody (}), it again, and nobody up to the end. */
	EXPECT_SAYS(data, "[[1,\"a1999999@1}11000000a2000000@1}4000001\"]]",
		    "\"stacks\":[\n[0,1,2,3,4,5]]",
		    "\"functions\":[\n\"__schedule\",\n\"schedule\",\n\"do_nanosleep\"");
	free(page);
}

/* What a CPU did while events of it were lost (|) is not what was seen before or behind. */
TEST_F(views, page_of_a_trace_with_a_gap)
{
	char *page, *data;

	comes(1, 7);
	point(3, 0, GPROF_TRACE_POINT_ENTER, 0, 7, 0, 0, 0);
	point(10, 0, GPROF_TRACE_POINT_LOST, 0, GPROF_TRACE_NO_TID, 0, 0, 9);
	point(10, 0, GPROF_TRACE_POINT_RUNNING, 0, 0, 8, 0, 0);
	leaves(14, 8, GPROF_TRACE_WHY_DEAD, 0);
	SHOW(cmd_timeline, ARGV("timeline", self->trace, "-o", self->other));
	page = page_of(self->other);
	data = strstr(page, "\"cpus\":");
	ASSERT_NE(NULL, data);
	EXPECT_SAYS(page,
		    "9 events are missing in the trace; what CPUs and threads did " "then is drawn as lost");
	/* No two events have the same time: 7 is said to have left one ns before 8 comes. */
	EXPECT_NE(NULL, strstr(data, "[[1,\"a1999997@1|7000002|1a3999998@0\"]]"))
		TH_LOG("%.600s", data);
	EXPECT_NE(NULL, strstr(data, "[[1,\"b2a1999997@0|11000001\"]]")) TH_LOG("%.600s", data);
	free(page);
}

TEST_F(views, page_of_a_part)
{
	char *never[] = { "timeline", self->trace, "-o", self->other, "--from", "7", NULL };
	char *page, *data;

	make_short();
	SHOW(cmd_timeline,
	     ARGV("timeline", self->trace, "-o", self->other, "--from", "+0.005",
		  "--to", "0.0155"));
	page = page_of(self->other);
	data = strstr(page, "{\"title\"");
	ASSERT_NE(NULL, data);
	EXPECT_NE(NULL, strstr(data, "\"begin\":\"5000001\",\n\"span\":10499999,"))
		TH_LOG("%.200s", data);
	EXPECT_NE(NULL, strstr(data, "[[1,\"d7999999!:1@0b1000001!:1@0a1499999@0\"]"))
		TH_LOG("%.2000s", data);
	free(page);
	RUN_TELLS(STATUS_FAILED, "has nothing from 7.000000", cmd_timeline, never);
	run(&self->r, cmd_timeline,
	    ARGV("timeline", self->trace, "-o", self->other, "--from", "soon"), -1);
	EXPECT_EQ(STATUS_USAGE, self->r.status);
}

/*
 * 9, of process 7, ran longest of all, and 7 has no track in this part but gives the name. 20 is of
 * process 12, of which nothing is known.
 */
TEST_F(views, page_of_processes)
{
	char *page, *data;

	gprof_trace_writer_name(w, 7, "seven");
	gprof_trace_writer_name(w, 8, "eight");
	gprof_trace_writer_name(w, 9, "nine");
	gprof_trace_writer_name(w, 20, "twenty");
	ASSERT_ZEROS(gprof_trace_writer_process(w, 9, 7), gprof_trace_writer_process(w, 20, 12));
	comes(1, 7);
	leaves(2, 7, GPROF_TRACE_WHY_DEAD, 0);
	comes(4, 8);
	leaves(6, 8, GPROF_TRACE_WHY_DEAD, 0);
	comes(7, 20);
	leaves(8, 20, GPROF_TRACE_WHY_DEAD, 0);
	comes(9, 9);
	leaves(14, 9, GPROF_TRACE_WHY_DEAD, 0);
	SHOW(cmd_timeline,
	     ARGV("timeline", self->trace, "-o", self->other, "--from", "0.003"));
	page = page_of(self->other);
	data = strstr(page, "\"processes\":");
	ASSERT_NE(NULL, data);
	EXPECT_SAYS(data, "[\n[7,\"seven\"],\n[8,\"eight\"],\n[12,\"twenty\"]],");
	EXPECT_SAYS(page, "\"threads\":[\n[9,\"nine\"],\n[8,\"eight\"],\n[20,\"twenty\"]",
		    "{\"thread\":0,\"process\":0,", "{\"thread\":2,\"process\":2,");
	free(page);
}

/* Without -o a browser is called with the page, which stays where it is said to be. */
TEST_F(views, page_without_a_name_is_opened)
{
	char *page, *at;

	make_short();
	setenv("BROWSER", "true", 1);
	ASSERT_EQ(0, gprof_trace_writer_close(w));
	RUN_OK(cmd_timeline, ARGV("timeline", self->trace));
	EXPECT_SAYS(self->r.err, " was opened in the browser");
	at = strstr(self->r.err, "/");
	ASSERT_NE(NULL, at);
	at[strcspn(at, " ")] = '\0';
	EXPECT_SAYS(at, "/gprofctl-timeline-", ".html");
	page = page_of(at);
	EXPECT_NE(NULL, strstr(page, "{\"title\":\"x.trace\""));
	free(page);
	EXPECT_EQ(0, unlink(at));
	setenv("BROWSER", "false", 1);
	run(&self->r, cmd_timeline, ARGV("timeline", self->trace), -1);
	EXPECT_EQ(STATUS_FAILED, self->r.status);
	EXPECT_SAYS(self->r.err, "no browser could be started; open /");
	at = strstr(self->r.err, "open ") + 5;
	at[strcspn(at, " ")] = '\0';
	EXPECT_EQ(0, unlink(at));
	unsetenv("BROWSER");
}

/* JavaScript's numbers are exact up to 2^53: the begin is text, and a longer span no page. */
TEST_F(views, page_of_times_beyond_numbers_of_javascript)
{
	const uint64_t late = (1ULL << 61) / MS;
	char *page;

	comes(late, 7);
	leaves(late + 2, 7, GPROF_TRACE_WHY_DEAD, 0);
	SHOW(cmd_timeline, ARGV("timeline", self->trace, "-o", self->other));
	page = page_of(self->other);
	EXPECT_NE(NULL, strstr(page, "\"begin\":\"2305843009212999936\",\n\"span\":2000001,"))
		TH_LOG("%.200s", strstr(page, "\"begin\""));
	free(page);
}

TEST_F(views, page_of_no_more_than_can_be_counted)
{
	comes(1, 7);
	leaves(1 + (1ULL << 54) / MS, 7, GPROF_TRACE_WHY_DEAD, 0);
	ASSERT_EQ(0, gprof_trace_writer_close(w));
	RUN_TELLS(STATUS_FAILED, "spans 208 days", cmd_timeline,
		  ARGV("timeline", self->trace, "-o", self->other));
	EXPECT_NE(0, access(self->other, F_OK));
}

TEST_F(views, page_of_one_trace_of_a_host)
{
	char *two[] = { "timeline", self->trace, self->other, "-o", self->other, NULL };
	char *argv[] = { "timeline", self->trace, "-o", self->other, NULL };
	char *page;

	run(&self->r, cmd_timeline, two, -1);
	EXPECT_EQ(STATUS_USAGE, self->r.status);
	run(&self->r, cmd_timeline, ARGV("timeline", self->other, "-o", self->other), -1);
	EXPECT_EQ(STATUS_FAILED, self->r.status);
	EXPECT_NE(0, access(self->other, F_OK));
	/* Half a header is no trace, and leaves nothing. */
	ASSERT_EQS(8, pwrite(self->fd, "go 1.23 ", 8, 0), 0, ftruncate(self->fd, 8));
	run(&self->r, cmd_timeline, argv, -1);
	EXPECT_EQ(STATUS_FAILED, self->r.status);
	EXPECT_NE(0, access(self->other, F_OK));
	/* What the trace does not tell is said in the page too. */
	ASSERT_EQ(0, ftruncate(self->fd, 0));
	comes(1, 7);
	waits(2, NULL, GPROF_TRACE_WHY_SLEEPS);
	SHOW(cmd_timeline, argv);
	EXPECT_SAYS(self->r.err, "--stacks --syscalls");
	page = page_of(self->other);
	EXPECT_SAYS(page, "waits have no reason; gprofctl trace --stacks --syscalls");
	free(page);
}

/* At every resolution a track tells all of the time and of each part, in few pieces. */
TEST(pieces_add_up_at_every_resolution)
{
	struct pieces fine = { 0 }, coarse;
	int64_t sums[LETTERS] = { 0 }, begin = 5;
	uint64_t x = 1;

	for (int i = 0; i < 20000; i++) {
		struct piece p = { .begin = begin, .count = 1, .who = PIECE_NOBODY };

		x = x * 6364136223846793005ULL + 1442695040888963407ULL;
		p.state = (uint8_t)((x >> 33) % 5);
		p.ns = p.longest = (int64_t)((x >> 40) % ((x >> 37) % 7 ? 1000 : 100000)) + 1;
		pieces_add(&fine, &p, 1);
		sums[p.state] += p.ns;
		begin += p.ns;
	}
	EXPECT_EQ(20000, fine.nr);
	for (int64_t r = 64; r < 2 * begin; r *= 8) {
		int64_t got[LETTERS] = { 0 }, at = 5;
		uint64_t count = 0;

		coarse = (struct pieces){ 0 };
		pieces_copy(&coarse, &fine, r);
		pieces_coarsen(&fine, r);
		ASSERT_EQ(coarse.nr, fine.nr);
		EXPECT_GE(16 * (uint64_t)(begin / r + 1), coarse.nr);
		for (uint32_t i = 0; i < coarse.nr; i++) {
			ASSERT_EQS(at, coarse.all[i].begin, at, fine.all[i].begin);
			at += coarse.all[i].ns;
			got[coarse.all[i].state] += coarse.all[i].ns;
			count += coarse.all[i].count;
		}
		EXPECT_EQS(begin, at, 20000, count, 0, memcmp(sums, got, sizeof(sums)));
		pieces_free(&coarse);
	}
	pieces_free(&fine);
}

/* What is behind LETTER, of all pieces of a level, added up; returns what is behind it. */
static const char *add_level(const char *p, long long *sums)
{
	while (*p && *p != '"') {
		if (*p >= 'a' && *p < 'a' + LETTERS)
			sums[*p - 'a'] += atoll(p + 1);
		p++;
	}
	return p + 1;
}

/* Every level of every track says what the track did; returns how many levels there were. */
static int check_levels(struct __test_metadata *_metadata, const char *page)
{
	const char *p = strstr(page, "\"tracks\":[");
	const char *end = strstr(page, "\"threads\":[\n");
	int levels = 0;

	while (p && (p = strstr(p, "\"ns\":[")) && p < end) {
		long long ns[LETTERS] = { 0 }, sums[LETTERS];

		p += strlen("\"ns\":[");
		for (int i = 0; i < LETTERS - 1; i++, p = strpbrk(p, ",]") + 1)
			ns[i] = atoll(p);
		p = strstr(p, "\"levels\":[[") + strlen("\"levels\":[");
		while (*p == '[') {
			memset(sums, 0, sizeof(sums));
			p = add_level(strchr(p, '"') + 1, sums);
			sums[LETTERS - 1] = 0;
			EXPECT_EQ(0, memcmp(ns, sums, sizeof(ns))) TH_LOG("level %d", levels);
			levels++;
			p += strspn(p, "],\n");
		}
	}
	return levels;
}

/* Two CPUs on which 40 threads take turns of 100 us, and wait in between. */
static void make_long(uint64_t turns)
{
	uint32_t ran[2] = { 0, 0 };
	uint64_t at = 0;

	for (uint64_t i = 1; i <= turns; i++) {
		struct gprof_trace_point p = {
			.time = i * 100000, .cpu = i % 2, .type = GPROF_TRACE_POINT_SWITCH,
			.why = GPROF_TRACE_WHY_SLEEPS, .tid = ran[i % 2],
			.other = 100 + (uint32_t)(i % 40),
		};

		if (i % 50000 == 1) {
			if (i > 1)
				gprof_trace_writer_cut(w, i * 100000, NULL);
			at = stack(in_pipe);
		}
		p.stack = p.tid ? at : 0;
		ran[i % 2] = p.other;
		if (i > 40) {
			const struct gprof_trace_point waking = {
				.time = p.time - 50000, .cpu = !p.cpu, .other = p.other,
				.type = GPROF_TRACE_POINT_WAKING, .tid = ran[!p.cpu],
			};

			gprof_trace_writer_add(w, &waking);
		}
		gprof_trace_writer_add(w, &p);
	}
}

/* More CPU samples than a page takes: of two CPUs that take turns each loses half, at random. */
TEST_F(views, page_of_many_samples)
{
	const struct gprof_trace_writer_opts opts = {
		.sz = sizeof(opts), .sample_period = 1000, .sample_type = "cpu",
		.sample_unit = "nanoseconds",
	};
	const char *p;
	char *page;
	size_t nr;

	begin_anew(_metadata, self, &opts);
	comes(0, 7);
	point(0, 1, GPROF_TRACE_POINT_SWITCH, 0, 0, 8, 0, 0);
	for (uint32_t i = 1; i <= 300000; i++) {
		const struct gprof_trace_point sample = {
			.time = i * 1000, .cpu = i % 2, .type = GPROF_TRACE_POINT_SAMPLE,
			.tid = 7 + i % 2,
		};

		gprof_trace_writer_add(w, &sample);
	}
	leaves(301, 7, GPROF_TRACE_WHY_DEAD, 0);
	SHOW(cmd_timeline, ARGV("timeline", self->trace, "-o", self->other));
	page = page_of(self->other);
	EXPECT_SAYS(page, "\"sampled\":2,");
	p = page;
	for (int i = 0; i < 2; i++) {
		p = strstr(p, "\"samples\":\"");
		ASSERT_NE(NULL, p);
		p += strlen("\"samples\":\"");
		for (nr = 0; *p != '"'; p++)
			nr += *p == ',';
		/* Six deviations. */
		EXPECT_LT(73800, nr);
		EXPECT_GT(76200, nr);
	}
	free(page);
}

TEST_F_TIMEOUT(views, page_of_a_long_trace_is_bounded, 120)
{
	struct stat st;
	char *page;

	make_long(600000);
	SHOW(cmd_timeline, ARGV("timeline", self->trace, "-o", self->other));
		EXPECT_GT(200 * 1024, lib_peak_kib(RUSAGE_CHILDREN));
	ASSERT_EQ(0, stat(self->other, &st));
	EXPECT_GT(PAGE_MAX / 2, st.st_size);
	page = page_of(self->other);
	/* 2,400,000 stretches are more than a page tells one by one. */
	EXPECT_LACKS(page, "\"resolution\":1,");
	EXPECT_LE(2 * 40, check_levels(_metadata, page));
	free(page);
}

TEST_HARNESS_MAIN
