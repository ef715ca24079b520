// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * As flight_self.c, for a program that is to be linked with little: libgprof-core needs libc and
 * libnl alone. Its output becomes a trace later, by gprofctl:
 *
 *	cc raw_flight_self.c $(pkg-config --cflags --libs libgprof-core) -o raw_flight_self
 *	./raw_flight_self last.raw; gprofctl read last.raw -o last.trace
 */
#include <fcntl.h>
#include <gprof/raw_flight.h>
#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

/* The work of the program, until it fails. */
static void serve(void)
{
	const struct timespec rest = { .tv_nsec = 1000000 };

	for (int request = 0; request < 100; request++)
		nanosleep(&rest, NULL);
}

int main(int argc, char **argv)
{
	const char *path = argc > 1 ? argv[1] : "last.raw";
	struct gprof_trace_config cfg = { .sz = sizeof(cfg), .target = { .type = GPROF_SELF } };
	struct gprof_flight_opts opts = { .sz = sizeof(opts), .min_age_ns = 10000000000 };
	struct gprof_flight_stats st = { .sz = sizeof(st) };
	struct gprof_raw_snapshot last = { .sz = sizeof(last) };
	struct gprof_raw_flight *f = gprof_raw_flight_new(&cfg, &opts);
	int fd;

	if (!f || gprof_raw_flight_start(f)) {
		fprintf(stderr, "not recording: %s\n", gprof_error());
		return 1;
	}
	serve();
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	/* It may go on recording; here it ends, so that the counts are those of the file. */
	gprof_raw_flight_stop(f);
	if (fd < 0 || gprof_raw_flight_snapshot(f, fd, &last) || gprof_raw_flight_stats(f, &st))
		fprintf(stderr, "failed, and not known why: %s\n",
			fd < 0 ? "the output cannot be opened" : gprof_error());
	else
		printf("failed; %" PRIu64 " bytes are in %s: produced=%" PRIu64 " held=%" PRIu64
		       " lost=%" PRIu64 " overwritten=%" PRIu64 "\n", last.bytes, path, st.produced,
		       st.held, st.lost, st.overwritten);
	if (fd >= 0)
		close(fd);
	gprof_raw_flight_free(f);
	return 0;
}
