// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests for profiles without the module: what is asked for, and what is answered to what
 * makes no sense.
 */
#include "harness.h"
#include <gprof/http.h>

#include "lib_util.h"
#include "serve/query.h"
#include "serve/record_request.h"

/* ---- queries ---- */

TEST(the_first_value_of_a_key_counts)
{
	static const struct { const char *query, *key; int ret; const char *value; } rows[] = {
		{ NULL, "a", 0, "" }, { "", "a", 0, "" }, { "a=1", "a", 1, "1" },
		{ "b=2&a=1&a=3", "a", 1, "1" }, { "&&a=1&&", "a", 1, "1" }, { "a", "a", 1, "" },
		{ "a=", "a", 1, "" }, { "aa=1", "a", 0, "" }, { "=1", "a", 0, "" },
		{ "a=b=c", "a", 1, "b=c" }, { "a=%41+%2B%26", "a", 1, "A +&" },
		{ "%61=1", "a", 1, "1" }, { "b=%zz&a=1", "a", 1, "1" }, { "%=1&a=1", "a", 1, "1" },
		{ "a=%", "a", -EINVAL, NULL }, { "a=%4", "a", -EINVAL, NULL },
		{ "a=%4&b=1", "a", -EINVAL, NULL }, { "a=%zz", "a", -EINVAL, NULL },
		{ "a=x%00y", "a", -EINVAL, NULL }, { "a=1234567", "a", 1, "1234567" },
		{ "a=12345678", "a", -EINVAL, NULL },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct gprof_error e = { 0 };
		char value[8] = "";
		int ret = gprof_query_get(rows[i].query, rows[i].key, value, sizeof(value), &e);

		EXPECT_EQ(rows[i].ret, ret) TH_LOG("%s", rows[i].query);
		if (rows[i].value)
			EXPECT_STREQ(rows[i].value, value);
		EXPECT_EQ(ret < 0, e.text[0] != '\0');
	}
}

TEST(seconds_and_counts_are_numbers_that_fit)
{
	static const char *const no_seconds[] = {
		"", "0", "0.0", "-1", "+1", "NaN", "inf", "1e9", "0x10", "1.", ".5", "1 ", " 1", "1,5", "0.0000000001",
	}, *const no_counts[] = {
		"", "-1", "1.5", "1kk", "k", "18446744073709551616", "18446744073709551G", "1 ", "0x1",
	};
	uint64_t v;

	EXPECT_TRUE(gprof_seconds_parse("30", &v));
	EXPECT_EQ(30000000000ULL, v);
	EXPECT_TRUE(gprof_seconds_parse("0.25", &v));
	EXPECT_EQ(250000000ULL, v);
	EXPECT_TRUE(gprof_seconds_parse("1.0000000019", &v));
	EXPECT_EQ(1000000001ULL, v);
	EXPECT_TRUE(gprof_seconds_parse("99999999999999999999999", &v));
	EXPECT_LE(1000000000ULL * 1000000000ULL, v);
	EXPECT_TRUE(gprof_count_parse("18446744073709551615", &v));
	EXPECT_EQ(UINT64_MAX, v);
	EXPECT_TRUE(gprof_count_parse("3M", &v));
	EXPECT_EQ(3000000ULL, v);
	EXPECT_TRUE(gprof_count_parse("0", &v));
	for (size_t i = 0; i < sizeof(no_seconds) / sizeof(no_seconds[0]); i++) {
		EXPECT_FALSE(gprof_seconds_parse(no_seconds[i], &v))
			TH_LOG("\"%s\"", no_seconds[i]);
	}
	for (size_t i = 0; i < sizeof(no_counts) / sizeof(no_counts[0]); i++) {
		EXPECT_FALSE(gprof_count_parse(no_counts[i], &v)) TH_LOG("\"%s\"", no_counts[i]);
	}
}

/* ---- wishes ---- */

