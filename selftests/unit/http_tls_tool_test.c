// SPDX-License-Identifier: GPL-2.0-only
/* The web server over TLS: which versions it speaks, also when that is read again. */
#include "harness.h"
#include <arpa/inet.h>
#include <dlfcn.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <netinet/in.h>
#include <sys/syscall.h>

#include "http/access.h"
#include "cli/cmd.h"
#include "http/http_server.h"

#define BOTH	"NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"
#define OLD	"NORMAL:-VERS-ALL:+VERS-TLS1.2"

static const struct http_route routes[] = { { 0 } };

static bool write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	return f && fputs(text, f) >= 0 && !fclose(f);
}

/* A certificate that vouches for itself, and its key. */
static bool write_pair(void)
{
	gnutls_x509_privkey_t key;
	gnutls_x509_crt_t crt;
	gnutls_datum_t pem;
	bool ok;

	gnutls_x509_privkey_init(&key);
	gnutls_x509_crt_init(&crt);
	ok = !gnutls_x509_privkey_generate(key, GNUTLS_PK_ECDSA,
					   GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0) &&
	     !gnutls_x509_crt_set_version(crt, 3) && !gnutls_x509_crt_set_serial(crt, "\1", 1) &&
	     !gnutls_x509_crt_set_key(crt, key) &&
	     !gnutls_x509_crt_set_dn(crt, "CN=localhost", NULL) &&
	     !gnutls_x509_crt_set_activation_time(crt, time(NULL) - 60) &&
	     !gnutls_x509_crt_set_expiration_time(crt, time(NULL) + 3600) &&
	     !gnutls_x509_crt_sign2(crt, crt, key, GNUTLS_DIG_SHA256, 0);
	if (ok && !gnutls_x509_crt_export2(crt, GNUTLS_X509_FMT_PEM, &pem)) {
		ok = write_file("server.crt", (char *)pem.data);
		gnutls_free(pem.data);
	}
	if (ok && !gnutls_x509_privkey_export2(key, GNUTLS_X509_FMT_PEM, &pem)) {
		ok = write_file("server.key", (char *)pem.data);
		gnutls_free(pem.data);
	}
	gnutls_x509_crt_deinit(crt);
	gnutls_x509_privkey_deinit(key);
	return ok;
}

/* Keys that the server has given up, and seconds that the clock goes fast. */
static unsigned int dropped;
static time_t ahead;

void gnutls_privkey_deinit(gnutls_privkey_t key)
{
	void (*real)(gnutls_privkey_t key) = dlsym(RTLD_NEXT, "gnutls_privkey_deinit");

	dropped++;
	real(key);
}

int clock_gettime(clockid_t id, struct timespec *ts)
{
	int err = (int)syscall(SYS_clock_gettime, id, ts);

	ts->tv_sec += ahead;
	return err;
}

static bool write_config(const char *version)
{
	char text[256];

	snprintf(text, sizeof(text), "tls_server_config:\n  cert_file: server.crt\n"
		 "  key_file: server.key\n  min_version: %s\n", version);
	return write_file("web.yml", text);
}

/* Which version a client with these gets; 0: none. */
static gnutls_protocol_t shake(int port, const char *versions)
{
	struct sockaddr_in in = {
		.sin_family = AF_INET, .sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), ret;
	gnutls_certificate_credentials_t none;
	gnutls_protocol_t version = 0;
	gnutls_session_t s;

	if (connect(fd, (struct sockaddr *)&in, sizeof(in))) {
		close(fd);
		return 0;
	}
	gnutls_certificate_allocate_credentials(&none);
	gnutls_init(&s, GNUTLS_CLIENT);
	gnutls_priority_set_direct(s, versions, NULL);
	gnutls_credentials_set(s, GNUTLS_CRD_CERTIFICATE, none);
	gnutls_transport_set_int(s, fd);
	gnutls_handshake_set_timeout(s, 5000);
	do {
		ret = gnutls_handshake(s);
	} while (ret < 0 && !gnutls_error_is_fatal(ret));
	if (!ret)
		version = gnutls_protocol_get_version(s);
	gnutls_deinit(s);
	gnutls_certificate_free_credentials(none);
	close(fd);
	return version;
}

TEST(the_least_version_is_that_of_the_file_as_it_is_now)
{
	static const char *const turns[] = { "TLS12", "TLS13", "TLS12" };
	char dir[] = "/tmp/tls.XXXXXX";
	struct access *a = NULL;
	struct http_server *h = NULL;
	int status = 0, port = 0;

	ASSERT_NE(NULL, mkdtemp(dir));
	ASSERT_EQ(0, chdir(dir));
	ASSERT_TRUE(write_pair());
	dropped = 0;
	for (size_t i = 0; i < sizeof(turns) / sizeof(turns[0]); i++) {
		bool new = !strcmp(turns[i], "TLS13");

		ASSERT_TRUE(write_config(turns[i]));
		if (i) {
			access_reload(a);
		} else {
			a = access_new("web.yml", NULL, &status);
			ASSERT_NE(NULL, a);
			h = http_listen("127.0.0.1:0", &status);
			ASSERT_NE(NULL, h);
			http_protect(h, a);
			ASSERT_EQ(STATUS_OK, http_start(h, routes, NULL));
			ASSERT_EQ(0, strncmp("https://", http_url(h), 8));
			port = atoi(strrchr(http_url(h), ':') + 1);
		}
		EXPECT_EQ(GNUTLS_TLS1_3, shake(port, BOTH)) TH_LOG("turn %zu", i);
		EXPECT_EQ(new ? 0 : GNUTLS_TLS1_2, shake(port, OLD)) TH_LOG("turn %zu", i);
	}
	/* Handshakes may use an old certificate for a minute. */
	EXPECT_EQ(0, dropped);
	ahead = 60;
	access_reload(a);
	EXPECT_EQ(2, dropped);
	http_close(h);
	access_free(a);
	unlink("web.yml");
	unlink("server.crt");
	unlink("server.key");
	rmdir(dir);
}

TEST_HARNESS_MAIN
