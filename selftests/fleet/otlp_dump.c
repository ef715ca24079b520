// SPDX-License-Identifier: GPL-2.0-only
/*
 * otlp_dump: what is in profiles, or in requests of OTLP Profiles, as sorted lines.
 *
 *	otlp_dump [-n] [-p HOST] [-u] pprof|requests FILE...
 *
 * With -n profiles are told without names of functions. With -p lines begin with the host:
 * HOST for a profile, and what requests say. With -u profiles of requests with an id that
 * others before them had are left out. Requests may be gzipped. The status is 1 when something in them is wrong.
 */
#include <err.h>
#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include "otlp_lines.h"

#define REQUEST_MAX	(64U << 20)

static void dump_profile(const char *file, bool names, struct lines *to)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	struct gprof_profile *p = gprof_profile_read(fd);

	if (!p)
		errx(1, "%s: %s", file, gprof_error());
	say_profile(p, names, to);
	gprof_profile_free(p);
	close(fd);
}

static void dump_request(const char *file, struct read *r)
{
	struct gprof_otlp_request request = { 0 };
	gzFile f = gzopen(file, "r");
	char *data = malloc(REQUEST_MAX);
	int len = f && data ? gzread(f, data, REQUEST_MAX) : -1;

	if (len < 0)
		errx(1, "%s: cannot be read", file);
	request.data = data;
	request.size = (size_t)len;
	read_request(r, &request);
	if (r->wrong[0])
		errx(1, "%s: %s", file, r->wrong);
	gzclose(f);
	free(data);
}

int main(int argc, char **argv)
{
	struct read r = { .host = "" };
	const char *host = NULL;
	bool names = true, prefix;
	int opt;

	while ((opt = getopt(argc, argv, "np:u")) != -1) {
		if (opt == 'n')
			names = false;
		else if (opt == 'p')
			host = optarg;
		else if (opt == 'u')
			r.once = true;
		else
			return 2;
	}
	if (optind + 1 >= argc)
		errx(2, "pprof|requests FILE...");
	r.with_host = host;
	prefix = host && !strcmp(argv[optind], "pprof");
	for (size_t i = (size_t)optind + 1; i < (size_t)argc; i++) {
		if (!strcmp(argv[optind], "pprof"))
			dump_profile(argv[i], names, &r.lines);
		else
			dump_request(argv[i], &r);
	}
	qsort(r.lines.v, r.lines.nr, sizeof(*r.lines.v), by_text);
	for (size_t i = 0; i < r.lines.nr; i++)
		printf("%s%s%s\n", prefix ? host : "", prefix ? " " : "", r.lines.v[i]);
	return 0;
}
