// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * answer.c: responses of a receiver.
 */
#include <errno.h>
#include <gprof/otlp.h>
#include <string.h>

#include "base/error.h"
#include "base/opts.h"
#include "schema.h"
#include "status.pb-c.h"

/* Words of a stranger: shown on terminals, cut where there is no room. */
static void copy_message(struct gprof_otlp_answer *a, const char *words)
{
	size_t i;

	for (i = 0; words[i] && i + 1 < sizeof(a->message); i++)
		a->message[i] = words[i] < ' ' || words[i] > '~' ? '?' : words[i];
}

static int no_message(void)
{
	return gprof_error_set(NULL, EBADMSG, "the answer is no message of OTLP");
}

static int read_response(const void *data, size_t size, struct gprof_otlp_answer *a)
{
	Response *r = opentelemetry__proto__collector__profiles__v1development__export_profiles_service_response__unpack(NULL, size, data);

	if (!r)
		return no_message();
	if (r->partial_success) {
		a->rejected = r->partial_success->rejected_profiles;
		copy_message(a, r->partial_success->error_message);
	}
	protobuf_c_message_free_unpacked(&r->base, NULL);
	return 0;
}

static int read_status(const void *data, size_t size, struct gprof_otlp_answer *a)
{
	Rpc__Status *s = rpc__status__unpack(NULL, size, data);

	if (!s)
		return no_message();
	copy_message(a, s->message);
	rpc__status__free_unpacked(s, NULL);
	return 0;
}

int gprof_otlp_answer(const void *data, size_t size, int kind, struct gprof_otlp_answer *answer)
{
	struct gprof_otlp_answer a = { .sz = sizeof(a) };
	int err = -EINVAL;

	switch (kind) {
	case GPROF_OTLP_TAKEN:
		err = read_response(data, size, &a);
		break;
	case GPROF_OTLP_REFUSED:
		err = read_status(data, size, &a);
		break;
	}
	if (err)
		return err;
	return gprof_opts_copy_out(answer, &a, sizeof(a),
				   GPROF_SIZE_WITH(struct gprof_otlp_answer, message),
				   "gprof_otlp_answer", NULL);
}
