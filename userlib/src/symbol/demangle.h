/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * demangle.h: names of C++ and Rust as people write them.
 *
 * Without parameters and return types, as perf shows them: a function has the name
 * that it is called by.
 */
#ifndef GPROF_DEMANGLE_H
#define GPROF_DEMANGLE_H

/**
 * gprof_demangle() - the name behind a symbol
 * @symbol: symbol, perhaps with a compiler's ".cold" or our "@plt", which stay
 *
 * Symbols are not trusted: time and memory are bounded for any contents. A few hundred bytes can
 * stand for a name of any length; one of more than 64 KiB is none.
 *
 * Return: name for free(), or NULL where @symbol is no mangled one.
 */
char *gprof_demangle(const char *symbol);

#endif /* GPROF_DEMANGLE_H */