TEST(a_name_that_one_process_has_is_that_process)
{
	static struct gprof_record_request w;
	struct gprof_error e = { 0 };
	const char *comm = lib_text("only-%d", getpid());
	int err;

	ASSERT_EQ(0, prctl(PR_SET_NAME, comm));
	err = gprof_record_request_set(&w, "comm", comm, &e);
	/* The thread that has the name is the process, unless the harness has forked it. */
	ASSERT_EQ(0, err) TH_LOG("%s", e.text);
	EXPECT_EQS(GPROF_PROCESS, w.target.type, getpid(), w.target.id,
		   -EINVAL, gprof_record_request_set(&w, "pid", "1", &e));
	EXPECT_SAYS(e.text, "exclude each other");
	memset(&w, 0, sizeof(w));
	EXPECT_EQ(-ESRCH, gprof_record_request_set(&w, "comm", "nobody-is-so", &e));
}

TEST(a_group_is_below_its_root)
{
	static const struct { const char *value, *name; } rows[] = {
		{ "system.slice", "/sys/fs/cgroup/system.slice" },
		{ "a/b..c", "/sys/fs/cgroup/a/b..c" }, { "/sys/fs/cgroup", "/sys/fs/cgroup" },
		{ "/sys/fs/cgroup/x", "/sys/fs/cgroup/x" },
		{ "", NULL }, { "/", NULL }, { "/etc", NULL }, { "..", NULL }, { "a/../..", NULL },
		{ "/sys/fs/cgroup/../../..", NULL }, { "/sys/fs/cgroups", NULL },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		static struct gprof_record_request w;
		struct gprof_error e = { 0 };
		int err;

		memset(&w, 0, sizeof(w));
		err = gprof_record_request_set(&w, "cgroup", rows[i].value, &e);
		EXPECT_EQ(rows[i].name ? 0 : -EINVAL, err) TH_LOG("\"%s\"", rows[i].value);
		if (rows[i].name)
			EXPECT_STREQ(rows[i].name, w.target.name);
	}
}

/* ---- requests ---- */

struct got {
	unsigned int status;
	char headers[1024];
	char body[8192];
	int calls;
	int ret;
};

static int keep(void *ctx, const struct gprof_http_answer *a)
{
	struct got *g = ctx;
	ssize_t n = pread(a->fd, g->body, sizeof(g->body) - 1, 0);

	g->calls++;
	g->status = a->status;
	g->body[n > 0 ? n : 0] = '\0';
	g->headers[0] = '\0';
	for (size_t i = 0; i < a->nr_headers; i++)
		snprintf(g->headers + strlen(g->headers), sizeof(g->headers) - strlen(g->headers),
			 "%s: %s\n", a->headers[i].name, a->headers[i].value);
	return g->ret;
}

FIXTURE(http) {
	struct gprof_http *h;
	struct got got;
};

FIXTURE_SETUP(http)
{
	self->h = gprof_http_new(&(struct gprof_http_config){
		.sz = sizeof(struct gprof_http_config), .target = { .type = GPROF_SELF },
		.max_ns = 60000000000,
	});
	ASSERT_NE(NULL, self->h);
}

FIXTURE_TEARDOWN(http)
{
	gprof_http_free(self->h);
}

static int ask(struct gprof_http *h, struct got *g, const char *method, const char *path,
	       const char *query)
{
	return gprof_http_handler(h, &(struct gprof_http_request){
		.sz = sizeof(struct gprof_http_request), .method = method, .path = path,
		.query = query, .answer = keep, .ctx = g,
	});
}

