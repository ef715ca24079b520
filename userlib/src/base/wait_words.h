/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * wait_words.h: reasons of waits as words: of samples (label reason), and of the views of traces,
 * so that one wait has one word. Views have more, such as reclaim.
 */
#ifndef GPROF_WAIT_WORDS_H
#define GPROF_WAIT_WORDS_H

#define GPROF_WORD_OTHER		"other"
#define GPROF_WORD_SLEEP		"sleep"
#define GPROF_WORD_IO			"io"
#define GPROF_WORD_FUTEX		"futex"
#define GPROF_WORD_PIPE			"pipe"
#define GPROF_WORD_SOCKET		"socket"
#define GPROF_WORD_FILE			"file"
#define GPROF_WORD_POLL			"poll"
#define GPROF_WORD_FAULT		"fault"
#define GPROF_WORD_UNINTERRUPTIBLE	"uninterruptible"
#define GPROF_WORD_CHILD		"child"
#define GPROF_WORD_SIGNAL		"signal"
#define GPROF_WORD_STOPPED		"stopped"
#define GPROF_WORD_KERNEL		"kernel"
#define GPROF_WORD_LOCK			"lock"

/* gprof_wait_word() - word of GPROF_WAIT_FOR_*; one of a newer kernel is "other" */
const char *gprof_wait_word(unsigned int reason);

#endif /* GPROF_WAIT_WORDS_H */
