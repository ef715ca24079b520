// SPDX-License-Identifier: GPL-2.0-only
/*
 * Debug files from a server: libdebuginfod's client against servers that are right, wrong,
 * or never answer.
 */
#include "harness.h"
#include <arpa/inet.h>
#include <gprof/debuginfod.h>
#include <netinet/in.h>

#include "lib_util.h"
#include "symbol/debug_file.h"
#include "symbol/debuginfod.h"

FIXTURE(server) {
	const char *dir;
	pid_t pid;
	struct gprof_debug_request wanted;
	unsigned char build_id[20];
	char hex[41];
	int told;		/* times that progress was told */
	int give_up;
};

static const char endless[] = "without end";

/* Says that all is well, and goes on for ever. */
static void send_for_ever(int client)
{
	static const char rubbish[65536];

	dprintf(client, "HTTP/1.1 200 OK\r\n\r\n");
	while (send(client, rubbish, sizeof(rubbish), 0) > 0)
		usleep(1000);
	for (;;)
		pause();
}

static const char late[] = "there is none, in 1 s, and then never";

/* Answers each request with the file; NULL: never answers; @endless: with no end; or @late. */
static void serve(int listener, const char *file)
{
	char request[4096], *text;
	struct stat st;
	int fd, asked = 0;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGPIPE, SIG_IGN);
	for (;;) {
		int client = accept(listener, NULL, NULL);

		if (client < 0 || read(client, request, sizeof(request)) <= 0)
			continue;
		if (file == endless)
			send_for_ever(client);
		if (file == late)
			sleep(asked++ ? 30 : 1);
		fd = file ? open(file, O_RDONLY) : -1;
		if (!file) {
			for (;;)
				pause();
		}
		/* By any build-id: what is asked for is not always what is sent. */
		if (fd < 0 || fstat(fd, &st)) {
			dprintf(client, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n"
					"Connection: close\r\n\r\n");
		} else {
			dprintf(client, "HTTP/1.1 200 OK\r\nContent-Length: %lld\r\n"
					"Connection: close\r\n\r\n", (long long)st.st_size);
			text = malloc((size_t)st.st_size);
			if (read(fd, text, (size_t)st.st_size) == st.st_size)
				send(client, text, (size_t)st.st_size, 0);
			free(text);
		}
		if (fd >= 0)
			close(fd);
		close(client);
	}
}

static bool begin_server(FIXTURE_DATA(server) *self, const char *file)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	int listener = socket(AF_INET, SOCK_STREAM, 0);
	socklen_t len = sizeof(a);
	char url[64];

	if (bind(listener, (struct sockaddr *)&a, len) || listen(listener, 8) ||
	    getsockname(listener, (struct sockaddr *)&a, &len))
		return false;
	snprintf(url, sizeof(url), "http://127.0.0.1:%d", ntohs(a.sin_port));
	setenv("DEBUGINFOD_URLS", url, 1);
	setenv("DEBUGINFOD_CACHE_PATH", self->dir, 1);
	self->pid = fork();
	if (!self->pid)
		serve(listener, file);
	close(listener);
	return self->pid > 0;
}

/* A program of its own with a build-id, stripped, and the rest in out.debug. */
static bool build(FIXTURE_DATA(server) *self)
{
	const char *path = lib_text("%s/id", self->dir);
	FILE *f;

	if (lib_sh("cd %s && echo 'int main(void) { return %d; }' >a.c && "
		   "gcc -g -Wl,--build-id=sha1 -o out a.c && objcopy --only-keep-debug out out.debug && "
		   "readelf -n out | awk '/Build ID/ { print $3 }' >id", self->dir, getpid() & 0xff))
		return false;
	f = fopen(path, "r");
	if (!f || !fgets(self->hex, sizeof(self->hex), f))
		return false;
	fclose(f);
	for (int i = 0; i < 20; i++)
		if (sscanf(self->hex + 2 * i, "%2hhx", &self->build_id[i]) != 1)
			return false;
	self->wanted = (struct gprof_debug_request){
		.build_id = self->build_id, .build_id_len = 20,
	};
	return true;
}

FIXTURE_SETUP(server)
{
	self->dir = lib_tmpdir();
}

FIXTURE_TEARDOWN(server)
{
	gprof_debuginfod_forbid();
	if (self->pid > 0) {
		kill(self->pid, SIGKILL);
		waitpid(self->pid, NULL, 0);
	}
	lib_sh("rm -rf %s", self->dir);
}

#define BEGIN(_file) do {							\
	char _path[128];							\
										\
	if (!lib_have("gcc"))							\
		SKIP(return, "there is no gcc");				\
	ASSERT_TRUE(build(self));						\
	snprintf(_path, sizeof(_path), "%s/%s", self->dir, (_file) ? (_file) : "");	\
	ASSERT_TRUE(begin_server(self, (_file) ? _path : NULL));		\
} while (0)

