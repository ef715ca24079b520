// SPDX-License-Identifier: GPL-2.0-only
/*
 * handler_test: gprof_http_handler() on a live kernel, with clients that go away, and with
 * little memory. What needs no module is in unit/, what is answered in gprofctl_serve_test.sh.
 */
#include <dirent.h>
#include <gprof/flight.h>
#include <gprof/http.h>
#include "harness.h"
#include "device.h"
#include "workload.h"

#define AT_ONCE	24

/* Who asks: is gone when asked for the @leaves-th time, 0: never. */
struct client {
	struct gprof_http *h;
	const char *page;
	const char *query;
	unsigned int leaves;
	unsigned int asked;
	unsigned int answers;
	unsigned int status;
	char body[512];
	int ret;
	uint64_t ns;
};

static bool is_gone(void *ctx)
{
	struct client *c = ctx;

	return ++c->asked >= c->leaves && c->leaves;
}

static int take(void *ctx, const struct gprof_http_answer *a)
{
	struct client *c = ctx;
	ssize_t n = pread(a->fd, c->body, sizeof(c->body) - 1, 0);

	c->body[n > 0 ? n : 0] = '\0';
	c->status = a->status;
	c->answers++;
	return 0;
}

static void *ask(void *ctx)
{
	struct client *c = ctx;
	struct gprof_http_request rq = {
		.sz = sizeof(rq), .method = "GET", .path = c->page, .query = c->query,
		.gone = is_gone, .answer = take, .ctx = c,
	};
	uint64_t since = monotonic_ns();

	c->ret = gprof_http_handler(c->h, &rq);
	c->ns = monotonic_ns() - since;
	return NULL;
}

static struct gprof_http *handler(uint64_t max_memory, struct gprof_flight *flight)
{
	return gprof_http_new(&(struct gprof_http_config){
		.sz = sizeof(struct gprof_http_config), .target = { .type = GPROF_SELF },
		.max_memory = max_memory, .flight = flight, .max_recordings = AT_ONCE,
	});
}

/* Asked once more than while it is recorded: while it is made. */
TEST(a_client_that_goes_away_while_it_is_made_ends_that)
{
	static const struct { const char *page, *query; unsigned int recorded; } rows[] = {
		{ "profile", "seconds=0.05", 1 }, { "block", "seconds=0.05", 1 }, { "task", "", 0 },
		{ "task", "debug=2", 0 }, { "trace", "flight=1", 0 },
	};
	const struct gprof_trace_config trace = {
		.sz = sizeof(trace), .target = { .type = GPROF_SELF },
		.stacks = GPROF_TRACE_STACK_BLOCKED,
	};
	struct gprof_flight *flight = gprof_flight_new(&trace, NULL);
	struct gprof_http *h;

	ASSERT_NE(NULL, flight) TH_LOG("%s", gprof_error());
	ASSERT_EQ(0, gprof_flight_start(flight));
	h = handler(0, flight);
	ASSERT_NE(NULL, h);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct client c = { .h = h, .query = rows[i].query };
		char page[64];

		snprintf(page, sizeof(page), GPROF_HTTP_PREFIX "%s", rows[i].page);
		c.page = page;
		ask(&c);
		EXPECT_EQ(0, c.ret);
		EXPECT_EQ(200, c.status) TH_LOG("%s: %s", page, c.body);
		EXPECT_LT(rows[i].recorded, c.asked)
			TH_LOG("%s?%s: asked %u times", page, c.query, c.asked);
		c = (struct client){ .h = h, .page = page, .query = rows[i].query,
				     .leaves = rows[i].recorded + 1 };
		ask(&c);
		EXPECT_EQ(-ECONNABORTED, c.ret) TH_LOG("%s?%s: %d", page, c.query, c.ret);
		EXPECT_EQ(0, c.answers);
	}
	gprof_http_free(h);
	gprof_flight_free(flight);
}

TEST(no_more_at_once_than_are_allowed)
{
	struct client clients[AT_ONCE + 1] = { 0 };
	unsigned int fine = 0, many = 0;
	pthread_t threads[AT_ONCE + 1];
	struct gprof_http *h = handler(0, NULL);

	ASSERT_NE(NULL, h);
	for (int i = 0; i <= AT_ONCE; i++) {
		clients[i] = (struct client){ .h = h, .page = GPROF_HTTP_PREFIX "mutex",
					      .query = "seconds=5" };
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, ask, &clients[i]));
	}
	for (int i = 0; i <= AT_ONCE; i++) {
		pthread_join(threads[i], NULL);
		fine += clients[i].status == 200;
		many += clients[i].status == 503 && strstr(clients[i].body, "allowed at once");
	}
	EXPECT_EQS(AT_ONCE, fine, 1, many);
	gprof_http_free(h);
}

TEST(a_profile_that_takes_too_much_fails)
{
	struct client c = { .h = handler(1024, NULL), .page = GPROF_HTTP_PREFIX "profile",
			    .query = "seconds=60&cpu=0&hz=1000" };

	ASSERT_NE(NULL, c.h);
	ask(&c);
	EXPECT_EQ(503, c.status);
	EXPECT_SAYS(c.body, "the profile takes more than 1 KiB");
	EXPECT_GT(30000000000ULL, c.ns);
	gprof_http_free(c.h);
}

