// SPDX-License-Identifier: GPL-2.0-only
/*
 * truth_serial: one thread, ten functions with shares of 1/55 to 10/55, called
 * through main -> level1 -> level2. After the serial program of golang/go 36821.
 *
 * Usage: truth_serial [UNIT [ROUNDS]]; a round makes 55 * UNIT trips.
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

__attribute__((noinline)) uint64_t level2(uint64_t unit, uint64_t x)
{
	x = A_expect_1_82(unit, x);
	x = B_expect_3_64(2 * unit, x);
	x = C_expect_5_46(3 * unit, x);
	x = D_expect_7_27(4 * unit, x);
	x = E_expect_9_09(5 * unit, x);
	x = F_expect_10_91(6 * unit, x);
	x = G_expect_12_73(7 * unit, x);
	x = H_expect_14_55(8 * unit, x);
	x = I_expect_16_36(9 * unit, x);
	x = J_expect_18_18(10 * unit, x);
	return x;
}

__attribute__((noinline)) uint64_t level1(uint64_t unit, uint64_t x)
{
	return level2(unit, x) + 1;
}

int main(int argc, char **argv)
{
	uint64_t unit = truth_argument(argc, argv, 1, 1000000);
	uint64_t rounds = truth_argument(argc, argv, 2, 1);
	uint64_t x = 1;

	while (rounds--)
		x = level1(unit, x);
	printf("%llx\n", (unsigned long long)x);
	return 0;
}
