// SPDX-License-Identifier: GPL-2.0-only
/*
 * --web.config.file: what such files look like, and what they must not.
 */
#include "harness.h"
#include <arpa/inet.h>
#include <netinet/in.h>

#include "http/access.h"
#include "cli/cmd.h"
#include "http/web_config.h"

#define HASH	"$2b$04$abcdefghijklmnopqrstuuinwY/tkBVrn3xrxQI/TgnMHhkvl85RW"	/* of sesame */
/* of nobody knows what, and 256 times as dear */
#define DEAR	"$2b$12$abcdefghijklmnopqrstuuinwY/tkBVrn3xrxQI/TgnMHhkvl85RW"
#define OTHER	"$2b$04$bbcdefghijklmnopqrstuuRVxVngVLp9LIx/56V2n6Px38WwcDeim"	/* of open */

/* of sesame, too, and half as dear */
#define HIGH	"$2b$11$abcdefghijklmnopqrstuuJKhq4TnYSWnBFid3gCJ/J37EEg4.BPC"

#define ME	1
#define GUESSER	2

static char *parse(struct web_config *c, const char *text)
{
	char *copy = strdup(text), *why;

	memset(c, 0, sizeof(*c));
	why = web_config_parse(c, "/etc/gprof/web.yml", copy);
	free(copy);
	return why;
}

TEST(a_file_as_exporters_have_it)
{
	struct web_config c;

	ASSERT_EQ(NULL, parse(&c,
		"---\n# who may ask\ntls_server_config:\n  cert_file: server.crt # beside it\n"
		"  key_file: '/run/it''s.key'\n  min_version: TLS13\n\n"
		"basic_auth_users:\r\n    alice: " HASH "\r\n    \"bob: \\\"b\\\"\":  \"" HASH "\"\n"
		"http_server_config:\n  http2: false\n"));
	EXPECT_STREQS("/etc/gprof/server.crt", c.cert_file, "/run/it's.key", c.key_file);
	EXPECT_TRUE(c.tls13);
	ASSERT_EQ(2, c.nr_users);
	EXPECT_STREQS("alice", c.users[0].name, HASH, c.users[0].hash,
		      "bob: \"b\"", c.users[1].name, HASH, c.users[1].hash);
	web_config_free(&c);
}

TEST(an_empty_file_asks_for_nothing)
{
	static const char *const texts[] = { "", "\n\n", "# nothing\n", "basic_auth_users: {}\n",
					     "basic_auth_users:\n" };

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct web_config c;

		EXPECT_EQS(NULL, parse(&c, texts[i]), 0, c.nr_users, NULL, c.cert_file);
		web_config_free(&c);
	}
}

TEST(what_is_not_known_or_not_safe_is_refused_with_its_line)
{
	static const struct { const char *text, *why; } bad[] = {
		{ "basic_auth_user:\n  a: " HASH, ":1: nothing is known here of \"basic_auth_user\"" },
		{ "tls_server_config:\n  client_ca_file: ca.crt", ":2: nothing is known" },
		{ "tls_server_config:\n  client_auth_type: RequireAndVerifyClientCert",
		  ":2: certificates of clients" },
		{ "tls_server_config:\n  min_version: TLS10", ":2: min_version" },
		{ "tls_server_config:\n  cert_file: a", "key_file is missing" },
		{ "tls_server_config:\n  key_file: a", "cert_file is missing" },
		{ "tls_server_config:\n  cert_file:\n  key_file: a", ":2: a file is missing" },
		{ "basic_auth_users:\n  alice: sesame", ":2: a hash by bcrypt" },
		{ "basic_auth_users:\n  alice:", ":2: a hash by bcrypt" },
		{ "basic_auth_users:\n  alice: $1$abcdefgh$abcdefghijklmnopqrstuv", ":2: a hash by bcrypt" },
		{ "basic_auth_users:\n  alice: $2y$31$abcdefghijklmnopqrstuuVKOJxDzLBSQXxW/Oqd3FKhNT2ckMUHu",
		  ":2: a cost of 4 to 15" },
		{ "basic_auth_users:\n  a: " HASH "\n  a: " HASH, ":3: a user is there twice" },
		{ "basic_auth_users:\n  a: " HASH "\n   b: " HASH, ":3: this line is not indented" },
		{ "  a: b", ":1: this line is not indented" },
		{ "basic_auth_users:\n\ta: " HASH, ":2: this is more YAML" },
		{ "basic_auth_users: { a: " HASH " }", ":1: a section is written in lines" },
		{ "basic_auth_users:\n- a", ":2: this is more YAML" },
		{ "basic_auth_users:\n  a: |\n", ":2: this is more YAML" },
		{ "basic_auth_users:\n  a: *x\n", ":2: this is more YAML" },
		{ "basic_auth_users:\n  'a: x", ":2: a quoted text has no end" },
		{ "basic_auth_users:\n  \"a\\n\": x", ":2: a quoted text has no end" },
		{ "basic_auth_users:\n  a: '" HASH "' x", ":2: something stands behind" },
		{ "basic_auth_users:\n  a:" HASH, ":2: a line is KEY: VALUE" },
		{ "basic_auth_users", ":1: a line is KEY: VALUE" },
		{ "http_server_config:\n  headers:\n", ":2: nothing is known" },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct web_config c;
		char *why = parse(&c, bad[i].text);

		ASSERT_NE(NULL, why) TH_LOG("%s", bad[i].text);
		EXPECT_NE(NULL, strstr(why, bad[i].why)) TH_LOG("%s\n-> %s", bad[i].text, why);
		/* A password that somebody wrote there is not shown. */
		EXPECT_LACKS(why, "sesame");
		free(why);
	}
}

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	fputs(text, f);
	fclose(f);
}