/* One is small enough, and so many are not. */
TEST(profiles_that_take_too_much_together_fail)
{
	char query[64];
	const struct client one = { .page = GPROF_HTTP_PREFIX "profile", .query = query };
	struct client clients[AT_ONCE] = { one };
	unsigned int fine = 0, many = 0;
	uint64_t max = 512;
	pthread_t threads[AT_ONCE];
	pid_t busy = fork();

	/* Of one that does the same all the time each recording has the same. */
	if (!busy) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			getppid();
	}
	snprintf(query, sizeof(query), "seconds=2&hz=1000&pid=%d", busy);
	do {
		max *= 2;
		gprof_http_free(clients[0].h);
		clients[0] = one;
		clients[0].h = handler(max, NULL);
		ASSERT_NE(NULL, clients[0].h);
		ask(&clients[0]);
	} while (clients[0].status == 503 && max < 1 << 20);
	ASSERT_EQ(200, clients[0].status) TH_LOG("%s", clients[0].body);
	/* No two are quite alike. */
	max *= 2;
	gprof_http_free(clients[0].h);
	clients[0].h = handler(max, NULL);
	ASSERT_NE(NULL, clients[0].h);
	for (int i = 0; i < AT_ONCE; i++) {
		struct gprof_http *h = clients[0].h;

		clients[i] = one;
		clients[i].h = h;
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, ask, &clients[i]));
	}
	for (int i = 0; i < AT_ONCE; i++) {
		pthread_join(threads[i], NULL);
		fine += clients[i].status == 200;
		many += clients[i].status == 503 && strstr(clients[i].body, "under way take more");
	}
	printf("# with %llu bytes for one, %u of %u fit\n", (unsigned long long)max, fine, AT_ONCE);
	EXPECT_LTS(0, fine, 0, many);
	/* And what they had is given back. */
	clients[0].status = 0;
	ask(&clients[0]);
	EXPECT_EQ(200, clients[0].status) TH_LOG("%s", clients[0].body);
	gprof_http_free(clients[0].h);
	kill(busy, SIGKILL);
	waitpid(busy, NULL, 0);
}

static pid_t sleeper(void)
{
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	return pid;
}

static bool has_thread(const char *name)
{
	char path[64], comm[32];
	struct dirent *d;
	bool has = false;
	DIR *dir = opendir("/proc/self/task");

	while (dir && !has && (d = readdir(dir))) {
		FILE *f;

		snprintf(path, sizeof(path), "/proc/self/task/%.20s/comm", d->d_name);
		f = fopen(path, "r");
		has = f && fgets(comm, sizeof(comm), f) && !strncmp(comm, name, strlen(name));
		if (f)
			fclose(f);
	}
	if (dir)
		closedir(dir);
	return has;
}

/* Its thread begins once all is prepared, and the target attached a moment later. */
static bool has_begun(void)
{
	unsigned int tries;

	for (tries = 0; tries < 200 && !has_thread("gprof-drain"); tries++)
		usleep(100000);
	usleep(500000);
	return tries < 200;
}

TEST(a_recording_ends_with_its_process)
{
	char query[64];
	struct client c = { .h = handler(0, NULL), .page = GPROF_HTTP_PREFIX "profile",
			    .query = query };
	pid_t pid = sleeper();
	pthread_t thread;

	ASSERT_NE(NULL, c.h);
	snprintf(query, sizeof(query), "seconds=30&pid=%d", pid);
	ASSERT_EQ(0, pthread_create(&thread, NULL, ask, &c));
	EXPECT_TRUE(has_begun());
	kill(pid, SIGKILL);
	pthread_join(thread, NULL);
	waitpid(pid, NULL, 0);
	EXPECT_EQ(200, c.status) TH_LOG("%s", c.body);
	EXPECT_LT(500000000, c.ns);
	EXPECT_GT(15000000000ULL, c.ns);
	gprof_http_free(c.h);
}

#define LOW	512

static void look_at_numbers(bool *open)
{
	for (int fd = 0; fd < LOW; fd++)
		open[fd] = fcntl(fd, F_GETFD) >= 0;
}

/* The program closes what it has not opened, and a file of its own, ready at once, is there. */
TEST(a_recording_does_not_end_with_a_file_of_the_program)
{
	bool before[LOW], once[LOW], again[LOW], taken[LOW] = { 0 };
	char query[64];
	struct client c = { .h = handler(0, NULL), .page = GPROF_HTTP_PREFIX "profile",
			    .query = query };
	pid_t pid = sleeper();
	pthread_t thread;
	FILE *file = tmpfile();

	ASSERT_NE(NULL, c.h);
	ASSERT_NE(NULL, file);
	snprintf(query, sizeof(query), "seconds=2&pid=%d", pid);
	look_at_numbers(before);
	ASSERT_EQ(0, pthread_create(&thread, NULL, ask, &c));
	EXPECT_TRUE(has_begun());
	/* What is open for an instant only, no program comes across. */
	look_at_numbers(once);
	usleep(30000);
	look_at_numbers(again);
	for (int fd = 0; fd < LOW; fd++) {
		taken[fd] = !before[fd] && once[fd] && again[fd];
		if (taken[fd])
			ASSERT_EQ(fd, dup2(fileno(file), fd));
	}
	pthread_join(thread, NULL);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	EXPECT_EQ(200, c.status) TH_LOG("%s", c.body);
	EXPECT_LE(2000000000, c.ns);
	for (int fd = 0; fd < LOW; fd++) {
		EXPECT_TRUE(!taken[fd] || fcntl(fd, F_GETFD) >= 0) TH_LOG("%d was closed", fd);
	}
	fclose(file);
	gprof_http_free(c.h);
}

TEST_HARNESS_MAIN
