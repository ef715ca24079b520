/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * program_files.h: the files of code that a program maps when it begins.
 */
#ifndef GPROF_PROGRAM_FILES_H
#define GPROF_PROGRAM_FILES_H

#include "symbol/object.h"

/**
 * gprof_program_files() - open a program, its interpreter, and the libraries that it needs
 * @name: program, or script, as execvp() takes it
 * @o: takes them
 *
 * The program's own interpreter is asked for the libraries (ld.so --list), in the environment of
 * the caller. A file that cannot be opened, or is not listed within a second, is left out.
 *
 * Return: 0 or -ENOMEM.
 */
int gprof_program_files(const char *name, struct gprof_objects *o);

#endif /* GPROF_PROGRAM_FILES_H */
