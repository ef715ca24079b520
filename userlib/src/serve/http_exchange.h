/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * http_exchange.h: a request on its way to a response, and its recording.
 *
 * The thread of the caller waits, and checks ten times a second whether the client is still there,
 * also while it makes a file of the recording. Requests share nothing but the sum of their memory.
 */
#ifndef GPROF_HTTP_EXCHANGE_H
#define GPROF_HTTP_EXCHANGE_H

#include <gprof/http.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/own_fd.h"
#include "base/cancel.h"
#include "http_page.h"
#include "record_request.h"

struct exchange;

/**
 * struct gprof_http - configuration and state of a handler
 * @cfg: with the defaults filled in
 * @name: of its target
 * @busy: recordings under way
 * @recording: list of their requests
 * @memory: of all recordings, about
 * @weighing: held while a thread checks the limit of memory, or changes @recording
 * @moment: held for a snapshot of all tasks, or of the flight recorder: one at a time, since its
 *	memory is not known before
 */
struct gprof_http {
	struct gprof_http_config cfg;
	char *name;
	atomic_uint busy;
	struct exchange *recording;
	_Atomic uint64_t memory;
	pthread_mutex_t weighing;
	pthread_mutex_t moment;
};

/**
 * struct exchange - a request on its way to an answer
 * @h: handler
 * @rq: request
 * @page: which, or NULL
 * @view: it is made of a recording, or NULL
 * @view_page: of @view, or of a profile that a program publishes
 * @request: the recording that it asks for
 * @ns: how long
 * @seconds: they were asked for
 * @debug: 0 is binary
 * @fd: the body
 * @body: @fd, as long as it is that
 * @trace: where it is recorded: @fd, or of a view a file besides
 * @own_trace: the latter
 * @memory: its share of that of all
 * @cancel: of the client
 * @status: of the answer
 * @type: of its content
 * @file: name for Content-Disposition, or ""
 * @note: remark for the client, or ""
 * @location: elsewhere, or NULL
 * @next: of the list of requests that record
 * @e: sentence of an error
 */
struct exchange {
	struct gprof_http *h;
	const struct gprof_http_request *rq;
	const struct gprof_http_page *page;
	const struct gprof_http_view *view;
	struct gprof_http_page view_page;
	struct gprof_record_request request;
	uint64_t ns;
	bool seconds;
	int debug;
	int fd;
	struct gprof_own_fd body;
	int trace;
	struct gprof_own_fd own_trace;
	uint64_t memory;
	struct gprof_cancel cancel;
	unsigned int status;
	const char *type;
	char file[64];
	char note[128];
	const char *location;
	struct exchange *next;
	struct gprof_error e;
};

/* gprof_exchange_value() - a value of the query; 1, 0 when it is not there, -EINVAL */
int gprof_exchange_value(struct exchange *a, const char *key, char *value, size_t size);

/* gprof_exchange_refuse() - with this status; returns @err. gprof_exchange_fail() - with that of @err */
int gprof_exchange_refuse(struct exchange *a, unsigned int status, int err);
int gprof_exchange_fail(struct exchange *a, int err);

/**
 * gprof_exchange_record() - record, and make the body
 * @a: request, of which all is understood
 *
 * Return: 0, -ECONNABORTED when the client is gone, or -errno with a status and a sentence.
 */
int gprof_exchange_record(struct exchange *a);

#endif /* GPROF_HTTP_EXCHANGE_H */
