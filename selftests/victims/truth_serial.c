// SPDX-License-Identifier: GPL-2.0-only
/*
 * truth_serial: one thread, ten functions with shares of 1/55 to 10/55, called
 * through main -> level1 -> level2. After the serial program of golang/go 36821.
 *
 * Usage: truth_serial [UNIT [ROUNDS]]; a round makes 55 * UNIT trips. Prints what
 * each function took, "NAME NANOSECONDS".
 */
#include "truth.h"

WORKER(A_expect_1_82, 1)
WORKER(B_expect_3_64, 2)
WORKER(C_expect_5_46, 3)
WORKER(D_expect_7_27, 4)
WORKER(E_expect_9_09, 5)
WORKER(F_expect_10_91, 6)
WORKER(G_expect_12_73, 7)
WORKER(H_expect_14_55, 8)
WORKER(I_expect_16_36, 9)
WORKER(J_expect_18_18, 10)

static const struct { const char *name; uint64_t (*run)(uint64_t trips, uint64_t x); } workers[] = {
	{ "A_expect_1_82", A_expect_1_82 }, { "B_expect_3_64", B_expect_3_64 },
	{ "C_expect_5_46", C_expect_5_46 }, { "D_expect_7_27", D_expect_7_27 },
	{ "E_expect_9_09", E_expect_9_09 }, { "F_expect_10_91", F_expect_10_91 },
	{ "G_expect_12_73", G_expect_12_73 }, { "H_expect_14_55", H_expect_14_55 },
	{ "I_expect_16_36", I_expect_16_36 }, { "J_expect_18_18", J_expect_18_18 },
};

static uint64_t taken[10];

__attribute__((noinline)) uint64_t level2(uint64_t unit, uint64_t x);
__attribute__((noinline)) uint64_t level2(uint64_t unit, uint64_t x)
{
	uint64_t begun;
	int i;

	for (i = 0; i < 10; i++) {
		begun = truth_clock();
		x = workers[i].run((i + 1) * unit, x);
		taken[i] += truth_clock() - begun;
	}
	return x;
}

__attribute__((noinline)) uint64_t level1(uint64_t unit, uint64_t x);
__attribute__((noinline)) uint64_t level1(uint64_t unit, uint64_t x)
{
	return level2(unit, x) + 1;
}

int main(int argc, char **argv)
{
	uint64_t unit = truth_argument(argc, argv, 1, 1000000);
	uint64_t rounds = truth_argument(argc, argv, 2, 1);
	uint64_t x = 1;
	int i;

	while (rounds--)
		x = level1(unit, x);
	for (i = 0; i < 10; i++)
		printf("%s %llu\n", workers[i].name, (unsigned long long)taken[i]);
	/* the result is used, or it would not be computed */
	return x == 42;
}
