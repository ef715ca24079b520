// SPDX-License-Identifier: GPL-2.0-only
/*
 * symbols_many.c: a library of 500 functions, each of which has one instruction that
 * touches memory, in two functions that are inlined into it. Compiled once for each
 * NR, so that no two of them have a name in common.
 */
#define GLUE(a, b)	a##b
#define CALLED(nr, i)	GLUE(nr, i)
#define NAME(i)		CALLED(GLUE3(function_, NR), _##i)
#define GLUE3(a, b)	GLUE(a, b)
#define STORE		GLUE3(store_, NR)
#define TOUCH		GLUE3(touch_, NR)

static inline __attribute__((always_inline)) void STORE(volatile char *p, int value)
{
	*p = (char)value;
}

static inline __attribute__((always_inline)) void TOUCH(char *p, int at)
{
	STORE(p + at, at * 3);
}

#define DEFINE(i)	__attribute__((noinline)) void NAME(i)(char *p);	\
			void NAME(i)(char *p) { TOUCH(p, i); }
#define ENTRY(i)	NAME(i),
#define TEN(x, i) \
	x(i##0) x(i##1) x(i##2) x(i##3) x(i##4) x(i##5) x(i##6) x(i##7) x(i##8) x(i##9)
#define HUNDRED(x, i)	TEN(x, i##0) TEN(x, i##1) TEN(x, i##2) TEN(x, i##3) TEN(x, i##4)	\
			TEN(x, i##5) TEN(x, i##6) TEN(x, i##7) TEN(x, i##8) TEN(x, i##9)
#define ALL(x)		HUNDRED(x, 1) HUNDRED(x, 2) HUNDRED(x, 3) HUNDRED(x, 4) HUNDRED(x, 5)

ALL(DEFINE)

void (*const functions[])(char *p) = { ALL(ENTRY) };
const unsigned int nr_functions = sizeof(functions) / sizeof(functions[0]);
