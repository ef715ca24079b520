// SPDX-License-Identifier: GPL-2.0-only
/*
 * --web.config.file: what such files look like, and what they must not.
 */
#include <kselftest_harness.h>

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "access.h"
#include "cmd.h"
#include "web_config.h"

#define HASH	"$2b$04$abcdefghijklmnopqrstuuinwY/tkBVrn3xrxQI/TgnMHhkvl85RW"	/* of sesame */
/* of nobody knows what, and 256 times as dear */
#define DEAR	"$2b$12$abcdefghijklmnopqrstuuinwY/tkBVrn3xrxQI/TgnMHhkvl85RW"
#define OTHER	"$2b$04$bbcdefghijklmnopqrstuuRVxVngVLp9LIx/56V2n6Px38WwcDeim"	/* of open */

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
	EXPECT_STREQ("/etc/gprof/server.crt", c.cert_file);
	EXPECT_STREQ("/run/it's.key", c.key_file);
	EXPECT_TRUE(c.tls13);
	ASSERT_EQ(2, c.nr_users);
	EXPECT_STREQ("alice", c.users[0].name);
	EXPECT_STREQ(HASH, c.users[0].hash);
	EXPECT_STREQ("bob: \"b\"", c.users[1].name);
	EXPECT_STREQ(HASH, c.users[1].hash);
	web_config_free(&c);
}

TEST(an_empty_file_asks_for_nothing)
{
	static const char *const texts[] = { "", "\n\n", "# nothing\n", "basic_auth_users: {}\n",
					     "basic_auth_users:\n" };

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct web_config c;

		EXPECT_EQ(NULL, parse(&c, texts[i]));
		EXPECT_EQ(0, c.nr_users);
		EXPECT_EQ(NULL, c.cert_file);
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

		ASSERT_NE(NULL, why) {
			TH_LOG("%s", bad[i].text);
		}
		EXPECT_NE(NULL, strstr(why, bad[i].why)) {
			TH_LOG("%s\n-> %s", bad[i].text, why);
		}
		/* A password that somebody wrote there is not shown. */
		EXPECT_EQ(NULL, strstr(why, "sesame"));
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
	EXPECT_TRUE(access_has_users(a));
	EXPECT_TRUE(access_has_token(a));
	EXPECT_FALSE(access_tls(a));
	for (int i = 0; i < 2; i++) {
		EXPECT_EQ(1, access_password(a, "alice", "sesame"));
		EXPECT_EQ(0, access_password(a, "alice", "Sesame"));
		EXPECT_EQ(0, access_password(a, "alice", ""));
		EXPECT_EQ(0, access_password(a, "bob", "sesame"));
		EXPECT_EQ(0, access_password(a, "", "sesame"));
	}
	EXPECT_TRUE(access_token(a, "0123456789abcdef"));
	EXPECT_FALSE(access_token(a, "0123456789abcdeF"));
	EXPECT_FALSE(access_token(a, ""));
	/* What was right is forgotten, with the hash that it was right for. */
	write_file(web, "basic_auth_users:\n  alice: " OTHER "\n");
	access_reload(a);
	EXPECT_EQ(0, access_password(a, "alice", "sesame"));
	EXPECT_EQ(1, access_password(a, "alice", "open"));
	/* Whoever had a password that was right has it no longer. */
	write_file(web, "basic_auth_users:\n  bob: " HASH "\n");
	write_file(token, "abcdef0123456789");
	access_reload(a);
	EXPECT_EQ(0, access_password(a, "alice", "sesame"));
	EXPECT_EQ(1, access_password(a, "bob", "sesame"));
	EXPECT_FALSE(access_token(a, "0123456789abcdef"));
	EXPECT_TRUE(access_token(a, "abcdef0123456789"));
	/* A file that vanishes, is nonsense, or lets in everybody changes nothing. */
	write_file(web, "basic_auth_users:\n");
	access_reload(a);
	write_file(web, "basic_auth_users:\n  bob: x\n");
	access_reload(a);
	unlink(web);
	access_reload(a);
	EXPECT_EQ(1, access_password(a, "bob", "sesame"));
	EXPECT_EQ(0, access_password(a, "alice", "sesame"));
	access_free(a);
	unlink(token);
	EXPECT_EQ(NULL, access_new(NULL, token, &status));
	EXPECT_EQ(STATUS_FAILED, status);
	write_file(token, "short\n");
	EXPECT_EQ(NULL, access_new(NULL, token, &status));
	unlink(token);
}

#define GUESSERS	16

static void *guess(void *ctx)
{
	return (void *)(long)access_password(ctx, "alice", "guess");
}

static struct access *dear(void)
{
	char web[] = "/tmp/web.XXXXXX";
	struct access *a;
	int status = 0;

	close(mkstemp(web));
	write_file(web, "basic_auth_users:\n  bob: " HASH "\n  alice: " DEAR "\n");
	a = access_new(web, NULL, &status);
	unlink(web);
	return a;
}

/* Each that waits has a connection; who knows a password needs one. */
TEST(who_guesses_much_is_sent_away)
{
	struct access *a = dear();
	pthread_t threads[GUESSERS];
	int busy = 0, wrong = 0;

	ASSERT_NE(NULL, a);
	for (int i = 0; i < GUESSERS; i++)
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, guess, a));
	for (int i = 0; i < GUESSERS; i++) {
		void *ret;

		pthread_join(threads[i], &ret);
		busy += (long)ret == -EBUSY;
		wrong += !ret;
	}
	EXPECT_EQ(GUESSERS, busy + wrong);
	EXPECT_LE(1, busy);
	EXPECT_LE(8, wrong);
	EXPECT_EQ(1, access_password(a, "bob", "sesame"));
	access_free(a);
}

static double seconds_of(struct access *a, const char *user)
{
	struct timespec from, to;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
	access_password(a, user, "guess");
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
	return to.tv_sec - from.tv_sec + (to.tv_nsec - from.tv_nsec) / 1e9;
}

TEST(time_does_not_tell_who_is_there)
{
	struct access *a = dear();
	double there, nobody;

	ASSERT_NE(NULL, a);
	there = seconds_of(a, "alice");
	nobody = seconds_of(a, "carol");
	EXPECT_LT(there * 0.5, nobody);
	EXPECT_GT(there * 2, nobody);
	access_free(a);
}

TEST_HARNESS_MAIN
