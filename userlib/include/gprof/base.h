/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * gprof/base.h: declarations for all headers of the library.
 *
 * Objects. They are made by functions named _new and freed by those named _free, for which NULL is
 * fine. Reading, merging, comparing, finishing and stopping return profiles too.
 *
 * Errors. A function that makes an object returns NULL when it fails and sets errno;
 * others return 0 or a count, or -errno. gprof_error() is then a sentence with the failed
 * operation, its cause and a remedy. It has no capital at the start and no full stop,
 * since it goes behind a program's name and a colon.
 *
 * Threads. The sentence is the calling thread's own. Fork. A child has the sentence
 * of the thread that forked.
 */
#ifndef GPROF_BASE_H
#define GPROF_BASE_H

#include <stdint.h>

#ifndef GPROF_API
#define GPROF_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/**
 * gprof_error() - why the calling thread's last call that failed did so
 *
 * Return: text that lives until the thread calls the library again, never NULL; ""
 * when nothing failed yet.
 */
GPROF_API const char *gprof_error(void);

/**
 * struct gprof_tag - a label of a sample: a text or a number
 * @key: key, such as "request"
 * @text: text, or NULL for a number
 * @unit: of the number, such as "bytes"; NULL: none, and pprof takes the key for it
 * @num: number
 *
 * Closed.
 */
struct gprof_tag {
	const char *key;
	const char *text;
	const char *unit;
	int64_t num;
};

#ifdef __cplusplus
}
#endif

#endif /* GPROF_BASE_H */
