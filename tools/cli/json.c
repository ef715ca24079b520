// SPDX-License-Identifier: GPL-2.0-only
#include "json.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "diag.h"
#include "text.h"

/* Rows, which are in arrays of no greater depth, have lines of their own. */
#define ROWS_DEPTH	3

static int set_json(void *ctx, const char *value)
{
	(void)value;
	*(bool *)ctx = true;
	return STATUS_OK;
}

const struct option_row json_options[] = {
	{ 0, "json", NULL, "as JSON, all rows, in base units; gprofctl(1) says where its schema is",
	  set_json },
	{ 0 },
};

static void member(struct json *j, const char *key, bool row)
{
	if (j->some[j->depth])
		putc(',', j->f);
	if (row && j->array[j->depth] && j->depth <= ROWS_DEPTH && !j->one_line)
		putc('\n', j->f);
	else if (j->some[j->depth])
		putc(' ', j->f);
	j->some[j->depth] = true;
	if (key)
		fprintf(j->f, "\"%s\": ", key);
}

static void begin(struct json *j, const char *key, bool array)
{
	if (j->depth == JSON_DEPTH_MAX)
		abort();
	member(j, key, true);
	putc(array ? '[' : '{', j->f);
	j->depth++;
	j->array[j->depth] = array;
	j->some[j->depth] = false;
}

void json_object(struct json *j, const char *key)
{
	begin(j, key, false);
}

void json_array(struct json *j, const char *key)
{
	begin(j, key, true);
}

void json_end(struct json *j)
{
	putc(j->array[j->depth] ? ']' : '}', j->f);
	j->depth--;
}

static void open_envelope(struct json *j, FILE *f, const char *command, bool array)
{
	*j = (struct json){ .f = f, .one_line = j->one_line };
	json_object(j, NULL);
	json_u64(j, "version", JSON_VERSION);
	json_string(j, "command", command);
	begin(j, "data", array);
}

void json_open(struct json *j, FILE *f, const char *command)
{
	open_envelope(j, f, command, false);
}

void json_open_array(struct json *j, FILE *f, const char *command)
{
	open_envelope(j, f, command, true);
}

static void begin_losses(struct json *j)
{
	if (j->losses)
		return;
	json_end(j);
	json_array(j, "losses");
	j->losses = true;
}

void json_loss(struct json *j, const char *file, const char *fmt, ...)
{
	char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		exit(fail("there is not enough memory"));
	va_end(ap);
	begin_losses(j);
	json_object(j, NULL);
	if (file)
		json_string(j, "file", file);
	json_string(j, "text", text);
	json_end(j);
	free(text);
}

void json_lost_events(struct json *j, const char *file, uint64_t nr)
{
	if (nr)
		json_loss(j, file, "%" PRIu64 " events were lost", nr);
}

void json_close(struct json *j)
{
	begin_losses(j);
	json_end(j);
	json_end(j);
	putc('\n', j->f);
}

void json_bytes(struct json *j, const char *key, const char *s, size_t length)
{
	member(j, key, false);
	text_json_bytes(j->f, s, length);
}

void json_string(struct json *j, const char *key, const char *s)
{
	json_bytes(j, key, s, strlen(s));
}

void json_u64(struct json *j, const char *key, uint64_t value)
{
	member(j, key, false);
	fprintf(j->f, "%" PRIu64, value);
}

void json_s64(struct json *j, const char *key, int64_t value)
{
	member(j, key, false);
	fprintf(j->f, "%" PRId64, value);
}

void json_ns(struct json *j, const char *what, int64_t value)
{
	char key[64];

	snprintf(key, sizeof(key), "%s_ns", what);
	json_s64(j, key, value);
}

void json_double(struct json *j, const char *key, double value, int digits)
{
	char text[32];

	if (!isfinite(value)) {
		json_null(j, key);
		return;
	}
	for (int n = digits < 15 ? digits : 15; n <= digits; n++) {
		snprintf(text, sizeof(text), "%.*g", n, value);
		if (strtod(text, NULL) == value)
			break;
	}
	member(j, key, false);
	fputs(text, j->f);
}

void json_bool(struct json *j, const char *key, bool value)
{
	member(j, key, false);
	fputs(value ? "true" : "false", j->f);
}

void json_null(struct json *j, const char *key)
{
	member(j, key, false);
	fputs("null", j->f);
}
