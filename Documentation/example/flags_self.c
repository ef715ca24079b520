// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A program, or a test, that has itself recorded when it is told to:
 *
 *	cc flags_self.c $(pkg-config --cflags --libs libgprof) -o flags_self
 *	./flags_self -cpuprofile cpu.pb.gz -blockprofile block.pb.gz 200000
 */
#include <gprof/flags.h>
#include <stdio.h>
#include <stdlib.h>

static unsigned int count_primes(unsigned int below)
{
	unsigned int nr = 0;

	for (unsigned int n = 2; n < below; n++) {
		unsigned int d = 2;

		while (d * d <= n && n % d)
			d++;
		nr += d * d > n;
	}
	return nr;
}

int main(int argc, char **argv)
{
	struct gprof_flags *f = gprof_flags_parse(&argc, argv);
	int status = 0;

	if (!f || gprof_flags_start(f)) {
		fprintf(stderr, "not recording: %s\n", gprof_error());
		gprof_flags_free(f);
		return 1;
	}
	/* Here stands what the program does; of the flags nothing is left in argv. */
	printf("%u primes\n", count_primes(argc > 1 ? (unsigned int)atoi(argv[1]) : 1000000));
	if (gprof_flags_stop(f)) {
		fprintf(stderr, "%s\n", gprof_error());
		status = 1;
	}
	gprof_flags_free(f);
	return status;
}
