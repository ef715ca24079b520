// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * As profile_self.c, for a program that is to be linked with little: libgprof-core needs libc and
 * libnl alone. Its profile has addresses, which gprofctl or pprof names later:
 *
 *	cc address_self.c $(pkg-config --cflags --libs libgprof-core) -o address_self
 *	./address_self self.pb; gprofctl symbolize self.pb; gprofctl top self.pb
 */
#include <fcntl.h>
#include <gprof/address_recorder.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static unsigned int primes;

/* A tenth of a second of CPU time, which the profile shall find here. */
__attribute__((noinline)) static void count_primes(void)
{
	clock_t end = clock() + CLOCKS_PER_SEC / 10;

	for (unsigned int n = 2; n % 1024 || clock() < end; n++) {
		unsigned int d = 2;

		while (d * d <= n && n % d)
			d++;
		primes += d * d > n;
	}
}

static bool record(struct gprof_address_recorder *r)
{
	if (gprof_address_recorder_start(r))
		return false;
	/* A program of its own would read once a second, say. */
	for (int i = 0; i < 10; i++) {
		count_primes();
		if (gprof_address_recorder_read(r))
			return false;
	}
	return !gprof_address_recorder_stop(r);
}

int main(int argc, char **argv)
{
	struct gprof_cpu_config cfg = { .sz = sizeof(cfg), .target = { .type = GPROF_SELF } };
	struct gprof_address_counts counts = { .sz = sizeof(counts) };
	struct gprof_address_recorder *r = gprof_address_recorder_new(&cfg);
	int fd = open(argc > 1 ? argv[1] : "self.pb", O_WRONLY | O_CREAT | O_TRUNC, 0644);

	if (!r || fd < 0 || !record(r) || gprof_address_recorder_write(r, fd, &counts)) {
		fprintf(stderr, "no profile: %s\n",
			fd < 0 ? "the output cannot be opened" : gprof_error());
		return 1;
	}
	printf("primes=%u produced=%" PRIu64 " read=%" PRIu64 " lost=%" PRIu64
	       " unmapped=%" PRIu64 "\n", primes, counts.produced, counts.read, counts.lost,
	       counts.unmapped);
	close(fd);
	gprof_address_recorder_free(r);
	return 0;
}
