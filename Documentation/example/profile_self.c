// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A program that profiles itself, without privilege:
 *
 *	cc profile_self.c $(pkg-config --cflags --libs libgprof) -o profile_self
 *	./profile_self self.pb.gz && gprofctl top self.pb.gz
 */
#include <fcntl.h>
#include <gprof/recorder.h>
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

/* One second of CPU time, which the profile shall find here. */
__attribute__((noinline)) static unsigned int count_primes(void)
{
	clock_t end = clock() + CLOCKS_PER_SEC;
	unsigned int found = 0;

	for (unsigned int n = 2; n % 1024 || clock() < end; n++) {
		unsigned int d = 2;

		while (d * d <= n && n % d)
			d++;
		found += d * d > n;
	}
	return found;
}

int main(int argc, char **argv)
{
	struct gprof_cpu_config cfg = { .sz = sizeof(cfg), .target = { .type = GPROF_SELF } };
	struct gprof_recorder_stats st = { .sz = sizeof(st) };
	struct gprof_recorder *r = gprof_cpu_recorder_new(&cfg);	/* the timer, at 100 Hz */
	int fd = open(argc > 1 ? argv[1] : "self.pb.gz", O_WRONLY | O_CREAT | O_TRUNC, 0644);
	unsigned int primes;

	if (!r || fd < 0 || gprof_recorder_start(r, fd)) {
		fprintf(stderr, "not recording: %s\n",
			fd < 0 ? "the output cannot be opened" : gprof_error());
		return 1;
	}
	primes = count_primes();
	if (gprof_recorder_stop(r) || gprof_recorder_stats(r, 0, &st)) {
		fprintf(stderr, "no profile: %s\n", gprof_error());
		return 1;
	}
	printf("primes=%u produced=%" PRIu64 " read=%" PRIu64 " lost=%" PRIu64 "\n", primes,
	       st.produced, st.read, st.lost);
	gprof_recorder_free(r);
	return 0;
}
