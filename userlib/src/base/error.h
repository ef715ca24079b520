/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * error.h: an errno and the sentence that goes with it.
 *
 * A function with a sentence beside its errno takes a struct gprof_error and returns -errno. A
 * sentence has the failed operation, its cause and a remedy. It has no capital at the start and no
 * full stop, since callers put it behind a program name and a colon.
 */
#ifndef GPROF_ERROR_H
#define GPROF_ERROR_H

#define GPROF_ERROR_TEXT	640

/**
 * struct gprof_error - the last failure of an object
 * @err: positive errno, 0 for none
 * @text: sentence, "" for none
 */
struct gprof_error {
	int err;
	char text[GPROF_ERROR_TEXT];
};

/**
 * gprof_error_set() - note a failure, and keep it as the calling thread's last one
 * @e: gets the sentence, or NULL
 * @err: positive errno
 * @fmt: sentence
 *
 * Return: -@err, also put into errno, so that a caller can return it at once.
 */
int gprof_error_set(struct gprof_error *e, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/** gprof_error_clear() - forget a failure */
void gprof_error_clear(struct gprof_error *e);

/**
 * gprof_error_publish() - keep an earlier failure as the calling thread's last one: another
 * thread's, or one after which others did not count
 */
void gprof_error_publish(const struct gprof_error *e);

/** gprof_strerror() - text of an errno, thread-safe, never NULL */
const char *gprof_strerror(int err);

#endif /* GPROF_ERROR_H */
