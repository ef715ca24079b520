/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * response_class: the class of a response over HTTP: accepted, refused, later or unsure.
 */
#ifndef GPROF_TOOLS_RESPONSE_CLASS_H
#define GPROF_TOOLS_RESPONSE_CLASS_H

#include "engine.h"
#include "http_client.h"

/**
 * enum response_class - class of a response
 */
enum response_class {
	RESPONSE_ACCEPTED, /* the engine has it */
	RESPONSE_REFUSED,  /* it will never take it */
	RESPONSE_LATER,	   /* again, in some time */
	RESPONSE_UNSURE,   /* again, though the engine may have it */
};

/**
 * response_class_of() - class of an answer
 * @a: the answer
 * @url: of the server, for the sentence
 * @words: message in its body, or NULL: all of it
 * @out: its reached is set, and its retry_after_ms and its sentence, but for RESPONSE_ACCEPTED
 *
 * 2xx is accepted, and 4xx is refused, but for those about the sender (401, 403, 407), the time
 * (408, 429), or the address (404, 405, 410, 415, 421, 426, and a 400 that is a page); all others
 * come later.
 */
enum response_class response_class_of(const struct http_client_response *a, const char *url,
				      const char *words, struct send_result *out);

#endif