TEST(a_password_is_right_or_wrong_and_read_again)
{
	char web[] = "/tmp/web.XXXXXX", token[] = "/tmp/token.XXXXXX";
	struct access *a;
	int status = 0;

	close(mkstemp(web));
	close(mkstemp(token));
	write_file(web, "basic_auth_users:\n  alice: " HASH "\n");
	write_file(token, "0123456789abcdef\n");
	a = access_new(web, token, &status);
	ASSERT_NE(NULL, a);
	EXPECT_TRUES(access_has_users(a), access_has_token(a));
	EXPECT_FALSE(access_tls(a));
	for (int i = 0; i < 2; i++) {
		EXPECT_EQ(1, access_password(a, ME, "alice", "sesame"));
		EXPECT_EQ(0, access_password(a, ME, "alice", "Sesame"));
		EXPECT_EQ(0, access_password(a, ME, "alice", ""));
		EXPECT_EQ(0, access_password(a, ME, "bob", "sesame"));
		EXPECT_EQ(0, access_password(a, ME, "", "sesame"));
	}
	EXPECT_TRUE(access_token(a, "0123456789abcdef"));
	EXPECT_ZEROS(access_token(a, "0123456789abcdeF"), access_token(a, ""));
	/* What was right is forgotten, with the hash that it was right for. */
	write_file(web, "basic_auth_users:\n  alice: " OTHER "\n");
	access_reload(a);
	EXPECT_EQ(0, access_password(a, ME, "alice", "sesame"));
	EXPECT_EQ(1, access_password(a, ME, "alice", "open"));
	/* Whoever had a password that was right has it no longer. */
	write_file(web, "basic_auth_users:\n  bob: " HASH "\n");
	write_file(token, "abcdef0123456789");
	access_reload(a);
	EXPECT_EQ(0, access_password(a, ME, "alice", "sesame"));
	EXPECT_EQ(1, access_password(a, ME, "bob", "sesame"));
	EXPECT_FALSE(access_token(a, "0123456789abcdef"));
	EXPECT_TRUE(access_token(a, "abcdef0123456789"));
	/* A file that vanishes, is nonsense, or lets in everybody changes nothing. */
	write_file(web, "basic_auth_users:\n");
	access_reload(a);
	write_file(web, "basic_auth_users:\n  bob: x\n");
	access_reload(a);
	unlink(web);
	access_reload(a);
	EXPECT_EQ(1, access_password(a, ME, "bob", "sesame"));
	EXPECT_EQ(0, access_password(a, ME, "alice", "sesame"));
	access_free(a);
	unlink(token);
	EXPECT_EQS(NULL, access_new(NULL, token, &status), STATUS_FAILED, status);
	write_file(token, "short\n");
	EXPECT_EQ(NULL, access_new(NULL, token, &status));
	unlink(token);
}

#define GUESSERS	16
#define BOB_AND_DEAR	"basic_auth_users:\n  bob: " HASH "\n  alice: " DEAR "\n"

static void *guess(void *ctx)
{
	return (void *)(long)access_password(ctx, GUESSER, "alice", "guess");
}

static struct access *access_of(const char *users)
{
	char web[] = "/tmp/web.XXXXXX";
	struct access *a;
	int status = 0;

	close(mkstemp(web));
	write_file(web, users);
	a = access_new(web, NULL, &status);
	unlink(web);
	return a;
}

static void begin_guessing(struct access *a, pthread_t threads[GUESSERS])
{
	for (int i = 0; i < GUESSERS; i++)
		if (pthread_create(&threads[i], NULL, guess, a))
			abort();
}

/* How many were sent away. */
static int end_guessing(pthread_t threads[GUESSERS])
{
	int busy = 0;

	for (int i = 0; i < GUESSERS; i++) {
		void *ret;

		pthread_join(threads[i], &ret);
		busy += (long)ret == -EBUSY;
		if (ret && (long)ret != -EBUSY)
			abort();
	}
	return busy;
}

struct guesser {
	struct access *a;
	_Atomic int *busy;
};

/* Until one of all was sent away. */
static void *guess_on(void *arg)
{
	const struct guesser *g = arg;

	for (int i = 0; i < 300 && !*g->busy; i++)
		*g->busy |= access_password(g->a, ME, "bob", "a guess") == -EBUSY;
	return NULL;
}

