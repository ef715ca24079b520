// SPDX-License-Identifier: GPL-2.0-only
/*
 * response_class.c: the class of a response over HTTP: accepted, refused, later or unsure.
 */
#include "response_class.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "cli/diag.h"

#define WORDS_MAX	100

/* Of a stranger, for a terminal or a log. */
static void quote(char *to, const char *words, size_t len)
{
	size_t i;

	while (len && strchr(" \t\r\n", *words)) {
		words++;
		len--;
	}
	for (i = 0; i < len && i < WORDS_MAX && words[i] != '\n'; i++)
		to[i] = words[i] < ' ' || words[i] > '~' ? '?' : words[i];
	to[i] = '\0';
}

/* About the address, not the item: any item gets this response. */
static bool is_of_address(long status)
{
	static const long no_receiver[] = { 404, 405, 410, 415, 421, 426, 501, 505 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(no_receiver); i++)
		if (status == no_receiver[i])
			return true;
	return false;
}

static bool is_page(const struct http_client_response *a)
{
	return !strncasecmp(a->type, "text/html", strlen("text/html"));
}

static enum response_class by_status(const struct http_client_response *a)
{
	long status = a->status;

	if (status >= 200 && status < 300)
		return RESPONSE_ACCEPTED;
	/* No receiver has others. */
	if (status < 400 || status >= 500)
		return RESPONSE_LATER;
	/* About the sender, not the item: an expired token may be renewed. */
	if (status == 401 || status == 403 || status == 407)
		return RESPONSE_LATER;
	if (status == 408 || status == 429 || is_of_address(status))
		return RESPONSE_LATER;
	/* A page of a proxy, or of a port for TLS, for an unknown request. */
	if (status == 400 && is_page(a))
		return RESPONSE_LATER;
	return RESPONSE_REFUSED;
}

/* For any item. With 403 the item may be the reason: some receivers check contents. */
static bool is_about_receiver(long status)
{
	return status == 401 || status == 407 || status == 429 || status == 503 ||
	       is_of_address(status) || (status >= 300 && status < 400);
}

static const char *words_of(enum response_class v, long status)
{
	if (is_of_address(status))
		return "takes no profiles; is that its address?";
	if (status == 401 || status == 403 || status == 407)
		return "does not let this host send, see --header-file";
	return v == RESPONSE_LATER ? "cannot take profiles now" : "refuses a profile";
}

enum response_class response_class_of(const struct http_client_response *a, const char *url,
				      const char *words, struct send_result *out)
{
	char quoted[WORDS_MAX + 1];
	enum response_class v;

	out->reached = a->fate == HTTP_ANSWERED ? !is_about_receiver(a->status) : a->bytes > 0;
	if (a->fate != HTTP_ANSWERED) {
		snprintf(out->why, sizeof(out->why), "%s", a->why);
		return a->fate == HTTP_LOST ? RESPONSE_UNSURE : RESPONSE_LATER;
	}
	v = by_status(a);
	if (v == RESPONSE_ACCEPTED)
		return v;
	if (words)
		quote(quoted, words, strlen(words));
	else
		quote(quoted, a->body, a->size);
	if (a->status >= 300 && a->status < 400) {
		quote(quoted, a->redirect ? a->redirect : "", a->redirect ?
		      strcspn(a->redirect, "?") : 0);
		snprintf(out->why, sizeof(out->why), "%s leads elsewhere (%ld), and tokens are not "
			 "sent after it: give the address itself: %s", url, a->status, quoted);
	} else {
		snprintf(out->why, sizeof(out->why), "%s %s (%ld%s%s)", url,
			 words_of(v, a->status), a->status, quoted[0] ? ": " : "", quoted);
	}
	out->retry_after_ms = a->retry_after_ms;
	return v;
}
