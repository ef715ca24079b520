/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * response_class: what an answer over HTTP means for what was sent.
 */
#ifndef GPROF_TOOLS_RESPONSE_CLASS_H
#define GPROF_TOOLS_RESPONSE_CLASS_H

#include "engine.h"
#include "http_client.h"

/**
 * enum response_class - what became of what was sent
 */
enum response_class {
	RESPONSE_ACCEPTED, /* the engine has it */
	RESPONSE_REFUSED,  /* it will never take it */
	RESPONSE_LATER,	   /* again, in some time */
	RESPONSE_UNSURE,   /* again, though the engine may have it */
};

/**
 * verdict() - of an answer
 * @a: the answer
 * @url: whose, for the sentence
 * @words: what its body says, or NULL: all of it
 * @out: its reached is set, and its retry_after_ms and its sentence, but for RESPONSE_ACCEPTED
 *
 * 2xx is taken, and 4xx is refused, but for what is about who sends (401, 403, 407), when (408,
 * 429), or where to (404, 405, 410, 415, 421, 426, and a 400 that is a page); all else comes later.
 */
enum response_class response_class_of(const struct http_client_response *a, const char *url,
				      const char *words, struct send_result *out);

/**
 * response_class_of_item() - of an item that was sent in one request, which is all of it
 * @a: the answer
 * @url: whose, for the sentence
 * @item: what was sent
 * @replaces: an item that comes again takes the place of the same one
 * @out: gets what became of it
 */
void response_class_of_item(const struct http_client_response *a, const char *url,
			    const struct item *item, bool replaces, struct send_result *out);

#endif