static int tell(void *ctx, const char *build_id, uint64_t done, uint64_t total)
{
	FIXTURE_DATA(server) *self = ctx;

	self->told += !strcmp(build_id, self->hex) && (!total || done <= total);
	return self->give_up;
}

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* There is no debug file, which takes this long. */
#define EXPECT_NONE_WITHIN(least, most) do {					\
	uint64_t _began = now_ms(), _took;					\
	EXPECT_EQ(-1, gprof_debug_file(&self->wanted));				\
	_took = now_ms() - _began;						\
	EXPECT_LES(least, _took, _took, most);					\
} while (0)

TEST_F(server, a_file_is_fetched_where_that_is_allowed)
{
	struct gprof_debuginfod_opts o = { .sz = sizeof(o), .progress = tell, .ctx = self };
	int fd;

	BEGIN("out.debug");
	/* Nobody is asked before. */
	EXPECT_EQ(-1, gprof_debug_file(&self->wanted));
	ASSERT_EQ(0, gprof_debuginfod_allow(&o)) TH_LOG("%s", gprof_error());
	gprof_debuginfod_begin();
	fd = gprof_debug_file(&self->wanted);
	ASSERT_LE(0, fd);
	close(fd);
	EXPECT_LT(0, self->told);
	gprof_debuginfod_forbid();
	EXPECT_EQ(-1, gprof_debug_file(&self->wanted));
	/* It is kept: the server need not be there again. */
	kill(self->pid, SIGKILL);
	ASSERT_EQ(0, gprof_debuginfod_allow(NULL));
	fd = gprof_debug_file(&self->wanted);
	ASSERT_LE(0, fd);
	close(fd);
}

/* Has the server at this port that path? */
static bool has(unsigned int port, const char *path)
{
	struct sockaddr_in a = {
		.sin_family = AF_INET, .sin_port = htons((uint16_t)port),
		.sin_addr = { htonl(INADDR_LOOPBACK) },
	};
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	char answer[16] = "";
	bool yes;

	yes = !connect(fd, (struct sockaddr *)&a, sizeof(a)) &&
	      dprintf(fd, "GET %s HTTP/1.0\r\n\r\n", path) > 0 &&
	      recv(fd, answer, 12, MSG_WAITALL) == 12 && !strcmp(answer + 8, " 200");
	close(fd);
	return yes;
}

/* elfutils' debuginfod, as Debian packages it, that has scanned @self->dir. */
static unsigned int begin_debians(FIXTURE_DATA(server) *self)
{
	unsigned int port = 20000 + (unsigned int)getpid() % 20000, i;
	char text[128], path[128];
	int null;

	self->pid = fork();
	if (!self->pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		snprintf(text, sizeof(text), "%u", port);
		null = open("/dev/null", O_RDWR);
		dup2(null, 1);
		dup2(null, 2);
		unsetenv("DEBUGINFOD_URLS");
		execlp("debuginfod", "debuginfod", "-F", "-p", text, "-d", ":memory:", "-t", "1",
		       self->dir, NULL);
		_exit(127);
	}
	snprintf(path, sizeof(path), "/buildid/%s/debuginfo", self->hex);
	for (i = 0; i < 300; i++) {
		if (has(port, path))
			return port;
		usleep(100000);
	}
	return 0;
}

TEST_F(server, debians_own_gives_the_debug_file)
{
	unsigned int port;
	char text[128];
	int fd;

	if (!lib_have("debuginfod") || !lib_have("gcc"))
		SKIP(return, "there is no debuginfod, or no gcc");
	ASSERT_TRUE(build(self));
	ASSERT_EQ(0, lib_sh("strip %s/out", self->dir));
	port = begin_debians(self);
	ASSERT_NE(0, port);
	snprintf(text, sizeof(text), "http://127.0.0.1:%u", port);
	setenv("DEBUGINFOD_URLS", text, 1);
	snprintf(text, sizeof(text), "%s/cache", self->dir);
	setenv("DEBUGINFOD_CACHE_PATH", text, 1);
	ASSERT_EQ(0, gprof_debuginfod_allow(NULL));
	gprof_debuginfod_begin();
	/* It knows nothing of another one. */
	self->build_id[0] ^= 1;
	EXPECT_EQ(-1, gprof_debug_file(&self->wanted));
	self->build_id[0] ^= 1;
	fd = gprof_debug_file(&self->wanted);
	ASSERT_LE(0, fd);
	/* Byte for byte. */
	EXPECT_EQ(0, lib_sh("cmp /proc/%d/fd/%d %s/out.debug", getpid(), fd, self->dir));
	close(fd);
}

