// SPDX-License-Identifier: GPL-2.0-only
/*
 * walked: what unwind_walk_lib_test follows step by step. Frames that grow, that are
 * aligned, that call back from the C library, that are jumped out of, that signals
 * interrupt on this stack and on another; and the vDSO.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static volatile int v;
static jmp_buf jmp;

static __attribute__((noinline)) int leaf(int a)
{
	v += a;
	return v;
}

static __attribute__((noinline)) int deep(int n)
{
	return n ? deep(n - 1) + leaf(n) : leaf(0);
}

static __attribute__((noinline)) int varies(int n)
{
	char b[n];

	memset(b, n, n);
	return b[n / 2] + leaf(n);
}

static __attribute__((noinline)) int aligned(int n)
{
	_Alignas(64) char b[64];

	memset(b, n, 64);
	v = b[n & 63];
	return varies(n) + leaf(n);
}

static __attribute__((noinline)) int both(int n)
{
	_Alignas(64) char b[64];
	char c[n];

	memset(b, n, 64);
	memset(c, 1, n);
	v = b[n & 63] + c[n / 2];
	return aligned(n) + leaf(n);
}

/* Its frame is larger than one instruction can say, and than a pair of registers can reach. */
static __attribute__((noinline)) int large(int n)
{
	char b[70000];

	memset(b, n, 64);
	v = b[n & 63];
	return leaf(n) + b[0];
}

static __attribute__((noinline)) void jumps(int n)
{
	if (n)
		jumps(n - 1);
	else
		longjmp(jmp, 1);
	leaf(n);
}

static int order(const void *a, const void *b)
{
	return leaf(0) ? *(int *)a - *(int *)b : 0;
}

static void handler(int sig)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	varies(40);
}

int main(int argc, char **argv)
{
	stack_t other = { .ss_sp = malloc(65536), .ss_size = 65536 };
	struct sigaction act = { .sa_handler = handler };
	struct timespec t;
	char text[64];
	int a[20], i;

	for (i = 0; i < 20; i++)
		a[i] = i * 7 % 20;
	qsort(a, 20, sizeof(*a), order);
	deep(30);
	varies(100);
	aligned(100);
	both(50);
	large(9);
	if (!setjmp(jmp))
		jumps(5);
	clock_gettime(CLOCK_MONOTONIC, &t);
	sigaction(SIGUSR1, &act, NULL);
	raise(SIGUSR1);
	sigaltstack(&other, NULL);
	act.sa_flags = SA_ONSTACK;
	sigaction(SIGUSR2, &act, NULL);
	raise(SIGUSR2);
	snprintf(text, sizeof(text), "%d %g", v, v / 3.0);
	puts(text);
	free(other.ss_sp);
	return 0;
}