/* Each of these is one answer: a status and one line, marked for go tool pprof. */
TEST_F(http, what_makes_no_sense_has_a_status_and_a_sentence)
{
	static const struct {
		const char *method, *path, *query;
		unsigned int status;
		const char *why;
	} rows[] = {
		{ "GET", "profile", "seconds=0", 400, "seconds= wants a number above 0" },
		{ "GET", "profile", "seconds=-1", 400, "not \"-1\"" },
		{ "GET", "profile", "seconds=NaN", 400, "not \"NaN\"" },
		{ "GET", "trace", "seconds=1e9", 400, "not \"1e9\"" },
		{ "GET", "profile", "seconds=1000000000", 400, "at most 60 are recorded here" },
		{ "GET", "profile", "seconds=61", 400, "at most 60" },
		{ "GET", "profile", "seconds=", 400, "not \"\"" },
		{ "GET", "profile", "seconds=inf", 400, "not \"inf\"" },
		{ "GET", "profile", "seconds=0&seconds=1", 400, "not \"0\"" },
		{ "GET", "block", "seconds=61", 400, "at most 60" },
		{ "GET", "profile", "seconds=%31%", 400, "has an escape that is none" },
		{ "GET", "profile", "seconds=1%00", 400, "has an escape that is none" },
		{ "GET", "profile", "event=", 400, "event= wants the name of an event" },
		{ "GET", "profile", "period=0", 400, "period= wants a number of events above 0" },
		{ "GET", "profile", "period=x", 400, "period= wants a number" },
		{ "GET", "profile", "hz=-5", 400, "hz= wants samples per second" },
		{ "GET", "profile", "pid=1%0aX:%20y%1b[2J", 400, "not \"1?X: y?[2J\"" },
		{ "GET", "profile", "pid=0", 400, "pid= wants the number of a process" },
		{ "GET", "profile", "pid=-1", 400, "pid= wants" },
		{ "GET", "profile", "pid=1k", 400, "pid= wants" },
		{ "GET", "profile", "pid=99999999999", 400, "pid= wants" },
		{ "GET", "profile", "tid=x", 400, "tid= wants the number of a thread" },
		{ "GET", "profile", "pid=1&cpu=0", 400, "pid= and cpu= exclude each other" },
		{ "GET", "profile", "cgroup=../..", 400, "below /sys/fs/cgroup" },
		{ "GET", "profile", "comm=", 400, "comm= wants the name" },
		{ "GET", "profile", "comm=nobody-is-so", 404, "no process is called" },
		{ "GET", "block", "debug=x", 400, "debug= wants 0, 1 or 2" },
		{ "GET", "block", "debug=1&seconds=1", 400, "exclude each other" },
		{ "GET", "trace", "flight=1", 404, "no flight recorder runs here" },
		{ "GET", "wall", "", 404, "there is no such profile" },
		{ "GET", "wall", "cpu=0", 404, "is had with its pid=" },
		{ "GET", "wall", "pid=2147483647", 404, "there is no process" },
		{ "GET", "heap", "", 501, "this program has not loaded libgprof-heap.so" },
		{ "GET", "allocs", "pid=2147483647", 404, "there is no process" },
		{ "GET", "heap", "probes=2", 400, "probes= wants 0 or 1" },
		{ "GET", "profile/", "", 404, "there is no such profile" },
		{ "GET", "../pprof/profile", "", 404, "there is no such profile" },
		{ "GET", "cmdline", "pid=2147483647", 404, "there is no process" },
		{ "HEAD", "profile", "", 405, "GET is all there is" },
		{ "POST", "profile", "", 405, "GET is all there is" },
		{ "", "", "", 405, "GET is all there is" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct got *g = &self->got;
		char path[128];

		g->calls = 0;
		snprintf(path, sizeof(path), GPROF_HTTP_PREFIX "%s", rows[i].path);
		ASSERT_EQ(0, ask(self->h, g, rows[i].method, path, rows[i].query));
		EXPECT_EQ(1, g->calls);
		EXPECT_EQ(rows[i].status, g->status)
			TH_LOG("%s?%s: %s", rows[i].path, rows[i].query, g->body);
		EXPECT_NE(NULL, strstr(g->body, rows[i].why))
			TH_LOG("%s?%s: %s", rows[i].path, rows[i].query, g->body);
		EXPECT_EQ(strlen(g->body) - 1, strcspn(g->body, "\n"));
		EXPECT_SAYS(g->headers, "X-Go-Pprof: 1\n", "X-Content-Type-Options: nosniff\n",
			    "Content-Type: text/plain; charset=utf-8\n");
		EXPECT_LACKS(g->headers, "Content-Disposition");
		EXPECT_EQ(rows[i].status == 405, strstr(g->headers, "Allow: GET\n") != NULL);
	}
}

TEST_F(http, what_means_nothing_is_let_pass)
{
	struct got *g = &self->got;

	/* A scraper sends it to all. */
	ASSERT_EQ(0, ask(self->h, g, "GET", GPROF_HTTP_PREFIX "cmdline", "seconds=-1&seconds=5&gc=1&x=%zz"));
	EXPECT_EQ(200, g->status);
	EXPECT_SAYS(g->body, "serve_lib_test");
	EXPECT_LACKS(g->headers, "X-Go-Pprof");
}

TEST_F(http, the_index_has_a_link_to_each)
{
	static const char *const names[] = { "profile", "trace", "block", "mutex", "allocs", "heap",
					     "kernel-allocs", "kernel-heap", "goroutine", "task", "cmdline" };
	struct got *g = &self->got;
	char link[64];

	ASSERT_EQ(0, ask(self->h, g, "GET", GPROF_HTTP_PREFIX, NULL));
	EXPECT_EQ(200, g->status);
	EXPECT_SAYS(g->headers, "Content-Type: text/html; charset=utf-8\n");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(link, sizeof(link), "<a href=\"%s", names[i]);
		EXPECT_NE(NULL, strstr(g->body, link)) TH_LOG("%s", names[i]);
	}
	EXPECT_LACKS(g->body, "wall", "flight=1");
	ASSERT_EQ(0, ask(self->h, g, "GET", "/debug/pprof", NULL));
	EXPECT_EQ(301, g->status);
	EXPECT_SAYS(g->headers, "Location: /debug/pprof/\n");
}

