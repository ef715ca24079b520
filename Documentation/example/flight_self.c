// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A program that keeps its own last ten seconds, and writes them when it fails:
 *
 *	cc flight_self.c $(pkg-config --cflags --libs libgprof) -o flight_self
 *	./flight_self last.trace; gprofctl read last.trace --summary
 */
#include <fcntl.h>
#include <gprof/flight.h>
#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

/* Works on and on, until it has to wait for longer than it likes; the requests until then. */
static int serve(void)
{
	struct timespec rest = { .tv_nsec = 1000000 }, before, after;

	for (int request = 0;; request++) {
		if (request == 100)
			rest.tv_nsec = 300000000;	/* what goes wrong, one day */
		clock_gettime(CLOCK_MONOTONIC, &before);
		nanosleep(&rest, NULL);
		clock_gettime(CLOCK_MONOTONIC, &after);
		if ((after.tv_sec - before.tv_sec) * 1000000000 + after.tv_nsec - before.tv_nsec >
		    250000000)
			return request;
	}
}

int main(int argc, char **argv)
{
	const char *path = argc > 1 ? argv[1] : "last.trace";
	struct gprof_trace_config cfg = { .sz = sizeof(cfg), .target = { .type = GPROF_SELF } };
	struct gprof_flight_opts opts = { .sz = sizeof(opts), .min_age_ns = 10000000000 };
	struct gprof_flight_snapshot last = { .sz = sizeof(last) };
	struct gprof_flight *f = gprof_flight_new(&cfg, &opts);
	int fd, requests;

	if (!f || gprof_flight_start(f)) {
		fprintf(stderr, "not recording: %s\n", gprof_error());
		return 1;
	}
	requests = serve();
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	if (fd < 0 || gprof_flight_snapshot(f, fd, &last))
		fprintf(stderr, "too slow, and not known why: %s\n",
			fd < 0 ? "the output cannot be opened" : gprof_error());
	else
		printf("too slow after %d requests; the last %" PRIu64 " ms are in %s\n",
		       requests, (last.until_ns - last.from_ns) / 1000000, path);
	if (fd >= 0)
		close(fd);
	gprof_flight_free(f);
	return 0;
}
