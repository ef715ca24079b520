// SPDX-License-Identifier: GPL-2.0-only
/* fuzz_result.c: the first rule that was broken. */
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include "fuzz_result.h"

void fuzz_broken(struct fuzz *f, const char *format, ...)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	va_list args;

	pthread_mutex_lock(&lock);
	if (!f->error[0]) {
		va_start(args, format);
		vsnprintf(f->error, sizeof(f->error), format, args);
		va_end(args);
	}
	pthread_mutex_unlock(&lock);
}