TEST_F(http, the_index_offers_what_may_be_recorded)
{
	static const struct { int64_t max_ns; const char *has, *not; } rows[] = {
		{ 300000000000, "<a href=\"profile?seconds=5\">5 s</a> <a href=\"profile\">30 s</a>", "2.5" },
		{ 8000000000, "<a href=\"profile?seconds=5\">5 s</a> <a href=\"profile\">8 s</a>", "30 s" },
		{ 2500000000, "<td><a href=\"profile\">2.5 s</a></td>", "seconds=5" },
		{ 500000000, "<td><a href=\"trace\">0.5 s</a></td>", "1 s" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct gprof_http *h = gprof_http_new(&(struct gprof_http_config){
			.sz = sizeof(struct gprof_http_config), .max_ns = rows[i].max_ns,
			.target = { .type = GPROF_SELF },
		});

		ASSERT_NE(NULL, h);
		ASSERT_EQ(0, ask(h, &self->got, "GET", GPROF_HTTP_PREFIX, NULL));
		EXPECT_SAYS(self->got.body, rows[i].has);
		EXPECT_LACKS(self->got.body, rows[i].not);
		gprof_http_free(h);
	}
}

static int make_nothing(void *ctx, const struct gprof_http_request *rq, int trace, int fd,
			char *why, size_t size)
{
	(void)ctx, (void)rq, (void)trace, (void)fd;
	snprintf(why, size, "nothing is made");
	return -EIO;
}

static int make_page(void *ctx, const struct gprof_http_request *rq, int trace, int fd, char *why,
		     size_t size)
{
	(void)ctx, (void)rq, (void)trace, (void)why, (void)size;
	return dprintf(fd, "<!DOCTYPE html>\n") < 0 ? -EIO : 0;
}

TEST_F(http, a_server_has_pages_of_its_own)
{
	const struct gprof_trace_config trace = { .sz = sizeof(trace) };
	const struct gprof_http_view views[] = {
		{ "wall", "its own", &trace, make_nothing, NULL },
		{ "view", "a page", NULL, make_page, NULL },
	};
	struct gprof_http *h = gprof_http_new(&(struct gprof_http_config){
		.sz = sizeof(struct gprof_http_config), .target = { .type = GPROF_SELF },
		.views = views, .nr_views = 2,
	});
	struct got *g = &self->got;

	ASSERT_NE(NULL, h);
	ASSERT_EQ(0, ask(h, g, "GET", GPROF_HTTP_PREFIX, NULL));
	EXPECT_SAYS(g->body, "<a href=\"wall?seconds=5\">", "its own",
		    "<a href=\"view\">5 s</a></td><td>a page<");
	ASSERT_EQ(0, ask(h, g, "GET", GPROF_HTTP_PREFIX "wall", "seconds=0"));
	EXPECT_EQ(400, g->status);
	ASSERT_EQ(0, ask(h, g, "GET", GPROF_HTTP_PREFIX "walls", NULL));
	EXPECT_EQ(404, g->status);
	/* With the module it is made, or rather is not. */
	ASSERT_EQ(0, ask(h, g, "GET", GPROF_HTTP_PREFIX "wall", "seconds=0.1"));
	EXPECT_EQ(access("/dev/gprof", F_OK) ? 503 : 500, g->status);
	EXPECT_SAYS(g->body, access("/dev/gprof", F_OK) ? "not loaded" : "nothing is made");
	ASSERT_EQ(0, ask(h, g, "GET", GPROF_HTTP_PREFIX "view", "seconds=0.1"));
	EXPECT_EQ(access("/dev/gprof", F_OK) ? 503 : 200, g->status);
	EXPECT_SAYS(g->body, access("/dev/gprof", F_OK) ? "not loaded" : "<!DOCTYPE html>");
	gprof_http_free(h);
}

TEST_F(http, one_target_alone_is_all_that_may_be_recorded)
{
	struct gprof_http *h = gprof_http_new(&(struct gprof_http_config){
		.sz = sizeof(struct gprof_http_config), .target = { .type = GPROF_SELF }, .only = true,
	});
	static const char *const others[] = { "pid=1", "tid=1", "cgroup=x", "cpu=0", "comm=x" };

	ASSERT_NE(NULL, h);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		ASSERT_EQ(0, ask(h, &self->got, "GET", GPROF_HTTP_PREFIX "profile", others[i]));
		EXPECT_EQ(403, self->got.status);
	}
	ASSERT_EQ(0, ask(h, &self->got, "GET", GPROF_HTTP_PREFIX "cmdline", "pid=1"));
	EXPECT_EQ(403, self->got.status);
	gprof_http_free(h);
}

TEST_F(http, what_the_server_says_of_its_answer_comes_back)
{
	self->got.ret = -EPIPE;
	EXPECT_EQ(-EPIPE, ask(self->h, &self->got, "GET", GPROF_HTTP_PREFIX, NULL));
	EXPECT_EQ(-EINVAL, gprof_http_handler(self->h, &(struct gprof_http_request){
		.sz = sizeof(struct gprof_http_request), .method = "GET", .path = "/",
	}));
	EXPECT_EQ(-EINVAL, gprof_http_handler(self->h, &(struct gprof_http_request){ .sz = 8 }));
	EXPECT_ERRNO(EINVAL, gprof_http_new(&(struct gprof_http_config){ .sz = 8 }));
}

TEST_F(http, without_the_module_it_is_not_now)
{
	if (!access("/dev/gprof", F_OK))
		SKIP(return, "the module is here");
	ASSERT_EQ(0, ask(self->h, &self->got, "GET", GPROF_HTTP_PREFIX "profile", "seconds=1"));
	EXPECT_EQ(503, self->got.status);
	EXPECT_SAYS(self->got.body, "not loaded");
	EXPECT_SAYS(self->got.headers, "Retry-After: ");
}

TEST_HARNESS_MAIN
