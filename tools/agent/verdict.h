/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * verdict: what an answer over HTTP means for what was sent.
 */
#ifndef GPROF_TOOLS_VERDICT_H
#define GPROF_TOOLS_VERDICT_H

#include "engine.h"
#include "http_client.h"

/**
 * enum verdict - what became of what was sent
 */
enum verdict {
	VERDICT_TAKEN,		/* the engine has it */
	VERDICT_REFUSED,	/* it will never take it */
	VERDICT_LATER,		/* again, in some time */
	VERDICT_UNSURE,		/* again, though the engine may have it */
};

/**
 * verdict() - of an answer
 * @a: the answer
 * @url: whose, for the sentence
 * @words: what its body says, or NULL: all of it
 * @out: its reached is set, and its retry_after_ms and its sentence, but for VERDICT_TAKEN
 *
 * 2xx is taken, and 4xx is refused, but for what is about who sends (401, 403, 407), when (408,
 * 429), or where to (404, 405, 410, 415, 421, 426, and a 400 that is a page); all else comes later.
 */
enum verdict verdict(const struct http_answer *a, const char *url, const char *words,
		     struct sending *out);

/**
 * verdict_on_item() - of an item that was sent in one request, which is all of it
 * @a: the answer
 * @url: whose, for the sentence
 * @item: what was sent
 * @replaces: an item that comes again takes the place of the same one
 * @out: gets what became of it
 */
void verdict_on_item(const struct http_answer *a, const char *url, const struct item *item,
		     bool replaces, struct sending *out);

#endif
