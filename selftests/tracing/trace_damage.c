// SPDX-License-Identifier: GPL-2.0-only
/*
 * trace_damage SEED FILE OUT: a copy of a trace with a few bytes behind the header
 * changed, left out or put in. The same seed gives the same damage.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEADER	16

static uint64_t state;

static uint64_t next_random(uint64_t below)
{
	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (state >> 33) % below;
}

static size_t damage(unsigned char *p, size_t n)
{
	static const unsigned char odd[] = { 0, 1, 2, 3, 4, 0x7f, 0x80, 0xff };
	size_t at = HEADER + next_random(n - HEADER);

	switch (next_random(4)) {
	case 0:
		p[at] ^= (unsigned char)(1 << next_random(8));
		return n;
	case 1:
		p[at] = odd[next_random(sizeof(odd))];
		return n;
	case 2:
		memmove(p + at, p + at + 1, n - at - 1);
		return n - 1;
	default:
		memmove(p + at + 1, p + at, n - at);
		p[at] = (unsigned char)next_random(256);
		return n + 1;
	}
}

int main(int argc, char **argv)
{
	static unsigned char p[1 << 20];
	size_t n;
	FILE *f;

	if (argc != 4) {
		fprintf(stderr, "usage: trace_damage SEED FILE OUT\n");
		return 2;
	}
	state = strtoull(argv[1], NULL, 0);
	f = fopen(argv[2], "rb");
	n = f ? fread(p, 1, sizeof(p) - 8, f) : 0;
	if (f)
		fclose(f);
	if (n < HEADER + 8) {
		fprintf(stderr, "trace_damage: %s is no trace\n", argv[2]);
		return 1;
	}
	next_random(1);
	for (uint64_t times = 1 + next_random(3); times; times--)
		n = damage(p, n);
	f = fopen(argv[3], "wb");
	if (!f || fwrite(p, 1, n, f) != n || fclose(f)) {
		perror(argv[3]);
		return 1;
	}
	return 0;
}