/* Each that waits has a connection; who knows a password needs one. */
TEST(a_client_that_guesses_more_than_twice_at_once_is_sent_away)
{
	_Atomic int busy = 0;
	pthread_t threads[3];
	struct guesser g = { .a = access_of("basic_auth_users:\n  bob: " HASH "\n"), .busy = &busy };

	ASSERT_NE(NULL, g.a);
	for (int nr = 2; nr <= 3; nr++) {
		for (int i = 0; i < nr; i++)
			ASSERT_EQ(0, pthread_create(&threads[i], NULL, guess_on, &g));
		for (int i = 0; i < nr; i++)
			pthread_join(threads[i], NULL);
		EXPECT_EQ(nr == 3, busy);
	}
	EXPECT_EQ(1, access_password(g.a, ME, "bob", "sesame"));
	access_free(g.a);
}

/* Not even at the first time, when nothing is known of a password. */
TEST(a_client_that_guesses_keeps_no_other_out)
{
	struct access *a = access_of(BOB_AND_DEAR);
	pthread_t threads[GUESSERS];

	ASSERT_NE(NULL, a);
	begin_guessing(a, threads);
	usleep(50000);
	EXPECT_EQ(1, access_password(a, ME, "bob", "sesame"));
	EXPECT_LT(0, end_guessing(threads));
	access_free(a);
}

TEST(addresses_of_a_network_are_one_peer)
{
	struct sockaddr_in6 a = { .sin6_family = AF_INET6 }, b = a, c = a;
	struct sockaddr_in d = { .sin_family = AF_INET }, e = d;

	inet_pton(AF_INET6, "2001:db8::1", &a.sin6_addr);
	inet_pton(AF_INET6, "2001:db8::2:0:0:1", &b.sin6_addr);
	inet_pton(AF_INET6, "2001:db8:0:1::1", &c.sin6_addr);
	inet_pton(AF_INET, "192.0.2.1", &d.sin_addr);
	inet_pton(AF_INET, "192.0.2.2", &e.sin_addr);
	EXPECT_EQ(access_peer((struct sockaddr *)&a), access_peer((struct sockaddr *)&b));
	EXPECT_NE(access_peer((struct sockaddr *)&a), access_peer((struct sockaddr *)&c));
	EXPECT_NE(access_peer((struct sockaddr *)&d), access_peer((struct sockaddr *)&e));
	inet_pton(AF_INET6, "::ffff:192.0.2.1", &a.sin6_addr);
	inet_pton(AF_INET6, "::ffff:192.0.2.2", &b.sin6_addr);
	EXPECT_EQ(access_peer((struct sockaddr *)&a), access_peer((struct sockaddr *)&d));
	EXPECT_NE(access_peer((struct sockaddr *)&a), access_peer((struct sockaddr *)&b));
	EXPECT_EQ(0, access_peer(NULL));
}

static double seconds_of(struct access *a, const char *user, const char *password)
{
	struct timespec from, to;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
	access_password(a, ME, user, password);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
	return to.tv_sec - from.tv_sec + (to.tv_nsec - from.tv_nsec) / 1e9;
}

TEST(what_was_right_is_known_as_long_as_its_hash_is_there)
{
	char web[] = "/tmp/web.XXXXXX";
	struct access *a;
	int status = 0;
	double first;

	close(mkstemp(web));
	write_file(web, "basic_auth_users:\n  alice: " HIGH "\n");
	a = access_new(web, NULL, &status);
	ASSERT_NE(NULL, a);
	first = seconds_of(a, "alice", "sesame");
	EXPECT_GT(first / 4, seconds_of(a, "alice", "sesame"));
	/* Whatever else becomes of the file, and wherever in it she is. */
	write_file(web, "basic_auth_users:\n  bob: " HASH "\n  alice: " HIGH "\n");
	access_reload(a);
	EXPECT_GT(first / 4, seconds_of(a, "alice", "sesame"));
	EXPECT_EQ(1, access_password(a, ME, "alice", "sesame"));
	EXPECT_EQ(0, access_password(a, ME, "bob", "guess"));
	write_file(web, "basic_auth_users:\n  alice: " OTHER "\n");
	access_reload(a);
	EXPECT_EQ(0, access_password(a, ME, "alice", "sesame"));
	access_free(a);
	unlink(web);
}

/* Bob's hash costs less than alice's, and there is no carol. */
TEST(time_does_not_tell_which_users_exist)
{
	static const char *const users[] = { "bob", "carol" };
	struct access *a = access_of(BOB_AND_DEAR);
	double there;

	ASSERT_NE(NULL, a);
	there = seconds_of(a, "alice", "guess");
	for (size_t i = 0; i < sizeof(users) / sizeof(users[0]); i++) {
		double other = seconds_of(a, users[i], "guess");

		EXPECT_LT(there * 0.5, other) TH_LOG("%s", users[i]);
		EXPECT_GT(there * 2, other) TH_LOG("%s", users[i]);
	}
	access_free(a);
}

TEST_HARNESS_MAIN