TEST_F(server, what_is_not_the_file_is_not_believed)
{
	BEGIN("other");
	/* Of another build; then of none at all. */
	ASSERT_EQ(0, lib_sh("cd %s && echo 'int x;' >>a.c && "
			    "gcc -g -Wl,--build-id=sha1 -o other a.c", self->dir));
	ASSERT_EQ(0, gprof_debuginfod_allow(NULL));
	gprof_debuginfod_begin();
	EXPECT_EQ(-1, gprof_debug_file(&self->wanted));
	ASSERT_EQ(0, lib_sh("cd %s && rm -rf %s && echo rubbish >other", self->dir, self->hex));
	EXPECT_EQ(-1, gprof_debug_file(&self->wanted));
	ASSERT_EQ(0, lib_sh("cd %s && rm -rf %s other", self->dir, self->hex));
	EXPECT_EQ(-1, gprof_debug_file(&self->wanted));
}

TEST_F(server, one_that_never_answers_costs_the_limit_once)
{
	struct gprof_debuginfod_opts o = { .sz = sizeof(o), .time_limit_ms = 700 };

	BEGIN(NULL);
	ASSERT_EQ(0, gprof_debuginfod_allow(&o));
	gprof_debuginfod_begin();
	EXPECT_NONE_WITHIN(700, 10000);
	/* For this profile it is not asked again, for another file neither. */
	self->build_id[0] ^= 1;
	EXPECT_NONE_WITHIN(0, 599);
	gprof_debuginfod_begin();
	self->build_id[0] ^= 3;
	EXPECT_NONE_WITHIN(700, UINT64_MAX);
}

/* The limit is for all files of a profile: the first leaves the second a part of it. */
TEST_F(server, files_share_the_limit)
{
	struct gprof_debuginfod_opts o = { .sz = sizeof(o), .time_limit_ms = 4000 };

	if (!lib_have("gcc"))
		SKIP(return, "there is no gcc");
	ASSERT_TRUES(build(self), begin_server(self, late));
	ASSERT_EQ(0, gprof_debuginfod_allow(&o));
	gprof_debuginfod_begin();
	EXPECT_NONE_WITHIN(1000, 2000);
	self->build_id[0] ^= 1;
	/* 3 s, and until libdebuginfod asks whether to go on. */
	EXPECT_NONE_WITHIN(2000, 3900);
}

TEST_F(server, one_whose_answer_has_no_end_costs_the_limit)
{
	struct gprof_debuginfod_opts o = { .sz = sizeof(o), .time_limit_ms = 700 };

	if (!lib_have("gcc"))
		SKIP(return, "there is no gcc");
	ASSERT_TRUES(build(self), begin_server(self, endless));
	ASSERT_EQ(0, gprof_debuginfod_allow(&o));
	gprof_debuginfod_begin();
	EXPECT_NONE_WITHIN(700, 10000);
	/* Nothing of it is kept. */
	EXPECT_EQ(0, lib_sh("! find %s -size +32k -name '*debuginfo*' | grep .", self->dir));
}

TEST_F(server, waiting_ends_when_progress_says_so)
{
	struct gprof_debuginfod_opts o = { .sz = sizeof(o), .progress = tell, .ctx = self };
	uint64_t began;

	BEGIN(NULL);
	self->give_up = 1;
	ASSERT_EQ(0, gprof_debuginfod_allow(&o));
	gprof_debuginfod_begin();
	began = now_ms();
	EXPECT_EQ(-1, gprof_debug_file(&self->wanted));
	EXPECT_GT(15000, now_ms() - began);
	EXPECT_EQS(1, self->told, -1, gprof_debug_file(&self->wanted), 1, self->told);
}

static int tell_and_forbid(void *ctx, const char *build_id, uint64_t done, uint64_t total)
{
	++*(int *)ctx;
	gprof_debuginfod_forbid();
	return 0;
}

/* Nothing is held while the program is told: it may end the waiting so. */
TEST_F(server, waiting_ends_when_progress_forbids_it)
{
	int told = 0;
	struct gprof_debuginfod_opts o = {
		.sz = sizeof(o), .time_limit_ms = 20000, .progress = tell_and_forbid, .ctx = &told,
	};
	time_t began = time(NULL);

	ASSERT_TRUE(begin_server(self, endless));
	if (gprof_debuginfod_allow(&o))
		SKIP(return, "there is no libdebuginfod");
	EXPECT_EQS(-1, gprof_debuginfod_find(self->build_id, sizeof(self->build_id)), 1, told);
	EXPECT_GT(15, time(NULL) - began);
}

TEST(without_a_server_there_is_a_sentence)
{
	struct gprof_debuginfod_opts o = { .sz = sizeof(o) - 1 };

	unsetenv("DEBUGINFOD_URLS");
	EXPECT_EQ(-ENOENT, gprof_debuginfod_allow(NULL));
	EXPECT_SAYS(gprof_error(), "DEBUGINFOD_URLS");
	EXPECT_EQ(-EINVAL, gprof_debuginfod_allow(&o));
}

TEST_HARNESS_MAIN
