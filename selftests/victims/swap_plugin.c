// SPDX-License-Identifier: GPL-2.0-only
/*
 * swap_plugin: a plugin without a library below it, built once for each name that its
 * function has. swapper enters it where its file says.
 */

/* Its own loop, so that the function is the leaf. */
unsigned long BURNS(unsigned long n);

unsigned long BURNS(unsigned long n)
{
	unsigned long x = n;

	while (n--) {
		x = x * 6364136223846793005UL + 1442695040888963407UL;
		__asm__ volatile("" : "+r"(x));
	}
	return x;
}
