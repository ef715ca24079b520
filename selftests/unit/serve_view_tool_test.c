// SPDX-License-Identifier: GPL-2.0-only
/*
 * The program that runs beside gprofctl serve to make a page of a trace: this one here, by the
 * name gprofctl in PATH, which tells what it was given.
 */
#include "harness.h"
#include "agent/serve_view.h"

/* As gprofctl wall, in place of main(). */
__attribute__((constructor)) static void be_the_command(int argc, char **argv)
{
	FILE *f = fopen("/proc/self/status", "r");
	struct rlimit data;
	char line[256];

	if (argc < 5 || strcmp(argv[0], "gprofctl")) {
		fclose(f);
		return;
	}
	while (fgets(line, sizeof(line), f))
		if (!strncmp(line, "Cap", 3) || !strncmp(line, "NoNewPrivs", 10))
			fputs(line, stdout);
	fclose(f);
	getrlimit(RLIMIT_DATA, &data);
	printf("data %lu\nargs %s %s %s\n", (unsigned long)data.rlim_cur, argv[1], argv[3], argv[4]);
	if (argc > 5)
		printf("more %s\n", argv[5]);
	f = fopen(argv[2], "r");
	if (!f || !fgets(line, sizeof(line), f))
		exit(3);
	printf("read %s\n", line);
	if (!strcmp(line, "fail")) {
		fprintf(stderr, "gprofctl: first\ngprofctl: it is no trace\n");
		exit(1);
	}
	exit(strcmp(line, "mute") ? 0 : 1);
}

static int make(size_t view, const char *trace, char *got, size_t size, char *why, size_t why_size)
{
	const struct gprof_http_request rq = { .sz = sizeof(rq) };
	int in = memfd_create("in", MFD_CLOEXEC), out = memfd_create("out", MFD_CLOEXEC), ret;
	size_t nr;
	const struct gprof_http_view *views = serve_views(&nr);
	char dir[] = "/tmp/serve_view-XXXXXX", name[64], self[4096] = "";
	ssize_t n;

	/* Beside the test itself there is none. */
	snprintf(name, sizeof(name), "%s/gprofctl", mkdtemp(dir));
	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0 || symlink(self, name) ||
	    setenv("PATH", dir, 1))
		abort();
	if (write(in, trace, strlen(trace)) < 0)
		abort();
	if (view >= nr)
		abort();
	ret = views[view].make(views[view].ctx, &rq, in, out, why, why_size);
	n = pread(out, got, size - 1, 0);
	got[n > 0 ? n : 0] = '\0';
	close(in);
	close(out);
	unlink(name);
	rmdir(dir);
	return ret;
}

TEST(it_has_no_privilege_and_a_bound)
{
	static const char *const has[] = {
		"CapInh:\t0000000000000000\n", "CapPrm:\t0000000000000000\n",
		"CapEff:\t0000000000000000\n", "CapAmb:\t0000000000000000\n", "NoNewPrivs:\t1\n",
		"data 1073741824\n", "args wall -o -\n", "read a trace\n",
	};
	char got[4096], why[256] = "";

	ASSERT_EQ(0, make(0, "a trace", got, sizeof(got), why, sizeof(why))) TH_LOG("%s", why);
	for (size_t i = 0; i < sizeof(has) / sizeof(has[0]); i++) {
		EXPECT_NE(NULL, strstr(got, has[i])) TH_LOG("no %s in %s", has[i], got);
	}
}

TEST(what_it_said_last_is_why_it_failed)
{
	char got[4096], why[256] = "";

	EXPECT_EQ(-EIO, make(0, "fail", got, sizeof(got), why, sizeof(why)));
	EXPECT_STREQ("it is no trace", why);
	EXPECT_EQ(-EIO, make(0, "mute", got, sizeof(got), why, sizeof(why)));
	EXPECT_STREQ("gprofctl wall failed without a word", why);
}

TEST(a_page_has_a_title)
{
	char got[4096], why[256] = "";

	ASSERT_EQ(0, make(1, "a profile", got, sizeof(got), why, sizeof(why))) TH_LOG("%s", why);
	EXPECT_NE(NULL, strstr(got, "args view -o -\n"));
	EXPECT_NE(NULL, strstr(got, "more --title=CPU profile\n"));
	EXPECT_NE(NULL, strstr(got, "read a profile\n"));
}

TEST_HARNESS_MAIN
